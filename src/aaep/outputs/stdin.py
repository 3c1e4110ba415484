"""
What a person types: single keys of a terminal, or whole lines of whatever standard input is.

A source says what to wait for, gives what came, and forgets on demand what was
typed before it could be meant.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import socket
import stat
import sys
import threading
from typing import IO, Any, Final, Protocol

try:
    import termios
    import tty
except ImportError:  # not on every system
    SINGLE_KEYS = False
else:
    SINGLE_KEYS = True

__all__ = ["Keyboard", "Lines", "Nobody", "Relay", "Source", "Strokes", "source"]

PIECE: Final = 65_536
LONGEST_LINE: Final = 1_048_576
MOST_DISCARDED: Final = 64  # pieces; what never ends is waited out instead
ESCAPE_GAP: Final = 0.5  # seconds within which the rest of a key's escape sequence comes


class Source(Protocol):
    """Where keys or lines come from."""

    lines: bool  # whole lines, and not single keys
    interactive: bool  # a person sits at a terminal

    def __enter__(self) -> Source: ...

    def __exit__(self, *why: object) -> None: ...

    def fileno(self) -> int | None:
        """What to wait for; None while there is nothing to be had."""

    def read(self, now: float) -> list[str]:
        """What came, once :meth:`fileno` is ready: the keys pressed at once, or the lines."""

    def discard(self) -> bool:
        """Forget what was typed until now, and say whether there was anything."""

    def resume(self) -> None:
        """The process was stopped and goes on."""


def source(stdin: IO[str] | None) -> Source:
    """What standard input is."""
    if stdin is None or stdin.closed:
        return Nobody()
    try:
        number = stdin.fileno()
    except (OSError, ValueError):  # a file that only this process knows
        return Relay(stdin)
    try:
        mode = os.fstat(number)
        empty = stat.S_ISCHR(mode.st_mode) and mode.st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return Nobody()
    if empty:
        return Nobody()
    if stdin.isatty():
        return Keyboard(number) if SINGLE_KEYS else Relay(stdin, interactive=True)
    return Relay(stdin) if sys.platform == "win32" else Lines(number)


class Nobody:
    """Nothing is ever typed."""

    lines = True
    interactive = False

    def __enter__(self) -> Nobody:
        return self

    def __exit__(self, *why: object) -> None:
        pass

    def fileno(self) -> int | None:
        return None

    def read(self, now: float) -> list[str]:
        return []

    def discard(self) -> bool:
        return False

    def resume(self) -> None:
        pass


# -- lines ---------------------------------------------------------------------------------


class Lines:
    """Whole lines from a pipe or a file. A line that was begun before a discard is forgotten whole."""

    lines = True
    interactive = False

    def __init__(self, number: int | None) -> None:
        self._number = number
        self._held = b""
        self._skip = False  # the rest of a forgotten line is still to come
        self._stale = False  # more was there than could be forgotten at once

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *why: object) -> None:
        self._number = None

    def fileno(self) -> int | None:
        return self._number

    def read(self, now: float) -> list[str]:
        data = self._take()
        if self._stale:
            self._stale = self._ready()
            self._forget(data)
            return []
        self._held += data
        *whole, self._held = self._held.split(b"\n")
        if self._skip and whole:
            del whole[0]
            self._skip = False
        if len(self._held) > LONGEST_LINE:  # no command is that long
            self._held, self._skip = b"", True
        return [line.decode(errors="replace").removesuffix("\r") for line in whole]

    def discard(self) -> bool:
        found = bool(self._held)
        for _ in range(MOST_DISCARDED):
            if not self._ready():
                break
            data = self._take()
            found = found or bool(data)
            self._forget(data)
        else:
            self._stale = True
        self._forget(b"")
        return found

    def resume(self) -> None:
        pass

    def _forget(self, data: bytes) -> None:
        data, self._held = self._held + data, b""
        if data:
            self._skip = not data.endswith(b"\n")

    def _ready(self) -> bool:
        return self._number is not None and bool(select.select([self._number], [], [], 0)[0])

    def _take(self) -> bytes:
        """The next piece; at the end of it all there is nothing left to wait for."""
        data = self._receive(self._number) if self._number is not None else b""
        if not data:
            self._number = None
        return data

    def _receive(self, number: int) -> bytes:
        return os.read(number, PIECE)


class Relay(Lines):
    """Lines of a file that cannot be waited for: a thread reads them and passes them on."""

    def __init__(self, file: IO[str], *, interactive: bool = False) -> None:
        super().__init__(None)
        self.interactive = interactive
        self._file = file

    def __enter__(self) -> Relay:
        self._near, self._far = socket.socketpair()
        self._number = self._near.fileno()
        threading.Thread(target=self._pass_on, name="aaep-input", daemon=True).start()
        return self

    def __exit__(self, *why: object) -> None:
        super().__exit__(*why)
        self._near.close()

    def _pass_on(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._far:  # either end may be closed meanwhile
            for line in self._file:
                self._far.sendall(line.encode(errors="replace"))

    def _receive(self, number: int) -> bytes:
        return self._near.recv(PIECE)


# -- keys ----------------------------------------------------------------------------------


class Strokes:
    """
    Bytes of a terminal to keys, without a clock or a terminal.

    Arrows, function keys and keys with Alt come as several bytes, some of which
    look like letters; they are left out whole.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._inside = ""  # an escape sequence that is not complete: its first character, or how it goes on
        self._at = float("-inf")

    def feed(self, data: bytes, now: float) -> list[str]:
        if self._inside and now - self._at >= ESCAPE_GAP:
            self._inside = ""  # it was the Escape key alone
        keys: list[str] = []
        text = self._decode(data)
        for char in text:
            if self._inside:
                self._inside = self._goes_on(char)
            elif char == "\x1b":
                self._inside, self._at = char, now
            else:
                keys.append("\n" if char == "\r" else char)
        if self._inside:
            self._at = now
        if text == self._inside == "\x1b":
            keys.append("\x1b")  # the key alone, as far as can be told; what belongs to it is left out still
        return keys

    def _goes_on(self, char: str) -> str:
        if self._inside == "\x1b":
            return char if char in "[O\x1b" else ""
        if self._inside == "O":
            return ""
        return "" if "@" <= char <= "~" else self._inside


