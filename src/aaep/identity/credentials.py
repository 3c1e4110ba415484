"""
Authentication of the peers of a connection. SEC-002, SEC-032, SEC-037 §10

A transport collects :class:`Credentials`, as far as it can prove them, before it
reads anything else, and an :class:`Identity` turns them into a
:class:`~aaep.identity.peer.Peer` or refuses. A ``subscriber_id`` is only a label
within that (CF-065).

The identities here need no secret; :mod:`aaep.identity.tokens` has bearer tokens,
:mod:`aaep.identity.jwt` tokens that an identity provider signs. :class:`First`
combines several.

* :exc:`~aaep.errors.AaepError`
    * :exc:`Unauthenticated`: the peer is unknown
        * :exc:`TooManyAttempts`: after too many wrong credentials
        * :exc:`AuthenticationPending`: it may be known in a moment
    * :exc:`Unauthorised`: the peer is known, and not allowed to
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec

from ..errors import AaepError
from .peer import AGENT, AUDITOR, LISTENER, LOCAL_PRINCIPAL, REPLIER, Peer

__all__ = [
    "ALL_PRINCIPALS",
    "ROLES",
    "AuthenticationPending",
    "Certificates",
    "Credentials",
    "First",
    "Grant",
    "Identity",
    "Local",
    "Parent",
    "TooManyAttempts",
    "Unauthenticated",
    "Unauthorised",
    "Users",
    "authenticate_peer",
    "build_grant",
    "resolve_audience",
    "validate_nonlocal_principal",
    "validate_principal",
    "validate_roles",
]

ROLES: Final = (LISTENER, REPLIER, AUDITOR, AGENT)
ALL_PRINCIPALS: Final = "*"  # as an audience: every peer


class Unauthenticated(AaepError):
    """The peer could not be authenticated. The message says how to, and nothing about what was sent."""


class TooManyAttempts(Unauthenticated):
    """The peer could not be authenticated, after too many failures. It should wait ``retry_after`` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AuthenticationPending(Unauthenticated):
    """The peer cannot be authenticated yet; try again once ``completion`` is done."""

    def __init__(self, message: str, completion: asyncio.Future[None]) -> None:
        super().__init__(message)
        self.completion = completion


class Unauthorised(AaepError):
    """The peer is known, and not allowed to do this."""


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """The credentials of a connection, as far as its transport can prove them."""

    transport: str  # its name in a manifest: sse, websocket, unix-socket, grpc, stdio-jsonrpc
    bearer: str = ""  # the token of an Authorization header, without "Bearer"
    certificate: dict[str, Any] | None = None  # of the peer, verified by TLS, as returned by getpeercert()
    uid: int | None = None  # of the peer's process, from the kernel (CF-105, CF-107)
    pid: int | None = None
    is_loopback: bool = False  # the connection comes from this machine
    is_over_pipes: bool = False  # the peer is our parent or child process
    address: str = ""  # for rate limiting and the log


class Identity(Protocol):
    """
    The interface of an authentication method.

    It may also have a coroutine ``prepare()``, awaited before a server opens;
    ``can_verify_bearer``, true if it verifies bearer tokens; and
    ``is_multi_user``, false if all peers it accepts are one and the same
    person, the owner of the agent.
    """

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer, or raise :exc:`Unauthenticated` or :exc:`Unauthorised`. Must not block."""


async def authenticate_peer(identity: Identity, credentials: Credentials) -> Peer:
    """Return the peer of some credentials, waiting for an authentication that is pending."""
    try:
        return identity.authenticate(credentials)
    except AuthenticationPending as error:
        await asyncio.wait([error.completion])
        return identity.authenticate(credentials)


# -- grants and audiences ---------------------------------------------------------------------


class Grant(msgspec.Struct, frozen=True):
    """A principal and the roles it is granted."""

    principal: str
    roles: frozenset[str] = frozenset({REPLIER})

    def to_peer(self, credentials: Credentials, expires_at: float | None = None) -> Peer:
        """Return the peer that has this grant on a connection."""
        return Peer(self.principal, credentials.transport, self.roles, expires_at)


def validate_principal(name: str) -> str:
    """Return a principal's name if it is valid, or raise :exc:`AaepError`."""
    if not 0 < len(name) <= 256 or not name.isprintable() or name.strip() != name or name == ALL_PRINCIPALS:
        raise AaepError(f"{name[:300]!r} cannot be the name of somebody. Use printable text of at most 256 characters.")
    return name


