"""
Texts of agents that could be taken for our own sentences.

A listener who hears "Confirm." or "The connection is lost." has to know that it is
true. So a text from elsewhere that has a sentence which begins like one of our
phrases is announced as a quotation, and what begins like one of ours is ours. That
holds for the phrases in the listener's language and for the English ones.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from .invisible import drop_invisible
from .locale_files import read_locale
from .phrases import ENGLISH, GAP, Phrases
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
        "absent-asking",
        "absent-terse",
        "consequence-unknown",
        "consequence-unstated",
        "countdown",
        "outcome-no_reply_channel",
        "returned",
        "time",
        "time-default",
        "time_left",
    )
)
_MAX_WORDS: Final = 4  # of a phrase by which it is known
_MIN_WORDS_BEFORE_GAP: Final = 3  # that are enough to know it
_MAX_NAME_LENGTH: Final = 80  # characters
_MAX_UNSPACED_LENGTH: Final = 8  # characters by which a sentence is known in a script without spaces
_UNSPACED_WORD_LENGTH: Final = 2  # characters of such a script that count as a word
# Letters with the signs around them, which some scripts cannot do without.
_WORD: Final = re.compile(r"(?:\w|(?<=[^\x00-\x7f])[^\x00-\x7f\s،؛؟۔।॥‐-‧‹›⁂。、「」『』！？：；，（）])+")
_SENTENCE: Final = re.compile(r"\S[^。！？।؟۔]*?(?:[.!?:](?=\s|$)|[。！？।؟۔])|\S.+|\S")
_SENTENCE_START: Final = r"(?:^|[.!?:;…][^\w\s]*\s|[。！？：；।؟۔\n])[\W_]*"
_BETWEEN_WORDS: Final = r"[\W_]+"
_WORD_END: Final = r"(?!\w)"
_LABEL_END: Final = r"(?!\w)(?=\s*(?:[^\w\s]|$))"
_SENTENCE_END: Final = r"(?=\s*(?:[.!?:;…。！？：；।؟۔]|$))"
_IN_GAP: Final = r"\S(?:.{0,80}?\S)??"
# Letters of other alphabets that look like Latin ones.
_LOOKALIKES: Final = str.maketrans("авекмнорстухіјѕԁɡαεικνορτυχ", "abekmhopctyxijsdgaeikvoptux")


def imitates_any(text: str, phrases: Phrases = ENGLISH) -> bool:
    """Whether a sanitized text of an agent has a sentence that begins like anything we say."""
    return _is_like(_normalize(text), (*_READER_GROUPS, *_WORK_GROUPS), frozenset(), phrases)


def imitates_reader(text: str, phrases: Phrases = ENGLISH, *, is_outcome: bool = False) -> bool:
    """
    Whether a sanitized text of an agent has a sentence that begins like something only the reader says.

    What stands between quotation marks is a value, and is spoken as one. With ``is_outcome``
    the text tells what became of a prompt, which agents say in our words.
    """
    groups = _READER_BUT_OUTCOMES if is_outcome else _READER_GROUPS
    return _is_like(_normalize(mask_quoted(text)), groups, _SENT_PHRASES, phrases)


def _is_like(text: str, groups: tuple[str, ...], without: frozenset[str], phrases: Phrases) -> bool:
    if _compile(groups, without, ENGLISH).search(text) is not None:
        return True
    return phrases is not ENGLISH and _compile(groups, without, phrases).search(text) is not None


@lru_cache(maxsize=256)
def guard_name(name: str, max_length: int = _MAX_NAME_LENGTH, phrases: Phrases = ENGLISH) -> str:
    """Return the name of an agent or of its work as it may begin a sentence of ours."""
    text = truncate(sanitize(name), max_length)
    if not imitates_any(f"{text}:", phrases):
        return text
    return phrases.format("agent-named", name=quote_whole(text, phrases))


def guard_value(text: str, phrases: Phrases = ENGLISH) -> str:
    """Return a sanitized text of an agent as it may stand inside a sentence of ours."""
    return quote_whole(text, phrases) if imitates_reader(text, phrases) else text


def _normalize(text: str) -> str:
    """Return a text as it sounds: no invisible characters, no forms of letters, no case."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", drop_invisible(text))
        text = "".join(char for char in text if unicodedata.category(char) != "Mn")
    text = text.casefold()
    return text if text.isascii() else text.translate(_LOOKALIKES)


