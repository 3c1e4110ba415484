"""Ways to start a subscriber: by a command, or by a person who is given instructions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from ...errors import AaepError
from ..commands import split_command
from .harness import PERSON_TASKS, RunningSubscriber, SubscriberLauncher

__all__ = ["ManualSubscriber", "SubscriberProcess", "make_command_launcher", "make_manual_launcher"]

_KILL_DELAY: Final = 5.0  # seconds for a subscriber to end before it is killed
_MAX_STDERR_BYTES: Final = 300  # bytes of the end of its standard error
_MAX_LINE_BYTES: Final = 1 << 20  # bytes of a line that it prints
_READ_BYTES: Final = 65_536  # bytes read at a time


class SubscriberProcess:
    """A subscriber that runs as a process."""

    has_observable_exit = True

    def __init__(
        self, process: asyncio.subprocess.Process, on_line: Callable[[bytes], None], *, has_typed_input: bool
    ) -> None:
        self.has_typed_input = has_typed_input
        self._process = process
        self._stderr_tail = b""
        self._is_stopping = False
        loop = asyncio.get_running_loop()
        self._reader_tasks = [loop.create_task(self._read_stdout(on_line)), loop.create_task(self._read_stderr())]

    async def _read_stdout(self, on_line: Callable[[bytes], None]) -> None:
        stream = self._process.stdout
        assert stream is not None
        with contextlib.suppress(ValueError):  # a line that is too long is no announcement
            while line := await stream.readline():
                on_line(line)
        while await stream.read(_READ_BYTES):
            pass

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while piece := await stream.read(_READ_BYTES):
            self._stderr_tail = (self._stderr_tail + piece)[-_MAX_STDERR_BYTES:]

    async def type_line(self, line: str) -> None:
        """Write a line to its standard input."""
        pipe = self._process.stdin
        if pipe is not None:
            with contextlib.suppress(OSError):  # it has ended, which :meth:`wait_for_exit` reports
                pipe.write(line.encode() + b"\n")
                await pipe.drain()

    def stop(self) -> None:
        """Terminate it, and kill it if it does not end soon."""
        self._is_stopping = True
        if self._process.returncode is None:
            self._process.terminate()
            asyncio.get_running_loop().call_later(_KILL_DELAY, self._kill)

    def _kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def wait_for_exit(self) -> str:
        """Wait until it has ended; return its status and, if it was not told to end, the end of its standard error."""
        status = await self._process.wait()
        await asyncio.gather(*self._reader_tasks)
        reason = f"It ended with status {status}."
        last_words = " ".join(self._stderr_tail.decode(errors="replace").split())
        if last_words and not self._is_stopping:
            reason += f" Its last words: {last_words}"
        return reason


def make_command_launcher(command: str) -> SubscriberLauncher:
    """
    Return a launcher that runs a command without a shell.

    ``{url}``, ``{task}`` and ``{keys}`` in the command stand for the URL to connect
    to, the task of the person and the file of keys to trust.
    """
    words = split_command(command)
    if not any("{url}" in word for word in words):
        raise AaepError("Where the subscriber has to connect is not said. Write {url} into the command.")

    async def launch(url: str, task: str, keys: str, on_line: Callable[[bytes], None]) -> RunningSubscriber:
        arguments = [word.replace("{url}", url).replace("{task}", task).replace("{keys}", keys) for word in words]
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_MAX_LINE_BYTES,
            )
        except OSError as error:
            raise AaepError(f"The subscriber cannot be started: {error}.") from error
        return SubscriberProcess(process, on_line, has_typed_input=not any("{task}" in word for word in words))

    return launch


class ManualSubscriber:
    """A subscriber that a person starts, operates and ends."""

    has_typed_input = True
    has_observable_exit = False

    def __init__(self, instruct: Callable[[str], object]) -> None:
        self._instruct = instruct
        self._is_stopping = False

    async def type_line(self, line: str) -> None:
        """Instruct the person to do what the line says."""
        self._instruct(f"Do this at the subscriber now: {line}")

    def stop(self) -> None:
        """Instruct the person, once, to end it."""
        if not self._is_stopping:
            self._instruct("End the subscriber now.")
        self._is_stopping = True

    async def wait_for_exit(self) -> str:
        """Wait forever: its end cannot be seen."""
        await asyncio.get_running_loop().create_future()
        return ""


def make_manual_launcher(instruct: Callable[[str], object]) -> SubscriberLauncher:
    """Return a launcher that instructs a person to start the subscriber, and what to do with it."""

    async def launch(url: str, task: str, keys: str, on_line: Callable[[bytes], None]) -> RunningSubscriber:
        instruct(f"Start the subscriber at {url}. {PERSON_TASKS[task]}")
        return ManualSubscriber(instruct)

    return launch
