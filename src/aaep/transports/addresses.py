"""Listen addresses, TLS contexts and sockets for the transports that listen on a network."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from typing import NamedTuple
from urllib.parse import SplitResult

from ..errors import AaepError
from ..identity.credentials import Identity, Local
from ..identity.origins import SCHEMES, canonical_host, encrypted_scheme, format_host, is_loopback
from ..identity.rate_limit import RateLimitedIdentity
from ..identity.tokens import StaticToken
from ..runtime.files import open_regular_file
from .base import UnprotectedAddress
from .options import ServerOptions, Tls

__all__ = [
    "ListenAddress",
    "bind_socket",
    "choose_identity",
    "make_client_ssl_context",
    "make_server_ssl_context",
    "resolve_host",
    "resolve_listen_address",
]


class ListenAddress(NamedTuple):
    """An address to listen on, and the identity that authenticates its clients."""

    scheme: str
    host: str
    ip_address: str  # of the host
    is_local: bool  # whether only this machine can reach it
    identity: Identity

    def build_url(self, port: int) -> str:
        """Return the URL of the address with the port that was bound."""
        return f"{self.scheme}://{format_host(self.host)}:{port}"

    def build_host_headers(self, port: int) -> tuple[str, ...]:
        """Return the Host headers that requests to the address may have; a default port may be omitted."""
        name = format_host(self.host)
        with_port = f"{name}:{port}"
        return (with_port, name) if port == SCHEMES[self.scheme].default_port else (with_port,)


def choose_identity(options: ServerOptions) -> Identity | None:
    """Return the identity that a server's options name; ``token`` stands for one token that never expires."""
    if options.token is None:
        return options.identity
    if options.identity is not None:
        raise AaepError("Give either token= or identity=. First(...) joins several identities.")
    return RateLimitedIdentity(StaticToken(options.token))


async def resolve_listen_address(
    url: str, parts: SplitResult, port: int, identity: Identity | None, *, is_encrypted: bool, path: str = ""
) -> ListenAddress:
    """Return the address of a URL; raise if other machines could reach it without protection (TR-024, TR-027)."""
    if parts.path not in ("", "/", path):
        raise AaepError(f"The paths of a server are given by the protocol. Leave {parts.path!r} out of {url!r}.")
    host = parts.hostname or "127.0.0.1"
    numeric = await resolve_host(host, port)
    is_local = is_loopback(numeric)
    if not is_local and (not is_encrypted or identity is None or isinstance(identity, Local)):
        raise UnprotectedAddress(
            url,
            f"{url!r} can be reached from other machines, so it needs TLS and a credential: "
            f"use {encrypted_scheme(parts.scheme) or parts.scheme}:// with tls=Tls(cert=…, key=…), "
            "and identity= or token=. For this machine only, listen on 127.0.0.1.",
        )
    return ListenAddress(parts.scheme, host, numeric, is_local, Local() if identity is None else identity)


# -- TLS -----------------------------------------------------------------------------------


def make_server_ssl_context(url: str, scheme: str, tls: Tls | None) -> ssl.SSLContext | None:
    """Return the TLS context of a server; None for an unencrypted scheme. ``tls.ca`` enables client certificates."""
    encrypted = encrypted_scheme(scheme)
    if encrypted is not None:
        if tls is not None:
            raise AaepError(f"{url!r} would not be encrypted although tls= is given. Use {encrypted}://.")
        return None
    tls = Tls() if tls is None else tls
    if tls.context is not None and tls.ca is not None:
        raise AaepError("A context has its own list of who issues client certificates. Leave ca= out of Tls(…).")
    if tls.context is not None and tls.cert is None and tls.key is None:
        if tls.context.minimum_version < ssl.TLSVersion.TLSv1_2:  # TR-027
            raise AaepError("The context of Tls(…) allows TLS older than 1.2. Raise its minimum_version.")
        return tls.context
    if tls.context is not None or tls.cert is None:
        raise AaepError(
            f"{scheme}:// needs either tls=Tls(context=…) or tls=Tls(cert=…, key=…), two files in PEM format."
        )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # TR-027; 1.3 is used where both sides know it (TR-028)
    _load_certificate(context, tls.cert, tls.key)
    if tls.ca is not None:
        _load_authorities(context, tls.ca)
        context.verify_mode = ssl.CERT_OPTIONAL  # the identity decides whether a certificate is required
    return context


def make_client_ssl_context(tls: Tls | None) -> ssl.SSLContext | None:
    """Return the TLS context of a client; None for the system's authorities and no client certificate."""
    if tls is None:
        return None
    if tls.context is not None:
        return tls.context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # TR-027
    if tls.ca is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    else:
        _load_authorities(context, tls.ca)
    if tls.cert is not None:
        _load_certificate(context, tls.cert, tls.key)
    return context


def _load_authorities(context: ssl.SSLContext, ca: str) -> None:
    try:
        open_regular_file(ca).close()
        context.load_verify_locations(ca)
    except OSError as error:  # SSLError is a subclass
        raise AaepError(f"The file ca={ca!r} cannot be used: {error.strerror or error}.") from error


def _load_certificate(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    """Load a certificate and its key, naming the faulty file in the error, which OpenSSL does not."""

    def refuse_pass_phrase() -> str:  # OpenSSL would prompt for it at the terminal
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
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(cert)
    except OSError as error:  # SSLError is a subclass
        raise AaepError(f"cert={cert!r} cannot be used: it holds no certificate in PEM format.") from error
    try:
        context.load_cert_chain(cert, key, refuse_pass_phrase)
    except OSError as error:
        is_mismatch = "MISMATCH" in str(error)
        why = f"it does not belong to the certificate {cert!r}" if is_mismatch else "it holds no key in PEM format"
        raise AaepError(f"key={key or cert!r} cannot be used: {why}.") from error


# -- sockets -------------------------------------------------------------------------------


async def resolve_host(host: str, port: int) -> str:
    """Return a single IP address of a host, so that the address that is checked is the one that is bound."""
    try:
        resolved = await asyncio.get_running_loop().getaddrinfo(canonical_host(host), port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise AaepError(f"No address was found for {host!r}: {error}. Try 127.0.0.1.") from error
    addresses = [str(sockaddr[0]) for *_, sockaddr in resolved]
    return min(addresses, key=lambda address: ":" in address)  # IPv4 first


def bind_socket(url: str, host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address. Errors name the URL that the address came from."""
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
