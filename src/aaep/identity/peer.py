"""Who is at the other end of a connection, as the transport has proved it, and what that one may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

__all__ = ["AGENT", "AUDITOR", "HUB_AGENT_ID", "LISTENER", "LOCAL_PRINCIPAL", "RELAY", "REPLIER", "Peer"]

HUB_AGENT_ID: Final = "aaep-hub"  # of a hub that many agents come to, and that they do not end with
LOCAL_PRINCIPAL: Final = "local"  # the principal that is the user of this machine


# What somebody may do (SEC-037).
LISTENER: Final = "listener"  # receive


REPLIER: Final = "replier"  # receive and answer


AUDITOR: Final = "auditor"  # receive everything, whoever it is for, and answer nothing


AGENT: Final = "agent"  # publish, through a hub


RELAY: Final = "relay"  # a hub that an agent went to: it hears everything, and keeps its readers apart itself


class Peer(msgspec.Struct, frozen=True):
    """
    Who is at the other end, as the transport has proved it. A ``subscriber_id`` is only a label (CF-065).

    It counts until ``expires``, in seconds since the epoch, and as long as
    ``stands`` says so, where there is such a function (CF-149).
    """

    principal: str = LOCAL_PRINCIPAL
    transport: str = ""
    roles: frozenset[str] = frozenset({REPLIER})
    expires_at: float | None = None
    is_still_valid: Callable[[], bool] | None = None
    process: str = ""  # for the log: its number and its program, where the kernel tells (CF-141)

    @property
    def may_listen(self) -> bool:
        return not self.roles.isdisjoint((LISTENER, REPLIER, AUDITOR))

    @property
    def may_reply(self) -> bool:
        """Whoever hears what was not meant for them answers nothing, whatever else they are."""
        return REPLIER in self.roles and AUDITOR not in self.roles

    def may_hear(self, audience: frozenset[str] | None) -> bool:
        """Whether a session for these principals, or for all if None, is for this one too (CF-145)."""
        return audience is None or self.principal in audience or not self.roles.isdisjoint((AUDITOR, RELAY))
