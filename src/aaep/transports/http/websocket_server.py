"""
The server side of WebSocket, from the upgrade to the close (Appendix B.2).

Each AAEP message is one text message. The first is a subscription.request; one
connection carries one subscription (CF-040). aiohttp does the handshake and reads;
outgoing messages are framed here, once for all readers, and written directly to the
sockets.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Final, Protocol

from aiohttp import WSMsgType, web

from ...hub.face import HubFace
from ...identity.peer import Peer
from ...protocol.messages import SubscriptionClose
from ..duplex_server import Conversation
from .routes import SUBPROTOCOL, upgrade_required

__all__ = [
    "FrameParser",
    "MaskedFrames",
    "ServerWebSocket",
    "WebSocketConversation",
    "choose_close_code",
    "upgrade_to_websocket",
]

# First bytes of unfragmented frames.
_TEXT: Final = 0x81
_PING: Final = 0x89
_PONG: Final = 0x8A
_RESERVED_BITS_SET: Final = b"\xf1\x80\0\0\0\0"  # a frame that aiohttp refuses with 1002
_MASK_SIZE: Final = 4  # bytes
_LENGTH_SIZES: Final = {126: 2, 127: 8}  # bytes of the length after the second byte of a frame, by what that says
_MAX_UNANSWERED_PINGS: Final = 3
_CLOSE_TIMEOUT: Final = 1.0  # seconds for the client to answer a close
_POLL_INTERVAL: Final = 0.05  # seconds between checks of a full buffer
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


def choose_close_code(reason: str, message: SubscriptionClose | None) -> int:
    """Return the close code for a reason, which depends on whether a close message was sent (WS-012 to WS-017)."""
    return _CLOSE_CODES.get(reason, 4001 if message is None else 4000)


def _frame(first_byte: int, data: bytes) -> bytes:
    """Return an unmasked, unfragmented frame."""
    size = len(data)
    if size < 126:
        return bytes((first_byte, size)) + data
    if size < 65_536:
        return struct.pack("!BBH", first_byte, 126, size) + data
    return struct.pack("!BBQ", first_byte, 127, size) + data


def _frame_text(event_id: str, data: bytes) -> bytes:
    return _frame(_TEXT, data)  # WS-004, WS-005


class FrameParser(Protocol):
    """aiohttp's parser of frames, as its connection uses it."""

    def feed_data(self, data: bytes, /) -> tuple[bool, bytes]:
        """Parse received bytes; return whether the parser has ended, and what it left."""

    def feed_eof(self) -> None:
        """Note that nothing more comes."""


class MaskedFrames:
    """
    Passes what a client sends on to aiohttp's parser, up to the first frame without a mask.

    A server has to close such a connection (RFC 6455 section 5.1), but aiohttp reads masked and unmasked frames.
    """

    def __init__(self, parser: FrameParser) -> None:
        self._parser = parser
        self._held = b""  # the first byte of a frame whose second one has not come
        self._length_bytes_left = 0
        self._length = 0
        self._bytes_left = 0  # of the mask and the payload

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Parse received bytes; an unmasked frame becomes one that the parser refuses with 1002, a protocol error."""
        data = self._held + bytes(data)
        self._held = b""
        position = 0
        while position < len(data):
            if self._bytes_left:
                skipped = min(self._bytes_left, len(data) - position)
                self._bytes_left -= skipped
                position += skipped
            elif self._length_bytes_left:
                self._length = self._length << 8 | data[position]
                self._length_bytes_left -= 1
                position += 1
                if not self._length_bytes_left:
                    self._bytes_left = _MASK_SIZE + self._length
            elif position + 1 == len(data):
                self._held = data[position:]  # the parser must not begin a frame that may have to be replaced
                data = data[:position]
            else:
                second_byte = data[position + 1]
                if not second_byte & 0x80:
                    return self._parser.feed_data(data[:position] + _RESERVED_BITS_SET)
                length = second_byte & 0x7F
                self._length = 0
                self._length_bytes_left = _LENGTH_SIZES.get(length, 0)
                if not self._length_bytes_left:
                    self._bytes_left = _MASK_SIZE + length
                position += 2
        return self._parser.feed_data(data)

    def feed_eof(self) -> None:
        """Note that nothing more comes."""
        self._parser.feed_eof()


class ServerWebSocket(web.WebSocketResponse):
    """aiohttp's WebSocket, with a callback before it is closed because of a malformed frame."""

    on_malformed_frame: Callable[[], None]

    async def close(self, *, code: int = 1000, message: bytes = b"", drain: bool = True) -> bool:
        """Close the WebSocket, after the callback if the code stands for a malformed frame."""
        if not self.closed and code in (1002, 1007, 1009):
            self.on_malformed_frame()
        return await super().close(code=code, message=message, drain=drain)


