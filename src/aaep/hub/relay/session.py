"""
A session of an agent elsewhere, as a hub knows it: followed, kept for readers, and ended if its agent is gone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ...journal.base import Entry
from ...protocol import codec as bytes_
from ...protocol.events import Envelope, LocalizationHints, StateChanged
from ...protocol.fields import AAEP_VERSION, present
from ...protocol.messages import Reply
from ...protocol.session import SessionState
from ...runtime.ids import identifier, timestamp
from ...subscriber.replies import refuses
from ...text.summaries import STATES
from ..hub import Hub, SessionSnapshot
from ..recovery import caught_up, endings
from ..stream import Subscription
from .audience import Whose

if TYPE_CHECKING:  # a relay has sessions, and each knows its relay
    from .relay import Relay

__all__ = ["Relayed"]


class Relayed:
    """One session of an agent elsewhere, as far as it is known here."""

    def __init__(
        self, hub: Hub, session_id: str, whose: Whose, audience: frozenset[str] | None, relay: Relay | None = None
    ) -> None:
        """Without a relay it is one of an earlier run."""
        self.session_id, self.whose, self.audience = session_id, whose, audience
        self.last: Envelope | None = None
        self._hub, self._relay = hub, relay
        self._order = SessionState(session_id, whole=False)
        self._started: Envelope | None = None
        self._known: set[str] = set()  # what the journal had of it when this hub was started
        # What was answered before the agent was back: to each prompt, the last no and the last that is none.
        self._held: dict[tuple[str, bool], Reply] = {}
        self._stopped = False  # and whether it is to be stopped

    def keep(self, agent_id: str) -> None:
        """Have the journal know whose it is, before anything of it: for whoever opens that next."""
        data = self.whose.entry(agent_id)
        self._hub.journal.append(identifier("man_"), self.session_id, data, at=time.time())

    def recall(self, entries: Sequence[Entry]) -> None:
        """What the journal has of it."""
        for entry in entries:
            event = bytes_.read(entry.data, self._hub.offer.registry)[0]
            if isinstance(event, Envelope):
                self._known.add(event.event_id)
                self._follow(event)

    def adopt(self, relay: Relay) -> None:
        """Its agent has come back."""
        self._relay = relay
        if self._stopped:
            relay.stop(self.session_id)

    def take(self, event: Envelope) -> None:
        """Its next event: kept, then published."""
        if event.event_id in self._known:
            self._hand_over(present(event, "reply_token"))
            return
        data = bytes_.encode(event)
        self._hub.journal.append(event.event_id, self.session_id, data, at=time.time())
        self._follow(event)
        self._hub.publish(self, event, data)

    def _follow(self, event: Envelope) -> None:
        self._order.apply(event, 0.0)
        self._started = self._started or event
        self.last = event

    def abandon(self) -> None:
        """Its agent does not come back: everybody is told, and nothing of it is open any more."""
        if self.last is not None:
            for event in [*endings(self._order, self.last, time.time())]:
                self.take(event)

    def join(self, subscription: Subscription) -> SessionSnapshot:
        last = self.last
        if last is None:
            return SessionSnapshot()
        agent = self._order.agents.get(last.producer.agent_id)
        pending = [ask.event for ask in self._order.asks.values() if ask.outcome == "pending"]
        state = None
        if agent is not None and agent.state in STATES:
            state = _resync(last, agent.state)
        return SessionSnapshot(self._started, [*pending], state, last.event_id)

    def terms_changed(self, subscription: Subscription) -> None:
        self._refresh()

    def subscription_ended(self, subscription_id: str) -> None:
        self._refresh()

    def reply(self, message: Reply, via: str) -> None:
        if self._relay is None or not self._relay.forward(message):
            self._held[message.reply_token, refuses(message)] = message

    def _hand_over(self, token: Any) -> None:
        """The agent asks once more what was answered already. A no comes first."""
        for refusing in (True, False):
            message = self._held.pop((token, refusing), None)
            if message is not None and self._relay is not None:
                self._relay.forward(message)

    def _refresh(self) -> None:
        if self._relay is not None:
            self._relay.refresh()

    def owns_token(self, token: str) -> bool:
        return token in self._order.asks

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        self._stopped = True
        if self._relay is not None:
            self._relay.stop(self.session_id)


def _resync(last: Envelope, state: str) -> StateChanged:
    return caught_up(
        state,
        aaep_version=AAEP_VERSION,
        event_id=identifier("evt_"),
        session_id=last.session_id,
        timestamp=max(timestamp(time.time()), last.timestamp),
        producer=last.producer,
        localization_hints=LocalizationHints(primary_language="en", text_direction="ltr"),
    )
