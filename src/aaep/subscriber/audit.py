"""
Judging what a subscriber receives, beside the stream and never in its way.

Findings are told and kept, the newest of them; nothing here stops an event
from reaching its reader.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ..errors import Violation
from ..protocol import codec
from ..protocol.attend_extension import attend_member
from ..protocol.audit import Audit, Finding
from ..protocol.events import TERMINAL, AwaitingClarification, AwaitingConfirmation, SessionStarted
from ..protocol.extensions import Registry
from ..protocol.fields import Message
from ..protocol.timestamps import is_later
from .deduplicate import ReceivedEvent

__all__ = ["StreamAudit"]

log: Final = logging.getLogger("aaep.subscriber")

_MAX_FINDINGS: Final = 1000
_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)


class StreamAudit:
    """The audit of one subscriber's stream, over all its connections."""

    def __init__(self, registry: Registry, on_finding: Callable[[Finding], None] | None) -> None:
        self.audit = Audit(registry)
        self.findings: deque[Finding] = deque(maxlen=_MAX_FINDINGS)
        self._on_finding = on_finding
        self._active_sessions: set[str] = set()  # sessions that went on since the connection began
        # Prompts that were sent ahead of what came before them, when they came, and what was reported of them.
        self._held_prompts: dict[str, list[tuple[ReceivedEvent, str, list[Finding]]]] = {}

    def read(self, raw: bytes) -> tuple[Message | None, Sequence[Violation]]:
        """Read a message and what is wrong with it; what cannot be read at all is reported, and the stream goes on."""
        message, violations = codec.read(raw, self.audit.registry)
        if message is None:
            self.audit.skip_unusable(raw)
            self.report_violations(violations or [Violation("VAL-001", "This is not a usable AAEP message.")])
        return message, violations

    def connection_began(self) -> None:
        """Note that a connection begins."""
        self._active_sessions.clear()

    def is_ahead(self, event: Message) -> bool:
        """Whether an event may stand before what came before it: some producers send open prompts first (CF-007)."""
        return isinstance(event, _PROMPTS) and event.session_id not in self._active_sessions

    def feed_event(self, received: ReceivedEvent, at: str) -> None:
        """
        Judge an event in the order in which it was sent.

        A prompt that was sent ahead is judged by itself now, and in its session
        when the rest has come. A catch-up says that something is missing: the
        session is known from there on.
        """
        event = received.event
        session_id = event.session_id
        if self.is_ahead(event):
            findings = self.audit.grade(received.violations, event.event_id, session_id)
            self._held_prompts.setdefault(session_id, []).append((received, at, findings))
            self._report(findings)
            return
        if not isinstance(event, SessionStarted):
            self._active_sessions.add(session_id)
        if attend_member(event, "resync"):
            self._held_prompts.pop(session_id, None)
            self.audit.open_sessions.pop(session_id, None)
        for held in self._held_prompts.pop(session_id, []):
            if is_later(held[0].event.timestamp, event.timestamp):
                self._held_prompts.setdefault(session_id, []).append(held)
            else:
                self._feed(*held)
        self._feed(received, at)
        if isinstance(event, TERMINAL):
            self._active_sessions.discard(session_id)
            self._held_prompts.pop(session_id, None)

    def feed(self, raw: bytes, at: str) -> Message | None:
        """Read and judge a message of the handshake, ours or the producer's."""
        message, violations = codec.read(raw, self.audit.registry)
        self._judge(lambda: self.audit.feed_message(message, violations, raw, at))
        return message

    def _feed(self, received: ReceivedEvent, at: str, reported: Iterable[Finding] = ()) -> None:
        """Judge an event in its session, and report what was not reported of it before."""
        event, raw, violations = received
        self._judge(lambda: self.audit.feed_message(event, violations, raw, at), reported)

    def _judge(self, judge: Callable[[], list[Finding]], reported: Iterable[Finding] = ()) -> None:
        before = {(finding.rule, finding.path) for finding in reported}
        try:
            findings = judge()
        except Exception:  # what judges must not silence what speaks
            log.exception("A message could not be judged. This is a bug.")
            return
        self._report(finding for finding in findings if (finding.rule, finding.path) not in before)

    def report_violations(self, violations: Iterable[Violation], event_id: str = "", session_id: str = "") -> None:
        """Report violations that were found elsewhere."""
        self._report(self.audit.grade(violations, event_id, session_id))

    def _report(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.findings.append(finding)
            if self._on_finding is not None:
                try:
                    self._on_finding(finding)
                except Exception:
                    log.exception("The report callback failed.")
