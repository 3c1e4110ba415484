"""Signal handling of a program that listens at a terminal."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

__all__ = ["handle_signals"]

_EXIT_STATUS_BY_SIGNAL: Final = {"SIGINT": 130, "SIGTERM": 0, "SIGHUP": 0}


@contextlib.contextmanager
def handle_signals(wakeup_fd: int, on_end: Callable[[int], None], on_resume: Callable[[], None]) -> Iterator[None]:
    """
    Handle signals for the duration of a block, in the main thread.

    SIGINT, SIGTERM and SIGHUP call ``on_end`` with the exit status; SIGCONT
    calls ``on_resume``. A byte is written to ``wakeup_fd`` for every signal.
    A hangup that is ignored, as under ``nohup``, stays so.
    """
    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield
        return
    exit_statuses = {
        getattr(signal, name): status
        for name, status in _EXIT_STATUS_BY_SIGNAL.items()
        if hasattr(signal, name) and (name != "SIGHUP" or signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN)
    }

    def handle_end(number: int, frame: FrameType | None) -> None:
        on_end(exit_statuses[number])

    def handle_resume(number: int, frame: FrameType | None) -> None:
        on_resume()

    # The descriptor too: a signal just before a wait would be noticed only after it.
    previous_wakeup_fd = signal.set_wakeup_fd(wakeup_fd, warn_on_full_buffer=False)
    previous_handlers: dict[Any, Any] = {number: signal.signal(number, handle_end) for number in exit_statuses}
    if hasattr(signal, "SIGCONT"):
        previous_handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, handle_resume)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous_wakeup_fd, warn_on_full_buffer=False)
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
