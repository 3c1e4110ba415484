"""``aaep listen --speak``, with a real Speech Dispatcher and without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from aaep.cli import main
from aaep.text.phrases import PHRASES
from tests.cli.test_listen import Bank, Listener, given
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
    assert {"SET SELF RATE 47", "SET SELF PUNCTUATION all", "SET SELF VOLUME 40"} <= {*commands}


@pytest.mark.usefixtures("given")
def test_without_a_server_it_is_told_and_listening_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECHD_ADDRESS", "unix_socket:/nonexistent/speechd.sock")
    result = CliRunner().invoke(main, ["listen", URL, "--speak"])
    assert result.exit_code == 0
    assert result.output.count(PHRASES["speech.none"]) == 1
    assert "Started." in result.output and "Done." in result.output
