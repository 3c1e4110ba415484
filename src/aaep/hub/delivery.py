"""From the sessions to the streams: what was published is routed, written, and looked after until it is taken."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from ..journal.base import Journal
from ..protocol import attend_extension
from ..protocol.events import Envelope
from ..protocol.extensions import Registry
from ..protocol.fields import get_member
from ..text.sentences import CoalesceHint
from .sessions import SessionSource
from .settings import HubSettings
from .stream import LiveReaders, ReaderTooSlow, Stream, Subscription, write_batches

__all__ = ["Delivery"]

MAX_EVENTS_PER_TURN: Final = 500  # events routed before the loop does something else

_log: Final = logging.getLogger("aaep.hub")


class Delivery:
    """Every stream there is. All but :meth:`publish` is for the loop only."""

    def __init__(
        self,
        settings: HubSettings,
        registry: Registry,
        clock: Callable[[], float],
        *,
        call_soon: Callable[[Callable[[], None]], None],
        call_at: Callable[[float, Callable[[], None]], object],
        on_lost: Callable[[Subscription], None],
        on_slow: Callable[[Subscription], None],
        journal: Journal,
    ) -> None:
        """
        ``call`` and ``at`` have the loop do something; ``lost`` and ``slow`` are told of readers to let go of.

        Nobody sees an event before what the journal has of it would outlive this process: who resumes after one
        that the next process does not know would never hear how its session ended. The loop does not wait for
        the disk; when the journal has it, it is called.
        """
        self.settings, self.registry = settings, registry
        self._max_batch_bytes = settings.high_water_bytes
        self.event_count = 0
        self._clock, self._call_soon, self._call_at, self._on_lost, self._on_slow = (
            clock,
            call_soon,
            call_at,
            on_lost,
            on_slow,
        )
        self._journal = journal
        self._commit_ticket: object = None  # the journal has yet to keep what was published
        self._published: deque[tuple[SessionSource, Envelope, bytes]] = deque()
        self._scheduled = False
        self._last_event_id = ""  # the id of the last event that was routed
        self._streams: dict[bytes, Stream] = {}
        self.streams: tuple[Stream, ...] = ()
        self._live_readers = LiveReaders()
        self._readers_version: tuple[tuple[Stream, ...], int] = ((), 0)
        self._closed_frame_count = self._closed_write_count = 0  # of streams that are no more
        self._next_pump_at: float | None = None  # when the trailing readers are looked at

    @property
    def frame_count(self) -> int:
        """How many frames were written."""
        return self._closed_frame_count + sum(stream.frame_count for stream in self.streams)

    @property
    def write_count(self) -> int:
        """In how many pieces: what is ready goes out together."""
        return self._closed_write_count + sum(stream.write_count for stream in self.streams)

    @property
    def finest_boundary(self) -> CoalesceHint:
        """The finest boundary of all streams, a sentence if they have none finer. From any thread."""
        wanted = {one for stream in self.streams for one in get_member(stream.terms, "coalesce_boundaries") or ()}
        return "none" if "none" in wanted else "word" if "word" in wanted else "sentence"

    @property
    def is_under_pressure(self) -> bool:
        """Whether somebody who could publish more without end should let the readers catch up first."""
        now = self._clock()
        return len(self._published) > MAX_EVENTS_PER_TURN or any(
            one.trailing or one.shaper.lag(now) for one in self.streams
        )

    @property
    def is_idle(self) -> bool:
        """Whether all that was published is written to everybody who is connected."""
        held = any(one.trailing or one.new_events or one.shaper.next_deadline is not None for one in self.streams)
        return not held and not self._published

    def publish(self, source: SessionSource, event: Envelope, data: bytes) -> None:
        """Have an event routed soon. From any thread."""
        self.event_count += 1
        if not self.streams:
            self._last_event_id = event.event_id
            return  # whoever subscribes later is caught up by the source and from the journal
        self._published.append((source, event, data))
        if not self._scheduled:
            self._scheduled = True
            try:
                self._call_soon(self.drain)
            except BaseException:  # interrupted; nobody else would have the loop called
                self._scheduled = False
                raise

    def drain(self) -> None:
        """Route what was published, then write once to each reader."""
        count, ticket = min(len(self._published), MAX_EVENTS_PER_TURN), object()
        if count and self._journal.call_when_committed(
            partial(self._call_soon, partial(self._committed, ticket, count))
        ):
            self._commit_ticket = ticket  # and nobody has to have the loop called meanwhile
        else:
            self._route_committed(count)

    def call_and_drain(self, call: Callable[..., None], *args: object) -> None:
        """Call out of the hub, and have what is published there routed at once instead of soon."""
        waiting, self._scheduled = self._scheduled, True  # so that nobody has the loop called
        try:
            call(*args)
        except Exception:
            _log.exception("A call out of the hub failed.")
        finally:
            if not waiting:
                self.drain()

    def _committed(self, ticket: object, count: int) -> None:
        if self._commit_ticket is ticket:
            self._commit_ticket = None
            self._route_committed(count)

    def _route_committed(self, count: int) -> None:
        """So many of what was published may be seen."""
        self._scheduled = False  # first: whoever publishes from here on has the loop called again
        now, published = self._clock(), self._published
        while count and published:  # if not, the last reader has gone meanwhile, and with it what was left for it
            count -= 1
            self.route(*published.popleft(), now)
        self.deliver(self.streams, now)
        if published and not self._scheduled:
            self._scheduled = True
            self._call_soon(self.drain)

    def route_all(self) -> None:
        """Route all that was published so far, at once."""
        count, self._commit_ticket = len(self._published), None
        if count:
            self._journal.flush()
        self._route_committed(count)

    def route_up_to(self, last: Mapping[str, str]) -> None:
        """Route, of each session named, what was published up to that event, and keep the rest for later."""
        published = [self._published.popleft() for _ in range(len(self._published))]
        self._commit_ticket = None
        self._journal.flush()  # also for the prompts that are about to be sent again
        cuts = {
            source.session_id: index
            for index, (source, event, _) in enumerate(published)
            if last.get(source.session_id) == event.event_id
        }
        now, rest = self._clock(), []
        for index, one in enumerate(published):
            if index <= cuts.get(one[0].session_id, -1):
                self.route(*one, now)
            else:
                rest.append(one)
        self._published.extendleft(reversed(rest))
        self._scheduled = bool(rest)
        if rest:
            self._call_soon(self.drain)

    def route(self, source: SessionSource, event: Envelope, data: bytes, now: float) -> None:
        """Give an event to the streams of those who may hear it (CF-145)."""
        self._last_event_id = event.event_id
        audience = source.audience
        for stream in self.streams:
            if audience is None or stream.peer.may_hear(audience):
                stream.push(event, data, now)
                if stream.new_bytes > self._max_batch_bytes:  # more would make a batch too large for one write
                    self.deliver((stream,), now)

    def deliver(self, streams: Sequence[Stream], now: float) -> None:
        """Write what is new in streams, and see to it that what they hold comes out in time."""
        ready = [stream for stream in streams if stream.new_events]
        if ready:
            for one in ready[0].write_live(now) if len(ready) == 1 else self._write_together(ready, now):
                self._on_lost(one)
        for stream in streams:
            if stream.trailing:
                for one in [*stream.trailing]:
                    self.write_trailing(one, now)
            due = stream.shaper.next_deadline
            if due is not None:
                self._schedule_advance(stream, due, now)

    def _write_together(self, ready: Sequence[Stream], now: float) -> list[Subscription]:
        made: dict[object, bytes] = {}
        failed = [one for stream in ready for one in stream.prepare_batches(now, made)]
        failed += write_batches(self._all_live_readers())
        for stream in ready:
            stream.clear_batches(now)
        return failed

    def _all_live_readers(self) -> LiveReaders:
        """The live readers of all streams."""
        version = (self.streams, sum(stream.readers_version for stream in self.streams))
        if version != self._readers_version:
            self._live_readers = LiveReaders(one for stream in self.streams for one in stream.live_readers())
            self._readers_version = version
        return self._live_readers

    def _schedule_advance(self, stream: Stream, due: float, now: float) -> None:
        if stream.shaper.lag(now) > self.settings.max_lag:
            self._close_overdue(stream, now)
        elif stream.advance_at is None or due < stream.advance_at:
            stream.advance_at = due
            self._call_at(due, lambda: self._advance(stream, due))

    def _advance(self, stream: Stream, due: float) -> None:
        if stream.advance_at == due:
            stream.advance_at = None
        now = self._clock()
        stream.advance(now)
        self.deliver((stream,), now)

    def _close_overdue(self, stream: Stream, now: float) -> None:
        """CF-073: the rate cannot keep up with the agent. Who comes back gets the rest, made short."""
        for one in [*stream.subscriptions]:
            if one.writer is not None:
                self._on_slow(one)
        stream.flush(now)
        stream.write_live(now)

    def write_trailing(self, subscription: Subscription, now: float) -> None:
        """Write to a trailing reader what it can take."""
        try:
            again = subscription.stream.write_trailing(subscription, now)
        except ReaderTooSlow:
            self._on_slow(subscription)
        except Exception:
            _log.warning("A reader's connection failed while it was written to.", exc_info=True)
            self._on_lost(subscription)
        else:
            if again is not None and (self._next_pump_at is None or again < self._next_pump_at):
                self._next_pump_at = again
                self._call_at(again, lambda: self._write_all_trailing(again))

    def _write_all_trailing(self, again: float) -> None:
        if self._next_pump_at == again:
            self._next_pump_at = None
        now = self._clock()
        for one in [one for stream in self.streams for one in stream.trailing]:
            if one in one.stream.trailing:  # letting one go may have taken others along
                self.write_trailing(one, now)

    # -- streams -----------------------------------------------------------------------------

    def stream_for(self, one: Subscription) -> Stream:
        """The stream for these terms, this principal and this role (CF-142)."""
        # What is asked for under our own extension says nothing about how events are shaped.
        others = {prefix: value for prefix, value in one.terms.unknown.items() if prefix != attend_extension.PREFIX}
        key = msgspec.json.encode([one.peer.principal, one.peer.roles, one.terms, others], order="sorted")
        if key not in self._streams:
            self._streams[key] = Stream(one.peer, one.terms, self.settings, self.registry, self._last_event_id)
            self.streams = (*self._streams.values(),)
        return self._streams[key]

    def remove_subscription(self, one: Subscription) -> None:
        """A subscription has ended; so does its stream, if it was the last."""
        one.stream.disconnect(one)
        one.stream.subscriptions.discard(one)
        self.drop_unused_streams()

    def drop_unused_streams(self) -> None:
        """Let go of streams that nobody has."""
        for key, stream in [*self._streams.items()]:
            if not stream.subscriptions:
                del self._streams[key]
                self._closed_frame_count += stream.frame_count
                self._closed_write_count += stream.write_count
        self.streams = (*self._streams.values(),)
        if not self.streams:
            self._published.clear()
