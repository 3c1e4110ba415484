"""``aaep serve``: run a hub for many agents and their readers."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

from ..errors import AaepError
from ..hub.hub import Hub
from ..hub.relay.audience import make_audience_lookup
from ..hub.relay.relay import AgentRegistry
from ..identity.credentials import ROLES
from ..identity.origins import ENCRYPTED
from ..identity.peer import HUB_AGENT_ID
from ..journal.base import Journal
from ..journal.memory import MemoryJournal
from ..journal.sqlite import SqliteJournal
from ..protocol.attend_extension import ATTEND, attend_registry
from ..protocol.events import ProducerInfo
from ..protocol.messages import Manifest
from ..protocol.negotiation import Offer
from ..runtime.background import new_server_loop
from ..runtime.files import default_journal_path
from ..runtime.ids import format_timestamp
from ..transports.base import SharedServer
from ..transports.base import serve as open_server
from ..transports.options import ServerOptions, Tls
from ..transports.stdio.server import StdioServer
from ._command import AaepCommand, CannotRun, LanguageTagType, find_end_signals, find_languages, to_printable
from ._options import build_identity

__all__ = ["main"]

_ENCRYPTED_PREFIXES: Final = tuple(f"{scheme}:" for scheme in ENCRYPTED)
_WEB_PREFIXES: Final = ("http:", "https:", "ws:", "wss:", "asgi+http:")  # schemes that a browser can use
_OPTION_SPELLINGS: Final = (
    ("either tls=Tls(context=…) or ", ""),
    ("tls=Tls(cert=…, key=…)", "--tls-cert and --tls-key"),
    ("identity= or token=", "--tokens"),
    ("ca='", "--client-ca '"),
    ("issuer=", "--issuer"),
    ("audience=", "--audience"),
    ("cert='", "--tls-cert '"),
    ("key='", "--tls-key '"),
    ("cert=", "--tls-cert"),
    ("key=", "--tls-key"),
)


@click.command("serve", cls=AaepCommand, example="aaep serve --listen http://127.0.0.1:8137 --listen unix:hub")
@click.option(
    "--listen",
    "urls",
    metavar="URL",
    multiple=True,
    help="Where readers and agents may come: http, ws, unix and others. May be repeated. "
    "Default: http://127.0.0.1:8137 and ws://127.0.0.1:8137, which are one server.",
)
@click.option(
    "--stdio", is_flag=True, help="Serve who started this process, over standard input and output, and end with it."
)
@click.option("--name", default="AAEP hub", help="What readers see as its name. Default: AAEP hub.")
@click.option(
    "--journal",
    metavar="FILE",
    help="Where events are kept, for readers that come back. The word memory keeps them in no file. "
    "Default: aaep-hub.db in your own folder for AAEP.",
)
@click.option("--tls-cert", metavar="FILE", help="The certificate, for addresses that others can reach.")
@click.option("--tls-key", metavar="FILE", help="Its key.")
@click.option(
    "--tokens",
    metavar="FILE",
    help="Who may come, and as what; aaep token new writes one. Default: you, on this machine.",
)
@click.option("--jwks", metavar="PLACE", help="Keys of who signs JSON Web Tokens that count: a file or https address.")
@click.option("--issuer", default="", metavar="TEXT", help="Who that is, as the tokens name it.")
@click.option("--audience", default="", metavar="TEXT", help="What the tokens call this hub.")
@click.option("--client-ca", metavar="FILE", help="Who issues certificates to those who come, for mutual TLS.")
@click.option(
    "--certificate",
    "certificates",
    type=(str, str, click.Choice(ROLES)),
    metavar="NAME PRINCIPAL ROLE",
    multiple=True,
    help="Who has a certificate with that name, and as what; such as: CN:Ada ada replier. May be repeated.",
)
@click.option("--signing-key", metavar="FILE", help="Sign the manifest with this key; aaep manifest key new makes one.")
@click.option("--reached-at", metavar="URL", multiple=True, help="Where readers find it, beside where it listens.")
@click.option(
    "--origin",
    "origins",
    metavar="URL",
    multiple=True,
    help="A web page that may use it, such as https://reader.example. May be repeated. Default: none.",
)
@click.option(
    "--host-name",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="What an address of this machine is called elsewhere too, such as the end of a tunnel: hub.example, with its "
    "port unless that is the usual one. May be repeated.",
)
@click.option(
    "--language",
    "languages",
    type=LanguageTagType(),
    multiple=True,
    help="A language agents speak. May be repeated. Default: en-US.",
)
@click.option(
    "--log",
    "level",
    type=click.Choice(["warning", "info", "debug"]),
    default="info",
    help="How much is logged: what went wrong, who comes and goes too, or everything. Default: info.",
)
def main(
    urls: tuple[str, ...],
    stdio: bool,
    name: str,
    journal: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    tokens: str | None,
    jwks: str | None,
    issuer: str,
    audience: str,
    client_ca: str | None,
    certificates: tuple[tuple[str, str, str], ...],
    signing_key: str | None,
    reached_at: tuple[str, ...],
    origins: tuple[str, ...],
    hosts: tuple[str, ...],
    languages: tuple[str, ...],
    level: str,
) -> int:
    """Run a hub: one place for many agents, and for everybody who listens to them.

    Agents come to it with Producer(hub="ws://127.0.0.1:8137"), readers with aaep listen.

    An agent keeps the authority over its sessions and its questions. If it does not come back, its sessions are ended
    here and everybody is told.

    What happens is logged on standard error, but nothing of what was said, and no tokens. Exits with 0 when it was
    stopped, by Control-C, SIGTERM or SIGHUP, and 2 when it could not begin.
    """
    if stdio:
        urls = (*urls, "stdio:")
    tls = Tls(cert=tls_cert, key=tls_key, ca=client_ca)
    if tls != Tls() and not any(url.lower().startswith(_ENCRYPTED_PREFIXES) for url in urls):
        raise CannotRun(
            "--tls-cert and --tls-key are for encrypted addresses. Give one too: --listen https://127.0.0.1:8443"
        )
    if (client_ca is None) != (not certificates):
        raise CannotRun("--client-ca says which certificates count, and --certificate whose they are. Give both.")
    _check_web_options(urls, origins, hosts)
    try:
        identity = build_identity(tokens, jwks, issuer, audience, certificates)
        options = ServerOptions(identity=identity, tls=None if tls == Tls() else tls, origins=origins, hosts=hosts)
        sign = None if signing_key is None else _load_signer(signing_key)
        with _log_to_stderr(level), asyncio.Runner(loop_factory=new_server_loop) as runner:
            return runner.run(
                _serve(urls, _build_offer(name, languages, reached_at), _open_journal(journal), options, sign)
            )
    except AaepError as error:
        raise CannotRun(_use_option_names(str(error))) from error


class _LogFormatter(logging.Formatter):
    """A log formatter with UTC timestamps that escapes control characters in messages."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """Return the time of a log record in UTC."""
        return format_timestamp(record.created)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the message of a log record without control characters."""
        return to_printable(super().formatMessage(record))


