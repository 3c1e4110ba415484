"""
What the bridge to a coding agent costs: time added to a prompt's first word, per tool call, and per kB of output.

The agent is the scripted one of the tests, a program of its own. It is driven alone, by a client that does nothing but
read lines and say yes, and through the bridge with a listener in the same process, who says yes too. The two take
turns; the best of a few rounds counts. The first word is timed when a person would begin to hear its sentence, so
it includes what the bridge waits for to have a whole one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from aaep.presentation.announce import Announcement
from aaep.protocol.events import OutputStreaming
from tests.adapters.coding import FAKE, NEW, ask, say, staged

ROUNDS = 5
TOOL_CALLS = 50
CHUNKS = 2000
SENTENCE = "The balance of savings and checking is higher now. "  # one chunk of output
MAX_FIRST_WORD = 100.0  # milliseconds added
MAX_TOOL_CALL = 50.0  # milliseconds added to each
MAX_OUTPUT = 50.0  # milliseconds added to each kB, which a model takes some seconds for

FIRST_WORD = [say(SENTENCE), say(SENTENCE)]
TOOLS = [ask(f"call_{number}", rawInput={"command": f"touch file-{number}"}) for number in range(TOOL_CALLS)]
OUTPUT = [say(SENTENCE) for _ in range(CHUNKS)]


class Times(NamedTuple):
    """Seconds from a prompt until its first word and its end."""

    first_word: float
    end: float


class BareClient:
    """A client that reads lines and says yes, and nothing else."""

    def __init__(self, folder: Path, steps: list[dict[str, Any]]) -> None:
        script = folder / "script.json"
        script.write_text(json.dumps({"initialize": {"protocolVersion": 1}, "new": NEW, "turns": [steps]}))
        self._process = subprocess.Popen(
            [sys.executable, str(FAKE), str(script), str(folder / "log.jsonl")],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def prompt(self) -> Times:
        """Send the prompt, and return how long it took."""
        for number, name in enumerate(("initialize", "session/new")):
            self._send({"id": number, "method": name, "params": {}})
            while self._read().get("id") != number:
                pass
        start = time.perf_counter()
        first_word: float | None = None
        self._send({"id": 9, "method": "session/prompt", "params": {}})
        while True:
            message = self._read()
            method = message.get("method")
            if method == "session/update" and first_word is None:
                if message["params"]["update"]["sessionUpdate"] == "agent_message_chunk":
                    first_word = time.perf_counter() - start
            elif method == "session/request_permission":
                outcome = {"outcome": "selected", "optionId": "yes"}
                self._send({"id": message["id"], "result": {"outcome": outcome}})
            elif method is None:
                end = time.perf_counter() - start
                return Times(end if first_word is None else first_word, end)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        message: dict[str, Any] = json.loads(self._process.stdout.readline())
        return message

    def close(self) -> None:
        """End the agent."""
        self._process.kill()
        self._process.communicate()


def drive_alone(folder: Path, steps: list[dict[str, Any]]) -> Times:
    """Drive the agent without us."""
    client = BareClient(folder, steps)
    try:
        return client.prompt()
    finally:
        client.close()


def drive_bridged(folder: Path, steps: list[dict[str, Any]]) -> Times:
    """Drive the agent through the bridge, until the listener has heard the end."""
    heard: list[float] = []
    lock = threading.Lock()

    def note(announcement: Announcement) -> None:
        if isinstance(announcement.event, OutputStreaming):
            with lock:
                heard.append(time.perf_counter())

    with staged(folder, steps, on_announcement=note) as stage:
        start = time.perf_counter()
        result = stage.agent.prompt("Go.")
        stage.listener.wait_for_end()
        end = time.perf_counter() - start
    if not result.is_done or result.refusals:
        raise SystemExit(f"The turn ended so: {result}.")
    return Times(heard[0] - start if heard else end, end)


def measure(steps: list[dict[str, Any]]) -> tuple[Times, Times]:
    """Return the best times alone and bridged, which take turns."""
    ways: tuple[Callable[[Path, list[dict[str, Any]]], Times], ...] = (drive_alone, drive_bridged)
    results: list[list[Times]] = [[], []]
    for _ in range(ROUNDS):
        for found, drive in zip(results, ways, strict=True):
            with tempfile.TemporaryDirectory() as folder:
                found.append(drive(Path(folder), steps))
    alone, bridged = (Times(min(one.first_word for one in found), min(one.end for one in found)) for found in results)
    return alone, bridged


def main() -> int:
    """Print the three differences, and return 1 if one is too large."""
    first_alone, first_bridged = measure(FIRST_WORD)
    tools_alone, tools_bridged = measure(TOOLS)
    output_alone, output_bridged = measure(OUTPUT)
    kilobytes = len(SENTENCE) * CHUNKS / 1000
    rows = [
        ("First word of a prompt", first_alone.first_word, first_bridged.first_word, 1.0, MAX_FIRST_WORD),
        ("Tool call, with its question", tools_alone.end, tools_bridged.end, float(TOOL_CALLS), MAX_TOOL_CALL),
        ("kB of output", output_alone.end, output_bridged.end, kilobytes, MAX_OUTPUT),
    ]
    has_missed = False
    for name, alone, bridged, count, limit in rows:
        each_alone, each_bridged = alone / count * 1000, bridged / count * 1000
        added = each_bridged - each_alone
        verdict = "" if added <= limit else f" This is more than {limit:g}."
        has_missed = has_missed or bool(verdict)
        print(
            f"{name}: {added:.2f} milliseconds added. "
            f"Alone {each_alone:.2f}, bridged {each_bridged:.2f}, {each_bridged / each_alone:.1f} times.{verdict}"
        )
    return 1 if has_missed else 0


if __name__ == "__main__":
    sys.exit(main())
