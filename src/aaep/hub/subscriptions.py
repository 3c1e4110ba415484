"""Which subscriptions there are, and whose."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from ..identity.peer import LOCAL_PRINCIPAL, Peer
from ..runtime.background import Waitable
from .face import SubscriptionGone, UnknownSubscription
from .sessions import SessionSource, remember_bounded
from .stream import Subscription

__all__ = ["SubscriptionRegistry"]

_log: Final = logging.getLogger("aaep.hub")


class SubscriptionRegistry:
    """The subscriptions of a hub. Changed on its loop; read from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, Subscription] = {}
        self._ended: dict[str, str] = {}  # and their principals (CF-092)
        self._awaited: list[tuple[bool, Waitable[str]]] = []
        self.watchers: set[Callable[[], None]] = set()  # called on the loop when who can answer may have changed

    def __len__(self) -> int:
        return len(self._active)

    def count_taken_places(self, peer: Peer, most: int) -> int:
        """
        How many places of ``most`` are taken, as this peer is told.

        The last tenth is for those who have less than a tenth, so that nobody can take all of them; but the
        machine's own user may.
        """
        spare = most // 10
        if spare == 0 or peer.principal == LOCAL_PRINCIPAL:
            return len(self)
        own = sum(one.peer.principal == peer.principal for one in self.all())
        return len(self) + (spare if own >= spare else 0)

    def by_id(self, subscription_id: str) -> Subscription | None:
        """Find a subscription, whoever asks."""
        return self._active.get(subscription_id)

    def all(self) -> list[Subscription]:
        with self._lock:
            return [*self._active.values()]

    def find_hearing(self, source: SessionSource) -> list[Subscription]:
        """Those who may hear a session, and answer it if their terms say so (CF-145)."""
        audience = source.audience
        return [one for one in self.all() if one.peer.may_hear(audience)]

    def add(self, one: Subscription) -> None:
        with self._lock:
            self._active[one.id] = one
        _log.info("A reader of %r came over %s: %r.", one.peer.principal, one.peer.transport, one.subscriber_id)
        self._changed()

    def remove(self, one: Subscription) -> bool:
        """Take one off; False if it was not there any more."""
        with self._lock:
            if self._active.pop(one.id, None) is None:
                return False
            if not one.is_bare:
                remember_bounded(self._ended, one.id, one.peer.principal)
        _log.info("A reader of %r is gone: %r.", one.peer.principal, one.subscriber_id)
        self._changed()
        return True

    def find(self, subscription_id: str, peer: Peer) -> Subscription | None:
        """
        A subscription of this peer, by the principal that the transport has proved (CF-065).

        The same person in another role is somebody else: what one may hear, the other may not (CF-142).
        """
        one = self._active.get(subscription_id)
        if one is None or one.is_bare:
            return None
        its = one.peer
        return one if its is peer or (its.principal, its.roles) == (peer.principal, peer.roles) else None

    def get(self, subscription_id: str, peer: Peer) -> Subscription:
        """The same, or an error that says whether there ever was one."""
        one = self.find(subscription_id, peer)
        if one is not None:
            return one
        if self._ended.get(subscription_id) == peer.principal:
            raise SubscriptionGone("This subscription has ended. Subscribe again.")
        raise UnknownSubscription("There is no such subscription. Subscribe first.")

    def wait_for_reader(self, *, replies: bool) -> Waitable[str]:
        """The id of a subscription that somebody reads, and may answer if that is asked for; now or later."""
        later: Waitable[str] = Waitable()
        with self._lock:
            for one in self._active.values():
                if one.writer is not None and (one.may_reply or not replies):
                    later.set_result(one.id)
                    return later
            self._awaited.append((replies, later))
        return later

    def reader_connected(self, one: Subscription) -> None:
        """Tell those who wait for a reader, if this is one."""
        if one.writer is None:
            return
        with self._lock:
            ready = [later for replies, later in self._awaited if one.may_reply or not replies]
            self._awaited = [pair for pair in self._awaited if pair[1] not in ready]
        for later in ready:
            later.set_result(one.id)
        self._changed()

    def _changed(self) -> None:
        for watch in [*self.watchers]:
            watch()
