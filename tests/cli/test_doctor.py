"""``aaep doctor``: one line for each thing, and the way out for each that is missing."""

from __future__ import annotations

import json
import sys
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
