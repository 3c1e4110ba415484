"""The WebSocket transport, spoken to with sockets and with another library: nothing of ours is trusted to judge it."""

from __future__ import annotations

import asyncio
import http.client
import http.server
import json
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as dial_with
from websockets.sync.server import Server as OtherServer
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_otherwise
from websockets.typing import Subprotocol

from aaep.errors import AaepError
from aaep.hub.hub import Hub
from aaep.hub.settings import HubSettings
from aaep.identity.credentials import Credentials, Unauthorised
from aaep.identity.peer import Peer
from aaep.journal.memory import MemoryJournal
from aaep.producer.producer import Producer
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.events import AwaitingConfirmation, SessionCompleted
from aaep.protocol.messages import SubscriptionClose
from aaep.protocol.negotiation import Offer
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import ChannelLost, ChannelRefused, find_transport
from aaep.transports.http.guard import Refusal
from aaep.transports.http.tickets import Tickets
from aaep.transports.http.websocket_server import MaskedFrames, choose_close_code
from aaep.transports.options import ConnectOptions
from tests.asking import Asker
from tests.end_to_end.readers import reply
from tests.options import connect_options
from tests.serving import served
from tests.transports.test_http import PRODUCER

WAIT = 60.0  # how long a broken build may keep a test waiting
PLACE, TICKETS = "/aaep/v1/ws", "/aaep/v1/tickets"
ANSWERS = {
    "supports_confirmation_reply": True,
    "supports_clarification_reply": True,
    "supported_conformance_levels": [1, 2, 3],
    "supported_extensions": [ATTEND.namespace],
}
OFFER = Offer(producer=PRODUCER, namespaces=(ATTEND.namespace,))
Json = dict[str, Any]


def request(**changes: Any) -> str:
    message = {
        "type": "subscription.request",
        "aaep_version": "1.0.0",
        "subscriber_id": "another",
        "subscriber_name": "Another library",
        "capabilities": ANSWERS,
    }
    return json.dumps(message | changes)


class Server:
    """A hub behind a WebSocket, and an agent that asks through it."""

    def __init__(self, options: HubSettings | None = None, offer: Offer = OFFER, **door: Any) -> None:
        self.hub = Hub(offer, MemoryJournal(), settings=options)
        try:
            self.url = served(self.hub, "ws://127.0.0.1:0", **door)
        except BaseException:
            self.hub.close()
            raise
        self.place = urlsplit(self.url).netloc
        self.agent = Asker(self.hub)

    def dial(self, **options: Any) -> ClientConnection:
        options = {"subprotocols": [Subprotocol("aaep.v1")], "compression": None, **options}
        made = dial_with(
            f"{self.url}{PLACE}",
            open_timeout=WAIT,
            close_timeout=WAIT,
            proxy=None,
            **{"ping_interval": None, **options},
        )
        line: ClientConnection = made.__enter__()
        return line

    def reader(self, **capabilities: Any) -> tuple[ClientConnection, str]:
        """A subscriber, and the id of its subscription."""
        line = self.dial()
        line.send(request(capabilities=ANSWERS | capabilities))
        answer = hear(line)
        assert answer["type"] == "subscription.accepted", answer
        return line, answer["subscription_id"]

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, Json]:
        """What plain HTTP is answered."""
        with closing(http.client.HTTPConnection(self.place, timeout=WAIT)) as line:
            line.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            response = line.getresponse()
            return response.status, json.loads(response.read() or b"{}")


@contextmanager
def serving(options: HubSettings | None = None, offer: Offer = OFFER, **door: Any) -> Iterator[Server]:
    server = Server(options, offer, **door)
    try:
        yield server
    finally:
        server.hub.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


def hear(line: ClientConnection) -> Json:
    raw = line.recv(timeout=WAIT)
    assert isinstance(raw, str)  # WS-005
    message: Json = json.loads(raw)
    return message


def ending(line: ClientConnection) -> tuple[list[Json], int | None]:
    """What is still said, and the code of the close."""
    said = []
    try:
        while True:
            said.append(hear(line))
    except ConnectionClosed as closed:
        return said, None if closed.rcvd is None else closed.rcvd.code


def settled(line: ClientConnection) -> None:
    """Until the server has taken everything that was sent so far."""
    assert line.ping().wait(WAIT)


# -- both ways ---------------------------------------------------------------------------------


