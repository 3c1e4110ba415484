"""Calls that an event loop makes at their times, by a clock that is given."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from threading import Lock
from typing import Final

__all__ = ["Timers"]

MIN_DELAY: Final = 0.001  # loops wake up a little early, and would only be sent to sleep again

_log: Final = logging.getLogger("aaep.hub")


class Timers:
    """A heap of calls and one timer of the loop, for the first of them."""

    def __init__(self, clock: Callable[[], float], call_soon: Callable[[Callable[[], None]], None]) -> None:
        self._clock = clock
        self._call_soon = call_soon  # has the loop call something soon, from any thread
        self._lock = Lock()
        self._numbers = count()
        self._heap: list[tuple[float, int]] = []
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._handle: asyncio.TimerHandle | None = None

    def call_at(self, when: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Have something called on the loop. From any thread; what is given back takes it back."""
        with self._lock:
            number = next(self._numbers)
            first = not self._heap or when < self._heap[0][0]
            heappush(self._heap, (when, number))
            self._callbacks[number] = callback
        if first:
            self._call_soon(self.run_due)

        def cancel() -> None:
            self._callbacks.pop(number, None)

        return cancel

    def run_due(self) -> None:
        """Make the calls that are due and set the loop's timer for the next. On the loop."""
        now = self._clock()
        while (call := self._pop_due(now)) is not None:
            try:
                call()
            except Exception:
                _log.exception("A timed call failed.")
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        with self._lock:
            when = self._heap[0][0] if self._heap else None
        if when is not None:
            delay = max(when - self._clock(), MIN_DELAY)
            self._handle = asyncio.get_running_loop().call_later(delay, self.run_due)

    def _pop_due(self, now: float) -> Callable[[], None] | None:
        with self._lock:
            while self._heap and (self._heap[0][0] <= now or self._heap[0][1] not in self._callbacks):
                call = self._callbacks.pop(heappop(self._heap)[1], None)
                if call is not None:
                    return call
        return None

    def stop(self) -> None:
        """Forget all of them. On the loop."""
        with self._lock:
            self._heap.clear()
            self._callbacks.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
