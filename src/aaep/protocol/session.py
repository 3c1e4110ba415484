"""
The state of one session: what may come next, and what came out of order.

A :class:`SessionState` follows the tables of :mod:`aaep.protocol.states`. It serves
producer, subscriber, validator and conformance suite alike, and does not know
which of them it serves.

It reads no clock: ``now`` is the caller's time in seconds, and ``deadline`` says
when :meth:`SessionState.expire` is next due.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from ..errors import Severity, Violation
from .attend_extension import attend_member
from .consent import (
    PromptState,
    Verdict,
    find_license,
    follow_up_violation,
    is_consent_required,
    license_violation,
    reply_violation,
    unproven_license,
)
from .events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    HandoffRequested,
    OutputStreaming,
    ProgressUpdated,
    SessionCompleted,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from .messages import ClarificationReply, Reply
from .states import (
    BREACHED_RULES,
    CALL_TRANSITIONS,
    IMPLIED_STATES,
    LIFECYCLE_TRANSITIONS,
    OUT_OF_BOUNDS_TEXTS,
    OUTCOME_TRANSITIONS,
    PROMPT_TRANSITIONS,
    CallState,
    OutputState,
)
from .timestamps import is_later

__all__ = ["AgentState", "SessionState"]

Judge: TypeAlias = Callable[..., None]  # appends to a list of violations
Apply: TypeAlias = Callable[..., None]


class AgentState:
    """The state of one agent in a session; several agents may share a session (A.9)."""

    __slots__ = ("ended_prompts", "has_moved", "id", "implied_states", "outputs", "progress", "state", "timestamp")

    def __init__(self, id: str) -> None:
        self.id = id
        self.state = "idle"
        self.implied_states: frozenset[str] = frozenset()
        self.has_moved = False
        self.timestamp = ""
        self.ended_prompts: tuple[PromptState, ...] = ()  # prompts of this agent that ended with the last event
        self.outputs: dict[Any, OutputState] = {}
        self.progress: ProgressUpdated | None = None  # the last one, which a reader that joins late is told


class SessionState:
    """
    The state of one session as one party sees it.

    ``whole`` says that everything sent in either direction is fed in, from start to
    end; otherwise a missing message proves nothing (C-38, C-83). The same holds for
    a listener that joined ``late``, although it is sent the start (TR-039).
    ``others`` says that replies may exist which are not fed in.
    """

    def __init__(self, session_id: str, *, whole: bool = True, late: bool = False, others: bool = False) -> None:
        self.session_id = session_id
        self.is_whole = whole
        self.is_late = late
        self.has_other_repliers = others
        self.stage = "none"
        self.prompts: dict[str, PromptState] = {}  # by reply token
        self.deadline: float | None = None  # when the next pending prompt times out
        self.parent_session_id = ""  # the session this one belongs to, if its start names one (A.9)
        self.agents: dict[str, AgentState] = {}
        self.running_calls: list[CallState] = []
        self.invocations = 0
        self.last_timestamp = ""
        self._calls_by_id: dict[str, CallState] = {}
        self._has_joined_late = not whole  # the start was not seen
        self._last_number: int | None = None
        self._is_numbered: bool | None = None  # whether the first event had a number
        self._reported: set[str] = set()  # violations that are reported once per session

    # -- feeding events -----------------------------------------------------

    def feed(self, event: Envelope, now: float) -> list[Violation]:
        """Take the next event and return what is wrong with it at this point."""
        kind, judge, apply = _HANDLERS.get(type(event), _OTHER_HANDLER)
        agent = self.agents.get(event.producer.agent_id) or AgentState(event.producer.agent_id)
        violations = self._judge(event, agent, kind, judge, now)
        self._apply(event, agent, kind, apply, now)
        return violations

    def judge(self, event: Envelope, now: float) -> list[Violation]:
        """
        Return what would be wrong with this event coming next.

        Changes nothing but prompts that have timed out.
        """
        kind, judge, _ = _HANDLERS.get(type(event), _OTHER_HANDLER)
        agent = self.agents.get(event.producer.agent_id) or AgentState(event.producer.agent_id)
        return self._judge(event, agent, kind, judge, now)

    def apply(self, event: Envelope, now: float) -> None:
        """Apply the event to the state, legal or not."""
        kind, _, apply = _HANDLERS.get(type(event), _OTHER_HANDLER)
        agent = self.agents.get(event.producer.agent_id) or AgentState(event.producer.agent_id)
        self._apply(event, agent, kind, apply, now)

    def _judge(self, event: Envelope, agent: AgentState, kind: str, judge: Judge | None, now: float) -> list[Violation]:
        violations: list[Violation] = []
        if self.deadline is not None and now >= self.deadline:
            self.expire(now)
        if (self.stage, kind) not in LIFECYCLE_TRANSITIONS and not self._judge_bounds(event, kind, violations):
            return violations
        timestamp = event.timestamp
        last_timestamp = self.last_timestamp
        # Timestamps in the usual form compare as text.
        if not (last_timestamp <= timestamp and len(last_timestamp) == len(timestamp) == 24):
            self._judge_time(event, agent, violations)
        if self._is_numbered or event.sequence_number is not UNSET:
            self._judge_number(event, violations)
        if judge is not None:
            judge(self, event, agent, violations)
        if agent.ended_prompts:
            self._judge_follow_up(event, agent, violations)
        return violations

    def _apply(self, event: Envelope, agent: AgentState, kind: str, apply: Apply | None, now: float) -> None:
        if self.stage != "active" and not self._begin(event, kind):
            return
        if agent.timestamp == "":  # its first event in this session
            self.agents[agent.id] = agent
        agent.timestamp = self.last_timestamp = event.timestamp
        if self._is_numbered and event.sequence_number is not UNSET:
            self._last_number = event.sequence_number
        if agent.ended_prompts and type(event) is not ToolCompleted:
            agent.ended_prompts = ()
        if apply is not None:
            apply(self, event, agent, now)
        if kind == "terminal":
            self.stage = LIFECYCLE_TRANSITIONS["active", "terminal"]

    def _begin(self, event: Envelope, kind: str) -> bool:
        """Start the session with its first event; return False if it has started before."""
        if self.stage != "none":
            return False
        self._has_joined_late = (kind != "started" or self.is_late) and not self.is_whole
        self._is_numbered = event.sequence_number is not UNSET
        self.parent_session_id = str(attend_member(event, "parent_session_id") or "")
        self.stage = LIFECYCLE_TRANSITIONS["none", "started"]
        return True

    def finish(self) -> list[Violation]:
        """Return what is missing at the end of a recording. SEQ-003 §4.5.1, C-83"""
        if self.stage != "active":
            return []
        text = "The session has no terminal event"
        text += "." if self.is_whole else "; the recording may just have stopped."
        return [Violation("SEQ-003", text, severity="" if self.is_whole else "info")]

    # -- prompts ---------------------------------------------------------------

    def expire(self, now: float) -> list[PromptState]:
        """Let prompts whose time ran out take their default, and return them. CONF-043 §6.4"""
        expired = [prompt for prompt in self.prompts.values() if prompt.outcome == "pending" and now >= prompt.deadline]
        for prompt in expired:
            self.resolve(prompt, "timeout")
        return expired

    def resolve(self, prompt: PromptState, how: str, *, via: str = "") -> None:
        """End a pending prompt; one that is no longer pending stays as it is."""
        outcome = PROMPT_TRANSITIONS.get((prompt.outcome, how))
        if outcome is None:
            return
        prompt.outcome = outcome  # type: ignore[assignment]  # the table holds nothing else
        prompt.is_granted = prompt.is_granted_by(how)
        prompt.decided_via = via
        agent = self.agents.get(prompt.event.producer.agent_id)
        if agent is not None and how not in ("withdraw", "end"):
            agent.ended_prompts += (prompt,)
        self._set_deadline()

    def _set_deadline(self) -> None:
        pending = [prompt.deadline for prompt in self.prompts.values() if prompt.outcome == "pending"]
        self.deadline = min(pending) if pending else None

    def reply(self, message: Reply, now: float, via: str = "") -> Verdict:
        """
        Take a reply that arrived on the subscription ``via``. §6.3.4

        The checks are those of the chapter plus the bindings of CF-016, in an order
        that discloses nothing to the sender; a reply that fails one changes nothing.
        """
        self.expire(now)
        prompt = self.prompts.get(message.reply_token)
        if prompt is None:
            return Verdict(False, rule="CONF-033")
        violation = reply_violation(message, prompt, via)
        if violation:
            return Verdict(False, prompt, violation)
        if isinstance(message, ClarificationReply):
            prompt.response = message.response
            self.resolve(prompt, "answer", via=via)
        elif message.decision == "reject" or message.modified_action is not UNSET:
            prompt.is_modified = message.decision != "reject"
            self.resolve(prompt, "reject", via=via)
        else:
            self.resolve(prompt, "accept", via=via)
        return Verdict(True, prompt)

    # -- judging events -----------------------------------------------------

    def _report(
        self,
        violations: list[Violation],
        event: Envelope,
        rule: str,
        text: str,
        path: str = "",
        severity: Severity | Literal[""] = "",
    ) -> None:
        violations.append(Violation(rule, text, path, event.event_id, severity))

    def _is_state_known(self, agent: AgentState) -> bool:
        """Whether the agent's state is known: what came before a recording proves nothing (C-83)."""
        return agent.has_moved or not self._has_joined_late

    def _judge_bounds(self, event: Envelope, kind: str, violations: list[Violation]) -> bool:
        """Judge an event outside its session's bounds; return whether to judge it further."""
        rule = BREACHED_RULES[self.stage, kind]
        if self.stage == "none":
            is_sure = self.is_whole or event.sequence_number == 0
            text = "The session does not begin with session.started."
            if not is_sure:
                text += " The recording may have begun later."
            self._report(violations, event, rule, text, severity="" if is_sure else "info")
            return True
        if "ENV-019" not in self._reported:
            self._report(violations, event, rule, OUT_OF_BOUNDS_TEXTS[rule])
        if rule == "ENV-019":  # a second session under the id of the first is one mistake
            self._reported.add(rule)
        return False

    def _judge_time(self, event: Envelope, agent: AgentState, violations: list[Violation]) -> None:
        """Report a timestamp before an earlier one of the session. ENV-027 §3.2.5"""
        if agent.timestamp and is_later(agent.timestamp, event.timestamp):
            self._report(
                violations, event, "ENV-027", "The timestamp is before that of the agent's last event.", "/timestamp"
            )
        elif self.last_timestamp and is_later(self.last_timestamp, event.timestamp):
            text = "The timestamp is before that of another agent's last event in this session."
            self._report(violations, event, "ENV-027", text, "/timestamp", "warning")

    def _judge_number(self, event: Envelope, violations: list[Violation]) -> None:
        """Report a wrong sequence number. ENV-047, ENV-048 §3.4.1, TR-009 §8.2.3"""
        number = event.sequence_number
        if self._is_numbered is not None and (number is not UNSET) is not self._is_numbered and self.stage != "none":
            if "ENV-048" not in self._reported:
                self._reported.add("ENV-048")
                self._report(violations, event, "ENV-048", "Only some events of the session have a sequence_number.")
            return
        if number is UNSET or (self._last_number is None and not isinstance(event, SessionStarted)):
            return  # what came before was not seen, so there is nothing to count from
        expected = 0 if self._last_number is None else self._last_number + 1
        if number == expected:
            return
        if self._last_number is not None and number < self._last_number:
            self._report(
                violations, event, "TR-009", f"Number {number} arrives after {self._last_number}.", "/sequence_number"
            )
        else:
            gap: Severity | Literal[""] = "" if self.is_whole else "info"  # C-18: a filtered stream has gaps
            text = f"sequence_number is {number}; {expected} was next."
            self._report(violations, event, "ENV-047", text, "/sequence_number", gap)

    def _judge_follow_up(self, event: Envelope, agent: AgentState, violations: list[Violation]) -> None:
        """Judge what directly follows a prompt. HITL-019 §4.5.3, HITL-022 A.4, CLAR-021 §9.4.1(9), HITL-030 A.5"""
        reported = {violation.rule for violation in violations}
        for prompt in agent.ended_prompts:
            rule, text = follow_up_violation(prompt, event)
            # Running what was refused is HITL-020, and one mistake is reported once.
            if rule and rule not in reported and not (rule == "HITL-019" and "HITL-020" in reported):
                reported.add(rule)
                self._report(violations, event, rule, text)

    def _judge_state(self, event: StateChanged, agent: AgentState, violations: list[Violation]) -> None:
        """Judge a state change. STATE-001, STATE-002 §4.2.1, TOOL-007 §4.3.2, CONF-071 §6.8"""
        left = event.from_state
        entered = event.to_state
        if left != agent.state or left == entered or not agent.has_moved:
            self._judge_chain(event, agent, violations)
        is_leaving_tool = (
            self.running_calls and left == "calling_tool" and entered not in ("awaiting_input", "calling_tool")
        )
        if is_leaving_tool and self._is_calling(agent):
            self._report(violations, event, "TOOL-007", "A tool is running. Send tool.completed first.", "/from_state")
        if self.prompts and self.is_whole and entered not in ("thinking", "deciding"):
            for prompt in self._abandoned_prompts(event, agent):
                if prompt.kind == "confirmation":
                    text = f"A confirmation was pending and the agent went on to {entered} without an answer."
                    self._report(violations, event, "CONF-071", text, "/to_state")

    def _is_calling(self, agent: AgentState) -> bool:
        return any(call.agent == agent.id for call in self.running_calls)

    def _judge_chain(self, event: StateChanged, agent: AgentState, violations: list[Violation]) -> None:
        """Report a state change that does not continue from the last one. STATE-001, STATE-002 §4.2.1"""
        left = event.from_state
        if not left or attend_member(event, "resync"):  # C-36: a catch-up names the state, it leaves none
            return
        if not agent.has_moved:
            if left != "idle" and not self._has_joined_late and (self.is_whole or self.stage != "none"):
                text = f"The first state.changed leaves {left}; a session starts idle."
                self._report(violations, event, "STATE-001", text, "/from_state")
        elif left != agent.state and left not in agent.implied_states:
            text = f"from_state is {left}, but the agent was last in {agent.state}."
            self._report(violations, event, "STATE-002", text, "/from_state")
        if left == event.to_state:
            self._report(violations, event, "STATE-002", f"Nothing changed: {left} to {left}.", "/to_state", "warning")

    def _abandoned_prompts(self, event: StateChanged, agent: AgentState) -> list[PromptState]:
        """Return prompts of this agent that a state.changed away from awaiting_input ends without a visible answer."""
        if (
            event.from_state != "awaiting_input"
            or event.to_state == "awaiting_input"
            or attend_member(event, "outcome")
        ):
            return []
        pending = [prompt for prompt in self.prompts.values() if prompt.outcome == "pending"]
        return [prompt for prompt in pending if prompt.event.producer.agent_id == agent.id]

    def _judge_invoked(self, event: ToolInvoked, agent: AgentState, violations: list[Violation]) -> None:
        """Judge the start of a tool call and its consent. TOOL-004 §4.3.1, LVL-007 §9.3.1(3)"""
        previous_call = self._calls_by_id.get(event.tool_call_id) if event.tool_call_id is not UNSET else None
        if previous_call is not None:
            text = "The tool_call_id was used before in this session. Make a new one for every call."
            self._report(violations, event, BREACHED_RULES[previous_call.stage, "invoked"], text, "/tool_call_id")
        if agent.state != "calling_tool" and "tools" not in self._reported and self._is_state_known(agent):
            self._report(violations, event, "LVL-007", "No state.changed to calling_tool came before the tool.")
        if self.prompts or is_consent_required(event):  # else there is nothing to judge
            violations += self.judge_consent(event)

    def judge_consent(self, event: ToolInvoked) -> list[Violation]:
        """
        Return what is wrong with the consent a call would run on.

        TOOL-002, TOOL-003 §4.3.1, HITL-002 §2.3.5, HITL-020 §4.5.3, CONF-006 §6.1(3)
        """
        violations: list[Violation] = []
        prompt = find_license(self.prompts.values(), event)
        rule, text = license_violation(prompt, event)
        if rule:
            # A prompt that names its call or tool is about this call, so a missed prompt could not be.
            is_about_it = prompt is not None and bool(prompt.call_id or prompt.tool)
            is_unseen = not self.is_whole and prompt is not None and prompt.outcome in ("pending", "unseen")
            is_open = is_unseen or (self._has_joined_late and not is_about_it)
            self._report(violations, event, rule, text, "", "info" if is_open else "")
        elif (note := unproven_license(prompt, event))[0]:
            self._report(violations, event, *note, "", "info")
        return violations

    def _judge_completed(self, event: ToolCompleted, agent: AgentState, violations: list[Violation]) -> None:
        """Judge the end of a tool call. TOOL-004, TOOL-006, TOOL-010, TOOL-012 §4.5.2"""
        call = self._find_call(event, agent)
        if call is None:
            if not self._has_joined_late:
                self._report(violations, event, "TOOL-010", "The tool was never announced with tool.invoked.")
        elif call.stage == "done":
            self._report(violations, event, "TOOL-012", "The call has completed already.")
        elif call.id and event.tool_call_id is UNSET:
            self._report(violations, event, "TOOL-004", "The call was announced with a tool_call_id; repeat it here.")
        elif call.tool != event.tool and call.tool and event.tool:
            text = f"tool is {event.tool}, but the call was announced as {call.tool}."
            self._report(violations, event, "TOOL-006", text, "/tool")

    def _find_call(self, event: ToolCompleted, agent: AgentState) -> CallState | None:
        """Return the call that an event completes: by id, else the oldest running one of tool and agent (C-48)."""
        if event.tool_call_id is not UNSET:
            call = self._calls_by_id.get(event.tool_call_id)
            if call is None or call.stage == "running":
                return call
            return next((running for running in self.running_calls if running.id == event.tool_call_id), call)
        calls = [call for call in self.running_calls if call.tool == event.tool and call.agent == agent.id]
        return next((call for call in calls if not call.id), calls[0] if calls else None)

    def _judge_confirmation(self, event: AwaitingConfirmation, agent: AgentState, violations: list[Violation]) -> None:
        """Judge a confirmation prompt. HITL-021 A.4, CONF-007 §6.1(4)"""
        self._judge_token(event, violations)
        if agent.state != "awaiting_input" and self._is_state_known(agent):
            self._report(violations, event, "HITL-021", "No state.changed to awaiting_input came before the question.")
        call = PromptState(event=event, deadline=0).call_id
        for prompt in self.prompts.values():
            is_same = isinstance(prompt.event, AwaitingConfirmation) and (
                prompt.event.action == event.action or (call and prompt.call_id == call)
            )
            if prompt.outcome == "pending" and is_same:
                self._report(violations, event, "CONF-007", "The same question is already open. Wait for its answer.")
                return

    def _judge_token(self, event: AwaitingConfirmation | AwaitingClarification, violations: list[Violation]) -> None:
        """Report a reply_token that belongs to another prompt. CONF-012 §6.2.2"""
        previous_prompt = self.prompts.get(event.reply_token)
        if previous_prompt is not None and previous_prompt.event.event_id != event.event_id:
            text = "The reply_token belongs to another question. Make a new one for every question."
            self._report(violations, event, "CONF-012", text, "/reply_token")

    def _judge_clarification(
        self, event: AwaitingClarification, agent: AgentState, violations: list[Violation]
    ) -> None:
        """Judge a clarification prompt. HITL-030 A.5"""
        self._judge_token(event, violations)
        if agent.state != "awaiting_input" and self._is_state_known(agent):
            self._report(violations, event, "HITL-030", "No state.changed to awaiting_input came before the question.")

    def _judge_chunk(self, event: OutputStreaming, agent: AgentState, violations: list[Violation]) -> None:
        """Judge a chunk of output. OUT-001, OUT-002, OUT-005 §4.3.3, LVL-007 §9.3.1(3)"""
        output = agent.outputs.get(event.output_id)
        is_writing = agent.state == "writing_output"
        if is_writing and output is not None and output.stage == "open" and event.position == output.end + output.shift:
            return  # the next chunk of an output, as nearly all are
        # While a tool runs, a state.changed to writing_output would leave the tool, which TOOL-007 forbids.
        is_unannounced = not is_writing and not self._is_calling(agent) and "output" not in self._reported
        if is_unannounced and self._is_state_known(agent):
            self._report(violations, event, "LVL-007", "No state.changed to writing_output came before the output.")
        if output is None:
            output = OutputState()
            if self._has_joined_late:
                return
        if event.position != output.end + output.shift or output.stage == "complete":
            for rule, text, path, severity in output.find_faults(event):
                self._report(violations, event, rule, text, path, severity)

    def _judge_terminal(self, event: Envelope, _agent: AgentState, violations: list[Violation]) -> None:
        """Judge the end of a session. TOOL-008 §4.3.2, OUT-003 §4.3.3, HITL-018 §4.5.3, EVT-008"""
        for call in self.running_calls:
            self._report(violations, event, "TOOL-008", f"The tool {call.tool or 'without a name'} never completed.")
        for agent in self.agents.values():
            for output in agent.outputs.values():
                if output.stage == "open":
                    self._report(violations, event, "OUT-003", "An output was never completed.")
        if not isinstance(event, SessionCompleted):
            return
        for prompt in self.prompts.values():
            if prompt.kind == "confirmation" and prompt.is_granted and not (prompt.is_used or prompt.is_followed):
                self._report(violations, event, "HITL-018", "The user agreed, but the tool was never announced.")
        if event.tool_invocations_count not in (UNSET, self.invocations) and not self._has_joined_late:
            text = f"tool_invocations_count is {event.tool_invocations_count}; {self.invocations} were announced."
            self._report(violations, event, "EVT-008", text, "/tool_invocations_count")

    # -- applying events ----------------------------------------------------

    def _apply_state(self, event: StateChanged, agent: AgentState, _now: float) -> None:
        if self.prompts:
            self._apply_answers(event, agent)
        agent.state = event.to_state
        agent.has_moved = True
        if agent.implied_states:
            agent.implied_states = frozenset()

    def _apply_answers(self, event: StateChanged, agent: AgentState) -> None:
        """End the prompts that a state change ends, or whose outcome it reports."""
        for abandoned in self._abandoned_prompts(event, agent):
            self.resolve(abandoned, "withdraw")
            if not self.is_whole:  # an answer may have come that the recording does not show (C-38)
                abandoned.outcome = "unseen"
        outcome = attend_member(event, "outcome")
        token = attend_member(event, "reply_token")
        prompt = self.prompts.get(token) if isinstance(token, str) else None
        how = OUTCOME_TRANSITIONS.get(str(outcome), "withdraw")
        if prompt is not None and self.has_other_repliers and outcome:
            prompt.take_reported_outcome(how)
        if prompt is not None and prompt.outcome == "pending":
            self.resolve(prompt, how)
            prompt.is_claimed = True
            agent.ended_prompts = ()

    def _apply_invoked(self, event: ToolInvoked, agent: AgentState, _now: float) -> None:
        self.invocations += 1
        if agent.state != "calling_tool" and self._is_state_known(agent):
            self._reported.add("tools")
        if agent.state != IMPLIED_STATES[ToolInvoked]:
            agent.implied_states |= {IMPLIED_STATES[ToolInvoked]}
        if self.prompts:
            license_ = find_license(self.prompts.values(), event)
            if license_ is not None and license_.is_granted:
                license_.is_used = True
            for prompt in self.prompts.values():
                prompt.note_call(event)
        call_id = "" if event.tool_call_id is UNSET else event.tool_call_id
        call = CallState(event, agent.id, call_id)
        self.running_calls.append(call)
        if call_id:  # of several running calls with one id, the oldest completes first
            self._calls_by_id.setdefault(call_id, call)

    def _apply_progress(self, event: ProgressUpdated, agent: AgentState, _now: float) -> None:
        agent.progress = event

    def _apply_completed(self, event: ToolCompleted, agent: AgentState, _now: float) -> None:
        call = self._find_call(event, agent)
        if call is not None and call.stage == "running":
            call.stage = CALL_TRANSITIONS["running", "completed"]
            self.running_calls.remove(call)

    def _apply_prompt(self, event: AwaitingConfirmation | AwaitingClarification, agent: AgentState, now: float) -> None:
        agent.implied_states |= {IMPLIED_STATES[type(event)]}
        prompt = PromptState(event=event, deadline=now + event.timeout_seconds)  # CF-029: by the caller's clock
        if self.prompts.setdefault(prompt.token, prompt) is not prompt:
            return  # CONF-012: a reply could mean either of the two, so none answers the second
        self.deadline = prompt.deadline if self.deadline is None else min(self.deadline, prompt.deadline)

    def _apply_chunk(self, event: OutputStreaming, agent: AgentState, _now: float) -> None:
        output = agent.outputs.get(event.output_id)
        if output is not None and output.stage == "open" and not event.complete and agent.state == "writing_output":
            start = event.position
            chunk = event.chunk
            if start == output.end and chunk.isascii():  # nearly always
                output.last = start
                output.end = start + len(chunk)
                return
        if output is None:
            output = agent.outputs[event.output_id] = OutputState()
            is_unannounced = agent.state != "writing_output" and not self._is_calling(agent)
            if is_unannounced and self._is_state_known(agent):
                self._reported.add("output")
        output.apply_chunk(event)
        if not event.complete and agent.state != "writing_output":
            agent.implied_states |= {IMPLIED_STATES[OutputStreaming]}

    def _apply_handoff(self, _event: HandoffRequested, agent: AgentState, _now: float) -> None:
        agent.implied_states |= {IMPLIED_STATES[HandoffRequested]}

    def _apply_terminal(self, _event: Envelope, _agent: AgentState, _now: float) -> None:
        for prompt in self.prompts.values():
            self.resolve(prompt, "end")
        self.running_calls.clear()
        self._calls_by_id.clear()
        self.agents.clear()


# By event type: its kind in the lifecycle, how it is judged, and how it is applied.
_HANDLERS: Final[dict[type[Any], tuple[str, Judge | None, Apply | None]]] = {
    SessionStarted: ("started", None, None),
    StateChanged: ("other", SessionState._judge_state, SessionState._apply_state),
    ProgressUpdated: ("other", None, SessionState._apply_progress),
    ToolInvoked: ("other", SessionState._judge_invoked, SessionState._apply_invoked),
    ToolCompleted: ("other", SessionState._judge_completed, SessionState._apply_completed),
    OutputStreaming: ("other", SessionState._judge_chunk, SessionState._apply_chunk),
    AwaitingConfirmation: ("other", SessionState._judge_confirmation, SessionState._apply_prompt),
    AwaitingClarification: ("other", SessionState._judge_clarification, SessionState._apply_prompt),
    HandoffRequested: ("other", None, SessionState._apply_handoff),
    **dict.fromkeys(TERMINAL, ("terminal", SessionState._judge_terminal, SessionState._apply_terminal)),
}
_OTHER_HANDLER: Final = ("other", None, None)
