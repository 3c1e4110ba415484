"""
Reading what others send: strict JSON, and a usable view of an imperfect message.

Strict in what we emit, lenient in what we accept. Unknown members are kept for
relaying and hidden from the view (C-02); unknown enumeration values resolve to
the cautious side (C-61); nothing here decides whether a message is valid.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import Violation
from . import events, messages
from .attend_extension import PREFIX
from .events import CRITICAL
from .fields import Message, members
from .rules import required

__all__ = ["NESTED", "NULL", "UNREADABLE", "canonical", "parse", "view"]

UNREADABLE: Final = object()
NULL: Final = object()  # a null that was sent, in a view made for judging: present, and of no type

# What is begun and never ended goes to the end of the text, so that nothing is looked through twice.
_STRING: Final = r"""("(?:[^"\\]|\\.)*+"?)"""
_FOREIGN: Final = re.compile(rf"""{_STRING}|'((?:[^'\\]|\\.)*+)'?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?""", re.DOTALL)
_TRAILING: Final = re.compile(rf"""{_STRING}|,(?=\s*+[}}\]])""", re.DOTALL)
_MOST_DIGITS: Final = 400
_DEEPEST: Final = 128  # levels; §3.7 allows 8, and what judges a message must be able to follow it down

M = TypeVar("M", bound=Message)


def canonical(type_: str) -> str:
    """One spelling for a type: ``aaep:`` and a name. C-04, C-05, TERM-011 §2.2.7"""
    for start in ("https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"):
        if type_.startswith(start):
            return "aaep:" + type_[len(start) :]
    return type_


def parse(raw: bytes) -> tuple[Any, list[Violation]]:
    """
    Parse JSON as RFC 8259 has it, and say what is not. ENC-001, ENC-002, ENC-005 §3.8

    Returns the value (``UNREADABLE`` if there is none) and the violations.
    Duplicate names are refused although the last one would win, for another
    parser may let the first win (C-26).
    """
    found: list[Violation] = []
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
        found.append(
            Violation("ENC-001", "The message starts with a byte order mark. Leave it out.", severity="warning")
        )
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return UNREADABLE, [Violation("ENC-001", f"The message is not UTF-8: {error.reason} at byte {error.start}.")]
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object(found),
            parse_constant=_constant(found),
            parse_float=_float(found),
            parse_int=_int(found),
        )
        nested = text.count("{") + text.count("[") > _DEEPEST and _deep(value)
    except json.JSONDecodeError as error:
        rule, why = ("ENC-002", "a dialect of JSON, not JSON") if _dialect(text) else ("ENC-001", "not JSON")
        what = error.msg.removesuffix(" at")
        return UNREADABLE, [Violation(rule, f"The message is {why}: {what} at character {error.pos}.")]
    except RecursionError:
        nested = True
    if nested:
        return UNREADABLE, [Violation("ENC-001", "The message is nested too deeply to be read. Send a flatter one.")]
    if re.search(r"\\u[dD][89a-fA-F]", text):
        value = _whole(value, found)
    return value, found


