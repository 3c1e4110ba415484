"""A journal in memory: for tests, and for agents that shall leave nothing behind. Gone with the process."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from threading import RLock
from typing import Final

from .base import Entry, JournalError, Kept, Retention, ends, expired, names, not_kept, refuse

__all__ = ["MemoryJournal"]

_NUMBER: Final = itemgetter(0)


class MemoryJournal:
    """Keeps entries in a list, under the same terms as the others."""

    def __init__(self, *, retention: Retention | None = None) -> None:
        self.retention = retention or Retention()
        self._lock = RLock()
        # A signal handler may append while its thread is appending; a deque takes both, each whole.
        self._fresh: deque[Entry] = deque()
        self._rows: list[tuple[int, Entry]] = []  # numbered in the order of appending
        self._numbers: dict[str, int] = {}  # of an id, the first
        self._ended: set[str] = set()
        self._last = 0
        self._gap = 0  # the number of the last entry that was dropped
        self._closed = False

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        entry = Entry(event_id, session_id, bytes(data), at)
        refuse(event_id, session_id, entry.data, at)
        self._check()
        self._fresh.append(entry)

    def when_kept(self, call: Callable[[], None]) -> bool:
        """Never later than now."""
        return False

    def keep(self) -> None:
        """Nothing to wait for: it dies with the process."""

    def sync(self) -> None:
        """Nothing to wait for: memory promises nothing."""
        self._check()

    def read(self, after: str | None = None, *, session: str | None = None, limit: int = 1000) -> list[Entry]:
        with self._settled():
            number = 0
            if after is not None:
                number = next((self._numbers[name] for name in names(after) if name in self._numbers), 0)
                if not number or (session is None and number < self._gap):
                    raise not_kept(after)
            start = bisect_right(self._rows, number, key=_NUMBER)
            found = (entry for _, entry in islice(self._rows, start, None) if session in (None, entry.session_id))
            return [*islice(found, max(limit, 0))]

    def sessions(self, *, open_only: bool = True) -> list[Kept]:
        with self._settled():
            held: dict[str, list[Entry]] = {}
            for _, entry in self._rows:
                held.setdefault(entry.session_id, []).append(entry)
            found = [self._kept(session_id, rows) for session_id, rows in held.items()]
        return [one for one in found if not (open_only and one.ended)]

    def _kept(self, session_id: str, rows: list[Entry]) -> Kept:
        times = [entry.at for entry in rows]
        size = sum(len(entry.data) for entry in rows)
        return Kept(session_id, len(rows), size, min(times), max(times), session_id in self._ended)

    def trim(self, now: float) -> int:
        with self._settled():
            return self._drop(expired(self.sessions(open_only=False), self.retention, now))

    def purge(self, session: str | None = None) -> int:
        with self._settled():
            return self._drop({entry.session_id for _, entry in self._rows} if session is None else [session])

    def _drop(self, sessions: Iterable[str]) -> int:
        gone = {*sessions}
        dropped = [number for number, entry in self._rows if entry.session_id in gone]
        if dropped:
            self._gap = max(self._gap, dropped[-1])
            self._rows = [row for row in self._rows if row[1].session_id not in gone]
            self._numbers = {entry.event_id: number for number, entry in reversed(self._rows)}
            self._ended -= gone
        return len(dropped)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._fresh.clear()
            self._rows.clear()
            self._numbers.clear()

    def _check(self) -> None:
        if self._closed:
            raise JournalError("The journal is closed.")

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Every entry so far has its number."""
        with self._lock:
            self._check()
            while self._fresh:
                entry = self._fresh.popleft()
                self._last += 1
                self._rows.append((self._last, entry))
                self._numbers.setdefault(entry.event_id, self._last)
                if ends(entry.data):
                    self._ended.add(entry.session_id)
            yield
