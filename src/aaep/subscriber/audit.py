"""
Judging what a subscriber receives, beside the stream and never in its way.

Findings are told and kept, the newest first to stay; nothing here stops an
event from reaching its reader.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from ..errors import ProtocolError, Violation
from ..protocol import codec
from ..protocol.attend_extension import attend_member
from ..protocol.audit import Audit, Finding
from ..protocol.events import TERMINAL, AwaitingClarification, AwaitingConfirmation, SessionStarted
from ..protocol.extensions import Registry
from ..protocol.fields import Message
from ..protocol.timestamps import is_later
from .deduplicate import Item

__all__ = ["Watch"]

log: Final = logging.getLogger("aaep.subscriber")

_MOST_FINDINGS: Final = 1000
_ASKING: Final = (AwaitingConfirmation, AwaitingClarification)


class Watch:
    """The audit of one subscriber's stream, over all its connections."""

    def __init__(self, known: Registry, report: Callable[[Finding], None] | None) -> None:
        self.audit = Audit(known)
        self.findings: deque[Finding] = deque(maxlen=_MOST_FINDINGS)
        self._report = report
        self._moving: set[str] = set()  # sessions that went on since the connection began
        self._ahead: dict[str, list[tuple[Item, str, list[Finding]]]] = {}

    def read(self, raw: bytes) -> Message | None:
        """A message, or None: what cannot be read is reported, and the stream goes on."""
        try:
            return codec.decode(raw, self.audit.registry)
        except ProtocolError as error:
            self.note(error.violations or [Violation("VAL-001", str(error))])
            return None

    def connected(self) -> None:
        """A connection begins."""
        self._moving.clear()

    def ahead(self, event: Message) -> bool:
        """Whether an event may stand before what came before it: prompts are sent again first (CF-091)."""
        return isinstance(event, _ASKING) and event.session_id not in self._moving

    def see(self, item: Item, at: str) -> None:
        """
        Judge an event in the order in which it was sent.

        A prompt that was sent ahead is judged by itself now, and in its session
        when the rest has come. A catch-up says that something is missing: the
        session is known from there on.
        """
        event, raw = item
        session = event.session_id
        if self.ahead(event):
            found = self.audit.grade(codec.read(raw, self.audit.registry)[1], event.event_id, session)
            self._ahead.setdefault(session, []).append((item, at, found))
            self._tell(found)
            return
        if not isinstance(event, SessionStarted):
            self._moving.add(session)
        if attend_member(event, "resync"):
            self._ahead.pop(session, None)
            self.audit.open_sessions.pop(session, None)
        waiting = self._ahead.pop(session, [])
        for one in waiting:
            if is_later(one[0][0].timestamp, event.timestamp):
                self._ahead.setdefault(session, []).append(one)
            else:
                self.judge(one[0][1], one[1], told=one[2])
        self.judge(raw, at)
        if isinstance(event, TERMINAL):
            self._moving.discard(session)
            self._ahead.pop(session, None)

    def judge(self, raw: bytes, at: str, told: Iterable[Finding] = ()) -> None:
        """Have the audit judge a message, and tell what it finds that was not told."""
        before = {(finding.rule, finding.path) for finding in told}
        try:
            found = self.audit.feed(raw, at)
        except Exception:  # who judges must not silence who speaks
            log.exception("A message could not be judged. This is a bug.")
            return
        self._tell(finding for finding in found if (finding.rule, finding.path) not in before)

    def note(self, violations: Iterable[Violation], event_id: str = "", session_id: str = "") -> None:
        """Tell of violations that were found elsewhere."""
        self._tell(self.audit.grade(violations, event_id, session_id))

    def _tell(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.findings.append(finding)
            if self._report is not None:
                try:
                    self._report(finding)
                except Exception:
                    log.exception("The report callback failed.")
