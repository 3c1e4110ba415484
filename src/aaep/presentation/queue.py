"""
The announcement queue, which decides what is said when, and what interrupts what.

One announcement is in flight at a time, and the next begins when its speech has
ended. Nothing here reads a clock: ``now`` is an argument, in seconds of any
monotonic clock, and :meth:`Queue.next_deadline` says when to call again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from typing import Final, Literal

import msgspec

from ..protocol.events import (
    CORE_EVENTS,
    CRITICAL,
    TERMINAL,
    OutputStreaming,
    ProgressUpdated,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from ..text.actions import shorten_action
from ..text.phrases import capitalize, truncate_with_notice
from .announce import Announcement, announce
from .flow import Backlog
from .pace import estimate_words
from .preferences import DEFAULT_PREFERENCES, Preferences

__all__ = ["Queue", "Speak", "SpeechAction", "Stop"]

COUNTDOWN_SHARES: Final = (0.5, 0.1)  # of a prompt's time, left when a countdown is said
MIN_WARNING: Final = 20.0  # seconds left at the last countdown, where a prompt has that many
MAX_BACKLOG: Final = 4  # updates in a row that are spoken one by one when speech has fallen behind
# Announcements of several agents that wait to be spoken; of more, the older half stays in the history only.
MAX_WAITING: Final = 100
MAX_WAITING_OF_ONE: Final = 1000  # of one agent, whose long answer is heard to its end unless the listener skips
MINUTE: Final = 60.0  # seconds
MAX_PROMPT_NAME_LENGTH: Final = 120  # characters of the action or question that names a prompt


class Speak(msgspec.Struct, frozen=True):
    """Speak this text now. ``utterance_id`` tells utterances apart, so that a late end of an older one is ignored."""

    text: str
    announcement: Announcement
    utterance_id: int
    is_own: bool = False  # it was asked for by :meth:`Queue.say`, and is on the page already
    earcon: str = ""  # the name of its sound, for outputs that say or show a word for it
    is_answer: bool = False  # to a key of the listener, who waits for it
    is_requested: bool = False  # the listener asked to hear it again


class Stop(msgspec.Struct, frozen=True):
    """Stop the utterance with this id at once."""

    utterance_id: int


SpeechAction = Speak | Stop


class _QueuedItem(msgspec.Struct, eq=False):
    """An announcement that waits to be spoken, or its detail, or its countdown."""

    announcement: Announcement
    prefix: str = ""  # spoken before it: why it is said again
    text_override: str = ""  # spoken instead of the announcement's own text
    is_detail: bool = False  # speak its detail
    is_critical: bool = False  # nothing interrupts it
    is_own: bool = False  # a line of the reader itself, or what it says again on request
    is_answer: bool = False  # to a key of the listener
    is_requested: bool = False  # the listener asked to hear it again
    earcon: str = ""  # the name of the sound of such a line
    position: int = -1  # in the history; where going back and forth goes on from
    is_about_backlog: bool = False  # it tells how much waits
    arrived: float = 0.0
    words: float = 0.0  # approximately


class _OpenPrompt(msgspec.Struct):
    """A prompt that is still open, with the times at which its countdown is spoken."""

    announcement: Announcement
    deadline: float
    countdown_times: list[float]  # latest first


class Queue:
    """The announcements that one listener hears, from all sessions."""

    def __init__(
        self,
        preferences: Preferences = DEFAULT_PREFERENCES,
        *,
        max_interruptions_per_minute: int = 5,
        history_size: int = 10_000,
    ) -> None:
        self.preferences = preferences  # for prompts, which are composed anew with the time that is left
        # C-68: limits events that call themselves critical, of types that are not.
        self.max_interruptions_per_minute = max_interruptions_per_minute
        self.focused_token = ""  # the token of the prompt that the listener is answering
        # Tokens of prompts whose answer is being sent: no reminders of these.
        self.answered_tokens: Container[str] = frozenset()
        self.history: deque[Announcement] = deque(maxlen=history_size)  # everything that was pushed, spoken or not
        self._critical_items: deque[_QueuedItem] = deque()
        self._waiting_items: deque[_QueuedItem] = deque()
        self._skipped_count = 0  # of announcements that were not spoken because too many waited
        self._open_prompts: dict[str, _OpenPrompt] = {}
        self._in_flight: _QueuedItem | None = None
        self._last_announcement: Announcement | None = None
        self._pushed_count = 0  # of all announcements, those that have left the history included
        self._position = -1  # the announcement that was spoken last, counted in the same way
        self._is_repeated = False  # the last thing that was asked for is to hear it again
        self._do_not_disturb = False
        self._kept_back_count = 0  # of announcements that were not spoken because of that ...
        self._first_kept_back = 0  # ... and the first of them
        self._details: Iterator[Announcement] | None = None  # what is told on request, until something new is heard
        self._utterance_id = 0
        self._interruption_times: deque[float] = deque()
        self._flood_warned_at = float("-inf")

    @property
    def current(self) -> Announcement | None:
        """The announcement that is being spoken, or was spoken last: the one that can be repeated."""
        return self._last_announcement

    @property
    def prompts(self) -> tuple[Announcement, ...]:
        """The prompts that are still open, oldest first, whether spoken, interrupted or silenced."""
        return tuple(prompt.announcement for prompt in self._open_prompts.values())

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being spoken and nothing waits to be."""
        return self._in_flight is None and not self._critical_items and not self._waiting_items

    # -- announcements and time ------------------------------------------------------------

    def push(self, announcement: Announcement, now: float) -> list[SpeechAction]:
        """Queue an announcement and return what to speak or stop now."""
        if announcement.asks and announcement.prompt in self._open_prompts:
            return []  # sent again after a reconnect, and already spoken or queued
        if announcement.redundant:
            return []
        if announcement.replaces:
            announcement = self._replace_prompt(announcement)
        self.history.append(announcement)
        self._pushed_count += 1
        self._details = None
        # CF-025: the outcome of a prompt is critical for the listener who was asked.
        is_outcome = not announcement.asks and announcement.prompt in self._open_prompts
        is_urgent = is_outcome or (announcement.interrupts and not self._count_interruption(announcement, now))
        prompt_name = self._describe_prompt(announcement) if is_outcome and len(self._open_prompts) > 1 else ""
        actions, has_closed = self._close_prompts(announcement)
        self._supersede(announcement)
        if announcement.asks:
            self._add_prompt(announcement, now)
        if self._do_not_disturb and not is_urgent and not announcement.asks:
            self._keep_back(self._pushed_count - 1)
            return actions + self._interrupt() + self._speak_next(now)
        queue = self._critical_items if is_urgent else self._waiting_items
        text_override = f"{announcement.text} {prompt_name}" if prompt_name else ""
        item = _QueuedItem(
            announcement,
            is_critical=is_urgent,
            text_override=text_override,
            position=self._pushed_count - 1,
            arrived=now,
            words=estimate_words(announcement.text),
        )
        # An outcome is spoken before any queued prompt, or it could be mistaken for that prompt's.
        prompt_indexes = (index for index, queued in enumerate(queue) if is_outcome and queued.announcement.asks)
        queue.insert(next(prompt_indexes, len(queue)), item)
        if has_closed:
            self._enqueue_reminder(queue, now)
        self._skip_backlog()
        return actions + self._interrupt() + self._speak_next(now)

    def utterance_finished(self, now: float, utterance_id: int | None = None) -> list[SpeechAction]:
        """Note that speech has ended by itself. The id of an utterance no longer in flight is ignored."""
        if utterance_id is not None and utterance_id != self._utterance_id:
            return []
        self._in_flight = None
        return self.advance(now)

    def advance(self, now: float) -> list[SpeechAction]:
        """Queue the countdowns that are due and return what to speak or stop now."""
        for token, prompt in self._open_prompts.items():
            is_due = False
            while prompt.countdown_times and prompt.countdown_times[-1] <= now:
                prompt.countdown_times.pop()
                is_due = True
            needs_reminder = token not in self.answered_tokens and not self._is_queued(prompt.announcement)
            if is_due and prompt.deadline > now and needs_reminder:
                # The countdown names its prompt, as there may be several.
                phrases = self.preferences.phrases
                about = truncate_with_notice(prompt.announcement.about, MAX_PROMPT_NAME_LENGTH, phrases)
                duration = phrases.format_time_left(prompt.deadline - now)
                text = phrases.format("countdown", duration=duration, action=about).rstrip()
                self._critical_items.append(
                    _QueuedItem(prompt.announcement, text_override=capitalize(text), is_critical=True)
                )
        return self._interrupt() + self._speak_next(now)

    def next_deadline(self, now: float) -> float | None:
        """Return when to call :meth:`advance` next, None while there is nothing to wait for."""
        return min(
            (max(prompt.countdown_times[-1], now) for prompt in self._open_prompts.values() if prompt.countdown_times),
            default=None,
        )

    def say(
        self, announcement: Announcement, now: float, *, urgent: bool = False, earcon: str = ""
    ) -> list[SpeechAction]:
        """
        Speak a line of the reader itself; the history does not change.

        What is urgent, such as what a key has done, interrupts like a critical announcement. Otherwise it follows
        something critical that is being spoken, which it belongs to, or waits its turn.
        """
        follows = self._in_flight is not None and self._in_flight.is_critical
        if not (urgent or follows):
            self._waiting_items.append(_QueuedItem(announcement, is_own=True, earcon=earcon))
            return self._speak_next(now)
        index = 0
        while index < len(self._critical_items) and self._critical_items[index].is_own:
            index += 1
        self._critical_items.insert(
            index, _QueuedItem(announcement, is_critical=True, is_own=True, is_answer=urgent, earcon=earcon)
        )
        return self._interrupt() + self._speak_next(now)

    def say_behind(self, announcement: Announcement, now: float) -> list[SpeechAction]:
        """Speak a line about what waits before all of it; with what waits it is left out."""
        self._waiting_items.appendleft(_QueuedItem(announcement, is_own=True, is_about_backlog=True))
        return self._speak_next(now)

    def say_now(self, announcement: Announcement, now: float) -> list[SpeechAction]:
        """Speak what the listener asked for in place of whatever is being spoken; the history does not change."""
        actions = self._stop_current()
        self._critical_items.appendleft(_QueuedItem(announcement, is_critical=True, is_own=True, is_answer=True))
        return actions + self._speak_next(now)

    # -- commands of the listener ----------------------------------------------------------

    def repeat(self, now: float) -> list[SpeechAction]:
        """Speak the current announcement again, from its beginning; the second time in a row with its detail."""
        last = self._last_announcement
        is_second = self._is_repeated and last is not None and last.detail != last.text
        actions = self._repeat_last(now, is_detail=is_second)
        self._is_repeated = not is_second
        return actions

    def go_back(self, now: float) -> list[SpeechAction]:
        """Speak the announcement before the one that was spoken last; nothing if there is none."""
        return self._go_to(self._position - 1, now)

    def go_forward(self, now: float) -> list[SpeechAction]:
        """Speak the announcement after the one that was spoken last; nothing if there is none."""
        return self._go_to(self._position + 1, now)

    @property
    def is_do_not_disturb(self) -> bool:
        """Whether only what is critical is spoken unasked."""
        return self._do_not_disturb

    def begin_do_not_disturb(self, now: float) -> list[SpeechAction]:
        """Speak nothing unasked from now on but prompts and what is critical; the rest goes to the history."""
        self._do_not_disturb = True
        actions: list[SpeechAction] = []
        in_flight = self._in_flight
        if in_flight is not None and not (in_flight.is_critical or in_flight.is_own or in_flight.announcement.asks):
            self._keep_back(in_flight.position)
            actions = self._stop_current()
        for item in [*self._waiting_items]:
            if not (item.announcement.interrupts or item.announcement.asks or item.is_own):
                self._keep_back(item.position)
                self._waiting_items.remove(item)
        return actions + self._speak_next(now)

    def end_do_not_disturb(self) -> int:
        """
        Speak everything again from now on, and return how many announcements were kept back.

        :meth:`go_forward` speaks the first of them next.
        """
        self._do_not_disturb = False
        count = self._kept_back_count
        self._kept_back_count = 0
        if count:
            self._position = self._first_kept_back - 1
        return count

    def _keep_back(self, position: int) -> None:
        if position >= 0:  # otherwise it repeats or adds to one that was spoken
            self._first_kept_back = min(position, self._first_kept_back) if self._kept_back_count else position
            self._kept_back_count += 1

    def speak_detail(self, now: float) -> list[SpeechAction]:
        """
        Speak the full detail of the current announcement, after which a shortened prompt can be accepted (C-22).

        Called again, or where there is no more to tell, it goes back to what was left
        out of the answer before it: code, and the addresses of links.
        """
        if self._details is None:
            self._details = self._iter_details()
        self._last_announcement = next(self._details, self._last_announcement)
        return self._repeat_last(now, is_detail=True)

    def _iter_details(self) -> Iterator[Announcement]:
        last = self._last_announcement
        if last is None:
            return
        if last.asks or last.detail != last.text:
            yield last
        for announcement in [*self.history][::-1]:
            is_output = isinstance(announcement.event, OutputStreaming)
            if is_output and announcement is not last and announcement.detail != announcement.text:
                yield announcement

    def remind(self, now: float) -> list[SpeechAction]:
        """Speak an open prompt, after another was closed without an announcement."""
        self._enqueue_reminder(self._critical_items, now)
        return self._interrupt() + self._speak_next(now)

    def silence(self, now: float) -> list[SpeechAction]:
        """
        Stop speech and skip what is waiting, which stays in the history.

        Silence answers nothing: prompts stay open, and one that was not spoken
        yet is spoken next.
        """
        actions = self._stop_current()
        # C-68: what would interrupt is never dropped.
        self._waiting_items = deque(item for item in self._waiting_items if item.announcement.interrupts)
        return actions + self._speak_next(now)

    def skip_to_now(self, now: float) -> tuple[int, list[SpeechAction]]:
        """
        Leave out what is being spoken and what waits, but for the last of it; return how many were left out.

        Everything stays in the history. Not left out are prompts and their outcomes, what is critical, ends of
        sessions, what failed and what cannot be undone.
        """
        skippable = [item for item in self._waiting_items if _is_skippable(item)]
        if not skippable:
            return 0, []
        skipped_count = len(skippable) - 1
        actions: list[SpeechAction] = []
        in_flight = self._in_flight
        if in_flight is not None and (in_flight.is_about_backlog or _is_skippable(in_flight)):
            actions = self._stop_current()
            skipped_count += not in_flight.is_about_backlog
        last = skippable[-1]
        self._waiting_items = deque(
            item for item in self._waiting_items if item is last or not (item.is_about_backlog or _is_skippable(item))
        )
        if skipped_count:
            last.prefix = self.preferences.phrases.format("behind-skipped", count=skipped_count)
        return skipped_count, actions + self._speak_next(now)

    def measure_backlog(self) -> Backlog:
        """Return how much waits that may be skipped, as it will be spoken: a long row of updates is one."""
        spoken: list[_QueuedItem] = []
        row: list[_QueuedItem] = []  # of updates
        for item in self._waiting_items:
            if _is_update(item):
                row.append(item)
                continue
            spoken += _condense(row)
            row = []
            if _is_skippable(item):
                spoken.append(item)
        spoken += _condense(row)
        since = min((item.arrived for item in spoken), default=0.0)
        return Backlog(len(spoken), sum(item.words for item in spoken), since)

    # -- open prompts ----------------------------------------------------------------------

    def _add_prompt(self, announcement: Announcement, now: float) -> None:
        timeout = getattr(announcement.event, "timeout_seconds", 0)
        total_seconds = float(timeout) if isinstance(timeout, (int, float)) else announcement.timeout
        deadline = now + announcement.timeout
        times = sorted((deadline - total_seconds * share for share in COUNTDOWN_SHARES), reverse=True)
        if total_seconds > 2 * MIN_WARNING and deadline - MIN_WARNING > now:
            times[0] = min(times[0], deadline - MIN_WARNING)
        countdown_times = [time for time in times if time > now]
        self._open_prompts[announcement.prompt] = _OpenPrompt(announcement, deadline, countdown_times)

    def _close_prompts(self, announcement: Announcement) -> tuple[list[SpeechAction], bool]:
        """Remove the prompts that an announcement closes; return what to stop, and whether any did. CF-025, CF-027"""
        event = announcement.event
        tokens = set[str]()
        if announcement.prompt and not announcement.asks:
            tokens = {announcement.prompt}
        elif CORE_EVENTS.get(event.type) in TERMINAL:
            tokens = {
                token
                for token, prompt in self._open_prompts.items()
                if prompt.announcement.session_id == announcement.session_id
            }
        elif isinstance(event, StateChanged) and event.from_state == "awaiting_input" != event.to_state:
            # Without our extension, an agent's prompts are closed when it leaves the state.
            tokens = {
                token
                for token, prompt in self._open_prompts.items()
                if prompt.announcement.session_id == announcement.session_id
                and prompt.announcement.event.producer.agent_id == event.producer.agent_id
            }
        closed = {token for token in tokens if self._open_prompts.pop(token, None) is not None}
        for queue in (self._critical_items, self._waiting_items):
            remaining = [item for item in queue if not (item.announcement.asks and item.announcement.prompt in closed)]
            queue.clear()
            queue.extend(remaining)
        actions: list[SpeechAction] = []
        if self._in_flight and self._in_flight.announcement.asks and self._in_flight.announcement.prompt in closed:
            actions = self._stop_current()
        return actions, bool(closed)

    def _replace_prompt(self, announcement: Announcement) -> Announcement:
        """
        Take out the prompt that another one replaces, and return what to announce of the new one.

        If the old one was not heard yet, that is everything.
        """
        replaced = self._open_prompts.pop(announcement.replaces, None)
        is_unheard = replaced is None
        for queue in (self._critical_items, self._waiting_items):
            remaining = [item for item in queue if item.announcement.prompt != announcement.replaces]
            is_unheard |= len(remaining) < len(queue)
            queue.clear()
            queue.extend(remaining)
        if not is_unheard:
            return announcement
        return announce(announcement.event, self.preferences, background=announcement.background) or announcement

    def _describe_prompt(self, announcement: Announcement) -> str:
        """Return the sentence that names the prompt an outcome is about, unless the outcome does."""
        about = self._open_prompts[announcement.prompt].announcement.about
        phrases = self.preferences.phrases
        if not about or shorten_action(about, phrases) in announcement.text:
            return ""
        return phrases.format("about", action=truncate_with_notice(about, MAX_PROMPT_NAME_LENGTH, phrases))

    def _enqueue_reminder(self, queue: deque[_QueuedItem], now: float) -> None:
        """Queue the prompt that is being answered, or else another open one, after a prompt was closed."""
        candidates = [
            prompt.announcement
            for token, prompt in self._open_prompts.items()
            if token not in self.answered_tokens and (prompt.deadline > now or not prompt.announcement.timeout)
        ]
        focused = [candidate for candidate in candidates if candidate.prompt == self.focused_token]
        for prompt in focused or candidates:
            if not self._is_queued(prompt):
                prefix = self.preferences.phrases["still" if prompt.prompt == self.focused_token else "other"]
                queue.append(_QueuedItem(prompt, prefix=prefix, is_critical=queue is self._critical_items))
                return

    def _is_queued(self, prompt: Announcement) -> bool:
        """Whether a prompt is being spoken, or waits to be."""
        items = [*self._critical_items, *self._waiting_items, *([self._in_flight] if self._in_flight else [])]
        return any(item.announcement.asks and item.announcement.prompt == prompt.prompt for item in items)

    def _supersede(self, announcement: Announcement) -> None:
        """Drop waiting background progress and states that an announcement makes obsolete."""
        key = _supersession_key(announcement)
        if key is not None:
            self._waiting_items = deque(
                item for item in self._waiting_items if _supersession_key(item.announcement) != key
            )

    # -- speech ----------------------------------------------------------------------------

    def _count_interruption(self, announcement: Announcement, now: float) -> bool:
        """
        Count an interruption by an event whose type is not critical; return whether it is one too many. C-68

        The listener is warned of a flood once a minute.
        """
        is_exempt = CORE_EVENTS.get(announcement.event.type) in CRITICAL or announcement.prompt in self._open_prompts
        if not announcement.interrupts or is_exempt:
            return False
        while self._interruption_times and self._interruption_times[0] <= now - MINUTE:
            self._interruption_times.popleft()
        self._interruption_times.append(now)
        if len(self._interruption_times) <= self.max_interruptions_per_minute:
            return False
        self._interruption_times.popleft()  # keep no more than the limit
        if now - self._flood_warned_at >= MINUTE:
            self._flood_warned_at = now
            self._waiting_items.append(_QueuedItem(announcement, text_override=self.preferences.phrases["flood"]))
        return True

    def _interrupt(self) -> list[SpeechAction]:
        """Stop speech that is not critical if something critical waits, and queue it to be spoken again."""
        interrupted = self._in_flight
        if not self._critical_items or interrupted is None or interrupted.is_critical:
            return []
        actions = self._stop_current()
        interrupted.prefix = self.preferences.phrases["again"]
        key = _supersession_key(interrupted.announcement)
        if key is None or all(_supersession_key(item.announcement) != key for item in self._waiting_items):
            self._waiting_items.appendleft(interrupted)
        return actions

    def _repeat_last(self, now: float, *, is_detail: bool) -> list[SpeechAction]:
        if self._last_announcement is None:
            return []
        actions = self._stop_current()
        item = _QueuedItem(self._last_announcement, is_detail=is_detail, position=self._position, is_requested=True)
        self._critical_items.appendleft(item)
        return actions + self._speak_next(now)

    def _go_to(self, position: int, now: float) -> list[SpeechAction]:
        index = position - (self._pushed_count - len(self.history))
        if not 0 <= index < len(self.history):
            return []
        actions = self._stop_current()
        self._critical_items.appendleft(_QueuedItem(self.history[index], position=position, is_requested=True))
        return actions + self._speak_next(now)

    def _stop_current(self) -> list[SpeechAction]:
        if self._in_flight is None:
            return []
        self._in_flight = None
        return [Stop(self._utterance_id)]

    def _speak_next(self, now: float) -> list[SpeechAction]:
        if self._in_flight is not None or not (self._critical_items or self._waiting_items):
            return []
        item = self._critical_items.popleft() if self._critical_items else self._take_waiting()
        self._in_flight = item
        self._utterance_id += 1
        announcement = item.announcement
        prefix = item.prefix
        if item.is_own:
            text = f"{prefix} {announcement.text}" if prefix else announcement.text
            return [
                Speak(
                    text,
                    announcement,
                    self._utterance_id,
                    is_own=True,
                    is_answer=item.is_answer,
                    earcon=item.earcon,
                )
            ]
        if announcement.asks:
            announcement, prefix = self._refresh_prompt(announcement, prefix, now)
        if item.is_detail:
            announcement = msgspec.structs.replace(
                announcement, text=announcement.detail, keys=announcement.detail_keys, cut=False
            )
        self._last_announcement = announcement
        self._is_repeated = False
        self._position = item.position if item.position >= 0 else self._position
        text = item.text_override or announcement.text
        text = f"{prefix} {text}" if prefix else text
        return [Speak(text, announcement, self._utterance_id, is_requested=item.is_requested)]

    def _take_waiting(self) -> _QueuedItem:
        """Take the next item that waits, or of many updates in a row only the last, with how many there were."""
        updates = 0
        while updates < len(self._waiting_items) and _is_update(self._waiting_items[updates]):
            updates += 1
        for _ in range(updates - 1 if updates > MAX_BACKLOG else 0):
            self._waiting_items.popleft()
            self._skipped_count += 1
        item = self._waiting_items.popleft()
        if self._skipped_count:
            item.prefix = self.preferences.phrases.format("backlog", count=self._skipped_count)
            self._skipped_count = 0
        return item

    def _skip_backlog(self) -> None:
        """
        Speak only the newer half of what waits when that is too much, and say how many were skipped.

        Agents that say more than can be heard would have the listener hear ever older news. Prompts and what
        would interrupt are never skipped (C-68).
        """
        if len(self._waiting_items) <= MAX_WAITING:
            return
        items = [*self._waiting_items]
        agents = {item.announcement.event.producer.agent_id for item in items}
        limit = MAX_WAITING_OF_ONE if len(agents) == 1 else MAX_WAITING
        if len(items) <= limit:
            return
        skipped = [item for item in items[: limit // 2] if _may_skip(item)]
        self._skipped_count += len(skipped)
        self._waiting_items = deque(item for item in items if item not in skipped)

    def _refresh_prompt(self, announcement: Announcement, prefix: str, now: float) -> tuple[Announcement, str]:
        """Return a prompt and its prefix as of now: with the time that is left, or without keys once it is closed."""
        prompt = self._open_prompts.get(announcement.prompt)
        if prompt is None:
            closed = self.preferences.phrases["outcome-other"]
            return msgspec.structs.replace(announcement, keys=(), detail_keys=()), closed
        seconds_left = max(0.0, prompt.deadline - now)
        if abs(seconds_left - announcement.timeout) >= 1:
            refreshed = announce(
                announcement.event, self.preferences, remaining=seconds_left, background=announcement.background
            )
            if refreshed is not None and announcement.replaces:
                phrases = self.preferences.phrases
                text = phrases.format("longer", duration=phrases.format_time_left(seconds_left))
                refreshed = msgspec.structs.replace(refreshed, text=text, replaces=announcement.replaces)
            announcement = refreshed or announcement
        return announcement, prefix


def _may_skip(item: _QueuedItem) -> bool:
    """Whether an item may stay unspoken where too many wait; it can be heard again."""
    announcement = item.announcement
    if item.prefix:  # the listener has heard its beginning
        return False
    return item.position >= 0 and not (announcement.interrupts or announcement.prompt or item.text_override)


def _condense(row: list[_QueuedItem]) -> list[_QueuedItem]:
    """Return what is spoken of updates in a row."""
    return row if len(row) <= MAX_BACKLOG else row[-1:]


def _is_skippable(item: _QueuedItem) -> bool:
    """Whether a listener who has fallen behind may miss an item."""
    announcement = item.announcement
    event = announcement.event
    if item.is_critical or item.is_own or announcement.interrupts or announcement.prompt:
        return False
    if CORE_EVENTS.get(event.type) in TERMINAL:
        return False
    return _is_update(item) or not isinstance(event, (ToolInvoked, ToolCompleted))


def _is_update(item: _QueuedItem) -> bool:
    """Whether an item only tells how the work goes on, so that of many only the last matters."""
    announcement = item.announcement
    event = announcement.event
    if announcement.interrupts or announcement.prompt or item.text_override or item.position < 0:
        return False
    if isinstance(event, ToolInvoked):
        return event.irreversible is not True
    if isinstance(event, ToolCompleted):
        return event.status == "success"
    return isinstance(event, (StateChanged, ProgressUpdated))


def _supersession_key(announcement: Announcement) -> tuple[str, str, Literal["state", "progress"]] | None:
    """Return the key that background announcements of progress or state share with those that supersede them."""
    event = announcement.event
    if announcement.urgency != "background" or announcement.prompt:
        return None
    if not isinstance(event, (StateChanged, ProgressUpdated)):
        return None
    kind: Literal["state", "progress"] = "state" if isinstance(event, StateChanged) else "progress"
    return announcement.session_id, event.producer.agent_id, kind
