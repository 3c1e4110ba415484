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
from .protocol.events import (
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
from .protocol.fields import Message
from .protocol.messages import (
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
from .version import __version__

if TYPE_CHECKING:
    from . import identity as identity
    from . import presentation as presentation
    from . import protocol as protocol
    from . import testing as testing
    from .hub.settings import HubSettings
    from .journal.base import JournalError
    from .presentation.announce import Announcement, announce
    from .presentation.preferences import Preferences
    from .producer.output import Output
    from .producer.producer import ManifestOptions, Producer, Runtime
    from .producer.questions import Answer, Ask
    from .producer.session import Session
    from .producer.tool_call import Call
    from .producer.tools import Refused
    from .protocol.audit import Audit, Finding, explain
    from .protocol.codec import decode, encode, read
    from .protocol.extensions import Extension, Profile, Registry
    from .runtime.background import Waitable
    from .subscriber.connection import Reconnect, SubscriberRuntime
    from .subscriber.request import Terms
    from .subscriber.status import Status, SubscriptionRefused
    from .subscriber.subscriber import Subscriber, listen
    from .transports.base import ChannelLost, ChannelRefused
    from .transports.options import ConnectOptions, ServerOptions, Tls

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
    "ConnectOptions",
    "Envelope",
    "Event",
    "EventFilters",
    "Extension",
    "ExtensionError",
    "ExtensionEvent",
    "Finding",
    "FrameError",
    "HandoffRequested",
    "HubSettings",
    "JournalError",
    "LocalProtocolError",
    "LocalizationHints",
    "Manifest",
    "ManifestOptions",
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
    "Reconnect",
    "Refused",
    "Registry",
    "RemoteProtocolError",
    "Reply",
    "Runtime",
    "ServerOptions",
    "Session",
    "SessionCancelled",
    "SessionCompleted",
    "SessionErrored",
    "SessionStarted",
    "Severity",
    "StateChanged",
    "Status",
    "Subscriber",
    "SubscriberRuntime",
    "SubscriptionAccepted",
    "SubscriptionClose",
    "SubscriptionRefused",
    "SubscriptionRejected",
    "SubscriptionRenegotiate",
    "SubscriptionRequest",
    "Terms",
    "Tls",
    "ToolCompleted",
    "ToolInvoked",
    "UnknownEvent",
    "Violation",
    "Waitable",
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
    "Announcement": "presentation.announce",
    "Answer": "producer.questions",
    "Ask": "producer.questions",
    "Audit": "protocol.audit",
    "Call": "producer.tool_call",
    "ChannelLost": "transports.base",
    "ChannelRefused": "transports.base",
    "ConnectOptions": "transports.options",
    "Extension": "protocol.extensions",
    "Finding": "protocol.audit",
    "HubSettings": "hub.settings",
    "JournalError": "journal.base",
    "Waitable": "runtime.background",
    "ManifestOptions": "producer.producer",
    "Output": "producer.output",
    "Preferences": "presentation.preferences",
    "Producer": "producer.producer",
    "Profile": "protocol.extensions",
    "Reconnect": "subscriber.connection",
    "Refused": "producer.tools",
    "Registry": "protocol.extensions",
    "Runtime": "producer.producer",
    "ServerOptions": "transports.options",
    "Session": "producer.session",
    "Status": "subscriber.status",
    "Subscriber": "subscriber.subscriber",
    "SubscriberRuntime": "subscriber.connection",
    "SubscriptionRefused": "subscriber.status",
    "Terms": "subscriber.request",
    "Tls": "transports.options",
    "announce": "presentation.announce",
    "decode": "protocol.codec",
    "encode": "protocol.codec",
    "explain": "protocol.audit",
    "listen": "subscriber.subscriber",
    "read": "protocol.codec",
}
_MODULES = ("identity", "presentation", "protocol", "testing")  # as the guides write them


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
