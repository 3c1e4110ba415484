"""
Rendering a trace as one HTML page: a table of steps for each session, with a drawing beside it.

The tables hold everything; the drawings, the filter and the search are
additions. For a very long recording the page shows all steps of the sessions
that broke rules and of as many others as fit, and the counts of the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ...protocol.catalogue import all_rules, format_spoken_section
from ...text.html_page import escape_xml, isolate_text, load_asset, render_page
from .model import KIND_LABELS, SEVERITY_LABELS, SessionTrace, Step, TraceFinding, format_count, format_exact_duration
from .svg import SVG_STYLE, render_session_svg
from .trace import Trace
from .wording import (
    describe_duration,
    describe_outcome,
    describe_recording,
    describe_result,
    describe_session,
    describe_time,
    select_sessions,
    session_title,
    summarize_broken_rules,
)

__all__ = ["render_html"]

MAX_STEPS: Final = 20_000
_MAX_OPEN_SESSIONS: Final = 20  # with more sessions than this, all are collapsed at first
_MAX_LINKS: Final = 200  # sessions in the navigation list


def render_html(trace: Trace, *, max_steps: int = MAX_STEPS, notes: bool = False) -> Iterator[str]:
    """Yield the HTML page of a trace in parts; notes are counted, and listed only with ``notes``."""
    title = f"Trace of {', '.join(trace.sources)}"
    style = load_asset("timeline.css", __package__) + SVG_STYLE
    script = load_asset("timeline.js", __package__)
    return render_page(title, _render_body(trace, title, max_steps, notes=notes), style=style, script=script)


def _render_body(trace: Trace, title: str, max_steps: int, *, notes: bool) -> Iterator[str]:
    selected = select_sessions(trace.session_traces, max_steps)
    yield '<a class="skip" href="#sessions">Skip to the sessions</a>\n'
    yield f"<header>\n<h1>{escape_xml(title)}</h1>\n<p>{escape_xml(describe_recording(trace))}</p>\n"
    yield f"<p>{escape_xml(describe_result(trace))}</p>\n"
    omitted = len(trace.session_traces) - len(selected)
    if omitted:
        yield f"<p>Of {format_count(omitted, 'session')} only the sum and what broke a rule are shown.</p>\n"
    yield "</header>\n<main>\n"
    yield from _render_rules(trace)
    yield from _render_filter_form(trace)
    yield from _render_links(trace)
    yield '<div id="sessions" tabindex="-1">\n'
    for number, session in enumerate(trace.session_traces, start=1):
        yield from _render_session(session, number, trace, is_complete=number in selected, notes=notes)
    yield "</div>\n</main>\n"


def _render_rules(trace: Trace) -> Iterator[str]:
    """Yield a table of the broken rules with their counts and their statements."""
    broken: Counter[str] = sum((session.rule_counts for session in trace.session_traces), Counter())
    yield '<section aria-labelledby="rules">\n<h2 id="rules">Rules that were broken</h2>\n'
    if not broken:
        yield "<p>No rule was broken.</p>\n</section>\n"
        return
    yield '<table>\n<thead><tr><th scope="col">Rule</th><th scope="col">Times</th>'
    yield '<th scope="col">What it asks for</th></tr></thead>\n<tbody>\n'
    for rule_id, count in broken.most_common():
        rule = all_rules().get(rule_id)
        statement = (
            "A rule of a profile." if rule is None else f"{rule.statement} ({format_spoken_section(rule.section)})"
        )
        yield f'<tr><th scope="row">{escape_xml(rule_id)}</th><td>{count:,}</td><td>{escape_xml(statement)}</td></tr>\n'
    yield "</tbody>\n</table>\n</section>\n"


def _render_filter_form(trace: Trace) -> Iterator[str]:
    """Yield the form for filter and search, hidden until the script that it needs runs."""
    yield '<form id="filter" role="search" aria-label="Filter the steps" hidden>\n'
    yield '<label for="find">Search</label> <input type="search" id="find" autocomplete="off">\n'
    yield "<fieldset>\n<legend>Show</legend>\n"
    for kind, name in KIND_LABELS.items():
        yield f'<label><input type="checkbox" name="kind" value="{kind}" checked> {name}</label>\n'
    yield "</fieldset>\n"
    yield '<label><input type="checkbox" id="only"> Only what broke a rule</label>\n<div>\n'
    for button_id, name in (("previous", "Previous broken rule"), ("next", "Next broken rule")):
        yield f'<button type="button" id="{button_id}">{name}</button>\n'
    yield '<button type="button" id="open">Open all</button>\n<button type="button" id="shut">Close all</button>\n'
    yield '<button type="reset">Show everything</button>\n</div>\n<p id="count" role="status"></p>\n</form>\n'


def _render_links(trace: Trace) -> Iterator[str]:
    sessions = trace.session_traces[:_MAX_LINKS]
    if len(sessions) < 2:
        return
    yield '<nav aria-labelledby="list">\n<h2 id="list">Sessions</h2>\n<ul>\n'
    for number, session in enumerate(sessions, start=1):
        title = escape_xml(session_title(session, trace))
        outcome = f"{escape_xml(describe_outcome(session))}, " if session.session_id else ""
        yield f'<li><a href="#s{number}">{title}</a>: {outcome}{summarize_broken_rules(session)}</li>\n'
    yield "</ul>\n"
    if len(trace.session_traces) > len(sessions):
        yield f"<p>And {format_count(len(trace.session_traces) - len(sessions), 'more session')}, further down.</p>\n"
    yield "</nav>\n"


def _render_session(
    session: SessionTrace, number: int, trace: Trace, *, is_complete: bool, notes: bool
) -> Iterator[str]:
    section_id = f"s{number}"
    yield f'<section class="session" id="{section_id}" aria-labelledby="{section_id}-h">\n<div class="about">\n'
    title = escape_xml(session_title(session, trace))
    yield f'<h2 id="{section_id}-h">{title}: {summarize_broken_rules(session)}</h2>\n'
    yield f"<p>{escape_xml(' '.join(describe_session(session)))}</p>\n</div>\n"
    steps = [step for step in session.steps if is_complete or step.has_broken_rule]
    if steps:
        open_attribute = " open" if len(trace.session_traces) <= _MAX_OPEN_SESSIONS else ""
        drawing = render_session_svg(session, section_id) if is_complete else ""
        contents = f"{'Drawing and ' if drawing else ''}{format_count(len(steps), 'step')}"
        yield f"<details{open_attribute}>\n<summary>{contents}</summary>\n"
        if drawing:
            label = f"Drawing of session {session.number}"
            yield f'<div class="figure" role="group" aria-label="{label}" tabindex="0">{drawing}</div>\n'
        caption = "Steps" if is_complete else "Steps that broke a rule"
        yield f'<table class="steps">\n<caption>{caption}</caption>\n<thead><tr>'
        yield '<th scope="col" class="when">Time from the start</th><th scope="col" class="kind">Lane</th>'
        yield '<th scope="col">What happened</th></tr></thead>\n<tbody>\n'
        for index, step in enumerate(steps, start=1):
            yield from _render_row(step, session, f"{section_id}-{index}", notes=notes)
        yield "</tbody>\n</table>\n</details>\n"
    yield "</section>\n"


def _render_row(step: Step, session: SessionTrace, row_id: str, *, notes: bool) -> Iterator[str]:
    broken = ' data-broken="1"' if step.has_broken_rule else ""
    offset = step.at - session.started_at
    if offset >= 0.0005:
        time = format_exact_duration(offset)
    else:
        time = "0 seconds" if offset >= 0 else describe_time(step, session)
    yield f'<tr id="{row_id}" data-kind="{step.kind}"{broken}>'
    yield f'<th scope="row">{time}</th>'
    yield f"<td>{KIND_LABELS[step.kind]}</td><td>{escape_xml(step.text)}"
    if step.quote:
        yield f" “{isolate_text(step.quote, step.quote_language)}”"
    if step.has_duration or step.end is not None:
        yield f" {escape_xml(describe_duration(step))}"
    if len(session.agent_names) > 1 and step.agent_id:
        yield f" {isolate_text(f'By {session.agent_names.get(step.agent_id, step.agent_id)}.')}"
    findings = [finding for finding in step.findings if notes or finding.severity != "info"]
    if findings:
        yield f'<ul class="marks">{"".join(map(_render_finding, findings))}</ul>'
    if step.line:
        event_id = f", {escape_xml(step.event_id)}" if step.event_id else ""
        yield f' <span class="small">Line {step.line}{event_id}</span>'
    yield "</td></tr>\n"


def _render_finding(finding: TraceFinding) -> str:
    source = f", {format_spoken_section(finding.section)}" if finding.section else ""
    where = f", line {finding.line:,}" if finding.line is not None else ", at the end"
    return (
        f'<li class="{finding.severity}" tabindex="-1">'
        f"<strong>{SEVERITY_LABELS[finding.severity]} {escape_xml(finding.rule)}</strong>"
        f"{escape_xml(source + where)}. {isolate_text(finding.text)}</li>"
    )
