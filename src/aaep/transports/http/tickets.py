"""
Tickets for web pages, which can send no Authorization header with a WebSocket upgrade. CF-096

A page that may use the server posts its token, as a header, to
``/aaep/v1/tickets`` and gets a ticket that is good once and for half a minute. It
offers that as a second subprotocol, so that no credential is ever in a URL.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Final

from ...identity.peer import Peer
from .guard import Refusal

__all__ = ["LIFETIME", "TICKETS", "Tickets"]

TICKETS: Final = "/aaep/v1/tickets"
LIFETIME: Final = 30  # seconds
_PREFIX: Final = "aaep.ticket."
_MAX_PER_PRINCIPAL: Final = 100  # tickets at the same time: no principal uses up those of others (T4)


class Tickets:
    """The tickets of one server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._issued: dict[str, tuple[Peer, float]] = {}  # with the time it expires; the oldest first

    def issue(self, peer: Peer) -> str:
        """Return a ticket for a peer that has shown who it is."""
        now = self._clock()
        self._issued = {ticket: issued for ticket, issued in self._issued.items() if issued[1] > now}
        if sum(holder.principal == peer.principal for holder, _ in self._issued.values()) >= _MAX_PER_PRINCIPAL:
            headers = {"Retry-After": str(LIFETIME)}
            raise Refusal(429, "rate_limit", "Too many tickets are out. Try again later.", headers)
        ticket = _PREFIX + secrets.token_hex(32)
        self._issued[ticket] = peer, now + LIFETIME
        return ticket

    def redeem(self, subprotocols: Iterable[str]) -> Peer | None:
        """Return the peer that a ticket among these was for; None if there is none, a refusal if it is not good."""
        tickets = [subprotocol for subprotocol in subprotocols if subprotocol.startswith(_PREFIX)]
        if not tickets:
            return None
        peer, expires = self._issued.pop(tickets[0], (None, 0.0))
        if peer is None or len(tickets) > 1 or expires <= self._clock():
            raise Refusal(401, "authentication_required", f"This ticket is not good. Get one with POST {TICKETS}.")
        return peer
