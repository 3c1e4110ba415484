"""
What a role does not get to see of an event. SEC-038, SEC-040 §10.5

Whoever decides gets all of it, for nobody should decide on half of what there
is to know, and so does an auditor, who is there to see all of it. Whoever only
listens hears what happens, and not the user's own words, nor what a tool was
given.
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
_LINK_MEMBER: Final = "tool_call_id"  # says nothing, and a checker needs it to tell what a question was about


def check_hidden_members(table: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """A table of roles and the members they do not get, checked: what an event needs cannot be left out."""
    needed = {one.name for type_ in CORE_EVENTS for one in struct_fields(SHAPES[type_]) if one.default is not UNSET}
    checked = {role: frozenset([names] if isinstance(names, str) else names) for role, names in table.items()}
    for role, names in checked.items():
        if names & needed:
            name = min(names & needed)
            raise AaepError(f"{name!r} cannot be hidden from a {role}: an event without it breaks the protocol.")
    return checked


def hidden_members_for(roles: Iterable[str], table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """What somebody with these roles does not get: what none of them gets."""
    each = [table.get(role, frozenset()) for role in roles if role in (LISTENER, REPLIER, AUDITOR)]
    return frozenset.intersection(*each) if each else frozenset()


def hide_members(event: Envelope, names: frozenset[str]) -> Envelope:
    """An event without some members; the same one if it has none of them."""
    changes = {name: _remaining_value(event, name) for name in names if get_member(event, name) is not None}
    told = get_member(event, "summary_detailed")
    if isinstance(told, str) and any(_is_quoted(event, name, told) for name in names):
        changes["summary_detailed"] = UNSET  # it says the same once more
    others = names & event.unknown.keys()
    if not changes and not others:
        return event
    changed = codec.replace(event, **changes)
    if others and changed.raw is not None:
        given = {name: value for name, value in parse_json(changed.raw)[0].items() if name not in others}
        changed.__dict__["raw"] = msgspec.json.encode(given)
        changed.__dict__["unknown"] = {name: value for name, value in changed.unknown.items() if name not in others}
    return changed


def _is_quoted(event: Envelope, name: str, told: str) -> bool:
    value = get_member(event, name)
    return isinstance(value, str) and bool(value) and value in told


def _remaining_value(event: Envelope, name: str) -> Any:
    value = get_member(event, name)
    if name == "extra_context" and isinstance(value, dict) and _LINK_MEMBER in value:
        return {_LINK_MEMBER: value[_LINK_MEMBER]}
    return UNSET
