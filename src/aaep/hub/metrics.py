"""The counters and gauges of a hub, for Prometheus."""

from __future__ import annotations

from typing import Final

__all__ = ["format_metrics"]

_METRICS: Final = {
    "events": ("aaep_events_total", "Events published."),
    "frames": ("aaep_frames_total", "Frames written to readers."),
    "writes": ("aaep_writes_total", "Writes to readers; one may have several frames."),
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


def format_metrics(**values: int) -> str:
    """Return counters and gauges in the text format of Prometheus. They do not tell who reads what."""
    lines = []
    for key, value in values.items():
        name, text = _METRICS[key]
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
    return "\n".join(lines) + "\n"
