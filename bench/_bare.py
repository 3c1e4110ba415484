"""
What a program without AAEP would do with each library: send ready-made frames to all, answer each message.

Every one is written as its library's documentation has it, without a thought
for anything else: nobody is asked who they are, and nothing is read of what comes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Protocol, cast

import grpc
import uvicorn
from aiohttp import web
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from websockets.asyncio.server import ServerConnection, broadcast, serve

__all__ = ["BARE", "Bare"]

EVENTS, REPLIES = "/aaep/v1/events", "/aaep/v1/replies"
STREAM: Final = {"Content-Type": "text/event-stream; charset=utf-8"}


class Bare(Protocol):
    """A server. ``open`` gives two addresses: that of the readers, and that of those who want an answer, if any."""

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]: ...

    def readers(self) -> int:
        """How many there are."""

    def broadcast(self) -> Awaitable[None] | None:
        """Send the frame to all readers."""

    def count_unsent_bytes(self) -> int:
        """How many bytes they have not taken yet."""


# -- uvloop --------------------------------------------------------------------------------


class _Connection(asyncio.Protocol):
    """Answers whatever it is asked with the head of a stream."""

    def __init__(self, joined: list[asyncio.Transport]) -> None:
        self._joined = joined

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        self._joined.append(self._transport)


class Loop:
    """No library at all: connections of the loop, which know nothing of HTTP and so answer nothing."""

    def __init__(self) -> None:
        self._joined: list[asyncio.Transport] = []

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame = b"%x\r\n%b\r\n" % (len(frame), frame)
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(lambda: _Connection(self._joined), "127.0.0.1", 0, backlog=1024)
        return f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}", ""

    def readers(self) -> int:
        return len(self._joined)

    def broadcast(self) -> None:
        for transport in self._joined:
            transport.write(self._frame)

    def count_unsent_bytes(self) -> int:
        return sum(transport.get_write_buffer_size() for transport in self._joined)


# -- aiohttp -------------------------------------------------------------------------------


class Http:
    """A StreamResponse for each reader."""

    def __init__(self) -> None:
        self._joined: list[tuple[web.StreamResponse, asyncio.Transport]] = []

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame, self._answer = frame, answer
        app = web.Application()
        app.add_routes([web.get(EVENTS, self._stream), web.post(REPLIES, self._reply)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return address, address

    def readers(self) -> int:
        return len(self._joined)

    async def broadcast(self) -> None:
        for response, _ in self._joined:
            await response.write(self._frame)

    def count_unsent_bytes(self) -> int:
        return sum(transport.get_write_buffer_size() for _, transport in self._joined)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers=STREAM)
        await response.prepare(request)
        assert request.transport is not None
        self._joined.append((response, request.transport))
        await asyncio.Event().wait()
        return response

    async def _reply(self, request: web.Request) -> web.Response:
        await request.read()
        for response, _ in self._joined:
            await response.write(self._answer)
        return web.Response(status=204)


# -- uvicorn and Starlette -----------------------------------------------------------------


class Asgi:
    """A queue for each reader, and a StreamingResponse that takes from it."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[bytes]] = []

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame, self._answer = frame, answer
        app = Starlette(routes=[Route(EVENTS, self._stream), Route(REPLIES, self._reply, methods=["POST"])])
        config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
        self._server = uvicorn.Server(config)
        self._serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0)  # lets the sockets be served
        address = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        return address, address

    def readers(self) -> int:
        return len(self._queues)

    def broadcast(self) -> None:
        for queue in self._queues:
            queue.put_nowait(self._frame)

    def count_unsent_bytes(self) -> int:
        return sum(queue.qsize() for queue in self._queues) * len(self._frame)

    async def _stream(self, request: Request) -> Response:
        queue: asyncio.Queue[bytes] = asyncio.Queue()

        async def events() -> AsyncIterator[bytes]:
            while True:
                yield await queue.get()

        self._queues.append(queue)
        return StreamingResponse(events(), media_type="text/event-stream")

    async def _reply(self, request: Request) -> Response:
        await request.body()
        for queue in self._queues:
            queue.put_nowait(self._answer)
        return Response(status_code=204)


