"""
Speech through Speech Dispatcher, one utterance at a time, paced by its true end.

A thread of its own holds the connection. When the server goes away the utterance in hand is not lost: it is spoken
again, from the sentence that was reached, as soon as the server is back; until then utterances last as long as they
would have taken to be spoken.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final
from xml.sax.saxutils import escape

import msgspec

from ..presentation.pace import estimate_seconds
from ..presentation.queue import Speak
from ..text.languages import describe_language
from ..text.phrases import ENGLISH, Phrases, get_phrases
from ..text.sanitize import sanitize
from ..text.sentences import split_at
from .base import Finished, Notice, Output, OutputEvent
from .prism import PrismOutput, has_prism
from .speech_settings import SpeechSettings
from .ssip import SpeechConnection, SpeechEvent, SpeechUnavailable, connect_to_server, find_address

__all__ = ["NoSpeech", "SpeechOutput", "SpeechSettings", "open_speech"]

MIN_RATE: Final = 80  # words a minute, of the slowest and the fastest rate that can be asked for
NORMAL_RATE: Final = 170
MAX_RATE: Final = 449
RATE_STEP: Final = 20
RETRY_DELAYS: Final = (0.1, 0.3, 1.0, 2.0, 5.0)  # seconds, the last one again and again
MAX_RESUBMISSIONS: Final = 2  # of an utterance that somebody else's speech has cancelled
_MACROLANGUAGES: Final[Mapping[str, str]] = {"zh": "cmn", "no": "nb"}  # as voices name them


def open_speech(settings: SpeechSettings | None = None) -> Output:
    """
    Return the way to speak on this machine.

    That is Speech Dispatcher, or on Windows and macOS the Prism library if it is installed. Where there is neither,
    it is an output that says so once and speaks nothing.
    """
    chosen = settings or SpeechSettings()
    phrases = get_phrases(chosen.languages)
    if sys.platform in ("win32", "darwin"):
        return PrismOutput(chosen) if has_prism() else NoSpeech(phrases["speech-none-prism"], phrases)
    try:
        address = find_address(phrases=phrases)
        connect_to_server(address, phrases).close()
    except SpeechUnavailable as error:
        return NoSpeech(str(error), phrases)
    return SpeechOutput(chosen)


class NoSpeech:
    """An output for machines that cannot speak, which says so once."""

    name = "speech"
    is_paced = False

    def __init__(self, reason: str, phrases: Phrases = ENGLISH) -> None:
        self._reason = reason
        self._phrases = phrases

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Report that nothing is spoken, and why."""
        report(Notice(f"{self._phrases['speech-none']} {self._reason}"))

    def present(self, utterance: Speak) -> None:
        """Speak nothing."""

    def stop(self, utterance_id: int) -> None:
        """Do nothing: nothing is spoken."""

    def close(self) -> None:
        """Do nothing: nothing was opened."""


class _Utterance(msgspec.Struct, eq=False):
    """An utterance that has not ended, and how far it was spoken."""

    speak: Speak
    sentences: list[str]
    first: int = 0  # the sentence from which it was given to the server
    reached: int = 0  # the sentence that is being spoken
    message_id: str = ""  # empty while no server has it
    resubmissions: int = 0
    ends_at: float | None = None  # where no server reports the end


