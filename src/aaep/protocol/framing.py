"""
Framing: find where one message ends and the next begins.

A decoder is fed bytes as they arrive, in pieces of any size, and returns what
has become complete: a :class:`Frame` for each message and a
:exc:`~aaep.errors.FrameError` for each part that is not one. Errors are
returned, not raised, because the stream continues after most of them. The
encoders delimit JSON text that this library has encoded; they do not read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from ..errors import FrameError, Violation

__all__ = [
    "FRAMINGS",
    "Decoder",
    "Frame",
    "JsonRpcDecoder",
    "LengthDecoder",
    "NdjsonDecoder",
    "SseDecoder",
    "check_frame",
    "choose_decoder",
    "encode_jsonrpc",
    "encode_length_prefixed",
    "encode_ndjson",
    "encode_sse",
]

MAX_MESSAGE_BYTES: Final = 1_048_576  # CF-114: accept messages of up to 1 MiB.
BOM: Final = b"\xef\xbb\xbf"
T = TypeVar("T")


class Frame(msgspec.Struct, frozen=True):
    """One message, delimited but not decoded."""

    data: bytes  # The JSON text of one object.
    event: str = ""  # SSE
    id: str = ""  # SSE
    method: str = ""  # JSON-RPC; a response has none.
    call: int | str | None = None  # The JSON-RPC id of the call that this is or answers.
    is_error: bool = False  # JSON-RPC: data is an error object.


class JsonRpcEnvelope(msgspec.Struct):
    """A JSON-RPC 2.0 request, notification or response (STDIO-002)."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()
    id: int | str | UnsetType | None = UNSET


FrameOrError: TypeAlias = Frame | FrameError
_OBJECT_DECODER: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_JSON_DECODER: Final = msgspec.json.Decoder(msgspec.Raw)
_JSONRPC_DECODER: Final = msgspec.json.Decoder(JsonRpcEnvelope)


def build_refusal(rule: str, expected: str, found: str, advice: str, *, fatal: bool = False) -> FrameError:
    """Return the error for bytes that are not a message."""
    violation = Violation(rule, f"{expected} was expected, but {found}. {advice}.")
    return FrameError("What arrived is not a message.", [violation], fatal=fatal)


def decode_or_refuse(
    decoder: msgspec.json.Decoder[T], data: bytes, expected: str, rule: str, shape_rule: str
) -> T | FrameError:
    """
    Decode ``data``, or return the error that refuses it.

    ``rule`` is broken by bytes that are not JSON in UTF-8, ``shape_rule`` by JSON of another shape.
    """
    try:
        # msgspec does not check the encoding of strings inside a Raw (ENC-001).
        if not data.isascii():
            data.decode()
        return decoder.decode(data)
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is not UTF-8 ({error.reason})"
        advice = "Encode messages in UTF-8"
    except msgspec.ValidationError as error:
        rule = shape_rule
        found = f"it has another shape: {error}"
        advice = "Send an object with the members it needs"
    except msgspec.DecodeError as error:
        # ENC-002 and "exactly one message" end here too: dialects and a second document are malformed JSON.
        found = f"it cannot be parsed: {error}" if data else "it is empty"
        advice = "Send one RFC 8259 document, nothing before or after it"
    except RecursionError:
        found = "it is nested too deeply to be read"
        advice = "Send flatter messages"
    return build_refusal(rule, expected, found, f"{advice}; this one was skipped")


def check_frame(data: bytes, rule: str = "WS-004", shape_rule: str = "") -> Frame | FrameError:
    """Check a message that the transport delimited, such as a WebSocket: exactly one JSON object in UTF-8."""
    if data.isascii() and data.startswith(b"{"):
        try:
            _JSON_DECODER.decode(data)
        except (msgspec.MsgspecError, RecursionError):
            pass  # reported below
        else:
            return Frame(data)
    checked = decode_or_refuse(_OBJECT_DECODER, data, "One JSON object in UTF-8", rule, shape_rule or rule)
    return checked if isinstance(checked, FrameError) else Frame(data)


