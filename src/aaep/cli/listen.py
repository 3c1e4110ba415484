"""``aaep listen``: a terminal reader for an agent, with keys to answer its prompts."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec

from ..errors import AaepError
from ..outputs.base import Output
from ..outputs.discovery import Discovery
from ..outputs.notifications import open_notifications
from ..outputs.preferences import build_preferences, list_sounds, open_outputs
from ..outputs.printer import LinePrinter
from ..outputs.readers import Readers
from ..outputs.sender import Reader
from ..outputs.sounds import SoundPlayer
from ..outputs.stdin import NoInput, detect_input
from ..outputs.terminal import Terminal
from ..presentation.announce import Announcement
from ..presentation.earcons import EARCONS, Earcon
from ..protocol.codec import encode
from ..protocol.events import Envelope
from ..settings.resolve import load_settings
from ..subscriber.connection import Reconnect
from ..subscriber.request import Terms
from ..subscriber.status import Status
from ..subscriber.subscriber import Subscriber
from ..transports.base import ChannelLost, find_transport
from ..transports.options import DEFAULT_CONNECT_OPTIONS
from ._command import AaepCommand, CannotRun, IntegerRange, find_languages, to_json_line
from ._daemon import hold_lock, install_unit, remove_unit
from ._options import (
    CA_OPTION,
    CERT_OPTION,
    LANGUAGE_OPTION,
    TOKEN_OPTION,
    ClientCertificate,
    build_all_connect_options,
    silence_logging,
)
from ._output_options import OutputOptions, braille_options, speech_options

__all__ = ["main"]

DISCOVERED_PATIENCE: Final = 60.0  # seconds without a connection after which one that was found is let go


@click.command("listen", cls=AaepCommand, example="aaep listen http://127.0.0.1:8137 --language en-GB")
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--discover", is_flag=True, help="Also find your agents on this machine, now and later.")
@click.option(
    "--daemon",
    is_flag=True,
    help="Listen in the background, without a terminal: speech as in your settings, and prompts as notifications.",
)
@click.option("--install-daemon", is_flag=True, help="Write a systemd unit that does so with each session, and end.")
@click.option("--remove-daemon", is_flag=True, help="Remove that unit, and end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event; all else goes to stderr.")
@click.option("--announcements", is_flag=True, help="Print one JSON object per announcement; all else goes to stderr.")
@click.option("--session", metavar="ID", default="", help="Only this session.")
@click.option(
    "--verbosity",
    type=click.Choice(["terse", "normal", "detailed"]),
    help="How much is said. Default: normal.",
)
@LANGUAGE_OPTION
@click.option("--rate", type=IntegerRange(1, 100_000), metavar="N", help="At most N events a second.")
@click.option("--replies/--no-replies", default=None, help="Whether prompts can be answered here. Default: they can.")
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
@click.option(
    "--trust",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Listen only to an agent that proves who it is, with a key of these.",
)
@click.option("--once", is_flag=True, help="Stop after the first session has ended.")
@click.option("--states", is_flag=True, default=None, help="Say also when the agent changes what it is doing.")
@click.option("--signs", is_flag=True, default=None, help="Read the signs of markdown as signs.")
@click.option(
    "--bell",
    "bells",
    type=click.Choice(EARCONS),
    multiple=True,
    help="Ring the terminal's bell for this too. May be repeated.",
)
@speech_options
@braille_options
@click.option("--name", help="What this reader is called at the other end.")
@click.option("--wait/--no-wait", default=True, help="Whether to wait until there is somebody. Default: wait.")
@click.option(
    "--reconnect",
    type=click.Choice(["always", "lost", "never"]),
    default="lost",
    help="When to connect again: also after the agent has ended, when the connection is lost, or never. Default: lost.",
)
def main(
    *,
    urls: tuple[str, ...],
    discover: bool,
    daemon: bool,
    install_daemon: bool,
    remove_daemon: bool,
    as_json: bool,
    announcements: bool,
    session: str,
    verbosity: str | None,
    languages: tuple[str, ...],
    rate: int | None,
    replies: bool | None,
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
    trust: str | None,
    once: bool,
    states: bool | None,
    signs: bool | None,
    bells: tuple[Earcon, ...],
    speech: OutputOptions,
    sounds: tuple[Earcon, ...],
    braille: OutputOptions,
    name: str | None,
    wait: bool,
    reconnect: str,
) -> int:
    """Listen to the agents at each URL: whole sentences, one on each line, and keys to answer their prompts.

    Keys: a accept, r refuse, m more, s say it again, o next open prompt, b back, f forward, d do not disturb,
    v verbosity, t more time, q quit, ? help. With --speak also: Space silence, p pause, k skip to now, full stop
    faster, comma slower. Accepting takes a second key if it is risky or cannot be undone, and while several prompts
    are open. If standard input is not a terminal, commands are read from it, one on each line: accept, reject, next,
    the number of a choice, an answer.

    A new prompt waits while you answer another one. Quitting asks what is to become of open prompts.

    Several agents are heard in turn and named where that is needed. One that is lost disturbs no other. Listening
    ends when all have ended.

    Without a URL, the addresses of the setting agents are listened to. Without these, or with --discover, so are all
    agents and the hub that you run on this machine, also those that begin later.

    With --daemon only one reader runs for each user. What takes a second key is answered in a terminal.

    Exits with 0 when the session has ended or you quit, 1 when the connection was lost for good, and 2 when there
    never was one.
    """
    if install_daemon or remove_daemon:
        (install_unit if install_daemon else remove_unit)()
        return 0
    _check_choice(daemon=daemon, as_json=as_json, announcements=announcements)
    given = find_languages(languages, {})
    options = {"verbosity": verbosity, "languages": given or None, "limits.events": rate, "replies": replies}
    options |= {"name": name, "states": states, "signs": signs, **speech, **braille}
    resolved = load_settings({key: value for key, value in options.items() if value is not None})
    settings = resolved.settings
    typed = NoInput() if daemon else detect_input(sys.stdin, single_keys=settings.keys == "single")
    wanted = resolved.languages
    phrases = resolved.phrases
    notifications = open_notifications(phrases) if daemon else None
    has_input = not isinstance(typed, NoInput) if notifications is None else notifications.can_answer
    can_reply = settings.replies and has_input
    urls = urls or (() if discover else settings.agents)
    discovers = discover or not urls
    if discovers and sys.platform == "win32":
        raise CannotRun("Agents are found by Unix sockets, which are not used here. Name an address.")
    connect_options = build_all_connect_options(urls, token, ca, own)
    terms = Terms(
        # What the system is set to is no reason to be refused by an agent that speaks English only.
        languages=settings.languages or tuple(dict.fromkeys((*wanted, "en-US"))),
        max_events_per_second=settings.limits.events or None,
        minimum_timeout=settings.time.minimum or None,
    )

    def connect_to(url: str, on_status: Callable[[Status], None]) -> Reader:
        is_named = url in connect_options
        return Subscriber(
            url,
            name=settings.name,
            replies=can_reply,
            verbosity=settings.verbosity,
            terms=terms,
            # A token is for whom it was meant, and never for what happens to be there.
            connect=connect_options.get(url, DEFAULT_CONNECT_OPTIONS),
            reconnect=Reconnect(
                after_loss=reconnect != "never",
                after_goodbye=is_named and (reconnect == "always" or (daemon and reconnect != "never")),
                at_start=is_named and wait,
                give_up_after=None if is_named else DISCOVERED_PATIENCE,
            ),
            trust=trust,
            on_status=on_status,
        )

    def connect(on_status: Callable[[Status], None]) -> Reader:
        if len(connect_options) == 1 and not discovers:
            return connect_to(urls[0], on_status)
        readers = Readers(on_status, replies=can_reply, is_open=discovers, phrases=phrases)
        for url in connect_options:
            readers.add(url, partial(connect_to, url))
        if discovers:
            from ..transports.unix.discovery import find_local_agents  # noqa: PLC0415  # not on Windows

            Discovery(readers, find_local_agents, connect_to, on_status, phrases=phrases).start()
        return readers

    silence_logging()

    sounds = sounds or list_sounds(settings)
    player = SoundPlayer(sounds)
    outputs: list[Output] = [] if notifications is None else [notifications]
    try:
        for url in urls:
            find_transport(url)
        outputs += open_outputs(msgspec.structs.replace(settings, languages=wanted))
        with hold_lock() if daemon else contextlib.nullcontext():
            return Terminal(
                connect,
                typed,
                LinePrinter(sys.stderr if as_json or announcements or daemon else sys.stdout),
                preferences=msgspec.structs.replace(build_preferences(settings), languages=wanted),
                replies=can_reply and not daemon,
                greeting=phrases["greeting-daemon"] if daemon else "",
                session_id=session,
                once=once,
                earcons=bells or (() if player.is_available or daemon else sounds),
                notices=resolved.problems,
                do_not_disturb=settings.do_not_disturb,
                max_interruptions_per_minute=settings.limits.interruptions,
                time_extension=settings.time.extension,
                on_earcon=player.play,
                outputs=outputs,
                terms=terms,
                may_say_less=settings.limits.say_less,
                on_event=_print_event if as_json else None,
                on_announcement=_print_announcement if announcements else None,
            ).run()
    except ChannelLost as error:
        raise CannotRun(f"{error} Start the agent or check the address. With --wait it is waited for.") from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    finally:
        player.close()


def _check_choice(*, daemon: bool, as_json: bool, announcements: bool) -> None:
    if daemon and (as_json or announcements):
        raise CannotRun("In the background nobody reads standard output. Leave --daemon out.")
    if daemon and sys.platform == "win32":
        raise CannotRun("Listening in the background is for Linux and macOS. Leave --daemon out.")
    if as_json and announcements:
        raise CannotRun("Standard output is for events or for announcements. Give --json or --announcements.")


def _print_event(event: Envelope) -> None:
    sys.stdout.buffer.write(to_json_line(json.loads(encode(event))))
    sys.stdout.buffer.flush()


def _print_announcement(said: Announcement, text: str) -> None:
    """Print an announcement as a JSON object; one that interrupts is critical, whatever its event is."""
    told = {
        "event_id": said.event_id,
        "type": said.event.type,
        "session_id": said.session_id,
        "text": text,
        "quoted": said.quoted,
        "urgency": "critical" if said.interrupts else said.urgency,
    }
    sys.stdout.buffer.write(to_json_line(told))
    sys.stdout.buffer.flush()
