"""
Texts of agents that could be taken for our own sentences.

A listener who hears "Confirm." or "The connection is lost." has to know that it is
true. So a text from elsewhere that has a sentence which begins like one of our
phrases is announced as a quotation, and what begins like one of ours is ours.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from string import Formatter
from typing import Final

from .invisible import drop_invisible
from .phrases import CATALOGUE, PHRASES
from .quotation import mask_quoted, quote_whole
from .sanitize import sanitize, truncate

__all__ = ["guard_name", "guard_value", "imitates_any", "imitates_reader"]

# What the reader itself says. An agent's summary may say that it is done, but not that the connection is lost.
_READER_GROUPS: Final = ("Prompts", "Outcomes of prompts", "The connection", "At the terminal", "Answering")
_WORK_GROUPS: Final = ("The work", "What goes on")
_READER_BUT_OUTCOMES: Final = tuple(group for group in _READER_GROUPS if group != "Outcomes of prompts")
# These are sent by agents and hubs as well.
_SENT_PHRASES: Final = frozenset(
    (
        "absent",
        "absent.asking",
        "absent.terse",
        "consequence.unknown",
        "consequence.unstated",
        "countdown",
        "outcome.no_reply_channel",
        "returned",
        "time",
        "time.default",
        "time_left",
    )
)
_MAX_WORDS: Final = 4  # of a phrase by which it is known
_MIN_WORDS_BEFORE_GAP: Final = 3  # that are enough to know it
_MAX_NAME_LENGTH: Final = 80  # characters
_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"\S.*?[.!?:](?=\s|$)|\S.+|\S")
_SENTENCE_START: Final = r"(?:^|[.!?:;…][^\w\s]*\s|[。！？：；\n])[\W_]*"
_GAP: Final = "\x00"
_BETWEEN_WORDS: Final = r"[\W_]+"
_LABEL_END: Final = r"\b(?=\s*(?:[^\w\s]|$))"
_SENTENCE_END: Final = r"(?=\s*(?:[.!?:;…。！？：；]|$))"
_IN_GAP: Final = r"\S(?:.{0,80}?\S)??"
# Letters of other alphabets that look like Latin ones.
_LOOKALIKES: Final = str.maketrans("авекмнорстухіјѕԁɡαεικνορτυχ", "abekmhopctyxijsdgaeikvoptux")


def imitates_any(text: str) -> bool:
    """Whether a sanitized text of an agent has a sentence that begins like anything we say."""
    return _compile((*_READER_GROUPS, *_WORK_GROUPS)).search(_normalize(text)) is not None


def imitates_reader(text: str, *, is_outcome: bool = False) -> bool:
    """
    Whether a sanitized text of an agent has a sentence that begins like something only the reader says.

    What stands between quotation marks is a value, and is spoken as one. With ``is_outcome``
    the text tells what became of a prompt, which agents say in our words.
    """
    groups = _READER_BUT_OUTCOMES if is_outcome else _READER_GROUPS
    return _compile(groups, _SENT_PHRASES).search(_normalize(mask_quoted(text))) is not None


@lru_cache(maxsize=256)
def guard_name(name: str, max_length: int = _MAX_NAME_LENGTH) -> str:
    """Return the name of an agent or of its work as it may begin a sentence of ours."""
    text = truncate(sanitize(name), max_length)
    return PHRASES["agent.named"].format(quote_whole(text)) if imitates_any(f"{text}:") else text


def guard_value(text: str) -> str:
    """Return a sanitized text of an agent as it may stand inside a sentence of ours."""
    return quote_whole(text) if imitates_reader(text) else text


def _normalize(text: str) -> str:
    """Return a text as it sounds: no invisible characters, no forms of letters, no case."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", drop_invisible(text))
        text = "".join(char for char in text if unicodedata.category(char) != "Mn")
    text = text.casefold()
    return text if text.isascii() else text.translate(_LOOKALIKES)


@cache
def _compile(groups: tuple[str, ...], without: frozenset[str] = frozenset()) -> re.Pattern[str]:
    beginnings: list[str] = [rf"\S{{1,9}}\s{PHRASES[f'key.{name}']}[,.]" for name in ("accept", "reject", "close")]
    endings: list[str] = []  # of sentences that begin with a value
    for group in groups:
        min_words = 2 if group in _READER_GROUPS else 3
        for phrase in CATALOGUE[group]:
            if phrase.name not in without and not phrase.text[0].islower():
                for sentence in _split_sentences(phrase.text):
                    (endings if sentence.startswith(_GAP) else beginnings).append(_find_pattern(sentence, min_words))
    beginnings, endings = ([*filter(None, dict.fromkeys(patterns))] for patterns in (beginnings, endings))
    return re.compile(
        rf"{_SENTENCE_START}(?:{'|'.join(beginnings)})|\w[\W_]+(?:{'|'.join(endings)}){_SENTENCE_END}", re.DOTALL
    )


def _split_sentences(phrase: str) -> list[str]:
    """Return the sentences of a phrase; what follows the first one and is a single word is said by everybody."""
    text = "".join(literal + ("" if gap is None else _GAP) for literal, gap, _, _ in Formatter().parse(phrase))
    first, *others = _SENTENCE.findall(text)
    return [first, *(other for other in others if len(_WORD.findall(other)) > 1)]


def _find_pattern(sentence: str, min_words: int) -> str:
    """
    Return a pattern of how a sentence begins; nothing for a part of a sentence, and for what everybody says.

    A sentence with a gap near its beginning is known by all of its words, if it has so many.
    """
    words = _WORD.findall(sentence.casefold())
    if len(words) == 1 and sentence[-1].isalpha():
        return ""
    before_gap = _WORD.findall(sentence.partition(_GAP)[0].casefold())
    if _GAP in sentence and len(before_gap) < _MIN_WORDS_BEFORE_GAP:
        return _join_with_gaps(sentence) if len(words) >= min_words else ""
    is_label = len(words) == 1 or (sentence.endswith(":") and len(words) <= _MAX_WORDS)
    return _BETWEEN_WORDS.join(before_gap[:_MAX_WORDS]) + (_LABEL_END if is_label else r"\b")


def _join_with_gaps(sentence: str) -> str:
    """Return the pattern of a sentence of which some parts are not known."""
    parts = [_BETWEEN_WORDS.join(_WORD.findall(part.casefold())) for part in sentence.strip(f"{_GAP} .:").split(_GAP)]
    return f"{_BETWEEN_WORDS}{_IN_GAP}{_BETWEEN_WORDS}".join(part for part in parts if part) + r"\b"