class Decoder:
    """
    The base class of the four decoders: pieces of a byte stream in, frames out.

    How the stream was cut into pieces never affects the result. ``limit`` is the
    size in bytes that one frame may have; at most that and one piece are buffered.
    """

    rule: ClassVar[str]
    unit: ClassVar[str] = "A line"

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self.limit = limit
        self._has_ended = False  # By finish() or a fatal error: there is no next frame.
        self._rest = bytearray()  # The beginning of a frame that is not complete yet.

    def feed(self, chunk: bytes) -> list[Frame | FrameError]:
        """Take the next piece of the stream and return the frames it completed."""
        return [] if self._has_ended else list(self._receive(chunk))

    def extract_single(self, chunk: bytes) -> bytes | None:
        """Return the message in a piece that is exactly one frame, without checking it; None for any other piece."""
        return None

    def finish(self) -> list[Frame | FrameError]:
        """End the stream and report a frame that was cut off."""
        item = None if self._has_ended else self._finish_rest()
        self._has_ended = True
        return [item] if item else []

    def _receive(self, chunk: bytes) -> Iterator[FrameOrError]:
        raise NotImplementedError

    def _finish_rest(self) -> FrameOrError | None:
        return self._build_cut_off_error() if self._rest else None

    def _build_cut_off_error(self) -> FrameError:
        found = "the stream ended before that"
        advice = "Reconnect; the unfinished part was dropped"
        return build_refusal(self.rule, f"{self.unit} with its end", found, advice)

    def _report_overlong(self) -> FrameError | None:
        expected = f"{self.unit} of at most {self.limit} bytes"
        advice = "Send smaller messages or raise the limit here"
        return build_refusal(self.rule, expected, "this one is longer (CF-114)", f"{advice}; this one was skipped")


class NdjsonDecoder(Decoder):
    """
    Decodes one JSON object per line (TR-008, UDS-008).

    CRLF, empty lines and a BOM are tolerated; the limit counts them.
    """

    rule = "TR-006"  # For lines that are too long or cut off; the text of a line has rules of its own.
    margin: ClassVar[int] = 0  # Bytes a line may have beyond the limit.
    _is_overrun = False  # Inside a line that has been reported as too long; its end is still to come.

    def _receive(self, chunk: bytes) -> Iterator[FrameOrError]:
        # One split reads every byte once, however many the lines and however short the pieces.
        *pieces, rest = chunk.split(b"\n")
        max_length = self.limit + self.margin
        for piece in pieces:
            if self._is_overrun:
                self._is_overrun = False
                continue
            line = bytes(self._rest) + piece if self._rest else piece
            self._rest.clear()
            item = self._decode_line(line) if len(line) <= max_length else self._report_overlong()
            if item:
                yield item
        if not self._is_overrun:
            self._rest += rest
            if len(self._rest) > max_length:
                self._rest.clear()
                self._is_overrun = True
                if error := self._report_overlong():
                    yield error

    def _decode_line(self, line: bytes) -> FrameOrError | None:
        # RFC 8259 §8.1 lets a reader ignore a BOM; the strip takes the CR of a CRLF and makes blank lines empty.
        text = line.removeprefix(BOM).strip(b" \t\r")
        return self._decode_frame(text) if text else None

    def _decode_frame(self, text: bytes) -> FrameOrError:
        return check_frame(text, "ENC-001", "VAL-001")

    def _finish_rest(self) -> FrameOrError | None:
        # Files often lack the last LF, and a complete object cannot have been cut off.
        item = self._decode_line(bytes(self._rest))
        return self._build_cut_off_error() if isinstance(item, FrameError) else item


