"""
URLs, origins and loopback: which transport, host and port a URL means, and whether that is this machine.

An *origin* is where a URL leads, without its path. :func:`origin` gives it in
the one form that manifests claim and that can be compared; :func:`web_origin`
gives it as browsers write it in an Origin header, and as people are shown it.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from ..errors import AaepError

__all__ = [
    "ENCRYPTED",
    "LOCAL_ORIGIN",
    "SCHEMES",
    "TRANSPORTS",
    "Scheme",
    "authority_of",
    "canonical_host",
    "encrypted_scheme",
    "format_host",
    "http_url",
    "is_loopback",
    "is_on_this_machine",
    "is_web_origin",
    "origin",
    "same_listener",
    "same_origin",
    "scheme_of",
    "split_authority",
    "split_server_url",
    "split_url",
    "url_for_transport",
    "web_origin",
]

LOCAL_ORIGIN: Final = "local"  # sockets and pipes, which the kernel keeps to one user (CF-120)


class Scheme(NamedTuple):
    """The meaning of a URL's scheme."""

    transport: str  # its name in a manifest (CF-119)
    default_port: int | None = None  # of a URL that names none; None: sockets and pipes have no ports
    is_encrypted: bool = False
    http: str = ""  # the scheme of the HTTP request that a connection begins with, if it does


SCHEMES: Final = {
    "http": Scheme("sse", 80, http="http"),
    "https": Scheme("sse", 443, is_encrypted=True, http="https"),
    "asgi+http": Scheme("sse", 80, http="http"),
    "ws": Scheme("websocket", 80, http="http"),
    "wss": Scheme("websocket", 443, is_encrypted=True, http="https"),
    "grpc": Scheme("grpc", 80),
    "grpcs": Scheme("grpc", 443, is_encrypted=True),
    "unix": Scheme("unix-socket"),
    "pipe": Scheme("named-pipe"),
    "stdio": Scheme("stdio-jsonrpc"),
}
TRANSPORTS: Final = {name: scheme.transport for name, scheme in SCHEMES.items()}
ENCRYPTED: Final = tuple(name for name, scheme in SCHEMES.items() if scheme.is_encrypted)


# -- taking a URL apart ----------------------------------------------------------------------


def scheme_of(url: str) -> str:
    """Return the scheme that a URL begins with, in lower case, whatever is wrong with the rest."""
    return url.partition(":")[0].lower()


def split_url(url: str, scheme: str = "http") -> SplitResult:
    """Return the parts of a URL. ``scheme`` is that of the example in the error, if it is not one."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # it is checked only when it is read
    except ValueError as error:
        raise AaepError(f"{url!r} is not a URL: {error}. {_example(scheme)}") from None
    return parts


def split_server_url(url: str, schemes: tuple[str, ...]) -> tuple[SplitResult, int]:
    """Return the parts and the port of a server's URL, which has one of these schemes and no credentials in it."""
    scheme = scheme_of(url) if scheme_of(url) in schemes else schemes[0]
    parts = split_url(url, scheme)
    if parts.scheme not in schemes or not parts.netloc or parts.query or parts.fragment:
        raise AaepError(f"{url!r} is not the address of an AAEP server. {_example(scheme)}")
    if parts.username is not None or parts.password is not None:
        raise AaepError("No credentials in a URL: it reaches logs and histories. Use token= instead.")
    port = SCHEMES[parts.scheme].default_port if parts.port is None else parts.port
    assert port is not None  # only schemes that have one are asked for
    return parts, port


