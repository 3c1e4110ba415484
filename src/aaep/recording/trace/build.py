"""
From messages to a trace: which step each of them is, and which rules it breaks.

A :class:`Trace` is fed as an :class:`~aaep.protocol.audit.Audit` is, and judges with
one. It reads no clock: the time of a step is the time the recording gives it.
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
from .model import SessionTrace, Step, format_count, quote_text

__all__ = ["Trace"]

_PREVIEW_CHARACTERS: Final = 1000  # characters of an output from which its beginning is shown
_MAX_OPEN: Final = 1000  # things that may be open at once in a session before the oldest are given up
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


class Trace:
    """Everything that happened in one or several recordings. Memory grows with the sessions, not with the events."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.session_traces: list[SessionTrace] = []
        self.message_count = self.event_count = self.session_count = 0
        self._audit = Audit()
        self._outside = SessionTrace("", "", "")
        self._current_traces: dict[tuple[str, str], SessionTrace] = {}
        self._traces_by_token: dict[str, list[SessionTrace]] = {}

    # -- feeding -----------------------------------------------------------------------------

    def begin_recording(self, source: str, audit: Audit) -> None:
        """A recording begins; ``audit`` judges it."""
        source = quote_text(source)
        self.sources.append(source)
        self._audit, self._current_traces, self._traces_by_token = audit, {}, {}
        self._outside = SessionTrace("", "", source)

    def feed(self, raw: bytes, line: int = 0, at: str = "", via: str = "", direction: Direction = "") -> None:
        """The next message, on which line it stands, when it was seen, on which subscription, and who sent it."""
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
        """A line that holds no message."""
        step = Step(self._outside.last_at, "connection", "A line could not be read.", line=line)
        self._outside.add_findings(self._outside.add(step), [finding], line)

    def add_gap(self, kind: str, why: str, line: int, at: str, via: str) -> None:
        """The connection was lost, or there again, or something is missing."""
        if kind == "missed":
            self._audit.missed(via)
        open_ = [track for (_, heard), track in self._current_traces.items() if heard == via and not track.outcome]
        for track in [*open_, self._outside]:
            now = self._parse_time(track, at)
            track.add(Step(now, "connection", _GAP_TEXTS.get(kind, "There is a gap."), quote_text(why), line=line))

    def end_recording(self) -> None:
        """The recording is over."""
        missing = self._audit.finish()
        for (session_id, _), track in self._current_traces.items():
            mine = next((one for one in missing if one.session_id == session_id and not track.outcome), None)
            if mine is not None:
                missing.remove(mine)
                step = Step(track.last_at, "session", "The recording ends here, and the session had not ended.")
                track.add_findings(track.add(step), [mine], None)
            for held in track.open_states.values():
                track.seconds_by_state[held.label] = track.seconds_by_state.get(held.label, 0.0) + max(
                    0.0, track.last_at - held.at
                )
            track.session_state = None
        outside = self._outside
        for finding in missing:
            step = Step(outside.last_at, "connection", "At the end of the recording.")
            outside.add_findings(outside.add(step), [finding], None)
        if len(outside.steps):
            self.session_traces.insert(len(self.session_traces) - len(self._current_traces), outside)

    # -- inside ------------------------------------------------------------------------------

    def _session_trace(self, event: Envelope, via: str) -> SessionTrace:
        key = (event.session_id, via)
        track = self._current_traces.get(key)
        if track is None:
            self.session_count += 1
            track = SessionTrace(
                quote_text(event.session_id, 80) or "?", quote_text(via, 80), self.sources[-1], self.session_count
            )
            self._current_traces[key] = track
            self.session_traces.append(track)
        agent = event.producer.agent_id
        if agent not in track.agent_names and len(track.agent_names) < _MAX_OPEN:
            track.agent_names[agent] = quote_text(get_member(event.producer, "agent_name") or agent, 80)
        return track

    def _add_event(self, event: Envelope, raw: bytes, line: int, at: str, via: str) -> None:
        self.event_count += 1
        is_repeated = self._audit.has_seen(event, raw, via)
        found = self._audit.feed(raw, at, via)
        track = self._session_trace(event, via)
        if is_repeated and not found:
            track.repeated_count += 1  # TR-014: delivered again
            return
        track.session_state = self._audit.open_sessions.get(event.session_id + via) or track.session_state
        if track.session_state is not None and not track.event_count:
            track.parent_id = quote_text(track.session_state.parent_session_id, 80)
        track.event_count += 1
        now = self._parse_time(track, at, event.timestamp)
        self._add_step(event, track, found, line, now)
        self._close_prompts(track, now)
        if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
            self._add_token(event.reply_token, track)
        elif isinstance(event, TERMINAL):
            track.outcome = track.outcome or _OUTCOMES_BY_TYPE[type(event)]
            track.close(now)
        track.last_at = max(track.last_at, now)

    def _add_step(self, event: Envelope, track: SessionTrace, found: list[Finding], line: int, now: float) -> None:
        step = _STEP_BUILDERS.get(type(event), _build_other)(track, event, now, found)
        if step.is_added:
            track.count_findings(found)  # the same as those before it in the step, which are marked
            return
        step.line, step.event_id, step.agent_id = line, quote_text(event.event_id, 80), event.producer.agent_id
        step.quote_language = _language(event)
        track.add_findings(track.add(step), found, line)

    def _add_other_message(self, message: Message | None, found: list[Finding], line: int, at: str, via: str) -> None:
        """A handshake message, a reply, or what is none of ours."""
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            asked = self._traces_by_token.get(message.reply_token, [])
            for track in asked:
                now = self._parse_time(track, at, message.timestamp)
                track.add_findings(track.add(_build_reply(message, now, line)), found, line)
                self._close_prompts(track, now)
            if asked:
                return
        track = self._outside
        text = _MESSAGE_TEXTS.get(str(getattr(message, "type", "")), "A message that is no message of the protocol.")
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            text = "A reply to a question that was not asked here."
        said = quote_text(getattr(message, "reason_message", "")) or quote_text(getattr(message, "subscriber_name", ""))
        step = track.add(Step(self._parse_time(track, at), "connection", text, said, line=line))
        track.add_findings(step, found, line)

    def _add_token(self, token: str, track: SessionTrace) -> None:
        if len(self._traces_by_token) >= MAX_REMEMBERED:
            forget_older_half(self._traces_by_token)
        known = self._traces_by_token.setdefault(token, [])
        if track not in known:
            known.append(track)

    def _close_prompts(self, track: SessionTrace, now: float) -> None:
        """Prompts that are over, and how they ended: the session knows."""
        for token, step in [*track.open_prompts.items()]:
            ask = track.session_state.prompts.get(token) if track.session_state is not None else None
            if ask is None or ask.outcome == "pending":
                continue
            step.end = max(step.at, min(now, ask.deadline) if ask.outcome == "timed_out" else now)
            step.outcome = _PROMPT_OUTCOME_TEXTS.get(ask.outcome, ask.outcome)
            if ask.outcome == "timed_out" and ask.kind == "confirmation":
                step.outcome += ", so it was " + ("accepted" if ask.is_granted else "refused")
            del track.open_prompts[token]

    def _parse_time(self, track: SessionTrace, *told: str) -> float:
        """The first of these times that can be read, or that of the step before."""
        moments = (timestamps.parse_instant(text) for text in told if text)
        return next((moment for moment in moments if moment is not None), track.last_at)


