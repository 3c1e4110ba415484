"""The gRPC transport, spoken to with a client that gRPC's own tools made from the .proto file, and with sockets."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import grpc
import pytest
import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.hub.hub import Hub
from aaep.hub.settings import HubSettings
from aaep.identity.credentials import Certificates, Credentials, Local, TooManyAttempts, Unauthenticated, Unauthorised
from aaep.identity.peer import LISTENER, Peer
from aaep.journal.memory import MemoryJournal
from aaep.protocol import codec
from aaep.protocol.attend_extension import ATTEND as ATTEND_EXTENSION
from aaep.protocol.events import ProducerInfo
from aaep.protocol.negotiation import Offer
from aaep.runtime import loop_errors
from aaep.runtime.background import BackgroundLoop
from aaep.subscriber.subscriber import Subscriber
from aaep.transports import duplex_server
from aaep.transports.base import ChannelLost, ChannelRefused, find_transport
from aaep.transports.grpc.client import GrpcChannel, connect
from aaep.transports.grpc.messages import LENGTH_BYTES, pack, pack_with_length, split_packed, unpack
from aaep.transports.grpc.server import GrpcServer, serve
from aaep.transports.options import ConnectOptions
from tests.asking import Asker
from tests.options import connect_options
from tests.serving import served
from tests.stubs import Stream, generated, open_channel

T = TypeVar("T")
Code = grpc.StatusCode
WAIT = 60.0  # how long a broken build may keep a test waiting
MIB = 1_048_576
PRODUCER = ProducerInfo(agent_id="bank-assistant", agent_name="Bank Assistant")
TOKEN = "correct-horse-battery-staple"
ATTEND = ATTEND_EXTENSION.namespace


class Server:
    """A hub, its address, and an agent that speaks through it."""

    def __init__(
        self, terms: Offer, options: HubSettings, loop: asyncio.AbstractEventLoop | None = None, **door: Any
    ) -> None:
        self.hub = Hub(terms, MemoryJournal(), settings=options, loop=loop)
        try:
            self.url = served(self.hub, door.pop("url", "grpc://127.0.0.1:0"), **door)
        except BaseException:
            self.hub.close()
            raise
        self.place = f"127.0.0.1:{urlsplit(self.url).port}"
        self.agent = Asker(self.hub)

    def stream(self, **settings: Any) -> Stream:
        return Stream(self.place, **settings)

    @contextmanager
    def reading(self, capabilities: dict[str, Any] | None = None, **settings: Any) -> Iterator[tuple[Stream, str]]:
        """A stream that was accepted, and its subscription's id."""
        with self.stream(**settings) as stream:
            stream.send(request(**(capabilities or {})))
            accepted = said(stream)
            assert accepted["type"] == "subscription.accepted", accepted
            yield stream, accepted["subscription_id"]

    @property
    def unsent(self) -> int:
        """Bytes that were written and that no reader has taken."""
        line = next(one for one in self.hub.metrics().splitlines() if one.startswith("aaep_unsent_bytes "))
        return int(line.split()[1])

    def still_works(self) -> None:
        """Somebody else is served, and no prompt was answered."""
        with self.reading() as (stream, _):
            event = self.agent.ask()
            assert said(stream)["event_id"] == event.event_id
        assert self.agent.replies == []


def said(stream: Stream) -> dict[str, Any]:
    message = stream.receive()
    assert message is not None, (stream.call.code(), stream.call.details())
    content: dict[str, Any] = json.loads(message.json)
    return content


def request(**capabilities: Any) -> bytes:
    flags = {"supports_confirmation_reply": True, "supports_clarification_reply": True}
    levels = {"supported_conformance_levels": [1, 2, 3]}
    message = {
        "type": "subscription.request",
        "aaep_version": "1.0.0",
        "subscriber_id": "test-reader",
        "capabilities": {**levels, **flags, **capabilities},
    }
    return json.dumps(message).encode()


def reply(subscription_id: str, token: str) -> bytes:
    message = {
        "type": "confirmation.reply",
        "reply_token": token,
        "decision": "accept",
        "subscription_id": subscription_id,
        "timestamp": "2026-05-24T14:22:12.000Z",
    }
    return json.dumps(message).encode()


def close(subscription_id: str) -> bytes:
    message = {
        "type": "subscription.close",
        "subscription_id": subscription_id,
        "reason_code": "subscriber_shutdown",
        "reason_message": "Good night.",
    }
    return json.dumps(message).encode()


@contextmanager
def serving(terms: Offer | None = None, options: HubSettings | None = None, **door: Any) -> Iterator[Server]:
    server = Server(terms or Offer(producer=PRODUCER, namespaces=(ATTEND,)), options or HubSettings(), **door)
    try:
        yield server
    finally:
        server.hub.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """One server for the tests that leave nothing behind."""
    with serving() as server:
        yield server


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


# -- the .proto file and what is made by hand of it ------------------------------------------


def test_the_service_is_that_of_the_appendix() -> None:
    """GRPC-001 to GRPC-005"""
    file = generated()[0].DESCRIPTOR
    assert file.package == "aaep.v1"
    service = file.services_by_name["AaepService"]
    subscribe, manifest = service.methods_by_name["Subscribe"], service.methods_by_name["GetManifest"]
    assert (subscribe.client_streaming, subscribe.server_streaming) == (True, True)
    assert subscribe.input_type.name == subscribe.output_type.name == "AaepMessage"
    assert (manifest.input_type.name, manifest.output_type.name) == ("GetManifestRequest", "Manifest")
    fields = {
        name: [(one.name, one.number, one.type) for one in file.message_types_by_name[name].fields]
        for name in ("AaepMessage", "GetManifestRequest", "Manifest")
    }
    text, raw = 9, 12  # as protobuf numbers the types of fields
    assert fields == {
        "AaepMessage": [("json", 1, raw), ("message_type", 2, text)],
        "GetManifestRequest": [],
        "Manifest": [("json", 1, raw)],
    }


