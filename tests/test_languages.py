"""Language tags and the names of variants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.languages import VARIANT_FIELDS, right_to_left, variant, well_formed


@pytest.mark.parametrize(
    "tag",
    "en en-US EN-us yo zh-Hant-TW sr-Latn-RS de-CH-1996 sl-rozaj-biske ast es-419 zh-yue-HK de-u-co-phonebk x-own "
    "en-x-a de-1901 en-a-bbb-x-a".split(),
)
def test_well_formed(tag: str) -> None:
    assert well_formed(tag)


@pytest.mark.parametrize(
    "tag",
    [
        "",
        "e",
        "en_US",
        "en-",
        "-en",
        "en--US",
        "english-language-x",
        "en-U",
        "12",
        "en-US\n",
        " en",
        "en-x",
        "é",
        "toolongtag",
    ],
)
def test_not_well_formed(tag: str) -> None:
    assert not well_formed(tag)


@pytest.mark.parametrize("tag", "ar ar-EG he fa-IR ur yi az-Arab ckb dv ps pa-Arab AR sd ug".split())
def test_right_to_left(tag: str) -> None:
    assert right_to_left(tag)


@pytest.mark.parametrize("tag", [*"en yo az az-Latn ar-Latn ku pa zh-Hant-TW arn hex".split(), "", "ar_EG"])
def test_left_to_right(tag: str) -> None:
    assert not right_to_left(tag)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("summary_normal_yo", ("summary_normal", "yo")),
        ("summary_normal_zh_hant_tw", ("summary_normal", "zh-hant-tw")),
        ("question_en", ("question", "en")),
        ("context_fr", ("context", "fr")),
        ("summary_normal", None),
        ("summary_normal_", None),
        ("summary_normal_YO", None),
        ("summary_normal_en_GB", None),
        ("summary_normal_yo-ng", None),
        ("summary_normal_yo_", None),
        ("summary_normal_toolongatag", None),
        ("summary_yo", None),
        ("chunk_yo", None),
        ("xsummary_normal_yo", None),
        ("reason_code", ("reason", "code")),  # four letters are a language to RFC 5646; the shapes decide
    ],
)
def test_variants(name: str, parts: tuple[str, str] | None) -> None:
    """C-58"""
    assert variant(name) == parts


@given(st.sampled_from(VARIANT_FIELDS), st.from_regex(r"[a-z]{2,3}(-[a-z]{4})?(-[a-z]{2})?", fullmatch=True))
def test_a_variant_is_taken_apart_as_it_was_put_together(field: str, tag: str) -> None:
    assert variant(f"{field}_{tag.replace('-', '_')}") == (field, tag)


@given(st.text(max_size=20))
def test_nothing_is_raised(text: str) -> None:
    assert not (right_to_left(text) and not well_formed(text))
    assert variant(text) is None or text.startswith(VARIANT_FIELDS)
