"""The options of commands that speak, or show what is said on a braille display."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import click

from ..presentation.earcons import EARCONS
from ..settings.fields import FIELDS, Field
from ._command import IntegerRange

__all__ = ["OutputOptions", "braille_options", "speech_options"]

OutputOptions = Mapping[str, Any]  # values by the key of their setting, None where no option was given

_RATE: Final = FIELDS["speech.rate"]
_VOLUME: Final = FIELDS["speech.volume"]
_PUNCTUATION: Final = FIELDS["speech.punctuation"]


def speech_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of speech to a command, which gets ``speech``, for the settings, and ``sounds``."""

    @click.option(
        "--speak/--no-speak",
        default=None,
        help="Speak everything too, with Speech Dispatcher or your screen reader. Default: as in your settings.",
    )
    @click.option(
        "--speech-rate",
        type=IntegerRange(*_find_range(_RATE)),
        metavar="N",
        help=f"When speaking: words a minute. Default: {_RATE.default}.",
    )
    @click.option(
        "--punctuation",
        type=click.Choice(get_args(_PUNCTUATION.plain_kind)),
        help=f"When speaking: which signs are spoken by name. Default: {_PUNCTUATION.default}.",
    )
    @click.option("--voice", metavar="NAME", help="When speaking: a voice of Speech Dispatcher.")
    @click.option(
        "--volume",
        type=IntegerRange(*_find_range(_VOLUME)),
        metavar="N",
        help=f"When speaking: percent. Default: {_VOLUME.default}.",
    )
    @click.option(
        "--sound",
        "sounds",
        type=click.Choice([*EARCONS, "all"]),
        multiple=True,
        help="Play a short sound for this. May be repeated. Default: as in your settings.",
    )
    @functools.wraps(command)
    def wrapped(
        *args: Any,
        speak: bool | None,
        speech_rate: int | None,
        punctuation: str | None,
        voice: str | None,
        volume: int | None,
        sounds: tuple[str, ...],
        **options: Any,
    ) -> Any:
        speech: OutputOptions = {
            "speech.on": speak,
            "speech.rate": speech_rate,
            "speech.punctuation": punctuation,
            "speech.voice": voice,
            "speech.volume": volume,
        }
        wanted = EARCONS if "all" in sounds else tuple(earcon for earcon in EARCONS if earcon in sounds)
        return command(*args, speech=speech, sounds=wanted, **options)

    return wrapped


def braille_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of braille to a command, which gets ``braille``, for the settings."""

    @click.option(
        "--braille/--no-braille",
        "wants_braille",
        default=None,
        help="Show everything on a braille display too. Default: as in your settings.",
    )
    @click.option("--braille-table", metavar="NAME", help="With braille: a table of liblouis for all text.")
    @click.option(
        "--contracted/--uncontracted",
        default=None,
        help="With braille: whether words are contracted. Default: contracted, where that is usual.",
    )
    @functools.wraps(command)
    def wrapped(
        *args: Any, wants_braille: bool | None, braille_table: str | None, contracted: bool | None, **options: Any
    ) -> Any:
        braille: OutputOptions = {
            "braille.on": wants_braille,
            "braille.table": braille_table,
            "braille.contracted": contracted,
        }
        return command(*args, braille=braille, **options)

    return wrapped


def _find_range(field: Field) -> tuple[int, int]:
    """Return the lowest and the highest value of a setting that is a whole number."""
    return int(field.bounds.ge or 0), int(field.bounds.le or 0)
