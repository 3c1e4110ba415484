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
from ...text.phrases import title
from .model import Step, Track, counted, quoted

__all__ = ["Trace"]

_BEGINNING: Final = 1000  # characters of an output from which its beginning is shown
_OPEN: Final = 1000  # things that may be open at once in a session before the oldest are given up
_GAPS: Final = {
    "lost": "The connection was lost.",
    "resumed": "The connection was there again.",
    "missed": "Something is missing here for good.",
}
_EXCHANGE: Final = {
    "subscription.request": "A reader asked to subscribe.",
    "subscription.accepted": "The subscription was accepted.",
    "subscription.rejected": "The subscription was rejected.",
    "subscription.renegotiate": "The reader asked for other terms.",
    "subscription.close": "The subscription was closed.",
    "aaep:producer.manifest": "The producer's manifest.",
}
_MISDIRECTED: Final = "A message came from the wrong side and does not count."


class Trace:
    """Everything that happened in one or several recordings. Memory grows with the sessions, not with the events."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.tracks: list[Track] = []
        self.messages = self.events = self.sessions = 0
        self._audit = Audit()
        self._outside = Track("", "", "")
        self._tracks: dict[tuple[str, str], Track] = {}
        self._tokens: dict[str, list[Track]] = {}

    # -- feeding -----------------------------------------------------------------------------

    def open(self, source: str, audit: Audit) -> None:
        """A recording begins; ``audit`` judges it."""
        source = quoted(source)
        self.sources.append(source)
        self._audit, self._tracks, self._tokens = audit, {}, {}
        self._outside = Track("", "", source)

    def feed(self, raw: bytes, line: int = 0, at: str = "", via: str = "", direction: Direction = "") -> None:
        """The next message, on which line it stands, when it was seen, on which subscription, and who sent it."""
        self.messages += 1
        try:
            message: Message | None = codec.decode(raw, self._audit.registry)
        except ProtocolError:
            message = None
        if find_misdirected(message, direction):
            step = self._outside.add(Step(self._moment(self._outside, at), "connection", _MISDIRECTED, line=line))
            self._outside.mark(step, self._audit.feed(raw, at, via, direction), line)
        elif isinstance(message, Envelope):
            self._event(message, raw, line, at, via)
        else:
            self._exchanged(message, self._audit.feed(raw, at, via), line, at, via)

    def fault(self, finding: Finding, line: int) -> None:
        """A line that holds no message."""
        step = Step(self._outside.last, "connection", "A line could not be read.", line=line)
        self._outside.mark(self._outside.add(step), [finding], line)

    def gap(self, kind: str, why: str, line: int, at: str, via: str) -> None:
        """The connection was lost, or there again, or something is missing."""
        if kind == "missed":
            self._audit.missed(via)
        open_ = [track for (_, heard), track in self._tracks.items() if heard == via and not track.ended]
        for track in [*open_, self._outside]:
            now = self._moment(track, at)
            track.add(Step(now, "connection", _GAPS.get(kind, "There is a gap."), quoted(why), line=line))

    def close(self) -> None:
        """The recording is over."""
        missing = self._audit.finish()
        for (session_id, _), track in self._tracks.items():
            mine = next((one for one in missing if one.session_id == session_id and not track.ended), None)
            if mine is not None:
                missing.remove(mine)
                step = Step(track.last, "session", "The recording ends here, and the session had not ended.")
                track.mark(track.add(step), [mine], None)
            for held in track.states.values():
                track.spent[held.name] = track.spent.get(held.name, 0.0) + max(0.0, track.last - held.at)
            track.session = None
        outside = self._outside
        for finding in missing:
            step = Step(outside.last, "connection", "At the end of the recording.")
            outside.mark(outside.add(step), [finding], None)
        if len(outside.steps):
            self.tracks.insert(len(self.tracks) - len(self._tracks), outside)

    # -- inside ------------------------------------------------------------------------------

    def _track(self, event: Envelope, via: str) -> Track:
        key = (event.session_id, via)
        track = self._tracks.get(key)
        if track is None:
            self.sessions += 1
            track = Track(quoted(event.session_id, 80) or "?", quoted(via, 80), self.sources[-1], self.sessions)
            self._tracks[key] = track
            self.tracks.append(track)
        agent = event.producer.agent_id
        if agent not in track.agents and len(track.agents) < _OPEN:
            track.agents[agent] = quoted(get_member(event.producer, "agent_name") or agent, 80)
        return track

    def _event(self, event: Envelope, raw: bytes, line: int, at: str, via: str) -> None:
        self.events += 1
        before = self._audit.seen.get((event.event_id + via).encode(errors="surrogatepass"))
        found = self._audit.feed(raw, at, via)
        track = self._track(event, via)
        # Of a long message the audit keeps only a sign; that it had nothing to say tells the same.
        if before is not None and not found and (before == raw or not before.startswith(b"{")):
            track.repeated += 1  # TR-014: delivered again
            return
        track.session = self._audit.open_sessions.get(event.session_id + via) or track.session
        if track.session is not None and not track.events:
            track.parent = quoted(track.session.parent_session_id, 80)
        track.events += 1
        now = self._moment(track, at, event.timestamp)
        self._step(event, track, found, line, now)
        self._settle(track, now)
        if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
            self._ask(event.reply_token, track)
        elif isinstance(event, TERMINAL):
            track.ended = track.ended or _ENDS[type(event)]
            track.close(now)
        track.last = max(track.last, now)

    def _step(self, event: Envelope, track: Track, found: list[Finding], line: int, now: float) -> None:
        step = _STEPS.get(type(event), _other)(track, event, now, found)
        if step.placed:
            track.count(found)  # the same as those before it in the step, which are marked
            return
        step.line, step.event_id, step.agent = line, quoted(event.event_id, 80), event.producer.agent_id
        step.language = _language(event)
        track.mark(track.add(step), found, line)

    def _exchanged(self, message: Message | None, found: list[Finding], line: int, at: str, via: str) -> None:
        """A handshake message, a reply, or what is none of ours."""
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            asked = self._tokens.get(message.reply_token, [])
            for track in asked:
                now = self._moment(track, at, message.timestamp)
                track.mark(track.add(_reply(message, now, line)), found, line)
                self._settle(track, now)
            if asked:
                return
        track = self._outside
        text = _EXCHANGE.get(str(getattr(message, "type", "")), "A message that is no message of the protocol.")
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            text = "A reply to a question that was not asked here."
        said = quoted(getattr(message, "reason_message", "")) or quoted(getattr(message, "subscriber_name", ""))
        step = track.add(Step(self._moment(track, at), "connection", text, said, line=line))
        track.mark(step, found, line)

    def _ask(self, token: str, track: Track) -> None:
        if len(self._tokens) >= MAX_REMEMBERED:
            forget_older_half(self._tokens)
        known = self._tokens.setdefault(token, [])
        if track not in known:
            known.append(track)

    def _settle(self, track: Track, now: float) -> None:
        """Prompts that are over, and how they ended: the session knows."""
        for token, step in [*track.asked.items()]:
            ask = track.session.prompts.get(token) if track.session is not None else None
            if ask is None or ask.outcome == "pending":
                continue
            step.until = max(step.at, min(now, ask.deadline) if ask.outcome == "timed_out" else now)
            step.ended = _OUTCOMES.get(ask.outcome, ask.outcome)
            if ask.outcome == "timed_out" and ask.kind == "confirmation":
                step.ended += ", so it was " + ("accepted" if ask.is_granted else "refused")
            del track.asked[token]

    def _moment(self, track: Track, *told: str) -> float:
        """The first of these times that can be read, or that of the step before."""
        moments = (timestamps.parse_instant(text) for text in told if text)
        return next((moment for moment in moments if moment is not None), track.last)


_OUTCOMES: Final = {
    "timed_out": "nobody answered in time",
    "rejected": "refused",
    "unseen": "over, but the recording does not show how",
}
_ENDS: Final = dict(zip(TERMINAL, ("completed", "errored", "cancelled"), strict=True))


# -- the twelve types ----------------------------------------------------------------------


def _state(name: object) -> str:
    return quoted(name, 64).replace("_", " ") or "a state without a name"


def _language(event: Envelope) -> str:
    tag = get_member(event, "language")
    hints = get_member(event, "localization_hints")
    if tag is None and hints is not None:
        tag = get_member(hints, "primary_language")
    return tag if isinstance(tag, str) and tag.replace("-", "").isascii() and tag.replace("-", "").isalnum() else ""


def _summary(event: Envelope) -> str:
    for name in ("summary_normal", "summary_detailed", "summary_terse"):
        text = quoted(get_member(event, name))
        if text:
            return text
    return ""


def _tool_name(name: object) -> str:
    return quoted(title(name), 80) if isinstance(name, str) else "without a name"


def _bounded(held: dict[Any, Step]) -> None:
    if len(held) >= _OPEN:
        forget_older_half(held)


def _started(_track: Track, event: SessionStarted, now: float, _found: list[Finding]) -> Step:
    return Step(now, "session", "The session starts.", _summary(event))


def _ended(_track: Track, event: Envelope, now: float, _found: list[Finding]) -> Step:
    text = "The session completes."
    if isinstance(event, SessionErrored):
        text = f"The session ends with an error. Category: {_state(event.error_category)}."
    elif isinstance(event, SessionCancelled):
        text = f"The session is cancelled. By: {_state(event.cancelled_by)}."
    return Step(now, "session", text, _summary(event))


def _changed(track: Track, event: StateChanged, now: float, _found: list[Finding]) -> Step:
    agent, left, entered = event.producer.agent_id, _state(event.from_state), _state(event.to_state)
    track.leave(agent, now)
    text = f"From {left} to {entered}."
    told = attend_members(event)
    if told.get("resync") is True:
        text = f"Catching up: the state is {entered}."
    elif isinstance(told.get("outcome"), str):
        text += f" The prompt is over: {_state(told['outcome'])}."
    step = Step(now, "state", text, _summary(event), name=entered, lasts=True)
    _bounded(track.states)
    track.states[agent] = step
    return step


def _invoked(track: Track, event: ToolInvoked, now: float, _found: list[Finding]) -> Step:
    track.tools += 1
    name = _tool_name(event.tool)
    risk = get_member(event, "risk_level")
    notes = [f"{risk} risk"] if isinstance(risk, str) else []
    notes += ["it cannot be undone"] if event.irreversible is True else []
    text = f"Tool {name} is called" + (f"; {', '.join(notes)}." if notes else ".")
    step = Step(now, "tool", text, _summary(event), name=name, lasts=True)
    if len(track.calls) >= _OPEN:
        del track.calls[0]
    track.calls.append((str(get_member(event, "tool_call_id") or ""), event.tool, event.producer.agent_id, step))
    return step


def _completed(track: Track, event: ToolCompleted, now: float, _found: list[Finding]) -> Step:
    id_, mine = get_member(event, "tool_call_id"), (event.tool, event.producer.agent_id)
    named = [call for call in track.calls if id_ is not None and call[0] == id_]
    # C-48: by id, else the oldest running call of that tool and agent.
    call = next(iter(named or [call for call in track.calls if id_ is None and call[1:3] == mine]), None)
    status = {"success": "successful", "error": "failed", "timeout": "timed out"}.get(event.status, str(event.status))
    if call is not None:
        track.calls.remove(call)
        call[3].until, call[3].ended = max(call[3].at, now), status
    said = (
        _summary(event) if event.status == "success" else quoted(get_member(event, "error_message")) or _summary(event)
    )
    return Step(now, "tool", f"Tool {_tool_name(event.tool)} is done: {status}.", said)


def _chunk(track: Track, event: OutputStreaming, now: float, found: list[Finding]) -> Step:
    """One step for all the chunks of an output, and one for each run of those that break the same rules."""
    key = (event.producer.agent_id, str(get_member(event, "output_id") or ""))
    fresh = key not in track.written
    if fresh:
        track.outputs += 1
        step, beginning = Step(now, "output", "", name="output", lasts=True), ""
        if len(track.written) >= _OPEN:
            forget_older_half(track.written)
    else:
        step, beginning = track.written[key]
        step.times += 1
    if len(beginning) < _BEGINNING:
        beginning += event.chunk[:_BEGINNING]
        step.said = quoted(beginning)
    track.written[key] = step, beginning
    step.size += len(event.chunk)
    step.text = f"Output: {counted(step.size, 'character')} in {counted(step.times, 'piece')}."
    if event.complete:
        step.until, step.ended = max(step.at, now), "complete"
        del track.written[key]
    if fresh or not found or _same(step, found):
        return step
    last = track.steps.latest
    if last is not None and last.kind == "output" and last.agent == key[0] and _same(last, found):
        last.times += 1
        last.until = max(last.at, now)
        return last
    return Step(now, "output", f"A piece of output at position {event.position:,}.", quoted(event.chunk))


def _same(step: Step, found: list[Finding]) -> bool:
    """Whether a step is marked with these rules already."""
    return {mark.rule for mark in step.marks} == {finding.rule for finding in found}


def _progress(track: Track, event: ProgressUpdated, now: float, found: list[Finding]) -> Step:
    """Progress that follows progress is one step."""
    percent, step, total = (get_member(event.progress, name) for name in ("percent", "step", "total_steps"))
    parts = [f"{percent:g} percent"] if isinstance(percent, (int, float)) else []
    if isinstance(step, int):
        parts.append(f"step {step:,}" + (f" of {total:,}" if isinstance(total, int) else ""))
    text = f"Progress: {', '.join(parts)}." if parts else "Progress."
    said = _summary(event) or quoted(get_member(event.progress, "description"))
    last = track.steps.latest
    follows = last is not None and last.kind == "progress" and last.agent == event.producer.agent_id
    if last is not None and follows and _same(last, found):
        last.text, last.said, last.until = text, said, max(last.at, now)
        last.times += 1
        return last
    return Step(now, "progress", text, said)


def _asked(
    track: Track, event: AwaitingConfirmation | AwaitingClarification, now: float, _found: list[Finding]
) -> Step:
    track.prompts += 1
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
    step = Step(now, "prompt", text, quoted(said), name=name, lasts=True)
    _bounded(track.asked)
    track.asked.setdefault(event.reply_token, step)
    return step


def _handoff(_track: Track, event: HandoffRequested, now: float, _found: list[Finding]) -> Step:
    return Step(
        now, "other", f"Handing over. To: {_state(event.target_kind)}.", quoted(event.reason) or _summary(event)
    )


def _other(_track: Track, event: Envelope, now: float, _found: list[Finding]) -> Step:
    return Step(now, "other", f"An event of the type {quoted(event.type, 120)}.", _summary(event))


def _reply(message: Reply, now: float, line: int) -> Step:
    if isinstance(message, ConfirmationReply):
        decision = {"accept": "accept", "reject": "refuse"}.get(message.decision, quoted(message.decision, 40))
        return Step(now, "prompt", f"A reply comes: {decision}.", line=line)
    said = quoted(message.response) if isinstance(message.response, str) else str(message.response)
    return Step(now, "prompt", "A reply comes: an answer.", said, line=line)


_STEPS: Final[dict[type[Any], Callable[[Track, Any, float, list[Finding]], Step]]] = {
    SessionStarted: _started,
    **dict.fromkeys(TERMINAL, _ended),
    StateChanged: _changed,
    ToolInvoked: _invoked,
    ToolCompleted: _completed,
    OutputStreaming: _chunk,
    ProgressUpdated: _progress,
    AwaitingConfirmation: _asked,
    AwaitingClarification: _asked,
    HandoffRequested: _handoff,
}
