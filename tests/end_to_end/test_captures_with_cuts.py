"""What ``aaep capture`` records of our own producer is sound, wherever the line breaks and is mended."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aaep.cli import main
from aaep.errors import LocalProtocolError
from aaep.hub.settings import HubSettings
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol.events import TERMINAL, AwaitingClarification, AwaitingConfirmation, Envelope
from aaep.recording.capture import CaptureWriter, LineFile
from aaep.subscriber.connection import SubscriberRuntime
from aaep.subscriber.status import Status
from aaep.subscriber.subscriber import Subscriber
from aaep.testing import Clock, Listener
from aaep.transports.base import ChannelLost
from tests.end_to_end.relay import Relay
from tests.end_to_end.wires import LONG, Wire
from tests.options import producer as producer_with

START = 1_800_000_000.0  # seconds since 1970
TIMEOUT = 300  # seconds for an answer
# Time makes leaps here, and nobody is given up on for that.
SETTINGS = HubSettings(resume_window=1e6, ring_max_age=1e6, max_lag=1e6)

# What an agent does one after the other: work, questions with the answer to each, breaks of the line, ends.
WORK = ["think", "look up", "write a sentence", "write half a sentence", "report progress", "wait a minute"]
QUESTIONS = ["reject", "silence", "withdraw", "clarify", "pay and accept", "pay and reject"]
ENDS = ["complete", "fail", "cancel", "hand over"]
steps = st.one_of(
    st.sampled_from(WORK),
    st.sampled_from(QUESTIONS),
    st.sampled_from(ENDS),
    st.integers(0, 6),  # the line breaks after so many events
)


async def at_once(_: float) -> None:
    """Instead of waiting between two tries: there is nobody to be gentle with here."""
    await asyncio.sleep(0)  # lets the loop turn


class Agent:
    """An agent at work, in a world whose time passes only when it lets it."""

    def __init__(self, producer: Producer, clock: Clock) -> None:
        self.producer = producer
        self.clock = clock
        self.answer = "silence"  # what the person says to the next question
        self.is_asked = threading.Event()
        self.session_count = 0
        self.session: Session | None = None
        self.look_up = producer.tool(name="look_up", risk="low")(self._look_up)
        self.pay = producer.tool(
            name="pay", action="Pay {amount}.", consequence="Funds move at once.", timeout=TIMEOUT
        )(self._pay)

    def _look_up(self) -> str:
        return "1,240"

    def _pay(self, amount: str) -> str:
        return f"Paid {amount}."

    def let_pass(self, seconds: float) -> None:
        """Let time pass, and have done what is due by then."""

        async def run_due_timers() -> None:
            self.producer.hub.run_due_timers()

        self.clock.advance(seconds)
        self.producer.hub.run(run_due_timers())

    def begin(self) -> Session:
        if self.session is None:
            self.session_count += 1
            self.session = self.producer.session(f"Errand {self.session_count}.").__enter__()
        return self.session

    def end(self, how: str) -> None:
        session, self.session = self.session, None
        if session is None:
            return
        if how == "fail":
            session.fail("The bank is closed.")
        elif how == "cancel":
            session.cancel()
        elif how == "hand over":
            session.handoff("A person has to sign this.")
            session.handed_over()
        session.__exit__(None, None, None)

    def reply_as_another(self, prompt: Envelope, *, is_silent: bool) -> str:
        """Reply in place of the reader that is recorded, unless that one does."""
        self.is_asked.set()
        if is_silent:
            return "silence"
        if isinstance(prompt, AwaitingClarification):
            return "a"
        return self.answer if self.answer in ("accept", "reject") else "silence"

    def do(self, step: str) -> None:
        self.let_pass(0.25)
        if step in ENDS:
            self.end(step)
            return
        session = self.begin()
        self.answer = step.rpartition(" ")[2]
        if step == "think":
            with session.thinking():
                self.let_pass(0.5)
        elif step == "look up":
            self.look_up()
        elif step == "write a sentence":
            session.write("This is a sentence. ")
        elif step == "write half a sentence":
            session.write("This is ")
        elif step == "report progress":
            session.progress(50)
        elif step == "wait a minute":
            self.let_pass(60.0)
        elif step.startswith("pay"):
            self.pay("$500")
        elif step == "clarify":
            session.clarify("Which account?", choices={"a": "The first", "b": "The second"}).wait(LONG)
        else:
            self.is_asked.clear()
            ask = session.confirm("Close the account.", "It cannot be opened again.", timeout=TIMEOUT)
            if step == "withdraw":
                ask.withdraw()
            elif step == "silence":
                assert self.is_asked.wait(LONG)
                self.let_pass(TIMEOUT)
            assert ask.wait(LONG) is not None


class Recorder:
    """What ``aaep capture --replies`` does, with the agent's answers given by heart."""

    def __init__(self, url: str, path: Path, wall: Callable[[], float], agent: Agent, *, replies: bool) -> None:
        self._agent = agent
        self._capture = CaptureWriter(LineFile(path), source=url, wall=wall)
        self._ended: set[str] = set()
        self._changed = threading.Condition()
        self.subscriber = Subscriber(
            url,
            name="aaep capture",
            replies=replies,
            on_status=self._note,
            on_message=self._capture.record,
            runtime=SubscriberRuntime(sleep=at_once, wall=wall),
        )
        self._replies = replies
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def _note(self, status: Status) -> None:
        self._capture.record_status(status)

    def start(self) -> None:
        self._thread.start()
        self.subscriber.ready().wait(LONG)

    def _listen(self) -> None:
        for event in self.subscriber:
            if self._replies and isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
                self._reply(event)
            with self._changed:
                self._ended |= {event.session_id} if isinstance(event, TERMINAL) else set()
                self._changed.notify_all()

    def _reply(self, prompt: AwaitingConfirmation | AwaitingClarification) -> None:
        while True:
            try:
                answer_prompt(self.subscriber, prompt, self._agent.answer)
                return
            except ChannelLost:
                continue  # between two connections; it is tried again
            except LocalProtocolError:
                return  # it came through, and only the word that it did was lost; or its time is up

    def finish(self, session_count: int) -> None:
        """Wait for the end of every session, and close the file."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._ended) >= session_count, LONG)
        self.subscriber.close().wait(LONG)
        self._thread.join(LONG)
        self._capture.close()


def answer_prompt(subscriber: Subscriber, prompt: Envelope, answer: str) -> None:
    if isinstance(prompt, AwaitingClarification):
        subscriber.answer(prompt, "a").wait(LONG)
    elif isinstance(prompt, AwaitingConfirmation) and answer == "accept":
        subscriber.accept(prompt).wait(LONG)
    elif isinstance(prompt, AwaitingConfirmation) and answer == "reject":
        subscriber.reject(prompt).wait(LONG)


@contextmanager
def world(wire: Wire) -> Iterator[tuple[Relay, Agent, str, Callable[[], float]]]:
    clock = Clock()

    def wall() -> float:
        return START + clock.now

    with (
        Relay(wire) as relay,
        producer_with(
            "bank",
            name="Bank",
            version="1.0",
            model="errand-1",
            listen=wire.listen,
            journal=None,
            clock=clock,
            wall=wall,
            settings=SETTINGS,
            **wire.through(relay.host),
        ) as producer,
    ):
        relay.target = producer.addresses[0]
        yield relay, Agent(producer, clock), relay.url, wall


@pytest.mark.only("mends")
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.lists(steps, max_size=14), does_answer=st.booleans(), joins_after=st.integers(0, 6))
def test_a_capture_with_cuts_has_nothing_to_complain_of(
    wire: Wire, script: list[str | int], does_answer: bool, joins_after: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, world(wire) as (relay, agent, url, wall):
        path = Path(folder) / "cut.ndjson"
        recorder = Recorder(url, path, wall, agent, replies=does_answer)
        has_joined = False
        other = Listener(
            agent.producer, lambda prompt: agent.reply_as_another(prompt, is_silent=does_answer and has_joined)
        )
        ended_before = 0
        for number, step in enumerate([*script, "think"]):
            if number == min(joins_after, len(script)):
                has_joined = True
                agent.let_pass(1.0)
                recorder.start()
                ended_before = agent.session_count - (agent.session is not None)
            if step == "pay and accept" and not does_answer:
                agent.do("pay and reject")  # that the yes of another is not in the recording is worth a note (C-38)
            elif isinstance(step, str):
                agent.do(step)
            elif step:
                relay.breaks = step
            else:
                relay.drop()
        agent.begin()
        agent.end("complete")
        recorder.finish(agent.session_count - ended_before)
        other.close()
        # The strict grading takes a recording for the whole, which one that begins in the middle is not.
        for grading in ((), ("--strict",)) if not joins_after else ((),):
            told = CliRunner().invoke(main, ["validate", "--notes", *grading, str(path)])
            assert told.exit_code == 0, told.output
            assert told.stdout.endswith("Result: no errors, no warnings.\n"), told.stdout
