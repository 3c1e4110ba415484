"""
A trace as a drawing: time from left to right, lanes for state, tools, output and prompts.

Below them stands what broke a rule: as a shape and in letters, never as a
colour alone. The drawing says in words what it shows, for those who do not
see it; the text and the page say more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...text.html_page import escape_xml
from .build import Trace
from .model import (
    KIND_LABELS,
    LANE_KINDS,
    SEVERITY_LABELS,
    SessionTrace,
    Step,
    TraceFinding,
    format_count,
    format_exact_duration,
)
from .words import (
    describe_broken_rules,
    describe_duration,
    describe_recording,
    describe_result,
    select_sessions,
    session_title,
    summarize_broken_rules,
)

__all__ = ["SVG_STYLE", "render_session_svg", "render_svg"]

MAX_STEPS: Final = 5_000  # steps that are drawn into one file
WIDTH: Final = 1000
PLOT_LEFT: Final = 120  # where time begins
PLOT_RIGHT: Final = WIDTH - 20
ROW_HEIGHT: Final = 24
LETTER_WIDTH: Final = 7.2  # the width of one, about
_MAX_LANE_ROWS: Final = 6  # of one lane; what does not fit is drawn over the last
_MAX_AGENT_LANES: Final = 8  # with a state lane of their own
_MAX_LABEL_ROWS: Final = 4  # rows for the names of broken rules

# Every letter stands on its ground with a contrast of 4.5 to 1 or more, in the light and in the dark.
SVG_STYLE: Final = """
.drawing{--ink:#1b1b1f;--ground:#fff;--line:#767680;--faint:#dcdce4;--state:#cfe0f7;--tool:#d3ecd2;--output:#e6dcf5;
--prompt:#fbe3bd;--error:#a8071a;--warning:#7a4b00;--info:#3d4b66;background:var(--ground)}
.drawing text{fill:var(--ink);font:13px system-ui,sans-serif}
.drawing .title{font-weight:600;font-size:15px}
.drawing .bar{stroke:var(--line);stroke-width:1}
.drawing .open{stroke-dasharray:4 3}
.drawing .state{fill:var(--state)}.drawing .tool{fill:var(--tool)}
.drawing .output{fill:var(--output)}.drawing .prompt{fill:var(--prompt)}
.drawing .grid{stroke:var(--faint);stroke-width:1}
.drawing .at{stroke-width:1;stroke-dasharray:2 3}
.drawing .error{fill:var(--error);stroke:var(--error)}.drawing .warning{fill:var(--warning);stroke:var(--warning)}
.drawing .info{fill:var(--info);stroke:var(--info)}
.drawing text.error,.drawing text.warning,.drawing text.info{stroke:none}
@media (prefers-color-scheme:dark){.drawing{--ink:#ececf1;--ground:#17171b;--line:#8e8e99;--faint:#33333c;
--state:#23405f;--tool:#234a2a;--output:#42325f;--prompt:#5b4213;--error:#ff9c9c;--warning:#f5c26b;--info:#b8c4de}}
@media (forced-colors:active){.drawing{--ink:CanvasText;--ground:Canvas;--line:CanvasText;--faint:GrayText;
--state:Canvas;--tool:Canvas;--output:Canvas;--prompt:Canvas;--error:CanvasText;--warning:CanvasText;--info:CanvasText}}
""".strip()


def render_svg(trace: Trace, *, max_steps: int = MAX_STEPS) -> Iterator[str]:
    """One drawing of all sessions, or of as many as fit, those that broke rules before the others."""
    told = select_sessions(trace.session_traces, max_steps)
    drawn = [track for number, track in enumerate(trace.session_traces, start=1) if number in told and track.session_id]
    parts, top = [], 60.0
    for track in drawn:
        body, height = _draw_session(track, f"{session_title(track, trace)}; {summarize_broken_rules(track)}", top)
        parts.append(body)
        top += height + 20
    left = trace.session_count - len(drawn)
    rest = f" {format_count(left, 'session')} are not drawn." if left > 0 else ""
    said = f"{describe_result(trace)}{rest}"
    spoken = [said, *(f"{session_title(track, trace)}. {_describe_drawing(track)}" for track in drawn[:50])]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 {WIDTH} {top:.0f}" width="{WIDTH}" '
        f'height="{top:.0f}" role="img" aria-labelledby="title description">'
    )
    yield f'<title id="title">{escape_xml(describe_recording(trace))}</title>'
    yield f'<desc id="description">{escape_xml(" ".join(spoken))}</desc>'
    yield f"<style>{SVG_STYLE}</style>"
    yield f'<rect width="{WIDTH}" height="{top:.0f}" fill="var(--ground)"/>'
    yield f'<text class="title" x="10" y="22">{escape_xml(_truncate(describe_recording(trace), WIDTH - 20))}</text>'
    yield f'<text x="10" y="42">{escape_xml(said)}</text>'
    yield from parts
    yield "</svg>\n"


def render_session_svg(track: SessionTrace, name: str) -> str:
    """The drawing of one session, to stand in a page that has :data:`STYLE`. ``name`` makes its ids unique."""
    if not track.session_id:
        return ""
    body, height = _draw_session(track, "", 0)
    return (
        f'<svg class="drawing" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" role="img" '
        f'aria-labelledby="{name}-t {name}-d"><title id="{name}-t">Drawing of the session</title>'
        f'<desc id="{name}-d">{escape_xml(_describe_drawing(track))}</desc>{body}</svg>'
    )


def _describe_drawing(track: SessionTrace) -> str:
    """What a drawing shows, in words."""
    states = ", ".join(
        f"{name} {format_exact_duration(seconds)}" for name, seconds in [*track.seconds_by_state.items()][:12]
    )
    return (
        f"Time runs from left to right, {format_exact_duration(track.seconds)} in all. States: {states or 'none'}. "
        f"{format_count(track.tool_call_count, 'call')} of tools, {format_count(track.output_count, 'output')}, "
        f"{format_count(track.prompt_count, 'prompt')}. {describe_broken_rules(track)} "
        "The table says the same and more."
    )


# -- one session -----------------------------------------------------------------------------


class _TimeScale:
    """From moments to places."""

    def __init__(self, track: SessionTrace, steps: Sequence[Step]) -> None:
        self.start = min((step.at for step in steps if step.at), default=0.0)
        self.end = max([track.last_at, *(step.end or step.at for step in steps)])
        self.seconds = max(self.end - self.start, 0.001)

    def x(self, moment: float) -> float:
        return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * max(0.0, moment - self.start) / self.seconds

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round moments, and what is written at them."""
        rough = self.seconds / 8
        power = 10.0 ** math.floor(math.log10(rough))
        size = (
            next(one for one in (power, 2 * power, 5 * power, 10 * power) if one >= rough)
            if rough < 30
            else next((one for one in _LONG_TICK_SIZES if one >= rough), 86_400.0 * math.ceil(rough / 86_400))
        )
        for number in range(int(self.seconds / size) + 1):
            yield self.start + number * size, _format_tick(number * size)


_LONG_TICK_SIZES: Final = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0, 43_200.0, 86_400.0)


def _format_tick(seconds: float) -> str:
    if seconds >= 60:
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{rest} s" if rest else ""]
        return " ".join(filter(None, parts))
    return f"{seconds * 1000:g} ms" if 0 < seconds < 1 else f"{seconds:g} s"


def _draw_session(track: SessionTrace, title: str, top: float) -> tuple[str, float]:
    """The lanes of a session, and how high they are together."""
    steps = [*track.steps]
    scale = _TimeScale(track, steps)
    y = top + (30 if title else 8)
    lanes, marks = [], [(step, mark) for step in steps for mark in step.findings if mark.severity != "info"]
    bottom = y + 18
    for name, held in _iter_lanes(track, steps):
        rows = _pack_rows(held, scale)
        lanes.append(f'<text x="10" y="{bottom + 16:.0f}">{escape_xml(_truncate(name, PLOT_LEFT - 20))}</text>')
        for row, bars in enumerate(rows):
            lanes += [_draw_bar(step, scale, bottom + row * ROW_HEIGHT) for step in bars]
        bottom += max(1, len(rows)) * ROW_HEIGHT + 6
    parts = (
        [f'<text class="title" x="10" y="{top + 18:.0f}">{escape_xml(_truncate(title, WIDTH - 20))}</text>']
        if title
        else []
    )
    parts += _draw_grid(scale, y, bottom)
    parts += lanes
    broken, height = _draw_findings(marks, scale, y + 18, bottom)
    parts += broken
    return "".join(parts), bottom + height - top


def _iter_lanes(track: SessionTrace, steps: Iterable[Step]) -> Iterator[tuple[str, list[Step]]]:
    """What stands in each lane. A.9: several agents share a session, each with its own states."""
    lasting_ = [step for step in steps if step.has_duration]
    for kind in LANE_KINDS:
        mine = [step for step in lasting_ if step.kind == kind]
        agents = [*track.agent_names][:_MAX_AGENT_LANES]
        if kind != "state" or len(agents) < 2:
            yield KIND_LABELS[kind], mine
            continue
        for agent in agents:
            yield f"State, {track.agent_names[agent]}", [step for step in mine if step.agent_id == agent]


def _pack_rows(steps: Iterable[Step], scale: _TimeScale) -> list[list[Step]]:
    """Rows in which nothing covers anything else, as far as there are rows."""
    rows: list[list[Step]] = []
    ends: list[float] = []
    for step in sorted(steps, key=lambda one: one.at):
        free = next((row for row, end in enumerate(ends) if end <= step.at), None)
        if free is None and len(rows) < _MAX_LANE_ROWS:
            free = len(rows)
            rows.append([])
            ends.append(0.0)
        free = len(rows) - 1 if free is None else free
        rows[free].append(step)
        ends[free] = scale.end if step.end is None else step.end
    return rows


def _draw_bar(step: Step, scale: _TimeScale, y: float) -> str:
    x, end = scale.x(step.at), scale.x(scale.end if step.end is None else step.end)
    width = max(2.0, end - x)
    label = (
        f"{step.label}: {step.outcome}"
        if step.outcome and len(step.label + step.outcome) * LETTER_WIDTH < width - 20
        else step.label
    )
    text = ""
    if len(label) * LETTER_WIDTH < width - 6:
        text = f'<text x="{x + 4:.1f}" y="{y + 16:.1f}">{escape_xml(label)}</text>'
    open_ = " open" if step.end is None else ""
    return (
        f"<g><title>{escape_xml(f'{step.text} {step.quote} {describe_duration(step)}')}</title>"
        f'<rect class="bar {step.kind}{open_}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{width:.1f}" height="{ROW_HEIGHT - 3}" rx="3"/>'
        f"{text}</g>"
    )


def _draw_grid(scale: _TimeScale, top: float, bottom: float) -> Iterator[str]:
    for moment, text in scale.ticks():
        x = scale.x(moment)
        yield f'<path class="grid" d="M{x:.1f} {top + 14:.1f}V{bottom:.1f}"/>'
        yield f'<text x="{x:.1f}" y="{top + 8:.1f}" text-anchor="middle">{text}</text>'


def _draw_findings(
    marks: Sequence[tuple[Step, TraceFinding]], scale: _TimeScale, top: float, bottom: float
) -> tuple[list[str], float]:
    """A shape where each rule was broken, and its name where there is room."""
    parts = [f'<text x="10" y="{bottom + 16:.0f}">Rules</text>']
    if not marks:
        return [*parts, f'<text x="{PLOT_LEFT}" y="{bottom + 16:.0f}">no rule broken</text>'], 28
    ends = [0.0] * _MAX_LABEL_ROWS
    used, drawn = 1, set[tuple[int, str]]()
    for step, mark in marks:
        x = scale.x(step.at)
        if (round(x), mark.rule) in drawn:
            continue
        drawn.add((round(x), mark.rule))
        label = f"{SEVERITY_LABELS[mark.severity]} {mark.rule}"
        width = len(label) * LETTER_WIDTH + 20
        start = min(x, PLOT_RIGHT + 10 - width)
        row = next((row for row, end in enumerate(ends) if end <= start), None)
        y = bottom + (row or 0) * 20
        parts.append(f'<path class="at {mark.severity}" d="M{x:.1f} {top:.1f}V{y + 4:.1f}"/>')
        parts.append(f"<g><title>{escape_xml(f'{label}: {mark.text}')}</title>{_draw_marker(mark, x, y + 11)}")
        if row is not None:
            ends[row] = start + width
            used = max(used, row + 1)
            anchor = f'x="{x + 9:.1f}"' if start == x else f'x="{x - 9:.1f}" text-anchor="end"'
            parts.append(f'<text class="{mark.severity}" {anchor} y="{y + 16:.1f}">{escape_xml(label)}</text>')
        parts.append("</g>")
    return parts, used * 20 + 8


def _draw_marker(mark: TraceFinding, x: float, y: float) -> str:
    """A cross for an error, a triangle for a warning."""
    if mark.severity == "error":
        return f'<path class="error" stroke-width="2.5" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
    return f'<path class="warning" d="M{x:.1f} {y - 5:.1f}l5.5 10h-11z"/>'


def _truncate(text: str, width: float) -> str:
    most = int(width / LETTER_WIDTH)
    return text if len(text) <= most else text[: most - 1] + "…"
