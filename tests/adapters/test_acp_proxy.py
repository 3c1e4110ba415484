"""``aaep acp-proxy`` between an editor and an agent, all of them programs: the first answer counts."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from aaep.protocol.audit import Finding
from aaep.protocol.events import (
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    SessionCancelled,
    SessionCompleted,
    SessionErrored,
    ToolInvoked,
)
from aaep.subscriber.subscriber import Subscriber
from tests.adapters.coding import FAKE, NEW, OPTIONS, ask, ended, say

ROOT = Path(__file__).parent.parent.parent
LONG = 60.0
PROMPT_ID = "prompt-1"
Steps = list[dict[str, Any]]


def outcome(option: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option}}


def build_command(
    folder: Path, *steps: Steps, options: tuple[str, ...] = ("--listen", "http://127.0.0.1:0")
) -> list[str]:
    script = {"initialize": {"protocolVersion": 1}, "new": NEW, "turns": [*steps]}
    (folder / "script.json").write_text(json.dumps(script))
    agent = [sys.executable, str(FAKE), str(folder / "script.json"), str(folder / "log")]
    return [sys.executable, "-m", "aaep", "acp-proxy", *options, "--", *agent]


class Editor:
    """An editor: it talks to the proxy over pipes, and keeps what it gets."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.messages: list[dict[str, Any]] = []
        self.log_path = folder / "log"
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        self._watchdog = threading.Timer(LONG, self.process.kill)
        self._watchdog.start()

    def read_address(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode().split()[-1]

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def read_line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def wait_for(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read until a message is there that is wanted."""
        while True:
            line = self.read_line()
            assert line, "the proxy has ended"
            self.messages.append(json.loads(line))
            if is_wanted(self.messages[-1]):
                return self.messages[-1]

    def wait_for_method(self, method: str) -> dict[str, Any]:
        return self.wait_for(lambda message: message.get("method") == method)

    def wait_for_end(self) -> str:
        """Return the reason for which the turn has stopped."""
        return str(self.wait_for(lambda message: message.get("id") == PROMPT_ID)["result"]["stopReason"])

    def prompt(self) -> None:
        for number, (method, params) in enumerate(
            (("initialize", {"protocolVersion": 1}), ("session/new", {"cwd": str(self.folder), "mcpServers": []}))
        ):
            self.send({"id": number, "method": method, "params": params})
            self.wait_for(lambda message, number=number: message.get("id") == number)  # type: ignore[misc]
        text = {"type": "text", "text": "Go."}
        self.send({"id": PROMPT_ID, "method": "session/prompt", "params": {"sessionId": "s-1", "prompt": [text]}})

    def answers(self) -> list[dict[str, Any]]:
        """What the agent was answered, by anybody."""
        entries = [json.loads(line) for line in self.log_path.read_text().splitlines()]
        received = [entry["received"] for entry in entries if "received" in entry]
        return [message for message in received if "method" not in message]

    def has_run(self, name: str = "RAN") -> bool:
        return (self.folder / name).exists()

    def close(self) -> int:
        """Leave, and return the status of the proxy."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        status = self.process.wait(LONG)
        self.kill()
        return status

    def kill(self) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


class Reader:
    """A person who listens, and answers when the test says so."""

    def __init__(self, address: str) -> None:
        self.subscriber = Subscriber(address, name="A test", replies=True, reconnect=False)
        self.events: list[Envelope] = []
        self._arrived: SimpleQueue[Envelope | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        self.subscriber.ready().wait(LONG)

    def _read(self) -> None:
        try:
            for event in self.subscriber:
                self._arrived.put(event)
        finally:
            self._arrived.put(None)

    def wait_for(self, *kinds: type[Envelope]) -> Any:
        """Return the next event of one of these types."""
        while True:
            event = self._arrived.get(timeout=LONG)
            assert event is not None, "the agent has ended"
            self.events.append(event)
            if isinstance(event, kinds):
                return event

    @property
    def output(self) -> str:
        return "".join(event.chunk for event in self.events if isinstance(event, OutputStreaming))

    @property
    def errors(self) -> list[Finding]:
        """Where what was told breaks a rule."""
        return [finding for finding in self.subscriber.findings if finding.severity == "error"]

    @property
    def tools(self) -> list[ToolInvoked]:
        return [event for event in self.events if isinstance(event, ToolInvoked)]

    def close(self) -> None:
        self.subscriber.close().wait(LONG)
        self._thread.join(LONG)


@contextmanager
def joined(folder: Path, *steps: Steps) -> Iterator[tuple[Editor, Reader]]:
    """An editor that has sent its prompt, and a reader who has joined before that."""
    editor = Editor(build_command(folder, *steps), folder)
    try:
        reader = Reader(editor.read_address())
        try:
            editor.prompt()
            yield editor, reader
        finally:
            reader.close()
    finally:
        editor.kill()


# -- the first answer ----------------------------------------------------------------------------


@pytest.mark.parametrize("request_id", [0, "98231c9d-43b5"], ids=["a number", "a text"])
@pytest.mark.parametrize(("decision", "option"), [("accept", "yes"), ("reject", "no")])
def test_a_reader_who_is_first_decides_and_the_editor_asks_no_more(
    tmp_path: Path, decision: str, option: str, request_id: Any
) -> None:
    with joined(tmp_path, [{**ask(), "id": request_id}, say("The end.")]) as (editor, reader):
        assert editor.wait_for_method("session/request_permission")["id"] == request_id
        prompt = reader.wait_for(AwaitingConfirmation)
        assert "touch RAN" in prompt.action
        getattr(reader.subscriber, decision)(prompt).wait(LONG)
        assert editor.wait_for_method("$/cancel_request")["params"] == {"requestId": request_id}
        # As editors answer what was cancelled, or a person who was a moment too late.
        editor.send({"id": request_id, "result": outcome("no" if option == "yes" else "yes")})
        assert editor.wait_for_end() == "end_turn"
        reader.wait_for(SessionCompleted)
        assert [answer["result"] for answer in editor.answers()] == [outcome(option)]
        assert editor.has_run() is (option == "yes")
        assert len(reader.tools) == (option == "yes")
        assert reader.errors == []


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (outcome("yes"), "Allowed in the editor."),
        (outcome("ever"), "Allowed in the editor."),
        (outcome("no"), "Refused in the editor."),
        ({"outcome": {"outcome": "cancelled"}}, "Refused in the editor."),
    ],
    ids=["once", "always", "no", "cancelled"],
)
def test_an_editor_that_is_first_decides_and_the_reader_is_asked_no_more(
    tmp_path: Path, result: dict[str, Any], sentence: str
) -> None:
    with joined(tmp_path, [ask(), say("The end.")]) as (editor, reader):
        request = editor.wait_for_method("session/request_permission")
        prompt = reader.wait_for(AwaitingConfirmation)
        editor.send({"id": request["id"], "result": result})
        assert editor.wait_for_end() == "end_turn"
        reader.wait_for(SessionCompleted)
        assert reader.subscriber.prompts == () and prompt not in reader.subscriber.prompts
        assert [answer["result"] for answer in editor.answers()] == [result]
        assert sentence in reader.output
        assert editor.has_run() is sentence.startswith("Allowed")
        assert "without asking" not in reader.output
        assert reader.tools == []  # nobody here said yes to it
        assert not any(message.get("method") == "$/cancel_request" for message in editor.messages)
        assert reader.errors == []


def test_two_requests_at_once_are_each_answered_where_somebody_was_first(tmp_path: Path) -> None:
    both = [
        {**ask("call_1", rawInput={"command": "touch ONE"}, run="ONE"), "id": 1},
        {**ask("call_2", rawInput={"command": "touch TWO"}, run="TWO"), "id": "1"},
    ]
    with joined(tmp_path, [{"ask_all": both}]) as (editor, reader):
        for _ in both:
            editor.wait_for_method("session/request_permission")
        prompt = reader.wait_for(AwaitingConfirmation)
        assert "touch ONE" in prompt.action
        editor.send({"id": "1", "result": outcome("no")})
        reader.subscriber.accept(prompt).wait(LONG)
        assert editor.wait_for_method("$/cancel_request")["params"] == {"requestId": 1}
        assert editor.wait_for_end() == "end_turn"
        reader.wait_for(SessionCompleted)
        results = {json.dumps(answer["id"]): answer["result"] for answer in editor.answers()}
        assert results == {"1": outcome("yes"), '"1"': outcome("no")}
        assert editor.has_run("ONE") and not editor.has_run("TWO")


def test_what_the_agent_asks_no_longer_cannot_be_allowed_by_a_reader(tmp_path: Path) -> None:
    withdrawal = {"message": {"method": "$/cancel_request", "params": {"requestId": 7}}}
    asked = {**ask(), "id": 7}
    with joined(tmp_path, [{"ask_all": [asked], "then": [withdrawal]}]) as (editor, reader):
        editor.wait_for_method("$/cancel_request")
        editor.send({"id": 7, "result": {"outcome": {"outcome": "cancelled"}}})
        assert editor.wait_for_end() == "end_turn"
        reader.wait_for(SessionCompleted)
        assert reader.subscriber.prompts == ()
        assert not editor.has_run()


def test_readers_at_a_hub_are_asked_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aaep", "serve", "--journal", "memory"]
    addresses = ["--listen", "http://127.0.0.1:0", "--listen", "ws://127.0.0.1:0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [*command, *addresses], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as hub:
        try:
            assert hub.stderr is not None
            door, way = (hub.stderr.readline().split()[-1] for _ in range(2))
            reader = Reader(door)
            editor = Editor(build_command(tmp_path, [ask()], options=("--hub", way)), tmp_path)
            try:
                editor.prompt()
                prompt = reader.wait_for(AwaitingConfirmation)
                reader.subscriber.accept(prompt).wait(LONG)
                assert editor.wait_for_end() == "end_turn"
                assert editor.has_run()
            finally:
                editor.kill()
                reader.close()
        finally:
            hub.kill()


def test_a_hub_that_is_not_there_leaves_the_editor_its_agent(tmp_path: Path) -> None:
    options = ("--hub", f"unix://{tmp_path}/no-hub.sock")
    editor = Editor(build_command(tmp_path, [ask()], options=options), tmp_path)
    try:
        editor.prompt()
        request = editor.wait_for_method("session/request_permission")
        editor.send({"id": request["id"], "result": outcome("yes")})
        assert editor.wait_for_end() == "end_turn"
        assert editor.has_run()
        assert editor.close() == 0
    finally:
        editor.kill()


# -- where a reader cannot answer ------------------------------------------------------------------


@pytest.mark.parametrize(("option", "has_run"), [("yes", True), ("no", False)])
def test_where_nobody_listens_the_editor_decides_alone(tmp_path: Path, option: str, has_run: bool) -> None:
    editor = Editor(build_command(tmp_path, [ask()]), tmp_path)
    try:
        editor.prompt()
        request = editor.wait_for_method("session/request_permission")
        editor.send({"id": request["id"], "result": outcome(option)})
        assert editor.wait_for_end() == "end_turn"
        assert editor.has_run() is has_run
        assert [answer["result"] for answer in editor.answers()] == [outcome(option)]
        assert editor.close() == 0
    finally:
        editor.kill()


@pytest.mark.parametrize(
    "asked",
    [
        ask(rawInput={"command": "echo " + "x " * 600_000}),
        ask(options=[option for option in OPTIONS if option["kind"] != "allow_once"]),
    ],
    ids=["too long", "nothing to allow once"],
)
def test_what_cannot_be_asked_by_ear_is_left_to_the_editor(tmp_path: Path, asked: dict[str, Any]) -> None:
    with joined(tmp_path, [asked]) as (editor, reader):
        request = editor.wait_for_method("session/request_permission")
        while "in the editor only" not in reader.output:
            reader.wait_for(OutputStreaming)
        editor.send({"id": request["id"], "result": outcome("ever")})
        assert editor.wait_for_end() == "end_turn"
        assert editor.has_run()


def test_an_address_that_is_taken_leaves_the_editor_its_agent(tmp_path: Path) -> None:
    other = Editor(build_command(tmp_path, [ask()]), tmp_path)
    try:
        folder = tmp_path / "second"
        folder.mkdir()
        editor = Editor(build_command(folder, [ask()], options=("--listen", other.read_address())), folder)
        try:
            assert editor.process.stderr is not None
            assert b"Nobody can listen, so the editor decides alone." in editor.process.stderr.readline()
            editor.prompt()
            request = editor.wait_for_method("session/request_permission")
            editor.send({"id": request["id"], "result": outcome("yes")})
            assert editor.wait_for_end() == "end_turn"
            assert editor.has_run()
        finally:
            editor.kill()
    finally:
        other.kill()


def test_what_ran_unasked_is_told_and_the_turn_goes_on(tmp_path: Path) -> None:
    with joined(
        tmp_path, [{"run": "RAN"}, ended(kind="execute", rawInput={"command": "touch RAN"}), say("The end.")]
    ) as (editor, reader):
        assert editor.wait_for_end() == "end_turn"
        reader.wait_for(SessionCompleted)
        assert "It did this without asking: Run “touch RAN”." in reader.output
        assert "The end." in reader.output


# -- everything passes -----------------------------------------------------------------------------


def test_every_byte_passes_in_both_directions(tmp_path: Path) -> None:
    """The agent is ``cat``, which gives back what it gets."""
    lines = [
        b'{ "jsonrpc":"2.0" ,"method":"_unknown/thing","params":{"n":1.50,"u":"\\u00e9\\ud83d"}}\n',
        b"Debugger attached.\r\n",
        b'{"id": 1e2, "method": null}\n',
        b"\n",
        b"\xff\xfe not utf-8\n",
        b'{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":[]}\n',
        b'{"x":"' + b"y" * 800_000 + b'"}\n',
        b"[" * 100_000 + b"\n",
        b"a last line without an end",
    ]
    command = [sys.executable, "-m", "aaep", "acp-proxy", "--listen", "http://127.0.0.1:0", "--", "cat"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        command, input=b"".join(lines), capture_output=True, check=False, timeout=LONG, env=environment, cwd=tmp_path
    )
    assert done.stdout == b"".join(lines)
    assert done.returncode == 0


# -- death -------------------------------------------------------------------------------------------


def test_an_agent_that_dies_takes_its_question_with_it_and_its_status_is_ours(tmp_path: Path) -> None:
    with joined(tmp_path, [{"ask_all": [ask()], "then": [{"wait": "_go"}, {"die": 3}]}]) as (editor, reader):
        editor.wait_for_method("session/request_permission")
        reader.wait_for(AwaitingConfirmation)
        editor.send({"method": "_go", "id": 99})
        reader.wait_for(SessionErrored)
        assert reader.subscriber.prompts == ()
        assert editor.process.wait(LONG) == 3
        assert not editor.has_run()


def test_an_editor_that_leaves_takes_the_question_with_it_and_nothing_runs(tmp_path: Path) -> None:
    with joined(tmp_path, [ask()]) as (editor, reader):
        editor.wait_for_method("session/request_permission")
        reader.wait_for(AwaitingConfirmation)
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        reader.wait_for(SessionCancelled)
        assert reader.subscriber.prompts == ()
        assert editor.process.wait(LONG) == 0
        assert not editor.has_run()


EDITOR = """
import json, subprocess, sys
from pathlib import Path
from tests.adapters.test_acp_proxy import Editor

editor = Editor(json.loads(sys.argv[1]), Path(sys.argv[2]))
editor.prompt()
editor.wait_for_method("session/request_permission")
print(editor.process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_killed_editor_leaves_no_agent_behind(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        textwrap.dedent(EDITOR),
        json.dumps(build_command(tmp_path, [ask()])),
        str(tmp_path),
    ]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as editor:
        assert editor.stdout is not None
        proxy = int(editor.stdout.readline())
        agent = json.loads((tmp_path / "log").read_text().splitlines()[0])["pid"]
        watched = [os.pidfd_open(pid) for pid in (proxy, agent)]
        editor.kill()
        for descriptor in watched:
            assert select.select([descriptor], [], [], LONG)[0], "the process has ended"
            os.close(descriptor)
    assert not (tmp_path / "work" / "RAN").exists()


def test_a_reader_who_stops_the_session_stops_the_agent(tmp_path: Path) -> None:
    with joined(tmp_path, [say("At work. "), {"hang": True}]) as (editor, reader):
        started = reader.wait_for(Envelope)
        reader.subscriber.stop(started.session_id).wait(LONG)
        assert editor.wait_for_end() == "cancelled"


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aaep", "acp-proxy", "--listen", "http://127.0.0.1:0", "--", "no-such-program"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LONG, env=environment
    )
    assert done.returncode == 2
    assert "no-such-program was not found." in done.stderr
