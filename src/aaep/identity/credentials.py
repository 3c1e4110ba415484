"""
Who is at the other end of a connection, and what that one may do. SEC-002, SEC-032, SEC-037 §10

A transport collects :class:`Credentials`, as it has proved them, before it
reads anything else, and an :class:`Identity` makes a
:class:`~aaep.transports.base.Peer` of them or refuses. A ``subscriber_id`` is only a
label within that (CF-065).

Here are those that need no secret; :mod:`aaep.identity.tokens` has bearer tokens,
:mod:`aaep.identity.jwt` tokens that somebody else has signed. :class:`First` joins
several.

* :exc:`~aaep.errors.AaepError`
    * :exc:`Unauthenticated`: it is not known who this is
        * :exc:`TooManyGuesses`: and there were many like it
        * :exc:`Unsettled`: it may be known in a moment
    * :exc:`Unauthorised`: it is known, and may not
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
ALL_PRINCIPALS: Final = "*"  # as an audience: all who are let in


class Unauthenticated(AaepError):
    """It is not known who this is. The message says how to show it, and nothing about what was shown."""


class TooManyAttempts(Unauthenticated):
    """It is not known who this is, and too much that was wrong came from there. Wait ``seconds``."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AuthenticationPending(Unauthenticated):
    """What is needed to tell is on its way: once ``coming`` is done, ask again. Refused if nobody waits for it."""

    def __init__(self, message: str, completion: asyncio.Future[None]) -> None:
        super().__init__(message)
        self.completion = completion


class Unauthorised(AaepError):
    """Whoever this is may not do that."""


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """What a connection showed of itself. What the transport cannot prove is left out."""

    transport: str  # its name in a manifest: sse, websocket, unix-socket, grpc, stdio-jsonrpc
    bearer: str = ""  # the token of an Authorization header, without "Bearer"
    certificate: dict[str, Any] | None = None  # of the peer, verified by TLS, as ssl's getpeercert() gives it
    uid: int | None = None  # of the peer's process, by the kernel (CF-105, CF-107)
    pid: int | None = None
    is_loopback: bool = False  # the connection cannot have come from another machine
    is_over_pipes: bool = False  # the peer started us, or we started it, over pipes
    address: str = ""  # for counting failures and for the log


class Identity(Protocol):
    """
    Decides who somebody is.

    It may also have ``ready()``, awaited before a door opens; ``bearer``, true
    if it judges bearer tokens; and ``several``, false if all it lets in are one
    and the same person, the owner of the agent.
    """

    def authenticate(self, credentials: Credentials) -> Peer:
        """The peer, or :exc:`Unauthenticated`, or :exc:`Unauthorised`. Does not wait."""


async def authenticate_peer(identity: Identity, credentials: Credentials) -> Peer:
    """The same, and waits if that may help."""
    try:
        return identity.authenticate(credentials)
    except AuthenticationPending as error:
        await asyncio.wait([error.completion])
        return identity.authenticate(credentials)


# -- what is granted ------------------------------------------------------------------------


class Grant(msgspec.Struct, frozen=True):
    """Who somebody is, and what they may do."""

    principal: str
    roles: frozenset[str] = frozenset({REPLIER})

    def to_peer(self, credentials: Credentials, expires_at: float | None = None) -> Peer:
        return Peer(self.principal, credentials.transport, self.roles, expires_at)


def validate_principal(name: str) -> str:
    """A name for somebody, if it can be one."""
    if not 0 < len(name) <= 256 or not name.isprintable() or name.strip() != name or name == ALL_PRINCIPALS:
        raise AaepError(f"{name[:300]!r} cannot be the name of somebody. Use printable text of at most 256 characters.")
    return name


def validate_roles(names: str | Iterable[str]) -> frozenset[str]:
    """Roles, if they exist and go together."""
    roles = frozenset([names] if isinstance(names, str) else names)
    if not roles or not roles <= {*ROLES}:
        raise AaepError(f"Every role is one of {', '.join(ROLES)}; at least one is needed.")
    if {AUDITOR, REPLIER} <= roles:
        raise AaepError("An auditor hears what was meant for others, so it answers nothing. Make two credentials.")
    return roles


