"""One call of a tool: announced before it runs, and ended whatever happens to it. §4.3"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from concurrent.futures import Future
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Final, Literal, Protocol

from msgspec import UNSET

from ..errors import AaepError, LocalProtocolError
from ..journal.base import JournalError
from ..protocol.events import ToolCompleted, ToolInvoked
from ..text.actions import describe_undone
from ..text.phrases import Phrases
from ..text.summaries import (
    Summaries,
    SummaryLike,
    classify_error,
    clean_text,
    describe_possible_effect,
    humanize_name,
    summarize_abandoned_call,
    summarize_call,
    summarize_call_failure,
    summarize_call_result,
    summarize_early_end,
    summarize_skipped_call,
    summarize_stopped_call,
)
from .emitter import Emitter
from .questions import Ask, Questions
from .unfinished import Unfinished

__all__ = ["Call", "CallHost", "check_is_bool", "classify_risk", "find_stopper", "how_to_wait"]

_MAX_DURATION: Final = 86_400_000  # milliseconds


class CallHost(Protocol):
    """What a call needs of the session it belongs to."""

    emitter: Emitter
    questions: Questions
    unfinished: Unfinished
    calls: dict[str, Call]  # that run, by id

    def make_room(self) -> bool:
        """Wait until readers keep up, where the caller may wait."""

    async def wait_for_room(self) -> None:
        """Wait until readers keep up."""

    def check_may_act(self, name: str) -> None:
        """Raise if no tool may begin any more."""

    def flush_outputs(self) -> None:
        """Send the text that is ready."""

    def settle_state(self, to_state: str) -> None:
        """Change the state of the agent, unless something else goes on."""


class Call:
    """
    A block in which a tool runs: ``with session.tool(…):`` or ``async with``.

    Entering announces the tool and raises before anything runs if it may not
    run now (TOOL-001 §4.3.1). While a question is before the person it waits.
    """

    __slots__ = (
        "_args",
        "_ask",
        "_description",
        "_expected_seconds",
        "_host",
        "_irreversible",
        "_is_handed_over",
        "_is_skipped",
        "_on_handover",
        "_on_ready",
        "_result",
        "_risk",
        "_started_at",
        "_summary",
        "id",
        "is_running",
        "name",
    )

    def __init__(
        self,
        host: CallHost,
        name: str,
        call_id: str,
        *,
        risk: str,
        irreversible: bool,
        ask: Ask | None = None,
        on_ready: Callable[[], None] | None = None,
        on_handover: Callable[[], None] | None = None,
        summary: SummaryLike = None,
        args: str = "",
        description: str | None = None,
        expected_seconds: float | None = None,
    ) -> None:
        """
        ``on_ready`` is called before the tool is announced, and last before it runs, and may raise.

        ``on_handover`` is called when what the tool does is yet to be done by what it returned.
        """
        self.name = name
        self.id = call_id
        self.is_running = False
        self._host = host
        self._risk = risk
        self._irreversible = irreversible
        self._ask = ask
        self._on_ready = on_ready
        self._on_handover = on_handover
        self._is_handed_over = False
        self._summary = summary
        self._args = clean_text(args) if args else ""
        self._description = description
        self._expected_seconds = expected_seconds
        self._result: SummaryLike = None
        self._is_skipped = False
        self._started_at = 0.0

    def result(self, summary: SummaryLike) -> None:
        """Set the summary of the result, announced when the call ends."""
        self._result = summary

    # -- the block -------------------------------------------------------------------------

    def __enter__(self) -> Call:
        self.begin()
        return self

    def begin(self) -> None:
        """Announce the tool, as soon as it may run."""
        if self._ask is None:  # what was agreed to begins at once
            self._host.make_room()
        while (blocking := self._try_begin()) is not None:
            self._host.questions.check_may_wait(
                f"Waiting until {self.name} may start, while a question is open,",
                f"For a block, write `async with`. For a tool, {how_to_wait(self.name)}.",
            )
            blocking.arrived.wait()
        self._check_ready()

    async def __aenter__(self) -> Call:
        if self._ask is None:
            await self._host.wait_for_room()
        while (blocking := self._try_begin()) is not None:
            await blocking.arrived
        self._check_ready()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.end(error)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.end(error)

    def _try_begin(self) -> Ask | None:
        """Announce the tool, or return the question that has to be answered first (C-78)."""
        host, emitter = self._host, self._host.emitter
        with emitter.lock:
            if host.questions.current is not None:
                return host.questions.current
            host.check_may_act(self.name)
            if self._on_ready is not None:
                self._on_ready()
            members = self._members()
            # Before the state is told, which would promise a call.
            violations = emitter.state.judge_consent(ToolInvoked(**emitter.envelope(), **members))
            if violations:
                raise LocalProtocolError(f"{self.name} did not run.", violations)
            host.flush_outputs()
            emitter.change_state("calling_tool")
            self._started_at = emitter.clock()
            self.is_running = True
            host.calls[self.id] = self  # first, so that it is ended if we are interrupted here
            try:
                emitter.emit(ToolInvoked, attend={"skipped": True} if self._is_skipped else None, **members)
                if self._ask is not None:
                    self._commit()
            except Exception:
                self.is_running = False
                host.calls.pop(self.id, None)
                raise
            except BaseException:  # announced or not, it does not run
                with suppress(LocalProtocolError):
                    self._complete_stopped()
                raise
            if self._ask is not None:
                host.questions.call_began(self._ask)
        return None

    def _check_ready(self) -> None:
        """Raise if what would run now is not what was agreed to: those who heard of the call may have changed it."""
        if self._on_ready is None:
            return
        try:
            self._on_ready()
        except LocalProtocolError:
            text = describe_undone([self._label], self._phrases)
            with suppress(LocalProtocolError):  # the session ends what is left open
                self._complete("error", Summaries(text, text, text), "not_done", error_message=text)
            raise

    def _commit(self) -> None:
        """Wait until the yes and the announcement are kept, so that nothing is said to be undone that was done."""
        try:
            self._host.emitter.commit()
        except JournalError as error:
            with suppress(AaepError):  # if that cannot be told either, the session's end is all there is
                self._complete_stopped()
            raise JournalError(f"{self.name} did not run, because that could not be kept. {error}") from error

    @property
    def _phrases(self) -> Phrases:
        return self._host.emitter.phrases

    def _members(self) -> dict[str, Any]:
        """Return the members of the announcement beside the envelope."""
        summaries = summarize_call(self.name, self._args, self._phrases)
        if self._summary is not None:
            summaries = self._host.emitter.complete_summaries(self._summary, summaries)
        return {
            "tool": self.name,
            "tool_call_id": self.id,
            "risk_level": self._risk,
            "irreversible": self._irreversible,
            "description": UNSET if self._description is None else clean_text(self._description, 4096),
            "args_summary": self._args or UNSET,
            "expected_duration_ms": UNSET if self._expected_seconds is None else int(self._expected_seconds * 1000),
            "summary_terse": summaries.terse,
            "summary_normal": summaries.normal,
            "summary_detailed": summaries.detailed,
        }

    def end(self, error: BaseException | None, *, name: str = "") -> None:
        """End the call, and announce how it ended; ``name`` is what the error is called, else the name of its type."""
        try:
            self._end(error, name)
        except LocalProtocolError:
            if error is None:  # else that error is what there is to tell; the session ends what is left open
                raise

    def _end(self, error: BaseException | None, name: str) -> None:
        if error is None:
            summaries = summarize_call_result(self.name, self._seconds(), self._phrases)
            if self._result is not None:
                summaries = self._host.emitter.complete_summaries(self._result, summaries)
            self._complete("success", summaries, "done")
        elif self._may_change_something and _is_effect_unknown(error):
            if self.is_running:
                error.add_note(describe_possible_effect(self._label, self._phrases))
            self.abandon()
        elif find_stopper(error) is not None:
            self._complete_stopped()
        else:
            told_name = name or classify_error(error, self._phrases)[1]
            summaries, message = summarize_call_failure(
                self.name, told_name, self._phrases, is_irreversible=self._irreversible
            )
            self._complete("error", summaries, "failed", error_message=message)

    def end_early(self) -> None:
        """End the call because its caller takes no more of what it gives: it ran as far as it was asked to."""
        with suppress(LocalProtocolError):  # the session ends what is left open
            self._complete("success", summarize_early_end(self.name, self._phrases), "done")

    @property
    def _may_change_something(self) -> bool:
        return self._irreversible or self._risk != "low" or self._ask is not None

    @property
    def _label(self) -> str:
        """What the call does, in few words: what was agreed to, else the name of the tool."""
        return self._ask.label if self._ask is not None else humanize_name(self.name)

    # -- what is not done at once ------------------------------------------------------------

    def check_running(self) -> None:
        """Raise if the session of the call is over: nothing of it may begin then. CF-027, C-54"""
        if not self.is_running:
            raise LocalProtocolError(
                f"The session of {self.name} is over, so it did not go on. Use up what a tool gives inside the session."
            )

    def hand_over(self) -> None:
        """Note that what the tool returned does its work later, with the arguments as they are now."""
        self._is_handed_over = True
        if self._on_handover is None:
            return
        try:
            self._on_handover()
        except LocalProtocolError as error:
            self.end(error)
            raise

    def _check_handed_over(self) -> None:
        """Raise if the arguments were changed before what the tool returned begins."""
        if self._is_handed_over:
            self._check_ready()

    def run_generator(self, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Run a generator in this block, which ends with it; each step is one that may still be taken."""
        advance, sent = generator.send, None
        try:
            self._check_handed_over()
            while True:
                self.check_running()
                try:
                    value = advance(sent)
                except StopIteration as done:
                    self.end(None)
                    return done.value
                try:
                    advance, sent = generator.send, (yield value)
                except GeneratorExit:
                    generator.close()
                    self.end_early()
                    raise
                except BaseException as error:
                    advance, sent = generator.throw, error
        except BaseException as error:
            try:
                generator.close()
            finally:
                self.end(error)
            raise

    async def run_async_generator(self, generator: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        """Run an asynchronous generator in this block, which ends with it."""
        sent = None
        try:
            async with aclosing(generator):
                self._check_handed_over()
                while True:
                    self.check_running()
                    try:
                        value = await generator.asend(sent)
                    except StopAsyncIteration:
                        break
                    try:
                        sent = yield value
                    except GeneratorExit:
                        await generator.aclose()
                        self.end_early()
                        raise
        except BaseException as error:
            self.end(error)
            raise
        self.end(None)

    async def run_awaitable(self, awaitable: Awaitable[Any]) -> Any:
        """Await something in this block, which ends with it."""
        try:
            if not asyncio.isfuture(awaitable):  # which runs by itself
                self.check_running()
                self._check_handed_over()
            value = await awaitable
        except BaseException as error:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()  # which does nothing to one that has ended
            self.end(error)
            raise
        self.end(None)
        return value

    def end_with_future(self, future: Future[Any]) -> None:
        """End the block with what a thread has done for it."""
        if future.cancelled():  # which is possible only before it runs
            with suppress(LocalProtocolError):
                self._complete_stopped()
        else:
            self.end(future.exception())

    def skip(self) -> None:
        """Announce a call that was agreed to and will not run. HITL-018"""
        summaries = summarize_skipped_call(self._label, self._phrases)
        self._summary = summaries
        self._is_skipped = True
        if self._try_begin() is None:
            self._complete("error", summaries, "not_done", error_message=summaries.normal)

    def abandon(self) -> None:
        """Announce that nobody waits for the call any more, so that its effect is not known. C-42, TOOL-008"""
        summaries = summarize_abandoned_call(self.name, self._phrases)
        self._complete("timeout", summaries, "may_have_happened", error_message=summaries.normal)

    def _complete_stopped(self) -> None:
        """Announce that the call was stopped, and has nothing changed that anybody was asked about. C-42"""
        self._complete("error", summarize_stopped_call(self.name, self._phrases), "not_done", error_message="cancelled")

    def _complete(
        self,
        status: str,
        summaries: Summaries,
        outcome: Literal["done", "failed", "not_done", "may_have_happened"],
        error_message: str | None = None,
    ) -> None:
        emitter = self._host.emitter
        with emitter.lock:
            if not self.is_running:
                return  # abandoned when its session ended; there is nobody left to tell
            self._host.flush_outputs()
            self.is_running = False
            del self._host.calls[self.id]
            self._note_outcome(outcome)
            emitter.emit(
                ToolCompleted,
                summaries,
                attend={"skipped": True} if self._is_skipped else None,
                tool=self.name,
                tool_call_id=self.id,
                status=status,
                duration_ms=min(int(self._seconds() * 1000), _MAX_DURATION),
                error_message=UNSET if error_message is None else clean_text(error_message, 4096),
            )
            self._host.settle_state("thinking")

    def _note_outcome(self, outcome: Literal["done", "failed", "not_done", "may_have_happened"]) -> None:
        """Remember for the end of the session what somebody agreed to and was not done, and what may have happened."""
        action = self._ask.about if self._ask is not None else f"{self.name} {self._args}"
        if outcome == "done":
            self._host.unfinished.forget(action)
        elif self._ask is not None or (outcome == "may_have_happened" and self._may_change_something):
            self._host.unfinished.note(action, self._label, outcome)

    def _seconds(self) -> float:
        return max(0.0, self._host.emitter.clock() - self._started_at)


def classify_risk(risk: str | None, irreversible: bool | None) -> tuple[str, bool]:
    """Return the risk and irreversibility of a tool; what is not declared counts as the worst. C-41"""
    if risk not in (None, "low", "medium", "high"):
        raise ValueError(f"risk is low, medium or high, not {risk!r}.")
    check_is_bool(irreversible=irreversible)
    if irreversible is None:
        irreversible = risk != "low"
    return risk or "high", irreversible


def check_is_bool(**settings: object) -> None:
    """Raise unless each setting is True, False or None: 1, or a word, could be taken for a yes or for a no."""
    for name, value in settings.items():
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"{name} is True or False, not {value!r}.")


def how_to_wait(name: str) -> str:
    """Return what to write in asyncio for a plain function that has to wait for a person."""
    return f"make it `async def {name}` and await it, or call it with `await asyncio.to_thread({name}, …)`"


_STOPPERS: Final[dict[type[BaseException], Literal["user", "producer", "system"]]] = {
    KeyboardInterrupt: "user",
    SystemExit: "system",
    asyncio.CancelledError: "producer",
    GeneratorExit: "producer",
}


def find_stopper(error: BaseException) -> Literal["user", "producer", "system"] | None:
    """Return who stopped the work, if an error says that it was stopped and not that it failed."""
    return next((stopper for kind, stopper in _STOPPERS.items() if isinstance(error, kind)), None)


def _is_effect_unknown(error: BaseException) -> bool:
    """Whether an error says that a call was broken off, or that an answer was waited for in vain; not what it did."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_effect_unknown, error.exceptions))
    # Network libraries have their own: httpx.ReadTimeout is no TimeoutError.
    is_timeout = any("timeout" in kind.__name__.lower() for kind in type(error).__mro__)
    return is_timeout or find_stopper(error) is not None
