"""``aaep acp-proxy``: what a coding agent in an editor asks is asked by ear too, and the first answer counts."""

from __future__ import annotations

import os
import shutil
import sys

import click

from ..adapters.acp_messages import AgentGone
from ..adapters.acp_proxy import AcpProxy
from ..errors import AaepError
from ..producer.producer import Producer
from ..transports.base import UnprotectedAddress
from ..transports.options import ConnectOptions
from ..version import __version__
from ._command import AaepCommand, CannotRun, to_printable
from ._options import silence_logging
from ._own_language import MANIFEST, find_own_language

__all__ = ["main"]


@click.command("acp-proxy", cls=AaepCommand, example="aaep acp-proxy -- goose acp")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- AGENT [ARGUMENTS]")
@click.option(
    "--listen",
    "urls",
    metavar="URL",
    multiple=True,
    help="Where readers can join. May be repeated. Default: where aaep listen --discover finds it.",
)
@click.option("--hub", metavar="URL", help="Go to this hub instead, as its agents do; see aaep serve.")
@click.option(
    "--token", envvar="AAEP_TOKEN", help="The bearer token for the hub. Better set AAEP_TOKEN: others see options."
)
def main(*, command: tuple[str, ...], urls: tuple[str, ...], hub: str | None, token: str | None) -> int:
    """Stand between an editor and its coding agent, so that what it asks is asked by ear too.

    Write this command where your editor has the command of its agent, with the agent's own behind it. The agent has
    to speak the Agent Client Protocol. Everything passes unchanged. When the agent asks for a permission, the editor
    asks as ever, and so does every reader; the first answer counts. Where nobody listens, the editor decides alone.

    Exits with the status of the agent when that ends, 0 when the editor ends, and 2 when it could not begin.
    """
    silence_logging()
    if shutil.which(command[0]) is None:
        raise CannotRun(f"{to_printable(command[0])} was not found.")
    name = os.path.basename(command[0])
    if hub is None and not urls:
        urls = (f"unix:{_to_socket_name(name)}-{os.getpid()}",)
    producer = _start_producer(name, urls, hub, token)
    try:
        proxy = AcpProxy(
            command,
            producer=producer,
            editor_input=sys.stdin.fileno(),
            editor_output=sys.stdout.fileno(),
            title=to_printable(name),
        )
        return proxy.run()
    except AgentGone as error:
        raise CannotRun(str(error)) from error
    finally:
        if producer is not None:
            producer.close()


def _start_producer(name: str, urls: tuple[str, ...], hub: str | None, token: str | None) -> Producer | None:
    """Return the producer that readers come to, or None after saying why there is none: the editor needs its agent."""
    try:
        producer = Producer(
            f"editor-{_to_socket_name(name)}",
            name=name,
            version=__version__,
            language=find_own_language(),
            manifest=MANIFEST,
            listen=urls,
            hub=hub,
            hub_options=ConnectOptions(token=token if hub is not None else None),
            journal=None,
        )
        producer.start()
    except UnprotectedAddress as error:
        raise CannotRun(f"{error.url} can be reached from other machines. Listen on 127.0.0.1.") from error
    except (AaepError, OSError) as error:
        click.echo(f"aaep: Nobody can listen, so the editor decides alone. {to_printable(str(error))}", err=True)
        return None
    for address in producer.addresses:  # standard output is the editor's
        click.echo(f"aaep: Readers can join: aaep listen {address}", err=True)
    return producer


def _to_socket_name(name: str) -> str:
    """Return a name of letters, digits and hyphens."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-") or "agent"
