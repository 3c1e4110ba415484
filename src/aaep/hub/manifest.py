"""Building and signing of a hub's manifest."""

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


FRAMINGS: Final = ("length-prefixed", "ndjson")  # MAN-030: a Unix socket accepts both and answers in the client's
_PROMPT_TYPES: Final = ("aaep:agent.awaiting.confirmation", "aaep:agent.awaiting.clarification")


def build_manifest(offer: Offer, servers: Sequence[Server]) -> Manifest:
    """Return the manifest for an offer, with the transports and origins of the open servers (CF-119)."""
    transports = tuple(dict.fromkeys(transport for server in servers for transport in server.transports))
    origins = _collect_origins(offer, servers)
    attend: dict[str, Any] = {"origins": origins} if origins else {}
    if "unix-socket" in transports:
        attend["framing"] = [*FRAMINGS]
    emitted = [event_type for event_type in CORE_EVENTS if max(offer.levels) > 1 or event_type not in _PROMPT_TYPES]
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
        extensions={PREFIX: attend} if attend else UNSET,  # CF-119: the manifest has no members for these
    )


def _collect_origins(offer: Offer, servers: Sequence[Server]) -> list[str]:
    """Return the origins of the offer and of each server, for all of its transports."""
    urls = [*offer.origins]
    for server in servers:
        if server.transports:  # otherwise it is our connection to another hub, with that hub's address
            urls += [server.url, *(url_for_transport(server.url, transport) for transport in server.transports)]
    return [*dict.fromkeys(filter(None, map(origin, urls)))]


def sign_offer(offer: Offer, servers: Sequence[Server], signer: Callable[[Manifest], str | None] | None) -> Offer:
    """Return the offer with the current manifest signed; unchanged without a signer (MAN-016)."""
    if signer is None:
        return offer
    return msgspec.structs.replace(offer, signed_manifest=signer(build_manifest(offer, servers)))
