"""
AAEP itself, for programs that bring their own network and clock.

Nothing here reads, waits or asks for the time: messages go in as bytes, and messages and violations come
out. :func:`read` decodes leniently and says what is wrong, :func:`decode` and :func:`encode` are strict,
:func:`explain` judges one message and :class:`Audit` a whole stream. :class:`SessionState` follows one
session and says what may come next, :func:`negotiate` answers a subscription.request with what an
:class:`Offer` allows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audit import Audit, Finding, explain
    from .codec import decode, encode, read
    from .negotiation import Offer, negotiate, renegotiate
    from .session import SessionState

__all__ = [
    "Audit",
    "Finding",
    "Offer",
    "SessionState",
    "decode",
    "encode",
    "explain",
    "negotiate",
    "read",
    "renegotiate",
]

# A module of this package that is imported alone need not bring in the rules and the schemas.
_HOMES = {
    "Audit": "audit",
    "Finding": "audit",
    "Offer": "negotiation",
    "SessionState": "session",
    "decode": "codec",
    "encode": "codec",
    "explain": "audit",
    "negotiate": "negotiation",
    "read": "codec",
    "renegotiate": "negotiation",
}


if not TYPE_CHECKING:  # with it a type checker would take any name, a misspelt one too, for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
