"""Events as a subscriber of the suite received them, and what they say about the need for consent."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ...protocol.codec import canonical_type
from ..messages import JsonObject, shorten_type

__all__ = ["SESSION_END_TYPES", "ConsentTracker", "ObservedEvent", "needs_consent"]

SESSION_END_TYPES: Final = ("session.completed", "session.errored", "session.cancelled")


class ObservedEvent(msgspec.Struct):
    """An event that a subscriber received, and when."""

    received_at: float
    raw: bytes
    message: JsonObject

    @property
    def type(self) -> str:
        """The type, without the prefix of core types."""
        return shorten_type(self.message.get("type"))

    @property
    def canonical_type(self) -> str:
        """The type as filters name it: with its prefix, even if the event spells it as a URI."""
        return canonical_type(str(self.message.get("type")))

    @property
    def session_id(self) -> str:
        """The id of its session; empty if it names none."""
        return str(self.message.get("session_id", ""))

    @property
    def is_critical(self) -> bool:
        """Whether it is urgent by its own account, or a prompt."""
        return self.message.get("urgency") == "critical" or self.type.startswith("awaiting.")

    @property
    def is_resync(self) -> bool:
        """Whether it repeats the present state for a subscriber that has just connected."""
        extensions = self["extensions"]
        members = extensions.get("attend") if isinstance(extensions, dict) else None
        return isinstance(members, dict) and members.get("resync") is True

    def __getitem__(self, name: str) -> Any:
        return self.message.get(name)


def needs_consent(event: ObservedEvent) -> bool:
    """C-40: whether a tool call needs consent by its own account."""
    return event["irreversible"] is True or event["risk_level"] == "high"


class ConsentTracker:
    """
    The tools that need consent, judged by all events of a run.

    A producer could make a call that was not allowed under a new id and declare
    it harmless (C-38: only the id links a call to its prompt). Therefore the
    other calls of the tool count too: a tool that was irreversible or of high
    risk once, or the subject of a prompt, needs consent always. The exception is a
    tool that the same session had called as harmless before it asked: its calls
    differ, and each is taken at its word.
    """

    def __init__(self) -> None:
        self._tools_requiring_consent: set[str] = set()
        self.mixed_tools: set[str] = set()  # tools whose calls differ
        self._prompted_sessions: set[str] = set()  # sessions that have asked for consent
        self._harmless_calls: set[tuple[str, str]] = (
            set()
        )  # session and tool, called as harmless before the session asked

    def observe(self, event: ObservedEvent) -> None:
        """Note what an event says about the tools of its session."""
        if event.type == "tool.invoked":
            tool = _to_text(event["tool"])
            if needs_consent(event):
                self._require_consent(event.session_id, tool)
            elif event.session_id not in self._prompted_sessions:
                self._harmless_calls.add((event.session_id, tool))
        elif event.type == "awaiting.confirmation":
            self._prompted_sessions.add(event.session_id)
            if event["default_decision"] != "accept":  # with accept it may be done when there is no replier (CAP-015)
                self._require_consent(event.session_id, _find_prompt_tool(event))

    def _require_consent(self, session_id: str, tool: str) -> None:
        self._tools_requiring_consent.add(tool)
        if (session_id, tool) in self._harmless_calls:
            self.mixed_tools.add(tool)

    def needs_consent(self, event: ObservedEvent, prompt: ObservedEvent | None = None) -> bool:
        """Whether an event is a call of a tool that needs consent or that the prompt is about."""
        if event.type != "tool.invoked":
            return False
        tool = _to_text(event["tool"])
        if needs_consent(event):
            return True
        if not tool or tool in self.mixed_tools:
            return False
        return tool in self._tools_requiring_consent or (prompt is not None and tool == _find_prompt_tool(prompt))


def _find_prompt_tool(prompt: ObservedEvent) -> str:
    """Return the tool that a prompt is about; empty if it does not say."""
    context = prompt["extra_context"]
    return _to_text(context.get("tool")) if isinstance(context, dict) else ""


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else ""
