"""The ends of pipes that event loops read from and write to."""

from __future__ import annotations

import asyncio
import os

__all__ = ["PipeEnd"]


class PipeEnd:
    """
    A file descriptor that belongs to the event loop it is given to, in place of a file object.

    uvloop closes a descriptor, and then the file object that it came from. Between the two, another thread may have
    got the same number, for the file of a journal or for another loop, and that would be closed. So for a loop that
    closes the descriptor itself, closing this does nothing.
    """

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._is_open = isinstance(loop, asyncio.BaseEventLoop)  # those of asyncio close nothing themselves

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Close the file descriptor, unless the loop does."""
        if self._is_open:
            self._is_open = False
            os.close(self._descriptor)
