"""
The routes of HTTP servers and their handlers, independent of the server library.

``POST /aaep/v1/subscriptions`` is the handshake, ``GET /aaep/v1/events`` the
stream, ``POST /aaep/v1/replies`` accepts replies, renegotiations and closes
(Appendix B.1). ``GET /aaep/v1/ws`` is the WebSocket (Appendix B.2), for which
``POST /aaep/v1/tickets`` issues tickets to web pages. The manifest is at
``/.well-known/aaep-manifest.json``; ``/healthz`` and ``/metrics`` are for operators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from ...errors import RemoteProtocolError
from ...hub.face import HubFace, SubscriptionGone, UnknownSubscription, UnreadableRequest
from ...identity.credentials import Identity, Unauthorised
from ...identity.peer import Peer
from ...identity.rate_limit import prepare_identity
from ...protocol.codec import encode
from ...protocol.messages import (
    MANIFEST_PATH,
    ClarificationReply,
    ConfirmationReply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ...protocol.rules import pattern_test
from ..duplex_server import NO_PEER
from .guard import CHALLENGE, Guard, Refusal, authenticate_or_refuse, credentials_from_request, is_json_media_type
from .request import RequestHead
from .tickets import LIFETIME, TICKETS, Tickets

__all__ = [
    "ACCEPT",
    "EVENTS",
    "HEALTH",
    "JOSE",
    "MANIFEST",
    "METRICS",
    "REPLIES",
    "SERVER_FAILED",
    "STREAM_HEADERS",
    "SUBPROTOCOL",
    "SUBSCRIPTIONS",
    "TICKETS",
    "TRANSPORTS",
    "WEBSOCKET",
    "Request",
    "Response",
    "Router",
    "body_incomplete",
    "body_timed_out",
    "body_too_large",
    "refusal_response",
    "shutting_down",
    "upgrade_required",
]

SUBSCRIPTIONS: Final = "/aaep/v1/subscriptions"  # SSE-003
EVENTS: Final = "/aaep/v1/events"  # SSE-001
REPLIES: Final = "/aaep/v1/replies"  # SSE-002
WEBSOCKET: Final = "/aaep/v1/ws"  # WS-001
MANIFEST: Final = MANIFEST_PATH
HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"

SUBPROTOCOL: Final = "aaep.v1"  # WS-002
TRANSPORTS: Final = ("sse", "websocket")  # their names in a manifest (CF-119)
JOSE: Final = "application/jose"
ACCEPT: Final = f"{JOSE}, application/json;q=0.9"  # sent by clients that support signed and plain manifests

# CF-087: with their ordinary HTTP meaning. Clients decide by the body.
_STATUS: Final = {
    "authentication_required": 401,
    "authorization_denied": 403,
    "rate_limit": 429,
    "transport_unavailable": 503,
    "version_unsupported": 422,
    "capabilities_incompatible": 422,
    "manifest_signature_required": 422,
    "unknown": 500,
}
_COMMON_HEADERS: Final = {"Server": "aaep", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
STREAM_HEADERS: Final = {  # CF-090
    **_COMMON_HEADERS,
    "Content-Type": "text/event-stream; charset=utf-8",
    "X-Accel-Buffering": "no",
}
_CORS_REQUEST_HEADERS: Final = "Authorization, Cache-Control, Content-Type, Last-Event-ID"
# CF-085: a subscription.request is malformed at the path for replies.
_REPLIES: Final = (SubscriptionRenegotiate, SubscriptionClose, ConfirmationReply, ClarificationReply)
_MAX_EVENT_ID_LENGTH: Final = 128  # characters
_MAX_LENGTH_DIGITS: Final = 18  # of a Content-Length that is parsed
_is_subscription_id: Final = pattern_test(SubscriptionAccepted, "subscription_id")  # SUB-018

T = TypeVar("T")


class Response(NamedTuple):
    """A complete response: JSON, unless its headers say otherwise."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}

    def complete(self, cors_headers: Mapping[str, str]) -> Response:
        """Return a copy with the headers of every response and the given CORS headers added."""
        content_type = {"Content-Type": "application/json"} if self.body else {}
        return self._replace(headers={**_COMMON_HEADERS, **content_type, **self.headers, **cors_headers})