@given(kind=st.text(max_size=300), filler=st.text(max_size=300))
def test_what_is_packed_here_is_what_protobuf_packs(kind: str, filler: str) -> None:
    data = json.dumps({"type": kind, "filler": filler}).encode()
    messages, _ = generated()
    assert messages.AaepMessage.FromString(pack(data)) == messages.AaepMessage(json=data, message_type=kind)
    assert messages.Manifest.FromString(pack(data, typed=False)) == messages.Manifest(json=data)


@given(data=st.binary(max_size=300), hint=st.text(max_size=50))
def test_what_protobuf_packs_is_unpacked_here(data: bytes, hint: str) -> None:
    assert unpack(generated()[0].AaepMessage(json=data, message_type=hint).SerializeToString()) == data


FIELD = st.one_of(
    st.builds(lambda number, value: bytes([number << 3]) + bytes([value]), st.integers(1, 15), st.integers(0, 127)),
    st.builds(
        lambda number, value: bytes([number << 3 | 1]) + value, st.integers(1, 15), st.binary(min_size=8, max_size=8)
    ),
    st.builds(
        lambda number, value: bytes([number << 3 | 5]) + value, st.integers(1, 15), st.binary(min_size=4, max_size=4)
    ),
    st.builds(
        lambda number, value: bytes([number << 3 | 2, len(value)]) + value,
        st.integers(1, 15).filter(lambda number: number != 2),
        st.binary(max_size=100),
    ),
    st.builds(
        lambda number, value: bytes([number << 3 | 2, len(value) & 0x7F | 0x80, len(value) >> 7]) + value,
        st.integers(1, 2),
        st.integers(0, 600).map(lambda size: b"x" * size),
    ),
)


@given(st.lists(FIELD | st.binary(max_size=12), max_size=6).map(b"".join))
def test_bytes_mean_here_what_they_mean_to_protobuf(raw: bytes) -> None:
    """Fields that are not known are passed over, the last of several counts; what is cut off is no message."""
    from google.protobuf.message import DecodeError

    try:
        ours = unpack(raw)
    except ValueError:
        ours = None
    try:
        theirs = generated()[0].Manifest.FromString(raw).json
    except DecodeError:
        theirs = None
    groups = theirs is not None and ours is None  # which protobuf still knows, and nobody writes
    assert ours == theirs or groups
    if groups:
        with pytest.raises(ValueError, match="no such kind"):
            unpack(raw)


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_messages_that_were_joined_are_told_apart(data: list[bytes]) -> None:
    joined = b"".join(pack_with_length("evt_1", one) for one in data)
    found = split_packed(joined)
    assert [unpack(message[LENGTH_BYTES:]) for message in found] == data
    assert b"".join(found) == joined


# -- talking -----------------------------------------------------------------------------------


def test_a_subscription_is_accepted_and_events_and_replies_share_its_stream(server: Server) -> None:
    """GRPC-006, GRPC-007"""
    with server.reading() as (stream, subscription_id):
        event = server.agent.ask("Pay \r\n\u2028 the bill.")
        message = stream.receive()
        assert message is not None
        assert message.json == codec.encode(event)
        assert message.message_type == "aaep:agent.awaiting.confirmation"
        stream.send(reply(subscription_id, "rpl_1"))
        assert server.agent.heard.wait(WAIT)
    assert [via for _, via in server.agent.replies] == [subscription_id]


def test_the_hint_is_written_and_not_believed(server: Server) -> None:
    """CF-108: only the JSON counts."""
    with server.stream() as stream:
        stream.send(request(), hint="subscription.close")
        answer = stream.receive()
        assert answer is not None and answer.message_type == "subscription.accepted"
        subscription_id = json.loads(answer.json)["subscription_id"]
        server.agent.ask()
        stream.receive()
        stream.send(reply(subscription_id, "rpl_1"), hint="subscription.close")
        assert server.agent.heard.wait(WAIT)


def test_the_manifest_can_be_asked_for(shared: Server) -> None:
    messages, service = generated()
    with open_channel(shared.place) as channel:
        answer = service.AaepServiceStub(channel).GetManifest(messages.GetManifestRequest(), timeout=WAIT)
    manifest = json.loads(answer.json)
    assert manifest["agent_id"] == PRODUCER.agent_id
    assert manifest["transports_supported"] == ["grpc"]


def test_other_methods_are_not_there(shared: Server) -> None:
    with open_channel(shared.place) as channel:
        for path in ("/aaep.v1.AaepService/Other", "/aaep.v2.AaepService/Subscribe"):
            method: Any = channel.unary_unary(path)
            with pytest.raises(grpc.RpcError) as caught:
                method(b"", timeout=WAIT)
            assert caught.value.code() is Code.UNIMPLEMENTED


def test_terms_are_changed_on_the_stream(server: Server) -> None:
    with server.reading() as (stream, subscription_id):
        change = {"type": "subscription.renegotiate", "subscription_id": subscription_id, "capabilities": {}}
        stream.send(json.dumps(change | {"capabilities": {"max_events_per_second": 7}}).encode())
        answer = said(stream)
        assert answer["type"] == "subscription.accepted"
        assert answer["honored_capabilities"]["max_events_per_second"] == 7