# -- websockets ----------------------------------------------------------------------------


class WebSocket:
    """The library's own broadcast()."""

    def __init__(self) -> None:
        self._joined: set[ServerConnection] = set()

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame, self._answer = frame, answer
        self._server = await serve(self._talk, "127.0.0.1", 0, ping_interval=None)
        address = f"ws://127.0.0.1:{next(iter(self._server.sockets)).getsockname()[1]}"
        return address, address

    def readers(self) -> int:
        return len(self._joined)

    def broadcast(self) -> None:
        broadcast(self._joined, self._frame, text=True)

    def count_unsent_bytes(self) -> int:
        return sum(one.transport.get_write_buffer_size() for one in self._joined)

    async def _talk(self, connection: ServerConnection) -> None:
        self._joined.add(connection)
        async for _ in connection:
            await connection.send(self._answer, text=True)


# -- asyncio's streams ---------------------------------------------------------------------


class Unix:
    """asyncio's server on a socket."""

    def __init__(self) -> None:
        self._joined: list[asyncio.StreamWriter] = []

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame, self._answer = frame, answer
        path = os.path.join(place, "bare.sock")
        self._server = await asyncio.start_unix_server(self._talk, path)
        return f"unix://{path}", f"unix://{path}"

    def readers(self) -> int:
        return len(self._joined)

    def broadcast(self) -> None:
        for writer in self._joined:
            writer.write(self._frame)

    def count_unsent_bytes(self) -> int:
        return sum(writer.transport.get_write_buffer_size() for writer in self._joined)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._joined.append(writer)
        while True:
            await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
            writer.write(self._answer)
            await writer.drain()


class Stdio:
    """asyncio's streams on two pipes."""

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame, self._answer = frame, answer
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipes[0], "rb", 0))
        made = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(pipes[1], "wb", 0))
        self._writer = asyncio.StreamWriter(made[0], made[1], reader, loop)
        self._talking = loop.create_task(self._talk(reader))
        return "stdio:", "stdio:"

    def readers(self) -> int:
        return 1

    def broadcast(self) -> None:
        self._writer.write(self._frame)

    def count_unsent_bytes(self) -> int:
        return self._writer.transport.get_write_buffer_size()

    async def _talk(self, reader: asyncio.StreamReader) -> None:
        while await reader.readline():
            self._writer.write(self._answer)
            await self._writer.drain()


# -- grpc.aio ------------------------------------------------------------------------------


class Grpc:
    """A queue for each reader, and a stream of responses that takes from it; a stream both ways for answers."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[bytes]] = []

    async def open(self, frame: bytes, answer: bytes, place: str, pipes: tuple[int, int]) -> tuple[str, str]:
        self._frame, self._answer = frame, answer
        self._server = grpc.aio.server()
        methods: dict[str, Any] = {
            "Listen": grpc.stream_stream_rpc_method_handler(cast(Any, self._listen)),
            "Talk": grpc.stream_stream_rpc_method_handler(cast(Any, self._talk)),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Bare", methods),))
        address = f"grpc://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        await self._server.start()
        return f"{address}/Bare/Listen", f"{address}/Bare/Talk"

    def readers(self) -> int:
        return len(self._queues)

    def broadcast(self) -> None:
        for queue in self._queues:
            queue.put_nowait(self._frame)

    def count_unsent_bytes(self) -> int:
        return sum(queue.qsize() for queue in self._queues) * len(self._frame)

    async def _listen(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._queues.append(queue)
        while True:
            yield await queue.get()

    async def _talk(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        async for _ in requests:
            yield self._answer


BARE: Final[dict[str, dict[str, Callable[[], Bare]]]] = {  # by transport and library
    "http": {"aiohttp": Http, "uvloop": Loop},
    "asgi": {"Starlette": Asgi},
    "websocket": {"websockets": WebSocket},
    "unix": {"asyncio": Unix},
    "stdio": {"asyncio": Stdio},
    "grpc": {"grpc.aio": Grpc},
}
