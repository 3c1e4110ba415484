"""
Questions to a person: what agent code holds while it waits, and how a session asks them. Chapter 6

A session has one question before the person at a time, each answered once.
Everything happens under the session's lock, so a question is resolved in one
step: the decision, the ``state.changed`` that tells it to everybody who saw the
question, and the waiting code's release come from whoever is first, be it a
reply, the deadline, the last listener leaving, or the agent itself.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal, NoReturn, Protocol

import msgspec

from ..errors import AaepError, LocalProtocolError
from ..hub.hub import Hub
from ..hub.sessions import SessionSource
from ..hub.stream import Subscription
from ..protocol.consent import PromptState
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Choice, Envelope, Progress, ProgressUpdated
from ..protocol.messages import Reply
from ..runtime.background import Waitable, check_may_block
from ..runtime.ids import new_id
from ..text.invisible import has_visible, spell_invisible
from ..text.phrases import ENGLISH, Phrases, capitalize
from ..text.redaction import REDACTED
from ..text.summaries import (
    Summaries,
    SummaryLike,
    clean_structure,
    clean_text,
    summarize_outcome,
    truncate_with_ellipsis,
)
from .emitter import Emitter

__all__ = ["TIMEOUTS", "Answer", "Ask", "Questions", "Refusal", "build_clarification", "build_confirmation"]

# HITL-033, CONF-054 §6.4.2: how long to wait where the author does not say; long rather than short.
TIMEOUTS: Final = {"high": 300, "medium": 120, "low": 60, "clarification": 180}

_LINK_MEMBERS: Final = ("tool", "tool_call_id")
_MAX_TEXT_BYTES: Final = 16_384  # bytes of one text: C-24

Outcome = Literal["accepted", "rejected", "answered", "timed_out", "withdrawn", "unavailable", "no_reply_channel"]


class Refusal(str):
    """The text that a tool which did not run returns to a model. Listeners heard of it, so writing it says nothing."""

    __slots__ = ()


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
    def refusal(self) -> Refusal:
        """The sentence for a model that wanted to act: nothing ran, and it should not try again."""
        why = {
            "rejected": "The user refused.",
            "timed_out": "The user did not answer in time.",
            "withdrawn": "The question was withdrawn before the user answered.",
            "unavailable": "Nobody was left who could answer.",
            "no_reply_channel": "Nobody is connected who could agree to this.",
        }.get(self.outcome, "The user did not agree.")
        if self.modified:
            why = "The user wants something else; ask what."
        return Refusal(f"{why} Nothing was done. Do not try this again unless the user asks for it.")


class _Asker(Protocol):
    """The questions of the session that asks."""

    def check_may_wait(self, what: str, instead: str) -> None: ...

    def withdraw(self, ask: Ask) -> None: ...


class Ask:
    """
    A question to a person. ``ask.wait()`` in a plain program, ``await ask`` in asyncio.

    Code that is interrupted or cancelled while it waits takes the question back:
    it would otherwise stand before a person with nothing waiting for the answer.
    """

    def __init__(
        self,
        questions: _Asker,
        kind: Literal["confirmation", "clarification"],
        members: dict[str, Any],
        *,
        summary: SummaryLike,
        about: str,
        call: str = "",
        tool: str = "",
        label: str = "",
        default: Any = None,
    ) -> None:
        """``label`` names what is asked for in few words, if ``about`` is not short."""
        self.kind: Literal["confirmation", "clarification"] = kind
        self.members = members
        self.summary = summary
        self.about = about
        self.call = call  # the id of the call it is about
        self.tool = tool
        self.label = label or about
        self.default = default
        self.event: AwaitingConfirmation | AwaitingClarification | None = None  # None until it is its turn
        self.arrived: Waitable[Answer] = Waitable()
        self.timers: list[Callable[[], None]] = []  # each cancels one
        self.is_taken = False  # the answer was seen, and may be acted on
        self._questions = questions

    @property
    def action(self) -> str:
        """What is to be agreed to; empty for a question that is none of agreeing."""
        return self.about if self.kind == "confirmation" else ""

    @property
    def needs_whole_time(self) -> bool:
        """CF-002, CF-005: a default of accept needs the whole time; every other end may come early."""
        return self.members.get("default_decision") == "accept"

    @property
    def answer(self) -> Answer | None:
        """The answer, if there is one yet."""
        if not self.arrived.done:
            return None
        self.is_taken = True
        return self.arrived.wait()

    def wait(self, timeout: float | None = None) -> Answer:
        """Wait for the answer. When ``timeout`` seconds pass :exc:`TimeoutError` is raised and the question stays."""
        try:
            if not self.arrived.done:
                self._questions.check_may_wait("ask.wait()", "Write `await ask`.")
            answer = self.arrived.wait(timeout)
        except TimeoutError:
            raise
        except BaseException:
            self.withdraw()
            raise
        self.is_taken = True
        return answer

    def __await__(self) -> Generator[Any, None, Answer]:
        try:
            answer = yield from self.arrived.__await__()
        except (asyncio.CancelledError, GeneratorExit):
            self.withdraw()
            raise
        self.is_taken = True
        return answer

    def __bool__(self) -> NoReturn:
        """Raise: a question is no yes. Code that forgets to wait for the answer must not go on as if it were one."""
        raise LocalProtocolError(
            "An Ask is neither true nor false: it is a question. "
            "Write `if ask.wait():`, or `if await ask:` in asyncio; nothing may run before the answer."
        )

    def withdraw(self) -> None:
        """Take the question back. An answer stays one; a yes that was not seen is told to be in vain. CONF-069"""
        self._questions.withdraw(self)

    def resolve(self, answer: Answer) -> None:
        """Give the waiting code its answer."""
        self.cancel_timers()
        self.arrived.set_result(answer)

    def cancel_timers(self) -> None:
        """Take back what was to be done at its times."""
        for cancel in self.timers:
            cancel()
        self.timers.clear()


def _require_whole(name: str, text: object, phrases: Phrases, max_length: int = _MAX_TEXT_BYTES) -> str:
    """
    Return text that a person decides on, all of it, or raise if it is too long (CF-019).

    A reader may cut it, and then asks to hear the rest before accepting (C-22).
    """
    if not has_visible(str(text)):
        raise LocalProtocolError(
            f"The {name} has nothing that can be seen or heard, so nobody was asked and nothing ran. Say it in words."
        )
    cleaned = clean_text(spell_invisible(str(text), phrases), sys.maxsize, tells_ending=True, phrases=phrases)
    if REDACTED in cleaned and name not in ("question", "reason"):  # CF-019: nobody can agree to what they do not hear
        raise LocalProtocolError(
            f"The {name} holds a secret, which is not read out, so nobody was asked and nothing ran. Say in words what "
            'is done, without the secret, such as "Sign in with the key of the test account."; for a tool, in its '
            "`action`."
        )
    size = len(cleaned.encode())
    if len(cleaned) > max_length or size > _MAX_TEXT_BYTES:
        raise LocalProtocolError(
            f"The {name} is too long to be asked whole: {len(cleaned)} characters, {size} bytes. At most "
            f"{max_length} are possible, so nobody was asked and nothing ran. Say it in fewer words; for a tool, "
            "pass a shorter argument, or give it an `action` that says in its own words what is done."
        )
    return cleaned


def build_confirmation(
    action: str,
    consequence: str,
    *,
    risk: str,
    irreversible: bool,
    reversibility: str | None = None,
    default: str = "reject",
    timeout: int | None = None,
    context: dict[str, Any] | None = None,
    phrases: Phrases = ENGLISH,
) -> dict[str, Any]:
    """Build the members of an awaiting.confirmation, with all of those that safety rests on (C-41)."""
    if default not in ("accept", "reject"):
        raise ValueError(f"default is accept or reject, not {default!r}.")
    if default == "accept" and (irreversible or risk == "high"):
        # CF-022, C-39: silence is not consent.
        raise LocalProtocolError("What is irreversible or of high risk needs a yes: default has to be reject.")
    return {
        "action": _require_whole("action", action, phrases),
        "consequence": _require_whole("consequence", consequence, phrases),
        "timeout_seconds": TIMEOUTS[risk] if timeout is None else timeout,
        "default_decision": default,
        "risk_level": risk,
        "irreversible": irreversible,
        "reversibility": reversibility or ("irreversible" if irreversible else "reversible"),
        "allowed_replies": ("accept", "reject"),  # CF-018: there is always a way to refuse
        # SEC-023; C-38: but a call is named as it is.
        "extra_context": {
            key: value if key in _LINK_MEMBERS else clean_structure(value) for key, value in (context or {}).items()
        },
    }


def build_clarification(
    question: str,
    *,
    choices: Sequence[str] | dict[str, str] | None,
    kinds: Sequence[str] | None,
    why: str | None,
    default: Any,
    timeout: int | None,
    phrases: Phrases = ENGLISH,
) -> dict[str, Any]:
    """Build the members of an awaiting.clarification. CF-031: what can be answered is always said."""
    members: dict[str, Any] = {
        "question": _require_whole("question", question, phrases),
        "timeout_seconds": TIMEOUTS["clarification"] if timeout is None else timeout,
    }
    if choices is not None:
        pairs = choices.items() if isinstance(choices, dict) else [(choice, choice) for choice in choices]
        members["choices"] = tuple(
            Choice(
                value=_require_whole("choice", value, phrases, 256),
                label=_require_whole("choice", label, phrases, 1024),
            )
            for value, label in pairs
        )
    members["accepted_response_kinds"] = tuple(kinds or (("multiple_choice",) if choices else ("freetext",)))
    if why is not None:
        members["context_"] = _require_whole("reason", why, phrases, 4096)
    if default is not None:  # CF-034: typed here, told as text
        text = default if isinstance(default, str) else msgspec.json.encode(default).decode()
        members["default_response"] = _require_whole("default", text, phrases)
    return members


# -- how a session asks ------------------------------------------------------------------------

_EVENTS: Final[dict[str, type[AwaitingConfirmation] | type[AwaitingClarification]]] = {
    "confirmation": AwaitingConfirmation,
    "clarification": AwaitingClarification,
}
_MAX_TIMEOUT: Final = 86_400  # seconds
_GRACE: Final = 1.0  # seconds in which what was granted may begin before the next question comes
_TOLD_OUTCOMES: Final = {"unavailable": "timed_out"}  # to a listener, an answer that did not come is time that ran out


class Questions:
    """
    The questions of one session.

    ``flush_outputs`` sends all text that was written, ``resume_outputs`` what waited up to its last
    boundary, ``is_calling`` says whether a tool runs, ``skip_call`` announces that a call which was
    agreed to did not run, ``check_may_act`` raises if nothing may be done any more, ``note_refusal`` remembers
    what nobody agreed to, and ``is_telling`` says whether the calling thread is inside the producer's ``tell``.
    """

    def __init__(
        self,
        source: SessionSource,
        emitter: Emitter,
        hub: Hub,
        *,
        flush_outputs: Callable[[], None],
        resume_outputs: Callable[[], None],
        is_calling: Callable[[], bool],
        skip_call: Callable[[Ask], None],
        check_may_act: Callable[[str], None],
        note_refusal: Callable[[Ask], None],
        is_telling: Callable[[], bool],
    ) -> None:
        self.current: Ask | None = None  # before the person now
        self.granted: Ask | None = None  # agreed to and not begun: nothing else is asked meanwhile
        self._source = source
        self._emitter = emitter
        self._hub = hub
        self._flush_outputs = flush_outputs
        self._resume_outputs = resume_outputs
        self._is_calling = is_calling
        self._skip_call = skip_call
        self._check_may_act = check_may_act
        self._note_refusal = note_refusal
        self._is_telling = is_telling
        self._queue: deque[Ask] = deque()
        self._all_granted: list[Ask] = []
        self._is_withheld = False
        self._cause = ""  # why the current question is being ended, where the outcome alone does not tell
        emitter.expire_prompt = self.expire

    @property
    def _prompt(self) -> PromptState | None:
        """The current question as the session's state machine knows it."""
        event = self.current.event if self.current is not None else None
        return self._emitter.state.prompts.get(event.reply_token) if event is not None else None

    # -- asking ----------------------------------------------------------------------------

    def put(self, ask: Ask) -> Ask:
        """Ask, now or when the questions before it are answered."""
        with self._emitter.lock:
            self._emitter.check_active()
            if ask.kind == "confirmation":
                self._check_may_act(ask.tool or "what is asked about")
            self._queue.append(ask)
            self._ask_next(ask)
        return ask

    def _ask_next(self, own: Ask | None = None) -> None:
        """Issue what is next in the queue; an error is raised to the caller only for its ``own`` question."""
        while self._queue and self.current is None and self.granted is None:
            ask = self._queue.popleft()
            try:
                self._issue(ask)
            except BaseException as error:
                ask.arrived.set_exception(error)  # the code that waits for it would wait for ever
                if ask is own or not isinstance(error, AaepError):
                    raise

    def _issue(self, ask: Ask) -> None:
        repliers = self._hub.eligible_repliers(self._source, ask.kind)
        if not repliers and not ask.needs_whole_time:
            self._resolve_unanswerable(ask)  # CF-001, CF-002
            return
        members = dict(ask.members)
        # CF-028: the replier who needs longest decides.
        longest = min(self._hub.longest_requested_timeout(self._source), _MAX_TIMEOUT)
        members["timeout_seconds"] = max(members["timeout_seconds"], longest)
        summaries = self._emitter.complete_summaries(ask.summary, _summarize(ask, self._emitter.phrases))
        self._flush_outputs()
        self._emitter.change_state("awaiting_input")
        try:
            event = self._emitter.emit(
                _EVENTS[ask.kind],
                summaries,
                urgency="critical",
                withheld=not repliers,
                reply_token=new_id("rpl_"),
                **members,
            )
        except LocalProtocolError:
            self._emitter.change_state("thinking")
            raise
        ask.event = event
        self.current = ask
        self._is_withheld = not repliers
        prompt = self._emitter.state.prompts[event.reply_token]
        prompt.eligible = set(repliers)
        ask.timers.append(self._hub.call_at(prompt.deadline, self.expire))
        self._schedule_countdown(ask, prompt, event.timeout_seconds)

    def _resolve_unanswerable(self, ask: Ask) -> None:
        """Nobody could answer, so nothing is asked and nothing done. CF-001, CF-006"""
        default = ask.members.get("default_response")
        is_clarification = ask.kind == "clarification"
        how = "no_reply_channel"
        if is_clarification:
            how = "unasked_defaulted" if default is not None else "unasked_unanswered"
        summaries = summarize_outcome(how, ask.action, self._emitter.phrases)
        self._flush_outputs()
        if self._is_calling():  # TOOL-007: the state of a tool is left only when it has ended
            self._emitter.emit(ProgressUpdated, summaries, progress=Progress(description=summaries.normal))
        else:
            state = "thinking" if self._emitter.agent_state != "thinking" else "deciding"
            self._emitter.change_state(state, summaries, urgency="normal", attend={"outcome": "no_reply_channel"})
        if not is_clarification:
            self._note_refusal(ask)
        ask.resolve(
            Answer(
                outcome="unavailable" if is_clarification else "no_reply_channel",
                granted=default is not None and ask.default is not False,
                response=ask.default,
            )
        )

    def _schedule_countdown(self, ask: Ask, prompt: PromptState, seconds: int) -> None:
        """CF-036 §6.4.3: when half and when a tenth of a long wait is left."""
        if seconds <= 60:
            return
        for left in (seconds / 2, seconds / 10):
            ask.timers.append(self._hub.call_at(prompt.deadline - left, partial(self._tell_time_left, ask, left)))

    def _tell_time_left(self, ask: Ask, seconds_left: float) -> None:
        with self._emitter.lock:
            self.expire()  # where time has passed all at once, as when a machine wakes up
            if self.current is not ask or self._is_withheld:  # CF-001: whoever was not asked has no time to answer
                return
            phrases = self._emitter.phrases
            text = capitalize(phrases.format("time_left", duration=phrases.format_time_left(seconds_left)))
            self._emitter.emit(
                ProgressUpdated,
                Summaries(text, text, f"{text} {truncate_with_ellipsis(ask.about)}"),
                progress=Progress(description=text),
                eta_ms=int(seconds_left * 1000),
            )

    def check_may_wait(self, what: str, instead: str) -> None:
        """Raise where waiting would freeze a program or keep the answer away; ``instead`` says what else to write."""
        check_may_block(what, instead)  # on any loop: what brings the answer may need it, as under an ASGI server
        if self._is_telling():  # the session is held meanwhile, and no answer could be taken
            raise LocalProtocolError(
                f"{what} would wait for an answer inside `tell`, where none can come, so nothing ran. "
                "Only pass the sentence on there, and act elsewhere."
            )

    # -- answers ---------------------------------------------------------------------------

    def reply(self, message: Reply, via: str) -> None:
        """Take a reply. The sender is not told whether it counted (CONF-040 §6.3.4)."""
        with self._emitter.lock:
            self.expire()
            if self._emitter.state.reply(message, self._emitter.clock(), via).is_honoured:
                self._conclude()

    def expire(self) -> None:
        """Apply the default of a question whose time is up. CONF-043 §6.4"""
        with self._emitter.lock:
            self._emitter.state.expire(self._emitter.clock())
            prompt = self._prompt
            if prompt is not None and prompt.outcome != "pending":  # or it ran out while something else was judged
                self._conclude()

    def withdraw(self, ask: Ask, cause: str = "withdrawn") -> None:
        """Take a question back. CONF-069 §6.8"""
        with self._emitter.lock:
            if ask is self.current and (prompt := self._prompt) is not None:
                self._cause = cause
                self._emitter.state.resolve(prompt, "withdraw")
                self._conclude()
            elif not ask.arrived.done and ask in self._queue:
                self._queue.remove(ask)
                ask.resolve(Answer(outcome="withdrawn", granted=False))
            elif not ask.is_taken:
                self._skip_granted(ask)

    def withdraw_all(self) -> None:
        """Take back every question that is not answered; the session goes on."""
        with self._emitter.lock:
            for ask in [*self._queue, self.current]:  # the current one last, or the next would be asked
                if ask is not None:
                    self.withdraw(ask)

    def _skip_granted(self, ask: Ask) -> None:
        """A yes came when nothing waited for it any more: what it was for does not run, and who agreed is told."""
        prompt = self._emitter.state.prompts.get(ask.event.reply_token) if ask.event is not None else None
        if ask.call and prompt is not None and prompt.is_granted and not prompt.is_used and self._emitter.is_active:
            with suppress(LocalProtocolError):  # nothing may be said of it any more, as after a handoff
                self._skip_call(ask)

    def close(self) -> None:
        """The session ends: no question outlives it. CF-027"""
        for ask in [*self._queue]:
            self.withdraw(ask)
        self.granted = None
        if self.current is not None:
            self.withdraw(self.current)
        for ask in self._all_granted:
            self.withdraw(ask)

    def drop(self) -> None:
        """Let the waiting code go on, where nothing more can be told."""
        for ask in [*self._queue, self.current, self.granted]:
            if ask is not None:
                ask.resolve(Answer(outcome="withdrawn", granted=False))
        self._queue.clear()
        self._all_granted.clear()
        self.current = None
        self.granted = None

    def _conclude(self) -> None:
        """Tell everybody how the current question ended, and let the waiting code go on. CF-024 to CF-026"""
        ask, prompt = self.current, self._prompt
        if ask is None or prompt is None:
            return
        self.current = None
        is_lost = self._cause == "lost"
        answer = _build_answer(ask, prompt, is_lost=is_lost)
        if is_lost and ask.kind == "clarification":
            self._cause = "lost_defaulted" if "default_response" in ask.members else "lost_unanswered"
        how = self._cause or _find_cause(answer, prompt)
        self._cause = ""
        is_asked_again = how == "longer"
        is_call_granted = answer.granted and bool(ask.call)
        if ask.kind == "confirmation" and not answer.granted and not is_asked_again:
            self._note_refusal(ask)
        if is_call_granted:
            self.granted = ask
            self._all_granted.append(ask)
            self._hub.call_at(self._emitter.clock() + _GRACE, partial(self._release_granted, ask))
        state = "calling_tool" if self._is_calling() or is_call_granted else "thinking"
        attend = {"reply_token": prompt.token, "outcome": _TOLD_OUTCOMES.get(answer.outcome, answer.outcome)}
        try:
            self._emitter.change_state(
                "deciding" if is_asked_again and state == "thinking" else state,
                summarize_outcome(how, ask.action, self._emitter.phrases),
                urgency="critical",
                attend={**attend, "asked_again": True} if is_asked_again else attend,
            )
        finally:
            if is_asked_again:
                ask.cancel_timers()
                self._queue.appendleft(ask)
            else:
                ask.resolve(answer)
        self._ask_next()
        self._resume_outputs()

    def call_began(self, ask: Ask) -> None:
        """What was granted runs; the next question may come."""
        if self.granted is ask:
            self.granted = None
            self._ask_next()
            self._resume_outputs()

    def _release_granted(self, ask: Ask) -> None:
        """What was granted did not begin in time; others may go on."""
        with self._emitter.lock:
            if self.granted is ask:
                self.granted = None
                self._ask_next()
                self._resume_outputs()

    # -- who can answer ----------------------------------------------------------------------

    def join(self, subscription: Subscription) -> list[Envelope]:
        """Count in a listener that came, or came back, and return what it is to be asked. CF-007"""
        prompt = self._prompt
        if self.current is None or prompt is None:
            return []
        if subscription.may_answer(type(prompt.event)):
            if prompt.eligible is not None:
                prompt.eligible.add(subscription.id)
            if self._is_withheld:  # CF-001: now that somebody can answer, everybody is to know
                self._is_withheld = False
                self._emitter.publish_withheld(prompt.event)
        return [] if self._is_withheld else [prompt.event]

    def subscription_ended(self, subscription_id: str) -> None:
        """CF-003: only when nobody is left who could answer does leaving decide, and never for yes (CF-005)."""
        with self._emitter.lock:
            ask, prompt = self.current, self._prompt
            if ask is None or prompt is None or not prompt.eligible:
                return
            prompt.eligible.discard(subscription_id)
            if not prompt.eligible and not ask.needs_whole_time:
                self._cause = "lost"
                self._emitter.state.resolve(prompt, "timeout")
                self._conclude()

    def terms_changed(self, subscription: Subscription) -> None:
        """A listener changed its terms: whether it may answer (CF-035), and how long it needs (CF-028)."""
        with self._emitter.lock:
            ask, prompt = self.current, self._prompt
            if ask is None or prompt is None:
                return
            if not subscription.may_answer(type(prompt.event)):
                self.subscription_ended(subscription.id)
                return
            if prompt.eligible is not None:
                prompt.eligible.add(subscription.id)
            seconds = subscription.get_requested("minimum_timeout_seconds")
            is_longer = isinstance(seconds, int) and seconds > prompt.event.timeout_seconds
            # More time cannot be given to a question that is out: it is taken back and asked anew.
            if is_longer and not ask.needs_whole_time:
                self.withdraw(ask, "longer")