def validate_roles(names: str | Iterable[str]) -> frozenset[str]:
    """Return a set of roles if they exist and can be combined, or raise :exc:`AaepError`."""
    roles = frozenset([names] if isinstance(names, str) else names)
    if not roles or not roles <= {*ROLES}:
        raise AaepError(f"Every role is one of {', '.join(ROLES)}; at least one is needed.")
    if {AUDITOR, REPLIER} <= roles:
        raise AaepError("An auditor hears what was meant for others, so it answers nothing. Make two credentials.")
    return roles


def validate_nonlocal_principal(name: str) -> str:
    """Return a principal's name if it is valid for a credential, which never makes a peer the local user."""
    if name == LOCAL_PRINCIPAL:
        raise AaepError(
            f"{LOCAL_PRINCIPAL!r} is the user of this machine, and no credential makes somebody that. Use another name."
        )
    return validate_principal(name)


def build_grant(spec: str | tuple[str, str | Iterable[str]] | Grant, *, local: bool = False) -> Grant:
    """
    Return a validated grant for a principal, which may reply, or for a principal and roles.

    With ``local`` the principal may be the user of this machine, who is known
    without a credential.
    """
    if isinstance(spec, Grant):
        spec = (spec.principal, spec.roles)
    name, roles = (spec, REPLIER) if isinstance(spec, str) else spec
    principal = validate_principal(name) if local else validate_nonlocal_principal(name)
    return Grant(principal, validate_roles(roles))


def resolve_audience(
    audience: str | Iterable[str] | None, requested_by: str | None, *, is_multi_user: bool
) -> frozenset[str] | None:
    """
    Return the principals that may receive a session, None for all (CF-145).

    By default it is for the user who requested it, ``user:<id>``, else for the
    user of this machine. Where all peers are one person, it is for all.
    """
    if audience == ALL_PRINCIPALS:
        return None
    if audience is not None:
        return frozenset([audience] if isinstance(audience, str) else audience)
    if not is_multi_user:
        return None
    kind, _, name = (requested_by or "").partition(":")
    return frozenset({name if kind == "user" and name else LOCAL_PRINCIPAL})


# -- identities without a secret --------------------------------------------------------------


class Local:
    """
    Accepts only the user of this machine; the default without configuration.

    On loopback that is every client, with web pages excluded by the transport;
    on a socket, the user this process belongs to; on pipes, the parent process.
    With ``repliers``, paths of programs, only those may answer (CF-141), where
    the kernel tells which program it is; all others may only listen.
    """

    is_multi_user = False

    def __init__(self, uid: int | None = None, *, repliers: Iterable[str] | None = None) -> None:
        self._uid = os.geteuid() if uid is None and hasattr(os, "geteuid") else uid
        self._repliers = None if repliers is None else frozenset(map(os.path.realpath, repliers))

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the local user, or raise :exc:`Unauthenticated` for anyone else."""
        is_same_user = credentials.uid is not None and credentials.uid == self._uid
        is_loopback = credentials.is_loopback and credentials.uid is None
        if not (credentials.is_over_pipes or is_same_user or is_loopback):
            raise Unauthenticated("Only the user of this machine is let in here.")
        if credentials.pid is None and self._repliers is None:
            return _local_peer(credentials.transport)
        program = _find_program(credentials.pid)
        may_reply = self._repliers is None or program in self._repliers
        roles = frozenset({REPLIER if may_reply else LISTENER, AGENT})  # CF-141: publishing is always allowed
        process = _describe_process(credentials.pid, program)
        return Peer(LOCAL_PRINCIPAL, credentials.transport, roles, process=process)


@lru_cache
def _local_peer(transport: str) -> Peer:
    """Return the local user without a known process; one object for all requests."""
    return Peer(LOCAL_PRINCIPAL, transport, frozenset({REPLIER, AGENT}))


def _find_program(pid: int | None) -> str:
    """Return the path of the program that a process runs, empty if it cannot be found."""
    try:
        return "" if pid is None else os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def _describe_process(pid: int | None, program: str) -> str:
    return "" if pid is None else f"Process {pid}, {program or 'of an unknown program'}."


class Parent:
    """Accepts the process at the other end of our pipes, which started us or was started by us (SEC-036)."""

    is_multi_user = False

    def __init__(self, principal: str = LOCAL_PRINCIPAL, roles: str | Iterable[str] = (REPLIER, AGENT)) -> None:
        self._grant = build_grant((principal, roles), local=True)

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the configured peer for a connection over pipes."""
        if not credentials.is_over_pipes:
            raise Unauthenticated("Only processes that know each other by birth are let in here.")
        return self._grant.to_peer(credentials)


