"""
Server-sent events and HTTP POST: Appendix B.1.

``POST /aaep/v1/subscriptions`` shakes hands, ``GET /aaep/v1/events`` is the
stream, ``POST /aaep/v1/replies`` takes replies, renegotiations and closes. The
manifest is at ``/.well-known/aaep-manifest.json``; ``/healthz`` and ``/metrics``
are for whoever keeps the machine.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl as tls
import time
from collections.abc import Awaitable, Callable, Iterable
from email.utils import formatdate
from functools import lru_cache
from typing import Final, Protocol, cast

from aiohttp import HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError

from ...hub.face import HubFace, SubscriptionGone, UnknownSubscription
from ...identity.credentials import Identity, Unauthorised
from ...identity.origins import split
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.framing import MAX_MESSAGE_BYTES, encode_sse
from ...protocol.messages import SubscriptionClose
from ...runtime.background import close_server
from ..addresses import admitting, context, listening, placed
from .client import connect
from .guard import Guard, Refusal, admission, named, shown
from .routes import (
    ALWAYS,
    EVENTS,
    HEALTH,
    MANIFEST,
    METRICS,
    REPLIES,
    STREAM,
    SUBSCRIPTIONS,
    VARY,
    Said,
    check_head,
    denied,
    last,
    manifest,
    refused,
    replied,
    subscribed,
    too_large,
    wanted,
)

__all__ = ["Connection", "EventStream", "HttpDoor", "answered", "connect", "serve"]

log: Final = logging.getLogger("aaep.http")

NOBODY: Final = Peer("", roles=frozenset())
CUT_OFF: Final = Refusal(400, "bad_request", "The body was not sent as its head announced.")
_GRACE: Final = 0.4  # seconds for what is under way when a door closes

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


# -- one reader's events ------------------------------------------------------------------
HEARTBEAT: Final = b":\n\n"
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its stream ended


def _bare(event_id: str, data: bytes) -> bytes:
    if _simple(event_id, data):
        return b"event: aaep.event\nid: %b\ndata: %b\n\n" % (event_id.encode(), data)
    return encode_sse(data, id=event_id)  # SSE-009, SSE-011, SSE-012


def _chunked(event_id: str, data: bytes) -> bytes:
    if _simple(event_id, data):
        name = event_id.encode()
        return b"".join((_head(len(name) + len(data)), name, b"\ndata: ", data, b"\n\n\r\n"))
    return _chunk(encode_sse(data, id=event_id))


def _simple(event_id: str, data: bytes) -> bool:
    """Whether each is one line, as nearly all are."""
    return event_id.isidentifier() and event_id.isascii() and 10 not in data and 13 not in data


@lru_cache(maxsize=4096)
def _head(size: int) -> bytes:
    """Of a chunk with one event, all before its id; ``size`` is that of id and data."""
    return b"%x\r\nevent: aaep.event\nid: " % (len(b"event: aaep.event\nid: \ndata: \n\n") + size)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class EventStream:
    """
    One reader's stream: the hub's FrameWriter.

    Frames go straight to the socket, so they bring their chunk header along.
    What is written before the head of the response is out waits for it.
    """

    __slots__ = ("_chunked", "_early", "_transport", "ended", "frame", "lost")

    def __init__(self, transport: asyncio.Transport, *, chunked: bool) -> None:
        self.frame: Callable[[str, bytes], bytes] = _chunked if chunked else _bare
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._chunked = chunked
        self._transport = transport
        self._early: list[bytes] | None = []
        # Told at once when the connection is lost: nothing may be written to a transport that is gone.
        self.lost: Callable[[], None] = _nobody

    def open(self) -> None:
        """The head is out."""
        self._transport.write(b"".join(self._early or ()) or self._wrapped(HEARTBEAT))
        self._early = None

    @property
    def sink(self) -> EventStream | asyncio.Transport:
        """What the hub writes to, for every reader each time: once the head is out, the socket itself."""
        return self._transport if self._early is None and not self.ended.done() else self

    def write(self, data: bytes) -> None:
        if self.ended.done() or self._transport.is_closing():
            return  # the hub is about to hear of it
        if self._early is not None:
            self._early.append(data)
        else:
            self._transport.write(data)

    def waiting(self) -> int:
        return self._transport.get_write_buffer_size() + sum(map(len, self._early or ()))

    def heartbeat(self) -> None:
        """Show that we are still there, unless something is on its way that shows it."""
        if not self.waiting():
            self.write(self._wrapped(HEARTBEAT))

    def close(self, message: SubscriptionClose | None) -> None:
        if self.ended.done():
            return
        if message is not None:
            self.write(self._wrapped(encode_sse(encode(message), event="aaep.close")))  # CF-088: without an id
        self.ended.set_result(None)
        # A reader that takes nothing would keep its socket, and what waits in it, for ever.
        asyncio.get_running_loop().call_later(_LINGER, self._transport.abort)

    def _wrapped(self, data: bytes) -> bytes:
        return _chunk(data) if self._chunked else data


def _nobody() -> None:
    """Nobody has to be told yet."""


# -- one connection ------------------------------------------------------------------------


class Closing(Protocol):
    """A door, as far as its connections know it."""

    closed: bool


class Connection(web.RequestHandler):
    """aiohttp's connection, which answers in JSON to what is no HTTP too, and ends with its door."""

    __slots__ = ("_closing",)

    def __init__(self, door: Closing, server: web.Server, log: logging.Logger, patience: float) -> None:
        # No access log: a subscription id is in the URL, and what people are asked is nobody else's business.
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way to say none
            logger=log,
            auto_decompress=False,
            keepalive_timeout=patience,  # also the time to send a head
            lingering_time=5.0,
        )
        self._closing = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._closing.closed:  # since it was accepted
            cast(asyncio.Transport, transport).abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if isinstance(exc, HttpProcessingError) and status < 500:
            refusal = Refusal(status, "bad_request", "This cannot be read as an HTTP request.")
        else:
            if not isinstance(exc, ConnectionError):  # a peer that left is no defect
                self.logger.error("A request could not be answered.", exc_info=exc)
            refusal = Refusal(500, "internal_error", "The server failed, which is a defect.")
        response = answered(refused(refusal))
        response.force_close()
        return response


