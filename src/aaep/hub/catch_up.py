"""
What a reader is sent when it connects, before it is live. CF-007, CF-091, CF-146

A reader resumes after an event, from the ring of its stream or from the journal;
or it begins, or has lost its place, and is told how each session stands. A hub
that begins to relay gets the whole of what was said instead.
"""

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
from ..journal.base import EventNotRetained, Journal, JournalEntry, build_not_retained_error
from ..protocol import codec
from ..protocol.attend_extension import PREFIX, attend_member
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, OutputStreaming, SessionStarted
from ..protocol.extensions import Registry
from ..protocol.fields import PIECE_ID_PATTERN, get_member
from ..protocol.messages import Capabilities
from ..shaping.shaper import Shaper
from .delivery import Delivery
from .sessions import SessionRegistry, SessionSnapshot, SessionSource
from .stream import IN_JOURNAL, Position, ShapedEvent, Stream, Subscription

__all__ = ["CatchUp", "ReplayBounds", "find_overtaken", "read_missed", "shape_all"]

_log: Final = logging.getLogger("aaep.hub")

Snapshots = list[tuple[SessionSource, SessionSnapshot]]


class MissedEvents(msgspec.Struct, frozen=True):
    """The events that a reader has not been sent, and the position after which they come."""

    position: Position
    events: list[ShapedEvent]
    continue_after: str = ""  # the event after which the journal has more of them


