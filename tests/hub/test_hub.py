"""The hub: one stream for equal terms, nothing lost on the way, nobody delayed by another."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, Literal
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from aaep.errors import AaepError, RemoteProtocolError
from aaep.hub import catch_up
from aaep.hub.face import SubscriptionGone, UnknownSubscription, UnreadableRequest
from aaep.hub.hub import Hub
from aaep.hub.sessions import SessionSnapshot
from aaep.hub.settings import HubSettings
from aaep.hub.stream import Subscription
from aaep.identity.peer import RELAY, REPLIER, Peer
from aaep.journal.base import JournalEntry
from aaep.journal.memory import MemoryJournal
from aaep.protocol import codec
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.events import (
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    ProducerInfo,
    ProgressUpdated,
    SessionCompleted,
    SessionStarted,
    StateChanged,
    ToolInvoked,
)
from aaep.protocol.fields import Message
from aaep.protocol.messages import (
    Capabilities,
    ConfirmationReply,
    EventFilters,
    Reply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from aaep.protocol.negotiation import Offer
from aaep.protocol.session import SessionState
from aaep.protocol.subscription import is_critical
from aaep.runtime.background import BackgroundLoop, Waitable

PRODUCER = ProducerInfo(agent_id="bank")
REPLIES: dict[str, Any] = {"supports_confirmation_reply": True, "supported_conformance_levels": (1, 2)}
WHOLE: dict[str, Any] = {"coalesce_boundaries": ("none",)}  # every chunk as it is
CHUNKS = ["a", "One. ", "Two. Th", "ree and four.\n\nFive", " six seven"]
STAMP = "2026-05-24T14:22:11.342Z"


def framed(event_id: str, data: bytes) -> bytes:
    return event_id.encode() + b" " + data + b"\n"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Reader:
    """An outlet that keeps what it is given."""

    def __init__(self, frame: Callable[[str, bytes], bytes] = framed) -> None:
        self.frame = frame
        self.writes: list[bytes] = []
        self.unread = 0  # what it claims to have lying about
        self.broken = False
        self.closed: list[SubscriptionClose | None] = []

    def write(self, data: bytes) -> None:
        if self.broken:
            raise ConnectionResetError
        assert not self.closed, "written to after its end"
        self.writes.append(data)

    def count_unsent_bytes(self) -> int:
        return self.unread

    def close(self, message: SubscriptionClose | None) -> None:
        self.closed.append(message)

    @property
    def ids(self) -> list[str]:
        return [line.split(b" ", 1)[0].decode() for line in b"".join(self.writes).splitlines()]

    @property
    def events(self) -> list[Any]:
        return [codec.decode(line.split(b" ", 1)[1]) for line in b"".join(self.writes).splitlines()]

    @property
    def text(self) -> str:
        return "".join(event.chunk for event in self.events if isinstance(event, OutputStreaming))

    @property
    def reason(self) -> str:
        assert len(self.closed) == 1 and self.closed[0] is not None
        return self.closed[0].reason_code


class Socket(Reader):
    """An outlet with a sink: all that lies about in it was written here, and not taken."""

    def __init__(self) -> None:
        super().__init__()
        self.sink = self
        self.stuck = False
        self.looks: list[int] = []  # after how many writes it was looked at

    def write(self, data: bytes) -> None:
        super().write(data)
        if self.stuck:
            self.unread += len(data)

    def count_unsent_bytes(self) -> int:
        self.looks.append(len(self.writes))
        return super().count_unsent_bytes()


class Agent:
    """A source: a session that is legal, as far as its tests let it."""

    ids = count(1)

    def __init__(self, world: World, *, audience: frozenset[str] | None = None) -> None:
        self.world = world
        self.session_id = f"sess_{next(self.ids)}"
        self.audience = audience
        self.order = SessionState(self.session_id)
        self.lock = threading.RLock()
        self.log: list[Any] = []
        self.replies: list[tuple[str, str]] = []
        self.pending: list[Envelope] = []
        self.sent: list[Envelope] = []
        self.state = "idle"
        self.texts: dict[str, str] = {}
        world.hub.open_session(self)
        self.emit(SessionStarted, summary_normal="Moving money.")

    def emit(self, kind: type[Any], *, withheld: bool = False, **members: Any) -> Any:
        with self.lock:
            event = kind(
                event_id=f"evt_{next(self.ids)}",
                session_id=self.session_id,
                timestamp=STAMP,
                producer=PRODUCER,
                **members,
            )
            assert [one for one in self.order.feed(event, 0.0) if one.rule.startswith("SEQ")] == []
            data = codec.encode(event)
            self.world.journal.append(event.event_id, self.session_id, data, at=self.world.clock())
            self.sent.append(event)
            self.world.hub.publish(self, event, data, withheld=withheld)
            return event

    def move(self, state: str) -> Any:
        before, self.state = self.state, state
        return self.emit(StateChanged, from_state=before, to_state=state)

    def say(self, chunk: str, *, output: str = "out_1", complete: bool = False) -> Any:
        position = len(self.texts.get(output, ""))
        self.texts[output] = self.texts.get(output, "") + chunk
        hint = "completion" if complete else UNSET
        return self.emit(
            OutputStreaming, chunk=chunk, position=position, complete=complete, output_id=output, coalesce_hint=hint
        )

    def progress(self, percent: int) -> Any:
        return self.emit(ProgressUpdated, progress={"percent": percent}, summary_normal=f"{percent} percent")

    def ask(self, *, withheld: bool = False) -> Any:
        self.move("awaiting_input")
        event = self.emit(
            AwaitingConfirmation,
            withheld=withheld,
            action="Transfer 500.",
            consequence="Money moves.",
            reply_token=f"rpl_{next(self.ids)}",
            timeout_seconds=60,
            default_decision="reject",
            urgency="critical",
        )
        self.pending.append(event)
        return event

    def end(self) -> Any:
        event = self.emit(SessionCompleted, summary_normal="Done.")
        self.world.hub.end_session(self)
        return event

    # what the hub calls

    def join(self, subscription: Subscription) -> SessionSnapshot:
        with self.lock:
            self.log.append(("joined", subscription.id))
            state = StateChanged(
                event_id=f"evt_{next(self.ids)}",
                session_id=self.session_id,
                timestamp=STAMP,
                producer=PRODUCER,
                from_state=self.state,
                to_state=self.state,
                context=("https://aaep-protocol.org/context/v1", ATTEND.context),
                extensions={"attend": {"resync": True}},
            )
            return SessionSnapshot(self.sent[0], [*self.pending], state, self.sent[-1].event_id)

    def terms_changed(self, subscription: Subscription) -> None:
        self.log.append(("changed", subscription.id))

    def subscription_ended(self, subscription_id: str) -> None:
        self.log.append(("left", subscription_id))

    def reply(self, message: Reply, via: str) -> None:
        self.replies.append((message.reply_token, via))

    def owns_token(self, token: str) -> bool:
        return any(getattr(event, "reply_token", None) == token for event in self.sent)

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        raise AssertionError("nobody asked for it")


class World:
    """A hub on the running loop, with a clock that is set by hand."""

    def __init__(self, **settings: Any) -> None:
        self.clock = Clock()
        self.journal = MemoryJournal()
        self.settings = HubSettings(**settings)
        self.hub = self.begin()

    def begin(self) -> Hub:
        """A hub; after another one, what a restart of the process would make of the journal."""
        offer = Offer(producer=PRODUCER, namespaces=(ATTEND.namespace,))
        self.hub = Hub(
            offer,
            self.journal,
            loop=asyncio.get_running_loop(),
            settings=self.settings,
            clock=self.clock,
            wall=self.clock,
        )
        return self.hub

    def subscribe(self, peer: Peer | None = None, attend: dict[str, Any] | None = None, **terms: Any) -> str:
        if attend is not None:
            terms["supported_extensions"] = (ATTEND.namespace,)
        asked = Capabilities(**terms)
        if attend is not None:
            asked.__dict__["unknown"] = {"attend": attend}
        request = SubscriptionRequest(aaep_version="1.0.0", subscriber_id="reader", capabilities=asked)
        answer = self.hub.subscribe(request, peer or Peer())
        assert isinstance(answer, SubscriptionAccepted)
        return answer.subscription_id

    def connect(
        self, id: str = "", *, after: str = "", peer: Peer | None = None, outlet: Reader | None = None
    ) -> Reader:
        outlet = outlet or Reader()
        found = self.hub.subscriptions.by_id(self.hub.connect(id, peer or Peer(), outlet, after))
        assert found is not None
        self.last = found
        return outlet

    def join(self, peer: Peer | None = None, **terms: Any) -> Reader:
        return self.connect(self.subscribe(peer, **terms), peer=peer)

    async def settle(self) -> None:
        """Until the loop has nothing left to do."""
        for _ in range(5):
            await asyncio.sleep(0)  # one turn

    async def pass_time(self, seconds: float, step: float | None = None) -> None:
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.clock.now = min(until, self.clock.now + (step or seconds))
            self.hub.run_due_timers()
            await self.settle()


def played(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(scene(), 60)

    asyncio.run(limited())


def scene(play: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs on a loop."""

    def test() -> None:
        played(play)

    test.__name__, test.__doc__ = play.__name__, play.__doc__
    return test


