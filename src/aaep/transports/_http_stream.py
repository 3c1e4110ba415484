"""One reader's server-sent events, written straight to its socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from ..framing import sse
from ..messages import SubscriptionClose
from ..wire import encode

__all__ = ["EventStream"]

HEARTBEAT: Final = b":\n\n"
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its stream ended


def _bare(event_id: str, data: bytes) -> bytes:
    return sse(data, id=event_id)  # SSE-009, SSE-011, SSE-012


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _chunked(event_id: str, data: bytes) -> bytes:
    return _chunk(sse(data, id=event_id))


class EventStream:
    """
    One reader's stream: the hub's Outlet.

    Frames go straight to the socket, so they bring their chunk header along.
    What is written before the head of the response is out waits for it.
    """

    __slots__ = ("_buffered", "_chunked", "_closing", "_early", "_held", "_send", "_transport", "ended", "frame")

    def __init__(self, transport: asyncio.Transport, *, chunked: bool) -> None:
        self.frame: Callable[[str, bytes], bytes] = _chunked if chunked else _bare
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._chunked = chunked
        self._transport = transport
        self._buffered = transport.get_write_buffer_size
        self._closing = transport.is_closing
        self._early: list[bytes] = []
        self._held = 0  # bytes of it
        self._send: Callable[[bytes], None] = self._hold

    def open(self) -> None:
        """The head is out."""
        self._transport.write(b"".join(self._early) or self._wrapped(HEARTBEAT))
        self._early.clear()
        self._held = 0
        if not self.ended.done():
            self._send = self._transport.write

    def write(self, data: bytes) -> None:
        if not self._closing():
            self._send(data)

    def waiting(self) -> int:
        return self._buffered() + self._held

    def heartbeat(self) -> None:
        """Show that we are still there, unless something is on its way that shows it."""
        if not self.waiting():
            self.write(self._wrapped(HEARTBEAT))

    def close(self, message: SubscriptionClose | None) -> None:
        if self.ended.done():
            return
        if message is not None:
            self.write(self._wrapped(sse(encode(message), event="aaep.close")))  # CF-088: without an id
        self._send = _nowhere
        self.ended.set_result(None)
        # A reader that takes nothing would keep its socket, and what waits in it, for ever.
        asyncio.get_running_loop().call_later(_LINGER, self._transport.abort)

    def _hold(self, data: bytes) -> None:
        self._early.append(data)
        self._held += len(data)

    def _wrapped(self, data: bytes) -> bytes:
        return _chunk(data) if self._chunked else data


def _nowhere(data: bytes) -> None:
    """The stream has ended; the hub is about to hear of it."""
