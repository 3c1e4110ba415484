"""
Encoding and decoding of the messages of ``aaep.proto``, without generated code.

AaepMessage and Manifest have their JSON in field 1; AaepMessage has its type in
field 2, a hint that is written and never read (CF-108).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

__all__ = ["ENVELOPE_BYTES", "LENGTH_BYTES", "METHODS", "SERVICE", "pack", "pack_with_length", "split_packed", "unpack"]

SERVICE: Final = "aaep.v1.AaepService"  # GRPC-001
METHODS: Final = ("Subscribe", "GetManifest")  # GRPC-002, GRPC-003
ENVELOPE_BYTES: Final = 1024  # that a message may have beside its JSON

_JSON_TAG: Final = b"\x0a"  # field 1, length-delimited (GRPC-004)
_TYPE_TAG: Final = b"\x12"  # field 2, length-delimited (GRPC-005)
_FIXED_FIELD_BYTES: Final = {1: 8, 5: 4}  # by wire type
_MAX_VARINT_BYTES: Final = 10
LENGTH_BYTES: Final = 4  # in front of each message of a batch


class _Head(msgspec.Struct):
    type: str = ""


_head_decoder: Final = msgspec.json.Decoder(_Head)


@lru_cache(maxsize=4096)
def _encode_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def pack(json: bytes, *, typed: bool = True) -> bytes:
    """Return an AaepMessage with JSON and its type; with ``typed=False``, a Manifest."""
    packed = _JSON_TAG + _encode_varint(len(json)) + json
    if not typed:
        return packed
    try:
        kind = _head_decoder.decode(json).type.encode()
    except (msgspec.DecodeError, UnicodeError):
        return packed
    return packed + _TYPE_TAG + _encode_varint(len(kind)) + kind


def _decode_varint(raw: bytes, offset: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset after it."""
    value = 0
    for index, byte in enumerate(raw[offset : offset + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, offset + index + 1
    raise ValueError("a number does not end")


def _unpack_common(raw: bytes) -> bytes:
    """Return the JSON of a message in the common form, 128 bytes to 16 KiB with or without a type; else empty."""
    if len(raw) < 128 or raw[0] != 0x0A or raw[1] < 0x80 or raw[2] > 0x7F:
        return b""
    end = 3 + (raw[1] & 0x7F) + (raw[2] << 7)
    has_type = len(raw) > end + 1 and raw[end] == 0x12 and raw[end + 1] < 0x80 and end + 2 + raw[end + 1] == len(raw)
    return raw[3:end] if has_type or len(raw) == end else b""


def unpack(raw: bytes) -> bytes:
    """
    Return the JSON of a message; empty if it has none. Unknown fields are skipped.

    Raises :exc:`ValueError` for bytes that are not a message.
    """
    common = _unpack_common(raw)
    if common:
        return common
    json = b""
    offset = 0
    while offset < len(raw):
        tag, offset = _decode_varint(raw, offset)
        field, wire_type = tag >> 3, tag & 7
        if field == 0 or tag > 0xFFFF_FFFF:
            raise ValueError("there is no such field")
        if wire_type == 0:
            _, offset = _decode_varint(raw, offset)
            continue
        if wire_type == 2:
            size, offset = _decode_varint(raw, offset)
        elif wire_type in _FIXED_FIELD_BYTES:
            size = _FIXED_FIELD_BYTES[wire_type]
        else:  # groups, which are obsolete
            raise ValueError("there is no such kind of field")
        if size > len(raw) - offset:
            raise ValueError("a field is longer than its message")
        if field == 1 and wire_type == 2:
            json = raw[offset : offset + size]
        offset += size
    return json


# -- batches, as the hub writes them -------------------------------------------------------


def pack_with_length(event_id: str, data: bytes) -> bytes:
    """Return a packed event with its length in front, so that concatenated events can be split again."""
    packed = pack(data)
    return len(packed).to_bytes(LENGTH_BYTES, "big") + packed


def split_packed(data: bytes) -> list[bytes]:
    """Return the messages of concatenated frames, each with its length still in front."""
    if int.from_bytes(data[:LENGTH_BYTES], "big") == len(data) - LENGTH_BYTES:  # a single one, the common case
        return [data]
    messages = []
    start = 0
    while start < len(data):
        end = start + LENGTH_BYTES + int.from_bytes(data[start : start + LENGTH_BYTES], "big")
        messages.append(data[start:end])
        start = end
    return messages
