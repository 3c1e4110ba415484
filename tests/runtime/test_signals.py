"""What is ended first when a server is told to stop, and whose handlers are left alone."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import httpx
import pytest

from aaep.producer.producer import Producer, Runtime
from aaep.runtime.signals import EndBeforeStop

LONG = 60.0  # seconds that nothing here should take


class Server:
    """A server's handling of signals, as that of uvicorn: it notes them."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.has_all = asyncio.Event()
        self.should_exit = False

    def handle_exit(self, number: int, frame: FrameType | None) -> None:
        self.should_exit = True
        self.told.append(number)
        if number == signal.SIGINT:
            self.has_all.set()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    previous = {number: signal.signal(number, made.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    yield made
    for number, handler in previous.items():
        signal.signal(number, handler)


def test_a_server_is_told_of_all_signals_once_everything_has_ended(server: Server) -> None:
    async def run() -> None:
        guard = EndBeforeStop(asyncio.get_running_loop(), lambda: server.told.append("end"))
        guard.install()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert server.told == []
        async with asyncio.timeout(LONG):
            await server.has_all.wait()
        assert server.told == ["end", signal.SIGTERM, signal.SIGINT]
        assert signal.getsignal(signal.SIGTERM) == server.handle_exit

    asyncio.run(run())


def test_a_server_that_was_told_before_the_first_request_is_not_kept_waiting(server: Server) -> None:
    async def run() -> None:
        server.should_exit = True
        has_ended = threading.Event()
        EndBeforeStop(asyncio.get_running_loop(), has_ended.set).install()
        assert await asyncio.to_thread(has_ended.wait, LONG)

    asyncio.run(run())


@pytest.mark.parametrize("is_handling", [True, False])
def test_signals_are_left_alone_if_that_is_wished(server: Server, is_handling: bool) -> None:
    async def run() -> None:
        async with Producer("bank", journal=None, runtime=Runtime(handle_signals=is_handling)) as producer:
            wire = httpx.ASGITransport(producer.asgi(), client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=wire, base_url="http://127.0.0.1") as client:
                assert (await client.get("/healthz")).status_code == 200
            assert (signal.getsignal(signal.SIGTERM) != server.handle_exit) == is_handling
        await asyncio.sleep(0)  # lets the loop remove the handlers
        assert signal.getsignal(signal.SIGTERM) == server.handle_exit

    asyncio.run(run())