# -- one stream for equal terms ----------------------------------------------------------------


@scene
async def test_equal_terms_get_the_same_bytes_and_different_ones_their_own() -> None:
    world = World()
    one, two = world.join(**WHOLE), world.join(**WHOLE)
    other = world.join(event_filters=EventFilters(include=("aaep:agent.*",), exclude=("aaep:agent.output.*",)))
    agent = Agent(world)
    agent.say("Hel")
    agent.say("lo.")
    await world.settle()
    assert one.text == "Hello." and one.ids == [event.event_id for event in agent.sent]
    assert other.ids == [agent.sent[0].event_id]
    assert len(one.writes) == 1, "what is ready is written at once"
    assert one.writes[0] is two.writes[0]


@scene
async def test_each_transport_has_its_own_frames() -> None:
    world = World()
    id = world.subscribe(**WHOLE)
    one = world.join(**WHOLE)
    two = world.connect(id, outlet=Reader(lambda event_id, data: b"x " + data + b"\n"))
    Agent(world)
    await world.settle()
    assert one.ids[0].startswith("evt_") and two.ids == ["x"]


@scene
async def test_a_stream_ends_with_its_last_subscription() -> None:
    world = World()
    id = world.subscribe()
    assert "aaep_streams 1\n" in world.hub.metrics()
    world.hub.unsubscribe(SubscriptionClose(subscription_id=id, reason_code="subscriber_shutdown"), Peer())
    assert "aaep_streams 0\n" in world.hub.metrics()


