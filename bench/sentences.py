"""
How well sentences are found: precision and recall of their ends, in the languages of ``vectors/sentences``.

Each paragraph is divided whole, and as it grows: character by character, in
tokens like those of a model, and in random pieces of one to eight characters.
While it grows, an end counts as found only if the sentence is given out by the
next token after the one in which it ends; the end of the paragraph is no
decision and is not counted. Where white space is cut makes no difference.

Held back is what has come after the last visible character of a sentence when
it is given out. The rules are tuned on one half of the paragraphs, and nobody
looks at what goes wrong in the other. The figures are the same in every run.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Final, Literal, NamedTuple

from aaep.text.sentences import find_boundary, split_at

FOLDER: Final = Path(__file__).parent.parent / "vectors" / "sentences"
MIN_OVERALL: Final = 0.95  # precision and recall, over all languages
MIN_LANGUAGE: Final = 0.9  # in each language, while the text grows
MAX_GAP: Final = 0.03  # by which the half not tuned on may be worse

Half = Literal["tuned", "held_out"]
HALVES: Final[tuple[Half, ...]] = ("tuned", "held_out")
WHOLE: Final = "whole"

_TOKEN: Final = re.compile(r"\s*\S{1,4}|\s+")


class Paragraph(NamedTuple):
    """A paragraph and the sentences that are to be found in it."""

    language: str
    half: Half
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the sentences joined."""
        return "".join(self.sentences)


