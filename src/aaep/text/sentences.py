"""
Find where a growing text may be cut: at a word, a sentence, a paragraph. C-45, C-60, C-82, CF-071, CF-078 … CF-082

Three properties hold, and the tests check them. The pieces joined are exactly the text. No piece ends inside an
extended grapheme cluster. A boundary once reported stays a boundary when more text arrives: a decision looks at most
at the word past the white space after the boundary, mostly at its first character, and is deferred while that is
missing.

After a boundary the scan starts afresh, so it makes no difference whether a caller keeps the whole text or only the
part that has not been sent yet.

The language decides about abbreviations, ordinals and a few quotation marks. Everything else depends on the script of
the text, so that a language that is wrong or missing does little harm.

Thai and Lao have no full stops: a space stands between sentences, between clauses, in lists and names, and around
numbers and foreign words. Here a space ends a sentence where a reader would breathe: between two Thai letters, if what
goes before is as long as a clause and neither side is a word that joins them, after a number before a word that begins
a clause, and always after a polite particle such as ครับ. That divides some long sentences at a clause, which is right
to be heard.

What stands in `code` is never cut, unless a line ends in it. Text without marks does not go on for ever: after some 25
words it is cut where a clause ends, else between two words, and a run of letters without any space between two
clusters.
"""

# No library is used because existing segmenters take a finished text. With a growing one they report "3." and "Dr." as
# sentences and revise that with the next token, after it has been spoken. On vectors/sentences, sentencex 1.0.32 has a
# precision of 0.80 and a recall of 0.88 with whole paragraphs, and bench/sentences.py prints ours.

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import regex

from . import sentence_words as thai
from .sentence_words import SentenceWords, words_of

__all__ = [
    "Boundary",
    "CoalesceHint",
    "find_boundary",
    "is_finished",
    "split_at",
    "split_by_length",
    "split_with_hints",
]

Boundary = Literal["word", "sentence", "paragraph", "completion"]
CoalesceHint = Literal["none", "word", "sentence", "paragraph", "completion"]

# Contents of character classes. No-break spaces are white space that ends nothing: "Dr.\xa0No", "10\u202f000".
_LINE_BREAKS: Final = r"\n\x0b\x0c\r\x85\u2028\u2029"
_NO_BREAK_SPACES: Final = r"\xa0\u2007\u202f"
_INLINE_SPACES: Final = r"\t \u1680\u2000-\u2006\u2008-\u200b\u205f\u3000" + _NO_BREAK_SPACES
_SPACE: Final = _LINE_BREAKS + _INLINE_SPACES
# These end a sentence only before white space: 3.50, example.org, page?id=1, .NET
_SPACED_STOPS: Final = r".!?…‼‽⁇⁈⁉․．﹒"
# CF-081: all others of Unicode's Sentence_Terminal need none: 。！？ ؟ ۔ । ॥ ። ។ ။ …
_FREE_STOPS: Final = rf"[\p{{Sentence_Terminal}}--[{_SPACED_STOPS}]]"
# A word also ends after these. Between two Han or kana characters only a dictionary could tell.
_PAUSE_MARKS: Final = r"、，；：､፡"
_CLOSING_MARKS: Final = r"\p{Pe}\p{Pf}"
# These open as well as they close: after 。 they close something only before a space. * _ ` ~ are Markdown's.
_TWO_SIDED_MARKS: Final = r"\"'*_`~"
_ALL_CLOSING_MARKS: Final = _CLOSING_MARKS + _TWO_SIDED_MARKS
# Characters that continue a cluster (GB9, GB9a), except after a control character (GB4).
_EXTEND: Final = r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]"
_CLUSTER_CONTINUATION: Final = regex.compile(rf"(?<![\p{{GCB=Control}}\p{{GCB=CR}}\p{{GCB=LF}}]){_EXTEND}", regex.V1)
# An Indic conjunct is one cluster since Unicode 15.1 (GB9c), but not yet for \X.
_CLUSTER: Final = regex.compile(r"(?:\X(?<=\p{InSC=Virama}\u200d?)(?=\p{L}))*+\X", regex.V1)

