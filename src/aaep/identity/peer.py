"""The authenticated peer of a connection, and the roles it may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

__all__ = ["AGENT", "AUDITOR", "HUB_AGENT_ID", "LISTENER", "LOCAL_PRINCIPAL", "RELAY", "REPLIER", "Peer"]

HUB_AGENT_ID: Final = "aaep-hub"  # of a hub that serves many agents and outlives them
LOCAL_PRINCIPAL: Final = "local"  # the user of this machine

# Roles (SEC-037).
LISTENER: Final = "listener"  # receives events
REPLIER: Final = "replier"  # receives events and answers prompts
AUDITOR: Final = "auditor"  # receives all events, whatever their audience, and answers nothing
AGENT: Final = "agent"  # publishes events through a hub
RELAY: Final = "relay"  # a hub that an agent connected to: receives all events and applies audiences itself


class Peer(msgspec.Struct, frozen=True):
    """
    The identity of a connection's other end, as its transport has proved it.

    It is valid until ``expires_at``, in seconds since the epoch, and as long as
    ``is_still_valid`` returns True, where that is set (CF-149). A
    ``subscriber_id`` is only a label beside it (CF-065).
    """

    principal: str = LOCAL_PRINCIPAL
    transport: str = ""
    roles: frozenset[str] = frozenset({REPLIER})
    expires_at: float | None = None
    is_still_valid: Callable[[], bool] | None = None
    process: str = ""  # for the log: its id and program, where the kernel tells (CF-141)

    @property
    def may_listen(self) -> bool:
        """Whether the peer may receive events."""
        return not self.roles.isdisjoint((LISTENER, REPLIER, AUDITOR))

    @property
    def may_reply(self) -> bool:
        """Whether the peer may answer prompts; an auditor never may, whatever its other roles."""
        return REPLIER in self.roles and AUDITOR not in self.roles

    def may_hear(self, audience: frozenset[str] | None) -> bool:
        """Whether the peer may receive a session for these principals, or for all if None (CF-145)."""
        return audience is None or self.principal in audience or not self.roles.isdisjoint((AUDITOR, RELAY))
