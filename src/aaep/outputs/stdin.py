"""
Sources of typed input: single keys of a terminal, or whole lines of standard input.

A source has a descriptor to wait for, returns what arrived, and discards on
demand what was typed too early to be meant.
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
except ImportError:  # Windows
    HAS_SINGLE_KEYS = False
else:
    HAS_SINGLE_KEYS = True

__all__ = [
    "ARROW_DOWN",
    "ARROW_UP",
    "InputSource",
    "KeyDecoder",
    "KeyboardInput",
    "LineInput",
    "NoInput",
    "ThreadedLineInput",
    "detect_input",
]

READ_SIZE: Final = 65_536  # bytes
MAX_LINE_BYTES: Final = 1_048_576  # bytes
MAX_DISCARDED_READS: Final = 64  # at once; the rest of an endless input is discarded as it arrives
ARROW_UP: Final = "\x1b[A"
ARROW_DOWN: Final = "\x1b[B"
_ARROWS: Final = {"A": ARROW_UP, "B": ARROW_DOWN}
ESCAPE_TIMEOUT: Final = 0.5  # seconds within which the rest of an escape sequence arrives


class InputSource(Protocol):
    """A source of keys or lines."""

    is_line_based: bool  # whole lines instead of single keys
    is_interactive: bool  # a person at a terminal

    def __enter__(self) -> InputSource: ...

    def __exit__(self, *exc_info: object) -> None: ...

    def fileno(self) -> int | None:
        """Return the descriptor to wait for, None while nothing can be read."""

    def read(self, now: float) -> list[str]:
        """Return the keys or lines that arrived, once :meth:`fileno` is ready."""

    def discard(self) -> bool:
        """Discard what was typed so far and return whether there was anything."""

    def resume(self) -> None:
        """Continue after the process was stopped."""


def detect_input(stdin: IO[str] | None, *, single_keys: bool = True) -> InputSource:
    """Return the input source that suits a standard input; without ``single_keys``, a terminal gives whole lines."""
    if stdin is None or stdin.closed:
        return NoInput()
    try:
        fd = stdin.fileno()
    except (OSError, ValueError):  # a file object without a descriptor
        return ThreadedLineInput(stdin)
    try:
        file_stat = os.fstat(fd)
        is_null_device = stat.S_ISCHR(file_stat.st_mode) and file_stat.st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return NoInput()
    if is_null_device:
        return NoInput()
    if stdin.isatty() and HAS_SINGLE_KEYS:
        return KeyboardInput(fd) if single_keys else LineInput(fd, interactive=True)
    if stdin.isatty():
        return ThreadedLineInput(stdin, interactive=True)
    return ThreadedLineInput(stdin) if sys.platform == "win32" else LineInput(fd)


class NoInput:
    """An input source without any input."""

    is_line_based = True
    is_interactive = False

    def __enter__(self) -> NoInput:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def fileno(self) -> int | None:
        """Return None: there is nothing to wait for."""
        return None

    def read(self, now: float) -> list[str]:
        """Return no lines."""
        return []

    def discard(self) -> bool:
        """Return False: there is nothing to discard."""
        return False

    def resume(self) -> None:
        """Do nothing."""


# -- lines ---------------------------------------------------------------------------------


class LineInput:
    """Whole lines from a pipe or a file. A line that began before a discard is discarded as a whole."""

    is_line_based = True

    def __init__(self, fd: int | None, *, interactive: bool = False) -> None:
        self.is_interactive = interactive
        self._fd = fd
        self._buffer = b""
        self._is_skipping = False  # the rest of a discarded line is still to come
        self._is_draining = False  # there was more than could be discarded at once

    def __enter__(self) -> LineInput:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._fd = None

    def fileno(self) -> int | None:
        """Return the descriptor, None after the end of the input."""
        return self._fd

    def read(self, now: float) -> list[str]:
        """Return the complete lines that arrived."""
        data = self._read_chunk()
        if self._is_draining:
            self._is_draining = self._is_ready()
            self._discard_data(data)
            return []
        self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        if self._is_skipping and lines:
            del lines[0]
            self._is_skipping = False
        if len(self._buffer) > MAX_LINE_BYTES:  # no command is that long
            self._buffer = b""
            self._is_skipping = True
        return [line.decode(errors="replace").removesuffix("\r") for line in lines]

    def discard(self) -> bool:
        """Discard what can be read now, and the rest of a line that has begun."""
        has_discarded = bool(self._buffer)
        for _ in range(MAX_DISCARDED_READS):
            if not self._is_ready():
                break
            data = self._read_chunk()
            has_discarded = has_discarded or bool(data)
            self._discard_data(data)
        else:
            self._is_draining = True
        self._discard_data(b"")
        return has_discarded

    def resume(self) -> None:
        """Do nothing: a pipe needs no restoring."""

    def _discard_data(self, data: bytes) -> None:
        discarded = self._buffer + data
        self._buffer = b""
        if discarded:
            self._is_skipping = not discarded.endswith(b"\n")

    def _is_ready(self) -> bool:
        return self._fd is not None and bool(select.select([self._fd], [], [], 0)[0])

    def _read_chunk(self) -> bytes:
        """Return the next bytes, and forget the descriptor at the end of the input."""
        data = self._receive(self._fd) if self._fd is not None else b""
        if not data:
            self._fd = None
        return data

    def _receive(self, fd: int) -> bytes:
        return os.read(fd, READ_SIZE)


class ThreadedLineInput(LineInput):
    """Lines of a file that select() cannot wait for, which a thread reads and forwards over a socket."""

    def __init__(self, file: IO[str], *, interactive: bool = False) -> None:
        super().__init__(None, interactive=interactive)
        self._file = file

    def __enter__(self) -> ThreadedLineInput:
        self._read_socket, self._write_socket = socket.socketpair()
        self._fd = self._read_socket.fileno()
        threading.Thread(target=self._forward_lines, name="aaep-input", daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self._read_socket.close()

    def _forward_lines(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._write_socket:  # either end may be closed meanwhile
            for line in self._file:
                self._write_socket.sendall(line.encode(errors="replace"))

    def _receive(self, fd: int) -> bytes:
        return self._read_socket.recv(READ_SIZE)


# -- keys ----------------------------------------------------------------------------------


class KeyDecoder:
    """
    Decodes the bytes of a terminal into keys.

    Arrows, function keys and keys with Alt arrive as escape sequences of several
    bytes, some of which look like letters; all but the arrows up and down are left out as a whole.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._escape_state = ""  # the last decisive character of an incomplete escape sequence
        self._escape_time = float("-inf")
        self._is_bare = False  # nothing but the letter of an arrow is missing

    def feed(self, data: bytes, now: float) -> list[str]:
        """Return the keys that some bytes stand for; an incomplete sequence waits for the next bytes."""
        if self._escape_state and now - self._escape_time >= ESCAPE_TIMEOUT:
            self._escape_state = ""  # it was the Escape key alone
        keys: list[str] = []
        text = self._decode(data)
        for char in text:
            if self._escape_state:
                if self._is_bare and self._escape_state in "[O" and char in _ARROWS:
                    keys.append(_ARROWS[char])
                # With numbers or a second Escape it has a modifier, and after an Escape that was told it is no arrow.
                self._is_bare = self._is_bare and self._escape_state == "\x1b" and char in "[O"
                self._escape_state = self._next_escape_state(char)
            elif char == "\x1b":
                self._escape_state = char
                self._escape_time = now
                self._is_bare = True
            else:
                keys.append("\n" if char == "\r" else char)
        if self._escape_state:
            self._escape_time = now
        if text == self._escape_state == "\x1b":
            keys.append("\x1b")  # probably the key alone; a sequence that continues it is still left out
            self._is_bare = False
        return keys

    def _next_escape_state(self, char: str) -> str:
        if self._escape_state == "\x1b":
            return char if char in "[O\x1b" else ""
        if self._escape_state == "O":
            return ""
        if char == "[":  # F1 to F5 of the Linux console have two of them, and then one letter
            return "O"
        return "" if "@" <= char <= "~" else self._escape_state


