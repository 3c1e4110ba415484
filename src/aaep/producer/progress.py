"""
How far work has come, as it can be told.

A number that is out of range is a mistake of no consequence, so it is corrected
and logged: it must not end the work that it is about.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, TypeGuard

__all__ = ["ProgressNumbers", "correct_progress"]

_MAX_SECONDS: Final = 86_400  # a day: the longest time that can be told


class ProgressNumbers(NamedTuple):
    """The numbers of a progress report, each None if there is none to tell."""

    percent: float | None
    step: int | None
    total: int | None
    left_seconds: float | None


def correct_progress(given: ProgressNumbers) -> tuple[ProgressNumbers, list[str]]:
    """Return the numbers as they can be told, and a sentence for each correction."""
    percent, step, total, left_seconds = given
    corrections = []
    if _is_number(percent) and not (math.isfinite(percent) and 0 <= percent <= 100):
        corrections.append(f"percent is from 0 to 100, not {percent}.")
        percent = min(max(percent, 0), 100) if math.isfinite(percent) else None
    if _is_number(step) and step < 1:
        corrections.append(f"step counts from 1, not {step}.")
        step = None
    if _is_number(total) and total < (step or 1):
        corrections.append(f"total is not below step, but {total}.")
        total = None
    if _is_number(left_seconds) and not (math.isfinite(left_seconds) and 0 <= left_seconds <= _MAX_SECONDS):
        corrections.append(f"left_seconds is from 0 to {_MAX_SECONDS}, not {left_seconds}.")
        left_seconds = min(max(left_seconds, 0), _MAX_SECONDS) if math.isfinite(left_seconds) else None
    return ProgressNumbers(percent, step, total, left_seconds), corrections


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number; the shape of the event refuses any other."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
