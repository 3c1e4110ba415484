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
_PATIENCE: Final = 0.5


class Mailbox(Generic[T]):
    """
    A queue with an end.

    ``drained`` is called by whoever takes out, once the box that was full has
    room again.
    """

    def __init__(self, room: int, drained: Callable[[], None]) -> None:
        self._items: deque[T] = deque()
        self._changed = threading.Condition()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._room, self._drained = room, drained
        self._full = False
        self._ended = False
        self._error: BaseException | None = None

    def put(self, item: T) -> None:
        """Put something in. Nothing is ever refused or dropped."""
        with self._changed:
            self._items.append(item)
            self._wake()

    def full(self) -> bool:
        """Whether the one who puts in should wait until it is drained."""
        with self._changed:
            self._full = len(self._items) >= self._room
            return self._full

    def end(self, error: BaseException | None = None) -> None:
        """Nothing more comes. Who takes out gets what is left, then the error, once, then nothing."""
        with self._changed:
            if not self._ended:
                self._ended, self._error = True, error
            self._wake()

    def get(self) -> T | None:
        """The next, when there is one; None at the end."""
        with self._changed:
            while not (self._items or self._ended):
                self._changed.wait(_PATIENCE)
            return self._take()

    async def get_soon(self) -> T | None:
        """The same for asyncio, on the caller's own loop."""
        loop = asyncio.get_running_loop()
        while True:
            with self._changed:
                if self._items or self._ended:
                    return self._take()
                waiter = loop, loop.create_future()
                self._waiting.append(waiter)
            try:
                await waiter[1]
            finally:
                with self._changed, contextlib.suppress(ValueError):  # it was woken, and so taken out
                    self._waiting.remove(waiter)

    def _take(self) -> T | None:
        if not self._items:
            error, self._error = self._error, None
            if error is not None:
                raise error
            return None
        item = self._items.popleft()
        if self._full and len(self._items) <= self._room // 2:
            self._full = False
            self._drained()
        return item

    def _wake(self) -> None:
        self._changed.notify_all()
        waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            with contextlib.suppress(RuntimeError):  # that loop is closed, and nobody waits in it
                loop.call_soon_threadsafe(_settle, future)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
