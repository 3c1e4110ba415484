"""
The settings there are: their names, types, defaults and what each of them is for.

Everything else about settings is derived from the one Struct here: the keys of the file, the variables of the
environment, what ``aaep settings`` lists, and ``docs/settings.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from ..errors import AaepError
from ..protocol.fields import Verbosity
from ..text.languages import is_well_formed_tag
from ..text.phrases import ENGLISH, Phrases

__all__ = [
    "FIELDS",
    "RESERVED_SECTIONS",
    "BrailleSettings",
    "Field",
    "KindSettings",
    "LimitSettings",
    "Settings",
    "SoundSettings",
    "SpeechSettings",
    "TimeSettings",
    "UnknownSetting",
    "build_settings",
    "describe_expected",
    "find_field",
    "format_value",
    "parse_value",
]

RESERVED_SECTIONS: Final = ("allow",)  # what coding agents may do without a question; read by others
_TRUE_WORDS: Final = frozenset(("1", "true", "yes", "on"))
_FALSE_WORDS: Final = frozenset(("0", "false", "no", "off"))


class _Section(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A part of the settings."""


class KindSettings(_Section, frozen=True, kw_only=True):
    """How announcements of one kind are given."""

    sound: Annotated[bool, Meta(description="a short sound, or the bell of the terminal, comes with it")] = False
    speech: Annotated[bool, Meta(description="it is spoken, where speech is on")] = True
    braille: Annotated[bool, Meta(description="it is shown in braille, where braille is on")] = True


class SoundSettings(_Section, frozen=True, kw_only=True):
    """How announcements are given, by their kind. All of them are printed and can be heard again."""

    sent: KindSettings = KindSettings()
    working: KindSettings = KindSettings()
    done: KindSettings = KindSettings()
    needs_you: KindSettings = KindSettings()
    error: KindSettings = KindSettings()


class SpeechSettings(_Section, frozen=True, kw_only=True):
    """Speech."""

    on: Annotated[bool, Meta(description="announcements are spoken")] = False
    rate: Annotated[int, Meta(ge=60, le=900, description="the pace of the speech, in words a minute")] = 180
    voice: Annotated[str, Meta(description="the name of a voice; empty for the one that suits the language")] = ""
    volume: Annotated[int, Meta(ge=0, le=100, description="the volume, in percent")] = 100
    punctuation: Annotated[
        Literal["none", "some", "most", "all"], Meta(description="how much punctuation is spoken as words")
    ] = "some"


class BrailleSettings(_Section, frozen=True, kw_only=True):
    """Braille."""

    on: Annotated[bool, Meta(description="announcements are shown on the braille display")] = False
    table: Annotated[str, Meta(description="the name of a table; empty for the one that suits the language")] = ""
    contracted: Annotated[bool, Meta(description="contracted braille, where the language has it")] = True


class TimeSettings(_Section, frozen=True, kw_only=True):
    """The time to answer."""

    minimum: Annotated[
        int, Meta(ge=0, le=86_400, description="seconds that agents are asked to wait at least; 0 leaves it to them")
    ] = 0
    extension: Annotated[
        float, Meta(ge=1.5, le=10, description="how many times as long is asked for with the key t")
    ] = 2.0


class LimitSettings(_Section, frozen=True, kw_only=True):
    """Limits on how much comes."""

    events: Annotated[
        int, Meta(ge=0, le=100_000, description="messages a second that an agent may send; 0 for no limit")
    ] = 0
    interruptions: Annotated[
        int, Meta(ge=0, le=1000, description="times a minute that what calls itself critical may interrupt")
    ] = 5
    progress_seconds: Annotated[
        float, Meta(ge=0, le=3600, description="seconds between two announcements of progress")
    ] = 5.0
    progress_percent: Annotated[
        float, Meta(ge=0, le=100, description="percent between two announcements of progress")
    ] = 10.0
    say_less: Annotated[bool, Meta(description="less is said while speech has fallen behind")] = False


class Settings(_Section, frozen=True, kw_only=True):
    """How a person listens to agents and answers them."""

    verbosity: Annotated[Verbosity, Meta(description="how much is said")] = "normal"
    languages: Annotated[
        tuple[str, ...], Meta(description="the languages you want, such as en-GB, the best first; none for any")
    ] = ()
    agents: Annotated[
        tuple[str, ...], Meta(description="addresses to listen to where the command names none; none to look for them")
    ] = ()
    keys: Annotated[
        Literal["single", "enter"],
        Meta(description="whether a single key counts at once, or each is committed with Enter"),
    ] = "single"
    replies: Annotated[bool, Meta(description="questions can be answered here")] = True
    name: Annotated[str, Meta(max_length=100, description="what this reader is called at the other end")] = (
        "AAEP for Python"
    )
    states: Annotated[bool, Meta(description="also say when an agent changes what it is doing")] = False
    signs: Annotated[bool, Meta(description="read the signs of markdown as signs")] = False
    do_not_disturb: Annotated[bool, Meta(description="say only questions and what is critical at first")] = False
    sounds: SoundSettings = SoundSettings()
    speech: SpeechSettings = SpeechSettings()
    braille: BrailleSettings = BrailleSettings()
    time: TimeSettings = TimeSettings()
    limits: LimitSettings = LimitSettings()


