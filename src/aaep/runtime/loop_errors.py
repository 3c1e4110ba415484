"""
Alarms of an event loop, as far as they are for a person.

Where a process may open no more files, asyncio tells of each caller it could
not take, with a traceback, a thousand at a time: whoever only connects could
fill a disk. That is said once a minute, with what to do.

grpc.aio has one queue for all loops of a process. Every loop is woken for
what is in it, and all but the fastest find nothing and fail; and what comes
late for a loop that is closed meanwhile fails in another one. Nothing is lost by
either (grpc issue 25364), but who reads the log at night cannot know that.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any, Final

__all__ = ["install_loop_error_handler"]

OUT_OF_FILES_MESSAGE: Final = (
    "Nobody else can connect at the moment: this process may open no more files. "
    "Who says nothing is hung up on soon. To allow for more readers, raise the limit: ulimit -n"
)
LOG_INTERVAL: Final = 60.0  # seconds

_ACCEPT_FAILED: Final = "socket.accept() out of system resource"
_log: Final = logging.getLogger("aaep.hub")


def install_loop_error_handler(loop: asyncio.AbstractEventLoop) -> None:
    """Have a loop say no more than that. Whoever has told it what to do with failures is not interfered with."""
    if loop.get_exception_handler() is None:
        loop.set_exception_handler(_LoopErrorHandler())


class _LoopErrorHandler:
    """What one loop does with failures that nobody else takes."""

    def __init__(self) -> None:
        self._logged_at = -math.inf

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") == _ACCEPT_FAILED:
            self._log_out_of_files(loop.time())
        elif not _is_grpc_false_alarm(context):
            loop.default_exception_handler(context)

    def _log_out_of_files(self, now: float) -> None:
        if now - self._logged_at >= LOG_INTERVAL:
            self._logged_at = now
            _log.error("%s", OUT_OF_FILES_MESSAGE)


def _is_grpc_false_alarm(context: dict[str, Any]) -> bool:
    """Whether it is one of grpc.aio's."""
    error = context.get("exception")
    late = isinstance(error, RuntimeError) and str(error) == "Event loop is closed"
    ours = "PollerCompletionQueue._handle_events" in repr(context.get("handle"))
    return ours and (late or isinstance(error, BlockingIOError))
