"""
One shaped stream of events per set of terms, and the readers it is written to.

A :class:`Stream` shapes and frames each event once, for all subscriptions with
equal terms. A reader that keeps up is *live*: each batch costs it one write. A
reader that has just joined, is limited in its rate, or does not take what it is
sent is *trailing*: it works through the ring at its own speed, and what it missed
is condensed, until it has caught up and is live again. Nobody waits for it.

Used on the hub's loop only. Times are arguments.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol, cast

import msgspec

from ..identity.peer import RELAY, Peer
from ..journal.base import expand_merged_id
from ..protocol import attend_extension, codec
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope
from ..protocol.extensions import Registry
from ..protocol.fields import get_member
from ..protocol.messages import Capabilities, ConfirmationReply, Reply
from ..protocol.subscription import is_admitted, is_critical
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

POLL_INTERVAL: Final = 0.05  # seconds until a full buffer is checked again
MAX_WRITE_BYTES: Final = 64 * 1024  # written to a trailing reader between two checks of its buffer
MAX_ALIASES: Final = 2000

_CONFIRMATION_TYPES: Final = (AwaitingConfirmation, ConfirmationReply)
IN_JOURNAL: Final = -1  # the serial of a position that only the journal knows

_log: Final = logging.getLogger("aaep.hub")


class ReaderTooSlow(Exception):
    """A reader has fallen too far behind (CF-073, CF-083)."""


class Position(NamedTuple):
    """A place to resume after: the serial in a stream's ring, and the id by which the journal knows the event."""

    serial: int
    event_id: str  # empty if nothing had been published yet


class ShapedEvent(msgspec.Struct, frozen=True, gc=False):
    """One event as a stream sends it."""

    position: Position
    event: Envelope
    data: bytes
    shaped_at: float

    @property
    def is_critical(self) -> bool:
        """Whether nothing may hold it back (CF-053)."""
        return is_critical(self.event)


class Subscription:
    """One subscription: its owner, its terms, and how far it has been written."""

    __slots__ = (
        "cancel_expiry",
        "cancel_resume_timer",
        "connection_number",
        "continue_after",
        "greeting_ids",
        "id",
        "is_bare",
        "is_behind",
        "is_connection",
        "is_live",
        "is_restarted",
        "next_send_at",
        "peer",
        "queue",
        "requested_capabilities",
        "resume_aliases",
        "ring_serial",
        "stalled_since",
        "start_position",
        "stream",
        "subscriber_id",
        "terms",
        "version",
        "was_connected",
        "writer",
        "written_position",
    )

    def __init__(
        self, id: str, peer: Peer, requested_capabilities: Capabilities, terms: Capabilities, version: str
    ) -> None:
        self.id = id
        self.peer = peer
        self.subscriber_id = ""
        self.requested_capabilities = requested_capabilities
        self.terms = terms
        self.version = version
        self.is_bare = False
        self.is_connection = False  # it is heard and answered over the connection it was made on only (CF-008)
        self.stream: Stream
        # The connection.
        self.writer: FrameWriter | None = None
        self.was_connected = False
        self.connection_number = 0  # the order in which readers connected
        self.cancel_resume_timer: Callable[[], None] | None = None
        self.cancel_expiry: Callable[[], None] | None = None  # of its credential
        # How far it has come. written_position is not kept up to date while the reader is live.
        self.is_live = False
        self.is_restarted = False  # it starts where an earlier one of the same reader did
        self.start_position = Position(0, "")  # a reader that names no event has seen nothing since
        self.ring_serial = 0  # up to here the ring is written or queued
        self.written_position = Position(0, "")
        self.queue: list[tuple[ShapedEvent, Position | None]] = []  # with the position reached by sending each
        self.resume_aliases: dict[str, Position] = {}  # for events sent out of order
        self.greeting_ids: Collection[str] = ()  # the events it began with, except the last
        # The event after which the journal has more that was missed, and which comes before all that the ring has.
        self.continue_after = ""
        # Pace.
        self.next_send_at = 0.0  # when its rate allows the next event, while trailing
        self.stalled_since: float | None = None
        self.is_behind = False  # it has been skipped by the live writes

    def may_answer(self, kind: type[Envelope] | type[Reply]) -> bool:
        """Whether it may answer prompts of a kind, by its terms and by its peer's role (CF-008)."""
        terms = self.terms
        granted = (
            terms.supports_confirmation_reply if kind in _CONFIRMATION_TYPES else terms.supports_clarification_reply
        )
        return granted is True and not self.is_bare and self.peer.may_reply

    @property
    def may_reply(self) -> bool:
        """Whether it may answer prompts of any kind."""
        return self.may_answer(AwaitingConfirmation) or self.may_answer(AwaitingClarification)

    def start_again(self, event_id: str) -> None:
        """Start after an event after which an earlier subscription of this reader started (CF-084)."""
        self.start_position = Position(self.stream.find_serial(event_id) if event_id else IN_JOURNAL, event_id)
        self.is_restarted = True

    def get_requested(self, name: str) -> Any:
        """Return what it was granted under our own extension, or None."""
        entry = self.terms.unknown.get(attend_extension.PREFIX)
        return entry.get(name) if isinstance(entry, dict) else None

    @property
    def position(self) -> Position:
        """The last position it was written to."""
        return self.stream.position if self.is_live else self.written_position