_PROMPT_OUTCOME_TEXTS: Final = {
    "timed_out": "nobody answered in time",
    "rejected": "refused",
    "unseen": "over, but the recording does not show how",
}
_OUTCOMES_BY_TYPE: Final = dict(zip(TERMINAL, ("completed", "errored", "cancelled"), strict=True))


# -- the twelve types ----------------------------------------------------------------------


def _format_state(name: object) -> str:
    return quote_text(name, 64).replace("_", " ") or "a state without a name"


def _language(event: Envelope) -> str:
    tag = get_member(event, "language")
    hints = get_member(event, "localization_hints")
    if tag is None and hints is not None:
        tag = get_member(hints, "primary_language")
    return tag if isinstance(tag, str) and tag.replace("-", "").isascii() and tag.replace("-", "").isalnum() else ""


def _summary(event: Envelope) -> str:
    for name in ("summary_normal", "summary_detailed", "summary_terse"):
        text = quote_text(get_member(event, name))
        if text:
            return text
    return ""


def _format_tool_name(name: object) -> str:
    return quote_text(humanize_name(name), 80) if isinstance(name, str) else "without a name"


def _make_room(held: dict[Any, Step]) -> None:
    if len(held) >= _MAX_OPEN:
        forget_older_half(held)


def _build_session_started(_track: SessionTrace, event: SessionStarted, now: float, _found: list[Finding]) -> Step:
    return Step(now, "session", "The session starts.", _summary(event))


