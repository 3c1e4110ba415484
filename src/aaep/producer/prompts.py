"""
What agent code holds while it waits for a person: an :class:`Ask`, and then its :class:`Answer`. Chapter 6
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, Literal, NoReturn, Protocol

import msgspec

from ..errors import LocalProtocolError
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Choice
from ..transports.base import Later
from .summaries import Text, plain, plainly

__all__ = ["TIMEOUTS", "Answer", "Ask", "clarification", "confirmation"]

# HITL-033, CONF-054 §6.4.2: how long to wait where the author does not say; long rather than short.
TIMEOUTS: Final = {"high": 300, "medium": 120, "low": 60, "clarification": 180}

_NAMES: Final = ("tool", "tool_call_id")
_MOST: Final = 16_384  # bytes of one text: C-24

Outcome = Literal["accepted", "rejected", "answered", "timed_out", "withdrawn", "unavailable", "no_reply_channel"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """
    What became of a question. It is true only if the agent may go on.

    So it is false if a question of the kind ``yes_no`` was answered with no;
    ``response`` is then False, and ``outcome`` says that it was answered.
    """

    outcome: Outcome
    granted: bool
    response: Any = None
    modified: bool = False  # CF-019: the user wanted something else, which counts as no

    def __bool__(self) -> bool:
        return self.granted

    @property
    def refusal(self) -> str:
        """What to tell a model that wanted to act: nothing ran, and it should not try again."""
        why = {
            "rejected": "The user refused.",
            "timed_out": "The user did not answer in time.",
            "withdrawn": "The question was withdrawn before the user answered.",
            "no_reply_channel": "Nobody is connected who could agree to this.",
        }.get(self.outcome, "The user did not agree.")
        if self.modified:
            why = "The user wants something else; ask what."
        return f"{why} Nothing was done. Do not try this again unless the user asks for it."


class Asking(Protocol):
    """The questions of the session that asks."""

    def may_wait(self, what: str) -> None: ...

    def withdraw(self, ask: Ask) -> None: ...


class Ask:
    """
    A question to a person. ``ask.wait()`` in a plain program, ``await ask`` in asyncio.

    Whoever stops waiting because he is interrupted or cancelled takes the
    question back: it would otherwise stand before a person with nobody
    listening for the answer.
    """

    def __init__(
        self,
        questions: Asking,
        kind: Literal["confirmation", "clarification"],
        members: dict[str, Any],
        *,
        said: Text,
        about: str,
        call: str = "",
        tool: str = "",
        default: Any = None,
    ) -> None:
        self.kind, self.members, self.said, self.about = kind, members, said, about
        self.call, self.tool, self.default = call, tool, default
        self.event: AwaitingConfirmation | AwaitingClarification | None = None  # None until it is its turn
        self.arrived: Later[Answer] = Later()
        self.cancels: list[Callable[[], None]] = []
        self.taken = False  # somebody has seen the answer, and may act on it
        self._questions = questions

    @property
    def waits_for_time(self) -> bool:
        """CF-002, CF-005: a default of accept needs the whole time; every other end may come early."""
        return self.members.get("default_decision") == "accept"

    @property
    def answer(self) -> Answer | None:
        """The answer, if there is one yet."""
        if not self.arrived.done:
            return None
        self.taken = True
        return self.arrived.wait()

    def wait(self, timeout: float | None = None) -> Answer:
        """Wait for the answer. When ``timeout`` seconds pass :exc:`TimeoutError` is raised and the question stays."""
        try:
            if not self.arrived.done:
                self._questions.may_wait("ask.wait()")
            answer = self.arrived.wait(timeout)
        except TimeoutError:
            raise
        except BaseException:
            self.withdraw()
            raise
        self.taken = True
        return answer

    def __await__(self) -> Generator[Any, None, Answer]:
        try:
            answer = yield from self.arrived.__await__()
        except (asyncio.CancelledError, GeneratorExit):
            self.withdraw()
            raise
        self.taken = True
        return answer

    def __bool__(self) -> NoReturn:
        """A question is no yes. Who forgets to wait for the answer must not go on as if it were one."""
        raise LocalProtocolError(
            "An Ask is neither true nor false: it is a question. "
            "Write `if ask.wait():`, or `if await ask:` in asyncio; nothing may run before the answer."
        )

    def withdraw(self) -> None:
        """No longer ask. What is answered stays answered; a yes that nobody has seen is told to be in vain. CONF-069"""
        self._questions.withdraw(self)

    def settle(self, answer: Answer) -> None:
        for cancel in self.cancels:
            cancel()
        self.cancels.clear()
        self.arrived.settle(answer)


def whole(name: str, text: object, most: int = _MOST) -> str:
    """
    Text that a person decides on, all of it: a reader may cut it, who then asks to hear the rest first (C-22).

    Nobody says yes to what was cut off here, so what is too long is not asked (CF-019).
    """
    said = plain(text, sys.maxsize)
    if len(said) > most or len(said.encode()) > _MOST:
        raise LocalProtocolError(
            f"The {name} is too long to be asked whole: {len(said)} characters, {len(said.encode())} bytes. At most "
            f"{most} are possible, so nobody was asked and nothing ran. Say it in fewer words; for a tool, "
            "pass a shorter argument, or give it an `action` that says in its own words what is done."
        )
    return said


def confirmation(
    action: str,
    consequence: str,
    *,
    risk: str,
    irreversible: bool,
    reversibility: str | None = None,
    default: str = "reject",
    timeout: int | None = None,
    context: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The members of an awaiting.confirmation, all of those that safety rests on included (C-41)."""
    if default not in ("accept", "reject"):
        raise ValueError(f"default is accept or reject, not {default!r}.")
    if default == "accept" and (irreversible or risk == "high"):
        # CF-022, C-39: silence is not consent.
        raise LocalProtocolError("What is irreversible or of high risk needs a yes: default has to be reject.")
    return {
        "action": whole("action", action),
        "consequence": whole("consequence", consequence),
        "timeout_seconds": TIMEOUTS[risk] if timeout is None else timeout,
        "default_decision": default,
        "risk_level": risk,
        "irreversible": irreversible,
        "reversibility": reversibility or ("irreversible" if irreversible else "reversible"),
        "allowed_replies": ("accept", "reject"),  # CF-018: there is always a way to refuse
        # SEC-023; C-38: but a call is named as it is.
        "extra_context": {key: one if key in _NAMES else plainly(one) for key, one in (context or {}).items()},
    }


def clarification(
    question: str,
    *,
    choices: Sequence[str] | dict[str, str] | None,
    kinds: Sequence[str] | None,
    why: str | None,
    default: Any,
    timeout: int | None,
) -> dict[str, Any]:
    """The members of an awaiting.clarification. CF-031: what can be answered is always said."""
    members: dict[str, Any] = {
        "question": whole("question", question),
        "timeout_seconds": TIMEOUTS["clarification"] if timeout is None else timeout,
    }
    if choices is not None:
        pairs = choices.items() if isinstance(choices, dict) else [(one, one) for one in choices]
        members["choices"] = tuple(
            Choice(value=whole("choice", one, 256), label=whole("choice", label, 1024)) for one, label in pairs
        )
    members["accepted_response_kinds"] = tuple(kinds or (("multiple_choice",) if choices else ("freetext",)))
    if why is not None:
        members["context_"] = whole("reason", why, 4096)
    if default is not None:  # CF-034: typed here, told as text
        told = default if isinstance(default, str) else msgspec.json.encode(default).decode()
        members["default_response"] = whole("default", told)
    return members
