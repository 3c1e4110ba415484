"""
Rendering a trace as an SVG drawing: time from left to right, with lanes for state, tools, output and prompts.

Broken rules stand below the lanes, each as a shape and in letters, never as a
colour alone. A description in words comes with the drawing for people who do
not see it; the text and the page hold more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...text.html_page import escape_xml
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
from .trace import Trace
from .wording import (
    describe_broken_rules,
    describe_duration,
    describe_outcome,
    describe_recording,
    describe_result,
    select_sessions,
    session_title,
    summarize_broken_rules,
)

__all__ = ["SVG_STYLE", "render_session_svg", "render_svg"]

MAX_STEPS: Final = 5_000
# Lengths are in pixels.
WIDTH: Final = 1000
PLOT_LEFT: Final = 120
PLOT_RIGHT: Final = WIDTH - 20
ROW_HEIGHT: Final = 24
LETTER_WIDTH: Final = 7.2  # an estimate: the font of the viewer is unknown
_MAX_LANE_ROWS: Final = 6  # rows of one lane; bars that do not fit are drawn over the last row
_MAX_AGENT_LANES: Final = 8  # agents that get a state lane of their own
_MAX_LABEL_ROWS: Final = 4  # rows for the names of broken rules
_LONG_TICK_SIZES: Final = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0, 43_200.0, 86_400.0)

# Text has a contrast of at least 4.5 to 1 against its background, in light and in dark mode.
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
    """Yield one drawing of all sessions in parts, or of as many as fit, those that broke rules before the others."""
    selected = select_sessions(trace.session_traces, max_steps)
    drawn = [
        session
        for number, session in enumerate(trace.session_traces, start=1)
        if number in selected and session.session_id
    ]
    parts = []
    top = 60.0
    for session in drawn:
        body, height = _draw_session(
            session,
            f"{session_title(session, trace)}; {describe_outcome(session)}; {summarize_broken_rules(session)}",
            top,
        )
        parts.append(body)
        top += height + 20
    omitted = trace.session_count - len(drawn)
    result = describe_result(trace)
    if omitted > 0:
        result += f" {format_count(omitted, 'session')} are not drawn."
    description = [
        result,
        *(f"{session_title(session, trace)}. {_describe_drawing(session)}" for session in drawn[:50]),
    ]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 {WIDTH} {top:.0f}" width="{WIDTH}" '
        f'height="{top:.0f}" role="img" aria-labelledby="title description">'
    )
    yield f'<title id="title">{escape_xml(describe_recording(trace))}</title>'
    yield f'<desc id="description">{escape_xml(" ".join(description))}</desc>'
    yield f"<style>{SVG_STYLE}</style>"
    yield f'<rect width="{WIDTH}" height="{top:.0f}" fill="var(--ground)"/>'
    yield f'<text class="title" x="10" y="22">{escape_xml(_truncate(describe_recording(trace), WIDTH - 20))}</text>'
    yield f'<text x="10" y="42">{escape_xml(result)}</text>'
    yield from parts
    yield "</svg>\n"


def render_session_svg(session: SessionTrace, name: str) -> str:
    """Return the drawing of one session for a page that has :data:`SVG_STYLE`; ``name`` makes its ids unique."""
    if not session.session_id:
        return ""
    body, height = _draw_session(session, "", 0)
    return (
        f'<svg class="drawing" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" role="img" '
        f'aria-labelledby="{name}-t {name}-d"><title id="{name}-t">Drawing of the session</title>'
        f'<desc id="{name}-d">{escape_xml(_describe_drawing(session))}</desc>{body}</svg>'
    )


def _describe_drawing(session: SessionTrace) -> str:
    """Return the contents of a session's drawing in words."""
    states = ", ".join(
        f"{name} {format_exact_duration(seconds)}" for name, seconds in [*session.seconds_by_state.items()][:12]
    )
    return (
        f"Time runs from left to right, {format_exact_duration(session.seconds)} in all. "
        f"The session {describe_outcome(session)}. States: {states or 'none'}. "
        f"{format_count(session.tool_call_count, 'call')} of tools, {format_count(session.output_count, 'output')}, "
        f"{format_count(session.prompt_count, 'prompt')}. {describe_broken_rules(session)} "
        "The table says the same and more."
    )


