"""Chapter 6 from the agent's side: who can answer, what counts, and what everybody is told."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aaep.errors import LocalProtocolError
from aaep.journal.base import JournalError
from aaep.journal.memory import MemoryJournal
from aaep.producer.producer import ManifestOptions, Producer, Runtime
from aaep.producer.questions import Answer, Ask
from aaep.producer.session import Session
from aaep.protocol.attend_extension import ATTEND, attend_member
from aaep.protocol.events import (
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    ProgressUpdated,
    SessionCancelled,
    SessionCompleted,
    StateChanged,
    ToolCompleted,
)
from aaep.protocol.fields import get_member
from aaep.protocol.messages import Capabilities, ClarificationReply, ConfirmationReply, SubscriptionRenegotiate
from aaep.runtime.ids import format_timestamp
from aaep.subscriber.subscriber import Subscriber
from aaep.testing import Listener

FULL = Capabilities(
    supports_confirmation_reply=True,
    supports_clarification_reply=True,
    supported_conformance_levels=(1, 2, 3),
    supported_extensions=(ATTEND.namespace,),
)
WATCHING = Capabilities(supported_extensions=(ATTEND.namespace,))


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def producer(clock: Clock) -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None, runtime=Runtime(clock=clock)) as one:
        yield one


def pass_time(producer: Producer, clock: Clock, seconds: float) -> None:
    """Let time pass, and the hub notice."""

    async def due() -> None:
        producer.hub._timers.run_due()

    clock.now += seconds
    producer.hub.run(due())


def outcome(events: list[Envelope], token: str) -> list[str]:
    """What everybody was told about a prompt."""
    ours = [event.extensions.get("attend", {}) for event in events if event.extensions]
    return [str(one.get("outcome")) for one in ours if one.get("reply_token") == token]


def wipe(session: Session, **settings: Any) -> Ask:
    return session.confirm("Wipe the disk.", "All is gone.", tool="wipe", **settings)


def is_out(ask: Ask) -> bool:
    return ask.event is not None


def reply(listener: Listener, prompt: Envelope, **changes: Any) -> None:
    """A reply with something changed about it."""
    members = {
        "reply_token": prompt.reply_token,  # type: ignore[attr-defined]  # a prompt has one
        "decision": "accept",
        "subscription_id": listener.subscription_id,
        "timestamp": format_timestamp(time.time()),
    }
    message = ConfirmationReply(**{**members, **changes})
    listener._run_on_loop(listener._hub.reply, message, listener._peer)


# -- nobody there ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("watchers", [0, 2])
def test_cf_001_nobody_who_could_answer_is_a_no_at_once_and_the_question_is_not_shown(
    producer: Producer, watchers: int
) -> None:
    listeners = [Listener(producer, capabilities=WATCHING) for _ in range(watchers)]
    with producer.session("Working.") as session:
        answer = wipe(session).wait(10)
        assert (answer.outcome, answer.granted) == ("no_reply_channel", False)
    for listener in listeners:
        listener.wait_for_end()
        assert listener.prompts == []
        assert "Nobody can answer. Wipe the disk was not done." in listener.heard


def test_cf_002_a_default_of_yes_waits_its_whole_time_though_nobody_could_answer(
    producer: Producer, clock: Clock
) -> None:
    watcher = Listener(producer, capabilities=WATCHING)
    with producer.session("Working.") as session:
        ask = session.confirm("Tidy up.", "Files move.", risk="low", irreversible=False, default="accept", timeout=60)
        pass_time(producer, clock, 59)
        assert ask.answer is None
        assert watcher.prompts == []
        pass_time(producer, clock, 2)
        answer = ask.wait(10)
        assert (answer.outcome, answer.granted) == ("timed_out", True)
        with pytest.raises(LocalProtocolError, match="silence"), session.tool("tidy", ask=ask, risk="high"):
            raise AssertionError("it ran")  # C-39
        with session.tool("tidy", ask=ask, risk="low"):
            pass


def test_cf_002_who_comes_in_time_may_still_answer(producer: Producer) -> None:
    watcher = Listener(producer, capabilities=WATCHING)
    with producer.session("Working.") as session:
        ask = session.confirm("Tidy up.", "Files move.", risk="low", irreversible=False, default="accept", timeout=60)
        Listener(producer, "reject", capabilities=FULL)
        assert ask.wait(10).outcome == "rejected"
    watcher.wait_for_end()
    assert len(watcher.prompts) == 1  # CF-001: once somebody could answer, everybody was told


def test_cf_006_a_question_nobody_can_answer_is_never_guessed(producer: Producer) -> None:
    with producer.session("Working.") as session:
        assert session.clarify("Which?").wait(10) == Answer(outcome="unavailable", granted=False)
        answer = session.clarify("How many?", kinds=["numeric"], default=3).wait(10)
        assert (answer.outcome, answer.granted, answer.response) == ("unavailable", True, 3)


# -- leaving ---------------------------------------------------------------------------------------------------------


def test_cf_003_only_the_last_who_could_answer_decides_by_leaving(producer: Producer) -> None:
    """TR-019"""
    first, second = Listener(producer, capabilities=FULL), Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        first.wait("awaiting.confirmation")
        first.close()
        assert ask.answer is None
        second.close()
        answer = ask.wait(10)
        assert (answer.outcome, answer.granted) == ("unavailable", False)
        assert answer.refusal.startswith("Nobody was left who could answer. Nothing was done.")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("confirmation", "Nobody is left to answer. Wipe the disk was not done."),
        ("clarification", "Nobody is left to answer. The agent goes on without an answer."),
    ],
)
def test_cf_003_those_who_stay_hear_what_became_of_it(producer: Producer, kind: str, said: str) -> None:
    watcher, last = Listener(producer, capabilities=WATCHING), Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session) if kind == "confirmation" else session.clarify("Which disk?")
        last.wait(f"awaiting.{kind}")
        last.close()
        assert not ask.wait(10)
    watcher.wait_for_end()
    assert said in watcher.heard, "and nothing of time that ran out"
    told = next(event for event in watcher.events if get_member(event, "summary_normal") == said)
    assert attend_member(told, "outcome") == "timed_out", "CF-025: one of the outcomes that everybody knows"


def test_cf_006_who_leaves_a_question_leaves_it_to_the_answer_that_was_named(producer: Producer) -> None:
    watcher, last = Listener(producer, capabilities=WATCHING), Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = session.clarify("How many?", kinds=["numeric"], default=3)
        last.wait("awaiting.clarification")
        last.close()
        assert ask.wait(10) == Answer(outcome="unavailable", granted=True, response=3)
    watcher.wait_for_end()
    assert "Nobody is left to answer. The agent goes on with the answer it named." in watcher.heard


def test_cf_004_a_lost_connection_is_waited_for(producer: Producer, clock: Clock) -> None:
    """TR-019"""
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        listener.wait("awaiting.confirmation")
        listener.drop_connection()
        pass_time(producer, clock, 29)
        assert ask.answer is None
        pass_time(producer, clock, 2)
        assert not ask.wait(10)


def test_cf_005_leaving_never_means_yes(producer: Producer, clock: Clock) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = session.confirm("Tidy up.", "Files move.", risk="low", irreversible=False, default="accept", timeout=60)
        listener.wait("awaiting.confirmation")
        listener.close()
        pass_time(producer, clock, 59)
        assert ask.answer is None
        ask.withdraw()


def test_cf_035_giving_up_the_right_to_answer_counts_as_leaving(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        listener.wait("awaiting.confirmation")
        change = SubscriptionRenegotiate(
            subscription_id=listener.subscription_id, capabilities=Capabilities(supports_confirmation_reply=False)
        )
        listener._run_on_loop(producer.hub.renegotiate, change, listener._peer)
        assert not ask.wait(10)


# -- time ------------------------------------------------------------------------------------------------------------


def test_the_default_applies_when_the_time_is_up_and_the_clock_is_monotonic(producer: Producer, clock: Clock) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session, timeout=200)
        prompt = listener.wait("awaiting.confirmation")
        pass_time(producer, clock, 199.9)
        assert ask.answer is None
        pass_time(producer, clock, 0.1)  # CF-030: at the deadline it is too late
        assert ask.wait(10).outcome == "timed_out"
        reply(listener, prompt)
        assert not ask.wait(10)
    listener.wait_for_end()
    assert outcome(listener.events, prompt.reply_token) == ["timed_out"]  # type: ignore[attr-defined]  # a prompt has one


def test_what_is_told_after_the_deadline_comes_after_the_outcome_though_the_timer_is_late(
    producer: Producer, clock: Clock
) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session, timeout=60)
        listener.wait("awaiting.confirmation")
        clock.now += 61  # and nobody told the hub
        session.progress(10)
        assert ask.wait(10).outcome == "timed_out"
    listener.wait_for_end()
    assert listener.findings() == []


def test_cf_036_the_time_left_is_told_at_half_and_at_a_tenth(producer: Producer, clock: Clock) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session, timeout=200)
        listener.wait("awaiting.confirmation")
        pass_time(producer, clock, 100)
        pass_time(producer, clock, 80)
        listener.expect("progress.updated", "progress.updated")
        told = [event for event in listener.events if isinstance(event, ProgressUpdated)]
        assert [event.progress.description for event in told] == [
            "1 minute and 40 seconds left to answer.",
            "20 seconds left to answer.",
        ]
        ask.withdraw()


def test_cf_036_of_a_short_wait_nothing_is_told(producer: Producer, clock: Clock) -> None:
    """CONF-057: above all over 60 seconds."""
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session, timeout=60)
        listener.wait("awaiting.confirmation")
        pass_time(producer, clock, 59)
        ask.withdraw()
    listener.wait_for_end()
    assert "progress.updated" not in listener.types


def test_cf_028_who_needs_longest_decides_how_long(producer: Producer) -> None:
    wish = Capabilities(
        supports_confirmation_reply=True,
        supported_conformance_levels=(1, 2, 3),
        supported_extensions=(ATTEND.namespace,),
    )
    wish.__dict__["unknown"] = {"attend": {"minimum_timeout_seconds": 900}}
    listener = Listener(producer, "reject", capabilities=wish)
    with producer.session("Working.") as session:
        wipe(session).wait(10)
    assert listener.prompts[0].timeout_seconds == 900


def test_more_time_is_given_by_asking_again(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        first = listener.wait("awaiting.confirmation")
        wish = Capabilities()
        wish.__dict__["unknown"] = {"attend": {"minimum_timeout_seconds": 1200}}
        change = SubscriptionRenegotiate(subscription_id=listener.subscription_id, capabilities=wish)
        listener._run_on_loop(producer.hub.renegotiate, change, listener._peer)
        second = listener.wait(lambda one: isinstance(one, AwaitingConfirmation) and one is not first)
        assert isinstance(first, AwaitingConfirmation) and isinstance(second, AwaitingConfirmation)
        assert (second.timeout_seconds, second.action) == (1200, first.action)
        assert second.reply_token != first.reply_token
        reply(listener, first)  # the old one is dead
        assert ask.answer is None
        reply(listener, second)
        assert ask.wait(10)
        with session.tool("wipe", ask=ask):
            pass
    listener.wait_for_end()
    assert outcome(listener.events, first.reply_token) == ["withdrawn"]
    assert outcome(listener.events, second.reply_token) == ["accepted"]
    assert listener.findings() == []


# -- replies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"reply_token": "rpl_" + "0" * 32},
        {"subscription_id": "sub_" + "0" * 32},
        {"timestamp": "2099-01-01T00:00:00.000Z"},
    ],
    ids=["forged token", "wrong subscription", "dated after the deadline"],
)
def test_a_yes_has_to_pass_every_check(producer: Producer, changes: dict[str, Any]) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        prompt = listener.wait("awaiting.confirmation")
        reply(listener, prompt, **changes)
        assert ask.answer is None
        reply(listener, prompt)  # and the token is still good
        assert ask.wait(10)
        with session.tool("wipe", ask=ask):
            pass


def test_cf_014_a_no_is_taken_whatever_its_clock_says(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        reply(listener, listener.wait("awaiting.confirmation"), decision="reject", timestamp="2099-01-01T00:00:00.000Z")
        assert ask.wait(10).outcome == "rejected"


def test_cf_016_a_token_answers_its_own_kind_and_session_only(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("One.") as one, producer.session("Two.") as two:
        confirmation, question = wipe(one), two.clarify("Which?")
        first, second = listener.wait("awaiting.confirmation"), listener.wait("awaiting.clarification")
        assert isinstance(first, AwaitingConfirmation) and isinstance(second, AwaitingClarification)
        reply(listener, second)  # a yes to a question
        wrong = ClarificationReply(
            reply_token=first.reply_token,
            response="yes",
            subscription_id=listener.subscription_id,
            timestamp=format_timestamp(time.time()),
        )
        listener._run_on_loop(producer.hub.reply, wrong, listener._peer)
        assert confirmation.answer is None and question.answer is None
        listener.reply(second, "the red one")
        assert question.wait(10).response == "the red one"
        assert confirmation.answer is None
        confirmation.withdraw()


def test_cf_019_a_yes_with_a_change_is_a_no(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        reply(listener, listener.wait("awaiting.confirmation"), modified_action={"disk": "other"})
        answer = ask.wait(10)
        assert (answer.outcome, answer.granted, answer.modified) == ("rejected", False, True)
        assert "something else" in answer.refusal
    listener.wait_for_end()
    assert any("Something else is wanted. The agent has to ask again." in text for text in listener.heard)


@pytest.mark.parametrize("answer", ["accept", "reject", "else", "answer", "longer", "stop"])
def test_what_became_of_a_question_is_told_in_words_that_are_true_for_everybody(
    producer: Producer, answer: str
) -> None:
    first = Listener(producer, capabilities=FULL)
    other = Listener(producer, capabilities=FULL)
    session = producer.session("Working.").start()
    ask = session.clarify("Which?") if answer == "answer" else wipe(session)
    prompt = first.wait(lambda one: one == ask.event)
    if answer == "else":
        reply(first, prompt, modified_action="Wipe the table.")
    elif answer == "longer":
        session._activity.questions.withdraw(ask, "longer")
    elif answer == "stop":
        session.cancel(by="user")
    else:
        first.reply(prompt, answer)
    if session.is_open:
        session.cancel(by="system")
    other.wait_for_end()
    told = [event for event in other.events if event.extensions or isinstance(event, SessionCancelled)]
    texts = [getattr(event, f"summary_{size}") for event in told for size in ("terse", "normal", "detailed")]
    assert len(told) >= 2
    assert not [text for text in texts if re.search(r"\b[Yy]ou\b", text)]


def test_the_first_of_many_replies_wins(producer: Producer) -> None:
    listeners = [Listener(producer, capabilities=FULL) for _ in range(10)]
    for _ in range(5):
        with producer.session("Working.") as session:
            ask = wipe(session)
            prompts = [one.wait(_of(session, "awaiting.confirmation")) for one in listeners]
            threads = [
                threading.Thread(
                    target=reply, args=(one, prompt), kwargs={"decision": ("accept", "reject")[number % 2]}
                )
                for number, (one, prompt) in enumerate(zip(listeners, prompts, strict=True))
                for _ in range(10)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
            answer = ask.wait(10)
            if answer:
                with session.tool("wipe", ask=ask):
                    pass
        for one in listeners:
            one.wait(_of(session, "session.completed"))
            told = outcome(one.events, prompts[0].reply_token)  # type: ignore[attr-defined]  # a prompt has one
            assert told == [answer.outcome]
            assert one.findings() == []


def _of(session: Session, type_: str) -> Callable[[Envelope], bool]:
    return lambda event: event.session_id == session.session_id and event.type == f"aaep:agent.{type_}"


# -- questions one at a time, withdrawing ----------------------------------------------------------------------------


def test_questions_of_a_session_come_one_at_a_time(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        first, second = session.clarify("One?"), session.clarify("Two?")
        listener.wait("awaiting.clarification")
        assert len(listener.prompts) == 1 and second.event is None
        listener.reply(listener.prompts[0], "1")
        assert first.wait(10).response == "1"
        listener.expect("awaiting.clarification", "awaiting.clarification")
        listener.reply(listener.prompts[1], "2")
        assert second.wait(10).response == "2"
    assert listener.findings() == []


@pytest.mark.parametrize("begins", [True, False])
def test_what_was_agreed_to_begins_before_anything_else_is_asked(
    producer: Producer, clock: Clock, begins: bool
) -> None:
    """Or else the person would hear the next question where the call should be. But nobody waits for it for long."""
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        first, second = wipe(session), session.confirm("Post it.", "It is gone.")
        listener.reply(listener.wait("awaiting.confirmation"), "accept")
        assert first.wait(10) and not is_out(second)
        if begins:
            with session.tool("wipe", ask=first):
                assert is_out(second)
        else:
            pass_time(producer, clock, 2)
            assert is_out(second)
            session.cancel()


def test_a_prompt_says_in_few_words_what_it_is(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        asks = wipe(session), session.clarify("Which disk?")
        listener.reply(listener.wait("awaiting.confirmation"), "reject")
        listener.reply(listener.wait("awaiting.clarification"), "The old one.")
        assert [not ask.wait(10) for ask in asks] == [True, False]
    assert [one.summary_terse for one in listener.prompts] == ["Confirm.", "Question."]


def test_the_same_action_may_be_asked_about_again(producer: Producer) -> None:
    listener = Listener(producer, "reject", capabilities=FULL)
    with producer.session("Working.") as session:
        for _ in range(2):
            assert not wipe(session).wait(10)
    assert listener.findings() == []


@pytest.mark.parametrize("way", ["withdraw", "cancel", "timeout of wait_for"])
def test_who_stops_waiting_takes_the_question_back(producer: Producer, way: str) -> None:
    listener = Listener(producer, capabilities=FULL)

    async def work() -> None:
        async with producer.session("Working.") as session:
            ask = wipe(session)
            if way == "withdraw":
                ask.withdraw()
            elif way == "cancel":
                task = asyncio.ensure_future(_wait(ask))
                await asyncio.sleep(0)  # a turn of the loop
                await asyncio.sleep(0)  # a turn of the loop
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            else:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(ask, 0.01)
            assert ask.answer is not None and ask.answer.outcome == "withdrawn"

    asyncio.run(work())
    listener.wait_for_end()
    token = listener.prompts[0].reply_token
    assert outcome(listener.events, token) == ["withdrawn"]
    assert listener.findings() == []


async def _wait(ask: Ask) -> Answer:
    return await ask


@pytest.mark.parametrize("named", [True, False])
def test_a_yes_that_came_when_nobody_waited_any_more_is_told_to_be_in_vain(producer: Producer, named: bool) -> None:
    """HITL-018: else the session could not end well, though nobody did anything wrong."""
    listener = Listener(producer, capabilities=FULL)

    async def agent() -> None:
        async with producer.session("Working.") as session:
            ask = session.confirm("Wipe the disk.", "All is gone.", tool="wipe" if named else None)

            async def wait() -> None:
                await ask

            waiting = asyncio.create_task(wait())
            await asyncio.to_thread(listener.wait, "awaiting.confirmation")
            listener.reply(listener.prompts[0], "accept")  # the loop is held meanwhile
            assert ask.arrived.done and not ask.is_taken
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            with pytest.raises(LocalProtocolError, match="has been used"), session.tool("wipe", ask=ask):
                pass

    asyncio.run(agent())
    assert isinstance(listener.wait_for_end(), SessionCompleted)
    assert listener.findings() == []
    told = [one.text for one in listener.announcements if not one.redundant]
    after = told[next(index for index, text in enumerate(told) if text.startswith("Accepted.")) + 1 :]
    assert [text for text in after if "Thinking" not in text and "idle" not in text] == [
        "Wipe the disk was not done: the agent stopped waiting.",
        "Ended. Wipe the disk was not done.",
    ]


def test_a_yes_that_nobody_looked_at_does_not_keep_a_session_from_ending_well(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        with pytest.raises(TimeoutError):
            ask.wait(0)
        listener.reply(listener.wait("awaiting.confirmation"), "accept")
    assert isinstance(listener.wait_for_end(), SessionCompleted)
    assert listener.findings() == []
    with pytest.raises(LocalProtocolError, match="never announced"), producer.session("Working.") as session:
        ask = wipe(session)
        listener.reply(listener.wait(lambda one: one == ask.event), "accept")
        assert ask.wait(10)  # who has seen it and says nothing of a tool may have run it unheard


def test_a_yes_that_nobody_looked_at_is_not_told_of_after_a_handoff(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        wipe(session)
        listener.reply(listener.wait("awaiting.confirmation"), "accept")
        session.handoff("Too hard.")
    assert isinstance(listener.wait_for_end(), SessionCancelled)
    assert listener.findings() == [] and listener.tools == []


def test_a_tool_that_was_agreed_to_and_then_given_up_does_not_run(producer: Producer) -> None:
    ran: list[str] = []
    listener = Listener(producer, capabilities=FULL)

    @producer.tool
    async def wipe() -> None:
        ran.append("wiped")

    async def agent() -> None:
        async with producer.session("Working."):
            task = asyncio.create_task(wipe())
            await asyncio.to_thread(listener.wait, "awaiting.confirmation")
            listener.reply(listener.prompts[0], "accept")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(agent())
    assert isinstance(listener.wait_for_end(), SessionCompleted)
    assert ran == [] and listener.findings() == []
    completed = next(event for event in listener.events if isinstance(event, ToolCompleted))
    assert (completed.tool, completed.status) == ("wipe", "error")


def test_an_interrupted_wait_takes_the_question_back(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)

        def interrupted(_: float | None = None) -> Answer:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(ask.arrived, "wait", interrupted)
            with pytest.raises(KeyboardInterrupt):
                ask.wait()
        assert ask.answer is not None and ask.answer.outcome == "withdrawn"


def test_waiting_with_a_limit_does_not_take_the_question_back(producer: Producer) -> None:
    Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        with pytest.raises(TimeoutError):
            ask.wait(0)
        assert ask.answer is None
        ask.withdraw()


class NotingLock:
    """A lock that notes when a thread has to wait for it."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock
        self.awaited = threading.Event()

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self.awaited.set()
            self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_whose_question_ends_with_the_session_finds_that_it_is_over(
    producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Listener(producer, capabilities=FULL)
    session = producer.session("Working.").start()
    lock = NotingLock(session._emitter.lock)
    monkeypatch.setattr(session._emitter, "lock", lock)
    ask = wipe(session)
    found: list[tuple[str, bool]] = []

    def agent() -> None:
        found.append((ask.wait(10).outcome, session.is_open))
        lock.awaited.set()

    thread = threading.Thread(target=agent)
    resolve = ask.arrived.set_result

    def resolve_slowly(answer: Answer) -> bool:  # so that the agent comes between the answer and the end
        try:
            return resolve(answer)
        finally:
            thread.start()
            assert lock.awaited.wait(10)

    monkeypatch.setattr(ask.arrived, "set_result", resolve_slowly)
    session.cancel(by="user")
    thread.join(10)
    assert found == [("withdrawn", False)]


def test_the_end_of_a_session_voids_its_questions(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        first, second = wipe(session), session.clarify("Which?")
        prompt = listener.wait("awaiting.confirmation")
    assert first.wait(10).outcome == second.wait(10).outcome == "withdrawn"
    reply(listener, prompt)  # too late for everything
    listener.wait_for_end()
    assert listener.findings() == []
    assert listener.types[-1] == "session.completed"


def test_a_granted_tool_of_a_session_that_ended_does_not_run(producer: Producer) -> None:
    Listener(producer, "accept", capabilities=FULL)
    session = producer.session("Working.").start()
    ask = wipe(session)
    assert ask.wait(10)
    session.cancel()
    with pytest.raises(LocalProtocolError), session.tool("wipe", ask=ask):
        raise AssertionError("it ran")


def test_cf_019_arguments_that_change_after_the_answer_do_not_run_either(producer: Producer, clock: Clock) -> None:
    order = {"amount": 5}

    @producer.tool(action="Pay {order}.", consequence="Money moves.")
    async def pay(order: dict[str, int]) -> None:
        raise AssertionError("it ran")

    @producer.tool(action="Look.", consequence="Nothing.")
    async def look() -> str:
        return "seen"

    listener = Listener(
        producer, lambda one: "accept" if one.action == "Pay 1 entry: amount: 5." else "silence", capabilities=FULL
    )

    async def run() -> None:
        async with producer.session("Working."):
            tasks = [asyncio.create_task(one) for one in (pay(order), look())]
            await asyncio.sleep(0)  # a turn of the loop
            listener.wait(lambda one: isinstance(one, StateChanged) and one.to_state == "calling_tool")
            pass_time(producer, clock, 2)  # what was granted did not begin, so the next question comes
            question = listener.wait(lambda one: isinstance(one, AwaitingConfirmation) and one.action == "Look.")
            for _ in range(20):  # it has its answer, and waits for that of the other
                await asyncio.sleep(0)  # a turn of the loop
            order["amount"] = 5000
            listener.reply(question, "reject")
            with pytest.raises(LocalProtocolError, match="changed"):
                await tasks[0]
            assert "The user refused." in str(await tasks[1])

    with pytest.raises(LocalProtocolError, match="HITL-018"):
        asyncio.run(run())


def test_cf_001_who_was_not_asked_is_not_told_how_much_time_is_left(producer: Producer, clock: Clock) -> None:
    watcher = Listener(producer, capabilities=WATCHING)
    with producer.session("Working.") as session:
        harmless: Any = {"risk": "low", "irreversible": False, "default": "accept", "timeout": 120}
        ask = session.confirm("Send the letter.", "It is sent.", **harmless)
        pass_time(producer, clock, 61)
        Listener(producer, capabilities=FULL)
        pass_time(producer, clock, 50)
        watcher.expect("awaiting.confirmation", "progress.updated")
        ask.withdraw()
    said = [event.summary_normal for event in watcher.events if isinstance(event, ProgressUpdated)]
    assert said == ["12 seconds left to answer."]


def test_what_was_granted_and_does_not_begin_holds_up_text_for_a_moment_only(producer: Producer, clock: Clock) -> None:
    listener = Listener(producer, "accept", capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        ask.wait(10)
        session.write("First I look for the disk.")
        pass_time(producer, clock, 2)
        listener.wait("output.streaming")
        with session.tool("wipe", ask=ask):
            pass
    assert listener.output == "First I look for the disk."


def test_the_moment_of_one_question_is_not_that_of_the_next(producer: Producer, clock: Clock) -> None:
    Listener(producer, "accept", capabilities=FULL)
    with producer.session("Working.") as session:
        for _ in range(2):
            ask = wipe(session)
            ask.wait(10)
            clock.now += 0.6
            later = wipe(session)
            pass_time(producer, clock, 0)
            assert later.event is None  # not before the first has begun
            with session.tool("wipe", ask=ask):
                pass
            later.wait(10)
            with session.tool("wipe", ask=later):
                pass


def test_a_question_that_cannot_be_kept_is_not_waited_for() -> None:
    class Full(MemoryJournal):
        full = False

        def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
            if self.full and b"awaiting.confirmation" in data:
                raise JournalError("The disk is full.")
            super().append(event_id, session_id, data, at=at)

    with Producer("bank", journal=Full()) as producer:
        listener = Listener(producer)
        with producer.session("Working.") as session:
            first, second, third = (session.confirm(f"Wipe disk {number}.", "All is gone.") for number in range(3))
            producer.hub.journal.full = True  # type: ignore[attr-defined]  # ours, see above
            listener.reply(listener.wait("awaiting.confirmation"), "reject")
            assert first.wait(10).outcome == "rejected"
            for ask in (second, third):
                with pytest.raises(JournalError, match="full"):
                    ask.wait(10)


# -- clarifications, handoff -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "wrong", "right"),
    [
        ({}, 7, "seven"),
        ({"kinds": ["numeric"]}, "7", 7.5),
        ({"kinds": ["yes_no"]}, "yes", True),
        ({"choices": ["a", "b"]}, "c", "b"),
        ({"choices": {"a": "Ape", "b": "Bee"}, "kinds": ["multiple_choice", "numeric"]}, "Bee", 4),
    ],
)
def test_an_answer_has_to_be_of_a_kind_that_was_asked_for(
    producer: Producer, settings: dict[str, Any], wrong: Any, right: Any
) -> None:
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = session.clarify("What?", **settings)
        prompt = listener.wait("awaiting.clarification")
        listener.reply(prompt, wrong)
        assert ask.answer is None  # CLAR-019: no answer at all
        listener.reply(prompt, right)
        answer = ask.wait(10)
        assert (answer.outcome, answer.response, bool(answer)) == ("answered", right, True)
    listener.wait_for_end()
    assert outcome(listener.events, prompt.reply_token) == ["answered"]  # type: ignore[attr-defined]  # a prompt has one


def test_a_no_to_a_question_is_no_leave_to_go_on(producer: Producer, clock: Clock) -> None:
    with producer.session("Working.") as session:
        settings: Any = {"kinds": ["yes_no"], "default": False, "timeout": 60}
        assert not session.clarify("Delete all?", **settings).wait(10)  # nobody is there
        listener = Listener(producer, capabilities=FULL)
        ask = session.clarify("Delete all?", **settings)
        pass_time(producer, clock, 61)
        assert ask.wait(10) == Answer(outcome="timed_out", granted=False, response=False) and not ask.wait()
        told = listener.wait(lambda one: isinstance(one, StateChanged) and one.urgency == "critical")
        assert isinstance(told, StateChanged)
        assert str(told.summary_normal).endswith("The agent goes on with the answer it named.")
        for said in (False, True):
            ask = session.clarify("Delete all?", kinds=["yes_no"])
            listener.reply(listener.wait(lambda one, ask=ask: one == ask.event), said)  # type: ignore[misc]  # of this turn
            answer = ask.wait(10)
            assert (answer.outcome, answer.response, answer.granted, bool(answer)) == ("answered", said, said, said)
        ask = session.clarify("How many?", kinds=["numeric"])
        listener.reply(listener.wait(lambda one: one == ask.event), 0)
        assert ask.wait(10)  # a number is no refusal


@pytest.mark.parametrize("answer", ["accept", "reject", None])
def test_a_question_is_no_yes_before_its_answer_or_after(producer: Producer, answer: str | None) -> None:
    """Whoever forgets to wait goes nowhere."""
    Listener(producer, answer, capabilities=FULL)
    with pytest.raises(LocalProtocolError, match=r"ask\.wait\(\)"), producer.session("Working.") as session:
        if wipe(session):
            raise AssertionError("it went on")
    with pytest.raises(LocalProtocolError, match="await ask"), producer.session("Working.") as session:
        ask = session.clarify("Which?")
        ask.withdraw()
        bool(ask)


def test_a_question_that_is_not_answered_takes_the_answer_it_named(producer: Producer, clock: Clock) -> None:
    """HITL-025"""
    Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = session.clarify("How many?", kinds=["numeric"], default=3, timeout=60)
        pass_time(producer, clock, 61)
        assert ask.wait(10) == Answer(outcome="timed_out", granted=True, response=3)
        ask = session.clarify("How many?", kinds=["numeric"], timeout=60)
        pass_time(producer, clock, 61)
        assert ask.wait(10) == Answer(outcome="unavailable", granted=False)


def test_after_handing_over_nothing_runs_any_more(producer: Producer) -> None:
    """LVL-034, C-53"""
    listener = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        session.handoff("A person has to look at this.", context={"so_far": "nothing"}, priority="high")
        with pytest.raises(LocalProtocolError), session.tool("look", risk="low"):
            raise AssertionError("it ran")
    with producer.session("Working.") as session:
        session.handoff("A person has to look at this.")
        session.handed_over("Somebody has.")
    listener.expect("handoff.requested", "session.cancelled", "handoff.requested", "session.completed")
    assert listener.findings() == []


# -- who joins late --------------------------------------------------------------------------------------------------


def test_cf_007_who_comes_later_is_asked_too_and_may_answer(producer: Producer) -> None:
    first = Listener(producer, capabilities=FULL)
    with producer.session("Working.") as session:
        ask = wipe(session)
        prompt = first.wait("awaiting.confirmation")
        late = Listener(producer, capabilities=FULL)
        again = late.wait("awaiting.confirmation")
        assert again.event_id == prompt.event_id
        assert late.types[0] == "session.started"  # CF-146
        resync = [event for event in late.events if isinstance(event, StateChanged)]
        assert [(one.from_state, one.to_state) for one in resync] == [("idle", "awaiting_input")]
        late.reply(again, "accept")
        assert ask.wait(10)
        with session.tool("wipe", ask=ask):
            pass
    first.wait_for_end()
    late.wait_for_end()
    assert first.findings() == [] and late.findings(strict=False) == []


def test_cf_145_a_session_is_heard_and_answered_by_its_audience_only(producer: Producer) -> None:
    mine, other = (
        Listener(producer, capabilities=FULL, principal="me"),
        Listener(producer, "accept", capabilities=FULL, principal="other"),
    )
    with producer.session("Working.", audience=frozenset({"me"})) as session:
        ask = wipe(session)
        prompt = mine.wait("awaiting.confirmation")
        reply(other, prompt)
        reply(other, prompt, subscription_id=mine.subscription_id)
        assert ask.answer is None
        mine.reply(prompt, "reject")
        assert not ask.wait(10)
    mine.wait_for_end()
    assert other.events == []


def test_a_level_1_producer_refuses_what_is_risky() -> None:
    with Producer("bank", journal=None, manifest=ManifestOptions(level=1)) as producer:
        listener = Listener(producer, "accept", capabilities=FULL)
        assert listener.terms.supports_confirmation_reply is False
        with producer.session("Working.") as session:
            assert wipe(session).wait(10).outcome == "no_reply_channel"


# -- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("replies", "stopped"), [(True, True), (False, False)])
def test_cf_147_who_may_answer_may_stop_a_session(replies: bool, stopped: bool) -> None:
    with Producer("bank", journal=None, listen="http://127.0.0.1:0") as producer:
        session = producer.session("Working.").start()
        other = producer.session("Other work.").start()
        ask = session.clarify("Which?") if not replies else None
        with Subscriber(producer.addresses[0], replies=replies) as subscriber:
            subscriber.ready().wait(30)
            producer.reader(replies=False).wait(30)
            ask = session.clarify("Which?") if ask is None else ask
            subscriber.stop(session.session_id).wait(30)
            assert session.is_open is not stopped and other.is_open
            assert (ask.wait(10).outcome == "withdrawn") is stopped
            if stopped:
                ended = next(event for event in subscriber if isinstance(event, SessionCancelled))
                assert (ended.session_id, ended.cancelled_by) == (session.session_id, "user")
                with pytest.raises(LocalProtocolError), session.tool("look", risk="low"):
                    raise AssertionError("it ran")


def test_cf_147_leaving_stops_nothing(producer: Producer) -> None:
    listener = Listener(producer, capabilities=FULL)
    session = producer.session("Working.").start()
    listener.wait("session.started")
    listener.close()
    assert session.is_open
