"""A connection that breaks: after each event, after every event, and under a subscriber that mends it by itself."""

from __future__ import annotations

import asyncio

import pytest

from aaep.errors import LocalProtocolError
from aaep.protocol.events import AwaitingConfirmation, OutputStreaming
from aaep.subscriber.connection import SubscriberRuntime
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import ChannelLost
from tests.end_to_end.conftest import Bank
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, Raw, ids, kinds, outcomes
from tests.end_to_end.relay import Relay
from tests.end_to_end.wires import LONG, Json

EVENTS = 21  # what the errand says, from the first word to the last


def complete(reader: Raw, said: list[Json]) -> None:
    """Everything came, in the order in which it was said (§8.2.3), and nothing is wrong with what came."""
    assert ids(reader.got) == ids(said)
    assert reader.errors() == []


def test_the_errand_is_as_long_as_these_tests_believe(bank: Bank) -> None:
    reader = bank.reader(**ANSWERS)
    with reader.connect() as stream:
        bank.start()
        reader.send(reader.wait(stream, PROMPT))
        reader.wait(stream, *ENDS)
    assert len(reader.got) == len(bank.journal) == EVENTS
    assert EVENTS > kinds(reader.got).index("awaiting.confirmation") + 2 > 4


@pytest.mark.parametrize("count", [pytest.param(0, marks=pytest.mark.only("rejoins")), *range(1, EVENTS + 1)])
def test_a_reader_cut_off_after_any_event_gets_the_rest_and_may_still_answer(bank: Bank, count: int) -> None:
    reader = bank.reader(**ANSWERS)
    answered: list[Json] = []

    def go_on(event: Json) -> bool:
        if event["type"] == PROMPT:
            answered.append(event)
        return len(reader.got) == count or event["type"] in ENDS or event["type"] == PROMPT

    stream = reader.connect()
    bank.start()
    while len(reader.got) < count:
        event = reader.take(stream, go_on)
        if answered and len(reader.got) < count and not outcomes(reader.got, answered[0]):
            reader.send(answered[0])
        assert event is not None
    stream.cut()
    with reader.connect() as again:
        prompt = answered[0] if answered else reader.wait(again, PROMPT)
        reader.send(prompt)  # for some the second time, which changes nothing
        if not reader.got or reader.got[-1]["type"] not in ENDS:
            reader.wait(again, *ENDS)
    bank.finish()
    assert bank.ran == ["$500"]
    assert outcomes(reader.got, prompt) == ["accepted"]
    complete(reader, bank.journal)


def test_a_reader_cut_off_after_every_event_gets_them_all(bank: Bank) -> None:
    reader = bank.reader(**ANSWERS)
    bank.start()
    connections = 0
    while not reader.got or reader.got[-1]["type"] not in ENDS:
        stream = reader.connect()
        event = reader.take(stream, lambda _: True)
        stream.cut()
        connections += 1
        assert event is not None and connections <= EVENTS
        if event["type"] == PROMPT:
            prompt = event
            # It stays open, and whoever comes back is sent it again.
            for _ in range(3):
                stream = reader.connect()
                assert next(stream) == prompt
                stream.cut()
                reader.last = stream.last
            reader.send(prompt)
    bank.finish()
    assert bank.ran == ["$500"]
    assert connections == EVENTS
    complete(reader, bank.journal)


@pytest.mark.only("rejoins")
def test_a_reader_that_connects_after_the_end_of_a_session_hears_how_it_began(bank: Bank) -> None:
    """TR-039: it subscribed while the session went on, so it is told of its end, and of what has ended."""
    with bank.producer.session("Looking.") as session, session.thinking():
        reader = bank.reader(**ANSWERS)
    with reader.connect() as stream:
        reader.wait(stream, *ENDS)
    assert kinds(reader.got)[0] == "session.started" and kinds(reader.got)[-1] == "session.completed"
    assert ids(reader.got)[0] == ids(bank.journal)[0]


@pytest.mark.only("rejoins")
def test_the_newer_of_two_connections_gets_the_rest_and_the_older_is_told(bank: Bank) -> None:
    reader = bank.reader(**ANSWERS)
    with reader.connect() as older:
        bank.start()
        prompt = reader.wait(older, PROMPT)
        with reader.connect() as newer:
            assert reader.take(older, lambda _: True) is None
            assert older.closing is not None and older.closing["reason_code"] == "superseded"
            reader.send(prompt)
            reader.wait(newer, *ENDS)
    bank.finish()
    complete(reader, bank.journal)


# -- and what mends it by itself ---------------------------------------------------------------------


async def at_once(_: float) -> None:
    """Instead of waiting between two tries: there is nobody to be gentle with here."""
    await asyncio.sleep(0)  # lets the loop turn


@pytest.mark.only("mends")
@pytest.mark.parametrize("count", range(1, EVENTS + 1))
def test_a_subscriber_mends_a_line_that_breaks_after_any_event(relay: Relay, far_bank: Bank, count: int) -> None:
    relay.breaks = count
    with Subscriber(far_bank.url, runtime=SubscriberRuntime(sleep=at_once)) as subscriber:
        far_bank.producer.reader().wait(LONG)
        subscriber.ready().wait(LONG)  # until it has heard so it has no subscription that could be mended
        far_bank.start()
        got = []
        for event in subscriber:
            got.append(event)
            if isinstance(event, AwaitingConfirmation):
                _accept(subscriber, event)
            if event.type in ENDS:
                break
    far_bank.finish()
    said = far_bank.journal
    assert relay.broken.is_set()
    assert far_bank.ran == ["$500"]
    assert [event.event_id for event in got] == ids(said)
    joined = "".join(event.chunk for event in got if isinstance(event, OutputStreaming))
    assert joined == "".join(event.get("chunk", "") for event in said)
    assert [str(one) for one in subscriber.findings if one.severity == "error"] == []


def _accept(subscriber: Subscriber, prompt: AwaitingConfirmation) -> None:
    """Say yes, and again if the line broke: whether the first came through nobody knows, and it does not matter."""
    while True:
        try:
            subscriber.accept(prompt).wait(LONG)
            return
        except ChannelLost:
            continue  # between two connections; it is tried again
        except LocalProtocolError as late:
            assert "accepted" in str(late)  # it came through, and only the word that it did was lost
            return
