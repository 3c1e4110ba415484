"""
A subscriber written without our library, with nothing but what Python brings along. It keeps the rules.

Everything it decides is a method, so that a subscriber which breaks one rule is
this one with one method changed. As a program it takes a URL, what the person
at it does, and a file of keys to trust.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import queue
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

Json = dict[str, Any]
PREFIX = "aaep:agent."
ENDS = ("session.completed", "session.errored", "session.cancelled")
HOLD = 0.2  # seconds to wait for what is missing
LATE = 2.0
TICK = 0.02
DIGEST = bytes.fromhex("3031300d060960864801650304020105000420")  # what a signature says before a SHA-256


def stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Stop(Exception):
    """It has to end."""


class Reader:
    """One subscriber and the person at it."""

    retry = 0.1
    again_after: ClassVar[float] = 0.05

    def __init__(self, url: str, task: str, keys: str, say: Callable[[bytes], object]) -> None:
        self.place = urlsplit(url)
        self.task, self.say = task, say
        self.keys: list[Json] = json.loads(Path(keys).read_text())["keys"] if keys else []
        self.mail: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.id, self.last = "", ""
        self.terms: Json = {}
        self.producer: Json = {}
        self.seen: set[str] = set()
        self.expected: dict[str, int] = {}
        self.held: dict[str, dict[int, Json]] = {}
        self.since = 0.0
        self.pieces: dict[str, str] = {}
        self.prompts: dict[str, tuple[Json, float]] = {}  # that are open, and until when
        self.plans: list[tuple[float, Json]] = []  # when the person answers what
        self.line: socket.socket | None = None
        self.leaving = False

    # -- from beginning to end -----------------------------------------------------------------

    def run(self) -> None:
        if not self.subscribe():
            return
        threading.Thread(target=self.stream, daemon=True).start()
        if self.task == "renegotiate":
            self.renegotiate()
        try:
            while True:
                with suppress(queue.Empty):  # nothing came
                    self.mail.get(timeout=TICK)()
                self.tick()
        except Stop:
            self.leave()
        finally:
            self.leaving = True
            if self.line is not None:
                with suppress(OSError):  # it has ended already
                    self.line.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        def end() -> None:
            raise Stop

        self.mail.put(end)

    def tick(self) -> None:
        now = time.monotonic()
        if any(self.held.values()) and now - self.since > HOLD:
            self.release()
        for when, prompt in [*self.plans]:
            if when <= now:
                self.plans.remove((when, prompt))
                self.decide(prompt)

    def leave(self) -> None:
        message = {"type": "subscription.close", "subscription_id": self.id, "reason_code": "subscriber_shutdown"}
        self.post("/aaep/v1/replies", {**message, "reason_message": "Done."})

    def post(self, path: str, message: Json, kind: str = "application/json") -> Json:
        line = http.client.HTTPConnection(self.place.hostname or "", self.place.port, timeout=10)
        try:
            line.request("POST", path, json.dumps(message).encode(), {"Content-Type": kind})
            body = line.getresponse().read()
            return json.loads(body) if body else {}
        except (OSError, http.client.HTTPException):
            return {}
        finally:
            line.close()

    # -- the handshake -------------------------------------------------------------------------

    def wishes(self) -> Json:
        return {
            "max_events_per_second": 100,
            "languages": ["en-US"],
            "supports_confirmation_reply": True,
            "supports_clarification_reply": True,
            "supported_conformance_levels": [1, 2, 3],
            **({"accept_signed_manifests_only": True} if self.keys else {}),
        }

    def request(self) -> Json:
        return {
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "plain-reader",
            "subscriber_name": "Plain reader",
            "subscriber_version": "0.1.0",
            "capabilities": self.wishes(),
        }

    def subscribe(self) -> bool:
        answer = self.post("/aaep/v1/subscriptions", self.request())
        if answer.get("type") != "subscription.accepted":
            return self.rejected()
        self.id, self.terms = answer["subscription_id"], answer["honored_capabilities"]
        self.producer = answer["producer"]
        if self.keys and not self.proved(answer.get("signed_manifest", "")):
            self.leave()
            return False
        return self.content()

    def rejected(self) -> bool:
        return False

    def content(self) -> bool:
        """Whether what was granted will do."""
        return True

    def renegotiate(self) -> None:
        change = {"preferred_verbosity": "terse"}
        message = {"type": "subscription.renegotiate", "subscription_id": self.id, "capabilities": change}
        self.terms = self.post("/aaep/v1/replies", message).get("honored_capabilities", self.terms)

    # -- who it is -----------------------------------------------------------------------------

    def proved(self, signed: str) -> bool:
        """Whether a manifest is signed by a key that is known, and is this producer's."""
        if signed.count(".") != 2:
            return self.unsigned()
        head, payload, signature = signed.split(".")
        header = json.loads(unpacked(head))
        key = next((one for one in self.keys if one["kid"] == header.get("kid")), None)
        if key is None:
            return self.stranger()
        manifest = json.loads(unpacked(payload))
        genuine = header.get("alg") == "RS256" and self.genuine(key, f"{head}.{payload}".encode(), unpacked(signature))
        return genuine and self.mine(manifest) and self.consistent(manifest)

    def unsigned(self) -> bool:
        return False

    def stranger(self) -> bool:
        return False

    def genuine(self, key: Json, text: bytes, signature: bytes) -> bool:
        modulus, exponent = (int.from_bytes(unpacked(key[name])) for name in ("n", "e"))
        size = (modulus.bit_length() + 7) // 8
        found = pow(int.from_bytes(signature), exponent, modulus).to_bytes(size)
        right = DIGEST + hashlib.sha256(text).digest()
        return found == b"\0\1" + b"\xff" * (size - len(right) - 3) + b"\0" + right

    def mine(self, manifest: Json) -> bool:
        return bool(manifest.get("agent_id") == self.producer["agent_id"])

    def consistent(self, manifest: Json) -> bool:
        levels = {*self.terms.get("supported_conformance_levels", [])}
        return "sse" in manifest["transports_supported"] and levels <= {*manifest["conformance_levels_supported"]}

    # -- the stream ----------------------------------------------------------------------------

    def headers(self) -> dict[str, str]:
        given = {"Accept": "text/event-stream", "Cache-Control": "no-cache"}
        return {**given, "Last-Event-ID": self.last} if self.last else given

    def stream(self) -> None:
        """In a thread of its own: read, and come back whenever it ends."""
        while not self.leaving:
            line = http.client.HTTPConnection(self.place.hostname or "", self.place.port)
            with suppress(OSError, http.client.HTTPException, ValueError):  # it tries again
                line.connect()
                self.line = line.sock
                line.request("GET", f"/aaep/v1/events?subscription_id={self.id}", headers=self.headers())
                response = line.getresponse()
                if response.status != 200:
                    break
                for event_id, data in self.frames(response):
                    self.mail.put(lambda event_id=event_id, data=data: self.take(event_id, data))  # type: ignore[misc]  # bound now
            line.close()
            if not self.comes_back():
                return
            time.sleep(self.retry)  # not to come back at once

    def comes_back(self) -> bool:
        """The connection broke."""
        return True

    def frames(self, response: http.client.HTTPResponse) -> Iterator[tuple[str, bytes]]:
        """What stands between two empty lines; what is not ended by one is none."""
        rest = b""
        while piece := response.read1(65_536):
            rest += piece
            *whole, rest = re.split(rb"\n\n", rest)
            for frame in whole:
                yield from self.frame(frame)
        yield from self.torn(rest)

    def torn(self, rest: bytes) -> Iterator[tuple[str, bytes]]:
        yield from ()

    def frame(self, frame: bytes) -> Iterator[tuple[str, bytes]]:
        fields = [line.partition(b":")[::2] for line in frame.split(b"\n")]
        data = self.data([value.removeprefix(b" ") for name, value in fields if name == b"data"])
        names = [value.strip().decode() for name, value in fields if name == b"id"]
        if data:
            yield (names or [""])[0], data

    def data(self, lines: list[bytes]) -> bytes:
        return b"\n".join(lines)

    # -- an event ------------------------------------------------------------------------------

    def take(self, event_id: str, data: bytes) -> None:
        self.last = event_id or self.last
        event = self.read(data)
        if event is None or not self.sound(event):
            return
        if self.known(event):
            return
        self.seen.add(event["event_id"])
        self.order(event)

    def read(self, data: bytes) -> Json | None:
        try:
            event = json.loads(data)
        except ValueError:
            return self.nonsense(data)
        return event if isinstance(event, dict) and self.kind(event) else None

    def kind(self, event: Json) -> str:
        kind = event.get("type")
        return kind.removeprefix(PREFIX) if isinstance(kind, str) else ""

    def nonsense(self, data: bytes) -> Json | None:
        return None

    def sound(self, event: Json) -> bool:
        """Whether it is an event at all."""
        texts = ("event_id", "session_id", "timestamp")
        return bool(event.get("@context")) and all(isinstance(event.get(name), str) for name in texts)

    def known(self, event: Json) -> bool:
        return event["event_id"] in self.seen

    def order(self, event: Json) -> None:
        """Wait a moment for what was sent before it."""
        number, session = event.get("sequence_number"), event["session_id"]
        if number is None or event["urgency"] == "critical":
            self.tell(event)
            return
        held = self.held.setdefault(session, {})
        if not held:
            self.since = time.monotonic()
        held[number] = event
        expected = self.expected.setdefault(session, number)
        while expected in held:
            self.tell(held.pop(expected))
            expected += 1
        self.expected[session] = expected

    def release(self) -> None:
        for session, held in self.held.items():
            for number in sorted(held):
                self.tell(held.pop(number))
                self.expected[session] = number + 1

    # -- what the person hears -------------------------------------------------------------------

    def tell(self, event: Json) -> None:
        kind = self.kind(event)
        self.settle(event, kind)
        if "chunk" in event:
            self.piece(event)
            return
        text = self.text(event, kind)
        if text:
            self.announce(event, text, self.urgency(event, kind))
        if kind.startswith("awaiting."):
            self.asked(event)

    def text(self, event: Json, kind: str) -> str:
        if kind == "awaiting.confirmation":
            return f"Confirm: {event['action']} {event['consequence']}"
        if kind == "awaiting.clarification":
            return f"Question: {event['question']}"
        word = {"session.completed": "Done. ", "session.errored": "Error. ", "session.cancelled": "Cancelled. "}
        return word.get(kind, "") + str(event.get("summary_normal", ""))

    def urgency(self, event: Json, kind: str) -> str:
        return str(event["urgency"])

    def piece(self, event: Json) -> None:
        """Hold output until there is something whole to say."""
        output = event["output_id"]
        self.pieces[output] = self.pieces.get(output, "") + event["chunk"]
        if event["coalesce_hint"] in ("sentence", "paragraph", "completion") or event["complete"]:
            self.announce(event, self.pieces.pop(output), "normal")

    def announce(self, event: Json, text: str, urgency: str) -> None:
        said = {"event_id": event["event_id"], "type": event["type"], "text": text, "urgency": urgency}
        self.say(json.dumps(said).encode())

    # -- what the person is asked ----------------------------------------------------------------

    def settle(self, event: Json, kind: str) -> None:
        """Take away what is not open any more."""
        left = kind == "state.changed" and event.get("from_state") == "awaiting_input"
        if not left and kind not in ENDS:
            return
        for token, (prompt, _) in [*self.prompts.items()]:
            if prompt["session_id"] == event["session_id"]:
                del self.prompts[token]

    def asked(self, prompt: Json) -> None:
        self.prompts[prompt["reply_token"]] = prompt, time.monotonic() + prompt["timeout_seconds"]
        if self.task in ("accept", "reject", "late", "answer"):
            delay = LATE if self.task == "late" else self.again_after
            self.plans.append((time.monotonic() + delay, prompt))

    def open(self, prompt: Json) -> bool:
        """Whether it can be answered still."""
        _, until = self.prompts.get(prompt["reply_token"], (None, 0.0))
        return time.monotonic() < until

    def decide(self, prompt: Json) -> None:
        """The person answers."""
        confirms = self.kind(prompt) == "awaiting.confirmation"
        granted = self.terms.get(f"supports_{'confirmation' if confirms else 'clarification'}_reply")
        if not self.open(prompt) or not granted:
            return
        del self.prompts[prompt["reply_token"]]
        if confirms and self.task != "answer":
            self.reply(self.confirmed(prompt, "reject" if self.task == "reject" else "accept"))
        elif not confirms and self.task == "answer":
            self.reply(self.clarified(prompt, self.response(prompt)))

    def response(self, question: Json) -> Any:
        kind = question["accepted_response_kinds"][0]
        if kind == "multiple_choice":
            return question["choices"][0]["value"]
        return {"freetext": "blue", "yes_no": True, "numeric": 7}[kind]

    def token(self, prompt: Json) -> Any:
        return prompt["reply_token"]

    def confirmed(self, prompt: Json, decision: str) -> Json:
        return {"type": "confirmation.reply", "decision": decision, **self.signed(prompt)}

    def clarified(self, question: Json, response: Any) -> Json:
        return {"type": "clarification.reply", "response": response, **self.signed(question)}

    def signed(self, prompt: Json) -> Json:
        return {"reply_token": self.token(prompt), "subscription_id": self.id, "timestamp": stamp()}

    def reply(self, message: Json) -> None:
        self.post("/aaep/v1/replies", message)


def main(url: str, task: str, keys: str = "") -> None:
    def say(line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    reader = Reader(url, task, keys, say)
    signal.signal(signal.SIGTERM, lambda *_: reader.stop())
    reader.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
