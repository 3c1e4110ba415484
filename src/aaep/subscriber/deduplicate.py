"""
What arrives, made what was sent: each event once, in order, and no text twice.

A transport may deliver an event again, above all after a reconnect (TR-014),
and a producer that resumes may have merged the same parts in another way. The
reader is told each thing once. Where it cannot be known whether something is
new, it is taken as new: hearing twice is better than missing.
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


class ReceivedEvent(NamedTuple):
    """An event, the bytes that say the same, and what is wrong with it by itself."""

    event: Envelope
    raw: bytes
    violations: Sequence[Violation] = ()


MAX_EVENT_IDS: Final = (
    16_384  # event ids remembered; starts and prompts, which come again whenever we join again, beside them
)
_MAX_SESSIONS: Final = 4096
_MAX_OUTPUTS: Final = 256
_MAX_TAIL_CHARACTERS: Final = 32_768  # characters of an output kept to compare with
_MERGED_ID: Final = re.compile(MERGED_ID_PATTERN)
_RESENT_EVENTS: Final = (SessionStarted, AwaitingConfirmation, AwaitingClarification)  # CF-091, CF-146
_FOLDED_EVENTS: Final = (StateChanged, ProgressUpdated)  # what a producer may fold into the next of its kind (C-36)


class _SeenEvent(msgspec.Struct):
    """An event as it was seen: enough to know it again."""

    digest: int
    about: tuple[str, ...]  # what does not change when an event is sent in another shape (C-85)
    shape: int
    connection: int


class _AgentProgress(msgspec.Struct):
    """How far one agent has got in one session, now and when the connection began."""

    connection: int
    latest: str = ""
    latest_before: str = ""
    last_ids: dict[type, str] = {}


class _OutputText(msgspec.Struct):
    """The text of one output so far."""

    connection: int
    text: str = ""  # its end
    start: int = 0  # where that begins
    is_truncated: bool = False  # text before it was let go
    is_complete: bool = False
    end_before: int = 0  # where it ended when the connection began
    was_complete: bool = False  # and whether that was all

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def is_repeated(self, chunk: str, position: int) -> bool:
        """Whether a chunk repeats what came before the connection began. Text decides: positions alone may lie."""
        if position < self.start and not self.is_truncated:
            return False
        begin, end = max(position, self.start), min(position + len(chunk), self.end_before)
        if begin >= end:
            return True  # only what was let go
        return chunk[begin - position : end - position] == self.text[begin - self.start : end - self.start]

    def append(self, event: OutputStreaming) -> None:
        if event.position != self.end:  # a gap, or another unit than code points (C-44): count from here
            self.text, self.start, self.is_truncated = "", event.position, False
        self.text += event.chunk
        self.is_complete = self.is_complete or event.complete
        over = len(self.text) - _MAX_TAIL_CHARACTERS
        if over > 0:
            self.text, self.start, self.is_truncated = self.text[over:], self.start + over, True


class _SequenceOrder(msgspec.Struct):
    """The numbers of one session. A None stands for an event that was too urgent to wait for those before it."""

    expected: int
    held: dict[int, ReceivedEvent | None] = {}
    since: float = 0.0
    has_gaps: bool = False  # numbers are left out on purpose, as on a filtered stream (C-18): do not wait for them


class Deduplicator:
    """One subscriber's arrivals, over all its connections."""

    def __init__(self, *, window: int = 32, hold: float = 0.25) -> None:
        self.window = window  # events of a session held while an earlier number is missing
        self.hold = hold  # and for how many seconds
        self._seen: dict[str, _SeenEvent] = {}
        self._seen_resent: dict[str, _SeenEvent] = {}
        self._progress: dict[tuple[str, str], _AgentProgress] = {}
        self._outputs: dict[tuple[str, str, str], _OutputText] = {}
        self._orders: dict[str, _SequenceOrder] = {}
        self._connection = 0
        self._shape = 0

    # -- what happens ----------------------------------------------------------------------

    def connection_began(self, *, anew: bool = False) -> None:
        """A connection begins, on a new subscription or the same."""
        self._connection += 1
        if anew:
            self._orders.clear()  # C-18: numbers are counted by subscription
            self.terms_changed()

    def connection_lost(self) -> list[ReceivedEvent]:
        """The connection is over: what was held for the sake of order."""
        held = [received for order in self._orders.values() for received in self._release(order)]
        return [*self._drop_repeated(held)]

    def terms_changed(self) -> None:
        """The terms changed: the same events may come in another shape from now on."""
        self._shape += 1

    def take(self, received: ReceivedEvent, now: float) -> tuple[list[ReceivedEvent], list[Violation]]:
        """Take an event; return what may be passed on now, in order, and what is wrong with its arriving now."""
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
        """When :meth:`advance` has something to pass on; None while nothing is held."""
        return min((order.since + self.hold for order in self._orders.values() if order.held), default=None)

    def advance(self, now: float) -> list[ReceivedEvent]:
        """Pass on what has waited long enough for an earlier number."""
        ready: list[ReceivedEvent] = []
        for order in self._orders.values():
            if order.held and order.since + self.hold <= now:
                order.has_gaps = True
                ready += self._release(order)
        return [*self._drop_repeated(ready)]

    # -- each once -------------------------------------------------------------------------

    def _check_new(self, event: Envelope) -> tuple[bool, list[Violation]]:
        """Whether an event is to be looked at further, and what its id has to say. TR-015 §8.2.4, CF-150"""
        memory = self._seen_resent if isinstance(event, _RESENT_EVENTS) else self._seen
        agent, token = event.producer.agent_id, getattr(event, "reply_token", "")
        about = (agent, event.session_id, event.type, event.timestamp, token if isinstance(token, str) else "")
        sight = _SeenEvent(hash(codec.encode(event)), about, self._shape, self._connection)
        before = self._seen_resent.get(event.event_id) or self._seen.get(event.event_id)
        if before is None:
            if len(memory) >= MAX_EVENT_IDS:
                forget_older_half(memory)
        elif before.digest == sight.digest:
            return False, []
        memory[event.event_id] = sight
        if before is None or before.about[0] != agent:  # another producer's ids are its own
            return True, []
        chunk = isinstance(event, OutputStreaming)
        if before.about == about and before.shape != self._shape and not chunk:
            return False, []  # C-85: the same event, in the shape of other terms
        if chunk and before.connection != self._connection:
            return True, []  # merged anew from the same last part; its text is compared
        text = "The event_id was used for another event. Both are passed on."
        return True, [Violation("ENV-013", text, "/event_id", event.event_id)]

    # -- in order --------------------------------------------------------------------------

    def _put_in_order(
        self, received: ReceivedEvent, number: int, now: float, violations: list[Violation]
    ) -> Iterator[ReceivedEvent]:
        """TR-012 §8.2.3: numbers put right what a transport without order mixed up. Timestamps never do (C-14)."""
        event = received.event
        order = self._orders.get(event.session_id)
        if order is None:
            if len(self._orders) >= _MAX_SESSIONS:
                del self._orders[next(iter(self._orders))]
            # Far from 0 the session was joined on its way, and there is nothing to wait for.
            order = self._orders[event.session_id] = _SequenceOrder(0 if number <= self.window else number)
        if number > order.expected and not order.has_gaps:
            if not order.held:
                order.since = now
            is_urgent = is_critical(event)  # never held, whatever is missing before it
            order.held[number] = None if is_urgent else received
            if is_urgent:
                yield received
            if len(order.held) > self.window:
                yield from self._release(order)
            return
        if number < order.expected:
            order.has_gaps = False  # it does come late sometimes, so waiting is worth it
        elif any(order.held.values()):
            text = f"Number {number} arrived late. The order was put right."
            violations.append(Violation("TR-009", text, "/sequence_number", event.event_id))
        yield received
        order.expected = max(order.expected, number + 1)
        while order.expected in order.held:
            held = order.held.pop(order.expected)
            order.expected += 1
            order.since = now
            if held is not None:
                yield held

    def _release(self, order: _SequenceOrder) -> list[ReceivedEvent]:
        """Give up waiting for what is missing."""
        held, order.held = order.held, {}
        order.expected = max(held, default=order.expected - 1) + 1
        return [held[number] for number in sorted(held) if held[number] is not None]  # type: ignore[misc]  # not None

    # -- nothing again in another form --------------------------------------------------------

    def _drop_repeated(self, events: list[ReceivedEvent]) -> Iterator[ReceivedEvent]:
        for received in events:
            event = received.event
            if isinstance(event, OutputStreaming):
                part = self._new_part(event)
                if part is event:
                    yield received
                elif part is not None:
                    raw = codec.encode(part)
                    yield ReceivedEvent(part, raw, received.violations)
            elif not self._was_told(event):
                yield received
            if isinstance(event, TERMINAL):
                self._orders.pop(event.session_id, None)

    def _was_told(self, event: Envelope) -> bool:
        """
        Whether a state or progress came before in another form.

        A producer that resumes from its journal may fold anew: one that came
        alone comes again inside a later one, or the other way round. Before a
        reconnect each agent's events came in order, so what is older than the
        last of them is known.
        """
        place = self._progress_of(event)
        plain = (
            isinstance(event, _FOLDED_EVENTS)
            and attend_member(event, "outcome") is None
            and not attend_member(event, "resync")
        )
        if plain and event.sequence_number is UNSET:
            id_ = _last_part(event.event_id)
            if place.latest_before and (
                timestamps.is_later(place.latest_before, event.timestamp) or place.last_ids.get(type(event)) == id_
            ):
                return True
            place.last_ids = {**place.last_ids, type(event): id_}
        # Prompts and catch-ups are sent ahead of what was missed, so they do not show how far we got (CF-091).
        ahead = isinstance(event, _RESENT_EVENTS) or attend_member(event, "resync")
        if not ahead and not timestamps.is_later(place.latest, event.timestamp):
            place.latest = event.timestamp
        return False

    def _progress_of(self, event: Envelope) -> _AgentProgress:
        key = event.session_id, event.producer.agent_id
        place = self._progress.get(key)
        if place is None:
            if len(self._progress) >= _MAX_SESSIONS:
                del self._progress[next(iter(self._progress))]
            place = self._progress[key] = _AgentProgress(self._connection)
        if place.connection != self._connection:
            place.connection, place.latest_before = self._connection, place.latest
        return place

    def _new_part(self, event: OutputStreaming) -> OutputStreaming | None:
        """The part of a chunk that is new after a reconnect; None if there is none."""
        self._was_told(event)
        named = event.output_id is not UNSET
        key = event.session_id, event.producer.agent_id, str(event.output_id) if named else ""
        output = self._outputs.pop(key, None) or _OutputText(self._connection)
        if output.connection != self._connection:
            output.connection, output.end_before, output.was_complete = self._connection, output.end, output.is_complete
        again = min(output.end_before, event.position + len(event.chunk)) - event.position
        if event.position < output.end_before and output.is_repeated(event.chunk, event.position):
            if again == len(event.chunk) and (output.was_complete or not event.complete):
                self._outputs[key] = output
                return None
            # The end of an output is news, even without text.
            event = codec.replace(event, chunk=event.chunk[again:], position=event.position + again)
        output.append(event)
        if named or not event.complete:  # without a name the next output is told from this one by its end alone
            self._outputs[key] = output
            if len(self._outputs) > _MAX_OUTPUTS:
                del self._outputs[next(iter(self._outputs))]
        return event


def _last_part(event_id: str) -> str:
    """C-85: what a merged event is named after."""
    merged = _MERGED_ID.fullmatch(event_id)
    return event_id if merged is None else merged[1]
