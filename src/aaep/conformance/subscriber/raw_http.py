"""
An HTTP server with no library between it and the bytes, for the fake producers of the suite.

It reads any request, however odd, and writes whatever it is given, even half an
event. A subscriber that depends on more than the protocol promises fails here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Protocol
from urllib.parse import parse_qs, urlsplit

from ...hub.face import FrameWriter
from ...identity.origins import format_host, is_loopback, split_url
from ...protocol.codec import encode
from ...protocol.framing import MAX_MESSAGE_BYTES, encode_sse
from ...protocol.messages import Manifest, SubscriptionClose
from ...protocol.negotiation import Offer
from ...runtime.background import close_server
from ...transports.addresses import bind_socket, resolve_host
from ...transports.base import UnprotectedAddress
from ...transports.http.routes import EVENTS, JOSE, MANIFEST, REPLIES, SUBSCRIPTIONS
from ..messages import JsonObject

__all__ = ["RawHttpServer", "ServedProducer"]

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


class ServedProducer(Protocol):
    """A producer as this server sees it."""

    @property
    def signed_offer(self) -> Offer:
        """The offer, with the signed manifest if there is one."""

    def manifest(self) -> Manifest:
        """Return the manifest."""

    def handle_message(
        self, raw: bytes, own: str = "", headers: Mapping[str, str] | None = None
    ) -> JsonObject | int | None:
        """Handle a message; return the answer to it, an HTTP status if it is refused, or None."""

    def attach_stream(
        self, subscription_id: str, writer: FrameWriter, after: str = "", headers: Mapping[str, str] | None = None
    ) -> object:
        """Send the events of a subscription to a stream, from the one after ``after`` on."""

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        """Note that a stream has ended."""


class _RawFrameWriter:
    """A stream of server-sent events that writes all bytes unchanged."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.frame: Callable[[str, bytes], bytes] = _frame_event
        self._writer = writer

    def write(self, data: bytes) -> None:
        """Send bytes, unless the connection is being closed."""
        if not self._writer.is_closing():
            self._writer.write(data)

    def count_unsent_bytes(self) -> int:
        """Return 0: a fake producer does not care how slow its subscriber is."""
        return 0

    def close(self, message: SubscriptionClose | None) -> None:
        """End the stream, after a close message if there is one."""
        if message is not None:
            self.write(encode_sse(encode(message), event="aaep.close"))
        self._writer.close()


class RawHttpServer:
    """An address on this machine at which a fake producer is served."""

    transports: Final = ("sse",)

    def __init__(self, producer: ServedProducer) -> None:
        self._producer = producer
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.url = ""

    @classmethod
    async def serve(cls, producer: ServedProducer, url: str) -> RawHttpServer:
        """Serve a fake producer at a URL. Port 0, or none, takes any free one."""
        parts = split_url(url)
        host = parts.hostname or "127.0.0.1"
        port = parts.port or 0
        numeric = await resolve_host(host, port)
        if not is_loopback(numeric):  # TR-024: no client is asked who it is
            raise UnprotectedAddress(
                url, f"{url!r} can be reached from other machines. Play it on this one: 127.0.0.1."
            )
        bound = bind_socket(url, numeric, port)
        server = cls(producer)
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
            writer.transport.abort()  # a client that has not read the last bytes yet never will
        await asyncio.sleep(0)  # for the connections to end

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
            return await reader.readexactly(min(int(headers.get("content-length", "0")), MAX_MESSAGE_BYTES))
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
    def _build_handshake_response(answer: JsonObject) -> tuple[int, bytes, dict[str, str]]:
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
        self._producer.attach_stream(subscription_id, stream_writer, headers.get("last-event-id", ""), headers)
        try:
            with suppress(OSError):  # the client has left, one way or another
                while await reader.read(65_536):
                    pass
        finally:
            self._producer.disconnect(subscription_id, stream_writer)
