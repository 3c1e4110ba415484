"""
What stands between a hub and its transports: the hub as they see it, and they as it sees them.

A transport knows a hub by :class:`HubFace` only. Whatever implements it can be
served, as the producers do that the conformance suite plays.

* :exc:`UnknownSubscription`: this peer has no subscription of that name
    * :exc:`SubscriptionGone`: it had one
* :exc:`UnreadableRequest`: what came in place of a request for a subscription
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from ..errors import AaepError, RemoteProtocolError, Violation
from ..identity.peer import Peer
from ..protocol.catalogue import grade
from ..protocol.codec import parse_json
from ..protocol.fields import Message
from ..protocol.messages import Manifest, SubscriptionClose, SubscriptionRejected
from ..protocol.negotiation import Offer
from ..text.sanitize import sanitize, truncate
from .settings import HubSettings

__all__ = [
    "CREDENTIAL_EXPIRED",
    "AgentConnection",
    "FrameWriter",
    "HubFace",
    "Server",
    "SubscriptionGone",
    "UnknownSubscription",
    "UnreadableRequest",
]

CREDENTIAL_EXPIRED: Final = SubscriptionRejected(
    reason_code="authentication_required",
    reason_message="The credential of this connection counts no longer. Connect again with a new one.",
)
_REQUEST: Final = "subscription.request"
_LONGEST: Final = 500  # characters of what is wrong with a request


class UnknownSubscription(AaepError):
    """There is no such subscription for this peer. Subscribe first."""


class SubscriptionGone(UnknownSubscription):
    """The subscription has ended. Subscribe again (CF-092)."""


class UnreadableRequest(RemoteProtocolError):
    """
    What came in place of a request for a subscription.

    ``rejected`` says what is wrong with it (SUB-039, CF-087): there is nothing
    to hide yet, as there is in a reply (CF-012). ``is_request``: it was meant as one.
    """

    def __init__(self, raw: bytes, violations: Iterable[Violation]) -> None:
        super().__init__("Malformed message.")
        value = parse_json(raw)[0]
        kind = value.get("type") if isinstance(value, dict) else _REQUEST
        errors = [violation.message for violation in violations if grade(violation) == "error"]
        text = " ".join(errors) if kind == _REQUEST else f"type should be {_REQUEST}."
        self.is_request = isinstance(value, dict) and kind == _REQUEST
        self.rejected = SubscriptionRejected(
            reason_code="unknown", reason_message=truncate(sanitize(f"This request cannot be used. {text}"), _LONGEST)
        )


# -- what a transport offers -----------------------------------------------------------------


class FrameWriter(Protocol):
    """
    One reader's connection, as the hub sees it. Called on the hub's loop only; nothing here waits.

    ``frame`` is the same function for all writers of a transport, so that a
    frame is made once and written many times.
    """

    frame: Callable[[str, bytes], bytes]  # event id and JSON to what goes over the wire

    def write(self, data: bytes) -> None:
        """Send one or more frames, back to back."""

    def waiting(self) -> int:
        """Return how many bytes the reader has not taken yet."""

    def close(self, message: SubscriptionClose | None) -> None:
        """End the connection, saying why if there is something to say."""


class AgentConnection(Protocol):
    """A connection over which an agent has come to a hub, to publish there."""

    peer: Peer
    cancel_expiry: Callable[[], None] | None  # takes back the next look at its credential

    def expire(self) -> None:
        """Let go of the agent: its credential is no longer valid (CF-149)."""


class Server(Protocol):
    """An address that is being served."""

    url: str

    async def close(self) -> None:
        """Stop listening and let go of every connection."""


# -- what a hub offers -----------------------------------------------------------------------


class HubFace(Protocol):
    """
    A hub, as transports see it.

    ``receive``, ``connect`` and ``disconnect`` are called on the hub's loop;
    ``start``, ``call_soon`` and ``is_on_loop`` from any thread.
    """

    @property
    def settings(self) -> HubSettings:
        """What its owner has set."""

    @property
    def offer(self) -> Offer:
        """What it grants at most."""

    @property
    def offered(self) -> Offer:
        """The offer with its manifest signed as of now, if there is a key for that (MAN-016)."""

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller is on the hub's loop."""

    @property
    def takes_agents(self) -> bool:
        """Whether agents may come to it from elsewhere."""

    def start(self) -> None:
        """Start its loop, if it does not run yet."""

    def call_soon(self, function: Callable[[], None]) -> None:
        """Have the loop call something soon."""

    def add_server(self, server: Server) -> None:
        """Make a server part of the hub: it is named in the manifest, and closed with the hub."""

    def manifest(self) -> Manifest:
        """Describe what is really offered (CF-119)."""

    def metrics(self) -> str:
        """Return its numbers in the text format of Prometheus."""

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        """
        Read a message, do what it asks, and return the answer if it has one.

        Raises :exc:`~aaep.errors.RemoteProtocolError`, always with the same
        words, for what is not a usable message of an allowed type; where a request
        is allowed, :exc:`UnreadableRequest`; and :exc:`UnknownSubscription` for
        a change of terms nobody has. On a connection that is one subscription,
        ``own`` is its id, and a message about any other is refused (CF-008).
        """

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> str:
        """
        Attach a reader and send it what it missed after an event, or what it needs to begin.

        Return the id of its subscription; without one it is a bare stream, read
        only and on default terms (CF-093). The newest reader of a subscription
        wins (CF-094). Raises :exc:`UnknownSubscription` and :exc:`SubscriptionGone`.
        """

    def is_connected(self, subscription_id: str, writer: FrameWriter) -> bool:
        """Whether a connection is still the one that reads a subscription."""

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        """Note that a reader's connection ended: it has the resume window to come back (CF-004)."""

    def accept_agent(self, manifest: Manifest, connection: AgentConnection) -> SubscriptionRejected | None:
        """Take an agent that has come, or has come back; return what it is told if it may not."""

    def release_agent(self, connection: AgentConnection) -> None:
        """Note that an agent's connection ended."""
