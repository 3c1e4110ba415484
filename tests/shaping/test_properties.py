"""For any legal sessions and any terms: the shaped stream is legal, nothing that matters is lost, the rate holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from aaep.errors import Violation
from aaep.journal.base import expand_merged_id
from aaep.protocol import codec, events
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.catalogue import grade
from aaep.protocol.events import TERMINAL, Envelope, OutputStreaming, ProgressUpdated, StateChanged
from aaep.protocol.fields import CORE_CONTEXT
from aaep.protocol.messages import Capabilities, ClarificationReply, ConfirmationReply, EventFilters, Reply
from aaep.protocol.session import SessionState
from aaep.protocol.subscription import is_admitted, is_critical, with_defaults
from aaep.shaping.shaper import Shaper, condense
from tests import model, vectors
from tests.protocol.test_session_model import modelled, rendered, traces

# -- sessions that break no rule, even under strict, with everything the protocol has in them ---

SHOP = "https://shop.example/aaep/v1/context"  # an extension that nobody has registered
TOKENS = (
    *("Hel", "lo", "Hello. ", "Hello.", " ", "World", "! ", "It is ", "3", ".", "5 per cent. ", "Dr. ", "No?", "\n"),
    *("\n\n", "End.\n\n", "你好", "。", "é", "👍🏽", "", '{"a": 1}', "x" * 40, "No. Yes. Perhaps. ", "Why", '?" '),
)
Step = tuple[float, Envelope | Reply]


class Recording:
    """What happened, in order: when, and the event or the reply."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def __repr__(self) -> str:
        shown = ("event_id", "session_id", "from_state", "to_state", "output_id", "chunk", "complete", "urgency")
        lines = []
        for at, one in self.steps:
            agent = one.producer.agent_id if isinstance(one, Envelope) else ""
            said = [getattr(one, name) for name in shown if getattr(one, name, UNSET) is not UNSET]
            lines.append(f"{at} {type(one).__name__} {agent} {said} {getattr(one, 'extensions', UNSET) or ''}")
        return "\n".join(lines)

    @property
    def events(self) -> list[tuple[float, Envelope]]:
        return [(at, one) for at, one in self.steps if isinstance(one, Envelope)]


@dataclass
class Agent:
    """One agent in one session, as the producer of it knows it."""

    session: str
    name: str
    state: str = "idle"
    calls: list[str] = field(default_factory=list)
    outputs: dict[str, int] = field(default_factory=dict)
    ask: str = ""  # the token of the prompt that is open
    asked: str = ""  # and its kind
    granted: str = ""  # the call that the person is asked about


