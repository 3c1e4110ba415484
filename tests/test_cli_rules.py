"""``aaep rules``: the catalogue, and what exercises it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aaep.catalogue import merged, rules
from aaep.cli import main

ROOT = Path(__file__).parent.parent


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["rules", *map(str, args)])


def test_all_rules_are_listed_one_per_line() -> None:
    lines = run().stdout.splitlines()
    assert [line.split(",")[0] for line in lines[:-1]] == [*rules()]
    assert lines[-1] == f"{len(rules())} rules."


@pytest.mark.parametrize("given", ["SEC-023", "sec-023"])
def test_one_rule_is_a_paragraph_that_tells_everything(given: str) -> None:
    result = run(given)
    rule = rules()["SEC-023"]
    assert result.exit_code == 0
    for part in (
        "SEC-023, section 10.2.2",
        rule.statement,
        "A MUST for producers",
        "from level 1 on",
        "kind is schema",
    ):
        assert part in result.stdout
    assert "a warning, and an error with --strict" in result.stdout
    for reading in rule.readings:
        assert reading in result.stdout


def test_every_rule_can_be_told_and_its_note_is_there() -> None:
    text = run(*rules()).stdout
    for rule in rules().values():
        assert f"{rule.id}, " in text
    assert text.count("Note: ") >= sum(bool(rule.note) for rule in rules().values())


def test_a_retired_id_names_the_rules_it_went_into() -> None:
    for old, into in [*merged().items()][:10]:
        result = run(old)
        assert result.exit_code == 0
        assert result.stdout.startswith(f"{old} is retired.")
        for id_ in into:
            assert id_ in result.stdout.splitlines()[0]
            assert f"\n{id_}, " in result.stdout


def test_an_unknown_id_is_status_two_and_the_nearest_are_named() -> None:
    result = run("ENV-0122")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "ENV-012" in result.stderr
    assert "lists all" in run("§").stderr


def test_json_lines_hold_the_whole_rule() -> None:
    lines = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert [line["id"] for line in lines] == [*rules()]
    for line in lines:
        rule = rules()[line["id"]]
        assert (line["statement"], line["readings"]) == (rule.statement, [*rule.readings])
        assert (line["severity"], line["severity_strict"]) == (rule.severity(), rule.severity(strict=True))


def chosen(*args: str) -> list[str]:
    return [json.loads(line)["id"] for line in run("--json", *args).stdout.splitlines()]


def test_filters_choose_by_family_kind_level_and_role() -> None:
    assert chosen("--family", "env") == [id_ for id_ in rules() if id_.startswith("ENV-")]
    assert chosen("--kind", "sequence") == [rule.id for rule in rules().values() if rule.kind == "sequence"]
    assert chosen("--level", "1") == [rule.id for rule in rules().values() if rule.level == 1]
    assert chosen("--level", "3") == [*rules()]
    producer = chosen("--role", "producer")
    assert producer == [rule.id for rule in rules().values() if rule.role in ("producer", "both")]
    assert chosen("--family", "ENV", "--role", "subscriber", "--kind", "schema") == [
        rule.id
        for rule in rules().values()
        if rule.id.startswith("ENV-") and rule.role in ("subscriber", "both") and rule.kind == "schema"
    ]


def test_a_filter_with_an_unknown_value_is_status_two() -> None:
    assert run("--role", "king").exit_code == 2
    assert run("--level", "0").exit_code == 2


# -- coverage ------------------------------------------------------------------------


def sources(folder: Path, *cases: dict[str, object]) -> Path:
    (folder / "vectors").mkdir()
    (folder / "tests" / "deep").mkdir(parents=True)
    (folder / "vectors" / "envelope.json").write_text(json.dumps({"family": "x", "cases": cases}))
    (folder / "vectors" / "bases.json").write_text("{}")
    (folder / "tests" / "deep" / "test_one.py").write_text("# ENV-012 is tested here, XENV-0123 is not a rule\n")
    return folder


GOOD: dict[str, object] = {"id": "good", "rule": "ENV-012", "also": ["ENV-001"], "findings": []}
BAD: dict[str, object] = {"id": "bad", "rule": "ENV-012", "findings": [{"rule": "ENV-012"}]}


def test_coverage_counts_cases_and_names_tests(tmp_path: Path) -> None:
    result = run("--coverage", "--root", sources(tmp_path, GOOD, BAD), "ENV-012")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        "ENV-012: 1 case that must pass, 1 that must fail. Tests: tests/deep/test_one.py."
    )
    (line,) = run("--coverage", "--json", "--root", tmp_path, "ENV-012").stdout.splitlines()
    assert json.loads(line) == {"id": "ENV-012", "pass": ["good"], "fail": ["bad"], "tests": ["tests/deep/test_one.py"]}


def test_coverage_finds_what_is_missing(tmp_path: Path) -> None:
    result = run("--coverage", "--root", sources(tmp_path, GOOD), "ENV-001", "ENV-012", "LIM-001")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].endswith("is missing for ENV-001 and ENV-012.")
    assert "No test names it." in result.stdout


def test_coverage_of_the_sources_here_leaves_nothing_out() -> None:
    result = run("--coverage", "--root", ROOT)
    assert result.exit_code == 0, result.stdout.splitlines()[-1]
    assert len(result.stdout.splitlines()) == len(rules()) + 1


def test_coverage_without_sources_is_status_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("--coverage")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "--root" in result.stderr
    monkeypatch.chdir(ROOT)
    assert run("--coverage", "ENV-012").exit_code == 0


def test_coverage_of_broken_vectors_is_status_two(tmp_path: Path) -> None:
    sources(tmp_path)
    (tmp_path / "vectors" / "x.json").write_text("{")
    result = run("--coverage", "--root", tmp_path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
