"""
Find secrets in text meant for people, and redact them.

TOOL-005 §4.3.1, EVT-003, SEC-023 §10.2.2 T5. The patterns are anchored key
formats, so that "task-list" and "author" are left alone (CF-143).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .phrases import ENGLISH, Phrases

__all__ = [
    "HARMLESS_TEXTS",
    "REDACTED",
    "SAFE_ENDINGS",
    "find_safe_length",
    "find_secrets",
    "is_secret_name",
    "may_contain_secret",
    "redact",
]

REDACTED: Final = "[redacted]"
_TOLD_DIGITS: Final = 4  # at the end of a number

# The words of a name: of getHTTPHeader2, get, HTTP, Header.
_NAME_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_SECRET_WORDS: Final = frozenset(
    "apikey auth authorisation authorization bearer credential credentials cvc cvv jwt passcode passphrase passwd "
    "password passwords pin pwd secret secrets".split()
)
_KEY_KINDS: Final = frozenset("access api auth decryption encryption hmac master private secret signing ssh".split())
_TOKEN_KINDS: Final = frozenset("access api auth bearer refresh session".split())  # "tokens" alone are counted
# Words behind "token" with which it is no token.
_TOKEN_MEASURES: Final = frozenset(
    "budget cost count counter counts endpoint expiry index length limit limits name number offset position price "
    "rate size total ttl type uri url usage".split()
)

_WORD_START: Final = r"(?<![A-Za-z0-9_])"  # not in the middle of a word
_SECRET_NAME_PAIRS: Final = (("api", "key"), ("access", "token"), ("auth", "token"), ("client", "secret"))
_SECRET_NAMES: Final = (
    *(first + between + second for first, second in _SECRET_NAME_PAIRS for between in ("_", "-", "")),
    *("password", "passwd", "passphrase", "secret", "bearer"),
)
_QUERY_NAMES: Final = (
    *("token", "(?:access|auth|id|refresh)token", "(?:access|api|secret)[_-]?key", "(?:client)?secret"),
    *("auth", "jwt", "passphrase", "passwd", "password", "pwd", "sig", "signature"),
)
_SECRET_PATTERN: Final = re.compile(
    "|".join(
        [
            _WORD_START + r"sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}",
            _WORD_START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
            _WORD_START + r"gh[pousr]_[A-Za-z0-9]{30,}",
            _WORD_START + r"github_pat_[A-Za-z0-9_]{30,}",
            _WORD_START + r"glpat-[A-Za-z0-9_-]{20,}",
            _WORD_START + r"xox[abprs]-[A-Za-z0-9-]{10,}",
            _WORD_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",
            _WORD_START + r"AIza[A-Za-z0-9_-]{35}",
            _WORD_START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # a JWT
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            # A name that announces a secret, and its value; the name is kept when redacting.
            f"(?i:(?<![A-Za-z])(?:{'|'.join(_SECRET_NAMES)})"
            r"(?:[\"']?\s*[:=]\s*[\"']?|\s+(?=[A-Za-z0-9_.-]{20})))(?P<value>(?!\[redacted\])[^\s\"'&,;]{4,})",
            # A secret in an address: ?token=…, &api_key=…, #access_token=…
            f"(?i:[?&#](?:[a-z0-9_.-]*[_.-])?(?:{'|'.join(_QUERY_NAMES)})"
            r"=)(?P<query>(?!\[redacted\])[^\s\"'&#<>]+)",
            r"://[^\s/:@]+:(?P<password>(?!\[redacted\])[^\s/@]+)@",  # user:password@host
            r"(?<![0-9-])(?P<card>[0-9](?:[ -]?[0-9]){12,18})(?![0-9-])",
            r"(?<![0-9-])(?P<ssn>[0-8][0-9]{2}-[0-9]{2}-[0-9]{4})(?![0-9-])",
        ]
    )
)

# Beginnings of these secrets at the end of a text: a text written piece by piece may complete any of them.
_KEY_PREFIXES: Final = (
    *("sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza", "eyJ"),
    *(f"gh{letter}_" for letter in "pousr"),
    *(f"xox{letter}-" for letter in "abprs"),
)


def _join_prefixes(words: Iterable[str]) -> str:
    return "|".join(sorted({word[:size] for word in words for size in range(1, len(word) + 1)}, reverse=True))


_PARTIAL_SECRET_PATTERN: Final = re.compile(
    "(?:"
    + "|".join(
        [
            _WORD_START + f"(?:{_join_prefixes(_KEY_PREFIXES)})",
            _WORD_START + f"(?:{'|'.join(_KEY_PREFIXES)})[A-Za-z0-9_.-]*",
            f"(?i:(?<![A-Za-z])(?:{_join_prefixes(_SECRET_NAMES)}))",
            f"(?i:(?<![A-Za-z])(?:{'|'.join(_SECRET_NAMES)})[\"']?\\s*[:=]?\\s*[\"']?[^\\s\"'&,;]*)",
            r":(?:/(?:/[^\s/@]*)?)?",
            r"[?&#][A-Za-z][A-Za-z0-9_.-]*(?:=[^\s\"'&#<>]*)?",
            r"(?<![0-9-])[0-9](?:[ -]?[0-9]){0,18}[ -]?",
            r"-{1,5}|-----[A-Z ]+-{0,4}",
        ]
    )
    + r")\Z"
)
_TAIL_LENGTH: Final = 300  # characters at the end of a text that are searched for such a beginning
_MAX_KEY_LENGTH: Final = 16_384  # characters of what may still be a private key
_STOP_MARKS: Final = frozenset(".!?,;)")  # no secret continues after one of these and a space
# Most pieces end like this, and then no secret is cut, except inside a private key (BEGIN).
SAFE_ENDINGS: Final = frozenset(f"{stop} " for stop in _STOP_MARKS)

# Every secret above begins with or contains one of these, so a cheap test rules out nearly all texts. Plain words are
# searched one by one because a pattern would try all of them at each letter.
_SECRET_MARKERS: Final = (
    "key",
    "token",
    "secret",
    "passw",
    "passphrase",
    "bearer",
    "auth=",
    "jwt=",
    "pwd=",
    "sig=",
    "signature=",
    "://",
    "akia",
    "asia",
    "aiza",
    "eyj",
)
_SECRET_MARKER_PATTERN: Final = re.compile(
    r"sk[-_]|rk_|gh[pousr]_|github_pat|glpat-|xox[abprs]-|-----begin|[0-9]{3}-[0-9]{2}-"
)  # each alternative has a hyphen or an underscore
_LONG_NUMBER: Final = re.compile(r"[0-9][0-9 -]{11}")
# Nearly all text is letters, blanks and these marks; such text holds a secret only in a long word. Its outline has an
# "a" for each of these characters and a "#" for every other one, and is fast to search.
_PLAIN_BYTES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz,.;!?()'\"" + bytes(range(0x80, 0x100))


def _outline_byte(byte: int) -> int:
    if byte in _PLAIN_BYTES:
        return ord("a")
    return byte if byte in b" \n" else ord("#")


_OUTLINE_TABLE: Final = bytes(map(_outline_byte, range(256)))
_LONG_WORD: Final = b"a" * 20
_MAX_CACHED_LENGTH: Final = 200  # characters; short texts such as "Thinking." recur
_MAX_CACHED_TEXTS: Final = 1024
HARMLESS_TEXTS: Final[set[str]] = set()  # recent short texts without a secret


def _is_luhn_valid(digits: str) -> bool:
    total = 0
    for index, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + index % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def may_contain_secret(text: str) -> bool:
    """Whether the text may hold a secret, by a cheap test that rules out nearly all texts."""
    if text in HARMLESS_TEXTS:
        return False
    try:
        outline = text.encode().translate(_OUTLINE_TABLE)
    except UnicodeEncodeError:  # a lone surrogate, which the patterns can handle
        outline = b"#"
    if (35 in outline or _LONG_WORD in outline) and _has_secret_marker(text):  # 35 is "#"
        return True
    if len(text) <= _MAX_CACHED_LENGTH:
        if len(HARMLESS_TEXTS) >= _MAX_CACHED_TEXTS:
            HARMLESS_TEXTS.clear()
        HARMLESS_TEXTS.add(text)
    return False


def _has_secret_marker(text: str) -> bool:
    lower = text.lower()
    for word in _SECRET_MARKERS:
        if word in lower:
            return True
    if ("-" in lower or "_" in lower) and _SECRET_MARKER_PATTERN.search(lower) is not None:
        return True
    return _LONG_NUMBER.search(lower) is not None


def is_secret_name(name: str) -> bool:
    """Whether a name announces a secret, by its whole words: access_token and apiKey do, token_count and author not."""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    if not _SECRET_WORDS.isdisjoint(words):
        return True
    pairs = [*zip(words, [*words[1:], ""], strict=False)]
    return any(
        (word == "token" and following not in _TOKEN_MEASURES)
        or (word in _KEY_KINDS and following in ("key", "keys"))
        or (word in _TOKEN_KINDS and following == "tokens")
        for word, following in pairs
    )


def find_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part of the text that looks like a secret."""
    return (match.span(match.lastgroup or 0) for match in _find_matches(text))


