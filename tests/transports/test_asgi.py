"""The hub inside somebody else's application: Starlette's, served by uvicorn, and asked without a server by httpx."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect as dial
from websockets.typing import Subprotocol

from aaep.errors import AaepError, LocalProtocolError
from aaep.hub.hub import Hub
from aaep.journal.memory import MemoryJournal
from aaep.producer.producer import Producer
from aaep.protocol.events import AwaitingConfirmation
from aaep.protocol.messages import SubscriptionClose
from aaep.protocol.negotiation import Offer
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.asgi.pipe import Pipe
from aaep.transports.base import asgi_application, find_transport
from aaep.transports.options import ServerOptions
from tests.asking import Asker
from tests.end_to_end.readers import reply
from tests.serving import served
from tests.transports.test_http import EVENTS, JSON, MANIFEST, PRODUCER, REPLIES, SUBSCRIPTIONS, TOKEN, UNKNOWN

WAIT = 60.0  # how long a broken build may keep a test waiting
REQUEST = {
    "type": "subscription.request",
    "aaep_version": "1.0.0",
    "subscriber_id": "another",
    "subscriber_name": "Another library",
    "capabilities": {"supports_confirmation_reply": True, "supported_conformance_levels": [1, 2, 3]},
}
Json = dict[str, Any]
SCOPE = {
    "http_version": "1.1",
    "scheme": "http",
    "query_string": b"",
    "root_path": "",
    "server": ("127.0.0.1", 80),
    "client": ("127.0.0.1", 1),
    "headers": [(b"host", b"127.0.0.1")],
}


@contextmanager
def hub(**options: Any) -> Iterator[Hub]:
    made = Hub(Offer(producer=PRODUCER), MemoryJournal(), **options)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def running(application: Any) -> Iterator[str]:
    """An application on a server with a loop of its own, in a thread of its own."""
    config = uvicorn.Config(application, port=0, log_config=None, ws="websockets-sansio", lifespan="auto")
    server = uvicorn.Server(config)
    ready = threading.Event()

    async def serve() -> None:
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.lifespan.startup()
        await server.startup()
        ready.set()
        await server.main_loop()
        await server.shutdown()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(WAIT)
    try:
        yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(WAIT)
        assert not thread.is_alive()


def ask(application: Any, method: str, path: str, *, client: str = "127.0.0.1", **options: Any) -> httpx.Response:
    """What an application answers, without a server."""

    async def asked() -> httpx.Response:
        wire = httpx.ASGITransport(application, client=(client, 1234))
        async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1") as session:
            return await session.request(method, path, **options)

    return asyncio.run(asked())


# -- mounted -------------------------------------------------------------------------------------


class Events:
    """A stream of server-sent events, by hand."""

    def __init__(self, place: str, path: str) -> None:
        self._line = http.client.HTTPConnection(place, timeout=WAIT)
        self._line.request("GET", path, headers={"Accept": "text/event-stream"})
        self._response = self._line.getresponse()
        assert self._response.status == 200
        assert self._response.headers["Content-Type"] == "text/event-stream; charset=utf-8"

    def close(self) -> None:
        self._response.close()
        self._line.close()

    def hear(self) -> Json | None:
        while line := self._response.readline():
            if line.startswith(b"data: "):
                message: Json = json.loads(line[6:])
                return message
        return None


@pytest.mark.parametrize("prefix", ["", "/agent"])
def test_it_is_mounted_beside_somebody_elses_pages(prefix: str) -> None:
    def page(_: Any) -> PlainTextResponse:
        return PlainTextResponse("A page.")

    with hub() as made:
        application = Starlette(routes=[Route("/page", page), Mount(prefix or "/", asgi_application(made))])
        agent = Asker(made)
        with running(application) as place, httpx.Client(base_url=f"http://{place}", trust_env=False) as client:
            assert client.get("/page").text == "A page."
            accepted = client.post(prefix + SUBSCRIPTIONS, json=REQUEST)
            assert accepted.status_code == 201
            name = accepted.json()["subscription_id"]
            assert accepted.headers["Location"] == f"{prefix}{EVENTS}?subscription_id={name}"
            with closing(Events(place, accepted.headers["Location"])) as events:
                event = agent.ask()
                prompt = events.hear()
                assert prompt is not None and prompt["event_id"] == event.event_id
                headers = {"Content-Type": "application/json"}
                answered = client.post(prefix + REPLIES, content=reply(prompt, name), headers=headers)
                assert (answered.status_code, answered.content) == (204, b"")
                assert agent.heard.wait(WAIT)
                made.close()
                goodbye = events.hear()
                assert goodbye is not None and goodbye["reason_code"] == "producer_shutdown"
                assert events.hear() is None
            assert client.get(prefix + MANIFEST).status_code == 503


def test_a_subscriber_hears_and_answers_through_it() -> None:
    with Producer("bank", name="Bank", listen="asgi+http://127.0.0.1:0", journal=None) as producer:

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
            for event in subscriber:
                if isinstance(event, AwaitingConfirmation):
                    subscriber.accept(event).wait(WAIT)
                if event.type.endswith("session.completed"):
                    break
            thread.join(WAIT)
        assert [str(one) for one in subscriber.findings if one.severity == "error"] == []
        assert "sse" in producer.hub.manifest().transports_supported


def test_a_plain_tool_in_an_async_endpoint_does_not_hang_the_server() -> None:
    """The server's loop would wait for an answer that only it can bring."""
    with Producer("bank", journal=None) as producer:

        @producer.tool
        def transfer() -> str:
            return "moved"

        async def pay(request: Any) -> PlainTextResponse:
            async with producer.session("Paying."):
                try:
                    answer = transfer()
                except LocalProtocolError as error:
                    return PlainTextResponse(str(error), 500)
            return PlainTextResponse(answer)

        routes = [Route("/pay", pay, methods=["POST"]), Mount("/", producer.asgi())]
        with running(Starlette(routes=routes)) as place, Subscriber(f"http://{place}"):
            producer.reader(replies=True).wait(WAIT)
            answer = httpx.post(f"http://{place}/pay", timeout=WAIT, trust_env=False)
            assert answer.status_code == 500
            assert "`await asyncio.to_thread(transfer, …)`" in answer.text
            assert httpx.get(f"http://{place}/healthz", timeout=WAIT, trust_env=False).status_code == 200


