"""The sentences of vectors/sentences are found, in a finished text and in one that grows."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import accumulate, pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.text.sentences import find_boundary, split_at
from bench.sentences import (
    CUTS,
    MIN_LANGUAGE,
    WHOLE,
    Paragraph,
    feed,
    find_ends,
    find_misses,
    join,
    read_corpus,
    score_corpus,
    score_growing,
)

CORPUS = read_corpus()
OWN_SCRIPTS = ("ar", "he", "hi", "ja", "th", "zh")


def test_the_corpus_is_large_enough_and_halved_in_each_language() -> None:
    count = Counter((paragraph.language, paragraph.half) for paragraph in CORPUS for _ in paragraph.sentences)
    languages = {language for language, _ in count}
    assert count.total() >= 300
    assert len(languages) >= 12
    for language in languages:
        assert abs(count[language, "tuned"] - count[language, "held_out"]) <= 3


def test_sentences_are_found_within_the_bounds() -> None:
    """In each language, whole and growing, and the half not tuned on nearly as well: what bench/sentences.py prints."""
    assert find_misses(score_corpus(CORPUS)) == []


def test_the_bounds_are_missed_where_sentences_are_not_found() -> None:
    worse = [
        paragraph._replace(sentences=tuple(paragraph.text.split(" ")))
        for paragraph in CORPUS
        if paragraph.language == "en"
    ]
    assert {miss.split(":")[0] for miss in find_misses(score_corpus(worse))} >= {WHOLE, *(f"{way}, en" for way in CUTS)}


@pytest.mark.parametrize("wrong", ["", "en", "de", "xx"])
def test_the_script_decides_where_the_language_is_wrong(wrong: str) -> None:
    paragraphs = [paragraph._replace(language=wrong) for paragraph in CORPUS if paragraph.language in OWN_SCRIPTS]
    score = join(score_growing(paragraph, CUTS["tokens"]) for paragraph in paragraphs)
    assert min(score.precision, score.recall) >= MIN_LANGUAGE


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_the_normal_form_makes_no_difference(form: Literal["NFC", "NFD"]) -> None:
    for paragraph in CORPUS:
        sentences = split_at(unicodedata.normalize(form, paragraph.text), "sentence", paragraph.language)
        expected = split_at(paragraph.text, "sentence", paragraph.language)
        assert [unicodedata.normalize("NFC", each) for each in sentences] == [
            unicodedata.normalize("NFC", each) for each in expected
        ]


@given(st.sampled_from(CORPUS), st.data())
def test_a_paragraph_is_cut_alike_in_whatever_pieces_it_comes(paragraph: Paragraph, data: st.DataObject) -> None:
    text = paragraph.text
    cuts = data.draw(st.sets(st.integers(1, len(text) - 1)).map(sorted))
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    given_out = [sentence for _, sentence in feed(pieces, paragraph.language)]
    assert "".join(given_out) == text
    assert find_ends(text, given_out) == find_ends(text, split_at(text, "sentence", paragraph.language))


whole_things = st.sampled_from(
    [
        "https://example.org/a.b?c=1.5!#d.",
        "www.example.com",
        "anna.b@example.com",
        "1,204.50",
        "10.000.000",
        "v2.0.1",
        "12:30",
        "`rm -rf. Now!`",
        "`print('。 A')`",
        "`a? B`",
        "`git commit --all --message fix`",
        "10\u00a0000",
        "e\u0301",
        "👩‍👧",
        "क्षि",
    ]
)
between = st.sampled_from(
    [" ", ". ", "! ", "? ", "。", " Dr. ", ", ", " word ", " Some more words ", "; ", " ที่นี่ ", " (", ") "]
)


@given(
    st.lists(st.tuples(whole_things, between), min_size=1, max_size=25), st.sampled_from(["en", "de", "ja", "th", ""])
)
def test_no_address_number_code_or_cluster_is_cut(parts: list[tuple[str, str]], language: str) -> None:
    text = "".join(thing + separator for thing, separator in parts)
    ends = {*accumulate(map(len, split_at(text, "sentence", language)))}
    position = 0
    for thing, separator in parts:
        assert not ends & {*range(position + 1, position + len(thing))}
        position += len(thing) + len(separator)


@pytest.mark.parametrize(
    "text",
    ["`" + "x. " * 20_000, "— a? " * 20_000, "ที่นี่ดีมาก " * 20_000, "J. " * 20_000 + "He", "“" * 60_000, '。"' * 20_000],
)
def test_a_long_text_that_stays_open_is_cut_in_one_pass(text: str) -> None:
    """This would not end if each look went back to the beginning."""
    assert find_boundary(text, "sentence", eager=True) <= len(text)
    assert "".join(split_at(text, "sentence")) == text
