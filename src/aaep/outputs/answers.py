"""Parsing of typed answers to the agent's questions."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Final

import msgspec

from ..presentation.announce import choice_labels
from ..protocol.consent import response_kinds
from ..protocol.events import AwaitingClarification
from ..protocol.fields import get_member
from ..text.phrases import ENGLISH, Phrases
from ..text.sanitize import sanitize
from .intents import Response

__all__ = [
    "MAX_RESPONSE_LENGTH",
    "ParsedAnswer",
    "available_response_kinds",
    "describe_expected_answer",
    "parse_answer",
]

MAX_RESPONSE_LENGTH: Final = 16_384  # characters; CLAR-003

_MAX_EXACT_INTEGER: Final = 2**53  # ENC-006
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_YES_NO: Final = {"y": True, "yes": True, "n": False, "no": False}  # and the words of the person's language
_RESPONSE_KINDS: Final = ("multiple_choice", "yes_no", "numeric", "freetext")


class ParsedAnswer(msgspec.Struct, frozen=True):
    """The value of an answer for the reply, and its text for the person who gave it."""

    value: Response
    display_text: str


def available_response_kinds(event: AwaitingClarification) -> tuple[str, ...]:
    """Return the kinds of answer that a question accepts. CF-031, CF-033"""
    accepted = response_kinds(event)
    choices = get_member(event, "choices")
    return tuple(kind for kind in _RESPONSE_KINDS if kind in accepted and (kind != "multiple_choice" or choices))


def describe_expected_answer(event: AwaitingClarification, phrases: Phrases = ENGLISH) -> str:
    """Return a sentence that says how to answer a question."""
    kinds = available_response_kinds(event)
    if not kinds:
        return phrases["answer-impossible"]
    forms = phrases.join((phrases[f"form-{kind}"] for kind in kinds), name="answer-or")
    has_both_numbers = "multiple_choice" in kinds and "numeric" in kinds
    hint = f" {phrases['answer-number']}" if has_both_numbers else ""
    return f"{phrases.format('answer-forms', forms=forms)}{hint}"


def parse_answer(event: AwaitingClarification, text: str, phrases: Phrases = ENGLISH) -> ParsedAnswer | None:
    """Return the answer that a text gives, or None. Only kinds that the question lists are converted (CF-032)."""
    kinds = available_response_kinds(event)
    stripped = text.strip()
    choices = _choice_answers(event, phrases) if "multiple_choice" in kinds else []
    if stripped.isascii() and stripped.isdecimal() and choices:
        number = int(stripped[:9])
        # A mistyped choice must not be sent as a number or a text.
        return choices[number - 1] if 1 <= number <= len(choices) else None
    for choice in choices:
        if choice is not None and sanitize(stripped).casefold() in (
            choice.display_text.casefold(),
            str(choice.value).casefold(),
        ):
            return choice
    yes_no = {**_YES_NO, phrases["word-yes"].casefold(): True, phrases["word-no"].casefold(): False}
    word = unicodedata.normalize("NFC", stripped).casefold()
    if "yes_no" in kinds and word in yes_no:
        return ParsedAnswer(yes_no[word], phrases["word-yes" if yes_no[word] else "word-no"])
    if "numeric" in kinds and (parsed := _parse_number(stripped.removeprefix("=").strip())) is not None:
        return ParsedAnswer(parsed, str(parsed))
    if "freetext" in kinds and stripped and len(text) <= MAX_RESPONSE_LENGTH and sanitize(stripped):
        return ParsedAnswer(text, sanitize(stripped))
    return None


def _choice_answers(event: AwaitingClarification, phrases: Phrases) -> list[ParsedAnswer | None]:
    """Return the answers for the numbered choices, None for a choice without a value."""
    answers: list[ParsedAnswer | None] = []
    for choice, label in zip(get_member(event, "choices") or (), choice_labels(event, phrases), strict=True):
        value = getattr(choice, "value", None)
        answers.append(ParsedAnswer(value, label) if isinstance(value, str) else None)
    return answers


def _parse_number(text: str) -> int | float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    if text.lstrip("+-").isdecimal() and len(text) < 20:
        integer = int(text)
        return integer if abs(integer) <= _MAX_EXACT_INTEGER else None
    value = float(text)
    return value if math.isfinite(value) else None
