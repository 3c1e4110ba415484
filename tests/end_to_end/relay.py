"""A line between a reader and a producer that breaks where a test wants it to."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.end_to_end.wires import LONG, Wire

PATHS = ("unix", "pipes")  # schemes of addresses that are paths


class Relay:
    """
    Passes bytes both ways. After so many events to the reader it drops every connection.

    ``breaks`` says after how many, over all connections; once broken, it lets everything pass.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        scheme = urlsplit(wire.listen).scheme
        if scheme in PATHS:
            self.url, self.host = wire.listen, ""
            self._door = socket.socket(socket.AF_UNIX)
            self._door.bind(urlsplit(self.url).path)
            self._door.listen()
        else:
            self._door = socket.create_server(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{self._door.getsockname()[1]}"
            self.url = f"{scheme}://{self.host}"
        self.target = ""
        self.breaks: int | None = None
        self.broken = threading.Event()
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._run(self._serve)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # lines that break are what this is for
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.drop()
        for thread in self._threads:
            thread.join(LONG)

    def _run(self, work: object, *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)  # type: ignore[arg-type]  # it is a function
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
            except OSError:
                return
            try:
                far = self._dial()
            except OSError:
                near.close()
                continue
            with self._lock:
                self._ends += [near, far]
            self._run(self._up, near, far)
            self._run(self._down, far, near)

    def _dial(self) -> socket.socket:
        place = urlsplit(self.target)
        if place.scheme not in PATHS:
            return socket.create_connection((str(place.hostname), int(place.port or 0)))
        far = socket.socket(socket.AF_UNIX)
        far.connect(place.path)
        return far

    def _up(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):  # lines that break are what this is for
            while data := near.recv(65_536):
                far.sendall(data)
            far.shutdown(socket.SHUT_WR)

    def _down(self, far: socket.socket, near: socket.socket) -> None:
        """To the reader, as far as it may go."""
        counted = b""
        with contextlib.suppress(OSError):  # lines that break are what this is for
            while data := far.recv(65_536):
                before, counted = len(counted), counted + data
                ends = self._wire.ends(counted)
                if (last := self._count(len(ends))) is not None:
                    near.sendall(data[: max(0, ends[last] - before)])
                    self.broken.set()
                    self.drop()
                    return
                near.sendall(data)
                counted = counted[ends[-1] :] if ends else counted
            near.shutdown(socket.SHUT_WR)

    def _count(self, passed: int) -> int | None:
        """Count events of any connection; return the index of the one after which to break, if it is among these."""
        with self._lock:
            if self.breaks is None or not passed:
                return None
            if passed < self.breaks:
                self.breaks -= passed
                return None
            last = max(self.breaks, 1) - 1
            self.breaks = None
            return last

    def drop(self) -> None:
        """End every connection at once."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):  # cut already
                end.shutdown(socket.SHUT_RDWR)
            end.close()
