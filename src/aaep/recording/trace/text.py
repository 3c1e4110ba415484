"""
A trace as text that reads well aloud, as a drawing, and as a page. A.10

:func:`text` is here; :mod:`aaep.recording.trace.svg` and :mod:`aaep.recording.trace.html` make the
other two. All of them tell the sessions that broke a rule before any other,
and say what they leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...protocol.catalogue import speak_section
from .build import Trace
from .html import html
from .model import GRADES, Step, Track, counted
from .svg import svg
from .words import account, chosen, duration, heading, outcome, overview, when

__all__ = ["Trace", "html", "svg", "text"]

MOST: Final = 2_000  # steps that are told


def text(trace: Trace, *, most: int = MOST, notes: bool = False) -> Iterator[str]:
    """The trace in lines. Notes are only counted unless asked for."""
    yield overview(trace)
    told, left = chosen(trace.tracks, most), 0
    for number, track in enumerate(trace.tracks, start=1):
        whole = number in told
        if not whole and not track.rules:
            left += 1
            continue
        yield ""
        yield f"{heading(track, trace)}."
        yield from account(track)
        for step in track.steps:
            if whole or any(mark.severity != "info" for mark in step.marks):
                yield from _told(step, track, notes=notes)
    if left:
        yield ""
        yield f"{counted(left, 'more session')} broke no rule. The page tells of them too."
    yield ""
    yield outcome(trace)


def _told(step: Step, track: Track, *, notes: bool) -> Iterator[str]:
    parts = [f"{when(step, track)}: {step.text}"]
    if step.said:
        parts.append(f'"{step.said}"')
    if step.lasts or step.until is not None:
        parts.append(duration(step))
    yield "  " + " ".join(parts)
    for mark in step.marks:
        if mark.severity != "info" or notes:
            where = f", line {mark.line:,}" if mark.line is not None else ""
            source = f", {speak_section(mark.section)}" if mark.section else ""
            yield f"    {GRADES[mark.severity]} {mark.rule}{source}{where}. {mark.text}"
