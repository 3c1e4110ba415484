"""
Reading recordings: one message, a list of them, one per line, or a capture.

The form is told from the beginning. Lines are read one at a time and never
whole when they are too long, so that memory stays the same however long the
recording is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice, repeat
from typing import IO, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ..errors import Severity
from ..protocol import stream, timestamps
from ..protocol.audit import Audit, Direction, Finding
from ..protocol.catalogue import find_rule

__all__ = ["Heard", "Recording", "Unreadable", "begin", "hear", "judge"]

LIMIT: Final = 1_048_576  # CF-114: messages of up to 1 MiB are accepted
AROUND: Final = 65_536  # more than a capture writes around one
WHOLE: Final = 64 * 1024 * 1024
STRIDE: Final = 2_000  # lines between two ticks
CAPTURE_VERSION: Final = 1
_NEWLINE: Final = 10
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_BOM: Final = b"\xef\xbb\xbf"
_CUT: Final = "Input data was truncated"  # what msgspec says of a beginning of JSON
_MISSED: Final = "The recording says that messages are missing here. What depends on them was not judged."

Say = Callable[[int, Finding], None]


class Unreadable(Exception):
    """An input that cannot be judged at all; the message is one sentence."""


class Recording(msgspec.Struct):
    """An input whose form is known. ``before`` counts the lines before its first."""

    form: Literal["lines", "capture", "document"]
    lines: Iterator[bytes]
    readline: Callable[[], bytes]
    before: int = 0
    whole: bool = False
    limit: int = LIMIT  # of a line
    data: bytes = b""  # of a document


class Entry(msgspec.Struct):
    """A line of a capture. One that marks a gap has no message."""

    message: msgspec.Raw | UnsetType = UNSET
    gap: str = ""
    why: str = ""
    at: str = ""
    via: str = ""
    dir: Literal["out", "in"] = "out"


class Heard(msgspec.Struct):
    """What a line of a recording holds: a message or a gap. ``fault`` says what is wrong with the line itself."""

    line: int
    raw: bytes = b""
    at: str = ""
    via: str = ""
    gap: str = ""
    why: str = ""
    dir: Direction = ""
    fault: Finding | None = None


class Header(msgspec.Struct):
    """The first line of a capture, as far as it matters here."""

    aaep_capture: Any
    whole: bool = False


_entry: Final = msgspec.json.Decoder(Entry).decode
_header: Final = msgspec.json.Decoder(Header).decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_items: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
# Numbers are left as they are: here it matters only where a value ends.
_extent: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False).raw_decode
_any: Final = msgspec.json.Decoder(msgspec.Raw).decode


def begin(source: IO[bytes]) -> Recording:
    """Tell the form of an input from its beginning."""
    readline = partial(source.readline, LIMIT + 1)
    skipped, first = _next(readline)
    head = first.removeprefix(_BOM).strip()
    lines = Recording("lines", chain([first] if first else [], iter(readline, b"")), readline, skipped)
    if head[:1] not in (b"{", b"["):
        return lines
    known = _members_of(head) if head[:1] == b"{" else None
    if known is not None:
        wide = partial(source.readline, LIMIT + AROUND + 1)
        if "aaep_capture" in known:
            return Recording("capture", iter(wide, b""), wide, skipped + 1, _opened(head), LIMIT + AROUND)
        if "message" in known and "type" not in known:  # a capture that lost its header
            return Recording("capture", chain([first], iter(wide, b"")), wide, skipped, limit=LIMIT + AROUND)
        return lines
    blank, second = _next(readline) if first[-1] == _NEWLINE else (0, b"")
    listed = head[:1] == b"[" and (not second or not _complete(head))
    if listed or _continues(head, second.strip()):
        data = first + b"\n" * min(blank, WHOLE) + second
        data += source.read(max(0, WHOLE + 1 - len(data)))
        if len(data) > WHOLE:
            raise Unreadable("It is one JSON document of over 64 MiB. Write one message per line (NDJSON) instead.")
        lines.form, lines.data = "document", data
        return lines
    again = chain([first], repeat(b"\n", blank), [second] if second else [])
    lines.lines = chain(again, iter(readline, b""))
    return lines


def _next(readline: Callable[[], bytes]) -> tuple[int, bytes]:
    """How many line ends come before the next line that is not blank, and that line."""
    skipped = 0
    for line in iter(readline, b""):
        if line.removeprefix(_BOM).strip():
            return skipped, line
        skipped += line.count(b"\n")
    return skipped, b""


def _members_of(head: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return _members(head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _flaw(text: bytes) -> str:
    """Why this is not JSON, or nothing."""
    try:
        _any(text)
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
    return ""


def _complete(text: bytes) -> bool:
    return not _flaw(text)


def _cut(text: bytes) -> bool:
    """Whether this is the beginning of a JSON text and not all of it."""
    return _flaw(text) == _CUT


def _continues(head: bytes, following: bytes) -> bool:
    """Whether the second line goes on with the object that the first began."""
    return following[:1] in (b'"', b"}", b"]", b",") or (bool(following) and _cut(head) and head[-1:] in b",{[:")


def _opened(head: bytes) -> bool:
    """What the header of a capture says about wholeness, once its version is known to be ours."""
    try:
        header = _header(head)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreadable(f"The header of the capture cannot be read: {error}.") from error
    version = header.aaep_capture
    if isinstance(version, bool) or not isinstance(version, (int, float)):
        raise Unreadable('The header of the capture must give its version as a number: "aaep_capture": 1.')
    if version != CAPTURE_VERSION:
        raise Unreadable(f"It is a capture of version {version}; this program reads version {CAPTURE_VERSION}.")
    return header.whole


def judge(recording: Recording, audit: Audit, say: Say, tick: Callable[[int], None]) -> int:
    """Feed a recording to an audit, tell every finding, tick now and then, and return how many messages there were."""
    if recording.form == "document":
        return _judge_document(recording, audit, say, tick)
    take = stream.judge if recording.form == "lines" else _judge_entries
    lines, messages = enumerate(recording.lines, recording.before + 1), 0
    while True:
        batch = _Batch(recording, say)
        for place, findings in take(audit, batch.messages(islice(lines, STRIDE))):
            for finding in findings:
                say(batch.numbers[place], finding)
        messages += len(batch.numbers)
        if batch.read < STRIDE:
            return messages
        tick(batch.last)


class _Batch:
    """Some lines, taken one by one as they come, and the numbers of those that hold messages."""

    def __init__(self, recording: Recording, say: Say) -> None:
        self.recording, self.say = recording, say
        self.numbers: list[int] = []
        self.read = self.last = 0

    def messages(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        numbers = self.numbers
        for number, line in lines:
            self.read += 1
            self.last = number
            unread = _unread(line, self.recording) if line[-1] != _NEWLINE else None
            if unread is not None:
                self.say(number, unread)
            elif raw := line.strip():
                numbers.append(number)
                yield raw


def hear(recording: Recording) -> Iterator[Heard]:
    """What a recording holds, line by line, judged by nobody yet."""
    if recording.form == "document":
        for place, item in _items_of(recording):
            yield Heard(place, fault=_BROKEN) if item is None else Heard(place, item)
        return
    for number, line in enumerate(recording.lines, recording.before + 1):
        unread = _unread(line, recording) if line[-1] != _NEWLINE else None
        if unread is not None:
            yield Heard(number, fault=unread)
        elif raw := line.strip():
            yield Heard(number, raw) if recording.form == "lines" else _heard(number, raw)


def _heard(number: int, raw: bytes) -> Heard:
    try:
        entry = _entry(raw)
    except msgspec.ValidationError as error:
        return Heard(number, fault=_entry_fault(str(error)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Heard(number, fault=_not_json(error))
    if entry.at and timestamps.parse_instant(entry.at) is None:
        fault = _entry_fault(f"at is not a timestamp: {entry.at!r}")
        message = b"" if entry.message is UNSET else bytes(entry.message)
        return Heard(number, message, "", entry.via, entry.gap, entry.why, entry.dir, fault)
    if entry.message is not UNSET:
        return Heard(number, bytes(entry.message), entry.at, entry.via, dir=entry.dir)
    if entry.gap:
        return Heard(number, at=entry.at, via=entry.via, gap=entry.gap, why=entry.why)
    return Heard(number, fault=_entry_fault("it has no message"))


def _unread(line: bytes, recording: Recording) -> Finding | None:
    """What to say of a line without an end that cannot be read; None if it is the last and sound."""
    if len(line) > recording.limit:
        while line and line[-1] != _NEWLINE:
            line = recording.readline()
        # Not a matter of size alone: whatever stands there, nobody has judged it.
        text = "The line is longer than 1 MiB, so it was not read and not judged. Send smaller messages."
        return _finding("LIM-001", "error", text)
    if _cut(line.removeprefix(_BOM).strip()):
        text = "The recording was cut in the middle of this line, so the line was not judged."
        return _finding("ENC-001", "warning", text)
    return None


def _judge_entries(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed the lines of a capture to an audit; the places and findings of those that have any."""
    take = _entries(audit)
    for place, raw in enumerate(lines):
        findings = take(raw)
        if findings:
            yield place, findings


