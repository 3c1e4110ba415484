"""
One client on a connection that goes both ways: the base of WebSocket, sockets, pipes and gRPC.

CF-040: one subscription for each connection, and one handshake message at a
time, so that an answer needs no id to be matched by.
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

__all__ = ["ALLOWED", "LINGER", "NO_PEER", "Conversation", "IncomingAgentConnection", "abort_when_stuck"]

log: Final = logging.getLogger("aaep.transports")

LINGER: Final = 10.0  # seconds in which a client has to take something of what was sent before its connection ended
MAX_AGENT_BACKLOG: Final = 32 * 1024 * 1024  # bytes of an agent that were not passed on yet
NO_PEER: Final = Peer("", roles=frozenset())  # of a connection whose client is not known yet
ALLOWED: Final = (
    SubscriptionRequest,
    SubscriptionRenegotiate,
    SubscriptionClose,
    ConfirmationReply,
    ClarificationReply,
)


@lru_cache
def _allowed_now(kinds: tuple[type[Message], ...], is_first: bool) -> tuple[type[Message], ...]:
    """Return which of these kinds may come: a request first (CF-010), and after it everything but a request."""
    return tuple(kind for kind in kinds if (kind is SubscriptionRequest) == is_first)


def abort_when_stuck(
    waiting: Callable[[], int],
    abort: Callable[[], None],
    call_later: Callable[[float, Callable[[], None]], object],
) -> None:
    """Abort a client that takes nothing more: it would keep its socket, and what waits in it, for ever."""

    def check(unsent_before: int) -> None:
        unsent = waiting()
        if unsent < unsent_before:
            call_later(LINGER, lambda: check(unsent))
        else:
            abort()

    check(waiting() + 1)


class Conversation(ABC):
    """
    One client on a connection that goes both ways: the hub's FrameWriter, and what the client says to the hub.

    A transport's subclass says how messages are framed, written and read, and how
    its connection ends. Used on the hub's loop only; nothing here waits.
    """

    # Attributes, so that a transport may put its own functions there: they are called for every reader each time.
    frame: Callable[[str, bytes], bytes]  # event id and JSON to what goes over the wire
    write: Callable[[bytes], None]  # send one or more frames, back to back
    waiting: Callable[[], int]  # how many bytes the client has not taken yet

    def __init__(self, hub: HubFace, peer: Peer) -> None:
        self.peer = peer
        self.subscription_id: str | None = None
        self.is_open = True  # whether anything more may be sent
        self._hub = hub
        self._agent: IncomingAgentConnection | None = None  # if the client is an agent, not a reader
        self._timers: set[asyncio.TimerHandle] = set()

    # -- what a transport implements ---------------------------------------------------------

    @abstractmethod
    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """
        End the connection in the transport's own way, after what was written.

        ``message`` is the close that was sent before. Without one, ``reason`` is that
        of a rejection, ``malformed`` for a request that cannot be used,
        ``protocol_error``, ``no_request``, ``subscriber_shutdown`` or ``server_closing``.
        """

    @abstractmethod
    def abort(self) -> None:
        """Drop the connection at once, with whatever was not sent."""

    # -- from the beginning to the end -------------------------------------------------------

    def start(self, request_timeout: float) -> None:
        """Give the client so many seconds to say what it wants."""
        self.call_later(request_timeout, self._check_handshake)

    @property
    def is_settled(self) -> bool:
        """Whether it is known what the connection is for."""
        return self.subscription_id is not None or self._agent is not None

    def _check_handshake(self) -> None:
        """Refuse a client that has said nothing by now (WS-006, GRPC-006)."""
        if not self.is_settled:
            self.refuse("no_request")

    def say(self, message: Message) -> None:
        """Send a message that is no event."""
        self.write(self.frame("", codec.encode(message)))

    def close(self, message: SubscriptionClose | None) -> None:
        """End the subscription, and the connection with it. Called by the hub."""
        if message is None:
            # The client's own close is answered by `take`; else the subscription was closed from elsewhere.
            self._hub.call_soon(lambda: self.end("subscriber_shutdown"))
            return
        self.say(message)  # CF-097: the message first
        self.end(message.reason_code, message)

    def end(self, reason: str, message: SubscriptionClose | None = None) -> None:
        """Send nothing more and end the connection; see :meth:`hang_up` for the reasons."""
        if not self.is_open:
            return
        self.is_open = False
        self._cancel_timers()
        self._detach()
        self.hang_up(reason, message)
        self.linger()

    def leave(self) -> None:
        """End the connection because its server closes."""
        self.end("server_closing")

    def lost(self) -> None:
        """Note that the connection is gone; a client that comes back in time has missed nothing (CF-004)."""
        self.is_open = False
        self._cancel_timers()
        self._detach()

    def _detach(self) -> None:
        if self._agent is not None:
            self._hub.release_agent(self._agent)
            self._agent.feed(None)
        if self.subscription_id is not None:
            self._hub.disconnect(self.subscription_id, self)
            self.subscription_id = None

    def linger(self) -> None:
        """Leave the connection open as long as the client takes what was sent before its end."""
        abort_when_stuck(self.waiting, self.abort, self.call_later)

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function later, unless the connection has ended by then."""

        def call() -> None:
            self._timers.discard(timer)
            function()

        timer = asyncio.get_running_loop().call_later(seconds, call)
        self._timers.add(timer)

    def _cancel_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    # -- what the client says ----------------------------------------------------------------

    def receive(self, raw: bytes) -> None:
        """Take one message; anything else ends the connection."""
        if not self.is_open:
            return
        if self._agent is not None:
            self._agent.feed(raw)
            return
        try:
            if self.subscription_id is None and self._hub.takes_agents and self._take_agent(raw):
                return
            self.take(raw)
        except UnreadableRequest as error:
            if not error.is_request:
                self.refuse()
                return
            self.say(error.rejected)  # SUB-039: a request is answered, here too (CF-097, CF-108)
            self.end("malformed")
        except (RemoteProtocolError, UnknownSubscription):
            self.refuse()

    def take(self, raw: bytes, kinds: tuple[type[Message], ...] = ALLOWED) -> None:
        """
        Take one message of some kinds.

        Raises :exc:`~aaep.errors.RemoteProtocolError` for what is none, or none that may
        come now, and :exc:`~aaep.hub.face.UnknownSubscription`.
        """
        own = self.subscription_id
        # By the hub's own method, for the conformance suite plays a hub that answers otherwise.
        answer = self._hub.receive(raw, self.peer, _allowed_now(kinds, own is None), own or "")
        if answer is not None and self._answer(answer, is_first=own is None):
            return
        if own is not None and not self._hub.is_connected(own, self):  # it was closed, by its subscriber or by us
            self.end("subscriber_shutdown")

    def _answer(self, answer: Message, *, is_first: bool) -> bool:
        """Send an answer; return whether the subscription begins or ends with it."""
        self.say(answer)
        if isinstance(answer, SubscriptionAccepted) and is_first:
            self.subscription_id = self._hub.connect(answer.subscription_id, self.peer, self)
            return True
        if isinstance(answer, SubscriptionRejected):
            self.subscription_id = None
            self.end(answer.reason_code)
            return True
        return False

    def _take_agent(self, raw: bytes) -> bool:
        """Return whether the client is an agent, which says so with its manifest; the connection is its own then."""
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
        """Say no in the words that answer a request, and end the connection."""
        self.say(rejection)
        self.end(rejection.reason_code)

    def refuse(self, reason: str = "protocol_error") -> None:
        """End the connection for what is no message, or none that may come now; in the same words always (CF-113)."""
        self.complain()
        self.end(reason)

    def complain(self) -> None:
        """Say that a message was malformed, where the transport closes in its own way."""
        log.info("A connection sent what is no message, and is closed.")
        if self.subscription_id is not None:
            self.say(
                SubscriptionClose(
                    subscription_id=self.subscription_id,
                    reason_code="protocol_error",
                    reason_message="Malformed message.",
                )
            )