_GRAPHEME: Final = regex.compile(r"\X", regex.V1)

_LEADING_SPACE: Final = regex.compile(rf"[{_SPACE}]*+", regex.V1)
_FREE_STOP_PATTERN: Final = regex.compile(_FREE_STOPS, regex.V1)
_SURE_STOPS: Final = tuple("。｡۔።။")  # no other mark joins these, as in ？！
_OPENS: Final = regex.compile(rf"[\p{{Ps}}\p{{Pi}}{_TWO_SIDED_MARKS}]", regex.V1)
_END_MARK: Final = regex.compile(r"[\p{Sentence_Terminal}…;]", regex.V1)
_FINAL_MARK: Final = regex.compile(rf"[\p{{Sentence_Terminal}}…][{_ALL_CLOSING_MARKS}]*+\Z", regex.V1)
_BREAKING_SPACE: Final = regex.compile(rf"[[{_SPACE}]--[{_NO_BREAK_SPACES}]]", regex.V1)
_LINE_BREAK_PATTERN: Final = regex.compile(rf"[{_LINE_BREAKS}]", regex.V1)
# A blank line, or the paragraph separator. \r\n is one line break.
_BLANK_LINE: Final = regex.compile(
    rf"(?>\r\n|[{_LINE_BREAKS}])[{_INLINE_SPACES}]*+[{_LINE_BREAKS}][{_SPACE}]*+|\u2029[{_SPACE}]*+",
    regex.V1 | regex.DOTALL,
)
_WORD_EDGE: Final = regex.compile(r"[^\p{L}\p{M}\p{N}.]", regex.V1)
_LOWER: Final = regex.compile(r"\p{Ll}", regex.V1)
_UPPER: Final = regex.compile(r"\p{Lu}", regex.V1)
_LOWER_OR_DIGIT: Final = regex.compile(r"[\p{Ll}\p{Nd}]", regex.V1)
_CASELESS: Final = regex.compile(r"\p{Lo}", regex.V1)
# What may stand before a word that continues a sentence.
_OPENING_MARKS: Final = regex.compile(r"[\p{Ps}*_`~]{0,4}+", regex.V1)
_NEXT_WORD: Final = regex.compile(r"[\p{L}\p{M}]{0,16}+", regex.V1)
_INITIAL: Final = regex.compile(r"[\p{Lu}\p{Ll}[[\p{Arabic}\p{Hebrew}]&&\p{Lo}]]\p{M}*+", regex.V1)
_DOTTED_ABBREVIATION: Final = regex.compile(r"\p{L}\p{M}*+\p{L}?\p{M}*+(?:\.\p{L}\p{M}*+\p{L}?\p{M}*+)++", regex.V1)
# "1." or "IV." with nothing before it but marks numbers what follows.
_LIST_NUMBER: Final = regex.compile(rf"[{_SPACE}\p{{P}}\p{{S}}]*+(?:\p{{Nd}}{{1,3}}|[IVX]++)\.", regex.V1)
_ORDINAL: Final = regex.compile(r"\p{Nd}{1,2}", regex.V1)
_LAST_WORD: Final = regex.compile(rf"(\p{{L}}++),?[{_SPACE}]++\Z", regex.V1)
_QUOTATION: Final = regex.compile(rf"[{_SPACE}*_]*+[\"“”„«‹‘]", regex.V1)  # 「…」 has a particle, if it goes on
_CLOSING_QUOTE: Final = regex.compile(r"[\"”“»›」』’]", regex.V1)
_PARTICLE: Final = regex.compile(r"[とっのをがに]", regex.V1)  # joins a Japanese quotation to its verb
_DIALOGUE: Final = regex.compile(rf"[{_SPACE}]*+[—–]", regex.V1)  # —¿Qué? —dijo.
_THAI_ABBREVIATION: Final = regex.compile(r"[ก-ฮ]{1,5}", regex.V1)
_THAI_LETTER: Final = regex.compile(r"[[\p{Thai}\p{Lao}]&&\p{Lo}]", regex.V1)
_MIN_THAI_CLAUSE_LENGTH: Final = 15  # characters
_MIN_SHORT_CLAUSE_LENGTH: Final = 6
_ABBREVIATED_TITLES: Final = "|".join(map(regex.escape, thai.ABBREVIATED_TITLES))
_THAI_TITLES: Final = rf"{'|'.join(thai.TITLES)}|(?<![ก-ฮ.])(?:{_ABBREVIATED_TITLES})"
_THAI_NAME: Final = regex.compile(rf"(?:{_THAI_TITLES})[{_INLINE_SPACES}]+[\p{{Thai}}]+\Z", regex.V1)
# The part of the sentence pattern that matters in ASCII text, for every language but Greek.
_ASCII_SPACE: Final = " \t\n\x0b\x0c\r"
# It begins with one character class, which is much faster to search for than two alternatives.
_ASCII_SENTENCE_END: Final = re.compile(
    rf"""(?P<run>[.!?\n\x0b\x0c\r](?:(?<=[.!?])[.!?)\]}}"'*_`~]+)?)(?P<space>[{_ASCII_SPACE}]*)"""
)

