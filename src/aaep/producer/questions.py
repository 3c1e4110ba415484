"""
The questions of one session: one before the person at a time, each answered once.

Everything here happens under the session's lock, so a question is resolved in
one step: the decision, the ``state.changed`` that tells it to everybody who
saw the question, and the waiting code's release come from whoever is first, be
it a reply, the deadline, the last listener leaving, or the agent itself.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Protocol

import msgspec

from ..errors import AaepError, LocalProtocolError
from ..protocol.consent import PromptState as Prompt
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Choice, Envelope, ProgressUpdated
from ..protocol.events import Progress as ProgressMade
from ..protocol.messages import Reply
from ..runtime.background import Later
from ..runtime.ids import identifier
from ..text.phrases import span
from ..text.summaries import Said, Text, brief, compose, outcome, plain, plainly

if TYPE_CHECKING:
    from ..hub.hub import Hub
    from ..hub.stream import Subscription
    from .session import Session

__all__ = ["TIMEOUTS", "Answer", "Ask", "Questions", "clarification", "confirmation"]

_EVENTS: Final[dict[str, type[AwaitingConfirmation] | type[AwaitingClarification]]] = {
    "confirmation": AwaitingConfirmation,
    "clarification": AwaitingClarification,
}
_LONGEST: Final = 86_400
_GRACE: Final = 1.0  # seconds in which what was granted may begin before the next question comes


class Questions:
    """Asks for one session."""

    def __init__(self, session: Session, hub: Hub) -> None:
        self._session, self._hub = session, hub
        self._voice = session.voice
        self._voice.overdue = self.expire
        self._turns: deque[Ask] = deque()
        self.current: Ask | None = None  # before the person now
        self.granted: Ask | None = None  # agreed to and not begun: nothing else is asked meanwhile
        self._yeses: list[Ask] = []  # all that were agreed to
        self._withheld = False
        self._how = ""  # why the current question is being ended, where the outcome alone does not tell

    @property
    def prompt(self) -> Prompt | None:
        """The current question as the order of the session knows it."""
        event = self.current.event if self.current is not None else None
        return self._voice.order.prompts.get(event.reply_token) if event is not None else None

    # -- asking ----------------------------------------------------------------------------

    def put(self, ask: Ask) -> Ask:
        """Ask, now or when the questions before it are answered."""
        with self._voice.lock:
            self._session.must_be_open()
            self._turns.append(ask)
            self._next(ask)
        return ask

    def _next(self, mine: Ask | None = None) -> None:
        while self._turns and self.current is None and self.granted is None:
            ask = self._turns.popleft()
            try:
                self._issue(ask)
            except BaseException as error:
                ask.arrived.fail(error)  # whoever waits for it would wait for ever
                if ask is mine or not isinstance(error, AaepError):
                    raise

    def _issue(self, ask: Ask) -> None:
        kind: Literal["confirmation", "clarification"] = ask.kind
        repliers = self._hub.eligible_repliers(self._session, kind)
        if not repliers and not ask.waits_for_time:
            self._unanswerable(ask)  # CF-001, CF-002
            return
        members = dict(ask.members)
        # CF-028: the one who needs longest decides.
        members["timeout_seconds"] = max(
            members["timeout_seconds"], min(self._hub.longest_requested_timeout(self._session), _LONGEST)
        )
        said = compose(ask.said, _asking(ask), english=self._session.english)
        self._session.settle_outputs()
        self._session.move("awaiting_input")
        try:
            event = self._voice.say(
                _EVENTS[kind],
                said,
                urgency="critical",
                withheld=not repliers,
                reply_token=identifier("rpl_"),
                **members,
            )
        except LocalProtocolError:
            self._session.move("thinking")
            raise
        ask.event, self.current, self._withheld = event, ask, not repliers
        prompt = self._voice.order.prompts[event.reply_token]
        prompt.eligible = set(repliers)
        ask.cancels.append(self._hub.call_at(prompt.deadline, self.expire))
        self._count_down(ask, prompt, event.timeout_seconds)

    def _unanswerable(self, ask: Ask) -> None:
        """Nobody could answer, so nothing is asked and nothing done. CF-001, CF-006"""
        default = ask.members.get("default_response")
        how = "defaulted" if default is not None else "unavailable" if ask.kind == "clarification" else ""
        said = outcome(how or "no_reply_channel", ask.about)
        state = "thinking" if self._session.state != "thinking" else "deciding"
        if not self._session.calling:
            self._session.move(state, said, urgency="normal", attend={"outcome": "no_reply_channel"})
        ask.settle(
            Answer(
                outcome="unavailable" if ask.kind == "clarification" else "no_reply_channel",
                granted=default is not None and ask.default is not False,
                response=ask.default,
            )
        )

    def _count_down(self, ask: Ask, prompt: Prompt, seconds: int) -> None:
        """CF-036 §6.4.3: when half and when a tenth of a long wait is left."""
        if seconds <= 60:
            return
        for left in (seconds / 2, seconds / 10):
            ask.cancels.append(self._hub.call_at(prompt.deadline - left, _Countdown(self, ask, left)))

    def tell_time(self, ask: Ask, left: float) -> None:
        with self._voice.lock:
            self.expire()  # where time has passed all at once, as when a machine wakes up
            if self.current is not ask or self._withheld:  # CF-001: who was not asked has no time to answer
                return
            said = f"{span(left).capitalize()} left to answer."
            self._voice.say(
                ProgressUpdated,
                Said(said, said, f"{said} {brief(ask.about)}"),
                urgency="normal",
                progress=ProgressMade(description=said),
                eta_ms=int(left * 1000),
            )

    def may_wait(self, what: str) -> None:
        """Raise where who waits keeps away the answer that he waits for."""
        if self._hub.is_on_loop:
            raise LocalProtocolError(
                f"{what} would wait for an answer on the very loop that brings it, so nothing ran. "
                "Use an async function and `await`, or asyncio.to_thread()."
            )
        if self._session.producer.telling:  # the session is held meanwhile, and nobody's answer could be taken
            raise LocalProtocolError(
                f"{what} would wait for an answer inside `tell`, where none can come, so nothing ran. "
                "Only pass the sentence on there, and act elsewhere."
            )

    # -- answers ---------------------------------------------------------------------------

    def reply(self, message: Reply, via: str) -> None:
        """Take a reply. Nobody is told whether it counted (CONF-040 §6.3.4)."""
        with self._voice.lock:
            self.expire()
            verdict = self._voice.order.reply(message, self._voice.clock(), via)
            if verdict.is_honoured:
                self._conclude()

    def expire(self) -> None:
        """CONF-043 §6.4: when the time is up the default applies."""
        with self._voice.lock:
            self._voice.order.expire(self._voice.clock())
            prompt = self.prompt
            if prompt is not None and prompt.outcome != "pending":  # or it ran out while something else was judged
                self._conclude()

    def withdraw(self, ask: Ask, how: str = "withdrawn") -> None:
        """CONF-069 §6.8"""
        with self._voice.lock:
            if ask is self.current and (prompt := self.prompt) is not None:
                self._how = how
                self._voice.order.resolve(prompt, "withdraw")
                self._conclude()
            elif not ask.arrived.done and ask in self._turns:
                self._turns.remove(ask)
                ask.settle(Answer(outcome="withdrawn", granted=False))
            elif not ask.taken:
                self._forgo(ask)

    def _forgo(self, ask: Ask) -> None:
        """A yes came when nobody waited for it any more: what it was for does not run, and who agreed is told."""
        prompt = self._voice.order.prompts.get(ask.event.reply_token) if ask.event is not None else None
        if ask.call and prompt is not None and prompt.is_granted and not prompt.is_used and self._session.open:
            with suppress(LocalProtocolError):  # nothing may be said of it any more, as after a handoff
                self._session.tool(ask.tool or "action", risk="low", ask=ask).forgo()  # nothing happens: no risk

    def void(self) -> None:
        """The session ends: no question outlives it. CF-027"""
        for ask in [*self._turns]:
            self.withdraw(ask)
        self.granted = None
        if self.current is not None:
            self.withdraw(self.current)
        for ask in self._yeses:
            self.withdraw(ask)

    def drop(self) -> None:
        """Let the waiting code go on, where nothing more can be told."""
        for ask in [*self._turns, self.current, self.granted]:
            if ask is not None:
                ask.settle(Answer(outcome="withdrawn", granted=False))
        self._turns.clear()
        self._yeses.clear()
        self.current = self.granted = None

    def _conclude(self) -> None:
        """Tell everybody how the current question ended, and let the waiting code go on. CF-024 to CF-026"""
        ask, prompt = self.current, self.prompt
        if ask is None or prompt is None:
            return
        self.current = None
        answer = _answer(ask, prompt)
        how = self._how or _how(answer, prompt)
        self._how = ""
        longer = how == "longer"
        if answer.granted and ask.call:
            self.granted = ask
            self._yeses.append(ask)
            self._hub.call_at(self._voice.clock() + _GRACE, lambda: self._release(ask))
        state = "calling_tool" if self._session.calling or (answer.granted and ask.call) else "thinking"
        try:
            self._session.move(
                "deciding" if longer and state == "thinking" else state,
                outcome(how, ask.about),
                urgency="critical",
                attend={"reply_token": prompt.token, "outcome": _OUTCOMES.get(answer.outcome, answer.outcome)},
            )
        finally:
            if longer:
                self._again(ask)
            else:
                ask.settle(answer)
        self._next()
        self._session.settle_outputs()

    def began(self, ask: Ask) -> None:
        """What was granted runs; the next question may come."""
        if self.granted is ask:
            self.granted = None
            self._next()

    def _release(self, ask: Ask) -> None:
        with self._voice.lock:
            if self.granted is ask:
                self.granted = None
                self._next()
                self._session.settle_outputs()

    def _again(self, ask: Ask) -> None:
        for cancel in ask.cancels:
            cancel()
        ask.cancels.clear()
        self._turns.appendleft(ask)

    # -- who can answer ----------------------------------------------------------------------

    def join(self, subscription: Subscription) -> list[Envelope]:
        """A listener came, or came back: what it is to be asked. CF-007"""
        prompt = self.prompt
        if self.current is None or prompt is None:
            return []
        if subscription.may_answer(type(prompt.event)):
            if prompt.eligible is not None:
                prompt.eligible.add(subscription.id)
            if self._withheld:  # CF-001: now that somebody can answer, everybody is to know
                self._withheld = False
                self._hub.publish(self._session, prompt.event, msgspec.json.encode(prompt.event))
        return [] if self._withheld else [prompt.event]

    def left(self, subscription_id: str) -> None:
        """CF-003: only when nobody is left who could answer does leaving decide, and never for yes (CF-005)."""
        with self._voice.lock:
            ask, prompt = self.current, self.prompt
            if ask is None or prompt is None or not prompt.eligible:
                return
            prompt.eligible.discard(subscription_id)
            if not prompt.eligible and not ask.waits_for_time:
                self._how = "lost" if ask.kind == "confirmation" else ""
                self._voice.order.resolve(prompt, "timeout")
                self._conclude()

    def changed(self, subscription: Subscription) -> None:
        """A listener changed its terms: whether it may answer (CF-035), and how long it needs (CF-028)."""
        with self._voice.lock:
            ask, prompt = self.current, self.prompt
            if ask is None or prompt is None:
                return
            if not subscription.may_answer(type(prompt.event)):
                self.left(subscription.id)
                return
            if prompt.eligible is not None:
                prompt.eligible.add(subscription.id)
            wanted = subscription.requested("minimum_timeout_seconds")
            longer = isinstance(wanted, int) and wanted > prompt.event.timeout_seconds
            # More time cannot be given to a question that is out: it is taken back and asked anew.
            if longer and not ask.waits_for_time:
                self.withdraw(ask, "longer")


class _Countdown:
    """Says once how much time is left."""

    def __init__(self, questions: Questions, ask: Ask, left: float) -> None:
        self._questions, self._ask, self._left = questions, ask, left

    def __call__(self) -> None:
        self._questions.tell_time(self._ask, self._left)


def _asking(ask: Ask) -> Said:
    about = brief(ask.about)  # the action or question itself is told whole
    if ask.kind == "confirmation":
        return Said("Confirm.", about, f"{about} {brief(ask.members['consequence'])}")
    return Said("Question.", about, about)


_OUTCOMES: Final = {"unavailable": "timed_out"}  # to a listener, an answer that did not come is time that ran out


def _answer(ask: Ask, prompt: Prompt) -> Answer:
    if prompt.outcome == "timed_out" and ask.kind == "clarification":
        # CF-006: the answer named before, or none; never a guess.
        given = "default_response" in ask.members
        granted = given and ask.default is not False
        return Answer(outcome="timed_out" if given else "unavailable", granted=granted, response=ask.default)
    return Answer(
        outcome=prompt.outcome,  # type: ignore[arg-type]  # it is not pending, and here nothing is unseen
        granted=prompt.is_granted and prompt.response is not False,  # whoever asked for a yes was told no
        response=prompt.response,
        modified=prompt.is_modified,
    )


def _how(answer: Answer, prompt: Prompt) -> str:
    if answer.modified:
        return "modified"
    if answer.outcome == "timed_out" and prompt.kind == "clarification":
        return "defaulted"  # without an answer that was named before, it is unavailable
    if answer.outcome == "timed_out" and answer.granted:
        return "granted"
    return answer.outcome


# -- prompts --

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
