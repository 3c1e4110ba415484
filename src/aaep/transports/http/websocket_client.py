"""
The client side of WebSocket (Appendix B.2).

Credentials and replies are sent to the configured address only: redirects are not followed (CF-116).
"""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
from aiohttp import WSMsgType

from ...identity.origins import http_url
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...text.phrases import ensure_full_stop
from ...version import __version__
from ..addresses import make_client_ssl_context
from ..base import ChannelLost, ChannelRefused, build_authorization_header, resolve_target
from ..duplex_client import DuplexChannel, limit_unsent_bytes
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .client import TRANSIENT_STATUSES, HttpChannel, describe_broken_connection, find_proxy
from .client import connect as connect_sse
from .routes import SUBPROTOCOL, WEBSOCKET

__all__ = ["WebSocketChannel", "connect"]

_CLOSE_TIMEOUT: Final = 0.5  # seconds for the server to answer a close
_MAX_UNSENT_BYTES: Final = 16 * 1024  # in each buffer of a connection; a network with long ways needs some
_MAX_UNREAD_BYTES: Final = 32 * 1024  # sent and not known to be read, before sending waits
_PING_EVERY: Final = 8 * 1024  # bytes
_CLOSE_REASONS: Final = {  # CF-097: for servers that send only the code
    4000: "The producer has closed the subscription.",
    4001: "The agent refused the connection.",
    4002: "The producer does not know who we are. Check the token.",
    4003: "The producer knows who we are, and does not let us in.",
}

_STATUS_REASONS: Final = {  # aiohttp does not expose the body of the response
    401: "Who we are was not shown, or is not known there. Check the token.",
    403: "It does not let us in. Perhaps the token is for another role.",
}


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> WebSocketChannel:
    """Return a channel to the producer at a ws or wss URL. Nothing is sent yet."""
    parts, _ = resolve_target(url, ("ws", "wss"), options)
    server = f"{parts.scheme}://{parts.netloc}"
    path = WEBSOCKET if parts.path in ("", "/") else parts.path
    http_channel = connect_sse(http_url(server), options)
    return WebSocketChannel(server + path, http_channel, options)


class _WebSocket(aiohttp.ClientWebSocketResponse):
    """aiohttp's WebSocket with a reference to its transport."""

    def __init__(
        self, reader: Any, writer: Any, protocol: Any, response: aiohttp.ClientResponse, *args: Any, **kwargs: Any
    ):
        super().__init__(reader, writer, protocol, response, *args, **kwargs)
        self.transport = None if response.connection is None else response.connection.transport


