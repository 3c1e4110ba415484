"""``aaep settings``: seen and changed from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.settings.fields import FIELDS


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text("")
    monkeypatch.setenv("AAEP_SETTINGS", str(path))
    return path


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["settings", *args])


def test_all_are_shown_with_value_and_source(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("[speech]\nrate = 300\n")
    monkeypatch.setenv("AAEP_VERBOSITY", "terse")
    result = run()
    assert result.exit_code == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert [line.split(" = ")[0] for line in lines] == [*FIELDS]
    assert "speech.rate = 300, line 2 of the file." in lines
    assert 'verbosity = "terse", from AAEP_VERBOSITY.' in lines
    assert "speech.on = false, by default." in lines
    told = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert {"key": "speech.rate", "value": 300, "source": "file", "about": FIELDS["speech.rate"].description} in told


def test_a_value_is_set_read_and_taken_back(file: Path) -> None:
    assert run("set", "languages", "yo-NG,en").stdout == 'languages = ["yo-NG", "en"]\n'
    assert run("get", "languages").stdout == '["yo-NG", "en"]\n'
    assert file.read_text().endswith('languages = ["yo-NG", "en"]\n')
    assert run("unset", "languages").stdout == "languages = []\n"
    assert run("path").stdout == f"{file}\n"


def test_a_misspelt_name_lists_the_right_ones_and_a_wrong_value_what_it_may_be(file: Path) -> None:
    for words in (("get", "speech.raet"), ("set", "speech.raet", "3"), ("unset", "speech.raet")):
        result = run(*words)
        assert result.exit_code == 2 and "Did you mean speech.rate" in result.stderr and "braille.on" in result.stderr
    result = run("set", "verbosity", "loud")
    assert result.exit_code == 2
    assert result.stderr == "aaep: verbosity has to be terse, normal or detailed. Nothing was changed.\n"
    assert file.read_text() == ""


def test_what_cannot_be_used_is_told_beside_what_can(file: Path) -> None:
    file.write_text('verbosity = "loud"\nstates = true\n')
    result = run("get", "states")
    assert (result.exit_code, result.stdout) == (1, "true\n")
    assert result.stderr == (
        "aaep: Line 1 of the settings does not count: verbosity has to be terse, normal or detailed.\n"
    )


def test_it_is_said_when_the_environment_counts_before_what_was_set(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AAEP_VERBOSITY", "terse")
    result = run("set", "verbosity", "detailed")
    assert result.exit_code == 0
    assert result.stderr == "The environment variable AAEP_VERBOSITY counts before it.\n"
