"""
How somebody without our library talks to a producer, for each transport there is.

A transport is a package, and a package may serve several; one without an entry in
:data:`WIRES` fails a test, and an entry is all it takes to meet every test of this folder.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import struct
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self
from urllib.parse import urlsplit

import aaep
import tests.end_to_end.pipes  # noqa: F401  # which makes an address known
from aaep.transports.base import find_transport
from tests import stubs

LONG: Final = 60.0  # seconds that nothing here should take
Json = dict[str, Any]
Answer = tuple[Any, ...]  # everything a sender can see of what it was answered, but for the time of day

_TRANSPORTS: Final = Path(aaep.__file__).parent / "transports"


_SERVED_BY: Final = {"http": ["http", "websocket"]}  # what a package serves, if not just what it is called


def transports() -> list[str]:
    """The transports there are."""
    packages = [path.parent.name for path in _TRANSPORTS.glob("*/__init__.py")]
    return sorted(name for package in packages for name in _SERVED_BY.get(package, [package]))


def name_of(url: str) -> str:
    """The name of a URL's transport among them."""
    package = Path(str(find_transport(url).__file__)).parent.name  # type: ignore[attr-defined]  # a transport is a module
    return "websocket" if urlsplit(url).scheme in ("ws", "wss") else package


class Gone(Exception):
    """The subscription that was asked for has ended, or never was."""


class Stream(Protocol):
    """One reader's connection. Iterating gives events; it ends when the producer ends it."""

    raw: list[bytes]  # every event as it came

    @property
    def last(self) -> str:
        """The id to resume after."""

    @property
    def closing(self) -> Json | None:
        """What the producer said when it ended the subscription."""

    def __iter__(self) -> Iterator[Json]: ...

    def __next__(self) -> Json: ...

    def cut(self) -> None:
        """Let go without a word, as a bad network does."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Wire(Protocol):
    """One transport, seen from outside."""

    listen: str  # the URL to serve at, any free place
    mends: bool  # whether there may be an agent again after a connection has ended
    rejoins: bool  # whether a subscription outlives its connection and can be taken up again by its id

    def through(self, host: str) -> Json:
        """What a producer has to be told to be reached through a relay."""

    def ends(self, data: bytes) -> list[int]:
        """Where each event ends in what a producer has sent."""

    def subscribe(self, url: str, **capabilities: Any) -> Json:
        """The answer to a request for a subscription."""

    def stream(self, url: str, subscription_id: str = "", after: str = "", *, buffer: int = 0) -> Stream:
        """A subscription's events; without its id, what is sent to those who have none. Raises :exc:`Gone`."""

    def send(self, url: str, message: bytes) -> Answer:
        """Send a reply, a change of terms or a close."""

    def renegotiated(self, answer: Answer) -> Json:
        """What a change of terms was answered with."""


# -- HTTP, appendix B.1 --------------------------------------------------------------------


class _ServerSentEvents:
    def __init__(self, wire: socket.socket, response: http.client.HTTPResponse) -> None:
        self.last = ""
        self.closing: Json | None = None
        self.raw: list[bytes] = []
        self._wire, self._response = wire, response

    def __iter__(self) -> Iterator[Json]:
        return self

    def __next__(self) -> Json:
        fields: dict[str, str] = {}
        late = time.monotonic() + LONG  # a heart that beats would keep us waiting for ever
        while line := self._response.readline():
            if time.monotonic() > late:
                raise TimeoutError("Nothing but heartbeats came.")
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name and not line.startswith(b":"):
                fields[name] = value
            elif "data" in fields:
                message: Json = json.loads(fields["data"])
                if fields["event"] == "aaep.event":
                    assert fields["id"] == message["event_id"]
                    self.last = fields["id"]
                    self.raw.append(fields["data"].encode())
                    return message
                self.closing, fields = message, {}
        raise StopIteration

    def cut(self) -> None:
        # Lingering for no time resets the connection instead of closing it.
        self._wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._response.close()
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._response.close()
        self._wire.close()


