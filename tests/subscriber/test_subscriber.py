"""Subscribing, listening, answering, and coming back: against a producer that is a script."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from aaep.errors import AaepError, LocalProtocolError, RemoteProtocolError
from aaep.presentation.preferences import Preferences
from aaep.protocol import codec
from aaep.protocol.audit import Finding
from aaep.protocol.events import Envelope, ExtensionEvent, OutputStreaming, ProducerInfo, UnknownEvent
from aaep.protocol.extensions import Extension
from aaep.protocol.messages import SubscriptionClose, SubscriptionRejected, SubscriptionRenegotiate, SubscriptionRequest
from aaep.protocol.negotiation import Offer, negotiate, renegotiate
from aaep.runtime.background import Waitable
from aaep.subscriber import connection
from aaep.subscriber.connection import Reconnect, SubscriberRuntime
from aaep.subscriber.request import Terms
from aaep.subscriber.subscriber import Status, Subscriber, SubscriptionRefused, listen
from aaep.transports.base import ChannelLost, ChannelRefused, ReceivedMessage
from tests import vectors
from tests.options import subscriber as build_subscriber
from tests.sessions import event, legal, outcome, resync, token

LONG = 60.0  # seconds that nothing here should take
Step = bytes | Exception | Callable[[], Awaitable[None]]
OFFER = Offer(
    producer=ProducerInfo(agent_id="bank-assistant"), namespaces=("https://aaep.readthedocs.io/extensions/attend/v1",)
)


class Script:
    """
    A channel to a producer that follows a script.

    Each connection is a list of what arrives: bytes, an error to raise, or
    something to wait for. After the last the producer shuts down.
    """

    def __init__(self, *connections: list[Any], answers: list[Any] | None = None, offer: Offer = OFFER) -> None:
        self.connections = [*connections]
        self.answers, self.offer = answers or [], offer
        self.asked: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.joined: list[tuple[str, str]] = []
        self.given = 0
        self.closed = False
        self.capabilities: Any = None
        self.languages = ["en-US"]

    async def manifest(self) -> bytes:
        return json.dumps({**json.loads(MANIFEST), "languages_supported": self.languages}).encode()

    async def request(self, message: bytes) -> bytes:
        self.asked.append(json.loads(message))
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            if answer is not None:
                return bytes(answer)
        read, found = codec.read(message, strict=True)
        assert not found
        if isinstance(read, SubscriptionRenegotiate):
            return codec.encode(renegotiate(self.capabilities, read, self.offer))
        assert isinstance(read, SubscriptionRequest)
        self.capabilities = read.capabilities
        return codec.encode(negotiate(read, self.offer, f"sub_{len(self.asked)}"))

    async def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
        self.joined.append((subscription_id, after))
        steps = self.connections.pop(0) if self.connections else [goodbye(subscription_id)]
        for step in steps:
            if isinstance(step, Exception):
                raise step
            if callable(step):
                await step()
                continue
            self.given += 1
            yield ReceivedMessage(step, json.loads(step).get("event_id", "") if step.startswith(b"{") else "")

    async def close(self) -> None:
        self.closed = True


MANIFEST = json.dumps(
    {
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:producer.manifest",
        "agent_id": "bank-assistant",
        "aaep_versions_supported": ["1.0.0"],
        "conformance_levels_supported": [1, 2, 3],
        "transports_supported": ["sse"],
        "languages_supported": ["en-US"],
    }
)
STARTED = event("session.started", 0)
PROGRESS = [event("progress.updated", number) for number in range(20)]
PROMPT = event("awaiting.confirmation", 5, reply_token=token(5))


def goodbye(subscription_id: str = "sub_1", reason: str = "producer_shutdown", message: str | None = None) -> bytes:
    said = UNSET if message is None else message
    return codec.encode(SubscriptionClose(subscription_id=subscription_id, reason_code=reason, reason_message=said))


def rejected(code: Any, **members: Any) -> bytes:
    return codec.encode(SubscriptionRejected(reason_code=code, reason_message="No.", **members))


async def forever() -> None:
    await asyncio.Event().wait()


class Reader:
    """A subscriber, and all that it told."""

    def __init__(self, script: Script, **given: Any) -> None:
        self.statuses: list[Status] = []
        self.findings: list[Finding] = []
        self.delays: list[float] = []
        callbacks = {"on_status": self.statuses.append, "on_finding": self.findings.append, "sleep": self.sleep}
        self.subscriber = build_subscriber(script, random=lambda: 1.0, **(callbacks | given))

    async def sleep(self, delay: float) -> None:
        self.delays.append(delay)
        await asyncio.sleep(0)  # lets the others go on

    def kinds(self) -> list[str]:
        return [status.kind for status in self.statuses]

    def rules(self, severity: str = "error") -> list[str]:
        return [finding.rule for finding in self.findings if finding.severity == severity]


def heard(script: Script, **given: Any) -> tuple[list[str], Reader]:
    """The ids of all events until the producer ends, and the reader."""
    reader = Reader(script, **given)
    with reader.subscriber as subscriber:
        return [one.event_id for one in subscriber], reader


def names(*raws: bytes) -> list[str]:
    return [json.loads(raw)["event_id"] for raw in raws]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Every subscriber's thread is gone when its test is."""
    yield
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "aaep-subscriber":
            thread.join(LONG)
            assert not thread.is_alive()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.getLogger("aaep.subscriber").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("aaep.subscriber").setLevel(logging.NOTSET)


# -- the handshake -------------------------------------------------------------------------

SHOP = Extension(
    namespace="https://shop.example/aaep/v1", prefix="shop", context="https://shop.example/aaep/v1/context"
)


