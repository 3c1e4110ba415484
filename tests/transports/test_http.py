"""The HTTP transport, spoken to with sockets, http.client and curl: nothing of ours is trusted to judge it."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.hub.hub import Hub
from aaep.hub.settings import HubSettings
from aaep.journal.memory import MemoryJournal
from aaep.protocol import codec as wire
from aaep.protocol.events import ProducerInfo
from aaep.protocol.negotiation import Offer
from aaep.transports.base import ChannelLost, ChannelRefused, ReceivedMessage, find_transport
from aaep.transports.http.client import HttpChannel, connect
from aaep.transports.http.server import HttpConnection, HttpServer, serve
from aaep.transports.http.websocket_client import WebSocketChannel
from aaep.transports.options import ConnectOptions, Tls
from tests.asking import Asker
from tests.serving import served

WAIT = 60.0  # how long a broken build may keep a test waiting
EVENTS, REPLIES, SUBSCRIPTIONS = "/aaep/v1/events", "/aaep/v1/replies", "/aaep/v1/subscriptions"
MANIFEST = "/.well-known/aaep-manifest.json"
PRODUCER = ProducerInfo(agent_id="bank-assistant", agent_name="Bank Assistant")
JSON = {"Content-Type": "application/json"}
TOKEN = "correct-horse-battery-staple"
UNKNOWN = "sub_" + "0" * 32


class Server:
    """A hub, its address, and an agent that speaks through it."""

    def __init__(self, terms: Offer, options: HubSettings, **door: Any) -> None:
        self.hub = Hub(terms, MemoryJournal(), settings=options)
        try:
            self.url = served(self.hub, door.pop("url", "http://127.0.0.1:0"), **door)
        except BaseException:
            self.hub.close()
            raise
        self.port = urlsplit(self.url).port or 0
        self.agent = Asker(self.hub)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answered:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)) as line:
            data = json.dumps(body).encode() if isinstance(body, dict) else body
            line.request(method, path, data, {**(JSON if data is not None else {}), **(headers or {})})
            return Answered(line.getresponse())

    def raw(self, data: bytes) -> bytes:
        """Everything that comes back until the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT) as line:
            line.sendall(data)
            return b"".join(iter(lambda: line.recv(65536), b""))

    def subscribe(self, **capabilities: Any) -> str:
        answer = self.ask("POST", SUBSCRIPTIONS, request(**capabilities))
        assert answer.status == 201, answer.body
        return str(answer.json["subscription_id"])

    def read(self, subscription_id: str = "", **headers: str) -> Reader:
        query = f"?subscription_id={subscription_id}" if subscription_id else ""
        return Reader(self.port, EVENTS + query, {name.replace("_", "-"): value for name, value in headers.items()})


