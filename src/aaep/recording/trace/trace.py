"""
Building a trace from messages: the step that each message is, and the rules it breaks.

A :class:`Trace` is fed like an :class:`~aaep.protocol.audit.Audit`, and finds broken rules with one. It
reads no clock: the time of a step comes from the recording.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...errors import ProtocolError
from ...protocol import codec, timestamps
from ...protocol.attend_extension import attend_members
from ...protocol.audit import MAX_REMEMBERED, Audit, Direction, Finding, find_misdirected, forget_older_half
from ...protocol.events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    HandoffRequested,
    OutputStreaming,
    ProgressUpdated,
    SessionCancelled,
    SessionErrored,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from ...protocol.fields import Message, get_member
from ...protocol.messages import ClarificationReply, ConfirmationReply, Reply
from ...text.phrases import humanize_name
from .model import OpenCall, OpenOutput, SessionTrace, Step, format_count, quote_text

__all__ = ["Trace"]

_PREVIEW_CHARACTERS: Final = 1000  # characters of an output that are collected for its quote
_MAX_OPEN: Final = 1000  # open calls, outputs or prompts of a session before the oldest are forgotten
_GAP_TEXTS: Final = {
    "lost": "The connection was lost.",
    "resumed": "The connection was there again.",
    "missed": "Something is missing here for good.",
}
_MESSAGE_TEXTS: Final = {
    "subscription.request": "A reader asked to subscribe.",
    "subscription.accepted": "The subscription was accepted.",
    "subscription.rejected": "The subscription was rejected.",
    "subscription.renegotiate": "The reader asked for other terms.",
    "subscription.close": "The subscription was closed.",
    "aaep:producer.manifest": "The producer's manifest.",
}
_MISDIRECTED_TEXT: Final = "A message came from the wrong side and does not count."
_PROMPT_OUTCOME_TEXTS: Final = {
    "timed_out": "nobody answered in time",
    "rejected": "refused",
    "unseen": "over, but the recording does not show how",
}
_OUTCOMES_BY_TYPE: Final = dict(zip(TERMINAL, ("completed", "errored", "cancelled"), strict=True))


class Trace:
    """The sessions of one or several recordings; memory grows with the sessions, not with the events."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.session_traces: list[SessionTrace] = []
        self.message_count = 0
        self.event_count = 0
        self.session_count = 0
        self._audit = Audit()
        self._ended_at = 0.0  # the last time of the current recording
        self._outside = SessionTrace("", "", "")  # steps of the current recording outside any session
        self._current_traces: dict[tuple[str, str], SessionTrace] = {}  # by session id and subscription id
        self._traces_by_token: dict[str, list[SessionTrace]] = {}

    # -- feeding -----------------------------------------------------------------------------

    def begin_recording(self, source: str, audit: Audit) -> None:
        """Begin the next recording, whose messages are fed to ``audit`` too."""
        source = quote_text(source)
        self.sources.append(source)
        self._audit = audit
        self._current_traces = {}
        self._traces_by_token = {}
        self._ended_at = 0.0
        self._outside = SessionTrace("", "", source)

    def feed(self, raw: bytes, line: int = 0, at: str = "", via: str = "", direction: Direction = "") -> None:
        """Add the next message, with its line, time, subscription and direction as far as they are known."""
        self.message_count += 1
        try:
            message: Message | None = codec.decode(raw, self._audit.registry)
        except ProtocolError:
            message = None
        if find_misdirected(message, direction):
            step = self._outside.add(
                Step(self._parse_time(self._outside, at), "connection", _MISDIRECTED_TEXT, line=line)
            )
            self._outside.add_findings(step, self._audit.feed(raw, at, via, direction), line)
        elif isinstance(message, Envelope):
            self._add_event(message, raw, line, at, via)
        else:
            self._add_other_message(message, self._audit.feed(raw, at, via), line, at, via)

    def add_fault(self, finding: Finding, line: int) -> None:
        """Add a line that could not be read."""
        step = Step(self._outside.last_at, "connection", "A line could not be read.", line=line)
        self._outside.add_findings(self._outside.add(step), [finding], line)

    def add_gap(self, kind: str, why: str, line: int, at: str, via: str) -> None:
        """Add a gap: the connection was lost or resumed, or messages are missing."""
        if kind == "missed":
            self._audit.missed(via)
        open_traces = [
            session
            for (_, subscription_id), session in self._current_traces.items()
            if subscription_id == via and not session.outcome
        ]
        for session in [*open_traces, self._outside]:
            now = self._parse_time(session, at)
            session.add(Step(now, "connection", _GAP_TEXTS.get(kind, "There is a gap."), quote_text(why), line=line))

    def end_recording(self) -> None:
        """End the recording, and add the findings about what is missing at its end."""
        findings = self._audit.finish()
        for (session_id, _), session in self._current_traces.items():
            if not session.outcome:  # what is open stays so until the recording ends, not just until its last event
                session.last_at = max(session.last_at, self._ended_at)
            unended = next(
                (finding for finding in findings if finding.session_id == session_id and not session.outcome), None
            )
            if unended is not None:
                findings.remove(unended)
                step = Step(session.last_at, "session", "The recording ends here, and the session had not ended.")
                session.add_findings(session.add(step), [unended], None)
            for state in session.open_states.values():
                seconds = max(0.0, session.last_at - state.at)
                session.seconds_by_state[state.label] = session.seconds_by_state.get(state.label, 0.0) + seconds
            session.session_state = None
        outside = self._outside
        for finding in findings:
            step = Step(outside.last_at, "connection", "At the end of the recording.")
            outside.add_findings(outside.add(step), [finding], None)
        if len(outside.steps):
            self.session_traces.insert(len(self.session_traces) - len(self._current_traces), outside)

    # -- adding steps ------------------------------------------------------------------------

    def _session_trace(self, event: Envelope, via: str) -> SessionTrace:
        """Return the trace of an event's session, created if it is new."""
        key = (event.session_id, via)
        session = self._current_traces.get(key)
        if session is None:
            self.session_count += 1
            session = SessionTrace(
                quote_text(event.session_id, 80) or "?", quote_text(via, 80), self.sources[-1], self.session_count
            )
            self._current_traces[key] = session
            self.session_traces.append(session)
        agent_id = event.producer.agent_id
        if agent_id not in session.agent_names and len(session.agent_names) < _MAX_OPEN:
            session.agent_names[agent_id] = quote_text(get_member(event.producer, "agent_name") or agent_id, 80)
        return session

    def _add_event(self, event: Envelope, raw: bytes, line: int, at: str, via: str) -> None:
        self.event_count += 1
        is_repeated = self._audit.has_seen(event, raw, via)
        findings = self._audit.feed(raw, at, via)
        session = self._session_trace(event, via)
        if is_repeated and not findings:
            session.repeated_count += 1  # TR-014: delivered again
            return
        session.session_state = self._audit.open_sessions.get(event.session_id + via) or session.session_state
        if session.session_state is not None and not session.event_count:
            session.parent_id = quote_text(session.session_state.parent_session_id, 80)
        session.event_count += 1
        now = self._parse_time(session, at, event.timestamp)
        self._add_step(event, session, findings, line, now)
        self._close_prompts(session, now)
        if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
            self._add_token(event.reply_token, session)
        elif isinstance(event, TERMINAL):
            session.outcome = session.outcome or _OUTCOMES_BY_TYPE[type(event)]
            session.close(now)
        session.last_at = max(session.last_at, now)

    def _add_step(self, event: Envelope, session: SessionTrace, findings: list[Finding], line: int, now: float) -> None:
        step = _EVENT_HANDLERS.get(type(event), _handle_other)(session, event, now, findings)
        if step.is_added:
            session.count_findings(findings)  # the step has findings of the same rules already
            return
        step.line = line
        step.event_id = quote_text(event.event_id, 80)
        step.agent_id = event.producer.agent_id
        step.quote_language = _language(event)
        session.add_findings(session.add(step), findings, line)

    def _add_other_message(
        self, message: Message | None, findings: list[Finding], line: int, at: str, via: str
    ) -> None:
        """Add a handshake message, a reply, or a message that is not of the protocol."""
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            prompted = self._traces_by_token.get(message.reply_token, [])
            for session in prompted:
                now = self._parse_time(session, at, message.timestamp)
                session.add_findings(session.add(_build_reply(message, now, line)), findings, line)
                self._close_prompts(session, now)
            if prompted:
                return
        session = self._outside
        text = _MESSAGE_TEXTS.get(str(getattr(message, "type", "")), "A message that is no message of the protocol.")
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            text = "A reply to a question that was not asked here."
        quote = quote_text(getattr(message, "reason_message", ""))
        quote = quote or quote_text(getattr(message, "subscriber_name", ""))
        step = session.add(Step(self._parse_time(session, at), "connection", text, quote, line=line))
        session.add_findings(step, findings, line)

    def _add_token(self, token: str, session: SessionTrace) -> None:
        if len(self._traces_by_token) >= MAX_REMEMBERED:
            forget_older_half(self._traces_by_token)
        prompted = self._traces_by_token.setdefault(token, [])
        if session not in prompted:
            prompted.append(session)

    def _close_prompts(self, session: SessionTrace, now: float) -> None:
        """End the steps of prompts that have ended, with the outcome that the session's state has."""
        for token, step in [*session.open_prompts.items()]:
            prompt = session.session_state.prompts.get(token) if session.session_state is not None else None
            if prompt is None or prompt.outcome == "pending":
                continue
            ended_at = min(now, prompt.deadline) if prompt.outcome == "timed_out" else now
            step.end = max(step.at, ended_at)
            step.outcome = _PROMPT_OUTCOME_TEXTS.get(prompt.outcome, prompt.outcome)
            if prompt.outcome == "timed_out" and prompt.kind == "confirmation":
                step.outcome += ", so it was " + ("accepted" if prompt.is_granted else "refused")
            del session.open_prompts[token]

    def _parse_time(self, session: SessionTrace, *candidates: str) -> float:
        """Return the first of the timestamps that can be read, else the time of the previous step."""
        times = (timestamps.parse_instant(timestamp) for timestamp in candidates if timestamp)
        parsed = next((time for time in times if time is not None), session.last_at)
        self._ended_at = max(self._ended_at, parsed)
        return parsed


