"""Every word of an output is heard once, in order, and before whatever was emitted after it."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from aaep import Producer
from aaep.presentation.preferences import Preferences
from aaep.presentation.presenter import Presenter
from aaep.producer.session import Session
from aaep.testing import Listener

SEPARATORS = [" ", ". ", ", ", "\n", "\n\n", "! ", "... ", "。", " - ", ": ", "** ", "` "]
WRITES = st.lists(st.sampled_from(SEPARATORS), min_size=1, max_size=6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), WRITES),
        st.tuples(
            st.sampled_from(["whole", "tool", "in tool", "ask", "accept", "refuse", "progress", "think"]), WRITES
        ),
    ),
    max_size=10,
)
MARK = re.compile(r"w\d+|Mark \d+")


class Play:
    """An agent that does what it is told, and notes the order in which it did."""

    def __init__(self, producer: Producer) -> None:
        self.expected: list[str] = []
        self._producer = producer
        self._count = 0

    def mark(self) -> str:
        self._count += 1
        self.expected.append(f"Mark {self._count}")
        return f"Mark {self._count}."

    def text(self, separators: list[str]) -> str:
        words = []
        for separator in separators:
            self._count += 1
            self.expected.append(f"w{self._count}")
            words.append(f"w{self._count}{separator}")
        return "".join(words)

    def run(self, steps: list[tuple[str, list[str]]]) -> None:
        with self._producer.session("Working.") as session, session.output() as out:
            for kind, separators in steps:
                if kind == "write":
                    out.write(self.text(separators))
                else:
                    self.do(session, kind, separators)

    def do(self, session: Session, kind: str, separators: list[str]) -> None:
        match kind:
            case "whole":
                session.write(self.text(separators))
            case "tool":
                with session.tool("look", risk="low", summary=self.mark()):
                    pass
            case "in tool":
                with session.tool("look", risk="low", summary=self.mark()):
                    session.write(self.text(separators))
            case "ask":
                session.clarify(self.mark()).wait(60)
            case "accept" | "refuse":
                ask = session.confirm(self.mark(), f"It will be {kind}ed.", tool="act")
                if ask.wait(60):
                    with session.tool("act", risk="high", irreversible=True, ask=ask):
                        pass
            case "progress":
                session.progress(step=1)
            case "think":
                with session.thinking():
                    pass


def first_mentions(texts: list[str]) -> list[str]:
    """The words and marks in the order in which they are first heard, each word every time."""
    found = [mark for text in texts for mark in MARK.findall(text)]
    return [mark for index, mark in enumerate(found) if mark.startswith("w") or mark not in found[:index]]


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_every_word_is_heard_once_in_order_and_before_what_follows(steps: list[tuple[str, list[str]]]) -> None:
    told: list[str] = []
    with Producer("files", journal=None, tell=told.append) as producer:
        answer = {"awaiting.clarification": lambda _: "this one"}

        def reply(prompt: object) -> str:
            if getattr(prompt, "question", None) is not None:
                return answer["awaiting.clarification"](prompt)
            return "accept" if "accepted" in prompt.consequence else "reject"  # type: ignore[attr-defined]

        listener = Listener(producer, reply)
        play = Play(producer)
        play.run(steps)
        listener.wait_for_end()
        heard = {"tell": told, "listener": listener.heard}
        for verbosity in ("terse", "normal", "detailed"):
            presenter = Presenter(Preferences(verbosity=verbosity, keys={}))
            announcements = [each for event in listener.events for each in presenter.present(event, 0.0)]
            heard[verbosity] = [each.text for each in announcements]
        for name, texts in heard.items():
            marks = first_mentions(texts)
            expected = [mark for mark in play.expected if mark in marks or mark.startswith("w") or name != "terse"]
            assert marks == expected, name
        assert listener.findings() == []
