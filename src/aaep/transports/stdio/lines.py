"""The lines of Appendix B.6: their methods, what is answered to those that are none, and what an agent printed."""

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
    "Broken",
    "Lines",
    "Printed",
    "Strays",
    "error",
]

log: Final = logging.getLogger("aaep.stdio")

EVENT, SUBSCRIBE, RENEGOTIATE = "aaep.event", "aaep.subscribe", "aaep.renegotiate"  # STDIO-003, STDIO-004, STDIO-006
REPLY, CLOSE, PING = "aaep.reply", "aaep.close", "aaep.ping"  # STDIO-007 to STDIO-009

_SHOWN: Final = 80  # characters of what an agent printed
# CF-110: the only errors there are, always in the same words.
_WORDS: Final = {
    -32700: "Parse error",
    -32600: "Invalid Request",
    -32601: "Method not found",
    -32602: "Invalid params",
}


def error(code: int, call: int | str | None) -> bytes:
    """A line that says what is wrong with a call."""
    return encode_jsonrpc(msgspec.json.encode({"code": code, "message": _WORDS[code]}), call=call, error=True)


class Broken(FrameError):
    """A line that is no call, with what is answered to it: an error code, or 0 for nothing, and the call's id."""

    def __init__(self, found: FrameError, code: int, call: int | str | None, *, fatal: bool = False) -> None:
        super().__init__("What arrived is not a message.", found.violations, fatal=fatal)
        self.code, self.call = code, call


class Lines(JsonRpcDecoder):
    """JSON-RPC lines, and for those that are none what JSON-RPC has answered to them."""

    def _decode_frame(self, text: bytes) -> Frame | FrameError:
        item = super()._decode_frame(text)
        return Broken(item, *_fault(text)) if isinstance(item, FrameError) else item

    def _report_overlong(self) -> FrameError | None:
        found = super()._report_overlong()
        return None if found is None else Broken(found, -32600, None, fatal=True)  # CF-114


class Stray(FrameError):
    """A line of an agent that is no message: something it printed, most likely. ``text`` is its beginning."""

    def __init__(self, found: FrameError, text: bytes) -> None:
        super().__init__("The agent wrote a line that is no message.", found.violations)
        self.text = text


class Printed(JsonRpcDecoder):
    """JSON-RPC lines of an agent, and the beginning of those that are none."""

    def _decode_frame(self, text: bytes) -> Frame | FrameError:
        item = super()._decode_frame(text)
        return Stray(item, text[: 4 * (_SHOWN + 1)]) if isinstance(item, FrameError) else item


class Strays:
    """What one agent printed between its messages (STDIO-011, CF-111): told once, and counted."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, item: FrameError) -> None:
        """Nothing in what it printed may act on the terminal where this is shown."""
        self._count += 1
        text = _escaped(item.text) if isinstance(item, Stray) else "it is too long to be shown"
        if self._count > 1:
            log.debug("The agent printed another line that is no message: %s", text)
            return
        log.warning(
            "The agent printed a line that is no message, and it was skipped: %s. Its standard output is for messages "
            "alone (STDIO-011, CF-111). Have it print to standard error; in Python, print(..., file=sys.stderr).",
            text,
        )

    def sum_up(self) -> None:
        """The agent has ended."""
        more, self._count = self._count - 1, 0
        if more > 0:
            lines = "line that is no message" if more == 1 else "lines that are no messages"
            log.warning("The agent printed %d more %s.", more, lines)


def _escaped(text: bytes) -> str:
    shown = text.decode(errors="backslashreplace")
    cut = "..." if len(shown) > _SHOWN else ""
    plain = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in shown[:_SHOWN])
    return f'"{"".join(plain)}{cut}"'


def _fault(text: bytes) -> tuple[int, int | str | None]:
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return -32700, None
    if isinstance(given, dict) and given.get("jsonrpc") == "2.0" and isinstance(given.get("method"), str):
        if "id" not in given:
            return 0, None  # JSON-RPC 2.0 §4.1, CF-110: a notification is not answered, whatever it holds
        if not isinstance(given.get("params", {}), dict) and type(given["id"]) in (int, str):
            return -32602, given["id"]
    return -32600, None
