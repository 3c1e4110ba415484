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
from ..recording import reader as recordings
from ._command import CannotRun, Verb, Whole, extensions, opened, plain
from ._report import JsonLines, Prose

__all__ = ["main"]

_WRITING: Final = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PROGRESS: Final = 100_000  # lines between two reports
SECONDS: Final = 5.0  # or as long as this


@click.command("validate", cls=Verb, example="aaep validate --strict session.ndjson")
@click.argument("files", metavar="[FILE...|-]", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per finding instead of text.")
@click.option(
    "--level",
    type=Whole(1, 3),
    default=3,
    metavar="1|2|3",
    help="Check only what this level demands. Default: 3.",
)
@click.option("--strict", is_flag=True, help="Grade as a producer should grade itself: every broken MUST is an error.")
@click.option(
    "--max-findings",
    "most",
    type=Whole(min=0),
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
    known = extensions()
    profiles = [*_profiles(known, uris)]
    report = JsonLines(most) if as_json else Prose(most, notes=notes)
    audible = progress or sys.stderr.isatty()
    failed = 0
    for file in files or ("-",):
        audit = Audit(known, strict=strict, level=level, profiles=profiles)
        try:
            with opened(file) as stream, _without_collector():
                _check(file, stream, audit, report, audible=audible)
        except ExtensionError as error:  # a check of a profile does more than it may
            raise CannotRun(str(error)) from error
        except (OSError, recordings.Unreadable) as error:
            if isinstance(error, OSError) and error.errno in _WRITING:
                raise  # what cannot be written is not the fault of what is read
            failed += 1
            why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            click.echo(f"aaep: {_name(file)}: {plain(why.removesuffix('.'))}.", err=True)
    report.end(failed)
    context.exit(2 if failed else 1 if report.counts["error"] else 0)


def _check(file: str, stream: IO[bytes], audit: Audit, report: JsonLines | Prose, *, audible: bool) -> None:
    due, late = PROGRESS, monotonic() + SECONDS
    recording = recordings.begin(stream)
    noun = "messages" if recording.form == "document" else "lines"

    def tick(number: int) -> None:
        nonlocal due, late
        now = monotonic()
        if number < due and now < late:
            gc.collect(0)  # with the collector off, what refers to itself would stay for good
            return
        due, late = number + PROGRESS, now + SECONDS
        gc.collect()
        if audible:
            findings = report.counts.total()
            click.echo(f"aaep: {_name(file)}: {number:,} {noun} read, {findings:,} findings so far.", err=True)

    audit.whole = audit.whole or recording.whole
    report.open(file)
    messages = recordings.judge(recording, audit, report.say, tick)
    for finding in audit.finish():
        report.say(None, finding)
    report.close(audit, messages)
    if not messages:
        raise recordings.Unreadable("There is no message in it that could be read.")


def _name(file: str) -> str:
    return "standard input" if file == "-" else plain(file)


@contextmanager
def _without_collector() -> Iterator[None]:
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


def _profiles(known: Registry, uris: Iterable[str]) -> Iterator[Profile]:
    for uri in uris:
        if uri not in known.profiles:
            names = ", ".join(sorted(known.profiles)) or "none"
            raise CannotRun(f"The profile {uri} is not installed. Installed: {names}.")
        yield known.profiles[uri]
