"""Writes a scenario of ``aaep demo`` as a WAV file, as a listener with ``--speak --sound all`` hears it."""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
import threading
import wave
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aaep import Producer, Subscriber
from aaep.cli._demo_agent import DEMO_SCENARIOS, run_scenario
from aaep.outputs.base import KeyPressed, OutputEvent
from aaep.outputs.printer import LinePrinter
from aaep.outputs.sounds import sound_path
from aaep.outputs.speech_settings import SpeechSettings
from aaep.outputs.terminal import Terminal
from aaep.presentation.earcons import Earcon
from aaep.presentation.pace import estimate_seconds
from aaep.presentation.queue import Speak
from aaep.protocol.events import AwaitingClarification
from aaep.text.phrases import PHRASES
from aaep.text.sanitize import sanitize

FRAMES: Final = 22_050  # a second, of espeak-ng and of our sounds
GAP: Final = 0.4  # seconds between two utterances
REACTION: Final = 1.5  # seconds that the listener takes to press a key
AGENT: Final = "Bank Assistant"
CONNECTED: Final = PHRASES["connected.name"].format(AGENT)
SECOND_KEY_NOTICE: Final = PHRASES["accept.second.key"].split("{")[0]
LENGTHS: Final = (0.5, 2.0)  # of what is written, as shares of what the words should take


class Keyboard:
    """A keyboard that nobody touches: the keys are pressed by the voice, after it was heard."""

    is_line_based = False
    is_interactive = True

    def __enter__(self) -> Keyboard:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def fileno(self) -> None:
        """Return None: there is nothing to wait for."""

    def read(self, now: float) -> list[str]:
        """Return no keys."""
        return []

    def discard(self) -> bool:
        """Return False: there is nothing to discard."""
        return False

    def resume(self) -> None:
        """Do nothing."""


class WaveVoice:
    """
    An output that speaks into a recording, and a listener who accepts what is asked.

    It reports no ends: an utterance is recorded as a whole while it is presented, so that the order and the length of
    the recording do not depend on how fast this machine is. Its clock is the length of the recording.
    """

    name = "recording"
    is_paced = False

    def __init__(self, words_per_minute: int, language: str = "en") -> None:
        self.words_per_minute = words_per_minute
        self.language = language
        self.samples = array("h")
        self.texts: list[str] = []
        self.has_said_connected = threading.Event()
        self._sounds: list[Earcon] = []
        self._report: Callable[[OutputEvent], None] = lambda event: None

    def seconds(self) -> float:
        """Return the length of the recording."""
        return len(self.samples) / FRAMES

    def play(self, earcon: Earcon) -> None:
        """Play a sound at the beginning of what is spoken next."""
        self._sounds.append(earcon)

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Begin."""
        self._report = report

    def present(self, utterance: Speak) -> None:
        """Record an utterance, and press the keys that it asks for."""
        start = len(self.samples)
        self.samples += self._synthesize(utterance.text)
        for earcon in self._sounds:
            self._mix(_read_samples(sound_path(earcon).read_bytes()), start)
        self._sounds = []
        self.texts.append(utterance.text)
        keys = _choose_keys(utterance)
        self._pause(REACTION if keys else GAP)
        for key in keys:
            self._report(KeyPressed(key))
        if utterance.text == CONNECTED:
            self.has_said_connected.set()

    def stop(self, utterance_id: int) -> None:
        """Do nothing: whatever was recorded has ended."""

    def close(self) -> None:
        """Do nothing: the recording is kept."""

    def write(self, path: Path) -> None:
        """Write the recording as a WAV file."""
        samples = array("h", self.samples)
        if sys.byteorder == "big":
            samples.byteswap()
        with wave.open(str(path), "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(FRAMES)
            sound.writeframes(samples.tobytes())

    def _synthesize(self, text: str) -> array[int]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "speech.wav"
            # The text is read from standard input: one that begins with a dash is no option.
            command = ["espeak-ng", "-v", self.language, "-s", str(self.words_per_minute), "-w", str(path), "--stdin"]
            subprocess.run(command, input=sanitize(text.replace("\n", " ")).encode(), check=True, timeout=60)
            return _read_samples(path.read_bytes())

    def _pause(self, seconds: float) -> None:
        self.samples += array("h", bytes(2 * round(seconds * FRAMES)))

    def _mix(self, sound: array[int], start: int) -> None:
        missing = start + len(sound) - len(self.samples)
        self.samples += array("h", bytes(2 * max(0, missing)))
        for index, sample in enumerate(sound, start=start):
            self.samples[index] = min(max(self.samples[index] + sample, -32_768), 32_767)


def _choose_keys(utterance: Speak) -> tuple[str, ...]:
    """Return what the listener presses after an utterance: always yes, or the first choice."""
    if utterance.announcement.asks:
        return ("1", "\n") if isinstance(utterance.announcement.event, AwaitingClarification) else ("a",)
    return ("y",) if utterance.is_own and utterance.text.startswith(SECOND_KEY_NOTICE) else ()


def _read_samples(content: bytes) -> array[int]:
    with wave.open(io.BytesIO(content)) as sound:
        layout = (sound.getframerate(), sound.getnchannels(), sound.getsampwidth())
        if layout != (FRAMES, 1, 2):
            raise SystemExit(f"espeak-ng and our sounds have {FRAMES} frames a second, mono, 16 bits; not {layout}.")
        samples = array("h", sound.readframes(sound.getnframes()))
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def record(scenario: str, voice: WaveVoice) -> None:
    """Let a listener hear a scenario, and record what the voice says."""
    with Producer("bank-assistant", name=AGENT, listen="http://127.0.0.1:0", journal=None) as producer:

        def work() -> None:
            voice.has_said_connected.wait(30)  # otherwise it could be said before or after what comes first
            run_scenario(producer, scenario, lambda: None, None)

        agent = threading.Thread(target=work, name="demo-agent", daemon=True)
        agent.start()
        Terminal(
            lambda on_status: Subscriber(producer.addresses[0], name="Recording", on_status=on_status),
            Keyboard(),
            LinePrinter(sys.stdout),
            once=True,
            outputs=[voice],
            on_earcon=voice.play,
            clock=voice.seconds,
        ).run()
        agent.join(30)


def has_right_length(voice: WaveVoice) -> bool:
    """Whether the recording is about as long as its words take: nothing is missing, and nothing stood still."""
    expected = sum(estimate_seconds(text, voice.words_per_minute) + GAP for text in voice.texts)
    return bool(voice.texts) and LENGTHS[0] * expected < voice.seconds() < LENGTHS[1] * expected


def main() -> int:
    """Write the recording, and print where it is and how long it lasts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=Path("demo.wav"), help="default: demo.wav")
    parser.add_argument("--scenario", choices=[*DEMO_SCENARIOS], default="money")
    parser.add_argument("--rate", type=int, default=SpeechSettings().rate, help="words a minute")
    options = parser.parse_args()
    if shutil.which("espeak-ng") is None:
        print("espeak-ng is missing. Install it; on Debian: apt-get install espeak-ng", file=sys.stderr)
        return 2
    voice = WaveVoice(options.rate)
    record(options.scenario, voice)
    voice.write(options.file)
    if not has_right_length(voice):
        print(f"The recording lasts {voice.seconds():.1f} seconds, which its words do not take.", file=sys.stderr)
        return 1
    print(f"{options.file.resolve()}: {voice.seconds():.1f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
