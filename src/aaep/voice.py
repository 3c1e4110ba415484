"""
How one session's events leave the agent: built, judged, kept, and only then published.

Nothing illegal gets out. An event that breaks a rule, by itself or by coming
now, raises :exc:`LocalProtocolError` and leaves no trace.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

import msgspec

from .attend import ATTEND, PREFIX
from .catalogue import grade
from .errors import LocalProtocolError, Violation
from .events import CORE_EVENTS, Envelope, LocalizationHints, ProducerInfo, StateChanged
from .extensions import Registry
from .fields import AAEP_VERSION, CORE_CONTEXT
from .journal import Journal
from .sending import MAY_BE_SENT, examine, remembered
from .session import ANY, MOVES
from .session import Session as Order
from .stamps import identifier, timestamp
from .summaries import STATES, Said, direction_of

__all__ = ["Publisher", "Voice"]

E = TypeVar("E", bound=Envelope)

_encode: Final = msgspec.json.Encoder().encode
# How events in the middle of a session are judged, and what they do.
_MIDDLE: Final = {cls: MOVES.get(cls, ANY)[1:] for cls in CORE_EVENTS.values() if MOVES.get(cls, ANY)[0] == "other"}
_OURS: Final = (CORE_CONTEXT, ATTEND.context)


class Publisher(Protocol):
    """Where events go once they are kept."""

    def publish(self, source: Any, event: Envelope, data: bytes, *, withheld: bool = False) -> None: ...


class Voice:
    """
    Speaks for one session. Its lock is the session's: what is said under it is said in one breath.

    ``order`` knows what may come next; ``clock`` is monotonic and measures
    deadlines, ``wall`` is for timestamps only (CF-029).
    """

    def __init__(
        self,
        source: Any,
        producer: ProducerInfo,
        journal: Journal,
        hub: Publisher,
        *,
        language: str,
        known: Registry,
        clock: Callable[[], float],
        wall: Callable[[], float],
        tell: Callable[[Envelope], None] | None = None,
    ) -> None:
        self.session_id = identifier("sess_")
        self.order = Order(self.session_id)
        self.lock = threading.RLock()
        self.clock, self.wall = clock, wall
        self.language = language
        self._source, self._producer = source, producer
        self._journal, self._hub, self._tell = journal, hub, tell
        self._known = known
        self._last = 0.0
        self.last_event_id = ""
        self.overdue: Callable[[], None] = _nothing  # concludes the question whose time has run out
        # By language and direction, the hints and what was found sound on the events that have them.
        self._hints: dict[tuple[str, str], tuple[LocalizationHints, set[object]]] = {}
        self._usual: tuple[LocalizationHints, set[object]] | None = None  # for ASCII, unless it would run the other way

    def say(
        self,
        cls: type[E],
        said: Said | None = None,
        *,
        urgency: str = "normal",
        primary: str | None = None,
        attend: dict[str, Any] | None = None,
        withheld: bool = False,
        **members: Any,
    ) -> E:
        """Send an event of one of the twelve types."""
        if said is not None:
            members["summary_terse"], members["summary_normal"], members["summary_detailed"] = said
        if attend is not None:
            members["extensions"] = {PREFIX: attend}
            members["context"] = _OURS
        with self.lock:
            if self.order.deadline is not None:
                self._settle()
            wall = self.wall()
            self._last = max(self._last, wall)
            # Nearly always the text turns out to be ASCII, and is in the session's own language.
            usual = self._usual if primary is None else None
            hints, sound = usual or self._language(primary or self.language, members)
            event = cls(
                aaep_version=AAEP_VERSION,
                event_id=identifier("evt_"),
                session_id=self.session_id,
                timestamp=timestamp(self._last),
                producer=self._producer,
                verbosity="normal",
                urgency=urgency,  # type: ignore[arg-type]  # the shape is checked before it is sent
                localization_hints=hints,
                **members,
            )
            data = _encode(event)
            if usual is not None and not data.isascii():
                hints, sound = self._language(self.language, members)
                event = msgspec.structs.replace(event, localization_hints=hints)
                data = _encode(event)
            self._send(event, data, withheld, wall, sound if attend is None else None)
        return event

    def stamp(self) -> dict[str, Any]:
        """The envelope of an event that the caller builds himself."""
        with self.lock:
            return {
                "aaep_version": AAEP_VERSION,
                "event_id": identifier("evt_"),
                "session_id": self.session_id,
                "timestamp": self._timestamp(),
                "producer": self._producer,
                "localization_hints": self._language(self.language, {})[0],
            }

    def resync(self, state: str) -> StateChanged:
        """The state as somebody has to hear it who was not there when it changed. Not part of the session (C-36)."""
        terse, normal, detailed = STATES[state]
        return StateChanged(
            **{**self.stamp(), "localization_hints": self._language("en", {})[0]},
            context=_OURS,
            verbosity="normal",
            urgency="background",
            from_state="idle",
            to_state=state,
            summary_terse=terse,
            summary_normal=normal,
            summary_detailed=detailed,
            extensions={PREFIX: {"resync": True}},
        )

    def send(self, event: Envelope, *, withheld: bool = False) -> None:
        """Send an event that is ready; all of it or nothing."""
        with self.lock:
            self._settle()
            self._send(event, _encode(event) if event.raw is None else event.raw, withheld, self.wall())

    def _send(
        self, event: Envelope, data: bytes, withheld: bool, wall: float, sound: set[object] | None = None
    ) -> None:
        """``sound`` is for an event that was made by :meth:`say`: what such events have in common."""
        now, order = self.clock(), self.order
        cls, agent, judge, applied = type(event), None, None, None
        if sound is not None and order.plain and cls in _MIDDLE and event.timestamp >= order.last:
            # Nothing is pending and it is not early: only what is particular to its kind can be wrong with it now.
            agent = order.agents.get(self._producer.agent_id)
            judge, applied = _MIDDLE[cls]
        wrong: list[Violation] = []
        if sound is None or not MAY_BE_SENT[cls](event, data, sound):
            wrong = examine(event, data, self._known, sound)
        if agent is None:
            wrong = [*wrong, *order.judge(event, now)]
        elif judge is not None:
            judge(order, event, agent, wrong)
        if wrong:
            errors = [one for one in wrong if grade(one, strict=True) == "error"]
            if errors:
                raise LocalProtocolError(f"The event {event.type} was not sent.", errors)
        self._journal.append(event.event_id, self.session_id, data, at=wall)
        try:
            if agent is None:
                order.apply(event, now)
            else:
                agent.timestamp = order.last = event.timestamp
                if applied is not None:
                    applied(order, event, agent, now)
        finally:  # it is kept, so it is out, whatever interrupts us here
            self.last_event_id = event.event_id
            self._hub.publish(self._source, event, data, withheld=withheld)
            if self._tell is not None and not withheld:
                self._tell(event)

    def _settle(self) -> None:
        """A question whose time is up is told to be over before anything else is said, though its timer be late."""
        deadline = self.order.deadline
        if deadline is not None and self.clock() >= deadline:
            self.overdue()

    def _timestamp(self) -> str:
        """ENV-027 §3.2.5: never before the last one, whatever the clock does."""
        self._last = max(self._last, self.wall())
        return timestamp(self._last)

    def _language(self, language: str, members: dict[str, Any]) -> tuple[LocalizationHints, set[object]]:
        """C-17: on every event, the language of its text and its direction."""
        if language == self.language and self._usual is not None:
            for one in members.values():
                if type(one) is str and not one.isascii():
                    break
            else:
                return self._usual
        key = (language, direction_of(language, [one for one in members.values() if type(one) is str]))
        known = self._hints.get(key)
        if known is None:
            hints = LocalizationHints(
                primary_language=language,
                text_direction=key[1],  # type: ignore[arg-type]  # one of the three
                available_languages=(language,),
            )
            known = self._hints[key] = (hints, remembered(self._producer, hints))
            if key == (self.language, "ltr"):
                self._usual = known
        return known


def _nothing() -> None:
    """There are no questions yet."""
