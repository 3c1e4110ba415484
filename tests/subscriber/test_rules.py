"""What a subscriber does, for rules that no other test is about: against producers that are scripts."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.sync.server import ServerConnection, serve

from aaep.errors import AaepError, LocalProtocolError
from aaep.presentation.announce import announce
from aaep.protocol import codec
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation
from aaep.protocol.extensions import Extension
from aaep.protocol.framing import MAX_MESSAGE_BYTES
from aaep.protocol.messages import Capabilities, SubscriptionRejected
from aaep.subscriber.connection import SubscriberRuntime
from aaep.subscriber.replies import build_clarification_reply, build_confirmation_reply
from aaep.subscriber.subscriber import Subscriber, SubscriptionRefused
from tests.sessions import event, token
from tests.subscriber.test_subscriber import (
    LONG,
    PROGRESS,
    PROMPT,
    SHOP,
    STARTED,
    Reader,
    Script,
    accepted,
    forever,
    goodbye,
    heard,
    names,
)

BOTH = Capabilities(supports_confirmation_reply=True, supports_clarification_reply=True)
NOW = "2026-05-24T14:22:31.342Z"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.getLogger("aaep.subscriber").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("aaep.subscriber").setLevel(logging.NOTSET)


# -- the handshake -------------------------------------------------------------------------------


def test_the_request_names_no_transport() -> None:
    """TR-034: the subscription is on the one that was connected with."""
    script = Script()
    heard(script)
    (request,) = script.asked
    assert {*request} == {
        "type",
        "aaep_version",
        "subscriber_id",
        "subscriber_name",
        "subscriber_version",
        "capabilities",
    }
    assert "transport" not in json.dumps(request)


def test_a_prefix_that_two_extensions_have_is_given_up_and_asked_again_without() -> None:
    """EXT-020, CF-063"""
    other = Extension(namespace="https://a.example/v1", prefix="bakery", context="https://a.example/v1/context")
    clash = SubscriptionRejected(
        reason_code="capabilities_incompatible",
        reason_message="Two extensions share the prefix shop. Ask for one of them.",
    )
    script = Script([STARTED, goodbye("sub_2")], answers=[codec.encode(clash)])
    got, reader = heard(script, extensions=[SHOP, other])
    first, second = (request["capabilities"] for request in script.asked)
    assert {SHOP.namespace, other.namespace} <= {*first["supported_extensions"]}
    assert {*first["supported_extensions"]} - {*second["supported_extensions"]} == {SHOP.namespace}
    assert "shop:*" not in second["event_filters"]["include"]
    assert second["languages"] == first["languages"]
    assert got == names(STARTED) and reader.subscriber.subscription_id == ""


def test_a_clash_that_stays_is_told_and_not_tried_for_ever() -> None:
    """EXT-020: once more, and no more."""
    clash = codec.encode(SubscriptionRejected(reason_code="capabilities_incompatible", reason_message="It is shop."))
    script = Script(answers=[clash, clash, clash])
    with pytest.raises(SubscriptionRefused):
        heard(script, extensions=[SHOP])
    assert len(script.asked) == 2


def test_less_than_was_asked_for_is_taken() -> None:
    """SUB-038: what is granted holds from then on; nothing is sent that it leaves out."""
    less = {"max_events_per_second": 1, "preferred_verbosity": "terse", "supports_confirmation_reply": False}
    granted = accepted(subscription_id="sub_1", honored_capabilities=less)
    reader = Reader(Script([STARTED, PROMPT, goodbye()], answers=[granted]), verbosity="detailed")
    with reader.subscriber as subscriber:
        terms = subscriber.ready().wait(LONG)
        assert (terms.max_events_per_second, terms.preferred_verbosity) == (1, "terse")
        _, prompt = [*subscriber]
        assert isinstance(prompt, AwaitingConfirmation)
    assert reader.rules() == []
    script = Script([PROMPT, forever], answers=[granted])
    with Subscriber(script) as subscriber:
        prompt = next(subscriber)
        with pytest.raises(AaepError):
            subscriber.accept(prompt).wait(LONG)
    assert [one["type"] for one in script.sent] == ["subscription.close"]


def test_what_is_still_sent_under_the_old_terms_is_heard() -> None:
    """SUB-063: what was on its way when the terms changed is no breach, and nothing stops."""
    changed = threading.Event()

    async def until_changed() -> None:
        await asyncio.to_thread(changed.wait, LONG)

    old = event("progress.updated", 1, verbosity="normal", summary_normal="Under the old terms.")
    new = event("progress.updated", 2, verbosity="terse", summary_normal=None, summary_terse="New.")
    reader = Reader(Script([STARTED, until_changed, old, new, goodbye()]))
    with reader.subscriber as subscriber:
        assert next(subscriber).event_id == names(STARTED)[0]
        subscriber.renegotiate(verbosity="terse").wait(LONG)
        changed.set()
        assert [one.event_id for one in subscriber] == names(old, new)
    assert reader.rules() == []


# -- events ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [None, "", 7, {}])
def test_an_event_without_a_context_is_not_acted_on(context: object) -> None:
    """ENV-005: it is told and left alone, although all the rest of it is in order."""
    bad = json.loads(PROMPT)
    bad["@context"] = context
    if context is None:
        del bad["@context"]
    got, reader = heard(Script([STARTED, json.dumps(bad).encode(), PROGRESS[1], goodbye()]))
    assert got == names(STARTED, PROGRESS[1])
    assert {"ENV-001", "ENV-002"} & {*reader.rules()}


@pytest.mark.parametrize("context", [[], [7], "https://elsewhere.example", ["https://elsewhere.example"]])
def test_a_context_that_is_not_ours_is_told_before_the_event_is_heard(context: object) -> None:
    """ENV-005: whoever hears of the event can know by then what is wrong with it."""
    bad = json.loads(PROMPT) | {"@context": context}
    reader = Reader(Script([json.dumps(bad).encode(), goodbye()]))
    with reader.subscriber as subscriber:
        for _ in subscriber:
            assert "ENV-002" in reader.rules()
    assert "ENV-002" in reader.rules()


def test_a_burst_as_large_as_was_agreed_on_is_taken() -> None:
    """BP-011: a whole second's worth at once, and each event is heard, in order."""
    raws = [event("progress.updated", number) for number in range(1000)]
    got, reader = heard(Script([*raws, goodbye()]), max_events_per_second=1000)
    assert got == names(*raws)
    assert reader.rules() == []


