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

from ..protocol.catalogue import all_rules, speak_section
from ..protocol.fields import AAEP_VERSION
from ..text.html_page import safe
from . import SUITE, VERDICTS, Result
from .judge import granted

__all__ = ["NAMES", "OPEN", "WORDS", "Report", "junit", "text", "to_json", "todo"]

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
    rule = all_rules()[result.rule]
    yield f"  {rule.id}, {rule.keyword}, {speak_section(rule.section)}: {rule.statement}"
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
    rule = all_rules()[result.rule]
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
    rule = all_rules()[result.rule]
    yield f'<testcase classname="aaep.{rule.id.partition("-")[0]}" name="{safe(f"{rule.id} {rule.statement}")}">'
    seen = safe("\n".join([*result.evidence, result.advice]))
    if result.verdict == "failed" or hindering:
        yield f'<failure message="{safe(result.verdict)}" type="{safe(result.verdict)}">{seen}</failure>'
    elif result.verdict == "not shown":
        yield f'<skipped message="{safe(" ".join(result.evidence))}"/>'
    elif result.verdict == "warning":
        yield f"<system-out>{seen}</system-out>"
    yield "</testcase>"


# -- results --

Side = Literal["producer", "subscriber"]
NAMES: Final = {1: "Notification", 2: "Interactive", 3: "Negotiated"}
WORDS: Final = {
    "failed": "Failed",
    "warning": "Warning",
    "not shown": "Not shown",
    "passed": "Passed",
    "not applicable": "Not applicable",
}
OPEN: Final = ("failed", "warning", "not shown")  # what somebody should look at


class Report(msgspec.Struct):
    """A run, ready to be told. ``date`` is a day, like 2026-11-15."""

    side: Side
    name: str  # of what was judged
    version: str
    source: str
    date: str
    wanted: int  # the level that was asked about
    results: list[Result]
    remarks: list[str] = []
    live: bool = True  # False: a recording, of which no level can be claimed
    suite: str = SUITE

    @property
    def level(self) -> int:
        """The level that is granted; of a recording, that nothing in it stands against."""
        return min(granted(self.results), self.wanted)

    @property
    def reached(self) -> bool | None:
        """Whether it reaches the level that was asked about. A recording cannot: nobody provoked anything."""
        return self.level >= self.wanted if self.live else None

    @property
    def good(self) -> bool:
        """Whether the level is reached; of a recording, whether nothing in it is failed."""
        return not self.of("failed") if self.reached is None else self.reached

    def of(self, *verdicts: str) -> list[Result]:
        return [one for one in self.results if one.verdict in verdicts]

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(one.verdict for one in self.results)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def claim(self) -> str:
        """LVL-004, LVL-071 §9.8: what may be said of it. Empty when nothing may."""
        if not self.live or not self.level:
            return ""
        name = f"{self.name} {self.version}".strip()
        return (
            f"{name} conforms to AAEP {AAEP_VERSION} as a {self.side} at Level {self.level} ({NAMES[self.level]}), "
            f"verified with the aaep conformance suite {self.suite} on {self.date}."
        )

    @property
    def hindrances(self) -> list[Result]:
        """What keeps it from the level that was asked about; nothing keeps a recording from what it cannot have."""
        return [
            one
            for one in (self.results if self.live else ())
            if (one.verdict == "failed" and all_rules()[one.rule].level <= self.wanted)
            or (one.verdict == "failed" and all_rules()[one.rule].always)
            or (one.verdict == "not shown" and one.required is not None and one.required <= self.wanted)
        ]

    @property
    def headline(self) -> str:
        what = f"{self.name} {self.version}".strip() or self.source
        if not self.live:
            many = len(self.of("failed"))
            return f"{what}: nothing in the recording breaks a rule." if not many else f"{what}: {_rules(many)} broken."
        if self.level:
            return f"{what} keeps what Level {self.level} ({NAMES[self.level]}) asks of a {self.side}."
        return f"{what} reaches no level as a {self.side}."


def _rules(many: int) -> str:
    return "1 rule is" if many == 1 else f"{many} rules are"


def todo(result: Result) -> str:
    """What to do about it; what the rule says itself is not said again."""
    if result.verdict not in OPEN:
        return ""
    advice = result.advice.removeprefix(all_rules()[result.rule].statement).strip()
    if advice != result.advice:  # nobody had more to say than the rule itself
        do = "See that it happens in the run" if result.verdict == "not shown" else "Do what the rule asks"
        advice = f"{do}. {advice}"
    return advice