def answered(said: Said, kind: str = "application/json") -> web.Response:
    """An answer as aiohttp wants it. ``kind`` is that of its body, if it has one."""
    headers = {**ALWAYS, **said.headers}
    if not said.body:
        return web.Response(status=said.status, headers=headers)
    return web.Response(status=said.status, body=said.body, content_type=kind, headers=headers)


class HttpConnection(Connection):
    """
    A connection that is known to its door.

    A client may send its request, say that it has no more to say, and wait for
    the answer. aiohttp would drop it, and with it perhaps a person's reply.
    """

    __slots__ = ("_door", "_encrypted", "_wire", "asked", "ended", "peer", "reading", "stream")

    def __init__(self, door: HttpDoor, server: web.Server, patience: float) -> None:
        super().__init__(door, server, log, patience)
        self._door = door
        self._wire: asyncio.BaseTransport | None = None
        self._encrypted = False
        self.ended = False  # the other side sends nothing more
        self.asked: web.BaseRequest | None = None  # the last request
        self.peer = NOBODY  # who sent it
        self.reading = False  # its body
        self.stream: EventStream | None = None

    async def start(self) -> None:
        try:
            await super().start()
        finally:
            if self._wire is not None:
                self._wire.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = transport  # aiohttp forgets it before it is closed
        self._encrypted = transport.get_extra_info("sslcontext") is not None  # asyncio forgets it when it closes
        self._door.wires.add(cast(asyncio.Transport, transport))
        super().connection_made(transport)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio lets it say whether to stay open
        self.ended = True
        self.close()  # once what was asked is answered
        if self.stream is not None:
            self.stream.close(None)  # TR-017: whoever only listens has left
        if self.asked is not None and not self.asked.content.is_eof():
            if self.reading:
                return False
            self.asked.content.feed_eof()  # nobody wants the rest of it, so nobody waits for it
        return self._wire is not None and not self._encrypted

    def connection_lost(self, exc: BaseException | None) -> None:
        if self.stream is not None:
            self.stream.lost()
        self._door.left(cast(asyncio.Transport, self._wire))
        super().connection_lost(exc)


