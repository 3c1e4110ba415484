"""Files by their paths, where something else may be."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from aaep.errors import AaepError
from aaep.identity.credentials import Credentials, Unauthenticated
from aaep.identity.tokens import Tokens, add_entry, create_token
from aaep.runtime.files import open_regular_file, open_without_waiting


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One of each kind."""
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    os.mkfifo("pipe", 0o600)
    Path("folder").mkdir(0o700)
    Path("device").symlink_to("/dev/zero")
    Path("file").write_bytes(b"text")
    Path("link").symlink_to("file")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        yield tmp_path


@pytest.mark.parametrize("name", ["pipe", "socket", "device", "folder"])
def test_what_is_no_regular_file_is_told_at_once(place: Path, name: str) -> None:
    with pytest.raises(OSError, match="a regular file is needed"):
        open_regular_file(place / name)
    with pytest.raises(AaepError, match=f"{name} cannot be read: a regular file is needed"):
        Tokens(place / name)


def test_a_regular_file_is_read_also_by_a_link(place: Path) -> None:
    for name in ("file", "link"):
        with open_regular_file(place / name) as file:
            assert file.read() == b"text"
    with pytest.raises(FileNotFoundError):
        open_regular_file(place / "nowhere")


def test_a_pipe_is_read_to_its_end_and_is_empty_if_nobody_writes(place: Path) -> None:
    with open_without_waiting(place / "pipe") as file:
        assert file.read() == b""
    with open_without_waiting(place / "pipe") as file:
        writing = os.open(place / "pipe", os.O_WRONLY)
        os.write(writing, b"text")
        os.close(writing)
        assert file.read() == b"text"


def test_a_pipe_in_place_of_the_tokens_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    token, entry = create_token("ada", "replier", now=0.0, lifetime_seconds=None)
    add_entry(path, entry)
    known = Tokens(path)
    assert known.authenticate(Credentials(transport="sse", bearer=token)).principal == "ada"
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(Unauthenticated):
        known.authenticate(Credentials(transport="sse", bearer=token))
