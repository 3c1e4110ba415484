"""Nobody hears half a word: what comes within one waits for its rest, and after what cannot wait it is said again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.presentation.announce import Announcement, Preferences
from aaep.presentation.presenter import WORD_WAIT, Presenter
from aaep.protocol.events import Envelope, OutputStreaming
from aaep.protocol.fields import Verbosity
from tests.presentation.test_announce import VERBOSITIES, event
from tests.words import MARKS, find_pieces, predict


class Stage:
    """An agent that writes and does other things, a clock, and what is heard."""

    def __init__(self, verbosity: Verbosity = "normal", **preferences: Any) -> None:
        self.presenter = Presenter(Preferences(verbosity=verbosity, keys={}, **preferences))
        self.now = 0.0
        self.heard: list[Announcement] = []
        self._positions: dict[str, int] = {}
        self._numbers = itertools.count(1)

    @property
    def texts(self) -> list[str]:
        """What was said, without the name of the agent and without full stops."""
        return [announcement.text.removeprefix("Bank Assistant: ").rstrip(".") for announcement in self.heard]

    @property
    def pieces(self) -> list[str]:
        return find_pieces(self.heard)

    def write(self, text: str, hint: str | None = None, *, output: str = "out_1", **changes: Any) -> None:
        position = self._positions.get(output, 0)
        self._positions[output] = position + len(text)
        changes |= {} if hint is None else {"coalesce_hint": hint}
        without = () if hint is not None else ("coalesce_hint",)
        self._present(
            event(
                "output.streaming",
                *without,
                **{"complete": False} | changes,
                chunk=text,
                position=position,
                output_id=output,
            )
        )

    def act(self) -> None:
        number = next(self._numbers)
        self._present(event("tool.invoked", tool_call_id=f"call_{number}", summary_normal=f"Looking at {number}."))

    def ask(self, kind: str = "confirmation") -> None:
        self._present(event(f"awaiting.{kind}", reply_token=f"rpl_{next(self._numbers)}"))

    def emit(self, name: str, **changes: Any) -> None:
        self._present(event(name, **changes))

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while (deadline := self.presenter.next_deadline(self.now)) is not None and deadline <= end:
            self.now = deadline
            self.heard += self.presenter.advance(self.now)
        self.now = end

    def _present(self, given: Envelope) -> None:
        self.wait(0)
        self.heard += self.presenter.present(given, self.now)


def is_exact(announcements: Iterable[Announcement], text: str) -> bool:
    """Whether each announcement of text says where in its output it stands."""
    events = [each.event for each in announcements if isinstance(each.event, OutputStreaming)]
    return all(text[each.position :].startswith(each.chunk) for each in events)


# -- what is not critical waits for the word -------------------------------------------------


def test_a_tool_waits_for_the_rest_of_a_word() -> None:
    stage = Stage()
    stage.write("I will del", "none")
    stage.act()
    assert stage.texts == []
    stage.write("ete it. ", "sentence")
    assert stage.texts == ["I will delete", "Looking at 1", "it"]


def test_text_whose_last_word_was_whole_is_heard_before_the_tool_after_a_moment() -> None:
    stage = Stage()
    stage.write("Let me look", "none")
    stage.act()
    stage.wait(WORD_WAIT)
    assert stage.texts == ["Let me look", "Looking at 1"]
    stage.write(" at it. ", "sentence")
    assert stage.texts[2:] == ["at it"]


@pytest.mark.parametrize("text", ["Let me look:", "It is there.", "Let me look ", "Look!"])
def test_a_tool_does_not_wait_where_no_word_goes_on(text: str) -> None:
    stage = Stage()
    stage.write(text, "none")
    stage.act()
    assert stage.texts == [text.strip().rstrip("."), "Looking at 1"]


def test_a_tool_does_not_wait_for_text_that_its_author_says_is_whole() -> None:
    stage = Stage()
    stage.write("Let me look", "word")
    stage.act()
    assert stage.texts == ["Let me look", "Looking at 1"]


def test_what_comes_after_what_waits_stays_behind_it() -> None:
    stage = Stage()
    stage.write("I will del", "none")
    stage.act()
    stage.emit("tool.completed", tool_call_id="call_1", summary_normal="Found it.")
    stage.write("Other text. ", "sentence", output="out_2")
    stage.write("ete it. ", "sentence")
    assert stage.texts == ["I will delete", "Looking at 1", "Found it", "Other text", "it"]


def test_a_rest_that_comes_too_late_is_heard_with_the_beginning_of_its_word() -> None:
    stage = Stage()
    stage.write("I will del", "none")
    stage.act()
    stage.wait(WORD_WAIT)
    stage.write("ete it. ", "sentence")
    assert stage.texts == ["I will del", "Looking at 1", "delete it"]
    assert is_exact(stage.heard, "I will delete it. ")


def test_a_state_in_the_background_does_not_cut_a_word_when_its_time_has_come() -> None:
    stage = Stage()
    stage.write("I will", "none")
    stage.emit("state.changed", urgency="background", from_state="writing_output", to_state="thinking")
    stage.wait(0.9)
    stage.write(" del", "none")
    stage.wait(0.2)
    stage.write("ete", "none")
    stage.write(" it", "none")
    assert stage.texts[0] == "I will delete"


@pytest.mark.parametrize("ending", ["completed", "errored", "cancelled"])
def test_the_end_of_a_session_releases_everything(ending: str) -> None:
    stage = Stage()
    stage.write("I will del", "none")
    stage.act()
    stage.emit(f"session.{ending}")
    assert stage.texts[:2] == ["I will del", "Looking at 1"]
    assert len(stage.texts) == 3


def test_the_end_of_an_output_ends_its_word() -> None:
    stage = Stage()
    stage.write("I will look", "none")
    stage.act()
    stage.write("", "completion", complete=True)
    assert stage.texts == ["I will look", "Looking at 1"]


def test_flushing_releases_what_waits() -> None:
    stage = Stage()
    stage.write("I will del", "none")
    stage.act()
    stage.act()
    stage.heard += stage.presenter.flush()
    assert stage.texts == ["I will del", "Looking at 1", "Looking at 2"]
    assert stage.presenter.next_deadline(stage.now) is None


def test_nothing_waits_where_nobody_calls_in_time() -> None:
    stage = Stage()
    stage.presenter.can_wait = False
    stage.write("I will del", "none")
    stage.act()
    assert stage.texts == ["I will del", "Looking at 1"]


def test_what_waits_is_bounded() -> None:
    stage = Stage()
    stage.write("I will del", "none")
    for _ in range(1000):
        stage.act()
    assert len(stage.heard) > 500


# -- what is critical does not wait -----------------------------------------------------------


def test_a_question_is_heard_at_once_after_the_text_and_the_word_is_said_again() -> None:
    stage = Stage()
    stage.write("I will del", "none")
    stage.ask()
    assert stage.texts[0] == "I will del"
    assert stage.texts[1].startswith("Confirm")
    stage.write("ete", "none")
    stage.write(" it. ", "sentence")
    assert stage.texts[2:] == ["delete it"]
    assert is_exact(stage.heard, "I will delete it. ")


def test_a_last_word_that_was_whole_is_not_said_again() -> None:
    stage = Stage()
    stage.write("Careful", "none")
    stage.ask()
    stage.write(", it is new. ", "sentence")
    assert (stage.texts[0], *stage.texts[2:]) == ("Careful", ", it is new")


@pytest.mark.parametrize(
    ("before", "after", "said_again"),
    [
        ("It costs 3.", "5 dollars. ", "3.5 dollars"),
        ("We can", "'t do it. ", "can't do it"),
        ("The cafe", "\u0301 is open. ", "cafe\u0301 is open"),
        ("नमस्", "ते। ", "नमस्ते।"),
        ("これは本か", "\u3099ある。", "か\u3099ある。"),
        ("这是中", "文。", "文。"),
        ("The **bo", "ld** one. ", "bold one"),
        ("- An it", "em of it.\n", "item of it"),
        ("## A head", "ing\n\n", "heading"),
        ("מער", "כת. ", "מערכת"),
    ],
)
def test_words_of_many_scripts_are_said_again_whole(before: str, after: str, said_again: str) -> None:
    stage = Stage()
    stage.write(before, "none")
    stage.ask()
    stage.write(after, "sentence")
    assert stage.texts[-1] == said_again


def test_a_number_that_was_taken_for_the_end_of_a_sentence_is_said_again() -> None:
    stage = Stage()
    stage.write("It costs 3.", "sentence")
    stage.write("5 dollars. ", "sentence")
    stage.write("There are 3.", "sentence")
    stage.write(" One is new. ", "sentence")
    assert stage.texts == ["It costs 3", "3.5 dollars", "There are 3", "One is new"]


def test_code_is_not_said_again() -> None:
    stage = Stage()
    stage.write("```pyth", "none")
    stage.ask()
    stage.write("on\nprint()\n```\n", "none")
    stage.write("", "completion", complete=True)
    assert "pythpyth" not in " ".join(each.detail for each in stage.heard)


# -- any text, any split, any events ----------------------------------------------------------

# A full stop after letters is nearly always the end of a sentence, so nothing waits for the rest of an address.
ADDRESS = "example.org"
WORDS = ["a", "delete", "won't", "naïve", "cafe\u0301s", "नमस्ते", "שלום", "x_1", "v2", "3.5", ADDRESS]
SEPARATORS = [" ", ". ", ", ", "\n\n", "! ", ".\n"]
EVENTS = ["act", "ask", "question", "state", "progress", "completed", "other"]
UNDIVIDED_WORDS = [word for word in WORDS if word != ADDRESS]
UNCRITICAL_EVENTS = [name for name in EVENTS if name not in ("ask", "question")]


@st.composite
def scripts(draw: st.DrawFn, words: list[str], events: list[str]) -> list[tuple[str, str]]:
    """Tokens and events in any order; the tokens joined are the text."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(words), st.sampled_from(SEPARATORS)), min_size=1, max_size=8))
    text = "".join(map("".join, pairs))
    cuts = sorted(draw(st.sets(st.integers(1, len(text)), max_size=10)) | {len(text)})
    steps: list[tuple[str, str]] = []
    for start, end in itertools.pairwise([0, *cuts]):
        steps.append(("write", text[start:end]))
        steps += (("event", name) for name in draw(st.lists(st.sampled_from(events), max_size=2)))
    return steps


