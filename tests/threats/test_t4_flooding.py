"""
T4: too much, too slow, too deep, from either side. SEC-021, SEC-022, CAP-004, CF-073, CF-114

Whoever floods is held up or let go, what is kept of it is bounded, and
everybody else is served meanwhile.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from aaep.hub.settings import HubSettings
from aaep.producer.producer import Producer
from aaep.protocol.fields import CORE_CONTEXT
from aaep.protocol.framing import MAX_MESSAGE_BYTES
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.options import ServerOptions
from tests import vectors
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, Raw, stamp
from tests.end_to_end.wires import LONG, WIRES, Json, TwoWay, WebSocket, Wire
from tests.threats.hall import NAMES, Bank, Hall, hall

REQUEST: Json = {
    "type": "subscription.request",
    "aaep_version": "1.0.0",
    "subscriber_id": "flood",
    "subscriber_name": "A flood",
    "capabilities": {},
}


# -- hard to judge -----------------------------------------------------------------------------------


def dumped(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _base(name: str, **members: Any) -> bytes:
    """A sound message with other members; None leaves one out."""
    message = {**json.loads(vectors.message({"base": name}, 1)), **members}
    return dumped({member: value for member, value in message.items() if value is not None})


def _filtered() -> bytes:
    some = [f"aaep:agent.{n:05}" for n in range(20_000)]
    return _base("subscription.accepted", honored_capabilities={"event_filters": {"include": some, "exclude": some}})


# Messages of nearly the largest size, in each of which something could be looked for from every place anew.
HOSTILE: dict[str, Callable[[], bytes]] = {
    "strings without an end": lambda: b"{" + b'\\"' * 500_000,
    "single quotes without an end": lambda: b"{" + b"\\'" * 500_000,
    "comments without an end": lambda: b"{" + b"/* " * 300_000,
    "the last name twice": lambda: dumped({f"a{n}": n for n in range(70_000)})[:-1] + b',"a69999":0}',
    "strange members": lambda: _base("agent.session.started", **{f"x{n}": 2**60 for n in range(30_000)}),
    "prefixes and contexts": lambda: _base(
        "agent.session.started",
        extensions={f"p{n}": {} for n in range(40_000)},
        **{"@context": [CORE_CONTEXT, *(f"u:{n}" for n in range(40_000))]},
    ),
    "markup that does not close": lambda: _base("agent.session.started", summary_normal="<span " * 170_000),
    "empty lines": lambda: _base(
        "agent.output.streaming", chunk="\n" * 500_000 + "x", complete=False, coalesce_hint=None
    ),
    "filters": _filtered,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_t4_no_message_keeps_its_judge_busy(what: str) -> None:
    """Judging takes as long as a message is, whatever it holds. With the square of that it would be hours here."""
    request, raw = _base("subscription.request"), HOSTILE[what]()
    assert MAX_MESSAGE_BYTES // 2 < len(raw) <= MAX_MESSAGE_BYTES
    code = "import sys, aaep; audit = aaep.Audit(); [audit.feed(line) for line in sys.stdin.buffer.read().splitlines()]"
    subprocess.run([sys.executable, "-c", code], input=request + b"\n" + raw, timeout=LONG, check=True)


# -- too many ----------------------------------------------------------------------------------------


def get_status(address: str, path: str) -> int:
    """Return the status of an answer. Until uvloop has seen that the crowd has left, it hangs up: then ask again."""
    give_up = time.monotonic() + LONG
    while True:
        with closing(HTTPConnection(address, timeout=LONG)) as line:
            try:
                line.request("GET", path)
                return line.getresponse().status
            except ConnectionError:
                assert time.monotonic() < give_up


NARROW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); from aaep.cli import main; main()"
LOOPS = {"uvloop": "", "asyncio": "import sys; sys.modules['uvloop'] = None; "}


@pytest.mark.parametrize("loop", LOOPS)
def test_t4_who_only_connects_can_fill_neither_the_log_nor_the_hub(loop: str) -> None:
    """
    Of a process that may open no more files; asyncio would write a thousand tracebacks a second, and uvloop nothing.
    """
    program = LOOPS[loop] + NARROW
    command = [sys.executable, "-c", program, "serve", "--journal", "memory", "--listen", "http://127.0.0.1:0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as hub:
        try:
            assert hub.stderr is not None
            place = urlsplit(hub.stderr.readline().split()[-1])
            assert "Press Ctrl-C" in hub.stderr.readline()
            with ExitStack() as crowd:
                for _ in range(100):
                    crowd.enter_context(socket.create_connection((place.hostname, place.port), LONG))
                assert "raise the limit" in hub.stderr.readline()
            assert get_status(place.netloc, "/healthz") == 200
            hub.terminate()
            assert hub.wait(LONG) == 0
            assert hub.stderr.read() == "Stopped.\n"
        finally:
            hub.kill()


def take_places(bank: Bank, user: str) -> int:
    """Subscribe until it is refused; return how often it was not."""
    for taken in range(41):
        try:
            bank.reader(user)
        except AssertionError as refusal:
            assert "rate_limit" in str(refusal)
            return taken
    raise AssertionError("It was never refused.")


def test_t4_places_are_shared_so_that_there_is_one_for_who_has_none(name: str, folder: Path) -> None:
    """Mallory and Eve subscribe until they are refused; for Ada there is room, and for Bob."""
    with Bank(name, folder) as bank:
        hub = bank.producer.hub
        hub.offer = msgspec.structs.replace(hub.offer, max_subscriptions=40)
        assert take_places(bank, "mallory") == 20
        assert take_places(bank, "eve") == 10
        readers = [bank.reader(user) for user in ("ada", "ada", "bob", "bob")]
        with readers[0].connect() as stream, bank.producer.session("Working."):
            readers[0].wait(stream, "aaep:agent.session.started")


def test_t4_the_places_of_one_user_can_be_set(folder: Path) -> None:
    with Bank("http", folder, settings=HubSettings(max_subscriptions_per_principal=3)) as bank:
        assert take_places(bank, "mallory") == 3
        assert take_places(bank, "ada") == 3


def test_t4_replies_without_end_hold_nobody_up(scene: Hall) -> None:
    """Four of Mallory's connections send what may or may not be replies, as fast as they can, until Ada is done."""
    over = threading.Event()
    begun = threading.Barrier(5)

    def flood(number: int) -> int:
        sent = 0
        while not over.is_set():
            forged = scene.yes(scene.mallory.id, reply_token=f"rpl_{number}x{sent:032x}")
            scene.send("mallory", forged if sent % 3 else b"{" * 1000)
            sent += 1
            if sent == 1:
                begun.wait(LONG)
        return sent

    with ThreadPoolExecutor(4) as pool:
        floods = [pool.submit(flood, number) for number in range(4)]
        try:
            begun.wait(LONG)
            scene.decides()
        finally:
            over.set()
        assert all(one.result(LONG) for one in floods)


