"""
Ends subscriptions, and the connections of agents, with their credentials. CF-149

Each message is authenticated, yet a stream is one long answer, and a
connection may last for days. So a subscription is bound to the credential it
was made with, until another of the same principal in the same role replaces it.
A credential that can be revoked is checked at intervals.
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

CHECK_INTERVAL: Final = 15.0  # seconds between two checks of a credential that can be revoked
MAY_NOT_LISTEN: Final = "This credential is not for listening."
MAX_WAIT: Final = 3600.0  # seconds: the wall clock may be set meanwhile


class CredentialHolder(Protocol):
    """A thing that ends with a credential."""

    peer: Peer
    cancel_expiry: Callable[[], None] | None  # takes back the next check


class CredentialExpiry:
    """Watches the credentials of all subscriptions and agents. On the loop only."""

    def __init__(
        self,
        clock: Callable[[], float],
        wall: Callable[[], float],
        call_at: Callable[[float, Callable[[], None]], Callable[[], None]],
        on_expired: Callable[[Subscription], None],
    ) -> None:
        """``on_expired`` is called with a subscription whose credential is no longer valid."""
        self._clock = clock
        self._wall = wall
        self._call_at = call_at
        self._on_expired = on_expired

    def is_valid(self, peer: Peer) -> bool:
        """Whether a peer's credential is still valid."""
        if peer.expires_at is not None and self._wall() >= peer.expires_at:
            return False
        return peer.is_still_valid is None or peer.is_still_valid()

    def rejection_for(self, peer: Peer) -> SubscriptionRejected | None:
        """Return what a peer is told that may not subscribe; None if it may."""
        if self.is_valid(peer) and not peer.may_listen:
            return SubscriptionRejected(reason_code="authorization_denied", reason_message=MAY_NOT_LISTEN)
        return self.expiry_rejection(peer)

    def expiry_rejection(self, peer: Peer) -> SubscriptionRejected | None:
        """Return what a peer is told whose credential is no longer valid; None if it is."""
        return None if self.is_valid(peer) else CREDENTIAL_EXPIRED

    def watch(self, subscription: Subscription) -> None:
        """Have a subscription end with its credential."""
        self.bind(subscription, lambda: self._on_expired(subscription))

    def bind(self, holder: CredentialHolder, on_expired: Callable[[], None]) -> None:
        """Have a function called when the credential of a holder is no longer valid."""
        self.release(holder)
        peer = holder.peer
        if peer.expires_at is None and peer.is_still_valid is None:
            return
        wait = MAX_WAIT if peer.is_still_valid is None else CHECK_INTERVAL
        if peer.expires_at is not None:
            wait = min(wait, max(0.0, peer.expires_at - self._wall()))
        holder.cancel_expiry = self._call_at(self._clock() + wait, lambda: self._check(holder, on_expired))

    def _check(self, holder: CredentialHolder, on_expired: Callable[[], None]) -> None:
        if self.is_valid(holder.peer):
            self.bind(holder, on_expired)
        else:
            on_expired()

    def renew(self, subscription: Subscription, peer: Peer) -> None:
        """Let a credential that its principal has shown again replace the old one, if it lasts longer."""
        old = subscription.peer
        lasts_longer = old.expires_at is not None and (peer.expires_at is None or peer.expires_at > old.expires_at)
        if lasts_longer or not self.is_valid(old):
            subscription.peer = msgspec.structs.replace(
                old, expires_at=peer.expires_at, is_still_valid=peer.is_still_valid
            )
            self.watch(subscription)

    def release(self, holder: CredentialHolder) -> None:
        """Stop watching the credential of a holder that has ended."""
        if holder.cancel_expiry is not None:
            holder.cancel_expiry()
            holder.cancel_expiry = None


def restrict_offer(peer: Peer, offer: Offer) -> Offer:
    """Return what is offered to a peer: without replies to one that may not give them."""
    return offer if peer.may_reply else msgspec.structs.replace(offer, levels=(1,))
