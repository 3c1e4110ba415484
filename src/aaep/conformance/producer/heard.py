"""What is heard of a producer, and what it says of the producer's tools."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

__all__ = ["PREFIX", "Heard", "Json", "Tools", "consequential", "content"]

Json = dict[str, Any]
PREFIX: Final = "aaep:agent."


def content(raw: bytes) -> Json:
    """What a message holds; nothing if it is none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class Heard(msgspec.Struct):
    """A message that came, and when."""

    at: float
    raw: bytes
    message: Json
    id: str = ""

    @property
    def type(self) -> str:
        kind = self.message.get("type")
        return kind.removeprefix(PREFIX) if isinstance(kind, str) else ""

    @property
    def session(self) -> str:
        return str(self.message.get("session_id", ""))

    @property
    def critical(self) -> bool:
        return self.message.get("urgency") == "critical" or self.type.startswith("awaiting.")

    def __getitem__(self, name: str) -> Any:
        return self.message.get(name)


def consequential(event: Heard) -> bool:
    """C-40: whether a call says of itself that it needs consent."""
    return event["irreversible"] is True or event["risk_level"] == "high"


class Tools:
    """
    Which tools need consent, by all that was heard in a run.

    A call that is not allowed can be made under a new id and be called
    harmless (C-38: only the id links it to its question). So what the tool was
    in another call counts too: what was asked about, or was irreversible or of
    high risk once, is not harmless when nobody agrees. But a tool that was
    called as harmless before it was asked about, in the same session, is one
    whose calls differ, and each is taken for what it says.
    """

    def __init__(self) -> None:
        self._grave: set[str] = set()
        self.mixed: set[str] = set()  # whose calls differ
        self._asked: set[str] = set()  # sessions that have asked for a yes
        self._early: set[tuple[str, str]] = set()  # a session, and a tool called as harmless before that

    def learn(self, heard: Heard) -> None:
        if heard.type == "tool.invoked":
            tool = _name(heard["tool"])
            if consequential(heard):
                self._needs(heard.session, tool)
            elif heard.session not in self._asked:
                self._early.add((heard.session, tool))
        elif heard.type == "awaiting.confirmation":
            self._asked.add(heard.session)
            if heard["default_decision"] != "accept":  # then it may be done when nobody can be asked (CAP-015)
                self._needs(heard.session, _about(heard))

    def _needs(self, session: str, tool: str) -> None:
        self._grave.add(tool)
        if (session, tool) in self._early:
            self.mixed.add(tool)

    def grave(self, event: Heard, prompt: Heard | None = None) -> bool:
        """Whether a call does what needs consent, or what a question is about, whatever it says of itself."""
        if event.type != "tool.invoked":
            return False
        tool = _name(event["tool"])
        known = tool in self._grave or (prompt is not None and tool == _about(prompt))
        return consequential(event) or (bool(tool) and known and tool not in self.mixed)


def _about(prompt: Heard) -> str:
    """The tool that a question is about, if it says."""
    about = prompt["extra_context"]
    return _name(about.get("tool")) if isinstance(about, dict) else ""


def _name(tool: object) -> str:
    return tool if isinstance(tool, str) else ""
