"""
The journal interface: events are appended before they are published and read again after a restart.

A journal stores bytes in the order of appending. The only thing it reads from
them is which entry ends its session; session state is rebuilt by the caller.
Methods are synchronous and may be called from any thread. A journal has no
clock: times are passed in.

* :exc:`JournalError`
    * :exc:`EventNotRetained`: resuming after this id would miss events
    * :exc:`JournalInUse`: another process, or another object of this one, has it open
    * :exc:`JournalUnsafe`: other users could read or replace the file
    * :exc:`JournalDamaged`: the file is corrupt, or is not a journal
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Final, Protocol

import msgspec

from ..errors import AaepError
from ..protocol.events import CORE_EVENTS, TERMINAL
from ..protocol.fields import MERGED_ID_PATTERN

__all__ = [
    "EventNotRetained",
    "Journal",
    "JournalDamaged",
    "JournalEntry",
    "JournalError",
    "JournalInUse",
    "JournalUnsafe",
    "Retention",
    "StoredSession",
    "build_not_retained_error",
    "expand_merged_id",
    "find_expired_sessions",
    "is_terminal_event",
    "validate_entry",
]

MAX_ENTRY_BYTES: Final = 16 * 1024 * 1024  # bytes of an entry; messages are 1 MiB at most (CF-114)
_MERGED_ID_PATTERN: Final = re.compile(MERGED_ID_PATTERN)
_TERMINAL_TYPES: Final = frozenset(name for name, event in CORE_EVENTS.items() if event in TERMINAL)


class JournalError(AaepError):
    """A journal operation failed; the message says what to do about it."""


class EventNotRetained(JournalError, LookupError):
    """The journal cannot resume after an event, as it, or one after it, is gone. Send a snapshot instead (CF-091)."""


class JournalInUse(JournalError):
    """The journal is open elsewhere; it has one owner at a time."""


class JournalUnsafe(JournalError):
    """The journal's file or folder is open to other users, and it holds private conversations."""


class JournalDamaged(JournalError):
    """The file is damaged or not a journal. It was left unchanged."""


class JournalEntry(msgspec.Struct, frozen=True):
    """An event as it was appended. ``at`` is in seconds since the epoch."""

    event_id: str
    session_id: str
    data: bytes
    at: float


class StoredSession(msgspec.Struct, frozen=True):
    """What a journal holds of a session: the number of entries and bytes, their times, and whether it has ended."""

    session_id: str
    entry_count: int
    byte_count: int
    first_at: float
    last_at: float
    has_ended: bool


class Retention(msgspec.Struct, frozen=True):
    """The age in seconds and size in bytes beyond which ended sessions are dropped. Open sessions are always kept."""

    max_age: float = 7 * 86_400
    max_bytes: int = 64 * 1024 * 1024


class Journal(Protocol):
    """The interface of a journal."""

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        """
        Append an entry. On return ``read`` sees it, so it may be published.

        It is written to disk soon after, in a batch. The caller keeps ids
        unique: an id that is appended twice is stored twice and found at its
        first position, so that a reader that resumes there misses nothing.
        """

    def call_when_committed(self, callback: Callable[[], None]) -> bool:
        """
        Call back, on any thread, once everything appended so far would survive the end of this process.

        Returns False, and never calls back, if it would survive already. While
        writing fails it is tried again and again, and nothing is called.
        """

    def flush(self) -> bool:
        """Wait until everything appended so far would survive the end of this process; False if writing has failed."""

    def sync(self) -> None:
        """
        Wait until everything appended so far would survive a loss of power, if this journal can promise that.

        Raises :exc:`JournalError` if it cannot be written.
        """

    def read(
        self, after: str | None = None, *, session: str | None = None, limit: int = 1000, committed: bool = False
    ) -> list[JournalEntry]:
        """
        Return the next entries, in the order of appending.

        ``after`` is the id of an event; the id of a merged event stands for
        its last part (C-85). Raises :exc:`EventNotRetained` for an unknown id
        and for one after which other sessions were trimmed or purged: the
        reader would miss those without knowing. With ``session`` only that
        session is read, which is held as a whole or not at all. With ``committed``
        only entries that would survive the end of this process are returned.
        """

    def read_before(self, event_id: str, *, limit: int = 1000) -> list[JournalEntry]:
        """
        Return the last entries up to an event, that one included, in the order of appending.

        Raises :exc:`EventNotRetained` for an unknown id.
        """

    def count_after(self, event_id: str) -> int:
        """Return how many entries ``read`` would return after an event, if there were no limit; it raises the same."""

    def list_sessions(self, *, open_only: bool = True) -> list[StoredSession]:
        """
        Return the sessions that have no terminal event yet, or all of them, in the order in which they began.

        Recovery replays ``read(session=stored.session_id, limit=stored.entry_count)`` of each.
        """

    def trim(self, now: float) -> int:
        """Delete ended sessions that exceed the retention, each as a whole; return the number of entries deleted."""

    def purge(self, session: str | None = None) -> int:
        """Delete one session or all of them, open or not, and return the number of entries deleted."""

    def close(self) -> None:
        """Write what is pending and close the journal. Closing it again has no effect; other calls then fail."""


# -- helpers for implementations -------------------------------------------------


class _EventHeader(msgspec.Struct):
    type: str = ""


_header_decoder: Final = msgspec.json.Decoder(_EventHeader)


def validate_entry(event_id: str, session_id: str, data: bytes, at: float) -> None:
    """
    Raise :exc:`ValueError` for an entry that could not be written.

    Writing happens after ``append`` has returned, where one bad entry would block all that follow it.
    """
    if not (event_id and session_id):
        raise ValueError("an entry needs an event id and a session id")
    if not (event_id.isascii() and session_id.isascii()):
        (event_id + session_id).encode()  # raises a ValueError for what UTF-8 cannot encode
    if not isfinite(at):
        raise ValueError("at is not a time")
    if len(data) > MAX_ENTRY_BYTES:
        raise ValueError(f"an entry of {len(data)} bytes is too large for the journal; the most is {MAX_ENTRY_BYTES}")


def is_terminal_event(data: bytes) -> bool:
    """Whether an entry is the terminal event of its session."""
    try:
        return _header_decoder.decode(data).type in _TERMINAL_TYPES
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False  # stored all the same: the journal does not validate events


def expand_merged_id(event_id: str) -> tuple[str, ...]:
    """Return the ids to look up, in order: the id itself and, of a merged event, that of its last part (C-85)."""
    merged = _MERGED_ID_PATTERN.fullmatch(event_id)
    return (event_id,) if merged is None else (event_id, merged[1])


def build_not_retained_error(event_id: str) -> EventNotRetained:
    """Return the error for a reader that cannot resume after an event."""
    return EventNotRetained(
        f"The journal cannot resume after {event_id[:100]!r}: catch up with the current state instead."
    )


def find_expired_sessions(sessions: Iterable[StoredSession], retention: Retention, now: float) -> list[str]:
    """Return the ids of ended sessions that are too old, or the oldest of too many bytes."""
    sessions = [*sessions]
    total_bytes = sum(session.byte_count for session in sessions)
    expired = []
    ended_sessions = [session for session in sessions if session.has_ended]
    for session in sorted(ended_sessions, key=lambda session: session.last_at):
        if session.last_at < now - retention.max_age or total_bytes > retention.max_bytes:
            expired.append(session.session_id)
            total_bytes -= session.byte_count
    return expired
