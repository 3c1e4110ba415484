"""
WebSocket: Appendix B.2.

``GET /aaep/v1/ws`` with the subprotocol ``aaep.v1``, and from then on one AAEP
message in each text message, both ways. The first is a subscription.request;
one connection is one subscription (CF-040). The manifest is where it is over
HTTP, at ``/.well-known/aaep-manifest.json``. Pages, which cannot send a token
with an upgrade, post it to ``/aaep/v1/tickets`` and offer what they get.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl as tls
from collections.abc import Iterable
from typing import Final

import msgspec
from aiohttp import web

from ...hub.face import HubFace
from ...identity.credentials import Identity
from ...identity.origins import over_http, split
from ...identity.peer import Peer
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...runtime.background import close_server
from ..addresses import admitting, context, listening, placed
from ..http.guard import Guard, Refusal, admission, named, shown
from ..http.routes import ALWAYS, HEALTH, MANIFEST, VARY, Said, manifest, refused
from ..http.server import Connection, answered
from ..http.tickets import LIFE, TICKETS, Tickets
from .client import connect
from .talk import PLACE, Conversation, offered, talk

__all__ = ["WebSocketDoor", "connect", "serve"]

log: Final = logging.getLogger("aaep.websocket")

_METHODS: Final = {PLACE: "GET", MANIFEST: "GET", TICKETS: "POST"}
_GRACE: Final = 0.4  # seconds for what is under way when a door closes


class WebSocketDoor:
    """An address where a hub is served over WebSocket."""

    transport: Final = "websocket"  # its name in a manifest (CF-119)

    def __init__(
        self, hub: HubFace, guard: Guard, identity: Identity, url: str, *, limit: int, patience: float
    ) -> None:
        self.url = url
        self._hub, self._guard, self._identity = hub, guard, identity
        self._limit, self._patience = limit, patience
        self._conversations: set[Conversation] = set()
        self._tickets = Tickets()
        self.closed = False
        self._server = web.Server(self._answer, handler_cancellation=True)
        self._listening: asyncio.Server | None = None

    async def open(self, opened: socket.socket, encryption: tls.SSLContext | None) -> None:
        """Answer what comes to a socket."""
        self._listening = await asyncio.get_running_loop().create_server(
            lambda: Connection(self, self._server, log, self._patience), sock=opened, ssl=encryption, backlog=1024
        )

    async def close(self) -> None:
        """Stop listening and let go of every connection. Closing twice is fine."""
        if self._listening is None:
            return
        server, self._listening, self.closed = self._listening, None, True
        await close_server(server)
        for one in [*self._conversations]:
            one.leave()
        wires = [one.transport for one in self._server.connections if one.transport is not None]
        self._server.pre_shutdown()
        await self._server.shutdown(_GRACE)
        for wire in wires:
            with contextlib.suppress(AttributeError):  # asyncio's TLS, once closed, has no buffer to ask about
                if wire.get_write_buffer_size():  # nobody takes it
                    wire.abort()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        sharing: dict[str, str] = {}
        try:
            self._guard.check(request)
            sharing = self._guard.sharing(request)
            if request.path == HEALTH:
                return answered(Said(200, b'{"status":"ok"}'))
            if sharing and request.method == "OPTIONS":
                return self._preflight(sharing)
            peer = await self._admitted(request)
            response = await self._placed(request, peer)
        except Refusal as refusal:
            response = answered(refused(refusal))
        if not response.prepared:
            response.headers.update(sharing)
        return response

    async def _admitted(self, request: web.BaseRequest) -> Peer:
        """Who this is. CF-097: before the upgrade it is HTTP that says no."""
        peer = self._tickets.redeem(offered(request)) if request.path == PLACE else None
        if peer is not None:
            return peer
        return await admission(self._identity, shown(request, self.transport, loopback=self._guard.loopback))

    async def _placed(self, request: web.BaseRequest, peer: Peer) -> web.StreamResponse:
        method = _METHODS.get(request.path)
        if method is None:
            raise Refusal(404, "not_found", f"There is nothing here. The WebSocket is at {PLACE}.")
        if request.method != method:
            raise Refusal(405, "method_not_allowed", f"Use {method} here.", {"Allow": method})
        if request.path == MANIFEST:
            body, kind = manifest(self._hub, request.headers)  # CF-124
            return answered(Said(200, body, VARY), kind)
        if request.path == TICKETS:
            body = msgspec.json.encode({"ticket": self._tickets.issue(peer), "expires_in": LIFE})
            return answered(Said(201, body))
        return await talk(self._hub, request, peer, self._conversations, limit=self._limit, patience=self._patience)

    def _preflight(self, sharing: dict[str, str]) -> web.Response:
        """A browser asks, for a page on the list, whether its script may fetch a ticket."""
        allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Allow-Headers": "Authorization"}
        return web.Response(status=204, headers={**ALWAYS, **sharing, **allowed})


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
) -> WebSocketDoor:
    """
    Serve a hub at a ws or wss URL. Port 0 takes any free one; the door's ``url`` has the real one.

    Who may connect is this machine's user, or whom the ``identity`` lets in; ``token``
    is short for one token that never expires. Beyond this machine one of them and TLS
    (``ssl``, or the files ``cert`` and ``key``) are required. ``client_ca`` is a file of
    those who issue certificates to clients, for mutual TLS.
    ``origins`` are web pages that may use it, ``hosts`` further values of the Host
    header that are ours, such as the end of a tunnel. ``patience`` is how long, in
    seconds, a request may take to arrive, and then a subscription.request.
    """
    parts, port = split(url, ("ws", "wss"))
    encryption = context(url, parts.scheme, ssl, cert, key, client_ca)
    place = await placed(url, parts, port, admitting(identity, token), encrypted=encryption is not None, path=PLACE)
    opened = listening(url, place.numeric, port)
    port = opened.getsockname()[1]
    try:
        guard = Guard(
            scheme=over_http(parts.scheme),
            port=port,
            loopback=place.local,
            origins=frozenset(origins),
            hosts=named(hosts).union(one.lower() for one in place.answers_to(port)),
        )
        door = WebSocketDoor(hub, guard, place.admits, place.at(port), limit=limit, patience=patience)
        await door.open(opened, encryption)
    except BaseException:
        opened.close()
        raise
    return door
