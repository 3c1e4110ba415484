"""Where a door may be opened, and to whom: the same for every transport that has an address on a network."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl as tls
from typing import NamedTuple
from urllib.parse import SplitResult

from ..errors import AaepError
from ..identity.credentials import Identity, Local
from ..identity.origins import DEFAULT_PORTS, ENCRYPTED_SCHEMES, is_loopback, over_http
from ..identity.rate_limit import RateLimitedIdentity
from ..identity.tokens import StaticToken
from ..runtime.files import open_regular_file
from .base import Reachable

__all__ = ["Place", "address", "admitting", "context", "listening", "placed"]


class Place(NamedTuple):
    """An address to listen on. ``local``: only this machine can reach it."""

    scheme: str
    host: str
    port: int
    numeric: str
    local: bool
    admits: Identity

    def at(self, port: int) -> str:
        """Its URL, with the port that was really taken."""
        return f"{self.scheme}://{self._name}:{port}"

    def answers_to(self, port: int) -> tuple[str, str]:
        """What the Host header of a request says that goes to that URL; a usual port is left out there."""
        usual = port == DEFAULT_PORTS[over_http(self.scheme)]
        return f"{self._name}:{port}", self._name if usual else f"{self._name}:{port}"

    @property
    def _name(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def admitting(identity: Identity | None, token: str | None) -> Identity | None:
    """Who decides who is let in; ``token`` is short for one that never expires."""
    if token is None:
        return identity
    if identity is not None:
        raise AaepError("Give either token= or identity=. First(...) joins several identities.")
    return RateLimitedIdentity(StaticToken(token))


async def placed(
    url: str, parts: SplitResult, port: int, identity: Identity | None, *, encrypted: bool, path: str = ""
) -> Place:
    """The place that a URL names, unless other machines can reach it and it is not safe for that. TR-024, TR-027"""
    if parts.path not in ("", "/", path):
        raise AaepError(f"The paths of a server are given by the protocol. Leave {parts.path!r} out of {url!r}.")
    host = parts.hostname or "127.0.0.1"
    numeric = await address(host, port)
    local = is_loopback(numeric)
    if not local and (not encrypted or identity is None or isinstance(identity, Local)):
        raise Reachable(
            url,
            f"{url!r} can be reached from other machines, so it needs TLS and a credential: "
            f"use {ENCRYPTED_SCHEMES.get(parts.scheme, parts.scheme)}:// with cert= and key=, and identity= or token=. "
            "For this machine only, listen on 127.0.0.1.",
        )
    return Place(parts.scheme, host, port, numeric, local, Local() if identity is None else identity)


# -- http_address --


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
    encrypted = ENCRYPTED_SCHEMES.get(scheme)
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
            open_regular_file(client_ca).close()
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
                open_regular_file(path).close()
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
