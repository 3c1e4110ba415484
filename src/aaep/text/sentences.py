"""
Where a growing text may be cut: at a word, a sentence, a paragraph. C-45, C-60, C-82, CF-071, CF-078 … CF-082

Three things hold, and the tests insist on them. The pieces joined are exactly the text. No piece ends inside an
extended grapheme cluster. What was once said to be a boundary still is one when more text arrives: each decision looks
at most one character past the white space after the boundary, and is put off while that character is missing.

After a boundary the scan starts afresh, so it makes no difference whether a caller keeps the whole text or only what
has not been sent yet.
"""

# Why by hand: the segmenters there are (sentencex among them) take a finished text. Given a growing one they call
# "3." and "Dr." sentences and take it back with the next token, after it has been spoken.

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import regex

__all__ = ["Boundary", "Hint", "cut", "pieces", "portions", "split"]

Boundary = Literal["word", "sentence", "paragraph", "completion"]
Hint = Literal["none", "word", "sentence", "paragraph", "completion"]

# Insides of character classes. No-break spaces are white space that ends nothing: "Dr.\xa0No", "10\u202f000".
_LINE: Final = r"\n\x0b\x0c\r\x85\u2028\u2029"
_GLUE: Final = r"\xa0\u2007\u202f"
_FLAT: Final = r"\t \u1680\u2000-\u2006\u2008-\u200b\u205f\u3000" + _GLUE
_SPACE: Final = _LINE + _FLAT
# These end a sentence only before white space: 3.50, example.org, page?id=1, .NET
_SPACED: Final = r".!?…‼‽⁇⁈⁉․．﹒"
# CF-081: all others of Unicode's Sentence_Terminal need none: 。！？ ؟ ۔ । ॥ ። ។ ။ …
_FREE: Final = rf"[\p{{Sentence_Terminal}}--[{_SPACED}]]"
# A word surely ends after these as well. Between two Han or kana it ends only for who has a dictionary.
_PAUSES: Final = r"、，；：､፡"
_CLOSERS: Final = r"\p{Pe}\p{Pf}\"'*_`~"  # * _ ` ~ close emphasis and code in Markdown
# What a cluster goes on with (GB9, GB9a), except after a control character (GB4).
_EXTEND: Final = r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]"
_JOINED: Final = regex.compile(rf"(?<![\p{{GCB=Control}}\p{{GCB=CR}}\p{{GCB=LF}}]){_EXTEND}", regex.V1)
# An Indic conjunct is one cluster since Unicode 15.1 (GB9c), to \X not yet.
_CLUSTER: Final = regex.compile(r"(?:\X(?<=\p{InSC=Virama}\u200d?)(?=\p{L}))*+\X", regex.V1)

_GRAPHEME: Final = regex.compile(r"\X", regex.V1)

_LEADING: Final = regex.compile(rf"[{_SPACE}]*+", regex.V1)
_UNSPACED: Final = regex.compile(_FREE, regex.V1)
_ENDS: Final = regex.compile(r"[\p{Sentence_Terminal}…;]", regex.V1)
_BREAKING: Final = regex.compile(rf"[[{_SPACE}]--[{_GLUE}]]", regex.V1)
_BROKEN_LINE: Final = regex.compile(rf"[{_LINE}]", regex.V1)
# A blank line, or the paragraph separator. \r\n is one line break.
_BLANK_LINE: Final = regex.compile(
    rf"(?>\r\n|[{_LINE}])[{_FLAT}]*+[{_LINE}][{_SPACE}]*+|\u2029[{_SPACE}]*+", regex.V1 | regex.DOTALL
)
_EDGE: Final = regex.compile(r"[^\p{L}\p{M}\p{N}.]", regex.V1)
_LOWER: Final = regex.compile(r"\p{Ll}", regex.V1)
_LOWER_OR_DIGIT: Final = regex.compile(r"[\p{Ll}\p{Nd}]", regex.V1)
_INITIAL: Final = regex.compile(r"[\p{Lu}\p{Ll}]\p{M}*+", regex.V1)
_DOTTED: Final = regex.compile(r"\p{L}\p{M}*+\p{L}?\p{M}*+(?:\.\p{L}\p{M}*+\p{L}?\p{M}*+)++", regex.V1)
# "1." or "IV." with nothing before it but marks numbers what follows.
_NUMBERED: Final = regex.compile(rf"[{_SPACE}\p{{P}}\p{{S}}]*+(?:\p{{Nd}}{{1,3}}|[IVX]++)\.", regex.V1)
_ORDINAL: Final = regex.compile(r"\p{Nd}{1,2}", regex.V1)
# What is left of the sentence pattern where all is ASCII, for every language but Greek.
_ASCII_SPACE: Final = " \t\n\x0b\x0c\r"
# It begins with one class of characters, which a search finds much faster than one of two patterns.
_ASCII_SENTENCE: Final = re.compile(
    rf"""(?P<run>[.!?\n\x0b\x0c\r](?:(?<=[.!?])[.!?)\]}}"'*_`~]+)?)(?P<space>[{_ASCII_SPACE}]*)"""
)

