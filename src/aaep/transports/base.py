"""
The interface of transports, and the lookup of a transport by the scheme of a URL.

A transport is a package in ``transports/``. It opens a :class:`~aaep.hub.face.Server`
for a hub and a :class:`Channel` for a subscriber; no code outside ``transports/``
depends on how bytes are carried.

* :exc:`ChannelLost`: the connection broke; a retry may help
* :exc:`ChannelRefused`: the server refused; a retry does not help
    * :exc:`AgentEnded`: the agent's process has ended
* :exc:`UnprotectedAddress`: an address that other machines reach lacks TLS or a credential
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
    "Channel",
    "ChannelLost",
    "ChannelRefused",
    "ReceivedMessage",
    "SharedServer",
    "Token",
    "Transport",
    "UnprotectedAddress",
    "asgi_application",
    "build_authorization_header",
    "find_transport",
    "read_message_type",
    "resolve_target",
    "serve",
]


class ChannelLost(AaepError):
    """The connection broke or could not be opened. A later retry may help."""


class ChannelRefused(AaepError):
    """
    The server answered with a refusal. A retry with the same options does not help.

    ``gone``: the server does not know the subscription, or no longer does. A new one may help (CF-092).
    ``foreign``: no AAEP server answers like this where it was asked; the address may be that of something else.
    """

    def __init__(self, message: str, *, gone: bool = False, foreign: bool = False) -> None:
        super().__init__(message)
        self.gone = gone
        self.foreign = foreign


class UnprotectedAddress(AaepError):
    """The address is reachable from other machines and lacks TLS or a credential, so it is not opened (TR-024)."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__(text)
        self.url = url


class AgentEnded(ChannelRefused):
    """The agent's process has ended or could not be started, so no answer can come."""


# -- the subscriber's side -----------------------------------------------------------------


class ReceivedMessage(msgspec.Struct, frozen=True):
    """
    A received message: its bytes, and the id to resume after, if it has one.

    ``event`` is the name of the server-sent event that carried it, if one did.
    Empty bytes stand for data that was not a message.
    """

    data: bytes
    id: str = ""
    event: str = ""


class _TypeOnly(msgspec.Struct):
    type: str = ""


_decode_type: Final = msgspec.json.Decoder(_TypeOnly).decode


def read_message_type(message: bytes) -> str:
    """Return the ``type`` of a message without checking anything else; empty if it has none."""
    try:
        return _decode_type(message).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