class Play:
    """Draws what happens next, within the rules."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw, self.now, self.number = draw, 0.0, 0
        self.done = Recording()

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def name(self, kind: str) -> str:
        self.number += 1
        return f"{kind}_{self.number:04d}"

    def stamp(self) -> str:
        return vectors.moment(self.now).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def emit(self, cls: type[Envelope], agent: Agent, **members: Any) -> None:
        self.now = round(self.now + self.pick(0.0, 0.01, 0.05, 0.3, 1.0, 1.5), 3)
        extra: dict[str, Any] = {}
        if self.pick(*[False] * 9, True):
            extra["context"], extra["extensions"] = (CORE_CONTEXT, SHOP), {"shop": {"basket": self.number}}
        made = cls(
            event_id=self.name("evt").replace("_", "_a"),
            session_id=agent.session,
            aaep_version="1.0.0",
            timestamp=self.stamp(),
            producer=events.ProducerInfo(agent_id=agent.name),
            verbosity="normal",
            localization_hints=events.LocalizationHints(primary_language="en-US", text_direction="ltr"),
            **{"urgency": "normal", **extra, **members},
        )
        self.done.steps.append((self.now, made))

    def tell(self, cls: type[Envelope], agent: Agent, **members: Any) -> None:
        words = {f"summary_{level}": f"{level} {self.number}." for level in ("terse", "normal", "detailed")}
        self.emit(cls, agent, **{**words, **members})

    def move(self, agent: Agent, to: str, **members: Any) -> None:
        if agent.state != to:
            usual = {"urgency": self.pick("background", "background", "normal")}
            self.tell(StateChanged, agent, from_state=agent.state, to_state=to, **{**usual, **members})
            agent.state = to

    def step(self, agent: Agent) -> None:
        if agent.ask:
            self.pick(self.progress, self.answer, self.answer)(agent)
            return
        writing = [self.chunk] * (12 if agent.state == "writing_output" else 3)
        working = [self.invoke, *[self.complete] * len(agent.calls)]
        moving = [self.wander, self.wander, self.progress]
        self.pick(*moving, self.confirm, self.clarify, self.hand, *working, *writing)(agent)

    def leave(self, agent: Agent, to: str) -> None:
        """TOOL-007: a tool that runs is waited for."""
        while agent.state == "calling_tool" and to not in ("calling_tool", "awaiting_input") and agent.calls:
            self.complete(agent)
        self.move(agent, to)

    def wander(self, agent: Agent) -> None:
        self.leave(agent, self.pick("thinking", "deciding", "calling_tool", "writing_output", "idle", "awaiting_input"))

    def progress(self, agent: Agent) -> None:
        percent = events.Progress(percent=self.number % 100)
        self.tell(ProgressUpdated, agent, progress=percent, urgency="background")

    def invoke(self, agent: Agent, call: str = "", **members: Any) -> None:
        self.leave(agent, "calling_tool")
        agent.calls.append(call or self.name("call"))
        usual = {"tool": "check", "tool_call_id": agent.calls[-1], "risk_level": "low", "irreversible": False}
        self.tell(events.ToolInvoked, agent, **{**usual, **members})

    def complete(self, agent: Agent) -> None:
        call = agent.calls.pop(0)
        tool = "send" if call.startswith("call_send") else "check"
        self.tell(events.ToolCompleted, agent, tool=tool, tool_call_id=call, status="success")

    def chunk(self, agent: Agent, complete: bool = False, output: str = "", text: str | None = None) -> None:
        self.leave(agent, "writing_output")
        new = len(agent.outputs) < 2 and self.pick(False, False, False, True)
        output = output or (self.name("out") if new or not agent.outputs else self.pick(*agent.outputs))
        complete = complete or self.pick(*[False] * 9, True)
        if text is None:  # I18N-035: no fragment of both directions
            tokens = st.lists(st.sampled_from(TOKENS), max_size=3)
            text = "".join(self.draw(st.one_of(*[tokens] * 9, st.just(["سلام. "]))))
        members = {"chunk": text, "position": agent.outputs.get(output, 0), "complete": complete, "output_id": output}
        if self.pick(*[False] * 9, True):
            members["content_type"] = "application/json"
        self.emit(OutputStreaming, agent, coalesce_hint="completion" if complete else "none", **members)
        agent.outputs[output] = agent.outputs.get(output, 0) + len(text)
        if complete:
            del agent.outputs[output]

    def confirm(self, agent: Agent) -> None:
        self.leave(agent, "awaiting_input")
        agent.ask, agent.asked, agent.granted = (
            self.name("rpl"),
            "confirmation",
            self.name("call_send").replace("d_", "d"),
        )
        about = {"tool": "send", "tool_call_id": agent.granted}
        time: dict[str, Any] = {"reply_token": agent.ask, "timeout_seconds": 300, "urgency": "critical"}
        grave: dict[str, Any] = {"risk_level": "high", "irreversible": True, "default_decision": "reject"}
        words = {"action": f"Send {agent.ask}.", "consequence": "It is gone."}
        self.tell(events.AwaitingConfirmation, agent, extra_context=about, **time, **grave, **words)

    def clarify(self, agent: Agent) -> None:
        self.leave(agent, "awaiting_input")
        agent.ask, agent.asked = self.name("rpl"), "clarification"
        time: dict[str, Any] = {"reply_token": agent.ask, "timeout_seconds": 120, "urgency": "critical"}
        self.tell(events.AwaitingClarification, agent, question="Which?", accepted_response_kinds=("freetext",), **time)

    def answer(self, agent: Agent) -> None:
        token = agent.ask
        how = self.pick("answered", "accepted", "rejected")
        how = how if agent.asked == "confirmation" and how != "answered" else self.pick("answered", "withdrawn")
        how = "withdrawn" if agent.asked == "confirmation" and how == "answered" else how
        said: dict[str, Any] = {"reply_token": token, "subscription_id": vectors.VIA, "timestamp": self.stamp()}
        if how == "answered":
            self.done.steps.append((self.now, ClarificationReply(response="That.", **said)))
        elif how != "withdrawn":
            said["decision"] = how.removesuffix("ed")
            self.done.steps.append((self.now, ConfirmationReply(**said)))
        agent.ask = ""
        members: dict[str, Any] = {}
        if self.pick(True, False):
            members["urgency"] = "critical"  # CF-025
            members["context"] = (CORE_CONTEXT, ATTEND.context)
            members["extensions"] = {"attend": {"reply_token": token, "outcome": how}}
        self.move(agent, self.pick("thinking", "deciding"), **members)
        if how == "accepted":
            self.invoke(agent, agent.granted, tool="send", risk_level="high", irreversible=True)

    def hand(self, agent: Agent) -> None:
        self.leave(agent, "handing_off")
        self.tell(events.HandoffRequested, agent, urgency="critical", reason="I cannot.", target_kind="human")

    def end(self, agents: list[Agent]) -> None:
        for agent in agents:
            if agent.ask:
                self.answer(agent)
            while agent.calls:
                self.complete(agent)
            for output in [*agent.outputs]:
                self.chunk(agent, True, output, self.pick("", "Done.", None))
        cls, members = self.pick(
            (events.SessionCompleted, {}),
            (events.SessionErrored, {"urgency": "critical", "error_category": "unknown"}),
            (events.SessionCancelled, {"cancelled_by": "user"}),
        )
        self.tell(cls, agents[0], **members)


@st.composite
def recordings(draw: st.DrawFn, most: int = 40) -> Recording:
    """One to three sessions at a time, each of one or two agents, all ended."""
    play = Play(draw)
    sessions = [
        [Agent(f"sess_{number}", f"agent-{one}") for one in range(play.pick(1, 1, 2))]
        for number in range(play.pick(1, 1, 2, 3))
    ]
    for agents in sessions:
        play.tell(events.SessionStarted, agents[0])
    for _ in range(draw(st.integers(0, most))):
        play.step(play.pick(*(agent for agents in sessions for agent in agents)))
    for agents in sessions:
        play.end(agents)
    return play.done


# -- terms ------------------------------------------------------------------------------------

_CORE = "aaep:agent."
PATTERNS = ("*", f"{_CORE}*", *(f"{_CORE}{name}" for name in ("tool.*", "output.*", "state.changed", "progress.*")))

# Which rules a stream may break because its filters leave a type out; with that type in, none of them.
EXPLAINED = {
    "session.started": {"SEQ-001"},
    "session.completed": {"SEQ-003"},
    "session.cancelled": {"SEQ-003"},
    "state.changed": {
        *("STATE-001", "STATE-002", "LVL-007", "HITL-019", "HITL-021", "HITL-022", "HITL-030", "CLAR-021"),
        *("CONF-006", "HITL-020"),  # a withdrawal is not seen
    },
    "tool.invoked": {"TOOL-010", "HITL-018"},
    "tool.completed": {"TOOL-007", "TOOL-008"},
}


@st.composite
def terms(draw: st.DrawFn) -> Capabilities:
    named = st.sampled_from(["none", "word", "sentence", "paragraph", "completion"])
    boundaries: Any = st.lists(named, min_size=1, max_size=5, unique=True).map(tuple)
    rates: Any = st.sampled_from([UNSET, UNSET, 1, 1, 3, 100])
    patterns = st.lists(st.sampled_from(PATTERNS), max_size=2, unique=True).map(tuple)
    filters = st.one_of(
        st.just(UNSET), st.just(UNSET), st.builds(EventFilters, include=st.just(("*",)), exclude=patterns),
        st.builds(EventFilters, include=patterns),
    )  # fmt: skip
    return with_defaults(
        Capabilities(
            max_events_per_second=draw(rates),
            preferred_verbosity=draw(st.sampled_from(["terse", "normal", "normal", "detailed"])),
            coalesce_boundaries=draw(st.one_of(st.just(UNSET), boundaries)),
            event_filters=draw(filters),
            cognitive_load=draw(st.sampled_from([UNSET, "low", "high"])),
            supported_extensions=draw(st.sampled_from([(), (SHOP,), (ATTEND.namespace, SHOP)])),
        )
    )


@dataclass
class Call:
    """One call of the shaper: when, what was pushed if anything, and what came out."""

    at: float
    pushed: Envelope | None
    out: list[Envelope]


def shaped(recording: Recording, given_terms: Capabilities, prompt: bool) -> list[Call]:
    """Everything that comes out, from a caller that comes when it is due, or only with the next event."""
    shaper, calls = Shaper(given_terms), list[Call]()
    for at, one in recording.events:
        while (due := shaper.next_deadline) is not None and due <= at:
            calls.append(Call(due if prompt else at, None, shaper.advance(due if prompt else at)))
            again = shaper.next_deadline
            assert again is None or again > due, "due again and again"
        calls.append(Call(at, one, shaper.push(one, at)))
        assert shaper.next_deadline is None or shaper.next_deadline > at
    while (due := shaper.next_deadline) is not None:
        calls.append(Call(due, None, shaper.advance(due)))
    assert shaper.flush(calls[-1].at) == []
    return calls


class Original:
    """The recording, by what a shaped event can be traced back to."""

    def __init__(self, recording: Recording) -> None:
        self.steps = recording.steps
        self.places = {one.event_id: place for place, (_, one) in enumerate(self.steps) if isinstance(one, Envelope)}
        self.fragments: dict[object, list[tuple[int, int, int]]] = {}
        for place, (_, one) in enumerate(self.steps):
            if isinstance(one, OutputStreaming):
                begin, end = one.position, one.position + len(one.chunk)
                self.fragments.setdefault(output(one), []).append((place, begin, end))

    def text(self, key: object) -> str:
        found = [one for _, one in self.steps if isinstance(one, OutputStreaming) and output(one) == key]
        return "".join(one.chunk for one in found)

    def named(self, event_id: str) -> int | None:
        """Where a reader resumes that names this id, as the journal has it."""
        return next((self.places[name] for name in expand_merged_id(event_id) if name in self.places), None)

    def span(self, one: Envelope) -> tuple[int, int]:
        """The first and the last original that something of this event comes from."""
        if not isinstance(one, OutputStreaming):
            place = self.named(one.event_id)
            assert place is not None, one.event_id
            return place, place
        begin, end = one.position, one.position + len(one.chunk)
        found = self.fragments[output(one)]
        touched = [place for place, first, last in found if first < end and last > begin]
        named = self.named(one.event_id)
        if not touched and named is not None:  # an empty chunk
            touched = [named]
        if one.complete:
            touched.append(found[-1][0])
        return touched[0], touched[-1]


def output(one: OutputStreaming) -> tuple[str, str, object]:
    return one.session_id, one.producer.agent_id, one.output_id


# -- what has to hold of a stream -------------------------------------------------------------


def judged(stream: Sequence[Envelope], original: Original) -> list[tuple[Violation, Envelope]]:
    """What the rules of a session say; a reply comes where its agent had it."""
    sessions: dict[str, SessionState] = {}
    heard: dict[object, int] = {}
    found = []
    for one in stream:
        last = original.span(one)[1]
        now = original.steps[last][0]
        session = sessions.setdefault(one.session_id, SessionState(one.session_id))
        agent = (one.session_id, one.producer.agent_id)
        for at, message in original.steps[heard.get(agent, 0) : last]:
            ask = session.prompts.get(getattr(message, "reply_token", ""))
            if not isinstance(message, Envelope) and ask is not None and ask.event.producer == one.producer:
                session.reply(message, at, vectors.VIA)
        heard[agent] = max(heard.get(agent, 0), last)
        found += [(v, one) for v in session.feed(one, now)]
    return found + [(v, stream[-1]) for session in sessions.values() for v in session.finish()]


def check_legal(stream: Sequence[Envelope], original: Original, explained: set[str]) -> None:
    """By the rules on one message and on a session, under strict."""
    found = [(v, one) for one in stream for v in codec.read(codec.encode(one), strict=True)[1]]
    found += judged(stream, original)
    wrong = [(v, one) for v, one in found if grade(v, strict=True) == "error" and v.rule not in explained]
    assert not wrong, [(v.rule, v.message, one.event_id) for v, one in wrong[:3]]


def check_text(stream: Sequence[Envelope], original: Original, admitted: bool) -> None:
    """Every output comes whole, in order, complete once and at its end."""
    texts: dict[object, str] = {}
    complete = []
    for one in stream:
        if isinstance(one, OutputStreaming):
            key = output(one)
            assert key not in complete
            assert one.position == len(texts.get(key, ""))
            texts[key] = texts.get(key, "") + one.chunk
            assert (one.coalesce_hint == "completion") is one.complete
            complete += [key] if one.complete else []
    if admitted:
        assert {*complete} == {*original.fragments}
    assert texts == {key: original.text(key) for key in (original.fragments if admitted else ())}


def check_order(stream: Sequence[Envelope], original: Original, low: bool) -> None:
    """What one agent does is told in its order. Outputs in parallel, and states told late, may pass one another."""
    by_agent: dict[object, list[Envelope]] = {}
    for one in stream:
        if not (low and isinstance(one, StateChanged)):
            by_agent.setdefault((one.session_id, one.producer.agent_id), []).append(one)
    for told in by_agent.values():
        latest = -1  # of what is not output
        heard: dict[object, int] = {}
        for one in told:
            first, last = original.span(one)
            assert first > latest or (isinstance(one, OutputStreaming) and not one.chunk)
            if isinstance(one, OutputStreaming):
                assert last >= heard.get(output(one), -1)
                heard[output(one)] = last
            else:
                assert last > max(heard.values(), default=-1)
                latest = last
    ends = [one.session_id for one in stream if isinstance(one, TERMINAL)]
    for session_id in ends:
        assert isinstance([one for one in stream if one.session_id == session_id][-1], TERMINAL)


def check_ids(stream: Sequence[Envelope], original: Original) -> None:
    """No id twice; and whoever resumes after one of an output's has all of it up to there."""
    seen = [one.event_id for one in stream]
    assert len({*seen}) == len(seen)
    for one in stream:
        assert re.fullmatch(r"evt_[A-Za-z0-9]{1,64}", one.event_id)
        if one.event_id in original.places:  # C-85: the same event, if perhaps not in the same shape
            was = original.steps[original.places[one.event_id]][1]
            for name in ("type", "session_id", "from_state", "to_state", "chunk", "position", "complete"):
                assert getattr(one, name, None) == getattr(was, name, None)
        if isinstance(one, OutputStreaming):
            place = original.named(one.event_id)
            end = one.position + len(one.chunk)
            for at, _, last in original.fragments[output(one)]:
                assert place is None or at > place or last <= end, "this text would be lost"


