"""
Which subscriptions there are, and whose.

* :exc:`UnknownSubscription`: there is none of that name for this peer
    * :exc:`SubscriptionGone`: there was
"""

from __future__ import annotations

import threading

from .channel import Later, Peer
from .errors import AaepError
from .fanout import Subscription
from .sources import Source, remember

__all__ = ["Roster", "SubscriptionGone", "UnknownSubscription"]


class UnknownSubscription(AaepError):
    """There is no such subscription for this peer. Subscribe first."""


class SubscriptionGone(UnknownSubscription):
    """The subscription has ended. Subscribe again (CF-092)."""


class Roster:
    """The subscriptions of a hub. Changed on its loop; read from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, Subscription] = {}
        self._ended: dict[str, str] = {}  # and their principals (CF-092)
        self._awaited: list[tuple[bool, Later[str]]] = []

    def __len__(self) -> int:
        return len(self._active)

    def everybody(self) -> list[Subscription]:
        with self._lock:
            return [*self._active.values()]

    def entitled(self, source: Source) -> list[Subscription]:
        """Those who may hear a session, and answer it if their terms say so (CF-145)."""
        audience = source.audience
        return [one for one in self.everybody() if audience is None or one.peer.principal in audience]

    def add(self, one: Subscription) -> None:
        with self._lock:
            self._active[one.id] = one

    def remove(self, one: Subscription) -> bool:
        """Take one off; False if it was not there any more."""
        with self._lock:
            if self._active.pop(one.id, None) is None:
                return False
            if not one.bare:
                remember(self._ended, one.id, one.peer.principal)
            return True

    def of(self, subscription_id: str, peer: Peer) -> Subscription | None:
        """A subscription of this peer, by the principal that the transport has proved (CF-065)."""
        one = self._active.get(subscription_id)
        return one if one is not None and not one.bare and one.peer.principal == peer.principal else None

    def known(self, subscription_id: str, peer: Peer) -> Subscription:
        """The same, or an error that says whether there ever was one."""
        one = self.of(subscription_id, peer)
        if one is not None:
            return one
        if self._ended.get(subscription_id) == peer.principal:
            raise SubscriptionGone("This subscription has ended. Subscribe again.")
        raise UnknownSubscription("There is no such subscription. Subscribe first.")

    def reader(self, *, replies: bool) -> Later[str]:
        """The id of a subscription that somebody reads, and may answer if that is asked for; now or later."""
        later: Later[str] = Later()
        with self._lock:
            for one in self._active.values():
                if one.outlet is not None and (one.answers or not replies):
                    later.settle(one.id)
                    return later
            self._awaited.append((replies, later))
        return later

    def settle(self, one: Subscription) -> None:
        """Tell those who wait for a reader, if this is one."""
        if one.outlet is None:
            return
        with self._lock:
            ready = [later for replies, later in self._awaited if one.answers or not replies]
            self._awaited = [pair for pair in self._awaited if pair[1] not in ready]
        for later in ready:
            later.settle(one.id)