class KeyboardInput:
    """
    Single keys of a terminal, without Enter and without echo.

    A background job must not touch the terminal, or the system stops it; it
    gets keys only while it is in the foreground.
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

    def __exit__(self, *exc_info: object) -> None:
        if self._saved_mode is not None and self._is_foreground():
            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._fd, termios.TCSANOW, self._saved_mode)
        self._saved_mode = None

    def fileno(self) -> int | None:
        """Return the terminal's descriptor, None while in the background or after it was closed."""
        can_read = self._saved_mode is not None and not self._is_closed and self._is_foreground()
        return self._fd if can_read else None

    def read(self, now: float) -> list[str]:
        """Return the keys that were pressed."""
        try:
            data = os.read(self._fd, 4096)
        except OSError:  # the terminal was closed
            data = b""
        self._is_closed = not data
        return self._decoder.feed(data, now)

    def discard(self) -> bool:
        """Discard the keys that were not read yet."""
        if self.fileno() is None or not select.select([self._fd], [], [], 0)[0]:
            return False
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcflush(self._fd, termios.TCIFLUSH)
        return True

    def resume(self) -> None:
        """Set the terminal to single keys, again if a shell had it meanwhile."""
        if not self._is_foreground():
            return
        with contextlib.suppress(termios.error):  # the terminal is gone; the next read returns its end
            if self._saved_mode is None:
                self._saved_mode = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd, termios.TCSANOW)  # TCSADRAIN could wait for output for ever

    def _is_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:  # not our controlling terminal, so no other job has it
            return True
