"""What an audit does when there is more than it can follow: it says so, and blames nobody for it."""

from __future__ import annotations

import pytest

from aaep import audit as module
from aaep import stream
from aaep.audit import Audit, Finding
from tests import vectors
from tests.sessions import event

FEW = 4


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", FEW)


def opened(count: int) -> list[bytes]:
    return [event("session.started", number, session_id=f"sess_{number}") for number in range(count)]


def loud(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity, one.session_id) for one in found if one.severity != "info"]


def judged(audit: Audit, lines: list[bytes]) -> list[Finding]:
    found = [one for raw in lines for one in audit.feed(raw)]
    other = Audit(whole=audit.whole, strict=audit.strict)
    assert [one for _, several in stream.judge(other, lines) for one in several] == found
    return found


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
