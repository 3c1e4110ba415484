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
from ..subscriber.status import UNREAD, Status

__all__ = ["FORMAT", "Capture", "CaptureError", "Gap", "Line", "Lines", "read"]

FORMAT: Final = 1
LIMIT: Final = 2 * 1_048_576  # a message of 1 MiB (CF-114), and what is written around it
_BLOCK: Final = 65_536

Gap: TypeAlias = Literal["lost", "resumed", "missed"]


class CaptureError(AaepError):
    """A file that is no capture, or not one of ours. The message says what to do."""


class Line(msgspec.Struct, omit_defaults=True):
    """One line behind the first: a message, or a gap."""

    at: str = ""
    dir: Direction | Literal[""] = msgspec.field(default="out")  # of a bare message nobody knows
    via: str = ""
    transport: str = ""
    message: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    gap: Gap | Literal[""] = ""
    why: str = ""


class _Seen(msgspec.Struct):
    """What of a message matters to whoever writes it down. Anything may stand there."""

    type: Any = ""
    subscription_id: Any = ""
    session_id: Any = ""
    event_id: Any = ""
    reply_token: Any = ""
    honored_capabilities: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


_encode: Final = msgspec.json.Encoder().encode
_seen: Final = msgspec.json.Decoder(_Seen).decode
_line: Final = msgspec.json.Decoder(Line).decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


# -- the file ------------------------------------------------------------------------------


