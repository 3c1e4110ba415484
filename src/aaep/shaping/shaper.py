"""
Shape a stream of events to one set of honoured terms. Chapter 5, CF-049 … CF-056, CF-071 … CF-083

A :class:`Shaper` takes every event once, in order, and returns what a reader on
these terms is to receive. Several sessions and agents pass through one Shaper.
It reads no clock: ``now`` is an argument, and ``next_deadline`` says when to call
:meth:`Shaper.advance`.

Events pass the filter first, then :mod:`aaep.shaping.adapter`; output is then
buffered up to the requested boundaries, and last comes the rate limit.

* Critical events and those that end a session are sent at once. What is held
  of that session is sent before them; the rate limit counts all of it as debt
  (CF-074).
* Output is sent at the finest boundary of the terms, since every coarser
  boundary is one of that kind too (CF-080); a producer's own hint about a
  chunk's end is trusted. Text that is not prose (code, JSON) is cut at blank
  lines only. ``none`` means no merging, except of text that the rate holds up.
* At a low cognitive load background events are omitted, apart from lifecycle,
  tools and output, and output waits for its completion (CF-056). An omitted
  state change is folded into the next one, or sent before output or a tool:
  Level 1 demands that much (LVL-007), and sent after it, it would be wrong.
* ``pace_wpm`` changes nothing here: nothing about it is a MUST (CAP-041,
  CAP-042), and a subscriber that wants more merging asks for it by boundary or
  rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from ..protocol import codec
from ..protocol.events import (
    CRITICAL,
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    ExtensionEvent,
    OutputStreaming,
    ProgressUpdated,
    SessionStarted,
    StateChanged,
    UnknownEvent,
    output_language,
)
from ..protocol.extensions import Registry
from ..protocol.messages import Capabilities, EventFilters
from ..protocol.rules import BUNDLED_REGISTRY
from ..protocol.states import IMPLIED_STATES
from ..protocol.subscription import is_admitted, with_defaults
from ..text.sentences import Boundary, CoalesceHint, find_boundary
from .adapter import EventAdapter
from .merge import (
    MergingQueue,
    OutputBuffer,
    can_fold_states,
    clamp_timestamp,
    condense,
    fold_states,
    is_mergeable,
    is_resync,
)

__all__ = ["Shaper", "condense"]

_BOUNDARY_RANKS: Final = {"none": 0, "word": 1, "sentence": 2, "paragraph": 3, "completion": 4}
_BOUNDARIES: Final[tuple[Boundary, ...]] = ("paragraph", "sentence", "word")  # coarsest first
_PROSE_TYPES: Final = frozenset([UNSET, "text/plain", "text/markdown", "text/html"])
_OMITTABLE_EVENTS: Final = frozenset([StateChanged, ProgressUpdated, ExtensionEvent, UnknownEvent])  # CF-056
_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)
_LARGE_CHUNK_CHARACTERS: Final = 4096  # a chunk of this length or more is measured in bytes (CF-082)
_MAX_CACHED_TYPES: Final = 1000  # event types whose admission is remembered


class _ShapedSession:
    """State that the shaper keeps for one session."""

    __slots__ = ("asking_agents", "buffers", "last_timestamp", "omitted_states")

    def __init__(self) -> None:
        self.last_timestamp = ""  # the latest that was sent
        self.buffers: dict[tuple[str, object], OutputBuffer] = {}  # by agent and output
        self.omitted_states: dict[str, StateChanged] = {}  # by agent: the change a low cognitive load left out
        self.asking_agents: set[str] = set()  # agents with a prompt that may be open


class _StateChain:
    """The state changes of one agent as they were sent."""

    __slots__ = ("has_changed", "implied_states", "state")

    def __init__(self) -> None:
        self.state = "idle"  # the last that was sent
        self.has_changed = False  # whether any change was sent
        self.implied_states: set[str] = set()  # states that later events imply


class Shaper:
    """
    Shapes one stream of events to the given terms.

    ``hold`` is how long a finished sentence may wait for the text after it, in seconds.
    """

    def __init__(self, terms: Capabilities, *, hold: float = 0.3, registry: Registry = BUNDLED_REGISTRY) -> None:
        terms = with_defaults(terms)
        self._hold = hold
        self._adapter = EventAdapter(terms, registry)
        self._filters = terms.event_filters if isinstance(terms.event_filters, EventFilters) else EventFilters()
        self._admission_cache: dict[str, bool] = {}
        self._is_low_load = terms.cognitive_load == "low"
        wanted = terms.coalesce_boundaries if terms.coalesce_boundaries is not UNSET else ()
        self._wanted_boundaries = tuple(boundary for boundary in _BOUNDARIES if boundary in wanted)
        self._is_unbuffered = "none" in wanted and not self._is_low_load
        self._finest_boundary: Boundary = (
            "completion" if self._is_low_load or not self._wanted_boundaries else self._wanted_boundaries[-1]
        )
        # CF-077: evenly spaced, one at a time. None without a rate (CAP-003).
        rate = terms.max_events_per_second
        self._interval = None if rate is UNSET else 1.0 / rate
        self._may_omit_states = self._is_low_load or self._interval is not None
        self._state_chains: dict[str, dict[str, _StateChain]] = {}  # by session and agent, if states may be omitted
        self._next_send_at = float("-inf")  # when the rate allows the next event
        self._queue = MergingQueue()
        self._sessions: dict[str, _ShapedSession] = {}
        # Buffers whose text is sent at their deadline if nothing follows.
        self._waiting_buffers: dict[OutputBuffer, _ShapedSession] = {}

    # -- public methods ---------------------------------------------------------------------

    def push(self, event: Envelope, now: float) -> list[Envelope]:
        """Take the next event and return the events to send now, in order."""
        outgoing = self._process(event, now)
        return self._link_states(outgoing) if self._may_omit_states else outgoing

    def advance(self, now: float) -> list[Envelope]:
        """Return the events that have become due."""
        outgoing: list[Envelope] = []
        for buffer in sorted(self._waiting_buffers, key=lambda buffer: buffer.deadline):
            if buffer.deadline <= now:
                session = self._waiting_buffers.pop(buffer)
                length = buffer.soft_length
                hint = self._boundary_hint(buffer.text[:length], buffer)
                outgoing += self._clamp_timestamps(buffer.take(length, hint), session)
        return outgoing if self._interval is None else self._link_states(self._apply_rate(outgoing, now))

    @property
    def next_deadline(self) -> float | None:
        """The time at which to call :meth:`advance` next; None if nothing waits for time to pass."""
        if not self._waiting_buffers and not self._queue.items:
            return None
        deadlines = [buffer.deadline for buffer in self._waiting_buffers]
        if self._queue:
            deadlines.append(self._next_send_at)
        return min(deadlines)

    def lag(self, now: float) -> float:
        """Return how many seconds the oldest event that the rate holds up has waited (CF-073)."""
        return max(0.0, now - self._queue.oldest_time()) if self._queue else 0.0

    def flush(self, now: float, session_id: str | None = None) -> list[Envelope]:
        """Return everything held of one session, or of all sessions, regardless of the rate."""
        session_ids = self._sessions if session_id is None else [session_id]
        outgoing: list[Envelope] = []
        for chosen_id in session_ids:
            session = self._sessions.get(chosen_id)
            if session is not None:
                outgoing += self._flush_buffers(session)
        if self._interval is None:
            return outgoing
        for event in outgoing:
            self._queue.add(event, now)
        outgoing = self._queue.drain(session_id)
        self._next_send_at = max(now, self._next_send_at) + self._interval * len(outgoing)
        return self._link_states(outgoing)

    # -- ordering and rate limit ------------------------------------------------------------

    def _process(self, event: Envelope, now: float) -> list[Envelope]:
        event_type = type(event)
        is_immediate = event.urgency == "critical" or event_type in CRITICAL
        if not is_immediate:
            cached = self._admission_cache.get(event.type)
            if not (self._is_admitted(event.type) if cached is None else cached):
                return self._close_session(event, now) if event_type in TERMINAL else []
            if self._is_low_load and self._try_omit(event):
                return []
            is_immediate = event_type in TERMINAL or (
                event_type is StateChanged and event.extensions is not UNSET and is_resync(event)
            )
        if not self._adapter.is_suitable(event):
            event = self._adapter.adapt(event)
        session = self._sessions.get(event.session_id)
        if session is None:
            session = self._sessions[event.session_id] = _ShapedSession()
        if is_immediate:
            return self._send_immediately(event, session, now)
        if event_type is OutputStreaming:
            outgoing = self._buffer_chunk(event, session, now)  # type: ignore[arg-type]  # it is one
        elif event_type is StateChanged and session.asking_agents:
            outgoing = self._send_unmerged(event, session)  # type: ignore[arg-type]  # it is one
        elif session.buffers or session.omitted_states:
            outgoing = self._send_after_output(event, session)
        else:
            session.last_timestamp = max(session.last_timestamp, event.timestamp)
            outgoing = [event]
        return outgoing if self._interval is None else self._apply_rate(outgoing, now)

    def _is_admitted(self, type_: str) -> bool:
        if len(self._admission_cache) > _MAX_CACHED_TYPES:
            self._admission_cache.clear()  # peers may use any number of types
        self._admission_cache[type_] = is_admitted(self._filters, type_)
        return self._admission_cache[type_]

    def _send_immediately(self, event: Envelope, session: _ShapedSession, now: float) -> list[Envelope]:
        """Return what is held of the session, and then the event itself (CF-074)."""
        outgoing = self._flush_buffers(session) if session.buffers else []
        if session.omitted_states:
            outgoing += self._release_omitted(event, session)
        session.last_timestamp = max(session.last_timestamp, event.timestamp)
        event_type = type(event)
        if event_type in _PROMPTS:
            session.asking_agents.add(event.producer.agent_id)
        elif event_type in TERMINAL:
            del self._sessions[event.session_id]
        if self._interval is None:
            outgoing.append(event)
            return outgoing
        for held_event in outgoing:
            self._queue.add(held_event, now)
        outgoing = [*self._queue.drain(event.session_id), event]
        self._next_send_at = max(now, self._next_send_at) + self._interval * len(outgoing)  # the overshoot is debt
        return outgoing

    def _close_session(self, event: Envelope, now: float) -> list[Envelope]:
        """Drop a session whose end the terms filter out, and return what is held of it."""
        session = self._sessions.pop(event.session_id, None)
        self._state_chains.pop(event.session_id, None)
        outgoing = self._flush_buffers(session) if session is not None else []
        return outgoing if self._interval is None else self._apply_rate(outgoing, now)

    def _apply_rate(self, outgoing: Sequence[Envelope], now: float) -> list[Envelope]:
        """Return what the rate lets pass now; the rest waits in order (CF-073, CF-077)."""
        interval = self._interval or 0.0
        for event in outgoing:
            self._queue.add(event, now)
        sent: list[Envelope] = []
        while self._queue and now >= self._next_send_at:
            sent.append(self._queue.pop())
            self._next_send_at = now + interval
        return sent

    def _link_states(self, outgoing: list[Envelope]) -> list[Envelope]:
        """
        Make each state change leave the state that was sent last, the first one idle. C-36, STATE-001

        Changes in between may have been omitted or folded away. States that events
        implied since then count as well (C-31).
        """
        for index, event in enumerate(outgoing):
            if isinstance(event, SessionStarted):
                self._state_chains[event.session_id] = {}
            elif isinstance(event, TERMINAL):
                self._state_chains.pop(event.session_id, None)
            elif event.session_id in self._state_chains:
                chain = self._state_chains[event.session_id].setdefault(event.producer.agent_id, _StateChain())
                if not isinstance(event, StateChanged):
                    chain.implied_states.add(IMPLIED_STATES.get(type(event), ""))
                    continue
                implied_states = chain.implied_states if chain.has_changed else ()
                if event.from_state not in (chain.state, "awaiting_input", *implied_states):
                    outgoing[index] = codec.replace(event, from_state=chain.state)
                chain.state = event.to_state
                chain.has_changed = True
                chain.implied_states = set()
        return outgoing

    def _send_after_output(self, event: Envelope, session: _ShapedSession) -> list[Envelope]:
        """Return the event after the buffered text of its agent."""
        agent_id = event.producer.agent_id
        outgoing: list[Envelope] = []
        for key in [key for key in session.buffers if key[0] == agent_id]:
            outgoing += self._flush_buffer(session, key)
        if isinstance(event, StateChanged):
            outgoing += self._fold_omitted(event, session)
        else:
            outgoing += [*self._release_omitted(event, session), event]
        session.last_timestamp = max(session.last_timestamp, event.timestamp)
        return outgoing

    def _send_unmerged(self, event: StateChanged, session: _ShapedSession) -> list[Envelope]:
        """Return a change during an open prompt by itself, for it may tell the prompt's end (HITL-019, CLAR-021)."""
        agent_id = event.producer.agent_id
        if agent_id in session.asking_agents:
            self._queue.stop_merging(event.session_id, agent_id)
            if event.from_state == "awaiting_input":
                session.asking_agents.discard(agent_id)
        return self._send_after_output(event, session)

    # -- low cognitive load -----------------------------------------------------------------

    def _try_omit(self, event: Envelope) -> bool:
        """Omit a background event (CF-056); a state change is remembered to keep the chain intact (C-36)."""
        if event.urgency != "background" or type(event) not in _OMITTABLE_EVENTS:
            return False
        if not isinstance(event, StateChanged):
            return True
        if event.from_state == "awaiting_input" or event.extensions is not UNSET:
            return False  # CF-025: it may close a prompt, or carry the outcome of one
        session = self._sessions.get(event.session_id)
        if session is None:
            session = self._sessions[event.session_id] = _ShapedSession()
        if event.producer.agent_id in session.asking_agents:
            return False
        previous = session.omitted_states.pop(event.producer.agent_id, None)
        event = self._adapter.adapt(event)
        omitted = event if previous is None else fold_states(previous, event)
        if omitted is not None:
            session.omitted_states[event.producer.agent_id] = omitted
        return True

    def _fold_omitted(self, event: StateChanged, session: _ShapedSession) -> list[Envelope]:
        """Fold the omitted state change of the agent into this one."""
        omitted = session.omitted_states.pop(event.producer.agent_id, None)
        if omitted is None:
            return [event]
        if not can_fold_states(omitted, event):
            return [clamp_timestamp(omitted, session.last_timestamp), event]
        folded = fold_states(omitted, event)
        return [] if folded is None else [folded]

    def _release_omitted(self, event: Envelope, session: _ShapedSession) -> list[Envelope]:
        """Return the omitted state change before a critical event, output or a tool (LVL-007)."""
        # Sent after a tool has started, any change would seem to leave the tool (TOOL-007).
        if not session.omitted_states:
            return []
        agent_id = event.producer.agent_id
        omitted = session.omitted_states.get(agent_id)
        is_turning = isinstance(event, (StateChanged, *CRITICAL))
        if omitted is None or not (is_turning or type(event) in IMPLIED_STATES):
            return []
        del session.omitted_states[agent_id]
        omitted = clamp_timestamp(omitted, session.last_timestamp)
        session.last_timestamp = max(session.last_timestamp, omitted.timestamp)
        return [omitted]

    # -- buffering output -------------------------------------------------------------------

    def _buffer_chunk(self, event: OutputStreaming, session: _ShapedSession, now: float) -> list[Envelope]:
        """Add a chunk to its output's buffer and return the text that can be sent."""
        key = (event.producer.agent_id, event.output_id)
        buffer = session.buffers.get(key)
        outgoing = self._release_omitted(event, session)
        if event.position == 0 and session.buffers:  # what was written before another output began comes before it
            for other in [other for other in session.buffers if other[0] == key[0] and other != key]:
                outgoing += self._flush_buffer(session, other)
        if buffer is not None and (not is_mergeable(event) or not buffer.can_append(event)):
            outgoing += self._flush_buffer(session, key)
            buffer = None
        if self._is_unbuffered or not is_mergeable(event):
            return [*outgoing, *self._clamp_timestamps([self._with_default_hint(event)], session)]
        if buffer is None:
            if len(event.chunk) < _LARGE_CHUNK_CHARACTERS and (event.complete or self._is_at_boundary(event)):
                return outgoing + self._clamp_timestamps([self._with_boundary_hint(event)], session)
            buffer = session.buffers[key] = OutputBuffer(event.position)
        buffer.append(event)
        self._waiting_buffers.pop(buffer, None)
        if event.complete:
            del session.buffers[key]
            return outgoing + self._clamp_timestamps(buffer.take(len(buffer.text), "completion"), session)
        length, hint = self._find_boundary(buffer, event)
        if length:
            outgoing += self._clamp_timestamps(buffer.take(length, hint), session)
        if len(buffer.text) >= _LARGE_CHUNK_CHARACTERS:
            outgoing += self._clamp_timestamps(buffer.take_overflow(), session)
        self._schedule_flush(buffer, session, now)
        return outgoing

    def _boundary_for(self, event: OutputStreaming) -> Boundary:
        """Return the boundary at which text of this content type is cut."""
        if event.content_type in _PROSE_TYPES or self._finest_boundary == "completion":
            return self._finest_boundary
        return "paragraph"

    def _find_boundary(self, buffer: OutputBuffer, event: OutputStreaming) -> tuple[int, CoalesceHint]:
        """Return the length of the text up to its last wanted boundary, and that boundary (CF-071, CF-080)."""
        boundary = self._boundary_for(event)
        if boundary == "completion":
            return 0, "none"
        if self._is_at_boundary(event):
            return len(buffer.text), self._coarsest_wanted(event.coalesce_hint)  # type: ignore[arg-type]  # _is_at_boundary checked it
        language = output_language(event)
        length = find_boundary(buffer.text, boundary, language=language)
        if not length:
            return 0, "none"
        for coarser in self._wanted_boundaries:
            if (
                _BOUNDARY_RANKS[coarser] > _BOUNDARY_RANKS[boundary]
                and find_boundary(buffer.text, coarser, language=language) == length
            ):
                return length, coarser
        return length, self._coarsest_wanted(boundary)

    def _is_at_boundary(self, event: OutputStreaming) -> bool:
        """Whether the producer's hint says that the chunk ends at a boundary of these terms."""
        hint = event.coalesce_hint
        boundary = self._boundary_for(event)
        return hint in _BOUNDARIES and boundary != "completion" and _BOUNDARY_RANKS[hint] >= _BOUNDARY_RANKS[boundary]

    def _with_boundary_hint(self, event: OutputStreaming) -> OutputStreaming:
        """Return a chunk that is sent by itself, with the hint that these terms use."""
        hint: CoalesceHint = "completion"
        if not event.complete:
            hint = self._coarsest_wanted(event.coalesce_hint)  # type: ignore[arg-type]  # _is_at_boundary checked it
        return event if event.coalesce_hint == hint else msgspec.structs.replace(event, coalesce_hint=hint)

    def _coarsest_wanted(self, reached: CoalesceHint) -> CoalesceHint:
        """Return the coarsest requested boundary that a boundary satisfies too (CAP-022)."""
        rank = _BOUNDARY_RANKS[reached]
        return next((wanted for wanted in self._wanted_boundaries if _BOUNDARY_RANKS[wanted] <= rank), reached)

    def _schedule_flush(self, buffer: OutputBuffer, session: _ShapedSession, now: float) -> None:
        """Set the deadline for a sentence that waits only for the text after it (C-82)."""
        text = buffer.text
        event = buffer.last_fragment
        if not text or event is None or text[-1].isalnum():
            return
        boundary = self._boundary_for(event)
        if boundary != "completion":
            buffer.soft_length = _soft_length(text, boundary, output_language(event))
            if buffer.soft_length:
                buffer.deadline = now + self._hold
                self._waiting_buffers[buffer] = session

    def _with_default_hint(self, event: OutputStreaming) -> OutputStreaming:
        """Return a chunk with a hint: completion on the last, none on the others (C-46)."""
        if event.coalesce_hint is not UNSET:
            return event
        return msgspec.structs.replace(event, coalesce_hint="completion" if event.complete else "none")

    def _boundary_hint(self, text: str, buffer: OutputBuffer) -> CoalesceHint:
        """Return the boundary at which text ends that is sent before a wanted boundary."""
        event = buffer.last_fragment
        if event is None or not text or text[-1].isalnum():
            return "none"
        for boundary in _BOUNDARIES:
            if _soft_length(text, boundary, output_language(event)) == len(text):
                return self._coarsest_wanted(boundary)
        return "none"

    def _flush_buffer(self, session: _ShapedSession, key: tuple[str, object]) -> list[Envelope]:
        """Remove an output's buffer and return its text."""
        buffer = session.buffers.pop(key)
        self._waiting_buffers.pop(buffer, None)
        if not buffer.fragments:
            return []
        hint = self._boundary_hint(buffer.text, buffer)
        return self._clamp_timestamps(buffer.take(len(buffer.text), hint), session)

    def _flush_buffers(self, session: _ShapedSession) -> list[Envelope]:
        return [event for key in [*session.buffers] for event in self._flush_buffer(session, key)]

    def _clamp_timestamps(self, pieces: Iterable[OutputStreaming], session: _ShapedSession) -> list[Envelope]:
        """Return pieces of text dated no earlier than what the session has sent."""
        outgoing: list[Envelope] = []
        for piece in pieces:
            outgoing.append(clamp_timestamp(piece, session.last_timestamp))
            session.last_timestamp = max(session.last_timestamp, outgoing[-1].timestamp)
        return outgoing


def _soft_length(text: str, boundary: Boundary, language: str) -> int:
    """Return how much of the text can be sent if the text after it starts a new word or sentence."""
    continuation = " X" if boundary == "sentence" and not text[-1].isspace() else "X"
    return min(len(text), find_boundary(text + continuation, boundary, language=language))
