"""
What one listener hears of a stream of events, with what was heard before taken into account.

:func:`~aaep.presentation.announce.announce` knows one event at a time. A :class:`Presenter`
remembers the stream: text that has not come to a boundary yet, and the order in
which things are heard. Nothing here reads a clock: ``now`` is an argument, in seconds
of any monotonic clock.
"""

from __future__ import annotations

from typing import Final

from ..protocol.events import (
    CORE_EVENTS,
    TERMINAL,
    Envelope,
    OutputStreaming,
)
from .announce import Announcement, announce
from .outputs import Outputs
from .preferences import DEFAULT_PREFERENCES, Preferences

__all__ = ["Presenter"]


POSTPONEMENT: Final = 1.0  # seconds for which an announcement in the background waits for a sentence to end


class Presenter:
    """Turns the events of a stream into the announcements that one listener hears, in order."""

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES) -> None:
        self._outputs = Outputs(preferences)
        # By session: what is heard after the sentence that it came in the middle of, and until when it waits for it.
        self._postponed: dict[str, tuple[float, dict[str, Announcement]]] = {}

    @property
    def preferences(self) -> Preferences:
        """How the listener wants events to be announced."""
        return self._outputs.preferences

    @preferences.setter
    def preferences(self, preferences: Preferences) -> None:
        self._outputs.preferences = preferences

    def present(self, event: Envelope, now: float) -> list[Announcement]:
        """Process an event and return what is announced: text that was written before it, then the event itself."""
        session_id = event.session_id
        if isinstance(event, OutputStreaming):
            announcements = self._outputs.add(event, now)
            is_ended = session_id in self._postponed and not self._outputs.is_waiting(session_id)
            return [*announcements, *self._release_postponed(session_id)] if is_ended else announcements
        own = announce(event, self.preferences)
        if own is None or own.redundant:
            return []
        if own.urgency == "background" and self._outputs.is_waiting(session_id):
            _, postponed = self._postponed.setdefault(session_id, (now + POSTPONEMENT, {}))
            postponed[event.type] = own  # of several states or reports of progress the last one counts
            return []
        # What was written before something that is heard is heard before it, be the sentence at its end or not: it may
        # be a warning.
        announcements = [*self.flush(session_id), own]
        if CORE_EVENTS.get(event.type) in TERMINAL:
            self._outputs.end_session(session_id)
        return announcements

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Return announcements of everything that is held, of one session or of all."""
        announcements = self._outputs.flush(session_id)
        for postponed_id in [session_id] if session_id else [*self._postponed]:
            announcements += self._release_postponed(postponed_id)
        return announcements

    def advance(self, now: float) -> list[Announcement]:
        """Return the announcements that are due by now."""
        announcements = self._outputs.advance(now)
        for session_id, (deadline, _) in [*self._postponed.items()]:
            if deadline <= now or not self._outputs.is_waiting(session_id):
                announcements += self.flush(session_id)
        return announcements

    def next_deadline(self, now: float) -> float | None:
        """Return when to call :meth:`advance` next, None while there is nothing to wait for."""
        deadlines = [deadline for deadline, _ in self._postponed.values()]
        pause = self._outputs.next_deadline()
        return min([*deadlines, *([] if pause is None else [pause])], default=None)

    def _release_postponed(self, session_id: str) -> list[Announcement]:
        _, postponed = self._postponed.pop(session_id, (0.0, {}))
        return [*postponed.values()]
