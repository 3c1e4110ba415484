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
    HAS_SINGLE_KEYS = False
else:
    HAS_SINGLE_KEYS = True

__all__ = ["InputSource", "KeyDecoder", "KeyboardInput", "LineInput", "NoInput", "ThreadedLineInput", "detect_input"]

READ_SIZE: Final = 65_536
MAX_LINE_BYTES: Final = 1_048_576
MAX_DISCARDED_READS: Final = 64  # pieces; what never ends is waited out instead
ESCAPE_TIMEOUT: Final = 0.5  # seconds within which the rest of a key's escape sequence comes


class InputSource(Protocol):
    """Where keys or lines come from."""

    is_line_based: bool  # whole lines, and not single keys
    is_interactive: bool  # a person sits at a terminal

    def __enter__(self) -> InputSource: ...

    def __exit__(self, *why: object) -> None: ...

    def fileno(self) -> int | None:
        """What to wait for; None while there is nothing to be had."""

    def read(self, now: float) -> list[str]:
        """What came, once :meth:`fileno` is ready: the keys pressed at once, or the lines."""

    def discard(self) -> bool:
        """Forget what was typed until now, and say whether there was anything."""

    def resume(self) -> None:
        """The process was stopped and goes on."""


def detect_input(stdin: IO[str] | None) -> InputSource:
    """What standard input is."""
    if stdin is None or stdin.closed:
        return NoInput()
    try:
        number = stdin.fileno()
    except (OSError, ValueError):  # a file that only this process knows
        return ThreadedLineInput(stdin)
    try:
        mode = os.fstat(number)
        empty = stat.S_ISCHR(mode.st_mode) and mode.st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return NoInput()
    if empty:
        return NoInput()
    if stdin.isatty():
        return KeyboardInput(number) if HAS_SINGLE_KEYS else ThreadedLineInput(stdin, interactive=True)
    return ThreadedLineInput(stdin) if sys.platform == "win32" else LineInput(number)


class NoInput:
    """Nothing is ever typed."""

    is_line_based = True
    is_interactive = False

    def __enter__(self) -> NoInput:
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


class LineInput:
    """Whole lines from a pipe or a file. A line that was begun before a discard is forgotten whole."""

    is_line_based = True
    is_interactive = False

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        self._buffer = b""
        self._is_skipping = False  # the rest of a forgotten line is still to come
        self._is_draining = False  # more was there than could be forgotten at once

    def __enter__(self) -> LineInput:
        return self

    def __exit__(self, *why: object) -> None:
        self._fd = None

    def fileno(self) -> int | None:
        return self._fd

    def read(self, now: float) -> list[str]:
        data = self._read_chunk()
        if self._is_draining:
            self._is_draining = self._is_ready()
            self._discard_data(data)
            return []
        self._buffer += data
        *whole, self._buffer = self._buffer.split(b"\n")
        if self._is_skipping and whole:
            del whole[0]
            self._is_skipping = False
        if len(self._buffer) > MAX_LINE_BYTES:  # no command is that long
            self._buffer, self._is_skipping = b"", True
        return [line.decode(errors="replace").removesuffix("\r") for line in whole]

    def discard(self) -> bool:
        found = bool(self._buffer)
        for _ in range(MAX_DISCARDED_READS):
            if not self._is_ready():
                break
            data = self._read_chunk()
            found = found or bool(data)
            self._discard_data(data)
        else:
            self._is_draining = True
        self._discard_data(b"")
        return found

    def resume(self) -> None:
        pass

    def _discard_data(self, data: bytes) -> None:
        data, self._buffer = self._buffer + data, b""
        if data:
            self._is_skipping = not data.endswith(b"\n")

    def _is_ready(self) -> bool:
        return self._fd is not None and bool(select.select([self._fd], [], [], 0)[0])

    def _read_chunk(self) -> bytes:
        """The next piece; at the end of it all there is nothing left to wait for."""
        data = self._receive(self._fd) if self._fd is not None else b""
        if not data:
            self._fd = None
        return data

    def _receive(self, number: int) -> bytes:
        return os.read(number, READ_SIZE)


