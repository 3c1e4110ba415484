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
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    HandoffRequested,
    OutputStreaming,
    StateChanged,
    ToolInvoked,
)
from .announce import Announcement, announce
from .outputs import Outputs
from .preferences import DEFAULT_PREFERENCES, Preferences

__all__ = ["Presenter"]

# What was written before these is announced before them, be the sentence at its end or not: it may be a warning.
_AFTER_TEXT: Final = (*TERMINAL, AwaitingConfirmation, AwaitingClarification, ToolInvoked, HandoffRequested)
_STATES_AFTER_TEXT: Final = frozenset(("awaiting_input", "calling_tool", "handing_off"))


class Presenter:
    """Turns the events of a stream into the announcements that one listener hears, in order."""

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES) -> None:
        self._outputs = Outputs(preferences)

    @property
    def preferences(self) -> Preferences:
        """How the listener wants events to be announced."""
        return self._outputs.preferences

    @preferences.setter
    def preferences(self, preferences: Preferences) -> None:
        self._outputs.preferences = preferences

    def present(self, event: Envelope, now: float) -> list[Announcement]:
        """Process an event and return what is announced: text that was written before it, then the event itself."""
        if isinstance(event, OutputStreaming):
            return self._outputs.add(event)
        announcements = self._outputs.flush(event.session_id) if _follows_text(event) else []
        own = announce(event, self.preferences)
        return announcements if own is None else [*announcements, own]

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Return announcements of all text that is held, of one session or of all."""
        return self._outputs.flush(session_id)

    def advance(self, now: float) -> list[Announcement]:
        """Return the announcements that are due by now."""
        return []

    def next_deadline(self, now: float) -> float | None:
        """Return when to call :meth:`advance` next, None while there is nothing to wait for."""
        return None


def _follows_text(event: Envelope) -> bool:
    """Whether text that was written before an event has to be heard before it."""
    if isinstance(event, StateChanged):
        return event.to_state in _STATES_AFTER_TEXT
    return isinstance(event, _AFTER_TEXT) or CORE_EVENTS.get(event.type) in _AFTER_TEXT
