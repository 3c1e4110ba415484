"""
The interfaces between a hub and its transports.

A transport depends on a hub through :class:`HubFace` only. Any object that implements
it can be served, such as the fake producers of the conformance suite.

* :exc:`UnknownSubscription`: the peer has no subscription with that id
    * :exc:`SubscriptionGone`: it had one, which has ended
* :exc:`UnreadableRequest`: a malformed subscription.request
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, runtime_checkable

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
    "NO_SUCH_SUBSCRIPTION",
    "AgentConnection",
    "Attachment",
    "FrameWriter",
    "HubFace",
    "ManifestServer",
    "Server",
    "SubscriptionGone",
    "UnknownSubscription",
    "UnreadableRequest",
]

CREDENTIAL_EXPIRED: Final = SubscriptionRejected(
    reason_code="authentication_required",
    reason_message="The credential of this connection counts no longer. Connect again with a new one.",
)
NO_SUCH_SUBSCRIPTION: Final = "There is no such subscription. Subscribe first."
_REQUEST_TYPE: Final = "subscription.request"
_MAX_REASON_LENGTH: Final = 500  # characters


class UnknownSubscription(AaepError):
    """The peer has no subscription with this id. It has to subscribe first."""


class SubscriptionGone(UnknownSubscription):
    """The subscription has ended. The peer has to subscribe again (CF-092)."""


class UnreadableRequest(RemoteProtocolError):
    """
    A message in place of a subscription.request that cannot be used as one.

    ``rejected`` explains what is wrong with it (SUB-039, CF-087), unlike the answer to a malformed
    reply, which must not disclose anything (CF-012). ``is_request``: its type is subscription.request.
    """

    def __init__(self, raw: bytes, violations: Iterable[Violation]) -> None:
        super().__init__("Malformed message.")
        value = parse_json(raw)[0]
        kind = value.get("type") if isinstance(value, dict) else _REQUEST_TYPE
        errors = [violation.message for violation in violations if grade(violation) == "error"]
        text = " ".join(errors) if kind == _REQUEST_TYPE else f"type should be {_REQUEST_TYPE}."
        self.is_request = isinstance(value, dict) and kind == _REQUEST_TYPE
        self.rejected = SubscriptionRejected(
            reason_code="unknown",
            reason_message=truncate(sanitize(f"This request cannot be used. {text}"), _MAX_REASON_LENGTH),
        )


# -- implemented by transports ---------------------------------------------------------------


class FrameWriter(Protocol):
    """
    A reader's connection that the hub writes to. Used on the hub's loop only; no method blocks.

    ``frame`` is the same function for all writers of a transport, so that a
    frame is encoded once and written many times.
    """

    frame: Callable[[str, bytes], bytes]  # from event id and JSON to the bytes of a frame

    def write(self, data: bytes) -> None:
        """Send one or more concatenated frames."""

    def count_unsent_bytes(self) -> int:
        """Return how many written bytes are not sent to the reader yet."""

    def close(self, message: SubscriptionClose | None) -> None:
        """End the connection, after the close message if there is one."""


class AgentConnection(Protocol):
    """A connection that an agent opened to a hub in order to publish there."""

    peer: Peer
    cancel_expiry: Callable[[], None] | None  # cancels the next check of its credential

    def expire(self) -> None:
        """End the connection because its credential has expired (CF-149)."""


class Server(Protocol):
    """An address at which a hub is served."""

    url: str

    @property
    def transports(self) -> tuple[str, ...]:
        """The transports of the server, by their names in a manifest (CF-119); empty if no client can connect to it."""

    async def close(self) -> None:
        """Stop listening and end every connection."""


@runtime_checkable
class ManifestServer(Server, Protocol):
    """A server that has an address for the manifest, though not on the web (CF-118)."""

    @property
    def manifest_uri(self) -> str:
        """Where the manifest is."""


@runtime_checkable
class Attachment(Server, Protocol):
    """A connection of our own to a hub elsewhere, which is to have everything before it ends."""

    async def wait_until_sent(self) -> None:
        """Wait until all events are sent, or no more can be."""

    async def wait_until_read(self) -> None:
        """Wait until the other hub has read the goodbye, or does not."""


# -- implemented by hubs ---------------------------------------------------------------------


class HubFace(Protocol):
    """
    The interface of a hub for transports.

    ``receive``, ``connect`` and ``disconnect`` are called on the hub's loop;
    ``start``, ``call_soon`` and ``is_on_loop`` from any thread.
    """

    @property
    def settings(self) -> HubSettings:
        """The settings of the hub."""

    @property
    def offer(self) -> Offer:
        """The most that the hub grants to a subscriber."""

    @property
    def signed_offer(self) -> Offer:
        """The offer with its current manifest signed, if there is a signing key (MAN-016)."""

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller runs on the hub's loop."""

    @property
    def can_accept_agents(self) -> bool:
        """Whether agents of other processes may connect to publish."""

    @property
    def servers(self) -> Sequence[Server]:
        """The servers that were added to the hub."""

    def start(self) -> None:
        """Start the hub's loop, if it is not running."""

    def call_soon(self, function: Callable[[], None]) -> None:
        """Call a function soon on the hub's loop."""

    def add_server(self, server: Server) -> None:
        """Add a server, which is listed in the manifest and closed with the hub."""

    def manifest(self) -> Manifest:
        """Return the manifest, which lists what the open servers really offer (CF-119)."""

    def metrics(self) -> str:
        """Return the hub's metrics in the text format of Prometheus."""

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        """
        Handle a message and return the answer, if it has one.

        Raises :exc:`~aaep.errors.RemoteProtocolError`, always with the same text, for a
        message that is invalid or of a type that is not allowed; :exc:`UnreadableRequest`
        instead if a request is allowed; and :exc:`UnknownSubscription` for a change of terms
        of an unknown subscription. On a connection that carries one subscription, ``own`` is
        its id, empty before there is one; messages about others are refused there, and
        elsewhere messages about a subscription that is a connection (CF-008).
        """

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> str:
        """
        Attach a reader and send it the events after ``after``, or the initial catch-up.

        Return the id of its subscription. Without a given id, the stream is read-only and
        has default terms (CF-093). The newest reader of a subscription replaces the earlier
        one (CF-094). Raises :exc:`UnknownSubscription` and :exc:`SubscriptionGone`.
        """

    def is_connected(self, subscription_id: str, writer: FrameWriter) -> bool:
        """Whether a writer is still the one attached to a subscription."""

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        """Detach a reader whose connection ended; it may resume within the resume window (CF-004)."""

    def accept_agent(self, manifest: Manifest, connection: AgentConnection) -> SubscriptionRejected | None:
        """Accept an agent that connects or reconnects; return a rejection if it may not."""

    def release_agent(self, connection: AgentConnection) -> None:
        """Release an agent's connection that ended."""
