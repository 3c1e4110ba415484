"""
The one way out: every event of a session is built, checked, journaled and published here, in that order.

Nothing illegal gets out. An event that breaks a rule, by itself or by coming
now, raises :exc:`~aaep.errors.LocalProtocolError` and leaves no trace.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import msgspec

from ..errors import LocalProtocolError, Violation
from ..hub.recovery import build_closing_events, build_resync
from ..journal.base import Journal, JournalError
from ..protocol.attend_extension import ATTEND, PREFIX
from ..protocol.catalogue import grade
from ..protocol.codec import decode, read
from ..protocol.consent import PromptState
from ..protocol.events import CORE_EVENTS, Envelope, LocalizationHints, ProducerInfo, StateChanged
from ..protocol.extensions import Registry
from ..protocol.fields import AAEP_VERSION, CORE_CONTEXT
from ..protocol.rules import check
from ..protocol.session import SessionState
from ..runtime.ids import format_timestamp, new_event_id, new_id
from ..text.phrases import ENGLISH, find_phrases
from ..text.summaries import Summaries, SummaryLike, complete_summaries, detect_direction, summarize_state

__all__ = ["Emitter", "Publish"]

E = TypeVar("E", bound=Envelope)

_encode: Final = msgspec.json.Encoder().encode
_SHAPES: Final = {cls: msgspec.json.Decoder(cls).decode for cls in CORE_EVENTS.values()}
_CONTEXTS: Final = (CORE_CONTEXT, ATTEND.context)
_MAX_EVENT_BYTES: Final = 65_536  # CF-114
_PROMINENT_STATES: Final = {"awaiting_input", "calling_tool", "handing_off"}  # C-16: more than background


class Publish(Protocol):
    """Gives an event that is journaled to whoever may hear its session."""

    def __call__(self, event: Envelope, data: bytes, *, withheld: bool = False) -> None: ...


class Emitter:
    """
    Emits the events of one session.

    ``state`` knows what may come next. Whoever holds ``lock`` emits several
    events in a row, with none of another thread between them. ``clock`` is
    monotonic and measures deadlines, ``wall`` is for timestamps only (CF-029).
    """

    def __init__(
        self,
        producer: ProducerInfo,
        journal: Journal,
        publish: Publish,
        *,
        language: str,
        registry: Registry,
        clock: Callable[[], float],
        wall: Callable[[], float],
        tell: Callable[[Envelope], None] | None = None,
    ) -> None:
        self.session_id = new_id("sess_")
        self.state = SessionState(self.session_id)
        self.lock = threading.RLock()
        self.clock = clock
        self.wall = wall
        self.language = language
        found = find_phrases((language,))
        self.phrases = found or ENGLISH  # of which texts are composed
        self.speaks_own_language = found is not None  # otherwise composed texts are English
        self.last_event_id = ""
        self.expire_prompt: Callable[[], None] = _no_prompt  # concludes the prompt whose time has run out
        self._producer = producer
        self._journal = journal
        self._publish = publish
        self._registry = registry
        self._tell = tell
        self._latest = 0.0  # the time of the last event
        self._hints: dict[tuple[str, str], LocalizationHints] = {}  # by language and direction
        self._is_emitting = False
        self._is_interrupted = False
        self._is_forked = False

    # -- whether it may be used ----------------------------------------------------------------

    @property
    def is_active(self) -> bool:
        """Whether the session has begun and is not over."""
        return self.state.stage == "active"

    def check_active(self) -> None:
        """Raise if the session has not begun, or is over."""
        if not self.is_active:
            self.check_usable()
            when = "has not started" if self.state.stage == "none" else "is over"
            raise LocalProtocolError(f"The session {when}, so nothing was sent. Use it inside its `with` block.")

    def check_usable(self) -> None:
        """Raise where emitting would do harm, or would be in vain."""
        if self._is_emitting:  # only a signal handler gets into another event of its session: both would be broken
            raise LocalProtocolError(
                "A signal handler cannot speak in the middle of another event, so nothing was sent. "
                "Raise an exception there, such as KeyboardInterrupt: leaving the block ends the session."
            )
        if self._is_forked:
            raise LocalProtocolError(
                "The session was started before the process forked, so nobody would hear this and nothing ran. "
                "Make a producer in the process that uses it."
            )

    def disown_after_fork(self) -> None:
        """Give the session up in a forked process: nobody hears it there, and lost threads may hold its lock."""
        self.lock = threading.RLock()
        self.state = SessionState(self.session_id)
        self._is_forked = True

    # -- emitting --------------------------------------------------------------------------------

    def emit(
        self,
        cls: type[E],
        summaries: Summaries | None = None,
        *,
        urgency: str = "normal",
        text_language: str | None = None,
        attend: dict[str, Any] | None = None,
        withheld: bool = False,
        **members: Any,
    ) -> E:
        """
        Build an event of one of the twelve types, and send it.

        ``attend`` are members of our own extension; ``withheld`` is for a prompt
        that nobody can answer yet.
        """
        if summaries is not None:
            members["summary_terse"], members["summary_normal"], members["summary_detailed"] = summaries
        if attend is not None:
            members["extensions"] = {PREFIX: attend}
            members["context"] = _CONTEXTS
        with self.lock:
            self._prepare()
            timestamp = self._timestamp()
            event = cls(
                aaep_version=AAEP_VERSION,
                event_id=new_event_id(self._latest),
                session_id=self.session_id,
                timestamp=timestamp,
                producer=self._producer,
                verbosity="normal",
                urgency=urgency,  # type: ignore[arg-type]  # the shape is checked before it is sent
                localization_hints=self._localization_hints(text_language or self.language, members),
                **members,
            )
            self._send(event, _encode(event), withheld)
        return event

    def emit_event(self, event: Envelope) -> None:
        """Send an event that was built elsewhere, on an :meth:`envelope` of this session."""
        with self.lock:
            self._prepare()
            self._send(event, _encode(event) if event.raw is None else event.raw, withheld=False)

    def envelope(self) -> dict[str, Any]:
        """Return the envelope of an event that the caller builds."""
        with self.lock:
            timestamp = self._timestamp()
            return {
                "aaep_version": AAEP_VERSION,
                "event_id": new_event_id(self._latest),
                "session_id": self.session_id,
                "timestamp": timestamp,
                "producer": self._producer,
                "localization_hints": self._localization_hints(self.language, {}),
            }

    def publish_withheld(self, event: Envelope) -> None:
        """Send a prompt that was withheld, now that somebody can answer it (CF-001)."""
        self._publish(event, _encode(event))

    def _prepare(self) -> None:
        """A prompt whose time is up is told to be over before anything else is said, though its timer be late."""
        self.check_usable()
        if self._is_interrupted:
            self.recover()
        deadline = self.state.deadline
        if deadline is not None and self.clock() >= deadline:
            self.expire_prompt()

    def _send(self, event: Envelope, data: bytes, withheld: bool) -> None:
        """Check, journal and publish an event; all of it or nothing."""
        now = self.clock()
        self._is_emitting = True
        try:
            violations = [*self._check(event, data), *self.state.judge(event, now)]
            errors = [violation for violation in violations if _is_error(violation)]
            if not errors:
                self._commit(event, data, now, withheld)
        except JournalError:  # it was not kept
            self._is_emitting = False
            raise
        except BaseException:
            # Interrupted in the middle, as Ctrl-C does: how far it came only the journal knows.
            self._is_interrupted = True
            self._is_emitting = False
            raise
        self._is_emitting = False
        if errors:
            raise LocalProtocolError(f"The event {event.type} was not sent.", errors)

    def _check(self, event: Envelope, data: bytes) -> tuple[Violation, ...]:
        """Find what is wrong with an event by itself, strictly judged."""
        decode_shape = _SHAPES.get(type(event))
        if decode_shape is None:
            violations = tuple(read(data, self._registry, strict=True)[1])
        else:
            try:
                decode_shape(data)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                violations = tuple(read(data, self._registry, strict=True)[1])
                violations = violations or (Violation("ENV-061", "The shape is wrong."),)
            else:
                violations = check(event, data, self._registry, True)
        if len(data) > _MAX_EVENT_BYTES:
            text = f"It has {len(data)} bytes; {_MAX_EVENT_BYTES} are the most."
            violations += (Violation("LIM-001", text, severity="error"),)
        return violations

    def _commit(self, event: Envelope, data: bytes, now: float, withheld: bool = False) -> None:
        self._journal.append(event.event_id, self.session_id, data, at=self.wall())
        self.state.apply(event, now)
        self._deliver(event, data, withheld)

    def _deliver(self, event: Envelope, data: bytes, withheld: bool = False) -> None:
        self._publish(event, data, withheld=withheld)
        self.last_event_id = event.event_id
        self._is_emitting = False
        if self._tell is not None and not withheld:
            self._tell(event)

    def commit(self) -> None:
        """Wait until everything that was emitted would survive a loss of power, or raise."""
        self._journal.sync()

    # -- the state of the agent --------------------------------------------------------------------

    @property
    def agent_state(self) -> str:
        """The state that the agent is in, as it was told last."""
        agent = self.state.agents.get(self._producer.agent_id)
        return "idle" if agent is None else agent.state

    def change_state(
        self,
        to_state: str,
        summary: SummaryLike = None,
        *,
        urgency: str | None = None,
        attend: dict[str, Any] | None = None,
    ) -> None:
        """Tell a change of the agent's state, if it is one. C-31: every transition is explicit."""
        with self.lock:
            from_state = self.agent_state
            if from_state == to_state:
                return
            usual = summarize_state(to_state, self.phrases)
            summaries = usual if summary is None else self.complete_summaries(summary, usual)
            self.emit(
                StateChanged,
                summaries,
                urgency=urgency or ("normal" if to_state in _PROMINENT_STATES else "background"),
                text_language=None if self.speaks_own_language or summary is not None else "en",
                attend=attend,
                from_state=from_state,
                to_state=to_state,
            )

    def build_resync(self) -> StateChanged:
        """Build the state of the agent for a listener who was not there when it changed."""
        return build_resync(self.state, self.agent_state, self.phrases, **self.composed_envelope())

    def composed_envelope(self) -> dict[str, Any]:
        """Return the envelope of an event whose summaries are composed of our phrases alone."""
        language = self.language if self.speaks_own_language else self.phrases.language
        return {**self.envelope(), "localization_hints": self._localization_hints(language, {})}

    def complete_summaries(self, summary: SummaryLike, usual: Summaries) -> Summaries:
        """Return the three lengths of the author's text, completed from what is usually said."""
        return complete_summaries(summary, usual, is_one_language=self.speaks_own_language)

    # -- interruptions -----------------------------------------------------------------------------

    def recover(self) -> Envelope | None:
        """Learn from the journal what was emitted, publish what did not get out, and return the last event."""
        with self.lock:
            last: Envelope | None = None
            now, prompts = self.clock(), self.state.prompts
            is_unpublished = not self.last_event_id
            self.state = SessionState(self.session_id)
            self._is_interrupted = False
            self._is_emitting = False
            for entry in self._journal.read(session=self.session_id, limit=sys.maxsize):
                event = decode(entry.data, self._registry)
                assert isinstance(event, Envelope)  # we keep nothing else
                self.state.apply(event, now)
                if is_unpublished:
                    self._deliver(event, entry.data)
                last = event
                is_unpublished = is_unpublished or entry.event_id == self.last_event_id
            _restore_prompts(prompts, self.state)
            return last

    def close_open(self, last: Envelope) -> None:
        """End all that is open after the last event, but not the session itself."""
        with self.lock:
            for event in [*build_closing_events(self.state, last, self.wall())][:-1]:
                self._commit(event, _encode(event), self.clock())

    # -- parts of an envelope ------------------------------------------------------------------------

    def _timestamp(self) -> str:
        """ENV-027 §3.2.5: never before the last one, whatever the clock does."""
        self._latest = max(self._latest, self.wall())
        return format_timestamp(self._latest)

    def _localization_hints(self, language: str, members: Mapping[str, Any]) -> LocalizationHints:
        """C-17: on every event, the language of its text and its direction."""
        direction = detect_direction(language, [value for value in members.values() if type(value) is str])
        hints = self._hints.get((language, direction))
        if hints is None:
            hints = self._hints[language, direction] = LocalizationHints(
                primary_language=language,
                text_direction=direction,  # type: ignore[arg-type]  # one of the three
                available_languages=(language,),
            )
        return hints


def _restore_prompts(before: Mapping[str, PromptState], state: SessionState) -> None:
    """Restore who may answer a prompt, and what was answered: that is not in the journal."""
    for token, prompt in before.items():
        told = state.prompts.get(token)
        if told is not None and (prompt.outcome != "pending" or told.outcome == "pending"):
            prompt.is_used = prompt.is_used or told.is_used
            prompt.is_followed = prompt.is_followed or told.is_followed
            state.prompts[token] = prompt
    pending = [prompt.deadline for prompt in state.prompts.values() if prompt.outcome == "pending"]
    state.deadline = min(pending, default=None)


def _is_error(violation: Violation) -> bool:
    return violation.severity != "info" and grade(violation, strict=True) == "error"


def _no_prompt() -> None:
    """There is no prompt yet."""
