"""What a subscriber makes of an event, for rules that no other test is about."""

from __future__ import annotations

import json
import random
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.presentation.announce import Announcement, Preferences, announce
from aaep.presentation.queue import Queue, Speak, SpeechAction, Stop
from aaep.protocol import codec
from aaep.protocol.audit import Audit
from aaep.protocol.events import Envelope
from tests import strategies, vectors
from tests.presentation.test_announce import said
from tests.sessions import event

KINDS = [name.removeprefix("agent.") for name in vectors.BASES if name.startswith("agent.")]
URGENCIES = ("background", "normal", "critical")


def told(raw: bytes, verbosity: Any = "normal") -> Announcement | None:
    message = codec.decode(raw)
    assert isinstance(message, Envelope)
    return announce(message, Preferences(verbosity=verbosity))


def words(raw: bytes) -> str:
    """What is said of an event, with all there is to say of it."""
    found = told(raw, "detailed")
    return "" if found is None else f"{found.urgency} {found.text} {found.detail} {found.keys}"


def numbers(actions: list[SpeechAction]) -> list[str]:
    return ["stop" if isinstance(one, Stop) else "speak" for one in actions]


# -- urgency -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tool.invoked", "tool.completed", "session.started", "session.cancelled"])
def test_the_urgency_that_an_event_carries_decides_when_it_is_said(name: str) -> None:
    """TERM-019: the same event waits or interrupts as it says itself."""
    for urgency in URGENCIES:
        queue = Queue()
        queue.push(said("tool.invoked", summary_normal="Something long."), 0)
        assert numbers(queue.push(said(name, urgency=urgency), 0)) == (
            ["stop", "speak"] if urgency == "critical" else []
        )


@pytest.mark.parametrize("verbosity", ["terse", "normal", "detailed"])
def test_no_flood_keeps_an_error_from_being_said(verbosity: Any) -> None:
    """EVT-016, BP-016: it is said before all that waits, at every verbosity, though its session has ended."""
    queue = Queue(Preferences(verbosity=verbosity))
    for number in range(500):
        queue.push(said("progress.updated", summary_normal=f"{number} of 500."), 0)
        queue.push(said("tool.invoked", summary_normal=f"Call {number}."), 0)
    failed = said("session.errored", to=Preferences(verbosity=verbosity), summary_normal="The bank burnt down.")
    stop, speak = queue.push(failed, 0)
    assert isinstance(stop, Stop) and isinstance(speak, Speak)
    assert speak.text == failed.text and failed.text.startswith("Failed.")


# -- what is not there, and what nobody knows -----------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_an_event_without_its_optional_members_is_said_like_one_with_them(name: str) -> None:
    """ENV-044"""
    full = event(name, sequence_number=7, correlation_id="corr_1", extensions={}, aaep_version="1.0.0")
    bare = event(name, sequence_number=None, correlation_id=None, extensions=None, aaep_version=None)
    assert json.loads(bare).keys().isdisjoint({"sequence_number", "correlation_id", "extensions", "aaep_version"})
    assert words(bare) == words(full)


@pytest.mark.parametrize("name", KINDS)
def test_extensions_that_nobody_here_knows_change_nothing(name: str) -> None:
    """ENV-053, ENV-054, ENV-066, CAP-036: the event is taken, and said by its core members alone."""
    strange: dict[str, Any] = {
        "@context": ["https://aaep-protocol.org/context/v1", "https://ward.example/context/v3"],
        "extensions": {"ward": {"bed": 7, "urgency": "background", "nested": [{"deep": None}]}},
    }
    raw = event(name, **strange)
    assert words(raw) == words(event(name))
    assert [str(one) for one in Audit().feed(raw) if one.severity == "error" and "extensions" in one.path] == []


def test_an_event_of_an_extension_that_nobody_here_knows_is_said_by_its_summary() -> None:
    """ENV-066"""
    contexts = ["https://aaep-protocol.org/context/v1", "https://ward.example/context/v3"]
    members: dict[str, Any] = {"type": "ward:bed.freed", "@context": contexts, "summary_normal": "Bed seven is free."}
    found = told(event("state.changed", **members, urgency="critical", extensions={"ward": {"bed": 7}}))
    assert found is not None and found.text == "Notice. Bed seven is free."
    assert found.interrupts


@given(strategies.enriched(st.one_of(*strategies.EVENTS.values())), st.randoms(use_true_random=False))
def test_the_order_of_members_means_nothing(given: dict[str, Any], chance: random.Random) -> None:
    """ENV-063: it is the same message, of which the same is said and found."""
    names = [*given]
    chance.shuffle(names)
    ordered = json.dumps(given).encode()
    shuffled = json.dumps({name: given[name] for name in names}).encode()
    assert codec.decode(shuffled) == codec.decode(ordered)
    assert words(shuffled) == words(ordered)
    assert {*map(str, Audit().feed(shuffled))} == {*map(str, Audit().feed(ordered))}


@pytest.mark.parametrize("version", ["1.0.0", "1.0.1", "1.0.99"])
@pytest.mark.parametrize("name", KINDS)
def test_the_last_number_of_a_version_means_nothing(name: str, version: str) -> None:
    """VER-002: the event is read and said alike, and nothing about it is an error."""
    raw = event(name, aaep_version=version)
    assert type(codec.decode(raw)) is type(codec.decode(event(name)))
    assert words(raw) == words(event(name))
    assert [str(one) for one in Audit().feed(raw) if one.severity == "error"] == []


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_text_in_any_normal_form_is_taken(form: Any) -> None:
    """I18N-027"""
    text = unicodedata.normalize(form, "Ẹ̀kọ́ ń lọ, ﬁfty Ångström.")
    raw = event("state.changed", summary_normal=text)
    found = told(raw)
    assert found is not None
    assert unicodedata.normalize("NFKC", found.text) == unicodedata.normalize("NFKC", text)
    assert [str(one) for one in Audit().feed(raw) if one.severity == "error"] == []
