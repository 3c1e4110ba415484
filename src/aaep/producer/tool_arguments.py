"""
The arguments of a tool call: described to people without secrets, and compared again before the call runs.

A person who is asked has to hear all of them, or is not asked (CF-019: what
runs is what was read out). An announcement asks for nothing, so it may be shortened.
"""

from __future__ import annotations

import copyreg
import dataclasses
import hashlib
import re
import types
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Number
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

import msgspec

from ..errors import LocalProtocolError
from ..text.invisible import spell_invisible
from ..text.phrases import ENGLISH, Phrases, humanize_name
from ..text.quotation import mark_off
from ..text.redaction import REDACTED, is_secret_name
from ..text.summaries import clean_text

__all__ = [
    "Snapshot",
    "describe_all",
    "describe_briefly",
    "describe_owner",
    "fill_template",
    "has_state",
    "take_snapshot",
]

_MAX_BRIEF_LENGTH: Final = 300  # characters of one value in an announcement
_NO_LIMIT: Final = 10**9
# Their text is all there is to them, and can be taken for nothing else.
_EXACT_TYPES: Final = (int, float, complex, Decimal, Fraction, date, datetime, time, timedelta, UUID)
# Their text may be anything. Number is slow to ask, so it comes last.
_TEXT_TYPES: Final = (str, PurePath, date, time, timedelta, UUID, int, float, Number)
_BYTES_TYPES: Final = (bytes, bytearray, memoryview)
_FORMATTABLE_TYPES: Final = (int, float, date, time, Number)  # for which authors write {amount:.2f} and {day:%d %B}
_LONG_NUMBER: Final = re.compile(r"[0-9](?:[ -]?[0-9])*")
_PYDANTIC_PACKAGES: Final = ("pydantic", "pydantic_core")


class _CannotDescribe(Exception):
    """A value cannot be described in words."""


class _SecretInQuestion(_CannotDescribe):
    """A value that a person is asked about is a secret."""


def describe_briefly(arguments: Mapping[str, Any], max_length: int = 2000, phrases: Phrases = ENGLISH) -> str:
    """Return the arguments shortened for an announcement, without secrets. TOOL-005 §4.3.1"""
    return clean_text(_describe_arguments(arguments, _MAX_BRIEF_LENGTH, phrases), max_length)


def describe_all(arguments: Mapping[str, Any], phrases: Phrases = ENGLISH) -> str:
    """Return all of the arguments for a question; raise if one cannot be described. CF-019"""
    return _describe_arguments(arguments, _NO_LIMIT, phrases)


def _describe_arguments(arguments: Mapping[str, Any], max_length: int, phrases: Phrases) -> str:
    described = (f"{name}: {_describe_argument(name, value, max_length, phrases)}" for name, value in arguments.items())
    return phrases.join(described, name="list-long")


def describe_owner(owner: object, phrases: Phrases = ENGLISH) -> str | None:
    """Return what a method is called on, by its type and in words; None if that cannot be told."""
    try:
        text = _describe_owner_value(owner, phrases)
    except (_CannotDescribe, RecursionError):
        return None
    return f"{humanize_name(type(owner).__name__)}: {text}"


def _describe_owner_value(owner: object, phrases: Phrases) -> str:
    try:
        return _describe_value(owner, _NO_LIMIT, phrases)
    except _CannotDescribe:
        # The author of the class says what its objects are; what a record says of itself may hold secrets.
        if type(owner).__str__ is object.__str__ or isinstance(owner, type) or _find_field_names(owner) is not None:
            raise
        return _describe_text(owner, _NO_LIMIT, phrases)


def has_state(owner: object) -> bool:
    """Whether an object holds anything that tells it from others of its type."""
    if isinstance(owner, (type, types.ModuleType)):
        return False
    if getattr(owner, "__dict__", None):
        return True
    kinds = type(owner).__mro__
    slots = [name for kind in kinds for name in _list_slots(kind) if name not in ("__dict__", "__weakref__")]
    is_python_class = hasattr(owner, "__dict__") or any("__slots__" in vars(kind) for kind in kinds)
    return not is_python_class or any(hasattr(owner, name) for name in slots)


def _list_slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def fill_template(
    template: str,
    arguments: Mapping[str, Any],
    *,
    complete: bool,
    owner: str | None = None,
    phrases: Phrases = ENGLISH,
) -> str:
    """
    Fill an author's text with the arguments that it names, unshortened if ``complete``.

    ``owner`` is the name of the argument that a method is called on.
    """
    max_length = _NO_LIMIT if complete else _MAX_BRIEF_LENGTH
    values = {
        name: _TemplateValue(name, value, max_length, phrases) for name, value in arguments.items() if name != owner
    }
    if owner is not None and owner in arguments:
        values[owner] = _OwnerValue(owner, arguments[owner], max_length, phrases)
    return template.format_map(values)