class ThreadedLineInput(LineInput):
    """Lines of a file that cannot be waited for: a thread reads them and passes them on."""

    def __init__(self, file: IO[str], *, interactive: bool = False) -> None:
        super().__init__(None)
        self.is_interactive = interactive
        self._file = file

    def __enter__(self) -> ThreadedLineInput:
        self._read_socket, self._write_socket = socket.socketpair()
        self._fd = self._read_socket.fileno()
        threading.Thread(target=self._forward_lines, name="aaep-input", daemon=True).start()
        return self

    def __exit__(self, *why: object) -> None:
        super().__exit__(*why)
        self._read_socket.close()

    def _forward_lines(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._write_socket:  # either end may be closed meanwhile
            for line in self._file:
                self._write_socket.sendall(line.encode(errors="replace"))

    def _receive(self, number: int) -> bytes:
        return self._read_socket.recv(READ_SIZE)


# -- keys ----------------------------------------------------------------------------------


class KeyDecoder:
    """
    Bytes of a terminal to keys, without a clock or a terminal.

    Arrows, function keys and keys with Alt come as several bytes, some of which
    look like letters; they are left out whole.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._escape_state = ""  # an escape sequence that is not complete: its first character, or how it goes on
        self._escape_time = float("-inf")

    def feed(self, data: bytes, now: float) -> list[str]:
        if self._escape_state and now - self._escape_time >= ESCAPE_TIMEOUT:
            self._escape_state = ""  # it was the Escape key alone
        keys: list[str] = []
        text = self._decode(data)
        for char in text:
            if self._escape_state:
                self._escape_state = self._next_escape_state(char)
            elif char == "\x1b":
                self._escape_state, self._escape_time = char, now
            else:
                keys.append("\n" if char == "\r" else char)
        if self._escape_state:
            self._escape_time = now
        if text == self._escape_state == "\x1b":
            keys.append("\x1b")  # the key alone, as far as can be told; what belongs to it is left out still
        return keys

    def _next_escape_state(self, char: str) -> str:
        if self._escape_state == "\x1b":
            return char if char in "[O\x1b" else ""
        if self._escape_state == "O":
            return ""
        return "" if "@" <= char <= "~" else self._escape_state


class KeyboardInput:
    """
    Single keys of a terminal, without Enter and without echo.

    A job in the background must not touch the terminal, or the system stops it;
    it gets its keys when it is in the foreground.
    """

    is_line_based = False
    is_interactive = True

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._saved_mode: list[Any] | None = None
        self._decoder = KeyDecoder()
        self._is_closed = False

    def __enter__(self) -> KeyboardInput:
        self.resume()
        return self

    def __exit__(self, *why: object) -> None:
        if self._saved_mode is not None and self._is_foreground():
            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._fd, termios.TCSANOW, self._saved_mode)
        self._saved_mode = None

    def fileno(self) -> int | None:
        return self._fd if self._saved_mode is not None and not self._is_closed and self._is_foreground() else None

    def read(self, now: float) -> list[str]:
        try:
            data = os.read(self._fd, 4096)
        except OSError:  # the terminal was closed
            data = b""
        self._is_closed = not data
        return self._decoder.feed(data, now)

    def discard(self) -> bool:
        if self.fileno() is None or not select.select([self._fd], [], [], 0)[0]:
            return False
        with contextlib.suppress(termios.error):  # gone, and what was typed with it
            termios.tcflush(self._fd, termios.TCIFLUSH)
        return True

    def resume(self) -> None:
        """Take the terminal, again if a shell had it meanwhile."""
        if not self._is_foreground():
            return
        with contextlib.suppress(termios.error):  # gone; the end of it is read next
            if self._saved_mode is None:
                self._saved_mode = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSANOW)  # waiting for output could take for ever

    def _is_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:  # not our controlling terminal: nobody else has it either
            return True
