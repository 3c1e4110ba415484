"""
Captures: files that hold the messages of a subscription, one per line.

The first line is the header, with the source and the negotiated terms::

    {"aaep_capture": 1, "source": …, "started": …, "terms": {…}}

Each line after it is a message with its time, its direction (``out`` from the
producer or ``in`` from the subscriber), its subscription and its transport::

    {"at": …, "dir": "out", "via": "sub_…", "transport": "sse", "message": {…}}

or a gap: the connection was lost, it was resumed, or messages are missing for
good::

    {"at": …, "via": "sub_…", "gap": "lost" | "resumed" | "missed", "why": …}

A capture always ends with a complete line, even if the writing program crashes.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Literal, Self, TypeAlias

import msgspec

from ..errors import AaepError
from ..protocol.timestamps import parse_instant
from ..subscriber.record import Direction
from ..subscriber.status import UNREADABLE, Status
from .recordings import BOM, CAPTURE_VERSION

__all__ = ["CaptureEntry", "CaptureError", "CaptureWriter", "LineFile", "read_capture"]

MAX_LINE_BYTES: Final = 2 * 1_048_576  # bytes: a message of 1 MiB (CF-114) and its entry
_BLOCK_SIZE: Final = 65_536  # bytes

FaultCallback = Callable[[int, str], object]
GapKind: TypeAlias = Literal["lost", "resumed", "missed"]


class CaptureError(AaepError):
    """Raised for a file that is not a capture of this version; the message says what to do."""


class CaptureEntry(msgspec.Struct, omit_defaults=True):
    """A line of a capture after the header: a message or a gap."""

    at: str = ""
    dir: Direction | Literal[""] = msgspec.field(default="out")  # unknown for a bare message
    via: str = ""
    transport: str = ""
    message: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    gap: GapKind | Literal[""] = ""
    why: str = ""


class _MessageHead(msgspec.Struct):
    """The members of a message that the writer looks at; their values are not validated."""

    type: Any = ""
    subscription_id: Any = ""
    session_id: Any = ""
    event_id: Any = ""
    reply_token: Any = ""
    honored_capabilities: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


_encode: Final = msgspec.json.Encoder().encode
_decode_head: Final = msgspec.json.Decoder(_MessageHead).decode
_decode_entry: Final = msgspec.json.Decoder(CaptureEntry).decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


# -- line file -----------------------------------------------------------------------------


class LineFile:
    """
    A file that holds only complete lines: a line that cannot be written completely is removed again.

    An existing file raises :exc:`CaptureError` unless ``append`` is true. A
    partial line at the end of an appended file is removed, and
    ``has_dropped_partial_line`` is then true.
    """

    def __init__(self, path: str | Path | int, *, append: bool = False) -> None:
        self.has_dropped_partial_line = False
        self._created_path: Path | None = None
        if isinstance(path, int):
            self._fd = path
        else:
            self._fd = self._open(Path(path), append)
        try:
            self._is_regular_file = stat.S_ISREG(os.fstat(self._fd).st_mode)
            self.size = os.fstat(self._fd).st_size if self._is_regular_file else 0
            self.is_resumed = append and self._is_regular_file and self._resume()
        except BaseException:
            self._close_fd()
            raise

    def _open(self, path: Path, append: bool) -> int:
        try:
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            if not append and stat.S_ISREG(path.stat().st_mode):
                raise CaptureError(
                    f"{path} is there already. Give another name, or --append to go on with it."
                ) from None
            return os.open(path, (os.O_RDWR if append else os.O_WRONLY) | os.O_APPEND | os.O_CLOEXEC)
        self._created_path = path
        return file

    def _resume(self) -> bool:
        """Remove a partial line at the end of an existing capture; return whether any line is left."""
        if not self.size:
            return False
        first_line = os.pread(self._fd, _BLOCK_SIZE, 0).partition(b"\n")[0]
        try:
            header = _decode_members(first_line.removeprefix(BOM))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            header = {}
        if bytes(header.get("aaep_capture", b"")) != b"%d" % CAPTURE_VERSION:
            raise CaptureError(
                f"The file is no capture of version {CAPTURE_VERSION}, so nothing was added. Give another name."
            )
        end = self.size
        while end:  # ends at 0 if even the header is incomplete
            start = max(0, end - _BLOCK_SIZE)
            newline = os.pread(self._fd, end - start, start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end != self.size:
            self.has_dropped_partial_line = True
            os.ftruncate(self._fd, end)
            self.size = end
        return end > 0

    def write(self, line: bytes) -> None:
        """Append a line, which must end with a newline."""
        unwritten = memoryview(line)
        try:
            while unwritten:
                unwritten = unwritten[os.write(self._fd, unwritten) :]
        except OSError:
            if self._is_regular_file and len(unwritten) < len(line):
                os.ftruncate(self._fd, self.size)
            raise
        self.size += len(line)

    def close(self) -> None:
        """Close the file, and remove it if it was created here and is empty."""
        if self._created_path is not None and not self.size:
            self._created_path.unlink(missing_ok=True)
        self._created_path = None
        self._close_fd()

    def _close_fd(self) -> None:
        if self._fd > 2:
            os.close(self._fd)
        self._fd = -1


# -- writer --------------------------------------------------------------------------------


class CaptureWriter:
    """
    Writes the messages of a subscriber to a capture, on the subscriber's own thread.

    ``session_id`` limits the capture to the events and replies of one session,
    ``max_events`` to a number of events. ``on_done`` is called once, when
    ``max_events`` is reached or writing has failed; ``error`` then holds the
    failure.
    """

    def __init__(
        self,
        file: LineFile,
        *,
        source: str,
        transport: str = "",
        session_id: str = "",
        max_events: int | None = None,
        on_done: Callable[[], object] = lambda: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.message_count = 0
        self.event_count = 0
        self.gap_count = 0
        self.error: OSError | None = None
        self._file = file
        self._source = source
        self._transport = transport
        self._session_id = session_id
        self._max_events = max_events
        self._on_done = on_done
        self._wall = wall
        self._subscription_id = ""
        self._has_header = file.is_resumed
        self._last_time = 0.0
        # The time and bytes of a subscription request; its answer tells the subscription it belongs to.
        self._held_request: tuple[str, bytes] | None = None
        self._session_tokens: set[str] = set()  # reply tokens of the session's prompts
        self._is_connection_lost = False
        self._is_done = False
        self._lock = threading.Lock()  # messages and statuses may come from different threads

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _is_full(self) -> bool:
        return self._max_events is not None and self.event_count >= self._max_events

    def record(self, direction: Direction, data: bytes) -> None:
        """Write a message; empty data means one that could not be read."""
        with self._lock:
            try:
                if data:
                    self._handle_message(direction, data)
                elif not self._is_full:
                    self._write_gap("missed", UNREADABLE.text)
            except OSError as error:
                self._fail(error)

    def record_status(self, status: Status) -> None:
        """Write a gap if a status says that the connection was lost or that messages are missing."""
        with self._lock:
            try:
                if self._is_full:
                    return  # nothing is recorded any more, so nothing can be missing
                if status.kind == "waiting" and self._subscription_id and not self._is_connection_lost:
                    self._is_connection_lost = True
                    self._write_gap("lost", status.text)
                elif status.kind == "gap":
                    self._write_gap("missed", status.text)
            except OSError as error:
                self._fail(error)

    def close(self) -> None:
        """Stop writing and close the file."""
        with self._lock:
            self._is_done = True
            self._file.close()

    # -- called with the lock held -----------------------------------------------------------

    def _handle_message(self, direction: Direction, data: bytes) -> None:
        if self._is_done:
            return
        head, message = _inspect(data)
        if head.type == "subscription.request":
            # Its subscription id is known only from the answer, and a request without an answer is not recorded.
            self._held_request = (self._timestamp(), message)
            return
        if direction == "out" and head.type in ("subscription.accepted", "subscription.rejected"):
            self._handle_handshake_answer(head)
        if not self._is_wanted(direction, head):
            return
        if direction == "out" and self._is_connection_lost:
            self._is_connection_lost = False
            self._write_gap("resumed")
        self._write_message(direction, self._timestamp(), message)
        if head.event_id and direction == "out":
            if self._session_id and isinstance(head.reply_token, str) and head.reply_token:
                self._session_tokens.add(head.reply_token)
            self.event_count += 1
            if self.event_count == self._max_events:
                self._on_done()

    def _handle_handshake_answer(self, head: _MessageHead) -> None:
        if head.type == "subscription.accepted":
            self._subscription_id = str(head.subscription_id)
            if not self._has_header:
                self._write_header(head)
        if self._held_request is not None and self._has_header:
            self._write_message("in", *self._held_request)
        self._held_request = None

    def _write_header(self, head: _MessageHead) -> None:
        started = self._held_request[0] if self._held_request is not None else self._timestamp()
        header = {"aaep_capture": CAPTURE_VERSION, "source": self._source, "started": started}
        if bytes(head.honored_capabilities):
            header["terms"] = head.honored_capabilities
        self._file.write(_encode(header) + b"\n")
        self._has_header = True

    def _is_wanted(self, direction: Direction, head: _MessageHead) -> bool:
        """Return whether to write a message: every handshake, and the selected events and their replies."""
        if not self._has_header:
            return False  # a rejected request begins no capture
        if head.event_id and direction == "out":
            return not self._is_full and (not self._session_id or head.session_id == self._session_id)
        if self._session_id and direction == "in" and head.reply_token:
            return head.reply_token in self._session_tokens
        return True

    def _write_message(self, direction: Direction, at: str, message: bytes) -> None:
        line = b'{"at":"%b","dir":"%b","via":%b,"transport":%b,"message":%b}\n' % (
            at.encode(),
            direction.encode(),
            _encode(self._subscription_id),
            _encode(self._transport),
            message,
        )
        self._file.write(line)
        self.message_count += 1

    def _write_gap(self, kind: GapKind, why: str = "") -> None:
        if self._has_header and not self._is_done:
            entry = {"at": self._timestamp(), "via": self._subscription_id, "gap": kind}
            if why:
                entry["why"] = why
            self._file.write(_encode(entry) + b"\n")
            self.gap_count += kind == "lost"

    def _timestamp(self) -> str:
        """Return the time to the microsecond, never before the previous line even if the clock is set back."""
        self._last_time = max(self._last_time, self._wall())
        seconds, microseconds = divmod(int(self._last_time * 1_000_000), 1_000_000)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{microseconds:06}Z"

    def _fail(self, error: OSError) -> None:
        self.error = error
        self._is_done = True
        self._on_done()


def _inspect(data: bytes) -> tuple[_MessageHead, bytes]:
    """Return the head of a message, and its JSON on one line; what is not JSON becomes a JSON string."""
    try:
        data.decode()
        head = _decode_head(data) if data.lstrip()[:1] == b"{" else _MessageHead()
        if b"\n" in data or b"\r" in data:
            data = msgspec.json.format(data, indent=-1)
        if len(data) and data[:1] != b"{":
            msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _MessageHead(), _encode(data.decode(errors="backslashreplace"))
    return head, data or b'""'


# -- reader --------------------------------------------------------------------------------


def read_capture(
    file: IO[bytes], on_fault: FaultCallback = lambda _number, _why: None
) -> Iterator[tuple[int, CaptureEntry]]:
    """
    Yield the entries of a capture, or of a file with one bare message per line, with their line numbers.

    ``on_fault`` is called with the number of each line that cannot be read and
    the reason; reading goes on after it. Raises :exc:`CaptureError` for a
    capture of another version.
    """
    for number, raw in enumerate(_read_lines(file), start=1):
        if not raw.strip():
            continue
        if len(raw) > MAX_LINE_BYTES:
            on_fault(number, "The line is too long.")
            continue
        entry = _parse_line(raw, number, on_fault)
        if entry is not None:
            yield number, entry


def _read_lines(file: IO[bytes]) -> Iterable[bytes]:
    """Yield the lines of a file; of one that is too long, only the beginning."""
    while True:
        line = file.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        yield line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)
            if not line:
                return


def _parse_line(raw: bytes, number: int, on_fault: FaultCallback) -> CaptureEntry | None:
    """Parse a line into an entry; return None for the header and for a line that cannot be read."""
    if number == 1:
        raw = raw.removeprefix(BOM)
    try:
        if number == 1 and _is_header(raw):
            return None
        entry = _parse_entry(raw)
        if entry.at and parse_instant(entry.at) is None:
            on_fault(number, "Its time cannot be read.")
            entry.at = ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        on_fault(number, str(error))
        return None
    return entry


def _is_header(raw: bytes) -> bool:
    """Whether a line is the header of a capture; raise :exc:`CaptureError` for another version."""
    if b'"aaep_capture"' not in raw:
        return False
    value = _decode_members(raw).get("aaep_capture")
    if value is None:
        return False
    version = bytes(value).decode()
    if version[:1] not in "-0123456789":
        raise CaptureError('Its header must give the version as a number: "aaep_capture": 1.')
    if version != str(CAPTURE_VERSION):
        raise CaptureError(f"It is a capture of version {version}; this program reads version {CAPTURE_VERSION}.")
    return True


def _parse_entry(raw: bytes) -> CaptureEntry:
    """Parse an entry, or wrap a bare message in one."""
    try:
        entry = _decode_entry(raw)
        if bytes(entry.message) or entry.gap:
            return entry
    except msgspec.ValidationError:
        if "message" in _decode_members(raw):
            raise
    return CaptureEntry(dir="", message=msgspec.Raw(raw.strip()))
