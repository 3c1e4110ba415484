"""
The report on a run: as text that reads well aloud, as JSON and as JUnit XML.

Each form holds the level, the rules that stand in the way of a higher one, and
for every rule its verdict, what was seen, its section in the specification,
and what to do about it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from ..protocol.catalogue import all_rules, format_spoken_section
from ..protocol.fields import AAEP_VERSION
from ..text.html_page import escape_xml
from . import SUITE_VERSION, VERDICTS, RuleResult
from .judge import compute_granted_level

__all__ = [
    "LEVEL_NAMES",
    "OPEN_VERDICTS",
    "VERDICT_LABELS",
    "Report",
    "format_advice",
    "render_junit",
    "render_text",
    "to_json",
]

Side = Literal["producer", "subscriber"]
LEVEL_NAMES: Final = {1: "Notification", 2: "Interactive", 3: "Negotiated"}
VERDICT_LABELS: Final = {
    "failed": "Failed",
    "warning": "Warning",
    "not shown": "Not shown",
    "passed": "Passed",
    "not applicable": "Not applicable",
}
OPEN_VERDICTS: Final = ("failed", "warning", "not shown")  # verdicts that call for an action


class Report(msgspec.Struct):
    """The results of a run and what they amount to. ``date`` is a day, like 2026-11-15."""

    side: Side
    name: str  # of the peer that was judged
    version: str
    source: str
    date: str
    requested_level: int  # the level that is to be reached
    results: list[RuleResult]
    remarks: list[str] = []
    is_live: bool = True  # False: a recording, from which no level can be claimed
    suite_version: str = SUITE_VERSION

    @property
    def granted_level(self) -> int:
        """The level that is granted; for a recording, the highest that nothing in it rules out."""
        return min(compute_granted_level(self.results), self.requested_level)

    @property
    def has_reached_level(self) -> bool | None:
        """Whether the requested level is reached; None for a recording, in which nothing was provoked."""
        return self.granted_level >= self.requested_level if self.is_live else None

    @property
    def is_passing(self) -> bool:
        """Whether the requested level is reached; for a recording, whether no rule failed."""
        return not self.find_results("failed") if self.has_reached_level is None else self.has_reached_level

    def find_results(self, *verdicts: str) -> list[RuleResult]:
        """Return the results that have one of these verdicts."""
        return [result for result in self.results if result.verdict in verdicts]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rules by verdict."""
        counts = Counter(result.verdict for result in self.results)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def claim(self) -> str:
        """LVL-004, LVL-071 §9.8: the claim that the run supports; empty when it supports none."""
        if not self.is_live or not self.granted_level:
            return ""
        name = f"{self.name} {self.version}".strip()
        return (
            f"{name} conforms to AAEP {AAEP_VERSION} as a {self.side} "
            f"at Level {self.granted_level} ({LEVEL_NAMES[self.granted_level]}), "
            f"verified with the aaep conformance suite {self.suite_version} on {self.date}."
        )

    @property
    def blocking_results(self) -> list[RuleResult]:
        """The results that stand in the way of the requested level; none for a recording, which can reach no level."""
        if not self.is_live:
            return []
        return [result for result in self.results if self._is_blocking(result)]

    def _is_blocking(self, result: RuleResult) -> bool:
        if result.verdict == "failed":
            rule = all_rules()[result.rule]
            return rule.always or rule.level <= self.requested_level
        if result.verdict == "not shown":
            return result.required_level is not None and result.required_level <= self.requested_level
        return False

    @property
    def headline(self) -> str:
        """The result of the run in one sentence."""
        name = f"{self.name} {self.version}".strip() or self.source
        if not self.is_live:
            failed_count = len(self.find_results("failed"))
            if not failed_count:
                return f"{name}: nothing in the recording breaks a rule."
            return f"{name}: {_format_rule_count(failed_count)} broken."
        if self.granted_level:
            level = f"Level {self.granted_level} ({LEVEL_NAMES[self.granted_level]})"
            return f"{name} keeps what {level} asks of a {self.side}."
        return f"{name} reaches no level as a {self.side}."


def _format_rule_count(count: int) -> str:
    return "1 rule is" if count == 1 else f"{count} rules are"


def format_advice(result: RuleResult) -> str:
    """Return what to do about a result, without repeating the statement of its rule; empty if nothing is to be done."""
    if result.verdict not in OPEN_VERDICTS:
        return ""
    advice = result.advice.removeprefix(all_rules()[result.rule].statement).strip()
    if advice != result.advice:  # the advice began with the rule itself, and says little without it
        action = "See that it happens in the run" if result.verdict == "not shown" else "Do what the rule asks"
        advice = f"{action}. {advice}"
    return advice


# -- text ------------------------------------------------------------------------------------