def test_the_request_names_every_capability() -> None:
    """VER-022, CAP-001, CF-052, CF-059; and it is sound under the strictest reading, which the script checks."""
    script = Script()
    heard(
        script,
        subscriber_id="nvda",
        name="NVDA",
        verbosity="terse",
        languages=["yo", "en-US"],
        max_events_per_second=5,
        boundaries=["paragraph", "completion"],
        exclude=["aaep:agent.progress.updated"],
        cognitive_load="low",
        pace_wpm=180,
        extensions=[SHOP],
        minimum_timeout=600,
    )
    (request,) = script.asked
    assert (request["subscriber_id"], request["subscriber_name"]) == ("nvda", "NVDA")
    assert request["aaep_version"] == "1.0.0"
    assert request["capabilities"] == {
        "max_events_per_second": 5,
        "preferred_verbosity": "terse",
        "languages": ["yo", "en-US"],
        "supports_confirmation_reply": True,
        "supports_clarification_reply": True,
        "coalesce_boundaries": ["paragraph", "completion"],
        "event_filters": {
            "include": ["aaep:agent.*", "attend:*", "shop:*"],
            "exclude": ["aaep:agent.progress.updated"],
        },
        "supported_conformance_levels": [1, 2, 3],
        "supported_extensions": [
            "https://aaep.readthedocs.io/extensions/attend/v1",
            "https://shop.example/aaep/v1",
        ],
        "cognitive_load": "low",
        "pace_wpm": 180,
        "accept_signed_manifests_only": False,
        "attend": {"minimum_timeout_seconds": 600, "start": True},
    }


def test_who_only_listens_says_so() -> None:
    """CF-011"""
    script = Script()
    heard(script, replies=False)
    asked = script.asked[0]["capabilities"]
    assert asked["supported_conformance_levels"] == [1]
    assert asked["supports_confirmation_reply"] is asked["supports_clarification_reply"] is False


def test_what_cannot_be_asked_is_told_before_anything_is_sent() -> None:
    with pytest.raises(LocalProtocolError, match="CAP-040"):
        Subscriber(Script(), terms=Terms(pace_wpm=5))
    with pytest.raises(AaepError, match="no transport"):
        listen("gopher://127.0.0.1")


def test_the_terms_are_there_when_it_is_ready() -> None:
    reader = Reader(Script([forever]), max_events_per_second=5)
    with reader.subscriber as subscriber:
        terms = subscriber.ready().wait(LONG)
        assert terms.max_events_per_second == 5
        assert subscriber.terms == terms
        assert subscriber.subscription_id == "sub_1"
        assert subscriber.producer == OFFER.producer
        assert subscriber.status.kind == "connected"


def test_a_refusal_says_why_and_what_to_do() -> None:
    script = Script(answers=[rejected("authentication_required")])
    with pytest.raises(SubscriptionRefused, match="Give a valid credential with --token") as error:
        heard(script)
    assert error.value.reason_code == "authentication_required"
    assert error.value.retry_after is None
    assert script.closed
    with pytest.raises(SubscriptionRefused):
        Reader(Script(answers=[rejected("rate_limit", retry_after_seconds=7)])).subscriber.ready().wait(LONG)


def test_a_refusal_when_coming_back_is_waited_out() -> None:
    """SUB-045: at least as long as it says."""
    script = Script(
        [STARTED, ChannelRefused("404", gone=True)], answers=[None, rejected("rate_limit", retry_after_seconds=70)]
    )
    got, reader = heard(script)
    assert got == names(STARTED)
    assert reader.delays == [70.0]
    assert len(script.asked) == 3


def test_no_common_language_is_tried_once_more_with_one_that_is_offered() -> None:
    """CF-045"""
    offer = Offer(producer=OFFER.producer, languages=("de-DE", "yo"))
    script = Script(offer=offer)
    script.languages = ["de-DE", "yo"]
    _, reader = heard(script, languages=["fr"], fallback_languages=["yo"])
    assert [one["capabilities"]["languages"] for one in script.asked] == [["fr"], ["fr", "yo"]]
    assert reader.subscriber.terms is not None
    assert reader.subscriber.terms.languages == ("yo",)


def test_terms_that_still_do_not_fit_are_refused() -> None:
    script = Script(answers=[rejected("capabilities_incompatible"), rejected("capabilities_incompatible")])
    script.languages = ["de-DE"]
    with pytest.raises(SubscriptionRefused, match="cannot give what we asked for"):
        heard(script, languages=["is"])
    assert len(script.asked) == 2


def accepted(**members: Any) -> bytes:
    given = {f"/{name}": value for name, value in members.items()}
    return vectors.message({"base": "subscription.accepted", "set": given})


def test_a_version_that_is_not_spoken_is_closed() -> None:
    """CF-047"""
    script = Script(answers=[accepted(subscription_id="sub_9", aaep_version="2.0.0")])
    with pytest.raises(SubscriptionRefused, match="version"):
        heard(script)
    (close,) = script.sent
    assert (close["subscription_id"], close["reason_code"]) == ("sub_9", "protocol_error")


def test_what_answers_but_is_no_producer_is_told() -> None:
    with pytest.raises(RemoteProtocolError, match="Check the address"):
        heard(Script(answers=[b"<html>"]))


def test_terms_wider_than_asked_are_reported_and_the_tighter_are_used() -> None:
    """CF-148"""
    wide = accepted(
        subscription_id="sub_1",
        honored_capabilities={"max_events_per_second": 50, "preferred_verbosity": "detailed", "languages": ["en-US"]},
    )
    _, reader = heard(Script(answers=[wide]), max_events_per_second=5, verbosity="terse")
    assert reader.subscriber.terms is not None
    assert reader.subscriber.terms.max_events_per_second == 5
    assert reader.subscriber.terms.preferred_verbosity == "terse"
    assert {"SUB-028", "SUB-029"} <= {*reader.rules()}


# -- iterating -----------------------------------------------------------------------------


def test_events_come_in_a_plain_loop() -> None:
    got, reader = heard(Script([STARTED, *PROGRESS[1:], goodbye()]))
    assert got == names(STARTED, *PROGRESS[1:])
    assert reader.kinds()[-1] == "ended"


def test_events_come_in_an_asynchronous_loop() -> None:
    async def main() -> list[str]:
        async with Subscriber(Script([STARTED, *PROGRESS[1:], goodbye()])) as subscriber:
            return [one.event_id async for one in subscriber]

    assert asyncio.run(main()) == names(STARTED, *PROGRESS[1:])


@pytest.mark.parametrize("last", [goodbye(), forever, ChannelLost("It broke.")], ids=["goodbye", "silence", "loss"])
def test_on_a_loop_that_is_given_it_needs_no_thread_and_leaves_nothing_behind(last: Step) -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        got = []
        script = Script([STARTED, *PROGRESS[1:], last], [forever])
        async with build_subscriber(script, loop=loop, sleep=lambda _: asyncio.sleep(0)) as subscriber:
            async for one in subscriber:
                assert "aaep-subscriber" not in [thread.name for thread in threading.enumerate()]
                got.append(one.event_id)
                if len(got) == 1 + len(PROGRESS[1:]):
                    break
        assert script.closed
        assert asyncio.all_tasks(loop) == {asyncio.current_task()}
        return got

    assert asyncio.run(main()) == names(STARTED, *PROGRESS[1:])


