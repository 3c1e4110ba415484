"""
What may come next in a session.

A :class:`Session` walks the tables of :mod:`aaep.protocol.states`. It serves producer,
subscriber, validator and conformance suite alike, and does not know which of
them it serves.

It reads no clock. ``now`` is whatever the caller measures by, in seconds;
``deadline`` says when :meth:`Session.expire` is next due.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import UNSET

from ..errors import Severity, Violation
from .attend_extension import attend_member
from .consent import (
    PromptState,
    Verdict,
    find_license,
    follow_up_violation,
    license_violation,
    needs_consent,
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
    SessionCompleted,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from .messages import ClarificationReply, Reply
from .states import BREACHES, CALL, IMPLIED, LIFECYCLE, OUT_OF_BOUNDS, OUTCOMES, PROMPT, CallState, OutputState
from .timestamps import is_later

__all__ = ["ANY", "MOVES", "AgentState", "SessionState"]


class AgentState:
    """One agent in a session: several may share it, each with its own states (A.9)."""

    __slots__ = ("ended_prompts", "has_moved", "id", "implied_states", "outputs", "state", "timestamp")

    def __init__(self, id: str) -> None:
        self.id = id
        self.state = "idle"
        self.implied_states: frozenset[str] = frozenset()
        self.has_moved = False
        self.timestamp = ""
        self.ended_prompts: tuple[PromptState, ...] = ()  # prompts of this agent that just ended
        self.outputs: dict[Any, OutputState] = {}


class SessionState:
    """
    One session as one party sees it.

    ``whole`` says that everything sent in either direction is fed in, from the
    start to the end; otherwise what is missing proves nothing (C-38, C-83). So
    it is if who listens came ``late``, although the start is told then (TR-039).
    ``others``: somebody may have answered whose reply is not fed in.
    """

    def __init__(self, session_id: str, *, whole: bool = True, late: bool = False, others: bool = False) -> None:
        self.session_id, self.is_whole, self.is_late, self.has_other_repliers = session_id, whole, late, others
        self.stage = "none"
        self.prompts: dict[str, PromptState] = {}
        self.deadline: float | None = None  # when the next pending prompt runs out
        self.parent_session_id = ""  # the session this one belongs to, if its start says so (A.9)
        self._joined_late = not whole  # the start was not seen
        self.agents: dict[str, AgentState] = {}
        self.running_calls: list[CallState] = []  # running
        self._calls_by_id: dict[str, CallState] = {}
        self.invocations, self.last_timestamp = 0, ""
        self._last_number: int | None = None
        self._is_numbered: bool | None = None  # whether the first event had a number
        self._reported: set[str] = set()  # findings made once per session
        self.plain = False  # nothing is pending that the next event could run into

    # -- feeding -------------------------------------------------------------

    def feed(self, event: Envelope, now: float) -> list[Violation]:
        """Take the next event and say what is wrong with its coming now."""
        found = self.judge(event, now)
        self.apply(event, now)
        return found

    def judge(self, event: Envelope, now: float) -> list[Violation]:
        """What would be wrong with this event coming next. Changes nothing but prompts that have run out."""
        found: list[Violation] = []
        if self.deadline is not None and now >= self.deadline:
            self.expire(now)
        kind, judge, _ = MOVES.get(type(event), ANY)
        if (self.stage, kind) not in LIFECYCLE and not self._astray(event, self.stage, kind, found):
            return found
        id_ = event.producer.agent_id
        agent = self.agents.get(id_) or AgentState(id_)
        if (
            event.timestamp < self.last_timestamp
            or len(event.timestamp) != 24
            or len(self.last_timestamp) not in (0, 24)
        ):
            self._judge_time(event, agent, found)
        if self._is_numbered or event.sequence_number is not UNSET:
            self._judge_number(event, found)
        if judge is not None:
            judge(self, event, agent, found)
        if agent.ended_prompts:
            self._judge_after(event, agent, found)
        return found

    def apply(self, event: Envelope, now: float) -> None:
        """Let the event have happened, legal or not."""
        kind, _, applied = MOVES.get(type(event), ANY)
        if self.stage != "active" and not self._begin(event, kind):
            return
        id_ = event.producer.agent_id
        agent = self.agents.get(id_)
        if agent is None:
            agent = self.agents[id_] = AgentState(id_)
        agent.timestamp = self.last_timestamp = event.timestamp
        if self._is_numbered:
            self._last_number = event.sequence_number if event.sequence_number is not UNSET else self._last_number
        if agent.ended_prompts and type(event) is not ToolCompleted:
            agent.ended_prompts = ()
        if applied is not None:
            applied(self, event, agent, now)
        if kind == "terminal":
            self.stage = LIFECYCLE["active", "terminal"]
        if self.plain and kind == "other" and len(event.timestamp) == 24:
            return  # whatever ends that says so
        self.plain = (
            self.stage == "active"
            and self.deadline is None
            and not self._is_numbered
            and len(self.last_timestamp) == 24
            and not any(one.ended_prompts for one in self.agents.values())
        )

    def _begin(self, event: Envelope, kind: str) -> bool:
        """The first event of the session, or one too many."""
        if self.stage != "none":
            return False
        self._joined_late = (kind != "started" or self.is_late) and not self.is_whole
        self._is_numbered = event.sequence_number is not UNSET
        self.parent_session_id = str(attend_member(event, "parent_session_id") or "")
        self.stage = LIFECYCLE["none", "started"]
        return True

    def finish(self) -> list[Violation]:
        """The recording is over: what is missing at its end. SEQ-003 §4.5.1, C-83"""
        if self.stage != "active":
            return []
        text = "The session has no terminal event" + (
            "." if self.is_whole else "; the recording may just have stopped."
        )
        return [Violation("SEQ-003", text, severity="" if self.is_whole else "info")]

    # -- prompts ---------------------------------------------------------------

    def expire(self, now: float) -> list[PromptState]:
        """Prompts whose time ran out take their default. CONF-043 §6.4"""
        ended = [ask for ask in self.prompts.values() if ask.outcome == "pending" and now >= ask.deadline]
        for ask in ended:
            self.resolve(ask, "timeout")
        return ended

    def resolve(self, ask: PromptState, how: str, *, via: str = "") -> None:
        """End a pending prompt; what is no longer pending stays as it is."""
        outcome = PROMPT.get((ask.outcome, how))
        if outcome is None:
            return
        ask.outcome = outcome  # type: ignore[assignment]  # the table holds nothing else
        ask.is_granted, ask.decided_via = ask.grants(how), via
        self.plain = False
        agent = self.agents.get(ask.event.producer.agent_id)
        if agent is not None and how not in ("withdraw", "end"):
            agent.ended_prompts += (ask,)
        waiting = [one.deadline for one in self.prompts.values() if one.outcome == "pending"]
        self.deadline = min(waiting) if waiting else None

    def reply(self, message: Reply, now: float, via: str = "") -> Verdict:
        """
        Take a reply that arrived on the subscription ``via``. §6.3.4

        The checks are those of the chapter plus the bindings of CF-016, in an
        order that gives nothing away; a reply that fails one changes nothing.
        """
        self.expire(now)
        ask = self.prompts.get(message.reply_token)
        if ask is None:
            return Verdict(False, rule="CONF-033")
        failed = reply_violation(message, ask, via)
        if failed:
            return Verdict(False, ask, failed)
        if isinstance(message, ClarificationReply):
            ask.response = message.response
            self.resolve(ask, "answer", via=via)
        elif message.decision == "reject" or message.modified_action is not UNSET:
            ask.is_modified = message.decision != "reject"
            self.resolve(ask, "reject", via=via)
        else:
            self.resolve(ask, "accept", via=via)
        return Verdict(True, ask)

    # -- judging -----------------------------------------------------------------

    def _say(self, found: list[Violation], event: Envelope, rule: str, text: str, *where: Any) -> None:
        path, severity = (*where, "", "")[:2]
        found.append(Violation(rule, text, path, event.event_id, severity))

    def _seen(self, agent: AgentState) -> bool:
        """C-83: whether what an agent's state is was seen; what came before a recording proves nothing."""
        return agent.has_moved or not self._joined_late

    def _astray(self, event: Envelope, stage: str, kind: str, found: list[Violation]) -> bool:
        """An event outside its session's bounds; whether there is more to say about it."""
        rule = BREACHES[stage, kind]
        if stage == "none":
            sure: Severity | Literal[""] = "" if self.is_whole or event.sequence_number == 0 else "info"
            text = "The session does not begin with session.started."
            self._say(found, event, rule, text if not sure else text + " The recording may have begun later.", "", sure)
            return True
        if "ENV-019" not in self._reported:
            self._say(found, event, rule, OUT_OF_BOUNDS[rule])
        if rule == "ENV-019":  # a second session under the id of the first is one mistake
            self._reported.add(rule)
        return False

    def _judge_time(self, event: Envelope, agent: AgentState, found: list[Violation]) -> None:
        """ENV-027 §3.2.5"""
        if agent.timestamp and is_later(agent.timestamp, event.timestamp):
            self._say(found, event, "ENV-027", "The timestamp is before that of the agent's last event.", "/timestamp")
        elif self.last_timestamp and is_later(self.last_timestamp, event.timestamp):
            text = "The timestamp is before that of another agent's last event in this session."
            self._say(found, event, "ENV-027", text, "/timestamp", "warning")

    def _judge_number(self, event: Envelope, found: list[Violation]) -> None:
        """ENV-047, ENV-048 §3.4.1, TR-009 §8.2.3"""
        number = event.sequence_number
        if self._is_numbered is not None and (number is not UNSET) is not self._is_numbered and self.stage != "none":
            if "ENV-048" not in self._reported:
                self._reported.add("ENV-048")
                self._say(found, event, "ENV-048", "Only some events of the session have a sequence_number.")
            return
        if number is UNSET or (self._last_number is None and not isinstance(event, SessionStarted)):
            return  # what came before was not seen, so there is nothing to count from
        expected = 0 if self._last_number is None else self._last_number + 1
        if number == expected:
            return
        if self._last_number is not None and number < self._last_number:
            self._say(found, event, "TR-009", f"Number {number} arrives after {self._last_number}.", "/sequence_number")
        else:
            gap: Severity | Literal[""] = "" if self.is_whole else "info"  # C-18: a filtered stream has gaps
            text = f"sequence_number is {number}; {expected} was next."
            self._say(found, event, "ENV-047", text, "/sequence_number", gap)

    def _judge_after(self, event: Envelope, agent: AgentState, found: list[Violation]) -> None:
        """What directly follows a prompt: HITL-019 §4.5.3, HITL-022 A.4, CLAR-021 §9.4.1(9), HITL-030 A.5"""
        told = {violation.rule for violation in found}
        for ask in agent.ended_prompts:
            rule, text = follow_up_violation(ask, event)
            # Running what was refused is HITL-020, and one mistake is told once.
            if rule and rule not in told and not (rule == "HITL-019" and "HITL-020" in told):
                told.add(rule)
                self._say(found, event, rule, text)

    def _judge_state(self, event: StateChanged, agent: AgentState, found: list[Violation]) -> None:
        """STATE-001, STATE-002 §4.2.1, TOOL-007 §4.3.2, CONF-071 §6.8"""
        left, entered = event.from_state, event.to_state
        if left != agent.state or left == entered or not agent.has_moved:
            self._judge_chain(event, agent, found)
        leaving = self.running_calls and left == "calling_tool" and entered not in ("awaiting_input", "calling_tool")
        if leaving and any(call.agent == agent.id for call in self.running_calls):
            self._say(found, event, "TOOL-007", "A tool is running. Send tool.completed first.", "/from_state")
        if self.prompts and self.is_whole and entered not in ("thinking", "deciding"):
            for ask in self._left_behind(event, agent):
                if ask.kind == "confirmation":
                    text = f"A confirmation was pending and the agent went on to {entered} without an answer."
                    self._say(found, event, "CONF-071", text, "/to_state")

    def _judge_chain(self, event: StateChanged, agent: AgentState, found: list[Violation]) -> None:
        """STATE-001, STATE-002 §4.2.1"""
        left = event.from_state
        if not left or attend_member(event, "resync"):  # C-36: a catch-up names the state, it leaves none
            return
        if not agent.has_moved:
            if left != "idle" and not self._joined_late and (self.is_whole or self.stage != "none"):
                text = f"The first state.changed leaves {left}; a session starts idle."
                self._say(found, event, "STATE-001", text, "/from_state")
        elif left != agent.state and left not in agent.implied_states:
            text = f"from_state is {left}, but the agent was last in {agent.state}."
            self._say(found, event, "STATE-002", text, "/from_state")
        if left == event.to_state:
            self._say(found, event, "STATE-002", f"Nothing changed: {left} to {left}.", "/to_state", "warning")

    def _left_behind(self, event: StateChanged, agent: AgentState) -> list[PromptState]:
        """Prompts of this agent that a state.changed away from awaiting_input ends without a visible answer."""
        if (
            event.from_state != "awaiting_input"
            or event.to_state == "awaiting_input"
            or attend_member(event, "outcome")
        ):
            return []
        return [a for a in self.prompts.values() if a.outcome == "pending" and a.event.producer.agent_id == agent.id]

    def _judge_invoked(self, event: ToolInvoked, agent: AgentState, found: list[Violation]) -> None:
        """TOOL-004 §4.3.1, LVL-007 §9.3.1(3), and consent"""
        known = self._calls_by_id.get(event.tool_call_id) if event.tool_call_id is not UNSET else None
        if known is not None:
            text = "The tool_call_id was used before in this session. Make a new one for every call."
            self._say(found, event, BREACHES[known.stage, "invoked"], text, "/tool_call_id")
        if agent.state != "calling_tool" and "tools" not in self._reported and self._seen(agent):
            self._say(found, event, "LVL-007", "No state.changed to calling_tool came before the tool.")
        if self.prompts or needs_consent(event):  # else there is nothing to judge
            self.judge_consent(event, found)

    def judge_consent(self, event: ToolInvoked, found: list[Violation]) -> None:
        """TOOL-002, TOOL-003 §4.3.1, HITL-002 §2.3.5, HITL-020 §4.5.3, CONF-006 §6.1(3)"""
        ask = find_license(self.prompts.values(), event)
        rule, text = license_violation(ask, event)
        if rule:
            sure = ask is not None and (
                ask.call_id or ask.tool
            )  # it is about this call, and no other that was missed is
            unseen = not self.is_whole and ask is not None and ask.outcome in ("pending", "unseen")
            open_ = unseen or (self._joined_late and not sure)
            self._say(found, event, rule, text, "", "info" if open_ else "")
        elif (note := unproven_license(ask, event))[0]:
            self._say(found, event, *note, "", "info")

    def _judge_completed(self, event: ToolCompleted, agent: AgentState, found: list[Violation]) -> None:
        """TOOL-004, TOOL-006, TOOL-010, TOOL-012 §4.5.2"""
        call = self._paired(event, agent)
        if call is None:
            if not self._joined_late:
                self._say(found, event, "TOOL-010", "The tool was never announced with tool.invoked.")
        elif call.stage == "done":
            self._say(found, event, "TOOL-012", "The call has completed already.")
        elif call.id and event.tool_call_id is UNSET:
            self._say(found, event, "TOOL-004", "The call was announced with a tool_call_id; repeat it here.")
        elif call.tool != event.tool and call.tool and event.tool:
            text = f"tool is {event.tool}, but the call was announced as {call.tool}."
            self._say(found, event, "TOOL-006", text, "/tool")

    def _paired(self, event: ToolCompleted, agent: AgentState) -> CallState | None:
        """C-48: by id, else the oldest running call of that tool and agent."""
        if event.tool_call_id is not UNSET:
            call = self._calls_by_id.get(event.tool_call_id)
            if call is None or call.stage == "running":
                return call
            return next((one for one in self.running_calls if one.id == event.tool_call_id), call)
        mine = [c for c in self.running_calls if c.tool == event.tool and c.agent == agent.id]
        return next((c for c in mine if not c.id), mine[0] if mine else None)

    def _judge_confirmation(self, event: AwaitingConfirmation, agent: AgentState, found: list[Violation]) -> None:
        """HITL-021 A.4, CONF-007 §6.1(4)"""
        self._judge_token(event, found)
        if agent.state != "awaiting_input" and self._seen(agent):
            self._say(found, event, "HITL-021", "No state.changed to awaiting_input came before the question.")
        call = PromptState(event=event, deadline=0).call_id
        for ask in self.prompts.values():
            same = isinstance(ask.event, AwaitingConfirmation) and (
                ask.event.action == event.action or (call and ask.call_id == call)
            )
            if ask.outcome == "pending" and same:
                self._say(found, event, "CONF-007", "The same question is already open. Wait for its answer.")
                return

    def _judge_token(self, event: AwaitingConfirmation | AwaitingClarification, found: list[Violation]) -> None:
        """CONF-012 §6.2.2"""
        known = self.prompts.get(event.reply_token)
        if known is not None and known.event.event_id != event.event_id:
            text = "The reply_token belongs to another question. Make a new one for every question."
            self._say(found, event, "CONF-012", text, "/reply_token")

    def _judge_clarification(self, event: AwaitingClarification, agent: AgentState, found: list[Violation]) -> None:
        """HITL-030 A.5"""
        self._judge_token(event, found)
        if agent.state != "awaiting_input" and self._seen(agent):
            self._say(found, event, "HITL-030", "No state.changed to awaiting_input came before the question.")

    def _judge_chunk(self, event: OutputStreaming, agent: AgentState, found: list[Violation]) -> None:
        """OUT-001, OUT-002, OUT-005 §4.3.3, LVL-007 §9.3.1(3)"""
        output = agent.outputs.get(event.output_id)
        writing = agent.state == "writing_output"
        if writing and output is not None and output.stage == "open" and event.position == output.end + output.shift:
            return  # the next chunk of an output, as nearly all are
        if not writing and "output" not in self._reported and self._seen(agent):
            self._say(found, event, "LVL-007", "No state.changed to writing_output came before the output.")
        if output is None:
            output = OutputState()
            if self._joined_late:
                return
        if event.position != output.end + output.shift or output.stage == "complete":
            for rule, text, path, severity in output.faults(event):
                self._say(found, event, rule, text, path, severity)

    def _judge_terminal(self, event: Envelope, _agent: AgentState, found: list[Violation]) -> None:
        """TOOL-008 §4.3.2, OUT-003 §4.3.3, HITL-018 §4.5.3, EVT-008"""
        for call in self.running_calls:
            self._say(found, event, "TOOL-008", f"The tool {call.tool or 'without a name'} never completed.")
        for agent in self.agents.values():
            for output in agent.outputs.values():
                if output.stage == "open":
                    self._say(found, event, "OUT-003", "An output was never completed.")
        if not isinstance(event, SessionCompleted):
            return
        for ask in self.prompts.values():
            if ask.kind == "confirmation" and ask.is_granted and not (ask.is_used or ask.is_followed):
                self._say(found, event, "HITL-018", "The user agreed, but the tool was never announced.")
        if event.tool_invocations_count not in (UNSET, self.invocations) and not self._joined_late:
            text = f"tool_invocations_count is {event.tool_invocations_count}; {self.invocations} were announced."
            self._say(found, event, "EVT-008", text, "/tool_invocations_count")

    # -- applying -------------------------------------------------------------------

    def _apply_state(self, event: StateChanged, agent: AgentState, _now: float) -> None:
        if self.prompts:
            self._apply_answers(event, agent)
        agent.state, agent.has_moved = event.to_state, True
        if agent.implied_states:
            agent.implied_states = frozenset()

    def _apply_answers(self, event: StateChanged, agent: AgentState) -> None:
        """Prompts that a change of state ends, or says how they ended."""
        for ask in self._left_behind(event, agent):
            self.resolve(ask, "withdraw")
            if not self.is_whole:  # an answer may have come that the recording does not show (C-38)
                ask.outcome = "unseen"
        outcome, token = attend_member(event, "outcome"), attend_member(event, "reply_token")
        told, how = self.prompts.get(token) if isinstance(token, str) else None, OUTCOMES.get(str(outcome), "withdraw")
        if told is not None and self.has_other_repliers and outcome:
            told.hear_outcome(how)
        if told is not None and told.outcome == "pending":
            self.resolve(told, how)
            told.is_claimed, agent.ended_prompts = True, ()

    def _apply_invoked(self, event: ToolInvoked, agent: AgentState, _now: float) -> None:
        self.invocations += 1
        if agent.state != "calling_tool" and self._seen(agent):
            self._reported.add("tools")
        if agent.state != IMPLIED[ToolInvoked]:
            agent.implied_states |= {IMPLIED[ToolInvoked]}
        if self.prompts:
            ask = find_license(self.prompts.values(), event)
            if ask is not None and ask.is_granted:
                ask.is_used = True
            for one in self.prompts.values():
                one.note_call(event)
        id_ = "" if event.tool_call_id is UNSET else event.tool_call_id
        call = CallState(event.tool, agent.id, id_)
        self.running_calls.append(call)
        if id_:
            self._calls_by_id.setdefault(id_, call)  # of several running calls with one id, the oldest is meant first

    def _apply_completed(self, event: ToolCompleted, agent: AgentState, _now: float) -> None:
        call = self._paired(event, agent)
        if call is not None and call.stage == "running":
            call.stage = CALL["running", "completed"]
            self.running_calls.remove(call)

    def _apply_ask(self, event: AwaitingConfirmation | AwaitingClarification, agent: AgentState, now: float) -> None:
        agent.implied_states |= {IMPLIED[type(event)]}
        ask = PromptState(event=event, deadline=now + event.timeout_seconds)  # CF-029: by the caller's clock
        if self.prompts.setdefault(ask.token, ask) is not ask:
            return  # CONF-012: nobody could tell which of the two a reply answers, so none answers the second
        self.deadline = ask.deadline if self.deadline is None else min(self.deadline, ask.deadline)
        self.plain = False

    def _apply_chunk(self, event: OutputStreaming, agent: AgentState, _now: float) -> None:
        output = agent.outputs.get(event.output_id)
        if output is not None and output.stage == "open" and not event.complete and agent.state == "writing_output":
            start, chunk = event.position, event.chunk
            if start == output.end and chunk.isascii():  # nearly always
                output.last, output.end = start, start + len(chunk)
                return
        if output is None:
            output = agent.outputs[event.output_id] = OutputState()
            if agent.state != "writing_output" and self._seen(agent):
                self._reported.add("output")
        output.take(event)
        if not event.complete and agent.state != "writing_output":
            agent.implied_states |= {IMPLIED[OutputStreaming]}

    def _apply_handoff(self, _event: HandoffRequested, agent: AgentState, _now: float) -> None:
        agent.implied_states |= {IMPLIED[HandoffRequested]}

    def _apply_terminal(self, _event: Envelope, _agent: AgentState, _now: float) -> None:
        for ask in self.prompts.values():
            self.resolve(ask, "end")
        self.running_calls.clear()
        self._calls_by_id.clear()
        self.agents.clear()


# What a kind of event is to the session, how it is judged, and what it does.
MOVES: Final[dict[type[Any], tuple[str, Callable[..., None] | None, Callable[..., None] | None]]] = {
    SessionStarted: ("started", None, None),
    StateChanged: ("other", SessionState._judge_state, SessionState._apply_state),
    ToolInvoked: ("other", SessionState._judge_invoked, SessionState._apply_invoked),
    ToolCompleted: ("other", SessionState._judge_completed, SessionState._apply_completed),
    OutputStreaming: ("other", SessionState._judge_chunk, SessionState._apply_chunk),
    AwaitingConfirmation: ("other", SessionState._judge_confirmation, SessionState._apply_ask),
    AwaitingClarification: ("other", SessionState._judge_clarification, SessionState._apply_ask),
    HandoffRequested: ("other", None, SessionState._apply_handoff),
    **dict.fromkeys(TERMINAL, ("terminal", SessionState._judge_terminal, SessionState._apply_terminal)),
}
ANY: Final = ("other", None, None)
