"""``aaep listen --daemon``: a reader without a terminal, with a real D-Bus daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.producer.producer import Producer
from aaep.text.phrases import PHRASES
from tests.cli.test_listen import PROGRAM
from tests.desktop import bus, desktop
from tests.speech import speech_server

DAEMON = [*PROGRAM, "--daemon"]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home for one test, with a short name, as sockets need it."""
    with tempfile.TemporaryDirectory(prefix="aaep") as name:
        for variable in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            monkeypatch.setenv(variable, name)
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={name}/nobody")
        monkeypatch.setenv("PATH", os.pathsep.join([name, os.environ["PATH"]]))
        yield Path(name)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["listen", *words])


def begin(*words: str) -> subprocess.Popen[str]:
    """Start it as systemd does, and wait until it listens."""
    process = subprocess.Popen([*DAEMON, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert PHRASES["greeting.daemon"] in process.stderr.readline()
    return process


def read_until(process: subprocess.Popen[str], text: str) -> str:
    assert process.stderr is not None
    told = ""
    while text not in told:
        line = process.stderr.readline()
        assert line, f"{text!r} was not printed, but {told!r}"
        told += line
    return told


def read_rest(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    told = process.stderr.read()
    process.wait(30)
    return told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_prompt_is_shown_and_a_click_answers_it_and_a_signal_ends_the_reader(
    number: signal.Signals, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bus(folder) as address, desktop(address) as service:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        with Producer("bank", name="Bank", listen="unix:bank", journal=None) as producer, begin() as reader:
            producer.reader(replies=True).wait(30)
            with producer.session("Sorting.") as session:
                asked = session.confirm(
                    "Sort the letters.", "They are sorted.", tool="sort", risk="low", irreversible=False
                )
                shown = service.shown.get(timeout=30)
                assert shown.title == "Bank asks" and shown.actions[0] == "accept"
                service.choose(shown.id, "accept")
                assert asked.wait(30).outcome == "accepted"
                with session.tool("sort", risk="low", irreversible=False, ask=asked):
                    pass
            told = read_until(reader, "Done.")
            reader.send_signal(number)
            told += read_rest(reader)
    assert reader.returncode == 0
    assert "Connected to Bank." in told and "Sending: accept." in told
    assert told.endswith(f"{PHRASES['goodbye']}\n")


def test_with_speech_in_the_settings_a_prompt_is_heard_and_a_click_answers_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CliRunner().invoke(main, ["settings", "set", "speech.on", "true"]).exit_code == 0
    with bus(folder) as address, desktop(address) as service, speech_server(tmp_path, clocked=True) as server:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        monkeypatch.setenv("SPEECHD_ADDRESS", server.environment["SPEECHD_ADDRESS"])
        with Producer("bank", name="Bank", listen="unix:bank", journal=None) as producer, begin() as reader:
            producer.reader(replies=True).wait(30)
            with producer.session("Sorting.") as session:
                session.write("There are 12 letters.")
                asked = session.confirm(
                    "Sort the letters.", "They are sorted.", tool="sort", risk="low", irreversible=False
                )
                shown = service.shown.get(timeout=30)
                service.choose(shown.id, "accept")
                assert asked.wait(30).outcome == "accepted"
                with session.tool("sort", risk="low", irreversible=False, ask=asked):
                    pass
            told = read_until(reader, "Done.")
            reader.terminate()
            told += read_rest(reader)
        spoken = " ".join(command for command in server.commands() if command.startswith("<speak>"))
    assert reader.returncode == 0
    assert "Sort the letters." in spoken and "They are sorted." in spoken
    assert PHRASES["speech.none"] not in told


def test_a_speech_server_that_starts_again_is_spoken_to_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bus(folder) as address, desktop(address), speech_server(tmp_path) as server:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        monkeypatch.setenv("SPEECHD_ADDRESS", server.environment["SPEECHD_ADDRESS"])
        with Producer("bank", name="Bank", listen="unix:bank", journal=None) as producer, begin("--speak") as reader:
            producer.reader(replies=True).wait(30)
            with producer.session("Sorting.") as session:
                session.write("There are 12 letters.")
                told = read_until(reader, "There are 12 letters.")
                server.kill()
                told += read_until(reader, PHRASES["speech.gone"])
                server.start()
                told += read_until(reader, PHRASES["speech.back"])
                session.clarify("Which letters?", choices=["Old", "New"])
                told += read_until(reader, "Which letters?")
            reader.terminate()
            told += read_rest(reader)
        spoken = " ".join(command for command in server.commands() if command.startswith("<speak>"))
    assert reader.returncode == 0
    assert "Which letters?" in spoken and PHRASES["goodbye"] in spoken


def test_only_one_runs_and_the_next_may_after_it(folder: Path) -> None:
    for _ in range(2):
        with begin() as reader:
            second = run("--daemon")
            assert second.exit_code == 2 and "A background reader runs already." in second.stderr
            reader.terminate()
            told = read_rest(reader)
        assert reader.returncode == 0
        assert told.count(PHRASES["notifications.none"]) == 1, "there is no desktop"


@pytest.mark.parametrize("option", ["--json", "--announcements"])
def test_nothing_is_written_to_standard_output(option: str) -> None:
    result = run("--daemon", option)
    assert result.exit_code == 2 and "Leave --daemon out." in result.stderr


def test_a_unit_is_written_shown_and_removed(folder: Path) -> None:
    unit = folder / "systemd" / "user" / "aaep-listen.service"
    result = run("--install-daemon")
    assert result.exit_code == 0
    text = unit.read_text()
    assert text in result.stdout and str(unit) in result.stdout
    assert "systemctl --user enable --now aaep-listen.service" in result.stdout
    (command,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    program = command.removeprefix('ExecStart="').removesuffix('" listen --daemon')
    assert Path(program).is_absolute() and os.access(program, os.X_OK)
    assert run("--remove-daemon").exit_code == 0 and not unit.exists()
    again = run("--remove-daemon")
    assert again.exit_code == 2 and "never installed" in again.stderr