# How long text may be without a boundary, in tenths of an average English word: a character counts 1 and a space 6,
# so that "The agent is working." is about four words. Where no spaces are written, a character says more.
_MAX_LENGTH: Final = 300
_USUAL_LENGTH: Final = 250  # where text without clauses is cut
_MIN_CLAUSE_LENGTH: Final = 100  # a shorter clause is not worth a pause
_SPACE_LENGTH: Final = 6
_IDEOGRAPH: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]", regex.V1)
_IDEOGRAPH_LENGTH: Final = 5
_UNSPACED_LETTER: Final = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]", regex.V1)
_UNSPACED_LETTER_LENGTH: Final = 2
_LONG_WORD_LENGTH: Final = 40  # characters
_CLAUSE_MARK: Final = regex.compile(rf"[,;:–—؛،{_PAUSE_MARKS}]|{_FREE_STOPS}", regex.V1)
_CLAUSE_END: Final = regex.compile(rf"[,;:–—؛،{_PAUSE_MARKS}][{_ALL_CLOSING_MARKS}]*+[{_SPACE}]*+", regex.V1)

# „so“ and »so«: languages in which marks that open a quotation elsewhere close one.
_LOW_QUOTE_LANGUAGES: Final = frozenset("de da cs sk sl hr sr bs bg is lt et hu pl mk".split())


class _LanguageRules(NamedTuple):
    """The boundary rules of one language."""

    word_pattern: regex.Pattern[str]
    sentence_pattern: regex.Pattern[str]
    words: SentenceWords
    has_usual_ascii_ends: bool  # in ASCII text its sentences end with . ! or ?


@lru_cache(maxsize=256)
def _rules_for(language: str) -> _LanguageRules:
    name = language.lower().partition("-")[0]
    closers = _CLOSING_MARKS + ("“‘«‹" if name in _LOW_QUOTE_LANGUAGES else "")
    spaced = _SPACED_STOPS + (";" if name == "el" else "")  # the Greek question mark, as NFC writes it
    # At the end of the text, what follows is not known yet; the match then takes all there is.
    two_sided = rf"[{_TWO_SIDED_MARKS}]++{_EXTEND}*+(?=[{_SPACE}{closers}]|\Z)"
    french = rf"|[ {_NO_BREAK_SPACES}]?+[»›]{_EXTEND}*+" if name == "fr" else ""  # « Quoi ? »
    closing = rf"(?:[{closers}]{_EXTEND}*+|{two_sided}{french})"
    ending = rf"(?:[[{spaced}]||{_FREE_STOPS}]{_EXTEND}*+|{closing})*+"
    pausing = rf"[{_PAUSE_MARKS}]{_EXTEND}*+(?:[{_PAUSE_MARKS}]{_EXTEND}*+|{closing})*+"
    return _LanguageRules(
        # Every sentence end has to be found by the word pattern too.
        word_pattern=regex.compile(
            rf"(?:{_FREE_STOPS}{_EXTEND}*+|{pausing}){ending}[{_SPACE}]*+|(?P<gap>[{_SPACE}]++)",
            regex.V1,
        ),
        sentence_pattern=regex.compile(
            rf"(?P<run>[[{spaced}]||{_FREE_STOPS}]{_EXTEND}*+{ending})(?P<space>[{_SPACE}]*+)"
            rf"|(?P<breath>(?<=[\p{{Thai}}\p{{Lao}}\p{{Nd}}][{_CLOSING_MARKS}\"']?)[ \t\u3000]++)"
            rf"|[{_LINE_BREAKS}][{_SPACE}]*+",
            regex.V1,
        ),
        words=words_of(name),
        has_usual_ascii_ends=name != "el",
    )


