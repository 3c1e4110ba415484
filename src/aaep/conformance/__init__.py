"""
The conformance suite: it provokes a live peer, judges what it says by the core's own rules, and tells what it saw.

Nothing here states a rule again. Messages are judged by :class:`aaep.protocol.audit.Audit`;
a scenario only brings about a situation and writes down what came of it. What
did not happen is *not shown*, and never passed.
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
    What is known of one rule after a run.

    ``required`` is the lowest level that is not granted while the rule is not
    shown; None when no level waits for it.
    """

    rule: str
    verdict: Verdict
    evidence: tuple[str, ...] = ()
    advice: str = ""
    required_level: Literal[1, 2, 3] | None = None
