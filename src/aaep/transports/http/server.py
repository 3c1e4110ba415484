"""
One HTTP server for a hub: server-sent events, WebSocket, replies, manifest, health and metrics on one port.

What is answered is in :mod:`.routes`; here are the socket, the connections and
the long answers, carried by aiohttp.
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
from ..addresses import bind_socket, choose_identity, make_ssl_context, resolve_listen_address
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
from .websocket_server import WebSocketConversation, upgrade

__all__ = ["HttpConnection", "HttpServer", "serve"]

log: Final = logging.getLogger("aaep.http")

SCHEMES: Final = ("http", "https", "ws", "wss")
_GRACE: Final = 0.4  # seconds for what is under way when a server closes
_LINGERING_TIME: Final = 5.0  # seconds for the rest of a body that is not wanted

T = TypeVar("T")


# -- one connection ------------------------------------------------------------------------


class HttpConnection(web.RequestHandler):
    """
    aiohttp's connection, known to its server, which answers in JSON also to what is no HTTP.

    A client may send its request, say that it sends no more, and wait for the
    answer. aiohttp would drop it, and with it perhaps a person's reply.
    """

    __slots__ = (
        "_http_server",
        "_is_encrypted",
        "_own_transport",
        "current_request",
        "is_reading_body",
        "is_upgraded",
        "peer_has_ended",
        "stream",
    )

    def __init__(self, http_server: HttpServer, server: web.Server, request_timeout: float) -> None:
        # No access log: a subscription id is in the URL, and what people are asked is private.
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way to say none
            logger=log,
            auto_decompress=False,
            keepalive_timeout=request_timeout,  # also the time to send a head
            lingering_time=_LINGERING_TIME,
        )
        self._http_server = http_server
        self._own_transport: asyncio.Transport | None = None
        self._is_encrypted = False
        self.peer_has_ended = False  # whether the client sends nothing more
        self.current_request: web.BaseRequest | None = None
        self.is_reading_body = False  # of the current request
        self.is_upgraded = False  # whether it is a WebSocket
        self.stream: EventStream | None = None

    async def start(self) -> None:
        """Answer requests until the connection ends."""
        try:
            await super().start()
        finally:
            if self._own_transport is not None:
                self._own_transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the server, unless that has closed."""
        self._own_transport = cast(asyncio.Transport, transport)  # aiohttp forgets it before it is closed
        self._is_encrypted = transport.get_extra_info("sslcontext") is not None  # asyncio forgets it when it closes
        self._http_server.connections.add(self)
        super().connection_made(transport)
        if self._http_server.is_closed:  # since it was accepted
            self._own_transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio lets it say whether to stay open
        """Stay open for the answer to what was asked; a reader or a WebSocket client that sends no more has left."""
        self.peer_has_ended = True
        if self.is_upgraded:
            return False
        self.close()  # once what was asked is answered
        if self.stream is not None:
            self.stream.close(None)  # TR-017
        if self.current_request is not None and not self.current_request.content.is_eof():
            if self.is_reading_body:
                return False
            self.current_request.content.feed_eof()  # the rest of it is not wanted, so it is not waited for
        return self._own_transport is not None and not self._is_encrypted

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell the hub, if this was a reader, and the server."""
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
        """Answer in JSON what is no HTTP, and a defect of ours."""
        if isinstance(exc, HttpProcessingError) and status < 500:
            refusal = Refusal(status, "bad_request", "This cannot be read as an HTTP request.")
        else:
            if not isinstance(exc, ConnectionError):  # a peer that left is no defect
                self.logger.error("A request could not be answered.", exc_info=exc)
            refusal = SERVER_FAILED
        response = _to_aiohttp(refusal_response(refusal).complete({}))
        response.force_close()
        return response


def _to_aiohttp(response: Response) -> web.Response:
    if not response.body:
        return web.Response(status=response.status, headers=response.headers)
    return web.Response(status=response.status, body=response.body, headers=response.headers)


# -- one request ---------------------------------------------------------------------------


class HttpRequest(Request):
    """A request that aiohttp has read. ``response`` is the long answer that was sent, if there was one."""

    def __init__(self, server: HttpServer, request: web.BaseRequest, head: RequestHead) -> None:
        super().__init__(head)
        self.response: web.StreamResponse | None = None
        self._server = server
        self._request = request
        self._connection = cast(HttpConnection, request.protocol)

    async def call_hub(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function: the server runs on the hub's loop."""
        return function(*args)

    async def read_body(self, limit: int) -> bytes:
        """Return the whole body."""
        self._confirm_expectation()
        content = self._request.content
        connection = self._connection
        if content.is_eof() and content.exception() is None:  # it came with its head, as nearly always
            whole = content.read_nowait()
            if len(whole) > limit:
                raise body_too_large(limit)
            return whole
        if connection.peer_has_ended and not content.is_eof():
            raise body_incomplete()
        body = bytearray()
        connection.is_reading_body = True
        try:
            async with asyncio.timeout(self._server.request_timeout):
                async for piece in content.iter_any():
                    body += piece
                    if len(body) > limit:
                        raise body_too_large(limit)
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
        if transport is None or self._connection.peer_has_ended:
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
        finally:  # also when the reader leaves, which cancels us (TR-017)
            self._connection.stream = None
            self._server.streams.discard(stream)
            hub.disconnect(subscription_id, stream)

    async def run_websocket(self) -> None:
        """Upgrade to a WebSocket, and talk until it ends."""
        transport = self._request.transport
        self.response = websocket = await upgrade(self._request, limit=self._server.limit)
        self._connection.is_upgraded = True
        assert transport is not None  # else it was not upgraded
        conversation = WebSocketConversation(self._server.hub, self.peer, transport, websocket)
        self._server.conversations.add(conversation)
        try:
            with contextlib.suppress(ConnectionError):  # the client has left, and the hub is told
                await conversation.run(self._server.request_timeout)
        finally:
            self._server.conversations.discard(conversation)


