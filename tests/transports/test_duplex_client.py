"""The client side of a connection that carries both directions, over a connection that is scripted."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from aaep.transports.base import ChannelLost, ChannelRefused
from aaep.transports.duplex_client import DuplexChannel

ACCEPTED = msgspec.json.encode({"type": "subscription.accepted"})
EVENT = msgspec.json.encode({"type": "aaep:agent.session.started", "event_id": "evt_1"})
GOODBYE = msgspec.json.encode({"type": "subscription.close"})


class Scripted:
    """A connection that accepts the request, says one thing more, and then stays open."""

    def __init__(self, message: bytes) -> None:
        self.sent: list[bytes] = []
        self.is_closed = False
        self._messages = [message, ACCEPTED]

    async def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def receive(self) -> bytes | ChannelRefused | None:
        if not self._messages:
            await asyncio.Event().wait()
        return self._messages.pop()

    async def close(self) -> None:
        self.is_closed = True


async def listen_once(connection: Scripted) -> DuplexChannel:
    """Subscribe, take one message, and stop listening."""

    async def dial() -> Scripted:
        return connection

    async def fetch_manifest() -> bytes:
        return b"{}"

    channel = DuplexChannel(dial, fetch_manifest)
    await channel.request(b'{"type": "subscription.request"}')
    messages = channel.receive_messages("sub_1")
    await anext(messages)
    await messages.aclose()
    return channel


def test_who_stops_listening_can_still_say_goodbye() -> None:
    """SUB-065: over the connection that the subscription is."""

    async def main() -> None:
        connection = Scripted(EVENT)
        channel = await listen_once(connection)
        await channel.send(GOODBYE)
        assert connection.sent[-1] == GOODBYE and not connection.is_closed
        await channel.close()
        assert connection.is_closed

    asyncio.run(main())


def test_the_connection_of_a_producer_that_says_goodbye_and_stays_is_closed() -> None:
    async def main() -> None:
        connection = Scripted(GOODBYE)
        channel = await listen_once(connection)
        assert connection.is_closed
        with pytest.raises(ChannelLost):
            await channel.send(GOODBYE)

    asyncio.run(main())