def _peer(request: web.BaseRequest) -> Peer:
    return cast(HttpConnection, request.protocol).peer


@lru_cache(maxsize=1)
def _silence(second: int) -> bytes:
    """What a reply is answered, whatever became of it (CF-012), as aiohttp would write it."""
    head = {**ALWAYS, "Date": formatdate(second, usegmt=True)}
    return "".join(["HTTP/1.1 204 No Content\r\n", *(f"{name}: {head[name]}\r\n" for name in head), "\r\n"]).encode()


class Silence(web.StreamResponse):
    """
    The answer to a reply, written straight to the socket: somebody waits for it, and one object serves all.

    It is for those who stay, have taken what they were sent, and are no web page; aiohttp answers the others.
    """

    keep_alive = True

    @staticmethod
    def fits(request: web.BaseRequest) -> bool:
        wire = request.transport
        if wire is None or wire.is_closing() or wire.get_write_buffer_size() or not request.keep_alive:
            return False
        return request.version == HttpVersion11 and "Origin" not in request.headers

    async def prepare(self, request: web.BaseRequest) -> None:
        if request.transport is not None:
            request.transport.write(_silence(int(time.time())))

    async def write_eof(self, data: bytes = b"") -> None:
        """It has no body."""


SILENCE: Final = Silence()


# -- the door ------------------------------------------------------------------------------


