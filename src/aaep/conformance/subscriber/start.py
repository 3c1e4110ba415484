"""How a subscriber is started: by a command, each time anew, or by a person who is told what to do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from ...errors import AaepError
from ..scenario import split_command
from .harness import PERSON_TASKS, RunningSubscriber, SubscriberLauncher

__all__ = ["ManualSubscriber", "SubscriberProcess", "make_command_launcher", "make_manual_launcher"]

_KILL_DELAY: Final = 5.0  # seconds that a subscriber has to end
_MAX_STDERR_CHARS: Final = 300  # characters of what it says at its end
_MAX_LINE_BYTES: Final = 1 << 20  # bytes of a line


class SubscriberProcess:
    """A subscriber that is a process."""

    has_observable_exit = True

    def __init__(
        self, process: asyncio.subprocess.Process, on_line: Callable[[bytes], None], *, has_typed_input: bool
    ) -> None:
        self.has_typed_input = has_typed_input
        self._process = process
        self._stderr_tail = b""
        self._is_stopping = False  # to end
        tasks = asyncio.get_running_loop()
        self._reader_tasks = [tasks.create_task(self._read_stdout(on_line)), tasks.create_task(self._read_stderr())]

    async def _read_stdout(self, on_line: Callable[[bytes], None]) -> None:
        out = self._process.stdout
        assert out is not None
        with contextlib.suppress(ValueError):  # a line without an end is no announcement
            while line := await out.readline():
                on_line(line)
        while await out.read(65_536):
            pass

    async def _read_stderr(self) -> None:
        err = self._process.stderr
        assert err is not None
        while piece := await err.read(65_536):
            self._stderr_tail = (self._stderr_tail + piece)[-_MAX_STDERR_CHARS:]

    async def type_line(self, line: str) -> None:
        pipe = self._process.stdin
        if pipe is not None:
            with contextlib.suppress(OSError):  # it has ended, which is seen elsewhere
                pipe.write(line.encode() + b"\n")
                await pipe.drain()

    def stop(self) -> None:
        self._is_stopping = True
        if self._process.returncode is None:
            self._process.terminate()
            asyncio.get_running_loop().call_later(_KILL_DELAY, self._kill)

    def _kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def wait_for_exit(self) -> str:
        code = await self._process.wait()
        await asyncio.gather(*self._reader_tasks)
        said = " ".join(self._stderr_tail.decode(errors="replace").split())
        return f"It ended with status {code}." + (f" Its last words: {said}" if said and not self._is_stopping else "")


def make_command_launcher(command: str) -> SubscriberLauncher:
    """Run a command, without a shell; ``{url}``, ``{task}`` and ``{keys}`` in it stand for what they say."""
    words = split_command(command)
    if not any("{url}" in word for word in words):
        raise AaepError("Where the subscriber has to connect is not said. Write {url} into the command.")

    async def launch(url: str, task: str, keys: str, heard: Callable[[bytes], None]) -> RunningSubscriber:
        given = [word.replace("{url}", url).replace("{task}", task).replace("{keys}", keys) for word in words]
        try:
            process = await asyncio.create_subprocess_exec(
                *given,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_MAX_LINE_BYTES,
            )
        except OSError as error:
            raise AaepError(f"The subscriber cannot be started: {error}.") from error
        return SubscriberProcess(process, heard, has_typed_input=not any("{task}" in word for word in words))

    return launch


class ManualSubscriber:
    """A subscriber that somebody starts, drives and ends."""

    has_typed_input, has_observable_exit = True, False

    def __init__(self, instruct: Callable[[str], object]) -> None:
        self._instruct = instruct
        self._is_stopping = False

    async def type_line(self, line: str) -> None:
        self._instruct(f"Do this at the subscriber now: {line}")

    def stop(self) -> None:
        if not self._is_stopping:
            self._instruct("End the subscriber now.")
        self._is_stopping = True

    async def wait_for_exit(self) -> str:
        await asyncio.get_running_loop().create_future()
        return ""


def make_manual_launcher(instruct: Callable[[str], object]) -> SubscriberLauncher:
    """Have somebody start it, and say what to do."""

    async def launch(url: str, task: str, keys: str, heard: Callable[[bytes], None]) -> RunningSubscriber:
        instruct(f"Start the subscriber at {url}. {PERSON_TASKS[task]}")
        return ManualSubscriber(instruct)

    return launch
