"""
The state tables of the protocol: which order of events and messages it allows.

The tables do not know which side uses them, so both sides follow the same
rules. A transition that is missing from a table is forbidden, and
``BREACHED_RULES`` names the rule it breaks. The diagrams in ``docs/`` are drawn
from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from ..errors import Severity
from .events import (
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    HandoffRequested,
    OutputStreaming,
    ProgressUpdated,
    ToolInvoked,
)

__all__ = [
    "BREACHED_RULES",
    "CALL_TRANSITIONS",
    "FOLLOW_UP_RULES",
    "HANDSHAKE_TRANSITIONS",
    "IMPLIED_STATES",
    "LIFECYCLE_TRANSITIONS",
    "OUTCOME_TRANSITIONS",
    "OUTPUT_TRANSITIONS",
    "OUT_OF_BOUNDS_TEXTS",
    "PROMPT_TRANSITIONS",
    "WORK_EVENTS",
    "CallState",
    "OutputState",
]

# SEQ-001, SEQ-003, SEQ-004 §4.5.1: a session, by the kind of its events.
LIFECYCLE_TRANSITIONS: Final = {
    ("none", "started"): "active",
    ("active", "other"): "active",
    ("active", "terminal"): "ended",
}
# TOOL-010, TOOL-012 §4.5.2: one call.
CALL_TRANSITIONS: Final = {
    ("new", "invoked"): "running",
    ("running", "completed"): "done",
}
# OUT-003, OUT-005 §4.5.4: one output, by its chunks.
OUTPUT_TRANSITIONS: Final = {
    ("new", "chunk"): "open",
    ("new", "last"): "complete",
    ("open", "chunk"): "open",
    ("open", "last"): "complete",
}
# Chapter 6: one prompt. The first that happens decides (CONF-041); nothing leads out of an outcome.
PROMPT_TRANSITIONS: Final = {
    ("pending", "accept"): "accepted",
    ("pending", "reject"): "rejected",
    ("pending", "answer"): "answered",
    ("pending", "timeout"): "timed_out",
    ("pending", "withdraw"): "withdrawn",
    ("pending", "end"): "withdrawn",  # CF-027: any terminal event voids every token
}
# CF-025: the transition behind an outcome that our own extension reports.
OUTCOME_TRANSITIONS: Final = {"accepted": "accept", "rejected": "reject", "timed_out": "timeout", "answered": "answer"}
# SUB-004, SUB-005, SUB-057, SUB-058, SUB-068 chapter 5: one subscription. Without a handshake it stays bare (Level 1).
HANDSHAKE_TRANSITIONS: Final = {
    ("bare", "event"): "bare",
    ("bare", "request"): "requested",
    ("requested", "accepted"): "subscribed",
    ("requested", "rejected"): "declined",
    ("declined", "request"): "requested",
    ("subscribed", "event"): "subscribed",
    ("subscribed", "renegotiate"): "renegotiating",
    ("subscribed", "close"): "closed",
    ("renegotiating", "event"): "renegotiating",  # SUB-062: still under the old terms
    ("renegotiating", "accepted"): "subscribed",
    ("renegotiating", "rejected"): "refused",
    ("renegotiating", "close"): "closed",
}
BREACHED_RULES: Final[Mapping[tuple[str, str], str]] = {
    ("none", "other"): "SEQ-001",
    ("none", "terminal"): "SEQ-001",
    ("active", "started"): "SEQ-001",
    ("ended", "started"): "ENV-019",
    ("ended", "terminal"): "SEQ-003",
    ("ended", "other"): "SEQ-004",
    ("new", "completed"): "TOOL-010",
    ("running", "invoked"): "TOOL-004",
    ("done", "invoked"): "TOOL-004",
    ("done", "completed"): "TOOL-012",
    ("complete", "chunk"): "OUT-005",
    ("complete", "last"): "OUT-005",
    ("requested", "event"): "SUB-004",
    ("bare", "accepted"): "SUB-005",
    ("bare", "rejected"): "SUB-005",
    ("declined", "accepted"): "SUB-005",
    ("declined", "rejected"): "SUB-005",
    ("declined", "event"): "SUB-004",
    ("subscribed", "accepted"): "SUB-005",
    ("subscribed", "rejected"): "SUB-005",
    ("closed", "event"): "SUB-068",
    ("refused", "event"): "SUB-058",
}
OUT_OF_BOUNDS_TEXTS: Final = {
    "SEQ-001": "session.started comes a second time.",
    "ENV-019": "The session_id of a finished session is used again. Make a new one.",
    "SEQ-003": "The session has ended already; this is a second ending.",
    "SEQ-004": "The session has ended; nothing may follow.",
}
# C-35: the state an event implies, which a later state.changed may leave.
IMPLIED_STATES: Final[Mapping[type[Envelope], str]] = {
    ToolInvoked: "calling_tool",
    OutputStreaming: "writing_output",  # while it is not complete
    AwaitingConfirmation: "awaiting_input",
    AwaitingClarification: "awaiting_input",
    HandoffRequested: "handing_off",
}
# Events that may not directly follow the end of a prompt: HITL-019, HITL-022, CLAR-021, HITL-030.
WORK_EVENTS: Final = (ToolInvoked, ProgressUpdated, AwaitingConfirmation, AwaitingClarification)
FOLLOW_UP_RULES: Final[
    Mapping[tuple[str, bool], tuple[str, str]]
] = {  # kind, granted: rule for work, rule for the rest
    ("confirmation", True): ("HITL-022", "HITL-022"),
    ("confirmation", False): ("HITL-019", ""),
    ("clarification", True): ("CLAR-021", "HITL-030"),
    ("clarification", False): ("CLAR-021", "HITL-030"),
}

Fault = tuple[str, str, str, Severity | Literal[""]]  # rule, sentence, path, severity


class CallState:
    """The state of one tool call, by the table ``CALL_TRANSITIONS``, and the event that announced it."""

    __slots__ = ("agent", "event", "id", "stage", "tool")

    def __init__(self, event: ToolInvoked, agent: str, id: str) -> None:
        self.stage = CALL_TRANSITIONS["new", "invoked"]
        self.event = event
        self.tool = event.tool
        self.agent = agent
        self.id = id


class OutputState:
    """The state of one output, by the table ``OUTPUT_TRANSITIONS``, and the position its text has reached."""

    __slots__ = ("end", "last", "shift", "shifts", "stage")

    def __init__(self) -> None:
        self.stage = "new"
        self.last = 0  # where the last chunk began
        self.end = 0  # where it ended, in code points
        self.shifts = (0, 0)  # how much larger that is in UTF-16 units and in UTF-8 bytes (C-44)
        self.shift = 0  # the one that the producer counts by

    def find_faults(self, event: OutputStreaming) -> Iterator[Fault]:
        """Yield what is wrong with the next chunk. OUT-001, OUT-002, OUT-005 §4.3.3"""
        position = event.position
        expected = self.end + self.shift
        if (self.stage, "last" if event.complete else "chunk") not in OUTPUT_TRANSITIONS:
            yield "OUT-005", "The output is complete; no chunk may follow.", "", ""
        elif position == expected:
            return
        elif position < self.last:
            text = f"position {position} is before {self.last}, where the last chunk began."
            yield "OUT-002", text, "/position", ""
        elif position - self.end in self.shifts:
            units = ("UTF-16 units", "UTF-8 bytes")[self.shifts.index(position - self.end)]
            yield "OUT-001", f"Positions are counted in {units}.", "/position", "info"
        else:
            expectation = f"the chunk before ends at {expected}" if self.stage == "open" else "the first is 0"
            text = f"position is {position}; {expectation}."
            yield "OUT-001", text, "/position", ""

    def apply_chunk(self, event: OutputStreaming) -> None:
        """Apply the next chunk to the state."""
        start = event.position
        chunk = event.chunk
        if start != self.end + self.shift:
            if start - self.end in self.shifts:
                self.shift = start - self.end
            else:  # a gap or an overlap: continue from the position that the chunk states
                self.end = start
                self.shift = 0
                self.shifts = (0, 0)
        self.stage = OUTPUT_TRANSITIONS.get((self.stage, "last" if event.complete else "chunk"), self.stage)
        self.last = start
        length = len(chunk)
        self.end += length
        if not chunk.isascii():
            utf16_extra = sum(char > "\uffff" for char in chunk)
            utf8_extra = len(chunk.encode(errors="surrogatepass")) - length
            unit = self.shifts.index(self.shift) if self.shift else -1
            self.shifts = (self.shifts[0] + utf16_extra, self.shifts[1] + utf8_extra)
            self.shift = self.shifts[unit] if unit >= 0 else 0