@dataclass(slots=True)
class Score:
    """How many ends were found, and what was held back before they were."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    characters_held: list[int] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Return which part of what was found is right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Return which part of what is right was found."""
        return self.right / max(1, self.right + self.missed)

    def add(self, other: Score) -> None:
        """Count what another score has counted too."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        self.characters_held += other.characters_held


def read_corpus() -> list[Paragraph]:
    """Return all paragraphs of all languages."""
    return [
        Paragraph(file["language"], entry["half"], tuple(entry["sentences"]))
        for file in (json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json")))
        for entry in file["paragraphs"]
    ]


def cut_characters(text: str) -> list[str]:
    """Return a text character by character."""
    return list(text)


def cut_tokens(text: str) -> list[str]:
    """Return a text in pieces like the tokens of a model, which begin with the space before a word."""
    return _TOKEN.findall(text)


def cut_randomly(text: str) -> list[str]:
    """Return a text in pieces of one to eight characters, the same ones each time."""
    chance = random.Random(len(text))
    pieces = []
    start = 0
    while start < len(text):
        end = start + chance.randint(1, 8)
        pieces.append(text[start:end])
        start = end
    return pieces


CUTS: Final[dict[str, Callable[[str], list[str]]]] = {
    "characters": cut_characters,
    "tokens": cut_tokens,
    "random pieces": cut_randomly,
}


def find_ends(text: str, pieces: Iterable[str]) -> set[int]:
    """Return where the pieces of a text end, before the white space there, without the end of the text."""
    ends = {len(text[:end].rstrip()) for end in accumulate(map(len, pieces))}
    return ends - {0, len(text.rstrip())}


def feed(pieces: Iterable[str], language: str) -> Iterator[tuple[int, str]]:
    """Yield sentences as an output of a producer gives them out, each with the number of pieces that had come."""
    held = ""
    count = 0
    for count, piece in enumerate(pieces, 1):
        held += piece
        size = find_boundary(held, "sentence", eager=True, language=language)
        for sentence in split_at(held[:size], "sentence", language):
            yield count, sentence
        held = held[size:]
    if held:
        yield count, held


def score_whole(paragraph: Paragraph, split: Callable[[str, str], list[str]] | None = None) -> Score:
    """Return how well a finished paragraph is divided, by ours or another way to split a text of a language."""
    pieces = (split or _split)(paragraph.text, paragraph.language)
    expected = find_ends(paragraph.text, paragraph.sentences)
    found = find_ends(paragraph.text, pieces)
    return Score(len(found & expected), len(found - expected), len(expected - found))


def _split(text: str, language: str) -> list[str]:
    return split_at(text, "sentence", language)


def score_growing(paragraph: Paragraph, cut: Callable[[str], list[str]]) -> Score:
    """Return how well a paragraph is divided while it grows."""
    text = paragraph.text
    pieces = cut(text)
    came = [0, *accumulate(map(len, pieces))]
    token_ends = [*accumulate(map(len, cut_tokens(text))), len(text)]
    expected = find_ends(text, paragraph.sentences)
    score = Score()
    found = set()
    position = 0
    for count, sentence in feed(pieces, paragraph.language):
        position += len(sentence)
        end = len(text[:position].rstrip())
        if end in found or end in (0, len(text.rstrip())):
            continue
        found.add(end)
        if end not in expected:
            score.wrong += 1
            continue
        score.characters_held.append(came[count] - end)
        deadline = token_ends[bisect_left(token_ends, end) + 1]
        if came[count - 1] < deadline:
            score.right += 1
        else:
            score.missed += 1
    score.missed += len(expected - found)
    return score


def score_corpus(corpus: Iterable[Paragraph]) -> dict[tuple[str, Half, str], Score]:
    """Return the scores by language, half and way of feeding."""
    scores: dict[tuple[str, Half, str], Score] = {}
    for paragraph in corpus:
        for way in (WHOLE, *CUTS):
            score = score_whole(paragraph) if way == WHOLE else score_growing(paragraph, CUTS[way])
            scores.setdefault((paragraph.language, paragraph.half, way), Score()).add(score)
    return scores


def find_misses(scores: dict[tuple[str, Half, str], Score]) -> list[str]:
    """Return what is below the bounds, in words."""
    misses = []
    for way in (WHOLE, *CUTS):
        total = join(score for (_, _, each), score in scores.items() if each == way)
        if min(total.precision, total.recall) < MIN_OVERALL:
            misses.append(f"{way}: precision {total.precision:.3f}, recall {total.recall:.3f}")
        tuned, held_out = (
            join(score for (_, half, each), score in scores.items() if (half, each) == (wanted, way))
            for wanted in HALVES
        )
        if max(tuned.precision - held_out.precision, tuned.recall - held_out.recall) > MAX_GAP:
            misses.append(f"{way}: held out {held_out.precision:.3f} and {held_out.recall:.3f} is far behind tuned")
        for language in sorted({language for language, _, _ in scores}):
            score = join(scores[language, half, way] for half in HALVES)
            if way != WHOLE and min(score.precision, score.recall) < MIN_LANGUAGE:
                misses.append(f"{way}, {language}: precision {score.precision:.3f}, recall {score.recall:.3f}")
    return misses


def join(scores: Iterable[Score]) -> Score:
    """Return several scores as one."""
    total = Score()
    for score in scores:
        total.add(score)
    return total


def main() -> int:
    """Print the figures of each language, and whether they are within the bounds."""
    corpus = read_corpus()
    scores = score_corpus(corpus)
    languages = sorted({language for language, _, _ in scores})
    sentences = sum(len(paragraph.sentences) for paragraph in corpus)
    print(f"{sentences} sentences in {len(languages)} languages; precision / recall, tuned and held out")
    print("language  " + "  ".join(f"{way:^27}" for way in (WHOLE, *CUTS)))
    for language in (*languages, "all"):
        chosen = languages if language == "all" else [language]
        cells = []
        for way in (WHOLE, *CUTS):
            tuned, held_out = (join(scores[each, half, way] for each in chosen) for half in HALVES)
            cells.append(
                f"{tuned.precision:.3f}/{tuned.recall:.3f}  {held_out.precision:.3f}/{held_out.recall:.3f}".center(27)
            )
        print(f"{language:<10}" + "  ".join(cells))
    for way in CUTS:
        held = join(scores[language, half, way] for language in languages for half in HALVES).characters_held
        print(f"characters held back after an end, {way}: mean {statistics.mean(held):.1f}, most {max(held)}")
    misses = find_misses(scores)
    for miss in misses:
        print(f"MISSED {miss}")
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())
