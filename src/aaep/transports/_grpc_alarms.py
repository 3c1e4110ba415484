"""
False alarms of grpc.aio, kept from the log.

The library has one queue for all loops of a process. Every loop is woken for
what is in it, and all but the fastest find nothing and fail; and what comes
late for a loop that is closed meanwhile fails in another one. Nothing is lost by
either (grpc issue 25364), but who reads the log at night cannot know that.
"""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["hush"]


def hush(loop: asyncio.AbstractEventLoop) -> None:
    """Have a loop say nothing of these. Whoever has told it what to do with failures is not interfered with."""
    if loop.get_exception_handler() is None:
        loop.set_exception_handler(_tell)


def _tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    late = isinstance(error, RuntimeError) and str(error) == "Event loop is closed"
    ours = "PollerCompletionQueue._handle_events" in repr(context.get("handle"))
    if not (ours and (late or isinstance(error, BlockingIOError))):
        loop.default_exception_handler(context)