def test_who_leaves_is_noticed() -> None:
    with hub() as made:
        agent = Asker(made)
        with running(asgi_application(made)) as place:
            with closing(Events(place, EVENTS)):  # a bare stream ends with its connection
                agent.gone.clear()
            assert agent.gone.wait(WAIT)


def test_it_says_what_is_missing_where_there_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with hub() as made, pytest.raises(AaepError, match="pip install uvicorn"):
        served(made, "asgi+http://127.0.0.1:0")


@pytest.mark.parametrize(
    "url", ["asgi+http://0.0.0.0:0", "asgi+http://127.0.0.1:0/elsewhere", "asgi+https://127.0.0.1:0"]
)
def test_it_serves_this_machine_only(url: str) -> None:
    with hub() as made, pytest.raises(AaepError):
        served(made, url)


def test_seen_from_outside_it_is_http() -> None:
    channel = find_transport("asgi+http://127.0.0.1:1").connect("asgi+http://127.0.0.1:1")
    assert getattr(channel, "url", "") == "http://127.0.0.1:1"


# -- who is let in, and with what -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "method", "path", "options"),
    [
        (200, "GET", "/healthz", {}),
        (200, "GET", "/metrics", {}),
        (200, "GET", MANIFEST, {}),
        (404, "GET", "/", {}),
        (404, "GET", f"{EVENTS}?subscription_id={UNKNOWN}", {}),
        (404, "GET", f"{EVENTS}?subscription_id=%00", {}),
        (405, "GET", SUBSCRIPTIONS, {}),
        (405, "POST", EVENTS, {"content": b"{}", "headers": JSON}),
        (400, "POST", SUBSCRIPTIONS, {"content": b"{", "headers": JSON}),
        (400, "POST", REPLIES, {"json": REQUEST}),
        (415, "POST", SUBSCRIPTIONS, {"content": b"{}", "headers": {"Content-Type": "text/plain"}}),
        (415, "POST", SUBSCRIPTIONS, {"content": b"{}"}),
        (415, "POST", SUBSCRIPTIONS, {"content": b"{}", "headers": {**JSON, "Content-Encoding": "gzip"}}),
        (413, "POST", SUBSCRIPTIONS, {"content": b"x" * 1_048_577, "headers": JSON}),
        (403, "POST", SUBSCRIPTIONS, {"json": REQUEST, "headers": {"Origin": "https://evil.example"}}),
        (403, "GET", MANIFEST, {"headers": {"Sec-Fetch-Site": "cross-site"}}),
        (421, "GET", MANIFEST, {"headers": {"Host": "evil.example"}}),
        (401, "GET", MANIFEST, {"client": "10.0.0.7"}),
        (401, "GET", MANIFEST, {"headers": {"X-Forwarded-For": "10.0.0.7"}}),
        (401, "POST", SUBSCRIPTIONS, {"json": REQUEST, "client": "10.0.0.7"}),
    ],
)
def test_every_request_has_its_answer(status: int, method: str, path: str, options: Json) -> None:
    with hub() as made:
        answer = ask(asgi_application(made), method, path, **options)
    assert answer.status_code == status, answer.text
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    if status >= 400:
        assert "Traceback" not in answer.text
        assert set(answer.json()) & {"message", "reason_message"}


