"""Scenarios about consent: prompts, the replies to them, and what the producer does after each. Chapter 6"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final

from ...errors import AaepError
from ...protocol.attend_extension import attend_registry
from ...protocol.audit import Audit
from ...protocol.catalogue import all_rules
from ..judge import excerpt, excerpt_first, excerpt_message
from ..messages import JsonObject
from ..scenario import ScenarioAborted, producer_scenario
from .harness import (
    LISTENER_CAPABILITIES,
    REPLIER_CAPABILITIES,
    FakeSubscriber,
    Harness,
    ObservedSession,
    SendResult,
)
from .observed import ObservedEvent
from .scenarios_streams import find_displaced_event

_ASK_FIRST_ADVICE: Final = (
    "Ask with agent.awaiting.confirmation, wait for the accept, and only then send agent.tool.invoked."
)
_REPLY_CHECK_ADVICE: Final = "Make every check of §6.3.4, in its order, and ignore a reply that fails one."


# -- replies that count ---------------------------------------------------------------------


@producer_scenario(
    2,
    "CONF-002 CONF-041 HITL-001 HITL-004 CONF-067 CONF-034 TR-009",
    "HITL-018 SUB-075 CONF-065 CONF-001 TERM-014 TR-013",
)
async def two_readers_answer_and_the_first_counts(harness: Harness) -> None:
    """Answer a confirmation from two subscriptions, and repeat the first reply."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    async with harness.subscribe(**REPLIER_CAPABILITIES, preferred_verbosity="terse") as second_subscriber:
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        second_prompt = await session.wait_for_event(second_subscriber, "awaiting.confirmation")
        evidence.check(
            "CONF-065",
            second_prompt is not None,
            "Two readers that may answer were both asked.",
            "A second reader that may answer was not asked.",
        )
        await harness.wait_quiet_period()
        early_resolution = session.find_resolution(main_subscriber, prompt)
        if early_resolution is not None:
            for rule in ("CONF-001", "CONF-002", "HITL-004"):
                evidence.record_failure(
                    rule, f"Nobody had answered, and this came: {excerpt(early_resolution.raw)}", _ASK_FIRST_ADVICE
                )
        await main_subscriber.answer_confirmation(prompt.message)
        harness.invalid_reply_results["a token that was used a moment ago"] = await main_subscriber.answer_confirmation(
            prompt.message, audit=False
        )
        await _wait_until_received(harness, session, main_subscriber, prompt)
        await second_subscriber.answer_confirmation(prompt.message, "reject", audit=False)
        await session.wait_for_resolution(main_subscriber, prompt)
        end_event = await session.wait_for_end(main_subscriber)
        action_calls = session.find_action_calls(main_subscriber, prompt)
        if end_event is None and not action_calls:
            raise session.make_unfinished_error("nothing was done yet after an accept")
        _check_first_reply_won(harness, is_executed=bool(action_calls))
        if early_resolution is None and action_calls:
            for rule in ("CONF-001", "CONF-002", "HITL-004", "HITL-001"):
                evidence.record_pass(rule, f"It waited for the accept, then: {excerpt(action_calls[0].raw)}")
        if second_prompt is not None:
            outcome = session.find_resolution(main_subscriber, prompt)
            await session.wait_for_resolution(second_subscriber, second_prompt)
            second_outcome = session.find_resolution(second_subscriber, second_prompt)
            # The action itself, or the end of the session, does not tell how the question was answered.
            is_told = second_outcome is not None and (
                outcome is None or outcome["event_id"] == second_outcome["event_id"]
            )
            for rule in ("CONF-067", "SUB-075"):
                evidence.check(
                    rule,
                    is_told,
                    "The reader whose answer came too late was told the outcome.",
                    f"The reader whose answer came too late was not told this: {excerpt_message(outcome)}",
                    "Send what tells the outcome to every reader that was asked.",
                    mandatory=rule == "CONF-067",  # §9.4.1(9) demands of Level 2 what §6.7.2 recommends
                )
        harness.closed_prompts.append(prompt.message)
        if end_event is not None:
            await session.wait_for_end(second_subscriber)
            _check_same_events(harness, session, main_subscriber, second_subscriber)
            await _check_repeated_reply(harness, session, main_subscriber, prompt)