class Lines:
    """
    A file of whole lines: each is written in one go or, if that fails, taken back.

    An existing file is refused, or gone on with if ``append`` says so; a line
    at its end that was cut is then taken away, and ``cut`` says so.
    """

    def __init__(self, path: str | Path | int, *, append: bool = False) -> None:
        self.cut = False
        self._made: Path | None = None
        if isinstance(path, int):
            self._file = path
        else:
            self._file = self._open(Path(path), append)
        try:
            self._whole = stat.S_ISREG(os.fstat(self._file).st_mode)
            self.size = os.fstat(self._file).st_size if self._whole else 0
            self.begun = append and self._whole and self._resume()
        except BaseException:
            self._shut()
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
        self._made = path
        return file

    def _resume(self) -> bool:
        """Whether there is a capture already, which then ends with a whole line."""
        if not self.size:
            return False
        head = os.pread(self._file, _BLOCK, 0).partition(b"\n")[0]
        try:
            known = _members(head.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            known = {}
        if bytes(known.get("aaep_capture", b"")) != b"%d" % FORMAT:
            raise CaptureError(f"The file is no capture of version {FORMAT}, so nothing was added. Give another name.")
        end = self.size
        while end:  # the header is a whole line, or there is nothing to keep
            start = max(0, end - _BLOCK)
            found = os.pread(self._file, end - start, start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end != self.size:
            self.cut = True
            os.ftruncate(self._file, end)
            self.size = end
        return end > 0

    def write(self, line: bytes) -> None:
        """Add a line, with its end."""
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            if self._whole and len(rest) < len(line):
                os.ftruncate(self._file, self.size)
            raise
        self.size += len(line)

    def close(self) -> None:
        """Let go. A file that was made here and holds nothing is removed again."""
        if self._made is not None and not self.size:
            self._made.unlink(missing_ok=True)
        self._made = None
        self._shut()

    def _shut(self) -> None:
        if self._file > 2:
            os.close(self._file)
        self._file = -1


# -- writing -------------------------------------------------------------------------------


class Capture:
    """
    Writes down what a subscriber's ``record`` tells, on the subscriber's own thread.

    With ``session`` only that session's events and answers are kept; after
    ``most`` events no more are. ``over`` is called, once, when there is nothing
    more to write: that was all, or it cannot be written, which ``error`` then
    says.
    """

    def __init__(
        self,
        lines: Lines,
        *,
        source: str,
        transport: str = "",
        session: str = "",
        most: int | None = None,
        over: Callable[[], object] = lambda: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.messages = self.events = self.gaps = 0
        self.error: OSError | None = None
        self._lines, self._over, self._wall = lines, over, wall
        self._source, self._transport, self._session, self._most = source, transport, session, most
        self._via = ""
        self._begun = lines.begun
        self._last = 0.0
        self._held: tuple[str, bytes] | None = None  # a request, until its answer says which subscription it began
        self._tokens: set[str] = set()  # of the session's prompts
        self._lost = False
        self._done = False
        self._lock = threading.Lock()  # the status may be told on another thread than the messages

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _full(self) -> bool:
        return self._most is not None and self.events >= self._most

    def record(self, direction: Direction, data: bytes) -> None:
        """A message passed."""
        with self._lock:
            try:
                if data:
                    self._take(direction, data)
                elif not self._full:  # no message, so it cannot be written down as one
                    self._gap("missed", UNREAD.text)
            except OSError as error:
                self._fail(error)

    def tell(self, status: Status) -> None:
        """The connection has changed."""
        with self._lock:
            try:
                if self._full:
                    return  # what is not recorded any more cannot be missing
                if status.kind == "waiting" and self._via and not self._lost:
                    self._lost = True
                    self._gap("lost", status.text)
                elif status.kind == "gap":
                    self._gap("missed", status.text)
            except OSError as error:
                self._fail(error)

    def close(self) -> None:
        with self._lock:
            self._done = True
            self._lines.close()

    # -- under the lock ----------------------------------------------------------------------

    def _take(self, direction: Direction, data: bytes) -> None:
        if self._done:
            return
        seen, message = _looked_at(data)
        if seen.type == "subscription.request":
            # Before its answer nobody knows on which subscription it is, and one that was never answered, as when
            # nobody was there, has not passed.
            self._held = (self._now(), message)
            return
        if direction == "out" and seen.type in ("subscription.accepted", "subscription.rejected"):
            self._answered(seen)
        if not self._wanted(direction, seen):
            return
        if direction == "out" and self._lost:
            self._lost = False
            self._gap("resumed")
        self._write(direction, self._now(), message)
        if seen.event_id and direction == "out":
            self.events += 1
            if self.events == self._most:
                self._over()

    def _answered(self, seen: _Seen) -> None:
        if seen.type == "subscription.accepted":
            self._via = str(seen.subscription_id)
            if not self._begun:
                self._begin(seen)
        if self._held is not None and self._begun:
            self._write("in", *self._held)
        self._held = None

    def _begin(self, seen: _Seen) -> None:
        started = self._held[0] if self._held is not None else self._now()
        header = {"aaep_capture": FORMAT, "source": self._source, "started": started}
        if bytes(seen.honored_capabilities):
            header["terms"] = seen.honored_capabilities
        self._lines.write(_encode(header) + b"\n")
        self._begun = True

    def _wanted(self, direction: Direction, seen: _Seen) -> bool:
        """Handshakes always; events up to the most, and with the answers to them only of the session that was named."""
        if not self._begun:
            return False  # a request that was rejected: there is no capture
        if seen.event_id and direction == "out":
            if self._full:
                return False
            if not self._session or seen.session_id == self._session:
                if self._session and isinstance(seen.reply_token, str) and seen.reply_token:
                    self._tokens.add(seen.reply_token)
                return True
            return False
        if self._session and direction == "in" and seen.reply_token:
            return seen.reply_token in self._tokens
        return True

    def _write(self, direction: Direction, at: str, message: bytes) -> None:
        line = b'{"at":"%b","dir":"%b","via":%b,"transport":%b,"message":%b}\n' % (
            at.encode(),
            direction.encode(),
            _encode(self._via),
            _encode(self._transport),
            message,
        )
        self._lines.write(line)
        self.messages += 1

    def _gap(self, kind: Gap, why: str = "") -> None:
        if self._begun and not self._done:
            said = {"at": self._now(), "via": self._via, "gap": kind, **({"why": why} if why else {})}
            self._lines.write(_encode(said) + b"\n")
            self.gaps += kind == "lost"

    def _now(self) -> str:
        """To the microsecond, and never before the line above, whatever the clock does."""
        self._last = max(self._last, self._wall())
        second, rest = divmod(int(self._last * 1_000_000), 1_000_000)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + f".{rest:06}Z"

    def _fail(self, error: OSError) -> None:
        self.error, self._done = error, True
        self._over()


def _looked_at(data: bytes) -> tuple[_Seen, bytes]:
    """What a message is, and its bytes as they may stand in a line; what is no JSON is kept as a text."""
    try:
        data.decode()
        seen = _seen(data) if data.lstrip()[:1] == b"{" else _Seen()
        if b"\n" in data or b"\r" in data:
            data = msgspec.json.format(data, indent=-1)
        if len(data) and data[:1] != b"{":
            msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Seen(), _encode(data.decode(errors="backslashreplace"))
    return seen, data or b'""'


# -- reading -------------------------------------------------------------------------------


def read(
    file: IO[bytes], fault: Callable[[int, str], object] = lambda _number, _why: None
) -> Iterator[tuple[int, Line]]:
    """
    The lines of a capture behind the first, or of bare messages, one on each line, with their numbers.

    ``fault`` is told the number of each line that cannot be read, and why; the
    rest goes on. Raises :exc:`CaptureError` for a version that is not ours.
    """
    for number, raw in enumerate(_split(file), start=1):
        if not raw.strip():
            continue
        if len(raw) > LIMIT:
            fault(number, "The line is too long.")
            continue
        line = _read(raw, number, fault)
        if line is not None:
            yield number, line


def _split(file: IO[bytes]) -> Iterable[bytes]:
    """Lines, of which one that is too long is not kept whole."""
    while True:
        line = file.readline(LIMIT + 1)
        if not line:
            return
        yield line
        while len(line) > LIMIT and not line.endswith(b"\n"):
            line = file.readline(LIMIT + 1)
            if not line:
                return


def _read(raw: bytes, number: int, fault: Callable[[int, str], object]) -> Line | None:
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        if number == 1 and b'"aaep_capture"' in raw and (known := _members(raw)).get("aaep_capture") is not None:
            version = bytes(known["aaep_capture"]).decode()
            if version[:1] not in "-0123456789":
                raise CaptureError('Its header must give the version as a number: "aaep_capture": 1.')
            if version != str(FORMAT):
                raise CaptureError(f"It is a capture of version {version}; this program reads version {FORMAT}.")
            return None
        line = _entry(raw)
        if line.at and parse_instant(line.at) is None:
            fault(number, "Its time cannot be read.")
            line.at = ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        fault(number, str(error))
        return None
    return line


def _entry(raw: bytes) -> Line:
    """A line, or a bare message as one."""
    try:
        line = _line(raw)
        if bytes(line.message) or line.gap:
            return line
    except msgspec.ValidationError:
        if "message" in _members(raw):
            raise
    return Line(dir="", message=msgspec.Raw(raw.strip()))