def test_a_client_of_another_library_subscribes_listens_and_answers(server: Server) -> None:
    """WS-002"""
    line, name = server.reader()
    with line:
        assert line.subprotocol == "aaep.v1"
        event = server.agent.ask()
        prompt = hear(line)
        assert prompt["event_id"] == event.event_id
        line.send(reply(prompt, name).decode())
        assert server.agent.heard.wait(WAIT)
        message, via = server.agent.replies[0]
        assert (message.reply_token, via) == (prompt["reply_token"], name)
        settled(line)
        server.agent.ask()
        assert hear(line)["type"] == event.type  # WS-009: nothing was said of the reply in between


def test_messages_may_be_binary_or_in_pieces(server: Server) -> None:
    with server.dial() as line:
        line.send(request().encode())  # CF-099
        name = hear(line)["subscription_id"]
        server.agent.ask()
        whole = reply(hear(line), name).decode()
        line.send(iter([whole[:5], whole[5:6], whole[6:]]))
        assert server.agent.heard.wait(WAIT)


def test_frames_of_every_length_arrive_whole(server: Server) -> None:
    """TR-004"""
    line, _ = server.reader()
    with line:
        for size in (1, 50, 200, 2000, 60_000, 70_000):
            server.agent.ask("x" * size)
            assert hear(line)["action"] == "x" * size


def test_terms_can_be_changed_on_the_way(server: Server) -> None:
    line, name = server.reader()
    with line:
        change = {"type": "subscription.renegotiate", "subscription_id": name}
        line.send(json.dumps(change | {"capabilities": {"preferred_verbosity": "terse"}}))
        answer = hear(line)
        assert (answer["type"], answer["subscription_id"]) == ("subscription.accepted", name)
        assert answer["honored_capabilities"]["preferred_verbosity"] == "terse"


def test_cf_084_who_says_what_was_heard_last_misses_nothing(server: Server) -> None:
    line, _ = server.reader()
    with line:
        first = server.agent.ask()
        assert hear(line)["event_id"] == first.event_id
    missed = [server.agent.ask().event_id for _ in range(3)]
    again, _ = server.reader(attend={"resume_after": first.event_id})
    with again:
        assert [hear(again)["event_id"] for _ in range(3)] == missed


def test_cf_008_a_reply_for_another_subscription_is_met_with_silence(server: Server) -> None:
    one, _ = server.reader()
    other, name = server.reader()
    with one, other:
        server.agent.ask()
        prompt = hear(one)
        one.send(reply(prompt, name).decode())
        settled(one)
        assert not server.agent.replies
        other.send(reply(hear(other), name).decode())
        assert server.agent.heard.wait(WAIT)


def test_many_readers_hear_the_same(server: Server) -> None:
    with ExitStack() as stack:
        lines = [stack.enter_context(server.reader()[0]) for _ in range(150)]
        asked = [server.agent.ask().event_id for _ in range(5)]
        for line in lines:
            assert [hear(line)["event_id"] for _ in asked] == asked
        server.hub.close()
        for line in lines:
            assert ending(line)[1] == 4000


# -- before the upgrade --------------------------------------------------------------------------

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "Sec_WebSocket_Protocol": "aaep.v1",
}


@pytest.mark.parametrize(
    ("status", "path", "changes"),
    [
        (400, PLACE, {"Sec_WebSocket_Protocol": "chat, aaep.v2"}),  # CF-096
        (400, PLACE, {"Sec_WebSocket_Protocol": None}),
        (426, PLACE, {"Upgrade": None}),
        (426, PLACE, {"Sec_WebSocket_Version": "99"}),
        (426, PLACE, {"Sec_WebSocket_Key": "short"}),
        (404, "/", {}),
        (404, "/aaep/v1/events", {}),
        (403, PLACE, {"Origin": "https://evil.example"}),
        (403, PLACE, {"Origin": "null"}),
        (421, PLACE, {"Host": "evil.example"}),
        (421, PLACE, {"Host": "127.0.0.1:1"}),
    ],
)
def test_an_upgrade_that_is_not_in_order_is_refused(
    server: Server, status: int, path: str, changes: dict[str, str | None]
) -> None:
    """WS-002"""
    headers = {name: value for name, value in (UPGRADE | changes).items() if value is not None}
    answered, body = server.ask(path, **headers)
    assert answered == status
    assert body["message"] and "Traceback" not in body["message"]


