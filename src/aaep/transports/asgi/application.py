"""
A hub inside somebody else's web application: ``app.mount("/", producer.asgi())``.

The same places as over HTTP (Appendix B.1), and the WebSocket of Appendix B.2,
for whatever speaks ASGI 3: Starlette, FastAPI, uvicorn, hypercorn. The server
may have a loop of its own; what goes to the hub is done on the hub's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast
from urllib.parse import parse_qs

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from ...errors import AaepError
from ...hub.face import HubFace, SubscriptionGone, UnknownSubscription
from ...identity.credentials import Credentials, Identity, Local, Unauthorised
from ...identity.origins import DEFAULT_PORTS, is_loopback, over_http
from ...identity.peer import Peer
from ...identity.rate_limit import prepare_identity
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...protocol.messages import SubscriptionClose
from ..addresses import admitting
from ..base import Channel
from ..duplex_server import Exchange
from ..http.client import connect as connect_over_http
from ..http.guard import Guard, Refusal, admission, bearer_of, forwarded, named
from ..http.routes import (
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
    replied,
    subscribed,
    too_large,
    wanted,
)
from ..http.tickets import LIFE, TICKETS, Tickets
from ..websocket.talk import PLACE, SUBPROTOCOL, code_of
from .pipe import EventPipe, Pipe, TalkPipe
from .serve import ServedDoor, served

__all__ = ["Application", "Talk", "connect", "serve"]

log: Final = logging.getLogger("aaep.asgi")

_HEARTBEAT: Final = b":\n\n"
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its stream ended
_MOST_GUARDS: Final = 16  # an application is served at a few addresses, not at many
_PAUSE: Final = 0.05  # seconds until a full buffer is looked at again
_CLOSED: Final = Refusal(503, "unavailable", "The agent's side is shutting down.")

T = TypeVar("T")
Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class _Head:
    """The head of a request, as the guard wants to have it."""

    def __init__(self, scope: Scope) -> None:
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        self.headers: CIMultiDict[str] = CIMultiDict(pairs)
        major, _, minor = scope.get("http_version", "1.1").partition(".")
        self.version = (int(major), int(minor or 0))
        self.method: str = scope.get("method", "GET")
        self.query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        # A mounted application is told where; what is left is our own path.
        path, self.root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
        self.path = path[len(self.root) :] if self.root and path.startswith(f"{self.root}/") else path
        self.raw_path = "/"  # the server has read the request line; only its Host is left to check
        self.scheme = over_http(str(scope.get("scheme", "http")))
        self.port = int((scope.get("server") or ("", None))[1] or DEFAULT_PORTS[self.scheme])
        self.client = str((scope.get("client") or ("",))[0])

    @property
    def request(self) -> web.BaseRequest:
        return cast(web.BaseRequest, self)  # the guard looks at nothing else

    def shown(self, transport: str) -> Credentials:
        """What it shows of who sent it."""
        return Credentials(
            transport=transport,
            bearer=bearer_of(self.headers),
            # What a proxy on this machine passes on may come from anywhere.
            is_loopback=is_loopback(self.client) and not forwarded(self.headers),
            address=self.client,
        )


class Application:
    """A hub as an ASGI application. Also a door of that hub."""

    transport: Final = "sse"  # its name in a manifest (CF-119)

    def __init__(
        self,
        hub: HubFace,
        *,
        identity: Identity | None = None,
        token: str | None = None,
        origins: Iterable[str] = (),
        hosts: Iterable[str] = (),
        limit: int = MAX_MESSAGE_BYTES,
        patience: float = 30.0,
    ) -> None:
        """
        Without an ``identity`` only this machine's user is let in, and a proxy that
        passes on what others send is not taken for that one. Behind a proxy, or with
        readers elsewhere, say with ``identity`` who they are (``token`` is short for one token that never
        expires); TLS is the server's affair.
        ``origins`` are web pages that may use it, ``hosts`` further values of the Host
        header that are ours, where only this machine is let in.
        """
        self.url = ""  # whoever mounts it knows
        self._hub = hub
        identity = admitting(identity, token)
        self._identity: Identity = Local() if identity is None else identity
        self._ready = False
        self._local = isinstance(self._identity, Local)
        self._origins, self._hosts = frozenset(origins), named(hosts)
        self._guards: dict[tuple[str, int], Guard] = {}  # by scheme and port of the server
        self._guard("http", 0)  # what is wrong with the origins is said now
        self._limit, self._patience = limit, patience
        self._closed = False
        self._tickets = Tickets()
        self._asked: set[asyncio.Future[Any]] = set()  # of the hub
        self._places: dict[str, dict[str, Callable[[_Head, Peer, Receive], Awaitable[Said]]]] = {
            SUBSCRIPTIONS: {"POST": self._subscribe},
            REPLIES: {"POST": self._reply},
            MANIFEST: {"GET": self._manifest, "HEAD": self._manifest},
            METRICS: {"GET": self._metrics, "HEAD": self._metrics},
            TICKETS: {"POST": self._ticket},
        }

    async def close(self) -> None:
        """Answer nobody any more. The hub has ended the streams."""
        self._closed = True
        for future in [*self._asked]:
            future.get_loop().call_soon_threadsafe(future.cancel)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(_Head(scope), receive, send)
        elif scope["type"] == "websocket":
            await self._talk(scope, receive, send)
        elif scope["type"] == "lifespan":  # only where we are not mounted but served
            await _live(receive, send)
        else:
            raise AaepError(f"This application answers HTTP and WebSocket, not {scope['type']!r}.")

    # -- every request -----------------------------------------------------------------------

    def _guard(self, scheme: str, port: int) -> Guard:
        made = self._guards.get((scheme, port))
        if made is None:
            made = Guard(scheme=scheme, port=port, loopback=self._local, origins=self._origins, hosts=self._hosts)
            if len(self._guards) < _MOST_GUARDS:
                self._guards[scheme, port] = made
        return made

    async def _answer(self, head: _Head, receive: Receive, send: Send) -> None:
        sharing: dict[str, str] = {}
        guard = self._guard(head.scheme, head.port)
        try:
            guard.check(head.request)
            sharing = guard.sharing(head.request)
            if sharing and head.method == "OPTIONS":
                said = self._preflight(head)
            elif head.path == HEALTH and head.method in ("GET", "HEAD"):
                said = Said(200, b'{"status":"ok"}')
            else:
                peer = await self._admitted(head, self.transport)
                if head.path == EVENTS and head.method == "GET":
                    await self._events(head, peer, receive, send, sharing)
                    return
                said = await self._placed(head)(head, peer, receive)
        except Refusal as refusal:
            said = denied(head.path, refusal)
        except Exception:
            log.exception("A request could not be answered.")
            said = denied("", Refusal(500, "internal_error", "The server failed, which is a defect."))
        await _say(send, said, sharing)

    async def _admitted(self, head: _Head, transport: str) -> Peer:
        if self._closed:
            raise _CLOSED
        if not self._ready:
            self._identity = await prepare_identity(self._identity)
            self._ready = True
        return await admission(self._identity, head.shown(transport))

    def _placed(self, head: _Head) -> Callable[[_Head, Peer, Receive], Awaitable[Said]]:
        place = self._places.get(head.path)
        if place is None and head.path != EVENTS:
            raise Refusal(404, "not_found", f"There is nothing here. Events are at {EVENTS}.")
        if place is None or head.method not in place:
            allowed = ", ".join(place or ("GET",))
            raise Refusal(405, "method_not_allowed", f"Use {allowed} here.", {"Allow": allowed})
        return place[head.method]

    def _preflight(self, head: _Head) -> Said:
        """A browser asks, for a page on the list, whether its script may send such a request."""
        allowed = {
            "Access-Control-Allow-Methods": ", ".join(self._places.get(head.path, ())) or "GET",
            "Access-Control-Allow-Headers": "Authorization, Cache-Control, Content-Type, Last-Event-ID",
        }
        return Said(204, b"", allowed)

    async def _done(self, function: Callable[..., T], *args: Any) -> T:
        """Have the hub's loop do something, and wait for it here."""
        self._hub.start()
        if self._hub.is_on_loop:
            return function(*args)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: Exception | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(cast(T, value))

        def work() -> None:
            try:
                value = function(*args)
            except Exception as error:
                loop.call_soon_threadsafe(settle, None, error)
            else:
                loop.call_soon_threadsafe(settle, value, None)

        self._asked.add(future)
        self._hub.call_soon(work)
        try:
            return await future
        except asyncio.CancelledError:
            if self._closed:
                raise _CLOSED from None
            raise
        finally:
            self._asked.discard(future)

    # -- handshake and replies ---------------------------------------------------------------

    async def _body(self, head: _Head, receive: Receive) -> bytes:
        """What was posted, once its head has shown that it may be read."""
        length = head.headers.get("Content-Length", "0")
        check_head(
            head.headers.getall("Content-Type", []),
            head.headers.get("Content-Encoding", "identity"),
            int(length) if length.isdecimal() else 0,
            self._limit,
        )
        body = bytearray()
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    came = await receive()
                    if came["type"] != "http.request":
                        raise Refusal(400, "bad_request", "The body was not sent as its head announced.")
                    body += came.get("body", b"")
                    if len(body) > self._limit:
                        raise too_large(self._limit)
                    if not came.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise Refusal(408, "timeout", "The body did not come in time.", {"Connection": "close"}) from None

    async def _subscribe(self, head: _Head, peer: Peer, receive: Receive) -> Said:
        said = await self._done(subscribed, self._hub, await self._body(head, receive), peer)
        if "Location" in said.headers:
            return said._replace(headers={**said.headers, "Location": head.root + said.headers["Location"]})
        return said

    async def _reply(self, head: _Head, peer: Peer, receive: Receive) -> Said:
        return await self._done(replied, self._hub, await self._body(head, receive), peer)

    # -- the stream --------------------------------------------------------------------------

    async def _events(self, head: _Head, peer: Peer, receive: Receive, send: Send, sharing: Mapping[str, str]) -> None:
        name = wanted(head.query.get("subscription_id", []))
        after = last(head.headers.get("Last-Event-ID", ""), head.query.get("last_event_id", [""])[0])
        pipe = EventPipe()

        def join() -> None:
            pipe.subscription_id = self._hub.connect(name, peer, pipe, after)

        try:
            try:
                await self._done(join)
            except SubscriptionGone:
                await _say(send, Said(204), sharing)  # CF-092: stops EventSource
                return
            except UnknownSubscription as error:
                raise Refusal(404, "unknown_subscription", f"{error} That is POST {SUBSCRIPTIONS}.") from None
            except Unauthorised as error:
                raise Refusal(403, "authorization_denied", str(error)) from None
            await send(_start(200, {**STREAM, **sharing}))
            await self._stream(pipe, receive, send)
        finally:  # also when the reader leaves (TR-017)
            pipe.end()
            self._hub.call_soon(lambda: self._left(pipe))

    def _left(self, pipe: Pipe) -> None:
        """On the hub's loop, and after whatever was to be done there for this reader."""
        if pipe.subscription_id is not None:
            self._hub.disconnect(pipe.subscription_id, pipe)

    async def _stream(self, pipe: Pipe, receive: Receive, send: Send) -> None:
        async def passed() -> None:
            await send(_part(_HEARTBEAT))
            ended = False
            while not ended:
                data, ended = await pipe.take(self._hub.settings.heartbeat_interval)
                await send(_part(data if data or ended else _HEARTBEAT))
                pipe.taken(len(data))
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        await _either(passed(), gone(), pipe)

    # -- the WebSocket -------------------------------------------------------------------------

    async def _talk(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        head = _Head(scope)
        try:
            self._guard(head.scheme, head.port).check(head.request)
            peer = self._tickets.redeem(scope.get("subprotocols", ()))  # CF-096
            if peer is None or self._closed:
                peer = await self._admitted(head, "websocket")
            if head.path != PLACE:
                raise Refusal(404, "not_found", f"There is nothing here. The WebSocket is at {PLACE}.")
            if SUBPROTOCOL not in scope.get("subprotocols", ()):  # CF-096
                message = f"Offer the subprotocol {SUBPROTOCOL} in Sec-WebSocket-Protocol."
                raise Refusal(400, "subprotocol_required", message)
        except Refusal as refusal:
            if "websocket.http.response" in scope.get("extensions", {}):
                await _say(send, denied("", refusal), {}, kind="websocket.http.response")
            else:
                await send({"type": "websocket.close", "code": 1008})  # to a client it is a plain 403
            return
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        talk = Talk(self._hub, peer)
        try:
            await self._converse(talk, receive, send)
        finally:
            talk.pipe.end()
            self._hub.call_soon(talk.exchange.lost)

    async def _converse(self, talk: Talk, receive: Receive, send: Send) -> None:
        async def passed() -> None:
            ended = False
            while not ended:
                data, ended = await talk.pipe.take(self._hub.settings.heartbeat_interval)
                for line in data.splitlines():
                    await send({"type": "websocket.send", "text": line.decode()})  # WS-004, WS-005
                talk.pipe.taken(len(data))
            await send({"type": "websocket.close", "code": talk.pipe.code})

        async def heard() -> None:
            try:
                async with asyncio.timeout(self._patience) as patience:
                    while await self._hears(talk, await receive()):
                        if talk.exchange.settled:
                            patience.reschedule(None)
            except TimeoutError:  # WS-006: whoever has said nothing by now does not mean to
                await self._done(talk.exchange.refuse)
                while (await receive())["type"] == "websocket.receive":
                    pass

        await _either(passed(), heard(), talk.pipe)

    async def _hears(self, talk: Talk, came: Mapping[str, Any]) -> bool:
        """Take what came from the other side; whether more may come."""
        if came["type"] != "websocket.receive":
            return False
        text = came.get("text")
        raw = text.encode() if text is not None else came.get("bytes") or b""  # CF-099
        await self._done(talk.heard, raw if len(raw) <= self._limit else b"")  # CF-114
        # Events stop at high_water. Whoever takes no answers beyond it is not heard before it does.
        while not talk.pipe.ended and talk.pipe.waiting() > 2 * self._hub.settings.high_water_bytes:
            await asyncio.sleep(_PAUSE)  # nothing tells when a reader has taken something
        return True

    # -- about the server ----------------------------------------------------------------------

    async def _manifest(self, head: _Head, peer: Peer, receive: Receive) -> Said:
        body, kind = await self._done(lambda: manifest(self._hub, head.headers))
        return Said(200, body, {**VARY, "Content-Type": kind})

    async def _ticket(self, head: _Head, peer: Peer, receive: Receive) -> Said:
        return Said(201, msgspec.json.encode({"ticket": self._tickets.issue(peer), "expires_in": LIFE}))

    async def _metrics(self, head: _Head, peer: Peer, receive: Receive) -> Said:
        text = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return Said(200, (await self._done(self._hub.metrics)).encode(), text)


# -- ASGI ----------------------------------------------------------------------------------


def _start(status: int, headers: Mapping[str, str], kind: str = "http.response") -> dict[str, Any]:
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": f"{kind}.start", "status": status, "headers": pairs}


def _part(data: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": True}


async def _say(send: Send, said: Said, sharing: Mapping[str, str], kind: str = "http.response") -> None:
    about = {} if said.status == 204 else {"Content-Type": "application/json", "Content-Length": str(len(said.body))}
    await send(_start(said.status, {**ALWAYS, **about, **said.headers, **sharing}, kind))
    await send({"type": f"{kind}.body", "body": said.body})


async def _either(passing: Awaitable[None], hearing: Awaitable[None], pipe: Pipe) -> None:
    """Until everything is said or the other side has left; who does not take the rest of it is not waited for."""
    sending, receiving = asyncio.ensure_future(passing), asyncio.ensure_future(hearing)
    lingering = asyncio.ensure_future(_lingering(pipe))
    tasks = (sending, receiving, lingering)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
    for one in done:
        # A server says with an OSError that the other side has left.
        if isinstance(one, Exception) and not isinstance(one, OSError):
            raise one


async def _lingering(pipe: Pipe) -> None:
    await pipe.over.wait()
    await asyncio.sleep(_LINGER)  # for the reader to take what was written before it


async def _live(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


# -- as a transport of its own ---------------------------------------------------------------


def connect(url: str, **settings: Any) -> Channel:
    """Seen from outside it is HTTP."""
    return connect_over_http(url.removeprefix("asgi+"), **settings)


async def serve(hub: HubFace, url: str, **settings: Any) -> ServedDoor:
    """
    Serve a hub at a URL like ``asgi+http://127.0.0.1:0``, on this machine only. Needs uvicorn.

    In an application of your own, mount ``producer.asgi()``.
    """
    return await served(url, Application(hub, **settings))


# -- talk --


class Talk:
    """Made on the server's loop; used on the hub's."""

    def __init__(self, hub: HubFace, peer: Peer) -> None:
        self._hub = hub
        self.pipe = TalkPipe(self._hung_up)
        self.exchange = Exchange(hub, peer, self.pipe, self._say, self._end)

    def heard(self, raw: bytes) -> None:
        if not self.pipe.ended:
            self.exchange.receive(raw)

    def _say(self, message: Message) -> None:
        self.pipe.write(self.pipe.frame("", encode(message)))

    def _end(self, reason: str) -> None:
        self._finish(code_of(reason, otherwise=4001))  # the rest are reasons of rejections

    def _hung_up(self, message: SubscriptionClose | None) -> None:
        if message is None:
            # The exchange says why, if it was its subscriber; else the subscription was closed from elsewhere.
            self._hub.call_soon(lambda: self._end("subscriber_shutdown"))
            return
        self._say(message)  # CF-097: the message first
        self._finish(code_of(message.reason_code))

    def _finish(self, code: int) -> None:
        if not self.pipe.ended:
            self.pipe.code = code
            self.pipe.end()