def check_rate(calls: Iterable[Call], rate: Any) -> None:
    """CF-077: one at a time; what is critical, or ends a session, and what goes before it, is debt."""
    if rate is UNSET:
        return
    free = float("-inf")
    for call in calls:
        if call.pushed is not None and (is_critical(call.pushed) or isinstance(call.pushed, TERMINAL)) and call.out:
            assert {one.session_id for one in call.out} == {call.pushed.session_id}
            free = max(call.at, free) + len(call.out) / rate
        else:
            for _ in call.out:
                assert call.at >= free - 1e-9
                free = call.at + 1 / rate


def check_critical(calls: Iterable[Call], low: bool) -> None:
    """Each comes out of the very call that brought it, last, and says what it said."""
    for call in calls:
        pushed = call.pushed
        if pushed is None or not is_critical(pushed):
            continue
        told = call.out[-1]
        assert told.event_id == pushed.event_id and type(told) is type(pushed)
        for name in pushed.__struct_fields__:
            if name not in ("verbosity", "extensions", "context", "sequence_number"):
                assert getattr(told, name) == getattr(pushed, name)
        for name in ("reply_token", "outcome"):
            if pushed.extensions is not UNSET and name in pushed.extensions.get("attend", {}):
                assert told.extensions is not UNSET
                assert told.extensions["attend"][name] == pushed.extensions["attend"][name]


