"""The Agent Accessibility Event Protocol: types, rules, sessions and a validator."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    AaepError,
    ExtensionError,
    FrameError,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    Severity,
    Violation,
)
from .events import (
    AwaitingClarification,
    AwaitingConfirmation,
    Choice,
    Envelope,
    Event,
    ExtensionEvent,
    HandoffRequested,
    LocalizationHints,
    OutputStreaming,
    ProducerInfo,
    Progress,
    ProgressUpdated,
    SessionCancelled,
    SessionCompleted,
    SessionErrored,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
    UnknownEvent,
)
from .fields import Message
from .messages import (
    Capabilities,
    ClarificationReply,
    ConfirmationReply,
    EventFilters,
    Manifest,
    Reply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)

if TYPE_CHECKING:
    from .audit import Audit, Finding, explain
    from .extensions import Extension, Profile, Registry
    from .session import Session
    from .wire import decode, encode, read

__version__ = "0.1.0"

__all__ = [
    "AaepError",
    "Audit",
    "AwaitingClarification",
    "AwaitingConfirmation",
    "Capabilities",
    "Choice",
    "ClarificationReply",
    "ConfirmationReply",
    "Envelope",
    "Event",
    "EventFilters",
    "Extension",
    "ExtensionError",
    "ExtensionEvent",
    "Finding",
    "FrameError",
    "HandoffRequested",
    "LocalProtocolError",
    "LocalizationHints",
    "Manifest",
    "Message",
    "OutputStreaming",
    "ProducerInfo",
    "Profile",
    "Progress",
    "ProgressUpdated",
    "ProtocolError",
    "Registry",
    "RemoteProtocolError",
    "Reply",
    "Session",
    "SessionCancelled",
    "SessionCompleted",
    "SessionErrored",
    "SessionStarted",
    "Severity",
    "StateChanged",
    "SubscriptionAccepted",
    "SubscriptionClose",
    "SubscriptionRejected",
    "SubscriptionRenegotiate",
    "SubscriptionRequest",
    "ToolCompleted",
    "ToolInvoked",
    "UnknownEvent",
    "Violation",
    "__version__",
    "decode",
    "encode",
    "explain",
    "read",
]

# These bring in the rules and the schemas, which most of an import's time goes to; a type is to be had without.
_LATER = {
    "Audit": "audit",
    "Extension": "extensions",
    "Finding": "audit",
    "Profile": "extensions",
    "Registry": "extensions",
    "Session": "session",
    "decode": "wire",
    "encode": "wire",
    "explain": "audit",
    "read": "wire",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_LATER]