class HttpDoor:
    """An address where a hub is served over HTTP."""

    transport: Final = "sse"  # its name in a manifest (CF-119)

    def __init__(
        self, hub: HubFace, guard: Guard, identity: Identity, url: str, *, limit: int, patience: float
    ) -> None:
        self.url = url
        self.wires: set[asyncio.Transport] = set()
        self.closed = False
        self._hub = hub
        self._guard = guard
        self._limit = limit
        self._patience = patience
        self._identity = identity
        self._streams: set[EventStream] = set()
        self._empty: asyncio.Future[None] | None = None
        self._server = web.Server(self._answer, handler_cancellation=True)
        self._listening: asyncio.Server | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._places: dict[str, dict[str, Answer]] = {
            SUBSCRIPTIONS: {"POST": self._subscribe},
            EVENTS: {"GET": self._events},
            REPLIES: {"POST": self._reply},
            MANIFEST: {"GET": self._manifest, "HEAD": self._manifest},
            HEALTH: {"GET": self._health, "HEAD": self._health},
            METRICS: {"GET": self._metrics, "HEAD": self._metrics},
        }

    async def open(self, opened: socket.socket, context: tls.SSLContext | None) -> None:
        """Answer what comes to a socket."""
        self._listening = await asyncio.get_running_loop().create_server(
            lambda: HttpConnection(self, self._server, self._patience), sock=opened, ssl=context, backlog=1024
        )
        self._beat_later()

    async def close(self) -> None:
        """Stop listening and let go of every connection. Closing twice is fine."""
        if self._listening is None:
            return
        server, self._listening, self.closed = self._listening, None, True
        await close_server(server)
        if self._beat is not None:
            self._beat.cancel()
        for stream in [*self._streams]:
            stream.close(None)
        self._server.pre_shutdown()
        await self._server.shutdown(_GRACE / 2)
        if self.wires:
            self._empty = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._empty], timeout=_GRACE)
        for wire in [*self.wires]:
            wire.abort()

    def left(self, wire: asyncio.Transport) -> None:
        self.wires.discard(wire)
        if not self.wires and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    def _beat_later(self) -> None:
        self._beat = asyncio.get_running_loop().call_later(self._hub.settings.heartbeat_interval, self._beat_now)

    def _beat_now(self) -> None:
        for stream in self._streams:
            stream.heartbeat()
        self._beat_later()

    # -- every request ---------------------------------------------------------------------

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        sharing: dict[str, str] = {}
        connection = cast(HttpConnection, request.protocol)
        connection.asked = request
        try:
            self._guard.check(request)
            sharing = self._guard.sharing(request)
            if sharing and request.method == "OPTIONS":
                return self._preflight(request, sharing)
            if request.path != HEALTH:
                given = shown(request, self.transport, loopback=self._guard.loopback)
                connection.peer = NOBODY
                connection.peer = await admission(self._identity, given)
            response = await self._placed(request)(request)
        except Refusal as refusal:
            response = answered(denied(request.path, refusal))
        if connection.ended and not request.content.is_eof():
            request.content.feed_eof()
        if not response.prepared:
            response.headers.update(sharing)
        return response

    def _placed(self, request: web.BaseRequest) -> Answer:
        place = self._places.get(request.path)
        if place is None:
            raise Refusal(404, "not_found", f"There is nothing here. Events are at {EVENTS}.")
        if request.method not in place:
            allowed = ", ".join(place)
            raise Refusal(405, "method_not_allowed", f"Use {allowed} here.", {"Allow": allowed})
        return place[request.method]

    def _preflight(self, request: web.BaseRequest, sharing: dict[str, str]) -> web.Response:
        """A browser asks, for a page on the list, whether its script may send such a request."""
        allowed = {
            "Access-Control-Allow-Methods": ", ".join(self._places.get(request.path, ())) or "GET",
            "Access-Control-Allow-Headers": "Authorization, Cache-Control, Content-Type, Last-Event-ID",
        }
        return web.Response(status=204, headers={**ALWAYS, **sharing, **allowed})

    async def _body(self, request: web.BaseRequest) -> bytes:
        """What was posted, once its head has shown that it may be read."""
        encoding = request.headers.get("Content-Encoding", "identity")
        types = request.headers.getall("Content-Type", [])
        check_head(types, encoding, request.content_length or 0, self._limit)
        self._go_on(request)
        connection = cast(HttpConnection, request.protocol)
        if request.content.is_eof() and request.content.exception() is None:  # it came with its head, as nearly always
            whole = request.content.read_nowait()
            if len(whole) > self._limit:
                raise too_large(self._limit)
            return whole
        if connection.ended and not request.content.is_eof():
            raise CUT_OFF
        body = bytearray()
        connection.reading = True
        try:
            async with asyncio.timeout(self._patience):
                async for piece in request.content.iter_any():
                    body += piece
                    if len(body) > self._limit:
                        raise too_large(self._limit)
        except TimeoutError:
            request.content.feed_eof()
            raise Refusal(408, "timeout", "The body did not come in time.", {"Connection": "close"}) from None
        except web.RequestPayloadError:
            raise CUT_OFF from None
        finally:
            connection.reading = False
        return bytes(body)

    def _go_on(self, request: web.BaseRequest) -> None:
        expected = request.headers.get("Expect", "")
        if expected and expected.lower() != "100-continue":
            raise Refusal(417, "expectation_failed", "Nothing but 100-continue can be expected.")
        if expected and request.version >= HttpVersion11 and request.transport is not None:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # -- handshake and replies -------------------------------------------------------------

    async def _subscribe(self, request: web.BaseRequest) -> web.StreamResponse:
        return answered(subscribed(self._hub, await self._body(request), _peer(request)))

    async def _reply(self, request: web.BaseRequest) -> web.StreamResponse:
        said = replied(self._hub, await self._body(request), _peer(request))
        return SILENCE if said.status == 204 and Silence.fits(request) else answered(said)

    # -- the stream ------------------------------------------------------------------------

    async def _events(self, request: web.BaseRequest) -> web.StreamResponse:
        wire, connection = request.transport, cast(HttpConnection, request.protocol)
        if wire is None or connection.ended:
            raise Refusal(400, "bad_request", "A reader keeps its side of the connection open.")
        stream = EventStream(wire, chunked=request.version >= HttpVersion11)
        try:
            name = wanted(request.query.getall("subscription_id", []))
            after = last(request.headers.get("Last-Event-ID", ""), request.query.get("last_event_id", ""))
            subscription_id = self._hub.connect(name, connection.peer, stream, after)
        except SubscriptionGone:
            return web.Response(status=204, headers=ALWAYS)  # CF-092: stops EventSource
        except UnknownSubscription as error:
            raise Refusal(404, "unknown_subscription", f"{error} That is POST {SUBSCRIPTIONS}.") from None
        except Unauthorised as error:
            raise Refusal(403, "authorization_denied", str(error)) from None
        self._streams.add(stream)
        stream.lost = lambda: self._hub.disconnect(subscription_id, stream)
        connection.stream = stream
        try:
            response = web.StreamResponse(headers={**STREAM, **self._guard.sharing(request)})
            if request.version >= HttpVersion11:
                response.enable_chunked_encoding()
            response.force_close()
            await response.prepare(request)
            stream.open()
            await stream.ended
        finally:  # also when the reader leaves, which cancels us (TR-017)
            connection.stream = None
            self._streams.discard(stream)
            self._hub.disconnect(subscription_id, stream)
        return response

    # -- about the server ------------------------------------------------------------------

    async def _manifest(self, request: web.BaseRequest) -> web.StreamResponse:
        body, kind = manifest(self._hub, request.headers)
        return web.Response(body=body, content_type=kind, headers={**ALWAYS, **VARY})

    async def _health(self, request: web.BaseRequest) -> web.StreamResponse:
        return answered(Said(200, b'{"status":"ok"}'))

    async def _metrics(self, request: web.BaseRequest) -> web.StreamResponse:
        text = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return web.Response(body=self._hub.metrics().encode(), headers={**ALWAYS, **text})


