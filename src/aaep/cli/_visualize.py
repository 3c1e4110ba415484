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
from ..recording import reader as recordings
from ..recording.trace.text import Trace, html, svg, text
from ._command import CannotRun, extensions, opened, plain
from ._output_files import ready, write

__all__ = ["visualize"]

PROGRESS: Final = 20_000  # messages between two reports


def visualize(
    files: Sequence[str],
    svg_file: str | None = None,
    html_file: str | None = None,
    *,
    notes: bool = False,
    audible: bool = False,
) -> int:
    """
    Tell what happened in recordings; draw it and show it if a file for that is given.

    Returns 0 if no rule was broken, and 1 if one was. ``-`` is standard input.
    """
    targets = [name for name in (svg_file, html_file) if name is not None]
    ready(files, targets)
    known, trace = extensions(), Trace()
    for file in files:
        try:
            with opened(file) as stream:
                _trace(trace, file, stream, known, audible=audible)
        except recordings.Unreadable as error:
            raise CannotRun(f"{_name(file)}: {plain(str(error))}") from error
    try:
        for line in text(trace, notes=notes):
            click.echo(plain(line))
        sys.stdout.flush()
    finally:  # also if nobody reads on what is printed
        if svg_file is not None:
            write(svg_file, svg(trace), private=True)
        if html_file is not None:
            write(html_file, html(trace), private=True)
    for target in targets:
        click.echo(f"aaep: Wrote {plain(target)}.", err=True)
    return 1 if any(track.grades["error"] for track in trace.tracks) else 0


def _trace(trace: Trace, file: str, stream: IO[bytes], known: Registry, *, audible: bool) -> None:
    recording = recordings.begin(stream)
    trace.open(_name(file, short=True), Audit(known, whole=recording.whole))
    before = trace.messages
    with _seldom_collected():
        for heard in recordings.hear(recording):
            if heard.fault is not None:
                trace.fault(heard.fault, heard.line)
            if heard.gap:
                trace.gap(heard.gap, heard.why, heard.line, heard.at, heard.via)
            elif heard.raw:
                trace.feed(heard.raw, heard.line, heard.at, heard.via, heard.dir)
                if audible and (trace.messages - before) % PROGRESS == 0:
                    click.echo(f"{trace.messages:,} messages read.", err=True)
    trace.close()
    if trace.messages == before:
        raise recordings.Unreadable("There is no message in it that could be read.")


def _name(file: str, *, short: bool = False) -> str:
    return "standard input" if file == "-" else plain(Path(file).name if short else file, 300)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Reading makes many objects that stay, and hardly a cycle; looking for cycles all the time would cost more."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
