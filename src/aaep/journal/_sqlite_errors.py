"""What SQLite says when a journal cannot be used, in words that say what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NoReturn

from .base import JournalDamaged, JournalError, JournalInUse

__all__ = ["damaged", "explain", "in_use"]


def explain(path: Path, error: sqlite3.Error) -> NoReturn:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what SQLite adds to tell cases apart
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise in_use(path) from error
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        raise damaged(path) from error
    if code == sqlite3.SQLITE_FULL:
        raise JournalError(f"The journal {path} cannot grow: the disk is full. Make room, then try again.") from error
    if code == sqlite3.SQLITE_READONLY:
        text = f"The journal {path} cannot be written: allow writing to it and its folder, or name another file."
        raise JournalError(text) from error
    raise JournalError(f"The journal {path} cannot be used: {error}.") from error


def in_use(path: Path) -> JournalInUse:
    return JournalInUse(f"The journal {path} is in use. End the agent that has it open, or name another file.")


def damaged(path: Path) -> JournalDamaged:
    return JournalDamaged(f"The journal {path} is damaged. It was left as it is: move it away, or name another file.")
