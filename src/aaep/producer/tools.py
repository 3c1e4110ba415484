"""
``@producer.tool``: functions that ask before they act and announce what they do.

Nothing runs outside a session, and nothing risky runs without a yes. A refusal
is returned as text, because most decorated functions are called by a model, which
should read it; ``on_refusal="raise"`` raises it instead.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import aclosing
from functools import partial, wraps
from string import Formatter
from typing import Any, Final, Literal, TypeVar, cast

from ..errors import AaepError, LocalProtocolError
from ..protocol.events import ToolInvoked
from ..protocol.rules import pattern_test
from ..runtime.ids import new_id
from ..text.actions import shorten_action
from ..text.phrases import ENGLISH, Phrases, ensure_full_stop, humanize_name
from ..text.summaries import SummaryLike, clean_text
from .questions import Answer, Ask, build_confirmation
from .session import Session
from .tool_arguments import (
    Snapshot,
    describe_all,
    describe_briefly,
    describe_owner,
    fill_template,
    has_state,
    take_snapshot,
)
from .tool_call import Call, check_is_bool, classify_risk, how_to_wait
from .tool_function import ToolFunction

__all__ = ["Refused", "Tool"]

F = TypeVar("F", bound=Callable[..., Any])

_is_tool_name: Final = pattern_test(ToolInvoked, "tool")
_FIELD_SEPARATOR: Final = re.compile(r"[.\[]")


class Refused(AaepError):
    """The user did not agree, so the tool did not run. ``answer`` has the outcome."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(answer.refusal)


