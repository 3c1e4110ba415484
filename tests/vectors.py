"""Building the inputs of the vectors, as vectors/README.md describes it."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "vectors"
BASES: dict[str, Any] = json.loads((FOLDER / "bases.json").read_text())
START = datetime(2026, 5, 24, 14, 22, tzinfo=UTC)
VIA = "sub_00000000000000000000000000000001"


def cases(*kinds: str) -> Iterator[dict[str, Any]]:
    for path in sorted(FOLDER.glob("*.json")):
        if path.name not in ("bases.json", "vectors.schema.json"):
            for case in json.loads(path.read_text())["cases"]:
                if not kinds or case["kind"] in kinds:
                    yield case


def _parent(value: Any, pointer: str) -> tuple[Any, str]:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in parts[:-1]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value, parts[-1]


def message(given: dict[str, Any], number: int | None = None) -> bytes:
    """The bytes of a message or step."""
    if "base64" in given:
        return base64.b64decode(given["base64"])
    if "text" in given:
        return str(given["text"]).encode()
    value = copy.deepcopy(BASES[given["base"]]) if "base" in given else copy.deepcopy(given["json"])
    if number is not None and "base" in given:
        if "event_id" in value:
            value["event_id"] = f"evt_{number:032d}"
        if "timestamp" in value:
            value["timestamp"] = moment(number).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for pointer in given.get("remove", ()):
        parent, last = _parent(value, pointer)
        del parent[int(last) if isinstance(parent, list) else last]
    for pointer, new in given.get("set", {}).items():
        parent, last = _parent(value, pointer)
        if not isinstance(parent, list):
            parent[last] = new
        elif last == "-":
            parent.append(new)
        else:
            parent[int(last)] = new
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def moment(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)
