"""Agents that go to a hub: one place with many of them, each the authority over its own sessions."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

import aaep
from aaep.hub.hub import Hub
from aaep.hub.relay import attach, relay
from aaep.hub.relay.relay import AgentRegistry
from aaep.hub.settings import HubSettings
from aaep.identity.credentials import Credentials
from aaep.identity.peer import AGENT, Peer
from aaep.identity.tokens import StaticToken, Tokens, add_entry, create_token
from aaep.journal.base import Journal
from aaep.journal.memory import MemoryJournal
from aaep.journal.sqlite import SqliteJournal
from aaep.producer.producer import Producer
from aaep.protocol.attend_extension import ATTEND, attend_registry
from aaep.protocol.codec import encode
from aaep.protocol.events import Envelope, ProducerInfo
from aaep.protocol.fields import get_member
from aaep.protocol.messages import Capabilities, Reply, SubscriptionRejected
from aaep.protocol.negotiation import Offer
from aaep.subscriber.status import Status
from aaep.testing import Listener
from aaep.transports.duplex_client import DuplexChannel
from aaep.transports.duplex_server import ALLOWED_MESSAGES
from aaep.transports.options import ConnectOptions
from tests.asking import ANSWERS, renegotiation, reply
from tests.serving import served
from tests.waiting import WatchedJournal, stalled, start_agent

LONG = 60.0


@contextmanager
def serving(url: str, journal: Journal | None = None, window: float = 30.0) -> Iterator[tuple[Hub, str]]:
    offer = Offer(producer=ProducerInfo(agent_id="hub"), registry=attend_registry(), namespaces=(ATTEND.namespace,))
    hub = Hub(offer, journal or MemoryJournal(), settings=HubSettings(resume_window=window))
    hub.agents = relays = AgentRegistry(hub)
    hub.start()
    relays.restore_sessions()
    try:
        yield hub, served(hub, url)
    finally:
        hub.run(relays.close())
        hub.close()


@pytest.fixture(params=["unix", "ws"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"unix://{tmp_path}/hub.sock" if request.param == "unix" else "ws://127.0.0.1:0"


def reader(hub: Hub, answer: Any = "silence") -> Listener:
    return Listener(cast(Producer, SimpleNamespace(hub=hub)), answer)


@contextmanager
def heard(name: str, part: str, *, times: int = 1) -> Iterator[threading.Event]:
    """Set when a log has said something so many times, at any level."""
    enough, said = threading.Event(), count(1)

    class Watching(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if part in record.getMessage() and next(said) == times:
                enough.set()

    watching, log = Watching(), logging.getLogger(name)
    before = log.level
    log.addHandler(watching)
    log.setLevel(logging.DEBUG)
    try:
        yield enough
    finally:
        log.setLevel(before)
        log.removeHandler(watching)


def of(session: aaep.Session, type_: str) -> Callable[[Envelope], bool]:
    return lambda event: event.session_id == session.session_id and event.type == f"aaep:agent.{type_}"


def test_a_hub_needs_no_thread_for_an_agent(place: str) -> None:
    with serving(place) as (hub, url), Producer("bank", hub=url, journal=None) as agent:
        listener = reader(hub)
        with agent.session("Work.") as session:
            listener.wait(of(session, "session.started"))
            assert "aaep-subscriber" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("answer", ["accept", "reject"])
def test_a_reader_of_the_hub_answers_an_agent(place: str, answer: str) -> None:
    ran = []
    with serving(place) as (hub, url):
        listener = reader(hub, answer)
        with Producer("bank", name="Bank", hub=url, journal=None) as agent:

            @agent.tool(action="Pay {amount}.")
            def pay(amount: str) -> str:
                ran.append(amount)
                return "paid"

            agent.reader().wait(LONG)
            with agent.session("Paying.") as session:
                session.write("I pay now. I ask first.")
                pay("5 euros")
            listener.wait(of(session, "session.completed"))
        assert ran == (["5 euros"] if answer == "accept" else [])
        assert listener.output == "I pay now. I ask first."
        assert listener.findings() == []


@pytest.mark.parametrize(
    ("decision", "said", "outcome"),
    [
        ("accept", {"modified_action": {"amount": "5 euros"}}, "rejected"),  # CF-019
        ("accept", {"timestamp": "2999-01-01T00:00:00Z"}, None),  # CF-014
        ("accept", {"decided_by": "auto:policy"}, None),  # CF-037
        ("accept", {"decision_rationale": "It is time."}, "accepted"),
        ("reject", {"timestamp": "2999-01-01T00:00:00Z"}, "rejected"),
        ("reject", {"mood": "cheerful"}, "rejected"),  # CF-020
        ("reject", {"decided_by": "user:" + "x" * 300}, "rejected"),
        ("reject", {"decided_by": ""}, "rejected"),
    ],
)
def test_a_reply_counts_through_a_hub_for_what_it_would_count_without(
    decision: str, said: dict[str, Any], outcome: str | None
) -> None:
    """The hub passes on what was said, and makes no other answer of it."""
    with serving("ws://127.0.0.1:0") as (hub, url), Producer("bank", hub=url, journal=None) as agent:
        listener = reader(hub)
        agent.reader().wait(LONG)
        session = agent.session("Working.").__enter__()
        answer = session.confirm("Wipe.", "All is gone.")
        prompt = listener.wait(of(session, "awaiting.confirmation"))
        raw = msgspec.json.encode(reply(listener.subscription_id, prompt.reply_token, decision, **said))  # type: ignore[attr-defined]  # a prompt has one
        listener._run_on_loop(hub.receive, raw, listener._peer, ALLOWED_MESSAGES)
        if outcome is None:  # it is as if nothing had been said, and a no still counts
            listener.reply(prompt, "reject")
            outcome = "rejected"
        assert answer.wait(LONG).outcome == outcome
        session.cancel()


def test_what_a_person_says_beside_an_answer_goes_along_through_a_hub() -> None:
    with serving("ws://127.0.0.1:0") as (hub, url), Producer("bank", hub=url, journal=None) as agent:
        listener = reader(hub)
        agent.reader().wait(LONG)
        came: SimpleQueue[Reply] = SimpleQueue()
        passed = agent.hub.reply

        def look(message: Reply, peer: Peer) -> None:
            came.put(message)
            passed(message, peer)

        agent.hub.reply = look  # type: ignore[method-assign]  # it goes on as it would
        with agent.session("Working.") as session:
            answer = session.clarify("How many?", kinds=["numeric"])
            prompt = listener.wait(of(session, "awaiting.clarification"))
            given = {
                **reply(listener.subscription_id, prompt.reply_token),  # type: ignore[attr-defined]  # a prompt has one
                "type": "clarification.reply",
                "response": 3,
                "confidence": 0.25,
                "correlation_id": "c-1",
            }
            del given["decision"]
            listener._run_on_loop(hub.receive, msgspec.json.encode(given), listener._peer, ALLOWED_MESSAGES)
            assert answer.wait(LONG).response == 3
        got = msgspec.to_builtins(came.get(timeout=LONG))
        assert got == {**given, "subscription_id": got["subscription_id"]}
        assert got["subscription_id"] != listener.subscription_id


@pytest.mark.parametrize("first", ["the reader", "the agent", "a hasty reader"])
def test_cf_028_who_needs_time_to_answer_has_it_through_a_hub_too(place: str, first: str) -> None:
    with ExitStack() as until:
        hub, url = until.enter_context(serving(place))
        if first == "a hasty reader":
            reader(hub)
        listener = patient(hub) if first == "the reader" else None
        agent = until.enter_context(Producer("bank", hub=url, journal=None))
        agent.reader(replies=first != "the agent").wait(LONG)
        listener = listener or patient(hub)
        agent.reader().wait(LONG)
        session = agent.session("Working.").start()
        session.confirm("Wipe.", "All is gone.", timeout=10)
        long = listener.wait(
            lambda event: isinstance(event, aaep.AwaitingConfirmation) and event.timeout_seconds == 600
        )
        assert long.session_id == session.session_id


def patient(hub: Hub) -> Listener:
    """A reader that asks for ten minutes."""
    wish = Capabilities(**ANSWERS)
    wish.__dict__["unknown"] = {"attend": {"minimum_timeout_seconds": 600}}
    return Listener(cast(Producer, SimpleNamespace(hub=hub)), capabilities=wish)


def test_what_is_set_without_an_address_is_for_the_hub() -> None:
    """As one would write it, and as it has to be written beside an address."""
    hub = Hub(Offer(producer=ProducerInfo(agent_id="hub")), MemoryJournal())
    hub.agents = relays = AgentRegistry(hub)
    given: list[dict[str, Any]] = [
        {"token": "correct-horse"},
        {"hub_options": ConnectOptions(token="correct-horse"), "listen": "http://127.0.0.1:0"},
    ]
    try:
        url = served(hub, "ws://127.0.0.1:0", identity=StaticToken("correct-horse", roles=AGENT))
        for settings in given:
            with Producer("bank", hub=url, journal=None, **settings) as agent:
                agent.reader(replies=False).wait(LONG)
    finally:
        hub.run(relays.close())
        hub.close()


class Doorman:
    """Lets every agent in, and remembers what it showed."""

    def __init__(self) -> None:
        self.shown: SimpleQueue[str] = SimpleQueue()

    def authenticate(self, given: Credentials) -> Peer:
        self.shown.put(given.bearer)
        return Peer("ada", given.transport, frozenset({AGENT}))


def test_cf_149_an_agent_shows_its_hub_the_token_of_the_day() -> None:
    hub = Hub(Offer(producer=ProducerInfo(agent_id="hub")), MemoryJournal())
    hub.agents = relays = AgentRegistry(hub)
    doorman, days = Doorman(), iter(["monday", "tuesday"])
    try:
        url = served(hub, "ws://127.0.0.1:0", identity=doorman)
        with Producer("bank", hub=url, journal=None, token=lambda: next(days, "later")) as agent:
            assert doorman.shown.get(timeout=LONG) == "monday"
            agent.reader(replies=False).wait(LONG)
            (attachment,) = agent.hub.servers
            agent.hub.call_soon(cast(Any, attachment)._current.ended.set)  # the connection is lost
            assert doorman.shown.get(timeout=LONG) == "tuesday"
    finally:
        hub.run(relays.close())
        hub.close()


def test_an_agent_whose_token_cannot_be_had_tries_again(caplog: pytest.LogCaptureFixture) -> None:
    """Who gives tokens may be away too."""
    hub = Hub(Offer(producer=ProducerInfo(agent_id="hub")), MemoryJournal())
    hub.agents = relays = AgentRegistry(hub)
    tries = iter([OSError("away: secret")])

    def token() -> str:
        for problem in tries:
            raise problem
        return "correct-horse"

    try:
        url = served(hub, "ws://127.0.0.1:0", identity=StaticToken("correct-horse", roles=AGENT))
        with Producer("bank", hub=url, journal=None, token=token) as agent:
            agent.reader(replies=False).wait(LONG)
    finally:
        hub.run(relays.close())
        hub.close()
    assert "no token to show" in caplog.text and "OSError" in caplog.text and "secret" not in caplog.text


def test_an_agent_with_a_wrong_token_is_told_that_it_is_the_token(caplog: pytest.LogCaptureFixture) -> None:
    hub = Hub(Offer(producer=ProducerInfo(agent_id="hub")), MemoryJournal())
    hub.agents = relays = AgentRegistry(hub)
    said = threading.Event()

    def tell(record: logging.LogRecord) -> bool:
        said.set()
        return True

    logging.getLogger("aaep.attach").addFilter(tell)
    try:
        url = served(hub, "ws://127.0.0.1:0", identity=StaticToken("correct-horse", roles=AGENT))
        with Producer("bank", hub=url, journal=None, token="wrong-horse"):
            assert said.wait(LONG)
    finally:
        logging.getLogger("aaep.attach").removeFilter(tell)
        hub.run(relays.close())
        hub.close()
    (told,) = {one.getMessage() for one in caplog.records if one.name == "aaep.attach"}
    assert "This agent cannot go to the hub" in told and "Check the token" in told and "not there" not in told


def test_many_agents_are_heard_in_one_place(place: str) -> None:
    with serving(place) as (hub, url):
        listener = reader(hub)
        with Producer("one", hub=url, journal=None) as one, Producer("two", hub=url, journal=None) as two:
            for agent in (one, two):
                agent.reader().wait(LONG)
            with one.session("One works.") as first, two.session("Two works.") as second:
                first.write("From one.")
                second.write("From two.")
            for session in (first, second):
                listener.wait(of(session, "session.completed"))
        assert {event.producer.agent_id for event in listener.events} == {"one", "two"}
        assert listener.findings() == []


def test_while_nobody_at_the_hub_can_answer_nothing_risky_runs(place: str) -> None:
    with serving(place) as (hub, url), Producer("bank", hub=url, journal=None) as agent:
        agent.reader(replies=False).wait(LONG)
        with agent.session("Working.") as session:
            assert session.confirm("Wipe.", "All is gone.").wait(LONG).outcome == "no_reply_channel"
            listener = reader(hub, "reject")
            agent.reader().wait(LONG)
            assert session.confirm("Wipe.", "All is gone.").wait(LONG).outcome == "rejected"
            listener.close()  # and the last who could answer is gone again
            assert session.confirm("Wipe it all.", "All is gone.").wait(LONG).granted is False


def test_a_connection_that_breaks_loses_nothing(place: str) -> None:
    with serving(place) as (hub, url):
        listener = reader(hub)
        with Producer("bank", hub=url, journal=None) as agent:
            agent.reader().wait(LONG)
            with agent.session("Working.") as session:
                session.write("Before. ")
                listener.wait(of(session, "output.streaming"))
                (attachment,) = agent.hub.servers
                agent.hub.call_soon(cast(Any, attachment)._current.ended.set)  # the connection is lost
                session.write("Meanwhile. ")
                session.write("After. ")
            listener.wait(of(session, "session.completed"))
        assert listener.output == "Before. Meanwhile. After. "
        assert listener.findings() == []


class RawAgent:
    """An agent written without any of ours: lines on a socket."""

    def __init__(self, url: str, instance: object = None) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LONG)
        self._socket.connect(url.removeprefix("unix://"))
        self._lines = self._socket.makefile("rb")
        self.send(
            **{"@context": "https://aaep-protocol.org/context/v1", "type": "aaep:producer.manifest"},
            agent_id="bank",
            aaep_versions_supported=["1.0.0"],
            conformance_levels_supported=[1, 2, 3],
            transports_supported=[],
            languages_supported=["en-US"],
            **({} if instance is None else {"extensions": {"attend": {"instance": instance}}}),
        )

    def send(self, **message: Any) -> None:
        self._socket.sendall(msgspec.json.encode(message) + b"\n")

    def hear(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        line = self._lines.readline()
        return msgspec.json.decode(line) if line else None

    def accept(self) -> None:
        assert self.accepted()

    def accepted(self) -> bool:
        """Whether the hub subscribes; then it is accepted."""
        asked = self.hear()
        if asked is None or asked["type"] != "subscription.request":
            return False
        terms = {"honored_capabilities": asked["capabilities"], "producer": {"agent_id": "bank"}}
        self.send(type="subscription.accepted", aaep_version="1.0.0", subscription_id="sub_1", **terms)
        return True

    def begin(self, session_id: str) -> None:
        self.send(
            **{"@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.session.started"},
            aaep_version="1.0.0",
            event_id="evt_1",
            session_id=session_id,
            timestamp="2026-01-01T00:00:00.000Z",
            producer={"agent_id": "bank"},
            verbosity="normal",
            urgency="normal",
            localization_hints={"primary_language": "en-US", "text_direction": "ltr"},
            summary_normal="Working.",
        )

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def test_cf_094_an_agent_that_is_back_before_its_loss_was_noticed_is_heard_at_once(tmp_path: Path) -> None:
    """A connection that nobody has ended may be as dead as any."""
    with serving(f"unix://{tmp_path}/hub.sock") as (_, url), ExitStack() as until:
        first = until.enter_context(closing(RawAgent(url, "inst_1")))
        first.accept()
        second = until.enter_context(closing(RawAgent(url, "inst_1")))
        second.accept()
        assert first.hear() is None


@pytest.mark.parametrize("instance", [None, "", "bank", 5])
def test_t6_an_agent_under_the_name_of_one_that_is_here_is_told_so_at_once(tmp_path: Path, instance: object) -> None:
    """Nothing proves that it is the same agent, so it does not have the other's sessions."""
    with serving(f"unix://{tmp_path}/hub.sock") as (hub, url), ExitStack() as until:
        listener = reader(hub)
        first = until.enter_context(closing(RawAgent(url)))
        first.accept()
        second = until.enter_context(closing(RawAgent(url, instance)))
        told = second.hear()
        assert told is not None and told["type"] == "subscription.rejected"
        assert told["reason_code"] == "unknown" and "instance" in told["reason_message"]
        assert second.hear() is None
        first.begin("sess_1")
        assert listener.wait("session.started").session_id == "sess_1"