class _WebSocketConnection:
    """
    One open WebSocket connection.

    What an agent says last stands behind all that its hub has not read, and the buffers on
    the way are large. So a ping goes along now and then, and sending waits while too
    much of what went before it was not answered.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._sent_bytes = 0
        self._pinged_bytes = 0  # of them, when the last ping was sent
        self._read_bytes = 0  # of them, by what was answered
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def send(self, message: bytes) -> None:
        """Send a message as a text frame."""
        await self._has_room.wait()
        self._sent_bytes += len(message)
        try:
            await self._socket.send_str(message.decode())  # WS-004, WS-005
            if self._sent_bytes - self._pinged_bytes > _PING_EVERY:
                self._pinged_bytes = self._sent_bytes
                await self._socket.ping(str(self._sent_bytes).encode())
        except (aiohttp.ClientError, OSError) as error:
            raise ChannelLost("The connection broke, and this may not have arrived.") from error
        self._update_room()

    def _update_room(self) -> None:
        if self._sent_bytes - self._read_bytes > _MAX_UNREAD_BYTES:
            self._has_room.clear()
        else:
            self._has_room.set()

    async def receive(self) -> bytes | None:
        """Return the next message; None when the server has closed the WebSocket."""
        while True:
            message = await self._receive_frame()
            if message.type is WSMsgType.PING:
                with contextlib.suppress(aiohttp.ClientError, OSError):  # the end is noticed by receiving
                    await self._socket.pong(message.data)
            elif message.type is WSMsgType.PONG:
                if message.data.isdigit():  # else it answers none of ours
                    self._read_bytes = max(self._read_bytes, min(int(message.data), self._sent_bytes))
                self._update_room()
            else:
                break
        if message.type is WSMsgType.TEXT:
            return str(message.data).encode()
        if message.type is WSMsgType.BINARY:  # CF-099
            return bytes(message.data)
        code = self._socket.close_code or 0
        if code in _CLOSE_REASONS:
            raise ChannelRefused(_CLOSE_REASONS[code])
        return None

    async def _receive_frame(self) -> aiohttp.WSMessage:
        try:
            message = await self._socket.receive()
        except TimeoutError as error:
            self._has_room.set()
            raise ChannelLost("Nothing was heard from the producer for too long.") from error
        if self._socket.closed:
            self._has_room.set()  # whoever waits is to learn that the connection is gone
        return message

    async def close(self) -> None:
        """Close the WebSocket, without waiting for the closing handshake of TLS."""
        await self._socket.close()
        transport = self._socket.transport if isinstance(self._socket, _WebSocket) else None
        if transport is not None:
            transport.abort()


class WebSocketChannel(DuplexChannel):
    """A subscriber's channel to a producer over a WebSocket. Used on one event loop."""

    def __init__(self, url: str, http_channel: HttpChannel, options: ConnectOptions) -> None:
        super().__init__(self._open_connection, http_channel.manifest)
        self.url = url
        self._http_channel = http_channel
        self._token = options.token
        self._ssl = make_client_ssl_context(options.tls)
        self._connect_timeout = aiohttp.ClientTimeout(total=None, connect=options.timeout, sock_connect=options.timeout)
        self._websocket_timeout = aiohttp.ClientWSTimeout(ws_receive=options.max_silence, ws_close=_CLOSE_TIMEOUT)
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False

    async def close(self) -> None:
        """Close the WebSocket and the HTTP sessions. Closing twice is fine."""
        self._is_closed = True
        await super().close()
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        await self._http_channel.close()

    async def _open_connection(self) -> _WebSocketConnection:
        try:
            socket = await self._open_session().ws_connect(
                self.url,
                headers=build_authorization_header(self._token),  # WS-003
                protocols=(SUBPROTOCOL,),  # WS-002
                timeout=self._websocket_timeout,
                autoping=False,
                max_msg_size=MAX_MESSAGE_BYTES + 1,  # CF-114; aiohttp refuses messages of exactly this size
                compress=0,
                proxy=find_proxy(http_url(self.url)),
                ssl=self._ssl or True,
            )
        except aiohttp.WSServerHandshakeError as error:
            reason = _STATUS_REASONS.get(error.status, error.message[:500])
            text = ensure_full_stop(f"{self.url} answered {error.status}: {reason}")
            if error.status in TRANSIENT_STATUSES:
                raise ChannelLost(text) from error
            raise ChannelRefused(text) from error
        except aiohttp.ClientConnectorCertificateError as error:
            text = f"The certificate of {self.url} is not trusted: {error}."
            message = f"{text} Give its authority with --ca, or tls= in Python."
            raise ChannelRefused(message) from error
        except aiohttp.ClientConnectorError as error:
            raise ChannelLost(f"Nobody answers at {self.url}. Is the agent running?") from error
        except TimeoutError as error:
            raise ChannelLost(f"{self.url} did not answer in time.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ChannelLost(describe_broken_connection(self.url, error)) from error
        if socket.protocol != SUBPROTOCOL:  # CF-096
            await socket.close(code=1002)
            raise ChannelRefused(f"{self.url} is a WebSocket, but not one that speaks {SUBPROTOCOL}.")
        if isinstance(socket, _WebSocket) and socket.transport is not None:
            limit_unsent_bytes(socket.transport, _MAX_UNSENT_BYTES)
        return _WebSocketConnection(socket)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise ChannelLost("This channel is closed. Connect again.")
        if self._session is None:
            tracing = aiohttp.TraceConfig()
            tracing.on_request_redirect.append(self._refuse_redirect)
            # No cookies: they are not credentials here (CF-089).
            self._session = aiohttp.ClientSession(
                headers={"User-Agent": f"aaep/{__version__}"},
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[tracing],
                ws_response_class=_WebSocket,
                timeout=self._connect_timeout,
            )
        return self._session

    async def _refuse_redirect(
        self, session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceRequestRedirectParams
    ) -> None:
        location = params.response.headers.get("Location", "nowhere")
        raise ChannelRefused(
            f"{self.url} sends us elsewhere, to {location[:500]}. That is not followed: "
            "credentials and replies stay with the server they are meant for. Use that address if you trust it."
        )