class Slow(MemoryJournal):
    """A journal that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Callable[[], None]] = []

    def call_when_committed(self, call: Callable[[], None]) -> bool:
        self.calls.append(call)
        return True

    def kept(self) -> None:
        while self.calls:
            self.calls.pop()()


@scene
async def test_the_last_reader_leaves_while_the_journal_is_waited_for() -> None:
    world = World()
    world.journal = journal = Slow()
    world.begin()
    id = world.subscribe(**WHOLE)
    world.connect(id)
    failed: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failed.append(context))
    agent = Agent(world)
    await world.settle()
    world.hub.unsubscribe(SubscriptionClose(subscription_id=id, reason_code="subscriber_shutdown"), Peer())
    journal.kept()
    await world.settle()
    assert failed == []
    later = world.join(**WHOLE)
    agent.say("Still here. ")
    for _ in range(3):
        await world.settle()
        journal.kept()
    assert later.text == "Still here. "


class Lagging(Slow):
    """A journal that commits when it is waited for, and after which something more is said at once."""

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[str] = []
        self.speak: Callable[[], object] = lambda: None

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        super().append(event_id, session_id, data, at=at)
        self.pending.append(event_id)

    def flush(self) -> bool:
        self.pending.clear()
        self.speak()
        return True

    def read(
        self, after: str | None = None, *, session: str | None = None, limit: int = 1000, committed: bool = False
    ) -> list[JournalEntry]:
        entries = super().read(after, session=session, limit=limit)
        return [entry for entry in entries if not (committed and entry.event_id in self.pending)]


@scene
async def test_who_resumes_is_told_nothing_that_is_not_committed_and_misses_nothing() -> None:
    """If the process were killed then, the next one would not know after which event to go on."""
    world = World()
    world.journal = journal = Lagging()
    world.begin()
    agent = Agent(world)
    id = world.subscribe(**WHOLE)
    said = count(1)
    journal.speak = lambda: agent.say(f"{next(said)}. ")
    reader = world.connect(id, after=agent.sent[0].event_id)
    assert journal.pending and not {*reader.ids} & {*journal.pending}
    journal.speak = lambda: None
    journal.flush()
    for _ in range(3):
        await world.settle()
        journal.kept()
    assert [*dict.fromkeys(reader.ids)] == [event.event_id for event in agent.sent[1:]]


@scene
async def test_the_event_that_a_reader_starts_after_is_committed_when_it_is_named() -> None:
    world = World()
    world.journal = journal = Lagging()
    world.begin()
    agent = Agent(world)
    journal.speak = lambda: agent.say("On and on. ")
    asked = Capabilities(supported_extensions=(ATTEND.namespace,))
    asked.__dict__["unknown"] = {"attend": {"start": True}}
    answer = world.hub.subscribe(
        SubscriptionRequest(aaep_version="1.0.0", subscriber_id="reader", capabilities=asked), Peer()
    )
    start = json.loads(codec.encode(answer))["honored_capabilities"]["attend"]["start"]
    assert start == agent.sent[0].event_id
    assert journal.pending and start not in journal.pending


@scene
async def test_a_session_that_begins_while_its_reader_connects_is_heard_from_its_beginning() -> None:
    """CF-146: nothing comes before the beginning, and its prompt stays at its place (CF-091)."""
    world = World()
    id = world.subscribe(**WHOLE, supports_confirmation_reply=True)
    agent = Agent(world)
    agent.say("Hello. ")
    prompt = agent.ask()
    reader = world.connect(id)
    await world.settle()
    said = [event.event_id for event in agent.sent]
    assert reader.ids == said
    again = world.connect(id, after=said[0])
    await world.settle()
    assert again.ids == said[1:]
    has_it = world.connect(id, after=prompt.event_id)
    await world.settle()
    assert has_it.ids == said[said.index(prompt.event_id) :], "sent again, for it is still open (CF-007)"


@scene
async def test_coalesced_text_comes_out_when_its_time_has_come() -> None:
    world = World()
    reader = world.join()
    agent = Agent(world)
    agent.say("Hello. ")
    await world.settle()
    before = reader.text
    await world.pass_time(2.0)
    assert (before, reader.text) == ("", "Hello. ")


# -- joining -------------------------------------------------------------------------------------


@scene
async def test_who_joins_in_the_middle_is_told_the_start_the_prompts_and_the_state() -> None:
    world = World()
    agent = Agent(world)
    prompt = agent.ask()
    reader = world.join(**REPLIES)
    started, pending, state = reader.events
    assert (started, pending) == (agent.sent[0], prompt)
    assert (state.from_state, state.to_state) == ("awaiting_input", "awaiting_input")
    agent.pending.clear()
    agent.move("thinking")
    await world.settle()
    assert reader.ids[3:] == [agent.sent[-1].event_id]


@scene
async def test_what_is_published_between_subscribing_and_connecting_is_not_lost() -> None:
    world = World()
    id = world.subscribe(**WHOLE)
    whole = Agent(world)
    whole.end()
    begun = Agent(world)
    reader = world.connect(id)
    assert reader.ids == [event.event_id for event in [*whole.sent, *begun.sent]], "once each, and no state to repeat"


@scene
async def test_a_session_that_ends_while_a_reader_connects_is_told_before_what_follows() -> None:
    """The reader resumes after the last that it has, if the process is killed then."""
    world = World()
    id = world.subscribe(**WHOLE)
    ending = Agent(world)

    class Closing(Reader):
        def close(self, message: SubscriptionClose | None) -> None:
            super().close(message)
            ending.end()
            Agent(world).move("thinking")

    world.connect(id, outlet=Closing())
    reader = world.connect(id)
    assert reader.ids[-1] not in [event.event_id for event in ending.sent]
    assert ending.sent[-1].event_id in reader.ids


@scene
async def test_the_state_is_left_out_where_the_filters_leave_it_out() -> None:
    world = World()
    agent = Agent(world)
    agent.move("thinking")
    reader = world.join(event_filters=EventFilters(include=("aaep:agent.session.*",)))
    assert reader.ids == [agent.sent[0].event_id]


@scene
async def test_what_the_catch_up_tells_already_does_not_follow_it() -> None:
    """An event that is published while a reader joins is in the state it is told, or comes after; not both."""
    world = World()
    agent = Agent(world)
    agent.move("thinking")
    world.join()  # so that there is a stream, and events wait for the loop
    await world.settle()
    agent_state = agent.join

    def busy(subscription: Subscription) -> SessionSnapshot:
        agent.move("calling_tool")  # before the snapshot
        caught = agent_state(subscription)
        agent.move("thinking")  # after it
        return caught

    agent.join = busy  # type: ignore[method-assign]  # put in its place for this test
    reader = world.join()
    await world.settle()
    states = [(event.from_state, event.to_state) for event in reader.events if isinstance(event, StateChanged)]
    assert states == [("thinking", "calling_tool"), ("calling_tool", "calling_tool"), ("calling_tool", "thinking")]


@scene
async def test_what_is_held_for_others_does_not_follow_the_state_it_led_to() -> None:
    world = World()
    terms = {"max_events_per_second": 1, **WHOLE}
    world.join(**terms)
    agent = Agent(world)
    for state in ("thinking", "deciding"):
        agent.move(state)
        await world.settle()
    reader = world.join(**terms)
    agent.move("thinking")
    await world.pass_time(20.0, 0.5)
    states = [(event.from_state, event.to_state) for event in reader.events if isinstance(event, StateChanged)]
    assert states == [("idle", "deciding"), ("deciding", "deciding"), ("deciding", "thinking")]


@scene
async def test_a_source_that_fails_does_not_keep_a_reader_from_the_others() -> None:
    world = World()
    bad, good = Agent(world), Agent(world)
    bad.join = lambda _: 1 / 0  # type: ignore[method-assign,assignment,return-value]  # put in its place for this test
    logging.disable()
    try:
        reader = world.join()
    finally:
        logging.disable(logging.NOTSET)
    assert reader.ids[0] == good.sent[0].event_id


@scene
async def test_who_was_cut_off_while_being_told_how_things_stand_is_told_again() -> None:
    world = World()
    agents = [Agent(world), Agent(world)]
    for agent in agents:
        agent.move("thinking")
    id = world.subscribe(**WHOLE)
    reader = world.connect(id)
    begun = {agent.sent[0].event_id for agent in agents}
    assert begun < set(reader.ids) and len(reader.ids) == 4
    again = world.connect(id, after=reader.ids[0])
    assert begun < set(again.ids) and len(again.ids) == 4
    assert world.connect(id, after=again.ids[-1]).ids == [], "it has heard everything"


# -- requests that cost too much -------------------------------------------------------------------


LONG_LISTS: dict[str, Any] = {
    "languages": ["en-US"] * 65,
    "supported_conformance_levels": [1] * 17,
    "coalesce_boundaries": ["sentence"] * 65,
    "supported_extensions": [f"https://a.example/{number}" for number in range(65)],
    "event_filters": {"include": ["aaep:agent.session.*"] * 650},
}


def raw_request(**capabilities: Any) -> bytes:
    members = {"aaep_version": "1.0.0", "subscriber_id": "reader", "capabilities": capabilities}
    return json.dumps({"type": "subscription.request", **members}).encode()


@scene
async def test_a_list_that_no_reader_needs_is_refused_by_name() -> None:
    """T4: looking at each item takes time that others wait."""
    world = World()
    for name, value in LONG_LISTS.items():
        answer = world.hub.receive(raw_request(**{name: value}), Peer(), (SubscriptionRequest,))
        assert isinstance(answer, SubscriptionRejected)
        assert answer.reason_message.startswith(f"{name} has too many entries. Send at most ")
    id = world.subscribe(**WHOLE)
    for name, value in LONG_LISTS.items():
        change = {"type": "subscription.renegotiate", "subscription_id": id, "capabilities": {name: value}}
        changed = world.hub.receive(json.dumps(change).encode(), Peer(), (SubscriptionRenegotiate,))
        assert isinstance(changed, SubscriptionAccepted) and name in str(changed.negotiation_notes)


@scene
async def test_a_handshake_is_not_read_beyond_64_kib() -> None:
    world = World()
    long = raw_request(attend={"x": "x" * 70_000})
    with pytest.raises(UnreadableRequest) as refused:
        world.hub.receive(long, Peer(), (SubscriptionRequest,))
    assert "Send at most 65,536." in refused.value.rejected.reason_message
    id = world.subscribe(**WHOLE)
    change = {"type": "subscription.renegotiate", "subscription_id": id, "capabilities": {"x": {"y": "z" * 70_000}}}
    with pytest.raises(RemoteProtocolError):
        world.hub.receive(json.dumps(change).encode(), Peer(), (SubscriptionRenegotiate,))


@scene
async def test_nothing_is_kept_of_a_request_but_what_could_be_granted() -> None:
    world = World()
    many: list[list[str]] = [[] for _ in range(1000)]
    namespaces = [ATTEND.namespace]
    raw = raw_request(attend={"x": many}, other={"x": many}, supported_extensions=namespaces, max_events_per_second=5)
    answer = world.hub.receive(raw, Peer(), (SubscriptionRequest,))
    assert isinstance(answer, SubscriptionAccepted)
    kept = world.hub.subscriptions.by_id(answer.subscription_id)
    assert kept is not None and "[]" not in repr((kept.requested_capabilities.__dict__, kept.terms.__dict__))
    assert kept.requested_capabilities.max_events_per_second == 5


def test_refused_replies_are_counted_and_not_logged_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    """SEC-017, T4: the log tells of them, and cannot be filled with them."""
    forged = ConfirmationReply(reply_token="rpl_0", decision="accept", subscription_id="sub_0", timestamp=STAMP)

    async def forge() -> None:
        world = World()
        for _ in range(500):
            world.hub.reply(forged, Peer())
        await world.pass_time(61.0)
        world.hub.reply(forged, Peer())

    with caplog.at_level(logging.INFO, "aaep.hub"):
        played(forge)
    told = [line for line in caplog.messages if line.startswith("A reply was refused")]
    assert [line.rpartition(" ")[2] for line in told] == ["1.", "501."]


# -- resuming ------------------------------------------------------------------------------------


@scene
async def test_a_reader_goes_on_after_the_last_event_it_saw() -> None:
    world = World()
    id = world.subscribe(**WHOLE)
    agent = Agent(world)
    first = world.connect(id)
    for number in range(5):
        agent.say(f"{number} ")
    await world.settle()
    world.hub.disconnect(world.last.id, first)
    agent.say("away ")
    again = world.connect(id, after=agent.sent[2].event_id)
    agent.say("back ")
    await world.settle()
    assert again.ids == [event.event_id for event in agent.sent[3:]]


@scene
async def test_a_prompt_that_was_missed_stands_at_its_place() -> None:
    """§8.2.3: what led to a question comes before the question (CF-091)."""
    for ring in (1000, 1):  # from memory, and from the journal
        world = World(ring_size=ring)
        id = world.subscribe(**WHOLE, **REPLIES)
        agent = Agent(world)
        other = Agent(world)
        world.connect(id)
        agent.say("One. ")
        agent.ask()
        other.say("Two. ")
        await world.settle()
        again = world.connect(id, after=other.sent[0].event_id)
        sent = [event.event_id for event in [*agent.sent[1:], *other.sent[1:]]]
        # The journal does not know whether what is a moment older went out before.
        assert [event_id for event_id in again.ids if event_id in sent] == sent


@scene
async def test_a_prompt_that_was_missed_while_nobody_had_connected_stands_at_its_place() -> None:
    world = World()
    agent = Agent(world)
    agent.say("Before. ")
    await world.settle()
    reader_id = world.subscribe(**WHOLE, **REPLIES)
    missed = [agent.say("One. ").event_id]
    prompt = agent.ask()
    missed += [agent.sent[-2].event_id, prompt.event_id]
    reader = world.connect(reader_id)
    assert reader.ids[:-1] == [agent.sent[0].event_id, *missed], "the start, what was missed, and then the state"


@scene
async def test_what_stands_before_an_open_prompt_does_not_wait_for_the_rate() -> None:
    """CF-091: it is merged and sent at once; what follows the prompt is paced."""
    for ring in (1000, 1):
        world = World(ring_size=ring)
        id = world.subscribe(max_events_per_second=1, **WHOLE, **REPLIES)
        agent = Agent(world)
        reader = world.connect(id)
        await world.settle()
        world.hub.disconnect(world.last.id, reader)
        for percent in range(10):
            agent.progress(percent)
        prompt = agent.ask()
        after = [agent.emit(ToolInvoked, tool="look", summary_normal="Looking.").event_id for _ in range(2)]
        await world.settle()
        again = world.connect(id, after=agent.sent[0].event_id)
        assert again.ids[-1] == prompt.event_id and 1 < len(again.ids) < 8
        order = [event.event_id for event in agent.sent]
        heard = [order.index(event_id) for event_id in again.ids if event_id in order]
        assert heard == sorted(heard)
        await world.pass_time(60.0, 0.5)
        assert again.ids[-2:] == after


@scene
async def test_resuming_after_a_prompt_that_was_sent_again_loses_nothing() -> None:
    """CF-007: it is open still, so it is sent again; that the reader has it says nothing of what followed."""
    world = World()
    id = world.subscribe(**WHOLE, **REPLIES)
    agent = Agent(world)
    reader = world.connect(id)
    prompt = agent.ask()
    await world.settle()
    world.hub.disconnect(world.last.id, reader)
    agent.say("One. ")
    agent.say("Two. ")
    expected = [prompt.event_id, agent.sent[-1].event_id]
    assert world.connect(id, after=agent.sent[-2].event_id).ids == expected
    assert world.connect(id, after=prompt.event_id).ids == expected


@scene
async def test_resuming_after_a_summary_of_the_state_loses_nothing() -> None:
    world = World()
    agent = Agent(world)
    agent.move("thinking")
    id = world.subscribe(**WHOLE)
    reader = world.connect(id)
    resync = reader.ids[-1]
    world.hub.disconnect(world.last.id, reader)
    agent.say("Away. ")
    agent.end()
    again = world.connect(id, after=resync)
    assert again.ids == [event.event_id for event in agent.sent[2:]]


@scene
async def test_a_merged_event_is_a_place_to_resume_after() -> None:
    world = World()
    id = world.subscribe()
    agent = Agent(world)
    reader = world.connect(id)
    for chunk in ("Hel", "lo. The", " end"):
        agent.say(chunk)
    await world.settle()
    merged = reader.ids[-1]
    assert "m" in merged.removeprefix("evt_") or len(reader.ids) > 1
    again = world.connect(id, after=merged)
    agent.say(".", complete=True)
    await world.settle()
    assert reader.text + again.text == "Hello. The end."


@scene
async def test_an_older_place_is_read_from_the_journal() -> None:
    world = World(ring_size=3)
    id = world.subscribe(**WHOLE)
    agent = Agent(world)
    reader = world.connect(id)
    for number in range(20):
        agent.say(f"{number} ")
        await world.settle()
    assert len(reader.ids) == 21
    again = world.connect(id, after=agent.sent[2].event_id)
    agent.say("live")
    await world.settle()
    assert again.ids == [event.event_id for event in agent.sent[3:]]


@scene
async def test_a_place_of_an_earlier_run_is_read_from_the_journal() -> None:
    world = World()
    agent = Agent(world)
    agent.say("One. ")
    agent.say("Two. ")
    world.begin()
    reader = world.join(**WHOLE, attend={"resume_after": agent.sent[1].event_id})
    assert reader.ids == [agent.sent[2].event_id]


@scene
async def test_text_that_another_session_overtook_is_read_again() -> None:
    """One session's half sentence was held when the other's event went out; then the process died."""
    world = World()
    reader = world.join()
    one, two = Agent(world), Agent(world)
    one.say("Half a ")
    await world.settle()
    last = two.move("thinking")
    await world.settle()
    assert reader.ids[-1] == last.event_id and reader.text == ""
    one.say("sentence.", complete=True)
    world.begin()
    again = world.join(attend={"resume_after": last.event_id})
    assert again.text == "Half a sentence."


@scene
async def test_the_rest_of_an_event_that_was_cut_is_read_from_the_journal() -> None:
    world = World()
    reader = world.join()
    agent = Agent(world)
    agent.say("Two. Th")
    await world.settle()
    assert reader.text == "Two. "
    agent.say("ree.", complete=True)
    world.begin()
    again = world.join(attend={"resume_after": reader.ids[-1]})
    assert heard_of([*reader.events, *again.events], agent) == agent.texts


@scene
async def test_a_prompt_that_nobody_could_answer_is_not_shown_afterwards() -> None:
    world = World()
    agent = Agent(world)
    prompt = agent.ask(withheld=True)
    told = agent.emit(
        StateChanged,
        context=("https://aaep-protocol.org/context/v1", ATTEND.context),
        from_state="awaiting_input",
        to_state="thinking",
        extensions={"attend": {"reply_token": prompt.reply_token, "outcome": "no_reply_channel"}},
    )
    agent.end()
    reader = world.join(**WHOLE, attend={"resume_after": agent.sent[0].event_id})
    assert told.event_id in reader.ids and prompt.event_id not in reader.ids


@scene
async def test_who_has_seen_nothing_gets_everything_since_it_subscribed() -> None:
    """What was written to a connection that broke may never have arrived."""
    for ring in (2, 1000):
        world = World(ring_size=ring)
        earlier = Agent(world)
        earlier.end()
        id = world.subscribe(**WHOLE)
        agent = Agent(world)
        world.connect(id)
        for _ in range(4):
            agent.say("One. ")
            await world.settle()
        agent.end()
        assert world.connect(id).ids == [event.event_id for event in agent.sent]


@scene
async def test_the_first_subscriber_of_a_run_does_not_get_what_was_before_it() -> None:
    world = World(ring_size=2)
    Agent(world).end()
    world.begin()
    id = world.subscribe(**WHOLE)
    agent = Agent(world)
    for _ in range(4):
        agent.say("One. ")
    agent.end()
    await world.settle()
    assert world.connect(id).ids == [event.event_id for event in agent.sent]


@scene
async def test_an_unknown_place_means_catching_up() -> None:
    """SSE-020"""
    world = World()
    id = world.subscribe(**WHOLE)
    agent = Agent(world)
    agent.move("thinking")
    world.connect(id)
    await world.settle()
    reader = world.connect(id, after="evt_nobodyknows")
    started, state = reader.events
    assert started == agent.sent[0] and (state.from_state, state.to_state) == ("thinking", "thinking")


@scene
async def test_an_unknown_place_means_catching_up_with_an_idle_session_too() -> None:
    """SSE-020; to who only begins, the start says that the session is idle"""
    world = World()
    id = world.subscribe(**WHOLE)
    agent = Agent(world)
    assert world.connect(id).ids == world.join(**WHOLE).ids == [agent.sent[0].event_id]
    started, state = world.connect(id, after="evt_nobodyknows").events
    assert started == agent.sent[0] and (state.from_state, state.to_state) == ("idle", "idle")


@scene
async def test_more_than_may_be_read_at_once_means_catching_up() -> None:
    world = World(ring_size=3, max_replay_entries=10)
    id = world.subscribe(**WHOLE)
    agent = Agent(world)
    world.connect(id)
    for number in range(20):
        agent.say(f"{number} ")
        await world.settle()
    reader = world.connect(id, after=agent.sent[2].event_id)
    assert reader.ids[0] == agent.sent[0].event_id and len(reader.ids) == 2


@scene
async def test_a_replay_keeps_to_the_rate_and_a_critical_event_does_not_wait_for_it() -> None:
    world = World()
    id = world.subscribe(max_events_per_second=1, **WHOLE, **REPLIES)
    agent = Agent(world)
    reader = world.connect(id)
    await world.settle()
    world.hub.disconnect(world.last.id, reader)
    for _ in range(6):
        agent.emit(ToolInvoked, tool="look", summary_normal="Looking.")
        await world.pass_time(1.5)
    again = world.connect(id, after=agent.sent[0].event_id)
    assert len(again.ids) == 1
    await world.pass_time(1.0, 0.1)
    assert len(again.ids) == 2
    prompt = agent.ask()
    await world.settle()
    assert again.ids[-1] == prompt.event_id
    assert [one for one in again.ids if one in {e.event_id for e in agent.sent}] == [
        event.event_id for event in agent.sent[1:]
    ]
    await world.pass_time(30.0, 0.5)
    assert not again.closed


# -- lost, closed, gone ---------------------------------------------------------------------------


@scene
async def test_a_lost_reader_has_the_resume_window_and_no_more() -> None:
    """TR-018"""
    world = World()
    agent = Agent(world)
    id = world.subscribe(**REPLIES)
    reader = world.connect(id)
    world.hub.disconnect(world.last.id, reader)
    await world.pass_time(29.0)
    assert ("left", id) not in agent.log and world.hub.eligible_repliers(agent, "confirmation") == {id}
    await world.pass_time(2.0)
    assert ("left", id) in agent.log and world.hub.eligible_repliers(agent, "confirmation") == set()
    with pytest.raises(SubscriptionGone):
        world.connect(id)


@scene
async def test_who_comes_back_in_time_stays() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**REPLIES)
    reader = world.connect(id)
    world.hub.disconnect(world.last.id, reader)
    await world.pass_time(29.0)
    world.connect(id)
    await world.pass_time(60.0)
    assert ("left", id) not in agent.log


@scene
async def test_each_loss_begins_a_window_of_its_own() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**REPLIES)
    for _ in range(3):
        reader = world.connect(id)
        world.hub.disconnect(world.last.id, reader)
        await world.pass_time(20.0)
    assert ("left", id) not in agent.log


@scene
async def test_who_never_connects_is_forgotten() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**REPLIES)
    await world.pass_time(31.0)
    assert agent.log == [("left", id)] and "aaep_subscriptions 0\n" in world.hub.metrics()


@scene
async def test_the_newest_reader_wins() -> None:
    """TERM-027"""
    world = World()
    id = world.subscribe(**WHOLE)
    older = world.connect(id)
    former = world.last
    newer = world.connect(id)
    Agent(world)
    await world.settle()
    assert older.reason == "superseded" and older.ids == [] and len(newer.ids) == 1
    world.hub.disconnect(former.id, older)  # comes late, and is about the older one
    Agent(world)
    await world.settle()
    assert len(newer.ids) == 2


@scene
async def test_a_subscriber_that_closes_is_gone_at_once() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**REPLIES)
    reader = world.connect(id)
    message = SubscriptionClose(subscription_id=id, reason_code="subscriber_shutdown")
    world.hub.unsubscribe(message, Peer(principal="somebody else"))
    assert not reader.closed
    world.hub.unsubscribe(message, Peer())
    assert reader.closed == [None] and agent.log[-1] == ("left", id)
    with pytest.raises(SubscriptionGone):
        world.connect(id)
    with pytest.raises(UnknownSubscription) as told:
        world.connect(id, peer=Peer(principal="somebody else"))
    assert not isinstance(told.value, SubscriptionGone)


@scene
async def test_there_is_a_limit_to_subscriptions() -> None:
    world = World(max_subscriptions=1)
    world.subscribe()
    request = SubscriptionRequest(aaep_version="1.0.0", subscriber_id="reader", capabilities=Capabilities())
    answer = world.hub.subscribe(request, Peer())
    assert isinstance(answer, SubscriptionRejected) and answer.reason_code == "rate_limit"
    with pytest.raises(UnknownSubscription):
        world.connect()


@scene
async def test_a_bare_stream_is_read_only_and_ends_with_its_connection() -> None:
    world = World()
    agent = Agent(world)
    reader = world.connect()
    assert reader.ids[0] == agent.sent[0].event_id
    assert world.hub.eligible_repliers(agent, "confirmation") == set()
    token = agent.ask().reply_token
    world.hub.reply(replied(token, world.last.id), Peer())
    assert agent.replies == []
    world.hub.disconnect(world.last.id, reader)
    assert "aaep_subscriptions 0\n" in world.hub.metrics()
    with pytest.raises(UnknownSubscription):
        World(allow_bare=False).connect()


# -- slow readers ----------------------------------------------------------------------------------


@scene
async def test_a_stalled_reader_does_not_delay_a_healthy_one_and_gets_what_it_missed_made_short() -> None:
    world = World()
    agent = Agent(world)
    stalled, healthy = world.join(**WHOLE), world.join(**WHOLE)
    before = len(stalled.ids)
    stalled.unread = 10_000_000
    for number in range(1, 50):
        agent.say(f"{number} ")
        await world.settle()
    for number in range(1, 50):
        agent.progress(number)
        await world.settle()
    prompt = agent.ask()
    await world.settle()
    assert len(stalled.ids) == before and healthy.ids[-1] == prompt.event_id
    stalled.unread = 0
    await world.pass_time(0.1)
    assert stalled.text == healthy.text and prompt.event_id in stalled.ids
    assert len(stalled.ids) < len(healthy.ids) / 4
    agent.say("live")
    await world.settle()
    assert stalled.ids[-1] == healthy.ids[-1] and not stalled.closed


@scene
async def test_a_stalled_hub_gets_everything_it_missed_as_it_was() -> None:
    world = World()
    agent = Agent(world)
    relay = Peer("hub", "hub", roles=frozenset({REPLIER, RELAY}))
    hub = world.connect(world.subscribe(**WHOLE, peer=relay), peer=relay)
    await world.settle()
    hub.unread = 10_000_000
    for number in range(1, 9):
        agent.progress(number)
        await world.settle()
    agent.move("thinking")
    agent.move("deciding")
    hub.unread = 0
    await world.pass_time(0.1)
    assert hub.ids == [event.event_id for event in agent.sent]


@scene
async def test_a_sink_is_looked_at_now_and_then_and_never_holds_much_more_than_it_may() -> None:
    world = World(high_water_bytes=40_000)
    agent = Agent(world)
    stuck = Socket()
    healthy = world.join(**WHOLE)
    world.connect(world.subscribe(**WHOLE), outlet=stuck)
    stuck.stuck = True
    stuck.looks.clear()
    for number in range(200):
        agent.say(f"{number} ")
        await world.settle()
    assert 40_000 < stuck.unread < 40_000 * 1.25 + len(healthy.writes[-1])
    looks = [one for one in stuck.looks if one < len(stuck.writes)]
    assert 0 < len(looks) < len(stuck.writes) / 10 and not stuck.closed
    stuck.stuck, stuck.unread = False, 0
    await world.pass_time(0.1)
    assert stuck.text == healthy.text


@scene
async def test_an_event_is_framed_once_for_all_terms_that_leave_it_as_it_is() -> None:
    world, made = World(), []

    def noted(event_id: str, data: bytes) -> bytes:
        made.append(event_id)
        return framed(event_id, data)

    agent = Agent(world)
    terms: tuple[dict[str, Any], ...] = (WHOLE, {"cognitive_load": "high"})
    readers = [world.connect(world.subscribe(**each), outlet=Reader(noted)) for each in terms]
    made.clear()
    for number in range(3):
        agent.progress(number)
    await world.settle()
    sent = [event.event_id for event in agent.sent[-3:]]
    assert all(reader.ids[-3:] == sent for reader in readers)
    assert made == sent


@scene
async def test_a_reader_that_stays_stalled_is_let_go_and_may_resume() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**WHOLE, **REPLIES)
    reader = world.connect(id)
    seen = reader.ids[-1]
    reader.unread = 10_000_000
    prompt = agent.ask()
    await world.settle()
    await world.pass_time(9.0, 0.5)
    assert not reader.closed
    await world.pass_time(2.0, 0.5)
    assert reader.reason == "slow_consumer"
    assert "aaep_slow_consumers_total 1\n" in world.hub.metrics()
    again = world.connect(id, after=seen)
    assert {prompt.event_id} < set(again.ids) and set(again.ids) == {event.event_id for event in agent.sent[1:]}


@scene
async def test_a_reader_that_falls_out_of_the_ring_resumes_from_the_journal_with_every_critical_event() -> None:
    world = World(ring_size=10)
    agent = Agent(world)
    id = world.subscribe(**WHOLE)
    reader = world.connect(id)
    agent.say("One. ")
    await world.settle()
    seen = reader.ids[-1]
    reader.unread = 10_000_000
    for _ in range(3):
        agent.emit(ToolInvoked, tool="pay", summary_normal="Paying.", urgency="critical")
        for _ in range(5):
            agent.say("More. ")
        await world.settle()
    await world.pass_time(0.1)
    assert reader.reason == "slow_consumer"
    again = world.connect(id, after=seen)
    assert again.ids == [event.event_id for event in agent.sent[2:]]
    assert sum(is_critical(event) for event in again.events) == 3


@scene
async def test_resuming_in_the_middle_of_what_was_made_short_loses_nothing() -> None:
    world = World()
    agent = Agent(world)
    agent.move("thinking")
    id = world.subscribe(**WHOLE)
    reader = world.connect(id)
    reader.unread = 10_000_000
    for _ in range(3):
        agent.say("a ")
        agent.say("b ", output="out_2")
        agent.progress(1)
        await world.settle()
    reader.unread = 0
    await world.pass_time(0.1)
    new = [one for one in reader.ids if one not in {event.event_id for event in agent.sent}]
    assert new, "something was merged"
    for place in reader.ids[2:]:
        again = world.connect(id, after=place)
        heard = heard_of([*reader.events[: reader.ids.index(place) + 1], *again.events], agent)
        assert heard == agent.texts


def test_where_events_were_merged_only_the_end_is_a_place_to_resume_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever way they are made short: here a text comes behind an event that it began before."""

    async def play() -> None:
        world = World()
        one, two = Agent(world), Agent(world)
        id = world.subscribe(**WHOLE)
        reader = world.connect(id)
        before = len(reader.ids)
        reader.unread = 10_000_000
        first, between, last = one.say("a "), two.progress(1), one.say("b ")
        await world.settle()
        merged = msgspec.structs.replace(last, event_id=last.event_id + "m2", chunk="a b ", position=0)
        monkeypatch.setattr("aaep.hub.stream.condense", lambda _: [between, merged])
        reader.unread = 0
        await world.pass_time(0.1)
        assert reader.ids[before:] == [between.event_id, merged.event_id]
        monkeypatch.undo()
        assert world.connect(id, after=between.event_id).ids == [e.event_id for e in (first, between, last)]
        assert world.connect(id, after=merged.event_id).ids == []

    played(play)


