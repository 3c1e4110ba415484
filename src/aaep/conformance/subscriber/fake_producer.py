"""
Producers that are played: they answer as they are told to, and keep all that comes.

A player is no hub. It has a hub's face, so that every transport can carry it;
over plain HTTP it is served by :mod:`.raw_http`, which can do wrong even below
that. What it says by itself is right: it is wrong only where a scenario asks for it.
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
    Manifest,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ...protocol.negotiation import Offer, apply_change, negotiate, renegotiate
from ...runtime.ids import format_timestamp, new_id
from ...transports.base import find_transport
from ...transports.options import DEFAULT_SERVER_OPTIONS
from ..judge import RecordedMessage
from ..producer.harness import EVENT_TYPE_PREFIX, JsonObject, decode_object
from .raw_http import RawHttpServer

__all__ = ["PRODUCER_INFO", "FakeProducer", "FakeSession", "MessageTransform", "SubscriberMessage", "SubscriberStream"]

MessageTransform = Callable[[JsonObject], JsonObject]
_LANGUAGES: Final = ("en-US", "en", "en-GB", "de", "fr", "es")


class SubscriberMessage(msgspec.Struct):
    """A message that the subscriber sent: when, on which subscription, and how."""

    received_at: float
    raw: bytes
    message: JsonObject
    subscription_id: str = ""
    headers: Mapping[str, str] | None = None  # over plain HTTP

    @property
    def type(self) -> str:
        return str(self.message.get("type", ""))


class SubscriberStream(msgspec.Struct):
    """A stream that the subscriber opened; to transports, its subscription."""

    subscription_id: str
    last_event_id: str
    writer: FrameWriter | None
    is_granted: bool  # whether the subscription was granted
    headers: Mapping[str, str] | None = None


class FakeProducer:
    """
    One producer for one subscriber.

    ``change`` is done to the answer to a request, and ``seal`` to a manifest
    that was signed. With ``refusal`` every request is rejected with these members.
    """

    can_accept_agents = False

    def __init__(
        self,
        *,
        key: SigningKey | None = None,
        change: MessageTransform = lambda answer: answer,
        seal: Callable[[str], str | None] = lambda signed: signed,
        claims: MessageTransform = lambda manifest: manifest,
        refusal: JsonObject | None = None,
    ) -> None:
        self.settings = HubSettings()
        self.messages: list[RecordedMessage] = []
        self.received_messages: list[SubscriberMessage] = []
        self.streams: list[SubscriberStream] = []
        self.granted_subscriptions: set[str] = set()  # subscriptions that were granted
        self.activity = asyncio.Event()
        (
            self._signing_key,
            self._transform_answer,
            self._transform_signed,
            self._transform_manifest,
            self._rejection_members,
        ) = key, change, seal, claims, refusal
        self.offer = Offer(
            producer=ProducerInfo(**PRODUCER_INFO),
            languages=_LANGUAGES,
            namespaces=(ATTEND.namespace,),
            max_events_per_second=100,
        )
        self._requested_capabilities: dict[str, Any] = {}
        self._events: list[tuple[str, bytes]] = []
        self._delivered_count = 0  # how many of them were delivered to somebody
        self._server: Server | None = None
        self.address = ""  # where the subscriber finds it
        self._loop = asyncio.get_running_loop()

    # -- serving ---------------------------------------------------------------------------

    async def serve(self, url: str) -> str:
        """Serve at a URL, and give back the real one."""
        raw = url.lower().startswith("http:")
        self._server = await (
            RawHttpServer.serve(self, url) if raw else find_transport(url).serve(self, url, DEFAULT_SERVER_OPTIONS)
        )
        self.address = self._server.url
        return self.address

    @property
    def is_raw_http(self) -> bool:
        """Whether what is below messages can be seen, and done wrong."""
        return isinstance(self._server, RawHttpServer)

    async def close(self) -> None:
        for stream in self.streams:
            if stream.writer is not None:
                stream.writer.close(None)
        if self._server is not None:
            await self._server.close()

    # -- what a transport calls --------------------------------------------------------------

    def start(self) -> None:
        """It runs already."""

    @property
    def is_on_loop(self) -> bool:
        return asyncio.get_running_loop() is self._loop

    def call_soon(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    @property
    def servers(self) -> list[Server]:
        return [] if self._server is None else [self._server]

    def add_server(self, server: Server) -> None:
        self._server = server

    def accept_agent(self, manifest: Manifest, connection: AgentConnection) -> SubscriptionRejected | None:
        raise RemoteProtocolError("No agent comes here.")

    def release_agent(self, connection: AgentConnection) -> None:
        """No agent comes here."""

    def metrics(self) -> str:
        return ""

    def manifest(self) -> Manifest:
        return build_manifest(self.offer, self.servers)

    @property
    def signed_offer(self) -> Offer:
        """With a signed manifest, if it has one to show."""
        if self._signing_key is None or self._server is None:
            return self.offer
        claimed = msgspec.convert(self._transform_manifest(msgspec.to_builtins(self.manifest())), Manifest)
        signed = self._transform_signed(
            sign_manifest(claimed, self._signing_key, now=time.time(), origins=[self.address])
        )
        return msgspec.structs.replace(self.offer, signed_manifest=signed)

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        answer = self.handle_message(raw, own or "")
        if isinstance(answer, int):
            raise RemoteProtocolError("Malformed message.")
        return None if answer is None else codec.read(json.dumps(answer).encode())[0]

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> str:
        return self.attach_stream(
            subscription_id, writer, after or self._find_resume_point(subscription_id)
        ).subscription_id

    def is_connected(self, subscription_id: str, writer: FrameWriter) -> bool:
        return any(stream.subscription_id == subscription_id and stream.writer is writer for stream in self.streams)

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        for stream in self.streams:
            if stream.subscription_id == subscription_id and stream.writer is writer:
                stream.writer = None
                self.activity.set()

    # -- what comes ----------------------------------------------------------------------------

    def handle_message(
        self, raw: bytes, own: str = "", headers: Mapping[str, str] | None = None
    ) -> JsonObject | int | None:
        """Take a message. The answer, if it has one; 400 for what is none."""
        given = decode_object(raw)
        came = SubscriberMessage(time.monotonic(), raw, given, own or str(given.get("subscription_id", "")), headers)
        self.received_messages.append(came)
        self.activity.set()
        message = codec.read(raw, self.offer.registry)[0]
        if isinstance(message, SubscriptionRequest):
            return self._handle_request(came, message)
        self._record(raw, came.subscription_id, from_producer=False)
        if isinstance(message, SubscriptionRenegotiate):
            return self._handle_renegotiation(came, message)
        if isinstance(message, SubscriptionClose):
            self._close_streams(came.subscription_id)
        return None if message is not None else 400

    def _handle_request(self, came: SubscriberMessage, message: SubscriptionRequest) -> JsonObject:
        came.subscription_id = new_id("sub_")
        self._record(came.raw, came.subscription_id, from_producer=False)
        if self._rejection_members is not None:
            answer: JsonObject = {
                "type": "subscription.rejected",
                "reason_message": "Not here.",
                **self._rejection_members,
            }
        else:
            offer = self.signed_offer
            if offer.signed_manifest is None:  # one that has none to show says nothing of it
                offer = msgspec.structs.replace(offer, signed_manifest="a.b.c")
            answer = json.loads(codec.encode(negotiate(message, offer, came.subscription_id)))
            if self.signed_offer.signed_manifest is None:
                answer.pop("signed_manifest", None)
            answer = self._transform_answer(answer)
        if answer["type"] == "subscription.accepted":
            self._requested_capabilities[came.subscription_id] = message.capabilities
            self.granted_subscriptions.add(came.subscription_id)
        self._record(json.dumps(answer).encode(), came.subscription_id, from_producer=True)
        return answer

    def _handle_renegotiation(self, came: SubscriberMessage, message: SubscriptionRenegotiate) -> JsonObject | int:
        asked = self._requested_capabilities.get(came.subscription_id)
        if asked is None:
            return 404
        answer: JsonObject = json.loads(codec.encode(renegotiate(asked, message, self.signed_offer)))
        self._requested_capabilities[came.subscription_id] = apply_change(asked, message)
        answer["subscription_id"] = came.subscription_id
        self._record(json.dumps(answer).encode(), came.subscription_id, from_producer=True)
        return answer

    def _close_streams(self, name: str) -> None:
        for stream in self.streams:
            if stream.subscription_id == name and stream.writer is not None:
                writer, stream.writer = stream.writer, None
                writer.close(None)

    def _find_resume_point(self, name: str) -> str:
        """CF-084: what a new request says was heard last."""
        asked = self._requested_capabilities.get(name)
        ours = asked.unknown.get("attend") if asked is not None else None
        return str(ours.get("resume_after", "")) if isinstance(ours, dict) else ""

    def attach_stream(
        self, name: str, writer: FrameWriter, after: str = "", headers: Mapping[str, str] | None = None
    ) -> SubscriberStream:
        """A stream was opened: it gets what was said since it heard something last."""
        for stream in self.streams:  # one stream for a subscription
            if stream.writer is not None and stream.subscription_id == name:
                old, stream.writer = stream.writer, None
                old.close(None)
        stream = SubscriberStream(name, after, writer, name in self.granted_subscriptions, headers)
        self.streams.append(stream)
        heard = [event_id for event_id, _ in self._events]
        place = heard.index(after) + 1 if after in heard else self._delivered_count
        for event_id, data in self._events[place:]:
            writer.write(writer.frame(event_id, data))
        self._delivered_count = len(self._events)
        self.activity.set()
        return stream

    # -- what is said ----------------------------------------------------------------------------

    @property
    def current_stream(self) -> SubscriberStream | None:
        """The one that is open."""
        return next((one for one in reversed(self.streams) if one.writer is not None), None)

    def send(self, event: JsonObject, raw: bytes | None = None) -> JsonObject:
        """Send an event, as it is or in these bytes; to who is not there, when it comes back."""
        self._send_all([(str(event.get("event_id", "")), _encode_event(event) if raw is None else raw)])
        return event

    def send_batch(self, events: Iterable[JsonObject]) -> None:
        """Send several so that they come at once."""
        self._send_all([(event["event_id"], _encode_event(event)) for event in events])

    def _send_all(self, said: list[tuple[str, bytes]]) -> None:
        self._events += said
        stream = self.current_stream
        for _, data in said:
            self._record(data, stream.subscription_id if stream is not None else "", from_producer=True)
        if stream is not None and stream.writer is not None:
            self._delivered_count = len(self._events)
            stream.writer.write(b"".join(stream.writer.frame(event_id, data) for event_id, data in said))

    def resend(self, event: JsonObject) -> None:
        """Deliver an event once more."""
        stream = self.current_stream
        if stream is not None and stream.writer is not None:
            stream.writer.write(stream.writer.frame(event["event_id"], _encode_event(event)))

    def drop_connection(self, piece: bytes = b"") -> None:
        """Let go of the subscriber without a word, after a piece of something if that can be."""
        stream = self.current_stream
        if stream is None or stream.writer is None:
            return
        writer, stream.writer = stream.writer, None
        if piece and self.is_raw_http:
            writer.write(piece)
        writer.close(None)

    def frame_event(self, event: JsonObject) -> bytes:
        """An event as it goes over the wire."""
        writer = None if self.current_stream is None else self.current_stream.writer
        return b"" if writer is None else writer.frame(event["event_id"], _encode_event(event))

    def _record(self, raw: bytes, via: str, *, from_producer: bool) -> None:
        self.messages.append(RecordedMessage(format_timestamp(time.time()), via, raw, from_producer))


def _encode_event(event: JsonObject) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode()


# -- events --

PRODUCER_INFO: Final = {"agent_id": "played-agent", "agent_name": "Played agent", "agent_version": "1.0.0"}


class FakeSession:
    """One session of a played producer. What it gives back is not sent yet."""

    def __init__(self) -> None:
        self.session_id = new_id("sess_")

    def build_event(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> JsonObject:
        """An event. ``kind`` is the end of a core type's name, or a whole name; None leaves a member out."""
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
        return self.build_event("session.started", text, **members)

    def build_completed(self, text: str = "The letter is written.", **members: Any) -> JsonObject:
        return self.build_event("session.completed", text, duration_ms=1000, **members)

    def build_errored(self, text: str = "The printer is on fire.", **members: Any) -> JsonObject:
        given: JsonObject = {
            "error_category": "tool_error",
            "error_code": "printer.fire",
            "recoverable": False,
            **members,
        }
        return self.build_event("session.errored", text, "critical", **given)

    def build_cancelled(self, text: str = "The letter was stopped.", **members: Any) -> JsonObject:
        given: JsonObject = {"cancelled_by": "user", "cancellation_reason": "user_request", **members}
        return self.build_event("session.cancelled", text, **given)

    def build_state_changed(self, to_state: str, text: str, from_state: str = "thinking", **members: Any) -> JsonObject:
        return self.build_event("state.changed", text, from_state=from_state, to_state=to_state, **members)

    def build_tool_invoked(self, text: str, **members: Any) -> JsonObject:
        given: JsonObject = {
            "tool": "post_office",
            "tool_call_id": new_id("call_"),
            "risk_level": "low",
            "irreversible": False,
            **members,
        }
        return self.build_event("tool.invoked", text, **given)

    def build_output_chunk(
        self, text: str, position: int, hint: str, output: str, *, complete: bool = False
    ) -> JsonObject:
        return self.build_event(
            "output.streaming",
            "",
            chunk=text,
            position=position,
            coalesce_hint=hint,
            output_id=output,
            complete=complete,
            content_type="text/plain",
        )

    def build_confirmation(self, action: str, token: str = "", **members: Any) -> JsonObject:
        """A question for a yes or a no about something that does little harm."""
        given: JsonObject = {
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
        return self.build_event("awaiting.confirmation", action, "critical", **given)

    def build_clarification(self, question: str, *kinds: str, **members: Any) -> JsonObject:
        """A question for an answer."""
        given: JsonObject = {
            "question": question,
            "reply_token": new_id("rpl_"),
            "timeout_seconds": 60,
            "accepted_response_kinds": [*kinds],
            **members,
        }
        return self.build_event("awaiting.clarification", question, "critical", **given)

    def build_handoff(self, text: str) -> JsonObject:
        return self.build_event("handoff.requested", text, "critical", reason=text, target_kind="human")
