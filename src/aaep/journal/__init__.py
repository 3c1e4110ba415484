"""Persistent storage of events, which are appended before they are published and read again after a restart."""

from __future__ import annotations

from .base import Journal, JournalEntry, JournalError, Retention, StoredSession

__all__ = ["Journal", "JournalEntry", "JournalError", "Retention", "StoredSession"]
