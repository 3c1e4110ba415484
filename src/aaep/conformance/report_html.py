"""The report as one HTML page without scripts or other files, for small screens, paper and screen readers alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..protocol.catalogue import Rule, all_rules, format_spoken_section
from ..text.html_page import escape_xml, isolate_text, render_page
from . import VERDICTS, RuleResult
from .report import LEVEL_NAMES, OPEN_VERDICTS, VERDICT_LABELS, Report, format_advice

__all__ = ["render_html"]

_MEANINGS: Final = {
    "failed": "it was seen to be broken.",
    "warning": "a recommendation was not followed, or something is doubtful.",
    "not shown": "what it is about did not happen in this run, so nobody knows. It does not count as passed.",
    "passed": "it was put to the test, or shown by the messages, and kept.",
    "not applicable": "it says nothing about this side, or no run can show it. Each says why.",
}
_MARKS: Final = {"failed": "✗", "warning": "△", "not shown": "?", "passed": "✓", "not applicable": "–"}
_MESSAGE_PATTERN: Final = re.compile(r'^(.*?)\s*(\{".*)$', re.DOTALL)
_STYLE: Final = """
.verdict { border: 2px solid; border-radius: .5rem; padding: .6rem 1rem; margin: 1rem 0; background: var(--soft); }
.verdict h1 { margin: 0 0 .2rem; }
.yes { border-color: var(--good); }
.no { border-color: var(--error); }
.claim { border-inline-start: .4rem solid var(--good); padding: .5rem 1rem; background: var(--soft); }
.plain { list-style: none; padding: 0; }
.plain li { margin: .4rem 0; }
.plain a { white-space: nowrap; }
.passed .mark, .granted { color: var(--good); }
.failed .mark, .refused { color: var(--error); }
.warning .mark { color: var(--warning); }
.mark, .granted, .refused { font-weight: 700; }
.seen { overflow-wrap: anywhere; }
.seen code { display: block; font-size: .8125rem; line-height: 1.4; background: var(--soft); padding: .3rem .5rem;
  border-radius: .3rem; margin: .2rem 0 .5rem; white-space: pre-wrap; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
tbody th { font-weight: 600; width: 7rem; }
td > :first-child { margin-top: 0; }
tr:target { background: var(--soft); }
@media (min-width: 45.01rem) { .what { width: 38%; } }
@media (max-width: 45rem) {
  table, tbody, tr, tbody th, td { display: block; width: auto; border: 0; padding: .1rem 0; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border-bottom: 1px solid var(--line); padding: .6rem 0; }
}
@media print { details::details-content { content-visibility: visible; } }
"""


def render_html(report: Report) -> Iterator[str]:
    """Yield the report as parts of one self-contained HTML page."""
    title = f"AAEP conformance: {report.name or report.source}"
    yield from render_page(title, _render_body(report), style=_STYLE)


def _render_body(report: Report) -> Iterator[str]:
    yield f'<main>\n<div class="verdict {"yes" if report.is_passing else "no"}">\n'
    yield f"<h1>{escape_xml(report.headline)}</h1>\n"
    yield f"<p>Judged: {isolate_text(report.source)}, on {escape_xml(report.date)}, "
    yield f"with suite {escape_xml(report.suite_version)}.</p>\n"
    warnings = [remark for remark in report.remarks if remark.startswith("Warning: ")]
    yield from (f"<p>{isolate_text(warning)}</p>\n" for warning in warnings)
    yield "</div>\n"
    if report.claim:
        yield f'<h2>Claim</h2>\n<p class="claim">{escape_xml(report.claim)}</p>\n'
    if report.is_live:
        yield from _render_levels(report)
    else:
        yield "<p>No level can be claimed from a recording: nobody provoked anything.</p>\n"
    yield '<h2>Rules</h2>\n<ul class="plain">\n'
    for verdict, count in report.counts.items():
        label = VERDICT_LABELS[verdict]
        if count:
            label = f'<a href="#{_to_anchor(verdict)}">{label}</a>'
        yield f"<li>{_render_mark(verdict)} {label}, {count}: {_MEANINGS[verdict]}</li>\n"
    yield "</ul>\n"
    for verdict in VERDICTS:
        yield from _render_table(verdict, report.find_results(verdict))
    other_remarks = [remark for remark in report.remarks if remark not in warnings]
    if other_remarks:
        yield "<h2>Remarks</h2>\n<ul>\n"
        yield from (f"<li>{isolate_text(remark)}</li>\n" for remark in other_remarks)
        yield "</ul>\n"
    yield "</main>\n"


# -- levels ----------------------------------------------------------------------------------


def _render_levels(report: Report) -> Iterator[str]:
    yield '<h2>Levels</h2>\n<ul class="plain">\n'
    listed_rules: set[str] = set()
    for level in range(1, report.requested_level + 1):
        is_granted = level <= report.granted_level
        word = '<span class="granted">granted</span>' if is_granted else '<span class="refused">not granted</span>'
        yield f"<li>Level {level}, {LEVEL_NAMES[level]}: {word}.{_render_reasons(report, level, listed_rules)}</li>\n"
    yield "</ul>\n"


def _render_reasons(report: Report, level: int, listed_rules: set[str]) -> str:
    """Name the rules that stand in the way of a level and were not listed for a lower one, and list them."""
    blocking = [
        result for result in report.blocking_results if _is_blocking(result, level) and result.rule not in listed_rules
    ]
    text = ""
    for verdict in ("failed", "not shown"):
        rules = [result.rule for result in blocking if result.verdict == verdict]
        if rules:
            text += f" {VERDICT_LABELS[verdict]}: {', '.join(map(_render_link, rules))}."
    if listed_rules and not text:
        text = " It needs the level before it."
    listed_rules.update(result.rule for result in blocking)
    return text


def _is_blocking(result: RuleResult, level: int) -> bool:
    rule = all_rules()[result.rule]
    if result.verdict == "failed":
        return rule.always or rule.level <= level
    return result.required_level is not None and result.required_level <= level


def _render_link(rule: str) -> str:
    return f'<a href="#{rule}">{rule}</a>'


# -- rules -----------------------------------------------------------------------------------


def _render_table(verdict: str, results: Iterable[RuleResult]) -> Iterator[str]:
    rows = [_render_row(result, all_rules()[result.rule]) for result in results]
    if not rows:
        return
    count = "1 rule" if len(rows) == 1 else f"{len(rows)} rules"
    yield f'<section class="{_to_anchor(verdict)}">\n'
    yield f'<h2 id="{_to_anchor(verdict)}">{_render_mark(verdict)} {VERDICT_LABELS[verdict]}: {count}</h2>\n'
    is_folded = verdict not in OPEN_VERDICTS
    if is_folded:
        yield f"<details>\n<summary>Show {count}</summary>\n"
    # On a narrow page the table is laid out as blocks, and a screen reader would not know it for a table without roles.
    yield f'<table role="table">\n<caption class="unseen">{VERDICT_LABELS[verdict]}</caption>\n'
    yield '<thead role="rowgroup"><tr role="row">'
    for name in ("Rule", "What it asks", "What was seen"):
        yield f'<th scope="col" role="columnheader">{name}</th>'
    yield '</tr></thead>\n<tbody role="rowgroup">\n'
    yield from rows
    yield "</tbody>\n</table>\n"
    yield "</details>\n</section>\n" if is_folded else "</section>\n"


def _render_row(result: RuleResult, rule: Rule) -> str:
    evidence = "".join(map(_render_evidence, result.evidence))
    if advice := format_advice(result):
        evidence += f"<p><strong>To do:</strong> {escape_xml(advice)}</p>"
    details = f"{rule.keyword}, {escape_xml(format_spoken_section(rule.section))}, from level {rule.level} on."
    if result.required_level is not None:
        details += f" Level {result.required_level} waits for it."
    return (
        f'<tr role="row" id="{rule.id}"><th scope="row" role="rowheader">{rule.id}</th>'
        f'<td role="cell" class="what"><p>{escape_xml(rule.statement)}</p><p class="small">{details}</p></td>'
        f'<td role="cell" class="seen">{evidence}</td></tr>\n'
    )


def _render_evidence(text: str) -> str:
    """Render a piece of evidence, with the JSON message in it, if there is one, as a block of code."""
    match = _MESSAGE_PATTERN.match(text)
    if match is None:
        return f"<p>{isolate_text(text)}</p>"
    words = f"<p>{isolate_text(match[1])}</p>" if match[1] else ""
    return f"{words}<code>{isolate_text(match[2])}</code>"


# -- verdicts --------------------------------------------------------------------------------


def _render_mark(verdict: str) -> str:
    return f'<span class="{_to_anchor(verdict)}"><span class="mark" aria-hidden="true">{_MARKS[verdict]}</span></span>'


def _to_anchor(verdict: str) -> str:
    return verdict.replace(" ", "-")
