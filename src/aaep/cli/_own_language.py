"""In which language an agent talks that a person starts on their own machine: in theirs."""

from __future__ import annotations

from typing import Final

from ..errors import AaepError
from ..producer.producer import ManifestOptions
from ..settings.resolve import load_settings
from ..text.phrases import ENGLISH, Phrases

__all__ = ["MANIFEST", "choose_language", "find_own_language"]

_ENGLISH_TAG: Final = "en-US"  # what readers ask for that name no language
# The model may write in any language, so that nobody is turned away who asks for English.
MANIFEST: Final = ManifestOptions(languages=(_ENGLISH_TAG,))


def choose_language(phrases: Phrases) -> str:
    """Return the language of an agent whose texts are composed of these phrases."""
    return _ENGLISH_TAG if phrases is ENGLISH else phrases.language


def find_own_language() -> str:
    """Return the language for the person who runs this, by their settings or else by their system."""
    try:
        return choose_language(load_settings().phrases)
    except AaepError:  # there is no place for settings, which is no reason to say nothing
        return _ENGLISH_TAG
