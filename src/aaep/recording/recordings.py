"""
Recordings as an audit reads them: a JSON document, one message per line, or a capture.

The format is detected from the beginning of the input. Lines are read one at a
time, and of a line that is too long only a part is held, so memory does not
grow with the recording.
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
from ..protocol.codec import UNREADABLE, parse_json
from ..protocol.framing import MAX_MESSAGE_BYTES

__all__ = [
    "BOM",
    "CAPTURE_VERSION",
    "RecordedLine",
    "Recording",
    "UnreadableRecording",
    "audit_recording",
    "iter_lines",
    "open_recording",
]

CAPTURE_VERSION: Final = 1
BOM: Final = b"\xef\xbb\xbf"  # some editors put it at the beginning of a file
MAX_ENTRY_BYTES: Final = MAX_MESSAGE_BYTES + 65_536  # more than a capture adds to the largest message
MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
LINES_PER_TICK: Final = 2_000  # lines between two calls of on_progress
_NEWLINE: Final = ord("\n")
_WHITESPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_MESSAGE_MEMBER: Final = re.compile(rb'"message"\s*:\s*')
_TRUNCATED_ERROR: Final = "Input data was truncated"  # msgspec's text for JSON that is cut off
_MISSED_TEXT: Final = "The recording says that messages are missing here. What depends on them was not judged."

FindingCallback = Callable[[int, Finding], None]


class UnreadableRecording(Exception):
    """Raised for an input that cannot be audited at all; the message is one sentence."""


class Recording(msgspec.Struct):
    """An opened input and its format; ``line_offset`` is the number of lines before ``lines``."""

    format: Literal["lines", "capture", "document"]
    lines: Iterator[bytes]
    readline: Callable[[], bytes]
    line_offset: int = 0
    is_whole: bool = False
    is_from_pipes: bool = False  # where a manifest has no address (CF-118)
    max_line_bytes: int = MAX_MESSAGE_BYTES
    data: bytes = b""  # the text of a document; empty for the other formats


class _Entry(msgspec.Struct):
    """A line of a capture after the header; a gap has no message."""

    message: msgspec.Raw | UnsetType = UNSET
    gap: str = ""
    why: str = ""
    at: str = ""
    via: str = ""
    dir: Literal["out", "in"] = "out"


class RecordedLine(msgspec.Struct):
    """A line of a recording: a message or a gap; ``fault`` is the finding about a line that cannot be read."""

    number: int
    raw: bytes = b""
    at: str = ""
    via: str = ""
    gap: str = ""
    why: str = ""
    dir: Direction = ""
    fault: Finding | None = None


class _Header(msgspec.Struct):
    """The members of a capture's header that matter to an audit."""

    aaep_capture: Any
    whole: bool = False
    source: Any = ""


_decode_entry: Final = msgspec.json.Decoder(_Entry).decode
_decode_header: Final = msgspec.json.Decoder(_Header).decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
# Numbers stay text: only the end of a value matters here.
_decode_prefix: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False).raw_decode
_decode_any: Final = msgspec.json.Decoder(msgspec.Raw).decode


def open_recording(source: IO[bytes]) -> Recording:
    """Detect the format of an input from its beginning and return it as a recording."""
    readline = partial(source.readline, MAX_MESSAGE_BYTES + 1)
    skipped, first = _next_line(readline)
    head = first.removeprefix(BOM).strip()
    recording = Recording("lines", chain([first] if first else [], iter(readline, b"")), readline, skipped)
    if head[:1] not in (b"{", b"["):
        return recording
    members = _parse_members(head) if head[:1] == b"{" else None
    if members is not None:
        read_entry = partial(source.readline, MAX_ENTRY_BYTES + 1)
        if "aaep_capture" in members:
            header = _parse_header(head)
            recording = Recording("capture", iter(read_entry, b""), read_entry, skipped + 1, header.whole)
            recording.is_from_pipes = str(header.source).startswith("stdio:")
            recording.max_line_bytes = MAX_ENTRY_BYTES
            return recording
        if "message" in members and "type" not in members:  # a capture that lost its header
            entries = chain([first], iter(read_entry, b""))
            return Recording("capture", entries, read_entry, skipped, max_line_bytes=MAX_ENTRY_BYTES)
        return recording
    blank, second = _next_line(readline) if first[-1] == _NEWLINE else (0, b"")
    is_list = head[:1] == b"[" and (not second or not _is_json(head))
    if is_list or _is_continued(head, second.strip()):
        data = first + b"\n" * min(blank, MAX_DOCUMENT_BYTES) + second
        data += source.read(max(0, MAX_DOCUMENT_BYTES + 1 - len(data)))
        if len(data) > MAX_DOCUMENT_BYTES:
            raise UnreadableRecording(
                "It is one JSON document of over 64 MiB. Write one message per line (NDJSON) instead."
            )
        recording.format = "document"
        recording.data = data
        return recording
    lines_read = chain([first], repeat(b"\n", blank), [second] if second else [])
    recording.lines = chain(lines_read, iter(readline, b""))
    return recording