class Tool:
    """A tool of an agent: its classification, and how its calls are described, confirmed and run."""

    def __init__(
        self,
        find_session: Callable[[str], Session],
        function: Callable[..., Any],
        *,
        name: str | None,
        risk: Literal["low", "medium", "high"] | None,
        irreversible: bool | None,
        action: str | None,
        consequence: str | None,
        summary: str | None,
        done: str | None,
        confirm: bool | None,
        timeout: int | None,
        on_refusal: Literal["return", "raise"],
        phrases: Phrases = ENGLISH,
    ) -> None:
        """``find_session`` returns the session that a call of the tool with that name belongs to, or raises."""
        self._target = ToolFunction(function)
        self._phrases = phrases  # in the agent's language
        self.name = name or re.sub(r"[^A-Za-z0-9_.-]", "_", self._target.name)
        if _is_tool_name(self.name) is None:
            raise ValueError(f"{self.name!r} cannot name a tool: letters, digits, _ . and - only, a letter first.")
        if on_refusal not in ("return", "raise"):
            raise ValueError(f"on_refusal is return or raise, not {on_refusal!r}.")
        self.risk, self.irreversible = classify_risk(risk, irreversible)
        check_is_bool(confirm=confirm)
        # C-40: what is risky or final is always asked about; the author may only ask more often.
        self.needs_confirmation = self.risk == "high" or self.irreversible or confirm is True
        if confirm is False and self.needs_confirmation:
            raise ValueError(f"{self.name} is of high risk or cannot be undone, so it has to be confirmed.")
        self.description = _find_description(function)
        self._find_session = find_session
        self._function = function
        for template in (action, consequence, summary, done):
            self._check_template(template)
        self._action = action
        self._consequence = consequence
        self._summary = summary
        self._done = done
        self._timeout = timeout
        self._on_refusal = on_refusal
        if self.needs_confirmation and action is None:
            self._check_is_describable(function)

    def find_session(self) -> Session:
        """Return the session that a call belongs to, or raise."""
        return self._find_session(self.name)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return all arguments of a call by name: defaults, bound ones, and what a method is called on."""
        return self._target.bind(args, kwargs)

    def take_snapshot(self, arguments: dict[str, Any]) -> Snapshot:
        """
        Return what the arguments hold, to compare it later.

        What a method is called on may hold anything, such as connections: of
        that only what was read out has to stay the same.
        """
        return take_snapshot({name: value for name, value in arguments.items() if name != self._target.owner})

    def describe(self, arguments: dict[str, Any]) -> tuple[SummaryLike, str]:
        """Return the summary and the arguments that announce a call."""
        summary = clean_text(self._fill(self._summary, arguments, complete=False)) or None
        others = dict(arguments)
        owner = ""
        if self._target.owner is not None:
            owner = describe_owner(others.pop(self._target.owner), self._phrases) or ""
        brief = describe_briefly(others, phrases=self._phrases)
        return summary, f"{clean_text(owner, 300)}; {brief}".rstrip("; ") if owner else brief

    def describe_result(self, arguments: dict[str, Any]) -> SummaryLike:
        """Return what the author says of a call that has succeeded, if anything."""
        return clean_text(self._fill(self._done, arguments, complete=False)) or None

    def compose_question(self, arguments: dict[str, Any]) -> tuple[str, str]:
        """Return the action and the consequence that a person is asked about."""
        action = self._fill(self._action, arguments)
        if not action:
            others = dict(arguments)
            owner = ""
            if self._target.owner is not None:
                owner = self._describe_owner(others.pop(self._target.owner), LocalProtocolError)
            told = [part for part in (owner, describe_all(others, self._phrases)) if part]
            given = self._phrases.join(told, name="list-long") or self._phrases["with-nothing"]
            action = f"{self._purpose} {self._phrases.format('with', arguments=given)}"
        return action, self._fill(self._consequence, arguments) or self._unstated_consequence

    @property
    def _purpose(self) -> str:
        """What the tool is for: the first sentence of its docstring, or else its name."""
        sentence = self._first_sentence
        return (
            ensure_full_stop(sentence) if sentence else self._phrases.format("tool-use", tool=humanize_name(self.name))
        )

    @property
    def _short_name(self) -> str:
        """What the tool does, in few words."""
        return self._first_sentence or humanize_name(self.name)

    @property
    def _first_sentence(self) -> str:
        return shorten_action((self.description or "").split("\n\n", 1)[0], self._phrases)

    @property
    def _unstated_consequence(self) -> str:
        if self.risk == "high" and self.irreversible:
            return self._phrases["consequence-unstated"]
        return self._phrases["consequence-unknown"]

    def ask(self, session: Session, question: tuple[str, str], call_id: str, args: str) -> Ask:
        """Ask the person about a call."""
        action, consequence = question
        members = build_confirmation(
            action,
            consequence,
            risk=self.risk,
            irreversible=self.irreversible,
            timeout=self._timeout,
            context={"tool": self.name, "tool_call_id": call_id, "arguments": args},
            phrases=self._phrases,
        )
        questions = session._activity.questions
        ask = Ask(
            questions,
            "confirmation",
            members,
            summary=None,
            about=members["action"],
            call=call_id,
            tool=self.name,
            label=self._short_name if self._action is None else "",
        )
        return questions.put(ask)

    def refuse(self, answer: Answer) -> str:
        """Return the refusal as text, or raise it."""
        if self._on_refusal == "raise":
            raise Refused(answer)
        return answer.refusal

    def check_unchanged(self, before: Snapshot, question: tuple[str, str], arguments: dict[str, Any]) -> None:
        """Raise if what would run is not what was read out: a consent is for one call with those arguments (CF-019)."""
        try:
            is_same = self.take_snapshot(arguments) == before and self.compose_question(arguments) == question
        except LocalProtocolError:  # it could be compared before
            is_same = False
        if not is_same:
            raise LocalProtocolError(
                f"The arguments of {self.name} changed after the user was asked, so it did not run. Ask again."
            )

    def _check_template(self, template: str | None) -> None:
        """Raise if a template names no parameter, when the tool is defined and not when a user is asked."""
        try:
            names = [name for _, name, _, _ in Formatter().parse(template or "") if name is not None]
        except ValueError as error:
            raise ValueError(f"The text {template!r} of {self.name} cannot be filled in: {error}.") from error
        for name in names:
            if _FIELD_SEPARATOR.split(name)[0] not in self._target.signature.parameters:
                raise ValueError(
                    f"The text {template!r} of {self.name} cannot be filled in: {name!r} is none of its parameters."
                )

    def _fill(self, template: str | None, arguments: dict[str, Any], *, complete: bool = True) -> str:
        if template is None:
            return ""
        try:
            return fill_template(
                template, arguments, complete=complete, owner=self._target.owner, phrases=self._phrases
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise LocalProtocolError(
                f"The text {template!r} of {self.name} cannot be filled in: {error}. Use the names of its parameters."
            ) from error

    def _check_is_describable(self, function: Callable[..., Any]) -> None:
        """Raise if what is bound to the function cannot be told, when the tool is defined. CF-019"""
        if self._target.bound_owner is not None:
            self._describe_owner(self._target.bound_owner, ValueError)
        elif self._target.is_opaque:
            raise ValueError(
                f"What {self.name} does cannot be read out (a {type(function).__name__}), so nobody could know what "
                "they agree to. Give the tool an `action` that says it, or wrap it in a function."
            )

    def _describe_owner(self, owner: object, error: type[Exception]) -> str:
        """Return what a method is called on, nothing if there is nothing to tell, or raise: CF-019."""
        described = describe_owner(owner, self._phrases)
        if described is None and has_state(owner):
            raise error(
                f"What {self.name} is called on cannot be read out (a {type(owner).__name__}), so nobody could know "
                f"what they agree to. Give the tool an `action` that says it, such as "
                f'"{humanize_name(self.name).capitalize()} {{{self._target.owner}.name}}.", '
                f"or give {type(owner).__name__} a __str__."
            )
        return described or ""

    # -- the function that agent code calls ------------------------------------------------------

    def decorate(self, function: F) -> F:
        """Return the function as a tool; its name, text, signature and types stay as they are."""
        if inspect.isasyncgenfunction(function):
            wrapper = self._wrap_async_generator()
        elif inspect.iscoroutinefunction(function):
            wrapper = self._wrap_coroutine()
        elif inspect.isgeneratorfunction(function):
            wrapper = self._wrap_generator()
        else:
            wrapper = self._wrap_function()
        return cast(F, wraps(function)(wrapper))

    def _wrap_async_generator(self) -> Callable[..., Any]:
        async def run(*args: Any, **kwargs: Any) -> Any:
            block = await self._admit(args, kwargs)
            if isinstance(block, str):
                yield block
                return
            async with block, aclosing(block.run_async_generator(self._function(*args, **kwargs))) as steps:
                async for value in steps:
                    yield value

        return run

    def _wrap_coroutine(self) -> Callable[..., Any]:
        async def run(*args: Any, **kwargs: Any) -> Any:
            block = await self._admit(args, kwargs)
            if isinstance(block, str):
                return block
            async with block:
                return await self._function(*args, **kwargs)

        return run

    def _wrap_generator(self) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            block = self._admit_waiting(args, kwargs)
            if isinstance(block, str):
                yield block
                return
            with block:
                return (yield from block.run_generator(self._function(*args, **kwargs)))

        return run

    def _wrap_function(self) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            block = self._admit_waiting(args, kwargs)
            if isinstance(block, str):
                return block
            block.begin()
            try:
                result = self._function(*args, **kwargs)
            except BaseException as error:
                block.end(error)
                raise
            return _end_with_result(block, result)

        return run

    def _admit_waiting(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | str:
        """Return the block to run in, or the refusal, once the person has answered. Waits in this thread."""
        if self.needs_confirmation:
            # Before anything is asked: the question would be in vain.
            self.find_session()._activity.questions.check_may_wait(
                f"Waiting for the answer to {self.name}", f"Instead, {how_to_wait(self.name)}."
            )
        attempt = _Attempt(self, args, kwargs)
        return attempt.admit(attempt.ask.wait() if attempt.ask is not None else None)

    async def _admit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | str:
        """Return the block to run in, or the refusal, once the person has answered."""
        attempt = _Attempt(self, args, kwargs)
        return attempt.admit(await attempt.ask if attempt.ask is not None else None)


class _Attempt:
    """One call of a tool, before it is allowed."""

    def __init__(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._tool = tool
        self._session = tool.find_session()
        self._arguments = tool.bind(args, kwargs)
        self._call_id = new_id("call_")
        self._before: Snapshot = tool.take_snapshot(self._arguments) if tool.needs_confirmation else ()
        # First: nobody agrees to what then cannot be announced.
        self._summary, self._args = tool.describe(self._arguments)
        self.ask: Ask | None = None
        if tool.needs_confirmation:
            self._question = tool.compose_question(self._arguments)
            self.ask = tool.ask(self._session, self._question, self._call_id, self._args)

    def admit(self, answer: Answer | None) -> Call | str:
        """Return the block to run in, or the refusal."""
        if self.ask is not None and (answer is None or not answer.granted):
            return self._tool.refuse(answer if answer is not None else Answer(outcome="rejected", granted=False))
        call = Call(
            self._session._activity,
            self._tool.name,
            self._call_id,
            risk=self._tool.risk,
            irreversible=self._tool.irreversible,
            ask=self.ask,
            on_ready=self._check_unchanged,
            on_handover=self._look_again,
            summary=self._summary,
            args=self._args,
            description=self._tool.description,
        )
        call.result(self._tool.describe_result(self._arguments))
        return call

    def _check_unchanged(self) -> None:
        if self.ask is not None:
            self._tool.check_unchanged(self._before, self._question, self._arguments)

    def _look_again(self) -> None:
        """Take what the arguments hold now for what was agreed to: the tool itself may have changed them."""
        if self.ask is not None:
            self._before = self._tool.take_snapshot(self._arguments)
            self._question = self._tool.compose_question(self._arguments)


def _find_description(function: Callable[..., Any]) -> str | None:
    """Return the docstring of a function; that of ``functools.partial`` says nothing of what it calls."""
    while isinstance(function, partial):
        function = function.func
    return inspect.getdoc(function)


def _end_with_result(block: Call, result: Any) -> Any:
    """End a block with what its function returned; what a lazy result does it has yet to do."""
    if isinstance(result, (map, filter, zip, enumerate)) or type(result).__module__ == "itertools":
        result = (item for item in result)
    if isinstance(result, Future):
        result.add_done_callback(block.end_with_future)
        return result
    run: Callable[[Any], Any] | None = None
    if inspect.isawaitable(result):
        run = block.run_awaitable
    elif inspect.isgenerator(result):
        run = block.run_generator
    elif inspect.isasyncgen(result):
        run = block.run_async_generator
    if run is not None:
        block.hand_over()
        return run(result)
    block.end(None)
    return result
