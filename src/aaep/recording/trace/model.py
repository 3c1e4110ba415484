"""
What happened in a session, step by step: the trace of A.10, before it is told, drawn or shown.

However long a session was, a bounded number of its steps is kept: the first,
the last, and those in between that broke a rule. The others are counted.
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
MAX_STEPS_PER_SECTION: Final = 200  # steps kept at the beginning, at the end, and of those in between that broke a rule
_MAX_FINDINGS_PER_STEP: Final = 20  # kept of one step
_MAX_QUOTE_LENGTH: Final = 240  # characters of a text that are shown


class TraceFinding(msgspec.Struct, frozen=True):
    """A rule, and where it was broken."""

    rule: str
    section: str
    severity: Severity
    text: str
    line: int | None  # None: at the end of the recording
    path: str = ""


class Step(msgspec.Struct):
    """
    Something that happened.

    What lasts has an end in ``until``, unless it never ended. Several events of
    one output, or progress and more progress, are one step: ``times``.
    """

    at: float  # seconds since the epoch; 0 if nobody knows
    kind: StepKind
    text: str  # ours, whole sentences
    quote: str = ""  # theirs, harmless and cut
    quote_language: str = ""  # of what they said, if it is known
    line: int = 0
    event_id: str = ""
    agent_id: str = ""
    label: str = ""  # what a drawing writes on it
    has_duration: bool = False
    end: float | None = None
    outcome: str = ""  # how
    count: int = 1
    size: int = 0  # characters of an output
    findings: list[TraceFinding] = []
    is_added: bool = False

    @property
    def seconds(self) -> float | None:
        return None if self.end is None else max(0.0, self.end - self.at)


class StepBuffer:
    """The steps that are kept, in order, and how many are not."""

    def __init__(self, limit: int = MAX_STEPS_PER_SECTION) -> None:
        self._limit = limit
        self.head: list[Step] = []
        self.middle: list[Step] = []
        self.tail: deque[Step] = deque()
        self.omitted_counts: Counter[StepKind] = Counter()  # what is not kept

    def add(self, step: Step) -> None:
        if len(self.head) < self._limit:
            self.head.append(step)
            return
        self.tail.append(step)
        if len(self.tail) > self._limit:
            old = self.tail.popleft()
            if old.findings and len(self.middle) < self._limit:
                self.middle.append(old)
            else:
                self.omitted_counts[old.kind] += 1

    @property
    def latest(self) -> Step | None:
        return self.tail[-1] if self.tail else self.head[-1] if self.head else None

    def __iter__(self) -> Iterator[Step]:
        yield from self.head
        if self.omitted_counts:
            yield self._omission_step()
        yield from self.middle
        yield from self.tail

    def __len__(self) -> int:
        return len(self.head) + bool(self.omitted_counts) + len(self.middle) + len(self.tail)

    def _omission_step(self) -> Step:
        parts = ", ".join(
            f"{KIND_LABELS[kind].lower()} {number:,}" for kind, number in self.omitted_counts.most_common()
        )
        text = f"From here on {format_count(self.omitted_counts.total(), 'step')} are left out: {parts}."
        if self.middle:
            text += f" {format_count(len(self.middle), 'step')} among them that broke a rule come next."
        return Step(self.head[-1].at, "other", text)


class SessionTrace:
    """One session, as one subscription heard it. Without a session id: what belongs to none."""

    def __init__(self, session_id: str, subscription_id: str, source: str, number: int = 0) -> None:
        self.session_id, self.subscription_id, self.source, self.number = session_id, subscription_id, source, number
        self.steps = StepBuffer()
        self.started_at = 0.0
        self.last_at = 0.0
        self.outcome = ""  # completed, errored or cancelled
        self.parent_id = ""  # the session it belongs to, if it says so (A.9)
        self.event_count = self.repeated_count = 0
        self.tool_call_count = self.output_count = self.prompt_count = 0
        self.agent_names: dict[str, str] = {}  # their names by their ids
        self.seconds_by_state: dict[str, float] = {}  # seconds in each state
        self.severity_counts: Counter[Severity] = Counter()
        self.rule_counts: Counter[str] = Counter()
        # What is open:
        self.session_state: SessionState | None = None
        self.open_states: dict[str, Step] = {}
        self.open_calls: list[tuple[str, str, str, Step]] = []  # id, tool, agent
        self.open_outputs: dict[tuple[str, str], tuple[Step, str]] = {}  # by agent and output, with the beginning
        self.open_prompts: dict[str, Step] = {}

    @property
    def seconds(self) -> float:
        return max(0.0, self.last_at - self.started_at)

    def add(self, step: Step) -> Step:
        """Let a step have happened."""
        self.started_at = self.started_at or step.at
        self.last_at = max(self.last_at, step.at)
        step.is_added = True
        self.steps.add(step)
        return step

    def add_findings(self, step: Step, findings: list[Finding], line: int | None) -> None:
        """Note where rules were broken."""
        marks = [
            TraceFinding(
                quote_text(found.rule, 80),
                quote_text(found.section, 80),
                found.severity,
                quote_text(found.message),
                line,
                quote_text(found.path, 120),
            )
            for found in findings[:_MAX_FINDINGS_PER_STEP]
        ]
        step.findings = [*step.findings, *marks][:_MAX_FINDINGS_PER_STEP]
        self.count_findings(findings)

    def count_findings(self, findings: Iterable[Finding]) -> None:
        """Rules were broken where the same were before."""
        for found in findings:
            self.severity_counts[found.severity] += 1
            if found.severity != "info":
                self.rule_counts[quote_text(found.rule, 80)] += 1

    def leave_state(self, agent: str, now: float) -> None:
        """An agent leaves its state."""
        step = self.open_states.pop(agent, None)
        if step is not None:
            step.end = max(step.at, now)
            self.seconds_by_state[step.label] = self.seconds_by_state.get(step.label, 0.0) + step.end - step.at

    def close(self, now: float) -> None:
        """Nothing is open any more; whatever should have ended before, did not."""
        for agent in [*self.open_states]:
            self.leave_state(agent, now)
        for step in [*(call[3] for call in self.open_calls), *(one for one, _ in self.open_outputs.values())]:
            step.end, step.outcome = max(step.at, now), "never completed"
        for step in self.open_prompts.values():
            step.end, step.outcome = max(step.at, now), step.outcome or "withdrawn"
        self.open_calls.clear()
        self.open_outputs.clear()
        self.open_prompts.clear()
        self.session_state = None


# -- words ---------------------------------------------------------------------------------


def quote_text(text: object, max_length: int = _MAX_QUOTE_LENGTH) -> str:
    """Text of a recording, fit to be shown: harmless, without secrets, on one line, not too long."""
    if not isinstance(text, str) or not text:
        return ""
    said = sanitize(text[: max_length * 8])
    if may_contain_secret(said):
        said = redact(said)
    short = truncate(said, max_length)
    return short if len(short) == len(said) and len(text) <= max_length * 8 else short + "…"


def format_exact_duration(seconds: float) -> str:
    """A length of time in words, as exactly as one would say it."""
    if seconds < 0.0005:
        return "no time"
    if seconds < 0.9995:
        return format_count(max(1, round(seconds * 1000)), "millisecond")
    if seconds < 59.95:
        number = f"{seconds:.1f}".removesuffix(".0")
        return f"{number} second{'' if number == '1' else 's'}"
    return format_duration(round(seconds))


def format_count(number: int, noun: str) -> str:
    """``no events``, ``1 event``, ``2 events``."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"
