"""What an event loop says of failures that no code takes."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from aaep.runtime.loop_errors import install_loop_error_handler


def test_a_server_that_is_closed_before_asyncio_tries_again_to_accept_is_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As it does a second after there were no more files: once for each connection that it could not take."""

    async def close_early() -> None:
        loop = asyncio.get_running_loop()
        install_loop_error_handler(loop)
        bound = socket.create_server(("127.0.0.1", 0))
        server = await loop.create_server(asyncio.Protocol, sock=bound)
        server.close()
        for _ in range(3):
            loop.call_soon(loop._start_serving, asyncio.Protocol, bound)  # type: ignore[attr-defined]  # as asyncio has it
        await asyncio.sleep(0)  # one turn, in which it is called
        loop.call_soon(fail)
        await asyncio.sleep(0)  # and one more

    def fail() -> None:
        raise ValueError("Invalid file descriptor: -1")  # of other code

    with caplog.at_level(logging.ERROR):
        asyncio.run(close_early())
    assert len(caplog.records) == 1
