"""
Deduplication and ordering of received events: each event once, in order, and no text twice.

A transport may deliver an event again, above all after a reconnect (TR-014),
and a producer that resumes may have merged the same parts in another way. Where
it is uncertain whether something is new, it is passed on: hearing something
twice is better than missing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from ..errors import Violation
from ..protocol import codec, timestamps
from ..protocol.attend_extension import attend_member
from ..protocol.audit import forget_older_half
from ..protocol.events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    ProgressUpdated,
    SessionStarted,
    StateChanged,
)
from ..protocol.fields import MERGED_ID_PATTERN
from ..protocol.subscription import is_critical

__all__ = ["Deduplicator", "ReceivedEvent"]


MAX_EVENT_IDS: Final = 16_384  # remembered ids; those of resent events are counted apart
_MAX_SESSIONS: Final = 4096
_MAX_OUTPUTS: Final = 256
_MAX_TAIL_CHARACTERS: Final = 32_768  # characters of an output kept for comparison
_MERGED_ID: Final = re.compile(MERGED_ID_PATTERN)
_RESENT_EVENTS: Final = (SessionStarted, AwaitingConfirmation, AwaitingClarification)  # on rejoining: CF-007, CF-146


class ReceivedEvent(NamedTuple):
    """An event, its encoded form, and the violations found in it alone."""

    event: Envelope
    raw: bytes
    violations: Sequence[Violation] = ()


class _SeenEvent(msgspec.Struct):
    """The traits by which an event is recognised when it arrives again."""

    digest: int
    traits: tuple[str, ...]  # the same whatever terms an event is sent under (C-85)
    terms_version: int
    connection: int


class _AgentProgress(msgspec.Struct):
    """The timestamps an agent has reached in a session, now and when the connection began."""

    connection: int
    latest: str = ""
    latest_before: str = ""
    last_folded: dict[type, Envelope] = {}  # the last event of each type that may be folded


class _OutputText(msgspec.Struct):
    """The text of an output so far, as far as it is kept."""

    connection: int
    text: str = ""  # the tail that is kept
    start: int = 0  # position of that tail
    is_truncated: bool = False  # text before the tail was dropped
    is_complete: bool = False
    end_before: int = 0  # where the text ended when the connection began
    was_complete: bool = False  # whether the output was complete then

    @property
    def end(self) -> int:
        """The position after the last character."""
        return self.start + len(self.text)

    def is_repeated(self, chunk: str, position: int) -> bool:
        """Whether a chunk repeats text from before the connection. The text decides, as positions may be wrong."""
        if position < self.start and not self.is_truncated:
            return False
        begin = max(position, self.start)
        end = min(position + len(chunk), self.end_before)
        if begin >= end:
            return True  # all of it was dropped, and cannot be compared
        return chunk[begin - position : end - position] == self.text[begin - self.start : end - self.start]

    def append(self, event: OutputStreaming) -> None:
        """Append the chunk of an event and drop what exceeds the tail."""
        if event.position != self.end:  # a gap, or another unit than code points (C-44): count from here
            self.text = ""
            self.start = event.position
            self.is_truncated = False
        self.text += event.chunk
        self.is_complete = self.is_complete or event.complete
        excess = len(self.text) - _MAX_TAIL_CHARACTERS
        if excess > 0:
            self.text = self.text[excess:]
            self.start += excess
            self.is_truncated = True


class _SequenceOrder(msgspec.Struct):
    """The sequence numbers of a session. None is held for an urgent event that was passed on ahead of its turn."""

    expected: int
    held: dict[int, ReceivedEvent | None] = {}
    held_since: float = 0.0
    has_gaps: bool = False  # numbers are left out on purpose, as on a filtered stream (C-18): do not wait for them


class Deduplicator:
    """Passes on each event that a subscriber receives once and in order, over all its connections."""

    def __init__(self, *, window: int = 32, hold: float = 0.25) -> None:
        self.window = window  # most events of a session to hold while an earlier number is missing
        self.hold = hold  # seconds to hold them
        self._seen: dict[str, _SeenEvent] = {}
        self._seen_resent: dict[str, _SeenEvent] = {}
        self._progress: dict[tuple[str, str], _AgentProgress] = {}
        self._outputs: dict[tuple[str, str, str], _OutputText] = {}
        self._orders: dict[str, _SequenceOrder] = {}
        self._connection = 0
        self._terms_version = 0

    # -- receiving -------------------------------------------------------------------------

    def connection_began(self, *, anew: bool = False) -> None:
        """Note that a connection begins, with ``anew`` on a new subscription."""
        self._connection += 1
        if anew:
            self._orders.clear()  # C-18: numbers are counted by subscription
            self.terms_changed()

    def connection_lost(self) -> list[ReceivedEvent]:
        """Note that the connection is lost, and return the events that were held for ordering."""
        held = [received for order in self._orders.values() for received in self._release(order)]
        return [*self._drop_repeated(held)]

    def terms_changed(self) -> None:
        """Note that the terms changed, after which the same events may arrive in another form."""
        self._terms_version += 1

    def take(self, received: ReceivedEvent, now: float) -> tuple[list[ReceivedEvent], list[Violation]]:
        """Process an event; return the events to pass on now, in order, and the violations in its arrival."""
        event = received.event
        is_new, violations = self._check_new(event)
        if not is_new:
            return [], []
        ready = [received]
        if event.sequence_number is not UNSET:
            ready = [*self._put_in_order(received, event.sequence_number, now, violations)]
        return [*self._drop_repeated(ready)], violations

    @property
    def next_deadline(self) -> float | None:
        """The time at which :meth:`advance` has events to pass on, None while none are held."""
        return min((order.held_since + self.hold for order in self._orders.values() if order.held), default=None)

    def advance(self, now: float) -> list[ReceivedEvent]:
        """Return the events that have waited long enough for an earlier number."""
        ready: list[ReceivedEvent] = []
        for order in self._orders.values():
            if order.held and order.held_since + self.hold <= now:
                order.has_gaps = True
                ready += self._release(order)
        return [*self._drop_repeated(ready)]

    # -- repeated events -------------------------------------------------------------------

    def _check_new(self, event: Envelope) -> tuple[bool, list[Violation]]:
        """Return whether an event is new by its id, and the violations in that id. TR-015 §8.2.4, CF-150"""
        seen_events = self._seen_resent if isinstance(event, _RESENT_EVENTS) else self._seen
        agent_id = event.producer.agent_id
        token = getattr(event, "reply_token", "")
        traits = (agent_id, event.session_id, event.type, event.timestamp, token if isinstance(token, str) else "")
        current = _SeenEvent(hash(codec.encode(event)), traits, self._terms_version, self._connection)
        previous = self._seen_resent.get(event.event_id) or self._seen.get(event.event_id)
        if previous is None:
            if len(seen_events) >= MAX_EVENT_IDS:
                forget_older_half(seen_events)
        elif previous.digest == current.digest:
            return False, []
        seen_events[event.event_id] = current
        if previous is None or previous.traits[0] != agent_id:  # ids are unique per producer only
            return True, []
        is_chunk = isinstance(event, OutputStreaming)
        if previous.traits == traits and previous.terms_version != self._terms_version and not is_chunk:
            return False, []  # C-85: the same event, in the form of other terms
        if is_chunk and previous.connection != self._connection:
            return True, []  # merged anew with the same last part; its text is compared later
        text = "The event_id was used for another event. Both are passed on."
        return True, [Violation("ENV-013", text, "/event_id", event.event_id)]

    # -- ordering --------------------------------------------------------------------------

    def _put_in_order(
        self, received: ReceivedEvent, number: int, now: float, violations: list[Violation]
    ) -> Iterator[ReceivedEvent]:
        """Yield events in the order of their numbers, never of their timestamps (C-14). TR-012 §8.2.3"""
        event = received.event
        order = self._orders.get(event.session_id)
        if order is None:
            if len(self._orders) >= _MAX_SESSIONS:
                del self._orders[next(iter(self._orders))]
            # A number far from 0 means that the session was joined midway, and nothing is missing.
            order = self._orders[event.session_id] = _SequenceOrder(0 if number <= self.window else number)
        if number > order.expected and not order.has_gaps:
            if not order.held:
                order.held_since = now
            is_urgent = is_critical(event)  # critical events are never held
            order.held[number] = None if is_urgent else received
            if is_urgent:
                yield received
            if len(order.held) > self.window:
                yield from self._release(order)
            return
        if number < order.expected:
            order.has_gaps = False  # events do arrive late here, so waiting is worthwhile
        elif any(order.held.values()):
            text = f"Number {number} arrived late. The order was put right."
            violations.append(Violation("TR-009", text, "/sequence_number", event.event_id))
        yield received
        order.expected = max(order.expected, number + 1)
        while order.expected in order.held:
            held = order.held.pop(order.expected)
            order.expected += 1
            order.held_since = now
            if held is not None:
                yield held

    def _release(self, order: _SequenceOrder) -> list[ReceivedEvent]:
        """Return the held events, in order, without waiting any longer for missing ones."""
        held = order.held
        order.held = {}
        order.expected = max(held, default=order.expected - 1) + 1
        return [held[number] for number in sorted(held) if held[number] is not None]  # type: ignore[misc]  # not None

    # -- events that arrive again in another form ------------------------------------------

    def _drop_repeated(self, events: list[ReceivedEvent]) -> Iterator[ReceivedEvent]:
        """Yield the events, or the parts of them, that did not arrive before in another form."""
        for received in events:
            event = received.event
            if isinstance(event, OutputStreaming):
                new_part = self._extract_new_part(event)
                if new_part is event:
                    yield received
                elif new_part is not None:
                    raw = codec.encode(new_part)
                    yield ReceivedEvent(new_part, raw, received.violations)
            elif self._record_progress(event):
                yield received
            if isinstance(event, TERMINAL):
                self._orders.pop(event.session_id, None)

    def _record_progress(self, event: Envelope) -> bool:
        """
        Record how far an agent has got; return False for a state or progress that arrived before in another form.

        A producer that resumes from its journal may fold events anew: one that
        arrived alone is repeated inside a later one, or the other way round.
        Before a reconnect each agent's events arrived in order, so what is
        older than the last of them is known.
        """
        progress = self._get_progress(event)
        may_be_folded = (  # a producer may fold these into the next of their type (C-36)
            isinstance(event, (StateChanged, ProgressUpdated))
            and attend_member(event, "outcome") is None
            and not attend_member(event, "resync")
        )
        if may_be_folded and event.sequence_number is UNSET:
            known = progress.latest_before
            is_older = known != "" and timestamps.is_later(known, event.timestamp)
            last = progress.last_folded.get(type(event))
            may_be_part = event.timestamp == known  # only what was heard before the connection comes again in parts
            if is_older or (last is not None and (_is_same(last, event) or (may_be_part and _is_part(event, last)))):
                return False
            progress.last_folded = {**progress.last_folded, type(event): event}
        # Open prompts may be sent again ahead of missed events, and catch-ups stand for them (CF-007, CF-146).
        is_sent_ahead = isinstance(event, _RESENT_EVENTS) or attend_member(event, "resync")
        if not is_sent_ahead and not timestamps.is_later(progress.latest, event.timestamp):
            progress.latest = event.timestamp
        return True

    def _get_progress(self, event: Envelope) -> _AgentProgress:
        key = event.session_id, event.producer.agent_id
        progress = self._progress.get(key)
        if progress is None:
            if len(self._progress) >= _MAX_SESSIONS:
                del self._progress[next(iter(self._progress))]
            progress = self._progress[key] = _AgentProgress(self._connection)
        if progress.connection != self._connection:
            progress.connection = self._connection
            progress.latest_before = progress.latest
        return progress

    def _extract_new_part(self, event: OutputStreaming) -> OutputStreaming | None:
        """Return a chunk without the text that arrived before a reconnect, or None if nothing of it is new."""
        self._record_progress(event)
        has_output_id = event.output_id is not UNSET
        key = event.session_id, event.producer.agent_id, str(event.output_id) if has_output_id else ""
        output = self._outputs.pop(key, None) or _OutputText(self._connection)
        if output.connection != self._connection:
            output.connection = self._connection
            output.end_before = output.end
            output.was_complete = output.is_complete
        repeated_length = min(output.end_before, event.position + len(event.chunk)) - event.position
        if event.position < output.end_before and output.is_repeated(event.chunk, event.position):
            if repeated_length == len(event.chunk) and (output.was_complete or not event.complete):
                self._outputs[key] = output
                return None
            # The end of an output is new, even without text.
            event = codec.replace(event, chunk=event.chunk[repeated_length:], position=event.position + repeated_length)
        output.append(event)
        if has_output_id or not event.complete:  # without an id, only its end separates this output from the next
            self._outputs[key] = output
            if len(self._outputs) > _MAX_OUTPUTS:
                del self._outputs[next(iter(self._outputs))]
        return event


def _is_same(first: Envelope, second: Envelope) -> bool:
    """Whether two events are the same original, or end with the same one: alone, or with others folded into it."""
    original_id = _get_last_part_id(first.event_id)
    if original_id != _get_last_part_id(second.event_id):
        return False
    # Ids of other producers may look as if they were merged.
    return original_id in (first.event_id, second.event_id) or first.timestamp == second.timestamp


def _is_part(event: Envelope, merged: Envelope) -> bool:
    """
    Whether a change of state is one of those that were folded into a merged one.

    Timestamps do not tell if both are of one millisecond, but what is new leaves the state that was heard last. A
    change that ends a prompt is never folded (CF-025).
    """
    return (
        isinstance(event, StateChanged)
        and isinstance(merged, StateChanged)
        and _MERGED_ID.fullmatch(merged.event_id) is not None
        and event.timestamp == merged.timestamp
        and event.from_state not in ("awaiting_input", merged.to_state)
    )


def _get_last_part_id(event_id: str) -> str:
    """Return the id of the last part of a merged event, or the id itself (C-85)."""
    merged = _MERGED_ID.fullmatch(event_id)
    return event_id if merged is None else merged[1]
