"""
Reading and changing the text of a settings file, statement by statement.

A parser of whole files has nothing to give once one line is wrong, and a person whose reader speaks with the wrong
voice at the wrong pace may not be able to mend it. Here each statement is parsed for itself, by the standard
library, so that whatever is right counts. A change touches only its own statement: comments and order stay.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ..errors import AaepError
from .fields import format_value

__all__ = ["BrokenLine", "Entry", "parse_entries", "remove_entry", "set_entry"]


class Entry(msgspec.Struct, frozen=True):
    """A value in the file, with the lines of its statement, counted from 1."""

    key: str
    value: Any
    first_line: int
    last_line: int
    is_alone: bool  # its statement has no other value


class BrokenLine(msgspec.Struct, frozen=True):
    """A line that is no TOML, or that gives a value a second time."""

    line: int
    text: str
    is_repeated: bool = False


class _Statement(msgspec.Struct, frozen=True):
    table: tuple[str, ...]
    values: dict[str, Any]
    first: int  # the index of its first line ...
    end: int  # ... and of the line after it
    is_header: bool = False
    is_array: bool = False  # the header of one table in an array of them


def parse_entries(text: str) -> tuple[list[Entry], list[BrokenLine]]:
    """Return what a file says, and what of it cannot be read. Tables in arrays are left out."""
    entries: dict[str, Entry] = {}
    broken: list[BrokenLine] = []
    in_array = False
    for statement in _parse_statements(_split(text), broken):
        if statement.is_header:
            in_array = statement.is_array
            continue
        if in_array:
            continue
        leaves = [*_flatten(statement.values, statement.table)]
        for key, value in leaves:
            if key in entries:
                broken.append(BrokenLine(statement.first + 1, key, is_repeated=True))
            else:
                entries[key] = Entry(key, value, statement.first + 1, statement.end, len(leaves) == 1)
    return [*entries.values()], broken


def set_entry(text: str, key: str, value: Any) -> str:
    """Return the text with one value set; everything else stays as it is."""
    *table, name = key.split(".")
    lines = _split(text)
    statement = _find_statement(lines, key)
    if statement is None:
        changed = _insert(lines, tuple(table), name, value)
        if _is_valid(text) and not _is_valid(changed):  # the table was written with dots, and cannot have a header
            changed = _insert(lines, (), key, value)
    else:
        values = _replace_leaf(statement.values, key.split(".")[len(statement.table) :], value)
        changed = _write_statement(lines, statement, values)
    return _check_change(text, changed, key, value)


def remove_entry(text: str, key: str) -> str:
    """Return the text without one value."""
    lines = _split(text)
    statement = _find_statement(lines, key)
    if statement is None:
        return text
    values = _remove_leaf(statement.values, key.split(".")[len(statement.table) :])
    if values:
        return _check_change(text, _write_statement(lines, statement, values), key, None)
    return _check_change(text, _join([*lines[: statement.first], *lines[statement.end :]]), key, None)


# -- statements ----------------------------------------------------------------------------


def _parse_statements(lines: list[str], broken: list[BrokenLine]) -> Iterator[_Statement]:
    table: tuple[str, ...] | None = ()  # None after a header that cannot be read: what follows belongs nowhere
    index = 0
    while index < len(lines):
        stripped = lines[index].strip()
        if not stripped or stripped.startswith("#"):
            index += 1
            continue
        end, values = _parse_one(lines, index)
        if values is None:
            broken.append(BrokenLine(index + 1, stripped))
            if stripped.startswith("["):
                table = None
        elif stripped.startswith("["):
            table = tuple(_header_path(values))
            yield _Statement(table, {}, index, end, is_header=True, is_array=stripped.startswith("[["))
        elif table is None:
            broken.append(BrokenLine(index + 1, stripped))
        else:
            yield _Statement(table, values, index, end)
        index = end


def _parse_one(lines: list[str], first: int) -> tuple[int, dict[str, Any] | None]:
    """Return where the statement that begins at a line ends, and what it says; None if it cannot be read."""
    for end in range(first + 1, len(lines) + 1):
        try:
            return end, tomllib.loads("\n".join(lines[first:end]))
        except tomllib.TOMLDecodeError as error:
            if not str(error).endswith("(at end of document)"):  # otherwise the rest may be on the next line
                break
    return first + 1, None


def _header_path(values: Mapping[str, Any]) -> Iterator[str]:
    inner: Any = values
    while inner:
        ((name, inner),) = inner.items()
        yield name
        inner = inner[0] if isinstance(inner, list) else inner


def _flatten(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, (*path, name))
        else:
            yield ".".join((*path, name)), value


def _find_statement(lines: list[str], key: str) -> _Statement | None:
    in_array = False
    for statement in _parse_statements(lines, []):
        in_array = statement.is_array if statement.is_header else in_array
        if not in_array and any(found == key for found, _ in _flatten(statement.values, statement.table)):
            return statement
    return None


# -- changes -------------------------------------------------------------------------------


def _write_statement(lines: list[str], statement: _Statement, values: dict[str, Any]) -> str:
    """Return the text with other values in a statement, and the comment at its end kept."""
    ((name, value),) = values.items()
    while isinstance(value, dict) and len(value) == 1:  # written with dots
        ((inner, value),) = value.items()
        name = f"{name}.{inner}"
    first = lines[statement.first]
    indent = first[: len(first) - len(first.lstrip())]
    comment = _find_comment(first, statement.values) if statement.end == statement.first + 1 else ""
    written = f"{indent}{name} = {format_value(value)}{comment}"
    return _join([*lines[: statement.first], written, *lines[statement.end :]])


def _find_comment(line: str, values: dict[str, Any]) -> str:
    """Return the comment at the end of a line, with the spaces before it."""
    for position, char in enumerate(line):
        if char == "#":
            try:
                is_comment = tomllib.loads(line[:position]) == values
            except tomllib.TOMLDecodeError:  # within a text
                continue
            if is_comment:
                return line[len(line[:position].rstrip()) :]
    return ""


def _insert(lines: list[str], table: tuple[str, ...], name: str, value: Any) -> str:
    """Return the text with a new statement, at the end of its table."""
    written = f"{name} = {format_value(value)}"
    end = 0 if not table else None
    is_here = not table
    for statement in _parse_statements(lines, []):
        if statement.is_header:
            is_here = statement.table == table and not statement.is_array
        if is_here:
            end = statement.end
    if end is None:
        gap = [""] if lines and lines[-1].strip() else []
        return _join([*lines, *gap, f"[{'.'.join(table)}]", written])
    if end == 0:  # after the comment that the file begins with
        while end < len(lines) and lines[end].startswith("#"):
            end += 1
        if end < len(lines) and not lines[end].strip():
            end += 1
        gap = [""] if end < len(lines) and lines[end].strip() else []
        return _join([*lines[:end], written, *gap, *lines[end:]])
    return _join([*lines[:end], written, *lines[end:]])


def _replace_leaf(values: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    name, *rest = path
    return {**values, name: _replace_leaf(values[name], rest, value) if rest else value}


def _remove_leaf(values: dict[str, Any], path: list[str]) -> dict[str, Any]:
    name, *rest = path
    inner = _remove_leaf(values[name], rest) if rest else None
    others = {key: value for key, value in values.items() if key != name}
    return {**others, name: inner} if inner else others


def _split(text: str) -> list[str]:
    """Return the lines as TOML counts them: other line ends than these may stand within a text."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _join(lines: list[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _is_valid(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _check_change(before: str, changed: str, key: str, value: Any) -> str:
    """Return the changed text if the change is in it and nothing else was changed."""
    old = {entry.key: entry.value for entry in parse_entries(before)[0] if entry.key != key}
    new = {entry.key: entry.value for entry in parse_entries(changed)[0]}
    is_right = new.pop(key, None) == (None if value is None else tomllib.loads(f"x = {format_value(value)}")["x"])
    if not is_right or old != new or (_is_valid(before) and not _is_valid(changed)):
        raise AaepError(f"{key} cannot be changed here without changing other lines. Change the file by hand.")
    return changed
