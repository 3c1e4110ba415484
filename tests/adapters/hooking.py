"""A daemon for hooks in the process of a test, and the hook program as an agent starts it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aaep
from aaep.adapters import hook_program
from aaep.adapters.hooks import HookServer
from aaep.transports.unix.paths import open_listening_socket

PROGRAM = [sys.executable, "-I", "-S", str(Path(hook_program.__file__))]
SOURCE = Path(aaep.__file__).parent.parent

ALLOW = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
SESSION = {"session_id": "5b1f", "cwd": "/home/ada/shop", "transcript_path": "/home/ada/t.jsonl", "prompt_id": "p1"}
TOUCH = {"command": "touch RAN", "description": "List the files"}


def deny(message: str) -> dict[str, Any]:
    decision = {"behavior": "deny", "message": message}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def claude(event: str, **members: Any) -> dict[str, Any]:
    """The input of a hook of Claude Code."""
    return {**SESSION, "hook_event_name": event, "permission_mode": "default", **members}


def permission(tool: str = "Bash", given: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    return claude(
        "PermissionRequest",
        tool_name=tool,
        tool_input=TOUCH if given is None else given,
        permission_suggestions=[{"type": "addRules"}],
        **members,
    )


class Machine:
    """Where hooks and their daemon run: a runtime folder and a home of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "aaep" / "coding-agents.hooks"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "PYTHONPATH": str(SOURCE),
        }

    def start(self, event: str, data: Any, agent: str = "claude") -> subprocess.Popen[str]:
        """Start the hook program as an agent does."""
        process = subprocess.Popen(
            [*PROGRAM, agent, event],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=self.folder,
        )
        assert process.stdin is not None
        process.stdin.write(data if isinstance(data, str) else json.dumps(data))
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, event: str, data: Any, agent: str = "claude") -> tuple[int, str, str]:
        """Run the hook program to its end; its exit status, standard output and standard error."""
        return finish(self.start(event, data, agent))

    def tell(self, event: str, data: dict[str, Any], agent: str = "claude") -> None:
        """Run a hook that only tells, and find that it says nothing."""
        assert self.run(event, data, agent) == (0, "", "")


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@contextmanager
def machine() -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="aaep-", dir="/tmp"))  # short: the path of a socket is
    try:
        yield Machine(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def break_daemon(host: Machine) -> None:
    """No daemon can be started: what is imported as this package fails."""
    package = host.folder / "broken" / "aaep"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('broken on purpose')")
    host.environment["PYTHONPATH"] = str(package.parent)


class Daemon:
    """The daemon of a machine, in a thread of the test, whose producer a listener can be given."""

    def __init__(self, host: Machine, reader_grace: float, language: str) -> None:
        self.producer = aaep.Producer("claude", name="Claude Code", language=language, journal=None)
        self._listening, self._path = open_listening_socket(host.path)
        self._reader_grace = reader_grace
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: HookServer | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._server = HookServer(self._open_producer, reader_grace=self._reader_grace)
        self._ready.set()
        await self._server.serve(self._listening)

    async def _open_producer(self, agent: str) -> aaep.Producer:
        return self.producer  # of all agents, so that one listener hears them

    def start(self) -> None:
        self.producer.start()
        self._thread.start()
        assert self._ready.wait(30)

    def stop(self) -> None:
        """End it, as being killed does: what is open is broken off without an answer."""
        if self._thread.is_alive():
            assert self._loop is not None and self._server is not None
            self._loop.call_soon_threadsafe(self._server.stop)
            self._thread.join(30)
        self._listening.close()
        self._path.unlink(missing_ok=True)
        self.producer.close()


@contextmanager
def daemon(host: Machine, *, reader_grace: float = 30.0, language: str = "en-US") -> Iterator[Daemon]:
    running = Daemon(host, reader_grace, language)
    running.start()
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def impostor(host: Machine, answer: bytes | None) -> Iterator[None]:
    """Something at the daemon's socket that answers every event with these bytes, or hangs up on it."""
    host.path.parent.mkdir(mode=0o700)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(host.path))
    listening.listen()

    def serve() -> None:
        while True:
            try:
                connection = listening.accept()[0]
            except OSError:
                return
            with connection:
                received = b""
                while not received.endswith(b"\n"):
                    received += connection.recv(65536)
                if answer is not None:
                    ident = json.loads(received)["id"].encode()
                    connection.sendall(answer.replace(b"IDENT", ident))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(30)
