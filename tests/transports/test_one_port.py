"""Server-sent events, WebSocket, replies and pages on one port, whichever scheme and server opened it."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as dial
from websockets.typing import Subprotocol

from aaep.errors import AaepError
from aaep.hub.hub import Hub
from aaep.identity.credentials import Credentials
from aaep.identity.peer import Peer
from aaep.journal.memory import MemoryJournal
from aaep.producer.producer import Producer
from aaep.protocol.negotiation import Offer
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import SharedServer, serve
from tests.asking import Asker
from tests.end_to_end.readers import reply
from tests.options import server_options
from tests.serving import served
from tests.transports.test_http import (
    EVENTS,
    JSON,
    MANIFEST,
    PRODUCER,
    REPLIES,
    SUBSCRIPTIONS,
    TOKEN,
    Answered,
    Reader,
    close,
    request,
)

WAIT = 60.0  # how long a broken build may keep a test waiting
WEBSOCKET, TICKETS = "/aaep/v1/ws", "/aaep/v1/tickets"
PAGE = "https://reader.example"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "Sec-WebSocket-Protocol": "aaep.v1",
}
Json = dict[str, Any]


class Server:
    """A hub at one address, and an agent that speaks through it."""

    def __init__(self, scheme: str, **options: Any) -> None:
        self.hub = Hub(Offer(producer=PRODUCER), MemoryJournal())
        try:
            self.url = served(self.hub, f"{scheme}://127.0.0.1:0", **options)
        except BaseException:
            self.hub.close()
            raise
        self.port = urlsplit(self.url).port or 0
        self.agent = Asker(self.hub)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answered:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)) as connection:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {**(JSON if data is not None else {}), **(headers or {})})
            return Answered(connection.getresponse())

    def subscribe(self) -> str:
        answer = self.ask("POST", SUBSCRIPTIONS, request())
        assert answer.status == 201, answer.body
        return str(answer.json["subscription_id"])

    def read(self, subscription_id: str) -> Reader:
        return Reader(self.port, f"{EVENTS}?subscription_id={subscription_id}", {})

    @contextmanager
    def talk(self, *more: str, **headers: str) -> Iterator[tuple[ClientConnection, str]]:
        """A WebSocket reader, and the id of its subscription. ``more`` are subprotocols beside ours."""
        offered = [Subprotocol("aaep.v1"), *map(Subprotocol, more)]
        url = f"ws://127.0.0.1:{self.port}{WEBSOCKET}"
        options: Any = {"subprotocols": offered, "proxy": None, "ping_interval": None, "additional_headers": headers}
        with dial(url, open_timeout=WAIT, close_timeout=WAIT, **options) as connection:
            connection.send(json.dumps(request()))
            accepted = hear(connection)
            assert accepted["type"] == "subscription.accepted", accepted
            yield connection, accepted["subscription_id"]


def hear(connection: ClientConnection) -> Json:
    message: Json = json.loads(connection.recv(timeout=WAIT))
    return message


def ending(connection: ClientConnection) -> tuple[list[Json], int | None]:
    """What is still said, and the code of the close."""
    said = []
    try:
        while True:
            said.append(hear(connection))
    except ConnectionClosed as closed:
        return said, None if closed.rcvd is None else closed.rcvd.code


@contextmanager
def serving(scheme: str = "http", **options: Any) -> Iterator[Server]:
    server = Server(scheme, **options)
    try:
        yield server
    finally:
        server.hub.close()


@pytest.fixture(params=["http", "ws", "asgi+http"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with serving(request.param) as made:
        yield made


# -- both at once --------------------------------------------------------------------------------


def test_readers_of_both_kinds_hear_the_same_and_either_may_answer(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader, server.talk() as (connection, other):
        event = server.agent.ask()
        fields = reader.event()
        assert fields is not None and fields["id"].decode() == event.event_id
        prompt = hear(connection)
        assert prompt == json.loads(fields["data"])
        connection.send(reply(prompt, other).decode())
        assert server.agent.heard.wait(WAIT)
        server.agent.heard.clear()
        assert server.ask("POST", REPLIES, json.loads(reply(prompt, name))).status == 204
        assert server.agent.heard.wait(WAIT)
    assert [via for _, via in server.agent.replies] == [other, name]


def test_a_client_is_recorded_with_the_transport_that_it_came_over(server: Server) -> None:
    name = server.subscribe()
    with server.read(name), server.talk() as (_, other):
        came = {subscription.id: subscription.peer.transport for subscription in server.hub.subscriptions.all()}
    assert came == {name: "sse", other: "websocket"}


def test_a_subscription_of_a_websocket_can_be_closed_by_a_post(server: Server) -> None:
    with server.talk() as (connection, name):
        assert server.ask("POST", REPLIES, close(name)).status == 204
        assert ending(connection) == ([], 4005)


def test_closing_the_hub_says_goodbye_to_readers_of_both_kinds(server: Server) -> None:
    name = server.subscribe()
    with server.read(name) as reader, server.talk() as (connection, _):
        server.hub.close()
        fields = reader.event()
        assert fields is not None and fields["event"] == b"aaep.close"
        assert reader.event() is None
        (goodbye,), code = ending(connection)
        assert (goodbye["reason_code"], code) == ("producer_shutdown", 4000)
    with pytest.raises(ConnectionRefusedError):
        server.ask("GET", "/healthz")


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_websocket_client_that_sends_no_more_has_left(scheme: str) -> None:
    """An HTTP client that has sent its request may say so, and is answered all the same."""
    with serving(scheme) as server, server.talk() as (connection, _):
        connection.socket.shutdown(socket.SHUT_WR)
        assert ending(connection) == ([], None)
        late = time.monotonic() + WAIT
        while any(subscription.writer for subscription in server.hub.subscriptions.all()):
            assert time.monotonic() < late
            time.sleep(0.01)


def test_subscribers_come_to_one_port_by_either_scheme(server: Server) -> None:
    for scheme in ("http", "ws"):
        with Subscriber(f"{scheme}://127.0.0.1:{server.port}") as subscriber:
            subscriber.ready().wait(WAIT)


# -- what is answered ----------------------------------------------------------------------------


def test_the_url_keeps_the_scheme_that_was_asked_for() -> None:
    for scheme in ("http", "ws", "asgi+http"):
        with serving(scheme) as server:
            assert server.url == f"{scheme}://127.0.0.1:{server.port}"


def test_cf_119_the_manifest_names_both_transports_and_their_origins(server: Server) -> None:
    manifest = server.ask("GET", MANIFEST).json
    assert manifest["transports_supported"] == ["sse", "websocket"]
    origins = {f"{scheme}://127.0.0.1:{server.port}" for scheme in ("http", "ws")}
    assert set(manifest["extensions"]["attend"]["origins"]) == origins
    asked_for = server.url.removeprefix("asgi+")
    assert manifest["extensions"]["attend"]["origins"][0] == asked_for  # it is tried first


def test_a_mounted_application_names_its_transports_and_knows_no_address() -> None:
    with Producer("bank", journal=None) as producer:
        producer.asgi()
        manifest = producer.hub.manifest()
        assert manifest.transports_supported == ("sse", "websocket")
        assert not manifest.extensions


@pytest.mark.parametrize("path", ["/", "/aaep/v1", "/aaep/v1/websocket", "/aaep/v2/ws", "/events"])
def test_unknown_paths_name_both(server: Server, path: str) -> None:
    answer = server.ask("GET", path)
    assert (answer.status, answer.json["error"]) == (404, "not_found")
    assert EVENTS in answer.json["message"] and WEBSOCKET in answer.json["message"]


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", SUBSCRIPTIONS, "POST"),
        ("PUT", REPLIES, "POST"),
        ("POST", EVENTS, "GET"),
        ("POST", WEBSOCKET, "GET"),
        ("HEAD", WEBSOCKET, "GET"),
        ("GET", TICKETS, "POST"),
        ("DELETE", MANIFEST, "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
        ("OPTIONS", "/metrics", "GET, HEAD"),
    ],
)
def test_other_methods_are_405_and_say_which_are_allowed(server: Server, method: str, path: str, allow: str) -> None:
    answer = server.ask(method, path)
    assert (answer.status, answer.headers["Allow"]) == (405, allow)


@pytest.mark.parametrize(
    ("status", "error", "path", "changes"),
    [
        (426, "upgrade_required", WEBSOCKET, {"Upgrade": None, "Connection": None}),
        (400, "subprotocol_required", WEBSOCKET, {"Sec-WebSocket-Protocol": "chat"}),
        (404, "not_found", EVENTS, {}),
        (404, "not_found", "/", {}),
        (403, "forbidden_origin", WEBSOCKET, {"Origin": "https://evil.example"}),
        (403, "forbidden_origin", WEBSOCKET, {"Sec-Fetch-Site": "cross-site"}),
        (421, "misdirected_request", WEBSOCKET, {"Host": "evil.example"}),
    ],
)
def test_an_upgrade_that_is_not_in_order_is_refused(
    server: Server, status: int, error: str, path: str, changes: dict[str, str | None]
) -> None:
    headers = {name: value for name, value in (UPGRADE | changes).items() if value is not None}
    answer = server.ask("GET", path, headers=headers)
    assert (answer.status, answer.json["error"]) == (status, error)
    if status == 426:
        assert (answer.headers["Upgrade"], answer.headers["Sec-WebSocket-Version"]) == ("websocket", "13")


@pytest.mark.parametrize("scheme", ["http", "ws", "asgi+http"])
def test_every_path_but_health_needs_the_credential(scheme: str) -> None:
    """SEC-006"""
    with serving(scheme, token=TOKEN) as server:
        for method, path in (
            ("GET", EVENTS),
            ("POST", SUBSCRIPTIONS),
            ("POST", REPLIES),
            ("GET", WEBSOCKET),
            ("POST", TICKETS),
            ("GET", MANIFEST),
            ("GET", "/metrics"),
            ("GET", "/elsewhere"),
        ):
            answer = server.ask(method, path)
            assert (answer.status, "Bearer" in answer.headers["WWW-Authenticate"]) == (401, True), path
        assert server.ask("GET", WEBSOCKET, headers=UPGRADE).status == 401
        assert server.ask("GET", "/healthz").status == 200
        assert server.ask("POST", "/healthz").status == 405


@pytest.mark.parametrize("query", ["subscription_id=", "subscription_id=%ff%00", "subscription_id=a&subscription_id=b"])
def test_a_subscription_that_cannot_be_is_404_and_never_a_bare_stream(server: Server, query: str) -> None:
    answer = server.ask("GET", f"{EVENTS}?{query}")
    assert (answer.status, answer.json["error"]) == (404, "unknown_subscription")


# -- web pages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["http", "ws", "asgi+http"])
@pytest.mark.parametrize(
    ("path", "methods"),
    [(EVENTS, "GET"), (REPLIES, "POST"), (TICKETS, "POST"), (WEBSOCKET, "GET"), (MANIFEST, "GET, HEAD"), ("/x", "GET")],
)
def test_a_preflight_is_answered_from_the_same_table(scheme: str, path: str, methods: str) -> None:
    with serving(scheme, origins=[PAGE], token=TOKEN) as server:
        answer = server.ask("OPTIONS", path, headers={"Origin": PAGE})
        assert (answer.status, answer.headers["Access-Control-Allow-Methods"]) == (204, methods)
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
        assert server.ask("OPTIONS", path, headers={"Origin": "https://evil.example"}).status == 403


class Recorder:
    """Lets in who has the token, and notes over what they came."""

    bearer = True

    def __init__(self) -> None:
        self.came: list[str] = []

    def authenticate(self, given: Credentials) -> Peer:
        self.came.append(given.transport)
        return Peer("ada", given.transport)


@pytest.mark.parametrize("scheme", ["http", "ws", "asgi+http"])
def test_cf_096_who_comes_with_a_ticket_came_over_websocket(scheme: str) -> None:
    recorder = Recorder()
    with serving(scheme, identity=recorder, origins=[PAGE]) as server:
        ticket = server.ask("POST", TICKETS, headers={"Origin": PAGE}).json["ticket"]
        with server.talk(ticket, Origin=PAGE):
            (subscription,) = server.hub.subscriptions.all()
            assert subscription.peer == Peer("ada", "websocket")
        assert (
            server.ask("GET", WEBSOCKET, headers=UPGRADE | {"Sec-WebSocket-Protocol": f"aaep.v1, {ticket}"}).status
            == 401
        )
        server.ask("GET", MANIFEST)
    assert recorder.came == ["websocket", "sse"]


# -- one server for two addresses ------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def a_hub() -> Iterator[Hub]:
    hub = Hub(Offer(producer=PRODUCER), MemoryJournal())
    try:
        yield hub
    finally:
        hub.close()


@pytest.mark.parametrize(("first", "second"), [("http", "ws"), ("ws", "http"), ("http", "http")])
def test_two_addresses_of_one_port_are_one_server(first: str, second: str) -> None:
    port = free_port()
    with a_hub() as hub:
        one = hub.run(serve(hub, f"{first}://127.0.0.1:{port}"))
        other = hub.run(serve(hub, f"{second}://localhost:{port}"))
        assert isinstance(other, SharedServer) and other.server is one
        assert other.url == f"{second}://127.0.0.1:{port}"
        assert hub.servers == [one]


def test_an_agent_may_listen_at_both() -> None:
    places = [f"{scheme}://127.0.0.1:{free_port()}" for scheme in ("http", "ws")]
    places[1] = places[0].replace("http:", "ws:")
    with Producer("bank", listen=places, token=TOKEN, journal=None) as producer:
        assert producer.addresses == tuple(places)
        for place in places:
            with Subscriber(place, token=TOKEN) as subscriber:
                subscriber.ready().wait(WAIT)


def test_other_options_are_another_server_and_the_port_is_in_use() -> None:
    """Else an address would be open to clients that its options do not let in."""
    port = free_port()
    with a_hub() as hub:
        hub.run(serve(hub, f"http://127.0.0.1:{port}"))
        for options in ({"token": TOKEN}, {"origins": [PAGE]}):
            with pytest.raises(AaepError, match="in use"):
                hub.run(serve(hub, f"ws://127.0.0.1:{port}", server_options(**options)))


def test_port_0_is_another_one_each_time_and_a_server_that_was_closed_is_not_shared() -> None:
    with a_hub() as hub:
        one, other = (hub.run(serve(hub, f"{scheme}://127.0.0.1:0")) for scheme in ("http", "ws"))
        assert urlsplit(one.url).port != urlsplit(other.url).port
        hub.run(one.close())
        again = hub.run(serve(hub, one.url.replace("http:", "ws:")))
        assert not isinstance(again, SharedServer)
        with closing(http.client.HTTPConnection(urlsplit(again.url).netloc, timeout=WAIT)) as connection:
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
