"""What was begun and not finished may have happened, and what was not done is told at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from aaep.errors import LocalProtocolError
from aaep.presentation.announce import announce
from aaep.presentation.preferences import Preferences
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol.events import SessionCompleted, ToolCompleted
from aaep.testing import Listener

CHECK = "It may have happened. Check before you try again."


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def producer(heard: list[str]) -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None, tell=heard.append) as one:
        yield one


def completed(listener: Listener) -> list[ToolCompleted]:
    return [event for event in listener.events if isinstance(event, ToolCompleted)]


# -- a call that is broken off -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cancelled", "timed out"])
def test_c_42_an_accepted_payment_that_is_broken_off_may_have_happened(
    producer: Producer, heard: list[str], how: str
) -> None:
    listener = Listener(producer, "accept")

    async def run() -> BaseException | None:
        @producer.tool(action="Pay {amount} to {to}.", consequence="The money moves.")
        async def pay(amount: int, to: str) -> None:
            if how == "cancelled":
                task.cancel()
            else:
                limit.reschedule(asyncio.get_running_loop().time())
            await asyncio.Event().wait()

        async with producer.session("Paying."):
            try:
                async with asyncio.timeout(None) as limit:
                    if how == "cancelled":
                        task = asyncio.ensure_future(pay(5, "Ada"))
                        await task
                    await pay(5, "Ada")
            except asyncio.CancelledError as error:
                return error
            except TimeoutError as error:
                return error.__cause__
        return None

    error = asyncio.run(run())
    end = listener.wait_for_end()
    [call] = completed(listener)
    assert (call.status, call.error_message) == ("timeout", f"Pay did not finish. {CHECK}")
    assert (call.summary_terse, call.summary_normal) == ("Pay may have happened.", f"Pay did not finish. {CHECK}")
    assert getattr(error, "__notes__", []) == ["Pay 5 to Ada may have happened. Check before you try again."]
    assert isinstance(end, SessionCompleted)
    assert heard[-2:] == [
        f"Pay 5 to Ada did not finish. {CHECK}",
        "Ended. Pay 5 to Ada may have happened. Check before you try again.",
    ]
    assert "failed" not in " ".join(heard).lower() and "Done." not in heard and listener.findings() == []


class ReadTimeout(Exception):
    """As some network clients have it."""


BREAKS: list[Callable[[], BaseException]] = [
    KeyboardInterrupt,
    SystemExit,
    TimeoutError,
    ReadTimeout,
    lambda: BaseExceptionGroup("both", [ValueError(), TimeoutError()]),
]


@pytest.mark.parametrize("make", BREAKS)
@pytest.mark.parametrize("settings", [{}, {"risk": "medium"}, {"risk": "low", "confirm": True}])
def test_c_42_whatever_breaks_off_what_was_agreed_to_it_may_have_happened(
    producer: Producer, heard: list[str], make: Callable[[], BaseException], settings: dict[str, Any]
) -> None:
    listener = Listener(producer, "accept")

    @producer.tool(action="Pay Ada.", **settings)
    def pay() -> None:
        raise make()

    with pytest.raises(type(make())) as caught, producer.session("Paying."):
        pay()
    listener.wait_for_end()
    assert [call.status for call in completed(listener)] == ["timeout"] and listener.findings() == []
    assert heard.count(f"Pay Ada did not finish. {CHECK}") == 1
    assert caught.value.__notes__ == ["Pay Ada may have happened. Check before you try again."]


def test_what_changes_something_may_have_happened_though_nobody_was_asked(producer: Producer, heard: list[str]) -> None:
    with producer.session("Saving.") as session:
        with pytest.raises(TimeoutError), session.tool("save_draft", risk="medium", irreversible=False):
            raise TimeoutError
        with pytest.raises(KeyboardInterrupt), session.tool("look_up", risk="low"):
            raise KeyboardInterrupt
    assert "Save draft did not finish. It may have happened. Check before you try again." in heard
    assert heard[-1] == "Ended. Save draft may have happened. Check before you try again."
    assert "Look up was stopped." in heard and "Look up" not in heard[-1]


def test_what_fails_by_itself_says_so_and_asks_to_check(producer: Producer, heard: list[str]) -> None:
    listener = Listener(producer, "accept")

    @producer.tool(action="Pay Ada.")
    def pay() -> None:
        raise ConnectionError

    @producer.tool(risk="low")
    def look() -> None:
        raise ConnectionError

    with producer.session("Paying."):
        for tool in (pay, look):
            with pytest.raises(ConnectionError) as caught:
                tool()
            assert not hasattr(caught.value, "__notes__")
    listener.wait_for_end()
    assert [call.status for call in completed(listener)] == ["error", "error"]
    assert "Pay Ada failed: connection error. Check what was done before you try again." in heard
    assert "Look failed: connection error." in heard
    assert heard[-1] == "Ended. Pay Ada failed."


def test_c_42_a_call_that_outlives_its_session_is_told_of_once(producer: Producer, heard: list[str]) -> None:
    listener = Listener(producer, "accept")
    future: Future[None] = Future()

    @producer.tool(action="Pay Ada.")
    def pay() -> Future[None]:
        return future

    with producer.session("Paying."):
        pay()
    listener.wait_for_end()
    assert heard[-2:] == [
        f"Pay Ada did not finish. {CHECK}",
        "Ended. Pay Ada may have happened. Check before you try again.",
    ]
    [call] = completed(listener)
    detailed = announce(call, Preferences(verbosity="detailed"))
    assert detailed is not None and detailed.text.count("may have happened") == 1
    future.set_result(None)


def test_work_that_was_cancelled_before_a_thread_took_it_was_not_done(producer: Producer, heard: list[str]) -> None:
    listener = Listener(producer, "accept")
    future: Future[None] = Future()

    @producer.tool(action="Pay Ada.")
    def pay() -> Future[None]:
        return future

    with producer.session("Paying."):
        pay()
        future.cancel()
    listener.wait_for_end()
    assert [call.status for call in completed(listener)] == ["error"]
    assert heard[-1] == "Ended. Pay Ada was not done."


def test_a_generator_that_is_left_early_has_not_failed(producer: Producer, heard: list[str]) -> None:
    listener = Listener(producer, "accept")

    @producer.tool(action="Wipe disks.")
    def wipe() -> Iterator[int]:
        yield from (1, 2, 3)

    with producer.session("Wiping."):
        for _ in wipe():
            break
    listener.wait_for_end()
    [call] = completed(listener)
    assert (call.status, call.summary_detailed) == ("success", "Wipe was stopped early.")
    assert heard[-2:] == ["Wipe disks: done.", "Done."]


# -- the end of the session --------------------------------------------------------------------------------------------


def delete(session: Session, name: str) -> None:
    ask = session.confirm(f"Delete {name}.", "It is gone.", tool="delete")
    if ask.wait():
        with session.tool("delete", ask=ask):
            pass


@pytest.mark.parametrize(
    ("names", "end"),
    [
        (["a"], "Ended. Delete a was not done."),
        (["a", "a"], "Ended. Delete a was not done."),
        (["a", "b"], "Ended. Delete a was not done. Delete b was not done."),
        (["a", "b", "c"], "Ended. Delete a was not done. Delete b was not done. 1 more was not done."),
        (["a", "b", "c", "d", "e"], "Ended. Delete a was not done. Delete b was not done. 3 more were not done."),
        (["a. Then rest"], "Ended. Delete a was not done."),
    ],
)
def test_what_was_refused_is_named_at_the_end(producer: Producer, heard: list[str], names: list[str], end: str) -> None:
    Listener(producer, "reject")
    with producer.session("Cleaning.") as session:
        for name in names:
            delete(session, name)
    assert heard[-1] == end


def test_what_nobody_could_agree_to_was_not_done(producer: Producer, heard: list[str]) -> None:
    with producer.session("Cleaning.") as session:
        delete(session, "a.txt")
    assert heard[-1] == "Ended. Delete a.txt was not done."


def test_what_was_taken_back_was_not_done(producer: Producer, heard: list[str]) -> None:
    Listener(producer)
    with producer.session("Cleaning.") as session:
        session.confirm("Delete a.txt.", "It is gone.").withdraw()
        session.confirm("Delete b.txt.", "It is gone.")  # withdrawn by the end of the session
    assert heard[-1] == "Ended. Delete a.txt was not done. Delete b.txt was not done."


def test_what_was_done_in_the_end_is_done(producer: Producer, heard: list[str]) -> None:
    answers = iter(["reject", "accept"])
    Listener(producer, lambda _: next(answers))
    with producer.session("Cleaning.") as session:
        delete(session, "a.txt")
        delete(session, "a.txt")
    assert heard[-1] == "Done."


def test_what_may_have_happened_comes_first_and_stays(producer: Producer, heard: list[str]) -> None:
    answers = iter(["reject", "accept", "reject"])
    Listener(producer, lambda _: next(answers))

    @producer.tool(action="Pay {to}.")
    def pay(to: str) -> None:
        raise TimeoutError

    with producer.session("Paying."):
        pay("Bob")
        with pytest.raises(TimeoutError):
            pay("Ada")
        pay("Ada")
    assert heard[-1] == "Ended. Pay Ada may have happened. Check before you try again. Pay Bob was not done."


@pytest.mark.parametrize("result", ["All else is clean.", ("Clean.", "All else is clean.", "All else is clean.")])
def test_the_author_s_result_follows_what_was_not_done(producer: Producer, heard: list[str], result: Any) -> None:
    listener = Listener(producer, "reject")
    with producer.session("Cleaning.") as session:
        delete(session, "a.txt")
        session.result(result)
    assert heard[-1] == "Ended. Delete a.txt was not done. All else is clean."
    end = listener.wait_for_end()
    terse = announce(end, Preferences(verbosity="terse"))
    assert terse is not None and terse.text == "Ended. Delete a.txt was not done."


def test_a_value_in_an_action_cannot_imitate_the_end(producer: Producer, heard: list[str]) -> None:
    Listener(producer, "reject")

    @producer.tool(action="Delete {path}.")
    def delete(path: str) -> None: ...

    with producer.session("Cleaning."):
        delete("x was done. Delete y")
    assert heard[-1] == "Ended. Delete quote x was done. Delete y end quote was not done."


def test_code_is_named_on_one_line_at_the_end(producer: Producer, heard: list[str]) -> None:
    Listener(producer, "reject")

    @producer.tool(action="Run this: {code}.")
    def run(code: str) -> None: ...

    with producer.session("Working."):
        run("cd /tmp\nrm *")
    assert heard[-1] == "Ended. Run this: quote cd /tmp rm * end quote was not done."


def test_a_tool_without_words_of_its_own_is_named_at_the_end(producer: Producer, heard: list[str]) -> None:
    Listener(producer, "reject")

    @producer.tool
    def wipe_disk(number: int) -> None: ...

    with producer.session("Cleaning."):
        wipe_disk(1)
    assert heard[-1] == "Ended. Wipe disk was not done."


# -- asking in vain ----------------------------------------------------------------------------------------------------


def test_c_53_nobody_is_asked_about_what_was_handed_over(producer: Producer) -> None:
    listener = Listener(producer, "accept")

    @producer.tool
    def wipe() -> None:
        raise AssertionError("it ran")

    with producer.session("Working.") as session:
        session.handoff("It is too hard.")
        with pytest.raises(LocalProtocolError, match="handed over"):
            session.confirm("Wipe the disk.", "All is gone.")
        with pytest.raises(LocalProtocolError, match="handed over"):
            wipe()
        session.handed_over()
    listener.wait_for_end()
    assert listener.prompts == []


def test_a_forgotten_wait_is_told_in_one_sentence(producer: Producer, heard: list[str]) -> None:
    listener = Listener(producer, "accept")
    with pytest.raises(LocalProtocolError, match="neither true nor false"), producer.session("Working.") as session:
        ask = session.confirm("Delete a.txt.", "It is gone.")
        listener.wait(lambda event: getattr(event, "to_state", "") == "calling_tool")
        if ask:
            raise AssertionError("a question is no yes")
    after = heard[next(index for index, text in enumerate(heard) if text.startswith("Accepted.")) + 1 :]
    assert after[0] == "Delete a.txt was not done: the agent stopped waiting."
    assert len([text for text in after if "a.txt" in text]) == 1
