"""Signals that end a terminal's loop, or give the terminal back to it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

__all__ = ["signals"]

_ENDING: Final = {"SIGINT": 130, "SIGTERM": 0, "SIGHUP": 0}  # and the exit status


@contextlib.contextmanager
def signals(waker: int, end: Callable[[int], None], resume: Callable[[], None]) -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP end the loop; after a stop the terminal is taken again."""
    if threading.current_thread() is not threading.main_thread():  # nobody else may have them
        yield
        return
    found = {getattr(signal, name): status for name, status in _ENDING.items() if hasattr(signal, name)}

    def ended(number: int, frame: FrameType | None) -> None:
        end(found[number])

    def resumed(number: int, frame: FrameType | None) -> None:
        resume()

    # By the descriptor too: a signal in the moment before a wait would be seen only after it.
    wakes = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    kept: dict[Any, Any] = {number: signal.signal(number, ended) for number in found}
    if hasattr(signal, "SIGCONT"):
        kept[signal.SIGCONT] = signal.signal(signal.SIGCONT, resumed)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number, before in kept.items():
            signal.signal(number, before)