class Request(ABC):
    """One request while it is handled. Each server library has a subclass that reads bodies and sends streams."""

    def __init__(self, head: RequestHead) -> None:
        self.head = head
        self.peer = NO_PEER
        self.cors_headers: Mapping[str, str] = {}

    @abstractmethod
    async def read_body(self, max_bytes: int) -> bytes:
        """Return the body; raise :exc:`Refusal` if it has more than ``max_bytes``."""

    @abstractmethod
    async def call_hub(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function on the hub's loop and return its result."""

    @abstractmethod
    async def stream_events(self, subscription_id: str, after: str) -> None:
        """Send the events of a subscription until the stream ends. Raises errors of ``hub.connect`` before that."""

    @abstractmethod
    async def run_websocket(self) -> None:
        """Upgrade to a WebSocket and serve it until it ends."""


Handler = Callable[[Request], Awaitable[Response | None]]


class Route(NamedTuple):
    """The handlers of a path by method, and its requirements."""

    handlers: Mapping[str, Handler]  # by method
    transport: str = "sse"  # recorded for clients of this path
    is_public: bool = False  # whether no credential is needed


_NO_ROUTE: Final = Route({})


# -- refusals --------------------------------------------------------------------------------

SERVER_FAILED: Final = Refusal(500, "internal_error", "The server failed, which is a defect.")


def body_too_large(max_bytes: int) -> Refusal:
    """Return the refusal for a body that is too long (CF-114)."""
    return Refusal(413, "too_large", f"A message may have {max_bytes} bytes at most.")


def body_incomplete() -> Refusal:
    """Return the refusal for a body that ended early."""
    return Refusal(400, "bad_request", "The body was not sent as its head announced.")


def body_timed_out() -> Refusal:
    """Return the refusal for a body that is sent too slowly."""
    return Refusal(408, "timeout", "The body did not come in time.", {"Connection": "close"})


def shutting_down() -> Refusal:
    """Return the refusal for a request that comes while the server closes."""
    return Refusal(503, "unavailable", "The agent's side is shutting down.")


def upgrade_required() -> Refusal:
    """Return the refusal for a request at the WebSocket's path that is not an upgrade (WS-003)."""
    message = "This is the place for WebSocket connections: GET with Upgrade: websocket, version 13."
    return Refusal(426, "upgrade_required", message, {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"})


def refusal_response(refusal: Refusal, path: str = "") -> Response:
    """Return the response for a refusal; at the path for subscriptions it is a subscription.rejected (CF-087)."""
    if path != SUBSCRIPTIONS or _STATUS.get(refusal.error) != refusal.status:
        body = msgspec.json.encode({"error": refusal.error, "message": refusal.message})
        return Response(refusal.status, body, refusal.headers)
    retry_after = refusal.headers.get("Retry-After")
    rejection = SubscriptionRejected(
        reason_code=refusal.error,  # type: ignore[arg-type]  # the table holds nothing else
        reason_message=refusal.message,
        retry_after_seconds=UNSET if retry_after is None else int(retry_after),
    )
    return Response(refusal.status, encode(rejection), refusal.headers)


# -- the router ------------------------------------------------------------------------------


class Router:
    """Handles all requests of a server: guard, CORS preflight, authentication, then the handler of the route."""

    def __init__(self, hub: HubFace, guard: Guard, identity: Identity, *, max_message_bytes: int) -> None:
        self.is_closed = False  # if so, only public routes are answered
        self._hub = hub
        self._guard = guard
        self._identity = identity
        self._is_identity_prepared = False
        self._max_message_bytes = max_message_bytes
        self._tickets = Tickets()
        self._routes = {
            SUBSCRIPTIONS: Route({"POST": self._subscribe}),
            EVENTS: Route({"GET": self._stream_events}),
            REPLIES: Route({"POST": self._reply}),
            WEBSOCKET: Route({"GET": self._run_websocket}, transport="websocket"),
            TICKETS: Route({"POST": self._issue_ticket}, transport="websocket"),
            MANIFEST: Route({"GET": self._show_manifest, "HEAD": self._show_manifest}),
            HEALTH: Route({"GET": self._show_health, "HEAD": self._show_health}, is_public=True),
            METRICS: Route({"GET": self._show_metrics, "HEAD": self._show_metrics}),
        }

    async def answer(self, request: Request) -> Response | None:
        """Return the response to a request; None if it was answered by a stream or a WebSocket."""
        head = request.head
        try:
            self._guard.check(head)
            request.cors_headers = self._guard.build_cors_headers(head)
            if request.cors_headers and head.method == "OPTIONS":
                response: Response | None = self._answer_preflight(head)
            else:
                route = self._routes.get(head.path, _NO_ROUTE)
                if not route.is_public:
                    request.peer = await self._authenticate(head, route.transport)
                response = await _find_handler(head, route)(request)
        except Refusal as refusal:
            response = refusal_response(refusal, head.path)
        return None if response is None else response.complete(request.cors_headers)

    async def _authenticate(self, head: RequestHead, transport: str) -> Peer:
        """Return the authenticated client. Also before a WebSocket upgrade, a refusal is an HTTP response (CF-097)."""
        if self.is_closed:
            raise shutting_down()
        if head.path == WEBSOCKET:
            peer = self._tickets.redeem(head.subprotocols)  # CF-096
            if peer is not None:
                return peer
        if not self._is_identity_prepared:
            self._identity = await prepare_identity(self._identity)
            self._is_identity_prepared = True
        return await authenticate_or_refuse(self._identity, credentials_from_request(head, transport))

    def _answer_preflight(self, head: RequestHead) -> Response:
        """Return the response to a CORS preflight request of an allowed web page."""
        methods = self._routes.get(head.path, _NO_ROUTE).handlers
        allowed = {
            "Access-Control-Allow-Methods": ", ".join(methods) or "GET",
            "Access-Control-Allow-Headers": _CORS_REQUEST_HEADERS,
        }
        return Response(204, headers=allowed)

    # -- handshake and replies ---------------------------------------------------------------

    async def _read_body(self, request: Request) -> bytes:
        _check_body(request.head, self._max_message_bytes)
        return await request.read_body(self._max_message_bytes)

    async def _subscribe(self, request: Request) -> Response:
        raw = await self._read_body(request)
        return await request.call_hub(self._answer_subscription, raw, request)

    def _answer_subscription(self, raw: bytes, request: Request) -> Response:
        try:
            answer = self._hub.receive(raw, request.peer, (SubscriptionRequest,))
        except UnreadableRequest as error:
            return Response(400, encode(error.rejected))  # CF-087
        if isinstance(answer, SubscriptionAccepted):
            location = f"{request.head.root}{EVENTS}?subscription_id={answer.subscription_id}"
            return Response(201, encode(answer), {"Location": location})  # SSE-006
        assert isinstance(answer, SubscriptionRejected)
        headers = {"WWW-Authenticate": CHALLENGE} if answer.reason_code == "authentication_required" else {}
        if isinstance(answer.retry_after_seconds, int):
            headers["Retry-After"] = str(answer.retry_after_seconds)
        return Response(_STATUS.get(answer.reason_code, 500), encode(answer), headers)

    async def _reply(self, request: Request) -> Response:
        raw = await self._read_body(request)
        return await request.call_hub(self._answer_reply, raw, request.peer)

    def _answer_reply(self, raw: bytes, peer: Peer) -> Response:
        try:
            answer = self._hub.receive(raw, peer, _REPLIES)
        except UnknownSubscription as error:
            raise Refusal(404, "unknown_subscription", str(error)) from None
        except RemoteProtocolError:
            # CF-012: always the same text
            raise Refusal(400, "invalid_request", "Malformed message.") from None
        if answer is None:
            return Response(204)  # SSE-016, CF-012: whatever the outcome of the reply
        return Response(200, encode(answer))  # CF-086

    # -- the stream and the WebSocket --------------------------------------------------------

    async def _stream_events(self, request: Request) -> Response | None:
        query = request.head.query
        subscription_id = _parse_subscription_id(query.getall("subscription_id", []))
        after = _choose_resume_id(request.head.headers.get("Last-Event-ID", ""), query.get("last_event_id", ""))
        del query  # a stream is long, and its readers are many
        try:
            await request.stream_events(subscription_id, after)
        except SubscriptionGone:
            return Response(204)  # CF-092: stops EventSource
        except UnknownSubscription as error:
            raise Refusal(404, "unknown_subscription", f"{error} That is POST {SUBSCRIPTIONS}.") from None
        except Unauthorised as error:
            raise Refusal(403, "authorization_denied", str(error)) from None
        return None

    async def _run_websocket(self, request: Request) -> None:
        if SUBPROTOCOL not in request.head.subprotocols:  # CF-096
            message = f"Offer the subprotocol {SUBPROTOCOL} in Sec-WebSocket-Protocol."
            raise Refusal(400, "subprotocol_required", message)
        await request.run_websocket()

    async def _issue_ticket(self, request: Request) -> Response:
        ticket = self._tickets.issue(request.peer)
        return Response(201, msgspec.json.encode({"ticket": ticket, "expires_in": LIFETIME}))

    # -- manifest and status -----------------------------------------------------------------

    async def _show_manifest(self, request: Request) -> Response:
        is_jose = _is_jose_preferred(request.head.headers.get("Accept", ""))  # CF-124
        return await request.call_hub(self._build_manifest_response, is_jose)

    def _build_manifest_response(self, is_jose: bool) -> Response:
        """Return the manifest, as a JWS if requested and available."""
        signed = self._hub.signed_offer.signed_manifest if is_jose else None
        if signed is not None:
            return Response(200, signed.encode("ascii"), {"Content-Type": JOSE, "Vary": "Accept"})
        return Response(200, encode(self._hub.manifest()), {"Vary": "Accept"})

    async def _show_health(self, request: Request) -> Response:
        return Response(200, b'{"status":"ok"}')

    async def _show_metrics(self, request: Request) -> Response:
        text = await request.call_hub(self._hub.metrics)
        return Response(200, text.encode(), {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


def _find_handler(head: RequestHead, route: Route) -> Handler:
    """Return the handler for a request; raise :exc:`Refusal` if there is none."""
    if not route.handlers or (head.is_websocket_upgrade and head.path != WEBSOCKET):
        message = f"There is nothing here. Events are at {EVENTS}, and the WebSocket is at {WEBSOCKET}."
        raise Refusal(404, "not_found", message)
    if head.method not in route.handlers:
        allowed = ", ".join(route.handlers)
        raise Refusal(405, "method_not_allowed", f"Use {allowed} here.", {"Allow": allowed})
    return route.handlers[head.method]


# -- parts of a request ----------------------------------------------------------------------


def _check_body(head: RequestHead, max_bytes: int) -> None:
    """Raise :exc:`Refusal` if the head announces a body of a wrong type or size."""
    content_types = head.headers.getall("Content-Type", [])
    if len(content_types) != 1 or not is_json_media_type(content_types[0]):
        raise Refusal(415, "unsupported_media_type", "Send Content-Type: application/json.")
    if head.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refusal(415, "unsupported_media_type", "Send it without Content-Encoding.")
    length = head.headers.get("Content-Length", "0")
    if length.isdecimal() and (len(length) > _MAX_LENGTH_DIGITS or int(length) > max_bytes):
        raise body_too_large(max_bytes)


def _parse_subscription_id(values: list[str]) -> str:
    """Return the subscription id of a stream request; empty for a Level 1 stream without one (CF-093)."""
    if not values:
        return ""
    if len(values) > 1 or not _is_subscription_id(values[0]):
        raise Refusal(
            404, "unknown_subscription", f"There is no such subscription. Subscribe with POST {SUBSCRIPTIONS}."
        )
    return values[0]


def _choose_resume_id(header: str, query: str) -> str:
    """Return the event id to resume after (SSE-018); an invalid one is treated like an unknown one (SSE-020)."""
    # The query is for clients that cannot set headers on their first request; with both, the header is newer.
    return (header or query)[:_MAX_EVENT_ID_LENGTH].encode("ascii", "replace").decode()


def _is_jose_preferred(accept: str) -> bool:
    """Whether an Accept header names JOSE with at least the weight of JSON."""
    weights = {JOSE: 0.0, "application/json": 0.0}
    for part in accept.split(","):
        name, *parameters = (item.strip().lower() for item in part.split(";"))
        if name in weights:
            weights[name] = _parse_weight(parameters)
    return weights[JOSE] > 0 and weights[JOSE] >= weights["application/json"]


def _parse_weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