class Answered:
    """A whole response."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reader:
    """A reader of server-sent events over HTTP/1.1 or 1.0, written here from the two standards."""

    def __init__(self, port: int, path: str, headers: dict[str, str], version: str = "1.1") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        lines = [f"GET {path} HTTP/{version}", f"Host: 127.0.0.1:{port}", "Accept: text/event-stream"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = http.client.parse_headers(self.file)
        self.chunked = self.headers.get("Transfer-Encoding") == "chunked"
        self.comments = 0
        self._text = b""

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def _more(self) -> bytes:
        if not self.chunked:
            return self.file.readline()
        size = int(self.file.readline() or b"0", 16)
        data = self.file.read(size)
        assert self.file.readline() == b"\r\n"
        return data

    def block(self) -> list[bytes]:
        """The lines up to the next blank one; none at the end of the stream."""
        while b"\n\n" not in self._text:
            more = self._more()
            if not more:
                assert not self._text
                return []
            self._text += more
        block, _, self._text = self._text.partition(b"\n\n")
        return block.split(b"\n")

    def event(self) -> dict[str, bytes] | None:
        """The fields of the next event; None at the end."""
        while lines := self.block():
            if all(line.startswith(b":") for line in lines):
                self.comments += 1
                continue
            fields: dict[str, bytes] = {}
            for line in lines:
                name, _, value = line.partition(b": ")
                assert name.decode() not in fields, "one line for each field (SSE-012)"
                fields[name.decode()] = value
            return fields
        return None

    def id(self) -> str:
        fields = self.event()
        assert fields is not None
        return fields["id"].decode()


def request(**capabilities: Any) -> dict[str, Any]:
    flags = {"supports_confirmation_reply": True, "supports_clarification_reply": True}
    levels = {"supported_conformance_levels": [1, 2, 3]}
    return {
        "type": "subscription.request",
        "aaep_version": "1.0.0",
        "subscriber_id": "test-reader",
        "capabilities": {**levels, **flags, **capabilities},
    }


def reply(subscription_id: str, token: str, **changes: Any) -> dict[str, Any]:
    return {
        "type": "confirmation.reply",
        "reply_token": token,
        "decision": "accept",
        "subscription_id": subscription_id,
        "timestamp": "2026-05-24T14:22:12.000Z",
        **changes,
    }


def close(subscription_id: str) -> dict[str, Any]:
    return {
        "type": "subscription.close",
        "subscription_id": subscription_id,
        "reason_code": "subscriber_shutdown",
        "reason_message": "Good night.",
    }


@contextmanager
def serving(terms: Offer | None = None, options: HubSettings | None = None, **door: Any) -> Iterator[Server]:
    server = Server(terms or Offer(producer=PRODUCER), options or HubSettings(), **door)
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


# -- handshake -----------------------------------------------------------------------------


def test_a_subscription_is_created_at_a_location(shared: Server) -> None:
    answer = shared.ask("POST", SUBSCRIPTIONS, request())
    assert answer.status == 201
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["type"] == "subscription.accepted"
    assert answer.headers["Location"] == f"{EVENTS}?subscription_id={answer.json['subscription_id']}"
    with Reader(shared.port, answer.headers["Location"], {}) as reader:
        assert reader.status == 200


def test_a_version_that_is_not_spoken_is_422_with_the_rejection(shared: Server) -> None:
    answer = shared.ask("POST", SUBSCRIPTIONS, {**request(), "aaep_version": "7.0.0"})
    assert (answer.status, answer.json["type"]) == (422, "subscription.rejected")
    assert answer.json["reason_code"] == "version_unsupported"


def test_too_many_subscriptions_are_429_with_a_time_to_wait() -> None:
    terms = Offer(producer=PRODUCER, max_subscriptions=1, retry_after_seconds=17)
    with serving(terms, HubSettings(max_subscriptions=1)) as server:
        server.subscribe()
        answer = server.ask("POST", SUBSCRIPTIONS, request())
    assert (answer.status, answer.json["type"]) == (429, "subscription.rejected")
    assert answer.json["reason_code"] == "rate_limit"
    assert answer.headers["Retry-After"] == str(answer.json["retry_after_seconds"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"type":"subscription.request"}',
        b'{"type":"x"}',
        b"[" * 100_000,
        b"0" * 9999,
    ],
)
def test_what_is_no_message_is_400_and_only_a_request_hears_why(shared: Server, body: bytes) -> None:
    """CF-012, CF-087"""
    answer = shared.ask("POST", REPLIES, body)
    assert (answer.status, answer.json) == (400, {"error": "invalid_request", "message": "Malformed message."})
    answer = shared.ask("POST", SUBSCRIPTIONS, body)
    assert (answer.status, answer.json["type"], answer.json["reason_code"]) == (400, "subscription.rejected", "unknown")
    assert answer.json["reason_message"].startswith("This request cannot be used. ")


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"subscriber_id": None}, "subscriber_id is missing. Add it."),
        ({"aaep_version": None}, "aaep_version is missing. Add it."),
        ({"capabilities": None}, "capabilities is missing. Add it."),
        ({"capabilities": []}, "capabilities should be an object; found a list."),
        ({"subscriber_id": 5}, "subscriber_id should be a string; found 5."),
        ({"type": None}, "type should be subscription.request."),
        ({"type": "confirmation.reply"}, "type should be subscription.request."),
    ],
)
def test_a_request_that_cannot_be_used_hears_which_member_is_wrong(shared: Server, changes: Any, wrong: str) -> None:
    """CF-087, CF-109"""
    body = {name: value for name, value in {**request(), **changes}.items() if value is not None}
    answer = shared.ask("POST", SUBSCRIPTIONS, body)
    assert answer.json["reason_message"] == f"This request cannot be used. {wrong}"


def test_what_a_request_hears_is_short_whatever_it_sent(shared: Server) -> None:
    answer = shared.ask("POST", SUBSCRIPTIONS, {**request(), "subscriber_id": 5, "subscriber_name": "\u202e" * 5000})
    assert answer.status == 400 and len(answer.body) < 1000 and "\u202e" not in answer.json["reason_message"]


def test_a_request_does_not_belong_to_the_reply_endpoint_nor_a_reply_to_the_other(shared: Server) -> None:
    assert shared.ask("POST", REPLIES, request()).status == 400
    assert shared.ask("POST", SUBSCRIPTIONS, reply(UNKNOWN, "rpl_1")).status == 400


# -- replies -------------------------------------------------------------------------------


def test_a_reply_reaches_the_session(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader:
        server.agent.ask()
        reader.event()
        answer = server.ask("POST", REPLIES, reply(name, "rpl_1"))
        assert (answer.status, answer.body) == (204, b"")
        assert server.agent.heard.wait(WAIT)
    message, via = server.agent.replies[0]
    assert (message.reply_token, via) == ("rpl_1", name)


def test_every_sound_reply_gets_the_same_answer_whatever_becomes_of_it(server: Server) -> None:
    """CF-012: the answer is no oracle, byte for byte apart from the date."""
    name = server.subscribe()
    with server.read(name) as reader:
        server.agent.ask()
        reader.event()
        tries = [
            reply(name, "rpl_1"),
            reply(name, "rpl_1"),
            reply(name, "rpl_never"),
            reply(UNKNOWN, "rpl_1"),
            reply(name, "rpl_1", decision="reject"),
            reply(name, "rpl_1", timestamp="2020-01-01T00:00:00.000Z"),
        ]
        answers = [server.ask("POST", REPLIES, one) for one in tries]
    assert {answer.status for answer in answers} == {204}
    seen = {str([item for item in answer.headers.items() if item[0] != "Date"]) for answer in answers}
    assert len(seen) == 1


def test_a_renegotiation_is_answered_with_the_new_terms(shared: Server) -> None:
    name = shared.subscribe(preferred_verbosity="normal")
    change = {"preferred_verbosity": "terse"}
    message = {"type": "subscription.renegotiate", "subscription_id": name, "capabilities": change}
    answer = shared.ask("POST", REPLIES, message)
    assert (answer.status, answer.json["type"]) == (200, "subscription.accepted")
    assert answer.json["honored_capabilities"]["preferred_verbosity"] == "terse"


def test_renegotiating_a_subscription_that_does_not_exist_is_404(shared: Server) -> None:
    message = {"type": "subscription.renegotiate", "subscription_id": UNKNOWN, "capabilities": {}}
    answer = shared.ask("POST", REPLIES, message)
    assert (answer.status, answer.json["error"]) == (404, "unknown_subscription")


def test_a_close_is_204_ends_the_stream_and_the_stream_is_then_204(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader:
        assert server.ask("POST", REPLIES, close(name)).status == 204
        assert reader.event() is None
    again = server.ask("GET", f"{EVENTS}?subscription_id={name}")
    assert (again.status, again.body) == (204, b"")


# -- the stream ----------------------------------------------------------------------------


def test_the_stream_has_the_headers_that_keep_it_flowing(server: Server) -> None:
    with server.read(server.subscribe()) as reader:
        assert reader.status == 200
        assert reader.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert reader.headers["Cache-Control"] == "no-store"
        assert reader.headers["X-Accel-Buffering"] == "no"
        assert reader.headers["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize(
    "text", ["one\r\ntwo\rthree\nfour", "a\u2028b\u2029c\u0085d", 'data: {"x":1}\n\nid: 7', "\U0001f3e6 ok"]
)
def test_an_event_is_one_line_of_data_with_its_id_whatever_its_text(server: Server, text: str) -> None:
    with server.read(server.subscribe()) as reader:
        event = server.agent.ask(text)
        fields = reader.event()
        server.agent.ask("after")
        following = reader.event()
    assert fields is not None and following is not None
    assert fields == {"id": b"evt_1", "event": b"aaep.event", "data": wire.encode(event)}
    assert json.loads(fields["data"])["action"] == text
    assert following["id"] == b"evt_2"


def test_a_large_event_arrives_whole(server: Server) -> None:
    """TR-004"""
    with server.read(server.subscribe()) as reader:
        server.agent.ask("x" * 60_000)
        fields = reader.event()
    assert fields is not None and json.loads(fields["data"])["action"] == "x" * 60_000


def test_a_reader_that_resumes_gets_what_came_after_the_event_it_names(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader:
        for _ in range(4):
            server.agent.ask()
        assert [reader.id() for _ in range(4)] == ["evt_1", "evt_2", "evt_3", "evt_4"]
    with server.read(name, Last_Event_ID="evt_2") as reader:
        assert [reader.id() for _ in range(2)] == ["evt_3", "evt_4"]
    with Reader(server.port, f"{EVENTS}?subscription_id={name}&last_event_id=evt_3", {}) as reader:
        assert reader.id() == "evt_4"
    with Reader(
        server.port, f"{EVENTS}?subscription_id={name}&last_event_id=evt_1", {"Last-Event-ID": "evt_3"}
    ) as reader:
        assert reader.id() == "evt_4"


@pytest.mark.parametrize("given", ["evt_unheard", "x" * 5000, "\u00e9\u2028", "-1", "evt_1; drop"])
def test_resuming_after_what_was_never_sent_goes_on_with_what_comes(server: Server, given: str) -> None:
    name = server.subscribe()
    line = f"GET {EVENTS}?subscription_id={name} HTTP/1.1\r\nHost: localhost:{server.port}\r\nLast-Event-ID: "
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as wire_:
        wire_.sendall(line.encode() + given.encode() + b"\r\n\r\n")
        file = wire_.makefile("rb")
        assert file.readline().split()[1] == b"200"
        server.agent.ask()
        assert any(b"evt_1" in one for one in iter(file.readline, b""))


def test_a_bare_stream_needs_no_handshake_and_can_be_switched_off() -> None:
    with serving() as server, server.read() as reader:
        assert reader.status == 200
        server.agent.ask()
        assert reader.id() == "evt_1"
    with serving(options=HubSettings(allow_bare=False)) as server:
        assert server.ask("GET", EVENTS).status == 404


@pytest.mark.parametrize(
    "query",
    [f"subscription_id={UNKNOWN}", "subscription_id=", "subscription_id=%ff%00", "subscription_id=a&subscription_id=b"],
)
def test_a_subscription_that_does_not_exist_is_404_and_never_a_bare_stream(shared: Server, query: str) -> None:
    answer = shared.ask("GET", f"{EVENTS}?{query}")
    assert (answer.status, answer.json["error"]) == (404, "unknown_subscription")


def test_of_two_readers_the_newest_wins(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as older, server.read(name) as newer:
        while (fields := older.event()) is not None:
            assert fields["event"] == b"aaep.close"
        server.agent.ask()
        assert newer.id() == "evt_1"


def test_heartbeats_are_comments_that_readers_skip() -> None:
    with serving(options=HubSettings(heartbeat_interval=0.01)) as server, server.read(server.subscribe()) as reader:
        assert [reader.block() for _ in range(4)] == [[b":"]] * 4
        server.agent.ask()
        assert reader.id() == "evt_1"


def test_an_http_1_0_reader_gets_the_same_events_without_chunks(server: Server) -> None:
    with Reader(server.port, EVENTS, {}, "1.0") as old, server.read() as new:
        assert (old.status, old.chunked, new.chunked) == (200, False, True)
        server.agent.ask()
        assert old.event() == new.event()


def test_a_reader_that_leaves_is_noticed(server: Server) -> None:
    with server.read() as reader:
        assert reader.status == 200
        assert not server.agent.gone.is_set()
    assert server.agent.gone.wait(WAIT)


def test_closing_the_hub_tells_every_reader_why_and_ends() -> None:
    with serving() as server:
        readers = [server.read(server.subscribe()) for _ in range(20)]
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
        half = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
        half.sendall(f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Le".encode())
        body = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
        head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Type: application/json\r\n"
        body.sendall(head.encode() + b"Content-Length: 10\r\n\r\n{")
        server.hub.close()
        for reader in readers:
            with reader:
                fields = reader.event()
                assert fields is not None and fields["event"] == b"aaep.close" and "id" not in fields
                assert json.loads(fields["data"])["reason_code"] == "producer_shutdown"
                assert reader.event() is None
        for line in (idle, half, body):
            line.close()
        with pytest.raises(ConnectionRefusedError):
            server.ask("GET", "/healthz")


# -- about the server ----------------------------------------------------------------------


def test_manifest_health_and_metrics(shared: Server) -> None:
    manifest = shared.ask("GET", MANIFEST)
    assert (manifest.status, manifest.headers["Content-Type"]) == (200, "application/json")
    assert manifest.json["agent_id"] == "bank-assistant"
    assert manifest.json["transports_supported"] == ["sse", "websocket"]
    assert shared.ask("GET", "/healthz").json == {"status": "ok"}
    metrics = shared.ask("GET", "/metrics")
    assert metrics.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert all(line.startswith(("#", "aaep_")) for line in metrics.body.decode().splitlines())
    assert metrics.body.endswith(b"\n")
    for path in (MANIFEST, "/healthz", "/metrics"):
        head = shared.ask("HEAD", path)
        assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    "path", ["/", "/aaep/v1", "/aaep/v2/events", "/events", "/messages", "/aaep/v1/events/", "//healthz"]
)
def test_other_paths_are_404(shared: Server, path: str) -> None:
    answer = shared.ask("GET", path)
    assert (answer.status, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", SUBSCRIPTIONS, "POST"),
        ("GET", REPLIES, "POST"),
        ("PUT", REPLIES, "POST"),
        ("POST", EVENTS, "GET"),
        ("HEAD", EVENTS, "GET"),
        ("OPTIONS", EVENTS, "GET"),
        ("DELETE", MANIFEST, "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
        ("TRACE", "/metrics", "GET, HEAD"),
    ],
)
def test_other_methods_are_405_and_say_which_are_allowed(shared: Server, method: str, path: str, allow: str) -> None:
    answer = shared.ask(method, path)
    assert (answer.status, answer.headers["Allow"]) == (405, allow)


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "application/jsonp",
        "text/plain; application/json",
        "application/json; profile=x",
        "multipart/form-data",
    ],
)
def test_other_content_types_are_415(shared: Server, kind: str) -> None:
    assert shared.ask("POST", REPLIES, close(UNKNOWN), {"Content-Type": kind}).status == 415


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"', "application/json;"]
)
def test_json_in_utf_8_may_be_spelt_out(shared: Server, kind: str) -> None:
    assert shared.ask("POST", REPLIES, close(UNKNOWN), {"Content-Type": kind}).status == 204


def test_a_missing_content_type_and_a_packed_body_are_415(shared: Server) -> None:
    head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{shared.port}\r\nConnection: close\r\nContent-Length: 2\r\n"
    assert shared.raw(head.encode() + b"\r\n{}").startswith(b"HTTP/1.1 415 ")
    assert shared.ask("POST", REPLIES, b"x", {"Content-Encoding": "gzip"}).status == 415


# -- sizes and speed -----------------------------------------------------------------------


def test_a_body_of_more_than_a_mebibyte_is_413_before_it_is_sent(shared: Server) -> None:
    head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{shared.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", shared.port), timeout=WAIT) as line:
        line.sendall(head.encode() + b"Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n")
        assert line.makefile("rb").readline().startswith(b"HTTP/1.1 413 ")


def test_a_body_of_unknown_length_is_413_once_it_is_too_long(shared: Server) -> None:
    head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{shared.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", shared.port), timeout=WAIT) as line:
        line.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(17):
            line.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
        line.sendall(b"0\r\n\r\n")
        assert line.makefile("rb").readline().startswith(b"HTTP/1.1 413 ")


def test_a_message_of_a_mebibyte_is_taken(shared: Server) -> None:
    message = json.dumps(close(UNKNOWN)).encode()
    padded = message + b" " * (1_048_576 - len(message))
    assert shared.ask("POST", REPLIES, padded).status == 204
    assert shared.ask("POST", REPLIES, padded + b" ").status == 413


def test_who_expects_to_be_told_to_go_on_is_told_so(shared: Server) -> None:
    body = json.dumps(close(UNKNOWN)).encode()
    head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{shared.port}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(("127.0.0.1", shared.port), timeout=WAIT) as line:
        file = line.makefile("rb")
        line.sendall(head.encode())
        assert file.readline().startswith(b"HTTP/1.1 100 ")
        assert file.readline() == b"\r\n"
        line.sendall(body)
        assert file.readline().startswith(b"HTTP/1.1 204 ")
    assert shared.ask("POST", REPLIES, body, {"Expect": "a miracle"}).status == 417


def test_who_does_not_finish_is_not_waited_for() -> None:
    with serving(request_timeout=1.0) as server, ThreadPoolExecutor(3) as pool:
        head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Type: application/json\r\n"
        halves = (head.encode() + b"Content-Length: 9\r\n\r\n{", b"GET /healthz HTTP/1.1\r\nHost: loc", b"")
        with server.read(server.subscribe()) as reader:
            body, line, nothing = pool.map(server.raw, halves)  # which are let go when the patience is over
            assert body.startswith(b"HTTP/1.1 408 ")
            assert line == nothing == b""
            server.agent.ask()  # a stream may last
            assert reader.id() == "evt_1"


def test_who_sends_a_request_and_says_no_more_is_answered_all_the_same(shared: Server) -> None:
    body = json.dumps(close(UNKNOWN)).encode()
    head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{shared.port}\r\nContent-Type: application/json\r\n"
    for length, status in ((len(body), b"204"), (len(body) - 1, b"400"), (len(body) + 1, None)):
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", shared.port), timeout=WAIT) as line:
                line.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode() + body[:length])
                line.shutdown(socket.SHUT_WR)
                said = b"".join(iter(lambda: line.recv(65536), b""))
                assert said.split(b" ")[1:2] in ([[status]] if status else [[], [b"400"]])


def test_a_reader_that_says_no_more_has_left(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader:
        reader.socket.shutdown(socket.SHUT_WR)
        assert reader.event() is None
    with server.read(name) as reader:
        server.agent.ask()
        assert reader.id() == "evt_1"


def test_a_reader_that_takes_nothing_keeps_nobody_from_closing() -> None:
    with serving() as server, server.read(server.subscribe()), server.read(server.subscribe()) as healthy:
        for _ in range(150):
            server.agent.ask("x" * 60_000)
        for count in range(150):
            assert healthy.id() == f"evt_{count + 1}"
        server.hub.close()
        fields = healthy.event()
        assert fields is not None and fields["event"] == b"aaep.close"


def test_requests_one_after_another_on_one_connection(shared: Server) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", shared.port, timeout=WAIT)) as line:
        for path, status in (("/healthz", 200), ("/nowhere", 404), ("/metrics", 200)):
            line.request("GET", path)
            assert Answered(line.getresponse()).status == status


def test_a_reply_is_answered_alike_to_who_stays_and_who_leaves(shared: Server) -> None:
    """The first is answered without the library; but for what it says of the connection it is one answer."""
    body = json.dumps(close(UNKNOWN)).encode()
    posted = f"POST {REPLIES} HTTP/1.%d\r\nHost: localhost:{shared.port}\r\nContent-Type: application/json\r\n"
    posted += f"Content-Length: {len(body)}\r\n%s\r\n{body.decode()}"
    said = shared.raw((posted % (1, "") + posted % (1, "") + posted % (1, "Connection: close\r\n")).encode())
    first, second, last, rest = said.split(b"\r\n\r\n")
    assert rest == b"" and first.startswith(b"HTTP/1.1 204 No Content\r\nServer: aaep\r\n")
    assert [line[:5] for line in first.split(b"\r\n")] == [line[:5] for line in second.split(b"\r\n")]
    assert [line[:5] for line in last.split(b"\r\n")] == [*[line[:5] for line in first.split(b"\r\n")], b"Conne"]
    old = http.client.parse_headers(io.BytesIO(first.partition(b"\r\n")[2] + b"\r\n\r\n"))
    assert parsedate_to_datetime(old["Date"]).tzinfo is not None and old["Cache-Control"] == "no-store"
    assert shared.raw((posted % (0, "")).encode()).startswith(b"HTTP/1.0 204 No Content\r\n")


# -- web pages -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", EVENTS, MANIFEST, "/metrics"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "file://", ""]
)
def test_a_web_page_may_not_even_read(shared: Server, path: str, origin: str) -> None:
    answer = shared.ask("GET", path, headers={"Origin": origin})
    assert (answer.status, answer.json["error"]) == (403, "forbidden_origin")
    assert answer.headers["Access-Control-Allow-Origin"] is None


def test_a_web_page_may_not_answer_for_its_reader(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader:
        server.agent.ask()
        reader.event()
        forged = server.ask("POST", REPLIES, reply(name, "rpl_1"), {"Origin": "https://evil.example"})
        assert forged.status == 403
        assert server.ask("OPTIONS", REPLIES, headers={"Origin": "https://evil.example"}).status == 403
        assert server.ask("GET", EVENTS, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
        server.agent.ask()
        reader.event()  # whatever was forwarded would have been by now
    assert server.agent.replies == []


def test_our_own_page_and_no_page_are_let_in(shared: Server) -> None:
    own = {"Origin": f"http://127.0.0.1:{shared.port}", "Sec-Fetch-Site": "same-origin"}
    assert shared.ask("GET", "/healthz", headers=own).status == 200
    assert shared.ask("GET", "/healthz", headers={"Sec-Fetch-Site": "none"}).status == 200


def test_a_page_on_the_list_is_let_in_and_told_so() -> None:
    page = "https://reader.example"
    with serving(origins=[page]) as server:
        answer = server.ask("POST", SUBSCRIPTIONS, request(), {"Origin": page, "Sec-Fetch-Site": "cross-site"})
        assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (201, page)
        assert "Location" in answer.headers["Access-Control-Expose-Headers"]
        asked = server.ask("OPTIONS", REPLIES, headers={"Origin": page, "Access-Control-Request-Method": "POST"})
        assert (asked.status, asked.headers["Access-Control-Allow-Methods"]) == (204, "POST")
        assert "Content-Type" in asked.headers["Access-Control-Allow-Headers"]
        replied = server.ask("POST", REPLIES, close(UNKNOWN), {"Origin": page, "Sec-Fetch-Site": "cross-site"})
        assert (replied.status, replied.headers["Access-Control-Allow-Origin"]) == (204, page)
        assert server.ask("POST", REPLIES, close(UNKNOWN)).headers["Access-Control-Allow-Origin"] is None
        with server.read(Origin=page) as reader:
            assert reader.headers["Access-Control-Allow-Origin"] == page
        assert server.ask("GET", "/healthz", headers={"Origin": page + ".evil.example"}).status == 403
        assert server.ask("GET", "/healthz", headers={"Origin": page}).headers["Vary"] == "Origin"


@pytest.mark.parametrize("origin", ["*", "reader.example", "https://reader.example/", "https://Reader.example"])
def test_what_is_no_origin_cannot_be_on_the_list(origin: str) -> None:
    with pytest.raises(AaepError, match="not an origin"), serving(origins=[origin]):
        pass


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "localhost", "127.0.0.1:1", "localhost.evil:{port}"]
)
@pytest.mark.parametrize("path", ["/healthz", EVENTS])
def test_a_name_that_was_pointed_at_this_machine_is_no_way_in(shared: Server, host: str, path: str) -> None:
    answer = shared.ask("GET", path, headers={"Host": host.format(port=shared.port)})
    assert (answer.status, answer.json["error"]) == (421, "misdirected_request")


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("evil.example", "This server answers to loopback names only."),
        ("127.0.0.1:1", "The request is addressed to port 1, and this server listens on port {port}."),
        ("localhost", "The request is addressed to the default port, and this server listens on port {port}."),
    ],
)
def test_it_is_said_whether_the_name_or_the_port_is_another(shared: Server, host: str, reason: str) -> None:
    answer = shared.ask("GET", "/healthz", headers={"Host": host})
    assert answer.json["message"].startswith(reason.format(port=shared.port))


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "127.9.9.9:{port}", "[::1]:{port}"])
def test_every_loopback_name_is_ours(shared: Server, host: str) -> None:
    assert shared.ask("GET", "/healthz", headers={"Host": host.format(port=shared.port)}).status == 200


def test_further_hosts_can_be_listed() -> None:
    with serving(hosts=["agent.test"]) as server:
        assert server.ask("GET", "/healthz", headers={"Host": "agent.test"}).status == 200
        assert server.ask("GET", "/healthz", headers={"Host": "other.test"}).status == 421


def test_one_host_is_needed_and_the_request_line_may_not_name_another(shared: Server) -> None:
    ours = f"Host: localhost:{shared.port}\r\nConnection: close\r\n"
    assert b" 400 " in shared.raw(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n").splitlines()[0]
    assert b" 400 " in shared.raw(f"GET /healthz HTTP/1.1\r\n{ours}Host: evil\r\n\r\n".encode()).splitlines()[0]
    other = shared.raw(f"GET http://evil.example/healthz HTTP/1.1\r\n{ours}\r\n".encode())
    assert other.startswith(b"HTTP/1.1 400 ")
    same = shared.raw(f"GET http://localhost:{shared.port}/healthz HTTP/1.1\r\n{ours}\r\n".encode())
    assert same.startswith(b"HTTP/1.1 200 ")


# -- credentials and networks --------------------------------------------------------------


def test_with_a_token_every_request_needs_it_but_the_one_for_health() -> None:
    """SEC-006, SUB-052"""
    right = {"Authorization": f"Bearer {TOKEN}"}
    with serving(token=TOKEN) as server:
        for headers in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": TOKEN},
            {"Authorization": f"Basic {TOKEN}"},
        ):
            for method, path in (
                ("GET", EVENTS),
                ("GET", MANIFEST),
                ("GET", "/metrics"),
                ("GET", "/x"),
                ("POST", REPLIES),
            ):
                answer = server.ask(method, path, headers=headers)
                assert (answer.status, answer.json["error"]) == (401, "authentication_required")
                assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert server.ask("GET", "/healthz").status == 200
        assert server.ask("GET", MANIFEST, headers=right).status == 200
        assert server.ask("GET", MANIFEST, headers={"Authorization": f"bearer {TOKEN}"}).status == 200
        rejected = server.ask("POST", SUBSCRIPTIONS, request())
        assert (rejected.status, rejected.json["reason_code"]) == (401, "authentication_required")
        assert rejected.json["type"] == "subscription.rejected"
        accepted = server.ask("POST", SUBSCRIPTIONS, request(), right)
        assert accepted.status == 201
        with server.read(accepted.json["subscription_id"], **right) as reader:
            assert reader.status == 200


def test_who_has_no_token_is_told_so_before_a_body_is_read() -> None:
    with serving(token=TOKEN) as server, socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as line:
        head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Type: application/json\r\n"
        line.sendall(head.encode() + b"Content-Length: 1000\r\n\r\n")
        assert line.makefile("rb").readline().startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "naïve"])
def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    with pytest.raises(AaepError, match="token"), serving(token=token):
        pass


@pytest.mark.parametrize("url", ["http://0.0.0.0:0", "http://[::]:0", "http://192.0.2.1:0"])
@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_network_is_not_listened_to_without_encryption_and_a_credential(url: str, token: str | None) -> None:
    """SEC-004, TR-024, TR-027"""
    with pytest.raises(AaepError, match="needs TLS and a credential") as caught, serving(url=url, token=token):
        pass
    assert "127.0.0.1" in str(caught.value) and "token=" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "door", "said"),
    [
        ("https://127.0.0.1:0", {}, "cert="),
        ("https://127.0.0.1:0", {"cert": "/nowhere.pem"}, "cannot be used"),
        ("https://127.0.0.1:0", {"key": "/nowhere.pem"}, "cert="),
        ("http://127.0.0.1:0", {"cert": "/nowhere.pem"}, "https://"),
        ("http://127.0.0.1:0/agents", {}, "/agents"),
        ("http://me:secret@127.0.0.1:0", {}, "token="),
        ("http://127.0.0.1:99999", {}, "not a URL"),
        ("http://127.0.0.1:0?x=y", {}, "address"),
    ],
)
def test_an_address_that_cannot_be_served_says_what_to_do(url: str, door: dict[str, Any], said: str) -> None:
    with pytest.raises(AaepError) as caught, serving(url=url, **door):
        pass
    assert said in str(caught.value) and "secret" not in str(caught.value)


def test_a_port_in_use_says_so_and_port_0_takes_another(shared: Server) -> None:
    with pytest.raises(AaepError, match=f"Port {shared.port} is in use"), serving(url=shared.url):
        pass
    with serving() as server:
        assert server.port not in (0, shared.port)


def test_loopback_is_the_default_and_names_work() -> None:
    with serving(url="http://localhost:0") as server:
        assert server.url == f"http://localhost:{server.port}"
        assert server.ask("GET", "/healthz").status == 200
    with serving(url="http://:0") as server:
        assert server.url == f"http://127.0.0.1:{server.port}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder: Path = tmp_path_factory.mktemp("tls")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        [*make.split(), "-addext", names, "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    return cert, key


def test_a_network_is_served_with_encryption_and_a_token(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    trust = ssl.create_default_context(cafile=cert)
    with serving(url="https://0.0.0.0:0", cert=cert, key=key, token=TOKEN) as server:
        url = f"https://127.0.0.1:{server.port}"

        async def listen() -> ReceivedMessage:
            async with opened(connect(url, ConnectOptions(token=TOKEN, tls=Tls(context=trust)))) as channel:
                name = json.loads(await channel.request(json.dumps(request()).encode()))["subscription_id"]
                async with aclosing(channel.receive_messages(name)) as arrivals:
                    server.agent.ask("encrypted")
                    return await anext(arrivals)

        async def distrust() -> None:
            async with opened(connect(url, ConnectOptions(token=TOKEN))) as channel:
                await channel.manifest()

        assert run(listen).id == "evt_1"
        with pytest.raises(ChannelRefused, match="certificate"):
            run(distrust)


class Forgetful(asyncio.Transport):
    """As asyncio's over TLS: when it is closed a second time, which aiohttp may do, it forgets what it was."""

    forgot = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if self.forgot:
            raise AttributeError("'NoneType' object has no attribute '_get_extra_info'")
        return object() if name == "sslcontext" else default

    def get_write_buffer_size(self) -> int:
        raise AttributeError("'NoneType' object has no attribute '_get_write_buffer_size'")

    def is_closing(self) -> bool:
        return self.forgot

    def close(self) -> None:
        self.forgot = True

    def abort(self) -> None:
        self.forgot = True


