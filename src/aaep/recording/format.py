"""The constants of the capture format that its writer and both of its readers share."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["BOM", "CAPTURE_VERSION", "GapKind"]

CAPTURE_VERSION: Final = 1
BOM: Final = b"\xef\xbb\xbf"  # some editors put it at the beginning of a file

GapKind: TypeAlias = Literal["lost", "resumed", "missed"]
