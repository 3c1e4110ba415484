"""
One subscriber on a connection that goes both ways: what WebSocket, sockets, pipes and gRPC have in common.

CF-040: one subscription for each connection, and one handshake message at a
time, so that an answer needs no name to be matched by.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ..errors import RemoteProtocolError
from ..hub.face import CREDENTIAL_EXPIRED, FrameWriter, HubFace, UnknownSubscription, UnreadableRequest
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

__all__ = ["ALLOWED", "Exchange", "Handed"]

log: Final = logging.getLogger("aaep.transports")

MOST: Final = 32 * 1024 * 1024  # bytes of an agent that nobody has taken yet
ALLOWED: Final = (
    SubscriptionRequest,
    SubscriptionRenegotiate,
    SubscriptionClose,
    ConfirmationReply,
    ClarificationReply,
)


@lru_cache
def _in_time(kinds: tuple[type[Message], ...], first: bool) -> tuple[type[Message], ...]:
    """Before the handshake there is nothing to change, to close or to answer (CF-010); after it there is no other."""
    return tuple(kind for kind in kinds if (kind is SubscriptionRequest) == first)


class Exchange:
    """
    What one connection says to the hub, and hears from it.

    ``say`` sends a message that is no event; ``end`` closes the connection for
    a reason: that of a rejection, ``malformed`` for a request that cannot be
    used, ``protocol_error``, or ``subscriber_shutdown``.
    Used on the hub's loop only; nothing here waits.
    """

    def __init__(
        self, hub: HubFace, peer: Peer, writer: FrameWriter, say: Callable[[Message], None], end: Callable[[str], None]
    ) -> None:
        self._hub, self._peer, self._writer = hub, peer, writer
        self._say, self._end = say, end
        self.subscription_id: str | None = None
        self._agent: Handed | None = None  # it is not a reader that has come, but an agent

    @property
    def settled(self) -> bool:
        """Whether it is clear what the connection is for."""
        return self.subscription_id is not None or self._agent is not None

    def receive(self, raw: bytes) -> None:
        """Take one message; what is none ends the connection."""
        if self._agent is not None:
            self._agent.feed(raw)
            return
        try:
            if self.subscription_id is None and self._hub.takes_agents and self._announces(raw):
                return
            self.take(raw)
        except UnreadableRequest as error:
            if not error.is_request:
                self.refuse()
                return
            self._say(error.rejected)  # SUB-039: who asks is answered, here too (CF-097, CF-108)
            self._end("malformed")
        except (RemoteProtocolError, UnknownSubscription):
            self.refuse()

    def take(self, raw: bytes, kinds: tuple[type[Message], ...] = ALLOWED) -> None:
        """
        Take one message of some kinds.

        Raises :exc:`~aaep.errors.RemoteProtocolError` for what is none, or none that may
        come now, and :exc:`~aaep.hub.hub.UnknownSubscription`.
        """
        own = self.subscription_id
        # By the hub's own method, for the conformance suite plays a hub that answers otherwise.
        answer = self._hub.receive(raw, self._peer, _in_time(kinds, own is None), own or "")
        if answer is not None and self._settles(answer, first=own is None):
            return
        if own is not None and not self._hub.is_connected(
            own, self._writer
        ):  # it was closed, by its subscriber or by us
            self._end("subscriber_shutdown")

    def _settles(self, answer: Message, *, first: bool) -> bool:
        """Give an answer; whether the connection begins or ends with it."""
        self._say(answer)
        if isinstance(answer, SubscriptionAccepted) and first:
            self.subscription_id = self._hub.connect(answer.subscription_id, self._peer, self._writer)
            return True
        if isinstance(answer, SubscriptionRejected):
            self.subscription_id = None
            self._end(answer.reason_code)
            return True
        return False

    def _announces(self, raw: bytes) -> bool:
        """Whether this is an agent, which says so with its manifest; then the connection is its own from here on."""
        message = codec.read(raw, self._hub.offer.registry)[0]
        if not isinstance(message, Manifest):
            return False
        agent = Handed(self._peer, self._writer, lambda: self._end("producer_shutdown"), self._lapse)
        refused = self._hub.accept_agent(message, agent)
        if refused is not None:
            self._turn_away(refused)
        else:
            self._agent = agent
        return True

    def _lapse(self) -> None:
        """CF-149: what counts no longer publishes nothing more. The agent may come back with another credential."""
        if self._agent is not None:
            log.warning("The credential of an agent of %r counts no longer. It is let go of.", self._peer.principal)
            self._agent.feed(None)
            self._turn_away(CREDENTIAL_EXPIRED)

    def _turn_away(self, refused: SubscriptionRejected) -> None:
        """In the words that answer a request, for an agent that will not be asked for its events."""
        self._say(refused)
        self._end(refused.reason_code)

    def refuse(self) -> None:
        """CF-113: what arrived is no message, or none that may come now. The same words for all of it."""
        self.complain()
        self._end("protocol_error")

    def complain(self) -> None:
        """The words alone, where the transport closes in its own way."""
        log.info("A connection sent what is no message, and is closed.")
        if self.subscription_id is not None:
            self._say(
                SubscriptionClose(
                    subscription_id=self.subscription_id,
                    reason_code="protocol_error",
                    reason_message="Malformed message.",
                )
            )

    def lost(self) -> None:
        """The connection is gone; whoever comes back in time has missed nothing (CF-004)."""
        if self._agent is not None:
            self._hub.release_agent(self._agent)
            self._agent.feed(None)
        if self.subscription_id is not None:
            self._hub.disconnect(self.subscription_id, self._writer)
            self.subscription_id = None


class Handed:
    """A connection that came to us, for who uses it as if we had gone to the other side: a Wire."""

    def __init__(self, peer: Peer, writer: FrameWriter, end: Callable[[], None], expire: Callable[[], None]) -> None:
        self.peer = peer
        self.cancel_expiry: Callable[[], None] | None = None  # takes back the next look at its credential
        self.expire = expire  # its credential is no longer valid
        self.said = False  # whether anything came
        self.gone: Callable[[], None] = _nothing  # told when the connection is
        self._writer, self._end = writer, end
        self._mail: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._held = 0  # bytes of it
        self.over = False  # the connection is gone

    def feed(self, raw: bytes | None) -> None:
        """A message came; None: the connection is gone."""
        if self.over:
            return
        self.over = raw is None
        self.said = self.said or raw is not None
        self._held += len(raw or b"")
        self._mail.put_nowait(raw)
        if self._held > MOST and not self.over:  # T4; an agent that comes back goes on where it was cut off
            log.warning("An agent says more than can be passed on. It is cut off, and may come back.")
            self.drop()
        elif self.over:
            self.gone()

    def drop(self) -> None:
        """Let go of it."""
        self.feed(None)
        self._end()

    async def send(self, message: bytes) -> None:
        if self.over:
            raise ChannelLost("The agent is gone.")
        self._writer.write(self._writer.frame("", message))

    async def receive(self) -> bytes | None:
        raw = await self._mail.get()
        self._held -= len(raw or b"")
        return raw

    async def close(self) -> None:
        self.drop()


def _nothing() -> None:
    """Nobody wants to know."""
