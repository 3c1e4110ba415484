"""Timed callbacks on an event loop, by a clock that can be replaced."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from threading import Lock
from typing import Final

__all__ = ["Timers"]

MIN_DELAY: Final = 0.001  # seconds; loops wake up slightly early, and would only have to sleep again

_log: Final = logging.getLogger("aaep.hub")


class Timers:
    """Timed callbacks in a heap, with a single timer of the loop for the earliest one."""

    def __init__(self, clock: Callable[[], float], call_soon: Callable[[Callable[[], None]], None]) -> None:
        self._clock = clock
        self._call_soon = call_soon  # schedules a call on the loop, from any thread
        self._lock = Lock()
        self._numbers = count()
        self._heap: list[tuple[float, int]] = []
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._handle: asyncio.TimerHandle | None = None

    def call_at(self, when: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Schedule a callback on the loop, from any thread, and return a function that cancels it."""
        with self._lock:
            number = next(self._numbers)
            is_earliest = not self._heap or when < self._heap[0][0]
            heappush(self._heap, (when, number))
            self._callbacks[number] = callback
        if is_earliest:
            self._call_soon(self.run_due)

        def cancel() -> None:
            self._callbacks.pop(number, None)

        return cancel

    def run_due(self) -> None:
        """Run the callbacks that are due and set the loop's timer for the next one. Call on the loop."""
        now = self._clock()
        while (callback := self._pop_due(now)) is not None:
            try:
                callback()
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
        """Remove and return the next due callback, dropping cancelled ones on the way."""
        with self._lock:
            while self._heap and (self._heap[0][0] <= now or self._heap[0][1] not in self._callbacks):
                callback = self._callbacks.pop(heappop(self._heap)[1], None)
                if callback is not None:
                    return callback
        return None

    def stop(self) -> None:
        """Cancel all callbacks. Call on the loop."""
        with self._lock:
            self._heap.clear()
            self._callbacks.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
