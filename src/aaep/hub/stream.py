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
from .settings import HubSettings
from .visibility import check_hidden_members, hidden_members_for, hide_members

__all__ = [
    "IN_JOURNAL",
    "Batch",
    "FrameSink",
    "LiveReaders",
    "Position",
    "ReaderTooSlow",
    "ShapedEvent",
    "Stream",
    "Subscription",
    "demote_failed_reader",
    "demote_full_readers",
    "write_batches",
]

POLL_INTERVAL: Final = 0.05  # seconds until a full buffer is looked at again
MAX_WRITE_BYTES: Final = 64 * 1024  # bytes written to a trailing reader between two looks at its buffer
MAX_ALIASES: Final = 2000

# A place to resume after: the number in the ring, and the event id by which the journal knows it.
# The id is empty where nothing had been published yet.
Position: TypeAlias = tuple[int, str]
_CONFIRMATION_TYPES: Final = (AwaitingConfirmation, ConfirmationReply)
IN_JOURNAL: Final = -1  # instead of a number: a place that only the journal knows


class ReaderTooSlow(Exception):
    """A reader has fallen too far behind (CF-073, CF-083)."""


class ShapedEvent(msgspec.Struct, frozen=True, gc=False):
    """One shaped event, as it is or was sent."""

    position: Position
    event: Envelope
    data: bytes
    shaped_at: float

    @property
    def is_critical(self) -> bool:
        return is_critical(self.event)


class Subscription:
    """One subscription: whose it is, its terms, and how far it has come."""

    def __init__(self, id: str, peer: Peer, asked: Capabilities, terms: Capabilities, version: str) -> None:
        self.id = id
        self.peer = peer
        self.subscriber_id = ""
        self.requested_capabilities = asked
        self.terms = terms
        self.version = version
        self.is_bare = False
        self.writer: FrameWriter | None = None
        self.was_connected = False  # ever
        self.stream: Stream
        self.is_live = False
        self.connection_number = 0  # when it connected, counted
        self.queue: list[tuple[ShapedEvent, Position | None]] = []  # with what is reached by sending it
        self.start_position: Position = (0, "")  # where it began; who names no event has seen none
        self.ring_serial = 0  # up to here of the ring is written or in the queue
        self.written_position: Position = (0, "")  # up to here it is written; not kept up to date while live
        self.resume_aliases: dict[
            str, Position
        ] = {}  # ids that were sent out of their order, and where to resume for them
        self.greeting_ids: frozenset[str] = frozenset()  # what it began with, without the last of it
        self.next_send_at = 0.0  # when the rate lets the next one through, while trailing
        self.stalled_since: float | None = None  # since when its buffer has been full
        self.is_behind = False  # it has been passed over
        self.cancel_resume_timer: Callable[[], None] | None = None  # takes back the end of its resume window
        self.cancel_expiry: Callable[[], None] | None = None  # takes back the next look at its credential

    def may_answer(self, kind: type[Envelope] | type[Reply]) -> bool:
        """Whether it may answer prompts of a kind (CF-008): by its terms, and by who it is."""
        terms = self.terms
        granted = (
            terms.supports_confirmation_reply if kind in _CONFIRMATION_TYPES else terms.supports_clarification_reply
        )
        return granted is True and not self.is_bare and self.peer.may_reply

    @property
    def may_reply(self) -> bool:
        """Whether it may answer prompts of any kind."""
        return self.may_answer(AwaitingConfirmation) or self.may_answer(AwaitingClarification)

    def get_requested(self, name: str) -> Any:
        """What it asked for, and was granted, under our own extension; None if nothing."""
        entry = self.terms.unknown.get(attend_extension.PREFIX)
        return entry.get(name) if isinstance(entry, dict) else None

    @property
    def position(self) -> Position:
        """Up to where it was written to."""
        return self.stream.position if self.is_live else self.written_position