def _find_matches(text: str) -> Iterator[re.Match[str]]:
    if not may_contain_secret(text):
        return
    for match in _SECRET_PATTERN.finditer(text):
        if match.lastgroup == "card":
            digits = re.sub("[ -]", "", match["card"])
            if not _is_luhn_valid(digits) or len(set(digits)) == 1:
                continue
        yield match


def find_safe_length(text: str, size: int, before: str = "", *, complete_only: bool = False) -> int:
    """
    Return how much of the first ``size`` characters may be sent before the rest of the text is known.

    No secret crosses that point, and none that has only begun could. With
    ``complete_only`` only secrets that are already complete count. ``before`` is
    the text that precedes this one.
    """
    return max(0, _find_safe_length(before + text, size + len(before), complete_only=complete_only) - len(before))


def _find_safe_length(text: str, size: int, *, complete_only: bool) -> int:
    if text[size - 1 : size].isspace() and text[:size].rstrip()[-1:] in _STOP_MARKS and "-----BEGIN" not in text:
        return size
    search_from = max(0, len(text) - _TAIL_LENGTH)
    if may_contain_secret(text):
        for match in _SECRET_PATTERN.finditer(text):
            start, end = match.span()
            if start < size and (end > size or end == len(text)) and end - start <= _MAX_KEY_LENGTH:
                return start
            search_from = max(search_from, end)
    partial_secret = None if complete_only else _PARTIAL_SECRET_PATTERN.search(text, search_from)
    return size if partial_secret is None else min(size, partial_secret.start())


def redact(text: str, *, tells_ending: bool = False, phrases: Phrases = ENGLISH) -> str:
    """
    Return the text with every secret replaced.

    With ``tells_ending`` numbers of cards and persons are replaced by their last digits, by which somebody who
    knows them can check them.
    """
    # Removing one secret can uncover another right after it.
    while matches := [*_find_matches(text)]:
        parts = []
        end = 0
        for match in matches:
            start, stop = match.span(match.lastgroup or 0)
            is_told = tells_ending and match.lastgroup in ("card", "ssn")
            parts += [text[end:start], _tell_ending(match[0], phrases) if is_told else REDACTED]
            end = stop
        text = "".join([*parts, text[end:]])
    return text


def _tell_ending(number: str, phrases: Phrases) -> str:
    """Return how a number ends, in words."""
    return phrases.format("value-ending", digits=" ".join(re.sub("[ -]", "", number)[-_TOLD_DIGITS:]))