def test_other_methods_are_refused_and_plain_questions_answered(server: Server) -> None:
    assert server.ask(PLACE, "POST")[0] == 405
    assert server.ask("/healthz") == (200, {"status": "ok"})
    status, manifest = server.ask("/.well-known/aaep-manifest.json")
    assert status == 200
    assert manifest["transports_supported"] == ["sse", "websocket"]  # CF-119


def test_what_is_no_http_is_answered_in_json(server: Server) -> None:
    with socket.create_connection(tuple(server.place.split(":")), WAIT) as line:  # type: ignore[arg-type]  # it can read a port
        line.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        answer = b"".join(iter(lambda: line.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.") and b" 400 " in answer.splitlines()[0]
    assert b'"error":"bad_request"' in answer


def test_the_page_that_is_on_the_list_may_connect() -> None:
    with serving(origins=["https://reader.example"]) as server:
        with server.dial(additional_headers={"Origin": "https://reader.example"}) as line:
            line.send(request())
            assert hear(line)["type"] == "subscription.accepted"
        with pytest.raises(InvalidStatus) as refused:
            server.dial(additional_headers={"Origin": "https://reader.example.evil.example"})
        assert refused.value.response.status_code == 403


def test_who_has_no_token_or_a_wrong_one_is_not_let_in() -> None:
    with serving(token="correct-horse-battery-staple") as server:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic correct-horse-battery-staple"}):
            with pytest.raises(InvalidStatus) as refused:
                server.dial(additional_headers=headers)
            assert refused.value.response.status_code == 401
            assert refused.value.response.headers["WWW-Authenticate"].startswith("Bearer")
        with server.dial(additional_headers={"Authorization": "Bearer correct-horse-battery-staple"}) as line:
            line.send(request())
            assert hear(line)["type"] == "subscription.accepted"


def test_cf_096_a_page_gets_a_ticket_that_is_good_once() -> None:
    page = {"Origin": "https://reader.example"}
    with serving(token="correct-horse-battery-staple", origins=["https://reader.example"]) as server:
        assert server.ask(TICKETS, "OPTIONS", **page) == (204, {})
        assert server.ask(TICKETS, "POST", **page)[0] == 401
        status, body = server.ask(TICKETS, "POST", Authorization="Bearer correct-horse-battery-staple", **page)
        assert (status, body["expires_in"]) == (201, 30)
        offered = [Subprotocol("aaep.v1"), Subprotocol(body["ticket"])]
        with server.dial(subprotocols=offered, additional_headers=page) as line:
            assert line.subprotocol == "aaep.v1"  # the ticket is not repeated
            line.send(request())
            assert hear(line)["type"] == "subscription.accepted"
        with pytest.raises(InvalidStatus) as refused:
            server.dial(subprotocols=offered, additional_headers=page)
        assert refused.value.response.status_code == 401


def test_cf_096_a_ticket_is_good_for_half_a_minute_and_there_are_not_too_many() -> None:
    now = 100.0
    tickets = Tickets(lambda: now)
    peer = Peer("somebody")
    early, late = tickets.issue(peer), tickets.issue(peer)
    assert tickets.redeem(["aaep.v1", early]) == peer
    assert tickets.redeem(["aaep.v1"]) is None
    now += 30
    with pytest.raises(Refusal, match="not good"):
        tickets.redeem(["aaep.v1", late])
    for _ in range(100):
        tickets.issue(peer)
    with pytest.raises(Refusal, match="Too many"):
        tickets.issue(peer)
    assert tickets.issue(Peer("another"))  # T4
    now += 30
    assert tickets.issue(peer)


def test_a_network_is_served_with_encryption_and_a_token(tmp_path: Path) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", cert, "-keyout", key]
    subprocess.run([*make.split(), *names], check=True, capture_output=True)
    trust = ssl.create_default_context(cafile=cert)
    hub = Hub(OFFER, MemoryJournal())
    try:
        port = urlsplit(served(hub, "wss://0.0.0.0:0", cert=cert, key=key, token="correct-horse")).port
        url = f"wss://127.0.0.1:{port}"
        assert b"subscription.accepted" in asked(url, token="correct-horse", context=trust)
        with pytest.raises(ChannelRefused, match="401: Who we are was not shown, or is not known there"):
            asked(url, context=trust)
        with pytest.raises(ChannelRefused, match="certificate"):
            asked(url, token="correct-horse")
    finally:
        hub.close()


class Nobody:
    """Knows everybody, and lets nobody in."""

    def authenticate(self, given: Credentials) -> Peer:
        assert given.transport == "websocket"
        raise Unauthorised("Not you.")


class Roles:
    """Everybody has these."""

    def __init__(self, *roles: str) -> None:
        self._roles = frozenset(roles)

    def authenticate(self, given: Credentials) -> Peer:
        return Peer("somebody", given.transport, roles=self._roles)


def test_who_may_not_enter_is_told_so_before_the_upgrade() -> None:
    with serving(identity=Nobody()) as server:
        assert server.ask(PLACE, **UPGRADE)[0] == 403


@pytest.mark.parametrize("url", ["ws://0.0.0.0:0", "ws://127.0.0.1:0/elsewhere", "wss://127.0.0.1:0", "ws://"])
def test_what_cannot_be_served_is_said(url: str) -> None:
    hub = Hub(OFFER, MemoryJournal())
    try:
        with pytest.raises(AaepError):
            served(hub, url)
        with pytest.raises(AaepError, match="wss://"):
            served(hub, "ws://127.0.0.1:0", cert="nothing.pem")
    finally:
        hub.close()


# -- the end -------------------------------------------------------------------------------------


def test_4000_the_producer_says_goodbye(server: Server) -> None:
    line, name = server.reader()
    with line:
        server.hub.close()
        (said,), code = ending(line)
        assert (said["type"], said["subscription_id"], said["reason_code"]) == (
            "subscription.close",
            name,
            "producer_shutdown",
        )
        assert code == 4000


def test_4001_the_request_is_rejected(server: Server) -> None:
    with server.dial() as line:
        line.send(request(aaep_version="7.0.0"))
        (said,), code = ending(line)
        assert (said["type"], said["reason_code"], code) == ("subscription.rejected", "version_unsupported", 4001)


def test_4003_the_role_is_not_one_that_listens() -> None:
    with serving(identity=Roles("agent")) as server, server.dial() as line:
        line.send(request())
        (said,), code = ending(line)
        assert (said["type"], said["reason_code"], code) == ("subscription.rejected", "authorization_denied", 4003)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("producer_shutdown", 4000),
        ("authentication_required", 4002),
        ("authentication_expired", 4002),
        ("authorization_denied", 4003),
        ("protocol_error", 4004),
        ("slow_consumer", 4004),
        ("subscriber_shutdown", 4005),
    ],
)
def test_cf_097_every_reason_has_its_code(reason: str, code: int) -> None:
    message = SubscriptionClose(subscription_id="sub_" + "0" * 32, reason_code="unknown")
    assert choose_close_code(reason, message) == code


