"""What a hub says of itself: its manifest and its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from msgspec import UNSET

from .channel import Door
from .events import CORE_EVENTS
from .messages import Manifest
from .negotiation import Offer

__all__ = ["manifest", "metrics"]

TRANSPORTS: Final = {  # CF-119
    "http": "sse",
    "https": "sse",
    "ws": "websocket",
    "wss": "websocket",
    "unix": "unix-socket",
    "pipe": "named-pipe",
    "grpc": "grpc",
    "stdio": "stdio-jsonrpc",
}
_PROMPTS: Final = ("aaep:agent.awaiting.confirmation", "aaep:agent.awaiting.clarification")
_NUMBERS: Final = {
    "events": ("aaep_events_total", "Events published."),
    "frames": ("aaep_frames_total", "Frames written to readers."),
    "replies": ("aaep_replies_total", "Replies passed on to a session."),
    "refusals": ("aaep_replies_refused_total", "Replies refused."),
    "slow": ("aaep_slow_consumers_total", "Readers let go because they fell behind."),
    "resumed": ("aaep_resumed_total", "Readers that went on where they had stopped."),
    "caught_up": ("aaep_caught_up_total", "Readers that began with the current state."),
    "sessions": ("aaep_sessions", "Open sessions."),
    "subscriptions": ("aaep_subscriptions", "Subscriptions, read or expected to be."),
    "readers": ("aaep_readers", "Subscriptions that are being read."),
    "streams": ("aaep_streams", "Distinct sets of terms that are served."),
    "unsent": ("aaep_unsent_bytes", "Bytes that were written and not yet taken by a reader."),
}


def manifest(offer: Offer, doors: Iterable[Door]) -> Manifest:
    """What is really offered (CF-119): the transports are those of the doors that are open."""
    names = (TRANSPORTS.get(urlsplit(door.url).scheme.lower()) for door in doors)
    emitted = [type_ for type_ in CORE_EVENTS if max(offer.levels) > 1 or type_ not in _PROMPTS]
    return Manifest(
        agent_id=offer.producer.agent_id,
        agent_version=offer.producer.agent_version,
        agent_name=offer.producer.agent_name,
        aaep_versions_supported=offer.versions,
        conformance_levels_supported=offer.levels,
        transports_supported=tuple(dict.fromkeys(name for name in names if name is not None)),
        languages_supported=offer.languages,
        event_types_emitted=tuple(emitted),
        extensions_supported=offer.namespaces,
        default_verbosity="normal",
        max_concurrent_subscriptions=offer.max_subscriptions or UNSET,
    )


def metrics(**values: int) -> str:
    """Numbers in the text format of Prometheus. Nothing in them says who reads what."""
    lines = []
    for key, value in values.items():
        name, text = _NUMBERS[key]
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
    return "\n".join(lines) + "\n"