def test_an_agent_without_an_instance_comes_back_when_its_loss_was_noticed(tmp_path: Path) -> None:
    with serving(f"unix://{tmp_path}/hub.sock") as (hub, url), ExitStack() as until:
        listener = reader(hub)
        with closing(RawAgent(url)) as first:
            first.accept()
        again = until.enter_context(closing(RawAgent(url)))
        while not again.accepted():  # the hub may hear of the new connection before the end of the old one
            again = until.enter_context(closing(RawAgent(url)))
        again.begin("sess_1")
        assert listener.wait("session.started").session_id == "sess_1"


def test_an_agent_whose_name_is_taken_says_what_to_do_and_loses_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attach, "FIRST_RETRY_DELAY", 0.01)
    with serving(f"unix://{tmp_path}/hub.sock") as (hub, url), Producer("bank", journal=None) as agent:
        listener = reader(hub)
        with closing(RawAgent(url)) as first, heard("aaep.attach", "does not take", times=2) as said:
            first.accept()
            agent.hub.servers.append(agent.hub.run(attach.attach(agent.hub, url, ConnectOptions(), instance="")))
            assert said.wait(LONG)
            session = agent.session("Working.").start()
            session.complete("Done.")
        listener.wait(of(session, "session.completed"))
    warned = [one.getMessage() for one in caplog.records if one.name == "aaep.attach" and one.levelname == "WARNING"]
    (refused,) = [one for one in warned if "does not take" in one]
    assert "Stop the other one" in refused and "is kept for it" in refused and "unknown" not in refused


