"""RFC 3339 timestamps: their form, their precision, and whether the moment exists. §3.2.5"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from .fields import INSTANT_PATTERN

__all__ = ["find_defect", "is_clean", "is_later", "minute_prefix", "parse_instant"]

_INSTANT_PATTERN: Final = re.compile(INSTANT_PATTERN)
_VALID_MINUTES: set[str] = set()  # beginnings known to be valid; a recording has few of them
_MAX_MINUTES: Final = 4096  # beginnings remembered
_EPOCH_MINUTE: Final = "1970-01-01T00:00"  # the one minute that has a placeholder in it
_SECONDS: Final = frozenset(f":{second:02}." for second in range(60))
_MILLISECONDS: Final = frozenset(f"{millisecond:03}Z" for millisecond in range(1000))


def find_defect(value: str) -> tuple[str, str, str] | None:
    """Return the rule a timestamp breaks, a severity or an empty string, and a sentence; None if it is sound."""
    match = _INSTANT_PATTERN.fullmatch(value)  # the whole text, so that a newline at the end is caught (C-10)
    if match is None:
        return "ENV-021", "", "is not of the form 2026-05-24T14:22:11.342Z"
    date, time, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{'+00:00' if offset == 'Z' else offset}")
    except ValueError:
        return "ENV-024", "", "names a moment that does not exist"
    # Newer Pythons accept 24:00; C-13 refuses it on all of them.
    if time.startswith("24"):
        return "ENV-024", "", "names a moment that does not exist"
    if fraction is not None and len(fraction) not in (3, 6):
        return "ENV-023", "", f"has {len(fraction)} fractional digits; use three, or six"
    if moment.year in (1, 9999) or (moment == datetime.fromtimestamp(0, UTC) and not int(fraction or 0)):
        return "ENV-024", "warning", "looks like a placeholder, not a real moment"
    if fraction is None or len(fraction) == 6:
        return "ENV-022", "", "does not have millisecond precision (three fractional digits)"
    return None


def is_clean(value: str) -> bool:
    """Whether the timestamp is sound and in the recommended form. Fast."""
    if value[:16] in _VALID_MINUTES:
        return value[16:20] in _SECONDS and value[20:] in _MILLISECONDS
    if find_defect(value) is not None:
        return False
    if len(_VALID_MINUTES) >= _MAX_MINUTES:
        _VALID_MINUTES.clear()
    if value[:16] != _EPOCH_MINUTE:
        _VALID_MINUTES.add(value[:16])
    return True


def minute_prefix(value: str) -> str | None:
    """Return a sound timestamp up to its seconds, if every second of that minute is sound; None otherwise."""
    return value[:17] if is_clean(value) and value[:16] in _VALID_MINUTES else None


def parse_instant(value: str) -> float | None:
    """
    Return seconds since the epoch, or None for text that is no timestamp.

    Lenient: any case, any precision (C-12, C-13).
    """
    match = _INSTANT_PATTERN.fullmatch(value.upper())
    if match is None:
        return None
    date, time, fraction, offset = match.groups()
    # A leap second and 24:00 are clamped on receipt (C-13).
    time = "23:59:59" if time.startswith("24") else time.replace(":60", ":59")
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{'+00:00' if offset == 'Z' else offset}")
    except ValueError:
        return None
    return moment.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)


def is_later(timestamp: str, other_timestamp: str) -> bool:
    """Whether a timestamp is after another one; one that names no moment is never before or after."""
    # Timestamps in the usual form compare as text.
    is_usual = len(timestamp) == len(other_timestamp) == 24 and timestamp[-1] == other_timestamp[-1] == "Z"
    if is_usual and timestamp <= other_timestamp:
        return False
    instant = parse_instant(timestamp)
    other_instant = parse_instant(other_timestamp)
    return instant is not None and other_instant is not None and instant > other_instant