# Abbreviations after which the sentence goes on. Small on purpose: one that is missing costs a pause in the wrong
# place, one too many joins two sentences. Single letters and dotted ones (U.S., z.B.) need no entry.
_TITLES: Final = "dr prof mr mrs ms mme mlle vs cf st"
_GOES_ON: Final[dict[str, frozenset[str]]] = {
    "": frozenset(_TITLES.split()),
    "en": frozenset(f"{_TITLES} messrs mx rev hon gen col capt cmdr lt sgt maj gov sen pres mt ft viz eg ie".split()),
    "de": frozenset(
        """dr prof hr hrn fr frl dipl ing st vgl bzw ca bspw evtl ggf insb inkl exkl sog zzgl abzgl abs geb gem lt
        allg bes eigtl einschl entspr gegr mind zt zb dh ua""".split()
    ),
    "fr": frozenset("dr pr prof mm mme mmes mlle mlles me mgr st ste cf env av bd boul vs".split()),
    "es": frozenset(
        "dr dra dres sr sra sres sras srta prof profa d dª lic ing arq gral cnel ud uds vd vds av avda cf".split()
    ),
}
# These may also stand last: the sentence goes on only before a small letter or a digit.
_MAY_END: Final[dict[str, frozenset[str]]] = {
    "": frozenset("etc no".split()),
    "en": frozenset(
        """etc no nos inc ltd co corp llc jr sr dept est approx fig figs eq ch sec vol ed eds pp op al min max a.m p.m
        jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd""".split()
    ),
    "de": frozenset(
        """etc usw usf nr nrn bd abb tab kap art str tel min max mio mrd std sek jh jhd jän jan feb mär apr jun jul aug
        sep sept okt nov dez mo di mi do sa so""".split()
    ),
    "fr": frozenset("etc no nos art chap fig vol éd tél min max janv févr avr juil sept oct nov déc".split()),
    "es": frozenset(
        "etc núm nº no art cap fig pág págs vol ed tel mín máx ene feb abr jun jul ago sept oct nov dic".split()
    ),
}
# "am 3. Oktober": where a number with a full stop is an ordinal.
_ORDINALS: Final = frozenset("de da nb nn no fi et cs sk sl hr sr bs hu pl is lv tr".split())
# „so“ and »so«: where what opens a quotation elsewhere closes one.
_LOW_QUOTES: Final = frozenset("de da cs sk sl hr sr bs bg is lt et hu pl mk".split())


class _Habits(NamedTuple):
    """What cutting needs to know of one language."""

    word: regex.Pattern[str]
    sentence: regex.Pattern[str]
    goes_on: frozenset[str]
    may_end: frozenset[str]
    ordinals: bool
    ascii: bool  # its sentences end as everybody's where all is ASCII


