"""
What arrives, made what was sent: each event once, in order, and no text twice.

A transport may deliver an event again, above all after a reconnect (TR-014),
and a producer that resumes may have merged the same parts in another way. The
reader is told each thing once. Where it cannot be known whether something is
new, it is taken as new: hearing twice is better than missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

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
from ..protocol.fields import MERGED
from ..protocol.subscription import is_critical

__all__ = ["Arrivals", "Item"]

Item = tuple[Envelope, bytes]  # an event, and the bytes that say the same

MOST: Final = 16_384  # event ids remembered; starts and prompts, which come again whenever we join again, beside them
_MOST_PLACES: Final = 4096
_MOST_OUTPUTS: Final = 256
_TAIL: Final = 32_768  # characters of an output kept to compare with
_MERGED: Final = re.compile(MERGED)
_AGAIN: Final = (SessionStarted, AwaitingConfirmation, AwaitingClarification)  # CF-091, CF-146
_FOLDED: Final = (StateChanged, ProgressUpdated)  # what a producer may fold into the next of its kind (C-36)


class _Sight(msgspec.Struct):
    """An event as it was seen: enough to know it again."""

    digest: int
    about: tuple[str, ...]  # what does not change when an event is sent in another shape (C-85)
    shape: int
    connection: int


class _Place(msgspec.Struct):
    """How far one agent has got in one session, now and when the connection began."""

    connection: int
    latest: str = ""
    mark: str = ""
    last: dict[type, str] = {}


class _Output(msgspec.Struct):
    """The text of one output so far."""

    connection: int
    text: str = ""  # its end
    start: int = 0  # where that begins
    cut: bool = False  # text before it was let go
    complete: bool = False
    mark: int = 0  # where it ended when the connection began
    closed: bool = False  # and whether that was all

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def same(self, chunk: str, position: int) -> bool:
        """Whether a chunk repeats what came before the connection began. Text decides: positions alone may lie."""
        if position < self.start and not self.cut:
            return False
        begin, end = max(position, self.start), min(position + len(chunk), self.mark)
        if begin >= end:
            return True  # only what was let go
        return chunk[begin - position : end - position] == self.text[begin - self.start : end - self.start]

    def take(self, event: OutputStreaming) -> None:
        if event.position != self.end:  # a gap, or another unit than code points (C-44): count from here
            self.text, self.start, self.cut = "", event.position, False
        self.text += event.chunk
        self.complete = self.complete or event.complete
        over = len(self.text) - _TAIL
        if over > 0:
            self.text, self.start, self.cut = self.text[over:], self.start + over, True


class _Order(msgspec.Struct):
    """The numbers of one session. A None stands for an event that was too urgent to wait for those before it."""

    expected: int
    held: dict[int, Item | None] = {}
    since: float = 0.0
    gaps: bool = False  # numbers are left out on purpose, as on a filtered stream (C-18): do not wait for them


class Arrivals:
    """One subscriber's arrivals, over all its connections."""

    def __init__(self, *, window: int = 32, hold: float = 0.25) -> None:
        self.window = window  # events of a session held while an earlier number is missing
        self.hold = hold  # and for how many seconds
        self._seen: dict[str, _Sight] = {}
        self._kept: dict[str, _Sight] = {}
        self._places: dict[tuple[str, str], _Place] = {}
        self._outputs: dict[tuple[str, str, str], _Output] = {}
        self._orders: dict[str, _Order] = {}
        self._connection = 0
        self._shape = 0

    # -- what happens ----------------------------------------------------------------------

    def connected(self, *, anew: bool = False) -> None:
        """A connection begins, on a new subscription or the same."""
        self._connection += 1
        if anew:
            self._orders.clear()  # C-18: numbers are counted by subscription
            self.reshaped()

    def lost(self) -> list[Item]:
        """The connection is over: what was held for the sake of order."""
        held = [item for order in self._orders.values() for item in self._release(order)]
        return [*self._fresh(held)]

    def reshaped(self) -> None:
        """The terms changed: the same events may come in another shape from now on."""
        self._shape += 1

    def take(self, event: Envelope, raw: bytes, now: float) -> tuple[list[Item], list[Violation]]:
        """An event arrived: what may be passed on now, in order, and what is wrong with its arriving."""
        new, found = self._meet(event)
        if not new:
            return [], []
        ready = [(event, raw)] if event.sequence_number is UNSET else [*self._ordered(event, raw, now, found)]
        return [*self._fresh(ready)], found

    @property
    def due(self) -> float | None:
        """When :meth:`advance` has something to pass on; None while nothing is held."""
        return min((order.since + self.hold for order in self._orders.values() if order.held), default=None)

    def advance(self, now: float) -> list[Item]:
        """Pass on what has waited long enough for an earlier number."""
        ready: list[Item] = []
        for order in self._orders.values():
            if order.held and order.since + self.hold <= now:
                order.gaps = True
                ready += self._release(order)
        return [*self._fresh(ready)]

    # -- each once -------------------------------------------------------------------------

    def _meet(self, event: Envelope) -> tuple[bool, list[Violation]]:
        """Whether an event is to be looked at further, and what its id has to say. TR-015 §8.2.4, CF-150"""
        memory = self._kept if isinstance(event, _AGAIN) else self._seen
        agent, token = event.producer.agent_id, getattr(event, "reply_token", "")
        about = (agent, event.session_id, event.type, event.timestamp, token if isinstance(token, str) else "")
        sight = _Sight(hash(codec.encode(event)), about, self._shape, self._connection)
        before = self._kept.get(event.event_id) or self._seen.get(event.event_id)
        if before is None:
            if len(memory) >= MOST:
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

    def _ordered(self, event: Envelope, raw: bytes, now: float, found: list[Violation]) -> Iterator[Item]:
        """TR-012 §8.2.3: numbers put right what a transport without order mixed up. Timestamps never do (C-14)."""
        number: int = event.sequence_number  # type: ignore[assignment]  # it has one
        order = self._orders.get(event.session_id)
        if order is None:
            if len(self._orders) >= _MOST_PLACES:
                del self._orders[next(iter(self._orders))]
            # Far from 0 the session was joined on its way, and there is nothing to wait for.
            order = self._orders[event.session_id] = _Order(0 if number <= self.window else number)
        if number > order.expected and not order.gaps:
            if not order.held:
                order.since = now
            urgent = is_critical(event)  # never held, whatever is missing before it
            order.held[number] = None if urgent else (event, raw)
            if urgent:
                yield event, raw
            if len(order.held) > self.window:
                yield from self._release(order)
            return
        if number < order.expected:
            order.gaps = False  # it does come late sometimes, so waiting is worth it
        elif any(order.held.values()):
            text = f"Number {number} arrived late. The order was put right."
            found.append(Violation("TR-009", text, "/sequence_number", event.event_id))
        yield event, raw
        order.expected = max(order.expected, number + 1)
        while order.expected in order.held:
            item = order.held.pop(order.expected)
            order.expected += 1
            order.since = now
            if item is not None:
                yield item

    def _release(self, order: _Order) -> list[Item]:
        """Give up waiting for what is missing."""
        held, order.held = order.held, {}
        order.expected = max(held, default=order.expected - 1) + 1
        return [item for _, item in sorted(held.items(), key=lambda one: one[0]) if item is not None]

    # -- nothing again in another form --------------------------------------------------------

    def _fresh(self, items: list[Item]) -> Iterator[Item]:
        for event, raw in items:
            if isinstance(event, OutputStreaming):
                rest = self._rest(event)
                if rest is not None:
                    yield rest, raw if rest is event else codec.encode(rest)
            elif not self._told(event):
                yield event, raw
            if isinstance(event, TERMINAL):
                self._orders.pop(event.session_id, None)

    def _told(self, event: Envelope) -> bool:
        """
        Whether a state or progress came before in another form.

        A producer that resumes from its journal may fold anew: one that came
        alone comes again inside a later one, or the other way round. Before a
        reconnect each agent's events came in order, so what is older than the
        last of them is known.
        """
        place = self._place(event)
        plain = (
            isinstance(event, _FOLDED)
            and attend_member(event, "outcome") is None
            and not attend_member(event, "resync")
        )
        if plain and event.sequence_number is UNSET:
            id_ = _last_part(event.event_id)
            if place.mark and (timestamps.is_later(place.mark, event.timestamp) or place.last.get(type(event)) == id_):
                return True
            place.last = {**place.last, type(event): id_}
        # Prompts and catch-ups are sent ahead of what was missed, so they do not show how far we got (CF-091).
        ahead = isinstance(event, _AGAIN) or attend_member(event, "resync")
        if not ahead and not timestamps.is_later(place.latest, event.timestamp):
            place.latest = event.timestamp
        return False

    def _place(self, event: Envelope) -> _Place:
        key = event.session_id, event.producer.agent_id
        place = self._places.get(key)
        if place is None:
            if len(self._places) >= _MOST_PLACES:
                del self._places[next(iter(self._places))]
            place = self._places[key] = _Place(self._connection)
        if place.connection != self._connection:
            place.connection, place.mark = self._connection, place.latest
        return place

    def _rest(self, event: OutputStreaming) -> OutputStreaming | None:
        """The part of a chunk that is new after a reconnect; None if there is none."""
        self._told(event)
        named = event.output_id is not UNSET
        key = event.session_id, event.producer.agent_id, str(event.output_id) if named else ""
        output = self._outputs.pop(key, None) or _Output(self._connection)
        if output.connection != self._connection:
            output.connection, output.mark, output.closed = self._connection, output.end, output.complete
        again = min(output.mark, event.position + len(event.chunk)) - event.position
        if event.position < output.mark and output.same(event.chunk, event.position):
            if again == len(event.chunk) and (output.closed or not event.complete):
                self._outputs[key] = output
                return None
            # The end of an output is news, even without text.
            event = codec.replace(event, chunk=event.chunk[again:], position=event.position + again)
        output.take(event)
        if named or not event.complete:  # without a name the next output is told from this one by its end alone
            self._outputs[key] = output
            if len(self._outputs) > _MOST_OUTPUTS:
                del self._outputs[next(iter(self._outputs))]
        return event


def _last_part(event_id: str) -> str:
    """C-85: what a merged event is named after."""
    merged = _MERGED.fullmatch(event_id)
    return event_id if merged is None else merged[1]
