"""``aaep replay``: replay a recording as a live agent."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Final, cast

import click

from ..errors import AaepError
from ..journal.base import Retention
from ..journal.memory import MemoryJournal
from ..producer.producer import ManifestOptions, Producer
from ..protocol.fields import get_member
from ..recording.capture import CaptureError
from ..recording.replay_plan import ReplayPlan
from ..recording.replayer import Replayer, ReplyPolicy
from ..transports.base import UnprotectedAddress
from ..transports.options import ConnectOptions
from ._command import (
    PROGRESS_OPTION,
    AaepCommand,
    CannotRun,
    FiniteRange,
    build_interrupt,
    end_on_signals,
    format_count,
    load_extensions,
    open_stdin,
    to_printable,
)
from ._options import CA_OPTION, CERT_OPTION, ClientCertificate, build_connect_options

__all__ = ["main"]

PROGRESS_INTERVAL: Final = 10.0  # seconds between two lines of progress
_PLAYBACK_OPTIONS: Final = (
    "urls",
    "hub",
    "token",
    "ca",
    "own",
    "speed",
    "no_delay",
    "loop",
    "wait",
    "on_reply",
    "keep_ids",
)
_MAX_JOURNAL_BYTES: Final = 16 * 1024 * 1024  # replayed events that are kept for readers that reconnect


@click.command("replay", cls=AaepCommand, example="aaep replay session.ndjson --speed 2")
@click.argument("file", metavar="FILE|-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--listen",
    "urls",
    metavar="URL",
    multiple=True,
    help="The address for readers. May be repeated. Default: a free port of this machine.",
)
@click.option("--hub", metavar="URL", help="Go to this hub instead, as its agents do; see aaep serve.")
@click.option(
    "--token", envvar="AAEP_TOKEN", help="The bearer token for the hub. Better set AAEP_TOKEN: others see options."
)
@CA_OPTION
@CERT_OPTION
@click.option(
    "--speed", type=FiniteRange(min=0, min_open=True), default=1.0, metavar="N", help="N times as fast. Default: 1."
)
@click.option("--no-delay", is_flag=True, help="As fast as the readers take it. Prompts wait all the same.")
@click.option("--loop", is_flag=True, help="Begin again at the end, until you press Control-C.")
@click.option(
    "--wait/--no-wait",
    default=True,
    help="Whether to begin when somebody listens; at a hub, somebody who can answer. Default: wait.",
)
@click.option(
    "--on-reply",
    type=click.Choice(["recorded", "given", "accept", "reject"]),
    default="recorded",
    help="How it goes on when a prompt was answered: as recorded, whatever the answer; as the answer given says; or as "
    "if it had been accept or reject. Where the recording went another way, the session stops. Default: recorded.",
)
@click.option(
    "--keep-ids",
    is_flag=True,
    help="Keep the ids of events and sessions instead of making new ones. Times and tokens are new all the same.",
)
@click.option(
    "--visualize", "as_trace", is_flag=True, help="Do not play it: tell what happened in it, and where it broke a rule."
)
@click.option(
    "--svg",
    "svg_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="With --visualize: draw it in this file.",
)
@click.option(
    "--html",
    "html_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="With --visualize: show it on this page.",
)
@click.option("--notes", is_flag=True, help="With --visualize: tell notes too.")
@PROGRESS_OPTION
@click.pass_context
def main(
    context: click.Context,
    *,
    file: str,
    urls: tuple[str, ...],
    hub: str | None,
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
    speed: float,
    no_delay: bool,
    loop: bool,
    wait: bool,
    on_reply: str,
    keep_ids: bool,
    as_trace: bool,
    svg_file: str | None,
    html_file: str | None,
    notes: bool,
    show_progress: bool,
) -> int:
    """Play the recording in FILE as a real agent: with handshakes, with what each reader asked for, and with prompts
    that wait for an answer.

    FILE is what aaep capture wrote, or holds one event on each line. Everything that is played has new ids and the
    present time, and says which event it was; nobody can answer the old prompts with it, nor these with old answers.
    A prompt that no reader could answer is answered by the recording.

    Exits with 0 when it has been played, 2 when it could not be, or the hub was not there, and 130 when you stopped
    it; with --visualize, with 1 when it broke a rule.
    """
    if as_trace:
        _reject_playback_options(context)
        from ._visualize import visualize  # noqa: PLC0415  # loaded only if it is needed

        return visualize((file,), svg_file, html_file, notes=notes, show_progress=show_progress)
    if svg_file is not None or html_file is not None or notes:
        raise click.UsageError("--svg, --html and --notes need --visualize.")
    if hub is None and (ca is not None or own is not None):
        raise click.UsageError(f"{'--cert' if ca is None else '--ca'} is for a hub. Give it with --hub.")
    if keep_ids and loop:
        raise click.UsageError("--keep-ids and --loop do not go together: readers hear each id once.")
    logging.getLogger("aaep").addHandler(logging.NullHandler())  # the command prints what matters itself
    try:
        registry = load_extensions()
        with _RereadableInput(file) as open_file, end_on_signals(build_interrupt), _HubWarningPrinter(hub):
            plan = ReplayPlan(open_file, registry, on_progress=partial(_print_lines_read, show_progress=show_progress))
            _print_summary(plan, file)
            with _build_producer(plan, urls, hub, build_connect_options(hub or "", token, ca, own)) as producer:
                replayer = Replayer(
                    producer,
                    plan,
                    on_reply=cast(ReplyPolicy, on_reply),
                    speed=None if no_delay else speed,
                    keep_ids=keep_ids,
                    report=lambda text: click.echo(to_printable(text), err=True),
                )
                _print_invitation(replayer, hub, wait=wait)
                with _ProgressPrinter(replayer, enabled=show_progress):
                    # A hub reports only the readers that can answer.
                    replayer.play(rounds=None if loop else 1, wait=wait, replies=hub is not None)
            if hub is not None and producer.hub.sessions.unheard_by_hub():
                raise CannotRun("The hub was not there, so nobody heard it. Start it: aaep serve. Then play it again.")
            click.echo(f"Played {format_count(replayer.played_count, 'event')}.", err=True)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        return 0 if loop else 130
    except UnprotectedAddress as error:
        advice = "A recording is played on this one, or at a hub: listen on 127.0.0.1, or use --hub."
        raise CannotRun(f"{error.url} can be reached from other machines. {advice}") from error
    except CaptureError as error:
        raise CannotRun(f"{'Standard input' if file == '-' else to_printable(file)}: {error}") from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    return 0


def _reject_playback_options(context: click.Context) -> None:
    """Raise if the command line has options for playing, which ``--visualize`` would ignore."""
    options = [
        "/".join(option.opts + option.secondary_opts)
        for option in context.command.params
        if option.name in _PLAYBACK_OPTIONS
        # A value from the environment, such as AAEP_TOKEN, may be there for other commands.
        and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if options:
        raise click.UsageError(f"--visualize does not play it, so it takes no {' and no '.join(options)}.")


class _HubWarningPrinter(logging.Handler):
    """A log handler that prints the warnings about the connection to the hub while its block runs."""

    def __init__(self, hub: str | None) -> None:
        super().__init__(logging.WARNING)
        self._logger = logging.getLogger("aaep.attach") if hub is not None else None

    def __enter__(self) -> None:
        if self._logger is not None:
            self._logger.addHandler(self)

    def __exit__(self, *_: object) -> None:
        if self._logger is not None:
            self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print a log message on standard error."""
        click.echo(to_printable(record.getMessage()), err=True)