def test_an_asynchronous_reader_leaves_its_loop_free() -> None:
    async def main() -> str:
        async with Subscriber(Script([forever])) as subscriber:
            waiting = asyncio.ensure_future(anext(subscriber))
            await subscriber.ready()
            assert not waiting.done()
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):  # cancelled just now
                await waiting
            return subscriber.status.kind

    assert asyncio.run(main()) == "connected"


def pieces(*chunks: str, start: int = 0, complete: bool = False) -> list[bytes]:
    """An output in chunks that end nowhere."""
    made = []
    for number, chunk in enumerate(chunks, start=1):
        last = complete and number == len(chunks)
        hint = "completion" if last else "none"
        made.append(
            event(
                "output.streaming",
                number,
                chunk=chunk,
                position=start,
                complete=last,
                coalesce_hint=hint,
                urgency="normal",
            )
        )
        start += len(chunk)
    return made


def test_announcements_are_whole_sentences_and_never_none() -> None:
    script = Script([STARTED, *pieces("Your bal", "ance is ", "312.", complete=True), goodbye()])
    said = [one.text for one in Subscriber(script).announcements()]
    assert len(said) == 2 and said[1].endswith(": Your balance is 312.")


def test_announcements_come_in_an_asynchronous_loop_too() -> None:
    async def main() -> list[str]:
        script = Script([STARTED, *pieces("Your bal", "ance is ", "312.", complete=True), goodbye()])
        async with Subscriber(script) as subscriber:
            return [one.text async for one in subscriber.announcements()]

    said = asyncio.run(main())
    assert len(said) == 2 and said[1].endswith(": Your balance is 312.")


SHORTLY = Preferences(keys={}, progress_interval=0.05, progress_step=0.0)  # so what is held is due soon


def reports() -> list[Any]:
    return [
        event("progress.updated", number, progress={"percent": percent}, summary_normal=f"{percent} percent.")
        for number, percent in ((1, 10), (2, 60))
    ]


def test_the_last_progress_is_announced_though_no_event_follows_it() -> None:
    with Subscriber(Script([STARTED, *reports(), forever])) as subscriber:
        said = subscriber.announcements(SHORTLY)
        assert [next(said).text for _ in range(3)][1:] == ["10 percent.", "60 percent."]


def test_the_last_progress_is_announced_in_an_asynchronous_loop_too() -> None:
    async def main() -> list[str]:
        async with Subscriber(Script([STARTED, *reports(), forever])) as subscriber:
            said = subscriber.announcements(SHORTLY)
            return [(await anext(said)).text for _ in range(3)]

    assert asyncio.run(main())[1:] == ["10 percent.", "60 percent."]


def test_what_was_begun_when_the_connection_is_lost_is_announced_before_the_loss() -> None:
    script = Script([STARTED, *pieces("Your bal"), ChannelLost("It broke.")])
    said = []
    with pytest.raises(ChannelLost):
        for one in Subscriber(script, reconnect=False).announcements():
            said.append(one.text)  # what came before the loss is to be seen
    assert said[-1].endswith(": Your bal.")


def test_announcements_follow_the_terms_that_were_asked_for() -> None:
    started = event("session.started", 0, summary_terse="Moving.", summary_normal="Moving money.")
    said = [*Subscriber(Script([started, PROMPT, goodbye()]), verbosity="terse").announcements()]
    assert said[0].text == "Started. Moving."
    assert said[1].asks and said[1].keys == () and "Press" not in said[1].text
    asked = [*Subscriber(Script([STARTED, PROMPT, goodbye()])).announcements(Preferences(keys={"reject": "n"}))]
    assert asked[1].keys == (("n", "refuse"),)


def test_iterating_starts_by_itself_and_goes_on_where_it_was() -> None:
    subscriber = Subscriber(Script([STARTED, *PROGRESS[1:4], goodbye()]))
    for first in subscriber:
        assert first.event_id == names(STARTED)[0]
        break
    assert [one.event_id for one in subscriber] == names(*PROGRESS[1:4])
    assert [*subscriber] == []


def test_what_cannot_be_read_is_reported_and_the_stream_goes_on() -> None:
    garbage = [b"not json", b"[]", b'{"type":"aaep:agent.progress.updated"}', b"\xff\xfe", b'{"a":1,"a":2}']
    got, reader = heard(Script([STARTED, *garbage, PROGRESS[1], goodbye()]))
    assert got == names(STARTED, PROGRESS[1])
    assert {"ENC-001", "ENC-002", "VAL-001", "ENV-001"} <= {*reader.rules()}
    assert reader.subscriber.findings == tuple(reader.findings)


def test_types_that_are_not_known_are_passed_on() -> None:
    """ENV-011"""
    newer = event("progress.updated", 1, type="aaep:agent.dream.started")
    foreign = event("progress.updated", 2, **{"type": "shop:order", "@context": [CORE, "https://shop.example/c"]})
    with Subscriber(Script([STARTED, newer, foreign, goodbye()])) as subscriber:
        got = [*subscriber]
    assert [type(one) for one in got[1:]] == [UnknownEvent, ExtensionEvent]


CORE = "https://aaep-protocol.org/context/v1"
LATER = "2099-01-01T00:00:00.000Z"  # than any subscription of a test


def test_what_the_person_kept_out_stays_out_even_if_it_is_sent() -> None:
    """BP-003, CF-148; but nothing critical."""
    got, reader = heard(Script([STARTED, PROGRESS[1], PROMPT, goodbye()]), exclude=["aaep:agent.*"])
    assert got == names(PROMPT)
    assert "SUB-037" in reader.rules()


def test_a_breach_of_the_protocol_is_reported_and_heard() -> None:
    begun = event("session.started", 0, timestamp=LATER)
    stray = event("tool.completed", 1, tool_call_id="call_9", timestamp=LATER)
    got, reader = heard(Script([begun, stray, goodbye()]))
    assert got == names(begun, stray)
    assert reader.rules() == ["TOOL-010"]
    assert reader.subscriber.audit.events == 2


