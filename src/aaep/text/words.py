"""
Where the words of a growing text begin and end, so that nobody hears half of one.

A word is what Unicode's default segmentation takes for one (UAX #29): "3.5", "can't" and "example.org" are one each,
"well-known" has two. Scripts without spaces between words are cut at clusters, as only a dictionary could tell their
words.
"""

from __future__ import annotations

from typing import Final

import regex

__all__ = ["ends_in_number", "find_last_run", "find_word_end", "find_word_start", "may_word_go_on"]

_MAX_RUN_LENGTH: Final = 200  # characters that are looked back; a longer run is no word that anybody hears as one
_BOUNDARY: Final = regex.compile(r"(?w)\b", regex.V1)
_TRAILING_MARKS: Final = regex.compile(r"[.,;:!?…‥、。，！？；：।؟،؛\p{Pe}\p{Pf}\"'*_`~]*+", regex.V1)
# An Indic conjunct is one cluster since Unicode 15.1, but not yet for \X.
_CLUSTER: Final = regex.compile(r"(?:\X(?<=\p{InSC=Virama}\u200d?)(?=\p{L}))*+\X", regex.V1)
# Marks within a word are left out where they end a clause far more often: "Let me look:" is not to wait for a letter.
_OPEN_END: Final = regex.compile(
    r"(?:[\p{L}\p{M}\p{N}\p{Pc}\p{Extended_Pictographic}\p{Emoji_Modifier}\u200c\u200d]|[\p{L}\p{M}]['’]|\p{N}[.,])\Z",
    regex.V1,
)
_NUMBER_END: Final = regex.compile(r"\p{N}[.,]\Z", regex.V1)


def may_word_go_on(text: str) -> bool:
    """Whether a text ends within a word, or with one that more letters may belong to."""
    return _OPEN_END.search(text[-2:]) is not None


def ends_in_number(text: str) -> bool:
    """Whether a text ends with a digit and a mark that may be followed by more digits: "It costs 3."."""
    return _NUMBER_END.search(text[-2:]) is not None


def find_last_run(text: str) -> str:
    """Return the end of a text back to its last white space, which is all that its last word can be in."""
    return "" if not text or text[-1].isspace() else text[-_MAX_RUN_LENGTH:].rsplit(maxsplit=1)[-1]


def _find_boundaries(text: str) -> list[int]:
    """Return every place in a text where neither a word nor a cluster goes on."""
    ends = {cluster.end() for cluster in _CLUSTER.finditer(text)}
    return [match.start() for match in _BOUNDARY.finditer(text) if match.start() in ends]


def find_word_start(text: str, position: int) -> int:
    """Return where the word begins that a place in a text is inside of: that place itself if it is inside of none."""
    return max((place for place in _find_boundaries(text) if place <= position), default=0)


def find_word_end(text: str, position: int, *, final: bool = False) -> int | None:
    """
    Return where the word ends that a place in a text is inside of, with the marks that close it.

    Return None while more text may belong to it.

    With ``final`` no more text will come.
    """
    window = text[: position + _MAX_RUN_LENGTH]
    for place in _find_boundaries(window):
        if place < position:
            continue
        marks = _TRAILING_MARKS.match(window, place)
        end = marks.end() if marks else place
        # A mark belongs to the word if a letter follows it, as in "3.5".
        if end < len(window):
            return end
    return len(window) if final or len(window) < len(text) else None
