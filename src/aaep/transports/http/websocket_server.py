"""
One client on a WebSocket: Appendix B.2, from the upgrade to the close.

One AAEP message is one text message, both ways. The first is a
subscription.request; one connection is one subscription (CF-040). aiohttp shakes
hands and reads; what is sent is framed here, once for all readers, and written
straight to the socket.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Final

from aiohttp import WSMsgType, web

from ...hub.face import HubFace
from ...identity.peer import Peer
from ...protocol.messages import SubscriptionClose
from ..duplex_server import Conversation
from .routes import SUBPROTOCOL, upgrade_required

__all__ = ["Upgrade", "WebSocketConversation", "close_code", "upgrade"]

_TEXT, _PING, _PONG = 0x81, 0x89, 0x8A  # first bytes of frames that are whole
_MAX_UNANSWERED_PINGS: Final = 3
_CLOSE_TIMEOUT: Final = 1.0  # seconds for the client to answer a close
_POLL_INTERVAL: Final = 0.05  # seconds until a full buffer is looked at again
_CLOSE_CODES: Final = {  # CF-097; any other rejection is 4001, any other close 4000
    "authentication_required": 4002,
    "authentication_expired": 4002,
    "authorization_denied": 4003,
    "protocol_error": 4004,
    "no_request": 4004,
    "slow_consumer": 4004,
    "subscriber_shutdown": 4005,
    "server_closing": 1001,  # WS-018
}


def close_code(reason: str, message: SubscriptionClose | None) -> int:
    """Return the code that sums up why a connection ends: with a close message, or without one (WS-012 to WS-017)."""
    return _CLOSE_CODES.get(reason, 4001 if message is None else 4000)


def _frame(first_byte: int, data: bytes) -> bytes:
    """Return one frame as a server sends it: unmasked and whole."""
    size = len(data)
    if size < 126:
        return bytes((first_byte, size)) + data
    if size < 65_536:
        return struct.pack("!BBH", first_byte, 126, size) + data
    return struct.pack("!BBQ", first_byte, 127, size) + data


def _frame_text(event_id: str, data: bytes) -> bytes:
    return _frame(_TEXT, data)  # WS-004, WS-005


class Upgrade(web.WebSocketResponse):
    """aiohttp's side of the connection; before it closes for a malformed frame it lets us say so in our words."""

    on_malformed_frame: Callable[[], None]

    async def close(self, *, code: int = 1000, message: bytes = b"", drain: bool = True) -> bool:
        """Close the WebSocket."""
        if not self.closed and code in (1002, 1007, 1009):
            self.on_malformed_frame()
        return await super().close(code=code, message=message, drain=drain)


class WebSocketConversation(Conversation):
    """One client's WebSocket. On the hub's loop; only :meth:`run` waits."""

    def __init__(self, hub: HubFace, peer: Peer, transport: asyncio.Transport, socket: Upgrade) -> None:
        super().__init__(hub, peer)
        self.frame = _frame_text
        self.waiting = transport.get_write_buffer_size
        self._transport = transport
        self._is_closing = transport.is_closing
        self._socket = socket
        self._heartbeat = hub.settings.heartbeat_interval
        self._high_water = hub.settings.high_water_bytes
        self._unanswered_pings = 0
        self._closes_itself = False  # whether aiohttp closes the connection
        self._closing: asyncio.Task[bool] | None = None
        socket.on_malformed_frame = self._refuse_frame

    def write(self, data: bytes) -> None:
        """Send one or more frames."""
        if self.is_open and not self._is_closing():
            self._transport.write(data)

    async def run(self, request_timeout: float) -> None:
        """Take what comes until the connection ends."""
        self.start(request_timeout)
        self.call_later(self._heartbeat, self._beat)
        try:
            while True:
                message = await self._socket.receive()
                self._unanswered_pings = 0
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):  # CF-099
                    if self.is_open:
                        data = message.data
                        self.receive(data.encode() if isinstance(data, str) else bytes(data))
                        await self._wait_for_room()
                elif message.type is WSMsgType.PING:
                    if self.waiting() <= self._high_water:  # a client that does not read is not answered either
                        self.write(_frame(_PONG, bytes(message.data)))
                elif message.type is not WSMsgType.PONG:
                    break
            if self._closing is not None:
                await self._closing
        finally:
            self.lost()

    async def _wait_for_room(self) -> None:
        """Events stop at high_water. A client that takes no answers beyond it is not read before it does."""
        while self.is_open and self.waiting() > 2 * self._high_water:
            await asyncio.sleep(_POLL_INTERVAL)  # nothing tells when a socket has room

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Close the WebSocket with the code for a reason."""
        if not self._closes_itself:
            closing = self._socket.close(code=close_code(reason, message))
            self._closing = asyncio.get_running_loop().create_task(closing)

    def abort(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    def _refuse_frame(self) -> None:
        """Say what is wrong with a malformed frame (CF-113); its own close code follows (WS-018)."""
        self._closes_itself = True
        self.refuse()

    def _beat(self) -> None:
        """Ask whether the client is there, unless something is on its way to it; drop one that never answers."""
        if not self.waiting():
            if self._unanswered_pings == _MAX_UNANSWERED_PINGS:
                self._transport.abort()
                return
            self._unanswered_pings += 1
            self.write(_frame(_PING, b""))
        self.call_later(self._heartbeat, self._beat)


async def upgrade(request: web.BaseRequest, *, limit: int) -> Upgrade:
    """Upgrade a request to a WebSocket, or refuse it: it is no upgrade."""
    socket = Upgrade(
        protocols=(SUBPROTOCOL,),
        compress=False,  # so that a frame is made once for all; and a small one cannot swell (CF-114)
        max_msg_size=limit + 1,  # aiohttp's is the first size that is too large
        autoping=False,
        timeout=_CLOSE_TIMEOUT,
    )
    if request.transport is None or not socket.can_prepare(request):
        raise upgrade_required()
    await socket.prepare(request)
    return socket
