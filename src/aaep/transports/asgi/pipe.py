"""A pipe for bytes from the hub's loop to the loop of an ASGI server, which may run in another thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from ..duplex_server import abort_when_stuck

__all__ = ["Pipe"]


class Pipe:
    """
    A buffer between the hub, which writes, and the server, which reads.

    ``write``, ``linger`` and ``abort`` are called on the hub's loop, ``count_unsent_bytes``
    and ``end`` from any thread, the others on the server's loop, where it is created.
    """

    def __init__(self) -> None:
        self.is_ended = False
        self.aborted = asyncio.Event()  # belongs to the server's loop; if set, unsent data is discarded
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()  # protects _parts, _unsent_bytes and is_ended
        self._parts: list[bytes] = []
        self._unsent_bytes = 0
        self._waiter: asyncio.Future[None] | None = None  # belongs to the server's loop; done when there is data

    def write(self, data: bytes) -> None:
        """Append bytes for the server to send."""
        with self._lock:
            if self.is_ended:
                return
            was_empty = not self._parts
            self._parts.append(data)
            self._unsent_bytes += len(data)
        if was_empty:
            self._call_on_server_loop(self._wake)

    def count_unsent_bytes(self) -> int:
        """Return how many bytes the server has not sent yet."""
        return self._unsent_bytes

    def end(self) -> None:
        """Mark the end of the data."""
        with self._lock:
            if self.is_ended:
                return
            self.is_ended = True
        self._call_on_server_loop(self._wake)

    def abort(self) -> None:
        """Make the server drop the connection and discard unsent data."""
        self._call_on_server_loop(self.aborted.set)

    def linger(self) -> None:
        """Make the server drop the connection once the client stops reading."""
        # On the server's loop, because the hub's may end earlier.
        self._call_on_server_loop(
            lambda: abort_when_stuck(self.count_unsent_bytes, self.aborted.set, self._loop.call_later)
        )

    def _wake(self) -> None:
        if self._parts or self.is_ended:  # otherwise the data was taken already
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _call_on_server_loop(self, function: Callable[[], None]) -> None:
        """Call a function on the server's loop; directly if that is the current loop."""
        try:
            is_current_loop = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_current_loop = False
        if is_current_loop:
            function()
            return
        with contextlib.suppress(RuntimeError):  # the server's loop has ended, and its connections with it
            self._loop.call_soon_threadsafe(function)

    async def take(self, timeout: float) -> tuple[bytes, bool]:
        """Wait for data and return it, empty after the timeout, and whether the pipe has ended."""
        if not self._parts and not self.is_ended:
            self._waiter = self._loop.create_future()
            timer = self._loop.call_later(timeout, self._stop_waiting)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        with self._lock:
            parts, self._parts = self._parts, []
            return b"".join(parts), self.is_ended

    def mark_sent(self, size: int) -> None:
        """Record that the server has sent ``size`` bytes."""
        with self._lock:
            self._unsent_bytes -= size
