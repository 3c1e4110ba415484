"""
A hub inside another web application: ``app.mount("/", producer.asgi())``.

Everything that the HTTP server of :mod:`aaep.transports.http` answers, on the
same paths and by the same rules, for whatever speaks ASGI 3: Starlette, FastAPI,
uvicorn, hypercorn. The server may have a loop of its own; what goes to the hub is
done on the hub's.
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
from ..http.websocket_server import close_code
from ..options import DEFAULT_CONNECT_OPTIONS, DEFAULT_SERVER_OPTIONS, ConnectOptions, ServerOptions
from .pipe import Pipe
from .serve import AsgiServer, serve_application

__all__ = ["Application", "connect", "serve"]

log: Final = logging.getLogger("aaep.asgi")

_POLL_INTERVAL: Final = 0.05  # seconds until a full buffer is looked at again

T = TypeVar("T")
Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class Application:
    """A hub as an ASGI application. To the hub, a :class:`~aaep.hub.face.Server` whose address it does not know."""

    transports: Final = TRANSPORTS

    def __init__(self, hub: HubFace, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> None:
        """
        Serve a hub with the given options; TLS is for the ASGI server to provide.

        Without an identity or a token only this machine's user is let in, and a proxy that passes on what
        others send is not taken for that user.
        """
        self.url = ""  # known only to the application that it is mounted in
        self.hub = hub
        self.limit = options.max_message_bytes
        self.request_timeout = options.request_timeout
        identity = choose_identity(options)
        identity = Local() if identity is None else identity
        guard = Guard(
            is_local=isinstance(identity, Local),
            origins=frozenset(options.origins),
            hosts=normalize_hosts(options.hosts),
        )
        self._router = Router(hub, guard, identity, limit=self.limit)
        self._hub_calls: set[asyncio.Future[Any]] = set()  # that the hub has not made yet

    async def close(self) -> None:
        """Answer no more requests. The hub has ended the streams."""
        self._router.is_closed = True
        for future in [*self._hub_calls]:
            future.get_loop().call_soon_threadsafe(future.cancel)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hold one WebSocket."""
        if scope["type"] == "http":
            await self._answer(HttpRequest(self, scope, receive, send))
        elif scope["type"] == "websocket":
            await self._answer_websocket(WebSocketRequest(self, scope, receive, send))
        elif scope["type"] == "lifespan":  # only where it is not mounted but served
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
            await request.send({"type": "websocket.close", "code": 1008})  # to a client it is a plain 403

    async def call_hub(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function on the hub's loop, and wait here for its result."""
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


# -- one request -----------------------------------------------------------------------------


class AsgiRequest(Request):
    """A request that an ASGI server has read."""

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
    """A request that is answered over HTTP."""

    has_started = False  # whether the head of the answer was sent

    async def read_body(self, limit: int) -> bytes:
        """Return the whole body."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._application.request_timeout):
                while True:
                    message = await self.receive()
                    if message["type"] != "http.request":
                        raise body_incomplete()
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise body_too_large(limit)
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
            await self.send(_response_start(200, {**STREAM_HEADERS, **self.cors_headers}))
            await _run_until_first(self._send_stream(stream.pipe), self._wait_until_left(), stream.pipe)
        finally:  # also when the reader leaves (TR-017)
            stream.pipe.end()
            self._hub.call_soon(disconnect)  # after whatever is to be done there for this reader

    async def _send_stream(self, pipe: Pipe) -> None:
        await self.send(_body_part(HEARTBEAT))
        is_ended = False
        while not is_ended:
            data, is_ended = await pipe.take(self._hub.settings.heartbeat_interval)
            await self.send(_body_part(data if data or is_ended else HEARTBEAT))
            pipe.taken(len(data))
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait_until_left(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def run_websocket(self) -> None:
        """Refuse: what is an upgrade comes as a WebSocketRequest."""
        raise upgrade_required()


class WebSocketRequest(AsgiRequest):
    """A request to upgrade to a WebSocket."""

    def __init__(self, application: Application, scope: Scope, receive: Receive, send: Send) -> None:
        super().__init__(application, scope, receive, send)
        self.can_refuse_with_response = "websocket.http.response" in scope.get("extensions", {})

    async def read_body(self, limit: int) -> bytes:
        """Refuse: an upgrade has no body."""
        raise body_incomplete()

    async def stream_events(self, subscription_id: str, after: str) -> None:
        """Refuse: an upgrade is answered by no stream."""
        raise upgrade_required()

    async def run_websocket(self) -> None:
        """Accept the WebSocket, and talk until it ends."""
        conversation = AsgiConversation(self._hub, self.peer)
        try:
            await self.call_hub(conversation.start, self._application.request_timeout)
            await self.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
            sending, receiving = self._send_messages(conversation), self._take_messages(conversation)
            await _run_until_first(sending, receiving, conversation.pipe)
        finally:
            conversation.pipe.end()
            self._hub.call_soon(conversation.lost)

    async def _send_messages(self, conversation: AsgiConversation) -> None:
        is_ended = False
        while not is_ended:
            data, is_ended = await conversation.pipe.take(self._hub.settings.heartbeat_interval)
            for line in data.splitlines():
                await self.send({"type": "websocket.send", "text": line.decode()})  # WS-004, WS-005
            conversation.pipe.taken(len(data))
        await self.send({"type": "websocket.close", "code": conversation.close_code})

    async def _take_messages(self, conversation: AsgiConversation) -> None:
        while (message := await self.receive())["type"] == "websocket.receive":
            text = message.get("text")
            raw = text.encode() if text is not None else message.get("bytes") or b""  # CF-099
            try:
                await self.call_hub(conversation.receive, raw if len(raw) <= self._application.limit else b"")  # CF-114
            except Refusal:  # the hub closes; what it has said last is still sent
                await conversation.pipe.aborted.wait()
            # Events stop at high_water. A client that takes no answers beyond it is not read before it does.
            while not conversation.pipe.is_ended and conversation.waiting() > 2 * self._hub.settings.high_water_bytes:
                await asyncio.sleep(_POLL_INTERVAL)  # nothing tells when a client has taken something


# -- what the hub writes to ------------------------------------------------------------------


class EventStream:
    """One reader's server-sent events: the hub's FrameWriter. Made on the server's loop; used on the hub's."""

    def __init__(self) -> None:
        self.frame: Callable[[str, bytes], bytes] = frame_event
        self.pipe = Pipe()
        self.write = self.pipe.write
        self.waiting = self.pipe.waiting
        self.subscription_id: str | None = None

    def close(self, message: SubscriptionClose | None) -> None:
        """End the stream, saying why if there is something to say."""
        if message is not None:
            self.write(frame_close(message))
        self.pipe.end()
        self.pipe.linger()


def _frame_line(event_id: str, data: bytes) -> bytes:
    return encode_ndjson(data)  # JSON has no line ends of its own, so what was joined can be parted again


class AsgiConversation(Conversation):
    """One client's WebSocket, a line for each message. Made on the server's loop; used on the hub's."""

    def __init__(self, hub: HubFace, peer: Peer) -> None:
        super().__init__(hub, peer)
        self.frame = _frame_line
        self.pipe = Pipe()
        self.write = self.pipe.write
        self.waiting = self.pipe.waiting
        self.close_code = 1000

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Have the WebSocket closed with the code for a reason."""
        self.close_code = close_code(reason, message)
        self.pipe.end()

    def linger(self) -> None:
        """Linger on the server's loop, which may outlive the hub's."""
        self.pipe.linger()

    def abort(self) -> None:
        """Have the connection dropped."""
        self.pipe.abort()


# -- ASGI ------------------------------------------------------------------------------------


def _response_start(status: int, headers: Mapping[str, str], kind: str = "http.response") -> dict[str, Any]:
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": f"{kind}.start", "status": status, "headers": pairs}


def _body_part(data: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": True}


async def _send_response(send: Send, response: Response, kind: str = "http.response") -> None:
    length = {} if response.status == 204 else {"Content-Length": str(len(response.body))}
    await send(_response_start(response.status, {**response.headers, **length}, kind))
    await send({"type": f"{kind}.body", "body": response.body})


async def _run_until_first(sending: Awaitable[None], receiving: Awaitable[None], pipe: Pipe) -> None:
    """Run until everything is sent, the client has left, or it has taken nothing of what is left for too long."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in (sending, receiving, pipe.aborted.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        # A server says with an OSError that the client has left.
        if isinstance(result, Exception) and not isinstance(result, OSError):
            raise result


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


# -- as a transport of its own ---------------------------------------------------------------


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> Channel:
    """Return a channel to a server at an ``asgi+http:`` URL, which from outside is HTTP."""
    return connect_sse(http_url(url), options)


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> AsgiServer:
    """
    Serve a hub at a URL like ``asgi+http://127.0.0.1:0``, on this machine only. Needs uvicorn.

    In an application of your own, mount ``producer.asgi()``.
    """
    return await serve_application(url, Application(hub, options))
