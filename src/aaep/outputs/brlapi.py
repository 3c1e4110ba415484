"""
A connection to BRLTTY, which drives the braille display, by the protocol of its BrlAPI.

The protocol is spoken here instead of through its library: every call of that waits for the server, and a display
that hangs must not hang the reader. A packet is a length, a type and data, all numbers big-endian.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from ..errors import AaepError
from ..text.phrases import ENGLISH, Phrases

__all__ = ["BrlapiConnection", "BrlttyUnavailable", "KeyCode", "Resized", "find_tty_path"]

PROTOCOL_VERSION: Final = 8
BASE_PORT: Final = 4101
SOCKET_FOLDER: Final = "/var/lib/BrlAPI"
KEY_FILE: Final = "/etc/brlapi.key"
ANSWER_TIMEOUT: Final = 3.0  # seconds
MAX_PACKET: Final = 4096  # bytes

_VERSION: Final = ord("v")
_AUTHORIZE: Final = ord("a")
_GET_SIZE: Final = ord("s")
_ENTER_TTY: Final = ord("t")
_LEAVE_TTY: Final = ord("L")
_KEY: Final = ord("k")
_IGNORE_KEYS: Final = ord("m")
_ACCEPT_KEYS: Final = ord("u")
_WRITE: Final = ord("w")
_ACKNOWLEDGED: Final = ord("A")
_ERROR: Final = ord("e")
_EXCEPTION: Final = ord("E")
_REQUEST_PARAMETER: Final = ord("P") << 8 | ord("R")
_PARAMETER_VALUE: Final = ord("P") << 8 | ord("V")
_PARAMETER_CHANGED: Final = ord("P") << 8 | ord("U")

_NO_AUTHORIZATION: Final = ord("N")
_KEY_AUTHORIZATION: Final = ord("K")
_WRITE_REGION: Final = 0x02
_WRITE_AND_MASK: Final = 0x08
_WRITE_OR_MASK: Final = 0x10
_WRITE_CURSOR: Final = 0x20
_SIZE_PARAMETER: Final = 6
_PARAMETER_FLAGS: Final = 0x01 | 0x100 | 0x200  # of all clients; its value, and its changes from now on
_ALL_KEYS: Final = (0, 0xFFFFFFFF_FFFFFFFF)

_Packet = tuple[int, bytes]


class BrlttyUnavailable(AaepError):
    """BRLTTY cannot be reached, refuses us, or was stopped."""


class KeyCode(msgspec.Struct, frozen=True):
    """A key of the display was pressed."""

    code: int


class Resized(msgspec.Struct, frozen=True):
    """The display has this many cells now; none while no display is connected."""

    width: int


def find_tty_path(environment: Mapping[str, str]) -> list[int]:
    """
    Return which terminal the reader runs in, as numbers from the outermost to the innermost.

    Empty means to be shown wherever the focus is, as no more is known.
    """
    numbers = environment.get("WINDOWPATH", "").split(":") if environment.get("WINDOWPATH") else []
    path = [int(number) for number in numbers if number.isdecimal()]
    if not path and environment.get("XDG_VTNR", "").isdecimal():
        path = [int(environment["XDG_VTNR"])]
    return path


class BrlapiConnection:
    """
    One connection, from its beginning until it is lost.

    Raises :exc:`BrlttyUnavailable` from every method when it is. ``host`` is written as in ``BRLAPI_HOST``:
    ``address:number`` for TCP, ``:number`` for a socket on this machine.
    """

    def __init__(
        self,
        *,
        host: str = "",
        key_file: str = "",
        tty_path: Sequence[int] = (),
        key_ranges: Sequence[tuple[int, int]] = (),
        timeout: float = ANSWER_TIMEOUT,
        phrases: Phrases = ENGLISH,
    ) -> None:
        self._key_file = key_file or KEY_FILE
        self._received = bytearray()
        self._events: list[KeyCode | Resized] = []
        self.width = 0
        self._socket = _connect(host, timeout, phrases)
        try:
            self._shake_hands()
            self.width = self._ask_width()
            self._request(_REQUEST_PARAMETER, struct.pack(">4I", _PARAMETER_FLAGS, _SIZE_PARAMETER, 0, 0))
            self._request(_ENTER_TTY, struct.pack(f">{len(tty_path) + 1}I", len(tty_path), *tty_path) + b"\0")
            self._request(_IGNORE_KEYS, _pack_ranges([_ALL_KEYS]))
            self._request(_ACCEPT_KEYS, _pack_ranges(key_ranges))
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._socket.fileno()

    def write(self, cells: bytes, cursor: int | None) -> None:
        """Show cells on the whole display, with the cursor on one of them, counted from 0."""
        if not self.width:
            return
        cells = cells[: self.width].ljust(self.width, b"\0")
        flags = _WRITE_REGION | _WRITE_AND_MASK | _WRITE_OR_MASK | _WRITE_CURSOR
        region = struct.pack(">II", 1, self.width)
        cursor_cell = struct.pack(">I", 0 if cursor is None else cursor + 1)
        self._send(_WRITE, struct.pack(">I", flags) + region + bytes(self.width) + cells + cursor_cell)

    def read(self) -> list[KeyCode | Resized]:
        """Return what was reported since the last call; call it when the descriptor can be read."""
        self._receive()
        for kind, data in self._take_packets():
            self._handle(kind, data)
        events = self._events
        self._events = []
        return events

    def close(self) -> None:
        """Give the display back and close the connection."""
        try:
            self._send(_LEAVE_TTY)
        except BrlttyUnavailable:
            pass
        finally:
            self._socket.close()

    # -- packets ---------------------------------------------------------------------------

    def _shake_hands(self) -> None:
        data = self._await(_VERSION)[1]
        if len(data) < 4 or struct.unpack(">I", data[:4])[0] != PROTOCOL_VERSION:
            raise BrlttyUnavailable("This BRLTTY speaks another protocol. Install BRLTTY 5 or newer.")
        self._send(_VERSION, struct.pack(">I", PROTOCOL_VERSION))
        data = self._await(_AUTHORIZE)[1]
        methods = struct.unpack(f">{len(data) // 4}I", data[: len(data) // 4 * 4])
        if _NO_AUTHORIZATION in methods:
            return
        if _KEY_AUTHORIZATION not in methods:
            raise BrlttyUnavailable("BRLTTY does not let us in: it asks for credentials that we do not have.")
        try:
            key = Path(self._key_file).read_bytes()
        except OSError as error:
            raise BrlttyUnavailable(
                f"BRLTTY lets in those who can read {self._key_file}, and we cannot: {error.strerror}. "
                "Become a member of the group that can."
            ) from error
        self._request(_AUTHORIZE, struct.pack(">I", _KEY_AUTHORIZATION) + key)

    def _ask_width(self) -> int:
        self._send(_GET_SIZE)
        return _parse_width(self._await(_GET_SIZE)[1])

    def _request(self, kind: int, data: bytes) -> None:
        """Send a packet and wait until it is acknowledged."""
        self._send(kind, data)
        self._await(_ACKNOWLEDGED, _PARAMETER_VALUE)

    def _await(self, *kinds: int) -> _Packet:
        """Wait for a packet of one of these types, and handle what comes before it."""
        while True:
            for kind, data in self._take_packets():
                if kind in kinds:
                    return kind, data
                if kind in (_ERROR, _EXCEPTION):
                    code = struct.unpack(">I", data[:4])[0] if len(data) >= 4 else 0
                    raise BrlttyUnavailable(f"BRLTTY refused us, with error {code}. See its log.")
                self._handle(kind, data)
            self._receive()

    def _handle(self, kind: int, data: bytes) -> None:
        if kind == _KEY and len(data) >= 8:
            self._events.append(KeyCode(struct.unpack(">Q", data[:8])[0]))
        elif kind == _GET_SIZE:
            width = _parse_width(data)
            if width != self.width:
                self.width = width
                self._events.append(Resized(width))
        elif kind in (_PARAMETER_CHANGED, _EXCEPTION):
            # BRLTTY 6.5 writes the changed size in the byte order of the machine, and a write that was on its way
            # when the size changed is an exception: ask.
            self._send(_GET_SIZE)

    def _take_packets(self) -> Iterator[_Packet]:
        while len(self._received) >= 8:
            length, kind = struct.unpack(">II", self._received[:8])
            if length > MAX_PACKET:
                raise BrlttyUnavailable("What answers at the address of BRLTTY is something else. Check BRLAPI_HOST.")
            if len(self._received) < 8 + length:
                return
            data = bytes(self._received[8 : 8 + length])
            del self._received[: 8 + length]
            yield kind, data

    def _send(self, kind: int, data: bytes = b"") -> None:
        try:
            self._socket.sendall(struct.pack(">II", len(data), kind) + data)
        except OSError as error:
            raise BrlttyUnavailable("The connection to BRLTTY is lost.") from error

    def _receive(self) -> None:
        try:
            data = self._socket.recv(MAX_PACKET)
        except OSError as error:
            raise BrlttyUnavailable("BRLTTY does not answer.") from error
        if not data:
            raise BrlttyUnavailable("BRLTTY was stopped.")
        self._received += data


def _connect(host: str, timeout: float, phrases: Phrases) -> socket.socket:
    name, _, number = host.rpartition(":")
    if not number.isdecimal():
        name, number = host, "0"
    family = socket.AF_INET if name else socket.AF_UNIX
    if name.startswith("["):
        family, name = socket.AF_INET6, name.strip("[]")
    address = (name, BASE_PORT + int(number)) if name else os.path.join(SOCKET_FOLDER, number)
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(address)
    except OSError as error:
        connection.close()
        where = f"{name}:{BASE_PORT + int(number)}" if name else address
        raise BrlttyUnavailable(phrases.format("braille-unavailable", address=where)) from error
    return connection


def _parse_width(data: bytes) -> int:
    """Return the number of cells; of a display with several rows, those of the first."""
    if len(data) < 8:
        raise BrlttyUnavailable("BRLTTY does not say how many cells the display has.")
    return int(struct.unpack(">II", data[:8])[0])


def _pack_ranges(ranges: Sequence[tuple[int, int]]) -> bytes:
    return b"".join(struct.pack(">QQ", first, last) for first, last in ranges)
