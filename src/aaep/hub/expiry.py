"""
How long the credential of a subscription, or of an agent at a hub, counts. CF-149

Each message is authenticated, yet a stream is one long answer, and a
connection may last for days. So a subscription is bound to the credential it
was made with, until one of the same principal in the same role takes its
place. One that can be taken back is looked at every now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from ..identity.peer import Peer
from ..protocol.messages import SubscriptionRejected
from ..protocol.negotiation import Offer
from .face import CREDENTIAL_EXPIRED
from .stream import Subscription

__all__ = ["MAY_NOT_LISTEN", "CredentialExpiry", "restrict_offer"]

CHECK_INTERVAL: Final = 15.0  # seconds between two looks at a credential that can be taken back
MAY_NOT_LISTEN: Final = "This credential is not for listening."
MAX_WAIT: Final = 3600.0  # a wall clock may be set: not to be slept through


class CredentialHolder(Protocol):
    """What is bound to a credential."""

    peer: Peer
    cancel_expiry: Callable[[], None] | None  # takes back the next look at it


class CredentialExpiry:
    """The credentials of all subscriptions and agents. On the loop only."""

    def __init__(
        self,
        clock: Callable[[], float],
        wall: Callable[[], float],
        at: Callable[[float, Callable[[], None]], Callable[[], None]],
        expired: Callable[[Subscription], None],
    ) -> None:
        """``expired`` is told of a subscription whose credential counts no longer."""
        self._clock, self._wall, self._at, self._expired = clock, wall, at, expired

    def is_valid(self, peer: Peer) -> bool:
        """Whether somebody still is who they were when they came."""
        if peer.expires_at is not None and self._wall() >= peer.expires_at:
            return False
        return peer.is_still_valid is None or peer.is_still_valid()

    def rejection_for(self, peer: Peer) -> SubscriptionRejected | None:
        """What somebody is told who may not subscribe."""
        if self.is_valid(peer) and not peer.may_listen:
            return SubscriptionRejected(reason_code="authorization_denied", reason_message=MAY_NOT_LISTEN)
        return self.expiry_rejection(peer)

    def expiry_rejection(self, peer: Peer) -> SubscriptionRejected | None:
        """What somebody is told who is no longer who they were."""
        return None if self.is_valid(peer) else CREDENTIAL_EXPIRED

    def watch(self, one: Subscription) -> None:
        """See to it that a subscription ends with its credential."""
        self.bind(one, lambda: self._expired(one))

    def bind(self, one: CredentialHolder, over: Callable[[], None]) -> None:
        """Have something called when a credential counts no longer."""
        self.drop(one)
        if one.peer.expires_at is None and one.peer.is_still_valid is None:
            return
        wait = MAX_WAIT if one.peer.is_still_valid is None else CHECK_INTERVAL
        if one.peer.expires_at is not None:
            wait = min(wait, max(0.0, one.peer.expires_at - self._wall()))
        one.cancel_expiry = self._at(self._clock() + wait, lambda: self._check(one, over))

    def _check(self, one: CredentialHolder, over: Callable[[], None]) -> None:
        if self.is_valid(one.peer):
            self.bind(one, over)
        else:
            over()

    def renew(self, one: Subscription, peer: Peer) -> None:
        """The same principal has shown a credential again: the one that lasts longer counts, if the old one does."""
        mine, theirs = one.peer.expires_at, peer.expires_at
        longer = mine is not None and (theirs is None or theirs > mine)
        if longer or not self.is_valid(one.peer):
            one.peer = msgspec.structs.replace(one.peer, expires_at=theirs, is_still_valid=peer.is_still_valid)
            self.watch(one)

    def drop(self, one: CredentialHolder) -> None:
        """It is over."""
        if one.cancel_expiry is not None:
            one.cancel_expiry()
            one.cancel_expiry = None


def restrict_offer(peer: Peer, offer: Offer) -> Offer:
    """What is offered to somebody: whose answers would not count is told so when the terms are made."""
    return offer if peer.may_reply else msgspec.structs.replace(offer, levels=(1,))