def test_nothing_critical_is_dropped_however_much_comes_and_however_slowly_it_is_read() -> None:
    """BP-016"""
    raws = [
        event("awaiting.confirmation", number, reply_token=token(number), session_id=f"sess_{number}")
        if number % 50 == 0
        else event("progress.updated", number)
        for number in range(600)
    ]
    script = Script([*raws, goodbye()])
    with Subscriber(script, runtime=SubscriberRuntime(max_queued_events=4)) as subscriber:
        got = [one.event_id for one in subscriber if isinstance(one, AwaitingConfirmation)]
    assert got == names(*raws[::50])


# -- replies ---------------------------------------------------------------------------------------

TOKENS = st.from_regex(r"rpl_[A-Za-z0-9]{1,64}", fullmatch=True)


@given(TOKENS, st.sampled_from(["accept", "reject"]))
def test_a_token_goes_back_as_it_came(name: str, decision: Any) -> None:
    """HITL-009: with every letter as it was, however long or short, and whatever it could be read as."""
    asked = codec.decode(event("awaiting.confirmation", reply_token=name))
    assert isinstance(asked, AwaitingConfirmation)
    assert json.loads(build_confirmation_reply(asked, decision, "sub_1", NOW, terms=BOTH))["reply_token"] == name
    question = codec.decode(
        event("awaiting.clarification", reply_token=name, accepted_response_kinds=["yes_no"], choices=None)
    )
    assert isinstance(question, AwaitingClarification)
    assert json.loads(build_clarification_reply(question, True, "sub_1", NOW, terms=BOTH))["reply_token"] == name


def test_a_token_is_in_the_reply_and_nowhere_else() -> None:
    """CONF-017, HITL-010: neither in another message, nor in another place, nor is it what a prompt is known by."""
    script = Script([STARTED, PROMPT, forever])
    with Subscriber(script, resume_after="evt_0") as subscriber:
        asked = next(one for one in subscriber if isinstance(one, AwaitingConfirmation))
        subscriber.renegotiate(verbosity="terse").wait(LONG)
        subscriber.accept(asked).wait(LONG)
    reply = next(one for one in script.sent if one["type"] == "confirmation.reply")
    assert reply.pop("reply_token") == asked.reply_token
    assert asked.reply_token not in json.dumps([*script.asked, *script.sent])


