"""JSON messages as plain objects, which a foreign peer may have filled with anything."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["EVENT_TYPE_PREFIX", "JsonObject", "decode_object"]

JsonObject = dict[str, Any]
EVENT_TYPE_PREFIX: Final = "aaep:agent."


def decode_object(raw: bytes) -> JsonObject:
    """Decode a JSON object; return an empty one for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
