"""A door that closes while somebody is on the way through it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aaep.attend import registry
from aaep.events import ProducerInfo
from aaep.hub import Hub
from aaep.journal.memory import MemoryJournal
from aaep.negotiation import Offer
from aaep.transports import http, unix, websocket

CONNECTIONS: dict[str, Callable[[Any], asyncio.Protocol]] = {
    "unix": unix._Reader,
    "http": lambda door: http.Connection(door, door._server, 1.0),
    "ws": lambda door: websocket._Connection(door, door._server, 1.0),
}


@pytest.mark.parametrize("scheme", CONNECTIONS)
def test_who_was_accepted_and_not_yet_served_when_the_door_closed_is_let_go_of(scheme: str, tmp_path: Path) -> None:
    """Else the connection stays, and the other side waits for an answer; the loop may never come to its end."""
    hub = Hub(Offer(producer=ProducerInfo(agent_id="agent"), registry=registry()), MemoryJournal())
    hub.serve(f"unix://{tmp_path}/agent.sock" if scheme == "unix" else f"{scheme}://127.0.0.1:0")
    (door,) = hub.doors
    ours, theirs = socket.socketpair()

    async def come_late() -> None:
        await door.close()
        await asyncio.get_running_loop().connect_accepted_socket(lambda: CONNECTIONS[scheme](door), sock=ours)

    with theirs:
        hub.run(come_late())
        theirs.settimeout(20.0)
        assert theirs.recv(1) == b""
    hub.close()
