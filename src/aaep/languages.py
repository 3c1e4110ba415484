"""Language tags: whether one is well formed, and which way its text runs. Chapter 11"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["VARIANT_FIELDS", "right_to_left", "variant", "well_formed"]

# RFC 5646 §2.1, without the grandfathered tags, which nobody should emit.
_TAG: Final = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})"  # language, extended language
    r"(?:-(?P<script>[a-z]{4}))?"
    r"(?:-(?:[a-z]{2}|[0-9]{3}))?"  # region
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
    r"(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*"  # extensions
    r"(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+",
    re.IGNORECASE | re.ASCII,
)
_RTL_LANGUAGES: Final = frozenset("ar arc ckb dv fa ha-arab he iw khw ks ku-arab ps prs sd syr ug ur yi".split())
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
def well_formed(tag: str) -> bool:
    """I18N-008 §11.1.2: a well-formed BCP 47 tag, matched whole."""
    return _TAG.fullmatch(tag) is not None


@lru_cache(maxsize=4096)
def right_to_left(tag: str) -> bool:
    """Whether text in this language is written from right to left."""
    match = _TAG.fullmatch(tag)
    if match is None:
        return False
    script = match["script"]
    if script is not None:
        return script.lower() in _RTL_SCRIPTS
    return tag.lower().split("-")[0] in _RTL_LANGUAGES


def variant(name: str) -> tuple[str, str] | None:
    """
    Take ``summary_normal_yo`` apart into its field and its language tag.

    C-58: the longest known field name wins and the rest has to be a
    well-formed tag, lower-case with ``_`` for ``-``; it is never a region.
    """
    for field in VARIANT_FIELDS:
        if name.startswith(field + "_"):
            suffix = name[len(field) + 1 :]
            tag = suffix.replace("_", "-")
            if suffix and suffix == suffix.lower() and "-" not in suffix and well_formed(tag):
                return field, tag
    return None
