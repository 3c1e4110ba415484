"""
Which value of a setting counts: an option before the environment, the environment before the file.

Nothing that is wrong stops a reader. A value that cannot be used is told, and the next source counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from ..text.phrases import ENGLISH
from ..text.sanitize import sanitize, truncate
from .fields import (
    FIELDS,
    RESERVED_SECTIONS,
    Settings,
    UnknownSetting,
    build_settings,
    describe_expected,
    find_field,
    parse_value,
)
from .file import load_settings_file
from .toml_text import parse_entries

__all__ = ["Resolved", "Source", "load_settings", "resolve_settings"]

MAX_PROBLEMS: Final = 5  # that are told one by one
_MAX_QUOTED_LENGTH: Final = 60  # characters of a line that cannot be read

SourceKind = Literal["default", "file", "environment", "option"]


class Source(msgspec.Struct, frozen=True):
    """Where a value comes from; ``name`` is the variable of the environment, ``line`` that of the file."""

    kind: SourceKind
    name: str = ""
    line: int = 0


class Resolved(msgspec.Struct, frozen=True):
    """The settings that count, where each of them comes from, and in sentences what does not count."""

    settings: Settings
    values: Mapping[str, Any]  # of all settings, by key
    sources: Mapping[str, Source]
    problems: tuple[str, ...] = ()


def load_settings(options: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Resolved:
    """Return the settings that count: these options, by key, before the environment and the file of this user."""
    environment = os.environ if environment is None else environment
    found = load_settings_file(environment)
    resolved = resolve_settings(found.text, environment, options or {})
    if not found.problem:
        return resolved
    return msgspec.structs.replace(resolved, problems=(found.problem, *resolved.problems))


def resolve_settings(text: str, environment: Mapping[str, str], options: Mapping[str, Any]) -> Resolved:
    """Return the settings that count: these options before this environment, and that before a file of this text."""
    values = {field.key: field.default for field in FIELDS.values()}
    sources = dict.fromkeys(FIELDS, Source("default"))
    if environment.get("ACCESSIBLE", "") not in ("", "0"):  # for all programs: whole lines in place of single keys
        values["keys"] = "enter"
        sources["keys"] = Source("environment", "ACCESSIBLE")
    problems = _apply_file(text, values, sources)
    problems += _apply_environment(environment, values, sources)
    for key, value in options.items():
        values[find_field(key).key] = value
        sources[find_field(key).key] = Source("option")
    return Resolved(build_settings(values), values, sources, tuple(problems))


def _apply_file(text: str, values: dict[str, Any], sources: dict[str, Source]) -> list[str]:
    entries, broken = parse_entries(text)
    problems: list[tuple[int, str]] = []
    for line in broken:
        quoted = _quote(line.text)
        if line.is_repeated:
            problems.append((line.line, ENGLISH.format("settings-repeated", line=line.line, setting=quoted)))
        else:
            problems.append((line.line, ENGLISH.format("settings-line", line=line.line, text=quoted)))
    for entry in entries:
        if entry.key.split(".")[0] in RESERVED_SECTIONS:
            continue
        try:
            field = find_field(entry.key)
            values[field.key] = parse_value(field, entry.value)
        except UnknownSetting as error:
            sentence = ENGLISH.format("settings-unknown", line=entry.first_line, setting=_quote(entry.key))
            if error.similar:
                sentence += f" {ENGLISH.format('settings-similar', setting=error.similar[0])}"
            problems.append((entry.first_line, sentence))
        except ValueError:
            expected = describe_expected(field)
            sentence = ENGLISH.format("settings-value", line=entry.first_line, setting=field.key, expected=expected)
            problems.append((entry.first_line, sentence))
        else:
            sources[field.key] = Source("file", line=entry.first_line)
    told = [sentence for _, sentence in sorted(problems)]
    if len(told) > MAX_PROBLEMS:
        told[MAX_PROBLEMS:] = [ENGLISH.format("settings-more", count=len(told) - MAX_PROBLEMS)]
    return told


def _apply_environment(environment: Mapping[str, str], values: dict[str, Any], sources: dict[str, Source]) -> list[str]:
    problems: list[str] = []
    for field in FIELDS.values():
        given = environment.get(field.environment_name, "")
        if not given:  # an empty variable counts as none
            continue
        try:
            values[field.key] = parse_value(field, given, is_text=True)
        except ValueError:
            expected = describe_expected(field)
            problems.append(ENGLISH.format("settings-variable", variable=field.environment_name, expected=expected))
        else:
            sources[field.key] = Source("environment", field.environment_name)
    return problems


def _quote(text: str) -> str:
    return truncate(sanitize(text), _MAX_QUOTED_LENGTH)
