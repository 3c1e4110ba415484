"""``aaep capture``: record the messages between an agent and a reader."""

from __future__ import annotations

import math
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from ..errors import AaepError
from ..identity.origins import TRANSPORTS, scheme_of
from ..outputs.printer import LinePrinter
from ..outputs.sender import Reader
from ..outputs.stdin import InputSource, NoInput, detect_input
from ..outputs.terminal import Terminal
from ..protocol.codec import canonical_type
from ..protocol.events import CORE_EVENTS
from ..protocol.subscription import is_pattern_match
from ..recording.capture import CaptureWriter, LineFile
from ..subscriber.connection import Reconnect
from ..subscriber.request import Terms
from ..subscriber.status import Status
from ..subscriber.subscriber import Subscriber
from ..transports.base import ChannelLost, find_transport
from ._command import (
    PROGRESS_OPTION,
    AaepCommand,
    CannotRun,
    FiniteRange,
    IntegerRange,
    LanguageTagType,
    build_interrupt,
    end_on_signals,
    find_languages,
    format_count,
    to_printable,
)
from ._options import CA_OPTION, CERT_OPTION, TOKEN_OPTION, ClientCertificate, build_connect_options, silence_logging

__all__ = ["main"]

PROGRESS_INTERVAL: Final = 10.0  # seconds between two lines of progress
StatusCallback = Callable[[Status], None]
_EXIT_INTERRUPTED: Final = 130
_TYPE_PATTERN: Final = re.compile(r"[^\s:*]+:[^\s*]*\*?")  # a prefix and a name, of which a star may replace the end


def _validate_types(_context: click.Context, _option: click.Parameter, types: tuple[str, ...]) -> tuple[str, ...]:
    """CAP-026 §5.3.1.7: refuse a filter that is neither a type nor the beginning of one with a star."""
    for pattern in types:
        if pattern == "*" or _TYPE_PATTERN.fullmatch(canonical_type(pattern)):
            continue
        suggestion = "a type such as aaep:agent.tool.invoked, or its beginning and a *, as aaep:agent.tool.*"
        for prefix in ("aaep:agent.", "aaep:"):
            if any(is_pattern_match(prefix + pattern, event_type) for event_type in CORE_EVENTS):
                suggestion = prefix + pattern
                break
        raise click.BadParameter(f"{pattern!r} is no type of events. Write {suggestion}.")
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
@click.option("--max-events", type=IntegerRange(min=1), metavar="N", help="Stop after N events.")
@click.option(
    "--filter",
    "types",
    metavar="TYPE",
    multiple=True,
    callback=_validate_types,
    help="Ask for events of this type only, such as aaep:agent.tool.*. May be repeated. Critical ones always come.",
)
@click.option("--session", "session_id", metavar="ID", default="", help="Keep the events of this session only.")
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
@PROGRESS_OPTION
def main(
    *,
    url: str,
    path: str,
    append: bool,
    duration: float | None,
    max_events: int | None,
    types: tuple[str, ...],
    session_id: str,
    replies: bool,
    languages: tuple[str, ...],
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
    wait: bool,
    show_progress: bool,
) -> int:
    """Record the agent at URL: every message in both directions, one JSON object on each line.

    It only listens, unless you say --replies, and goes on until the agent ends it, the time is up, or you press
    Control-C. What it wrote ends with a whole line in any case. A connection that is lost is made again, and the gap
    is marked. aaep validate, aaep replay and aaep conformance capture read what it writes.

    Exits with 0 when something was recorded and it was ended on purpose, 1 when the connection was lost for good, and
    2 when there never was one or the file could not be written.
    """
    silence_logging()
    options = build_connect_options(url, token, ca, own)
    terms = Terms(languages=find_languages(languages, {}) or ("en-US",), include=types or None)
    done = threading.Event()
    source = detect_input(sys.stdin) if replies else NoInput()
    if replies and isinstance(source, NoInput):  # an agent must not wait for an answer that cannot come
        raise CannotRun("--replies needs a standard input, for the answers. Leave it out to listen only.")
    try:
        find_transport(url)
        file = LineFile(sys.stdout.fileno() if path == "-" else path, append=append)
        if file.has_dropped_partial_line:
            click.echo("aaep: The last line of the capture was cut, and was taken away.", err=True)
        with CaptureWriter(
            file,
            source=_redact_url(url),
            transport=TRANSPORTS.get(scheme_of(url), ""),
            session_id=session_id,
            max_events=max_events,
            on_done=done.set,
        ) as capture:

            def connect(on_status: StatusCallback) -> Subscriber:
                def record_status(status: Status) -> None:
                    capture.record_status(status)
                    on_status(status)

                return Subscriber(
                    url,
                    name="aaep capture",
                    replies=replies,
                    terms=terms,
                    connect=options,
                    reconnect=Reconnect(at_start=wait),
                    on_status=record_status,
                    on_message=capture.record,
                )

            if replies:
                exit_status = _record_and_reply(connect, source, done, duration, session_id)
            else:
                exit_status = _record_only(connect, capture, done, duration, show_progress=show_progress)
            _print_summary(capture, path)
            return exit_status
    except ChannelLost as error:
        raise CannotRun(f"{error} Start the agent or check the address. With --wait it is waited for.") from error
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _record_only(
    connect: Callable[[StatusCallback], Subscriber],
    capture: CaptureWriter,
    done: threading.Event,
    duration: float | None,
    *,
    show_progress: bool,
) -> int:
    """Record without answering prompts until the end, and return the exit status."""
    subscriber = connect(_StatusPrinter())
    errors: list[AaepError] = []

    def receive_all() -> None:
        try:
            for _ in subscriber:
                pass
        except AaepError as error:
            errors.append(error)
        finally:
            done.set()

    deadline = math.inf if duration is None else time.monotonic() + duration
    with end_on_signals(build_interrupt):
        try:
            threading.Thread(target=receive_all, name="aaep-capture", daemon=True).start()
            click.echo("Recording. Stop with Control-C.", err=True)
            while not done.wait(max(0.0, min(PROGRESS_INTERVAL, deadline - time.monotonic()))):
                if time.monotonic() >= deadline:
                    break
                if show_progress:
                    click.echo(f"So far {_format_counts(capture)}.", err=True)
        except KeyboardInterrupt:
            pass  # the usual way to end it
        finally:
            subscriber.close()
    if errors and not capture.message_count:
        raise errors[0]
    if errors:
        click.echo(f"The connection has ended for good. {to_printable(str(errors[0]))}", err=True)
    return 1 if errors else 0


