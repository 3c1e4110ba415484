"""
The coverage of the rules by vectors, conformance scenarios and tests, read from the sources.

A rule about messages is covered by a vector that keeps it and one that breaks
it. A rule about behaviour is covered by a live scenario or by a test that
cites its id, or it is listed as undecidable with a reason.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, TokenError, generate_tokens
from typing import Final

import msgspec

from ..conformance.producer.run import PRODUCER_SCENARIOS, UNDECIDABLE_RULES
from ..conformance.subscriber.run import SUBSCRIBER_SCENARIOS
from ..protocol.catalogue import Rule
from ._command import CannotRun, format_count, to_printable

__all__ = ["RuleCoverage", "measure_coverage"]

_RULE_ID: Final = re.compile(r"\b[A-Z][A-Z0-9]+-[0-9]{3}\b")
_MESSAGE_RULE_KINDS: Final = ("schema", "sequence")  # kinds of rules that can be checked in a recording

RuleReferences = dict[str, list[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


class RuleCoverage(msgspec.Struct):
    """The coverage of one rule: ids of vectors, names of live scenarios with their side, and test functions."""

    id: str
    passing: list[str] = msgspec.field(name="pass")
    failing: list[str] = msgspec.field(name="fail")
    live: list[str]
    tests: list[str]
    undecidable: str
    lacking: bool

    def __str__(self) -> str:
        parts = []
        if self.passing or self.failing:
            passing = f"{format_count(len(self.passing), 'case')} that must pass"
            parts.append(f"{passing}, {len(self.failing) or 'none'} that must fail.")
        if self.live:
            parts.append(f"Tried live: {'; '.join(self.live)}.")
        if self.tests:
            parts.append(f"Tests: {', '.join(map(to_printable, self.tests))}.")
        if self.undecidable:
            parts.append(f"No program can decide it. {self.undecidable}")
        return f"{self.id}: {' '.join(parts) or 'Nothing exercises it.'}"


def measure_coverage(rules: Iterable[Rule], root: Path) -> Iterator[RuleCoverage]:
    """Yield the coverage of each rule by the sources in a folder."""
    if not (root / "vectors").is_dir():
        raise CannotRun("--coverage needs the sources: run it in their folder, or name that with --root.")
    passing_vectors, failing_vectors = _find_vectors(root)
    scenarios = _find_scenarios()
    tests = _find_tests(root)
    for rule in rules:
        passing = passing_vectors.get(rule.id, [])
        failing = failing_vectors.get(rule.id, [])
        live = scenarios.get(rule.id, [])
        citing = tests.get(rule.id, [])
        reason = UNDECIDABLE_RULES.get(rule.id, "")
        is_message_rule = rule.kind in _MESSAGE_RULE_KINDS
        is_covered = bool(passing and failing) if is_message_rule else bool(live or citing or reason)
        yield RuleCoverage(rule.id, passing, failing, live, citing, reason, rule.keyword == "MUST" and not is_covered)


def _find_vectors(root: Path) -> tuple[RuleReferences, RuleReferences]:
    """Return the ids of the vectors that keep and that break each rule."""
    passing: RuleReferences = {}
    failing: RuleReferences = {}
    for path in sorted((root / "vectors").glob("*.json")):
        try:
            document = json.loads(path.read_bytes())
        except ValueError as error:
            raise CannotRun(f"{path} is not JSON: {error}.") from error
        for case in document.get("cases", ()) if isinstance(document, dict) else ():
            broken = {finding["rule"] for finding in case["findings"]}
            for rule_id in broken:
                failing.setdefault(rule_id, []).append(case["id"])
            for rule_id in {case["rule"], *case.get("also", ())} - broken:
                passing.setdefault(rule_id, []).append(case["id"])
    return passing, failing


def _find_scenarios() -> RuleReferences:
    """Return the names of the scenarios that try each rule."""
    references: RuleReferences = {}
    for side, scenarios in (("producer", PRODUCER_SCENARIOS), ("subscriber", SUBSCRIBER_SCENARIOS)):
        for scenario in scenarios:
            for rule_id in (*scenario.required_rules, *scenario.optional_rules):
                references.setdefault(rule_id, []).append(f"{scenario.name} ({side})")
    return references


# -- tests that cite rules -------------------------------------------------------------------------


def _find_tests(root: Path) -> RuleReferences:
    """
    Return the test functions that cite each rule in their docstring or in a comment.

    A rule id in the code of a test, such as an expected finding, is not a citation.
    """
    references: RuleReferences = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        file_name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            body = ast.parse(text, str(path)).body
            comments = _read_comments(text)
        except (SyntaxError, TokenError) as error:
            raise CannotRun(f"{path} is not Python: {error}.") from error
        for test_name, function in _find_test_functions(body):
            for rule_id in sorted({*_RULE_ID.findall(_collect_comments(function, comments))}):
                references.setdefault(rule_id, []).append(f"{file_name}::{test_name}")
    return references


def _find_test_functions(body: Iterable[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Yield test functions with their qualified names as pytest writes them."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _find_test_functions(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield prefix + node.name, node


def _read_comments(text: str) -> Mapping[int, str]:
    """Return the comments of a source file by line number."""
    tokens = generate_tokens(StringIO(text).readline)
    return {token.start[0]: token.string for token in tokens if token.type == COMMENT}


def _collect_comments(function: Function, comments: Mapping[int, str]) -> str:
    """Return a test's docstring and the comments in it, at its decorators and directly above."""
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    while first - 1 in comments:
        first -= 1
    lines = range(first, (function.end_lineno or first) + 1)
    return "\n".join([ast.get_docstring(function) or "", *(comments.get(line, "") for line in lines)])
