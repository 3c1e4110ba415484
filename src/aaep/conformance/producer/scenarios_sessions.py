"""Scenarios about sessions and connections: what a session is made of, who comes late, who is cut off, who leaves."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Final

from ...protocol import timestamps
from ..judge import excerpt
from ..scenario import scenario
from .harness import ENDS, LISTENS, REPLIES, Heard, Reader, Run, Stage, Unplayable
from .scenarios_consent import throughout

_CLOCK: Final = 10.0  # seconds that two clocks may differ
_LENGTH: Final = 22  # letters and digits that can hold 128 bits
_ALIKE: Final = 10  # characters that two random tokens never share: once in a million runs or less


@scenario(1, "ENV-025 ENV-026 SEQ-009 LVL-007", "SEQ-006")
async def a_session_from_beginning_to_end(stage: Stage) -> None:
    main, ledger = throughout(stage, bare=True), stage.ledger
    run = await stage.begin("confirm")
    prompt = await run.find(main, "awaiting.confirmation", *ENDS)
    if prompt is not None and prompt.type == "awaiting.confirmation" and main.accepted:
        await main.reply(prompt.message)
        stage.used.append(prompt.message)
    end = await run.over(main)
    if end is None:
        ledger.fail("SEQ-009", f"A session that was begun did not end within {stage.patience:g} seconds.")
        return
    ledger.show("SEQ-009", f"A session began, and ended with: {excerpt(end.raw)}")
    events = main.of(run.session)
    calls = [one["status"] for one in events if one.type == "tool.completed"]
    if end.type == "session.completed" or (prompt is not None and calls and {*calls} == {"success"}):
        ledger.decide(
            "SEQ-006",
            end.type == "session.completed",
            "Work that went well ended with session.completed.",
            f"All that was called went well and nobody stopped it, and it ended with: {excerpt(end.raw)}",
        )
    moved = any(one.type == "state.changed" for one in events)
    ledger.decide(
        "LVL-007",
        moved,
        "Changes of state were told.",
        f"Of a whole session only this was told: {', '.join(one.type for one in events)}.",
        "Send agent.state.changed into and out of thinking, calling_tool and writing_output.",
    )
    _dated(stage, events)


def _dated(stage: Stage, events: list[Heard]) -> None:
    now, here = time.time(), time.monotonic()
    for one in events:
        said = timestamps.parse_instant(str(one["timestamp"]))
        if said is None:
            continue  # the audit says so
        off = said - (now - (here - one.at))
        if abs(off) > _CLOCK:
            for rule in ("ENV-025", "ENV-026"):
                stage.ledger.fail(rule, f"The time is off by {off:.0f} seconds when it comes: {excerpt(one.raw)}")
            return
    for rule in ("ENV-025", "ENV-026"):
        stage.ledger.show(rule, f"{len(events)} events came within {_CLOCK:g} seconds of the time they name.")


@scenario(1, "", "SEQ-006")
async def sessions_that_do_not_end_well(stage: Stage) -> None:
    main = throughout(stage, bare=True)
    for task, wanted in (("fail", "session.errored"), ("handoff", "handoff.requested")):
        run = await stage.begin(task)
        end = await run.through(main)
        if end is None:
            stage.ledger.remark(f"The task {task!r} did not end.")
            continue
        if task == "fail" and end.type == wanted:
            stage.ledger.show("SEQ-006", f"Work that failed ended with: {excerpt(end.raw)}")
        elif any(one.type == wanted for one in main.of(run.session)):
            # Who does not may have had no reason to, so nobody is failed for it.
            stage.ledger.show("LVL-034", "The producer handed over, and said so.")
        else:
            stage.ledger.remark(f"The task {task!r} led to no {wanted}.")


@scenario(1, "", "TR-039 CONF-064")
async def a_reader_comes_late(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    run = await stage.begin("confirm")
    prompt = await run.prompt(main)
    async with stage.reader(**REPLIES) as late:
        same = await run.find(late, "awaiting.confirmation", limit=min(stage.patience, 3.0))
        ledger.decide(
            "TR-039",
            same is not None,
            "A reader that came late was told what is going on, and asked what is open.",
            "A reader that came late was not asked what is still open.",
            "Send session.started, the open questions and the present state to whoever joins.",
        )
        if same is None:
            await main.reply(prompt.message, "reject")
        else:
            await late.reply(same.message)
            told = await run.resolution(late, same)
            ledger.decide(
                "CONF-064",
                told is not None,
                "The answer of a reader that came late counted.",
                "The answer of a reader that came late did not count.",
            )
            if told is None:
                await main.reply(prompt.message, "reject")
        await run.over(main)


@scenario(3, "TR-013 SUB-066", "SSE-019")
async def a_reader_is_cut_off_and_comes_back(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    async with stage.reader(**REPLIES) as reader:
        first = await stage.begin("confirm")
        await first.through(main)
        if await first.over(reader) is None:
            raise Unplayable("A reader that was to be cut off heard nothing before.")
        await reader.cut()
        run = await stage.begin("confirm")
        prompt = await run.prompt(main)
        same = await _back(stage, reader, run)
        await main.reply(prompt.message)
        await run.over(main)
        await run.over(reader)
        got = {one["event_id"] for one in reader.of(run.session)}
        missing = [one for one in main.of(run.session) if one["event_id"] not in got]
        urgent = [one for one in missing if one.critical]
        ledger.decide(
            "TR-013",
            same is not None and not urgent,
            "What was critical while a reader was cut off reached it when it came back.",
            f"A reader that was cut off never got this: {excerpt((urgent or [prompt])[0].raw)}",
            "Keep what a subscription has missed, and send it when it comes back with the id it heard last.",
        )
        ledger.decide(
            "SSE-019",
            not missing,
            "A reader that came back heard everything that it had missed.",
            f"A reader that came back did not get {len(missing)} events: {excerpt(missing[0].raw) if missing else ''}",
        )
    await _survived(stage)


async def _back(stage: Stage, reader: Reader, run: Run) -> Heard | None:
    """It comes back, and perhaps hears what was asked meanwhile."""
    soon = min(stage.patience, 3.0)
    if not stage.posts:  # a connection that goes both ways takes its subscription with it (CF-040, CF-084)
        await reader.join({**REPLIES, "attend": {"resume_after": reader.last}})
    reader.listen()
    same = await run.find(reader, "awaiting.confirmation", limit=soon)
    if same is None and reader.ended:  # it is not known any more, and may ask anew
        try:
            await reader.join(REPLIES)
        except Unplayable as error:
            if not reader.rejected:
                stage.ledger.fail("SUB-066", f"After a reader had let go without a word: {error}")
            raise
        reader.last = ""
        reader.listen()
        same = await run.find(reader, "awaiting.confirmation", limit=soon)
    return same


async def _survived(stage: Stage) -> None:
    """Whether the producer is still there after somebody has let go without a word in the midst of a session."""
    async with stage.reader(**LISTENS) as reader:
        run = await stage.begin("confirm")
        await run.find(reader, "session.started")
        await reader.cut()
        await run.through(throughout(stage))
    await stage.rest()
    try:
        async with stage.reader(connect=False, **LISTENS):
            stage.ledger.show("SUB-066", "Readers let go without a word, and the producer goes on.")
    except Unplayable as error:
        stage.ledger.fail("SUB-066", f"After readers had let go without a word: {error}")


@scenario(3, "SUB-068 SUB-073")
async def a_reader_leaves(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    async with stage.reader(**LISTENS) as reader:
        run = await stage.begin("confirm")
        prompt = await run.prompt(main)
        await run.find(reader, "session.started")
        await stage.rest()
        await reader.leave(listen_on=True)
        await stage.rest()  # until it has arrived: two connections keep no order
        place = len(reader.heard)
        await main.reply(prompt.message)
        end = await run.over(main)
        await stage.rest()
        late = [one for one in reader.after(place) if one.session]
        ledger.decide(
            "SUB-068",
            not late,
            "After a reader had closed its subscription nothing more came on it.",
            f"After a reader had closed its subscription this came: {excerpt(late[0].raw) if late else ''}",
            "Stop sending when a subscription is closed.",
        )
        ledger.decide(
            "SUB-073",
            end is not None,
            "When one reader left another heard the session to its end.",
            "When one reader left another did not hear the session's end.",
        )


@scenario(2, "CONF-012 CONF-014", "CONF-011")
async def tokens_are_never_used_twice(stage: Stage) -> None:
    """Judges all that the other scenarios were asked."""
    main = throughout(stage)
    asked: dict[str, str] = {}
    for one in main.heard:
        if not one.type.startswith("awaiting."):
            continue
        token, session = str(one["reply_token"]), one.session + str(one["event_id"])
        if asked.setdefault(token, session) != session:
            for rule in ("CONF-012", "CONF-014"):
                stage.ledger.fail(rule, f"A token was issued a second time: {excerpt(one.raw)}")
            return
    if len(asked) < 2:
        raise Unplayable("Fewer than two questions were asked.")
    for rule in ("CONF-012", "CONF-014"):
        stage.ledger.show(rule, f"{len(asked)} questions had a token each.")
    why = _guessable([*asked])
    stage.ledger.decide(
        "CONF-011",
        not why,
        f"{len(asked)} tokens were long enough, and no two of them alike.",
        why,
        "Make every token of 128 bits from a source of randomness that is meant for secrets.",
    )


def _guessable(tokens: list[str]) -> str:
    """CONF-011 §6.2.1: what speaks against 128 random bits in each, if anything."""
    short = min(tokens, key=len)
    if len(short.removeprefix("rpl_")) < _LENGTH:
        return f"The token {short} is too short for 128 bits."
    for way in (1, -1):  # a number may stand at the end, or at the beginning
        inward = sorted(one.removeprefix("rpl_")[::way] for one in tokens)
        for one, other in pairwise(inward):
            if one[:_ALIKE] == other[:_ALIKE]:
                ends = "begin" if way == 1 else "end"
                return f"Two tokens {ends} with the same characters: {one[::way]} and {other[::way]}."
    return ""


@scenario(2, "CONF-032")
async def nonsense_does_no_harm(stage: Stage) -> None:
    """Sends what no program can use, and sees whether the producer still answers."""
    main = throughout(stage)
    for raw in (b"{", b"[]", b"null", b'{"type": 1}', b'{"type": "confirmation.reply", "reply_token": {}}'):
        if stage.posts:
            await main.send(raw)
    async with stage.reader(connect=False, **LISTENS) as reader:
        stage.ledger.decide("CONF-032", reader.accepted, "After nonsense it still answers.", "It answers no more.")
