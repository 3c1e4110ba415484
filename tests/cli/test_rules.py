"""``aaep rules``: the catalogue, and what exercises it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.cli._coverage import RuleCoverage, measure_coverage
from aaep.conformance.producer.run import UNDECIDABLE_RULES
from aaep.protocol.catalogue import all_rules, merged_rules

ROOT = Path(__file__).parents[2]


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, ["rules", *map(str, args)])


def test_all_rules_are_listed_one_per_line() -> None:
    lines = run().stdout.splitlines()
    assert [line.split(",")[0] for line in lines[:-1]] == [*all_rules()]
    assert lines[-1] == f"{len(all_rules())} rules."


@pytest.mark.parametrize("given", ["SEC-023", "sec-023"])
def test_one_rule_is_a_paragraph_that_tells_everything(given: str) -> None:
    result = run(given)
    rule = all_rules()["SEC-023"]
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
    text = run(*all_rules()).stdout
    for rule in all_rules().values():
        assert f"{rule.id}, " in text
    assert text.count("Note: ") >= sum(bool(rule.note) for rule in all_rules().values())


def test_a_retired_id_names_the_rules_it_went_into() -> None:
    for old, into in [*merged_rules().items()][:10]:
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


def test_a_family_is_no_rule_and_one_that_is_not_there_is_told() -> None:
    result = run("env")
    assert result.exit_code == 2 and "aaep rules --family ENV lists them." in result.stderr
    result = run("--family", "nope")
    assert result.exit_code == 2 and "There is no family nope. There are: TERM, " in result.stderr
    assert run("--family", "TERM", "--role", "transport").stdout == "No rules.\n"


def test_json_lines_hold_the_whole_rule() -> None:
    lines = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert [line["id"] for line in lines] == [*all_rules()]
    for line in lines:
        rule = all_rules()[line["id"]]
        assert (line["statement"], line["readings"]) == (rule.statement, [*rule.readings])
        assert (line["severity"], line["severity_strict"]) == (rule.severity(), rule.severity(strict=True))


def chosen(*args: str) -> list[str]:
    return [json.loads(line)["id"] for line in run("--json", *args).stdout.splitlines()]


def test_filters_choose_by_family_kind_level_and_role() -> None:
    assert chosen("--family", "env") == [id_ for id_ in all_rules() if id_.startswith("ENV-")]
    assert chosen("--kind", "sequence") == [rule.id for rule in all_rules().values() if rule.kind == "sequence"]
    assert chosen("--level", "1") == [rule.id for rule in all_rules().values() if rule.level == 1]
    assert chosen("--level", "3") == [*all_rules()]
    producer = chosen("--role", "producer")
    assert producer == [rule.id for rule in all_rules().values() if rule.role in ("producer", "both")]
    assert chosen("--family", "ENV", "--role", "subscriber", "--kind", "schema") == [
        rule.id
        for rule in all_rules().values()
        if rule.id.startswith("ENV-") and rule.role in ("subscriber", "both") and rule.kind == "schema"
    ]


def test_a_filter_with_an_unknown_value_is_status_two() -> None:
    assert run("--role", "king").exit_code == 2
    assert run("--level", "0").exit_code == 2


# -- coverage ------------------------------------------------------------------------


TESTS = """
# TERM-018: directly above
@mark  # TERM-019: at a decorator
def test_one() -> None:
    \"\"\"ENV-012, and XENV-0123 is not a rule\"\"\"
    assert rule == "LIM-001"  # SEC-007: in the body


async def test_two() -> None:
    pass


# SEC-008: of nobody

def helper() -> None:
    \"\"\"SEC-009: no test\"\"\"


class TestThree:
    def test_within(self) -> None:
        # ENV-012
        pass
