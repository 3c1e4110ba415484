"""The options of commands that speak."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, get_args

import click

from ..outputs.speech import MAX_RATE, MIN_RATE
from ..outputs.speech_settings import Punctuation, SpeechSettings
from ._command import IntegerRange

__all__ = ["speech_options"]

_DEFAULTS = SpeechSettings()


def speech_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of speech to a command, which gets ``speech``: the settings, or None for no speech."""

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
    @functools.wraps(command)
    def wrapped(
        *args: Any, speak: bool, speech_rate: int, punctuation: Punctuation, voice: str, volume: int, **options: Any
    ) -> Any:
        settings = SpeechSettings(
            rate=speech_rate,
            volume=volume,
            punctuation=punctuation,
            voice=voice,
            languages=(*options.get("languages", ()), "en"),
        )
        return command(*args, speech=settings if speak else None, **options)

    return wrapped
