"""``aaep replay --visualize``: what happened in a recording, as text, as a drawing and as a page."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import click

from ..protocol.audit import Audit
from ..protocol.extensions import Registry
from ..recording import recordings
from ..recording.trace import Trace, render_html, render_svg, render_text
from ._command import CannotRun, load_extensions, open_input, to_printable
from ._output_files import check_output_files, write_output_file

__all__ = ["visualize"]

PROGRESS_MESSAGES: Final = 20_000  # messages between two reports


def visualize(
    files: Sequence[str],
    svg_file: str | None = None,
    html_file: str | None = None,
    *,
    notes: bool = False,
    show_progress: bool = False,
) -> int:
    """
    Tell what happened in recordings; draw it and show it if a file for that is given.

    Returns 0 if no rule was broken, and 1 if one was. ``-`` is standard input.
    """
    targets = [name for name in (svg_file, html_file) if name is not None]
    check_output_files(files, targets)
    known, trace = load_extensions(), Trace()
    for file in files:
        try:
            with open_input(file) as stream:
                _trace_file(trace, file, stream, known, show_progress=show_progress)
        except recordings.UnreadableRecording as error:
            raise CannotRun(f"{_format_name(file)}: {to_printable(str(error))}") from error
    try:
        for line in render_text(trace, notes=notes):
            click.echo(to_printable(line))
        sys.stdout.flush()
    finally:  # also if nobody reads on what is printed
        if svg_file is not None:
            write_output_file(svg_file, render_svg(trace), private=True)
        if html_file is not None:
            write_output_file(html_file, render_html(trace), private=True)
    for target in targets:
        click.echo(f"aaep: Wrote {to_printable(target)}.", err=True)
    return 1 if any(track.severity_counts["error"] for track in trace.session_traces) else 0


def _trace_file(trace: Trace, file: str, stream: IO[bytes], registry: Registry, *, show_progress: bool) -> None:
    recording = recordings.open_recording(stream)
    trace.begin_recording(_format_name(file, short=True), Audit(registry, whole=recording.is_whole))
    before = trace.message_count
    with _reduced_gc():
        for heard in recordings.iter_lines(recording):
            if heard.fault is not None:
                trace.add_fault(heard.fault, heard.number)
            if heard.gap:
                trace.add_gap(heard.gap, heard.why, heard.number, heard.at, heard.via)
            elif heard.raw:
                trace.feed(heard.raw, heard.number, heard.at, heard.via, heard.dir)
                if show_progress and (trace.message_count - before) % PROGRESS_MESSAGES == 0:
                    click.echo(f"{trace.message_count:,} messages read.", err=True)
    trace.end_recording()
    if trace.message_count == before:
        raise recordings.UnreadableRecording("There is no message in it that could be read.")


def _format_name(file: str, *, short: bool = False) -> str:
    return "standard input" if file == "-" else to_printable(Path(file).name if short else file, 300)


@contextmanager
def _reduced_gc() -> Iterator[None]:
    """Reading makes many objects that stay, and hardly a cycle; looking for cycles all the time would cost more."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
