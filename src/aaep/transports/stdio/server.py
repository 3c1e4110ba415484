"""
JSON-RPC 2.0 over standard input and output: Appendix B.6.

``stdio:`` serves on the pipes of this process; ``stdio:COMMAND ARGS`` starts an
agent and listens to it. A line is one JSON-RPC object in UTF-8, ended by LF
(CF-111). The pipes outlive a subscription: when it has ended, or was rejected,
another may be asked for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable
from typing import Final, cast

from ...errors import AaepError, FrameError, RemoteProtocolError
from ...hub.face import HubFace, UnknownSubscription
from ...identity.credentials import Credentials, Identity, Local
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.framing import MAX_MESSAGE_BYTES, Frame, encode_jsonrpc
from ...protocol.messages import (
    ClarificationReply,
    ConfirmationReply,
    SubscriptionClose,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ..duplex_server import Exchange
from .client import connect
from .lines import CLOSE, EVENT, PING, RENEGOTIATE, REPLY, SUBSCRIBE, Broken, Lines, error

__all__ = ["StdioDoor", "connect", "serve"]

log: Final = logging.getLogger("aaep.stdio")

TRANSPORT: Final = "stdio-jsonrpc"  # its name in a manifest (CF-119)
_CALLS: Final[dict[str, tuple[type[Message], ...]]] = {  # STDIO-004, STDIO-006
    SUBSCRIBE: (SubscriptionRequest,),
    RENEGOTIATE: (SubscriptionRenegotiate,),
}
_NOTICES: Final[dict[str, tuple[type[Message], ...]]] = {  # STDIO-007, STDIO-008
    REPLY: (ConfirmationReply, ClarificationReply),
    CLOSE: (SubscriptionClose,),
}
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its connection ended
_GRACE: Final = 0.4  # seconds for what is under way when a door closes


_HEAD: Final = encode_jsonrpc(b"{}", method=EVENT).partition(b"{}")[0]  # of a line with an event


def _event(event_id: str, data: bytes) -> bytes:
    if 10 in data or 13 in data:  # nearly none has a line end of its own
        return encode_jsonrpc(data, method=EVENT)
    return b"%b%b}\n" % (_HEAD, data)  # STDIO-003


# -- the pipes -----------------------------------------------------------------------------


def _nowhere(data: bytes) -> None:
    """The pipe has ended; the hub is about to hear of it."""


class _Out(asyncio.BaseProtocol):
    """The pipe that is written to."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def pause_writing(self) -> None:
        self._reader.pause_writing()

    def resume_writing(self) -> None:
        self._reader.resume_writing()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._reader.gone()