class Stream:
    """A shaper, a ring of what came out of it, and the readers of that."""

    def __init__(self, peer: Peer, terms: Capabilities, settings: HubSettings, known: Registry, last: str) -> None:
        """``last`` is the id of the last event before this stream began."""
        self.peer = peer  # in its principal and its roles one for all
        self.terms = terms
        self.settings = settings
        self.registry = known
        self.shaper = Shaper(terms, registry=known)
        self.subscriptions: set[Subscription] = set()
        self.trailing: set[Subscription] = set()  # readers that have to be pumped
        self.position: Position = (0, last)
        self.advance_at: float | None = None  # when the hub will call advance()
        self.frame_count = self.write_count = 0  # how many were written, in how many pieces
        rate = get_member(terms, "max_events_per_second")
        self._send_interval = 1 / rate if rate else 0.0
        self._hidden = hidden_members_for(peer.roles, check_hidden_members(settings.hidden_members))
        self._ring: deque[ShapedEvent] = deque(maxlen=max(0, settings.ring_size))  # CF-091: so many events ...
        self._max_age = settings.ring_max_age  # ... for so long
        self._serial_by_id: dict[str, int] = {}  # by event id ...
        self._indexed = (0, 0)  # ... when the ring ended here and held so many
        self.new_events: list[ShapedEvent] = []  # in the ring, and not yet written to the live readers
        self.new_bytes = 0  # bytes of it
        self._live_position = self.position  # where the live readers are
        self._unchecked_bytes = 0  # bytes written since their buffers were looked at ...
        self._check_after_bytes = settings.high_water_bytes >> 2  # ... which may be a good deal fuller beyond this
        self._is_stale = True  # the next two have to be made anew
        self._live_readers = LiveReaders()
        self._batches: dict[Callable[[str, bytes], bytes], Batch] = {}
        self.readers_version = 0  # how often they were

    # -- in ----------------------------------------------------------------------------

    def hide_members(self, event: Envelope) -> Envelope:
        """An event as far as these readers' role lets them see it (SEC-040)."""
        return hide_members(event, self._hidden) if self._hidden else event

    def push(self, event: Envelope, data: bytes, now: float) -> None:
        """Shape an event. What comes of it waits to be written."""
        fitting = self.hide_members(event) if self._hidden else event
        self._append(self.shaper.push(fitting, now), now, event, data)

    def advance(self, now: float) -> None:
        """What the shaper has held for long enough."""
        self._append(self.shaper.advance(now), now)

    def flush(self, now: float) -> None:
        """Everything the shaper holds: from here on a reader can begin without knowing what was before."""
        self._append(self.shaper.flush(now), now)

    def _append(self, events: Iterable[Envelope], now: float, given: Envelope | None = None, data: bytes = b"") -> None:
        """``given`` is what was pushed, whose bytes are known."""
        fresh, mark = self.new_events, self.position
        if not fresh:
            self._live_position = mark
        for event in events:
            self.position = mark = mark[0] + 1, event.event_id
            item = ShapedEvent(mark, event, data if event is given else codec.encode(event), now)
            self._ring.append(item)
            fresh.append(item)
            self.new_bytes += len(item.data)

    # -- the ring ----------------------------------------------------------------------

    def trim_ring(self, now: float) -> None:
        """CF-091: what has been in the ring for too long."""
        ring, oldest = self._ring, now - self._max_age
        while ring and ring[0].shaped_at < oldest:
            ring.popleft()

    def find_serial(self, event_id: str) -> int:
        """The number of an event that was sent, itself or merged with others (C-85), if the ring has it."""
        held = self.position[0], len(self._ring)
        if self._indexed != held:  # many come back at a time, or nobody does
            self._indexed = held
            self._serial_by_id = {name: serial for serial, name in [item.position for item in self._ring]}
        return next(
            (self._serial_by_id[name] for name in expand_merged_id(event_id) if name in self._serial_by_id), IN_JOURNAL
        )

    def has_all_after(self, serial: int) -> bool:
        """Whether everything after a number is in the ring."""
        return self.position[0] - len(self._ring) <= serial <= self.position[0]

    def events_after(self, serial: int) -> Iterator[ShapedEvent]:
        """What came after a number that the ring :meth:`holds`."""
        return islice(self._ring, len(self._ring) - (self.position[0] - serial), None)

    # -- out, to those who keep up -------------------------------------------------------

    def write_live(self, now: float) -> list[Subscription]:
        """Write what is new to the live readers. Gives back those whose connection failed."""
        fresh, readers, failed = self._take_new_events(now)
        for batch in self._batches.values():
            data = batch.build_frames(fresh)
            for sink in batch.sinks:
                try:
                    sink.write(data)
                except Exception:
                    failed.append(demote_failed_reader(readers, sink))
        self.trim_ring(now)
        return failed

    def prepare_batches(self, now: float, made: dict[object, bytes]) -> list[Subscription]:
        """
        Have what is new ready for :func:`aaep.hub.readers.spread`, framed anew unless another stream has ``made`` it.

        Gives back readers whose connection failed.
        """
        fresh, _, failed = self._take_new_events(now)
        content = (*[item.data for item in fresh],)
        for frame, batch in self._batches.items():
            data = made.get((frame, content))
            batch.data = made[frame, content] = batch.build_frames(fresh) if data is None else data
        return failed

    def clear_batches(self, now: float) -> None:
        """What was loaded is written."""
        for batch in self._batches.values():
            batch.data = b""
        self.trim_ring(now)

    def _take_new_events(self, now: float) -> tuple[list[ShapedEvent], LiveReaders, list[Subscription]]:
        """What is new, who gets it, and whose connection failed. Who has no room for it is passed over."""
        fresh, size = self.new_events, self.new_bytes
        self.new_events, self.new_bytes = [], 0
        self._unchecked_bytes += size
        readers = self._live_readers
        failed: list[Subscription] = []
        if self._is_stale or self._unchecked_bytes > self._check_after_bytes or readers.unbuffered:
            readers, everybody = self.live_readers(), self._unchecked_bytes > self._check_after_bytes
            self._unchecked_bytes = size if everybody else self._unchecked_bytes
            failed = demote_full_readers(
                readers.subscriptions if everybody else readers.unbuffered, self.settings.high_water_bytes, now
            )
            readers = self.live_readers()
        live = len(readers.sinks)
        self.frame_count += len(fresh) * live
        self.write_count += live
        return fresh, readers, failed

    def live_readers(self) -> LiveReaders:
        """The live readers."""
        if self._is_stale:
            self._is_stale = False
            live = [(one, one.writer.frame) for one in self.subscriptions if one.is_live and one.writer is not None]
            self._batches = {frame: Batch(frame) for _, frame in live}
            self._live_readers = LiveReaders([(one, self._batches[frame]) for one, frame in live])
            for batch, sink in zip(self._live_readers.batches, self._live_readers.sinks, strict=True):
                batch.sinks.append(sink)
        return self._live_readers

    def demote(self, subscription: Subscription) -> None:
        """A live reader did not get what was written last: from there on it goes by itself."""
        self.start_trailing(subscription, self._live_position)

    # -- out, to those who do not --------------------------------------------------------

    def start_trailing(self, subscription: Subscription, mark: Position) -> None:
        """Let a reader go on by itself from a place in the ring."""
        if subscription.is_live:
            subscription.is_live = False
            self._invalidate_readers()
        if subscription.writer is not None:
            self.trailing.add(subscription)
        subscription.queue.clear()
        subscription.ring_serial, subscription.written_position = mark[0], mark
        subscription.stalled_since, subscription.is_behind = None, False

    def _invalidate_readers(self) -> None:
        self._is_stale = True
        self.readers_version += 1

    def write_trailing(self, subscription: Subscription, now: float) -> float | None:
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
            high = self.settings.high_water_bytes >> (subscription.stalled_since is not None)
            if writer.waiting() > high:
                self._note_stall(subscription, now)
                return now + POLL_INTERVAL
            subscription.stalled_since = None
            # What is held back for the rate has to see a critical event come; others take more when they have room.
            if (self._send_interval or not subscription.queue) and subscription.ring_serial != self.position[0]:
                self._queue_missed(subscription)
            if not subscription.queue and now >= subscription.next_send_at:
                if self.new_events:
                    return now  # what is on its way to the live readers would reach it twice
                subscription.is_live, subscription.is_behind = True, False
                self.trailing.discard(subscription)
                self._invalidate_readers()
                return None
            ready = self._count_sendable(subscription, now)
            if not ready:
                return subscription.next_send_at
            self._write_queued(subscription, writer, ready, now)

    def _note_stall(self, subscription: Subscription, now: float) -> None:
        if subscription.stalled_since is None:
            subscription.stalled_since = now
        subscription.is_behind = True
        if now - subscription.stalled_since > self.settings.max_lag or not self.has_all_after(subscription.ring_serial):
            raise ReaderTooSlow

    def _queue_missed(self, subscription: Subscription) -> None:
        """Queue what the ring has for it, made short where it cannot have everything in time (CF-083)."""
        if not self.has_all_after(subscription.ring_serial):
            raise ReaderTooSlow
        missed = [*self.events_after(subscription.ring_serial)]
        self.enqueue(subscription, missed, short=subscription.is_behind or bool(self._send_interval))
        subscription.ring_serial = self.position[0]

    def enqueue(self, subscription: Subscription, items: list[ShapedEvent], *, short: bool) -> None:
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
            item = known.get(id(event)) or self.build_shaped_event(event, items[-1].shaped_at)
            subscription.queue.append((item, items[-1].position if last else item.position if same else None))
        if items and not events:  # all of it cancelled out
            if subscription.queue:
                subscription.queue.append((subscription.queue.pop()[0], items[-1].position))
            else:
                subscription.written_position = items[-1].position

    def build_shaped_event(self, event: Envelope, now: float) -> ShapedEvent:
        """An event for one reader that is not in the ring."""
        return ShapedEvent((0, event.event_id), event, codec.encode(event), now)

    def _count_sendable(self, subscription: Subscription, now: float) -> int:
        """How many of its queue may go now: one for each beat of the rate, or all up to a critical event (CF-074)."""
        queue = subscription.queue
        if self._send_interval:
            urgent = [index for index, (item, _) in enumerate(queue, 1) if item.is_critical]
            return urgent[-1] if urgent else int(bool(queue) and now >= subscription.next_send_at)
        size = 0
        for count, (item, _) in enumerate(queue, 1):
            size += len(item.data)
            if size > MAX_WRITE_BYTES:
                return count
        return len(queue)

    def _write_queued(self, subscription: Subscription, writer: FrameWriter, count: int, now: float) -> None:
        entries, subscription.queue[:count] = subscription.queue[:count], []
        for item, reached in entries:
            if reached is not None:
                subscription.written_position = reached
            if reached is None or reached[1] != item.event.event_id:
                subscription.resume_aliases[item.event.event_id] = subscription.written_position
        for old in [*islice(subscription.resume_aliases, max(0, len(subscription.resume_aliases) - MAX_ALIASES))]:
            del subscription.resume_aliases[old]
        # What went out beyond the budget is owed (CF-074).
        subscription.next_send_at = max(subscription.next_send_at, now) + count * self._send_interval
        self.frame_count += count
        self.write_count += 1
        writer.write(b"".join([writer.frame(item.event.event_id, item.data) for item, _ in entries]))

    # -- coming and going ----------------------------------------------------------------

    def add_subscription(self, subscription: Subscription) -> None:
        """Begin here: whoever subscribes has a right to all that follows."""
        subscription.stream = self
        self.subscriptions.add(subscription)
        self.start_trailing(subscription, self.position)
        subscription.start_position = self.position

    def disconnect(self, subscription: Subscription) -> None:
        """The connection is gone; remember how far it came."""
        self.start_trailing(subscription, subscription.position)
        self.trailing.discard(subscription)

    def take_over(self, other: Stream, subscription: Subscription) -> None:
        """
        Take over a reader whose terms have changed, with what the other stream still has for it.

        The marks it has are of the other's ring; from here on only the journal knows those places.
        """
        if (
            not subscription.is_live
            and subscription.writer is not None
            and other.has_all_after(subscription.ring_serial)
        ):
            other.enqueue(subscription, [*other.events_after(subscription.ring_serial)], short=True)
        filters = get_member(subscription.terms, "event_filters")
        left = [
            (item, None if reached is None else (IN_JOURNAL, reached[1]))
            for item, reached in subscription.queue
            if item.is_critical or filters is None or admits(filters, item.event.type)  # SUB-061 §5.7.2
        ]
        start, written, aliases = subscription.start_position, subscription.position, subscription.resume_aliases
        other.disconnect(subscription)
        other.subscriptions.discard(subscription)
        self.add_subscription(subscription)
        subscription.queue.extend(left)
        subscription.start_position, subscription.written_position = (IN_JOURNAL, start[1]), (IN_JOURNAL, written[1])
        subscription.resume_aliases = {event_id: (IN_JOURNAL, mark[1]) for event_id, mark in aliases.items()}