class WebSocketConversation(Conversation):
    """One client's WebSocket. Runs on the hub's loop; only :meth:`run` waits."""

    def __init__(self, hub: HubFace, peer: Peer, transport: asyncio.Transport, socket: ServerWebSocket) -> None:
        super().__init__(hub, peer)
        self.frame = _frame_text
        self.count_unsent_bytes = transport.get_write_buffer_size
        self._transport = transport
        self._is_closing = transport.is_closing
        self._socket = socket
        self._heartbeat_interval = hub.settings.heartbeat_interval
        self._high_water_bytes = hub.settings.high_water_bytes
        self._unanswered_pings = 0
        self._is_closed_by_aiohttp = False  # after a malformed frame
        self._closing: asyncio.Task[bool] | None = None
        socket.on_malformed_frame = self._refuse_frame

    def write(self, data: bytes) -> None:
        """Send one or more frames."""
        if self.is_open and not self._is_closing():
            self._transport.write(data)

    async def run(self, request_timeout: float) -> None:
        """Handle received messages until the connection ends."""
        self.start(request_timeout)
        self.call_later(self._heartbeat_interval, self._send_ping)
        try:
            while True:
                message = await self._socket.receive()
                self._unanswered_pings = 0
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):  # CF-099
                    if self.is_open:
                        data = message.data
                        self.receive(data.encode() if isinstance(data, str) else bytes(data))
                        await self._wait_for_room()
                        await self.wait_while_paused()
                elif message.type is WSMsgType.PING:
                    if self.count_unsent_bytes() <= self._high_water_bytes:  # no answers to a client that does not read
                        self.write(_frame(_PONG, bytes(message.data)))
                elif message.type is not WSMsgType.PONG:
                    break
            if self._closing is not None:
                await self._closing
        finally:
            self.mark_lost()

    async def _wait_for_room(self) -> None:
        """Wait until the client has read its answers. Events stop at high_water_bytes, answers do not."""
        while self.is_open and self.count_unsent_bytes() > 2 * self._high_water_bytes:
            await asyncio.sleep(_POLL_INTERVAL)  # there is no notification for this

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Close the WebSocket with the code for a reason."""
        if not self._is_closed_by_aiohttp:
            closing = self._socket.close(code=choose_close_code(reason, message))
            self._closing = asyncio.get_running_loop().create_task(closing)

    def abort(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    def _refuse_frame(self) -> None:
        """Refuse a malformed frame with a close message (CF-113); aiohttp then sends its own close code (WS-018)."""
        self._is_closed_by_aiohttp = True
        self.refuse()

    def _send_ping(self) -> None:
        """Send a ping unless data is unsent; abort the connection of a client that answers none."""
        if not self.count_unsent_bytes():
            if self._unanswered_pings == _MAX_UNANSWERED_PINGS:
                self._transport.abort()
                return
            self._unanswered_pings += 1
            self.write(_frame(_PING, b""))
        self.call_later(self._heartbeat_interval, self._send_ping)


async def upgrade_to_websocket(request: web.BaseRequest, *, max_message_bytes: int) -> ServerWebSocket:
    """Upgrade a request to a WebSocket; raise :exc:`Refusal` if it is not an upgrade."""
    socket = ServerWebSocket(
        protocols=(SUBPROTOCOL,),
        compress=False,  # a frame is shared by all readers, and no small frame can expand (CF-114)
        max_msg_size=max_message_bytes + 1,  # aiohttp refuses messages of exactly this size
        autoping=False,
        timeout=_CLOSE_TIMEOUT,
    )
    if request.transport is None or not socket.can_prepare(request):
        raise upgrade_required()
    await socket.prepare(request)
    return socket
