"""A session that asks and remembers what it is told, behind a real hub: for tests of transports."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any, Literal

from aaep.hub.hub import Hub
from aaep.hub.sessions import SessionSnapshot
from aaep.hub.settings import HubSettings
from aaep.hub.stream import Subscription
from aaep.journal.memory import MemoryJournal
from aaep.protocol import codec
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.events import AwaitingConfirmation, Envelope, OutputStreaming, ProducerInfo
from aaep.protocol.messages import Reply
from aaep.protocol.negotiation import Offer

WAIT = 60.0  # seconds that a broken build may keep a test waiting
PRODUCER = ProducerInfo(agent_id="bank", agent_name="Bank")
OFFER = Offer(producer=PRODUCER, namespaces=(ATTEND.namespace,))
ANSWERS: dict[str, Any] = {
    "supports_confirmation_reply": True,
    "supports_clarification_reply": True,
    "supported_conformance_levels": [1, 2, 3],
    "supported_extensions": [ATTEND.namespace],
}


def hub(offer: Offer = OFFER, **settings: Any) -> Hub:
    return Hub(offer, MemoryJournal(), settings=HubSettings(**settings))


def request(**capabilities: Any) -> dict[str, Any]:
    return {
        "type": "subscription.request",
        "aaep_version": "1.0.0",
        "subscriber_id": "test",
        "subscriber_name": "A test",
        "capabilities": {**ANSWERS, **capabilities},
    }


def reply(subscription_id: str, token: str, decision: str = "accept", **changes: Any) -> dict[str, Any]:
    return {
        "type": "confirmation.reply",
        "reply_token": token,
        "decision": decision,
        "subscription_id": subscription_id,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z",
    } | changes


def parting(subscription_id: str) -> dict[str, Any]:
    return {"type": "subscription.close", "subscription_id": subscription_id, "reason_code": "subscriber_shutdown"}


def renegotiation(subscription_id: str, **capabilities: Any) -> dict[str, Any]:
    return {"type": "subscription.renegotiate", "subscription_id": subscription_id, "capabilities": capabilities}


class Asker:
    """One session. Its questions are critical, so that they are sent at once and as they are."""

    session_id = "sess_1"
    audience: frozenset[str] | None = None

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.count = 0
        self.replies: list[tuple[Reply, str]] = []
        self.heard = threading.Event()
        self.gone = threading.Event()
        hub.open_session(self)

    def join(self, subscription: Subscription) -> SessionSnapshot:
        return SessionSnapshot(started=None, pending_prompts=[], state=None)

    def terms_changed(self, subscription: Subscription) -> None: ...

    def subscription_ended(self, subscription_id: str) -> None:
        self.gone.set()

    def owns_token(self, token: str) -> bool:
        return token.startswith("rpl_")

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        raise AssertionError("nobody asked for it")

    def reply(self, message: Reply, via: str) -> None:
        self.replies.append((message, via))
        self.heard.set()

    def ask(self, action: str = "Pay the bill.") -> Envelope:
        members = self._members()
        return self._publish(
            AwaitingConfirmation(
                **members,
                action=action,
                consequence="Money moves.",
                reply_token=f"rpl_{self.count:032}",
                timeout_seconds=60,
                default_decision="reject",
            )
        )

    def say(self, text: str) -> Envelope:
        """Output that nothing else can be merged with."""
        members = self._members()
        return self._publish(
            OutputStreaming(
                **members,
                chunk=text,
                position=0,
                complete=True,
                output_id=f"out_{self.count}",
                coalesce_hint="completion",
            )
        )

    def _members(self) -> dict[str, Any]:
        self.count += 1
        return {
            "event_id": f"evt_{self.count}",
            "session_id": self.session_id,
            "timestamp": f"2026-05-24T14:22:11.{self.count:06}Z",
            "producer": PRODUCER,
        }

    def _publish(self, event: Envelope) -> Envelope:
        data = codec.encode(event)
        self.hub.journal.append(event.event_id, event.session_id, data, at=float(self.count))
        self.hub.publish(self, event, data)
        return event
