"""One subscriber on the WebSocket of an ASGI server, as the hub sees it."""

from __future__ import annotations

from ...hub.hub import Hub
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.messages import SubscriptionClose
from ..base import Peer
from ..duplex_server import Exchange
from ..websocket.talk import code_of
from .pipe import TalkPipe

__all__ = ["Talk"]


class Talk:
    """Made on the server's loop; used on the hub's."""

    def __init__(self, hub: Hub, peer: Peer) -> None:
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
            self._hub.call(lambda: self._end("subscriber_shutdown"))
            return
        self._say(message)  # CF-097: the message first
        self._finish(code_of(message.reason_code))

    def _finish(self, code: int) -> None:
        if not self.pipe.ended:
            self.pipe.code = code
            self.pipe.end()
