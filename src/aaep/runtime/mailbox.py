"""A queue between an event loop's thread and a consumer that is blocking or asyncio code."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

__all__ = ["Mailbox"]

T = TypeVar("T")

_POLL_INTERVAL: Final = 0.5  # seconds until Ctrl-C is noticed where a signal does not interrupt a wait


class Mailbox(Generic[T]):
    """
    An unbounded queue that can be closed and reports when a slow consumer has caught up.

    ``on_drained`` is called on the consumer's thread once a queue that
    :meth:`is_full` reported as full is down to half of its ``capacity``.
    """

    def __init__(self, capacity: int, on_drained: Callable[[], None]) -> None:
        self._items: deque[T] = deque()
        self._condition = threading.Condition()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._capacity = capacity
        self._on_drained = on_drained
        self._was_full = False
        self._is_closed = False
        self._error: BaseException | None = None

    def put(self, item: T) -> None:
        """Append an item. Nothing is refused or dropped, whatever the capacity."""
        with self._condition:
            self._items.append(item)
            self._wake_waiters()

    def is_full(self) -> bool:
        """Whether the producer should pause. If so, ``on_drained`` is called once there is room again."""
        with self._condition:
            self._was_full = len(self._items) >= self._capacity
            return self._was_full

    def close(self, error: BaseException | None = None) -> None:
        """Close the queue: the consumer still gets what is left, then ``error`` once, then None."""
        with self._condition:
            if not self._is_closed:
                self._is_closed = True
                self._error = error
            self._wake_waiters()

    def get(self, timeout: float | None = None) -> T | None:
        """
        Wait for the next item and return it, or None once the queue is closed and empty.

        Raises :exc:`TimeoutError` after ``timeout`` seconds.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with self._condition:
            while not (self._items or self._is_closed):
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise TimeoutError
                self._condition.wait(min(_POLL_INTERVAL, remaining))
            return self._pop()

    async def get_async(self, timeout: float | None = None) -> T | None:
        """Await the next item on the caller's own loop, as :meth:`get` does."""
        if timeout is None:
            return await self._get_async()
        async with asyncio.timeout(timeout):
            return await self._get_async()

    async def _get_async(self) -> T | None:
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
                with self._condition, contextlib.suppress(ValueError):  # waking it has removed it
                    self._waiters.remove(waiter)

    def _pop(self) -> T | None:
        """Remove and return the next item, or raise the pending error, or return None. Needs ``_condition``."""
        if not self._items:
            error = self._error
            self._error = None
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
        waiters = self._waiters
        self._waiters = []
        for loop, future in waiters:
            with contextlib.suppress(RuntimeError):  # the loop is closed, so nothing waits there
                loop.call_soon_threadsafe(_set_done, future)


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
