"""
The :class:`Session`, one piece of an agent's work, as :meth:`Producer.session` returns it.

Emitting is a plain function, so the same session serves scripts, threads and
asyncio; only an :class:`Ask` waits. Leaving the block ends the session, and
whatever is open in it is closed or withdrawn first.

An interruption such as Ctrl-C may come in the middle of an event, when what was
emitted and what is remembered of it differ. The end has to be announced all the
same, so what is open is then read from the journal.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Literal, ParamSpec, Protocol, TypeVar, cast

from msgspec import UNSET

from ..errors import LocalProtocolError
from ..hub.hub import Hub
from ..hub.sessions import SessionSnapshot, SessionSource
from ..hub.stream import Subscription
from ..protocol.events import (
    Envelope,
    HandoffRequested,
    ProducerInfo,
    Progress,
    ProgressUpdated,
    SessionCancelled,
    SessionCompleted,
    SessionErrored,
    SessionStarted,
)
from ..protocol.messages import Reply
from ..runtime.ids import new_id
from ..text.phrases import Phrases
from ..text.sentences import CoalesceHint
from ..text.summaries import (
    Summaries,
    SummaryLike,
    classify_error,
    clean_structure,
    clean_text,
    summarize_cancellation,
    summarize_completion,
    summarize_error,
    summarize_handoff,
    summarize_progress,
    summarize_start,
)
from .activity import Activity
from .emitter import Emitter
from .output import Output
from .progress import ProgressNumbers, correct_progress
from .questions import Ask, Refusal, build_clarification, build_confirmation
from .tool_call import Call, classify_risk, find_stopper

__all__ = ["CURRENT_SESSIONS", "Session", "SessionOwner"]

_log: Final = logging.getLogger("aaep.producer")

P = ParamSpec("P")
T = TypeVar("T")

# Of each producer the open ones, innermost last, or the one that was left: code that had one does not get another's.
CURRENT_SESSIONS: Final[contextvars.ContextVar[tuple[Session, ...]]] = contextvars.ContextVar(
    "aaep_sessions", default=()
)

_REQUESTER: Final = re.compile(r"(user|system|agent):.")
_MAX_DURATION: Final = 86_400_000  # milliseconds


class SessionOwner(Protocol):
    """What a session needs of its producer."""

    @property
    def info(self) -> ProducerInfo:
        """The agent, as events name it."""

    @property
    def hub(self) -> Hub:
        """The hub that delivers events."""

    @property
    def is_closed(self) -> bool:
        """Whether the producer has ended."""

    @property
    def _is_telling(self) -> bool:
        """Whether the calling thread is inside ``tell``."""

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the agent's tools."""

    def _build_emitter(self, source: SessionSource, language: str | None) -> Emitter:
        """Build the emitter of a session."""

    def _add_session(self, session: Session) -> None:
        """Register a session that begins."""

    def _remove_session(self, session: Session) -> None:
        """Remove a session that has ended."""


