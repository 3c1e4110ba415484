"""
How one session's events leave the agent: built, judged, kept, and only then published.

Nothing illegal gets out. An event that breaks a rule, by itself or by coming
now, raises :exc:`LocalProtocolError` and leaves no trace.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import LocalProtocolError, Violation
from ..hub.recovery import caught_up, endings
from ..hub.sessions import Unread
from ..journal.base import Journal, JournalError
from ..protocol.attend_extension import ATTEND, PREFIX
from ..protocol.catalogue import grade
from ..protocol.codec import decode
from ..protocol.consent import PromptState
from ..protocol.events import Envelope, LocalizationHints, ProducerInfo, StateChanged
from ..protocol.extensions import Registry
from ..protocol.fields import AAEP_VERSION, CORE_CONTEXT
from ..protocol.quick import Rest
from ..protocol.session import AgentState
from ..protocol.session import SessionState as Order
from ..runtime.ids import identifier, timestamp
from ..text.summaries import Said, direction_of
from .sending import Manner, Remembered, examine, manner, remembered

__all__ = ["Emitter", "Publisher"]

E = TypeVar("E", bound=Envelope)

_encode: Final = msgspec.json.Encoder().encode
_OURS: Final = (CORE_CONTEXT, ATTEND.context)


class Publisher(Protocol):
    """Where events go once they are kept."""

    def publish(self, session: Any, event: Envelope | Unread, data: bytes, *, withheld: bool = False) -> None: ...


class Emitter:
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
        self._hints: dict[tuple[str, str], tuple[LocalizationHints, Remembered]] = {}
        self._usual: tuple[LocalizationHints, Remembered] | None = None  # for ASCII, unless it would run the other way
        self._agent: AgentState | None = None  # the order's idea of us
        self._torn = self._saying = self._forked = False
        self._manners: dict[tuple[type[Envelope], str], Manner] = {}  # with the usual hints

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
            self._settle()
            hints, sound = self._language(primary or self.language, members)
            event = cls(
                aaep_version=AAEP_VERSION,
                event_id=identifier("evt_"),
                session_id=self.session_id,
                timestamp=self._timestamp(),
                producer=self._producer,
                verbosity="normal",
                urgency=urgency,  # type: ignore[arg-type]  # the shape is checked before it is sent
                localization_hints=hints,
                **members,
            )
            data = _encode(event)
            known = sound if attend is None else None
            self._send(event, data, withheld, known)
            if known is not None and self._usual is not None and hints is self._usual[0]:
                made = manner(event, data, sound)
                if made is not None:
                    self._manners[cls, urgency] = made
        return event

    def add(self, cls: type[Envelope], rest: Rest, urgency: str = "normal") -> None:
        """
        Send an event of the kind that a session has many of; quickly, if it is like others before it.

        ``rest`` is what it has beside the envelope. The caller holds the lock.
        """
        if self._saying:
            self.must_be_free()
        known = self._manners.get((cls, urgency))
        order, agent = self.order, self._agent
        if (
            known is None
            or agent is None
            or not order.plain  # something is pending that it could run into
            or self._tell is not None  # who wants it in one piece
            or not self._add(known, order, agent, rest)
        ):
            given = {name: getattr(rest, name) for name in rest.__struct_fields__}
            self.say(cls, urgency=urgency, **{name: value for name, value in given.items() if value is not UNSET})
            self._agent = self.order.agents.get(self._producer.agent_id)

    def _add(self, known: Manner, order: Order, agent: AgentState, rest: Rest) -> bool:
        """Whether it could be sent in the manner of others. If not, nothing has happened."""
        cls, fits, judge, applied, sound, head, middle, tail, again = known
        pieces = new = None
        if again is not None:
            pieces, new = again.ready.get(again.said(rest)), again.own(rest)
        if pieces is None or new is None:
            payload = _encode(rest)
            if not fits(rest, payload, sound):
                return False
            if again is not None:
                again.keep(rest, head, middle, tail, payload)
        wall = self.wall()
        late = wall if wall > self._last else self._last
        stamp = timestamp(late)
        if stamp < order.last_timestamp:
            return False
        self._saying = True
        try:
            if judge is not None:
                wrong: list[Violation] = []
                judge(order, rest, agent, wrong)
                if wrong:
                    self._saying = False
                    return False
            event_id = identifier("evt_")
            if again is None or pieces is None or new is None:
                data = f"{head}{event_id}{middle}{stamp}{tail}".encode() + payload[1:]
            else:
                data = again.write(pieces, event_id, stamp, new).encode()
            self._journal.append(event_id, self.session_id, data, at=wall)
            self._last = late
            agent.timestamp = order.last_timestamp = stamp
            if applied is not None:
                applied(order, rest, agent, 0.0)  # only questions have to do with time
            self._hub.publish(self._source, Unread(event_id, cls), data)
            self.last_event_id = event_id
        except JournalError:  # as in _send
            self._saying = False
            raise
        except BaseException:
            self._tear()
            raise
        self._saying = False
        return True

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
        """The state for somebody who was not there when it changed."""
        return caught_up(state, **{**self.stamp(), "localization_hints": self._language("en", {})[0]})

    def send(self, event: Envelope, *, withheld: bool = False) -> None:
        """Send an event that is ready; all of it or nothing."""
        with self.lock:
            self._settle()
            self._send(event, _encode(event) if event.raw is None else event.raw, withheld)

    def _send(self, event: Envelope, data: bytes, withheld: bool, sound: Remembered | None = None) -> None:
        """``sound`` is for an event that was made by :meth:`say`: what such events have in common."""
        now = self.clock()
        self._saying = True
        try:
            wrong = [*examine(event, data, self._known, sound), *self.order.judge(event, now)]
            errors = [one for one in wrong if grade(one, strict=True) == "error"]
            if not errors:
                self._keep(event, data, now, withheld)
        except JournalError:  # it was not kept
            self._saying = False
            raise
        except BaseException:
            self._tear()
            raise
        self._saying = False
        if errors:
            raise LocalProtocolError(f"The event {event.type} was not sent.", errors)

    def _keep(self, event: Envelope, data: bytes, now: float, withheld: bool = False) -> None:
        self._journal.append(event.event_id, self.session_id, data, at=self.wall())
        self.order.apply(event, now)
        self._publish(event, data, withheld)

    def _publish(self, event: Envelope, data: bytes, withheld: bool = False) -> None:
        self._hub.publish(self._source, event, data, withheld=withheld)
        self.last_event_id = event.event_id
        self._saying = False
        if self._tell is not None and not withheld:
            self._tell(event)

    def _tear(self) -> None:
        """We were interrupted in the middle of a word, as Ctrl-C does: what was said of it only the journal knows."""
        self._torn, self._saying, self._agent = True, False, None

    def fork(self) -> None:
        """In a process that was forked off: nobody here hears us, and threads that are not here may have the lock."""
        self.lock, self._forked = threading.RLock(), True
        self.order, self._agent = Order(self.session_id), None

    def must_be_free(self) -> None:
        """Raise where speaking would do harm, or would be in vain."""
        if self._saying:  # only a signal handler gets into another event of its session: both would be broken
            raise LocalProtocolError(
                "A signal handler cannot speak in the middle of another event, so nothing was sent. "
                "Raise an exception there, such as KeyboardInterrupt: leaving the block ends the session."
            )
        if self._forked:
            raise LocalProtocolError(
                "The session was started before the process forked, so nobody would hear this and nothing ran. "
                "Make a producer in the process that uses it."
            )

    def mend(self) -> Envelope | None:
        """Learn from the journal what was said, and send what did not get out; gives the last of it."""
        with self.lock:
            last: Envelope | None = None
            now, out, asks = self.clock(), not self.last_event_id, self.order.prompts
            self.order, self._agent, self._torn, self._saying = Order(self.session_id), None, False, False
            for entry in self._journal.read(session=self.session_id, limit=sys.maxsize):
                event = decode(entry.data, self._known)
                assert isinstance(event, Envelope)  # we keep nothing else
                self.order.apply(event, now)
                if out:
                    self._publish(event, entry.data)
                last = event
                out = out or entry.event_id == self.last_event_id
            _carry(asks, self.order)
            return last

    def close(self, last: Envelope) -> None:
        """End all that is open after an event, whatever it is; the end itself is for the session to say."""
        with self.lock:
            for event in [*endings(self.order, last, self.wall())][:-1]:
                self._keep(event, _encode(event), self.clock())

    def _settle(self) -> None:
        """A question whose time is up is told to be over before anything else is said, though its timer be late."""
        self.must_be_free()
        if self._torn:
            self.mend()
        deadline = self.order.deadline
        if deadline is not None and self.clock() >= deadline:
            self.overdue()

    def _timestamp(self) -> str:
        """ENV-027 §3.2.5: never before the last one, whatever the clock does."""
        self._last = max(self._last, self.wall())
        return timestamp(self._last)

    def _language(self, language: str, members: dict[str, Any]) -> tuple[LocalizationHints, Remembered]:
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


def _carry(asks: Mapping[str, PromptState], order: Order) -> None:
    """Who may answer a prompt, and what was answered, is not in the journal."""
    for token, ask in asks.items():
        told = order.prompts.get(token)
        if told is not None and (ask.outcome != "pending" or told.outcome == "pending"):
            ask.is_used, ask.is_followed = ask.is_used or told.is_used, ask.is_followed or told.is_followed
            order.prompts[token] = ask
    order.deadline = min((ask.deadline for ask in order.prompts.values() if ask.outcome == "pending"), default=None)
    order.plain = False  # the next event finds out


def _nothing() -> None:
    """There are no questions yet."""
