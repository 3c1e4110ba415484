"""What a person wrote, as the answer to a question: which of the kinds it accepts, and with which value."""

from __future__ import annotations

import math
import re
from typing import Final

import msgspec

from ..protocol.consent import kinds as taken_by
from ..protocol.events import AwaitingClarification
from ..protocol.fields import present
from ..text.phrases import neutralise

__all__ = ["Response", "Understood", "expected", "kinds", "understand"]

Response = str | bool | int | float

LONGEST: Final = 16_384  # CLAR-003
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_YES_NO: Final = {"y": True, "yes": True, "n": False, "no": False}
_WAYS: Final = {
    "multiple_choice": "the number of a choice",
    "yes_no": "yes or no",
    "numeric": "a number",
    "freetext": "your own words",
}


class Understood(msgspec.Struct, frozen=True):
    """An answer: its value for the reply, and how to say it back."""

    value: Response
    said: str


def kinds(event: AwaitingClarification) -> tuple[str, ...]:
    """Which kinds of answer can be given: CF-031, CF-033."""
    taken, choices = taken_by(event), present(event, "choices")
    return tuple(kind for kind in _WAYS if kind in taken and (kind != "multiple_choice" or choices))


def expected(event: AwaitingClarification) -> str:
    """How this question is answered."""
    wanted = kinds(event)
    if not wanted:
        return "This question cannot be answered here."
    ways = [_WAYS[kind] for kind in wanted]
    both = "multiple_choice" in wanted and "numeric" in wanted
    hint = " A number that is no choice is written with = in front of it." if both else ""
    return f"Answer with {' or '.join(ways)}, and Enter.{hint}"


def understand(event: AwaitingClarification, text: str) -> Understood | None:
    """The answer a line of text is, or None if it is none. No conversion but what the question lists (CF-032)."""
    wanted, plain = kinds(event), text.strip()
    choices = _choices(event) if "multiple_choice" in wanted else []
    if plain.isascii() and plain.isdecimal() and choices:
        number = int(plain[:9])
        # A slip of the finger is neither a number nor a text that was meant.
        return choices[number - 1] if 1 <= number <= len(choices) else None
    for choice in choices:
        if choice is not None and neutralise(plain).casefold() in (
            choice.said.casefold(),
            str(choice.value).casefold(),
        ):
            return choice
    if "yes_no" in wanted and plain.casefold() in _YES_NO:
        value = _YES_NO[plain.casefold()]
        return Understood(value, "yes" if value else "no")
    if "numeric" in wanted and (found := _number(plain.removeprefix("=").strip())) is not None:
        return Understood(found, str(found))
    if "freetext" in wanted and plain and len(text) <= LONGEST and neutralise(plain):
        return Understood(text, neutralise(plain))
    return None


def _choices(event: AwaitingClarification) -> list[Understood | None]:
    """The choices by their numbers; None for one that was sent without a value."""
    found: list[Understood | None] = []
    for choice in present(event, "choices") or ():
        value, label = (getattr(choice, name, None) for name in ("value", "label"))
        texts = [neutralise(text) for text in (label, value) if isinstance(text, str)]
        found.append(Understood(value, next(filter(None, texts), "?")) if isinstance(value, str) else None)
    return found


def _number(text: str) -> int | float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    if text.lstrip("+-").isdecimal() and len(text) < 20:
        whole = int(text)
        return whole if abs(whole) <= 2**53 else None  # ENC-006
    value = float(text)
    return value if math.isfinite(value) else None
