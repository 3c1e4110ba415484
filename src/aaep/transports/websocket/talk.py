"""
One subscriber on a WebSocket: Appendix B.2, from the upgrade to the close.

aiohttp shakes hands and reads; what is sent is framed here, once for all
readers, and written straight to the socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable
from typing import Final

from aiohttp import WSMsgType, web

from ...hub.face import HubFace
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...protocol.messages import SubscriptionClose
from ..duplex_server import Exchange
from ..http.guard import Refusal

__all__ = ["PLACE", "SUBPROTOCOL", "Conversation", "code_of", "offered", "talk"]

PLACE: Final = "/aaep/v1/ws"  # WS-001
SUBPROTOCOL: Final = "aaep.v1"  # WS-002

_TEXT, _PING, _PONG = 0x81, 0x89, 0x8A
_BEATS: Final = 3  # that may stay without an answer
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its connection ended
_PARTING: Final = 1.0  # seconds for it to say that it has seen the end
_PAUSE: Final = 0.05  # seconds until a full buffer is looked at again
_CODES: Final = {  # CF-097; whatever else a rejection says is 4001, whatever else a close says 4000
    "authentication_required": 4002,
    "authentication_expired": 4002,
    "authorization_denied": 4003,
    "protocol_error": 4004,
    "slow_consumer": 4004,
    "subscriber_shutdown": 4005,
}


def code_of(reason: str, *, otherwise: int = 4000) -> int:
    """The close code that sums a reason up. WS-012 to WS-017, CF-097"""
    return _CODES.get(reason, otherwise)


def _frame(first: int, data: bytes) -> bytes:
    """One frame as a server sends it: unmasked and whole."""
    size = len(data)
    if size < 126:
        return bytes((first, size)) + data
    if size < 65_536:
        return struct.pack("!BBH", first, 126, size) + data
    return struct.pack("!BBQ", first, 127, size) + data


def _text(event_id: str, data: bytes) -> bytes:
    return _frame(_TEXT, data)  # WS-004, WS-005


def offered(request: web.BaseRequest) -> list[str]:
    """The subprotocols that a client offers."""
    return [one.strip() for line in request.headers.getall("Sec-WebSocket-Protocol", []) for one in line.split(",")]


class _Upgrade(web.WebSocketResponse):
    """aiohttp's side of the connection. What it finds wrong with a frame is said in our words before it is closed."""

    wrong: Callable[[], None]

    async def close(self, *, code: int = 1000, message: bytes = b"", drain: bool = True) -> bool:
        if not self.closed and code in (1002, 1007, 1009):
            self.wrong()
        return await super().close(code=code, message=message, drain=drain)


