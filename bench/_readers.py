"""
Readers that only count: the same for our doors and for the bare servers beside them.

Each is a socket or a pipe and the least of its protocol: enough to ask, to send
a message and to see the bytes that come. Nothing is taken apart that need not be.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from bench import _http

__all__ = ["READERS", "Reader", "Taken"]

BUFFER: Final = 1024 * 1024
PATIENCE: Final = 60.0  # seconds
REQUEST: Final[dict[str, Any]] = {
    "type": "subscription.request",
    "aaep_version": "1.0.0",
    "subscriber_id": "aaep-bench",
    "subscriber_name": "Bench",
    "capabilities": {"supports_confirmation_reply": True},
}


class Reader:
    """One reader: ``opened`` is what is read. ``subscription`` is its id, empty at a bare server."""

    def __init__(self, opened: socket.socket) -> None:
        self.opened = opened
        self.subscription = ""

    def fileno(self) -> int:
        return self.opened.fileno()

    def receive(self) -> bytes:
        """What has come, without what only the connection needs."""
        data = self.opened.recv(BUFFER)
        if not data:
            raise SystemExit("The server has hung up.")
        return data

    def measure(self, data: bytes) -> int:
        """How much of it counts. It is the same for every frame, however many come in one piece."""
        return len(data)

    def payload(self, data: bytes) -> bytes:
        """Of what came with one frame, what a program gives to its library to send."""
        return data

    def send(self, message: bytes) -> None:
        """Send a message."""
        self.opened.sendall(message)

    def acknowledged(self) -> None:
        """Wait until the transport itself has answered, where it does."""

    def close(self) -> None:
        self.opened.close()

    def until(self, found: Callable[[bytes], bool]) -> bytes:
        """Take what comes until something is found in it."""
        data = self.receive()
        while not found(data):
            data += self.receive()
        return data

    def subscribe(self) -> None:
        """Shake hands on a connection that goes both ways."""
        self.send(msgspec.json.encode(REQUEST))
        answer = self.until(lambda data: b'"honored_capabilities"' in data)
        start = answer.index(b'"subscription_id":"') + 19
        self.subscription = answer[start : answer.index(b'"', start)].decode()


# -- server-sent events --------------------------------------------------------------------


class Events(Reader):
    """A stream of server-sent events, and a second connection to post on."""

    def __init__(self, address: str, *, ours: bool, pipes: tuple[int, int] | None) -> None:
        url = address.removeprefix("asgi+")
        super().__init__(_http.connected(url))
        self._posting = _http.connected(url)
        self._head = b"POST /aaep/v1/replies HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\n" % (
            urlsplit(url).netloc.encode()
        )
        if ours:
            self.subscription = _http.subscribe(self._posting, **REQUEST["capabilities"])
        _http.stream(self.opened, self.subscription)
        self.until(lambda data: b"\r\n\r\n" in data)

    def payload(self, data: bytes) -> bytes:
        return data.partition(b"\r\n")[2].removesuffix(b"\r\n")  # the server makes the chunks

    def measure(self, data: bytes) -> int:
        # Lines of events; each end of a chunk has a return as well.
        return data.count(b"\n") - data.count(b"\r")

    def send(self, message: bytes) -> None:
        self._posting.sendall(self._head + b"Content-Length: %d\r\n\r\n" % len(message) + message)

    def acknowledged(self) -> None:
        answer = self._posting.recv(BUFFER)
        while not answer.endswith(b"\r\n\r\n"):
            answer += self._posting.recv(BUFFER)
        if not answer.startswith(b"HTTP/1.1 204"):
            raise SystemExit(f"The server refused: {answer!r}")

    def close(self) -> None:
        super().close()
        self._posting.close()


# -- WebSocket -----------------------------------------------------------------------------


class Frames(Reader):
    """A WebSocket."""

    def __init__(self, address: str, *, ours: bool, pipes: tuple[int, int] | None) -> None:
        super().__init__(_http.connected(address))
        host = urlsplit(address).netloc.encode()
        self.opened.sendall(
            b"GET /aaep/v1/ws HTTP/1.1\r\nHost: %b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
            b"Sec-WebSocket-Protocol: aaep.v1\r\n\r\n" % host
        )
        self.until(lambda data: b"\r\n\r\n" in data)
        if ours:
            self.subscribe()

    def payload(self, data: bytes) -> bytes:
        return data[4:]

    def send(self, message: bytes) -> None:
        # A client has to mask; with zeros that changes nothing.
        head = struct.pack("!BBH", 0x81, 0x80 | 126, len(message)) + bytes(4)
        self.opened.sendall(head + message)


# -- sockets and pipes of this machine -----------------------------------------------------


class Lengths(Reader):
    """A Unix socket, with a length in front of each message."""

    def __init__(self, address: str, *, ours: bool, pipes: tuple[int, int] | None) -> None:
        super().__init__(socket.socket(socket.AF_UNIX))
        self.opened.connect(unquote(urlsplit(address).path))
        if ours:
            self.subscribe()

    def send(self, message: bytes) -> None:
        self.opened.sendall(len(message).to_bytes(4, "big") + message)


class Lines(Reader):
    """Two pipes, and JSON-RPC on them."""

    def __init__(self, address: str, *, ours: bool, pipes: tuple[int, int] | None) -> None:
        assert pipes is not None
        self._reading, self._writing = pipes
        self.subscription = ""
        if ours:
            self.subscribe()

    def fileno(self) -> int:
        return self._reading

    def receive(self) -> bytes:
        data = os.read(self._reading, BUFFER)
        if not data:
            raise SystemExit("The server has hung up.")
        return data

    def send(self, message: bytes) -> None:
        asks = b'"subscription.request"' in message
        method, call = (b"aaep.subscribe", b',"id":1') if asks else (b"aaep.reply", b"")
        os.write(self._writing, b'{"jsonrpc":"2.0","method":"%b","params":%b%b}\n' % (method, message, call))

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)


# -- gRPC ----------------------------------------------------------------------------------

DATA, HEADERS, SETTINGS, PING, WINDOW = 0, 1, 4, 6, 8
ENDS, ACK = 1, 1
MOST: Final = 2**31 - 1


class Streams(Reader):
    """A gRPC stream on an HTTP/2 connection of its own."""

    def __init__(self, address: str, *, ours: bool, pipes: tuple[int, int] | None) -> None:
        super().__init__(_http.connected(address))
        self._rest = b""
        self._owed = 0  # bytes of the window to give back
        host = urlsplit(address).netloc.encode()
        head = b"\x83\x86" + b"\x04" + _text(urlsplit(address).path.encode() or b"/aaep.v1.AaepService/Subscribe")
        head += b"\x01" + _text(host)
        for name, value in ((b"content-type", b"application/grpc"), (b"te", b"trailers")):
            head += b"\x00" + _text(name) + _text(value)
        self.opened.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            + _frame(SETTINGS, 0, 0, struct.pack("!HI", 4, MOST))
            + _frame(WINDOW, 0, 0, struct.pack("!I", MOST - 65_535))
            + _frame(HEADERS, 4, 1, head)
        )
        if ours:
            self.subscribe()

    def receive(self) -> bytes:
        came, parts = self._rest + super().receive(), []
        at, end = 0, len(came)
        while end - at >= 9:
            size, kind = int.from_bytes(came[at : at + 3], "big"), came[at + 3]
            if end - at - 9 < size:
                break
            if kind == DATA:
                parts.append(came[at + 9 : at + 9 + size])
            elif kind in (SETTINGS, PING) and not came[at + 4] & ACK:
                self.opened.sendall(_frame(kind, ACK, 0, came[at + 9 : at + 17] if kind == PING else b""))
            elif kind not in (HEADERS, SETTINGS, PING, WINDOW) or (came[at + 4] & ENDS and kind == HEADERS):
                raise SystemExit(f"The server has ended the stream: {came[at : at + 9 + size]!r}")
            at += 9 + size
        self._rest = came[at:]
        data = b"".join(parts)
        self._owed += len(data)
        if self._owed > 64 * BUFFER:
            given = struct.pack("!I", self._owed)
            self.opened.sendall(_frame(WINDOW, 0, 0, given) + _frame(WINDOW, 0, 1, given))
            self._owed = 0
        return data

    def payload(self, data: bytes) -> bytes:
        return data[5:]

    def send(self, message: bytes) -> None:
        packed = b"\x0a" + struct.pack("BB", len(message) & 0x7F | 0x80, len(message) >> 7) + message
        self.opened.sendall(_frame(DATA, 0, 1, b"\0" + struct.pack("!I", len(packed)) + packed))


def _text(value: bytes) -> bytes:
    return bytes([len(value)]) + value


def _frame(kind: int, flags: int, stream: int, data: bytes) -> bytes:
    return len(data).to_bytes(3, "big") + struct.pack("!BBI", kind, flags, stream) + data


READERS: Final[dict[str, Callable[..., Reader]]] = {
    "http": Events,
    "asgi": Events,
    "websocket": Frames,
    "unix": Lengths,
    "stdio": Lines,
    "grpc": Streams,
}


class Taken:
    """Takes what comes to many readers."""

    def __init__(self, readers: list[Reader]) -> None:
        self._poll = select.epoll()
        self._by_number = {reader.fileno(): reader for reader in readers}
        for number in self._by_number:
            self._poll.register(number, select.EPOLLIN)

    def __iter__(self) -> Iterator[int]:
        """
        How much came, again and again; it is for the caller to know when it is enough.

        It does not sleep meanwhile: to wake a reader costs the server more than the rest of a write,
        and how often it has to depends on who is faster.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for number, _ in self._poll.poll(0, 256):
                reader = self._by_number[number]
                yield reader.measure(reader.receive())
        raise SystemExit("Something did not arrive.")

    def close(self) -> None:
        self._poll.close()