class Http:
    """Appendix B.1, with what Python brings along."""

    listen = "http://127.0.0.1:0"
    mends = True
    rejoins = True
    headers: Final[dict[str, str]]  # that show who it is

    def __init__(self, headers: dict[str, str] | None = None) -> None:
        self.headers = headers or {}

    _frame = re.compile(rb"id: [^\n]*\ndata: [^\n]*\n\n\r\n")

    def through(self, host: str) -> Json:
        return {"hosts": [host]}

    def ends(self, data: bytes) -> list[int]:
        return [found.end() for found in self._frame.finditer(data)]

    def subscribe(self, url: str, **capabilities: Any) -> Json:
        request = {
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "end-to-end",
            "subscriber_name": "A reader in a test",
            "capabilities": capabilities,
        }
        status, headers, body = self._post(url, "subscriptions", json.dumps(request).encode())
        assert status == 201, body
        answer: Json = json.loads(body)
        assert dict(headers)["location"] == f"/aaep/v1/events?subscription_id={answer['subscription_id']}"
        return answer

    def stream(self, url: str, subscription_id: str = "", after: str = "", *, buffer: int = 0) -> Stream:
        place = urlsplit(url)
        wire = socket.socket()
        try:
            if buffer:
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            wire.settimeout(LONG)
            wire.connect((place.hostname, place.port))
            connection = http.client.HTTPConnection(str(place.hostname), place.port)
            connection.sock = wire
            query = f"?subscription_id={subscription_id}" if subscription_id else ""
            headers = self.headers | {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
            connection.request("GET", f"/aaep/v1/events{query}", headers=headers)
            response = connection.getresponse()
        except BaseException:
            wire.close()
            raise
        if response.status == 200:
            return _ServerSentEvents(wire, response)
        response.close()
        wire.close()
        assert response.status in (204, 404)
        raise Gone(subscription_id)

    def send(self, url: str, message: bytes) -> Answer:
        return self._post(url, "replies", message)

    def renegotiated(self, answer: Answer) -> Json:
        assert answer[0] == 200, answer
        message: Json = json.loads(answer[2])
        return message

    def _post(self, url: str, place: str, message: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=LONG)
        try:
            headers = {**self.headers, "Content-Type": "application/json"}
            connection.request("POST", f"/aaep/v1/{place}", message, headers)
            response = connection.getresponse()
            shown = [(name.lower(), value) for name, value in response.getheaders() if name.lower() != "date"]
            return response.status, shown, response.read()
        finally:
            connection.close()


class Asgi(Http):
    """The same, inside an application that somebody else's server runs."""

    listen = "asgi+http://127.0.0.1:0"
    _frame = re.compile(rb"id: [^\n]*\ndata: [^\n]*\n\n")  # a chunk may have several


# -- connections that go both ways ------------------------------------------------------------


class Line(Protocol):
    """One connection, by hand. Everything waits; what takes too long is a :exc:`TimeoutError`."""

    ending: Answer  # what the transport itself said when it ended

    def send(self, message: bytes) -> None: ...

    def receive(self) -> bytes | None:
        """The next message; None when the producer has ended the connection."""

    def narrow(self, buffer: int) -> None:
        """Leave room for no more than so many bytes that nobody has read."""

    def cut(self) -> None:
        """Let go without a word."""


class _Reader:
    """One subscription after another on one connection after another, which is all the same to who reads."""

    def __init__(self, wire: TwoWay, url: str, capabilities: Json, buffer: int = 0) -> None:
        self._wire, self.url, self._capabilities = wire, url, capabilities
        self.turn = threading.RLock()  # of who reads from the line
        self.inbox: deque[bytes] = deque()
        self.last = ""
        self.fresh = False
        self.dial("", buffer)

    def dial(self, after: str, buffer: int = 0) -> None:
        """Subscribe, and go on after what was heard last (CF-084)."""
        self.line, self.after, self.lost = self._wire.dial(self.url), after, False
        if buffer:
            self.line.narrow(buffer)
        self.answers: list[Json] = []
        self.closing: Json | None = None
        self.ended = False
        attend = {"attend": {"resume_after": after}} if after else {}
        request = {
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "end-to-end",
            "subscriber_name": "A reader in a test",
            "capabilities": self._capabilities | attend,
        }
        self.line.send(json.dumps(request).encode())
        self.accepted = self.answer()
        if self.accepted.get("type") != "subscription.accepted":
            self.line.cut()
            raise AssertionError(self.accepted or f"It ended: {self.line.ending}")
        self.id: str = self.accepted["subscription_id"]
        self.fresh = True

    def answer(self) -> Json:
        """The answer to a handshake message; nothing if the connection ends instead."""
        while not self.answers and not self.ended:
            self.pull()
        return self.answers.pop(0) if self.answers else {}

    def pull(self) -> None:
        """Take one message from the line."""
        raw = self.line.receive()
        if raw is None:
            self.ended = True
            return
        message = json.loads(raw)
        if message["type"] in ("subscription.accepted", "subscription.rejected"):
            self.answers.append(message)
        elif message["type"] == "subscription.close":
            self.closing = message
        else:
            self.inbox.append(raw)

    def probe(self) -> Json:
        """Change nothing, so that the answer shows that everything before it was dealt with."""
        message = {"type": "subscription.renegotiate", "subscription_id": self.id, "capabilities": {}}
        self.line.send(json.dumps(message).encode())
        return self.answer()


class _Talk:
    """What a reader hears."""

    def __init__(self, reader: _Reader, after: str) -> None:
        self.raw: list[bytes] = []
        self._reader, reader.last = reader, after

    @property
    def last(self) -> str:
        return self._reader.last

    @property
    def closing(self) -> Json | None:
        return self._reader.closing

    def __iter__(self) -> Iterator[Json]:
        return self

    def __next__(self) -> Json:
        reader = self._reader
        with reader.turn:
            while not reader.inbox:
                if reader.ended:
                    raise StopIteration
                reader.pull()
            raw = reader.inbox.popleft()
        event: Json = json.loads(raw)
        # What was sent ahead of its turn is no place to go on after: something before it may be still to come.
        resync = event.get("extensions", {}).get("attend", {}).get("resync")
        if "reply_token" not in event and not resync:
            reader.last = event["event_id"]
        self.raw.append(raw)
        return event

    def cut(self) -> None:
        self._reader.line.cut()
        self._reader.inbox.clear()
        self._reader.lost = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()


class TwoWay:
    """
    A transport whose connection is one subscription (CF-040).

    Who comes back asks anew and says what was heard last. Who sends what is no
    message is hung up on, and comes back by itself.
    """

    listen: str
    mends = True
    rejoins = False

    def __init__(self, headers: dict[str, str] | None = None) -> None:
        self.headers: Final = headers or {}  # that show who it is
        self._readers: dict[str, _Reader] = {}  # by the id of the first subscription

    def dial(self, url: str) -> Line:
        """Open a connection."""
        raise NotImplementedError

    def ends(self, data: bytes) -> list[int]:
        raise NotImplementedError

    def through(self, host: str) -> Json:
        return {}

    def subscribe(self, url: str, **capabilities: Any) -> Json:
        reader = _Reader(self, url, capabilities)
        self._readers[reader.id] = reader
        return reader.accepted

    def stream(self, url: str, subscription_id: str = "", after: str = "", *, buffer: int = 0) -> Stream:
        if not subscription_id:  # here nobody is without one; but one can ask for nothing
            return _Talk(_Reader(self, url, {}), "")
        reader = self._readers.get(subscription_id)
        if reader is None or (reader.closing is not None and reader.closing["reason_code"] != "slow_consumer"):
            raise Gone(subscription_id)
        with reader.turn:
            if not reader.fresh or after != reader.after:
                reader.line.cut()
                reader.dial(after, buffer)
            elif buffer:
                reader.line.narrow(buffer)
            reader.fresh = False
        return _Talk(reader, after)

    def send(self, url: str, message: bytes) -> Answer:
        try:
            named = json.loads(message)["subscription_id"]
        except (ValueError, KeyError, TypeError, RecursionError):
            named = None
        reader = self._readers.get(named) if isinstance(named, str) else None
        if reader is None or reader.ended or reader.url != url:
            stranger = _Reader(self, url, {})  # somebody else's connection
            try:
                return self._sent(stranger, message)
            finally:
                stranger.line.cut()
        if reader.lost:
            reader.dial(reader.last)
        return self._sent(reader, message.replace(str(named).encode(), reader.id.encode()))

    def _sent(self, reader: _Reader, message: bytes) -> Answer:
        """Everything there is to see of what became of a message."""
        with reader.turn:
            reader.line.send(message)
            if b'"subscription.close"' in message:
                while not reader.ended:
                    reader.pull()
                reader.closing = json.loads(message)
                return ("closed", *reader.line.ending)
            if b'"subscription.renegotiate"' in message:
                return ("answered", reader.answer())
            if reader.probe():
                return ("silence",)
            said = reader.closing["reason_code"] if reader.closing else None
            answer = ("ended", said, *reader.line.ending)
            fresh = reader.fresh
            reader.dial(reader.last)
            reader.fresh = fresh
            return answer

    def hang_up(self) -> None:
        """Let go of every connection."""
        for reader in self._readers.values():
            reader.line.cut()

    def renegotiated(self, answer: Answer) -> Json:
        assert answer[0] == "answered", answer
        message: Json = answer[1] | {"subscription_id": self._known_as(answer[1]["subscription_id"])}
        return message

    def _known_as(self, subscription_id: str) -> str:
        return next(name for name, reader in self._readers.items() if reader.id == subscription_id)


# -- WebSocket, appendix B.2 -----------------------------------------------------------------


class _Frames:
    """A WebSocket by hand."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        place = urlsplit(url)
        self.ending: Answer = ()
        self._socket = socket.create_connection((str(place.hostname), int(place.port or 0)), LONG)
        head = (
            f"GET /aaep/v1/ws HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
            "Sec-WebSocket-Protocol: aaep.v1\r\n"
        )
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._socket.sendall(f"{head}{lines}\r\n".encode())
        self._data = b""
        while b"\r\n\r\n" not in self._data:
            self._more()
        answer, _, self._data = self._data.partition(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 101 ") or b"protocol: aaep.v1" not in answer.lower():
            self._socket.close()
            raise AssertionError(answer)

    def _more(self) -> None:
        data = self._socket.recv(65_536)
        if not data:
            raise ConnectionError
        self._data += data

    def send(self, message: bytes) -> None:
        self._write(0x81, message)

    def _write(self, first: int, data: bytes) -> None:
        size = len(data)
        longer = struct.pack("!BH", 0xFE, size) if size < 65_536 else struct.pack("!BQ", 0xFF, size)
        long = bytes((0x80 | size,)) if size < 126 else longer
        self._socket.sendall(bytes((first,)) + long + b"\0\0\0\0" + data)  # a mask of zeros changes nothing

    def receive(self) -> bytes | None:
        late = time.monotonic() + LONG
        while time.monotonic() < late:
            try:
                while (found := _server_frame(self._data, 0)) is None:
                    self._more()
            except ConnectionError:
                return None
            first, data, end = found
            self._data = self._data[end:]
            if first == 0x81:
                return data
            if first == 0x88:
                self.ending = (int.from_bytes(data[:2]),)
                with contextlib.suppress(OSError):  # the other side did not wait for it
                    self._write(0x88, data[:2])
                self._socket.close()
                return None
            if first == 0x89:
                self._write(0x8A, data)
        raise TimeoutError("Nothing but heartbeats came.")

    def narrow(self, buffer: int) -> None:
        # Less than what was promised at first would have the other side send in drops.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, max(buffer, 65_536))

    def cut(self) -> None:
        if self._socket.fileno() >= 0:
            # Lingering for no time resets the connection instead of closing it.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._socket.close()


def _server_frame(data: bytes, at: int) -> tuple[int, bytes, int] | None:
    """The frame that begins at a place, and where it ends; None if it is not all there."""
    if len(data) < at + 2:
        return None
    size, start = data[at + 1], at + 2
    if size > 125:
        width = 2 if size == 126 else 8
        size, start = int.from_bytes(data[start : start + width]), start + width
    if len(data) < max(start, start + size):
        return None
    return data[at], data[start : start + size], start + size


class WebSocket(TwoWay):
    """Appendix B.2."""

    listen = "ws://127.0.0.1:0"

    def dial(self, url: str) -> Line:
        return _Frames(url, self.headers)

    def through(self, host: str) -> Json:
        return {"hosts": [host]}

    def ends(self, data: bytes) -> list[int]:
        at = data.find(b"\r\n\r\n") + 4 if data.startswith(b"HTTP/") else 0
        found = []
        while (frame := _server_frame(data, at)) is not None:
            _, text, at = frame
            if b'"type":"aaep:' in text:
                found.append(at)
        return found


# -- sockets, appendix B.4 -------------------------------------------------------------------


class _Lengths:
    """Messages behind their lengths."""

    ending: Answer = ()

    def __init__(self, url: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LONG)
        self._socket.connect(urlsplit(url).path)
        self._file = self._socket.makefile("rb")

    def send(self, message: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # why it was ended is still to be read
            self._socket.sendall(len(message).to_bytes(4) + message)

    def receive(self) -> bytes | None:
        with contextlib.suppress(ConnectionResetError):  # cut off, which is an end too
            if not self._file.closed and (head := self._file.read(4)):
                return self._file.read(int.from_bytes(head))
        self.cut()
        return None

    def narrow(self, buffer: int) -> None:
        """What was not read waits with its sender, on this kind of socket."""

    def cut(self) -> None:
        self._file.close()
        self._socket.close()


class _Places(TwoWay):
    """A transport whose addresses are paths of sockets; another one each time it is asked."""

    scheme: str
    _numbers = count()
    _folder: Final = tempfile.TemporaryDirectory(prefix="aaep-")

    def __getattribute__(self, name: str) -> Any:
        if name == "listen":
            return f"{self.scheme}://{self._folder.name}/{next(self._numbers)}.sock"
        return super().__getattribute__(name)


class Unix(_Places):
    """Appendix B.4, with a length in front of each message."""

    scheme = "unix"

    def dial(self, url: str) -> Line:
        return _Lengths(url)

    def ends(self, data: bytes) -> list[int]:
        found, at = [], 0
        while len(data) >= at + 4 and len(data) >= (end := at + 4 + int.from_bytes(data[at : at + 4])):
            if b'"type":"aaep:' in data[at:end]:
                found.append(end)
            at = end
        return found


# -- gRPC, appendix B.5 ------------------------------------------------------------------------


class _Generated:
    """A stream of the client that gRPC's own tools made."""

    def __init__(self, url: str, headers: dict[str, str], life: float) -> None:
        self.ending: Answer = ()
        metadata = tuple((name.lower(), value) for name, value in headers.items())
        self._stream = stubs.Stream(urlsplit(url).netloc, metadata=metadata, timeout=life)

    def send(self, message: bytes) -> None:
        self._stream.send(message)

    def receive(self) -> bytes | None:
        message = self._stream.receive()
        if message is None:
            self.ending = (self._stream.code, self._stream.call.details())
            return None
        assert message.message_type == json.loads(message.json)["type"]
        return bytes(message.json)

    def narrow(self, buffer: int) -> None:
        """It takes what it is asked for, and a window that never grows."""

    def cut(self) -> None:
        self._stream.cut()


class Grpc(TwoWay):
    """Appendix B.5."""

    listen = "grpc://127.0.0.1:0"
    life = stubs.LONG  # seconds after which a stream is given up

    def dial(self, url: str) -> Line:
        return _Generated(url, self.headers, self.life)

    def ends(self, data: bytes) -> list[int]:
        """Where the HTTP/2 frames end that have events in them: once for each."""
        at, found = 0, []
        while len(data) >= at + 9 and len(data) >= (end := at + 9 + int.from_bytes(data[at : at + 3])):
            events = data[at:end].count(b'"type":"aaep:') if data[at + 3] == 0 else 0
            found += [end] * events
            at = end
        return found


# -- pipes, appendix B.6 ---------------------------------------------------------------------


class _Calls:
    """JSON-RPC on two pipes, which are the two directions of a socket here."""

    ending: Answer = ()
    _methods: Final = {
        "subscription.request": "subscribe",
        "subscription.renegotiate": "renegotiate",
        "subscription.close": "close",
    }

    def __init__(self, url: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LONG)
        self._socket.connect(urlsplit(url).path)
        self._file = self._socket.makefile("rb")
        self._over = False

    def send(self, message: bytes) -> None:
        try:
            method = self._methods.get(json.loads(message)["type"], "reply")
        except (ValueError, KeyError, TypeError, RecursionError):
            method = "reply"
        call = b',"id":1' if method in ("subscribe", "renegotiate") else b""
        with contextlib.suppress(BrokenPipeError):  # hung up on; what came before is read next
            self._socket.sendall(
                b'{"jsonrpc":"2.0","method":"aaep.%b","params":%b%b}\n' % (method.encode(), message, call)
            )
            if method == "close":
                self._socket.shutdown(socket.SHUT_WR)  # here it is for the reader to end the connection

    def receive(self) -> bytes | None:
        with contextlib.suppress(ConnectionResetError):  # cut off, which is an end too
            while not self._over and not self._file.closed and (line := self._file.readline()):
                message = json.loads(line)
                if "error" in message and message["id"] is not None:
                    return json.dumps({"type": "subscription.rejected", "reason_code": message["error"]}).encode()
                if "error" not in message:  # of a line that was none: it is for no call, and says no more
                    self._over = message.get("method") == "aaep.close"
                    return json.dumps(message["params"] if "method" in message else message["result"]).encode()
        self.cut()
        return None

    def narrow(self, buffer: int) -> None:
        """What was not read waits with its sender, on this kind of socket."""

    def cut(self) -> None:
        self._file.close()
        self._socket.close()


class Stdio(_Places):
    """Appendix B.6, with as many readers as there are pipes: see ``pipes.py``."""

    mends = False  # nobody starts an agent again that has ended

    scheme = "pipes"

    def dial(self, url: str) -> Line:
        return _Calls(url)

    def ends(self, data: bytes) -> list[int]:
        return [found.end() for found in re.finditer(rb"[^\n]*\n", data) if b'"method":"aaep.event"' in found[0]]


WIRES: Final[dict[str, Wire]] = {
    "http": Http(),
    "asgi": Asgi(),
    "websocket": WebSocket(),
    "unix": Unix(),
    "stdio": Stdio(),
    "grpc": Grpc(),
}
