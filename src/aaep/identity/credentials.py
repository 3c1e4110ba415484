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
from .peer import AGENT, AUDITOR, LISTENER, LOCAL, REPLIER, Peer

__all__ = [
    "EVERYBODY",
    "ROLES",
    "Certificates",
    "Credentials",
    "First",
    "Grant",
    "Identity",
    "Local",
    "Parent",
    "TooManyGuesses",
    "Unauthenticated",
    "Unauthorised",
    "Unsettled",
    "Users",
    "admitted",
    "as_principal",
    "as_roles",
    "as_stranger",
    "audience",
    "granted",
]

ROLES: Final = (LISTENER, REPLIER, AUDITOR, AGENT)
EVERYBODY: Final = "*"  # as an audience: all who are let in


class Unauthenticated(AaepError):
    """It is not known who this is. The message says how to show it, and nothing about what was shown."""


class TooManyGuesses(Unauthenticated):
    """It is not known who this is, and too much that was wrong came from there. Wait ``seconds``."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unsettled(Unauthenticated):
    """What is needed to tell is on its way: once ``coming`` is done, ask again. Refused if nobody waits for it."""

    def __init__(self, message: str, coming: asyncio.Future[None]) -> None:
        super().__init__(message)
        self.coming = coming


class Unauthorised(AaepError):
    """Whoever this is may not do that."""


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """What a connection showed of itself. What the transport cannot prove is left out."""

    transport: str  # its name in a manifest: sse, websocket, unix-socket, grpc, stdio-jsonrpc
    bearer: str = ""  # the token of an Authorization header, without "Bearer"
    certificate: dict[str, Any] | None = None  # of the peer, verified by TLS, as ssl's getpeercert() gives it
    uid: int | None = None  # of the peer's process, by the kernel (CF-105, CF-107)
    pid: int | None = None
    loopback: bool = False  # the connection cannot have come from another machine
    parent: bool = False  # the peer started us, or we started it, over pipes
    address: str = ""  # for counting failures and for the log


class Identity(Protocol):
    """
    Decides who somebody is.

    It may also have ``ready()``, awaited before a door opens; ``bearer``, true
    if it judges bearer tokens; and ``several``, false if all it lets in are one
    and the same person, the owner of the agent.
    """

    def admit(self, given: Credentials) -> Peer:
        """The peer, or :exc:`Unauthenticated`, or :exc:`Unauthorised`. Does not wait."""


async def admitted(identity: Identity, given: Credentials) -> Peer:
    """The same, and waits if that may help."""
    try:
        return identity.admit(given)
    except Unsettled as error:
        await asyncio.wait([error.coming])
        return identity.admit(given)


# -- what is granted ------------------------------------------------------------------------


class Grant(msgspec.Struct, frozen=True):
    """Who somebody is, and what they may do."""

    principal: str
    roles: frozenset[str] = frozenset({REPLIER})

    def peer(self, given: Credentials, expires: float | None = None) -> Peer:
        return Peer(self.principal, given.transport, self.roles, expires)


def as_principal(name: str) -> str:
    """A name for somebody, if it can be one."""
    if not 0 < len(name) <= 256 or not name.isprintable() or name.strip() != name or name == EVERYBODY:
        raise AaepError(f"{name[:300]!r} cannot be the name of somebody. Use printable text of at most 256 characters.")
    return name


def as_roles(given: str | Iterable[str]) -> frozenset[str]:
    """Roles, if they exist and go together."""
    roles = frozenset([given] if isinstance(given, str) else given)
    if not roles or not roles <= {*ROLES}:
        raise AaepError(f"Every role is one of {', '.join(ROLES)}; at least one is needed.")
    if {AUDITOR, REPLIER} <= roles:
        raise AaepError("An auditor hears what was meant for others, so it answers nothing. Make two credentials.")
    return roles


def as_stranger(name: str) -> str:
    """A name for who is known by what they show: that makes nobody the user of this machine, who is known by birth."""
    if name == LOCAL:
        raise AaepError(
            f"{LOCAL!r} is the user of this machine, and no credential makes somebody that. Use another name."
        )
    return as_principal(name)


def granted(given: str | tuple[str, str | Iterable[str]] | Grant, *, local: bool = False) -> Grant:
    """A grant: from a principal, who may then answer, or from a principal and roles. ``local``: by birth, not proof."""
    if isinstance(given, Grant):
        given = (given.principal, given.roles)
    name, roles = (given, REPLIER) if isinstance(given, str) else given
    return Grant(as_principal(name) if local else as_stranger(name), as_roles(roles))


def audience(given: str | Iterable[str] | None, requested_by: str | None, *, several: bool) -> frozenset[str] | None:
    """
    Who may hear a session (CF-145).

    Without a word it is for whoever started it: for the user it was requested
    by, ``user:<id>``, else for the user of this machine. Where all who are let
    in are one person, that is everybody.
    """
    if given == EVERYBODY:
        return None
    if given is not None:
        return frozenset([given] if isinstance(given, str) else given)
    if not several:
        return None
    kind, _, name = (requested_by or "").partition(":")
    return frozenset({name if kind == "user" and name else LOCAL})


# -- without a secret -----------------------------------------------------------------------


class Local:
    """
    The user of this machine, and nobody else: what there is without configuration.

    On loopback that is whoever can connect, kept from web pages by the
    transport; on a socket, the user this process belongs to; on pipes, who
    started us. With ``repliers``, paths of programs, only those may answer
    (CF-141), where the kernel tells which program it is; all others listen.
    """

    several = False

    def __init__(self, uid: int | None = None, *, repliers: Iterable[str] | None = None) -> None:
        self._uid = os.geteuid() if uid is None and hasattr(os, "geteuid") else uid
        self._repliers = None if repliers is None else frozenset(os.path.realpath(one) for one in repliers)

    def admit(self, given: Credentials) -> Peer:
        if given.parent or (given.uid is not None and given.uid == self._uid) or (given.loopback and given.uid is None):
            if given.pid is None and self._repliers is None:
                return _user(given.transport)
            program = _program(given.pid)
            may = self._repliers is None or program in self._repliers
            process = "" if given.pid is None else f"Process {given.pid}, {program or 'of an unknown program'}."
            roles = frozenset({REPLIER if may else LISTENER, AGENT})  # CF-141: it may tell, if not answer
            return Peer(LOCAL, given.transport, roles, process=process)
        raise Unauthenticated("Only the user of this machine is let in here.")


@lru_cache
def _user(transport: str) -> Peer:
    """The user of this machine, of whom nothing else is known; the same one for all requests."""
    return Peer(LOCAL, transport, frozenset({REPLIER, AGENT}))


def _program(pid: int | None) -> str:
    """The path of the program that a process runs, if it can be told."""
    try:
        return "" if pid is None else os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


class Parent:
    """Whoever is at the other end of our pipes: who started us, or was started by us (SEC-036)."""

    several = False

    def __init__(self, principal: str = LOCAL, roles: str | Iterable[str] = (REPLIER, AGENT)) -> None:
        self._grant = granted((principal, roles), local=True)

    def admit(self, given: Credentials) -> Peer:
        if not given.parent:
            raise Unauthenticated("Only processes that know each other by birth are let in here.")
        return self._grant.peer(given)


class Users:
    """Users of this machine by their number, as the kernel tells it of a socket's other end (SEC-036, CF-105)."""

    def __init__(self, users: Mapping[int, str | tuple[str, str | Iterable[str]] | Grant]) -> None:
        self._grants = {uid: granted(one, local=True) for uid, one in users.items()}

    def admit(self, given: Credentials) -> Peer:
        if given.uid is None:
            raise Unauthenticated("Only users of this machine, over a socket of it, are let in here.")
        if given.uid not in self._grants:
            raise Unauthorised("This user of the machine is not on the list of those who are let in.")
        process = "" if given.pid is None else f"Process {given.pid}, {_program(given.pid) or 'of an unknown program'}."
        return msgspec.structs.replace(self._grants[given.uid].peer(given), process=process)


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
            self._grants[_name(kind, value)] = granted(one)

    def admit(self, given: Credentials) -> Peer:
        if not given.certificate:
            raise Unauthenticated("Connect with a client certificate.")
        found = {self._grants[name] for name in _names(given.certificate) if name in self._grants}
        if len(found) != 1:  # nobody, or who knows who
            raise Unauthorised("This certificate does not name exactly one of those who are let in.")
        ends = given.certificate.get("notAfter")
        return found.pop().peer(given, None if ends is None else float(ssl.cert_time_to_seconds(ends)))


def _name(kind: str, value: str) -> tuple[str, str]:
    return kind.lower(), value.lower() if kind.lower() == "dns" else value


def _names(certificate: dict[str, Any]) -> set[tuple[str, str]]:
    common = [value for part in certificate.get("subject", ()) for kind, value in part if kind == "commonName"]
    other = [_name(kind, value) for kind, value in certificate.get("subjectAltName", ()) if isinstance(value, str)]
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
        self.bearer = any(getattr(one, "bearer", False) for one in identities)
        self.several = any(getattr(one, "several", True) for one in identities)

    async def ready(self) -> None:
        for one in self._identities:
            if hasattr(one, "ready"):
                await one.ready()

    def admit(self, given: Credentials) -> Peer:
        tried = [one for one in self._identities if getattr(one, "bearer", False)] if given.bearer else []
        said: list[Unauthenticated] = []
        for one in tried or self._identities:
            try:
                return one.admit(given)
            except Unauthenticated as error:
                said.append(error)
        raise next((one for one in said if isinstance(one, Unsettled)), said[0])
