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
from ...text.phrases import span
from ...text.redaction import redact, suspicious
from ...text.sanitize import cut, neutralise

__all__ = ["GRADES", "KINDS", "LANES", "Kind", "Mark", "Step", "Steps", "Track", "counted", "lasting", "quoted"]

Kind: TypeAlias = Literal["session", "state", "tool", "output", "prompt", "progress", "connection", "other"]
KINDS: Final[dict[Kind, str]] = {
    "session": "Session",
    "state": "State",
    "tool": "Tool",
    "output": "Output",
    "prompt": "Prompt",
    "progress": "Progress",
    "connection": "Connection",
    "other": "Other",
}
LANES: Final[tuple[Kind, ...]] = ("state", "tool", "output", "prompt")
GRADES: Final[dict[Severity, str]] = {"error": "Error", "warning": "Warning", "info": "Note"}
KEPT: Final = 200  # steps kept at the beginning, at the end, and of those in between that broke a rule
_MARKS: Final = 20  # kept of one step
_QUOTED: Final = 240  # characters of a text that are shown


class Mark(msgspec.Struct, frozen=True):
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
    kind: Kind
    text: str  # ours, whole sentences
    said: str = ""  # theirs, harmless and cut
    language: str = ""  # of what they said, if it is known
    line: int = 0
    event_id: str = ""
    agent: str = ""
    name: str = ""  # what a drawing writes on it
    lasts: bool = False
    until: float | None = None
    ended: str = ""  # how
    times: int = 1
    size: int = 0  # characters of an output
    marks: list[Mark] = []
    placed: bool = False

    @property
    def seconds(self) -> float | None:
        return None if self.until is None else max(0.0, self.until - self.at)


class Steps:
    """The steps that are kept, in order, and how many are not."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self.first: list[Step] = []
        self.broken: list[Step] = []
        self.last: deque[Step] = deque()
        self.left: Counter[Kind] = Counter()  # what is not kept

    def add(self, step: Step) -> None:
        if len(self.first) < self._kept:
            self.first.append(step)
            return
        self.last.append(step)
        if len(self.last) > self._kept:
            old = self.last.popleft()
            if old.marks and len(self.broken) < self._kept:
                self.broken.append(old)
            else:
                self.left[old.kind] += 1

    @property
    def latest(self) -> Step | None:
        return self.last[-1] if self.last else self.first[-1] if self.first else None

    def __iter__(self) -> Iterator[Step]:
        yield from self.first
        if self.left:
            yield self._gap()
        yield from self.broken
        yield from self.last

    def __len__(self) -> int:
        return len(self.first) + bool(self.left) + len(self.broken) + len(self.last)

    def _gap(self) -> Step:
        parts = ", ".join(f"{KINDS[kind].lower()} {number:,}" for kind, number in self.left.most_common())
        text = f"From here on {counted(self.left.total(), 'step')} are left out: {parts}."
        if self.broken:
            text += f" {counted(len(self.broken), 'step')} among them that broke a rule come next."
        return Step(self.first[-1].at, "other", text)


class Track:
    """One session, as one subscription heard it. Without a session id: what belongs to none."""

    def __init__(self, session_id: str, via: str, source: str, number: int = 0) -> None:
        self.session_id, self.via, self.source, self.number = session_id, via, source, number
        self.steps = Steps()
        self.begun = 0.0
        self.last = 0.0
        self.ended = ""  # completed, errored or cancelled
        self.parent = ""  # the session it belongs to, if it says so (A.9)
        self.events = self.repeated = 0
        self.tools = self.outputs = self.prompts = 0
        self.agents: dict[str, str] = {}  # their names by their ids
        self.spent: dict[str, float] = {}  # seconds in each state
        self.grades: Counter[Severity] = Counter()
        self.rules: Counter[str] = Counter()
        # What is open:
        self.session: SessionState | None = None
        self.states: dict[str, Step] = {}
        self.calls: list[tuple[str, str, str, Step]] = []  # id, tool, agent
        self.written: dict[tuple[str, str], tuple[Step, str]] = {}  # by agent and output, with the beginning
        self.asked: dict[str, Step] = {}

    @property
    def seconds(self) -> float:
        return max(0.0, self.last - self.begun)

    def add(self, step: Step) -> Step:
        """Let a step have happened."""
        self.begun = self.begun or step.at
        self.last = max(self.last, step.at)
        step.placed = True
        self.steps.add(step)
        return step

    def mark(self, step: Step, findings: list[Finding], line: int | None) -> None:
        """Note where rules were broken."""
        marks = [
            Mark(
                quoted(found.rule, 80),
                quoted(found.section, 80),
                found.severity,
                quoted(found.message),
                line,
                quoted(found.path, 120),
            )
            for found in findings[:_MARKS]
        ]
        step.marks = [*step.marks, *marks][:_MARKS]
        self.count(findings)

    def count(self, findings: Iterable[Finding]) -> None:
        """Rules were broken where the same were before."""
        for found in findings:
            self.grades[found.severity] += 1
            if found.severity != "info":
                self.rules[quoted(found.rule, 80)] += 1

    def leave(self, agent: str, now: float) -> None:
        """An agent leaves its state."""
        step = self.states.pop(agent, None)
        if step is not None:
            step.until = max(step.at, now)
            self.spent[step.name] = self.spent.get(step.name, 0.0) + step.until - step.at

    def close(self, now: float) -> None:
        """Nothing is open any more; whatever should have ended before, did not."""
        for agent in [*self.states]:
            self.leave(agent, now)
        for step in [*(call[3] for call in self.calls), *(one for one, _ in self.written.values())]:
            step.until, step.ended = max(step.at, now), "never completed"
        for step in self.asked.values():
            step.until, step.ended = max(step.at, now), step.ended or "withdrawn"
        self.calls.clear()
        self.written.clear()
        self.asked.clear()
        self.session = None


# -- words ---------------------------------------------------------------------------------


def quoted(text: object, most: int = _QUOTED) -> str:
    """Text of a recording, fit to be shown: harmless, without secrets, on one line, not too long."""
    if not isinstance(text, str) or not text:
        return ""
    said = neutralise(text[: most * 8])
    if suspicious(said):
        said = redact(said)
    short = cut(said, most)
    return short if len(short) == len(said) and len(text) <= most * 8 else short + "…"


def lasting(seconds: float) -> str:
    """A length of time in words, as exactly as one would say it."""
    if seconds < 0.0005:
        return "no time"
    if seconds < 0.9995:
        return counted(max(1, round(seconds * 1000)), "millisecond")
    if seconds < 59.95:
        number = f"{seconds:.1f}".removesuffix(".0")
        return f"{number} second{'' if number == '1' else 's'}"
    return span(round(seconds))


def counted(number: int, noun: str) -> str:
    """``no events``, ``1 event``, ``2 events``."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"
