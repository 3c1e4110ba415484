"""Scenarios about streams: how events are framed, in which order each reader has them, and who gets none. §8.2, B.1"""

from __future__ import annotations

from typing import Final

from ...runtime.ids import new_id
from ...transports.http.routes import REPLIES
from ..judge import excerpt, excerpt_first
from ..messages import EVENT_TYPE_PREFIX
from ..scenario import ScenarioAborted, producer_scenario
from .harness import LISTENER_CAPABILITIES, REPLIER_CAPABILITIES, FakeSubscriber, Harness
from .observed import ObservedEvent

_FRAME_NAME: Final = "aaep.event"
_CATCH_UP_TIMEOUT: Final = 3.0  # seconds at most for a subscriber that has just connected to be told the state
_UNKNOWN_VERSION: Final = "99.0.0"
_FOREIGN_ORIGIN: Final = "https://elsewhere.example"
_CORS_HEADER: Final = "access-control-allow-origin"


@producer_scenario(1, "", "SSE-009 SSE-011")
async def every_event_is_framed_with_its_id(harness: Harness) -> None:
    """Judge the server-sent events of all scenarios before this one."""
    main_subscriber = harness.require_main_subscriber(allow_unsubscribed=True)
    evidence = harness.evidence
    if not harness.is_http:
        for rule in ("SSE-009", "SSE-011"):
            evidence.record_not_applicable(rule, "The transport does not use server-sent events.")
        return
    events = [event for event in main_subscriber.events if event.canonical_type.startswith(EVENT_TYPE_PREFIX)]
    if not events:
        raise ScenarioAborted("No event was seen.")
    unnamed = [event for event in events if event.frame_name != _FRAME_NAME]
    evidence.check(
        "SSE-009",
        not unnamed,
        f"{len(events)} events had the name {_FRAME_NAME}.",
        _describe_frame(unnamed, "event", [event.frame_name for event in unnamed]),
        f"Send a line 'event: {_FRAME_NAME}' with each event: a browser hears no other.",
    )
    misnumbered = [event for event in events if event.frame_id != event["event_id"]]
    evidence.check(
        "SSE-011",
        not misnumbered,
        f"{len(events)} events had their event_id as id.",
        _describe_frame(misnumbered, "id", [event.frame_id for event in misnumbered]),
        "Send a line 'id:' with the event_id of each event: who is cut off comes back with it.",
    )


def _describe_frame(events: list[ObservedEvent], field: str, values: list[str]) -> str:
    """Return what was wrong with a field of the first of these events; empty if there is none."""
    if not events:
        return ""
    found = f"has the {field} {values[0]!r}" if values[0] else f"has no {field}"
    return f"A server-sent event {found}: {excerpt(events[0].raw)}"


@producer_scenario(1, "", "TR-009")
async def every_reader_has_the_same_order(harness: Harness) -> None:
    """Compare the order of events at all readers of the scenarios before this one."""
    main_subscriber = harness.require_main_subscriber()
    reader_count = 0
    for subscriber in harness.subscribers:
        if "max_events_per_second" in subscriber.terms:  # what is critical may overtake what the rate holds back
            continue
        reader_count += 1
        for session_id in dict.fromkeys(event.session_id for event in subscriber.events):
            displaced = find_displaced_event(main_subscriber, subscriber, session_id)
            if displaced is not None:
                harness.evidence.record_failure(
                    "TR-009",
                    f"A reader had this before what was sent earlier: {excerpt(displaced.raw)}",
                    "Send the events of a session to every reader in the order in which they were emitted.",
                )
    if reader_count:
        harness.evidence.record_pass("TR-009", f"{reader_count} other readers had events in the same order.")


def find_displaced_event(
    main_subscriber: FakeSubscriber, subscriber: FakeSubscriber, session_id: str
) -> ObservedEvent | None:
    """Return the first event of a session that a subscriber had too early, by the order of the main subscriber."""
    places = {event["event_id"]: place for place, event in enumerate(main_subscriber.find_session_events(session_id))}
    received = [event for event in subscriber.find_session_events(session_id) if event["event_id"] in places]
    in_order = sorted(received, key=lambda event: places[event["event_id"]])
    return next((event for event, expected in zip(received, in_order, strict=True) if event is not expected), None)


