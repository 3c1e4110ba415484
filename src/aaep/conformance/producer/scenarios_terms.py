"""Scenarios about terms: the handshake, the terms that are granted, and the events sent on them. Chapter 5"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final, NamedTuple

from ...protocol import timestamps
from ...protocol.attend_extension import attend_registry
from ...protocol.audit import Audit
from ...protocol.codec import view_as
from ...protocol.messages import EventFilters
from ...protocol.subscription import compile_filters
from ...transports.base import ChannelLost, ChannelRefused
from ..judge import excerpt, excerpt_first
from ..messages import JsonObject
from ..scenario import ScenarioAborted, producer_scenario
from .harness import LISTENER_CAPABILITIES, REPLIER_CAPABILITIES, FakeSubscriber, Harness
from .observed import SESSION_END_TYPES, ObservedEvent

# Each member as narrow as can be requested.
_NARROW_CAPABILITIES: Final[JsonObject] = {
    "max_events_per_second": 2,
    "preferred_verbosity": "terse",
    "languages": ["en"],
    "supports_confirmation_reply": False,
    "supports_clarification_reply": False,
    "coalesce_boundaries": ["completion"],
    "event_filters": {"include": ["aaep:agent.session.*"], "exclude": ["aaep:agent.session.cancelled"]},
    "supported_conformance_levels": [1],
    "supported_extensions": [],
    "cognitive_load": "low",
    "pace_wpm": 60,
}
_WIDE_CAPABILITIES: Final[JsonObject] = {
    **REPLIER_CAPABILITIES,
    "max_events_per_second": 1000,
    "preferred_verbosity": "detailed",
    "languages": ["en-US", "en", "de", "tlh"],
    "coalesce_boundaries": ["word", "sentence", "paragraph", "completion"],
    "event_filters": {"include": ["aaep:agent.*"], "exclude": []},
    "cognitive_load": "high",
    "pace_wpm": 900,
}
_FUTURE_VERSION: Final = "99.0.0"
_SLOW_RATE: Final = 1  # events per second
_RATE_WINDOW: Final = 1.5  # seconds
_MAX_DELAY: Final = 0.75  # seconds; an event that waits for the slow subscriber waits for a whole second
_MAX_PROMPT_DELAY: Final = 1.0  # seconds
_MAX_TRIES: Final = 3  # a machine that is busy is late once or twice, a producer that waits for a slow reader each time
_FLUSH_PERIOD: Final = 0.2  # seconds before an urgent event in which held events are sent to keep the order
_MERGEABLE_TYPES: Final = ("state.changed", "output.streaming", "progress.updated")
_LIMIT_RULES: Final = "SUB-028 SUB-029 SUB-030 SUB-031 SUB-032 SUB-033 SUB-034"
# The default of an absent member, by the rule that sets it.
_DEFAULTS_BY_RULE: Final[dict[str, tuple[str, Any]]] = {
    "CAP-006": ("preferred_verbosity", "normal"),
    "CAP-010": ("languages", ["en-US"]),
    "CAP-013": ("supports_confirmation_reply", False),
    "CAP-018": ("supports_clarification_reply", False),
    "CAP-021": ("coalesce_boundaries", ["sentence", "completion"]),
    "CAP-025": ("event_filters", {"include": ["aaep:agent.*"], "exclude": []}),
    "CAP-031": ("supported_conformance_levels", [1]),
    "CAP-034": ("supported_extensions", []),
    "CAP-038": ("cognitive_load", "medium"),
    "CAP-044": ("accept_signed_manifests_only", False),
}


async def _request_terms(harness: Harness, capabilities: JsonObject, **members: Any) -> FakeSubscriber:
    """Request a subscription, close it at once, and return the subscriber with the answer."""
    subscriber = FakeSubscriber(harness)
    try:
        await subscriber.request(capabilities, **members)
    finally:
        await subscriber.unsubscribe()
    return subscriber


@producer_scenario(3, "SUB-001 SUB-005 SUB-016 SUB-039 LVL-045 " + _LIMIT_RULES, " ".join(_DEFAULTS_BY_RULE))
async def subscriptions_are_granted_within_what_was_asked(harness: Harness) -> None:
    """Request subscriptions on different terms, and compare them with the terms granted."""
    evidence = harness.evidence
    requests: dict[str, JsonObject] = {
        "nothing at all": {},
        "as little as can be": _NARROW_CAPABILITIES,
        "a great deal": _WIDE_CAPABILITIES,
    }
    for description, capabilities in requests.items():
        try:
            subscriber = await _request_terms(harness, capabilities)
        except ScenarioAborted as error:
            for rule in ("SUB-001", "SUB-005", "SUB-039"):
                evidence.record_failure(
                    rule, f"A request for {description}: {error}", "Answer with accepted or rejected, and no other."
                )
            continue
        outcome = _describe_outcome(subscriber)
        evidence.check(
            "SUB-005",
            outcome,
            f"A request for {description} was {outcome}.",
            f"A request for {description} was answered with neither accepted nor rejected.",
        )
        if not outcome:
            continue
        evidence.record_pass(
            "SUB-001",
            f"A request for {description} was answered: {excerpt(subscriber.acceptance or subscriber.rejection)}",
        )
        evidence.record_pass("SUB-039", f"A request for {description} was not left without an answer.")
        if _is_access_denied(subscriber.rejection):
            evidence.add_remark(
                f"A request for {description} was rejected for want of credentials: {excerpt(subscriber.rejection)}"
            )
            continue
        for rule in ("SUB-016", "LVL-045"):
            evidence.check(
                rule,
                subscriber.acceptance,
                f"A request for {description} was accepted.",
                f"A request for {description} was rejected: {excerpt(subscriber.rejection)}",
                "Accept what can be served, on smaller terms where needed.",
            )
        if subscriber.acceptance:
            _check_granted_terms(harness, subscriber, description, capabilities)


def _describe_outcome(subscriber: FakeSubscriber) -> str:
    if subscriber.acceptance:
        return "accepted"
    return "rejected" if subscriber.rejection else ""


def _is_access_denied(rejection: JsonObject) -> bool:
    return rejection.get("reason_code") in ("authentication_required", "authorization_denied", "rate_limit")


def _check_granted_terms(harness: Harness, subscriber: FakeSubscriber, description: str, requested: JsonObject) -> None:
    """SUB-028 to SUB-035: pass the rules for which the audit finds no term that is wider than requested."""
    audit = Audit(attend_registry())
    request = {"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "aaep-conformance"}
    audit.feed(
        json.dumps({**request, "subscriber_name": "Suite", "capabilities": requested}).encode(),
        via=subscriber.subscription_id,
    )
    findings = audit.feed(json.dumps(subscriber.acceptance).encode(), via=subscriber.subscription_id)
    for rule in _LIMIT_RULES.split():
        if not any(finding.rule == rule for finding in findings):
            harness.evidence.record_pass(rule, f"A request for {description} was granted no more than asked.")
    if requested:
        return
    honored = subscriber.acceptance.get("honored_capabilities")
    terms = honored if isinstance(honored, dict) else {}
    for rule, (member, default) in _DEFAULTS_BY_RULE.items():
        value = terms.get(member, default)
        is_wider = any(f"/honored_capabilities/{member}" == finding.path for finding in findings)
        harness.evidence.check(
            rule,
            not is_wider and (default is not False or value is False),  # neither true nor false is wider
            f"Without {member} in the request it is {json.dumps(value)}.",
            f"Without {member} in the request it became {json.dumps(value)}, and not {json.dumps(default)}.",
        )


@producer_scenario(3, "CAP-048", "SUB-048 TR-031")
async def requests_of_an_unusual_kind(harness: Harness) -> None:
    """Request subscriptions with unknown capabilities, in an unknown version, and at great length."""
    harness.require_main_subscriber()  # a producer that rejects a usual request too does not show why
    evidence = harness.evidence
    unknown_extension = await _request_terms(
        harness, {**LISTENER_CAPABILITIES, "conformance_unknown": {"what": "x" * 100}}
    )
    evidence.check(
        "CAP-048",
        unknown_extension.acceptance,
        "Capabilities of an unknown extension did not matter.",
        f"Capabilities of an unknown extension led to a rejection: {excerpt(unknown_extension.rejection)}",
        "Ignore capabilities of extensions that are not known.",
    )
    try:
        future_version = await _request_terms(harness, LISTENER_CAPABILITIES, aaep_version=_FUTURE_VERSION)
    except ScenarioAborted as error:
        evidence.add_remark(f"A request in version 99.0.0 was not answered as a request. {error}")
    else:
        # §12.5.2: it may be accepted with a version that there is, and with no other.
        if future_version.acceptance.get("aaep_version") == _FUTURE_VERSION:
            evidence.record_failure(
                "SUB-048",
                f"A version that there is not was accepted: {excerpt(future_version.acceptance)}",
                "Reject it with version_unsupported, or name the version that will be spoken.",
            )
        elif future_version.rejection:
            evidence.check(
                "SUB-048",
                future_version.rejection.get("reason_code") == "version_unsupported",
                f"A version that is not known was asked for: {excerpt(future_version.rejection)}",
                f"A version that is not known was rejected for another reason: {excerpt(future_version.rejection)}",
            )
    long_request = await _request_terms(
        harness, {**LISTENER_CAPABILITIES, "conformance_unknown": {"padding": "x" * 65_000}}
    )
    evidence.check(
        "TR-031", long_request.acceptance, "A message of 64 KiB got through.", "A message of 64 KiB was refused."
    )


@producer_scenario(3, "MAN-002")
async def the_manifest_can_be_read(harness: Harness) -> None:
    """Fetch the manifest over the transport."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    uri = main_subscriber.acceptance.get("manifest_uri")
    try:
        raw = await main_subscriber.channel.manifest()
    except (ChannelLost, ChannelRefused) as error:
        if not harness.is_http:
            reason = "The transport has no place for a manifest"
            evidence.record_not_applicable(
                "MAN-002", f"{reason}; manifest_uri is {uri}." if uri else f"{reason} (CF-118)."
            )
            return
        evidence.check("MAN-002", uri, f"manifest_uri is {uri}.", f"There is no manifest: {error}")
        return
    text = raw.decode(errors="replace").strip()
    if not text.startswith("{"):
        evidence.record_pass("MAN-002", f"The manifest is a signed one of {len(raw)} bytes.")
        return
    is_manifest = b'"aaep:producer.manifest"' in raw or b'"agent_id"' in raw
    if is_manifest:
        harness.record(raw, "manifest", from_producer=True)
    evidence.check(
        "MAN-002",
        is_manifest,
        f"The manifest: {excerpt(raw)}",
        f"What is in the manifest's place is none: {excerpt(raw)}",
        "Publish the manifest of §5.10.",
    )


