"""RFC 3339 timestamps: the shape, the precision, and whether the moment exists. §3.2.5"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from .fields import INSTANT

__all__ = ["find_defect", "is_clean", "is_later", "minute", "parse_instant"]

_SHAPE: Final = re.compile(INSTANT)
_MINUTES: set[str] = set()  # beginnings seen to be real; a recording holds few of them
_MOST_MINUTES: Final = 4096
_EPOCH: Final = "1970-01-01T00:00"  # the one minute of which not every moment is sound
_SECONDS: Final = frozenset(f":{second:02}." for second in range(60))
_MILLISECONDS: Final = frozenset(f"{millisecond:03}Z" for millisecond in range(1000))


def find_defect(value: str) -> tuple[str, str, str] | None:
    """What is wrong with a timestamp: the rule, a severity or nothing, and a sentence; None when it is sound."""
    match = _SHAPE.fullmatch(value)  # the whole of it, so a newline at the end is caught (C-10)
    if match is None:
        return "ENV-021", "", "is not of the form 2026-05-24T14:22:11.342Z"
    date, time, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{'+00:00' if offset == 'Z' else offset}")
    except ValueError:
        return "ENV-024", "", "names a moment that does not exist"
    # fromisoformat takes 24:00 in newer Pythons; C-13 refuses it on every one.
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
    """Whether the timestamp is sound in the form everybody should use. Fast."""
    if value[:16] in _MINUTES:
        return value[16:20] in _SECONDS and value[20:] in _MILLISECONDS
    if find_defect(value) is not None:
        return False
    if len(_MINUTES) >= _MOST_MINUTES:
        _MINUTES.clear()
    if value[:16] != _EPOCH:
        _MINUTES.add(value[:16])
    return True


def minute(value: str) -> str | None:
    """The beginning of a sound timestamp, up to its seconds, if any seconds are sound behind it."""
    return value[:17] if is_clean(value) and value[:16] in _MINUTES else None


def parse_instant(value: str) -> float | None:
    """Seconds since the epoch, or None for what cannot be read. Lenient: any case, any precision (C-12, C-13)."""
    match = _SHAPE.fullmatch(value.upper())
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


def is_later(one: str, other: str) -> bool:
    """Whether one timestamp is after another; both in the usual form compare as text."""
    if len(one) == len(other) == 24 and one[-1] == other[-1] == "Z":
        return one > other
    first, second = parse_instant(one), parse_instant(other)
    return first is not None and second is not None and first > second
