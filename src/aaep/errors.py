"""
What can go wrong, as values and as exceptions.

A rule that is broken is a :class:`Violation`, a value. Who meets one decides
what to do: the producer raises, the subscriber reports and carries on, the
validator prints, the conformance suite judges.

* :exc:`AaepError`
    * :exc:`ProtocolError` carries the violations
        * :exc:`LocalProtocolError`: we were about to break the protocol; nothing was sent
        * :exc:`RemoteProtocolError`: the peer broke it
            * :exc:`FrameError`: what arrived is not even a message
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
    One rule, broken once.

    ``path`` is a JSON pointer into the message. ``severity`` is empty when
    the catalogue's own grading of the rule applies, which is nearly always;
    it is set where a reading grades one situation of a rule differently.
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
    """Anything this library raises on purpose."""


class ProtocolError(AaepError):
    """The protocol was broken; ``violations`` says how."""

    def __init__(self, message: str, violations: Iterable[Violation] = ()) -> None:
        self.violations = tuple(violations)
        super().__init__("\n".join([message, *map(str, self.violations)]))


class LocalProtocolError(ProtocolError):
    """Our side was about to break the protocol. Nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The other side broke the protocol."""


class FrameError(RemoteProtocolError):
    """
    Bytes that are not a message: too long, not UTF-8, not JSON, not an object.

    ``fatal`` is true when the framing cannot find the next message after this
    one, so that the connection has to be closed.
    """

    def __init__(self, message: str, violations: Iterable[Violation] = (), *, fatal: bool = False) -> None:
        super().__init__(message, violations)
        self.fatal = fatal


class ExtensionError(AaepError):
    """An extension or profile cannot be registered; ``violations`` says why."""

    def __init__(self, message: str, violations: Iterable[Violation] = ()) -> None:
        self.violations = tuple(violations)
        super().__init__("\n".join([message, *map(str, self.violations)]))
