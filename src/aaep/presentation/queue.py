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
from ..text.phrases import PHRASES, format_duration, truncate_with_notice
from .announce import Announcement, announce
from .preferences import DEFAULT_PREFERENCES, Preferences

__all__ = ["Queue", "Speak", "SpeechAction", "Stop"]

COUNTDOWN_SHARES: Final = (0.5, 0.1)  # the shares of its time at which a prompt's countdown is said
MINUTE: Final = 60.0
MAX_PROMPT_NAME_LENGTH: Final = 120  # characters of an action or a question that tell one prompt from another


class Speak(msgspec.Struct, frozen=True):
    """Say this now. ``number`` tells utterances apart, so that a late end of an older one does no harm."""

    text: str
    announcement: Announcement
    utterance_id: int


class Stop(msgspec.Struct, frozen=True):
    """Stop the utterance of this number at once."""

    utterance_id: int


SpeechAction = Speak | Stop


class _QueuedItem(msgspec.Struct):
    """Something to say: an announcement, its detail, or how much time is left for it."""

    announcement: Announcement
    prefix: str = ""  # said before it: why it is said again
    text_override: str = ""  # said instead of the announcement's own
    is_detail: bool = False  # say its detail
    is_critical: bool = False  # nothing cuts it


class _OpenPrompt(msgspec.Struct):
    announcement: Announcement
    deadline: float
    countdown_times: list[float]  # moments, latest first


