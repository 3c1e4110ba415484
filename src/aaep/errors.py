"""
Violations of the protocol, and the exceptions of this library.

A broken rule is a :class:`Violation`, which is a value. Each caller decides
what to do with it: the producer raises, the subscriber reports and carries on,
the validator prints, the conformance suite judges.

* :exc:`AaepError`
    * :exc:`ProtocolError` carries the violations
        * :exc:`LocalProtocolError`: this side was about to break the protocol; nothing was sent
        * :exc:`RemoteProtocolError`: the peer broke it
            * :exc:`FrameError`: the bytes received are not a message
    * :exc:`ExtensionError`: an extension or profile declaration was refused
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

__all__ = [
    "AaepError",
    "ExtensionError",
    "FrameError",
    "LocalProtocolError",
    "ProtocolError",
    "RemoteProtocolError",
    "Severity",
    "Violation",
]

Severity = Literal["error", "warning", "info"]


class Violation(msgspec.Struct, frozen=True):
    """
    One breach of one rule.

    ``path`` is a JSON pointer into the message. ``severity`` is empty when the
    catalogue's own grading of the rule applies, which is nearly always; it is
    set where a reading grades one situation of a rule differently.
    """

    rule: str
    message: str
    path: str = ""
    event_id: str = ""
    severity: Severity | Literal[""] = ""

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"{self.rule}{where}: {self.message}"


class AaepError(Exception):
    """The base class of every exception that this library raises on purpose."""


class ProtocolError(AaepError):
    """The protocol was broken; ``violations`` lists how."""

    def __init__(self, message: str, violations: Iterable[Violation] = ()) -> None:
        self.violations = tuple(violations)
        super().__init__("\n".join([message, *map(str, self.violations)]))


class LocalProtocolError(ProtocolError):
    """This side was about to break the protocol; nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol."""


class FrameError(RemoteProtocolError):
    """
    The bytes received are not a message: too long, not UTF-8, not JSON, not an object.

    ``fatal`` is true when the framing cannot find the next message after this
    one, so that the connection has to be closed.
    """

    def __init__(self, message: str, violations: Iterable[Violation] = (), *, fatal: bool = False) -> None:
        super().__init__(message, violations)
        self.fatal = fatal


class ExtensionError(AaepError):
    """An extension or profile cannot be registered; ``violations`` lists why."""

    def __init__(self, message: str, violations: Iterable[Violation] = ()) -> None:
        self.violations = tuple(violations)
        super().__init__("\n".join([message, *map(str, self.violations)]))
