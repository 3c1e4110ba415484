"""Ids that nobody can guess, and timestamps that never go back."""

from __future__ import annotations

import os
import time
from typing import Final

__all__ = ["format_timestamp", "new_id"]

_ID_DIGITS: Final = 32  # hex digits of one id: 128 bits
_RANDOM_BATCH_BYTES: Final = 16_384  # random bytes asked of the system at a time, for 1,024 ids


# Taken from the end in one step, so that neither another thread nor a signal gets the same.
_id_pool: list[str] = []
_MILLISECOND_SUFFIXES: Final = tuple(f"{number:03}Z" for number in range(1000))
_cached_second: tuple[int, str] = (-1, "")
_cached_timestamp: tuple[int, str] = (-1, "")


def new_id(prefix: str) -> str:
    """A fresh id: a prefix, such as ``evt_`` or ``rpl_``, and 32 random digits. CONF-011 §6.2.1"""
    try:
        return prefix + _id_pool.pop()
    except IndexError:
        text = os.urandom(_RANDOM_BATCH_BYTES).hex()
        fresh = [text[place : place + _ID_DIGITS] for place in range(0, len(text), _ID_DIGITS)]
        mine = fresh.pop()
        _id_pool.extend(fresh)
        return prefix + mine


def _clear_pool_after_fork() -> None:
    """A child would go on with its parent's digits."""
    _id_pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_clear_pool_after_fork)


def format_timestamp(epoch_seconds: float) -> str:
    """Seconds since the epoch as RFC 3339 with three digits. ENV-022 §3.2.5"""
    global _cached_second, _cached_timestamp  # noqa: PLW0603  # pairs, each replaced as a whole
    milliseconds = int(epoch_seconds * 1000)
    latest = _cached_timestamp
    if latest[0] == milliseconds:
        return latest[1]
    second = milliseconds // 1000
    known = _cached_second
    if known[0] != second:
        _cached_second = known = (second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)))
    _cached_timestamp = latest = (milliseconds, known[1] + _MILLISECOND_SUFFIXES[milliseconds % 1000])
    return latest[1]
