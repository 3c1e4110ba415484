"""Scenarios about sessions and connections: events of a session, late subscribers, lost connections, reply tokens."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Final

from ...protocol import timestamps
from ..judge import excerpt, excerpt_first
from ..scenario import ScenarioAborted, producer_scenario
from .harness import LISTENER_CAPABILITIES, REPLIER_CAPABILITIES, FakeSubscriber, Harness, ObservedSession
from .observed import SESSION_END_TYPES, ObservedEvent

_MAX_CLOCK_SKEW: Final = 10.0  # seconds that two clocks may differ
_MIN_TOKEN_CHARS: Final = 22  # letters and digits that can hold 128 bits
_SUSPICIOUS_OVERLAP: Final = 10  # characters that two random tokens share less than once in a million runs
_TOKEN_PREFIX: Final = "rpl_"
_CATCH_UP_TIMEOUT: Final = 3.0  # seconds at most for an open prompt to reach a subscriber that has just connected


@producer_scenario(1, "ENV-025 ENV-026 SEQ-009 LVL-007", "SEQ-006")
async def a_session_from_beginning_to_end(harness: Harness) -> None:
    """Check the events of one session, and that they come at the time they name."""
    main_subscriber = harness.require_main_subscriber(allow_unsubscribed=True)
    evidence = harness.evidence
    session = await harness.start_session("confirm")
    prompt = await session.wait_for_event(main_subscriber, "awaiting.confirmation", *SESSION_END_TYPES)
    if prompt is not None and prompt.type == "awaiting.confirmation" and main_subscriber.acceptance:
        await main_subscriber.answer_confirmation(prompt.message)
        harness.closed_prompts.append(prompt.message)
    end_event = await session.wait_for_end(main_subscriber)
    if end_event is None:
        raise session.make_unfinished_error("it was not over")
    evidence.record_pass("SEQ-009", f"A session began, and ended with: {excerpt(end_event.raw)}")
    events = main_subscriber.find_session_events(session.session_id)
    call_statuses = [event["status"] for event in events if event.type == "tool.completed"]
    if end_event.type == "session.completed" or (
        prompt is not None and call_statuses and {*call_statuses} == {"success"}
    ):
        evidence.check(
            "SEQ-006",
            end_event.type == "session.completed",
            "Work that went well ended with session.completed.",
            f"All that was called went well and nobody stopped it, and it ended with: {excerpt(end_event.raw)}",
        )
    has_changed_state = any(event.type == "state.changed" for event in events)
    evidence.check(
        "LVL-007",
        has_changed_state,
        "Changes of state were told.",
        f"Of a whole session only this was told: {', '.join(event.type for event in events)}.",
        "Send agent.state.changed into and out of thinking, calling_tool and writing_output.",
    )
    _check_timestamps(harness, events)


def _check_timestamps(harness: Harness, events: list[ObservedEvent]) -> None:
    now = time.time()
    monotonic_now = time.monotonic()
    for event in events:
        event_time = timestamps.parse_instant(str(event["timestamp"]))
        if event_time is None:
            continue  # the audit finds it
        deviation = event_time - (now - (monotonic_now - event.received_at))
        if abs(deviation) > _MAX_CLOCK_SKEW:
            for rule in ("ENV-025", "ENV-026"):
                harness.evidence.record_failure(
                    rule, f"The time is off by {deviation:.0f} seconds when it comes: {excerpt(event.raw)}"
                )
            return
    for rule in ("ENV-025", "ENV-026"):
        harness.evidence.record_pass(
            rule, f"{len(events)} events came within {_MAX_CLOCK_SKEW:g} seconds of the time they name."
        )


@producer_scenario(1, "", "SEQ-006")
async def sessions_that_do_not_end_well(harness: Harness) -> None:
    """Check the end of a session that fails, and of one that is handed over."""
    main_subscriber = harness.require_main_subscriber(allow_unsubscribed=True)
    for task, expected_type in (("fail", "session.errored"), ("handoff", "handoff.requested")):
        session = await harness.start_session(task)
        end_event = await session.reject_until_end(main_subscriber)
        if end_event is None:
            harness.evidence.add_remark(f"The task {task!r} did not end.")
            continue
        if task == "fail" and end_event.type == expected_type:
            harness.evidence.record_pass("SEQ-006", f"Work that failed ended with: {excerpt(end_event.raw)}")
        elif any(event.type == expected_type for event in main_subscriber.find_session_events(session.session_id)):
            # A producer that does not may have had no reason to, so this is never a failure.
            harness.evidence.record_pass("LVL-034", "The producer handed over, and said so.")
        else:
            harness.evidence.add_remark(f"The task {task!r} led to no {expected_type}.")


@producer_scenario(1, "", "TR-039 CONF-064")
async def a_reader_comes_late(harness: Harness) -> None:
    """Subscribe while a prompt is open, and answer it."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    session = await harness.start_session("confirm")
    prompt = await session.wait_for_prompt(main_subscriber)
    async with harness.subscribe(**REPLIER_CAPABILITIES) as late_subscriber:
        repeated_prompt = await session.wait_for_event(
            late_subscriber, "awaiting.confirmation", timeout=min(harness.patience, _CATCH_UP_TIMEOUT)
        )
        evidence.check(
            "TR-039",
            repeated_prompt is not None,
            "A reader that came late was told what is going on, and asked what is open.",
            "A reader that came late was not asked what is still open.",
            "Send session.started, the open questions and the present state to whoever joins.",
        )
        if repeated_prompt is None:
            await main_subscriber.answer_confirmation(prompt.message, "reject")
        else:
            await late_subscriber.answer_confirmation(repeated_prompt.message)
            resolution = await session.wait_for_resolution(late_subscriber, repeated_prompt)
            evidence.check(
                "CONF-064",
                resolution is not None,
                "The answer of a reader that came late counted.",
                "The answer of a reader that came late did not count.",
            )
            if resolution is None:
                await main_subscriber.answer_confirmation(prompt.message, "reject")
        await session.wait_for_end(main_subscriber)


