"""How a voice speaks: rate, volume, pitch, signs, and what to do where it lacks a language."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..presentation.earcons import Earcon
from ..presentation.queue import Speak

__all__ = ["Punctuation", "SpeechSettings"]

Punctuation = Literal["none", "some", "most", "all"]


class SpeechSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a voice speaks."""

    rate: int = 180  # words a minute
    volume: int = 100  # -100 to 100
    pitch: int = 0  # -100 to 100
    punctuation: Punctuation = "some"  # which signs are spoken by name
    spelling: bool = False  # letter by letter
    voice: str = ""  # a name from the server's list; empty for its own choice
    earcons: tuple[Earcon, ...] = ()  # of which a word is said before what they are about
    unspoken: tuple[Earcon, ...] = ()  # of which the announcements are spoken only on request
    languages: tuple[str, ...] = ("en",)  # spoken where there is no voice for a text, the first that has one

    def may_speak(self, utterance: Speak) -> bool:
        """Whether an utterance is to be spoken, and not only shown elsewhere."""
        return utterance.is_requested or utterance.earcon not in self.unspoken
