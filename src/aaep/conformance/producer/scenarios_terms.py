"""Scenarios about terms: the handshake, what was honoured, and what is sent on those terms. Chapter 5"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from ...protocol import timestamps
from ...protocol.attend_extension import attend_registry
from ...protocol.audit import Audit
from ...protocol.codec import view_as
from ...protocol.messages import EventFilters
from ...protocol.subscription import compile_filters
from ...transports.base import ChannelLost, ChannelRefused
from ..judge import excerpt
from ..scenario import scenario
from .harness import (
    LISTENER_CAPABILITIES,
    REPLIER_CAPABILITIES,
    SESSION_END_TYPES,
    FakeSubscriber,
    Harness,
    JsonObject,
    ObservedEvent,
    ScenarioAborted,
)
from .scenarios_consent import require_main_subscriber

# Each member as narrow as can be asked for.
NARROW_CAPABILITIES: Final[JsonObject] = {
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
WIDE_CAPABILITIES: Final[JsonObject] = {
    **REPLIER_CAPABILITIES,
    "max_events_per_second": 1000,
    "preferred_verbosity": "detailed",
    "languages": ["en-US", "en", "de", "tlh"],
    "coalesce_boundaries": ["word", "sentence", "paragraph", "completion"],
    "event_filters": {"include": ["aaep:agent.*"], "exclude": []},
    "cognitive_load": "high",
    "pace_wpm": 900,
}
_LIMIT_RULES: Final = "SUB-028 SUB-029 SUB-030 SUB-031 SUB-032 SUB-033 SUB-034"
# What an absent member means, by the rule that says so.
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


async def _request_terms(stage: Harness, capabilities: JsonObject, **members: Any) -> FakeSubscriber:
    """A reader that has asked for terms and listens to nothing."""
    reader = FakeSubscriber(stage)
    try:
        await reader.request(capabilities, **members)
    finally:
        await reader.unsubscribe()
    return reader


@scenario(3, "SUB-001 SUB-005 SUB-016 SUB-039 LVL-045 " + _LIMIT_RULES, " ".join(_DEFAULTS_BY_RULE))
async def subscriptions_are_granted_within_what_was_asked(stage: Harness) -> None:
    ledger = stage.evidence
    requests: dict[str, JsonObject] = {
        "nothing at all": {},
        "as little as can be": NARROW_CAPABILITIES,
        "a great deal": WIDE_CAPABILITIES,
    }
    for name, capabilities in requests.items():
        try:
            reader = await _request_terms(stage, capabilities)
        except ScenarioAborted as error:
            for rule in ("SUB-001", "SUB-005", "SUB-039"):
                ledger.record_failure(
                    rule, f"A request for {name}: {error}", "Answer with accepted or rejected, and no other."
                )
            continue
        kind = "accepted" if reader.acceptance else "rejected" if reader.rejection else ""
        ledger.check(
            "SUB-005",
            kind,
            f"A request for {name} was {kind}.",
            f"A request for {name} was answered with neither accepted nor rejected.",
        )
        if not kind:
            continue
        ledger.record_pass(
            "SUB-001", f"A request for {name} was answered: {excerpt(reader.acceptance or reader.rejection)}"
        )
        ledger.record_pass("SUB-039", f"A request for {name} was not left without an answer.")
        if _is_access_denied(reader.rejection):
            ledger.add_remark(f"A request for {name} was rejected for want of credentials: {excerpt(reader.rejection)}")
            continue
        for rule in ("SUB-016", "LVL-045"):
            ledger.check(
                rule,
                reader.acceptance,
                f"A request for {name} was accepted.",
                f"A request for {name} was rejected: {excerpt(reader.rejection)}",
                "Accept what can be served, on smaller terms where needed.",
            )
        if reader.acceptance:
            _check_granted_terms(stage, reader, name, capabilities)


def _is_access_denied(rejected: JsonObject) -> bool:
    return rejected.get("reason_code") in ("authentication_required", "authorization_denied", "rate_limit")


def _check_granted_terms(stage: Harness, reader: FakeSubscriber, name: str, asked: JsonObject) -> None:
    """SUB-028 to SUB-035: the audit says where terms are wider than asked; what it does not name was kept."""
    audit = Audit(attend_registry())
    request = {"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "aaep-conformance"}
    audit.feed(
        json.dumps({**request, "subscriber_name": "Suite", "capabilities": asked}).encode(), via=reader.subscription_id
    )
    found = audit.feed(json.dumps(reader.acceptance).encode(), via=reader.subscription_id)
    for rule in _LIMIT_RULES.split():
        if not any(one.rule == rule for one in found):
            stage.evidence.record_pass(rule, f"A request for {name} was granted no more than asked.")
    if asked:
        return
    honoured = reader.acceptance.get("honored_capabilities")
    terms = honoured if isinstance(honoured, dict) else {}
    for rule, (member, default) in _DEFAULTS_BY_RULE.items():
        got = terms.get(member, default)
        wider = any(f"/honored_capabilities/{member}" == one.path for one in found)
        stage.evidence.check(
            rule,
            not wider and (default is not False or got is False),  # of yes and no neither is more
            f"Without {member} in the request it is {json.dumps(got)}.",
            f"Without {member} in the request it became {json.dumps(got)}, and not {json.dumps(default)}.",
        )


@scenario(3, "CAP-048", "SUB-048 TR-031")
async def requests_of_an_unusual_kind(stage: Harness) -> None:
    require_main_subscriber(stage)  # who rejects a usual request as well does not show why
    ledger = stage.evidence
    strange = await _request_terms(stage, {**LISTENER_CAPABILITIES, "conformance_unknown": {"what": "x" * 100}})
    ledger.check(
        "CAP-048",
        strange.acceptance,
        "Capabilities of an unknown extension did not matter.",
        f"Capabilities of an unknown extension led to a rejection: {excerpt(strange.rejection)}",
        "Ignore capabilities of extensions that are not known.",
    )
    try:
        future = await _request_terms(stage, LISTENER_CAPABILITIES, aaep_version="99.0.0")
    except ScenarioAborted as error:
        ledger.add_remark(f"A request in version 99.0.0 was not answered as a request. {error}")
    else:
        if future.rejection:
            ledger.check(
                "SUB-048",
                future.rejection.get("reason_code") == "version_unsupported",
                f"A version that is not known was asked for: {excerpt(future.rejection)}",
                f"A version that is not known was rejected for another reason: {excerpt(future.rejection)}",
            )
    long = await _request_terms(stage, {**LISTENER_CAPABILITIES, "conformance_unknown": {"padding": "x" * 65_000}})
    ledger.check("TR-031", long.acceptance, "A message of 64 KiB got through.", "A message of 64 KiB was refused.")


@scenario(3, "MAN-002")
async def the_manifest_can_be_read(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    uri = main.acceptance.get("manifest_uri")
    try:
        raw = await main.channel.manifest()
    except (ChannelLost, ChannelRefused) as error:
        if not stage.is_http:
            why = "The transport has no place for a manifest"
            ledger.record_not_applicable("MAN-002", f"{why}; manifest_uri is {uri}." if uri else f"{why} (CF-118).")
            return
        ledger.check("MAN-002", uri, f"manifest_uri is {uri}.", f"There is no manifest: {error}")
        return
    text = raw.decode(errors="replace").strip()
    if not text.startswith("{"):
        ledger.record_pass("MAN-002", f"The manifest is a signed one of {len(raw)} bytes.")
        return
    named = b'"aaep:producer.manifest"' in raw or b'"agent_id"' in raw
    if named:
        stage.record(raw, "manifest", from_producer=True)
    ledger.check(
        "MAN-002",
        named,
        f"The manifest: {excerpt(raw)}",
        f"What is in the manifest's place is none: {excerpt(raw)}",
        "Publish the manifest of §5.10.",
    )


# -- what is sent on those terms -----------------------------------------------------------------------


@scenario(3, "CAP-027 CAP-028 BP-001 SUB-037", "CONF-065")
async def filters_hold_and_critical_events_pass_them(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    terms = {
        "exclude tool.*": {"exclude": ["aaep:agent.tool.*", "aaep:agent.state.changed"]},
        "include session.*": {"include": ["aaep:agent.session.*"], "exclude": []},
        "exclude everything": {"include": ["aaep:agent.*"], "exclude": ["aaep:agent.*"]},
    }
    async with AsyncExitStack() as stack:
        readers = {
            name: await stack.enter_async_context(stage.subscribe(**REPLIER_CAPABILITIES, event_filters=filters))
            for name, filters in terms.items()
        }
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(main)
        for name, reader in readers.items():
            got = await run.wait_for_event(reader, "awaiting.confirmation", timeout=min(stage.patience, 3.0))
            for rule in ("BP-001", "CONF-065"):
                ledger.check(
                    rule,
                    got is not None,
                    f"A reader with the filters {name} was asked.",
                    f"A reader with the filters {name} was not asked, though that is critical.",
                    "Critical events pass every filter.",
                )
        await main.answer_confirmation(prompt.message)
        await run.wait_for_end(main)
        sessions = [run.session_id]
        try:
            failing = await stage.start_session("fail")
            await failing.reject_until_end(main)
            sessions.append(failing.session_id)
        except ScenarioAborted as error:  # that one fails at will is not demanded
            ledger.add_remark(str(error))
        await stage.wait_quiet_period()
        for name, reader in readers.items():
            for session in sessions:
                _check_filtering(
                    stage, name, reader, reader.find_session_events(session), main.find_session_events(session)
                )


def _check_filtering(
    stage: Harness, name: str, reader: FakeSubscriber, got: list[ObservedEvent], everything: list[ObservedEvent]
) -> None:
    """Nothing too much, and nothing too little."""
    ledger = stage.evidence
    admitted = _build_filter(reader)
    ids = {one["event_id"] for one in got}
    for one in got:
        if not one.is_critical and not admitted(str(one["type"])):
            for rule in ("CAP-028", "SUB-037"):
                ledger.record_failure(
                    rule, f"With the filters {name} this came: {excerpt(one.raw)}", "Hold back what they say."
                )
            return
    lost = [
        one
        for one in everything
        if (one.is_critical or admitted(str(one["type"])))
        and one["event_id"] not in ids
        and one.type not in ("state.changed", "output.streaming", "progress.updated")  # these may be merged
    ]
    if lost:
        rule = "BP-001" if lost[0].is_critical else "CAP-027"
        ledger.record_failure(rule, f"With the filters {name} this did not come: {excerpt(lost[0].raw)}")
        return
    for rule in ("CAP-027", "CAP-028", "SUB-037"):
        ledger.record_pass(rule, f"With the filters {name} {len(got)} of {len(everything)} events came, and no others.")


def _build_filter(reader: FakeSubscriber) -> Callable[[str], bool]:
    """What the filters of a reader's terms admit, as far as they can be read."""
    given = reader.terms.get("event_filters")
    return compile_filters(view_as(EventFilters, given if isinstance(given, dict) else {}, usable=True))


