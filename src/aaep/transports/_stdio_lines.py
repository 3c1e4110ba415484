"""The lines of Appendix B.6: their methods, and what is answered to those that are none."""

from __future__ import annotations

from typing import Final

import msgspec

from ..errors import FrameError
from ..framing import Frame, JsonRpcDecoder, jsonrpc

__all__ = ["CLOSE", "EVENT", "PING", "RENEGOTIATE", "REPLY", "SUBSCRIBE", "Broken", "Lines", "error"]

EVENT, SUBSCRIBE, RENEGOTIATE = "aaep.event", "aaep.subscribe", "aaep.renegotiate"  # STDIO-003, STDIO-004, STDIO-006
REPLY, CLOSE, PING = "aaep.reply", "aaep.close", "aaep.ping"  # STDIO-007 to STDIO-009

# CF-110: the only errors there are, always in the same words.
_WORDS: Final = {
    -32700: "Parse error",
    -32600: "Invalid Request",
    -32601: "Method not found",
    -32602: "Invalid params",
}


def error(code: int, call: int | str | None) -> bytes:
    """A line that says what is wrong with a call."""
    return jsonrpc(msgspec.json.encode({"code": code, "message": _WORDS[code]}), call=call, error=True)


class Broken(FrameError):
    """A line that is no call, with what is answered to it: an error code, or 0 for nothing, and the call's id."""

    def __init__(self, found: FrameError, code: int, call: int | str | None, *, fatal: bool = False) -> None:
        super().__init__("What arrived is not a message.", found.violations, fatal=fatal)
        self.code, self.call = code, call


class Lines(JsonRpcDecoder):
    """JSON-RPC lines, and for those that are none what JSON-RPC has answered to them."""

    def _frame(self, text: bytes) -> Frame | FrameError:
        item = super()._frame(text)
        return Broken(item, *_fault(text)) if isinstance(item, FrameError) else item

    def _overlong(self) -> FrameError | None:
        found = super()._overlong()
        return None if found is None else Broken(found, -32600, None, fatal=True)  # CF-114


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
