"""
Captures: what passed on a subscription, one line for each message.

The first line says what it is, where it comes from and on which terms::

    {"aaep_capture": 1, "source": …, "started": …, "terms": {…}}

and each line behind it is a message: when it passed, ``out`` from the producer
or ``in`` from the subscriber, on which subscription, by which transport::

    {"at": …, "dir": "out", "via": "sub_…", "transport": "sse", "message": {…}}

or says where the connection was lost, where it went on, and whether something
is missing for good::

    {"at": …, "via": "sub_…", "gap": "lost" | "resumed" | "missed", "why": …}

Whatever happens to the program that writes it, a capture ends with a whole line.
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

__all__ = ["CAPTURE_VERSION", "CaptureEntry", "CaptureError", "CaptureWriter", "GapKind", "LineFile", "read_capture"]

CAPTURE_VERSION: Final = 1
MAX_LINE_BYTES: Final = 2 * 1_048_576  # a message of 1 MiB (CF-114), and what is written around it
_BLOCK_SIZE: Final = 65_536

GapKind: TypeAlias = Literal["lost", "resumed", "missed"]


class CaptureError(AaepError):
    """A file that is no capture, or not one of ours. The message says what to do."""


class CaptureEntry(msgspec.Struct, omit_defaults=True):
    """One line behind the first: a message, or a gap."""

    at: str = ""
    dir: Direction | Literal[""] = msgspec.field(default="out")  # of a bare message nobody knows
    via: str = ""
    transport: str = ""
    message: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    gap: GapKind | Literal[""] = ""
    why: str = ""


class _MessageHead(msgspec.Struct):
    """What of a message matters to whoever writes it down. Anything may stand there."""

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


# -- the file ------------------------------------------------------------------------------


class LineFile:
    """
    A file of whole lines: each is written in one go or, if that fails, taken back.

    An existing file is refused, or gone on with if ``append`` says so; a line
    at its end that was cut is then taken away, and ``cut`` says so.
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
        """Whether there is a capture already, which then ends with a whole line."""
        if not self.size:
            return False
        head = os.pread(self._fd, _BLOCK_SIZE, 0).partition(b"\n")[0]
        try:
            known = _decode_members(head.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            known = {}
        if bytes(known.get("aaep_capture", b"")) != b"%d" % CAPTURE_VERSION:
            raise CaptureError(
                f"The file is no capture of version {CAPTURE_VERSION}, so nothing was added. Give another name."
            )
        end = self.size
        while end:  # the header is a whole line, or there is nothing to keep
            start = max(0, end - _BLOCK_SIZE)
            found = os.pread(self._fd, end - start, start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end != self.size:
            self.has_dropped_partial_line = True
            os.ftruncate(self._fd, end)
            self.size = end
        return end > 0

    def write(self, line: bytes) -> None:
        """Add a line, with its end."""
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError:
            if self._is_regular_file and len(rest) < len(line):
                os.ftruncate(self._fd, self.size)
            raise
        self.size += len(line)

    def close(self) -> None:
        """Let go. A file that was made here and holds nothing is removed again."""
        if self._created_path is not None and not self.size:
            self._created_path.unlink(missing_ok=True)
        self._created_path = None
        self._close_fd()

    def _close_fd(self) -> None:
        if self._fd > 2:
            os.close(self._fd)
        self._fd = -1


# -- writing -------------------------------------------------------------------------------


class CaptureWriter:
    """
    Writes down what a subscriber's ``record`` tells, on the subscriber's own thread.

    With ``session`` only that session's events and answers are kept; after
    ``most`` events no more are. ``over`` is called, once, when there is nothing
    more to write: that was all, or it cannot be written, which ``error`` then
    says.
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
        self.message_count = self.event_count = self.gap_count = 0
        self.error: OSError | None = None
        self._file, self._on_done, self._wall = file, on_done, wall
        self._source, self._transport, self._session_id, self._max_events = source, transport, session_id, max_events
        self._subscription_id = ""
        self._has_header = file.is_resumed
        self._last_time = 0.0
        self._held_request: tuple[str, bytes] | None = (
            None  # a request, until its answer says which subscription it began
        )
        self._session_tokens: set[str] = set()  # of the session's prompts
        self._is_connection_lost = False
        self._is_done = False
        self._lock = threading.Lock()  # the status may be told on another thread than the messages

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
        """A message passed."""
        with self._lock:
            try:
                if data:
                    self._handle_message(direction, data)
                elif not self._is_full:  # no message, so it cannot be written down as one
                    self._write_gap("missed", UNREADABLE.text)
            except OSError as error:
                self._fail(error)

    def record_status(self, status: Status) -> None:
        """The connection has changed."""
        with self._lock:
            try:
                if self._is_full:
                    return  # what is not recorded any more cannot be missing
                if status.kind == "waiting" and self._subscription_id and not self._is_connection_lost:
                    self._is_connection_lost = True
                    self._write_gap("lost", status.text)
                elif status.kind == "gap":
                    self._write_gap("missed", status.text)
            except OSError as error:
                self._fail(error)

    def close(self) -> None:
        with self._lock:
            self._is_done = True
            self._file.close()

    # -- under the lock ----------------------------------------------------------------------

    def _handle_message(self, direction: Direction, data: bytes) -> None:
        if self._is_done:
            return
        seen, message = _inspect(data)
        if seen.type == "subscription.request":
            # Before its answer nobody knows on which subscription it is, and one that was never answered, as when
            # nobody was there, has not passed.
            self._held_request = (self._timestamp(), message)
            return
        if direction == "out" and seen.type in ("subscription.accepted", "subscription.rejected"):
            self._handle_handshake_answer(seen)
        if not self._is_wanted(direction, seen):
            return
        if direction == "out" and self._is_connection_lost:
            self._is_connection_lost = False
            self._write_gap("resumed")
        self._write_message(direction, self._timestamp(), message)
        if seen.event_id and direction == "out":
            self.event_count += 1
            if self.event_count == self._max_events:
                self._on_done()

    def _handle_handshake_answer(self, seen: _MessageHead) -> None:
        if seen.type == "subscription.accepted":
            self._subscription_id = str(seen.subscription_id)
            if not self._has_header:
                self._write_header(seen)
        if self._held_request is not None and self._has_header:
            self._write_message("in", *self._held_request)
        self._held_request = None

    def _write_header(self, seen: _MessageHead) -> None:
        started = self._held_request[0] if self._held_request is not None else self._timestamp()
        header = {"aaep_capture": CAPTURE_VERSION, "source": self._source, "started": started}
        if bytes(seen.honored_capabilities):
            header["terms"] = seen.honored_capabilities
        self._file.write(_encode(header) + b"\n")
        self._has_header = True

    def _is_wanted(self, direction: Direction, seen: _MessageHead) -> bool:
        """Handshakes always; events up to the most, and with the answers to them only of the session that was named."""
        if not self._has_header:
            return False  # a request that was rejected: there is no capture
        if seen.event_id and direction == "out":
            if self._is_full:
                return False
            if not self._session_id or seen.session_id == self._session_id:
                if self._session_id and isinstance(seen.reply_token, str) and seen.reply_token:
                    self._session_tokens.add(seen.reply_token)
                return True
            return False
        if self._session_id and direction == "in" and seen.reply_token:
            return seen.reply_token in self._session_tokens
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
            said = {"at": self._timestamp(), "via": self._subscription_id, "gap": kind, **({"why": why} if why else {})}
            self._file.write(_encode(said) + b"\n")
            self.gap_count += kind == "lost"

    def _timestamp(self) -> str:
        """To the microsecond, and never before the line above, whatever the clock does."""
        self._last_time = max(self._last_time, self._wall())
        second, rest = divmod(int(self._last_time * 1_000_000), 1_000_000)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + f".{rest:06}Z"

    def _fail(self, error: OSError) -> None:
        self.error, self._is_done = error, True
        self._on_done()


def _inspect(data: bytes) -> tuple[_MessageHead, bytes]:
    """What a message is, and its bytes as they may stand in a line; what is no JSON is kept as a text."""
    try:
        data.decode()
        seen = _decode_head(data) if data.lstrip()[:1] == b"{" else _MessageHead()
        if b"\n" in data or b"\r" in data:
            data = msgspec.json.format(data, indent=-1)
        if len(data) and data[:1] != b"{":
            msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _MessageHead(), _encode(data.decode(errors="backslashreplace"))
    return seen, data or b'""'


# -- reading -------------------------------------------------------------------------------


def read_capture(
    file: IO[bytes], on_fault: Callable[[int, str], object] = lambda _number, _why: None
) -> Iterator[tuple[int, CaptureEntry]]:
    """
    The lines of a capture behind the first, or of bare messages, one on each line, with their numbers.

    ``fault`` is told the number of each line that cannot be read, and why; the
    rest goes on. Raises :exc:`CaptureError` for a version that is not ours.
    """
    for number, raw in enumerate(_read_lines(file), start=1):
        if not raw.strip():
            continue
        if len(raw) > MAX_LINE_BYTES:
            on_fault(number, "The line is too long.")
            continue
        line = _parse_line(raw, number, on_fault)
        if line is not None:
            yield number, line


def _read_lines(file: IO[bytes]) -> Iterable[bytes]:
    """Lines, of which one that is too long is not kept whole."""
    while True:
        line = file.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        yield line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)
            if not line:
                return


def _parse_line(raw: bytes, number: int, fault: Callable[[int, str], object]) -> CaptureEntry | None:
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        if number == 1 and b'"aaep_capture"' in raw and (known := _decode_members(raw)).get("aaep_capture") is not None:
            version = bytes(known["aaep_capture"]).decode()
            if version[:1] not in "-0123456789":
                raise CaptureError('Its header must give the version as a number: "aaep_capture": 1.')
            if version != str(CAPTURE_VERSION):
                raise CaptureError(
                    f"It is a capture of version {version}; this program reads version {CAPTURE_VERSION}."
                )
            return None
        line = _parse_entry(raw)
        if line.at and parse_instant(line.at) is None:
            fault(number, "Its time cannot be read.")
            line.at = ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        fault(number, str(error))
        return None
    return line


def _parse_entry(raw: bytes) -> CaptureEntry:
    """A line, or a bare message as one."""
    try:
        line = _decode_entry(raw)
        if bytes(line.message) or line.gap:
            return line
    except msgspec.ValidationError:
        if "message" in _decode_members(raw):
            raise
    return CaptureEntry(dir="", message=msgspec.Raw(raw.strip()))
