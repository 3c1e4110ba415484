"""
What stands between a hub and a subscriber: the two ends of a connection, and a loop in a thread to serve them.

A transport is one file in ``transports/``, found by the scheme of its URL. It
gives a :class:`Door` to whoever serves and a :class:`Channel` to whoever
listens; nothing else in this package knows how bytes travel.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any, Final, Protocol, cast

import msgspec

from ..errors import AaepError
from ..hub.face import HubFace, Server
from ..identity.origins import parts_of
from ..identity.rate_limit import prepare_identity
from ..runtime.loop_errors import install_loop_error_handler

__all__ = [
    "AgentEnded",
    "Arrival",
    "Channel",
    "ChannelLost",
    "ChannelRefused",
    "Reachable",
    "Token",
    "Transport",
    "asgi_application",
    "authorization",
    "serve",
    "transport",
    "type_of",
]


class ChannelLost(AaepError):
    """The connection broke, or could not be made. Trying again later may help."""


class ChannelRefused(AaepError):
    """
    The other side answered and will not have us. Trying again as we are will not help.

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
    """The agent's process has ended, or never began. So there is nobody left who could answer."""


# -- the serving side ----------------------------------------------------------------------


# -- the listening side --------------------------------------------------------------------


class Arrival(msgspec.Struct, frozen=True):
    """
    A message that came: its bytes, and the id to resume after, if it has one.

    No bytes stand for something that was no message, of which nobody knows what it was meant to be.
    """

    data: bytes
    id: str = ""


class _Typed(msgspec.Struct):
    type: str = ""


_typed: Final = msgspec.json.Decoder(_Typed).decode


def type_of(message: bytes) -> str:
    """The type that a message names, whatever else is wrong with it; empty if it names none."""
    try:
        return _typed(message).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


class Channel(Protocol):
    """
    A subscriber's way to a producer.

    Everything raises :exc:`ChannelLost` when the connection is gone and
    :exc:`ChannelRefused` when the other side says no.
    """

    async def manifest(self) -> bytes:
        """The producer's manifest, as a JWS where it is signed and the transport can give one, else JSON (CF-124)."""

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and give back its answer, accepted or rejected."""

    async def send(self, message: bytes) -> None:
        """Send what is not answered: a reply, a close."""

    def arrivals(self, subscription_id: str, after: str = "") -> AsyncIterator[Arrival]:
        """What the producer sends, after an event if one is named, until the connection ends."""

    async def close(self) -> None:
        """Let go. Closing twice is fine."""


# -- finding a transport -------------------------------------------------------------------


class Transport(Protocol):
    """What each file of ``transports/`` offers."""

    def connect(self, url: str, **settings: Any) -> Channel: ...

    async def serve(self, hub: HubFace, url: str, **settings: Any) -> Server: ...


_FILES: Final = {
    "http": "http",
    "https": "http",
    "ws": "websocket",
    "wss": "websocket",
    "asgi+http": "asgi",
    "unix": "unix",
    "stdio": "stdio",
    "grpc": "grpc",
    "grpcs": "grpc",
}


def transport(url: str) -> Transport:
    """The transport that a URL asks for."""
    scheme = parts_of(url).scheme.lower()
    if scheme not in _FILES:
        known = ", ".join(
            sorted(name for name in _FILES if "+" not in name)
        )  # that one is not in an address one writes
        raise AaepError(f"There is no transport for {url!r}. Known: {known}. Write it like http://127.0.0.1:8137.")
    return cast(Transport, import_module(f"{__package__}.{_FILES[scheme]}"))


def asgi_application(hub: HubFace, **options: Any) -> Any:
    """A hub as an ASGI application, to be mounted in another."""
    application: Any = cast(Any, transport("asgi+http:")).Application(hub, **options)
    hub.add_server(application)
    return application


async def serve(hub: HubFace, url: str, **options: Any) -> Server:
    """Serve a hub at a URL, by the transport that the URL asks for. On the hub's loop."""
    hub.start()
    install_loop_error_handler(asyncio.get_running_loop())
    if options.get("identity") is not None:
        options["identity"] = await prepare_identity(options["identity"])
    server = await transport(url).serve(hub, url, **options)
    hub.add_server(server)
    return server


# -- waiting, in threads and in tasks alike -------------------------------------------------


# -- a loop in a thread --------------------------------------------------------------------


# -- bearer --

Token = str | Callable[[], str] | None

_SHOWN: Final = re.compile(r"[!-~]+")  # what can stand in a header, and more than any token has


def authorization(token: Token, name: str = "Authorization") -> dict[str, str]:
    """
    The header that shows a token; none without one. A function is asked each time, and must not wait.

    One that fails is asked again with the next try: who gives tokens may be away, as anybody may.
    """
    if token is None:
        return {}
    # The line break that a token has from the file it was read from is not part of it.
    given = _asked(token).strip() if callable(token) else token.strip()
    if _SHOWN.fullmatch(given) is None:
        why = "holds what no token holds, such as a space, a line break or a letter with an accent"
        raise AaepError(f"The token {why if given else 'is empty'}. Give it as it was made, or leave it out.")
    return {name: f"Bearer {given}"}


def _asked(token: Callable[[], str]) -> str:
    try:
        return str(token())
    except Exception as error:
        raise ChannelLost(
            f"There is no token to show: the function for it failed with {type(error).__name__}."
        ) from error