async def _wait_until_received(
    harness: Harness, session: ObservedSession, main_subscriber: FakeSubscriber, prompt: ObservedEvent
) -> None:
    """
    Wait until the first reply has taken effect.

    Two connections keep no order, and only HTTP tells when a reply has arrived.
    """
    if not harness.is_http:
        await session.wait_for_resolution(main_subscriber, prompt, 4 * harness.quiet_period)


def _check_first_reply_won(harness: Harness, *, is_executed: bool) -> None:
    harness.evidence.check(
        "CONF-041",
        is_executed,
        "After an accept and then a reject the accepted action was done.",
        "After an accept and then a reject the accepted action was not done.",
        "Let the first valid reply decide and ignore the others.",
    )


def _check_same_events(
    harness: Harness, session: ObservedSession, main_subscriber: FakeSubscriber, second_subscriber: FakeSubscriber
) -> None:
    main_events = main_subscriber.find_session_events(session.session_id)
    second_events = second_subscriber.find_session_events(session.session_id)
    received_ids = {event["event_id"] for event in second_events}
    missing = [event for event in main_events if event["event_id"] not in received_ids]
    displaced = find_displaced_event(main_subscriber, second_subscriber, session.session_id)
    harness.evidence.check(
        "TR-009",
        displaced is None,
        "Two readers had the events of a session in the same order.",
        f"Two readers had the events of a session in different orders. {excerpt_message(displaced)}",
        "Send the events of a session to every reader in the order in which they were emitted.",
    )
    if displaced is not None:
        _record_sequence_faults(harness, main_events, second_events)
    if missing:
        harness.evidence.record_failure(
            "TR-013",
            f"Of two readers, one never got this: {excerpt_first(missing)}",
            "Send every event to every reader.",
        )
    harness.evidence.check(
        "TERM-014",
        not missing,
        "A reader that prefers short texts had all of the events.",
        f"A reader that prefers short texts did not get this: {excerpt_first(missing)}",
    )


def _record_sequence_faults(
    harness: Harness, main_events: list[ObservedEvent], second_events: list[ObservedEvent]
) -> None:
    """Fail the rules that the events of a session break in the order of the second reader, and only in that."""
    main_faults = _find_sequence_faults(main_events)
    for rule, text in _find_sequence_faults(second_events).items():
        if rule not in main_faults:
            harness.evidence.record_failure(rule, f"At the second of two readers: {text}")


def _find_sequence_faults(events: list[ObservedEvent]) -> dict[str, str]:
    """Return the rules about order that events break, each with what was found."""
    audit = Audit(attend_registry(), strict=True)
    return {
        finding.rule: f"{finding.message} {excerpt(event.raw)}"
        for event in events
        for finding in audit.feed(event.raw)
        if finding.severity == "error" and finding.rule in all_rules() and all_rules()[finding.rule].kind == "sequence"
    }


async def _check_repeated_reply(
    harness: Harness, session: ObservedSession, main_subscriber: FakeSubscriber, prompt: ObservedEvent
) -> None:
    """Send the accept again after the session has ended."""
    harness.invalid_reply_results["a token that was used"] = await main_subscriber.answer_confirmation(
        prompt.message, audit=False
    )
    await harness.wait_quiet_period()
    action_calls = session.find_action_calls(main_subscriber, prompt)
    harness.evidence.check(
        "CONF-034",
        len(action_calls) <= 1,
        "The same accept, sent again at once and again at the end, did nothing.",
        f"The same accept sent again ran the action again: {excerpt_first(action_calls[::-1])}",
        "A token is dead after the first valid reply.",
    )


