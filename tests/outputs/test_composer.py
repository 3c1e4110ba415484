"""Writing to an agent at the terminal: lines, history, and prompts that wait meanwhile."""

from __future__ import annotations

from typing import Any

from aaep.outputs.composer import EARLIER, LATER, Composer
from aaep.outputs.intents import Accept, Intent, PrintLine, RunCommand, SendRequest
from aaep.outputs.interpreter import MIN_READING_TIME, InputInterpreter
from aaep.outputs.stdin import ARROW_DOWN, ARROW_UP
from aaep.presentation.announce import Announcement
from aaep.text.phrases import PHRASES
from tests.presentation.test_announce import said

ENTER, ESCAPE = "\n", "\x1b"


def interpreter(*, lines: bool = False) -> InputInterpreter:
    made = InputInterpreter(lines=lines)
    made.composer = Composer(lines=lines)
    return made


def type_text(keys: InputInterpreter, text: str) -> list[Intent]:
    return [intent for key in text for intent in keys.press([key], 1.0)]


def sent(intents: list[Intent]) -> list[str]:
    return [intent.text for intent in intents if isinstance(intent, SendRequest)]


def printed(intents: list[Intent]) -> list[str]:
    return [intent.text for intent in intents if isinstance(intent, PrintLine)]


def prompt(token: str = "rpl_1") -> Announcement:
    mild: dict[str, Any] = {"risk_level": "low", "irreversible": False, "reversibility": "reversible"}
    return said("awaiting.confirmation", reply_token=token, **mild)


def test_p_or_enter_begins_and_enter_sends() -> None:
    for begin in ("p", ENTER):
        assert sent(type_text(interpreter(), f"{begin}add a test\n")) == ["add a test"]


def test_without_a_composer_the_keys_mean_what_they_meant() -> None:
    keys = InputInterpreter()
    assert printed(keys.press([ENTER], 1.0)) == [PHRASES["enter.nothing"]]
    assert printed(keys.press(["p"], 2.0)) == [PHRASES["keys.unknown"].format("p")]


def test_a_backslash_at_the_end_begins_another_line_and_a_pasted_text_keeps_its_lines() -> None:
    assert sent(type_text(interpreter(), "pone\\\ntwo\n")) == ["one\ntwo"]
    keys = interpreter()
    keys.press(["p"], 1.0)
    assert sent(keys.press([*"one\ntwo\n\n"], 1.0)) == ["one\ntwo\n"]


def test_what_was_left_is_kept_and_what_was_sent_can_be_fetched_back() -> None:
    keys = interpreter()
    type_text(keys, f"phalf{ESCAPE}")
    assert keys.draft is None
    assert sent(type_text(keys, "p way\n")) == ["half way"]
    assert sent(type_text(keys, "psecond\n")) == ["second"]
    assert sent(type_text(keys, f"p{EARLIER}{EARLIER}!\n")) == ["half way!"]
    assert sent(type_text(keys, f"p{EARLIER}{LATER}new\n")) == ["new"]
    assert printed(keys.press(["h"], 9.0))[:2] == ["1: half way", "2: second"]


def test_arrows_fetch_back_what_was_sent_and_do_nothing_elsewhere() -> None:
    keys = interpreter()
    assert keys.press([ARROW_UP], 1.0) == keys.press([ARROW_UP, ARROW_DOWN], 1.0) == []
    type_text(keys, "pfirst\n")
    type_text(keys, "psecond\n")
    keys.press(["p"], 2.0)
    for arrow in (ARROW_UP, ARROW_UP, ARROW_DOWN, ARROW_UP):
        keys.press([arrow], 3.0)
    assert sent(type_text(keys, "!\n")) == ["first!"]
    keys.press(["p"], 4.0)
    assert sent(keys.press([*"a", ARROW_UP, *"b\n"], 5.0)) == ["ab"], "a pasted text is taken as it is"


def test_an_arrow_takes_no_acceptance_back_and_gives_none() -> None:
    keys = InputInterpreter()
    asked = said("awaiting.confirmation")
    keys.prompt_shown(asked, 1.0)
    keys.press(["a"], 1.0 + 2 * MIN_READING_TIME)
    assert keys.press([ARROW_UP], 2.0 + 2 * MIN_READING_TIME) == []
    assert keys.press(["y"], 4.0 + 2 * MIN_READING_TIME) == [Accept(asked)]


def test_keys_take_back_characters_and_lines() -> None:
    assert sent(type_text(interpreter(), "pab\x7fc\n")) == ["ac"]
    assert sent(type_text(interpreter(), "pab\\\n\x7f\x7f\n")) == ["a"]
    assert sent(type_text(interpreter(), "pab\x15cd\n")) == ["cd"]
    assert printed(type_text(interpreter(), "p \n"))[-1] == PHRASES["draft.empty"]


def test_a_prompt_that_comes_while_writing_waits_and_no_letter_answers_it() -> None:
    keys = interpreter()
    type_text(keys, "pca")
    asked = prompt()
    assert keys.is_answering_other("rpl_1")
    keys.prompt_waiting(asked, 1.0)
    intents = type_text(keys, "ay")
    assert not any(isinstance(intent, Accept) for intent in intents) and keys.draft == "caay"
    intents = keys.press([ENTER], 2.0)
    assert sent(intents) == ["caay"] and intents[-1] == RunCommand("next")
    keys.prompt_shown(asked, 3.0)
    assert any(isinstance(intent, Accept) for intent in keys.press(["a"], 4.0 + MIN_READING_TIME))


def test_while_something_is_asked_nothing_is_begun() -> None:
    keys = interpreter()
    keys.prompt_shown(prompt(), 1.0)
    keys.press(["p"], 5.0)
    assert keys.draft is None


def test_lines_are_sent_unless_they_are_commands_or_answers() -> None:
    lines = interpreter(lines=True)
    assert sent(lines.enter_line("add a test", 1.0)) == ["add a test"]
    assert lines.enter_line("help", 1.0) == [RunCommand("help")]
    assert sent(lines.enter_line("prompt help", 1.0)) == ["help"]
    assert lines.enter_line("one\\", 1.0) == []
    assert sent(lines.enter_line("accept", 1.0)) == ["one\naccept"]
    assert printed(lines.enter_line("history", 1.0))[-1] == "3: one accept"
    lines.prompt_shown(prompt(), 1.0)
    assert printed(lines.enter_line("yes please", 2.0)) == [PHRASES["line.unknown"]]


def test_help_says_how_to_write() -> None:
    assert PHRASES["compose.help"] in interpreter().help_text()
    assert PHRASES["compose.help.lines"] in interpreter(lines=True).help_text()
