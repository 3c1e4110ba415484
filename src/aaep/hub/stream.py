"""
What one set of terms receives, written to all who have those terms.

A :class:`Stream` shapes once and frames once. A reader that keeps up is *live*:
each batch costs it one write, and some a look at its buffer. A reader that has just
joined, is paced, or does not take what it is sent *trails*: it goes through the
ring at its own speed, with what it missed made as short as is legal, until it
is live again. Nobody waits for it.

Used on the hub's loop only. Times are given.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias, cast

import msgspec

from ..identity.peer import Peer
from ..journal.base import expand_merged_id
from ..protocol import attend_extension, codec
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope
from ..protocol.extensions import Registry
from ..protocol.fields import get_member
from ..protocol.messages import Capabilities, ConfirmationReply, Reply
from ..protocol.subscription import admits, is_critical
from ..shaping.shaper import Shaper, condense
from .face import FrameWriter
from .settings import Settings
from .visibility import hidden, hidden_from, reduced

__all__ = [
    "STORED",
    "Batch",
    "Item",
    "Mark",
    "Readers",
    "Sink",
    "Stream",
    "Subscription",
    "TooSlow",
    "broken",
    "pass_full",
    "spread",
]

POLL: Final = 0.05  # seconds until a full buffer is looked at again
PORTION: Final = 64 * 1024  # bytes written to a trailing reader between two looks at its buffer
ALIASES: Final = 2000

# A place to resume after: the number in the ring, and the event id by which the journal knows it.
# The id is empty where nothing had been published yet.
Mark: TypeAlias = tuple[int, str]
_CONFIRMS: Final = (AwaitingConfirmation, ConfirmationReply)
STORED: Final = -1  # instead of a number: a place that only the journal knows


class TooSlow(Exception):
    """A reader has fallen too far behind (CF-073, CF-083)."""


class Item(msgspec.Struct, frozen=True, gc=False):
    """One shaped event, as it is or was sent."""

    mark: Mark
    event: Envelope
    data: bytes
    at: float

    @property
    def critical(self) -> bool:
        return is_critical(self.event)


class Subscription:
    """One subscription: whose it is, its terms, and how far it has come."""

    def __init__(self, id: str, peer: Peer, asked: Capabilities, terms: Capabilities, version: str) -> None:
        self.id = id
        self.peer = peer
        self.subscriber_id = ""
        self.asked = asked
        self.terms = terms
        self.version = version
        self.is_bare = False
        self.writer: FrameWriter | None = None
        self.connected = False  # ever
        self.stream: Stream
        self.live = False
        self.turn = 0  # when it connected, counted
        self.queue: list[tuple[Item, Mark | None]] = []  # with what is reached by sending it
        self.start: Mark = (0, "")  # where it began; who names no event has seen none
        self.position = 0  # up to here of the ring is written or in the queue
        self.written: Mark = (0, "")  # up to here it is written; not kept up to date while live
        self.aliases: dict[str, Mark] = {}  # ids that were sent out of their order, and where to resume for them
        self.greeting: frozenset[str] = frozenset()  # what it began with, without the last of it
        self.due = 0.0  # when the rate lets the next one through, while trailing
        self.stalled: float | None = None  # since when its buffer has been full
        self.behind = False  # it has been passed over
        self.expiry: Callable[[], None] | None = None  # takes back the end of its resume window
        self.cancel_expiry: Callable[[], None] | None = None  # takes back the next look at its credential

    def may_answer(self, kind: type[Envelope] | type[Reply]) -> bool:
        """Whether it may answer prompts of a kind (CF-008): by its terms, and by who it is."""
        terms = self.terms
        granted = terms.supports_confirmation_reply if kind in _CONFIRMS else terms.supports_clarification_reply
        return granted is True and not self.is_bare and self.peer.may_reply

    @property
    def may_reply(self) -> bool:
        """Whether it may answer prompts of any kind."""
        return self.may_answer(AwaitingConfirmation) or self.may_answer(AwaitingClarification)

    def requested(self, name: str) -> Any:
        """What it asked for, and was granted, under our own extension; None if nothing."""
        entry = self.terms.unknown.get(attend_extension.PREFIX)
        return entry.get(name) if isinstance(entry, dict) else None

    @property
    def mark(self) -> Mark:
        """Up to where it was written to."""
        return self.stream.mark if self.live else self.written


class Stream:
    """A shaper, a ring of what came out of it, and the readers of that."""

    def __init__(self, peer: Peer, terms: Capabilities, settings: Settings, known: Registry, last: str) -> None:
        """``last`` is the id of the last event before this stream began."""
        self.peer = peer  # in its principal and its roles one for all
        self.terms = terms
        self.settings = settings
        self.known = known
        self.shaper = Shaper(terms, registry=known)
        self.subscriptions: set[Subscription] = set()
        self.trailing: set[Subscription] = set()  # readers that have to be pumped
        self.mark: Mark = (0, last)
        self.armed: float | None = None  # when the hub will call advance()
        self.frames = self.writes = 0  # how many were written, in how many pieces
        rate = get_member(terms, "max_events_per_second")
        self._spacing = 1 / rate if rate else 0.0
        self._hidden = hidden_from(peer.roles, hidden(settings.hidden))
        self._ring: deque[Item] = deque(maxlen=max(0, settings.ring))  # CF-091: so many events ...
        self._age = settings.ring_age  # ... for so long
        self._serials: dict[str, int] = {}  # by event id ...
        self._indexed = (0, 0)  # ... when the ring ended here and held so many
        self.fresh: list[Item] = []  # in the ring, and not yet written to the live readers
        self.size = 0  # bytes of it
        self._before = self.mark  # where the live readers are
        self._unseen = 0  # bytes written since their buffers were looked at ...
        self._glance = settings.high_water >> 2  # ... which may be a good deal fuller beyond this
        self._stale = True  # the next two have to be made anew
        self._live = Readers()
        self._batches: dict[Callable[[str, bytes], bytes], Batch] = {}
        self.version = 0  # how often they were

    # -- in ----------------------------------------------------------------------------

    def fit(self, event: Envelope) -> Envelope:
        """An event as far as these readers' role lets them see it (SEC-040)."""
        return reduced(event, self._hidden) if self._hidden else event

    def push(self, event: Envelope, data: bytes, now: float) -> None:
        """Shape an event. What comes of it waits to be written."""
        fitting = self.fit(event) if self._hidden else event
        self._add(self.shaper.push(fitting, now), now, event, data)

    def advance(self, now: float) -> None:
        """What the shaper has held for long enough."""
        self._add(self.shaper.advance(now), now)

    def flush(self, now: float) -> None:
        """Everything the shaper holds: from here on a reader can begin without knowing what was before."""
        self._add(self.shaper.flush(now), now)

    def _add(self, events: Iterable[Envelope], now: float, given: Envelope | None = None, data: bytes = b"") -> None:
        """``given`` is what was pushed, whose bytes are known."""
        fresh, mark = self.fresh, self.mark
        if not fresh:
            self._before = mark
        for event in events:
            self.mark = mark = mark[0] + 1, event.event_id
            item = Item(mark, event, data if event is given else codec.encode(event), now)
            self._ring.append(item)
            fresh.append(item)
            self.size += len(item.data)

    # -- the ring ----------------------------------------------------------------------

    def trim(self, now: float) -> None:
        """CF-091: what has been in the ring for too long."""
        ring, oldest = self._ring, now - self._age
        while ring and ring[0].at < oldest:
            ring.popleft()

    def find(self, event_id: str) -> int:
        """The number of an event that was sent, itself or merged with others (C-85), if the ring has it."""
        held = self.mark[0], len(self._ring)
        if self._indexed != held:  # many come back at a time, or nobody does
            self._indexed = held
            self._serials = {name: serial for serial, name in [item.mark for item in self._ring]}
        return next((self._serials[name] for name in expand_merged_id(event_id) if name in self._serials), STORED)

    def holds(self, serial: int) -> bool:
        """Whether everything after a number is in the ring."""
        return self.mark[0] - len(self._ring) <= serial <= self.mark[0]

    def after(self, serial: int) -> Iterator[Item]:
        """What came after a number that the ring :meth:`holds`."""
        return islice(self._ring, len(self._ring) - (self.mark[0] - serial), None)

    # -- out, to those who keep up -------------------------------------------------------

    def send(self, now: float) -> list[Subscription]:
        """Write what is new to the live readers. Gives back those whose connection failed."""
        fresh, readers, failed = self._taken(now)
        for batch in self._batches.values():
            data = batch.framed(fresh)
            for sink in batch.sinks:
                try:
                    sink.write(data)
                except Exception:
                    failed.append(broken(readers, sink))
        self.trim(now)
        return failed

    def load(self, now: float, made: dict[object, bytes]) -> list[Subscription]:
        """
        Have what is new ready for :func:`aaep.hub.readers.spread`, framed anew unless another stream has ``made`` it.

        Gives back readers whose connection failed.
        """
        fresh, _, failed = self._taken(now)
        content = (*[item.data for item in fresh],)
        for frame, batch in self._batches.items():
            data = made.get((frame, content))
            batch.data = made[frame, content] = batch.framed(fresh) if data is None else data
        return failed

    def done(self, now: float) -> None:
        """What was loaded is written."""
        for batch in self._batches.values():
            batch.data = b""
        self.trim(now)

    def _taken(self, now: float) -> tuple[list[Item], Readers, list[Subscription]]:
        """What is new, who gets it, and whose connection failed. Who has no room for it is passed over."""
        fresh, size = self.fresh, self.size
        self.fresh, self.size = [], 0
        self._unseen += size
        readers = self._live
        failed: list[Subscription] = []
        if self._stale or self._unseen > self._glance or readers.doubtful:
            readers, everybody = self.readers(), self._unseen > self._glance
            self._unseen = size if everybody else self._unseen
            failed = pass_full(readers.subscriptions if everybody else readers.doubtful, self.settings.high_water, now)
            readers = self.readers()
        live = len(readers.sinks)
        self.frames += len(fresh) * live
        self.writes += live
        return fresh, readers, failed

    def readers(self) -> Readers:
        """The live readers."""
        if self._stale:
            self._stale = False
            live = [(one, one.writer.frame) for one in self.subscriptions if one.live and one.writer is not None]
            self._batches = {frame: Batch(frame) for _, frame in live}
            self._live = Readers([(one, self._batches[frame]) for one, frame in live])
            for batch, sink in zip(self._live.batches, self._live.sinks, strict=True):
                batch.sinks.append(sink)
        return self._live

    def pass_over(self, subscription: Subscription) -> None:
        """A live reader did not get what was written last: from there on it goes by itself."""
        self.trail(subscription, self._before)

    # -- out, to those who do not --------------------------------------------------------

    def trail(self, subscription: Subscription, mark: Mark) -> None:
        """Let a reader go on by itself from a place in the ring."""
        if subscription.live:
            subscription.live = False
            self._change()
        if subscription.writer is not None:
            self.trailing.add(subscription)
        subscription.queue.clear()
        subscription.position, subscription.written = mark[0], mark
        subscription.stalled, subscription.behind = None, False

    def _change(self) -> None:
        self._stale = True
        self.version += 1

    def pump(self, subscription: Subscription, now: float) -> float | None:
        """
        Write to a trailing reader what it can take now.

        Gives back when to try again, or None when it has caught up and is live.
        Raises :exc:`TooSlow`.
        """
        writer = subscription.writer
        if writer is None:
            raise ValueError("There is nobody to write to.")
        while True:
            # Once full it has to become half empty, so that what it missed is worth condensing.
            high = self.settings.high_water >> (subscription.stalled is not None)
            if writer.waiting() > high:
                self._endure(subscription, now)
                return now + POLL
            subscription.stalled = None
            # What is held back for the rate has to see a critical event come; others take more when they have room.
            if (self._spacing or not subscription.queue) and subscription.position != self.mark[0]:
                self._take(subscription)
            if not subscription.queue and now >= subscription.due:
                if self.fresh:
                    return now  # what is on its way to the live readers would reach it twice
                subscription.live, subscription.behind = True, False
                self.trailing.discard(subscription)
                self._change()
                return None
            ready = self._ready(subscription, now)
            if not ready:
                return subscription.due
            self._write(subscription, writer, ready, now)

    def _endure(self, subscription: Subscription, now: float) -> None:
        if subscription.stalled is None:
            subscription.stalled = now
        subscription.behind = True
        if now - subscription.stalled > self.settings.lag or not self.holds(subscription.position):
            raise TooSlow

    def _take(self, subscription: Subscription) -> None:
        """Queue what the ring has for it, made short where it cannot have everything in time (CF-083)."""
        if not self.holds(subscription.position):
            raise TooSlow
        missed = [*self.after(subscription.position)]
        self.queue(subscription, missed, short=subscription.behind or bool(self._spacing))
        subscription.position = self.mark[0]

    def queue(self, subscription: Subscription, items: list[Item], *, short: bool) -> None:
        """
        Line up items that follow one another in the ring.

        Where some were merged only the end of the run is a place to resume
        after: before it, something that counts as sent may be still to come.
        """
        events = condense([item.event for item in items]) if short and len(items) > 1 else [i.event for i in items]
        same = True
        known = {id(item.event): item for item in items}
        for index, event in enumerate(events):
            same = same and event is items[index].event
            last = index == len(events) - 1
            item = known.get(id(event)) or self.item(event, items[-1].at)
            subscription.queue.append((item, items[-1].mark if last else item.mark if same else None))
        if items and not events:  # all of it cancelled out
            if subscription.queue:
                subscription.queue.append((subscription.queue.pop()[0], items[-1].mark))
            else:
                subscription.written = items[-1].mark

    def item(self, event: Envelope, now: float) -> Item:
        """An event for one reader that is not in the ring."""
        return Item((0, event.event_id), event, codec.encode(event), now)

    def _ready(self, subscription: Subscription, now: float) -> int:
        """How many of its queue may go now: one for each beat of the rate, or all up to a critical event (CF-074)."""
        queue = subscription.queue
        if self._spacing:
            urgent = [index for index, (item, _) in enumerate(queue, 1) if item.critical]
            return urgent[-1] if urgent else int(bool(queue) and now >= subscription.due)
        size = 0
        for count, (item, _) in enumerate(queue, 1):
            size += len(item.data)
            if size > PORTION:
                return count
        return len(queue)

    def _write(self, subscription: Subscription, writer: FrameWriter, count: int, now: float) -> None:
        entries, subscription.queue[:count] = subscription.queue[:count], []
        for item, reached in entries:
            if reached is not None:
                subscription.written = reached
            if reached is None or reached[1] != item.event.event_id:
                subscription.aliases[item.event.event_id] = subscription.written
        for old in [*islice(subscription.aliases, max(0, len(subscription.aliases) - ALIASES))]:
            del subscription.aliases[old]
        # What went out beyond the budget is owed (CF-074).
        subscription.due = max(subscription.due, now) + count * self._spacing
        self.frames += count
        self.writes += 1
        writer.write(b"".join([writer.frame(item.event.event_id, item.data) for item, _ in entries]))

    # -- coming and going ----------------------------------------------------------------

    def join(self, subscription: Subscription) -> None:
        """Begin here: whoever subscribes has a right to all that follows."""
        subscription.stream = self
        self.subscriptions.add(subscription)
        self.trail(subscription, self.mark)
        subscription.start = self.mark

    def leave(self, subscription: Subscription) -> None:
        """The connection is gone; remember how far it came."""
        self.trail(subscription, subscription.mark)
        self.trailing.discard(subscription)

    def succeed(self, other: Stream, subscription: Subscription) -> None:
        """
        Take over a reader whose terms have changed, with what the other stream still has for it.

        The marks it has are of the other's ring; from here on only the journal knows those places.
        """
        if not subscription.live and subscription.writer is not None and other.holds(subscription.position):
            other.queue(subscription, [*other.after(subscription.position)], short=True)
        filters = get_member(subscription.terms, "event_filters")
        left = [
            (item, None if reached is None else (STORED, reached[1]))
            for item, reached in subscription.queue
            if item.critical or filters is None or admits(filters, item.event.type)  # SUB-061 §5.7.2
        ]
        start, written, aliases = subscription.start, subscription.mark, subscription.aliases
        other.leave(subscription)
        other.subscriptions.discard(subscription)
        self.join(subscription)
        subscription.queue.extend(left)
        subscription.start, subscription.written = (STORED, start[1]), (STORED, written[1])
        subscription.aliases = {event_id: (STORED, mark[1]) for event_id, mark in aliases.items()}


