"""
What one set of honoured terms receives. Chapter 5, CF-049 … CF-056, CF-071 … CF-083

A :class:`Shaper` takes every event once, in order, and gives out what a reader
on these terms is to have. Several sessions and agents pass through one Shaper.
It reads no clock: ``now`` is an argument, and ``due`` says when to call
:meth:`Shaper.advance`.

First comes the filter, then :mod:`aaep.shaping.tailor`, then output is gathered to
the boundaries that were asked for, and last the rate lets events go.

* Critical events pass at once, and so do those that end a session. What is held
  of that session goes before them; the rate is in debt for all of it (CF-074).
* Output goes out at the finest boundary of the terms, since the coarser ones
  are boundaries of that kind too (CF-080); what a producer itself says of a
  chunk's end is believed. Text that is not prose (code, JSON) is cut at blank
  lines only. ``none`` means no merging, except of text that the rate holds up.
* At a low cognitive load background events are left out, apart from lifecycle,
  tools and output, and output waits for its completion (CF-056). A change of
  state that was left out is folded into the next, or told after all before output
  or a tool: Level 1 demands that much (LVL-007), and behind it it would not be true.
* ``pace_wpm`` changes nothing here: nothing about it is a MUST (CAP-041,
  CAP-042), and whoever wants more merging asks for it by boundary or rate.
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
from ..protocol.rules import BUNDLED
from ..protocol.states import IMPLIED
from ..protocol.subscription import admits, with_defaults
from ..text.sentences import Boundary, CoalesceHint, find_boundary
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
from .tailor import EventAdapter

__all__ = ["Shaper", "condense"]

_BOUNDARY_RANKS: Final = {"none": 0, "word": 1, "sentence": 2, "paragraph": 3, "completion": 4}
_BOUNDARIES: Final[tuple[Boundary, ...]] = ("paragraph", "sentence", "word")  # coarsest first
_PROSE_TYPES: Final = frozenset([UNSET, "text/plain", "text/markdown", "text/html"])
_OMITTABLE_EVENTS: Final = frozenset(
    [StateChanged, ProgressUpdated, ExtensionEvent, UnknownEvent]
)  # CF-056: may be left out
_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)
_LARGE_CHUNK_CHARACTERS: Final = 4096  # a chunk from here on is measured in bytes (CF-082)


class _ShapedSession:
    """What the shaper remembers of a session."""

    __slots__ = ("asking_agents", "buffers", "last_timestamp", "omitted_states")

    def __init__(self) -> None:
        self.last_timestamp = ""  # the latest timestamp told
        self.buffers: dict[tuple[str, object], OutputBuffer] = {}  # by agent and output
        self.omitted_states: dict[str, StateChanged] = {}  # by agent: what a low cognitive load has not been told
        self.asking_agents: set[str] = set()  # agents with a prompt that, for all we know, is open


class _StateChain:
    """What an agent's changes of state come to, as they were told."""

    __slots__ = ("has_changed", "implied_states", "state")

    def __init__(self) -> None:
        self.state = "idle"  # the last that was told
        self.has_changed = False  # whether any was
        self.implied_states: set[str] = set()  # states that events since then imply