@lru_cache(maxsize=256)
def _habits(language: str) -> _Habits:
    name = language.lower().partition("-")[0]
    closers = _CLOSERS + ("“‘«‹" if name in _LOW_QUOTES else "")
    spaced = _SPACED + (";" if name == "el" else "")  # the Greek question mark, as NFC writes it
    closing = rf"[{closers}]{_EXTEND}*+"
    if name == "fr":
        closing = rf"(?:{closing}|[ {_GLUE}]?+[»›]{_EXTEND}*+)"  # « Quoi ? »
    ending = rf"(?:[[{spaced}]||{_FREE}]{_EXTEND}*+|{closing})*+"
    pausing = rf"[{_PAUSES}]{_EXTEND}*+(?:[{_PAUSES}]{_EXTEND}*+|{closing})*+"
    return _Habits(
        # Every sentence end has to be found by the word pattern too.
        word=regex.compile(
            rf"(?:{_FREE}{_EXTEND}*+|{pausing}){ending}[{_SPACE}]*+|(?P<gap>[{_SPACE}]++)",
            regex.V1,
        ),
        sentence=regex.compile(
            rf"(?P<run>[[{spaced}]||{_FREE}]{_EXTEND}*+{ending})(?P<space>[{_SPACE}]*+)|[{_LINE}][{_SPACE}]*+",
            regex.V1,
        ),
        goes_on=_GOES_ON.get(name, _GOES_ON[""]),
        may_end=_MAY_END.get(name, _MAY_END[""]),
        ordinals=name in _ORDINALS,
        ascii=name != "el",
    )


def _goes_on(text: str, start: int, found: regex.Match[str] | re.Match[str], habits: _Habits) -> bool:
    """Whether the sentence from ``start`` goes on after these marks and the white space behind them."""
    run, end = found["run"], found.end()
    marks = "".join(_ENDS.findall(run))
    trailing_off = marks == "…" or (len(marks) > 1 and not marks.strip(".…"))
    closed = len(run) > len(marks)
    if (trailing_off or closed) and _LOWER.match(text, end):
        return True  # Well... maybe. "Really?" she said.
    if marks != ".":
        return False
    stop = found.start()
    if _NUMBERED.fullmatch(text, start, stop + 1):
        return True
    # The abbreviations are short, so a long word needs no look at its beginning.
    begin = stop
    while begin > max(start, stop - 12) and not _EDGE.match(text, begin - 1):
        begin -= 1
    word = text[begin:stop]
    name = word.casefold()
    if name in habits.may_end:
        return _LOWER_OR_DIGIT.match(text, end) is not None
    if name in habits.goes_on or _INITIAL.fullmatch(word) or _DOTTED.fullmatch(word):
        return True
    return habits.ordinals and _ORDINAL.fullmatch(word) is not None


def _ends_sentence(text: str, start: int, found: regex.Match[str], habits: _Habits) -> bool:
    run, space = found["run"], found["space"]
    if run is None or _BROKEN_LINE.search(space):
        return True
    if _UNSPACED.search(run):
        return True
    return _BREAKING.search(space) is not None and not _goes_on(text, start, found, habits)


def _end(text: str, start: int, boundary: Boundary, habits: _Habits) -> int | None:
    """Where the piece from ``start`` surely ends, whatever may come after the text; None when that is not known yet."""
    if boundary == "completion":
        return None
    pattern = {"word": habits.word, "sentence": habits.sentence, "paragraph": _BLANK_LINE}[boundary]
    leading = _LEADING.match(text, start)
    for found in pattern.finditer(text, leading.end() if leading else start):
        end = found.end()
        if end == len(text):
            return None  # more white space or another mark may follow
        if _JOINED.match(text, end):
            continue
        if boundary == "word" and found["gap"] is not None and not _BREAKING.search(found["gap"]):
            continue
        if boundary == "sentence" and not _ends_sentence(text, start, found, habits):
            continue
        return end
    return None


def _ordinary(text: str, start: int, stop: int, habits: _Habits) -> bool:
    """Whether a full stop in ASCII stands behind an ordinary word of the sentence from ``start``, which ends there."""
    word = text[max(start, stop - 12) : stop].rpartition(" ")[2]
    if not (len(word) > 1 and word.isalpha() and word.strip("IVX")):
        return False
    name = word.lower()
    return name not in habits.may_end and name not in habits.goes_on


