"""What stands on a braille display: windows, panning, prompts that stay; with a code of our own, one cell a letter."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aaep.presentation.braille import (
    OLDER_SIGN,
    PROMPT_SIGN,
    STATUS_WIDTH,
    WAITING_DOTS,
    BrailleView,
    KeySpan,
    Message,
    Translation,
    compose_message,
    compose_reply,
    find_windows,
)
from aaep.presentation.preferences import Preferences
from aaep.text.graphemes import find_grapheme_starts
from aaep.text.locale_files import list_tags
from aaep.text.phrases import ensure_full_stop, get_phrases
from tests.presentation.test_announce import said

BRAILLE_TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcthe  ABC129.,"), st.sampled_from("ẹ\u0301ọ\u0300ṣשלוםحذفहिन्दी世界"), st.characters()
    ),
    max_size=120,
)


def spell(text: str, language: str) -> Translation:
    """A code for tests: a capital has a sign before it, "the" is one cell, and a space is blank."""
    cells: list[int] = []
    positions: list[int] = []
    index = 0
    while index < len(text):
        length = 3 if text.startswith("the", index) else 1
        char = text[index]
        signs = [0] if char == " " else [0x20, ord(char) % 63 + 1] if char.isupper() else [ord(char) % 63 + 1]
        cells += signs
        positions += [index] * len(signs)
        index += length
    return Translation(bytes(cells), tuple(positions))


def view(width: int = 40, **options: Any) -> BrailleView:
    return BrailleView(spell, width, **options)


def message(text: str, **members: Any) -> Message:
    return Message(text=text, **members)


def visible(shown: BrailleView) -> str:
    """The text on the display, read back by the position of each cell."""
    assert shown.shown is not None
    positions = [shown.find_text_position(cell) for cell in range(shown.width)]
    found = [position for position in positions if position is not None]
    return "" if not found else shown.shown.text[found[0] : found[-1] + 1]


def sign(shown: BrailleView) -> int:
    return shown.window.cells[0]


# -- windows -------------------------------------------------------------------------------


@given(BRAILLE_TEXTS, st.integers(1, 90))
def test_the_windows_of_a_text_have_every_cell_once_and_fit(text: str, width: int) -> None:
    translation = spell(text, "en")
    windows = find_windows(text, translation, width)
    assert [index for window in windows for index in window] == [*range(len(translation.cells))]
    for window in windows:
        assert not any(translation.cells[window.start + width : window.stop])  # only blanks are beyond the display


@given(BRAILLE_TEXTS, st.integers(3, 90))
def test_no_window_is_cut_inside_a_character_and_a_word_only_if_it_is_longer_than_a_window(
    text: str, width: int
) -> None:
    text = unicodedata.normalize("NFC", text)
    translation = spell(text, "en")
    starts = find_grapheme_starts(text)
    words = "".join("x" if cell else " " for cell in translation.cells)
    for window in find_windows(text, translation, width)[1:]:
        cut = window.start
        cluster = max((start for start in starts if start <= translation.positions[cut]), default=0)
        cluster_cells = [cell for cell, position in enumerate(translation.positions) if position >= cluster]
        assert translation.positions[cut] in starts or cut - cluster_cells[0] >= width
        if words[cut - 1] != " ":
            begin = words.rfind(" ", 0, cut) + 1
            end = words.find(" ", cut)
            assert (end if end >= 0 else len(words)) - begin > width


@given(BRAILLE_TEXTS, st.integers(1, 90))
def test_panning_to_the_right_and_back_shows_every_window_in_order(text: str, width: int) -> None:
    shown = view(width)
    shown.show(message(text))
    there = [shown.window]
    while shown.pan_right():
        there.append(shown.window)
    back = [shown.window]
    while shown.pan_left():
        back.append(shown.window)
    assert back == there[::-1]
    assert all(len(window.cells) == width for window in there)
    skipped = STATUS_WIDTH if width >= 10 else 0
    cells = b"".join(window.cells[skipped:] for window in there)
    assert cells.replace(b"\0", b"") == spell(text, "en").cells.replace(b"\0", b"")


@pytest.mark.parametrize("width", [14, 20, 40, 80])
def test_words_stay_whole(width: int) -> None:
    text = "Delete four files in build and tell nobody about it until dawn or noon"
    shown = view(width)
    shown.show(message(text))
    words = visible(shown).split()
    while shown.pan_right():
        words += visible(shown).split()
    assert words == text.split()


def test_a_display_of_another_width_goes_on_where_the_reader_was() -> None:
    shown = view(20)
    shown.show(message("one two three four five six seven eight nine ten eleven twelve"))
    shown.pan_right()
    first = visible(shown).split()[0]
    shown.resize(80)
    assert first in visible(shown)
    shown.resize(20)
    assert visible(shown).split()[0] == first


def test_a_display_without_cells_shows_nothing_until_it_has_some() -> None:
    shown = view(0)
    shown.show(message("hello"))
    assert shown.window.cells == b""
    shown.resize(20)
    assert visible(shown) == "hello"


# -- messages ------------------------------------------------------------------------------


def test_a_message_stays_until_the_next_one_comes() -> None:
    shown = view()
    shown.show(message("first"))
    assert visible(shown) == "first"
    shown.show(message("second"))
    assert visible(shown) == "second" and not sign(shown)


def test_what_somebody_reads_stays_until_they_pan_past_its_end_and_the_sign_says_that_more_waits() -> None:
    shown = view(20)
    shown.show(message("one two three four five six seven"))
    shown.pan_right()
    before = visible(shown)
    shown.show(message("newer"))
    shown.show(message("newest"))
    assert visible(shown) == before and sign(shown) == WAITING_DOTS | OLDER_SIGN
    assert shown.waiting_count == 2
    shown.pan_right()
    assert visible(shown) == "newer"
    shown.pan_right()
    assert visible(shown) == "newest" and not sign(shown)
    assert not shown.pan_right()
    shown.show(message("followed again"))
    assert visible(shown) == "followed again"


def test_home_leaves_what_was_read_for_the_newest() -> None:
    shown = view()
    for text in ("a", "b", "c"):
        shown.show(message(text))
    shown.go_back()
    shown.go_back()
    assert visible(shown) == "a" and sign(shown) == OLDER_SIGN
    assert not shown.go_back()
    shown.go_forward()
    assert visible(shown) == "b"
    shown.return_home()
    assert visible(shown) == "c" and not shown.go_forward()
    shown.show(message("d"))
    assert visible(shown) == "d"


def test_what_is_urgent_is_shown_at_once_and_what_it_interrupted_is_next() -> None:
    shown = view(20)
    shown.show(message("one two three four five six seven"))
    shown.pan_right()
    place = visible(shown)
    shown.show(message("failed", is_urgent=True, is_persistent=True))
    shown.show(message("something else"))
    assert visible(shown) == "failed" and shown.waiting_count == 2
    shown.pan_right()
    assert visible(shown) == place


def test_the_history_is_bounded_and_so_is_what_waits() -> None:
    shown = view(max_history=5)
    shown.show(message("prompt", prompt="p"))
    for number in range(100):
        shown.show(message(f"m{number}"))
    assert shown.waiting_count == 5
    seen = set()
    while shown.pan_right() and visible(shown) != "prompt":
        seen.add(visible(shown))
    assert seen == {f"m{number}" for number in range(95, 100)}
    assert visible(shown) == "prompt"


# -- prompts -------------------------------------------------------------------------------


def test_a_prompt_stays_and_comes_back_after_what_else_arrived() -> None:
    shown = view()
    shown.show(message("delete it?", prompt="p"))
    shown.show(message("progress one"))
    shown.show(message("failed", is_urgent=True, is_persistent=True))
    assert visible(shown) == "delete it?"
    assert sign(shown) == PROMPT_SIGN | WAITING_DOTS
    assert shown.pan_right() and visible(shown) == "progress one"
    assert shown.pan_right() and visible(shown) == "failed"
    assert shown.pan_right() and visible(shown) == "delete it?"
    assert sign(shown) == PROMPT_SIGN
    assert not shown.pan_right()


def test_the_routing_key_of_the_sign_shows_what_waits() -> None:
    shown = view()
    shown.show(message("delete it?", prompt="p"))
    shown.show(message("progress"))
    assert shown.press_routing_key(0) == "" and visible(shown) == "progress"


def test_a_prompt_that_is_closed_makes_room_for_its_outcome_and_then_for_what_waited() -> None:
    shown = view()
    shown.show(message("delete it?", prompt="p"))
    shown.show(message("progress"))
    shown.close_prompt("p")
    assert shown.focused_prompt == ""
    shown.show(message("refused", is_urgent=True))
    assert visible(shown) == "refused" and sign(shown) == WAITING_DOTS
    shown.pan_right()
    assert visible(shown) == "progress"


def test_the_outcome_of_one_prompt_waits_behind_another_prompt() -> None:
    shown = view()
    shown.show(message("first?", prompt="a"))
    shown.close_prompt("a")
    shown.show(message("accepted", is_urgent=True))
    shown.show(message("second?", prompt="b"))
    assert visible(shown) == "second?" and sign(shown) == PROMPT_SIGN | WAITING_DOTS
    shown.pan_right()
    assert visible(shown) == "accepted"


def test_a_reply_to_a_key_is_shown_in_place_of_a_prompt_which_is_next() -> None:
    shown = view()
    shown.show(message("delete it?", prompt="p"))
    shown.show(message("progress"))
    shown.show(message("too soon", is_reply=True))
    assert visible(shown) == "too soon"
    shown.pan_right()
    assert visible(shown) == "delete it?"


def test_a_prompt_with_more_time_goes_on_under_its_new_token() -> None:
    shown = view()
    shown.show(message("delete it?", prompt="old", key_spans=(KeySpan(0, 6, "a"),)))
    shown.rename_prompt("old", "new")
    shown.close_prompt("old")
    assert shown.focused_prompt == "new" and visible(shown) == "delete it?"
    assert shown.press_routing_key(STATUS_WIDTH) == "a"


def test_all_of_a_prompt_is_read_once_its_last_window_was_there() -> None:
    shown = view(20)
    shown.show(message("delete everything in the folder build?", prompt="p"))
    read = [shown.is_prompt_read]
    while shown.pan_right():
        read.append(shown.is_prompt_read)
    assert read == [False] * (len(read) - 1) + [True] and len(read) > 1
    shown.show(message("delete all of the other things in it?", prompt="p"))
    assert not shown.is_prompt_read


class Reader(RuleBasedStateMachine):
    """Whatever comes and whatever keys are pressed, an open prompt is found, and nothing is lost from it."""

    def __init__(self) -> None:
        super().__init__()
        self.view = view(24, max_history=50)
        self.count = 0
        self.open: list[str] = []

    @rule(long=st.booleans(), urgent=st.booleans(), reply=st.booleans())
    def say(self, long: bool, urgent: bool, reply: bool) -> None:
        self.count += 1
        text = f"message {self.count} " + "and more " * (8 * long)
        self.view.show(message(text.strip(), is_urgent=urgent, is_persistent=urgent, is_reply=reply))

    @rule(long=st.booleans())
    def ask(self, long: bool) -> None:
        self.count += 1
        token = f"token {self.count}"
        self.open.append(token)
        self.view.show(message(f"prompt {self.count} " + "or what " * (8 * long), prompt=token))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(self.open))
        self.open.remove(token)
        self.view.close_prompt(token)

    @rule(key=st.sampled_from(["pan_right", "pan_left", "go_back", "go_forward", "return_home"]))
    def press(self, key: str) -> None:
        getattr(self.view, key)()

    @rule(width=st.sampled_from([8, 14, 24, 40, 80]))
    def resize(self, width: int) -> None:
        self.view.resize(width)

    @invariant()
    def the_window_is_as_wide_as_the_display(self) -> None:
        assert len(self.view.window.cells) == self.view.width

    @invariant()
    def keys_answer_an_open_prompt_or_none(self) -> None:
        assert self.view.focused_prompt in [*self.open, ""]

    @precondition(lambda self: self.open)
    @rule()
    def going_on_reaches_a_prompt(self) -> None:
        for _ in range(2000):
            assert self.view.shown is not None
            if self.view.shown.prompt in self.open or not self.view.pan_right():
                break
        assert self.view.shown is not None and self.view.shown.prompt in self.open

    @precondition(lambda self: self.open)
    @rule()
    def home_is_the_prompt_that_keys_answer(self) -> None:
        self.view.return_home()
        assert self.view.shown is not None and self.view.shown.prompt in self.open
        assert self.view.focused_prompt in ("", self.view.shown.prompt)


TestReader = Reader.TestCase


# -- routing keys --------------------------------------------------------------------------


def routed(shown: BrailleView, word: str) -> str:
    """Press the routing key above a word, panning to it first."""
    assert shown.shown is not None
    shown.return_home()
    position = shown.shown.text.rindex(word)
    while True:
        for cell in range(shown.width):
            if shown.find_text_position(cell) == position:
                return shown.press_routing_key(cell)
        assert shown.pan_right()


@pytest.mark.parametrize("width", [14, 40, 80])
@pytest.mark.parametrize(("word", "key"), [("a accept", "a"), ("refuse", "r"), ("t more time", "t")])
def test_a_routing_key_above_a_word_of_a_prompt_is_the_key_that_the_word_names(width: int, word: str, key: str) -> None:
    prompt = said("awaiting.confirmation")
    shown = view(width)
    shown.show(compose_message(prompt.text, prompt, is_full_prompt=True))
    assert routed(shown, word) == key


def test_a_familiar_prompt_has_its_keys_on_the_display_all_the_same() -> None:
    prompt = said("awaiting.confirmation")
    composed = compose_message("Confirm. Delete it.", prompt, is_full_prompt=True)
    assert composed.text.startswith("Confirm. Delete it. a accept, r refuse")
    whole = compose_message(prompt.text, prompt, is_full_prompt=True)
    assert whole.text == prompt.text  # which lists them


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("tag", list_tags())
def test_the_words_of_a_prompt_are_keys_in_every_language(tag: str, lines: bool) -> None:
    phrases = get_phrases((tag,))
    preferences = Preferences(languages=(tag,), lines=lines)
    prompt = said("awaiting.confirmation", to=preferences)
    composed = compose_message(prompt.text, prompt, is_full_prompt=True)
    assert lines or composed.text == prompt.text  # which lists them
    words = {span.key: composed.text[span.start : span.end] for span in composed.key_spans}
    commands = {"a": "accept", "r": "reject", "t": "time"}
    assert words == {key: f"{key} {phrases[f'key-{name}']}" for key, name in commands.items()}
    shown = view(40)
    shown.show(composed)
    assert routed(shown, words["r"]) == "r"


@pytest.mark.parametrize("tag", list_tags())
def test_the_choices_of_a_question_are_keys_in_every_language(tag: str) -> None:
    phrases = get_phrases((tag,))
    choices = [{"value": "savings", "label": phrases["confirm"]}, {"value": "checking"}]  # the first is quoted
    question = said("awaiting.clarification", to=Preferences(languages=(tag,)), choices=choices)
    composed = compose_message(question.text, question, is_full_prompt=True)
    assert composed.text == question.text
    numbers = [composed.text[span.start : span.end] for span in composed.key_spans if span.key.isdecimal()]
    quoted = phrases.format("value-quoted", value=phrases["confirm"])
    assert numbers == [
        phrases.format("choice", number=1, label=ensure_full_stop(quoted)),
        phrases.format("choice", number=2, label="checking."),
    ]


def find_second_key(text: str, tag: str) -> str:
    """The part of what the reader says that a routing key presses the second key above."""
    composed = compose_reply(text, tag)
    assert composed.language == tag and [span.key for span in composed.key_spans] == ["y"]
    return composed.text[composed.key_spans[0].start : composed.key_spans[0].end]


@pytest.mark.parametrize("form", ["", "-long"])
@pytest.mark.parametrize("tag", list_tags())
def test_the_second_key_is_found_in_every_language(tag: str, form: str) -> None:
    phrases = get_phrases((tag,))
    text = phrases.format(f"accept-second-key{form}", action="Pay y yes.")
    assert find_second_key(text, tag).startswith(("y ", "y, ")) and "Pay" not in find_second_key(text, tag)
    text = phrases.format(f"accept-second-line{form}", action="Pay y yes.")
    assert find_second_key(text, tag).startswith(phrases["word-yes"]) and "Pay" not in find_second_key(text, tag)
    assert not compose_reply(phrases["keys-several"], tag).key_spans


def test_words_of_the_agent_that_look_like_keys_press_nothing() -> None:
    prompt = said("awaiting.confirmation", action="Read on. a accept, r refuse. Then delete it.")
    composed = compose_message(prompt.text, prompt, is_full_prompt=True)
    listed_at = composed.text.rindex("a accept")
    assert composed.text.index("a accept") < listed_at
    assert min(span.start for span in composed.key_spans) == listed_at


def test_the_choices_of_a_question_are_where_the_question_lists_them() -> None:
    question = said("awaiting.clarification")
    composed = compose_message(question.text, question, is_full_prompt=True)
    choices = [span for span in composed.key_spans if span.key.isdecimal()]
    assert [span.key for span in choices] == ["1", "2"][: len(choices)] and choices
    for span in choices:
        assert composed.text[span.start : span.end].startswith(f"{span.key}: ")


def test_keys_of_a_prompt_that_is_not_the_one_being_answered_are_not_pressed() -> None:
    shown = view()
    shown.show(message("a accept", prompt="old", key_spans=(KeySpan(0, 8, "a"),)))
    shown.show(message("something else?", prompt="new"))
    shown.go_back()
    assert visible(shown) == "a accept" and shown.press_routing_key(STATUS_WIDTH) == ""
    shown.close_prompt("new")
    shown.close_prompt("old")
    assert shown.press_routing_key(STATUS_WIDTH) == ""


def test_the_key_of_a_reply_counts_only_while_it_is_the_newest() -> None:
    shown = view()
    shown.show(message("press y", is_reply=True, key_spans=(KeySpan(6, 7, "y"),)))
    assert shown.press_routing_key(STATUS_WIDTH + 6) == "y"
    shown.show(message("newer"))
    shown.go_back()
    assert visible(shown) == "press y" and shown.press_routing_key(STATUS_WIDTH + 6) == ""


def test_a_routing_key_above_other_text_sets_the_cursor_there() -> None:
    shown = view(20)
    shown.show(message("one two three four five six"))
    shown.pan_right()
    position = shown.find_text_position(STATUS_WIDTH + 3)
    assert shown.press_routing_key(STATUS_WIDTH + 3) == ""
    cursors = [shown.window.cursor]
    shown.pan_left()
    cursors.append(shown.window.cursor)
    assert cursors == [STATUS_WIDTH + 3, None] and position is not None
    assert shown.press_routing_key(19) == "" and shown.press_routing_key(99) == ""


@given(BRAILLE_TEXTS, st.integers(10, 80), st.integers(0, 100))
def test_the_cursor_is_on_the_first_cell_of_its_character_in_one_window_only(
    text: str, width: int, cursor: int
) -> None:
    positions = spell(text, "en").positions
    shown = view(width)
    shown.show(message(text, cursor=cursor))
    found = []
    while True:
        cell = shown.window.cursor
        if cell is not None:
            found.append(shown.find_text_position(cell))
        if not shown.pan_right():
            break
    # Inside a contraction it stands after it; at a blank beyond the display it is not seen.
    assert len(found) <= 1
    assert all(position == min(later for later in positions if later >= cursor) for position in found)
    if cursor in positions and not text[cursor].isspace():
        assert found == [cursor]


# -- typing --------------------------------------------------------------------------------


def test_what_is_typed_is_shown_from_its_end_and_the_prompt_after_it() -> None:
    shown = view(width=STATUS_WIDTH + 10)
    shown.show(message("What is its name?", prompt="rpl_1"))
    shown.show_draft("a short note")
    assert visible(shown).strip() == "note"
    assert shown.window.cursor is not None
    shown.show(message("News."))
    assert visible(shown).strip() == "note", "what comes meanwhile waits"
    shown.show_draft("")
    assert shown.shown is not None and shown.shown.prompt == "rpl_1"


def test_typing_leaves_nothing_in_the_history() -> None:
    shown = view()
    shown.show(message("One."))
    for length in range(1, 5):
        shown.show_draft("note"[:length])
    shown.show_draft("")
    assert visible(shown) == "One."
    assert not shown.go_back()
