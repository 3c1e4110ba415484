"""
One turn of a coding agent, told and asked as one session: from a person's prompt until the agent has stopped.

Three kinds of threads meet here. The one that reads hands over what arrived, in order, and never waits. The teller
turns it into events, and may have to wait, for readers or for a question to be answered. Each request of the agent
has a thread of its own, which waits for the person.

Whatever is not a clear yes is a no: to refuse is what every path here does that was not meant to allow.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, Literal, NamedTuple, Protocol

from ..errors import AaepError, LocalProtocolError
from ..producer.output import Output
from ..producer.questions import Answer, Ask
from ..producer.session import Session
from ..producer.tool_call import Call
from ..text.invisible import spell_invisible
from ..text.phrases import Phrases
from ..text.sanitize import truncate
from .acp_messages import AgentGone, RequestId
from .acp_questions import HARMLESS, PermissionOptions, Proposal, describe_call
from .acp_rules import AllowRule, find_rule
from .question_parts import Telling, plan_telling

__all__ = ["ToolFailed", "Turn", "TurnHost"]

_log: Final = logging.getLogger("aaep.adapters")

ASK_TIMEOUT: Final = 86_400  # seconds; the longest there is, since no agent gives up earlier
MAX_WARNING_LENGTH: Final = 2000  # characters of what ran, in a warning
_ANSWER_TIMEOUT: Final = 2.0  # seconds for the open requests to be answered before the turn is cancelled
_FAILURES: Final = ("refusal", "max_tokens", "max_turn_requests")
_DROPPED: Final = frozenset(
    """user_message_chunk usage_update available_commands_update session_info_update compaction_update
    compaction_summary_chunk plan_removed""".split()
)

Update = Mapping[str, Any]


class ToolFailed(Exception):
    """The agent says that a tool of its own failed."""


class _Put(NamedTuple):
    """
    A permission as it was put to the person.

    There is no telling for what a rule of theirs allows, and no question yet for what is told in parts.
    """

    proposal: Proposal
    telling: Telling | None = None
    ask: Ask | None = None


class TurnHost(Protocol):
    """What a turn needs of the agent whose turn it is."""

    @property
    def name(self) -> str:
        """The name of the agent, as rules use it."""

    @property
    def cwd(self) -> str:
        """The folder that it works in."""

    @property
    def mode(self) -> str:
        """The mode that the agent works in."""

    @property
    def rules(self) -> tuple[AllowRule, ...]:
        """What the person allows without being asked."""

    @property
    def allows_unasked(self) -> bool:
        """Whether what runs unasked does not stop the turn."""

    @property
    def counts(self) -> Counter[str]:
        """How often something was left out."""

    def is_sandboxed(self, kind: str) -> bool:
        """Whether the agent runs this kind of tool where it can change nothing."""

    def send_cancel(self) -> None:
        """Tell the agent to stop."""

    def change_mode(self, mode: str) -> tuple[str, bool]:
        """Note that the agent is in another mode; return its title, and whether the agent asks in it."""

    def restore_mode(self) -> None:
        """Have the agent ask again."""


class Turn:
    """
    What happens between a prompt and its end.

    ``session`` is open already. :meth:`update` and the ``prepare`` methods are called on the thread that reads.
    """

    def __init__(self, session: Session, host: TurnHost) -> None:
        self.session = session
        self._phrases = session.phrases
        self.unasked: list[str] = []  # what ran although nobody was asked
        self.refusals = 0
        self.is_cancelling = False
        self.has_failed = False  # something in this program
        self._host = host
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Condition()
        self._asks: dict[RequestId, Ask | None] = {}  # of open requests; None before it is asked
        self._withdrawn: set[RequestId] = set()
        self._is_over = False  # the teller has got its last job
        self._decisions: dict[str, Literal["asked", "granted", "refused", "harmless", "elsewhere"]] = {}  # by tool call
        self._calls: dict[str, Call] = {}
        self._told: set[str] = set()  # tool calls whose end was told
        self._output: Output | None = None
        self._output_id: Any = None
        self._teller = threading.Thread(target=self._run_jobs, name="aaep-acp-tell", daemon=True)
        self._teller.start()

    # -- the teller --------------------------------------------------------------------------

    def _run_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:
                if self.session.is_open:  # else a reader ended it meanwhile, and there is nobody to tell
                    self._handle_fault()

    def _handle_fault(self) -> None:
        """Something here failed, so what the agent does may go unnoticed: it is stopped."""
        _log.exception("A message of the coding agent could not be told.")
        self.has_failed = True
        self.cancel_soon()

    def _post(self, function: Callable[[], Any]) -> Future[Any]:
        """Have a function called by the teller, after all that came before. Raises when the turn is over."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        with self._lock:
            if self._is_over:  # whoever waited for this would wait for ever
                raise LocalProtocolError("The turn is over, so nothing is asked any more.")
            self._jobs.put(run)
        return future

    # -- what the agent tells ------------------------------------------------------------------

    def update(self, update: Update, tool: Mapping[str, Any] | None, *, is_own: bool) -> None:
        """Tell an update; ``tool`` is all that is known of its tool call, ``is_own`` is false for another session."""
        kind = update.get("sessionUpdate")
        if tool is not None:
            status = update.get("status")
            if status in ("completed", "failed"):
                self._jobs.put(lambda: self._tell_tool_end(str(update["toolCallId"]), tool, status == "completed"))
        elif not is_own:
            self._host.counts["other session"] += 1
        elif kind == "agent_message_chunk":
            self._jobs.put(lambda: self._say(update))
        elif kind == "agent_thought_chunk":
            self._jobs.put(self._tell_thinking)
        elif kind in ("plan", "plan_update"):
            self._jobs.put(lambda: self._tell_plan(update))
        elif kind == "current_mode_update":
            self._jobs.put(lambda: self._tell_mode(update.get("currentModeId")))
        elif kind == "config_option_update":
            self._jobs.put(lambda: self._tell_options(update.get("configOptions")))
        elif kind == "notice":
            self._jobs.put(lambda: self._tell_notice(update))
        elif kind == "subagent_update":
            self._jobs.put(lambda: self._tell_subagent(update))
        elif kind not in _DROPPED:
            self._host.counts["unknown update"] += 1

    def _say(self, update: Update) -> None:
        text = _read_text(update.get("content"))
        if not text:
            self._host.counts["unreadable content"] += 1
            return
        message_id = update.get("messageId")
        if self._output is not None and message_id != self._output_id:
            self._end_output()
        if self._output is None:
            self._output = self.session.output(content_type="text/markdown")
            self._output_id = message_id
        self._output.write(text)

    def _end_output(self) -> None:
        if self._output is not None:
            output, self._output = self._output, None
            output.close()

    def _tell_thinking(self) -> None:
        self._end_output()
        if self.session.state != "thinking":
            with self.session.thinking():
                pass

    def _tell_plan(self, update: Update) -> None:
        self._end_output()
        plan = update.get("plan")
        entries = update.get("entries") or (plan.get("entries") if isinstance(plan, dict) else None)
        steps = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        if not steps:
            return
        done = sum(entry.get("status") == "completed" for entry in steps)
        current = next((entry.get("content") for entry in steps if entry.get("status") == "in_progress"), None)
        description = current if isinstance(current, str) and current.strip() else None
        self.session.progress(100 * done / len(steps), step=done, total=len(steps), description=description)

    def _tell_mode(self, mode: Any) -> None:
        if not isinstance(mode, str):
            return
        title, asks = self._host.change_mode(mode)
        self._end_output()
        if asks:
            self._tell_state(self._phrases.format("code-mode", mode=title))
            return
        warning = self._phrases.format("code-mode-unasked", mode=title)
        if self._host.allows_unasked:
            self.session.write(warning)
            return
        self.session.write(f"{warning} {self._phrases['code-mode-back']}")
        self._host.restore_mode()

    def _tell_options(self, options: Any) -> None:
        """Some agents tell of another mode among their other settings, which are nobody's concern here."""
        for option in options if isinstance(options, list) else ():
            if isinstance(option, dict) and option.get("category") == "mode" and option.get("id") == "mode":
                mode = option.get("currentValue")
                if mode != self._host.mode:
                    self._tell_mode(mode)

    def _tell_state(self, summary: str) -> None:
        with self.session.deciding(summary) if self.session.state == "thinking" else self.session.thinking(summary):
            pass

    def _tell_notice(self, update: Update) -> None:
        text = _read_text(update.get("content")) or update.get("message") or update.get("text")
        if isinstance(text, str) and text.strip():
            self._end_output()
            self.session.write(text)

    def _tell_subagent(self, update: Update) -> None:
        name = next((update[key] for key in ("title", "name") if isinstance(update.get(key), str)), "")
        status = update.get("status")
        if name and isinstance(status, str):
            self._end_output()
            told = self._phrases.format("code-subagent", name=truncate(name, 80), state=status.replace("_", " "))
            self.session.progress(description=told)

    # -- tools -----------------------------------------------------------------------------------

    def _tell_tool_end(self, ident: str, tool: Mapping[str, Any], is_success: bool) -> None:
        self._end_output()
        call = self._calls.pop(ident, None)
        if call is not None:
            self._told.add(ident)
            call.end(None if is_success else ToolFailed(), name=self._phrases["error-unnamed"])
            return
        decision = self._decisions.get(ident)
        if ident in self._told or decision == "harmless":
            return
        proposal = _describe(tool, self._host.cwd, self._phrases)
        if decision == "elsewhere":
            self._told.add(ident)
            self.session.write(
                self._phrases.format("code-editor-done" if is_success else "code-editor-failed", text=_label(proposal))
            )
            return
        if decision == "refused":
            if is_success and (proposal is None or proposal.nature not in HARMLESS):
                self._told.add(ident)
                self._warn("code-despite", proposal)
            return
        self._told.add(ident)  # what ends while it is still being asked about did not wait
        if proposal is not None and decision is None and self._may_run_unasked(proposal):
            if proposal.nature != "switch_mode":  # of which the mode itself tells
                self._tell_harmless(proposal, proposal.label, is_success=is_success)
        else:
            self._warn("code-unasked" if is_success else "code-unasked-failed", proposal)

    def _may_run_unasked(self, proposal: Proposal) -> bool:
        """Whether a call changes nothing that a person would want to be asked about."""
        return proposal.nature in HARMLESS or proposal.nature == "switch_mode" or self._host.is_sandboxed(proposal.kind)

    def _tell_harmless(self, proposal: Proposal, summary: str, *, is_success: bool) -> None:
        call = self.session.tool(proposal.tool, risk="low", irreversible=False, summary=summary)
        call.begin()
        call.end(None if is_success else ToolFailed(), name=self._phrases["error-unnamed"])

    def _warn(self, phrase: str, proposal: Proposal | None) -> None:
        """Tell what nobody agreed to, which cannot be told as a tool (TOOL-002), and stop the turn."""
        action = self._phrases["code-undescribed"] if proposal is None else proposal.action
        told = truncate(spell_invisible(action, self._phrases), MAX_WARNING_LENGTH)
        self.unasked.append(told)
        may_go_on = self._host.allows_unasked and phrase != "code-despite"
        if not may_go_on:
            self.cancel_soon()
        text = self._phrases.format(phrase, text=told)
        self.session.write(text if may_go_on else f"{text} {self._phrases['code-stopping']}")

    # -- permissions -----------------------------------------------------------------------------

    def prepare_permission(
        self, request_id: RequestId, ident: str, tool: Mapping[str, Any], options: PermissionOptions
    ) -> Callable[[], Any]:
        """Return the function that asks the person and returns the answer for the agent."""
        self._decisions[ident] = "asked"
        self._open_request(request_id)
        question = self._post(lambda: self._put_permission(request_id, tool, options))

        def decide() -> Any:
            is_granted = False
            try:
                is_granted = self._decide(request_id, ident, question)
            except Exception:  # a bug here, or what cannot be told: a no in any case
                if self.session.is_open:
                    self._handle_fault()
            finally:
                self._close_request(request_id)
            if is_granted:
                return options.grant()
            self.refusals += 1
            self._decisions[ident] = "refused"
            return options.cancel() if self.is_cancelling else options.refuse()

        return decide

    def _put_permission(
        self, request_id: RequestId, tool: Mapping[str, Any], options: PermissionOptions
    ) -> _Put | None:
        """Ask, by the teller; return None for what is refused at once."""
        self._end_output()
        if self.is_cancelling or request_id in self._withdrawn:
            return None
        proposal = _describe(tool, self._host.cwd, self._phrases)
        if proposal is None:
            self.session.write(self._phrases.format("code-unreadable", text=""))
            return None
        if options.allow_once is None:
            self.session.write(self._phrases.format("code-unofferable", text=proposal.label))
            return None
        if find_rule(self._host.rules, proposal, self._host.name) is not None:
            return _Put(proposal)
        try:
            put = self._begin_telling(request_id, proposal)
        except LocalProtocolError:
            self.session.write(self._phrases.format("code-unreadable", text=proposal.label))
            return None
        if put is None:
            self.session.write(self._phrases.format("code-too_long", text=proposal.label))
        return put

    def _begin_telling(self, request_id: RequestId, proposal: Proposal) -> _Put | None:
        """Ask at once what fits into one question; return None for what is too long even for parts."""
        telling = plan_telling(proposal.action, proposal.overview, self._phrases)
        if telling is None or telling.questions:
            return telling and _Put(proposal, telling)
        return _Put(proposal, telling, self._confirm(request_id, proposal, telling.action))

    def _confirm(self, request_id: RequestId, proposal: Proposal, action: str) -> Ask:
        ask = self.session.confirm(
            action,
            proposal.consequence,
            tool=proposal.tool,
            risk=proposal.risk,
            irreversible=proposal.is_irreversible,
            reversibility=proposal.reversibility,
            timeout=ASK_TIMEOUT,
        )
        self._note_ask(request_id, ask)
        return ask

    def _finish_telling(self, request_id: RequestId, put: _Put) -> Ask | bool | None:
        """
        Tell all parts of what is long, and return the question that follows the last one.

        Return False if the person has refused a part, and None if there is no answer.
        """
        if put.ask is not None or put.telling is None:
            return put.ask
        proposal, (questions, action) = put.proposal, put.telling
        for question in questions:
            answer = self._clarify(request_id, question, kinds=["yes_no"])
            if answer is None or answer.outcome != "answered":
                return None
            if answer.response is not True:
                return False

        def confirm() -> Ask | None:
            is_wanted = not (self.is_cancelling or request_id in self._withdrawn)
            return self._confirm(request_id, proposal, action) if is_wanted else None

        ask: Ask | None = self._post(confirm).result()
        return ask

    def _tell_refused_part(self, proposal: Proposal) -> None:
        self._post(
            lambda: self.session.write(self._phrases.format("code-part-refused", text=proposal.overview))
        ).result()

    def _decide(self, request_id: RequestId, ident: str, question: Future[_Put | None]) -> bool:
        """Wait for the person, and return whether the call may run; it was announced then."""
        put = question.result()
        if put is None:
            return False
        proposal = put.proposal
        ask = self._finish_telling(request_id, put)
        if ask is False:
            self._tell_refused_part(proposal)
            return False
        if put.telling is None:  # the person's own rule says that it is harmless
            call = self.session.tool(
                proposal.tool,
                risk="low",
                irreversible=False,
                summary=self._phrases.format("code-ruled", text=proposal.label),
            )
        elif isinstance(ask, Ask) and self._wait_for_yes(ask):
            call = self.session.tool(
                proposal.tool,
                risk=proposal.risk,
                irreversible=proposal.is_irreversible,
                ask=ask,
                summary=proposal.label,
            )
        else:
            return False
        call.begin()
        with self._lock:
            earlier = self._calls.pop(ident, None)
            self._calls[ident] = call
            self._decisions[ident] = "granted"
        if earlier is not None:  # the same call was asked about twice, and nothing was told of the first
            earlier.end(TimeoutError())
        if self.is_cancelling:
            call.end(ToolFailed(), name=self._phrases["error-unnamed"])
            self._calls.pop(ident, None)
            return False
        return True

    def _wait_for_yes(self, ask: Ask) -> bool:
        answer = ask.wait()
        return answer.granted and answer.outcome == "accepted" and not self.is_cancelling

    # -- permissions that somebody else is asked for too --------------------------------------------

    def prepare_opinion(
        self,
        request_id: RequestId,
        ident: str,
        tool: Mapping[str, Any],
        options: PermissionOptions,
        claim: Callable[[], bool],
    ) -> Callable[[], bool | None]:
        """
        Return the function that asks the person here about what is asked elsewhere too.

        It returns the answer, or None where there is none to give: somebody else was first, nobody listens, or
        something here failed. ``claim`` is called before an answer is told, and says whether nobody else was first.
        """
        self._decisions[ident] = "asked"
        self._open_request(request_id)
        question = self._post(lambda: self._put_opinion(request_id, tool, options))

        def decide() -> bool | None:
            try:
                return self._decide_beside(request_id, ident, question, claim)
            except Exception:  # then whoever else was asked decides
                if self.session.is_open:
                    _log.exception("A question of the coding agent could not be asked here.")
                return None
            finally:
                self._close_request(request_id)

        return decide

    def _put_opinion(self, request_id: RequestId, tool: Mapping[str, Any], options: PermissionOptions) -> _Put | None:
        """Ask, by the teller; return None for what cannot be asked here."""
        self._end_output()
        if self.is_cancelling or request_id in self._withdrawn:
            return None
        proposal = _describe(tool, self._host.cwd, self._phrases)
        put = None
        if proposal is not None and options.allow_once is not None:
            with contextlib.suppress(LocalProtocolError):  # as for a secret
                put = self._begin_telling(request_id, proposal)
        if put is None:
            self.session.write(self._phrases.format("code-editor-only", text=_label(proposal)))
        return put

    def _decide_beside(
        self, request_id: RequestId, ident: str, question: Future[_Put | None], claim: Callable[[], bool]
    ) -> bool | None:
        put = question.result()
        if put is None:
            return None
        proposal = put.proposal
        ask = self._finish_telling(request_id, put)
        if ask is False and claim():
            self.refusals += 1
            self._decisions[ident] = "refused"
            self._tell_refused_part(proposal)
            return False
        if not isinstance(ask, Ask):
            return None
        answer = ask.wait()
        is_granted = answer.granted and answer.outcome == "accepted"
        # Silence here, or nobody who listens, is no answer: another place may still give one.
        if not (is_granted or answer.outcome == "rejected") or not claim():
            return None
        if not is_granted:
            self.refusals += 1
            self._decisions[ident] = "refused"
            return False
        call = self.session.tool(
            proposal.tool, risk=proposal.risk, irreversible=proposal.is_irreversible, ask=ask, summary=proposal.label
        )
        call.begin()
        with self._lock:
            self._calls[ident] = call
            self._decisions[ident] = "granted"
        return True

    def settle(self, request_id: RequestId, ident: str, tool: Mapping[str, Any], *, is_allowed: bool) -> None:
        """Somebody else has answered: the question here is withdrawn, and the answer is told."""
        self._decisions[ident] = "elsewhere" if is_allowed else "refused"
        self.withdraw(request_id)

        def tell() -> None:
            self._end_output()
            if is_allowed:
                self.session.write(
                    self._phrases.format(
                        "code-editor-allowed", text=_label(_describe(tool, self._host.cwd, self._phrases))
                    )
                )
            else:
                self.session.write(self._phrases["code-editor-refused"])

        self._jobs.put(tell)

    def note_form(self, ident: str) -> None:
        """A tool only asks something, which somebody else answers."""
        self._decisions[ident] = "harmless"

    # -- forms -----------------------------------------------------------------------------------

    def prepare_form(self, request_id: RequestId, params: Mapping[str, Any]) -> Callable[[], Any]:
        """Return the function that asks the questions of a form, one after another."""
        ident = params.get("toolCallId")
        if isinstance(ident, str):
            self._decisions[ident] = "harmless"  # a tool that only asks
        self._open_request(request_id)

        def fill_in() -> Any:
            try:
                content = self._fill_in(request_id, params)
            except Exception:
                if self.session.is_open:
                    _log.exception("A form of the coding agent could not be asked.")
                content = None
            finally:
                self._close_request(request_id)
            if content is None:
                return {"action": "cancel" if self.is_cancelling else "decline"}
            return {"action": "accept", "content": content}

        return fill_in

    def _fill_in(self, request_id: RequestId, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answers, None if one that is needed was not given."""
        schema = params.get("requestedSchema")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if params.get("mode", "form") != "form" or not isinstance(properties, dict):
            return None
        required = schema.get("required") if isinstance(schema, dict) else None
        message = params.get("message") if isinstance(params.get("message"), str) else ""
        content: dict[str, Any] = {}
        for name, field in properties.items():
            if not isinstance(field, dict):
                return None
            is_answered, value = self._ask_field(request_id, _join(message, field.get("title") or name), field)
            if is_answered:
                content[name] = value
            elif not isinstance(required, list) or name in required or self.is_cancelling:
                return None
            message = ""  # it was heard
        return content

    def _ask_field(self, request_id: RequestId, question: str, field: Mapping[str, Any]) -> tuple[bool, Any]:
        """Ask for one field of a form; return whether there is an answer, and the answer."""
        choices = _read_choices(field)
        if field.get("type") == "array":
            return self._ask_several(request_id, question, _read_choices(field.get("items")))
        if choices:
            answer = self._clarify(request_id, question, choices={value: label for value, label in choices})
        elif field.get("type") == "boolean":
            answer = self._clarify(request_id, question, kinds=["yes_no"])
        elif field.get("type") in ("number", "integer"):
            answer = self._clarify(request_id, question, kinds=["numeric"])
        else:
            answer = self._clarify(request_id, question, kinds=["freetext"])
        if answer is None or answer.outcome != "answered":
            return False, None
        value = answer.response
        if field.get("type") == "integer":
            if value != int(value):
                return False, None
            value = int(value)
        return True, value

    def _ask_several(
        self, request_id: RequestId, question: str, choices: list[tuple[str, str]]
    ) -> tuple[bool, list[str]]:
        """Ask for each choice whether it is wanted."""
        chosen: list[str] = []
        for value, label in choices:
            answer = self._clarify(request_id, _join(question, label), kinds=["yes_no"])
            if answer is None or answer.outcome != "answered":
                return False, []
            if answer.response is True:
                chosen.append(value)
            question = ""  # it was heard
        return bool(choices), chosen

    def _clarify(self, request_id: RequestId, question: str, **options: Any) -> Answer | None:
        def put() -> Ask | None:
            self._end_output()
            if self.is_cancelling or request_id in self._withdrawn:
                return None
            ask = self.session.clarify(question, timeout=ASK_TIMEOUT, **options)
            self._note_ask(request_id, ask)
            return ask

        ask = self._post(put).result()
        return None if ask is None else ask.wait()

    # -- open requests ---------------------------------------------------------------------------

    def _open_request(self, request_id: RequestId) -> None:
        with self._lock:
            self._asks[request_id] = None

    def _note_ask(self, request_id: RequestId, ask: Ask) -> None:
        with self._lock:
            self._asks[request_id] = ask
            is_withdrawn = self.is_cancelling or request_id in self._withdrawn
        if is_withdrawn:
            ask.withdraw()

    def _close_request(self, request_id: RequestId) -> None:
        with self._lock:
            self._asks.pop(request_id, None)
            self._lock.notify_all()

    def withdraw(self, request_id: RequestId) -> None:
        """The agent no longer waits for the answer to one of its requests."""
        with self._lock:
            self._withdrawn.add(request_id)
            ask = self._asks.get(request_id)
        if ask is not None:
            ask.withdraw()

    # -- the end ---------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Answer every open request with a no, then tell the agent to stop."""
        if self._withdraw_all():
            with self._lock:
                self._lock.wait_for(lambda: not self._asks, _ANSWER_TIMEOUT)
            with contextlib.suppress(AgentGone):  # then it has stopped
                self._host.send_cancel()

    def cancel_soon(self) -> None:
        """Cancel the turn from a thread on which nothing may be waited for."""
        threading.Thread(target=self.cancel, name="aaep-acp-cancel", daemon=True).start()

    def _withdraw_all(self) -> bool:
        """Withdraw all questions, from now on; return False if that was done before."""
        with self._lock:
            if self.is_cancelling:
                return False
            self.is_cancelling = True
            asks = [ask for ask in self._asks.values() if ask is not None]
        for ask in asks:
            ask.withdraw()
        return True

    def end(self, reason: str) -> None:
        """End the session as the turn ended: ``reason`` is the agent's own, or "error" or "gone"."""
        self.finish(lambda session: self._end_session(session, reason))

    def _end_session(self, session: Session, reason: str) -> None:
        if self.has_failed:
            session.fail(self._phrases["code-stop-fault"], category="permanent")
        elif reason == "gone":
            phrase = "code-stop-stuck" if self.is_cancelling else "code-stop-gone"
            session.fail(self._phrases[phrase], category="transient")
        elif self.is_cancelling:
            session.cancel(by="producer" if self.unasked else "user")
        elif reason == "end_turn":
            session.complete()
        elif reason == "cancelled":
            text = self._phrases["code-refused"] if self.refusals else None
            session.cancel(text and f"{text} {self._phrases['code-hint-again']}", by="producer")
        elif reason == "error":
            session.fail(self._phrases["code-stop-error"], category="transient")
        else:
            name = reason if reason in _FAILURES else "other"
            session.fail(
                self._phrases[f"code-stop-{name}"], category="permanent", hint=self._phrases["code-hint-again"]
            )

    def finish(self, end: Callable[[Session], None]) -> None:
        """Tell what is still to be told, then end the session by calling ``end``, and the teller with it."""
        with self._lock:
            asks = [ask for ask in self._asks.values() if ask is not None]
            self._withdrawn.update(self._asks)
        for ask in asks:  # the agent has stopped without waiting for them
            ask.withdraw()

        def end_session() -> None:
            if self.session.is_open:
                self._end_output()
                end(self.session)

        with self._lock:
            ended = self._post(end_session)
            self._is_over = True
            self._jobs.put(None)
        self._teller.join()
        try:
            ended.result()
        except AaepError:
            if self.session.is_open:
                self.session.fail(self._phrases["code-stop-fault"], category="permanent")


def _describe(tool: Mapping[str, Any], cwd: str, phrases: Phrases) -> Proposal | None:
    """Return what a call would do, None if that cannot be told."""
    try:
        return describe_call(tool, cwd, phrases)
    except LocalProtocolError:
        return None


def _label(proposal: Proposal | None) -> str:
    return "" if proposal is None else proposal.label


def _read_text(content: Any) -> str:
    """Return the text of a content block; of a link its name and address."""
    if not isinstance(content, dict):
        return ""
    if isinstance(content.get("text"), str):
        return str(content["text"])
    if content.get("type") == "resource_link":
        return " ".join(str(content[key]) for key in ("name", "uri") if isinstance(content.get(key), str))
    return ""


def _read_choices(field: Any) -> list[tuple[str, str]]:
    """Return the values of a field, and what they are called."""
    if not isinstance(field, dict):
        return []
    for key in ("oneOf", "anyOf"):
        options = field.get(key)
        if isinstance(options, list):
            return [
                (option["const"], option["title"] if isinstance(option.get("title"), str) else option["const"])
                for option in options
                if isinstance(option, dict) and isinstance(option.get("const"), str)
            ]
    values = field.get("enum")
    return [(value, value) for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _join(*parts: Any) -> str:
    return " ".join(part for part in parts if isinstance(part, str) and part.strip())
