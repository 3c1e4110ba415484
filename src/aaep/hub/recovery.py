"""
Ends sessions whose agent is gone.

The process that owns a session is the only authority on it. When it has died, the
session cannot go on: the next process that opens its journal says so in the
session's own stream, so that a listener who resumes hears the end of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

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
    SessionErrored,
    StateChanged,
    ToolCompleted,
)
from ..protocol.extensions import Registry
from ..protocol.fields import AAEP_VERSION, CORE_CONTEXT
from ..protocol.session import SessionState
from ..runtime.ids import format_timestamp, new_id
from ..text.phrases import PHRASES
from ..text.summaries import STATE_SUMMARIES, Summaries, summarize_abandoned_call, summarize_outcome

__all__ = ["build_closing_events", "build_resync", "end_orphaned_sessions"]

_ENDED = Summaries(PHRASES["lost"], PHRASES["lost"], PHRASES["lost.detailed"])


def build_resync(state: str, **envelope: Any) -> StateChanged:
    """Return an event that tells a joining reader the current state. It is not part of the session (C-36)."""
    terse, normal, detailed = STATE_SUMMARIES[state]
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
    for prompt in session.prompts.values():
        if prompt.outcome == "pending":
            yield make(
                StateChanged,
                summarize_outcome("withdrawn", _action_of(prompt.event)),
                "critical",
                context=(CORE_CONTEXT, ATTEND.context),
                from_state="awaiting_input",
                to_state="thinking",
                extensions={PREFIX: {"reply_token": prompt.token, "outcome": "withdrawn"}},
            )
    for call in session.running_calls:
        summaries = summarize_abandoned_call(call.tool)
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
        _ENDED,
        "critical",
        error_category="unknown",
        recoverable=False,
        remediation_hint=PHRASES["lost.hint"],
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
        localization_hints=LocalizationHints(primary_language="en", text_direction="ltr"),
        **members,
    )