class Keyboard:
    """
    Single keys of a terminal, without Enter and without echo.

    A job in the background must not touch the terminal, or the system stops it;
    it gets its keys when it is in the foreground.
    """

    lines = False
    interactive = True

    def __init__(self, number: int) -> None:
        self._number = number
        self._saved: list[Any] | None = None
        self._strokes = Strokes()
        self._gone = False

    def __enter__(self) -> Keyboard:
        self.resume()
        return self

    def __exit__(self, *why: object) -> None:
        if self._saved is not None and self._foreground():
            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._number, termios.TCSANOW, self._saved)
        self._saved = None

    def fileno(self) -> int | None:
        return self._number if self._saved is not None and not self._gone and self._foreground() else None

    def read(self, now: float) -> list[str]:
        try:
            data = os.read(self._number, 4096)
        except OSError:  # the terminal was closed
            data = b""
        self._gone = not data
        return self._strokes.feed(data, now)

    def discard(self) -> bool:
        if self.fileno() is None or not select.select([self._number], [], [], 0)[0]:
            return False
        with contextlib.suppress(termios.error):  # gone, and what was typed with it
            termios.tcflush(self._number, termios.TCIFLUSH)
        return True

    def resume(self) -> None:
        """Take the terminal, again if a shell had it meanwhile."""
        if not self._foreground():
            return
        with contextlib.suppress(termios.error):  # gone; the end of it is read next
            if self._saved is None:
                self._saved = termios.tcgetattr(self._number)
            tty.setcbreak(self._number, termios.TCSANOW)  # waiting for output could take for ever

    def _foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._number) == os.getpgrp()
        except OSError:  # not our controlling terminal: nobody else has it either
            return True