def _deep(value: Any) -> bool:
    """Whether a value is nested more deeply than anything we read."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return any(isinstance(one, (dict, list)) for one in level)


def _object(found: list[Violation]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):
            times = Counter(name for name, _ in pairs)
            twice = next(name for name, number in times.items() if number > 1)
            found.append(Violation("ENC-002", f"The name {twice!r} stands twice in one object. Send it once."))
        return built

    return build


def _constant(found: list[Violation]) -> Callable[[str], float]:
    def refuse(name: str) -> float:
        found.append(Violation("ENC-002", f"{name} is not JSON. Leave the member out, or send a string."))
        return 0.0

    return refuse


def _float(found: list[Violation]) -> Callable[[str], float]:
    def build(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            found.append(Violation("ENC-005", f"{digits[:40]} is beyond what a JSON number can hold."))
            return 0.0
        return value

    return build


def _int(found: list[Violation]) -> Callable[[str], int]:
    def build(digits: str) -> int:
        if len(digits) > _MOST_DIGITS:  # as a double it would be infinite; parsing it could take for ever
            found.append(Violation("ENC-005", f"{digits[:20]}… is beyond what a JSON number can hold."))
            return 0
        return int(digits)

    return build


def _dialect(text: str) -> bool:
    """Whether the text would be JSON without comments, trailing commas and single quotes."""
    plain = _FOREIGN.sub(_native, text)
    plain = _TRAILING.sub(lambda match: match[1] or "", plain)
    if plain == text:
        return False
    try:
        json.loads(plain)
    except ValueError:
        return False
    return True


def _native(match: re.Match[str]) -> str:
    """A string as it is, one in single quotes in double ones, and a blank for a comment."""
    return match[1] or (" " if match[2] is None else json.dumps(match[2]))


def _whole(value: Any, found: list[Violation]) -> Any:
    """Replace lone surrogates, which are no characters, by U+FFFD (C-26)."""
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if whole != value:
            found.append(Violation("ENC-001", "A text holds half a character (a lone surrogate)."))
        return whole
    if isinstance(value, dict):
        return {_whole(name, found): _whole(inner, found) for name, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner, found) for inner in value]
    return value


# -- views ------------------------------------------------------------------------

NESTED: Final[Mapping[str, type[Message]]] = {
    "producer": events.ProducerInfo,
    "localization_hints": events.LocalizationHints,
    "progress": events.Progress,
    "choices": events.Choice,
    "capabilities": messages.Capabilities,
    "honored_capabilities": messages.Capabilities,
    "event_filters": messages.EventFilters,
}
# C-61: what an unknown value of an enumeration counts as.
_CAUTIOUS: Final = {
    "error_category": "unknown",
    "status": "error",
    "coalesce_hint": "none",
    "urgency": "normal",
    "verbosity": "normal",
    "text_direction": "auto",
}
# C-61: safety resolves to asking the user, whatever else was sent: another word, another JSON type, null.
_SAFE: Final = {
    "risk_level": "high",
    "irreversible": True,
    "reversibility": "irreversible",
    "default_decision": "reject",
}


def view(cls: type[M], given: Mapping[str, Any], raw: bytes = b"", *, settle: bool = False) -> M:
    """
    A message of this type with whatever members it has.

    Without ``settle`` the values are as they came, whatever their type: for
    judging. With it, they are fit for use: a member of the wrong JSON type is
    absent, an empty text is absent (C-15), an unknown value is the cautious one;
    and so is a member of the wrong type where safety rests on it.
    """
    message = _sound(cls, given) if settle else None
    if message is None:
        values = {
            field.name: _member(field, given.get(field.encode_name, UNSET), settle=settle) for field in members(cls)
        }
        if settle and cls in CRITICAL:
            values["urgency"] = "critical"  # C-16: whatever it says
        message = cls(**values)
    unknown = {name: value for name, value in given.items() if name not in cls.__struct_encode_fields__}
    if unknown:
        message.__dict__["unknown"] = unknown
    if raw:
        message.__dict__["raw"] = raw
    return message


def _sound(cls: type[M], given: Mapping[str, Any]) -> M | None:
    """The message, if nothing is wrong with it but members at its top that the type does not know."""
    if not required(cls) <= given.keys():
        return None
    try:
        return msgspec.convert({name: given[name] for name in cls.__struct_encode_fields__ if name in given}, cls)
    except msgspec.ValidationError:
        return None


def _member(field: msgspec.structs.FieldInfo, value: Any, *, settle: bool) -> Any:
    nested = NESTED.get(field.encode_name)
    if value is None and not settle:
        return NULL
    if nested is not None and isinstance(value, dict):
        # One object where a list of them belongs is no list, and cannot be used as one.
        return UNSET if settle and _fits(field.type, ()) else view(nested, value, settle=settle)
    if settle and field.encode_name == "extensions" and isinstance(value, dict):
        return _extensions(value)
    if isinstance(value, list):
        value = tuple(view(nested, one, settle=settle) if nested and isinstance(one, dict) else one for one in value)
    if not settle or value is UNSET:
        return value
    if isinstance(value, float) and value.is_integer():
        value = _converted(field.type, int(value), _converted(field.type, value, value))
    usable = _converted(field.type, value, UNSET)
    if usable is not UNSET:
        return usable
    if field.encode_name in _SAFE:
        return _SAFE[field.encode_name]
    if isinstance(value, str):
        return _CAUTIOUS.get(field.encode_name, value or UNSET) if _is_text(field.type) else UNSET
    if isinstance(value, int) and not isinstance(value, bool) and _fits(field.type, 1):
        return value  # out of a range that only the schemas know (C-25)
    if isinstance(value, tuple) and _fits(field.type, ()):
        return value
    return UNSET


def _extensions(given: dict[str, Any]) -> Any:
    """What of ``extensions`` can be used. A.9 shows the parent of a session bare, outside any prefix (C-19)."""
    usable = {prefix: value for prefix, value in given.items() if isinstance(value, dict)}
    if isinstance(given.get("parent_session_id"), str):
        usable[PREFIX] = {"parent_session_id": given["parent_session_id"]} | usable.get(PREFIX, {})
    return usable or UNSET


def _converted(type_: Any, value: Any, otherwise: Any) -> Any:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError:
        return otherwise


def _is_text(type_: Any) -> bool:
    # Whether text belongs there at all, whatever its length or value.
    try:
        msgspec.convert("", type_)
    except msgspec.ValidationError as error:
        return "Expected `str` of length" in str(error) or "Invalid enum value" in str(error)
    return True


def _fits(type_: Any, sample: Any) -> bool:
    try:
        msgspec.convert(sample, type_)
    except msgspec.ValidationError as error:
        return "of length" in str(error) or "Expected `int` " in str(error)
    return True
