"""What a reader begins with: prompts, what it missed, and how things stand. CF-007, CF-091, CF-146"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import UNSET

from ..journal.base import EventNotKept, Journal
from ..protocol import codec
from ..protocol.events import Envelope, SessionStarted
from ..transports.base import RELAY
from .delivery import Delivery
from .replay import Bounds, missed, shaped
from .sessions import CatchUp, Source, Sources
from .stream import STORED, Item, Mark, Stream, Subscription

__all__ = ["Welcome"]

_log: Final = logging.getLogger("aaep.hub")

Caught = list[tuple[Source, CatchUp]]


class Welcome:
    """Prepares readers. On the loop only."""

    def __init__(
        self,
        delivery: Delivery,
        sources: Sources,
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self.resumed = 0
        self.caught_up = 0
        self._delivery, self._sources, self._journal = delivery, sources, journal
        self._clock = clock

    def prepare(self, one: Subscription, after: str, sources: Iterable[Source]) -> None:
        """
        Queue what this reader gets before it is live.

        Prompts come first and are not repeated at their place (CF-091). Who
        begins, or names an event nobody knows, is told how each session began
        and how it stands (CF-146), unless what it missed tells that anyway:
        then a prompt stays at its place, for nothing of a session comes before
        its beginning.
        """
        caught = self._catch_up(one, sources)
        self._delivery.settle({source.session_id: catch.last for source, catch in caught})
        self._let_go(one, caught)
        stream, now = one.stream, self._clock()
        place = _place(one, after)
        fresh = not after or after in one.greeting
        if fresh or not stream.holds(place[0]):
            stream.flush(now)  # else what is held now would follow what it led to
        self._delivery.deliver((stream,), now)
        in_ring = stream.holds(place[0])
        stored = None if in_ring else self._stored(one, place[1], now)
        known = in_ring or stored is not None
        fresh = fresh or not known
        whole = self._whole(one, now) if fresh and RELAY in one.peer.roles else None
        if whole is not None:
            place, in_ring, known, stored = one.start, False, True, whole
        run = [*stream.after(place[0])] if in_ring else stored or []
        if fresh:
            self.caught_up += 1
        else:
            self.resumed += 1

        begun = {item.event.session_id for item in run if isinstance(item.event, SessionStarted)}
        joined = [catch for source, catch in caught if fresh and source.session_id not in begun]
        started = [catch.started for catch in joined if catch.started is not None]
        told = {item.event.event_id for item in run if fresh and item.event.session_id in begun}
        pending = [event for _, catch in caught for event in catch.pending if event.event_id not in told]
        # CF-001: what is still withheld is not for those who cannot answer it.
        prompts = [event for event in pending if not self._sources.withheld(event)]
        # Who begins is told idle by the start alone; who lost its place has to hear that it did (SSE-020).
        lost = bool(after) and after not in one.greeting and not known
        states = [catch.state for catch in joined if catch.state and (lost or catch.state.to_state != "idle")]

        stream.trail(one, place if known else stream.mark)
        one.position = stream.mark[0]
        front = _items(stream, [*started, *prompts], now)
        one.queue.extend((item, None) for item in front)
        sent = {item.event.event_id for item in front}
        run = [item for item in run if item.event.event_id not in sent]
        if in_ring:
            stream.queue(one, run, short=one.terms.max_events_per_second is not UNSET)
        else:
            one.queue.extend((item, (STORED, item.event.event_id)) for item in run)
        one.queue.extend((item, None) for item in _items(stream, states, now))
        if fresh:  # who comes back before it has heard all of this begins once more
            again = [item.event.event_id for item, _ in one.queue][:-1] if started or states else sent
            one.greeting = frozenset(again)

    def release(self, one: Subscription, sources: Iterable[Source]) -> None:
        """Prompts that were withheld go to all, if this reader, whose terms have changed, can answer them."""
        if one.answers:
            keeping = [source for source in sources if self._sources.keeps(source)]
            self._let_go(one, self._catch_up(one, keeping))

    def _catch_up(self, one: Subscription, sources: Iterable[Source]) -> Caught:
        caught = []
        for source in sources:
            try:
                caught.append((source, source.catch_up(one)))
            except Exception:
                _log.exception("A session could not say how it stands; its readers go on without.")
        return caught

    def _let_go(self, one: Subscription, caught: Caught) -> None:
        """Somebody can answer: to all (CF-001)."""
        now = self._clock()
        for source, catch in caught:
            for event in catch.pending:
                if self._sources.withheld(event) and one.replies(type(event)):
                    self._delivery.route(source, *self._sources.release(event), now)
        self._delivery.deliver(self._delivery.streams, now)

    def _whole(self, one: Subscription, now: float) -> list[Item] | None:
        """
        All that was said in the sessions that a hub knows nothing of; None if the journal does not have it any more.

        A hub is no person who needs only to know how things stand: its readers may have been there all the time.
        """
        untold, settings = self._sources.untold(), self._delivery.settings
        begun = [kept.session_id for kept in self._journal.sessions(open_only=False) if kept.session_id in untold]
        first = [*self._journal.read(session=begun[0], limit=1)] if begun else []
        if not first:
            return None
        bounds = Bounds(most=settings.replay, lag=settings.lag)
        try:
            later = missed(
                self._journal, first[0].event_id, one.terms, one.stream.known, bounds, lambda name: name in untold
            )
        except EventNotKept:
            return None
        events = [codec.decode(first[0].data, one.stream.known), *later]
        wanted = [one.stream.fit(event) for event in events if isinstance(event, Envelope)]
        shown = [event for event in wanted if not self._sources.withheld(event)]
        return [one.stream.item(event, now) for event in shaped(shown, one.terms, one.stream.known, now)]

    def _stored(self, one: Subscription, after: str, now: float) -> list[Item] | None:
        """What the journal has after an event, as this reader receives it; None if it cannot say."""
        settings = self._delivery.settings
        bounds = Bounds(most=settings.replay, lag=settings.lag)

        def heard(session_id: str) -> bool:
            # Before the first event of this run was everything of earlier ones.
            return self._sources.audible(session_id, one.peer) and bool(after or self._sources.knows(session_id))

        try:
            events = missed(self._journal, after, one.terms, one.stream.known, bounds, heard)
        except EventNotKept:
            return None
        wanted = [one.stream.fit(event) for event in events if not self._sources.withheld(event)]
        return [one.stream.item(event, now) for event in shaped(wanted, one.terms, one.stream.known, now)]


def _place(one: Subscription, after: str) -> Mark:
    """Where to go on: after the event that was named, or where the subscription began."""
    if not after:
        return one.start
    return one.aliases.get(after) or (one.stream.find(after), after)


def _items(stream: Stream, events: Iterable[Envelope], now: float) -> list[Item]:
    """Each as the terms have it, by itself, so that it is what it was when it was live."""
    fitting = (stream.fit(event) for event in events)
    return [stream.item(one, now) for event in fitting for one in shaped([event], stream.terms, stream.known, now)]