@producer_scenario(3, "TR-013 SUB-066", "SSE-019")
async def a_reader_is_cut_off_and_comes_back(harness: Harness) -> None:
    """Drop a connection, and check that the missed events come after reconnecting."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    async with harness.subscribe(**REPLIER_CAPABILITIES) as subscriber:
        first_session = await harness.start_session("confirm")
        await first_session.reject_until_end(main_subscriber)
        if await first_session.wait_for_end(subscriber) is None:
            raise ScenarioAborted("A reader that was to be cut off heard nothing before.")
        await subscriber.drop_connection()
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        repeated_prompt = await _reconnect(harness, subscriber, session)
        await main_subscriber.answer_confirmation(prompt.message)
        await session.wait_for_end(main_subscriber)
        await session.wait_for_end(subscriber)
        received_ids = {event["event_id"] for event in subscriber.find_session_events(session.session_id)}
        missing = [
            event
            for event in main_subscriber.find_session_events(session.session_id)
            if event["event_id"] not in received_ids
        ]
        missing_critical = [event for event in missing if event.is_critical]
        evidence.check(
            "TR-013",
            repeated_prompt is not None and not missing_critical,
            "What was critical while a reader was cut off reached it when it came back.",
            f"A reader that was cut off never got this: {excerpt((missing_critical or [prompt])[0].raw)}",
            "Keep what a subscription has missed, and send it when it comes back with the id it heard last.",
        )
        evidence.check(
            "SSE-019",
            not missing,
            "A reader that came back heard everything that it had missed.",
            f"A reader that came back did not get {len(missing)} events: {excerpt_first(missing)}",
        )
    await _check_survival(harness)


async def _reconnect(harness: Harness, subscriber: FakeSubscriber, session: ObservedSession) -> ObservedEvent | None:
    """Reconnect a subscriber, and return the prompt that was opened meanwhile; None if it does not come."""
    timeout = min(harness.patience, _CATCH_UP_TIMEOUT)
    if not harness.is_http:  # a duplex connection takes its subscription with it (CF-040, CF-084)
        await subscriber.subscribe({**REPLIER_CAPABILITIES, "attend": {"resume_after": subscriber.last_event_id}})
    subscriber.listen()
    prompt = await session.wait_for_event(subscriber, "awaiting.confirmation", timeout=timeout)
    if prompt is None and subscriber.end_reason:  # the subscription is forgotten, and a new one may be requested
        try:
            await subscriber.subscribe(REPLIER_CAPABILITIES)
        except ScenarioAborted as error:
            if not subscriber.rejection:
                harness.evidence.record_failure("SUB-066", f"After a reader had let go without a word: {error}")
            raise
        subscriber.last_event_id = ""
        subscriber.listen()
        prompt = await session.wait_for_event(subscriber, "awaiting.confirmation", timeout=timeout)
    return prompt


async def _check_survival(harness: Harness) -> None:
    """Check that the producer goes on after a connection was dropped during a session."""
    try:  # a reader was cut off before, and the producer may have noticed only now
        async with harness.subscribe(connect=False, **LISTENER_CAPABILITIES):
            pass
    except ScenarioAborted as error:
        harness.evidence.record_failure("SUB-066", f"After a reader had let go without a word: {error}")
        raise
    async with harness.subscribe(**LISTENER_CAPABILITIES) as subscriber:
        session = await harness.start_session("confirm")
        await session.wait_for_event(subscriber, "session.started")
        await subscriber.drop_connection()
        await session.reject_until_end(harness.require_main_subscriber())
    await harness.wait_quiet_period()
    try:
        async with harness.subscribe(connect=False, **LISTENER_CAPABILITIES):
            harness.evidence.record_pass("SUB-066", "Readers let go without a word, and the producer goes on.")
    except ScenarioAborted as error:
        harness.evidence.record_failure("SUB-066", f"After readers had let go without a word: {error}")


@producer_scenario(3, "SUB-068 SUB-073")
async def a_reader_leaves(harness: Harness) -> None:
    """Close a subscription during a session, and check that nothing more comes on it."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    async with harness.subscribe(**LISTENER_CAPABILITIES) as subscriber:
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        await session.wait_for_event(subscriber, "session.started")
        await harness.wait_quiet_period()
        await subscriber.unsubscribe(keep_listening=True)
        await harness.wait_quiet_period()  # for the close to arrive: two connections keep no order
        position = len(subscriber.events)
        await main_subscriber.answer_confirmation(prompt.message)
        resolution = await session.wait_for_resolution(main_subscriber, prompt)
        await session.wait_for_end(main_subscriber)
        await harness.wait_quiet_period()
        late_events = [event for event in subscriber.events[position:] if event.session_id]
        evidence.check(
            "SUB-068",
            not late_events,
            "After a reader had closed its subscription nothing more came on it.",
            f"After a reader had closed its subscription this came: {excerpt_first(late_events)}",
            "Stop sending when a subscription is closed.",
        )
        evidence.check(
            "SUB-073",
            resolution is not None,
            "When one reader left another heard how the session went on.",
            "When one reader left another heard no more of the session.",
        )


