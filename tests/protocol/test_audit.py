"""What an audit does when there is more than it can follow: it says so, and blames nobody for it."""

from __future__ import annotations

import json

import pytest

from aaep.protocol import audit as module
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.audit import Audit, Finding
from tests import vectors
from tests.sessions import event, outcome

FEW = 4


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_REMEMBERED", FEW)


def opened(count: int) -> list[bytes]:
    return [event("session.started", number, session_id=f"sess_{number}") for number in range(count)]


def loud(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity, one.session_id) for one in found if one.severity != "info"]


def judged(audit: Audit, lines: list[bytes]) -> list[Finding]:
    return [finding for raw in lines for finding in audit.feed(raw)]


@pytest.mark.parametrize("strict", [True, False])
def test_who_is_let_go_of_is_named_and_its_end_is_no_mistake(strict: bool) -> None:
    ends = [
        event("session.completed", 10 + number, session_id=f"sess_{number}", tool_invocations_count=None)
        for number in range(FEW + 2)
    ]
    audit = Audit(strict=strict)
    found = judged(audit, [*opened(FEW + 2), *ends]) + audit.finish()
    assert loud(found) == [("SEQ-003", "warning", "sess_0"), ("SEQ-003", "warning", "sess_1")]
    assert "sess_0" in found[0].message
    assert audit.sessions == FEW + 2


def test_as_many_as_can_be_followed_are() -> None:
    assert loud(judged(Audit(), opened(FEW))) == []


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("risk", "said"),
    [
        ({"risk_level": "high", "irreversible": True}, [("TOOL-002", "error", "sess_0")]),
        ({"risk_level": "high", "irreversible": False}, [("HITL-002", "error", "sess_0")]),
        ({"risk_level": "low", "irreversible": False}, []),
    ],
)
def test_consent_that_was_not_followed_is_not_taken_for_given(
    strict: bool, risk: dict[str, object], said: list[tuple[str, str, str]]
) -> None:
    call = event("tool.invoked", 20, session_id="sess_0", **risk)
    found = judged(Audit(strict=strict), [*opened(FEW + 1), call])
    assert loud(found) == [("SEQ-003", "warning", "sess_0"), *said]  # who comes back makes nobody else go
    assert not said or "was not judged" in found[-1].message


def test_consent_that_is_given_after_a_session_came_back_counts_if_there_is_room() -> None:
    room = event("session.cancelled", 19, session_id="sess_1")
    back = [
        event("state.changed", 20, session_id="sess_0", from_state="thinking", to_state="awaiting_input"),
        event("awaiting.confirmation", 21, session_id="sess_0"),
    ]
    reply = vectors.message({"base": "confirmation.reply"}, 22)
    call = event(
        "tool.invoked",
        23,
        session_id="sess_0",
        tool="transfer_funds",
        tool_call_id="call_00000000000000000000000000000002",
        risk_level="high",
        irreversible=True,
    )
    cases: list[tuple[list[bytes], set[str]]] = [
        ([room, *back, reply, call], set()),
        ([room, *back, call], {"CONF-006"}),
        ([*back, reply, call], {"TOOL-002"}),
    ]
    for lines, said in cases:
        found = judged(Audit(), [*opened(FEW + 1), *lines])
        assert {one.rule for one in found if one.rule.startswith(("TOOL", "CONF"))} == said


# -- a reader that came late, or wants not all of it ---------------------------------------------------


VIA = "sub_00000000000000000000000000000001"
CALL: dict[str, object] = {
    "tool_call_id": "call_00000000000000000000000000000009",
    "risk_level": "high",
    "irreversible": True,
}


def heard(at: str, *lines: bytes, whole: bool = False, filters: dict[str, list[str]] | None = None) -> list[str]:
    """What is said of events that came on a subscription which began at a time."""
    audit = Audit(whole=whole)
    changes = {} if filters is None else {"/capabilities/event_filters": filters}
    honoured = {} if filters is None else {"/honored_capabilities/event_filters": filters}
    audit.feed(vectors.message({"base": "subscription.request", "set": changes}), at, VIA)
    audit.feed(vectors.message({"base": "subscription.accepted", "set": honoured}), at, VIA)
    found = [one for raw in lines for one in audit.feed(raw, at, VIA)]
    return [one.rule for one in found if one.severity == "error"]


BEGUN = event("session.started", 0)
LATER, BEFORE = "2026-12-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z"


def test_what_happened_before_a_reader_came_is_nobodys_mistake() -> None:
    """C-83, TR-039: who joins a session is told its start, and not the tool that runs already."""
    lines = [BEGUN, event("tool.completed", 1), event("tool.invoked", 2, **CALL)]
    assert heard(LATER, *lines) == []
    assert heard(BEFORE, *lines) == ["TOOL-010", "TOOL-002"]
    assert heard(LATER, *lines, whole=True) == ["TOOL-010", "TOOL-002"]


def test_a_no_that_was_heard_counts_for_who_came_late_too() -> None:
    token = "rpl_00000000000000000000000000000001"
    about = {"tool": "transfer_funds", "tool_call_id": CALL["tool_call_id"]}
    asked = event("awaiting.confirmation", 1, reply_token=token, extra_context=about)
    call = event("tool.invoked", 3, tool="transfer_funds", **CALL)
    assert heard(LATER, BEGUN, asked, outcome(2, token, "rejected"), call) == ["HITL-020"]
    assert heard(LATER, BEGUN, asked, outcome(2, token, "accepted"), call) == []


ANSWERED = "rpl_00000000000000000000000000000001"


