"""
What every transport offers, and how one is found by the scheme of a URL.

A transport is a package in ``transports/``. It gives a hub a
:class:`~aaep.hub.face.Server` and a subscriber a :class:`Channel`; nothing outside
``transports/`` knows how bytes travel.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any, Final, Protocol, cast
from urllib.parse import SplitResult
from weakref import WeakKeyDictionary

import msgspec

from ..errors import AaepError
from ..hub.face import HubFace, Server
from ..identity.origins import (
    TRANSPORTS,
    encrypted_scheme,
    is_loopback,
    same_listener,
    scheme_of,
    split_server_url,
    split_url,
    url_for_transport,
)
from ..identity.rate_limit import prepare_identity
from ..runtime.loop_errors import install_loop_error_handler
from .options import (
    DEFAULT_CONNECT_OPTIONS,
    DEFAULT_SERVER_OPTIONS,
    ConnectOptions,
    ServerOptions,
    Token,
    check_supported,
)

__all__ = [
    "AgentEnded",
    "Arrival",
    "Channel",
    "ChannelLost",
    "ChannelRefused",
    "Reachable",
    "SharedServer",
    "Token",
    "Transport",
    "asgi_application",
    "authorization",
    "connection_target",
    "serve",
    "transport",
    "type_of",
]


class ChannelLost(AaepError):
    """The connection broke, or could not be made. Trying again later may help."""


class ChannelRefused(AaepError):
    """
    The server answered and refuses us. Trying again as we are will not help.

    ``gone``: it does not know the subscription, or not any more. A new one may help (CF-092).
    """

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class Reachable(AaepError):
    """Other machines can reach this address, so it is not opened without TLS and a credential (TR-024)."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__(text)
        self.url = url


class AgentEnded(ChannelRefused):
    """The agent's process has ended, or never began, so no answer can come."""


# -- the subscriber's side -----------------------------------------------------------------


class Arrival(msgspec.Struct, frozen=True):
    """
    A message that came: its bytes, and the id to resume after, if it has one.

    No bytes stand for something that was no message at all.
    """

    data: bytes
    id: str = ""


class _Typed(msgspec.Struct):
    type: str = ""


_decode_type: Final = msgspec.json.Decoder(_Typed).decode


def type_of(message: bytes) -> str:
    """Return the type that a message names, whatever else is wrong with it; empty if it names none."""
    try:
        return _decode_type(message).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


