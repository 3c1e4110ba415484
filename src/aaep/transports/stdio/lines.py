"""JSON-RPC lines of the stdio transport: method names, errors for invalid lines, and stray output of agents."""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from ...errors import FrameError
from ...protocol.framing import Frame, JsonRpcDecoder, encode_jsonrpc

__all__ = [
    "CLOSE",
    "EVENT",
    "PING",
    "RENEGOTIATE",
    "REPLY",
    "SUBSCRIBE",
    "AgentOutputDecoder",
    "CallDecoder",
    "InvalidLine",
    "StrayLineLog",
    "encode_error",
]

log: Final = logging.getLogger("aaep.stdio")

# The methods.
EVENT: Final = "aaep.event"  # STDIO-003
SUBSCRIBE: Final = "aaep.subscribe"  # STDIO-004
RENEGOTIATE: Final = "aaep.renegotiate"  # STDIO-006
REPLY: Final = "aaep.reply"  # STDIO-007
CLOSE: Final = "aaep.close"  # STDIO-008
PING: Final = "aaep.ping"  # STDIO-009

_MAX_SHOWN: Final = 80  # characters of a stray line
# CF-110: the only errors, each with a fixed text.
_ERROR_MESSAGES: Final = {
    -32700: "Parse error",
    -32600: "Invalid Request",
    -32601: "Method not found",
    -32602: "Invalid params",
}


def encode_error(code: int, call: int | str | None) -> bytes:
    """Return the JSON-RPC error line for a call."""
    return encode_jsonrpc(msgspec.json.encode({"code": code, "message": _ERROR_MESSAGES[code]}), call=call, error=True)


class InvalidLine(FrameError):
    """A line that is not a valid call, with the error code to answer (0 for no answer) and the id of the call."""

    def __init__(self, error: FrameError, code: int, call: int | str | None, *, fatal: bool = False) -> None:
        super().__init__("What arrived is not a message.", error.violations, fatal=fatal)
        self.code = code
        self.call = call


class CallDecoder(JsonRpcDecoder):
    """Decodes JSON-RPC lines of a client; invalid ones become :exc:`InvalidLine`."""

    def _decode_frame(self, text: bytes) -> Frame | FrameError:
        item = super()._decode_frame(text)
        return InvalidLine(item, *_classify_invalid_line(text)) if isinstance(item, FrameError) else item

    def _report_overlong(self) -> FrameError | None:
        error = super()._report_overlong()
        return None if error is None else InvalidLine(error, -32600, None, fatal=True)  # CF-114


class StrayLine(FrameError):
    """A line of an agent that is not a message, most likely printed. ``text`` is its beginning."""

    def __init__(self, error: FrameError, text: bytes) -> None:
        super().__init__("The agent wrote a line that is no message.", error.violations)
        self.text = text


class AgentOutputDecoder(JsonRpcDecoder):
    """Decodes JSON-RPC lines of an agent; other lines become :exc:`StrayLine`."""

    def _decode_frame(self, text: bytes) -> Frame | FrameError:
        item = super()._decode_frame(text)
        return StrayLine(item, text[: 4 * (_MAX_SHOWN + 1)]) if isinstance(item, FrameError) else item


class StrayLineLog:
    """Logs the stray lines of one agent: the first in full, the others as a count (STDIO-011, CF-111)."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, item: FrameError) -> None:
        """Count a stray line and log it, escaped so that it cannot affect a terminal."""
        self._count += 1
        text = _format_excerpt(item.text) if isinstance(item, StrayLine) else "it is too long to be shown"
        if self._count > 1:
            log.debug("The agent printed another line that is no message: %s", text)
            return
        log.warning(
            "The agent printed a line that is no message, and it was skipped: %s. Its standard output is for messages "
            "alone (STDIO-011, CF-111). Have it print to standard error; in Python, print(..., file=sys.stderr).",
            text,
        )

    def log_summary(self) -> None:
        """Log how many stray lines followed the first, and reset the count."""
        further = self._count - 1
        self._count = 0
        if further > 0:
            lines = "line that is no message" if further == 1 else "lines that are no messages"
            log.warning("The agent printed %d more %s.", further, lines)


def _format_excerpt(text: bytes) -> str:
    decoded = text.decode(errors="backslashreplace")
    ellipsis = "..." if len(decoded) > _MAX_SHOWN else ""
    escaped = (char if char.isprintable() else char.encode("unicode_escape").decode() for char in decoded[:_MAX_SHOWN])
    return f'"{"".join(escaped)}{ellipsis}"'


def _classify_invalid_line(text: bytes) -> tuple[int, int | str | None]:
    """Return the error code to answer an invalid line with (0 for no answer), and the id of the call."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return -32700, None
    if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and isinstance(value.get("method"), str):
        if "id" not in value:
            return 0, None  # JSON-RPC 2.0 §4.1, CF-110: a notification is never answered
        if not isinstance(value.get("params", {}), dict) and type(value["id"]) in (int, str):
            return -32602, value["id"]
    return -32600, None