def test_the_end_of_an_encrypted_connection_is_taken_after_it_was_closed() -> None:
    async def ended() -> bool:
        wire, server = Forgetful(), SimpleNamespace(is_closed=False, connections=set(), forget=lambda connection: None)
        connection = HttpConnection(cast(Any, server), web.Server(cast(Any, None)), 1.0)
        connection.connection_made(wire)
        wire.close()
        stay = connection.eof_received()
        connection.connection_lost(None)
        return stay

    assert run(ended) is False


def test_a_server_closes_after_its_encrypted_connections() -> None:
    async def closed() -> None:
        unused = cast(Any, None)
        server = HttpServer(
            unused, unused, "wss://127.0.0.1:1", port=1, is_local=True, max_message_bytes=1, request_timeout=1.0
        )
        cast(Any, server)._listening = SimpleNamespace(close=lambda: None)
        connection = server.make_connection()
        connection.connection_made(Forgetful())
        await server.close()
        connection.connection_lost(None)

    run(closed)


# -- anything at all -----------------------------------------------------------------------

_paths = st.one_of(
    st.sampled_from(
        [SUBSCRIPTIONS, REPLIES, EVENTS, MANIFEST, "/healthz", "/metrics", EVENTS + "?subscription_id=sub_1"]
    ),
    st.binary(max_size=40).map(lambda data: "/" + data.decode("latin-1")),
    st.text(max_size=20),
)
_methods = st.one_of(
    st.sampled_from(["GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "QUERY"]), st.text(max_size=8)
)
_names = st.sampled_from(
    """Host Origin Accept Content-Type Content-Encoding Content-Length Transfer-Encoding Expect Upgrade Connection
    Authorization Last-Event-ID Sec-Fetch-Site Cookie Range X-Other""".split()
)
_values = st.one_of(
    st.sampled_from(
        ["application/json", "chunked", "100-continue", "websocket", "Upgrade", "gzip", "close", "-1", "5"]
    ),
    st.binary(max_size=20).map(lambda data: data.decode("latin-1")),
)
_bodies = st.one_of(
    st.binary(max_size=80),
    st.sampled_from([request(), reply(UNKNOWN, "rpl_1"), close(UNKNOWN)]).map(lambda one: json.dumps(one).encode()),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "capabilities", "x"]), inner)
        ),
        max_leaves=6,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(
    method=_methods,
    path=_paths,
    headers=st.lists(st.tuples(_names, _values), max_size=4),
    body=_bodies,
    sound=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_nothing_that_is_sent_makes_the_server_fail(
    shared: Server, method: str, path: str, headers: list[tuple[str, str]], body: bytes, sound: bool
) -> None:
    lines = [f"{method} {path} HTTP/1.1"]
    if sound:
        lines += [f"Host: localhost:{shared.port}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    with socket.create_connection(("127.0.0.1", shared.port), timeout=WAIT) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode("utf-8") + body)
        line.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: line.recv(65536), b""))
    first = said.split(b"\r\n", 1)[0]
    assert not said or first.split()[1][:1] in (b"1", b"2", b"4"), first
    assert shared.ask("GET", "/healthz").status == 200


