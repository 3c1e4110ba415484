"""
Flow by ear: whether speech keeps up with what comes, and what to ask of agents when it does not.

How fast somebody hears is measured, not assumed: a voice has its own pace, and so has the person who sets it. Nothing
here reads a clock: ``now`` is an argument, as in the announcement queue.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec

from ..protocol.fields import Boundary, Verbosity
from .pace import estimate_words

__all__ = ["Backlog", "CaughtUp", "FellBehind", "Flow", "FlowTerms", "PaceMeter"]

MEASURED_UTTERANCES: Final = 20  # the latest, from which the pace is taken
MIN_MEASURED_WORDS: Final = 10.0  # before that, the pace that was set is more likely right
MIN_PACE: Final = 50.0  # words a minute; CAP-040 has the same limits
MAX_PACE: Final = 1000.0
MAX_AGE: Final = 10.0  # seconds that an announcement waits before speech counts as behind ...
MIN_WAITING: Final = 10.0  # ... if what waits takes that many seconds to be spoken
CALM_TIME: Final = 15.0  # seconds without anything waiting until agents are told to go on as before
NO_LIMIT: Final = 100_000  # events a second: CF-042, a limit can be changed and not be taken back (CAP-002)
SLOW_BOUNDARIES: Final[tuple[Boundary, ...]] = ("paragraph", "completion")
_LESS: Final[dict[Verbosity, Verbosity]] = {"detailed": "normal", "normal": "terse", "terse": "terse"}


class Backlog(msgspec.Struct, frozen=True):
    """What waits to be spoken and may be skipped: how many announcements, their words, and since when."""

    count: int = 0
    words: float = 0.0
    since: float = 0.0  # when the oldest of them arrived; of no meaning without any


class FlowTerms(msgspec.Struct, frozen=True):
    """What to ask of agents while speech is behind."""

    max_events_per_second: int
    boundaries: tuple[Boundary, ...]
    pace_wpm: int
    verbosity: Verbosity | None = None  # None leaves it as it is


class FellBehind(msgspec.Struct, frozen=True):
    """Speech has fallen behind, by what takes this many seconds to be spoken."""

    seconds: float


class CaughtUp(msgspec.Struct, frozen=True):
    """Speech has kept up for a while after it had fallen behind."""


class PaceMeter:
    """Measures how fast utterances are heard, from their texts and the time from their beginnings to their ends."""

    def __init__(self, words_per_minute: float) -> None:
        self._assumed = words_per_minute
        self._heard: deque[tuple[float, float]] = deque(maxlen=MEASURED_UTTERANCES)  # words and seconds

    def note(self, text: str, seconds: float) -> None:
        """Note that a text was spoken to its end, without a pause, in this time."""
        words = estimate_words(text)
        if words > 0 and seconds > 0:
            self._heard.append((words, seconds))

    @property
    def words_per_minute(self) -> float:
        """The pace of what was heard lately, or the one that is assumed until enough was heard."""
        words = sum(words for words, _ in self._heard)
        if words < MIN_MEASURED_WORDS:
            return self._assumed
        return min(max(60 * words / sum(seconds for _, seconds in self._heard), MIN_PACE), MAX_PACE)

    @property
    def utterances_per_second(self) -> float:
        """How many utterances were heard in a second of speech, 0 before any was."""
        return len(self._heard) / sum(seconds for _, seconds in self._heard) if self._heard else 0.0


class Flow:
    """
    Decides when speech has fallen behind, and when it has caught up again.

    It falls behind when something has waited for long and much is waiting; it has caught up when nothing has waited
    for a while. So each is told once, and a stream at the limit does not go back and forth between the two.
    """

    def __init__(self, words_per_minute: float) -> None:
        self.meter = PaceMeter(words_per_minute)
        self.is_behind = False
        self._calm_since: float | None = None
        self._deadline: float | None = None

    def update(self, backlog: Backlog, now: float) -> FellBehind | CaughtUp | None:
        """Return what has changed, if anything has."""
        seconds = backlog.words * 60 / max(self.meter.words_per_minute, 1)
        is_much = backlog.count > 0 and seconds >= MIN_WAITING
        change: FellBehind | CaughtUp | None = None
        if self.is_behind:
            self._calm_since = None if backlog.count else now if self._calm_since is None else self._calm_since
            self._deadline = None if self._calm_since is None else self._calm_since + CALM_TIME
            if self._deadline is not None and now >= self._deadline:
                change = CaughtUp()
        else:
            self._deadline = backlog.since + MAX_AGE if is_much else None
            if self._deadline is not None and now >= self._deadline:
                change = FellBehind(seconds)
        if change is not None:
            self.is_behind = isinstance(change, FellBehind)
            self._calm_since = None
            self._deadline = None
        return change

    def next_deadline(self) -> float | None:
        """Return when to call :meth:`update` again if nothing else happens, None while there is nothing to wait for."""
        return self._deadline

    def choose_terms(self, *, limit: int | None = None, verbosity: Verbosity | None = None) -> FlowTerms:
        """
        Return what to ask of agents: no more events than can be heard, in longer pieces, for this pace.

        ``limit`` is the rate that was asked for before, and is never exceeded. Less is said only if ``verbosity``, how
        much is said now, is given: that is for who has allowed it.
        """
        rate = max(1, int(self.meter.utterances_per_second))  # CAP-002: at least one
        return FlowTerms(
            max_events_per_second=rate if limit is None else min(rate, limit),
            boundaries=SLOW_BOUNDARIES,
            pace_wpm=round(min(max(self.meter.words_per_minute, MIN_PACE), MAX_PACE)),
            verbosity=None if verbosity is None else _LESS[verbosity],
        )
