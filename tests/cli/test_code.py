"""``aaep code``: a coding agent by lines and by keys, and the task that the guide shows, as it is heard."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from aaep.cli.code import find_mentions
from tests.adapters.coding import FAKE, OPTIONS, ask, call, ended, say
from tests.driving import AAEP, LONG

ROOT = Path(__file__).parent.parent.parent
MODES = {"currentModeId": "approve", "availableModes": [{"id": "approve"}, {"id": "auto"}]}
CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"list": {}}}
TITLES = {"sessions": [{"sessionId": "s-1", "title": "Fix the\nparser", "updatedAt": "2026-11-01"}]}
OLD = 'def greet(name):\n    return "Hello " + name\n'
NEW = 'def greet(name: str) -> str:\n    return f"Hello, {name}."\n'
TASK = [
    say("I will look at it first. "),
    call("read", kind="read", name="Read", rawInput={"path": "{cwd}/greet.py"}),
    ended("read"),
    say("I will change the sentence, then run the tests. "),
    {
        "ask": {
            "toolCall": {
                "toolCallId": "edit",
                "kind": "edit",
                "name": "Edit",
                "title": "Improve the code",
                "rawInput": {"path": "{cwd}/greet.py"},
                "content": [{"type": "diff", "path": "{cwd}/greet.py", "oldText": OLD, "newText": NEW}],
            },
            "options": OPTIONS,
        },
        "run": "EDITED",
        "allowed": [ended("edit")],
    },
    ask("test", rawInput={"command": "pytest -q"}, title="Run the tests", run="TESTED"),
    say("All 3 tests pass. "),
    ask("push", rawInput={"command": "git commit -am greet\ngit push --force"}, title="Save the work", run="PUSHED"),
    say("The change is in greet.py. Nothing was pushed."),
]


def install(folder: Path, *turns: list[dict[str, Any]], **script: Any) -> dict[str, str]:
    """Put a fake goose where it is found, and return the environment to run it in."""
    told = {
        "initialize": {"protocolVersion": 1, "agentCapabilities": CAPABILITIES},
        "new": {"sessionId": "{session}", "modes": MODES},
        "session/list": TITLES,
        "session/load": {"modes": MODES},
        "turns": [*turns],
        **script,
    }
    (folder / "script.json").write_text(json.dumps(told))
    programs = folder / "bin"
    programs.mkdir()
    program = programs / "goose"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "{folder}/script.json" "{folder}/log" "$@"\n')
    program.chmod(0o755)
    (folder / "work").mkdir()
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def run(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [AAEP, "code", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        env=environment,
        cwd=folder / "work",
    )


@contextmanager
def lines(environment: dict[str, str], folder: Path, *arguments: str) -> Iterator[tuple[IO[str], IO[str], Any]]:
    with subprocess.Popen(
        [AAEP, "code", "goose", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env=environment,
        cwd=folder / "work",
    ) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            yield process.stdin, process.stdout, process
        finally:
            process.kill()


def converse(typed: IO[str], heard: IO[str], replies: list[tuple[str, str]]) -> list[str]:
    """Write each line when its words were heard, and return all that was printed, with what was written."""
    said: list[str] = []
    for words, line in replies:
        for printed in heard:
            said.append(printed.rstrip("\n"))
            if words in printed:
                break
        else:
            pytest.fail(f"{words!r} was not heard: {said}")
        typed.write(line + "\n")
        said.append(f"> {line}")
    return said + [printed.rstrip("\n") for printed in heard]


def test_the_task_of_the_guide_is_heard_as_the_guide_shows_it(tmp_path: Path) -> None:
    environment = install(tmp_path, TASK)
    (tmp_path / "work" / "greet.py").write_text(OLD)
    recording = tmp_path / "task.ndjson"
    with lines(environment, tmp_path, "--capture", str(recording)) as (typed, heard, process):
        said = converse(
            typed,
            heard,
            [
                ("Connected", "Make the greeting in @greet.py nicer, and test it."),
                ("The file is written.", "accept"),
                ("quote pytest -q end quote. If", "accept"),
                ("Write yes to accept", "yes"),
                ("end quote. If you accept", "reject"),
                ("Ended.", "quit"),
            ],
        )
        assert process.wait(LONG) == 0
    work = tmp_path / "work"
    assert sorted(path.name for path in work.iterdir()) == ["EDITED", "TESTED", "greet.py"]
    told = "\n".join(line for line in said if not line.startswith("Recorded in"))
    shown = (ROOT / "docs" / "coding-agents.md").read_text().split("```text\n", 1)[1].split("```", 1)[0]
    assert told + "\n" == shown
    judged = subprocess.run([AAEP, "validate", "--strict", str(recording)], capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout


def write_settings(folder: Path, environment: dict[str, str], text: str) -> None:
    (folder / "settings.toml").write_text(text)
    environment["AAEP_SETTINGS"] = str(folder / "settings.toml")


def test_what_the_settings_allow_is_done_without_a_question(tmp_path: Path) -> None:
    environment = install(tmp_path, [ask(), say("It is there.")])
    write_settings(tmp_path, environment, '[[allow]]\ncommand = ["touch", "RAN"]\nagent = "goose"\n')
    with lines(environment, tmp_path) as (typed, heard, process):
        said = converse(typed, heard, [("Connected", "Do it."), ("Done.", "quit")])
        assert process.wait(LONG) == 0
    assert (tmp_path / "work" / "RAN").exists()
    assert not any("Confirm." in line for line in said)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[[allow]]\ncommand = ["touch", "RAN"]\n[[allow]]\ntool = "x"\n', "Rule 2 of allow has tool"),
        ('[[allow]]\ncommand = ["touch", "RAN"]\nverbosity = loud\n', "line 3"),
    ],
)
def test_with_a_mistake_in_the_rules_none_counts_and_it_is_told(text: str, reason: str, tmp_path: Path) -> None:
    environment = install(tmp_path, [ask(), say("It is not there.")])
    write_settings(tmp_path, environment, text)
    with lines(environment, tmp_path) as (typed, heard, process):
        said = converse(typed, heard, [("Connected", "Do it."), ("Confirm.", "reject"), ("Ended.", "quit")])
        assert process.wait(LONG) == 0
    assert not (tmp_path / "work" / "RAN").exists()
    assert any("so everything is asked." in line and reason in line for line in said)


def test_what_is_written_during_a_turn_is_sent_next_and_the_end_of_the_input_ends_it(tmp_path: Path) -> None:
    environment = install(tmp_path, [say("One. "), ask()], [say("Two.")])
    with lines(environment, tmp_path) as (typed, heard, process):
        for printed in heard:
            if "Connected" in printed:
                typed.write("first\n")
            if "Confirm." in printed:
                typed.write("prompt second\nreject\n")
                typed.close()
                break
        rest = heard.read()
        assert process.wait(LONG) == 0
    assert "Still at work. This is sent next." in rest and "Two." in rest
    assert not (tmp_path / "work" / "RAN").exists()


def test_an_agent_that_dies_ends_the_command_and_its_last_words_are_shown(tmp_path: Path) -> None:
    environment = install(tmp_path, [say("Now. "), {"die": 3}])
    with lines(environment, tmp_path) as (typed, heard, process):
        said = converse(typed, heard, [("Connected", "go")])
        assert process.wait(LONG) == 1
    assert "Its last words were these." in said and "the fake agent dies" in said


def test_other_readers_can_join_where_it_is_wanted(tmp_path: Path) -> None:
    environment = install(tmp_path, [say("Hello."), ask()])
    with lines(environment, tmp_path, "--listen", "http://127.0.0.1:0") as (typed, heard, process):
        address = heard.readline().split()[-1]
        reader = subprocess.Popen(
            [AAEP, "listen", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        with reader:
            assert reader.stdin is not None and reader.stdout is not None
            while "Connected" not in reader.stdout.readline():
                pass
            typed.write("go\n")
            for printed in reader.stdout:
                if "Confirm." in printed:
                    reader.stdin.write("reject\n")
                if printed.startswith("Ended."):
                    reader.stdin.write("quit\n")
        while "elsewhere" not in (printed := heard.readline()):
            assert printed
        typed.write("quit\n")
        assert process.wait(LONG) == 0
    assert not (tmp_path / "work" / "RAN").exists()


def test_sessions_are_listed_and_resumed(tmp_path: Path) -> None:
    environment = install(tmp_path, [say("Going on.")])
    assert run(environment, tmp_path, "goose", "--sessions").stdout == "s-1: Fix the, 2026-11-01\n"
    with lines(environment, tmp_path, "--resume", "s-1") as (typed, heard, process):
        said = converse(typed, heard, [("Connected", "go"), ("Done.", "quit")])
        assert process.wait(LONG) == 0
    assert "| goose: Going on." in said
    assert '"session/load"' in (tmp_path / "log").read_text()


def test_the_list_says_what_is_installed_and_what_is_needed(tmp_path: Path) -> None:
    told = run(install(tmp_path), tmp_path, "--list").stdout
    assert "goose: goose, installed." in told and "Get it with: npm install -g opencode-ai" in told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name one agent"),
        (["nobody"], "nobody is none of the agents"),
        (["--command", "no-such-agent acp"], "no-such-agent was not found"),
        (["gemini", "--", "--yolo"], "would not ask before it acts"),
        (["goose", "--mode", "auto"], "acts without asking"),
        (["goose", "--listen", "http://0.0.0.0:0"], "can be reached from other machines"),
    ],
)
def test_what_cannot_begin_says_why_in_one_line(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = run(install(tmp_path), tmp_path, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1


def test_files_are_found_that_a_text_names(tmp_path: Path) -> None:
    for name in ("a.py", "two words.txt"):
        (tmp_path / name).touch()
    text = 'See @a.py, @"two words.txt" and @a.py; but @dataclass and me@a.py are none.'
    assert find_mentions(text, tmp_path) == (["a.py", "two words.txt"], ["dataclass"])


# -- at a real terminal ------------------------------------------------------------------------------


class Keys:
    """Somebody at a terminal."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.seen = ""
        self.process, self._keys = pty.fork()
        if self.process == 0:
            os.chdir(folder / "work")
            os.execve(AAEP, [AAEP, "code", "goose"], environment)

    def see(self, text: str) -> None:
        deadline = time.monotonic() + LONG
        while text not in self.seen:
            assert select.select([self._keys], [], [], max(0.0, deadline - time.monotonic()))[0], self.seen
            try:
                self.seen += os.read(self._keys, 65_536).decode().replace("\r\n", "\n")
            except OSError:
                assert text in self.seen, self.seen
        self.seen = self.seen.partition(text)[2]

    def press(self, keys: str) -> None:
        os.write(self._keys, keys.encode())

    def end(self) -> int:
        status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        os.close(self._keys)
        return status


def test_with_keys_a_prompt_is_written_and_control_c_stops_the_turn_and_then_the_command(tmp_path: Path) -> None:
    keys = Keys(install(tmp_path, [say("I will try. "), {"hang": True}]), tmp_path)
    keys.see("Connected to goose.")
    keys.press("p")
    keys.see("Write to the agent.")
    keys.press("try it\n")
    keys.see("I will try.")
    os.kill(keys.process, signal.SIGINT)
    keys.see("Stopping. Press Control-C again to end.")
    keys.see("Stopped.")
    os.kill(keys.process, signal.SIGINT)
    keys.see("Press Control-C again to end.")
    os.kill(keys.process, signal.SIGINT)
    assert keys.end() == 130
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert not Path(f"/proc/{log[0]['pid']}").exists()