class _Reader(asyncio.Protocol):
    """The one reader: asyncio's Protocol on the pipe that is read, the hub's FrameWriter on the other."""

    def __init__(self, hub: HubFace, peer: Peer, limit: int) -> None:
        self.frame: Callable[[str, bytes], bytes] = _event
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._most = 2 * hub.settings.high_water_bytes
        self._lines = Lines(limit)
        self._exchange = Exchange(hub, peer, self, self._say, self._end)
        self._in: asyncio.ReadTransport | None = None
        self._out: asyncio.WriteTransport
        self._call: int | str | None = None  # what is being answered
        self._one = self._over = False
        # Once it is connected these are the pipe's own, for they are called each time.
        self.write: Callable[[bytes], None] = _nowhere
        self.waiting: Callable[[], int] = int
        self.sink: asyncio.WriteTransport

    async def open(self, reading: int, writing: int) -> None:
        """Begin. The pipes are closed in the end."""
        loop = asyncio.get_running_loop()
        if _same(reading, writing):  # one socket for both, as from inetd
            self._one = True
            os.close(writing)
            await loop.create_connection(lambda: self, sock=socket.socket(fileno=reading))
        else:
            self._out, _ = await loop.connect_write_pipe(lambda: _Out(self), os.fdopen(writing, "wb", 0))
            await loop.connect_read_pipe(lambda: self, os.fdopen(reading, "rb", 0))

    def finish(self) -> None:
        """Nothing more is read or written, but for what is written already."""
        if self._over:
            return
        self._over = True
        self.write = _nowhere
        self._exchange.lost()
        if self._in is not None:
            self._in.close()
        self._out.close()
        # A reader that takes nothing would keep its pipe, and what waits in it, for ever.
        asyncio.get_running_loop().call_later(_LINGER, self.drop)

    def drop(self) -> None:
        if not self.ended.done():
            self._out.abort()

    # -- what asyncio calls ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._in = cast(asyncio.ReadTransport, transport)
        if self._one:
            self._out = cast(asyncio.WriteTransport, transport)
        self.write, self.waiting, self.sink = self._out.write, self._out.get_write_buffer_size, self._out
        # Events stop at high_water. What goes beyond it are answers that nobody takes.
        self._out.set_write_buffer_limits(high=self._most)

    def data_received(self, data: bytes) -> None:
        for item in self._lines.feed(data):
            if not self._over:
                self._take(item)

    def eof_received(self) -> None:
        self.finish()  # whoever has no more to say has left, and half a line was not said

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._one:
            self.gone()
        self.finish()

    def pause_writing(self) -> None:
        if self._in is not None and not self._over:
            self._in.pause_reading()

    def resume_writing(self) -> None:
        if self._in is not None and not self._over:
            self._in.resume_reading()

    def gone(self) -> None:
        """Nobody reads any more."""
        if not self.ended.done():
            self.ended.set_result(None)
        self.finish()

    # -- what the hub calls ----------------------------------------------------------------

    def close(self, message: SubscriptionClose | None) -> None:
        if message is not None:
            self._say(message)
        self._exchange.subscription_id = None

    # -- lines -----------------------------------------------------------------------------

    def _take(self, item: Frame | FrameError) -> None:
        if isinstance(item, Broken):
            log.info("A line was refused: it is no call that is known here.")
            if item.code:
                self.write(error(item.code, item.call))
        if isinstance(item, FrameError):
            if item.fatal:  # CF-114
                self._exchange.refuse()
        elif item.method in _NOTICES:
            self._notice(item)
        elif item.method == PING:
            self._done(item)
        elif item.call is None:
            log.info("A notification was ignored: it has no meaning here.")  # JSON-RPC 2.0 §4.1: nothing answers it
        elif item.method in _CALLS:
            self._answer(item, item.call)
        elif item.method:
            self.write(error(-32601, item.call))
        else:
            log.info("An answer was ignored: nothing was asked.")

    def _notice(self, item: Frame) -> None:
        try:
            self._exchange.take(item.data, _NOTICES[item.method])
        except (RemoteProtocolError, UnknownSubscription):
            log.info("A notification was refused.")  # CF-110: and nothing is said of it
        self._done(item)

    def _done(self, item: Frame) -> None:
        """Who asks for an answer where none is due gets the same one always; ``ping`` has no other (CF-012, CF-110)."""
        if item.call is not None:
            self.write(encode_jsonrpc(b"{}", call=item.call))

    def _answer(self, item: Frame, call: int | str) -> None:
        self._call = call
        try:
            self._exchange.take(item.data, _CALLS[item.method])
        except (RemoteProtocolError, UnknownSubscription):
            self.write(error(-32602, call))

    def _say(self, message: Message) -> None:
        if isinstance(message, SubscriptionClose):
            self.write(encode_jsonrpc(encode(message), method=CLOSE))  # STDIO-008
        else:
            self.write(
                encode_jsonrpc(encode(message), call=self._call)
            )  # STDIO-005, CF-110: a rejection too is a result

    def _end(self, reason: str) -> None:
        if reason == "protocol_error":
            self.finish()


# -- the door ------------------------------------------------------------------------------


class StdioDoor:
    """The pipes of this process, where a hub is served. ``ended`` is done when the reader has left."""

    transport: Final = TRANSPORT

    def __init__(self, reader: _Reader) -> None:
        self.url = "stdio:"
        self._reader = reader
        self.ended = reader.ended

    async def close(self) -> None:
        """Let go of the pipes. Closing twice is fine."""
        self._reader.finish()
        if not self.ended.done():
            await asyncio.wait([self.ended], timeout=_GRACE)
        self._reader.drop()


async def serve(
    hub: HubFace,
    url: str,
    *,
    identity: Identity | None = None,
    limit: int = MAX_MESSAGE_BYTES,
    reading: int | None = None,
    writing: int | None = None,
) -> StdioDoor:
    """
    Serve a hub on this process's standard input and output, to whoever started it.

    From then on what is printed goes to standard error, so that it cannot get
    between the messages (STDIO-011). ``reading`` and ``writing`` are two pipes to use instead.
    """
    if url.partition(":")[2].strip("/ "):
        raise AaepError("An agent serves on the pipes it was started with. Write stdio: and nothing after it.")
    if (reading is None) != (writing is None):
        raise AaepError("Give both reading= and writing=, or none of them.")
    admits = Local() if identity is None else identity
    peer = admits.authenticate(Credentials(transport=TRANSPORT, is_over_pipes=True))
    reader = _Reader(hub, peer, limit)
    if reading is None or writing is None:
        reading, writing = _taken()
    await reader.open(reading, writing)
    return StdioDoor(reader)


def _taken() -> tuple[int, int]:
    """This process's standard input and output, moved to where nobody else finds them."""
    for number, name in enumerate(("input", "output")):
        if not _is_pipe(number):
            raise AaepError(
                f"Standard {name} is not a pipe. stdio: is for agents that a reader starts: "
                "aaep listen 'stdio:COMMAND ARGS'."
            )
    if _same(1, 2):
        raise AaepError(
            "Standard output and standard error are one pipe, so that what is printed would get between "
            "the messages. Keep them apart."
        )
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # it has no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    if sys.stdout is not None:
        sys.stdout.flush()  # what was printed before, and has not left yet
    return reading, writing


def _is_pipe(number: int) -> bool:
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _same(one: int, other: int) -> bool:
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False
