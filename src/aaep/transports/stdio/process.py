"""The process of an agent that was started for a subscriber: its pipes and its end (Appendix B.6.4)."""

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
from .lines import AgentOutputDecoder, StrayLineLog
from .pipes import PipeEnd

__all__ = ["AgentProcess", "start_agent"]

_EXIT_STATUS_TIMEOUT: Final = 1.0  # seconds for a process to exit after it has closed its pipes


class AgentProcess:
    """An agent's process, connected by its standard input and output (STDIO-010). It inherits standard error."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        incoming: FrameReader,
        input_pipe: asyncio.WriteTransport,
        output_pipe: asyncio.ReadTransport,
    ) -> None:
        self._process = process
        self._incoming = incoming
        self._input_pipe = input_pipe
        self._output_pipe = output_pipe
        self._exit_thread: threading.Thread | None = None
        self.call_ids = count(1)  # ids of the calls to the agent
        self._stray_lines = StrayLineLog()

    async def next_frame(self) -> Frame:
        """Return the agent's next frame. Raises :exc:`AgentEnded` when the process has ended; it is not restarted."""
        while isinstance(item := await self._incoming.next_frame(), FrameError):
            self._stray_lines.add(item)
        if item is not None:
            return item
        self._stray_lines.log_summary()
        raise AgentEnded(
            f"The agent's process has ended{await self._describe_exit()}. What it was doing may be unfinished."
        )

    async def _describe_exit(self) -> str:
        def wait() -> int | None:
            with contextlib.suppress(subprocess.TimeoutExpired):  # it still runs
                return self._process.wait(_EXIT_STATUS_TIMEOUT)
            return None

        status = await asyncio.to_thread(wait)
        if status is None:
            return " its output"
        return f" with exit status {status}" if status >= 0 else f", killed by signal {-status}"

    def write(self, data: bytes) -> None:
        """Write to the agent's standard input. Raises :exc:`AgentEnded` if that is closed."""
        if self._input_pipe.is_closing():
            raise AgentEnded("The agent does not listen any more. Its process has ended, or is about to.")
        self._input_pipe.write(data)

    async def end(self, timeout: float) -> None:
        """Close the agent's input and, if it does not exit in time, kill it. Goes on if the caller is cancelled."""
        if self._exit_thread is None:
            self._input_pipe.close()  # flushes pending data first
            # Not a daemon: at exit, our program waits for the agent, but no longer than the timeouts.
            self._exit_thread = threading.Thread(target=self._wait_or_kill, args=(timeout,), name="aaep-stdio-end")
            self._exit_thread.start()
        self._stray_lines.log_summary()
        draining = asyncio.ensure_future(self._incoming.drain())  # the agent may have to write before it can exit
        try:
            await asyncio.to_thread(self._exit_thread.join)
        finally:
            draining.cancel()
            self._output_pipe.close()

    def _wait_or_kill(self, timeout: float) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            try:
                self._process.wait(timeout)
                return
            except subprocess.TimeoutExpired:
                # Together with its child processes: it leads its own session, and its pid is not reaped yet.
                with contextlib.suppress(ProcessLookupError):  # it has just exited
                    os.killpg(self._process.pid, signal_number)
        self._process.wait()


async def start_agent(command: Sequence[str]) -> AgentProcess:
    """Start an agent's process and connect to its pipes."""
    try:
        # Binary pipes, and an inherited standard error that need not be drained (CF-117). In its own session, so that
        # the Ctrl-C that ends a reader does not end the agent before the reader has closed its subscription.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise AgentEnded(f"Cannot start {command[0]!r}: {reason}.") from error
    assert process.stdin is not None and process.stdout is not None
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    try:
        input_pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, _take(process.stdin, loop))
        output_pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader, loop=loop), _take(process.stdout, loop)
        )
    except BaseException:  # cancelled: nobody would end the agent, which was asked for nothing yet
        process.kill()
        process.wait()
        raise
    return AgentProcess(process, FrameReader(reader, lambda _: AgentOutputDecoder()), input_pipe, output_pipe)


def _take(pipe: IO[bytes], loop: asyncio.AbstractEventLoop) -> PipeEnd:
    """Take the descriptor out of a file object."""
    with pipe:
        return PipeEnd(os.dup(pipe.fileno()), loop)