def test_what_was_said_before_it_subscribed_is_no_breach() -> None:
    """C-83: the session began long ago, and its tool was announced then."""
    got, reader = heard(Script([STARTED, event("tool.completed", 1, tool_call_id="call_9"), goodbye()]))
    assert len(got) == 2
    assert reader.rules() == []


def test_an_id_used_twice_is_reported() -> None:
    other = event("tool.invoked", 1)
    got, reader = heard(Script([STARTED, PROGRESS[1], other, PROGRESS[1], goodbye()]))
    assert got[:3] == names(STARTED, PROGRESS[1], other)
    assert "ENV-013" in reader.rules()


def test_an_event_that_comes_again_with_other_words_on_the_same_terms_is_reported() -> None:
    first, other = (event("tool.invoked", 1, summary_normal=text) for text in ("Looking.", "Sending."))
    got, reader = heard(Script([STARTED, first, ChannelLost("x")], [other]))
    assert got == names(STARTED, first, other)
    assert "ENV-013" in reader.rules()


def test_callbacks_that_fail_do_not_break_the_stream() -> None:
    def fail(_: object) -> None:
        raise RuntimeError

    got, _ = heard(Script([STARTED, b"garbage", PROGRESS[1], goodbye()]), on_finding=fail, on_status=fail)
    assert got == names(STARTED, PROGRESS[1])


def test_that_something_could_not_be_read_is_told_and_the_stream_goes_on() -> None:
    """SEC-009"""
    half = b'{"type":"aaep:agent.awaiting.confirmation","action":"Pay \\ud83d"}'
    got, reader = heard(Script([STARTED, half, PROGRESS[1], goodbye()]))
    assert got == names(STARTED, PROGRESS[1])
    assert [status.kind for status in reader.statuses] == ["connecting", "connected", "unread", "ended"]
    told = next(status for status in reader.statuses if status.kind == "unread")
    assert told.text.startswith("Something came that could not be read.")


def test_terms_cannot_be_changed_while_there_is_no_subscription() -> None:
    async def wait(_: float) -> None:
        with pytest.raises(ChannelLost, match="no connection at the moment"):
            await reader.subscriber._connection.renegotiate({"verbosity": "terse"})

    script = Script(
        [STARTED, ChannelRefused("Gone.", gone=True)], [ChannelRefused("Gone.", gone=True)], [goodbye("sub_3")]
    )
    reader = Reader(script, sleep=wait)
    assert [one.event_id for one in reader.subscriber] == names(STARTED)
    assert script.asked[-1]["type"] == "subscription.request"


def test_handshake_messages_of_a_producer_are_ignored() -> None:
    """CF-038"""
    change = b'{"type":"subscription.renegotiate","subscription_id":"sub_1","capabilities":{"cognitive_load":"low"}}'
    strange = goodbye("sub_77")
    got, reader = heard(Script([STARTED, change, strange, PROGRESS[1], goodbye()]))
    assert got == names(STARTED, PROGRESS[1])
    assert reader.rules() == []
    assert reader.subscriber.terms is not None
    assert reader.subscriber.terms.cognitive_load == "medium"


def test_a_slow_reader_slows_the_stream_and_loses_nothing() -> None:
    script = Script([*PROGRESS[1:], goodbye()])
    subscriber = Subscriber(script, runtime=SubscriberRuntime(max_queued_events=4))
    first = next(subscriber)
    for _ in range(100):  # give the link every chance to run ahead
        subscriber._connection.run_soon(asyncio.sleep(0)).wait(LONG)
    assert script.given <= 6
    assert [one.event_id for one in (first, *subscriber)] == names(*PROGRESS[1:])


def test_numbers_that_come_late_are_put_in_order() -> None:
    """TR-012"""
    raws = [event("progress.updated", number, sequence_number=number) for number in (0, 2, 1, 4)]
    got, reader = heard(Script([*raws, goodbye()]), clock=lambda: 0.0)
    assert got == [f"evt_{number:032d}" for number in (0, 1, 2, 4)]  # the last, though 3 never came
    assert "TR-009" in reader.rules()


# -- losing the connection -------------------------------------------------------------------


def test_a_lost_stream_is_resumed_after_the_last_event() -> None:
    script = Script([STARTED, PROGRESS[1], ChannelLost("Gone.")], [PROGRESS[1], PROGRESS[2]], [goodbye()])
    got, reader = heard(script)
    assert got == names(STARTED, PROGRESS[1], PROGRESS[2])
    assert script.joined == [("sub_1", after) for after in ("", *names(PROGRESS[1], PROGRESS[2]))]
    assert len(script.asked) == 1
    assert reader.kinds() == ["connecting", "connected", "waiting", "resumed", "waiting", "resumed", "ended"]


@pytest.mark.parametrize("loss", [ChannelLost("x"), ChannelRefused("404", gone=True)], ids=["resumed", "anew"])
def test_text_that_was_heard_before_a_loss_is_not_heard_again(loss: Exception) -> None:
    piece = event("output.streaming", 1, chunk="One. ", complete=False, coalesce_hint="sentence")
    whole = event("output.streaming", 2, chunk="One. Two.", event_id="evt_2m2")
    with Reader(Script([STARTED, piece, loss], [whole])).subscriber as subscriber:
        assert [one.chunk for one in subscriber if isinstance(one, OutputStreaming)] == ["One. ", "Two."]


def test_the_wait_grows_and_begins_again_after_a_success() -> None:
    lost = [ChannelLost("No.")]
    script = Script(*[lost] * 8, [STARTED, *lost], [goodbye()])
    _, reader = heard(script)
    assert reader.delays == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 0.5]
    waits = [status.retry for status in reader.statuses if status.kind == "waiting"]
    assert waits == reader.delays


def test_the_wait_begins_again_after_a_stream_on_which_nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "OPEN_AFTER", 0.0)

    async def stay() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    _, reader = heard(Script(*[[stay, ChannelLost("No.")]] * 3, [goodbye()]))
    assert reader.delays == [0.5, 0.5, 0.5]


