"""Language tags: well-formedness, writing direction, and matching requests with offers. Chapter 11"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

__all__ = [
    "VARIANT_FIELDS",
    "describe_language",
    "filter_supported_languages",
    "find_closest_language",
    "infer_script",
    "is_right_to_left",
    "is_well_formed_tag",
    "language_direction",
    "list_system_languages",
    "match_language",
    "parse_variant_name",
]

# RFC 5646 §2.1. The regular ones among the grandfathered tags have the form of any other.
_IRREGULAR_TAGS: Final = (
    "en-GB-oed|i-ami|i-bnn|i-default|i-enochian|i-hak|i-klingon|i-lux|i-mingo|i-navajo|i-pwn|i-tao|i-tay|i-tsu"
    "|sgn-BE-FR|sgn-BE-NL|sgn-CH-DE"
)
_TAG_PATTERN: Final = re.compile(
    r"(?P<language>[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})"  # with extended language
    r"(?:-(?P<script>[a-z]{4}))?"
    r"(?:-(?P<region>[a-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
    r"(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*"  # extensions
    r"(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+"
    rf"|{_IRREGULAR_TAGS}",
    re.IGNORECASE | re.ASCII,
)
# The likely script of a tag that names none: for languages with several scripts, and for right-to-left languages.
_LIKELY_SCRIPTS: Final = {
    tag: script
    for script, tags in {
        "arab": """aeb acm acq apc apd ar arq ars ary arz azb bal bgn ckb fa glk khw ks lrc mzn pnb prs ps sd sdh skr
            ug ur az-iq az-ir kk-af kk-cn kk-ir ku-iq ku-ir ky-cn ms-cc pa-pk tg-pk uz-af ha-cm ha-sd tk-af tk-ir""",
        "cans": "iu",
        "cyrl": "ba be bg ce cv kk ky mk mn os ru sah sr tg tt tyv uk uz-cn kk-mn ku-am az-ru",
        "deva": "hi kok mr ne sa sd-in mai bho",
        "guru": "pa",
        "grek": "el",
        "hans": "zh wuu hak-cn yue-cn",
        "hant": "yue zh-au zh-hk zh-mo zh-tw nan-tw hak",
        "hebr": "he iw ji lad yi",
        "jpan": "ja",
        "kore": "ko",
        "latn": """az bm bs cnr de en es ff fr ha hr id it ku ms nl pl pt ro shi so sq sw tk tr uz vi yo
            sr-me sr-ro sr-tr ky-tr""",
        "mong": "mn-cn",
        "nkoo": "nqo",
        "syrc": "arc syr",
        "thaa": "dv",
    }.items()
    for tag in tags.split()
}
# Of langcodes: from 10 on, what is offered is another language, which many speakers of the first happen to know.
_MAX_LANGUAGE_DISTANCE: Final = 10
_RTL_SCRIPTS: Final = frozenset(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"])

# C-58: the text fields that may have a sibling in another language.
VARIANT_FIELDS: Final = (
    "summary_terse",
    "summary_normal",
    "summary_detailed",
    "action",
    "consequence",
    "question",
    "reason",
    "context",
    "description",
    "remediation_hint",
    "error_message",
    "output_summary",
    "partial_result",
    "args_summary",
)


@lru_cache(maxsize=4096)
def is_well_formed_tag(tag: str) -> bool:
    """Whether the whole text is a well-formed BCP 47 tag. I18N-008 §11.1.2"""
    return _TAG_PATTERN.fullmatch(tag) is not None


@lru_cache(maxsize=4096)
def infer_script(tag: str) -> str | None:
    """Return the script a tag names or most likely means, in lower case; None if that is not known."""
    parts = _TAG_PATTERN.fullmatch(tag)
    if parts is None or parts["language"] is None:
        return None
    if parts["script"] is not None:
        return parts["script"].lower()
    language = parts["language"].lower()
    # zh-yue-HK: the extended language takes the place of the language.
    names = [language.rpartition("-")[2], language.partition("-")[0]]
    regions = [f"{name}-{parts['region'].lower()}" for name in names] if parts["region"] else []
    return next((_LIKELY_SCRIPTS[name] for name in [*regions, *names] if name in _LIKELY_SCRIPTS), None)


def is_right_to_left(tag: str) -> bool:
    """Whether text in this language is written from right to left."""
    return infer_script(tag) in _RTL_SCRIPTS


def language_direction(tag: str) -> Literal["ltr", "rtl"]:
    """Return the ``text_direction`` to emit with text in this language (C-56)."""
    return "rtl" if is_right_to_left(tag) else "ltr"


def match_language(requested: Sequence[str], offered: Sequence[str], fallback: Sequence[str] = ()) -> str | None:
    """
    Return the offered language that best serves a request, in the order of C-57.

    ``fallback`` is the producer's fallback_chain. None means that the text stays in
    ``primary_language``. A language in another script than was requested (zh-Hans
    for zh-TW) comes last, since the user may not be able to read it.
    """
    steps: tuple[Iterator[str], ...] = (
        (match for tag in requested for match in _iter_matches(tag, offered)),  # I18N-011 to I18N-014
        (
            match
            for tag in requested
            for match in _iter_same_language(tag, offered)
            if _has_compatible_script(tag, match)
        ),
        (match for tag in fallback for match in _iter_matches(tag, offered)),  # I18N-015
        (match for tag in requested for match in _iter_same_language(tag, offered)),
    )
    return next((match for step in steps for match in step), None)


def find_closest_language(requested: Sequence[str], offered: Sequence[str]) -> str | None:
    """
    Return the offered language in which a person understands us best, for our own words; None if there is none.

    The person's languages count in their order: for each an offer by RFC 4647, then one so close that its speakers
    follow (he for iw, nb for no), in the same script.
    """
    for tag in requested:
        found = next(_iter_matches(tag, offered), None) or _find_near_language(tag, offered)
        if found is not None:
            return found
    return None


def list_system_languages(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tags of the languages that the system is set to by its environment, the best first."""
    names = (environment.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    setting = next(filter(None, names), "")
    settings = [*environment.get("LANGUAGE", "").split(":"), setting] if setting not in ("C", "POSIX") else []
    tags = [re.split(r"[.@]", name)[0].replace("_", "-") for name in settings if name]
    return tuple(dict.fromkeys(tag for tag in tags if tag not in ("", "C", "POSIX")))


def describe_language(tag: str, in_language: str = "en") -> str:
    """Return what a language is called; the tag itself if nobody knows."""
    if not is_well_formed_tag(tag):
        return tag
    from langcodes import Language  # noqa: PLC0415  # its names are read only where one is said

    name = Language.get(tag).display_name(in_language)
    return tag if name.startswith("Unknown language") else name


def _find_near_language(tag: str, offered: Sequence[str]) -> str | None:
    if not is_well_formed_tag(tag):
        return None
    from langcodes import closest_match  # noqa: PLC0415  # takes 50 ms, and is needed for few languages

    found, _ = closest_match(tag, [*offered], max_distance=_MAX_LANGUAGE_DISTANCE)
    return None if found == "und" else found


def filter_supported_languages(requested: Sequence[str], offered: Sequence[str]) -> tuple[str, ...]:
    """
    Return the requested languages, as they were spelt, that an offer serves. CF-046, I18N-018

    Another region's offer will do (en-GB for en-US), and by I18N-013 also zh for
    zh-Hant, but not one that names another script (zh-Hans for zh-Hant), since
    honoured terms must be true.
    """
    served: dict[str, str] = {}
    for tag in requested:
        prefixes = {*_iter_prefixes(tag.lower())}
        if (
            any(offer.lower() in prefixes for offer in offered)
            or any(_iter_matches(tag, offered))
            or any(_has_compatible_script(tag, offer) for offer in _iter_same_language(tag, offered))
        ):
            served.setdefault(tag.lower(), tag)
    return tuple(served.values())


def _iter_matches(tag: str, offered: Iterable[str]) -> Iterator[str]:
    """Yield the offers that serve this tag, best first: the same tag, a shorter one, a longer one."""
    wanted = tag.lower()
    for shorter in _iter_prefixes(wanted):
        for offer in offered:
            if offer.lower() == shorter and (shorter == wanted or _has_compatible_script(tag, offer)):
                yield offer
    # I18N-010: en is served by en-US, the first that the producer lists. A request for zh most likely means
    # zh-Hans, but does not rule out zh-Hant.
    longer = [offer for offer in offered if offer.lower().startswith(f"{wanted}-")]
    yield from sorted(longer, key=lambda offer: not _has_compatible_script(tag, offer))


def _iter_prefixes(tag: str) -> Iterator[str]:
    """
    Yield the tag, then the tag without its last subtag, and so on. RFC 4647 §3.4

    A single letter is removed together with the subtag that it introduces.
    """
    subtags = tag.split("-")
    while subtags:
        yield "-".join(subtags)
        subtags.pop()
        if subtags and len(subtags[-1]) == 1:
            subtags.pop()


def _iter_same_language(tag: str, offered: Iterable[str]) -> Iterator[str]:
    """Yield the offers in the same language, whatever their region or script; none for private tags (x-…)."""
    language = tag.lower().partition("-")[0]
    return (offer for offer in offered if len(language) > 1 and offer.lower().partition("-")[0] == language)


def _has_compatible_script(tag: str, other_tag: str) -> bool:
    """Whether the likely scripts of two tags do not contradict each other."""
    script = infer_script(tag)
    other_script = infer_script(other_tag)
    return script is None or other_script is None or script == other_script


def parse_variant_name(name: str) -> tuple[str, str] | None:
    """
    Split ``summary_normal_yo`` into its field and its language tag; return None for any other name.

    C-58: the longest known field name wins and the rest has to be a
    well-formed tag, lower-case with ``_`` for ``-``; it is never a region.
    """
    for field in VARIANT_FIELDS:
        if name.startswith(field + "_"):
            suffix = name[len(field) + 1 :]
            tag = suffix.replace("_", "-")
            if suffix and suffix == suffix.lower() and "-" not in suffix and is_well_formed_tag(tag):
                return field, tag
    return None