def test_a_request_that_cannot_be_used_hears_which_member_is_wrong() -> None:
    """CF-087"""
    with hub() as made:
        answer = ask(asgi_application(made), "POST", SUBSCRIPTIONS, json={**REQUEST, "subscriber_id": ""})
    said = answer.json()
    assert (answer.status_code, said["type"], said["reason_code"]) == (400, "subscription.rejected", "unknown")
    assert said["reason_message"].startswith("This request cannot be used. subscriber_id should not be empty.")


def test_a_body_that_does_not_say_how_long_it_is_is_cut_off_all_the_same() -> None:
    async def pieces() -> Any:
        for _ in range(20):
            yield b"x" * 100_000

    with hub() as made:
        assert ask(asgi_application(made), "POST", SUBSCRIPTIONS, content=pieces(), headers=JSON).status_code == 413


def test_who_has_a_token_is_let_in_from_anywhere() -> None:
    with hub() as made:
        application = asgi_application(made, ServerOptions(token=TOKEN))
        for headers, status in (({}, 401), ({"Authorization": "Bearer wrong"}, 401), (_bearer(), 200)):
            answer = ask(application, "GET", MANIFEST, client="10.0.0.7", headers={"Host": "agent.example", **headers})
            assert answer.status_code == status
        rejected = ask(application, "POST", SUBSCRIPTIONS, json=REQUEST)
        assert rejected.status_code == 401
        assert rejected.json()["reason_code"] == "authentication_required"  # CF-087
        with pytest.raises(AaepError, match="either"):
            asgi_application(made, ServerOptions(token=TOKEN, identity=application))


def _bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}"}


def test_the_page_that_is_on_the_list_may_use_it() -> None:
    with hub() as made:
        application = asgi_application(made, ServerOptions(origins=["https://reader.example"]))
        origin = {"Origin": "https://reader.example"}
        answer = ask(application, "GET", MANIFEST, headers=origin)
        assert answer.headers["Access-Control-Allow-Origin"] == "https://reader.example"
        before = ask(application, "OPTIONS", SUBSCRIPTIONS, headers=origin)
        assert (before.status_code, before.headers["Access-Control-Allow-Methods"]) == (204, "POST")
        with pytest.raises(AaepError, match="origin"):
            asgi_application(made, ServerOptions(origins=["*"]))


def test_a_defect_is_answered_without_a_word_of_how(monkeypatch: pytest.MonkeyPatch) -> None:
    with hub() as made:
        monkeypatch.setattr(made, "metrics", lambda: 1 / 0)
        answer = ask(asgi_application(made), "GET", "/metrics")
        assert answer.status_code == 500
        assert "zero" not in answer.text and "Traceback" not in answer.text


MEMBERS = st.dictionaries(st.text(max_size=8), st.text(max_size=8)).map(json.dumps).map(str.encode)
PATHS = st.text(max_size=20).map("/".__add__)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    body=st.binary(max_size=200)
    | st.dictionaries(st.text(max_size=8), st.text(max_size=8)).map(json.dumps).map(str.encode),
    path=st.sampled_from([SUBSCRIPTIONS, REPLIES, EVENTS + "?subscription_id=x", MANIFEST])
    | st.text(max_size=20).map("/".__add__),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]),
    name=st.sampled_from(["Origin", "Host", "Authorization", "Content-Length", "Last-Event-ID", "X-Other"]),
    value=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
)
def test_nothing_that_is_asked_is_a_defect(body: bytes, path: str, method: str, name: str, value: str) -> None:
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path.partition("?")[0],
        "query_string": path.partition("?")[2].encode(),
        "root_path": "",
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-type", b"application/json"),
            (name.lower().encode(), value.encode()),
        ],
    }
    sent: list[Json] = []

    async def receive() -> Json:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    with hub() as made:
        asyncio.run(asgi_application(made)(scope, receive, send))
    assert sent[0]["status"] < 500