# Whether a sentence ends is True, False, or None while that is not known. ---------------------------


def _is_continued(text: str, start: int, match: regex.Match[str] | re.Match[str], rules: _LanguageRules) -> bool | None:
    """Whether the sentence from ``start`` continues after the matched marks and white space."""
    run = match["run"]
    stop = match.start()
    end = match.end()
    if text.count("`", start, stop + len(run)) % 2:
        return True  # inside code
    if text[end] in "—–" and _DIALOGUE.match(text, start):
        after = text[end + 1 : end + 3]
        letter = after.lstrip(" ")
        return _LOWER.match(letter) is not None if letter or len(after) == 2 else None
    marks = "".join(_END_MARK.findall(run))
    trails_off = marks == "…" or (len(marks) > 1 and not marks.strip(".…"))
    is_closed = len(run) > len(marks)
    if trails_off or is_closed:
        begin = _find_letter(text, end)
        if begin is None:
            return None
        if _LOWER.match(text, begin):
            return True  # Well... maybe. "Really?" she said.
        if "`" in run:
            return not _UPPER.match(text, begin)  # Run `make.` now
        if is_closed and _is_quotation_continued(text, start, match):
            return True
    return False if marks != "." else _is_abbreviated(text, start, match, rules.words)


def _is_quotation_continued(text: str, start: int, match: regex.Match[str] | re.Match[str]) -> bool:
    """Whether words that say who spoke follow a quotation, in scripts without capital letters."""
    if not _CLOSING_QUOTE.search(match["run"]):
        return False
    end = match.end()
    if _PARTICLE.match(text, end):
        return True
    return _CASELESS.match(text, end) is not None and _QUOTATION.match(text, start) is not None


def _is_abbreviated(
    text: str, start: int, match: regex.Match[str] | re.Match[str], words: SentenceWords
) -> bool | None:
    """Whether a full stop belongs to a number or to an abbreviation, and the sentence continues."""
    stop = match.start()
    end = match.end()
    if _LIST_NUMBER.fullmatch(text, start, stop + 1):
        return True
    # Abbreviations are short, so only the last characters of a word matter.
    begin = stop
    while begin > max(start, stop - 12) and not _WORD_EDGE.match(text, begin - 1):
        begin -= 1
    word = text[begin:stop]
    name = word.casefold()
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    if name in words.non_final or _THAI_ABBREVIATION.fullmatch(word):
        return True
    if name in words.possibly_final or name.endswith(words.final_suffixes):
        letter = _find_letter(text, end)
        return None if letter is None else _LOWER_OR_DIGIT.match(text, letter) is not None
    if _INITIAL.fullmatch(word) or _DOTTED_ABBREVIATION.fullmatch(word):
        begins = _is_next_word(text, end, words.beginnings)
        return None if begins is None else not begins
    if words.has_ordinals and _ORDINAL.fullmatch(word):
        return _is_ordinal(text, start, begin, end, words)
    return False


def _is_ordinal(text: str, start: int, begin: int, end: int, words: SentenceWords) -> bool | None:
    """Whether a number with a full stop counts something: am 3. Oktober."""
    if not words.ordinal_cues or _LOWER.match(text, end):
        return True
    before = _LAST_WORD.search(text, max(start, begin - 16), begin)
    if before is not None and before[1].casefold() in words.ordinal_cues:
        return True
    return _is_next_word(text, end, words.ordinal_nouns)


