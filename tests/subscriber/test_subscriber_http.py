"""A subscriber and a real producer, over a real line that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aaep.errors import AaepError
from aaep.producer.producer import Producer
from aaep.protocol.events import (
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    SessionStarted,
    StateChanged,
)
from aaep.subscriber.connection import Reconnect, SubscriberRuntime
from aaep.subscriber.subscriber import Status, Subscriber
from aaep.transports.base import ChannelLost
from aaep.transports.options import ServerOptions
from tests.options import subscriber as build_subscriber
from tests.sessions import token

LONG = 60.0  # seconds that nothing here should take


class Line:
    """A relay to an address whose connections can be cut."""

    def __init__(self) -> None:
        self.target = ""
        self._door = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._door.getsockname()[1]}"
        self.url = f"http://{self.host}"
        self._ends: list[socket.socket] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # lines that break are what this is for
            while True:
                near, _ = self._door.accept()
                try:
                    parts = urlsplit(self.target)
                    far = socket.create_connection((str(parts.hostname), int(parts.port or 0)))
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):  # lines that break are what this is for
            while data := one.recv(65_536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):  # cut already
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # lines that break are what this is for
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut()


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.close()


@pytest.fixture
def producer(line: Line) -> Iterator[Producer]:
    with Producer(
        "bank", name="Bank", listen="http://127.0.0.1:0", journal=None, server=ServerOptions(hosts=[line.host])
    ) as made:
        line.target = made.addresses[0]
        yield made


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.getLogger("aaep.subscriber").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("aaep.subscriber").setLevel(logging.NOTSET)


async def at_once(_: float) -> None:
    await asyncio.sleep(0.01)  # the line is local; there is nothing to be gentle with


def connected(url: str, producer: Producer, **given: Any) -> Subscriber:
    subscriber = build_subscriber(url, sleep=at_once, **given)
    subscriber.ready().wait(LONG)
    producer.reader().wait(LONG)
    return subscriber


def until_the_end(subscriber: Subscriber) -> list[Envelope]:
    got = []
    for one in subscriber:
        got.append(one)
        if one.type == "aaep:agent.session.completed":
            break
    return got


def kinds(events: list[Envelope]) -> list[str]:
    return [one.type.removeprefix("aaep:agent.") for one in events]


def errors(subscriber: Subscriber) -> list[str]:
    return [str(finding) for finding in subscriber.findings if finding.severity == "error"]


@pytest.mark.parametrize("yes", [True, False])
def test_the_person_decides_and_hears_what_became_of_it(producer: Producer, yes: bool) -> None:
    """TERM-005, LVL-015, LVL-037"""
    ran: list[str] = []

    @producer.tool(risk="high", irreversible=True, action="Transfer {amount}.", consequence="Funds move at once.")
    def transfer(amount: str) -> str:
        ran.append(amount)
        return "done"

    def work() -> None:
        with producer.session("Moving money."):
            transfer(amount="$500")

    with connected(producer.addresses[0], producer) as subscriber:
        agent = threading.Thread(target=work)
        agent.start()
        got = []
        for one in subscriber:
            got.append(one)
            if isinstance(one, AwaitingConfirmation):
                assert subscriber.prompts == (one,)
                assert ran == []
                (subscriber.accept if yes else subscriber.reject)(one).wait(LONG)
            if one.type == "aaep:agent.session.completed":
                break
        agent.join(LONG)
        assert ran == (["$500"] if yes else [])
        assert ("tool.invoked" in kinds(got)) is yes
        assert subscriber.prompts == ()
        assert errors(subscriber) == []


def test_a_question_is_answered_in_asyncio(producer: Producer) -> None:
    """LVL-041"""
    said: list[Any] = []

    def work() -> None:
        with producer.session("Asking."):
            said.append(session_answer())

    def session_answer() -> Any:
        (session,) = producer.sessions
        return session.clarify("Which account?").wait(LONG).response

    async def main() -> None:
        async with Subscriber(producer.addresses[0]) as subscriber:
            await subscriber.ready()
            await asyncio.to_thread(producer.reader().wait, LONG)
            agent = asyncio.ensure_future(asyncio.to_thread(work))
            async for one in subscriber:
                if isinstance(one, AwaitingClarification):
                    await subscriber.answer(one, "Savings.")
                if one.type == "aaep:agent.session.completed":
                    break
            await agent
            assert errors(subscriber) == []

    asyncio.run(main())
    assert said == ["Savings."]


SENTENCES = [f"This is sentence number {number}. " for number in range(60)]


def test_a_line_that_breaks_again_and_again_loses_and_repeats_nothing(producer: Producer, line: Line) -> None:
    lost = threading.Event()

    def note(status: Status) -> None:
        if status.kind == "waiting":
            lost.set()

    with connected(line.url, producer, on_status=note) as subscriber:

        def work() -> None:
            with producer.session("Telling a story.") as session, session.output() as out:
                for number, sentence in enumerate(SENTENCES):
                    out.write(sentence)
                    if number % 10 == 5:
                        line.cut()
                    if number == 5:
                        while not lost.wait(1.0):  # at least one loss is noticed while there is more to come
                            line.cut()

        agent = threading.Thread(target=work)
        agent.start()
        got = until_the_end(subscriber)
        agent.join(LONG)
        assert "".join(one.chunk for one in got if isinstance(one, OutputStreaming)) == "".join(SENTENCES)
        assert len({one.event_id for one in got}) == len(got)
        assert [one.timestamp for one in got] == sorted(one.timestamp for one in got)
        assert errors(subscriber) == []
        assert len(subscriber.audit.subscriptions) == 1
    assert lost.is_set()


def test_a_prompt_survives_a_broken_line(producer: Producer, line: Line) -> None:
    with connected(line.url, producer) as subscriber:
        granted: list[bool] = []

        def work() -> None:
            with producer.session("Asking.") as session:
                granted.append(bool(session.confirm("Send it.", "It is gone then.").wait(LONG)))

        agent = threading.Thread(target=work)
        agent.start()
        prompts = 0
        for one in subscriber:
            if isinstance(one, AwaitingConfirmation):
                prompts += 1
                line.cut()
                while True:
                    try:
                        subscriber.reject(one).wait(LONG)
                        break
                    except ChannelLost:
                        continue  # between two connections; it is tried again
            if one.type == "aaep:agent.session.completed":
                break
        agent.join(LONG)
        assert granted == [False]
        assert prompts == 1
        assert errors(subscriber) == []


def test_a_reader_that_joins_on_the_way_is_caught_up_and_finds_nothing_wrong(producer: Producer) -> None:
    with producer.session("Working.") as session:
        with session.thinking():
            session.progress(percent=10)
        with session.tool("check", risk="low", irreversible=False):
            late = connected(producer.addresses[0], producer)
    with late:
        got = kinds(until_the_end(late))
    assert got[0] == "session.started"
    assert "tool.completed" in got  # whose beginning was never heard
    assert errors(late) == []


@pytest.mark.parametrize("state", ["idle", "thinking"])
def test_a_reader_whose_place_is_not_known_any_more_is_told_of_the_gap(producer: Producer, state: str) -> None:
    """SSE-020, CF-091: whatever the session is doing"""
    told: list[str] = []
    with producer.session("Working.") as session:
        if state != "idle":
            session._emitter.change_state(state)
        last_id = session._emitter.last_event_id
        late = connected(
            producer.addresses[0],
            producer,
            resume_after=f"evt_{'0' * 32}",
            on_status=lambda status: told.append(status.kind),
        )
    with late:
        heard = until_the_end(late)
    moved = next(one for one in heard if isinstance(one, StateChanged))
    assert (moved.to_state, moved.extensions) == (state, {"attend": {"resync": True, "position": last_id}})
    assert "gap" in told
    assert errors(late) == []


def test_a_producer_that_comes_back_is_resumed_from_its_journal(tmp_path: Path) -> None:
    """The subscription is gone with the process; the reader makes another, after the last event it heard."""
    journal = str(tmp_path / "journal.db")
    with Producer("bank", listen="http://127.0.0.1:0", journal=journal) as producer:
        url = producer.addresses[0]
        subscriber = connected(url, producer, after_goodbye=True)
        with producer.session("First."):
            pass
        first = until_the_end(subscriber)
    with Producer("bank", listen=url, journal=journal) as producer:
        with producer.session("Second."):
            pass
        second = until_the_end(subscriber)
        subscriber.close()
    assert [one.summary_normal for one in (*first, *second) if isinstance(one, SessionStarted)] == ["First.", "Second."]
    assert len({one.event_id for one in (*first, *second)}) == len(first) + len(second)
    assert errors(subscriber) == []


def test_terms_are_changed_on_the_way(producer: Producer) -> None:
    with connected(producer.addresses[0], producer) as subscriber:
        terms = subscriber.renegotiate(exclude=["aaep:agent.progress.updated"], minimum_timeout=600).wait(LONG)
        assert terms.unknown["attend"] == {"minimum_timeout_seconds": 600}
        with producer.session("Working.") as session:
            session.progress(percent=10)
        assert "progress.updated" not in kinds(until_the_end(subscriber))
        assert errors(subscriber) == []


def test_a_forged_token_never_leaves(producer: Producer) -> None:
    with connected(producer.addresses[0], producer) as subscriber, pytest.raises(Exception, match="no such prompt"):
        subscriber.accept(token(1))


def test_the_end_of_the_producer_ends_the_loop() -> None:
    with Producer("bank", listen="http://127.0.0.1:0", journal=None) as producer:
        subscriber = connected(producer.addresses[0], producer)
    assert [*subscriber] == []
    assert subscriber.status.text == "Bank has ended."
    assert subscriber.status.reason_code == "producer_shutdown"


def test_an_answer_that_was_lost_with_its_connection_is_given_again(tmp_path: Path) -> None:
    """The person decided once. The producer, which did not hear it, asks again, and gets that decision."""
    with Producer("bank", listen=f"unix://{tmp_path}/agent.sock", journal=None) as producer:
        subscriber = Subscriber(producer.addresses[0], runtime=SubscriberRuntime(random=lambda: 0.0))
        subscriber.ready().wait(LONG)
        with producer.session("Working.") as session:
            ask = session.confirm("Wipe the disk.", "All is gone.")
            prompt = next(event for event in subscriber if isinstance(event, AwaitingConfirmation))
            channel: Any = subscriber._connection.channel
            sent: list[bytes] = []

            async def swallowed(message: bytes) -> None:
                sent.append(message)
                channel._connection._writer.transport.abort()

            channel._connection.send = swallowed
            subscriber.reject(prompt)
            assert ask.wait(LONG).outcome == "rejected"
            assert len(sent) == 1
        subscriber.close()


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_what_a_stranger_answers_is_told_in_a_sentence(scheme: str) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as stranger:
        threading.Thread(target=stranger.handle_request).start()
        subscriber = Subscriber(f"{scheme}://127.0.0.1:{stranger.server_port}", reconnect=Reconnect(at_start=False))
        with pytest.raises(AaepError, match=r" answered 501: [^.]+\.$"):
            subscriber.ready().wait(LONG)


def test_two_changes_of_terms_at_once_are_both_made() -> None:
    with (
        Producer("bank", listen="http://127.0.0.1:0", journal=None) as producer,
        Subscriber(producer.addresses[0], replies=False) as subscriber,
    ):
        subscriber.ready().wait(60)
        changes = [subscriber.renegotiate(replies=True), subscriber.renegotiate(verbosity="terse")]
        for change in changes:
            change.wait(60)
        assert subscriber.terms is not None
        assert subscriber.terms.supports_confirmation_reply is True
        assert subscriber.terms.preferred_verbosity == "terse"