class Shaper:
    """One stream, on the terms given; ``hold`` is how long a sentence may wait for what follows it, in seconds."""

    def __init__(self, terms: Capabilities, *, hold: float = 1.0, registry: Registry = BUNDLED) -> None:
        terms = with_defaults(terms)
        self._hold = hold
        self._adapter = EventAdapter(terms, registry)
        self._filters = terms.event_filters if isinstance(terms.event_filters, EventFilters) else EventFilters()
        self._admission_cache: dict[str, bool] = {}
        self._is_low_load = terms.cognitive_load == "low"
        wanted = terms.coalesce_boundaries if terms.coalesce_boundaries is not UNSET else ()
        self._wanted_boundaries = tuple(one for one in _BOUNDARIES if one in wanted)
        self._is_unbuffered = "none" in wanted and not self._is_low_load
        self._finest_boundary: Boundary = (
            "completion" if self._is_low_load or not self._wanted_boundaries else self._wanted_boundaries[-1]
        )
        # CF-077: evenly spaced, one at a time. None without a rate (CAP-003).
        rate = terms.max_events_per_second
        self._interval = None if rate is UNSET else 1.0 / rate
        self._may_omit_states = self._is_low_load or self._interval is not None  # not every change of state is told
        self._state_chains: dict[str, dict[str, _StateChain]] = {}  # then, by session and agent
        self._next_send_at = float("-inf")  # when the next event may go
        self._queue = MergingQueue()
        self._sessions: dict[str, _ShapedSession] = {}
        self._waiting_buffers: dict[
            OutputBuffer, _ShapedSession
        ] = {}  # text that goes out by itself if nothing follows

    # -- the interface ---------------------------------------------------------------------

    def push(self, event: Envelope, now: float) -> list[Envelope]:
        """Take the next event; what goes out now, in order."""
        out = self._process(event, now)
        return self._link_states(out) if self._may_omit_states else out

    def _process(self, event: Envelope, now: float) -> list[Envelope]:
        kind = type(event)
        at_once = event.urgency == "critical" or kind in CRITICAL
        if not at_once:
            admitted = self._admission_cache.get(event.type)
            if not (self._is_admitted(event.type) if admitted is None else admitted):
                return self._close_session(event, now) if kind in TERMINAL else []
            if self._is_low_load and self._try_omit(event):
                return []
            at_once = kind in TERMINAL or (kind is StateChanged and event.extensions is not UNSET and is_resync(event))
        if not self._adapter.is_suitable(event):
            event = self._adapter.adapt(event)
        session = self._sessions.get(event.session_id)
        if session is None:
            session = self._sessions[event.session_id] = _ShapedSession()
        if at_once:
            return self._send_immediately(event, session, now)
        if kind is OutputStreaming:
            out = self._buffer_chunk(event, session, now)  # type: ignore[arg-type]  # it is one
        elif kind is StateChanged and session.asking_agents:
            out = self._send_unmerged(event, session)  # type: ignore[arg-type]  # it is one
        elif session.buffers or session.omitted_states:
            out = self._send_after_output(event, session)
        else:
            session.last_timestamp = max(session.last_timestamp, event.timestamp)
            out = [event]
        return out if self._interval is None else self._apply_rate(out, now)

    def advance(self, now: float) -> list[Envelope]:
        """What has become due."""
        out: list[Envelope] = []
        for stretch in sorted(self._waiting_buffers, key=lambda one: one.deadline):
            if stretch.deadline <= now:
                session = self._waiting_buffers.pop(stretch)
                length = stretch.soft_length
                out += self._clamp_timestamps(
                    stretch.take(length, self._boundary_hint(stretch.text[:length], stretch)), session
                )
        return out if self._interval is None else self._link_states(self._apply_rate(out, now))

    @property
    def next_deadline(self) -> float | None:
        """When :meth:`advance` has something to do; None if nothing waits for time to pass."""
        if not self._waiting_buffers and not self._queue.items:
            return None
        times = [stretch.deadline for stretch in self._waiting_buffers]
        if self._queue:
            times.append(self._next_send_at)
        return min(times)

    def lag(self, now: float) -> float:
        """How long the oldest event that the rate holds up has waited (CF-073)."""
        return max(0.0, now - self._queue.oldest_time()) if self._queue else 0.0

    def flush(self, now: float, session_id: str | None = None) -> list[Envelope]:
        """Everything held of a session, or of all, whatever the rate."""
        chosen = self._sessions if session_id is None else [session_id]
        out: list[Envelope] = []
        for one in chosen:
            session = self._sessions.get(one)
            if session is not None:
                out += self._flush_buffers(session)
        if self._interval is None:
            return out
        for event in out:
            self._queue.add(event, now)
        out = self._queue.drain(session_id)
        self._next_send_at = max(now, self._next_send_at) + self._interval * len(out)
        return self._link_states(out)

    # -- order and rate --------------------------------------------------------------------

    def _is_admitted(self, type_: str) -> bool:
        if len(self._admission_cache) > 1000:
            self._admission_cache.clear()  # types of strangers are without number
        self._admission_cache[type_] = admits(self._filters, type_)
        return self._admission_cache[type_]

    def _send_immediately(self, event: Envelope, session: _ShapedSession, now: float) -> list[Envelope]:
        """CF-074: what is held of the session, and then the event itself."""
        out = self._flush_buffers(session) if session.buffers else []
        if session.omitted_states:
            out += self._release_omitted(event, session)
        session.last_timestamp = max(session.last_timestamp, event.timestamp)
        kind = type(event)
        if kind in _PROMPTS:
            session.asking_agents.add(event.producer.agent_id)
        elif kind in TERMINAL:
            del self._sessions[event.session_id]
        if self._interval is None:
            out.append(event)
            return out
        for one in out:
            self._queue.add(one, now)
        out = [*self._queue.drain(event.session_id), event]
        self._next_send_at = max(now, self._next_send_at) + self._interval * len(out)  # the overshoot is debt
        return out

    def _close_session(self, event: Envelope, now: float) -> list[Envelope]:
        """A session has ended, and these terms do not want to know; what is held of it comes all the same."""
        session = self._sessions.pop(event.session_id, None)
        self._state_chains.pop(event.session_id, None)
        out = self._flush_buffers(session) if session is not None else []
        return out if self._interval is None else self._apply_rate(out, now)

    def _apply_rate(self, out: Sequence[Envelope], now: float) -> list[Envelope]:
        """CF-073, CF-077: what the rate lets go; the rest waits, in order."""
        interval = self._interval or 0.0
        for event in out:
            self._queue.add(event, now)
        sent: list[Envelope] = []
        while self._queue and now >= self._next_send_at:
            sent.append(self._queue.pop())
            self._next_send_at = now + interval
        return sent

    def _link_states(self, out: list[Envelope]) -> list[Envelope]:
        """
        C-36: each change of state leaves the one that was told last, and the first leaves idle (STATE-001).

        Those in between may have been left out, or folded into nothing. What was implied since counts too (C-31).
        """
        for place, event in enumerate(out):
            if isinstance(event, SessionStarted):
                self._state_chains[event.session_id] = {}
            elif isinstance(event, TERMINAL):
                self._state_chains.pop(event.session_id, None)
            elif event.session_id in self._state_chains:
                chain = self._state_chains[event.session_id].setdefault(event.producer.agent_id, _StateChain())
                if not isinstance(event, StateChanged):
                    chain.implied_states.add(IMPLIED.get(type(event), ""))
                    continue
                if event.from_state not in (
                    chain.state,
                    "awaiting_input",
                    *(chain.implied_states if chain.has_changed else ()),
                ):
                    out[place] = codec.replace(event, from_state=chain.state)
                chain.state, chain.has_changed, chain.implied_states = event.to_state, True, set()
        return out

    def _send_after_output(self, event: Envelope, session: _ShapedSession) -> list[Envelope]:
        """The event, after the text that its agent had begun."""
        agent = event.producer.agent_id
        out: list[Envelope] = []
        for key in [key for key in session.buffers if key[0] == agent]:
            out += self._flush_buffer(session, key)
        if isinstance(event, StateChanged):
            out += self._fold_omitted(event, session)
        else:
            out += [*self._release_omitted(event, session), event]
        session.last_timestamp = max(session.last_timestamp, event.timestamp)
        return out

    def _send_unmerged(self, event: StateChanged, session: _ShapedSession) -> list[Envelope]:
        """HITL-019, CLAR-021: a change while a prompt is open may be what tells its end, so it stays by itself."""
        agent = event.producer.agent_id
        if agent in session.asking_agents:
            self._queue.stop_merging(event.session_id, agent)
            if event.from_state == "awaiting_input":
                session.asking_agents.discard(agent)
        return self._send_after_output(event, session)

    # -- a low cognitive load --------------------------------------------------------------

    def _try_omit(self, event: Envelope) -> bool:
        """CF-056; a change of state is remembered, so that the chain stays whole (C-36)."""
        if event.urgency != "background" or type(event) not in _OMITTABLE_EVENTS:
            return False
        if not isinstance(event, StateChanged):
            return True
        if event.from_state == "awaiting_input" or event.extensions is not UNSET:
            return False  # CF-025: it may close a prompt, or tell how one was closed
        session = self._sessions.get(event.session_id)
        if session is None:
            session = self._sessions[event.session_id] = _ShapedSession()
        if event.producer.agent_id in session.asking_agents:
            return False
        before = session.omitted_states.pop(event.producer.agent_id, None)
        event = self._adapter.adapt(event)
        now_left = event if before is None else fold_states(before, event)
        if now_left is not None:
            session.omitted_states[event.producer.agent_id] = now_left
        return True

    def _fold_omitted(self, event: StateChanged, session: _ShapedSession) -> list[Envelope]:
        before = session.omitted_states.pop(event.producer.agent_id, None)
        if before is None:
            return [event]
        if not can_fold_states(before, event):
            return [clamp_timestamp(before, session.last_timestamp), event]
        both = fold_states(before, event)
        return [] if both is None else [both]

    def _release_omitted(self, event: Envelope, session: _ShapedSession) -> list[Envelope]:
        """A change of state that was left out, if it is critical to know it, or output or a tool follows (LVL-007)."""
        # Whatever state it is: told behind a tool that runs, it would seem to leave the tool (TOOL-007).
        if not session.omitted_states:
            return []
        agent = event.producer.agent_id
        before = session.omitted_states.get(agent)
        turning = isinstance(event, (StateChanged, *CRITICAL))
        if before is None or not (turning or type(event) in IMPLIED):
            return []
        del session.omitted_states[agent]
        before = clamp_timestamp(before, session.last_timestamp)
        session.last_timestamp = max(session.last_timestamp, before.timestamp)
        return [before]

    # -- output ----------------------------------------------------------------------------

    def _buffer_chunk(self, event: OutputStreaming, session: _ShapedSession, now: float) -> list[Envelope]:
        key = (event.producer.agent_id, event.output_id)
        stretch = session.buffers.get(key)
        out = self._release_omitted(event, session)
        if stretch is not None and (not is_mergeable(event) or not stretch.can_append(event)):
            out, stretch = out + self._flush_buffer(session, key), None
        if self._is_unbuffered or not is_mergeable(event):
            return [*out, *self._clamp_timestamps([self._with_default_hint(event)], session)]
        if stretch is None:
            if len(event.chunk) < _LARGE_CHUNK_CHARACTERS and (event.complete or self._is_at_boundary(event)):
                return out + self._clamp_timestamps([self._with_boundary_hint(event)], session)
            stretch = session.buffers[key] = OutputBuffer(event.position)
        stretch.append(event)
        self._waiting_buffers.pop(stretch, None)
        if event.complete:
            del session.buffers[key]
            return out + self._clamp_timestamps(stretch.take(len(stretch.text), "completion"), session)
        length, hint = self._find_boundary(stretch, event)
        if length:
            out += self._clamp_timestamps(stretch.take(length, hint), session)
        if len(stretch.text) >= _LARGE_CHUNK_CHARACTERS:
            out += self._clamp_timestamps(stretch.take_overflow(), session)
        self._schedule_flush(stretch, session, now)
        return out

    def _boundary_for(self, event: OutputStreaming) -> Boundary:
        """Where this kind of text is cut."""
        if event.content_type in _PROSE_TYPES or self._finest_boundary == "completion":
            return self._finest_boundary
        return "paragraph"

    def _find_boundary(self, stretch: OutputBuffer, event: OutputStreaming) -> tuple[int, CoalesceHint]:
        """How much of the text has come to a boundary that is wanted, and to which (CF-071, CF-080)."""
        grain = self._boundary_for(event)
        if grain == "completion":
            return 0, "none"
        if self._is_at_boundary(event):
            return len(stretch.text), self._coarsest_wanted(event.coalesce_hint)  # type: ignore[arg-type]  # it says so
        tongue = output_language(event)
        length = find_boundary(stretch.text, grain, language=tongue)
        if not length:
            return 0, "none"
        for coarser in self._wanted_boundaries:
            if (
                _BOUNDARY_RANKS[coarser] > _BOUNDARY_RANKS[grain]
                and find_boundary(stretch.text, coarser, language=tongue) == length
            ):
                return length, coarser
        return length, self._coarsest_wanted(grain)

    def _is_at_boundary(self, event: OutputStreaming) -> bool:
        """Whether the producer says of a chunk that it ends where these terms want it to."""
        said = event.coalesce_hint
        grain = self._boundary_for(event)
        return said in _BOUNDARIES and grain != "completion" and _BOUNDARY_RANKS[said] >= _BOUNDARY_RANKS[grain]

    def _with_boundary_hint(self, event: OutputStreaming) -> OutputStreaming:
        """A chunk that is a piece by itself."""
        hint = "completion" if event.complete else self._coarsest_wanted(event.coalesce_hint)  # type: ignore[arg-type]  # _ends
        return event if event.coalesce_hint == hint else msgspec.structs.replace(event, coalesce_hint=hint)

    def _coarsest_wanted(self, reached: CoalesceHint) -> CoalesceHint:
        """CAP-022: a boundary by the name of the coarsest that was asked for and that it is too."""
        return next(
            (one for one in self._wanted_boundaries if _BOUNDARY_RANKS[one] <= _BOUNDARY_RANKS[reached]), reached
        )

    def _schedule_flush(self, stretch: OutputBuffer, session: _ShapedSession, now: float) -> None:
        """C-82: a sentence that waits only for what follows it does not wait for ever."""
        text, event = stretch.text, stretch.last_fragment
        if not text or event is None or text[-1].isalnum():
            return
        grain = self._boundary_for(event)
        if grain != "completion":
            stretch.soft_length = _soft_length(text, grain, output_language(event))
            if stretch.soft_length:
                stretch.deadline = now + self._hold
                self._waiting_buffers[stretch] = session

    def _with_default_hint(self, event: OutputStreaming) -> OutputStreaming:
        """C-46: every chunk says what it ends at, and only the last says completion."""
        if event.coalesce_hint is not UNSET:
            return event
        return msgspec.structs.replace(event, coalesce_hint="completion" if event.complete else "none")

    def _boundary_hint(self, text: str, stretch: OutputBuffer) -> CoalesceHint:
        """What a text ends at that goes out before its time."""
        event = stretch.last_fragment
        if event is None or not text or text[-1].isalnum():
            return "none"
        for boundary in _BOUNDARIES:
            if _soft_length(text, boundary, output_language(event)) == len(text):
                return self._coarsest_wanted(boundary)
        return "none"

    def _flush_buffer(self, session: _ShapedSession, key: tuple[str, object]) -> list[Envelope]:
        """What there is of an output, since something else has to come after it."""
        stretch = session.buffers.pop(key)
        self._waiting_buffers.pop(stretch, None)
        if not stretch.fragments:
            return []
        return self._clamp_timestamps(
            stretch.take(len(stretch.text), self._boundary_hint(stretch.text, stretch)), session
        )

    def _flush_buffers(self, session: _ShapedSession) -> list[Envelope]:
        return [event for key in [*session.buffers] for event in self._flush_buffer(session, key)]

    def _clamp_timestamps(self, pieces: Iterable[OutputStreaming], session: _ShapedSession) -> list[Envelope]:
        """Text as it goes out: not dated before what was told already."""
        out: list[Envelope] = []
        for piece in pieces:
            out.append(clamp_timestamp(piece, session.last_timestamp))
            session.last_timestamp = max(session.last_timestamp, out[-1].timestamp)
        return out


def _soft_length(text: str, boundary: Boundary, tongue: str) -> int:
    """How much of the text can be given out if what follows it begins anew."""
    follows = " X" if boundary == "sentence" and not text[-1].isspace() else "X"
    return min(len(text), find_boundary(text + follows, boundary, language=tongue))
