"""
One turn of a coding agent, told from its hooks: a session from what the person asks for until the agent stops.

A call is announced as a tool only after a yes, or if it changes nothing (TOOL-002). What ran without a question is
told in words, as a warning.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from ..errors import AaepError, LocalProtocolError
from ..producer.output import Output
from ..producer.producer import Producer
from ..producer.questions import Ask
from ..producer.tool_call import Call
from ..text.invisible import spell_invisible
from ..text.phrases import humanize_name
from ..text.sanitize import truncate
from .acp_questions import Proposal
from .hook_calls import HookCall, describe_call, describe_reading
from .question_parts import plan_telling

__all__ = ["Decision", "Question", "Turn"]

_log: Final = logging.getLogger("aaep.hooks")

_ASK_TIMEOUT: Final = 86_400  # seconds
_MAX_WARNING_LENGTH: Final = 2000  # characters of what ran already
_MAX_REQUEST_LENGTH: Final = 2000  # characters of what the person wrote
_MAX_REMEMBERED: Final = 1000  # calls of one turn

Outcome = Literal["asked", "granted", "refused", "terminal"]


class Decision(NamedTuple):
    """What an agent is told: ``allow``, ``deny``, ``none`` if there is no answer, ``leave`` if it is not ours."""

    decision: Literal["allow", "deny", "none", "leave"]
    message: str = ""
    interrupt: bool = False  # the agent is to stop


class ToolFailed(Exception):
    """The agent reports that a tool failed."""


class Question(msgspec.Struct, kw_only=True, eq=False):
    """A call that a person is asked about, in one question or in several that tell its parts."""

    call: HookCall
    ident: str
    proposal: Proposal
    ask: Ask  # the one that is open
    later: list[str]  # what is asked after a yes to a part; the last of it is confirmed


class Turn:
    """A turn of one agent; its methods are called on one event loop."""

    def __init__(self, producer: Producer, agent_name: str, *, prompt: str | None, has_dialog: bool) -> None:
        """``has_dialog``: the agent asks by itself where there is no answer from here."""
        self._agent_name = agent_name
        self._phrases = producer.phrases
        self._has_dialog = has_dialog
        self.session = producer.session(
            self._phrases.format("hooks-started", agent=agent_name),
            request=None if not prompt else truncate(prompt, _MAX_REQUEST_LENGTH),
        )
        self.session.start()
        self._is_over = False
        self._output: Output | None = None
        self._output_id: Any = None
        self._begun: dict[str, HookCall] = {}  # that a hook told of before they ran, by id, the newest last
        self._granted: dict[str, Question] = {}  # that were agreed to and are not announced yet, by id or effect
        self._calls: dict[str, Call] = {}  # that were agreed to and run
        self._tasks: set[asyncio.Task[None]] = set()  # that wait until something may be told
        self._outcomes: dict[str, Outcome] = {}  # of questions, by id or effect

    @property
    def is_stopped(self) -> bool:
        """Whether a reader has ended the session, and not the agent."""
        return not self._is_over and not self.session.is_open

    # -- what is told ----------------------------------------------------------------------------

    def show_message(self, data: Mapping[str, Any]) -> None:
        """Tell lines that the agent shows."""
        text = data.get("delta")
        if not isinstance(text, str):
            return
        message_id = data.get("message_id")
        if self._output is not None and message_id != self._output_id:
            self.end_output()
        if self._output is None:
            self._output = self.session.output(content_type="text/markdown")
            self._output_id = message_id
        self._output.write(text if text.endswith("\n") else f"{text}\n")
        if data.get("final") is True:
            self.end_output()

    def end_output(self) -> None:
        """End the message that is being told, because something else is."""
        if self._output is not None:
            output, self._output = self._output, None
            output.close()

    def write(self, text: str) -> None:
        """Tell a text as a message of its own."""
        self.end_output()
        if text.strip():
            output = self.session.output(content_type="text/markdown")
            output.close(text)

    def tell_waiting(self, call: HookCall | None) -> None:
        """Tell that the agent waits for the person at its own terminal."""
        self.end_output()
        action = self._phrases["state-awaiting_input"]
        if call is not None:
            action = self._describe_briefly(call)
        self.session.write(self._phrases.format("hooks-terminal", text=action))

    # -- tools -----------------------------------------------------------------------------------

    def note_begin(self, call: HookCall) -> None:
        """Remember a call that may be asked about next. It is not told: whether it runs is not known yet."""
        self.end_output()
        if call.ident:
            self._begun[call.ident] = call
            if len(self._begun) > _MAX_REMEMBERED:
                self._begun.pop(next(iter(self._begun)))

    def tell_end(self, call: HookCall, *, is_success: bool) -> None:
        """Tell that a call has ended."""
        self.end_output()
        ident = call.ident if call.ident in self._outcomes else call.effect_key
        self._begun.pop(call.ident, None)
        outcome = self._outcomes.pop(ident, None)
        if outcome == "granted":
            self._spawn(self._end_granted(ident, is_success=is_success))
        elif call.is_reading or call.is_asking:
            self._spawn(self._tell_reading(call, is_success=is_success))
        elif outcome == "refused":
            if is_success:
                self._warn("hooks-despite", call)
        elif outcome == "terminal":
            self._warn("hooks-terminal-allowed", call)
        else:
            self._warn("hooks-unasked", call)

    def _spawn(self, telling: Coroutine[Any, Any, None]) -> None:
        """Tell something as soon as no question is open; the agent does not wait for that."""
        task = asyncio.get_running_loop().create_task(self._guard(telling))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guard(self, telling: Coroutine[Any, Any, None]) -> None:
        try:
            await telling
        except AaepError:  # the session has ended meanwhile
            _log.info("The end of a call could not be told.", exc_info=True)

    async def _tell_reading(self, call: HookCall, *, is_success: bool) -> None:
        block = self.session.tool(
            call.tool, risk="low", irreversible=False, summary=describe_reading(call, self._phrases)
        )
        await block.__aenter__()
        block.end(None if is_success else ToolFailed(), name=self._phrases["error-unnamed"])

    async def _end_granted(self, ident: str, *, is_success: bool) -> None:
        await self._begin(ident)
        block = self._calls.pop(ident, None)
        if block is not None:
            block.end(None if is_success else ToolFailed(), name=self._phrases["error-unnamed"])

    def _warn(self, phrase: str, call: HookCall) -> None:
        """Tell what nobody here agreed to, which cannot be told as a tool (TOOL-002)."""
        self.session.write(self._phrases.format(phrase, text=self._describe_briefly(call)))

    def _describe_briefly(self, call: HookCall) -> str:
        try:
            return truncate(
                spell_invisible(describe_call(call, self._phrases).action, self._phrases), _MAX_WARNING_LENGTH
            )
        except (LocalProtocolError, ValueError, RecursionError):
            return self._phrases.format("hooks-undescribed", tool=humanize_name(call.tool))

    # -- permissions -----------------------------------------------------------------------------

    def ask(self, call: HookCall) -> Question | Decision:
        """Ask the person about a call, or return the decision on what is not asked."""
        self.end_output()
        if call.is_asking:
            self.tell_waiting(call)
            return Decision("leave")
        try:
            proposal = describe_call(call, self._phrases)
            telling = plan_telling(proposal.action, proposal.overview, self._phrases)
            if telling is None:
                raise LocalProtocolError("It is too long to be read out.")
            first, *later = (*telling.questions, telling.action)
            ask = self._put(call, proposal, first, is_last=not later)
        except (LocalProtocolError, ValueError, RecursionError):  # CF-019: nobody can agree to what they do not hear
            phrase = "hooks-terminal-unread" if self._has_dialog else "hooks-refused-unread"
            self.session.write(self._phrases.format(phrase, tool=humanize_name(call.tool)))
            ident = self._find_ident(call)
            self._outcomes[ident] = "terminal" if self._has_dialog else "refused"
            return Decision("none", "It cannot be read out in full. Nothing was done. Take smaller steps.")
        ident = self._find_ident(call)
        self._outcomes[ident] = "asked"
        return Question(call=call, ident=ident, proposal=proposal, ask=ask, later=later)

    def _put(self, call: HookCall, proposal: Proposal, text: str, *, is_last: bool) -> Ask:
        """Ask for a yes to a part of what a call would do, or to all of it."""
        if not is_last:
            return self.session.clarify(text, kinds=["yes_no"], timeout=_ASK_TIMEOUT)
        return self.session.confirm(
            text,
            proposal.consequence,
            tool=call.tool,
            risk=proposal.risk,
            irreversible=proposal.is_irreversible,
            reversibility=proposal.reversibility,
            default="reject",
            timeout=_ASK_TIMEOUT,
        )

    def _find_ident(self, call: HookCall) -> str:
        """Return the id of a call: a permission has none, so it is the newest that began with the same input."""
        if call.ident:
            return call.ident
        for ident, begun in reversed(self._begun.items()):
            if begun.key == call.key and ident not in self._outcomes:
                return ident
        return call.effect_key

    async def wait_for_answer(self, question: Question) -> Decision:
        """Wait for the person, and return the decision; only a yes allows."""
        answer = await question.ask
        while question.later and answer.outcome == "answered" and answer.response is True:
            text = question.later.pop(0)
            question.ask = self._put(question.call, question.proposal, text, is_last=not question.later)
            answer = await question.ask
        if answer.granted and answer.outcome == "accepted":
            self._outcomes[question.ident] = "granted"
            self._granted[question.ident] = question
            return Decision("allow")
        if self.is_stopped:
            self._outcomes[question.ident] = "refused"
            return Decision("deny", "The user stopped the work. Nothing was done.", interrupt=True)
        if answer.outcome in ("unavailable", "no_reply_channel", "withdrawn"):
            self._outcomes[question.ident] = "terminal" if self._has_dialog else "refused"
            return Decision("none")
        self._outcomes[question.ident] = "refused"
        if answer.outcome == "answered":
            self.session.write(self._phrases.format("code-part-refused", text=question.proposal.overview))
        return Decision("deny", answer.refusal)

    def withdraw(self, question: Question) -> None:
        """Take a question back: it was answered at the terminal, or the agent waits no longer."""
        self._outcomes[question.ident] = "terminal"
        question.ask.withdraw()

    async def begin(self, question: Question) -> None:
        """Announce the call that was agreed to: the agent has its yes."""
        await self._begin(question.ident)

    async def _begin(self, ident: str) -> None:
        question = self._granted.pop(ident, None)
        if question is None:
            return
        earlier = self._calls.pop(ident, None)
        if earlier is not None:  # the same call was asked about again before its end was told
            earlier.end(TimeoutError())
        block = self._build_call(question)
        self._calls[ident] = block
        await block.__aenter__()

    def skip(self, question: Question) -> None:
        """Announce that what was agreed to does not run by this yes: the agent did not take it."""
        if self._granted.pop(question.ident, None) is None:
            return
        self._outcomes[question.ident] = "terminal"
        try:
            self._build_call(question).skip()
        except AaepError:
            _log.warning("A yes came too late, and that could not be told.", exc_info=True)

    def _build_call(self, question: Question) -> Call:
        proposal = question.proposal
        return self.session.tool(
            question.call.tool,
            risk=proposal.risk,
            irreversible=proposal.is_irreversible,
            ask=question.ask,
        )

    # -- the end ---------------------------------------------------------------------------------

    def complete(self) -> None:
        """The agent has stopped by itself."""
        self._is_over = True
        self.end_output()
        self.session.complete()

    def fail(self, name: str | None) -> None:
        """The agent has stopped because of an error."""
        self._is_over = True
        self.end_output()
        self.session.fail(name=name or self._phrases["error-unnamed"])

    def cancel(self, phrase: str) -> None:
        """The turn has ended before its end, for a reason that a phrase names."""
        self._is_over = True
        self.end_output()
        self.session.cancel(self._phrases.format(phrase, agent=self._agent_name))