# -- drawing a session -----------------------------------------------------------------------


class _TimeScale:
    """The horizontal scale of a drawing: from times to x coordinates."""

    def __init__(self, session: SessionTrace, steps: Sequence[Step]) -> None:
        self.start = min((step.at for step in steps if step.at), default=0.0)
        self.end = max([session.last_at, *(step.end or step.at for step in steps)])
        self.seconds = max(self.end - self.start, 0.001)

    def x(self, time: float) -> float:
        """Return the x coordinate of a time."""
        return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * max(0.0, time - self.start) / self.seconds

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the times of the ticks, at most nine round values, and their labels."""
        min_size = self.seconds / 8
        if min_size < 30:
            power = 10.0 ** math.floor(math.log10(min_size))
            size = next(size for size in (power, 2 * power, 5 * power, 10 * power) if size >= min_size)
        else:
            days = 86_400.0 * math.ceil(min_size / 86_400)
            size = next((size for size in _LONG_TICK_SIZES if size >= min_size), days)
        for number in range(int(self.seconds / size) + 1):
            yield self.start + number * size, _format_tick(number * size)


def _format_tick(seconds: float) -> str:
    if seconds >= 60:
        minutes, seconds = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        parts = ((hours, "h"), (minutes, "min"), (seconds, "s"))
        return " ".join(f"{number} {unit}" for number, unit in parts if number)
    return f"{seconds * 1000:g} ms" if 0 < seconds < 1 else f"{seconds:g} s"


def _draw_session(session: SessionTrace, title: str, top: float) -> tuple[str, float]:
    """Return the drawing of a session and its height."""
    steps = [*session.steps]
    scale = _TimeScale(session, steps)
    y = top + (30 if title else 8)
    lanes = []
    bottom = y + 18
    for name, lane_steps in _iter_lanes(session, steps):
        rows = _pack_rows(lane_steps, scale)
        lanes.append(f'<text x="10" y="{bottom + 16:.0f}">{escape_xml(_truncate(name, PLOT_LEFT - 20))}</text>')
        for row, row_steps in enumerate(rows):
            lanes += [_draw_bar(step, scale, bottom + row * ROW_HEIGHT) for step in row_steps]
        bottom += max(1, len(rows)) * ROW_HEIGHT + 6
    parts = []
    if title:
        parts.append(f'<text class="title" x="10" y="{top + 18:.0f}">{escape_xml(_truncate(title, WIDTH - 20))}</text>')
    parts += _draw_grid(scale, y, bottom)
    parts += lanes
    findings = [(step, finding) for step in steps for finding in step.findings if finding.severity != "info"]
    markers, height = _draw_findings(findings, scale, y + 18, bottom)
    parts += markers
    return "".join(parts), bottom + height - top


def _iter_lanes(session: SessionTrace, steps: Iterable[Step]) -> Iterator[tuple[str, list[Step]]]:
    """Yield the lanes with their names and steps. A.9: agents that share a session have separate states."""
    bars = [step for step in steps if step.has_duration]
    for kind in LANE_KINDS:
        lane_steps = [step for step in bars if step.kind == kind]
        agent_ids = [*session.agent_names][:_MAX_AGENT_LANES]
        if kind != "state" or len(agent_ids) < 2:
            yield KIND_LABELS[kind], lane_steps
            continue
        for agent_id in agent_ids:
            yield f"State, {session.agent_names[agent_id]}", [step for step in lane_steps if step.agent_id == agent_id]


def _pack_rows(steps: Iterable[Step], scale: _TimeScale) -> list[list[Step]]:
    """Distribute steps over rows so that none overlap; if the rows run out, the rest goes into the last one."""
    rows: list[list[Step]] = []
    row_ends: list[float] = []
    for step in sorted(steps, key=lambda step: step.at):
        row = next((row for row, end in enumerate(row_ends) if end <= step.at), None)
        if row is None and len(rows) < _MAX_LANE_ROWS:
            row = len(rows)
            rows.append([])
            row_ends.append(0.0)
        row = len(rows) - 1 if row is None else row
        rows[row].append(step)
        row_ends[row] = scale.end if step.end is None else step.end
    return rows


def _draw_bar(step: Step, scale: _TimeScale, y: float) -> str:
    x = scale.x(step.at)
    end = scale.x(scale.end if step.end is None else step.end)
    width = max(2.0, end - x)
    label = step.label
    if step.outcome and len(step.label + step.outcome) * LETTER_WIDTH < width - 20:
        label = f"{step.label}: {step.outcome}"
    text = ""
    if len(label) * LETTER_WIDTH < width - 6:
        text = f'<text x="{x + 4:.1f}" y="{y + 16:.1f}">{escape_xml(label)}</text>'
    open_class = " open" if step.end is None else ""
    return (
        f"<g><title>{escape_xml(f'{step.text} {step.quote} {describe_duration(step)}')}</title>"
        f'<rect class="bar {step.kind}{open_class}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{width:.1f}" height="{ROW_HEIGHT - 3}" rx="3"/>'
        f"{text}</g>"
    )


def _draw_grid(scale: _TimeScale, top: float, bottom: float) -> Iterator[str]:
    for time, text in scale.ticks():
        x = scale.x(time)
        yield f'<path class="grid" d="M{x:.1f} {top + 14:.1f}V{bottom:.1f}"/>'
        yield f'<text x="{x:.1f}" y="{top + 8:.1f}" text-anchor="middle">{text}</text>'


def _draw_findings(
    findings: Sequence[tuple[Step, TraceFinding]], scale: _TimeScale, top: float, bottom: float
) -> tuple[list[str], float]:
    """Return a marker for each broken rule, with its name where there is room, and the height of them all."""
    parts = [f'<text x="10" y="{bottom + 16:.0f}">Rules</text>']
    if not findings:
        return [*parts, f'<text x="{PLOT_LEFT}" y="{bottom + 16:.0f}">no rule broken</text>'], 28
    row_ends = [0.0] * _MAX_LABEL_ROWS
    used_rows = 1
    drawn: set[tuple[int, str]] = set()
    for step, finding in findings:
        x = scale.x(step.at)
        if (round(x), finding.rule) in drawn:
            continue
        drawn.add((round(x), finding.rule))
        label = f"{SEVERITY_LABELS[finding.severity]} {finding.rule}"
        width = len(label) * LETTER_WIDTH + 20
        start = min(x, PLOT_RIGHT + 10 - width)
        row = next((row for row, end in enumerate(row_ends) if end <= start), None)
        y = bottom + (row or 0) * 20
        parts.append(f'<path class="at {finding.severity}" d="M{x:.1f} {top:.1f}V{y + 4:.1f}"/>')
        parts.append(f"<g><title>{escape_xml(f'{label}: {finding.text}')}</title>{_draw_marker(finding, x, y + 11)}")
        if row is not None:
            row_ends[row] = start + width
            used_rows = max(used_rows, row + 1)
            anchor = f'x="{x + 9:.1f}"' if start == x else f'x="{x - 9:.1f}" text-anchor="end"'
            parts.append(f'<text class="{finding.severity}" {anchor} y="{y + 16:.1f}">{escape_xml(label)}</text>')
        parts.append("</g>")
    return parts, used_rows * 20 + 8


def _draw_marker(finding: TraceFinding, x: float, y: float) -> str:
    """Return a cross for an error, a triangle for a warning."""
    if finding.severity == "error":
        return f'<path class="error" stroke-width="2.5" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
    return f'<path class="warning" d="M{x:.1f} {y - 5:.1f}l5.5 10h-11z"/>'


def _truncate(text: str, width: float) -> str:
    max_length = int(width / LETTER_WIDTH)
    return text if len(text) <= max_length else text[: max_length - 1] + "…"
