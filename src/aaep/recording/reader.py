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
from ..protocol import timestamps
from ..protocol.audit import Audit, Direction, Finding
from ..protocol.catalogue import find_rule

__all__ = ["RecordedLine", "Recording", "UnreadableRecording", "audit_recording", "iter_lines", "open_recording"]

MAX_MESSAGE_BYTES: Final = 1_048_576  # CF-114: messages of up to 1 MiB are accepted
MAX_ENTRY_OVERHEAD: Final = 65_536  # more than a capture writes around one
MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
LINES_PER_TICK: Final = 2_000  # lines between two ticks
CAPTURE_VERSION: Final = 1
_NEWLINE: Final = 10
_WHITESPACE: Final = re.compile(r"[ \t\r\n]*")
_BOM: Final = b"\xef\xbb\xbf"
_TRUNCATED_ERROR: Final = "Input data was truncated"  # what msgspec says of a beginning of JSON
_MISSED_TEXT: Final = "The recording says that messages are missing here. What depends on them was not judged."

FindingCallback = Callable[[int, Finding], None]


class UnreadableRecording(Exception):
    """An input that cannot be judged at all; the message is one sentence."""


class Recording(msgspec.Struct):
    """An input whose form is known. ``before`` counts the lines before its first."""

    format: Literal["lines", "capture", "document"]
    lines: Iterator[bytes]
    readline: Callable[[], bytes]
    line_offset: int = 0
    is_whole: bool = False
    max_line_bytes: int = MAX_MESSAGE_BYTES  # of a line
    data: bytes = b""  # of a document


class CaptureEntry(msgspec.Struct):
    """A line of a capture. One that marks a gap has no message."""

    message: msgspec.Raw | UnsetType = UNSET
    gap: str = ""
    why: str = ""
    at: str = ""
    via: str = ""
    dir: Literal["out", "in"] = "out"


class RecordedLine(msgspec.Struct):
    """What a line of a recording holds: a message or a gap. ``fault`` says what is wrong with the line itself."""

    number: int
    raw: bytes = b""
    at: str = ""
    via: str = ""
    gap: str = ""
    why: str = ""
    dir: Direction = ""
    fault: Finding | None = None


class CaptureHeader(msgspec.Struct):
    """The first line of a capture, as far as it matters here."""

    aaep_capture: Any
    whole: bool = False


_decode_entry: Final = msgspec.json.Decoder(CaptureEntry).decode
_decode_header: Final = msgspec.json.Decoder(CaptureHeader).decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
# Numbers are left as they are: here it matters only where a value ends.
_decode_prefix: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False).raw_decode
_decode_any: Final = msgspec.json.Decoder(msgspec.Raw).decode


def open_recording(source: IO[bytes]) -> Recording:
    """Tell the form of an input from its beginning."""
    readline = partial(source.readline, MAX_MESSAGE_BYTES + 1)
    skipped, first = _next_line(readline)
    head = first.removeprefix(_BOM).strip()
    lines = Recording("lines", chain([first] if first else [], iter(readline, b"")), readline, skipped)
    if head[:1] not in (b"{", b"["):
        return lines
    known = _parse_members(head) if head[:1] == b"{" else None
    if known is not None:
        wide = partial(source.readline, MAX_MESSAGE_BYTES + MAX_ENTRY_OVERHEAD + 1)
        if "aaep_capture" in known:
            return Recording(
                "capture",
                iter(wide, b""),
                wide,
                skipped + 1,
                _parse_header(head),
                MAX_MESSAGE_BYTES + MAX_ENTRY_OVERHEAD,
            )
        if "message" in known and "type" not in known:  # a capture that lost its header
            return Recording(
                "capture",
                chain([first], iter(wide, b"")),
                wide,
                skipped,
                max_line_bytes=MAX_MESSAGE_BYTES + MAX_ENTRY_OVERHEAD,
            )
        return lines
    blank, second = _next_line(readline) if first[-1] == _NEWLINE else (0, b"")
    listed = head[:1] == b"[" and (not second or not _is_json(head))
    if listed or _is_continued(head, second.strip()):
        data = first + b"\n" * min(blank, MAX_DOCUMENT_BYTES) + second
        data += source.read(max(0, MAX_DOCUMENT_BYTES + 1 - len(data)))
        if len(data) > MAX_DOCUMENT_BYTES:
            raise UnreadableRecording(
                "It is one JSON document of over 64 MiB. Write one message per line (NDJSON) instead."
            )
        lines.format, lines.data = "document", data
        return lines
    again = chain([first], repeat(b"\n", blank), [second] if second else [])
    lines.lines = chain(again, iter(readline, b""))
    return lines


