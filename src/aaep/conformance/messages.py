"""JSON messages as plain objects, which a foreign peer may have filled with anything."""

from __future__ import annotations

import json
from typing import Any, Final

from ..protocol.codec import canonical_type

__all__ = ["EVENT_TYPE_PREFIX", "JsonObject", "decode_object", "shorten_type"]

JsonObject = dict[str, Any]
EVENT_TYPE_PREFIX: Final = "aaep:agent."


def shorten_type(type_: object) -> str:
    """TERM-011 §3.2.2: return a type without the prefix of core types, however it is spelled; empty if it is none."""
    return canonical_type(type_).removeprefix(EVENT_TYPE_PREFIX) if isinstance(type_, str) else ""


def decode_object(raw: bytes) -> JsonObject:
    """Decode a JSON object; return an empty one for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