def test_an_agent_that_does_not_come_back_is_told_to_have_stopped(place: str) -> None:
    with serving(place, window=0.2) as (hub, url):
        listener = reader(hub)
        agent = Producer("bank", hub=url, journal=None)
        agent.start()
        agent.reader().wait(LONG)
        session = agent.session("Working.").start()
        ask = session.clarify("Which?")
        prompt = listener.wait("awaiting.clarification")
        (attachment,) = agent.hub.servers
        agent.hub.run(attachment.close())  # as if its process had died
        ended = listener.wait(of(session, "session.errored"))
        assert isinstance(ended, aaep.SessionErrored) and "stopped unexpectedly" in ended.summary_normal
        told = [event.extensions["attend"] for event in listener.events if event.extensions]
        assert {"reply_token": cast(Any, prompt).reply_token, "outcome": "withdrawn"} in told
        listener.reply(prompt, "late")
        assert ask.answer is None
        agent.close()
        assert listener.findings() == []


class _Refusing:
    """A connection to a hub that says no."""

    def __init__(self) -> None:
        said = SubscriptionRejected(reason_code="authorization_denied", reason_message="Not for publishing.")
        self._mail: list[bytes | None] = [None, encode(said)]

    async def send(self, message: bytes) -> None:
        return None

    async def receive(self) -> bytes | None:
        return self._mail.pop()

    async def close(self) -> None:
        return None