# -- the server ----------------------------------------------------------------------------


class HttpServer:
    """An address where a hub is served over HTTP and WebSocket."""

    transports: Final = TRANSPORTS

    def __init__(
        self, hub: HubFace, router: Router, url: str, *, port: int, is_local: bool, limit: int, request_timeout: float
    ) -> None:
        self.url = url
        self.hub = hub
        self.limit = limit
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
        """Answer what comes to a socket."""
        self._listening = await asyncio.get_running_loop().create_server(
            self.make_connection, sock=bound, ssl=ssl_context, backlog=1024
        )
        self._schedule_heartbeat()

    def make_connection(self) -> HttpConnection:
        """Return the protocol for a connection that was accepted."""
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
            conversation.leave()
        self._aiohttp_server.pre_shutdown()
        await self._aiohttp_server.shutdown(_GRACE)
        if self.connections:
            self._all_gone = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._all_gone], timeout=_GRACE)
        for connection in [*self.connections]:
            connection.abort()

    def forget(self, connection: HttpConnection) -> None:
        """Note that a connection is gone."""
        self.connections.discard(connection)
        if not self.connections and self._all_gone is not None and not self._all_gone.done():
            self._all_gone.set_result(None)

    def _schedule_heartbeat(self) -> None:
        self._heartbeat = asyncio.get_running_loop().call_later(
            self.hub.settings.heartbeat_interval, self._send_heartbeats
        )

    def _send_heartbeats(self) -> None:
        for stream in self.streams:
            stream.heartbeat()
        self._schedule_heartbeat()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(HttpConnection, request.protocol)
        connection.current_request = request
        head = RequestHead.from_aiohttp(request, scheme=self._scheme, port=self._port, is_loopback=self._is_local)
        own_request = HttpRequest(self, request, head)
        response = await self._router.answer(own_request)
        if connection.peer_has_ended and not request.content.is_eof():
            request.content.feed_eof()
        if response is not None:
            return _to_aiohttp(response)
        assert own_request.response is not None  # it was sent
        return own_request.response


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> HttpServer:
    """
    Serve a hub at an http, https, ws or wss URL, which all name this server; its ``url`` keeps the scheme.

    Port 0 takes any free port; ``url`` has the real one. Without an identity or a token only this
    machine's user may connect. Beyond this machine one of them and TLS are required (TR-024).
    """
    parts, port = split_server_url(url, SCHEMES)
    ssl_context = make_ssl_context(url, parts.scheme, options.tls)
    path = WEBSOCKET if parts.scheme in ("ws", "wss") else ""
    address = await resolve_listen_address(
        url, parts, port, choose_identity(options), is_encrypted=ssl_context is not None, path=path
    )
    bound = bind_socket(url, address.numeric, port)
    port = bound.getsockname()[1]
    try:
        guard = Guard(
            is_local=address.is_local,
            origins=frozenset(options.origins),
            hosts=normalize_hosts(options.hosts).union(host.lower() for host in address.host_headers(port)),
        )
        limit = options.max_message_bytes
        router = Router(hub, guard, address.identity, limit=limit)
        server = HttpServer(
            hub,
            router,
            address.url(port),
            port=port,
            is_local=address.is_local,
            limit=limit,
            request_timeout=options.request_timeout,
        )
        await server.open(bound, ssl_context)
    except BaseException:
        bound.close()
        raise
    return server