class _TemplateValue:
    """An argument that an author's text names, or a part of it: ``{order.amount}``."""

    def __init__(self, name: str, value: object, max_length: int, phrases: Phrases) -> None:
        self._phrases = phrases
        self._name = name
        self._value = value
        self._max_length = max_length

    def __getattr__(self, name: str) -> _TemplateValue:
        return _TemplateValue(f"{self._name}.{name}", getattr(self._value, name), self._max_length, self._phrases)

    def __getitem__(self, key: Any) -> _TemplateValue:
        value: Any = self._value
        return _TemplateValue(f"{self._name}.{key}", value[key], self._max_length, self._phrases)

    def __str__(self) -> str:
        return _describe_argument(self._name, self._value, self._max_length, self._phrases)

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, form: str) -> str:
        text = str(self)
        value = self._value
        if form and text != REDACTED and isinstance(value, _FORMATTABLE_TYPES) and not isinstance(value, Enum):
            return format(value, form)
        return format(text, form)


class _OwnerValue(_TemplateValue):
    """What a method is called on, in an author's text: ``{self}`` or ``{self.number}``."""

    def __str__(self) -> str:
        try:
            return _describe_owner_value(self._value, self._phrases)
        except (_CannotDescribe, RecursionError):
            return super().__str__()


def _describe_argument(name: str, value: object, max_length: int, phrases: Phrases) -> str:
    try:
        return _hide_secret(max_length) if _is_secret(name, value) else _describe_value(value, max_length, phrases)
    except _SecretInQuestion as error:
        raise LocalProtocolError(
            f"What {name} holds is a secret, which is not read out. Nobody can agree to what they do not hear, so "
            "nobody was asked and nothing ran. Give the tool an `action` that says in words what is done, without "
            f'{{{name}}}, such as "Sign in with the key of the test account."'
        ) from error
    except (_CannotDescribe, RecursionError) as error:
        if max_length < _NO_LIMIT:
            return phrases.format("value-other", kind=type(value).__name__)  # its repr may hold anything
        raise LocalProtocolError(
            f"What {name} holds cannot be read out ({error}), so nobody was asked and nothing "
            "ran. Give the tool an `action` that says it in words, such as "
            f'"Pay {{{name}.amount}}.", or pass text and numbers.'
        ) from error


def _hide_secret(max_length: int) -> str:
    """Return what is told in place of a secret; raise in a question: nobody can agree to what they do not hear."""
    if max_length < _NO_LIMIT:
        return REDACTED
    raise _SecretInQuestion("a secret")


def _describe_text(value: object, max_length: int, phrases: Phrases) -> str:
    text = clean_text(spell_invisible(str(value), phrases), max_length, tells_ending=True, phrases=phrases)
    if REDACTED in text and max_length == _NO_LIMIT:
        return _hide_secret(max_length)
    is_ending = text != str(value) and _LONG_NUMBER.fullmatch(str(value)) is not None  # told in words of our own
    return text if is_ending else mark_off(text, phrases)


def _is_secret(name: str, value: object) -> bool:
    return is_secret_name(name) and not isinstance(value, (bool, type(None)))


def _describe_value(value: object, max_length: int, phrases: Phrases) -> str:
    if value is None:
        return phrases["value-none"]
    if isinstance(value, bool):
        return phrases["value-yes" if value else "value-no"]
    if isinstance(value, Enum):
        return value.name
    if type(value) in _EXACT_TYPES:
        return str(value)
    if isinstance(value, _TEXT_TYPES):
        return _describe_text(value, max_length, phrases)
    if isinstance(value, _BYTES_TYPES):
        return _describe_bytes(value, phrases)
    if hasattr(type(value), "get_secret_value"):  # pydantic's SecretStr and SecretBytes
        return _hide_secret(max_length)
    members = _read_members(value)
    if members is not None:
        described = [_describe_member(*pair, max_length, phrases) for pair in members.items()]
        return clean_text(_join_counted("parts", described, phrases), max_length)
    if isinstance(value, Mapping):
        described = [_describe_member(*pair, max_length, phrases) for pair in value.items()]
        return clean_text(_join_counted("entries", described, phrases), max_length)
    if isinstance(value, (list, tuple, set, frozenset)):
        described = [_describe_value(item, max_length, phrases) for item in value]
        return clean_text(_join_counted("items", described, phrases), max_length)
    if type(value).__module__.partition(".")[0] in _PYDANTIC_PACKAGES and _find_field_names(value) is None:
        return _describe_text(value, max_length, phrases)  # an address, as HttpUrl
    if max_length < _NO_LIMIT:
        return phrases.format("value-other", kind=type(value).__name__)  # its repr may hold anything
    raise _CannotDescribe(f"a {type(value).__name__}")