# -- live readers ----------------------------------------------------------------------------


class FrameSink(Protocol):
    """
    Takes the bytes of one writer, and buffers nothing that was not written here.

    A writer offers one as its ``sink``. The buffer of a writer without a sink is
    checked before each write.
    """

    def write(self, data: bytes) -> None:
        """Send one or more frames."""


class Batch:
    """The sinks that share one framing function, and the bytes being written to them, if any."""

    __slots__ = ("data", "frame", "sinks")

    def __init__(self, frame: Callable[[str, bytes], bytes]) -> None:
        self.frame = frame
        self.sinks: list[FrameSink] = []
        self.data = b""

    def build_frames(self, events: Sequence[ShapedEvent]) -> bytes:
        """Return the frames of all these events, back to back."""
        frame = self.frame
        if len(events) == 1:
            return frame(events[0].position.event_id, events[0].data)
        return b"".join([frame(event.position.event_id, event.data) for event in events])


class LiveReaders:
    """Live readers in the order in which they connected, each with its sink and its batch."""

    __slots__ = ("batches", "sinks", "subscriptions", "unbuffered")

    def __init__(self, readers: Iterable[tuple[Subscription, Batch]] = ()) -> None:
        ordered = sorted(readers, key=lambda reader: reader[0].connection_number)
        self.subscriptions = [subscription for subscription, _ in ordered]
        self.batches = [batch for _, batch in ordered]
        writers = [subscription.writer for subscription in self.subscriptions]
        self.sinks = [cast(FrameSink, getattr(writer, "sink", writer)) for writer in writers]
        # Without a sink: their buffers may hold more than was written here.
        self.unbuffered = [
            subscription for subscription in self.subscriptions if not hasattr(subscription.writer, "sink")
        ]

    def __iter__(self) -> Iterator[tuple[Subscription, Batch]]:
        return zip(self.subscriptions, self.batches, strict=True)


