"""
Tickets for web pages, which cannot send an Authorization header with a WebSocket upgrade (CF-096).

A page sends its token in a header to ``POST /aaep/v1/tickets`` and gets a ticket that is
valid once and for 30 seconds. It offers the ticket as a second subprotocol, so that no
credential is ever part of a URL.
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
_MAX_PER_PRINCIPAL: Final = 100  # valid tickets at a time, so that no principal uses up all (T4)


class Tickets:
    """The tickets of one server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._issued: dict[str, tuple[Peer, float]] = {}  # peer and expiry by ticket; the oldest first

    def issue(self, peer: Peer) -> str:
        """Return a new ticket for an authenticated peer; raise :exc:`Refusal` if it has too many."""
        now = self._clock()
        self._issued = {ticket: issued for ticket, issued in self._issued.items() if issued[1] > now}
        if sum(holder.principal == peer.principal for holder, _ in self._issued.values()) >= _MAX_PER_PRINCIPAL:
            headers = {"Retry-After": str(LIFETIME)}
            raise Refusal(429, "rate_limit", "Too many tickets are out. Try again later.", headers)
        ticket = _PREFIX + secrets.token_hex(32)
        self._issued[ticket] = peer, now + LIFETIME
        return ticket

    def redeem(self, subprotocols: Iterable[str]) -> Peer | None:
        """Return the peer of the ticket among some subprotocols; None without one. Raises if it is invalid."""
        tickets = [subprotocol for subprotocol in subprotocols if subprotocol.startswith(_PREFIX)]
        if not tickets:
            return None
        peer, expires = self._issued.pop(tickets[0], (None, 0.0))
        if peer is None or len(tickets) > 1 or expires <= self._clock():
            raise Refusal(401, "authentication_required", f"This ticket is not good. Get one with POST {TICKETS}.")
        return peer
