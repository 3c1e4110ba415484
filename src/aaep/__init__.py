"""The Agent Accessibility Event Protocol: agents that can be heard, and ask before they act."""

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
    from . import announcements as announcements
    from . import identity as identity
    from . import jwt as jwt
    from . import keys as keys
    from . import presentation as presentation
    from . import session as session
    from . import testing as testing
    from . import tokens as tokens
    from .audit import Audit, Finding, explain
    from .calls import Call
    from .channel import ChannelLost, ChannelRefused, Later
    from .extensions import Extension, Profile, Registry
    from .journal import JournalError
    from .presentation import Announcement, announce
    from .producer import Producer
    from .prompts import Answer, Ask
    from .reading import Preferences
    from .status import Status, SubscriptionRefused
    from .subscriber import Subscriber, listen
    from .tools import Refused
    from .wire import decode, encode, read
    from .work import Session
    from .writing import Output

__version__ = "0.1.0"

__all__ = [
    "AaepError",
    "Announcement",
    "Answer",
    "Ask",
    "Audit",
    "AwaitingClarification",
    "AwaitingConfirmation",
    "Call",
    "Capabilities",
    "ChannelLost",
    "ChannelRefused",
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
    "JournalError",
    "Later",
    "LocalProtocolError",
    "LocalizationHints",
    "Manifest",
    "Message",
    "Output",
    "OutputStreaming",
    "Preferences",
    "Producer",
    "ProducerInfo",
    "Profile",
    "Progress",
    "ProgressUpdated",
    "ProtocolError",
    "Refused",
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
    "Status",
    "Subscriber",
    "SubscriptionAccepted",
    "SubscriptionClose",
    "SubscriptionRefused",
    "SubscriptionRejected",
    "SubscriptionRenegotiate",
    "SubscriptionRequest",
    "ToolCompleted",
    "ToolInvoked",
    "UnknownEvent",
    "Violation",
    "__version__",
    "announce",
    "decode",
    "encode",
    "explain",
    "listen",
    "read",
]

# These bring in the rules and the schemas, which most of an import's time goes to; a type is to be had without.
_LATER = {
    "Announcement": "presentation",
    "Answer": "prompts",
    "Ask": "prompts",
    "Audit": "audit",
    "Call": "calls",
    "ChannelLost": "channel",
    "ChannelRefused": "channel",
    "Extension": "extensions",
    "Finding": "audit",
    "JournalError": "journal",
    "Later": "channel",
    "Output": "writing",
    "Preferences": "reading",
    "Producer": "producer",
    "Profile": "extensions",
    "Refused": "tools",
    "Registry": "extensions",
    "Session": "work",
    "Status": "status",
    "Subscriber": "subscriber",
    "SubscriptionRefused": "status",
    "announce": "presentation",
    "decode": "wire",
    "encode": "wire",
    "explain": "audit",
    "listen": "subscriber",
    "read": "wire",
}
# As the guides write them.
_MODULES = (
    "announcements",
    "identity",
    "jwt",
    "keys",
    "presentation",
    "session",
    "testing",
    "tokens",
)  # as the guides write


if not TYPE_CHECKING:  # with it a type checker would take any name, a misspelt one too, for one of ours

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*globals(), *_LATER, *_MODULES]
