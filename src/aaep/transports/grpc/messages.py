"""
The messages of ``aaep.proto``, written and read by hand: two fields do not need generated code or a library.

AaepMessage and Manifest have their JSON in field 1; AaepMessage has its type in
field 2, as a hint that is written and never read (CF-108).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

__all__ = ["ENVELOPE", "LENGTH", "METHODS", "SERVICE", "batch", "each", "pack", "unpack"]

SERVICE: Final = "aaep.v1.AaepService"  # GRPC-001
METHODS: Final = ("Subscribe", "GetManifest")  # GRPC-002, GRPC-003
ENVELOPE: Final = 1024  # bytes that a message may have beside its JSON

_JSON, _TYPE = b"\x0a", b"\x12"  # field numbers 1 and 2, both with their length in front. GRPC-004, GRPC-005
_SIZES: Final = {1: 8, 5: 4}  # bytes of the fields of fixed size
_LONGEST: Final = 10  # bytes of a number
LENGTH: Final = 4  # bytes in front of each message of a batch


class _Head(msgspec.Struct):
    type: str = ""


_head: Final = msgspec.json.Decoder(_Head)


@lru_cache(maxsize=4096)
def _number(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def pack(json: bytes, *, typed: bool = True) -> bytes:
    """An AaepMessage with its type, or a Manifest."""
    made = _JSON + _number(len(json)) + json
    if not typed:
        return made
    try:
        kind = _head.decode(json).type.encode()
    except (msgspec.DecodeError, UnicodeError):
        return made
    return made + _TYPE + _number(len(kind)) + kind


def _number_at(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index, byte in enumerate(raw[at : at + _LONGEST]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, at + index + 1
    raise ValueError("a number does not end")


def _plain(raw: bytes) -> bytes:
    """The JSON of a message as nearly all are: of 128 bytes to 16 KiB, with or without a type; empty for others."""
    if len(raw) < 128 or raw[0] != 0x0A or raw[1] < 0x80 or raw[2] > 0x7F:
        return b""
    end = 3 + (raw[1] & 0x7F) + (raw[2] << 7)
    typed = len(raw) > end + 1 and raw[end] == 0x12 and raw[end + 1] < 0x80 and end + 2 + raw[end + 1] == len(raw)
    return raw[3:end] if typed or len(raw) == end else b""


def unpack(raw: bytes) -> bytes:
    """
    The JSON of a message; empty if it has none. Fields that are not known are passed over.

    Raises :exc:`ValueError` for what is no message.
    """
    plain = _plain(raw)
    if plain:
        return plain
    json, at = b"", 0
    while at < len(raw):
        tag, at = _number_at(raw, at)
        field, kind = tag >> 3, tag & 7
        if field == 0 or tag > 0xFFFF_FFFF:
            raise ValueError("there is no such field")
        if kind == 0:
            _, at = _number_at(raw, at)
            continue
        if kind == 2:
            size, at = _number_at(raw, at)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:  # groups, which nobody writes any more
            raise ValueError("there is no such kind of field")
        if size > len(raw) - at:
            raise ValueError("a field is longer than its message")
        if field == 1 and kind == 2:
            json = raw[at : at + size]
        at += size
    return json


# -- several of them, as the hub writes them -----------------------------------------------


def batch(event_id: str, data: bytes) -> bytes:
    """One message, so that several can be told apart when they come in one piece."""
    made = pack(data)
    return len(made).to_bytes(LENGTH, "big") + made


def each(data: bytes) -> list[bytes]:
    """The messages in one piece, each with its length still in front."""
    made, at = [], 0
    if int.from_bytes(data[:LENGTH], "big") == len(data) - LENGTH:  # one, as nearly always
        return [data]
    while at < len(data):
        end = at + LENGTH + int.from_bytes(data[at : at + LENGTH], "big")
        made.append(data[at:end])
        at = end
    return made
