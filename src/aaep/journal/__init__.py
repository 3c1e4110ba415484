"""Where events are kept: appended before anybody sees them, read again after a restart."""

from __future__ import annotations

from .base import Entry, Journal, JournalError, Kept, Retention

__all__ = ["Entry", "Journal", "JournalError", "Kept", "Retention"]
