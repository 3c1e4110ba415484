"""
Who is at the other end of a connection, and what that one may do. SEC-001 §10.1

A transport collects :class:`Credentials`, as it has proved them, before it
reads anything else, and an :class:`Identity` makes a
:class:`~aaep.channel.Peer` of them or refuses. A ``subscriber_id`` is only a
label within that (CF-065).

* :exc:`~aaep.errors.AaepError`
    * :exc:`Unauthenticated`: it is not known who this is
    * :exc:`Unauthorised`: it is known, and may not
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from .channel import LOCAL, Peer
from .errors import AaepError

__all__ = ["Credentials", "Identity", "Local", "Unauthenticated", "Unauthorised"]


class Unauthenticated(AaepError):
    """It is not known who this is. The message says how to show it, and nothing about what was shown."""


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
    """Decides who somebody is."""

    def admit(self, given: Credentials) -> Peer:
        """The peer, or :exc:`Unauthenticated`, or :exc:`Unauthorised`. Does not wait."""


class Local:
    """
    The user of this machine, and nobody else: what there is without configuration.

    On loopback that is whoever can connect, kept from web pages by the
    transport; on a socket, the user this process belongs to; on pipes, who
    started us.
    """

    def __init__(self, uid: int | None = None) -> None:
        self._uid = uid

    def admit(self, given: Credentials) -> Peer:
        if given.parent or (given.uid is not None and given.uid == self._uid) or (given.loopback and given.uid is None):
            return Peer(LOCAL, given.transport)
        raise Unauthenticated("Only the user of this machine is let in here.")
