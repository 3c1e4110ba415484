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
from .settings import Settings
from .stream import Readers, Stream, Subscription, TooSlow, spread

__all__ = ["Delivery"]

PORTION: Final = 500  # events routed before the loop does something else

_log: Final = logging.getLogger("aaep.hub")


class Delivery:
    """Every stream there is. All but :meth:`publish` is for the loop only."""

    def __init__(
        self,
        settings: Settings,
        known: Registry,
        clock: Callable[[], float],
        *,
        call: Callable[[Callable[[], None]], None],
        at: Callable[[float, Callable[[], None]], object],
        lost: Callable[[Subscription], None],
        slow: Callable[[Subscription], None],
        journal: Journal,
    ) -> None:
        """
        ``call`` and ``at`` have the loop do something; ``lost`` and ``slow`` are told of readers to let go of.

        Nobody sees an event before what the journal has of it would outlive this process: who resumes after one
        that the next process does not know would never hear how its session ended. The loop does not wait for
        the disk; when the journal has it, it is called.
        """
        self.settings, self.known = settings, known
        self._most = settings.high_water
        self.events = 0
        self._clock, self._call, self._at, self._lost, self._slow = clock, call, at, lost, slow
        self._journal = journal
        self._awaited: object = None  # the journal has yet to keep what was published
        self._published: deque[tuple[SessionSource, Envelope, bytes]] = deque()
        self._scheduled = False
        self._last = ""  # the id of the last event that was routed
        self._streams: dict[bytes, Stream] = {}
        self.streams: tuple[Stream, ...] = ()
        self._live = Readers()
        self._version: tuple[tuple[Stream, ...], int] = ((), 0)
        self._frames = self._writes = 0  # of streams that are no more
        self._again: float | None = None  # when the trailing readers are looked at

    @property
    def frames(self) -> int:
        """How many frames were written."""
        return self._frames + sum(stream.frames for stream in self.streams)

    @property
    def writes(self) -> int:
        """In how many pieces: what is ready goes out together."""
        return self._writes + sum(stream.writes for stream in self.streams)

    @property
    def boundary(self) -> CoalesceHint:
        """The finest boundary of all streams, a sentence if they have none finer. From any thread."""
        wanted = {one for stream in self.streams for one in get_member(stream.terms, "coalesce_boundaries") or ()}
        return "none" if "none" in wanted else "word" if "word" in wanted else "sentence"

    @property
    def pressed(self) -> bool:
        """Whether somebody who could publish more without end should let the readers catch up first."""
        now = self._clock()
        return len(self._published) > PORTION or any(one.trailing or one.shaper.lag(now) for one in self.streams)

    @property
    def idle(self) -> bool:
        """Whether all that was published is written to everybody who is connected."""
        held = any(one.trailing or one.fresh or one.shaper.next_deadline is not None for one in self.streams)
        return not held and not self._published

    def publish(self, source: SessionSource, event: Envelope, data: bytes) -> None:
        """Have an event routed soon. From any thread."""
        self.events += 1
        if not self.streams:
            self._last = event.event_id
            return  # whoever subscribes later is caught up by the source and from the journal
        self._published.append((source, event, data))
        if not self._scheduled:
            self._scheduled = True
            try:
                self._call(self.drain)
            except BaseException:  # interrupted; nobody else would have the loop called
                self._scheduled = False
                raise

    def drain(self) -> None:
        """Route what was published, then write once to each reader."""
        count, ticket = min(len(self._published), PORTION), object()
        if count and self._journal.call_when_committed(partial(self._call, partial(self._kept, ticket, count))):
            self._awaited = ticket  # and nobody has to have the loop called meanwhile
        else:
            self._written(count)

    def after(self, call: Callable[..., None], *args: object) -> None:
        """Call out of the hub, and have what is published there routed at once instead of soon."""
        waiting, self._scheduled = self._scheduled, True  # so that nobody has the loop called
        try:
            call(*args)
        except Exception:
            _log.exception("A call out of the hub failed.")
        finally:
            if not waiting:
                self.drain()

    def _kept(self, ticket: object, count: int) -> None:
        if self._awaited is ticket:
            self._awaited = None
            self._written(count)

    def _written(self, count: int) -> None:
        """So many of what was published may be seen."""
        self._scheduled = False  # first: whoever publishes from here on has the loop called again
        now, published = self._clock(), self._published
        while count and published:  # if not, the last reader has gone meanwhile, and with it what was left for it
            count -= 1
            self.route(*published.popleft(), now)
        self.deliver(self.streams, now)
        if published and not self._scheduled:
            self._scheduled = True
            self._call(self.drain)

    def empty(self) -> None:
        """Route all that was published so far, at once."""
        count, self._awaited = len(self._published), None
        if count:
            self._journal.flush()
        self._written(count)

    def settle(self, last: Mapping[str, str]) -> None:
        """Route, of each session named, what was published up to that event, and keep the rest for later."""
        published = [self._published.popleft() for _ in range(len(self._published))]
        self._awaited = None
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
            self._call(self.drain)

    def route(self, source: SessionSource, event: Envelope, data: bytes, now: float) -> None:
        """Give an event to the streams of those who may hear it (CF-145)."""
        self._last = event.event_id
        audience = source.audience
        for stream in self.streams:
            if audience is None or stream.peer.may_hear(audience):
                stream.push(event, data, now)
                if stream.size > self._most:  # more would make a batch too large for one write
                    self.deliver((stream,), now)

    def deliver(self, streams: Sequence[Stream], now: float) -> None:
        """Write what is new in streams, and see to it that what they hold comes out in time."""
        ready = [stream for stream in streams if stream.fresh]
        if ready:
            for one in ready[0].send(now) if len(ready) == 1 else self._together(ready, now):
                self._lost(one)
        for stream in streams:
            if stream.trailing:
                for one in [*stream.trailing]:
                    self.pump(one, now)
            due = stream.shaper.next_deadline
            if due is not None:
                self._arm(stream, due, now)

    def _together(self, ready: Sequence[Stream], now: float) -> list[Subscription]:
        made: dict[object, bytes] = {}
        failed = [one for stream in ready for one in stream.load(now, made)]
        failed += spread(self._everybody())
        for stream in ready:
            stream.done(now)
        return failed

    def _everybody(self) -> Readers:
        """The live readers of all streams."""
        version = (self.streams, sum(stream.version for stream in self.streams))
        if version != self._version:
            self._live = Readers(one for stream in self.streams for one in stream.readers())
            self._version = version
        return self._live

    def _arm(self, stream: Stream, due: float, now: float) -> None:
        if stream.shaper.lag(now) > self.settings.lag:
            self._overdue(stream, now)
        elif stream.armed is None or due < stream.armed:
            stream.armed = due
            self._at(due, lambda: self._advance(stream, due))

    def _advance(self, stream: Stream, due: float) -> None:
        if stream.armed == due:
            stream.armed = None
        now = self._clock()
        stream.advance(now)
        self.deliver((stream,), now)

    def _overdue(self, stream: Stream, now: float) -> None:
        """CF-073: the rate cannot keep up with the agent. Who comes back gets the rest, made short."""
        for one in [*stream.subscriptions]:
            if one.writer is not None:
                self._slow(one)
        stream.flush(now)
        stream.send(now)

    def pump(self, subscription: Subscription, now: float) -> None:
        """Write to a trailing reader what it can take."""
        try:
            again = subscription.stream.pump(subscription, now)
        except TooSlow:
            self._slow(subscription)
        except Exception:
            _log.warning("A reader's connection failed while it was written to.", exc_info=True)
            self._lost(subscription)
        else:
            if again is not None and (self._again is None or again < self._again):
                self._again = again
                self._at(again, lambda: self._pump_all(again))

    def _pump_all(self, again: float) -> None:
        if self._again == again:
            self._again = None
        now = self._clock()
        for one in [one for stream in self.streams for one in stream.trailing]:
            if one in one.stream.trailing:  # letting one go may have taken others along
                self.pump(one, now)

    # -- streams -----------------------------------------------------------------------------

    def stream(self, one: Subscription) -> Stream:
        """The stream for these terms, this principal and this role (CF-142)."""
        # What is asked for under our own extension says nothing about how events are shaped.
        others = {prefix: value for prefix, value in one.terms.unknown.items() if prefix != attend_extension.PREFIX}
        key = msgspec.json.encode([one.peer.principal, one.peer.roles, one.terms, others], order="sorted")
        if key not in self._streams:
            self._streams[key] = Stream(one.peer, one.terms, self.settings, self.known, self._last)
            self.streams = (*self._streams.values(),)
        return self._streams[key]

    def leave(self, one: Subscription) -> None:
        """A subscription has ended; so does its stream, if it was the last."""
        one.stream.leave(one)
        one.stream.subscriptions.discard(one)
        self.sweep()

    def sweep(self) -> None:
        """Let go of streams that nobody has."""
        for key, stream in [*self._streams.items()]:
            if not stream.subscriptions:
                del self._streams[key]
                self._frames += stream.frames
                self._writes += stream.writes
        self.streams = (*self._streams.values(),)
        if not self.streams:
            self._published.clear()
