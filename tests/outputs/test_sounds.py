"""The sounds of earcons: what the script makes, told apart, and really played."""

from __future__ import annotations

import subprocess
import wave
from pathlib import Path

import pytest

from aaep.outputs.base import Finished
from aaep.outputs.sounds import SoundPlayer, sound_path
from aaep.outputs.speech import SpeechSettings
from aaep.presentation.announce import announce_line
from aaep.presentation.earcons import EARCONS, Earcon
from aaep.presentation.queue import Speak
from scripts.earcons import make_sound
from tests.outputs.scripted import ScriptedOutput
from tests.outputs.test_speech import quick, speaking
from tests.outputs.test_terminal import at_a_terminal, light
from tests.speech import SpeechServer, speech_server

__all__ = ["quick"]  # a fixture


@pytest.mark.parametrize("earcon", EARCONS)
def test_a_sound_is_what_the_script_makes_and_short(earcon: Earcon) -> None:
    assert sound_path(earcon).read_bytes() == make_sound(earcon)
    with wave.open(str(sound_path(earcon))) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (22_050, 1, 2)
        assert 0.03 < sound.getnframes() / sound.getframerate() < 0.4


def test_the_sounds_differ() -> None:
    assert len({make_sound(earcon) for earcon in EARCONS}) == len(EARCONS)


def test_a_sound_is_really_played_and_one_that_is_not_wanted_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with speech_server(tmp_path, clocked=True) as server:
        monkeypatch.setenv("PULSE_SERVER", server.environment["PULSE_SERVER"])
        monkeypatch.setenv("HOME", server.environment["HOME"])
        recording = ["parec", "-d", "at.monitor", "--rate=22050", "--channels=1", "--format=s16le", "--latency-msec=10"]
        with subprocess.Popen(recording, stdout=subprocess.PIPE) as recorder:
            assert recorder.stdout is not None
            recorder.stdout.read(2)  # it records
            player = SoundPlayer(["error"])
            assert player.is_available
            player.play("done")
            player.play("error")
            heard = False
            for _ in range(300):  # three seconds of sound at most
                heard = heard or any(recorder.stdout.read(441))
            player.close()
            recorder.kill()
    assert heard


def test_the_terminal_sounds_what_an_announcement_is_about() -> None:
    sounded: list[Earcon] = []
    voice = ScriptedOutput(paced=False)
    with at_a_terminal(outputs=[voice], on_earcon=sounded.append) as sitting:
        sitting.hear("session.started")
        sitting.prompt(light())
        sitting.press("a", "Sending: accept.")
        sitting.hear("session.errored")
        sitting.settle()
        said = [voice.begun.get(timeout=30) for _ in range(voice.begun.qsize())]
    assert [sound for sound in sounded if sound != "working"] == ["needs-you", "sent", "error"]
    assert {utterance.earcon for utterance in said} >= {"needs-you", "error", "working"}


def test_a_listener_may_want_a_word_in_place_of_a_sound(quick: SpeechServer) -> None:

    with speaking(quick, SpeechSettings(earcons=("error",))) as voice:
        for number, earcon in enumerate(("error", "done")):
            voice.output.present(Speak("One.", announce_line("One."), number, earcon=earcon))
            voice.reports.get(timeout=30)
        assert ">Error.</s>" in voice.spoken()[0] and "Finished" not in voice.spoken()[1]


def test_what_is_not_to_be_spoken_ends_at_once_and_is_spoken_on_request(quick: SpeechServer) -> None:
    with speaking(quick, SpeechSettings(unspoken=("done", "sent"))) as voice:
        for number, speak in enumerate(
            (
                Speak("One.", announce_line("One."), 0, earcon="done"),
                Speak("Two.", announce_line("Two."), 1, earcon="done", is_requested=True),
                Speak("Three.", announce_line("Three."), 2, earcon="sent", is_own=True),
            )
        ):
            voice.output.present(speak)
            assert voice.reports.get(timeout=30) == Finished(number)
        (spoken,) = voice.spoken()
    assert "Two." in spoken


def test_what_is_heard_again_was_requested_and_what_a_key_sent_has_its_sound() -> None:
    voice = ScriptedOutput(paced=False)
    with at_a_terminal(outputs=[voice]) as sitting:
        sitting.hear("session.completed")
        sitting.see("Done.")
        sitting.press("s", "Done.")
        sitting.prompt(light())
        sitting.press("a", "Sending: accept.")
        sitting.settle()
        said = [voice.begun.get(timeout=30) for _ in range(voice.begun.qsize())]
    done = [utterance for utterance in said if utterance.earcon == "done"]
    assert [utterance.is_requested for utterance in done] == [False, True]
    assert [utterance.text for utterance in said if utterance.earcon == "sent"] == ["Sending: accept."]
