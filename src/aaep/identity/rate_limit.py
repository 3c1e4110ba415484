"""
Rate limiting of failed authentication.

Failures are counted for each address. Beyond a few, the answer is to retry
later, with a growing delay. Valid credentials are accepted all the same, also
from that address, so that no client can lock out another. This does not make
guessing harder, as a token has 256 random bits, but it limits noise and
misconfigured programs, and reports them in the log.
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

FREE_ATTEMPTS: Final = 10  # failures that are answered without a delay
MAX_RETRY_AFTER: Final = 300  # seconds
FAILURE_LIFETIME: Final = 60.0  # seconds after which a failure is forgotten
MAX_ADDRESSES: Final = 10_000  # addresses to remember

_log: Final = logging.getLogger("aaep.identity")


class RateLimitedIdentity:
    """An identity that limits the rate of failed attempts for each address."""

    def __init__(self, identity: Identity, clock: Callable[[], float] = time.monotonic) -> None:
        self._identity = identity
        self._clock = clock
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by key: count, and time of that count
        self.can_verify_bearer = getattr(identity, "can_verify_bearer", False)
        self.is_multi_user = getattr(identity, "is_multi_user", True)

    @property
    def address_count(self) -> int:
        """The number of remembered addresses. Not ``__len__``, which would make a new identity false."""
        return len(self._failures)

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer, or raise; :exc:`TooManyAttempts` after many wrong tokens from its address."""
        try:
            return self._identity.authenticate(credentials)
        except AuthenticationPending:
            raise
        except Unauthenticated:
            if not credentials.bearer:  # without a token there was no guess
                raise
            excess = self._count_failure(_rate_limit_key(credentials.address)) - FREE_ATTEMPTS
            if excess <= 0:
                raise
            seconds = min(MAX_RETRY_AFTER, 1 << min(excess, 16))
            text = f"Too many wrong tokens came from this address. Wait {seconds} seconds, or send a right one."
            raise TooManyAttempts(text, seconds) from None

    def _count_failure(self, key: str) -> int:
        """Count a failure for a key and return the number of failures that are not forgotten yet."""
        now = self._clock()
        count, counted_at = self._failures.pop(key, (0.0, now))
        count = max(0.0, count - (now - counted_at) / FAILURE_LIFETIME) + 1
        self._failures[key] = count, now
        if len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)
        failures = math.ceil(count)  # a failure counts until it is forgotten completely
        is_power_of_two = failures & (failures - 1) == 0
        if failures > FREE_ATTEMPTS and is_power_of_two:  # so that a flood does not fill the log too
            _log.warning("%d wrong tokens came from %s.", failures, key)
        return failures


def _rate_limit_key(address: str) -> str:
    """Return the key an address is counted under: itself, or the /64 network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))


async def prepare_identity(identity: Identity) -> Identity:
    """Prepare an identity for a server, and return it with rate limiting unless it is :class:`Local`."""
    if hasattr(identity, "prepare"):
        await identity.prepare()
    return identity if isinstance(identity, (Local, RateLimitedIdentity)) else RateLimitedIdentity(identity)
