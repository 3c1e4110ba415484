"""
The shapes of events: the envelope, the twelve core types, and the rest.

An event's shape is defined only here. The JSON Schemas in ``schemas/`` are
generated from these Structs, and the fast decoders in
:mod:`aaep.protocol.codec` are built from them.

Three conventions keep the wire format and the types in step:

* A member that may be absent has the default ``UNSET``. Absent is never null.
* A member with any other default is required on the wire. The default saves
  code from spelling out what can only have one value.
* Constraints that msgspec cannot express are in ``extra_json_schema``: they
  reach the schema, and :mod:`aaep.protocol.rules` checks them.

``rules`` on a class maps members to the rule that a bad one breaks: by its own
name, else ``"*"`` for required and ``"?"`` for optional members; ``""`` is for
a member that does not belong there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .fields import (
    CORE_CONTEXT,
    UNIQUE,
    Boundary,
    CallId,
    Count,
    Detailed,
    Duration,
    EventId,
    Extensions,
    FreeObject,
    LanguageTag,
    Line,
    Message,
    Normal,
    Prose,
    ReplyToken,
    Risk,
    SessionId,
    Step,
    Terse,
    Timeout,
    Timestamp,
    ToolName,
    Urgency,
    Uri,
    Verbosity,
    Version,
    get_member,
)

__all__ = [
    "CORE_EVENTS",
    "CRITICAL",
    "TERMINAL",
    "AwaitingClarification",
    "AwaitingConfirmation",
    "Choice",
    "Envelope",
    "Event",
    "ExtensionEvent",
    "HandoffRequested",
    "LocalizationHints",
    "OutputStreaming",
    "ProducerInfo",
    "Progress",
    "ProgressUpdated",
    "SessionCancelled",
    "SessionCompleted",
    "SessionErrored",
    "SessionStarted",
    "StateChanged",
    "ToolCompleted",
    "ToolInvoked",
    "UnknownEvent",
    "output_language",
]


class ProducerInfo(Message, frozen=True, kw_only=True):
    """Who emits: ENV-030; the five members and no others, ENV-031 §3.2.6."""

    rules = {"": "ENV-031", "*": "ENV-030", "?": "ENV-030"}

    agent_id: Annotated[str, Meta(min_length=1, description="Stable identifier, without a version.")]
    agent_version: Annotated[str, Meta(min_length=1, description="Semantic version preferred.")] | UnsetType = UNSET
    agent_name: Annotated[str, Meta(min_length=1, description="A name to announce.")] | UnsetType = UNSET
    model: Annotated[str, Meta(min_length=1, description="The underlying model.")] | UnsetType = UNSET
    manifest_uri: Uri | UnsetType = UNSET


class LocalizationHints(Message, frozen=True, kw_only=True):
    """The language of the event's text: I18N-004 §11.1.1."""

    rules = {"": "I18N-004", "?": "I18N-004", "text_direction": "I18N-032", "primary_language": "I18N-008"} | {
        "available_languages": "I18N-008",
        "fallback_chain": "I18N-008",
    }

    primary_language: LanguageTag | UnsetType = UNSET
    text_direction: Literal["ltr", "rtl", "auto"] | UnsetType = UNSET
    available_languages: (
        Annotated[tuple[LanguageTag, ...], Meta(max_length=32, extra_json_schema=UNIQUE)] | UnsetType
    ) = UNSET
    fallback_chain: Annotated[tuple[LanguageTag, ...], Meta(max_length=16)] | UnsetType = UNSET
    script: (
        Annotated[str, Meta(description="ISO 15924.", extra_json_schema={"pattern": "^[A-Z][a-z]{3}$"})] | UnsetType
    ) = UNSET
    calendar: str | UnsetType = UNSET