def test_a_subscription_that_is_gone_with_its_connection_is_waited_for_once() -> None:
    gone = ChannelRefused("404", gone=True)
    _, reader = heard(Script([STARTED, ChannelLost("x")], [gone], [PROGRESS[1], goodbye("sub_2")]))
    assert reader.delays == [0.5]
    _, reader = heard(Script([STARTED, ChannelLost("x")], [gone], [gone], [gone], [PROGRESS[1], goodbye("sub_4")]))
    assert reader.delays == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("place", ["http://127.0.0.1:1", "http://localhost:1", "ws://[::1]:1", "unix:{}/none.sock"])
def test_on_this_machine_the_wait_stays_short_and_giving_up_is_said(place: str, tmp_path: Path) -> None:
    now, delays, statuses = [0.0], list[float](), list[Status]()

    async def sleep(delay: float) -> None:
        delays.append(delay)
        now[0] += delay

    subscriber = Subscriber(
        place.format(tmp_path),
        reconnect=Reconnect(give_up_after=60),
        runtime=SubscriberRuntime(clock=lambda: now[0], sleep=sleep, random=lambda: 1.0),
        on_status=statuses.append,
    )
    with pytest.raises(ChannelLost, match="Gave up after 1 minute without a connection\\. "):
        next(subscriber)
    assert delays[:4] == [0.5, 1.0, 2.0, 2.0] and max(delays) == 2.0
    assert 60 <= now[0] < 62
    assert statuses[-1].kind == "ended" and statuses[-1].text.startswith("Gave up after 1 minute")


def test_patience_begins_anew_with_each_connection() -> None:
    now = [0.0]

    async def sleep(delay: float) -> None:
        now[0] += delay
        await asyncio.sleep(0)

    lost = ChannelLost("No.")
    script = Script(*[[lost]] * 3, [STARTED, lost], *[[lost]] * 3, [PROGRESS[1], goodbye()])
    got, _ = heard(script, clock=lambda: now[0], sleep=sleep, give_up_after=5)
    assert got == names(STARTED, PROGRESS[1]), "7 seconds in all, and never 5 in a row"
    with pytest.raises(ChannelLost, match="Gave up after 5 seconds"):
        heard(Script(*[[lost]] * 9), clock=lambda: now[0], sleep=sleep, give_up_after=5)


def test_a_wait_is_not_in_step_with_others() -> None:
    script = Script([ChannelLost("No.")], [goodbye()])
    _, reader = heard(script, on_status=None)
    assert reader.delays == [0.5]
    reader = Reader(Script([ChannelLost("No.")], [goodbye()]))
    reader.subscriber._connection._random = lambda: 0.0
    assert [*reader.subscriber] == []
    assert reader.delays == [0.25]


def test_nobody_there_at_first_is_waited_for_unless_it_is_not_wanted() -> None:
    nobody = ChannelLost("Nobody answers.")
    got, reader = heard(Script([STARTED, goodbye("sub_3")], answers=[nobody, nobody]))
    assert got == names(STARTED)
    assert len(reader.delays) == 2
    with pytest.raises(ChannelLost, match="Nobody answers"):
        heard(Script(answers=[nobody]), at_start=False)


def test_without_reconnect_a_loss_ends_it() -> None:
    script = Script([STARTED, ChannelLost("Gone.")])
    reader = Reader(script, reconnect=False)
    assert next(reader.subscriber).event_id == names(STARTED)[0]
    with pytest.raises(ChannelLost, match="Gone"):
        next(reader.subscriber)
    assert [*reader.subscriber] == []


def test_a_subscription_that_is_gone_is_replaced_from_where_it_was() -> None:
    """CF-092, CF-084"""
    script = Script([STARTED, PROGRESS[1], ChannelLost("x")], [ChannelRefused("404", gone=True)], [PROGRESS[2]])
    got, reader = heard(script, minimum_timeout=90)
    last = names(PROGRESS[1])[0]
    assert got == names(STARTED, PROGRESS[1], PROGRESS[2])
    assert [one["capabilities"]["attend"] for one in script.asked] == [
        {"minimum_timeout_seconds": 90, "start": True},
        {"minimum_timeout_seconds": 90, "resume_after": last},
    ]
    assert script.joined[2] == ("sub_2", last)
    assert reader.subscriber.status.kind == "ended"


def test_a_stream_that_refuses_us_ends_it() -> None:
    with pytest.raises(ChannelRefused, match="403"):
        heard(Script([STARTED, ChannelRefused("403")]))


def test_an_earlier_run_is_resumed() -> None:
    script = Script([PROGRESS[2], goodbye()])
    _, reader = heard(script, resume_after="evt_old")
    assert script.asked[0]["capabilities"]["attend"] == {"resume_after": "evt_old"}
    assert script.joined == [("sub_1", "evt_old")]
    assert reader.subscriber.last_event_id == names(PROGRESS[2])[0]


def test_who_stops_before_the_last_event_resumes_after_the_one_it_had() -> None:
    script = Script([STARTED, PROGRESS[1], PROGRESS[2], goodbye()])
    reader = Reader(script, resume_after="evt_old")
    subscriber = reader.subscriber
    assert subscriber.last_event_id == "evt_old"
    assert next(subscriber).event_id == names(STARTED)[0]
    Waitable(subscriber._connection.done).wait(30)  # all has come, and waits to be taken
    assert subscriber.last_event_id == names(STARTED)[0]
    next(subscriber)
    assert subscriber.last_event_id == names(PROGRESS[1])[0]


def test_while_something_is_held_nobody_resumes_after_it() -> None:
    numbered = [event("progress.updated", number, sequence_number=number) for number in (1, 2, 3, 4)]
    began = event("session.started", 0, sequence_number=0)
    script = Script([began, numbered[1], numbered[2], numbered[0], numbered[3], goodbye()])
    reader = Reader(script)
    places = {one.event_id: reader.subscriber.last_event_id for one in reader.subscriber}
    assert [*places] == names(began, *numbered)
    assert [*places.values()] == [*names(began) * 3, *names(numbered[0], numbered[3])]


def test_a_catch_up_after_a_loss_is_told_as_a_gap() -> None:
    script = Script([STARTED, ChannelLost("x")], [resync(9, "thinking"), goodbye()])
    got, reader = heard(script)
    assert len(got) == 2
    assert "gap" in reader.kinds()
    assert reader.rules() == []
    _, reader = heard(Script([STARTED, resync(9, "thinking"), goodbye()]))
    assert "gap" not in reader.kinds()


