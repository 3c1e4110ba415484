"""When written text leaves: at once, after a pause, while tools run, and never cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aaep import OutputStreaming, Producer
from aaep.producer.producer import Runtime
from aaep.testing import Clock, Listener


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def producer(clock: Clock) -> Iterator[Producer]:
    with Producer("train", name="Train", journal=None, runtime=Runtime(clock=clock)) as one:
        yield one


@pytest.fixture
def listener(producer: Producer) -> Listener:
    return Listener(producer)


def chunks(listener: Listener) -> list[tuple[str, object]]:
    return [(event.chunk, event.coalesce_hint) for event in listener.events if isinstance(event, OutputStreaming)]


def pass_time(producer: Producer, clock: Clock, seconds: float) -> None:
    async def run() -> None:
        producer.hub.run_due_timers()

    clock.now += seconds
    producer.hub.run(run())


def settle(producer: Producer) -> None:
    """Wait until the hub has done what it was given."""

    async def nothing() -> None:
        pass

    producer.hub.run(nothing())


def test_a_sentence_that_has_surely_ended_leaves_at_once(producer: Producer, listener: Listener) -> None:
    with producer.session("Looking.") as session, session.output() as out:
        out.write("It leaves at 9.15. ")
        settle(producer)
        assert chunks(listener) == [("It leaves at 9.15. ", "sentence")]
        out.write("A paragraph\n\n")
        settle(producer)
        assert chunks(listener)[1:] == [("A paragraph\n\n", "sentence")]
        out.write("你好。")
        settle(producer)
        assert chunks(listener)[2:] == [("你好。", "sentence")]


def test_a_sentence_that_seems_finished_leaves_after_a_pause(
    producer: Producer, listener: Listener, clock: Clock
) -> None:
    with producer.session("Looking.") as session, session.output() as out:
        out.write("It leaves at 9.")
        pass_time(producer, clock, 0.2)
        out.write("15.")
        pass_time(producer, clock, 0.2)  # less than a pause since the last letter
        assert chunks(listener) == []
        pass_time(producer, clock, 0.2)
        assert chunks(listener) == [("It leaves at 9.15.", "sentence")]
        out.write(" I asked Dr.")
        pass_time(producer, clock, 5)
        assert len(chunks(listener)) == 1, "it goes on"
        out.write(" Ada")
    listener.wait_for_end()
    assert "".join(chunk for chunk, _ in chunks(listener)) == "It leaves at 9.15. I asked Dr. Ada"
    assert listener.findings() == []


def test_text_without_marks_leaves_after_some_25_words(producer: Producer, listener: Listener) -> None:
    with producer.session("Looking.") as session, session.output() as out:
        for number in range(60):
            out.write(f"word{number} ")
        settle(producer)
        sizes = [len(chunk.split()) for chunk, _ in chunks(listener)]
        assert len(sizes) >= 2 and all(15 <= size <= 30 for size in sizes)
    listener.wait_for_end()
    assert " ".join(chunk.strip() for chunk, _ in chunks(listener)).split() == [f"word{n}" for n in range(60)]


@pytest.mark.parametrize("size", [1, 7, 900, 10_000])
def test_a_long_answer_is_heard_whole_and_sentence_by_sentence(
    producer: Producer, listener: Listener, size: int
) -> None:
    sentences = [f"This is sentence number {number}, with a few more words." for number in range(40)]
    answer = " ".join(sentences)
    with producer.session("Looking.") as session:
        if size >= len(answer):
            session.write(answer)
        else:
            with session.output() as out:
                for start in range(0, len(answer), size):
                    out.write(answer[start : start + size])
    listener.wait_for_end()
    heard = [a.text for a in listener.announcements if isinstance(a.event, OutputStreaming)]
    assert heard == [f"Train: {sentences[0]}", *sentences[1:]]


@pytest.mark.parametrize(
    "text",
    ["สวัสดีครับวันนี้อากาศดีมาก " * 60, "今天天气很好我们去公园散步" * 50, "x" * 3000, "no marks at all here " * 100],
)
def test_text_without_full_stops_is_heard_whole(producer: Producer, listener: Listener, text: str) -> None:
    with producer.session("Looking.") as session:
        session.write(text)
    listener.wait_for_end()
    heard = [a.text for a in listener.announcements if isinstance(a.event, OutputStreaming)]
    words = "".join(sentence.removeprefix("Train: ").rstrip(".") for sentence in heard).replace(" ", "")
    assert words == text.replace(" ", "")
    assert max(map(len, heard)) < 400


def test_what_a_tool_streams_is_heard_while_it_runs(producer: Producer, listener: Listener) -> None:
    @producer.tool(risk="low")
    def summarise() -> Iterator[str]:
        for number in range(3):
            yield f"Part {number} is done. "
            settle(producer)
            assert f"Part {number} is done. " in dict(chunks(listener))

    with producer.session("Looking.") as session, session.output() as out:
        for token in summarise():
            out.write(token)
    listener.wait_for_end()
    types = listener.types
    assert types.index("output.streaming") < types.index("tool.completed")
    assert listener.findings() == []


def test_what_was_written_in_a_tool_is_heard_before_its_end(producer: Producer, listener: Listener) -> None:
    with producer.session("Looking.") as session, session.output() as out:
        with session.tool("look", risk="low"):
            out.write("This is not the")
        out.write(" end.")
    listener.wait_for_end()
    assert listener.types.index("output.streaming") < listener.types.index("tool.completed")
    assert "Train: This is not the." in listener.heard
    assert listener.findings() == []
