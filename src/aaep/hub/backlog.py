"""
What was published and is not yet written to the readers, bounded by its bytes.

An agent can speak faster than a journal commits and readers are written to. A
question, an error or an outcome would then stand behind all that was said before
it. So who emits waits while there is more than the readers get within a moment.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable

from ..protocol.events import Envelope
from ..runtime.background import Waitable
from .sessions import SessionSource

__all__ = ["Backlog", "PublishedEvent"]

PublishedEvent = tuple[SessionSource, Envelope, bytes]


class Backlog:
    """
    The events that wait to be written, in order, and who waits for room. From any thread.

    Adding never waits, for the adder may hold locks that the readers' side needs: who may wait, waits first.
    """

    def __init__(self, max_bytes: int) -> None:
        self.has_room = True
        self._max_bytes = max_bytes
        self._byte_count = 0
        self._is_closed = False
        self._events: deque[PublishedEvent] = deque()
        self._callbacks: list[Callable[[], object]] = []  # to be called once there is room
        self._lock = threading.RLock()  # a signal handler may emit while its thread does

    def __len__(self) -> int:
        return len(self._events)

    def add(self, source: SessionSource, event: Envelope, data: bytes) -> None:
        """Add an event, whether or not there is room."""
        self._events.append((source, event, data))
        self.hold(len(data))

    def take(self, count: int) -> list[PublishedEvent]:
        """Remove the first events, as far as there are any. Their bytes count until they are released."""
        events = self._events
        return [events.popleft() for _ in range(min(count, len(events)))]

    def put_back(self, events: Iterable[PublishedEvent]) -> None:
        """Put events that were taken back to the front."""
        self._events.extendleft(reversed([*events]))

    def clear(self) -> None:
        """Forget all events: nobody is left to hear them."""
        self.release(sum(len(data) for _, _, data in self.take(len(self))))

    def hold(self, byte_count: int) -> None:
        """Count bytes that are on their way."""
        with self._lock:
            self._byte_count += byte_count
            if self._byte_count >= self._max_bytes and not self._is_closed:
                self.has_room = False

    def release(self, byte_count: int) -> None:
        """Count bytes that are written, and wake who waits for room once half of it is free."""
        with self._lock:
            self._byte_count -= byte_count
            if self.has_room or self._byte_count > self._max_bytes // 2:
                return
            self.has_room = True
            callbacks = self._callbacks
            self._callbacks = []
        for callback in callbacks:
            callback()

    def call_when_room(self, callback: Callable[[], object]) -> None:
        """Call back, now or later and on any thread, once there is room or nothing is written any more."""
        with self._lock:
            if not self.has_room:
                self._callbacks.append(callback)
                return
        callback()

    def wait_for_room(self) -> Waitable[None]:
        """Return what is done once there is room or nothing is written any more."""
        room: Waitable[None] = Waitable()
        self.call_when_room(lambda: room.set_result(None))
        return room

    def close(self) -> None:
        """Let everybody go on: nothing is written any more."""
        with self._lock:
            self._is_closed = True
            self._byte_count = 0
        self.release(0)