class IncomingAgentConnection:
    """
    A connection that an agent opened, used as if we had opened it.

    To the hub it is an :class:`~aaep.hub.face.AgentConnection`, to the subscriber
    that reads the agent a :class:`~aaep.transports.duplex_client.DuplexConnection`.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.peer = conversation.peer
        self.cancel_expiry: Callable[[], None] | None = None  # takes back the next look at its credential
        self.has_received = False  # whether anything came
        self.is_closed = False
        self.on_close: Callable[[], None] = _do_nothing
        self._conversation = conversation
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._queued_bytes = 0

    def feed(self, raw: bytes | None) -> None:
        """Queue a message that came; None says that the connection is gone."""
        if self.is_closed:
            return
        self.is_closed = raw is None
        self.has_received = self.has_received or raw is not None
        self._queued_bytes += len(raw or b"")
        self._queue.put_nowait(raw)
        if self.is_closed:
            self.on_close()
        elif self._queued_bytes > MAX_AGENT_BACKLOG:  # T4; an agent that comes back goes on where it was cut off
            log.warning("An agent says more than can be passed on. It is cut off, and may come back.")
            self.hang_up()

    def hang_up(self) -> None:
        """End the connection."""
        self.feed(None)
        self._conversation.end("producer_shutdown")

    def expire(self) -> None:
        """End the connection of a credential that is no longer valid; the agent may come back with another (CF-149)."""
        log.warning("The credential of an agent of %r counts no longer. It is let go of.", self.peer.principal)
        self.feed(None)
        self._conversation.reject(CREDENTIAL_EXPIRED)

    async def send(self, message: bytes) -> None:
        """Send a message to the agent."""
        if self.is_closed:
            raise ChannelLost("The agent is gone.")
        self._conversation.write(self._conversation.frame("", message))

    async def receive(self) -> bytes | None:
        """Return the agent's next message; None when its connection is gone."""
        raw = await self._queue.get()
        self._queued_bytes -= len(raw or b"")
        return raw

    async def close(self) -> None:
        """End the connection."""
        self.hang_up()


def _do_nothing() -> None:
    """Stand in for a callback that was not set."""
