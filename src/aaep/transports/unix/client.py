"""The client side of Unix sockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from ...errors import AaepError, FrameError
from ...protocol.framing import MAX_MESSAGE_BYTES, choose_decoder, encode_length_prefixed, encode_ndjson
from ..base import ChannelLost
from ..duplex_client import DuplexChannel, FrameReader, limit_unsent_bytes
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .paths import connect_socket, parse_unix_url, read_manifest

__all__ = ["connect"]

_CLOSE_TIMEOUT: Final = 0.4  # seconds to flush what was sent last
_MAX_UNSENT_BYTES: Final = 4 * 1024  # in each buffer of a connection; the other end is on this machine
_MAX_TRIES: Final = 50  # while the agent's backlog is full
_RETRY_DELAY: Final = 0.02  # seconds


class _UnixConnection:
    """One open connection over a Unix socket."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, frame: Callable[[bytes], bytes]
    ) -> None:
        self._frames = FrameReader(reader, lambda first: choose_decoder(first)(MAX_MESSAGE_BYTES))  # CF-106
        self._writer = writer
        self._frame = frame

    async def send(self, message: bytes) -> None:
        """Send a message."""
        if self._writer.is_closing():
            raise ChannelLost("The connection is gone.")
        self._writer.write(self._frame(message))
        try:
            await self._writer.drain()
        except OSError as error:
            raise ChannelLost("The connection broke, and this may not have arrived.") from error

    async def receive(self) -> bytes | None:
        """Return the next message; None when the agent has ended the connection."""
        try:
            item = await self._frames.next_frame()
        except FrameError as error:
            raise ChannelLost("What answers does not speak AAEP.") from error
        if not isinstance(item, FrameError):
            return None if item is None else item.data
        if item.fatal:
            raise ChannelLost("The agent sent what is no message.") from item
        return b""

    async def close(self) -> None:
        """Flush what was sent last and end the connection."""
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):  # the agent may not read any more
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await self._writer.wait_closed()


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> DuplexChannel:
    """
    Return a channel to the agent at a ``unix:`` URL. Nothing is sent yet.

    The socket and the process behind it must belong to the user (CF-104). ``options.framing``
    is for agents that support only one framing.
    """
    parse_unix_url(url)  # raises early if it is invalid
    frame = {"length": encode_length_prefixed, "ndjson": encode_ndjson}.get(options.framing)
    if frame is None:
        raise AaepError(f"There is no framing {options.framing!r}. Known: length, ndjson.")

    async def open_connection() -> _UnixConnection:
        for _ in range(_MAX_TRIES):
            connected = connect_socket(url)
            if connected is not None:
                reader, writer = await asyncio.open_unix_connection(sock=connected)
                limit_unsent_bytes(writer.transport, _MAX_UNSENT_BYTES)
                return _UnixConnection(reader, writer, frame)
            await asyncio.sleep(_RETRY_DELAY)  # the kernel does not signal free room in the backlog
        raise ChannelLost("The agent has too many callers at the moment.")

    async def manifest() -> bytes:
        return read_manifest(url)

    return DuplexChannel(open_connection, manifest)
