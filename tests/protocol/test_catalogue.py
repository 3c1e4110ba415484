"""The catalogue of rules: whole, without doubles, and graded as the readings say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import msgspec
import pytest

import aaep
from aaep.errors import Severity, Violation
from aaep.protocol.catalogue import Rule, all_rules, find_rule, grade, merged_rules
from tests import vectors

ROOT = Path(__file__).parents[2]
READINGS = {
    reading
    for path in (ROOT / "docs").glob("readings-*.md")
    for reading in re.findall(r"^(?:### |\*\*)(CF?-[0-9]+)\b", path.read_text(), re.MULTILINE)
}
ID = re.compile(r"[A-Z][A-Z0-9]+-[0-9]{3}")
FAMILIES = "|".join({id_.partition("-")[0] for id_ in (*all_rules(), *merged_rules())})
CITED = re.compile(rf"\b(?:{FAMILIES})-[0-9]{{3}}\b")


# Makes a shape take long to be understood, and has several threads be the first to read the catalogue.
AT_ONCE = """
import threading, time, typing
from aaep.protocol.catalogue import all_rules

literal = typing._LiteralGenericAlias
known = literal.__hash__
literal.__hash__ = lambda self: time.sleep(0.001) or known(self)
threads = [threading.Thread(target=all_rules) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(len(all_rules()))
"""


def test_several_threads_may_be_the_first_to_read_it() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{len(all_rules())}\n", "")


def test_ids_are_unique_and_of_one_form() -> None:
    stored = msgspec.json.decode((ROOT / "src/aaep/protocol/catalogue.json").read_bytes())
    ids = [one["id"] for one in stored["rules"]]
    assert len({*ids}) == len(ids) == len(all_rules())
    assert all(ID.fullmatch(id_) for id_ in [*ids, *merged_rules()])


def test_every_merged_rule_leads_to_rules_that_exist() -> None:
    for retired, targets in merged_rules().items():
        assert retired not in all_rules(), retired
        assert targets and {*targets} <= {*all_rules()}, retired


def test_every_reading_named_is_written_down() -> None:
    assert len(READINGS) > 200
    for one in all_rules().values():
        assert {*one.readings} <= READINGS, one.id


def test_every_statement_is_a_sentence_and_no_two_are_the_same() -> None:
    for one in all_rules().values():
        assert one.statement.endswith("."), one.id
        assert (
            one.statement[0].isupper()
            or not one.statement[0].isascii()
            or one.statement[0] in "@`"
            or " " in one.statement
        )
        assert one.statement == one.statement.strip() and "\n" not in one.statement, one.id
        assert one.section, one.id
    statements = [one.statement for one in all_rules().values()]
    assert len({*statements}) == len(statements)


def test_every_rule_and_reading_that_the_source_cites_exists() -> None:
    for path in (ROOT / "src" / "aaep").rglob("*.py"):
        source = path.read_text()
        assert {*CITED.findall(source)} <= {*all_rules()}, path.name
        assert {*re.findall(r"\bCF?-[0-9]{2,3}\b", source)} <= READINGS, path.name


def _rule(keyword: Literal["MUST", "SHOULD", "MAY"], *, softened: bool = False) -> Rule:
    return Rule(
        id="X-001", section="§1", keyword=keyword, level=1, role="producer", kind="schema", basis="prose",
        statement="X.", softened=softened,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "usual", "strict"),
    [
        (_rule("MUST"), "error", "error"),
        (_rule("MUST", softened=True), "warning", "error"),
        (_rule("SHOULD"), "warning", "warning"),
        (_rule("SHOULD", softened=True), "warning", "warning"),
        (_rule("MAY"), "error", "error"),  # cited only when an option is used in the wrong shape
    ],
)
def test_the_keyword_decides(given: Rule, usual: Severity, strict: Severity) -> None:
    """TERM-001"""
    assert given.severity() == usual
    assert given.severity(strict=True) == strict


@pytest.mark.parametrize(
    ("id_", "said", "usual", "strict"),
    [
        ("ENV-001", "", "error", "error"),
        ("ENV-056", "", "warning", "warning"),
        ("CTX-001", "", "warning", "error"),  # softened
        ("ENV-009", "warning", "warning", "error"),  # a reading softens one situation; strict undoes it
        ("ENV-022", "info", "info", "info"),
        ("ENV-010", "info", "info", "info"),  # a note stays a note
        ("ENV-038", "warning", "warning", "warning"),  # SHOULD is never more
        ("I18N-035", "error", "error", "error"),  # a reading may also be stricter
        ("SHOP-001", "", "error", "error"),  # a profile's own rule
        ("SHOP-001", "warning", "warning", "warning"),
    ],
)
def test_grading(id_: str, said: Severity | Literal[""], usual: Severity, strict: Severity) -> None:
    violation = Violation(id_, "Something is wrong.", severity=said)
    assert grade(violation) == usual
    assert grade(violation, strict=True) == strict


def test_a_rule_is_found_by_its_id() -> None:
    assert find_rule("ENV-001").id == "ENV-001"
    with pytest.raises(KeyError):
        find_rule("ENV-999")


def test_explain_says_rule_section_severity_and_place() -> None:
    raw = vectors.message({"base": "agent.tool.invoked", "set": {"/urgency": "loud"}})
    (found,) = aaep.explain(raw)
    assert (found.rule, found.section, found.severity, found.path) == (
        "ENV-040",
        find_rule("ENV-040").section,
        "error",
        "/urgency",
    )
    assert found.event_id == vectors.BASES["agent.tool.invoked"]["event_id"]
    expected = "urgency should be one of background, critical, normal; found"
    assert found.message.startswith(expected), found.message
    assert str(found).startswith("error ENV-040 (§3.3.2")