def heard_of(events: list[Any], agent: Agent) -> dict[str, str]:
    """The text of each output, put together by position; what came twice has to be the same."""
    heard: dict[str, dict[int, str]] = {}
    for event in events:
        if isinstance(event, OutputStreaming) and event.session_id == agent.session_id:
            letters = heard.setdefault(str(event.output_id), {})
            for place, letter in enumerate(event.chunk, event.position):
                assert letters.setdefault(place, letter) == letter
    return {
        name: "".join(letters.get(place, "?") for place in range(max(letters) + 1)) for name, letters in heard.items()
    }


@scene
async def test_a_rate_that_cannot_keep_up_ends_with_a_reason_and_the_rest_is_not_lost() -> None:
    world = World()
    agent = Agent(world)
    agent.move("thinking")
    id = world.subscribe(max_events_per_second=1, **WHOLE)
    reader = world.connect(id)
    for _ in range(30):
        agent.emit(ToolInvoked, tool="look", summary_normal="Looking.")
    await world.settle()
    await world.pass_time(12.0, 0.5)
    assert reader.reason == "slow_consumer"
    again = world.connect(id, after=reader.ids[-1])
    await world.pass_time(40.0, 0.5)
    assert [*reader.ids[2:], *again.ids] == [event.event_id for event in agent.sent[2:]]