"""


def sources(folder: Path, *cases: dict[str, object]) -> Path:
    (folder / "vectors").mkdir()
    (folder / "tests" / "deep").mkdir(parents=True)
    (folder / "vectors" / "envelope.json").write_text(json.dumps({"family": "x", "cases": cases}))
    (folder / "vectors" / "bases.json").write_text("{}")
    (folder / "tests" / "deep" / "test_one.py").write_text(TESTS)
    (folder / "tests" / "helping.py").write_text("# SEC-009\n")
    return folder


GOOD: dict[str, object] = {"id": "good", "rule": "ENV-012", "also": ["ENV-001"], "findings": []}
BAD: dict[str, object] = {"id": "bad", "rule": "ENV-012", "findings": [{"rule": "ENV-012"}]}
ONE = "tests/deep/test_one.py::test_one"


def test_coverage_counts_cases_and_names_tests(tmp_path: Path) -> None:
    result = run("--coverage", "--root", sources(tmp_path, GOOD, BAD), "ENV-012")
    within = "tests/deep/test_one.py::TestThree::test_within"
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        f"ENV-012: 1 case that must pass, 1 that must fail. Tests: {ONE}, {within}."
    )
    (line,) = run("--coverage", "--json", "--root", tmp_path, "ENV-012").stdout.splitlines()
    assert json.loads(line) == {
        "id": "ENV-012",
        "pass": ["good"],
        "fail": ["bad"],
        "live": [],
        "tests": [ONE, within],
        "undecidable": "",
        "lacking": False,
    }


def test_a_test_cites_a_rule_in_its_docstring_or_in_a_comment_and_not_by_what_it_feeds(tmp_path: Path) -> None:
    ids = ("TERM-018", "TERM-019", "SEC-007", "SEC-008", "SEC-009", "LIM-001")
    found = {one.id: one.tests for one in measure_coverage([all_rules()[id_] for id_ in ids], sources(tmp_path))}
    assert found == dict(zip(ids, [[ONE]] * 3 + [[]] * 3, strict=True))


def test_coverage_finds_what_is_missing(tmp_path: Path) -> None:
    result = run("--coverage", "--root", sources(tmp_path, GOOD), "ENV-001", "ENV-012", "CONF-040", "TERM-009")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "Not exercised enough: ENV-001 and ENV-012."


def test_a_rule_about_behaviour_is_tried_live_or_tested_or_it_is_said_why_not(tmp_path: Path) -> None:
    live, tested, undecidable, nothing = run(
        "--coverage", "--root", sources(tmp_path), "CONF-040", "TERM-018", "TERM-009", "TERM-003"
    ).stdout.splitlines()[:4]
    assert live == "CONF-040: Tried live: no answer tells why (producer)."
    assert tested.endswith(f"Tests: {ONE}.")
    assert undecidable.startswith("TERM-009: No program can decide it. It is about what a text or a value means")
    assert nothing == "TERM-003: Nothing exercises it."


@pytest.fixture(scope="module")
def here() -> list[RuleCoverage]:
    # In a process of its own: up to Python 3.11.7 ast.parse() fails if a traceback is logged meanwhile, as by a
    # finalizer or another thread, which parses too.
    command = [sys.executable, "-m", "aaep", "rules", "--coverage", "--json"]
    lines = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False).stdout.splitlines()
    return [msgspec.json.decode(line, type=RuleCoverage) for line in lines]


def test_coverage_of_the_sources_here_leaves_nothing_out(here: list[RuleCoverage]) -> None:
    assert [one.id for one in here] == [*all_rules()]
    assert [one.id for one in here if one.lacking] == []


def test_what_no_program_can_decide_is_decided_by_none(here: list[RuleCoverage]) -> None:
    assert {*UNDECIDABLE_RULES} <= {*all_rules()}
    assert [str(one) for one in here if one.undecidable and (one.live or one.tests or one.passing)] == []


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


def test_coverage_of_tests_that_are_no_python_is_status_two(tmp_path: Path) -> None:
    (sources(tmp_path) / "tests" / "test_bad.py").write_text("def (:\n")
    result = run("--coverage", "--root", tmp_path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "test_bad.py is not Python" in result.stderr
