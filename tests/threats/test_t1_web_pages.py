"""
T1 and T8 from a real browser: pages that try to use the hub of whoever looks at them. CF-015, CF-089

Everything such a page could know is given to it: the address, a subscription
and the token of an open question. The same page does all it wants once it is
on the list, so that what keeps it out is the hub and nothing else.
"""

from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from aaep.producer.producer import Producer
from tests import browser
from tests.end_to_end.readers import ANSWERS, PROMPT, Raw, reply
from tests.end_to_end.wires import LONG, WIRES, Json
from tests.options import producer as producer_with

pytestmark = browser.needed

SCRIPT = """
const within = (promise) => Promise.race([promise, new Promise((done) => setTimeout(() => done("silence"), 4000))])
    .then(String, (error) => "failed: " + error);
const json = {"Content-Type": "application/json"};
const place = (name) => it.http + "/aaep/v1/" + name;
const post = (name, body, more) => fetch(place(name), {method: "POST", body, ...more}).then((got) => got.status);
const first = async (answer) => {
    if (!answer.ok) return answer.status;
    return new TextDecoder().decode((await answer.body.getReader().read()).value);
};
const form = (type) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.name = "f" + Math.random();
    document.body.append(frame);
    const made = document.createElement("form");
    made.method = "post"; made.enctype = type; made.target = frame.name; made.action = place("replies");
    const field = document.createElement("input");
    field.name = it.yes.slice(0, -1) + ',"x":"'; field.value = '"}';
    made.append(field);
    document.body.append(made);
    frame.onload = () => done("sent");
    made.submit();
});
const tag = (name, url) => new Promise((done) => {
    const made = document.createElement(name);
    made.onload = () => done("loaded"); made.onerror = () => done("failed");
    made.src = url;
    document.body.append(made);
});
const sandbox = () => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    addEventListener("message", (came) => done(came.data), {once: true});
    const attack = `fetch(${JSON.stringify(place("replies"))}, {method: "POST", mode: "no-cors",
        body: ${JSON.stringify(it.yes)}}).then(() => parent.postMessage("sent", "*"),
        () => parent.postMessage("failed", "*"))`;
    frame.srcdoc = "<script>" + attack + "<" + "/script>";
    document.body.append(frame);
});
const ways = {
    fetch_stream: () => fetch(place("events")).then(first),
    fetch_her_stream: () => fetch(place("events?subscription_id=" + it.subscription)).then(first),
    fetch_manifest: () => fetch(it.http + "/.well-known/aaep-manifest.json").then((got) => got.status),
    fetch_metrics: () => fetch(it.http + "/metrics").then((got) => got.status),
    event_source: () => new Promise((done) => {
        const made = new EventSource(place("events"));
        made.addEventListener("aaep.event", (came) => { made.close(); done(came.data); });
        made.onerror = () => { made.close(); done("failed"); };
    }),
    web_socket: () => new Promise((done) => {
        const made = new WebSocket(it.ws + "/aaep/v1/ws", ["aaep.v1"]);
        made.onopen = () => made.send(it.request);
        made.onmessage = (came) => { made.close(); done(came.data); };
        made.onerror = () => done("failed");
    }),
    subscribe: () => post("subscriptions", it.request, {headers: json}),
    reply: () => post("replies", it.yes, {headers: json}),
    reply_with_cookies: () => post("replies", it.yes, {headers: json, credentials: "include"}),
    reply_as_text: () => post("replies", it.yes, {mode: "no-cors"}),
    reply_without_a_type: () => post("replies", new Blob([it.yes]), {mode: "no-cors"}),
    reply_as_a_beacon: async () => navigator.sendBeacon(place("replies"), it.yes),
    reply_as_a_form: () => form("text/plain"),
    reply_as_another_form: () => form("application/x-www-form-urlencoded"),
    reply_around_the_corner: () => fetch("/bounce", {method: "POST", body: it.yes, mode: "no-cors"}),
    reply_from_nowhere: sandbox,
    script: () => tag("script", place("events")),
    image: () => tag("img", it.http + "/healthz"),
};
const attack = async (names) => {
    const told = {};
    for (const name of names ?? Object.keys(ways)) told[name] = await within(ways[name]());
    return told;
};
"""
REACHED = ("silence", "sent", "true", "0", "[object Response]")  # what a page is told that may not see the answer