# -- the WebSocket -----------------------------------------------------------------------------------


@contextmanager
def talking(place: str, path: str = "/aaep/v1/ws", **options: Any) -> Iterator[Any]:
    options = {"subprotocols": [Subprotocol("aaep.v1")], **options}
    with dial(f"ws://{place}{path}", open_timeout=WAIT, close_timeout=WAIT, proxy=None, **options) as line:
        yield line


def hear(line: Any) -> Json:
    message: Json = json.loads(line.recv(timeout=WAIT))
    return message


def ending(line: Any) -> tuple[list[Json], int | None]:
    said = []
    try:
        while True:
            said.append(hear(line))
    except ConnectionClosed as closed:
        return said, None if closed.rcvd is None else closed.rcvd.code


@pytest.fixture
def place() -> Iterator[tuple[str, Asker]]:
    with hub() as made:
        agent = Asker(made)
        with running(asgi_application(made)) as where:
            yield where, agent


def test_the_websocket_is_there_too(place: tuple[str, Asker]) -> None:
    where, agent = place
    with talking(where) as line:
        line.send(json.dumps(REQUEST))
        name = hear(line)["subscription_id"]
        events = [agent.ask().event_id for _ in range(3)]
        heard = [hear(line) for _ in events]
        assert [event["event_id"] for event in heard] == events
        line.send(reply(heard[0], name))
        assert agent.heard.wait(WAIT)
        agent.hub.close()
        (said,), code = ending(line)
        assert (said["reason_code"], code) == ("producer_shutdown", 4000)


ENDS: list[tuple[Callable[[str], str], int]] = [
    (lambda _: "{", 4004),
    (lambda name: json.dumps({"type": "subscription.close", "subscription_id": name, "reason_code": "unknown"}), 4005),
    (lambda _: "x" * 1_048_577, 4004),
]


@pytest.mark.parametrize(("message", "code"), ENDS)
def test_its_close_codes(place: tuple[str, Asker], message: Callable[[str], str], code: int) -> None:
    with talking(place[0]) as line:
        line.send(json.dumps(REQUEST))
        line.send(message(hear(line)["subscription_id"]))
        assert ending(line)[1] == code
    with talking(place[0]) as line:
        line.send(json.dumps(REQUEST | {"aaep_version": "7.0.0"}))
        (said,), rejected = ending(line)
        assert (said["reason_code"], rejected) == ("version_unsupported", 4001)


@pytest.mark.parametrize(
    ("status", "options"),
    [
        (400, {"subprotocols": None}),
        (400, {"subprotocols": [Subprotocol("aaep.v2")]}),
        (403, {"additional_headers": {"Origin": "https://evil.example"}}),
        (401, {"additional_headers": {"X-Forwarded-For": "10.0.0.7"}}),
        (404, {"path": "/elsewhere"}),
    ],
)
def test_an_upgrade_that_is_not_in_order_is_refused(place: tuple[str, Asker], status: int, options: Json) -> None:
    with pytest.raises(InvalidStatus) as refused, talking(place[0], **options):
        pass
    assert refused.value.response.status_code == status


def test_cf_096_a_page_gets_a_ticket_for_the_websocket() -> None:
    with (
        hub() as made,
        running(asgi_application(made, ServerOptions(token=TOKEN, origins=["https://reader.example"]))) as where,
    ):
        page, place = {"Origin": "https://reader.example"}, f"http://{where}/aaep/v1/tickets"
        assert httpx.post(place, headers=page).status_code == 401
        before = httpx.options(place, headers=page)
        assert (before.status_code, before.headers["Access-Control-Allow-Methods"]) == (204, "POST")
        answer = httpx.post(place, headers=page | _bearer())
        assert (answer.status_code, answer.json()["expires_in"]) == (201, 30)
        offered = [Subprotocol("aaep.v1"), Subprotocol(answer.json()["ticket"])]
        with talking(where, subprotocols=offered, additional_headers=page) as line:
            assert line.subprotocol == "aaep.v1"
            line.send(json.dumps(REQUEST))
            assert hear(line)["type"] == "subscription.accepted"
        with pytest.raises(InvalidStatus) as refused, talking(where, subprotocols=offered, additional_headers=page):
            pass
        assert refused.value.response.status_code == 401


