"""
The server's side of a bidirectional connection: the base of WebSocket, Unix sockets, stdio and gRPC.

CF-040: a connection carries one subscription and one handshake message at a
time, so that answers need no id to be matched to their requests.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ..errors import RemoteProtocolError
from ..hub.face import CREDENTIAL_EXPIRED, HubFace, UnknownSubscription, UnreadableRequest
from ..identity.peer import Peer
from ..protocol import codec
from ..protocol.fields import Message
from ..protocol.messages import (
    ClarificationReply,
    ConfirmationReply,
    Manifest,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from .base import ChannelLost

__all__ = [
    "ALLOWED_MESSAGES",
    "LINGER_TIMEOUT",
    "NO_PEER",
    "Conversation",
    "IncomingAgentConnection",
    "abort_when_stuck",
]

log: Final = logging.getLogger("aaep.transports")

LINGER_TIMEOUT: Final = 10.0  # seconds within which a client must read some of what is unsent when its connection ends
NO_PEER: Final = Peer("", roles=frozenset())  # for a connection whose client is not authenticated yet
ALLOWED_MESSAGES: Final = (
    SubscriptionRequest,
    SubscriptionRenegotiate,
    SubscriptionClose,
    ConfirmationReply,
    ClarificationReply,
)


@lru_cache
def _filter_allowed(kinds: tuple[type[Message], ...], is_first: bool) -> tuple[type[Message], ...]:
    """Return the allowed kinds: only a request at first (CF-010), everything else after it."""
    return tuple(kind for kind in kinds if (kind is SubscriptionRequest) == is_first)


def abort_when_stuck(
    count_unsent_bytes: Callable[[], int],
    abort: Callable[[], None],
    call_later: Callable[[float, Callable[[], None]], object],
) -> None:
    """Abort a connection whose client stops reading: it would hold its socket and buffers forever."""

    def check(unsent_before: int) -> None:
        unsent = count_unsent_bytes()
        if unsent < unsent_before:
            call_later(LINGER_TIMEOUT, lambda: check(unsent))
        else:
            abort()

    check(count_unsent_bytes() + 1)


class Conversation(ABC):
    """
    One client on a bidirectional connection: the hub's FrameWriter, and the handling of the client's messages.

    Each transport has a subclass that frames, writes and reads messages and ends the
    connection. Used on the hub's loop only; no method blocks.
    """

    # Attributes, so that a transport can assign its own functions: they are called for every reader and event.
    frame: Callable[[str, bytes], bytes]  # from event id and JSON to the bytes of a frame
    write: Callable[[bytes], None]  # send one or more concatenated frames
    count_unsent_bytes: Callable[[], int]
    max_agent_backlog = 8 * 1024  # bytes received from an agent and not yet passed on, before it is read no further

    def __init__(self, hub: HubFace, peer: Peer) -> None:
        self.peer = peer
        self.subscription_id: str | None = None
        self.is_open = True  # whether messages may still be sent
        self._hub = hub
        self._agent: IncomingAgentConnection | None = None  # set if the client is an agent, not a reader
        self._timers: set[asyncio.TimerHandle] = set()
        self._resumed: asyncio.Future[None] | None = None  # done once reading goes on, while it is paused

    # -- implemented by transports -----------------------------------------------------------

    @abstractmethod
    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """
        End the connection in the transport's own way, once everything written is sent.

        ``message`` is the close message that was just sent. Without one, ``reason`` is the
        reason code of a rejection, ``malformed`` for an unusable request,
        ``protocol_error``, ``no_request``, ``subscriber_shutdown`` or ``server_closing``.
        """

    @abstractmethod
    def abort(self) -> None:
        """Drop the connection at once and discard unsent data."""

    @property
    def is_paused(self) -> bool:
        """Whether a task that reads from the client should wait."""
        return self._resumed is not None

    def pause_reading(self) -> None:
        """Read no further: the client says more than is passed on."""
        if self._resumed is None:
            self._resumed = asyncio.get_running_loop().create_future()

    def resume_reading(self) -> None:
        """Read from the client again."""
        if self._resumed is not None and not self._resumed.done():
            self._resumed.set_result(None)
        self._resumed = None

    async def wait_while_paused(self) -> None:
        """Wait until reading may go on."""
        if self._resumed is not None:
            await self._resumed

    # -- lifecycle ---------------------------------------------------------------------------

    def start(self, request_timeout: float) -> None:
        """Give the client ``request_timeout`` seconds to send its first message."""
        self.call_later(request_timeout, self._check_handshake)

    @property
    def is_established(self) -> bool:
        """Whether the client has subscribed or turned out to be an agent."""
        return self.subscription_id is not None or self._agent is not None

    def _check_handshake(self) -> None:
        """Refuse a client that has sent no request in time (WS-006, GRPC-006)."""
        if not self.is_established:
            self.refuse("no_request")

    def send_message(self, message: Message) -> None:
        """Send a message other than an event."""
        self.write(self.frame("", codec.encode(message)))

    def close(self, message: SubscriptionClose | None) -> None:
        """End the subscription and the connection. Called by the hub."""
        if message is None:
            # `handle_message` answers the client's own close; otherwise the subscription was closed from elsewhere.
            self._hub.call_soon(lambda: self.end("subscriber_shutdown"))
            return
        self.send_message(message)  # CF-097: before the connection ends
        self.end(message.reason_code, message)

    def end(self, reason: str, message: SubscriptionClose | None = None) -> None:
        """Stop sending and end the connection; :meth:`hang_up` lists the reasons."""
        if not self.is_open:
            return
        self.is_open = False
        self._cancel_timers()
        self._detach()
        self.hang_up(reason, message)
        self.linger()

    def shut_down(self) -> None:
        """End the connection because its server closes."""
        self.end("server_closing")

    def mark_lost(self) -> None:
        """Record that the connection is lost; a client that resumes in time misses nothing (CF-004)."""
        self.is_open = False
        self._cancel_timers()
        self._detach()

    def _detach(self) -> None:
        self.resume_reading()
        if self._agent is not None:
            self._hub.release_agent(self._agent)
            self._agent.feed(None)
        if self.subscription_id is not None:
            self._hub.disconnect(self.subscription_id, self)
            self.subscription_id = None

    def linger(self) -> None:
        """Keep the connection open while the client still reads what was sent."""
        abort_when_stuck(self.count_unsent_bytes, self.abort, self.call_later)

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function after a delay, unless the connection ends before."""

        def call() -> None:
            self._timers.discard(timer)
            function()

        timer = asyncio.get_running_loop().call_later(seconds, call)
        self._timers.add(timer)

    def _cancel_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    # -- messages of the client --------------------------------------------------------------

    def receive(self, raw: bytes) -> None:
        """Handle one message; invalid data ends the connection."""
        if not self.is_open:
            return
        if self._agent is not None:
            self._agent.feed(raw)
            return
        try:
            if self.subscription_id is None and self._hub.can_accept_agents and self._try_accept_agent(raw):
                return
            self.handle_message(raw)
        except UnreadableRequest as error:
            if not error.is_request:
                self.refuse()
                return
            self.send_message(error.rejected)  # SUB-039: a request is always answered (CF-097, CF-108)
            self.end("malformed")
        except (RemoteProtocolError, UnknownSubscription):
            self.refuse()

    def handle_message(self, raw: bytes, kinds: tuple[type[Message], ...] = ALLOWED_MESSAGES) -> None:
        """
        Pass one message of the given kinds to the hub and send its answer.

        Raises :exc:`~aaep.errors.RemoteProtocolError` for invalid data and for a message that is
        not allowed now, and :exc:`~aaep.hub.face.UnknownSubscription`.
        """
        subscription_id = self.subscription_id
        is_first = subscription_id is None
        answer = self._hub.receive(raw, self.peer, _filter_allowed(kinds, is_first), subscription_id or "")
        if answer is not None and self._send_answer(answer, is_first=is_first):
            return
        if subscription_id is not None and not self._hub.is_connected(subscription_id, self):  # it was closed
            self.end("subscriber_shutdown")

    def _send_answer(self, answer: Message, *, is_first: bool) -> bool:
        """Send an answer; return whether it starts or ends the subscription."""
        self.send_message(answer)
        if isinstance(answer, SubscriptionAccepted) and is_first:
            self.subscription_id = self._hub.connect(answer.subscription_id, self.peer, self)
            return True
        if isinstance(answer, SubscriptionRejected):
            self.subscription_id = None
            self.end(answer.reason_code)
            return True
        return False

    def _try_accept_agent(self, raw: bytes) -> bool:
        """Register the client as an agent if its message is a manifest; return whether it was one."""
        message = codec.read(raw, self._hub.offer.registry)[0]
        if not isinstance(message, Manifest):
            return False
        agent = IncomingAgentConnection(self)
        rejection = self._hub.accept_agent(message, agent)
        if rejection is not None:
            self.reject(rejection)
        else:
            self._agent = agent
        return True

    # -- refusals ----------------------------------------------------------------------------

    def reject(self, rejection: SubscriptionRejected) -> None:
        """Send a rejection and end the connection."""
        self.send_message(rejection)
        self.end(rejection.reason_code)

    def refuse(self, reason: str = "protocol_error") -> None:
        """End the connection because of invalid data or a message out of turn, always with one text (CF-113)."""
        self.report_malformed()
        self.end(reason)

    def report_malformed(self) -> None:
        """Log a malformed message and send a close message, without ending the connection."""
        log.info("A connection sent what is no message, and is closed.")
        if self.subscription_id is not None:
            self.send_message(
                SubscriptionClose(
                    subscription_id=self.subscription_id,
                    reason_code="protocol_error",
                    reason_message="Malformed message.",
                )
            )


