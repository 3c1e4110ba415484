"""What an agent wrote is heard before whatever it emitted after that: by ``tell``, by readers, and from the journal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.presentation.presenter import Presenter
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol import codec
from aaep.protocol.events import Envelope, OutputStreaming
from aaep.testing import Listener
from tests.words import find_pieces, predict

WARNING = "Careful, it is newer than the original."


def journaled(producer: Producer) -> list[Envelope]:
    messages = [codec.decode(entry.data) for entry in producer.hub.journal.read(limit=10_000)]
    return [message for message in messages if isinstance(message, Envelope)]


def find(lines: list[str], words: str) -> int:
    return next(index for index, line in enumerate(lines) if words in line)


@pytest.mark.parametrize("text", [WARNING, "Careful, it is newer than", "Careful"])
@pytest.mark.parametrize("opened", [False, True], ids=["nothing sent yet", "something sent"])
def test_a_warning_is_heard_before_the_question_and_the_deed(text: str, opened: bool) -> None:
    heard: list[str] = []
    with Producer("files", journal=None, tell=heard.append) as producer:
        listener = Listener(producer, "accept")

        @producer.tool(action="Delete {path}.", consequence="It is gone.")
        def delete(path: str) -> None:
            heard.append("the deed")

        with producer.session("Cleaning up.") as session, session.output() as out:
            if opened:
                out.write("Looking. There are two. ")
            out.write(text)
            delete("a.txt")
    assert find(heard, text) < find(heard, "Delete a.txt") < find(heard, "the deed")
    assert find(listener.heard, text) < find(listener.heard, "Delete a.txt")


@pytest.mark.parametrize(
    "act",
    [
        lambda session: session.tool("look", risk="low").__enter__(),
        lambda session: session.confirm("Go on.", "It goes on."),
        lambda session: session.clarify("Which one?"),
        lambda session: session.handoff("It is for a person."),
        lambda session: session.progress(50),
        lambda session: session.thinking().__enter__(),
    ],
    ids=["tool", "confirmation", "clarification", "handoff", "progress", "state"],
)
def test_text_leaves_before_the_event_that_follows_it(act: Callable[[Session], object]) -> None:
    with Producer("files", journal=None) as producer:
        Listener(producer)
        with producer.session("Cleaning up.") as session, session.output() as out:
            out.write("Half a sen")
            act(session)
            types = [type(event) for event in journaled(producer)]
            assert OutputStreaming in types
            after = types[types.index(OutputStreaming) + 1 :]
            assert after, "something follows it"
            chunks = [event.chunk for event in journaled(producer) if isinstance(event, OutputStreaming)]
            assert chunks == ["Half a sen"]


STEPS = st.lists(st.sampled_from(["One. ", "two ", "thr", "ee. ", "Four!\n\n", "tool", "ask"]), max_size=12)


@given(STEPS)
def test_words_are_heard_whole_in_order_and_before_what_follows_them(steps: list[str]) -> None:
    with Producer("files", journal=None) as producer:
        Listener(producer, lambda _prompt: "this one")
        with producer.session("Working.") as session, session.output() as out:
            for step in steps:
                if step == "tool":
                    with session.tool("look", risk="low"):
                        pass
                elif step == "ask":
                    session.clarify("Which one?").wait(60)
                else:
                    out.write(step)
        presenter = Presenter()
        heard = [announcement for event in journaled(producer) for announcement in presenter.present(event, 0.0)]
    names = {"tool": ("event", "act"), "ask": ("event", "ask")}
    assert find_pieces(heard) == predict([names.get(step, ("write", step)) for step in steps])
