"""An agent that was started to be listened to: its process, its pipes, and its end. Appendix B.6.4"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from itertools import count
from typing import IO, Final

from ...errors import FrameError
from ...protocol.framing import Frame
from ..base import AgentEnded
from ..duplex_client import FrameReader
from .lines import Printed, Strays

__all__ = ["Agent", "start"]

_LAST: Final = 1.0  # seconds for a process to be gone that has closed its pipes


class Agent:
    """A process whose standard input and output are the connection (STDIO-010). Its standard error stays ours."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        incoming: FrameReader,
        out: asyncio.WriteTransport,
        into: asyncio.ReadTransport,
    ) -> None:
        self._process, self._incoming, self._out, self._in = process, incoming, out, into
        self._ending: threading.Thread | None = None
        self.calls = count(1)  # the ids of what it is asked
        self._strays = Strays()

    async def next(self) -> Frame:
        """What it says next. Raises :exc:`AgentEnded` when it has ended: it is not for us to start it again."""
        while isinstance(item := await self._incoming.next(), FrameError):
            self._strays.add(item)
        if item is not None:
            return item
        self._strays.sum_up()
        raise AgentEnded(f"The agent's process has ended{await self._how()}. What it was doing may be unfinished.")

    async def _how(self) -> str:
        def wait() -> int | None:
            with contextlib.suppress(subprocess.TimeoutExpired):  # it lives, so there is nothing to tell
                return self._process.wait(_LAST)
            return None

        status = await asyncio.to_thread(wait)
        if status is None:
            return " its output"
        return f" with exit status {status}" if status >= 0 else f", killed by signal {-status}"

    def write(self, data: bytes) -> None:
        if self._out.is_closing():
            raise AgentEnded("The agent does not listen any more. Its process has ended, or is about to.")
        self._out.write(data)

    async def end(self, timeout: float) -> None:
        """Close its input, and if that does not end it, end it. It ends whether or not this is waited for."""
        if self._ending is None:
            self._out.close()  # which sends what is still to be sent
            # Not a daemon: a program that ends waits for the agent, as long as the timeout lasts and no longer.
            self._ending = threading.Thread(target=self._see_off, args=(timeout,), name="aaep-stdio-end")
            self._ending.start()
        self._strays.sum_up()
        emptying = asyncio.ensure_future(self._incoming.drain())  # it may have to write before it can end
        try:
            await asyncio.to_thread(self._ending.join)
        finally:
            emptying.cancel()
            self._in.close()

    def _see_off(self, timeout: float) -> None:
        for last in (signal.SIGTERM, signal.SIGKILL):
            try:
                self._process.wait(timeout)
                return
            except subprocess.TimeoutExpired:
                # With all that it has started: it leads a session of its own, and is not yet waited for.
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.killpg(self._process.pid, last)
        self._process.wait()


async def start(command: Sequence[str]) -> Agent:
    """Start an agent."""
    try:
        # Binary pipes, and an error output that nobody has to empty (CF-117). A session of its own, so that the
        # Ctrl-C that ends a reader does not end the agent before the reader has said goodbye.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise AgentEnded(f"Cannot start {command[0]!r}: {said}.") from error
    assert process.stdin is not None and process.stdout is not None
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    pipes: tuple[IO[bytes], IO[bytes]] = process.stdin, process.stdout
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipes[0])
    into, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), pipes[1])
    return Agent(process, FrameReader(reader, lambda _: Printed()), out, into)
