"""One reader's server-sent events, written straight to its socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ...protocol.codec import encode
from ...protocol.framing import sse
from ...protocol.messages import SubscriptionClose

__all__ = ["EventStream"]

HEARTBEAT: Final = b":\n\n"
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its stream ended


def _bare(event_id: str, data: bytes) -> bytes:
    if _simple(event_id, data):
        return b"event: aaep.event\nid: %b\ndata: %b\n\n" % (event_id.encode(), data)
    return sse(data, id=event_id)  # SSE-009, SSE-011, SSE-012


def _chunked(event_id: str, data: bytes) -> bytes:
    if _simple(event_id, data):
        name = event_id.encode()
        return b"".join((_head(len(name) + len(data)), name, b"\ndata: ", data, b"\n\n\r\n"))
    return _chunk(sse(data, id=event_id))


def _simple(event_id: str, data: bytes) -> bool:
    """Whether each is one line, as nearly all are."""
    return event_id.isidentifier() and event_id.isascii() and 10 not in data and 13 not in data


@lru_cache(maxsize=4096)
def _head(size: int) -> bytes:
    """Of a chunk with one event, all before its id; ``size`` is that of id and data."""
    return b"%x\r\nevent: aaep.event\nid: " % (len(b"event: aaep.event\nid: \ndata: \n\n") + size)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class EventStream:
    """
    One reader's stream: the hub's Outlet.

    Frames go straight to the socket, so they bring their chunk header along.
    What is written before the head of the response is out waits for it.
    """

    __slots__ = ("_chunked", "_early", "_transport", "ended", "frame", "lost")

    def __init__(self, transport: asyncio.Transport, *, chunked: bool) -> None:
        self.frame: Callable[[str, bytes], bytes] = _chunked if chunked else _bare
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._chunked = chunked
        self._transport = transport
        self._early: list[bytes] | None = []
        # Told at once when the connection is lost: nothing may be written to a transport that is gone.
        self.lost: Callable[[], None] = _nobody

    def open(self) -> None:
        """The head is out."""
        self._transport.write(b"".join(self._early or ()) or self._wrapped(HEARTBEAT))
        self._early = None

    @property
    def sink(self) -> EventStream | asyncio.Transport:
        """What the hub writes to, for every reader each time: once the head is out, the socket itself."""
        return self._transport if self._early is None and not self.ended.done() else self

    def write(self, data: bytes) -> None:
        if self.ended.done() or self._transport.is_closing():
            return  # the hub is about to hear of it
        if self._early is not None:
            self._early.append(data)
        else:
            self._transport.write(data)

    def waiting(self) -> int:
        return self._transport.get_write_buffer_size() + sum(map(len, self._early or ()))

    def heartbeat(self) -> None:
        """Show that we are still there, unless something is on its way that shows it."""
        if not self.waiting():
            self.write(self._wrapped(HEARTBEAT))

    def close(self, message: SubscriptionClose | None) -> None:
        if self.ended.done():
            return
        if message is not None:
            self.write(self._wrapped(sse(encode(message), event="aaep.close")))  # CF-088: without an id
        self.ended.set_result(None)
        # A reader that takes nothing would keep its socket, and what waits in it, for ever.
        asyncio.get_running_loop().call_later(_LINGER, self._transport.abort)

    def _wrapped(self, data: bytes) -> bytes:
        return _chunk(data) if self._chunked else data


def _nobody() -> None:
    """Nobody has to be told yet."""
