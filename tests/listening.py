"""Subscribers that are started in this process, for the conformance suite: quicker than a process for each scene."""

from __future__ import annotations

import asyncio
import io
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress

from aaep.conformance.subscriber.run import RunningSubscriber, SubscriberLauncher
from aaep.outputs.printer import LinePrinter
from aaep.outputs.stdin import detect_input
from aaep.outputs.terminal import Terminal
from aaep.presentation.announce import Announcement
from aaep.subscriber.subscriber import Subscriber
from tests.broken.good_reader import Reader


class InThread:
    """A subscriber in a thread of its own."""

    has_observable_exit = True

    def __init__(self, run: Callable[[], object], end: Callable[[], object], keys: int | None = None) -> None:
        self.has_typed_input = keys is not None
        self._loop, self._end, self._keys = asyncio.get_running_loop(), end, keys
        self._over: asyncio.Future[str] = self._loop.create_future()
        self._run = run
        self._is_stopping = False
        threading.Thread(target=self._live, daemon=True).start()

    def _live(self) -> None:
        how = "It ended."
        try:
            self._run()
        except Exception as error:
            how = f"It failed: {error!r}"
        self._loop.call_soon_threadsafe(self._settle, how)

    def _settle(self, how: str) -> None:
        self._over.set_result(how)
        self._close_keys()

    def _close_keys(self) -> None:
        if self._keys is not None:
            os.close(self._keys)
            self._keys = None

    async def type_line(self, line: str) -> None:
        if self._keys is not None and not self._over.done():
            os.write(self._keys, line.encode() + b"\n")

    def stop(self) -> None:
        if not (self._over.done() or self._is_stopping):
            self._is_stopping = True
            self._end()
            self._close_keys()  # the end of its input: who is asked about open prompts leaves them open

    async def wait_for_exit(self) -> str:
        return await self._over


def plain(made: type[Reader]) -> SubscriberLauncher:
    """One of those that are written without our library."""

    async def begin(url: str, task: str, keys: str, heard: Callable[[bytes], None]) -> RunningSubscriber:
        loop = asyncio.get_running_loop()
        reader = made(url, task, keys, lambda line: loop.call_soon_threadsafe(heard, line))
        return InThread(reader.run, reader.stop)

    return begin


async def ours(url: str, task: str, keys: str, heard: Callable[[bytes], None]) -> RunningSubscriber:
    """What ``aaep listen URL --announcements --trust KEYS`` runs; the person writes to its standard input."""
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()

    def announced(said: Announcement, text: str) -> None:
        urgency = "critical" if said.interrupts else said.urgency
        told = {"event_id": said.event_id, "type": said.event.type, "text": text, "urgency": urgency}
        loop.call_soon_threadsafe(heard, json.dumps(told).encode())

    def run() -> None:
        with os.fdopen(reading) as typed:
            Terminal(
                lambda tell: Subscriber(url, on_status=tell, trust=keys or None),
                detect_input(typed),
                LinePrinter(io.StringIO()),
                on_announcement=announced,
            ).run()

    def end() -> None:
        with suppress(BrokenPipeError):  # it has ended by itself
            os.write(writing, b"quit\n")

    return InThread(run, end, writing)
