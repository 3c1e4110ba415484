"""
What a call is given: told to people without secrets, and known again when the call is about to run.

Who is asked has to hear all of it, or is not asked (CF-019: what runs is what
was read out). An announcement asks for nothing, so it may be shortened.
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
    """There are no words for what this holds."""


def describe_briefly(arguments: Mapping[str, Any], max_length: int = 2000) -> str:
    """A call's arguments as a listener can take them in, without secrets. TOOL-005 §4.3.1"""
    return clean_text(
        "; ".join(f"{name}: {_describe_argument(name, one, _MAX_BRIEF_LENGTH)}" for name, one in arguments.items()),
        max_length,
    )


def describe_all(arguments: Mapping[str, Any]) -> str:
    """All of the arguments, for who is asked; what cannot be told raises. CF-019"""
    return "; ".join(f"{name}: {_describe_argument(name, one, _NO_LIMIT)}" for name, one in arguments.items())


def fill_template(template: str, arguments: Mapping[str, Any], *, complete: bool) -> str:
    """An author's text with the arguments that it names, all of each if ``complete``."""
    most = _NO_LIMIT if complete else _MAX_BRIEF_LENGTH
    return template.format_map({name: _TemplateValue(name, value, most) for name, value in arguments.items()})


class _TemplateValue:
    """An argument that an author's text names, or something of it: ``{order.amount}``."""

    def __init__(self, name: str, value: object, most: int) -> None:
        self._name, self._value, self._most = name, value, most

    def __getattr__(self, name: str) -> _TemplateValue:
        return _TemplateValue(f"{self._name}.{name}", getattr(self._value, name), self._most)

    def __getitem__(self, key: Any) -> _TemplateValue:
        value: Any = self._value
        return _TemplateValue(f"{self._name}.{key}", value[key], self._most)

    def __str__(self) -> str:
        return _describe_argument(self._name, self._value, self._most)

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, form: str) -> str:
        told, value = str(self), self._value
        if form and told != REDACTED and isinstance(value, _FORMATTABLE_TYPES) and not isinstance(value, Enum):
            return format(value, form)
        return format(told, form)


def _describe_argument(name: str, value: object, most: int) -> str:
    if _SECRET_NAME.search(name):
        return REDACTED
    try:
        return _describe_value(value, most)
    except (_CannotDescribe, RecursionError) as error:
        if most < _NO_LIMIT:
            return f"a {type(value).__name__}"  # its repr may hold anything
        raise LocalProtocolError(
            f"What {name} holds cannot be read out ({error}), so nobody was asked and nothing "
            "ran. Give the tool an `action` that says it in words, such as "
            f'"Pay {{{name}.amount}}.", or pass text and numbers.'
        ) from error


def _describe_value(value: object, most: int) -> str:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, _PLAIN_TYPES):
        return clean_text(value, most)
    if isinstance(value, Mapping):
        return clean_text("; ".join(_describe_member(*pair, most) for pair in value.items()), most)
    if isinstance(value, (list, tuple, set, frozenset)):
        return clean_text(", ".join(_describe_value(one, most) for one in value), most)
    members = _record_members(value)
    if members is None:
        if most < _NO_LIMIT:
            return f"a {type(value).__name__}"  # its repr may hold anything
        raise _CannotDescribe(f"a {type(value).__name__}")
    return clean_text("; ".join(_describe_member(*pair, most) for pair in members.items()), most)


def _describe_member(name: object, value: object, most: int) -> str:
    said = _describe_value(name, most)
    return f"{said}: {REDACTED if _SECRET_NAME.search(said) else _describe_value(value, most)}"


def _record_members(value: object) -> dict[str, object] | None:
    """What a record holds, if its fields are all that it holds."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value)]
    elif isinstance(value, msgspec.Struct):
        names = [*value.__struct_fields__]
    else:
        return None
    if not getattr(value, "__dict__", {}).keys() <= {*names}:
        return None
    return {name: getattr(value, name) for name in names}


# -- whether it stays the same -------------------------------------------------------------------

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
    """All that the arguments hold, to be compared with the same later; what cannot be compared raises. CF-019"""
    memory = _SnapshotBuilder()
    found = []
    for name, value in arguments.items():
        try:
            found.append((name, memory.build(value)))
        except Exception as error:  # whatever an object says when it is asked what it holds
            raise LocalProtocolError(
                f"Whether {name} stays as it is while the user is asked cannot be told ({type(value).__name__}), so "
                "nobody was asked and nothing ran. Pass text, numbers or plain objects; what a tool only works with, "
                "such as a connection or an open file, is better not an argument."
            ) from error
    return tuple(found)


class _SnapshotBuilder:
    """What was seen of some values; each is looked into once, so that what holds itself has an end."""

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
            return kind, *((self.build(name), self.build(one)) for name, one in value.items())
        if kind in (set, frozenset):
            return kind, *sorted(map(repr, map(_SnapshotBuilder().build, value)))
        return kind, *self._build_parts(value)

    def _build_parts(self, value: Any) -> Snapshot:
        """What an object would be made from again, which Python knows of all but those that hang on something else."""
        known = copyreg.dispatch_table.get(type(value))
        made = value.__reduce_ex__(4) if known is None else known(value)
        if isinstance(made, str):  # there is one only
            return id(value), made
        function, given, *more = made
        inside, items, pairs = [*more, None, None, None][:3]
        return (
            self.build(function),
            self.build(given),
            self.build(inside),
            *map(self.build, items or ()),
            *((self.build(name), self.build(one)) for name, one in pairs or ()),
        )
