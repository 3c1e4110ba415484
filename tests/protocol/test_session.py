"""The tables, and one session step by step: replies, deadlines, withdrawal, consent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from aaep.protocol import codec, states
from aaep.protocol.catalogue import all_rules, grade
from aaep.protocol.consent import PromptState, reply_violation, response_violation
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope
from aaep.protocol.messages import ClarificationReply, ConfirmationReply
from aaep.protocol.session import SessionState
from tests import vectors

NOW = vectors.START.timestamp()
TOKEN = "rpl_00000000000000000000000000000077"
OTHER = "sub_00000000000000000000000000000002"

MACHINES: dict[str, tuple[Mapping[tuple[str, str], str], str]] = {  # table, first state
    "lifecycle": (states.LIFECYCLE_TRANSITIONS, "none"),
    "call": (states.CALL_TRANSITIONS, "new"),
    "output": (states.OUTPUT_TRANSITIONS, "new"),
    "ask": (states.PROMPT_TRANSITIONS, "pending"),
    "handshake": (states.HANDSHAKE_TRANSITIONS, "bare"),
}
# Not named as breaches: a message that changes nothing. An ended prompt ignores everything (CONF-034, CONF-041),
# and a subscriber's own request, renegotiation or closing that comes at the wrong moment has no effect.
INERT: dict[str, set[tuple[str, str]]] = {
    "lifecycle": set(),
    "call": set(),
    "output": set(),
    "ask": {
        (state, move)
        for state in ("accepted", "rejected", "answered", "timed_out", "withdrawn")
        for move in ("accept", "reject", "answer", "timeout", "withdraw", "end")
    },
    "handshake": {
        (state, move)
        for state in ("bare", "requested", "declined", "subscribed", "renegotiating", "closed", "refused")
        for move in ("request", "renegotiate", "close")
    }
    | {(state, move) for state in ("closed", "refused") for move in ("accepted", "rejected")},
}


def said(name: str) -> tuple[set[str], set[str]]:
    table, first = MACHINES[name]
    return {first, *table.values(), *(state for state, _ in table)}, {move for _, move in table}


# -- tables ------------------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_can_be_reached(name: str) -> None:
    table, first = MACHINES[name]
    reached: set[str] = {first}
    before: set[str] = set()
    while reached != before:
        before = set(reached)
        reached |= {after for (state, _), after in table.items() if state in reached}
    assert reached == said(name)[0]


@pytest.mark.parametrize("name", MACHINES)
def test_no_legal_move_is_called_a_breach(name: str) -> None:
    assert set(MACHINES[name][0]) & set(states.BREACHED_RULES) == set()


@pytest.mark.parametrize("name", MACHINES)
def test_every_move_is_legal_or_named_a_breach_or_inert(name: str) -> None:
    table, _ = MACHINES[name]
    all_states, moves = said(name)
    pairs = {(state, move) for state in all_states for move in moves}
    known = set(table) | (set(states.BREACHED_RULES) & pairs) | (INERT[name] - set(table))
    assert sorted(pairs - known) == []


def test_breaches_belong_to_a_machine_and_cite_the_catalogue() -> None:
    pairs = {(state, move) for name in MACHINES for state in said(name)[0] for move in said(name)[1]}
    assert sorted(set(states.BREACHED_RULES) - pairs) == []
    assert sorted(set(states.BREACHED_RULES.values()) - set(all_rules())) == []
    assert {rule for both in states.FOLLOW_UP_RULES.values() for rule in both if rule} <= set(all_rules())


# -- building ----------------------------------------------------------------------


def message(base: str, number: int = 0, remove: tuple[str, ...] = (), /, **changes: object) -> Any:
    pointers = {"/" + name.replace("__", "/"): value for name, value in changes.items()}
    return codec.decode(vectors.message({"base": base, "remove": list(remove), "set": pointers}, number))


def confirmation(**changes: object) -> AwaitingConfirmation:
    given = {"reply_token": TOKEN, "timeout_seconds": 60, "default_decision": "reject", "extra_context": {}}
    found = message("agent.awaiting.confirmation", 0, **(given | changes))
    assert isinstance(found, AwaitingConfirmation)
    return found


def clarification(remove: tuple[str, ...] = (), **changes: object) -> AwaitingClarification:
    found = message("agent.awaiting.clarification", 0, remove, **({"reply_token": TOKEN} | changes))
    assert isinstance(found, AwaitingClarification)
    return found


def reply(number: int = 1, /, **changes: object) -> ConfirmationReply:
    given = {"reply_token": TOKEN, "subscription_id": vectors.VIA, "decision": "accept"}
    found = message("confirmation.reply", number, **(given | changes))
    assert isinstance(found, ConfirmationReply)
    return found


def answer(response: object, **changes: object) -> ClarificationReply:
    given = {"reply_token": TOKEN, "subscription_id": vectors.VIA, "response": response}
    found = message("clarification.reply", 1, **(given | changes))
    assert isinstance(found, ClarificationReply)
    return found


def ask(event: AwaitingConfirmation | AwaitingClarification, *eligible: str) -> PromptState:
    return PromptState(event=event, deadline=NOW + event.timeout_seconds, eligible=set(eligible) or None)


def asked(event: AwaitingConfirmation | AwaitingClarification) -> SessionState:
    """A session whose second event is the prompt."""
    session = SessionState(event.session_id)
    session.feed(message("agent.session.started", 0), NOW)
    session.feed(event, NOW)
    session.prompts[TOKEN].eligible = {vectors.VIA}
    return session


def due(session: SessionState) -> float | None:
    return session.deadline


def errors(session: SessionState, event: Envelope, now: float = NOW + 2) -> list[str]:
    return [violation.rule for violation in session.feed(event, now) if grade(violation) == "error"]


# -- one reply ---------------------------------------------------------------------


def test_a_sound_accept_counts() -> None:
    session = asked(confirmation())
    verdict = session.reply(reply(), NOW + 1, vectors.VIA)
    assert verdict.is_honoured
    assert verdict.prompt is session.prompts[TOKEN]
    assert (verdict.prompt.outcome, verdict.prompt.is_granted, verdict.prompt.decided_via) == (
        "accepted",
        True,
        vectors.VIA,
    )
    assert session.deadline is None


def test_a_forged_token_counts_for_nothing() -> None:
    session = asked(confirmation())
    forged = reply(reply_token="rpl_00000000000000000000000000000078")
    assert not session.reply(forged, NOW + 1, vectors.VIA).is_honoured
    assert session.prompts[TOKEN].outcome == "pending"


@pytest.mark.parametrize("text", ["accept", "yes", True])
def test_a_clarification_reply_never_grants_a_confirmation(text: object) -> None:
    """CLAR-020: a token answers only the kind of prompt it was issued for."""
    session = asked(confirmation())
    verdict = session.reply(answer(text), NOW + 1, vectors.VIA)
    assert (verdict.is_honoured, verdict.rule) == (False, "CLAR-020")
    assert session.prompts[TOKEN].outcome == "pending"


def test_a_confirmation_reply_never_answers_a_question() -> None:
    session = asked(clarification())
    assert session.reply(reply(), NOW + 1, vectors.VIA).rule == "CLAR-020"
    assert session.prompts[TOKEN].outcome == "pending"


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_token_alone_is_no_authority(decision: str) -> None:
    """SEC-011, CF-008: the reply has to come on, and name, a subscription that may answer. Rejects too."""
    one = ask(confirmation(), vectors.VIA)
    assert reply_violation(reply(decision=decision), one, vectors.VIA) == ""
    assert reply_violation(reply(decision=decision), one, OTHER) == "SEC-011"
    assert reply_violation(reply(decision=decision, subscription_id=OTHER), one, vectors.VIA) == "SEC-011"
    assert reply_violation(reply(decision=decision, subscription_id=OTHER), one, OTHER) == "SEC-011"


def test_a_recording_keeps_no_count_of_who_may_answer() -> None:
    assert reply_violation(reply(subscription_id=OTHER), ask(confirmation()), vectors.VIA) == ""


def test_an_accept_that_claims_to_be_late_is_late() -> None:
    """CONF-035, CF-014: by its own timestamp, though it arrived in time. The deadline itself is too late (CF-030)."""
    one = ask(confirmation())
    assert reply_violation(reply(59), one, vectors.VIA) == ""
    assert reply_violation(reply(60), one, vectors.VIA) == "CONF-035"
    assert reply_violation(reply(61), one, vectors.VIA) == "CONF-035"


def test_a_reject_with_a_fast_clock_still_counts() -> None:
    """CF-014: ignoring a user's no because of clock skew would be unsafe."""
    session = asked(confirmation(default_decision="accept"))
    assert session.reply(reply(600, decision="reject"), NOW + 1, vectors.VIA).is_honoured
    assert session.prompts[TOKEN].outcome == "rejected"