class Session:
    """One piece of an agent's work: its states, outputs, tool calls and questions, until it ends."""

    def __init__(
        self,
        producer: SessionOwner,
        summary: SummaryLike,
        *,
        request: str | None = None,
        requested_by: str | None = None,
        expected_seconds: float | None = None,
        parent: Session | None = None,
        audience: frozenset[str] | None = None,
        language: str | None = None,
    ) -> None:
        self.producer = producer
        self._source = _HubSide(self, audience)
        self._emitter = producer._build_emitter(self._source, language)
        self._activity = Activity(self._source, self._emitter, producer.hub, lambda: producer._is_telling)
        self.session_id = self._emitter.session_id
        self._summary = summary
        self._request = request
        self._requested_by = requested_by
        self._expected_seconds = expected_seconds
        self._parent = parent
        self._started_event: SessionStarted | None = None
        self._started_at = 0.0
        self._token: contextvars.Token[tuple[Session, ...]] | None = None
        self._result: SummaryLike = None
        self._is_progress_logged = False
        if requested_by is not None and not _REQUESTER.match(requested_by):
            # Where there are several users, the session would be for nobody of that name.
            raise ValueError(
                f'requested_by is "user:<id>", "system:<service>" or "agent:<id>", not {requested_by!r}. '
                f'For a user, write "user:{requested_by}".'
            )

    # -- the block ---------------------------------------------------------------------------

    def __enter__(self) -> Session:
        self.start()
        return self

    async def __aenter__(self) -> Session:
        await self._activity.wait_for_room()
        self.start()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._leave(error)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._leave(error)

    def start(self) -> Session:
        """Start the session, as entering the ``with`` block does, and return it."""
        self._activity.make_room()
        with self._emitter.lock:
            if self._started_event is not None:
                raise LocalProtocolError("The session has started already. Make another one with producer.session().")
            try:
                self.producer._add_session(self)
                self._emit_start()
            except BaseException:
                self._break_off(lambda: self.cancel(by="system"))
                raise
        return self

    def _emit_start(self) -> None:
        self._started_at = self._emitter.clock()
        self._started_event = self._emitter.emit(
            SessionStarted,
            summarize_start(self._summary, self.phrases, is_one_language=self._emitter.speaks_own_language),
            attend=None if self._parent is None else {"parent_session_id": self._parent.session_id},
            request_text=UNSET if self._request is None else clean_text(self._request),
            requested_by=UNSET if self._requested_by is None else self._requested_by,
            expected_duration_ms=UNSET if self._expected_seconds is None else int(self._expected_seconds * 1000),
            tools_available=self.producer.tool_names or UNSET,
        )
        self._token = CURRENT_SESSIONS.set((*self._other_sessions(), self))

    def _complete_summaries(self, summary: SummaryLike, usual: Summaries) -> Summaries:
        return self._emitter.complete_summaries(summary, usual)

    @property
    def phrases(self) -> Phrases:
        """What texts are composed of in the session's language, or in English where that has no phrases."""
        return self._emitter.phrases

    @property
    def audience(self) -> frozenset[str] | None:
        """The principals that may hear and answer; None for all who are let in (CF-145)."""
        return self._source.audience

    @property
    def is_open(self) -> bool:
        """Whether the session has begun and is not over."""
        with self._emitter.lock:  # ending it takes questions back first, and who waits for one may ask here at once
            return self._emitter.is_active

    # -- other threads -----------------------------------------------------------------------

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function in this session, from any thread: ``pool.submit(session.run, find, "flights")``."""
        return self.wrap(function)(*args, **kwargs)

    def wrap(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return a function that runs in this session in any thread: ``pool.map(session.wrap(find), names)``."""
        if inspect.iscoroutinefunction(function):

            async def call_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                with self._as_current():
                    return await function(*args, **kwargs)

            return cast(Callable[P, T], functools.wraps(function)(call_async))

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            with self._as_current():
                return function(*args, **kwargs)

        return call

    @contextmanager
    def _as_current(self) -> Iterator[None]:
        token = CURRENT_SESSIONS.set((*self._other_sessions(), self))
        try:
            yield
        finally:
            CURRENT_SESSIONS.reset(token)

    # -- states ------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """The state that the agent is in, such as ``thinking``."""
        return self._emitter.agent_state

    def thinking(self, summary: SummaryLike = None) -> AbstractContextManager[Session]:
        """Announce that the agent thinks, until something else begins: ``with session.thinking():``."""
        return self._in_state("thinking", summary)

    def deciding(self, summary: SummaryLike = None) -> AbstractContextManager[Session]:
        """Announce that the agent weighs what to do, until something else begins: ``with session.deciding():``."""
        return self._in_state("deciding", summary)

    @contextmanager
    def _in_state(self, state: str, summary: SummaryLike) -> Iterator[Session]:
        self._activity.make_room()
        with self._emitter.lock:
            self._emitter.check_active()
            if not self._activity.calls and self._activity.questions.current is None:
                self._activity.flush_outputs()
                self._emitter.change_state(state, summary)
        yield self

    def progress(
        self,
        percent: float | None = None,
        *,
        step: int | None = None,
        total: int | None = None,
        description: str | None = None,
        left_seconds: float | None = None,
    ) -> None:
        """
        Announce how far the work has come, or only that it goes on. §4.2.2

        A number out of range is corrected and logged.
        """
        given = ProgressNumbers(percent, step, total, left_seconds)
        (percent, step, total, left_seconds), corrections = correct_progress(given)
        if corrections and not self._is_progress_logged:
            self._is_progress_logged = True
            _log.warning("Progress was corrected, and is from now on without a word: %s", " ".join(corrections))
        usual = summarize_progress(percent, step, total, self._emitter.phrases)
        is_empty = percent is None and step is None and total is None and description is None
        progress = Progress(
            percent=UNSET if percent is None else percent,
            step=UNSET if step is None else step,
            total_steps=UNSET if total is None else total,
            description=clean_text(description, 4096)
            if description is not None
            else usual.normal
            if is_empty
            else UNSET,
        )
        tell = functools.partial(
            self._emitter.emit,
            ProgressUpdated,
            self._complete_summaries(description, usual),
            urgency="background",
            progress=progress,
            eta_ms=UNSET if left_seconds is None else int(left_seconds * 1000),
        )
        has_room = self._activity.make_room()
        with self._emitter.lock:
            self._activity.tell_progress(tell, has_room=has_room)

    # -- tools -------------------------------------------------------------------------------

    def tool(
        self,
        name: str,
        *,
        risk: Literal["low", "medium", "high"] | None = None,
        irreversible: bool | None = None,
        ask: Ask | None = None,
        summary: SummaryLike = None,
        args: str = "",
        description: str | None = None,
        expected_seconds: float | None = None,
    ) -> Call:
        """Return a block for a tool call; one that is risky, irreversible or unclassified needs its granted ``ask``."""
        level, is_irreversible = classify_risk(risk, irreversible)
        return Call(
            self._activity,
            name,
            (ask.call if ask is not None else "") or new_id("call_"),
            risk=level,
            irreversible=is_irreversible,
            ask=ask,
            summary=summary,
            args=args,
            description=description,
            expected_seconds=expected_seconds,
        )

    # -- output ------------------------------------------------------------------------------

    def output(
        self, *, content_type: str | None = None, language: str | None = None, boundary: CoalesceHint | None = None
    ) -> Output:
        """Open an output, in which the agent writes to the user: ``with session.output() as out: out.write(text)``."""
        return self._activity.open_output(content_type=content_type, language=language, boundary=boundary)

    def write(self, text: str) -> None:
        """Write a text as an output of its own. The refusal that a tool returned says nothing: it was heard already."""
        if not isinstance(text, Refusal):
            self.output().close(text)

    # -- asking ------------------------------------------------------------------------------

    def confirm(
        self,
        action: str,
        consequence: str,
        *,
        tool: str | None = None,
        risk: Literal["low", "medium", "high"] = "high",
        irreversible: bool = True,
        reversibility: Literal["reversible", "reversible_with_effort", "irreversible"] | None = None,
        default: Literal["accept", "reject"] = "reject",
        timeout: int | None = None,
        summary: SummaryLike = None,
        context: dict[str, str] | None = None,
    ) -> Ask:
        """Ask the user for a yes; it covers one ``with session.tool(name, ask=ask):``."""
        classify_risk(risk, irreversible)  # raises for what is none
        call_id = new_id("call_")
        named = {} if tool is None else {"tool": tool}
        members = build_confirmation(
            action,
            consequence,
            risk=risk,
            irreversible=irreversible,
            reversibility=reversibility,
            default=default,
            timeout=timeout,
            context={**(context or {}), **named, "tool_call_id": call_id},  # C-38
            phrases=self.phrases,
        )
        return self._activity.questions.put(
            Ask(
                self._activity.questions,
                "confirmation",
                members,
                summary=summary,
                about=members["action"],
                call=call_id,
                tool=tool or "",
            )
        )

    def clarify(
        self,
        question: str,
        *,
        choices: Sequence[str] | dict[str, str] | None = None,
        kinds: Sequence[Literal["freetext", "yes_no", "multiple_choice", "numeric"]] | None = None,
        why: str | None = None,
        default: Any = None,
        timeout: int | None = None,
        summary: SummaryLike = None,
    ) -> Ask:
        """Ask the user a question; the ``response`` of the answer has the JSON type of its kind."""
        members = build_clarification(
            question,
            choices=choices,
            kinds=kinds,
            why=why,
            default=default,
            timeout=timeout,
            phrases=self.phrases,
        )
        return self._activity.questions.put(
            Ask(
                self._activity.questions,
                "clarification",
                members,
                summary=summary,
                about=members["question"],
                default=default,
            )
        )

    def withdraw(self, ask: Ask) -> None:
        """Take a question back."""
        self._activity.questions.withdraw(ask)

    def handoff(
        self,
        reason: str,
        to: Literal["human", "specialist_agent", "escalation_queue"] = "human",
        *,
        uri: str | None = None,
        context: dict[str, Any] | None = None,
        priority: Literal["low", "medium", "high"] | None = None,
        summary: SummaryLike = None,
    ) -> None:
        """Hand the work over, after which no tool runs; :meth:`handed_over` says that it was taken. §4.4.3"""
        activity = self._activity
        with self._emitter.lock:
            activity.check_may_act("another handoff")
            if activity.calls or activity.questions.current is not None:
                raise LocalProtocolError("A tool is running or a question is open. End it before handing over.")
            activity.flush_outputs()
            self._emitter.change_state("handing_off")
            self._emitter.emit(
                HandoffRequested,
                self._complete_summaries(summary, summarize_handoff(to, self.phrases)),
                urgency="critical",
                reason=clean_text(reason),
                target_kind=to,
                target_uri=UNSET if uri is None else uri,
                packaged_context=UNSET if context is None else clean_structure(context),
                urgency_for_handoff=UNSET if priority is None else priority,
            )
            activity.handoff = "requested"

    def handed_over(self, summary: SummaryLike = None) -> None:
        """Announce that the work was taken over, so that the session may complete."""
        if self._activity.handoff is None:
            raise LocalProtocolError("Nothing was handed over. Use handoff() first.")
        self._activity.handoff = "taken"
        self._result = summary

    # -- the end -----------------------------------------------------------------------------

    def result(self, summary: SummaryLike) -> None:
        """Set the summary of the result, announced when the session completes."""
        self._result = summary

    def complete(self, summary: SummaryLike = None, *, result_uri: str | None = None) -> None:
        """End the session as completed."""
        with self._emitter.lock:
            seconds = self._close_open()
            calls = self._emitter.state.invocations
            usual = summarize_completion(seconds, calls, self.phrases)
            result = summary or self._result
            summaries = self._complete_summaries(result, usual)
            if unfinished := self._activity.unfinished:
                summaries = unfinished.summarize(summaries if result else None, usual, self.phrases)
            self._emit_end(
                SessionCompleted,
                summaries,
                duration_ms=min(int(seconds * 1000), _MAX_DURATION),
                tool_invocations_count=calls,
                result_uri=UNSET if result_uri is None else result_uri,
            )

    def fail(
        self,
        summary: SummaryLike = None,
        *,
        category: str = "unknown",
        name: str | None = None,
        hint: str | None = None,
    ) -> None:
        """End the session as errored. The text of an error is not announced, because it may hold anything."""
        with self._emitter.lock:
            self._close_open()
            usual, advice = summarize_error(name or self.phrases["error-unnamed"], category, self.phrases)
            self._emit_end(
                SessionErrored,
                self._complete_summaries(summary, usual),
                urgency="critical",
                error_category=category,
                recoverable=category in ("transient", "requires_user"),
                remediation_hint=clean_text(hint or advice, 4096),
            )

    def cancel(
        self,
        summary: SummaryLike = None,
        *,
        by: Literal["user", "producer", "timeout", "system"] = "user",
        reason: str | None = None,
    ) -> None:
        """End the session as cancelled."""
        with self._emitter.lock:
            self._close_open()
            self._emit_end(
                SessionCancelled,
                self._complete_summaries(summary, summarize_cancellation(by, self.phrases)),
                cancelled_by=by,
                cancellation_reason=UNSET if reason is None else reason,
            )

    def emit(self, event: Envelope) -> None:
        """Send an event that was built elsewhere, an extension's for instance; :meth:`envelope` gives its envelope."""
        self._activity.make_room()
        self._emitter.emit_event(event)

    def envelope(self) -> dict[str, Any]:
        """Return the members that every event of this session begins with, for one that you build yourself."""
        return self._emitter.envelope()

    def _close_open(self) -> float:
        """Close what is open, and return how many seconds it all took."""
        self._emitter.check_active()
        self._emitter.check_usable()
        self._activity.close()
        return max(0.0, self._emitter.clock() - self._started_at)

    def _emit_end(self, cls: type[Envelope], summaries: Summaries, **members: Any) -> None:
        if self._activity.handoff is None:  # A.2: handing over is an end in itself
            self._emitter.change_state("idle")
        self._emitter.emit(cls, summaries, **members)
        self.producer._remove_session(self)

    # -- leaving, whatever happened ------------------------------------------------------------

    def _leave(self, error: BaseException | None) -> None:
        """Leave the block, because of an error if there is one."""
        try:
            try:
                self._end(error)
            except BaseException as problem:
                cause = error or problem
                self._break_off(lambda: self._end(cause))
                if error is None or not isinstance(problem, LocalProtocolError):
                    raise
        finally:
            self._forget()

    def _end(self, error: BaseException | None) -> None:
        """End the session: completed without an error, else cancelled or errored."""
        if not self.is_open:
            return
        if error is None:
            self._end_well()
        elif (stopper := find_stopper(error)) is not None:
            self.cancel(by=stopper)
        else:
            category, name = classify_error(error, self.phrases)
            self.fail(category=category, name=name)

    def _end_well(self) -> None:
        try:
            if self._activity.handoff == "requested":  # C-53: nobody said that it was taken
                told = self.phrases["not_taken"]
                more = f"{told} {self.phrases['unfinished']}"
                self.cancel((told, more, more), by="system")
            else:
                self.complete()
        except LocalProtocolError:
            self.fail(category="permanent", name=self.phrases["error-mistake"])
            raise

    def _stop(self, by: Literal["user", "producer"]) -> None:
        """End the session with its producer, whatever has happened to it."""
        try:
            self.cancel(by=by)
        except LocalProtocolError:
            self._break_off(lambda: self.cancel(by=by))

    def _withdraw_questions(self) -> None:
        """Take back what is asked, because the producer is about to end."""
        self._activity.questions.withdraw_all()

    def _break_off(self, end: Callable[[], None]) -> None:
        """End what the journal says is open, then the session, if it is not over."""
        with self._emitter.lock:
            self._activity.drop()
            last = self._emitter.recover()
            if last is not None and self.is_open:
                self._emitter.close_open(last)
                end()
            self.producer._remove_session(self)

    def _disown_after_fork(self) -> None:
        """Give the session up in a forked process: it is the parent's."""
        self._activity.drop()
        self._emitter.disown_after_fork()

    def _forget(self) -> None:
        if self._token is not None:
            with suppress(ValueError):  # left in another task or thread than it was entered in
                CURRENT_SESSIONS.reset(self._token)
            others = self._other_sessions()
            if not any(session.producer is self.producer for session in others):
                CURRENT_SESSIONS.set((*others, self))
            self._token = None

    def _other_sessions(self) -> list[Session]:
        """Return the sessions of this task or thread that still matter beside this one."""
        return [
            session
            for session in CURRENT_SESSIONS.get()
            if session.is_open or not (session.producer is self.producer or session.producer.is_closed)
        ]


