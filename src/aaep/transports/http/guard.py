"""
Who may use an HTTP server, decided from the head of a request, before its body is read (CF-015).

A server on a loopback address serves the user of this machine. Web pages are
open on the same machine, so what comes from a page is recognised and refused:
by its Origin, by the browser's own Sec-Fetch-Site, and by a Host that is not
ours, which is how a page whose name was pointed at a loopback address shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

import msgspec
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
from ...identity.origins import SCHEMES, authority_of, is_loopback, is_web_origin, split_authority
from ...identity.peer import Peer
from .request import RequestHead

__all__ = ["CHALLENGE", "Guard", "Refusal", "admit", "credentials_of", "is_json_media_type", "normalize_hosts"]

CHALLENGE: Final = 'Bearer realm="aaep"'
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_FORWARDING: Final = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")  # headers by which a proxy shows itself


class Refusal(Exception):
    """The request is answered with this and nothing else."""

    def __init__(self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.headers = {} if headers is None else headers


# -- from where ----------------------------------------------------------------------------


def normalize_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """Return Host headers in lower case. A misspelt one, or a wildcard, is refused: it would silently match nothing."""
    normalized = frozenset(host.lower() for host in hosts)
    for host in normalized:
        if not _HOST.fullmatch(host):
            raise AaepError(f"{host!r} is not the name of a host. Write it like hub.example, or hub.example:8443.")
    return normalized


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests a server takes, by the host they are meant for and the web page they come from."""

    is_local: bool  # whether the server is for this machine only
    origins: frozenset[str] = frozenset()  # web pages that may use it
    hosts: frozenset[str] = frozenset()  # further values of the Host header that are ours

    def __post_init__(self) -> None:
        for origin in self.origins:
            if not is_web_origin(origin):  # CF-089: no wildcard; a misspelt origin would silently match nothing
                raise AaepError(f"{origin!r} is not an origin. Write each like https://reader.example, without a path.")

    def check(self, head: RequestHead) -> None:
        """Refuse what is meant for another server, or comes from a web page that was not allowed."""
        host = _host_header(head)
        if not head.target.startswith("/") and authority_of(head.target) != host:
            raise Refusal(400, "bad_request", "The address in the request line and the Host header differ.")
        if self.is_local and host and not self._is_ours(host, head):
            message = "This server answers to loopback names only. Use the address it printed, or list the host."
            raise Refusal(421, "misdirected_request", message)
        if "Origin" in head.headers:
            allowed = {f"{head.scheme}://{host}", *self.origins}
            if not allowed.issuperset(head.headers.getall("Origin")):
                message = "This web page may not use this server. List its origin to let it."
                raise Refusal(403, "forbidden_origin", message)
        # A page's <img> or <script> sends no Origin, but every browser says where it stands.
        elif head.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise Refusal(403, "forbidden_origin", "Requests from other web pages are refused.")

    def _is_ours(self, host: str, head: RequestHead) -> bool:
        if host in self.hosts:
            return True
        name, port = split_authority(host)
        return is_loopback(name) and head.port == (SCHEMES[head.scheme].default_port if port is None else port)

    def cors_headers(self, head: RequestHead) -> dict[str, str]:
        """Return what lets the script of an allowed page read the answer: that page and no other."""
        origin = head.headers.get("Origin", "")
        if origin not in self.origins:
            return {}
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "Location", "Vary": "Origin"}


def _host_header(head: RequestHead) -> str:
    hosts = head.headers.getall("Host", [])
    if len(hosts) > 1 or (not hosts and head.version >= (1, 1)):
        raise Refusal(400, "bad_request", "Send exactly one Host header.")
    return hosts[0].strip().lower() if hosts else ""


@lru_cache(maxsize=256)  # nearly all send the same
def is_json_media_type(header: str) -> bool:
    """Whether a Content-Type is ``application/json`` in UTF-8. A page's form cannot send it (CF-089)."""
    kind, *parameters = (part.strip().lower() for part in header.split(";"))
    return kind == "application/json" and {*parameters} <= {"charset=utf-8", 'charset="utf-8"', ""}


# -- by whom -------------------------------------------------------------------------------


def credentials_of(head: RequestHead, transport: str) -> Credentials:
    """
    Return what a request shows of the client that sent it.

    That it came from this machine says little if a proxy sent it, which says so.
    """
    return Credentials(
        transport=transport,
        bearer=_bearer_token(head.headers),
        certificate=head.certificate,
        is_loopback=head.is_loopback and not any(name in head.headers for name in _FORWARDING),
        address=head.address,
    )


def _bearer_token(headers: MultiMapping[str]) -> str:
    """Return the token that a request shows; nothing if it shows none, or several."""
    # Two would leave it to chance which one counts, ours or that of a proxy in front of us.
    values = headers.getall("Authorization", [])
    kind, _, token = (values[0] if len(values) == 1 else "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def admit(identity: Identity, credentials: Credentials) -> Peer:
    """Return the peer, or raise the refusal that says why not: 401, 403 or 429."""
    try:
        return await authenticate_peer(identity, credentials)
    except TooManyAttempts as error:
        headers = {"Retry-After": str(error.retry_after), "Connection": "close"}
        raise Refusal(429, "rate_limit", str(error), headers) from None
    except Unauthenticated as error:
        wrong = ', error="invalid_token"' if credentials.bearer else ""  # RFC 6750 §3
        headers = {"WWW-Authenticate": CHALLENGE + wrong}
        raise Refusal(401, "authentication_required", str(error), headers) from None
    except Unauthorised as error:
        raise Refusal(403, "authorization_denied", str(error)) from None