def play(steps: list[tuple[str, str]], stage: Stage, hint: str | None) -> None:
    stage.emit("session.started")
    for kind, value in steps:
        if kind == "write":
            stage.write(value, hint)
            stage.wait(0.02)
            continue
        match value:
            case "act":
                stage.act()
            case "ask" | "question":
                stage.ask("confirmation" if value == "ask" else "clarification")
            case "state":
                stage.emit("state.changed", urgency="background", from_state="writing_output", to_state="thinking")
            case "progress":
                stage.emit("progress.updated", urgency="background")
            case "completed":
                stage.emit("tool.completed", tool_call_id="call_9")
            case "other":
                stage.emit("state.changed", urgency="normal", from_state="thinking", to_state="deciding")
    stage.write("", "completion", complete=True)
    stage.emit("session.completed")


@pytest.mark.parametrize("verbosity", VERBOSITIES)
@pytest.mark.parametrize("hint", ["none", None])
@given(steps=scripts(WORDS, EVENTS))
def test_every_word_is_heard_whole_and_in_its_place(
    verbosity: Verbosity, hint: str | None, steps: list[tuple[str, str]]
) -> None:
    stage = Stage(verbosity)
    play(steps, stage, hint)
    assert stage.pieces == predict(steps)


@pytest.mark.parametrize("verbosity", VERBOSITIES)
@given(steps=scripts(UNDIVIDED_WORDS, UNCRITICAL_EVENTS))
def test_without_a_question_every_word_is_heard_exactly_once(
    verbosity: Verbosity, steps: list[tuple[str, str]]
) -> None:
    stage = Stage(verbosity)
    play(steps, stage, "none")
    text = "".join(value for kind, value in steps if kind == "write")
    words = [word.rstrip(MARKS) for word in text.split() if word.rstrip(MARKS)]
    assert [piece for piece in stage.pieces if piece != "act"] == words