def _summarize(ask: Ask, phrases: Phrases) -> Summaries:
    about = truncate_with_ellipsis(ask.about)  # the action or question itself is told whole
    if ask.kind == "confirmation":
        return Summaries(phrases["confirm"], about, f"{about} {truncate_with_ellipsis(ask.members['consequence'])}")
    return Summaries(phrases["question"], about, about)


def _build_answer(ask: Ask, prompt: PromptState, *, is_lost: bool) -> Answer:
    """Return the answer for the waiting code; ``is_lost``: the last one who could answer has left (CF-003)."""
    if is_lost and ask.kind == "confirmation":
        return Answer(outcome="unavailable", granted=False)  # CF-005
    if prompt.outcome == "timed_out" and ask.kind == "clarification":
        # CF-006: the answer named before, or none; never a guess.
        has_default = "default_response" in ask.members
        return Answer(
            outcome="timed_out" if has_default and not is_lost else "unavailable",
            granted=has_default and ask.default is not False,
            response=ask.default,
        )
    return Answer(
        outcome=prompt.outcome,  # type: ignore[arg-type]  # it is not pending, and here nothing is unseen
        granted=prompt.is_granted and prompt.response is not False,  # a no to a yes/no question grants nothing
        response=prompt.response,
        modified=prompt.is_modified,
    )


def _find_cause(answer: Answer, prompt: PromptState) -> str:
    """Return the outcome as it is put into words."""
    if answer.modified:
        return "modified"
    if answer.outcome == "timed_out" and prompt.kind == "clarification":
        return "defaulted"  # without an answer that was named before, it is unavailable
    if answer.outcome == "timed_out" and answer.granted:
        return "granted"
    return answer.outcome