@scene
async def test_a_connection_that_fails_is_lost_and_the_others_go_on() -> None:
    world = World()
    id = world.subscribe(**WHOLE)
    broken, healthy = world.connect(id), world.join(**WHOLE)
    broken.broken = True
    logging.disable()
    try:
        agent = Agent(world)
        await world.settle()
    finally:
        logging.disable(logging.NOTSET)
    assert healthy.ids == [agent.sent[0].event_id]
    assert world.connect(id).ids == healthy.ids, "what could not be written is still to come"


# -- whatever happens -----------------------------------------------------------------------------------

ACTS = st.one_of(
    st.tuples(st.just("say"), st.integers(0, 1), st.sampled_from(["out_1", "out_2"]), st.sampled_from(CHUNKS)),
    st.tuples(st.just("tool"), st.integers(0, 1), st.booleans()),
    st.tuples(st.just("move"), st.integers(0, 1), st.sampled_from(["thinking", "deciding", "calling_tool"])),
    st.tuples(st.just("progress"), st.integers(0, 1), st.integers(0, 100)),
    st.tuples(st.just("ask"), st.integers(0, 1)),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 0.3, 2.0])),
    st.tuples(st.just("stall")),
    st.tuples(st.just("read")),
    st.tuples(st.just("drop"), st.integers(0, 4)),
    st.tuples(st.just("back")),
    st.tuples(st.just("restart")),
)
TERMS: list[dict[str, Any]] = [
    {},
    WHOLE,
    {"coalesce_boundaries": ("completion",)},
    {"max_events_per_second": 2},
    {"max_events_per_second": 20, **WHOLE},
    {"cognitive_load": "low"},
]


