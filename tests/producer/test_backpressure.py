"""An agent that speaks faster than readers are written to waits, or says it in fewer words; questions do not."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from aaep import Producer
from aaep.errors import LocalProtocolError
from aaep.hub.recovery import build_resync
from aaep.hub.settings import HubSettings
from aaep.journal.base import JournalError
from aaep.journal.sqlite import SqliteJournal
from aaep.protocol.events import OutputStreaming, ProgressUpdated
from aaep.testing import Listener
from tests.waiting import WatchedJournal, stalled, start_agent

MAX_BYTES = 8 * 1024
SENTENCE = "The statement of another month of the year was read. "
COUNT = 400  # sentences, whose events are many times as long as may wait


def in_event_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Run a test in an event loop."""

    @functools.wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


def count_bytes(journal: Any) -> int:
    return sum(len(entry.data) for entry in journal.read(limit=10**6))


def settings() -> HubSettings:
    return HubSettings(max_backlog_bytes=MAX_BYTES)


def write_sentences(producer: Producer) -> None:
    with producer.session("Reading.") as session, session.output() as out:
        for _ in range(COUNT):
            out.write(SENTENCE)


def test_a_thread_waits_while_the_hub_stands_still_and_nothing_is_lost() -> None:
    journal = WatchedJournal()
    with Producer("bank", journal=journal, settings=settings()) as producer:
        listener = Listener(producer)
        with stalled(producer.hub):
            agent, errors = start_agent(lambda: write_sentences(producer))
            assert journal.somebody_waits.wait(30)
            assert agent.is_alive()
            assert count_bytes(journal) < MAX_BYTES + 2048, "what is pending is bounded"
        agent.join(30)
        listener.wait_for_end()
        assert not agent.is_alive() and errors == []
        assert listener.output == SENTENCE * COUNT
        assert listener.findings() == []


def test_one_long_text_waits_between_its_pieces() -> None:
    journal = WatchedJournal()
    text = SENTENCE * 10_000
    with Producer("bank", journal=journal, settings=settings()) as producer:
        listener = Listener(producer)
        with stalled(producer.hub):

            def write() -> None:
                with producer.session("Reading.") as session:
                    session.write(text)

            agent, errors = start_agent(write)
            assert journal.somebody_waits.wait(30)
            assert count_bytes(journal) < len(text) / 10
        agent.join(30)
        listener.wait_for_end()
        assert errors == []
        assert listener.output == text


@pytest.mark.parametrize("what", ["progress", "thinking", "tool", "session", "emit"])
def test_whatever_is_said_waits(what: str) -> None:
    journal = WatchedJournal()
    with Producer("bank", journal=journal, settings=settings()) as producer, producer.session("Working.") as session:
        Listener(producer)
        producer.hub.delivery.backlog.hold(MAX_BYTES)

        def say() -> None:
            if what == "progress":
                session.progress(5)
            elif what == "thinking":
                with session.thinking():
                    pass
            elif what == "tool":
                with session.tool("look", risk="low", irreversible=False):
                    pass
            elif what == "session":
                producer.session("Another.").start()
            else:
                emitter = session._emitter
                session.emit(build_resync(emitter.state, "thinking", **emitter.composed_envelope()))

        agent, errors = start_agent(say)
        assert journal.somebody_waits.wait(30)
        assert agent.is_alive()
        producer.hub.delivery.backlog.release(MAX_BYTES)
        agent.join(30)
        assert not agent.is_alive()
        assert errors == []


def test_a_question_does_not_wait_and_comes_after_what_was_written_before_it() -> None:
    with Producer("bank", journal=None, settings=settings()) as producer, producer.session("Asking.") as session:
        listener = Listener(producer, "yes")
        backlog = producer.hub.delivery.backlog
        out = session.output()
        out.write("This cannot be undone. ")
        backlog.hold(MAX_BYTES)
        session.clarify("Shall I go on?")
        listener.wait("awaiting.clarification")
        backlog.release(MAX_BYTES)
        out.close()
        types = listener.types
        assert types.index("output.streaming") < types.index("awaiting.clarification")


@in_event_loop
async def test_a_caller_on_an_event_loop_is_not_kept_waiting_and_its_text_is_condensed() -> None:
    journal = WatchedJournal()
    async with Producer("bank", journal=journal, settings=settings()) as producer:
        listener = await asyncio.to_thread(Listener, producer)
        session = producer.session("Reading.").start()
        out = session.output()
        with stalled(producer.hub):
            for number in range(COUNT):
                out.write(SENTENCE)
                session.progress(step=number + 1, total=COUNT)
            assert threading.current_thread().name not in journal.waiting
            assert count_bytes(journal) < MAX_BYTES + 4096
            session.clarify("Shall I go on?")
        await asyncio.to_thread(listener.wait, "awaiting.clarification")
        chunks = [event for event in listener.events if isinstance(event, OutputStreaming)]
        assert listener.output.strip() == (SENTENCE * COUNT).strip()
        assert len(chunks) < COUNT / 2
        assert listener.types.index("awaiting.clarification") > listener.types.index("output.streaming")
        told = [event.progress.step for event in listener.events if isinstance(event, ProgressUpdated)]
        assert told[-1] == COUNT, "the last of what was held is told"
        assert len(told) < COUNT / 2
        session.cancel()
        assert listener.findings() == []


