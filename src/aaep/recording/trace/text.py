"""
Rendering a trace as text that reads well aloud. A.10

Sessions that broke a rule have priority over the others, and the text says
what is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...protocol.catalogue import format_spoken_section
from .model import SEVERITY_LABELS, SessionTrace, Step, format_count
from .trace import Trace
from .wording import (
    describe_duration,
    describe_recording,
    describe_result,
    describe_session,
    describe_time,
    select_sessions,
    session_title,
)

__all__ = ["render_text"]

MAX_STEPS: Final = 2_000


def render_text(trace: Trace, *, max_steps: int = MAX_STEPS, notes: bool = False) -> Iterator[str]:
    """Yield the lines of a trace; notes are counted, and listed only with ``notes``."""
    yield describe_recording(trace)
    selected = select_sessions(trace.session_traces, max_steps)
    omitted = 0
    for number, session in enumerate(trace.session_traces, start=1):
        is_complete = number in selected
        if not is_complete and not session.rule_counts:
            omitted += 1
            continue
        yield ""
        yield f"{session_title(session, trace)}."
        yield from describe_session(session)
        for step in session.steps:
            if is_complete or step.has_broken_rule:
                yield from _render_step(step, session, notes=notes)
    if omitted:
        yield ""
        yield f"{format_count(omitted, 'more session')} broke no rule. The page tells of them too."
    yield ""
    yield describe_result(trace)


def _render_step(step: Step, session: SessionTrace, *, notes: bool) -> Iterator[str]:
    parts = [f"{describe_time(step, session)}: {step.text}"]
    if step.quote:
        parts.append(f'"{step.quote}"')
    if step.has_duration or step.end is not None:
        parts.append(describe_duration(step))
    yield "  " + " ".join(parts)
    for finding in step.findings:
        if finding.severity != "info" or notes:
            where = f", line {finding.line:,}" if finding.line is not None else ""
            source = f", {format_spoken_section(finding.section)}" if finding.section else ""
            yield f"    {SEVERITY_LABELS[finding.severity]} {finding.rule}{source}{where}. {finding.text}"
