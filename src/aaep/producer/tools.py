"""
``@producer.tool``: a function that asks before it acts, says what it does, and is otherwise the same.

Nothing runs outside a session, and nothing risky runs without a yes. A refusal
is returned as text, for most functions that are decorated answer to a model,
which should read it; ``on_refusal="raise"`` is there for the others.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import aclosing
from functools import wraps
from string import Formatter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from ..errors import AaepError, LocalProtocolError
from ..protocol.events import ToolInvoked
from ..protocol.rules import pattern_test
from ..runtime.ids import identifier
from ..text.summaries import Text, plain, title
from .questions import Answer, Ask, confirmation
from .session import CURRENT, Session
from .tool_arguments import State, arguments, filled, state, whole
from .tool_call import Call, classified, decided

if TYPE_CHECKING:
    from .producer import Producer

__all__ = ["Refused", "Tool", "decorate"]

F = TypeVar("F", bound=Callable[..., Any])

_is_name: Final = pattern_test(ToolInvoked, "tool")
_MEMBER: Final = re.compile(r"[.\[]")


class Refused(AaepError):
    """The person did not agree, so the tool did not run. ``answer`` says how it came about."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(answer.refusal)


class Tool:
    """What is known of a tool before it is called."""

    def __init__(
        self,
        producer: Producer,
        function: Callable[..., Any],
        *,
        name: str | None,
        risk: Literal["low", "medium", "high"] | None,
        irreversible: bool | None,
        action: str | None,
        consequence: str | None,
        summary: str | None,
        confirm: bool | None,
        timeout: int | None,
        on_refusal: Literal["return", "raise"],
    ) -> None:
        self.name = name or re.sub(r"[^A-Za-z0-9_.-]", "_", getattr(function, "__name__", "tool"))
        if _is_name(self.name) is None:
            raise ValueError(f"{self.name!r} cannot name a tool: letters, digits, _ . and - only, a letter first.")
        if on_refusal not in ("return", "raise"):
            raise ValueError(f"on_refusal is return or raise, not {on_refusal!r}.")
        self.risk, self.irreversible = classified(risk, irreversible)
        decided(confirm=confirm)
        # C-40: what is risky or final is always asked about; the author may only ask more often.
        self.asks = self.risk == "high" or self.irreversible or confirm is True
        if confirm is False and self.asks:
            raise ValueError(f"{self.name} is of high risk or cannot be undone, so it has to be confirmed.")
        self.description = inspect.getdoc(function)
        self._producer = producer
        self._signature = inspect.signature(function)
        for text in (action, consequence, summary):
            self._check(text)
        self._method = "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2]
        self._action, self._consequence, self._summary = action, consequence, summary
        self._timeout, self._on_refusal = timeout, on_refusal

    def session(self) -> Session:
        """The session the call belongs to: that of the task or thread, or the only one there is if it never had one."""
        found = next((one for one in reversed(CURRENT.get()) if one.producer is self._producer), None)
        if found is not None:
            if found.open:
                return found
            found.voice.must_be_free()
            # The only one there is may be somebody else's, who would be asked about what is not theirs.
            raise LocalProtocolError(
                f"The session that {self.name} belongs to is over, so it did not run. "
                "Call it inside `with producer.session(…):`."
            )
        only = self._producer.sessions
        if len(only) == 1:
            return only[0]
        why = "Several sessions are open" if only else "No session is open"
        raise LocalProtocolError(
            f"{why}, so {self.name} cannot be announced, and did not run. "
            "Call it inside `with producer.session(…):`, in the same task or thread."
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The call's arguments by name, defaults included."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        if self._method and (first := next(iter(given), "")) in ("self", "cls"):  # what it is called on, not with
            del given[first]
        return given

    def ask(self, session: Session, given: dict[str, Any], call: str, args: str) -> Ask:
        named = title(self.name)
        action = self._filled(self._action, given) or f"Use {named}. With {whole(given) or 'nothing more'}."
        unknown = "What this changes is not stated." + (" It cannot be undone." if self.irreversible else "")
        members = confirmation(
            action,
            self._filled(self._consequence, given) or unknown,
            risk=self.risk,
            irreversible=self.irreversible,
            timeout=self._timeout,
            context={"tool": self.name, "tool_call_id": call, "arguments": args},
        )
        ask = Ask(
            session.questions, "confirmation", members, said=None, about=members["action"], call=call, tool=self.name
        )
        return session.questions.put(ask)

    def call(
        self, session: Session, call: str, ask: Ask | None, said: tuple[Text, str], ready: Callable[[], None]
    ) -> Call:
        summary, args = said
        return Call(
            session,
            self.name,
            call,
            risk=self.risk,
            irreversible=self.irreversible,
            ask=ask,
            ready=ready,
            summary=summary,
            args=args,
            description=self.description,
        )

    def refuse(self, answer: Answer) -> str:
        if self._on_refusal == "raise":
            raise Refused(answer)
        return answer.refusal

    def unchanged(self, before: State, given: dict[str, Any]) -> None:
        """One consent is for one call with those arguments: what was read out is what runs (CF-019)."""
        try:
            same = state(given) == before
        except LocalProtocolError:  # it could be compared before
            same = False
        if not same:
            raise LocalProtocolError(
                f"The arguments of {self.name} changed while the user was asked, so it did not run. Ask again."
            )

    def _check(self, template: str | None) -> None:
        """A name that is no parameter's is told where it is written, and not when somebody is to be asked."""
        try:
            names = [name for _, name, _, _ in Formatter().parse(template or "") if name is not None]
        except ValueError as error:
            raise ValueError(f"The text {template!r} of {self.name} cannot be filled in: {error}.") from error
        for name in names:
            if _MEMBER.split(name)[0] not in self._signature.parameters:
                raise ValueError(
                    f"The text {template!r} of {self.name} cannot be filled in: {name!r} is none of its parameters."
                )

    def said(self, given: dict[str, Any]) -> tuple[Text, str]:
        """What is told when it runs: the author's words, and the arguments."""
        return plain(self._filled(self._summary, given, complete=False)) or None, arguments(given)

    def _filled(self, template: str | None, given: dict[str, Any], *, complete: bool = True) -> str:
        if template is None:
            return ""
        try:
            return filled(template, given, complete=complete)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise LocalProtocolError(
                f"The text {template!r} of {self.name} cannot be filled in: {error}. Use the names of its parameters."
            ) from error


class Attempt:
    """One call of a tool, before it is allowed."""

    def __init__(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._tool, self._session = tool, tool.session()
        self._given, self._call = tool.bind(args, kwargs), identifier("call_")
        self._before = state(self._given) if tool.asks else ()
        self._said = tool.said(self._given)  # first: nobody agrees to what then cannot be announced
        self.ask = tool.ask(self._session, self._given, self._call, self._said[1]) if tool.asks else None

    def block(self, answer: Answer | None) -> Call | str:
        """The block to run in, or the refusal."""
        if self.ask is not None and (answer is None or not answer.granted):
            return self._tool.refuse(answer if answer is not None else Answer(outcome="rejected", granted=False))
        return self._tool.call(self._session, self._call, self.ask, self._said, self._ready)

    def _ready(self) -> None:
        if self.ask is not None:
            self._tool.unchanged(self._before, self._given)


def _waited(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | str:
    if tool.asks:
        tool.session().questions.may_wait(tool.name)  # or it would be asked in vain
    attempt = Attempt(tool, args, kwargs)
    return attempt.block(attempt.ask.wait() if attempt.ask is not None else None)


async def _awaited(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | str:
    attempt = Attempt(tool, args, kwargs)
    return attempt.block(await attempt.ask if attempt.ask is not None else None)


def decorate(tool: Tool, function: F) -> F:
    """The function with its manners; its name, text, signature and types stay as they are."""
    if inspect.isasyncgenfunction(function):
        made = _streaming(tool, function)
    elif inspect.iscoroutinefunction(function):
        made = _asynchronous(tool, function)
    elif inspect.isgeneratorfunction(function):
        made = _generating(tool, function)
    else:
        made = _synchronous(tool, function)
    return cast(F, wraps(function)(made))


def _streaming(tool: Tool, function: Callable[..., Any]) -> Callable[..., Any]:
    async def streaming(*args: Any, **kwargs: Any) -> Any:
        block = await _awaited(tool, args, kwargs)
        if isinstance(block, str):
            yield block
            return
        async with block, aclosing(block.flow(function(*args, **kwargs))) as steps:
            async for one in steps:
                yield one

    return streaming


def _asynchronous(tool: Tool, function: Callable[..., Any]) -> Callable[..., Any]:
    async def asynchronous(*args: Any, **kwargs: Any) -> Any:
        block = await _awaited(tool, args, kwargs)
        if isinstance(block, str):
            return block
        async with block:
            return await function(*args, **kwargs)

    return asynchronous


def _generating(tool: Tool, function: Callable[..., Any]) -> Callable[..., Any]:
    def generating(*args: Any, **kwargs: Any) -> Any:
        block = _waited(tool, args, kwargs)
        if isinstance(block, str):
            yield block
            return
        with block:
            return (yield from block.steps(function(*args, **kwargs)))

    return generating


def _synchronous(tool: Tool, function: Callable[..., Any]) -> Callable[..., Any]:
    def synchronous(*args: Any, **kwargs: Any) -> Any:
        block = _waited(tool, args, kwargs)
        if isinstance(block, str):
            return block
        block.begin()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            block.end(error)
            raise
        # What one of these does it has yet to do.
        if isinstance(result, (map, filter)):
            result = (one for one in result)
        if isinstance(result, Future):
            result.add_done_callback(block.done)
            return result
        if inspect.isawaitable(result):
            return block.later(result)
        if inspect.isgenerator(result):
            return block.steps(result)
        if inspect.isasyncgen(result):
            return block.flow(result)
        block.end(None)
        return result

    return synchronous
