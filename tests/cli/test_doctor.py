"""``aaep doctor``: one line for each thing, and the way out for each that is missing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from aaep.cli import doctor, main

SOURCE = Path(__file__).parents[2] / "src" / "aaep"


def test_every_transport_there_is_is_listed() -> None:
    listed = {one.name for one in doctor.run_checks() if one.area == "Transport"}
    assert listed == {path.parent.name for path in (SOURCE / "transports").glob("*/__init__.py")}


def test_what_is_there_is_said_in_plain_lines() -> None:
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 0
    assert "Transport, http: ready. Readers can connect with it." in done.output.splitlines()
    assert done.output.splitlines()[-1].startswith("Result: ")


def test_what_is_missing_is_named_with_the_command_that_adds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    missing = {one.name: one for one in doctor.run_checks() if one.state == doctor.MISSING}
    assert missing["speech-dispatcher"].remedy == "apt-get install speech-dispatcher"
    assert all(one.remedy for one in missing.values())


def test_an_optional_library_that_is_not_installed_is_missing_and_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    for module in [name for name in sys.modules if name.startswith("aaep.transports.grpc")]:
        monkeypatch.delitem(sys.modules, module)
    done = CliRunner().invoke(main, ["doctor"])
    assert (
        "Transport, grpc: missing. Its library is not installed. It is optional. To add it: pip install grpcio"
        in done.output.splitlines()
    )
    assert done.exit_code == 0


def test_a_folder_that_others_may_write_in_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    done = CliRunner().invoke(main, ["doctor", "--json"])
    found = {one["name"]: one for one in map(json.loads, done.output.splitlines())}
    assert found["state folder"]["state"] == "broken"
    assert done.exit_code == 1


def test_a_file_where_the_folder_should_be_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    done = CliRunner().invoke(main, ["doctor", "--json"])
    found = {one["name"]: one for one in map(json.loads, done.output.splitlines())}
    assert found["state folder"]["state"] == "broken" and f"{place} is a file" in found["state folder"]["text"]


# -- hooks of coding agents ------------------------------------------------------------------------------


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without any coding agent."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def find_hooks() -> dict[str, doctor.Check]:
    return {one.name: one for one in doctor.run_checks() if one.area == "Hooks"}


def test_hooks_that_are_not_installed_are_only_missing(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')  # which nobody misses
    found = find_hooks()
    assert [*found] == ["claude", "copilot", "codex", "gemini"]
    for agent, one in found.items():
        assert one.state == doctor.MISSING and one.remedy == f"aaep hooks {agent} install"


@pytest.mark.parametrize("agent", ["claude", "copilot", "codex", "gemini"])
def test_hooks_that_work_are_ready(home: Path, agent: str) -> None:
    assert CliRunner().invoke(main, ["hooks", agent, "install"]).exit_code == 0
    found = find_hooks()
    assert {name for name, one in found.items() if one.state == doctor.READY} == {agent}


def disable(home: Path, settings: Path) -> None:
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"disableAllHooks": True}))


def spoil(home: Path, settings: Path) -> None:
    settings.write_text(settings.read_text()[:-20])


def empty(home: Path, settings: Path) -> None:
    written = json.loads(settings.read_text())
    written["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 0
    settings.write_text(json.dumps(written))


def install_old_version(home: Path, settings: Path) -> None:
    program = home / "claude"
    program.write_text("#!/bin/sh\necho '2.0.14 (Claude Code)'\n")
    program.chmod(0o755)
    os.environ["PATH"] = f"{home}:/usr/bin:/bin"  # which the fixture restores


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (disable, "All hooks are switched off by disableAllHooks in "),
        (spoil, "is not valid JSON, so Claude Code does not use it"),
        (empty, "has the timeout 0, which is invalid"),
        (install_old_version, "Claude Code is 2.0.14. These hooks were tried with 2.1.325"),
    ],
    ids=["disabled", "not valid", "an invalid value", "an old version"],
)
def test_hooks_that_do_not_work_are_broken(home: Path, harm: Callable[[Path, Path], None], sentence: str) -> None:
    CliRunner().invoke(main, ["hooks", "claude", "install"])
    harm(home, home / ".claude" / "settings.json")
    found = find_hooks()["claude"]
    assert found.state == doctor.BROKEN and sentence in found.text
    assert CliRunner().invoke(main, ["doctor"]).exit_code == 1
