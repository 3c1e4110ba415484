"""What a subscriber reads from a socket or a pipe, one frame after another."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Final

from ..errors import FrameError
from ..protocol.framing import Decoder, Frame
from .base import ChannelLost

__all__ = ["Incoming"]

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
