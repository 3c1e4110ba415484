"""Joining agents as they appear: those that run already, and each that begins later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Final, Protocol

from ..subscriber.status import Status
from ..text.phrases import ENGLISH, Phrases
from .readers import Readers
from .sender import Reader

__all__ = ["Discovery", "Found"]

SCAN_INTERVAL: Final = 2.0  # seconds


class Found(Protocol):
    """An agent that was found, or in a sentence why it is left alone."""

    @property
    def url(self) -> str:
        """Its address."""

    @property
    def identity(self) -> str:
        """What tells it from a later one at the same address."""

    @property
    def problem(self) -> str:
        """Why it is left alone; empty if it is not."""


class Discovery:
    """
    Adds agents to a set of readers as they appear.

    ``scan`` returns the agents that are there, without those whose identity is known. ``wait_for_next`` blocks until
    it is time to look again, and returns whether to do so; by default after some seconds, until the readers are closed.
    """

    def __init__(
        self,
        readers: Readers,
        scan: Callable[[Container[str]], Iterable[Found]],
        connect: Callable[[str, Callable[[Status], None]], Reader],
        on_status: Callable[[Status], None],
        *,
        wait_for_next: Callable[[], bool] | None = None,
        phrases: Phrases = ENGLISH,
    ) -> None:
        self._phrases = phrases
        self._readers = readers
        self._scan = scan
        self._connect = connect
        self._on_status = on_status
        self._wait_for_next = wait_for_next or (lambda: not readers.closed.wait(SCAN_INTERVAL))
        self._identities: dict[str, str] = {}  # of the addresses that were joined or left alone
        self._lock = threading.Lock()

    def start(self) -> None:
        """Join who is there, say so if that is nobody, and go on looking in a thread of its own."""
        self._join_all(is_first=True)
        if not self._readers.addresses:
            self._on_status(Status("notice", self._phrases["discover-none"]))
        threading.Thread(target=self._run, name="aaep-discovery", daemon=True).start()

    def _run(self) -> None:
        while self._wait_for_next():
            self._join_all(is_first=False)

    def _join_all(self, *, is_first: bool) -> None:
        with self._lock:
            known = frozenset(self._identities.values())
        for found in self._scan(known):
            if found.url in self._readers.addresses:  # it is being waited for, and connected to again by itself
                continue
            with self._lock:
                self._identities[found.url] = found.identity
            if found.problem:
                self._on_status(Status("notice", found.problem))
                continue
            self._readers.add(
                found.url,
                partial(self._connect, found.url),
                arrives=not is_first,
                is_optional=True,
                on_lost=partial(self._forget, found.url),
            )

    def _forget(self, url: str) -> None:
        """Look at an address anew that was lost: what answers there later is joined again."""
        with self._lock:
            self._identities.pop(url, None)
