"""Where events are kept: appended before anybody sees them, read again after a restart."""

from __future__ import annotations

from .base import Journal, JournalEntry, JournalError, Retention, StoredSession

__all__ = ["Journal", "JournalEntry", "JournalError", "Retention", "StoredSession"]
