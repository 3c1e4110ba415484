"""What a hub does with the bytes that a transport brings it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from . import wire
from .attend import PREFIX
from .catalogue import grade
from .channel import Peer
from .errors import RemoteProtocolError
from .fields import Message
from .messages import (
    ClarificationReply,
    ConfirmationReply,
    SubscriptionClose,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from .roster import UnknownSubscription

if TYPE_CHECKING:
    from .hub import Hub

__all__ = ["receive"]

log: Final = logging.getLogger("aaep.hub")


def receive(hub: Hub, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None) -> Message | None:
    """See :meth:`aaep.hub.Hub.receive`."""
    message, found = wire.read(raw, hub.offer.registry)
    bad = any(grade(violation) == "error" for violation in found)
    if not isinstance(message, allowed):
        raise RemoteProtocolError("Malformed message.")
    if own and getattr(message, "subscription_id", own) != own:
        _elsewhere(hub, message)
        return None
    if isinstance(message, SubscriptionRequest):
        return hub.subscribe(message, peer)  # what cannot be used in it is answered, not refused
    if isinstance(message, SubscriptionRenegotiate):
        answer = hub.renegotiate(message, peer)
        if answer is None:
            raise UnknownSubscription("There is no such subscription. Subscribe first.")
        _stop(hub, message, peer)
        return answer
    if bad and not _only_stops(message):
        raise RemoteProtocolError("Malformed message.")
    if isinstance(message, SubscriptionClose):
        hub.unsubscribe(message, peer)
    elif isinstance(message, (ConfirmationReply, ClarificationReply)):
        hub.reply(message, peer)
    else:
        raise RemoteProtocolError("Malformed message.")
    return None


def _stop(hub: Hub, message: SubscriptionRenegotiate, peer: Peer) -> None:
    """CF-147: stopping is for who could answer too, and is never guessed from a lost connection."""
    one, wish = hub.roster.of(message.subscription_id, peer), message.capabilities.unknown.get(PREFIX)
    wanted = wish.get("cancel") if isinstance(wish, dict) else None
    if one is None or not one.answers or one.wish("cancel") != wanted or wanted is None:
        return
    for source in hub.sources.heard_by(peer):
        if source.session_id == wanted:
            log.info("A session is stopped, as %r wished.", peer.principal)
            source.cancel(by="user", reason="user_request")


def _elsewhere(hub: Hub, message: Message) -> None:
    """A reply for another subscription is met with the silence that all replies are met with."""
    if not isinstance(message, (ConfirmationReply, ClarificationReply)):
        raise UnknownSubscription("This connection has another subscription.")
    hub.refuse("it is not this connection's to give")


def _only_stops(message: Message) -> bool:
    """CF-020, CF-039: what can only end something is taken with whatever else it holds."""
    refuses = isinstance(message, ConfirmationReply) and message.decision == "reject"
    return refuses or isinstance(message, SubscriptionClose)