def test_whoever_has_no_more_to_say_may_still_listen(server: Server) -> None:
    """As grpcurl does, which ends its side after the first message."""
    with server.stream() as stream:
        stream.send(request())
        stream.finish()
        assert said(stream)["type"] == "subscription.accepted"
        event = server.agent.ask()
        assert said(stream)["event_id"] == event.event_id


def test_a_closed_subscription_ends_its_stream_in_order(server: Server) -> None:
    with server.reading() as (stream, subscription_id):
        stream.send(close(subscription_id))
        assert [*stream] == []
        assert stream.code is Code.OK
    assert server.agent.gone.wait(WAIT)


def test_many_readers_hear_the_same_on_one_connection_and_on_many(server: Server) -> None:
    with open_channel(server.place) as channel:
        streams = [Stream(server.place, channel=channel if index % 2 else None) for index in range(60)]
        try:
            for stream in streams:
                stream.send(request())
            assert {said(stream)["type"] for stream in streams} == {"subscription.accepted"}
            events = [server.agent.ask().event_id for _ in range(5)]
            assert all([said(stream)["event_id"] for _ in events] == events for stream in streams)
        finally:
            for stream in streams:
                stream.cut()


def test_who_comes_back_goes_on_where_it_stopped(server: Server) -> None:
    """CF-084, GRPC-010"""
    with server.reading() as (stream, _):
        first = server.agent.say("One.")
        assert said(stream)["event_id"] == first.event_id
    missed = [server.agent.say(f"{number}.").event_id for number in range(3)]
    wish = {"supported_extensions": [ATTEND], "attend": {"resume_after": first.event_id}}
    with server.reading(wish) as (stream, _):
        assert [said(stream)["event_id"] for _ in missed] == missed


@pytest.mark.parametrize("leave", ["cancel", "deadline", "connection"])
def test_a_reader_that_is_gone_is_noticed(leave: str) -> None:
    """TR-017, GRPC-009: after the resume window its session is told."""
    with (
        serving(options=HubSettings(resume_window=0.01)) as server,
        # A call has its deadline from the beginning, and has to be answered before it.
        server.reading(timeout=3.0 if leave == "deadline" else WAIT) as (stream, _),
    ):
        assert not server.agent.gone.is_set()
        if leave == "cancel":
            stream.call.cancel()
        elif leave == "connection":
            stream.channel.close()
        assert server.agent.gone.wait(WAIT)
        assert leave != "deadline" or stream.code is Code.DEADLINE_EXCEEDED