def test_curl_can_take_part(server: Server) -> None:
    """TR-042: the usual tools are enough."""
    curl = ["curl", "--silent", "--show-error", "--no-buffer", "--max-time", str(WAIT)]
    posted = [*curl, "-H", "Content-Type: application/json", "-d", json.dumps(request()), server.url + SUBSCRIPTIONS]
    name = json.loads(subprocess.run(posted, check=True, capture_output=True).stdout)["subscription_id"]
    with subprocess.Popen([*curl, f"{server.url}{EVENTS}?subscription_id={name}"], stdout=subprocess.PIPE) as listening:
        assert listening.stdout is not None
        server.hub.wait_for_reader(replies=True).wait(WAIT)
        server.agent.ask("a\u2028b")
        lines = iter(listening.stdout.readline, b"")
        data = next(line for line in lines if line.startswith(b"data: "))
        assert json.loads(data[6:])["action"] == "a\u2028b"
        server.hub.close()
        assert b"event: aaep.close\n" in [*lines]
        assert listening.wait(WAIT) == 0


# -- our own client ------------------------------------------------------------------------


T = TypeVar("T")


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(work(), WAIT)

    return asyncio.run(bounded())


@asynccontextmanager
async def opened(channel: HttpChannel) -> AsyncIterator[HttpChannel]:
    try:
        yield channel
    finally:
        await channel.close()


def encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


def test_the_channel_shakes_hands_listens_replies_renegotiates_and_closes(server: Server) -> None:
    async def take_part() -> list[ReceivedMessage]:
        async with opened(connect(server.url)) as channel:
            assert json.loads(await channel.manifest())["agent_id"] == "bank-assistant"
            name = json.loads(await channel.request(encoded(request())))["subscription_id"]
            seen = []
            async with aclosing(channel.receive_messages(name)) as arrivals:
                server.agent.ask()
                seen.append(await anext(arrivals))
                await channel.send(encoded(reply(name, "rpl_1")))
                change = {"preferred_verbosity": "terse"}
                message = {"type": "subscription.renegotiate", "subscription_id": name, "capabilities": change}
                assert json.loads(await channel.request(encoded(message)))["type"] == "subscription.accepted"
                server.agent.ask()
                seen.append(await anext(arrivals))
            async with aclosing(channel.receive_messages(name, "evt_1")) as arrivals:
                seen.append(await anext(arrivals))
            await channel.send(encoded(close(name)))
            with pytest.raises(ChannelRefused) as caught:
                await anext(channel.receive_messages(name))
            assert caught.value.gone
            return seen

    assert [one.id for one in run(take_part)] == ["evt_1", "evt_2", "evt_2"]
    assert server.agent.heard.wait(WAIT)


