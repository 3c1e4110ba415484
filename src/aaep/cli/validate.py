"""``aaep validate``: audit recordings and report the rules they break."""

from __future__ import annotations

import errno
import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import IO, Final

import click

from ..errors import ExtensionError
from ..protocol.audit import Audit
from ..protocol.extensions import Profile, Registry
from ..recording import recordings
from ._command import (
    PROGRESS_OPTION,
    AaepCommand,
    CannotRun,
    IntegerRange,
    load_extensions,
    open_input,
    to_printable,
)
from ._report import JsonLinesReport, TextReport

__all__ = ["main"]

_WRITE_ERRNOS: Final = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Progress is printed after so many lines or seconds, whichever comes first.
PROGRESS_LINES: Final = 100_000
PROGRESS_SECONDS: Final = 5.0


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
    type=IntegerRange(min=0),
    metavar="N",
    help="Show at most N findings and only count the rest. Default: 1000; with --json, all of them.",
)
@click.option("--notes", is_flag=True, help="Show notes too. With --json they are always there.")
@click.option(
    "--profile", "uris", metavar="URI", multiple=True, help="Check this installed profile too. May be repeated."
)
@PROGRESS_OPTION
@click.pass_context
def main(
    context: click.Context,
    *,
    files: tuple[str, ...],
    as_json: bool,
    level: int,
    strict: bool,
    max_findings: int | None,
    notes: bool,
    uris: tuple[str, ...],
    show_progress: bool,
) -> None:
    """Check recordings: each message, and then each session as a whole.

    A FILE holds one message, a JSON list of messages, one message per line, or
    a capture. Without a FILE, or with -, standard input is read.

    Exits with 0 if there is no error, 1 if there is one, and 2 if something
    could not be checked.
    """
    registry = load_extensions()
    profiles = [*_find_profiles(registry, uris)]
    report = JsonLinesReport(max_findings) if as_json else TextReport(max_findings, notes=notes)
    failed_files = 0
    for file in files or ("-",):
        audit = Audit(registry, strict=strict, level=level, profiles=profiles)
        try:
            with open_input(file) as stream, _disabled_gc():
                _audit_file(file, stream, audit, report, show_progress=show_progress)
        except ExtensionError as error:  # a check of a profile breaks the rules for checks
            raise CannotRun(str(error)) from error
        except (OSError, recordings.UnreadableRecording) as error:
            if isinstance(error, OSError) and error.errno in _WRITE_ERRNOS:
                raise  # the output failed, not the input
            failed_files += 1
            reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            click.echo(f"aaep: {_format_name(file)}: {to_printable(reason.removesuffix('.'))}.", err=True)
    report.finish(failed_files)
    if failed_files:
        context.exit(2)
    context.exit(1 if report.counts["error"] else 0)


def _audit_file(
    file: str, stream: IO[bytes], audit: Audit, report: JsonLinesReport | TextReport, *, show_progress: bool
) -> None:
    """Audit a file and add its findings to the report."""
    next_line = PROGRESS_LINES
    next_time = monotonic() + PROGRESS_SECONDS
    recording = recordings.open_recording(stream)
    noun = "messages" if recording.format == "document" else "lines"

    def on_progress(number: int) -> None:
        nonlocal next_line, next_time
        now = monotonic()
        if number < next_line and now < next_time:
            gc.collect(0)  # with the collector disabled, reference cycles would never be freed
            return
        next_line = number + PROGRESS_LINES
        next_time = now + PROGRESS_SECONDS
        gc.collect()
        if show_progress:
            findings = report.counts.total()
            click.echo(f"aaep: {_format_name(file)}: {number:,} {noun} read, {findings:,} findings so far.", err=True)

    audit.whole = audit.whole or recording.is_whole
    audit.has_manifest_address = not recording.is_from_pipes
    report.start_file(file)
    message_count = recordings.audit_recording(recording, audit, report.add_finding, on_progress)
    for finding in audit.finish():
        report.add_finding(None, finding)
    report.finish_file(audit, message_count)
    if not message_count:
        raise recordings.UnreadableRecording("There is no message in it that could be read.")


def _format_name(file: str) -> str:
    return "standard input" if file == "-" else to_printable(file)


@contextmanager
def _disabled_gc() -> Iterator[None]:
    """Disable the garbage collector: an audit makes many objects and hardly any cycles, and is much faster without."""
    was_enabled = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def _find_profiles(registry: Registry, uris: Iterable[str]) -> Iterator[Profile]:
    """Yield the installed profiles with these URIs."""
    for uri in uris:
        if uri not in registry.profiles:
            names = ", ".join(sorted(registry.profiles)) or "none"
            raise CannotRun(f"The profile {uri} is not installed. Installed: {names}.")
        yield registry.profiles[uri]
