"""
Hides members of events from roles that may not see them. SEC-038, SEC-040 §10.5

A replier gets everything, for nobody should decide on half of what there is to
know, and so does an auditor. A listener hears what happens, but not the user's
own words, nor the arguments of a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import AaepError
from ..identity.peer import AUDITOR, LISTENER, REPLIER
from ..protocol import codec
from ..protocol.codec import parse_json
from ..protocol.events import CORE_EVENTS, Envelope
from ..protocol.fields import get_member, struct_fields
from ..protocol.messages import SHAPES

__all__ = ["DEFAULT_HIDDEN_MEMBERS", "check_hidden_members", "hidden_members_for", "hide_members"]

DEFAULT_HIDDEN_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    LISTENER: frozenset({"args_summary", "request_text", "extra_context"}),
}
_LINK_MEMBER: Final = "tool_call_id"  # reveals nothing, and tells an auditor which call a prompt was about


def check_hidden_members(table: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Return a table of roles and the members hidden from them; raise if an event needs one of those."""
    needed = {
        field.name for type_ in CORE_EVENTS for field in struct_fields(SHAPES[type_]) if field.default is not UNSET
    }
    checked = {role: frozenset([names] if isinstance(names, str) else names) for role, names in table.items()}
    for role, names in checked.items():
        if names & needed:
            name = min(names & needed)
            raise AaepError(f"{name!r} cannot be hidden from a {role}: an event without it breaks the protocol.")
    return checked


def hidden_members_for(roles: Iterable[str], table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the members hidden from a peer: those that none of its roles may see."""
    each = [table.get(role, frozenset()) for role in roles if role in (LISTENER, REPLIER, AUDITOR)]
    return frozenset.intersection(*each) if each else frozenset()


def hide_members(event: Envelope, names: frozenset[str]) -> Envelope:
    """Return an event without some members; the event itself if it has none of them."""
    changes = {name: _remaining_value(event, name) for name in names if get_member(event, name) is not None}
    summary = get_member(event, "summary_detailed")
    if isinstance(summary, str) and any(_is_quoted(event, name, summary) for name in names):
        changes["summary_detailed"] = UNSET  # it repeats a hidden member
    unknown = names & event.unknown.keys()
    if not changes and not unknown:
        return event
    changed = codec.replace(event, **changes)
    if unknown and changed.raw is not None:
        members = {name: value for name, value in parse_json(changed.raw)[0].items() if name not in unknown}
        changed.__dict__["raw"] = msgspec.json.encode(members)
        changed.__dict__["unknown"] = {name: value for name, value in changed.unknown.items() if name not in unknown}
    return changed


def _is_quoted(event: Envelope, name: str, summary: str) -> bool:
    value = get_member(event, name)
    return isinstance(value, str) and bool(value) and value in summary


def _remaining_value(event: Envelope, name: str) -> Any:
    value = get_member(event, name)
    if name == "extra_context" and isinstance(value, dict) and _LINK_MEMBER in value:
        return {_LINK_MEMBER: value[_LINK_MEMBER]}
    return UNSET