class _HubSide:
    """A session as the hub sees it: a :class:`~aaep.hub.sessions.SessionSource`."""

    def __init__(self, session: Session, audience: frozenset[str] | None) -> None:
        self.audience = audience
        self._session = session

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._session.session_id

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """Return what a subscription needs to join the session now: CF-007, CF-146, C-36."""
        emitter = self._session._emitter
        with emitter.lock:
            if not emitter.is_active:
                return SessionSnapshot()
            state, prompts = emitter.build_resync(), self._session._activity.questions.join(subscription)
            return SessionSnapshot(self._session._started_event, prompts, state, emitter.last_event_id)

    def terms_changed(self, subscription: Subscription) -> None:
        """Reconsider who may answer the open question."""
        self._session._activity.questions.terms_changed(subscription)

    def subscription_ended(self, subscription_id: str) -> None:
        """Reconsider who may answer the open question."""
        self._session._activity.questions.subscription_ended(subscription_id)

    def reply(self, message: Reply, via: str) -> None:
        """Resolve the question that a reply is for."""
        self._session._activity.questions.reply(message, via)

    def owns_token(self, token: str) -> bool:
        """Whether a question of the session has this reply token."""
        return token in self._session._emitter.state.prompts

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """End the session as cancelled."""
        self._session.cancel(by=by, reason=reason)
