"""
Who may talk to an HTTP door, decided from the head of a request, before its body is read (CF-015).

A door on a loopback address serves whoever sits at this machine. Web pages are
open on the same machine, so what comes from a page is told apart and refused:
by its Origin, by the browser's own Sec-Fetch-Site, and by a Host that is not
ours, which is how a page whose name was pointed at a loopback address shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from multidict import MultiMapping

from ...errors import AaepError
from ...identity.credentials import (
    Credentials,
    Identity,
    TooManyAttempts,
    Unauthenticated,
    Unauthorised,
    authenticate_peer,
)
from ...identity.origins import DEFAULT_PORTS, is_loopback, origin_of, parts_of
from ...identity.peer import Peer

__all__ = [
    "CHALLENGE",
    "Guard",
    "Refusal",
    "admission",
    "bearer_of",
    "forwarded",
    "media_type_is_json",
    "named",
    "shown",
]

_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


class Refusal(Exception):
    """The request is answered with this and nothing else."""

    def __init__(self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.headers = {} if headers is None else headers


@lru_cache(maxsize=256)  # nearly all send the same
def media_type_is_json(header: str) -> bool:
    """``application/json``, with no parameter but the charset it has anyway. A page's form cannot send it (CF-089)."""
    kind, *parameters = (part.strip().lower() for part in header.split(";"))
    return kind == "application/json" and all(one in ("charset=utf-8", 'charset="utf-8"', "") for one in parameters)


def _authority(target: str) -> str:
    try:
        return urlsplit(target).netloc.lower()
    except ValueError:
        return ""


@lru_cache(maxsize=256)  # nearly all say the same
def _loopback(host: str) -> tuple[bool, int | None]:
    """Whether a Host header names this machine as only this machine does, and the port in it."""
    try:
        parts = urlsplit(f"//{host}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return False, None
    more = parts.username is not None or parts.path or parts.query or parts.fragment
    return not more and is_loopback(name), port


def named(hosts: Iterable[str]) -> frozenset[str]:
    """Further values of the Host header that are ours. A misspelt one, or a wildcard, would silently match nothing."""
    found = frozenset(one.lower() for one in hosts)
    for host in found:
        if not _HOST.fullmatch(host):
            raise AaepError(f"{host!r} is not the name of a host. Write it like hub.example, or hub.example:8443.")
    return found


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one door."""

    scheme: str
    port: int
    loopback: bool
    origins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for origin in self.origins:
            # CF-089: no wildcard; a misspelt origin would silently match nothing.
            if parts_of(origin).scheme not in DEFAULT_PORTS or origin_of(origin) != origin:
                raise AaepError(f"{origin!r} is not an origin. Write each like https://reader.example, without a path.")

    # -- from where ------------------------------------------------------------------------

    def check(self, request: web.BaseRequest) -> None:
        """Refuse what is meant for somebody else, or comes from a web page that was not allowed."""
        host = self._host(request)
        if not request.raw_path.startswith("/") and _authority(request.raw_path) != host:
            raise Refusal(400, "bad_request", "The address in the request line and the Host header differ.")
        if self.loopback and host and not self._ours(host):
            message = "This server answers to loopback names only. Use the address it printed, or list the host."
            raise Refusal(421, "misdirected_request", message)
        if "Origin" in request.headers:
            allowed = {f"{self.scheme}://{host}", *self.origins}
            if not allowed.issuperset(request.headers.getall("Origin")):
                message = "This web page may not use this server. List its origin to let it."
                raise Refusal(403, "forbidden_origin", message)
        # A page's <img> or <script> sends no Origin, but every browser says where it stands.
        elif request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise Refusal(403, "forbidden_origin", "Requests from other web pages are refused.")

    def _host(self, request: web.BaseRequest) -> str:
        hosts = request.headers.getall("Host", [])
        if len(hosts) > 1 or (not hosts and request.version >= (1, 1)):
            raise Refusal(400, "bad_request", "Send exactly one Host header.")
        return hosts[0].strip().lower() if hosts else ""

    def _ours(self, host: str) -> bool:
        if host in self.hosts:
            return True
        here, port = _loopback(host)
        return here and self.port == (DEFAULT_PORTS[self.scheme] if port is None else port)

    def sharing(self, request: web.BaseRequest) -> dict[str, str]:
        """What lets the script of an allowed page read the answer: that page and no other."""
        origin = request.headers.get("Origin", "")
        if origin not in self.origins:
            return {}
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "Location", "Vary": "Origin"}


# -- admission --

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
        is_loopback=loopback and not forwarded(request.headers),
        address=str(name[0]) if name else "",
    )


async def admission(identity: Identity, given: Credentials) -> Peer:
    """The peer, or the refusal that says why not: 401, 403 or 429."""
    try:
        return await authenticate_peer(identity, given)
    except TooManyAttempts as error:
        headers = {"Retry-After": str(error.retry_after), "Connection": "close"}
        raise Refusal(429, "rate_limit", str(error), headers) from None
    except Unauthenticated as error:
        wrong = ', error="invalid_token"' if given.bearer else ""  # RFC 6750 §3
        headers = {"WWW-Authenticate": CHALLENGE + wrong}
        raise Refusal(401, "authentication_required", str(error), headers) from None
    except Unauthorised as error:
        raise Refusal(403, "authorization_denied", str(error)) from None