def check(stream: list[Envelope], recording: Recording, given_terms: Capabilities) -> None:
    original = Original(recording)
    filters = given_terms.event_filters
    out = {name for name in EXPLAINED if not is_admitted(filters, f"{_CORE}{name}")}  # type: ignore[arg-type]  # full terms have filters
    explained = {rule for name in out for rule in EXPLAINED[name]}
    if stream:
        check_legal(stream, original, explained)
    check_text(stream, original, is_admitted(filters, f"{_CORE}output.streaming"))  # type: ignore[arg-type]  # full terms have filters
    check_order(stream, original, given_terms.cognitive_load == "low")
    check_ids(stream, original)
    for one in stream:
        assert is_critical(one) or is_admitted(filters, one.type)  # type: ignore[arg-type]  # full terms have filters


def check_nothing_lost(stream: Sequence[Envelope], recording: Recording, given_terms: Capabilities) -> None:
    """CF-073: only progress, states and output are ever made fewer."""
    told = {one.event_id for one in stream}
    for _, one in recording.events:
        if isinstance(one, (ProgressUpdated, StateChanged, OutputStreaming)):
            continue
        if is_critical(one) or is_admitted(given_terms.event_filters, one.type):  # type: ignore[arg-type]  # full terms have filters
            assert one.event_id in told