class Queue:
    """What one person hears, from all sessions."""

    def __init__(
        self,
        preferences: Preferences = DEFAULT_PREFERENCES,
        *,
        max_interruptions_per_minute: int = 5,
        history_size: int = 10_000,
    ) -> None:
        self.preferences = preferences  # for prompts, whose time to answer is told anew each time
        self.max_interruptions_per_minute = (
            max_interruptions_per_minute  # C-68: how many a minute may come from types that are not critical
        )
        self.focused_token = ""  # the token of the prompt that the person is answering
        self.answered_tokens: Container[str] = (
            frozenset()
        )  # of prompts whose answer is on its way: nobody is reminded of them
        self.history: deque[Announcement] = deque(maxlen=history_size)  # all that came, said or not
        self._critical_items: deque[_QueuedItem] = deque()
        self._waiting_items: deque[_QueuedItem] = deque()
        self._open_prompts: dict[str, _OpenPrompt] = {}
        self._in_flight: _QueuedItem | None = None
        self._last_announcement: Announcement | None = None
        self._utterance_id = 0
        self._interruption_times: deque[float] = deque()
        self._flood_warned_at = float("-inf")

    @property
    def current(self) -> Announcement | None:
        """What is being said, or was said last: what repeat and more are about."""
        return self._last_announcement

    @property
    def prompts(self) -> tuple[Announcement, ...]:
        """Every prompt that is still open, oldest first, whether it was said, cut short or silenced."""
        return tuple(prompt.announcement for prompt in self._open_prompts.values())

    # -- what comes in ---------------------------------------------------------------------

    def push(self, announcement: Announcement, now: float) -> list[SpeechAction]:
        """Take an announcement; what to do about speech now."""
        if announcement.asks and announcement.prompt in self._open_prompts:
            return []  # sent again after a reconnect; it is open, and was said or waits
        if announcement.redundant:
            return []
        self.history.append(announcement)
        outcome = (
            not announcement.asks and announcement.prompt in self._open_prompts
        )  # CF-025: critical for who was asked
        urgent = outcome or (announcement.interrupts and not self._is_flooding(announcement, now))
        about = self._describe_prompt(announcement) if outcome and len(self._open_prompts) > 1 else ""
        actions, closed = self._close_prompts(announcement)
        self._supersede(announcement)
        if announcement.asks:
            self._add_prompt(announcement, now)
        queue = self._critical_items if urgent else self._waiting_items
        item = _QueuedItem(
            announcement, is_critical=urgent, text_override=f"{announcement.text} {about}" if about else ""
        )
        # An outcome is said before any prompt that waits, or it could be taken for that prompt's.
        prompts = (at for at, one in enumerate(queue) if outcome and one.announcement.asks)
        queue.insert(next(prompts, len(queue)), item)
        if closed:
            self._enqueue_reminder(queue, now)
        return actions + self._interrupt() + self._speak_next(now)

    def utterance_finished(self, now: float, utterance_id: int | None = None) -> list[SpeechAction]:
        """Speech came to its end by itself. A number that is not in flight any more is ignored."""
        if utterance_id is not None and utterance_id != self._utterance_id:
            return []
        self._in_flight = None
        return self.advance(now)

    def advance(self, now: float) -> list[SpeechAction]:
        """Say the countdowns that are due, and whatever is next."""
        for token, prompt in self._open_prompts.items():
            due = 0
            while prompt.countdown_times and prompt.countdown_times[-1] <= now:
                prompt.countdown_times.pop()
                due += 1
            waits = token not in self.answered_tokens and not self._is_queued(prompt.announcement)
            if due and prompt.deadline > now and waits:
                # Which prompt it is about is said too, for there may be several.
                about = truncate_with_notice(prompt.announcement.about, MAX_PROMPT_NAME_LENGTH)
                text = PHRASES["countdown"].format(format_duration(prompt.deadline - now), about).rstrip()
                self._critical_items.append(_QueuedItem(prompt.announcement, text_override=text, is_critical=True))
        return self._interrupt() + self._speak_next(now)

    def next_deadline(self, now: float) -> float | None:
        """When to call :meth:`advance` next; None while there is nothing to wait for."""
        return min(
            (max(prompt.countdown_times[-1], now) for prompt in self._open_prompts.values() if prompt.countdown_times),
            default=None,
        )

    # -- what the person asks for ----------------------------------------------------------

    def repeat(self, now: float) -> list[SpeechAction]:
        """Say the current announcement again, from its beginning."""
        return self._repeat_last(now, whole=False)

    def speak_detail(self, now: float) -> list[SpeechAction]:
        """Say all there is about the current announcement; a cut confirmation can be accepted from then on (C-22)."""
        return self._repeat_last(now, whole=True)

    def remind(self, now: float) -> list[SpeechAction]:
        """Say a prompt that is open, because another one is closed of which nothing was pushed."""
        self._enqueue_reminder(self._critical_items, now)
        return self._interrupt() + self._speak_next(now)

    def silence(self, now: float) -> list[SpeechAction]:
        """
        Stop, and leave out what waits; it stays in the history.

        Silence answers nothing: prompts stay open, and one that was not said
        yet is said next.
        """
        actions = self._stop_current()
        self._waiting_items = deque(
            item for item in self._waiting_items if item.announcement.interrupts
        )  # C-68: never dropped
        return actions + self._speak_next(now)

    # -- inside ----------------------------------------------------------------------------

    def _repeat_last(self, now: float, whole: bool) -> list[SpeechAction]:
        if self._last_announcement is None:
            return []
        actions = self._stop_current()
        self._critical_items.appendleft(_QueuedItem(self._last_announcement, is_detail=whole))
        return actions + self._speak_next(now)

    def _add_prompt(self, announcement: Announcement, now: float) -> None:
        given = getattr(announcement.event, "timeout_seconds", 0)
        whole = float(given) if isinstance(given, (int, float)) else announcement.timeout
        deadline = now + announcement.timeout
        marks = sorted((deadline - whole * share for share in COUNTDOWN_SHARES), reverse=True)
        self._open_prompts[announcement.prompt] = _OpenPrompt(
            announcement, deadline, [mark for mark in marks if mark > now]
        )

    def _close_prompts(self, announcement: Announcement) -> tuple[list[SpeechAction], bool]:
        """Take out the prompts this announcement closes, and say whether there were any: CF-025, CF-027."""
        event, gone = announcement.event, set[str]()
        type_ = CORE_EVENTS.get(event.type)
        if announcement.prompt and not announcement.asks:
            gone = {announcement.prompt}
        elif type_ in TERMINAL:
            gone = {t for t, p in self._open_prompts.items() if p.announcement.session_id == announcement.session_id}
        elif isinstance(event, StateChanged) and event.from_state == "awaiting_input" != event.to_state:
            # A producer without our extension: its prompts are closed when it leaves the state.
            gone = {
                token
                for token, prompt in self._open_prompts.items()
                if prompt.announcement.session_id == announcement.session_id
                and prompt.announcement.event.producer.agent_id == event.producer.agent_id
            }
        gone = {token for token in gone if self._open_prompts.pop(token, None) is not None}
        for queue in (self._critical_items, self._waiting_items):
            kept = [item for item in queue if not (item.announcement.asks and item.announcement.prompt in gone)]
            queue.clear()
            queue.extend(kept)
        actions: list[SpeechAction] = []
        if self._in_flight and self._in_flight.announcement.asks and self._in_flight.announcement.prompt in gone:
            actions = self._stop_current()
        return actions, bool(gone)

    def _describe_prompt(self, announcement: Announcement) -> str:
        """Which of several prompts an outcome is about."""
        about = self._open_prompts[announcement.prompt].announcement.about
        return PHRASES["about"].format(truncate_with_notice(about, MAX_PROMPT_NAME_LENGTH)) if about else ""

    def _enqueue_reminder(self, queue: deque[_QueuedItem], now: float) -> None:
        """When a prompt is closed, the one that is being answered is said again, or another that is open."""
        found = [
            prompt.announcement
            for token, prompt in self._open_prompts.items()
            if token not in self.answered_tokens and (prompt.deadline > now or not prompt.announcement.timeout)
        ]
        found = [one for one in found if one.prompt == self.focused_token] or found
        for one in found:
            if not self._is_queued(one):
                lead = PHRASES["still" if one.prompt == self.focused_token else "other"]
                queue.append(_QueuedItem(one, prefix=lead, is_critical=queue is self._critical_items))
                return

    def _is_queued(self, prompt: Announcement) -> bool:
        """Whether a prompt is being said, or will be."""
        items = [*self._critical_items, *self._waiting_items, *([self._in_flight] if self._in_flight else [])]
        return any(item.announcement.asks and item.announcement.prompt == prompt.prompt for item in items)

    def _supersede(self, announcement: Announcement) -> None:
        """Of background progress and state that still wait, only the latest is worth saying."""
        key = _supersession_key(announcement)
        if key is not None:
            self._waiting_items = deque(
                item for item in self._waiting_items if _supersession_key(item.announcement) != key
            )

    def _is_flooding(self, announcement: Announcement, now: float) -> bool:
        """C-68: whether this is one critical event too many of a type that is not critical by itself."""
        known = CORE_EVENTS.get(announcement.event.type) in CRITICAL or announcement.prompt in self._open_prompts
        if not announcement.interrupts or known:
            return False
        while self._interruption_times and self._interruption_times[0] <= now - MINUTE:
            self._interruption_times.popleft()
        self._interruption_times.append(now)
        if len(self._interruption_times) <= self.max_interruptions_per_minute:
            return False
        self._interruption_times.popleft()  # only as many as matter are kept
        if now - self._flood_warned_at >= MINUTE:
            self._flood_warned_at = now
            self._waiting_items.append(_QueuedItem(announcement, text_override=PHRASES["flood"]))
        return True

    def _interrupt(self) -> list[SpeechAction]:
        """Critical cuts what is not critical; what it cut comes again. Critical waits for critical."""
        flight = self._in_flight
        if not self._critical_items or flight is None or flight.is_critical:
            return []
        actions = self._stop_current()
        flight.prefix = PHRASES["again"]
        key = _supersession_key(flight.announcement)
        if key is None or all(_supersession_key(item.announcement) != key for item in self._waiting_items):
            self._waiting_items.appendleft(flight)
        return actions

    def _stop_current(self) -> list[SpeechAction]:
        if self._in_flight is None:
            return []
        self._in_flight = None
        return [Stop(self._utterance_id)]

    def _speak_next(self, now: float) -> list[SpeechAction]:
        if self._in_flight is not None or not (self._critical_items or self._waiting_items):
            return []
        item = self._critical_items.popleft() if self._critical_items else self._waiting_items.popleft()
        said, lead = item.announcement, item.prefix
        if said.asks:
            said, lead = self._refresh_prompt(said, lead, now)
        if item.is_detail:
            said = msgspec.structs.replace(said, text=said.detail, keys=said.detail_keys, cut=False)
        self._in_flight, self._last_announcement = item, said
        self._utterance_id += 1
        text = item.text_override or said.text
        return [Speak(f"{lead} {text}" if lead else text, said, self._utterance_id)]

    def _refresh_prompt(self, said: Announcement, lead: str, now: float) -> tuple[Announcement, str]:
        """A prompt as it is to be said now: with the time that is left, and without keys once it is closed."""
        prompt = self._open_prompts.get(said.prompt)
        if prompt is None:
            return msgspec.structs.replace(said, keys=(), detail_keys=()), PHRASES["outcome.other"]
        left = max(0.0, prompt.deadline - now)
        if abs(left - said.timeout) >= 1:
            said = announce(said.event, self.preferences, remaining=left) or said
        return said, lead


def _supersession_key(announcement: Announcement) -> tuple[str, str, Literal["state", "progress"]] | None:
    """What a background announcement of progress or state is superseded by: the next of the same."""
    event = announcement.event
    if announcement.urgency != "background" or announcement.prompt:
        return None
    if not isinstance(event, (StateChanged, ProgressUpdated)):
        return None
    kind: Literal["state", "progress"] = "state" if isinstance(event, StateChanged) else "progress"
    return announcement.session_id, event.producer.agent_id, kind
