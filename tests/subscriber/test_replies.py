"""Which prompts are open, and what may be said to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aaep.errors import LocalProtocolError
from aaep.protocol import codec
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope
from aaep.protocol.messages import Capabilities
from aaep.subscriber.replies import OpenPrompts, build_clarification_reply, build_confirmation_reply
from tests.sessions import event, outcome, resync, token

BOTH = Capabilities(supports_confirmation_reply=True, supports_clarification_reply=True)
SUB = "sub_1"
NOW = "2026-05-24T14:22:30.000Z"


def read(raw: bytes) -> Any:
    message = codec.decode(raw)
    assert isinstance(message, Envelope)
    return message


def prompt(number: int = 5, **members: Any) -> AwaitingConfirmation:
    made = read(event("awaiting.confirmation", number, reply_token=token(number), **members))
    assert isinstance(made, AwaitingConfirmation)
    return made


def question(**members: Any) -> AwaitingClarification:
    made = read(event("awaiting.clarification", 5, reply_token=token(5), **members))
    assert isinstance(made, AwaitingClarification)
    return made


def rules(error: pytest.ExceptionInfo[LocalProtocolError]) -> list[str]:
    return [violation.rule for violation in error.value.violations]


@pytest.fixture
def prompts() -> OpenPrompts:
    made = OpenPrompts()
    made.update(prompt(5, timeout_seconds=60), 100.0)
    return made


def test_a_prompt_is_open_until_its_time_is_over(prompts: OpenPrompts) -> None:
    """CONF-059"""
    assert [one.reply_token for one in prompts.pending(159.9)] == [token(5)]
    assert prompts.pending(160.0) == ()
    with pytest.raises(LocalProtocolError, match="Too late") as error:
        prompts.find(token(5), 160.0)
    assert rules(error) == ["CONF-035"]


def test_a_prompt_sent_again_keeps_its_deadline(prompts: OpenPrompts) -> None:
    prompts.update(prompt(5, timeout_seconds=60), 150.0)
    assert prompts.pending(161.0) == ()


@pytest.mark.parametrize("name", ["event", "token"])
def test_a_prompt_is_found_by_its_event_and_by_its_token(prompts: OpenPrompts, name: str) -> None:
    asked = prompt(5) if name == "event" else token(5)
    assert prompts.find(asked, 100.0).reply_token == token(5)


@pytest.mark.parametrize("asked", ["rpl_madeup", "", read(event("session.started"))], ids=["forged", "none", "other"])
def test_only_a_prompt_of_this_stream_can_be_answered(prompts: OpenPrompts, asked: Any) -> None:
    with pytest.raises(LocalProtocolError, match="no such prompt") as error:
        prompts.find(asked, 100.0)
    assert rules(error) == ["CONF-016"]


CLOSING = {
    "its outcome": outcome(6, token(5), "accepted"),
    "leaving awaiting_input": event("state.changed", 6, from_state="awaiting_input", to_state="thinking"),
    "the end of the session": event("session.completed", 6),
    "a catch-up in another state": resync(6, "thinking"),
}
KEEPING = {
    "another's outcome": outcome(6, token(4), "accepted"),
    "entering awaiting_input": event("state.changed", 6, from_state="thinking", to_state="awaiting_input"),
    "another agent's leaving": event(
        "state.changed", 6, from_state="awaiting_input", to_state="thinking", producer={"agent_id": "other"}
    ),
    "the end of another session": event("session.completed", 6, session_id="sess_2"),
    "a catch-up in awaiting_input": resync(6, "awaiting_input"),
    "what happened before it": event("state.changed", 3, from_state="awaiting_input", to_state="thinking"),
    "progress": event("progress.updated", 6),
}


@pytest.mark.parametrize("raw", CLOSING.values(), ids=CLOSING)
def test_a_prompt_is_closed_by(prompts: OpenPrompts, raw: bytes) -> None:
    prompts.update(read(raw), 101.0)
    assert prompts.pending(101.0) == ()
    with pytest.raises(LocalProtocolError, match="Too late") as error:
        prompts.find(token(5), 101.0)
    assert rules(error) == ["CONF-034"]


@pytest.mark.parametrize("raw", KEEPING.values(), ids=KEEPING)
def test_a_prompt_is_not_closed_by(prompts: OpenPrompts, raw: bytes) -> None:
    prompts.update(read(raw), 101.0)
    assert len(prompts.pending(101.0)) == 1


def test_a_catch_up_spares_what_was_sent_again_before_it(prompts: OpenPrompts) -> None:
    """One of two questions may have been answered: the agent goes on, and the other is still open."""
    prompts.connection_began()
    prompts.note_arrival(prompt(5))
    prompts.update(read(resync(6, "calling_tool")), 101.0)
    assert len(prompts.pending(101.0)) == 1
    prompts.connection_began()
    prompts.update(read(resync(7, "calling_tool")), 101.0)
    assert prompts.pending(101.0) == ()


# -- what is sent --------------------------------------------------------------------------


def test_a_decision_is_exactly_this() -> None:
    """HITL-010"""
    raw = build_confirmation_reply(prompt(), "accept", SUB, NOW, terms=BOTH)
    assert json.loads(raw) == {
        "type": "confirmation.reply",
        "reply_token": token(5),
        "decision": "accept",
        "subscription_id": SUB,
        "timestamp": NOW,
        "decided_by": "user:local",
    }


def test_a_decision_may_say_who_and_why() -> None:
    said = json.loads(
        build_confirmation_reply(
            prompt(), "reject", SUB, NOW, terms=BOTH, decided_by="user:amara", rationale="Not now."
        )
    )
    assert (said["decided_by"], said["decision_rationale"]) == ("user:amara", "Not now.")


def test_an_answer_is_exactly_this() -> None:
    """HITL-010"""
    raw = build_clarification_reply(
        question(accepted_response_kinds=["yes_no"], choices=None), True, SUB, NOW, terms=BOTH
    )
    assert json.loads(raw) == {
        "type": "clarification.reply",
        "reply_token": token(5),
        "response": True,
        "subscription_id": SUB,
        "timestamp": NOW,
        "decided_by": "user:local",
    }


@pytest.mark.parametrize(
    ("kind", "response", "rule"),
    [("freetext", 5, "CLAR-006"), ("yes_no", "yes", "CLAR-007"), ("numeric", True, "CLAR-009")],
)
def test_an_answer_of_another_kind_is_not_sent(kind: str, response: Any, rule: str) -> None:
    with pytest.raises(LocalProtocolError) as error:
        build_clarification_reply(
            question(accepted_response_kinds=[kind], choices=None), response, SUB, NOW, terms=BOTH
        )
    assert rules(error) == [rule]


def test_an_empty_or_endless_answer_is_not_sent() -> None:
    asked = question(accepted_response_kinds=["freetext"], choices=None)
    for response in ("", "x" * 20_000):
        with pytest.raises(LocalProtocolError) as error:
            build_clarification_reply(asked, response, SUB, NOW, terms=BOTH)
        assert rules(error) == ["CLAR-003"]


def test_a_token_answers_only_its_kind() -> None:
    with pytest.raises(LocalProtocolError, match=r"answer\(\)"):
        build_confirmation_reply(question(), "accept", SUB, NOW, terms=BOTH)
    with pytest.raises(LocalProtocolError, match=r"accept\(\)"):
        build_clarification_reply(prompt(), "yes", SUB, NOW, terms=BOTH)


def test_without_the_right_to_reply_nothing_is_sent() -> None:
    with pytest.raises(LocalProtocolError) as error:
        build_confirmation_reply(prompt(), "accept", SUB, NOW, terms=Capabilities(supports_clarification_reply=True))
    assert rules(error) == ["CONF-063"]
    with pytest.raises(LocalProtocolError) as error:
        build_clarification_reply(question(), "x", SUB, NOW, terms=Capabilities(supports_confirmation_reply=True))
    assert rules(error) == ["CLAR-004"]


def test_what_the_prompt_does_not_offer_is_not_sent() -> None:
    """CF-018: a prompt without a way to refuse is said to have none."""
    with pytest.raises(LocalProtocolError, match="does not offer reject") as error:
        build_confirmation_reply(prompt(allowed_replies=["accept"]), "reject", SUB, NOW, terms=BOTH)
    assert rules(error) == ["CONF-037"]


@pytest.mark.parametrize(
    "members",
    [
        {"risk_level": "high", "irreversible": False},
        {"risk_level": "low", "irreversible": True},
        {"risk_level": None, "irreversible": False},
        {"risk_level": "low", "irreversible": None},
        {"risk_level": "low", "irreversible": False, "reversibility": "irreversible"},
    ],
    ids=str,
)
def test_no_policy_accepts_what_is_grave_or_not_known_to_be_harmless(members: dict[str, Any]) -> None:
    """CF-037"""
    asked = prompt(**{"reversibility": None, **members})
    for who in ("auto:policy", "system:admin"):
        with pytest.raises(LocalProtocolError, match="Only a person"):
            build_confirmation_reply(asked, "accept", SUB, NOW, terms=BOTH, decided_by=who)
        assert build_confirmation_reply(asked, "reject", SUB, NOW, terms=BOTH, decided_by=who)
    assert build_confirmation_reply(asked, "accept", SUB, NOW, terms=BOTH)


def test_a_policy_may_accept_what_is_harmless() -> None:
    asked = prompt(risk_level="low", irreversible=False, reversibility=None)
    assert build_confirmation_reply(asked, "accept", SUB, NOW, terms=BOTH, decided_by="auto:policy")