@pytest.mark.parametrize("decision", ["accept", "reject"])
@pytest.mark.parametrize(("seconds", "honoured"), [(59.999, True), (60, False), (61, False)])
def test_receipt_decides_what_is_in_time(decision: str, seconds: float, honoured: bool) -> None:
    """CF-014, CF-030: a backdated reply does not pass; one at the deadline is too late."""
    session = asked(confirmation())
    assert session.reply(reply(1, decision=decision), NOW + seconds, vectors.VIA).is_honoured is honoured
    assert (session.prompts[TOKEN].outcome == "timed_out") is not honoured


@pytest.mark.parametrize("first", ["accept", "reject"])
@pytest.mark.parametrize("second", ["accept", "reject"])
def test_only_the_first_reply_counts(first: str, second: str) -> None:
    """CONF-034, CONF-041: a replay changes nothing, whatever it says."""
    session = asked(confirmation())
    assert session.reply(reply(decision=first), NOW + 1, vectors.VIA).is_honoured
    outcome = session.prompts[TOKEN].outcome
    assert session.reply(reply(2, decision=second), NOW + 2, vectors.VIA).rule == "CONF-034"
    assert session.prompts[TOKEN].outcome == outcome


def test_unknown_members_void_an_accept_but_not_a_reject() -> None:
    """CF-020: an unknown member could be a condition; on a reject it cannot hurt."""
    session = asked(confirmation())
    assert session.reply(reply(unless="it rains"), NOW + 1, vectors.VIA).rule == "CONF-031"
    assert session.prompts[TOKEN].outcome == "pending"
    assert session.reply(reply(unless="it rains", decision="reject"), NOW + 1, vectors.VIA).is_honoured
    assert session.prompts[TOKEN].outcome == "rejected"


