"""
Producers that are played: they answer as they are told to, and keep all that comes.

A player is no hub. It has a hub's face, so that every transport can carry it;
over plain HTTP it is served by :mod:`._raw_http`, which can do wrong even below
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
from ...hub.manifest import manifest as described
from ...hub.settings import Settings
from ...identity.peer import Peer
from ...identity.signatures import sign
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
from ...runtime.ids import identifier, timestamp
from ...transports.base import transport
from ..judge import Line
from ..producer.harness import PREFIX, Json, content
from .raw_http import RawDoor

__all__ = ["PRODUCER", "Came", "Change", "Player", "Session", "Stream"]

Change = Callable[[Json], Json]
_LANGUAGES: Final = ("en-US", "en", "en-GB", "de", "fr", "es")


class Came(msgspec.Struct):
    """A message that the subscriber sent: when, on which subscription, and how."""

    at: float
    raw: bytes
    message: Json
    via: str = ""
    headers: Mapping[str, str] | None = None  # over plain HTTP

    @property
    def type(self) -> str:
        return str(self.message.get("type", ""))


class Stream(msgspec.Struct):
    """A stream that the subscriber opened; to transports, its subscription."""

    id: str
    after: str
    writer: FrameWriter | None
    known: bool  # whether the subscription was granted
    headers: Mapping[str, str] | None = None


class Player:
    """
    One producer for one subscriber.

    ``change`` is done to the answer to a request, and ``seal`` to a manifest
    that was signed. With ``refusal`` every request is rejected with these members.
    """

    takes_agents = False

    def __init__(
        self,
        *,
        key: SigningKey | None = None,
        change: Change = lambda answer: answer,
        seal: Callable[[str], str | None] = lambda signed: signed,
        claims: Change = lambda manifest: manifest,
        refusal: Json | None = None,
    ) -> None:
        self.settings = Settings()
        self.lines: list[Line] = []
        self.came: list[Came] = []
        self.streams: list[Stream] = []
        self.seen: set[str] = set()  # subscriptions that were granted
        self.news = asyncio.Event()
        self._key, self._change, self._seal, self._claims, self._refusal = key, change, seal, claims, refusal
        self.offer = Offer(
            producer=ProducerInfo(**PRODUCER),
            languages=_LANGUAGES,
            namespaces=(ATTEND.namespace,),
            max_events_per_second=100,
        )
        self._asked: dict[str, Any] = {}
        self._said: list[tuple[str, bytes]] = []
        self._sent = 0  # how many of them were delivered to somebody
        self._door: Server | None = None
        self.address = ""  # where the subscriber finds it
        self._loop = asyncio.get_running_loop()

    # -- serving ---------------------------------------------------------------------------

    async def open(self, url: str) -> str:
        """Serve at a URL, and give back the real one."""
        raw = url.lower().startswith("http:")
        self._door = await (RawDoor.serve(self, url) if raw else transport(url).serve(self, url))
        self.address = self._door.url
        return self.address

    @property
    def raw(self) -> bool:
        """Whether what is below messages can be seen, and done wrong."""
        return isinstance(self._door, RawDoor)

    async def close(self) -> None:
        for stream in self.streams:
            if stream.writer is not None:
                stream.writer.close(None)
        if self._door is not None:
            await self._door.close()

    # -- what a transport calls --------------------------------------------------------------

    def start(self) -> None:
        """It runs already."""

    @property
    def is_on_loop(self) -> bool:
        return asyncio.get_running_loop() is self._loop

    def call_soon(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    def add_server(self, server: Server) -> None:
        self._door = server

    def accept_agent(self, manifest: Manifest, connection: AgentConnection) -> SubscriptionRejected | None:
        raise RemoteProtocolError("No agent comes here.")

    def release_agent(self, connection: AgentConnection) -> None:
        """No agent comes here."""

    def metrics(self) -> str:
        return ""

    def manifest(self) -> Manifest:
        return described(self.offer, [] if self._door is None else [self._door])

    @property
    def offered(self) -> Offer:
        """With a signed manifest, if it has one to show."""
        if self._key is None or self._door is None:
            return self.offer
        claimed = msgspec.convert(self._claims(msgspec.to_builtins(self.manifest())), Manifest)
        signed = self._seal(sign(claimed, self._key, now=time.time(), origins=[self.address]))
        return msgspec.structs.replace(self.offer, signed_manifest=signed)

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        answer = self.answer(raw, own or "")
        if isinstance(answer, int):
            raise RemoteProtocolError("Malformed message.")
        return None if answer is None else codec.read(json.dumps(answer).encode())[0]

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> str:
        return self.attach(subscription_id, writer, after or self._resumed(subscription_id)).id

    def is_connected(self, subscription_id: str, writer: FrameWriter) -> bool:
        return any(stream.id == subscription_id and stream.writer is writer for stream in self.streams)

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        for stream in self.streams:
            if stream.id == subscription_id and stream.writer is writer:
                stream.writer = None
                self.news.set()

    # -- what comes ----------------------------------------------------------------------------

    def answer(self, raw: bytes, own: str = "", headers: Mapping[str, str] | None = None) -> Json | int | None:
        """Take a message. The answer, if it has one; 400 for what is none."""
        given = content(raw)
        came = Came(time.monotonic(), raw, given, own or str(given.get("subscription_id", "")), headers)
        self.came.append(came)
        self.news.set()
        message = codec.read(raw, self.offer.registry)[0]
        if isinstance(message, SubscriptionRequest):
            return self._request(came, message)
        self._record(raw, came.via, out=False)
        if isinstance(message, SubscriptionRenegotiate):
            return self._renegotiate(came, message)
        if isinstance(message, SubscriptionClose):
            self._closed(came.via)
        return None if message is not None else 400

    def _request(self, came: Came, message: SubscriptionRequest) -> Json:
        came.via = identifier("sub_")
        self._record(came.raw, came.via, out=False)
        if self._refusal is not None:
            answer: Json = {"type": "subscription.rejected", "reason_message": "Not here.", **self._refusal}
        else:
            offer = self.offered
            if offer.signed_manifest is None:  # one that has none to show says nothing of it
                offer = msgspec.structs.replace(offer, signed_manifest="a.b.c")
            answer = json.loads(codec.encode(negotiate(message, offer, came.via)))
            if self.offered.signed_manifest is None:
                answer.pop("signed_manifest", None)
            answer = self._change(answer)
        if answer["type"] == "subscription.accepted":
            self._asked[came.via] = message.capabilities
            self.seen.add(came.via)
        self._record(json.dumps(answer).encode(), came.via, out=True)
        return answer

    def _renegotiate(self, came: Came, message: SubscriptionRenegotiate) -> Json | int:
        asked = self._asked.get(came.via)
        if asked is None:
            return 404
        answer: Json = json.loads(codec.encode(renegotiate(asked, message, self.offered)))
        self._asked[came.via] = apply_change(asked, message)
        answer["subscription_id"] = came.via
        self._record(json.dumps(answer).encode(), came.via, out=True)
        return answer

    def _closed(self, name: str) -> None:
        for stream in self.streams:
            if stream.id == name and stream.writer is not None:
                writer, stream.writer = stream.writer, None
                writer.close(None)

    def _resumed(self, name: str) -> str:
        """CF-084: what a new request says was heard last."""
        asked = self._asked.get(name)
        ours = asked.unknown.get("attend") if asked is not None else None
        return str(ours.get("resume_after", "")) if isinstance(ours, dict) else ""

    def attach(
        self, name: str, writer: FrameWriter, after: str = "", headers: Mapping[str, str] | None = None
    ) -> Stream:
        """A stream was opened: it gets what was said since it heard something last."""
        for stream in self.streams:  # one stream for a subscription
            if stream.writer is not None and stream.id == name:
                old, stream.writer = stream.writer, None
                old.close(None)
        stream = Stream(name, after, writer, name in self.seen, headers)
        self.streams.append(stream)
        heard = [event_id for event_id, _ in self._said]
        place = heard.index(after) + 1 if after in heard else self._sent
        for event_id, data in self._said[place:]:
            writer.write(writer.frame(event_id, data))
        self._sent = len(self._said)
        self.news.set()
        return stream

    # -- what is said ----------------------------------------------------------------------------

    @property
    def stream(self) -> Stream | None:
        """The one that is open."""
        return next((one for one in reversed(self.streams) if one.writer is not None), None)

    def say(self, event: Json, raw: bytes | None = None) -> Json:
        """Send an event, as it is or in these bytes; to who is not there, when it comes back."""
        self._send([(str(event.get("event_id", "")), _bytes(event) if raw is None else raw)])
        return event

    def burst(self, events: Iterable[Json]) -> None:
        """Send several so that they come at once."""
        self._send([(event["event_id"], _bytes(event)) for event in events])

    def _send(self, said: list[tuple[str, bytes]]) -> None:
        self._said += said
        stream = self.stream
        for _, data in said:
            self._record(data, stream.id if stream is not None else "", out=True)
        if stream is not None and stream.writer is not None:
            self._sent = len(self._said)
            stream.writer.write(b"".join(stream.writer.frame(event_id, data) for event_id, data in said))

    def again(self, event: Json) -> None:
        """Deliver an event once more."""
        stream = self.stream
        if stream is not None and stream.writer is not None:
            stream.writer.write(stream.writer.frame(event["event_id"], _bytes(event)))

    def cut(self, piece: bytes = b"") -> None:
        """Let go of the subscriber without a word, after a piece of something if that can be."""
        stream = self.stream
        if stream is None or stream.writer is None:
            return
        writer, stream.writer = stream.writer, None
        if piece and self.raw:
            writer.write(piece)
        writer.close(None)

    def framed(self, event: Json) -> bytes:
        """An event as it goes over the wire."""
        writer = None if self.stream is None else self.stream.writer
        return b"" if writer is None else writer.frame(event["event_id"], _bytes(event))

    def _record(self, raw: bytes, via: str, *, out: bool) -> None:
        self.lines.append(Line(timestamp(time.time()), via, raw, out))


def _bytes(event: Json) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode()


# -- events --

PRODUCER: Final = {"agent_id": "played-agent", "agent_name": "Played agent", "agent_version": "1.0.0"}


class Session:
    """One session of a played producer. What it gives back is not sent yet."""

    def __init__(self) -> None:
        self.id = identifier("sess_")

    def event(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> Json:
        """An event. ``kind`` is the end of a core type's name, or a whole name; None leaves a member out."""
        event: Json = {
            "@context": CORE_CONTEXT,
            "aaep_version": AAEP_VERSION,
            "type": kind if ":" in kind else PREFIX + kind,
            "event_id": identifier("evt_"),
            "session_id": self.id,
            "timestamp": timestamp(time.time()),
            "producer": PRODUCER,
            "verbosity": "normal",
            "urgency": urgency,
            "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
            **{f"summary_{length}": text for length in ("terse", "normal", "detailed") if "chunk" not in members},
            **members,
        }
        return {name: value for name, value in event.items() if value is not None}

    def started(self, text: str = "Working on a letter.", **members: Any) -> Json:
        return self.event("session.started", text, **members)

    def completed(self, text: str = "The letter is written.", **members: Any) -> Json:
        return self.event("session.completed", text, duration_ms=1000, **members)

    def errored(self, text: str = "The printer is on fire.", **members: Any) -> Json:
        given: Json = {"error_category": "tool_error", "error_code": "printer.fire", "recoverable": False, **members}
        return self.event("session.errored", text, "critical", **given)

    def cancelled(self, text: str = "The letter was stopped.", **members: Any) -> Json:
        given: Json = {"cancelled_by": "user", "cancellation_reason": "user_request", **members}
        return self.event("session.cancelled", text, **given)

    def state(self, to: str, text: str, before: str = "thinking", **members: Any) -> Json:
        return self.event("state.changed", text, from_state=before, to_state=to, **members)

    def tool(self, text: str, **members: Any) -> Json:
        given: Json = {
            "tool": "post_office",
            "tool_call_id": identifier("call_"),
            "risk_level": "low",
            "irreversible": False,
            **members,
        }
        return self.event("tool.invoked", text, **given)

    def chunk(self, text: str, position: int, hint: str, output: str, *, complete: bool = False) -> Json:
        return self.event(
            "output.streaming",
            "",
            chunk=text,
            position=position,
            coalesce_hint=hint,
            output_id=output,
            complete=complete,
            content_type="text/plain",
        )

    def confirm(self, action: str, token: str = "", **members: Any) -> Json:
        """A question for a yes or a no about something that does little harm."""
        given: Json = {
            "action": action,
            "consequence": f"{action} This can be undone.",
            "reply_token": token or identifier("rpl_"),
            "timeout_seconds": 60,
            "default_decision": "reject",
            "risk_level": "low",
            "irreversible": False,
            "reversibility": "reversible",
            **members,
        }
        return self.event("awaiting.confirmation", action, "critical", **given)

    def ask(self, question: str, *kinds: str, **members: Any) -> Json:
        """A question for an answer."""
        given: Json = {
            "question": question,
            "reply_token": identifier("rpl_"),
            "timeout_seconds": 60,
            "accepted_response_kinds": [*kinds],
            **members,
        }
        return self.event("awaiting.clarification", question, "critical", **given)

    def handoff(self, text: str) -> Json:
        return self.event("handoff.requested", text, "critical", reason=text, target_kind="human")
