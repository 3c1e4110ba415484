"""
HTTP with nothing between us and the bytes: what a played producer is served with.

It reads any request, however odd, and writes whatever it is told to: also half
an event. A subscriber that depends on more than the protocol promises shows it here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from ...errors import AaepError
from ...identity.origins import parts_of
from ...protocol.codec import encode
from ...protocol.framing import encode_sse
from ...protocol.messages import SubscriptionClose
from ...runtime.background import close_server
from ...transports.base import Reachable

if TYPE_CHECKING:
    from .fake_producer import FakeProducer

__all__ = ["RawHttpServer"]

_MAX_BODY_BYTES: Final = 1_048_576
_REASON_PHRASES: Final = {
    200: "OK",
    201: "Created",
    204: "No Content",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
}
_EVENTS_PATH: Final = "/aaep/v1/events"
_SUBSCRIPTIONS_PATH: Final = "/aaep/v1/subscriptions"
_REPLIES_PATH: Final = "/aaep/v1/replies"
_MANIFEST_PATH: Final = "/.well-known/aaep-manifest.json"


def _frame_event(event_id: str, data: bytes) -> bytes:
    return encode_sse(data, id=event_id)


class _RawFrameWriter:
    """One stream: what is written goes out as it is."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.frame: Callable[[str, bytes], bytes] = _frame_event
        self._writer = writer

    def write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    def waiting(self) -> int:
        return 0

    def close(self, message: SubscriptionClose | None) -> None:
        if message is not None:
            self.write(encode_sse(encode(message), event="aaep.close"))
        self._writer.close()


async def _resolve_loopback(url: str, host: str) -> str:
    """The one address that a host has, if only this machine can reach it: nobody is asked here who they are. TR-024"""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    place = min((str(one[4][0]) for one in found), key=lambda one: ":" in one)
    if not ipaddress.ip_address(place).is_loopback:
        raise Reachable(url, f"{url!r} can be reached from other machines. Play it on this one: 127.0.0.1.")
    return place


class RawHttpServer:
    """An address at which a player is served."""

    transport = "sse"

    def __init__(self, player: FakeProducer) -> None:
        self._producer = player
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.url = ""

    @classmethod
    async def serve(cls, player: FakeProducer, url: str) -> RawHttpServer:
        parts = parts_of(url)
        host, door = parts.hostname or "127.0.0.1", cls(player)
        try:
            place = await _resolve_loopback(url, host)
            family = socket.AF_INET6 if ":" in place else socket.AF_INET
            listening = socket.create_server((place, parts.port or 0), family=family)
        except OSError as error:
            raise AaepError(f"Nobody can be served at {url}: {error.strerror or error}.") from error
        try:
            door._server = await asyncio.start_server(door._handle_connection, sock=listening)
        except BaseException:  # cancelled, most likely, and asyncio would forget what it has begun
            asyncio.get_running_loop().remove_reader(listening.fileno())
            listening.close()
            raise
        port = door._server.sockets[0].getsockname()[1]
        door.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        return door

    async def close(self) -> None:
        if self._server is not None:
            await close_server(self._server)
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for line in self._writers:
            line.transport.abort()  # who has not taken what was said last never will
        await asyncio.sleep(0)  # in which they end

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.append(writer)
        try:
            while await self._handle_request(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # it has left, or speaks no HTTP
        except asyncio.CancelledError:
            pass  # the door is closed
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _handle_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether another may follow."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, version = head[0].split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await self._read_body(reader, writer, headers)
        parts = urlsplit(target)
        if method == "GET" and parts.path == _EVENTS_PATH:
            await self._serve_stream(reader, writer, headers, parse_qs(parts.query))
            return False
        status, answer, more = self._build_response(method, parts.path, headers, body)
        self._write_response(writer, status, answer, more)
        await writer.drain()
        return version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"

    @staticmethod
    async def _read_body(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: Mapping[str, str]
    ) -> bytes:
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "chunked" not in headers.get("transfer-encoding", "").lower():
            return await reader.readexactly(min(int(headers.get("content-length", "0")), _MAX_BODY_BYTES))
        body = b""
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
        return body

    def _build_response(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        if method == "GET" and path == _MANIFEST_PATH:
            signed = self._producer.offered.signed_manifest
            if signed is not None and "jose" in headers.get("accept", ""):
                return 200, signed.encode(), {"Content-Type": "application/jose"}
            return 200, encode(self._producer.manifest()), {}
        if method != "POST" or path not in (_SUBSCRIPTIONS_PATH, _REPLIES_PATH):
            return 404, b'{"error":"not_found","message":"Nothing is here."}', {}
        answer = self._producer.handle_message(body, headers=headers)
        if answer is None:
            return 204, b"", {}
        if isinstance(answer, int):
            return answer, b'{"error":"invalid_request","message":"Malformed message."}', {}
        return self._build_handshake_response(answer)

    @staticmethod
    def _build_handshake_response(answer: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
        data = json.dumps(answer).encode()
        if answer["type"] == "subscription.accepted":
            return 201, data, {"Location": f"{_EVENTS_PATH}?subscription_id={answer['subscription_id']}"}
        return 403, data, {}

    @staticmethod
    def _write_response(writer: asyncio.StreamWriter, status: int, body: bytes, more: Mapping[str, str]) -> None:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **more}
        if status == 204:
            headers = {}
        lines = [
            f"HTTP/1.1 {status} {_REASON_PHRASES[status]}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def _serve_stream(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        headers: Mapping[str, str],
        query: Mapping[str, list[str]],
    ) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
            b"Cache-Control: no-store\r\nConnection: close\r\n\r\n:\n\n"
        )
        outlet = _RawFrameWriter(writer)
        name = query.get("subscription_id", [""])[0]
        stream = self._producer.attach_stream(name, outlet, headers.get("last-event-id", ""), headers)
        try:
            with suppress(OSError):  # the reader is gone, one way or another
                while await reader.read(65_536):
                    pass
        finally:
            self._producer.disconnect(stream.subscription_id, outlet)