# -- events on the terms granted -------------------------------------------------------------


@producer_scenario(3, "CAP-027 CAP-028 BP-001 SUB-037", "CONF-065")
async def filters_hold_and_critical_events_pass_them(harness: Harness) -> None:
    """Subscribe with filters, and check which events come."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    filters_by_name = {
        "exclude tool.*": {"exclude": ["aaep:agent.tool.*", "aaep:agent.state.changed"]},
        "include session.*": {"include": ["aaep:agent.session.*"], "exclude": []},
        "exclude everything": {"include": ["aaep:agent.*"], "exclude": ["aaep:agent.*"]},
    }
    async with AsyncExitStack() as stack:
        subscribers = {
            name: await stack.enter_async_context(harness.subscribe(**REPLIER_CAPABILITIES, event_filters=filters))
            for name, filters in filters_by_name.items()
        }
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        for name, subscriber in subscribers.items():
            prompt_copy = await session.wait_for_event(
                subscriber, "awaiting.confirmation", timeout=min(harness.patience, 3.0)
            )
            for rule in ("BP-001", "CONF-065"):
                evidence.check(
                    rule,
                    prompt_copy is not None,
                    f"A reader with the filters {name} was asked.",
                    f"A reader with the filters {name} was not asked, though that is critical.",
                    "Critical events pass every filter.",
                )
        await main_subscriber.answer_confirmation(prompt.message)
        await session.wait_for_end(main_subscriber)
        session_ids = [session.session_id]
        try:
            failing_session = await harness.start_session("fail")
            await failing_session.reject_until_end(main_subscriber)
            session_ids.append(failing_session.session_id)
        except ScenarioAborted as error:  # no rule demands that a producer can fail at will
            evidence.add_remark(str(error))
        await harness.wait_quiet_period()
        for name, subscriber in subscribers.items():
            for session_id in session_ids:
                _check_filtering(
                    harness,
                    name,
                    subscriber,
                    subscriber.find_session_events(session_id),
                    main_subscriber.find_session_events(session_id),
                )


def _check_filtering(
    harness: Harness,
    name: str,
    subscriber: FakeSubscriber,
    received: list[ObservedEvent],
    all_events: list[ObservedEvent],
) -> None:
    """Check that a subscriber got no event that its filters hold back, and every other."""
    evidence = harness.evidence
    is_admitted = _build_filter(subscriber)
    received_ids = {event["event_id"] for event in received}
    for event in received:
        if not event.is_critical and not is_admitted(event.canonical_type):
            for rule in ("CAP-028", "SUB-037"):
                evidence.record_failure(
                    rule, f"With the filters {name} this came: {excerpt(event.raw)}", "Hold back what they say."
                )
            return
    missing = [
        event
        for event in all_events
        if (event.is_critical or is_admitted(event.canonical_type))
        and event["event_id"] not in received_ids
        and event.type not in _MERGEABLE_TYPES
    ]
    if missing:
        rule = "BP-001" if missing[0].is_critical else "CAP-027"
        evidence.record_failure(rule, f"With the filters {name} this did not come: {excerpt(missing[0].raw)}")
        return
    for rule in ("CAP-027", "CAP-028", "SUB-037"):
        evidence.record_pass(
            rule, f"With the filters {name} {len(received)} of {len(all_events)} events came, and no others."
        )


def _build_filter(subscriber: FakeSubscriber) -> Callable[[str], bool]:
    """Return the test of an event type by the filters in force, as far as they can be read."""
    filters = subscriber.terms.get("event_filters")
    return compile_filters(view_as(EventFilters, filters if isinstance(filters, dict) else {}, usable=True))


@producer_scenario(3, "CAP-004 BP-004 BP-010 SUB-073 TERM-029", "BP-008 OUT-006 CAP-003 CAP-022")
async def a_slow_reader_gets_less_and_critical_events_at_once(harness: Harness) -> None:
    """Subscribe with a low rate, and check the number of events, their text and the delay of critical ones."""
    main_subscriber = harness.require_main_subscriber()
    slow_terms = {
        **REPLIER_CAPABILITIES,
        "max_events_per_second": _SLOW_RATE,
        "coalesce_boundaries": ["sentence", "completion"],
    }
    async with (
        harness.subscribe(**slow_terms) as slow_subscriber,
        harness.subscribe(**LISTENER_CAPABILITIES, coalesce_boundaries=["completion"]) as patient_subscriber,
    ):
        for _ in range(_MAX_TRIES):
            session = await harness.start_session("talk")
            prompt = await session.wait_for_prompt(main_subscriber)
            slow_prompt = await session.wait_for_event(
                slow_subscriber, "awaiting.confirmation", timeout=min(harness.patience, 5.0)
            )
            await main_subscriber.answer_confirmation(prompt.message)
            await session.wait_for_end(main_subscriber)
            # A reader that the end has not reached may still be sent text.
            finished_subscribers = {
                name: subscriber
                for name, subscriber in (("slow", slow_subscriber), ("patient", patient_subscriber))
                if await session.wait_for_end(subscriber) is not None
            }
            session_id = session.session_id
            prompt_delay = slow_prompt.received_at - prompt.received_at if slow_prompt is not None else None
            pacing = _measure_pacing(slow_subscriber, main_subscriber, session_id, prompt_delay)
            if pacing.is_timely or len(finished_subscribers) < 2:
                break
        _check_prompt_delay(harness, prompt_delay)
        _check_boundaries(harness, patient_subscriber, session_id)
        _check_same_text(harness, finished_subscribers, main_subscriber, session_id)
        _check_rate(harness, pacing)
        if len(finished_subscribers) < 2:
            raise session.make_unfinished_error("its end had not reached every reader")


class _Pacing(NamedTuple):
    """How fast the events of a session came to a subscriber with a low rate, and to another beside it."""

    prompt_delay: float | None  # seconds that the slow one was asked after the other; None if it was not asked
    main_delay: float  # seconds, of the slowest event to the other
    main_count: int  # events in the busiest window of the other
    slow_count: int  # events in the busiest window of the slow one
    first_raw: bytes  # the first of those
    rate: float
    allowed: int  # events in a window of the slow one

    @property
    def is_timely(self) -> bool:
        """Whether nothing came late or too fast, as it may once on a busy machine."""
        is_asked_in_time = self.prompt_delay is not None and self.prompt_delay < _MAX_PROMPT_DELAY
        return is_asked_in_time and self.main_delay <= _MAX_DELAY and self.slow_count <= self.allowed


def _measure_pacing(
    slow_subscriber: FakeSubscriber, main_subscriber: FakeSubscriber, session_id: str, prompt_delay: float | None
) -> _Pacing:
    rate = slow_subscriber.terms.get("max_events_per_second", _SLOW_RATE)
    main_count, _ = _find_busiest_window(main_subscriber.find_session_events(session_id))
    slow_count, first_raw = _find_busiest_window(slow_subscriber.find_session_events(session_id))
    return _Pacing(
        prompt_delay,
        _measure_delay(main_subscriber, session_id),
        main_count,
        slow_count,
        first_raw,
        rate,
        int(rate * _RATE_WINDOW) + 2,  # one more for a saved-up budget, and one for the jitter of the network
    )


def _check_prompt_delay(harness: Harness, delay: float | None) -> None:
    harness.evidence.check(
        "BP-010",
        delay is not None and delay < _MAX_PROMPT_DELAY,
        f"A slow reader was asked {abs(delay or 0.0):.2f} seconds from when a fast one was.",
        "A slow reader was not asked." if delay is None else f"A slow reader was asked {delay:.2f} seconds late.",
        "Critical events are never held.",
    )


def _check_rate(harness: Harness, pacing: _Pacing) -> None:
    if pacing.main_delay > _MAX_DELAY:
        text = f"A reader without a rate got events {pacing.main_delay:.1f} seconds late beside a slow one."
        for rule in ("SUB-073", "CAP-003"):
            harness.evidence.record_failure(rule, text, "Let each subscription have its own budget and its own queue.")
        return
    main_count = pacing.main_count
    if main_count <= pacing.allowed:
        raise ScenarioAborted(
            f"The task 'talk' gave no more than {main_count} events in {_RATE_WINDOW} seconds: too few to tell."
        )
    for rule in ("CAP-004", "BP-004"):
        harness.evidence.check(
            rule,
            pacing.slow_count <= pacing.allowed,
            f"At {pacing.rate} a second at most {pacing.slow_count} events came within {_RATE_WINDOW} seconds, "
            f"where others had {main_count}.",
            f"At {pacing.rate} a second {pacing.slow_count} events came within {_RATE_WINDOW} seconds, "
            f"from {excerpt(pacing.first_raw) if pacing.first_raw else ''}",
            "Keep a budget for each subscription, and merge what it holds back.",
        )
    harness.evidence.record_pass(
        "SUB-073", f"Beside a slow reader another had {main_count} events within {_RATE_WINDOW} seconds."
    )
    harness.evidence.record_pass("CAP-003", f"Without a rate {main_count} events came within {_RATE_WINDOW} seconds.")


def _measure_delay(subscriber: FakeSubscriber, session_id: str) -> float:
    """Return how many seconds more the slowest event took than the fastest of all, whatever the clocks say."""
    delays_by_session = {
        event.session_id: event.received_at - event_time
        for event in subscriber.events
        if (event_time := timestamps.parse_instant(str(event["timestamp"]))) is not None
    }
    delays = [
        event.received_at - event_time
        for event in subscriber.find_session_events(session_id)
        if (event_time := timestamps.parse_instant(str(event["timestamp"]))) is not None
    ]
    return max(delays, default=0.0) - min([*delays_by_session.values(), *delays], default=0.0)


def _find_busiest_window(events: list[ObservedEvent]) -> tuple[int, bytes]:
    """
    Return the highest number of events within a window, and the first event of that window.

    Critical events, the end of the session, and events sent just before one of these are not counted.
    """
    urgent_times = [event.received_at for event in events if event.is_critical or event.type in SESSION_END_TYPES]
    counted_events = [
        event
        for event in events
        if not event.is_critical
        and event.type not in SESSION_END_TYPES
        and not any(0 <= urgent_time - event.received_at < _FLUSH_PERIOD for urgent_time in urgent_times)
    ]
    highest_count, first_raw = 0, b""
    for position, event in enumerate(counted_events):
        count = sum(1 for later in counted_events[position:] if later.received_at - event.received_at < _RATE_WINDOW)
        if count > highest_count:
            highest_count, first_raw = count, event.raw
    return highest_count, first_raw


def _check_boundaries(harness: Harness, subscriber: FakeSubscriber, session_id: str) -> None:
    boundaries = subscriber.terms.get("coalesce_boundaries", [])
    chunks = [event for event in subscriber.find_session_events(session_id) if event.type == "output.streaming"]
    if not chunks:
        raise ScenarioAborted("The task 'talk' wrote no output.")
    misplaced = [
        event for event in chunks if event["coalesce_hint"] is not None and event["coalesce_hint"] not in boundaries
    ]
    for rule in ("TERM-029", "CAP-022", "OUT-006"):
        harness.evidence.check(
            rule,
            not misplaced,
            f"With the boundaries {', '.join(boundaries)} output came in {len(chunks)} chunks, none at another.",
            f"The boundaries are {', '.join(boundaries)}, and this came: {excerpt_first(misplaced)}",
            "Gather output up to a boundary that was negotiated.",
        )


def _check_same_text(
    harness: Harness, subscribers: dict[str, FakeSubscriber], main_subscriber: FakeSubscriber, session_id: str
) -> None:
    def join_chunks(subscriber: FakeSubscriber) -> str:
        return "".join(
            str(event["chunk"] or "")
            for event in subscriber.find_session_events(session_id)
            if event.type == "output.streaming"
        )

    main_text = join_chunks(main_subscriber)
    for name, subscriber in subscribers.items():
        text = join_chunks(subscriber)
        harness.evidence.check(
            "BP-008",
            text == main_text,
            f"The {name} reader had all of the text, {len(main_text)} characters.",
            f"The {name} reader had {len(text)} characters of text and another one {len(main_text)}.",
            "What is held back is merged, never dropped.",
        )


@producer_scenario(3, "SUB-057 SUB-060 SUB-061")
async def terms_are_renegotiated(harness: Harness) -> None:
    """Change the filters of a subscription, and check that they apply from then on."""
    main_subscriber = harness.require_main_subscriber()
    evidence = harness.evidence
    requested = {**REPLIER_CAPABILITIES, "preferred_verbosity": "terse", "coalesce_boundaries": ["completion"]}
    async with harness.subscribe(**requested) as subscriber:
        session = await harness.start_session("confirm")
        prompt = await session.wait_for_prompt(main_subscriber)
        if await session.wait_for_event(subscriber, "awaiting.confirmation") is None:
            raise ScenarioAborted("A reader that was to renegotiate was not asked.")
        await harness.wait_quiet_period()
        filters = {"include": ["aaep:agent.*"], "exclude": ["aaep:agent.tool.*", "aaep:agent.output.*"]}
        answer = await subscriber.renegotiate(event_filters=filters)
        position = len(subscriber.events)
        is_accepted = answer.get("type") == "subscription.accepted"
        evidence.check(
            "SUB-057",
            answer.get("type") in ("subscription.accepted", "subscription.rejected"),
            f"A renegotiation was answered: {excerpt(answer)}",
            f"A renegotiation was not answered with accepted or rejected: {excerpt(answer)}",
        )
        if is_accepted:
            honored = answer.get("honored_capabilities")
            new_terms = honored if isinstance(honored, dict) else {}
            old_terms = subscriber.terms
            changed_members = [
                name
                for name in ("preferred_verbosity", "coalesce_boundaries")
                if new_terms.get(name, old_terms[name]) != old_terms[name]
            ]
            evidence.check(
                "SUB-060",
                not changed_members,
                "What the renegotiation left out stayed as it was.",
                f"What the renegotiation left out was changed: {', '.join(changed_members)}.",
            )
        await main_subscriber.answer_confirmation(prompt.message)
        await session.wait_for_end(main_subscriber)
        await harness.wait_quiet_period()
        late_events = [
            event
            for event in subscriber.events[position:]
            if event.type.startswith(("tool.", "output.")) and not event.is_critical
        ]
        if is_accepted:
            evidence.check(
                "SUB-061",
                not late_events,
                "After a renegotiation nothing came that its filters exclude.",
                f"After a renegotiation that excludes it this came: {excerpt_first(late_events)}",
            )
