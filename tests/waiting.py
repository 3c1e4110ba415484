"""Agents that wait for their readers: hubs that stand still, and how a test knows that somebody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aaep.hub.hub import Hub
from aaep.journal.memory import MemoryJournal


class WatchedJournal(MemoryJournal):
    """A journal that tells when an agent's thread waits for room: it looks whether the journal can be written then."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: set[str] = set()
        self.somebody_waits = threading.Event()

    def flush(self) -> bool:
        self.waiting.add(threading.current_thread().name)
        if threading.current_thread().name == "agent":
            self.somebody_waits.set()
        return super().flush()


@contextmanager
def stalled(hub: Hub) -> Iterator[None]:
    """Stop the loop of a hub for the block."""
    is_stalled, may_go_on = threading.Event(), threading.Event()

    def stall() -> None:
        is_stalled.set()
        may_go_on.wait(60)

    hub.call_soon(stall)
    assert is_stalled.wait(30)
    try:
        yield
    finally:
        may_go_on.set()


def start_agent(run: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            run()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=guarded, name="agent", daemon=True)
    thread.start()
    return thread, errors
