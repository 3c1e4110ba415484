"""
A subscriber's channel over a connection that goes both ways: what WebSocket, sockets, pipes and gRPC have in common.

Such a connection is one subscription (CF-040). When it is lost the subscription
cannot be taken up again by its name; a new request says what was heard last
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

__all__ = ["Duplex", "Incoming", "Wire"]

_ANSWERS: Final = ("subscription.accepted", "subscription.rejected")
_MOST: Final = 1000  # messages that wait to be taken; then the connection is not read
_PATIENCE: Final = 30.0  # seconds for an answer to a handshake message


class Wire(Protocol):
    """One open connection. Everything raises :exc:`ChannelLost` when it is gone."""

    async def send(self, message: bytes) -> None: ...

    async def receive(self) -> bytes | ChannelRefused | None:
        """
        The next message; None when the other side has ended the connection, and no bytes for what is no message.

        A refusal that is given back, not raised, is all that answers what was asked; the connection goes on.
        """

    async def close(self) -> None: ...


class _Head(msgspec.Struct):
    type: str = ""
    event_id: str = ""


_head: Final = msgspec.json.Decoder(_Head)


class Duplex:
    """A :class:`~aaep.transports.base.Channel`: ``dial`` opens a connection, ``manifest`` gets the manifest."""

    def __init__(self, dial: Callable[[], Awaitable[Wire]], manifest: Callable[[], Awaitable[bytes]]) -> None:
        self.dial, self._manifest = dial, manifest
        self._wire: Wire | None = None
        self._reader: asyncio.Task[None] | None = None
        self._mail: asyncio.Queue[Arrival | Exception] = asyncio.Queue(_MOST)
        self._answer: asyncio.Future[bytes] | None = None
        self._asking = asyncio.Lock()  # one handshake message at a time

    async def manifest(self) -> bytes:
        return await self._manifest()

    async def request(self, message: bytes) -> bytes:
        async with self._asking:
            if _read(message).type == "subscription.request":
                await self._connect()
            wire = self._open()
            self._answer = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(_PATIENCE):
                    # If it cannot be sent the reader hears why, and perhaps an answer before that.
                    with contextlib.suppress(ChannelLost, ChannelRefused):  # told there
                        await wire.send(message)
                    return await self._answer
            except TimeoutError:
                raise ChannelLost("The producer did not answer in time.") from None
            finally:
                self._answer = None

    async def send(self, message: bytes) -> None:
        await self._open().send(message)

    async def arrivals(self, subscription_id: str, after: str = "") -> AsyncGenerator[Arrival, None]:
        if self._wire is None:  # only a new request brings it back
            raise ChannelRefused("The connection was lost, and its subscription with it.", gone=True)
        while True:
            item = await self._mail.get()
            if isinstance(item, Exception):
                await self._hang_up()
                raise item
            yield item

    async def close(self) -> None:
        await self._hang_up()

    def _open(self) -> Wire:
        if self._wire is None:
            raise ChannelLost("There is no connection at the moment.")
        return self._wire

    async def _connect(self) -> None:
        await self._hang_up()
        self._mail = asyncio.Queue(_MOST)
        self._wire = await self.dial()
        self._reader = asyncio.get_running_loop().create_task(self._read_on(self._wire))

    async def _hang_up(self) -> None:
        wire, self._wire = self._wire, None
        reader, self._reader = self._reader, None
        try:
            if reader is not None:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)
        finally:  # also when there is no time left for that
            if wire is not None:
                with contextlib.suppress(ChannelLost):  # it is gone already
                    await wire.close()

    async def _read_on(self, wire: Wire) -> None:
        problem: Exception = ChannelLost("The connection ended.")
        parted = False
        try:
            while (raw := await wire.receive()) is not None:
                if isinstance(raw, ChannelRefused):
                    if self._answer is not None and not self._answer.done():
                        self._answer.set_exception(raw)
                    continue
                head = _read(raw)
                if head.type in _ANSWERS:
                    if self._answer is not None and not self._answer.done():
                        self._answer.set_result(raw)
                else:
                    parted = parted or head.type == "subscription.close"
                    await self._mail.put(Arrival(raw, head.event_id))
        except ChannelLost as error:
            problem = error
        except ChannelRefused as error:
            # CF-097: a code after a goodbye sums that up. Whether to come back is for who has read it.
            problem = ChannelRefused(str(problem), gone=True) if parted else error
        finally:
            if self._answer is not None and not self._answer.done():
                self._answer.set_exception(problem)
        await self._mail.put(problem)


def _read(raw: bytes) -> _Head:
    try:
        return _head.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Head()  # the subscriber says what is wrong with it


# -- incoming --

_PIECE: Final = 65_536


class Incoming:
    """Frames as they become complete. Who stops waiting for one loses none."""

    def __init__(self, reader: asyncio.StreamReader, choose: Callable[[bytes], Decoder]) -> None:
        """``choose`` is given the first bytes that come, and says how to take them apart."""
        self._reader, self._choose = reader, choose
        self._decoder: Decoder | None = None
        self._ready: deque[Frame | FrameError] = deque()

    async def next(self) -> Frame | FrameError | None:
        """The next frame, or what was none; None at the end."""
        while not self._ready:
            try:
                data = await self._reader.read(_PIECE)
            except OSError as error:
                raise ChannelLost(f"The connection broke: {error.strerror}.") from error
            if not data:
                return None
            if self._decoder is None:
                self._decoder = self._choose(data)
            self._ready.extend(self._decoder.feed(data))
        return self._ready.popleft()

    async def drain(self) -> None:
        """Throw away what comes, to the end."""
        with contextlib.suppress(OSError):  # that is an end too
            while await self._reader.read(_PIECE):
                pass
