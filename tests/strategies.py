"""Hypothesis strategies: valid messages of every type, made from nothing but the protocol's own limits."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from aaep.protocol.events import CORE_EVENTS
from aaep.protocol.fields import CORE_CONTEXT, MAX_SAFE_INTEGER

Objects = st.SearchStrategy[dict[str, Any]]

# -- scalars -------------------------------------------------------------------------------

texts = st.text(min_size=1, max_size=40)  # without surrogates, which are no characters
_token = st.from_regex(r"[A-Za-z0-9]{1,64}", fullmatch=True)


def ids(prefix: str) -> st.SearchStrategy[str]:
    return _token.map(lambda rest: f"{prefix}_{rest}")


uris = st.sampled_from(["https://bank.example/a?b=c#d", "urn:x:1", "mailto:a@bank.example", "tel:+123"])
tags = st.sampled_from(["en", "en-US", "yo", "ar-EG", "zh-Hant-TW", "sr-Latn-RS", "x-own"])
versions = st.sampled_from(["1.0.0", "0.1.0-draft", "1.2.3"])
timestamps = st.datetimes().map(lambda moment: moment.isoformat(timespec="milliseconds") + "Z")
counts = st.integers(0, MAX_SAFE_INTEGER)
steps = st.integers(1, MAX_SAFE_INTEGER)
durations = st.integers(0, 86_400_000)
timeouts = st.integers(1, 86_400)
lines = texts
words = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
numbers = st.one_of(st.integers(-(2**53) + 1, 2**53 - 1), st.floats(allow_nan=False, allow_infinity=False, width=32))
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=12))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
free = st.dictionaries(st.text(max_size=8), values, max_size=3)
extensions = st.dictionaries(words, free, max_size=2)
risks = st.sampled_from(["low", "medium", "high"])
boundaries = st.sampled_from(["none", "word", "sentence", "paragraph", "completion"])


def many(inner: st.SearchStrategy[Any], least: int = 0, most: int = 4) -> st.SearchStrategy[list[Any]]:
    return st.lists(inner, min_size=least, max_size=most, unique_by=lambda one: json.dumps(one, sort_keys=True))


# -- objects -------------------------------------------------------------------------------

producers: Objects = st.fixed_dictionaries(
    {"agent_id": texts},
    optional={"agent_version": texts, "agent_name": texts, "model": texts, "manifest_uri": uris},
)
hints: Objects = st.fixed_dictionaries(
    {},
    optional={
        "primary_language": tags,
        "text_direction": st.sampled_from(["ltr", "rtl", "auto"]),
        "available_languages": many(tags),
        "fallback_chain": many(tags),
        "script": st.sampled_from(["Latn", "Arab"]),
        "calendar": texts,
    },
)
progress: Objects = st.fixed_dictionaries(
    {},
    optional={
        "percent": st.one_of(st.integers(0, 100), st.floats(0, 100, allow_nan=False)),
        "step": steps,
        "total_steps": steps,
        "description": lines,
    },
).filter(bool)
choices = many(st.fixed_dictionaries({"value": texts, "label": texts}), 2)
summaries = {"summary_terse": texts, "summary_normal": texts, "summary_detailed": texts}

_ENVELOPE: dict[str, st.SearchStrategy[Any]] = {
    "@context": st.one_of(st.just(CORE_CONTEXT), many(uris, 0, 2).map(lambda more: [CORE_CONTEXT, *more])),
    "event_id": ids("evt"),
    "session_id": ids("sess"),
    "timestamp": timestamps,
    "producer": producers,
}
_MAY: dict[str, st.SearchStrategy[Any]] = {
    "aaep_version": versions,
    "sequence_number": counts,
    "verbosity": st.sampled_from(["terse", "normal", "detailed"]),
    "urgency": st.sampled_from(["background", "normal", "critical"]),
    "localization_hints": hints,
    "correlation_id": st.text(max_size=12),
    "extensions": extensions,
}
_CRITICAL = {"urgency": st.just("critical")}

Payload = tuple[dict[str, st.SearchStrategy[Any]], dict[str, st.SearchStrategy[Any]]]
_NORMAL = {"summary_normal": texts}
_PAYLOADS: dict[str, Payload] = {
    "session.started": (
        _NORMAL,
        {
            **summaries,
            "expected_duration_ms": durations,
            "requested_by": texts,
            "request_text": st.text(max_size=20),
            "tools_available": many(texts),
        },
    ),
    "session.completed": (
        _NORMAL,
        {
            **summaries,
            "duration_ms": durations,
            "tool_invocations_count": counts,
            "output_summary": st.text(max_size=20),
            "result_uri": uris,
        },
    ),
    "session.errored": (
        {
            **_NORMAL,
            **_CRITICAL,
            "error_category": st.sampled_from(["transient", "permanent", "requires_user", "unknown"]),
        },
        {
            **summaries,
            "error_code": st.sampled_from(["E_NET", "NO"]),
            "error_uri": uris,
            "recoverable": st.booleans(),
            "remediation_hint": lines,
        },
    ),
    "session.cancelled": (
        {**_NORMAL, "cancelled_by": st.sampled_from(["user", "producer", "timeout", "system"])},
        {**summaries, "cancellation_reason": st.just("user_request"), "partial_result": st.text(max_size=20)},
    ),
    "state.changed": (
        {"from_state": texts, "to_state": texts},
        {**summaries, "expected_duration_ms": durations},
    ),
    "progress.updated": ({"progress": progress}, {**summaries, "eta_ms": durations}),
    "tool.invoked": (
        {**_NORMAL, "tool": st.sampled_from(["transfer", "_bank.v2-check"])},
        {
            **summaries,
            "tool_call_id": ids("call"),
            "description": lines,
            "args_summary": st.text(max_size=20),
            "expected_duration_ms": durations,
            "risk_level": risks,
            "irreversible": st.booleans(),
        },
    ),
    "tool.completed": (
        {"tool": st.just("transfer"), "status": st.sampled_from(["success", "error", "timeout"])},
        {**summaries, "tool_call_id": ids("call"), "duration_ms": durations, "error_message": lines},
    ),
    "output.streaming": (
        {"chunk": st.text(max_size=40), "position": counts, "complete": st.booleans()},
        {
            "coalesce_hint": boundaries,
            "output_id": ids("out"),
            "content_type": st.sampled_from(["text/plain", "text/markdown"]),
            "language": tags,
        },
    ),
    "awaiting.confirmation": (
        {
            **_CRITICAL,
            "action": texts,
            "consequence": texts,
            "reply_token": ids("rpl"),
            "timeout_seconds": timeouts,
            "default_decision": st.sampled_from(["accept", "reject"]),
        },
        {
            **summaries,
            "risk_level": risks,
            "irreversible": st.booleans(),
            "reversibility": st.sampled_from(["reversible", "reversible_with_effort", "irreversible"]),
            "allowed_replies": many(texts, 1),
            "extra_context": free,
        },
    ),
    "awaiting.clarification": (
        {**_CRITICAL, "question": texts, "reply_token": ids("rpl"), "timeout_seconds": timeouts},
        {
            **summaries,
            "accepted_response_kinds": many(st.sampled_from(["freetext", "yes_no", "multiple_choice", "numeric"]), 1),
            "choices": choices,
            "context": lines,
            "default_response": st.text(max_size=20),
        },
    ),
    "handoff.requested": (
        {
            **_CRITICAL,
            "reason": texts,
            "target_kind": st.sampled_from(["human", "specialist_agent", "escalation_queue"]),
        },
        {**summaries, "target_uri": uris, "packaged_context": free, "urgency_for_handoff": risks},
    ),
}


def _object(required: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]) -> Objects:
    rest = {name: one for name, one in optional.items() if name not in required}
    return st.fixed_dictionaries(required, optional=rest)


EVENTS: dict[str, Objects] = {
    type_: _object(
        {"type": st.just(type_), **_ENVELOPE, **_PAYLOADS[type_.removeprefix("aaep:agent.")][0]},
        {**_MAY, **_PAYLOADS[type_.removeprefix("aaep:agent.")][1]},
    )
    for type_ in CORE_EVENTS
}

# -- the exchange --------------------------------------------------------------------------

patterns = st.sampled_from(["*", "aaep:agent.*", "aaep:agent.tool.invoked", "medical:*"])
capabilities: Objects = st.fixed_dictionaries(
    {},
    optional={
        "max_events_per_second": st.integers(1, 100_000),
        "preferred_verbosity": st.sampled_from(["terse", "normal", "detailed"]),
        "languages": many(tags, 1),
        "supports_confirmation_reply": st.booleans(),
        "supports_clarification_reply": st.booleans(),
        "coalesce_boundaries": many(boundaries, 1),
        "event_filters": st.fixed_dictionaries({}, optional={"include": many(patterns), "exclude": many(patterns)}),
        "supported_conformance_levels": many(st.sampled_from([1, 2, 3]), 1),
        "supported_extensions": many(uris),
        "cognitive_load": risks,
        "pace_wpm": st.integers(50, 1000),
        "accept_signed_manifests_only": st.booleans(),
    },
)
_reply = {"reply_token": ids("rpl"), "subscription_id": ids("sub"), "timestamp": timestamps}

MESSAGES: dict[str, Objects] = {
    "subscription.request": _object(
        {
            "type": st.just("subscription.request"),
            "aaep_version": versions,
            "subscriber_id": texts,
            "capabilities": capabilities,
        },
        {
            "subscriber_name": texts,
            "subscriber_version": texts,
            "subscriber_manifest_uri": uris,
            "correlation_id": st.text(max_size=8),
            "extensions": extensions,
        },
    ),
    "subscription.accepted": _object(
        {
            "type": st.just("subscription.accepted"),
            "subscription_id": ids("sub"),
            "aaep_version": versions,
            "producer": producers,
            "honored_capabilities": capabilities,
        },
        {"manifest_uri": uris, "signed_manifest": st.just("e30.e30.e30"), "negotiation_notes": st.text(max_size=20)},
    ),
    "subscription.rejected": _object(
        {
            "type": st.just("subscription.rejected"),
            "reason_code": st.sampled_from(["version_unsupported", "rate_limit", "unknown"]),
            "reason_message": lines,
        },
        {"retry_after_seconds": st.integers(0, 86_400), "alternative_manifest_uri": uris},
    ),
    "subscription.renegotiate": _object(
        {"type": st.just("subscription.renegotiate"), "subscription_id": ids("sub"), "capabilities": capabilities}, {}
    ),
    "subscription.close": _object(
        {"type": st.just("subscription.close"), "subscription_id": ids("sub"), "reason_code": texts},
        {"reason_message": st.text(max_size=20)},
    ),
    "confirmation.reply": _object(
        {"type": st.just("confirmation.reply"), **_reply, "decision": st.sampled_from(["accept", "reject"])},
        {
            "decided_by": texts,
            "decision_rationale": lines,
            "modified_action": free,
            "correlation_id": st.text(max_size=8),
        },
    ),
    "clarification.reply": _object(
        {
            "type": st.just("clarification.reply"),
            **_reply,
            "response": st.one_of(texts, st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e6, 1e6)),
        },
        {"decided_by": texts, "confidence": st.floats(0, 1), "correlation_id": st.text(max_size=8)},
    ),
    "aaep:producer.manifest": _object(
        {
            "@context": st.just(CORE_CONTEXT),
            "type": st.just("aaep:producer.manifest"),
            "agent_id": texts,
            "aaep_versions_supported": many(versions),
            "conformance_levels_supported": many(st.sampled_from([1, 2, 3])),
            "transports_supported": many(texts),
            "languages_supported": many(tags),
        },
        {
            "agent_version": texts,
            "agent_name": texts,
            "event_types_emitted": many(patterns),
            "extensions_supported": many(uris),
            "default_verbosity": st.sampled_from(["terse", "normal", "detailed"]),
            "max_concurrent_subscriptions": st.integers(1, 10_000),
            "contact": texts,
            "extensions": extensions,
        },
    ),
}

# -- what is not ours, and what is newer than us ----------------------------------------------

# Names that no type of ours has; some that look like ours.
strange_names = st.one_of(
    st.text(max_size=10), st.sampled_from(["aaep_new", "summary_normal_yo", "@id", "id", "x/y~z", "ünknown"])
)


def _foreign(types: st.SearchStrategy[str]) -> Objects:
    plain = _object({"type": types, **_ENVELOPE}, {**_MAY, **summaries})
    return st.builds(lambda event, payload: {**payload, **event}, plain, free)


extension_events = _foreign(st.sampled_from(["medical:dose.given", "shop:order", "https://acme.example/types/x"]))
unknown_events = _foreign(st.sampled_from(["aaep:agent.dream.started", "https://aaep-protocol.org/types/agent.x"]))

valid: Objects = st.one_of(*EVENTS.values(), *MESSAGES.values())


@st.composite
def enriched(draw: st.DrawFn, given: Objects = valid) -> dict[str, Any]:
    """A message with unknown members at any depth, as a newer peer may send it."""
    message = draw(given)
    places = [message, *(one for one in message.values() if isinstance(one, dict))]
    places += [one for many_ in message.values() if isinstance(many_, list) for one in many_ if isinstance(one, dict)]
    known = {name for cls_names in _KNOWN for name in cls_names}
    for place in places:
        for name, value in draw(st.dictionaries(strange_names, values, max_size=2)).items():
            if name not in known:
                place.setdefault(name, value)
    return message


_KNOWN = [
    *(cls.__struct_encode_fields__ for cls in CORE_EVENTS.values()),
    ("percent", "step", "total_steps", "description", "value", "label"),
]