# -- members of events ---------------------------------------------------------------------


def _format_state(name: object) -> str:
    return quote_text(name, 64).replace("_", " ") or "a state without a name"


def _language(event: Envelope) -> str:
    """Return the language tag of an event if it has a plausible one, else an empty string."""
    tag = get_member(event, "language")
    hints = get_member(event, "localization_hints")
    if tag is None and hints is not None:
        tag = get_member(hints, "primary_language")
    if not isinstance(tag, str):
        return ""
    subtags = tag.replace("-", "")
    return tag if subtags.isascii() and subtags.isalnum() else ""


def _summary(event: Envelope) -> str:
    """Return the first summary of an event that is not empty, the normal one before the others."""
    for name in ("summary_normal", "summary_detailed", "summary_terse"):
        text = quote_text(get_member(event, name))
        if text:
            return text
    return ""


def _format_tool_name(name: object) -> str:
    return quote_text(humanize_name(name), 80) if isinstance(name, str) else "without a name"


def _make_room(open_items: dict[Any, Any]) -> None:
    if len(open_items) >= _MAX_OPEN:
        forget_older_half(open_items)


# -- handlers of event types: each updates the session trace and returns the step of the event ---


def _handle_session_started(
    _session: SessionTrace, event: SessionStarted, now: float, _findings: list[Finding]
) -> Step:
    return Step(now, "session", "The session starts.", _summary(event))


