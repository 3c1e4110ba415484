"""Language tags and the names of variants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.text.languages import (
    VARIANT_FIELDS,
    filter_supported_languages,
    infer_script,
    is_right_to_left,
    is_well_formed_tag,
    language_direction,
    match_language,
    parse_variant_name,
)


@pytest.mark.parametrize(
    "tag",
    "en en-US EN-us yo zh-Hant-TW sr-Latn-RS de-CH-1996 sl-rozaj-biske ast es-419 zh-yue-HK de-u-co-phonebk x-own "
    "en-x-a de-1901 en-a-bbb-x-a".split(),
)
def test_well_formed(tag: str) -> None:
    assert is_well_formed_tag(tag)


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
    assert not is_well_formed_tag(tag)


@pytest.mark.parametrize(
    "tag", "ar ar-EG he fa-IR ur yi az-Arab ckb dv ps pa-Arab AR sd ug pa-PK az-IR uz-af zh-Arab nqo syr ks".split()
)
def test_right_to_left(tag: str) -> None:
    assert is_right_to_left(tag)


@pytest.mark.parametrize(
    "tag", [*"en yo az az-Latn ar-Latn ku pa zh-Hant-TW arn hex sd-IN x-ar en-x-arab".split(), "", "ar_EG"]
)
def test_left_to_right(tag: str) -> None:
    assert not is_right_to_left(tag)


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
    assert parse_variant_name(name) == parts


@given(st.sampled_from(VARIANT_FIELDS), st.from_regex(r"[a-z]{2,3}(-[a-z]{4})?(-[a-z]{2})?", fullmatch=True))
def test_a_variant_is_taken_apart_as_it_was_put_together(field: str, tag: str) -> None:
    assert parse_variant_name(f"{field}_{tag.replace('-', '_')}") == (field, tag)


@given(st.text(max_size=20))
def test_nothing_is_raised(text: str) -> None:
    assert not (is_right_to_left(text) and not is_well_formed_tag(text))
    assert parse_variant_name(text) is None or text.startswith(VARIANT_FIELDS)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("zh", "hans"),
        ("zh-TW", "hant"),
        ("zh-Hans-TW", "hans"),
        ("zh-yue-HK", "hant"),
        ("zh-yue", "hant"),
        ("ZH-hk", "hant"),
        ("sr", "cyrl"),
        ("sr-ME", "latn"),
        ("pa-PK", "arab"),
        ("pa", "guru"),
        ("mn-CN", "mong"),
        ("xyz", None),
        ("x-zh", None),
        ("zh_TW", None),
        ("", None),
    ],
)
def test_the_likely_script(tag: str, name: str | None) -> None:
    assert infer_script(tag) == name


def test_direction() -> None:
    """C-56"""
    assert language_direction("ar-EG") == "rtl"
    assert language_direction("en-US") == "ltr"
    assert language_direction("no tag") == "ltr"


@pytest.mark.parametrize(
    ("requested", "offered", "fallback", "chosen"),
    [
        ("en-US", "en-GB en en-US", "", "en-US"),  # I18N-011: the same
        ("EN-us", "en en-US", "", "en-US"),  # in the spelling that is offered
        ("en-US", "en-GB en", "", "en"),  # I18N-012: without the region
        ("zh-Hant-TW", "zh zh-Hant", "", "zh-Hant"),  # the region goes first
        ("uz-Latn-UZ", "uz", "", "uz"),  # I18N-013: then the script
        ("de-CH-1996", "de de-CH", "", "de-CH"),
        ("en-a-bbb-x-c", "en-a en", "", "en"),  # RFC 4647: a single letter goes too
        ("en", "fr en-GB en-US", "", "en-GB"),  # I18N-010: the first that is listed
        ("en", "eng-US english ens-GB", "", None),
        ("zh", "zh-Hant zh-Hans", "", "zh-Hans"),
        ("zh en", "zh-Hant en", "", "zh-Hant"),  # but no script was asked for
        ("yo-NG en-NG en-US en", "fr en", "", "en"),  # I18N-014, I18N-022
        ("en-US fr", "en-GB fr", "", "fr"),  # another region only after all that were asked for
        ("en-US de", "fr en-GB", "fr", "en-GB"),  # and before the producer's fallback_chain
        ("de-AT en-US", "en-GB de-DE", "", "de-DE"),
        ("yo", "fr en-GB", "ha en", "en-GB"),  # I18N-015
        ("yo", "fr en", "", None),  # I18N-016: the primary language
        ("yo", "fr en", "sw", None),
        ("zh-Hant en", "zh-Hans zh en", "", "en"),  # another script is not what was asked for
        ("zh-TW", "zh-CN zh-HK", "", "zh-HK"),
        ("zh-TW", "zh-Hant", "", "zh-Hant"),
        ("zh-Hant", "zh-Hans fr", "fr", "fr"),
        ("zh-Hant", "en zh", "", "zh"),  # last resort
        ("zh-Hant", "en zh-Hans", "yo", "zh-Hans"),
        ("sr-Latn-RS en", "sr en", "", "en"),
        ("sr-ME", "sr-Cyrl sr-Latn", "", "sr-Latn"),
        ("x-one", "x-two", "", None),
        ("x-one", "x-two x-one", "", "x-one"),
        ("", "en", "", None),
        ("en", "", "en", None),
    ],
)
def test_a_language_is_chosen(requested: str, offered: str, fallback: str, chosen: str | None) -> None:
    """I18N-009, C-57, in its order"""
    assert match_language(requested.split(), offered.split(), fallback.split()) == chosen


@pytest.mark.parametrize(
    ("requested", "offered", "served"),
    [
        ("en", "en-US", "en"),  # CF-046: the spelling of the request
        ("EN-us fr yo", "en", "EN-us"),
        ("yo-NG en-NG en-US en", "en-GB", "en-NG en-US en"),
        ("en EN en", "en", "en"),
        ("zh-Hant", "zh", "zh-Hant"),  # I18N-013
        ("zh-Hant zh", "zh-Hans", "zh"),
        ("zh-TW", "zh-CN", ""),
        ("yo", "en", ""),  # CF-045
        ("", "en", ""),
    ],
)
def test_honoured_languages(requested: str, offered: str, served: str) -> None:
    assert filter_supported_languages(requested.split(), offered.split()) == tuple(served.split())


tags = st.one_of(
    st.sampled_from("en en-US EN-gb zh zh-TW zh-Hant zh-Hans-CN sr sr-Latn sr-ME x-own yo de-CH-1996 en-a-bb".split()),
    st.from_regex(r"[a-z]{2}(-[A-Z][a-z]{3})?(-[A-Z]{2})?", fullmatch=True),
    st.text(max_size=6),
)


@given(st.lists(tags, max_size=4), st.lists(tags, max_size=4), st.lists(tags, max_size=3))
def test_what_is_chosen_was_offered_and_what_is_honoured_was_asked_for(
    requested: list[str], offered: list[str], fallback: list[str]
) -> None:
    chosen = match_language(requested, offered, fallback)
    assert chosen is None or chosen in offered
    served = filter_supported_languages(requested, offered)
    assert {*served} <= {*requested}
    assert all(match_language([tag], offered) is not None for tag in served)
    assert not served or match_language(requested, offered) is not None


@given(st.from_regex(r"[a-z]{2}(-[A-Z][a-z]{3})?(-[A-Z]{2})?", fullmatch=True), st.lists(tags), st.lists(tags))
def test_a_first_wish_that_is_offered_as_it_stands_is_granted(
    first: str, others: list[str], offered: list[str]
) -> None:
    """I18N-011, in whatever spelling"""
    chosen = match_language([first, *others], [*offered, first.swapcase()])
    assert chosen is not None
    assert chosen.lower() == first.lower()
