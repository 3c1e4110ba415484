"""``aaep schema``: printing, writing and checking the generated documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.protocol import jsonld
from aaep.protocol.messages import SHAPES
from aaep.protocol.schema import all_documents, schema_document

CONTEXT = "aaep-v1.context.jsonld"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["schema", *map(str, args)])


def test_without_a_type_the_types_are_listed() -> None:
    names = run().stdout.splitlines()
    assert {type_.removeprefix("aaep:") for type_ in SHAPES} < {*names}
    assert {"attend.fields", "attend.capabilities", "context"} < {*names}


@pytest.mark.parametrize("given", ["aaep:agent.tool.invoked", "agent.tool.invoked", "agent.tool.invoked.schema.json"])
def test_a_type_prints_its_document(given: str) -> None:
    result = run(given)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == schema_document("aaep:agent.tool.invoked")
    assert result.stdout.startswith('{\n  "$schema"')


def test_every_listed_type_can_be_printed() -> None:
    for name in run().stdout.splitlines():
        assert isinstance(json.loads(run(name).stdout), dict)
    assert json.loads(run("context").stdout) == jsonld.context_document()


def test_an_unknown_type_is_status_two_and_the_nearest_are_named() -> None:
    result = run("agent.tool.invokd")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "agent.tool.invoked" in result.stderr


def test_what_is_written_passes_the_check(tmp_path: Path) -> None:
    assert run("--write", "--root", tmp_path).exit_code == 0
    files = {path.name for path in (tmp_path / "schemas").iterdir()}
    assert files == {CONTEXT, *(name for name, _ in all_documents())}
    assert run("--check", "--root", tmp_path).exit_code == 0
    assert run("--write", "--root", tmp_path).stdout == "Everything was up to date.\n"
    for name, expected in all_documents():
        text = (tmp_path / "schemas" / name).read_text(encoding="utf-8")
        assert json.loads(text) == expected
        assert text.endswith("}\n")


def test_the_check_names_what_is_missing_stale_or_should_not_be_there(tmp_path: Path) -> None:
    assert run("--check", "--root", tmp_path).exit_code == 1
    run("--write", "--root", tmp_path)
    folder = tmp_path / "schemas"
    (folder / CONTEXT).unlink()
    (folder / "agent.state.changed.schema.json").write_text("{}\n")
    (folder / "old.schema.json").write_text("{}\n")
    (folder / "README.md").write_text("What this is.\n")
    result = run("--check", "--root", tmp_path)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{folder / 'agent.state.changed.schema.json'} is out of date.",
        f"{folder / CONTEXT} is missing.",
        f"{folder / 'old.schema.json'} should not be there. Remove it.",
        "aaep schema --write brings them up to date.",
    ]
    written = run("--write", "--root", tmp_path)
    assert (written.exit_code, "old.schema.json should not be there" in written.stdout) == (1, True)
    (folder / "old.schema.json").unlink()
    assert run("--check", "--root", tmp_path).exit_code == 0


def test_the_current_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("--write")
    assert (tmp_path / "schemas" / CONTEXT).is_file()


def test_only_one_thing_is_done_at_a_time(tmp_path: Path) -> None:
    for args in (["--write", "--check"], ["--check", "context"], ["--write", "context"]):
        result = run(*args, "--root", tmp_path)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "schemas").exists()


def test_a_folder_that_cannot_be_written_is_status_two(tmp_path: Path) -> None:
    (tmp_path / "schemas").write_text("a file")
    result = run("--write", "--root", tmp_path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "schemas" in result.stderr
