"""Sentences about actions that somebody was asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .phrases import ENGLISH, Phrases, capitalize
from .quotation import mask_quoted, speak_quotes
from .sanitize import sanitize, truncate

__all__ = ["describe_undone", "shorten_action"]

_MAX_ACTION_LENGTH: Final = 80  # characters of an action that a sentence about it names
_MAX_NAMED_ACTIONS: Final = 2
_SENTENCE_BREAK: Final = re.compile(r"[.!?]\s|[。！？]|\n")


def shorten_action(action: str, phrases: Phrases = ENGLISH) -> str:
    """Return an action as the beginning of a sentence about it: its first sentence, cut if it is long, no full stop."""
    text = sanitize(action)
    sentence_break = _SENTENCE_BREAK.search(mask_quoted(text))  # a value cannot end our sentence
    first = speak_quotes(text if sentence_break is None else text[: sentence_break.start()], phrases).rstrip(" .!;:…")
    if len(first) > _MAX_ACTION_LENGTH:
        first = f"{truncate(first, _MAX_ACTION_LENGTH)}…"
    return capitalize(first)


def describe_undone(actions: Sequence[str], phrases: Phrases = ENGLISH) -> str:
    """Return the sentences that say which actions were not done: two are named, and the others counted."""
    named = [shorten_action(action, phrases) for action in actions[:_MAX_NAMED_ACTIONS]]
    sentences = [phrases.format("undone", action=action) for action in named]
    if more := len(actions) - len(sentences):
        sentences.append(phrases.format("undone-more", count=more))
    return " ".join(sentences)
