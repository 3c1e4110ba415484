"""The demo as a sound file, made with the real espeak-ng."""

from __future__ import annotations

import subprocess
import sys
import wave
from array import array
from pathlib import Path

import pytest

from aaep.text.phrases import PHRASES
from scripts.demo_speech import FRAMES, GAP, WaveVoice, has_right_length, record

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "demo_speech.py"


def read(path: Path) -> array[int]:
    with wave.open(str(path)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (FRAMES, 1, 2)
        return array("h", sound.readframes(sound.getnframes()))


def test_the_script_writes_sound_of_about_the_right_length_and_says_where(tmp_path: Path) -> None:
    path = tmp_path / "demo.wav"
    command = [sys.executable, str(SCRIPT), str(path), "--scenario", "handoff", "--rate", "300"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    samples = read(path)
    *lines, last = done.stdout.splitlines()
    assert last == f"{path}: {len(samples) / FRAMES:.1f} seconds"
    words = len(" ".join(lines).split())
    assert 0.5 < (len(samples) / FRAMES - GAP * len(lines)) / (words * 60 / 300) < 2
    loud = sum(abs(sample) > 1000 for sample in samples) / len(samples)
    assert 0.1 < loud < 0.9


def test_the_demo_is_heard_to_its_end_and_lasts_as_long_each_time() -> None:
    first, second = WaveVoice(400), WaveVoice(400)
    for voice in (first, second):
        record("money", voice)
    assert first.texts == second.texts and len(first.samples) == len(second.samples)
    assert first.texts[-2:] == ["Done. 500 dollars are in your savings.", PHRASES["goodbye"]]
    assert sum(text.startswith("Confirm.") for text in first.texts) == 1
    assert PHRASES["sending.accept"] in first.texts


def test_a_sound_is_mixed_into_what_is_spoken_and_lengthens_nothing() -> None:
    class Silent(WaveVoice):
        def play(self, earcon: object) -> None:
            pass

    sounding, silent = WaveVoice(400), Silent(400)
    for voice in (sounding, silent):
        record("error", voice)
    assert sounding.texts == silent.texts and len(sounding.samples) == len(silent.samples)
    assert sounding.samples != silent.samples


@pytest.mark.parametrize("share", [0.25, 3])
def test_a_recording_that_is_too_short_or_too_long_is_noticed(share: float) -> None:
    voice = WaveVoice(180)
    voice.texts = ["One sentence of six words here."]
    voice.samples = array("h", bytes(2 * round(FRAMES * share * (2 + GAP))))
    assert not has_right_length(voice)
    voice.samples = array("h", bytes(2 * round(FRAMES * (2 + GAP))))
    assert has_right_length(voice)
