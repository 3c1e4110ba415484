"""``aaep demo``: the right end for every answer, at a terminal, in a script, and with a reader elsewhere."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import aaep
from aaep.cli._demo_agent import DEMO_SCENARIOS
from aaep.subscriber.connection import Reconnect

AAEP = str(Path(sys.executable).parent / "aaep")
LONG = 60.0
ENDS = {
    ("money", "accept"): "Done. 500 dollars are in your savings.",
    ("money", "reject"): "Ended. Transfer 500 dollars from checking to savings was not done.",
    ("money", "none"): "Ended. Transfer 500 dollars from checking to savings was not done.",
    ("error", "accept"): "Attention. Failed. Connection error. Trying again later may help.",
    ("clarification", "accept"): "| Bank Assistant: Your checking account holds 1,240 dollars.",
    ("clarification", "reject"): "| Bank Assistant: Your savings account holds 1,240 dollars.",
    ("clarification", "none"): "Done. A colleague will call you.",
    ("handoff", "accept"): "Done. A colleague has taken over.",
    ("cancel", "accept"): "Stopped. You stopped the assistant. Nothing was moved.",
    ("long", "accept"): "| Shall I look at travel more closely?",
}


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [AAEP, "demo", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG, check=False)


def test_every_scenario_is_played_here() -> None:
    assert {scenario for scenario, _ in ENDS} == {*DEMO_SCENARIOS}


@pytest.mark.parametrize(("scenario", "answer"), ENDS)
def test_each_answer_has_its_end_and_the_recording_is_sound(scenario: str, answer: str, tmp_path: Path) -> None:
    recording = str(tmp_path / "demo.ndjson")
    done = demo("--scenario", scenario, "--answer", answer, "--capture", recording)
    assert (done.returncode, done.stderr) == (0, "")
    assert ENDS[scenario, answer] in done.stdout.splitlines()
    moved = "Moving 500 dollars to savings." in done.stdout
    assert moved is ((scenario, answer) == ("money", "accept"))
    judged = subprocess.run(
        [AAEP, "validate", "--level", "3", "--strict", "--json", recording], capture_output=True, text=True, check=False
    )
    assert judged.returncode == 0, judged.stdout
    # Not so much as a note, but that a time nobody is to wait out is short.
    short = {"HITL-033", "CONF-054"} if answer == "none" else set()
    assert {json.loads(line)["rule"] for line in judged.stdout.splitlines()} <= short, judged.stdout


def test_without_a_terminal_nobody_answers_and_it_says_so() -> None:
    done = demo()
    assert done.returncode == 0
    assert done.stdout.startswith("Not interactive: nobody answers here.")
    assert "Ended. Transfer 500 dollars from checking to savings was not done." in done.stdout


def test_it_ends_as_any_command_when_nobody_reads_what_it_prints(tmp_path: Path) -> None:
    command = [AAEP, "demo", "--answer", "remote", "--pace", "0"]
    with (
        (tmp_path / "errors").open("w") as errors,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            assert process.stdout.readline().startswith("Waiting for a reader")
            process.stdout.close()
            with aaep.listen(url, reconnect=Reconnect(at_start=False)) as subscriber:
                subscriber.ready().wait(LONG)
                assert process.wait(LONG) == 141
        finally:
            process.kill()
    assert (tmp_path / "errors").read_text() == ""


def test_a_recording_that_cannot_be_written_is_told_before_anything_begins(tmp_path: Path) -> None:
    done = demo("--answer", "accept", "--capture", str(tmp_path / "missing" / "demo.ndjson"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("aaep: ") and done.stderr.endswith("No such file or directory.\n")


def test_a_recording_is_written_over_nothing_and_leaves_nothing_where_it_could_not_begin(tmp_path: Path) -> None:
    recording = tmp_path / "demo.ndjson"
    recording.write_text("old")
    done = demo("--answer", "accept", "--capture", str(recording))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"aaep: {recording} is there already. Give another name.\n"
    assert recording.read_text() == "old"
    new = tmp_path / "new.ndjson"
    assert demo("--answer", "accept", "--listen", "gopher://127.0.0.1", "--capture", str(new)).returncode == 2
    assert not new.exists()


@pytest.mark.parametrize(
    ("numbers", "status"),
    [
        ([signal.SIGTERM], 143),
        ([signal.SIGHUP], 129),
        ([signal.SIGINT], 130),
        ([signal.SIGINT, signal.SIGINT], None),  # it may end at once or in order
    ],
)
def test_a_demo_that_is_stopped_keeps_what_it_recorded(
    numbers: list[signal.Signals], status: int | None, tmp_path: Path
) -> None:
    recording = tmp_path / "demo.ndjson"
    command = [AAEP, "demo", "--answer", "accept", "--pace", "60", "--capture", str(recording)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            heard = [process.stdout.readline(), process.stdout.readline()]  # the address, and the session's beginning
            for number in numbers:
                process.send_signal(number)
                if len(numbers) > 1:
                    _wait_for_lines(recording)
            rest = process.stdout.read()
            assert process.wait(LONG) == status or status is None
        finally:
            process.kill()
    assert heard[1].strip()
    assert recording.stat().st_mode & 0o777 == 0o600
    data = recording.read_bytes()
    assert data.endswith(b"\n")
    types = [json.loads(line).get("message", {}).get("type") for line in data.splitlines()]
    assert "aaep:agent.session.started" in types
    if status is not None:
        assert types[-1] == "aaep:agent.session.cancelled"  # readers were told, and so is who reads the recording
        assert rest.endswith(f"Recorded in {recording}.\n")
        judged = subprocess.run([AAEP, "validate", "--strict", str(recording)], capture_output=True, check=False)
        assert judged.returncode == 0, judged.stdout


def _wait_for_lines(recording: Path) -> None:
    """Wait until something is recorded, so that what comes next comes while the program ends."""
    late = time.monotonic() + LONG
    while not recording.exists() or not recording.stat().st_size:
        assert time.monotonic() < late
        select.select([], [], [], 0.001)


def test_an_address_that_others_can_reach_is_refused_in_words_of_the_command() -> None:
    done = demo("--answer", "accept", "--listen", "http://0.0.0.0:0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "listen on 127.0.0.1." in done.stderr and "cert=" not in done.stderr


class AtATerminal:
    """The demo in a terminal of its own, with somebody at its keys."""

    def __init__(self, *arguments: str) -> None:
        self.seen = ""
        self.process, self._keys = pty.fork()
        if self.process == 0:
            os.execv(AAEP, [AAEP, "demo", "--pace", "0", *arguments])

    def see(self, text: str) -> None:
        deadline = time.monotonic() + LONG
        while text not in self.seen:
            ready = select.select([self._keys], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert ready, f"{text!r} was not printed, but {self.seen!r}"
            try:
                self.seen += os.read(self._keys, 65_536).decode().replace("\r\n", "\n")
            except OSError:
                assert text in self.seen, self.seen
        self.seen = self.seen.partition(text)[2]

    def press(self, key: str, text: str) -> None:
        """Press a key until it counts: one that comes in the moment a prompt appears does not."""
        for _ in range(int(LONG)):
            os.write(self._keys, key.encode())
            while text not in self.seen and select.select([self._keys], [], [], 1.0)[0]:
                self.seen += os.read(self._keys, 65_536).decode().replace("\r\n", "\n")
            if text in self.seen:
                break
        self.see(text)

    def ends(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_a_person_accepts_with_two_keys() -> None:
    sitting = AtATerminal()
    sitting.see("a accept,")
    sitting.see("\n")
    sitting.press("a", "Press y to accept this: Transfer 500 dollars from checking to savings.")
    sitting.press("y", "Accepted.")
    sitting.see("Done. 500 dollars are in your savings.")
    assert sitting.ends() == 0


def test_a_person_refuses_with_one() -> None:
    sitting = AtATerminal()
    sitting.see("a accept,")
    sitting.see("\n")
    sitting.press("r", "Refused.")
    sitting.see("Ended. Transfer 500 dollars from checking to savings was not done.")
    assert sitting.ends() == 0


def test_a_reader_elsewhere_decides() -> None:
    command = [AAEP, "demo", "--answer", "remote", "--pace", "0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            with aaep.listen(url) as subscriber:
                for event in subscriber:
                    if isinstance(event, aaep.AwaitingConfirmation):
                        subscriber.accept(event)
                    if isinstance(event, aaep.SessionCompleted):
                        break
            assert process.wait(LONG) == 0
            assert "Moving 500 dollars to savings." in process.stdout.read()
        finally:
            process.kill()


def test_an_address_that_is_taken_or_makes_no_sense_is_told() -> None:
    for url in ("http://0.0.0.0:0", "gopher://127.0.0.1", "http://127.0.0.1:1:2", "http://[::1"):
        done = demo("--listen", url, "--answer", "accept")
        assert done.returncode == 2 and done.stdout.count("Started.") == 0
        assert done.stderr.startswith("aaep: ") and "Traceback" not in done.stderr
        assert "program itself" not in done.stderr