def test_after_a_prompt_sent_ahead_what_was_missed_is_still_asked_for() -> None:
    """CF-091: prompts come first, so they do not say how far the reader got; nor do they confuse the audit."""
    moves = [
        event("state.changed", 1, from_state="idle", to_state="thinking"),
        event("state.changed", 4, from_state="thinking", to_state="awaiting_input"),
    ]
    ended = outcome(6, token(5), "rejected")
    script = Script([STARTED, ChannelLost("x")], [PROMPT, ChannelLost("x")], [PROMPT, *moves, PROMPT, ended])
    got, reader = heard(script)
    assert got == names(STARTED, PROMPT, *moves, ended)
    assert [after for _, after in script.joined][:3] == ["", *names(STARTED) * 2]
    assert reader.rules() + reader.rules("warning") == []


def test_what_is_wrong_with_a_prompt_sent_ahead_is_told_at_once_and_once() -> None:
    grave = event("awaiting.confirmation", 5, irreversible=True, risk_level="high", default_decision="accept")
    moved = event("state.changed", 4, from_state="thinking", to_state="awaiting_input")
    told: list[bool] = []

    async def look() -> None:
        told.append("HITL-006" in reader.rules())

    script = Script([grave, look, moved, outcome(6, token(5), "rejected")])
    reader = Reader(script)
    assert len([*reader.subscriber]) == 3
    assert told == [True]
    assert reader.rules().count("HITL-006") == 1


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("producer_shutdown", "Bank-assistant has ended."),
        ("superseded", "Another reader took over."),
    ],
)
def test_a_close_by_the_producer_ends_it(reason: str, words: str) -> None:
    """And is told in words; what stands on the wire is for programs."""
    script = Script([STARTED, goodbye(reason=reason), PROGRESS[1]])
    got, reader = heard(script)
    assert got == names(STARTED)
    assert script.sent == []
    assert reader.subscriber.status.text == words
    assert reader.subscriber.status.reason_code == reason


def test_why_a_producer_closed_is_said_once_and_what_else_it_says_too() -> None:
    for message, more in (("The agent's side is shutting down.", ""), ("Back\x1b[1m at nine.", " Back at nine.")):
        _, reader = heard(Script([goodbye(message=message)]))
        told = "Bank-assistant has ended."
        assert reader.subscriber.status.text == told + more


def test_a_reason_that_nobody_knows_is_told_as_it_is() -> None:
    with pytest.raises(SubscriptionRefused, match=r"refused the connection, full_moon: Tomorrow\. Ask whoever"):
        heard(Script([goodbye(reason="full_moon", message="Tomorrow.")]))


CODES = get_args(get_type_hints(SubscriptionRejected)["reason_code"])


@pytest.mark.parametrize("reason", [*CODES, "manifest_invalid", "authentication_expired", "slow_consumer"])
def test_why_a_subscription_is_refused_is_said_in_words(reason: str) -> None:
    error = SubscriptionRefused(reason, "Not now")
    assert error.reason_code == reason and reason not in str(error)
    assert str(error).startswith("The agent refused the connection: ") and ". Not now. " in str(error)


def test_a_close_for_cause_is_an_error() -> None:
    with pytest.raises(SubscriptionRefused, match="fewer replies"):
        heard(Script([STARTED, goodbye(reason="rate_violation")]))
    with pytest.raises(SubscriptionRefused, match="fresh credential"):
        heard(Script([STARTED, goodbye(reason="authentication_expired")]), reconnect=False)


def test_a_shutdown_may_be_waited_out() -> None:
    script = Script([STARTED, goodbye()], [PROGRESS[1], goodbye("sub_2", "superseded")])
    got, _ = heard(script, after_goodbye=True)
    assert got == names(STARTED, PROGRESS[1])
    assert [one["capabilities"].get("attend") for one in script.asked] == [
        {"start": True},
        {"resume_after": names(STARTED)[0]},
    ]


HUB = Offer(producer=ProducerInfo(agent_id="aaep-hub"), namespaces=OFFER.namespaces)


def test_a_hub_that_shuts_down_is_waited_for() -> None:
    """Its agents go on meanwhile."""
    script = Script([STARTED, goodbye()], [PROGRESS[1], goodbye("sub_2", "superseded")], offer=HUB)
    got, reader = heard(script)
    assert got == names(STARTED, PROGRESS[1])
    waited = next(one.text for one in reader.statuses if one.kind == "waiting")
    assert waited.startswith("The hub is shutting down. Trying again in ")
    got, _ = heard(Script([STARTED, goodbye()], [PROGRESS[1]], offer=HUB), reconnect=False)
    assert got == names(STARTED)


@pytest.mark.parametrize("reason", ["slow_consumer", "authentication_expired"])
def test_who_was_too_slow_or_has_a_new_credential_resumes_the_same_subscription(reason: str) -> None:
    """CF-083, CF-149"""
    script = Script([STARTED, goodbye(reason=reason)], [PROGRESS[1], goodbye()])
    got, _ = heard(script)
    assert got == names(STARTED, PROGRESS[1])
    assert script.joined == [("sub_1", ""), ("sub_1", names(STARTED)[0])]


def test_who_was_too_slow_and_may_not_reconnect_is_told() -> None:
    with pytest.raises(SubscriptionRefused, match="we were too slow"):
        heard(Script([STARTED, goodbye(reason="slow_consumer")]), reconnect=False)


# -- answering -----------------------------------------------------------------------------


def moment() -> float:
    return 1_779_632_551.342


def test_a_decision_is_sent_as_it_was_made_and_nothing_before_it() -> None:
    """SEC-007"""
    script = Script([STARTED, PROMPT, forever])
    with Subscriber(script, runtime=SubscriberRuntime(wall=moment)) as subscriber:
        next(subscriber)
        asked = next(subscriber)
        assert script.sent == []
        assert subscriber.prompts == (asked,)
        subscriber.accept(asked).wait(LONG)
        assert script.sent == [
            {
                "type": "confirmation.reply",
                "reply_token": token(5),
                "decision": "accept",
                "subscription_id": "sub_1",
                "timestamp": "2026-05-24T14:22:31.342Z",
                "decided_by": "user:local",
            }
        ]
        assert subscriber.prompts == (asked,)  # that it counted is for the outcome to say
        subscriber.reject(token(5), rationale="No.").wait(LONG)
    assert script.sent[1]["decision"] == "reject"
    assert script.sent[2]["type"] == "subscription.close"


