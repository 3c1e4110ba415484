"""T7: extensions that reach for more than their own. EXT-012, EXT-017, EXT-022 to EXT-024, EXT-028, SEC-030, CF-135"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aaep.errors import AaepError
from aaep.presentation.announce import announce
from aaep.producer.producer import ManifestOptions, Producer
from aaep.protocol.attend_extension import ATTEND, attend_registry
from aaep.protocol.codec import read
from aaep.protocol.extensions import Extension
from tests.end_to_end.readers import ANSWERS, outcomes
from tests.end_to_end.wires import Gone
from tests.threats.hall import Hall, hall

PREFIXES = [
    "aaep",
    "AAEP",
    "attend",
    "@context",
    "@id",
    "__proto__",
    "type",
    "event_id",
    "extensions",
    "supports_confirmation_reply",
    "xsd",
    "rdf",
    "",
    "a",
    "a" * 33,
    "a:b",
    "a b",
    "a\nb",
    "a\x00",
    "\u0430\u0430\u0435\u0440",  # aaep, in Cyrillic
    "../x",
]


class _Fields(msgspec.Struct):
    outcome: str = ""


@pytest.mark.parametrize("prefix", PREFIXES)
def test_t7_a_prefix_that_is_taken_or_no_name_cannot_be_registered(prefix: str) -> None:
    known = attend_registry()
    extension = Extension(
        namespace="https://evil.example/v1", prefix=prefix, context="https://evil.example/context/v1", fields=_Fields
    )
    with pytest.raises(AaepError):
        known.add(extension)
    with pytest.raises(AaepError):
        Producer("bank", journal=None, manifest=ManifestOptions(extensions=[extension]))


@pytest.mark.parametrize("namespace", ["https://aaep-protocol.org/", "https://aaep-protocol.org/evil/v1", "", "evil"])
def test_t7_the_namespace_of_the_core_cannot_be_taken(namespace: str) -> None:
    """TERM-025"""
    extension = Extension(namespace=namespace, prefix="evil", context="https://evil.example/context/v1")
    with pytest.raises(AaepError):
        attend_registry().add(extension)


@pytest.mark.parametrize("type_", ["aaep:agent.awaiting.confirmation", "aaep:agent.evil", "aaep:evil"])
def test_t7_an_extension_adds_no_event_to_the_core(type_: str) -> None:
    """EXT-008"""
    extension = Extension(
        namespace="https://evil.example/v1",
        prefix="evil",
        context="https://evil.example/context/v1",
        events={type_: _Fields},
        urgencies={type_: "critical"},
    )
    with pytest.raises(AaepError):
        attend_registry().add(extension)


HOSTILE: list[dict[str, Any]] = [
    {one: {"x": 1} for one in (*PREFIXES, "constructor", "reply_token")},
    {"attend": {"cancel": "sess_1", "resume_after": "evt_1", "minimum_timeout_seconds": 10**9, "roles": ["auditor"]}},
    {"attend": None},
    {"attend": [1]},
    {"attend": {"minimum_timeout_seconds": -1, "resume_after": "../../x\n", "cancel": ["*"]}},
    {"supported_extensions": [ATTEND.namespace, "javascript:alert(1)", "https://evil.example/\r\nX: y", ""]},
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_t7_what_a_reader_asks_for_beside_the_core_gives_it_no_more_than_the_core(
    name: str, number: int, folder: Path
) -> None:
    with hall(name, folder) as scene:
        wish: dict[str, Any] = {"supported_conformance_levels": [1, 2, 3], "supports_confirmation_reply": True}
        reader = None
        try:
            reader = scene.bank.reader("mallory", **wish | HOSTILE[number])
        except AssertionError:
            pass  # refused
        else:
            honoured = reader.accepted["honored_capabilities"]
            strange = {*honoured} - {*scene.ada.accepted["honored_capabilities"]} - {"attend"}
            assert not strange
            attend = honoured.get("attend") or {}
            assert "roles" not in attend and attend.get("minimum_timeout_seconds", 0) <= 86_400
            reader.send(scene.prompt)
        scene.decides()


def test_t7_an_event_of_an_extension_that_looks_like_a_prompt_is_none() -> None:
    """It is announced for what it is, asks for no key, and its token is nobody's."""
    event = {
        "@context": ["https://aaep-protocol.org/context/v1", "https://evil.example/context/v1"],
        "aaep_version": "1.0.0",
        "type": "evil:agent.awaiting.confirmation",
        "event_id": "evt_1",
        "session_id": "sess_1",
        "timestamp": "2026-05-24T14:22:11.000Z",
        "producer": {"agent_id": "evil"},
        "verbosity": "normal",
        "urgency": "critical",
        "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
        "summary_normal": "Press Y.",
        "action": "Nothing.",
        "consequence": "Nothing at all.",
        "reply_token": "rpl_1",
        "timeout_seconds": 60,
        "default_decision": "accept",
    }
    found = read(json.dumps(event).encode(), attend_registry())[0]
    said = announce(found)  # type: ignore[arg-type]  # it was found to be an event
    assert said is not None and not said.asks and not said.prompt and not said.keys


def test_t7_an_outcome_that_the_session_did_not_tell_settles_nothing(scene: Hall) -> None:
    """Mallory renegotiates with everything that our own extension says about a prompt."""
    claim = {"attend": {"reply_token": scene.prompt["reply_token"], "outcome": "accepted", "resync": True}}
    for target in (scene.mallory.id, scene.ada.id):
        scene.send("mallory", {"type": "subscription.renegotiate", "subscription_id": target, "capabilities": claim})
    own = {"type": "subscription.renegotiate", "subscription_id": scene.ada.id, "capabilities": ANSWERS | claim}
    scene.send("ada", own)
    try:
        scene.undecided()
    except Gone:
        pytest.fail("Ada's subscription was ended.")
    assert outcomes(scene.ada.got, scene.prompt) == []
    scene.decides()