def test_the_producers_close_arrives_without_an_id_and_then_the_stream_ends(server: Server) -> None:
    async def listen() -> list[ReceivedMessage]:
        async with opened(connect(server.url)) as channel:
            name = json.loads(await channel.request(encoded(request())))["subscription_id"]
            asked = asyncio.create_task(collect(channel, name))
            await server.hub.wait_for_reader(replies=True)
            await asyncio.to_thread(server.hub.close)
            return await asked

    (arrival,) = run(listen)
    assert arrival.id == "" and json.loads(arrival.data)["reason_code"] == "producer_shutdown"


async def collect(channel: HttpChannel, name: str = "") -> list[ReceivedMessage]:
    return [arrival async for arrival in channel.receive_messages(name)]


def test_a_rejection_is_an_answer_and_a_refusal_is_not(shared: Server) -> None:
    async def ask() -> None:
        async with opened(connect(shared.url)) as channel:
            rejected = await channel.request(encoded({**request(), "aaep_version": "9.0.0"}))
            assert json.loads(rejected)["reason_code"] == "version_unsupported"
            with pytest.raises(ChannelRefused, match=r"400: Malformed message\.") as caught:
                await channel.request(b"{}")
            assert not caught.value.gone
            with pytest.raises(ChannelRefused, match="400"):
                await channel.send(b"{}")
            with pytest.raises(ChannelRefused, match="404") as unknown:
                await collect(channel, UNKNOWN)
            assert unknown.value.gone

    run(ask)


