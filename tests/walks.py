"""Which modules an event and a reply pass, in order: recorded with a profiler while they do."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, TextIO, cast

import aaep
from aaep.outputs.printer import LinePrinter
from aaep.outputs.stdin import detect_input
from aaep.outputs.terminal import Terminal
from aaep.producer.producer import Producer
from aaep.subscriber.status import Status
from aaep.subscriber.subscriber import Subscriber

__all__ = ["Entry", "Walk", "record_walks"]

SOURCE: Final = str(Path(aaep.__file__).parent) + os.sep
LONG: Final = 60.0  # seconds
_GENERATORS: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Entry(NamedTuple):
    """A function of a module that was entered."""

    module: str
    function: str


class Walk(NamedTuple):
    """
    Where a walk goes: the functions that each thread begins with, by the thread's name, in the order of the threads.

    A thread that ``waits`` goes on when its function returns; the part of any other is what its functions call. What
    ``leaving`` functions call goes another way, and is no part of the walk.
    """

    begins: dict[str, tuple[str, ...]]
    waits: frozenset[str]
    leaving: frozenset[str]


class _Part(threading.local):
    """What of a walk goes on in the current thread."""

    walk: Walk | None = None
    name = ""  # of the thread; none while no part of the walk goes on here
    depth = 0  # of calls, from where it began
    left_at: int | None = None  # the depth of the call that goes another way


class Recorder:
    """
    A profiler that notes which functions of the library are entered.

    A coroutine or generator is entered when it calls something itself: that it is resumed says only that what it
    waits for goes on.
    """

    def __init__(self) -> None:
        self.entries: dict[str, list[Entry]] = {}  # by thread
        self.handled: SimpleQueue[str] = SimpleQueue()  # the ids of the events that the terminal has dealt with
        self._walk: Walk | None = None
        self._begins: dict[str, str] = {}
        self._part = _Part()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Profile this thread, and those that are started within the block."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def recording(self, walk: Walk) -> Iterator[None]:
        """Record a walk."""
        gc.collect()
        gc.disable()  # what is collected is closed, in the middle of whatever goes on
        self.entries = {name: [] for name in walk.begins}
        self._begins = {function: name for name, functions in walk.begins.items() for function in functions}
        self._walk = walk
        try:
            yield
        finally:
            self._walk = None
            gc.enable()

    def leave(self) -> None:
        """Note that the walk ends in the current thread."""
        self._part.name = ""

    def _profile(self, frame: FrameType, what: str, value: Any) -> None:
        if what not in ("call", "return"):
            return
        function = frame.f_code.co_qualname if frame.f_code.co_filename.startswith(SOURCE) else ""
        if function == "Terminal._handle_event" and what == "return":
            self.handled.put(frame.f_locals["event"].event_id)
        walk = self._walk
        part = self._part
        if part.walk is not walk:
            part.walk = walk
            part.name = ""
        if walk is None:
            return
        if not part.name:
            name = self._begins.get(function, "")
            if not name or (name in walk.waits) is not (what == "return"):
                return
            part.name = name
            part.depth = 0
            part.left_at = None
            if what == "return":
                return
        if part.left_at is None:
            self._note(frame, what)
        if what == "call":
            part.depth += 1
            if part.left_at is None and function in walk.leaving:
                part.left_at = part.depth
        else:
            if part.left_at == part.depth:
                part.left_at = None
            part.depth -= 1
            if not part.depth and part.name not in walk.waits:
                part.name = ""

    def _note(self, frame: FrameType, what: str) -> None:
        if frame.f_code.co_flags & _GENERATORS:
            return
        entries = self.entries[self._part.name]
        if what == "call" and frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(SOURCE):
            entries.append(_entry(frame.f_back.f_code))
        if frame.f_code.co_filename.startswith(SOURCE):
            entries.append(_entry(frame.f_code))


def _entry(code: CodeType) -> Entry:
    module = code.co_filename[len(SOURCE) :].removesuffix(".py").replace(os.sep, ".")
    return Entry(module, code.co_qualname.split(".<locals>", 1)[0])


class _Printed:
    """A stream that gives its lines to whoever waits for one."""

    def __init__(self) -> None:
        self._lines: SimpleQueue[str] = SimpleQueue()

    def write(self, text: str) -> None:
        self._lines.put(text)

    def flush(self) -> None:
        pass

    def wait_for(self, text: str) -> None:
        while text not in self._lines.get(timeout=LONG):
            pass


def record_walks(folder: Path, written: Walk, answered: Walk) -> tuple[dict[str, list[Entry]], dict[str, list[Entry]]]:
    """
    Have an agent write to a terminal over HTTP, and a person accept there what a tool asks; return who was entered.

    Both have happened once before they are recorded, so that nothing is loaded, connected or learnt any more.
    """
    recorder, printed = Recorder(), _Printed()
    readers: list[Subscriber] = []
    typed, keys = os.pipe()
    with (
        recorder.installed(),
        open(typed) as standard_input,
        Producer("bank", name="Bank", listen="http://127.0.0.1:0", journal=folder / "journal.db") as producer,
        open(keys, "w", buffering=1) as person,
    ):

        @producer.tool(
            risk="medium", irreversible=False, confirm=True, action="Look at {what}.", consequence="It is read."
        )
        def look(what: str) -> str:
            recorder.leave()
            return "1,240"

        def connect(tell: Callable[[Status], None]) -> Subscriber:
            readers.append(Subscriber(producer.addresses[0], on_status=tell))
            return readers[0]

        terminal = Terminal(connect, detect_input(standard_input), LinePrinter(cast(TextIO, printed)))
        listening = threading.Thread(target=terminal.run, daemon=True)
        listening.start()
        producer.reader().wait(LONG)

        def wait_until_heard() -> None:
            """Wait until the terminal has dealt with the last event, and the loops with all that it brought."""
            last = producer.hub.journal.read(limit=sys.maxsize)[-1].event_id
            while recorder.handled.get(timeout=LONG) != last:
                pass
            producer.hub.run(asyncio.sleep(0))
            readers[0]._connection.run_soon(asyncio.sleep(0)).wait(LONG)

        def write() -> None:
            """All events of it are published before the hub looks at the first: else two threads would race."""
            is_written = threading.Event()
            producer.hub.call_soon(lambda: cast(None, is_written.wait(LONG)))
            session.write("Hello.")
            is_written.set()
            wait_until_heard()

        def ask() -> threading.Thread:
            agent = threading.Thread(target=look, args=("balance",), daemon=True)
            agent.start()
            printed.wait_for("Look at balance.")
            wait_until_heard()
            return agent

        with producer.session("Looking.") as session:
            write()
            asking = ask()
            person.write("accept\n")
            asking.join(LONG)
            wait_until_heard()
            with recorder.recording(written):
                write()
            on_the_way_out = recorder.entries
            asking = ask()
            with recorder.recording(answered):
                person.write("accept\n")
                asking.join(LONG)
                wait_until_heard()
            on_the_way_back = recorder.entries
        person.write("quit\n")
        listening.join(LONG)
    return on_the_way_out, on_the_way_back