@producer_scenario(2, "", "CONF-075 HITL-001 HITL-004")
async def two_questions_are_open_and_one_is_answered(harness: Harness) -> None:
    """Accept the confirmation of one session while another session waits for its own."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    first_session = await harness.start_session("confirm")
    first_prompt = await first_session.wait_for_prompt(main_subscriber)
    position = len(main_subscriber.events)
    try:
        second_session = await harness.start_session("confirm")
        second_prompt = await second_session.wait_for_prompt(main_subscriber)
    except (ScenarioAborted, AaepError) as error:
        # A producer that does one thing at a time may start the second session later, or not at all.
        await first_session.reject_until_end(main_subscriber)
        late_start = await main_subscriber.wait_for_event(
            lambda event: event.type == "session.started", harness.patience, position
        )
        if late_start is not None:
            await ObservedSession(harness, late_start.session_id, "confirm").reject_until_end(main_subscriber)
        raise ScenarioAborted(f"While one question was open there was no second one. {error}") from error
    await main_subscriber.answer_confirmation(first_prompt.message)
    await first_session.wait_for_end(main_subscriber)
    await harness.wait_quiet_period()
    second_resolution = second_session.find_resolution(main_subscriber, second_prompt)
    for rule in ("CONF-075", "HITL-001", "HITL-004"):
        evidence.check(
            rule,
            second_resolution is None,
            "Of two sessions that asked, one was told yes, and the other went on waiting.",
            "Of two sessions that asked, one was told yes, and from the other came: "
            f"{excerpt_message(second_resolution)}",
            "An accept answers the question whose token it carries, and no other.",
        )
    await main_subscriber.answer_confirmation(second_prompt.message, "reject")
    await second_session.wait_for_end(main_subscriber)


@producer_scenario(2, "HITL-019 HITL-020", "CONF-004")
async def a_no_stops_the_action(harness: Harness) -> None:
    """Reject a confirmation, and accept it from another subscription."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    async with harness.subscribe(**REPLIER_CAPABILITIES) as second_subscriber:
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        await main_subscriber.answer_confirmation(prompt.message, "reject")
        await _wait_until_received(harness, session, main_subscriber, prompt)
        await second_subscriber.answer_confirmation(prompt.message, "accept", audit=False)
        resolution = await session.wait_for_resolution(main_subscriber, prompt)
        await session.wait_for_end(main_subscriber)
        await harness.wait_quiet_period()
        action_calls = session.find_possible_action_calls(main_subscriber, prompt)
        evidence.check(
            "HITL-020",
            not action_calls,
            "After a reject and then an accept the action was not done.",
            f"After a reject the action was done: {excerpt_first(action_calls)}",
            "A reject ends it; nothing that comes later counts.",
        )
        # CONF-004 §6.1: that all is done does not tell that the action was dropped.
        is_told = resolution is not None and resolution.type != "session.completed"
        evidence.check(
            "HITL-019",
            is_told,
            f"The reject was followed by: {excerpt_message(resolution)}",
            f"Nothing told that the action was dropped. {excerpt_message(resolution)}".strip(),
            "After a reject send agent.state.changed away from awaiting_input.",
        )
        harness.closed_prompts.append(prompt.message)


@producer_scenario(2, "CONF-028")
async def a_yes_to_something_else_is_a_no(harness: Harness) -> None:
    """Accept a confirmation with a modified action."""
    main_subscriber = harness.require_main_subscriber()
    session = await harness.start_session("confirm")
    prompt = await session.wait_for_prompt(main_subscriber)
    await main_subscriber.answer_confirmation(prompt.message, modified_action={"amount": "1"})
    end_event = await session.wait_for_end(main_subscriber)
    if end_event is None:  # it counted neither as accept nor as reject: a reject frees the agent
        await main_subscriber.answer_confirmation(prompt.message, "reject")
        await session.wait_for_end(main_subscriber)
    action_calls = session.find_possible_action_calls(main_subscriber, prompt)
    allowed_replies = prompt["allowed_replies"]
    if (
        action_calls
        and isinstance(allowed_replies, list)
        and any(reply not in ("accept", "reject") for reply in allowed_replies)
    ):
        harness.evidence.record_not_applicable("CONF-028", "The producer says that it can do a modified action.")
        return
    harness.evidence.check(
        "CONF-028",
        not action_calls,
        "An accept with a modified_action did not run the action.",
        f"An accept with a modified_action ran the action as it was: {excerpt_first(action_calls)}",
        "Treat a reply with modified_action as a reject unless the change is done.",
    )


