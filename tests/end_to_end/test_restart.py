"""An agent that is killed and started again: what was said stays said, and what was done is not done again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from aaep.journal.sqlite import SqliteJournal
from aaep.protocol.events import AwaitingConfirmation, Envelope, OutputStreaming, SessionErrored
from aaep.subscriber.connection import SubscriberRuntime
from aaep.subscriber.subscriber import Subscriber
from tests.end_to_end.processes import Agent
from tests.end_to_end.readers import ANSWERS, PROMPT, Raw, critical, ids, kinds, outcomes, reply, text
from tests.end_to_end.wires import LONG, Json, Wire

ERRORED = "aaep:agent.session.errored"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    made = tmp_path / "ledger"
    made.touch()
    return made


def kept(path: Path) -> list[Json]:
    """Everything that a journal has."""
    journal = SqliteJournal(path, create=False)
    try:
        return [json.loads(entry.data) for entry in journal.read(limit=100_000)]
    finally:
        journal.close()


# A reader that a busy machine made slow gets text and states merged, which have other ids (CF-083, C-85).
MERGED = ("aaep:agent.output.streaming", "aaep:agent.state.changed")


def alone(events: list[Json]) -> set[str]:
    """The ids of what comes as it was said, however slow its reader is."""
    return {event["event_id"] for event in events if event["type"] not in MERGED}


def heard(reader: Raw, count: int) -> Callable[[Json], bool]:
    """Whether a reader has so many more events than now, or the text of so many, should it come in fewer."""
    most, sessions = len(reader.got) + count, {event["session_id"] for event in reader.got}

    def enough(_: Json) -> bool:
        fresh = text(event for event in reader.got if event["session_id"] not in sessions)
        return len(reader.got) >= most or f"sentence {count}." in fresh

    return enough


@contextmanager
def following(reader: Raw) -> Iterator[Callable[[Callable[[Json], bool]], Json]]:
    """
    Connected, with what reads on until an event fits.

    A reader that a busy machine makes far too slow is let go, and comes back (CF-073, CF-083).
    """
    with ExitStack() as stack:
        streams = [stack.enter_context(reader.connect())]

        def hear(until: Callable[[Json], bool]) -> Json:
            while (found := reader.take(streams[-1], until)) is None:
                closing = streams[-1].closing
                assert closing is not None and closing["reason_code"] == "slow_consumer", kinds(reader.got)
                streams.append(stack.enter_context(reader.connect()))
            return found

        yield hear


def of(type_: str) -> Callable[[Json], bool]:
    return lambda event: bool(event["type"] == type_)


def whole(events: list[Json], session_id: str) -> str:
    """
    The text of a session's outputs, which is what the positions say, with nothing missing.

    What may have been held when the process died is read back once more, merged perhaps, so with another id. Its
    position says that it is known; it must then be the same text.
    """
    mine = [event for event in events if event["session_id"] == session_id and "chunk" in event]
    outputs = {event["output_id"]: "" for event in mine}
    for event in mine:
        known, chunk, place = outputs[event["output_id"]], event["chunk"], event["position"]
        assert place <= len(known)
        assert known[place : place + len(chunk)] == chunk[: len(known) - place]
        outputs[event["output_id"]] += chunk[len(known) - place :]
    return "".join(outputs.values())


# -- a reader without our library ------------------------------------------------------------------


def come_back(wire: Wire, url: str, before: Raw) -> Raw:
    """
    Subscribe anew, for the subscription died with the process, and go on after the last event that was heard.
    """
    after = Raw(wire, url, **ANSWERS)
    after.got, after.raw, after.last = before.got, before.raw, before.last
    after._seen = before._seen
    return after


@pytest.mark.parametrize("events", [1, 5, 50, 500])
def test_killed_while_it_writes(wire: Wire, journal: Path, ledger: Path, events: int) -> None:
    with Agent(wire.listen, journal, ledger) as first:
        reader = Raw(wire, first.url, **ANSWERS)
        with following(reader) as hear:
            first.tell("write")
            hear(heard(reader, events))
            first.kill()
    session = reader.got[0]["session_id"]
    before = kept(journal)
    assert kinds(before)[-1] != "session.errored"

    with Agent(wire.listen, journal, ledger) as second:
        back = come_back(wire, second.url, reader)
        with following(back) as hear:
            hear(of(ERRORED))
            second.tell("greet")
            hear(of("aaep:agent.session.completed"))
    after = kept(journal)
    mine = [event for event in after if event["session_id"] == session]
    assert ids(after)[: len(before)] == ids(before)
    assert alone(after) <= set(ids(back.got))
    assert text(event for event in back.got if event["session_id"] == session) == text(mine)
    assert whole(back.got, session) == text(mine)
    assert kinds(mine)[-1] == "session.errored" and kinds(after).count("session.errored") == 1
    assert back.errors() == []


def test_killed_while_a_tool_runs(wire: Wire, journal: Path, ledger: Path) -> None:
    with Agent(wire.listen, journal, ledger) as first:
        reader = Raw(wire, first.url, **ANSWERS)
        with reader.connect() as stream:
            first.tell("transfer")
            prompt = reader.wait(stream, PROMPT)
            yes = reply(prompt, reader.id)
            wire.send(first.url, yes)
            reader.wait(stream, "aaep:agent.tool.invoked")
            assert first.hear() == "running"
            first.kill()
    with Agent(wire.listen, journal, ledger) as second:
        back = come_back(wire, second.url, reader)
        wire.send(second.url, yes)
        back.send(prompt)
        with back.connect() as stream:
            back.wait(stream, ERRORED)
            back.send(prompt)
            second.tell("greet")
            back.wait(stream, "aaep:agent.session.completed")
    assert ledger.read_text() == "$500\n"
    assert kinds(back.got).count("tool.invoked") == 1
    ended = next(event for event in back.got if event["type"].endswith("tool.completed"))
    assert ended["status"] == "timeout"
    assert outcomes(back.got, prompt) == ["accepted"]
    assert set(ids(kept(journal))) == set(ids(back.got))
    assert back.errors() == []


def test_killed_while_a_question_is_open(wire: Wire, journal: Path, ledger: Path) -> None:
    with Agent(wire.listen, journal, ledger) as first:
        reader = Raw(wire, first.url, **ANSWERS)
        with reader.connect() as stream:
            first.tell("transfer")
            prompt = reader.wait(stream, PROMPT)
            first.kill()
    with Agent(wire.listen, journal, ledger) as second:
        back = come_back(wire, second.url, reader)
        wire.send(second.url, reply(prompt, reader.id))
        with back.connect() as stream:
            back.send(prompt)
            back.wait(stream, ERRORED)
            back.send(prompt)
            second.tell("greet")
            back.wait(stream, "aaep:agent.session.completed")
        late = Raw(wire, second.url, **ANSWERS)
        with late.connect() as stream:
            second.tell("greet")
            late.wait(stream, "aaep:agent.session.completed")
        assert "awaiting.confirmation" not in kinds(late.got)  # it is not asked again
    assert ledger.read_text() == ""
    assert "tool.invoked" not in kinds(back.got)
    assert outcomes(back.got, prompt) == ["withdrawn"]
    assert back.errors() == []


def test_killed_again_and_again(wire: Wire, journal: Path, ledger: Path) -> None:
    reader: Raw | None = None
    for _ in range(3):
        with Agent(wire.listen, journal, ledger) as agent:
            reader = Raw(wire, agent.url, **ANSWERS) if reader is None else come_back(wire, agent.url, reader)
            with following(reader) as hear:
                if reader.got:
                    hear(of(ERRORED))
                agent.tell("write")
                hear(heard(reader, 20))
                agent.kill()
    with Agent(wire.listen, journal, ledger) as agent:
        assert reader is not None
        back = come_back(wire, agent.url, reader)
        with following(back) as hear:
            hear(of(ERRORED))
    said = kept(journal)
    assert kinds(said).count("session.errored") == kinds(back.got).count("session.errored") == 3
    assert alone(said) | set(critical(said)) <= set(ids(back.got))
    for session in {event["session_id"] for event in said}:
        assert whole(back.got, session) == text(event for event in said if event["session_id"] == session)
    assert back.errors() == []


# -- a reader with it ---------------------------------------------------------------------------------


def _listening(subscriber: Subscriber, got: list[Envelope], until: Callable[[Envelope], bool]) -> Envelope:
    for event in subscriber:
        got.append(event)
        if until(event):
            return event
    raise AssertionError(f"The subscription ended: {subscriber.status}")


@pytest.mark.only("mends")
@pytest.mark.parametrize("when", ["writing", "asking", "running"])
def test_a_subscriber_lives_through_the_death_of_the_agent(
    wire: Wire, journal: Path, ledger: Path, when: str, address: str
) -> None:
    got: list[Envelope] = []
    up = threading.Event()

    async def when_it_is_up(_: float) -> None:
        await asyncio.to_thread(up.wait, LONG)

    with Agent(address, journal, ledger) as first:
        subscriber = Subscriber(address, runtime=SubscriberRuntime(sleep=when_it_is_up))
        subscriber.ready().wait(LONG)
        first.tell("write" if when == "writing" else "transfer")
        if when == "writing":
            _listening(subscriber, got, lambda _: len(got) == 50)
        else:
            prompt = _listening(subscriber, got, lambda event: isinstance(event, AwaitingConfirmation))
            if when == "running":
                subscriber.accept(prompt).wait(LONG)
                assert first.hear() == "running"
        first.kill()
    with Agent(address, journal, ledger) as second:
        up.set()
        _listening(subscriber, got, lambda event: isinstance(event, SessionErrored))
        assert subscriber.prompts == ()
        second.tell("greet")
        _listening(subscriber, got, lambda event: event.type.endswith("session.completed"))
        subscriber.close()
    said = kept(journal)
    assert ledger.read_text() == ("$500\n" if when == "running" else "")
    assert len({event.event_id for event in got}) == len(got)
    session = got[0].session_id
    mine = [event for event in said if event["session_id"] == session]
    joined = "".join(event.chunk for event in got if isinstance(event, OutputStreaming) and event.session_id == session)
    assert joined == text(mine)
    assert set(critical(said)) <= {event.event_id for event in got}
    assert [str(one) for one in subscriber.findings if one.severity == "error"] == []
