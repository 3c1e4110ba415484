"""Events as a subscriber of the suite received them, and what they say about the need for consent."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ...protocol.codec import canonical_type
from ..messages import JsonObject, shorten_type

__all__ = ["SESSION_END_TYPES", "ConsentTracker", "ObservedEvent", "PaceTracker", "needs_consent"]

SESSION_END_TYPES: Final = ("session.completed", "session.errored", "session.cancelled")


_MAX_PATIENCE: Final = 120.0  # seconds
_MAX_ANNOUNCED: Final = 600.0  # seconds that an agent is believed to be busy, if it says so
_MAX_WAITS_WITHOUT_END: Final = 3


class ObservedEvent(msgspec.Struct):
    """
    An event that a subscriber received, and when.

    ``frame_id`` and ``frame_name`` are the fields ``id`` and ``event`` of the
    server-sent event that carried it; empty if it had none.
    """

    received_at: float
    raw: bytes
    message: JsonObject
    frame_id: str = ""
    frame_name: str = ""

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


class PaceTracker:
    """
    How fast the agent works, by the events of its sessions: how long it is silent, and how long it says it will be.

    A session that waits for an answer is not slow, so the time until it gets one does not count.
    """

    def __init__(self, patience: float) -> None:
        self._given_patience = patience
        self._longest_silence = 0.0
        self._last_activity: dict[str, float] = {}  # by session id: when its last event or the last reply to it was
        self._busy_until: dict[str, float] = {}  # by session id: until when it said that it will work
        self._asking_sessions: set[str] = set()
        self._open_sessions: set[str] = set()
        self._waits_without_end = 0  # waits in vain since a session has last ended
        self.vain_wait_count = 0
        self.ended_count = 0

    @property
    def patience(self) -> float:
        """How long the agent may be silent: as long as was given, and twice as long as it is known to be."""
        return max(self._given_patience, min(2 * self._longest_silence, _MAX_PATIENCE))

    @property
    def is_any_end_in_sight(self) -> bool:
        """Whether it is worth waiting for the end of a session: several were waited for, and none has come."""
        return self._waits_without_end < _MAX_WAITS_WITHOUT_END

    @property
    def unfinished_sessions(self) -> set[str]:
        """The ids of the sessions that are open and do not wait for an answer."""
        return self._open_sessions - self._asking_sessions

    @property
    def is_every_session_open(self) -> bool:
        """Whether sessions were begun and none has ended."""
        return bool(self._open_sessions) and not self.ended_count

    def observe(self, event: ObservedEvent) -> None:
        """Note an event that the main subscriber received."""
        session_id = event.session_id
        last_activity = self._last_activity.get(session_id)
        if last_activity is not None and session_id in self.unfinished_sessions:
            self._longest_silence = max(self._longest_silence, event.received_at - last_activity)
        self._last_activity[session_id] = event.received_at
        if event.type == "session.started":
            self._open_sessions.add(session_id)
        elif event.type in SESSION_END_TYPES and session_id in self._open_sessions:
            self._open_sessions.discard(session_id)
            self.ended_count += 1
            self._waits_without_end = 0
        if event.type.startswith("awaiting.") or event["to_state"] == "awaiting_input":
            self._asking_sessions.add(session_id)
        else:
            self._asking_sessions.discard(session_id)
        for member in ("expected_duration_ms", "eta_ms"):
            milliseconds = event[member]
            if isinstance(milliseconds, (int, float)):
                self._busy_until[session_id] = event.received_at + min(milliseconds / 1000, _MAX_ANNOUNCED)

    def note_reply(self, session_id: str, now: float) -> None:
        """Note that a session got a reply: from now on it is the agent that others wait for."""
        if session_id in self._last_activity:
            self._asking_sessions.discard(session_id)
            self._last_activity[session_id] = now

    def note_vain_wait(self) -> None:
        """Note that something was waited for that did not come."""
        self.vain_wait_count += 1
        self._waits_without_end += 1

    def find_deadline(self, session_id: str, since: float) -> float:
        """Return until when a session may be silent that was last heard of, by whoever waits, at ``since``."""
        last_activity = max(since, self._last_activity.get(session_id, 0.0))
        return max(last_activity, self._busy_until.get(session_id, 0.0)) + self.patience

    def find_last_activity(self) -> float:
        """Return when an unfinished session was last heard of; 0.0 if there is none."""
        return max((self._last_activity[session_id] for session_id in self.unfinished_sessions), default=0.0)


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