def test_an_agent_that_is_turned_away_waits_longer_each_time_and_says_why_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    enough = threading.Event()

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 6:
            enough.set()
            await asyncio.Event().wait()

    async def dial() -> _Refusing:
        return _Refusing()

    async def manifest() -> bytes:
        return b""

    channel = SimpleNamespace(connect=lambda _url: DuplexChannel(dial, manifest))
    monkeypatch.setattr(attach, "_sleep", pause)
    monkeypatch.setattr(attach, "connect", lambda url, options: channel.connect(url))
    monkeypatch.setattr(attach._random, "random", lambda: 1.0)
    with Producer("bank", hub="unix:nowhere", journal=None):
        assert enough.wait(LONG)
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0]
    told = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(told) == 1 and "authorization_denied: Not for publishing." in told[0]


def test_a_defect_on_the_way_to_a_hub_is_told_and_not_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    again = threading.Event()
    tries = iter([RuntimeError("broken")])

    async def dial() -> _Refusing:
        for problem in tries:
            raise problem
        again.set()
        return _Refusing()

    async def manifest() -> bytes:
        return b""

    channel = SimpleNamespace(connect=lambda _url: DuplexChannel(dial, manifest))
    monkeypatch.setattr(attach, "connect", lambda url, options: channel.connect(url))
    with Producer("bank", hub="unix:nowhere", journal=None):
        assert again.wait(LONG)
    assert "which is a defect" in caplog.text and "broken" in caplog.text