@pytest.mark.parametrize(
    ("changes", "replies"),
    [
        ({}, 2),
        ({"action": "Wipe the disk."}, 1),
        ({"consequence": "All is gone."}, 1),
        ({"event_id": "evt_" + "9" * 32}, 1),
    ],
)
def test_an_answer_is_said_again_to_the_very_prompt_that_was_heard(changes: dict[str, Any], replies: int) -> None:
    """A lost yes is repeated; to anything else under its token the person has not agreed."""
    answered = threading.Event()

    async def until() -> None:
        await asyncio.to_thread(answered.wait, LONG)

    again = json.dumps({**json.loads(PROMPT), **changes}).encode()
    script = Script([STARTED, PROMPT, until, ChannelLost("x")], [again, goodbye()])
    reader = Reader(script)
    for one in reader.subscriber:
        if one.event_id == names(PROMPT)[0] and not answered.is_set():
            reader.subscriber.accept(one).wait(LONG)
            answered.set()
    assert [one["decision"] for one in script.sent if "decision" in one] == ["accept"] * replies


def test_an_answer_is_awaited_in_asyncio() -> None:
    question = event("awaiting.clarification", 5, accepted_response_kinds=["freetext"], choices=None)
    script = Script([question, forever])

    async def main() -> None:
        async with Subscriber(script) as subscriber:
            await subscriber.answer(await anext(subscriber), "Savings.")

    asyncio.run(main())
    assert script.sent[0]["response"] == "Savings."


def test_a_prompt_that_ended_cannot_be_answered() -> None:
    script = Script([PROMPT, outcome(6, token(5), "timed_out"), forever])
    with Subscriber(script) as subscriber:
        asked, _ = next(subscriber), next(subscriber)
        assert subscriber.prompts == ()
        with pytest.raises(LocalProtocolError, match="timed out"):
            subscriber.accept(asked)
    assert [one["type"] for one in script.sent] == ["subscription.close"]


def test_after_a_gap_only_prompts_that_were_sent_again_are_open() -> None:
    other = event("awaiting.confirmation", 6, reply_token=token(6), action="Another.")
    script = Script([PROMPT, other, ChannelLost("x")], [other, resync(9, "calling_tool"), forever])
    with Subscriber(script) as subscriber:
        got = [next(subscriber) for _ in range(3)]
        assert subscriber.prompts == (got[1],)


def test_a_prompt_whose_time_is_over_cannot_be_answered() -> None:
    now = [0.0]
    with Subscriber(Script([PROMPT, forever]), runtime=SubscriberRuntime(clock=lambda: now[0])) as subscriber:
        asked = next(subscriber)
        now[0] = 86_400.0
        assert subscriber.prompts == ()
        with pytest.raises(LocalProtocolError, match="time is over"):
            subscriber.accept(asked)


def test_who_only_listens_cannot_answer() -> None:
    with Subscriber(Script([PROMPT, forever]), replies=False) as subscriber:
        asked = next(subscriber)
        with pytest.raises(LocalProtocolError, match="CONF-063"):
            subscriber.accept(asked)


def test_a_reply_that_could_not_be_sent_says_so() -> None:
    script = Script([PROMPT, forever])

    async def lost(message: bytes) -> None:
        raise ChannelLost("The line is dead.")

    with Subscriber(script) as subscriber:
        asked = next(subscriber)
        script.send = lost  # type: ignore[method-assign]  # put in its place for this test
        with pytest.raises(ChannelLost, match="dead"):
            subscriber.accept(asked).wait(LONG)
        assert subscriber.prompts == (asked,)


def test_a_reply_after_the_end_is_refused() -> None:
    script = Script([PROMPT, forever])
    subscriber = Subscriber(script)
    asked = next(subscriber)
    subscriber.close()
    with pytest.raises(AaepError, match="has ended"):
        subscriber.accept(asked)


# -- changing terms --------------------------------------------------------------------------


def test_other_terms_are_asked_for_by_name_and_only_what_changes_is_sent() -> None:
    script = Script([STARTED, forever])
    with Subscriber(script) as subscriber:
        terms = subscriber.renegotiate(verbosity="detailed", minimum_timeout=600).wait(LONG)
        assert script.asked[1] == {
            "type": "subscription.renegotiate",
            "subscription_id": "sub_1",
            "capabilities": {"preferred_verbosity": "detailed", "attend": {"minimum_timeout_seconds": 600}},
        }
        assert terms.preferred_verbosity == "detailed"
        assert terms.unknown["attend"] == {"minimum_timeout_seconds": 600}
        assert subscriber.terms == terms


def test_an_event_that_comes_again_in_the_shape_of_the_new_terms_is_known() -> None:
    """C-85"""
    changed = threading.Event()

    async def then() -> None:
        await asyncio.to_thread(changed.wait, LONG)

    longer = event("progress.updated", 1, summary_normal="A longer text.")
    reader = Reader(Script([STARTED, PROGRESS[1], then, longer, PROGRESS[2], goodbye()]))
    with reader.subscriber as subscriber:
        subscriber.renegotiate(verbosity="detailed").wait(LONG)
        changed.set()
        assert [one.event_id for one in subscriber] == names(STARTED, PROGRESS[1], PROGRESS[2])
    assert reader.rules() == []


def test_a_change_that_is_refused_leads_back_to_the_old_terms() -> None:
    """CF-041: rather than to none."""
    script = Script([STARTED, forever], [PROGRESS[1], goodbye("sub_3")], answers=[None, rejected("unknown")])
    with Subscriber(script) as subscriber:
        assert next(subscriber).event_id == names(STARTED)[0]
        with pytest.raises(SubscriptionRefused):
            subscriber.renegotiate(verbosity="terse").wait(LONG)
        assert [one.event_id for one in subscriber] == names(PROGRESS[1])
    assert [one["type"] for one in script.asked] == [
        "subscription.request",
        "subscription.renegotiate",
        "subscription.request",
    ]
    assert script.asked[2]["capabilities"]["preferred_verbosity"] == "normal"


def test_what_cannot_be_renegotiated_is_told() -> None:
    with Subscriber(Script([forever]), terms=Terms(max_events_per_second=5)) as subscriber:
        with pytest.raises(TypeError, match="extensions"):
            subscriber.renegotiate(extensions=()).wait(LONG)  # type: ignore[call-arg]  # what is tested
        with pytest.raises(LocalProtocolError, match="cannot be taken back"):
            subscriber.renegotiate(max_events_per_second=None).wait(LONG)


