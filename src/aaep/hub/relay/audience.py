"""
The audience of relayed sessions, between agent and hub and in the hub's journal (CF-145).

An agent adds the audience to the event that starts a session, under the ``attend``
extension, and the hub removes it: a session's readers must not learn who else reads it.
The journal has it in a separate entry before the session's first event, in the form of
a manifest, which is not an event and so is never sent to readers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ...identity.credentials import resolve_audience
from ...identity.peer import LOCAL_PRINCIPAL
from ...journal.base import Journal, JournalEntry
from ...protocol import codec
from ...protocol.attend_extension import ATTEND, PREFIX, attend_members
from ...protocol.events import SessionStarted
from ...protocol.extensions import Registry
from ...protocol.fields import AAEP_VERSION, CORE_CONTEXT, get_member
from ...protocol.messages import Manifest

__all__ = ["UNKNOWN_ORIGIN", "SessionOrigin", "add_audience", "make_audience_lookup", "read_origin", "split_audience"]

AUDIENCE_MEMBER: Final = "audience"
MAX_CACHED_AUDIENCES: Final = 10_000  # sessions

_STARTED_TYPE: Final = b"aaep:agent.session.started"


def add_audience(data: bytes, registry: Registry, lookup_audience: Callable[[str], frozenset[str] | None]) -> bytes:
    """Return an encoded event for a hub, with the audience added if it starts a session with a limited one."""
    if _STARTED_TYPE not in data:
        return data
    event = codec.read(data, registry)[0]
    if not isinstance(event, SessionStarted):
        return data
    audience = lookup_audience(event.session_id)
    if audience is None:
        return data
    contexts = (event.context,) if isinstance(event.context, str) else tuple(event.context)
    extensions = {
        **(get_member(event, "extensions") or {}),
        PREFIX: {**attend_members(event), AUDIENCE_MEMBER: sorted(audience)},
    }
    all_contexts = tuple(dict.fromkeys((*contexts, ATTEND.context)))
    return codec.encode(codec.replace(event, context=all_contexts, extensions=extensions))


def split_audience(event: SessionStarted) -> tuple[SessionStarted, frozenset[str] | None]:
    """Return the event without its audience, and the audience; None if it has none. An invalid one counts as empty."""
    attend = dict(attend_members(event))
    if AUDIENCE_MEMBER not in attend:
        return event, None
    names = attend.pop(AUDIENCE_MEMBER)
    audience = frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()
    extensions = {**(get_member(event, "extensions") or {}), PREFIX: attend}
    if attend:
        return codec.replace(event, extensions=extensions), audience
    del extensions[PREFIX]
    contexts: list[str] = []
    if not isinstance(event.context, str):
        contexts = [context for context in event.context if context != ATTEND.context]
    remaining: Any = tuple(contexts) if len(contexts) > 1 else CORE_CONTEXT
    return codec.replace(event, context=remaining, extensions=extensions or UNSET), audience


class SessionOrigin(msgspec.Struct, frozen=True):
    """The origin of a relayed session: the principal of its agent, the agent's instance, and the named audience."""

    principal: str
    instance: str
    named_audience: frozenset[str] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The key that identifies the agent (CF-065); an agent_id alone could be used by another agent."""
        return self.principal, self.instance

    def to_journal_entry(self, agent_id: str) -> bytes:
        """Return the journal entry for the origin, in the form of a manifest."""
        attend: dict[str, Any] = {"principal": self.principal, "instance": self.instance}
        if self.named_audience is not None:
            attend[AUDIENCE_MEMBER] = sorted(self.named_audience)
        manifest = Manifest(
            agent_id=agent_id,
            aaep_versions_supported=(AAEP_VERSION,),
            conformance_levels_supported=(1,),
            transports_supported=(),
            languages_supported=(),
            extensions={PREFIX: attend},
        )
        return codec.encode(manifest)

    def resolve_audience(self, requested_by: str | None, *, is_multi_user: bool) -> frozenset[str] | None:
        """
        Return the principals that may read the session at a hub; None for all.

        Agents of the user of this machine, who owns the hub, may name any audience; without
        one, the default of :func:`~aaep.identity.credentials.resolve_audience` applies. Agents of
        other principals reach that principal only.
        """
        if not self.principal:
            return frozenset({LOCAL_PRINCIPAL})
        if self.principal == LOCAL_PRINCIPAL:
            return resolve_audience(self.named_audience, requested_by, is_multi_user=is_multi_user)
        own = frozenset({self.principal})
        return own if self.named_audience is None else own & self.named_audience


UNKNOWN_ORIGIN: Final = SessionOrigin("", "")  # of a session without an entry: for the user of this machine only


def read_origin(entries: Sequence[JournalEntry]) -> SessionOrigin:
    """Return the origin of a journaled session, from its first entry."""
    for entry in entries[:1]:
        message = codec.decode(entry.data)
        attend = attend_members(message) if isinstance(message, Manifest) else {}
        if attend:
            audience = frozenset(attend[AUDIENCE_MEMBER]) if AUDIENCE_MEMBER in attend else None
            return SessionOrigin(attend["principal"], attend["instance"], audience)
    return UNKNOWN_ORIGIN


def make_audience_lookup(journal: Journal, *, is_multi_user: bool) -> Callable[[str], frozenset[str] | None]:
    """Return a function from the id of a journaled session to its audience."""

    @lru_cache(MAX_CACHED_AUDIENCES)
    def look_up_audience(session_id: str) -> frozenset[str] | None:
        entries = journal.read(session=session_id, limit=2)
        requested_by = None
        for entry in entries[1:]:
            event = codec.decode(entry.data)
            if isinstance(event, SessionStarted):
                requested_by = get_member(event, "requested_by")
        return read_origin(entries).resolve_audience(requested_by, is_multi_user=is_multi_user)

    return look_up_audience