def validate_nonlocal_principal(name: str) -> str:
    """A name for who is known by what they show: that makes nobody the user of this machine, who is known by birth."""
    if name == LOCAL_PRINCIPAL:
        raise AaepError(
            f"{LOCAL_PRINCIPAL!r} is the user of this machine, and no credential makes somebody that. Use another name."
        )
    return validate_principal(name)


def build_grant(spec: str | tuple[str, str | Iterable[str]] | Grant, *, local: bool = False) -> Grant:
    """A grant: from a principal, who may then answer, or from a principal and roles. ``local``: by birth, not proof."""
    if isinstance(spec, Grant):
        spec = (spec.principal, spec.roles)
    name, roles = (spec, REPLIER) if isinstance(spec, str) else spec
    return Grant(validate_principal(name) if local else validate_nonlocal_principal(name), validate_roles(roles))


def resolve_audience(
    audience: str | Iterable[str] | None, requested_by: str | None, *, is_multi_user: bool
) -> frozenset[str] | None:
    """
    Who may hear a session (CF-145).

    Without a word it is for whoever started it: for the user it was requested
    by, ``user:<id>``, else for the user of this machine. Where all who are let
    in are one person, that is everybody.
    """
    if audience == ALL_PRINCIPALS:
        return None
    if audience is not None:
        return frozenset([audience] if isinstance(audience, str) else audience)
    if not is_multi_user:
        return None
    kind, _, name = (requested_by or "").partition(":")
    return frozenset({name if kind == "user" and name else LOCAL_PRINCIPAL})


# -- without a secret -----------------------------------------------------------------------


class Local:
    """
    The user of this machine, and nobody else: what there is without configuration.

    On loopback that is whoever can connect, kept from web pages by the
    transport; on a socket, the user this process belongs to; on pipes, who
    started us. With ``repliers``, paths of programs, only those may answer
    (CF-141), where the kernel tells which program it is; all others listen.
    """

    is_multi_user = False

    def __init__(self, uid: int | None = None, *, repliers: Iterable[str] | None = None) -> None:
        self._uid = os.geteuid() if uid is None and hasattr(os, "geteuid") else uid
        self._repliers = None if repliers is None else frozenset(os.path.realpath(one) for one in repliers)

    def authenticate(self, credentials: Credentials) -> Peer:
        if (
            credentials.is_over_pipes
            or (credentials.uid is not None and credentials.uid == self._uid)
            or (credentials.is_loopback and credentials.uid is None)
        ):
            if credentials.pid is None and self._repliers is None:
                return _local_peer(credentials.transport)
            program = _find_program(credentials.pid)
            may = self._repliers is None or program in self._repliers
            process = (
                "" if credentials.pid is None else f"Process {credentials.pid}, {program or 'of an unknown program'}."
            )
            roles = frozenset({REPLIER if may else LISTENER, AGENT})  # CF-141: it may tell, if not answer
            return Peer(LOCAL_PRINCIPAL, credentials.transport, roles, process=process)
        raise Unauthenticated("Only the user of this machine is let in here.")


@lru_cache
def _local_peer(transport: str) -> Peer:
    """The user of this machine, of whom nothing else is known; the same one for all requests."""
    return Peer(LOCAL_PRINCIPAL, transport, frozenset({REPLIER, AGENT}))


def _find_program(pid: int | None) -> str:
    """The path of the program that a process runs, if it can be told."""
    try:
        return "" if pid is None else os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


class Parent:
    """Whoever is at the other end of our pipes: who started us, or was started by us (SEC-036)."""

    is_multi_user = False

    def __init__(self, principal: str = LOCAL_PRINCIPAL, roles: str | Iterable[str] = (REPLIER, AGENT)) -> None:
        self._grant = build_grant((principal, roles), local=True)

    def authenticate(self, credentials: Credentials) -> Peer:
        if not credentials.is_over_pipes:
            raise Unauthenticated("Only processes that know each other by birth are let in here.")
        return self._grant.to_peer(credentials)


