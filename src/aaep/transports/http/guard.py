"""
Access control of HTTP servers, from the head of a request, before its body is read (CF-015).

A server on a loopback address serves the user of this machine. Web pages run on
the same machine, so requests from web pages are recognised and refused: by Origin,
by Sec-Fetch-Site, and by a foreign Host header, which reveals DNS rebinding.
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

__all__ = [
    "CHALLENGE",
    "Guard",
    "Refusal",
    "authenticate_or_refuse",
    "credentials_from_request",
    "is_json_media_type",
    "normalize_hosts",
]

CHALLENGE: Final = 'Bearer realm="aaep"'
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_FORWARDING: Final = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")  # headers that proxies add


class Refusal(Exception):
    """An error response: its status, error code, message and headers."""

    def __init__(self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.headers = {} if headers is None else headers


# -- origins and hosts ---------------------------------------------------------------------


def normalize_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """Return Host headers in lower case. Raises for invalid ones and wildcards, which would never match."""
    normalized = frozenset(host.lower() for host in hosts)
    for host in normalized:
        if not _HOST.fullmatch(host):
            raise AaepError(f"{host!r} is not the name of a host. Write it like hub.example, or hub.example:8443.")
    return normalized


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """Checks requests by the host they are addressed to and the web page they come from."""

    is_local: bool  # whether the server is for this machine only
    origins: frozenset[str] = frozenset()  # of web pages that may use the server
    hosts: frozenset[str] = frozenset()  # further Host headers that are accepted

    def __post_init__(self) -> None:
        for origin in self.origins:
            if not is_web_origin(origin):  # CF-089: no wildcard; an invalid origin would never match
                raise AaepError(f"{origin!r} is not an origin. Write each like https://reader.example, without a path.")

    def check(self, head: RequestHead) -> None:
        """Raise :exc:`Refusal` for a request to another host, or from a web page that is not allowed."""
        host = _read_host_header(head)
        if not head.target.startswith("/") and authority_of(head.target) != host:
            raise Refusal(400, "bad_request", "The address in the request line and the Host header differ.")
        if self.is_local and host and not self._is_own_host(host, head):
            raise Refusal(421, "misdirected_request", _describe_misdirection(host, head))
        if "Origin" in head.headers:
            allowed = {f"{head.scheme}://{host}", *self.origins}
            if not allowed.issuperset(head.headers.getall("Origin")):
                message = "This web page may not use this server. List its origin to let it."
                raise Refusal(403, "forbidden_origin", message)
        # The <img> or <script> of a page sends no Origin, but every browser sends Sec-Fetch-Site.
        elif head.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise Refusal(403, "forbidden_origin", "Requests from other web pages are refused.")

    def _is_own_host(self, host: str, head: RequestHead) -> bool:
        if host in self.hosts:
            return True
        name, port = split_authority(host)
        return is_loopback(name) and head.port == (SCHEMES[head.scheme].default_port if port is None else port)

    def build_cors_headers(self, head: RequestHead) -> dict[str, str]:
        """Return the CORS headers for an allowed web page; empty for any other client."""
        origin = head.headers.get("Origin", "")
        if origin not in self.origins:
            return {}
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "Location", "Vary": "Origin"}


def _describe_misdirection(host: str, head: RequestHead) -> str:
    """Return why a Host header is not that of a server for this machine only: its name, or just its port."""
    name, port = split_authority(host)
    if not is_loopback(name):
        return "This server answers to loopback names only. Use the address it printed, or list the host."
    asked = "the default port" if port is None else f"port {port}"
    return (
        f"The request is addressed to {asked}, and this server listens on port {head.port}. "
        "Use the address it printed, or list the host with its port, as for a tunnel."
    )


def _read_host_header(head: RequestHead) -> str:
    hosts = head.headers.getall("Host", [])
    if len(hosts) > 1 or (not hosts and head.version >= (1, 1)):
        raise Refusal(400, "bad_request", "Send exactly one Host header.")
    return hosts[0].strip().lower() if hosts else ""


@lru_cache(maxsize=256)  # nearly all clients send the same value
def is_json_media_type(header: str) -> bool:
    """Whether a Content-Type is ``application/json`` in UTF-8. A page's form cannot send it (CF-089)."""
    kind, *parameters = (part.strip().lower() for part in header.split(";"))
    return kind == "application/json" and {*parameters} <= {"charset=utf-8", 'charset="utf-8"', ""}


# -- authentication ------------------------------------------------------------------------


def credentials_from_request(head: RequestHead, transport: str) -> Credentials:
    """
    Return the credentials that a request carries.

    A request that a proxy forwarded does not count as coming from this machine.
    """
    return Credentials(
        transport=transport,
        bearer=_parse_bearer_token(head.headers),
        certificate=head.certificate,
        is_loopback=head.is_loopback and not any(name in head.headers for name in _FORWARDING),
        address=head.address,
    )


def _parse_bearer_token(headers: MultiMapping[str]) -> str:
    """Return the bearer token of a request; empty if it has none or several."""
    # With two headers it would be ambiguous which one counts, the client's or that of a proxy.
    values = headers.getall("Authorization", [])
    kind, _, token = (values[0] if len(values) == 1 else "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def authenticate_or_refuse(identity: Identity, credentials: Credentials) -> Peer:
    """Return the authenticated peer, or raise a :exc:`Refusal` with status 401, 403 or 429."""
    try:
        return await authenticate_peer(identity, credentials)
    except TooManyAttempts as error:
        headers = {"Retry-After": str(error.retry_after), "Connection": "close"}
        raise Refusal(429, "rate_limit", str(error), headers) from None
    except Unauthenticated as error:
        token_error = ', error="invalid_token"' if credentials.bearer else ""  # RFC 6750 §3
        headers = {"WWW-Authenticate": CHALLENGE + token_error}
        raise Refusal(401, "authentication_required", str(error), headers) from None
    except Unauthorised as error:
        raise Refusal(403, "authorization_denied", str(error)) from None