def _entries(audit: Audit) -> Callable[[bytes], list[Finding]]:
    """A function that judges a line of a capture."""
    feed = audit.feed
    minute = ""

    def take(raw: bytes) -> list[Finding]:
        nonlocal minute
        try:
            entry = _entry(raw)
        except msgspec.ValidationError as error:
            return [_entry_fault(str(error))]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return [_not_json(error)]
        if entry.message is UNSET:
            if entry.gap == "missed":
                audit.missed(entry.via)
                return [_finding("TR-013", "warning", _MISSED)]
            return [] if entry.gap else [_entry_fault("it has no message")]
        at = entry.at
        # Most entries are of the same minute as the one before; only the first of them is looked at closely.
        if at and (at[:17] != minute or at[-1] != "Z"):
            if timestamps.parse_instant(at) is None:
                fault = _entry_fault(f"at is not a timestamp: {at!r}")
                return [*feed(bytes(entry.message), "", entry.via, entry.dir), fault]
            minute = at[:17]
        return feed(bytes(entry.message), at, entry.via, entry.dir)

    return take


def _not_json(error: Exception) -> Finding:
    return _finding("ENC-001", "error", f"The line is not JSON: {error}. Write one JSON object per line.")


def _entry_fault(why: str) -> Finding:
    text = f'The line is not an entry of a capture: {why}. Write {{"at": …, "dir": …, "via": …, "message": {{…}}}}.'
    return _finding("VAL-001", "error", text)