class Users:
    """Accepts users of this machine by their uid, which the kernel knows of a socket's peer (SEC-036, CF-105)."""

    def __init__(self, users: Mapping[int, str | tuple[str, str | Iterable[str]] | Grant]) -> None:
        self._grants = {uid: build_grant(spec, local=True) for uid, spec in users.items()}

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer with the grant of its uid."""
        if credentials.uid is None:
            raise Unauthenticated("Only users of this machine, over a socket of it, are let in here.")
        if credentials.uid not in self._grants:
            raise Unauthorised("This user of the machine is not on the list of those who are let in.")
        peer = self._grants[credentials.uid].to_peer(credentials)
        process = _describe_process(credentials.pid, _find_program(credentials.pid))
        return msgspec.structs.replace(peer, process=process)


class Certificates:
    """
    Accepts client certificates (mutual TLS) by a name in the certificate (SEC-013).

    Names are written with their kind: ``DNS:tablet.example``, ``email:ada@example.org``,
    ``URI:spiffe://home/ada``, ``CN:Ada``. TLS verifies the certificates: the
    server needs ``tls=Tls(ca=…)``.
    """

    def __init__(self, names: Mapping[str, str | tuple[str, str | Iterable[str]] | Grant]) -> None:
        self._grants = {}
        for name, spec in names.items():
            kind, colon, value = name.partition(":")
            if kind.lower() not in ("dns", "email", "uri", "cn") or not colon or not value:
                raise AaepError(f"{name!r} is no name in a certificate. Write it like DNS:tablet.example or CN:Ada.")
            self._grants[_normalize_name(kind, value)] = build_grant(spec)

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer with the grant of its certificate, until that expires."""
        if not credentials.certificate:
            raise Unauthenticated("Connect with a client certificate.")
        grants = {self._grants[name] for name in _certificate_names(credentials.certificate) if name in self._grants}
        if len(grants) != 1:  # none, or ambiguous
            raise Unauthorised("This certificate does not name exactly one of those who are let in.")
        not_after = credentials.certificate.get("notAfter")
        expires_at = None if not_after is None else float(ssl.cert_time_to_seconds(not_after))
        return grants.pop().to_peer(credentials, expires_at)


def _normalize_name(kind: str, value: str) -> tuple[str, str]:
    return kind.lower(), value.lower() if kind.lower() == "dns" else value


def _certificate_names(certificate: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the names in a certificate, each with its kind."""
    names = {("cn", value) for part in certificate.get("subject", ()) for kind, value in part if kind == "commonName"}
    for kind, value in certificate.get("subjectAltName", ()):
        if isinstance(value, str):
            names.add(_normalize_name(kind, value))
    return names


# -- combined identities ----------------------------------------------------------------------


class First:
    """
    Combines identities; the first that accepts the credentials decides: ``First(Tokens(path), Local())``.

    A bearer token is judged alone: a client with a wrong or expired token is
    not accepted by another identity instead.
    """

    def __init__(self, *identities: Identity) -> None:
        if not identities:
            raise AaepError("Name at least one identity, or nobody is ever let in.")
        self._identities = identities
        self.can_verify_bearer = any(getattr(identity, "can_verify_bearer", False) for identity in identities)
        self.is_multi_user = any(getattr(identity, "is_multi_user", True) for identity in identities)

    async def prepare(self) -> None:
        """Prepare all identities that need it."""
        for identity in self._identities:
            if hasattr(identity, "prepare"):
                await identity.prepare()

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer of the first identity that accepts the credentials, or raise the first error."""
        bearer_identities: list[Identity] = []
        if credentials.bearer:
            bearer_identities = [
                identity for identity in self._identities if getattr(identity, "can_verify_bearer", False)
            ]
        errors: list[Unauthenticated] = []
        for identity in bearer_identities or self._identities:
            try:
                return identity.authenticate(credentials)
            except Unauthenticated as error:
                errors.append(error)
        raise next((error for error in errors if isinstance(error, AuthenticationPending)), errors[0])