class JsonRpcDecoder(NdjsonDecoder):
    """Decodes one JSON-RPC 2.0 object per line (CF-111), with the message in params, result or error."""

    rule = "STDIO-001"

    def feed(self, chunk: bytes) -> list[Frame | FrameError]:
        """Take the next piece of the stream and return the frames it completed."""
        is_idle = not (self._rest or self._is_overrun or self._has_ended)
        if is_idle and chunk.find(b"\n") == len(chunk) - 1 <= self.limit:  # one complete line, the usual case
            item = self._decode_line(chunk[:-1])
            return [item] if item else []
        return super().feed(chunk)

    def _decode_frame(self, text: bytes) -> FrameOrError:
        if text.startswith(b"["):
            return self._refuse("it is a batch", "Send each call on a line of its own (CF-110)")
        envelope = decode_or_refuse(_JSONRPC_DECODER, text, "One JSON-RPC 2.0 object", self.rule, self.rule)
        if isinstance(envelope, FrameError):
            return envelope
        method = envelope.method or ""
        call = envelope.id
        is_result = bool(envelope.result)
        is_error = bool(envelope.error)
        if bool(method) + is_result + is_error != 1:
            return self._refuse("it is no call and no response", "Send exactly one of method, result and error")
        # JSON-RPC 2.0 §4, §5: only an error may answer no call in particular; null is not a notification.
        if not is_error and (call is None or (is_result and call is UNSET)):
            return self._refuse("it has no usable id", "Use a string or an integer as id")
        # STDIO-009: aaep.ping has no params, and JSON-RPC lets any method leave them out.
        data = bytes(envelope.result or envelope.error or envelope.params) or b"{}"
        if not data.startswith(b"{"):
            return self._refuse("it holds no object", "Put the AAEP message in params or result (STDIO-002)")
        return Frame(data, method=method, call=None if call is UNSET else call, is_error=is_error)

    def _refuse(self, found: str, advice: str) -> FrameError:
        return build_refusal(self.rule, "One JSON-RPC 2.0 object", found, f"{advice}; this line was skipped")

    def _finish_rest(self) -> FrameOrError | None:
        return (
            self._build_cut_off_error() if self._decode_line(bytes(self._rest)) else None
        )  # STDIO-001: each line ends with LF.


class LengthDecoder(Decoder):
    """Decodes a 4-byte big-endian length and that many bytes of JSON (UDS-007)."""

    rule = "UDS-006"
    unit = "A length-prefixed message"

    def extract_single(self, chunk: bytes) -> bytes | None:
        """Return the message in a piece that is exactly one frame, without checking it; None for any other piece."""
        if self._rest or self._has_ended or not int.from_bytes(chunk[:4], "big") == len(chunk) - 4 <= self.limit:
            return None
        return chunk[4:]

    def feed(self, chunk: bytes) -> list[Frame | FrameError]:
        """Take the next piece of the stream and return the frames it completed."""
        message = self.extract_single(chunk)
        return super().feed(chunk) if message is None else [check_frame(message, self.rule)]

    def _receive(self, chunk: bytes) -> Iterator[FrameOrError]:
        self._rest += chunk
        start = 0  # Consumed up to here; the buffer is cut once, at the end.
        while len(self._rest) - start >= 4:
            size = int.from_bytes(self._rest[start : start + 4], "big")
            end = start + 4 + size
            if size > self.limit:
                # CF-114: nothing is allocated for it, and without its body the next one cannot be found.
                self._has_ended = True
                expected = f"A length of at most {self.limit}"
                found = f"{size} was announced"
                advice = "Close with protocol_error (CF-113) and check that both sides use one framing (UDS-009)"
                yield build_refusal(self.rule, expected, found, advice, fatal=True)
                end = len(self._rest)
            elif end > len(self._rest):
                break
            else:
                yield check_frame(bytes(self._rest[start + 4 : end]), self.rule)
            start = end
        del self._rest[:start]


class SseDecoder(NdjsonDecoder):
    """
    Decodes server-sent events as the WHATWG standard defines them (HTML §9.2.6).

    ``last_event_id`` is the id to reconnect with, ``retry`` the milliseconds to wait
    before. A frame's ``id`` is empty when its event had no id line, like that of
    ``aaep.close`` (CF-088).
    """

    rule = "SSE-014"
    unit = "An event"
    margin = len("data: ")
    last_event_id = ""
    retry: int | None = None
    _is_after_cr = False  # An LF that comes now belongs to the CR before it.
    _is_first_line = True  # Only the first line may begin with a BOM.

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        super().__init__(limit)
        self._begin()

    def _begin(self, *, skipping: bool = False) -> None:
        self._is_skipping = skipping  # Inside an event that has been reported as too long.
        self._event = ""
        self._id: str | None = None
        self._data: list[bytes] = []
        self._size = -1  # Of the data lines joined by LF.

    def _receive(self, chunk: bytes) -> Iterator[FrameOrError]:
        text = chunk.removeprefix(b"\n" if self._is_after_cr else b"")
        self._is_after_cr = chunk.endswith(b"\r") if chunk else self._is_after_cr
        return super()._receive(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))

    def _decode_line(self, line: bytes) -> FrameOrError | None:
        line = line.removeprefix(BOM if self._is_first_line else b"")
        self._is_first_line = False
        if not line:
            return self._dispatch()
        name, _, value = (b"" if self._is_skipping else line).partition(b":")  # A comment has an empty name.
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._size += len(value) + 1
            return self._report_overlong() if self._size > self.limit else None
        elif name == b"event":
            self._event = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) < 16:  # int() raises on thousands of digits.
            self.retry = int(value)
        return None

    def _dispatch(self) -> FrameOrError | None:
        if self._id is not None:
            self.last_event_id = self._id
        data = b"\n".join(self._data)  # SSE-013
        item = check_frame(data, self.rule) if data else None  # Without data there is no event.
        if isinstance(item, Frame):  # SSE-009, SSE-010: with or without a name, and whatever name.
            item = Frame(data, event=self._event, id=self._id or "")
        self._begin()
        return item

    def _report_overlong(self) -> FrameError | None:
        error = None if self._is_skipping else super()._report_overlong()
        self._begin(skipping=True)
        return error

    def _finish_rest(self) -> FrameOrError | None:
        # The standard drops an event without its blank line. An unfinished comment is not an event.
        has_begun = self._data or self._event or self._id or (self._rest and not self._rest.startswith(b":"))
        return self._build_cut_off_error() if has_begun and not self._is_skipping else None


