"""
An exception handler for event loops that keeps false alarms and floods out of the log.

When a process has reached its limit of open files, asyncio logs a traceback for
each connection it cannot accept, up to a thousand at a time, so that a client
that only connects could fill a disk. uvloop hangs up on those that connect, and
logs nothing. Here it is logged once a minute, with advice, on either loop.
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
import sys
import time
from typing import Any, Final

if sys.platform != "win32":
    import resource

__all__ = ["check_files_left", "install_loop_error_handler"]

OUT_OF_FILES_MESSAGE: Final = (
    "Nobody else can connect at the moment: this process may open no more files. "
    "Who says nothing is hung up on soon. To allow for more readers, raise the limit: ulimit -n"
)
LOG_INTERVAL: Final = 60.0  # seconds
SPARE_FILES: Final = 2  # which uvloop, or another part of the process, may open and close at any time

_ACCEPT_FAILED: Final = "socket.accept() out of system resource"
_log: Final = logging.getLogger("aaep.hub")
_logged_at = -math.inf  # when it was last logged that files had run out


def install_loop_error_handler(loop: asyncio.AbstractEventLoop) -> None:
    """Install the exception handler on a loop, unless the application has set one of its own."""
    if loop.get_exception_handler() is None:
        loop.set_exception_handler(_handle_loop_error)


def check_files_left(connection: asyncio.BaseTransport) -> None:
    """Log that files have run out if a new connection has one of the last descriptors: the lowest is taken first."""
    accepted = connection.get_extra_info("socket")
    if sys.platform == "win32" or accepted is None:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and accepted.fileno() + SPARE_FILES >= limit:
        _log_out_of_files()


def _handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if context.get("message") == _ACCEPT_FAILED:
        _log_out_of_files()
    elif not _is_grpc_false_alarm(context) and not _accepts_late(context):
        loop.default_exception_handler(context)


def _log_out_of_files() -> None:
    global _logged_at  # noqa: PLW0603  # the limit is that of the process, too
    now = time.monotonic()
    if now - _logged_at >= LOG_INTERVAL:
        _logged_at = now
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