def _handle_session_ended(_session: SessionTrace, event: Envelope, now: float, _findings: list[Finding]) -> Step:
    text = "The session completes."
    if isinstance(event, SessionErrored):
        text = f"The session ends with an error. Category: {_format_state(event.error_category)}."
    elif isinstance(event, SessionCancelled):
        text = f"The session is cancelled. By: {_format_state(event.cancelled_by)}."
    return Step(now, "session", text, _summary(event))


def _handle_state_changed(session: SessionTrace, event: StateChanged, now: float, _findings: list[Finding]) -> Step:
    agent_id = event.producer.agent_id
    to_state = _format_state(event.to_state)
    session.leave_state(agent_id, now)
    text = f"From {_format_state(event.from_state)} to {to_state}."
    attend = attend_members(event)
    if attend.get("resync") is True:
        text = f"Catching up: the state is {to_state}."
    elif isinstance(attend.get("outcome"), str):
        text += f" The prompt is over: {_format_state(attend['outcome'])}."
    step = Step(now, "state", text, _summary(event), label=to_state, has_duration=True)
    _make_room(session.open_states)
    session.open_states[agent_id] = step
    return step


def _handle_tool_invoked(session: SessionTrace, event: ToolInvoked, now: float, _findings: list[Finding]) -> Step:
    session.tool_call_count += 1
    name = _format_tool_name(event.tool)
    risk = get_member(event, "risk_level")
    notes = [f"{risk} risk"] if isinstance(risk, str) else []
    notes += ["it cannot be undone"] if event.irreversible is True else []
    text = f"Tool {name} is called" + (f"; {', '.join(notes)}." if notes else ".")
    step = Step(now, "tool", text, _summary(event), label=name, has_duration=True)
    if len(session.open_calls) >= _MAX_OPEN:
        del session.open_calls[0]
    call_id = str(get_member(event, "tool_call_id") or "")
    session.open_calls.append(OpenCall(call_id, event.tool, event.producer.agent_id, step))
    return step


