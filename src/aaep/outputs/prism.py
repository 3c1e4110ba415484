"""
Speech on Windows and macOS through Prism, a library that speaks with the screen reader or the system's own voice.

Prism does not tell when speech has ended, so utterances last as long as they take by estimate.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Callable
from typing import Any

from ..errors import AaepError
from ..presentation.pace import estimate_seconds
from ..presentation.queue import Speak
from ..text.phrases import get_phrases
from .base import Finished, OutputEvent
from .speech_settings import SpeechSettings

__all__ = ["PrismOutput", "has_prism"]


def has_prism() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("prism") is not None


class PrismOutput:
    """The voice that Prism finds, usually that of the running screen reader."""

    name = "speech"
    is_paced = True

    def __init__(self, settings: SpeechSettings) -> None:
        self.settings = settings
        self._backend: Any = None
        self._report: Callable[[OutputEvent], None] = lambda event: None
        self._timer: threading.Timer | None = None

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Find a voice; raises :exc:`~aaep.errors.AaepError` if there is none."""
        self._report = report
        try:
            self._backend = importlib.import_module("prism").Context().acquire_best()
        except Exception as error:  # the library raises its own, which we cannot name without it
            raise AaepError(get_phrases(self.settings.languages)["speech-none-prism"]) from error

    def present(self, utterance: Speak) -> None:
        """Begin to speak an utterance, and return at once."""
        self._cancel_timer()
        if not self.settings.may_speak(utterance):
            self._report(Finished(utterance.utterance_id))
            return
        self._backend.speak(utterance.text.replace("\0", " ") or " ", utterance.announcement.interrupts)
        seconds = estimate_seconds(utterance.text, self.settings.rate)
        self._timer = threading.Timer(seconds, self._report, (Finished(utterance.utterance_id),))
        self._timer.daemon = True
        self._timer.start()

    def stop(self, utterance_id: int) -> None:
        """Stop speaking."""
        if self._timer is not None and self._timer.is_alive():
            self._backend.stop()
        self._cancel_timer()

    def close(self) -> None:
        """Give the voice back."""
        self._cancel_timer()
        self._backend = None

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
