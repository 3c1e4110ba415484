"""
One piece of an agent's work, told to whoever listens: what :meth:`Producer.session` gives.

Emitting is a plain function, so the same session serves scripts, threads and
asyncio; only an :class:`Ask` waits. Leaving the block ends the session, and
whatever is open in it is closed or taken back first.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import UNSET

from ..errors import LocalProtocolError
from ..hub.sessions import SessionSnapshot
from ..protocol.events import (
    Envelope,
    HandoffRequested,
    ProgressUpdated,
    SessionCancelled,
    SessionCompleted,
    SessionErrored,
    SessionStarted,
    StateChanged,
)
from ..protocol.messages import Reply
from ..runtime.ids import identifier
from ..text import summaries
from ..text.sentences import Hint
from ..text.summaries import STATES, Said, Text, compose, plain, plainly
from .emitter import Emitter
from .output import Output
from .questions import Ask, Questions, clarification, confirmation
from .sending import advance, change, moved
from .tool_call import Call, classified, stopped

if TYPE_CHECKING:
    from ..hub.stream import Subscription
    from .producer import Producer

__all__ = ["CURRENT", "Session", "break_off", "leave", "stop"]

# Of each producer the open ones, innermost last, or the one that was left: who had one does not get another's.
CURRENT: Final[contextvars.ContextVar[tuple[Session, ...]]] = contextvars.ContextVar("aaep_sessions", default=())

State = Literal["idle", "thinking", "calling_tool", "writing_output", "awaiting_input", "deciding", "handing_off"]
_LOUD: Final = {"awaiting_input", "calling_tool", "handing_off"}  # C-16: the changes that are more than background


class Session:
    """What an agent tells of one piece of work, and asks in the course of it."""

    def __init__(
        self,
        producer: Producer,
        summary: Text,
        *,
        request: str | None = None,
        requested_by: str | None = None,
        expected_seconds: float | None = None,
        parent: Session | None = None,
        audience: str | Iterable[str] | None = None,
        language: str | None = None,
    ) -> None:
        self.producer = producer
        self.audience = producer.audience_for(audience, requested_by)
        self.voice: Emitter = producer.voice_for(self, language)
        self.session_id = self.voice.session_id
        self._agent_id = producer.info.agent_id
        self.questions = Questions(self, producer.hub)
        self.english = self.voice.language.lower().split("-")[0] == "en"
        self.running: dict[str, Call] = {}
        self._outputs: list[Output] = []
        self._opening: SessionStarted | None = None
        self._summary, self._parent = summary, parent
        self._request, self._requested_by, self._expected = request, requested_by, expected_seconds
        self._began = 0.0
        self._token: contextvars.Token[tuple[Session, ...]] | None = None
        self.handed: bool | None = None  # None: not handed over; then whether somebody took it
        self._result: Text = None

    # -- the block ---------------------------------------------------------------------------

    def __enter__(self) -> Session:
        self.start()
        return self

    async def __aenter__(self) -> Session:
        self.start()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._leave(error)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._leave(error)

    def start(self) -> Session:
        """Begin; the same as entering the block."""
        with self.voice.lock:
            if self._opening is not None:
                raise LocalProtocolError("The session has started already. Make another one with producer.session().")
            try:
                self.producer.opened(self)
                self._open()
            except BaseException:
                break_off(self, lambda: self.cancel(by="system"))
                raise
        return self

    def _open(self) -> None:
        self._began = self.voice.clock()
        name = self.producer.info.agent_name
        said = summaries.started(name if isinstance(name, str) else "The agent")
        self._opening = self.voice.say(
            SessionStarted,
            compose(self._summary, said, english=self.english),
            attend=None if self._parent is None else {"parent_session_id": self._parent.session_id},
            request_text=UNSET if self._request is None else plain(self._request),
            requested_by=UNSET if self._requested_by is None else self._requested_by,
            expected_duration_ms=UNSET if self._expected is None else int(self._expected * 1000),
            tools_available=self.producer.tool_names or UNSET,
        )
        self._token = CURRENT.set((*self._others(), self))

    def _leave(self, error: BaseException | None) -> None:
        try:
            leave(self, error)
        finally:
            self._forget()

    def drop(self) -> None:
        """Forget what is open, where it cannot be closed as usual."""
        self.questions.drop()
        while self.running:
            self.running.popitem()[1].running = False
        self._outputs.clear()

    def fork(self) -> None:
        """The process was forked: the session is the parent's."""
        self.drop()
        self.voice.fork()

    def _forget(self) -> None:
        if self._token is not None:
            with suppress(ValueError):  # left in another task or thread than it was entered in
                CURRENT.reset(self._token)
            others = self._others()
            if not any(one.producer is self.producer for one in others):
                CURRENT.set((*others, self))
            self._token = None

    def _others(self) -> list[Session]:
        return [one for one in CURRENT.get() if one.open or not (one.producer is self.producer or one.producer.closed)]

    @property
    def open(self) -> bool:
        return self.voice.order.stage == "active"

    def must_be_open(self) -> None:
        if not self.open:
            self.voice.must_be_free()
            when = "has not started" if self._opening is None else "is over"
            raise LocalProtocolError(f"The session {when}, so nothing was sent. Use it inside its `with` block.")

    # -- states ------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        agent = self.voice.order.agents.get(self._agent_id)
        return "idle" if agent is None else agent.state

    @property
    def calling(self) -> bool:
        return bool(self.running)

    def move(
        self, to: str, said: Text = None, *, urgency: str | None = None, attend: dict[str, Any] | None = None
    ) -> None:
        """Tell a change of state, if it is one. C-31: every transition is explicit."""
        with self.voice.lock:
            if (state := self.state) == to:
                return
            told = STATES[to] if said is None else compose(said, STATES[to], english=self.english)
            urgency = urgency or ("normal" if to in _LOUD else "background")
            language = None if self.english or said is not None else "en"
            if attend is None and language is None:
                self.voice.add(StateChanged, change(state, to, told), urgency)
            else:
                there: Any = {"from_state": state, "to_state": to}
                self.voice.say(StateChanged, told, urgency=urgency, primary=language, attend=attend, **there)

    def go(self, to: str) -> None:
        """The same in our own words, for who holds the lock."""
        if not self.english:
            self.move(to)
        elif (state := self.state) != to:
            self.voice.add(StateChanged, moved(state, to, STATES[to]), "normal" if to in _LOUD else "background")

    def rest(self, to: str) -> None:
        """Something ended: unless something else goes on, the agent is in this state now."""
        if not self.running and self.questions.current is None and self.questions.granted is None:
            self.go(to)
        self.settle_outputs()

    @contextmanager
    def _in(self, state: State, summary: Text) -> Iterator[Session]:
        with self.voice.lock:
            self.must_be_open()
            if not self.running and self.questions.current is None:
                self.settle_outputs(everything=True)
                self.move(state, summary)
        yield self

    def thinking(self, summary: Text = None) -> AbstractContextManager[Session]:
        """``with session.thinking():`` — the agent thinks, until something else begins."""
        return self._in("thinking", summary)

    def deciding(self, summary: Text = None) -> AbstractContextManager[Session]:
        """``with session.deciding():`` — the agent weighs what to do."""
        return self._in("deciding", summary)

    def progress(
        self,
        percent: float | None = None,
        *,
        step: int | None = None,
        total: int | None = None,
        description: str | None = None,
        left_seconds: float | None = None,
    ) -> None:
        """Say how far the work has come. §4.2.2"""
        said = compose(description, summaries.made(percent, step, total), english=self.english)
        text = None if description is None else plain(description, 4096)
        left = None if left_seconds is None else int(left_seconds * 1000)
        with self.voice.lock:
            self.voice.add(ProgressUpdated, advance(percent, step, total, text, left, said), "background")

    # -- tools -------------------------------------------------------------------------------

    def tool(
        self,
        name: str,
        *,
        risk: Literal["low", "medium", "high"] | None = None,
        irreversible: bool | None = None,
        ask: Ask | None = None,
        summary: Text = None,
        args: str = "",
        description: str | None = None,
        expected_seconds: float | None = None,
    ) -> Call:
        """A block around a tool. If it is risky, final or not classified it needs the ``ask`` that was agreed to."""
        level, final = classified(risk, irreversible)
        return Call(
            self,
            name,
            (ask.call if ask is not None else "") or identifier("call_"),
            risk=level,
            irreversible=final,
            ask=ask,
            summary=summary,
            args=args,
            description=description,
            expected_seconds=expected_seconds,
        )

    def may_act(self, name: str) -> None:
        if self.voice.order.stage != "active":
            self.must_be_open()
        if self.handed is not None:  # C-53
            raise LocalProtocolError(f"The work was handed over; {name} may no longer run.")

    # -- output ------------------------------------------------------------------------------

    def output(
        self, *, content_type: str | None = None, language: str | None = None, boundary: Hint | None = None
    ) -> Output:
        """``with session.output() as out: out.write(text)`` — what the agent says to the user."""
        self.must_be_open()
        output = Output(
            self, content_type=content_type, language=language, boundary=boundary or self.producer.hub.finest_boundary
        )
        self._outputs.append(output)
        return output

    def write(self, text: str) -> None:
        """Say something at once: an output with nothing but this text."""
        with self.output() as output:
            output.write(text)

    @property
    def may_write(self) -> bool:
        """Text waits while a tool runs or a question is open: a listener follows one thing at a time (TOOL-007)."""
        free = not self.running and self.questions.current is None and self.questions.granted is None
        return free and self.voice.order.stage == "active"

    def settle_outputs(self, *, everything: bool = True) -> None:
        """Send the text that is ready, before something else is told."""
        for output in [*self._outputs]:
            output.settle(everything=everything and self.state == "writing_output")

    def wrote(self, output: Output) -> None:
        self._outputs.remove(output)
        if not self._outputs and self.state == "writing_output":
            self.move("idle")

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
        summary: Text = None,
        context: dict[str, str] | None = None,
    ) -> Ask:
        """Ask for a yes; then act inside ``with session.tool(name, ask=ask):``, which the answer covers once."""
        classified(risk, irreversible)  # raises for what is none
        call = identifier("call_")
        named = {} if tool is None else {"tool": tool}
        about = {**(context or {}), **named, "tool_call_id": call}  # C-38
        members = confirmation(
            action,
            consequence,
            risk=risk,
            irreversible=irreversible,
            reversibility=reversibility,
            default=default,
            timeout=timeout,
            context=about,
        )
        what = members["action"]
        ask = Ask(self.questions, "confirmation", members, said=summary, about=what, call=call, tool=tool or "")
        return self.questions.put(ask)

    def clarify(
        self,
        question: str,
        *,
        choices: Sequence[str] | dict[str, str] | None = None,
        kinds: Sequence[Literal["freetext", "yes_no", "multiple_choice", "numeric"]] | None = None,
        why: str | None = None,
        default: Any = None,
        timeout: int | None = None,
        summary: Text = None,
    ) -> Ask:
        """Ask something. ``answer.response`` holds what was said, of the JSON type its kind has."""
        members = clarification(question, choices=choices, kinds=kinds, why=why, default=default, timeout=timeout)
        ask = Ask(self.questions, "clarification", members, said=summary, about=members["question"], default=default)
        return self.questions.put(ask)

    def withdraw(self, ask: Ask) -> None:
        """No longer ask."""
        self.questions.withdraw(ask)

    def handoff(
        self,
        reason: str,
        to: Literal["human", "specialist_agent", "escalation_queue"] = "human",
        *,
        uri: str | None = None,
        context: dict[str, Any] | None = None,
        priority: Literal["low", "medium", "high"] | None = None,
        summary: Text = None,
    ) -> None:
        """Ask somebody else to go on. No tool runs after it; say with :meth:`handed_over` that it was taken. §4.4.3"""
        with self.voice.lock:
            self.may_act("another handoff")
            if self.running or self.questions.current is not None:
                raise LocalProtocolError("A tool is running or a question is open. End it before handing over.")
            self.settle_outputs()
            self.move("handing_off")
            self.voice.say(
                HandoffRequested,
                compose(summary, summaries.handed(to), english=self.english),
                urgency="critical",
                reason=plain(reason),
                target_kind=to,
                target_uri=UNSET if uri is None else uri,
                packaged_context=UNSET if context is None else plainly(context),
                urgency_for_handoff=UNSET if priority is None else priority,
            )
            self.handed = False

    def handed_over(self, summary: Text = None) -> None:
        """Somebody has taken over: the session may end well."""
        if self.handed is None:
            raise LocalProtocolError("Nothing was handed over. Use handoff() first.")
        self.handed, self._result = True, summary

    # -- the end -----------------------------------------------------------------------------

    def result(self, summary: Text) -> None:
        """What to say when the session ends well; told at the end of the block."""
        self._result = summary

    def complete(self, summary: Text = None, *, result_uri: str | None = None) -> None:
        """The work is done."""
        with self.voice.lock:
            seconds = self._close()
            calls = self.voice.order.invocations
            said = compose(summary or self._result, summaries.completed(seconds, calls), english=self.english)
            self._last(
                SessionCompleted,
                said,
                duration_ms=min(int(seconds * 1000), 86_400_000),
                tool_invocations_count=calls,
                result_uri=UNSET if result_uri is None else result_uri,
            )

    def fail(
        self, summary: Text = None, *, category: str = "unknown", name: str = "an error", hint: str | None = None
    ) -> None:
        """The work failed. What the error itself says is not told: it may hold anything."""
        with self.voice.lock:
            self._close()
            said, advice = summaries.errored(name, category)
            self._last(
                SessionErrored,
                compose(summary, said, english=self.english),
                urgency="critical",
                error_category=category,
                recoverable=category in ("transient", "requires_user"),
                remediation_hint=plain(hint or advice, 4096),
            )

    def cancel(
        self,
        summary: Text = None,
        *,
        by: Literal["user", "producer", "timeout", "system"] = "user",
        reason: str | None = None,
    ) -> None:
        """The work is stopped."""
        with self.voice.lock:
            self._close()
            self._last(
                SessionCancelled,
                compose(summary, summaries.cancelled(by), english=self.english),
                cancelled_by=by,
                cancellation_reason=UNSET if reason is None else reason,
            )

    def _close(self) -> float:
        """C-54: take back questions, give up tools, complete outputs; then how long it all took."""
        self.must_be_open()
        self.voice.must_be_free()
        self.questions.void()
        for call in [*self.running.values()]:
            call.abandon()
        for output in [*self._outputs]:
            output.close()
        return max(0.0, self.voice.clock() - self._began)

    def _last(self, cls: Any, said: Said, **members: Any) -> None:
        if self.handed is None:  # A.2: handing over is an end in itself
            self.move("idle")
        self.voice.say(cls, said, **members)
        self.producer.shut(self)

    # -- for the hub -------------------------------------------------------------------------

    def emit(self, event: Envelope) -> None:
        """Send an event that was built elsewhere, an extension's for instance; ``voice.stamp()`` gives its envelope."""
        self.voice.send(event)

    def owns_token(self, token: str) -> bool:
        return token in self.voice.order.prompts

    def reply(self, message: Reply, via: str) -> None:
        self.questions.reply(message, via)

    def subscription_ended(self, subscription_id: str) -> None:
        self.questions.left(subscription_id)

    def terms_changed(self, subscription: Subscription) -> None:
        self.questions.changed(subscription)

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """What a listener who comes now has to know: CF-007, CF-146, C-36."""
        with self.voice.lock:
            if not self.open:
                return SessionSnapshot()
            state, pending = self.voice.resync(self.state), self.questions.join(subscription)
            return SessionSnapshot(self._opening, pending, state, self.voice.last_event_id)