class Listener:
    """What a subscriber makes of it: it remembers what it saw, comes back, and drops what it has."""

    def __init__(self, world: World, terms: dict[str, Any]) -> None:
        self.world = world
        self.terms = terms
        self.id = world.subscribe(**REPLIES, **terms)
        self.seen: dict[str, Any] = {}
        self.after = ""
        self.moving: set[str] = set()  # sessions that have gone on since it came; their prompts are where they belong
        self.outlet: Reader | None = None
        self.back()

    def back(self) -> None:
        if self.outlet is None or self.outlet.closed:
            self.take(0)
            self.moving.clear()
            self.outlet = self.world.connect(self.id, after=self.after)
            self.subscription = self.world.last

    def anew(self) -> None:
        """The other side was killed and began again: subscribe there, and name what was seen last."""
        self.id = self.world.subscribe(attend={"resume_after": self.after}, **REPLIES, **self.terms)
        self.back()

    def take(self, lost: int) -> None:
        """Take what arrived, except the last few, which did not."""
        if self.outlet is None:
            return
        events = self.outlet.events
        for event in events[: max(len(events) - lost, 0)]:
            known = self.seen.setdefault(event.event_id, event)
            assert known == event, "one id, one content (CF-076)"
            ahead = isinstance(event, AwaitingConfirmation) and event.session_id not in self.moving
            if not ahead and "resync" not in str(event.extensions):
                self.after = event.event_id
            if not isinstance(event, (AwaitingConfirmation, SessionStarted)):
                self.moving.add(event.session_id)
        self.outlet.writes.clear()

    def drop(self, lost: int) -> None:
        if self.outlet is not None and not self.outlet.closed:
            self.take(lost)
            self.world.hub.disconnect(self.subscription.id, self.outlet)
            self.outlet = None


@given(
    acts=st.lists(ACTS, max_size=40),
    terms=st.sampled_from(TERMS),
    ring=st.sampled_from([2, 5, 1000]),
    portion=st.sampled_from([1, 3, 500]),
)
def test_whatever_happens_to_a_connection_nothing_is_lost(
    acts: list[tuple[Any, ...]], terms: dict[str, Any], ring: int, portion: int
) -> None:
    async def play() -> None:
        world = World(ring_size=ring)
        healthy, listener = Listener(world, terms), Listener(world, terms)
        agents = [Agent(world), Agent(world)]
        for act in acts:
            await perform(world, [listener, healthy], agents, *act)
            await world.settle()
        for agent in agents:
            for output in [*agent.texts]:
                agent.say("", output=output, complete=True)
            agent.end()
        for _ in range(40):
            await perform(world, [listener, healthy], agents, "read")
            listener.back()
            healthy.back()
            await world.pass_time(2.0, 0.5)
        healthy.take(0)
        listener.take(0)
        for agent in agents:
            for one in (healthy, listener):
                assert heard_of([*one.seen.values()], agent) == agent.texts
                kept = {
                    e.event_id for e in agent.sent if isinstance(e, (ToolInvoked, SessionCompleted)) or is_critical(e)
                }
                assert kept <= one.seen.keys()

    with patch.object(catch_up, "PORTION", portion):
        played(play)


@scene
async def test_what_was_missed_is_read_in_portions_and_others_are_served_in_between() -> None:
    world = World(ring_size=10)
    agent = Agent(world)
    reader_id = world.subscribe(**WHOLE, **REPLIES)
    reader = world.connect(reader_id)
    first = agent.emit(ToolInvoked, tool="look", summary_normal="Looking.")
    await world.settle()
    world.hub.disconnect(reader_id, reader)
    other = world.join(**WHOLE)
    for number in range(6 * catch_up.PORTION):
        agent.emit(ToolInvoked, tool="look", summary_normal=f"Looking at {number}.")
    prompt = agent.ask()
    await world.settle()
    again = world.connect(reader_id, after=first.event_id)
    assert 0 < len(again.ids) <= catch_up.PORTION, "no more than that at once"
    live = agent.emit(ToolInvoked, tool="look", summary_normal="Looking elsewhere.")
    while live.event_id not in other.ids:
        await asyncio.sleep(0)  # one turn
    assert live.event_id not in again.ids, "others do not wait for all of it"
    await world.pass_time(1.0, 0.1)
    assert again.ids == [event.event_id for event in agent.sent[2:]]
    assert again.ids.count(prompt.event_id) == 1, "at its place"
    last = agent.emit(ToolInvoked, tool="look", summary_normal="Looking once more.")
    await world.settle()
    assert again.ids[-1] == last.event_id and world.last.is_live


@scene
async def test_a_prompt_that_the_reader_has_comes_before_all_portions() -> None:
    """CF-007"""
    world = World(ring_size=10)
    agent = Agent(world)
    reader_id = world.subscribe(**WHOLE, **REPLIES)
    reader = world.connect(reader_id)
    prompt = agent.ask()
    await world.settle()
    world.hub.disconnect(reader_id, reader)
    for number in range(2 * catch_up.PORTION):
        agent.emit(ToolInvoked, tool="look", summary_normal=f"Looking at {number}.")
    await world.settle()
    again = world.connect(reader_id, after=prompt.event_id)
    await world.pass_time(1.0, 0.1)
    assert again.ids == [event.event_id for event in agent.sent[2:]]


@scene
async def test_who_leaves_in_the_middle_of_a_portion_goes_on_there() -> None:
    world = World(ring_size=10)
    agent = Agent(world)
    reader_id = world.subscribe(**WHOLE)
    reader = world.connect(reader_id)
    first = agent.emit(ToolInvoked, tool="look", summary_normal="Looking.")
    await world.settle()
    world.hub.disconnect(reader_id, reader)
    for number in range(3 * catch_up.PORTION):
        agent.emit(ToolInvoked, tool="look", summary_normal=f"Looking at {number}.")
    again = world.connect(reader_id, after=first.event_id)
    world.hub.disconnect(reader_id, again)
    await world.settle()
    last = world.connect(reader_id, after=again.ids[-1])
    await world.pass_time(1.0, 0.1)
    assert again.ids + last.ids == [event.event_id for event in agent.sent[2:]]


async def perform(world: World, listeners: list[Listener], agents: list[Agent], name: str, *how: Any) -> None:
    listener = listeners[0]
    match name:
        case "say":
            agents[how[0]].say(how[2], output=how[1])
        case "tool":
            urgency = "critical" if how[1] else "normal"
            agents[how[0]].emit(ToolInvoked, tool="look", summary_normal="Looking.", urgency=urgency)
        case "move":
            if agents[how[0]].state != how[1]:
                agents[how[0]].move(how[1])
        case "progress":
            agents[how[0]].progress(how[1])
        case "ask":
            if agents[how[0]].state != "awaiting_input":
                agents[how[0]].pending.clear()
                agents[how[0]].ask()
        case "wait":
            await world.pass_time(how[0], 0.1)
        case "stall" if listener.outlet is not None:
            listener.outlet.unread = 10_000_000
        case "read" if listener.outlet is not None:
            listener.outlet.unread = 0
        case "drop":
            listener.drop(how[0])
        case "back":
            listener.back()
        case "restart":
            for one in listeners:
                one.drop(1)
            if all(one.after for one in listeners):
                world.begin()
                for agent in agents:
                    world.hub.open_session(agent)
                for one in listeners:
                    one.anew()
            for one in listeners:
                one.back()