def _build_session_ended(_track: SessionTrace, event: Envelope, now: float, _found: list[Finding]) -> Step:
    text = "The session completes."
    if isinstance(event, SessionErrored):
        text = f"The session ends with an error. Category: {_format_state(event.error_category)}."
    elif isinstance(event, SessionCancelled):
        text = f"The session is cancelled. By: {_format_state(event.cancelled_by)}."
    return Step(now, "session", text, _summary(event))


def _build_state_changed(track: SessionTrace, event: StateChanged, now: float, _found: list[Finding]) -> Step:
    agent, left, entered = event.producer.agent_id, _format_state(event.from_state), _format_state(event.to_state)
    track.leave_state(agent, now)
    text = f"From {left} to {entered}."
    told = attend_members(event)
    if told.get("resync") is True:
        text = f"Catching up: the state is {entered}."
    elif isinstance(told.get("outcome"), str):
        text += f" The prompt is over: {_format_state(told['outcome'])}."
    step = Step(now, "state", text, _summary(event), label=entered, has_duration=True)
    _make_room(track.open_states)
    track.open_states[agent] = step
    return step


def _build_tool_invoked(track: SessionTrace, event: ToolInvoked, now: float, _found: list[Finding]) -> Step:
    track.tool_call_count += 1
    name = _format_tool_name(event.tool)
    risk = get_member(event, "risk_level")
    notes = [f"{risk} risk"] if isinstance(risk, str) else []
    notes += ["it cannot be undone"] if event.irreversible is True else []
    text = f"Tool {name} is called" + (f"; {', '.join(notes)}." if notes else ".")
    step = Step(now, "tool", text, _summary(event), label=name, has_duration=True)
    if len(track.open_calls) >= _MAX_OPEN:
        del track.open_calls[0]
    track.open_calls.append((str(get_member(event, "tool_call_id") or ""), event.tool, event.producer.agent_id, step))
    return step


def _build_tool_completed(track: SessionTrace, event: ToolCompleted, now: float, _found: list[Finding]) -> Step:
    id_, mine = get_member(event, "tool_call_id"), (event.tool, event.producer.agent_id)
    named = [call for call in track.open_calls if id_ is not None and call[0] == id_]
    # C-48: by id, else the oldest running call of that tool and agent.
    call = next(iter(named or [call for call in track.open_calls if id_ is None and call[1:3] == mine]), None)
    status = {"success": "successful", "error": "failed", "timeout": "timed out"}.get(event.status, str(event.status))
    if call is not None:
        track.open_calls.remove(call)
        call[3].end, call[3].outcome = max(call[3].at, now), status
    said = (
        _summary(event)
        if event.status == "success"
        else quote_text(get_member(event, "error_message")) or _summary(event)
    )
    return Step(now, "tool", f"Tool {_format_tool_name(event.tool)} is done: {status}.", said)


def _build_output(track: SessionTrace, event: OutputStreaming, now: float, found: list[Finding]) -> Step:
    """One step for all the chunks of an output, and one for each run of those that break the same rules."""
    key = (event.producer.agent_id, str(get_member(event, "output_id") or ""))
    fresh = key not in track.open_outputs
    if fresh:
        track.output_count += 1
        step, beginning = Step(now, "output", "", label="output", has_duration=True), ""
        if len(track.open_outputs) >= _MAX_OPEN:
            forget_older_half(track.open_outputs)
    else:
        step, beginning = track.open_outputs[key]
        step.count += 1
    if len(beginning) < _PREVIEW_CHARACTERS:
        beginning += event.chunk[:_PREVIEW_CHARACTERS]
        step.quote = quote_text(beginning)
    track.open_outputs[key] = step, beginning
    step.size += len(event.chunk)
    step.text = f"Output: {format_count(step.size, 'character')} in {format_count(step.count, 'piece')}."
    if event.complete:
        step.end, step.outcome = max(step.at, now), "complete"
        del track.open_outputs[key]
    if fresh or not found or _has_same_rules(step, found):
        return step
    last = track.steps.latest
    if last is not None and last.kind == "output" and last.agent_id == key[0] and _has_same_rules(last, found):
        last.count += 1
        last.end = max(last.at, now)
        return last
    return Step(now, "output", f"A piece of output at position {event.position:,}.", quote_text(event.chunk))


