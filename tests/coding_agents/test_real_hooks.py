"""Real coding agents with our hooks and a scripted model: what was refused is not done, also when our program fails."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aaep.cli._hook_settings import AGENT_HOOKS
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation
from aaep.testing import Listener
from tests.adapters.hooking import SOURCE, Daemon, Machine, break_daemon, daemon, machine
from tests.adapters.test_hooks import check_recorded
from tests.coding_agents.real import FREE, PROPRIETARY, find_node, find_program
from tests.coding_agents.scripted_model import CLOSING_WORDS, LYING_WORDS, NewFile, ScriptedModel

TIMEOUT = 120  # seconds for a whole run, on a busy machine
UNASKED = "It did this without asking."
PREPARE = {real.name: real for real in (*FREE, *PROPRIETARY)}


class Printing(NamedTuple):
    """How an agent is started without a window, to do one thing and end."""

    name: str
    program: tuple[str, ...]  # where npm puts it
    arguments: tuple[str, ...]
    node: bool = False  # whether it is a script


CLAUDE = Printing("claude", ("@anthropic-ai", "claude-code-*", "claude"), ("-p",))
COPILOT = Printing("copilot", ("@github", "copilot-*", "copilot"), ("-p",))
# These two cannot be held back by hooks, so they run without any question.
CODEX = Printing(
    "codex",
    ("@openai", "codex-*", "vendor", "*", "bin", "codex"),
    ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access"),
)
GEMINI = Printing("gemini", ("@google", "gemini-cli", "bundle", "gemini.js"), ("--approval-mode", "yolo", "-p"), True)
gating = pytest.mark.parametrize(
    "agent", [pytest.param(agent, marks=pytest.mark.proprietary_agents, id=agent.name) for agent in (CLAUDE, COPILOT)]
)
telling = pytest.mark.parametrize(
    "agent", [pytest.param(agent, marks=pytest.mark.real_agents, id=agent.name) for agent in (CODEX, GEMINI)]
)


class Run:
    """An agent in a home of its own, in which our hooks were installed as a person does."""

    def __init__(self, host: Machine, running: Daemon, agent: Printing) -> None:
        self.host = host
        self.running = running
        self.agent = agent
        self.folder = host.folder / "work"
        self.folder.mkdir()

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def listen(self, answer: Any = "silence") -> Listener:
        return Listener(self.running.producer, answer)

    def work(self, *wanted: str | NewFile) -> None:
        """Install the hooks, and have the agent do what is wanted."""
        with ScriptedModel(wanted) as model:
            environment = PREPARE[self.agent.name].build_environment(self.host.folder / "home", model.address)
            self._install(environment)
            environment["XDG_RUNTIME_DIR"] = str(self.host.folder)
            environment["PYTHONPATH"] = self.host.environment["PYTHONPATH"]
            program = find_program(*self.agent.program)
            assert program is not None, "it is not installed: run scripts/coding_agents"
            launcher = [str(find_node())] if self.agent.node else []
            subprocess.run(
                [*launcher, str(program), *self.agent.arguments, "Make a file."],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
                check=True,
            )
            assert model.unknown_paths == []

    def _install(self, environment: dict[str, str]) -> None:
        for verb in ("install", "check"):
            command = [sys.executable, "-m", "aaep", "hooks", self.agent.name, verb]
            subprocess.run(
                command,
                env={**environment, "PYTHONPATH": str(SOURCE)},
                cwd=self.folder,
                capture_output=True,
                timeout=TIMEOUT,
                check=True,
            )
        assert (self.host.folder / "home" / AGENT_HOOKS[self.agent.name].settings).exists()


@contextmanager
def prepared(agent: Printing) -> Iterator[Run]:
    with machine() as host:
        break_daemon(host)  # so that hooks start no other when this one is gone
        with daemon(host) as running:
            yield Run(host, running, agent)


def answer_by_name(prompt: AwaitingConfirmation) -> str:
    """Refuse what has REFUSED in it, and accept the rest."""
    return "reject" if "REFUSED" in prompt.action else "accept"


@gating
def test_what_was_accepted_is_done_and_what_was_refused_is_not(tmp_path: Path, agent: Printing) -> None:
    with prepared(agent) as run:
        files = [NewFile(str(run.folder / name), "hello\nworld\n") for name in ("WRITTEN", "REFUSED-FILE")]
        listener = run.listen(answer_by_name)
        run.work("touch RAN", "touch REFUSED", *files)
        listener.wait_for_end()
        assert run.has("RAN") and not run.has("REFUSED")
        assert (run.folder / "WRITTEN").read_text() == "hello\nworld\n" and not run.has("REFUSED-FILE")
        asked = [prompt.action for prompt in listener.prompts if isinstance(prompt, AwaitingConfirmation)]
        assert asked[:2] == ["Run “touch RAN”.", "Run “touch REFUSED”."]
        for action, name in zip(asked[2:], ("WRITTEN", "REFUSED-FILE"), strict=True):
            assert name in action and "2 lines" in action and "hello\nworld" in action
        assert len(listener.tools) == 2  # what was refused is not told as if it had begun
        told = " ".join(listener.heard)
        assert told.count(": done.") == 2
        assert UNASKED not in told and LYING_WORDS not in told
        check_recorded(listener, tmp_path)


@gating
@pytest.mark.parametrize("is_refused", [False, True])
def test_a_long_file_is_there_only_after_all_its_parts_were_told(
    tmp_path: Path, agent: Printing, is_refused: bool
) -> None:
    text = "".join(f"line {number} of a file that does not fit into one question\n" for number in range(1000))

    def go_on(prompt: AwaitingConfirmation | AwaitingClarification) -> bool | str:
        if isinstance(prompt, AwaitingConfirmation):
            return "accept"
        return not (is_refused and prompt.question.startswith("Part 3 "))

    with prepared(agent) as run:
        listener = run.listen(go_on)
        run.work(NewFile(str(run.folder / "LONG"), text))
        listener.wait_for_end()
        assert len(text) > 50_000
        assert isinstance(listener.prompts[-1], AwaitingClarification) is is_refused
        assert run.has("LONG") is not is_refused
        assert is_refused or (run.folder / "LONG").read_text() == text
        check_recorded(listener, tmp_path)


@gating
def test_a_daemon_that_is_killed_while_it_asks_allows_nothing(agent: Printing) -> None:
    """Then the agent's own rule asks, and nobody is there who could answer."""
    with prepared(agent) as run:
        stopping: list[threading.Thread] = []

        def kill_daemon(prompt: AwaitingConfirmation) -> str:
            stopping.append(threading.Thread(target=run.running.stop))
            stopping[0].start()
            return "silence"

        run.listen(kill_daemon)
        run.work("touch RAN")
        (thread,) = stopping
        thread.join(TIMEOUT)
        assert not run.has("RAN")


@gating
def test_without_a_daemon_nothing_is_done(agent: Printing) -> None:
    with prepared(agent) as run:
        run.running.stop()
        run.work("touch RAN")
        assert not run.has("RAN")


@telling
def test_hooks_that_only_tell_tell_what_was_done_without_asking(tmp_path: Path, agent: Printing) -> None:
    with prepared(agent) as run:
        listener = run.listen()
        run.work("touch RAN")
        listener.wait_for_end()
        assert run.has("RAN") and listener.prompts == [] and listener.tools == []
        assert UNASKED in listener.output and "touch RAN" in listener.output
        assert LYING_WORDS not in " ".join(listener.heard)
        assert CLOSING_WORDS in listener.output
        check_recorded(listener, tmp_path)