class CatchUp:
    """Queues what readers are sent before they are live. On the hub's loop only."""

    def __init__(
        self,
        delivery: Delivery,
        sessions: SessionRegistry,
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self.resumed_count = 0
        self.greeted_count = 0
        self._delivery = delivery
        self._sessions = sessions
        self._journal = journal
        self._clock = clock

    def prepare(self, subscription: Subscription, after: str, sessions: Iterable[SessionSource]) -> None:
        """Queue what a reader gets before it is live. ``after`` is the id of the last event it has, if any."""
        snapshots = self._take_snapshots(subscription, sessions)
        self._delivery.route_up_to({session.session_id: snapshot.last_event_id for session, snapshot in snapshots})
        self._release_answerable(subscription, snapshots)
        # A reader that comes back before it has heard all of its greeting begins once more.
        begins = not after or after in subscription.greeting_ids
        missed = self._find_missed(subscription, after, begins=begins)
        if missed is not None and not begins:
            self.resumed_count += 1
            self._resume(subscription, missed, snapshots)
            return
        self.greeted_count += 1
        if RELAY in subscription.peer.roles:
            missed = self._read_unheard_sessions(subscription) or missed
        is_first = begins and not (subscription.greeting_ids or subscription.is_restarted)
        is_lost = missed is None and not is_first
        self._greet(subscription, missed, snapshots, is_lost=is_lost, is_again=begins and not is_first and not is_lost)

    def proceed(self, subscription: Subscription, sessions: Iterable[SessionSource]) -> None:
        """Queue the next portion of what a reader missed, which has been sent all that came before it."""
        after = subscription.continue_after
        stream = subscription.stream
        try:
            if len(self._journal.read(after, limit=PORTION + 1, committed=True)) <= PORTION:
                # What follows the last portion is in the ring, so all that was published has to be there.
                self._delivery.route_all()
                stream.flush(self._clock())
                self._delivery.deliver((stream,), self._clock())
            missed = self._read_journal(subscription, Position(IN_JOURNAL, after), is_continued=True)
        except EventNotRetained:
            missed = None
        if missed is None:
            self.prepare(subscription, after, sessions)  # it has lost its place meanwhile
            return
        if not missed.continue_after:
            subscription.ring_serial = stream.position.serial
        self._enqueue_missed(subscription, missed)

    def release_withheld(self, subscription: Subscription, sessions: Iterable[SessionSource]) -> None:
        """Send withheld prompts to all, if this reader, whose terms have changed, can answer them."""
        if subscription.may_reply:
            withholding = [session for session in sessions if self._sessions.has_withheld(session)]
            self._release_answerable(subscription, self._take_snapshots(subscription, withholding))

    # -- how the sessions stand ----------------------------------------------------------------

    def _take_snapshots(self, subscription: Subscription, sessions: Iterable[SessionSource]) -> Snapshots:
        snapshots = []
        for session in sessions:
            try:
                snapshots.append((session, session.join(subscription)))
            except Exception:
                _log.exception("A session could not say how it stands; its readers go on without.")
        return snapshots

    def _release_answerable(self, subscription: Subscription, snapshots: Snapshots) -> None:
        """Send the prompts that were withheld and that this reader can answer, to all (CF-001)."""
        now = self._clock()
        for session, snapshot in snapshots:
            for event in snapshot.pending_prompts:
                if self._sessions.is_withheld(event) and subscription.may_answer(type(event)):
                    self._delivery.route(session, *self._sessions.release(event), now)
        self._delivery.deliver(self._delivery.streams, now)

    def _pending_prompts(self, snapshots: Snapshots) -> list[Envelope]:
        """Return the prompts that wait for an answer and may be shown: not those still withheld (CF-001)."""
        prompts = [event for _, snapshot in snapshots for event in snapshot.pending_prompts]
        return [event for event in prompts if not self._sessions.is_withheld(event)]

    # -- what a reader missed --------------------------------------------------------------------

    def _find_missed(self, subscription: Subscription, after: str, *, begins: bool) -> MissedEvents | None:
        """Return what came after the last event a reader has; None if that event is not known any more."""
        stream = subscription.stream
        now = self._clock()
        position = _find_position(subscription, after)
        if begins or not stream.has_all_after(position.serial):
            stream.flush(now)  # else what the shaper holds would follow what it led to
        self._delivery.deliver((stream,), now)
        if stream.has_all_after(position.serial):
            return MissedEvents(position, [*stream.events_after(position.serial)])
        # At a rate, all of it is condensed together, and nothing of it holds up an open prompt (CF-091).
        return self._read_journal(subscription, position, is_whole=begins or _is_paced(subscription.terms))

    def _read_journal(
        self, subscription: Subscription, position: Position, *, is_whole: bool = False, is_continued: bool = False
    ) -> MissedEvents | None:
        """
        Return what the journal has after a position, shaped for this reader; None if it does not know.

        That is a portion of it, so that nobody else waits while it is read and shaped, or with ``is_whole`` all.
        """
        after = position.event_id

        def is_audible(session_id: str) -> bool:
            # Before the first event of this run came everything of earlier runs.
            is_of_interest = bool(after) or self._sessions.is_known(session_id)
            return is_of_interest and self._sessions.is_audible(session_id, subscription.peer)

        try:
            missed = read_missed(
                self._journal,
                after,
                subscription.terms,
                subscription.stream.registry,
                self._replay_bounds,
                is_audible,
                portion=None if is_whole else PORTION,
                is_continued=is_continued,
                is_start=after == subscription.start_position.event_id,
            )
        except EventNotRetained:
            return None
        events = self._shape_stored(subscription, missed.events, self._clock())
        return MissedEvents(position, events, missed.continue_after)

    def _read_unheard_sessions(self, subscription: Subscription) -> MissedEvents | None:
        """
        Return all that was said in the sessions that a hub has not heard of; None if the journal has lost it.

        To a person it is enough to know how things stand; a hub's readers may have been there all the time.
        """
        now = self._clock()
        unheard = self._sessions.unheard_by_hub()
        kept = [session.session_id for session in self._journal.list_sessions(open_only=False)]
        stored = [session_id for session_id in kept if session_id in unheard]
        first = [*self._journal.read(session=stored[0], limit=1)] if stored else []
        if not first:
            return None
        registry = subscription.stream.registry
        try:
            later = read_missed(
                self._journal,
                first[0].event_id,
                subscription.terms,
                registry,
                self._replay_bounds,
                lambda session_id: session_id in unheard,
            ).events
        except EventNotRetained:
            return None
        messages = [codec.decode(first[0].data, registry), *later]
        events = [message for message in messages if isinstance(message, Envelope)]
        return MissedEvents(subscription.start_position, self._shape_stored(subscription, events, now))

    @property
    def _replay_bounds(self) -> ReplayBounds:
        settings = self._delivery.settings
        return ReplayBounds(max_entries=settings.max_replay_entries, max_lag=settings.max_lag)

    def _shape_stored(self, subscription: Subscription, events: Iterable[Envelope], now: float) -> list[ShapedEvent]:
        stream = subscription.stream
        visible = [stream.hide_members(event) for event in events if not self._sessions.is_withheld(event)]
        shaped = shape_all(visible, subscription.terms, stream.registry, now)
        return [ShapedEvent(Position(IN_JOURNAL, event.event_id), event, codec.encode(event), now) for event in shaped]

    # -- what a reader is sent -------------------------------------------------------------------

    def _resume(self, subscription: Subscription, missed: MissedEvents, snapshots: Snapshots) -> None:
        """Queue what a reader missed, in order; before it, once more, the open prompts that it has (CF-007, CF-091)."""
        now = self._clock()
        missed_ids = {shaped.event.event_id for shaped in missed.events}
        prompts = [event for event in self._pending_prompts(snapshots) if event.event_id not in missed_ids]
        if missed.continue_after:
            prompts = [event for event in prompts if not self._comes_after(event.event_id, missed.continue_after)]
        self._enqueue(subscription, _shape_each(subscription.stream, prompts, now), missed, [])

    def _comes_after(self, event_id: str, other_id: str) -> bool:
        """Whether an event is in the journal, and after another one that is there."""
        try:
            return self._journal.count_after(event_id) < self._journal.count_after(other_id)
        except EventNotRetained:
            return False

    def _greet(
        self,
        subscription: Subscription,
        missed: MissedEvents | None,
        snapshots: Snapshots,
        *,
        is_lost: bool,
        is_again: bool,
    ) -> None:
        """
        Queue how each session began, its prompts, what was missed if that is known, and how each session stands.

        What was missed may tell a session from its beginning. Of that session nothing
        else is sent: nothing comes before the beginning (CF-146). A prompt that was
        missed stays at its place (§8.2.3).
        """
        now = self._clock()
        stream = subscription.stream
        events = [shaped.event for shaped in missed.events] if missed is not None else []
        told_sessions = {event.session_id for event in events if isinstance(event, SessionStarted)}
        missed_ids = {event.event_id for event in events}

        joined = [snapshot for session, snapshot in snapshots if session.session_id not in told_sessions]
        starts = [snapshot.started for snapshot in joined if snapshot.started is not None]
        told_sessions |= {session.session_id for session, _ in snapshots}
        starts += self._read_starts(stream, [event.session_id for event in events], told_sessions)
        prompts = [event for event in self._pending_prompts(snapshots) if event.event_id not in missed_ids]
        # A new reader is told "idle" by the start alone; one that lost its place has to hear that it did (SSE-020).
        states = [
            snapshot.state for snapshot in joined if snapshot.state and (is_lost or snapshot.state.to_state != "idle")
        ]
        if states:
            members: dict[str, object] = {"resync": True}
            if is_again:  # which is no sign that something is missing
                members["repeated"] = True
                states = [codec.replace(state, extensions={PREFIX: members}) for state in states]
            if stream.position.event_id:  # the state itself is no place to resume after
                members = {**members, "position": stream.position.event_id}
                states[-1] = codec.replace(states[-1], extensions={PREFIX: members})
        first = _shape_each(stream, [*starts, *prompts], now)
        self._enqueue(subscription, first, missed, _shape_each(stream, states, now))
        if starts or states:
            greeting_ids = [shaped.event.event_id for shaped, _ in subscription.queue][:-1]
        else:
            greeting_ids = [shaped.event.event_id for shaped in first]
        subscription.greeting_ids = tuple(greeting_ids)

    def _read_starts(self, stream: Stream, session_ids: Iterable[str], told: Collection[str]) -> list[Envelope]:
        """Return how sessions began that are over, so that who heard only their end knows what has ended (TR-039)."""
        starts = []
        for session_id in dict.fromkeys(session_ids):
            entries = [] if session_id in told else [*self._journal.read(session=session_id, limit=1)]
            messages = [codec.decode(entry.data, stream.registry) for entry in entries]
            starts += [stream.hide_members(message) for message in messages if isinstance(message, SessionStarted)]
        return starts

    def _enqueue(
        self,
        subscription: Subscription,
        first: list[ShapedEvent],
        missed: MissedEvents | None,
        last: list[ShapedEvent],
    ) -> None:
        """Queue events that are no place to resume after, then what was missed, then more of the former."""
        stream = subscription.stream
        stream.start_trailing(subscription, stream.position if missed is None else missed.position)
        subscription.ring_serial = stream.position.serial
        subscription.queue.extend((shaped, None) for shaped in first)
        if missed is not None:
            self._enqueue_missed(subscription, missed)
        subscription.queue.extend((shaped, None) for shaped in last)

    @staticmethod
    def _enqueue_missed(subscription: Subscription, missed: MissedEvents) -> None:
        is_rate_limited = subscription.terms.max_events_per_second is not UNSET
        subscription.stream.enqueue(subscription, missed.events, condensed=is_rate_limited)
        subscription.continue_after = missed.continue_after


def _find_position(subscription: Subscription, after: str) -> Position:
    """Return where to go on: after the event that was named, or where the subscription began."""
    if not after:
        return subscription.start_position
    return subscription.resume_aliases.get(after) or Position(subscription.stream.find_serial(after), after)


def _shape_each(stream: Stream, events: Iterable[Envelope], now: float) -> list[ShapedEvent]:
    """Shape each event by itself, so that it is what it was when it was live."""
    return [
        stream.build_shaped_event(shaped, now)
        for event in events
        for shaped in shape_all([stream.hide_members(event)], stream.terms, stream.registry, now)
    ]


# -- reading the journal -----------------------------------------------------------------------

_PIECE_ID: Final = re.compile(PIECE_ID_PATTERN)
PUBLISH_MARGIN: Final = 1.0  # seconds between appending an event and publishing it, at the most


PORTION: Final = 250  # entries that are read, shaped and written at once for one reader
MAX_OVERTAKEN: Final = 1000  # entries before an event among which those are looked for that it may have overtaken

StoredEvent = tuple[JournalEntry, Envelope]


class StoredEvents(msgspec.Struct, frozen=True):
    """Events from the journal, in order, and the one after which it has more of them, if it does."""

    events: list[Envelope]
    continue_after: str = ""


class ReplayBounds(msgspec.Struct, frozen=True):
    """How far back to read: a number of entries, and the seconds for which a rate may have held an event."""

    max_entries: int
    max_lag: float


def shape_all(events: Iterable[Envelope], terms: Capabilities, registry: Registry, now: float) -> list[Envelope]:
    """Return events as these terms receive them, with nothing held at the end."""
    shaper = Shaper(terms, registry=registry)
    shaped = [out for event in events for out in shaper.push(event, now)]
    return [*shaped, *shaper.flush(now)]


def read_missed(
    journal: Journal,
    after: str,
    terms: Capabilities,
    registry: Registry,
    bounds: ReplayBounds,
    is_audible: Callable[[str], bool],
    *,
    portion: int | None = None,
    is_continued: bool = False,
    is_start: bool = False,
) -> StoredEvents:
    """
    Return the events after one, of the audible sessions, in order and not yet shaped.

    Without an id, all of them. With the id of a piece from inside an event (see
    :mod:`aaep.shaping.merge`), that event too, for the rest of it is missing. ``portion``
    is how many entries to read at most; ``is_continued`` says that this is not the first portion.
    ``is_start`` says that the reader started after the event: nothing before it is owed.
    What is not committed is left out: a reader that resumes after it would have lost its place if
    this process ended now. It comes once it is committed, like all that is published from here on.

    Raises :exc:`~aaep.journal.base.EventNotRetained`, also when there is too much to read in all.
    """
    limit = bounds.max_entries if portion is None or not after else min(portion, bounds.max_entries)
    piece = _PIECE_ID.fullmatch(after)
    try:
        entries = journal.read(after or None, limit=limit + 1, committed=True)
        piece = None
    except EventNotRetained:
        if piece is None:
            raise
        after = piece[1]
        entries = journal.read(after, limit=limit + 1, committed=True)
    has_more = len(entries) > limit
    is_first = has_more and not is_continued  # what is too much is told before any of it
    if is_first and (limit == bounds.max_entries or journal.count_after(after) > bounds.max_entries):
        raise build_not_retained_error(after)
    events: list[Envelope] = []
    if after and not is_continued:
        earlier, resumed = _read_earlier(journal, after, terms, registry, bounds, is_audible)
        if resumed is not None and not is_start:
            events += find_overtaken(earlier, resumed, terms, bounds.max_lag)
        if piece is not None:
            if resumed is None:
                raise build_not_retained_error(after)
            events.append(resumed[1])
    stored = _decode_entries(entries[:limit], registry, is_audible)
    continue_after = ""
    if has_more:
        stored = _cut_portion(stored)
        continue_after = stored[-1][0].event_id if stored else entries[limit - 1].event_id
    events += [event for _, event in stored]
    return StoredEvents(_drop_unanswerable(events), continue_after)


def _cut_portion(stored: list[StoredEvent]) -> list[StoredEvent]:
    """Leave out, at the end, what is shaped together with what follows it: text that goes on, and prompts."""
    count = len(stored)
    while count and isinstance(stored[count - 1][1], (OutputStreaming, AwaitingConfirmation, AwaitingClarification)):
        count -= 1
    return stored[:count] or stored


def find_overtaken(
    earlier: Iterable[StoredEvent], resumed: StoredEvent, terms: Capabilities, max_lag: float
) -> list[Envelope]:
    """
    Return the events before one that may yet have been held when that one was sent.

    These are the text of outputs that were not complete, except the event's own; and, of
    other sessions, what may have been waiting for the rate, or between the journal and
    the readers. An event that is not output was preceded by all the output of its
    agent in its session (CF-074), so none of that is looked for.
    """
    resumed_entry, resumed_event = resumed
    since = resumed_entry.at - (max_lag if _is_paced(terms) else PUBLISH_MARGIN)
    found: list[tuple[float, int, Envelope]] = []
    open_outputs: dict[tuple[object, ...], list[tuple[float, int, Envelope]]] = {}
    for number, (entry, event) in enumerate(earlier):
        may_have_waited = entry.at >= since and event.session_id != resumed_event.session_id
        if not isinstance(event, OutputStreaming):
            if may_have_waited:
                found.append((entry.at, number, event))
        elif not _is_covered(event, resumed_event):
            key = _output_key(event)
            open_outputs.setdefault(key, []).append((entry.at, number, event))
            if event.complete:
                chunks = open_outputs.pop(key)
                if may_have_waited:
                    found += chunks
    in_order = sorted([*found, *chain.from_iterable(open_outputs.values())], key=itemgetter(0, 1))
    return [event for _, _, event in in_order]


def _output_key(event: OutputStreaming) -> tuple[object, ...]:
    return event.session_id, event.producer.agent_id, event.output_id


def _is_covered(chunk: OutputStreaming, event: Envelope) -> bool:
    """Whether all of a chunk went out before a later event did."""
    if isinstance(event, OutputStreaming):
        return _output_key(chunk) == _output_key(event)
    return (chunk.session_id, chunk.producer.agent_id) == (event.session_id, event.producer.agent_id)


def _read_earlier(
    journal: Journal,
    after: str,
    terms: Capabilities,
    registry: Registry,
    bounds: ReplayBounds,
    is_audible: Callable[[str], bool],
) -> tuple[list[StoredEvent], StoredEvent | None]:
    """Return the events before one that it may have overtaken, and that event itself."""
    # Text that waits for the end of its output may have waited for long; other text leaves with its sentence.
    waits_long = _is_paced(terms) or get_member(terms, "coalesce_boundaries") == ["completion"]
    entries = journal.read_before(after, limit=bounds.max_entries if waits_long else MAX_OVERTAKEN)
    since = entries[-1].at - bounds.max_lag
    recent_sessions = {entry.session_id for entry in entries if entry.at >= since}
    stored = _decode_entries((entry for entry in entries if entry.session_id in recent_sessions), registry, is_audible)
    resumed = stored.pop() if stored and stored[-1][0] is entries[-1] else None
    return stored, resumed


def _is_paced(terms: Capabilities) -> bool:
    return get_member(terms, "max_events_per_second") is not None or terms.cognitive_load == "low"


def _decode_entries(
    entries: Iterable[JournalEntry], registry: Registry, is_audible: Callable[[str], bool]
) -> list[StoredEvent]:
    stored = []
    for entry in entries:
        if not is_audible(entry.session_id):
            continue
        try:
            event = codec.decode(entry.data, registry)
        except ProtocolError:
            _log.warning("An entry of the journal is not a usable event and is left out.")
            continue
        if isinstance(event, Envelope):
            stored.append((entry, event))
    return stored


def _drop_unanswerable(events: Sequence[Envelope]) -> list[Envelope]:
    """Drop prompts that were never shown because nobody could answer: they are not shown afterwards (CF-001)."""
    void_tokens = {
        attend_member(event, "reply_token") for event in events if attend_member(event, "outcome") == "no_reply_channel"
    }
    return [
        event
        for event in events
        if not (isinstance(event, (AwaitingConfirmation, AwaitingClarification)) and event.reply_token in void_tokens)
    ]
