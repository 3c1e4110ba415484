"""
Fake producers and their sessions, against which a subscriber is run.

A fake producer is no hub, but implements :class:`~aaep.hub.face.HubFace`, so that
every transport can serve it; plain HTTP is served by :mod:`.raw_http`, which can
break the rules of HTTP too. By itself it keeps all rules: it breaks one only
where a scenario asks for it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from ...errors import RemoteProtocolError
from ...hub.face import AgentConnection, FrameWriter, Server
from ...hub.manifest import build_manifest
from ...hub.settings import HubSettings
from ...identity.peer import Peer
from ...identity.signed_manifests import sign_manifest
from ...identity.signing_keys import SigningKey
from ...protocol import codec
from ...protocol.attend_extension import ATTEND
from ...protocol.events import ProducerInfo
from ...protocol.fields import AAEP_VERSION, CORE_CONTEXT, Message
from ...protocol.messages import (
    Capabilities,
    Manifest,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ...protocol.negotiation import Offer, apply_change, negotiate, renegotiate
from ...runtime.ids import format_timestamp, new_id
from ...transports.base import find_transport
from ..judge import RecordedMessage
from ..messages import EVENT_TYPE_PREFIX, JsonObject, decode_object
from .raw_http import RawHttpServer

__all__ = ["PRODUCER_INFO", "FakeProducer", "FakeSession", "MessageTransform", "SubscriberMessage", "SubscriberStream"]

MessageTransform = Callable[[JsonObject], JsonObject]
PRODUCER_INFO: Final = {"agent_id": "played-agent", "agent_name": "Played agent", "agent_version": "1.0.0"}
_LANGUAGES: Final = ("en-US", "en", "en-GB", "de", "fr", "es")


class SubscriberMessage(msgspec.Struct):
    """A message that the subscriber sent."""

    raw: bytes
    message: JsonObject
    subscription_id: str = ""
    headers: Mapping[str, str] | None = None  # of the request, over plain HTTP

    @property
    def type(self) -> str:
        """The type; empty if it has none."""
        return str(self.message.get("type", ""))


class SubscriberStream(msgspec.Struct):
    """A stream that the subscriber opened."""

    subscription_id: str
    writer: FrameWriter | None  # None when the stream has ended
    is_granted: bool  # whether its subscription was granted
    headers: Mapping[str, str] | None = None  # of the request, over plain HTTP


class FakeProducer:
    """
    A fake producer for one subscriber.

    ``transform_answer`` changes the answer to a request for a subscription,
    ``transform_manifest`` the manifest before it is signed, and
    ``transform_signed`` the signed manifest. With ``rejection`` every request is
    rejected with these members.
    """

    can_accept_agents = False

    def __init__(
        self,
        *,
        signing_key: SigningKey | None = None,
        transform_answer: MessageTransform = lambda answer: answer,
        transform_manifest: MessageTransform = lambda manifest: manifest,
        transform_signed: Callable[[str], str | None] = lambda signed: signed,
        rejection: JsonObject | None = None,
    ) -> None:
        self.settings = HubSettings()
        self.messages: list[RecordedMessage] = []
        self.received_messages: list[SubscriberMessage] = []
        self.streams: list[SubscriberStream] = []
        self.activity = asyncio.Event()  # set whenever the subscriber has done something
        self.address = ""  # the URL at which the subscriber reaches it
        self.offer = Offer(
            producer=ProducerInfo(**PRODUCER_INFO),
            languages=_LANGUAGES,
            namespaces=(ATTEND.namespace,),
            max_events_per_second=100,
        )
        self._signing_key = signing_key
        self._transform_answer = transform_answer
        self._transform_manifest = transform_manifest
        self._transform_signed = transform_signed
        self._rejection_members = rejection
        self._granted_subscriptions: set[str] = set()  # their ids
        self._requested_capabilities: dict[str, Capabilities] = {}  # by subscription id
        self._events: list[tuple[str, bytes]] = []  # id and JSON of every event sent
        self._delivered_count = 0  # how many of them were written to a stream
        self._server: Server | None = None
        self._loop = asyncio.get_running_loop()

    # -- serving ---------------------------------------------------------------------------

    async def serve(self, url: str) -> str:
        """Serve at a URL, and return the URL with the port that was taken."""
        if url.lower().startswith("http:"):
            self._server = await RawHttpServer.serve(self, url)
        else:
            self._server = await find_transport(url).serve(self, url)
        self.address = self._server.url
        return self.address

    @property
    def is_raw_http(self) -> bool:
        """Whether it is served by :class:`RawHttpServer`, so that headers are seen and half an event can be sent."""
        return isinstance(self._server, RawHttpServer)

    async def close(self) -> None:
        """End every stream and stop serving."""
        for stream in self.streams:
            if stream.writer is not None:
                stream.writer.close(None)
        if self._server is not None:
            await self._server.close()

    # -- HubFace -----------------------------------------------------------------------------

    def start(self) -> None:
        """Do nothing: its loop is running."""

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller is on the loop of the fake producer."""
        return asyncio.get_running_loop() is self._loop

    def call_soon(self, function: Callable[[], None]) -> None:
        """Have the loop call a function soon."""
        self._loop.call_soon_threadsafe(function)

    @property
    def servers(self) -> list[Server]:
        """The server of the fake producer, once there is one."""
        return [] if self._server is None else [self._server]

    def add_server(self, server: Server) -> None:
        """Take the server that a transport has opened."""
        self._server = server

    def accept_agent(self, manifest: Manifest, connection: AgentConnection) -> SubscriptionRejected | None:
        """Raise :exc:`~aaep.errors.RemoteProtocolError`: no agent is accepted."""
        raise RemoteProtocolError("No agent comes here.")

    def release_agent(self, connection: AgentConnection) -> None:
        """Do nothing: no agent is accepted."""

    def metrics(self) -> str:
        """Return nothing: there are no metrics."""
        return ""

    def manifest(self) -> Manifest:
        """Return the manifest of the fake producer."""
        return build_manifest(self.offer, self.servers)

    @property
    def signed_offer(self) -> Offer:
        """The offer, with a signed manifest if there is a key for it."""
        if self._signing_key is None or self._server is None:
            return self.offer
        manifest = msgspec.convert(self._transform_manifest(msgspec.to_builtins(self.manifest())), Manifest)
        signed = sign_manifest(manifest, self._signing_key, now=time.time(), origins=[self.address])
        return msgspec.structs.replace(self.offer, signed_manifest=self._transform_signed(signed))

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        """Handle a message; return the answer, if it has one."""
        answer = self.handle_message(raw, own or "")
        if isinstance(answer, int):
            raise RemoteProtocolError("Malformed message.")
        return None if answer is None else codec.read(json.dumps(answer).encode())[0]

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> str:
        """Attach a stream and send it what it missed; return the id of its subscription."""
        self.attach_stream(subscription_id, writer, after or self._find_resume_point(subscription_id))
        return subscription_id

    def is_connected(self, subscription_id: str, writer: FrameWriter) -> bool:
        """Whether a connection is the one that reads a subscription."""
        return any(stream.subscription_id == subscription_id and stream.writer is writer for stream in self.streams)

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        """Note that a stream has ended."""
        for stream in self.streams:
            if stream.subscription_id == subscription_id and stream.writer is writer:
                stream.writer = None
                self.activity.set()

    # -- receiving -----------------------------------------------------------------------------

    def handle_message(
        self, raw: bytes, own: str = "", headers: Mapping[str, str] | None = None
    ) -> JsonObject | int | None:
        """Handle a message; return the answer, an HTTP status if it is refused, or None if it has no answer."""
        members = decode_object(raw)
        received = SubscriberMessage(raw, members, own or str(members.get("subscription_id", "")), headers)
        self.received_messages.append(received)
        self.activity.set()
        message = codec.read(raw, self.offer.registry)[0]
        if isinstance(message, SubscriptionRequest):
            return self._handle_request(received, message)
        self._record(raw, received.subscription_id, from_producer=False)
        if isinstance(message, SubscriptionRenegotiate):
            return self._handle_renegotiation(received, message)
        if isinstance(message, SubscriptionClose):
            self._close_streams(received.subscription_id)
        return None if message is not None else 400

    def _handle_request(self, received: SubscriberMessage, message: SubscriptionRequest) -> JsonObject:
        received.subscription_id = new_id("sub_")
        self._record(received.raw, received.subscription_id, from_producer=False)
        if self._rejection_members is not None:
            answer: JsonObject = {
                "type": "subscription.rejected",
                "reason_message": "Not here.",
                **self._rejection_members,
            }
        else:
            answer = self._transform_answer(self._negotiate(message, received.subscription_id))
        if answer["type"] == "subscription.accepted":
            self._requested_capabilities[received.subscription_id] = message.capabilities
            self._granted_subscriptions.add(received.subscription_id)
        self._record(json.dumps(answer).encode(), received.subscription_id, from_producer=True)
        return answer

    def _negotiate(self, message: SubscriptionRequest, subscription_id: str) -> JsonObject:
        offer = self.signed_offer
        is_signed = offer.signed_manifest is not None
        if not is_signed:  # without any, a request that demands a signed manifest would be rejected
            offer = msgspec.structs.replace(offer, signed_manifest="a.b.c")
        answer: JsonObject = json.loads(codec.encode(negotiate(message, offer, subscription_id)))
        if not is_signed:
            answer.pop("signed_manifest", None)
        return answer

    def _handle_renegotiation(self, received: SubscriberMessage, message: SubscriptionRenegotiate) -> JsonObject | int:
        requested = self._requested_capabilities.get(received.subscription_id)
        if requested is None:
            return 404
        answer: JsonObject = json.loads(codec.encode(renegotiate(requested, message, self.signed_offer)))
        self._requested_capabilities[received.subscription_id] = apply_change(requested, message)
        answer["subscription_id"] = received.subscription_id
        self._record(json.dumps(answer).encode(), received.subscription_id, from_producer=True)
        return answer

    def _close_streams(self, subscription_id: str) -> None:
        for stream in self.streams:
            if stream.subscription_id == subscription_id and stream.writer is not None:
                writer, stream.writer = stream.writer, None
                writer.close(None)

    def _find_resume_point(self, subscription_id: str) -> str:
        """CF-084: return the id of the last event received before, which a new request may name."""
        requested = self._requested_capabilities.get(subscription_id)
        members = requested.unknown.get("attend") if requested is not None else None
        return str(members.get("resume_after", "")) if isinstance(members, dict) else ""

    def attach_stream(
        self, subscription_id: str, writer: FrameWriter, after: str = "", headers: Mapping[str, str] | None = None
    ) -> SubscriberStream:
        """
        Open a stream and send it the events after ``after``.

        If that event is not known, it gets the events that were not delivered to any
        stream. An older stream of the same subscription is closed.
        """
        self._close_streams(subscription_id)
        is_granted = subscription_id in self._granted_subscriptions
        stream = SubscriberStream(subscription_id, writer, is_granted, headers)
        self.streams.append(stream)
        event_ids = [event_id for event_id, _ in self._events]
        position = event_ids.index(after) + 1 if after in event_ids else self._delivered_count
        for event_id, data in self._events[position:]:
            writer.write(writer.frame(event_id, data))
        self._delivered_count = len(self._events)
        self.activity.set()
        return stream

    # -- sending -------------------------------------------------------------------------------

    @property
    def current_stream(self) -> SubscriberStream | None:
        """The stream that was opened last, of those that have not ended."""
        return next((stream for stream in reversed(self.streams) if stream.writer is not None), None)

    def send(self, event: JsonObject, raw: bytes | None = None, *, valid: bool = True) -> JsonObject:
        """
        Send an event, or these bytes in its place, and return it; without a stream, send it to the next one.

        With ``valid`` false, it is one that is wrong on purpose.
        """
        data = _encode_event(event) if raw is None else raw
        self._send_all([(str(event.get("event_id", "")), data)], valid=valid)
        return event

    def send_batch(self, events: Iterable[JsonObject]) -> None:
        """Send several events in one write."""
        self._send_all([(event["event_id"], _encode_event(event)) for event in events])

    def _send_all(self, events: list[tuple[str, bytes]], *, valid: bool = True) -> None:
        self._events += events
        stream = self.current_stream
        for _, data in events:
            self._record(data, stream.subscription_id if stream is not None else "", from_producer=True, valid=valid)
        if stream is not None and stream.writer is not None:
            self._delivered_count = len(self._events)
            stream.writer.write(b"".join(stream.writer.frame(event_id, data) for event_id, data in events))

    def resend(self, event: JsonObject) -> None:
        """Send an event again."""
        stream = self.current_stream
        if stream is not None and stream.writer is not None:
            stream.writer.write(stream.writer.frame(event["event_id"], _encode_event(event)))

    def drop_connection(self, piece: bytes = b"") -> None:
        """Close the stream without a close message, after a piece of an event where the transport allows it."""
        stream = self.current_stream
        if stream is None or stream.writer is None:
            return
        writer, stream.writer = stream.writer, None
        if piece and self.is_raw_http:
            writer.write(piece)
        writer.close(None)

    def frame_event(self, event: JsonObject) -> bytes:
        """Return an event as it goes over the wire; empty without a stream."""
        writer = None if self.current_stream is None else self.current_stream.writer
        return b"" if writer is None else writer.frame(event["event_id"], _encode_event(event))

    def _record(self, raw: bytes, via: str, *, from_producer: bool, valid: bool = True) -> None:
        self.messages.append(RecordedMessage(format_timestamp(time.time()), via, raw, from_producer, valid))