def _find_letter(text: str, position: int) -> int | None:
    """Return where the next word begins, after marks that open something; None if it has not come."""
    marks = _OPENING_MARKS.match(text, position)
    letter = marks.end() if marks else position
    return letter if letter < len(text) else None


def _is_next_word(text: str, position: int, words: frozenset[str]) -> bool | None:
    """Whether the next word is one of these."""
    match = _NEXT_WORD.match(text, position)
    word = match[0] if match else ""
    end = position + len(word)
    if end == len(text):
        return None if any(each.startswith(word) for each in words) else False
    return word in words and text[end] not in ".-"


def _is_breath(text: str, start: int, gap: int, end: int) -> bool | None:
    """Whether a sentence or clause ends at a space after a Thai or Lao letter."""
    if text.count("`", start, gap) % 2:
        return False
    first = _THAI_LETTER.search(text, start, gap)
    before = text[first.start() if first else start : gap]
    if before.endswith(thai.POLITE_ENDINGS):
        return True
    if not _THAI_LETTER.match(text, end):
        return False
    if before[-1:].isdecimal():  # a unit or what is counted may follow
        return first is not None and _is_next(text, end, thai.BEGINNINGS_AFTER_NUMBERS)
    if before.endswith((*thai.OPEN_ENDINGS, *thai.TITLES)) or _THAI_NAME.search(before):
        return False
    is_joined = _is_next(text, end, thai.JOINING_BEGINNINGS)
    if is_joined is not False:
        return None if is_joined is None else False
    if len(before) >= _MIN_THAI_CLAUSE_LENGTH or before.endswith(thai.FINAL_ENDINGS):
        return True
    return len(before) >= _MIN_SHORT_CLAUSE_LENGTH and _is_next(text, end, thai.CLAUSE_BEGINNINGS)


def _is_next(text: str, position: int, beginnings: tuple[str, ...]) -> bool | None:
    """Whether the text goes on with one of these."""
    if text.startswith(beginnings, position):
        return True
    rest = text[position : position + 16]
    return None if any(each.startswith(rest) for each in beginnings) else False


def _is_sentence_end(text: str, start: int, match: regex.Match[str], rules: _LanguageRules) -> bool | None:
    if match["breath"] is not None:
        return _is_breath(text, start, match.start(), match.end())
    run, space = match["run"], match["space"]
    if run is None or _LINE_BREAK_PATTERN.search(space):
        return True
    if _FREE_STOP_PATTERN.search(run):
        is_code = text.count("`", start, match.start() + len(run)) % 2
        return not is_code and not _is_quotation_continued(text, start, match)
    if not _BREAKING_SPACE.search(space):
        return False
    is_continued = _is_continued(text, start, match, rules)
    return None if is_continued is None else not is_continued


def _find_end(text: str, start: int, boundary: Boundary, rules: _LanguageRules) -> int | None:
    """Return where the piece from ``start`` ends whatever text follows, or None if that is not known yet."""
    if boundary == "completion":
        return None
    pattern = {"word": rules.word_pattern, "sentence": rules.sentence_pattern, "paragraph": _BLANK_LINE}[boundary]
    leading = _LEADING_SPACE.match(text, start)
    begin = leading.end() if leading else start
    limit = None if boundary == "paragraph" else _find_limit(text, begin)
    for match in _iter_matches(pattern, text, begin, limit):
        end = match.end()
        if end == len(text):
            return None  # more white space or another mark may still arrive
        if _CLUSTER_CONTINUATION.match(text, end):
            continue
        if boundary == "word" and match["gap"] is not None and not _BREAKING_SPACE.search(match["gap"]):
            continue
        if boundary == "sentence":
            is_end = _is_sentence_end(text, start, match, rules)
            if is_end is None:
                return None
            if not is_end:
                continue
        return end
    return None if limit is None else _find_clause_end(text, begin, limit, rules)


def _iter_matches(pattern: regex.Pattern[str], text: str, begin: int, limit: int | None) -> Iterator[regex.Match[str]]:
    """Yield the matches that begin before ``limit``, without searching further, and however far they go."""
    if limit is None:
        yield from pattern.finditer(text, begin)
        return
    position = begin
    while (found := pattern.search(text, position, limit)) is not None:
        match = pattern.match(text, found.start())
        assert match is not None  # it matched with less text
        yield match
        position = max(match.end(), found.start() + 1)