class Channel(Protocol):
    """
    A subscriber's channel to a producer.

    Every method raises :exc:`ChannelLost` when the connection is lost and
    :exc:`ChannelRefused` when the producer refuses.
    """

    async def manifest(self) -> bytes:
        """Return the manifest, as a JWS if it is signed and the transport can carry one, else JSON (CF-124)."""

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and return the answer, accepted or rejected."""

    async def send(self, message: bytes) -> None:
        """Send a message that has no answer: a reply or a close."""

    def receive_messages(self, subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
        """Yield messages of the producer until the connection ends, resuming after the event ``after`` if given."""

    async def close(self) -> None:
        """Close the connection. Closing twice is fine."""


# -- lookup of transports ------------------------------------------------------------------


class Transport(Protocol):
    """The interface of each package in ``transports/``."""

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


def find_transport(url: str) -> Transport:
    """Return the transport for the scheme of a URL."""
    scheme = split_url(url).scheme.lower()
    if scheme not in _PACKAGES:
        schemes = ", ".join(sorted(name for name in _PACKAGES if "+" not in name))  # asgi+http is for internal use
        raise AaepError(f"There is no transport for {url!r}. Known: {schemes}. Write it like http://127.0.0.1:8137.")
    return cast(Transport, import_module(f"{__package__}.{_PACKAGES[scheme]}"))


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> Channel:
    """Return a channel to the producer at a URL, using the transport of its scheme. Nothing is sent yet."""
    package = find_transport(url)
    check_supported(options, package.CONNECT_OPTIONS, url)
    return package.connect(url, options)


def asgi_application(
    hub: HubFace, options: ServerOptions = DEFAULT_SERVER_OPTIONS, on_stop: Callable[[], object] | None = None
) -> Any:
    """
    Return an ASGI application that serves a hub, for mounting in another application.

    ``on_stop`` is called, in a thread of its own, when a signal tells the server to stop: it has to close the hub.
    """
    package: Any = find_transport("asgi+http:")
    check_supported(options, package.SERVER_OPTIONS, "asgi:")
    application: Any = package.Application(hub, options, on_stop)
    hub.add_server(application)
    return application


class SharedServer:
    """An additional URL of an open server, such as ``ws:`` beside ``http:``. It is closed with that server."""

    transports: Final = ()  # the other server lists them

    def __init__(self, url: str, server: Server) -> None:
        self.url = url
        self.server = server

    async def close(self) -> None:
        """Do nothing: the underlying server stays open."""


_options_by_server: Final[WeakKeyDictionary[Server, ServerOptions]] = WeakKeyDictionary()


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> Server:
    """
    Serve a hub at a URL, using the transport of its scheme. Runs on the hub's loop.

    If an open server with equal options already listens there, return a :class:`SharedServer` for it.
    """
    hub.start()
    install_loop_error_handler(asyncio.get_running_loop())
    open_server = _find_open_server(hub, url, options)
    if open_server is not None:
        return SharedServer(url_for_transport(open_server.url, TRANSPORTS[scheme_of(url)]), open_server)
    package = find_transport(url)
    check_supported(options, package.SERVER_OPTIONS, url)
    prepared = options
    if options.identity is not None:
        prepared = dataclasses.replace(options, identity=await prepare_identity(options.identity))
    server = await package.serve(hub, url, prepared)
    hub.add_server(server)
    _options_by_server[server] = options
    return server


def _find_open_server(hub: HubFace, url: str, options: ServerOptions) -> Server | None:
    for server in hub.servers:
        if getattr(server, "is_closed", False) or TRANSPORTS.get(scheme_of(url)) not in server.transports:
            continue
        if same_listener(server.url, url) and _options_by_server.get(server) == options:
            return server
    return None


# -- tokens and addresses of clients -------------------------------------------------------

_HEADER_TEXT: Final = re.compile(r"[!-~]+")  # allowed in a header; a superset of the characters of tokens


def build_authorization_header(token: Token, name: str = "Authorization") -> dict[str, str]:
    """
    Return the header that carries a token; empty without a token.

    A function is called each time and must not block. If it fails, :exc:`ChannelLost` is raised, so
    that it is called again with the next attempt: the service that issues tokens may be unavailable.
    """
    if token is None:
        return {}
    # A token that was read from a file may end in a line break, which is not part of it.
    value = _call_token_function(token).strip() if callable(token) else token.strip()
    if _HEADER_TEXT.fullmatch(value) is None:
        why = "holds what no token holds, such as a space, a line break or a letter with an accent"
        raise AaepError(f"The token {why if value else 'is empty'}. Give it as it was made, or leave it out.")
    return {name: f"Bearer {value}"}


def resolve_target(url: str, schemes: tuple[str, ...], options: ConnectOptions) -> tuple[SplitResult, int]:
    """Return the parts and the port of a URL to connect to; raise if it would send secrets unencrypted."""
    parts, port = split_server_url(url, schemes)
    if not parts.hostname:
        raise AaepError(f"{url!r} names no host. Write it like {parts.scheme}://127.0.0.1:8137.")
    encrypted = encrypted_scheme(parts.scheme)
    if options.tls is not None and encrypted is not None:
        raise AaepError(f"{url!r} would not be encrypted although tls= is given. Use {encrypted}://.")
    if options.token is not None and encrypted is not None and not is_loopback(parts.hostname):  # TR-027
        raise AaepError(f"The token would travel unencrypted to {parts.hostname}. Use {encrypted}://.")
    return parts, port


def _call_token_function(token: Callable[[], str]) -> str:
    try:
        return str(token())
    except Exception as error:
        raise ChannelLost(
            f"There is no token to show: the function for it failed with {type(error).__name__}."
        ) from error
