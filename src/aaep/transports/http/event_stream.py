"""
Framing and writing of server-sent events for the HTTP server (Appendix B.1).

A frame is encoded once for all readers and written directly to their sockets, so it
includes the header of its HTTP chunk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ...protocol.codec import encode
from ...protocol.framing import encode_sse
from ...protocol.messages import SubscriptionClose
from ..duplex_server import LINGER_TIMEOUT

__all__ = ["HEARTBEAT", "EventStream", "frame_close", "frame_event"]

HEARTBEAT: Final = b":\n\n"


def frame_event(event_id: str, data: bytes) -> bytes:
    """Return an event as a server-sent event (SSE-009, SSE-011, SSE-012)."""
    if _is_one_line(event_id, data):
        return b"event: aaep.event\nid: %b\ndata: %b\n\n" % (event_id.encode(), data)
    return encode_sse(data, id=event_id)


def frame_close(message: SubscriptionClose) -> bytes:
    """Return a close message as a server-sent event, without an id: it cannot be resumed after (CF-088)."""
    return encode_sse(encode(message), event="aaep.close")


def _frame_chunk(event_id: str, data: bytes) -> bytes:
    if _is_one_line(event_id, data):
        name = event_id.encode()
        return b"".join((_encode_chunk_head(len(name) + len(data)), name, b"\ndata: ", data, b"\n\n\r\n"))
    return _encode_chunk(encode_sse(data, id=event_id))


def _is_one_line(event_id: str, data: bytes) -> bool:
    """Whether id and data fit on one line each, as nearly always."""
    return event_id.isidentifier() and event_id.isascii() and 10 not in data and 13 not in data


@lru_cache(maxsize=4096)
def _encode_chunk_head(size: int) -> bytes:
    """Return the beginning of a one-event chunk, up to the id; ``size`` is the length of id and data."""
    return b"%x\r\nevent: aaep.event\nid: " % (len(b"event: aaep.event\nid: \ndata: \n\n") + size)


def _encode_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class EventStream:
    """One reader's stream: the hub's FrameWriter. Writes are buffered until the response's head is sent."""

    __slots__ = ("_early", "_is_chunked", "_transport", "ended", "frame", "on_lost")

    def __init__(self, transport: asyncio.Transport, *, chunked: bool) -> None:
        self.frame: Callable[[str, bytes], bytes] = _frame_chunk if chunked else frame_event
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Called as soon as the connection is lost: nothing may be written to a closed transport.
        self.on_lost: Callable[[], None] = _do_nothing
        self._is_chunked = chunked
        self._transport = transport
        self._early: list[bytes] | None = []

    def open(self) -> None:
        """Flush the buffered writes, now that the response's head is sent."""
        self._transport.write(b"".join(self._early or ()) or self._wrap_chunk(HEARTBEAT))
        self._early = None

    @property
    def sink(self) -> EventStream | asyncio.Transport:
        """The object that the hub writes frames to: the socket itself once the response's head is sent."""
        return self._transport if self._early is None and not self.ended.done() else self

    def write(self, data: bytes) -> None:
        """Send one or more frames."""
        if self.ended.done() or self._transport.is_closing():
            return  # the hub is about to be notified
        if self._early is not None:
            self._early.append(data)
        else:
            self._transport.write(data)

    def count_unsent_bytes(self) -> int:
        """Return how many bytes are not sent to the reader yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._early or ()))

    def send_heartbeat(self) -> None:
        """Send a heartbeat, unless unsent data makes it unnecessary."""
        if not self.count_unsent_bytes():
            self.write(self._wrap_chunk(HEARTBEAT))

    def close(self, message: SubscriptionClose | None) -> None:
        """End the stream, after the close message if there is one."""
        if self.ended.done():
            return
        if message is not None:
            self.write(self._wrap_chunk(frame_close(message)))
        self.ended.set_result(None)
        # A reader that stops reading would hold its socket and buffer forever.
        asyncio.get_running_loop().call_later(LINGER_TIMEOUT, self._transport.abort)

    def _wrap_chunk(self, data: bytes) -> bytes:
        return _encode_chunk(data) if self._is_chunked else data


def _do_nothing() -> None:
    """Stand in for a callback that was not set."""
