"""What a hub says of itself: its manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from ..identity.origins import TRANSPORTS, origin
from ..protocol.attend_extension import PREFIX
from ..protocol.events import CORE_EVENTS
from ..protocol.messages import Manifest
from ..protocol.negotiation import Offer
from .face import Server

__all__ = ["manifest", "signed"]


FRAMINGS: Final = ("length-prefixed", "ndjson")  # MAN-030: both are taken on a socket, and each is answered in kind
_PROMPTS: Final = ("aaep:agent.awaiting.confirmation", "aaep:agent.awaiting.clarification")


def manifest(offer: Offer, doors: Sequence[Server]) -> Manifest:
    """What is really offered (CF-119): the transports are those of the doors that are open."""
    named = {door.url: _name(door) for door in doors}
    # A door that we went through ourselves, to a hub, has no name: that address is the hub's, not ours to be found at.
    ours = [url for url, name in named.items() if name]
    places = [*dict.fromkeys(filter(None, map(origin, (*offer.origins, *ours))))]
    facts: dict[str, Any] = {"origins": places} if places else {}
    if "unix-socket" in named.values():
        facts["framing"] = [*FRAMINGS]
    emitted = [type_ for type_ in CORE_EVENTS if max(offer.levels) > 1 or type_ not in _PROMPTS]
    return Manifest(
        agent_id=offer.producer.agent_id,
        agent_version=offer.producer.agent_version,
        agent_name=offer.producer.agent_name,
        aaep_versions_supported=offer.versions,
        conformance_levels_supported=offer.levels,
        transports_supported=tuple(dict.fromkeys(filter(None, named.values()))),
        languages_supported=offer.languages,
        event_types_emitted=tuple(emitted),
        extensions_supported=offer.namespaces,
        default_verbosity="normal",
        max_concurrent_subscriptions=offer.max_subscriptions or UNSET,
        extensions={PREFIX: facts} if facts else UNSET,  # CF-119: what the manifest has no member for
    )


def _name(door: Server) -> str:
    """What a manifest calls its transport: what it says itself, or else what its URL says."""
    return str(getattr(door, "transport", TRANSPORTS.get(urlsplit(door.url).scheme.lower(), "")))


def signed(offer: Offer, doors: Sequence[Server], signer: Callable[[Manifest], str | None] | None) -> Offer:
    """The offer with the manifest signed as it is now, if there is a key to sign it with (MAN-016)."""
    return offer if signer is None else msgspec.structs.replace(offer, signed_manifest=signer(manifest(offer, doors)))
