"""The report as one page: no script, no other file, and the same on a telephone, on paper and through a reader."""

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
    """One page, in parts: no script, no other file."""
    title = f"AAEP conformance: {report.name or report.source}"
    yield from render_page(title, _render_body(report), style=_STYLE)


def _render_body(report: Report) -> Iterator[str]:
    yield f'<main>\n<div class="verdict {"yes" if report.is_passing else "no"}">\n'
    yield f"<h1>{escape_xml(report.headline)}</h1>\n"
    yield f"<p>Judged: {isolate_text(report.source)}, on {escape_xml(report.date)}, "
    yield f"with suite {escape_xml(report.suite_version)}.</p>\n"
    warnings = [one for one in report.remarks if one.startswith("Warning: ")]
    yield from (f"<p>{isolate_text(one)}</p>\n" for one in warnings)
    yield "</div>\n"
    if report.claim:
        yield f'<h2>Claim</h2>\n<p class="claim">{escape_xml(report.claim)}</p>\n'
    if report.is_live:
        yield from _render_levels(report)
    else:
        yield "<p>No level can be claimed from a recording: nobody provoked anything.</p>\n"
    yield '<h2>Rules</h2>\n<ul class="plain">\n'
    for verdict, many in report.counts.items():
        name = f'<a href="#{_anchor(verdict)}">{VERDICT_LABELS[verdict]}</a>' if many else VERDICT_LABELS[verdict]
        yield f"<li>{_render_mark(verdict)} {name}, {many}: {_MEANINGS[verdict]}</li>\n"
    yield "</ul>\n"
    for verdict in VERDICTS:
        yield from _render_table(verdict, report.find_results(verdict))
    others = [one for one in report.remarks if one not in warnings]
    if others:
        yield "<h2>Remarks</h2>\n<ul>\n"
        yield from (f"<li>{isolate_text(one)}</li>\n" for one in others)
        yield "</ul>\n"
    yield "</main>\n"


def _render_mark(verdict: str) -> str:
    return f'<span class="{_anchor(verdict)}"><span class="mark" aria-hidden="true">{_MARKS[verdict]}</span></span>'


# -- levels ------------------------------------------------------------------------------------------


def _render_levels(report: Report) -> Iterator[str]:
    yield '<h2>Levels</h2>\n<ul class="plain">\n'
    told: set[str] = set()
    for level in range(1, report.requested_level + 1):
        granted = level <= report.granted_level
        word = '<span class="granted">granted</span>' if granted else '<span class="refused">not granted</span>'
        yield f"<li>Level {level}, {LEVEL_NAMES[level]}: {word}.{_render_reasons(report, level, told)}</li>\n"
    yield "</ul>\n"


def _render_reasons(report: Report, level: int, told: set[str]) -> str:
    """What stands against a level and not already against a lower one."""
    against = [one for one in report.blocking_results if _is_blocking(one, level) and one.rule not in told]
    said = ""
    for verdict in ("failed", "not shown"):
        named = [one.rule for one in against if one.verdict == verdict]
        if named:
            said += f" {VERDICT_LABELS[verdict]}: {', '.join(map(_link, named))}."
    if told and not said:
        said = " It needs the level before it."
    told.update(one.rule for one in against)
    return said


def _is_blocking(result: RuleResult, level: int) -> bool:
    rule = all_rules()[result.rule]
    if result.verdict == "failed":
        return rule.always or rule.level <= level
    return result.required_level is not None and result.required_level <= level


def _anchor(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _link(rule: str) -> str:
    return f'<a href="#{rule}">{rule}</a>'


# -- rules -------------------------------------------------------------------------------------------


def _render_table(verdict: str, results: Iterable[RuleResult]) -> Iterator[str]:
    listed = [*results]
    if not listed:
        return
    many = "1 rule" if len(listed) == 1 else f"{len(listed)} rules"
    yield f'<section class="{_anchor(verdict)}">\n'
    yield f'<h2 id="{_anchor(verdict)}">{_render_mark(verdict)} {VERDICT_LABELS[verdict]}: {many}</h2>\n'
    folded = verdict not in OPEN_VERDICTS
    if folded:
        yield f"<details>\n<summary>Show {many}</summary>\n"
    # Laid out as blocks on a narrow page, a table would be none to a reader: hence its roles, which say what it is.
    yield f'<table role="table">\n<caption class="unseen">{VERDICT_LABELS[verdict]}</caption>\n'
    yield '<thead role="rowgroup"><tr role="row">'
    for name in ("Rule", "What it asks", "What was seen"):
        yield f'<th scope="col" role="columnheader">{name}</th>'
    yield '</tr></thead>\n<tbody role="rowgroup">\n'
    for one in listed:
        yield _render_row(one, all_rules()[one.rule])
    yield "</tbody>\n</table>\n"
    yield "</details>\n</section>\n" if folded else "</section>\n"


def _render_row(result: RuleResult, rule: Rule) -> str:
    needed = f" Level {result.required_level} waits for it." if result.required_level is not None else ""
    seen = "".join(map(_render_evidence, result.evidence))
    if advice := format_advice(result):
        seen += f"<p><strong>To do:</strong> {escape_xml(advice)}</p>"
    about = f"{rule.keyword}, {escape_xml(format_spoken_section(rule.section))}, from level {rule.level} on.{needed}"
    return (
        f'<tr role="row" id="{rule.id}"><th scope="row" role="rowheader">{rule.id}</th>'
        f'<td role="cell" class="what"><p>{escape_xml(rule.statement)}</p><p class="small">{about}</p></td>'
        f'<td role="cell" class="seen">{seen}</td></tr>\n'
    )


def _render_evidence(text: str) -> str:
    """What was seen; a message in it stands by itself."""
    found = _MESSAGE_PATTERN.match(text)
    if found is None:
        return f"<p>{isolate_text(text)}</p>"
    words = f"<p>{isolate_text(found[1])}</p>" if found[1] else ""
    return f"{words}<code>{isolate_text(found[2])}</code>"
