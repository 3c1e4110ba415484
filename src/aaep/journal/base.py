"""
Where events are kept: appended before anybody sees them, read again after a restart.

A journal keeps bytes in the order of appending. All it knows of them is which
entry ends its session; whoever opens it folds the rest. Methods are plain and
may be called from any thread. It asks no clock: times are given to it.

* :exc:`JournalError`
    * :exc:`EventNotKept`: resuming after this id would leave something out
    * :exc:`JournalInUse`: another process, or another object of this one, has it
    * :exc:`JournalUnsafe`: others could read or replace the file
    * :exc:`JournalDamaged`: the file is broken, or is something else
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

MAX_ENTRY_BYTES: Final = 16 * 1024 * 1024  # of one entry; messages are 1 MiB at most (CF-114)
_MERGED_ID_PATTERN: Final = re.compile(MERGED_ID_PATTERN)
_TERMINAL_TYPES: Final = frozenset(name for name, event in CORE_EVENTS.items() if event in TERMINAL)


class JournalError(AaepError):
    """The journal cannot do what was asked; the message says what to do about it."""


class EventNotRetained(JournalError, LookupError):
    """No such entry, or something after it is gone. Catch up with a summary of the state instead (CF-091)."""


class JournalInUse(JournalError):
    """Somebody else has the journal open. It has one owner at a time."""


class JournalUnsafe(JournalError):
    """The file, or its folder, is open to other users. It holds what people said."""


class JournalDamaged(JournalError):
    """The file is damaged or not a journal. It was left as it is."""


class JournalEntry(msgspec.Struct, frozen=True):
    """One event as it was appended. ``at`` is seconds since the epoch."""

    event_id: str
    session_id: str
    data: bytes
    at: float


class StoredSession(msgspec.Struct, frozen=True):
    """What is held of one session: how many entries and bytes, from when to when, and whether it has ended."""

    session_id: str
    entry_count: int
    byte_count: int
    first_at: float
    last_at: float
    has_ended: bool


class Retention(msgspec.Struct, frozen=True):
    """How long and how much to keep, in seconds and in bytes of events. Sessions still open are kept regardless."""

    max_age: float = 7 * 86_400
    max_bytes: int = 64 * 1024 * 1024


class Journal(Protocol):
    """What every file of this folder offers."""

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        """
        Put an entry at the end. On return ``read`` sees it, so it may be published.

        It reaches the disk soon after, together with others. Ids are for the
        caller to keep unique: one that is appended twice is kept twice and
        found at its first place, so that nobody who resumes there misses any.
        """

    def call_when_committed(self, callback: Callable[[], None]) -> bool:
        """
        Have something called, from any thread, once all that was appended so far would outlive this process.

        False if it would already; then nothing is called.
        """

    def flush(self) -> None:
        """Wait until everything appended so far would survive the death of this process, or cannot be written."""

    def sync(self) -> None:
        """Wait until everything appended so far would survive a loss of power, if this journal can promise that."""

    def read(self, after: str | None = None, *, session: str | None = None, limit: int = 1000) -> list[JournalEntry]:
        """
        The next entries, in the order of appending.

        ``after`` is the id of an event, or of a merged one, which stands for
        its last part (C-85). Raises :exc:`EventNotKept` for an unknown id and
        for one after which other sessions were trimmed or purged: the reader
        would miss them without knowing. With ``session`` only that session
        counts, and it is held whole or not at all.
        """

    def list_sessions(self, *, open_only: bool = True) -> list[StoredSession]:
        """
        The sessions without a terminal event yet, or all of them, in the order in which they began.

        Recovery folds ``read(session=one.session_id, limit=one.entries)`` of each.
        """

    def trim(self, now: float) -> int:
        """Drop ended sessions, each as a whole, that are too old or too much. Returns how many entries went."""

    def purge(self, session: str | None = None) -> int:
        """Drop one session or everything, open or not. Returns how many entries went."""

    def close(self) -> None:
        """Write what is left and let go. Closing twice is fine; anything else after it is an error."""


# -- what journals share ---------------------------------------------------------


class _EventHeader(msgspec.Struct):
    type: str = ""


_header_decoder: Final = msgspec.json.Decoder(_EventHeader)


def validate_entry(event_id: str, session_id: str, data: bytes, at: float) -> None:
    """
    Raise :exc:`ValueError` for what could not be written later.

    By then its caller is gone, and one bad entry would hold up all that follow it.
    """
    if not (event_id and session_id):
        raise ValueError("an entry needs an event id and a session id")
    if not (event_id.isascii() and session_id.isascii()):
        (event_id + session_id).encode()  # raises a ValueError for what UTF-8 cannot hold
    if not isfinite(at):
        raise ValueError("at is not a time")
    if len(data) > MAX_ENTRY_BYTES:
        raise ValueError(f"an entry of {len(data)} bytes is too large for the journal; the most is {MAX_ENTRY_BYTES}")


def is_terminal_event(data: bytes) -> bool:
    """Whether an entry is the terminal event of its session."""
    try:
        return _header_decoder.decode(data).type in _TERMINAL_TYPES
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False  # kept all the same: the journal does not judge


def expand_merged_id(event_id: str) -> tuple[str, ...]:
    """The ids to look for, in order: as given, and the last part if it is a merged one (C-85)."""
    merged = _MERGED_ID_PATTERN.fullmatch(event_id)
    return (event_id,) if merged is None else (event_id, merged[1])


def build_not_retained_error(event_id: str) -> EventNotRetained:
    return EventNotRetained(
        f"The journal cannot resume after {event_id[:100]!r}: catch up with the current state instead."
    )


def find_expired_sessions(sessions: Iterable[StoredSession], retention: Retention, now: float) -> list[str]:
    """Which sessions retention lets go: the too old, then those that ended first until the rest is small enough."""
    sessions = [*sessions]
    total = sum(one.byte_count for one in sessions)
    gone = []
    for one in sorted((one for one in sessions if one.has_ended), key=lambda one: one.last_at):
        if one.last_at < now - retention.max_age or total > retention.max_bytes:
            gone.append(one.session_id)
            total -= one.byte_count
    return gone
