"""Scenarios about presentation: which events are announced, when, how often and in which order."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from ...protocol.attend_extension import ATTEND
from ...protocol.fields import CORE_CONTEXT
from ..judge import excerpt
from ..messages import JsonObject
from ..scenario import ScenarioAborted, subscriber_scenario
from .fake_producer import FakeSession
from .harness import Harness, PrintedAnnouncement, SubscriberRun

_ANNOUNCE_ADVICE: Final = "Announce it when it comes."
_EVENTS_BETWEEN: Final = 12  # events between one and its repetition: remembering only the last few is not enough
_CRITICAL_ADVICE: Final = "Announce what is critical as soon as it comes, before whatever else waits."


@subscriber_scenario(1, "LVL-017 LVL-018 OUT-007 STATE-005", "STATE-006")
async def sessions_are_told_from_beginning_to_end(harness: Harness) -> None:
    """Send sessions with states, output and all three endings."""
    async with harness.run_subscriber() as run:
        evidence = harness.evidence
        session = run.session
        await run.start_session()
        evidence.record_pass("LVL-015", f"It heard the first event and announced it: {run.announcements[0].text}")
        for event in (FakeSession().build_started("Reading the post."), session.build_tool_invoked("Buying stamps.")):
            announcement = await run.send_and_wait(event)
            _check_announced(harness, "LVL-017", announcement is not None, event)
        known_announcement = await run.send_and_wait(
            session.build_state_changed("thinking", "It is thinking about stamps.", "calling_tool")
        )
        unknown_state = session.build_state_changed("licking_stamps", "It is licking stamps now.")
        announcement = await run.send_and_wait(
            unknown_state, None if known_announcement is not None else harness.quiet_period
        )
        if known_announcement is not None or announcement is not None:
            for rule in ("STATE-005", "STATE-006"):
                evidence.check(
                    rule,
                    announcement is not None,
                    f"A state that nobody knows was announced: {_text_of(announcement)}",
                    f"A state that is known was announced and this one was not: {excerpt(unknown_state)}",
                    "Announce a state with an unknown name from its summary.",
                )
        await _check_partial_output(harness, run)
        await _check_endings(harness, run)


def _text_of(announcement: PrintedAnnouncement | None) -> str:
    return "" if announcement is None else announcement.text


def _check_announced(
    harness: Harness, rule: str, is_announced: object, event: JsonObject, advice: str = _ANNOUNCE_ADVICE
) -> bool:
    return harness.evidence.check(
        rule, is_announced, f"It was announced: {excerpt(event)}", f"It was not announced: {excerpt(event)}", advice
    )


async def _check_partial_output(harness: Harness, run: SubscriberRun) -> None:
    """OUT-007: send a chunk without a boundary, and then the rest of the sentence."""
    session = run.session
    first = session.build_output_chunk("Dear grandmoth", 0, "none", "out_1")
    early_announcement = await run.send_and_wait(first, 2 * harness.quiet_period)
    rest = session.build_output_chunk("er, I am well.", 14, "completion", "out_1", complete=True)
    announcement = await run.send_and_wait(rest)
    if announcement is None and early_announcement is None:
        harness.evidence.add_remark("It announces no output, so nothing is known of how it does that.")
        harness.evidence.record_not_applicable("OUT-007", "It announces no output.")
        return
    harness.evidence.check(
        "OUT-007",
        early_announcement is None,
        "A piece without a boundary was held until the rest had come.",
        f"A piece that is hinted none was announced by itself: {_text_of(early_announcement)}",
        "Hold a chunk hinted none until one with a boundary comes, or the output is complete.",
    )


async def _check_endings(harness: Harness, run: SubscriberRun) -> None:
    """LVL-018: end three sessions in three ways."""
    texts = {}
    for ending in ("completed", "errored", "cancelled"):
        session = FakeSession()
        run.send(session.build_started())
        event = getattr(session, f"build_{ending}")(f"The letter is {ending}.")
        announcement = await run.send_and_wait(event)
        if _check_announced(harness, "LVL-017", announcement is not None, event) and announcement is not None:
            texts[ending] = announcement.text
    harness.evidence.check(
        "LVL-018",
        len({*texts.values()}) == 3,
        f"They sound different: {'; '.join(texts.values())}",
        f"They cannot be told apart: {'; '.join(texts.values())}",
        "Say of each end which of the three it is.",
    )


# -- critical events -------------------------------------------------------------------------


@subscriber_scenario(1, "TERM-018 TERM-019 EVT-014 BP-003 VER-008")
async def what_is_urgent_is_told_at_once(harness: Harness) -> None:
    """Send critical events one by one."""
    async with harness.run_subscriber() as run:
        evidence = harness.evidence
        session = run.session
        await run.start_session()
        cases = (
            ("EVT-014", FakeSession().build_errored("The roof has come down.", error_code="ROOF_IS_DOWN")),
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
        for rule, event in cases:
            announcement = await run.send_and_wait(event)
            if event["urgency"] == "critical":
                _check_announced(harness, "TERM-018", announcement is not None, event, _CRITICAL_ADVICE)
            if not _check_announced(harness, rule, announcement is not None, event) or announcement is None:
                continue
            if rule in ("EVT-014", "TERM-019"):
                evidence.check(
                    rule,
                    announcement.urgency == "critical",
                    "It was said with the urgency critical.",
                    f"It was said with the urgency {announcement.urgency}: {excerpt(event)}",
                    "Give an announcement the weight of the event.",
                )


def _build_extension_context(prefix: str) -> dict[str, Any]:
    return {"@context": [CORE_CONTEXT, f"https://{prefix}.example/v1"]}


@subscriber_scenario(1, "EVT-016 BP-016 BP-011 HITL-034")
async def much_comes_at_once(harness: Harness) -> None:
    """Send critical events in the middle of a hundred others."""
    async with harness.run_subscriber() as run:
        session = run.session
        await run.start_session()
        critical_events = {
            "EVT-016": FakeSession().build_errored("The cellar is full of water."),
            "BP-016": session.build_event(
                "lights:flood.near", "The river is rising.", "critical", **_build_extension_context("lights")
            ),
            "HITL-034": session.build_confirmation("Open the flood gates."),
        }
        events = [
            session.build_event("progress.updated", f"Step {number}.", "background", progress={"step": number})
            for number in range(1, 98)
        ]
        for position, event in zip((20, 50, 80), critical_events.values(), strict=True):
            events.insert(position, event)
        run.producer.send_batch(events)
        last_announcement = await run.send_and_wait(session.build_tool_invoked("Closing the windows."))
        for rule, event in critical_events.items():
            announcement = await run.wait_for_announcement(event)
            _check_announced(
                harness, rule, announcement is not None, event, "Never leave out what is critical, however much comes."
            )
        harness.evidence.check(
            "BP-011",
            last_announcement is not None and run.is_listening,
            f"After {len(events)} events at once it went on.",
            f"After {len(events)} events at once it did not go on. {run.exit_reason}",
            "Take bursts up to the rate that was agreed on.",
        )


# -- repeated and reordered events -----------------------------------------------------------


@subscriber_scenario(1, "TR-015 TR-012 ENV-028")
async def events_come_twice_and_out_of_order(harness: Harness) -> None:
    """Repeat events, reorder them, and repeat one after a lost connection."""
    async with harness.run_subscriber() as run:
        session = run.session
        await run.start_session()
        event = session.build_tool_invoked("Sealing the envelope.")
        if await run.send_and_wait(event) is None:
            raise ScenarioAborted("It did not announce that a tool was used.")
        run.producer.resend(event)
        run.producer.resend(event)
        run.producer.send_batch(
            session.build_tool_invoked(f"Licking stamp number {number}.") for number in range(_EVENTS_BETWEEN)
        )
        run.producer.resend(event)
        await run.send_and_wait(session.build_tool_invoked("Walking to the post office."))
        _check_announced_once(harness, run, event, "came again, at once and after a dozen others,")
        await _check_order(harness, run)
        if await _drop_and_reconnect(harness, run):
            run.producer.resend(event)
            await run.send_and_wait(session.build_tool_invoked("Walking home."))
            _check_announced_once(harness, run, event, "came again after the connection was lost")


def _check_announced_once(harness: Harness, run: SubscriberRun, event: JsonObject, circumstance: str) -> None:
    count = len(run.find_announcements(event))
    harness.evidence.check(
        "TR-015",
        count == 1,
        f"An event that {circumstance} was announced once.",
        f"An event that {circumstance} was announced {count} times: {excerpt(event)}",
        "Remember the event_id of what came, and drop what comes again.",
    )


async def _drop_and_reconnect(harness: Harness, run: SubscriberRun) -> bool:
    """Drop the connection and wait for another; return whether it came. Another scenario judges that."""
    producer = run.producer
    if producer.address.startswith("stdio:") or producer.current_stream is None:  # there is no connection to drop
        return False
    stream_count = len(producer.streams)
    producer.drop_connection()
    stream = await run.wait_until(
        lambda: producer.current_stream if len(producer.streams) > stream_count else None, 3 * harness.patience
    )
    return stream is not None


async def _check_order(harness: Harness, run: SubscriberRun) -> None:
    """Send events of a session in another order than that of their numbers and times."""
    session = FakeSession()
    events = [session.build_started(sequence_number=0)]
    events += [session.build_tool_invoked(f"Stamp number {number}.", sequence_number=number) for number in range(1, 5)]
    run.producer.send_batch(events[position] for position in (0, 1, 3, 2, 4))
    await run.wait_for_announcement(events[4])
    await run.wait_for_announcement(events[2])
    announced_ids = [
        announcement.event_id
        for announcement in run.announcements
        if announcement.event_id in {event["event_id"] for event in events}
    ]
    is_ordered = announced_ids == [event["event_id"] for event in events]
    has_given_up = any(
        announcement.message.get("reason_code") == "protocol_error"
        for announcement in run.find_messages("subscription.close")
    )
    for rule in ("TR-012", "ENV-028"):
        harness.evidence.check(
            rule,
            is_ordered or has_given_up,
            "What came out of order was announced in order."
            if is_ordered
            else "It ended the subscription: protocol_error.",
            "What came out of order was announced out of order, or not at all.",
            "Order the events of a session by sequence_number and timestamp, waiting a moment for what is missing.",
        )


# -- unusual events --------------------------------------------------------------------------


def _to_indented_json(event: JsonObject) -> bytes:
    return json.dumps(event, indent=2).encode()


def _to_reversed_json(event: JsonObject) -> bytes:
    return json.dumps(dict(reversed(event.items()))).encode()


def _build_language_hints(language: str) -> JsonObject:
    return {"primary_language": language, "text_direction": "ltr"}


ProbeBuilder = Callable[[FakeSession], tuple[JsonObject, bytes | None]]
_NEWER_TYPE: Final = "agent.weather.felt"

# By what is unusual: the rules that it must not end the subscriber, whether it must be announced, and a builder.
_PROBES: Final[dict[str, tuple[str, bool, ProbeBuilder]]] = {
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
            session.build_tool_invoked(
                "Listed.",
                extensions={ATTEND.prefix: {"never_heard_of": [None, {"a": 1}]}},
                **{"@context": [CORE_CONTEXT, ATTEND.context]},
            ),
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
_SILENT_RULES: Final = ("ENV-005", "TERM-008")  # the event must not be announced
_INVALID_RULES: Final = (*_SILENT_RULES, "ENV-011", "VER-007", "CAP-036")  # it is wrong, or of a version yet to come


@subscriber_scenario(
    1,
    "ENV-005 ENV-011 ENV-044 ENV-053 ENV-054 ENV-063 ENV-066 ENC-004 TERM-008 VER-007 CAP-036 "
    "I18N-009 I18N-017 I18N-027",
    "EXT-031",
)
async def events_of_an_unusual_kind_come(harness: Harness) -> None:
    """Send unusual events, with a new run after each that ends the subscriber."""
    probes = dict(_PROBES)
    while probes:
        async with harness.run_subscriber() as run:
            await run.start_session()
            while probes and run.is_listening:
                description = next(iter(probes))
                await _run_probe(harness, run, description, *probes.pop(description))


async def _run_probe(
    harness: Harness, run: SubscriberRun, description: str, rules: str, is_announcement_due: bool, build: ProbeBuilder
) -> None:
    if rules == "CAP-036" and not _has_listed_extensions(run):
        harness.evidence.record_not_applicable(rules, "It listed no extension.")
        return
    event, raw = build(run.session)
    stream_count = len(run.producer.streams)
    announcement = await run.send_and_wait(
        event, None if is_announcement_due else harness.quiet_period, raw, valid=rules not in _INVALID_RULES
    )
    has_continued = await run.check_continues() and len(run.producer.streams) == stream_count
    announcement = announcement or next(iter(run.find_announcements(event)), None)
    advice = "Take what is known of an event, ignore the rest of it, and go on listening."
    for rule in rules.split():
        if not has_continued:
            text = f"After an event with {description} it did not go on. {run.exit_reason} {excerpt(raw or event)}"
            harness.evidence.record_failure(rule, text, advice)
        elif rule in _SILENT_RULES:
            harness.evidence.check(
                rule,
                announcement is None,
                f"Nothing of an event with {description} was announced, and it went on.",
                f"An event with {description} was announced: {_text_of(announcement)}",
                "Do nothing with what is not a whole event.",
            )
        elif is_announcement_due:
            harness.evidence.check(
                rule,
                announcement is not None
                and (rules != "ENV-066 EXT-031" or event["summary_normal"].rstrip(".") in announcement.text),
                f"An event with {description} was announced: {_text_of(announcement)}",
                f"An event with {description} was not announced from its summary: {excerpt(raw or event)}",
                advice,
            )
        else:
            harness.evidence.record_pass(rule, f"After an event with {description} it went on.")


def _has_listed_extensions(run: SubscriberRun) -> bool:
    for request in run.find_messages("subscription.request"):
        capabilities = request.message.get("capabilities")
        if isinstance(capabilities, dict) and capabilities.get("supported_extensions"):
            return True
    return False


# -- lost connections ------------------------------------------------------------------------


@subscriber_scenario(1, "SUB-066 TERM-008 SSE-021")
async def it_is_cut_off(harness: Harness) -> None:
    """Drop the connection in the middle of an event, and wait for the subscriber to reconnect."""
    async with harness.run_subscriber() as run:
        evidence = harness.evidence
        session = run.session
        producer = run.producer
        await run.start_session()
        if producer.address.startswith("stdio:"):
            for rule in ("SUB-066", "TERM-008", "SSE-021"):
                evidence.record_not_applicable(
                    rule, "An agent on pipes is the subscriber's own process; who loses it has lost it."
                )
            return
        stream_count = len(producer.streams)
        event = session.build_tool_invoked("Torn in two.")
        piece = producer.frame_event(event)
        producer.drop_connection(piece[: len(piece) // 2])
        await run.wait_quiet_period()
        early_announcements = run.find_announcements(event)
        producer.send(event)  # there is no stream now: it goes to the next one
        stream = await run.wait_until(
            lambda: producer.current_stream if len(producer.streams) > stream_count else None, 3 * harness.patience
        )
        if evidence.check(
            "SUB-066",
            stream is not None,
            "It was cut off without a word, and came back.",
            f"It was cut off without a word, and did not come back. {run.exit_reason}",
            "Connect again when the connection is lost.",
        ):
            announcement = await run.wait_for_announcement(event)
            _check_partial_event(
                harness, run, is_early=bool(early_announcements), is_announced=announcement is not None, event=event
            )
        _check_stream_headers(harness, run)


def _check_partial_event(
    harness: Harness, run: SubscriberRun, *, is_early: bool, is_announced: bool, event: JsonObject
) -> None:
    if not run.producer.is_raw_http:
        harness.evidence.record_not_applicable("TERM-008", "This transport carries whole messages only.")
        return
    harness.evidence.check(
        "TERM-008",
        is_announced and not is_early and len(run.find_announcements(event)) == 1,
        "Of half an event nothing was announced; the whole, which came later, was.",
        f"Half an event was acted on, or the whole of it lost: {excerpt(event)}",
        "Act on whole events only.",
    )


def _check_stream_headers(harness: Harness, run: SubscriberRun) -> None:
    """SSE-021: check the headers of the requests for a stream; the suite asks for no credential."""
    if not run.producer.is_raw_http:
        harness.evidence.record_not_applicable("SSE-021", "This transport is not HTTP with server-sent events.")
        return
    for stream in run.producer.streams:
        headers = stream.headers or {}
        is_valid = "text/event-stream" in headers.get("accept", "") and "no-cache" in headers.get("cache-control", "")
        harness.evidence.check(
            "SSE-021",
            is_valid,
            "It asked for the stream with Accept: text/event-stream and Cache-Control: no-cache.",
            f"It asked with accept: {headers.get('accept')!r} and cache-control: {headers.get('cache-control')!r}.",
            "Send both headers with every request for a stream.",
        )
