"""
Telling what a run came to: as text that reads well aloud, as JSON and as JUnit XML.

All of them hold the same: the level, why it is no higher, the verdict for each
rule with what was seen, where the rule stands, and what to do about it.
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

# -- text -------------------------------------------------------------------------------------------


def render_text(report: Report, *, include_passed: bool = False) -> Iterator[str]:
    """The report in lines; with ``everything``, what was passed too."""
    yield report.headline
    yield f"Judged: {report.source}, on {report.date}, with suite {report.suite_version}."
    yield "Rules: " + ", ".join(_format_count(many, verdict) for verdict, many in report.counts.items()) + "."
    if report.claim:
        yield f"Claim: {report.claim}"
    held = {one.rule for one in report.blocking_results}
    if held:
        yield f"Level {report.requested_level} is not granted because of {', '.join(sorted(held))}."
    for verdict in VERDICTS:
        chosen = [
            one
            for one in report.find_results(verdict)
            if include_passed or verdict in ("failed", "warning") or one.rule in held
        ]
        if chosen:
            yield ""
            yield f"{VERDICT_LABELS[verdict]}:"
        for one in chosen:
            yield from _format_result(one)
    if report.remarks:
        yield ""
        yield "Remarks:"
        yield from (f"  {one}" for one in report.remarks)


def _format_count(many: int, verdict: str) -> str:
    return f"{many} {verdict}{'s' if verdict == 'warning' and many != 1 else ''}"


def _format_result(result: RuleResult) -> Iterator[str]:
    rule = all_rules()[result.rule]
    yield f"  {rule.id}, {rule.keyword}, {format_spoken_section(rule.section)}: {rule.statement}"
    for seen in result.evidence:
        yield f"    Seen: {seen}"
    if advice := format_advice(result):
        yield f"    To do: {advice}"


# -- JSON --------------------------------------------------------------------------------------------


def to_json(report: Report) -> bytes:
    """LVL-068: the report as a program reads it."""
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
        "hindrances": [one.rule for one in report.blocking_results],
        "results": [_result_to_dict(one) for one in report.results],
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


# -- JUnit -------------------------------------------------------------------------------------------


def render_junit(report: Report) -> str:
    """As the tools that collect test results read it. What no level waits for and was not shown is skipped."""
    shown = [one for one in report.results if one.verdict != "not applicable"]
    hindering = {one.rule for one in report.blocking_results}
    bad = sum(1 for one in shown if one.verdict == "failed" or one.rule in hindering)
    skipped = sum(1 for one in shown if one.verdict == "not shown" and one.rule not in hindering)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="aaep conformance {escape_xml(report.side)}" '
        f'tests="{len(shown)}" failures="{bad}" errors="0" '
        f'skipped="{skipped}">',
        "<properties>",
        *(
            f'<property name="{name}" value="{escape_xml(value)}"/>'
            for name, value in (
                ("suite", report.suite_version),
                ("date", report.date),
                ("source", report.source),
                ("level", report.granted_level if report.is_live else ""),
                ("claim", report.claim),
            )
        ),
        "</properties>",
    ]
    for one in shown:
        lines += _format_test_case(one, is_blocking=one.rule in hindering)
    return "\n".join([*lines, "</testsuite>", ""])


def _format_test_case(result: RuleResult, *, is_blocking: bool) -> Iterator[str]:
    rule = all_rules()[result.rule]
    yield f'<testcase classname="aaep.{rule.id.partition("-")[0]}" name="{escape_xml(f"{rule.id} {rule.statement}")}">'
    seen = escape_xml("\n".join([*result.evidence, result.advice]))
    if result.verdict == "failed" or is_blocking:
        yield f'<failure message="{escape_xml(result.verdict)}" type="{escape_xml(result.verdict)}">{seen}</failure>'
    elif result.verdict == "not shown":
        yield f'<skipped message="{escape_xml(" ".join(result.evidence))}"/>'
    elif result.verdict == "warning":
        yield f"<system-out>{seen}</system-out>"
    yield "</testcase>"


# -- results --

Side = Literal["producer", "subscriber"]
LEVEL_NAMES: Final = {1: "Notification", 2: "Interactive", 3: "Negotiated"}
VERDICT_LABELS: Final = {
    "failed": "Failed",
    "warning": "Warning",
    "not shown": "Not shown",
    "passed": "Passed",
    "not applicable": "Not applicable",
}
OPEN_VERDICTS: Final = ("failed", "warning", "not shown")  # what somebody should look at


class Report(msgspec.Struct):
    """A run, ready to be told. ``date`` is a day, like 2026-11-15."""

    side: Side
    name: str  # of what was judged
    version: str
    source: str
    date: str
    requested_level: int  # the level that was asked about
    results: list[RuleResult]
    remarks: list[str] = []
    is_live: bool = True  # False: a recording, of which no level can be claimed
    suite_version: str = SUITE_VERSION

    @property
    def granted_level(self) -> int:
        """The level that is granted; of a recording, that nothing in it stands against."""
        return min(compute_granted_level(self.results), self.requested_level)

    @property
    def has_reached_level(self) -> bool | None:
        """Whether it reaches the level that was asked about. A recording cannot: nobody provoked anything."""
        return self.granted_level >= self.requested_level if self.is_live else None

    @property
    def is_passing(self) -> bool:
        """Whether the level is reached; of a recording, whether nothing in it is failed."""
        return not self.find_results("failed") if self.has_reached_level is None else self.has_reached_level

    def find_results(self, *verdicts: str) -> list[RuleResult]:
        return [one for one in self.results if one.verdict in verdicts]

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(one.verdict for one in self.results)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def claim(self) -> str:
        """LVL-004, LVL-071 §9.8: what may be said of it. Empty when nothing may."""
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
        """What keeps it from the level that was asked about; nothing keeps a recording from what it cannot have."""
        return [
            one
            for one in (self.results if self.is_live else ())
            if (one.verdict == "failed" and all_rules()[one.rule].level <= self.requested_level)
            or (one.verdict == "failed" and all_rules()[one.rule].always)
            or (
                one.verdict == "not shown"
                and one.required_level is not None
                and one.required_level <= self.requested_level
            )
        ]

    @property
    def headline(self) -> str:
        what = f"{self.name} {self.version}".strip() or self.source
        if not self.is_live:
            many = len(self.find_results("failed"))
            return (
                f"{what}: nothing in the recording breaks a rule."
                if not many
                else f"{what}: {_format_rule_count(many)} broken."
            )
        if self.granted_level:
            level = f"Level {self.granted_level} ({LEVEL_NAMES[self.granted_level]})"
            return f"{what} keeps what {level} asks of a {self.side}."
        return f"{what} reaches no level as a {self.side}."


def _format_rule_count(many: int) -> str:
    return "1 rule is" if many == 1 else f"{many} rules are"


def format_advice(result: RuleResult) -> str:
    """What to do about it; what the rule says itself is not said again."""
    if result.verdict not in OPEN_VERDICTS:
        return ""
    advice = result.advice.removeprefix(all_rules()[result.rule].statement).strip()
    if advice != result.advice:  # nobody had more to say than the rule itself
        do = "See that it happens in the run" if result.verdict == "not shown" else "Do what the rule asks"
        advice = f"{do}. {advice}"
    return advice