# -- too much that nobody takes ------------------------------------------------------------------------


@contextmanager
def asking(name: str) -> Iterator[tuple[Producer, socket.socket, bytes]]:
    """A connection with a subscription, its socket, and a question to be asked there as often as one likes."""
    wire = WIRES[name]
    with Producer("bank", listen=wire.listen, journal=None) as producer:
        url = producer.addresses[0].removeprefix("asgi+")
        line: Any = (wire if isinstance(wire, TwoWay) else WebSocket()).dial(url)
        line.narrow(4096)
        line.send(json.dumps(REQUEST).encode())
        accepted = json.loads(line.receive())
        change = {"type": "subscription.renegotiate", "subscription_id": accepted["subscription_id"]}
        recorded: list[bytes] = []
        real, line._socket = line._socket, _Recorder(recorded)
        line.send(json.dumps(change | {"capabilities": {}}).encode())
        line._socket = real
        try:
            yield producer, real, b"".join(recorded)
        finally:
            line.cut()


class _Recorder:
    def __init__(self, said: list[bytes]) -> None:
        self._said = said

    def sendall(self, data: bytes) -> None:
        self._said.append(data)


async def _left(producer: Producer) -> int:
    return max(
        (one.writer.count_unsent_bytes() for one in producer.hub.subscriptions.all() if one.writer is not None),
        default=0,
    )


@pytest.mark.parametrize("name", ["websocket", "asgi", "unix", "stdio"])  # gRPC has its own test
def test_t4_who_asks_and_takes_no_answers_is_not_listened_to(name: str) -> None:
    with asking(name) as (producer, line, question):
        line.settimeout(0.3)
        # What was read in one go is answered, and then nothing more is read.
        most = 2 * HubSettings().high_water_bytes + 3_000_000
        flood, at, before = memoryview(question * 30_000), 0, -1  # the answers to it are some twenty megabytes
        while (left := producer.hub.run(_left(producer))) != before:  # until nothing moves any more
            assert left <= most
            before = left
            with suppress(TimeoutError):  # it takes no more, as it should
                while at < len(flood):
                    at += line.send(flood[at : at + 65_536])
            select.select([], [], [], 0.3)
        other = Raw(WIRES[name], producer.addresses[0], **ANSWERS)
        with other.connect() as stream, producer.session("Working."):
            other.wait(stream, "aaep:agent.session.started")


