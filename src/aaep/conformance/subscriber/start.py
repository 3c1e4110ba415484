"""How a subscriber is started: by a command, each time anew, or by a person who is told what to do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from ...errors import AaepError
from ..scenario import apart
from .harness import TASKS, Begin, Running

__all__ = ["ByHand", "Process", "by_command", "by_hand"]

_ENDING: Final = 5.0  # seconds that a subscriber has to end
_TAIL: Final = 300  # characters of what it says at its end
_LIMIT: Final = 1 << 20  # bytes of a line


class Process:
    """A subscriber that is a process."""

    seen = True

    def __init__(self, process: asyncio.subprocess.Process, heard: Callable[[bytes], None], *, typed: bool) -> None:
        self.typed = typed
        self._process = process
        self._last = b""
        self._told = False  # to end
        tasks = asyncio.get_running_loop()
        self._readers = [tasks.create_task(self._lines(heard)), tasks.create_task(self._complaints())]

    async def _lines(self, heard: Callable[[bytes], None]) -> None:
        out = self._process.stdout
        assert out is not None
        with contextlib.suppress(ValueError):  # a line without an end is no announcement
            while line := await out.readline():
                heard(line)
        while await out.read(65_536):
            pass

    async def _complaints(self) -> None:
        err = self._process.stderr
        assert err is not None
        while piece := await err.read(65_536):
            self._last = (self._last + piece)[-_TAIL:]

    async def type(self, line: str) -> None:
        pipe = self._process.stdin
        if pipe is not None:
            with contextlib.suppress(OSError):  # it has ended, which is seen elsewhere
                pipe.write(line.encode() + b"\n")
                await pipe.drain()

    def stop(self) -> None:
        self._told = True
        if self._process.returncode is None:
            self._process.terminate()
            asyncio.get_running_loop().call_later(_ENDING, self._kill)

    def _kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def ended(self) -> str:
        code = await self._process.wait()
        await asyncio.gather(*self._readers)
        said = " ".join(self._last.decode(errors="replace").split())
        return f"It ended with status {code}." + (f" Its last words: {said}" if said and not self._told else "")


def by_command(command: str) -> Begin:
    """Run a command, without a shell; ``{url}``, ``{task}`` and ``{keys}`` in it stand for what they say."""
    words = apart(command)
    if not any("{url}" in word for word in words):
        raise AaepError("Where the subscriber has to connect is not said. Write {url} into the command.")

    async def begin(url: str, task: str, keys: str, heard: Callable[[bytes], None]) -> Running:
        given = [word.replace("{url}", url).replace("{task}", task).replace("{keys}", keys) for word in words]
        try:
            process = await asyncio.create_subprocess_exec(
                *given,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LIMIT,
            )
        except OSError as error:
            raise AaepError(f"The subscriber cannot be started: {error}.") from error
        return Process(process, heard, typed=not any("{task}" in word for word in words))

    return begin


class ByHand:
    """A subscriber that somebody starts, drives and ends."""

    typed, seen = True, False

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._told = False

    async def type(self, line: str) -> None:
        self._say(f"Do this at the subscriber now: {line}")

    def stop(self) -> None:
        if not self._told:
            self._say("End the subscriber now.")
        self._told = True

    async def ended(self) -> str:
        await asyncio.get_running_loop().create_future()
        return ""


def by_hand(say: Callable[[str], object]) -> Begin:
    """Have somebody start it, and say what to do."""

    async def begin(url: str, task: str, keys: str, heard: Callable[[bytes], None]) -> Running:
        say(f"Start the subscriber at {url}. {TASKS[task]}")
        return ByHand(say)

    return begin