def _finding(id_: str, severity: Severity, text: str) -> Finding:
    return Finding(id_, find_rule(id_).section, severity, "", text)


_BROKEN: Final = _finding(
    "ENC-001", "error", "The list is cut here, or not JSON from here on, so the rest of it was not judged."
)


def _judge_document(recording: Recording, audit: Audit, say: Say, tick: Callable[[int], None]) -> int:
    messages = 0
    for line, item in _items_of(recording):
        if item is None:
            say(line, _BROKEN)
            continue
        messages += 1
        for finding in audit.feed(item):
            say(line, finding)
        if messages % STRIDE == 0:
            tick(messages)
    return messages


def _items_of(recording: Recording) -> Iterator[tuple[int, bytes | None]]:
    """The messages of a document, and the lines they begin on; None where it is no JSON any more."""
    data = recording.data
    line, place = recording.before + 1, 0
    for item in _parts(data):
        # Only space and commas stand between items, so the next occurrence is the item itself.
        start = data.find(item, place) if item is not None else place
        line += data.count(b"\n", place, start)
        if item is None:
            yield line, None
            return
        yield line, _compact(item)
        line += item.count(b"\n")
        place = start + len(item)


def _parts(data: bytes) -> Iterable[bytes | None]:
    """The items of a JSON list, or the one of what is no list."""
    text = data.removeprefix(_BOM)
    if text.lstrip()[:1] != b"[":
        return [data.strip()]
    try:
        return map(bytes, _items(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _whole_parts(text)


def _whole_parts(data: bytes) -> Iterator[bytes | None]:
    """The items of a list up to where it is no JSON any more, as one that was cut, and None for the rest."""
    text = data.decode("latin-1")  # a letter for each byte, so that places are the same in both
    separator, place = "[", 0
    while True:
        place = _SPACE.match(text, place).end()  # type: ignore[union-attr]  # it matches everywhere
        if text[place : place + 1] != separator:
            break
        place = _SPACE.match(text, place + 1).end()  # type: ignore[union-attr]  # as above
        try:
            end = _extent(text, place)[1]
        except (ValueError, RecursionError):
            break
        yield data[place:end]
        separator, place = ",", end
    yield None


def _compact(item: bytes) -> bytes:
    """Without the layout of the document, which is not part of the message."""
    try:
        return msgspec.json.format(item, indent=-1)
    except (msgspec.MsgspecError, RecursionError):
        return item
