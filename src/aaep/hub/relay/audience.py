"""
For whom a session is, on its way from an agent to a hub and in the hub's journal. CF-145

An agent says it with the session's beginning, under our own extension, and the
hub takes it off again: who else hears a session is none of its readers' business.
The journal has it in an entry of its own, before the session's first event: a
manifest, which is no event and so is shown to nobody.
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

__all__ = ["UNKNOWN_ORIGIN", "SessionOrigin", "add_audience", "audience_lookup", "read_origin", "split_audience"]

AUDIENCE_MEMBER: Final = "audience"
MAX_REMEMBERED: Final = 10_000

_STARTED: Final = b"aaep:agent.session.started"


def add_audience(data: bytes, known: Registry, audience: Callable[[str], frozenset[str] | None]) -> bytes:
    """An event for a hub: if it begins a session that is not for everybody, with those it is for."""
    if _STARTED not in data:
        return data
    event = codec.read(data, known)[0]
    to = audience(event.session_id) if isinstance(event, SessionStarted) else None
    if not isinstance(event, SessionStarted) or to is None:
        return data
    contexts = (event.context,) if isinstance(event.context, str) else tuple(event.context)
    extensions = {
        **(get_member(event, "extensions") or {}),
        PREFIX: {**attend_members(event), AUDIENCE_MEMBER: sorted(to)},
    }
    both = tuple(dict.fromkeys((*contexts, ATTEND.context)))
    return codec.encode(codec.replace(event, context=both, extensions=extensions))


def split_audience(event: SessionStarted) -> tuple[SessionStarted, frozenset[str] | None]:
    """The event as its agent made it, and those it names; None if it names nobody. What cannot be read is for none."""
    ours = dict(attend_members(event))
    if AUDIENCE_MEMBER not in ours:
        return event, None
    given = ours.pop(AUDIENCE_MEMBER)
    to = frozenset(one for one in given if isinstance(one, str)) if isinstance(given, list) else frozenset()
    others = {**(get_member(event, "extensions") or {}), PREFIX: ours}
    if ours:
        return codec.replace(event, extensions=others), to
    del others[PREFIX]
    contexts = [one for one in event.context if one != ATTEND.context] if not isinstance(event.context, str) else []
    context: Any = tuple(contexts) if len(contexts) > 1 else CORE_CONTEXT
    return codec.replace(event, context=context, extensions=others or UNSET), to


class SessionOrigin(msgspec.Struct, frozen=True):
    """Whose agent a session is of, which one of theirs, and whom that agent named."""

    principal: str
    instance: str
    named_audience: frozenset[str] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The agent, as nobody else can be it (CF-065); its own name is easily taken."""
        return self.principal, self.instance

    def to_journal_entry(self, agent_id: str) -> bytes:
        """What the journal keeps of it."""
        facts: dict[str, Any] = {"principal": self.principal, "instance": self.instance}
        if self.named_audience is not None:
            facts[AUDIENCE_MEMBER] = sorted(self.named_audience)
        made = Manifest(
            agent_id=agent_id,
            aaep_versions_supported=(AAEP_VERSION,),
            conformance_levels_supported=(1,),
            transports_supported=(),
            languages_supported=(),
            extensions={PREFIX: facts},
        )
        return codec.encode(made)

    def resolve_audience(self, requested_by: str | None, *, is_multi_user: bool) -> frozenset[str] | None:
        """
        Who may hear the session at a hub.

        The user of this machine owns the hub, so an agent of theirs may speak to
        whomever it names, and without a word to them alone; any other only to those
        it works for. Where all who are let in are one person that is everybody.
        """
        if not self.principal:
            return frozenset({LOCAL_PRINCIPAL})
        if self.principal == LOCAL_PRINCIPAL:
            return resolve_audience(self.named_audience, requested_by, is_multi_user=is_multi_user)
        own = frozenset({self.principal})
        return own if self.named_audience is None else own & self.named_audience


UNKNOWN_ORIGIN: Final = SessionOrigin(
    "", ""
)  # a session that was kept without a word about it: for the user of this machine


def read_origin(entries: Sequence[JournalEntry]) -> SessionOrigin:
    """Whose a session of an earlier run is."""
    for entry in entries[:1]:
        message = codec.decode(entry.data)
        ours = attend_members(message) if isinstance(message, Manifest) else {}
        if ours:
            names = frozenset(ours[AUDIENCE_MEMBER]) if AUDIENCE_MEMBER in ours else None
            return SessionOrigin(ours["principal"], ours["instance"], names)
    return UNKNOWN_ORIGIN


def audience_lookup(journal: Journal, *, is_multi_user: bool) -> Callable[[str], frozenset[str] | None]:
    """Who may hear what a hub's journal has of a session, by its id."""

    @lru_cache(MAX_REMEMBERED)
    def heard_by(session_id: str) -> frozenset[str] | None:
        entries = journal.read(session=session_id, limit=2)
        began = [codec.decode(entry.data) for entry in entries[1:]]
        asked = [get_member(one, "requested_by") for one in began if isinstance(one, SessionStarted)]
        return read_origin(entries).resolve_audience(asked[0] if asked else None, is_multi_user=is_multi_user)

    return heard_by
