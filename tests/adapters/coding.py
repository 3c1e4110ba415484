"""A coding agent that plays a script, its bridge, and a listener who answers: what the tests of the adapter share."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aaep.adapters.acp import CodingAgent, TurnResult
from aaep.adapters.acp_agents import AGENTS, KnownAgent
from aaep.cli.validate import main as validate
from aaep.presentation.announce import Announcement
from aaep.producer.producer import Producer
from aaep.protocol.events import TERMINAL, AwaitingConfirmation
from aaep.testing import Listener

FAKE = Path(__file__).with_name("fake_acp_agent.py")
RECORDINGS = sorted(Path(__file__).with_name("recordings").glob("*.json"))
OPTIONS = [
    {"optionId": "ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "never", "name": "Never", "kind": "reject_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
NEW = {"sessionId": "{session}", "modes": {"currentModeId": "default", "availableModes": [{"id": "default"}]}}


def say(text: str) -> dict[str, Any]:
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}


def call(ident: str = "call_1", **members: Any) -> dict[str, Any]:
    return {"update": {"sessionUpdate": "tool_call", "toolCallId": ident, **members}}


def ended(ident: str = "call_1", status: str = "completed", **members: Any) -> dict[str, Any]:
    return {"update": {"sessionUpdate": "tool_call_update", "toolCallId": ident, "status": status, **members}}


def ask(ident: str = "call_1", *, options: Any = None, run: str = "RAN", **members: Any) -> dict[str, Any]:
    """A permission request for ``touch RAN``, unless something else is given."""
    tool = {"kind": "execute", "rawInput": {"command": "touch RAN"}, "title": "touch RAN", **members}
    return {
        "ask": {"toolCall": {"toolCallId": ident, **tool}, "options": OPTIONS if options is None else options},
        "run": run,
        "allowed": [ended(ident)],
        "refused": [ended(ident, "failed")],
    }


class Stage:
    """A fake agent, started by a real bridge, and what came of it."""

    def __init__(
        self,
        folder: Path,
        *turns: list[dict[str, Any]],
        answer: Any = "accept",
        agent: KnownAgent | None = None,
        script: dict[str, Any] | None = None,
        on_announcement: Callable[[Announcement], object] | None = None,
        **options: Any,
    ) -> None:
        self.folder = folder / "work"
        self.folder.mkdir(exist_ok=True)
        self.log_path = folder / "log.jsonl"
        self.script_path = folder / "script.json"
        told = {"initialize": {"protocolVersion": 1}, "new": NEW, "turns": [*turns], **(script or {})}
        self.script_path.write_text(json.dumps(told))
        known = agent or KnownAgent(name="fake", title="Fake", command=("fake",), mode="default")
        command = (sys.executable, str(FAKE), str(self.script_path), str(self.log_path))
        self.producer = Producer("coding", name="Fake", journal=None)
        self.producer.start()
        self.listener = Listener(self.producer, answer, on_announcement=on_announcement)
        self.prompts_sent = 0
        self.is_heard = True
        self.agent = CodingAgent(self.producer, replace(known, command=command), cwd=self.folder, **options)

    def prompt(self, text: str = "Go.") -> TurnResult:
        """Play a turn, and return when its end was heard."""
        self.prompts_sent += 1
        result = self.agent.prompt(text)
        if self.is_heard:
            self.listener.wait(
                lambda _: sum(isinstance(event, TERMINAL) for event in self.listener.events) >= self.prompts_sent
            )
        return result

    def leave(self) -> None:
        """Have the listener leave."""
        self.is_heard = False
        self.listener.close()

    def close(self) -> None:
        self.agent.close()
        self.producer.close()

    def has_run(self, name: str = "RAN") -> int:
        """How often the agent did what it asked for."""
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    @property
    def action(self) -> str:
        """What the only prompt asked."""
        (prompt,) = self.listener.prompts
        assert isinstance(prompt, AwaitingConfirmation)
        return prompt.action

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    @property
    def received(self) -> list[dict[str, Any]]:
        return [entry["received"] for entry in self.log if "received" in entry]

    def answers(self) -> list[dict[str, Any]]:
        """What was answered to the agent's requests, in order."""
        return [message for message in self.received if "method" not in message]

    def methods(self) -> list[str]:
        return [message["method"] for message in self.received if "method" in message]

    def check(self) -> None:
        """What was told obeys every rule, also as a recording."""
        path = self.log_path.with_name("capture.jsonl")
        self.listener.write_capture(path)
        with pytest.raises(SystemExit) as left:
            validate(["--strict", str(path)])
        assert left.value.code in (0, None)


@contextmanager
def staged(folder: Path, *turns: list[dict[str, Any]], start: bool = True, **options: Any) -> Iterator[Stage]:
    stage = Stage(folder, *turns, **options)
    try:
        if start:
            stage.agent.start()
        yield stage
    finally:
        stage.close()


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Run a function in a thread; the list has what it returned."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()
    return thread, results


def load_recording(path: Path) -> tuple[KnownAgent, dict[str, Any], list[dict[str, Any]]]:
    """Return the agent of a recording, its script, and its turn, as it was seen with the real agent."""
    recording = json.loads(path.read_text().replace("{call}", "call_recorded"))
    *before, request = recording["before"]
    steps: list[dict[str, Any]] = [{"message": message} for message in before]
    after = {
        name: [
            {"stop": message["result"]["stopReason"]} if "result" in message else {"message": message}
            for message in recording[name]
        ]
        for name in ("allowed", "refused")
    }
    steps.append({"ask": request["params"], "id": request["id"], "run": "RAN", **after})
    script: dict[str, Any] = {"initialize": recording["initialize"], "new": recording["new"]}
    if recording["needs_login"]:
        script["errors"] = {"session/new": {"message": "Authentication required"}}
    return AGENTS[recording["agent"]], script, steps
