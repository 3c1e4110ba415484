"""What stands between a hub and its transports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..protocol.messages import SubscriptionClose

__all__ = ["FrameWriter", "Server"]


class FrameWriter(Protocol):
    """
    One reader's connection, as the hub sees it. Called on the hub's loop only; nothing here waits.

    ``frame`` is the same function for all writers of a transport, so that a
    frame is made once and written many times.
    """

    frame: Callable[[str, bytes], bytes]  # event id and JSON to what goes over the wire

    def write(self, data: bytes) -> None:
        """Send one or more frames, back to back."""

    def waiting(self) -> int:
        """How many bytes the reader has not taken yet."""

    def close(self, message: SubscriptionClose | None) -> None:
        """End the connection, saying why if there is something to say."""


class Server(Protocol):
    """An address that is being served."""

    url: str

    async def close(self) -> None:
        """Stop listening and let go of every connection."""
