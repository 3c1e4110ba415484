"""
Condenses progress: of many reports, those that a listener needs.

Of each agent in a session the latest report is held, and announced when enough time has passed and the work
has come far enough since the one that was announced before. The last one is never lost.
"""

from __future__ import annotations

import math

import msgspec

from ..protocol.events import Envelope, ProgressUpdated
from ..protocol.fields import get_member
from .preferences import DEFAULT_PREFERENCES, Preferences

__all__ = ["ProgressCondenser"]


class _Report(msgspec.Struct):
    """What was announced of one agent's progress, and what is held."""

    announced_at: float = -math.inf
    announced_percent: float | None = None
    held: ProgressUpdated | None = None


class ProgressCondenser:
    """Decides which progress is announced: at most once in an interval, and after a step of some percent."""

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES) -> None:
        self.preferences = preferences
        self._reports: dict[tuple[str, str], _Report] = {}  # by session and agent

    def add(self, event: ProgressUpdated, now: float) -> ProgressUpdated | None:
        """Take a report, and return it if it is to be announced now; otherwise it is held."""
        if not _is_condensable(event):
            return event
        report = self._reports.setdefault(_get_key(event), _Report())
        report.held = event
        is_last = _is_last(event) and _get_percent(event) != report.announced_percent
        return self._release(report, now) if is_last or self._is_due(report, now) else None

    def advance(self, now: float) -> list[ProgressUpdated]:
        """Return the held reports that are due by now."""
        due = [report for report in self._reports.values() if self._is_due(report, now)]
        return [event for report in due if (event := self._release(report, now)) is not None]

    def next_deadline(self) -> float | None:
        """Return when a held report is due, None while there is none that time alone makes due."""
        times = [
            report.announced_at + self.preferences.progress_interval
            for report in self._reports.values()
            if report.held is not None and self._has_advanced(report, report.held)
        ]
        return min(times, default=None)

    def drop(self, event: Envelope) -> None:
        """Drop the held report of an event's agent, because the event makes it obsolete."""
        report = self._reports.get(_get_key(event))
        if report is not None:
            report.held = None

    def close(self, session_id: str) -> list[ProgressUpdated]:
        """Return the held reports of a session that ends, and forget it."""
        reports = [self._reports.pop(key) for key in [*self._reports] if key[0] == session_id]
        return [report.held for report in reports if report.held is not None]

    def _is_due(self, report: _Report, now: float) -> bool:
        if report.held is None:
            return False
        has_waited = now >= report.announced_at + self.preferences.progress_interval  # as next_deadline() has it
        return has_waited and self._has_advanced(report, report.held)

    def _has_advanced(self, report: _Report, event: ProgressUpdated) -> bool:
        """Whether the work has come far enough since the last announcement; without numbers nobody can tell."""
        percent = _get_percent(event)
        if percent is None or report.announced_percent is None:
            return True
        return abs(percent - report.announced_percent) >= self.preferences.progress_step

    @staticmethod
    def _release(report: _Report, now: float) -> ProgressUpdated | None:
        event = report.held
        report.held = None
        report.announced_at = now
        report.announced_percent = _get_percent(event) if event is not None else None
        return event


def _get_key(event: Envelope) -> tuple[str, str]:
    return event.session_id, event.producer.agent_id


def _get_percent(event: ProgressUpdated) -> float | None:
    percent = get_member(event.progress, "percent")
    return float(percent) if isinstance(percent, (int, float)) and math.isfinite(percent) else None


def _is_condensable(event: ProgressUpdated) -> bool:
    """Whether an event is one of many: not one that is urgent, and not the countdown of a prompt."""
    if event.urgency == "background":
        return True
    has_numbers = _get_percent(event) is not None or get_member(event.progress, "step") is not None
    return event.urgency != "critical" and has_numbers


def _is_last(event: ProgressUpdated) -> bool:
    step = get_member(event.progress, "step")
    percent = _get_percent(event)
    is_last_step = isinstance(step, int) and step == get_member(event.progress, "total_steps")
    return is_last_step or (percent is not None and percent >= 100)