@pytest.mark.parametrize("make", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_any_kind_of_loop_will_do(make: Callable[[], asyncio.AbstractEventLoop]) -> None:
    loop = make()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        with serving(loop=loop) as server:
            server.still_works()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(WAIT)
        loop.close()


class PollerCompletionQueue:
    """What the library calls the queue that all loops share."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _handle_events(self) -> None:
        raise self._error


@pytest.mark.parametrize("make", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_what_fails_in_the_library_without_harm_is_not_told(
    make: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("Event loop is closed")

    loop = make()
    loop.call_soon(lambda: loop_errors.install_loop_error_handler(loop))
    loop.call_soon(PollerCompletionQueue(BlockingIOError())._handle_events)
    loop.call_soon(PollerCompletionQueue(RuntimeError("Event loop is closed"))._handle_events)
    loop.run_until_complete(asyncio.sleep(0))  # one turn, in which it is called
    assert caplog.records == []
    loop.call_soon(fail)  # the same words of somebody else
    loop.call_soon(PollerCompletionQueue(RuntimeError("broken"))._handle_events)
    loop.run_until_complete(asyncio.sleep(0))  # one turn, in which it is called
    loop.close()
    assert len(caplog.records) == 2


def test_who_hears_of_failures_already_hears_of_these() -> None:
    heard: list[dict[str, Any]] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _, context: heard.append(context))
    loop_errors.install_loop_error_handler(loop)
    loop.call_soon(PollerCompletionQueue(BlockingIOError())._handle_events)
    loop.run_until_complete(asyncio.sleep(0))  # one turn, in which it is called
    loop.close()
    assert len(heard) == 1


# -- statuses (CF-108) -------------------------------------------------------------------------


def ended(stream: Stream) -> tuple[list[str], grpc.StatusCode]:
    """The reasons in what was said last, and the status that sums them up."""
    return [json.loads(message.json)["reason_code"] for message in stream], stream.code


def test_another_version_is_a_failed_precondition(shared: Server) -> None:
    with shared.stream() as stream:
        stream.send(request().replace(b'"1.0.0"', b'"7.0.0"'))
        assert ended(stream) == (["version_unsupported"], Code.FAILED_PRECONDITION)


def test_one_reader_too_many_is_an_exhausted_resource() -> None:
    with serving(Offer(producer=PRODUCER, max_subscriptions=1)) as server, server.reading(), server.stream() as stream:
        stream.send(request())
        assert ended(stream) == (["rate_limit"], Code.RESOURCE_EXHAUSTED)


class Doorman:
    """Lets in who has the token, and says no in every way there is."""

    def authenticate(self, given: Credentials) -> Peer:
        self.given = given
        if given.bearer == TOKEN:
            return Peer("ada", given.transport)
        if given.bearer == "listener":
            return Peer("bob", given.transport, frozenset({LISTENER}))
        if given.bearer == "again":
            raise TooManyAttempts("Wait a little.", 7)
        if given.bearer:
            raise Unauthorised("Not you.")
        raise Unauthenticated("Show a token.")


def bearer(token: str) -> dict[str, Any]:
    return {"metadata": (("authorization", f"Bearer {token}"),)}


@pytest.mark.parametrize(
    ("token", "reason", "code"),
    [
        ("", "authentication_required", Code.UNAUTHENTICATED),
        ("wrong", "authorization_denied", Code.PERMISSION_DENIED),
        ("again", "rate_limit", Code.RESOURCE_EXHAUSTED),
    ],
)
def test_who_is_not_let_in_is_told_before_anything_is_read(token: str, reason: str, code: grpc.StatusCode) -> None:
    messages, service = generated()
    with serving(identity=Doorman()) as server:
        shown = bearer(token) if token else {}
        with server.stream(**shown) as stream:
            assert ended(stream) == ([reason], code)
        with open_channel(server.place) as channel, pytest.raises(grpc.RpcError) as caught:
            service.AaepServiceStub(channel).GetManifest(messages.GetManifestRequest(), timeout=WAIT, **shown)
        assert caught.value.code() is code


def test_who_is_let_in_is_the_one_with_the_token() -> None:
    doorman = Doorman()
    with serving(identity=doorman) as server:
        server.agent.audience = frozenset({"ada"})
        with server.reading(**bearer(TOKEN)) as (stream, subscription_id):
            assert doorman.given.transport == "grpc" and doorman.given.is_loopback
            assert doorman.given.address == "127.0.0.1" and doorman.given.certificate is None
            event = server.agent.ask()
            assert said(stream)["event_id"] == event.event_id
            with server.reading(**bearer("listener")) as (other, other_id):
                for claimed in (subscription_id, other_id):  # neither another's name nor its own may answer
                    other.send(reply(claimed, "rpl_1"))
                change = {"type": "subscription.renegotiate", "subscription_id": other_id, "capabilities": {}}
                other.send(json.dumps(change).encode())
                assert said(other)["type"] == "subscription.accepted"  # so the replies before it were dealt with
            assert server.agent.replies == []
            stream.send(reply(subscription_id, "rpl_1"))
            assert server.agent.heard.wait(WAIT)


def test_a_token_alone_will_do() -> None:
    with serving(token=TOKEN) as server:
        with server.reading(**bearer(TOKEN)):
            pass
        codes = []
        for _ in range(30):
            with server.stream(**bearer("wrong")) as stream:
                codes.append(ended(stream))
        assert codes[0] == (["authentication_required"], Code.UNAUTHENTICATED)
        assert codes[-1] == (["rate_limit"], Code.RESOURCE_EXHAUSTED)  # it guesses
        with server.reading(**bearer(TOKEN)):  # and the user is not locked out by that
            pass


def test_two_credentials_are_none() -> None:
    twice = (("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer other"))
    with serving(identity=Doorman()) as server, server.stream(metadata=twice) as stream:
        assert ended(stream) == (["authentication_required"], Code.UNAUTHENTICATED)


@pytest.mark.parametrize("header", ["origin", "sec-fetch-site"])
def test_web_pages_are_refused(shared: Server, header: str) -> None:
    with shared.stream(metadata=((header, "https://evil.example"),)) as stream:
        assert ended(stream) == (["authorization_denied"], Code.PERMISSION_DENIED)


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for", "x-real-ip", "via"])
def test_what_a_proxy_passes_on_does_not_come_from_this_machine(shared: Server, header: str) -> None:
    with shared.stream(metadata=((header, "192.0.2.1"),)) as stream:
        assert ended(stream) == (["authentication_required"], Code.UNAUTHENTICATED)


def test_an_identity_that_fails_lets_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def authenticate(self, given: Credentials) -> Peer:
            raise RuntimeError("secret")

    with serving(identity=Broken()) as server, server.stream() as stream:
        assert ended(stream) == ([], Code.INTERNAL)
        assert "secret" not in stream.call.details()
    assert "This is a bug" in caplog.text


def test_the_end_of_the_agent_is_said_before_the_status() -> None:
    with serving() as server, server.reading() as (stream, _), server.stream() as silent:
        door = server.hub.servers[0]
        assert isinstance(door, GrpcServer)
        late = time.monotonic() + WAIT
        while len(door.conversations) < 2 and time.monotonic() < late:
            server.hub.run(asyncio.sleep(0))  # a turn of the loop: a call begins when it has arrived
        ending = threading.Thread(target=server.hub.close)
        ending.start()
        assert ended(stream) == (["producer_shutdown"], Code.UNAVAILABLE)
        assert ended(silent) == ([], Code.UNAVAILABLE)
        ending.join(WAIT)
        assert not ending.is_alive()


def test_a_door_closes_although_somebody_reads_nothing() -> None:
    with serving() as server, server.reading() as (stream, _):
        for _ in range(20):
            server.agent.ask("x" * 30_000)
        server.hub.close()
        assert len([*stream]) <= 21
        assert stream.code is not Code.OK


def test_who_does_not_read_is_let_go_and_the_others_are_not_delayed() -> None:
    """CF-073: and what waits for it stays within bounds."""
    options = HubSettings(max_lag=0.3, high_water_bytes=64 * 1024)
    with serving(options=options) as server, server.reading() as (slow, _), server.reading() as (quick, _):
        events = []
        while "aaep_slow_consumers_total 1" not in server.hub.metrics():
            events.append(server.agent.ask("x" * 4000).event_id)
            assert said(quick)["event_id"] == events[-1]
            assert len(events) < 100_000
        messages = [json.loads(message.json) for message in slow]
        assert messages[-1]["reason_code"] == "slow_consumer"
        assert slow.code is Code.RESOURCE_EXHAUSTED
        assert sum(len(json.dumps(one)) for one in messages) < 1_000_000


def test_who_never_reads_again_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """TR-018"""
    monkeypatch.setattr(duplex_server, "LINGER_TIMEOUT", 0.05)
    options = HubSettings(max_lag=0.1, high_water_bytes=64 * 1024)
    with serving(options=options) as server, server.reading() as (slow, _):
        with server.reading() as (quick, _):
            while "aaep_slow_consumers_total 1" not in server.hub.metrics():
                event = server.agent.ask("x" * 4000)
                assert said(quick)["event_id"] == event.event_id
        door = server.hub.servers[0]
        assert isinstance(door, GrpcServer)
        for _ in range(5000):
            if not door.conversations:
                break
            server.still_works()
        assert not door.conversations
        assert [*slow] and slow.code is not Code.OK


def test_a_reader_elsewhere_that_takes_over_is_an_abortion(server: Server) -> None:
    import http.client

    where = urlsplit(served(server.hub, "http://127.0.0.1:0")).netloc
    with server.reading() as (stream, subscription_id):
        line = http.client.HTTPConnection(where, timeout=WAIT)
        try:
            line.request("GET", f"/aaep/v1/events?subscription_id={subscription_id}")
            assert ended(stream) == (["superseded"], Code.ABORTED)
        finally:
            line.close()


def test_a_subscription_that_is_closed_elsewhere_ends_its_stream(server: Server) -> None:
    with server.reading() as (stream, subscription_id):
        loop = server.hub._background
        assert loop is not None
        own = Local().authenticate(Credentials(transport="grpc", is_loopback=True))
        loop.call_soon(server.hub.receive, close(subscription_id), own, _closes())
        assert ended(stream) == ([], Code.OK)


def _closes() -> tuple[type[Any], ...]:
    from aaep.protocol.messages import SubscriptionClose

    return (SubscriptionClose,)


def test_who_asks_for_nothing_is_let_go() -> None:
    with serving(request_timeout=0.05) as server, server.stream() as stream:
        assert ended(stream) == ([], Code.DEADLINE_EXCEEDED)


def test_who_ends_before_asking_is_refused(shared: Server) -> None:
    with shared.stream() as stream:
        stream.finish()
        assert ended(stream) == ([], Code.INVALID_ARGUMENT)


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"{}",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe",
        reply("sub_" + "0" * 32, "rpl_1"),
        close("sub_" + "0" * 32),
        b"{" + b'"x":"' + b"x" * (MIB - 7) + b'"}',  # as large as may be, and still nothing
        b'"' + b"x" * (MIB - 1) + b'"',  # one byte too many
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_what_is_no_request_is_no_beginning(shared: Server, first: bytes) -> None:
    """GRPC-006"""
    with shared.stream() as stream:
        stream.send(first)
        assert ended(stream) == ([], Code.INVALID_ARGUMENT)
        assert stream.call.details() == "Malformed message."


def test_a_request_that_cannot_be_used_is_answered(shared: Server) -> None:
    """SUB-039, CF-108, CF-109"""
    with shared.stream() as stream:
        stream.send(request().replace(b'"subscriber_id": "test-reader", ', b""))
        answer = said(stream)
        assert answer["reason_message"] == "This request cannot be used. subscriber_id is missing. Add it."
        assert ended(stream) == ([], Code.FAILED_PRECONDITION)


def test_a_request_of_the_largest_size_is_read_and_refused_as_too_long_a_handshake(shared: Server) -> None:
    """CF-114"""
    filler = {"padding_for_this_test": {"x": ""}}
    space = MIB - len(request(**filler))
    with shared.stream() as stream:
        stream.send(request(padding_for_this_test={"x": "x" * space}))
        assert said(stream)["type"] == "subscription.rejected"


def test_nonsense_on_a_subscription_ends_it_with_a_word(server: Server) -> None:
    """CF-113"""
    with server.reading() as (stream, _):
        stream.send(b"nonsense")
        assert ended(stream) == (["protocol_error"], Code.INVALID_ARGUMENT)


# -- hostile ------------------------------------------------------------------------------------


@contextmanager
def raw_call(server: Server, **settings: Any) -> Iterator[Callable[[bytes], grpc.StatusCode]]:
    """Sends bytes as a gRPC message, whatever they are, and gives back the status."""
    with open_channel(server.place) as channel:
        method: Any = channel.stream_stream("/aaep.v1.AaepService/Subscribe")

        def send(*data: bytes) -> grpc.StatusCode:
            call = method(iter(data), timeout=WAIT, **settings)
            with pytest.raises(grpc.RpcError):
                while True:
                    next(call)
            code: grpc.StatusCode = call.code()
            return code

        yield send


@pytest.mark.parametrize("size", [MIB + 2000, 50 * MIB])
def test_too_much_is_refused_by_its_announced_size(server: Server, size: int) -> None:
    """CF-114"""
    with raw_call(server) as send:
        assert send(b"x" * size) is Code.RESOURCE_EXHAUSTED
    server.still_works()


def test_a_small_message_cannot_swell(server: Server) -> None:
    with raw_call(server, compression=grpc.Compression.Gzip) as send:
        assert send(pack(b"\0" * 100 * MIB)) is Code.RESOURCE_EXHAUSTED
    server.still_works()


def test_a_compressed_message_is_read(server: Server) -> None:
    with open_channel(server.place) as channel:
        method: Any = channel.stream_stream("/aaep.v1.AaepService/Subscribe")
        call = method(iter([pack(request())]), timeout=WAIT, compression=grpc.Compression.Gzip)
        assert b"subscription.accepted" in unpack(next(call))
        call.cancel()


def test_who_floods_and_does_not_read_is_not_read() -> None:
    """Answers that nobody takes would fill the memory. And none of them is lost."""
    most, count = 32 * 1024, 1000
    with serving(options=HubSettings(high_water_bytes=most)) as server, server.reading() as (stream, subscription_id):
        change = {"type": "subscription.renegotiate", "subscription_id": subscription_id, "capabilities": {}}
        message = json.dumps(change).encode()
        for _ in range(count):
            stream.send(message)
        others = 50
        for _ in range(others):  # others come and go meanwhile, which takes longer than to read all of it would
            server.still_works()
            assert server.unsent < 2 * most
        kinds = [said(stream)["type"] for _ in range(count + others)]
        assert kinds.count("subscription.accepted") == count


MESSAGE = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=200).map(pack),
    st.sampled_from([request(), close("sub_x"), reply("sub_x", "rpl_1"), b"{}"]).map(pack),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: pack(json.dumps(value).encode())),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.booleans(), messages=st.lists(MESSAGE, max_size=5))
def test_no_messages_break_it_or_answer_a_prompt(shared: Server, first: bool, messages: list[bytes]) -> None:
    data = [pack(request())] * first + messages
    with open_channel(shared.place) as channel:
        method: Any = channel.stream_stream("/aaep.v1.AaepService/Subscribe")
        call = method(iter(data), timeout=WAIT)
        try:
            for answer in call:
                if b"aaep:agent.awaiting.confirmation" in answer:
                    call.cancel()  # whatever came before, it was a subscription, and still is one
                elif b"subscription.accepted" in answer:
                    shared.agent.ask()
        except grpc.RpcError:
            pass  # let go, as it should be
        assert call.code() in (Code.OK, Code.INVALID_ARGUMENT, Code.CANCELLED)
    shared.still_works()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.binary(max_size=200)
    | st.binary(max_size=200).map(lambda data: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9) + data)
    | st.sampled_from([b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00"])
)
def test_no_bytes_break_it(shared: Server, data: bytes) -> None:
    host, _, port = shared.place.partition(":")
    with socket.create_connection((host, int(port)), timeout=WAIT) as line:
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        while line.recv(65_536):
            pass
    shared.still_works()


# -- TLS ----------------------------------------------------------------------------------------


class Pems:
    """An authority, a server's certificate and a reader's."""

    def __init__(self, folder: Path) -> None:
        self.ca = str(folder / "ca.pem")
        ca_key = str(folder / "ca-key.pem")
        self._openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority",
            *("-keyout", ca_key, "-out", self.ca),
        )
        self.server = self._issue(folder, "server", "/CN=localhost", "IP:127.0.0.1,DNS:localhost", ca_key)
        self.reader = self._issue(folder, "reader", "/CN=Ada", "email:ada@example.org,URI:spiffe://home/ada", ca_key)

    def _issue(self, folder: Path, name: str, subject: str, names: str, ca_key: str) -> tuple[str, str]:
        cert, key = str(folder / f"{name}.pem"), str(folder / f"{name}-key.pem")
        self._openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2",
            *("-addext", "basicConstraints=critical,CA:FALSE", "-subj", subject, "-addext", f"subjectAltName={names}"),
            *("-CA", self.ca, "-CAkey", ca_key, "-keyout", key, "-out", cert),
        )
        return cert, key

    def _openssl(self, command: str, *more: str) -> None:
        subprocess.run(["openssl", *command.split(), *more], check=True, capture_output=True)

    def trusting(self, *own: str) -> grpc.ChannelCredentials:
        cert, key = (Path(one).read_bytes() for one in own) if own else (None, None)
        return grpc.ssl_channel_credentials(Path(self.ca).read_bytes(), key, cert)


@pytest.fixture(scope="module")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Pems:
    return Pems(tmp_path_factory.mktemp("pems"))


def test_a_network_is_served_with_encryption_and_a_token(pems: Pems) -> None:
    """TR-024, TR-027, GRPC-008"""
    cert, key = pems.server
    door: dict[str, Any] = {"url": "grpcs://0.0.0.0:0", "cert": cert, "key": key, "identity": Doorman()}
    with serving(**door) as server:
        assert server.url.startswith("grpcs://0.0.0.0:")
        with server.stream(credentials=pems.trusting()) as stream:
            assert ended(stream) == (["authentication_required"], Code.UNAUTHENTICATED)
        with server.reading(credentials=pems.trusting(), **bearer(TOKEN)) as (stream, _):
            event = server.agent.ask()
            assert said(stream)["event_id"] == event.event_id


def test_nobody_is_local_who_comes_over_the_network(pems: Pems) -> None:
    cert, key = pems.server
    doorman = Doorman()
    with serving(url="grpcs://0.0.0.0:0", cert=cert, key=key, identity=doorman) as server:
        with server.stream(credentials=pems.trusting()) as stream:
            assert ended(stream)[1] is Code.UNAUTHENTICATED
        assert not doorman.given.is_loopback  # although it came from this machine: it might be a proxy's


def test_a_certificate_says_who_somebody_is(pems: Pems) -> None:
    """SEC-013, CF-149"""
    cert, key = pems.server
    seen: list[Credentials] = []

    class Watched(Certificates):
        def authenticate(self, given: Credentials) -> Peer:
            seen.append(given)
            return super().authenticate(given)

    identity = Watched({"email:ada@example.org": "ada"})
    with serving(url="grpcs://0.0.0.0:0", cert=cert, key=key, ca=pems.ca, identity=identity) as server:
        server.agent.audience = frozenset({"ada"})
        with server.reading(credentials=pems.trusting(*pems.reader)) as (stream, _):
            event = server.agent.ask()
            assert said(stream)["event_id"] == event.event_id
        decoded = ssl._ssl._test_decode_cert(pems.reader[0])  # type: ignore[attr-defined]  # what ssl itself would say
        shown = seen[0].certificate
        assert shown is not None
        assert shown["subject"] == decoded["subject"]
        assert sorted(shown["subjectAltName"]) == sorted(decoded["subjectAltName"])
        assert ssl.cert_time_to_seconds(shown["notAfter"]) == ssl.cert_time_to_seconds(decoded["notAfter"])
        with server.stream(credentials=pems.trusting(*pems.server)) as stream:  # genuine, and of nobody
            assert ended(stream) == (["authorization_denied"], Code.PERMISSION_DENIED)
        with server.stream(credentials=pems.trusting()) as stream:
            assert ended(stream) == ([], Code.UNAVAILABLE)  # TLS does not let it in


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2])
def test_nothing_older_than_tls_1_2_is_spoken(pems: Pems, version: ssl.TLSVersion) -> None:
    """TR-027"""
    cert, key = pems.server
    with serving(url="grpcs://127.0.0.1:0", cert=cert, key=key) as server:
        host, _, port = server.place.partition(":")
        context = ssl.create_default_context(cafile=pems.ca)
        with (
            pytest.warns(DeprecationWarning)
            if version < ssl.TLSVersion.TLSv1_2
            else contextmanager(lambda: iter([None]))()
        ):
            context.minimum_version = context.maximum_version = version
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.set_alpn_protocols(["h2"])
        with socket.create_connection((host, int(port)), timeout=WAIT) as line:
            if version < ssl.TLSVersion.TLSv1_2:
                with pytest.raises(ssl.SSLError):
                    context.wrap_socket(line, server_hostname=host)
            else:
                with context.wrap_socket(line, server_hostname=host) as encrypted:
                    assert encrypted.version() == "TLSv1.2"


# -- opening a door -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "door", "advice"),
    [
        ("grpc://0.0.0.0:0", {}, "127.0.0.1"),
        ("grpc://0.0.0.0:0", {"identity": Doorman()}, "grpcs://"),
        ("grpc://[::]:0", {}, "127.0.0.1"),
        ("grpc://127.0.0.1:0/aaep", {}, "Leave '/aaep' out"),
        ("grpc://127.0.0.1:0", {"cert": "/nowhere.pem"}, "grpcs://"),
        ("grpcs://127.0.0.1:0", {}, "cert="),
        ("grpcs://127.0.0.1:0", {"cert": "/nowhere.pem", "key": "/nowhere.pem"}, "cert="),
        ("grpc://127.0.0.1:0", {"token": TOKEN, "identity": Doorman()}, "either token= or identity="),
        ("grpc://user:word@127.0.0.1:0", {}, "token="),
        ("grpc:127.0.0.1", {}, "grpc://127.0.0.1"),
    ],
)
def test_what_cannot_be_served_is_said_plainly(url: str, door: dict[str, Any], advice: str) -> None:
    with pytest.raises(AaepError, match=advice.replace("(", r"\(")), serving(url=url, **door):
        pass


def test_a_network_needs_somebody_who_tells_people_apart(pems: Pems) -> None:
    cert, key = pems.server
    for identity in (None, Local()):
        with (
            pytest.raises(AaepError, match="identity="),
            serving(url="grpcs://0.0.0.0:0", cert=cert, key=key, identity=identity),
        ):
            pass
    with (
        pytest.raises(AaepError, match="ca="),
        serving(url="grpcs://127.0.0.1:0", cert=cert, key=key, ca=key),
    ):
        pass


def test_a_port_that_is_in_use_is_said_to_be(shared: Server) -> None:
    with pytest.raises(AaepError, match="in use"), serving(url=shared.url):
        pass


def test_the_other_loopback_is_served_too() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")  # nothing of it can be tried there
    with serving(url="grpc://[::1]:0") as server:
        assert server.url.startswith("grpc://[::1]:")
        server.place = server.url.removeprefix("grpc://")
        server.still_works()


def test_without_the_library_everything_else_works() -> None:
    program = (
        "import sys; sys.modules['grpc'] = None\n"
        "import aaep, aaep.transports.base, aaep.hub.hub\n"
        "try: aaep.transports.base.find_transport('grpc://127.0.0.1:1')\n"
        "except aaep.errors.AaepError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install grpcio" in done.stdout


def test_importing_the_library_of_all_transports_loads_no_grpc() -> None:
    program = "import sys, aaep, aaep.transports.base, aaep.hub.hub, aaep.transports; print('grpc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- our own subscriber -----------------------------------------------------------------------------


@contextmanager
def channel_to(url: str, **settings: Any) -> Iterator[tuple[GrpcChannel, BackgroundLoop]]:
    loop = BackgroundLoop("test")
    channel = connect(url, connect_options(**settings))
    try:
        yield channel, loop
    finally:
        loop.run(channel.close(), WAIT)
        loop.stop()


def test_the_scheme_finds_this_transport(shared: Server) -> None:
    assert find_transport(shared.url).serve is serve
    assert find_transport("grpcs://reader.example").connect is connect


def test_a_subscriber_hears_and_answers(server: Server) -> None:
    with Subscriber(server.url) as subscriber:
        server.hub.wait_for_reader(replies=True).wait(WAIT)
        server.agent.ask()
        event = next(iter(subscriber))
        subscriber.accept(event).wait(WAIT)
        assert server.agent.heard.wait(WAIT)


def test_a_channel_gives_the_manifest_and_answers(server: Server) -> None:
    with channel_to(server.url) as (channel, loop):
        assert json.loads(loop.run(channel.manifest(), WAIT))["agent_id"] == PRODUCER.agent_id
        assert b"subscription.accepted" in loop.run(channel.request(request()), WAIT)


def test_a_rejection_reaches_the_subscriber_whole() -> None:
    """Also one that was said before the request was read."""
    with serving(identity=Doorman()) as server:
        for _ in range(20):
            with channel_to(server.url) as (channel, loop):
                answer = json.loads(loop.run(channel.request(request()), WAIT))
                assert answer["reason_code"] == "authentication_required"
        with channel_to(server.url) as (channel, loop), pytest.raises(ChannelRefused, match="Show a token"):
            loop.run(channel.manifest(), WAIT)
        with channel_to(server.url, token=TOKEN) as (channel, loop):
            assert b"subscription.accepted" in loop.run(channel.request(request()), WAIT)


def test_that_nobody_answers_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"grpc://127.0.0.1:{taken.getsockname()[1]}"
    with channel_to(url) as (channel, loop):
        for work in (channel.manifest(), channel.request(request())):
            with pytest.raises(ChannelLost, match="Is the agent running"):
                loop.run(work, WAIT)


def test_a_server_of_something_else_is_said_to_be_none() -> None:
    async def nothing() -> tuple[grpc.aio.Server, int]:
        made = grpc.aio.server()
        port = made.add_insecure_port("127.0.0.1:0")
        await made.start()
        return made, port

    loop = BackgroundLoop("other")
    other, port = loop.run(nothing(), WAIT)
    try:
        with channel_to(f"grpc://127.0.0.1:{port}") as (channel, mine):
            with pytest.raises(ChannelRefused, match="UNIMPLEMENTED"):
                mine.run(channel.manifest(), WAIT)
            # What is written to a stream that has just been refused may fail before the refusal is read.
            with pytest.raises((ChannelRefused, ChannelLost), match=r"UNIMPLEMENTED|INTERNAL"):
                mine.run(channel.request(request()), WAIT)
    finally:
        loop.run(other.stop(None), WAIT)
        loop.stop()


def test_the_end_of_a_stream_is_a_loss_that_a_new_subscription_mends(server: Server) -> None:
    async def hear(channel: GrpcChannel) -> None:
        await channel.request(request())
        server.hub.close()
        async for _ in channel.receive_messages("any"):
            pass

    with channel_to(server.url) as (channel, loop):
        with pytest.raises(ChannelLost, match="UNAVAILABLE"):
            loop.run(hear(channel), WAIT)
        with pytest.raises(ChannelLost):
            loop.run(channel.send(b"{}"), WAIT)

        async def again() -> None:
            async for _ in channel.receive_messages("any"):
                pass

        with pytest.raises(ChannelRefused) as caught:
            loop.run(again(), WAIT)
        assert caught.value.gone


def test_a_certificate_that_is_not_known_is_not_trusted(pems: Pems) -> None:
    cert, key = pems.server
    with serving(url="grpcs://127.0.0.1:0", cert=cert, key=key) as server:
        with channel_to(server.url) as (channel, loop), pytest.raises(ChannelRefused, match="ca="):
            loop.run(channel.request(request()), WAIT)
        with channel_to(server.url, ca=pems.ca) as (channel, loop):
            assert b"subscription.accepted" in loop.run(channel.request(request()), WAIT)


def test_a_certificate_of_ours_is_shown(pems: Pems) -> None:
    cert, key = pems.server
    door: dict[str, Any] = {"url": "grpcs://0.0.0.0:0", "cert": cert, "key": key, "ca": pems.ca}
    with serving(**door, identity=Certificates({"CN:Ada": "ada"})) as server:
        own = {"ca": pems.ca, "cert": pems.reader[0], "key": pems.reader[1]}
        with channel_to(f"grpcs://{server.place}", **own) as (channel, loop):
            assert b"subscription.accepted" in loop.run(channel.request(request()), WAIT)


@pytest.mark.parametrize(
    ("url", "own", "advice"),
    [
        ("grpc://reader.example:1", {"token": TOKEN}, "grpcs://"),
        ("grpc://127.0.0.1:1", {"ca": "/nowhere.pem"}, "grpcs://"),
        ("grpcs://127.0.0.1:1", {"ca": "/nowhere.pem"}, "ca="),
        ("grpcs://127.0.0.1:1", {"cert": "/nowhere.pem"}, "give both"),
        ("grpc://127.0.0.1:1/path", {}, "grpc://127.0.0.1"),
        ("grpc://:1", {}, "grpc://127.0.0.1"),
    ],
)
def test_what_cannot_be_connected_to_is_said_plainly(url: str, own: dict[str, Any], advice: str) -> None:
    with pytest.raises(AaepError, match=advice):
        connect(url, connect_options(**own))


def test_what_a_server_says_cannot_play_tricks_on_a_terminal() -> None:
    channel = connect("grpc://127.0.0.1:1")
    status = grpc.aio.AioRpcError(Code.UNKNOWN, details="\x1b]0;evil\x07 " + "x" * 10_000)
    text = str(channel.convert_error(status))
    assert "\x1b" not in text and "\x07" not in text and len(text) < 1000


def test_a_server_that_is_asked_too_often_is_asked_less_often() -> None:
    channel = connect("grpc://127.0.0.1:1", ConnectOptions(max_silence=45))
    for _ in range(10):
        problem = channel.convert_error(grpc.aio.AioRpcError(Code.UNAVAILABLE, details="GOAWAY: too_many_pings"))
        assert isinstance(problem, ChannelLost)
    assert channel._max_silence == 900


def test_a_closed_channel_stays_closed(shared: Server) -> None:
    with channel_to(shared.url) as (channel, loop):
        loop.run(channel.close(), WAIT)
        with pytest.raises(ChannelLost, match="closed"):
            loop.run(channel.request(request()), WAIT)