@cache
def _compile(groups: tuple[str, ...], without: frozenset[str], phrases: Phrases) -> re.Pattern[str]:
    keys = [_normalize(phrases[f"key-{name}"]) for name in ("accept", "reject", "close")]
    beginnings: list[str] = [rf"\S{{1,9}}\s{re.escape(key)}[,.，、،。।]" for key in keys]
    endings: list[str] = []  # of sentences that begin with a value
    for name, group in _find_sentences().items():
        if group in groups and name not in without:
            min_words = 2 if group in _READER_GROUPS else 3
            for form in phrases.list_forms(name):
                for sentence in _split_sentences(GAP.join(map(_normalize, form.split(GAP)))):
                    (endings if sentence.startswith(GAP) else beginnings).append(_find_pattern(sentence, min_words))
    beginnings, endings = ([*filter(None, dict.fromkeys(patterns))] for patterns in (beginnings, endings))
    pattern = rf"{_SENTENCE_START}(?:{'|'.join(beginnings)})"
    if endings:
        pattern += rf"|\w(?:{'|'.join(endings)}){_SENTENCE_END}"
    return re.compile(pattern, re.DOTALL)


@cache
def _find_sentences() -> dict[str, str]:
    """Return the group of every phrase that is no mere part of a sentence, which English shows by a capital."""
    messages = read_locale("en").messages.values()
    return {
        message.name: message.group
        for message in messages
        if any(not form[:1].islower() for form in ENGLISH.list_forms(message.name))
    }


def _split_sentences(text: str) -> list[str]:
    """Return the sentences of a phrase; what follows the first one and is a single word is said by everybody."""
    first, *others = _SENTENCE.findall(text)
    return [first, *(other for other in others if _count_words(other) > 1)]


def _count_words(sentence: str) -> int:
    """Return how many words a sentence has; characters of scripts without spaces count for a part of one."""
    if _is_unspaced(sentence):
        return len(sentence) // _UNSPACED_WORD_LENGTH
    return len(_WORD.findall(sentence))


def _is_unspaced(text: str) -> bool:
    return any(unicodedata.east_asian_width(char) == "W" for char in text)


def _find_pattern(sentence: str, min_words: int) -> str:
    """
    Return a pattern of how a sentence begins; nothing for a part of a sentence, and for what everybody says.

    A sentence with a gap near its beginning is known by all of its words, if it has so many.
    """
    words = _WORD.findall(sentence)
    if not words or (len(words) == 1 and sentence[-1].isalpha() and not _is_unspaced(sentence)):
        return ""
    start = sentence.partition(GAP)[0]
    if GAP in sentence and _count_words(start) < _MIN_WORDS_BEFORE_GAP:
        return _join_with_gaps(sentence) if _count_words(sentence) >= min_words else ""
    before_gap: list[str] = _WORD.findall(start)
    if _is_unspaced(start) and len(before_gap[0]) >= _MAX_UNSPACED_LENGTH:
        return re.escape(before_gap[0][:_MAX_UNSPACED_LENGTH])
    is_label = len(words) == 1 or (sentence.endswith((":", "：")) and len(words) <= _MAX_WORDS)
    return _BETWEEN_WORDS.join(map(re.escape, before_gap[:_MAX_WORDS])) + _find_end(start, is_label)


def _find_end(start: str, is_label: bool) -> str:
    if is_label:
        return _LABEL_END
    return "" if _is_unspaced(start) else _WORD_END


def _join_with_gaps(sentence: str) -> str:
    """Return the pattern of a sentence of which some parts are not known."""
    parts = [_BETWEEN_WORDS.join(map(re.escape, _WORD.findall(part))) for part in sentence.split(GAP)]
    between = r"[\W_]*" if _is_unspaced(sentence) else _BETWEEN_WORDS
    before = between if sentence.startswith(GAP) else ""
    joined: str = f"{between}{_IN_GAP}{between}".join(part for part in parts if part)
    ends_with_gap = sentence.rstrip(" .。।").endswith(GAP)
    after = f"{between}{_IN_GAP}" if before and ends_with_gap else ""  # or what ends it would not be found
    return f"{before}{joined}{_WORD_END}{after}"