class Envelope(Message, frozen=True, kw_only=True):
    """The members that every event has, in the order §3.6 recommends (ENV-064)."""

    rules = {
        "": "ENV-061",
        "*": "ENV-001",
        "@context": "ENV-002",
        "type": "ENV-007",
        "event_id": "ENV-012",
        "session_id": "ENV-017",
        "timestamp": "ENV-021",
        "producer": "ENV-030",
        "verbosity": "ENV-037",
        "urgency": "ENV-040",
        "localization_hints": "ENV-059",
        "sequence_number": "ENV-046",
        "correlation_id": "ENV-059",
        "extensions": "ENV-051",
        "aaep_version": "ENV-055",
    }

    context: Annotated[
        Literal["https://aaep-protocol.org/context/v1"]
        | Annotated[tuple[Uri, ...], Meta(min_length=1, extra_json_schema={"prefixItems": [{"const": CORE_CONTEXT}]})],
        Meta(description="The core context, alone or first in a list."),
    ] = msgspec.field(name="@context", default=CORE_CONTEXT)
    aaep_version: Version | UnsetType = UNSET
    type: Annotated[str, Meta(min_length=1, description="prefix:name, or an absolute URI.")]
    event_id: EventId
    session_id: SessionId
    sequence_number: Annotated[Count, Meta(description="0 for the start, then one more each.")] | UnsetType = UNSET
    timestamp: Timestamp
    producer: ProducerInfo
    verbosity: Verbosity | UnsetType = UNSET
    urgency: Urgency | UnsetType = UNSET
    localization_hints: LocalizationHints | UnsetType = UNSET
    correlation_id: Annotated[str, Meta(description="A trace id from outside AAEP.")] | UnsetType = UNSET

    if TYPE_CHECKING:
        # Every concrete type declares it last, after its payload (§3.6).
        extensions: Extensions | UnsetType = UNSET


class SessionStarted(Envelope, frozen=True, kw_only=True):
    """A session begins: what it is going to do. §4.1.1"""

    rules = Envelope.rules | {"*": "EVT-001", "?": "EVT-002"}

    type: Literal["aaep:agent.session.started"] = "aaep:agent.session.started"
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal
    summary_detailed: Detailed | UnsetType = UNSET
    expected_duration_ms: Duration | UnsetType = UNSET
    requested_by: (
        Annotated[str, Meta(min_length=1, max_length=256, description="user:<id>, system:<service> or agent:<id>.")]
        | UnsetType
    ) = UNSET
    request_text: Annotated[str, Meta(max_length=16384, description="What the user asked for.")] | UnsetType = UNSET
    tools_available: (
        Annotated[
            tuple[Annotated[str, Meta(min_length=1, max_length=256)], ...],
            Meta(max_length=256, description="Tool names.", extra_json_schema=UNIQUE),
        ]
        | UnsetType
    ) = UNSET
    extensions: Extensions | UnsetType = UNSET


class SessionCompleted(Envelope, frozen=True, kw_only=True):
    """A session ended well: what was achieved. §4.1.2"""

    rules = Envelope.rules | {"*": "EVT-006", "?": "EVT-007"}

    type: Literal["aaep:agent.session.completed"] = "aaep:agent.session.completed"
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal
    summary_detailed: Detailed | UnsetType = UNSET
    duration_ms: Duration | UnsetType = UNSET
    tool_invocations_count: Count | UnsetType = UNSET
    output_summary: Annotated[str, Meta(max_length=16384)] | UnsetType = UNSET
    result_uri: Uri | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class SessionErrored(Envelope, frozen=True, kw_only=True):
    """A session failed: why, and what the user can do. §4.1.3"""

    rules = Envelope.rules | {"*": "EVT-011", "?": "EVT-012", "urgency": "URG-009"}

    type: Literal["aaep:agent.session.errored"] = "aaep:agent.session.errored"
    urgency: Literal["critical"] = "critical"  # URG-009; missing is a violation, never "normal" (C-16)
    error_category: Literal["transient", "permanent", "requires_user", "unknown"]
    error_code: Annotated[str, Meta(extra_json_schema={"pattern": "^[A-Z][A-Z0-9_]{1,63}$"})] | UnsetType = UNSET
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal
    summary_detailed: Detailed | UnsetType = UNSET
    error_uri: Uri | UnsetType = UNSET
    recoverable: bool | UnsetType = UNSET
    remediation_hint: Annotated[Line, Meta(description="What the user might do.")] | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class SessionCancelled(Envelope, frozen=True, kw_only=True):
    """A session was stopped: by whom, and why. §4.1.4"""

    rules = Envelope.rules | {"*": "EVT-018", "?": "EVT-019"}

    type: Literal["aaep:agent.session.cancelled"] = "aaep:agent.session.cancelled"
    cancelled_by: Literal["user", "producer", "timeout", "system"]
    cancellation_reason: Annotated[str, Meta(extra_json_schema={"pattern": "^[a-z][a-z0-9_]{1,63}$"})] | UnsetType = (
        UNSET
    )
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal
    summary_detailed: Detailed | UnsetType = UNSET
    partial_result: Annotated[str, Meta(max_length=16384)] | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class StateChanged(Envelope, frozen=True, kw_only=True):
    """The agent went from one state to another. §4.2.1"""

    rules = Envelope.rules | {"*": "EVT-021", "?": "EVT-022"}

    type: Literal["aaep:agent.state.changed"] = "aaep:agent.state.changed"
    from_state: Annotated[str, Meta(min_length=1, max_length=64)]
    to_state: Annotated[str, Meta(min_length=1, max_length=64)]
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    expected_duration_ms: Duration | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class Progress(Message, frozen=True, kw_only=True):
    """How far along; at least one member. EVT-023 §4.2.2"""

    rules = {"": "EVT-023", "?": "EVT-023"}

    percent: Annotated[int, Meta(ge=0, le=100)] | Annotated[float, Meta(ge=0, le=100)] | UnsetType = UNSET
    step: Annotated[Step, Meta(description="Counts from 1.")] | UnsetType = UNSET
    total_steps: Step | UnsetType = UNSET
    description: Line | UnsetType = UNSET