# -- ending --


def leave(session: Session, error: BaseException | None) -> None:
    """The block of a session is left, because of an error if there is one."""
    try:
        _end(session, error)
    except BaseException as problem:
        cause = error or problem
        break_off(session, lambda: _end(session, cause))
        if error is None or not isinstance(problem, LocalProtocolError):
            raise


def stop(session: Session, by: Literal["user", "producer"]) -> None:
    """Everything ends, so this does too, whatever has happened to it."""
    try:
        session.cancel(by=by)
    except LocalProtocolError:
        break_off(session, lambda: session.cancel(by=by))


def break_off(session: Session, end: Callable[[], None]) -> None:
    """End what the journal says is open, then the session, if it is not over."""
    with session.voice.lock:
        session.drop()
        last = session.voice.mend()
        if last is not None and session.open:
            session.voice.close(last)
            end()
        session.producer.shut(session)


def _end(session: Session, error: BaseException | None) -> None:
    if not session.open:
        return
    if error is None:
        _end_well(session)
    elif (by := stopped(error)) is not None:
        session.cancel(by=by)
    else:
        category, name = summaries.failure(error)
        session.fail(category=category, name=name)


def _end_well(session: Session) -> None:
    try:
        if session.handed is False:  # C-53: nobody said that it was taken
            session.cancel(("Not taken.", *("Nobody has taken over. The work is not finished.",) * 2), by="system")
        else:
            session.complete()
    except LocalProtocolError:
        session.fail(category="permanent", name="a mistake in the agent")
        raise
