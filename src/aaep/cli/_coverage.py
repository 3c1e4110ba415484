"""
What exercises each rule: vectors, scenarios of the conformance suite, and tests that cite it. Read from the sources.

A rule about messages is exercised by a case that keeps it and one that breaks
it. A rule about what somebody does is tried live by a scenario, or checked by a
test that cites its id, or no program can decide it, and then it says why.
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
_MESSAGE_RULE_KINDS: Final = ("schema", "sequence")  # kinds of rules that a recording shows

RuleReferences = dict[str, list[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


class RuleCoverage(msgspec.Struct):
    """What exercises one rule. ``tests`` name a function each, ``live`` a scenario and its side."""

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
            many = f"{format_count(len(self.passing), 'case')} that must pass"
            parts.append(f"{many}, {len(self.failing) or 'none'} that must fail.")
        if self.live:
            parts.append(f"Tried live: {'; '.join(self.live)}.")
        if self.tests:
            parts.append(f"Tests: {', '.join(map(to_printable, self.tests))}.")
        if self.undecidable:
            parts.append(f"No program can decide it. {self.undecidable}")
        return f"{self.id}: {' '.join(parts) or 'Nothing exercises it.'}"


def measure_coverage(chosen: Iterable[Rule], root: Path) -> Iterator[RuleCoverage]:
    """What exercises each of these rules, by the sources in a folder."""
    if not (root / "vectors").is_dir():
        raise CannotRun("--coverage needs the sources: run it in their folder, or name that with --root.")
    passing, failing = _find_vectors(root)
    live, tests = _find_scenarios(), _find_tests(root)
    for rule in chosen:
        good, bad, tried, cited = (found.get(rule.id, []) for found in (passing, failing, live, tests))
        reason = UNDECIDABLE_RULES.get(rule.id, "")
        enough = bool(good and bad) if rule.kind in _MESSAGE_RULE_KINDS else bool(tried or cited or reason)
        yield RuleCoverage(rule.id, good, bad, tried, cited, reason, rule.keyword == "MUST" and not enough)


def _find_vectors(root: Path) -> tuple[RuleReferences, RuleReferences]:
    """Ids of the vectors that keep and that break each rule."""
    passing: RuleReferences = {}
    failing: RuleReferences = {}
    for path in sorted((root / "vectors").glob("*.json")):
        try:
            held = json.loads(path.read_bytes())
        except ValueError as error:
            raise CannotRun(f"{path} is not JSON: {error}.") from error
        for case in held.get("cases", ()) if isinstance(held, dict) else ():
            broken = {finding["rule"] for finding in case["findings"]}
            for id_ in broken:
                failing.setdefault(id_, []).append(case["id"])
            for id_ in {case["rule"], *case.get("also", ())} - broken:
                passing.setdefault(id_, []).append(case["id"])
    return passing, failing


def _find_scenarios() -> RuleReferences:
    """The scenarios that try each rule."""
    found: RuleReferences = {}
    for side, scenarios in (("producer", PRODUCER_SCENARIOS), ("subscriber", SUBSCRIBER_SCENARIOS)):
        for one in scenarios:
            for id_ in (*one.required_rules, *one.optional_rules):
                found.setdefault(id_, []).append(f"{one.name} ({side})")
    return found


# -- tests -----------------------------------------------------------------------------------------


def _find_tests(root: Path) -> RuleReferences:
    """
    The functions of the tests that cite each rule, in their docstring or in a comment.

    A rule that is only part of what a test feeds or expects is not cited by it.
    """
    found: RuleReferences = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            body, comments = ast.parse(text, str(path)).body, _read_comments(text)
        except (SyntaxError, TokenError) as error:
            raise CannotRun(f"{path} is not Python: {error}.") from error
        for place, function in _find_test_functions(body):
            for id_ in sorted({*_RULE_ID.findall(_collect_comments(function, comments))}):
                found.setdefault(id_, []).append(f"{name}::{place}")
    return found


def _find_test_functions(body: Iterable[ast.stmt], within: str = "") -> Iterator[tuple[str, Function]]:
    """Test functions, with their place in the file as pytest writes it."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _find_test_functions(node.body, f"{within}{node.name}::")
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield within + node.name, node


def _read_comments(text: str) -> Mapping[int, str]:
    """The comments of a file by their lines."""
    tokens = generate_tokens(StringIO(text).readline)
    return {token.start[0]: token.string for token in tokens if token.type == COMMENT}


def _collect_comments(function: Function, comments: Mapping[int, str]) -> str:
    """A test's docstring, and the comments in it, at its decorators and directly above."""
    first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
    while first - 1 in comments:
        first -= 1
    lines = range(first, (function.end_lineno or first) + 1)
    return "\n".join([ast.get_docstring(function) or "", *(comments.get(line, "") for line in lines)])