def _record_and_reply(
    connect: Callable[[StatusCallback], Subscriber],
    source: InputSource,
    done: threading.Event,
    duration: float | None,
    session_id: str,
) -> int:
    """Record while a terminal reader like that of ``aaep listen`` runs, and return the exit status."""
    subscribers: list[Subscriber] = []

    def connect_reader(on_status: StatusCallback) -> Reader:
        subscribers.append(connect(on_status))
        return subscribers[0]

    def close_when_done() -> None:
        done.wait(duration)
        for subscriber in subscribers:
            subscriber.close()

    threading.Thread(target=close_when_done, name="aaep-capture", daemon=True).start()
    try:
        # On standard error, because the capture may go to standard output.
        exit_status = Terminal(connect_reader, source, LinePrinter(sys.stderr), session_id=session_id).run()
    finally:
        for subscriber in subscribers:
            subscriber.close()
    return 0 if exit_status == _EXIT_INTERRUPTED else exit_status


def _print_summary(capture: CaptureWriter, path: str) -> None:
    """Print what was recorded; raise if writing failed or nothing was recorded."""
    if isinstance(capture.error, BrokenPipeError):
        raise capture.error
    if capture.error is not None:
        reason = capture.error.strerror or str(capture.error)
        raise CannotRun(f"{to_printable(path)}: {reason}. What was written before ends with a whole line.")
    if not capture.message_count:
        raise CannotRun("Nothing was recorded, for nobody answered. Start the agent or check the address.")
    gaps = ""
    if capture.gap_count:
        gaps = f" The connection was lost {format_count(capture.gap_count, 'time')}; that is marked."
    location = "" if path == "-" else f" in {to_printable(path)}"
    click.echo(f"Recorded {_format_counts(capture)}{location}.{gaps}", err=True)


class _StatusPrinter:
    """Prints the status of the connection when it changes, not at every attempt to connect."""

    def __init__(self) -> None:
        self._last_kind = ""

    def __call__(self, status: Status) -> None:
        if status.kind in ("waiting", "resumed", "gap") and status.kind != self._last_kind:
            click.echo(to_printable(status.text), err=True)
        if status.kind not in ("connecting", "unread"):  # a message that cannot be read is a gap in the capture
            self._last_kind = status.kind


def _format_counts(capture: CaptureWriter) -> str:
    return f"{format_count(capture.message_count, 'message')}, {format_count(capture.event_count, 'event')} among them"


def _redact_url(url: str) -> str:
    """Return a URL without user, password, query and fragment, which may be secret: captures are shared."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
