"""A door that closes while somebody is on the way through it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aaep.hub.hub import Hub
from aaep.journal.memory import MemoryJournal
from aaep.protocol.attend_extension import attend_registry
from aaep.protocol.events import ProducerInfo
from aaep.protocol.negotiation import Offer
from aaep.transports.base import serve
from aaep.transports.http.server import Connection, HttpConnection
from aaep.transports.unix.server import _Reader
from aaep.transports.websocket.server import log
from tests.serving import served

CONNECTIONS: dict[str, Callable[[Any], asyncio.Protocol]] = {
    "unix": _Reader,
    "http": lambda door: HttpConnection(door, door._server, 1.0),
    "ws": lambda door: Connection(door, door._server, log, 1.0),
}


def opened(loop: asyncio.AbstractEventLoop | None = None) -> Hub:
    return Hub(Offer(producer=ProducerInfo(agent_id="agent"), registry=attend_registry()), MemoryJournal(), loop=loop)


def address(scheme: str, folder: Path) -> str:
    return f"unix://{folder}/agent.sock" if scheme == "unix" else f"{scheme}://127.0.0.1:0"


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return socket.create_connection((parts.hostname or "", parts.port or 0))
    line = socket.socket(socket.AF_UNIX)
    line.connect(parts.path)
    return line


@pytest.mark.parametrize("turns", range(5))
@pytest.mark.parametrize("scheme", CONNECTIONS)
def test_on_asyncios_own_loop_who_comes_while_the_door_closes_is_let_go_of(
    scheme: str, turns: int, tmp_path: Path
) -> None:
    async def come_and_close() -> bytes:
        hub = opened(asyncio.get_running_loop())
        await serve(hub, address(scheme, tmp_path))
        (door,) = hub.servers
        with connected(door.url) as line:
            for _ in range(turns):
                await asyncio.sleep(0)  # one more step on the way in
            await door.close()
            line.settimeout(20.0)
            try:
                came = await asyncio.to_thread(line.recv, 1)
            except ConnectionResetError:
                came = b""
        await hub.aclose()
        return came

    assert asyncio.run(come_and_close()) == b""


@pytest.mark.parametrize("scheme", CONNECTIONS)
def test_who_was_accepted_and_not_yet_served_when_the_door_closed_is_let_go_of(scheme: str, tmp_path: Path) -> None:
    """Else the connection stays, and the other side waits for an answer; the loop may never come to its end."""
    hub = opened()
    served(hub, address(scheme, tmp_path))
    (door,) = hub.servers
    ours, theirs = socket.socketpair()

    async def come_late() -> None:
        await door.close()
        await asyncio.get_running_loop().connect_accepted_socket(lambda: CONNECTIONS[scheme](door), sock=ours)

    with theirs:
        hub.run(come_late())
        theirs.settimeout(20.0)
        assert theirs.recv(1) == b""
    hub.close()
