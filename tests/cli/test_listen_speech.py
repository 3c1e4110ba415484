"""``aaep listen --speak``, with a real Speech Dispatcher and without one."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from aaep.cli import main
from aaep.text.phrases import PHRASES
from tests.cli.test_listen import PROGRAM, Bank, Listener, given
from tests.speech import speech_server

__all__ = ["given"]  # a fixture
URL = "http://127.0.0.1:1"


def test_a_session_is_spoken_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with speech_server(tmp_path) as server:
        monkeypatch.setenv("SPEECHD_ADDRESS", server.environment["SPEECHD_ADDRESS"])
        options = ["--speak", "--once", "--speech-rate", "300", "--punctuation", "all", "--volume", "40"]
        with Bank() as bank, Listener(bank.url, *options) as listener:
            listener.see("Connected to Bank.")
            with bank.producer.session("Reading the balance.") as session:
                session.write("Your balance is 312.")
            listener.see(PHRASES["goodbye"])
            assert listener.process.wait(60) == 0
        commands = server.commands()
    spoken = [command for command in commands if command.startswith("<speak>")]
    texts = ("Started.", "Your balance is 312.", "Done.", PHRASES["goodbye"])
    positions = [next(index for index, said in enumerate(spoken) if text in said) for text in texts]
    assert positions == sorted(positions) and len({*positions}) == len(texts)
    assert {"SET SELF RATE 47", "SET SELF PUNCTUATION all", "SET SELF VOLUME -20"} <= {*commands}


@pytest.mark.usefixtures("given")
def test_without_a_server_it_is_told_and_listening_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECHD_ADDRESS", "unix_socket:/nonexistent/speechd.sock")
    result = CliRunner().invoke(main, ["listen", URL, "--speak"])
    assert result.exit_code == 0
    assert result.output.count(PHRASES["speech.none"]) == 1
    assert "Started." in result.output and "Done." in result.output


def test_what_is_set_is_how_it_is_spoken_and_an_option_counts_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'speech = { on = true, rate = 449, punctuation = "most", volume = 10, voice = "English+Alex" }\n'
        "sounds.done.speech = false\n"
    )
    monkeypatch.setenv("AAEP_SETTINGS", str(path))
    monkeypatch.setenv("AAEP_SPEECH_PUNCTUATION", "none")
    monkeypatch.setenv("AAEP_SPEECH_VOLUME", "50")
    with speech_server(tmp_path) as server:
        monkeypatch.setenv("SPEECHD_ADDRESS", server.environment["SPEECHD_ADDRESS"])
        with Bank() as bank, Listener(bank.url, "--once", "--volume", "75") as listener:
            listener.see("Connected to Bank.")
            with bank.producer.session("Reading the balance.") as session:
                session.write("Your balance is 312.")
            listener.see("Done.")
            listener.see(PHRASES["goodbye"])
            assert listener.process.wait(60) == 0
        commands = server.commands()
    asked = {command for command in commands if command.startswith("SET SELF")}
    assert {"SET SELF RATE 100", "SET SELF PUNCTUATION none", "SET SELF VOLUME 50"} <= asked
    assert "SET SELF SYNTHESIS_VOICE English+Alex" in asked
    spoken = " ".join(command for command in commands if command.startswith("<speak>"))
    assert "Your balance is 312." in spoken and PHRASES["goodbye"] in spoken
    assert ">Done." not in spoken, "which is only printed"


@pytest.mark.usefixtures("given")
def test_no_speak_counts_more_than_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECHD_ADDRESS", "unix_socket:/nonexistent/speechd.sock")
    monkeypatch.setenv("AAEP_SPEECH_ON", "yes")
    assert PHRASES["speech.none"] in CliRunner().invoke(main, ["listen", URL]).output
    result = CliRunner().invoke(main, ["listen", URL, "--no-speak"])
    assert result.exit_code == 0 and PHRASES["speech.none"] not in result.output


@pytest.mark.usefixtures("given")
def test_a_sound_that_is_set_is_played_unless_an_option_names_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = tmp_path / "played"
    player = tmp_path / "paplay"
    player.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {played}\n')
    player.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("AAEP_SOUNDS_DONE_SOUND", "yes")
    assert CliRunner().invoke(main, ["listen", URL]).exit_code == 0
    assert [Path(line).stem for line in played.read_text().splitlines()] == ["done"]
    assert CliRunner().invoke(main, ["listen", URL, "--sound", "error"]).exit_code == 0
    assert [Path(line).stem for line in played.read_text().splitlines()] == ["done"]


@pytest.mark.parametrize("has_player", [True, False])
def test_where_nothing_plays_sounds_the_bell_rings(
    has_player: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_player:
        (tmp_path / "paplay").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("AAEP_SOUNDS_WORKING_SOUND", "yes")
    master, slave = pty.openpty()
    with (
        Bank() as bank,
        subprocess.Popen([*PROGRAM, bank.url, "--once"], stdin=subprocess.DEVNULL, stdout=slave) as process,
    ):
        os.close(slave)
        bank.producer.reader(replies=False).wait(30)
        with bank.producer.session("Reading the balance."):
            pass
        assert process.wait(60) == 0
    printed = os.read(master, 65_536)
    os.close(master)
    assert (b"\a" in printed) is not has_player
