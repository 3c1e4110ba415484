"""
Who is at the other end of a connection, what they may do, and how a producer proves who it is.

An :class:`Identity` turns the :class:`Credentials` of a connection into a peer with a principal and roles:
:class:`Local` for this machine's user, :class:`Tokens` for bearer tokens in a file, :class:`Jwt` for signed
tokens of an issuer, :class:`Certificates` for mutual TLS, :class:`Users` for users of a Unix socket,
:class:`First` for several of them. :class:`SigningKey` signs a manifest, :class:`TrustedKeys` are those that
a subscriber believes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .credentials import Certificates, Credentials, First, Grant, Identity, Local, Parent, Users

if TYPE_CHECKING:
    from .jwt import Jwt
    from .signing_keys import SigningKey, TrustedKeys
    from .tokens import Tokens

__all__ = [
    "Certificates",
    "Credentials",
    "First",
    "Grant",
    "Identity",
    "Jwt",
    "Local",
    "Parent",
    "SigningKey",
    "Tokens",
    "TrustedKeys",
    "Users",
]

_HOMES = {"Jwt": "jwt", "SigningKey": "signing_keys", "Tokens": "tokens", "TrustedKeys": "signing_keys"}  # need JOSE


if not TYPE_CHECKING:  # with it a type checker would take any name, a misspelt one too, for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