class Conversation:
    """A connection, as the hub and the :class:`Exchange` see it. On the hub's loop; only :meth:`listen` waits."""

    def __init__(self, hub: HubFace, peer: Peer, wire: asyncio.Transport, socket: _Upgrade, patience: float) -> None:
        self.frame: Callable[[str, bytes], bytes] = _text
        self._loop = asyncio.get_running_loop()
        self._wire, self._socket = wire, socket
        self._buffered, self._gone = wire.get_write_buffer_size, wire.is_closing
        self._every, self._most = hub.settings.heartbeat_interval, hub.settings.high_water_bytes
        self._silent = 0  # beats since something was heard
        self._open = True
        self._parting: asyncio.Task[bool] | None = None
        self._timers: set[asyncio.TimerHandle] = set()
        self._exchange = Exchange(hub, peer, self, self._say, self._end)
        socket.wrong = self._malformed
        self._later(patience, self._shake_hands)
        self._later(self._every, self._beat)

    # -- what the hub calls ------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        if self._open and not self._gone():
            self._wire.write(data)

    def waiting(self) -> int:
        return self._buffered()

    def close(self, message: SubscriptionClose | None) -> None:
        if message is None:
            # The exchange says why, if it was its subscriber; else the subscription was closed from elsewhere.
            self._loop.call_soon(self._end, "subscriber_shutdown")
            return
        self._say(message)  # CF-097: the message first
        self._finish(code_of(message.reason_code))

    # -- both ways -----------------------------------------------------------------------------

    async def listen(self) -> None:
        """Take what comes until the connection ends."""
        try:
            while True:
                came = await self._socket.receive()
                self._silent = 0
                if came.type in (WSMsgType.TEXT, WSMsgType.BINARY):  # CF-099
                    if self._open:
                        self._exchange.receive(came.data.encode() if isinstance(came.data, str) else bytes(came.data))
                        await self._room()
                elif came.type is WSMsgType.PING:
                    if self.waiting() <= self._most:  # whoever does not read is not answered either
                        self.write(_frame(_PONG, bytes(came.data)))
                elif came.type is not WSMsgType.PONG:
                    break
            if self._parting is not None:
                await self._parting
        finally:
            self._open = False
            for timer in self._timers:
                timer.cancel()
            self._exchange.lost()

    async def _room(self) -> None:
        """Events stop at high_water. Whoever takes no answers beyond it is not heard before it does."""
        while self._open and self.waiting() > 2 * self._most:
            await asyncio.sleep(_PAUSE)  # nothing tells when a socket has room

    def leave(self, code: int = 1001) -> None:
        """The door closes (WS-018)."""
        self._finish(code)

    def _say(self, message: Message) -> None:
        self.write(_text("", encode(message)))

    def _end(self, reason: str) -> None:
        known = code_of(reason, otherwise=4001)  # the rest are reasons of rejections
        self._finish(known)

    def _finish(self, code: int) -> None:
        if not self._open:
            return
        self._open = False
        self._parting = self._loop.create_task(self._socket.close(code=code))
        self._linger(self.waiting() + 1)

    def _linger(self, before: int) -> None:
        """A reader that takes nothing more would keep its socket, and what waits in it, for ever."""
        now = self.waiting()
        if now < before:
            self._later(_LINGER, lambda: self._linger(now))
        else:
            self._wire.abort()

    def _malformed(self) -> None:
        """Frames that are none: their own close code follows (WS-018), after our word for it (CF-113)."""
        self._exchange.complain()
        self._open = False
        self._linger(self.waiting() + 1)

    # -- time ------------------------------------------------------------------------------------

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        def due() -> None:
            self._timers.discard(timer)
            call()

        timer = self._loop.call_later(seconds, due)
        self._timers.add(timer)

    def _shake_hands(self) -> None:
        """WS-006: whoever has said nothing by now does not mean to."""
        if self._open and not self._exchange.settled:
            self._exchange.refuse()

    def _beat(self) -> None:
        """Ask whether somebody is there, unless something is on its way; who never answers is not."""
        if not self._open:
            return
        if not self.waiting():
            if self._silent == _BEATS:
                self._wire.abort()
                return
            self._silent += 1
            self.write(_frame(_PING, b""))
        self._later(self._every, self._beat)


async def talk(
    hub: HubFace,
    request: web.BaseRequest,
    peer: Peer,
    open_: set[Conversation],
    *,
    limit: int = MAX_MESSAGE_BYTES,
    patience: float = 30.0,
) -> web.StreamResponse:
    """
    Upgrade a request that was found to be in order, and talk until it is over.

    ``open_`` has the conversation as long as it lasts, for a door to close it.
    """
    if SUBPROTOCOL not in offered(request):  # CF-096
        raise Refusal(400, "subprotocol_required", f"Offer the subprotocol {SUBPROTOCOL} in Sec-WebSocket-Protocol.")
    socket = _Upgrade(
        protocols=(SUBPROTOCOL,),
        compress=False,  # so that a frame is made once for all; and a small one cannot swell (CF-114)
        max_msg_size=limit + 1,  # aiohttp's is the first size that is too large
        autoping=False,
        timeout=_PARTING,
    )
    wire = request.transport
    if wire is None or not socket.can_prepare(request):  # WS-003
        message = "This is the place for WebSocket connections: GET with Upgrade: websocket, version 13."
        raise Refusal(426, "upgrade_required", message, {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"})
    await socket.prepare(request)
    conversation = Conversation(hub, peer, wire, socket, patience)
    open_.add(conversation)
    try:
        with contextlib.suppress(ConnectionError):  # it has left, which is told below
            await conversation.listen()
    finally:
        open_.discard(conversation)
    return socket
