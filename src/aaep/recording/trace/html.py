"""
A trace as one page: a table of steps for each session, with a drawing beside it.

The tables are the page; the drawing, the filter and the search come on top. A
page for a very long recording shows the sessions that broke rules, and as many
others as fit, step by step, and of the rest the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ...protocol.catalogue import all_rules, format_spoken_section
from ...text.html_page import escape_xml, isolate_text, load_asset, render_page
from .build import Trace
from .model import KIND_LABELS, SEVERITY_LABELS, SessionTrace, Step, TraceFinding, format_count, format_exact_duration
from .svg import SVG_STYLE, render_session_svg
from .words import (
    describe_duration,
    describe_recording,
    describe_result,
    describe_session,
    describe_time,
    select_sessions,
    session_title,
    summarize_broken_rules,
)

__all__ = ["render_html"]

MAX_STEPS: Final = 20_000  # steps on a page
_MAX_OPEN_SESSIONS: Final = 20  # sessions that are open at first, if there are no more
_MAX_LINKS: Final = 200  # sessions in the list


def render_html(trace: Trace, *, max_steps: int = MAX_STEPS) -> Iterator[str]:
    """The page, in parts."""
    title = f"Trace of {', '.join(trace.sources)}"
    style = load_asset("timeline.css", __package__) + SVG_STYLE
    return render_page(
        title, _render_body(trace, title, max_steps), style=style, script=load_asset("timeline.js", __package__)
    )


def _render_body(trace: Trace, title: str, most: int) -> Iterator[str]:
    told = select_sessions(trace.session_traces, most)
    yield '<a class="skip" href="#sessions">Skip to the sessions</a>\n'
    yield f"<header>\n<h1>{escape_xml(title)}</h1>\n<p>{escape_xml(describe_recording(trace))}</p>\n"
    yield f"<p>{escape_xml(describe_result(trace))}</p>\n"
    left = len(trace.session_traces) - len(told)
    if left:
        yield f"<p>Of {format_count(left, 'session')} only the sum and what broke a rule are shown.</p>\n"
    yield "</header>\n<main>\n"
    yield from _render_rules(trace)
    yield from _render_filter_form(trace)
    yield from _render_links(trace)
    yield '<div id="sessions" tabindex="-1">\n'
    for number, track in enumerate(trace.session_traces, start=1):
        yield from _render_session(track, number, trace, whole=number in told)
    yield "</div>\n</main>\n"


def _render_rules(trace: Trace) -> Iterator[str]:
    """Every rule that was broken, how often, and what it asks for."""
    broken: Counter[str] = sum((track.rule_counts for track in trace.session_traces), Counter())
    yield '<section aria-labelledby="rules">\n<h2 id="rules">Rules that were broken</h2>\n'
    if not broken:
        yield "<p>No rule was broken.</p>\n</section>\n"
        return
    yield '<table>\n<thead><tr><th scope="col">Rule</th><th scope="col">Times</th>'
    yield '<th scope="col">What it asks for</th></tr></thead>\n<tbody>\n'
    for id_, times in broken.most_common():
        known = all_rules().get(id_)
        asks = (
            f"{known.statement} ({format_spoken_section(known.section)})"
            if known is not None
            else "A rule of a profile."
        )
        yield f'<tr><th scope="row">{escape_xml(id_)}</th><td>{times:,}</td><td>{escape_xml(asks)}</td></tr>\n'
    yield "</tbody>\n</table>\n</section>\n"


def _render_filter_form(trace: Trace) -> Iterator[str]:
    """Filter and search; shown by the script, which they need."""
    yield '<form id="filter" role="search" aria-label="Filter the steps" hidden>\n'
    yield '<label for="find">Search</label> <input type="search" id="find" autocomplete="off">\n'
    yield "<fieldset>\n<legend>Show</legend>\n"
    for kind, name in KIND_LABELS.items():
        yield f'<label><input type="checkbox" name="kind" value="{kind}" checked> {name}</label>\n'
    yield "</fieldset>\n"
    yield '<label><input type="checkbox" id="only"> Only what broke a rule</label>\n<div>\n'
    for id_, name in (("previous", "Previous broken rule"), ("next", "Next broken rule")):
        yield f'<button type="button" id="{id_}">{name}</button>\n'
    yield '<button type="button" id="open">Open all</button>\n<button type="button" id="shut">Close all</button>\n'
    yield '<button type="reset">Show everything</button>\n</div>\n<p id="count" role="status"></p>\n</form>\n'


def _render_links(trace: Trace) -> Iterator[str]:
    tracks = trace.session_traces[:_MAX_LINKS]
    if len(tracks) < 2:
        return
    yield '<nav aria-labelledby="list">\n<h2 id="list">Sessions</h2>\n<ul>\n'
    for number, track in enumerate(tracks, start=1):
        title = escape_xml(session_title(track, trace))
        yield f'<li><a href="#s{number}">{title}</a>: {summarize_broken_rules(track)}</li>\n'
    yield "</ul>\n"
    if len(trace.session_traces) > len(tracks):
        yield f"<p>And {format_count(len(trace.session_traces) - len(tracks), 'more session')}, further down.</p>\n"
    yield "</nav>\n"


def _render_session(track: SessionTrace, number: int, trace: Trace, *, whole: bool) -> Iterator[str]:
    name = f"s{number}"
    yield f'<section class="session" id="{name}" aria-labelledby="{name}-h">\n<div class="about">\n'
    yield f'<h2 id="{name}-h">{escape_xml(session_title(track, trace))}: {summarize_broken_rules(track)}</h2>\n'
    yield f"<p>{escape_xml(' '.join(describe_session(track)))}</p>\n</div>\n"
    steps = [step for step in track.steps if whole or any(mark.severity != "info" for mark in step.findings)]
    if steps:
        opened = " open" if len(trace.session_traces) <= _MAX_OPEN_SESSIONS else ""
        drawing = render_session_svg(track, name) if whole else ""
        shown = f"{'Drawing and ' if drawing else ''}{format_count(len(steps), 'step')}"
        yield f"<details{opened}>\n<summary>{shown}</summary>\n"
        if drawing:
            label = f"Drawing of session {track.number}"
            yield f'<div class="figure" role="group" aria-label="{label}" tabindex="0">{drawing}</div>\n'
        yield f'<table class="steps">\n<caption>Steps{"" if whole else " that broke a rule"}</caption>\n<thead><tr>'
        yield '<th scope="col" class="when">Time from the start</th><th scope="col" class="kind">Lane</th>'
        yield '<th scope="col">What happened</th></tr></thead>\n<tbody>\n'
        for place, step in enumerate(steps, start=1):
            yield from _render_row(step, track, f"{name}-{place}")
        yield "</tbody>\n</table>\n</details>\n"
    yield "</section>\n"


def _render_row(step: Step, track: SessionTrace, id_: str) -> Iterator[str]:
    broken = ' data-broken="1"' if any(mark.severity != "info" for mark in step.findings) else ""
    after = step.at - track.started_at
    time = (
        format_exact_duration(after) if after >= 0.0005 else "0 seconds" if after >= 0 else describe_time(step, track)
    )
    yield f'<tr id="{id_}" data-kind="{step.kind}"{broken}>'
    yield f'<th scope="row">{time}</th>'
    yield f"<td>{KIND_LABELS[step.kind]}</td><td>{escape_xml(step.text)}"
    if step.quote:
        yield f" “{isolate_text(step.quote, step.quote_language)}”"
    if step.has_duration or step.end is not None:
        yield f" {escape_xml(describe_duration(step))}"
    if len(track.agent_names) > 1 and step.agent_id:
        yield f" {isolate_text(f'By {track.agent_names.get(step.agent_id, step.agent_id)}.')}"
    if step.findings:
        yield f'<ul class="marks">{"".join(map(_render_finding, step.findings))}</ul>'
    if step.line:
        yield f' <span class="small">Line {step.line}{f", {escape_xml(step.event_id)}" if step.event_id else ""}</span>'
    yield "</td></tr>\n"


def _render_finding(mark: TraceFinding) -> str:
    source = f", {format_spoken_section(mark.section)}" if mark.section else ""
    where = f", line {mark.line:,}" if mark.line is not None else ", at the end"
    return (
        f'<li class="{mark.severity}" tabindex="-1">'
        f"<strong>{SEVERITY_LABELS[mark.severity]} {escape_xml(mark.rule)}</strong>"
        f"{escape_xml(source + where)}. {isolate_text(mark.text)}</li>"
    )