class Field(msgspec.Struct, frozen=True):
    """One setting: its key, such as ``speech.rate``, and what is known of it."""

    key: str
    kind: Any  # its type, with bounds
    default: Any
    description: str

    @property
    def environment_name(self) -> str:
        """The name of the environment variable that sets it."""
        return "AAEP_" + self.key.upper().replace(".", "_").replace("-", "_")

    @property
    def plain_kind(self) -> Any:
        """Its type, without bounds."""
        return get_args(self.kind)[0]

    @property
    def bounds(self) -> Meta:
        """What its value is bound to."""
        return next(each for each in get_args(self.kind) if isinstance(each, Meta))


def _list_fields(section: type[msgspec.Struct], path: tuple[str, ...] = ()) -> Iterator[Field]:
    for field in msgspec.structs.fields(section):
        here = (*path, field.encode_name)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _list_fields(field.type, here)
        else:
            described = next(each for each in get_args(field.type) if isinstance(each, Meta))
            yield Field(".".join(here), field.type, field.default, described.description or "")


FIELDS: Final[Mapping[str, Field]] = {field.key: field for field in _list_fields(Settings)}


class UnknownSetting(AaepError):
    """There is no setting of this name. The message lists those that there are."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.similar = tuple(get_close_matches(key, FIELDS, n=3, cutoff=0.6))
        advice = f"Did you mean {' or '.join(self.similar)}?" if self.similar else ""
        super().__init__(" ".join(f"There is no setting {key!r}. {advice} There are: {', '.join(FIELDS)}.".split()))


def find_field(key: str) -> Field:
    """Return the setting of a name, written with hyphens or underscores."""
    try:
        return FIELDS[key.strip().lower().replace("_", "-")]
    except KeyError:
        raise UnknownSetting(key) from None


def parse_value(field: Field, given: Any, *, is_text: bool = False) -> Any:
    """
    Return a value as the setting has it; raises :exc:`ValueError` for one that it cannot have.

    With ``is_text``, ``given`` was typed or comes from the environment: lists are separated by commas.
    """
    value = _parse_text(field, given) if is_text else given
    if isinstance(value, bool) and field.plain_kind is not bool:
        raise ValueError(given)  # which would be taken for the number 1
    converted = msgspec.convert(value, field.kind)  # its error is a ValueError
    if field.key == "languages" and not all(map(is_well_formed_tag, converted)):
        raise ValueError(given)
    return converted


def _parse_text(field: Field, text: str) -> Any:
    if get_origin(field.plain_kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    word = text.strip().lower()
    if field.plain_kind is bool:
        if word not in _TRUE_WORDS | _FALSE_WORDS:
            raise ValueError(text)
        return word in _TRUE_WORDS
    if field.plain_kind in (int, float):
        return field.plain_kind(word)
    return text if field.plain_kind is str else word


def describe_expected(field: Field, phrases: Phrases = ENGLISH) -> str:
    """Return in words what values a setting can have."""
    kind = field.plain_kind
    if kind is bool or get_origin(kind) is Literal:
        *others, last = ("true", "false") if kind is bool else get_args(kind)
        return phrases.format("expected-word", words=phrases.join(others), last=last)
    if kind in (int, float):
        name = "expected-whole_number" if kind is int else "expected-number"
        return phrases.format(name, lowest=field.bounds.ge, highest=field.bounds.le)
    if field.key == "languages":
        return phrases["expected-languages"]
    return phrases["expected-texts" if get_origin(kind) is tuple else "expected-text"]


def format_value(value: Any) -> str:
    """Return a value as it stands in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return _format_text(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {format_value(each)}" for key, each in value.items()) + " }"
    return "[" + ", ".join(format_value(each) for each in value) + "]"


def _format_text(text: str) -> str:
    """Return a TOML basic string; JSON escapes are the same, and TOML has one more character that needs one."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def build_settings(values: Mapping[str, Any]) -> Settings:
    """Return the settings with these values, by key, and defaults for the others."""
    built: Settings = _build_section(Settings, values, "")
    return built


def _build_section(section: type[Any], values: Mapping[str, Any], prefix: str) -> Any:
    members: dict[str, Any] = {}
    for field in msgspec.structs.fields(section):
        key = prefix + field.encode_name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            members[field.name] = _build_section(field.type, values, f"{key}.")
        elif key in values:
            members[field.name] = values[key]
    return section(**members)