def test_a_wrong_token_is_told_by_the_rejection_and_elsewhere_by_an_error() -> None:
    with serving(token=TOKEN) as server:

        async def ask() -> None:
            async with opened(connect(server.url, ConnectOptions(token="wrong"))) as channel:
                answer = json.loads(await channel.request(encoded(request())))
                assert answer["reason_code"] == "authentication_required"
                with pytest.raises(ChannelRefused, match="401"):
                    await channel.manifest()
                with pytest.raises(ChannelRefused, match="401"):
                    await collect(channel)

        run(ask)


def test_nobody_there_is_a_lost_channel_and_so_is_a_closed_one() -> None:
    async def ask() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        async with opened(connect(f"http://127.0.0.1:{port}")) as channel:
            with pytest.raises(ChannelLost, match="Nobody answers"):
                await channel.request(encoded(request()))
            await channel.close()
            await channel.close()
            with pytest.raises(ChannelLost, match="closed"):
                await channel.manifest()

    run(ask)


@pytest.mark.parametrize(
    "url", ["ftp://x", "http://", "http://me:pw@localhost", "http://localhost:x", "localhost:8137"]
)
def test_what_is_no_address_is_said_so(url: str) -> None:
    with pytest.raises(AaepError):
        connect(url)


def test_a_token_is_not_sent_over_a_network_in_the_clear() -> None:
    with pytest.raises(AaepError, match="unencrypted"):
        connect("http://agent.example:8137", ConnectOptions(token=TOKEN))


@pytest.mark.parametrize(
    ("scheme", "channel"),
    [("http", HttpChannel), ("https", HttpChannel), ("ws", WebSocketChannel), ("wss", WebSocketChannel)],
)
def test_four_schemes_find_this_transport(scheme: str, channel: type) -> None:
    assert find_transport(f"{scheme}://x").serve is serve
    assert isinstance(find_transport(f"{scheme}://x").connect(f"{scheme}://x"), channel)


def test_proxies_of_the_environment_are_not_for_this_machine(shared: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")

    async def ask() -> bytes:
        async with opened(connect(shared.url)) as channel:
            return await channel.manifest()

    assert json.loads(run(ask))["agent_id"] == "bank-assistant"


# -- our own client, and servers that are not ours -----------------------------------------


class Script:
    """A server that says what it is told to, and notes what it was asked."""

    def __init__(self, *answers: bytes, hold: bool = False, trust: ssl.SSLContext | None = None) -> None:
        self.answers = [*answers]
        self.hold = hold  # leave the connection open after the last
        self.trust = trust
        self.asked: list[bytes] = []

    async def __aenter__(self) -> Script:
        self.server = await asyncio.start_server(self._talk, "127.0.0.1", 0, ssl=self.trust)
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self.trust else 'http'}://127.0.0.1:{self.port}"
        self.open: list[asyncio.StreamWriter] = []
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for writer in self.open:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.append(writer)
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head)
        writer.write(self.answers.pop(0).replace(b"PORT", str(self.port).encode()))
        await writer.drain()
        if not self.hold:
            writer.close()


