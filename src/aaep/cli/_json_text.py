"""Changes in the text of a JSON file that leave everything else in it as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # typeshed does not know it
from typing import Any, Final, NamedTuple

__all__ = ["JsonText"]

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
_DEFAULT_INDENT: Final = "  "

Path = Sequence[str | int]


class _Item(NamedTuple):
    """A member of an object or an element of an array."""

    key: str | int
    start: int  # of the key, or of the element
    value_start: int
    end: int


class JsonText:
    """The text of a JSON object, changed in place. Raises :exc:`ValueError` if it is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._has_mark = text.startswith("\ufeff")
        if self._has_mark:
            self.text = text[1:]
        if not isinstance(json.loads(self.text), dict):
            raise ValueError("There is no JSON object in it.")

    def __str__(self) -> str:
        return f"\ufeff{self.text}" if self._has_mark else self.text

    @property
    def value(self) -> dict[str, Any]:
        """What the text means."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    def add(self, path: Path, value: Any, key: str | None = None) -> None:
        """Add a value at the end of the array or, with a ``key``, of the object at a path."""
        start, end = self._find(path)
        items = self._list_items(start)
        written = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        if items:
            lead = self._find_lead(items[-1].start)
            addition = f",{lead}{written}{self._format(value, lead)}"
            self._replace(items[-1].end, items[-1].end, addition)
            return
        outer = self._find_line_indent(start)
        lead = f"\n{outer}{self._find_unit()}"
        opening, closing = self.text[start], self.text[end - 1]
        self._replace(start, end, f"{opening}{lead}{written}{self._format(value, lead)}\n{outer}{closing}")

    def remove(self, path: Path) -> None:
        """Remove the member or the element at a path."""
        start, end = self._find(path[:-1])
        items = self._list_items(start)
        position = max(number for number, item in enumerate(items) if item.key == path[-1])
        if len(items) == 1:
            self._replace(start, end, self.text[start] + self.text[end - 1])
        elif position == 0:
            self._replace(items[0].start, items[1].start, "")
        else:
            self._replace(items[position - 1].end, items[position].end, "")

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    # -- where things are --------------------------------------------------------------------------

    def _find(self, path: Path) -> tuple[int, int]:
        """Return where the value at a path begins and ends."""
        start = self._skip_space(0)
        for key in path:
            found = [item for item in self._list_items(start) if item.key == key]
            if not found:
                raise KeyError(key)
            start = found[-1].value_start  # of several members of one name the last counts
        return start, _DECODER.raw_decode(self.text, start)[1]

    def _list_items(self, start: int) -> list[_Item]:
        """Return the members or elements of the value that begins at a place."""
        items: list[_Item] = []
        position = self._skip_space(start + 1)
        is_object = self.text[start] == "{"
        while self.text[position] not in "}]":
            key: str | int = len(items)
            value_start = position
            if is_object:
                key, after_key = scanstring(self.text, position + 1)
                value_start = self._skip_space(self._skip_space(after_key) + 1)  # behind the colon
            end = _DECODER.raw_decode(self.text, value_start)[1]
            items.append(_Item(key, position, value_start, end))
            position = self._skip_space(end)
            if self.text[position] == ",":
                position = self._skip_space(position + 1)
        return items

    def _skip_space(self, position: int) -> int:
        found = _SPACE.match(self.text, position)
        if found is None:
            raise JSONDecodeError("Expecting value", self.text, position)
        return found.end()

    # -- how it is written -------------------------------------------------------------------------

    def _find_lead(self, position: int) -> str:
        """Return the white space in front of a place."""
        return self.text[len(self.text[:position].rstrip(" \t\n\r")) : position]

    def _find_line_indent(self, position: int) -> str:
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _find_unit(self) -> str:
        """Return what one level is indented by."""
        items = self._list_items(self._skip_space(0))
        lead = self._find_lead(items[0].start) if items else ""
        return lead.rpartition("\n")[2] or _DEFAULT_INDENT

    def _format(self, value: Any, lead: str) -> str:
        """Return a value as JSON, in lines that begin like those around it."""
        if "\n" not in lead:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._find_unit()).split("\n")
        return f"\n{lead.rpartition(chr(10))[2]}".join(lines)