# -- ending ----------------------------------------------------------------------------------


def test_closing_says_goodbye_once_and_ends_the_loop() -> None:
    script = Script([STARTED, forever])
    subscriber = Subscriber(script)
    next(subscriber)
    subscriber.close(text="Good night.")
    assert subscriber.close().done
    assert script.sent == [
        {
            "type": "subscription.close",
            "subscription_id": "sub_1",
            "reason_code": "subscriber_shutdown",
            "reason_message": "Good night.",
        }
    ]
    assert script.closed
    assert [*subscriber] == []
    assert subscriber.status == Status("ended", "Closed.")


def test_closing_from_another_thread_wakes_who_waits() -> None:
    subscriber = Subscriber(Script([forever]))
    subscriber.ready().wait(LONG)
    threading.Thread(target=subscriber.close).start()
    assert [*subscriber] == []


def test_closing_what_never_began_is_fine() -> None:
    script = Script()
    subscriber = Subscriber(script)
    subscriber.close()
    assert [*subscriber] == []
    assert script.asked == []
    with pytest.raises(AaepError, match="has ended"):
        subscriber.renegotiate(verbosity="terse")


def test_closing_while_nobody_answers_ends_the_waiting() -> None:
    async def dead(message: bytes) -> bytes:
        await forever()
        return b""

    script = Script()
    script.request = dead  # type: ignore[method-assign]  # put in its place for this test
    subscriber = Subscriber(script)
    ready = subscriber.ready()
    subscriber.close()
    with pytest.raises(AaepError, match="closed before"):
        ready.wait(LONG)
    assert script.sent == []


def test_what_was_under_way_when_it_was_closed_is_told() -> None:
    script = Script([PROMPT, forever])
    begun = threading.Event()

    async def slow(message: bytes) -> None:
        script.sent.append(json.loads(message))
        if script.sent[-1]["type"] == "confirmation.reply":
            begun.set()
            await forever()

    script.send = slow  # type: ignore[method-assign]  # put in its place for this test
    subscriber = Subscriber(script)
    sent = subscriber.accept(next(subscriber))
    assert begun.wait(LONG)
    subscriber.close()
    with pytest.raises(AaepError, match="closed before"):
        sent.wait(LONG)


class LateScript(Script):
    """A producer that answers a request only when it is told to."""

    def __init__(self) -> None:
        super().__init__([forever])
        self.may_answer = threading.Event()

    async def request(self, message: bytes) -> bytes:
        await asyncio.to_thread(self.may_answer.wait, LONG)
        return await super().request(message)


def test_a_subscriber_that_has_no_name_is_there_while_it_is_waited_for() -> None:
    script = LateScript()
    granted = Subscriber(script).ready()
    gc.collect()
    script.may_answer.set()
    assert granted.wait(LONG) is not None

    async def wait_for(waitable: Waitable[Any]) -> object:
        return await waitable

    async def run(script: LateScript) -> None:
        waiting = asyncio.ensure_future(wait_for(Subscriber(script).ready()))
        await asyncio.sleep(0)  # lets it begin to wait
        gc.collect()
        script.may_answer.set()
        assert await waiting

    asyncio.run(run(LateScript()))


def test_no_subscriber_stops_an_event_loop() -> None:
    async def run() -> None:
        async with Subscriber(Script([forever])) as subscriber:
            with pytest.raises(LocalProtocolError, match="`await`"):
                Waitable[None]().wait()
            with pytest.raises(LocalProtocolError, match="`async for`"):
                next(subscriber)
            with pytest.raises(LocalProtocolError, match="`async for`"):
                next(subscriber.announcements())

    asyncio.run(run())


def test_a_subscriber_that_is_forgotten_is_closed() -> None:
    script = Script([STARTED, forever])
    for _ in Subscriber(script):
        break
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "aaep-subscriber":
            thread.join(LONG)
    assert [one["type"] for one in script.sent] == ["subscription.close"]
    assert script.closed


def test_ctrl_c_is_heard_while_waiting() -> None:
    with Subscriber(Script([forever])) as subscriber:
        subscriber.ready().wait(LONG)
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()
            next(subscriber)


def test_forgetting_to_close_does_not_hang_the_interpreter() -> None:
    program = (
        "from tests.subscriber.test_subscriber import Script, STARTED, forever, Subscriber\n"
        "kept = Subscriber(Script([STARTED, forever]))\n"
        "print(next(kept).event_id)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == names(STARTED)
    assert done.stderr == ""


# -- all of it, mixed up -----------------------------------------------------------------------


class Unreliable(Script):
    """A producer that holds a session, and a line that breaks, repeats and garbles."""

    def __init__(self, raws: list[bytes], breaks: list[tuple[int, int, bool]]) -> None:
        super().__init__()
        self.raws, self.breaks = raws, breaks

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
        self.joined.append((subscription_id, after))
        known = names(*self.raws)
        start = known.index(after) + 1 if after else 0
        many, back, gone = self.breaks.pop(0) if self.breaks else (len(self.raws), 0, False)
        for raw in self.raws[max(0, start - back) : start + many]:
            yield ReceivedMessage(raw, json.loads(raw)["event_id"])
            yield ReceivedMessage(b"noise")
            yield ReceivedMessage(raw, json.loads(raw)["event_id"])
        if start + many < len(self.raws):
            raise ChannelRefused("404", gone=True) if gone else ChannelLost("x")
        yield ReceivedMessage(goodbye(subscription_id))


@settings(max_examples=40)
@given(legal(), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.booleans()), max_size=6))
def test_any_losses_and_repetitions_leave_a_session_whole(
    raws: list[bytes], breaks: list[tuple[int, int, bool]]
) -> None:
    reader = Reader(Unreliable(raws, breaks))
    with reader.subscriber as subscriber:
        got: list[Envelope] = [*subscriber]
    assert [one.event_id for one in got] == names(*raws)
    assert [one.chunk for one in got if isinstance(one, OutputStreaming)] == [
        json.loads(raw)["chunk"] for raw in raws if "chunk" in json.loads(raw)
    ]
    assert {*reader.rules()} <= {"ENC-001"}  # the noise