def test_unknown_members_void_an_answer() -> None:
    one = ask(clarification(accepted_response_kinds=["freetext"]))
    assert reply_violation(answer("Savings.", unless="it rains"), one, vectors.VIA) == "CLAR-015"


def test_an_accept_of_something_else_is_a_refusal() -> None:
    """CF-019: the action that was asked about must not run, and nobody may take it for a plain no."""
    session = asked(confirmation())
    assert session.reply(reply(modified_action={"amount": 5}), NOW + 1, vectors.VIA).is_honoured
    one = session.prompts[TOKEN]
    assert (one.outcome, one.is_granted, one.is_modified) == ("rejected", False, True)


@pytest.mark.parametrize("member", ["modified_action", "decided_by", "correlation_id"])
def test_an_accept_with_an_ill_formed_member_never_grants(member: str) -> None:
    """CF-020: what can start an action has to pass every check; a member we could not read could be a condition."""
    session = asked(confirmation())
    session.reply(reply(**{member: ["Send 5 dollars."]}), NOW + 1, vectors.VIA)
    assert session.prompts[TOKEN].is_granted is False


def test_a_plain_reject_is_not_a_modification() -> None:
    session = asked(confirmation())
    session.reply(reply(decision="reject", modified_action={"amount": 5}), NOW + 1, vectors.VIA)
    assert session.prompts[TOKEN].is_modified is False


def test_an_accept_needs_to_be_among_the_allowed_replies() -> None:
    """CONF-037; a reject is always allowed."""
    one = ask(confirmation(allowed_replies=["reject"]))
    assert reply_violation(reply(), one, vectors.VIA) == "CONF-037"
    assert reply_violation(reply(decision="reject"), one, vectors.VIA) == ""
    assert reply_violation(reply(), ask(confirmation(allowed_replies=["accept", "reject"])), vectors.VIA) == ""


# -- answers -----------------------------------------------------------------------

CHOICES = [{"value": "a", "label": "First"}, {"value": "b", "label": "Second"}]


