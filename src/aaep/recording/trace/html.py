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

from ...protocol.catalogue import all_rules, speak_section
from ...text.html_page import asset, document, foreign, safe
from .build import Trace
from .model import GRADES, KINDS, Mark, Step, Track, counted, lasting
from .svg import STYLE, figure
from .words import account, chosen, duration, faults, heading, outcome, overview, when

__all__ = ["html"]

MOST: Final = 20_000  # steps on a page
_OPEN: Final = 20  # sessions that are open at first, if there are no more
_LINKS: Final = 200  # sessions in the list


def html(trace: Trace, *, most: int = MOST) -> Iterator[str]:
    """The page, in parts."""
    title = f"Trace of {', '.join(trace.sources)}"
    style = asset("timeline.css", __package__) + STYLE
    return document(title, _body(trace, title, most), style=style, script=asset("timeline.js", __package__))


def _body(trace: Trace, title: str, most: int) -> Iterator[str]:
    told = chosen(trace.tracks, most)
    yield '<a class="skip" href="#sessions">Skip to the sessions</a>\n'
    yield f"<header>\n<h1>{safe(title)}</h1>\n<p>{safe(overview(trace))}</p>\n<p>{safe(outcome(trace))}</p>\n"
    left = len(trace.tracks) - len(told)
    if left:
        yield f"<p>Of {counted(left, 'session')} only the sum and what broke a rule are shown.</p>\n"
    yield "</header>\n<main>\n"
    yield from _rules(trace)
    yield from _form(trace)
    yield from _links(trace)
    yield '<div id="sessions" tabindex="-1">\n'
    for number, track in enumerate(trace.tracks, start=1):
        yield from _session(track, number, trace, whole=number in told)
    yield "</div>\n</main>\n"


def _rules(trace: Trace) -> Iterator[str]:
    """Every rule that was broken, how often, and what it asks for."""
    broken: Counter[str] = sum((track.rules for track in trace.tracks), Counter())
    yield '<section aria-labelledby="rules">\n<h2 id="rules">Rules that were broken</h2>\n'
    if not broken:
        yield "<p>No rule was broken.</p>\n</section>\n"
        return
    yield '<table>\n<thead><tr><th scope="col">Rule</th><th scope="col">Times</th>'
    yield '<th scope="col">What it asks for</th></tr></thead>\n<tbody>\n'
    for id_, times in broken.most_common():
        known = all_rules().get(id_)
        asks = f"{known.statement} ({speak_section(known.section)})" if known is not None else "A rule of a profile."
        yield f'<tr><th scope="row">{safe(id_)}</th><td>{times:,}</td><td>{safe(asks)}</td></tr>\n'
    yield "</tbody>\n</table>\n</section>\n"


def _form(trace: Trace) -> Iterator[str]:
    """Filter and search; shown by the script, which they need."""
    yield '<form id="filter" role="search" aria-label="Filter the steps" hidden>\n'
    yield '<label for="find">Search</label> <input type="search" id="find" autocomplete="off">\n'
    yield "<fieldset>\n<legend>Show</legend>\n"
    for kind, name in KINDS.items():
        yield f'<label><input type="checkbox" name="kind" value="{kind}" checked> {name}</label>\n'
    yield "</fieldset>\n"
    yield '<label><input type="checkbox" id="only"> Only what broke a rule</label>\n<div>\n'
    for id_, name in (("previous", "Previous broken rule"), ("next", "Next broken rule")):
        yield f'<button type="button" id="{id_}">{name}</button>\n'
    yield '<button type="button" id="open">Open all</button>\n<button type="button" id="shut">Close all</button>\n'
    yield '<button type="reset">Show everything</button>\n</div>\n<p id="count" role="status"></p>\n</form>\n'


def _links(trace: Trace) -> Iterator[str]:
    tracks = trace.tracks[:_LINKS]
    if len(tracks) < 2:
        return
    yield '<nav aria-labelledby="list">\n<h2 id="list">Sessions</h2>\n<ul>\n'
    for number, track in enumerate(tracks, start=1):
        yield f'<li><a href="#s{number}">{safe(heading(track, trace))}</a>: {faults(track)}</li>\n'
    yield "</ul>\n"
    if len(trace.tracks) > len(tracks):
        yield f"<p>And {counted(len(trace.tracks) - len(tracks), 'more session')}, further down.</p>\n"
    yield "</nav>\n"


def _session(track: Track, number: int, trace: Trace, *, whole: bool) -> Iterator[str]:
    name = f"s{number}"
    yield f'<section class="session" id="{name}" aria-labelledby="{name}-h">\n<div class="about">\n'
    yield f'<h2 id="{name}-h">{safe(heading(track, trace))}: {faults(track)}</h2>\n'
    yield f"<p>{safe(' '.join(account(track)))}</p>\n</div>\n"
    steps = [step for step in track.steps if whole or any(mark.severity != "info" for mark in step.marks)]
    if steps:
        opened = " open" if len(trace.tracks) <= _OPEN else ""
        drawing = figure(track, name) if whole else ""
        shown = f"{'Drawing and ' if drawing else ''}{counted(len(steps), 'step')}"
        yield f"<details{opened}>\n<summary>{shown}</summary>\n"
        if drawing:
            label = f"Drawing of session {track.number}"
            yield f'<div class="figure" role="group" aria-label="{label}" tabindex="0">{drawing}</div>\n'
        yield f'<table class="steps">\n<caption>Steps{"" if whole else " that broke a rule"}</caption>\n<thead><tr>'
        yield '<th scope="col" class="when">Time from the start</th><th scope="col" class="kind">Lane</th>'
        yield '<th scope="col">What happened</th></tr></thead>\n<tbody>\n'
        for place, step in enumerate(steps, start=1):
            yield from _row(step, track, f"{name}-{place}")
        yield "</tbody>\n</table>\n</details>\n"
    yield "</section>\n"


def _row(step: Step, track: Track, id_: str) -> Iterator[str]:
    broken = ' data-broken="1"' if any(mark.severity != "info" for mark in step.marks) else ""
    after = step.at - track.begun
    time = lasting(after) if after >= 0.0005 else "0 seconds" if after >= 0 else when(step, track)
    yield f'<tr id="{id_}" data-kind="{step.kind}"{broken}>'
    yield f'<th scope="row">{time}</th>'
    yield f"<td>{KINDS[step.kind]}</td><td>{safe(step.text)}"
    if step.said:
        yield f" “{foreign(step.said, step.language)}”"
    if step.lasts or step.until is not None:
        yield f" {safe(duration(step))}"
    if len(track.agents) > 1 and step.agent:
        yield f" {foreign(f'By {track.agents.get(step.agent, step.agent)}.')}"
    if step.marks:
        yield f'<ul class="marks">{"".join(map(_mark, step.marks))}</ul>'
    if step.line:
        yield f' <span class="small">Line {step.line}{f", {safe(step.event_id)}" if step.event_id else ""}</span>'
    yield "</td></tr>\n"


def _mark(mark: Mark) -> str:
    source = f", {speak_section(mark.section)}" if mark.section else ""
    where = f", line {mark.line:,}" if mark.line is not None else ", at the end"
    return (
        f'<li class="{mark.severity}" tabindex="-1"><strong>{GRADES[mark.severity]} {safe(mark.rule)}</strong>'
        f"{safe(source + where)}. {foreign(mark.text)}</li>"
    )
