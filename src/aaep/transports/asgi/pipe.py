"""Bytes from the hub's loop to that of an ASGI server, which may be another one in another thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from ..duplex_server import abort_when_stuck

__all__ = ["Pipe"]


class Pipe:
    """
    What the hub has written and the server has not taken yet.

    ``write``, ``linger`` and ``abort`` are called on the hub's loop, ``waiting`` and
    ``end`` from any thread, the others on the server's loop, where it is made.
    """

    def __init__(self) -> None:
        self.is_ended = False
        self.aborted = asyncio.Event()  # of the server's loop: nothing of what is left is to be sent
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()  # over the next two and is_ended
        self._parts: list[bytes] = []
        self._size = 0
        self._taking: asyncio.Future[None] | None = None  # of the server's loop: done when there is something to take

    def write(self, data: bytes) -> None:
        """Add bytes for the server to take."""
        with self._lock:
            if self.is_ended:
                return
            was_empty = not self._parts
            self._parts.append(data)
            self._size += len(data)
        if was_empty:
            self._call(self._wake)

    def waiting(self) -> int:
        """Return how many bytes the server has not passed on yet."""
        return self._size

    def end(self) -> None:
        """Say that nothing more is written."""
        with self._lock:
            if self.is_ended:
                return
            self.is_ended = True
        self._call(self._wake)

    def abort(self) -> None:
        """Have the server drop the connection, with whatever it has not passed on."""
        self._call(self.aborted.set)

    def linger(self) -> None:
        """Have the server drop the connection once the client takes nothing of what is left."""
        # On the server's loop, for the hub's may end before that.
        self._call(lambda: abort_when_stuck(self.waiting, self.aborted.set, self._loop.call_later))

    def _wake(self) -> None:
        if self._parts or self.is_ended:  # else it was taken already, and the next take waits for what comes next
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._taking is not None and not self._taking.done():
            self._taking.set_result(None)

    def _call(self, function: Callable[[], None]) -> None:
        """Call a function on the server's loop; at once, where that is the hub's own."""
        try:
            is_here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_here = False
        if is_here:
            function()
            return
        with contextlib.suppress(RuntimeError):  # the server's loop has ended, and its connections with it
            self._loop.call_soon_threadsafe(function)

    async def take(self, timeout: float) -> tuple[bytes, bool]:
        """Return what there is, as soon as there is something, or nothing after a while; and whether that was all."""
        if not self._parts and not self.is_ended:
            self._taking = self._loop.create_future()
            timer = self._loop.call_later(timeout, self._stop_waiting)
            try:
                await self._taking
            finally:
                timer.cancel()
                self._taking = None
        with self._lock:
            parts, self._parts = self._parts, []
            return b"".join(parts), self.is_ended

    def taken(self, size: int) -> None:
        """Note that the server has passed so many bytes on."""
        with self._lock:
            self._size -= size
