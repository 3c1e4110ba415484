"""
Addresses of HTTP servers: reading them, telling which of them stay on this machine, and listening on them.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl as tls
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ..errors import AaepError
from ..runtime.files import regular

__all__ = [
    "DEFAULT_PORTS",
    "ENCRYPTED",
    "address",
    "context",
    "is_loopback",
    "listening",
    "origin_of",
    "over_http",
    "split",
]

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
ENCRYPTED: Final = {"http": "https", "ws": "wss", "grpc": "grpcs"}
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


# -- listening -----------------------------------------------------------------------------


def context(
    url: str,
    scheme: str,
    ssl: tls.SSLContext | None,
    cert: str | None,
    key: str | None,
    client_ca: str | None = None,
) -> tls.SSLContext | None:
    """What to encrypt with, if the URL says so. Who shows a certificate of ``client_ca`` has proved who they are."""
    settings = (("ssl", ssl), ("cert", cert), ("key", key), ("client_ca", client_ca))
    given = [name for name, value in settings if value is not None]
    encrypted = ENCRYPTED.get(scheme)
    if encrypted is not None:
        if given:
            raise AaepError(f"{url!r} would not be encrypted although {given[0]}= is given. Use {encrypted}://.")
        return None
    if ssl is not None and client_ca is not None:
        raise AaepError("A context, ssl=, has its own list of who issues client certificates. Leave client_ca= out.")
    if ssl is not None and cert is None and key is None:
        if ssl.minimum_version < tls.TLSVersion.TLSv1_2:  # TR-027
            raise AaepError("The ssl= context allows TLS older than 1.2. Raise its minimum_version.")
        return ssl
    if ssl is not None or cert is None:
        raise AaepError(f"{scheme}:// needs either ssl=, a context, or cert= and key=, two files in PEM format.")
    made = tls.create_default_context(tls.Purpose.CLIENT_AUTH)
    made.minimum_version = tls.TLSVersion.TLSv1_2  # TR-027; 1.3 is used where both sides know it (TR-028)
    _load(made, cert, key)
    if client_ca is not None:
        try:
            regular(client_ca).close()
            made.load_verify_locations(client_ca)
        except OSError as error:  # SSLError is one
            raise AaepError(f"The file client_ca={client_ca!r} cannot be used: {error.strerror or error}.") from error
        made.verify_mode = tls.CERT_OPTIONAL  # whether one is needed is for the identity to say
    return made


def _load(made: tls.SSLContext, cert: str, key: str | None) -> None:
    """The certificate and its key. OpenSSL names neither file when it cannot use one, so that is found out here."""

    def locked() -> str:  # it would ask whoever sits at the terminal, if anybody does
        raise AaepError(
            f"The key in {key or cert!r} needs a pass phrase. Give one without, in a file only you can read."
        )

    for name, path in (("cert", cert), ("key", key)):
        try:
            if path is not None:
                regular(path).close()
        except OSError as error:
            raise AaepError(f"{name}={path!r} cannot be used: {error.strerror or error}.") from error
    try:
        tls.SSLContext(tls.PROTOCOL_TLS_SERVER).load_verify_locations(cert)
    except OSError as error:  # SSLError is one
        raise AaepError(f"cert={cert!r} cannot be used: it holds no certificate in PEM format.") from error
    try:
        made.load_cert_chain(cert, key, locked)
    except OSError as error:
        other = "MISMATCH" in str(error)
        why = f"it does not belong to the certificate {cert!r}" if other else "it holds no key in PEM format"
        raise AaepError(f"key={key or cert!r} cannot be used: {why}.") from error


async def address(host: str, port: int) -> str:
    """The one address to listen on. Its own resolution, so that what is checked is what is bound."""
    if host.lower() == "localhost":
        return "127.0.0.1"
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise AaepError(f"No address was found for {host!r}: {error}. Try 127.0.0.1.") from error
    addresses = [str(one[4][0]) for one in found]
    return min(addresses, key=lambda one: ":" in one)


def listening(url: str, host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        advice = {
            errno.EADDRINUSE: f"Port {port} is in use. Stop what uses it, choose another, or 0 for any free one.",
            errno.EACCES: f"Port {port} may not be used without special rights. Choose one above 1023, or 0.",
            errno.EADDRNOTAVAIL: f"{host} is not an address of this machine. Use 127.0.0.1 or one of its own.",
        }
        said = advice.get(error.errno or 0, f"{error}.")
        raise AaepError(f"Cannot listen at {url!r}. {said}") from error
