"""The registry of a hub's subscriptions, looked up by id and by peer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from ..identity.peer import LOCAL_PRINCIPAL, Peer
from ..runtime.background import Waitable
from .face import NO_SUCH_SUBSCRIPTION, SubscriptionGone, UnknownSubscription
from .sessions import SessionSource, remember_bounded
from .stream import Subscription

__all__ = ["SubscriptionRegistry"]

_log: Final = logging.getLogger("aaep.hub")


class SubscriptionRegistry:
    """The subscriptions of a hub. Changed on its loop; read from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, Subscription] = {}
        self._ended: dict[str, str] = {}  # with their principals (CF-092)
        self._waiting: list[tuple[bool, Waitable[str]]] = []
        self.watchers: set[Callable[[], None]] = set()  # called on the loop when who can answer may have changed

    def __len__(self) -> int:
        return len(self._active)

    def count_taken_places(self, peer: Peer, places: int, max_of_principal: int | None) -> int:
        """
        Return how many places are taken, as this peer is told: all of them once it has its share.

        That is ``max_of_principal`` if there is such a limit. Without one, nobody takes more
        than are then left for all others, so there is always one for who has none; but the
        machine's own user may take all (T4).
        """
        if peer.principal == LOCAL_PRINCIPAL and max_of_principal is None:
            return len(self)
        own = sum(subscription.peer.principal == peer.principal for subscription in self.all())
        share = max(1, places - len(self)) if max_of_principal is None else max_of_principal
        return len(self) if own < share else max(places, len(self))

    def by_id(self, subscription_id: str) -> Subscription | None:
        """Return a subscription, whichever peer has it."""
        return self._active.get(subscription_id)

    def all(self) -> list[Subscription]:
        """Return a list of all subscriptions."""
        with self._lock:
            return [*self._active.values()]

    def find_hearing(self, source: SessionSource) -> list[Subscription]:
        """Return the subscriptions that may hear a session (CF-145)."""
        audience = source.audience
        return [subscription for subscription in self.all() if subscription.peer.may_hear(audience)]

    def add(self, subscription: Subscription) -> None:
        """Add a subscription that begins."""
        with self._lock:
            self._active[subscription.id] = subscription
        peer = subscription.peer
        _log.info("A reader of %r came over %s: %r.", peer.principal, peer.transport, subscription.subscriber_id)
        self._call_watchers()

    def remove(self, subscription: Subscription) -> bool:
        """Remove a subscription; return False if it was gone already."""
        principal = subscription.peer.principal
        with self._lock:
            if self._active.pop(subscription.id, None) is None:
                return False
            if not subscription.is_bare:
                remember_bounded(self._ended, subscription.id, principal)
        _log.info("A reader of %r is gone: %r.", principal, subscription.subscriber_id)
        self._call_watchers()
        return True

    def find(self, subscription_id: str, peer: Peer) -> Subscription | None:
        """
        Return a subscription of this peer, by the principal that the transport has proved (CF-065).

        One person in another role counts as another peer: what one may hear, the other may not (CF-142).
        """
        subscription = self._active.get(subscription_id)
        if subscription is None or subscription.is_bare:
            return None
        owner = subscription.peer
        is_owner = owner is peer or (owner.principal, owner.roles) == (peer.principal, peer.roles)
        return subscription if is_owner else None

    def get(self, subscription_id: str, peer: Peer) -> Subscription:
        """Return a subscription of this peer, or raise an error that says whether it ever had it."""
        subscription = self.find(subscription_id, peer)
        if subscription is not None:
            return subscription
        if self._ended.get(subscription_id) == peer.principal:
            raise SubscriptionGone("This subscription has ended. Subscribe again.")
        raise UnknownSubscription(NO_SUCH_SUBSCRIPTION)

    def wait_for_reader(self, *, replies: bool) -> Waitable[str]:
        """Return, now or later, the id of a subscription with a reader; one that may answer, if ``replies``."""
        found: Waitable[str] = Waitable()
        with self._lock:
            for subscription in self._active.values():
                if subscription.writer is not None and (subscription.may_reply or not replies):
                    found.set_result(subscription.id)
                    return found
            self._waiting.append((replies, found))
        return found

    def reader_connected(self, subscription: Subscription) -> None:
        """Wake the callers that wait for such a reader."""
        if subscription.writer is None:
            return
        with self._lock:
            ready = [found for replies, found in self._waiting if subscription.may_reply or not replies]
            self._waiting = [entry for entry in self._waiting if entry[1] not in ready]
        for found in ready:
            found.set_result(subscription.id)
        self._call_watchers()

    def _call_watchers(self) -> None:
        for watch in [*self.watchers]:
            watch()
