"""
A call that does not fit into one question: what a person hears of it, part by part, before they can accept.

One text of an event has at most 16 KiB (LIM-005). What is longer is not refused but told in parts. First come the
overview and the number of parts, then each part, as questions that are answered with yes to go on and with no to
refuse. Only the last part is a confirmation, so nothing can be accepted before all of it was told; and a reader takes
no yes to a part that it has not told in full (C-22).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..errors import LocalProtocolError
from ..text.graphemes import find_grapheme_starts
from ..text.invisible import spell_invisible
from ..text.phrases import ENGLISH, Phrases
from ..text.redaction import REDACTED
from ..text.summaries import clean_text

__all__ = ["MAX_TOLD_BYTES", "Telling", "plan_telling", "split_text"]

MAX_TOLD_BYTES: Final = 1_048_576  # of a call; even that takes some twenty hours to be heard
_MAX_QUESTION_BYTES: Final = 16_384
_PART_LENGTH: Final = 3000  # characters, some three minutes of speech, and in any script below the limit
_KILOBYTE: Final = 1024
_OPENING_MARK: Final = "“"
_CLOSING_MARK: Final = "”"
_SENTENCE_MARKS: Final = (".", "!", "?", "؟", "।", "。", "！", "？")
_SENTENCE_END: Final = re.compile("[.!?؟।](?= )|[。！？]")  # where scripts with spaces have one, and others none


class Telling(NamedTuple):
    """What is told of a call: questions, each of which has to be answered with yes, and then the confirmation."""

    questions: tuple[str, ...]
    action: str


def plan_telling(action: str, overview: str, phrases: Phrases = ENGLISH) -> Telling | None:
    """
    Return how a call is told: as it is if it fits into one question, otherwise in parts; None if it is too long.

    ``action`` is all of it, ``overview`` what it is in one sentence. Raises :exc:`LocalProtocolError` for what cannot
    be told as it is, such as a secret.
    """
    told = _clean(action, phrases)
    size = len(told.encode())
    if size <= _MAX_QUESTION_BYTES:
        return Telling((), action)
    if size > MAX_TOLD_BYTES:
        return None
    if REDACTED in told:  # CF-019: nobody can agree to what they do not hear
        raise LocalProtocolError("It holds a secret, which is not read out, so nobody was asked and nothing ran.")
    *parts, last_part = split_text(told.removeprefix(f"{overview} "), phrases=phrases)  # which is told before them
    count = len(parts) + 1
    length = phrases.format("code-kilobytes", count=round(size / _KILOBYTE))
    questions = [phrases.format("code-parts", overview=overview, size=length, count=count)]
    for number, part in enumerate(parts, start=1):
        questions.append(phrases.format("code-part", number=number, count=count, text=part))
    confirmed = phrases.format("code-part-last", overview=overview, count=count, text=last_part)
    # A question would be sent with a gap where a secret is, and a part might look like one where the whole does not.
    if any(_clean(text, phrases) != text for text in (*questions[1:], confirmed)):
        raise LocalProtocolError("A part of it cannot be read out as it is, so nobody was asked and nothing ran.")
    return Telling(tuple(questions), confirmed)


def _clean(text: str, phrases: Phrases) -> str:
    """Return a text as a question sends it."""
    return clean_text(spell_invisible(text, phrases), sys.maxsize, tells_ending=True, phrases=phrases)


# -- where a text is divided -------------------------------------------------------------------------


def split_text(text: str, length: int = _PART_LENGTH, *, phrases: Phrases = ENGLISH) -> list[str]:
    """
    Return a text in parts of some ``length`` characters, with every quoted value closed again and reopened.

    It is divided between sentences of ours if it can be, else between lines of a value, else between words. Where a
    part goes on with a value, it says so: with which line, and whether in the middle of a word.
    """
    return [*_iterate_parts(text, length, phrases)]


def _iterate_parts(text: str, length: int, phrases: Phrases) -> Iterator[str]:
    start = 0
    opened_at = -1  # where the quoted value begins that the part begins in; -1 outside of one
    joint = ""
    while True:
        end = _find_end(text, start, length, is_quoted=opened_at >= 0)
        value_start = _find_value(text, start, end, opened_at)
        part = text[start:end]
        if opened_at >= 0:
            part = f"{_OPENING_MARK}{part}"
        if value_start >= 0:
            part = f"{part}{_CLOSING_MARK}"
        yield _say_joint(part, joint, text, start, opened_at, phrases)
        if end == len(text):
            return
        opened_at = value_start
        joint = {"\n": "line", " ": "word"}.get(text[end], "middle")
        start = end if joint == "middle" else end + 1


def _say_joint(part: str, joint: str, text: str, start: int, opened_at: int, phrases: Phrases) -> str:
    """Return a part with the words that say how it goes on with the one before."""
    if not joint or (opened_at < 0 and text[max(0, start - 2) : start].rstrip().endswith(_SENTENCE_MARKS)):
        return part  # with a sentence of its own
    if opened_at < 0:
        return phrases.format("rest", text=part)
    line = text.count("\n", opened_at, start) + 1
    return phrases.format(f"code-part-{joint}", line=line, text=part)


def _find_value(text: str, start: int, end: int, opened_at: int) -> int:
    """Return where the quoted value begins in which a part ends, -1 if it ends outside of one."""
    opening, closing = text.rfind(_OPENING_MARK, start, end), text.rfind(_CLOSING_MARK, start, end)
    if opening > closing:
        return opening + 1
    return opened_at if closing < 0 else -1


def _find_end(text: str, start: int, length: int, *, is_quoted: bool) -> int:
    """Return where a part ends that begins at ``start``; a space or a line break there belongs to no part."""
    limit = start + length
    if limit >= len(text):
        return len(text)
    for end in _find_sentence_ends(text, start + length // 2, limit, start, is_quoted=is_quoted):
        return end
    for mark, least in (("\n", length // 4), (" ", length * 3 // 4)):
        end = text.rfind(mark, start + least, limit)
        if end >= 0:
            return end
    if _find_value(text, start, limit, 0 if is_quoted else -1) < 0:  # our own words are short, and never cut
        end = text.find(" ", limit)
        return end if end >= 0 else len(text)
    # A part must not begin with the mark of a letter, nor in the middle of a sequence that is one.
    window = text[start : limit + 1]
    return start + max((end for end in find_grapheme_starts(window) if 0 < end <= length), default=length)


def _find_sentence_ends(text: str, least: int, limit: int, start: int, *, is_quoted: bool) -> Iterator[int]:
    """Yield the ends of sentences outside of quoted values, the last one first."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text, least, limit)]
    for end in reversed(ends):
        if _find_value(text, start, end, 0 if is_quoted else -1) < 0:
            yield end