@contextmanager
def _log_to_stderr(level: str) -> Iterator[None]:
    log, handler = logging.getLogger("aaep"), logging.StreamHandler()
    handler.setFormatter(_LogFormatter("%(asctime)s %(levelname)s: %(message)s"))
    before = log.level
    log.addHandler(handler)
    log.setLevel(level.upper())
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def _use_option_names(text: str) -> str:
    """Replace the names of Python parameters in an error text by those of the options."""
    for python, option in _OPTION_SPELLINGS:
        text = text.replace(python, option)
    return text


def _check_web_options(urls: tuple[str, ...], origins: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    """Raise an error if web origins or host names are given and no address can use them."""
    if urls and not any(url.lower().startswith(_WEB_PREFIXES) for url in urls):
        where = "Give one that browsers can reach too: --listen http://127.0.0.1:8137"
        if origins:
            raise CannotRun(f"--origin is for web pages, and none can use these addresses. {where}")
        if hosts:
            raise CannotRun(f"--host-name is for HTTP and WebSocket, and none of these addresses is. {where}")


def _open_journal(given: str | None) -> Journal:
    if given == "memory":
        return MemoryJournal()
    return SqliteJournal(default_journal_path(HUB_AGENT_ID) if given is None else given)


def _load_signer(path: str) -> Callable[[Manifest], str | None]:
    from ..identity.signed_manifests import ManifestSigner  # noqa: PLC0415  # the same
    from ..identity.signing_keys import SigningKey  # noqa: PLC0415  # it brings in the JOSE library, which few need

    return ManifestSigner(SigningKey.load(path))


def _build_offer(name: str, languages: tuple[str, ...], reached_at: tuple[str, ...]) -> Offer:
    return Offer(
        producer=ProducerInfo(agent_id=HUB_AGENT_ID, agent_name=name),
        languages=find_languages(languages, {}) or ("en-US",),
        registry=attend_registry(),
        namespaces=(ATTEND.namespace,),
        origins=reached_at,
    )


async def _serve(
    urls: tuple[str, ...],
    offer: Offer,
    journal: Journal,
    options: ServerOptions,
    sign: Callable[[Manifest], str | None] | None,
) -> int:
    several = options.identity is not None and getattr(options.identity, "is_multi_user", True)
    kept_for = make_audience_lookup(journal, is_multi_user=several)
    hub = Hub(offer, journal, loop=asyncio.get_running_loop(), audience=kept_for)
    hub.signer = sign
    hub.agents = relays = AgentRegistry(hub, is_multi_user=several)
    relays.restore_sessions()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, *find_end_signals()):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    try:
        for url in urls or ("http://127.0.0.1:8137", "ws://127.0.0.1:8137"):
            server = await open_server(hub, url, _select_options(url, options))
            # On standard error, because standard output may be a reader's connection.
            if isinstance(server, SharedServer):
                click.echo(f"The server at {server.server.url} also listens at {server.url}", err=True)
            else:
                click.echo(f"Listening at {server.url}", err=True)
        if sign is not None and hub.signed_offer.signed_manifest is None:
            raise CannotRun("A manifest is signed for addresses. Say what readers connect to: --reached-at https://…")
        for server in hub.servers:
            if isinstance(server, StdioServer):  # STDIO-010: end with the process that started this one
                server.ended.add_done_callback(lambda _: stopped.set())
        click.echo("Agents and readers can come. Press Ctrl-C to stop.", err=True)
        gc.freeze()  # what is loaded stays: looking through it again and again would hold up events for 30 ms
        await stopped.wait()
    finally:
        await relays.close()
        await hub.aclose()
        journal.close()
    click.echo("Stopped.", err=True)
    return 0


def _select_options(url: str, options: ServerOptions) -> ServerOptions:
    """Return the options that are meant for a URL: only an encrypted one has a certificate."""
    url = url.lower()
    if url.startswith(("unix:", "stdio:")):
        return ServerOptions()  # the system says who connects
    return ServerOptions(
        identity=options.identity,
        tls=options.tls if url.startswith(_ENCRYPTED_PREFIXES) else None,
        origins=options.origins if url.startswith(_WEB_PREFIXES) else (),
        hosts=options.hosts if url.startswith(_WEB_PREFIXES) else (),
    )
