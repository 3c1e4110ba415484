"""What a played producer tells: events as plain members, so that they can be wrong as well as right."""

from __future__ import annotations

import time
from typing import Any, Final

from ...protocol.fields import AAEP_VERSION, CORE_CONTEXT
from ...runtime.ids import identifier, timestamp
from ..producer.heard import PREFIX, Json

__all__ = ["PRODUCER", "Session"]

PRODUCER: Final = {"agent_id": "played-agent", "agent_name": "Played agent", "agent_version": "1.0.0"}


class Session:
    """One session of a played producer. What it gives back is not sent yet."""

    def __init__(self) -> None:
        self.id = identifier("sess_")

    def event(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> Json:
        """An event. ``kind`` is the end of a core type's name, or a whole name; None leaves a member out."""
        event: Json = {
            "@context": CORE_CONTEXT,
            "aaep_version": AAEP_VERSION,
            "type": kind if ":" in kind else PREFIX + kind,
            "event_id": identifier("evt_"),
            "session_id": self.id,
            "timestamp": timestamp(time.time()),
            "producer": PRODUCER,
            "verbosity": "normal",
            "urgency": urgency,
            "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
            **{f"summary_{length}": text for length in ("terse", "normal", "detailed") if "chunk" not in members},
            **members,
        }
        return {name: value for name, value in event.items() if value is not None}

    def started(self, text: str = "Working on a letter.", **members: Any) -> Json:
        return self.event("session.started", text, **members)

    def completed(self, text: str = "The letter is written.", **members: Any) -> Json:
        return self.event("session.completed", text, duration_ms=1000, **members)

    def errored(self, text: str = "The printer is on fire.", **members: Any) -> Json:
        given: Json = {"error_category": "tool_error", "error_code": "printer.fire", "recoverable": False, **members}
        return self.event("session.errored", text, "critical", **given)

    def cancelled(self, text: str = "The letter was stopped.", **members: Any) -> Json:
        given: Json = {"cancelled_by": "user", "cancellation_reason": "user_request", **members}
        return self.event("session.cancelled", text, **given)

    def state(self, to: str, text: str, before: str = "thinking", **members: Any) -> Json:
        return self.event("state.changed", text, from_state=before, to_state=to, **members)

    def tool(self, text: str, **members: Any) -> Json:
        given: Json = {
            "tool": "post_office",
            "tool_call_id": identifier("call_"),
            "risk_level": "low",
            "irreversible": False,
            **members,
        }
        return self.event("tool.invoked", text, **given)

    def chunk(self, text: str, position: int, hint: str, output: str, *, complete: bool = False) -> Json:
        return self.event(
            "output.streaming",
            "",
            chunk=text,
            position=position,
            coalesce_hint=hint,
            output_id=output,
            complete=complete,
            content_type="text/plain",
        )

    def confirm(self, action: str, token: str = "", **members: Any) -> Json:
        """A question for a yes or a no about something that does little harm."""
        given: Json = {
            "action": action,
            "consequence": f"{action} This can be undone.",
            "reply_token": token or identifier("rpl_"),
            "timeout_seconds": 60,
            "default_decision": "reject",
            "risk_level": "low",
            "irreversible": False,
            "reversibility": "reversible",
            **members,
        }
        return self.event("awaiting.confirmation", action, "critical", **given)

    def ask(self, question: str, *kinds: str, **members: Any) -> Json:
        """A question for an answer."""
        given: Json = {
            "question": question,
            "reply_token": identifier("rpl_"),
            "timeout_seconds": 60,
            "accepted_response_kinds": [*kinds],
            **members,
        }
        return self.event("awaiting.clarification", question, "critical", **given)

    def handoff(self, text: str) -> Json:
        return self.event("handoff.requested", text, "critical", reason=text, target_kind="human")
