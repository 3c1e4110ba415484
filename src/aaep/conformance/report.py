"""
Telling what a run came to: as text that reads well aloud, as JSON, as JUnit XML, and as one page.

All of them hold the same: the level, why it is no higher, the verdict for each
rule with what was seen, where the rule stands, and what to do about it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from ..catalogue import Rule, rules
from ..fields import AAEP_VERSION
from ..page import document, foreign, safe
from . import SUITE, VERDICTS, Result
from ._judge import granted

__all__ = ["Report", "html", "junit", "text", "to_json"]

Side = Literal["producer", "subscriber"]
_NAMES: Final = {1: "Notification", 2: "Interactive", 3: "Negotiated"}
_WORDS: Final = {
    "failed": "Failed",
    "warning": "Warning",
    "not shown": "Not shown",
    "passed": "Passed",
    "not applicable": "Not applicable",
}


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
    def reached(self) -> bool:
        return self.level >= self.wanted if self.live else not self.of("failed")

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
            f"{name} conforms to AAEP {AAEP_VERSION} as a {self.side} at Level {self.level} ({_NAMES[self.level]}), "
            f"verified with the aaep conformance suite {self.suite} on {self.date}."
        )

    @property
    def hindrances(self) -> list[Result]:
        """What keeps it from the level that was asked about."""
        return [
            one
            for one in self.results
            if (one.verdict == "failed" and rules()[one.rule].level <= self.wanted)
            or (one.verdict == "failed" and rules()[one.rule].always)
            or (one.verdict == "not shown" and one.required is not None and one.required <= self.wanted)
        ]

    @property
    def headline(self) -> str:
        what = f"{self.name} {self.version}".strip() or self.source
        if not self.live:
            many = len(self.of("failed"))
            return f"{what}: nothing in the recording breaks a rule." if not many else f"{what}: {_rules(many)} broken."
        if self.level:
            return f"{what} keeps what Level {self.level} ({_NAMES[self.level]}) asks of a {self.side}."
        return f"{what} reaches no level as a {self.side}."


def _rules(many: int) -> str:
    return "1 rule is" if many == 1 else f"{many} rules are"


# -- text -------------------------------------------------------------------------------------------


def text(report: Report, *, everything: bool = False) -> Iterator[str]:
    """The report in lines; with ``everything``, what was passed too."""
    yield report.headline
    yield f"Judged: {report.source}, on {report.date}, with suite {report.suite}."
    yield "Rules: " + ", ".join(f"{many} {verdict}" for verdict, many in report.counts.items()) + "."
    if report.claim:
        yield f"Claim: {report.claim}"
    held = {one.rule for one in report.hindrances} if report.live else set()
    if held:
        yield f"Level {report.wanted} is not granted because of {', '.join(sorted(held))}."
    for verdict in VERDICTS:
        chosen = [
            one for one in report.of(verdict) if everything or verdict in ("failed", "warning") or one.rule in held
        ]
        if chosen:
            yield ""
            yield f"{_WORDS[verdict]}:"
        for one in chosen:
            yield from _paragraph(one)
    if report.remarks:
        yield ""
        yield "Remarks:"
        yield from (f"  {one}" for one in report.remarks)


def _paragraph(result: Result) -> Iterator[str]:
    rule = rules()[result.rule]
    yield f"  {rule.id}, {rule.keyword}, {rule.section}: {rule.statement}"
    for seen in result.evidence:
        yield f"    Seen: {seen}"
    if result.advice and result.verdict in ("failed", "warning", "not shown"):
        yield f"    To do: {result.advice}"


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
                ("level", report.level),
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

_STYLE: Final = """
table{border-collapse:collapse;width:100%}
caption{text-align:start;font-weight:bold;padding-block:.5rem}
th,td{text-align:start;vertical-align:top;padding:.4rem .6rem;border-block-end:1px solid currentColor}
.seen{overflow-wrap:anywhere;white-space:pre-wrap}
.claim{border-inline-start:.4rem solid currentColor;padding:.5rem 1rem}
"""


def html(report: Report) -> Iterator[str]:
    """One page, in parts: no script, no other file."""
    yield from document(f"AAEP conformance: {report.name or report.source}", _body(report), style=_STYLE)


def _body(report: Report) -> Iterator[str]:
    yield f"<main>\n<h1>{safe(report.headline)}</h1>\n"
    yield f"<p>Judged: {foreign(report.source)}, on {safe(report.date)}, with suite {safe(report.suite)}.</p>\n"
    if report.claim:
        yield f'<h2>Claim</h2>\n<p class="claim">{safe(report.claim)}</p>\n'
    yield "<h2>Levels</h2>\n<ul>\n"
    for level in range(1, report.wanted + 1):
        against = [one for one in report.hindrances if _stands(one, level)]
        word = "granted" if report.live and level <= report.level else "not granted" if report.live else "not judged"
        why = f": {', '.join(_link(one.rule) for one in against)}" if against else ""
        yield f"<li>Level {level}, {_NAMES[level]}: {word}{why}.</li>\n"
    yield "</ul>\n<h2>Rules</h2>\n<ul>\n"
    for verdict, many in report.counts.items():
        name = f'<a href="#{_anchor(verdict)}">{_WORDS[verdict]}</a>' if many else _WORDS[verdict]
        yield f"<li>{name}: {many}</li>\n"
    yield "</ul>\n"
    for verdict in VERDICTS:
        yield from _table(verdict, report.of(verdict))
    if report.remarks:
        yield "<h2>Remarks</h2>\n<ul>\n"
        yield from (f"<li>{foreign(one)}</li>\n" for one in report.remarks)
        yield "</ul>\n"
    yield "</main>\n"


def _stands(result: Result, level: int) -> bool:
    rule = rules()[result.rule]
    if result.verdict == "failed":
        return rule.always or rule.level <= level
    return result.required is not None and result.required <= level


def _anchor(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _link(rule: str) -> str:
    return f'<a href="#{rule}">{rule}</a>'


def _table(verdict: str, results: Iterable[Result]) -> Iterator[str]:
    listed = [*results]
    if not listed:
        return
    word = _WORDS[verdict]
    yield f'<h2 id="{_anchor(verdict)}">{word}</h2>\n'
    opened = " open" if verdict in ("failed", "warning", "not shown") else ""
    yield f"<details{opened}>\n<summary>{len(listed)} {'rule' if len(listed) == 1 else 'rules'}</summary>\n"
    yield f"<table>\n<caption>{word}</caption>\n<thead><tr>"
    yield '<th scope="col">Rule</th><th scope="col">What it asks</th><th scope="col">What was seen</th></tr></thead>\n'
    yield "<tbody>\n"
    for one in listed:
        yield _row(one, rules()[one.rule])
    yield "</tbody>\n</table>\n</details>\n"


def _row(result: Result, rule: Rule) -> str:
    needed = f" Level {result.required} waits for it." if result.required is not None else ""
    seen = "".join(f'<p class="seen">{foreign(one)}</p>' for one in result.evidence)
    if result.advice and result.verdict in ("failed", "warning", "not shown"):
        seen += f"<p><strong>To do:</strong> {safe(result.advice)}</p>"
    return (
        f'<tr id="{rule.id}"><th scope="row">{rule.id}</th>'
        f"<td>{safe(rule.statement)} {rule.keyword}, {safe(rule.section)}, from level {rule.level} on.{needed}</td>"
        f"<td>{seen}</td></tr>\n"
    )