@pytest.mark.parametrize("default", ["acct_1", "none of these", "yes; and press a", 7, True])
def test_the_answer_that_a_question_falls_back_on_is_passed_on_and_not_used(default: Any) -> None:
    """HITL-029: it is not sent, though the time runs out, and not taken for a choice."""
    now = [0.0]
    question = event("awaiting.clarification", 5, reply_token=token(5), default_response=default, timeout_seconds=60)
    script = Script([STARTED, question, forever])
    with Subscriber(script, runtime=SubscriberRuntime(clock=lambda: now[0])) as subscriber:
        asked = next(one for one in subscriber if isinstance(one, AwaitingClarification))
        said = announce(asked)
        assert said is not None
        if isinstance(default, str):
            assert default in said.detail
        now[0] = 61.0
        with pytest.raises(LocalProtocolError, match="Too late"):
            subscriber.answer(asked, "acct_1").wait(LONG)
    assert [one["type"] for one in script.sent] == ["subscription.close"]


# -- on the wire -------------------------------------------------------------------------------------


class Requests(BaseHTTPRequestHandler):
    """A producer by hand: it accepts, asks once, and notes what it is sent."""

    asked: list[tuple[str, dict[str, str]]]

    def do_POST(self) -> None:
        self.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        self.rfile.read(int(self.headers["Content-Length"]))
        body = accepted(subscription_id="sub_1") if self.path.endswith("subscriptions") else b""
        self.send_response(201 if body else 204)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(self.stream())
        self.wfile.flush()
        self.rfile.read(1)  # until it leaves

    def stream(self) -> bytes:
        return b"event: aaep.event\nid: evt_1\ndata: " + PROMPT + b"\n\n"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def served(kind: type[Requests]) -> Iterator[str]:
    kind.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_a_reply_is_posted_as_the_binding_says() -> None:
    """SSE-022"""
    with served(Requests) as url, Subscriber(url, token="a-token-of-mine", reconnect=False) as subscriber:
        asked = next(subscriber)
        assert isinstance(asked, AwaitingConfirmation)
        subscriber.reject(asked).wait(LONG)
        (headers,) = (headers for path, headers in Requests.asked if path == "/aaep/v1/replies")
    assert headers["content-type"].partition(";")[0] == "application/json"
    assert headers["authorization"] == "Bearer a-token-of-mine"


def test_what_is_dropped_for_its_size_is_logged_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    """LIM-010"""

    class Swollen(Requests):
        def stream(self) -> bytes:
            long = b'{"summary_normal":"' + b"x" * MAX_MESSAGE_BYTES + b'"}'
            return b"event: aaep.event\nid: evt_0\ndata: " + long + b"\n\n" + super().stream()

    with (
        caplog.at_level(logging.WARNING, "aaep"),
        served(Swollen) as url,
        Subscriber(url, reconnect=False) as subscriber,
    ):
        assert isinstance(next(subscriber), AwaitingConfirmation)
    (line,) = (one.getMessage() for one in caplog.records if "skipped" in one.getMessage())
    assert str(MAX_MESSAGE_BYTES) in line


def test_after_a_websocket_is_lost_a_new_subscription_is_asked_for() -> None:
    """WS-010"""
    firsts: list[dict[str, Any]] = []

    def talk(line: ServerConnection) -> None:
        firsts.append(json.loads(line.recv()))
        line.send(accepted(subscription_id=f"sub_{len(firsts)}"))
        line.send(event("progress.updated", len(firsts)))
        if len(firsts) == 1:
            line.socket.shutdown(socket.SHUT_RDWR)  # without a word
        else:
            line.recv()

    async def at_once(delay: float) -> None:
        pass

    # Without pings, for they go on after a connection was shut down, and take their chance where Hypothesis takes its.
    options: Any = {"subprotocols": ["aaep.v1"], "ping_interval": None}
    with serve(talk, "127.0.0.1", 0, **options) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        with Subscriber(url, runtime=SubscriberRuntime(sleep=at_once)) as subscriber:
            assert [next(subscriber).event_id for _ in range(2)] == [f"evt_{number:032d}" for number in (1, 2)]
            assert subscriber.subscription_id == "sub_2"
        server.shutdown()
    assert [one["type"] for one in firsts] == ["subscription.request"] * 2
