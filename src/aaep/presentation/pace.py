"""How long texts take to be heard."""

from __future__ import annotations

from typing import Final

__all__ = ["estimate_seconds", "estimate_words"]

_CHARACTERS_PER_WORD: Final = 8  # at least, of scripts without spaces


def estimate_words(text: str) -> float:
    """Return the approximate number of words of a text, also of a script that has no spaces between them."""
    return max(len(text.split()), len(text) / _CHARACTERS_PER_WORD)


def estimate_seconds(text: str, words_per_minute: float) -> float:
    """Return the approximate number of seconds that a text takes to be spoken."""
    return estimate_words(text) * 60 / max(words_per_minute, 1)
