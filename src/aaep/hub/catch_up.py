"""What a reader begins with: prompts, what it missed, and how things stand. CF-007, CF-091, CF-146"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Final

import msgspec
from msgspec import UNSET

from ..errors import ProtocolError
from ..identity.peer import RELAY
from ..journal.base import EventNotRetained, Journal, JournalEntry, build_not_retained_error, expand_merged_id
from ..protocol import codec
from ..protocol.attend_extension import attend_member
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, OutputStreaming, SessionStarted
from ..protocol.extensions import Registry
from ..protocol.fields import PIECE, get_member
from ..protocol.messages import Capabilities
from ..shaping.shaper import Shaper
from .delivery import Delivery
from .sessions import SessionRegistry, SessionSnapshot, SessionSource
from .stream import IN_JOURNAL, Position, ShapedEvent, Stream, Subscription

__all__ = ["CatchUp", "find_overtaken", "read_missed", "shape_all"]

_log: Final = logging.getLogger("aaep.hub")

Caught = list[tuple[SessionSource, SessionSnapshot]]


class CatchUp:
    """Prepares readers. On the loop only."""

    def __init__(
        self,
        delivery: Delivery,
        sources: SessionRegistry,
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self.resumed = 0
        self.caught_up = 0
        self._delivery, self._sources, self._journal = delivery, sources, journal
        self._clock = clock

    def prepare(self, one: Subscription, after: str, sources: Iterable[SessionSource]) -> None:
        """
        Queue what this reader gets before it is live.

        Prompts come first and are not repeated at their place (CF-091). Who
        begins, or names an event nobody knows, is told how each session began
        and how it stands (CF-146), unless what it missed tells that anyway:
        then a prompt stays at its place, for nothing of a session comes before
        its beginning.
        """
        caught = self._catch_up(one, sources)
        self._delivery.route_up_to({source.session_id: catch.last_event_id for source, catch in caught})
        self._let_go(one, caught)
        stream, now = one.stream, self._clock()
        place = _place(one, after)
        fresh = not after or after in one.greeting_ids
        if fresh or not stream.has_all_after(place[0]):
            stream.flush(now)  # else what is held now would follow what it led to
        self._delivery.deliver((stream,), now)
        in_ring = stream.has_all_after(place[0])
        stored = None if in_ring else self._stored(one, place[1], now)
        known = in_ring or stored is not None
        fresh = fresh or not known
        whole = self._whole(one, now) if fresh and RELAY in one.peer.roles else None
        if whole is not None:
            place, in_ring, known, stored = one.start_position, False, True, whole
        run = [*stream.events_after(place[0])] if in_ring else stored or []
        if fresh:
            self.caught_up += 1
        else:
            self.resumed += 1

        begun = {item.event.session_id for item in run if isinstance(item.event, SessionStarted)}
        joined = [catch for source, catch in caught if fresh and source.session_id not in begun]
        started = [catch.started for catch in joined if catch.started is not None]
        told = {item.event.event_id for item in run if fresh and item.event.session_id in begun}
        pending = [event for _, catch in caught for event in catch.pending_prompts if event.event_id not in told]
        # CF-001: what is still withheld is not for those who cannot answer it.
        prompts = [event for event in pending if not self._sources.is_withheld(event)]
        # Who begins is told idle by the start alone; who lost its place has to hear that it did (SSE-020).
        lost = bool(after) and after not in one.greeting_ids and not known
        states = [catch.state for catch in joined if catch.state and (lost or catch.state.to_state != "idle")]

        stream.start_trailing(one, place if known else stream.position)
        one.ring_serial = stream.position[0]
        front = _items(stream, [*started, *prompts], now)
        one.queue.extend((item, None) for item in front)
        sent = {item.event.event_id for item in front}
        run = [item for item in run if item.event.event_id not in sent]
        if in_ring:
            stream.enqueue(one, run, short=one.terms.max_events_per_second is not UNSET)
        else:
            one.queue.extend((item, (IN_JOURNAL, item.event.event_id)) for item in run)
        one.queue.extend((item, None) for item in _items(stream, states, now))
        if fresh:  # who comes back before it has heard all of this begins once more
            again = [item.event.event_id for item, _ in one.queue][:-1] if started or states else sent
            one.greeting_ids = frozenset(again)

    def release(self, one: Subscription, sources: Iterable[SessionSource]) -> None:
        """Prompts that were withheld go to all, if this reader, whose terms have changed, can answer them."""
        if one.may_reply:
            keeping = [source for source in sources if self._sources.has_withheld(source)]
            self._let_go(one, self._catch_up(one, keeping))

    def _catch_up(self, one: Subscription, sources: Iterable[SessionSource]) -> Caught:
        caught = []
        for source in sources:
            try:
                caught.append((source, source.join(one)))
            except Exception:
                _log.exception("A session could not say how it stands; its readers go on without.")
        return caught

    def _let_go(self, one: Subscription, caught: Caught) -> None:
        """Somebody can answer: to all (CF-001)."""
        now = self._clock()
        for source, catch in caught:
            for event in catch.pending_prompts:
                if self._sources.is_withheld(event) and one.may_answer(type(event)):
                    self._delivery.route(source, *self._sources.release(event), now)
        self._delivery.deliver(self._delivery.streams, now)

    def _whole(self, one: Subscription, now: float) -> list[ShapedEvent] | None:
        """
        All that was said in the sessions that a hub knows nothing of; None if the journal does not have it any more.

        A hub is no person who needs only to know how things stand: its readers may have been there all the time.
        """
        untold, settings = self._sources.unheard_by_hub(), self._delivery.settings
        begun = [kept.session_id for kept in self._journal.list_sessions(open_only=False) if kept.session_id in untold]
        first = [*self._journal.read(session=begun[0], limit=1)] if begun else []
        if not first:
            return None
        bounds = ReplayBounds(max_entries=settings.max_replay_entries, max_lag=settings.max_lag)
        try:
            later = read_missed(
                self._journal, first[0].event_id, one.terms, one.stream.registry, bounds, lambda name: name in untold
            )
        except EventNotRetained:
            return None
        events = [codec.decode(first[0].data, one.stream.registry), *later]
        wanted = [one.stream.hide_members(event) for event in events if isinstance(event, Envelope)]
        shown = [event for event in wanted if not self._sources.is_withheld(event)]
        return [
            one.stream.build_shaped_event(event, now) for event in shape_all(shown, one.terms, one.stream.registry, now)
        ]

    def _stored(self, one: Subscription, after: str, now: float) -> list[ShapedEvent] | None:
        """What the journal has after an event, as this reader receives it; None if it cannot say."""
        settings = self._delivery.settings
        bounds = ReplayBounds(max_entries=settings.max_replay_entries, max_lag=settings.max_lag)

        def heard(session_id: str) -> bool:
            # Before the first event of this run was everything of earlier ones.
            return self._sources.is_audible(session_id, one.peer) and bool(after or self._sources.is_known(session_id))

        try:
            events = read_missed(self._journal, after, one.terms, one.stream.registry, bounds, heard)
        except EventNotRetained:
            return None
        wanted = [one.stream.hide_members(event) for event in events if not self._sources.is_withheld(event)]
        return [
            one.stream.build_shaped_event(event, now)
            for event in shape_all(wanted, one.terms, one.stream.registry, now)
        ]


def _place(one: Subscription, after: str) -> Position:
    """Where to go on: after the event that was named, or where the subscription began."""
    if not after:
        return one.start_position
    return one.resume_aliases.get(after) or (one.stream.find_serial(after), after)


def _items(stream: Stream, events: Iterable[Envelope], now: float) -> list[ShapedEvent]:
    """Each as the terms have it, by itself, so that it is what it was when it was live."""
    fitting = (stream.hide_members(event) for event in events)
    return [
        stream.build_shaped_event(one, now)
        for event in fitting
        for one in shape_all([event], stream.terms, stream.registry, now)
    ]


# -- what was missed, from the journal --

_INSIDE: Final = re.compile(PIECE)
MARGIN: Final = 1.0  # seconds between appending an event and publishing it, at the most


Stored = tuple[JournalEntry, Envelope]


class ReplayBounds(msgspec.Struct, frozen=True):
    """How far back to read: at most so many entries, and so many seconds of what a rate may have held."""

    max_entries: int
    max_lag: float


def shape_all(events: Iterable[Envelope], terms: Capabilities, known: Registry, now: float) -> list[Envelope]:
    """Events as these terms receive them, with nothing held at the end."""
    shaper = Shaper(terms, registry=known)
    out = [one for event in events for one in shaper.push(event, now)]
    return [*out, *shaper.flush(now)]


def read_missed(
    journal: Journal,
    after: str,
    terms: Capabilities,
    known: Registry,
    bounds: ReplayBounds,
    is_audible: Callable[[str], bool],
) -> list[Envelope]:
    """
    The events after one, of the sessions that the reader may hear, in order and not yet shaped.

    With no id, all of them; with the name of a piece from inside an event (see
    :mod:`aaep.shaping.merge`), that event too, for the rest of it is missing.

    Raises :exc:`~aaep.journal.base.EventNotKept`, also when it is too much to read at once.
    """
    inside = _INSIDE.fullmatch(after)
    try:
        entries = journal.read(after or None, limit=bounds.max_entries + 1)
        inside = None
    except EventNotRetained:
        if inside is None:
            raise
        after = inside[1]
        entries = journal.read(after, limit=bounds.max_entries + 1)
    if len(entries) > bounds.max_entries:
        raise build_not_retained_error(after)
    ids = {entry.event_id for entry in entries}
    before, at = _before(journal, after, ids, known, bounds, is_audible) if after else ([], None)
    if inside is not None and at is None:
        raise build_not_retained_error(after)
    earlier = find_overtaken(before, at, terms, bounds.max_lag) if at is not None else []
    cut = [at[1]] if at is not None and inside is not None else []
    return _answerable([*earlier, *cut, *(event for _, event in _decoded(entries, known, is_audible))])


def find_overtaken(before: Iterable[Stored], at: Stored, terms: Capabilities, lag: float) -> list[Envelope]:
    """
    What came before an event and may yet have been held when that event was sent.

    Text of outputs that were not complete, except the event's own; and, of
    other sessions, what may have been waiting for the rate, or for its turn
    between the journal and the readers. An event that is not output was
    preceded by all the output of its agent in its session (CF-074), so none of
    that is looked for.
    """
    entry, event = at
    paced = get_member(terms, "max_events_per_second") is not None or terms.cognitive_load == "low"
    since = entry.at - (lag if paced else MARGIN)
    found: list[tuple[float, int, Envelope]] = []
    outputs: dict[tuple[object, ...], list[tuple[float, int, Envelope]]] = {}
    for number, (row, one) in enumerate(before):
        queued = row.at >= since and one.session_id != event.session_id
        if not isinstance(one, OutputStreaming):
            found += [(row.at, number, one)] if queued else []
        elif not _covered(one, event):
            outputs.setdefault(_output(one), []).append((row.at, number, one))
            if one.complete:
                chunks = outputs.pop(_output(one))
                found += chunks if queued else []
    # The sessions were read one by one, each in its order.
    return [one for _, _, one in sorted([*found, *chain.from_iterable(outputs.values())], key=itemgetter(0, 1))]


def _output(event: OutputStreaming) -> tuple[object, ...]:
    return event.session_id, event.producer.agent_id, event.output_id


def _covered(chunk: OutputStreaming, event: Envelope) -> bool:
    """Whether all of a chunk went out before a later event did."""
    if isinstance(event, OutputStreaming):
        return _output(chunk) == _output(event)
    return (chunk.session_id, chunk.producer.agent_id) == (event.session_id, event.producer.agent_id)


def _before(
    journal: Journal,
    after: str,
    later: Collection[str],
    known: Registry,
    bounds: ReplayBounds,
    heard: Callable[[str], bool],
) -> tuple[list[Stored], Stored | None]:
    """The entries up to an event of the sessions that were going on then, and the event itself."""
    before: list[Stored] = []
    at: Stored | None = None
    budget = 10 * bounds.max_entries  # reading is cheap beside decoding
    for one in sorted(journal.list_sessions(open_only=False), key=lambda kept: kept.last_at, reverse=True):
        if at is not None and one.last_at < at[0].at - bounds.max_lag:
            break
        if one.entry_count > budget:
            continue
        budget -= one.entry_count
        rows = [row for row in journal.read(session=one.session_id, limit=one.entry_count) if row.event_id not in later]
        stored = _decoded(rows[-bounds.max_entries :], known, heard)
        before += stored
        at = next((pair for pair in stored if pair[0].event_id in expand_merged_id(after)), at)
    return before, at


def _decoded(entries: Iterable[JournalEntry], known: Registry, heard: Callable[[str], bool]) -> list[Stored]:
    found = []
    for entry in entries:
        if not heard(entry.session_id):
            continue
        try:
            event = codec.decode(entry.data, known)
        except ProtocolError:
            _log.warning("An entry of the journal is not a usable event and is left out.")
            continue
        if isinstance(event, Envelope):
            found.append((entry, event))
    return found


def _answerable(events: Sequence[Envelope]) -> list[Envelope]:
    """CF-001: a prompt that was never shown, because nobody could answer it, is not shown afterwards."""
    void = {
        attend_member(event, "reply_token") for event in events if attend_member(event, "outcome") == "no_reply_channel"
    }
    return [
        event
        for event in events
        if not (isinstance(event, (AwaitingConfirmation, AwaitingClarification)) and event.reply_token in void)
    ]
