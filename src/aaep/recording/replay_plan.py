"""
Plans for a replay: the events of a recording, each once, in order and with their times, and its prompt results.

The file is read again for each replay, so memory does not grow with its size.
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

LINES_PER_TICK: Final = 10_000  # lines between two calls of on_progress
MAX_LANGUAGES: Final = 32
MAX_CONTEXTS: Final = 64
PENDING: Final = "pending"  # outcome: the recording stops before the answer
UNSEEN: Final = "unseen"  # outcome: the recording goes on, but does not show the answer


class ReplayStep(msgspec.Struct):
    """A recorded event and the time it was received, in seconds since the epoch."""

    event: Envelope
    at: float


class PromptResult(msgspec.Struct, frozen=True):
    """The outcome of a prompt, and the response to a clarification."""

    outcome: str
    response: Any = None

    def is_compatible_with(self, other: PromptResult) -> bool:
        """Whether the events that follow one result may also follow the other."""
        if UNSEEN in (self.outcome, other.outcome):
            return True
        is_same_response = self.response == other.response or None in (self.response, other.response)
        return self.outcome == other.outcome and is_same_response and self.outcome != PENDING


class _Span(msgspec.Struct):
    """The messages of one subscription: the first, the last, and the number of its events."""

    first: int
    last: int
    event_count: int = 0


class _SubscriptionSpans:
    """The spans of all subscriptions in a recording."""

    def __init__(self) -> None:
        self._spans: dict[str, _Span] = {}

    def add(self, subscription_id: str, number: int) -> None:
        """Count an event, which is the message with this number."""
        span = self._spans.setdefault(subscription_id, _Span(number, number))
        span.last = number
        span.event_count += 1

    @property
    def busiest(self) -> str | None:
        """The subscription with the most events, or None if no two subscriptions overlap."""
        spans = sorted(self._spans.values(), key=lambda span: span.first)
        if all(earlier.last < later.first for earlier, later in pairwise(spans)):
            return None
        return max(self._spans, key=lambda subscription_id: self._spans[subscription_id].event_count)


class ReplayPlan:
    """
    The events and prompt results of a recording; ``open_file`` opens it from the beginning each time.

    Raises :exc:`~aaep.recording.capture.CaptureError` if the recording holds no event.
    """

    def __init__(
        self,
        open_file: Callable[[], IO[bytes]],
        registry: Registry,
        *,
        on_progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._open_file = open_file
        self._registry = registry
        self.event_count = 0
        self.session_count = 0
        self.fault_count = 0  # lines that cannot be read
        self._last_fault_line = 0
        self.prompt_results: dict[str, PromptResult] = {}  # by reply token
        self._ended_sessions: set[str] = set()
        self.languages: tuple[str, ...] = ()
        self.extensions: tuple[Extension, ...] = ()  # registered extensions that the events use, without our own
        self.subscription_id: str | None = None  # the subscription to replay, if several overlap
        self.producer = self._scan(on_progress)

    def iter_steps(self) -> Iterator[ReplayStep]:
        """Yield the events as a subscriber receives them: each once and in order."""
        deduplicator = Deduplicator()
        now = 0.0
        for entry, message in self._iter_messages():
            if self.subscription_id not in (None, entry.via):
                continue
            if entry.gap in ("lost", "resumed") or isinstance(message, SubscriptionAccepted):
                held = deduplicator.connection_lost()
                deduplicator.connection_began(anew=isinstance(message, SubscriptionAccepted))
                yield from (ReplayStep(received.event, now) for received in held)
            if isinstance(message, Envelope) and entry.dir != "in":
                now = _message_time(entry, message, now)
                overdue = deduplicator.advance(now)
                ready, _ = deduplicator.take(ReceivedEvent(message, bytes(entry.message)), now)
                yield from (ReplayStep(received.event, now) for received in (*overdue, *ready))
        yield from (ReplayStep(received.event, now) for received in deduplicator.connection_lost())

    # -- scanning the recording --------------------------------------------------------------

    def _scan(self, on_progress: Callable[[int], object]) -> ProducerInfo:
        """Read the recording once, fill in the attributes, and return the producer of its first event."""
        producer: ProducerInfo | None = None
        languages: dict[str, None] = {}
        contexts: dict[str, None] = {}
        spans = _SubscriptionSpans()
        open_sessions: dict[str, SessionState] = {}
        now = 0.0
        for number, (entry, message) in enumerate(self._iter_messages(self._count_fault), start=1):
            if number % LINES_PER_TICK == 0:
                on_progress(number)
            if isinstance(message, (ConfirmationReply, ClarificationReply)) and entry.dir != "out":
                for session in open_sessions.values():
                    if message.reply_token in session.prompts:
                        session.reply(message, _message_time(entry, message, now), entry.via)
            if not isinstance(message, Envelope) or entry.dir == "in":
                continue
            now = _message_time(entry, message, now)
            spans.add(entry.via, number)
            producer = producer or message.producer
            hints = get_member(message, "localization_hints")
            if hints is not None and len(languages) < MAX_LANGUAGES and isinstance(hints.primary_language, str):
                languages[hints.primary_language] = None
            if not isinstance(message.context, str) and len(contexts) < MAX_CONTEXTS:
                contexts |= dict.fromkeys(message.context)
            self._track_event(message, open_sessions, now)
        for session in open_sessions.values():
            self._record_results(session)
        if producer is None:
            raise CaptureError("There is no event in it that could be played.")
        self.subscription_id = spans.busiest
        extensions = (self._registry.context(uri) for uri in contexts)
        self.extensions = tuple(
            extension for extension in extensions if extension is not None and extension.prefix != PREFIX
        )
        self.languages = tuple(language for language in languages if language)
        return producer

    def _track_event(self, event: Envelope, open_sessions: dict[str, SessionState], now: float) -> None:
        self.event_count += 1
        session = open_sessions.get(event.session_id)
        if session is None:
            if event.session_id in self._ended_sessions:  # sent again after a reconnect
                return
            self.session_count += 1
            session = open_sessions[event.session_id] = SessionState(event.session_id, whole=False)
        session.expire(now)
        session.apply(event, now)
        if isinstance(event, TERMINAL):
            self._ended_sessions.add(event.session_id)
            self._record_results(open_sessions.pop(event.session_id))

    def _record_results(self, session: SessionState) -> None:
        for token, prompt in session.prompts.items():
            self.prompt_results[token] = PromptResult(prompt.outcome, prompt.response)

    def _iter_messages(
        self, on_fault: Callable[[int, str], object] = lambda *_: None
    ) -> Iterator[tuple[CaptureEntry, Message | None]]:
        """Yield each entry with its message, which is None for a gap."""
        with self._open_file() as file:
            for number, entry in read_capture(file, on_fault):
                message = None
                if bytes(entry.message):
                    try:
                        message = codec.decode(bytes(entry.message), self._registry)
                    except ProtocolError as error:
                        on_fault(number, str(error))
                        continue
                yield entry, message

    def _count_fault(self, number: int, _why: str) -> None:
        if number != self._last_fault_line:  # both the time of a line and its message may be unreadable
            self.fault_count += 1
        self._last_fault_line = number


def _message_time(entry: CaptureEntry, message: Message, now: float) -> float:
    """Return the time of the entry, else the timestamp of its message; never earlier than ``now``."""
    timestamp: Any = entry.at or getattr(message, "timestamp", "")
    seconds = parse_instant(timestamp) if isinstance(timestamp, str) else None
    return now if seconds is None else max(now, seconds)