# -- readers --

_log: Final = logging.getLogger("aaep.hub")


class FrameSink(Protocol):
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
        self.sinks: list[FrameSink] = []
        self.data = b""

    def build_frames(self, items: Sequence[ShapedEvent]) -> bytes:
        if len(items) == 1:
            return self.frame(items[0].position[1], items[0].data)
        frame = self.frame
        return b"".join([frame(item.position[1], item.data) for item in items])


class LiveReaders:
    """Live readers in the order in which they connected, and what is being written to each."""

    __slots__ = ("batches", "sinks", "subscriptions", "unbuffered")

    def __init__(self, several: Iterable[tuple[Subscription, Batch]] = ()) -> None:
        ordered = sorted(several, key=lambda one: one[0].connection_number)
        self.subscriptions = [subscription for subscription, _ in ordered]
        self.batches = [batch for _, batch in ordered]
        self.sinks = [cast(FrameSink, getattr(one.writer, "sink", one.writer)) for one in self.subscriptions]
        self.unbuffered = [one for one in self.subscriptions if not hasattr(one.writer, "sink")]

    def __iter__(self) -> Iterator[tuple[Subscription, Batch]]:
        return zip(self.subscriptions, self.batches, strict=True)


def write_batches(readers: LiveReaders) -> list[Subscription]:
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
                failed.append(demote_failed_reader(readers, sink))
    return failed


def demote_full_readers(readers: Iterable[Subscription], high: int, now: float) -> list[Subscription]:
    """Pass over live readers whose buffers are full: they trail from here on. Gives back those that failed."""
    failed = []
    for one in readers:
        try:
            if one.writer is not None and one.writer.waiting() > high:
                one.stream.demote(one)
                one.stalled_since, one.is_behind = now, True
        except Exception:
            failed.append(_demote_failed(one))
    return failed


def demote_failed_reader(readers: LiveReaders, sink: FrameSink) -> Subscription:
    """The reader whose connection just failed."""
    return _demote_failed(readers.subscriptions[readers.sinks.index(sink)])


def _demote_failed(subscription: Subscription) -> Subscription:
    _log.warning("A reader's connection failed while it was written to.", exc_info=True)
    subscription.stream.demote(subscription)
    return subscription