def _join_counted(kind: str, described: list[str], phrases: Phrases) -> str:
    """Return the members of a value after their number, so that nothing behind them can be taken for one of them."""
    items = phrases.join(described, name="list" if kind == "items" else "list-long")
    return phrases.format(f"value-{kind}", count=len(described), items=items)


def _describe_bytes(value: bytes | bytearray | memoryview, phrases: Phrases) -> str:
    data = bytes(value)
    size = phrases.format("value-bytes", count=len(data))
    if not data:
        return size
    return phrases.format("value-digest", size=size, digest=hashlib.sha256(data).hexdigest()[:8])


def _describe_member(name: object, value: object, max_length: int, phrases: Phrases) -> str:
    key = _describe_value(name, max_length, phrases)
    is_secret = _is_secret(str(name), value)
    return f"{key}: {_hide_secret(max_length) if is_secret else _describe_value(value, max_length, phrases)}"


def _find_field_names(value: object) -> list[str] | None:
    """Return the names of a record's fields; None for any other object."""
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    if isinstance(value, msgspec.Struct):
        return [*value.__struct_fields__]
    if isinstance(value, tuple) and isinstance(getattr(kind, "_fields", None), tuple):  # a named tuple
        return [*kind._fields]  # type: ignore[attr-defined]  # just seen
    if isinstance(fields := getattr(kind, "__pydantic_fields__", None), dict):
        return [*fields, *(getattr(value, "__pydantic_extra__", None) or ())]
    if isinstance(fields := getattr(kind, "__attrs_attrs__", None), tuple):
        return [field.name for field in fields]
    return None


def _read_members(value: object) -> dict[str, object] | None:
    """Return the fields of a record by name; None for any other object, and for a record that holds more."""
    names = _find_field_names(value)
    if names is None or not getattr(value, "__dict__", {}).keys() <= {*names}:
        return None
    if getattr(value, "__pydantic_private__", None):
        return None
    return {name: getattr(value, name) for name in names}


# -- comparing arguments before and after the question -----------------------------------------

Snapshot = tuple[object, ...]
_CODE_TYPES: Final = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
)  # not data: the same or another
_ATOMIC_TYPES: Final = (
    str,
    bool,
    int,
    float,
    complex,
    range,
    type(None),
    type(...),
    type(NotImplemented),
)


def take_snapshot(arguments: Mapping[str, Any]) -> Snapshot:
    """Return all that the arguments hold, to compare it later; raise for what cannot be compared. CF-019"""
    builder = _SnapshotBuilder()
    snapshots = []
    for name, value in arguments.items():
        try:
            snapshots.append((name, builder.build(value)))
        except Exception as error:  # whatever an object says when it is asked what it holds
            raise LocalProtocolError(
                f"Whether {name} stays as it is while the user is asked cannot be told ({type(value).__name__}), so "
                "nobody was asked and nothing ran. Pass text, numbers or plain objects; what a tool only works with, "
                "such as a connection or an open file, is better not an argument."
            ) from error
    return tuple(snapshots)


class _SnapshotBuilder:
    """Builds snapshots of values; each object is entered once, so that one which contains itself has an end."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._references: list[object] = []  # or another object could get the same id

    def build(self, value: Any) -> Snapshot:
        kind = type(value)
        if kind in _ATOMIC_TYPES:
            return kind, repr(value)
        if kind in _BYTES_TYPES:
            return kind, hashlib.sha256(value).hexdigest()
        if isinstance(value, _CODE_TYPES):
            return kind, id(value)
        number = self._seen.get(id(value))
        if number is not None:
            return kind, number
        self._seen[id(value)] = len(self._seen)
        self._references.append(value)
        if kind in (list, tuple):
            return kind, *map(self.build, value)
        if kind is dict:
            return kind, *((self.build(name), self.build(item)) for name, item in value.items())
        if kind in (set, frozenset):
            return kind, *sorted(map(repr, map(_SnapshotBuilder().build, value)))
        return kind, *self._build_parts(value)

    def _build_parts(self, value: Any) -> Snapshot:
        """Return what pickle would rebuild an object from; objects tied to a resource, such as locks, have none."""
        reducer = copyreg.dispatch_table.get(type(value))
        reduced = value.__reduce_ex__(4) if reducer is None else reducer(value)
        if isinstance(reduced, str):  # a global, of which there is only one
            return id(value), reduced
        function, arguments, *rest = reduced
        state, items, pairs = [*rest, None, None, None][:3]
        return (
            self.build(function),
            self.build(arguments),
            self.build(state),
            *map(self.build, items or ()),
            *((self.build(name), self.build(item)) for name, item in pairs or ()),
        )
