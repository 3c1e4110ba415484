"""
A recording as something to be played: its events in their order and time, each once, and how its prompts ended.

It is read from its file each time, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import IO, Any, Final

import msgspec

from ..errors import ProtocolError
from ..protocol import codec
from ..protocol.attend_extension import PREFIX
from ..protocol.events import TERMINAL, Envelope, ProducerInfo
from ..protocol.extensions import Extension, Registry
from ..protocol.fields import Message, get_member
from ..protocol.messages import ClarificationReply, ConfirmationReply, SubscriptionAccepted
from ..protocol.session import SessionState
from ..protocol.timestamps import parse_instant
from ..subscriber.deduplicate import Arrivals
from .capture import CaptureError, Line, read

__all__ = ["PENDING", "UNSEEN", "Cue", "Ending", "Script"]

STRIDE: Final = 10_000  # lines between two ticks
MOST_LANGUAGES: Final = 32
MOST_CONTEXTS: Final = 64
PENDING: Final = "pending"  # the recording stops before the answer
UNSEEN: Final = "unseen"  # it goes on, but does not show which answer that was


class Cue(msgspec.Struct):
    """An event, and when it came, in seconds of the recording's own time."""

    event: Envelope
    at: float


class Ending(msgspec.Struct, frozen=True):
    """How a prompt ended."""

    outcome: str
    response: Any = None

    def meets(self, other: Ending) -> bool:
        """Whether what follows the one may follow the other too."""
        if UNSEEN in (self.outcome, other.outcome):
            return True
        same = self.response == other.response or None in (self.response, other.response)
        return self.outcome == other.outcome and same and self.outcome != PENDING


class _Voices:
    """The subscriptions of a recording: from where to where each goes, and how much there is on it."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}

    def heard(self, via: str, number: int) -> None:
        found = self._found.setdefault(via, [number, number, 0])
        found[1] = number
        found[2] += 1

    @property
    def best(self) -> str | None:
        """Of several at the same time, the one with the most events; None if there is only one at a time."""
        spans = sorted(self._found.values())
        if all(one[1] < other[0] for one, other in pairwise(spans)):
            return None
        return max(self._found, key=lambda via: self._found[via][2])


class Script:
    """
    What a recording holds. ``opened`` gives its file anew, from the beginning.

    Raises :exc:`~aaep.recording.capture.CaptureError` if there is nothing in it to be played.
    """

    def __init__(
        self,
        opened: Callable[[], IO[bytes]],
        known: Registry,
        *,
        tick: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._opened, self._known = opened, known
        self.events = self.sessions = 0
        self.faults = 0  # lines that cannot be read
        self._faulty = 0  # the last of them
        self.endings: dict[str, Ending] = {}  # of prompts, by their tokens
        self._over: set[str] = set()  # sessions that have ended
        self.languages: tuple[str, ...] = ()
        self.extensions: tuple[Extension, ...] = ()  # those of others, which the events use and we know
        self.via: str | None = None  # the one subscription that is played, if there are several at a time
        self.producer = self._survey(tick)

    def cues(self) -> Iterator[Cue]:
        """The events, as a subscriber would have had them: each once and in order."""
        arrivals = Arrivals()
        now = 0.0
        for line, message in self._messages():
            if self.via not in (None, line.via):
                continue
            if line.gap in ("lost", "resumed") or isinstance(message, SubscriptionAccepted):
                held = arrivals.lost()
                arrivals.connected(anew=isinstance(message, SubscriptionAccepted))
                yield from (Cue(event, now) for event, _ in held)
            if isinstance(message, Envelope) and line.dir != "in":
                now = _moment(line, message, now)
                early = arrivals.advance(now)
                ready, _ = arrivals.take(message, bytes(line.message), now)
                yield from (Cue(event, now) for event, _ in (*early, *ready))
        yield from (Cue(event, now) for event, _ in arrivals.lost())

    # -- beforehand --------------------------------------------------------------------------

    def _survey(self, tick: Callable[[int], object]) -> ProducerInfo:
        producer: ProducerInfo | None = None
        languages: dict[str, None] = {}
        contexts: dict[str, None] = {}
        voices, open_ = _Voices(), dict[str, SessionState]()
        now = 0.0
        for number, (line, message) in enumerate(self._messages(self._fault), start=1):
            if number % STRIDE == 0:
                tick(number)
            if isinstance(message, (ConfirmationReply, ClarificationReply)) and line.dir != "out":
                for session in open_.values():
                    if message.reply_token in session.prompts:
                        session.reply(message, _moment(line, message, now), line.via)
            if not isinstance(message, Envelope) or line.dir == "in":
                continue
            now = _moment(line, message, now)
            voices.heard(line.via, number)
            producer = producer or message.producer
            hints = get_member(message, "localization_hints")
            if hints is not None and len(languages) < MOST_LANGUAGES and isinstance(hints.primary_language, str):
                languages[hints.primary_language] = None
            if not isinstance(message.context, str) and len(contexts) < MOST_CONTEXTS:
                contexts |= dict.fromkeys(message.context)
            self._follow(message, open_, now)
        for session in open_.values():
            self._ended(session)
        if producer is None:
            raise CaptureError("There is no event in it that could be played.")
        self.via = voices.best
        found = (self._known.context(uri) for uri in contexts)
        self.extensions = tuple(one for one in found if one is not None and one.prefix != PREFIX)
        self.languages = tuple(language for language in languages if language)
        return producer

    def _follow(self, event: Envelope, open_: dict[str, SessionState], now: float) -> None:
        self.events += 1
        session = open_.get(event.session_id)
        if session is None:
            if event.session_id in self._over:  # sent again after a reconnect
                return
            self.sessions += 1
            session = open_[event.session_id] = SessionState(event.session_id, whole=False)
        session.expire(now)
        session.apply(event, now)
        if isinstance(event, TERMINAL):
            self._over.add(event.session_id)
            self._ended(open_.pop(event.session_id))

    def _ended(self, session: SessionState) -> None:
        for token, ask in session.prompts.items():
            self.endings[token] = Ending(ask.outcome, ask.response)

    def _messages(self, fault: Callable[[int, str], object] = lambda *_: None) -> Iterator[tuple[Line, Message | None]]:
        with self._opened() as file:
            for number, line in read(file, fault):
                message = None
                if bytes(line.message):
                    try:
                        message = codec.decode(bytes(line.message), self._known)
                    except ProtocolError as error:
                        fault(number, str(error))
                        continue
                yield line, message

    def _fault(self, number: int, _why: str) -> None:
        if number != self._faulty:  # both the time of a line and its message may be unreadable
            self.faults += 1
        self._faulty = number


def _moment(line: Line, message: Message, now: float) -> float:
    """When a message passed: as it was noted, or as it says itself; never before the one above."""
    said: Any = line.at or getattr(message, "timestamp", "")
    moment = parse_instant(said) if isinstance(said, str) else None
    return now if moment is None else max(now, moment)
