"""
The files of phrases in ``locales``, one for each language, as they are written in Fluent.

Most messages are a line of text with gaps. They are read here as templates, in a millisecond for a whole file;
what has to choose between forms is left to :mod:`aaep.text.choices`, which loads Fluent itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

__all__ = ["Example", "LocaleFile", "Message", "build_template", "list_references", "list_tags", "read_locale"]

_ENTRY: Final = re.compile(r"([a-zA-Z][\w-]*) *=")
_PLACEABLE: Final = re.compile(r"\{ *(\$?)([a-zA-Z][\w-]*) *\}")
_EXAMPLE: Final = re.compile(r"\$([a-z]\w*) \((text|number)\): (.+)")
_SUFFIX: Final = ".ftl"


class Example(NamedTuple):
    """A gap of a message: its name, whether a number fills it, and what may stand there."""

    name: str
    is_number: bool
    text: str


class Message(NamedTuple):
    """One message of a file: its name, its group, what the comment before it says, and the Fluent source of it."""

    name: str
    group: str
    when: str
    examples: tuple[Example, ...]
    source: str


class LocaleFile(NamedTuple):
    """The phrases of one language, and whether a speaker of it has read them: yes, no, or source for English."""

    tag: str
    checked: str
    messages: Mapping[str, Message]


@cache
def list_tags() -> tuple[str, ...]:
    """Return the tags of the languages that have a file."""
    names = (path.name for path in files(__package__).joinpath("locales").iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


@cache
def read_locale(tag: str) -> LocaleFile:
    """Read the file of a language."""
    return _parse(tag, files(__package__).joinpath("locales", f"{tag}{_SUFFIX}").read_text(encoding="utf-8"))


def _parse(tag: str, text: str) -> LocaleFile:
    messages: dict[str, Message] = {}
    header: dict[str, str] = {}
    comment: list[str] = []
    source: list[str] = []
    name = group = ""

    def finish_message() -> None:
        if name:
            when = next((line.removeprefix("When: ") for line in comment if line.startswith("When: ")), "")
            matches = [match for line in comment if (match := _EXAMPLE.fullmatch(line)) is not None]
            examples = tuple(Example(match[1], match[2] == "number", match[3]) for match in matches)
            messages[name] = Message(name, group, when.removesuffix("."), examples, "\n".join(source).rstrip())

    for line in text.splitlines():
        if line[:1] in ("", " ", "\t"):
            source.append(line)
            if not name:
                comment = []  # it stands alone
            continue
        if name:
            finish_message()
            name = ""
            comment = []
        if (entry := _ENTRY.match(line)) is not None:
            name = entry[1]
            source = [line]
        elif line.startswith("## "):
            group = line[3:].strip()
        elif line.startswith("# "):
            comment.append(line[2:].strip())
            key, _, value = line[2:].partition(": ")
            if not messages:
                header.setdefault(key, value.strip())
    finish_message()
    return LocaleFile(tag, header.get("checked-by-speaker", "no"), messages)


def list_references(source: str) -> list[str]:
    """Return the names of other messages that the source of a message includes."""
    return [match[2] for match in _PLACEABLE.finditer(source) if not match[1]]


def build_template(name: str, messages: Mapping[str, Message]) -> str | None:
    """Return a message as a template for ``format_map``; None for one that is more than a line of text with gaps."""
    if name not in messages:
        return None
    _, _, value = messages[name].source.partition("=")
    text = value.strip()
    if "\n" in text or not text:
        return None
    parts: list[str] = []
    end = 0
    for match in _PLACEABLE.finditer(text):
        inner = f"{{{match[2]}}}" if match[1] else build_template(match[2], messages)
        if inner is None:
            return None
        parts += [text[end : match.start()], inner]
        end = match.end()
        if "{" in parts[-2] or "}" in parts[-2]:
            return None
    rest = text[end:]
    return None if "{" in rest or "}" in rest else "".join([*parts, rest])