@producer_scenario(2, "CONF-043 HITL-005 CONF-035")
async def time_runs_out(harness: Harness) -> None:
    """Let a confirmation time out, and accept it after the deadline."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    session = await harness.start_session("expire")
    prompt = await session.wait_for_prompt(main_subscriber)
    timeout = prompt["timeout_seconds"]
    if not isinstance(timeout, (int, float)) or timeout > 3 * harness.patience:
        await main_subscriber.answer_confirmation(prompt.message, "reject")
        await session.wait_for_end(main_subscriber)
        raise ScenarioAborted(
            f"The question of the task 'expire' waits for {timeout} seconds, which is too long to try."
        )
    early_resolution = await session.wait_for_resolution(main_subscriber, prompt, max(0.0, timeout - 0.5))
    resolution = early_resolution or await session.wait_for_resolution(main_subscriber, prompt, 0.5 + harness.patience)
    await harness.wait_quiet_period()  # for the action to begin
    default = prompt["default_decision"]
    is_accept_default = default == "accept"
    find_calls = session.find_action_calls if is_accept_default else session.find_possible_action_calls
    action_calls = find_calls(main_subscriber, prompt)
    for rule in ("CONF-043", "HITL-005"):
        if early_resolution is not None:
            evidence.record_failure(
                rule, f"It was decided before its time: {excerpt(early_resolution.raw)}", "Wait for all of the time."
            )
        elif resolution is None:
            evidence.record_failure(
                rule, f"After {timeout} seconds nothing told that the time is up.", "Apply the default then."
            )
        else:
            evidence.check(
                rule,
                bool(action_calls) == is_accept_default,
                f"After {timeout} seconds the default, {default}, was applied.",
                f"The default is {default}, and the action was {'' if action_calls else 'not '}done.",
            )
    harness.invalid_reply_results["a token that has expired"] = await main_subscriber.answer_confirmation(
        prompt.message, audit=False
    )
    await session.wait_for_end(main_subscriber)
    await harness.wait_quiet_period()
    later_calls = find_calls(main_subscriber, prompt)
    evidence.check(
        "CONF-035",
        len(later_calls) == len(action_calls),
        "An accept after the deadline did nothing.",
        f"An accept after the deadline ran the action: {excerpt_first(later_calls[::-1])}",
        _REPLY_CHECK_ADVICE,
    )
    harness.closed_prompts.append(prompt.message)


@producer_scenario(2, "CONF-072", "CONF-070 CONF-071")
async def a_question_is_withdrawn(harness: Harness) -> None:
    """Accept confirmations that the producer has withdrawn."""
    main_subscriber = harness.require_main_subscriber()
    for task, rule in (("withdraw", "CONF-071"), ("cancel", "CONF-070")):
        session = await harness.start_session(task)
        prompt = await session.wait_for_prompt(main_subscriber)
        resolution = await session.wait_for_resolution(main_subscriber, prompt)
        if resolution is None or session.find_action_calls(main_subscriber, prompt):
            await main_subscriber.answer_confirmation(prompt.message, "reject")
            await session.wait_for_end(main_subscriber)
            harness.evidence.add_remark(f"The task {task!r} withdrew nothing.")
            continue
        harness.invalid_reply_results["a token that was withdrawn"] = await main_subscriber.answer_confirmation(
            prompt.message, audit=False
        )
        end_event = await session.wait_for_end(main_subscriber)
        await harness.wait_quiet_period()
        action_calls = session.find_possible_action_calls(main_subscriber, prompt)
        harness.evidence.check(
            "CONF-072",
            not action_calls,
            f"An accept of a question that was withdrawn did nothing (task {task}).",
            f"An accept of a question that was withdrawn ran the action: {excerpt_first(action_calls)}",
            "A withdrawn question's token is invalid.",
        )
        if rule == "CONF-071":
            harness.evidence.record_pass(rule, f"It was told: {excerpt(resolution.raw)}")
        elif end_event is not None and end_event.type == "session.cancelled":
            harness.evidence.check(
                rule,
                not action_calls,
                f"With the session its question was withdrawn: {excerpt(resolution.raw)}",
                "The session was cancelled, and its question could still be answered.",
            )


@producer_scenario(2, "CONF-040")
async def no_answer_tells_why(harness: Harness) -> None:
    """Compare the answers to the invalid replies of other scenarios."""
    results = harness.invalid_reply_results
    if len(results) < 2:
        raise ScenarioAborted("Too few wrong replies were sent to compare how they were answered.")
    names_by_result: dict[SendResult, list[str]] = {}
    for name, result in results.items():
        names_by_result.setdefault(result, []).append(name)
    summary = "; ".join(
        f"{result.status} {result.body[:100]} for {', '.join(names)}" for result, names in names_by_result.items()
    )
    harness.evidence.check(
        "CONF-040",
        len(names_by_result) == 1,
        f"All were answered alike: {summary}.",
        f"The answers differ, which tells why a reply failed: {summary}.",
        "Answer every well-formed reply with the same status, headers and body, whether it counts or not.",
    )


# -- no subscriber that can reply ------------------------------------------------------------


@producer_scenario(2, "CAP-015", "CAP-014 CAP-019 TOOL-002", without_replier=True)
async def nobody_can_answer(harness: Harness) -> None:
    """Start sessions with prompts while no subscriber can reply."""
    main_subscriber = harness.require_main_subscriber()  # one that cannot reply, in this scenario
    evidence = harness.evidence
    session = await harness.start_session("confirm")
    end_event = await session.wait_for_end(main_subscriber)
    events = main_subscriber.find_session_events(session.session_id)
    prompt = next((event for event in events if event.type == "awaiting.confirmation"), None)
    evidence.check(
        "CAP-014",
        prompt is None,
        "A reader that cannot answer, alone, was asked nothing.",
        f"A reader that cannot answer, alone, was asked: {excerpt_message(prompt)}",
    )
    harness.sessions_without_consent.append((("TOOL-002", "CAP-015"), events))
    if end_event is not None:
        evidence.record_pass("CAP-015", "With nobody to answer it went on at once.")
    elif _is_waiting_for_input(events):
        evidence.record_failure(
            "CAP-015",
            f"With nobody to answer it waited for {harness.patience:g} seconds after: {excerpt(events[-1].raw)}",
            "Apply the default at once when no subscription can reply.",
        )
    else:
        unfinished_error = session.make_unfinished_error("it was not over")
        evidence.record_not_shown("CAP-015", str(unfinished_error))
        evidence.add_remark(str(unfinished_error))
    clarification_session = await harness.start_session("clarify")
    end_event = await clarification_session.wait_for_end(main_subscriber)
    prompt = next(
        (
            event
            for event in main_subscriber.find_session_events(clarification_session.session_id)
            if event.type == "awaiting.clarification"
        ),
        None,
    )
    if end_event is not None or prompt is not None:
        evidence.check(
            "CAP-019",
            prompt is None,
            "A reader that cannot answer, alone, was asked no question either.",
            f"A reader that cannot answer, alone, was asked: {excerpt_message(prompt)}",
        )


def _is_waiting_for_input(events: list[ObservedEvent]) -> bool:
    """Whether a session waits for an answer, by the last of its events that says so."""
    for event in reversed(events):
        if event.type.startswith("awaiting."):
            return True
        if event.type == "state.changed":
            return bool(event["to_state"] == "awaiting_input")
    return False


@producer_scenario(3, "SUB-069", without_replier=True)
async def the_only_one_who_can_answer_leaves(harness: Harness) -> None:
    """Close the only subscription that can reply while a prompt is open."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    async with AsyncExitStack() as stack:
        replier = await stack.enter_async_context(harness.subscribe(**REPLIER_CAPABILITIES))
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(replier)
        timeout = prompt["timeout_seconds"]
        if not isinstance(timeout, (int, float)) or timeout < 5:
            raise ScenarioAborted("The question times out too soon to tell whether leaving decided it.")
        await harness.wait_quiet_period()  # for the question to reach the other reader, which may hear of it later
        position = len(main_subscriber.events)
        await replier.unsubscribe()
        sign_of_life = await main_subscriber.wait_for_event(
            lambda event: (
                event.session_id == session.session_id
                and not event.type.startswith("awaiting.")
                and event["to_state"] != "awaiting_input"
            ),
            min(harness.patience, timeout - 1),
            position,
        )
        end_event = await session.wait_for_end(main_subscriber) if sign_of_life is not None else None
        action_calls = session.find_possible_action_calls(main_subscriber, prompt)
        is_accept_default = prompt["default_decision"] == "accept"
        if not is_accept_default:
            harness.sessions_without_consent.append(
                (("SUB-069",), main_subscriber.find_session_events(session.session_id))
            )
        if is_accept_default and sign_of_life is None:
            evidence.record_not_applicable("SUB-069", "The default is accept, which needs the whole time (CF-005).")
            return
        if sign_of_life is not None and end_event is None and not action_calls:
            raise session.make_unfinished_error("it was not over")
        evidence.check(
            "SUB-069",
            sign_of_life is not None and bool(action_calls) == is_accept_default,
            f"When the only one who could answer had left, the default, {prompt['default_decision']}, was applied.",
            "The only one who could answer left, and the question stayed open."
            if sign_of_life is None
            else f"The default is {prompt['default_decision']}, and it was not what was done.",
            "Apply the default when the last subscription that could answer is closed.",
        )