class IncomingAgentConnection:
    """
    A connection that an agent opened to a hub.

    It is an :class:`~aaep.hub.face.AgentConnection` for the hub. The subscriber that reads the agent
    takes what has come, and as long as it does not, the agent is read no further.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.peer = conversation.peer
        self.cancel_expiry: Callable[[], None] | None = None  # cancels the next check of its credential
        self.has_received = False  # whether a message has come
        self.is_closed = False
        self.on_close: Callable[[], None] = _do_nothing
        self._conversation = conversation
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._queued_bytes = 0
        self._is_paused = False

    def feed(self, raw: bytes | None) -> None:
        """Queue a received message; None marks the end of the connection."""
        if self.is_closed:
            return
        self.is_closed = raw is None
        self.has_received = self.has_received or raw is not None
        self._queued_bytes += len(raw or b"")
        self._queue.put_nowait(raw)
        if self.is_closed:
            self.on_close()
        elif self._queued_bytes > self._conversation.max_agent_backlog and not self._is_paused:
            self._is_paused = True
            self._conversation.pause_reading()

    def hang_up(self) -> None:
        """End the connection."""
        self.feed(None)
        self._conversation.end("producer_shutdown")

    def expire(self) -> None:
        """End the connection because its credential has expired; the agent may reconnect with a new one (CF-149)."""
        log.warning("The credential of an agent of %r counts no longer. It is let go of.", self.peer.principal)
        self.feed(None)
        self._conversation.reject(CREDENTIAL_EXPIRED)

    async def send(self, message: bytes) -> None:
        """Send a message to the agent."""
        if self.is_closed:
            raise ChannelLost("The agent is gone.")
        self._conversation.write(self._conversation.frame("", message))

    async def receive(self) -> bytes | None:
        """Wait for the next message of the agent and return it; None when its connection has ended."""
        raw = await self._queue.get()
        self._queued_bytes -= len(raw or b"")
        if self._is_paused and self._queued_bytes <= self._conversation.max_agent_backlog // 2:
            self._is_paused = False
            self._conversation.resume_reading()
        return raw

    async def close(self) -> None:
        """End the connection."""
        self.hang_up()


def _do_nothing() -> None:
    """Stand in for a callback that was not set."""
