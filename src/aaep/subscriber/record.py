"""A channel that tells what passes through it, in both directions and as it is."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Literal, TypeAlias

from ..transports.base import Channel, ReceivedMessage

__all__ = ["Direction", "RecordCallback", "RecordingChannel"]

Direction: TypeAlias = Literal["out", "in"]  # out is from the producer, as in a capture
RecordCallback: TypeAlias = Callable[[Direction, bytes], None]


class RecordingChannel:
    """
    A :class:`~aaep.transports.base.Channel` around another one.

    What we send is told before it leaves: what it brings about may be here
    before the sending is done.
    """

    def __init__(self, channel: Channel, record: RecordCallback) -> None:
        self._channel, self._record = channel, record

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    async def manifest(self) -> bytes:
        return await self._channel.manifest()

    async def request(self, message: bytes) -> bytes:
        self._record("in", message)
        answer = await self._channel.request(message)
        self._record("out", answer)
        return answer

    async def send(self, message: bytes) -> None:
        self._record("in", message)
        await self._channel.send(message)

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncGenerator[ReceivedMessage, None]:
        messages: AsyncIterator[ReceivedMessage] = self._channel.receive_messages(subscription_id, after)
        async with contextlib.AsyncExitStack() as stack:
            if isinstance(messages, AsyncGenerator):
                stack.push_async_callback(messages.aclose)
            async for received in messages:
                self._record("out", received.data)
                yield received

    async def close(self) -> None:
        await self._channel.close()