@given(recordings())
def test_the_recordings_are_legal(recording: Recording) -> None:
    check_legal([one for _, one in recording.events], Original(recording), set())


# -- the properties --------------------------------------------------------------------------


@settings(max_examples=200)
@given(recordings(), terms(), st.booleans())
def test_the_shaped_stream_of_legal_sessions_is_legal_and_whole(
    recording: Recording, given_terms: Capabilities, prompt: bool
) -> None:
    calls = shaped(recording, given_terms, prompt)
    stream = [one for call in calls for one in call.out]
    event("as it was" if len(stream) == len(recording.events) else "fewer")
    check(stream, recording, given_terms)
    check_rate(calls, given_terms.max_events_per_second)
    check_critical(calls, given_terms.cognitive_load == "low")
    check_nothing_lost(stream, recording, given_terms)


@settings(max_examples=150)
@given(recordings(), terms(), st.booleans(), st.lists(st.integers(1, 12), max_size=12))
def test_a_condensed_stream_is_legal_and_whole(
    recording: Recording, given_terms: Capabilities, prompt: bool, runs: list[int]
) -> None:
    stream = [one for call in shaped(recording, given_terms, prompt) for one in call.out]
    fewer: list[Envelope] = []
    for length in [*runs, len(stream)]:
        run, stream = stream[:length], stream[length:]
        shorter = condense(run)
        assert len(shorter) <= len(run)
        assert [one for one in shorter if is_critical(one)] == [one for one in run if is_critical(one)]
        fewer += shorter
    check(fewer, recording, given_terms)
    check_nothing_lost(fewer, recording, given_terms)