def _handle_tool_completed(session: SessionTrace, event: ToolCompleted, now: float, _findings: list[Finding]) -> Step:
    call = _find_open_call(session, event)
    status = {"success": "successful", "error": "failed", "timeout": "timed out"}.get(event.status, str(event.status))
    if call is not None:
        session.open_calls.remove(call)
        call.step.end = max(call.step.at, now)
        call.step.outcome = status
    error_message = "" if event.status == "success" else quote_text(get_member(event, "error_message"))
    text = f"Tool {_format_tool_name(event.tool)} is done: {status}."
    return Step(now, "tool", text, error_message or _summary(event))


def _find_open_call(session: SessionTrace, event: ToolCompleted) -> OpenCall | None:
    """C-48: return the open call with the event's call id, or without one the oldest of its tool and agent."""
    call_id = get_member(event, "tool_call_id")
    agent_id = event.producer.agent_id
    for call in session.open_calls:
        if call_id is not None:
            is_match = call.call_id == call_id
        else:
            is_match = call.tool == event.tool and call.agent_id == agent_id
        if is_match:
            return call
    return None


def _handle_output(session: SessionTrace, event: OutputStreaming, now: float, findings: list[Finding]) -> Step:
    """Return one step for all chunks of an output, and another for each run of chunks that break the same rules."""
    key = (event.producer.agent_id, str(get_member(event, "output_id") or ""))
    output = session.open_outputs.get(key)
    is_new = output is None
    if output is None:
        session.output_count += 1
        _make_room(session.open_outputs)
        output = OpenOutput(Step(now, "output", "", label="output", has_duration=True))
        session.open_outputs[key] = output
    else:
        output.step.count += 1
    step = output.step
    if len(output.beginning) < _PREVIEW_CHARACTERS:
        output.beginning += event.chunk[:_PREVIEW_CHARACTERS]
        step.quote = quote_text(output.beginning)
    step.size += len(event.chunk)
    step.text = f"Output: {format_count(step.size, 'character')} in {format_count(step.count, 'piece')}."
    if event.complete:
        step.end = max(step.at, now)
        step.outcome = "complete"
        del session.open_outputs[key]
    if is_new or not findings or _has_same_rules(step, findings):
        return step
    last = session.steps.latest
    if last is not None and last.kind == "output" and last.agent_id == key[0] and _has_same_rules(last, findings):
        last.count += 1
        last.end = max(last.at, now)
        return last
    return Step(now, "output", f"A piece of output at position {event.position:,}.", quote_text(event.chunk))