def test_a_hub_says_to_the_agent_why_it_is_turned_away_and_to_its_own_log_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attach, "FIRST_RETRY_DELAY", 0.01)
    tokens = tmp_path / "tokens.jsonl"
    secret, entry = create_token("bob", "listener", now=time.time(), lifetime_seconds=3600)
    add_entry(tokens, entry)
    seen: list[str] = []
    again = threading.Event()

    class Watching(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(f"{record.levelname} {record.getMessage()}")
            if sum("turned away" in one for one in seen) >= 3:
                again.set()

    watching = Watching()
    for name in ("aaep.relay", "aaep.attach"):
        caplog.set_level(logging.DEBUG, name)
        logging.getLogger(name).addHandler(watching)
    try:
        with serving("ws://127.0.0.1:0") as (hub, _):
            url = served(hub, "ws://127.0.0.1:0", identity=Tokens(tokens))
            with Producer("bank", hub=url, hub_options=ConnectOptions(token=secret), journal=None):
                assert again.wait(LONG)
    finally:
        for name in ("aaep.relay", "aaep.attach"):
            logging.getLogger(name).removeHandler(watching)
    warned = [one for one in seen if one.startswith("WARNING")]
    assert [sum(part in one for one in warned) for part in ("turned away", "authorization_denied")] == [1, 1]


def test_a_hub_that_was_away_is_caught_up(tmp_path: Path) -> None:
    url, journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db"
    with Producer("bank", hub=url, journal=None) as agent:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            agent.reader(replies=False).wait(LONG)
            session = agent.session("Working.").start()
            session.write("Before. ")
            reader(hub).wait(of(session, "output.streaming"))
        first.close()
        session.write("Meanwhile. ")
        with serving(url, second := SqliteJournal(journal)) as (hub, _):
            agent.reader(replies=False).wait(LONG)
            listener = reader(hub)
            session.write("After. ")
            session.complete()
            listener.wait(of(session, "session.completed"))
            entries = [msgspec.json.decode(one.data) for one in second.read(session=session.session_id)]
            assert {one["chunk"] for one in entries if one.get("chunk")} == {"Before. ", "Meanwhile. ", "After. "}
            assert [one.has_ended for one in second.list_sessions(open_only=False)] == [True]
        second.close()


class Absence:
    """How long an agent that has lost its hub stays away."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()

    async def pause(self, _seconds: float) -> None:
        self.begun.set()
        await asyncio.to_thread(self.over.wait, LONG)


@pytest.fixture
def absence(monkeypatch: pytest.MonkeyPatch) -> Iterator[Absence]:
    made = Absence()
    monkeypatch.setattr(attach, "_sleep", made.pause)
    yield made
    made.over.set()


@contextmanager
def working(url: str, listener: Listener) -> Iterator[tuple[Producer, aaep.Session]]:
    """An agent that has begun something, and did not end it."""
    with Producer("bank", hub=url, journal=None) as agent:
        agent.reader().wait(LONG)
        session = agent.session("Working.").start()
        listener.wait(of(session, "session.started"))
        yield agent, session


@pytest.mark.parametrize(
    ("answers", "outcome"), [(["accept"], "accepted"), (["reject"], "rejected"), (["accept", "reject"], "rejected")]
)
def test_what_is_answered_before_the_agent_is_back_is_for_it_when_it_is(
    tmp_path: Path, absence: Absence, answers: list[str], outcome: str
) -> None:
    """After a restart of the hub its readers may be quicker, and are not asked twice. A no counts for more."""
    url, journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db"
    with ExitStack() as until:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            listener = reader(hub)
            _, session = until.enter_context(working(url, listener))
            asked = session.confirm("Wipe.", "All is gone.")
            listener.wait(of(session, "awaiting.confirmation"))
        first.close()
        with serving(url, second := SqliteJournal(journal)) as (hub, _):
            listener = reader(hub)
            prompt = listener.wait(of(session, "awaiting.confirmation"))
            for answer in answers:
                listener.reply(prompt, answer)
            absence.over.set()
            assert asked.wait(LONG).outcome == outcome
        second.close()


def test_readers_are_told_that_an_agent_is_away_and_that_it_is_back(
    place: str, absence: Absence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "ABSENCE_GRACE", 0.0)
    with serving(place) as (hub, url), working(url, listener := reader(hub)) as (agent, session):
        asked = session.confirm("Wipe.", "All is gone.")
        prompt = listener.wait(of(session, "awaiting.confirmation"))
        (attachment,) = agent.hub.servers
        agent.hub.call_soon(cast(Any, attachment)._current.ended.set)  # the connection is lost
        listener.wait(lambda event: get_member(event, "summary_normal") == AWAY)
        listener.reply(prompt, "accept")
        absence.over.set()
        listener.wait(lambda event: get_member(event, "summary_normal") == "bank is reachable again.")
        assert asked.wait(LONG).outcome == "accepted", "the answer was kept for it"
        session.cancel()
        listener.wait(of(session, "session.cancelled"))
        assert AWAY in listener.heard and "bank is reachable again." in listener.heard
        assert [str(one) for one in listener.findings()] == []


AWAY = "bank is not reachable at the moment. It gets your answer when it is back."


def test_what_the_hub_said_of_an_agent_is_no_place_to_resume_after(
    tmp_path: Path, absence: Absence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "ABSENCE_GRACE", 0.0)
    url, journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db"
    with ExitStack() as until:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            listener = reader(hub)
            agent, session = until.enter_context(working(url, listener))
            (attachment,) = agent.hub.servers
            agent.hub.call_soon(cast(Any, attachment)._current.ended.set)  # the connection is lost
            listener.wait(lambda event: get_member(event, "summary_normal") == "bank is not reachable at the moment.")
            session.write("Meanwhile.")
        first.close()
        with serving(url, second := SqliteJournal(journal)) as (hub, _):
            listener = reader(hub)
            absence.over.set()
            listener.wait(of(session, "output.streaming"))
            session.cancel()
            listener.wait(of(session, "session.cancelled"))
            assert listener.output == "Meanwhile."
        second.close()


def test_a_no_that_the_agent_has_not_heard_yet_is_no_yes_by_a_later_one(place: str, absence: Absence) -> None:
    """One reader refuses while the agent is away, and another one agrees."""
    with serving(place) as (hub, url), working(url, listener := reader(hub)) as (agent, session):
        asked = session.confirm("Wipe.", "All is gone.")
        prompt = listener.wait(of(session, "awaiting.confirmation"))
        (attachment,) = agent.hub.servers
        agent.hub.call_soon(cast(Any, attachment)._current.ended.set)  # the connection is lost
        absence.begun.wait(LONG)
        listener.reply(prompt, "reject")
        reader(hub).reply(prompt, "accept")
        absence.over.set()
        assert asked.wait(LONG).outcome == "rejected"


def test_a_reader_of_the_hub_stops_a_session_of_an_agent(place: str) -> None:
    with serving(place) as (hub, url), working(url, listener := reader(hub)) as (_, session):
        stop(hub, listener, session)
        listener.wait(of(session, "session.cancelled"))


def test_what_is_to_be_stopped_while_the_agent_is_away_is_stopped_when_it_is_back(place: str, absence: Absence) -> None:
    """CF-147: whoever has asked for it need not ask again."""
    with serving(place) as (hub, url), working(url, listener := reader(hub)) as (agent, session):
        (attachment,) = agent.hub.servers
        agent.hub.call_soon(cast(Any, attachment)._current.ended.set)  # the connection is lost
        absence.begun.wait(LONG)
        stop(hub, listener, session)
        absence.over.set()
        listener.wait(of(session, "session.cancelled"))


def test_what_is_to_be_stopped_before_the_agent_is_back_is_stopped_when_it_is(tmp_path: Path, absence: Absence) -> None:
    url, journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db"
    with ExitStack() as until:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            _, session = until.enter_context(working(url, reader(hub)))
        first.close()
        with serving(url, second := SqliteJournal(journal)) as (hub, _):
            stop(hub, listener := reader(hub), session)
            absence.over.set()
            listener.wait(of(session, "session.cancelled"))
        second.close()


def stop(hub: Hub, listener: Listener, session: aaep.Session) -> None:
    wishes = {"supported_extensions": [ATTEND.namespace], "attend": {"cancel": session.session_id}}
    wish = renegotiation(listener.subscription_id, **wishes)
    listener._run_on_loop(hub.receive, msgspec.json.encode(wish), listener._peer, ALLOWED_MESSAGES)


def test_at_a_command_with_tokens_a_local_agent_is_heard_by_the_local_user_alone(tmp_path: Path) -> None:
    """CF-145: Bob may listen there, to what his own agents say."""
    tokens, secret = tmp_path / "tokens.jsonl", {}
    for role in ("replier", "agent"):
        secret[role], entry = create_token("bob", role, now=time.time(), lifetime_seconds=3600)
        add_entry(tokens, entry)
    socket = f"unix://{tmp_path}/hub.sock"
    command = [str(Path(sys.executable).parent / "aaep"), "serve", "--journal", "memory", "--tokens", str(tokens)]
    command += ["--listen", socket, "--listen", "ws://127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            process.stderr.readline()
            url = process.stderr.readline().split()[-1]
            with (
                aaep.listen(socket) as local,
                aaep.listen(url, token=secret["replier"]) as bob,
                Producer("locala", hub=socket, journal=None) as mine,
                Producer("boba", hub=url, hub_options=ConnectOptions(token=secret["agent"]), journal=None) as his,
            ):
                for one in (local, bob):
                    one.ready().wait(LONG)
                for agent in (mine, his):
                    agent.reader(replies=False).wait(LONG)
                with mine.session("Private."):
                    assert next(local).producer.agent_id == "locala"
                with his.session("For Bob."):
                    assert next(bob).producer.agent_id == "boba"
        finally:
            process.kill()


def test_what_an_agent_says_before_the_hub_is_there_is_heard_in_full(tmp_path: Path) -> None:
    """What goes on, and what has ended; by readers who have been at the hub from its beginning."""
    url = f"unix://{tmp_path}/hub.sock"
    with Producer("bank", hub=url, journal=str(tmp_path / "bank.db")) as agent:
        with agent.session("At first.") as ended:
            ended.write("The answer is 42. ")
        session = agent.session("Working.").start()
        session.write("Before. ")
        with serving(url) as (hub, _):
            listener = reader(hub)
            listener.wait(of(ended, "session.completed"))
            listener.wait(of(session, "output.streaming"))
            session.write("After. ")
            session.complete()
            listener.wait(of(session, "session.completed"))
        assert listener.output == "The answer is 42. Before. After. "
        assert listener.findings() == []


def test_a_hub_without_a_memory_is_not_told_again_what_was_heard_and_is_over(tmp_path: Path, absence: Absence) -> None:
    url = f"unix://{tmp_path}/hub.sock"
    with ExitStack() as until:
        with serving(url) as (hub, _):
            agent = until.enter_context(Producer("bank", hub=url, journal=None))
            agent.reader(replies=False).wait(LONG)
            listener = reader(hub)
            with agent.session("Heard.") as heard:
                heard.write("Once. ")
            listener.wait(of(heard, "session.completed"))
        assert absence.begun.wait(LONG)  # before it has noticed that the hub is gone it would speak to nobody
        with agent.session("Meanwhile.") as meanwhile:
            meanwhile.write("Alone. ")
        with serving(url) as (hub, _):
            absence.over.set()
            listener = reader(hub)
            listener.wait(of(meanwhile, "session.completed"))
            with agent.session("After.") as after:
                after.write("Again. ")
            listener.wait(of(after, "session.completed"))
        assert listener.output == "Alone. Again. "


def test_a_hub_that_died_with_the_end_of_its_journal_is_told_what_came_after_the_last_session(
    tmp_path: Path, absence: Absence
) -> None:
    """The agent had a hub while it spoke, so it does not know that nobody has what it said."""
    url, journal, older_journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db", tmp_path / "older.db"
    with ExitStack() as until:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            agent = until.enter_context(Producer("bank", hub=url, journal=None))
            agent.reader(replies=False).wait(LONG)
            listener = reader(hub)
            for number in range(2):
                with agent.session(f"Work {number}.") as session:
                    session.write(f"Said {number}. ")
                listener.wait(of(session, "session.completed"))
                if not number:
                    first.flush()
                    for file in tmp_path.glob("hub.db*"):
                        shutil.copy(file, tmp_path / file.name.replace("hub", "older"))
        first.close()
        with serving(url, second := SqliteJournal(older_journal)) as (hub, _):
            absence.over.set()
            listener = reader(hub)
            listener.wait(of(session, "session.completed"))
            assert listener.output == "Said 1. "
        second.close()


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_a_hub_that_was_killed_as_a_session_began_is_told_all_of_it(
    tmp_path: Path, absence: Absence, kept: int
) -> None:
    """Where the session came from is committed before its first event, and may be all that is there."""
    url, journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db"
    with ExitStack() as until:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            agent = until.enter_context(Producer("bank", hub=url, journal=None))
            agent.reader(replies=False).wait(LONG)
            listener = reader(hub)
            for number in range(2):
                with agent.session(f"Work {number}.") as session:
                    session.write(f"Said {number}. ")
                listener.wait(of(session, "session.completed"))
        first.close()
        with closing(sqlite3.connect(journal)) as connection, connection:
            kept_rows = "SELECT number FROM entry WHERE session_id = ? ORDER BY number LIMIT ?"
            connection.execute(
                f"DELETE FROM entry WHERE session_id = ? AND number NOT IN ({kept_rows})",
                (session.session_id, session.session_id, kept),
            )
        with serving(url, second := SqliteJournal(journal)) as (hub, _):
            absence.over.set()
            listener = reader(hub)
            listener.wait(of(session, "session.completed"))
            assert listener.output == "Said 1. "
            stored = [msgspec.json.decode(one.data) for one in second.read(session=session.session_id)]
            assert sum("aaep_versions_supported" in one for one in stored) == 1
        second.close()


@pytest.mark.parametrize("size", [1, 10_000])
def test_an_agent_that_lives_for_a_moment_is_heard(place: str, size: int) -> None:
    text = "This is one of the many sentences of an answer that is heard to its end. " * size
    with serving(place) as (hub, url):
        listener = reader(hub)
        with Producer("bank", hub=url, journal=None) as agent, agent.session("Working.") as session:
            session.write(text)
        listener.wait(of(session, "session.completed"))
        assert listener.output == text


def test_an_agent_waits_while_its_hub_stands_still_and_nothing_is_lost(tmp_path: Path) -> None:
    """What it has said is bounded on its way, and readers of the hub get all of it once the hub goes on."""
    journal = WatchedJournal()
    count_of_sentences = 3000
    with serving(f"unix://{tmp_path}/hub.sock") as (hub, url):
        listener = reader(hub)
        with Producer("bank", hub=url, journal=journal) as agent:
            agent.reader().wait(LONG)

            def speak() -> None:
                with agent.session("Reading.") as session, session.output() as out:
                    for _ in range(count_of_sentences):
                        out.write("A month was read. ")

            with stalled(hub):
                speaking, errors = start_agent(speak)
                assert journal.somebody_waits.wait(LONG)
                assert speaking.is_alive()
                said = len(journal.read(limit=10**6))
            speaking.join(LONG)
            listener.wait_for_end(timeout=LONG)
        assert errors == []
        assert said < count_of_sentences / 2
        assert listener.output == "A month was read. " * count_of_sentences
        assert listener.findings() == []


def test_a_session_in_which_nothing_happens_outlives_a_restart_of_the_hub(tmp_path: Path) -> None:
    """Its agent is back, and says nothing for longer than it is waited for."""
    url, journal = f"unix://{tmp_path}/hub.sock", tmp_path / "hub.db"
    with Producer("bank", hub=url, journal=None) as agent:
        with serving(url, first := SqliteJournal(journal)) as (hub, _):
            agent.reader(replies=False).wait(LONG)
            session = agent.session("Working.").start()
            reader(hub).wait(of(session, "session.started"))
        first.close()
        with serving(url, second := SqliteJournal(journal)) as (hub, _):
            agent.reader(replies=False).wait(LONG)
            listener = reader(hub)
            relays = cast(AgentRegistry, hub.agents)
            (key,) = relays._agents
            hub.call_soon(lambda: relays.abandon_unclaimed_sessions(key))  # the time is over
            session.write("After. ")
            session.complete()
            listener.wait(of(session, "session.completed"))
            assert listener.output == "After. "
        second.close()


def test_the_command_serves_agents_and_readers(tmp_path: Path) -> None:
    socket = f"unix://{tmp_path}/hub.sock"
    command = [str(Path(sys.executable).parent / "aaep"), "serve", "--journal", "memory", "--listen", socket]
    with subprocess.Popen([*command, "--listen", "http://127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            process.stderr.readline()
            url = process.stderr.readline().split()[-1]
            with Producer("bank", hub=socket, journal=None) as agent, aaep.listen(url) as subscriber:
                subscriber.ready().wait(LONG)
                agent.reader().wait(LONG)
                session = agent.session("Working.").start()
                ask = session.confirm("Wipe.", "All is gone.")
                for event in subscriber:
                    if isinstance(event, aaep.AwaitingConfirmation):
                        subscriber.reject(event)
                        break
                assert ask.wait(LONG).outcome == "rejected"
                session.complete()
            process.send_signal(signal.SIGTERM)
            assert process.wait(LONG) == 0
        finally:
            process.kill()


def test_a_reader_waits_for_a_hub_that_is_stopped_and_started_again(tmp_path: Path) -> None:
    place, statuses = f"unix://{tmp_path}/hub.sock", SimpleQueue[Status]()
    command = [str(Path(sys.executable).parent / "aaep"), "serve", "--listen", place, "--journal", "memory"]
    with aaep.Subscriber(place, on_status=statuses.put) as subscriber:
        for kind in ("connected", "resumed"):
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                try:
                    assert any(one.kind == kind for one in iter(partial(statuses.get, timeout=LONG), None))
                    process.send_signal(signal.SIGTERM)
                    assert process.wait(LONG) == 0
                finally:
                    process.kill()
            waiting = statuses.get(timeout=LONG)
            assert waiting.text.startswith("The hub is shutting down. Trying again in ")
        assert subscriber.status.kind != "ended"