class Site:
    """Somebody's web server, with a page that holds the script."""

    def __init__(self, host: str, port: int = 0) -> None:
        self.target: Json = {}
        self.lines: set[socket.socket] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.origin = f"http://{host}:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def setup(self) -> None:
                super().setup()
                site.lines.add(self.connection)

            def finish(self) -> None:
                site.lines.discard(self.connection)
                super().finish()

            def do_GET(self) -> None:
                script = f"const it = {json.dumps(site.target)};{SCRIPT}"
                page = f"<!doctype html><title>A page</title><body><script>{script}</script>"
                self.answer(200, page.encode(), ("Content-Type", "text/html; charset=utf-8"))

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(307, b"", ("Location", site.target["http"] + "/aaep/v1/replies"))

            def answer(self, status: int, body: bytes, header: tuple[str, str]) -> None:
                self.send_response(status)
                self.send_header(*header)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Quietly."""

        return Handler

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for line in [*self.lines]:  # a browser opens some before it needs them
            with suppress(OSError):  # it has ended already
                line.shutdown(socket.SHUT_RDWR)


@contextmanager
def site(host: str, port: int = 0) -> Iterator[Site]:
    made = Site(host, port)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def tab() -> Iterator[browser.Tab]:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        browser.tab(Path(folder), "--host-resolver-rules=MAP *.example 127.0.0.1") as made,
    ):
        yield made


class Home(SimpleNamespace):
    """The hub of whoever looks at the page, with a question that is open."""

    producer: Producer
    reader: Raw
    ask: Any
    prompt: Json

    def target(self, host: str = "127.0.0.1") -> Json:
        request = {
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "page",
            "subscriber_name": "A page",
            "capabilities": ANSWERS,
        }
        plain = [one.removeprefix("asgi+") for one in self.producer.addresses]
        ports = [urlsplit(one).port for one in plain]
        return {
            "http": f"http://{host}:{ports[0]}",
            "ws": f"ws://{host}:{ports[-1]}",
            "subscription": self.reader.id,
            "request": json.dumps(request),
            "yes": reply(self.prompt, self.reader.id).decode(),
        }

    def readers(self) -> int:
        return len(self.producer.hub.subscriptions)


@contextmanager
def home(listen: list[str], **settings: Any) -> Iterator[Home]:
    with producer_with("bank", listen=listen, journal=None, **settings) as producer, ExitStack() as stack:
        reader = Raw(WIRES["http"], producer.addresses[0].removeprefix("asgi+"), **ANSWERS)
        stream = stack.enter_context(reader.connect())
        session = stack.enter_context(producer.session("Moving money."))
        ask = session.confirm("Transfer $500.", "Funds move at once.", tool="transfer")
        prompt = reader.wait(stream, PROMPT)
        yield Home(producer=producer, reader=reader, ask=ask, prompt=prompt, session=session)
        if ask.answer is None:
            reader.send(prompt, "reject")
            assert ask.wait(LONG).outcome == "rejected"


DOORS = {"http": ["http://127.0.0.1:0", "ws://127.0.0.1:0"], "asgi": ["asgi+http://127.0.0.1:0"]}


def kept_out(told: Json) -> None:
    for name, answer in told.items():
        assert answer.startswith("failed") or (name.startswith("reply_") and answer in REACHED), told
    # What would have been told is not: neither an event, nor a subscription, nor that there is something at all.
    for name in ("fetch_stream", "fetch_her_stream", "fetch_manifest", "event_source", "web_socket", "subscribe"):
        assert told[name].startswith("failed"), told


@pytest.mark.parametrize("doors", DOORS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_t1_a_page_of_another_origin_does_not_get_through(tab: browser.Tab, doors: str, host: str) -> None:
    with home(DOORS[doors]) as victim, site("evil.example") as evil:
        before = victim.readers()
        evil.target = victim.target(host)
        tab.open(evil.origin)
        told = tab.run("attack()")
        kept_out(told)
        assert len(told) == 18
        assert victim.readers() == before  # it has no subscription, and took over none
        assert victim.ask.answer is None


@pytest.mark.parametrize("doors", DOORS)
def test_t1_a_name_that_was_pointed_at_this_machine_does_not_get_through(tab: browser.Tab, doors: str) -> None:
    """DNS rebinding: the page comes from its own server, and a moment later its name means the hub."""
    with site("rebound.example") as evil:
        port = evil.port
        evil.target = {"http": evil.origin}
        tab.open(evil.origin)
    listen = [one.replace(":0", f":{port}") for one in DOORS[doors][:1]]
    with home(listen) as victim:
        before = victim.readers()
        tab.run(f"Object.assign(it, {json.dumps(victim.target('rebound.example'))}), 0")
        told = tab.run("attack(Object.keys(ways).filter((one) => one != 'reply_around_the_corner'))")
        assert tab.run("location.origin") == told_origin(victim) == evil.origin  # to the browser it is one and the same
        for name in ("fetch_stream", "fetch_her_stream", "fetch_manifest", "fetch_metrics", "subscribe", "reply"):
            assert told[name] == "421", told
        assert told["event_source"] == told["web_socket"] == "failed"
        assert victim.readers() == before and victim.ask.answer is None


def told_origin(victim: Home) -> str:
    return str(victim.target("rebound.example")["http"])


@pytest.mark.parametrize("doors", DOORS)
def test_t1_a_page_on_the_list_hears_and_answers_with_what_a_browser_has(tab: browser.Tab, doors: str) -> None:
    """The control; and a second client that is not ours: ``fetch``, ``EventSource`` and ``WebSocket``."""
    with site("reader.example") as page, home(DOORS[doors], origins=[page.origin]) as victim:
        page.target = victim.target()
        tab.open(page.origin)
        told = tab.run("attack(['fetch_stream', 'event_source', 'web_socket', 'fetch_manifest', 'subscribe'])")
        assert told["fetch_manifest"] == "200" and told["subscribe"] == "201"
        assert json.loads(told["web_socket"])["type"] == "subscription.accepted"
        assert json.loads(told["event_source"])["session_id"] == victim.prompt["session_id"]
        assert victim.ask.answer is None
        # Being on the list is no licence to be careless: what a page sends without being asked first is refused.
        sly = tab.run("attack(['reply_as_text', 'reply_as_a_beacon', 'reply_as_a_form', 'reply_around_the_corner'])")
        assert {*sly.values()} <= {*REACHED} and victim.ask.answer is None
        assert tab.run("attack(['reply'])") == {"reply": "204"}
        assert victim.ask.wait(LONG).granted
        with victim.session.tool("transfer", ask=victim.ask) as call:
            call.result("Moved.")


def test_t1_a_page_on_another_list_is_still_another_page(tab: browser.Tab) -> None:
    with site("evil.example") as evil, home(DOORS["http"], origins=["http://reader.example"]) as victim:
        evil.target = victim.target()
        tab.open(evil.origin)
        kept_out(tab.run("attack()"))
        assert victim.ask.answer is None