def _has_same_rules(step: Step, findings: list[Finding]) -> bool:
    """Whether the findings of a step are of the same rules as new findings."""
    return {finding.rule for finding in step.findings} == {finding.rule for finding in findings}


def _handle_progress(session: SessionTrace, event: ProgressUpdated, now: float, findings: list[Finding]) -> Step:
    """Return the step of a progress event, which is the latest step if that is progress of the same agent."""
    percent = get_member(event.progress, "percent")
    step = get_member(event.progress, "step")
    total = get_member(event.progress, "total_steps")
    parts = [f"{percent:g} percent"] if isinstance(percent, (int, float)) else []
    if isinstance(step, int):
        parts.append(f"step {step:,}" + (f" of {total:,}" if isinstance(total, int) else ""))
    text = f"Progress: {', '.join(parts)}." if parts else "Progress."
    quote = _summary(event) or quote_text(get_member(event.progress, "description"))
    last = session.steps.latest
    if (
        last is not None
        and last.kind == "progress"
        and last.agent_id == event.producer.agent_id
        and _has_same_rules(last, findings)
    ):
        last.text = text
        last.quote = quote
        last.end = max(last.at, now)
        last.count += 1
        return last
    return Step(now, "progress", text, quote)


def _handle_prompt(
    session: SessionTrace, event: AwaitingConfirmation | AwaitingClarification, now: float, _findings: list[Finding]
) -> Step:
    session.prompt_count += 1
    timeout = f"{event.timeout_seconds:,} seconds"
    if isinstance(event, AwaitingConfirmation):
        default = "accepted" if event.default_decision == "accept" else "refused"
        text = f"Confirmation is asked for; without an answer within {timeout} it is {default}."
        quote = event.action
        label = "confirmation"
    else:
        text = f"A question is asked; it waits {timeout}."
        quote = event.question
        label = "question"
    step = Step(now, "prompt", text, quote_text(quote), label=label, has_duration=True)
    _make_room(session.open_prompts)
    session.open_prompts.setdefault(event.reply_token, step)
    return step


def _handle_handoff(session: SessionTrace, event: HandoffRequested, now: float, _findings: list[Finding]) -> Step:
    session.is_handed_over = True
    text = f"Handing over. To: {_format_state(event.target_kind)}."
    return Step(now, "other", text, quote_text(event.reason) or _summary(event))


def _handle_other(_session: SessionTrace, event: Envelope, now: float, _findings: list[Finding]) -> Step:
    return Step(now, "other", f"An event of the type {quote_text(event.type, 120)}.", _summary(event))


def _build_reply(message: Reply, now: float, line: int) -> Step:
    if isinstance(message, ConfirmationReply):
        decision = {"accept": "accept", "reject": "refuse"}.get(message.decision, quote_text(message.decision, 40))
        return Step(now, "prompt", f"A reply comes: {decision}.", line=line)
    response = quote_text(message.response) if isinstance(message.response, str) else str(message.response)
    return Step(now, "prompt", "A reply comes: an answer.", response, line=line)


_EVENT_HANDLERS: Final[dict[type[Any], Callable[[SessionTrace, Any, float, list[Finding]], Step]]] = {
    SessionStarted: _handle_session_started,
    **dict.fromkeys(TERMINAL, _handle_session_ended),
    StateChanged: _handle_state_changed,
    ToolInvoked: _handle_tool_invoked,
    ToolCompleted: _handle_tool_completed,
    OutputStreaming: _handle_output,
    ProgressUpdated: _handle_progress,
    AwaitingConfirmation: _handle_prompt,
    AwaitingClarification: _handle_prompt,
    HandoffRequested: _handle_handoff,
}
