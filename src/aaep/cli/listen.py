"""``aaep listen``: a terminal reader for an agent, with keys to answer its prompts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import click

from ..errors import AaepError
from ..outputs.printer import LinePrinter
from ..outputs.sender import Reader
from ..outputs.stdin import NoInput, detect_input
from ..outputs.terminal import Terminal
from ..presentation.announce import Announcement, Preferences
from ..presentation.earcons import EARCONS, Earcon
from ..protocol.codec import encode
from ..protocol.events import Envelope
from ..protocol.fields import Verbosity
from ..subscriber.connection import Reconnect
from ..subscriber.request import Terms
from ..subscriber.status import Status
from ..subscriber.subscriber import Subscriber
from ..transports.base import ChannelLost, find_transport
from ._command import AaepCommand, CannotRun, IntegerRange, LanguageTagType, find_languages, to_json_line
from ._options import CA_OPTION, CERT_OPTION, TOKEN_OPTION, ClientCertificate, build_connect_options, silence_logging

__all__ = ["main"]


@click.command("listen", cls=AaepCommand, example="aaep listen http://127.0.0.1:8137 --language en-GB")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event; all else goes to stderr.")
@click.option("--announcements", is_flag=True, help="Print one JSON object per announcement; all else goes to stderr.")
@click.option("--session", metavar="ID", default="", help="Only this session.")
@click.option(
    "--verbosity",
    type=click.Choice(["terse", "normal", "detailed"]),
    default="normal",
    help="How much is said. Default: normal.",
)
@click.option(
    "--language",
    "languages",
    type=LanguageTagType(),
    multiple=True,
    envvar="AAEP_LANGUAGE",
    help="The languages you want, the best first, such as yo-NG,en. Default: AAEP_LANGUAGE, else that of the system.",
)
@click.option("--rate", type=IntegerRange(1, 100_000), metavar="N", help="At most N events a second.")
@click.option("--replies/--no-replies", default=True, help="Whether prompts can be answered here. Default: they can.")
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
@click.option("--states", is_flag=True, help="Say also when the agent changes what it is doing.")
@click.option("--signs", is_flag=True, help="Read the signs of markdown as signs.")
@click.option(
    "--bell",
    "bells",
    type=click.Choice(EARCONS),
    multiple=True,
    help="Ring the terminal's bell for this too. May be repeated.",
)
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
    url: str,
    as_json: bool,
    announcements: bool,
    session: str,
    verbosity: str,
    languages: tuple[str, ...],
    rate: int | None,
    replies: bool,
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
    trust: str | None,
    once: bool,
    states: bool,
    signs: bool,
    bells: tuple[Earcon, ...],
    name: str | None,
    wait: bool,
    reconnect: str,
) -> int:
    """Listen to the agent at URL: whole sentences, one on each line, and keys to answer its prompts.

    Keys: a accept, r refuse, m more, s say it again, o next open prompt, b back, f forward, d do not disturb,
    v verbosity, t more time, q quit, ? help.
    Accepting takes a second key if it is risky or cannot be undone, and while several prompts are open. If standard
    input is not a terminal, commands are read from it, one on each line: accept, reject, next, the number of a choice,
    an answer.

    A new prompt waits while you answer another one. Quitting asks what is to become of open prompts.

    Exits with 0 when the session has ended or you quit, 1 when the connection was lost for good, and 2 when there
    never was one.
    """
    if as_json and announcements:
        raise CannotRun("Standard output is for events or for announcements. Give --json or --announcements.")
    typed = detect_input(sys.stdin)
    replies = replies and not isinstance(typed, NoInput)
    options = build_connect_options(url, token, ca, own)
    wanted = find_languages(languages, os.environ)
    # What the system is set to is no reason to be refused by an agent that speaks English only.
    terms = Terms(languages=wanted if languages else (*wanted, "en-US"), max_events_per_second=rate)
    spoken = cast(Verbosity, verbosity)

    def connect(on_status: Callable[[Status], None]) -> Reader:
        return Subscriber(
            url,
            name=name or "AAEP for Python",
            replies=replies,
            verbosity=spoken,
            terms=terms,
            connect=options,
            reconnect=Reconnect(after_loss=reconnect != "never", after_goodbye=reconnect == "always", at_start=wait),
            trust=trust,
            on_status=on_status,
        )

    silence_logging()

    try:
        find_transport(url)
        return Terminal(
            connect,
            typed,
            LinePrinter(sys.stderr if as_json or announcements else sys.stdout),
            preferences=Preferences(verbosity=spoken, languages=wanted, markdown=not signs, states=states),
            replies=replies,
            session_id=session,
            once=once,
            earcons=bells,
            on_event=_print_event if as_json else None,
            on_announcement=_print_announcement if announcements else None,
        ).run()
    except ChannelLost as error:
        raise CannotRun(f"{error} Start the agent or check the address. With --wait it is waited for.") from error
    except AaepError as error:
        raise CannotRun(str(error)) from error


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
