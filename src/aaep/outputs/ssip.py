"""
A client of Speech Dispatcher: one connection, commands with their replies, and events.

The protocol is lines of text. A reply is lines ``NNN-data`` and a last one ``NNN text``; what begins with 7 is an
event about a message, and may come at any time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Literal

import msgspec

from ..errors import AaepError
from ..text.phrases import ENGLISH, Phrases

__all__ = ["SpeechConnection", "SpeechEvent", "SpeechUnavailable", "connect_to_server", "find_address", "spawn_server"]

CONNECT_TIMEOUT: Final = 3.0  # seconds
REPLY_TIMEOUT: Final = 10.0  # seconds; the list of voices has thousands of lines
SPAWN_TIMEOUT: Final = 10.0  # seconds
DEFAULT_PORT: Final = 6560
_MAX_LINE: Final = 65_536  # bytes
_EVENT_KINDS: Final[Mapping[str, EventKind]] = {
    "700": "mark",
    "701": "begin",
    "702": "end",
    "703": "cancel",
    "704": "pause",
    "705": "resume",
}

EventKind = Literal["begin", "mark", "end", "cancel", "pause", "resume"]


class SpeechUnavailable(AaepError):
    """Speech Dispatcher does not answer, or no longer does."""


class SpeechEvent(msgspec.Struct, frozen=True):
    """What happened to a message: its speech began, came to an index mark, ended, was cancelled or paused."""

    kind: EventKind
    message_id: str
    mark: str = ""


class ServerAddress(msgspec.Struct, frozen=True):
    """Where Speech Dispatcher listens: a socket's path, or a host and a port."""

    path: str = ""
    host: str = ""
    port: int = 0
    is_default: bool = False  # nobody named it, so that the server may be started there


def find_address(environment: Mapping[str, str] = os.environ, phrases: Phrases = ENGLISH) -> ServerAddress:
    """Return the address in ``SPEECHD_ADDRESS``, or that of the user's own server."""
    text = environment.get("SPEECHD_ADDRESS", "")
    method, _, rest = text.partition(":")
    if method == "unix_socket" and rest:
        return ServerAddress(path=rest)
    if method == "inet_socket":
        host, _, port = rest.partition(":")
        if port and not port.isdecimal():
            raise SpeechUnavailable(phrases.format("speech-address", address=text))
        return ServerAddress(host=host or "127.0.0.1", port=int(port or DEFAULT_PORT))
    if text and text != "unix_socket":
        raise SpeechUnavailable(phrases.format("speech-address", address=text))
    folder = environment.get("XDG_RUNTIME_DIR") or str(Path.home() / ".cache")
    return ServerAddress(path=f"{folder}/speech-dispatcher/speechd.sock", is_default=True)


def spawn_server() -> bool:
    """Start the user's Speech Dispatcher if it is installed; return whether that went well."""
    program = shutil.which("speech-dispatcher")
    if program is None:
        return False
    try:
        subprocess.run(
            [program, "--spawn"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SPAWN_TIMEOUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def connect_to_server(address: ServerAddress, phrases: Phrases = ENGLISH) -> socket.socket:
    """Connect to Speech Dispatcher; at the user's own address it is started if it does not run."""
    try:
        return _connect(address)
    except OSError as error:
        if not (address.is_default and spawn_server()):
            raise SpeechUnavailable(phrases["speech-unavailable"]) from error
    try:
        return _connect(address)
    except OSError as error:
        raise SpeechUnavailable(phrases["speech-unavailable"]) from error


def _connect(address: ServerAddress) -> socket.socket:
    if not address.path:
        return socket.create_connection((address.host, address.port), CONNECT_TIMEOUT)
    if not hasattr(socket, "AF_UNIX"):
        raise OSError  # there are none on Windows
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_TIMEOUT)
        connection.connect(address.path)
    except OSError:
        connection.close()
        raise
    return connection


class SpeechConnection:
    """
    A connection to Speech Dispatcher, whose commands are given by one thread.

    Another thread reads. It calls ``on_event`` with every event, and ``on_lost`` when the connection ends by
    itself.
    """

    def __init__(
        self,
        connection: socket.socket,
        on_event: Callable[[SpeechEvent], None],
        on_lost: Callable[[], None],
        phrases: Phrases = ENGLISH,
    ) -> None:
        self._socket = connection
        self._phrases = phrases  # of errors
        self._socket.settimeout(None)
        self._on_event = on_event
        self._on_lost = on_lost
        self._replies: SimpleQueue[tuple[str, list[str]] | None] = SimpleQueue()
        self._is_closed = False
        self._thread = threading.Thread(target=self._receive, name="aaep-speech-events", daemon=True)
        self._thread.start()

    def command(self, line: str) -> list[str]:
        """Give a command and return the data lines of its reply. Raises :exc:`SpeechUnavailable`."""
        code, data = self._exchange(line.encode() + b"\r\n")
        if not code.startswith("2"):
            raise SpeechUnavailable(self._phrases.format("speech-refused", value=line.rsplit(" ", maxsplit=1)[-1]))
        return data

    def speak(self, markup: str) -> str:
        """Give a text to be spoken, on one line, and return the id of its message."""
        self.command("SPEAK")
        stuffed = f".{markup}" if markup.startswith(".") else markup
        code, data = self._exchange(stuffed.encode() + b"\r\n.\r\n")
        if not (code == "225" and data):
            raise SpeechUnavailable(self._phrases["speech-unavailable"])
        return data[0]

    def close(self) -> None:
        """Close the connection; what was given last is still spoken."""
        self._is_closed = True
        with contextlib.suppress(OSError):
            self._socket.sendall(b"QUIT\r\n")
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._socket.close()

    def _exchange(self, data: bytes) -> tuple[str, list[str]]:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise SpeechUnavailable(self._phrases["speech-unavailable"]) from error
        reply = self._replies.get(timeout=REPLY_TIMEOUT)
        if reply is None:
            raise SpeechUnavailable(self._phrases["speech-unavailable"])
        return reply

    def _receive(self) -> None:
        data: list[str] = []
        with contextlib.suppress(OSError), self._socket.makefile("rb") as lines:
            while line := lines.readline(_MAX_LINE):
                text = line.decode(errors="replace").rstrip("\r\n")
                if text[3:4] == "-":
                    data.append(text[4:])
                    continue
                self._dispatch(text[:3], data)
                data = []
        self._replies.put(None)
        if not self._is_closed:
            self._on_lost()

    def _dispatch(self, code: str, data: list[str]) -> None:
        kind = _EVENT_KINDS.get(code)
        if kind is None:
            self._replies.put((code, data))
        elif data:
            self._on_event(SpeechEvent(kind, data[0], data[2] if kind == "mark" and len(data) > 2 else ""))
