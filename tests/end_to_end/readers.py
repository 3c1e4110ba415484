"""What raw readers have in common: what they ask for, what they answer, and how what they got is judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from aaep.protocol.attend_extension import ATTEND, attend_registry
from aaep.protocol.audit import Audit
from tests.end_to_end.wires import Answer, Gone, Json, Stream, Wire

ANSWERS: Json = {
    "supports_confirmation_reply": True,
    "supports_clarification_reply": True,
    "supported_conformance_levels": [1, 2, 3],
    "supported_extensions": [ATTEND.namespace],
}
LISTENS: Json = {"supported_conformance_levels": [1, 2, 3], "supported_extensions": [ATTEND.namespace]}
PROMPT = "aaep:agent.awaiting.confirmation"
ENDS = ("aaep:agent.session.completed", "aaep:agent.session.errored", "aaep:agent.session.cancelled")


def stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def reply(prompt: Json, subscription_id: str, /, decision: str = "accept", **changes: Any) -> bytes:
    """A reply to a confirmation, with something changed about it."""
    message = {
        "type": "confirmation.reply",
        "reply_token": prompt["reply_token"],
        "decision": decision,
        "subscription_id": subscription_id,
        "timestamp": stamp(),
    }
    return json.dumps(message | changes).encode()


class Raw:
    """A reader with one subscription, made of nothing but a wire."""

    def __init__(self, wire: Wire, url: str, **capabilities: Any) -> None:
        self._wire, self.url = wire, url
        self.accepted = wire.subscribe(url, **capabilities)
        self.id: str = self.accepted["subscription_id"]
        self.got: list[Json] = []  # each event once
        self.raw: list[bytes] = []  # everything, as it came
        self.last = ""
        self._seen: set[str] = set()

    def connect(self, *, buffer: int = 0) -> Stream:
        return self._wire.stream(self.url, self.id, self.last, buffer=buffer)

    def send(self, prompt: Json, decision: str = "accept", **changes: Any) -> Answer:
        return self._wire.send(self.url, reply(prompt, self.id, decision, **changes))

    def ask(self, **message: Any) -> Answer:
        return self._wire.send(self.url, json.dumps({"subscription_id": self.id, **message}).encode())

    def take(self, stream: Stream, until: Callable[[Json], bool]) -> Json | None:
        """Read on until an event that was not there before fits; None if the producer ends the stream first."""
        for event in stream:
            self.last = stream.last
            self.raw.append(stream.raw[-1])
            if event["event_id"] in self._seen:
                continue
            self._seen.add(event["event_id"])
            self.got.append(event)
            if until(event):
                return event
        return None

    def wait(self, stream: Stream, *types: str) -> Json:
        """Read on until an event of one of these types."""
        found = self.take(stream, lambda event: event["type"] in types)
        assert found is not None, f"The stream ended before {types}: {kinds(self.got)}"
        return found

    def gone(self) -> bool:
        """Whether the producer knows the subscription no more."""
        try:
            with self.connect():
                return False
        except Gone:
            return True

    def errors(self) -> list[str]:
        """What is wrong with what came, as somebody judges it who listens."""
        audit = Audit(attend_registry())
        found = [one for raw in (json.dumps(self.accepted).encode(), *self.raw) for one in audit.feed(raw)]
        return [str(one) for one in found if one.severity == "error"]


def kinds(events: Iterable[Json]) -> list[str]:
    return [event["type"].removeprefix("aaep:agent.") for event in events]


def ids(events: Iterable[Json]) -> list[str]:
    return [event["event_id"] for event in events]


def critical(events: Iterable[Json]) -> list[str]:
    """The ids of what everybody must hear."""
    return [event["event_id"] for event in events if event["urgency"] == "critical"]


def text(events: Iterable[Json]) -> str:
    """The output, joined."""
    return "".join(event["chunk"] for event in events if "chunk" in event)


def outcomes(events: Iterable[Json], prompt: Json) -> list[str]:
    """What a reader was told about a prompt."""
    ours = [event.get("extensions", {}).get("attend", {}) for event in events]
    return [one["outcome"] for one in ours if one.get("reply_token") == prompt["reply_token"]]
