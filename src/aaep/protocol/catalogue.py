"""
The catalogue of requirements, as data.

``catalogue.json`` holds one row per rule, in our words. Requirements that the
specification states twice are kept once; ``MERGED`` says where the others went.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import msgspec

from ..errors import Severity, Violation

__all__ = ["Rule", "all_rules", "find_rule", "grade", "merged_rules", "speak_section"]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """
    One requirement.

    ``level`` is the lowest conformance level that demands it; a rule with
    ``always`` is checked at every level (C-40). ``softened`` marks a MUST that
    a reading turns into a warning for other people's recordings; our own
    producer is held to it (``strict``).
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
        """TERM-001 §2.1, TERM-032 §2.4.6: the keyword decides, and informative text at most warns."""
        if self.keyword == "SHOULD":
            return "warning"
        # A MAY rule is cited only when an option is used in the wrong shape.
        return "warning" if self.softened and not strict else "error"


class _Catalogue(msgspec.Struct, frozen=True):
    rules: tuple[Rule, ...]
    merged: dict[str, tuple[str, ...]]


# Made here and not when it is needed: two threads that make the first one for a shape at once crash the process.
_decode: Final = msgspec.json.Decoder(_Catalogue).decode


@cache
def _catalogue() -> _Catalogue:
    # A part of the package, like its code: read once, when a rule is first named.
    return _decode(files(__package__).joinpath("catalogue.json").read_bytes())


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its id."""
    return {rule.id: rule for rule in _catalogue().rules}


def merged_rules() -> Mapping[str, tuple[str, ...]]:
    """Retired ids, and the rules that say the same."""
    return _catalogue().merged


def find_rule(id: str) -> Rule:
    """The rule of that id."""
    return all_rules()[id]


def grade(violation: Violation, *, strict: bool = False) -> Severity:
    """
    How bad a violation is.

    A reading that grades one situation lower than its rule (``severity`` on the
    violation) softens a MUST just as ``softened`` does, so ``strict`` undoes it;
    it does not make an error of a note.
    """
    known = all_rules().get(violation.rule)
    if known is None:  # a profile's own rule
        return violation.severity or "error"
    if not violation.severity:
        return known.severity(strict=strict)
    if strict and violation.severity == "warning" and known.keyword != "SHOULD":
        return "error"
    return violation.severity


def speak_section(section: str) -> str:
    """Where a rule stands, as one says it: ``§3.8, A.4`` is section 3.8, section A.4."""
    said = []
    for part in section.split(", "):
        if part.startswith("schema:"):
            said.append(part.replace(":", " ", 1))
        else:
            said.append(f"section {part.removeprefix('§')}" if part.startswith(("§", "A.")) else part)
    return ", ".join(said)