def test_ws_006_who_asks_for_nothing_is_let_go_and_who_has_asked_is_not() -> None:
    with hub() as made:
        agent = Asker(made)
        with running(asgi_application(made, ServerOptions(request_timeout=0.5))) as where, talking(where) as listening:
            listening.send(json.dumps(REQUEST))
            assert hear(listening)["type"] == "subscription.accepted"
            with talking(where) as silent:
                assert ending(silent) == ([], 4004)
            asked = agent.ask()
            assert hear(listening)["event_id"] == asked.event_id


def test_what_is_neither_is_said() -> None:
    async def nothing(*_: Any) -> Any: ...

    with hub() as made, contextlib.ExitStack() as stack:
        stack.enter_context(pytest.raises(AaepError, match="smtp"))
        asyncio.run(asgi_application(made)({"type": "smtp"}, nothing, nothing))


def test_its_address_is_real() -> None:
    with hub() as made:
        url = served(made, "asgi+http://127.0.0.1:0")
        assert urlsplit(url).port


def test_a_reader_that_takes_nothing_more_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """TR-018: of an application that is served, the server keeps the connection as long as the call lasts."""
    monkeypatch.setattr("aaep.transports.duplex_server.LINGER_TIMEOUT", 0.05)
    stuck = asyncio.Event

    async def stream(made: Hub, application: Any) -> None:
        connected = asyncio.Event()

        async def send(message: Any) -> None:
            connected.set()
            if message["type"] == "http.response.body":
                await stuck().wait()

        async def receive() -> Json:
            await stuck().wait()
            return {}

        scope = {**SCOPE, "type": "http", "method": "GET", "path": EVENTS}
        call = asyncio.ensure_future(application(scope, receive, send))
        await connected.wait()
        made.close()
        await asyncio.wait_for(call, WAIT)

    async def websocket(made: Hub, application: Any) -> None:
        connected = asyncio.Event()
        coming = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": json.dumps(REQUEST)}]

        async def send(message: Any) -> None:
            if message["type"] == "websocket.send":
                connected.set()
                await stuck().wait()

        async def receive() -> Json:
            if not coming:
                await stuck().wait()
            return coming.pop(0)

        scope = {**SCOPE, "type": "websocket", "path": "/aaep/v1/ws", "subprotocols": ["aaep.v1"]}
        call = asyncio.ensure_future(application(scope, receive, send))
        await connected.wait()
        await asyncio.to_thread(made.run, ended(made))
        await asyncio.wait_for(call, WAIT)

    async def ended(made: Hub) -> None:
        (subscription,) = made.subscriptions.all()
        assert subscription.writer is not None
        name = subscription.id
        subscription.writer.close(SubscriptionClose(subscription_id=name, reason_code="producer_shutdown"))

    for talk in (stream, websocket):
        with hub() as made:
            asyncio.run(talk(made, asgi_application(made)))


# -- the pipe between the two loops ----------------------------------------------------------


def test_who_waits_for_more_is_not_woken_by_what_was_taken_before() -> None:
    async def taken() -> tuple[bytes, bool]:
        pipe = Pipe()
        thread = threading.Thread(target=pipe.write, args=[b"first"])  # which has this loop called later
        thread.start()
        thread.join()
        assert await pipe.take(WAIT) == (b"first", False)
        waiting = asyncio.ensure_future(pipe.take(WAIT))
        for _ in range(10):
            await asyncio.sleep(0)  # lets the loop turn
        assert not waiting.done()
        pipe.write(b"second")
        return await waiting

    assert asyncio.run(taken()) == (b"second", False)


def test_what_comes_before_the_end_is_taken_with_it() -> None:
    async def taken() -> tuple[bytes, bool]:
        pipe = Pipe()
        waiting = asyncio.ensure_future(pipe.take(WAIT))
        await asyncio.sleep(0)  # lets it begin to wait
        pipe.write(b"last")
        pipe.end()
        pipe.write(b"too late")
        return await waiting

    assert asyncio.run(taken()) == (b"last", True)


def test_nothing_in_time_is_an_answer() -> None:
    async def taken() -> tuple[bytes, bool]:
        return await Pipe().take(0.0)

    assert asyncio.run(taken()) == (b"", False)
