"""
One reader's server-sent events over HTTP: Appendix B.1.

A frame is made once for all readers and written straight to the socket, so it
brings its chunk header along.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ...protocol.codec import encode
from ...protocol.framing import encode_sse
from ...protocol.messages import SubscriptionClose
from ..duplex_server import LINGER

__all__ = ["HEARTBEAT", "EventStream", "frame_close", "frame_event"]

HEARTBEAT: Final = b":\n\n"


def frame_event(event_id: str, data: bytes) -> bytes:
    """Return an event as lines of a stream (SSE-009, SSE-011, SSE-012)."""
    if _is_one_line(event_id, data):
        return b"event: aaep.event\nid: %b\ndata: %b\n\n" % (event_id.encode(), data)
    return encode_sse(data, id=event_id)


def frame_close(message: SubscriptionClose) -> bytes:
    """Return a close as lines of a stream: without an id, for there is nothing to resume after it (CF-088)."""
    return encode_sse(encode(message), event="aaep.close")


def _frame_chunk(event_id: str, data: bytes) -> bytes:
    if _is_one_line(event_id, data):
        name = event_id.encode()
        return b"".join((_chunk_head(len(name) + len(data)), name, b"\ndata: ", data, b"\n\n\r\n"))
    return _chunk(encode_sse(data, id=event_id))


def _is_one_line(event_id: str, data: bytes) -> bool:
    """Whether id and data have a line each, as nearly all have."""
    return event_id.isidentifier() and event_id.isascii() and 10 not in data and 13 not in data


@lru_cache(maxsize=4096)
def _chunk_head(size: int) -> bytes:
    """Return what stands before the id in a chunk with one event; ``size`` is that of id and data."""
    return b"%x\r\nevent: aaep.event\nid: " % (len(b"event: aaep.event\nid: \ndata: \n\n") + size)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class EventStream:
    """One reader's stream: the hub's FrameWriter. What is written before the response's head is sent waits for it."""

    __slots__ = ("_early", "_is_chunked", "_transport", "ended", "frame", "on_lost")

    def __init__(self, transport: asyncio.Transport, *, chunked: bool) -> None:
        self.frame: Callable[[str, bytes], bytes] = _frame_chunk if chunked else frame_event
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Called at once when the connection is lost: nothing may be written to a transport that is gone.
        self.on_lost: Callable[[], None] = _do_nothing
        self._is_chunked = chunked
        self._transport = transport
        self._early: list[bytes] | None = []

    def open(self) -> None:
        """Send what has waited for the head, which is sent."""
        self._transport.write(b"".join(self._early or ()) or self._wrap(HEARTBEAT))
        self._early = None

    @property
    def sink(self) -> EventStream | asyncio.Transport:
        """What the hub writes to, for every reader each time: once the head is sent, the socket itself."""
        return self._transport if self._early is None and not self.ended.done() else self

    def write(self, data: bytes) -> None:
        """Send one or more frames."""
        if self.ended.done() or self._transport.is_closing():
            return  # the hub is about to hear of it
        if self._early is not None:
            self._early.append(data)
        else:
            self._transport.write(data)

    def waiting(self) -> int:
        """Return how many bytes the reader has not taken yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._early or ()))

    def heartbeat(self) -> None:
        """Show that the server is still there, unless something is on its way that shows it."""
        if not self.waiting():
            self.write(self._wrap(HEARTBEAT))

    def close(self, message: SubscriptionClose | None) -> None:
        """End the stream, saying why if there is something to say."""
        if self.ended.done():
            return
        if message is not None:
            self.write(self._wrap(frame_close(message)))
        self.ended.set_result(None)
        # A reader that takes nothing would keep its socket, and what waits in it, for ever.
        asyncio.get_running_loop().call_later(LINGER, self._transport.abort)

    def _wrap(self, data: bytes) -> bytes:
        return _chunk(data) if self._is_chunked else data


def _do_nothing() -> None:
    """Stand in for a callback that was not set."""
