"""
A trace as text that reads well aloud, as a drawing, and as a page. A.10

:func:`text` is here; :mod:`aaep.recording.trace.svg` and :mod:`aaep.recording.trace.html` make the
other two. All of them tell the sessions that broke a rule before any other,
and say what they leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...protocol.catalogue import format_spoken_section
from .build import Trace
from .html import render_html
from .model import SEVERITY_LABELS, SessionTrace, Step, format_count
from .svg import render_svg
from .words import (
    describe_duration,
    describe_recording,
    describe_result,
    describe_session,
    describe_time,
    select_sessions,
    session_title,
)

__all__ = ["Trace", "render_html", "render_svg", "render_text"]

MAX_STEPS: Final = 2_000  # steps that are told


def render_text(trace: Trace, *, max_steps: int = MAX_STEPS, notes: bool = False) -> Iterator[str]:
    """The trace in lines. Notes are only counted unless asked for."""
    yield describe_recording(trace)
    told, left = select_sessions(trace.session_traces, max_steps), 0
    for number, track in enumerate(trace.session_traces, start=1):
        whole = number in told
        if not whole and not track.rule_counts:
            left += 1
            continue
        yield ""
        yield f"{session_title(track, trace)}."
        yield from describe_session(track)
        for step in track.steps:
            if whole or any(mark.severity != "info" for mark in step.findings):
                yield from _render_step(step, track, notes=notes)
    if left:
        yield ""
        yield f"{format_count(left, 'more session')} broke no rule. The page tells of them too."
    yield ""
    yield describe_result(trace)


def _render_step(step: Step, track: SessionTrace, *, notes: bool) -> Iterator[str]:
    parts = [f"{describe_time(step, track)}: {step.text}"]
    if step.quote:
        parts.append(f'"{step.quote}"')
    if step.has_duration or step.end is not None:
        parts.append(describe_duration(step))
    yield "  " + " ".join(parts)
    for mark in step.findings:
        if mark.severity != "info" or notes:
            where = f", line {mark.line:,}" if mark.line is not None else ""
            source = f", {format_spoken_section(mark.section)}" if mark.section else ""
            yield f"    {SEVERITY_LABELS[mark.severity]} {mark.rule}{source}{where}. {mark.text}"
