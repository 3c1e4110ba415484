"""``aaep replay``: play a recording as the agent that it was."""

from __future__ import annotations

import logging
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

import click

from ..errors import AaepError
from ..journal.base import Retention
from ..journal.memory import MemoryJournal
from ..producer.producer import Producer
from ..protocol.fields import get_member
from ..recording.capture import CaptureError
from ..recording.replay_plan import Script
from ..recording.replayer import OnReply, Rehearsal
from ..transports.base import Reachable
from ._command import CannotRun, Finite, Verb, counted, extensions, incoming, interruptible, plain
from ._options import CA, CERT, Own, connecting

__all__ = ["main"]

PROGRESS: Final = 10.0  # seconds between two lines about how far it is
_PLAYING: Final = ("urls", "hub", "token", "ca", "own", "speed", "no_delay", "loop", "wait", "on_reply", "keep_ids")
_KEPT: Final = 16 * 1024 * 1024  # bytes of what was played that are kept for readers who come back


@click.command("replay", cls=Verb, example="aaep replay session.ndjson --speed 2")
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
@CA
@CERT
@click.option(
    "--speed", type=Finite(min=0, min_open=True), default=1.0, metavar="N", help="N times as fast. Default: 1."
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
    "--visualize", "shown", is_flag=True, help="Do not play it: tell what happened in it, and where it broke a rule."
)
@click.option("--svg", metavar="FILE", type=click.Path(dir_okay=False), help="With --visualize: draw it in this file.")
@click.option("--html", metavar="FILE", type=click.Path(dir_okay=False), help="With --visualize: show it on this page.")
@click.option("--notes", is_flag=True, help="With --visualize: tell notes too.")
@click.option("--progress", is_flag=True, help="Say on standard error how far it is, even if that is not a terminal.")
@click.pass_context
def main(
    context: click.Context,
    *,
    file: str,
    urls: tuple[str, ...],
    hub: str | None,
    token: str | None,
    ca: Path | None,
    own: Own,
    speed: float,
    no_delay: bool,
    loop: bool,
    wait: bool,
    on_reply: str,
    keep_ids: bool,
    shown: bool,
    svg: str | None,
    html: str | None,
    notes: bool,
    progress: bool,
) -> int:
    """Play the recording in FILE as a real agent: with handshakes, with what each reader asked for, and with prompts
    that wait for an answer.

    FILE is what aaep capture wrote, or holds one event on each line. Everything that is played has new ids and the
    present time, and says which event it was; nobody can answer the old prompts with it, nor these with old answers.
    A prompt that no reader could answer is answered by the recording.

    Exits with 0 when it has been played, 2 when it could not be, or the hub was not there, and 130 when you stopped
    it; with --visualize, with 1 when it broke a rule.
    """
    audible = progress or sys.stderr.isatty()
    if shown:
        _only_for_playing(context)
        from ._visualize import visualize  # noqa: PLC0415  # drawing is for those who want it

        return visualize((file,), svg, html, notes=notes, audible=audible)
    if svg is not None or html is not None or notes:
        raise click.UsageError("--svg, --html and --notes need --visualize.")
    if hub is None and (ca is not None or own is not None):
        raise click.UsageError(f"{'--cert' if ca is None else '--ca'} is for a hub. Give it with --hub.")
    if keep_ids and loop:
        raise click.UsageError("--keep-ids and --loop do not go together: readers hear each id once.")
    logging.getLogger("aaep").addHandler(logging.NullHandler())  # what matters is printed, in its own words
    try:
        known = extensions()
        with _source(file) as opened, interruptible(), _Told(hub):
            script = Script(opened, known, tick=partial(_tick, audible=audible))
            _introduce(script, file)
            with _producer(script, urls, hub, connecting(hub or "", token, ca, own)) as producer:
                rehearsal = Rehearsal(
                    producer,
                    script,
                    on_reply=cast(OnReply, on_reply),
                    speed=None if no_delay else speed,
                    keep_ids=keep_ids,
                    say=lambda text: click.echo(plain(text), err=True),
                )
                _invite(rehearsal, hub, wait=wait)
                with _Progress(rehearsal, audible=audible):
                    # A hub is there before its readers, and tells only of those who can answer.
                    rehearsal.play(rounds=None if loop else 1, wait=wait, replies=hub is not None)
            if hub is not None and producer.hub.sessions.unheard_by_hub():
                raise CannotRun("The hub was not there, so nobody heard it. Start it: aaep serve. Then play it again.")
            click.echo(f"Played {counted(rehearsal.played, 'event')}.", err=True)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        return 0 if loop else 130
    except Reachable as error:
        here = "A recording is played on this one, or at a hub: listen on 127.0.0.1, or use --hub."
        raise CannotRun(f"{error.url} can be reached from other machines. {here}") from error
    except CaptureError as error:
        raise CannotRun(f"{'Standard input' if file == '-' else plain(file)}: {error}") from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    return 0


