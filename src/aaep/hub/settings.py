"""Limits and intervals of a hub."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from .visibility import DEFAULT_HIDDEN_MEMBERS, check_hidden_members

__all__ = ["HubSettings"]


class HubSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits and intervals of a hub. Times are in seconds."""

    resume_window: float = 30.0  # for a reader to come back (CF-004)
    ring_size: int = 1000  # events per stream to resume from memory (CF-091) ...
    ring_max_age: float = 300.0  # ... and for how long
    max_replay_entries: int = 50_000  # read back from the journal for one reader
    max_lag: float = 10.0  # a reader may fall behind before it is closed (CF-073)
    high_water_bytes: int = 256 * 1024  # buffered for a reader before live writes skip it
    max_backlog_bytes: int = 16 * 1024  # said and not yet written to the readers, before emitting waits
    heartbeat_interval: float = 15.0
    max_subscriptions: int = 1000
    max_subscriptions_per_principal: int | None = None  # without it, as many as are left for all others
    allow_bare: bool = True  # whether readers may connect without a subscription (CF-093)
    hidden_members: Mapping[str, Iterable[str]] = msgspec.field(
        default_factory=lambda: DEFAULT_HIDDEN_MEMBERS
    )  # by role (SEC-040)

    def __post_init__(self) -> None:
        check_hidden_members(self.hidden_members)
