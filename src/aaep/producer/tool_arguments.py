"""
The arguments of a tool call: described to people without secrets, and compared again before the call runs.

A person who is asked has to hear all of them, or is not asked (CF-019: what
runs is what was read out). An announcement asks for nothing, so it may be shortened.
"""

from __future__ import annotations

import copyreg
import dataclasses
import re
import types
from collections.abc import Mapping
from datetime import date, time, timedelta
from enum import Enum
from numbers import Number
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

import msgspec

from ..errors import LocalProtocolError
from ..text.redaction import REDACTED
from ..text.summaries import clean_text

__all__ = ["Snapshot", "describe_all", "describe_briefly", "fill_template", "take_snapshot"]

_SECRET_NAME: Final = re.compile(
    r"(?i)pass(word|wd|phrase)|secret|token|api_?key|credential|authori[sz]ation|\bpin\b|cvv"
)
_MAX_BRIEF_LENGTH: Final = 300  # characters of one value in an announcement
_NO_LIMIT: Final = 10**9
# Their text is all there is to them. Number is slow to ask, so it comes after what tools are given most.
_PLAIN_TYPES: Final = (str, int, float, type(None), date, time, timedelta, PurePath, UUID, Number)
_FORMATTABLE_TYPES: Final = (int, float, date, time, Number)  # for which authors write {amount:.2f} and {day:%d %B}


class _CannotDescribe(Exception):
    """A value cannot be described in words."""


def describe_briefly(arguments: Mapping[str, Any], max_length: int = 2000) -> str:
    """Return the arguments shortened for an announcement, without secrets. TOOL-005 §4.3.1"""
    return clean_text(
        "; ".join(f"{name}: {_describe_argument(name, value, _MAX_BRIEF_LENGTH)}" for name, value in arguments.items()),
        max_length,
    )


def describe_all(arguments: Mapping[str, Any]) -> str:
    """Return all of the arguments for a question; raise if one cannot be described. CF-019"""
    return "; ".join(f"{name}: {_describe_argument(name, value, _NO_LIMIT)}" for name, value in arguments.items())


def fill_template(template: str, arguments: Mapping[str, Any], *, complete: bool) -> str:
    """Fill an author's text with the arguments that it names, unshortened if ``complete``."""
    max_length = _NO_LIMIT if complete else _MAX_BRIEF_LENGTH
    return template.format_map({name: _TemplateValue(name, value, max_length) for name, value in arguments.items()})


class _TemplateValue:
    """An argument that an author's text names, or a part of it: ``{order.amount}``."""

    def __init__(self, name: str, value: object, max_length: int) -> None:
        self._name = name
        self._value = value
        self._max_length = max_length

    def __getattr__(self, name: str) -> _TemplateValue:
        return _TemplateValue(f"{self._name}.{name}", getattr(self._value, name), self._max_length)

    def __getitem__(self, key: Any) -> _TemplateValue:
        value: Any = self._value
        return _TemplateValue(f"{self._name}.{key}", value[key], self._max_length)

    def __str__(self) -> str:
        return _describe_argument(self._name, self._value, self._max_length)

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, form: str) -> str:
        text = str(self)
        value = self._value
        if form and text != REDACTED and isinstance(value, _FORMATTABLE_TYPES) and not isinstance(value, Enum):
            return format(value, form)
        return format(text, form)


def _describe_argument(name: str, value: object, max_length: int) -> str:
    if _SECRET_NAME.search(name):
        return REDACTED
    try:
        return _describe_value(value, max_length)
    except (_CannotDescribe, RecursionError) as error:
        if max_length < _NO_LIMIT:
            return f"a {type(value).__name__}"  # its repr may hold anything
        raise LocalProtocolError(
            f"What {name} holds cannot be read out ({error}), so nobody was asked and nothing "
            "ran. Give the tool an `action` that says it in words, such as "
            f'"Pay {{{name}.amount}}.", or pass text and numbers.'
        ) from error


def _describe_value(value: object, max_length: int) -> str:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, _PLAIN_TYPES):
        return clean_text(value, max_length)
    if isinstance(value, Mapping):
        return clean_text("; ".join(_describe_member(*pair, max_length) for pair in value.items()), max_length)
    if isinstance(value, (list, tuple, set, frozenset)):
        return clean_text(", ".join(_describe_value(item, max_length) for item in value), max_length)
    members = _record_members(value)
    if members is None:
        if max_length < _NO_LIMIT:
            return f"a {type(value).__name__}"  # its repr may hold anything
        raise _CannotDescribe(f"a {type(value).__name__}")
    return clean_text("; ".join(_describe_member(*pair, max_length) for pair in members.items()), max_length)


def _describe_member(name: object, value: object, max_length: int) -> str:
    key = _describe_value(name, max_length)
    return f"{key}: {REDACTED if _SECRET_NAME.search(key) else _describe_value(value, max_length)}"


def _record_members(value: object) -> dict[str, object] | None:
    """Return the fields of a record by name; None for any other object, and for a record that holds more."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
    elif isinstance(value, msgspec.Struct):
        names = [*value.__struct_fields__]
    else:
        return None
    if not getattr(value, "__dict__", {}).keys() <= {*names}:
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
    bytes,
    bytearray,
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
