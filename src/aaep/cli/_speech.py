"""The options of commands that speak."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import click

from ..presentation.earcons import EARCONS
from ..settings.fields import FIELDS, Field
from ._command import IntegerRange

__all__ = ["SpeechOptions", "speech_options"]

SpeechOptions = Mapping[str, Any]  # values by the key of their setting, None where no option was given

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
        speech: SpeechOptions = {
            "speech.on": speak,
            "speech.rate": speech_rate,
            "speech.punctuation": punctuation,
            "speech.voice": voice,
            "speech.volume": volume,
        }
        wanted = EARCONS if "all" in sounds else tuple(earcon for earcon in EARCONS if earcon in sounds)
        return command(*args, speech=speech, sounds=wanted, **options)

    return wrapped


def _find_range(field: Field) -> tuple[int, int]:
    """Return the lowest and the highest value of a setting that is a whole number."""
    return int(field.bounds.ge or 0), int(field.bounds.le or 0)
