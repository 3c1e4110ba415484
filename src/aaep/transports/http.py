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
import re
import socket
import ssl as tls
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, cast

import msgspec
from aiohttp import HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError

from ..channel import Peer
from ..errors import AaepError, RemoteProtocolError
from ..fields import Message
from ..framing import LIMIT
from ..hub import Hub, SubscriptionGone, UnknownSubscription
from ..messages import (
    ClarificationReply,
    ConfirmationReply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ..wire import encode
from ._http_address import address, context, is_loopback, listening, split
from ._http_client import connect
from ._http_guard import Guard, Refusal, media_type_is_json
from ._http_stream import EventStream

__all__ = ["HttpDoor", "connect", "serve"]

log: Final = logging.getLogger("aaep.http")

SUBSCRIPTIONS: Final = "/aaep/v1/subscriptions"  # SSE-003
EVENTS: Final = "/aaep/v1/events"  # SSE-001
REPLIES: Final = "/aaep/v1/replies"  # SSE-002
MANIFEST: Final = "/.well-known/aaep-manifest.json"

# CF-087: ordinary HTTP meaning. Clients go by the body.
STATUS: Final = {
    "authentication_required": 401,
    "authorization_denied": 403,
    "rate_limit": 429,
    "transport_unavailable": 503,
    "version_unsupported": 422,
    "capabilities_incompatible": 422,
    "manifest_signature_required": 422,
    "unknown": 500,
}
ALWAYS: Final = {"Server": "aaep", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
STREAM: Final = {**ALWAYS, "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}  # CF-090
_SUBSCRIPTION_ID: Final = re.compile(r"sub_[A-Za-z0-9]{1,64}")  # SUB-018
CUT_OFF: Final = Refusal(400, "bad_request", "The body was not sent as its head announced.")
_GRACE: Final = 0.4  # seconds for what is under way when a door closes

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


# -- one connection ------------------------------------------------------------------------


class Connection(web.RequestHandler):
    """
    aiohttp's connection, which answers in JSON to what is no HTTP too, and is known to its door.

    A client may send its request, say that it has no more to say, and wait for
    the answer. aiohttp would drop it, and with it perhaps a person's reply.
    """

    __slots__ = ("_door", "_wire", "asked", "ended", "reading", "stream")

    def __init__(self, door: HttpDoor, server: web.Server, patience: float) -> None:
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
        self._door = door
        self._wire: asyncio.BaseTransport | None = None
        self.ended = False  # the other side sends nothing more
        self.asked: web.BaseRequest | None = None  # the last request
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
        return self._wire is not None and self._wire.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._door.left(cast(asyncio.Transport, self._wire))
        super().connection_lost(exc)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if isinstance(exc, HttpProcessingError) and status < 500:
            response = _refused(Refusal(status, "bad_request", "This cannot be read as an HTTP request."))
        else:
            if not isinstance(exc, ConnectionError):  # a peer that left is no defect
                log.error("A request could not be answered.", exc_info=exc)
            response = _refused(Refusal(500, "internal_error", "The server failed, which is a defect."))
        response.force_close()
        return response


def _json(status: int, body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status, body=body, content_type="application/json", headers={**ALWAYS, **(headers or {})}
    )


def _refused(refusal: Refusal) -> web.Response:
    body = msgspec.json.encode({"error": refusal.error, "message": refusal.message})
    return _json(refusal.status, body, {**refusal.headers})


# -- the door ------------------------------------------------------------------------------


class HttpDoor:
    """An address where a hub is served over HTTP."""

    transport: Final = "sse"  # its name in a manifest (CF-119)

    def __init__(self, hub: Hub, guard: Guard, url: str, *, limit: int, patience: float) -> None:
        self.url = url
        self.wires: set[asyncio.Transport] = set()
        self._hub = hub
        self._guard = guard
        self._limit = limit
        self._patience = patience
        # CF-065: who has the token is somebody else than who merely sits at this machine.
        self._peer = Peer("local" if guard.token is None else "token", self.transport)
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
            "/healthz": {"GET": self._health, "HEAD": self._health},
            "/metrics": {"GET": self._metrics, "HEAD": self._metrics},
        }

    async def open(self, opened: socket.socket, context: tls.SSLContext | None) -> None:
        """Answer what comes to a socket."""
        self._listening = await asyncio.get_running_loop().create_server(
            lambda: Connection(self, self._server, self._patience), sock=opened, ssl=context, backlog=1024
        )
        self._beat_later()

    async def close(self) -> None:
        """Stop listening and let go of every connection. Closing twice is fine."""
        if self._listening is None:
            return
        self._listening.close()
        self._listening = None
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
        self._beat = asyncio.get_running_loop().call_later(self._hub.settings.heartbeat, self._beat_now)

    def _beat_now(self) -> None:
        for stream in self._streams:
            stream.heartbeat()
        self._beat_later()

    # -- every request ---------------------------------------------------------------------

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        sharing: dict[str, str] = {}
        connection = cast(Connection, request.protocol)
        connection.asked = request
        try:
            self._guard.check(request)
            sharing = self._guard.sharing(request)
            if sharing and request.method == "OPTIONS":
                return self._preflight(request, sharing)
            if request.path != "/healthz":
                self._guard.authenticate(request)
            response = await self._placed(request)(request)
        except Refusal as refusal:
            response = self._denied(request, refusal)
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

    def _denied(self, request: web.BaseRequest, refusal: Refusal) -> web.Response:
        if refusal.status == 401 and request.path == SUBSCRIPTIONS:  # CF-087: also before the body was read
            body = SubscriptionRejected(reason_code="authentication_required", reason_message=refusal.message)
            return _json(401, encode(body), {**refusal.headers})
        return _refused(refusal)

    def _preflight(self, request: web.BaseRequest, sharing: dict[str, str]) -> web.Response:
        """A browser asks, for a page on the list, whether its script may send such a request."""
        allowed = {
            "Access-Control-Allow-Methods": ", ".join(self._places.get(request.path, ())) or "GET",
            "Access-Control-Allow-Headers": "Authorization, Cache-Control, Content-Type, Last-Event-ID",
        }
        return web.Response(status=204, headers={**ALWAYS, **sharing, **allowed})

    async def _body(self, request: web.BaseRequest) -> bytes:
        """What was posted, once its head has shown that it may be read."""
        types = request.headers.getall("Content-Type", [])
        if len(types) != 1 or not media_type_is_json(types[0]):
            raise Refusal(415, "unsupported_media_type", "Send Content-Type: application/json.")
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Refusal(415, "unsupported_media_type", "Send it without Content-Encoding.")
        too_large = Refusal(413, "too_large", f"A message may have {self._limit} bytes at most.")  # CF-114
        if (request.content_length or 0) > self._limit:
            raise too_large
        self._go_on(request)
        connection = cast(Connection, request.protocol)
        if connection.ended and not request.content.is_eof():
            raise CUT_OFF
        body = bytearray()
        connection.reading = True
        try:
            async with asyncio.timeout(self._patience):
                async for piece in request.content.iter_any():
                    body += piece
                    if len(body) > self._limit:
                        raise too_large
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
        raw = await self._body(request)
        answer = self._received(raw, SubscriptionRequest)
        if isinstance(answer, SubscriptionAccepted):
            location = f"{EVENTS}?subscription_id={answer.subscription_id}"
            return _json(201, encode(answer), {"Location": location})  # SSE-006
        assert isinstance(answer, SubscriptionRejected)
        headers = {"WWW-Authenticate": 'Bearer realm="aaep"'} if answer.reason_code == "authentication_required" else {}
        if isinstance(answer.retry_after_seconds, int):
            headers["Retry-After"] = str(answer.retry_after_seconds)
        return _json(STATUS.get(answer.reason_code, 500), encode(answer), headers)

    async def _reply(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await self._body(request)
        # CF-085: a subscription.request is malformed here.
        answer = self._received(raw, SubscriptionRenegotiate, SubscriptionClose, ConfirmationReply, ClarificationReply)
        if answer is None:
            return web.Response(status=204, headers=ALWAYS)  # SSE-016, CF-012: whatever became of it
        return _json(200, encode(answer))  # CF-086

    def _received(self, raw: bytes, *allowed: type[Message]) -> Message | None:
        try:
            return self._hub.receive(raw, self._peer, allowed)
        except UnknownSubscription as error:
            raise Refusal(404, "unknown_subscription", str(error)) from None
        except RemoteProtocolError:
            # CF-012: one fixed text.
            raise Refusal(400, "invalid_request", "Malformed message.") from None

    # -- the stream ------------------------------------------------------------------------

    async def _events(self, request: web.BaseRequest) -> web.StreamResponse:
        wire, connection = request.transport, cast(Connection, request.protocol)
        if wire is None or connection.ended:
            raise Refusal(400, "bad_request", "A reader keeps its side of the connection open.")
        stream = EventStream(wire, chunked=request.version >= HttpVersion11)
        try:
            subscription = self._hub.connect(_wanted(request), self._peer, stream, _last(request))
        except SubscriptionGone:
            return web.Response(status=204, headers=ALWAYS)  # CF-092: stops EventSource
        except UnknownSubscription as error:
            raise Refusal(404, "unknown_subscription", f"{error} That is POST {SUBSCRIPTIONS}.") from None
        self._streams.add(stream)
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
            self._hub.disconnect(subscription, stream)
        return response

    # -- about the server ------------------------------------------------------------------

    async def _manifest(self, request: web.BaseRequest) -> web.StreamResponse:
        return _json(200, encode(self._hub.manifest()))

    async def _health(self, request: web.BaseRequest) -> web.StreamResponse:
        return _json(200, b'{"status":"ok"}')

    async def _metrics(self, request: web.BaseRequest) -> web.StreamResponse:
        text = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return web.Response(body=self._hub.metrics().encode(), headers={**ALWAYS, **text})


def _wanted(request: web.BaseRequest) -> str:
    """The subscription whose stream is asked for; empty for a Level 1 stream without one (CF-093)."""
    named = request.query.getall("subscription_id", [])
    if not named:
        return ""
    if len(named) > 1 or not _SUBSCRIPTION_ID.fullmatch(named[0]):
        raise Refusal(
            404, "unknown_subscription", f"There is no such subscription. Subscribe with POST {SUBSCRIPTIONS}."
        )
    return named[0]


def _last(request: web.BaseRequest) -> str:
    """The event to resume after (SSE-018). What cannot be an id is passed on as one that is unknown (SSE-020)."""
    # The query is for clients that cannot set a header on their first request; the header is newer where both are.
    given = request.headers.get("Last-Event-ID") or request.query.get("last_event_id", "")
    return given[:128].encode("ascii", "replace").decode()


# -- opening a door ------------------------------------------------------------------------


async def serve(
    hub: Hub,
    url: str,
    *,
    token: str | None = None,
    ssl: tls.SSLContext | None = None,
    cert: str | None = None,
    key: str | None = None,
    origins: Iterable[str] = (),
    hosts: Iterable[str] = (),
    limit: int = LIMIT,
    patience: float = 30.0,
) -> HttpDoor:
    """
    Serve a hub at a URL. Port 0 takes any free one; the door's ``url`` has the real one.

    Who may connect is this machine's user, or who has the ``token``. Beyond this
    machine a token and TLS (``ssl``, or the files ``cert`` and ``key``) are required.
    ``origins`` are web pages that may use it, ``hosts`` further values of the Host
    header that are ours, such as the end of a tunnel. ``patience`` is how long, in
    seconds, a request may take to arrive.
    """
    parts, port = split(url)
    if parts.path not in ("", "/"):
        raise AaepError(f"The paths of a server are given by the protocol. Leave {parts.path!r} out of {url!r}.")
    host = parts.hostname or "127.0.0.1"
    encryption = context(url, parts.scheme, ssl, cert, key)
    numeric = await address(host, port)
    local = is_loopback(numeric)
    if not local and (encryption is None or token is None):  # TR-024, TR-027
        raise AaepError(
            f"{url!r} can be reached from other machines, so it needs TLS and a credential: "
            "use https:// with cert= and key= (or ssl=), and token=. For this machine only, listen on 127.0.0.1."
        )
    opened = listening(url, numeric, port)
    port = opened.getsockname()[1]
    try:
        guard = Guard(
            scheme=parts.scheme,
            port=port,
            loopback=local,
            token=token,
            origins=frozenset(origins),
            hosts=frozenset(one.lower() for one in hosts),
        )
        shown = f"[{host}]" if ":" in host else host
        door = HttpDoor(hub, guard, f"{parts.scheme}://{shown}:{port}", limit=limit, patience=patience)
        await door.open(opened, encryption)
    except BaseException:
        opened.close()
        raise
    return door
