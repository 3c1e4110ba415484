"""What a hub says of itself: its manifest, its numbers, and why it ends a subscription."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from ..identity.claims import TRANSPORTS, origin
from ..protocol.attend_extension import PREFIX
from ..protocol.events import CORE_EVENTS
from ..protocol.messages import Manifest, SubscriptionClose
from ..protocol.negotiation import Offer
from ..text.phrases import neutralise
from ..transports.base import Door

__all__ = ["HUB", "manifest", "metrics", "parting", "signed", "told"]

HUB: Final = "aaep-hub"  # the agent_id of a hub that many agents come to, and that they do not end with

FRAMINGS: Final = ("length-prefixed", "ndjson")  # MAN-030: both are taken on a socket, and each is answered in kind
_REASONS: Final = {  # CF-066
    "producer_shutdown": "The agent's side is shutting down.",
    "authentication_expired": "The credential of this reader counts no longer. Connect again with a new one.",
    "slow_consumer": "The reader does not keep up. Connect again to go on where it stopped.",
    "superseded": "Another reader took over this subscription.",
    "subscriber_shutdown": "The reader has stopped.",
    "rate_violation": "The reader sent too much.",
    "protocol_error": "The reader sent what the protocol does not allow.",
    "manifest_invalid": "A manifest could not be verified.",
}
_PROMPTS: Final = ("aaep:agent.awaiting.confirmation", "aaep:agent.awaiting.clarification")
_NUMBERS: Final = {
    "events": ("aaep_events_total", "Events published."),
    "frames": ("aaep_frames_total", "Frames written to readers."),
    "writes": ("aaep_writes_total", "Writes to readers; one may have several frames."),
    "replies": ("aaep_replies_total", "Replies passed on to a session."),
    "refusals": ("aaep_replies_refused_total", "Replies refused."),
    "slow": ("aaep_slow_consumers_total", "Readers let go because they fell behind."),
    "resumed": ("aaep_resumed_total", "Readers that went on where they had stopped."),
    "caught_up": ("aaep_caught_up_total", "Readers that began with the current state."),
    "sessions": ("aaep_sessions", "Open sessions."),
    "subscriptions": ("aaep_subscriptions", "Subscriptions, read or expected to be."),
    "readers": ("aaep_readers", "Subscriptions that are being read."),
    "streams": ("aaep_streams", "Distinct sets of terms that are served."),
    "unsent": ("aaep_unsent_bytes", "Bytes that were written and not yet taken by a reader."),
}


def manifest(offer: Offer, doors: Sequence[Door]) -> Manifest:
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


def _name(door: Door) -> str:
    """What a manifest calls its transport: what it says itself, or else what its URL says."""
    return str(getattr(door, "transport", TRANSPORTS.get(urlsplit(door.url).scheme.lower(), "")))


def signed(offer: Offer, doors: Sequence[Door], signer: Callable[[Manifest], str | None] | None) -> Offer:
    """The offer with the manifest signed as it is now, if there is a key to sign it with (MAN-016)."""
    return offer if signer is None else msgspec.structs.replace(offer, signed_manifest=signer(manifest(offer, doors)))


def parting(offer: Offer, subscription_id: str, reason: str) -> SubscriptionClose:
    """Why a subscription ends, in words that are true of this side."""
    text = _words(reason, offer.producer.agent_id)
    return SubscriptionClose(subscription_id=subscription_id, reason_code=reason, reason_message=text or UNSET)


def told(message: SubscriptionClose, agent_id: str) -> str:
    """What a person is told when the producer with that id ends a subscription. A code nobody knows is told as such."""
    words = _words(message.reason_code, agent_id)
    text = "The producer ended the subscription"
    text += f". {words}" if words else f" ({neutralise(message.reason_code)})."
    more = "" if message.reason_message is UNSET else neutralise(message.reason_message)
    return f"{text} {more}" if more and more != words else text


def _words(reason: str, agent_id: str) -> str:
    if reason == "producer_shutdown" and agent_id == HUB:
        return "The hub is shutting down."
    return _REASONS.get(reason, "")


def metrics(**values: int) -> str:
    """Numbers in the text format of Prometheus. Nothing in them says who reads what."""
    lines = []
    for key, value in values.items():
        name, text = _NUMBERS[key]
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
    return "\n".join(lines) + "\n"