FRAMINGS: Final = {"sse": SseDecoder, "ndjson": NdjsonDecoder, "length": LengthDecoder, "jsonrpc": JsonRpcDecoder}


def choose_decoder(first: bytes) -> type[LengthDecoder] | type[NdjsonDecoder]:
    """Return the decoder for a local socket by the first byte that arrives on it (CF-106)."""
    if first[:1] in (b"\0", b"{"):
        return NdjsonDecoder if first[:1] == b"{" else LengthDecoder
    found = f"{first[:1]!r} came first"
    advice = "Close the connection and check what the other side speaks"
    raise build_refusal("UDS-006", "0x00 (a length) or '{' (NDJSON)", found, advice, fatal=True)


def encode_sse(data: bytes, *, event: str = "aaep.event", id: str = "") -> bytes:
    """Frame ``data`` as one server-sent event (SSE-009, SSE-011)."""
    # A line end would let the value inject another field, and receivers ignore an id with NUL.
    if any(character in value for value in (event, id) for character in "\r\n\0"):
        raise ValueError(f"event and id must not contain CR, LF or NUL, but they are {event!r} and {id!r}")
    lines = [f"event: {event}".encode()] if event else []
    lines += [f"id: {id}".encode()] if id else []
    lines += [b"data: " + line for line in data.splitlines()]  # SSE-012, SSE-013
    return b"\n".join(lines) + b"\n\n"


def encode_ndjson(data: bytes) -> bytes:
    """Frame ``data`` as one line, without the raw newlines that JSON has only between tokens (TR-008, UDS-008)."""
    try:
        return (msgspec.json.format(data, indent=-1) if b"\n" in data or b"\r" in data else data) + b"\n"
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"data has raw newlines and cannot be compacted: {error}") from error


def encode_length_prefixed(data: bytes) -> bytes:
    """Frame ``data`` behind its length (UDS-007)."""
    # CF-106: the first byte has to be 0x00 for the other side to recognise the framing.
    if not 0 < len(data) < 1 << 24:
        raise ValueError(f"a message has at least 1 byte and less than 16 MiB, but this one has {len(data)} bytes")
    return len(data).to_bytes(4, "big") + data


def encode_jsonrpc(data: bytes, *, method: str = "", call: int | str | None = None, error: bool = False) -> bytes:
    """
    Frame ``data`` as one JSON-RPC 2.0 line: the params of a method, the result of a ``call``, or an ``error``.

    A method without a ``call`` is a notification. Only an error may answer no call in particular (CF-110).
    """
    if (method and error) or (call is None and not method and not error):
        raise ValueError("a line is a method with params, a result with its call, or an error")
    envelope: dict[str, object] = {"jsonrpc": "2.0", "method": method} if method else {"jsonrpc": "2.0"}
    answer = "error" if error else "result"
    envelope["params" if method else answer] = msgspec.Raw(encode_ndjson(data)[:-1])
    if call is not None or error:
        envelope["id"] = call
    return msgspec.json.encode(envelope) + b"\n"