class ProgressUpdated(Envelope, frozen=True, kw_only=True):
    """How far a long task has come. §4.2.2"""

    rules = Envelope.rules | {"*": "EVT-023", "?": "EVT-024"}

    type: Literal["aaep:agent.progress.updated"] = "aaep:agent.progress.updated"
    progress: Annotated[Progress, Meta(extra_json_schema={"minProperties": 1})]
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    eta_ms: Duration | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class ToolInvoked(Envelope, frozen=True, kw_only=True):
    """A tool is about to run. Sent before any side effect. §4.3.1"""

    rules = Envelope.rules | {"*": "EVT-026", "?": "EVT-027"}

    type: Literal["aaep:agent.tool.invoked"] = "aaep:agent.tool.invoked"
    tool: ToolName
    tool_call_id: CallId | UnsetType = UNSET
    description: Annotated[Line, Meta(description="The tool's static text.")] | UnsetType = UNSET
    args_summary: Annotated[str, Meta(max_length=16384, description="Arguments, no secrets.")] | UnsetType = UNSET
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal
    summary_detailed: Detailed | UnsetType = UNSET
    expected_duration_ms: Duration | UnsetType = UNSET
    risk_level: Risk | UnsetType = UNSET
    irreversible: bool | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class ToolCompleted(Envelope, frozen=True, kw_only=True):
    """A tool returned, failed, or was given up. §4.3.2"""

    rules = Envelope.rules | {"*": "EVT-028", "?": "EVT-029"}

    type: Literal["aaep:agent.tool.completed"] = "aaep:agent.tool.completed"
    tool: ToolName
    tool_call_id: CallId | UnsetType = UNSET
    status: Literal["success", "error", "timeout"]
    duration_ms: Duration | UnsetType = UNSET
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    error_message: Line | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class OutputStreaming(Envelope, frozen=True, kw_only=True):
    """A piece of what the agent says. Its text is the chunk; no summaries. §4.3.3"""

    rules = Envelope.rules | {"*": "EVT-031", "?": "EVT-032"}

    type: Literal["aaep:agent.output.streaming"] = "aaep:agent.output.streaming"
    chunk: Annotated[str, Meta(max_length=16384)]
    position: Annotated[Count, Meta(description="Offset in code points within the output (C-44).")]
    complete: bool
    coalesce_hint: Boundary | UnsetType = UNSET
    output_id: Annotated[str, Meta(extra_json_schema={"pattern": "^out_[A-Za-z0-9]{1,64}$"})] | UnsetType = UNSET
    content_type: (
        Annotated[str, Meta(extra_json_schema={"pattern": "^[a-zA-Z][a-zA-Z0-9.+_-]*/[a-zA-Z][a-zA-Z0-9.+_-]*$"})]
        | UnsetType
    ) = UNSET
    language: LanguageTag | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class AwaitingConfirmation(Envelope, frozen=True, kw_only=True):
    """The agent waits for a yes or no before it acts. §4.4.1"""

    rules = Envelope.rules | {"*": "EVT-033", "?": "EVT-034", "urgency": "URG-010", "reply_token": "HITL-008"}

    type: Literal["aaep:agent.awaiting.confirmation"] = "aaep:agent.awaiting.confirmation"
    urgency: Literal["critical"] = "critical"  # URG-010
    action: Annotated[Prose, Meta(description="What would be done.")]
    consequence: Annotated[Prose, Meta(description="What happens if it is done.")]
    reply_token: ReplyToken
    timeout_seconds: Timeout
    default_decision: Literal["accept", "reject"]
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    risk_level: Risk | UnsetType = UNSET
    irreversible: bool | UnsetType = UNSET
    reversibility: Literal["reversible", "reversible_with_effort", "irreversible"] | UnsetType = UNSET
    allowed_replies: (
        Annotated[tuple[str, ...], Meta(min_length=1, max_length=32, extra_json_schema=UNIQUE)] | UnsetType
    ) = UNSET
    extra_context: FreeObject | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class Choice(Message, frozen=True, kw_only=True):
    """One answer to choose. EVT-036 §4.4.2"""

    rules = {"": "EVT-036", "*": "EVT-036"}

    value: Annotated[str, Meta(min_length=1, max_length=256, description="What the reply says.")]
    label: Annotated[str, Meta(min_length=1, max_length=1024, description="What the user hears.")]


