"""
Values inside our own sentences: marked off so that no value can imitate another one, or our words.

A value that is more than a plain word stands between typographic quotation marks,
which it cannot contain. Many voices are silent about marks, so a text that somebody
agrees to is spoken with the words "quote" and "end quote", and with numbered lines.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, NamedTuple

from .phrases import ENGLISH, GAP, Phrases
from .sanitize import sanitize

__all__ = ["mark_off", "mask_quoted", "quote_whole", "speak_quotes", "speak_structure"]

_APOSTROPHE: Final = "'"
_INNER_MARKS: Final = re.compile("[“”]")
_QUOTED: Final = re.compile("“([^“”]*)”")
# A name, a path, an amount and its unit, a time. Two words could already add something to the sentence around them.
_PLAIN_WORD: Final = re.compile(
    r"(?=.*\w)(?:[\w/~@.+$€£¥-]|(?<=\d)[,:](?=\d)){0,99}[\w/~%€$]|\d[\d.,]{0,15} (?:[^\W\d_]{1,12}|[%€$£¥])"
)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_INNER_BREAK: Final = "\x00"  # a line break inside a value, while the lines around it are counted


class _Marks(NamedTuple):
    """The words of a language, and the English ones, that could make a value pass for our own words."""

    own_words: frozenset[str]  # what our sentences about a prompt say, and what stands for a value that is no text
    own_parts: tuple[str, ...]  # the same, in scripts that write words without spaces or with signs around letters
    imitated: re.Pattern[str]  # the words that mark values off
    line_parts: tuple[str, str, str]  # before the number of a line, before its text, and after it
    line_start: re.Pattern[str]  # the number before a line


@cache
def _find_marks(phrases: Phrases) -> _Marks:
    both = (phrases, ENGLISH)
    entries = {
        word.casefold() for each in both for entry in each.list_words("value-own_words") for word in entry.split()
    }
    own_words = frozenset(word for word in entries if _LETTERS.fullmatch(word) and not _is_unspaced(word))
    marks = {_bound(mark) for each in both for mark in each.list_words("value-marks")}
    labels = {form.partition(GAP)[0].strip() for each in both for form in each.list_forms("value-line")}
    marks |= {rf"{_bound(label)}(?=\s*\d)" for label in labels if label}
    before, between, after = phrases.list_forms("value-line")[0].split(GAP)
    return _Marks(
        own_words,
        tuple(entries - own_words),
        re.compile("|".join(sorted(marks, key=len, reverse=True)), re.IGNORECASE),
        (before, between, after),
        re.compile(rf"{re.escape(before)}\d+{re.escape(between)} +"),
    )


def _is_unspaced(word: str) -> bool:
    return any(unicodedata.east_asian_width(char) == "W" for char in word)


def _bound(word: str) -> str:
    """Return the pattern of a word; where its script has no word boundaries that ``re`` knows, anywhere in a text."""
    pattern = re.escape(word)
    return pattern if _is_unspaced(word) else rf"(?<!\w){pattern}(?!\w)"


def mark_off(text: str, phrases: Phrases = ENGLISH) -> str:
    """Return a value as it stands in a sentence: as it is if it is a plain word, else between quotation marks."""
    if not text:
        return phrases["value-empty"]
    if text.isspace():
        return phrases["value-blank"]
    if _PLAIN_WORD.fullmatch(text) and not _has_own_word(text.casefold(), _find_marks(phrases)):
        return text
    return f"“{_INNER_MARKS.sub(_APOSTROPHE, text)}”"


def _has_own_word(text: str, marks: _Marks) -> bool:
    return not marks.own_words.isdisjoint(_LETTERS.findall(text)) or any(part in text for part in marks.own_parts)


def speak_quotes(text: str, phrases: Phrases = ENGLISH) -> str:
    """Return a text of one line in which quotation marks are words, and no word of a quoted text is taken for one."""
    return _QUOTED.sub(lambda match: _quote(match[1].strip(), phrases), text)


def quote_whole(text: str, phrases: Phrases = ENGLISH) -> str:
    """Return a text as a quotation in words, with what is quoted in it."""
    return _quote(_INNER_MARKS.sub(_APOSTROPHE, text), phrases)


def mask_quoted(text: str) -> str:
    """Return a text of the same length in which quoted values have no marks of their own."""
    return _QUOTED.sub(lambda match: "x" * len(match[0]), text)


def speak_structure(text: str, phrases: Phrases = ENGLISH) -> str:
    """
    Return a text that somebody agrees to, sanitized and with its structure in words.

    Where it has several lines each begins with its number and stands on a line
    of its own: a line break can change what code or a command does. Lines are
    counted within a quoted value, and otherwise within the whole text.
    """
    spoken = _QUOTED.sub(lambda match: _speak_value(match[1], phrases), text.replace(_INNER_BREAK, ""))
    spoken = (_number_lines(spoken, phrases) or spoken).replace(_INNER_BREAK, "\n")
    lines = [_sanitize_line(line, phrases) for line in spoken.splitlines()]
    return "\n".join(line for line in lines if line)


def _quote(value: str, phrases: Phrases) -> str:
    return phrases.format("value-quoted", value=_disarm_marks(value, phrases))


def _speak_value(text: str, phrases: Phrases) -> str:
    value = _disarm_marks(text, phrases)
    spoken = (_number_lines(value, phrases) or value.strip()).replace("\n", _INNER_BREAK)
    return phrases.format("value-quoted", value=spoken)


def _disarm_marks(value: str, phrases: Phrases) -> str:
    """Return a value in which the words that mark values off are said to be words."""
    return _find_marks(phrases).imitated.sub(lambda match: phrases.format("value-word", word=match[0]), value)


def _number_lines(text: str, phrases: Phrases) -> str:
    """Return a text of several lines with their numbers, blank ones left out; nothing for a text of one line."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if sanitize(line)]
    if len(lines) < 2:
        return ""
    before, between, after = _find_marks(phrases).line_parts
    numbered = [f"{before}{number}{between}{line.expandtabs(4).rstrip()}{after}" for number, line in lines]
    return "".join(f"\n{line}" for line in numbered) + "\n"


def _sanitize_line(line: str, phrases: Phrases) -> str:
    """Return a line sanitized; the indentation behind its number is kept for the eye and for braille."""
    numbered = _find_marks(phrases).line_start.match(line)
    if numbered is None:
        return sanitize(line)
    code = sanitize(line[numbered.end() :])
    return f"{numbered[0]}{code}" if code else ""
