"""What the text, the drawing and the page of a trace say in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from .build import Trace
from .model import SessionTrace, Step, format_count, format_exact_duration

__all__ = [
    "describe_broken_rules",
    "describe_duration",
    "describe_recording",
    "describe_result",
    "describe_session",
    "describe_time",
    "select_sessions",
    "session_title",
    "summarize_broken_rules",
]

_MONTHS: Final = ("January February March April May June July August September October November December").split()
_OUTCOME_TEXTS: Final = {
    "completed": "completed",
    "errored": "ended with an error",
    "cancelled": "was cancelled",
    "": "did not end",
}


def select_sessions(tracks: Sequence[SessionTrace], max_steps: int) -> set[int]:
    """The numbers of the sessions that are told in full: as many steps as may be, those that broke rules first."""
    taken: set[int] = set()
    ranked = sorted(
        enumerate(tracks, start=1),
        key=lambda one: (not one[1].severity_counts["error"], not one[1].severity_counts["warning"]),
    )
    for number, track in ranked:
        max_steps -= len(track.steps)
        if max_steps < 0 and taken:
            break
        taken.add(number)
    return taken


def describe_recording(trace: Trace) -> str:
    """What the recording holds, in one line."""
    held = f"{format_count(trace.event_count, 'event')} in {format_count(trace.session_count, 'session')}"
    if trace.message_count > trace.event_count:
        held += f", and {format_count(trace.message_count - trace.event_count, 'other message')}"
    return f"{', '.join(trace.sources)}: {held}."


def describe_result(trace: Trace) -> str:
    """The sum of what broke rules."""
    errors, warnings, notes = (
        sum(track.severity_counts[grade] for track in trace.session_traces) for grade in ("error", "warning", "info")
    )
    more = f", {format_count(notes, 'note')}" if notes else ""
    return f"Result: {format_count(errors, 'error')}, {format_count(warnings, 'warning')}{more}."


def session_title(track: SessionTrace, trace: Trace) -> str:
    """What a session is called."""
    source = f", from {track.source}" if len(trace.sources) > 1 else ""
    if not track.session_id:
        return f"Outside any session{source}"
    names = list(dict.fromkeys(track.agent_names.values()))
    agents = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Session {track.number}: {agents}{source}"


def describe_session(track: SessionTrace) -> Iterator[str]:
    """A session in a few sentences: when, how long, how it ended, what it did, and what it broke."""
    if track.session_id:
        heard = f", heard on {track.subscription_id}" if track.subscription_id else ""
        yield f"Its id is {track.session_id}{heard}."
    if track.parent_id:
        yield f"It is a part of session {track.parent_id}."
    if track.started_at:
        began = f"It began on {format_moment(track.started_at)}"
        if track.session_id:
            outcome = _OUTCOME_TEXTS.get(track.outcome, track.outcome)
            began += f", lasted {format_exact_duration(track.seconds)} and {outcome}"
        yield began + "."
    if track.session_id:
        did = [format_count(track.tool_call_count, "call") + " of tools", format_count(track.output_count, "output")]
        did.append(format_count(track.prompt_count, "prompt"))
        yield f"{format_count(track.event_count, 'event')}: {did[0]}, {did[1]}, {did[2]}.".capitalize()
    if track.repeated_count:
        yield f"{format_count(track.repeated_count, 'event')} came more than once.".capitalize()
    if track.seconds_by_state:
        spent = sorted(track.seconds_by_state.items(), key=lambda one: -one[1])
        yield f"Time spent: {', '.join(f'{name} {format_exact_duration(seconds)}' for name, seconds in spent[:12])}."
    yield describe_broken_rules(track)


def describe_broken_rules(track: SessionTrace) -> str:
    """What a session broke."""
    if not track.rule_counts:
        return "It broke no rule."
    named = [f"{id_}, {number:,} times" if number > 1 else id_ for id_, number in track.rule_counts.most_common(12)]
    more = f"; and {format_count(len(track.rule_counts) - 12, 'other rule')}" if len(track.rule_counts) > 12 else ""
    return f"It broke {format_count(len(track.rule_counts), 'rule')}: {'; '.join(named)}{more}."


def summarize_broken_rules(track: SessionTrace) -> str:
    """The same in two or three words."""
    errors, warnings = track.severity_counts["error"], track.severity_counts["warning"]
    parts = [format_count(errors, "error")] if errors else []
    parts += [format_count(warnings, "warning")] if warnings else []
    return ", ".join(parts) or "no rule broken"


def describe_time(step: Step, track: SessionTrace) -> str:
    """When a step was, counted from the beginning of its session."""
    after = step.at - track.started_at
    if not step.at:
        return "At an unknown time"
    if after < 0:
        return f"{format_exact_duration(-after)} before the beginning".capitalize()
    return f"After {format_exact_duration(after)}" if after >= 0.0005 else "At the beginning"


def describe_duration(step: Step) -> str:
    """How long a step took, and how it ended."""
    seconds = step.seconds
    if seconds is None:
        return "It never ended in this recording."
    if not step.has_duration:
        return f"{format_count(step.count, 'time')} in {format_exact_duration(seconds)}.".capitalize()
    ended = step.outcome and f": {step.outcome}"
    return f"It lasted {format_exact_duration(seconds)}{ended}."


def format_moment(seconds: float) -> str:
    """A moment in words."""
    try:
        when = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return "an unknown day"
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year} at {when:%H:%M:%S} UTC"
