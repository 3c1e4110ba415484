"""
Values inside our own sentences: marked off so that no value can imitate another one, or our words.

A value that is more than a plain word stands between typographic quotation marks,
which it cannot contain. Many voices are silent about marks, so a text that somebody
agrees to is spoken with the words "quote" and "end quote", and with numbered lines.
"""

from __future__ import annotations

import re
from typing import Final

from .phrases import PHRASES
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
# What our own sentences about a prompt say, and what stands for a value that is no text.
_OWN_WORDS: Final = frozenset(
    "accept accepted blank confirm empty irreversible line low medium high no nothing quote redacted refuse "
    "refused reversible risk undo undone unquote yes".split()
)
_INNER_BREAK: Final = "\x00"  # a line break inside a value, while the lines around it are counted
_INDENTED_LINE: Final = re.compile(PHRASES["value.line"].format(r"\d+", " +"))
_IMITATED_MARK: Final = re.compile(r"\b(?=(?:un)?quotes?\b|line \d)", re.IGNORECASE)


def mark_off(text: str) -> str:
    """Return a value as it stands in a sentence: as it is if it is a plain word, else between quotation marks."""
    if not text:
        return PHRASES["value.empty"]
    if text.isspace():
        return PHRASES["value.blank"]
    if _PLAIN_WORD.fullmatch(text) and _OWN_WORDS.isdisjoint(_LETTERS.findall(text.casefold())):
        return text
    return f"“{_INNER_MARKS.sub(_APOSTROPHE, text)}”"


def speak_quotes(text: str) -> str:
    """Return a text of one line in which quotation marks are words, and no word of a quoted text is taken for one."""
    return _QUOTED.sub(lambda match: PHRASES["value.quoted"].format(_disarm_marks(match[1].strip())), text)


def quote_whole(text: str) -> str:
    """Return a text as a quotation in words, with what is quoted in it."""
    return PHRASES["value.quoted"].format(_disarm_marks(_INNER_MARKS.sub(_APOSTROPHE, text)))


def mask_quoted(text: str) -> str:
    """Return a text of the same length in which quoted values have no marks of their own."""
    return _QUOTED.sub(lambda match: "x" * len(match[0]), text)


def speak_structure(text: str) -> str:
    """
    Return a text that somebody agrees to, sanitized and with its structure in words.

    Where it has several lines each begins with its number and stands on a line
    of its own: a line break can change what code or a command does. Lines are
    counted within a quoted value, and otherwise within the whole text.
    """
    spoken = _QUOTED.sub(_speak_value, text.replace(_INNER_BREAK, ""))
    spoken = (_number_lines(spoken) or spoken).replace(_INNER_BREAK, "\n")
    lines = [_sanitize_line(line) for line in spoken.splitlines()]
    return "\n".join(line for line in lines if line)


def _speak_value(match: re.Match[str]) -> str:
    value = _disarm_marks(match[1])
    spoken = (_number_lines(value) or value.strip()).replace("\n", _INNER_BREAK)
    return PHRASES["value.quoted"].format(spoken)


def _disarm_marks(value: str) -> str:
    """Return a value in which the words that mark values off are said to be words."""
    return _IMITATED_MARK.sub(PHRASES["value.word"].format(""), value)


def _number_lines(text: str) -> str:
    """Return a text of several lines with their numbers, blank ones left out; nothing for a text of one line."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if sanitize(line)]
    if len(lines) < 2:
        return ""
    numbered = [PHRASES["value.line"].format(number, line.expandtabs(4).rstrip()) for number, line in lines]
    return "".join(f"\n{line}" for line in numbered) + "\n"


def _sanitize_line(line: str) -> str:
    """Return a line sanitized; the indentation behind its number is kept for the eye and for braille."""
    numbered = _INDENTED_LINE.match(line)
    if numbered is None:
        return sanitize(line)
    code = sanitize(line[numbered.end() :])
    return f"{numbered[0]}{code}" if code else ""