def split_authority(authority: str) -> tuple[str, int | None]:
    """Return the host and the port of a Host header; no host if it is malformed."""
    try:
        parts = urlsplit(f"//{authority}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", None
    has_more = parts.username is not None or parts.path or parts.query or parts.fragment
    return ("", None) if has_more else (host, port)


def authority_of(target: str) -> str:
    """Return the host and port that an absolute URL names, in lower case; empty if it names none."""
    try:
        return urlsplit(target).netloc.lower()
    except ValueError:
        return ""


def format_host(host: str) -> str:
    """Return a host as URLs write it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _example(scheme: str) -> str:
    return f"Write it like {scheme}://127.0.0.1:8137."


# -- one server, several schemes -------------------------------------------------------------


def encrypted_scheme(scheme: str) -> str | None:
    """Return the scheme that is the same with TLS; None for one that has TLS, or cannot have it."""
    return f"{scheme}s" if f"{scheme}s" in SCHEMES else None


def http_url(url: str) -> str:
    """Return the HTTP URL for a WebSocket URL, which begins as an HTTP request; any other as it is."""
    scheme, colon, rest = url.partition(":")
    known = SCHEMES.get(scheme)
    return (known.http if known is not None and known.http else scheme) + colon + rest


def same_listener(first: str, second: str) -> bool:
    """Whether two URLs to listen at name one HTTP server: http and ws, or https and wss, at one host and port."""
    return _listener(first) is not None and _listener(first) == _listener(second)


def _listener(url: str) -> tuple[str, str, int] | None:
    """Return what tells an HTTP server from others: its scheme, host and port; None if the port is any free one."""
    parts = split_url(url)
    scheme = SCHEMES.get(parts.scheme)
    port = scheme.default_port if scheme is not None and parts.port is None else parts.port
    if scheme is None or not scheme.http or not port or parts.path not in ("", "/"):
        return None
    return scheme.http, canonical_host(parts.hostname or "127.0.0.1"), port


def url_for_transport(url: str, transport: str) -> str:
    """Return the URL of the same server for another transport, encrypted if this one is."""
    given = SCHEMES.get(scheme_of(url))
    if given is None or given.transport == transport:
        return url
    wanted = (transport, given.is_encrypted)
    name = next((name for name, scheme in SCHEMES.items() if (scheme.transport, scheme.is_encrypted) == wanted), None)
    return url if name is None else name + url[len(scheme_of(url)) :]


# -- origins ---------------------------------------------------------------------------------


def origin(url: str) -> str:
    """
    Return the origin of a URL in the form that can be compared; empty if no client can connect to that.

    A default port is left out, and localhost is written as its address.
    """
    if url == LOCAL_ORIGIN:
        return LOCAL_ORIGIN
    try:
        parts = urlsplit(url)
        scheme, host, port = SCHEMES.get(parts.scheme), canonical_host(parts.hostname or ""), parts.port
    except ValueError:
        return ""
    if scheme is None:
        return ""
    if scheme.default_port is None:
        return LOCAL_ORIGIN
    address = _address(host)
    if not host or (address is not None and address.is_unspecified):
        return ""
    return _format_origin(parts.scheme.rpartition("+")[2], host, port)


def same_origin(first: str, second: str) -> bool:
    """Whether two URLs lead to the same place. A WebSocket begins as HTTP, with the same port and certificate."""
    compared = http_url(origin(first))
    return bool(compared) and compared == http_url(origin(second))


def web_origin(url: str) -> str:
    """Return the origin of a URL as browsers write it: without the port that the scheme implies."""
    parts = urlsplit(url)
    return _format_origin(parts.scheme, (parts.hostname or "").lower(), parts.port)


def is_web_origin(text: str) -> bool:
    """Whether a text is the origin of a web page, written as browsers write it."""
    try:
        return scheme_of(text) in ("http", "https") and web_origin(text) == text
    except ValueError:
        return False


def _format_origin(scheme: str, host: str, port: int | None) -> str:
    known = SCHEMES.get(scheme)
    is_default = port is None or (known is not None and port == known.default_port)
    return f"{scheme}://{format_host(host)}" + ("" if is_default else f":{port}")


# -- this machine ----------------------------------------------------------------------------


def is_on_this_machine(url: str) -> bool:
    """Whether what is sent to a URL cannot leave this machine."""
    place = origin(url)
    return place == LOCAL_ORIGIN or is_loopback(urlsplit(place).hostname or "")


@lru_cache(maxsize=256)  # asked for every request, and nearly always about the same few hosts
def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine wherever it is used."""
    address = _address(canonical_host(host))
    return address is not None and address.is_loopback


def canonical_host(host: str) -> str:
    """Return a host in lower case, without the dot that ends a full name, and localhost as its address."""
    host = host.lower()
    name = host.removesuffix(".")
    if name == "localhost":
        return "127.0.0.1"
    return host if _address(name) is not None else name  # an address with a dot is none, but a name to look up


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
