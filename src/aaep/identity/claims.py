"""
What a manifest claims: reading it, signed or not, and comparing it with a connection. §5.10, §10.4.2

Nothing here knows of keys; see :mod:`aaep.identity.manifests` for those.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from ..errors import AaepError
from ..protocol import codec
from ..protocol.attend_extension import marked
from ..protocol.messages import Capabilities, Manifest
from ..text.languages import honoured
from ..text.phrases import neutralise

__all__ = [
    "ENCRYPTED",
    "LOCAL_ORIGIN",
    "TRANSPORTS",
    "ManifestInvalid",
    "Reason",
    "consistent",
    "is_signed",
    "on_this_machine",
    "origin",
    "origins",
    "read",
    "same_origin",
    "shown",
]

Reason = Literal["unsigned", "malformed", "algorithm", "key", "signature", "agent", "date", "origin", "claims"]

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
_TYPE: Final = "aaep:producer.manifest"
_LOCAL: Final = ("unix", "pipe", "stdio")
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_PLAIN: Final = re.compile("^ws")


class ManifestInvalid(AaepError):
    """A manifest does not prove who the producer is. The message says why."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


# -- reading -------------------------------------------------------------------------------


def is_signed(given: bytes | str) -> bool:
    """CF-124: a JWS and a JSON object differ in their first character."""
    text = given if isinstance(given, bytes) else given.encode(errors="replace")
    return text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"")


def read(given: bytes | str) -> Manifest:
    """What a manifest says, signed or not. Nothing is verified."""
    data = given if isinstance(given, bytes) else given.encode(errors="replace")
    if is_signed(data):
        data = _payload(data)
    try:
        message = codec.decode(data)
    except AaepError as error:
        raise ManifestInvalid("malformed", f"This is no manifest. {neutralise(_wrong(data, error))}") from error
    if not isinstance(message, Manifest):
        raise ManifestInvalid("malformed", "This is some other message of AAEP, and no manifest.")
    return message


def _wrong(data: bytes, error: AaepError) -> str:
    """What is wrong with it as a manifest: without its type it would be judged as an event (MAN-003)."""
    try:
        given = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return str(error)
    if not isinstance(given, dict) or "type" in given:
        return str(error)
    missing = f"MAN-003: type is missing. Add it: {_TYPE}."
    try:
        codec.decode(msgspec.json.encode({**given, "type": _TYPE}))
    except AaepError as more:
        return f"{missing} {str(more).removeprefix('This is not a usable AAEP message. ')}"
    return missing


def _payload(data: bytes) -> bytes:
    parts = data.strip().split(b".")
    try:
        if len(parts) != 3:
            raise ValueError("a JWS has three parts")
        return base64.b64decode(parts[1] + b"=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise ManifestInvalid("malformed", "This is neither a manifest nor a signed one.") from error


# -- addresses -----------------------------------------------------------------------------


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


def origins(manifest: Manifest) -> tuple[str, ...]:
    """Where a manifest says that the producer is to be found (CF-120); what is no such place is left out."""
    given = marked(manifest, "origins")
    return tuple(one for one in given if isinstance(one, str) and origin(one)) if isinstance(given, list) else ()


def _address(host: str, kind: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), kind))
    except ValueError:
        return False


# -- comparing -----------------------------------------------------------------------------


def consistent(manifest: Manifest, *, transport: str | None, terms: Capabilities) -> None:
    """MAN-025: what is offered on this subscription is what the manifest says. Raises :exc:`ManifestInvalid`."""
    if transport is not None and transport not in manifest.transports_supported:
        raise ManifestInvalid("claims", f"The manifest does not list the transport {transport}, which is in use.")
    levels = () if terms.supported_conformance_levels is UNSET else terms.supported_conformance_levels
    more = {*levels} - {*manifest.conformance_levels_supported}
    if more:
        raise ManifestInvalid("claims", f"The manifest does not list level {min(more)}, which was granted.")
    languages = () if terms.languages is UNSET else terms.languages
    served = honoured(languages, manifest.languages_supported)
    for tag in languages:
        if tag.lower() not in {one.lower() for one in served}:  # of two spellings one is named
            raise ManifestInvalid(
                "claims", f"The language {shown(tag)} was granted, and the manifest does not list it."
            )


def shown(text: str) -> str:
    """A stranger's word, fit for a sentence of ours."""
    return neutralise(text[:200])
