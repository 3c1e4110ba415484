"""
A producer written without our library, with nothing but what Python brings along. It keeps the rules.

Everything it decides is a method, so that a producer which breaks one rule is
this one with one method changed.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
CONTEXT = "https://aaep-protocol.org/context/v1"
PREFIX = "aaep:agent."
ENDS = ("session.completed", "session.errored", "session.cancelled")
BOUNDARIES = ("sentence", "completion")
TIMEOUT = 300


def stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def instant(text: Any) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return float("inf")


class Subscription:
    """One reader: what waits for it, and what it was sent."""

    def __init__(self, terms: Json) -> None:
        self.id = "sub_" + secrets.token_hex(16)
        self.terms = terms
        self.sent: list[Json] = []
        self.held: list[Json] = []
        self.free = 0.0  # when the next event may go
        self.open = True
        self.connection = 0

    @property
    def replies(self) -> bool:
        return self.open and bool(self.terms["supports_confirmation_reply"])


class Prompt:
    """A question, and how it ended."""

    def __init__(self, event: Json, session: Session) -> None:
        self.event, self.session = event, session
        self.deadline = time.monotonic() + event["timeout_seconds"]
        self.kind = event["type"].rpartition(".")[2]
        self.outcome = ""
        self.response: Any = None


class Plain:
    """The producer: a server, and sessions in threads."""

    timeout = TIMEOUT
    stream_type = "text/event-stream"

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.subscriptions: dict[str, Subscription] = {}
        self.prompts: dict[str, Prompt] = {}
        self.sessions: list[Session] = []
        self.running = True
        plain = self

        class Requests(_Requests):
            producer = plain

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        threading.Thread(target=self._release, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.running = False
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    # -- the handshake -------------------------------------------------------------------------

    def rejects(self, request: Json) -> str:
        """The reason to reject a request, if there is one."""
        if str(request.get("aaep_version")).split(".")[0] not in ("0", "1"):
            return "version_unsupported"
        if request["capabilities"].get("accept_signed_manifests_only"):
            return "manifest_signature_required"
        return ""

    def honour(self, asked: Json) -> Json:
        """As much of what was asked for as there is here."""
        languages = [one for one in asked.get("languages", ["en-US"]) if one.lower() in ("en", "en-us")]
        boundaries = [one for one in asked.get("coalesce_boundaries", BOUNDARIES) if one in BOUNDARIES]
        terms = {
            "preferred_verbosity": "terse" if asked.get("preferred_verbosity") == "terse" else "normal",
            "languages": languages or asked.get("languages", ["en-US"])[:1],
            "supports_confirmation_reply": asked.get("supports_confirmation_reply", False),
            "supports_clarification_reply": asked.get("supports_clarification_reply", False),
            "coalesce_boundaries": boundaries or ["completion"],
            "event_filters": asked.get("event_filters", {"include": ["aaep:agent.*"], "exclude": []}),
            "supported_conformance_levels": asked.get("supported_conformance_levels", [1]),
            "supported_extensions": [],
            "cognitive_load": "low" if asked.get("cognitive_load") == "low" else "medium",
            "accept_signed_manifests_only": False,
        }
        if "coalesce_boundaries" in asked and not boundaries:
            terms["coalesce_boundaries"] = asked["coalesce_boundaries"]
        if "max_events_per_second" in asked:
            terms["max_events_per_second"] = asked["max_events_per_second"]
        return terms

    def subscribe(self, request: Json) -> tuple[int, Json]:
        reason = self.rejects(request)
        if reason:
            return 403, {"type": "subscription.rejected", "reason_code": reason, "reason_message": "That cannot be."}
        with self.changed:
            made = Subscription(self.honour(request["capabilities"]))
            self.subscriptions[made.id] = made
            for session in self.sessions:
                if session.open:
                    self.join(made, session)
        return 201, self.accepted(made)

    def accepted(self, subscription: Subscription) -> Json:
        return {
            "type": "subscription.accepted",
            "aaep_version": "1.0.0",
            "subscription_id": subscription.id,
            "honored_capabilities": subscription.terms,
            "producer": PRODUCER,
        }

    def join(self, subscription: Subscription, session: Session) -> None:
        """What one who comes late is told."""
        subscription.sent.append(session.opening)
        for prompt in self.prompts.values():
            if prompt.session is session and not prompt.outcome:
                subscription.sent.append(prompt.event)

    def renegotiate(self, message: Json) -> tuple[int, Json]:
        with self.changed:
            subscription = self.subscriptions.get(message.get("subscription_id", ""))
            if subscription is None:
                return 404, {"error": "not_found", "message": "There is none."}
            changes = message.get("capabilities", {})
            honoured = self.honour(changes)
            subscription.terms = {
                **subscription.terms,
                **{name: honoured[name] for name in changes if name in honoured},
            }
            return 200, self.accepted(subscription)

    def unsubscribe(self, message: Json) -> None:
        with self.changed:
            subscription = self.subscriptions.get(message.get("subscription_id", ""))
            if subscription is None:
                return
            self.forget(subscription)
            for prompt in self.prompts.values():
                if not prompt.outcome and not self.repliers():
                    self.end(prompt, "left")
            self.changed.notify_all()

    def forget(self, subscription: Subscription) -> None:
        subscription.open = False
        del self.subscriptions[subscription.id]

    def subscription(self, subscription_id: str) -> Subscription | None:
        """The subscription whose events somebody asks for."""
        return self.subscriptions.get(subscription_id)

    def repliers(self) -> bool:
        return any(one.replies for one in self.subscriptions.values())

    # -- sending -------------------------------------------------------------------------------

    def send(self, event: Json) -> None:
        with self.changed:
            for subscription in self.subscriptions.values():
                if self.critical(event) or self.admits(subscription, event):
                    self.offer(subscription, event)
            self.changed.notify_all()

    def critical(self, event: Json) -> bool:
        return bool(event["urgency"] == "critical")

    def admits(self, subscription: Subscription, event: Json) -> bool:
        filters = subscription.terms["event_filters"]

        def matches(pattern: str) -> bool:
            kind = event["type"]
            return bool(kind.startswith(pattern[:-1]) if pattern.endswith("*") else kind == pattern)

        wanted = any(map(matches, filters.get("include", ["aaep:agent.*"])))
        return wanted and not any(map(matches, filters.get("exclude", [])))

    def interval(self, subscription: Subscription) -> float:
        rate = subscription.terms.get("max_events_per_second")
        return 0.0 if rate is None else 1.0 / float(rate)

    def offer(self, subscription: Subscription, event: Json) -> None:
        """Send it now, or hold it until the rate and the boundaries allow."""
        if self.critical(event) or event["type"].removeprefix(PREFIX) in ENDS:
            subscription.sent += [*subscription.held, event]
            subscription.free = time.monotonic() + self.interval(subscription) * (len(subscription.held) + 1)
            subscription.held.clear()
            return
        held = subscription.held
        if held and "chunk" in event and held[-1].get("output_id") == event["output_id"]:
            merged = {**event, "chunk": held[-1]["chunk"] + event["chunk"], "position": held[-1]["position"]}
            held[-1] = merged
        else:
            held.append(event)
        self.pass_on(subscription)

    def ripe(self, subscription: Subscription, event: Json) -> bool:
        """Whether it ends where the reader wants to have it."""
        return "chunk" not in event or event["coalesce_hint"] in subscription.terms["coalesce_boundaries"]

    def pass_on(self, subscription: Subscription) -> None:
        held, now = subscription.held, time.monotonic()
        while held and subscription.free <= now and (self.ripe(subscription, held[0]) or len(held) > 1):
            subscription.sent.append(held.pop(0))
            subscription.free = max(subscription.free, now) + self.interval(subscription)

    def _release(self) -> None:
        """Send what was held, when it may go; and end what has waited too long."""
        while self.running:
            time.sleep(0.02)  # it is a program of its own: this is its clock
            with self.changed:
                for subscription in self.subscriptions.values():
                    self.pass_on(subscription)
                for prompt in self.prompts.values():
                    if not prompt.outcome and time.monotonic() >= prompt.deadline:
                        self.end(prompt, "timed out")
                self.changed.notify_all()

    def frame(self, event: Json) -> str:
        """An event as it goes over the wire."""
        return f"id: {event['event_id']}\nevent: aaep.event\ndata: {json.dumps(event)}\n\n"

    def missed(self, subscription: Subscription, last: str) -> int:
        """Where a reader goes on that heard this event last."""
        for place, event in enumerate(subscription.sent):
            if event["event_id"] == last:
                return place + 1
        return 0

    def lost(self, subscription: Subscription) -> None:
        """A reader has let go without a word; it may come back."""

    # -- replies -------------------------------------------------------------------------------

    def reply(self, message: Json) -> tuple[int, Json | None]:
        if not self.well_formed(message):
            return 400, {"error": "invalid_request", "message": "Malformed message."}
        with self.changed:
            problem = self.problem(message)
            if not problem:
                self.take(self.find(message), message)  # type: ignore[arg-type]  # without it there is a problem
        return self.answer(problem)

    def well_formed(self, message: Json) -> bool:
        strings = ("reply_token", "subscription_id", "timestamp")
        if not all(isinstance(message.get(name), str) for name in strings):
            return False
        if message["type"] == "confirmation.reply":
            return bool(message.get("decision") in ("accept", "reject"))
        return "response" in message

    def find(self, message: Json) -> Prompt | None:
        return self.prompts.get(message["reply_token"])

    def problem(self, message: Json) -> str:
        """What is wrong with a reply, if anything."""
        prompt = self.find(message)
        if prompt is None:
            return "unknown"
        if self.stranger(message):
            return "stranger"
        if self.spent(prompt):
            return "spent"
        if self.late(message, prompt):
            return "late"
        if self.other_kind(message, prompt):
            return "kind"
        return "" if prompt.kind == "confirmation" else self.ill_typed(message, prompt)

    def stranger(self, message: Json) -> bool:
        known = self.subscriptions.get(message["subscription_id"])
        return known is None or not known.replies

    def spent(self, prompt: Prompt) -> bool:
        return bool(prompt.outcome)

    def late(self, message: Json, prompt: Prompt) -> bool:
        deadline = instant(prompt.event["timestamp"]) + prompt.event["timeout_seconds"]
        return time.monotonic() >= prompt.deadline or bool(instant(message["timestamp"]) >= deadline)

    def other_kind(self, message: Json, prompt: Prompt) -> bool:
        return bool(message["type"] != f"{prompt.kind}.reply")

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return "" if message["response"] in [one["value"] for one in prompt.event["choices"]] else "type"

    def answer(self, problem: str) -> tuple[int, Json | None]:
        return 204, None

    def take(self, prompt: Prompt, message: Json) -> None:
        """A reply counts."""
        if prompt.kind == "clarification":
            prompt.response = message["response"]
            self.end(prompt, "answered")
        elif message["decision"] == "accept" and not self.modified(message):
            self.end(prompt, "accepted")
        else:
            self.end(prompt, "rejected")

    def modified(self, message: Json) -> bool:
        return "modified_action" in message

    def end(self, prompt: Prompt, outcome: str) -> None:
        prompt.outcome = outcome
        self.changed.notify_all()

    # -- tasks ---------------------------------------------------------------------------------

    def start(self, task: str) -> None:
        threading.Thread(target=self.work, args=(task,), daemon=True).start()

    def work(self, task: str) -> None:
        session = Session(self)
        with self.changed:
            self.sessions.append(session)
            session.begin()
        self.think(session)
        getattr(self, task, self.confirm)(session)
        if session.open:
            session.finish()

    def think(self, session: Session) -> None:
        """What comes before all else; this one knows at once what to do."""

    def confirm(self, session: Session) -> None:
        session.move("thinking")
        session.move("calling_tool")
        session.tool("look_up")
        self.letter(session)
        session.write(["All is done. "])

    def letter(self, session: Session, timeout: int | None = None) -> None:
        """The irreversible thing."""
        call = "call_" + secrets.token_hex(8)
        if session.granted(call, timeout):
            session.move("calling_tool")
            session.tool("send_letter", call, irreversible=True)

    def expire(self, session: Session) -> None:
        session.move("thinking")
        self.letter(session, 2)

    def withdraw(self, session: Session) -> None:
        session.move("thinking")
        prompt = session.ask("call_" + secrets.token_hex(8))
        time.sleep(0.3)  # for the reader to have heard it
        with self.changed:
            self.withdrawn(prompt)
        session.move("deciding", "normal")

    def withdrawn(self, prompt: Prompt) -> None:
        if not prompt.outcome:
            self.end(prompt, "withdrawn")

    def clarify(self, session: Session) -> None:
        session.move("thinking")
        if not self.repliers():
            session.move("deciding")
            return
        prompt = session.question()
        session.wait(prompt)
        session.move("thinking", "normal")

    def talk(self, session: Session) -> None:
        session.write([f"This is sentence number {number}. " for number in range(30)], pause=0.08)
        session.move("thinking")
        self.letter(session)

    def fail(self, session: Session) -> None:
        session.move("thinking")
        session.error()


class OneAtATime(Plain):
    """One that begins a task when the one before is done. It keeps the rules as well."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = threading.Lock()

    def work(self, task: str) -> None:
        with self.busy:
            super().work(task)


