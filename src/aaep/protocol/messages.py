"""
The shapes of messages that are not events: handshake, replies and manifest.

The conventions are those of :mod:`aaep.protocol.events`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .events import CORE_EVENTS, ProducerInfo
from .fields import (
    UNIQUE,
    Boundary,
    Extensions,
    FreeObject,
    LanguageTag,
    Line,
    Message,
    ReplyToken,
    Timestamp,
    Uri,
    Verbosity,
    Version,
)

__all__ = [
    "MANIFEST_PATH",
    "MESSAGES",
    "SHAPES",
    "Capabilities",
    "ClarificationReply",
    "ConfirmationReply",
    "EventFilters",
    "Manifest",
    "Reply",
    "SubscriptionAccepted",
    "SubscriptionClose",
    "SubscriptionRejected",
    "SubscriptionRenegotiate",
    "SubscriptionRequest",
]

SubscriptionId = Annotated[
    str, Meta(description="Names the subscription.", extra_json_schema={"pattern": "^sub_[A-Za-z0-9]{1,64}$"})
]
MANIFEST_PATH: Final = "/.well-known/aaep-manifest.json"  # at the origin of a web address
COMPACT_JWS: Final = r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"
# CAP-026 §5.3.1.7: a literal type, or a prefix and one star at its end (CF-051).
TypePattern = Annotated[str, Meta(min_length=1, max_length=256, extra_json_schema={"pattern": r"^[^*]+\*?$|^\*$"})]
DecidedBy = Annotated[
    str, Meta(min_length=1, max_length=256, description="user:<id>, auto:<policy> or system:<service>.")
]


class EventFilters(Message, frozen=True, kw_only=True):
    """Which event types to send. §5.3.1.7"""

    rules = {"": "CAP-024", "?": "CAP-024"}

    include: Annotated[tuple[TypePattern, ...], Meta(extra_json_schema=UNIQUE)] | UnsetType = UNSET
    exclude: Annotated[tuple[TypePattern, ...], Meta(extra_json_schema=UNIQUE)] | UnsetType = UNSET


class Capabilities(Message, frozen=True, kw_only=True):
    """What a subscriber asks for, or a producer grants. Extensions add objects under their prefix. §5.3"""

    rules = {
        "": "CAP-047",
        "max_events_per_second": "CAP-002",
        "preferred_verbosity": "CAP-005",
        "languages": "CAP-009",
        "supports_confirmation_reply": "CAP-012",
        "supports_clarification_reply": "CAP-017",
        "coalesce_boundaries": "CAP-020",
        "event_filters": "CAP-024",
        "supported_conformance_levels": "CAP-030",
        "supported_extensions": "CAP-033",
        "cognitive_load": "CAP-037",
        "pace_wpm": "CAP-040",
        "accept_signed_manifests_only": "CAP-043",
    }
    others = {"type": "object"}

    max_events_per_second: Annotated[int, Meta(ge=1, le=100_000)] | UnsetType = UNSET
    preferred_verbosity: Verbosity | UnsetType = UNSET
    languages: (
        Annotated[tuple[LanguageTag, ...], Meta(min_length=1, max_length=32, extra_json_schema=UNIQUE)] | UnsetType
    ) = UNSET
    supports_confirmation_reply: bool | UnsetType = UNSET
    supports_clarification_reply: bool | UnsetType = UNSET
    coalesce_boundaries: (
        Annotated[tuple[Boundary, ...], Meta(min_length=1, max_length=5, extra_json_schema=UNIQUE)] | UnsetType
    ) = UNSET
    event_filters: EventFilters | UnsetType = UNSET
    supported_conformance_levels: (
        Annotated[tuple[Literal[1, 2, 3], ...], Meta(min_length=1, max_length=3, extra_json_schema=UNIQUE)] | UnsetType
    ) = UNSET
    supported_extensions: Annotated[tuple[Uri, ...], Meta(max_length=64, extra_json_schema=UNIQUE)] | UnsetType = UNSET
    cognitive_load: (
        Annotated[
            Literal["low", "medium", "high"],
            Meta(description="How much to announce: low asks for the fewest announcements (CF-055)."),
        ]
        | UnsetType
    ) = UNSET
    pace_wpm: Annotated[int, Meta(ge=50, le=1000)] | UnsetType = UNSET
    accept_signed_manifests_only: bool | UnsetType = UNSET


class SubscriptionRequest(Message, frozen=True, kw_only=True):
    """A subscriber says who it is and what it wants. §5.2"""

    rules = {
        "": "SUB-015",
        "type": "SUB-006",
        "aaep_version": "SUB-007",
        "subscriber_id": "SUB-008",
        "capabilities": "SUB-009",
        "subscriber_name": "SUB-010",
        "subscriber_version": "SUB-011",
        "subscriber_manifest_uri": "SUB-012",
        "correlation_id": "SUB-013",
        "extensions": "SUB-014",
    }

    type: Literal["subscription.request"] = "subscription.request"
    aaep_version: Version
    subscriber_id: Annotated[str, Meta(min_length=1, max_length=256, description="The same across runs.")]
    subscriber_name: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    subscriber_version: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    subscriber_manifest_uri: Uri | UnsetType = UNSET
    correlation_id: str | UnsetType = UNSET
    capabilities: Capabilities
    extensions: Extensions | UnsetType = UNSET


class SubscriptionAccepted(Message, frozen=True, kw_only=True):
    """The producer grants a subscription, on these terms. §5.4"""

    rules = {
        "": "SUB-027",
        "type": "SUB-017",
        "subscription_id": "SUB-018",
        "aaep_version": "SUB-020",
        "producer": "SUB-022",
        "honored_capabilities": "SUB-023",
        "manifest_uri": "SUB-024",
        "signed_manifest": "SUB-025",
        "negotiation_notes": "SUB-026",
    }

    type: Literal["subscription.accepted"] = "subscription.accepted"
    subscription_id: SubscriptionId
    aaep_version: Version
    producer: ProducerInfo
    honored_capabilities: Capabilities
    manifest_uri: Uri | UnsetType = UNSET
    signed_manifest: (
        Annotated[
            str,
            Meta(
                description="A compact JWS.",
                extra_json_schema={"pattern": f"^{COMPACT_JWS}$"},
            ),
        ]
        | UnsetType
    ) = UNSET
    negotiation_notes: Annotated[str, Meta(max_length=4096)] | UnsetType = UNSET


class SubscriptionRejected(Message, frozen=True, kw_only=True):
    """The producer refuses a subscription, and says why. §5.5"""

    rules = {
        "": "SUB-047",
        "type": "SUB-040",
        "reason_code": "SUB-041",
        "reason_message": "SUB-042",
        "retry_after_seconds": "SUB-044",
        "alternative_manifest_uri": "SUB-046",
    }

    type: Literal["subscription.rejected"] = "subscription.rejected"
    reason_code: Literal[
        "version_unsupported",
        "manifest_signature_required",
        "capabilities_incompatible",
        "rate_limit",
        "authentication_required",
        "authorization_denied",
        "transport_unavailable",
        "unknown",
    ]
    reason_message: Line
    retry_after_seconds: Annotated[int, Meta(ge=0, le=86_400)] | UnsetType = UNSET
    alternative_manifest_uri: Uri | UnsetType = UNSET


class SubscriptionRenegotiate(Message, frozen=True, kw_only=True):
    """A subscriber changes some of its terms. §5.7"""

    rules = {"": "SUB-059", "*": "SUB-059"}

    type: Literal["subscription.renegotiate"] = "subscription.renegotiate"
    subscription_id: SubscriptionId
    capabilities: Capabilities


class SubscriptionClose(Message, frozen=True, kw_only=True):
    """Either side ends the subscription. §5.8"""

    rules = {"": "SUB-067", "*": "SUB-067", "?": "SUB-067"}

    type: Literal["subscription.close"] = "subscription.close"
    subscription_id: SubscriptionId
    reason_code: Annotated[str, Meta(min_length=1, description="An open list, for example subscriber_shutdown.")]
    reason_message: str | UnsetType = UNSET  # optional on receipt: CF-039


class ConfirmationReply(Message, frozen=True, kw_only=True):
    """The user's yes or no. §6.3"""

    rules = {
        "": "CONF-031",
        "type": "CONF-020",
        "reply_token": "CONF-021",
        "decision": "CONF-022",
        "subscription_id": "CONF-023",
        "timestamp": "CONF-024",
        "decided_by": "CONF-025",
        "decision_rationale": "CONF-026",
        "modified_action": "CONF-027",
        "correlation_id": "CONF-030",
    }

    type: Literal["confirmation.reply"] = "confirmation.reply"
    reply_token: ReplyToken
    decision: Literal["accept", "reject"]
    subscription_id: SubscriptionId
    timestamp: Timestamp
    decided_by: DecidedBy | UnsetType = UNSET
    decision_rationale: Line | UnsetType = UNSET
    modified_action: FreeObject | UnsetType = UNSET
    correlation_id: str | UnsetType = UNSET


