"""
For whom a session is, on its way from an agent to a hub. CF-145

An agent says it with the session's beginning, under our own extension, and the
hub takes it off again: who else hears a session is none of its readers' business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from .. import wire
from ..attend import ATTEND, PREFIX
from ..channel import LOCAL
from ..events import SessionStarted
from ..extensions import Registry
from ..fields import CORE_CONTEXT, present
from ..identity import audience

__all__ = ["Whose", "addressed", "named"]

NAME: Final = "audience"

_STARTED: Final = b"aaep:agent.session.started"


def addressed(data: bytes, known: Registry, audience: Callable[[str], frozenset[str] | None]) -> bytes:
    """An event for a hub: if it begins a session that is not for everybody, with those it is for."""
    if _STARTED not in data:
        return data
    event = wire.read(data, known)[0]
    to = audience(event.session_id) if isinstance(event, SessionStarted) else None
    if not isinstance(event, SessionStarted) or to is None:
        return data
    contexts = (event.context,) if isinstance(event.context, str) else tuple(event.context)
    extensions = {**(present(event, "extensions") or {}), PREFIX: {**_ours(event), NAME: sorted(to)}}
    both = tuple(dict.fromkeys((*contexts, ATTEND.context)))
    return wire.encode(wire.replace(event, context=both, extensions=extensions))


def named(event: SessionStarted) -> tuple[SessionStarted, frozenset[str] | None]:
    """The event as its agent made it, and those it names; None if it names nobody. What cannot be read is for none."""
    ours = _ours(event)
    if NAME not in ours:
        return event, None
    given = ours.pop(NAME)
    to = frozenset(one for one in given if isinstance(one, str)) if isinstance(given, list) else frozenset()
    others = {**(present(event, "extensions") or {}), PREFIX: ours}
    if ours:
        return wire.replace(event, extensions=others), to
    del others[PREFIX]
    contexts = [one for one in event.context if one != ATTEND.context] if not isinstance(event.context, str) else []
    context: Any = tuple(contexts) if len(contexts) > 1 else CORE_CONTEXT
    return wire.replace(event, context=context, extensions=others or UNSET), to


def _ours(event: SessionStarted) -> dict[str, Any]:
    ours = (present(event, "extensions") or {}).get(PREFIX)
    return dict(ours) if isinstance(ours, dict) else {}


class Whose(msgspec.Struct, frozen=True):
    """Whose agent a session is of, and whom that agent named."""

    principal: str
    named: frozenset[str] | None = None

    def audience(self, requested_by: str | None, *, several: bool) -> frozenset[str] | None:
        """
        Who may hear the session at a hub.

        The user of this machine owns the hub, so an agent of theirs may speak to
        whomever it names, and without a word to them alone; any other only to those
        it works for. Where all who are let in are one person that is everybody.
        """
        if self.principal == LOCAL:
            return audience(self.named, requested_by, several=several)
        own = frozenset({self.principal})
        return own if self.named is None else own & self.named