@settings(max_examples=80)
@given(recordings(), terms(), st.integers(0, 60), st.booleans())
def test_flushing_at_any_moment_leaves_nothing_held_and_the_stream_legal(
    recording: Recording, given_terms: Capabilities, moment: int, one_session: bool
) -> None:
    shaper, stream = Shaper(given_terms), list[Envelope]()
    for place, (at, one) in enumerate(recording.events):
        stream += shaper.push(one, at)
        if place == moment:
            stream += shaper.flush(at, one.session_id if one_session else None)
            if not one_session:
                assert shaper.next_deadline is None and shaper.lag(at + 100) == 0.0
    stream += shaper.flush(recording.events[-1][0])
    check(stream, recording, given_terms)
    check_nothing_lost(stream, recording, given_terms)


@settings(max_examples=100)
@given(traces(), st.sampled_from([UNSET, 1]), st.sampled_from(["low", "medium"]))
def test_sessions_that_leave_states_to_be_inferred_stay_legal_too(
    steps: list[model.Step], rate: Any, load: Any
) -> None:
    """As foreign producers send them: sound but for what only strict calls an error (C-31, C-32)."""
    assume({rule for _, rule in modelled(steps)} <= {"SEQ-003"})
    # When a reply was heard shows only in its agent's next event, which other agents' events may overtake here.
    assume(len({step.agent for step in steps}) == 1 or not any(step.kind in ("reply", "answer") for step in steps))
    recording, now = Recording(), vectors.START.timestamp()
    for number, step in enumerate(steps):
        now += step.wait
        raw = rendered(step, number, int(now - vectors.START.timestamp()))
        recording.steps.append((now, codec.decode(raw)))  # type: ignore[arg-type]  # an event or a reply
    original = Original(recording)
    given_terms = with_defaults(Capabilities(max_events_per_second=rate, cognitive_load=load))
    shaper, stream = Shaper(given_terms), list[Envelope]()
    for at, one in recording.events:
        stream += shaper.push(one, at)
    stream += shaper.flush(now)
    before = errors(judged([one for _, one in recording.events], original))
    assume(before <= {"SEQ-003"})  # by when a reply came, the session may see what the model does not
    found = [one for one in judged(stream, original) if not _closes(*one)]
    assert errors(found) <= {"SEQ-003"}


def _closes(violation: Violation, one: Envelope) -> bool:
    """C-32: nobody was told that the agent waits, and that it no longer does has to be told all the same (CF-025)."""
    return violation.rule == "STATE-001" and isinstance(one, StateChanged) and one.from_state == "awaiting_input"


def errors(found: Iterable[tuple[Violation, Envelope]]) -> set[str]:
    return {violation.rule for violation, _ in found if grade(violation) == "error"}
