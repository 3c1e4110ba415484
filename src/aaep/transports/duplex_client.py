"""
A subscriber's channel over a connection that goes both ways: the base of WebSocket, sockets, pipes and gRPC.

Such a connection is one subscription (CF-040). When it is lost the subscription
cannot be taken up again by its id; a new request says what was heard last
(``attend.resume_after``, CF-084), and nothing is missed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final, Protocol

import msgspec

from ..errors import FrameError
from ..protocol.framing import Decoder, Frame
from .base import Arrival, ChannelLost, ChannelRefused

__all__ = ["DuplexChannel", "DuplexConnection", "FrameReader"]

_ANSWERS: Final = ("subscription.accepted", "subscription.rejected")
_MAX_QUEUED: Final = 1000  # messages that wait to be taken; then the connection is not read
_ANSWER_TIMEOUT: Final = 30.0  # seconds for an answer to a handshake message
_READ_SIZE: Final = 65_536  # bytes


class DuplexConnection(Protocol):
    """One open connection. Everything raises :exc:`ChannelLost` when it is gone."""

    async def send(self, message: bytes) -> None:
        """Send a message."""

    async def receive(self) -> bytes | ChannelRefused | None:
        """
        Return the next message; None when the server has ended the connection, no bytes for what is no message.

        A refusal that is returned, not raised, is all that answers what was asked; the connection goes on.
        """

    async def close(self) -> None:
        """End the connection."""


class _Head(msgspec.Struct):
    type: str = ""
    event_id: str = ""


_head_decoder: Final = msgspec.json.Decoder(_Head)


class DuplexChannel:
    """A :class:`~aaep.transports.base.Channel`: ``dial`` opens a connection, ``manifest`` gets the manifest."""

    def __init__(
        self, dial: Callable[[], Awaitable[DuplexConnection]], manifest: Callable[[], Awaitable[bytes]]
    ) -> None:
        self.dial = dial
        self._fetch_manifest = manifest
        self._connection: DuplexConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[Arrival | Exception] = asyncio.Queue(_MAX_QUEUED)
        self._answer: asyncio.Future[bytes] | None = None
        self._request_lock = asyncio.Lock()  # one handshake message at a time

    async def manifest(self) -> bytes:
        """Return the producer's manifest."""
        return await self._fetch_manifest()

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and return its answer; a request for a subscription opens a connection for it."""
        async with self._request_lock:
            if _decode_head(message).type == "subscription.request":
                await self._connect()
            connection = self._open_connection_or_raise()
            self._answer = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(_ANSWER_TIMEOUT):
                    # If it cannot be sent the reader hears why, and perhaps an answer before that.
                    with contextlib.suppress(ChannelLost, ChannelRefused):  # raised there
                        await connection.send(message)
                    return await self._answer
            except TimeoutError:
                raise ChannelLost("The producer did not answer in time.") from None
            finally:
                self._answer = None

    async def send(self, message: bytes) -> None:
        """Send what is not answered: a reply, a close."""
        await self._open_connection_or_raise().send(message)

    async def arrivals(self, subscription_id: str, after: str = "") -> AsyncGenerator[Arrival, None]:
        """Yield what the producer sends until the connection ends."""
        if self._connection is None:  # only a new request brings it back
            raise ChannelRefused("The connection was lost, and its subscription with it.", gone=True)
        while True:
            item = await self._queue.get()
            if isinstance(item, Exception):
                await self._disconnect()
                raise item
            yield item

    async def close(self) -> None:
        """Close the connection. Closing twice is fine."""
        await self._disconnect()

    def _open_connection_or_raise(self) -> DuplexConnection:
        if self._connection is None:
            raise ChannelLost("There is no connection at the moment.")
        return self._connection

    async def _connect(self) -> None:
        await self._disconnect()
        self._queue = asyncio.Queue(_MAX_QUEUED)
        self._connection = await self.dial()
        self._reader = asyncio.get_running_loop().create_task(self._read(self._connection))

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        reader, self._reader = self._reader, None
        try:
            if reader is not None:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)
        finally:  # also when there is no time left for that
            if connection is not None:
                with contextlib.suppress(ChannelLost):  # it is gone already
                    await connection.close()

    async def _read(self, connection: DuplexConnection) -> None:
        problem: Exception = ChannelLost("The connection ended.")
        has_closed = False
        try:
            while (raw := await connection.receive()) is not None:
                if isinstance(raw, ChannelRefused):
                    if self._answer is not None and not self._answer.done():
                        self._answer.set_exception(raw)
                    continue
                head = _decode_head(raw)
                if head.type in _ANSWERS:
                    if self._answer is not None and not self._answer.done():
                        self._answer.set_result(raw)
                else:
                    has_closed = has_closed or head.type == "subscription.close"
                    await self._queue.put(Arrival(raw, head.event_id))
        except ChannelLost as error:
            problem = error
        except ChannelRefused as error:
            # CF-097: a code after a close sums that up. Whether to come back is decided by what the close said.
            problem = ChannelRefused(str(problem), gone=True) if has_closed else error
        finally:
            if self._answer is not None and not self._answer.done():
                self._answer.set_exception(problem)
        await self._queue.put(problem)


def _decode_head(raw: bytes) -> _Head:
    try:
        return _head_decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head()  # the subscriber says what is wrong with it


class FrameReader:
    """Frames of a stream as they become complete. A caller that stops waiting for one loses none."""

    def __init__(self, reader: asyncio.StreamReader, choose_decoder: Callable[[bytes], Decoder]) -> None:
        """``choose_decoder`` is given the first bytes that come, and says how to take them apart."""
        self._reader = reader
        self._choose_decoder = choose_decoder
        self._decoder: Decoder | None = None
        self._ready: deque[Frame | FrameError] = deque()

    async def next(self) -> Frame | FrameError | None:
        """Return the next frame, or what was none; None at the end."""
        while not self._ready:
            try:
                data = await self._reader.read(_READ_SIZE)
            except OSError as error:
                raise ChannelLost(f"The connection broke: {error.strerror}.") from error
            if not data:
                return None
            if self._decoder is None:
                self._decoder = self._choose_decoder(data)
            self._ready.extend(self._decoder.feed(data))
        return self._ready.popleft()

    async def drain(self) -> None:
        """Throw away what comes, to the end."""
        with contextlib.suppress(OSError):  # that is an end too
            while await self._reader.read(_READ_SIZE):
                pass