@producer_scenario(2, "CONF-012 CONF-014", "CONF-011")
async def tokens_are_never_used_twice(harness: Harness) -> None:
    """Judge the reply tokens of all scenarios before this one."""
    main_subscriber = harness.require_main_subscriber()
    prompt_ids_by_token: dict[str, str] = {}
    for event in main_subscriber.events:
        if not event.type.startswith("awaiting."):
            continue
        token = str(event["reply_token"])
        prompt_id = event.session_id + str(event["event_id"])
        if prompt_ids_by_token.setdefault(token, prompt_id) != prompt_id:
            for rule in ("CONF-012", "CONF-014"):
                harness.evidence.record_failure(rule, f"A token was issued a second time: {excerpt(event.raw)}")
            return
    if len(prompt_ids_by_token) < 2:
        raise ScenarioAborted("Fewer than two questions were asked.")
    for rule in ("CONF-012", "CONF-014"):
        harness.evidence.record_pass(rule, f"{len(prompt_ids_by_token)} questions had a token each.")
    weakness = _find_token_weakness([*prompt_ids_by_token])
    harness.evidence.check(
        "CONF-011",
        not weakness,
        f"{len(prompt_ids_by_token)} tokens were long enough, and no two of them alike.",
        weakness,
        "Make every token of 128 bits from a source of randomness that is meant for secrets.",
    )


def _find_token_weakness(tokens: list[str]) -> str:
    """CONF-011 §6.2.1: return why tokens cannot be 128 random bits each; empty if nothing speaks against it."""
    shortest = min(tokens, key=len)
    if len(shortest.removeprefix(_TOKEN_PREFIX)) < _MIN_TOKEN_CHARS:
        return f"The token {shortest} is too short for 128 bits."
    for step, verb in ((1, "begin"), (-1, "end")):  # a counter may stand at either end
        texts = sorted(token.removeprefix(_TOKEN_PREFIX)[::step] for token in tokens)
        for text, next_text in pairwise(texts):
            if text[:_SUSPICIOUS_OVERLAP] == next_text[:_SUSPICIOUS_OVERLAP]:
                return f"Two tokens {verb} with the same characters: {text[::step]} and {next_text[::step]}."
    return ""


@producer_scenario(2, "CONF-032")
async def nonsense_does_no_harm(harness: Harness) -> None:
    """Send bytes that are no usable message, and check that the producer still answers."""
    main_subscriber = harness.require_main_subscriber()
    for raw in (b"{", b"[]", b"null", b'{"type": 1}', b'{"type": "confirmation.reply", "reply_token": {}}'):
        if harness.is_http:
            await main_subscriber.send_raw(raw)
    async with harness.subscribe(connect=False, **LISTENER_CAPABILITIES) as subscriber:
        harness.evidence.check(
            "CONF-032", subscriber.acceptance, "After nonsense it still answers.", "It answers no more."
        )
