"""Who sent a request: asked before anything else of it is read, and what HTTP says to those who are refused."""

from __future__ import annotations

from typing import Any, Final

from aiohttp import web
from multidict import MultiMapping

from ...identity.credentials import Credentials, Identity, TooManyGuesses, Unauthenticated, Unauthorised, admitted
from ..base import Peer
from .guard import Refusal

__all__ = ["CHALLENGE", "admission", "bearer_of", "forwarded", "shown"]

CHALLENGE: Final = 'Bearer realm="aaep"'


def bearer_of(headers: MultiMapping[str]) -> str:
    """The token that a request shows; nothing if it shows none, or several."""
    # Two would leave it to chance who is believed, us or whoever stands in front of us.
    given = headers.getall("Authorization", [])
    kind, _, token = (given[0] if len(given) == 1 else "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def forwarded(headers: MultiMapping[str]) -> bool:
    """Whether a proxy says that it stands there for somebody else."""
    return "Forwarded" in headers or "X-Forwarded-For" in headers or "X-Real-IP" in headers or "Via" in headers


def shown(request: web.BaseRequest, transport: str, *, loopback: bool) -> Credentials:
    """
    What a request shows of who sent it.

    ``loopback``: it came to an address that only this machine has. That it
    came from one says less: a proxy stands there for others, and says so.
    """
    wire = request.transport
    name: Any = None if wire is None else wire.get_extra_info("peername")
    encrypted: Any = None if wire is None else wire.get_extra_info("ssl_object")
    return Credentials(
        transport=transport,
        bearer=bearer_of(request.headers),
        certificate=(encrypted.getpeercert() or None) if encrypted is not None else None,
        loopback=loopback and not forwarded(request.headers),
        address=str(name[0]) if name else "",
    )


async def admission(identity: Identity, given: Credentials) -> Peer:
    """The peer, or the refusal that says why not: 401, 403 or 429."""
    try:
        return await admitted(identity, given)
    except TooManyGuesses as error:
        headers = {"Retry-After": str(error.seconds), "Connection": "close"}
        raise Refusal(429, "rate_limit", str(error), headers) from None
    except Unauthenticated as error:
        wrong = ', error="invalid_token"' if given.bearer else ""  # RFC 6750 §3
        headers = {"WWW-Authenticate": CHALLENGE + wrong}
        raise Refusal(401, "authentication_required", str(error), headers) from None
    except Unauthorised as error:
        raise Refusal(403, "authorization_denied", str(error)) from None