# -- who may hear and answer ---------------------------------------------------------------------------


def replied(token: str, id: str) -> ConfirmationReply:
    return ConfirmationReply(reply_token=token, decision="accept", subscription_id=id, timestamp=STAMP)


@scene
async def test_a_session_is_for_its_audience_only() -> None:
    world = World(ring_size=1)
    ada, bob = Peer(principal="ada"), Peer(principal="bob")
    mine, theirs = world.join(ada, **WHOLE, **REPLIES), world.join(bob, **WHOLE, **REPLIES)
    agent = Agent(world, audience=frozenset({"ada"}))
    both = Agent(world)
    agent.ask()
    await world.settle()
    assert set(mine.ids) == {event.event_id for event in [*agent.sent, *both.sent]}
    assert theirs.ids == [both.sent[0].event_id]
    assert (
        len(world.hub.eligible_repliers(agent, "confirmation")) == 1
        and len(world.hub.eligible_repliers(both, "confirmation")) == 2
    )
    late = world.join(bob, **WHOLE)
    assert {event.session_id for event in late.events} == {both.session_id}
    agent.end()
    again = world.join(bob, **WHOLE, attend={"resume_after": both.sent[0].event_id})
    assert {event.session_id for event in again.events} <= {both.session_id}


@scene
async def test_what_the_journal_has_of_an_earlier_run_is_for_the_local_user() -> None:
    world = World()
    agent = Agent(world)
    agent.say("One. ")
    world.begin()
    attend = {"resume_after": agent.sent[0].event_id}
    assert world.join(Peer(principal="ada"), attend=attend).ids == []
    assert world.join(Peer(), **WHOLE, attend=attend).ids == [agent.sent[1].event_id]


@scene
async def test_a_reply_needs_a_subscription_of_its_own_that_may_reply() -> None:
    world = World()
    ada, bob = Peer(principal="ada"), Peer(principal="bob")
    agent = Agent(world, audience=frozenset({"ada"}))
    id, mute, other = world.subscribe(ada, **REPLIES), world.subscribe(ada), world.subscribe(bob, **REPLIES)
    for name, peer in ((id, ada), (mute, ada), (other, bob)):
        world.connect(name, peer=peer)
    token = agent.ask().reply_token
    for message, peer in [
        (replied(token, id), bob),  # somebody else's subscription
        (replied(token, mute), ada),  # terms without replies
        (replied(token, other), bob),  # no right to the session
        (replied(token, "sub_none"), ada),
        (replied("rpl_none", id), ada),
        (replied(token, id), Peer(principal="ada", roles=frozenset({"listener"}))),
    ]:
        assert world.hub.reply(message, peer) is None  # type: ignore[func-returns-value]  # that it gives nothing is the point
    assert agent.replies == []
    world.hub.reply(replied(token, id), ada)
    assert agent.replies == [(token, id)]
    assert "aaep_replies_refused_total 6\n" in world.hub.metrics()


@scene
async def test_an_outcome_is_on_its_way_when_its_reply_was_taken() -> None:
    """Without a turn of the loop in between; and what was published before it comes before it."""
    world = World()
    agent = Agent(world)
    id = world.subscribe(**REPLIES)
    outlet = world.connect(id)
    token = agent.ask().reply_token
    await world.settle()
    agent.reply = lambda message, via: agent.move("thinking")  # type: ignore[method-assign]  # put in its place for this test
    world.hub.reply(replied(token, id), Peer())
    assert outlet.ids[-1] == agent.sent[-1].event_id
    agent.progress(40)
    world.hub.reply(replied(token, id), Peer())
    await world.settle()
    assert outlet.ids[-2:] == [event.event_id for event in agent.sent[-2:]]


@scene
async def test_a_peer_without_the_right_to_reply_is_no_replier() -> None:
    world = World()
    agent = Agent(world)
    world.join(Peer(roles=frozenset({"listener"})), **REPLIES)
    assert world.hub.eligible_repliers(agent, "confirmation") == set()


@scene
async def test_refusing_a_reply_does_not_log_its_token() -> None:
    world = World()
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]  # put in its place for this test
    log = logging.getLogger("aaep.hub")
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.DEBUG)
    try:
        world.hub.reply(replied("rpl_secret", "sub_none"), Peer())
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
    assert len(records) == 1 and "rpl_secret" not in records[0]


@scene
async def test_patience_is_the_longest_wish_of_those_who_may_answer() -> None:
    world = World()
    agent = Agent(world)
    assert world.hub.longest_requested_timeout(agent) == 0
    world.subscribe(**REPLIES, attend={"minimum_timeout_seconds": 120})
    world.subscribe(**REPLIES, attend={"minimum_timeout_seconds": 300})
    world.subscribe(attend={"minimum_timeout_seconds": 900})
    assert world.hub.longest_requested_timeout(agent) == 300


@scene
async def test_a_withheld_prompt_goes_to_all_once_somebody_can_answer() -> None:
    world = World()
    agent = Agent(world)
    mute = world.join(**WHOLE)
    prompt = agent.ask(withheld=True)
    await world.settle()
    late = world.join(**WHOLE)
    assert prompt.event_id not in mute.ids + late.ids
    replier = world.join(**WHOLE, **REPLIES)
    await world.settle()
    assert [reader.ids.count(prompt.event_id) for reader in (mute, late, replier)] == [1, 1, 1]


@scene
async def test_a_withheld_prompt_that_the_session_sends_itself_is_sent_once() -> None:
    world = World()
    agent = Agent(world)
    mute = world.join(**WHOLE)
    prompt = agent.ask(withheld=True)
    await world.settle()
    world.hub.publish(agent, prompt, codec.encode(prompt))
    replier = world.join(**WHOLE, **REPLIES)
    await world.settle()
    assert [reader.ids.count(prompt.event_id) for reader in (mute, replier)] == [1, 1]


@scene
async def test_a_withheld_prompt_is_not_read_from_the_journal() -> None:
    world = World(ring_size=1)
    agent = Agent(world)
    prompt = agent.ask(withheld=True)
    agent.say("One. ")
    reader = world.join(**WHOLE, attend={"resume_after": agent.sent[0].event_id})
    assert reader.ids == [event.event_id for event in agent.sent[1:] if event is not prompt]


# -- changing terms -----------------------------------------------------------------------------------


def change(id: str, **terms: Any) -> SubscriptionRenegotiate:
    return SubscriptionRenegotiate(subscription_id=id, capabilities=Capabilities(**terms))


@scene
async def test_new_terms_hold_from_their_answer_on_and_nothing_held_is_lost() -> None:
    """TERM-024"""
    world = World()
    agent = Agent(world)
    id = world.subscribe()
    reader = world.connect(id)
    agent.say("Half a ")
    answer = world.hub.renegotiate(change(id, coalesce_boundaries=("none",)), Peer())
    assert isinstance(answer, SubscriptionAccepted) and answer.subscription_id == id
    agent.say("sen")
    agent.say("tence.")
    await world.settle()
    assert reader.text == "Half a sentence." and reader.ids[-2:] == [event.event_id for event in agent.sent[-2:]]
    assert agent.log[-1] == ("changed", id)
    world.hub.renegotiate(change(id, event_filters=EventFilters(include=("aaep:agent.session.*",))), Peer())
    agent.say(" No more.")
    await world.settle()
    assert reader.ids[-1] == agent.sent[-2].event_id


@scene
async def test_a_change_of_terms_is_for_the_owner_only() -> None:
    world = World()
    id = world.subscribe()
    assert world.hub.renegotiate(change(id), Peer(principal="somebody else")) is None
    assert world.hub.renegotiate(change("sub_none"), Peer()) is None


@scene
async def test_a_rejected_change_ends_the_subscription() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe()
    reader = world.connect(id)
    answer = world.hub.renegotiate(change(id, accept_signed_manifests_only=True), Peer())
    assert isinstance(answer, SubscriptionRejected)
    assert reader.closed == [None] and agent.log[-1] == ("left", id)


@scene
async def test_giving_up_replies_and_taking_them_up_again() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**WHOLE, **REPLIES)
    reader = world.connect(id)
    waiting = world.hub.wait_for_reader(replies=True)
    assert waiting.done
    world.hub.renegotiate(change(id, supports_confirmation_reply=False, supported_conformance_levels=(1,)), Peer())
    assert world.hub.eligible_repliers(agent, "confirmation") == set()
    prompt = agent.ask(withheld=True)
    await world.settle()
    later = world.hub.wait_for_reader(replies=True)
    assert prompt.event_id not in reader.ids and not later.done
    world.hub.renegotiate(change(id, **REPLIES), Peer())
    await world.settle()
    assert reader.ids.count(prompt.event_id) == 1 and later.wait(0) == id


