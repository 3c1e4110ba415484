"""Scenarios about consent: what is asked, who may answer, what counts as an answer, and what follows. Chapter 6"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final

from ...errors import AaepError
from ..judge import excerpt
from ..scenario import scenario
from .harness import (
    LISTENER_CAPABILITIES,
    REPLIER_CAPABILITIES,
    FakeSubscriber,
    Harness,
    ObservedEvent,
    ObservedSession,
    ScenarioAborted,
    SendResult,
)

__all__ = ["REPLY_CHECK_ADVICE", "require_main_subscriber"]

_ASK_FIRST_ADVICE: Final = (
    "Ask with agent.awaiting.confirmation, wait for the accept, and only then send agent.tool.invoked."
)
REPLY_CHECK_ADVICE: Final = "Make every check of §6.3.4, in its order, and ignore a reply that fails one."


def require_main_subscriber(stage: Harness, *, allow_unsubscribed: bool = False) -> FakeSubscriber:
    """The reader that hears everything; with ``bare``, one without a subscription will do."""
    if stage.main_subscriber is None or not (allow_unsubscribed or stage.main_subscriber.acceptance):
        raise ScenarioAborted("No subscription was granted that could listen throughout.")
    return stage.main_subscriber


# -- who is heard --------------------------------------------------------------------------------


@scenario(2, "CONF-002 CONF-041 HITL-001 HITL-004 CONF-067 CONF-034", "HITL-018 SUB-075 CONF-065 CONF-001 TERM-014")
async def two_readers_answer_and_the_first_counts(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    async with stage.subscribe(**REPLIER_CAPABILITIES, preferred_verbosity="terse") as second:
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(main)
        same = await run.wait_for_event(second, "awaiting.confirmation")
        ledger.check(
            "CONF-065",
            same is not None,
            "Two readers that may answer were both asked.",
            "A second reader that may answer was not asked.",
        )
        await stage.wait_quiet_period()
        early = run.find_resolution(main, prompt)
        if early is not None:
            for rule in ("CONF-001", "CONF-002", "HITL-004"):
                ledger.record_failure(
                    rule, f"Nobody had answered, and this came: {excerpt(early.raw)}", _ASK_FIRST_ADVICE
                )
        await main.answer_confirmation(prompt.message)
        stage.invalid_reply_results["a token that was used a moment ago"] = await main.answer_confirmation(
            prompt.message, audit=False
        )
        await _wait_until_received(stage, run, main, prompt)
        await second.answer_confirmation(prompt.message, "reject", audit=False)
        await run.wait_for_resolution(main, prompt)
        end = await run.wait_for_end(main)
        acted = run.find_action_calls(main, prompt)
        _check_first_reply_won(stage, is_executed=bool(acted))
        if early is None and acted:
            for rule in ("CONF-001", "CONF-002", "HITL-004", "HITL-001"):
                ledger.record_pass(rule, f"It waited for the accept, then: {excerpt(acted[0].raw)}")
        if same is not None:
            told = await run.wait_for_resolution(second, same)
            for rule in ("CONF-067", "SUB-075"):
                ledger.check(
                    rule,
                    told is not None,
                    "The reader whose answer came too late was told the outcome.",
                    "The reader whose answer came too late was told nothing.",
                )
        stage.closed_prompts.append(prompt.message)
        if end is not None:
            await run.wait_for_end(second)
            _check_same_events(stage, run, main, second)
            await _check_repeated_reply(stage, run, main, prompt)


async def _wait_until_received(
    stage: Harness, run: ObservedSession, main: FakeSubscriber, prompt: ObservedEvent
) -> None:
    """Until the first reply has arrived: two connections keep no order, and only HTTP says when something arrived."""
    if not stage.is_http:
        await run.wait_for_resolution(main, prompt, 4 * stage.quiet_period)


def _check_first_reply_won(stage: Harness, *, is_executed: bool) -> None:
    stage.evidence.check(
        "CONF-041",
        is_executed,
        "After an accept and then a reject the accepted action was done.",
        "After an accept and then a reject the accepted action was not done.",
        "Let the first valid reply decide and ignore the others.",
    )


def _check_same_events(stage: Harness, run: ObservedSession, main: FakeSubscriber, second: FakeSubscriber) -> None:
    heard = {one["event_id"] for one in second.find_session_events(run.session_id)}
    lost = [one for one in main.find_session_events(run.session_id) if one["event_id"] not in heard]
    stage.evidence.check(
        "TERM-014",
        not lost,
        "A reader that prefers short texts had all of the events.",
        f"A reader that prefers short texts did not get this: {excerpt(lost[0].raw) if lost else ''}",
    )


async def _check_repeated_reply(
    stage: Harness, run: ObservedSession, main: FakeSubscriber, prompt: ObservedEvent
) -> None:
    """The same accept once more, when everything is over."""
    stage.invalid_reply_results["a token that was used"] = await main.answer_confirmation(prompt.message, audit=False)
    await stage.wait_quiet_period()
    acted = run.find_action_calls(main, prompt)
    stage.evidence.check(
        "CONF-034",
        len(acted) <= 1,
        "The same accept, sent again at once and again at the end, did nothing.",
        f"The same accept sent again ran the action again: {excerpt(acted[-1].raw) if acted else ''}",
        "A token is dead after the first valid reply.",
    )


@scenario(2, "", "CONF-075 HITL-001 HITL-004")
async def two_questions_are_open_and_one_is_answered(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    first = await stage.start_session("confirm")
    asked = await first.wait_for_prompt(main)
    place = len(main.events)
    try:
        second = await stage.start_session("confirm")
        other = await second.wait_for_prompt(main)
    except (ScenarioAborted, AaepError) as error:  # who does one thing at a time may do this one later, or not have it
        await first.reject_until_end(main)
        late = await main.wait_for_event(lambda one: one.type == "session.started", stage.patience, place)
        if late is not None:
            await ObservedSession(stage, late.session_id, "confirm").reject_until_end(main)
        raise ScenarioAborted(f"While one question was open there was no second one. {error}") from error
    await main.answer_confirmation(asked.message)
    await first.wait_for_end(main)
    await stage.wait_quiet_period()
    moved = second.find_resolution(main, other)
    for rule in ("CONF-075", "HITL-001", "HITL-004"):
        ledger.check(
            rule,
            moved is None,
            "Of two sessions that asked, one was told yes, and the other went on waiting.",
            f"Of two sessions that asked, one was told yes, and from the other came: {excerpt((moved or other).raw)}",
            "An accept answers the question whose token it carries, and no other.",
        )
    await main.answer_confirmation(other.message, "reject")
    await second.wait_for_end(main)


@scenario(2, "HITL-019 HITL-020", "CONF-004")
async def a_no_stops_the_action(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    async with stage.subscribe(**REPLIER_CAPABILITIES) as second:
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(main)
        await main.answer_confirmation(prompt.message, "reject")
        await _wait_until_received(stage, run, main, prompt)
        await second.answer_confirmation(prompt.message, "accept", audit=False)
        told = await run.wait_for_resolution(main, prompt)
        await run.wait_for_end(main)
        await stage.wait_quiet_period()
        acted = run.find_possible_action_calls(main, prompt)
        ledger.check(
            "HITL-020",
            not acted,
            "After a reject and then an accept the action was not done.",
            f"After a reject the action was done: {excerpt(acted[0].raw) if acted else ''}",
            "A reject ends it; nothing that comes later counts.",
        )
        ledger.check(
            "HITL-019",
            told is not None,
            f"The reject was followed by: {excerpt(told.raw) if told is not None else ''}",
            "Nothing told that the action was dropped.",
        )
        stage.closed_prompts.append(prompt.message)


@scenario(2, "CONF-028")
async def a_yes_to_something_else_is_a_no(stage: Harness) -> None:
    main = require_main_subscriber(stage)
    run = await stage.start_session("confirm")
    prompt = await run.wait_for_prompt(main)
    await main.answer_confirmation(prompt.message, modified_action={"amount": "1"})
    ended = await run.wait_for_end(main)
    if ended is None:  # it neither counts as a yes nor as a no: then a no frees the agent
        await main.answer_confirmation(prompt.message, "reject")
        await run.wait_for_end(main)
    acted = run.find_possible_action_calls(main, prompt)
    offered = prompt["allowed_replies"]
    if acted and isinstance(offered, list) and any(one not in ("accept", "reject") for one in offered):
        stage.evidence.record_not_applicable("CONF-028", "The producer says that it can do a modified action.")
        return
    stage.evidence.check(
        "CONF-028",
        not acted,
        "An accept with a modified_action did not run the action.",
        f"An accept with a modified_action ran the action as it was: {excerpt(acted[0].raw) if acted else ''}",
        "Treat a reply with modified_action as a reject unless the change is done.",
    )


@scenario(2, "CONF-043 HITL-005 CONF-035")
async def time_runs_out(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    run = await stage.start_session("expire")
    prompt = await run.wait_for_prompt(main)
    seconds = prompt["timeout_seconds"]
    if not isinstance(seconds, (int, float)) or seconds > 3 * stage.patience:
        await main.answer_confirmation(prompt.message, "reject")
        await run.wait_for_end(main)
        raise ScenarioAborted(
            f"The question of the task 'expire' waits for {seconds} seconds, which is too long to try."
        )
    early = await run.wait_for_resolution(main, prompt, max(0.0, seconds - 0.5))
    told = early or await run.wait_for_resolution(main, prompt, 0.5 + stage.patience)
    await stage.wait_quiet_period()  # in which the action would begin
    granted = prompt["default_decision"] == "accept"
    done = run.find_action_calls if granted else run.find_possible_action_calls
    acted = done(main, prompt)
    for rule in ("CONF-043", "HITL-005"):
        if early is not None:
            ledger.record_failure(
                rule, f"It was decided before its time: {excerpt(early.raw)}", "Wait for all of the time."
            )
        elif told is None:
            ledger.record_failure(
                rule, f"After {seconds} seconds nothing told that the time is up.", "Apply the default then."
            )
        else:
            ledger.check(
                rule,
                bool(acted) == granted,
                f"After {seconds} seconds the default, {prompt['default_decision']}, was applied.",
                f"The default is {prompt['default_decision']}, and the action was {'' if acted else 'not '}done.",
            )
    stage.invalid_reply_results["a token that has expired"] = await main.answer_confirmation(
        prompt.message, audit=False
    )
    await run.wait_for_end(main)
    await stage.wait_quiet_period()
    after = done(main, prompt)
    ledger.check(
        "CONF-035",
        len(after) == len(acted),
        "An accept after the deadline did nothing.",
        f"An accept after the deadline ran the action: {excerpt(after[-1].raw) if after else ''}",
        REPLY_CHECK_ADVICE,
    )
    stage.closed_prompts.append(prompt.message)


@scenario(2, "CONF-072", "CONF-070 CONF-071")
async def a_question_is_withdrawn(stage: Harness) -> None:
    main = require_main_subscriber(stage)
    for task, rule in (("withdraw", "CONF-071"), ("cancel", "CONF-070")):
        run = await stage.start_session(task)
        prompt = await run.wait_for_prompt(main)
        told = await run.wait_for_resolution(main, prompt)
        if told is None or run.find_action_calls(main, prompt):
            await main.answer_confirmation(prompt.message, "reject")
            await run.wait_for_end(main)
            stage.evidence.add_remark(f"The task {task!r} withdrew nothing.")
            continue
        stage.invalid_reply_results["a token that was withdrawn"] = await main.answer_confirmation(
            prompt.message, audit=False
        )
        end = await run.wait_for_end(main)
        await stage.wait_quiet_period()
        acted = run.find_possible_action_calls(main, prompt)
        stage.evidence.check(
            "CONF-072",
            not acted,
            f"An accept of a question that was withdrawn did nothing (task {task}).",
            f"An accept of a question that was withdrawn ran the action: {excerpt(acted[0].raw) if acted else ''}",
            "A withdrawn question's token is invalid.",
        )
        if rule == "CONF-071":
            stage.evidence.record_pass(rule, f"It was told: {excerpt(told.raw)}")
        elif end is not None and end.type == "session.cancelled":
            stage.evidence.check(
                rule,
                not acted,
                f"With the session its question was withdrawn: {excerpt(told.raw)}",
                "The session was cancelled, and its question could still be answered.",
            )


@scenario(2, "CONF-040")
async def no_answer_tells_why(stage: Harness) -> None:
    """Judges what the other scenarios were answered."""
    wrong = stage.invalid_reply_results
    if len(wrong) < 2:
        raise ScenarioAborted("Too few wrong replies were sent to compare how they were answered.")
    kinds: dict[SendResult, list[str]] = {}
    for name, answer in wrong.items():
        kinds.setdefault(answer, []).append(name)
    told = "; ".join(f"{answer.status} {answer.body[:100]} for {', '.join(names)}" for answer, names in kinds.items())
    stage.evidence.check(
        "CONF-040",
        len(kinds) == 1,
        f"All were answered alike: {told}.",
        f"The answers differ, which tells why a reply failed: {told}.",
        "Answer every well-formed reply with the same status, headers and body, whether it counts or not.",
    )


# -- when nobody can answer ---------------------------------------------------------------------------


@scenario(2, "CAP-015", "CAP-014 CAP-019 TOOL-002", without_replier=True)
async def nobody_can_answer(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence  # here one that cannot answer
    run = await stage.start_session("confirm")
    end = await run.wait_for_end(main, min(stage.patience, 10.0))
    events = main.find_session_events(run.session_id)
    asked = next((one for one in events if one.type == "awaiting.confirmation"), None)
    ledger.check(
        "CAP-014",
        asked is None,
        "A reader that cannot answer, alone, was asked nothing.",
        f"A reader that cannot answer, alone, was asked: {excerpt(asked.raw) if asked is not None else ''}",
    )
    stage.sessions_without_consent.append((("TOOL-002", "CAP-015"), events))
    ledger.check(
        "CAP-015",
        end is not None,
        "With nobody to answer it went on at once.",
        f"With nobody to answer the session was not over after {min(stage.patience, 10.0):g} seconds.",
        "Apply the default at once when no subscription can reply.",
    )
    question = await stage.start_session("clarify")
    end = await question.wait_for_end(main, min(stage.patience, 10.0))
    asked = next(
        (one for one in main.find_session_events(question.session_id) if one.type == "awaiting.clarification"), None
    )
    if end is not None or asked is not None:
        ledger.check(
            "CAP-019",
            asked is None,
            "A reader that cannot answer, alone, was asked no question either.",
            f"A reader that cannot answer, alone, was asked: {excerpt(asked.raw) if asked is not None else ''}",
        )


@scenario(3, "SUB-069", without_replier=True)
async def the_only_one_who_can_answer_leaves(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    async with AsyncExitStack() as stack:
        replier = await stack.enter_async_context(stage.subscribe(**REPLIER_CAPABILITIES))
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(replier)
        seconds = prompt["timeout_seconds"]
        if not isinstance(seconds, (int, float)) or seconds < 5:
            raise ScenarioAborted("The question times out too soon to tell whether leaving decided it.")
        await replier.unsubscribe()
        end = await run.wait_for_end(main, min(stage.patience, seconds - 1))
        acted = run.find_possible_action_calls(main, prompt)
        granted = prompt["default_decision"] == "accept"
        if not granted:
            stage.sessions_without_consent.append((("SUB-069",), main.find_session_events(run.session_id)))
        if granted and end is None:
            ledger.record_not_applicable("SUB-069", "The default is accept, which needs the whole time (CF-005).")
            return
        ledger.check(
            "SUB-069",
            end is not None and bool(acted) == granted,
            f"When the only one who could answer had left, the default, {prompt['default_decision']}, was applied.",
            "The only one who could answer left, and the question stayed open."
            if end is None
            else f"The default is {prompt['default_decision']}, and it was not what was done.",
            "Apply the default when the last subscription that could answer is closed.",
        )


@scenario(2, "", "TOOL-002 CAP-015 SUB-069")
async def what_nobody_agreed_to_was_not_done(stage: Harness) -> None:
    """Judges what others heard when nobody could answer: which tools need a yes is known only by now."""
    for name in sorted(stage.consent_tracker.mixed_tools):
        stage.evidence.add_remark(
            f"Some calls of the tool {name!r} need a yes and some do not: each was taken at its word."
        )
    for broken, events in stage.sessions_without_consent:
        acted = [one for one in events if stage.consent_tracker.needs_consent(one)]
        for rule in broken:
            stage.evidence.check(
                rule,
                not acted,
                "With nobody to answer nothing was done that needs a yes.",
                f"Nobody could answer, and it was done: {excerpt(acted[0].raw) if acted else ''}",
                "With nobody to ask, nothing irreversible is done, whatever the call says of itself.",
            )


# -- questions --


@scenario(2, "", "CLAR-016 CLAR-017 CLAR-018 CLAR-019 CLAR-020 CLAR-021 CONF-008 HITL-024 CLAR-011 CLAR-022")
async def a_question_is_answered(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    run = await stage.start_session("clarify")
    prompt = await run.wait_for_prompt(main, "clarification")
    tries: dict[str, tuple[str, Callable[[], Awaitable[SendResult]]]] = {
        "a confirmation.reply": ("CLAR-020", lambda: main.answer_confirmation(prompt.message, audit=False)),
        "a token that was never issued": (
            "CLAR-016",
            lambda: main.answer_clarification(
                {"reply_token": "rpl_" + "0" * 32}, _build_valid_response(prompt.message), audit=False
            ),
        ),
    }
    await stage.wait_quiet_period()
    early = run.find_resolution(main, prompt)
    if early is not None:
        for rule in ("CONF-008", "HITL-024"):
            ledger.record_failure(
                rule, f"Nobody had answered, and this came: {excerpt(early.raw)}", "Wait for the answer."
            )
        await run.wait_for_end(main)
        return
    for rule, bad in _build_invalid_responses(prompt.message).items():
        tries[f"the answer {bad!r}"] = (rule, partial(main.answer_clarification, prompt.message, bad, audit=False))
    for name, (rule, send) in tries.items():
        await send()
        await stage.wait_quiet_period()
        honoured = run.find_resolution(main, prompt)
        if honoured is not None:
            ledger.record_failure(
                rule, f"{name.capitalize()} ended the question: {excerpt(honoured.raw)}", REPLY_CHECK_ADVICE
            )
            await run.wait_for_end(main)
            return
        ledger.record_pass(rule, f"{name.capitalize()} changed nothing.")
    for rule in ("CONF-008", "HITL-024"):
        ledger.record_pass(rule, "Nothing went on while the question was open.")
    await main.answer_clarification(prompt.message, _build_valid_response(prompt.message))
    told = await run.wait_for_resolution(main, prompt)
    several = len(_response_kinds(prompt.message)) > 1
    for rule in ("CLAR-021", "CLAR-022", *(("CLAR-011",) if several else ())):
        ledger.check(
            rule,
            told is not None,
            f"The answer was followed by: {excerpt(told.raw) if told is not None else ''}",
            "An answer of a kind that was offered was not taken, or nothing told so.",
        )
    await run.wait_for_end(main)


def _response_kinds(prompt: dict[str, Any]) -> list[str]:
    kinds = prompt.get("accepted_response_kinds")
    return kinds if isinstance(kinds, list) and kinds else ["multiple_choice" if prompt.get("choices") else "freetext"]


def _build_valid_response(prompt: dict[str, Any]) -> Any:
    """An answer that the question accepts."""
    choices = prompt.get("choices")
    kind = _response_kinds(prompt)[0]
    if kind == "multiple_choice" and isinstance(choices, list) and choices:
        return choices[0].get("value") if isinstance(choices[0], dict) else choices[0]
    return {"yes_no": True, "numeric": 1}.get(kind, "Whatever you think best.")


def _build_invalid_responses(prompt: dict[str, Any]) -> dict[str, Any]:
    """Answers that it does not accept, by the rule that says so."""
    kinds = _response_kinds(prompt)
    wrong: dict[str, Any] = {}
    if "freetext" not in kinds:
        rule = "CLAR-018" if "multiple_choice" in kinds else "CLAR-017"
        wrong[rule] = "something that was not offered"
    if "numeric" not in kinds:
        wrong["CLAR-017"] = 12
    if "yes_no" not in kinds:
        wrong["CLAR-019"] = True
    return wrong


# -- wrong --

_FUTURE_TIMESTAMP: Final = "2099-01-01T00:00:00.000Z"
_TOKEN_PREFIX: Final = "rpl_"

ReplySender = Callable[[Harness, FakeSubscriber, ObservedEvent], Awaitable[SendResult]]


async def _send_unknown_token(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    return await sender.answer_confirmation(prompt.message, audit=False, reply_token=_TOKEN_PREFIX + "0" * 32)


def _make_altered_token_sender(alter: Callable[[str], str]) -> ReplySender:
    """Who compares only a part of a token, or compares it loosely, takes some of these for it."""

    async def send(_: Harness, sender: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
        token = str(prompt["reply_token"])
        random = token.removeprefix(_TOKEN_PREFIX)
        other = token.removesuffix(random) + alter(random)
        if other == token:
            raise ScenarioAborted(f"There is no letter in the token {token} that could be written in the other case.")
        return await sender.answer_confirmation(prompt.message, audit=False, reply_token=other)

    return send


def _make_character_changer(place: float) -> Callable[[str], str]:
    """Another character at a place of a text, from 0.0 for its first to 1.0 for its last."""

    def alter(text: str) -> str:
        at = round(place * (len(text) - 1))
        return text[:at] + ("0" if text[at : at + 1] != "0" else "1") + text[at + 1 :]

    return alter


async def _send_as_listener(stage: Harness, _: FakeSubscriber, prompt: ObservedEvent) -> SendResult:
    """CF-008: that it hears the question does not let it answer."""
    async with stage.subscribe(**LISTENER_CAPABILITIES) as listener:
        if listener.terms.get("supports_confirmation_reply"):
            raise ScenarioAborted("A reader that did not ask to answer was told that it may.")
        answer = await listener.answer_confirmation(prompt.message, audit=False)
        await stage.wait_quiet_period()  # until it was judged: who has left is a stranger, too
        return answer


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


async def _send_used_token(stage: Harness, sender: FakeSubscriber, _: ObservedEvent) -> SendResult:
    if not stage.closed_prompts:
        raise ScenarioAborted("There was no earlier question whose token could be used again.")
    return await sender.answer_confirmation(stage.closed_prompts[-1], audit=False)


# What is wrong with a reply, the rule that a producer breaks by honouring it, and whether it is well-formed.
INVALID_REPLIES: Final[dict[str, tuple[str, bool, ReplySender]]] = {
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


@scenario(2, "CONF-032 CONF-033 CONF-035 CONF-037 CONF-038 CONF-075 HITL-011 CLAR-020 SEC-011")
async def wrong_replies_do_nothing(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    run, prompt = None, None
    async with AsyncExitStack() as stack:
        sender = main if stage.is_http else await stack.enter_async_context(stage.subscribe(**REPLIER_CAPABILITIES))
        for wrong, (rule, formed, send) in INVALID_REPLIES.items():
            if run is None or prompt is None:
                run = await stage.start_session("confirm")
                prompt = await run.wait_for_prompt(main)
            if sender.end_reason:  # a connection that goes both ways may end with what was wrong
                sender = await stack.enter_async_context(stage.subscribe(**REPLIER_CAPABILITIES))
            try:
                answer = await send(stage, sender, prompt)
            except ScenarioAborted as error:
                ledger.add_remark(str(error))
                continue
            if formed:
                stage.invalid_reply_results[wrong] = answer
            if answer.status == "unsendable":
                ledger.record_not_applicable(rule, f"The transport cannot carry a reply with {wrong}.")
                continue
            await stage.wait_quiet_period()
            honoured = run.find_resolution(main, prompt)
            if honoured is None:
                ledger.record_pass(rule, f"A reply with {wrong} changed nothing.")
                continue
            ledger.record_failure(
                rule, f"After a reply with {wrong} this came: {excerpt(honoured.raw)}", REPLY_CHECK_ADVICE
            )
            await run.wait_for_end(main)
            run = prompt = None
    if run is not None and prompt is not None:
        await main.answer_confirmation(prompt.message, "reject")
        stage.closed_prompts.append(prompt.message)
        told = await run.wait_for_end(main)
        ledger.check(
            "CONF-038",
            told is not None,
            "After all the wrong replies the right one still counted.",
            "After wrong replies the right one no longer counted.",
            "A reply that fails a check changes nothing and does not use up the token.",
        )