@pytest.mark.parametrize(
    ("kinds", "response", "rule"),
    [
        (["freetext"], "Anything.", ""),
        (["freetext"], 1, "CLAR-006"),
        (["freetext"], True, "CLAR-006"),
        (["yes_no"], False, ""),
        (["yes_no"], "yes", "CLAR-007"),
        (["yes_no"], 1, "CLAR-007"),
        (["yes_no"], 0, "CLAR-007"),
        (["multiple_choice"], "b", ""),
        (["multiple_choice"], "Second", "CLAR-008"),
        (["multiple_choice"], True, "CLAR-008"),
        (["numeric"], 2, ""),
        (["numeric"], 2.5, ""),
        (["numeric"], True, "CLAR-009"),
        (["numeric"], "2", "CLAR-009"),
        (["numeric", "yes_no"], True, ""),
        (["numeric", "yes_no"], "x", "CLAR-009"),
        (["yes_no", "numeric"], "x", "CLAR-007"),
    ],
)
def test_an_answer_has_to_be_of_an_accepted_kind(kinds: list[str], response: object, rule: str) -> None:
    """CLAR-006 to CLAR-009: when none fits, the first kind's rule is broken."""
    question = clarification(accepted_response_kinds=kinds, choices=CHOICES)
    assert response_violation(answer(response), ask(question)) == rule
    assert reply_violation(answer(response), ask(question), vectors.VIA) == rule


def test_kinds_that_are_not_said_are_not_assumed() -> None:
    """CF-031: text, or one of the choices where there are any; never numbers or booleans."""
    bare = vectors.BASES["agent.awaiting.clarification"]
    gone = tuple(f"/{name}" for name in ("accepted_response_kinds", "choices") if name in bare)
    assert response_violation(answer("Text."), ask(clarification(gone))) == ""
    assert response_violation(answer(True), ask(clarification(gone))) == "CLAR-006"
    kinds = tuple(name for name in gone if name.endswith("kinds"))
    with_choices = clarification(kinds, choices=CHOICES)
    assert response_violation(answer("a"), ask(with_choices)) == ""
    assert response_violation(answer("c"), ask(with_choices)) == "CLAR-008"


def test_an_answer_is_kept() -> None:
    session = asked(clarification(accepted_response_kinds=["freetext"]))
    assert session.reply(answer("Savings."), NOW + 1, vectors.VIA).is_honoured
    one = session.prompts[TOKEN]
    assert (one.outcome, one.response) == ("answered", "Savings.")


def test_an_ill_typed_answer_leaves_the_question_open() -> None:
    session = asked(clarification(accepted_response_kinds=["yes_no"]))
    assert session.reply(answer("yes"), NOW + 1, vectors.VIA).rule == "CLAR-007"
    assert session.reply(answer(True), NOW + 1, vectors.VIA).is_honoured


# -- time --------------------------------------------------------------------------


@pytest.mark.parametrize(("default", "granted"), [("accept", True), ("reject", False)])
def test_silence_takes_the_default(default: str, granted: bool) -> None:
    session = asked(confirmation(default_decision=default))
    assert due(session) == NOW + 60
    assert session.expire(NOW + 59.999) == []
    (ended,) = session.expire(NOW + 60)
    assert (ended.outcome, ended.is_granted) == ("timed_out", granted)
    assert session.deadline is None
    assert session.expire(NOW + 61) == []


def test_the_deadline_is_that_of_the_next_prompt_to_run_out() -> None:
    session = asked(confirmation(timeout_seconds=60))
    second = clarification(reply_token="rpl_00000000000000000000000000000078", timeout_seconds=30, event_id="evt_2")
    session.feed(second, NOW + 10)
    assert session.deadline == NOW + 40
    assert [one.event for one in session.expire(NOW + 45)] == [second]
    assert session.deadline == NOW + 60


def test_a_silent_question_grants_nothing() -> None:
    session = asked(clarification(timeout_seconds=60))
    (ended,) = session.expire(NOW + 60)
    assert (ended.outcome, ended.is_granted, ended.response) == ("timed_out", False, None)


# -- withdrawal --------------------------------------------------------------------


@pytest.mark.parametrize(("entered", "broken"), [("thinking", []), ("deciding", []), ("calling_tool", ["CONF-071"])])
def test_leaving_awaiting_input_withdraws_the_prompt(entered: str, broken: list[str]) -> None:
    session = asked(confirmation())
    session.feed(message("agent.state.changed", 1, from_state="idle", to_state="awaiting_input"), NOW + 1)
    left = message("agent.state.changed", 2, from_state="awaiting_input", to_state=entered)
    assert errors(session, left) == broken
    assert session.prompts[TOKEN].outcome == "withdrawn"
    assert not session.reply(reply(3), NOW + 3, vectors.VIA).is_honoured