@producer_scenario(2, "", "TOOL-002 CAP-015 SUB-069")
async def what_nobody_agreed_to_was_not_done(harness: Harness) -> None:
    """Judge the sessions without consent, now that the tools that need consent are known."""
    for tool in sorted(harness.consent_tracker.mixed_tools):
        harness.evidence.add_remark(
            f"Some calls of the tool {tool!r} need a yes and some do not: each was taken at its word."
        )
    for rules, events in harness.sessions_without_consent:
        action_calls = [event for event in events if harness.consent_tracker.needs_consent(event)]
        for rule in rules:
            harness.evidence.check(
                rule,
                not action_calls,
                "With nobody to answer nothing was done that needs a yes.",
                f"Nobody could answer, and it was done: {excerpt_first(action_calls)}",
                "With nobody to ask, nothing irreversible is done, whatever the call says of itself.",
            )


# -- clarifications --------------------------------------------------------------------------


@producer_scenario(2, "", "CLAR-016 CLAR-017 CLAR-018 CLAR-019 CLAR-020 CLAR-021 CONF-008 HITL-024 CLAR-011 CLAR-022")
async def a_question_is_answered(harness: Harness) -> None:
    """Send invalid replies to a clarification, and then a valid one."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    session = await harness.start_session("clarify")
    prompt = await session.wait_for_prompt(main_subscriber, "clarification")
    attempts: dict[str, tuple[str, Callable[[], Awaitable[SendResult]]]] = {
        "a confirmation.reply": ("CLAR-020", lambda: main_subscriber.answer_confirmation(prompt.message, audit=False)),
        "a token that was never issued": (
            "CLAR-016",
            lambda: main_subscriber.answer_clarification(
                {"reply_token": "rpl_" + "0" * 32}, _build_valid_response(prompt.message), audit=False
            ),
        ),
    }
    await harness.wait_quiet_period()
    early_resolution = session.find_resolution(main_subscriber, prompt)
    if early_resolution is not None:
        for rule in ("CONF-008", "HITL-024"):
            evidence.record_failure(
                rule, f"Nobody had answered, and this came: {excerpt(early_resolution.raw)}", "Wait for the answer."
            )
        await session.wait_for_end(main_subscriber)
        return
    for rule, response in _build_invalid_responses(prompt.message).items():
        attempts[f"the answer {response!r}"] = (
            rule,
            partial(main_subscriber.answer_clarification, prompt.message, response, audit=False),
        )
    for name, (rule, send) in attempts.items():
        await send()
        await harness.wait_quiet_period()
        resolution = session.find_resolution(main_subscriber, prompt)
        if resolution is not None:
            evidence.record_failure(
                rule, f"{name.capitalize()} ended the question: {excerpt(resolution.raw)}", _REPLY_CHECK_ADVICE
            )
            await session.wait_for_end(main_subscriber)
            return
        evidence.record_pass(rule, f"{name.capitalize()} changed nothing.")
    for rule in ("CONF-008", "HITL-024"):
        evidence.record_pass(rule, "Nothing went on while the question was open.")
    await main_subscriber.answer_clarification(prompt.message, _build_valid_response(prompt.message))
    resolution = await session.wait_for_resolution(main_subscriber, prompt)
    has_several_kinds = len(_response_kinds(prompt.message)) > 1
    for rule in ("CLAR-021", "CLAR-022", *(("CLAR-011",) if has_several_kinds else ())):
        evidence.check(
            rule,
            resolution is not None,
            f"The answer was followed by: {excerpt_message(resolution)}",
            "An answer of a kind that was offered was not taken, or nothing told so.",
        )
    await session.wait_for_end(main_subscriber)


def _response_kinds(prompt: JsonObject) -> list[str]:
    kinds = prompt.get("accepted_response_kinds")
    return kinds if isinstance(kinds, list) and kinds else ["multiple_choice" if prompt.get("choices") else "freetext"]


def _build_valid_response(prompt: JsonObject) -> Any:
    """Return a response that the clarification accepts."""
    choices = prompt.get("choices")
    kind = _response_kinds(prompt)[0]
    if kind == "multiple_choice" and isinstance(choices, list) and choices:
        return choices[0].get("value") if isinstance(choices[0], dict) else choices[0]
    return {"yes_no": True, "numeric": 1}.get(kind, "Whatever you think best.")


def _build_invalid_responses(prompt: JsonObject) -> dict[str, Any]:
    """Return responses that the clarification does not accept, by the rule that says so."""
    kinds = _response_kinds(prompt)
    responses: dict[str, Any] = {}
    if "freetext" not in kinds:
        rule = "CLAR-018" if "multiple_choice" in kinds else "CLAR-017"
        responses[rule] = "something that was not offered"
    if "numeric" not in kinds:
        responses["CLAR-017"] = 12
    if "yes_no" not in kinds:
        responses["CLAR-019"] = True
    return responses


# -- replies that do not count ---------------------------------------------------------------

_FUTURE_TIMESTAMP: Final = "2099-01-01T00:00:00.000Z"
_TOKEN_PREFIX: Final = "rpl_"

ReplySender = Callable[[Harness, FakeSubscriber, ObservedEvent], Awaitable[SendResult]]


async def _send_unknown_token(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, audit=False, reply_token=_TOKEN_PREFIX + "0" * 32)


def _make_altered_token_sender(alter: Callable[[str], str]) -> ReplySender:
    """
    Return a sender of replies with an altered token.

    A producer that compares only a part of a token, or compares it loosely, accepts some of them.
    """

    async def send(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
        token = str(prompt["reply_token"])
        random_part = token.removeprefix(_TOKEN_PREFIX)
        altered = token.removesuffix(random_part) + alter(random_part)
        if altered == token:
            raise ScenarioAborted(f"There is no letter in the token {token} that could be written in the other case.")
        return await sender.answer_confirmation(prompt.message, audit=False, reply_token=altered)

    return send


def _make_character_changer(position: float) -> Callable[[str], str]:
    """Return a function that changes one character of a text: at 0.0 its first, at 1.0 its last."""

    def alter(text: str) -> str:
        index = round(position * (len(text) - 1))
        return text[:index] + ("0" if text[index : index + 1] != "0" else "1") + text[index + 1 :]

    return alter


async def _send_as_listener(harness: Harness, _: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    """CF-008: reply on a subscription that gets the prompt but may not reply."""
    async with harness.subscribe(**LISTENER_CAPABILITIES) as listener:
        if listener.terms.get("supports_confirmation_reply"):
            raise ScenarioAborted("A reader that did not ask to answer was told that it may.")
        result = await listener.answer_confirmation(prompt.message, audit=False)
        await (
            harness.wait_quiet_period()
        )  # for the reply to be judged: after its close the subscription is unknown anyway
        return result


async def _send_wrong_type(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_clarification(prompt.message, "accept", audit=False)


async def _send_unknown_subscription(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, audit=False, subscription_id="sub_" + "0" * 32)


async def _send_late_timestamp(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, audit=False, timestamp=_FUTURE_TIMESTAMP)


async def _send_incomplete(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, audit=False, timestamp=None, subscription_id=None)


async def _send_mistyped_decision(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, [True], audit=False)


async def _send_capitalized_decision(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, "ACCEPT", audit=False)


async def _send_unoffered_decision(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, "approve", audit=False)


async def _send_used_token(harness: Harness, sender: FakeSubscriber, _: ObservedEvent) -> SendResult:
    if not harness.closed_prompts:
        raise ScenarioAborted("There was no earlier question whose token could be used again.")
    return await sender.answer_confirmation(harness.closed_prompts[-1], audit=False)


# By what is wrong with a reply: the rule that a producer breaks by honouring it, whether it is well-formed, a sender.
_INVALID_REPLIES: Final[dict[str, tuple[str, bool, ReplySender]]] = {
    "a token that was never issued": ("CONF-033", True, _send_unknown_token),
    "a token whose first character is another": (
        "HITL-011",
        True,
        _make_altered_token_sender(_make_character_changer(0.0)),
    ),
    "a token with another character in its middle": (
        "HITL-011",
        True,
        _make_altered_token_sender(_make_character_changer(0.5)),
    ),
    "a token whose last character is another": (
        "HITL-011",
        True,
        _make_altered_token_sender(_make_character_changer(1.0)),
    ),
    "a token with small letters for capitals or capitals for small letters": (
        "HITL-011",
        True,
        _make_altered_token_sender(str.swapcase),
    ),
    "the token of an earlier session": ("CONF-075", True, _send_used_token),
    "the type clarification.reply": ("CLAR-020", True, _send_wrong_type),
    "a timestamp after the deadline": ("CONF-035", True, _send_late_timestamp),
    "a subscription_id that was never issued": ("SEC-011", False, _send_unknown_subscription),
    "the subscription_id of a reader that may not answer": ("SEC-011", False, _send_as_listener),
    "no timestamp and no subscription_id": ("CONF-032", False, _send_incomplete),
    "a decision that is no text": ("CONF-032", False, _send_mistyped_decision),
    "a decision that was not offered": ("CONF-037", False, _send_unoffered_decision),
    "the decision ACCEPT in capitals": ("CONF-037", False, _send_capitalized_decision),
}


@producer_scenario(2, "CONF-032 CONF-033 CONF-035 CONF-037 CONF-038 CONF-075 HITL-011 CLAR-020 SEC-011")
async def wrong_replies_do_nothing(harness: Harness) -> None:
    """Send invalid replies to a confirmation, and then a valid one."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    session: ObservedSession | None = None
    prompt: ObservedEvent | None = None
    async with AsyncExitStack() as stack:
        sender = (
            main_subscriber
            if harness.is_http
            else await stack.enter_async_context(harness.subscribe(**REPLIER_CAPABILITIES))
        )
        for fault, (rule, is_well_formed, send) in _INVALID_REPLIES.items():
            if session is None or prompt is None:
                session = await harness.start_session("confirm")
                prompt = await session.wait_for_prompt(main_subscriber)
            if sender.end_reason:  # a duplex connection may be closed for an invalid reply
                sender = await stack.enter_async_context(harness.subscribe(**REPLIER_CAPABILITIES))
            try:
                result = await send(harness, sender, prompt)
            except ScenarioAborted as error:
                evidence.add_remark(str(error))
                continue
            if is_well_formed:
                harness.invalid_reply_results[fault] = result
            if result.status == "unsendable":
                evidence.record_not_applicable(rule, f"The transport cannot carry a reply with {fault}.")
                continue
            await harness.wait_quiet_period()
            resolution = session.find_resolution(main_subscriber, prompt)
            if resolution is None:
                evidence.record_pass(rule, f"A reply with {fault} changed nothing.")
                continue
            evidence.record_failure(
                rule, f"After a reply with {fault} this came: {excerpt(resolution.raw)}", _REPLY_CHECK_ADVICE
            )
            await session.wait_for_end(main_subscriber)
            session = None
            prompt = None
    if session is not None and prompt is not None:
        await main_subscriber.answer_confirmation(prompt.message, "reject")
        harness.closed_prompts.append(prompt.message)
        resolution = await session.wait_for_resolution(main_subscriber, prompt)
        evidence.check(
            "CONF-038",
            resolution is not None,
            "After all the wrong replies the right one still counted.",
            "After wrong replies the right one no longer counted.",
            "A reply that fails a check changes nothing and does not use up the token.",
        )
        await session.wait_for_end(main_subscriber)