class ClarificationReply(Message, frozen=True, kw_only=True):
    """The user's answer. §6.5"""

    rules = {
        "": "CLAR-015",
        "type": "CLAR-001",
        "reply_token": "CLAR-002",
        "response": "CLAR-003",
        "subscription_id": "CLAR-004",
        "timestamp": "CLAR-005",
        "decided_by": "CLAR-012",
        "confidence": "CLAR-013",
        "correlation_id": "CLAR-014",
    }

    type: Literal["clarification.reply"] = "clarification.reply"
    reply_token: ReplyToken
    response: Annotated[str, Meta(min_length=1, max_length=16384)] | bool | int | float
    subscription_id: SubscriptionId
    timestamp: Timestamp
    decided_by: DecidedBy | UnsetType = UNSET
    confidence: Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    correlation_id: str | UnsetType = UNSET


class Manifest(Message, frozen=True, kw_only=True):
    """What a producer offers. §5.10; five members are required (CF-119)."""

    rules = {
        "@context": "MAN-003",
        "type": "MAN-003",
        "agent_id": "MAN-004",
        "agent_version": "MAN-004",
        "agent_name": "MAN-004",
        "aaep_versions_supported": "MAN-005",
        "conformance_levels_supported": "MAN-006",
        "transports_supported": "MAN-007",
        "languages_supported": "MAN-008",
        "event_types_emitted": "MAN-009",
        "extensions_supported": "MAN-010",
        "default_verbosity": "MAN-011",
        "max_concurrent_subscriptions": "MAN-012",
        "contact": "MAN-013",
        "extensions": "ENV-051",
    }
    others = True

    context: Literal["https://aaep-protocol.org/context/v1"] = msgspec.field(
        name="@context", default="https://aaep-protocol.org/context/v1"
    )
    type: Literal["aaep:producer.manifest"] = "aaep:producer.manifest"
    agent_id: Annotated[str, Meta(min_length=1)]
    agent_version: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET
    agent_name: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET
    aaep_versions_supported: tuple[Version, ...]
    conformance_levels_supported: tuple[Literal[1, 2, 3], ...]
    transports_supported: tuple[Annotated[str, Meta(min_length=1)], ...]
    languages_supported: tuple[LanguageTag, ...]
    event_types_emitted: tuple[TypePattern, ...] | UnsetType = UNSET
    extensions_supported: tuple[Uri, ...] | UnsetType = UNSET
    default_verbosity: Verbosity | UnsetType = UNSET
    max_concurrent_subscriptions: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    contact: str | UnsetType = UNSET
    extensions: Extensions | UnsetType = UNSET


Reply: TypeAlias = ConfirmationReply | ClarificationReply

MESSAGES: Final[Mapping[str, type[Message]]] = {
    "subscription.request": SubscriptionRequest,
    "subscription.accepted": SubscriptionAccepted,
    "subscription.rejected": SubscriptionRejected,
    "subscription.renegotiate": SubscriptionRenegotiate,
    "subscription.close": SubscriptionClose,
    "confirmation.reply": ConfirmationReply,
    "clarification.reply": ClarificationReply,
    "aaep:producer.manifest": Manifest,
}
SHAPES: Final[Mapping[str, type[Message]]] = {**CORE_EVENTS, **MESSAGES}  # every message class, by its type
