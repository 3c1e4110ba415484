"""Agents of this user on this machine are found; what is stale is left out, and what is another user's refused."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from aaep.transports.unix.discovery import find_local_agents

NO_TABLE = Path("/nowhere/tcp")
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="aaep") as name:
        yield Path(name)


def listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen()
    return server


def test_a_live_socket_is_found_and_a_stale_one_a_file_and_what_is_known_are_not(folder: Path) -> None:
    listening(folder / "stale.sock").close()
    (folder / "plain.sock").write_text("")
    (folder / "bank.manifest.json").write_text("{}")
    with listening(folder / "my bank.sock"):
        (agent,) = find_local_agents(folders=[folder, folder / "missing"], tcp_table=NO_TABLE)
        assert agent.url == f"unix://{folder}/my%20bank.sock" and not agent.problem
        assert find_local_agents({agent.identity}, folders=[folder], tcp_table=NO_TABLE) == []
    (folder / "my bank.sock").unlink()
    with listening(folder / "my bank.sock"):
        (again,) = find_local_agents({agent.identity}, folders=[folder], tcp_table=NO_TABLE)
        assert again.url == agent.url, "a new one at the same place is a new one"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket to another user")
def test_the_socket_of_another_user_is_refused_with_a_reason(folder: Path) -> None:
    with listening(folder / "thief.sock"):
        os.chown(folder / "thief.sock", 12345, 12345)
        (agent,) = find_local_agents(folders=[folder], tcp_table=NO_TABLE)
    assert "belongs to another user" in agent.problem


def test_a_folder_that_others_can_write_is_refused(folder: Path) -> None:
    folder.chmod(0o777)
    with listening(folder / "bank.sock"):
        (agent,) = find_local_agents(folders=[folder], tcp_table=NO_TABLE)
    assert "chmod" in agent.problem


def test_a_hub_at_its_port_is_found_if_it_is_this_user_s(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if Path("/proc/net/tcp").exists():
            (hub,) = find_local_agents(folders=[], hub_port=port)
            assert hub.url == f"http://127.0.0.1:{port}"
            assert find_local_agents({hub.identity}, folders=[], hub_port=port) == []
    table = folder / "tcp"
    row = "   0: 0100007F:1FC9 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {uid} 0 777 1 0 100 0\n"
    cases = {("0A", os.geteuid()): 1, ("0A", os.geteuid() + 1): 0, ("01", os.geteuid()): 0}
    for (state, uid), count in cases.items():
        table.write_text(HEAD + row.format(state=state, uid=uid))
        assert len(find_local_agents(folders=[folder], tcp_table=table)) == count
    table.write_text(HEAD + row.format(state="0A", uid=os.geteuid()))
    with listening(folder / "hub.sock"):
        (hub,) = find_local_agents(folders=[folder], tcp_table=table)
    assert hub.url.startswith("unix:"), "the socket is better, and one connection is enough"