@producer_scenario(3, "", "SSE-020")
async def a_reader_comes_back_with_an_unknown_id(harness: Harness) -> None:
    """Reconnect with a Last-Event-ID that was never sent, while a prompt is open."""
    main_subscriber = harness.require_main_subscriber()
    if not harness.is_http:
        harness.evidence.record_not_applicable("SSE-020", "The transport has no Last-Event-ID.")
        return
    async with harness.subscribe(**REPLIER_CAPABILITIES) as subscriber:
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        await session.wait_for_event(subscriber, "awaiting.confirmation")
        await subscriber.drop_connection()
        position = len(subscriber.events)
        subscriber.last_event_id = new_id("evt_")
        subscriber.listen()
        summary = await session.wait_for_event(
            subscriber, "state.changed", timeout=min(harness.patience, _CATCH_UP_TIMEOUT), start=position
        )
        reason = subscriber.end_reason
        await main_subscriber.answer_confirmation(prompt.message, "reject")
        await session.wait_for_end(main_subscriber)
        if summary is None and reason:
            raise ScenarioAborted(f"A reader that came back with an id that is not known was turned away. {reason}")
        harness.evidence.check(
            "SSE-020",
            summary is not None,
            "A reader that came back with an id that is not known was told the present state.",
            "A reader that came back with an id that is not known was not told the present state.",
            "When it is not known what a reader has missed, begin with agent.state.changed.",
        )


@producer_scenario(3, "SUB-001", "SUB-004")
async def who_was_granted_nothing_gets_nothing(harness: Harness) -> None:
    """Listen on a subscription that was rejected and on one that was never requested, while a session runs."""
    main_subscriber = harness.require_main_subscriber()
    if not harness.is_shared:
        raise ScenarioAborted("A producer on pipes has one reader, and this takes several.")
    subscribers: dict[str, FakeSubscriber] = {}
    rejected = FakeSubscriber(harness)
    try:
        await rejected.request(LISTENER_CAPABILITIES, aaep_version=_UNKNOWN_VERSION)
        if not rejected.acceptance:
            subscribers["was rejected"] = rejected
        if harness.is_http:
            subscribers["was never requested"] = FakeSubscriber(harness)
            subscribers["was never requested"].subscription_id = new_id("sub_")
        for subscriber in subscribers.values():
            subscriber.listen()
        await harness.wait_quiet_period()  # a channel does not say when it is connected
        session = await harness.start_session("confirm")
        await session.reject_until_end(main_subscriber)
        await harness.wait_quiet_period()
        for description, subscriber in subscribers.items():
            events = subscriber.find_session_events(session.session_id)
            for rule in ("SUB-001", "SUB-004"):
                harness.evidence.check(
                    rule,
                    not events,
                    f"On a subscription that {description} nothing came.",
                    f"On a subscription that {description} this came: {excerpt_first(events)}",
                    "Send events to those whose subscription was accepted, and to nobody else.",
                )
    finally:
        for subscriber in (rejected, *subscribers.values()):
            await subscriber.unsubscribe()


@producer_scenario(2, "")
async def other_websites_cannot_reply(harness: Harness) -> None:
    """Send a useless reply as a web page of another site would, and look at what the answer allows."""
    main_subscriber = harness.require_main_subscriber()
    if not harness.is_http:
        return
    result = await main_subscriber.send_raw(b"{}", Origin=_FOREIGN_ORIGIN)
    allowed_origin = dict(result.headers).get(_CORS_HEADER, "")
    if allowed_origin in ("*", _FOREIGN_ORIGIN):
        # No rule says so; that a web page anywhere can send replies and read the answers is reason enough.
        harness.evidence.add_remark(
            f"Warning: {REPLIES} answers with Access-Control-Allow-Origin: {allowed_origin}, "
            "so a web page of any site can send replies and read the answers. Name the sites that may."
        )