class SpeechOutput:
    """
    A voice of Speech Dispatcher.

    ``on_event`` is called, in the voice's own thread, with what happens to the utterance in hand: that it began, and
    how far it has come.
    """

    name = "speech"
    is_paced = True

    def __init__(
        self,
        settings: SpeechSettings | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        on_event: Callable[[SpeechEvent], None] = lambda event: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings or SpeechSettings()
        self._phrases = get_phrases(self.settings.languages)
        self._environment = environment
        self._on_event = on_event
        self._clock = clock
        self._report: Callable[[OutputEvent], None] = lambda event: None
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: SpeechConnection | None = None
        self._current: _Utterance | None = None
        self._is_paused = False
        self._voices: set[str] = set()  # the languages that have one, in lower case
        self._language = ""  # that the server is set to
        self._priority = ""
        self._unvoiced: set[str] = set()  # languages that the listener was told about
        self._retry_at: float | None = None
        self._attempts = 0

    # -- the terminal's side ---------------------------------------------------------------

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Connect to the server; raises :exc:`SpeechUnavailable` if there is none."""
        self._report = report
        self._connect()
        self._thread = threading.Thread(target=self._run, name="aaep-speech", daemon=True)
        self._thread.start()

    def present(self, utterance: Speak) -> None:
        """Begin to speak an utterance, and return at once."""
        self._jobs.put(partial(self._begin, utterance))

    def stop(self, utterance_id: int) -> None:
        """Stop that utterance now, if it is being spoken."""
        self._jobs.put(partial(self._stop, utterance_id))

    def pause(self) -> None:
        """Pause speech where it is."""
        self._jobs.put(partial(self._set_paused, True))

    def resume(self) -> None:
        """Go on with speech that was paused."""
        self._jobs.put(partial(self._set_paused, False))

    def change_rate(self, steps: int) -> int:
        """Speak faster or slower by steps, from the next utterance on; return the rate in words a minute."""
        rate = min(max(self.settings.rate + steps * RATE_STEP, MIN_RATE), MAX_RATE)
        self.change(msgspec.structs.replace(self.settings, rate=rate))
        return rate

    def change(self, settings: SpeechSettings) -> None:
        """Speak with other settings, from the next utterance on."""
        self.settings = settings
        self._jobs.put(self._update_settings)

    def close(self) -> None:
        """Close the connection and end the thread; what was given last is still spoken."""
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # -- the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=self._find_timeout())
            except Empty:
                self._handle_time()
                continue
            if job is None:
                return
            job()

    def _find_timeout(self) -> float | None:
        ends_at = self._current.ends_at if self._current is not None else None
        times = [at for at in (self._retry_at, ends_at) if at is not None]
        return max(0.0, min(times) - self._clock()) if times else None

    def _handle_time(self) -> None:
        now = self._clock()
        if self._retry_at is not None and self._retry_at <= now:
            self._reconnect()
        current = self._current
        if current is not None and current.ends_at is not None and current.ends_at <= now and not self._is_paused:
            self._finish(current)

    def _try(self, action: Callable[[], object]) -> bool:
        """Do something that needs the server; return whether it was there."""
        if self._connection is None:
            return False
        try:
            action()
        except (SpeechUnavailable, Empty):
            self._lose(self._connection)
            return False
        return True

    # -- the connection --------------------------------------------------------------------

    def _connect(self) -> None:
        environment = os.environ if self._environment is None else self._environment
        raw = connect_to_server(find_address(environment, self._phrases), self._phrases)
        holder: list[SpeechConnection] = []
        is_ready = threading.Event()

        def handle_lost() -> None:
            is_ready.wait()
            self._jobs.put(lambda: self._lose(holder[0]))

        connection = SpeechConnection(
            raw, lambda event: self._jobs.put(partial(self._handle_event, event)), handle_lost, self._phrases
        )
        holder.append(connection)
        is_ready.set()
        self._connection = connection
        try:
            connection.command("SET SELF CLIENT_NAME user:aaep:main")
            connection.command("SET SELF NOTIFICATION ALL ON")
            connection.command("SET SELF SSML_MODE ON")
            self._language = ""
            self._priority = ""
            self._apply_settings()
            rows = connection.command("LIST SYNTHESIS_VOICES")
            self._voices = {row.split("\t")[1].lower() for row in rows if "\t" in row}
        except (SpeechUnavailable, Empty) as error:
            self._connection = None
            connection.close()
            raise SpeechUnavailable(str(error) or self._phrases["speech-unavailable"]) from error

    def _apply_settings(self) -> None:
        connection = self._require_connection()
        settings = self.settings
        if settings.voice:
            connection.command(f"SET SELF SYNTHESIS_VOICE {sanitize(settings.voice)}")
        connection.command(f"SET SELF RATE {_to_server_rate(settings.rate)}")
        connection.command(f"SET SELF VOLUME {settings.volume}")
        connection.command(f"SET SELF PITCH {settings.pitch}")
        connection.command(f"SET SELF PUNCTUATION {settings.punctuation}")
        connection.command(f"SET SELF SPELLING {'ON' if settings.spelling else 'OFF'}")

    def _update_settings(self) -> None:
        self._try(self._apply_settings)

    def _require_connection(self) -> SpeechConnection:
        if self._connection is None:
            raise SpeechUnavailable(self._phrases["speech-unavailable"])
        return self._connection

    def _lose(self, lost: SpeechConnection) -> None:
        if self._connection is not lost:
            return  # told before
        self._connection = None
        lost.close()
        self._attempts = 0
        self._retry_at = self._clock() + RETRY_DELAYS[0]
        if self._current is not None:
            self._current.message_id = ""
            self._estimate_end(self._current)
        self._report(Notice(self._phrases["speech-gone"]))

    def _reconnect(self) -> None:
        try:
            self._connect()
        except SpeechUnavailable:
            self._attempts += 1
            delay = RETRY_DELAYS[min(self._attempts, len(RETRY_DELAYS) - 1)]
            self._retry_at = self._clock() + delay
            return
        self._retry_at = None
        self._report(Notice(self._phrases["speech-back"]))
        if self._current is not None:
            self._submit(self._current)

    # -- utterances ------------------------------------------------------------------------

    def _begin(self, speak: Speak) -> None:
        if not self.settings.may_speak(speak):
            self._report(Finished(speak.utterance_id))
            return
        text = " ".join(sanitize(line) for line in speak.text.split("\n"))
        if speak.earcon in self.settings.earcons:
            text = f"{self._phrases[f'earcon-{speak.earcon}']} {text}"
        sentences = [piece for piece in split_at(text, "sentence", speak.announcement.language) if piece.strip()]
        self._current = _Utterance(speak, sentences or [text])
        self._is_paused = False
        self._submit(self._current)

    def _submit(self, utterance: _Utterance) -> None:
        """Give an utterance to the server, from the sentence that was reached."""
        utterance.first = utterance.reached
        utterance.ends_at = None
        if not self._try(partial(self._send, utterance)):
            self._estimate_end(utterance)

    def _send(self, utterance: _Utterance) -> None:
        connection = self._require_connection()
        announcement = utterance.speak.announcement
        language = self._choose_language(announcement.language)
        if language != self._language:
            connection.command(f"SET SELF LANGUAGE {language}")
            self._language = language
        # Never NOTIFICATION: the server drops it silently while it speaks.
        priority = "IMPORTANT" if announcement.interrupts else "MESSAGE"
        if priority != self._priority:
            connection.command(f"SET SELF PRIORITY {priority}")
            self._priority = priority
        # A mark right after the end of a sentence is lost by espeak-ng, so each stands at the beginning of one.
        parts = (
            f'<s><mark name="{index}"/>{escape(sentence.strip())}</s>'
            for index, sentence in enumerate(utterance.sentences)
            if index >= utterance.first
        )
        utterance.message_id = connection.speak(f"<speak>{' '.join(parts)}</speak>")

    def _choose_language(self, wanted: str) -> str:
        """Return the language to ask the server for, which takes any and speaks those without a voice in another."""
        found = self._find_voice(wanted)
        if found is not None:
            return found
        spoken = next((voice for tag in self.settings.languages if (voice := self._find_voice(tag))), "en")
        if wanted not in self._unvoiced:
            self._unvoiced.add(wanted)
            languages = [tag.partition("-")[0] for tag in (wanted, spoken)]
            names = [describe_language(language, self._phrases.language) for language in languages]
            text = self._phrases.format("speech-no_voice", language=names[0], other=names[1])
            self._report(Notice(text))
        return spoken

    def _find_voice(self, tag: str) -> str | None:
        """Return how to ask for a language that has a voice: by its region if that has one, or else without."""
        wanted = tag.lower()
        if wanted in self._voices:
            return wanted
        language = wanted.partition("-")[0]
        for name in (language, _MACROLANGUAGES.get(language, language)):
            if any(voice.partition("-")[0] == name for voice in self._voices):
                return name
        return None

    def _stop(self, utterance_id: int) -> None:
        current = self._current
        if current is None or current.speak.utterance_id != utterance_id:
            return
        self._current = None
        if current.message_id:
            self._try(lambda: self._require_connection().command("CANCEL SELF"))
        if self._is_paused:
            self._set_paused(False)

    def _set_paused(self, paused: bool) -> None:
        if paused == self._is_paused:
            return
        self._is_paused = paused
        self._try(lambda: self._require_connection().command("PAUSE SELF" if paused else "RESUME SELF"))
        current = self._current
        if not paused and current is not None and current.ends_at is not None:
            self._estimate_end(current)

    def _handle_event(self, event: SpeechEvent) -> None:
        current = self._current
        if current is None or not current.message_id or event.message_id != current.message_id:
            return
        self._on_event(event)
        if event.kind == "mark" and event.mark.isdecimal():
            current.reached = int(event.mark)
        elif event.kind == "end":
            self._finish(current)
        elif event.kind == "cancel":  # by somebody else's speech, since ours is no longer current then
            current.resubmissions += 1
            if current.resubmissions > MAX_RESUBMISSIONS:
                self._finish(current)
            else:
                self._submit(current)

    def _finish(self, utterance: _Utterance) -> None:
        self._current = None
        self._report(Finished(utterance.speak.utterance_id))

    def _estimate_end(self, utterance: _Utterance) -> None:
        rest = " ".join(utterance.sentences[utterance.reached :])
        utterance.ends_at = self._clock() + estimate_seconds(rest, self.settings.rate)


def _to_server_rate(words_per_minute: int) -> int:
    """Return the rate of the server, -100 to 100, for a number of words a minute."""
    if words_per_minute < NORMAL_RATE:
        share = (words_per_minute - NORMAL_RATE) / (NORMAL_RATE - MIN_RATE)
    else:
        share = (words_per_minute - NORMAL_RATE) / (MAX_RATE - NORMAL_RATE)
    return min(max(round(100 * share), -100), 100)
