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
from ..subscriber.deduplicate import Deduplicator, ReceivedEvent
from .capture import CaptureEntry, CaptureError, read_capture

__all__ = ["PENDING", "UNSEEN", "PromptResult", "ReplayPlan", "ReplayStep"]

LINES_PER_TICK: Final = 10_000  # lines between two ticks
MAX_LANGUAGES: Final = 32
MAX_CONTEXTS: Final = 64
PENDING: Final = "pending"  # the recording stops before the answer
UNSEEN: Final = "unseen"  # it goes on, but does not show which answer that was


class ReplayStep(msgspec.Struct):
    """An event, and when it came, in seconds of the recording's own time."""

    event: Envelope
    at: float


class PromptResult(msgspec.Struct, frozen=True):
    """How a prompt ended."""

    outcome: str
    response: Any = None

    def is_compatible_with(self, other: PromptResult) -> bool:
        """Whether what follows the one may follow the other too."""
        if UNSEEN in (self.outcome, other.outcome):
            return True
        same = self.response == other.response or None in (self.response, other.response)
        return self.outcome == other.outcome and same and self.outcome != PENDING


class _SubscriptionSpans:
    """The subscriptions of a recording: from where to where each goes, and how much there is on it."""

    def __init__(self) -> None:
        self._spans: dict[str, list[int]] = {}

    def add(self, via: str, number: int) -> None:
        found = self._spans.setdefault(via, [number, number, 0])
        found[1] = number
        found[2] += 1

    @property
    def busiest(self) -> str | None:
        """Of several at the same time, the one with the most events; None if there is only one at a time."""
        spans = sorted(self._spans.values())
        if all(one[1] < other[0] for one, other in pairwise(spans)):
            return None
        return max(self._spans, key=lambda via: self._spans[via][2])


class ReplayPlan:
    """
    What a recording holds. ``opened`` gives its file anew, from the beginning.

    Raises :exc:`~aaep.recording.capture.CaptureError` if there is nothing in it to be played.
    """

    def __init__(
        self,
        open_file: Callable[[], IO[bytes]],
        registry: Registry,
        *,
        on_progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._open_file, self._registry = open_file, registry
        self.event_count = self.session_count = 0
        self.fault_count = 0  # lines that cannot be read
        self._last_fault_line = 0  # the last of them
        self.prompt_results: dict[str, PromptResult] = {}  # of prompts, by their tokens
        self._ended_sessions: set[str] = set()  # sessions that have ended
        self.languages: tuple[str, ...] = ()
        self.extensions: tuple[Extension, ...] = ()  # those of others, which the events use and we know
        self.subscription_id: str | None = None  # the one subscription that is played, if there are several at a time
        self.producer = self._scan(on_progress)

    def iter_steps(self) -> Iterator[ReplayStep]:
        """The events, as a subscriber would have had them: each once and in order."""
        arrivals = Deduplicator()
        now = 0.0
        for line, message in self._iter_messages():
            if self.subscription_id not in (None, line.via):
                continue
            if line.gap in ("lost", "resumed") or isinstance(message, SubscriptionAccepted):
                held = arrivals.connection_lost()
                arrivals.connection_began(anew=isinstance(message, SubscriptionAccepted))
                yield from (ReplayStep(received.event, now) for received in held)
            if isinstance(message, Envelope) and line.dir != "in":
                now = _message_time(line, message, now)
                early = arrivals.advance(now)
                ready, _ = arrivals.take(ReceivedEvent(message, bytes(line.message)), now)
                yield from (ReplayStep(received.event, now) for received in (*early, *ready))
        yield from (ReplayStep(received.event, now) for received in arrivals.connection_lost())

    # -- beforehand --------------------------------------------------------------------------

    def _scan(self, tick: Callable[[int], object]) -> ProducerInfo:
        producer: ProducerInfo | None = None
        languages: dict[str, None] = {}
        contexts: dict[str, None] = {}
        voices, open_ = _SubscriptionSpans(), dict[str, SessionState]()
        now = 0.0
        for number, (line, message) in enumerate(self._iter_messages(self._count_fault), start=1):
            if number % LINES_PER_TICK == 0:
                tick(number)
            if isinstance(message, (ConfirmationReply, ClarificationReply)) and line.dir != "out":
                for session in open_.values():
                    if message.reply_token in session.prompts:
                        session.reply(message, _message_time(line, message, now), line.via)
            if not isinstance(message, Envelope) or line.dir == "in":
                continue
            now = _message_time(line, message, now)
            voices.add(line.via, number)
            producer = producer or message.producer
            hints = get_member(message, "localization_hints")
            if hints is not None and len(languages) < MAX_LANGUAGES and isinstance(hints.primary_language, str):
                languages[hints.primary_language] = None
            if not isinstance(message.context, str) and len(contexts) < MAX_CONTEXTS:
                contexts |= dict.fromkeys(message.context)
            self._track_event(message, open_, now)
        for session in open_.values():
            self._record_results(session)
        if producer is None:
            raise CaptureError("There is no event in it that could be played.")
        self.subscription_id = voices.busiest
        found = (self._registry.context(uri) for uri in contexts)
        self.extensions = tuple(one for one in found if one is not None and one.prefix != PREFIX)
        self.languages = tuple(language for language in languages if language)
        return producer

    def _track_event(self, event: Envelope, open_: dict[str, SessionState], now: float) -> None:
        self.event_count += 1
        session = open_.get(event.session_id)
        if session is None:
            if event.session_id in self._ended_sessions:  # sent again after a reconnect
                return
            self.session_count += 1
            session = open_[event.session_id] = SessionState(event.session_id, whole=False)
        session.expire(now)
        session.apply(event, now)
        if isinstance(event, TERMINAL):
            self._ended_sessions.add(event.session_id)
            self._record_results(open_.pop(event.session_id))

    def _record_results(self, session: SessionState) -> None:
        for token, ask in session.prompts.items():
            self.prompt_results[token] = PromptResult(ask.outcome, ask.response)

    def _iter_messages(
        self, fault: Callable[[int, str], object] = lambda *_: None
    ) -> Iterator[tuple[CaptureEntry, Message | None]]:
        with self._open_file() as file:
            for number, line in read_capture(file, fault):
                message = None
                if bytes(line.message):
                    try:
                        message = codec.decode(bytes(line.message), self._registry)
                    except ProtocolError as error:
                        fault(number, str(error))
                        continue
                yield line, message

    def _count_fault(self, number: int, _why: str) -> None:
        if number != self._last_fault_line:  # both the time of a line and its message may be unreadable
            self.fault_count += 1
        self._last_fault_line = number


def _message_time(line: CaptureEntry, message: Message, now: float) -> float:
    """When a message passed: as it was noted, or as it says itself; never before the one above."""
    said: Any = line.at or getattr(message, "timestamp", "")
    moment = parse_instant(said) if isinstance(said, str) else None
    return now if moment is None else max(now, moment)
