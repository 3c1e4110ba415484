"""Between two threads: events go in on one side, and a plain program or an asyncio one takes them out on the other."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

__all__ = ["Mailbox"]

T = TypeVar("T")
# Where a wait cannot be interrupted, Ctrl-C is heard after this many seconds; elsewhere at once.
_POLL_INTERVAL: Final = 0.5


class Mailbox(Generic[T]):
    """
    A queue with an end.

    ``drained`` is called by whoever takes out, once the box that was full has
    room again.
    """

    def __init__(self, capacity: int, on_drained: Callable[[], None]) -> None:
        self._items: deque[T] = deque()
        self._condition = threading.Condition()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._capacity, self._on_drained = capacity, on_drained
        self._was_full = False
        self._is_closed = False
        self._error: BaseException | None = None

    def put(self, item: T) -> None:
        """Put something in. Nothing is ever refused or dropped."""
        with self._condition:
            self._items.append(item)
            self._wake_waiters()

    def is_full(self) -> bool:
        """Whether the one who puts in should wait until it is drained."""
        with self._condition:
            self._was_full = len(self._items) >= self._capacity
            return self._was_full

    def close(self, error: BaseException | None = None) -> None:
        """Nothing more comes. Who takes out gets what is left, then the error, once, then nothing."""
        with self._condition:
            if not self._is_closed:
                self._is_closed, self._error = True, error
            self._wake_waiters()

    def get(self) -> T | None:
        """The next, when there is one; None at the end."""
        with self._condition:
            while not (self._items or self._is_closed):
                self._condition.wait(_POLL_INTERVAL)
            return self._pop()

    async def get_async(self) -> T | None:
        """The same for asyncio, on the caller's own loop."""
        loop = asyncio.get_running_loop()
        while True:
            with self._condition:
                if self._items or self._is_closed:
                    return self._pop()
                waiter = loop, loop.create_future()
                self._waiters.append(waiter)
            try:
                await waiter[1]
            finally:
                with self._condition, contextlib.suppress(ValueError):  # it was woken, and so taken out
                    self._waiters.remove(waiter)

    def _pop(self) -> T | None:
        if not self._items:
            error, self._error = self._error, None
            if error is not None:
                raise error
            return None
        item = self._items.popleft()
        if self._was_full and len(self._items) <= self._capacity // 2:
            self._was_full = False
            self._on_drained()
        return item

    def _wake_waiters(self) -> None:
        self._condition.notify_all()
        waiting, self._waiters = self._waiters, []
        for loop, future in waiting:
            with contextlib.suppress(RuntimeError):  # that loop is closed, and nobody waits in it
                loop.call_soon_threadsafe(_set_done, future)


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
