"""
Tickets for web pages, which can send no Authorization header with an upgrade. CF-096

A page that may use the server posts its token, as a header, to
``/aaep/v1/tickets`` and gets a word that is good once and for half a minute. It
offers that as a second subprotocol, so that no credential is ever in a URL.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Final

from ...identity.peer import Peer
from .guard import Refusal

__all__ = ["LIFE", "TICKETS", "Tickets"]

TICKETS: Final = "/aaep/v1/tickets"
LIFE: Final = 30  # seconds
_PREFIX: Final = "aaep.ticket."
_MOST: Final = 100  # of one principal that are out at the same time: nobody takes those of others (T4)


class Tickets:
    """The tickets of one door."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._out: dict[str, tuple[Peer, float]] = {}  # the oldest first

    def issue(self, peer: Peer) -> str:
        """A ticket for somebody who has shown who that is."""
        now = self._clock()
        self._out = {name: kept for name, kept in self._out.items() if kept[1] > now}
        if sum(holder.principal == peer.principal for holder, _ in self._out.values()) >= _MOST:
            raise Refusal(429, "rate_limit", "Too many tickets are out. Try again later.", {"Retry-After": str(LIFE)})
        ticket = _PREFIX + secrets.token_hex(32)
        self._out[ticket] = peer, now + LIFE
        return ticket

    def redeem(self, offered: Iterable[str]) -> Peer | None:
        """Whom a ticket among these was for; None if there is none, and a refusal if it is not good."""
        shown = [one for one in offered if one.startswith(_PREFIX)]
        if not shown:
            return None
        peer, until = self._out.pop(shown[0], (None, 0.0))
        if peer is None or len(shown) > 1 or until <= self._clock():
            raise Refusal(401, "authentication_required", f"This ticket is not good. Get one with POST {TICKETS}.")
        return peer
