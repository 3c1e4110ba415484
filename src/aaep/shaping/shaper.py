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
from ..text.sentences import Boundary, Hint, cut
from .merge import Line, Stretch, condense, fold, foldable, mergeable, restamped, resync
from .tailor import Tailor

__all__ = ["Shaper", "condense"]

_RANKS: Final = {"none": 0, "word": 1, "sentence": 2, "paragraph": 3, "completion": 4}
_BOUNDARIES: Final[tuple[Boundary, ...]] = ("paragraph", "sentence", "word")  # coarsest first
_PROSE: Final = frozenset([UNSET, "text/plain", "text/markdown", "text/html"])
_BACKGROUND: Final = frozenset([StateChanged, ProgressUpdated, ExtensionEvent, UnknownEvent])  # CF-056: may be left out
_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)
_LONG: Final = 4096  # a chunk from here on is measured in bytes (CF-082)


class _Session:
    """What the shaper remembers of a session."""

    __slots__ = ("asking", "left_out", "open", "stamp")

    def __init__(self) -> None:
        self.stamp = ""  # the latest timestamp told
        self.open: dict[tuple[str, object], Stretch] = {}  # by agent and output
        self.left_out: dict[str, StateChanged] = {}  # by agent: what a low cognitive load has not been told
        self.asking: set[str] = set()  # agents with a prompt that, for all we know, is open


class _Chain:
    """What an agent's changes of state come to, as they were told."""

    __slots__ = ("implied", "moved", "state")

    def __init__(self) -> None:
        self.state = "idle"  # the last that was told
        self.moved = False  # whether any was
        self.implied: set[str] = set()  # states that events since then imply


