"""
Which value of a setting counts: an option before the environment, the environment before the file.

Nothing that is wrong stops a reader. A value that cannot be used is told, and the next source counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Literal

import msgspec

from ..text.languages import list_system_languages
from ..text.phrases import Phrases, get_phrases
from ..text.sanitize import sanitize, truncate
from .fields import (
    FIELDS,
    RESERVED_SECTIONS,
    Field,
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

_Problem = Callable[[Phrases], str]  # told when the language of the person is known
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
    problems: tuple[str, ...] = ()  # in the language of the person
    languages: tuple[str, ...] = ()  # those of the settings, else those that the system is set to

    @property
    def phrases(self) -> Phrases:
        """What the reader itself says, in the language of the person."""
        return get_phrases(self.languages)


def load_settings(options: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Resolved:
    """Return the settings that count: these options, by key, before the environment and the file of this user."""
    environment = os.environ if environment is None else environment
    without_file = resolve_settings("", environment, options or {})
    found = load_settings_file(environment, without_file.phrases)
    if found.problem:
        return msgspec.structs.replace(without_file, problems=(found.problem, *without_file.problems))
    return resolve_settings(found.text, environment, options or {})


def resolve_settings(text: str, environment: Mapping[str, str], options: Mapping[str, Any]) -> Resolved:
    """Return the settings that count: these options before this environment, and that before a file of this text."""
    values = {field.key: field.default for field in FIELDS.values()}
    sources = dict.fromkeys(FIELDS, Source("default"))
    if environment.get("ACCESSIBLE", "") not in ("", "0"):  # for all programs: whole lines in place of single keys
        values["keys"] = "enter"
        sources["keys"] = Source("environment", "ACCESSIBLE")
    problems = _apply_file(text, values, sources)
    more_problems = _apply_environment(environment, values, sources)
    for key, value in options.items():
        values[find_field(key).key] = value
        sources[find_field(key).key] = Source("option")
    settings = build_settings(values)
    languages = settings.languages or list_system_languages(environment)
    phrases = get_phrases(languages)
    told = [describe(phrases) for describe in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        told.append(phrases.format("settings-more", count=len(problems) - MAX_PROBLEMS))
    told += [describe(phrases) for describe in more_problems]
    return Resolved(settings, values, sources, tuple(told), languages)


def _apply_file(text: str, values: dict[str, Any], sources: dict[str, Source]) -> list[_Problem]:
    entries, broken = parse_entries(text)
    problems: list[tuple[int, _Problem]] = []
    for line in broken:
        quoted = _quote(line.text)
        if line.is_repeated:
            problems.append((line.line, partial(_tell, "settings-repeated", line=line.line, setting=quoted)))
        else:
            problems.append((line.line, partial(_tell, "settings-line", line=line.line, text=quoted)))
    for entry in entries:
        if entry.key.split(".")[0] in RESERVED_SECTIONS:
            continue
        try:
            field = find_field(entry.key)
            values[field.key] = parse_value(field, entry.value)
        except UnknownSetting as error:
            similar = next(iter(error.similar), "")
            problems.append((entry.first_line, partial(_tell_unknown, entry.first_line, _quote(entry.key), similar)))
        except ValueError:
            problems.append((entry.first_line, partial(_tell_expected, field, "settings-value", line=entry.first_line)))
        else:
            sources[field.key] = Source("file", line=entry.first_line)
    return [problem for _, problem in sorted(problems, key=lambda found: found[0])]


def _apply_environment(
    environment: Mapping[str, str], values: dict[str, Any], sources: dict[str, Source]
) -> list[_Problem]:
    problems: list[_Problem] = []
    for field in FIELDS.values():
        given = environment.get(field.environment_name, "")
        if not given:  # an empty variable counts as none
            continue
        try:
            values[field.key] = parse_value(field, given, is_text=True)
        except ValueError:
            problems.append(partial(_tell_expected, field, "settings-variable"))
        else:
            sources[field.key] = Source("environment", field.environment_name)
    return problems


def _tell(name: str, phrases: Phrases, **values: Any) -> str:
    return phrases.format(name, **values)


def _tell_unknown(line: int, key: str, similar: str, phrases: Phrases) -> str:
    sentence = phrases.format("settings-unknown", line=line, setting=key)
    return f"{sentence} {phrases.format('settings-similar', setting=similar)}" if similar else sentence


def _tell_expected(field: Field, name: str, phrases: Phrases, **values: Any) -> str:
    which = {"variable": field.environment_name} if name == "settings-variable" else {"setting": field.key}
    return phrases.format(name, expected=describe_expected(field, phrases), **which, **values)


def _quote(text: str) -> str:
    return truncate(sanitize(text), _MAX_QUOTED_LENGTH)