class OneTool(Plain):
    """One whose tool does harmless things too, and says of each call what it is. It keeps the rules as well."""

    def confirm(self, session: Session) -> None:
        session.move("thinking")
        for act in (self.harmless, self.letter, self.harmless):
            act(session)
        session.write(["All is done. "])

    def harmless(self, session: Session) -> None:
        session.move("calling_tool")
        session.tool("send_letter")


class FullUris(Plain):
    """One that spells every type as the URI it stands for. It keeps the rules as well."""

    def frame(self, event: Json) -> str:
        return super().frame({**event, "type": event["type"].replace("aaep:", "https://aaep-protocol.org/types/")})


class Thinks(Plain):
    """One that thinks in each session for longer than it is given. It keeps the rules as well."""

    pause = 1.2

    def think(self, session: Session) -> None:
        session.move("thinking")
        time.sleep(self.pause)  # as a model takes its time


class ThinksAloud(Thinks):
    """One that says how long it will think. It keeps the rules as well."""

    def think(self, session: Session) -> None:
        session.say("progress.updated", "Thinking.", progress={"percent": 0}, eta_ms=int(self.pause * 1000))
        super().think(session)


class PacesSlower(Plain):
    """One that sends less than it was allowed to. It keeps the rules as well."""

    def interval(self, subscription: Subscription) -> float:
        return super().interval(subscription) / 0.6

    def offer(self, subscription: Subscription, event: Json) -> None:
        """Let the end of a session wait for its turn, after all that was said before."""
        if self.interval(subscription) and event["type"].removeprefix(PREFIX) in ENDS and not self.critical(event):
            subscription.held.append(event)
            self.pass_on(subscription)
        else:
            super().offer(subscription, event)


