"""
A subscriber's channel over a bidirectional connection: the base of WebSocket, Unix sockets, stdio and gRPC.

Such a connection carries one subscription (CF-040). When it is lost, the subscription
cannot be resumed by its id; a new request names the last received event
(``attend.resume_after``, CF-084), so that no event is missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final, Protocol

import msgspec

from ..errors import FrameError
from ..protocol.framing import Decoder, Frame
from .base import ChannelLost, ChannelRefused, ReceivedMessage

__all__ = ["DuplexChannel", "DuplexConnection", "FrameReader", "limit_unsent_bytes"]

_ANSWERS: Final = ("subscription.accepted", "subscription.rejected")
_MAX_QUEUED: Final = 8  # received messages; while the queue is full, the connection is not read
_ANSWER_TIMEOUT: Final = 30.0  # seconds for an answer to a handshake message
_READ_SIZE: Final = 65_536  # bytes


class DuplexConnection(Protocol):
    """One open connection. Every method raises :exc:`ChannelLost` when it is lost."""

    async def send(self, message: bytes) -> None:
        """Send a message."""

    async def receive(self) -> bytes | ChannelRefused | None:
        """
        Return the next message; None when the server has ended the connection, empty bytes for invalid data.

        A refusal that is returned instead of raised answers the pending request only; the connection stays open.
        """

    async def close(self) -> None:
        """End the connection."""


class _Head(msgspec.Struct):
    type: str = ""
    event_id: str = ""


_head_decoder: Final = msgspec.json.Decoder(_Head)


class DuplexChannel:
    """A :class:`~aaep.transports.base.Channel` over connections that ``open_connection`` opens."""

    def __init__(
        self, open_connection: Callable[[], Awaitable[DuplexConnection]], fetch_manifest: Callable[[], Awaitable[bytes]]
    ) -> None:
        self.open_connection = open_connection
        self._fetch_manifest = fetch_manifest
        self._connection: DuplexConnection | None = None
        self._read_task: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[ReceivedMessage | Exception] = asyncio.Queue(_MAX_QUEUED)
        self._answer: asyncio.Future[bytes] | None = None
        self._has_closed = False  # whether the producer has ended the subscription, or the connection
        self._is_closed = False  # on our side, for good
        self._request_lock = asyncio.Lock()  # one handshake message at a time

    async def manifest(self) -> bytes:
        """Return the producer's manifest."""
        return await self._fetch_manifest()

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and return the answer; a subscription.request opens a new connection."""
        async with self._request_lock:
            if _decode_head(message).type == "subscription.request":
                await self._connect()
            connection = self._require_connection()
            self._answer = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(_ANSWER_TIMEOUT):
                    # If sending fails, the read task sets the reason, or an answer that came before, on the future.
                    with contextlib.suppress(ChannelLost, ChannelRefused):
                        await connection.send(message)
                    return await self._answer
            except TimeoutError:
                raise ChannelLost("The producer did not answer in time.") from None
            finally:
                self._answer = None

    async def send(self, message: bytes) -> None:
        """Send a message that has no answer: a reply or a close."""
        await self._require_connection().send(message)

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncGenerator[ReceivedMessage, None]:
        """Yield messages of the producer until the connection ends."""
        if self._connection is None:  # only a new request opens another connection
            raise ChannelRefused("The connection was lost, and its subscription with it.", gone=True)
        try:
            while True:
                item = await self._queue.get()
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:  # who only stops listening may still have something to send
            if self._has_closed:
                await self._disconnect()

    async def close(self) -> None:
        """Close the connection, also one that is being opened. Closing twice is fine."""
        self._is_closed = True
        await self._disconnect()

    def _require_connection(self) -> DuplexConnection:
        if self._connection is None:
            raise ChannelLost("There is no connection at the moment.")
        return self._connection

    async def _connect(self) -> None:
        await self._disconnect()
        self._queue = asyncio.Queue(_MAX_QUEUED)
        self._has_closed = False
        connection = await self.open_connection()
        if self._is_closed:
            await connection.close()
            raise ChannelLost("The connection was closed while it was opened.")
        self._connection = connection
        self._read_task = asyncio.get_running_loop().create_task(self._read(connection))

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        read_task, self._read_task = self._read_task, None
        try:
            if read_task is not None:
                read_task.cancel()
                await asyncio.gather(read_task, return_exceptions=True)
        finally:  # also when this task is cancelled meanwhile
            if connection is not None:
                with contextlib.suppress(ChannelLost):  # it is lost already
                    await connection.close()

    async def _read(self, connection: DuplexConnection) -> None:
        """Receive messages until the connection ends: answers resolve the pending request, others are queued."""
        problem: Exception = ChannelLost("The connection ended.")
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
                    self._has_closed = self._has_closed or head.type == "subscription.close"
                    await self._queue.put(ReceivedMessage(raw, head.event_id))
        except ChannelLost as error:
            problem = error
        except ChannelRefused as error:
            # CF-097: the code after a close summarises it. The close message decides whether to reconnect.
            problem = ChannelRefused(str(problem), gone=True) if self._has_closed else error
        finally:
            if self._answer is not None and not self._answer.done():
                self._answer.set_exception(problem)
        self._has_closed = True
        await self._queue.put(problem)


def limit_unsent_bytes(transport: asyncio.WriteTransport, max_bytes: int) -> None:
    """Keep the buffers of a connection short, also the kernel's: what an agent says last stands behind them."""
    transport.set_write_buffer_limits(high=max_bytes)
    connected = transport.get_extra_info("socket")
    if connected is not None:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, max_bytes)


def _decode_head(raw: bytes) -> _Head:
    try:
        return _head_decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head()  # the subscriber reports what is wrong with the message


class FrameReader:
    """Reads frames from a stream. Cancelling :meth:`next_frame` loses no frame."""

    def __init__(self, reader: asyncio.StreamReader, choose_decoder: Callable[[bytes], Decoder]) -> None:
        """``choose_decoder`` is called with the first bytes received and returns the decoder for the stream."""
        self._reader = reader
        self._choose_decoder = choose_decoder
        self._decoder: Decoder | None = None
        self._ready: deque[Frame | FrameError] = deque()

    async def next_frame(self) -> Frame | FrameError | None:
        """Return the next frame, or the error for invalid data; None at the end of the stream."""
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
        """Read and discard data until the end of the stream."""
        with contextlib.suppress(OSError):  # a broken stream has ended too
            while await self._reader.read(_READ_SIZE):
                pass
