"""The harness that subscribers are judged with is not misled by what is merely slow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from aaep.conformance.subscriber.fake_producer import FakeProducer
from aaep.conformance.subscriber.harness import Harness, RunningSubscriber, SubscriberRun
from aaep.conformance.subscriber.scenarios_handshake import _find_sign_of_trust
from aaep.protocol.messages import SubscriptionClose
from tests.sessions import token

REQUEST = {
    "type": "subscription.request",
    "aaep_version": "1.0.0",
    "subscriber_id": "slow-reader",
    "capabilities": {"supports_confirmation_reply": True},
}


class Connection:
    """A stream that goes nowhere."""

    def __init__(self) -> None:
        self.frame: Callable[[str, bytes], bytes] = lambda event_id, data: data

    def write(self, data: bytes) -> None:
        """Nothing."""

    def count_unsent_bytes(self) -> int:
        return 0

    def close(self, message: SubscriptionClose | None) -> None:
        """Nothing."""


class Stub:
    """A subscriber that announces nothing, asks again before it accepts, and takes back the first acceptance."""

    has_typed_input = True
    has_observable_exit = True

    def __init__(self, producer: FakeProducer) -> None:
        self.producer = producer
        self.lines: list[str] = []

    async def type_line(self, line: str) -> None:
        self.lines.append(line)
        if self.lines == ["accept", "yes", "accept", "yes"]:
            reply = {"type": "confirmation.reply", "reply_token": token(1), "decision": "accept"}
            self.producer.handle_message(json.dumps(reply | {"subscription_id": "sub_1"}).encode())

    def stop(self) -> None:
        """Nothing."""

    async def wait_for_exit(self) -> str:
        return "It ended."


async def never(*_: object) -> RunningSubscriber:
    raise AssertionError("Nothing is started here.")


def subscribed(producer: FakeProducer) -> str:
    """Open a subscription and its stream; return its id."""
    answer = producer.handle_message(json.dumps(REQUEST).encode())
    assert isinstance(answer, dict)
    return producer.attach_stream(answer["subscription_id"], Connection()).subscription_id


def test_the_person_starts_over_when_an_acceptance_was_taken_back() -> None:
    async def ask() -> None:
        producer = FakeProducer()
        run = SubscriberRun(Harness(never, patience=1.0, quiet=0.05), producer, "accept")
        run.subscriber = stub = Stub(producer)
        reply = await run.ask_person(run.session.build_confirmation("Post it.", token(1)), "accept", "yes")
        assert reply is not None and reply.message["decision"] == "accept"
        assert stub.lines == ["accept", "yes", "accept", "yes"]

    asyncio.run(ask())


def test_who_has_ended_does_not_listen_on_though_its_connection_was_not_seen_to_end() -> None:
    async def judge() -> str:
        producer = FakeProducer()
        run = SubscriberRun(Harness(never), producer, "none")
        subscribed(producer)
        run.exit_reason = "It ended."
        return await _find_sign_of_trust(run)

    assert asyncio.run(judge()) == ""


def test_a_close_is_waited_for_that_comes_after_its_subscriber_was_seen_to_end() -> None:
    async def wait() -> None:
        producer = FakeProducer()
        run = SubscriberRun(Harness(never), producer, "none")
        close = {"type": "subscription.close", "subscription_id": subscribed(producer)}
        raw = json.dumps(close | {"reason_code": "subscriber_shutdown", "reason_message": "Done."}).encode()
        run.exit_reason = "It ended."
        asyncio.get_running_loop().call_later(0.1, producer.handle_message, raw)
        await run.wait_for_stream_end()
        assert run.find_first_message("subscription.close") is not None

    asyncio.run(wait())