def _find_limit(text: str, begin: int) -> int | None:
    """Return where text from ``begin`` is so long that it has to be cut before; None while it is not."""
    if (len(text) - begin) * _SPACE_LENGTH <= _MAX_LENGTH:
        return None
    limit = _measure(text, begin, _MAX_LENGTH)
    return limit if limit < len(text) else None


def _measure(text: str, begin: int, max_length: int) -> int:
    """Return the index at which the text from ``begin`` has the given length, or the text's own end."""
    low = begin
    high = min(len(text), begin + max_length)
    while low < high:
        middle = (low + high) // 2
        if _get_length(text[begin:middle]) < max_length:
            low = middle + 1
        else:
            high = middle
    return low


def _get_length(text: str) -> int:
    """Return how long a text is to the ear, in tenths of a word."""
    length = len(text) + (_SPACE_LENGTH - 1) * text.count(" ")
    if text.isascii():
        return length
    ideographs = len(_IDEOGRAPH.findall(text))
    unspaced_letters = len(_UNSPACED_LETTER.findall(text))
    return length + (_IDEOGRAPH_LENGTH - 1) * ideographs + (_UNSPACED_LETTER_LENGTH - 1) * unspaced_letters


def _find_clause_end(text: str, begin: int, limit: int, rules: _LanguageRules) -> int | None:
    """Return where to cut text that goes on to ``limit`` without an end: after a clause, a word, or a cluster."""
    end = _find_gap(text, begin, limit, rules, is_code_whole=True)
    if end is None and "`" in text[begin:limit]:
        end = _find_gap(text, begin, limit, rules, is_code_whole=False)  # rather than in the middle of a word
    return end if end is not None else _find_cluster_end(text, begin, limit)


def _find_gap(text: str, begin: int, limit: int, rules: _LanguageRules, *, is_code_whole: bool) -> int | None:
    """Return the best end of a word up to ``limit``."""

    def find_gaps(start: int, stop: int) -> list[tuple[int, bool]]:
        gaps = _iter_gaps(text, start, stop, rules)
        if is_code_whole and "`" in text[begin:stop]:
            return [(end, is_clause) for end, is_clause in gaps if not text.count("`", begin, end) % 2]
        return list(gaps)

    first_useful = _measure(text, begin, _MIN_CLAUSE_LENGTH)
    if _CLAUSE_MARK.search(text, first_useful, limit) is not None:
        clauses = [end for end, is_clause in find_gaps(begin, limit) if is_clause and end >= first_useful]
        if clauses:
            return clauses[-1]
    usual = _measure(text, begin, _USUAL_LENGTH)
    for start in (max(begin, usual - _LONG_WORD_LENGTH), begin):  # nearly always the first time
        words = find_gaps(start, usual)
        if words:
            return words[-1][0]
    words = find_gaps(begin, limit)
    return words[0][0] if words else None


def _iter_gaps(text: str, start: int, limit: int, rules: _LanguageRules) -> Iterator[tuple[int, bool]]:
    """Yield the ends of words up to ``limit``, and whether a clause ends there too."""
    for match in rules.word_pattern.finditer(text, start, limit + 1):
        end = match.end()
        gap = match["gap"]
        if end > limit or _CLUSTER_CONTINUATION.match(text, end):
            continue
        if gap is None:
            yield end, True
        elif _BREAKING_SPACE.search(gap):
            yield end, _CLAUSE_END.match(text, match.start() - 1) is not None


def _find_cluster_end(text: str, begin: int, limit: int) -> int | None:
    """Return the last end of a cluster up to ``limit``, or that of the first if it is longer."""
    last = 0
    for cluster in _CLUSTER.finditer(text, begin):
        end = cluster.end()
        if last and end > limit:
            break
        if end < len(text) and not text[end].isspace():  # white space begins no piece
            last = end
    return last or None