# -- readers --

_log: Final = logging.getLogger("aaep.hub")


class Sink(Protocol):
    """
    What takes the bytes of one writer and of nobody else: it has no more in it than was written here.

    A writer says so with its ``sink``. One without has to be looked at before each write.
    """

    def write(self, data: bytes) -> None: ...


class Batch:
    """One way of framing, who is written to in it, and what is being written; nothing, most of the time."""

    __slots__ = ("data", "frame", "sinks")

    def __init__(self, frame: Callable[[str, bytes], bytes]) -> None:
        self.frame = frame
        self.sinks: list[Sink] = []
        self.data = b""

    def framed(self, items: Sequence[Item]) -> bytes:
        if len(items) == 1:
            return self.frame(items[0].mark[1], items[0].data)
        frame = self.frame
        return b"".join([frame(item.mark[1], item.data) for item in items])


class Readers:
    """Live readers in the order in which they connected, and what is being written to each."""

    __slots__ = ("batches", "doubtful", "sinks", "subscriptions")

    def __init__(self, several: Iterable[tuple[Subscription, Batch]] = ()) -> None:
        ordered = sorted(several, key=lambda one: one[0].turn)
        self.subscriptions = [subscription for subscription, _ in ordered]
        self.batches = [batch for _, batch in ordered]
        self.sinks = [cast(Sink, getattr(one.writer, "sink", one.writer)) for one in self.subscriptions]
        self.doubtful = [one for one in self.subscriptions if not hasattr(one.writer, "sink")]

    def __iter__(self) -> Iterator[tuple[Subscription, Batch]]:
        return zip(self.subscriptions, self.batches, strict=True)


def spread(readers: Readers) -> list[Subscription]:
    """
    Write to live readers what their streams have loaded, once each. Gives back those whose connection failed.

    Readers are taken in the order in which they connected, whatever their
    terms: the kernel is a quarter faster that way.
    """
    failed = []
    for sink, batch in zip(readers.sinks, readers.batches, strict=True):
        data = batch.data
        if data:
            try:
                sink.write(data)
            except Exception:
                failed.append(broken(readers, sink))
    return failed


def pass_full(readers: Iterable[Subscription], high: int, now: float) -> list[Subscription]:
    """Pass over live readers whose buffers are full: they trail from here on. Gives back those that failed."""
    failed = []
    for one in readers:
        try:
            if one.writer is not None and one.writer.waiting() > high:
                one.stream.pass_over(one)
                one.stalled, one.behind = now, True
        except Exception:
            failed.append(_passed_over(one))
    return failed


def broken(readers: Readers, sink: Sink) -> Subscription:
    """The reader whose connection just failed."""
    return _passed_over(readers.subscriptions[readers.sinks.index(sink)])


def _passed_over(subscription: Subscription) -> Subscription:
    _log.warning("A reader's connection failed while it was written to.", exc_info=True)
    subscription.stream.pass_over(subscription)
    return subscription
