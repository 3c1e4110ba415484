"""Scenarios about sessions and connections: what a session is made of, who comes late, who is cut off, who leaves."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Final

from ...protocol import timestamps
from ..judge import excerpt
from ..scenario import scenario
from .harness import (
    LISTENER_CAPABILITIES,
    REPLIER_CAPABILITIES,
    SESSION_END_TYPES,
    FakeSubscriber,
    Harness,
    ObservedEvent,
    ObservedSession,
    ScenarioAborted,
)
from .scenarios_consent import require_main_subscriber

_MAX_CLOCK_SKEW: Final = 10.0  # seconds that two clocks may differ
_MIN_TOKEN_CHARS: Final = 22  # letters and digits that can hold 128 bits
_SUSPICIOUS_OVERLAP: Final = 10  # characters that two random tokens never share: once in a million runs or less


@scenario(1, "ENV-025 ENV-026 SEQ-009 LVL-007", "SEQ-006")
async def a_session_from_beginning_to_end(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage, allow_unsubscribed=True), stage.evidence
    run = await stage.start_session("confirm")
    prompt = await run.wait_for_event(main, "awaiting.confirmation", *SESSION_END_TYPES)
    if prompt is not None and prompt.type == "awaiting.confirmation" and main.acceptance:
        await main.answer_confirmation(prompt.message)
        stage.closed_prompts.append(prompt.message)
    end = await run.wait_for_end(main)
    if end is None:
        ledger.record_failure("SEQ-009", f"A session that was begun did not end within {stage.patience:g} seconds.")
        return
    ledger.record_pass("SEQ-009", f"A session began, and ended with: {excerpt(end.raw)}")
    events = main.find_session_events(run.session_id)
    calls = [one["status"] for one in events if one.type == "tool.completed"]
    if end.type == "session.completed" or (prompt is not None and calls and {*calls} == {"success"}):
        ledger.check(
            "SEQ-006",
            end.type == "session.completed",
            "Work that went well ended with session.completed.",
            f"All that was called went well and nobody stopped it, and it ended with: {excerpt(end.raw)}",
        )
    moved = any(one.type == "state.changed" for one in events)
    ledger.check(
        "LVL-007",
        moved,
        "Changes of state were told.",
        f"Of a whole session only this was told: {', '.join(one.type for one in events)}.",
        "Send agent.state.changed into and out of thinking, calling_tool and writing_output.",
    )
    _check_timestamps(stage, events)


def _check_timestamps(stage: Harness, events: list[ObservedEvent]) -> None:
    now, here = time.time(), time.monotonic()
    for one in events:
        said = timestamps.parse_instant(str(one["timestamp"]))
        if said is None:
            continue  # the audit says so
        off = said - (now - (here - one.received_at))
        if abs(off) > _MAX_CLOCK_SKEW:
            for rule in ("ENV-025", "ENV-026"):
                stage.evidence.record_failure(
                    rule, f"The time is off by {off:.0f} seconds when it comes: {excerpt(one.raw)}"
                )
            return
    for rule in ("ENV-025", "ENV-026"):
        stage.evidence.record_pass(
            rule, f"{len(events)} events came within {_MAX_CLOCK_SKEW:g} seconds of the time they name."
        )


@scenario(1, "", "SEQ-006")
async def sessions_that_do_not_end_well(stage: Harness) -> None:
    main = require_main_subscriber(stage, allow_unsubscribed=True)
    for task, wanted in (("fail", "session.errored"), ("handoff", "handoff.requested")):
        run = await stage.start_session(task)
        end = await run.reject_until_end(main)
        if end is None:
            stage.evidence.add_remark(f"The task {task!r} did not end.")
            continue
        if task == "fail" and end.type == wanted:
            stage.evidence.record_pass("SEQ-006", f"Work that failed ended with: {excerpt(end.raw)}")
        elif any(one.type == wanted for one in main.find_session_events(run.session_id)):
            # Who does not may have had no reason to, so nobody is failed for it.
            stage.evidence.record_pass("LVL-034", "The producer handed over, and said so.")
        else:
            stage.evidence.add_remark(f"The task {task!r} led to no {wanted}.")


@scenario(1, "", "TR-039 CONF-064")
async def a_reader_comes_late(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    run = await stage.start_session("confirm")
    prompt = await run.wait_for_prompt(main)
    async with stage.subscribe(**REPLIER_CAPABILITIES) as late:
        same = await run.wait_for_event(late, "awaiting.confirmation", timeout=min(stage.patience, 3.0))
        ledger.check(
            "TR-039",
            same is not None,
            "A reader that came late was told what is going on, and asked what is open.",
            "A reader that came late was not asked what is still open.",
            "Send session.started, the open questions and the present state to whoever joins.",
        )
        if same is None:
            await main.answer_confirmation(prompt.message, "reject")
        else:
            await late.answer_confirmation(same.message)
            told = await run.wait_for_resolution(late, same)
            ledger.check(
                "CONF-064",
                told is not None,
                "The answer of a reader that came late counted.",
                "The answer of a reader that came late did not count.",
            )
            if told is None:
                await main.answer_confirmation(prompt.message, "reject")
        await run.wait_for_end(main)


@scenario(3, "TR-013 SUB-066", "SSE-019")
async def a_reader_is_cut_off_and_comes_back(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    async with stage.subscribe(**REPLIER_CAPABILITIES) as reader:
        first = await stage.start_session("confirm")
        await first.reject_until_end(main)
        if await first.wait_for_end(reader) is None:
            raise ScenarioAborted("A reader that was to be cut off heard nothing before.")
        await reader.drop_connection()
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(main)
        same = await _reconnect(stage, reader, run)
        await main.answer_confirmation(prompt.message)
        await run.wait_for_end(main)
        await run.wait_for_end(reader)
        got = {one["event_id"] for one in reader.find_session_events(run.session_id)}
        missing = [one for one in main.find_session_events(run.session_id) if one["event_id"] not in got]
        urgent = [one for one in missing if one.is_critical]
        ledger.check(
            "TR-013",
            same is not None and not urgent,
            "What was critical while a reader was cut off reached it when it came back.",
            f"A reader that was cut off never got this: {excerpt((urgent or [prompt])[0].raw)}",
            "Keep what a subscription has missed, and send it when it comes back with the id it heard last.",
        )
        ledger.check(
            "SSE-019",
            not missing,
            "A reader that came back heard everything that it had missed.",
            f"A reader that came back did not get {len(missing)} events: {excerpt(missing[0].raw) if missing else ''}",
        )
    await _check_survival(stage)


async def _reconnect(stage: Harness, reader: FakeSubscriber, run: ObservedSession) -> ObservedEvent | None:
    """It comes back, and perhaps hears what was asked meanwhile."""
    soon = min(stage.patience, 3.0)
    if not stage.is_http:  # a connection that goes both ways takes its subscription with it (CF-040, CF-084)
        await reader.subscribe({**REPLIER_CAPABILITIES, "attend": {"resume_after": reader.last_event_id}})
    reader.listen()
    same = await run.wait_for_event(reader, "awaiting.confirmation", timeout=soon)
    if same is None and reader.end_reason:  # it is not known any more, and may ask anew
        try:
            await reader.subscribe(REPLIER_CAPABILITIES)
        except ScenarioAborted as error:
            if not reader.rejection:
                stage.evidence.record_failure("SUB-066", f"After a reader had let go without a word: {error}")
            raise
        reader.last_event_id = ""
        reader.listen()
        same = await run.wait_for_event(reader, "awaiting.confirmation", timeout=soon)
    return same


async def _check_survival(stage: Harness) -> None:
    """Whether the producer is still there after somebody has let go without a word in the midst of a session."""
    async with stage.subscribe(**LISTENER_CAPABILITIES) as reader:
        run = await stage.start_session("confirm")
        await run.wait_for_event(reader, "session.started")
        await reader.drop_connection()
        await run.reject_until_end(require_main_subscriber(stage))
    await stage.wait_quiet_period()
    try:
        async with stage.subscribe(connect=False, **LISTENER_CAPABILITIES):
            stage.evidence.record_pass("SUB-066", "Readers let go without a word, and the producer goes on.")
    except ScenarioAborted as error:
        stage.evidence.record_failure("SUB-066", f"After readers had let go without a word: {error}")


@scenario(3, "SUB-068 SUB-073")
async def a_reader_leaves(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    async with stage.subscribe(**LISTENER_CAPABILITIES) as reader:
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(main)
        await run.wait_for_event(reader, "session.started")
        await stage.wait_quiet_period()
        await reader.unsubscribe(keep_listening=True)
        await stage.wait_quiet_period()  # until it has arrived: two connections keep no order
        place = len(reader.events)
        await main.answer_confirmation(prompt.message)
        end = await run.wait_for_end(main)
        await stage.wait_quiet_period()
        late = [one for one in reader.iter_events(place) if one.session_id]
        ledger.check(
            "SUB-068",
            not late,
            "After a reader had closed its subscription nothing more came on it.",
            f"After a reader had closed its subscription this came: {excerpt(late[0].raw) if late else ''}",
            "Stop sending when a subscription is closed.",
        )
        ledger.check(
            "SUB-073",
            end is not None,
            "When one reader left another heard the session to its end.",
            "When one reader left another did not hear the session's end.",
        )


@scenario(2, "CONF-012 CONF-014", "CONF-011")
async def tokens_are_never_used_twice(stage: Harness) -> None:
    """Judges all that the other scenarios were asked."""
    main = require_main_subscriber(stage)
    asked: dict[str, str] = {}
    for one in main.events:
        if not one.type.startswith("awaiting."):
            continue
        token, session = str(one["reply_token"]), one.session_id + str(one["event_id"])
        if asked.setdefault(token, session) != session:
            for rule in ("CONF-012", "CONF-014"):
                stage.evidence.record_failure(rule, f"A token was issued a second time: {excerpt(one.raw)}")
            return
    if len(asked) < 2:
        raise ScenarioAborted("Fewer than two questions were asked.")
    for rule in ("CONF-012", "CONF-014"):
        stage.evidence.record_pass(rule, f"{len(asked)} questions had a token each.")
    why = _find_token_weakness([*asked])
    stage.evidence.check(
        "CONF-011",
        not why,
        f"{len(asked)} tokens were long enough, and no two of them alike.",
        why,
        "Make every token of 128 bits from a source of randomness that is meant for secrets.",
    )


def _find_token_weakness(tokens: list[str]) -> str:
    """CONF-011 §6.2.1: what speaks against 128 random bits in each, if anything."""
    short = min(tokens, key=len)
    if len(short.removeprefix("rpl_")) < _MIN_TOKEN_CHARS:
        return f"The token {short} is too short for 128 bits."
    for way in (1, -1):  # a number may stand at the end, or at the beginning
        inward = sorted(one.removeprefix("rpl_")[::way] for one in tokens)
        for one, other in pairwise(inward):
            if one[:_SUSPICIOUS_OVERLAP] == other[:_SUSPICIOUS_OVERLAP]:
                ends = "begin" if way == 1 else "end"
                return f"Two tokens {ends} with the same characters: {one[::way]} and {other[::way]}."
    return ""


@scenario(2, "CONF-032")
async def nonsense_does_no_harm(stage: Harness) -> None:
    """Sends what no program can use, and sees whether the producer still answers."""
    main = require_main_subscriber(stage)
    for raw in (b"{", b"[]", b"null", b'{"type": 1}', b'{"type": "confirmation.reply", "reply_token": {}}'):
        if stage.is_http:
            await main.send_raw(raw)
    async with stage.subscribe(connect=False, **LISTENER_CAPABILITIES) as reader:
        stage.evidence.check("CONF-032", reader.acceptance, "After nonsense it still answers.", "It answers no more.")