WRONG = [
    "",
    "{",
    "[]",
    '"text"',
    '{"type":"subscription.requests"}',
    '{"type":"subscription.accepted"}',
    "\u0000",
    "[" * 10_000,
]


@pytest.mark.parametrize("text", WRONG)
def test_4004_what_is_no_message_ends_it(server: Server, text: str) -> None:
    with server.dial() as early:
        early.send(text)
        assert ending(early) == ([], 4004)
    line, name = server.reader()
    with line:
        line.send(text)
        (said,), code = ending(line)
        assert (said["subscription_id"], said["reason_code"], code) == (name, "protocol_error", 4004)


def test_4001_a_request_that_cannot_be_used_is_answered(server: Server) -> None:
    """SUB-039, CF-097, CF-109"""
    with server.dial() as line:
        line.send(request(subscriber_id=5))
        (said,), code = ending(line)
        assert (said["type"], said["reason_code"], code) == ("subscription.rejected", "unknown", 4001)
        assert said["reason_message"] == "This request cannot be used. subscriber_id should be a string; found 5."


def test_4004_a_reply_before_the_handshake_and_a_second_request_after_it(server: Server) -> None:
    with server.dial() as early:
        early.send(reply({"reply_token": "rpl_1"}, "sub_" + "0" * 32).decode())
        assert ending(early) == ([], 4004)
    line, _ = server.reader()
    with line:
        line.send(request())
        assert ending(line)[1] == 4004
    assert not server.agent.replies