def _encode_event(event: JsonObject) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode()


class FakeSession:
    """A session of a fake producer, which builds events without sending them."""

    def __init__(self) -> None:
        self.session_id = new_id("sess_")

    def build_event(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> JsonObject:
        """
        Build an event.

        ``kind`` is a core type without its prefix, or a full type of an extension; a
        member that is None is left out.
        """
        event: JsonObject = {
            "@context": CORE_CONTEXT,
            "aaep_version": AAEP_VERSION,
            "type": kind if ":" in kind else EVENT_TYPE_PREFIX + kind,
            "event_id": new_id("evt_"),
            "session_id": self.session_id,
            "timestamp": format_timestamp(time.time()),
            "producer": PRODUCER_INFO,
            "verbosity": "normal",
            "urgency": urgency,
            "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
            **{f"summary_{length}": text for length in ("terse", "normal", "detailed") if "chunk" not in members},
            **members,
        }
        return {name: value for name, value in event.items() if value is not None}

    def build_started(self, text: str = "Working on a letter.", **members: Any) -> JsonObject:
        """Build the event that starts the session."""
        return self.build_event("session.started", text, **members)

    def build_completed(self, text: str = "The letter is written.", **members: Any) -> JsonObject:
        """Build the event that completes the session."""
        return self.build_event("session.completed", text, duration_ms=1000, **members)

    def build_errored(self, text: str = "The printer is on fire.", **members: Any) -> JsonObject:
        """Build the event that ends the session with an error."""
        all_members: JsonObject = {
            "error_category": "permanent",
            "error_code": "PRINTER_ON_FIRE",
            "recoverable": False,
            **members,
        }
        return self.build_event("session.errored", text, "critical", **all_members)

    def build_cancelled(self, text: str = "The letter was stopped.", **members: Any) -> JsonObject:
        """Build the event that cancels the session."""
        all_members: JsonObject = {"cancelled_by": "user", "cancellation_reason": "user_request", **members}
        return self.build_event("session.cancelled", text, **all_members)

    def build_state_changed(self, to_state: str, text: str, from_state: str = "thinking", **members: Any) -> JsonObject:
        """Build a change of state."""
        return self.build_event("state.changed", text, from_state=from_state, to_state=to_state, **members)

    def build_tool_invoked(self, text: str, **members: Any) -> JsonObject:
        """Build a call of a harmless tool."""
        all_members: JsonObject = {
            "tool": "post_office",
            "tool_call_id": new_id("call_"),
            "risk_level": "low",
            "irreversible": False,
            **members,
        }
        return self.build_event("tool.invoked", text, **all_members)

    def build_output_chunk(
        self, text: str, position: int, hint: str, output_id: str, *, complete: bool = False
    ) -> JsonObject:
        """Build a chunk of output."""
        return self.build_event(
            "output.streaming",
            "",
            chunk=text,
            position=position,
            coalesce_hint=hint,
            output_id=output_id,
            complete=complete,
            content_type="text/plain",
        )

    def build_confirmation(self, action: str, token: str = "", **members: Any) -> JsonObject:
        """Build a confirmation prompt for an action of low risk."""
        all_members: JsonObject = {
            "action": action,
            "consequence": f"{action} This can be undone.",
            "reply_token": token or new_id("rpl_"),
            "timeout_seconds": 60,
            "default_decision": "reject",
            "risk_level": "low",
            "irreversible": False,
            "reversibility": "reversible",
            **members,
        }
        return self.build_event("awaiting.confirmation", action, "critical", **all_members)

    def build_clarification(self, question: str, *kinds: str, **members: Any) -> JsonObject:
        """Build a clarification prompt that accepts responses of these kinds."""
        all_members: JsonObject = {
            "question": question,
            "reply_token": new_id("rpl_"),
            "timeout_seconds": 60,
            "accepted_response_kinds": [*kinds],
            **members,
        }
        return self.build_event("awaiting.clarification", question, "critical", **all_members)

    def build_handoff(self, text: str) -> JsonObject:
        """Build a handoff to a person."""
        return self.build_event("handoff.requested", text, "critical", reason=text, target_kind="human")