def _is_ordinary_stop(text: str, start: int, stop: int, rules: _LanguageRules) -> bool:
    """Whether an ASCII full stop follows an ordinary word, so that the sentence from ``start`` ends there."""
    word = text[max(start, stop - 12) : stop].rpartition(" ")[2]
    if not (len(word) > 1 and word.isalpha() and word.strip("IVX")):
        return False
    name = word.lower()
    words = rules.words
    return not (name in words.possibly_final or name in words.non_final or name.endswith(words.final_suffixes))


def _find_boundary_in_prose(text: str, rules: _LanguageRules) -> int | None:
    """
    Return the last sentence boundary in ASCII text of ordinary words, full stops and single spaces.

    Return None if the text has anything else.
    """
    if not (rules.has_usual_ascii_ends and text.isascii()):
        return None
    for mark in "!?`\n\r\x0b\x0c":
        if mark in text:
            return None
    length = len(text)
    start = 0
    stop = text.find(".")
    while stop >= 0 and stop + 2 < length:
        if text[stop + 1] == " ":
            if text[stop + 2] in " \t" or not _is_ordinary_stop(text, start, stop, rules):
                return None
            if _is_long(text, start, stop):
                return None
            start = stop + 2
        elif not text[stop + 1].isalnum():
            return None
        stop = text.find(".", stop + 1)
    if _is_long(text, start, length):
        return None
    return start if stop < 0 or text[stop + 1 :] in ("", " ") else None


def _is_long(text: str, start: int, end: int) -> bool:
    """Whether ASCII text may be so long that it is cut without a mark."""
    length = end - start
    if length * _SPACE_LENGTH <= _MAX_LENGTH:
        return False
    return length + (_SPACE_LENGTH - 1) * text.count(" ", start, end) >= _MAX_LENGTH


def _find_boundary_in_ascii(text: str, rules: _LanguageRules) -> int | None:
    """
    Return the last sentence boundary in ASCII text, without the tests that only other scripts need.

    Return None if the text has a sentence that may be too long.
    """
    length = len(text)
    has_code = "`" in text
    start = 0
    begin = 0
    while begin < length and text[begin] in _ASCII_SPACE:
        begin += 1
    for match in _ASCII_SENTENCE_END.finditer(text, begin):
        end = match.end()
        if end == length:
            break
        run, space = match.groups()
        if run[0] in ".!?":  # else it is the end of a line
            if not space:
                continue
            if (has_code or run not in "!?") and (space == " " or not _LINE_BREAK_PATTERN.search(space)):
                ordinary = run == "." and not has_code and _is_ordinary_stop(text, start, match.start(), rules)
                is_continued = not ordinary and _is_continued(text, start, match, rules)
                if is_continued is None:
                    break
                if is_continued:
                    if _is_long(text, start, end):
                        return None
                    continue
        if _is_long(text, start, end):
            return None
        start = end
    return None if _is_long(text, start, length) else start


def _iter_ends(text: str, boundary: Boundary, language: str) -> Iterator[int]:
    """Yield the end of every piece that is known to be complete."""
    rules = _rules_for(language)
    end = _find_end(text, 0, boundary, rules)
    while end is not None:
        yield end
        end = _find_end(text, end, boundary, rules)


def find_boundary(
    text: str, boundary: Boundary, *, final: bool = False, eager: bool = False, language: str = "en"
) -> int:
    """
    Return how many code points of ``text`` can be sent now: its longest prefix known to end at such a boundary.

    White space belongs to the piece before it, so "Hello. " has no complete piece but "Hello. W" has one. Text that
    arrives later never changes the answer. With ``final`` no more text will arrive, and all of it can be sent.

    With ``eager`` a sentence is complete as soon as no letter could continue it, as in "Hello. " and "你好。"; white
    space that arrives later then begins the next piece.
    """
    if final:
        return len(text)
    if not eager or boundary != "sentence":
        return _find_last_boundary(text, boundary, language)
    prose_length = _find_eager_boundary_in_prose(text, language)
    if prose_length is not None:
        return prose_length
    length = _find_last_boundary(text, boundary, language)
    return len(text) if _is_surely_ended(text[length:], language) else length