def _prose_cut(text: str, habits: _Habits) -> int | None:
    """:func:`cut` at sentences, for ASCII in which ordinary words, full stops and single spaces follow one another."""
    for mark in "!?\n\r\x0b\x0c":
        if mark in text:
            return None
    size, start = len(text), 0
    stop = text.find(".")
    while stop >= 0 and stop + 2 < size:
        if text[stop + 1] == " ":
            if text[stop + 2] in " \t" or not _ordinary(text, start, stop, habits):
                return None
            start = stop + 2
        elif not text[stop + 1].isalnum():
            return None
        stop = text.find(".", stop + 1)
    return start if stop < 0 or text[stop + 1 :] in ("", " ") else None


def _ascii_cut(text: str, habits: _Habits) -> int:
    """:func:`cut` at sentences, for ASCII. The same decisions, without a look at what only other scripts have."""
    size, start, begin = len(text), 0, 0
    while begin < size and text[begin] in _ASCII_SPACE:
        begin += 1
    for found in _ASCII_SENTENCE.finditer(text, begin):
        end = found.end()
        if end == size:
            break
        run, space = found.groups()
        if run[0] in ".!?":  # else it is the end of a line
            if not space:
                continue
            if run not in "!?" and (space == " " or not _BROKEN_LINE.search(space)):
                ordinary = run == "." and _ordinary(text, start, found.start(), habits)
                if not ordinary and _goes_on(text, start, found, habits):
                    continue
        start = end
    return start


def _ends(text: str, boundary: Boundary, language: str) -> Iterator[int]:
    habits = _habits(language)
    end = _end(text, 0, boundary, habits)
    while end is not None:
        yield end
        end = _end(text, end, boundary, habits)


def cut(text: str, boundary: Boundary, *, final: bool = False, language: str = "en") -> int:
    """
    How many code points of ``text`` can be sent now: the longest prefix that surely ends at such a boundary.

    White space belongs to the piece before it, so "Hello. " is no sure piece but "Hello. W" has one. Nothing that comes
    later takes the answer back. With ``final`` no more text will come, and all of it can be sent.
    """
    if final:
        return len(text)
    if boundary == "sentence" and text.isascii():
        habits = _habits(language)
        if habits.ascii:
            length = _prose_cut(text, habits)
            return _ascii_cut(text, habits) if length is None else length
    elif boundary == "paragraph" and len(text.splitlines()) < 2:
        return 0
    last = 0
    for last in _ends(text, boundary, language):  # noqa: B007  # the last one is what is wanted
        pass
    return last


def pieces(text: str, boundary: Boundary, language: str = "en") -> list[str]:
    """A finished text in pieces; joined they are exactly the text."""
    places = [0, *_ends(text, boundary, language), len(text)]
    return [text[begin:end] for begin, end in pairwise(places) if end > begin]


def portions(text: str, limit: int, language: str = "en") -> list[tuple[str, Hint]]:
    """
    CF-082: a finished text in pieces of at most ``limit`` code points, each with the boundary it ends at.

    Only a cluster that is itself longer than the limit is cut inside, since the limit is the schema's.
    """
    if limit < 1:
        raise ValueError("limit has to be at least 1")
    done: list[tuple[str, Hint]] = []
    start = 0
    while len(text) - start > limit:
        window = text[start : start + limit + 1]  # one more, to see that the boundary is one
        length, hint = _portion(window, language)
        done.append((window[:length], hint))
        start += length
    if start < len(text):
        done.append((text[start:], "completion"))
    return done


def _portion(window: str, language: str) -> tuple[int, Hint]:
    hints: tuple[Literal["paragraph", "sentence", "word"], ...] = ("paragraph", "sentence", "word")
    for hint in hints:
        length = cut(window, hint, language=language)
        if length:
            return length, hint
    for pattern in (_CLUSTER, _GRAPHEME):  # rather through a conjunct than through a letter and its marks
        last = [found.start() for found in pattern.finditer(window)][-1]
        if last:
            return last, "none"
    return len(window) - 1, "none"


def split(text: str, limit: int, language: str = "en") -> list[str]:
    """``portions`` without the boundaries; joined they are exactly the text."""
    return [piece for piece, _ in portions(text, limit, language)]
