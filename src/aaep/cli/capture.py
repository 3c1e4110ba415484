"""``aaep capture``: write down what passes between an agent and a reader."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click

from ..errors import AaepError
from ..identity.origins import TRANSPORTS
from ..outputs.printer import LinePrinter
from ..outputs.sender import Reader
from ..outputs.stdin import InputSource, NoInput, detect_input
from ..outputs.terminal import Terminal
from ..protocol.codec import canonical_type
from ..protocol.events import CORE_EVENTS
from ..protocol.subscription import matches_pattern
from ..recording.capture import CaptureWriter, LineFile
from ..subscriber.status import Status
from ..subscriber.subscriber import Subscriber
from ..transports.base import ChannelLost, transport
from ._command import (
    AaepCommand,
    CannotRun,
    FiniteRange,
    IntegerRange,
    LanguageTagType,
    format_count,
    interrupt_on_sigterm,
    to_printable,
)
from ._options import CA_OPTION, CERT_OPTION, TOKEN_OPTION, ClientCertificate, build_channel_settings, silence_logging

__all__ = ["main"]

PROGRESS_INTERVAL: Final = 10.0  # seconds between two lines about how far it is
_EXIT_INTERRUPTED: Final = 130
_TYPE_PATTERN: Final = re.compile(r"[^\s:*]+:[^\s*]*\*?")  # a prefix, and of the name as much as is wanted


def _validate_types(_context: click.Context, _option: click.Parameter, types: tuple[str, ...]) -> tuple[str, ...]:
    """CAP-026 §5.3.1.7: a whole type, or its beginning and a star. What can match nothing would record nothing."""
    for given in types:
        if given == "*" or _TYPE_PATTERN.fullmatch(canonical_type(given)):
            continue
        meant = [
            start + given
            for start in ("aaep:agent.", "aaep:")
            if any(matches_pattern(start + given, one) for one in CORE_EVENTS)
        ]
        right = (
            meant[0]
            if meant
            else "a type such as aaep:agent.tool.invoked, or its beginning and a *, as aaep:agent.tool.*"
        )
        raise click.BadParameter(f"{given!r} is no type of events. Write {right}.")
    return types


@click.command("capture", cls=AaepCommand, example="aaep capture http://127.0.0.1:8137 -o session.ndjson --duration 60")
@click.argument("url")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Where to write; - is standard output. A file that is there is never written over.",
)
@click.option("--append", is_flag=True, help="Go on with a capture that is there.")
@click.option("--duration", type=FiniteRange(min=0, min_open=True), metavar="SECONDS", help="Stop after that time.")
@click.option("--max-events", "most", type=IntegerRange(min=1), metavar="N", help="Stop after N events.")
@click.option(
    "--filter",
    "types",
    metavar="TYPE",
    multiple=True,
    callback=_validate_types,
    help="Ask for events of this type only, such as aaep:agent.tool.*. May be repeated. Critical ones always come.",
)
@click.option("--session", metavar="ID", default="", help="Keep the events of this session only.")
@click.option(
    "--replies",
    is_flag=True,
    help="Be a reader that can answer too, with the keys of aaep listen; the answers are recorded.",
)
@click.option(
    "--language",
    "languages",
    type=LanguageTagType(),
    multiple=True,
    help="A language you want. May be repeated, the best first.",
)
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
@click.option("--wait/--no-wait", default=True, help="Whether to wait until there is somebody. Default: wait.")
@click.option("--progress", is_flag=True, help="Say on standard error how far it is, even if that is not a terminal.")
def main(
    *,
    url: str,
    path: str,
    append: bool,
    duration: float | None,
    most: int | None,
    types: tuple[str, ...],
    session: str,
    replies: bool,
    languages: tuple[str, ...],
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
    wait: bool,
    progress: bool,
) -> int:
    """Record the agent at URL: every message in both directions, one JSON object on each line.

    It only listens, unless you say --replies, and goes on until the agent ends it, the time is up, or you press
    Control-C. What it wrote ends with a whole line in any case. A connection that is lost is made again, and the gap
    is marked. aaep validate, aaep replay and aaep conformance capture read what it writes.

    Exits with 0 when something was recorded and it was ended on purpose, 1 when the connection was lost for good, and
    2 when there never was one or the file could not be written.
    """
    silence_logging()
    wishes: dict[str, Any] = {"languages": languages or None, "include": types or None}
    given = {key: value for key, value in wishes.items() if value is not None} | build_channel_settings(
        url, token, ca, own
    )
    over = threading.Event()
    typed = detect_input(sys.stdin) if replies else NoInput()
    if replies and isinstance(typed, NoInput):  # an agent must not wait for an answer that cannot come
        raise CannotRun("--replies needs a standard input, for the answers. Leave it out to listen only.")
    try:
        transport(url)
        lines = LineFile(sys.stdout.fileno() if path == "-" else path, append=append)
        if lines.has_dropped_partial_line:
            click.echo("aaep: The last line of the capture was cut, and was taken away.", err=True)
        way = TRANSPORTS.get(urlsplit(url).scheme.lower(), "")
        with CaptureWriter(
            lines, source=_redact_url(url), transport=way, session_id=session, max_events=most, on_done=over.set
        ) as capture:

            def connect(tell: Callable[[Status], None]) -> Subscriber:
                def both(status: Status) -> None:
                    capture.record_status(status)
                    tell(status)

                return Subscriber(
                    url, name="aaep capture", replies=replies, wait=wait, tell=both, record=capture.record, **given
                )

            if replies:
                status = _record_and_reply(connect, typed, over, duration, session)
            else:
                status = _record_only(connect, capture, over, duration, show_progress=progress or sys.stderr.isatty())
            return _print_summary(capture, path, status)
    except ChannelLost as error:
        raise CannotRun(f"{error} Start the agent or check the address. With --wait it is waited for.") from error
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _record_only(
    connect: Callable[[Callable[[Status], None]], Subscriber],
    capture: CaptureWriter,
    over: threading.Event,
    duration: float | None,
    *,
    show_progress: bool,
) -> int:
    """Take what comes, until it is over; only to have it recorded."""
    subscriber = connect(_StatusPrinter())
    failed: list[AaepError] = []

    def take() -> None:
        try:
            for _ in subscriber:
                pass
        except AaepError as error:
            failed.append(error)
        finally:
            over.set()

    until = None if duration is None else time.monotonic() + duration
    with interrupt_on_sigterm():
        try:
            threading.Thread(target=take, name="aaep-capture", daemon=True).start()
            click.echo("Recording. Stop with Control-C.", err=True)
            while not over.wait(
                PROGRESS_INTERVAL if until is None else max(0.0, min(PROGRESS_INTERVAL, until - time.monotonic()))
            ):
                if until is not None and time.monotonic() >= until:
                    break
                if show_progress:
                    click.echo(f"So far {_format_counts(capture)}.", err=True)
        except KeyboardInterrupt:
            pass  # the usual way to end it
        finally:
            subscriber.close()
    if failed and not capture.message_count:
        raise failed[0]
    if failed:
        click.echo(f"The connection has ended for good. {to_printable(str(failed[0]))}", err=True)
    return 1 if failed else 0


def _record_and_reply(
    connect: Callable[[Callable[[Status], None]], Subscriber],
    typed: InputSource,
    over: threading.Event,
    duration: float | None,
    session: str,
) -> int:
    """Be a reader like ``aaep listen``, and have it recorded."""
    made: list[Subscriber] = []

    def reader(tell: Callable[[Status], None]) -> Reader:
        made.append(connect(tell))
        return made[0]

    def end() -> None:
        over.wait(duration)
        for subscriber in made:
            subscriber.close()

    threading.Thread(target=end, name="aaep-capture", daemon=True).start()
    try:
        # On standard error: what is recorded may go to standard output.
        status = Terminal(reader, typed, LinePrinter(sys.stderr), session_id=session).run()
    finally:
        for subscriber in made:
            subscriber.close()
    return 0 if status == _EXIT_INTERRUPTED else status


def _print_summary(capture: CaptureWriter, path: str, status: int) -> int:
    if isinstance(capture.error, BrokenPipeError):
        raise capture.error
    if capture.error is not None:
        why = capture.error.strerror or str(capture.error)
        raise CannotRun(f"{to_printable(path)}: {why}. What was written before ends with a whole line.")
    if not capture.message_count:
        raise CannotRun("Nothing was recorded, for nobody answered. Start the agent or check the address.")
    lost = (
        f" The connection was lost {format_count(capture.gap_count, 'time')}; that is marked."
        if capture.gap_count
        else ""
    )
    where = "" if path == "-" else f" in {to_printable(path)}"
    click.echo(f"Recorded {_format_counts(capture)}{where}.{lost}", err=True)
    return status


class _StatusPrinter:
    """Says how the connection is, once for each change and not at every try."""

    def __init__(self) -> None:
        self._last_kind = ""

    def __call__(self, status: Status) -> None:
        if status.kind in ("waiting", "resumed", "gap") and status.kind != self._last_kind:
            click.echo(to_printable(status.text), err=True)
        if status.kind not in ("connecting", "unread"):  # what could not be read is marked in the recording
            self._last_kind = status.kind


def _format_counts(capture: CaptureWriter) -> str:
    return f"{format_count(capture.message_count, 'message')}, {format_count(capture.event_count, 'event')} among them"


def _redact_url(url: str) -> str:
    """An address without what is secret in it: a capture is passed on."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
