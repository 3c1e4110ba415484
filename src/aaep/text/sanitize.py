"""Make text from elsewhere safe to speak and print: no controls, markup or direction overrides, bounded length."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["MAX_SPOKEN_LENGTH", "sanitize", "truncate"]

LANG_MARKUP: Final = re.compile(r"<span\b[^<>]*\blang\b", re.IGNORECASE)  # I18N-041
MAX_SPOKEN_LENGTH: Final = 600  # characters of one text that are read at once, about 40 seconds of speech

_WHITESPACE: Final = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
# Overrides and embeddings (C-59), invisible characters that could hide words, private controls.
_INVISIBLE: Final = re.compile(
    "\x1b\\[[0-9;:?]*[ -/]*[@-~]|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u202a-\u202e\u2060-\u2064"
    "\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Only certain markup is removed: "Send it to <eve@example.org>" has to be heard in full.
_MARKUP_TAG: Final = re.compile(
    r"</?(?:a|abbr|audio|b|bdi|bdo|big|blockquote|body|br|button|center|cite|code|del|dfn|div|em|emphasis|font|form|h[1-6]"
    r"|head|hr|html|i|iframe|img|input|ins|kbd|label|li|link|lang|mark|meta|object|ol|p|phoneme|pre|prosody|q|s|samp|say-as"
    r"|script|small|span|speak|strike|strong|style|sub|sup|svg|table|tbody|td|th|tr|tt|u|ul|var|video|voice)"
    r"(?:\s+[A-Za-z_:][-\w:.]*(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))?)*\s*/?>",
    re.IGNORECASE | re.ASCII,
)


def sanitize(text: str) -> str:
    """
    Remove everything that could make a text sound or look like another one.

    C-26, C-59: no control characters, markup, bidi overrides or invisible
    characters, on one line. Isolates stay if they are balanced.
    """
    if text.isascii() and text.isprintable() and "<" not in text:
        return " ".join(text.split())
    text = _SURROGATE.sub("\ufffd", text)
    for _ in range(8):  # removing one tag can join the halves of another
        plain = _MARKUP_TAG.sub("", _INVISIBLE.sub("", _WHITESPACE.sub(" ", text)))
        if plain == text:
            break
        text = plain
    else:  # tags nested this deeply are an attempt to get one through
        text = _WHITESPACE.sub(" ", text.replace("<", " "))
    return _drop_unbalanced_isolates(text)


def _drop_unbalanced_isolates(text: str) -> str:
    depth = 0
    for char in text:
        depth += (char in "\u2066\u2067\u2068") - (char == "\u2069")
        if depth < 0:
            break
    return " ".join((re.sub("[\u2066-\u2069]", "", text) if depth else text).split())


def truncate(text: str, max_length: int = MAX_SPOKEN_LENGTH) -> str:
    """Return the beginning of a sanitized text, cut at a word if one is near, never inside a character."""
    if len(text) <= max_length:
        return text
    end = text.rfind(" ", max_length // 2, max_length + 1)
    if end < 0:
        end = max_length
        while end > 1 and (unicodedata.category(text[end])[0] == "M" or "\u200d" in text[end - 1 : end + 1]):
            end -= 1
    return _drop_unbalanced_isolates(text[:end]) or text[:max_length]