def test_4004_who_says_nothing_is_not_waited_for() -> None:
    with serving(request_timeout=1.0) as server, server.dial() as line:  # which has to be upgraded by then
        assert ending(line) == ([], 4004)


def test_4005_the_subscriber_leaves(server: Server) -> None:
    line, name = server.reader()
    with line:
        line.send(json.dumps({"type": "subscription.close", "subscription_id": name, "reason_code": "unknown"}))
        assert ending(line) == ([], 4005)
    assert server.agent.gone.wait(WAIT)


def test_cf_114_what_is_too_long_is_refused_before_it_comes(server: Server) -> None:
    line, _ = server.reader()
    with line, closing(line.socket.dup()) as bare:
        bare.sendall(b"\x81\xff" + struct.pack("!Q", 1 << 62) + b"\0\0\0\0")  # and nothing of it
        (said,), code = ending(line)
        assert (said["reason_code"], code) == ("protocol_error", 1009)


def test_the_longest_message_is_read_and_one_byte_more_is_not() -> None:
    with serving(max_message_bytes=4096) as server:
        line, name = server.reader()
        with line:
            text = json.dumps({"type": "subscription.renegotiate", "subscription_id": name, "capabilities": {}})
            line.send(text.ljust(4096))
            assert hear(line)["type"] == "subscription.accepted"
            line.send(text.ljust(4097))
            assert ending(line)[1] == 1009


@pytest.mark.parametrize(
    ("code", "frame"),
    [
        (1002, b"\xf1\x80\0\0\0\0"),  # reserved bits
        (1002, b"\x83\x80\0\0\0\0"),  # no such opcode
        (1002, b"\x80\x80\0\0\0\0"),  # the rest of nothing
        (1007, b"\x81\x82\0\0\0\0\xff\xfe"),  # no UTF-8
        (1002, b"\x81\x02{}"),  # no mask (RFC 6455 §5.1), whatever is in it
        (1002, b"\x8a\x00"),
        (1002, b"\x8a\x80\0\0\0\0" + b"\x81\x02{}"),  # after one that has
        (1002, b"\x8a\xfe\0\x02\0\0\0\0{}" + b"\x82\x7f" + bytes(8)),  # no length of a frame hides it
    ],
)
def test_ws_018_frames_that_are_none_have_their_own_codes(server: Server, code: int, frame: bytes) -> None:
    line, _ = server.reader()
    with line, closing(line.socket.dup()) as bare:
        bare.sendall(frame)
        (said,), closed = ending(line)
        assert (said["reason_code"], closed) == ("protocol_error", code)


@pytest.mark.parametrize(
    ("listen", "together"),
    [
        ("ws://127.0.0.1:0", True),  # the first frame comes in one piece with the head
        ("ws://127.0.0.1:0", False),
        ("asgi+http://127.0.0.1:0", False),  # uvicorn, which sees to it itself
    ],
)
@pytest.mark.parametrize("mask", [b"", b"\0\0\0\0"])
def test_a_client_that_masks_nothing_is_refused(listen: str, together: bool, mask: bytes) -> None:
    text = request().encode()
    frame = b"\x81" + struct.pack("!BH", 126 | (0x80 if mask else 0), len(text)) + mask + text
    with Producer("bank", listen=listen, journal=None) as producer:
        place = urlsplit(producer.addresses[0].removeprefix("asgi+"))
        with socket.create_connection((str(place.hostname), int(place.port or 0)), WAIT) as line:
            lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in UPGRADE.items())
            head = f"GET {PLACE} HTTP/1.1\r\nHost: {place.netloc}\r\n{lines}\r\n".encode()
            line.sendall(head + frame if together else head)
            with line.makefile("rb") as answer:
                while answer.readline().strip():
                    pass
                if not together:
                    line.sendall(frame)
                first = answer.read(2)[0]
                if mask:
                    assert first == 0x81  # an answer, for it was read
                else:
                    assert (first, answer.read(2)) == (0x88, (1002).to_bytes(2))


REFUSED = b"\xf1\x80\0\0\0\0"  # reserved bits, as above


class Parser:
    """Keeps what it gets, until it gets what it has to refuse."""

    def __init__(self) -> None:
        self.got = b""
        self.has_refused = False

    def feed_data(self, data: bytes, /) -> tuple[bool, bytes]:
        if not self.has_refused:
            self.got += data
            self.has_refused = data.endswith(REFUSED)
        return self.has_refused, b""

    def feed_eof(self) -> None: ...