def _next_line(readline: Callable[[], bytes]) -> tuple[int, bytes]:
    """Return the number of newlines before the next line that is not blank, and that line."""
    skipped = 0
    for line in iter(readline, b""):
        if line.removeprefix(BOM).strip():
            return skipped, line
        skipped += line.count(b"\n")
    return skipped, b""


def _parse_members(head: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return _decode_members(head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _json_error(text: bytes) -> str:
    """Return the reason why a text is not JSON, or an empty string if it is."""
    try:
        _decode_any(text)
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
    return ""


def _is_json(text: bytes) -> bool:
    return not _json_error(text)


def _is_truncated(text: bytes) -> bool:
    """Whether a text is JSON that is cut off."""
    if _json_error(text) != _TRUNCATED_ERROR:
        return False
    # msgspec says the same of half a surrogate pair near the end, and that is to be judged.
    return parse_json(text)[0] is UNREADABLE


def _is_continued(head: bytes, following: bytes) -> bool:
    """Whether the second line continues the JSON value that the first line begins."""
    return following[:1] in (b'"', b"}", b"]", b",") or (
        bool(following) and _is_truncated(head) and head[-1:] in b",{[:"
    )


def _parse_header(head: bytes) -> _Header:
    """Return the header of a capture, whose version is one that can be read."""
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
    return header


def audit_recording(
    recording: Recording, audit: Audit, on_finding: FindingCallback, on_progress: Callable[[int], None]
) -> int:
    """
    Feed a recording to an audit and return the number of its messages.

    ``on_finding`` is called with the line number of each finding, ``on_progress``
    with the current line every few thousand lines.
    """
    if recording.format == "document":
        return _audit_document(recording, audit, on_finding, on_progress)
    audit_lines = _audit_messages if recording.format == "lines" else _audit_entries
    numbered_lines = enumerate(recording.lines, recording.line_offset + 1)
    message_count = 0
    while True:
        batch = _Batch(recording, audit, on_finding)
        for index, findings in audit_lines(audit, batch.iter_messages(islice(numbered_lines, LINES_PER_TICK))):
            for finding in findings:
                on_finding(batch.line_numbers[index], finding)
        message_count += len(batch.line_numbers)
        if batch.lines_read < LINES_PER_TICK:
            return message_count
        on_progress(batch.last_line)


def _audit_messages(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed bare messages to an audit; yield the index and the findings of each line that has any."""
    for index, raw in enumerate(lines):
        findings = audit.feed(raw)
        if findings:
            yield index, findings


class _Batch:
    """A lazily read batch of lines, and the numbers of those that hold messages."""

    def __init__(self, recording: Recording, audit: Audit, on_finding: FindingCallback) -> None:
        self.recording = recording
        self.audit = audit
        self.on_finding = on_finding
        self.line_numbers: list[int] = []
        self.lines_read = 0
        self.last_line = 0

    def iter_messages(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        """Yield the messages of the lines; report the lines that cannot be read."""
        line_numbers = self.line_numbers
        for number, line in lines:
            self.lines_read += 1
            self.last_line = number
            fault = _find_line_fault(line, self.recording) if line[-1] != _NEWLINE else None
            if fault is not None:
                self.on_finding(number, fault)
                if self.recording.format == "lines":  # what the line held must not be missed in the next one
                    self.audit.missed("")
            elif raw := line.strip():
                line_numbers.append(number)
                yield raw


def iter_lines(recording: Recording) -> Iterator[RecordedLine]:
    """Yield the lines of a recording, without auditing them."""
    if recording.format == "document":
        for number, item in _iter_items(recording):
            yield RecordedLine(number, fault=_TRUNCATED_LIST) if item is None else RecordedLine(number, item)
        return
    for number, line in enumerate(recording.lines, recording.line_offset + 1):
        fault = _find_line_fault(line, recording) if line[-1] != _NEWLINE else None
        if fault is not None:
            yield RecordedLine(number, fault=fault)
        elif raw := line.strip():
            yield RecordedLine(number, raw) if recording.format == "lines" else _parse_entry(number, raw)


def _parse_entry(number: int, raw: bytes) -> RecordedLine:
    try:
        entry = _read_entry(raw)
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


def _read_entry(raw: bytes) -> _Entry:
    """Return a line of a capture; its message may hold half a surrogate pair, which the audit is to name."""
    try:
        return _decode_entry(raw)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        message = _MESSAGE_MEMBER.search(raw) if _SURROGATE.search(raw) else None
        if message is None:
            raise
        # Positions are the same in both, since there is one character per byte.
        try:
            end = _decode_prefix(raw.decode("latin-1"), message.end())[1]
        except (ValueError, RecursionError):
            end = len(raw)
        entry = _decode_entry(raw[: message.end()] + b"null" + raw[end:])
        entry.message = msgspec.Raw(raw[message.end() : end])
        return entry


def _find_line_fault(line: bytes, recording: Recording) -> Finding | None:
    """Return the finding about a line without a newline, which is too long or cut; None if it is readable."""
    if len(line) > recording.max_line_bytes:
        while line and line[-1] != _NEWLINE:
            line = recording.readline()
        # An error and not a warning: the content of the line was not judged at all.
        text = "The line is longer than 1 MiB, so it was not read and not judged. Send smaller messages."
        return _make_finding("LIM-001", "error", text)
    if _is_truncated(line.removeprefix(BOM).strip()):
        text = "The recording was cut in the middle of this line, so the line was not judged."
        return _make_finding("ENC-001", "warning", text)
    return None


def _audit_entries(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed the lines of a capture to an audit; yield the index and the findings of each line that has any."""
    audit_entry = _make_entry_auditor(audit)
    for index, raw in enumerate(lines):
        findings = audit_entry(raw)
        if findings:
            yield index, findings


def _make_entry_auditor(audit: Audit) -> Callable[[bytes], list[Finding]]:
    """Return a function that feeds a line of a capture to an audit and returns the findings."""
    feed = audit.feed
    minute = ""

    def audit_entry(raw: bytes) -> list[Finding]:
        nonlocal minute
        try:
            entry = _read_entry(raw)
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
        # Most entries have the same minute as the previous one, so only the first of a minute is parsed.
        if at and (at[:17] != minute or at[-1] != "Z"):
            if timestamps.parse_instant(at) is None:
                fault = _entry_fault(f"at is not a timestamp: {at!r}")
                return [*feed(bytes(entry.message), "", entry.via, entry.dir), fault]
            minute = at[:17]
        return feed(bytes(entry.message), at, entry.via, entry.dir)

    return audit_entry


def _json_fault(error: Exception) -> Finding:
    return _make_finding("ENC-001", "error", f"The line is not JSON: {error}. Write one JSON object per line.")


def _entry_fault(why: str) -> Finding:
    text = f'The line is not an entry of a capture: {why}. Write {{"at": …, "dir": …, "via": …, "message": {{…}}}}.'
    return _make_finding("VAL-001", "error", text)


def _make_finding(rule_id: str, severity: Severity, text: str) -> Finding:
    return Finding(rule_id, find_rule(rule_id).section, severity, "", text)


_TRUNCATED_LIST: Final = _make_finding(
    "ENC-001", "error", "The list is cut here, or not JSON from here on, so the rest of it was not judged."
)


def _audit_document(
    recording: Recording, audit: Audit, on_finding: FindingCallback, on_progress: Callable[[int], None]
) -> int:
    message_count = 0
    for line, item in _iter_items(recording):
        if item is None:
            on_finding(line, _TRUNCATED_LIST)
            continue
        message_count += 1
        for finding in audit.feed(item):
            on_finding(line, finding)
        if message_count % LINES_PER_TICK == 0:
            on_progress(message_count)
    return message_count


def _iter_items(recording: Recording) -> Iterator[tuple[int, bytes | None]]:
    """Yield the messages of a document with their first lines; None in place of the rest that is not JSON."""
    data = recording.data
    line = recording.line_offset + 1
    position = 0
    for item in _split_list(data):
        # Only space and commas stand between items, so the next occurrence is the item itself.
        start = data.find(item, position) if item is not None else position
        line += data.count(b"\n", position, start)
        if item is None:
            yield line, None
            return
        yield line, _compact(item)
        line += item.count(b"\n")
        position = start + len(item)


def _split_list(data: bytes) -> Iterable[bytes | None]:
    """Return the items of a JSON list, or the whole document if it is not a list."""
    text = data.removeprefix(BOM)
    if text.lstrip()[:1] != b"[":
        return [data.strip()]
    try:
        return map(bytes, _decode_items(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _split_truncated_list(text)


def _split_truncated_list(data: bytes) -> Iterator[bytes | None]:
    """Yield the items of a list that is cut or broken up to that point, then None."""
    text = data.decode("latin-1")  # one character per byte, so that positions are the same in both
    separator = "["
    position = 0
    while True:
        position = _WHITESPACE.match(text, position).end()  # type: ignore[union-attr]  # it matches everywhere
        if separator == "," and text[position : position + 1] == "]" and text[position:].rstrip(" \t\r\n") == "]":
            return  # nothing is cut; what could not be read is inside an item
        if text[position : position + 1] != separator:
            break
        position = _WHITESPACE.match(text, position + 1).end()  # type: ignore[union-attr]  # as above
        try:
            end = _decode_prefix(text, position)[1]
        except (ValueError, RecursionError):
            break
        yield data[position:end]
        separator = ","
        position = end
    yield None


def _compact(item: bytes) -> bytes:
    """Remove the layout of the document, which is not part of the message."""
    try:
        return msgspec.json.format(item, indent=-1)
    except (msgspec.MsgspecError, RecursionError):
        return item