def _next_line(readline: Callable[[], bytes]) -> tuple[int, bytes]:
    """How many line ends come before the next line that is not blank, and that line."""
    skipped = 0
    for line in iter(readline, b""):
        if line.removeprefix(_BOM).strip():
            return skipped, line
        skipped += line.count(b"\n")
    return skipped, b""


def _parse_members(head: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return _decode_members(head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _json_error(text: bytes) -> str:
    """Why this is not JSON, or nothing."""
    try:
        _decode_any(text)
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
    return ""


def _is_json(text: bytes) -> bool:
    return not _json_error(text)


def _is_truncated(text: bytes) -> bool:
    """Whether this is the beginning of a JSON text and not all of it."""
    return _json_error(text) == _TRUNCATED_ERROR


def _is_continued(head: bytes, following: bytes) -> bool:
    """Whether the second line goes on with the object that the first began."""
    return following[:1] in (b'"', b"}", b"]", b",") or (
        bool(following) and _is_truncated(head) and head[-1:] in b",{[:"
    )


def _parse_header(head: bytes) -> bool:
    """What the header of a capture says about wholeness, once its version is known to be ours."""
    try:
        header = _decode_header(head)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnreadableRecording(f"The header of the capture cannot be read: {error}.") from error
    version = header.aaep_capture
    if isinstance(version, bool) or not isinstance(version, (int, float)):
        raise UnreadableRecording('The header of the capture must give its version as a number: "aaep_capture": 1.')
    if version != CAPTURE_VERSION:
        raise UnreadableRecording(
            f"It is a capture of version {version}; this program reads version {CAPTURE_VERSION}."
        )
    return header.whole


def audit_recording(
    recording: Recording, audit: Audit, on_finding: FindingCallback, on_progress: Callable[[int], None]
) -> int:
    """Feed a recording to an audit, tell every finding, tick now and then, and return how many messages there were."""
    if recording.format == "document":
        return _audit_document(recording, audit, on_finding, on_progress)
    take = _judge_lines if recording.format == "lines" else _audit_entries
    lines, messages = enumerate(recording.lines, recording.line_offset + 1), 0
    while True:
        batch = _Batch(recording, on_finding)
        for place, findings in take(audit, batch.iter_messages(islice(lines, LINES_PER_TICK))):
            for finding in findings:
                on_finding(batch.line_numbers[place], finding)
        messages += len(batch.line_numbers)
        if batch.lines_read < LINES_PER_TICK:
            return messages
        on_progress(batch.last_line)


def _judge_lines(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed bare messages to an audit; yield the place (from 0) and the findings of each line that has any."""
    for place, raw in enumerate(lines):
        findings = audit.feed(raw)
        if findings:
            yield place, findings


class _Batch:
    """Some lines, taken one by one as they come, and the numbers of those that hold messages."""

    def __init__(self, recording: Recording, on_finding: FindingCallback) -> None:
        self.recording, self.on_finding = recording, on_finding
        self.line_numbers: list[int] = []
        self.lines_read = self.last_line = 0

    def iter_messages(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        numbers = self.line_numbers
        for number, line in lines:
            self.lines_read += 1
            self.last_line = number
            unread = _find_line_fault(line, self.recording) if line[-1] != _NEWLINE else None
            if unread is not None:
                self.on_finding(number, unread)
            elif raw := line.strip():
                numbers.append(number)
                yield raw


def iter_lines(recording: Recording) -> Iterator[RecordedLine]:
    """What a recording holds, line by line, judged by nobody yet."""
    if recording.format == "document":
        for place, item in _iter_items(recording):
            yield RecordedLine(place, fault=_TRUNCATED_LIST) if item is None else RecordedLine(place, item)
        return
    for number, line in enumerate(recording.lines, recording.line_offset + 1):
        unread = _find_line_fault(line, recording) if line[-1] != _NEWLINE else None
        if unread is not None:
            yield RecordedLine(number, fault=unread)
        elif raw := line.strip():
            yield RecordedLine(number, raw) if recording.format == "lines" else _parse_entry(number, raw)


def _parse_entry(number: int, raw: bytes) -> RecordedLine:
    try:
        entry = _decode_entry(raw)
    except msgspec.ValidationError as error:
        return RecordedLine(number, fault=_entry_fault(str(error)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return RecordedLine(number, fault=_json_fault(error))
    if entry.at and timestamps.parse_instant(entry.at) is None:
        fault = _entry_fault(f"at is not a timestamp: {entry.at!r}")
        message = b"" if entry.message is UNSET else bytes(entry.message)
        return RecordedLine(number, message, "", entry.via, entry.gap, entry.why, entry.dir, fault)
    if entry.message is not UNSET:
        return RecordedLine(number, bytes(entry.message), entry.at, entry.via, dir=entry.dir)
    if entry.gap:
        return RecordedLine(number, at=entry.at, via=entry.via, gap=entry.gap, why=entry.why)
    return RecordedLine(number, fault=_entry_fault("it has no message"))


def _find_line_fault(line: bytes, recording: Recording) -> Finding | None:
    """What to say of a line without an end that cannot be read; None if it is the last and sound."""
    if len(line) > recording.max_line_bytes:
        while line and line[-1] != _NEWLINE:
            line = recording.readline()
        # Not a matter of size alone: whatever stands there, nobody has judged it.
        text = "The line is longer than 1 MiB, so it was not read and not judged. Send smaller messages."
        return _make_finding("LIM-001", "error", text)
    if _is_truncated(line.removeprefix(_BOM).strip()):
        text = "The recording was cut in the middle of this line, so the line was not judged."
        return _make_finding("ENC-001", "warning", text)
    return None


def _audit_entries(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed the lines of a capture to an audit; the places and findings of those that have any."""
    take = _make_entry_auditor(audit)
    for place, raw in enumerate(lines):
        findings = take(raw)
        if findings:
            yield place, findings


def _make_entry_auditor(audit: Audit) -> Callable[[bytes], list[Finding]]:
    """A function that judges a line of a capture."""
    feed = audit.feed
    minute = ""

    def take(raw: bytes) -> list[Finding]:
        nonlocal minute
        try:
            entry = _decode_entry(raw)
        except msgspec.ValidationError as error:
            return [_entry_fault(str(error))]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return [_json_fault(error)]
        if entry.message is UNSET:
            if entry.gap == "missed":
                audit.missed(entry.via)
                return [_make_finding("TR-013", "warning", _MISSED_TEXT)]
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


def _json_fault(error: Exception) -> Finding:
    return _make_finding("ENC-001", "error", f"The line is not JSON: {error}. Write one JSON object per line.")


def _entry_fault(why: str) -> Finding:
    text = f'The line is not an entry of a capture: {why}. Write {{"at": …, "dir": …, "via": …, "message": {{…}}}}.'
    return _make_finding("VAL-001", "error", text)


def _make_finding(id_: str, severity: Severity, text: str) -> Finding:
    return Finding(id_, find_rule(id_).section, severity, "", text)


_TRUNCATED_LIST: Final = _make_finding(
    "ENC-001", "error", "The list is cut here, or not JSON from here on, so the rest of it was not judged."
)


def _audit_document(
    recording: Recording, audit: Audit, on_finding: FindingCallback, on_progress: Callable[[int], None]
) -> int:
    messages = 0
    for line, item in _iter_items(recording):
        if item is None:
            on_finding(line, _TRUNCATED_LIST)
            continue
        messages += 1
        for finding in audit.feed(item):
            on_finding(line, finding)
        if messages % LINES_PER_TICK == 0:
            on_progress(messages)
    return messages


def _iter_items(recording: Recording) -> Iterator[tuple[int, bytes | None]]:
    """The messages of a document, and the lines they begin on; None where it is no JSON any more."""
    data = recording.data
    line, place = recording.line_offset + 1, 0
    for item in _split_list(data):
        # Only space and commas stand between items, so the next occurrence is the item itself.
        start = data.find(item, place) if item is not None else place
        line += data.count(b"\n", place, start)
        if item is None:
            yield line, None
            return
        yield line, _compact(item)
        line += item.count(b"\n")
        place = start + len(item)


def _split_list(data: bytes) -> Iterable[bytes | None]:
    """The items of a JSON list, or the one of what is no list."""
    text = data.removeprefix(_BOM)
    if text.lstrip()[:1] != b"[":
        return [data.strip()]
    try:
        return map(bytes, _decode_items(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _split_truncated_list(text)


def _split_truncated_list(data: bytes) -> Iterator[bytes | None]:
    """The items of a list up to where it is no JSON any more, as one that was cut, and None for the rest."""
    text = data.decode("latin-1")  # a letter for each byte, so that places are the same in both
    separator, place = "[", 0
    while True:
        place = _WHITESPACE.match(text, place).end()  # type: ignore[union-attr]  # it matches everywhere
        if text[place : place + 1] != separator:
            break
        place = _WHITESPACE.match(text, place + 1).end()  # type: ignore[union-attr]  # as above
        try:
            end = _decode_prefix(text, place)[1]
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
