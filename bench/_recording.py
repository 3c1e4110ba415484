"""Recordings for the benchmarks: many sessions, all twelve event types, made from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

PRODUCER = {
    "agent_id": "bank-assistant",
    "agent_version": "2.1.0",
    "agent_name": "Bank Assistant",
    "model": "scripted-1",
    "manifest_uri": "https://bank.example/.well-known/aaep-manifest.json",
}
HINTS = {"primary_language": "en-US", "text_direction": "ltr", "available_languages": ["en-US", "es-419"]}
TOOLS = ("check_balance", "list_statements", "find_branch", "read_rates", "draft_letter")
WORDS = (
    "your account holds more than last month because the rent came late and the refund arrived early so the "
    "balance of savings and checking together is higher than the plan for this year says it should be by now"
).split()


class Writer:
    """Writes one session after another, as our own producer would."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = datetime(2026, 5, 24, 8, tzinfo=UTC)
        self.session = ""

    def id(self, prefix: str) -> str:
        return f"{prefix}_{self.random.getrandbits(128):032x}"

    def text(self, least: int, most: int) -> str:
        chosen = self.random.choices(WORDS, k=self.random.randint(least, most))
        return " ".join(chosen).capitalize() + "."

    def event(self, type_: str, urgency: str = "normal", **payload: Any) -> bytes:
        self.now += timedelta(milliseconds=self.random.randint(20, 400))
        event = {
            "@context": "https://aaep-protocol.org/context/v1",
            "aaep_version": "1.0.0",
            "type": f"aaep:agent.{type_}",
            "event_id": self.id("evt"),
            "session_id": self.session,
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "producer": PRODUCER,
            "verbosity": "normal",
            "urgency": urgency,
            "localization_hints": HINTS,
        }
        return msgspec.json.encode(event | payload)

    def summaries(self) -> dict[str, str]:
        return {
            "summary_terse": self.text(1, 3),
            "summary_normal": self.text(6, 12),
            "summary_detailed": self.text(14, 30),
        }

    def state(self, left: str, entered: str) -> bytes:
        return self.event("state.changed", "background", from_state=left, to_state=entered, **self.summaries())

    def tool(self) -> Iterator[bytes]:
        tool, call = self.random.choice(TOOLS), self.id("call")
        yield self.state("thinking", "calling_tool")
        about = {"description": "Reads what the bank knows.", "args_summary": f"month: {self.random.randint(1, 12)}"}
        rated: dict[str, Any] = {"expected_duration_ms": 2000, "risk_level": "low", "irreversible": False}
        yield self.event("tool.invoked", tool=tool, tool_call_id=call, **about, **self.summaries(), **rated)
        for step in range(1, self.random.randint(1, 3)):
            progress = {"percent": step * 25, "step": step, "total_steps": 4, "description": self.text(2, 5)}
            yield self.event("progress.updated", "background", progress=progress, **self.summaries(), eta_ms=1500)
        took = self.random.randint(200, 4000)
        done: dict[str, Any] = {"tool": tool, "tool_call_id": call, "status": "success", "duration_ms": took}
        yield self.event("tool.completed", **done, **self.summaries())
        yield self.state("calling_tool", "thinking")

    def output(self) -> Iterator[bytes]:
        yield self.state("thinking", "writing_output")
        output, position, count = self.id("out"), 0, self.random.randint(6, 30)
        for number in range(1, count + 1):
            chunk = self.text(8, 20) + " "
            last = number == count
            hint = "completion" if last else "sentence"
            piece: dict[str, Any] = {"chunk": chunk, "position": position, "complete": last, "coalesce_hint": hint}
            yield self.event("output.streaming", **piece, output_id=output, content_type="text/plain")
            position += len(chunk)
        yield self.state("writing_output", "thinking")

    def question(self) -> Iterator[bytes]:
        yield self.state("thinking", "awaiting_input")
        choices = [{"value": "holiday", "label": "Holiday savings"}, {"value": "house", "label": "House savings"}]
        asked: dict[str, Any] = {"question": self.text(5, 9), "reply_token": self.id("rpl"), "timeout_seconds": 120}
        kinds: dict[str, Any] = {
            "accepted_response_kinds": ["multiple_choice"],
            "choices": choices,
            "context": self.text(5, 9),
        }
        yield self.event("awaiting.clarification", "critical", **asked, **self.summaries(), **kinds)
        yield self.state("awaiting_input", "thinking")

    def confirmation(self) -> Iterator[bytes]:
        yield self.state("thinking", "awaiting_input")
        asked: dict[str, Any] = {
            "action": self.text(8, 12),
            "consequence": self.text(8, 12),
            "reply_token": self.id("rpl"),
        }
        rated: dict[str, Any] = {"risk_level": "high", "irreversible": True, "reversibility": "irreversible"}
        about: dict[str, Any] = {"extra_context": {"tool": "transfer_funds", "tool_call_id": self.id("call")}}
        wait: dict[str, Any] = {"timeout_seconds": 300, "default_decision": "reject"}
        yield self.event("awaiting.confirmation", "critical", **asked, **wait, **self.summaries(), **rated, **about)
        yield self.state("awaiting_input", "thinking")

    def ending(self) -> Iterator[bytes]:
        how = self.random.random()
        if how < 0.85:
            yield self.event("session.completed", **self.summaries(), output_summary=self.text(5, 9))
        elif how < 0.92:
            failed = {"error_category": "transient", "error_code": "BANK_UNREACHABLE"}
            yield self.event("session.errored", "critical", **failed, **self.summaries(), recoverable=True)
        elif how < 0.96:
            why = {"cancelled_by": "user", "cancellation_reason": "user_pressed_escape"}
            yield self.event("session.cancelled", **why, **self.summaries())
        else:
            yield self.state("thinking", "handing_off")
            target = {"reason": self.text(6, 10), "target_kind": "human"}
            yield self.event("handoff.requested", "critical", **target, **self.summaries())
            yield self.event("session.completed", **self.summaries())

    def one_session(self) -> Iterator[bytes]:
        self.session = self.id("sess")
        asked: dict[str, Any] = {
            "requested_by": "user:amara",
            "request_text": self.text(5, 12),
            "tools_available": [*TOOLS],
        }
        yield self.event("session.started", **self.summaries(), expected_duration_ms=30_000, **asked)
        yield self.state("idle", "thinking")
        for _ in range(self.random.randint(2, 5)):
            yield from self.tool()
        if self.random.random() < 0.25:
            yield from self.question()
        if self.random.random() < 0.25:
            yield from self.confirmation()
        for _ in range(self.random.randint(1, 2)):
            yield from self.output()
        yield from self.ending()


def recording(count: int, seed: int = 1) -> Iterator[bytes]:
    """That many events, one JSON object each, in whole sessions except perhaps the last."""
    writer = Writer(seed)
    while True:
        for event in writer.one_session():
            if count == 0:
                return
            count -= 1
            yield event
