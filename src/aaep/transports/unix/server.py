"""
Unix domain sockets: Appendix B.4.

The address is ``unix:///path/to/agent.sock``, or ``unix:AGENT_ID`` for the place
where an agent's socket is by convention. A message has its length in front of
it, or is a line of its own, whichever the reader began with (CF-106).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, cast
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from ...errors import FrameError
from ...hub.face import HubFace
from ...identity.credentials import Credentials, Identity, Local, Unauthenticated, Unauthorised
from ...protocol.codec import encode, replace
from ...protocol.fields import Message
from ...protocol.framing import (
    MAX_MESSAGE_BYTES,
    Decoder,
    NdjsonDecoder,
    choose_decoder,
    encode_length_prefixed,
    encode_ndjson,
)
from ...protocol.messages import SubscriptionAccepted, SubscriptionClose, SubscriptionRejected
from ...runtime.background import close_server
from ..duplex_server import Exchange
from .paths import BACKLOG, claim, fresh, manifest_beside, peer_of, put, release

__all__ = ["UnixDoor", "serve"]

log: Final = logging.getLogger("aaep.unix")

TRANSPORT: Final = "unix-socket"  # its name in a manifest (CF-119)
_LINGER: Final = 10.0  # seconds for a reader to take what was written before its connection ended
_GRACE: Final = 0.4  # seconds for what is under way when a door closes


def _prefixed(event_id: str, data: bytes) -> bytes:
    return encode_length_prefixed(data)  # UDS-007


def _line(event_id: str, data: bytes) -> bytes:
    return encode_ndjson(data)  # UDS-008


def _nowhere(data: bytes) -> None:
    """The connection has ended; the hub is about to hear of it."""


# -- one connection ------------------------------------------------------------------------


class _Reader(asyncio.Protocol):
    """One reader's connection: asyncio's Protocol on one side, the hub's FrameWriter on the other."""

    def __init__(self, door: UnixDoor) -> None:
        self.frame: Callable[[str, bytes], bytes] = _prefixed
        self._door = door
        self._wire: asyncio.Transport
        self._decoder: Decoder | None = None
        self._exchange: Exchange | None = None  # without one, whatever comes is thrown away
        self._ended = False
        self._timer: asyncio.TimerHandle | None = None
        # Once it is connected these are the transport's own, for they are called for every reader each time.
        self.write: Callable[[bytes], None] = _nowhere
        self.waiting: Callable[[], int] = int
        self.sink: asyncio.Transport

    # -- what asyncio calls ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = cast(asyncio.Transport, transport)
        if self._door.closed:  # since it was accepted
            self._wire.abort()
            return
        self.write, self.waiting, self.sink = self._wire.write, self._wire.get_write_buffer_size, self._wire
        # Events stop at high_water. What goes beyond it are answers that nobody takes.
        self._wire.set_write_buffer_limits(high=2 * self._door.hub.settings.high_water_bytes)
        self._door.readers.add(self)
        uid, pid = peer_of(self._wire.get_extra_info("socket"))  # CF-107: of every connection
        given = Credentials(transport=TRANSPORT, uid=uid, pid=pid, address=f"uid {uid}")
        try:
            peer = self._door.identity.authenticate(given)
        except Unauthenticated as refused:
            self._reject("authentication_required", str(refused))
        except Unauthorised as refused:
            self._reject("authorization_denied", str(refused))
        except Exception:
            log.exception("It could not be decided who this is, so it is not let in.")
            self._reject("unknown", "The agent's side failed.")
        else:
            self._exchange = Exchange(self._door.hub, peer, self, self._say, self._end)
            self._later(self._door.patience, self._still_silent)

    def data_received(self, data: bytes) -> None:
        exchange, decoder = self._exchange, self._decoder
        if exchange is None:
            return
        if decoder is not None and exchange.subscription_id is not None:
            message = decoder.extract_single(data)
            if message and message.isascii():  # what is no JSON is refused there too
                exchange.receive(message)
                return
        self._feed(exchange, data)

    def _feed(self, exchange: Exchange, data: bytes) -> None:
        try:
            if self._decoder is None:
                self._decoder = choose_decoder(data)(self._door.limit)  # CF-106, UDS-009
                self.frame = _line if isinstance(self._decoder, NdjsonDecoder) else _prefixed
            frames = self._decoder.feed(data)
        except FrameError as error:
            frames = [error]
        for item in frames:
            if self._ended:  # with what came before
                return
            if isinstance(item, FrameError):  # CF-113, CF-114
                exchange.refuse()
            else:
                exchange.receive(item.data)

    def eof_received(self) -> bool:
        return False  # whoever has no more to say has left, and what is unfinished was not said

    def pause_writing(self) -> None:
        if not self._ended:
            self._wire.pause_reading()

    def resume_writing(self) -> None:
        if not self._ended:
            self._wire.resume_reading()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop()
        self._door.left(self)

    # -- what the hub calls ----------------------------------------------------------------

    def close(self, message: SubscriptionClose | None) -> None:
        if message is not None:
            self._say(message)
        self._end("")

    # -- both ways -------------------------------------------------------------------------

    def drop(self, *, at_once: bool) -> None:
        """The door closes."""
        self._stop()
        if at_once:
            self._wire.abort()
        else:
            self._wire.close()

    def _say(self, message: Message) -> None:
        self.write(self.frame("", encode(self._door.signposted(message))))

    def _reject(self, reason: str, text: str) -> None:
        """Nothing was read, so it is said in the framing that is preferred (UDS-007)."""
        log.info("A connection was refused: %s.", reason)
        self._say(SubscriptionRejected(reason_code=cast(Literal["unknown"], reason), reason_message=text))
        self._end(reason)

    def _end(self, _: str) -> None:
        """Nothing more is sent. What still comes is thrown away, so that what was sent last is not lost with it."""
        if self._ended or self._wire.is_closing():
            return
        self._stop()
        self._wire.resume_reading()
        self._wire.write_eof()
        # A reader that takes nothing would keep its socket, and what waits in it, for ever.
        self._later(_LINGER, self._wire.abort)

    def _stop(self) -> None:
        self._ended = True
        self.write = _nowhere
        if self._timer is not None:
            self._timer.cancel()
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.lost()

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, call)

    def _still_silent(self) -> None:
        """Whoever has not asked for a subscription by now does not mean to."""
        if self._exchange is not None and not self._exchange.settled:
            self._exchange.refuse()