def _find_eager_boundary_in_prose(text: str, language: str) -> int | None:
    """Return the last sentence boundary if anything follows: after an ordinary word and its stop it may be anything."""
    return _find_boundary_in_prose(f"{text}X", _rules_for(language))


def _find_last_boundary(text: str, boundary: Boundary, language: str) -> int:
    """Return the last boundary that is sure."""
    if boundary == "sentence" and text.isascii():
        rules = _rules_for(language)
        if rules.has_usual_ascii_ends:
            length = _find_boundary_in_prose(text, rules)
            if length is None:
                length = _find_boundary_in_ascii(text, rules)
            if length is not None:
                return length
    elif boundary == "paragraph" and len(text.splitlines()) < 2:
        return 0
    last = 0
    for last in _iter_ends(text, boundary, language):  # noqa: B007  # only the last end is needed
        pass
    return last


def _is_surely_ended(text: str, language: str) -> bool:
    """Whether a text ends with the end of a sentence, whatever letter or digit follows."""
    last = text[-1:]
    if last in _SURE_STOPS:
        if _OPENS.search(text):
            return False  # a mark may follow that closes it
    elif not last.isspace() or last == "\r":  # \r\n is one cluster
        return False
    letters = "Xx1"
    if _find_eager_boundary_in_prose(text, language) == len(text):
        return True
    if not text.isascii():
        if text.count("«") > text.count("»") or _DIALOGUE.match(text):
            return False  # a mark may follow: « Quoi ? »
        if _CLOSING_QUOTE.search(text, max(0, len(text) - 8)):
            letters += "か"  # in other scripts, who spoke
    return all(find_boundary(text + char, "sentence", language=language) == len(text) for char in letters)


def is_finished(text: str, language: str = "en") -> bool:
    """Whether a text ends with the end of a sentence, if nothing follows: "Hello." does, "Dr." and "Hello" do not."""
    if not text or not (text[-1].isspace() or _FINAL_MARK.search(text[-8:]) or text.endswith(thai.POLITE_ENDINGS)):
        return False
    ended = text if text[-1].isspace() else f"{text} "
    return find_boundary(f"{ended}X", "sentence", language=language) == len(ended)


def split_at(text: str, boundary: Boundary, language: str = "en") -> list[str]:
    """Split a finished text at every boundary of a kind; the pieces joined are exactly the text."""
    ends = [0, *_iter_ends(text, boundary, language), len(text)]
    return [text[begin:end] for begin, end in pairwise(ends) if end > begin]


def split_with_hints(text: str, limit: int, language: str = "en") -> list[tuple[str, CoalesceHint]]:
    """
    Split a finished text into pieces of at most ``limit`` code points, each with the boundary it ends at. CF-082

    Only a cluster that is longer than the limit is cut inside, since the limit is the schema's.
    """
    if limit < 1:
        raise ValueError("limit has to be at least 1")
    pieces: list[tuple[str, CoalesceHint]] = []
    start = 0
    while len(text) - start > limit:
        window = text[start : start + limit + 1]  # one more character, to confirm a boundary
        length, hint = _find_chunk_end(window, language)
        pieces.append((window[:length], hint))
        start += length
    if start < len(text):
        pieces.append((text[start:], "completion"))
    return pieces


def _find_chunk_end(window: str, language: str) -> tuple[int, CoalesceHint]:
    hints: tuple[Literal["paragraph", "sentence", "word"], ...] = ("paragraph", "sentence", "word")
    for hint in hints:
        length = find_boundary(window, hint, language=language)
        if length:
            return length, hint
    for pattern in (_CLUSTER, _GRAPHEME):  # cutting a conjunct is better than cutting a letter from its marks
        last = [match.start() for match in pattern.finditer(window)][-1]
        if last:
            return last, "none"
    return len(window) - 1, "none"


def split_by_length(text: str, limit: int, language: str = "en") -> list[str]:
    """Split a finished text into pieces of at most ``limit`` code points; joined they are exactly the text."""
    return [piece for piece, _ in split_with_hints(text, limit, language)]
