"""A journal in memory, for tests and for agents that must leave nothing on disk."""

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
    """A journal that keeps its entries in a list and loses them with the process."""

    def __init__(self, *, retention: Retention | None = None) -> None:
        self.retention = retention or Retention()
        self._lock = RLock()
        # A signal handler may append while its thread is appending; appending to a deque is atomic.
        self._incoming: deque[JournalEntry] = deque()
        self._rows: list[tuple[int, JournalEntry]] = []  # numbered in the order of appending
        self._rows_by_session: dict[str, list[tuple[int, JournalEntry]]] = {}
        self._number_by_event_id: dict[str, int] = {}  # the first number of each id
        self._ended_sessions: set[str] = set()
        self._last_number = 0
        self._last_deleted = 0  # the highest number that was deleted
        self._is_closed = False

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        """Append an entry, which ``read`` sees at once."""
        entry = JournalEntry(event_id, session_id, bytes(data), at)
        validate_entry(event_id, session_id, entry.data, at)
        self._check_open()
        self._incoming.append(entry)

    def call_when_committed(self, callback: Callable[[], None]) -> bool:
        """Return False: in memory nothing is committed later."""
        return False

    def flush(self) -> bool:
        """Return True: in memory there is nothing to write."""
        return True

    def sync(self) -> None:
        """Do nothing: memory does not survive a loss of power."""
        self._check_open()

    def read(
        self, after: str | None = None, *, session: str | None = None, limit: int = 1000, committed: bool = False
    ) -> list[JournalEntry]:
        """Return the next entries, of all sessions or of one, after an event. In memory all of them are committed."""
        with self._flush_and_lock():
            number = 0
            if after is not None:
                number = self._find_number(after)
                if session is None and number < self._last_deleted:
                    raise build_not_retained_error(after)
            rows = self._rows if session is None else self._rows_by_session.get(session, [])
            start = bisect_right(rows, number, key=_ROW_NUMBER)
            return [entry for _, entry in islice(rows, start, start + max(limit, 0))]

    def read_before(self, event_id: str, *, limit: int = 1000) -> list[JournalEntry]:
        """Return the last entries up to an event, that one included."""
        with self._flush_and_lock():
            end = bisect_right(self._rows, self._find_number(event_id), key=_ROW_NUMBER)
            return [entry for _, entry in self._rows[max(0, end - limit) : end]]

    def count_after(self, event_id: str) -> int:
        """Return the number of entries after an event."""
        with self._flush_and_lock():
            number = self._find_number(event_id)
            if number < self._last_deleted:
                raise build_not_retained_error(event_id)
            return len(self._rows) - bisect_right(self._rows, number, key=_ROW_NUMBER)

    def _find_number(self, event_id: str) -> int:
        """Return the first number of an event."""
        numbers = (self._number_by_event_id.get(wanted_id, 0) for wanted_id in expand_merged_id(event_id))
        number = next(filter(None, numbers), 0)
        if not number:
            raise build_not_retained_error(event_id)
        return number

    def list_sessions(self, *, open_only: bool = True) -> list[StoredSession]:
        """Return the open sessions, or all of them, in the order in which they began."""
        with self._flush_and_lock():
            sessions = [
                self._build_stored_session(session_id, [entry for _, entry in rows])
                for session_id, rows in self._rows_by_session.items()
            ]
        return [session for session in sessions if not (open_only and session.has_ended)]

    def _build_stored_session(self, session_id: str, entries: list[JournalEntry]) -> StoredSession:
        times = [entry.at for entry in entries]
        byte_count = sum(len(entry.data) for entry in entries)
        has_ended = session_id in self._ended_sessions
        return StoredSession(session_id, len(entries), byte_count, min(times), max(times), has_ended)

    def trim(self, now: float) -> int:
        """Delete ended sessions that exceed the retention and return the number of entries deleted."""
        with self._flush_and_lock():
            expired = find_expired_sessions(self.list_sessions(open_only=False), self.retention, now)
            return self._delete_sessions(expired)

    def purge(self, session: str | None = None) -> int:
        """Delete one session or all of them and return the number of entries deleted."""
        with self._flush_and_lock():
            return self._delete_sessions([*self._rows_by_session] if session is None else [session])

    def _delete_sessions(self, session_ids: Iterable[str]) -> int:
        deleted_ids = {*session_ids}
        deleted_numbers = [number for number, entry in self._rows if entry.session_id in deleted_ids]
        if deleted_numbers:
            self._last_deleted = max(self._last_deleted, deleted_numbers[-1])
            self._rows = [row for row in self._rows if row[1].session_id not in deleted_ids]
            for session_id in deleted_ids:
                self._rows_by_session.pop(session_id, None)
            self._number_by_event_id = {entry.event_id: number for number, entry in reversed(self._rows)}
            self._ended_sessions -= deleted_ids
        return len(deleted_numbers)

    def close(self) -> None:
        """Discard all entries and close the journal."""
        with self._lock:
            self._is_closed = True
            self._incoming.clear()
            self._rows.clear()
            self._rows_by_session.clear()
            self._number_by_event_id.clear()

    def _check_open(self) -> None:
        if self._is_closed:
            raise JournalError("The journal is closed.")

    @contextmanager
    def _flush_and_lock(self) -> Iterator[None]:
        """Number the entries appended so far, and hold the lock for the block."""
        with self._lock:
            self._check_open()
            while self._incoming:
                entry = self._incoming.popleft()
                self._last_number += 1
                row = self._last_number, entry
                self._rows.append(row)
                self._rows_by_session.setdefault(entry.session_id, []).append(row)
                self._number_by_event_id.setdefault(entry.event_id, self._last_number)
                if is_terminal_event(entry.data):
                    self._ended_sessions.add(entry.session_id)
            yield
