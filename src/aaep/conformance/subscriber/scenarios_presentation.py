"""Scenarios about hearing: what is announced, when, how often and in which order, and what is lived through."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from ...protocol.fields import CORE_CONTEXT
from ..judge import excerpt
from ..producer.harness import JsonObject
from .fake_producer import FakeSession
from .harness import Harness, ScenarioAborted, SubscriberRun, subscriber_scenario

__all__ = ["PROBES"]

_ANNOUNCE_ADVICE: Final = "Announce it when it comes."
_EVENTS_BETWEEN: Final = 12  # events between one and its repetition, so that it is not enough to remember the last few
_CRITICAL_ADVICE: Final = "Announce what is critical as soon as it comes, before whatever else waits."


@subscriber_scenario(1, "LVL-017 LVL-018 OUT-007 STATE-005", "STATE-006")
async def sessions_are_told_from_beginning_to_end(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        ledger, session = stage.evidence, playing.session
        await playing.start_session()
        ledger.record_pass("LVL-015", f"It heard the first event and announced it: {playing.announcements[0].text}")
        for event in (FakeSession().build_started("Reading the post."), session.build_tool_invoked("Buying stamps.")):
            told = await playing.send_and_wait(event)
            _check_announced(stage, "LVL-017", told is not None, event)
        known = await playing.send_and_wait(
            session.build_state_changed("thinking", "It is thinking about stamps.", "calling_tool")
        )
        odd = session.build_state_changed("licking_stamps", "It is licking stamps now.")
        told = await playing.send_and_wait(odd, None if known is not None else stage.quiet_period)
        if known is not None or told is not None:
            for rule in ("STATE-005", "STATE-006"):
                ledger.check(
                    rule,
                    told is not None,
                    f"A state that nobody knows was announced: {told.text if told is not None else ''}",
                    f"A state that is known was announced and this one was not: {excerpt(odd)}",
                    "Announce a state with an unknown name from its summary.",
                )
        await _check_partial_output(stage, playing)
        await _check_endings(stage, playing)


def _check_announced(
    stage: Harness, rule: str, kept: object, event: JsonObject, advice: str = _ANNOUNCE_ADVICE
) -> bool:
    return stage.evidence.check(
        rule, kept, f"It was announced: {excerpt(event)}", f"It was not announced: {excerpt(event)}", advice
    )


async def _check_partial_output(stage: Harness, playing: SubscriberRun) -> None:
    """OUT-007: a piece of a sentence, and then the rest of it."""
    session = playing.session
    first = session.build_output_chunk("Dear grandmoth", 0, "none", "out_1")
    told = await playing.send_and_wait(first, 2 * stage.quiet_period)
    rest = session.build_output_chunk("er, I am well.", 14, "completion", "out_1", complete=True)
    whole = await playing.send_and_wait(rest)
    if whole is None and told is None:
        stage.evidence.add_remark("It announces no output, so nothing is known of how it does that.")
        stage.evidence.record_not_applicable("OUT-007", "It announces no output.")
        return
    stage.evidence.check(
        "OUT-007",
        told is None,
        "A piece without a boundary was held until the rest had come.",
        f"A piece that is hinted none was announced by itself: {told.text if told is not None else ''}",
        "Hold a chunk hinted none until one with a boundary comes, or the output is complete.",
    )


async def _check_endings(stage: Harness, playing: SubscriberRun) -> None:
    """LVL-018: three sessions end in three ways."""
    texts = {}
    for end in ("completed", "errored", "cancelled"):
        other = FakeSession()
        playing.send(other.build_started())
        event = getattr(other, f"build_{end}")(f"The letter is {end}.")
        told = await playing.send_and_wait(event)
        if _check_announced(stage, "LVL-017", told is not None, event) and told is not None:
            texts[end] = told.text
    stage.evidence.check(
        "LVL-018",
        len({*texts.values()}) == 3,
        f"They sound different: {'; '.join(texts.values())}",
        f"They cannot be told apart: {'; '.join(texts.values())}",
        "Say of each end which of the three it is.",
    )


# -- what is urgent ------------------------------------------------------------------------------


@subscriber_scenario(1, "TERM-018 TERM-019 EVT-014 BP-003 VER-008")
async def what_is_urgent_is_told_at_once(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        ledger, session = stage.evidence, playing.session
        await playing.start_session()
        rows = (
            ("EVT-014", FakeSession().build_errored("The roof has come down.", error_code="roof.down")),
            (
                "TERM-019",
                session.build_event("progress.updated", "Water is coming in.", "critical", progress={"percent": 5}),
            ),
            (
                "BP-003",
                session.build_event(
                    "lights:storm.near", "A storm is near.", "critical", **_build_extension_context("lights")
                ),
            ),
            (
                "VER-008",
                FakeSession().build_cancelled("It was stopped.", cancellation_reason="moonrise", cancelled_by="user"),
            ),
        )
        for rule, event in rows:
            told = await playing.send_and_wait(event)
            if event["urgency"] == "critical":
                _check_announced(stage, "TERM-018", told is not None, event, _CRITICAL_ADVICE)
            if not _check_announced(stage, rule, told is not None, event) or told is None:
                continue
            if rule in ("EVT-014", "TERM-019"):
                ledger.check(
                    rule,
                    told.urgency == "critical",
                    "It was said with the urgency critical.",
                    f"It was said with the urgency {told.urgency}: {excerpt(event)}",
                    "Give an announcement the weight of the event.",
                )


def _build_extension_context(prefix: str) -> dict[str, Any]:
    return {"@context": [CORE_CONTEXT, {prefix: f"https://{prefix}.example/v1#"}]}


@subscriber_scenario(1, "EVT-016 BP-016 BP-011 HITL-034")
async def much_comes_at_once(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        session = playing.session
        await playing.start_session()
        urgent = {
            "EVT-016": FakeSession().build_errored("The cellar is full of water."),
            "BP-016": session.build_event(
                "lights:flood.near", "The river is rising.", "critical", **_build_extension_context("lights")
            ),
            "HITL-034": session.build_confirmation("Open the flood gates."),
        }
        events = [
            session.build_event("progress.updated", f"Step {n}.", "background", progress={"step": n}) for n in range(97)
        ]
        for place, event in zip((20, 50, 80), urgent.values(), strict=True):
            events.insert(place, event)
        playing.producer.send_batch(events)
        last = await playing.send_and_wait(session.build_tool_invoked("Closing the windows."))
        for rule, event in urgent.items():
            told = await playing.wait_for_announcement(event)
            _check_announced(
                stage, rule, told is not None, event, "Never leave out what is critical, however much comes."
            )
        stage.evidence.check(
            "BP-011",
            last is not None and playing.is_listening,
            f"After {len(events)} events at once it went on.",
            f"After {len(events)} events at once it did not go on. {playing.exit_reason}",
            "Take bursts up to the rate that was agreed on.",
        )


# -- twice, and out of order -----------------------------------------------------------------------


@subscriber_scenario(1, "TR-015 TR-012 ENV-028")
async def events_come_twice_and_out_of_order(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        session = playing.session
        await playing.start_session()
        event = session.build_tool_invoked("Sealing the envelope.")
        if await playing.send_and_wait(event) is None:
            raise ScenarioAborted("It did not announce that a tool was used.")
        playing.producer.resend(event)
        playing.producer.resend(event)
        playing.producer.send_batch(
            session.build_tool_invoked(f"Licking stamp number {n}.") for n in range(_EVENTS_BETWEEN)
        )
        playing.producer.resend(event)
        await playing.send_and_wait(session.build_tool_invoked("Walking to the post office."))
        _check_announced_once(stage, playing, event, "came again, at once and after a dozen others,")
        await _check_order(stage, playing)
        if await _drop_and_reconnect(stage, playing):
            playing.producer.resend(event)
            await playing.send_and_wait(session.build_tool_invoked("Walking home."))
            _check_announced_once(stage, playing, event, "came again after the connection was lost")


def _check_announced_once(stage: Harness, playing: SubscriberRun, event: JsonObject, how: str) -> None:
    many = len(playing.find_announcements(event))
    stage.evidence.check(
        "TR-015",
        many == 1,
        f"An event that {how} was announced once.",
        f"An event that {how} was announced {many} times: {excerpt(event)}",
        "Remember the event_id of what came, and drop what comes again.",
    )


async def _drop_and_reconnect(stage: Harness, playing: SubscriberRun) -> bool:
    """Cut it off; whether it has come back. If it has to is for another scenario to say."""
    player = playing.producer
    if player.address.startswith("stdio:") or player.current_stream is None:  # there is nothing to cut
        return False
    before = len(player.streams)
    player.drop_connection()
    back = await playing.wait_until(
        lambda: player.current_stream if len(player.streams) > before else None, 3 * stage.patience
    )
    return back is not None


async def _check_order(stage: Harness, playing: SubscriberRun) -> None:
    """Numbers and times that came in another order than they were sent in."""
    other = FakeSession()
    row = [other.build_started(sequence_number=0)]
    row += [other.build_tool_invoked(f"Stamp number {n}.", sequence_number=n) for n in range(1, 5)]
    playing.producer.send_batch(row[place] for place in (0, 1, 3, 2, 4))
    await playing.wait_for_announcement(row[4])
    await playing.wait_for_announcement(row[2])
    said = [one.event_id for one in playing.announcements if one.event_id in {event["event_id"] for event in row}]
    kept = said == [event["event_id"] for event in row]
    gave_up = any(
        one.message.get("reason_code") == "protocol_error" for one in playing.find_messages("subscription.close")
    )
    for rule in ("TR-012", "ENV-028"):
        stage.evidence.check(
            rule,
            kept or gave_up,
            "What came out of order was announced in order." if kept else "It ended the subscription: protocol_error.",
            "What came out of order was announced out of order, or not at all.",
            "Order the events of a session by sequence_number and timestamp, waiting a moment for what is missing.",
        )


# -- events of an unusual kind -----------------------------------------------------------------------


def _to_indented_json(event: JsonObject) -> bytes:
    return json.dumps(event, indent=2).encode()


def _to_reversed_json(event: JsonObject) -> bytes:
    return json.dumps(dict(reversed(event.items()))).encode()


def _build_language_hints(language: str) -> JsonObject:
    return {"primary_language": language, "text_direction": "ltr"}


ProbeBuilder = Callable[[FakeSession], tuple[JsonObject, bytes | None]]
_NEWER_TYPE: Final = "agent.weather.felt"

# What comes, the rules that say it has to be lived through, and whether it has to be announced as well.
PROBES: Final[dict[str, tuple[str, bool, ProbeBuilder]]] = {
    "a core type that is newer": (
        "ENV-011",
        False,
        lambda session: (session.build_event(f"aaep:{_NEWER_TYPE}", "It feels the weather."), None),
    ),
    "the type of an unknown extension": (
        "ENV-066 EXT-031",
        True,
        lambda session: (
            session.build_event("lights:lamp.lit", "A lamp was lit.", **_build_extension_context("lights")),
            None,
        ),
    ),
    "data of an unknown extension": (
        "ENV-053 ENV-054",
        True,
        lambda session: (
            session.build_tool_invoked(
                "Lit by a lamp.",
                extensions={"lights": {"lamp": [1, {"on": True}]}},
                **_build_extension_context("lights"),
            ),
            None,
        ),
    ),
    "unknown data of an extension that it listed": (
        "CAP-036",
        True,
        lambda session: (
            session.build_tool_invoked("Listed.", extensions={"attend": {"never_heard_of": [None, {"a": 1}]}}),
            None,
        ),
    ),
    "no optional member": (
        "ENV-044",
        True,
        lambda session: (session.build_tool_invoked("Sparsely told.", aaep_version=None), None),
    ),
    "members in another order": (
        "ENV-063",
        True,
        lambda session: ((event := session.build_tool_invoked("Backwards.")), _to_reversed_json(event)),
    ),
    "JSON on several lines": (
        "ENC-004",
        True,
        lambda session: ((event := session.build_tool_invoked("Pretty.")), _to_indented_json(event)),
    ),
    "an unknown value of an enumeration": (
        "VER-007",
        True,
        lambda session: (FakeSession().build_errored("A new kind of error.", error_category="cosmic_ray"), None),
    ),
    "a language that nobody asked for": (
        "I18N-017",
        True,
        lambda session: (
            session.build_tool_invoked("Mo ń kọ lẹ́tà.", localization_hints=_build_language_hints("yo-NG")),
            None,
        ),
    ),
    "a language without a region": (
        "I18N-009",
        True,
        lambda session: (
            session.build_tool_invoked("In plain English.", localization_hints=_build_language_hints("en")),
            None,
        ),
    ),
    "text that is decomposed": (
        "I18N-027",
        True,
        lambda session: (session.build_tool_invoked(unicodedata.normalize("NFD", "Über die Brücke gehen.")), None),
    ),
    "no @context": (
        "ENV-005",
        False,
        lambda session: (session.build_tool_invoked("Out of context.", **{"@context": None}), None),
    ),
    "half of an event": (
        "TERM-008",
        False,
        lambda session: ((event := session.build_errored("Torn.")), json.dumps(event).encode()[:-40]),
    ),
}
_SILENT_RULES: Final = ("ENV-005", "TERM-008")  # nothing of it may be told


@subscriber_scenario(
    1,
    "ENV-005 ENV-011 ENV-044 ENV-053 ENV-054 ENV-063 ENV-066 ENC-004 TERM-008 VER-007 CAP-036 "
    "I18N-009 I18N-017 I18N-027",
    "EXT-031",
)
async def events_of_an_unusual_kind_come(stage: Harness) -> None:
    left = dict(PROBES)
    while left:
        async with stage.run_subscriber() as playing:
            await playing.start_session()
            while left and playing.is_listening:
                what = next(iter(left))
                await _run_probe(stage, playing, what, *left.pop(what))


async def _run_probe(
    stage: Harness, playing: SubscriberRun, what: str, named: str, told: bool, make: ProbeBuilder
) -> None:
    if named == "CAP-036" and not _has_listed_extensions(playing):
        stage.evidence.record_not_applicable(named, "It listed no extension.")
        return
    event, raw = make(playing.session)
    streams = len(playing.producer.streams)
    heard = await playing.send_and_wait(event, None if told else stage.quiet_period, raw)
    lives = await playing.can_continue() and len(playing.producer.streams) == streams
    heard = heard or next(iter(playing.find_announcements(event)), None)
    advice = "Take what is known of an event, ignore the rest of it, and go on listening."
    for rule in named.split():
        if not lives:
            text = f"After an event with {what} it did not go on. {playing.exit_reason} {excerpt(raw or event)}"
            stage.evidence.record_failure(rule, text, advice)
        elif rule in _SILENT_RULES:
            stage.evidence.check(
                rule,
                heard is None,
                f"Nothing of an event with {what} was announced, and it went on.",
                f"An event with {what} was announced: {heard.text if heard is not None else ''}",
                "Do nothing with what is not a whole event.",
            )
        elif told:
            stage.evidence.check(
                rule,
                heard is not None and (named != "ENV-066 EXT-031" or event["summary_normal"].rstrip(".") in heard.text),
                f"An event with {what} was announced: {heard.text if heard is not None else ''}",
                f"An event with {what} was not announced from its summary: {excerpt(raw or event)}",
                advice,
            )
        else:
            stage.evidence.record_pass(rule, f"After an event with {what} it went on.")


def _has_listed_extensions(playing: SubscriberRun) -> bool:
    wishes = [one.message.get("capabilities") for one in playing.find_messages("subscription.request")]
    return any(isinstance(one, dict) and one.get("supported_extensions") for one in wishes)


# -- a connection that breaks --------------------------------------------------------------------------


@subscriber_scenario(1, "SUB-066 TERM-008 SSE-021")
async def it_is_cut_off(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        ledger, session, player = stage.evidence, playing.session, playing.producer
        await playing.start_session()
        if player.address.startswith("stdio:"):
            for rule in ("SUB-066", "TERM-008", "SSE-021"):
                ledger.record_not_applicable(
                    rule, "An agent on pipes is the subscriber's own process; who loses it has lost it."
                )
            return
        before = len(player.streams)
        torn = session.build_tool_invoked("Torn in two.")
        piece = player.frame_event(torn)
        player.drop_connection(piece[: len(piece) // 2])
        await playing.wait_quiet_period()
        early = playing.find_announcements(torn)
        player.send(torn)  # to who is not there
        back = await playing.wait_until(
            lambda: player.current_stream if len(player.streams) > before else None, 3 * stage.patience
        )
        if ledger.check(
            "SUB-066",
            back is not None,
            "It was cut off without a word, and came back.",
            f"It was cut off without a word, and did not come back. {playing.exit_reason}",
            "Connect again when the connection is lost.",
        ):
            told = await playing.wait_for_announcement(torn)
            _check_partial_event(stage, playing, is_early=bool(early), is_announced=told is not None, event=torn)
        _check_stream_headers(stage, playing)


def _check_partial_event(
    stage: Harness, playing: SubscriberRun, *, is_early: bool, is_announced: bool, event: JsonObject
) -> None:
    if not playing.producer.is_raw_http:
        stage.evidence.record_not_applicable("TERM-008", "This transport carries whole messages only.")
        return
    stage.evidence.check(
        "TERM-008",
        is_announced and not is_early and len(playing.find_announcements(event)) == 1,
        "Of half an event nothing was announced; the whole, which came later, was.",
        f"Half an event was acted on, or the whole of it lost: {excerpt(event)}",
        "Act on whole events only.",
    )


def _check_stream_headers(stage: Harness, playing: SubscriberRun) -> None:
    """SSE-021: the headers of a request for a stream. There is no credential here to be shown."""
    if not playing.producer.is_raw_http:
        stage.evidence.record_not_applicable("SSE-021", "This transport is not HTTP with server-sent events.")
        return
    for stream in playing.producer.streams:
        headers = stream.headers or {}
        kept = "text/event-stream" in headers.get("accept", "") and "no-cache" in headers.get("cache-control", "")
        stage.evidence.check(
            "SSE-021",
            kept,
            "It asked for the stream with Accept: text/event-stream and Cache-Control: no-cache.",
            f"It asked with accept: {headers.get('accept')!r} and cache-control: {headers.get('cache-control')!r}.",
            "Send both headers with every request for a stream.",
        )
