"""
An exception handler for event loops that keeps false alarms and floods out of the log.

When a process has reached its limit of open files, asyncio logs a traceback for
each connection it cannot accept, up to a thousand at a time, so that a client
that only connects could fill a disk. Here it is logged once a minute, with advice.
A second later asyncio tries again, and fails again if the server was closed
meanwhile; that is not logged.

grpc.aio has one completion queue for all loops of a process. Each event wakes
every loop, and all but the fastest find the queue empty and fail; an event that
arrives for a closed loop fails in another one. Neither loses anything
(grpc issue 25364), so neither is logged.
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
    """Install the exception handler on a loop, unless the application has set one of its own."""
    if loop.get_exception_handler() is None:
        loop.set_exception_handler(_LoopErrorHandler())


class _LoopErrorHandler:
    """The exception handler of one loop, which remembers when it last logged that files had run out."""

    def __init__(self) -> None:
        self._logged_at = -math.inf

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") == _ACCEPT_FAILED:
            self._log_out_of_files(loop.time())
        elif not _is_grpc_false_alarm(context) and not _accepts_late(context):
            loop.default_exception_handler(context)

    def _log_out_of_files(self, now: float) -> None:
        if now - self._logged_at >= LOG_INTERVAL:
            self._logged_at = now
            _log.error("%s", OUT_OF_FILES_MESSAGE)


def _accepts_late(context: dict[str, Any]) -> bool:
    """Whether asyncio tries again to accept connections for a server that was closed meanwhile."""
    error = context.get("exception")
    is_closed = isinstance(error, ValueError) and "Invalid file descriptor" in str(error)
    return is_closed and "._start_serving" in repr(context.get("handle"))


def _is_grpc_false_alarm(context: dict[str, Any]) -> bool:
    """Whether an exception comes from the queue that grpc.aio shares between loops."""
    error = context.get("exception")
    is_loop_closed = isinstance(error, RuntimeError) and str(error) == "Event loop is closed"
    is_from_grpc = "PollerCompletionQueue._handle_events" in repr(context.get("handle"))
    return is_from_grpc and (is_loop_closed or isinstance(error, BlockingIOError))