ENDLESS = {  # what to begin with, and what to go on with without end, on a connection without a credential
    "requests": (b"", b"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    "header lines": (b"GET /healthz HTTP/1.1\r\nHost: {host}\r\n", b"X-Again: and again\r\n"),
    "a header line": (b"GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Long: ", b"and on "),
    "a path": (b"GET /", b"on"),
    "trailers": (
        b"POST /aaep/v1/replies HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n",
        b"X-Again: and again\r\n",
    ),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_t4_one_connection_without_a_credential_cannot_fill_the_memory(what: str) -> None:
    begin, again = ENDLESS[what]
    with Producer("bank", listen="http://127.0.0.1:0", journal=None) as producer:
        place = urlsplit(producer.addresses[0])
        host = place.netloc.encode()
        much = again.replace(b"{host}", host) * (1_000_000 // len(again))
        with socket.create_connection((str(place.hostname), int(place.port or 0))) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(1.0)
            line.sendall(begin.replace(b"{host}", host))
            # Nothing is read here. The kernel buffers some megabytes; a server that reads on takes all of it.
            with pytest.raises((TimeoutError, ConnectionError)):
                for _ in range(40):
                    line.sendall(much)
            reader = Raw(WIRES["http"], producer.addresses[0], **ANSWERS)  # while the flood hangs there
            with reader.connect() as stream, producer.session("Working."):
                reader.wait(stream, "aaep:agent.session.started")


def test_t4_a_reader_that_takes_nothing_is_let_go_and_the_others_hear_all(wire: Wire) -> None:
    with Producer("bank", listen=wire.listen, journal=None) as producer:
        hub = producer.hub
        hub.delivery.settings = hub.settings = msgspec.structs.replace(hub.settings, max_lag=3.0)
        stuck, well = (Raw(wire, producer.addresses[0], **ANSWERS) for _ in range(2))
        with stuck.connect(buffer=4096), well.connect() as stream, producer.session("Telling a story.") as session:
            late = time.monotonic() + LONG
            text = "This is a sentence of a story without end. " * 20
            while "slow 1" not in _told(producer) and time.monotonic() < late:
                session.write(text)
                assert well.take(stream, lambda event: bool(event.get("complete"))) is not None
            assert "slow 1" in _told(producer)
            session.complete()
            well.wait(stream, *ENDS)
        assert well.errors() == []


def _told(producer: Producer) -> str:
    return f"slow {producer.hub._slow_readers}"


@pytest.fixture(params=["http", "websocket", "unix"])
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


# -- the other way round: a producer that floods -----------------------------------------------------


class Spring:
    """A producer by hand, whose stream is whatever a test has it be."""

    def __init__(self, stream: Callable[[socket.socket], None]) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._stream = stream
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line:
            data = b""
            while b"\r\n\r\n" not in data or (data.startswith(b"POST") and b"}" not in data):
                piece = line.recv(65_536)
                if not piece:
                    return
                data += piece
            if data.startswith(b"POST"):
                body = json.dumps(
                    {
                        "type": "subscription.accepted",
                        "aaep_version": "1.0.0",
                        "subscription_id": "sub_1",
                        "honored_capabilities": {},
                        "producer": {"agent_id": "flood"},
                    }
                ).encode()
                line.sendall(_head(201, "application/json", f"Content-Length: {len(body)}") + body)
            elif b"/aaep/v1/events" in data.split(b"\r\n")[0]:
                line.sendall(_head(200, "text/event-stream", "Connection: close"))
                self._stream(line)
            else:
                line.sendall(_head(404, "text/plain", "Content-Length: 0"))

    def close(self) -> None:
        self._listening.close()


def _head(status: int, kind: str, more: str) -> bytes:
    return f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\n{more}\r\n\r\n".encode()


def _event(number: int, text: str = "Hello.") -> bytes:
    event = {
        "@context": "https://aaep-protocol.org/context/v1",
        "aaep_version": "1.0.0",
        "type": "aaep:agent.session.started",
        "event_id": f"evt_{number}",
        "session_id": f"sess_{number}",
        "timestamp": stamp(),
        "producer": {"agent_id": "flood"},
        "verbosity": "normal",
        "urgency": "normal",
        "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
        "summary_normal": text,
    }
    return f"event: aaep.event\nid: evt_{number}\ndata: {json.dumps(event)}\n\n".encode()


@contextmanager
def spring(stream: Callable[[socket.socket], None]) -> Iterator[str]:
    made = Spring(stream)
    try:
        yield made.url
    finally:
        made.close()


def test_t4_a_reader_takes_no_more_than_it_can_pass_on() -> None:
    """Nobody takes anything out of it: so it takes nothing in, beyond a measure."""
    sent, blocked = [0], threading.Event()

    def flood(line: socket.socket) -> None:
        line.settimeout(1.0)
        batch = [b"".join(_event(number, "x" * 2000) for number in range(at, at + 20)) for at in range(0, 40_000, 20)]
        try:
            for one in batch:  # a hundred megabytes
                line.sendall(one)
                sent[0] += len(one)
        except OSError:
            pass  # let go, as it should be
        blocked.set()

    with spring(flood) as url, Subscriber(url, reconnect=False) as subscriber:
        assert blocked.wait(LONG)
        assert sent[0] < 50_000_000
        heard = [next(subscriber).event_id for _ in range(100)]  # and what it took is all there
        assert heard == [f"evt_{number}" for number in range(100)]


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES + 1, 8 * MAX_MESSAGE_BYTES])
def test_t4_one_message_without_end_is_not_kept_and_the_next_one_is_heard(size: int) -> None:
    """LIM-008"""

    def swollen(line: socket.socket) -> None:
        line.sendall(_event(1))
        line.sendall(b"event: aaep.event\nid: evt_2\ndata: ")
        for _ in range(size // 65_536 + 1):
            line.sendall(b"[" * 65_536)
        line.sendall(b"\n\n" + _event(3))
        line.recv(1)

    with spring(swollen) as url, Subscriber(url, reconnect=False) as subscriber:
        assert [next(subscriber).event_id for _ in range(2)] == ["evt_1", "evt_3"]


# -- too slow ------------------------------------------------------------------------------------------

HEAD = "POST /aaep/v1/replies HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
UPGRADE = (
    "GET /aaep/v1/ws HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
    "Sec-WebSocket-Protocol: aaep.v1\r\n\r\n"
)
HALVES: dict[str, tuple[str, bytes]] = {
    "http: nothing": ("http", b""),
    "http: half a line": ("http", b"POST /aaep/v1/rep"),
    "http: half a head": ("http", HEAD.encode()),
    "http: half a body": ("http", HEAD.encode() + b'Content-Length: 100\r\n\r\n{"type":'),
    "http: half a chunk": ("http", HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n40\r\n{"),
    "asgi: half a body": ("asgi", HEAD.encode() + b'Content-Length: 100\r\n\r\n{"type":'),
    "websocket: nothing": ("websocket", b""),
    "websocket: half a head": ("websocket", UPGRADE[:-20].encode()),
    "websocket: no request": ("websocket", UPGRADE.encode()),
    "websocket: half a frame": ("websocket", UPGRADE.encode() + b"\x81\xfe\xff\xff\0\0\0\0{"),
    "websocket: half a message": ("websocket", UPGRADE.encode() + b"\x01\x81\0\0\0\0{"),
    "unix: nothing": ("unix", b""),
    "unix: half a length": ("unix", b"\0\0"),
    "unix: half a message": ("unix", b"\0\0\xff\xff{"),
    "unix: half a line": ("unix", b'{"type":'),
    "grpc: nothing": ("grpc", b""),
    "grpc: half a preface": ("grpc", b"PRI * HTTP/2.0\r\n"),
}


def _dialled(url: str) -> socket.socket:
    place = urlsplit(url.removeprefix("asgi+"))
    if place.hostname is None:
        made = socket.socket(socket.AF_UNIX)
        made.connect(place.path)
    else:
        made = socket.create_connection((place.hostname, int(place.port or 0)))
    made.settimeout(LONG)
    return made


@pytest.mark.parametrize("case", HALVES)
def test_t4_who_never_finishes_is_let_go_and_the_others_are_served(case: str) -> None:
    name, data = HALVES[case]
    wire = WIRES[name]
    with ExitStack() as stack:
        producer = stack.enter_context(
            Producer("bank", listen=wire.listen, journal=None, server=ServerOptions(request_timeout=1.0))
        )
        url = producer.addresses[0]
        sent = data.replace(b"{host}", urlsplit(url).netloc.encode())
        slow = []
        for _ in range(40):
            slow.append(stack.enter_context(_dialled(url)))
            slow[-1].sendall(sent)
        reader = Raw(wire, url, **ANSWERS)  # while they all hang there
        with reader.connect() as stream, producer.session("Moving money.") as session:
            ask = session.confirm("Transfer $500.", "Funds move at once.")
            prompt = reader.wait(stream, PROMPT)
            reader.send(prompt, "reject")
            assert ask.wait(LONG).outcome == "rejected"
        for line in slow:
            with pytest.raises(ConnectionError):
                while line.recv(65_536):
                    pass
                raise ConnectionError("closed in order")


# -- too large, too deep -------------------------------------------------------------------------------

DEEP = 10_000


def _deep(inner: str, opening: str, closing: str) -> str:
    return opening * DEEP + inner + closing * DEEP


BOMBS: dict[str, Callable[[str], bytes]] = {
    "lists": lambda _: _deep("", "[", "]").encode(),
    "lists without an end": lambda _: b"[" * MAX_MESSAGE_BYTES,
    "objects": lambda _: _deep("1", '{"a":', "}").encode(),
    "objects without an end": lambda _: b'{"a":' * (MAX_MESSAGE_BYTES // 5),
    "a reply with a deep wish": lambda good: (
        good[:-1].encode() + b',"modified_action":' + b"[" * DEEP + b"]" * DEEP + b"}"
    ),
    "a reply with a deep member": lambda good: (
        good[:-1].encode() + b',"x":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}"
    ),
    "a reply in a list": lambda good: b"[" * DEEP + good.encode() + b"]" * DEEP,
    "a megabyte and more": lambda good: good.encode() + b" " * MAX_MESSAGE_BYTES,
    "a long text": lambda good: (
        good[:-1].encode() + b',"decided_by":"' + b"x" * (MAX_MESSAGE_BYTES - len(good) - 20) + b'"}'
    ),
    "a large number": lambda good: good[:-1].encode() + b',"x":' + b"9" * 100_000 + b"}",
    "a small number": lambda good: good[:-1].encode() + b',"x":1e-' + b"9" * 100_000 + b"}",
    "many members": lambda good: (
        good[:-1].encode() + b"," + ",".join(f'"{n}":0' for n in range(60_000)).encode() + b"}"
    ),
    "one member many times": lambda good: good[:-1].encode() + b',"a":0' * 100_000 + b"}",
    "escapes": lambda good: good[:-1].encode() + b',"x":"' + rb"\u0000" * 100_000 + b'"}',
    "no utf-8": lambda good: good.encode().replace(b"accept", b"acc\xffept"),
}


@pytest.mark.parametrize("case", BOMBS)
@pytest.mark.parametrize("name", NAMES)
def test_t4_a_bomb_is_refused_and_decides_nothing(name: str, case: str, folder: Path) -> None:
    """What looks like a yes, and is too large, too deep or too odd to be taken in. The hub goes on."""
    with hall(name, folder) as scene:
        good = scene.yes(scene.ada.id).decode()
        bomb = BOMBS[case](good)
        with suppress(ConnectionError):  # hung up on before it was through
            scene.send("mallory", bomb.replace(scene.ada.id.encode(), scene.mallory.id.encode()))
        scene.decides()


@pytest.mark.parametrize("name", NAMES)
def test_t4_a_deep_or_endless_handshake_is_answered_or_refused(name: str, folder: Path) -> None:
    with hall(name, folder) as scene:
        wire = scene.bank.wire("mallory")
        deep: Any = 1
        for _ in range(400):  # as much as our own encoder can make
            deep = {"a": [deep]}
        wide = {f"x{number}": number for number in range(5000)}
        for wish in (
            {"attend": deep},
            {"evil": deep},
            wide,
            {"supported_extensions": [f"https://evil.example/v{n}" for n in range(5000)]},
            {"coalesce_boundaries": ["word"] * 5000},
            {"preferred_languages": ["en-US"] * 5000},
            {"event_filters": {"include": ["*"] * 5000, "exclude": ["a" * 5000]}},
        ):
            try:
                accepted = wire.subscribe(scene.url, **wish)
            except AssertionError:
                continue  # no place left for this one
            assert len(json.dumps(accepted)) < 20_000 + len(json.dumps(wish))
        scene.decides()
