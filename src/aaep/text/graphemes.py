"""What a reader takes for one character: a letter with its marks, a flag, a syllable of Devanagari or Hangul."""

from __future__ import annotations

from typing import Final

import regex

__all__ = ["find_grapheme_starts"]

_GRAPHEME: Final = regex.compile(r"\X")


def find_grapheme_starts(text: str) -> frozenset[int]:
    """Return the positions at which a text may be cut without tearing a character apart, its end included."""
    if text.isascii() and "\r" not in text:
        return frozenset(range(len(text) + 1))
    return frozenset([*(match.start() for match in _GRAPHEME.finditer(text)), len(text)])