@in_event_loop
async def test_held_text_and_progress_leave_as_soon_as_there_is_room() -> None:
    async with Producer("bank", journal=None, settings=settings()) as producer:
        listener = await asyncio.to_thread(Listener, producer)
        async with producer.session("Reading.") as session:
            out = session.output()
            producer.hub.delivery.backlog.hold(MAX_BYTES)
            out.write(SENTENCE)
            session.progress(50)
            producer.hub.delivery.backlog.release(MAX_BYTES)
            await asyncio.to_thread(listener.expect, "output.streaming", "progress.updated")
            out.close()


@in_event_loop
async def test_what_can_be_awaited_waits_for_room() -> None:
    async with Producer("bank", journal=None, settings=settings()) as producer, producer.session("Working.") as session:
        await asyncio.to_thread(Listener, producer)
        backlog = producer.hub.delivery.backlog

        async def call() -> None:
            async with session.tool("look", risk="low", irreversible=False):
                pass

        async def write() -> None:
            async with session.output() as out:
                out.write("Done.")

        async def begin() -> None:
            async with producer.session("Another."):
                pass

        for work in (call, write, begin):
            backlog.hold(MAX_BYTES)
            task = asyncio.create_task(work())
            for _ in range(10):
                await asyncio.sleep(0)  # lets it go as far as it can
            assert not task.done(), work.__name__
            backlog.release(MAX_BYTES)
            await task


def test_closing_the_producer_lets_go_of_who_waits() -> None:
    journal = WatchedJournal()
    producer = Producer("bank", journal=journal, settings=settings())
    producer.start()
    Listener(producer)
    session = producer.session("Working.").start()
    producer.hub.delivery.backlog.hold(MAX_BYTES)
    agent, errors = start_agent(lambda: session.write("Done."))
    assert journal.somebody_waits.wait(30)
    producer.close()
    agent.join(30)
    assert not agent.is_alive()
    assert [type(error) for error in errors] == [LocalProtocolError], "the session is over"


def test_a_journal_that_stands_still_is_waited_for(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.db")
    has_waited = threading.Event()
    flush = journal.flush

    def watched() -> bool:
        if threading.current_thread().name == "agent":
            has_waited.set()
        return flush()

    journal.flush = watched  # type: ignore[method-assign]
    with Producer("bank", journal=journal, settings=settings()) as producer:
        listener = Listener(producer)
        with journal._connection_lock:
            agent, errors = start_agent(lambda: write_sentences(producer))
            assert has_waited.wait(30)
            assert agent.is_alive()
        agent.join(30)
        listener.wait_for_end()
        assert errors == []
        assert listener.output == SENTENCE * COUNT


def test_who_waits_for_room_is_told_that_the_disk_is_full(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.db")
    with Producer("bank", journal=journal, settings=settings()) as producer:
        Listener(producer)
        with journal._connection_lock:
            (pages,) = journal._connection.execute("PRAGMA page_count").fetchone()
            journal._connection.execute(f"PRAGMA max_page_count = {pages}")
        try:
            agent, errors = start_agent(lambda: write_sentences(producer))
            agent.join(60)
            assert isinstance(errors[0], JournalError)
        finally:
            with journal._connection_lock:
                journal._connection.execute(f"PRAGMA max_page_count = {pages + 100_000}")


def test_what_is_said_in_tell_does_not_wait_for_the_readers_that_wait_for_it() -> None:
    journal = WatchedJournal()
    other: list[Any] = []

    def tell(text: str) -> None:
        if other and "Go." in text:
            other.pop().write("Heard.")

    with Producer("bank", journal=journal, tell=tell, settings=settings()) as producer:
        Listener(producer)
        with producer.session("One.") as session, producer.session("Two.") as second:
            other.append(second)

            def say() -> None:
                out = session.output()
                producer.hub.delivery.backlog.hold(MAX_BYTES)
                out.complete("Go.")

            agent, errors = start_agent(say)
            agent.join(30)
            assert errors == [] and other == []
            assert not journal.somebody_waits.is_set()
            producer.hub.delivery.backlog.release(MAX_BYTES)
