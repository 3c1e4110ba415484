"""The manifest of a hub: what it says of itself to clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..identity.origins import origin, url_for_transport
from ..protocol.attend_extension import PREFIX
from ..protocol.events import CORE_EVENTS
from ..protocol.messages import Manifest
from ..protocol.negotiation import Offer
from .face import Server

__all__ = ["build_manifest", "sign_offer"]


FRAMINGS: Final = ("length-prefixed", "ndjson")  # MAN-030: both are taken on a socket, and each is answered in kind
_PROMPTS: Final = ("aaep:agent.awaiting.confirmation", "aaep:agent.awaiting.clarification")


def build_manifest(offer: Offer, servers: Sequence[Server]) -> Manifest:
    """Return what is really offered (CF-119): the transports and origins are those of the open servers."""
    transports = tuple(dict.fromkeys(transport for server in servers for transport in server.transports))
    origins = _origins(offer, servers)
    facts: dict[str, Any] = {"origins": origins} if origins else {}
    if "unix-socket" in transports:
        facts["framing"] = [*FRAMINGS]
    emitted = [type_ for type_ in CORE_EVENTS if max(offer.levels) > 1 or type_ not in _PROMPTS]
    return Manifest(
        agent_id=offer.producer.agent_id,
        agent_version=offer.producer.agent_version,
        agent_name=offer.producer.agent_name,
        aaep_versions_supported=offer.versions,
        conformance_levels_supported=offer.levels,
        transports_supported=transports,
        languages_supported=offer.languages,
        event_types_emitted=tuple(emitted),
        extensions_supported=offer.namespaces,
        default_verbosity="normal",
        max_concurrent_subscriptions=offer.max_subscriptions or UNSET,
        extensions={PREFIX: facts} if facts else UNSET,  # CF-119: what the manifest has no member for
    )


def _origins(offer: Offer, servers: Sequence[Server]) -> list[str]:
    """Return where clients can connect: what the offer names, and each server's address for each of its transports."""
    urls = [*offer.origins]
    for server in servers:
        if server.transports:  # else it is a connection of ours to a hub elsewhere, and the address is that hub's
            urls += [server.url, *(url_for_transport(server.url, transport) for transport in server.transports)]
    return [*dict.fromkeys(filter(None, map(origin, urls)))]


def sign_offer(offer: Offer, servers: Sequence[Server], signer: Callable[[Manifest], str | None] | None) -> Offer:
    """Return the offer with the manifest signed as it is now, if there is a key to sign it with (MAN-016)."""
    if signer is None:
        return offer
    return msgspec.structs.replace(offer, signed_manifest=signer(build_manifest(offer, servers)))