# -- the door ------------------------------------------------------------------------------


class UnixDoor:
    """A socket where a hub is served."""

    transport: Final = TRANSPORT

    def __init__(self, hub: HubFace, identity: Identity, path: Path, *, limit: int, patience: float) -> None:
        self.url = f"unix://{quote(os.fspath(path))}"
        self.hub, self.identity = hub, identity
        self.limit, self.patience = limit, patience
        self.readers: set[_Reader] = set()
        self.closed = False
        self._path, self._inode = path, path.lstat().st_ino
        self._manifest = b""  # as it was written
        self._server: asyncio.AbstractServer | None = None
        self._empty: asyncio.Future[None] | None = None

    async def open(self, listening: socket.socket) -> None:
        """Answer what comes to a socket."""
        self._describe()
        self._server = await asyncio.get_running_loop().create_unix_server(
            lambda: _Reader(self), sock=listening, backlog=BACKLOG
        )

    async def close(self) -> None:
        """Stop listening and let go of every connection. Closing twice is fine."""
        if self._server is None:
            return
        server, self._server, self.closed = self._server, None, True
        release(self._path, self._inode)
        await close_server(server)
        for reader in [*self.readers]:
            reader.drop(at_once=False)
        if self.readers:
            self._empty = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._empty], timeout=_GRACE)
        for reader in [*self.readers]:
            reader.drop(at_once=True)

    def left(self, reader: _Reader) -> None:
        self.readers.discard(reader)
        if not self.readers and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    # -- the manifest ----------------------------------------------------------------------

    def signposted(self, message: Message) -> Message:
        """CF-118: an accepted request is told where the manifest is, unless the agent has another place for it."""
        if not isinstance(message, SubscriptionAccepted) or message.manifest_uri is not UNSET:
            return message
        if not self._describe():
            return message
        return replace(message, manifest_uri=manifest_beside(self._path).as_uri())

    def _describe(self) -> bool:
        """Write the manifest beside the socket, if it is not what is there; whether it is there."""
        now = self.hub.manifest()
        if TRANSPORT not in now.transports_supported:  # the hub learns of this door when it is open
            now = msgspec.structs.replace(now, transports_supported=(*now.transports_supported, TRANSPORT))
        data = encode(now)
        if data != self._manifest:
            try:
                put(manifest_beside(self._path), data)
            except OSError as error:
                log.warning("The manifest could not be written beside the socket: %s.", error.strerror)
                return False
            self._manifest = data
        return True


async def serve(
    hub: HubFace, url: str, *, identity: Identity | None = None, limit: int = MAX_MESSAGE_BYTES, patience: float = 30.0
) -> UnixDoor:
    """
    Serve a hub at a socket; ``unix:`` alone is the place for its agent.

    Who may connect is the user this process belongs to, unless an ``identity`` says
    otherwise. ``patience`` is how long, in seconds, a reader may take to ask for its subscription.
    """
    path = fresh(url, hub.offer.producer.agent_id)
    listening, path = await asyncio.to_thread(claim, path)
    try:
        admits = Local(os.geteuid()) if identity is None else identity  # UDS-011
        door = UnixDoor(hub, admits, path, limit=limit, patience=patience)
        await door.open(listening)
    except BaseException:
        listening.close()
        raise
    return door


# -- the subscriber's end ------------------------------------------------------------------
