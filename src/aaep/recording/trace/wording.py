"""The sentences that the text, the drawing and the page of a trace share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from .model import SessionTrace, Step, format_count, format_exact_duration
from .trace import Trace

__all__ = [
    "describe_broken_rules",
    "describe_duration",
    "describe_outcome",
    "describe_recording",
    "describe_result",
    "describe_session",
    "describe_time",
    "select_sessions",
    "session_title",
    "summarize_broken_rules",
]

_MONTHS: Final = ("January February March April May June July August September October November December").split()
_MAX_LISTED: Final = 12  # states or rules in one sentence
_OUTCOME_TEXTS: Final = {
    "completed": "completed",
    "errored": "ended with an error",
    "cancelled": "was cancelled",
    "": "did not end",
}


def select_sessions(sessions: Sequence[SessionTrace], max_steps: int) -> set[int]:
    """
    Return the numbers of the sessions to render completely, at most ``max_steps`` steps together.

    Sessions with errors are selected first, then those with warnings.
    """

    def rank(numbered: tuple[int, SessionTrace]) -> tuple[bool, bool]:
        counts = numbered[1].severity_counts
        return not counts["error"], not counts["warning"]

    selected: set[int] = set()
    for number, session in sorted(enumerate(sessions, start=1), key=rank):
        max_steps -= len(session.steps)
        if max_steps < 0 and selected:
            break
        selected.add(number)
    return selected


def describe_recording(trace: Trace) -> str:
    """Return one sentence with the sources of a trace and the counts of events, sessions and messages."""
    counts = f"{format_count(trace.event_count, 'event')} in {format_count(trace.session_count, 'session')}"
    if trace.message_count > trace.event_count:
        counts += f", and {format_count(trace.message_count - trace.event_count, 'other message')}"
    return f"{', '.join(trace.sources)}: {counts}."


def describe_result(trace: Trace) -> str:
    """Return one sentence with the numbers of errors, warnings and notes."""
    errors, warnings, notes = (
        sum(session.severity_counts[severity] for session in trace.session_traces)
        for severity in ("error", "warning", "info")
    )
    notes_text = f", {format_count(notes, 'note')}" if notes else ""
    return f"Result: {format_count(errors, 'error')}, {format_count(warnings, 'warning')}{notes_text}."


def session_title(session: SessionTrace, trace: Trace) -> str:
    """Return the title of a session: its number and its agents."""
    source = f", from {session.source}" if len(trace.sources) > 1 else ""
    if not session.session_id:
        return f"Outside any session{source}"
    names = list(dict.fromkeys(session.agent_names.values()))
    agents = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Session {session.number}: {agents}{source}"


def describe_session(session: SessionTrace) -> Iterator[str]:
    """Yield sentences with the time, duration, outcome, contents and broken rules of a session."""
    if session.session_id:
        subscription = f", heard on {session.subscription_id}" if session.subscription_id else ""
        yield f"Its id is {session.session_id}{subscription}."
    if session.parent_id:
        yield f"It is a part of session {session.parent_id}."
    if session.started_at:
        course = f"It began on {_format_date(session.started_at)}"
        if session.session_id:
            course += f", lasted {format_exact_duration(session.seconds)} and {describe_outcome(session)}"
        yield course + "."
    if session.session_id:
        events = format_count(session.event_count, "event")
        calls = format_count(session.tool_call_count, "call")
        outputs = format_count(session.output_count, "output")
        prompts = format_count(session.prompt_count, "prompt")
        yield f"{events}: {calls} of tools, {outputs}, {prompts}.".capitalize()
    if session.repeated_count:
        yield f"{format_count(session.repeated_count, 'event')} came more than once.".capitalize()
    if session.seconds_by_state:
        longest = sorted(session.seconds_by_state.items(), key=lambda item: -item[1])[:_MAX_LISTED]
        yield f"Time spent: {', '.join(f'{name} {format_exact_duration(seconds)}' for name, seconds in longest)}."
    yield describe_broken_rules(session)


def describe_outcome(session: SessionTrace) -> str:
    """Return how a session ended, as the end of a sentence about it."""
    outcome = _OUTCOME_TEXTS.get(session.outcome, session.outcome)
    return f"was handed over and {outcome}" if session.is_handed_over else outcome


def describe_broken_rules(session: SessionTrace) -> str:
    """Return one sentence with the rules that a session broke."""
    if not session.rule_counts:
        return "It broke no rule."
    rules = [
        f"{rule_id}, {count:,} times" if count > 1 else rule_id
        for rule_id, count in session.rule_counts.most_common(_MAX_LISTED)
    ]
    unlisted = len(session.rule_counts) - len(rules)
    more = f"; and {format_count(unlisted, 'other rule')}" if unlisted else ""
    return f"It broke {format_count(len(session.rule_counts), 'rule')}: {'; '.join(rules)}{more}."


def summarize_broken_rules(session: SessionTrace) -> str:
    """Return the numbers of errors and warnings of a session in two to four words."""
    errors = session.severity_counts["error"]
    warnings = session.severity_counts["warning"]
    parts = [format_count(errors, "error")] if errors else []
    parts += [format_count(warnings, "warning")] if warnings else []
    return ", ".join(parts) or "no rule broken"


def describe_time(step: Step, session: SessionTrace) -> str:
    """Return the time of a step, counted from the start of its session."""
    if not step.at:
        return "At an unknown time"
    offset = step.at - session.started_at
    if offset < 0:
        return f"{format_exact_duration(-offset)} before the beginning".capitalize()
    return f"After {format_exact_duration(offset)}" if offset >= 0.0005 else "At the beginning"


def describe_duration(step: Step) -> str:
    """Return one sentence with the duration of a step and its outcome."""
    seconds = step.seconds
    if seconds is None:
        return "It never ended in this recording."
    if not step.has_duration:
        return f"{format_count(step.count, 'time')} in {format_exact_duration(seconds)}.".capitalize()
    outcome = step.outcome and f": {step.outcome}"
    return f"It lasted {format_exact_duration(seconds)}{outcome}."


def _format_date(seconds: float) -> str:
    """Return a time as a date in words, such as ``5 March 2026 at 10:00:00 UTC``."""
    try:
        date = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return "an unknown day"
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year} at {date:%H:%M:%S} UTC"
