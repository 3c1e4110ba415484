"""Who sent a request: asked before anything else of it is read, and what HTTP says to those who are refused."""

from __future__ import annotations

from typing import Any, Final

from aiohttp import web

from ..channel import Peer
from ..identity import Credentials, Identity, TooManyGuesses, Unauthenticated, Unauthorised, admitted
from ._http_guard import Refusal

__all__ = ["CHALLENGE", "admission", "shown"]

_FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
CHALLENGE: Final = 'Bearer realm="aaep"'


def shown(request: web.BaseRequest, transport: str, *, loopback: bool) -> Credentials:
    """
    What a request shows of who sent it.

    ``loopback``: it came to an address that only this machine has. That it
    came from one says less: a proxy stands there for others, and says so.
    """
    # Two would leave it to chance who is believed, us or whoever stands in front of us.
    headers = request.headers.getall("Authorization", [])
    kind, _, bearer = (headers[0] if len(headers) == 1 else "").partition(" ")
    wire = request.transport
    name: Any = None if wire is None else wire.get_extra_info("peername")
    encrypted: Any = None if wire is None else wire.get_extra_info("ssl_object")
    return Credentials(
        transport=transport,
        bearer=bearer.strip() if kind.lower() == "bearer" else "",
        certificate=(encrypted.getpeercert() or None) if encrypted is not None else None,
        loopback=loopback and not any(name in request.headers for name in _FORWARDED),
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