_SLOW_RATE: Final = 1
_RATE_WINDOW: Final = 1.5  # seconds
_MAX_DELAY: Final = 0.75  # seconds; what waits for the slow reader's beat waits for a whole second


@scenario(3, "CAP-004 BP-004 BP-010 SUB-073 TERM-029", "BP-008 OUT-006 CAP-003 CAP-022")
async def a_slow_reader_gets_less_and_critical_events_at_once(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    slow_terms = {
        **REPLIER_CAPABILITIES,
        "max_events_per_second": _SLOW_RATE,
        "coalesce_boundaries": ["sentence", "completion"],
    }
    async with (
        stage.subscribe(**slow_terms) as slow,
        stage.subscribe(**LISTENER_CAPABILITIES, coalesce_boundaries=["completion"]) as patient,
    ):
        run = await stage.start_session("talk")
        prompt = await run.wait_for_prompt(main)
        same = await run.wait_for_event(slow, "awaiting.confirmation", timeout=min(stage.patience, 5.0))
        delay = same.received_at - prompt.received_at if same is not None else None
        ledger.check(
            "BP-010",
            delay is not None and delay < 1.0,
            f"A slow reader was asked {abs(delay or 0.0):.2f} seconds from when a fast one was.",
            "A slow reader was not asked." if delay is None else f"A slow reader was asked {delay:.2f} seconds late.",
            "Critical events are never held.",
        )
        await main.answer_confirmation(prompt.message)
        await run.wait_for_end(main)
        await run.wait_for_end(slow)
        await run.wait_for_end(patient)
        heard = run.session_id
        _check_rate(stage, slow, main, heard)
        _check_boundaries(stage, patient, heard)
        _check_same_text(stage, {"slow": slow, "patient": patient}, main, heard)


def _check_rate(stage: Harness, slow: FakeSubscriber, main: FakeSubscriber, session: str) -> None:
    rate = slow.terms.get("max_events_per_second", _SLOW_RATE)
    allowed = int(rate * _RATE_WINDOW) + 2  # one that was saved up, and one for the way here
    offered, _ = _find_busiest_window(main.find_session_events(session))
    most, sample = _find_busiest_window(slow.find_session_events(session))
    late = _measure_delay(main, session)
    if late > _MAX_DELAY:
        text = f"A reader without a rate got events {late:.1f} seconds late beside a slow one."
        for rule in ("SUB-073", "CAP-003"):
            stage.evidence.record_failure(rule, text, "Let each subscription have its own budget and its own queue.")
        return
    if offered <= allowed:
        raise ScenarioAborted(
            f"The task 'talk' gave no more than {offered} events in {_RATE_WINDOW} seconds: too few to tell."
        )
    for rule in ("CAP-004", "BP-004"):
        stage.evidence.check(
            rule,
            most <= allowed,
            f"At {rate} a second at most {most} events came within {_RATE_WINDOW} seconds, where others had {offered}.",
            f"At {rate} a second {most} events came within {_RATE_WINDOW} seconds, "
            f"from {excerpt(sample) if sample else ''}",
            "Keep a budget for each subscription, and merge what it holds back.",
        )
    stage.evidence.record_pass(
        "SUB-073", f"Beside a slow reader another had {offered} events within {_RATE_WINDOW} seconds."
    )
    stage.evidence.record_pass("CAP-003", f"Without a rate {offered} events came within {_RATE_WINDOW} seconds.")


def _measure_delay(reader: FakeSubscriber, session: str) -> float:
    """How much longer its events took than the fastest, in seconds; so that clocks need not agree."""
    taken = {
        one.session_id: one.received_at - moment
        for one in reader.events
        if (moment := timestamps.parse_instant(str(one["timestamp"]))) is not None
    }
    ours = [
        one.received_at - moment
        for one in reader.find_session_events(session)
        if (moment := timestamps.parse_instant(str(one["timestamp"]))) is not None
    ]
    return max(ours, default=0.0) - min([*taken.values(), *ours], default=0.0)


def _find_busiest_window(events: list[ObservedEvent]) -> tuple[int, bytes]:
    """The most that came within a window, but for what is critical, ends a session, or had to go before those."""
    urgent = [one.received_at for one in events if one.is_critical or one.type in SESSION_END_TYPES]
    rest = [
        one
        for one in events
        if not one.is_critical
        and one.type not in SESSION_END_TYPES
        and not any(0 <= at - one.received_at < 0.2 for at in urgent)
    ]
    most, sample = 0, b""
    for place, one in enumerate(rest):
        count = sum(1 for other in rest[place:] if other.received_at - one.received_at < _RATE_WINDOW)
        if count > most:
            most, sample = count, one.raw
    return most, sample


def _check_boundaries(stage: Harness, reader: FakeSubscriber, session: str) -> None:
    wanted = reader.terms.get("coalesce_boundaries", [])
    chunks = [one for one in reader.find_session_events(session) if one.type == "output.streaming"]
    if not chunks:
        raise ScenarioAborted("The task 'talk' wrote no output.")
    wrong = [one for one in chunks if one["coalesce_hint"] is not None and one["coalesce_hint"] not in wanted]
    for rule in ("TERM-029", "CAP-022", "OUT-006"):
        stage.evidence.check(
            rule,
            not wrong,
            f"With the boundaries {', '.join(wanted)} output came in {len(chunks)} chunks, none at another.",
            f"The boundaries are {', '.join(wanted)}, and this came: {excerpt(wrong[0].raw) if wrong else ''}",
            "Gather output up to a boundary that was negotiated.",
        )


def _check_same_text(stage: Harness, readers: dict[str, FakeSubscriber], main: FakeSubscriber, session: str) -> None:
    def join_chunks(reader: FakeSubscriber) -> str:
        return "".join(
            str(one["chunk"] or "") for one in reader.find_session_events(session) if one.type == "output.streaming"
        )

    whole = join_chunks(main)
    for name, reader in readers.items():
        got = join_chunks(reader)
        stage.evidence.check(
            "BP-008",
            got == whole,
            f"The {name} reader had all of the text, {len(whole)} characters.",
            f"The {name} reader had {len(got)} characters of text and another one {len(whole)}.",
            "What is held back is merged, never dropped.",
        )


@scenario(3, "SUB-057 SUB-060 SUB-061")
async def terms_are_renegotiated(stage: Harness) -> None:
    main, ledger = require_main_subscriber(stage), stage.evidence
    asked = {**REPLIER_CAPABILITIES, "preferred_verbosity": "terse", "coalesce_boundaries": ["completion"]}
    async with stage.subscribe(**asked) as reader:
        run = await stage.start_session("confirm")
        prompt = await run.wait_for_prompt(main)
        if await run.wait_for_event(reader, "awaiting.confirmation") is None:
            raise ScenarioAborted("A reader that was to renegotiate was not asked.")
        await stage.wait_quiet_period()
        filters = {"include": ["aaep:agent.*"], "exclude": ["aaep:agent.tool.*", "aaep:agent.output.*"]}
        answer = await reader.renegotiate(event_filters=filters)
        place = len(reader.events)
        accepted = answer.get("type") == "subscription.accepted"
        ledger.check(
            "SUB-057",
            answer.get("type") in ("subscription.accepted", "subscription.rejected"),
            f"A renegotiation was answered: {excerpt(answer)}",
            f"A renegotiation was not answered with accepted or rejected: {excerpt(answer)}",
        )
        if accepted:
            honoured = answer.get("honored_capabilities")
            new = honoured if isinstance(honoured, dict) else {}
            old = reader.terms
            changed = [
                name for name in ("preferred_verbosity", "coalesce_boundaries") if new.get(name, old[name]) != old[name]
            ]
            ledger.check(
                "SUB-060",
                not changed,
                "What the renegotiation left out stayed as it was.",
                f"What the renegotiation left out was changed: {', '.join(changed)}.",
            )
        await main.answer_confirmation(prompt.message)
        await run.wait_for_end(main)
        await stage.wait_quiet_period()
        late = [
            one
            for one in reader.iter_events(place)
            if one.type.startswith(("tool.", "output.")) and not one.is_critical
        ]
        if accepted:
            ledger.check(
                "SUB-061",
                not late,
                "After a renegotiation nothing came that its filters exclude.",
                f"After a renegotiation that excludes it this came: {excerpt(late[0].raw) if late else ''}",
            )
