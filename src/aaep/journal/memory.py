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

from .base import (
    JournalEntry,
    JournalError,
    Retention,
    StoredSession,
    build_not_retained_error,
    expand_merged_id,
    find_expired_sessions,
    is_terminal_event,
    validate_entry,
)

__all__ = ["MemoryJournal"]

_ROW_NUMBER: Final = itemgetter(0)


class MemoryJournal:
    """Keeps entries in a list, under the same terms as the others."""

    def __init__(self, *, retention: Retention | None = None) -> None:
        self.retention = retention or Retention()
        self._lock = RLock()
        # A signal handler may append while its thread is appending; a deque takes both, each whole.
        self._incoming: deque[JournalEntry] = deque()
        self._rows: list[tuple[int, JournalEntry]] = []  # numbered in the order of appending
        self._number_by_event_id: dict[str, int] = {}  # of an id, the first
        self._ended_sessions: set[str] = set()
        self._last_number = 0
        self._last_deleted = 0  # the number of the last entry that was dropped
        self._is_closed = False

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        entry = JournalEntry(event_id, session_id, bytes(data), at)
        validate_entry(event_id, session_id, entry.data, at)
        self._check_open()
        self._incoming.append(entry)

    def call_when_committed(self, callback: Callable[[], None]) -> bool:
        """Never later than now."""
        return False

    def flush(self) -> None:
        """Nothing to wait for: it dies with the process."""

    def sync(self) -> None:
        """Nothing to wait for: memory promises nothing."""
        self._check_open()

    def read(self, after: str | None = None, *, session: str | None = None, limit: int = 1000) -> list[JournalEntry]:
        with self._flush_and_lock():
            number = 0
            if after is not None:
                number = next(
                    (
                        self._number_by_event_id[name]
                        for name in expand_merged_id(after)
                        if name in self._number_by_event_id
                    ),
                    0,
                )
                if not number or (session is None and number < self._last_deleted):
                    raise build_not_retained_error(after)
            start = bisect_right(self._rows, number, key=_ROW_NUMBER)
            found = (entry for _, entry in islice(self._rows, start, None) if session in (None, entry.session_id))
            return [*islice(found, max(limit, 0))]

    def list_sessions(self, *, open_only: bool = True) -> list[StoredSession]:
        with self._flush_and_lock():
            held: dict[str, list[JournalEntry]] = {}
            for _, entry in self._rows:
                held.setdefault(entry.session_id, []).append(entry)
            found = [self._build_stored_session(session_id, rows) for session_id, rows in held.items()]
        return [one for one in found if not (open_only and one.has_ended)]

    def _build_stored_session(self, session_id: str, rows: list[JournalEntry]) -> StoredSession:
        times = [entry.at for entry in rows]
        size = sum(len(entry.data) for entry in rows)
        return StoredSession(session_id, len(rows), size, min(times), max(times), session_id in self._ended_sessions)

    def trim(self, now: float) -> int:
        with self._flush_and_lock():
            return self._delete_sessions(
                find_expired_sessions(self.list_sessions(open_only=False), self.retention, now)
            )

    def purge(self, session: str | None = None) -> int:
        with self._flush_and_lock():
            return self._delete_sessions(
                {entry.session_id for _, entry in self._rows} if session is None else [session]
            )

    def _delete_sessions(self, sessions: Iterable[str]) -> int:
        gone = {*sessions}
        dropped = [number for number, entry in self._rows if entry.session_id in gone]
        if dropped:
            self._last_deleted = max(self._last_deleted, dropped[-1])
            self._rows = [row for row in self._rows if row[1].session_id not in gone]
            self._number_by_event_id = {entry.event_id: number for number, entry in reversed(self._rows)}
            self._ended_sessions -= gone
        return len(dropped)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._incoming.clear()
            self._rows.clear()
            self._number_by_event_id.clear()

    def _check_open(self) -> None:
        if self._is_closed:
            raise JournalError("The journal is closed.")

    @contextmanager
    def _flush_and_lock(self) -> Iterator[None]:
        """Every entry so far has its number."""
        with self._lock:
            self._check_open()
            while self._incoming:
                entry = self._incoming.popleft()
                self._last_number += 1
                self._rows.append((self._last_number, entry))
                self._number_by_event_id.setdefault(entry.event_id, self._last_number)
                if is_terminal_event(entry.data):
                    self._ended_sessions.add(entry.session_id)
            yield
