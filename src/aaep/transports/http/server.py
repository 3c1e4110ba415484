"""
The HTTP server: server-sent events, WebSocket, replies, manifest, health and metrics on one port.

Requests are handled in :mod:`.routes`; this module has the listening socket, the
connections and the streamed responses, all based on aiohttp.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl as tls
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from aiohttp import HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError

from ...hub.face import HubFace
from ...identity.origins import http_url, split_server_url
from ...runtime.background import close_server
from ...runtime.loop_errors import check_files_left
from ..addresses import bind_socket, choose_identity, make_server_ssl_context, resolve_listen_address
from ..options import DEFAULT_SERVER_OPTIONS, ServerOptions
from .event_stream import EventStream
from .guard import Guard, Refusal, normalize_hosts
from .request import RequestHead
from .routes import (
    SERVER_FAILED,
    STREAM_HEADERS,
    TRANSPORTS,
    WEBSOCKET,
    Request,
    Response,
    Router,
    body_incomplete,
    body_timed_out,
    body_too_large,
    refusal_response,
)
from .websocket_server import FrameParser, MaskedFrames, WebSocketConversation, upgrade_to_websocket

__all__ = ["HttpConnection", "HttpServer", "serve"]

log: Final = logging.getLogger("aaep.http")

SCHEMES: Final = ("http", "https", "ws", "wss")
_GRACE: Final = 0.4  # seconds for open requests to end when a server closes
_LINGERING_TIME: Final = 5.0  # seconds to read the rest of an unwanted body

T = TypeVar("T")


# -- connections ---------------------------------------------------------------------------


class HttpConnection(web.RequestHandler):
    """
    aiohttp's connection, registered with its server, with error responses in JSON.

    A client may half-close the connection after its request and wait for the
    response. aiohttp would drop such a request, and perhaps a user's reply with it.
    """

    __slots__ = (
        "_http_server",
        "_is_encrypted",
        "_own_transport",
        "current_request",
        "has_peer_ended",
        "is_reading_body",
        "is_upgraded",
        "stream",
    )

    def __init__(self, http_server: HttpServer, server: web.Server, request_timeout: float) -> None:
        # No access log: URLs contain subscription ids, and prompts are private.
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way to say none
            logger=log,
            auto_decompress=False,
            keepalive_timeout=request_timeout,  # also limits the time to send a head
            lingering_time=_LINGERING_TIME,
        )
        self._http_server = http_server
        self._own_transport: asyncio.Transport | None = None
        self._is_encrypted = False
        self.has_peer_ended = False  # whether the client has half-closed the connection
        self.current_request: web.BaseRequest | None = None
        self.is_reading_body = False  # of the current request
        self.is_upgraded = False  # to a WebSocket
        self.stream: EventStream | None = None

    async def start(self) -> None:
        """Handle requests until the connection ends."""
        try:
            await super().start()
        finally:
            if self._own_transport is not None:
                self._own_transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the server; abort if it has closed."""
        self._own_transport = cast(asyncio.Transport, transport)  # aiohttp drops its reference before closing
        self._is_encrypted = transport.get_extra_info("sslcontext") is not None  # not available after closing
        self._http_server.connections.add(self)
        super().connection_made(transport)
        check_files_left(transport)
        if self._http_server.is_closed:  # after the connection was accepted
            self._own_transport.abort()

    def set_parser(self, parser: FrameParser, data_received_cb: Callable[[], None] | None = None) -> None:
        """Let the parser of a WebSocket have masked frames only. aiohttp calls this with the upgrade."""
        super().set_parser(cast(Any, MaskedFrames(parser)), data_received_cb)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio lets it say whether to stay open
        """Stay open to answer pending requests; end a stream or a WebSocket, whose client has left."""
        self.has_peer_ended = True
        if self.is_upgraded:
            return False
        self.close()  # once pending requests are answered
        if self.stream is not None:
            self.stream.close(None)  # TR-017
        if self.current_request is not None and not self.current_request.content.is_eof():
            if self.is_reading_body:
                return False
            self.current_request.content.feed_eof()  # do not wait for the rest of an unwanted body
        return self._own_transport is not None and not self._is_encrypted

    def connection_lost(self, exc: BaseException | None) -> None:
        """Notify the hub, if this was a stream, and the server."""
        if self.stream is not None:
            self.stream.on_lost()
        self._http_server.forget(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Drop the connection at once."""
        if self._own_transport is not None:
            self._own_transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the JSON response for invalid HTTP or an internal error."""
        if isinstance(exc, HttpProcessingError) and status < 500:
            refusal = Refusal(status, "bad_request", "This cannot be read as an HTTP request.")
        else:
            if not isinstance(exc, ConnectionError):  # a client that left is not a defect
                self.logger.error("A request could not be answered.", exc_info=exc)
            refusal = SERVER_FAILED
        response = _to_aiohttp(refusal_response(refusal).complete({}))
        response.force_close()
        return response


def _to_aiohttp(response: Response) -> web.Response:
    if not response.body:
        return web.Response(status=response.status, headers=response.headers)
    return web.Response(status=response.status, body=response.body, headers=response.headers)


# -- requests ------------------------------------------------------------------------------


class HttpRequest(Request):
    """A request read by aiohttp. ``response`` is the streamed response, if there was one."""

    def __init__(self, server: HttpServer, request: web.BaseRequest, head: RequestHead) -> None:
        super().__init__(head)
        self.response: web.StreamResponse | None = None
        self._server = server
        self._request = request
        self._connection = cast(HttpConnection, request.protocol)

    async def call_hub(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function directly: the server runs on the hub's loop."""
        return function(*args)

    async def read_body(self, max_bytes: int) -> bytes:
        """Return the body; raise :exc:`Refusal` if it is too long, incomplete or too slow."""
        self._confirm_expectation()
        content = self._request.content
        connection = self._connection
        if content.is_eof() and content.exception() is None:  # it came with the head, the common case
            received = content.read_nowait()
            if len(received) > max_bytes:
                raise body_too_large(max_bytes)
            return received
        if connection.has_peer_ended and not content.is_eof():
            raise body_incomplete()
        body = bytearray()
        connection.is_reading_body = True
        try:
            async with asyncio.timeout(self._server.request_timeout):
                async for piece in content.iter_any():
                    body += piece
                    if len(body) > max_bytes:
                        raise body_too_large(max_bytes)
        except TimeoutError:
            content.feed_eof()
            raise body_timed_out() from None
        except web.RequestPayloadError:
            raise body_incomplete() from None
        finally:
            connection.is_reading_body = False
        return bytes(body)

    def _confirm_expectation(self) -> None:
        expected = self._request.headers.get("Expect", "")
        if expected and expected.lower() != "100-continue":
            raise Refusal(417, "expectation_failed", "Nothing but 100-continue can be expected.")
        if expected and self._request.version >= HttpVersion11 and self._request.transport is not None:
            self._request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def stream_events(self, subscription_id: str, after: str) -> None:
        """Send the events of a subscription until the stream ends."""
        transport = self._request.transport
        if transport is None or self._connection.has_peer_ended:
            raise Refusal(400, "bad_request", "A reader keeps its side of the connection open.")
        hub = self._server.hub
        is_chunked = self._request.version >= HttpVersion11
        stream = EventStream(transport, chunked=is_chunked)
        subscription_id = hub.connect(subscription_id, self.peer, stream, after)
        self._server.streams.add(stream)
        stream.on_lost = lambda: hub.disconnect(subscription_id, stream)
        self._connection.stream = stream
        try:
            self.response = web.StreamResponse(headers={**STREAM_HEADERS, **self.cors_headers})
            if is_chunked:
                self.response.enable_chunked_encoding()
            self.response.force_close()
            await self.response.prepare(self._request)
            stream.open()
            await stream.ended
        finally:  # also when the reader leaves, which cancels this task (TR-017)
            self._connection.stream = None
            self._server.streams.discard(stream)
            hub.disconnect(subscription_id, stream)

    async def run_websocket(self) -> None:
        """Upgrade to a WebSocket and serve it until it ends."""
        transport = self._request.transport
        self.response = websocket = await upgrade_to_websocket(
            self._request, max_message_bytes=self._server.max_message_bytes
        )
        self._connection.is_upgraded = True
        assert transport is not None  # otherwise the upgrade fails
        conversation = WebSocketConversation(self._server.hub, self.peer, transport, websocket)
        self._server.conversations.add(conversation)
        try:
            with contextlib.suppress(ConnectionError):  # the client has left; the conversation notifies the hub
                await conversation.run(self._server.request_timeout)
        finally:
            self._server.conversations.discard(conversation)


# -- the server ----------------------------------------------------------------------------


class HttpServer:
    """An address at which a hub is served over HTTP and WebSocket."""

    transports: Final = TRANSPORTS

    def __init__(
        self,
        hub: HubFace,
        router: Router,
        url: str,
        *,
        port: int,
        is_local: bool,
        max_message_bytes: int,
        request_timeout: float,
    ) -> None:
        self.url = url
        self.hub = hub
        self.max_message_bytes = max_message_bytes
        self.request_timeout = request_timeout
        self.is_closed = False
        self.connections: set[HttpConnection] = set()
        self.streams: set[EventStream] = set()
        self.conversations: set[WebSocketConversation] = set()
        self._router = router
        self._scheme = http_url(url).partition(":")[0]
        self._port = port
        self._is_local = is_local
        self._aiohttp_server = web.Server(self._answer, handler_cancellation=True)
        self._listening: asyncio.Server | None = None
        self._heartbeat: asyncio.TimerHandle | None = None
        self._all_gone: asyncio.Future[None] | None = None

    async def open(self, bound: socket.socket, ssl_context: tls.SSLContext | None) -> None:
        """Accept connections at a listening socket and start the heartbeats."""
        self._listening = await asyncio.get_running_loop().create_server(
            self.make_connection, sock=bound, ssl=ssl_context, backlog=1024
        )
        self._schedule_heartbeat()

    def make_connection(self) -> HttpConnection:
        """Return the protocol for an accepted connection."""
        return HttpConnection(self, self._aiohttp_server, self.request_timeout)

    async def close(self) -> None:
        """Stop listening and end every connection. Closing twice is fine."""
        if self._listening is None:
            return
        listening, self._listening = self._listening, None
        self.is_closed = True
        await close_server(listening)
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        for stream in [*self.streams]:
            stream.close(None)
        for conversation in [*self.conversations]:
            conversation.shut_down()
        self._aiohttp_server.pre_shutdown()
        await self._aiohttp_server.shutdown(_GRACE)
        if self.connections:
            self._all_gone = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._all_gone], timeout=_GRACE)
        for connection in [*self.connections]:
            connection.abort()

    def forget(self, connection: HttpConnection) -> None:
        """Remove a connection that has ended."""
        self.connections.discard(connection)
        if not self.connections and self._all_gone is not None and not self._all_gone.done():
            self._all_gone.set_result(None)

    def _schedule_heartbeat(self) -> None:
        self._heartbeat = asyncio.get_running_loop().call_later(
            self.hub.settings.heartbeat_interval, self._send_heartbeats
        )

    def _send_heartbeats(self) -> None:
        for stream in self.streams:
            stream.send_heartbeat()
        self._schedule_heartbeat()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(HttpConnection, request.protocol)
        connection.current_request = request
        head = RequestHead.from_aiohttp(request, scheme=self._scheme, port=self._port, is_loopback=self._is_local)
        http_request = HttpRequest(self, request, head)
        response = await self._router.answer(http_request)
        if connection.has_peer_ended and not request.content.is_eof():
            request.content.feed_eof()
        if response is not None:
            return _to_aiohttp(response)
        assert http_request.response is not None  # the streamed response
        return http_request.response


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> HttpServer:
    """
    Serve a hub at an http, https, ws or wss URL. Each serves both HTTP and WebSocket; ``url`` keeps the scheme.

    Port 0 takes any free port; the server's ``url`` has the bound one. Without an identity or a token only
    the user of this machine may connect. An address that other machines can reach requires one of them
    and TLS (TR-024).
    """
    parts, port = split_server_url(url, SCHEMES)
    ssl_context = make_server_ssl_context(url, parts.scheme, options.tls)
    path = WEBSOCKET if parts.scheme in ("ws", "wss") else ""
    address = await resolve_listen_address(
        url, parts, port, choose_identity(options), is_encrypted=ssl_context is not None, path=path
    )
    bound = bind_socket(url, address.ip_address, port)
    port = bound.getsockname()[1]
    try:
        guard = Guard(
            is_local=address.is_local,
            origins=frozenset(options.origins),
            hosts=normalize_hosts(options.hosts).union(host.lower() for host in address.build_host_headers(port)),
        )
        router = Router(hub, guard, address.identity, max_message_bytes=options.max_message_bytes)
        server = HttpServer(
            hub,
            router,
            address.build_url(port),
            port=port,
            is_local=address.is_local,
            max_message_bytes=options.max_message_bytes,
            request_timeout=options.request_timeout,
        )
        await server.open(bound, ssl_context)
    except BaseException:
        bound.close()
        raise
    return server
