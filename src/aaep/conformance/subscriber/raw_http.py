"""
An HTTP server with no library between it and the bytes, for the producers that the conformance suite plays.

It reads any request, however odd, and writes whatever it is given: also half an
event. A subscriber that depends on more than the protocol promises shows it here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from ...identity.origins import format_host, is_loopback, split_url
from ...protocol.codec import encode
from ...protocol.framing import encode_sse
from ...protocol.messages import SubscriptionClose
from ...runtime.background import close_server
from ...transports.addresses import bind_socket, resolve_host
from ...transports.base import UnprotectedAddress
from ...transports.http.routes import EVENTS, JOSE, MANIFEST, REPLIES, SUBSCRIPTIONS

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


def _frame_event(event_id: str, data: bytes) -> bytes:
    return encode_sse(data, id=event_id)


class _RawFrameWriter:
    """One stream: what is written goes out as it is."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.frame: Callable[[str, bytes], bytes] = _frame_event
        self._writer = writer

    def write(self, data: bytes) -> None:
        """Send bytes, unless the connection is being closed."""
        if not self._writer.is_closing():
            self._writer.write(data)

    def count_unsent_bytes(self) -> int:
        """Return 0: a played producer does not care how slow its reader is."""
        return 0

    def close(self, message: SubscriptionClose | None) -> None:
        """End the stream, after a close message if there is one."""
        if message is not None:
            self.write(encode_sse(encode(message), event="aaep.close"))
        self._writer.close()


class RawHttpServer:
    """An address on this machine at which a played producer is served."""

    transports: Final = ("sse",)

    def __init__(self, player: FakeProducer) -> None:
        self._producer = player
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.url = ""

    @classmethod
    async def serve(cls, player: FakeProducer, url: str) -> RawHttpServer:
        """Serve a played producer at a URL. Port 0, or none, takes any free one."""
        parts = split_url(url)
        host = parts.hostname or "127.0.0.1"
        port = parts.port or 0
        numeric = await resolve_host(host, port)
        if not is_loopback(numeric):  # TR-024: no client is asked who it is
            raise UnprotectedAddress(
                url, f"{url!r} can be reached from other machines. Play it on this one: 127.0.0.1."
            )
        bound = bind_socket(url, numeric, port)
        server = cls(player)
        try:
            server._server = await asyncio.start_server(server._handle_connection, sock=bound)
        except BaseException:  # cancelled, most likely, and asyncio would forget what it has begun
            asyncio.get_running_loop().remove_reader(bound.fileno())
            bound.close()
            raise
        server.url = f"http://{format_host(host)}:{bound.getsockname()[1]}"
        return server

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if self._server is not None:
            await close_server(self._server)
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()  # a reader that has not taken what was sent last never will
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
            pass  # the client has left, or speaks no HTTP
        except asyncio.CancelledError:
            pass  # the server is closed
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _handle_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether another may follow."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, version = head[0].split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await self._read_body(reader, writer, headers)
        parts = urlsplit(target)
        if method == "GET" and parts.path == EVENTS:
            await self._serve_stream(reader, writer, headers, parse_qs(parts.query))
            return False
        status, answer, more_headers = self._build_response(method, parts.path, headers, body)
        self._write_response(writer, status, answer, more_headers)
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
        if method == "GET" and path == MANIFEST:
            signed = self._producer.signed_offer.signed_manifest
            if signed is not None and "jose" in headers.get("accept", ""):
                return 200, signed.encode(), {"Content-Type": JOSE}
            return 200, encode(self._producer.manifest()), {}
        if method != "POST" or path not in (SUBSCRIPTIONS, REPLIES):
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
            return 201, data, {"Location": f"{EVENTS}?subscription_id={answer['subscription_id']}"}
        return 403, data, {}

    @staticmethod
    def _write_response(
        writer: asyncio.StreamWriter, status: int, body: bytes, more_headers: Mapping[str, str]
    ) -> None:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **more_headers}
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
        stream_writer = _RawFrameWriter(writer)
        subscription_id = query.get("subscription_id", [""])[0]
        stream = self._producer.attach_stream(subscription_id, stream_writer, headers.get("last-event-id", ""), headers)
        try:
            with suppress(OSError):  # the reader is gone, one way or another
                while await reader.read(65_536):
                    pass
        finally:
            self._producer.disconnect(stream.subscription_id, stream_writer)
