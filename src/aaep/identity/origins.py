"""Which host, port and origin a URL means, and whether that is this machine."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ..errors import AaepError

__all__ = [
    "DEFAULT_PORTS",
    "ENCRYPTED",
    "ENCRYPTED_SCHEMES",
    "LOCAL_ORIGIN",
    "TRANSPORTS",
    "is_loopback",
    "on_this_machine",
    "origin",
    "origin_of",
    "over_http",
    "parts_of",
    "same_origin",
    "split",
]

TRANSPORTS: Final = {  # CF-119
    "http": "sse",
    "https": "sse",
    "asgi+http": "sse",
    "ws": "websocket",
    "wss": "websocket",
    "unix": "unix-socket",
    "pipe": "named-pipe",
    "grpc": "grpc",
    "grpcs": "grpc",
    "stdio": "stdio-jsonrpc",
}


ENCRYPTED: Final = ("https", "wss", "grpcs")


LOCAL_ORIGIN: Final = "local"  # sockets and pipes, which the kernel keeps to one user (CF-120)


_LOCAL: Final = ("unix", "pipe", "stdio")


_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}


_PLAIN: Final = re.compile("^ws")


def origin(url: str) -> str:
    """
    The place that a URL leads to, without its path; empty if nobody can connect to that.

    Where the protocol has a usual port it is left out, and localhost is written as its address.
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        return ""
    scheme = scheme.rpartition("+")[2]
    if scheme in _LOCAL or url == LOCAL_ORIGIN:
        return LOCAL_ORIGIN
    host = "127.0.0.1" if host == "localhost" else host
    if scheme not in TRANSPORTS or not host or _address(host, "is_unspecified"):
        return ""
    place = f"[{host}]" if ":" in host else host
    return f"{scheme}://{place}" if port in (None, _PORTS.get(scheme)) else f"{scheme}://{place}:{port}"


def same_origin(one: str, other: str) -> bool:
    """Whether two URLs lead to the same place. A WebSocket begins as HTTP, with the same port and certificate."""
    first, second = (_PLAIN.sub("http", origin(url)) for url in (one, other))
    return bool(first) and first == second


def on_this_machine(url: str) -> bool:
    """Whether what is sent to a URL cannot leave this machine."""
    place = origin(url)
    return place == LOCAL_ORIGIN or _address(urlsplit(place).hostname or "", "is_loopback")


def _address(host: str, kind: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), kind))
    except ValueError:
        return False


def parts_of(url: str) -> SplitResult:
    """The parts of a URL; what is none is told as such."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # it is read only now
    except ValueError as error:
        raise AaepError(f"{url!r} is not a URL: {error}. Write it like http://127.0.0.1:8137.") from None
    return parts


DEFAULT_PORTS: Final = {"http": 80, "https": 443}


ENCRYPTED_SCHEMES: Final = {"http": "https", "ws": "wss", "grpc": "grpcs"}


_HTTP: Final = {"ws": "http", "wss": "https", "grpc": "http", "grpcs": "https"}  # what these are below


def split(url: str, schemes: tuple[str, ...] = ("http", "https")) -> tuple[SplitResult, int]:
    """The parts of a URL of one of these schemes, and its port."""
    like = f"{schemes[0]}://127.0.0.1:8137"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AaepError(f"{url!r} is not a URL: {error}. Write it like {like}.") from None
    if parts.scheme not in schemes or not parts.netloc or parts.query or parts.fragment:
        raise AaepError(f"{url!r} is not the address of an AAEP server. Write it like {like}.")
    if parts.username is not None or parts.password is not None:
        raise AaepError("No credentials in a URL: it reaches logs and histories. Use token= instead.")
    return parts, DEFAULT_PORTS[_HTTP.get(parts.scheme, parts.scheme)] if port is None else port


def over_http(url: str) -> str:
    """The same address as one of HTTP: a WebSocket begins as a request."""
    scheme, colon, rest = url.partition(":")
    return _HTTP.get(scheme, scheme) + colon + rest


@lru_cache(maxsize=64)  # it is asked for every request, and always the same
def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine wherever it is used."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def origin_of(url: str) -> str:
    """The origin of a URL as browsers write it: without the port that the scheme implies."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"