# -- opening a door ------------------------------------------------------------------------


async def serve(
    hub: HubFace,
    url: str,
    *,
    identity: Identity | None = None,
    token: str | None = None,
    ssl: tls.SSLContext | None = None,
    cert: str | None = None,
    key: str | None = None,
    client_ca: str | None = None,
    origins: Iterable[str] = (),
    hosts: Iterable[str] = (),
    limit: int = MAX_MESSAGE_BYTES,
    patience: float = 30.0,
) -> HttpDoor:
    """
    Serve a hub at a URL. Port 0 takes any free one; the door's ``url`` has the real one.

    Who may connect is this machine's user, or whom the ``identity`` lets in; ``token``
    is short for one token that never expires. Beyond this machine one of them and TLS
    (``ssl``, or the files ``cert`` and ``key``) are required. ``client_ca`` is a file of
    those who issue certificates to clients, for mutual TLS.
    ``origins`` are web pages that may use it, ``hosts`` further values of the Host
    header that are ours, such as the end of a tunnel. ``patience`` is how long, in
    seconds, a request may take to arrive.
    """
    parts, port = split(url)
    encryption = context(url, parts.scheme, ssl, cert, key, client_ca)
    place = await placed(url, parts, port, admitting(identity, token), encrypted=encryption is not None)
    opened = listening(url, place.numeric, port)
    port = opened.getsockname()[1]
    try:
        guard = Guard(
            scheme=parts.scheme,
            port=port,
            loopback=place.local,
            origins=frozenset(origins),
            hosts=named(hosts).union(one.lower() for one in place.answers_to(port)),
        )
        door = HttpDoor(hub, guard, place.admits, place.at(port), limit=limit, patience=patience)
        await door.open(opened, encryption)
    except BaseException:
        opened.close()
        raise
    return door