def raced(
    decision: str, *lines: bytes, whole: bool = False, strict: bool = False, via: str = VIA
) -> list[tuple[str, str]]:
    """What is said of a session in which a reader answered a question, after its answer."""
    audit = Audit(whole=whole, strict=strict)
    about = {"tool": "transfer_funds", "tool_call_id": CALL["tool_call_id"]}
    audit.feed(BEGUN, via=via)
    audit.feed(event("state.changed", 1, from_state="idle", to_state="awaiting_input"), via=via)
    audit.feed(event("awaiting.confirmation", 2, reply_token=ANSWERED, extra_context=about), via=via)
    changes = {"/reply_token": ANSWERED, "/decision": decision, "/subscription_id": VIA}
    assert not audit.feed(vectors.message({"base": "confirmation.reply", "set": changes}, 3), via=via)
    found = [one for raw in lines for one in audit.feed(raw, via=via)]
    return [(one.rule, one.severity) for one in found if one.rule.startswith(("HITL", "TOOL-002"))]


RAN = [
    event("state.changed", 5, from_state="thinking", to_state="calling_tool"),
    event("tool.invoked", 6, tool="transfer_funds", **CALL),
]
LEFT = event("state.changed", 4, from_state="awaiting_input", to_state="thinking")


@pytest.mark.parametrize("via", [VIA, ""])
@pytest.mark.parametrize("strict", [False, True])
def test_conf_041_a_no_that_came_second_is_not_what_decided(strict: bool, via: str) -> None:
    """CF-025: the agent tells that it was a yes, which somebody else has said; whether it was, is not to be seen."""
    assert raced("reject", outcome(4, ANSWERED, "accepted"), *RAN, strict=strict, via=via) == [("HITL-020", "info")]


def test_hitl_020_where_no_other_answer_is_told_a_no_that_was_seen_counts() -> None:
    refused = [("HITL-020", "error")]
    assert raced("reject", LEFT, *RAN) == refused
    assert raced("reject", *RAN) == refused
    assert raced("reject", outcome(4, ANSWERED, "rejected"), *RAN) == refused
    assert raced("reject", outcome(4, ANSWERED, "timed_out"), *RAN) == refused
    assert raced("reject", outcome(4, ANSWERED, "withdrawn"), *RAN) == refused
    assert raced("reject", outcome(4, "rpl_another", "accepted"), *RAN) == refused
    assert raced("reject", RAN[1], outcome(7, ANSWERED, "accepted"))[0] == refused[0]


def test_hitl_020_what_was_told_first_is_not_taken_back_by_telling_it_otherwise() -> None:
    both = [outcome(4, ANSWERED, "rejected"), outcome(5, ANSWERED, "accepted", from_state="thinking")]
    assert raced("reject", *both, *RAN) == [("HITL-020", "error")]


def test_hitl_020_in_a_recording_of_everything_the_first_answer_decides_whatever_is_told() -> None:
    assert raced("reject", outcome(4, ANSWERED, "accepted"), *RAN, whole=True) == [("HITL-020", "error")]


@pytest.mark.parametrize("how", ["rejected", "timed_out", "withdrawn"])
def test_conf_041_a_yes_that_came_second_is_not_what_decided(how: str) -> None:
    done = event("session.completed", 5, tool_invocations_count=0)
    assert raced("accept", outcome(4, ANSWERED, how), done) == []
    assert raced("accept", outcome(4, ANSWERED, how), *RAN) == [("HITL-020", "error")]
    assert raced("accept", LEFT, done) == [("HITL-018", "error")]


def test_what_a_reader_did_not_want_is_not_missed() -> None:
    """SUB-037"""
    lines = [event("tool.invoked", 1, risk_level="low", irreversible=False), event("tool.completed", 2)]
    assert heard(BEFORE, *lines, filters={"include": ["aaep:agent.tool.*"], "exclude": []}) == []
    assert heard(BEFORE, *lines[1:], filters={"include": ["aaep:agent.tool.completed"], "exclude": []}) == []


def test_a_note_on_what_all_events_have_alike_is_told_once_in_each_session() -> None:
    """ENV-032: the producer of a session lacks the same members on each of its events."""
    audit = Audit()
    lines = [
        event("progress.updated" if number else "session.started", 10 * session + number, session_id=f"sess_{session}")
        for session in range(2)
        for number in range(3)
    ]
    bare = [_with_bare_producer(raw) for raw in lines]
    notes = [(one.session_id, one.message) for one in judged(audit, bare) if one.rule == "ENV-032"]
    assert len(notes) == len({*notes})
    assert {session_id for session_id, _ in notes} == {"sess_0", "sess_1"}


def _with_bare_producer(raw: bytes) -> bytes:
    members = json.loads(raw)
    members["producer"] = {"agent_id": members["producer"]["agent_id"]}
    return json.dumps(members).encode()


@pytest.mark.parametrize(("heard_last", "said"), [("sess_1 begins", []), ("nothing", ["SEQ-001", "SEQ-003"])])
def test_a_subscription_that_resumes_after_the_events_of_another_goes_on_with_its_sessions(
    heard_last: str, said: list[str]
) -> None:
    """CF-084: a connection that is a subscription is taken up again as another one."""
    start = event("session.started", 1, session_id="sess_1")
    after = json.loads(start)["event_id"] if heard_last == "sess_1 begins" else "evt_unknown"
    asked = {"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "reader"}
    capabilities = {"supported_extensions": [ATTEND.namespace], "attend": {"resume_after": after}}
    audit = Audit(strict=True)
    found = audit.feed(start, via="sub_1")
    found += audit.feed(json.dumps({**asked, "capabilities": capabilities}).encode(), via="sub_2")
    end = event("session.completed", 2, session_id="sess_1", tool_invocations_count=None)
    found += audit.feed(end, via="sub_2") + audit.finish()
    assert sorted({rule for rule, _, _ in loud(found) if rule.startswith("SEQ")}) == said
