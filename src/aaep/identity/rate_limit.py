"""
Those who guess are told to wait, and those who know are let in.

What is wrong is counted for each address it comes from. Beyond a few, the
answer is to come back later, each time later. Whoever shows what is right is
let in all the same, from the same address too: nobody can lock anybody out. A
guess is not made harder by this, for a token is 256 random bits, but noise and
mistaken programs are kept down, and the log says so.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from .credentials import AuthenticationPending, Credentials, Identity, Local, TooManyAttempts, Unauthenticated
from .peer import Peer

__all__ = ["RateLimitedIdentity", "prepare_identity"]

FREE_ATTEMPTS: Final = 10  # failures that are answered as any other
MAX_RETRY_AFTER: Final = 300  # seconds to wait, at the most
FAILURE_LIFETIME: Final = 60.0  # seconds after which one failure is forgotten
MAX_ADDRESSES: Final = 10_000  # addresses that are remembered

_log: Final = logging.getLogger("aaep.identity")


class RateLimitedIdentity:
    """An identity that counts who was wrong."""

    def __init__(self, identity: Identity, clock: Callable[[], float] = time.monotonic) -> None:
        self._identity, self._clock = identity, clock
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()  # how many, and when that was so
        self.can_verify_bearer = getattr(identity, "can_verify_bearer", False)
        self.is_multi_user = getattr(identity, "is_multi_user", True)

    @property
    def address_count(self) -> int:
        """How many addresses are remembered. No length: an identity must not count as false where it is new."""
        return len(self._failures)

    def authenticate(self, credentials: Credentials) -> Peer:
        try:
            return self._identity.authenticate(credentials)
        except AuthenticationPending:
            raise
        except Unauthenticated:
            if not credentials.bearer:  # nothing was guessed
                raise
            beyond = self._count_failure(_rate_limit_key(credentials.address)) - FREE_ATTEMPTS
            if beyond <= 0:
                raise
            seconds = min(MAX_RETRY_AFTER, 1 << min(beyond, 16))
            text = f"Too many wrong tokens came from this address. Wait {seconds} seconds, or send a right one."
            raise TooManyAttempts(text, seconds) from None

    def _count_failure(self, key: str) -> int:
        now = self._clock()
        number, at = self._failures.pop(key, (0.0, now))
        number = max(0.0, number - (now - at) / FAILURE_LIFETIME) + 1
        self._failures[key] = number, now
        if len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)
        whole = math.ceil(number)  # a part of one is forgiven when all of it is
        if (
            whole > FREE_ATTEMPTS and whole & (whole - 1) == 0
        ):  # each time it has doubled: a flood must not fill the log too
            _log.warning("%d wrong tokens came from %s.", whole, key)
        return whole


def _rate_limit_key(address: str) -> str:
    """Where somebody sits: with IPv6, a network of theirs, in which they have addresses without end."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped is not None else str(ipaddress.ip_network((int(found), 64), strict=False))


async def prepare_identity(identity: Identity) -> Identity:
    """An identity as a door uses it: ready, and counting."""
    if hasattr(identity, "prepare"):
        await identity.prepare()
    return identity if isinstance(identity, (Local, RateLimitedIdentity)) else RateLimitedIdentity(identity)
