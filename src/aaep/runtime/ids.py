"""Ids that nobody can guess, and timestamps that never go back."""

from __future__ import annotations

import os
import time
from typing import Final

__all__ = ["identifier", "timestamp"]

_SIZE: Final = 32  # hex digits of one id: 128 bits
_BATCH: Final = 16_384  # random bytes asked of the system at a time, for 1,024 ids


# Taken from the end in one step, so that neither another thread nor a signal gets the same.
_ready: list[str] = []
_MILLISECONDS: Final = tuple(f"{number:03}Z" for number in range(1000))
_second: tuple[int, str] = (-1, "")
_latest: tuple[int, str] = (-1, "")


def identifier(prefix: str) -> str:
    """A fresh id: a prefix, such as ``evt_`` or ``rpl_``, and 32 random digits. CONF-011 §6.2.1"""
    try:
        return prefix + _ready.pop()
    except IndexError:
        text = os.urandom(_BATCH).hex()
        fresh = [text[place : place + _SIZE] for place in range(0, len(text), _SIZE)]
        mine = fresh.pop()
        _ready.extend(fresh)
        return prefix + mine


def _after_fork() -> None:
    """A child would go on with its parent's digits."""
    _ready.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def timestamp(wall: float) -> str:
    """Seconds since the epoch as RFC 3339 with three digits. ENV-022 §3.2.5"""
    global _second, _latest  # noqa: PLW0603  # pairs, each replaced as a whole
    milliseconds = int(wall * 1000)
    latest = _latest
    if latest[0] == milliseconds:
        return latest[1]
    second = milliseconds // 1000
    known = _second
    if known[0] != second:
        _second = known = (second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)))
    _latest = latest = (milliseconds, known[1] + _MILLISECONDS[milliseconds % 1000])
    return latest[1]
