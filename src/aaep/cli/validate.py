"""``aaep validate``: check recordings against the rules."""

from __future__ import annotations

import errno
import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import IO, Final

import click

from ..errors import ExtensionError
from ..protocol.audit import Audit
from ..protocol.extensions import Profile, Registry
from ..recording import recordings
from ._command import AaepCommand, CannotRun, IntegerRange, load_extensions, open_input, to_printable
from ._report import JsonLinesReport, TextReport

__all__ = ["main"]

_WRITE_ERRNOS: Final = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PROGRESS_LINES: Final = 100_000  # lines between two reports
PROGRESS_SECONDS: Final = 5.0  # or as long as this


@click.command("validate", cls=AaepCommand, example="aaep validate --strict session.ndjson")
@click.argument("files", metavar="[FILE...|-]", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per finding instead of text.")
@click.option(
    "--level",
    type=IntegerRange(1, 3),
    default=3,
    metavar="1|2|3",
    help="Check only what this level demands. Default: 3.",
)
@click.option("--strict", is_flag=True, help="Grade as a producer should grade itself: every broken MUST is an error.")
@click.option(
    "--max-findings",
    "most",
    type=IntegerRange(min=0),
    metavar="N",
    help="Show at most N findings and only count the rest. Default: 1000; with --json, all of them.",
)
@click.option("--notes", is_flag=True, help="Show notes too. With --json they are always there.")
@click.option(
    "--profile", "uris", metavar="URI", multiple=True, help="Check this installed profile too. May be repeated."
)
@click.option("--progress", is_flag=True, help="Say on standard error how far it is, even if that is not a terminal.")
@click.pass_context
def main(
    context: click.Context,
    *,
    files: tuple[str, ...],
    as_json: bool,
    level: int,
    strict: bool,
    most: int | None,
    notes: bool,
    uris: tuple[str, ...],
    progress: bool,
) -> None:
    """Check recordings: each message, and then each session as a whole.

    A FILE holds one message, a JSON list of messages, one message per line, or
    a capture. Without a FILE, or with -, standard input is read.

    Exits with 0 if there is no error, 1 if there is one, and 2 if something
    could not be checked.
    """
    known = load_extensions()
    profiles = [*_find_profiles(known, uris)]
    report = JsonLinesReport(most) if as_json else TextReport(most, notes=notes)
    audible = progress or sys.stderr.isatty()
    failed = 0
    for file in files or ("-",):
        audit = Audit(known, strict=strict, level=level, profiles=profiles)
        try:
            with open_input(file) as stream, _disabled_gc():
                _check_file(file, stream, audit, report, show_progress=audible)
        except ExtensionError as error:  # a check of a profile does more than it may
            raise CannotRun(str(error)) from error
        except (OSError, recordings.UnreadableRecording) as error:
            if isinstance(error, OSError) and error.errno in _WRITE_ERRNOS:
                raise  # what cannot be written is not the fault of what is read
            failed += 1
            why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            click.echo(f"aaep: {_format_name(file)}: {to_printable(why.removesuffix('.'))}.", err=True)
    report.finish(failed)
    context.exit(2 if failed else 1 if report.counts["error"] else 0)


def _check_file(
    file: str, stream: IO[bytes], audit: Audit, report: JsonLinesReport | TextReport, *, show_progress: bool
) -> None:
    due, late = PROGRESS_LINES, monotonic() + PROGRESS_SECONDS
    recording = recordings.open_recording(stream)
    noun = "messages" if recording.format == "document" else "lines"

    def tick(number: int) -> None:
        nonlocal due, late
        now = monotonic()
        if number < due and now < late:
            gc.collect(0)  # with the collector off, what refers to itself would stay for good
            return
        due, late = number + PROGRESS_LINES, now + PROGRESS_SECONDS
        gc.collect()
        if show_progress:
            findings = report.counts.total()
            click.echo(f"aaep: {_format_name(file)}: {number:,} {noun} read, {findings:,} findings so far.", err=True)

    audit.whole = audit.whole or recording.is_whole
    report.start_file(file)
    messages = recordings.audit_recording(recording, audit, report.add_finding, tick)
    for finding in audit.finish():
        report.add_finding(None, finding)
    report.finish_file(audit, messages)
    if not messages:
        raise recordings.UnreadableRecording("There is no message in it that could be read.")


def _format_name(file: str) -> str:
    return "standard input" if file == "-" else to_printable(file)


@contextmanager
def _disabled_gc() -> Iterator[None]:
    """Reading makes many objects and hardly a cycle; looking for cycles all the time would cost more than judging."""
    was_on = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()


def _find_profiles(registry: Registry, uris: Iterable[str]) -> Iterator[Profile]:
    for uri in uris:
        if uri not in registry.profiles:
            names = ", ".join(sorted(registry.profiles)) or "none"
            raise CannotRun(f"The profile {uri} is not installed. Installed: {names}.")
        yield registry.profiles[uri]
