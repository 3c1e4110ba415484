"""
Finding the agents of this user on this machine: by their sockets, and a hub at its usual port.

Only what belongs to this user is found. A socket in a conventional folder is checked as when an agent is named, and
a port, which any user may take, counts only where the system tells whose it is.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from ...errors import AaepError
from ..base import ChannelLost, ChannelRefused
from .paths import connect_socket, list_socket_folders

__all__ = ["FoundAgent", "find_local_agents"]

HUB_PORT: Final = 8137
_HUB_SOCKET: Final = "hub.sock"
_LISTENING: Final = "0A"  # the state of a socket in /proc/net/tcp


class FoundAgent(msgspec.Struct, frozen=True):
    """
    An address where an agent or a hub of this user answers, or in a sentence why one is left alone.

    ``identity`` is another one when a new process has taken the address.
    """

    url: str
    identity: str
    problem: str = ""


def find_local_agents(
    known: Container[str] = frozenset(),
    *,
    folders: list[Path] | None = None,
    hub_port: int = HUB_PORT,
    tcp_table: Path = Path("/proc/net/tcp"),
) -> list[FoundAgent]:
    """Return the agents that are there now, without those whose identity is known; what is stale is left out."""
    found: list[FoundAgent] = []
    has_hub = False
    for folder in list_socket_folders() if folders is None else folders:
        for path, identity in _list_sockets(folder):
            has_hub = has_hub or path.name == _HUB_SOCKET
            if identity not in known and (agent := _probe(path, identity)) is not None:
                found.append(agent)
    if not has_hub and (identity := _find_hub_port(hub_port, tcp_table)) and identity not in known:
        found.append(FoundAgent(f"http://127.0.0.1:{hub_port}", identity))
    return found


def _list_sockets(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the sockets in a folder, each with what tells it from a later one at the same path."""
    try:
        paths = sorted(folder.glob("*.sock"))
    except OSError:  # it is not ours to look into
        return
    for path in paths:
        try:
            info = path.lstat()
        except OSError:  # it has just been removed
            continue
        if stat.S_ISSOCK(info.st_mode):
            yield path, f"{path} {info.st_ino} {info.st_ctime_ns}"


def _probe(path: Path, identity: str) -> FoundAgent | None:
    url = f"unix://{quote(os.fspath(path))}"
    try:
        connected = connect_socket(url)
    except ChannelLost:  # nobody listens there any more
        return None
    except ChannelRefused as error:
        return FoundAgent(url, identity, problem=str(error))
    except AaepError:  # the path is too long to be connected to
        return None
    if connected is not None:
        connected.close()
    return FoundAgent(url, identity)


def _find_hub_port(port: int, tcp_table: Path) -> str:
    """Return the identity of what this user has listening at a port of this machine; empty if nothing has."""
    address = f"{int.from_bytes(bytes([127, 0, 0, 1]), sys.byteorder):08X}:{port:04X}"
    try:
        rows = tcp_table.read_text().splitlines()[1:]
    except OSError:  # only Linux tells whose a port is
        return ""
    for row in rows:
        _, local, _, state, _, _, _, uid, _, inode, *_ = row.split()
        if local == address and state == _LISTENING and int(uid) == os.geteuid():
            return f"{local} {inode}"
    return ""
