"""``aaep replay --visualize``: the trace of a recording as text, as a drawing and as a page."""

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

PROGRESS_MESSAGES: Final = 20_000  # messages between two lines of progress


def visualize(
    files: Sequence[str],
    svg_file: str | None = None,
    html_file: str | None = None,
    *,
    notes: bool = False,
    show_progress: bool = False,
) -> int:
    """
    Print the trace of recordings as text, and write a drawing and a page if files are given for them.

    Returns 0 if no rule was broken, and 1 if one was. ``-`` is standard input.
    """
    targets = [name for name in (svg_file, html_file) if name is not None]
    check_output_files(files, targets)
    registry = load_extensions()
    trace = Trace()
    for file in files:
        try:
            with open_input(file) as stream:
                _trace_file(trace, file, stream, registry, show_progress=show_progress)
        except recordings.UnreadableRecording as error:
            raise CannotRun(f"{_format_name(file)}: {to_printable(str(error))}") from error
    try:
        for line in render_text(trace, notes=notes):
            click.echo(to_printable(line))
        sys.stdout.flush()
    finally:  # also if standard output was closed by its reader
        if svg_file is not None:
            write_output_file(svg_file, render_svg(trace), private=True)
        if html_file is not None:
            write_output_file(html_file, render_html(trace, notes=notes), private=True)
    for target in targets:
        click.echo(f"aaep: Wrote {to_printable(target)}.", err=True)
    return 1 if any(session.severity_counts["error"] for session in trace.session_traces) else 0


def _trace_file(trace: Trace, file: str, stream: IO[bytes], registry: Registry, *, show_progress: bool) -> None:
    recording = recordings.open_recording(stream)
    trace.begin_recording(_format_name(file, short=True), Audit(registry, whole=recording.is_whole))
    previous_count = trace.message_count
    with _reduced_gc():
        for line in recordings.iter_lines(recording):
            if line.fault is not None:
                trace.add_fault(line.fault, line.number)
            if line.gap:
                trace.add_gap(line.gap, line.why, line.number, line.at, line.via)
            elif line.raw:
                trace.feed(line.raw, line.number, line.at, line.via, line.dir)
                if show_progress and (trace.message_count - previous_count) % PROGRESS_MESSAGES == 0:
                    click.echo(f"{trace.message_count:,} messages read.", err=True)
    trace.end_recording()
    if trace.message_count == previous_count:
        raise recordings.UnreadableRecording("There is no message in it that could be read.")


def _format_name(file: str, *, short: bool = False) -> str:
    return "standard input" if file == "-" else to_printable(Path(file).name if short else file, 300)


@contextmanager
def _reduced_gc() -> Iterator[None]:
    """Collect garbage less often: reading makes many lasting objects and hardly any cycles."""
    previous = gc.get_threshold()
    gc.set_threshold(50_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*previous)
