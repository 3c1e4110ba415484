"""Where a server may listen, and to whom: the same for every transport that has an address on a network."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl as tls
from typing import NamedTuple
from urllib.parse import SplitResult

from ..errors import AaepError
from ..identity.credentials import Identity, Local
from ..identity.origins import SCHEMES, canonical_host, encrypted_scheme, format_host, is_loopback
from ..identity.rate_limit import RateLimitedIdentity
from ..identity.tokens import StaticToken
from ..runtime.files import open_regular_file
from .base import Reachable

__all__ = [
    "ListenAddress",
    "bind_socket",
    "choose_identity",
    "make_ssl_context",
    "resolve_host",
    "resolve_listen_address",
]


class ListenAddress(NamedTuple):
    """An address to listen on."""

    scheme: str
    host: str
    numeric: str  # the address of the host
    is_local: bool  # whether only this machine can reach it
    identity: Identity  # decides who is let in

    def url(self, port: int) -> str:
        """Return its URL, with the port that was really taken."""
        return f"{self.scheme}://{format_host(self.host)}:{port}"

    def host_headers(self, port: int) -> tuple[str, ...]:
        """Return the Host headers of requests that go to that URL; a default port may be left out there."""
        name = format_host(self.host)
        with_port = f"{name}:{port}"
        return (with_port, name) if port == SCHEMES[self.scheme].default_port else (with_port,)


def choose_identity(identity: Identity | None, token: str | None) -> Identity | None:
    """Return what decides who is let in; ``token`` is short for one that never expires."""
    if token is None:
        return identity
    if identity is not None:
        raise AaepError("Give either token= or identity=. First(...) joins several identities.")
    return RateLimitedIdentity(StaticToken(token))


async def resolve_listen_address(
    url: str, parts: SplitResult, port: int, identity: Identity | None, *, is_encrypted: bool, path: str = ""
) -> ListenAddress:
    """Return the address that a URL names, unless other machines can reach it unprotected (TR-024, TR-027)."""
    if parts.path not in ("", "/", path):
        raise AaepError(f"The paths of a server are given by the protocol. Leave {parts.path!r} out of {url!r}.")
    host = parts.hostname or "127.0.0.1"
    numeric = await resolve_host(host, port)
    is_local = is_loopback(numeric)
    if not is_local and (not is_encrypted or identity is None or isinstance(identity, Local)):
        raise Reachable(
            url,
            f"{url!r} can be reached from other machines, so it needs TLS and a credential: "
            f"use {encrypted_scheme(parts.scheme) or parts.scheme}:// with cert= and key=, and identity= or token=. "
            "For this machine only, listen on 127.0.0.1.",
        )
    return ListenAddress(parts.scheme, host, numeric, is_local, Local() if identity is None else identity)


# -- TLS -----------------------------------------------------------------------------------


def make_ssl_context(
    url: str,
    scheme: str,
    ssl: tls.SSLContext | None,
    cert: str | None,
    key: str | None,
    client_ca: str | None = None,
) -> tls.SSLContext | None:
    """Return what to encrypt with, if the URL says so. A client with a certificate of ``client_ca`` is known by it."""
    settings = (("ssl", ssl), ("cert", cert), ("key", key), ("client_ca", client_ca))
    given = [name for name, value in settings if value is not None]
    encrypted = encrypted_scheme(scheme)
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
    context = tls.create_default_context(tls.Purpose.CLIENT_AUTH)
    context.minimum_version = tls.TLSVersion.TLSv1_2  # TR-027; 1.3 is used where both sides know it (TR-028)
    _load_certificate(context, cert, key)
    if client_ca is not None:
        try:
            open_regular_file(client_ca).close()
            context.load_verify_locations(client_ca)
        except OSError as error:  # SSLError is one
            raise AaepError(f"The file client_ca={client_ca!r} cannot be used: {error.strerror or error}.") from error
        context.verify_mode = tls.CERT_OPTIONAL  # whether one is needed is for the identity to say
    return context


def _load_certificate(context: tls.SSLContext, cert: str, key: str | None) -> None:
    """Load a certificate and its key. OpenSSL names neither file when it cannot use one, so that is found out here."""

    def refuse_pass_phrase() -> str:  # OpenSSL would ask for it at the terminal, if there is one
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
        context.load_cert_chain(cert, key, refuse_pass_phrase)
    except OSError as error:
        is_mismatch = "MISMATCH" in str(error)
        why = f"it does not belong to the certificate {cert!r}" if is_mismatch else "it holds no key in PEM format"
        raise AaepError(f"key={key or cert!r} cannot be used: {why}.") from error


# -- sockets -------------------------------------------------------------------------------


async def resolve_host(host: str, port: int) -> str:
    """Return the one address of a host to listen on, so that what is checked is what is bound."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(canonical_host(host), port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise AaepError(f"No address was found for {host!r}: {error}. Try 127.0.0.1.") from error
    addresses = [str(sockaddr[0]) for *_, sockaddr in found]
    return min(addresses, key=lambda address: ":" in address)  # IPv4 first


def bind_socket(url: str, host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; what is wrong with it is said with the URL that named it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        advice = {
            errno.EADDRINUSE: f"Port {port} is in use. Stop what uses it, choose another, or 0 for any free one.",
            errno.EACCES: f"Port {port} may not be used without special rights. Choose one above 1023, or 0.",
            errno.EADDRNOTAVAIL: f"{host} is not an address of this machine. Use 127.0.0.1 or one of its own.",
        }
        text = advice.get(error.errno or 0, f"{error}.")
        raise AaepError(f"Cannot listen at {url!r}. {text}") from error
