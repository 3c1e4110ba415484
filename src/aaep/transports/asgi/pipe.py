"""From the hub's loop to that of an ASGI server, which may be another one in another thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from ...protocol.codec import encode
from ...protocol.framing import encode_ndjson, encode_sse
from ...protocol.messages import SubscriptionClose

__all__ = ["EventPipe", "Pipe", "TalkPipe"]


def _event(event_id: str, data: bytes) -> bytes:
    return encode_sse(data, id=event_id)  # SSE-009, SSE-011, SSE-012


def _line(event_id: str, data: bytes) -> bytes:
    return encode_ndjson(data)  # JSON has no line ends of its own, so what was joined can be parted again


class Pipe:
    """
    What the hub writes and the server has not taken yet: the hub's FrameWriter.

    The hub's methods are called on its loop, those after them on the server's.
    """

    frame: Callable[[str, bytes], bytes]

    def __init__(self) -> None:
        self.subscription_id: str | None = None  # of the hub's loop
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()  # over the next three
        self._parts: list[bytes] = []
        self._size = 0
        self.ended = False
        # Of the server's loop: who waits for something to take, and that nothing more is written.
        self._taking: asyncio.Future[None] | None = None
        self.over = asyncio.Event()

    def write(self, data: bytes) -> None:
        with self._lock:
            if self.ended:
                return
            waking = not self._parts
            self._parts.append(data)
            self._size += len(data)
        if waking:
            self._wake()

    def waiting(self) -> int:
        return self._size

    def close(self, message: SubscriptionClose | None) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Nothing more is written. From any thread."""
        with self._lock:
            if self.ended:
                return
            self.ended = True
        self._wake()
        self._call(self.over.set)

    def _wake(self) -> None:
        self._call(self._go_on)

    def _go_on(self) -> None:
        if self._parts or self.ended:  # else somebody has it already, and who waits now waits for the next
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._taking is not None and not self._taking.done():
            self._taking.set_result(None)

    def _call(self, function: Callable[[], None]) -> None:
        """On the server's loop; at once, where that is the hub's own."""
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            function()
            return
        with contextlib.suppress(RuntimeError):  # the server's loop has ended: there is nobody to tell
            self._loop.call_soon_threadsafe(function)

    async def take(self, seconds: float) -> tuple[bytes, bool]:
        """What there is, as soon as there is something, or nothing after a while; and whether that was all."""
        if not self._parts and not self.ended:
            self._taking = self._loop.create_future()
            late = self._loop.call_later(seconds, self._stop_waiting)
            try:
                await self._taking
            finally:
                late.cancel()
                self._taking = None
        with self._lock:
            parts, self._parts = self._parts, []
            return b"".join(parts), self.ended

    def taken(self, size: int) -> None:
        """The server has passed so many bytes on."""
        with self._lock:
            self._size -= size


class EventPipe(Pipe):
    """Server-sent events."""

    def __init__(self) -> None:
        super().__init__()
        self.frame = _event

    def close(self, message: SubscriptionClose | None) -> None:
        if message is not None:
            self.write(encode_sse(encode(message), event="aaep.close"))  # CF-088: without an id
        self.end()


class TalkPipe(Pipe):
    """Messages of a WebSocket, a line for each; ``close`` of the hub is left to whoever talks."""

    def __init__(self, hung_up: Callable[[SubscriptionClose | None], None]) -> None:
        super().__init__()
        self.frame = _line
        self.code = 1000
        self._hung_up = hung_up

    def close(self, message: SubscriptionClose | None) -> None:
        self._hung_up(message)