class AwaitingClarification(Envelope, frozen=True, kw_only=True):
    """The agent waits for an answer to a question. §4.4.2"""

    rules = Envelope.rules | {"*": "EVT-035", "?": "EVT-036", "urgency": "URG-011", "reply_token": "HITL-008"}

    type: Literal["aaep:agent.awaiting.clarification"] = "aaep:agent.awaiting.clarification"
    urgency: Literal["critical"] = "critical"  # URG-011
    question: Prose
    reply_token: ReplyToken
    timeout_seconds: Timeout
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    accepted_response_kinds: (
        Annotated[
            tuple[Literal["freetext", "yes_no", "multiple_choice", "numeric"], ...],
            Meta(min_length=1, max_length=4, extra_json_schema=UNIQUE),
        ]
        | UnsetType
    ) = UNSET
    choices: Annotated[tuple[Choice, ...], Meta(min_length=2, max_length=32, extra_json_schema=UNIQUE)] | UnsetType = (
        UNSET
    )
    context_: Annotated[Line, Meta(description="Why the agent asks.")] | UnsetType = msgspec.field(
        name="context", default=UNSET
    )
    default_response: Annotated[str, Meta(max_length=4096)] | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class HandoffRequested(Envelope, frozen=True, kw_only=True):
    """The agent cannot finish and asks somebody else to. §4.4.3"""

    rules = Envelope.rules | {"*": "EVT-038", "?": "EVT-039", "urgency": "URG-012"}

    type: Literal["aaep:agent.handoff.requested"] = "aaep:agent.handoff.requested"
    urgency: Literal["critical"] = "critical"  # URG-012
    reason: Prose
    target_kind: Literal["human", "specialist_agent", "escalation_queue"]
    target_uri: Uri | UnsetType = UNSET
    packaged_context: FreeObject | UnsetType = UNSET
    urgency_for_handoff: Risk | UnsetType = UNSET
    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class ExtensionEvent(Envelope, frozen=True, kw_only=True):
    """An event of an extension's own type; its payload is in ``unknown``. §7.4"""

    others = True

    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


class UnknownEvent(Envelope, frozen=True, kw_only=True):
    """
    An event whose envelope is sound and whose payload we cannot use.

    Either an ``aaep:`` type newer than this library, or a known type with
    members missing. It is announced generically, never dropped (C-08).
    """

    others = True

    summary_terse: Terse | UnsetType = UNSET
    summary_normal: Normal | UnsetType = UNSET
    summary_detailed: Detailed | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


Event: TypeAlias = (
    SessionStarted
    | SessionCompleted
    | SessionErrored
    | SessionCancelled
    | StateChanged
    | ProgressUpdated
    | ToolInvoked
    | ToolCompleted
    | OutputStreaming
    | AwaitingConfirmation
    | AwaitingClarification
    | HandoffRequested
    | ExtensionEvent
    | UnknownEvent
)

# ENV-009 §3.2.2: exactly twelve, in four families.
_CORE_EVENT_NAMES: Final[Mapping[str, type[Envelope]]] = {
    "session.started": SessionStarted,
    "session.completed": SessionCompleted,
    "session.errored": SessionErrored,
    "session.cancelled": SessionCancelled,
    "state.changed": StateChanged,
    "progress.updated": ProgressUpdated,
    "tool.invoked": ToolInvoked,
    "tool.completed": ToolCompleted,
    "output.streaming": OutputStreaming,
    "awaiting.confirmation": AwaitingConfirmation,
    "awaiting.clarification": AwaitingClarification,
    "handoff.requested": HandoffRequested,
}
CORE_EVENTS: Final[Mapping[str, type[Envelope]]] = {
    f"aaep:agent.{name}": cls for name, cls in _CORE_EVENT_NAMES.items()
}
TERMINAL: Final = (SessionCompleted, SessionErrored, SessionCancelled)
CRITICAL: Final = (SessionErrored, AwaitingConfirmation, AwaitingClarification, HandoffRequested)


def output_language(event: OutputStreaming) -> str:
    """Return the language tag of a chunk's text (OUT-012)."""
    language: str | None = get_member(event, "language")
    if not language:
        hints = get_member(event, "localization_hints")
        language = get_member(hints, "primary_language") if hints is not None else None
    return language or "en"
