"""The places of Appendix B.1 and what is answered there, whoever carries the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from ...errors import RemoteProtocolError
from ...hub.face import HubFace, UnknownSubscription, UnreadableRequest
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.messages import (
    ClarificationReply,
    ConfirmationReply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ...protocol.rules import pattern_test
from .guard import CHALLENGE, Refusal, media_type_is_json

__all__ = [
    "ACCEPT",
    "ALWAYS",
    "EVENTS",
    "HEALTH",
    "JOSE",
    "MANIFEST",
    "METRICS",
    "REPLIES",
    "STREAM",
    "SUBSCRIPTIONS",
    "VARY",
    "Said",
    "check_head",
    "denied",
    "last",
    "manifest",
    "refused",
    "replied",
    "subscribed",
    "too_large",
    "wanted",
]

SUBSCRIPTIONS: Final = "/aaep/v1/subscriptions"  # SSE-003
EVENTS: Final = "/aaep/v1/events"  # SSE-001
REPLIES: Final = "/aaep/v1/replies"  # SSE-002
MANIFEST: Final = "/.well-known/aaep-manifest.json"
HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"

# CF-087: ordinary HTTP meaning. Clients go by the body.
STATUS: Final = {
    "authentication_required": 401,
    "authorization_denied": 403,
    "rate_limit": 429,
    "transport_unavailable": 503,
    "version_unsupported": 422,
    "capabilities_incompatible": 422,
    "manifest_signature_required": 422,
    "unknown": 500,
}
ALWAYS: Final = {"Server": "aaep", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
STREAM: Final = {**ALWAYS, "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}  # CF-090
_CHALLENGE: Final = {"WWW-Authenticate": CHALLENGE}
# CF-085: a subscription.request is malformed where replies go.
_REPLIES: Final = (SubscriptionRenegotiate, SubscriptionClose, ConfirmationReply, ClarificationReply)
_subscription_id: Final = pattern_test(SubscriptionAccepted, "subscription_id")  # SUB-018


class Said(NamedTuple):
    """An answer: JSON, unless its headers say otherwise."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


def refused(refusal: Refusal) -> Said:
    """What a refusal says."""
    body = msgspec.json.encode({"error": refusal.error, "message": refusal.message})
    return Said(refusal.status, body, refusal.headers)


def denied(path: str, refusal: Refusal) -> Said:
    """The same; CF-087: who may not subscribe hears it as a rejection, also before the body was read."""
    if path != SUBSCRIPTIONS or STATUS.get(refusal.error) != refusal.status:
        return refused(refusal)
    wait = refusal.headers.get("Retry-After")
    body = SubscriptionRejected(
        reason_code=refusal.error,  # type: ignore[arg-type]  # the table holds nothing else
        reason_message=refusal.message,
        retry_after_seconds=UNSET if wait is None else int(wait),
    )
    return Said(refusal.status, encode(body), refusal.headers)


# -- handshake and replies -----------------------------------------------------------------


def check_head(types: Sequence[str], encoding: str, length: int, limit: int) -> None:
    """Refuse a body by what its head says of it."""
    if len(types) != 1 or not media_type_is_json(types[0]):
        raise Refusal(415, "unsupported_media_type", "Send Content-Type: application/json.")
    if encoding.lower() != "identity":
        raise Refusal(415, "unsupported_media_type", "Send it without Content-Encoding.")
    if length > limit:
        raise too_large(limit)


def too_large(limit: int) -> Refusal:
    return Refusal(413, "too_large", f"A message may have {limit} bytes at most.")  # CF-114


def subscribed(hub: HubFace, raw: bytes, peer: Peer) -> Said:
    """What a posted request for a subscription is answered."""
    try:
        answer = hub.receive(raw, peer, (SubscriptionRequest,))
    except UnreadableRequest as error:
        return Said(400, encode(error.rejected))  # CF-087
    if isinstance(answer, SubscriptionAccepted):
        location = f"{EVENTS}?subscription_id={answer.subscription_id}"
        return Said(201, encode(answer), {"Location": location})  # SSE-006
    assert isinstance(answer, SubscriptionRejected)
    headers = {**_CHALLENGE} if answer.reason_code == "authentication_required" else {}
    if isinstance(answer.retry_after_seconds, int):
        headers["Retry-After"] = str(answer.retry_after_seconds)
    return Said(STATUS.get(answer.reason_code, 500), encode(answer), headers)


def replied(hub: HubFace, raw: bytes, peer: Peer) -> Said:
    """What a posted reply, renegotiation or close is answered."""
    try:
        answer = hub.receive(raw, peer, _REPLIES)
    except UnknownSubscription as error:
        raise Refusal(404, "unknown_subscription", str(error)) from None
    except RemoteProtocolError:
        # CF-012: one fixed text.
        raise Refusal(400, "invalid_request", "Malformed message.") from None
    if answer is None:
        return Said(204)  # SSE-016, CF-012: whatever became of it
    return Said(200, encode(answer))  # CF-086


# -- the stream ----------------------------------------------------------------------------


def wanted(named: Sequence[str]) -> str:
    """The subscription whose stream is asked for; empty for a Level 1 stream without one (CF-093)."""
    if not named:
        return ""
    if len(named) > 1 or not _subscription_id(named[0]):
        raise Refusal(
            404, "unknown_subscription", f"There is no such subscription. Subscribe with POST {SUBSCRIPTIONS}."
        )
    return named[0]


def last(header: str, query: str) -> str:
    """The event to resume after (SSE-018). What cannot be an id is passed on as one that is unknown (SSE-020)."""
    # The query is for clients that cannot set a header on their first request; the header is newer where both are.
    return (header or query)[:128].encode("ascii", "replace").decode()


# -- manifest --

JOSE: Final = "application/jose"
VARY: Final = {"Vary": "Accept"}
ACCEPT: Final = f"{JOSE}, application/json;q=0.9"  # what a subscriber says that can read both


def manifest(hub: HubFace, headers: Mapping[str, str]) -> tuple[bytes, str]:
    """The body and its media type, for the headers of a request. Without a signature it is always JSON."""
    signed = hub.offered.signed_manifest if _prefers_jose(headers.get("Accept", "")) else None
    return (encode(hub.manifest()), "application/json") if signed is None else (signed.encode("ascii"), JOSE)


def _prefers_jose(accept: str) -> bool:
    """Whether a JWS is asked for by name, and not less than JSON."""
    weights = {JOSE: 0.0, "application/json": 0.0}
    for part in accept.split(","):
        name, *parameters = (one.strip().lower() for one in part.split(";"))
        if name in weights:
            weights[name] = _weight(parameters)
    return weights[JOSE] > 0 and weights[JOSE] >= weights["application/json"]


def _weight(parameters: list[str]) -> float:
    for one in parameters:
        name, _, value = one.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
