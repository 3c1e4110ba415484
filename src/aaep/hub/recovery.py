"""
Ends sessions whose agent is gone.

The process that owns a session is the only authority on it. When it has died, the
session cannot go on: the next process that opens its journal says so in the
session's own stream, so that a listener who resumes hears the end of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import msgspec

from ..errors import AaepError
from ..journal.base import Journal
from ..protocol.attend_extension import ATTEND, PREFIX
from ..protocol.codec import decode
from ..protocol.events import (
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    LocalizationHints,
    OutputStreaming,
    ProgressUpdated,
    SessionErrored,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from ..protocol.extensions import Registry
from ..protocol.fields import AAEP_VERSION, CORE_CONTEXT, get_member
from ..protocol.session import SessionState
from ..runtime.ids import format_timestamp, new_id
from ..text.languages import language_direction
from ..text.phrases import ENGLISH, Phrases, ensure_full_stop, find_phrases
from ..text.summaries import (
    Summaries,
    summarize_abandoned_call,
    summarize_outcome,
    summarize_state,
    truncate_with_ellipsis,
)

__all__ = ["build_closing_events", "build_resync", "end_orphaned_sessions", "find_session_language"]

_MAX_TOLD_CALLS: Final = 3  # of the tools that run at once, the newest
_WORKING_STATES: Final = ("thinking", "calling_tool", "writing_output", "deciding")


def find_session_language(event: Envelope) -> tuple[Phrases, LocalizationHints]:
    """Return the phrases for what is said of a session, in its agent's language if there are any, and its hints."""
    language = _get_language(event)
    phrases = find_phrases((language,))
    if phrases is None:
        return ENGLISH, LocalizationHints(primary_language="en", text_direction="ltr")
    return phrases, LocalizationHints(primary_language=language, text_direction=language_direction(language))


def build_resync(session: SessionState, state: str, phrases: Phrases = ENGLISH, **envelope: Any) -> StateChanged:
    """
    Return an event that tells a joining reader the current state. It is not part of the session (C-36).

    Where tools run or progress was told, the summaries say which and how far, in the agent's language.
    """
    told = _list_current_work(session, envelope["producer"].agent_id) if state in _WORKING_STATES else []
    if told:
        envelope["localization_hints"] = told[0].localization_hints
    terse, normal, detailed = _join_summaries(told) if told else summarize_state(state, phrases)
    return StateChanged(
        **envelope,
        context=(CORE_CONTEXT, ATTEND.context),
        verbosity="normal",
        urgency="background",
        from_state="idle",
        to_state=state,
        summary_terse=terse,
        summary_normal=normal,
        summary_detailed=detailed,
        extensions={PREFIX: {"resync": True}},
    )


def _list_current_work(session: SessionState, agent_id: str) -> list[ToolInvoked | ProgressUpdated]:
    """Return the events that tell what an agent is doing: its running calls and the last progress, in one language."""
    calls = [call.event for call in session.running_calls if call.agent == agent_id]
    agent = session.agents.get(agent_id)
    progress = agent.progress if agent is not None else None
    events: list[ToolInvoked | ProgressUpdated] = [*calls[-_MAX_TOLD_CALLS:]]
    if progress is not None and (_has_value(progress.progress, "percent") or _has_value(progress.progress, "step")):
        events.append(progress)
    told = [event for event in events if _has_value(event, "summary_normal")]
    return [event for event in told if _get_language(event) == _get_language(told[0])]


def _has_value(value: Any, name: str) -> bool:
    return get_member(value, name) not in (None, "")


def _get_language(event: Envelope) -> str:
    return str(get_member(get_member(event, "localization_hints"), "primary_language") or "")


def _join_summaries(events: list[ToolInvoked | ProgressUpdated]) -> Summaries:
    def join(name: str) -> str:
        texts = [str(get_member(event, name) or event.summary_normal) for event in events]
        return " ".join(ensure_full_stop(truncate_with_ellipsis(text)) for text in texts)

    # The tool's name alone, which is all that the shortest form has, does not tell what is going on.
    return Summaries(join("summary_normal"), join("summary_normal"), join("summary_detailed"))


def end_orphaned_sessions(journal: Journal, registry: Registry, wall: float) -> list[str]:
    """Append closing events to every session that its agent left open; return their ids."""
    ended = []
    for kept in journal.list_sessions():
        entries = journal.read(session=kept.session_id, limit=kept.entry_count)
        session, last = SessionState(kept.session_id), None
        for entry in entries:
            try:
                event = decode(entry.data, registry)
            except AaepError:  # an unreadable entry says nothing about the session
                continue
            if isinstance(event, Envelope):
                session.apply(event, 0.0)
                last = event
        if last is None or session.stage != "active":
            continue
        for event in build_closing_events(session, last, wall):
            journal.append(event.event_id, kept.session_id, msgspec.json.encode(event), at=wall)
        ended.append(kept.session_id)
    if ended:
        journal.sync()
    return ended


def build_closing_events(session: SessionState, last: Envelope, wall: float) -> Iterator[Envelope]:
    """Yield the events that void prompts, give up calls, complete outputs and end a session. C-42, C-43, C-54"""
    make = partial(
        _build_event, last, max(format_timestamp(wall), last.timestamp)
    )  # ENV-027: even if the clock was set back
    phrases, _ = find_session_language(last)
    for prompt in session.prompts.values():
        if prompt.outcome == "pending":
            yield make(
                StateChanged,
                summarize_outcome("withdrawn", _action_of(prompt.event), phrases),
                "critical",
                context=(CORE_CONTEXT, ATTEND.context),
                from_state="awaiting_input",
                to_state="thinking",
                extensions={PREFIX: {"reply_token": prompt.token, "outcome": "withdrawn"}},
            )
    for call in session.running_calls:
        summaries = summarize_abandoned_call(call.tool, phrases)
        call_id = {"tool_call_id": call.id} if call.id else {}
        yield make(
            ToolCompleted, summaries, tool=call.tool, status="timeout", error_message=summaries.normal, **call_id
        )
    for agent in session.agents.values():
        for output_id, output in agent.outputs.items():
            if output.stage == "open":
                yield make(
                    OutputStreaming,
                    None,
                    chunk="",
                    position=output.end + output.shift,
                    complete=True,
                    coalesce_hint="completion",
                    output_id=output_id,
                )
    yield make(
        SessionErrored,
        Summaries(phrases["lost"], phrases["lost"], phrases["lost-detailed"]),
        "critical",
        error_category="unknown",
        recoverable=False,
        remediation_hint=phrases["lost-hint"],
    )


def _action_of(prompt: AwaitingConfirmation | AwaitingClarification) -> str:
    return prompt.action if isinstance(prompt, AwaitingConfirmation) else ""


def _build_event(
    last: Envelope,
    timestamp: str,
    cls: type[Envelope],
    summaries: Summaries | None,
    urgency: str = "normal",
    **members: Any,
) -> Envelope:
    """Return an event of the agent that sent the last one."""
    if summaries is not None:
        members["summary_terse"], members["summary_normal"], members["summary_detailed"] = summaries
    return cls(
        aaep_version=AAEP_VERSION,
        event_id=new_id("evt_"),
        session_id=last.session_id,
        timestamp=timestamp,
        producer=last.producer,
        verbosity="normal",
        urgency=urgency,  # type: ignore[arg-type]  # one of the three
        localization_hints=find_session_language(last)[1],
        **members,
    )