def told(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            STREAM + b"Transfer-Encoding: chunked\r\n\r\n5\r\n: hi\n\r\n",
            "ended in the middle. The agent may have stopped.",
        ),
        (STREAM + b"Content-Length: 50\r\n\r\n: hi\n", "ended in the middle. The agent may have stopped."),
        (STREAM + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "cannot be read as HTTP. Is this an AAEP server?"),
        (b"nonsense\r\n\r\n", "cannot be read as HTTP. Is this an AAEP server?"),
    ],
)
def test_a_connection_that_breaks_is_told_in_plain_words(answer: bytes, said: str) -> None:
    async def ask() -> None:
        async with Script(answer) as script, opened(connect(script.url)) as channel:
            with pytest.raises(ChannelLost) as caught:
                await collect(channel)
            assert str(caught.value).endswith(f" {said}") and script.url in str(caught.value)

    run(ask)


def test_other_machines_are_reached_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> bytes:
        async with Script(told("200 OK", b"{}")) as script:
            monkeypatch.setenv("http_proxy", script.url)
            monkeypatch.setenv("no_proxy", "")
            async with opened(connect("http://agent.example:8137")) as channel:
                assert await channel.manifest() == b"{}"
            return script.asked[0]

    assert run(ask).startswith(b"GET http://agent.example:8137/.well-known/aaep-manifest.json ")


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/x", "http://127.0.0.1:PORT/y", "http://evil.example", "//evil", "", "http://[::1", "//x:y"],
)
@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x"])
def test_a_redirect_elsewhere_is_not_followed(status: str, target: str) -> None:
    async def ask() -> None:
        async with Script(told(status, b"", f"Location: {target}")) as script, opened(connect(script.url)) as channel:
            with pytest.raises(ChannelRefused, match="elsewhere"):
                await channel.request(encoded(request()))
            assert len(script.asked) == 1

    run(ask)


def test_a_redirect_within_one_https_origin_is_followed(certificate: tuple[str, str]) -> None:
    trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trust.load_cert_chain(*certificate)
    there, manifest = told("307 x", b"", "Location: /other"), told("200 OK", b"{}")

    async def ask() -> None:
        async with Script(there, manifest, told("301 x", b"", "Location: /a"), *[there] * 9, trust=trust) as script:
            known = ssl.create_default_context(cafile=certificate[0])
            async with opened(connect(script.url, ConnectOptions(token=TOKEN, tls=Tls(context=known)))) as channel:
                assert await channel.manifest() == b"{}"
                assert script.asked[1].startswith(b"GET /other ") and TOKEN.encode() in script.asked[1]
                with pytest.raises(ChannelRefused, match="elsewhere"):
                    await channel.send(encoded(close(UNKNOWN)))  # 301 would turn a POST into a GET
                with pytest.raises(ChannelRefused, match="keeps redirecting"):
                    await channel.manifest()

    run(ask)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (told("500 x", b"<html>"), ChannelLost),
        (told("503 x", b'{"message":7}'), ChannelLost),
        (told("418 x", b"\xff"), ChannelRefused),
        (told("200 OK", b"hello"), ChannelRefused),
        (told("200 OK", b"{" * 9000), ChannelRefused),
        (told("200 OK", b" " * 1_048_577), ChannelRefused),
        (b"SSH-2.0-OpenSSH\r\n\r\n", ChannelLost),
        (b"", ChannelLost),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", ChannelLost),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_ours(answer: bytes, error: type[AaepError]) -> None:
    async def ask() -> None:
        async with Script(answer) as script, opened(connect(script.url)) as channel:
            with pytest.raises(error):
                await channel.request(encoded(request()))

    run(ask)


def test_the_stream_is_asked_for_as_the_binding_says() -> None:
    """SSE-021"""

    async def ask() -> bytes:
        async with (
            Script(STREAM + b"Connection: close\r\n\r\n") as script,
            opened(connect(script.url, ConnectOptions(token=TOKEN))) as channel,
        ):
            assert [one async for one in channel.receive_messages("sub_1", "evt_9")] == []
            return script.asked[0]

    head = run(ask).decode().lower().split("\r\n")
    assert head[0] == "get /aaep/v1/events?subscription_id=sub_1 http/1.1"
    wanted = [
        "accept: text/event-stream",
        "cache-control: no-cache",
        "last-event-id: evt_9",
        f"authorization: bearer {TOKEN}",
    ]
    assert {*wanted} <= {*head}


def test_a_location_of_another_server_is_not_where_the_stream_is_read() -> None:
    accepted = b'{"type":"subscription.accepted","subscription_id":"sub_7"}'
    first = told("201 x", accepted, "Location: http://evil.example/aaep/v1/events?subscription_id=sub_7")
    other = told("201 x", accepted, "Location: /aaep/v1/events?subscription_id=sub_7&shard=2")

    async def ask() -> list[bytes]:
        stream = STREAM + b"Connection: close\r\n\r\n"
        async with Script(first, stream, other, stream) as script, opened(connect(script.url)) as channel:
            for _ in range(2):
                await channel.request(encoded(request()))
                await collect(channel, "sub_7")
            return script.asked

    asked = run(ask)
    assert asked[1].startswith(b"GET /aaep/v1/events?subscription_id=sub_7 ")
    assert asked[3].startswith(b"GET /aaep/v1/events?subscription_id=sub_7&shard=2 ")


def test_a_stream_that_falls_silent_is_lost() -> None:
    async def ask() -> None:
        body = b'\r\nid: evt_1\ndata: {"a":1}\n\n'
        async with (
            Script(STREAM + body, hold=True) as script,
            opened(connect(script.url, ConnectOptions(max_silence=0.1))) as channel,
        ):
            arrivals = channel.receive_messages("")
            assert await anext(arrivals) == ReceivedMessage(b'{"a":1}', "evt_1")
            with pytest.raises(ChannelLost, match="for too long"):
                await anext(arrivals)

    run(ask)


def test_a_stream_that_breaks_off_is_lost() -> None:
    async def ask() -> None:
        async with (
            Script(STREAM + b"Transfer-Encoding: chunked\r\n\r\n5\r\n:") as script,
            opened(connect(script.url)) as channel,
        ):
            with pytest.raises(ChannelLost):
                await collect(channel)

    run(ask)


def test_what_is_no_stream_is_refused_and_what_is_no_message_is_told_as_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    body = b'\r\ndata: oops\n\nevent: aaep.close\nid: evt_3\ndata: {"b":2}\n\n'

    async def ask() -> list[ReceivedMessage]:
        page = told("200 OK", b"<p>", "Content-Type: text/html")
        async with Script(page, STREAM + body) as script, opened(connect(script.url)) as channel:
            with pytest.raises(ChannelRefused, match="no event stream"):
                await collect(channel)
            return await collect(channel)

    assert run(ask) == [ReceivedMessage(b""), ReceivedMessage(b'{"b":2}', event="aaep.close")]
    assert "skipped" in caplog.text
