"""
An ASGI application that serves a hub: ``app.mount("/", producer.asgi())``.

It has the routes and rules of the HTTP server in :mod:`aaep.transports.http`, for any
ASGI 3 server or framework, such as Starlette, FastAPI, uvicorn or hypercorn. The server
may run on another event loop than the hub; calls to the hub are made on the hub's loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast

from ...errors import AaepError
from ...hub.face import HubFace
from ...identity.credentials import Local
from ...identity.origins import http_url
from ...identity.peer import Peer
from ...protocol.framing import encode_ndjson
from ...protocol.messages import SubscriptionClose
from ...runtime.signals import EndBeforeStop
from ..addresses import choose_identity
from ..base import Channel
from ..duplex_server import Conversation
from ..http.client import connect as connect_sse
from ..http.event_stream import HEARTBEAT, frame_close, frame_event
from ..http.guard import Guard, Refusal, normalize_hosts
from ..http.request import RequestHead
from ..http.routes import (
    SERVER_FAILED,
    STREAM_HEADERS,
    SUBPROTOCOL,
    TRANSPORTS,
    Request,
    Response,
    Router,
    body_incomplete,
    body_timed_out,
    body_too_large,
    refusal_response,
    shutting_down,
    upgrade_required,
)
from ..http.websocket_server import choose_close_code
from ..options import DEFAULT_CONNECT_OPTIONS, DEFAULT_SERVER_OPTIONS, ConnectOptions, ServerOptions
from .pipe import Pipe
from .serve import AsgiServer, serve_application

__all__ = ["Application", "connect", "serve"]

log: Final = logging.getLogger("aaep.asgi")

_POLL_INTERVAL: Final = 0.05  # seconds between checks of a full buffer

T = TypeVar("T")
Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class Application:
    """An ASGI application that serves a hub: a :class:`~aaep.hub.face.Server` whose address is unknown."""

    transports: Final = TRANSPORTS

    def __init__(
        self,
        hub: HubFace,
        options: ServerOptions = DEFAULT_SERVER_OPTIONS,
        on_stop: Callable[[], object] | None = None,
    ) -> None:
        """
        Serve a hub with the given options; TLS is up to the ASGI server.

        Without an identity or a token only the user of this machine may connect; requests that a proxy
        forwards do not count as that user's. ``on_stop`` closes the hub when a signal tells the server
        to stop; without it, the streams go on until somebody else does.
        """
        self.url = ""  # known only to the application in which it is mounted
        self.hub = hub
        self.max_message_bytes = options.max_message_bytes
        self.request_timeout = options.request_timeout
        identity = choose_identity(options)
        identity = Local() if identity is None else identity
        guard = Guard(
            is_local=isinstance(identity, Local),
            origins=frozenset(options.origins),
            hosts=normalize_hosts(options.hosts),
        )
        self._router = Router(hub, guard, identity, max_message_bytes=self.max_message_bytes)
        self._hub_calls: set[asyncio.Future[Any]] = set()  # pending calls on the hub's loop
        self._on_stop = on_stop
        self._stop_guard: EndBeforeStop | None = None

    async def close(self) -> None:
        """Stop answering requests. The hub has already ended the streams."""
        self._router.is_closed = True
        for future in [*self._hub_calls]:
            future.get_loop().call_soon_threadsafe(future.cancel)
        if self._stop_guard is not None:
            self._stop_guard.remove()

    def _guard_streams(self) -> None:
        """Make sure that the streams of this server end when it is told to stop: it waits for them."""
        loop = asyncio.get_running_loop()
        if self._on_stop is None or (self._stop_guard is not None and self._stop_guard.loop is loop):
            return
        self._stop_guard = EndBeforeStop(loop, self._on_stop)
        self._stop_guard.install()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request or WebSocket connection."""
        if scope["type"] != "lifespan":
            self._guard_streams()  # with the first request: a stream may follow just when the server is told to stop
        if scope["type"] == "http":
            await self._answer(HttpRequest(self, scope, receive, send))
        elif scope["type"] == "websocket":
            await self._answer_websocket(WebSocketRequest(self, scope, receive, send))
        elif scope["type"] == "lifespan":  # only when served on its own, not mounted
            await _answer_lifespan(receive, send)
        else:
            raise AaepError(f"This application answers HTTP and WebSocket, not {scope['type']!r}.")

    async def _answer(self, request: HttpRequest) -> None:
        try:
            response = await self._router.answer(request)
        except Exception:
            log.exception("A request could not be answered.")
            if request.has_started:
                raise
            response = refusal_response(SERVER_FAILED).complete(request.cors_headers)
        if response is not None:
            await _send_response(request.send, response)

    async def _answer_websocket(self, request: WebSocketRequest) -> None:
        await request.receive()  # websocket.connect
        response = await self._router.answer(request)
        if response is None:
            return
        if request.can_refuse_with_response:
            await _send_response(request.send, response, "websocket.http.response")
        else:
            await request.send({"type": "websocket.close", "code": 1008})  # the client sees a plain 403

    async def call_hub(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function on the hub's loop and return its result."""
        self.hub.start()
        if self.hub.is_on_loop:
            return function(*args)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def finish(value: T | None, error: Exception | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(cast(T, value))

        def call() -> None:
            try:
                value = function(*args)
            except Exception as error:
                loop.call_soon_threadsafe(finish, None, error)
            else:
                loop.call_soon_threadsafe(finish, value, None)

        self._hub_calls.add(future)
        self.hub.call_soon(call)
        try:
            return await future
        except asyncio.CancelledError:
            if self._router.is_closed:
                raise shutting_down() from None
            raise
        finally:
            self._hub_calls.discard(future)


# -- requests --------------------------------------------------------------------------------


class AsgiRequest(Request):
    """A request read by an ASGI server."""

    def __init__(self, application: Application, scope: Scope, receive: Receive, send: Send) -> None:
        super().__init__(RequestHead.from_asgi(scope))
        self.receive = receive
        self.send = send
        self._application = application
        self._hub = application.hub

    async def call_hub(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function on the hub's loop."""
        return await self._application.call_hub(function, *args)


class HttpRequest(AsgiRequest):
    """An HTTP request, as opposed to a WebSocket upgrade."""

    has_started = False  # whether the head of the response was sent

    async def read_body(self, max_bytes: int) -> bytes:
        """Return the body; raise :exc:`Refusal` if it is too long, incomplete or too slow."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._application.request_timeout):
                while True:
                    message = await self.receive()
                    if message["type"] != "http.request":
                        raise body_incomplete()
                    body += message.get("body", b"")
                    if len(body) > max_bytes:
                        raise body_too_large(max_bytes)
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise body_timed_out() from None

    async def stream_events(self, subscription_id: str, after: str) -> None:
        """Send the events of a subscription until the stream ends."""
        stream = EventStream()

        def connect() -> None:
            stream.subscription_id = self._hub.connect(subscription_id, self.peer, stream, after)

        def disconnect() -> None:
            if stream.subscription_id is not None:
                self._hub.disconnect(stream.subscription_id, stream)

        try:
            await self.call_hub(connect)
            self.has_started = True
            await self.send(_build_response_start(200, {**STREAM_HEADERS, **self.cors_headers}))
            await _run_until_first(self._send_stream(stream.pipe), self._wait_for_disconnect(), stream.pipe)
        finally:  # also when the reader leaves (TR-017)
            stream.pipe.end()
            self._hub.call_soon(disconnect)  # after the calls for this reader that are already queued

    async def _send_stream(self, pipe: Pipe) -> None:
        await self.send(_build_body_part(HEARTBEAT))
        is_ended = False
        while not is_ended:
            data, is_ended = await pipe.take(self._hub.settings.heartbeat_interval)
            await self.send(_build_body_part(data if data or is_ended else HEARTBEAT))
            pipe.mark_sent(len(data))
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait_for_disconnect(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def run_websocket(self) -> None:
        """Raise a :exc:`Refusal`: WebSocket upgrades arrive as :class:`WebSocketRequest`."""
        raise upgrade_required()


class WebSocketRequest(AsgiRequest):
    """A request to upgrade to a WebSocket."""

    def __init__(self, application: Application, scope: Scope, receive: Receive, send: Send) -> None:
        super().__init__(application, scope, receive, send)
        self.can_refuse_with_response = "websocket.http.response" in scope.get("extensions", {})

    async def read_body(self, max_bytes: int) -> bytes:
        """Raise a :exc:`Refusal`: an upgrade has no body."""
        raise body_incomplete()

    async def stream_events(self, subscription_id: str, after: str) -> None:
        """Raise a :exc:`Refusal`: an upgrade cannot be answered with a stream."""
        raise upgrade_required()

    async def run_websocket(self) -> None:
        """Accept the WebSocket and serve it until it ends."""
        conversation = AsgiConversation(self._hub, self.peer)
        try:
            await self.call_hub(conversation.start, self._application.request_timeout)
            await self.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
            sending = self._send_messages(conversation)
            receiving = self._receive_messages(conversation)
            await _run_until_first(sending, receiving, conversation.pipe)
        finally:
            conversation.pipe.end()
            self._hub.call_soon(conversation.mark_lost)

    async def _send_messages(self, conversation: AsgiConversation) -> None:
        is_ended = False
        while not is_ended:
            data, is_ended = await conversation.pipe.take(self._hub.settings.heartbeat_interval)
            for line in data.splitlines():
                await self.send({"type": "websocket.send", "text": line.decode()})  # WS-004, WS-005
            conversation.pipe.mark_sent(len(data))
        await self.send({"type": "websocket.close", "code": conversation.close_code})

    async def _receive_messages(self, conversation: AsgiConversation) -> None:
        while (message := await self.receive())["type"] == "websocket.receive":
            text = message.get("text")
            raw = text.encode() if text is not None else message.get("bytes") or b""  # CF-099
            try:
                await self.call_hub(
                    conversation.receive, raw if len(raw) <= self._application.max_message_bytes else b""
                )  # CF-114
            except Refusal:  # the hub is closing; its last messages are still sent
                await conversation.pipe.aborted.wait()
            # Events stop at high_water_bytes. Beyond it, stop reading until the client has read its answers.
            while not conversation.pipe.is_ended and (
                conversation.is_paused or conversation.count_unsent_bytes() > 2 * self._hub.settings.high_water_bytes
            ):
                await asyncio.sleep(_POLL_INTERVAL)  # there is no notification for this


# -- frame writers ---------------------------------------------------------------------------


class EventStream:
    """One reader's server-sent events: the hub's FrameWriter. Created on the server's loop, used on the hub's."""

    def __init__(self) -> None:
        self.frame: Callable[[str, bytes], bytes] = frame_event
        self.pipe = Pipe()
        self.write = self.pipe.write
        self.count_unsent_bytes = self.pipe.count_unsent_bytes
        self.subscription_id: str | None = None

    def close(self, message: SubscriptionClose | None) -> None:
        """End the stream, after the close message if there is one."""
        if message is not None:
            self.write(frame_close(message))
        self.pipe.end()
        self.pipe.linger()


def _frame_line(event_id: str, data: bytes) -> bytes:
    return encode_ndjson(data)  # encoded JSON has no line breaks, so concatenated frames can be split again


class AsgiConversation(Conversation):
    """One client's WebSocket, with a line per message. Created on the server's loop, used on the hub's."""

    def __init__(self, hub: HubFace, peer: Peer) -> None:
        super().__init__(hub, peer)
        self.frame = _frame_line
        self.pipe = Pipe()
        self.write = self.pipe.write
        self.count_unsent_bytes = self.pipe.count_unsent_bytes
        self.close_code = 1000

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Make the server close the WebSocket with the code for a reason."""
        self.close_code = choose_close_code(reason, message)
        self.pipe.end()

    def linger(self) -> None:
        """Keep the connection open while the client reads, timed on the server's loop, which may outlive the hub's."""
        self.pipe.linger()

    def abort(self) -> None:
        """Make the server drop the connection."""
        self.pipe.abort()


# -- ASGI messages ---------------------------------------------------------------------------


def _build_response_start(status: int, headers: Mapping[str, str], kind: str = "http.response") -> dict[str, Any]:
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": f"{kind}.start", "status": status, "headers": pairs}


def _build_body_part(data: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": True}


async def _send_response(send: Send, response: Response, kind: str = "http.response") -> None:
    length = {} if response.status == 204 else {"Content-Length": str(len(response.body))}
    await send(_build_response_start(response.status, {**response.headers, **length}, kind))
    await send({"type": f"{kind}.body", "body": response.body})


async def _run_until_first(sending: Awaitable[None], receiving: Awaitable[None], pipe: Pipe) -> None:
    """Run until everything is sent, the client leaves, or the pipe is aborted because the client stops reading."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in (sending, receiving, pipe.aborted.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        # ASGI servers raise an OSError when the client has left.
        if isinstance(result, Exception) and not isinstance(result, OSError):
            raise result


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


# -- the transport asgi+http -----------------------------------------------------------------


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> Channel:
    """Return a channel to the server at an ``asgi+http:`` URL, which clients reach over HTTP."""
    return connect_sse(http_url(url), options)


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> AsgiServer:
    """
    Serve a hub at a URL such as ``asgi+http://127.0.0.1:0``, on this machine only. Needs uvicorn.

    To serve it within another application, mount ``producer.asgi()``.
    """
    return await serve_application(url, Application(hub, options))