class WithoutSubscriptions(Plain):
    """One of Level 1: whoever connects hears what happens, and nobody is asked for anything."""

    def __init__(self) -> None:
        super().__init__()
        requests: Any = self._server.RequestHandlerClass
        usual = requests._stream

        def bare(self: Any, _: str) -> None:
            with self.producer.changed:
                made = Subscription(self.producer.honour({}))
                self.producer.subscriptions[made.id] = made
            usual(self, made.id)

        def nothing(self: Any) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._say(404, {"error": "not_found", "message": "Nothing is here."})

        requests._stream, requests.do_POST = bare, nothing


PRODUCER = {"agent_id": "plain-agent", "agent_name": "Plain agent", "agent_version": "0.1.0"}


class Session:
    """One piece of work."""

    def __init__(self, producer: Plain) -> None:
        self.producer = producer
        self.id = "sess_" + secrets.token_hex(16)
        self.state = "idle"
        self.open = True
        self.opening: Json = {}
        self.calls = 0
        self.began = time.monotonic()

    def say(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> Json:
        event = self.event(kind, text, urgency, **members)
        self.producer.send(event)
        return event

    def event(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> Json:
        return {
            "@context": CONTEXT,
            "aaep_version": "1.0.0",
            "type": PREFIX + kind,
            "event_id": "evt_" + secrets.token_hex(16),
            "session_id": self.id,
            "timestamp": stamp(),
            "producer": PRODUCER,
            "verbosity": "normal",
            "urgency": urgency,
            "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
            **{f"summary_{length}": text for length in ("terse", "normal", "detailed") if "chunk" not in members},
            **members,
        }

    def begin(self) -> None:
        self.opening = self.say("session.started", "Working on a letter.")

    def move(self, to: str, urgency: str = "background") -> None:
        if to != self.state:
            self.say("state.changed", f"Now {to.replace('_', ' ')}.", urgency, from_state=self.state, to_state=to)
            self.state = to

    def tool(self, name: str, call: str = "", *, irreversible: bool = False) -> None:
        call = call or "call_" + secrets.token_hex(8)
        risk = "high" if irreversible else "low"
        self.calls += 1
        self.say(
            "tool.invoked", f"Using {name}.", tool=name, tool_call_id=call, risk_level=risk, irreversible=irreversible
        )
        self.say("tool.completed", f"{name} is done.", tool=name, tool_call_id=call, status="success", duration_ms=1)
        self.move("thinking")

    def ask(self, call: str, timeout: int | None = None) -> Prompt:
        self.move("awaiting_input")
        event = self.event(
            "awaiting.confirmation",
            "Send the letter? It cannot be called back.",
            "critical",
            action="Send the letter.",
            consequence="It cannot be called back.",
            reply_token="rpl_" + secrets.token_hex(16),
            timeout_seconds=timeout or self.producer.timeout,
            default_decision="reject",
            risk_level="high",
            irreversible=True,
            reversibility="irreversible",
            allowed_replies=["accept", "reject"],
            extra_context={"tool": "send_letter", "tool_call_id": call},
        )
        return self._put(event)

    def question(self) -> Prompt:
        self.move("awaiting_input")
        event = self.event(
            "awaiting.clarification",
            "Which bank?",
            "critical",
            question="Which bank?",
            reply_token="rpl_" + secrets.token_hex(16),
            timeout_seconds=self.producer.timeout,
            accepted_response_kinds=["multiple_choice"],
            choices=[{"value": "first", "label": "The first"}, {"value": "second", "label": "The second"}],
        )
        return self._put(event)

    def _put(self, event: Json) -> Prompt:
        with self.producer.changed:
            prompt = self.producer.prompts[event["reply_token"]] = Prompt(event, self)
            self.producer.send(event)
        return prompt

    def wait(self, prompt: Prompt) -> str:
        with self.producer.changed:
            self.producer.changed.wait_for(lambda: prompt.outcome or not self.producer.running)
        return prompt.outcome

    def granted(self, call: str, timeout: int | None = None) -> bool:
        """Ask, and wait for the answer."""
        if not self.producer.repliers():
            self.move("deciding")
            return False
        outcome = self.wait(self.ask(call, timeout))
        self.move("thinking", "normal")
        return outcome == "accepted"

    def write(self, sentences: list[str], pause: float = 0.0) -> None:
        self.move("writing_output")
        output, position = "out_" + secrets.token_hex(8), 0
        for number, sentence in enumerate(sentences):
            last = number + 1 == len(sentences)
            self.say(
                "output.streaming",
                "Writing.",
                chunk=sentence,
                position=position,
                complete=last,
                coalesce_hint="completion" if last else "sentence",
                output_id=output,
                content_type="text/plain",
            )
            position += len(sentence)
            time.sleep(pause)  # as a model takes its time

    def chunk(self, text: str, position: int, *, last: bool = False) -> None:
        """One chunk of the only output of the session."""
        self.say(
            "output.streaming",
            "Writing.",
            chunk=text,
            position=position,
            complete=last,
            coalesce_hint="completion" if last else "sentence",
            output_id="out_1",
            content_type="text/plain",
        )

    def finish(self) -> None:
        self.move("idle")
        self._end("session.completed", "All is done.", duration_ms=self._spent(), tool_invocations_count=self.calls)

    def error(self) -> None:
        self._end(
            "session.errored",
            "It went wrong. Try again later.",
            "critical",
            error_category="transient",
            recoverable=True,
            remediation_hint="Try again later.",
        )

    def _spent(self) -> int:
        return int((time.monotonic() - self.began) * 1000)

    def _end(self, kind: str, text: str, urgency: str = "normal", **members: Any) -> None:
        with self.producer.changed:
            self.open = False
            self.say(kind, text, urgency, **members)


class _Requests(BaseHTTPRequestHandler):
    """Appendix B.1."""

    protocol_version = "HTTP/1.1"
    producer: Plain

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/.well-known/aaep-manifest.json":
            self._say(200, self.manifest())
        elif place.path == "/aaep/v1/events":
            self._stream(parse_qs(place.query).get("subscription_id", [""])[0])
        else:
            self._say(404, {"error": "not_found", "message": "Nothing is here."})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        try:
            message = json.loads(self.rfile.read(length))
            kind = message["type"]
        except (ValueError, KeyError, TypeError):
            message, kind = {}, ""
        if not self.path.startswith("/aaep/v1/"):
            self._say(404, {"error": "not_found", "message": "Nothing is here."})
            return
        taken: dict[str, Callable[[Json], tuple[int, Json | None]]] = {
            "subscription.request": self.producer.subscribe,
            "subscription.renegotiate": self.producer.renegotiate,
            "subscription.close": lambda given: (204, self.producer.unsubscribe(given)),  # type: ignore[func-returns-value]  # that it gives nothing is the point
            "confirmation.reply": self.producer.reply,
            "clarification.reply": self.producer.reply,
        }
        if kind not in taken if isinstance(kind, str) else True:
            self._say(400, {"error": "invalid_request", "message": "Malformed message."})
            return
        self._say(*taken[kind](message))

    def manifest(self) -> Json:
        return {
            "@context": CONTEXT,
            "type": "aaep:producer.manifest",
            **PRODUCER,
            "aaep_versions_supported": ["1.0.0"],
            "conformance_levels_supported": [1, 2, 3],
            "transports_supported": ["sse"],
            "languages_supported": ["en-US"],
            "event_types_emitted": ["aaep:agent.*"],
            "extensions_supported": [],
        }

    def _say(self, status: int, body: Json | None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, subscription_id: str) -> None:
        producer = self.producer
        with producer.changed:
            subscription = producer.subscription(subscription_id)
            if subscription is None:
                self._say(404, {"error": "not_found", "message": "There is none."})
                return
            subscription.connection += 1
            mine, place = (
                subscription.connection,
                producer.missed(subscription, self.headers.get("Last-Event-ID") or ""),
            )
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", producer.stream_type)
        self.end_headers()

        def over() -> bool:
            return not (producer.running and subscription.open) or subscription.connection != mine

        while True:
            with producer.changed:
                while len(subscription.sent) <= place and not over():
                    producer.changed.wait(0.1)
                    if self._gone():
                        producer.lost(subscription)
                        return
                ready, place = subscription.sent[place:], len(subscription.sent)
                if over():
                    return
            try:
                self.wfile.write("".join(map(producer.frame, ready)).encode())
                self.wfile.flush()
            except OSError:
                producer.lost(subscription)
                return

    def _gone(self) -> bool:
        """Whether the reader has let go."""
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""