class Channel(Protocol):
    """
    A subscriber's channel to a producer.

    Everything raises :exc:`ChannelLost` when the connection is gone and
    :exc:`ChannelRefused` when the other side says no.
    """

    async def manifest(self) -> bytes:
        """Return the manifest, as a JWS where it is signed and the transport can give one, else JSON (CF-124)."""

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and return its answer, accepted or rejected."""

    async def send(self, message: bytes) -> None:
        """Send what is not answered: a reply, a close."""

    def arrivals(self, subscription_id: str, after: str = "") -> AsyncIterator[Arrival]:
        """Yield what the producer sends, after an event if one is named, until the connection ends."""

    async def close(self) -> None:
        """Close the connection. Closing twice is fine."""


# -- finding a transport -------------------------------------------------------------------


class Transport(Protocol):
    """What each package of ``transports/`` offers."""

    SERVER_OPTIONS: frozenset[str]
    CONNECT_OPTIONS: frozenset[str]

    def connect(self, url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> Channel:
        """Return a channel to the producer at a URL. Nothing is sent yet."""

    async def serve(self, hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> Server:
        """Serve a hub at a URL."""


_PACKAGES: Final = {
    "http": "http",
    "https": "http",
    "ws": "http",
    "wss": "http",
    "asgi+http": "asgi",
    "unix": "unix",
    "stdio": "stdio",
    "grpc": "grpc",
    "grpcs": "grpc",
}


def transport(url: str) -> Transport:
    """Return the transport that a URL asks for."""
    scheme = split_url(url).scheme.lower()
    if scheme not in _PACKAGES:
        known = ", ".join(sorted(name for name in _PACKAGES if "+" not in name))  # those that people write
        raise AaepError(f"There is no transport for {url!r}. Known: {known}. Write it like http://127.0.0.1:8137.")
    return cast(Transport, import_module(f"{__package__}.{_PACKAGES[scheme]}"))


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> Channel:
    """Return a channel to the producer at a URL, by the transport that the URL asks for. Nothing is sent yet."""
    package = transport(url)
    check_supported(options, package.CONNECT_OPTIONS, url)
    return package.connect(url, options)


def asgi_application(hub: HubFace, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> Any:
    """Return a hub as an ASGI application, to be mounted in another."""
    package: Any = transport("asgi+http:")
    check_supported(options, package.SERVER_OPTIONS, "asgi:")
    application: Any = package.Application(hub, options)
    hub.add_server(application)
    return application


class SharedServer:
    """Another URL of a server that is open already, such as ``ws:`` beside ``http:``; it is closed with that one."""

    transports: Final = ()  # the other server names them

    def __init__(self, url: str, server: Server) -> None:
        self.url = url
        self.server = server

    async def close(self) -> None:
        """Leave the server open."""


_options: Final[WeakKeyDictionary[Server, ServerOptions]] = WeakKeyDictionary()  # that each server was opened with


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> Server:
    """
    Serve a hub at a URL, by the transport that the URL asks for. On the hub's loop.

    A URL of a server that was opened with the same options is served by that one: a :class:`SharedServer`.
    """
    hub.start()
    install_loop_error_handler(asyncio.get_running_loop())
    open_server = _find_open_server(hub, url, options)
    if open_server is not None:
        return SharedServer(url_for_transport(open_server.url, TRANSPORTS[scheme_of(url)]), open_server)
    package = transport(url)
    check_supported(options, package.SERVER_OPTIONS, url)
    prepared = options
    if options.identity is not None:
        prepared = dataclasses.replace(options, identity=await prepare_identity(options.identity))
    server = await package.serve(hub, url, prepared)
    hub.add_server(server)
    _options[server] = options
    return server


def _find_open_server(hub: HubFace, url: str, options: ServerOptions) -> Server | None:
    for server in hub.servers:
        offers_it = TRANSPORTS.get(scheme_of(url)) in server.transports and not getattr(server, "is_closed", False)
        if offers_it and same_listener(server.url, url) and _options.get(server) == options:
            return server
    return None


# -- tokens and addresses of a client ------------------------------------------------------

_HEADER_TEXT: Final = re.compile(r"[!-~]+")  # what can stand in a header, and more than any token has


def authorization(token: Token, name: str = "Authorization") -> dict[str, str]:
    """
    Return the header that shows a token; none without one. A function is called each time, and must not wait.

    One that fails is called again with the next try: the service that gives tokens may be away.
    """
    if token is None:
        return {}
    # The line break that a token has from the file it was read from is not part of it.
    value = _call_for_token(token).strip() if callable(token) else token.strip()
    if _HEADER_TEXT.fullmatch(value) is None:
        why = "holds what no token holds, such as a space, a line break or a letter with an accent"
        raise AaepError(f"The token {why if value else 'is empty'}. Give it as it was made, or leave it out.")
    return {name: f"Bearer {value}"}


def connection_target(url: str, schemes: tuple[str, ...], options: ConnectOptions) -> tuple[SplitResult, int]:
    """Return the parts and the port of a URL to connect to; one that does not protect what is sent is refused."""
    parts, port = split_server_url(url, schemes)
    if not parts.hostname:
        raise AaepError(f"{url!r} names no host. Write it like {parts.scheme}://127.0.0.1:8137.")
    encrypted = encrypted_scheme(parts.scheme)
    if options.tls is not None and encrypted is not None:
        raise AaepError(f"{url!r} would not be encrypted although tls= is given. Use {encrypted}://.")
    if options.token is not None and encrypted is not None and not is_loopback(parts.hostname):  # TR-027
        raise AaepError(f"The token would travel unencrypted to {parts.hostname}. Use {encrypted}://.")
    return parts, port


def _call_for_token(token: Callable[[], str]) -> str:
    try:
        return str(token())
    except Exception as error:
        raise ChannelLost(
            f"There is no token to show: the function for it failed with {type(error).__name__}."
        ) from error
