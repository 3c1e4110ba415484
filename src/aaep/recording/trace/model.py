"""
The data of a trace (A.10): the steps of each session and the rules they broke.

A bounded number of steps is kept per session: the first, the last, and those
in between that broke a rule. The others are only counted.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from ...errors import Severity
from ...protocol.audit import Finding
from ...protocol.session import SessionState
from ...text.phrases import format_duration
from ...text.redaction import may_contain_secret, redact
from ...text.sanitize import sanitize, truncate

__all__ = [
    "KIND_LABELS",
    "LANE_KINDS",
    "SEVERITY_LABELS",
    "SessionTrace",
    "Step",
    "StepBuffer",
    "StepKind",
    "TraceFinding",
    "format_count",
    "format_exact_duration",
    "quote_text",
]

StepKind: TypeAlias = Literal["session", "state", "tool", "output", "prompt", "progress", "connection", "other"]
KIND_LABELS: Final[dict[StepKind, str]] = {
    "session": "Session",
    "state": "State",
    "tool": "Tool",
    "output": "Output",
    "prompt": "Prompt",
    "progress": "Progress",
    "connection": "Connection",
    "other": "Other",
}
LANE_KINDS: Final[tuple[StepKind, ...]] = ("state", "tool", "output", "prompt")
SEVERITY_LABELS: Final[dict[Severity, str]] = {"error": "Error", "warning": "Warning", "info": "Note"}
MAX_STEPS_PER_SECTION: Final = 200  # steps kept at the start, at the end, and of those in between that broke a rule
_MAX_FINDINGS_PER_STEP: Final = 20
_MAX_QUOTE_LENGTH: Final = 240  # characters


class TraceFinding(msgspec.Struct, frozen=True):
    """A rule and the line on which it was broken."""

    rule: str
    section: str
    severity: Severity
    text: str
    line: int | None  # None: at the end of the recording
    path: str = ""


class Step(msgspec.Struct):
    """
    A step of a session, made from one event or several.

    A step with a duration has an ``end``, unless it never ended. The chunks of
    one output, and consecutive progress events, are one step with a ``count``.
    """

    at: float  # seconds since the epoch; 0 if unknown
    kind: StepKind
    text: str  # complete sentences of the trace itself
    quote: str = ""  # text from the recording, sanitized and truncated
    quote_language: str = ""  # language tag of the quote, if known
    line: int = 0
    event_id: str = ""
    agent_id: str = ""
    label: str = ""  # the text on its bar in a drawing
    has_duration: bool = False
    end: float | None = None
    outcome: str = ""
    count: int = 1
    size: int = 0  # characters of an output
    findings: list[TraceFinding] = []
    is_added: bool = False

    @property
    def seconds(self) -> float | None:
        """The duration in seconds, or None if the step never ended."""
        return None if self.end is None else max(0.0, self.end - self.at)

    @property
    def has_broken_rule(self) -> bool:
        """Whether the step has an error or a warning."""
        return any(finding.severity != "info" for finding in self.findings)


class OpenCall(msgspec.Struct):
    """A tool call that has not completed yet, and its step."""

    call_id: str
    tool: str
    agent_id: str
    step: Step


class OpenOutput(msgspec.Struct):
    """An output that is not complete yet: its step, and the beginning of its text."""

    step: Step
    beginning: str = ""


class StepBuffer:
    """A bounded buffer of steps in order, and the number of those that were dropped."""

    def __init__(self, limit: int = MAX_STEPS_PER_SECTION) -> None:
        self._limit = limit
        self.head: list[Step] = []
        self.middle: list[Step] = []
        self.tail: deque[Step] = deque()
        self.omitted_counts: Counter[StepKind] = Counter()

    def add(self, step: Step) -> None:
        """Append a step; when the tail is full, its oldest step is kept only if it has findings."""
        if len(self.head) < self._limit:
            self.head.append(step)
            return
        self.tail.append(step)
        if len(self.tail) > self._limit:
            oldest = self.tail.popleft()
            if oldest.findings and len(self.middle) < self._limit:
                self.middle.append(oldest)
            else:
                self.omitted_counts[oldest.kind] += 1

    @property
    def latest(self) -> Step | None:
        """The step that was added last."""
        if self.tail:
            return self.tail[-1]
        return self.head[-1] if self.head else None

    def __iter__(self) -> Iterator[Step]:
        yield from self.head
        if self.omitted_counts:
            yield self._omission_step()
        yield from self.middle
        yield from self.tail

    def __len__(self) -> int:
        return len(self.head) + bool(self.omitted_counts) + len(self.middle) + len(self.tail)

    def _omission_step(self) -> Step:
        parts = ", ".join(f"{KIND_LABELS[kind].lower()} {count:,}" for kind, count in self.omitted_counts.most_common())
        text = f"From here on {format_count(self.omitted_counts.total(), 'step')} are left out: {parts}."
        if self.middle:
            text += f" {format_count(len(self.middle), 'step')} among them that broke a rule come next."
        return Step(self.head[-1].at, "other", text)


class SessionTrace:
    """The steps of a session as one subscription received it; an empty id stands for everything outside sessions."""

    def __init__(self, session_id: str, subscription_id: str, source: str, number: int = 0) -> None:
        self.session_id = session_id
        self.subscription_id = subscription_id
        self.source = source
        self.number = number
        self.steps = StepBuffer()
        self.started_at = 0.0
        self.last_at = 0.0
        self.outcome = ""  # completed, errored or cancelled; empty before the end
        self.is_handed_over = False
        self.parent_id = ""  # the parent session, if known (A.9)
        self.event_count = 0
        self.repeated_count = 0
        self.tool_call_count = 0
        self.output_count = 0
        self.prompt_count = 0
        self.agent_names: dict[str, str] = {}  # by agent id
        self.seconds_by_state: dict[str, float] = {}
        self.severity_counts: Counter[Severity] = Counter()
        self.rule_counts: Counter[str] = Counter()
        self.session_state: SessionState | None = None
        self.open_states: dict[str, Step] = {}  # by agent id
        self.open_calls: list[OpenCall] = []
        self.open_outputs: dict[tuple[str, str], OpenOutput] = {}  # by agent id and output id
        self.open_prompts: dict[str, Step] = {}  # by reply token

    @property
    def seconds(self) -> float:
        """The duration of the session in seconds."""
        return max(0.0, self.last_at - self.started_at)

    def add(self, step: Step) -> Step:
        """Append a step and return it."""
        self.started_at = self.started_at or step.at
        self.last_at = max(self.last_at, step.at)
        step.is_added = True
        self.steps.add(step)
        return step

    def add_findings(self, step: Step, findings: list[Finding], line: int | None) -> None:
        """Add findings to a step, and count them."""
        trace_findings = [
            TraceFinding(
                quote_text(finding.rule, 80),
                quote_text(finding.section, 80),
                finding.severity,
                quote_text(finding.message),
                line,
                quote_text(finding.path, 120),
            )
            for finding in findings[:_MAX_FINDINGS_PER_STEP]
        ]
        step.findings = [*step.findings, *trace_findings][:_MAX_FINDINGS_PER_STEP]
        self.count_findings(findings)

    def count_findings(self, findings: Iterable[Finding]) -> None:
        """Count findings without adding them to a step."""
        for finding in findings:
            self.severity_counts[finding.severity] += 1
            if finding.severity != "info":
                self.rule_counts[quote_text(finding.rule, 80)] += 1

    def leave_state(self, agent_id: str, now: float) -> None:
        """End the current state of an agent, and add its duration to the time spent in it."""
        step = self.open_states.pop(agent_id, None)
        if step is not None:
            step.end = max(step.at, now)
            self.seconds_by_state[step.label] = self.seconds_by_state.get(step.label, 0.0) + step.end - step.at

    def close(self, now: float) -> None:
        """End everything that is open: calls and outputs as ``never completed``, prompts as ``withdrawn``."""
        for agent_id in [*self.open_states]:
            self.leave_state(agent_id, now)
        open_steps = [call.step for call in self.open_calls]
        open_steps += [output.step for output in self.open_outputs.values()]
        for step in open_steps:
            step.end = max(step.at, now)
            step.outcome = "never completed"
        for step in self.open_prompts.values():
            step.end = max(step.at, now)
            step.outcome = step.outcome or "withdrawn"
        self.open_calls.clear()
        self.open_outputs.clear()
        self.open_prompts.clear()
        self.session_state = None


# -- formatting ----------------------------------------------------------------------------


def quote_text(text: object, max_length: int = _MAX_QUOTE_LENGTH) -> str:
    """Return text of a recording on one line, sanitized, without secrets and truncated; empty if it is no text."""
    if not isinstance(text, str) or not text:
        return ""
    quote = sanitize(text[: max_length * 8])
    if may_contain_secret(quote):
        quote = redact(quote)
    short = truncate(quote, max_length)
    return short if len(short) == len(quote) and len(text) <= max_length * 8 else short + "…"


def format_exact_duration(seconds: float) -> str:
    """Return a duration in words, in milliseconds or tenths of a second where it is short."""
    if seconds < 0.0005:
        return "no time"
    if seconds < 0.9995:
        return format_count(max(1, round(seconds * 1000)), "millisecond")
    if seconds < 59.95:
        number = f"{seconds:.1f}".removesuffix(".0")
        return f"{number} second{'' if number == '1' else 's'}"
    return format_duration(round(seconds))


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: ``no events``, ``1 event``, ``2 events``."""
    amount = f"{number:,}" if number else "no"
    return f"{amount} {noun}{'' if number == 1 else 's'}"