def write_batches(readers: LiveReaders) -> list[Subscription]:
    """
    Write to live readers what their streams have prepared, once each; return those whose connection failed.

    Readers are written to in the order in which they connected, whatever their
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


def demote_full_readers(subscriptions: Iterable[Subscription], high_water_bytes: int, now: float) -> list[Subscription]:
    """Make live readers whose buffers are full trailing ones; return those whose connection failed."""
    failed = []
    for subscription in subscriptions:
        try:
            if subscription.writer is not None and subscription.writer.count_unsent_bytes() > high_water_bytes:
                subscription.stream.demote(subscription)
                subscription.stalled_since = now
                subscription.is_behind = True
        except Exception:
            failed.append(_demote_failed(subscription))
    return failed


def demote_failed_reader(readers: LiveReaders, sink: FrameSink) -> Subscription:
    """Make the reader whose write just failed a trailing one, and return its subscription."""
    return _demote_failed(readers.subscriptions[readers.sinks.index(sink)])


def _demote_failed(subscription: Subscription) -> Subscription:
    _log.warning("A reader's connection failed while it was written to.", exc_info=True)
    subscription.stream.demote(subscription)
    return subscription


# -- the stream ------------------------------------------------------------------------------


class Stream:
    """A shaper, a ring of the events that came out of it, and the subscriptions that receive them."""

    def __init__(
        self, peer: Peer, terms: Capabilities, settings: HubSettings, registry: Registry, last_event_id: str
    ) -> None:
        """``peer`` stands for all readers: they share principal and roles. ``last_event_id`` came before the stream."""
        self.peer = peer
        self.terms = terms
        self.settings = settings
        self.registry = registry
        self.shaper = Shaper(terms, registry=registry)
        self.subscriptions: set[Subscription] = set()
        self.trailing: set[Subscription] = set()  # connected, and not live
        self.position = Position(0, last_event_id)
        self.advance_at: float | None = None  # when the hub will call advance()
        self.frame_count = 0
        self.write_count = 0
        rate = get_member(terms, "max_events_per_second")
        self._send_interval = 1 / rate if rate else 0.0
        self._hidden = hidden_members_for(peer.roles, check_hidden_members(settings.hidden_members))
        self._ring: deque[ShapedEvent] = deque(maxlen=max(0, settings.ring_size))  # CF-091
        self._serial_by_id: dict[str, int] = {}
        self._indexed = (0, 0)  # the last serial and the size of the ring when the index was built
        self.new_events: list[ShapedEvent] = []  # in the ring, and not yet written to the live readers
        self.new_bytes = 0
        self._live_position = self.position  # of the live readers, while there are new events
        self._unchecked_bytes = 0  # written to each live reader since their buffers were checked
        self._check_after_bytes = settings.high_water_bytes >> 2
        self._is_stale = True  # the next two have to be built again
        self._live_readers = LiveReaders()
        self._batches: dict[Callable[[str, bytes], bytes], Batch] = {}
        self.readers_version = 0

    # -- in ----------------------------------------------------------------------------

    def hide_members(self, event: Envelope) -> Envelope:
        """Return an event without the members that the role of these readers may not see (SEC-040)."""
        return hide_members(event, self._hidden) if self._hidden else event

    def push(self, event: Envelope, data: bytes, now: float) -> None:
        """Shape an event. What comes of it waits to be written."""
        visible = self.hide_members(event) if self._hidden else event
        self._append(self.shaper.push(visible, now), now, event, data)

    def advance(self, now: float) -> None:
        """Take over what the shaper has held for long enough."""
        self._append(self.shaper.advance(now), now)

    def flush(self, now: float) -> None:
        """Take over all the shaper holds, so that a reader can begin here without knowing what came before."""
        self._append(self.shaper.flush(now), now)

    def _append(
        self, events: Iterable[Envelope], now: float, pushed: Envelope | None = None, pushed_data: bytes = b""
    ) -> None:
        """Append shaped events to the ring. The event that was pushed, if unchanged, is encoded already."""
        new_events = self.new_events
        if not new_events:
            self._live_position = self.position
        for event in events:
            self.position = Position(self.position.serial + 1, event.event_id)
            data = pushed_data if event is pushed else codec.encode(event)
            shaped = ShapedEvent(self.position, event, data, now)
            self._ring.append(shaped)
            new_events.append(shaped)
            self.new_bytes += len(data)

    # -- the ring ----------------------------------------------------------------------

    def trim_ring(self, now: float) -> None:
        """Drop what has been in the ring for too long (CF-091)."""
        oldest = now - self.settings.ring_max_age
        while self._ring and self._ring[0].shaped_at < oldest:
            self._ring.popleft()

    def find_serial(self, event_id: str) -> int:
        """Return the serial of an event in the ring, sent alone or merged with others (C-85), or ``IN_JOURNAL``."""
        ring_state = self.position.serial, len(self._ring)
        if self._indexed != ring_state:  # readers come back many at a time, or not at all
            self._indexed = ring_state
            self._serial_by_id = {shaped.position.event_id: shaped.position.serial for shaped in self._ring}
        serials = self._serial_by_id
        return next((serials[name] for name in expand_merged_id(event_id) if name in serials), IN_JOURNAL)

    def has_all_after(self, serial: int) -> bool:
        """Whether every event after a serial is in the ring."""
        return self.position.serial - len(self._ring) <= serial <= self.position.serial

    def events_after(self, serial: int) -> Iterator[ShapedEvent]:
        """Return the events after a serial for which :meth:`has_all_after` is true."""
        return islice(self._ring, len(self._ring) - (self.position.serial - serial), None)

    # -- out, to live readers ------------------------------------------------------------

    def write_live(self, now: float) -> list[Subscription]:
        """Write the new events to the live readers; return those whose connection failed."""
        events, readers, failed = self._take_new_events(now)
        for batch in self._batches.values():
            data = batch.build_frames(events)
            for sink in batch.sinks:
                try:
                    sink.write(data)
                except Exception:
                    failed.append(demote_failed_reader(readers, sink))
        self.trim_ring(now)
        return failed

    def prepare_batches(self, now: float, frames: dict[object, bytes]) -> list[Subscription]:
        """
        Frame the new events for :func:`write_batches`; return readers whose connection failed.

        ``frames`` is shared by streams that are written together: equal events are framed once.
        """
        events, _, failed = self._take_new_events(now)
        contents = (*[event.data for event in events],)
        for frame, batch in self._batches.items():
            key = frame, contents
            if key not in frames:
                frames[key] = batch.build_frames(events)
            batch.data = frames[key]
        return failed

    def clear_batches(self, now: float) -> None:
        """Note that the prepared batches are written."""
        for batch in self._batches.values():
            batch.data = b""
        self.trim_ring(now)

    def _take_new_events(self, now: float) -> tuple[list[ShapedEvent], LiveReaders, list[Subscription]]:
        """Return the new events, the readers with room for them, and those whose connection failed."""
        events, size = self.new_events, self.new_bytes
        self.new_events = []
        self.new_bytes = 0
        self._unchecked_bytes += size
        readers = self._live_readers
        failed: list[Subscription] = []
        if self._is_stale or self._unchecked_bytes > self._check_after_bytes or readers.unbuffered:
            readers = self.live_readers()
            to_check = readers.unbuffered
            if self._unchecked_bytes > self._check_after_bytes:
                to_check = readers.subscriptions
                self._unchecked_bytes = size
            failed = demote_full_readers(to_check, self.settings.high_water_bytes, now)
            readers = self.live_readers()
        self.frame_count += len(events) * len(readers.sinks)
        self.write_count += len(readers.sinks)
        return events, readers, failed

    def live_readers(self) -> LiveReaders:
        """Return the live readers, each with the batch of its framing."""
        if self._is_stale:
            self._is_stale = False
            live = [
                (subscription, subscription.writer.frame)
                for subscription in self.subscriptions
                if subscription.is_live and subscription.writer is not None
            ]
            self._batches = {frame: Batch(frame) for _, frame in live}
            self._live_readers = LiveReaders((subscription, self._batches[frame]) for subscription, frame in live)
            for batch, sink in zip(self._live_readers.batches, self._live_readers.sinks, strict=True):
                batch.sinks.append(sink)
        return self._live_readers

    def demote(self, subscription: Subscription) -> None:
        """Make a live reader that did not get the last batch a trailing one, from before that batch."""
        self.start_trailing(subscription, self._live_position)

    # -- out, to trailing readers --------------------------------------------------------

    def start_trailing(self, subscription: Subscription, position: Position) -> None:
        """Let a reader go on at its own speed from a position in the ring."""
        if subscription.is_live:
            subscription.is_live = False
            self._invalidate_readers()
        if subscription.writer is not None:
            self.trailing.add(subscription)
        subscription.queue.clear()
        subscription.continue_after = ""
        subscription.ring_serial = position.serial
        subscription.written_position = position
        subscription.stalled_since = None
        subscription.is_behind = False

    def _invalidate_readers(self) -> None:
        self._is_stale = True
        self.readers_version += 1

    def write_trailing(self, subscription: Subscription, now: float) -> float | None:
        """
        Write to a trailing reader what it can take now.

        Return when to try again, or None when it has caught up and is live, or when
        there is more for it in the journal. Raises :exc:`ReaderTooSlow`.
        """
        writer = subscription.writer
        if writer is None:
            raise ValueError("There is nobody to write to.")
        while True:
            # A buffer that was full has to become half empty, so that what was missed is worth condensing.
            high_water_bytes = self.settings.high_water_bytes >> (subscription.stalled_since is not None)
            if writer.count_unsent_bytes() > high_water_bytes:
                self._note_stall(subscription, now)
                return now + POLL_INTERVAL
            subscription.stalled_since = None
            if subscription.continue_after and not subscription.queue:
                return None
            # A queue held back by the rate has to see a critical event come; others are refilled when empty.
            may_refill = self._send_interval or not subscription.queue
            is_in_ring = not subscription.continue_after
            if may_refill and is_in_ring and subscription.ring_serial != self.position.serial:
                self._queue_missed(subscription)
            if not subscription.queue and now >= subscription.next_send_at:
                if self.new_events:
                    return now  # the batch for the live readers would reach it twice
                self._promote(subscription)
                return None
            count = self._count_sendable(subscription, now)
            if not count:
                return subscription.next_send_at
            self._write_queued(subscription, writer, count, now)

    def _promote(self, subscription: Subscription) -> None:
        subscription.is_live = True
        subscription.is_behind = False
        self.trailing.discard(subscription)
        self._invalidate_readers()

    def _note_stall(self, subscription: Subscription, now: float) -> None:
        if subscription.stalled_since is None:
            subscription.stalled_since = now
        subscription.is_behind = True
        has_lost_place = not (subscription.continue_after or self.has_all_after(subscription.ring_serial))
        if now - subscription.stalled_since > self.settings.max_lag or has_lost_place:
            raise ReaderTooSlow

    def _queue_missed(self, subscription: Subscription) -> None:
        """Queue what the ring has for a reader, condensed if it cannot have everything in time (CF-083)."""
        if not self.has_all_after(subscription.ring_serial):
            raise ReaderTooSlow
        missed = [*self.events_after(subscription.ring_serial)]
        self.enqueue(subscription, missed, condensed=self._may_condense_for(subscription))
        subscription.ring_serial = self.position.serial

    def _may_condense_for(self, subscription: Subscription) -> bool:
        """Whether a reader gets what it missed made short: at a rate, or if it fell behind, but never a hub."""
        # A hub's readers may have been there all the time, and its agent waits for it where a person would not.
        is_slow_reader = subscription.is_behind and RELAY not in subscription.peer.roles
        return is_slow_reader or bool(self._send_interval)

    def enqueue(self, subscription: Subscription, events: list[ShapedEvent], *, condensed: bool) -> None:
        """
        Queue events that follow one another in the ring.

        Where some were merged, only the end of the run is a position to resume
        after: before it, something that counts as sent may be still to come.
        """
        to_send = [shaped.event for shaped in events]
        if condensed and len(events) > 1:
            to_send = condense(to_send)
        shaped_by_event = {id(shaped.event): shaped for shaped in events}
        is_unmerged = True
        for index, event in enumerate(to_send):
            is_unmerged = is_unmerged and event is events[index].event
            shaped = shaped_by_event.get(id(event)) or self.build_shaped_event(event, events[-1].shaped_at)
            reached = shaped.position if is_unmerged else None
            if index == len(to_send) - 1:
                reached = events[-1].position
            subscription.queue.append((shaped, reached))
        if events and not to_send:  # all of it cancelled out
            if subscription.queue:
                subscription.queue.append((subscription.queue.pop()[0], events[-1].position))
            else:
                subscription.written_position = events[-1].position

    def build_shaped_event(self, event: Envelope, now: float) -> ShapedEvent:
        """Return an event for one reader that is not in the ring."""
        return ShapedEvent(Position(0, event.event_id), event, codec.encode(event), now)

    def _count_sendable(self, subscription: Subscription, now: float) -> int:
        """Return how many queued events may go now: one per interval of the rate, or all up to a critical one."""
        queue = subscription.queue
        if self._send_interval:
            critical = [count for count, (shaped, _) in enumerate(queue, 1) if shaped.is_critical]  # CF-074
            return critical[-1] if critical else int(bool(queue) and now >= subscription.next_send_at)
        size = 0
        for count, (shaped, _) in enumerate(queue, 1):
            size += len(shaped.data)
            if size > MAX_WRITE_BYTES:
                return count
        return len(queue)

    def _write_queued(self, subscription: Subscription, writer: FrameWriter, count: int, now: float) -> None:
        entries = subscription.queue[:count]
        del subscription.queue[:count]
        aliases = subscription.resume_aliases
        for shaped, reached in entries:
            if reached is not None:
                subscription.written_position = reached
            if reached is None or reached.event_id != shaped.event.event_id:
                aliases[shaped.event.event_id] = subscription.written_position
        for event_id in [*islice(aliases, max(0, len(aliases) - MAX_ALIASES))]:
            del aliases[event_id]
        # What went out beyond the budget is owed (CF-074).
        subscription.next_send_at = max(subscription.next_send_at, now) + count * self._send_interval
        self.frame_count += count
        self.write_count += 1
        writer.write(b"".join([writer.frame(shaped.event.event_id, shaped.data) for shaped, _ in entries]))

    # -- subscriptions -------------------------------------------------------------------

    def add_subscription(self, subscription: Subscription) -> None:
        """Begin a subscription here: it has a right to all that follows."""
        for other in islice(self.subscriptions, 1):  # readers are many, and most ask for the same
            if _are_equal(other.terms, subscription.terms):
                subscription.terms = other.terms
            if _are_equal(other.requested_capabilities, subscription.requested_capabilities):
                subscription.requested_capabilities = other.requested_capabilities
        subscription.stream = self
        self.subscriptions.add(subscription)
        self.start_trailing(subscription, self.position)
        subscription.start_position = self.position

    def disconnect(self, subscription: Subscription) -> None:
        """Note that a reader's connection is gone, and remember how far it came."""
        self.start_trailing(subscription, subscription.position)
        self.trailing.discard(subscription)

    def take_over(self, other: Stream, subscription: Subscription) -> None:
        """
        Take over a subscription whose terms have changed, with what the other stream still has for it.

        Its positions are of the other's ring; from here on only the journal knows those places.
        """
        continue_after = subscription.continue_after
        has_missed = not (subscription.is_live or continue_after) and subscription.writer is not None
        if has_missed and other.has_all_after(subscription.ring_serial):
            is_condensed = other._may_condense_for(subscription) or self._may_condense_for(subscription)
            other.enqueue(subscription, [*other.events_after(subscription.ring_serial)], condensed=is_condensed)
        filters = get_member(subscription.terms, "event_filters")
        remaining = [
            (shaped, None if reached is None else _in_journal(reached))
            for shaped, reached in subscription.queue
            if shaped.is_critical or filters is None or is_admitted(filters, shaped.event.type)  # SUB-061 §5.7.2
        ]
        start_position = subscription.start_position
        written_position = subscription.position
        aliases = subscription.resume_aliases
        other.disconnect(subscription)
        other.subscriptions.discard(subscription)
        self.add_subscription(subscription)
        subscription.queue.extend(remaining)
        subscription.continue_after = continue_after
        subscription.start_position = _in_journal(start_position)
        subscription.written_position = _in_journal(written_position)
        subscription.resume_aliases = {event_id: _in_journal(position) for event_id, position in aliases.items()}


def _are_equal(first: Capabilities, second: Capabilities) -> bool:
    """Whether capabilities are the same, those of extensions included, which comparing leaves out."""
    return first == second and first.unknown == second.unknown


def _in_journal(position: Position) -> Position:
    return Position(IN_JOURNAL, position.event_id)