def _has_same_rules(step: Step, found: list[Finding]) -> bool:
    """Whether a step is marked with these rules already."""
    return {mark.rule for mark in step.findings} == {finding.rule for finding in found}


def _build_progress(track: SessionTrace, event: ProgressUpdated, now: float, found: list[Finding]) -> Step:
    """Progress that follows progress is one step."""
    percent, step, total = (get_member(event.progress, name) for name in ("percent", "step", "total_steps"))
    parts = [f"{percent:g} percent"] if isinstance(percent, (int, float)) else []
    if isinstance(step, int):
        parts.append(f"step {step:,}" + (f" of {total:,}" if isinstance(total, int) else ""))
    text = f"Progress: {', '.join(parts)}." if parts else "Progress."
    said = _summary(event) or quote_text(get_member(event.progress, "description"))
    last = track.steps.latest
    follows = last is not None and last.kind == "progress" and last.agent_id == event.producer.agent_id
    if last is not None and follows and _has_same_rules(last, found):
        last.text, last.quote, last.end = text, said, max(last.at, now)
        last.count += 1
        return last
    return Step(now, "progress", text, said)


def _build_prompt(
    track: SessionTrace, event: AwaitingConfirmation | AwaitingClarification, now: float, _found: list[Finding]
) -> Step:
    track.prompt_count += 1
    wait = f"{event.timeout_seconds:,} seconds"
    if isinstance(event, AwaitingConfirmation):
        default = "accepted" if event.default_decision == "accept" else "refused"
        text, said, name = (
            f"Confirmation is asked for; without an answer within {wait} it is {default}.",
            event.action,
            "confirmation",
        )
    else:
        text, said, name = f"A question is asked; it waits {wait}.", event.question, "question"
    step = Step(now, "prompt", text, quote_text(said), label=name, has_duration=True)
    _make_room(track.open_prompts)
    track.open_prompts.setdefault(event.reply_token, step)
    return step


def _build_handoff(_track: SessionTrace, event: HandoffRequested, now: float, _found: list[Finding]) -> Step:
    return Step(
        now,
        "other",
        f"Handing over. To: {_format_state(event.target_kind)}.",
        quote_text(event.reason) or _summary(event),
    )


def _build_other(_track: SessionTrace, event: Envelope, now: float, _found: list[Finding]) -> Step:
    return Step(now, "other", f"An event of the type {quote_text(event.type, 120)}.", _summary(event))


def _build_reply(message: Reply, now: float, line: int) -> Step:
    if isinstance(message, ConfirmationReply):
        decision = {"accept": "accept", "reject": "refuse"}.get(message.decision, quote_text(message.decision, 40))
        return Step(now, "prompt", f"A reply comes: {decision}.", line=line)
    said = quote_text(message.response) if isinstance(message.response, str) else str(message.response)
    return Step(now, "prompt", "A reply comes: an answer.", said, line=line)


_STEP_BUILDERS: Final[dict[type[Any], Callable[[SessionTrace, Any, float, list[Finding]], Step]]] = {
    SessionStarted: _build_session_started,
    **dict.fromkeys(TERMINAL, _build_session_ended),
    StateChanged: _build_state_changed,
    ToolInvoked: _build_tool_invoked,
    ToolCompleted: _build_tool_completed,
    OutputStreaming: _build_output,
    ProgressUpdated: _build_progress,
    AwaitingConfirmation: _build_prompt,
    AwaitingClarification: _build_prompt,
    HandoffRequested: _build_handoff,
}
