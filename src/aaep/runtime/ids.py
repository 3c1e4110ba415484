"""Unguessable ids, and formatted timestamps."""

from __future__ import annotations

import os
import time
from typing import Final

__all__ = ["format_timestamp", "new_event_id", "new_id"]

_ID_DIGITS: Final = 32  # hex digits of an id: 128 bits
_RANDOM_BATCH_BYTES: Final = 16_384  # bytes read from the system at a time, enough for 1,024 ids

# pop() is atomic, so that neither another thread nor a signal handler gets the same id.
_id_pool: list[str] = []
_MILLISECOND_SUFFIXES: Final = tuple(f"{number:03}Z" for number in range(1000))
_cached_second: tuple[int, str] = (-1, "")
_cached_timestamp: tuple[int, str] = (-1, "")
_TIME_DIGITS: Final = 12  # hex digits for the milliseconds since the epoch, enough until the year 10889
_cached_event_prefix: tuple[int, str] = (-1, "")


def new_id(prefix: str) -> str:
    """Return a new id: a prefix, such as ``evt_`` or ``rpl_``, and 32 random hex digits. CONF-011 §6.2.1"""
    try:
        return prefix + _id_pool.pop()
    except IndexError:
        digits = os.urandom(_RANDOM_BATCH_BYTES).hex()
        batch = [digits[start : start + _ID_DIGITS] for start in range(0, len(digits), _ID_DIGITS)]
        suffix = batch.pop()
        _id_pool.extend(batch)
        return prefix + suffix


def new_event_id(epoch_seconds: float) -> str:
    """
    Return a new id of an event: ``evt_``, 12 hex digits for its time in milliseconds, and 20 random ones.

    A journal finds events by their ids. Those that are in order it adds at the end of its index, in a page or two;
    random ones would be spread all over it, and each commit would write as many pages as it has events.
    """
    global _cached_event_prefix  # noqa: PLW0603  # a pair, replaced as a whole
    milliseconds = int(epoch_seconds * 1000)
    prefix = _cached_event_prefix
    if prefix[0] != milliseconds:
        _cached_event_prefix = prefix = (milliseconds, f"evt_{milliseconds:0{_TIME_DIGITS}x}")
    return prefix[1] + new_id("")[_TIME_DIGITS:]


def _clear_pool_after_fork() -> None:
    """Drop the pool in a forked child, which would use the same ids as its parent."""
    _id_pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_clear_pool_after_fork)


def format_timestamp(epoch_seconds: float) -> str:
    """Format seconds since the epoch as an RFC 3339 timestamp in UTC with milliseconds. ENV-022 §3.2.5"""
    global _cached_second, _cached_timestamp  # noqa: PLW0603  # pairs, each replaced as a whole
    milliseconds = int(epoch_seconds * 1000)
    timestamp = _cached_timestamp
    if timestamp[0] == milliseconds:
        return timestamp[1]
    second = milliseconds // 1000
    prefix = _cached_second
    if prefix[0] != second:
        _cached_second = prefix = (second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)))
    _cached_timestamp = timestamp = (milliseconds, prefix[1] + _MILLISECOND_SUFFIXES[milliseconds % 1000])
    return timestamp[1]
