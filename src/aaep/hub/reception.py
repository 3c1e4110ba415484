"""What a hub does with the bytes that a transport brings it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ..errors import RemoteProtocolError, Violation
from ..identity.peer import Peer
from ..protocol import codec
from ..protocol.attend_extension import PREFIX
from ..protocol.catalogue import grade
from ..protocol.codec import parse
from ..protocol.fields import Message
from ..protocol.messages import (
    ClarificationReply,
    ConfirmationReply,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ..text.sanitize import cut, neutralise
from .subscriptions import UnknownSubscription

if TYPE_CHECKING:
    from .hub import Hub

__all__ = ["UnreadableRequest", "receive"]

log: Final = logging.getLogger("aaep.hub")

_REQUEST: Final = "subscription.request"
_ANSWERS: Final = (ConfirmationReply, ClarificationReply)
_LONGEST: Final = 500  # characters of what is wrong with a request


class UnreadableRequest(RemoteProtocolError):
    """
    What came in place of a request for a subscription.

    ``rejected`` says what is wrong with it (SUB-039, CF-087): there is nothing
    to hide yet, as there is in a reply (CF-012). ``asked``: it was meant as a request.
    """

    def __init__(self, raw: bytes, found: Iterable[Violation]) -> None:
        super().__init__("Malformed message.")
        read = parse(raw)[0]
        kind = read.get("type") if isinstance(read, dict) else _REQUEST
        wrong = [one.message for one in found if grade(one) == "error"]
        text = " ".join(wrong) if kind == _REQUEST else f"type should be {_REQUEST}."
        self.asked = isinstance(read, dict) and kind == _REQUEST
        self.rejected = SubscriptionRejected(
            reason_code="unknown", reason_message=cut(neutralise(f"This request cannot be used. {text}"), _LONGEST)
        )


def receive(hub: Hub, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None) -> Message | None:
    """See :meth:`aaep.hub.hub.Hub.receive`."""
    message, found = codec.read(raw, hub.offer.registry)
    if not isinstance(message, allowed):
        if SubscriptionRequest in allowed:
            raise UnreadableRequest(raw, found)
        raise RemoteProtocolError("Malformed message.")
    if own and getattr(message, "subscription_id", own) != own:
        _elsewhere(hub, message)
        return None
    if isinstance(message, _ANSWERS):
        if found:
            _usable(message, found)
        hub.reply(message, peer)
        return None
    if isinstance(message, SubscriptionRequest):
        return hub.subscribe(message, peer)  # what cannot be used in it is answered, not refused
    if isinstance(message, SubscriptionRenegotiate):
        answer = hub.renegotiate(message, peer)
        if answer is None:
            raise UnknownSubscription("There is no such subscription. Subscribe first.")
        _stop(hub, message, peer)
        return answer
    _usable(message, found)
    if not isinstance(message, SubscriptionClose):
        raise RemoteProtocolError("Malformed message.")
    hub.unsubscribe(message, peer)
    return None


def _usable(message: Message, found: Sequence[Violation]) -> None:
    """Raises for what has an error in it, unless it can only end something."""
    if any(grade(violation) == "error" for violation in found) and not _only_stops(message):
        raise RemoteProtocolError("Malformed message.")


def _stop(hub: Hub, message: SubscriptionRenegotiate, peer: Peer) -> None:
    """CF-147: stopping is for who could answer too, and is never guessed from a lost connection."""
    one, wish = hub.subscriptions.find(message.subscription_id, peer), message.capabilities.unknown.get(PREFIX)
    wanted = wish.get("cancel") if isinstance(wish, dict) else None
    if one is None or not one.may_reply or one.requested("cancel") != wanted or wanted is None:
        return
    for source in hub.sessions.audible_to(peer):
        if source.session_id == wanted:
            log.info("A session is stopped, as %r wished.", peer.principal)
            source.cancel(by="user", reason="user_request")


def _elsewhere(hub: Hub, message: Message) -> None:
    """A reply for another subscription is met with the silence that all replies are met with."""
    if not isinstance(message, _ANSWERS):
        raise UnknownSubscription("This connection has another subscription.")
    hub.refuse("it is not this connection's to give")


def _only_stops(message: Message) -> bool:
    """CF-020, CF-039: what can only end something is taken with whatever else it holds."""
    refuses = isinstance(message, ConfirmationReply) and message.decision == "reject"
    return refuses or isinstance(message, SubscriptionClose)
