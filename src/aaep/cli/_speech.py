"""The options of commands that speak."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, get_args

import click

from ..outputs.speech import MAX_RATE, MIN_RATE
from ..outputs.speech_settings import Punctuation, SpeechSettings
from ..presentation.earcons import EARCONS
from ._command import IntegerRange

__all__ = ["speech_options"]

_DEFAULTS = SpeechSettings()


def speech_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of speech to a command, which gets ``speech``, None for no speech, and ``sounds``."""

    @click.option("--speak", is_flag=True, help="Speak everything too, with Speech Dispatcher or your screen reader.")
    @click.option(
        "--speech-rate",
        type=IntegerRange(MIN_RATE, MAX_RATE),
        metavar="N",
        default=_DEFAULTS.rate,
        help=f"With --speak: words a minute. Default: {_DEFAULTS.rate}.",
    )
    @click.option(
        "--punctuation",
        type=click.Choice(get_args(Punctuation)),
        default=_DEFAULTS.punctuation,
        help=f"With --speak: which signs are spoken by name. Default: {_DEFAULTS.punctuation}.",
    )
    @click.option("--voice", metavar="NAME", default="", help="With --speak: a voice of Speech Dispatcher.")
    @click.option(
        "--volume",
        type=IntegerRange(-100, 100),
        metavar="N",
        default=_DEFAULTS.volume,
        help=f"With --speak: -100 to 100. Default: {_DEFAULTS.volume}.",
    )
    @click.option(
        "--sound",
        "sounds",
        type=click.Choice([*EARCONS, "all"]),
        multiple=True,
        help="Play a short sound for this. May be repeated.",
    )
    @functools.wraps(command)
    def wrapped(
        *args: Any,
        speak: bool,
        speech_rate: int,
        punctuation: Punctuation,
        voice: str,
        volume: int,
        sounds: tuple[str, ...],
        **options: Any,
    ) -> Any:
        settings = SpeechSettings(
            rate=speech_rate,
            volume=volume,
            punctuation=punctuation,
            voice=voice,
            languages=(*options.get("languages", ()), "en"),
        )
        wanted = EARCONS if "all" in sounds else tuple(earcon for earcon in EARCONS if earcon in sounds)
        return command(*args, speech=settings if speak else None, sounds=wanted, **options)

    return wrapped