def render_text(report: Report, *, include_passed: bool = False) -> Iterator[str]:
    """Yield the lines of the report as text; with ``include_passed``, all rules and not only the open ones."""
    yield report.headline
    yield f"Judged: {report.source}, on {report.date}, with suite {report.suite_version}."
    yield "Rules: " + ", ".join(_format_count(count, verdict) for verdict, count in report.counts.items()) + "."
    if report.claim:
        yield f"Claim: {report.claim}"
    blocking_rules = {result.rule for result in report.blocking_results}
    if blocking_rules:
        yield f"Level {report.requested_level} is not granted because of {', '.join(sorted(blocking_rules))}."
    for verdict in VERDICTS:
        results = [
            result
            for result in report.find_results(verdict)
            if include_passed or verdict in ("failed", "warning") or result.rule in blocking_rules
        ]
        if results:
            yield ""
            yield f"{VERDICT_LABELS[verdict]}:"
        for result in results:
            yield from _format_result(result)
    if report.remarks:
        yield ""
        yield "Remarks:"
        yield from (f"  {remark}" for remark in report.remarks)


def _format_count(count: int, verdict: str) -> str:
    return f"{count} {verdict}{'s' if verdict == 'warning' and count != 1 else ''}"


def _format_result(result: RuleResult) -> Iterator[str]:
    rule = all_rules()[result.rule]
    yield f"  {rule.id}, {rule.keyword}, {format_spoken_section(rule.section)}: {rule.statement}"
    for text in result.evidence:
        yield f"    Seen: {text}"
    if advice := format_advice(result):
        yield f"    To do: {advice}"


# -- JSON ------------------------------------------------------------------------------------


def to_json(report: Report) -> bytes:
    """LVL-068: return the report as a JSON document."""
    members = {
        "suite": report.suite_version,
        "aaep_version": AAEP_VERSION,
        "date": report.date,
        "side": report.side,
        "name": report.name,
        "version": report.version,
        "source": report.source,
        "live": report.is_live,
        "level_asked": report.requested_level,
        "level_granted": report.granted_level if report.is_live else None,
        "reached": report.has_reached_level,
        "claim": report.claim or None,
        "counts": report.counts,
        "hindrances": [result.rule for result in report.blocking_results],
        "results": [_result_to_dict(result) for result in report.results],
        "remarks": report.remarks,
    }
    return json.dumps(members, ensure_ascii=False, indent=2).encode(errors="backslashreplace") + b"\n"


def _result_to_dict(result: RuleResult) -> dict[str, Any]:
    rule = all_rules()[result.rule]
    return {
        "rule": rule.id,
        "keyword": rule.keyword,
        "level": rule.level,
        "section": rule.section,
        "statement": rule.statement,
        "verdict": result.verdict,
        "required_at_level": result.required_level,
        "evidence": [*result.evidence],
        "advice": result.advice,
    }


# -- JUnit XML -------------------------------------------------------------------------------


def render_junit(report: Report) -> str:
    """Return the report as JUnit XML; a rule that was not shown and that no level depends on is skipped."""
    results = [result for result in report.results if result.verdict != "not applicable"]
    blocking_rules = {result.rule for result in report.blocking_results}
    failure_count = sum(1 for result in results if result.verdict == "failed" or result.rule in blocking_rules)
    skipped_count = sum(1 for result in results if result.verdict == "not shown" and result.rule not in blocking_rules)
    properties = {
        "suite": report.suite_version,
        "date": report.date,
        "source": report.source,
        "level": report.granted_level if report.is_live else "",
        "claim": report.claim,
    }
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="aaep conformance {escape_xml(report.side)}" '
        f'tests="{len(results)}" failures="{failure_count}" errors="0" '
        f'skipped="{skipped_count}">',
        "<properties>",
        *(f'<property name="{name}" value="{escape_xml(value)}"/>' for name, value in properties.items()),
        "</properties>",
    ]
    for result in results:
        lines += _format_test_case(result, is_blocking=result.rule in blocking_rules)
    return "\n".join([*lines, "</testsuite>", ""])


def _format_test_case(result: RuleResult, *, is_blocking: bool) -> Iterator[str]:
    rule = all_rules()[result.rule]
    yield f'<testcase classname="aaep.{rule.id.partition("-")[0]}" name="{escape_xml(f"{rule.id} {rule.statement}")}">'
    details = escape_xml("\n".join([*result.evidence, result.advice]))
    verdict = escape_xml(result.verdict)
    if result.verdict == "failed" or is_blocking:
        yield f'<failure message="{verdict}" type="{verdict}">{details}</failure>'
    elif result.verdict == "not shown":
        yield f'<skipped message="{escape_xml(" ".join(result.evidence))}"/>'
    elif result.verdict == "warning":
        yield f"<system-out>{details}</system-out>"
    yield "</testcase>"