def framed(size: int, *, masked: bool) -> bytes:
    """A frame of zeros."""
    long = struct.pack("!BH", 126, size) if size < 65_536 else struct.pack("!BQ", 127, size)
    length = bytes((size,)) if size < 126 else long
    head = bytes((0x82, length[0] | (0x80 if masked else 0))) + length[1:]
    return head + (b"mask" if masked else b"") + b"\0" * size


@given(
    st.lists(st.sampled_from([0, 1, 125, 126, 300, 70_000]), max_size=5),
    st.none() | st.sampled_from([0, 1, 126, 70_000]),
    st.lists(st.integers(0, 1000), max_size=20),
)
def test_frames_pass_in_any_pieces_up_to_the_first_without_a_mask(
    sizes: list[int], unmasked: int | None, cuts: list[int]
) -> None:
    good = b"".join(framed(size, masked=True) for size in sizes)
    sent = good if unmasked is None else good + framed(unmasked, masked=False) + framed(5, masked=True)
    parser = Parser()
    frames = MaskedFrames(parser)
    for begin, end in pairwise([0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]):
        frames.feed_data(sent[begin:end])
    assert parser.got == (good if unmasked is None else good + REFUSED)


def test_who_leaves_may_come_back_and_who_does_not_is_forgotten() -> None:
    with serving(HubSettings(resume_window=0.05)) as server:
        line, _ = server.reader()
        line.socket.close()
        assert server.agent.gone.wait(WAIT)


def test_a_connection_whose_subscription_is_closed_elsewhere_ends() -> None:
    hub = Hub(OFFER, MemoryJournal())
    try:
        url, other = served(hub, "ws://127.0.0.1:0"), served(hub, "http://127.0.0.1:0")
        with dial_with(f"{url}{PLACE}", subprotocols=[Subprotocol("aaep.v1")], proxy=None) as line:
            line.send(request())
            name = hear(line)["subscription_id"]
            message = json.dumps({"type": "subscription.close", "subscription_id": name, "reason_code": "unknown"})
            with closing(http.client.HTTPConnection(urlsplit(other).netloc, timeout=WAIT)) as post:
                post.request("POST", "/aaep/v1/replies", message, {"Content-Type": "application/json"})
                assert post.getresponse().status == 204
            assert ending(line) == ([], 4005)
    finally:
        hub.close()


# -- heartbeats ------------------------------------------------------------------------------------


def test_a_heart_beats_and_who_never_answers_is_let_go_while_who_answers_stays() -> None:
    with serving(HubSettings(heartbeat_interval=0.25)) as server:
        line, _ = server.reader()
        with line:
            got = _unanswered(server)  # which takes more beats than anybody may leave without an answer
            assert got is None or got.count(b"\x89\x00") >= 2
            server.agent.ask()
            assert hear(line)["type"].endswith("awaiting.confirmation")


def _unanswered(server: Server) -> bytes | None:
    """All that comes on a connection whose reader never says a word; None if it is cut off before it was read."""
    place, _, port = server.place.partition(":")
    with socket.create_connection((place, int(port)), WAIT) as line:
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in UPGRADE.items())
        line.sendall(f"GET {PLACE} HTTP/1.1\r\nHost: {server.place}\r\n{head}\r\n".encode())
        try:
            return b"".join(iter(lambda: line.recv(4096), b""))
        except ConnectionResetError:
            return None


# -- whatever comes -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def asking() -> Iterator[tuple[Server, Json]]:
    """A server with a question that stays open."""
    with serving() as server:
        line, _ = server.reader()
        with line:
            server.agent.ask()
            yield server, hear(line)