@pytest.mark.parametrize("ending", ["completed", "errored", "cancelled"])
def test_any_ending_voids_every_token(ending: str) -> None:
    """CF-027"""
    session = asked(confirmation(default_decision="accept"))
    assert errors(session, message(f"agent.session.{ending}", 1)) == []
    assert session.prompts[TOKEN].outcome == "withdrawn"
    assert session.deadline is None
    assert session.reply(reply(2), NOW + 2, vectors.VIA).rule == "CONF-034"
    assert session.expire(NOW + 100) == []
    assert session.prompts[TOKEN].is_granted is False


# -- consent -----------------------------------------------------------------------


def call(number: int, id_: str, **changes: object) -> Envelope:
    found = message("agent.tool.invoked", number, **({"tool_call_id": id_, "irreversible": True} | changes))
    assert isinstance(found, Envelope)
    return found


def resolved(decision: str, **changes: object) -> SessionState:
    session = asked(confirmation(**changes))
    if decision != "silence":
        session.reply(reply(1, decision=decision), NOW + 1, vectors.VIA)
    now = NOW + (60 if decision == "silence" else 2)
    session.expire(now)
    session.feed(message("agent.state.changed", 61, from_state="idle", to_state="calling_tool"), now)
    return session


@pytest.mark.parametrize(
    ("about", "calls"),
    [
        ({"tool_call_id": "call_1"}, {"call_1": [], "call_2": ["TOOL-002"]}),
        ({"tool_call_id": "call_1"}, {"call_2": ["TOOL-002"], "call_1": []}),
        ({}, {"call_1": [], "call_2": ["TOOL-002"]}),
    ],
)
def test_consent_is_bound_to_one_call(about: dict[str, str], calls: dict[str, list[str]]) -> None:
    """And if it names the call, to that one, whichever comes first."""
    session = resolved("accept", extra_context=about)
    for number, (id_, broken) in enumerate(calls.items(), 62):
        assert errors(session, call(number, id_), NOW + number) == broken, id_


@pytest.mark.parametrize(
    ("decision", "default", "irreversible", "broken"),
    [
        ("accept", "reject", True, []),
        ("accept", "accept", True, ["TOOL-003"]),
        ("accept", "accept", False, []),
        ("reject", "accept", True, ["HITL-020"]),
        ("reject", "reject", False, ["HITL-020"]),
        ("silence", "reject", True, ["HITL-020"]),
        ("silence", "accept", True, ["TOOL-002"]),
        ("silence", "accept", False, ["HITL-002"]),
    ],
)
def test_what_an_answer_licenses(decision: str, default: str, irreversible: bool, broken: list[str]) -> None:
    """C-39: only an explicit yes licenses what cannot be undone or is of high risk."""
    session = resolved(decision, default_decision=default)
    assert errors(session, call(62, "call_1", irreversible=irreversible, risk_level="high"), NOW + 62) == broken


@pytest.mark.parametrize(("irreversible", "rule"), [(True, "TOOL-002"), (False, "HITL-002")])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("replied", [True, False])
def test_what_the_agent_says_of_an_answer_is_no_proof(
    irreversible: bool, rule: str, whole: bool, replied: bool
) -> None:
    """C-38: without the reply it is undetermined; with it there is nothing to say."""
    session = asked(confirmation())
    session.is_whole = whole
    if replied:
        session.reply(reply(1), NOW + 1, vectors.VIA)
    ours = {"attend": {"reply_token": TOKEN, "outcome": "accepted"}}
    told = message("agent.state.changed", 2, from_state="awaiting_input", to_state="calling_tool", extensions=ours)
    session.feed(told, NOW + 2)
    found = session.feed(call(3, "call_1", irreversible=irreversible, risk_level="high"), NOW + 3)
    assert [(one.rule, grade(one)) for one in found] == ([] if replied else [(rule, "info")])


@pytest.mark.parametrize(
    ("irreversible", "risk", "rule"),
    [(True, "high", "TOOL-002"), (False, "high", "HITL-002"), (False, "low", "HITL-020")],
)
def test_an_answer_that_the_recording_does_not_show_proves_nothing(irreversible: bool, risk: str, rule: str) -> None:
    """C-38: neither that the user agreed nor that they refused."""
    session = asked(confirmation(extra_context={"tool_call_id": "call_1"}))
    session.is_whole = False
    session.feed(message("agent.state.changed", 1, from_state="awaiting_input", to_state="calling_tool"), NOW + 1)
    found = session.feed(call(2, "call_1", irreversible=irreversible, risk_level=risk), NOW + 2)
    assert [(one.rule, grade(one)) for one in found] == [(rule, "info")]


