"""Where a door may be opened, and to whom: the same for every transport that has an address on a network."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import SplitResult

from ..errors import AaepError
from ..identity.credentials import Identity, Local
from ..identity.rate_limit import Guessing
from ..identity.tokens import Static
from .base import Reachable
from .http_address import DEFAULT_PORTS, ENCRYPTED, address, is_loopback, over_http

__all__ = ["Place", "admitting", "placed"]


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
    return Guessing(Static(token))


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
            f"use {ENCRYPTED.get(parts.scheme, parts.scheme)}:// with cert= and key=, and identity= or token=. "
            "For this machine only, listen on 127.0.0.1.",
        )
    return Place(parts.scheme, host, port, numeric, local, Local() if identity is None else identity)
