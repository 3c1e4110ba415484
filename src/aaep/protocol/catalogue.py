"""
The catalogue of requirements, as data.

``catalogue.json`` holds one row per rule, in our words. Requirements that the
specification states twice are kept once; :func:`merged_rules` maps the ids of
the others to the rules that are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

import msgspec

from ..errors import Severity, Violation

__all__ = [
    "Grading",
    "Rule",
    "all_rules",
    "find_grading",
    "find_rule",
    "format_spoken_section",
    "grade",
    "merged_rules",
]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """
    One requirement of the specification.

    ``level`` is the lowest conformance level that demands it; a rule with
    ``always`` is checked at every level (C-40). ``softened`` marks a MUST that a
    reading turns into a warning for recordings of other producers; our own producer
    is held to it (``strict``).
    """

    id: str
    section: str
    keyword: Literal["MUST", "SHOULD", "MAY"]
    level: Literal[1, 2, 3]
    role: Literal["producer", "subscriber", "both", "validator", "transport"]
    kind: Literal["schema", "sequence", "behaviour", "presentation"]
    basis: Literal["prose", "prose+schema", "schema", "informative"]
    statement: str
    softened: bool = False
    always: bool = False
    readings: tuple[str, ...] = ()
    note: str = ""

    def severity(self, *, strict: bool = False) -> Severity:
        """Return the severity by the keyword; informative text at most warns. TERM-001 §2.1, TERM-032 §2.4.6"""
        if self.keyword == "SHOULD":
            return "warning"
        # A MAY rule is cited only when an option is used in the wrong shape.
        return "warning" if self.softened and not strict else "error"


class _Catalogue(msgspec.Struct, frozen=True):
    rules: tuple[Rule, ...]
    merged: dict[str, tuple[str, ...]]


# Built at import: two threads that build the first decoder of a Struct at the same time crash the process.
_decode: Final = msgspec.json.Decoder(_Catalogue).decode


@cache
def _catalogue() -> _Catalogue:
    # Read once, when a rule is first looked up.
    return _decode(files(__package__).joinpath("catalogue.json").read_bytes())


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return every rule by its id."""
    return {rule.id: rule for rule in _catalogue().rules}


def merged_rules() -> Mapping[str, tuple[str, ...]]:
    """Return the retired ids, each with the rules that replace it."""
    return _catalogue().merged


def find_rule(id: str) -> Rule:
    """Return the rule of an id, or raise :exc:`KeyError`."""
    return all_rules()[id]


def grade(violation: Violation, *, strict: bool = False) -> Severity:
    """
    Return the severity of a violation.

    A reading that grades one situation lower than its rule (``severity`` on the
    violation) softens a MUST just as ``softened`` does, so ``strict`` undoes it; it
    does not turn a note into an error.
    """
    return find_grading(violation.rule, violation.severity, strict).severity


class Grading(NamedTuple):
    """What a breach of a rule amounts to."""

    severity: Severity
    section: str
    level: int  # the lowest conformance level at which it counts


@lru_cache(4096)
def find_grading(rule_id: str, severity: Severity | Literal[""], strict: bool) -> Grading:
    """Return what a breach of a rule amounts to, where a reading may give it another severity than the rule has."""
    rule = all_rules().get(rule_id)
    if rule is None:  # a profile's own rule
        return Grading(severity or "error", "", 0)
    if not severity:
        severity = rule.severity(strict=strict)
    elif strict and severity == "warning" and rule.keyword != "SHOULD":
        severity = "error"
    return Grading(severity, rule.section, 0 if rule.always else rule.level)


def format_spoken_section(section: str) -> str:
    """Format a rule's section for speech: ``§3.8, A.4`` becomes "section 3.8, section A.4"."""
    spoken = []
    for part in section.split(", "):
        if part.startswith("schema:"):
            spoken.append(part.replace(":", " ", 1))
        elif part.startswith(("§", "A.")):
            spoken.append(f"section {part.removeprefix('§')}")
        else:
            spoken.append(part)
    return ", ".join(spoken)
