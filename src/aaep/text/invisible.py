"""
Characters that nobody sees or hears, in what a person agrees to: they are spelled out.

A name with such a character inside is another name, and a text of nothing else is no text.
What some scripts and emoji cannot be written without stays as it is.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import Final

import regex

from .phrases import ENGLISH, Phrases

__all__ = ["drop_invisible", "has_visible", "spell_invisible"]

_LINE_BREAKS: Final = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85"  # white space, which is told as such
# By property; then the characters that are blank without having one: fillers, and blanks of some notations.
_INVISIBLE: Final = regex.compile(
    rf"[[\p{{Default_Ignorable_Code_Point}}\p{{Bidi_Control}}\p{{Cc}}\p{{Cn}}\p{{Co}}\p{{Cs}}]--[{_LINE_BREAKS}]]"
    "|[\u2800\U00013441\U00013442\U00016fe4\U0001d159]",
    regex.VERSION1,
)
_INVISIBLE_RUN: Final = regex.compile(rf"(?:{_INVISIBLE.pattern})+", regex.VERSION1)
_NON_JOINER: Final = "\u200c"
_JOINER: Final = "\u200d"
_DIRECTION_MARKS: Final = regex.compile(r"[\p{Bidi_Control}--[\u202a-\u202e]]", regex.VERSION1)
_VARIATION_SELECTOR: Final = regex.compile(r"\p{Variation_Selector}")
# Of these there are variants.
_VARIED: Final = regex.compile(r"[\p{Extended_Pictographic}\p{Sm}\p{Han}\p{Mongolian}\p{Myanmar}\p{Phags_Pa}]")
_KEYCAP: Final = "\u20e3"
_EMOJI: Final = regex.compile(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]")
_JOINING_SCRIPTS: Final = regex.compile(r"[\p{Arabic}\p{Syriac}\p{Mongolian}\p{Nko}\p{Indic_Syllabic_Category=Virama}]")


def drop_invisible(text: str) -> str:
    """Return a text without what cannot be seen or heard."""
    return str(_INVISIBLE.sub("", text))


def has_visible(text: str) -> bool:
    """Whether a text has anything that can be seen or heard."""
    return bool(drop_invisible(text).strip())


def spell_invisible(text: str, phrases: Phrases = ENGLISH) -> str:
    """Return a text in which characters that cannot be seen or heard are named, except where scripts need them."""
    if text.isascii() and text.isprintable():
        return text
    return str(_INVISIBLE_RUN.sub(lambda match: _spell_run(match, phrases), text))


def _spell_run(match: regex.Match[str], phrases: Phrases) -> str:
    run: str = match[0]
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    if len(run) == 1 and _is_needed(before, run, after):
        return run
    if len(run) == 2 and _is_needed(before, run[0], run[1]) and _is_needed(run[0], run[1], after):
        return run  # a joiner after the variant of a picture, as in the rainbow flag
    if all(map(_DIRECTION_MARKS.match, run)) and not (_is_in_word(before) and _is_in_word(after)):
        return run
    named = [(_name(character, phrases), len([*same])) for character, same in groupby(run)]
    told = [phrases.format("value-times", character=name, count=count) if count > 1 else name for name, count in named]
    return f" ({phrases.join(told)}) "


def _is_needed(before: str, character: str, after: str) -> bool:
    """Whether one of these characters does between its neighbours what it is there for."""
    if character == _JOINER and _EMOJI.match(before) and _EMOJI.match(after):
        return True
    if character in (_JOINER, _NON_JOINER):
        return bool(_JOINING_SCRIPTS.match(before))
    if not _VARIATION_SELECTOR.match(character):
        return False
    return bool(_VARIED.match(before)) or (after == _KEYCAP and before in "0123456789#*")


def _is_in_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "-", ".", "/", "@")


def _name(character: str, phrases: Phrases) -> str:
    """Return what a character is called, by what kind it is of."""
    code = f"U+{ord(character):04X}"
    category = unicodedata.category(character)
    if category == "Co":
        return phrases.format("value-private", character=code)
    name = unicodedata.name(character, "").lower()
    return phrases.format("value-invisible" if name else "value-unknown", character=name or code)
