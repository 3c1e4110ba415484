"""
Telling what a run came to: as text that reads well aloud, as JSON, as JUnit XML, and as one page.

All of them hold the same: the level, why it is no higher, the verdict for each
rule with what was seen, where the rule stands, and what to do about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..protocol.catalogue import rules, spoken
from ..protocol.fields import AAEP_VERSION
from ..text.html_page import safe
from . import VERDICTS, Result
from .report_html import page
from .results import WORDS, Report, todo

__all__ = ["Report", "html", "junit", "text", "to_json"]

# -- text -------------------------------------------------------------------------------------------


def text(report: Report, *, everything: bool = False) -> Iterator[str]:
    """The report in lines; with ``everything``, what was passed too."""
    yield report.headline
    yield f"Judged: {report.source}, on {report.date}, with suite {report.suite}."
    yield "Rules: " + ", ".join(_count(many, verdict) for verdict, many in report.counts.items()) + "."
    if report.claim:
        yield f"Claim: {report.claim}"
    held = {one.rule for one in report.hindrances}
    if held:
        yield f"Level {report.wanted} is not granted because of {', '.join(sorted(held))}."
    for verdict in VERDICTS:
        chosen = [
            one for one in report.of(verdict) if everything or verdict in ("failed", "warning") or one.rule in held
        ]
        if chosen:
            yield ""
            yield f"{WORDS[verdict]}:"
        for one in chosen:
            yield from _paragraph(one)
    if report.remarks:
        yield ""
        yield "Remarks:"
        yield from (f"  {one}" for one in report.remarks)


def _count(many: int, verdict: str) -> str:
    return f"{many} {verdict}{'s' if verdict == 'warning' and many != 1 else ''}"


def _paragraph(result: Result) -> Iterator[str]:
    rule = rules()[result.rule]
    yield f"  {rule.id}, {rule.keyword}, {spoken(rule.section)}: {rule.statement}"
    for seen in result.evidence:
        yield f"    Seen: {seen}"
    if advice := todo(result):
        yield f"    To do: {advice}"


# -- JSON --------------------------------------------------------------------------------------------


def to_json(report: Report) -> bytes:
    """LVL-068: the report as a program reads it."""
    members = {
        "suite": report.suite,
        "aaep_version": AAEP_VERSION,
        "date": report.date,
        "side": report.side,
        "name": report.name,
        "version": report.version,
        "source": report.source,
        "live": report.live,
        "level_asked": report.wanted,
        "level_granted": report.level if report.live else None,
        "reached": report.reached,
        "claim": report.claim or None,
        "counts": report.counts,
        "hindrances": [one.rule for one in report.hindrances],
        "results": [_members(one) for one in report.results],
        "remarks": report.remarks,
    }
    return json.dumps(members, ensure_ascii=False, indent=2).encode(errors="backslashreplace") + b"\n"


def _members(result: Result) -> dict[str, Any]:
    rule = rules()[result.rule]
    return {
        "rule": rule.id,
        "keyword": rule.keyword,
        "level": rule.level,
        "section": rule.section,
        "statement": rule.statement,
        "verdict": result.verdict,
        "required_at_level": result.required,
        "evidence": [*result.evidence],
        "advice": result.advice,
    }


# -- JUnit -------------------------------------------------------------------------------------------


def junit(report: Report) -> str:
    """As the tools that collect test results read it. What no level waits for and was not shown is skipped."""
    shown = [one for one in report.results if one.verdict != "not applicable"]
    hindering = {one.rule for one in report.hindrances}
    bad = sum(1 for one in shown if one.verdict == "failed" or one.rule in hindering)
    skipped = sum(1 for one in shown if one.verdict == "not shown" and one.rule not in hindering)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="aaep conformance {safe(report.side)}" tests="{len(shown)}" failures="{bad}" errors="0" '
        f'skipped="{skipped}">',
        "<properties>",
        *(
            f'<property name="{name}" value="{safe(value)}"/>'
            for name, value in (
                ("suite", report.suite),
                ("date", report.date),
                ("source", report.source),
                ("level", report.level if report.live else ""),
                ("claim", report.claim),
            )
        ),
        "</properties>",
    ]
    for one in shown:
        lines += _case(one, hindering=one.rule in hindering)
    return "\n".join([*lines, "</testsuite>", ""])


def _case(result: Result, *, hindering: bool) -> Iterator[str]:
    rule = rules()[result.rule]
    yield f'<testcase classname="aaep.{rule.id.partition("-")[0]}" name="{safe(f"{rule.id} {rule.statement}")}">'
    seen = safe("\n".join([*result.evidence, result.advice]))
    if result.verdict == "failed" or hindering:
        yield f'<failure message="{safe(result.verdict)}" type="{safe(result.verdict)}">{seen}</failure>'
    elif result.verdict == "not shown":
        yield f'<skipped message="{safe(" ".join(result.evidence))}"/>'
    elif result.verdict == "warning":
        yield f"<system-out>{seen}</system-out>"
    yield "</testcase>"


# -- one page ----------------------------------------------------------------------------------------


def html(report: Report) -> Iterator[str]:
    """One page, in parts: no script, no other file."""
    yield from page(report)