class _RereadableInput:
    """An input that can be opened several times; standard input is copied to a temporary file for that."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._copy: IO[bytes] | None = None

    def __enter__(self) -> Callable[[], IO[bytes]]:
        if self._file != "-":
            return partial(_open_file, self._file)
        stdin = open_stdin()
        self._copy = tempfile.NamedTemporaryFile(prefix="aaep-")  # closed in __exit__
        while block := stdin.read(1 << 20):
            self._copy.write(block)
        self._copy.flush()
        return partial(_open_file, self._copy.name)

    def __exit__(self, *_: object) -> None:
        if self._copy is not None:
            self._copy.close()


def _open_file(file: str) -> IO[bytes]:
    return open(file, "rb", buffering=1 << 18)


def _build_producer(plan: ReplayPlan, urls: tuple[str, ...], hub: str | None, options: ConnectOptions) -> Producer:
    """Return a producer with the identity of the recorded agent."""
    info = plan.producer
    languages = plan.languages or ("en-US",)
    return Producer(
        info.agent_id,
        name=get_member(info, "agent_name"),
        version=get_member(info, "agent_version"),
        model=get_member(info, "model"),
        listen=urls or (() if hub else ("http://127.0.0.1:0",)),
        hub=hub,
        hub_options=options,
        journal=MemoryJournal(retention=Retention(max_bytes=_MAX_JOURNAL_BYTES)),
        language=languages[0],
        manifest=ManifestOptions(languages=languages[1:], extensions=plan.extensions),
    )


def _print_summary(plan: ReplayPlan, file: str) -> None:
    name = "Standard input" if file == "-" else to_printable(file)
    contents = f"{format_count(plan.event_count, 'event')} of {format_count(plan.session_count, 'session')}"
    click.echo(f"{name} holds {contents}.", err=True)
    if plan.fault_count:
        click.echo(f"{format_count(plan.fault_count, 'line')} could not be read; aaep validate says why.", err=True)
    if plan.subscription_id is not None:
        click.echo(
            f"Several subscriptions were recorded at the same time. {to_printable(plan.subscription_id)} is played.",
            err=True,
        )


def _print_invitation(replayer: Replayer, hub: str | None, *, wait: bool) -> None:
    for url in replayer.producer.addresses:
        click.echo(f"Readers can join: aaep listen {url}", err=True)
    if wait:
        condition = "listens" if hub is None else "is there who can answer"
        click.echo(f"It begins when somebody {condition}.", err=True)


def _print_lines_read(lines: int, *, show_progress: bool) -> None:
    if show_progress and lines % 100_000 == 0:
        click.echo(f"{lines:,} lines read.", err=True)


class _ProgressPrinter:
    """Prints the number of replayed events at intervals while its block runs."""

    def __init__(self, replayer: Replayer, *, enabled: bool) -> None:
        self._replayer = replayer
        self._is_enabled = enabled
        self._stopped = threading.Event()

    def __enter__(self) -> None:
        if self._is_enabled:
            threading.Thread(target=self._run, name="aaep-replay", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()

    def _run(self) -> None:
        last_played = -1
        while not self._stopped.wait(PROGRESS_INTERVAL):
            played = self._replayer.played_count
            if played != last_played:
                with suppress(OSError):  # standard error is closed, which does not end the replay
                    total = self._replayer.plan.event_count
                    click.echo(f"Played {played:,} events; the recording holds {total:,}.", err=True)
            last_played = played
