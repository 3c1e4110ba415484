"""
The conformance suite: provoke a live peer, judge its messages by the core's own rules, and report the verdicts.

No rule is stated again here. Messages are judged by :class:`aaep.protocol.audit.Audit`;
a scenario only brings about a situation and records what followed. A rule whose
situation did not arise is *not shown*; it never counts as passed.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

__all__ = ["SUITE_VERSION", "VERDICTS", "RuleResult", "Verdict"]

SUITE_VERSION: Final = "1.0.0"  # the version of the suite, which a claim names (LVL-004)

Verdict = Literal["passed", "failed", "warning", "not shown", "not applicable"]
VERDICTS: Final[tuple[Verdict, ...]] = ("failed", "warning", "not shown", "passed", "not applicable")


class RuleResult(msgspec.Struct):
    """
    The verdict for one rule after a run.

    ``required_level`` is the lowest level that is not granted while the rule is
    not shown; None when no level depends on it.
    """

    rule: str
    verdict: Verdict
    evidence: tuple[str, ...] = ()
    advice: str = ""
    required_level: Literal[1, 2, 3] | None = None
