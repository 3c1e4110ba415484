"""What every conversation on a connection that goes both ways does alike, whatever carries it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from aaep.errors import RemoteProtocolError
from aaep.identity.peer import Peer
from aaep.protocol.messages import SubscriptionClose, SubscriptionRejected
from aaep.transports import duplex_server
from aaep.transports.duplex_server import Conversation

NAME = "sub_" + "0" * 32


class FakeHub:
    """Knows one subscription, and refuses every message."""

    can_accept_agents = False

    def __init__(self) -> None:
        self.disconnected: list[str] = []

    def call_soon(self, function: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_soon(function)

    def receive(self, *_: Any) -> None:
        raise RemoteProtocolError("Malformed message.")

    def disconnect(self, subscription_id: str, writer: object) -> None:
        self.disconnected.append(subscription_id)


class Recorded(Conversation):
    """A conversation that notes what it would do to its connection."""

    def __init__(self, hub: FakeHub) -> None:
        super().__init__(cast(Any, hub), Peer("ada", "nowhere"))
        self.frame = lambda event_id, data: data
        self.unsent = 0
        self.written: list[bytes] = []
        self.ends: list[tuple[str, SubscriptionClose | None]] = []
        self.aborts = 0

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def count_unsent_bytes(self) -> int:
        return self.unsent

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        self.ends.append((reason, message))

    def abort(self) -> None:
        self.aborts += 1


def run(test: Callable[[FakeHub, Recorded], Any]) -> None:
    async def main() -> None:
        hub = FakeHub()
        await test(hub, Recorded(hub))

    asyncio.run(main())


def goodbye(reason: Any = "producer_shutdown") -> SubscriptionClose:
    return SubscriptionClose(subscription_id=NAME, reason_code=reason)


def test_who_asks_for_nothing_in_time_is_refused_and_who_has_asked_is_not() -> None:
    """WS-006, GRPC-006"""

    async def test(hub: FakeHub, silent: Recorded) -> None:
        asking = Recorded(hub)
        for conversation in (silent, asking):
            conversation.start(0.01)
        asking.subscription_id = NAME
        await asyncio.sleep(0.05)
        assert silent.ends == [("no_request", None)] and silent.written == []
        assert asking.ends == [] and asking.is_open

    run(test)


def test_a_close_is_said_before_the_connection_ends_and_ends_it_once() -> None:
    """CF-097"""

    async def test(hub: FakeHub, conversation: Recorded) -> None:
        conversation.subscription_id = NAME
        message = goodbye()
        conversation.close(message)
        assert len(conversation.written) == 1 and b"producer_shutdown" in conversation.written[0]
        assert conversation.ends == [("producer_shutdown", message)] and not conversation.is_open
        assert hub.disconnected == [NAME]
        conversation.end("protocol_error")
        conversation.shut_down()
        conversation.mark_lost()
        assert len(conversation.ends) == 1 and hub.disconnected == [NAME]

    run(test)


def test_a_subscription_that_is_closed_from_elsewhere_ends_the_connection() -> None:
    async def test(hub: FakeHub, conversation: Recorded) -> None:
        conversation.close(None)
        assert conversation.ends == []  # its own client's close is answered first
        await asyncio.sleep(0)
        assert conversation.ends == [("subscriber_shutdown", None)]

    run(test)


def test_a_server_that_closes_ends_it_and_a_rejection_is_said_first() -> None:
    async def test(hub: FakeHub, conversation: Recorded) -> None:
        conversation.shut_down()
        assert conversation.ends == [("server_closing", None)]
        other = Recorded(hub)
        other.reject(SubscriptionRejected(reason_code="rate_limit", reason_message="Too many."))
        assert len(other.written) == 1 and other.ends == [("rate_limit", None)]

    run(test)


def test_cf_113_what_is_no_message_is_told_with_the_subscription_that_it_ends() -> None:
    async def test(hub: FakeHub, conversation: Recorded) -> None:
        conversation.subscription_id = NAME
        conversation.receive(b"{")
        assert len(conversation.written) == 1 and b"Malformed message." in conversation.written[0]
        assert conversation.ends == [("protocol_error", None)]
        conversation.receive(b"{")  # too late
        assert len(conversation.written) == 1

    run(test)


def test_tr_018_who_takes_nothing_more_is_dropped_and_who_does_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplex_server, "LINGER_TIMEOUT", 0.02)

    async def test(hub: FakeHub, stuck: Recorded) -> None:
        slow = Recorded(hub)
        for conversation in (stuck, slow):
            conversation.unsent = 1000
            conversation.close(goodbye())
        for _ in range(10):
            slow.unsent -= 10
            await asyncio.sleep(0.01)
            assert slow.aborts == 0
        assert stuck.aborts == 1
        slow.mark_lost()
        await asyncio.sleep(0.1)
        assert slow.aborts == 0  # it is gone by itself

    run(test)
