"""One call of a tool: announced before it runs, and ended whatever happens to it. §4.3"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from concurrent.futures import Future
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import UNSET

from ..errors import LocalProtocolError, Violation
from ..protocol.consent import needs_consent
from ..protocol.events import (
    ToolCompleted,
    ToolInvoked,
)
from ..runtime.background import in_asyncio
from ..text.summaries import (
    Said,
    Text,
    abandoned,
    compose,
    failed,
    failure,
    forgone,
    invoked,
    plain,
    returned,
)
from .questions import Ask
from .sending import REST

pass

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Call", "classified", "decided", "stopped"]

_INVOKED: Final = REST[ToolInvoked]
_COMPLETED: Final = REST[ToolCompleted]


class Call:
    """
    A block in which a tool runs: ``with session.tool(…):`` or ``async with``.

    Entering announces the tool and raises before anything runs if it may not
    run now (TOOL-001 §4.3.1). While a question is before the person it waits.
    """

    __slots__ = (
        "_args",
        "_ask",
        "_began",
        "_description",
        "_expected",
        "_irreversible",
        "_ready",
        "_result",
        "_risk",
        "_session",
        "_summary",
        "id",
        "name",
        "running",
    )

    def __init__(
        self,
        session: Session,
        name: str,
        call_id: str,
        *,
        risk: str,
        irreversible: bool,
        ask: Ask | None = None,
        ready: Callable[[], None] | None = None,
        summary: Text = None,
        args: str = "",
        description: str | None = None,
        expected_seconds: float | None = None,
    ) -> None:
        """``ready`` is called last before the tool is announced, and may raise."""
        self.name, self.id = name, call_id
        self._session, self._ask, self._ready = session, ask, ready
        self._risk, self._irreversible = risk, irreversible
        self._summary, self._args, self._description = summary, plain(args) if args else "", description
        self._expected = expected_seconds
        self._result: Text = None
        self._began = 0.0
        self.running = False

    def result(self, summary: Text) -> None:
        """Say what came out of it; told when it ends."""
        self._result = summary

    # -- the block -------------------------------------------------------------------------

    def __enter__(self) -> Call:
        if self._begin() is not None:
            self.begin()
        return self

    def begin(self) -> None:
        """Announce the tool, as soon as it may run."""
        while (waiting := self._begin()) is not None:
            if in_asyncio():
                raise LocalProtocolError(
                    f"{self.name} cannot start while a question is open. Use `async with`, or wait for the answer."
                )
            self._session.questions.may_wait(self.name)
            waiting.arrived.wait()

    async def __aenter__(self) -> Call:
        while (waiting := self._begin()) is not None:
            await waiting.arrived
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.end(error)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.end(error)

    def _begin(self) -> Ask | None:
        """Announce the tool; or the question that has to be answered first (C-78)."""
        session = self._session
        with session.voice.lock:
            blocking = session.questions.current
            if blocking is not None:
                return blocking
            session.may_act(self.name)
            if self._ready is not None:
                self._ready()
            said = invoked(self.name, self._args)
            if self._summary is not None:
                said = compose(self._summary, said, english=session.english)
            rest = _INVOKED(
                tool=self.name,
                tool_call_id=self.id,
                risk_level=self._risk,
                irreversible=self._irreversible,
                description=UNSET if self._description is None else plain(self._description, 4096),
                args_summary=self._args or UNSET,
                expected_duration_ms=UNSET if self._expected is None else int(self._expected * 1000),
                summary_terse=said.terse,
                summary_normal=said.normal,
                summary_detailed=said.detailed,
            )
            order = session.voice.order
            if order.prompts or needs_consent(rest):  # else there is nothing to judge
                wrong: list[Violation] = []
                order.judge_consent(rest, wrong)  # before the state is told, which would promise a call
                if wrong:
                    raise LocalProtocolError(f"{self.name} did not run.", wrong)
            session.settle_outputs()
            session.go("calling_tool")
            self._began = session.voice.clock()
            self.running = True
            session.running[self.id] = self  # first, so that it is ended if we are interrupted here
            try:
                session.voice.add(ToolInvoked, rest)
            except Exception:
                self.running = False
                del session.running[self.id]
                raise
            except BaseException as error:  # announced or not, it does not run
                self.end(error)
                raise
            if self._ask is not None:
                session.questions.began(self._ask)
        return None

    def end(self, error: BaseException | None) -> None:
        """Say how it ended."""
        try:
            self._end(error)
        except LocalProtocolError:
            if error is None:  # else that error is what there is to tell; the session ends what is left open
                raise

    def _end(self, error: BaseException | None) -> None:
        if error is None:
            seconds, result = self._seconds(), self._result
            said = returned(self.name, seconds)
            self._complete("success", said if result is None else compose(result, said), seconds)
        elif stopped(error) is not None:
            self._complete("error", failed(self.name, "cancelled"), error_message="cancelled")  # C-42: it has stopped
        else:
            _, name = failure(error)
            self._complete("error", failed(self.name, name), error_message=f"The tool failed: {name}.")

    # -- what is not done at once ------------------------------------------------------------

    def go_on(self) -> None:
        """CF-027, C-54: once everybody was told that the session is over, nothing of it begins."""
        if not self.running:
            raise LocalProtocolError(
                f"The session of {self.name} is over, so it did not go on. Use up what a tool gives inside the session."
            )

    def steps(self, given: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """A generator that runs in this block and is its end; each step is one that may still be taken."""
        take, sent = given.send, None
        try:
            while True:
                self.go_on()
                try:
                    got = take(sent)
                except StopIteration as done:
                    self.end(None)
                    return done.value
                try:
                    take, sent = given.send, (yield got)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    take, sent = given.throw, error
        except BaseException as error:
            try:
                given.close()
            finally:
                self.end(error)
            raise

    async def flow(self, given: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        """The same for an asynchronous generator."""
        sent = None
        try:
            async with aclosing(given):
                while True:
                    self.go_on()
                    try:
                        got = await given.asend(sent)
                    except StopAsyncIteration:
                        break
                    sent = yield got
        except BaseException as error:
            self.end(error)
            raise
        self.end(None)

    async def later(self, given: Awaitable[Any]) -> Any:
        """The same for what is awaited."""
        try:
            if not asyncio.isfuture(given):  # which runs by itself
                if not self.running and asyncio.iscoroutine(given):
                    given.close()
                self.go_on()
            value = await given
        except BaseException as error:
            self.end(error)
            raise
        self.end(None)
        return value

    def done(self, given: Future[Any]) -> None:
        """What a thread does for it is done."""
        self.end(asyncio.CancelledError() if given.cancelled() else given.exception())

    def forgo(self) -> None:
        """It was agreed to and will not run. HITL-018: it is announced all the same, and that it did not run."""
        self._summary, said = forgone(self.name)
        if self._begin() is None:
            self._complete("error", said, error_message=said.normal)

    def abandon(self) -> None:
        """Its session ends while it runs: what it did is not known. C-42"""
        said = abandoned(self.name)
        self._complete("timeout", said, error_message=said.normal)

    def _complete(
        self, status: str, said: Said, seconds: float | None = None, error_message: str | None = None
    ) -> None:
        session = self._session
        with session.voice.lock:
            if not self.running:
                return  # abandoned when its session ended; there is nobody left to tell
            self.running = False
            del session.running[self.id]
            session.voice.add(
                ToolCompleted,
                _COMPLETED(
                    tool=self.name,
                    tool_call_id=self.id,
                    status=status,
                    duration_ms=min(int((self._seconds() if seconds is None else seconds) * 1000), 86_400_000),
                    error_message=UNSET if error_message is None else plain(error_message, 4096),
                    summary_terse=said.terse,
                    summary_normal=said.normal,
                    summary_detailed=said.detailed,
                ),
            )
            session.rest("thinking")

    def _seconds(self) -> float:
        return max(0.0, self._session.voice.clock() - self._began)


def classified(risk: str | None, irreversible: bool | None) -> tuple[str, bool]:
    """C-41: what is not declared counts as the worst. Low risk says that nothing is lost."""
    if risk not in (None, "low", "medium", "high"):
        raise ValueError(f"risk is low, medium or high, not {risk!r}.")
    decided(irreversible=irreversible)
    if irreversible is None:
        irreversible = risk != "low"
    return risk or "high", irreversible


def decided(**said: object) -> None:
    """What decides whether somebody is asked is said plainly: 1, or a word, could be taken for a yes or for a no."""
    for name, value in said.items():
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"{name} is True or False, not {value!r}.")


_STOPPED: Final[dict[type[BaseException], Literal["user", "producer", "system"]]] = {
    KeyboardInterrupt: "user",
    SystemExit: "system",
    asyncio.CancelledError: "producer",
    GeneratorExit: "producer",
}


def stopped(error: BaseException) -> Literal["user", "producer", "system"] | None:
    """Who stopped the work, if an error says that it was stopped and not that it failed."""
    return next((by for kind, by in _STOPPED.items() if isinstance(error, kind)), None)