def test_a_consent_that_names_the_tool_goes_before_one_that_names_none() -> None:
    """C-38: the other is left for another tool."""
    session = asked(confirmation())
    named = confirmation(reply_token="rpl_2", event_id="evt_2", action="Pay.", extra_context={"tool": "pay"})
    session.feed(named, NOW + 1)
    for token in (TOKEN, "rpl_2"):
        assert session.reply(reply(2, reply_token=token), NOW + 2, vectors.VIA).is_honoured
    session.feed(message("agent.state.changed", 3, from_state="idle", to_state="calling_tool"), NOW + 3)
    assert errors(session, call(4, "call_1", tool="pay"), NOW + 4) == []
    assert errors(session, call(5, "call_2", tool="move"), NOW + 5) == []


@pytest.mark.parametrize(("irreversible", "rule"), [(True, "TOOL-002"), (False, "HITL-002")])
def test_nobody_was_asked(irreversible: bool, rule: str) -> None:
    """HITL-002"""
    session = SessionState("sess_1")
    session.feed(message("agent.session.started", 0), NOW)
    assert errors(session, call(1, "call_1", irreversible=irreversible, risk_level="high")) == [rule]


def test_a_call_waits_for_its_answer() -> None:
    session = asked(confirmation(extra_context={"tool_call_id": "call_1"}))
    assert errors(session, call(1, "call_1")) == ["CONF-006"]


@pytest.mark.parametrize("between", [True, False])
def test_a_call_that_ends_meanwhile_does_not_tell_how_a_prompt_ended(between: bool) -> None:
    """HITL-022: that is still to be told by a state.changed before anything else is."""
    session = asked(confirmation())
    session.feed(call(1, "call_1", irreversible=False, risk_level="low", tool="look"), NOW + 1)
    assert session.reply(reply(2), NOW + 2, vectors.VIA).is_honoured
    if between:
        done = message("agent.tool.completed", 3, tool="look", tool_call_id="call_1")
        assert session.feed(done, NOW + 3) == []
    found = session.feed(message("agent.progress.updated", 4), NOW + 4)
    assert [one.rule for one in found] == ["HITL-022"]


@pytest.mark.parametrize(("whole", "broken"), [(True, ["OUT-001"]), (False, [])])
def test_who_joins_in_the_middle_of_an_output_counts_from_there(whole: bool, broken: list[str]) -> None:
    """C-83: where it began was not seen; that the next chunk goes on where this one ends, is."""
    session = SessionState("sess_1", whole=whole)
    if whole:
        session.feed(message("agent.session.started", 0), NOW)
    session.feed(message("agent.state.changed", 1, from_state="idle", to_state="writing_output"), NOW + 1)
    chunk = {"chunk": "Hello. ", "complete": False, "coalesce_hint": "sentence"}
    for number, (position, found) in enumerate({100: broken, 107: [], 200: ["OUT-001"]}.items(), 2):
        event = message("agent.output.streaming", number, position=position, **chunk)
        assert [one.rule for one in session.feed(event, NOW + number)] == found, position


def test_judging_changes_nothing() -> None:
    """The producer asks before it sends; asking twice gives the same answer."""
    session = resolved("accept")
    event = call(62, "call_1")
    assert session.judge(event, NOW + 62) == session.judge(event, NOW + 62)
    assert errors(session, event, NOW + 62) == []
    assert errors(session, call(63, "call_2"), NOW + 63) == ["TOOL-002"]


@pytest.mark.parametrize(
    "extensions",
    [{"attend": {"parent_session_id": "sess_parent"}}, {"parent_session_id": "sess_parent"}],
    ids=["ours", "bare, as A.9 shows it"],
)
def test_a_session_knows_its_parent(extensions: dict[str, Any]) -> None:
    """MULTI-002, C-19."""
    started = codec.decode(vectors.message({"base": "agent.session.started", "set": {"/extensions": extensions}}))
    assert isinstance(started, Envelope)
    session = SessionState(started.session_id)
    session.feed(started, 0.0)
    assert session.parent_session_id == "sess_parent"


def test_an_accept_with_escaped_letters_counts() -> None:
    """Many encoders escape what is not ASCII; that makes nothing of it inexact (CF-020)."""
    raw = json.dumps({**vectors.BASES["confirmation.reply"], "decision_rationale": "café"}).encode()
    assert b"\\u" in raw
    reply = codec.decode(raw)
    assert isinstance(reply, ConfirmationReply)
    assert reply.raw is None