@scene
async def test_a_stalled_hub_whose_terms_change_gets_everything_it_missed_as_it_was() -> None:
    world = World()
    agent = Agent(world)
    relay = Peer("hub", "hub", roles=frozenset({REPLIER, RELAY}))
    id = world.subscribe(**WHOLE, peer=relay)
    hub = world.connect(id, peer=relay)
    await world.settle()
    hub.unread = 10_000_000
    agent.progress(5)
    agent.progress(6)
    await world.settle()
    world.hub.renegotiate(change(id, **REPLIES), relay)
    hub.unread = 0
    await world.pass_time(0.1)
    assert hub.ids == [event.event_id for event in agent.sent]


@scene
async def test_a_stalled_reader_keeps_what_it_missed_when_its_terms_change() -> None:
    world = World()
    agent = Agent(world)
    id = world.subscribe(**WHOLE)
    reader = world.connect(id)
    reader.unread = 10_000_000
    agent.say("Missed. ")
    agent.progress(5)
    await world.settle()
    world.hub.renegotiate(
        change(id, event_filters=EventFilters(include=("aaep:agent.output.*", "aaep:agent.session.*"))), Peer()
    )
    agent.say("Later. ")
    await world.settle()
    reader.unread = 0
    await world.pass_time(0.1)
    assert reader.text == "Missed. Later. " and not any(isinstance(e, ProgressUpdated) for e in reader.events)


# -- waiting for a reader, timers ----------------------------------------------------------------------


@scene
async def test_waiting_for_a_reader() -> None:
    world = World()
    anybody, replier = world.hub.wait_for_reader(replies=False), world.hub.wait_for_reader(replies=True)
    mute = world.subscribe()
    assert not anybody.done, "subscribed, and not yet reading"
    world.connect(mute)
    assert anybody.wait(0) == mute and not replier.done
    id = world.subscribe(**REPLIES)
    world.connect(id)
    assert await replier == id


@scene
async def test_a_timed_call_comes_at_its_time_unless_taken_back() -> None:
    world = World()
    called: list[int] = []
    world.hub.call_at(1005.0, lambda: called.append(5))
    world.hub.call_at(1002.0, lambda: called.append(2))
    world.hub.call_at(1001.0, lambda: called.append(1))()
    await world.pass_time(1.9)
    assert called == []
    await world.pass_time(0.1)
    assert called == [2]
    await world.pass_time(10.0)
    assert called == [2, 5]


# -- messages as they come ---------------------------------------------------------------------------------


@scene
async def test_messages_are_read_and_answered() -> None:
    world = World()
    agent = Agent(world)
    handshake: tuple[type[Message], ...] = (SubscriptionRequest,)
    rest: tuple[type[Message], ...] = (SubscriptionRenegotiate, SubscriptionClose, ConfirmationReply)
    request = SubscriptionRequest(aaep_version="1.0.0", subscriber_id="me", capabilities=Capabilities(**REPLIES))
    answer = world.hub.receive(codec.encode(request), Peer(), handshake)
    assert isinstance(answer, SubscriptionAccepted)
    id = answer.subscription_id
    assert isinstance(
        world.hub.receive(codec.encode(change(id, preferred_verbosity="terse")), Peer(), rest), SubscriptionAccepted
    )
    token = agent.ask().reply_token
    for name in (token, "rpl_other"):
        assert world.hub.receive(codec.encode(replied(name, id)), Peer(), rest) is None
    assert agent.replies == [(token, id)]
    bad = msgspec.json.decode(codec.encode(replied(token, id)))
    for raw in (
        b"",
        b"[]",
        b"{}",
        codec.encode(request),
        msgspec.json.encode({**bad, "decision": "perhaps"}),
        msgspec.json.encode({**bad, "timestamp": "yesterday"}),
        msgspec.json.encode({**bad, "more": 1}),
    ):
        with pytest.raises(RemoteProtocolError) as told:
            world.hub.receive(raw, Peer(), rest)
        assert str(told.value) == "Malformed message." and not told.value.violations
    with pytest.raises(UnknownSubscription):
        world.hub.receive(codec.encode(change("sub_none")), Peer(), rest)
    assert len(agent.replies) == 1
    close = SubscriptionClose(subscription_id=id, reason_code="subscriber_shutdown")
    assert world.hub.receive(codec.encode(close), Peer(), rest) is None
    with pytest.raises(SubscriptionGone):
        world.connect(id)


@scene
async def test_the_manifest_says_what_is_offered() -> None:
    manifest = World().hub.manifest()
    assert manifest.transports_supported == ()
    assert manifest.extensions_supported == (ATTEND.namespace,) and manifest.max_concurrent_subscriptions == 1000
    message, found = codec.read(codec.encode(manifest))
    assert message == manifest and [one for one in found if one.rule.startswith("MAN")] == []


# -- with its own thread --------------------------------------------------------------------------------------


def test_many_threads_publish_and_each_session_arrives_in_order() -> None:
    world = object.__new__(World)
    world.clock, world.journal, world.settings = Clock(), MemoryJournal(), HubSettings()
    world.hub = Hub(Offer(producer=PRODUCER), world.journal)
    reader, everything = Reader(), Waitable[None]()
    wanted = 8 * 202

    async def join() -> None:
        request = SubscriptionRequest(aaep_version="1.0.0", subscriber_id="me", capabilities=Capabilities(**WHOLE))
        answer = world.hub.subscribe(request, Peer())
        assert isinstance(answer, SubscriptionAccepted)
        world.hub.connect(answer.subscription_id, Peer(), reader)

    def watched(data: bytes) -> None:
        Reader.write(reader, data)
        if data.count(b"\n") and len(reader.ids) >= wanted:
            everything.set_result(None)

    reader.write = watched  # type: ignore[method-assign]  # put in its place for this test
    world.hub.run(join())
    agents: list[Agent] = []

    def work() -> None:
        agent = Agent(world)
        agents.append(agent)
        for number in range(200):
            with agent.lock:  # as a session does that is about to ask
                world.hub.eligible_repliers(agent, "confirmation")
                agent.say(f"{number} ")
        agent.end()

    async def come_and_go() -> None:
        other = Reader()
        world.hub.disconnect(world.hub.connect("", Peer(), other), other)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        world.hub.run(come_and_go())
    for thread in threads:
        thread.join()
    everything.wait(60)
    events = reader.events
    for agent in agents:
        assert [e.event_id for e in events if e.session_id == agent.session_id] == [e.event_id for e in agent.sent]
    world.hub.close()
    assert reader.reason == "producer_shutdown"
    world.hub.close()
    with pytest.raises(AaepError):
        world.hub.start()


@scene
async def test_closing_sends_what_is_held_and_says_why() -> None:
    world = World()
    agent = Agent(world)
    reader = world.join()
    agent.say("Half a ")
    await world.hub.aclose()
    assert reader.text == "Half a " and reader.reason == "producer_shutdown"
    agent.say("sentence.")  # is in the journal, and goes nowhere
    await world.hub.aclose()
    assert not world.hub.metrics().count("aaep_subscriptions 1")


@scene
async def test_who_comes_while_the_servers_of_a_closed_hub_are_still_open_is_told_so() -> None:
    """It is no defect of the server (500), and the reader may come again."""
    world = World()
    world.join()
    await world.hub.aclose()
    request = SubscriptionRequest(aaep_version="1.0.0", subscriber_id="reader", capabilities=Capabilities())
    answer = world.hub.subscribe(request, Peer())
    assert isinstance(answer, SubscriptionRejected) and answer.reason_code == "transport_unavailable"
    with pytest.raises(UnknownSubscription, match="shutting down"):
        world.connect()


def test_a_hub_that_never_started_closes_too() -> None:
    hub = Hub(Offer(producer=PRODUCER), MemoryJournal())
    hub.close()
    with pytest.raises(AaepError):
        hub.call_at(1.0, lambda: None)


def test_a_hub_whose_loop_has_ended_closes_without_waiting_for_it() -> None:
    hubs: list[Hub] = []

    async def begin() -> None:
        hubs.append(World().hub)
        hubs[0].start()

    asyncio.run(begin())
    hubs[0].close()
    with pytest.raises(AaepError):
        hubs[0].start()


def test_waiting_for_the_hub_on_its_own_loop_is_refused() -> None:
    hub = Hub(Offer(producer=PRODUCER), MemoryJournal())

    async def inside() -> None:
        assert hub.is_on_loop
        with pytest.raises(RuntimeError):
            hub.close()

    assert not hub.is_on_loop
    hub.run(inside())
    hub.close()


def test_a_task_that_does_not_notice_its_end_holds_nobody_up() -> None:
    """As who waited for what came in this very moment: he has to be told again."""
    background, waiting = BackgroundLoop("test"), threading.Event()
    times: list[int] = []

    async def stubborn() -> None:
        while len(times) < 2:
            try:
                waiting.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                times.append(1)

    background.call_soon(asyncio.run_coroutine_threadsafe, stubborn(), background.loop)
    assert waiting.wait(30)
    stopping = threading.Thread(target=background.stop, daemon=True)
    stopping.start()
    stopping.join(30)
    assert not stopping.is_alive() and len(times) == 2