class Users:
    """Users of this machine by their number, as the kernel tells it of a socket's other end (SEC-036, CF-105)."""

    def __init__(self, users: Mapping[int, str | tuple[str, str | Iterable[str]] | Grant]) -> None:
        self._grants = {uid: build_grant(one, local=True) for uid, one in users.items()}

    def authenticate(self, credentials: Credentials) -> Peer:
        if credentials.uid is None:
            raise Unauthenticated("Only users of this machine, over a socket of it, are let in here.")
        if credentials.uid not in self._grants:
            raise Unauthorised("This user of the machine is not on the list of those who are let in.")
        process = (
            ""
            if credentials.pid is None
            else f"Process {credentials.pid}, {_find_program(credentials.pid) or 'of an unknown program'}."
        )
        return msgspec.structs.replace(self._grants[credentials.uid].to_peer(credentials), process=process)


class Certificates:
    """
    Holders of certificates, by a name that the certificate has: mutual TLS (SEC-013).

    Names are written with their kind: ``DNS:tablet.example``, ``email:ada@example.org``,
    ``URI:spiffe://home/ada``, ``CN:Ada``. Whether a certificate is genuine is
    for TLS to say: the door needs ``client_ca=``.
    """

    def __init__(self, names: Mapping[str, str | tuple[str, str | Iterable[str]] | Grant]) -> None:
        self._grants = {}
        for name, one in names.items():
            kind, colon, value = name.partition(":")
            if kind.lower() not in ("dns", "email", "uri", "cn") or not colon or not value:
                raise AaepError(f"{name!r} is no name in a certificate. Write it like DNS:tablet.example or CN:Ada.")
            self._grants[_normalize_name(kind, value)] = build_grant(one)

    def authenticate(self, credentials: Credentials) -> Peer:
        if not credentials.certificate:
            raise Unauthenticated("Connect with a client certificate.")
        found = {self._grants[name] for name in _certificate_names(credentials.certificate) if name in self._grants}
        if len(found) != 1:  # nobody, or who knows who
            raise Unauthorised("This certificate does not name exactly one of those who are let in.")
        ends = credentials.certificate.get("notAfter")
        return found.pop().to_peer(credentials, None if ends is None else float(ssl.cert_time_to_seconds(ends)))


def _normalize_name(kind: str, value: str) -> tuple[str, str]:
    return kind.lower(), value.lower() if kind.lower() == "dns" else value


def _certificate_names(certificate: dict[str, Any]) -> set[tuple[str, str]]:
    common = [value for part in certificate.get("subject", ()) for kind, value in part if kind == "commonName"]
    other = [
        _normalize_name(kind, value) for kind, value in certificate.get("subjectAltName", ()) if isinstance(value, str)
    ]
    return {*other, *(("cn", value) for value in common)}


# -- several ----------------------------------------------------------------------------------


class First:
    """
    The first that knows somebody: ``First(Tokens(path), Local())``.

    Who shows a token is judged by it alone: one that is wrong, or has expired,
    does not make somebody else of its bearer.
    """

    def __init__(self, *identities: Identity) -> None:
        if not identities:
            raise AaepError("Name at least one identity, or nobody is ever let in.")
        self._identities = identities
        self.can_verify_bearer = any(getattr(one, "can_verify_bearer", False) for one in identities)
        self.is_multi_user = any(getattr(one, "is_multi_user", True) for one in identities)

    async def prepare(self) -> None:
        for one in self._identities:
            if hasattr(one, "prepare"):
                await one.prepare()

    def authenticate(self, credentials: Credentials) -> Peer:
        tried = (
            [one for one in self._identities if getattr(one, "can_verify_bearer", False)] if credentials.bearer else []
        )
        said: list[Unauthenticated] = []
        for one in tried or self._identities:
            try:
                return one.authenticate(credentials)
            except Unauthenticated as error:
                said.append(error)
        raise next((one for one in said if isinstance(one, AuthenticationPending)), said[0])