class Shaper:
    """One stream, on the terms given; ``hold`` is how long a sentence may wait for what follows it, in seconds."""

    def __init__(self, terms: Capabilities, *, hold: float = 1.0, known: Registry = BUNDLED) -> None:
        terms = with_defaults(terms)
        self._hold = hold
        self._tailor = Tailor(terms, known)
        self._filters = terms.event_filters if isinstance(terms.event_filters, EventFilters) else EventFilters()
        self._admitted: dict[str, bool] = {}
        self._low = terms.cognitive_load == "low"
        wanted = terms.coalesce_boundaries if terms.coalesce_boundaries is not UNSET else ()
        self._honoured = tuple(one for one in _BOUNDARIES if one in wanted)
        self._single = "none" in wanted and not self._low
        self._finest: Boundary = "completion" if self._low or not self._honoured else self._honoured[-1]
        # CF-077: evenly spaced, one at a time. None without a rate (CAP-003).
        rate = terms.max_events_per_second
        self._interval = None if rate is UNSET else 1.0 / rate
        self._fewer = self._low or self._interval is not None  # not every change of state is told
        self._told: dict[str, dict[str, _Chain]] = {}  # then, by session and agent
        self._free = float("-inf")  # when the next event may go
        self._line = Line()
        self._sessions: dict[str, _Session] = {}
        self._waiting: dict[Stretch, _Session] = {}  # text that goes out by itself if nothing follows

    # -- the interface ---------------------------------------------------------------------

    def push(self, event: Envelope, now: float) -> list[Envelope]:
        """Take the next event; what goes out now, in order."""
        out = self._taken(event, now)
        return self._linked(out) if self._fewer else out

    def _taken(self, event: Envelope, now: float) -> list[Envelope]:
        kind = type(event)
        at_once = event.urgency == "critical" or kind in CRITICAL
        if not at_once:
            admitted = self._admitted.get(event.type)
            if not (self._admits(event.type) if admitted is None else admitted):
                return self._gone(event, now) if kind in TERMINAL else []
            if self._low and self._leaves_out(event):
                return []
            at_once = kind in TERMINAL or (kind is StateChanged and event.extensions is not UNSET and resync(event))
        if not self._tailor.fits(event):
            event = self._tailor.fitted(event)
        session = self._sessions.get(event.session_id)
        if session is None:
            session = self._sessions[event.session_id] = _Session()
        if at_once:
            return self._at_once(event, session, now)
        if kind is OutputStreaming:
            out = self._fragment(event, session, now)  # type: ignore[arg-type]  # it is one
        elif kind is StateChanged and session.asking:
            out = self._answers(event, session)  # type: ignore[arg-type]  # it is one
        elif session.open or session.left_out:
            out = self._after(event, session)
        else:
            session.stamp = max(session.stamp, event.timestamp)
            out = [event]
        return out if self._interval is None else self._paced(out, now)

    def advance(self, now: float) -> list[Envelope]:
        """What has become due."""
        out: list[Envelope] = []
        for stretch in sorted(self._waiting, key=lambda one: one.deadline):
            if stretch.deadline <= now:
                session = self._waiting.pop(stretch)
                length = stretch.soft
                out += self._dated(stretch.give(length, self._label(stretch.text[:length], stretch)), session)
        return out if self._interval is None else self._linked(self._paced(out, now))

    @property
    def due(self) -> float | None:
        """When :meth:`advance` has something to do; None if nothing waits for time to pass."""
        if not self._waiting and not self._line.items:
            return None
        times = [stretch.deadline for stretch in self._waiting]
        if self._line:
            times.append(self._free)
        return min(times)

    def lag(self, now: float) -> float:
        """How long the oldest event that the rate holds up has waited (CF-073)."""
        return max(0.0, now - self._line.since()) if self._line else 0.0

    def flush(self, now: float, session_id: str | None = None) -> list[Envelope]:
        """Everything held of a session, or of all, whatever the rate."""
        chosen = self._sessions if session_id is None else [session_id]
        out: list[Envelope] = []
        for one in chosen:
            session = self._sessions.get(one)
            if session is not None:
                out += self._sealed(session)
        if self._interval is None:
            return out
        for event in out:
            self._line.add(event, now)
        out = self._line.take(session_id)
        self._free = max(now, self._free) + self._interval * len(out)
        return self._linked(out)

    # -- order and rate --------------------------------------------------------------------

    def _admits(self, type_: str) -> bool:
        if len(self._admitted) > 1000:
            self._admitted.clear()  # types of strangers are without number
        self._admitted[type_] = admits(self._filters, type_)
        return self._admitted[type_]

    def _at_once(self, event: Envelope, session: _Session, now: float) -> list[Envelope]:
        """CF-074: what is held of the session, and then the event itself."""
        out = self._sealed(session) if session.open else []
        if session.left_out:
            out += self._presupposed(event, session)
        session.stamp = max(session.stamp, event.timestamp)
        kind = type(event)
        if kind in _PROMPTS:
            session.asking.add(event.producer.agent_id)
        elif kind in TERMINAL:
            del self._sessions[event.session_id]
        if self._interval is None:
            out.append(event)
            return out
        for one in out:
            self._line.add(one, now)
        out = [*self._line.take(event.session_id), event]
        self._free = max(now, self._free) + self._interval * len(out)  # the overshoot is debt
        return out

    def _gone(self, event: Envelope, now: float) -> list[Envelope]:
        """A session has ended, and these terms do not want to know; what is held of it comes all the same."""
        session = self._sessions.pop(event.session_id, None)
        self._told.pop(event.session_id, None)
        out = self._sealed(session) if session is not None else []
        return out if self._interval is None else self._paced(out, now)

    def _paced(self, out: Sequence[Envelope], now: float) -> list[Envelope]:
        """CF-073, CF-077: what the rate lets go; the rest waits, in order."""
        interval = self._interval or 0.0
        for event in out:
            self._line.add(event, now)
        sent: list[Envelope] = []
        while self._line and now >= self._free:
            sent.append(self._line.pop())
            self._free = now + interval
        return sent

    def _linked(self, out: list[Envelope]) -> list[Envelope]:
        """
        C-36: each change of state leaves the one that was told last, and the first leaves idle (STATE-001).

        Those in between may have been left out, or folded into nothing. What was implied since counts too (C-31).
        """
        for place, event in enumerate(out):
            if isinstance(event, SessionStarted):
                self._told[event.session_id] = {}
            elif isinstance(event, TERMINAL):
                self._told.pop(event.session_id, None)
            elif event.session_id in self._told:
                chain = self._told[event.session_id].setdefault(event.producer.agent_id, _Chain())
                if not isinstance(event, StateChanged):
                    chain.implied.add(IMPLIED.get(type(event), ""))
                    continue
                if event.from_state not in (chain.state, "awaiting_input", *(chain.implied if chain.moved else ())):
                    out[place] = codec.replace(event, from_state=chain.state)
                chain.state, chain.moved, chain.implied = event.to_state, True, set()
        return out

    def _after(self, event: Envelope, session: _Session) -> list[Envelope]:
        """The event, after the text that its agent had begun."""
        agent = event.producer.agent_id
        out: list[Envelope] = []
        for key in [key for key in session.open if key[0] == agent]:
            out += self._seal(session, key)
        if isinstance(event, StateChanged):
            out += self._states(event, session)
        else:
            out += [*self._presupposed(event, session), event]
        session.stamp = max(session.stamp, event.timestamp)
        return out

    def _answers(self, event: StateChanged, session: _Session) -> list[Envelope]:
        """HITL-019, CLAR-021: a change while a prompt is open may be what tells its end, so it stays by itself."""
        agent = event.producer.agent_id
        if agent in session.asking:
            self._line.part(event.session_id, agent)
            if event.from_state == "awaiting_input":
                session.asking.discard(agent)
        return self._after(event, session)

    # -- a low cognitive load --------------------------------------------------------------

    def _leaves_out(self, event: Envelope) -> bool:
        """CF-056; a change of state is remembered, so that the chain stays whole (C-36)."""
        if event.urgency != "background" or type(event) not in _BACKGROUND:
            return False
        if not isinstance(event, StateChanged):
            return True
        if event.from_state == "awaiting_input" or event.extensions is not UNSET:
            return False  # CF-025: it may close a prompt, or tell how one was closed
        session = self._sessions.get(event.session_id)
        if session is None:
            session = self._sessions[event.session_id] = _Session()
        if event.producer.agent_id in session.asking:
            return False
        before = session.left_out.pop(event.producer.agent_id, None)
        event = self._tailor.fitted(event)
        now_left = event if before is None else fold(before, event)
        if now_left is not None:
            session.left_out[event.producer.agent_id] = now_left
        return True

    def _states(self, event: StateChanged, session: _Session) -> list[Envelope]:
        before = session.left_out.pop(event.producer.agent_id, None)
        if before is None:
            return [event]
        if not foldable(before, event):
            return [restamped(before, session.stamp), event]
        both = fold(before, event)
        return [] if both is None else [both]

    def _presupposed(self, event: Envelope, session: _Session) -> list[Envelope]:
        """A change of state that was left out, if it is critical to know it, or output or a tool follows (LVL-007)."""
        # Whatever state it is: told behind a tool that runs, it would seem to leave the tool (TOOL-007).
        if not session.left_out:
            return []
        agent = event.producer.agent_id
        before = session.left_out.get(agent)
        turning = isinstance(event, (StateChanged, *CRITICAL))
        if before is None or not (turning or type(event) in IMPLIED):
            return []
        del session.left_out[agent]
        before = restamped(before, session.stamp)
        session.stamp = max(session.stamp, before.timestamp)
        return [before]

    # -- output ----------------------------------------------------------------------------

    def _fragment(self, event: OutputStreaming, session: _Session, now: float) -> list[Envelope]:
        key = (event.producer.agent_id, event.output_id)
        stretch = session.open.get(key)
        out = self._presupposed(event, session)
        if stretch is not None and (not mergeable(event) or not stretch.takes(event)):
            out, stretch = out + self._seal(session, key), None
        if self._single or not mergeable(event):
            return [*out, *self._dated([self._labelled(event)], session)]
        if stretch is None:
            if len(event.chunk) < _LONG and (event.complete or self._ends(event)):
                return out + self._dated([self._whole(event)], session)
            stretch = session.open[key] = Stretch(event.position)
        stretch.add(event)
        self._waiting.pop(stretch, None)
        if event.complete:
            del session.open[key]
            return out + self._dated(stretch.give(len(stretch.text), "completion"), session)
        length, hint = self._boundary(stretch, event)
        if length:
            out += self._dated(stretch.give(length, hint), session)
        if len(stretch.text) >= _LONG:
            out += self._dated(stretch.full(), session)
        self._arm(stretch, session, now)
        return out

    def _grain(self, event: OutputStreaming) -> Boundary:
        """Where this kind of text is cut."""
        if event.content_type in _PROSE or self._finest == "completion":
            return self._finest
        return "paragraph"

    def _boundary(self, stretch: Stretch, event: OutputStreaming) -> tuple[int, Hint]:
        """How much of the text has come to a boundary that is wanted, and to which (CF-071, CF-080)."""
        grain = self._grain(event)
        if grain == "completion":
            return 0, "none"
        if self._ends(event):
            return len(stretch.text), self._honour(event.coalesce_hint)  # type: ignore[arg-type]  # it says so
        tongue = output_language(event)
        length = cut(stretch.text, grain, language=tongue)
        if not length:
            return 0, "none"
        for coarser in self._honoured:
            if _RANKS[coarser] > _RANKS[grain] and cut(stretch.text, coarser, language=tongue) == length:
                return length, coarser
        return length, self._honour(grain)

    def _ends(self, event: OutputStreaming) -> bool:
        """Whether the producer says of a chunk that it ends where these terms want it to."""
        said = event.coalesce_hint
        grain = self._grain(event)
        return said in _BOUNDARIES and grain != "completion" and _RANKS[said] >= _RANKS[grain]

    def _whole(self, event: OutputStreaming) -> OutputStreaming:
        """A chunk that is a piece by itself."""
        hint = "completion" if event.complete else self._honour(event.coalesce_hint)  # type: ignore[arg-type]  # _ends
        return event if event.coalesce_hint == hint else msgspec.structs.replace(event, coalesce_hint=hint)

    def _honour(self, reached: Hint) -> Hint:
        """CAP-022: a boundary by the name of the coarsest that was asked for and that it is too."""
        return next((one for one in self._honoured if _RANKS[one] <= _RANKS[reached]), reached)

    def _arm(self, stretch: Stretch, session: _Session, now: float) -> None:
        """C-82: a sentence that waits only for what follows it does not wait for ever."""
        text, event = stretch.text, stretch.last
        if not text or event is None or text[-1].isalnum():
            return
        grain = self._grain(event)
        if grain != "completion":
            stretch.soft = _soft(text, grain, output_language(event))
            if stretch.soft:
                stretch.deadline = now + self._hold
                self._waiting[stretch] = session

    def _labelled(self, event: OutputStreaming) -> OutputStreaming:
        """C-46: every chunk says what it ends at, and only the last says completion."""
        if event.coalesce_hint is not UNSET:
            return event
        return msgspec.structs.replace(event, coalesce_hint="completion" if event.complete else "none")

    def _label(self, text: str, stretch: Stretch) -> Hint:
        """What a text ends at that goes out before its time."""
        event = stretch.last
        if event is None or not text or text[-1].isalnum():
            return "none"
        for boundary in _BOUNDARIES:
            if _soft(text, boundary, output_language(event)) == len(text):
                return self._honour(boundary)
        return "none"

    def _seal(self, session: _Session, key: tuple[str, object]) -> list[Envelope]:
        """What there is of an output, since something else has to come after it."""
        stretch = session.open.pop(key)
        self._waiting.pop(stretch, None)
        if not stretch.fragments:
            return []
        return self._dated(stretch.give(len(stretch.text), self._label(stretch.text, stretch)), session)

    def _sealed(self, session: _Session) -> list[Envelope]:
        return [event for key in [*session.open] for event in self._seal(session, key)]

    def _dated(self, pieces: Iterable[OutputStreaming], session: _Session) -> list[Envelope]:
        """Text as it goes out: not dated before what was told already."""
        out: list[Envelope] = []
        for piece in pieces:
            out.append(restamped(piece, session.stamp))
            session.stamp = max(session.stamp, out[-1].timestamp)
        return out


def _soft(text: str, boundary: Boundary, tongue: str) -> int:
    """How much of the text can be given out if what follows it begins anew."""
    follows = " X" if boundary == "sentence" and not text[-1].isspace() else "X"
    return min(len(text), cut(text + follows, boundary, language=tongue))
