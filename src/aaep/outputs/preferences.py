"""What the settings of a person mean for announcements, sounds and outputs."""

from __future__ import annotations

from ..presentation.earcons import EARCONS, Earcon
from ..presentation.preferences import Preferences
from ..settings.fields import KindSettings, Settings
from ..text.phrases import get_phrases
from .base import Output
from .braille import BrailleOutput
from .speech import open_speech
from .speech_settings import SpeechSettings

__all__ = ["build_preferences", "build_speech_settings", "find_kind_settings", "list_sounds", "open_outputs"]


def build_preferences(settings: Settings) -> Preferences:
    """Return the preferences that announcements are made with."""
    return Preferences(
        verbosity=settings.verbosity,
        languages=settings.languages,
        pace=settings.speech.rate,
        markdown=not settings.signs,
        states=settings.states,
        progress_interval=settings.limits.progress_seconds,
        progress_step=settings.limits.progress_percent,
    )


def build_speech_settings(settings: Settings) -> SpeechSettings:
    """Return how a voice speaks."""
    return SpeechSettings(
        rate=settings.speech.rate,
        volume=2 * settings.speech.volume - 100,  # percent, for a voice that counts from -100
        punctuation=settings.speech.punctuation,
        voice=settings.speech.voice,
        unspoken=tuple(earcon for earcon in EARCONS if not find_kind_settings(settings, earcon).speech),
        languages=(*settings.languages, "en"),
    )


def open_outputs(settings: Settings) -> list[Output]:
    """Return the ways to present announcements that a person has chosen beside the terminal."""
    outputs: list[Output] = []
    if settings.speech.on:
        outputs.append(open_speech(build_speech_settings(settings)))
    if settings.braille.on:
        unshown = [earcon for earcon in EARCONS if not find_kind_settings(settings, earcon).braille]
        output = BrailleOutput(
            table=settings.braille.table,
            contracted=settings.braille.contracted,
            language=next(iter(settings.languages), "en"),
            phrases=get_phrases(settings.languages),
            unshown=unshown,
        )
        outputs.append(output)
    return outputs


def list_sounds(settings: Settings) -> tuple[Earcon, ...]:
    """Return the kinds of announcement that a sound comes with."""
    return tuple(earcon for earcon in EARCONS if find_kind_settings(settings, earcon).sound)


def find_kind_settings(settings: Settings, earcon: Earcon) -> KindSettings:
    """Return how announcements of a kind are given."""
    kinds = {
        "sent": settings.sounds.sent,
        "working": settings.sounds.working,
        "done": settings.sounds.done,
        "needs-you": settings.sounds.needs_you,
        "error": settings.sounds.error,
    }
    return kinds[earcon]
