"""Routes what sessions publish to the streams of those who may hear it, and has it written in time."""

from __future__ import annotations

import logging
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
from .backlog import Backlog
from .sessions import SessionSource
from .settings import HubSettings
from .stream import LiveReaders, ReaderTooSlow, Stream, Subscription, write_batches

__all__ = ["Delivery"]

MAX_EVENTS_PER_TURN: Final = 500  # events routed before the loop does something else

_log: Final = logging.getLogger("aaep.hub")


class Delivery:
    """All streams of a hub. Except for :meth:`publish`, on the loop only."""

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
        on_drained: Callable[[Subscription], None],
        on_boundary: Callable[[CoalesceHint], None],
        journal: Journal,
    ) -> None:
        """
        ``call_soon`` and ``call_at`` schedule on the loop; ``on_lost`` and ``on_slow`` are told of readers to drop,
        ``on_drained`` of those that have been written all that was read from the journal for them so far.

        ``on_boundary`` is told the finest boundary of all streams, a sentence if they have none finer, whenever the
        streams change.

        No reader sees an event before the journal has committed it: a reader that
        resumes after an event which the next process does not know would never
        hear how its session ended. The loop does not wait for the disk; the journal
        calls back.
        """
        self.settings = settings
        self.registry = registry
        self.event_count = 0
        self.last_published_id = ""
        self.streams: tuple[Stream, ...] = ()
        self._clock = clock
        self._call_soon = call_soon
        self._call_at = call_at
        self._on_lost = on_lost
        self._on_slow = on_slow
        self._on_drained = on_drained
        self._on_boundary = on_boundary
        self._journal = journal
        self.backlog = Backlog(settings.max_backlog_bytes)
        self._is_scheduled = False  # drain() will be called, or the journal will call back
        self._commit_ticket: object = None  # of the commit whose callback is awaited
        self._last_event_id = ""  # of what was routed
        self._stream_by_key: dict[bytes, Stream] = {}
        self._live_readers = LiveReaders()
        self._readers_version: tuple[tuple[Stream, ...], int] = ((), 0)
        self._next_pump_at: float | None = None
        self._closed_frame_count = 0  # of streams that are gone
        self._closed_write_count = 0

    @property
    def frame_count(self) -> int:
        """How many frames were written."""
        return self._closed_frame_count + sum(stream.frame_count for stream in self.streams)

    @property
    def write_count(self) -> int:
        """How many writes that took: frames that are ready together go out together."""
        return self._closed_write_count + sum(stream.write_count for stream in self.streams)

    @property
    def is_under_pressure(self) -> bool:
        """Whether a caller that could publish without end should let the readers catch up first."""
        now = self._clock()
        has_backlog = any(stream.trailing or stream.shaper.lag(now) for stream in self.streams)
        return not self.backlog.has_room or has_backlog

    @property
    def is_idle(self) -> bool:
        """Whether all that was published is written to every connected reader."""
        holds_something = any(
            stream.trailing or stream.new_events or stream.shaper.next_deadline is not None for stream in self.streams
        )
        return not holds_something and not self.backlog

    # -- from sessions to streams ------------------------------------------------------------

    def publish(self, source: SessionSource, event: Envelope, data: bytes) -> None:
        """Have an event routed soon. From any thread."""
        self.event_count += 1
        self.last_published_id = event.event_id
        if not self.streams:
            self._last_event_id = event.event_id
            return  # a later subscriber is caught up by the session and from the journal
        self.backlog.add(source, event, data)
        if not self._is_scheduled:
            self._is_scheduled = True
            try:
                self._call_soon(self.drain)
            except BaseException:  # interrupted: without this nothing would be scheduled again
                self._is_scheduled = False
                raise

    def drain(self) -> None:
        """Route what was published, once the journal has committed it, and write it to the readers."""
        count = min(len(self.backlog), MAX_EVENTS_PER_TURN)
        ticket = object()
        on_commit = partial(self._call_soon, partial(self._committed, ticket, count))
        if count and self._journal.call_when_committed(on_commit):
            self._commit_ticket = ticket
        else:
            self._route_committed(count)

    def call_and_drain(self, function: Callable[..., None], *args: object) -> None:
        """Call out of the hub, and route at once what is published there."""
        was_scheduled = self._is_scheduled
        self._is_scheduled = True  # so that publish() does not schedule
        try:
            function(*args)
        except Exception:
            _log.exception("A call out of the hub failed.")
        finally:
            if not was_scheduled:
                self.drain()

    def _committed(self, ticket: object, count: int) -> None:
        if self._commit_ticket is ticket:
            self._commit_ticket = None
            self._route_committed(count)

    def _route_committed(self, count: int) -> None:
        """Route a number of published events, and write."""
        self._is_scheduled = False  # first: what is published from here on schedules again
        now = self._clock()
        published = self.backlog.take(count)  # fewer if the last reader has left meanwhile
        for source, event, data in published:
            self.route(source, event, data, now)
        self.deliver(self.streams, now)
        self.backlog.release(sum(len(data) for _, _, data in published))
        if self.backlog and not self._is_scheduled:
            self._is_scheduled = True
            self._call_soon(self.drain)

    def route_all(self) -> None:
        """Commit, route and write all that was published so far, at once."""
        count = len(self.backlog)
        if count and not self._journal.flush():
            return  # what no journal has is not told; it is once it is kept
        self._commit_ticket = None
        self._route_committed(count)

    def route_up_to(self, last_event_ids: Mapping[str, str]) -> None:
        """Commit and route what was published, of each session named up to an event; keep the rest for later."""
        count = len(self.backlog)  # first: what is published from here on may not be committed
        if not self._journal.flush():  # also for the prompts that are about to be sent again
            return
        published = self.backlog.take(count)
        self._commit_ticket = None
        last_index = {
            source.session_id: index
            for index, (source, event, _) in enumerate(published)
            if last_event_ids.get(source.session_id) == event.event_id
        }
        now = self._clock()
        rest = []
        routed_bytes = 0
        for index, (source, event, data) in enumerate(published):
            # A session that is not named has ended, or is another's: who resumes after what follows has to have it.
            if source.session_id not in last_event_ids or index <= last_index.get(source.session_id, -1):
                self.route(source, event, data, now)
                routed_bytes += len(data)
            else:
                rest.append((source, event, data))
        self.backlog.put_back(rest)
        self.backlog.release(routed_bytes)
        self._is_scheduled = False  # first: what is published from here on schedules again
        if self.backlog:
            self._is_scheduled = True
            self._call_soon(self.drain)

    def route(self, source: SessionSource, event: Envelope, data: bytes, now: float) -> None:
        """Give an event to the streams of those who may hear it (CF-145)."""
        self._last_event_id = event.event_id
        audience = source.audience
        for stream in self.streams:
            if audience is None or stream.peer.may_hear(audience):
                stream.push(event, data, now)
                if stream.new_bytes > self.settings.high_water_bytes:  # more would be too large for one write
                    self.deliver((stream,), now)

    # -- from streams to readers -------------------------------------------------------------

    def deliver(self, streams: Sequence[Stream], now: float) -> None:
        """Write the new events of streams, and schedule the release of what they hold."""
        ready = [stream for stream in streams if stream.new_events]
        if ready:
            failed = ready[0].write_live(now) if len(ready) == 1 else self._write_together(ready, now)
            for subscription in failed:
                self._on_lost(subscription)
        for stream in streams:
            if stream.trailing:
                for subscription in [*stream.trailing]:
                    self.write_trailing(subscription, now)
            deadline = stream.shaper.next_deadline
            if deadline is not None:
                self._schedule_advance(stream, deadline, now)

    def _write_together(self, ready: Sequence[Stream], now: float) -> list[Subscription]:
        frames: dict[object, bytes] = {}
        failed = [subscription for stream in ready for subscription in stream.prepare_batches(now, frames)]
        failed += write_batches(self._all_live_readers())
        for stream in ready:
            stream.clear_batches(now)
        return failed

    def _all_live_readers(self) -> LiveReaders:
        """Return the live readers of all streams."""
        version = (self.streams, sum(stream.readers_version for stream in self.streams))
        if version != self._readers_version:
            self._live_readers = LiveReaders(reader for stream in self.streams for reader in stream.live_readers())
            self._readers_version = version
        return self._live_readers

    def _schedule_advance(self, stream: Stream, deadline: float, now: float) -> None:
        if stream.shaper.lag(now) > self.settings.max_lag:
            self._close_overdue(stream, now)
        elif stream.advance_at is None or deadline < stream.advance_at:
            stream.advance_at = deadline
            self._call_at(deadline, lambda: self._advance(stream, deadline))

    def _advance(self, stream: Stream, deadline: float) -> None:
        if stream.advance_at == deadline:
            stream.advance_at = None
        now = self._clock()
        stream.advance(now)
        self.deliver((stream,), now)

    def _close_overdue(self, stream: Stream, now: float) -> None:
        """Close the readers of a stream whose rate cannot keep up with the agent: they may resume (CF-073)."""
        for subscription in [*stream.subscriptions]:
            if subscription.writer is not None:
                self._on_slow(subscription)
        stream.flush(now)
        stream.write_live(now)

    def write_trailing(self, subscription: Subscription, now: float) -> None:
        """Write to a trailing reader what it can take, and schedule the next try."""
        try:
            try_again_at = subscription.stream.write_trailing(subscription, now)
        except ReaderTooSlow:
            self._on_slow(subscription)
        except Exception:
            _log.warning("A reader's connection failed while it was written to.", exc_info=True)
            self._on_lost(subscription)
        else:
            if subscription.continue_after and try_again_at is None:
                self._call_soon(partial(self._on_drained, subscription))  # so that others are served in between
            if try_again_at is not None and (self._next_pump_at is None or try_again_at < self._next_pump_at):
                self._next_pump_at = try_again_at
                self._call_at(try_again_at, lambda: self._write_all_trailing(try_again_at))

    def _write_all_trailing(self, scheduled_at: float) -> None:
        if self._next_pump_at == scheduled_at:
            self._next_pump_at = None
        now = self._clock()
        for subscription in [subscription for stream in self.streams for subscription in stream.trailing]:
            if subscription in subscription.stream.trailing:  # closing one may have taken others along
                self.write_trailing(subscription, now)

    # -- streams -----------------------------------------------------------------------------

    def stream_for(self, subscription: Subscription) -> Stream:
        """Return the stream for a subscription's terms, principal and roles (CF-142)."""
        terms = subscription.terms
        # What is asked for under our own extension does not change how events are shaped.
        extensions = {prefix: value for prefix, value in terms.unknown.items() if prefix != attend_extension.PREFIX}
        peer = subscription.peer
        key = msgspec.json.encode([peer.principal, peer.roles, terms, extensions], order="sorted")
        if key not in self._stream_by_key:
            self._stream_by_key[key] = Stream(peer, terms, self.settings, self.registry, self._last_event_id)
            self._update_streams()
        return self._stream_by_key[key]

    def _update_streams(self) -> None:
        self.streams = (*self._stream_by_key.values(),)
        wanted = {hint for stream in self.streams for hint in get_member(stream.terms, "coalesce_boundaries") or ()}
        self._on_boundary("none" if "none" in wanted else "word" if "word" in wanted else "sentence")

    def remove_subscription(self, subscription: Subscription) -> None:
        """Take an ended subscription off its stream, and drop the stream if it was the last."""
        subscription.stream.disconnect(subscription)
        subscription.stream.subscriptions.discard(subscription)
        self.drop_unused_streams()

    def drop_unused_streams(self) -> None:
        """Drop the streams that have no subscription."""
        unused = [(key, stream) for key, stream in self._stream_by_key.items() if not stream.subscriptions]
        for key, stream in unused:
            del self._stream_by_key[key]
            self._closed_frame_count += stream.frame_count
            self._closed_write_count += stream.write_count
        if unused:
            self._update_streams()
        if not self.streams:
            self.backlog.clear()
