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
from ..text.summaries import plain

__all__ = ["State", "arguments", "filled", "state", "whole"]

_SECRET_NAME: Final = re.compile(
    r"(?i)pass(word|wd|phrase)|secret|token|api_?key|credential|authori[sz]ation|\bpin\b|cvv"
)
_SHORT: Final = 300  # characters of one value in an announcement
_ENDLESS: Final = 10**9
# Their text is all there is to them. Number is slow to ask, so it comes after what tools are given most.
_WORDS: Final = (str, int, float, type(None), date, time, timedelta, PurePath, UUID, Number)
_FORMED: Final = (int, float, date, time, Number)  # for which authors write {amount:.2f} and {day:%d %B}


class _Untold(Exception):
    """There are no words for what this holds."""


def arguments(given: Mapping[str, Any], most: int = 2000) -> str:
    """A call's arguments as a listener can take them in, without secrets. TOOL-005 §4.3.1"""
    return plain("; ".join(f"{name}: {_told(name, one, _SHORT)}" for name, one in given.items()), most)


def whole(given: Mapping[str, Any]) -> str:
    """All of the arguments, for who is asked; what cannot be told raises. CF-019"""
    return "; ".join(f"{name}: {_told(name, one, _ENDLESS)}" for name, one in given.items())


def filled(template: str, given: Mapping[str, Any], *, complete: bool) -> str:
    """An author's text with the arguments that it names, all of each if ``complete``."""
    most = _ENDLESS if complete else _SHORT
    return template.format_map({name: _Named(name, value, most) for name, value in given.items()})


class _Named:
    """An argument that an author's text names, or something of it: ``{order.amount}``."""

    def __init__(self, name: str, value: object, most: int) -> None:
        self._name, self._value, self._most = name, value, most

    def __getattr__(self, name: str) -> _Named:
        return _Named(f"{self._name}.{name}", getattr(self._value, name), self._most)

    def __getitem__(self, key: Any) -> _Named:
        value: Any = self._value
        return _Named(f"{self._name}.{key}", value[key], self._most)

    def __str__(self) -> str:
        return _told(self._name, self._value, self._most)

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, form: str) -> str:
        told, value = str(self), self._value
        if form and told != REDACTED and isinstance(value, _FORMED) and not isinstance(value, Enum):
            return format(value, form)
        return format(told, form)


def _told(name: str, value: object, most: int) -> str:
    if _SECRET_NAME.search(name):
        return REDACTED
    try:
        return _shown(value, most)
    except (_Untold, RecursionError) as error:
        if most < _ENDLESS:
            return f"a {type(value).__name__}"  # its repr may hold anything
        raise LocalProtocolError(
            f"What {name} holds cannot be read out ({error}), so nobody was asked and nothing "
            "ran. Give the tool an `action` that says it in words, such as "
            f'"Pay {{{name}.amount}}.", or pass text and numbers.'
        ) from error


def _shown(value: object, most: int) -> str:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, _WORDS):
        return plain(value, most)
    if isinstance(value, Mapping):
        return plain("; ".join(_member(*pair, most) for pair in value.items()), most)
    if isinstance(value, (list, tuple, set, frozenset)):
        return plain(", ".join(_shown(one, most) for one in value), most)
    members = _members(value)
    if members is None:
        if most < _ENDLESS:
            return f"a {type(value).__name__}"  # its repr may hold anything
        raise _Untold(f"a {type(value).__name__}")
    return plain("; ".join(_member(*pair, most) for pair in members.items()), most)


def _member(name: object, value: object, most: int) -> str:
    said = _shown(name, most)
    return f"{said}: {REDACTED if _SECRET_NAME.search(said) else _shown(value, most)}"


def _members(value: object) -> dict[str, object] | None:
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

State = tuple[object, ...]
_CODE: Final = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)  # not data: the same or another
_ATOMS: Final = (str, bool, int, float, complex, bytes, bytearray, range, type(None), type(...), type(NotImplemented))


def state(given: Mapping[str, Any]) -> State:
    """All that the arguments hold, to be compared with the same later; what cannot be compared raises. CF-019"""
    memory = _Memory()
    found = []
    for name, value in given.items():
        try:
            found.append((name, memory.state(value)))
        except Exception as error:  # whatever an object says when it is asked what it holds
            raise LocalProtocolError(
                f"Whether {name} stays as it is while the user is asked cannot be told ({type(value).__name__}), so "
                "nobody was asked and nothing ran. Pass text, numbers or plain objects; what a tool only works with, "
                "such as a connection or an open file, is better not an argument."
            ) from error
    return tuple(found)


class _Memory:
    """What was seen of some values; each is looked into once, so that what holds itself has an end."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []  # or another object could get the same id

    def state(self, value: Any) -> State:
        kind = type(value)
        if kind in _ATOMS:
            return kind, repr(value)
        if isinstance(value, _CODE):
            return kind, id(value)
        number = self._seen.get(id(value))
        if number is not None:
            return kind, number
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        if kind in (list, tuple):
            return kind, *map(self.state, value)
        if kind is dict:
            return kind, *((self.state(name), self.state(one)) for name, one in value.items())
        if kind in (set, frozenset):
            return kind, *sorted(map(repr, map(_Memory().state, value)))
        return kind, *self._parts(value)

    def _parts(self, value: Any) -> State:
        """What an object would be made from again, which Python knows of all but those that hang on something else."""
        known = copyreg.dispatch_table.get(type(value))
        made = value.__reduce_ex__(4) if known is None else known(value)
        if isinstance(made, str):  # there is one only
            return id(value), made
        function, given, *more = made
        inside, items, pairs = [*more, None, None, None][:3]
        return (
            self.state(function),
            self.state(given),
            self.state(inside),
            *map(self.state, items or ()),
            *((self.state(name), self.state(one)) for name, one in pairs or ()),
        )
