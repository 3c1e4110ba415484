"""What is asked of a checker itself, and of a suite that grants levels."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, Literal, NoReturn

import jsonschema_rs
import pytest
from click.testing import CliRunner

from aaep.cli import main
from aaep.conformance import RuleResult
from aaep.conformance.judge import compute_granted_level
from aaep.conformance.producer.run import PRODUCER_SCENARIOS, collect_tried_rules
from aaep.conformance.subscriber.run import SUBSCRIBER_SCENARIOS
from aaep.protocol import schema
from aaep.protocol.audit import Audit, explain
from aaep.protocol.catalogue import all_rules
from aaep.protocol.events import CORE_EVENTS, UnknownEvent
from aaep.protocol.rules import required_members
from tests import vectors
from tests.broken.producers import ALL
from tests.sessions import event, outcome, token

ROOT = Path(__file__).parents[2]
ELSEWHERE = ["https://aaep-protocol.org/context/v1", "https://ward.example/context/v1"]


def errors(*raws: bytes, whole: bool = False) -> set[str]:
    audit = Audit(whole=whole)
    return {one.rule for raw in raws for one in audit.feed(raw, via="sub_1") if one.severity == "error"}


# -- what lacks something ------------------------------------------------------------------------

SOUND = ("HITL-018-accepted-and-called", "HITL-030-waiting-announced", "SEQ-003-errored-end", "SEQ-003-cancelled-end")
# Without these an event cannot be placed in its session, and what comes after it may be judged as if it had not come.
BEARING = {"to_state", "reply_token", "chunk", "position", "complete"}


def lacking() -> list[Any]:
    """Sound sessions in each of which one member is missing from one event."""
    found = []
    for case in vectors.cases("sequence"):
        for number, step in enumerate(case["steps"]) if case["id"] in SOUND else ():
            cls = CORE_EVENTS.get("aaep:" + step["base"], UnknownEvent)
            for name in sorted(required_members(cls) - required_members(UnknownEvent) - BEARING):
                less = {**step, "remove": [*step.get("remove", ()), f"/{name}"], "set": {**step.get("set", {})}}
                less["set"].pop(f"/{name}", None)
                steps = [*case["steps"][:number], less, *case["steps"][number + 1 :]]
                found.append(pytest.param(steps, number, id=f"{case['id']}-{number}-{name}"))
    return found


@pytest.mark.parametrize(("steps", "number"), lacking())
def test_what_an_event_lacks_is_told_of_it_and_of_no_other(steps: list[dict[str, Any]], number: int) -> None:
    audit = Audit(whole=True)
    found = {}
    for place, step in enumerate(steps):
        at = vectors.moment(place).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found[place] = [one.rule for one in audit.feed(vectors.message(step, place), at, vectors.VIA)]
    found[len(steps)] = [one.rule for one in audit.finish()]
    assert [place for place, rules in found.items() if rules] == [number]


# -- conditions ----------------------------------------------------------------------------------

Truth = dict[tuple[bool, bool], list[bytes]]  # by whether the condition holds, and whether the consequence does


def choices() -> Truth:
    some = [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]
    kinds = {True: ["multiple_choice"], False: ["yes_no"]}
    return {
        (when, then): [
            event("awaiting.clarification", accepted_response_kinds=kinds[when], choices=some if then else None)
        ]
        for when in kinds
        for then in (True, False)
    }


def defaults() -> Truth:
    return {
        (when, then): [
            event(
                "awaiting.confirmation",
                irreversible=when,
                reversibility=None,
                risk_level="high" if when else "low",
                default_decision="reject" if then else "accept",
            )
        ]
        for when in (True, False)
        for then in (True, False)
    }


def contexts() -> Truth:
    return {
        (when, then): [
            event(
                "state.changed",
                extensions={"ward": {"bed": 7}} if when else None,
                **{"@context": ELSEWHERE if then else ELSEWHERE[0]},  # type: ignore[arg-type]  # a member of the event
            )
        ]
        for when in (True, False)
        for then in (True, False)
    }


def consents() -> Truth:
    """A call of something that cannot be undone needs a yes; another call needs none, and may have a no."""
    call = {"tool": "wipe", "tool_call_id": "call_1"}
    asks = event("awaiting.confirmation", 2, reply_token=token(2), extra_context=call)
    yes = {"type": "confirmation.reply", "reply_token": token(2), "decision": "accept", "subscription_id": "sub_1"}
    before = [
        event("state.changed", 1, from_state="idle", to_state="awaiting_input"),
        asks,
        json.dumps(yes | {"timestamp": "2026-05-24T14:22:02.500Z"}).encode(),
        outcome(3, token(2), "accepted", to_state="calling_tool"),
    ]
    bare = [event("state.changed", 1, from_state="idle", to_state="calling_tool")]
    return {
        (when, then): [
            event("session.started"),
            *(before if then else bare),
            event("tool.invoked", 4, **call, irreversible=when, risk_level="high" if when else "low"),
        ]
        for when in (True, False)
        for then in (True, False)
    }


@pytest.mark.parametrize(
    ("truth", "rule"),
    [(choices(), "EVT-037"), (defaults(), "HITL-006"), (contexts(), "ENV-052"), (consents(), "TOOL-002")],
    ids=["choices", "defaults", "contexts", "consents"],
)
def test_a_condition_that_does_not_hold_asks_for_nothing(truth: Truth, rule: str) -> None:
    """TERM-003: of the four cases one is a violation."""
    broken = {case for case, raws in truth.items() if rule in errors(*raws)}
    assert broken == {(True, False)}


# -- schemas -------------------------------------------------------------------------------------


def test_the_schemas_here_are_the_ones_that_count_and_none_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """TERM-031: each is written in the dialect 2020-12, is what the checker uses, and nobody is asked for another."""

    def nobody(*_: object) -> NoReturn:
        raise AssertionError("A checker that asks the network.")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, nobody)
    for name in ("getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, nobody)
    checked = CliRunner().invoke(main, ["schema", "--check", "--root", str(ROOT)])
    assert checked.exit_code == 0, checked.output
    for path in (ROOT / "schemas").rglob("*.schema.json"):
        assert json.loads(path.read_bytes())["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    raw = event("state.changed", **{"@context": ELSEWHERE}, extensions={"ward": {"bed": 7}})  # type: ignore[arg-type]  # a member
    assert [one for one in explain(raw) if one.severity == "error"] == []
    assert "ENV-002" in errors(event("state.changed", **{"@context": "https://ward.example/context/v1"}))  # type: ignore[arg-type]  # a member


@pytest.mark.parametrize(
    ("name", "members", "shape", "sound"),
    [
        # C-24: the limits of a schema are soft in the text.
        ("state.changed", {"summary_normal": "x" * 17_000}, False, True),
        ("tool.completed", {"duration_ms": 10**9}, False, True),
        # C-41, CF-021: what cannot be undone never happens by silence, whichever of two members says so.
        (
            "awaiting.confirmation",
            {"irreversible": None, "reversibility": "irreversible", "risk_level": "high", "default_decision": "accept"},
            True,
            False,
        ),
        # C-07: what a prefix means has to be said.
        ("state.changed", {"extensions": {"ward": {"bed": 7}}}, True, False),
    ],
)
def test_where_a_schema_and_the_text_differ_the_text_decides(
    name: str, members: dict[str, Any], shape: bool, sound: bool
) -> None:
    """ENV-065, C-72"""
    raw = event(name, **members)
    document = schema.schema_document(f"aaep:agent.{name}")
    assert jsonschema_rs.Draft202012Validator(document).is_valid(json.loads(raw)) is shape
    assert ([one for one in explain(raw) if one.severity == "error"] == []) is sound


# -- sequences -----------------------------------------------------------------------------------


def test_the_seven_sequences_of_a_8_are_found() -> None:
    """BAD-008: each by its own rule, and as an error."""
    found = {}
    for case in vectors.cases("sequence"):
        _, _, number = case["id"].partition("-a8-")
        if number:
            audit = Audit(whole=True)
            raws = [vectors.message(step, place) for place, step in enumerate(case["steps"])]
            times = [vectors.moment(step.get("at", place)).isoformat() for place, step in enumerate(case["steps"])]
            told = [one for raw, at in zip(raws, times, strict=True) for one in audit.feed(raw, at, vectors.VIA)]
            found[int(number)] = {one.rule for one in [*told, *audit.finish()] if one.severity == "error"}
            assert case["rule"] in found[int(number)], case["id"]
    assert {*found} == {1, 2, 3, 4, 5, 6, 7}


# -- levels --------------------------------------------------------------------------------------

Level = Literal[1, 2, 3]


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("role", ["producer", "subscriber"])
def test_a_level_is_not_granted_without_those_below_it(role: str, level: Level) -> None:
    """LVL-002, LVL-025, LVL-035, LVL-044, LVL-054: whatever is kept of a higher one."""
    of = [one for one in all_rules().values() if one.role in (role, "both") and one.keyword == "MUST"]
    kept = [RuleResult(one.id, "passed", required_level=one.level) for one in of]
    assert compute_granted_level(kept) == 3
    for one in of:
        if one.level == level and not one.always:
            for verdict in ("failed", "not shown"):
                results = [
                    RuleResult(one.id, verdict, required_level=level) if other.rule == one.id else other
                    for other in kept
                ]
                assert compute_granted_level(results) == level - 1


# -- what a suite has to check -----------------------------------------------------------------------

# By what the specification says; P and S: what is tried with producers and with subscribers, M: what messages show.
LEVELS: dict[int, dict[str, str]] = {
    1: {
        "envelopes": "M:ENV-001 M:ENV-030",
        "schemas of each type": "M:EVT-001 M:EVT-006 M:EVT-011 M:EVT-018 M:EVT-026",
        "bracketing of sessions": "M:SEQ-003 M:SEQ-004",
        "pairing of tools": "M:TOOL-010",
        "summary_normal": "M:LVL-013",
        "tolerance of unknown types and extensions": "S:ENV-011 S:ENV-053 S:ENV-054",
    },
    2: {
        "confirmation before what cannot be undone": "P:TOOL-002 P:HITL-001 P:CONF-002",
        "timeout and default": "P:CONF-043 P:HITL-005",
        "forged and replayed tokens": "P:CONF-033 P:CONF-034 P:SEC-011",
        "the first reply wins": "P:CONF-041",
        "the table of defaults": "M:HITL-006 M:HITL-007",
        "valid replies with exact tokens": "S:HITL-009 S:HITL-010 M:CONF-021",
        "withdrawal on both sides": "P:CONF-072 S:CONF-073",
    },
    3: {
        "the handshake": "P:SUB-001 P:SUB-005 S:SUB-001 M:SUB-006",
        "honoured within what was requested": "P:SUB-028 P:SUB-029 S:SUB-038",
        "rate": "P:CAP-004 P:BP-004",
        "coalescing": "P:TERM-029",
        "critical events pass": "P:BP-001 P:BP-010",
        "renegotiation": "P:SUB-057 P:SUB-061 S:SUB-063",
        "closing while a question is open": "P:SUB-069",
        "signed manifests": "P:MAN-017 P:MAN-020 S:MAN-023 S:MAN-026",
    },
}


@pytest.mark.parametrize("level", LEVELS)
def test_the_suite_checks_what_a_suite_of_its_level_has_to(level: int) -> None:
    """LVL-063, LVL-064, LVL-065: each by a peer that is failed for it, or by a message that is found to be wrong."""
    wrong = {one["rule"] for case in vectors.cases() for one in case["findings"]}
    peers = {rule for peer in ALL for rule in (peer.breaks, *peer.with_it)}
    sides = {
        "P": {*collect_tried_rules(PRODUCER_SCENARIOS)} & peers,
        "S": {*collect_tried_rules(SUBSCRIBER_SCENARIOS)},
        "M": wrong,
    }
    for what, rules_of_it in LEVELS[level].items():
        for side, _, rule in (one.partition(":") for one in rules_of_it.split()):
            assert rule in sides[side], f"{what}: {rule}"
            assert all_rules()[rule].level <= level
