"""
The announcement queue: what is said when, and what interrupts what.

One announcement is in flight at a time, and the next begins when it really
ended. Nothing here asks a clock: ``now`` is an argument, in seconds of any
clock that does not go back, and :meth:`Queue.due` says when to come again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import Final, Literal

import msgspec

from ..protocol.events import CORE_EVENTS, CRITICAL, TERMINAL, ProgressUpdated, StateChanged
from ..text.phrases import PHRASES, brief, span
from .announce import Announcement, announce
from .preferences import USUAL, Preferences

__all__ = ["Action", "Queue", "Speak", "Stop"]

MARKS: Final = (0.5, 0.1)  # the shares of its time at which a prompt's countdown is said
MINUTE: Final = 60.0
NAME: Final = 120  # characters of an action or a question that tell one prompt from another


class Speak(msgspec.Struct, frozen=True):
    """Say this now. ``number`` tells utterances apart, so that a late end of an older one does no harm."""

    text: str
    announcement: Announcement
    number: int


class Stop(msgspec.Struct, frozen=True):
    """Stop the utterance of this number at once."""

    number: int


Action = Speak | Stop


class _Item(msgspec.Struct):
    """Something to say: an announcement, its detail, or how much time is left for it."""

    announcement: Announcement
    lead: str = ""  # said before it: why it is said again
    text: str = ""  # said instead of the announcement's own
    whole: bool = False  # say its detail
    critical: bool = False  # nothing cuts it


class _Prompt(msgspec.Struct):
    announcement: Announcement
    deadline: float
    marks: list[float]  # moments, latest first


class Queue:
    """What one person hears, from all sessions."""

    def __init__(self, preferences: Preferences = USUAL, *, interruptions: int = 5, remembered: int = 10_000) -> None:
        self.preferences = preferences  # for prompts, whose time to answer is told anew each time
        self.interruptions = interruptions  # C-68: how many a minute may come from types that are not critical
        self.focus = ""  # the token of the prompt that the person is answering
        self.answered: Container[str] = frozenset()  # of prompts whose answer is on its way: nobody is reminded of them
        self.history: deque[Announcement] = deque(maxlen=remembered)  # all that came, said or not
        self._critical: deque[_Item] = deque()
        self._waiting: deque[_Item] = deque()
        self._prompts: dict[str, _Prompt] = {}
        self._flight: _Item | None = None
        self._last: Announcement | None = None
        self._number = 0
        self._urgent: deque[float] = deque()
        self._warned = float("-inf")

    @property
    def current(self) -> Announcement | None:
        """What is being said, or was said last: what repeat and more are about."""
        return self._last

    @property
    def prompts(self) -> tuple[Announcement, ...]:
        """Every prompt that is still open, oldest first, whether it was said, cut short or silenced."""
        return tuple(prompt.announcement for prompt in self._prompts.values())

    # -- what comes in ---------------------------------------------------------------------

    def push(self, announcement: Announcement, now: float) -> list[Action]:
        """Take an announcement; what to do about speech now."""
        if announcement.asks and announcement.prompt in self._prompts:
            return []  # sent again after a reconnect; it is open, and was said or waits
        if announcement.redundant:
            return []
        self.history.append(announcement)
        outcome = not announcement.asks and announcement.prompt in self._prompts  # CF-025: critical for who was asked
        urgent = outcome or (announcement.interrupts and not self._flooded(announcement, now))
        about = self._about(announcement) if outcome and len(self._prompts) > 1 else ""
        actions, closed = self._settle(announcement)
        self._supersede(announcement)
        if announcement.asks:
            self._open(announcement, now)
        queue = self._critical if urgent else self._waiting
        item = _Item(announcement, critical=urgent, text=f"{announcement.text} {about}" if about else "")
        # An outcome is said before any prompt that waits, or it could be taken for that prompt's.
        prompts = (at for at, one in enumerate(queue) if outcome and one.announcement.asks)
        queue.insert(next(prompts, len(queue)), item)
        if closed:
            self._remind(queue, now)
        return actions + self._interrupt() + self._next(now)

    def finished(self, now: float, number: int | None = None) -> list[Action]:
        """Speech came to its end by itself. A number that is not in flight any more is ignored."""
        if number is not None and number != self._number:
            return []
        self._flight = None
        return self.advance(now)

    def advance(self, now: float) -> list[Action]:
        """Say the countdowns that are due, and whatever is next."""
        for token, prompt in self._prompts.items():
            due = 0
            while prompt.marks and prompt.marks[-1] <= now:
                prompt.marks.pop()
                due += 1
            waits = token not in self.answered and not self._says(prompt.announcement)
            if due and prompt.deadline > now and waits:
                # Which prompt it is about is said too, for there may be several.
                about = brief(prompt.announcement.about, NAME)
                text = PHRASES["countdown"].format(span(prompt.deadline - now), about).rstrip()
                self._critical.append(_Item(prompt.announcement, text=text, critical=True))
        return self._interrupt() + self._next(now)

    def due(self, now: float) -> float | None:
        """When to call :meth:`advance` next; None while there is nothing to wait for."""
        return min((max(prompt.marks[-1], now) for prompt in self._prompts.values() if prompt.marks), default=None)

    # -- what the person asks for ----------------------------------------------------------

    def repeat(self, now: float) -> list[Action]:
        """Say the current announcement again, from its beginning."""
        return self._again(now, whole=False)

    def more(self, now: float) -> list[Action]:
        """Say all there is about the current announcement; a cut confirmation can be accepted from then on (C-22)."""
        return self._again(now, whole=True)

    def remind(self, now: float) -> list[Action]:
        """Say a prompt that is open, because another one is closed of which nothing was pushed."""
        self._remind(self._critical, now)
        return self._interrupt() + self._next(now)

    def silence(self, now: float) -> list[Action]:
        """
        Stop, and leave out what waits; it stays in the history.

        Silence answers nothing: prompts stay open, and one that was not said
        yet is said next.
        """
        actions = self._halt()
        self._waiting = deque(item for item in self._waiting if item.announcement.interrupts)  # C-68: never dropped
        return actions + self._next(now)

    # -- inside ----------------------------------------------------------------------------

    def _again(self, now: float, whole: bool) -> list[Action]:
        if self._last is None:
            return []
        actions = self._halt()
        self._critical.appendleft(_Item(self._last, whole=whole))
        return actions + self._next(now)

    def _open(self, announcement: Announcement, now: float) -> None:
        given = getattr(announcement.event, "timeout_seconds", 0)
        whole = float(given) if isinstance(given, (int, float)) else announcement.timeout
        deadline = now + announcement.timeout
        marks = sorted((deadline - whole * share for share in MARKS), reverse=True)
        self._prompts[announcement.prompt] = _Prompt(announcement, deadline, [mark for mark in marks if mark > now])

    def _settle(self, announcement: Announcement) -> tuple[list[Action], bool]:
        """Take out the prompts this announcement closes, and say whether there were any: CF-025, CF-027."""
        event, gone = announcement.event, set[str]()
        type_ = CORE_EVENTS.get(event.type)
        if announcement.prompt and not announcement.asks:
            gone = {announcement.prompt}
        elif type_ in TERMINAL:
            gone = {t for t, p in self._prompts.items() if p.announcement.session_id == announcement.session_id}
        elif isinstance(event, StateChanged) and event.from_state == "awaiting_input" != event.to_state:
            # A producer without our extension: its prompts are closed when it leaves the state.
            gone = {
                token
                for token, prompt in self._prompts.items()
                if prompt.announcement.session_id == announcement.session_id
                and prompt.announcement.event.producer.agent_id == event.producer.agent_id
            }
        gone = {token for token in gone if self._prompts.pop(token, None) is not None}
        for queue in (self._critical, self._waiting):
            kept = [item for item in queue if not (item.announcement.asks and item.announcement.prompt in gone)]
            queue.clear()
            queue.extend(kept)
        actions: list[Action] = []
        if self._flight and self._flight.announcement.asks and self._flight.announcement.prompt in gone:
            actions = self._halt()
        return actions, bool(gone)

    def _about(self, announcement: Announcement) -> str:
        """Which of several prompts an outcome is about."""
        about = self._prompts[announcement.prompt].announcement.about
        return PHRASES["about"].format(brief(about, NAME)) if about else ""

    def _remind(self, queue: deque[_Item], now: float) -> None:
        """When a prompt is closed, the one that is being answered is said again, or another that is open."""
        found = [
            prompt.announcement
            for token, prompt in self._prompts.items()
            if token not in self.answered and (prompt.deadline > now or not prompt.announcement.timeout)
        ]
        found = [one for one in found if one.prompt == self.focus] or found
        for one in found:
            if not self._says(one):
                lead = PHRASES["still" if one.prompt == self.focus else "other"]
                queue.append(_Item(one, lead=lead, critical=queue is self._critical))
                return

    def _says(self, prompt: Announcement) -> bool:
        """Whether a prompt is being said, or will be."""
        items = [*self._critical, *self._waiting, *([self._flight] if self._flight else [])]
        return any(item.announcement.asks and item.announcement.prompt == prompt.prompt for item in items)

    def _supersede(self, announcement: Announcement) -> None:
        """Of background progress and state that still wait, only the latest is worth saying."""
        key = _passing(announcement)
        if key is not None:
            self._waiting = deque(item for item in self._waiting if _passing(item.announcement) != key)

    def _flooded(self, announcement: Announcement, now: float) -> bool:
        """C-68: whether this is one critical event too many of a type that is not critical by itself."""
        known = CORE_EVENTS.get(announcement.event.type) in CRITICAL or announcement.prompt in self._prompts
        if not announcement.interrupts or known:
            return False
        while self._urgent and self._urgent[0] <= now - MINUTE:
            self._urgent.popleft()
        self._urgent.append(now)
        if len(self._urgent) <= self.interruptions:
            return False
        self._urgent.popleft()  # only as many as matter are kept
        if now - self._warned >= MINUTE:
            self._warned = now
            self._waiting.append(_Item(announcement, text=PHRASES["flood"]))
        return True

    def _interrupt(self) -> list[Action]:
        """Critical cuts what is not critical; what it cut comes again. Critical waits for critical."""
        flight = self._flight
        if not self._critical or flight is None or flight.critical:
            return []
        actions = self._halt()
        flight.lead = PHRASES["again"]
        key = _passing(flight.announcement)
        if key is None or all(_passing(item.announcement) != key for item in self._waiting):
            self._waiting.appendleft(flight)
        return actions

    def _halt(self) -> list[Action]:
        if self._flight is None:
            return []
        self._flight = None
        return [Stop(self._number)]

    def _next(self, now: float) -> list[Action]:
        if self._flight is not None or not (self._critical or self._waiting):
            return []
        item = self._critical.popleft() if self._critical else self._waiting.popleft()
        said, lead = item.announcement, item.lead
        if said.asks:
            said, lead = self._asked(said, lead, now)
        if item.whole:
            said = msgspec.structs.replace(said, text=said.detail, keys=said.detail_keys, cut=False)
        self._flight, self._last = item, said
        self._number += 1
        text = item.text or said.text
        return [Speak(f"{lead} {text}" if lead else text, said, self._number)]

    def _asked(self, said: Announcement, lead: str, now: float) -> tuple[Announcement, str]:
        """A prompt as it is to be said now: with the time that is left, and without keys once it is closed."""
        prompt = self._prompts.get(said.prompt)
        if prompt is None:
            return msgspec.structs.replace(said, keys=(), detail_keys=()), PHRASES["outcome.other"]
        left = max(0.0, prompt.deadline - now)
        if abs(left - said.timeout) >= 1:
            said = announce(said.event, self.preferences, remaining=left) or said
        return said, lead


def _passing(announcement: Announcement) -> tuple[str, str, Literal["state", "progress"]] | None:
    """What a background announcement of progress or state is superseded by: the next of the same."""
    event = announcement.event
    if announcement.urgency != "background" or announcement.prompt:
        return None
    if not isinstance(event, (StateChanged, ProgressUpdated)):
        return None
    kind: Literal["state", "progress"] = "state" if isinstance(event, StateChanged) else "progress"
    return announcement.session_id, event.producer.agent_id, kind
