"""
The subscriber's end of Appendix B.2.

Credentials and replies go to the address they were meant for: a server that
sends us elsewhere is not followed (CF-116).
"""

from __future__ import annotations

import ssl as tls
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
from aiohttp import WSMsgType

from ... import __version__
from ...errors import AaepError
from ...identity.origins import is_loopback, over_http, split
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...text.phrases import ensure_full_stop
from ..base import ChannelLost, ChannelRefused, Token, authorization
from ..duplex_client import Duplex
from ..http.client import LATER, HttpChannel, broken, proxy_for
from ..http.client import connect as connect_over_http
from .talk import PLACE, SUBPROTOCOL

__all__ = ["WebSocketChannel", "connect"]

_SILENCE: Final = 45.0  # seconds: three heartbeats (CF-090)
_PATIENCE: Final = 30.0
_PARTING: Final = 0.5  # seconds for the other side to say that it has seen the end
_REFUSED: Final = {  # CF-097: for those who send only the code
    4000: "The producer has closed the subscription.",
    4001: "The producer refused the subscription.",
    4002: "The producer does not know who we are. Check the token.",
    4003: "The producer knows who we are, and does not let us in.",
}

_DENIED: Final = {  # aiohttp keeps from us what was said
    401: "Who we are was not shown, or is not known there. Check the token.",
    403: "It does not let us in. Perhaps the token is for another role.",
}


def connect(
    url: str,
    *,
    token: Token = None,
    ssl: tls.SSLContext | None = None,
    patience: float = _PATIENCE,
    silence: float = _SILENCE,
) -> WebSocketChannel:
    """
    A way to the producer at a URL. Nothing is sent yet.

    Without a path the protocol's own is used. ``token`` may be a function, see HTTP's; it
    is called for each connection. ``ssl`` is a context that knows the server's
    certificate authority. ``patience`` is how long, in seconds, an answer may take;
    after ``silence`` without even a heartbeat the connection counts as lost.
    """
    parts, _ = split(url, ("ws", "wss"))
    if not parts.hostname:
        raise AaepError(f"{url!r} names no host. Write it like ws://127.0.0.1:8137.")
    if token is not None and parts.scheme == "ws" and not is_loopback(parts.hostname):  # TR-027
        raise AaepError(f"The token would travel unencrypted to {parts.hostname}. Use wss://.")
    place = f"{parts.scheme}://{parts.netloc}{PLACE if parts.path in ('', '/') else parts.path}"
    about = connect_over_http(over_http(f"{parts.scheme}://{parts.netloc}"), token=token, ssl=ssl, patience=patience)
    return WebSocketChannel(place, about, token=token, ssl=ssl, patience=patience, silence=silence)


class _Socket(aiohttp.ClientWebSocketResponse):
    """aiohttp's, which knows what it is carried by."""

    def __init__(
        self, reader: Any, writer: Any, protocol: Any, response: aiohttp.ClientResponse, *rest: Any, **more: Any
    ):
        super().__init__(reader, writer, protocol, response, *rest, **more)
        self.wire = None if response.connection is None else response.connection.transport


class _Line:
    """One open WebSocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def send(self, message: bytes) -> None:
        try:
            await self._socket.send_str(message.decode())  # WS-004, WS-005
        except (aiohttp.ClientError, OSError) as error:
            raise ChannelLost("The connection broke, and this may not have arrived.") from error

    async def receive(self) -> bytes | None:
        try:
            came = await self._socket.receive()
        except TimeoutError as error:
            raise ChannelLost("Nothing was heard from the producer for too long.") from error
        if came.type is WSMsgType.TEXT:
            return str(came.data).encode()
        if came.type is WSMsgType.BINARY:  # CF-099
            return bytes(came.data)
        code = self._socket.close_code or 0
        if code in _REFUSED:
            raise ChannelRefused(_REFUSED[code])
        return None

    async def close(self) -> None:
        await self._socket.close()
        wire = self._socket.wire if isinstance(self._socket, _Socket) else None
        if wire is not None:  # whoever stops listening waits for nothing, not even for a goodbye of TLS
            wire.abort()


class WebSocketChannel(Duplex):
    """A subscriber's way to a producer over a WebSocket. Used on one event loop."""

    def __init__(
        self,
        url: str,
        about: HttpChannel,
        *,
        token: Token,
        ssl: tls.SSLContext | None,
        patience: float,
        silence: float,
    ) -> None:
        super().__init__(self._dialled, about.manifest)
        self.url = url
        self._about = about
        self._token = token
        self._ssl = ssl
        self._patience = aiohttp.ClientTimeout(total=None, connect=patience, sock_connect=patience)
        self._limits = aiohttp.ClientWSTimeout(ws_receive=silence, ws_close=_PARTING)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def close(self) -> None:
        self._closed = True
        await super().close()
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        await self._about.close()

    async def _dialled(self) -> _Line:
        try:
            socket = await self._ready().ws_connect(
                self.url,
                headers=authorization(self._token),  # WS-003
                protocols=(SUBPROTOCOL,),  # WS-002
                timeout=self._limits,
                max_msg_size=MAX_MESSAGE_BYTES + 1,  # CF-114; aiohttp's is the first size that is too large
                compress=0,
                proxy=proxy_for(over_http(self.url)),
                ssl=self._ssl or True,
            )
        except aiohttp.WSServerHandshakeError as error:
            why = _DENIED.get(error.status, error.message[:500])
            text = ensure_full_stop(f"{self.url} answered {error.status}: {why}")
            raise (ChannelLost if error.status in LATER else ChannelRefused)(text) from error
        except aiohttp.ClientConnectorCertificateError as error:
            text = f"The certificate of {self.url} is not trusted: {error}."
            message = f"{text} Give its authority with --ca, or ssl= in Python."
            raise ChannelRefused(message) from error
        except aiohttp.ClientConnectorError as error:
            raise ChannelLost(f"Nobody answers at {self.url}. Is the agent running?") from error
        except TimeoutError as error:
            raise ChannelLost(f"{self.url} did not answer in time.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ChannelLost(broken(self.url, error)) from error
        if socket.protocol != SUBPROTOCOL:  # CF-096
            await socket.close(code=1002)
            raise ChannelRefused(f"{self.url} is a WebSocket, but not one that speaks {SUBPROTOCOL}.")
        return _Line(socket)

    def _ready(self) -> aiohttp.ClientSession:
        if self._closed:
            raise ChannelLost("This channel is closed. Connect again.")
        if self._session is None:
            watching = aiohttp.TraceConfig()
            watching.on_request_redirect.append(self._sent_elsewhere)
            # No cookies: they are no credential here (CF-089).
            self._session = aiohttp.ClientSession(
                headers={"User-Agent": f"aaep/{__version__}"},
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[watching],
                ws_response_class=_Socket,
                timeout=self._patience,
            )
        return self._session

    async def _sent_elsewhere(
        self, session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestRedirectParams
    ) -> None:
        where = params.response.headers.get("Location", "nowhere")
        raise ChannelRefused(
            f"{self.url} sends us elsewhere, to {where[:500]}. That is not followed: "
            "credentials and replies stay with the server they are meant for. Use that address if you trust it."
        )
