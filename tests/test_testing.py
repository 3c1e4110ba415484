"""The listener for the tests of agents: what it is told to answer is what it answers, and what it cannot is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from aaep.producer.producer import Producer, Runtime
from aaep.protocol.events import AwaitingConfirmation, OutputStreaming
from aaep.protocol.messages import ConfirmationReply
from aaep.testing import Clock, Listener


@pytest.fixture
def producer() -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None) as one:
        yield one


def fails(_: object) -> str:
    raise KeyError("no answer was prepared")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("no", '"accept" or "reject", not \'no\''),
        ("yes", '"accept" or "reject", not \'yes\''),
        (True, '"accept" or "reject", not True'),
        (fails, "no answer was prepared"),
    ],
)
def test_what_is_neither_yes_nor_no_is_told_and_nothing_runs(producer: Producer, answer: Any, why: str) -> None:
    ran: list[str] = []

    @producer.tool
    def wipe() -> str:
        ran.append("wiped")
        return "Done."

    listener = Listener(producer, answer)
    with producer.session("Working."):
        assert "Nothing was done." in wipe()  # at once: nobody waits for who will not answer
    assert ran == []
    with pytest.raises(AssertionError, match=why):
        listener.expect("session.completed")
    with pytest.raises(AssertionError, match=why):
        listener.wait("awaiting.confirmation")


def test_an_answer_that_a_question_does_not_take_is_told(producer: Producer) -> None:
    listener = Listener(producer, "accept")
    with producer.session("Working.") as session:
        assert session.clarify("All of it?", kinds=["yes_no"]).wait(10).outcome == "unavailable"
    with pytest.raises(AssertionError, match="does not take the answer 'accept'"):
        listener.wait_for_end()


def test_a_function_that_fails_to_say_something_is_told(producer: Producer) -> None:
    listener = Listener(producer, "accept", on_announcement=fails)
    with producer.session("Working.") as session:
        assert session.confirm("Look.", "Nothing.", risk="low", irreversible=False).wait(10)
        session.cancel()
    with pytest.raises(AssertionError, match="no answer was prepared"):
        listener.wait_for_end()


def test_a_reply_by_hand_is_yes_or_no(producer: Producer) -> None:
    listener = Listener(producer)
    with producer.session("Working.") as session:
        ask = session.confirm("Wipe the disk.", "All is gone.")
        prompt = listener.wait("awaiting.confirmation")
        with pytest.raises(ValueError, match='"accept" or "reject"'):
            listener.reply(prompt, "no")
        assert ask.answer is None
        listener.reply(prompt, "reject")
        assert ask.wait(10).outcome == "rejected"


def test_nothing_but_the_word_is_a_yes(producer: Producer) -> None:
    listener = Listener(producer)
    with producer.session("Working.") as session:
        ask = session.confirm("Wipe the disk.", "All is gone.")
        prompt = listener.wait("awaiting.confirmation")
        assert isinstance(prompt, AwaitingConfirmation)
        odd: Any = "agreed"
        message = ConfirmationReply(
            reply_token=prompt.reply_token,
            decision=odd,
            subscription_id=listener.subscription_id,
            timestamp=prompt.timestamp,
        )
        listener._run_on_loop(producer.hub.reply, message, listener._peer)
        assert ask.answer is None
        session.withdraw(ask)


def test_a_yes_counts_where_the_agent_has_a_clock_of_its_own() -> None:
    with Producer("bank", name="Bank", journal=None, runtime=Runtime(wall=lambda: 86_400.0)) as producer:
        listener = Listener(producer, "accept")

        @producer.tool(timeout=60)
        def wipe() -> str:
            return "wiped"

        with producer.session("Working."):
            assert wipe() == "wiped"
        listener.wait_for_end()
        assert listener.findings() == []


def test_an_agent_in_another_language_is_heard_as_well() -> None:
    with Producer("bank", name="Bank", journal=None, language="de-DE") as producer:
        listener = Listener(producer, "accept")
        with producer.session("Überweise Geld."):
            pass
        listener.wait_for_end()
        assert listener.terms.languages == ("de-DE",) and listener.findings() == []
        assert any("Überweise Geld." in text for text in listener.heard)


def test_time_passes_when_the_test_says_so() -> None:
    with Producer("bank", name="Bank", journal=None, runtime=Runtime(clock=Clock())) as producer:
        listener = Listener(producer)
        with producer.session("Working.") as session:
            ask = session.confirm("Wipe the disk.", "All is gone.", timeout=100)
            listener.advance(50)
            listener.advance(49)
            assert ask.answer is None
            listener.advance(1)
            assert ask.wait(10).outcome == "timed_out"
        listener.wait_for_end()
        assert listener.findings() == []
        assert any("50 seconds left to answer." in text for text in listener.heard)


def test_what_is_heard_after_a_while_is_heard_when_time_passes() -> None:
    with Producer("bank", name="Bank", journal=None, runtime=Runtime(clock=Clock())) as producer:
        listener = Listener(producer)
        with producer.session("Working.") as session, session.output() as out:
            out.write("First. It is 3.")
            listener.wait(lambda event: isinstance(event, OutputStreaming))
            assert "It is 3." not in listener.heard
            listener.advance(1)
            listener.wait(lambda event: isinstance(event, OutputStreaming) and "3" in event.chunk)
            listener.advance(1)
            assert "It is 3." in listener.heard


def test_a_clock_that_cannot_be_set_is_told(producer: Producer) -> None:
    with pytest.raises(TypeError, match=r"Make the producer with runtime=aaep\.Runtime\(clock=aaep\.testing\.Clock"):
        Listener(producer).advance(1)
    with pytest.raises(ValueError, match="backwards"):
        Clock().advance(-1)


def test_what_is_heard_is_what_a_reader_says() -> None:
    told: list[str] = []
    with Producer("bank", name="Bank", journal=None, tell=told.append) as producer:
        listener = Listener(producer, "accept")

        @producer.tool(risk="low", irreversible=False)
        def look() -> str:
            return "Seen."

        with producer.session("Working.") as session:
            session.write(look())
        listener.wait_for_end()
        assert listener.heard == told, "and nothing that only repeats it"


def test_what_the_agent_had_said_when_the_answer_came_is_no_error(producer: Producer) -> None:
    listener = Listener(producer)
    with producer.session("Working.") as session:
        ask = session.confirm("Wipe the disk.", "All is gone.")
        prompt = listener.wait("awaiting.confirmation")

        def both() -> None:
            session.progress(10)  # on its way to the listener, who does not know of it yet
            listener.reply(prompt, "accept")

        listener._run_on_loop(both)
        assert ask.wait(10)
        with session.tool("wipe", ask=ask):
            pass
    listener.wait_for_end()
    assert "progress.updated" in listener.types
    assert [str(one) for one in listener.findings()] == []


def test_an_agent_can_be_listened_to_on_its_own_loop() -> None:
    async def agent() -> Listener:
        async with Producer("bank", journal=None, runtime=Runtime(loop=asyncio.get_running_loop())) as producer:
            listener = Listener(producer, "accept")

            @producer.tool
            async def wipe() -> str:
                return "wiped"

            async with producer.session("Working."):
                assert await wipe() == "wiped"
                with pytest.raises(RuntimeError, match="to_thread"):
                    listener.wait("session.completed")
            await asyncio.to_thread(listener.wait, "session.completed")
            listener.wait("session.completed")  # it is there
            listener.close()
            return listener

    listener = asyncio.run(agent())
    assert listener.tools == ["wipe"] and listener.findings() == []