def _only_for_playing(context: click.Context) -> None:
    """What says how to play is not passed over in silence where nothing is played. The environment may say so."""
    given = [
        "/".join(option.opts + option.secondary_opts)
        for option in context.command.params
        if option.name in _PLAYING
        and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"--visualize does not play it, so it takes no {' and no '.join(given)}.")


class _Told(logging.Handler):
    """Says that the hub is not there, or will not have us, which else nobody would know."""

    def __init__(self, hub: str | None) -> None:
        super().__init__(logging.WARNING)
        self._log = logging.getLogger("aaep.attach") if hub is not None else None

    def __enter__(self) -> None:
        if self._log is not None:
            self._log.addHandler(self)

    def __exit__(self, *_: object) -> None:
        if self._log is not None:
            self._log.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(plain(record.getMessage()), err=True)


class _source:
    """The file, which is read several times; what comes on standard input is put aside for that."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._aside: IO[bytes] | None = None

    def __enter__(self) -> Callable[[], IO[bytes]]:
        if self._file != "-":
            return partial(_opened, self._file)
        given = incoming()
        self._aside = tempfile.NamedTemporaryFile(prefix="aaep-")  # closed below
        while piece := given.read(1 << 20):
            self._aside.write(piece)
        self._aside.flush()
        return partial(_opened, self._aside.name)

    def __exit__(self, *_: object) -> None:
        if self._aside is not None:
            self._aside.close()


def _opened(file: str) -> IO[bytes]:
    return open(file, "rb", buffering=1 << 18)


def _producer(script: Script, urls: tuple[str, ...], hub: str | None, settings: dict[str, Any]) -> Producer:
    """The agent of the recording, to those who listen now."""
    info, languages = script.producer, script.languages or ("en-US",)
    return Producer(
        info.agent_id,
        name=get_member(info, "agent_name"),
        version=get_member(info, "agent_version"),
        model=get_member(info, "model"),
        listen=urls or (() if hub else ("http://127.0.0.1:0",)),
        hub=hub,
        hub_settings=settings or None,
        journal=MemoryJournal(retention=Retention(size=_KEPT)),
        language=languages[0],
        languages=languages[1:],
        extensions=script.extensions,
    )


def _introduce(script: Script, file: str) -> None:
    name = "Standard input" if file == "-" else plain(file)
    holds = f"{counted(script.events, 'event')} of {counted(script.sessions, 'session')}"
    click.echo(f"{name} holds {holds}.", err=True)
    if script.faults:
        click.echo(f"{counted(script.faults, 'line')} could not be read; aaep validate says why.", err=True)
    if script.via is not None:
        click.echo(f"Several subscriptions were recorded at the same time. {plain(script.via)} is played.", err=True)


def _invite(rehearsal: Rehearsal, hub: str | None, *, wait: bool) -> None:
    for url in rehearsal.producer.addresses:
        click.echo(f"Readers can join: aaep listen {url}", err=True)
    if wait:
        who = "listens" if hub is None else "is there who can answer"
        click.echo(f"It begins when somebody {who}.", err=True)


def _tick(lines: int, *, audible: bool) -> None:
    if audible and lines % 100_000 == 0:
        click.echo(f"{lines:,} lines read.", err=True)


class _Progress:
    """Says now and then how far it is."""

    def __init__(self, rehearsal: Rehearsal, *, audible: bool) -> None:
        self._rehearsal, self._audible = rehearsal, audible
        self._over = threading.Event()

    def __enter__(self) -> None:
        if self._audible:
            threading.Thread(target=self._run, name="aaep-replay", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _run(self) -> None:
        said = -1
        while not self._over.wait(PROGRESS):
            played = self._rehearsal.played
            if played != said:
                with suppress(OSError):  # nobody sees how far it is; it goes on all the same
                    held = self._rehearsal.script.events
                    click.echo(f"Played {played:,} events; the recording holds {held:,}.", err=True)
            said = played