MESSAGES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(data=st.binary(max_size=300), after=st.booleans())
def test_no_bytes_after_the_upgrade_break_anything(asking: tuple[Server, Json], data: bytes, after: bool) -> None:
    server, _ = asking
    line = server.reader()[0] if after else server.dial()
    with closing(line.socket.dup()) as bare, suppress(OSError):  # which may be ended before all of it is sent
        bare.sendall(data)
        bare.shutdown(socket.SHUT_WR)
    ending(line)
    assert server.ask("/healthz")[0] == 200
    assert not server.agent.replies


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(message=MESSAGES, decision=st.sampled_from(["accept", "reject", "maybe", None, 1]), wrong=st.booleans())
def test_no_message_of_a_stranger_decides_anything(
    asking: tuple[Server, Json], message: Any, decision: Any, wrong: bool
) -> None:
    server, prompt = asking
    line, name = server.reader(supports_confirmation_reply=False, supports_clarification_reply=False)
    with line:
        if wrong:
            line.send(json.dumps(message))
        else:
            line.send(reply(prompt, name, decision).decode())
            with suppress(ConnectionClosed):  # the first may have ended it
                line.send(json.dumps(message))
        ending(line)
    assert server.ask("/healthz")[0] == 200
    assert not server.agent.replies


# -- our own client ------------------------------------------------------------------------------


def test_a_subscriber_hears_and_answers() -> None:
    with Producer("bank", name="Bank", listen="ws://127.0.0.1:0", journal=None) as producer:

        @producer.tool(action="Transfer.", consequence="Funds move at once.")
        def transfer() -> str:
            return "moved"

        def work() -> None:
            with producer.session("Moving money."):
                transfer()

        with Subscriber(producer.addresses[0]) as subscriber:
            producer.reader(replies=True).wait(WAIT)
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            kinds = []
            for event in subscriber:
                kinds.append(type(event))
                if isinstance(event, AwaitingConfirmation):
                    subscriber.accept(event).wait(WAIT)
                if isinstance(event, SessionCompleted):
                    break
            thread.join(WAIT)
        assert AwaitingConfirmation in kinds
        assert [str(one) for one in subscriber.findings if one.severity == "error"] == []


def asked(url: str, **options: Any) -> bytes:
    """What a request is answered, by our own client."""

    async def ask() -> bytes:
        channel = find_transport(url).connect(url, connect_options(**options))
        try:
            return await channel.request(request().encode())
        finally:
            await channel.close()
            await channel.close()

    return asyncio.run(ask())


def test_the_client_shows_its_token_and_reads_the_manifest() -> None:
    with serving(token="correct-horse-battery-staple") as server:
        assert b"subscription.accepted" in asked(server.url, token="correct-horse-battery-staple")
        with pytest.raises(ChannelRefused, match="401: Who we are was not shown, or is not known there"):
            asked(server.url)

        async def manifest() -> bytes:
            channel = find_transport(server.url).connect(
                server.url, ConnectOptions(token="correct-horse-battery-staple")
            )
            try:
                return await channel.manifest()
            finally:
                await channel.close()

        assert b"bank-assistant" in asyncio.run(manifest())


def test_the_client_keeps_its_token_to_itself() -> None:
    with pytest.raises(AaepError, match="unencrypted"):
        find_transport("ws://far.example").connect("ws://far.example", ConnectOptions(token="secret"))
    with pytest.raises(AaepError, match="credentials"):
        find_transport("ws://me:secret@far.example").connect("ws://me:secret@far.example")


def test_the_client_says_when_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ChannelLost, match="Nobody answers"):
        asked(f"ws://127.0.0.1:{port}")


@contextmanager
def another(**options: Any) -> Iterator[str]:
    """A server of another library."""

    def talk(line: ServerConnection) -> None:
        line.recv()
        line.close(4003)

    server: OtherServer = serve_otherwise(talk, "127.0.0.1", 0, **{"ping_interval": None, **options})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        server.shutdown()
        thread.join(WAIT)


def test_cf_096_the_client_speaks_only_to_who_returns_the_subprotocol() -> None:
    """WS-002"""
    with another() as url, pytest.raises(ChannelRefused, match=r"aaep\.v1"):
        asked(url)


def test_the_client_understands_a_code_without_a_message() -> None:
    with (
        another(subprotocols=[Subprotocol("aaep.v1")]) as url,
        pytest.raises(ChannelRefused, match="does not let us in"),
    ):
        asked(url)


def test_cf_116_the_client_is_not_sent_elsewhere(server: Server) -> None:
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(307)
            self.send_header("Location", server.url.replace("ws", "http") + PLACE)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as door:
        thread = threading.Thread(target=door.serve_forever, daemon=True)
        thread.start()
        try:
            with pytest.raises(ChannelRefused, match="elsewhere"):
                asked(f"ws://127.0.0.1:{door.server_port}")
        finally:
            door.shutdown()
            thread.join(WAIT)
