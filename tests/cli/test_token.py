"""``aaep token``: a token is shown once, can be listed without it, and taken back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.identity.credentials import Credentials, Unauthenticated
from aaep.identity.tokens import Tokens, read_entries


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "aaep" / "tokens.jsonl"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["token", *map(str, args)])


def admitted(path: Path, token: str) -> tuple[str, set[str]]:
    peer = Tokens(path).authenticate(Credentials(transport="sse", bearer=token))
    return peer.principal, {*peer.roles}


def test_a_new_token_alone_is_on_standard_output_and_works(state: Path) -> None:
    result = run("new", "--principal", "ada", "--note", "kitchen tablet")
    assert result.exit_code == 0
    token = result.stdout.removesuffix("\n")
    assert "\n" not in token and token.startswith("aaep_")
    assert "not shown again" in result.stderr and token not in result.stderr
    assert admitted(state, token) == ("ada", {"replier"})
    entry = read_entries(state)[0]
    assert entry.expires_at is not None and 89 < (entry.expires_at - time.time()) / 86_400 <= 90
    assert token not in state.read_text()
    assert [path.stat().st_mode & 0o077 for path in (state, state.parent)] == [0, 0]


def test_roles_and_days_can_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    result = run("new", "--principal", "ci", "--role", "agent", "--role", "listener", "--days", "1", "--file", file)
    assert admitted(file, result.stdout.strip()) == ("ci", {"agent", "listener"})
    assert (read_entries(file)[0].expires_at or 0) - time.time() <= 86_400


def test_cf_140_a_token_that_never_expires_is_warned_of(state: Path) -> None:
    result = run("new", "--principal", "ada", "--never-expires")
    assert result.exit_code == 0 and "Warning" in result.stderr
    assert read_entries(state)[0].expires is None


def test_a_token_does_not_both_end_and_never_expire(state: Path) -> None:
    result = run("new", "--principal", "ada", "--days", "3", "--never-expires")
    assert (result.exit_code, result.stdout) == (2, "") and "Give --days or --never-expires." in result.stderr
    assert run("list").exit_code == 2  # nothing was made


def test_tokens_are_listed_without_their_hash_and_safely(state: Path) -> None:
    run("new", "--principal", "ada", "--note", "evil\x1b[2J\nnote")
    run("new", "--principal", "bob", "--role", "auditor")
    result = run("list")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0 and len(lines) == 3
    assert "for ada as replier, expires " in lines[0] and "\x1b" not in result.stdout
    assert "for bob as auditor" in lines[1] and lines[2] == f"{state}: 2 tokens."
    printed = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [one["principal"] for one in printed] == ["ada", "bob"] and not any("hash" in one for one in printed)


def test_a_token_that_is_revoked_lets_nobody_in(state: Path) -> None:
    token = run("new", "--principal", "ada").stdout.strip()
    other = run("new", "--principal", "bob").stdout.strip()
    result = run("revoke", read_entries(state)[0].id)
    assert result.exit_code == 0 and "for ada" in result.stdout
    with pytest.raises(Unauthenticated):
        admitted(state, token)
    assert admitted(state, other)[0] == "bob"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["list"], "aaep token new"),
        (["revoke", "tok_none"], "aaep token new"),
        (["new", "--principal", "a\nb"], "cannot be the name"),
        (["new", "--principal", "*"], "cannot be the name"),
        (["new", "--principal", "eve", "--role", "auditor", "--role", "replier"], "two credentials"),
        (["new", "--principal", "eve", "--role", "root"], "root"),
        (["new"], "--principal"),
        (["new", "--principal", "ada", "--days", "0"], "days"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(state: Path, args: list[str], said: str) -> None:
    state.parent.mkdir(parents=True, mode=0o700)
    result = run(*args)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_others_can_read_is_neither_listed_nor_changed(state: Path) -> None:
    run("new", "--principal", "ada")
    state.chmod(0o644)
    before = state.read_bytes()
    for args in (["list"], ["new", "--principal", "bob"], ["revoke", entries_id(before)]):
        result = run(*args)
        assert result.exit_code == 2 and "chmod 600" in result.stderr
    assert state.read_bytes() == before


def entries_id(data: bytes) -> str:
    return str(json.loads(data.splitlines()[0])["id"])


def test_it_works_as_a_program(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("aaep"))]
    file = tmp_path / "tokens.jsonl"
    args = ["token", "new", "--principal", "ada", "--file", str(file)]
    made = subprocess.run([*command, *args], capture_output=True, text=True, check=True)
    assert admitted(file, made.stdout.strip()) == ("ada", {"replier"})
    assert subprocess.run([*command, "token"], capture_output=True, text=True, check=True).stdout.startswith("Usage")
