"""
One subscriber on a gRPC stream: Appendix B.5, from the first message to the status.

The library owns the socket, and takes a message when the reader's window has
room for it. What it has not taken waits here, where it can be counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import grpc

from ...hub.hub import Hub
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.messages import SubscriptionClose, SubscriptionRejected
from ..base import Peer
from ..duplex_server import Exchange
from .messages import LENGTH, batch, each, pack, unpack

__all__ = ["Context", "Conversation", "reject", "status_of"]

log: Final = logging.getLogger("aaep.grpc")

Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]

_LINGER: Final = 10.0  # seconds for a reader to take what was written before its stream ended
_STATUS: Final = {  # CF-108: a summary; the detail is in the message before it
    "authentication_required": grpc.StatusCode.UNAUTHENTICATED,
    "authentication_expired": grpc.StatusCode.UNAUTHENTICATED,
    "authorization_denied": grpc.StatusCode.PERMISSION_DENIED,
    "rate_limit": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "slow_consumer": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "transport_unavailable": grpc.StatusCode.UNAVAILABLE,
    "producer_shutdown": grpc.StatusCode.UNAVAILABLE,
    "unknown": grpc.StatusCode.UNAVAILABLE,
    "version_unsupported": grpc.StatusCode.FAILED_PRECONDITION,
    "capabilities_incompatible": grpc.StatusCode.FAILED_PRECONDITION,
    "manifest_signature_required": grpc.StatusCode.FAILED_PRECONDITION,
    "superseded": grpc.StatusCode.ABORTED,
    "protocol_error": grpc.StatusCode.INVALID_ARGUMENT,
    "subscriber_shutdown": grpc.StatusCode.OK,
}
_DETAILS: Final = {"protocol_error": "Malformed message.", "subscriber_shutdown": ""}


def status_of(reason: str) -> grpc.StatusCode:
    """The status that sums a reason up. Reasons that are not known are refusals."""
    return _STATUS.get(reason, grpc.StatusCode.FAILED_PRECONDITION)


async def reject(context: Context, message: SubscriptionRejected) -> None:
    """Say no before anything was read (CF-108)."""
    context.set_code(status_of(message.reason_code))
    context.set_details(message.reason_message)
    await context.write(pack(encode(message)))


class Conversation:
    """A stream, as the hub and the :class:`Exchange` see it. On the hub's loop; only :meth:`hold` waits."""

    frame: Callable[[str, bytes], bytes] = staticmethod(batch)

    def __init__(self, hub: Hub, peer: Peer, context: Context, *, limit: int, patience: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = context
        self._limit, self._patience = limit, patience
        self._most = hub.settings.high_water
        self._queue: deque[bytes] = deque()
        self._size = 0  # bytes of it, with what the library is about to take
        self._open = True
        self._taking = self._writing = False
        self._more, self._room = asyncio.Event(), asyncio.Event()
        self.sink = self  # nothing waits here but what was written
        self._linger = asyncio.timeout(None)
        self._timers: list[asyncio.TimerHandle] = []
        self._exchange = Exchange(hub, peer, self, self._say, self._end)

    # -- what the hub calls ------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        if self._open:
            self._queue.append(data)
            self._size += len(data)
            if not self._taking:
                self._more.set()

    def waiting(self) -> int:
        return self._size

    def close(self, message: SubscriptionClose | None) -> None:
        if message is None:
            # The exchange says why, if it was its subscriber; else the subscription was closed from elsewhere.
            self._loop.call_soon(self._end, "subscriber_shutdown")
            return
        self._say(message)
        text = message.reason_message if isinstance(message.reason_message, str) else ""
        self._finish(status_of(message.reason_code), text)

    # -- from the beginning to the end ---------------------------------------------------------

    async def hold(self) -> None:
        """Talk until it is over. Cancelled by the library when the other side is gone (TR-017)."""
        self._later(self._patience, self._shake_hands)
        listening = self._loop.create_task(self._listen())
        try:
            async with self._linger:
                await self._speak()
        except TimeoutError:
            log.debug("A reader did not take what was said last.")
        finally:
            self._open = False
            for timer in self._timers:
                timer.cancel()
            listening.cancel()
            self._exchange.lost()
            await asyncio.gather(listening, return_exceptions=True)

    def leave(self) -> None:
        """The door closes."""
        self._finish(grpc.StatusCode.UNAVAILABLE, "The agent's side is shutting down.")

    async def _speak(self) -> None:
        while True:
            while self._queue and not self._writing:
                await self._write(self._queue.popleft())
            if not self._open and not self._writing:
                return
            self._more.clear()
            await self._more.wait()

    async def _write(self, data: bytes) -> None:
        self._writing = True
        try:
            for message in each(data):
                await self._context.write(message[LENGTH:])
                self._size -= len(message)
                if self._size <= self._most:
                    self._room.set()
        finally:
            self._writing = False

    async def _answer(self) -> None:
        """Write what comes of a message that was just taken, so that nobody has to be woken for it."""
        if self._queue and not self._writing:
            await self._write(self._queue.popleft())
        if self._queue or not self._open:
            self._more.set()

    async def _listen(self) -> None:
        try:
            while self._open:
                raw: Any = await self._context.read()
                if raw is grpc.aio.EOF:
                    break
                self._taking = True
                self._take(raw)
                self._taking = False
                await self._answer()
                while self._size > self._most:  # whoever does not read is not answered either
                    self._room.clear()
                    await self._room.wait()
        except grpc.aio.BaseError:
            return  # it is gone, and whoever speaks is told
        except Exception:
            log.exception("A message could not be taken. This is a bug.")
            self._finish(grpc.StatusCode.INTERNAL, "The server failed, which is a defect.")
        # Whoever has no more to say may still listen.
        if self._open and self._exchange.subscription is None:
            self._exchange.refuse()

    def _take(self, raw: bytes) -> None:
        try:
            json = unpack(raw)
        except ValueError:
            json = b""
        if json and len(json) <= self._limit:  # CF-114
            self._exchange.receive(json)
        else:
            self._exchange.refuse()

    def _say(self, message: Message) -> None:
        self.write(batch("", encode(message)))

    def _end(self, reason: str) -> None:
        self._finish(status_of(reason), _DETAILS.get(reason, f"The subscription was refused: {reason}."))

    def _finish(self, code: grpc.StatusCode, text: str) -> None:
        if not self._open:
            return
        self._open = False
        self._context.set_code(code)
        self._context.set_details(text)
        self._more.set()
        # What waits for a reader that takes nothing would be kept for ever.
        self._linger.reschedule(self._loop.time() + _LINGER)

    # -- time ------------------------------------------------------------------------------------

    def _later(self, seconds: float, call: Callable[[], object]) -> None:
        self._timers.append(self._loop.call_later(seconds, call))

    def _shake_hands(self) -> None:
        """GRPC-006: whoever has said nothing by now does not mean to."""
        if self._exchange.subscription is None:
            self._finish(grpc.StatusCode.DEADLINE_EXCEEDED, "No subscription.request came in time.")
