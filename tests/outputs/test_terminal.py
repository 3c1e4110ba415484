"""The keys of a prompt, without a terminal; then the terminal, with a real one."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import select
import termios
import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.errors import AaepError, LocalProtocolError, RemoteProtocolError, Violation
from aaep.outputs.answers import parse_answer
from aaep.outputs.intents import (
    Accept,
    Echo,
    Intent,
    PrintLine,
    RefuseAndQuit,
    Reject,
    RequestTime,
    RunCommand,
    SendAnswer,
)
from aaep.outputs.interpreter import (
    CLOSED_PROMPT_WINDOW,
    KEY_REPEAT_WINDOW,
    MIN_READING_TIME,
    MIN_SECOND_KEY_DELAY,
    OUTCOME_GRACE,
    InputInterpreter,
)
from aaep.outputs.printer import LinePrinter
from aaep.outputs.stdin import (
    InputSource,
    KeyboardInput,
    KeyDecoder,
    LineInput,
    NoInput,
    ThreadedLineInput,
    detect_input,
)
from aaep.outputs.terminal import Terminal
from aaep.presentation.announce import Announcement, Preferences
from aaep.presentation.earcons import EARCONS
from aaep.presentation.preferences import DEFAULT_PREFERENCES
from aaep.protocol.events import Envelope, ProducerInfo
from aaep.protocol.messages import Capabilities
from aaep.runtime.background import Waitable
from aaep.subscriber.status import UNREADABLE, Status
from aaep.text.phrases import ENGLISH
from aaep.transports.base import ChannelLost
from tests.presentation.test_announce import SUMMARIES, event, said

LATER = MIN_READING_TIME + KEY_REPEAT_WINDOW  # long enough after a prompt, and after another key
LONG = "word " * 400
ENTER, ESCAPE = "\n", "\x1b"


def risky(token: str = "rpl_risky", **changes: Any) -> Announcement:
    return said("awaiting.confirmation", reply_token=token, **changes)


def light(token: str = "rpl_light", **changes: Any) -> Announcement:
    mild: dict[str, Any] = {"risk_level": "low", "irreversible": False, "reversibility": "reversible"}
    return said("awaiting.confirmation", reply_token=token, **mild, **changes)


def question(*kinds: str, token: str = "rpl_question", **changes: Any) -> Announcement:
    without = () if "multiple_choice" in kinds else ("choices",)
    return said("awaiting.clarification", *without, reply_token=token, accepted_response_kinds=[*kinds], **changes)


class Desk:
    """A key machine with a clock in hand."""

    def __init__(self, *prompts: Announcement, lines: bool = False, replies: bool = True) -> None:
        self.keys, self.now = InputInterpreter(lines=lines, replies=replies), 100.0
        for prompt in prompts:
            self.keys.prompt_shown(prompt, self.now)

    def press(self, *keys: str, after: float = LATER) -> list[Intent]:
        """Single keys, one after the other."""
        found: list[Intent] = []
        for key in keys:
            self.now += after
            found += self.keys.press([key], self.now)
        return found

    def line(self, *lines: str) -> list[Intent]:
        found: list[Intent] = []
        for line in lines:
            self.now += 1
            found += self.keys.enter_line(line, self.now)
        return found


def decided(intents: list[Intent]) -> list[Intent]:
    """What would be sent."""
    return [one for one in intents if isinstance(one, (Accept, Reject, SendAnswer, RequestTime))]


def told(intents: list[Intent]) -> str:
    return " ".join(one.text for one in intents if isinstance(one, PrintLine))


# -- accepting -----------------------------------------------------------------------------


def test_what_is_mild_is_accepted_by_one_key_and_what_is_refused_too() -> None:
    prompt = light()
    assert Desk(prompt).press("a") == [Accept(prompt)]
    assert Desk(prompt).press("r") == [Reject(prompt)]
    assert Desk(risky()).press("r") == [Reject(risky())]
    assert Desk(prompt).press("A") == [Accept(prompt)], "with Caps Lock too"


def test_what_is_risky_takes_a_second_and_different_key_and_says_so() -> None:
    """SEC-008"""
    prompt = risky()
    assert prompt.careful
    desk = Desk(prompt)
    (first,) = desk.press("a")
    assert isinstance(first, PrintLine) and first.discard_typeahead
    assert first.text.startswith("Not accepted yet. Press y to accept this: Transfer 50 dollars")
    assert desk.press("y") == [Accept(prompt)]


def test_the_second_key_does_not_count_before_anybody_can_have_heard_what_it_is_for() -> None:
    for before in (["a"], ["a", "a"]):
        desk = Desk(risky())
        desk.press(*before)
        assert told(desk.press("y", after=MIN_SECOND_KEY_DELAY / 2)) == ENGLISH["keys-too_soon"]
        assert decided(desk.press(*"y" * 20, after=MIN_SECOND_KEY_DELAY / 2)) == [], "nor while it is held down"
        assert decided(desk.press("y")) == [Accept(risky())], "pressed anew it counts"


@pytest.mark.parametrize("keys", [["a"], ["a", "a"], ["a"] * 9, ["y"], ["y", "a"], ["y", "y"], ["a", ENTER, "y"]])
def test_nothing_else_accepts_what_is_risky(keys: list[str]) -> None:
    assert decided(Desk(risky()).press(*keys)) == []
    assert decided(Desk(risky()).press(*keys, after=0.03)) == []


@pytest.mark.parametrize("between", ["n", "m", "s", "?", "v", "x", "é", ENTER, ESCAPE, "\x7f"])
def test_any_other_key_takes_it_back(between: str) -> None:
    desk = Desk(risky())
    desk.press("a")
    assert "Taken back. Nothing was accepted." in told(desk.press(between))
    assert decided(desk.press("y")) == []


def test_refusing_after_the_first_key_refuses() -> None:
    desk = Desk(risky())
    desk.press("a")
    assert decided(desk.press("r")) == [Reject(risky())]


@pytest.mark.parametrize("prompt", [risky(), light(), question("yes_no"), question("multiple_choice")])
def test_enter_alone_answers_nothing(prompt: Announcement) -> None:
    desk = Desk(prompt)
    found = desk.press(ENTER, ENTER, ENTER)
    assert decided(found) == [] and told(found)
    assert decided(Desk(prompt, lines=True).line("", " ", "")) == []


def test_a_key_held_down_accepts_nothing() -> None:
    """It was pressed when something else was there: the prompt before, or none."""
    desk = Desk(light("rpl_1"))
    assert len(decided(desk.press("a"))) == 1
    desk.keys.prompt_closed("rpl_1", desk.now)
    desk.keys.prompt_shown(light("rpl_2"), desk.now)
    found = desk.press(*"a" * 200, after=KEY_REPEAT_WINDOW / 3)
    assert decided(found) == []
    assert told(found).count("too soon") == 1, "said once, not two hundred times"
    assert decided(desk.press("a")) == [Accept(light("rpl_2"))], "pressed anew it counts"


def test_a_key_held_down_refuses_nothing_either() -> None:
    desk = Desk(light("rpl_1"))
    desk.press("r")
    desk.keys.prompt_closed("rpl_1", desk.now)
    desk.keys.prompt_shown(light("rpl_2"), desk.now)
    assert decided(desk.press(*"rrrrrr", after=KEY_REPEAT_WINDOW / 3)) == []


@pytest.mark.parametrize("key", ["a", "r"])
def test_a_key_in_the_moment_a_prompt_appears_was_meant_for_something_else(key: str) -> None:
    desk = Desk(light())
    assert decided(desk.press(key, after=MIN_READING_TIME / 2)) == []
    assert len(decided(desk.press(key))) == 1


def test_keys_before_a_prompt_are_not_kept_for_it() -> None:
    desk = Desk()
    assert told(desk.press("a")) == "There is nothing to accept."
    assert desk.keys.prompt_shown(light(), desk.now) == []
    desk.now += LATER
    assert desk.keys.current_prompt is not None and desk.keys.press([], desk.now) == []


@pytest.mark.parametrize("keys", ["ay", "aa", "a\n", "ya", "accept", "ar", "ra"])
@pytest.mark.parametrize("prompt", [risky(), light()])
def test_several_keys_at_once_are_no_answer(prompt: Announcement, keys: str) -> None:
    """Pasted, typed ahead, or by a cat: nobody read anything between them."""
    desk = Desk(prompt)
    desk.now += LATER
    assert decided(desk.keys.press([*keys], desk.now)) == []
    assert decided(desk.press("y")) == [], "and none of them was the first of two"


def test_a_second_key_among_several_does_not_count() -> None:
    desk = Desk(risky())
    desk.press("a")
    desk.now += LATER
    assert decided(desk.keys.press(["y", "y"], desk.now)) == []


def test_the_second_key_counts_only_for_the_same_prompt() -> None:
    desk = Desk(risky("rpl_1", action="Pay Ada."))
    desk.press("a")
    found = told(desk.keys.prompt_shown(risky("rpl_2", action="Pay Eve."), desk.now))
    assert found.startswith("Taken back. Nothing was accepted. 2 prompts are open. You answer this one now.")
    assert decided(desk.press("y")) == []
    assert "Pay Eve." in told(desk.press("a")), "what is asked is said with the second key"
    assert decided(desk.press("y")) == [Accept(risky("rpl_2", action="Pay Eve."))]


def test_the_first_key_again_only_says_once_more_what_the_second_is() -> None:
    desk = Desk(risky())
    first = told(desk.press("a"))
    assert told(desk.press("a")) == first and "Press y" in first
    assert told(desk.press("a", after=0.05)) == "", "held down it says nothing"
    assert told(desk.press("x")) == "Taken back. Nothing was accepted."
    assert decided(desk.press("y")) == []


def test_the_second_key_does_not_count_for_a_prompt_that_ended() -> None:
    desk = Desk(risky("rpl_1"))
    desk.press("a")
    assert told(desk.keys.prompt_closed("rpl_1", desk.now)) == "Nothing was accepted here."
    assert decided(desk.press("y", "a", "y")) == []
    desk.keys.prompt_shown(risky("rpl_2"), desk.now)
    assert decided(desk.press("y")) == []


def test_what_was_cut_is_accepted_only_after_the_whole_was_printed() -> None:
    """C-22"""
    prompt = light(action=LONG)
    assert prompt.cut and prompt.careful
    desk = Desk(prompt)
    assert told(desk.press("a")) == UNCUT
    assert decided(desk.press("y")) == []
    assert desk.press("m") == [RunCommand("more")]
    desk.keys.prompt_shown(_whole(prompt), desk.now)
    assert "Press y" in told(desk.press("a"))
    desk.keys.prompt_shown(prompt, desk.now)  # said again in short: it was heard in full all the same
    assert decided(desk.press("a", "y")) != []


@pytest.mark.parametrize("has_lines", [False, True])
def test_a_question_that_was_cut_is_answered_with_yes_only_after_the_whole_was_printed(has_lines: bool) -> None:
    """C-22"""
    prompt = question("yes_no", question=LONG)
    assert prompt.cut

    def answer(desk: Desk, word: str) -> list[Intent]:
        return desk.keys.enter_line(word, desk.now) if has_lines else desk.press(word[0], ENTER)

    desk = Desk(prompt, lines=has_lines)
    assert "Hear the whole text before you can accept" in told(answer(desk, "yes"))
    assert [type(intent) for intent in decided(answer(Desk(prompt, lines=has_lines), "no"))] == [SendAnswer]
    desk.keys.prompt_shown(_whole(prompt), desk.now)
    desk.keys.prompt_shown(prompt, desk.now)  # said again in short: it was heard in full all the same
    assert [type(intent) for intent in decided(answer(desk, "yes"))] == [SendAnswer]


def test_the_line_about_the_second_key_repeats_the_action_or_the_beginning_of_a_long_one() -> None:
    action = "Pay one bill. " * 5 + "Pay it."
    assert f"accept this: {action} Any other key" in told(Desk(risky(action=action)).press("a"))
    text = told(Desk(risky(action=("Pay one bill. " * 40).strip())).press("a"))
    assert text.endswith("bill. Pay one… Any other key takes it back.")
    repeated = text.partition("accept what begins like this: ")[2].partition("…")[0]
    assert 40 < len(repeated) <= 80, "all of it was heard before"


def test_hearing_one_prompt_in_full_does_not_open_another() -> None:
    one, other = light("rpl_1", action=LONG), light("rpl_2", action=LONG + "more.")
    desk = Desk(one)
    desk.keys.prompt_shown(_whole(one), desk.now)
    desk.keys.prompt_shown(other, desk.now)
    assert decided(desk.press("a", "y")) == []


def test_a_key_for_a_question_that_has_just_appeared_does_not_begin_an_answer() -> None:
    desk = Desk(question("yes_no"))
    assert "too soon" in told(desk.press("y", after=MIN_READING_TIME / 2)) and desk.keys.draft is None
    assert desk.press("y") == [Echo("y")]


def _whole(prompt: Announcement) -> Announcement:
    return said("awaiting.confirmation").__class__(
        **{name: getattr(prompt, name) for name in prompt.__struct_fields__} | {"keys": prompt.detail_keys}
    )


def test_one_prompt_is_answered_once() -> None:
    desk = Desk(light())
    assert len(decided(desk.press("a", "a", "r", "y"))) == 1
    desk.keys.prompt_shown(light(), desk.now)
    assert decided(desk.press("a")) == [], "printed again before its outcome came"
    assert told(desk.press("r")) == "Your answer was sent. Wait for what the agent says."


def test_an_answer_that_could_not_be_sent_is_given_anew() -> None:
    desk = Desk(risky())
    desk.press("a", "y")
    desk.keys.send_failed(risky(), desk.now)
    assert decided(desk.press("y")) == []
    assert decided(desk.press("a", "y")) == [Accept(risky())]


def test_what_is_not_offered_is_not_sent() -> None:
    """CF-018"""
    only = light(allowed_replies=["accept"])
    assert told(Desk(only).press("r")) == ENGLISH["unrefusable"]
    assert told(Desk(light(allowed_replies=["reject"])).press("a")) == ENGLISH["unacceptable"]
    broken = said("awaiting.confirmation", "consequence")
    assert decided(Desk(broken).press("a", "y")) == []
    assert decided(Desk(broken).press("r")) == [Reject(broken)]


def test_after_its_time_nothing_is_accepted_but_refusing_is_still_sent() -> None:
    """CF-014"""
    desk = Desk(light())
    desk.now += light().timeout
    assert told(desk.press("a")) == ENGLISH["expired"]
    assert decided(desk.press("r")) == [Reject(light())]
    desk = Desk(risky())
    desk.press("a")
    desk.now += risky().timeout
    assert decided(desk.press("y")) == []
    assert told(desk.press("a")) == ENGLISH["expired"]


def test_a_prompt_of_which_nothing_is_heard_is_let_go_after_its_time() -> None:
    desk = Desk(light())
    assert desk.keys.next_deadline == desk.now + light().timeout + OUTCOME_GRACE
    assert desk.keys.advance(desk.keys.next_deadline - 0.1) == []
    assert told(desk.keys.advance(desk.keys.next_deadline)) == ENGLISH["expired"]
    assert desk.keys.current_prompt is None and desk.keys.next_deadline is None


def test_without_replies_nothing_is_sent() -> None:
    desk = Desk(light(), replies=False)
    assert decided(desk.press("a", "y", "r", "t")) == []
    assert "cannot answer" in told(desk.press("a"))


@given(st.lists(st.tuples(st.sampled_from([*"arymstv?q1 \x1bé", ENTER]), st.floats(0, 2)), max_size=30))
def test_whatever_is_pressed_what_is_risky_is_accepted_only_by_a_and_then_y(strokes: list[tuple[str, float]]) -> None:
    desk = Desk(risky())
    keys: list[str] = []
    for key, after in strokes:
        keys.append(key)
        if any(isinstance(one, Accept) for one in desk.press(key, after=after)):
            assert keys[-1] == "y" and "".join(keys[:-1]).rstrip("a") != "".join(keys[:-1])
            return


# -- several prompts at once ---------------------------------------------------------------


def two(lines: bool = False) -> Desk:
    return Desk(light("rpl_1", action="Pay Ada."), light("rpl_2", action="Pay Eve."), lines=lines)


def test_beside_another_prompt_even_what_is_mild_takes_the_second_key() -> None:
    desk = two()
    (first,) = desk.press("a")
    assert isinstance(first, PrintLine) and first.discard_typeahead and "Press y to accept this: Pay Eve." in first.text
    assert decided(desk.press("y")) == [Accept(light("rpl_2", action="Pay Eve."))]
    assert "Write yes to accept this: Pay Eve." in told(two(lines=True).line("accept"))
    assert decided(two().press("r")) == [Reject(light("rpl_2", action="Pay Eve."))], "refusing is as easy as ever"


@pytest.mark.parametrize("ends", ["rpl_1", "rpl_2"])
def test_and_so_it_does_when_the_other_one_has_ended(ends: str) -> None:
    """The key could still be meant for that one."""
    desk = two()
    desk.keys.prompt_closed(ends, desk.now)
    left = "rpl_2" if ends == "rpl_1" else "rpl_1"
    prompt = light(left, action="Pay Eve." if left == "rpl_2" else "Pay Ada.")
    desk.keys.prompt_shown(prompt, desk.now)
    assert decided(desk.press("a")) == []
    assert decided(desk.press("y")) == [Accept(prompt)]
    desk.keys.prompt_closed(left, desk.now)
    desk.keys.prompt_shown(light("rpl_3"), desk.now + CLOSED_PROMPT_WINDOW)
    desk.now += CLOSED_PROMPT_WINDOW
    assert decided(desk.press("a")) == [Accept(light("rpl_3"))], "this one was alone"


def test_a_prompt_just_after_one_that_ended_by_itself_takes_the_second_key() -> None:
    desk = Desk(light("rpl_1"))
    desk.keys.prompt_closed("rpl_1", desk.now)
    desk.keys.prompt_shown(light("rpl_2"), desk.now + CLOSED_PROMPT_WINDOW / 2)
    desk.now += CLOSED_PROMPT_WINDOW
    assert decided(desk.press("a")) == []
    assert decided(desk.press("y")) == [Accept(light("rpl_2"))]


def test_a_line_about_another_prompt_takes_the_first_key_back() -> None:
    desk = two()
    desk.press("a")
    found = told(desk.keys.prompt_mentioned("rpl_1"))
    assert found == "Taken back. Nothing was accepted. You still answer this: Pay Eve. Press o for the next prompt."
    assert decided(desk.press("y")) == []
    desk.press("a")
    assert desk.keys.prompt_mentioned("rpl_2") == [], "a line about its own does not"
    assert len(decided(desk.press("y"))) == 1


def test_the_end_of_another_prompt_takes_the_first_key_back() -> None:
    desk = two()
    desk.press("a")
    assert told(desk.keys.prompt_closed("rpl_1", desk.now)) == "Taken back. Nothing was accepted."
    assert decided(desk.press("y")) == []


@pytest.mark.parametrize("lines", [False, True])
def test_the_next_prompt_is_reached_and_the_first_comes_behind_the_last(lines: bool) -> None:
    prompts = [light("rpl_1"), question("yes_no", token="rpl_2"), light("rpl_3")]
    desk = Desk(*prompts, lines=lines)
    for wanted in (*prompts, prompts[0]):
        assert (desk.line("next") if lines else desk.press("o")) == [RunCommand("next")]
        assert desk.keys.next_prompt == wanted
        desk.keys.prompt_shown(desk.keys.next_prompt, desk.now)
        assert desk.keys.current_prompt == wanted
    desk.keys.prompt_closed("rpl_2", desk.now)
    desk.keys.prompt_closed("rpl_3", desk.now)
    assert told(desk.line("next") if lines else desk.press("o")) == "No other prompt is open."
    assert told(Desk().press("o")) == "No other prompt is open."


def test_what_was_heard_in_full_stays_heard_while_another_prompt_is_answered() -> None:
    long = light("rpl_1", action=LONG)
    desk = Desk(long, light("rpl_2"))
    desk.keys.prompt_shown(_whole(long), desk.now)
    desk.keys.prompt_shown(light("rpl_2"), desk.now)
    desk.keys.prompt_shown(long, desk.now)
    assert [one.prompt.prompt for one in decided(desk.press("a", "y"))] == ["rpl_1"]  # type: ignore[union-attr]  # all have one


def test_the_time_of_every_prompt_runs_whichever_is_answered() -> None:
    desk = Desk(light("rpl_1", action="Pay Ada.", timeout_seconds=30), light("rpl_2", timeout_seconds=90))
    assert desk.keys.next_deadline == desk.now + 30 + OUTCOME_GRACE
    found = told(desk.keys.advance(desk.keys.next_deadline))
    assert found == f"{ENGLISH['expired']} That was about this: Pay Ada."
    assert desk.keys.next_prompt is None and desk.keys.next_deadline == desk.now + 90 + OUTCOME_GRACE


def test_while_an_answer_is_on_its_way_another_prompt_can_be_answered() -> None:
    desk = two()
    desk.press("a", "y")
    assert told(desk.press("a")).endswith(
        "Wait for what the agent says. Another prompt is open. Press o for the next prompt."
    )
    ada = light("rpl_1", action="Pay Ada.")
    assert desk.press("o") == [RunCommand("next")] and desk.keys.next_prompt == ada
    desk.keys.prompt_shown(ada, desk.now)
    desk.press("a")
    found = desk.keys.send_failed(light("rpl_2", action="Pay Eve."), desk.now)
    assert told(found).startswith("Taken back. Nothing was accepted. You still answer this: Pay Ada.")
    assert decided(desk.press("y")) == [] and decided(desk.press("a", "y")) == [Accept(ada)]


_moves = st.sampled_from(
    [("a", ""), ("y", "")] * 4  # the two that matter come often
    + [("a", "quick"), ("r", ""), ("o", "")]
    + [
        (what, which)
        for what in ("prompt_shown", "prompt_waiting", "prompt_mentioned", "prompt_closed", "send_failed")
        for which in ("rpl_1", "rpl_2")
    ]
)


@given(st.lists(_moves, min_size=10, max_size=60))
def test_whatever_comes_only_the_prompt_that_the_second_key_named_is_accepted(moves: list[tuple[str, str]]) -> None:
    """And beside another one nothing else accepts, nor with a line about another between the two keys."""
    desk, named = Desk(*(light(token, action=f"Pay {token}.") for token in ("rpl_1", "rpl_2"))), ""
    open_, sent, beside = {"rpl_1", "rpl_2"}, set[str](), set[str]()
    for what, which in moves:
        prompt = light(which, action=f"Pay {which}.") if which.startswith("rpl") else None
        if prompt is None:
            found = desk.press(what, after=0.1 if which else LATER)
        elif what in ("prompt_shown", "prompt_waiting") or (what == "send_failed" and which in sent):
            found = getattr(desk.keys, what)(prompt, desk.now)
            sent -= {which} if what == "send_failed" else set()
            open_ |= {which} - sent
        else:
            found = (
                desk.keys.prompt_closed(which, desk.now)
                if what == "prompt_closed"
                else desk.keys.prompt_mentioned(which)
            )
            for tokens in (open_, sent) if what == "prompt_closed" else ():
                tokens.discard(which)
        beside = (beside & (open_ | sent)) | (open_ if len(open_) > 1 else set())
        for one in decided(found):
            if isinstance(one, Accept) and one.prompt.prompt in beside:
                assert what == "y" and one.prompt.about == named
            sent.add(one.prompt.prompt)  # type: ignore[union-attr]  # all have one
            open_ -= sent
        if prompt is not None and prompt.about != named:
            named = ""  # a line about another
        if (at := told(found).find("accept this: ")) >= 0:
            named = told(found)[at:].removeprefix("accept this: ").partition(" Any")[0]
        elif prompt is None and not (what == "a" and which):
            named = ""


# -- the other keys ------------------------------------------------------------------------


def test_more_time_is_twice_the_time_of_the_prompt_once_and_at_most_a_day() -> None:
    prompt = light(timeout_seconds=300)
    desk = Desk(prompt)
    assert desk.press("t") == [RequestTime(prompt, 600)]
    assert told(desk.press("t")) == "More time was asked for already."
    assert desk.keys.current_prompt is not None, "the prompt is still open"
    assert decided(Desk(light(timeout_seconds=80_000)).press("t"))[0].seconds == 86_400  # type: ignore[union-attr]  # it is a wish for time
    assert told(Desk(light(timeout_seconds=86_400)).press("t")) == "There is no more time to be had."
    assert told(Desk().press("t")) == "There is nothing to have more time for."


@pytest.mark.parametrize("prompts", [(), (light(),), (question("multiple_choice"),), (question("numeric", "yes_no"),)])
def test_keys_that_answer_nothing(prompts: tuple[Announcement, ...]) -> None:
    """Nor do they begin an answer, whatever is asked."""
    desk = Desk(*prompts)
    wanted = {"m": "more", "s": "repeat", "v": "verbosity", "?": "help"}
    assert [desk.press(key) for key in wanted] == [[RunCommand(what)] for what in wanted.values()]  # type: ignore[arg-type]  # one of its commands
    for key in ("x", "٣"):  # of digits, only those on every keyboard number a choice
        assert told(desk.press(key)) == f"The key {key} does nothing here. Press ? for help."
    assert told(desk.press("\x04")) == "", "a control character is no key that could be named"
    for key in "armsotvq?":
        assert f" {key} " in desk.keys.help_text()


# -- leaving -------------------------------------------------------------------------------


def test_with_nothing_open_one_key_quits() -> None:
    assert Desk().press("q") == [RunCommand("quit")]
    assert Desk(lines=True).line("quit") == [RunCommand("quit")]


def test_with_an_open_prompt_quitting_asks_what_to_do() -> None:
    desk = Desk(risky())
    (asked,) = desk.press("q")
    assert asked == PrintLine(
        "1 question is open. Press r to refuse it and leave, l to leave it open, Escape to stay.",
        discard_typeahead=True,
    )
    assert told(Desk(risky(), lines=True).line("quit")) == (
        "1 question is open. Write refuse to refuse it and leave, leave to leave it open, stay to stay."
    )
    assert told(two().press("q")).startswith("2 questions are open. Press r to refuse them and leave, l to leave them")
    mixed = Desk(light(), question("yes_no"))
    assert told(mixed.press("q")).startswith("2 questions are open. Press r to refuse only 1 of them and leave, ")
    assert told(Desk(question("yes_no")).press("q")) == (
        "1 question is open. Press l to leave it open, Escape to stay."
    )


@pytest.mark.parametrize("key", ["l", "L", "q"])
def test_it_can_be_left_open(key: str) -> None:
    assert Desk(risky()).press("q", key)[1:] == [RunCommand("quit")]


def test_it_can_be_refused_on_leaving() -> None:
    assert Desk(risky()).press("q", "r")[1:] == [RefuseAndQuit((risky(),))]
    assert Desk(risky(), lines=True).line("quit", "refuse")[1:] == [RefuseAndQuit((risky(),))]
    desk = Desk(light(), question("yes_no"))
    assert desk.press("q", "r")[1:] == [RefuseAndQuit((light(),))], "a question cannot be refused"


@pytest.mark.parametrize("key", [ESCAPE, ENTER, "a", "y", "m", "x"])
def test_any_other_key_stays_and_does_nothing_else(key: str) -> None:
    desk = Desk(light())
    assert told(desk.press("q", key)).endswith("You stay. Nothing was answered.")
    assert desk.press("r") == [Reject(light())], "the prompt is still open"
    desk = Desk(light(), lines=True)
    assert told(desk.line("quit", "accept")).endswith("You stay. Nothing was answered.")
    assert told(desk.line("quit", "stay")).endswith("You stay. Nothing was answered.")
    assert desk.line("accept") == [Accept(light())]


def test_a_key_held_down_does_not_leave() -> None:
    desk = Desk(light())
    found = desk.press(*"q" * 20, after=KEY_REPEAT_WINDOW / 3)
    assert RunCommand("quit") not in found and told(found).count("1 question is open.") == 1
    assert desk.press("q") == [RunCommand("quit")]


def test_a_prompt_that_comes_or_goes_meanwhile_takes_the_wish_to_leave_back() -> None:
    desk = Desk(light("rpl_1"))
    desk.press("q")
    assert "You stay." in told(desk.keys.prompt_waiting(light("rpl_2"), desk.now))
    assert decided(desk.press("r")) == [Reject(light("rpl_1"))]
    desk = Desk(light())
    desk.press("q")
    assert "You stay." in told(desk.keys.prompt_closed("rpl_light", desk.now))
    assert desk.press("q") == [RunCommand("quit")]


# -- answering a question ------------------------------------------------------------------


def test_a_choice_is_its_number_and_enter() -> None:
    prompt = question("multiple_choice")
    desk = Desk()
    assert "the number of a choice" in told(desk.keys.prompt_shown(prompt, desk.now))
    assert desk.press("2") == [Echo("2")]
    (end, answer) = desk.press(ENTER)
    assert end == Echo("\n") and answer == SendAnswer(prompt, prompt.event.choices[1].value, "House savings")  # type: ignore[attr-defined]  # a question has choices


def test_yes_and_no_take_enter() -> None:
    prompt = question("yes_no")
    for key, value in (("y", True), ("n", False)):
        desk = Desk(prompt)
        assert desk.press(key) == [Echo(key)]
        assert decided(desk.press(ENTER)) == [SendAnswer(prompt, value, "yes" if value else "no")]


def test_own_words_are_written_between_two_enters_and_are_no_commands() -> None:
    prompt = question("freetext")
    desk = Desk(prompt)
    assert "Write your answer." in told(desk.press(ENTER))
    assert desk.press(*"quit, a", after=0.05) == [Echo(key) for key in "quit, a"]
    assert desk.keys.draft == "quit, a"
    assert decided(desk.press(ENTER)) == [SendAnswer(prompt, "quit, a", "quit, a")]


def test_writing_can_be_mended_and_left() -> None:
    desk = Desk(question("freetext"))
    desk.press(ENTER, *"abé")
    assert desk.press("\x7f") == [Echo("\nab")] and desk.press("\x7f") == [Echo("\b \b")]
    assert desk.press("\x00", "\t")[-1] == Echo(" ") and desk.keys.draft == "a "
    assert "removed" in told(desk.press("\x15")) and desk.keys.draft == ""
    desk.press("x")
    assert told(desk.press(ESCAPE)) == "Left. Nothing was sent."
    desk.press(ENTER)
    assert told(desk.press(ENTER)) == "Nothing was written. Nothing was sent."


def test_enter_held_down_writes_nothing() -> None:
    desk = Desk(question("freetext"))
    found = desk.press(*[ENTER] * 50, after=0.03)
    assert decided(found) == [] and len(found) == 1


def test_a_pasted_text_of_several_lines_is_one_answer() -> None:
    desk = Desk(question("freetext"))
    desk.press(ENTER)
    desk.keys.press([*"one\ntwo"], desk.now)
    assert decided(desk.press(ENTER)) == [SendAnswer(question("freetext"), "one two", "one two")]


def test_what_is_written_belongs_to_its_question() -> None:
    desk = Desk(question("freetext", token="rpl_1"))
    desk.press(ENTER, "x")
    desk.keys.prompt_shown(light("rpl_2"), desk.now)
    assert decided(desk.press("a")) == [] and desk.keys.draft == "xa"
    assert told(desk.keys.prompt_closed("rpl_1", desk.now)) == "What you were writing was not sent: xa"
    assert decided(desk.press(ENTER)) == []


def test_a_question_is_not_accepted() -> None:
    assert told(Desk(question("freetext")).press("a")).startswith("This is a question. Press Enter, write your answer")
    assert told(Desk(question("yes_no")).press("r")).startswith("This is a question.")


@pytest.mark.parametrize(
    ("kinds", "text", "value"),
    [
        (["multiple_choice"], "1", "acc_holiday"),
        (["multiple_choice"], "3", None),
        (["multiple_choice"], "0", None),
        (["multiple_choice"], "house SAVINGS", "acc_house"),
        (["multiple_choice"], "acc_house", "acc_house"),
        (["multiple_choice"], "boat", None),
        (["multiple_choice", "freetext"], "boat", "boat"),
        (["multiple_choice", "freetext"], "7", None),
        (["multiple_choice", "numeric"], "2", "acc_house"),
        (["multiple_choice", "numeric"], "=2", 2),
        (["yes_no"], " Yes ", True),
        (["yes_no"], "no", False),
        (["yes_no"], "maybe", None),
        (["yes_no", "freetext"], "maybe", "maybe"),
        (["numeric"], "-12", -12),
        (["numeric"], "1.5", 1.5),
        (["numeric"], "1,5", None),
        (["numeric"], "9007199254740993", None),
        (["numeric"], "1e999", None),
        (["numeric"], "nan", None),
        (["numeric"], "٣", None),
        (["freetext"], "12", "12"),
        (["freetext"], "yes", "yes"),
        (["freetext"], "x" * 16_385, None),
        (["freetext"], "\x1b[2J", None),
    ],
)
def test_what_a_text_is_as_an_answer(kinds: list[str], text: str, value: object) -> None:
    """CF-032: no conversion but to what the question lists."""
    asked = question(*kinds, choices=[
        {"value": "acc_holiday", "label": "Holiday savings"}, {"value": "acc_house", "label": "House savings"}
    ]) if "multiple_choice" in kinds else question(*kinds)  # fmt: skip
    found = parse_answer(asked.event, text)  # type: ignore[arg-type]  # a question
    assert (found and found.value) == value and type(found and found.value) is type(value)


def test_without_kinds_the_choices_decide() -> None:
    """CF-031, CF-033"""
    assert parse_answer(event("awaiting.clarification", "accepted_response_kinds"), "x") is None  # type: ignore[arg-type]  # a question
    free = event("awaiting.clarification", "accepted_response_kinds", "choices")
    assert parse_answer(free, "x") is not None  # type: ignore[arg-type]  # a question
    none = said("awaiting.clarification", "choices", accepted_response_kinds=["multiple_choice"])
    assert told(Desk(none).press(ENTER)) == "This question cannot be answered here."


def test_choices_that_make_no_sense_do_no_harm() -> None:
    asked = event("awaiting.clarification", choices=[{"label": "No value"}, 7, {"value": "v", "label": "Fine"}])
    assert parse_answer(asked, "1") is parse_answer(asked, "2") is parse_answer(asked, "7") is None  # type: ignore[arg-type]  # a question


# -- lines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["accept", "a", " Accept "])
def test_a_line_accepts_what_is_mild(word: str) -> None:
    assert Desk(light(), lines=True).line(word) == [Accept(light())]


@pytest.mark.parametrize("word", ["reject", "refuse", "r"])
def test_a_line_refuses(word: str) -> None:
    assert Desk(risky(), lines=True).line(word) == [Reject(risky())]


def test_a_line_that_accepts_what_is_risky_takes_a_second_and_different_line() -> None:
    desk = Desk(risky(), lines=True)
    assert "Write yes to accept this: Transfer 50 dollars" in told(desk.line("accept"))
    assert decided(desk.line("accept", "accept")) == []
    assert decided(desk.line("yes")) == [Accept(risky())]
    desk = Desk(risky(), lines=True)
    desk.line("accept")
    assert told(desk.line("hm")) == "Taken back. Nothing was accepted."
    assert decided(desk.line("yes")) == []


def test_one_line_answers_one_prompt() -> None:
    desk = Desk(light("rpl_1"), lines=True)
    assert len(decided(desk.line("accept", "accept"))) == 1
    desk.keys.prompt_closed("rpl_1", desk.now)
    desk.keys.prompt_shown(light("rpl_2"), desk.now)
    assert decided(desk.line("")) == []
    assert decided(desk.line("accept")) == [Accept(light("rpl_2"))]


def test_a_line_is_the_answer_to_a_question_unless_it_is_a_command() -> None:
    prompt = question("freetext")
    assert Desk(prompt, lines=True).line("On Monday") == [SendAnswer(prompt, "On Monday", "On Monday")]
    assert Desk(prompt, lines=True).line("more") == [RunCommand("more")]
    assert Desk(prompt, lines=True).line("answer more") == [SendAnswer(prompt, "more", "more")]
    assert "write answer in front of it" in told(Desk(prompt, lines=True).line("accept"))


def test_a_line_without_a_prompt_is_told_once_however_often_it_comes() -> None:
    keys = InputInterpreter(lines=True)
    found = [one for number in range(1000) for one in keys.enter_line("hello", number / 1000)]
    assert len(found) == 1 and "There is no prompt" in told(found)


def test_a_line_that_is_not_understood_sends_nothing() -> None:
    assert told(Desk(light(), lines=True).line("yes")).startswith("That line was not understood. Nothing was sent.")


# -- bytes to keys -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"a", ["a"]),
        (b"\r", ["\n"]),
        ("é".encode(), ["é"]),
        (b"\x1b[A", ["\x1b[A"]),  # arrow up
        (b"\x1bOA", ["\x1b[A"]),
        (b"\x1b[Bx", ["\x1b[B", "x"]),
        (b"\x1b[C", []),
        (b"\x1b[1;5A", []),  # with Control
        (b"\x1b[[A", []),  # F1 of the Linux console
        (b"\x1b[3~", []),
        (b"\x1ba", []),  # Alt and a
        (b"\x1b\x1b[Ax", ["x"]),
        (b"\x1b", ["\x1b"]),
    ],
)
def test_strokes(data: bytes, keys: list[str]) -> None:
    assert KeyDecoder().feed(data, 0.0) == keys


def test_a_key_that_comes_in_pieces_is_left_out_too() -> None:
    strokes = KeyDecoder()
    assert strokes.feed(b"\x1b", 0.0) == ["\x1b"]
    assert strokes.feed(b"[", 0.1) == strokes.feed(b"A", 0.2) == []
    assert strokes.feed(b"a", 0.3) == ["a"]
    assert strokes.feed(b"\xc3", 0.4) == [] and strokes.feed(b"\xa9", 0.5) == ["é"]
    strokes.feed(b"\x1b", 1.0)
    assert strokes.feed(b"a", 2.0) == ["a"], "Escape alone, long ago"


# -- the terminal --------------------------------------------------------------------------


class Script:
    """A subscriber that says what it is told to, and remembers what it was asked to send."""

    def __init__(self) -> None:
        self.events: SimpleQueue[Envelope | Exception | None] = SimpleQueue()
        self.sent: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self.granted: Capabilities | None = None
        self.broken: list[Exception] = []  # what sending raises, one after the other
        self.closed, self.connected = threading.Event(), threading.Event()
        self.passed_on = threading.Semaphore(0)  # of events, one for each that the terminal has taken
        self.terms: Capabilities | None = None
        self.producer: ProducerInfo | None = None
        self.tell: Callable[[Status], None] = lambda status: None

    def connect(self, tell: Callable[[Status], None]) -> Script:
        self.tell = tell
        self.connected.set()
        return self

    def __iter__(self) -> Iterator[Envelope]:
        while (one := self.events.get()) is not None:
            if isinstance(one, Exception):
                raise one
            yield one
            self.passed_on.release()

    def _send(self, *what: Any) -> Waitable[Any]:
        if self.broken:
            raise self.broken.pop(0)
        self.sent.put(what)
        later: Waitable[Any] = Waitable()
        later.set_result(self.granted)
        return later

    def accept(self, prompt: Envelope, /) -> Waitable[None]:
        return self._send("accept", prompt.reply_token)  # type: ignore[attr-defined]  # a prompt has one

    def reject(self, prompt: Envelope, /) -> Waitable[None]:
        return self._send("reject", prompt.reply_token)  # type: ignore[attr-defined]  # a prompt has one

    def answer(self, prompt: Envelope, response: Any, /) -> Waitable[None]:
        return self._send("answer", prompt.reply_token, response)  # type: ignore[attr-defined]  # a prompt has one

    def renegotiate(self, **wishes: Any) -> Waitable[None]:
        return self._send("renegotiate", wishes)

    def close(self) -> None:
        self.closed.set()
        self.events.put(None)


class Watched(LinePrinter):
    """A page on which things happen while it is being printed."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.meanwhile: dict[str, Callable[[], None]] = {}

    def print_line(self, text: str) -> None:
        super().print_line(text)
        for part in [part for part in self.meanwhile if part in text]:
            self.meanwhile.pop(part)()


class Sitting:
    """A terminal in a thread, the person's hands, and the person's eyes."""

    def __init__(self, typed: InputSource, hands: int, eyes: int, stream: Any, **settings: Any) -> None:
        self.script, self.seen, self.now = Script(), "", 100.0
        self.source, self.hands, self.eyes, self.stream = typed, hands, eyes, stream
        self.page = Watched(stream)
        connect = settings.pop("connect", self.script.connect)
        self.terminal = Terminal(connect, typed, self.page, clock=lambda: self.now, **settings)
        self.result: Any = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self._marks = 0

    def _run(self) -> None:
        try:
            self.result = self.terminal.run()
        except Exception as error:
            self.result = error

    def __enter__(self) -> Sitting:
        self.thread.start()
        return self

    def __exit__(self, *why: object) -> None:
        self.script.close()
        self.thread.join(30)
        self.stream.close()
        for number in {self.hands, self.eyes}:
            os.close(number)

    def ends(self) -> Any:
        self.thread.join(30)
        assert not self.thread.is_alive()
        return self.result

    def see(self, text: str) -> str:
        """Wait for a text; all that was printed up to it, since the last time."""
        deadline = time.monotonic() + 30
        while text not in self.seen:
            ready = select.select([self.eyes], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert ready, f"{text!r} was not printed, but {self.seen!r}"
            self.seen += os.read(self.eyes, 65_536).decode().replace("\r\n", "\n")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def hear(self, name: str, *without: str, **changes: Any) -> None:
        self.script.events.put(event(name, *without, **changes))

    def settle(self) -> str:
        """Wait until everything so far was dealt with."""
        self._marks += 1
        self.hear("tool.invoked", urgency="normal", **dict.fromkeys(SUMMARIES, f"Calling mark{self._marks}."))
        return self.see(f"mark{self._marks}.") + self.see("\n")

    def type(self, keys: str) -> None:
        self.now += LATER
        os.write(self.hands, keys.encode())

    def press(self, key: str, text: str) -> str:
        """Press a key, wait for what it does, and until it was done."""
        self.type(key)
        return self.see(text) + self.settle()

    def press_lines(self, line: str, text: str) -> None:
        """Write a line again and again until it does something: there is nothing to see by which to know when."""
        while not select.select([self.eyes], [], [], 0.2)[0]:
            self.type(f"{line}\n")
        self.see(text)

    def prompt(self, one: Announcement) -> str:
        self.script.events.put(one.event)
        return self.settle()

    def sent(self) -> tuple[Any, ...]:
        return self.script.sent.get(timeout=30)

    def nothing_sent(self) -> bool:
        """What is sent is sent in order, so the change of verbosity comes first if nothing else was sent."""
        self.press("verbosity\n" if self.source.is_line_based else "v", "Verbosity:")
        return bool(self.sent()[0] == "renegotiate")


@contextlib.contextmanager
def at_a_terminal(**settings: Any) -> Iterator[Sitting]:
    master, slave = pty.openpty()
    stream = os.fdopen(slave, "w")
    with Sitting(KeyboardInput(slave), master, master, stream, **settings) as sitting:
        preferences: Preferences = settings.get("preferences", DEFAULT_PREFERENCES)
        sitting.see(f"{preferences.phrases['greeting-keys']}\n")
        yield sitting


@contextlib.contextmanager
def at_a_pipe(**settings: Any) -> Iterator[Sitting]:
    (inside, hands), (eyes, outside) = os.pipe(), os.pipe()
    try:
        with Sitting(LineInput(inside), hands, eyes, os.fdopen(outside, "w"), **settings) as sitting:
            sitting.see("Not interactive: commands are read from standard input, one on each line.\n")
            yield sitting
    finally:
        os.close(inside)


def outcome(token: str, result: str) -> Envelope:
    return event("state.changed", urgency="critical", extensions={"attend": {"reply_token": token, "outcome": result}})


def test_a_reader_that_speaks_none_of_the_languages_says_so_once() -> None:
    master, slave = pty.openpty()
    stream = os.fdopen(slave, "w")
    preferences = Preferences(languages=("is", "tlh"))
    with Sitting(KeyboardInput(slave), master, master, stream, preferences=preferences) as sitting:
        sitting.see("This reader has no words in Icelandic, Klingon. It speaks English.\n")
        sitting.see("Press ? for help, q to quit.\n")
        sitting.hear("session.started", urgency="normal")
        sitting.see("Started. Moving money to your savings.\n")
        assert "no words in" not in sitting.settle()


def test_whole_sentences_labels_first_and_what_is_critical_marked_in_words() -> None:
    with at_a_terminal() as sitting:
        sitting.hear("session.started", urgency="normal")
        sitting.see("Started. Moving money to your savings.\n")
        sitting.hear("output.streaming", "coalesce_hint", chunk="Your bal", position=0, complete=False)
        sitting.hear("output.streaming", chunk="ance is 312. A", position=8, complete=False, coalesce_hint="word")
        assert sitting.settle().startswith("| Bank Assistant: Your balance is 312.\n")
        assert sitting.prompt(risky()).startswith("Attention. Confirm. Transfer 50 dollars")
        sitting.hear("session.errored")
        assert "Attention. Failed. The bank did not answer." in sitting.settle()


def test_where_each_key_is_committed_with_enter_a_terminal_gives_lines() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as stdin:
        source = detect_input(stdin, single_keys=False)
        assert source.is_line_based and source.is_interactive
        with source:
            os.write(master, b"accept\n")
            assert select.select([slave], [], [], 30)[0]
            assert source.read(0.0) == ["accept"]
    os.close(master)


def test_how_much_more_time_is_asked_for_can_be_chosen() -> None:
    keys = InputInterpreter(time_extension=3)
    prompt = light(timeout_seconds=50)
    keys.prompt_shown(prompt, 0.0)
    assert keys.press(["t"], LATER) == [RequestTime(prompt, 150)]


def test_nothing_in_a_text_moves_the_cursor() -> None:
    with at_a_terminal() as sitting:
        sitting.hear("tool.invoked", summary_normal="\x1b[2J\x1b]0;title\x07\u202eevil\nAttention. Fake.")
        printed = sitting.settle()
        assert printed.count("\n") == 2 and printed.isascii() and not {*printed} & {"\x1b", "\x07"}


def test_accepting_at_a_real_terminal() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(risky())
        sitting.press("a", "Not accepted yet. Press y to accept this")
        assert sitting.script.sent.empty()
        sitting.press("y", "Sending: accept.\n")
        assert sitting.sent() == ("accept", "rpl_risky")
        sitting.script.events.put(outcome("rpl_risky", "accepted"))
        assert sitting.see("Accepted.").splitlines()[-1] == "Accepted.", "one's own answer is no alarm"
        sitting.press("a", "There is nothing to accept.")


def test_refusing_at_a_real_terminal() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light())
        sitting.press("r", "Sending: refuse.\n")
        assert sitting.sent() == ("reject", "rpl_light")


def test_keys_typed_while_a_prompt_is_being_printed_are_void() -> None:
    with at_a_terminal() as sitting:
        sitting.page.meanwhile["Confirm."] = lambda: typed_ahead(sitting, "a")
        assert "What was typed before this line does not count.\n" in sitting.prompt(light())
        assert sitting.nothing_sent()
        sitting.press("a", "Sending: accept.")


def test_a_second_key_typed_before_it_was_asked_for_is_void() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(risky())
        sitting.page.meanwhile["Not accepted yet."] = lambda: typed_ahead(sitting, "y")
        sitting.press("a", "What was typed before this line does not count.\n")
        assert sitting.nothing_sent()
        sitting.press("a", "Not accepted yet.")
        sitting.press("y", "Sending: accept.")


def typed_ahead(sitting: Sitting, keys: str) -> None:
    """Typed, and there to be read, before the terminal goes on."""
    sitting.type(keys)
    number = sitting.source.fileno()
    assert number is not None and select.select([number], [], [], 30)[0]


def test_when_a_prompt_ends_elsewhere_it_says_so_and_the_keys_are_void() -> None:
    with at_a_terminal() as sitting:
        for result in ("withdrawn", "timed_out", "accepted"):
            sitting.prompt(risky(f"rpl_{result}"))
            sitting.press("a", "Press y")
            sitting.script.events.put(outcome(f"rpl_{result}", result))
            words = ENGLISH.format_first(f"outcome-{result}-elsewhere", f"outcome-{result}")
            assert f"Attention. {words}" in (ended := sitting.settle())
            assert "Nothing was accepted here." in ended
            sitting.press("y", "The key y does nothing here.")
        assert sitting.nothing_sent()


def test_the_end_of_the_session_closes_its_prompt_in_words() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light())
        sitting.hear("session.completed")
        assert "Done. Your balance was checked.\nThe prompt is closed.\n" in sitting.settle()
        sitting.press("a", "There is nothing to accept.")


UNCUT = ENGLISH.format("uncut", key="m")
NUMBERED = " ".join(f"w{number}" for number in range(400))


def numbers_in(text: str) -> list[int]:
    return [int(word.strip("w….")) for word in text.split() if word.startswith("w") and word.strip("w….").isdecimal()]


def test_more_goes_on_where_a_prompt_was_cut_and_then_it_can_be_accepted() -> None:
    with at_a_terminal() as sitting:
        first = sitting.prompt(light(action=NUMBERED))
        sitting.press("a", UNCUT)
        rest = sitting.press("m", "a accept,")
        assert rest.startswith("It goes on: w")
        assert numbers_in(first) and numbers_in(rest), "both have a part of it"
        assert numbers_in(first) + numbers_in(rest) == [*range(400)], "nothing is missing and nothing is said twice"
        sitting.press("a", "Press y")
        sitting.press("y", "Sending: accept.")


def test_what_was_cut_in_two_places_goes_on_in_both() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light(action=NUMBERED, consequence=NUMBERED.replace("w", "v")))
        rest = sitting.press("m", "a accept,")
        assert "The action goes on: w" in rest and "w399. What happens if you accept goes on: v" in rest


def test_a_prompt_that_is_open_is_what_is_said_again_whatever_was_said_since() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light(timeout_seconds=120))
        sitting.now += 30
        assert sitting.press("s", "Refused after 1 minute and 28 seconds").startswith(
            "Confirm. Transfer 50 dollars from checking to savings. If"
        )
        sitting.script.events.put(outcome("rpl_light", "accepted"))
        sitting.settle()
        sitting.press("s", "Calling mark")


def test_a_prompt_is_said_again_as_it_was_and_with_its_session() -> None:
    with at_a_terminal() as sitting:
        sitting.hear("session.started", summary_normal="Paying Ada.")
        sitting.hear("session.started", session_id="sess_2")
        first = sitting.prompt(light(action="Pay Ada.", timeout_seconds=900))
        again = sitting.press("s", "\n")
        assert again.partition("Refused")[0] in first and again.startswith(
            "Paying Ada: Confirm. Pay Ada. If you accept"
        )
        sitting.press("m", "Paying Ada: Confirm. Transfer 50 dollars from checking to savings? ")


def test_what_was_heard_whole_can_be_accepted_however_one_comes_back_to_it() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action=LONG))
        assert UNCUT in sitting.press("s", "r refuse,")
        sitting.press("m", "a accept,")
        assert UNCUT not in sitting.press("s", "a accept,")
        sitting.prompt(light("rpl_2", action="Pay Eve."))
        sitting.press("o", "Pay Eve. If you accept")
        assert UNCUT not in sitting.press("o", "a accept,")
        sitting.press("o", "Pay Eve. If you accept")
        sitting.press("r", "Sending: refuse.")
        sitting.script.events.put(outcome("rpl_2", "rejected"))
        again = sitting.see("Another prompt is waiting for you.") + sitting.settle()
        assert "a accept," in again and UNCUT not in again
        sitting.press("a", "Press y")
        sitting.press("y", "Sending: accept.")


def test_one_goes_back_and_forward_at_the_terminal() -> None:
    with at_a_terminal() as sitting:
        sitting.press("b", "Nothing was said before that.")
        for name in ("One", "Two"):
            sitting.hear("tool.invoked", summary_normal=f"{name}.", urgency="normal")
            sitting.see(f"{name}.\n")
        sitting.type("b")
        sitting.see("One.\n")
        sitting.type("f")
        sitting.see("Two.\n")
        sitting.type("f")
        sitting.see("That was the last.\n")


def test_a_second_time_in_a_row_a_prompt_is_said_as_a_whole() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light(action=LONG))
        assert UNCUT in sitting.press("s", "r refuse,")
        sitting.press("s", "a accept,")
        sitting.press("a", "Press y")


def test_do_not_disturb_at_the_terminal() -> None:
    with at_a_terminal() as sitting:
        sitting.type("d")
        sitting.see("Do not disturb. Only questions and warnings are said.\n")
        for name in ("One", "Two"):
            sitting.hear("tool.invoked", summary_normal=f"{name}.", urgency="normal")
        sitting.script.events.put(light().event)
        assert "One." not in sitting.see("Confirm. Transfer 50 dollars")
        sitting.see("t more time.\n")
        sitting.hear("session.errored", session_id="sess_2")
        sitting.see("Failed.")  # after the prompt was dealt with: what is typed before that does not count
        sitting.type("d")
        sitting.see("2 updates meanwhile. Press f for the first.\n")
        sitting.type("f")
        sitting.see("One.\n")
    with at_a_pipe() as sitting:
        sitting.type("quiet\n")
        sitting.see("Do not disturb.")
        sitting.type("quiet\n")
        sitting.see("Nothing happened meanwhile.\n")


def test_the_time_in_which_a_prompt_waited_unheard_is_asked_for() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        sitting.prompt(light("rpl_2", action="Pay Eve.", timeout_seconds=300))
        sitting.now += 58
        sitting.press("o", "Asking for 6 minutes. That was about this: Pay Eve.\n")
        assert sitting.sent() == ("renegotiate", {"minimum_timeout": 360})
        sitting.press("o", "Pay Ada.")
        assert "Asking" not in sitting.press("o", "Pay Eve."), "once"


def test_a_prompt_that_hardly_waited_has_its_time() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        sitting.prompt(light("rpl_2", action="Pay Eve.", timeout_seconds=300))
        assert "Asking" not in sitting.press("o", "Pay Eve.")
        assert sitting.nothing_sent()


@pytest.mark.parametrize(
    ("name", "changes", "earcon"),
    [
        ("session.started", {}, "working"),
        ("session.completed", {}, "done"),
        ("session.errored", {}, "error"),
        ("tool.completed", {"status": "error"}, "error"),
        ("awaiting.confirmation", {}, "needs-you"),
    ],
)
def test_the_bell_is_rung_for_what_was_chosen_and_for_nothing_else(
    name: str, changes: dict[str, Any], earcon: str
) -> None:
    for earcons, bells in (((earcon,), 1), (tuple({*EARCONS} - {earcon, "working"}), 0)):
        with at_a_terminal(earcons=earcons) as sitting:
            sitting.hear(name, **changes)
            # The line by which it is known that all was printed would ring for work itself.
            sitting.hear("state.changed", summary_normal="Mark.", urgency="normal")
            assert sitting.see("Mark.").count("\a") == bells


def test_the_bell_is_for_terminals_only_and_for_what_was_sent_too() -> None:
    with at_a_terminal(earcons=["sent"]) as sitting:
        sitting.prompt(light())
        assert sitting.press("r", "Sending: refuse.").count("\a") == 1
    with at_a_pipe(earcons=EARCONS) as sitting:
        assert "\a" not in sitting.prompt(light())


def test_verbosity_goes_round_and_the_producer_is_told() -> None:
    with at_a_terminal() as sitting:
        for verbosity in ("detailed", "terse", "normal"):
            sitting.press("v", f"Verbosity: {verbosity}.")
            assert sitting.sent() == ("renegotiate", {"verbosity": verbosity})
        sitting.press("v", "Verbosity: detailed.")
        sitting.hear("session.started")
        sitting.see("Started. Bank Assistant started: it will check")


def test_more_time_is_asked_of_the_producer() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light(timeout_seconds=300))
        sitting.script.granted = Capabilities()
        sitting.script.granted.__dict__["unknown"] = {"attend": {"minimum_timeout_seconds": 600}}
        assert "not grant" not in sitting.press("t", "Asking for 10 minutes.\n")
        assert sitting.sent() == ("renegotiate", {"minimum_timeout": 600})
        sitting.script.events.put(outcome("rpl_light", "withdrawn"))
        assert ENGLISH["outcome-withdrawn"] in sitting.settle()
        assert "Refused after 10 minutes" in sitting.prompt(light("rpl_again", timeout_seconds=600))


def test_more_time_leaves_what_was_heard_and_decided_as_it_was() -> None:
    """CF-028, C-22"""
    with at_a_terminal() as sitting:
        sitting.prompt(light(action=LONG))
        sitting.press("m", "a accept,")
        again = {"reply_token": "rpl_light", "outcome": "withdrawn", "asked_again": True}
        sitting.hear("state.changed", urgency="critical", to_state="deciding", extensions={"attend": again})
        heard = sitting.prompt(light("rpl_again", action=LONG, timeout_seconds=600))
        assert heard.splitlines()[:-1] == ["You have 10 minutes now."]
        sitting.press("a", "Not accepted yet.")  # no need to hear it all again
        sitting.press("y", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_again")


def test_more_time_does_not_make_an_unheard_text_heard() -> None:
    """C-22"""
    with at_a_terminal() as sitting:
        sitting.prompt(light(action=LONG))
        again = {"reply_token": "rpl_light", "outcome": "withdrawn", "asked_again": True}
        sitting.hear("state.changed", urgency="critical", to_state="deciding", extensions={"attend": again})
        sitting.prompt(light("rpl_again", action=LONG, timeout_seconds=600))
        sitting.press("a", ENGLISH.format("uncut", key="m"))
        assert sitting.press("m", "a accept,").startswith("It goes on: word")
        sitting.press("r", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_again")


def test_a_producer_that_grants_no_time_is_told_of() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light())
        sitting.script.granted = Capabilities()
        sitting.press("t", "The agent does not grant more time.\n")


def test_an_answer_in_own_words_is_echoed_and_what_comes_between_does_not_lose_it() -> None:
    with at_a_terminal() as sitting:
        assert "Press Enter, write your answer, and press Enter again." in sitting.prompt(question("freetext"))
        sitting.press("\r", "Write your answer.")
        sitting.type("On Mon")
        sitting.see("On Mon")
        sitting.settle()
        sitting.see("You were writing: On Mon")
        sitting.type("day")
        sitting.see("day")
        sitting.type("\r")
        sitting.see("Sending: On Monday\n")
        assert sitting.sent() == ("answer", "rpl_question", "On Monday")


def test_another_prompt_while_an_answer_is_written_is_not_answered_by_it() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(question("freetext"))
        sitting.press("\r", "Write your answer.")
        sitting.type("x")
        sitting.see("x")
        sitting.prompt(light())
        sitting.type("a")
        sitting.see("You were writing: x")
        sitting.see("a")
        sitting.type("\r")
        sitting.see("Sending: xa")
        assert sitting.sent() == ("answer", "rpl_question", "xa")
        sitting.script.events.put(outcome("rpl_question", "answered"))
        assert "Another prompt is waiting for you. Confirm." in sitting.settle()
        sitting.press("a", "Press y to accept this")
        sitting.press("y", "Sending: accept.")


def test_a_question_that_ends_while_it_is_answered_leaves_the_keys_to_the_prompt_that_is_said_again() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(question("freetext"))
        sitting.press("\r", "Write your answer.")
        sitting.type("x")
        sitting.see("x")
        sitting.prompt(light())
        sitting.script.events.put(outcome("rpl_question", "withdrawn"))
        ended = sitting.see("What you were writing was not sent: x\n")
        assert "No longer asked." in ended
        assert sitting.settle().startswith("Attention. Another prompt is waiting for you. Confirm.")
        sitting.press("a", "Press y to accept this")
        sitting.press("y", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_light")


def test_what_could_not_be_sent_is_told_and_takes_a_new_decision() -> None:
    with at_a_terminal() as sitting:
        sitting.script.broken = [
            LocalProtocolError("The prompt is not known.", [Violation("CONF-016", "Really.")]),
            ChannelLost("Nobody is there."),
        ]
        sitting.prompt(light())
        sitting.press("a", "It could not be sent. The prompt is not known. Really.\nThe prompt is still open.\n")
        sitting.press("r", "It could not be sent. Nobody is there.\nThe prompt is still open.\n")
        assert sitting.nothing_sent()
        sitting.press("r", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_light")


def test_what_could_not_be_sent_says_which_prompt_it_was_and_leaves_the_keys_to_another() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        sitting.prompt(light("rpl_2", action="Pay Eve."))
        sitting.script.broken = [ChannelLost("Nobody is there.")]
        sitting.press("r", "Nobody is there.\nThe prompt is still open. That was about this: Pay Ada.\n")
        sitting.press("a", "Press y to accept this: Pay Ada.")
        sitting.press("y", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_1")


def test_a_prompt_whose_time_runs_out_unheard_is_told_when_it_does() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light(timeout_seconds=30))
        sitting.now += 100
        sitting.hear("tool.completed")
        sitting.see(ENGLISH["expired"])
        sitting.settle()
        assert sitting.terminal.interpreter.current_prompt is None


def test_the_countdown_is_said() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light(timeout_seconds=120))
        sitting.now += 60
        sitting.hear("tool.completed")  # something wakes it; alone it would wait by a clock that stands still
        sitting.see("1 minute left to answer. Transfer 50 dollars")


def test_a_countdown_does_not_turn_the_keys_to_another_prompt_and_says_so() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(risky("rpl_2", action="Pay Eve.", timeout_seconds=900))
        sitting.prompt(risky("rpl_1", action="Pay Ada.", timeout_seconds=120))
        sitting.press("a", "Press y to accept this: Pay Eve.")
        sitting.now += 60
        sitting.hear("tool.completed")
        sitting.see("left to answer. Pay Ada.\nTaken back. Nothing was accepted.\nYou still answer this: Pay Eve.")
        sitting.press("y", "The key y does nothing here.")
        sitting.press("a", "Press y to accept this: Pay Eve.")
        sitting.press("y", "Sending: accept. That was about this: Pay Eve.\n")
        assert sitting.sent() == ("accept", "rpl_2")


def test_when_a_prompt_ends_another_that_is_open_is_said_and_takes_the_second_key() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_2", action="Pay Eve."))
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        sitting.script.events.put(outcome("rpl_2", "withdrawn"))
        sitting.see("Pay Eve was not done. Thinking about your request.\n")
        sitting.see("Attention. Another prompt is waiting for you. Confirm. Pay Ada.")
        sitting.settle()
        sitting.press("a", "Press y to accept this: Pay Ada.")
        sitting.press("y", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_1")


def test_when_the_time_of_a_prompt_runs_out_unheard_another_that_is_open_is_said() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_2", action="Pay Eve.", timeout_seconds=30))
        sitting.prompt(light("rpl_1", action="Pay Ada.", timeout_seconds=900))
        sitting.now += 100
        sitting.hear("tool.completed")
        sitting.see("That was about this: Pay Eve.\nAttention. Another prompt is waiting for you. Confirm. Pay Ada.")
        sitting.settle()
        assert sitting.sent() == ("renegotiate", {"minimum_timeout": 1000})  # for the time that it waited
        sitting.press("r", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_1")


def test_the_end_of_another_prompt_leaves_the_keys_where_they_are() -> None:
    with at_a_terminal() as sitting:
        for name in ("Ada", "Bob", "Eve"):
            sitting.prompt(light(f"rpl_{name}", action=f"Pay {name}."))
        sitting.script.events.put(outcome("rpl_Eve", "timed_out"))
        sitting.see("Still waiting for you. Confirm. Pay Ada.")
        sitting.settle()
        sitting.press("r", "Sending: refuse. That was about this: Pay Ada.\n")
        assert sitting.sent() == ("reject", "rpl_Ada")
        sitting.script.events.put(outcome("rpl_Ada", "rejected"))
        sitting.see("Another prompt is waiting for you. Confirm. Pay Bob.")


def test_a_new_prompt_waits_until_the_one_that_was_heard_is_done_with() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        waiting = sitting.prompt(light("rpl_2", action="Pay Eve."))
        assert waiting.startswith("Attention. Another question is waiting. Press o to hear it.\n")
        assert "Eve" not in waiting
        sitting.press("r", "Sending: refuse. That was about this: Pay Ada.\n")
        assert sitting.sent() == ("reject", "rpl_1")
        sitting.script.events.put(outcome("rpl_1", "rejected"))
        sitting.see("Attention. Another prompt is waiting for you. Confirm. Pay Eve.")
        sitting.settle()
        sitting.press("r", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_2")


def test_a_new_prompt_takes_an_unconfirmed_yes_back_and_not_the_focus() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(risky("rpl_1", action="Pay Ada."))
        sitting.press("a", "Press y to accept this: Pay Ada.")
        assert "waiting. Press o to hear it.\nTaken back. Nothing was accepted.\n" in sitting.prompt(risky("rpl_2"))
        sitting.press("y", "The key y does nothing here.")
        sitting.press("a", "Press y to accept this: Pay Ada.")
        sitting.press("y", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_1")


def test_a_prompt_that_waits_is_heard_whole_before_it_can_be_answered() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        sitting.prompt(light("rpl_2", action=LONG))
        assert UNCUT in sitting.press("o", "You answer this one now.")
        sitting.press("a", UNCUT)
        sitting.press("m", "It goes on:")
        sitting.press("a", "Press y")
        sitting.press("y", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_2")


def test_a_refusal_in_the_moment_a_prompt_takes_the_place_of_another_does_not_count() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        sitting.prompt(light("rpl_2", action="Pay Eve."))
        sitting.script.events.put(outcome("rpl_1", "withdrawn"))
        sitting.see("Confirm. Pay Eve.")
        sitting.settle()
        sitting.now += MIN_READING_TIME / 2 - LATER
        sitting.press("r", "That key came too soon and does not count. Wait a moment, then press it once.\n")
        assert sitting.nothing_sent()
        sitting.press("r", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_2")


def test_one_prompt_can_be_reached_while_another_is_open() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(question("yes_no"))
        sitting.prompt(light("rpl_1", action="Pay Ada."))
        assert "2 prompts are open. You answer this one now. Press o for the next prompt.\n" in sitting.press(
            "o", "Pay Ada. If you accept"
        )
        sitting.press("r", "Sending: refuse. That was about this: Pay Ada.\n")
        assert sitting.sent() == ("reject", "rpl_1")
        sitting.press("o", "Question. ")
        sitting.press("n", "n")
        assert "That was about this: " in sitting.press("\r", "Sending: no\n")
        assert sitting.sent() == ("answer", "rpl_question", False)


def test_a_mistake_in_the_program_is_not_silent() -> None:
    with at_a_terminal() as sitting:
        sitting.script.broken = [KeyError("a mistake")]
        sitting.prompt(light())
        sitting.type("a")
        assert isinstance(sitting.ends(), KeyError)


def test_sessions_are_told_apart_when_there_are_several() -> None:
    with at_a_terminal() as sitting:
        sitting.hear("session.started")
        sitting.see("Started.")
        sitting.hear("session.started", session_id="sess_2")
        sitting.see("Started.")
        sitting.hear("session.completed", session_id="sess_2")
        sitting.see("Done.")
        assert sitting.settle().splitlines()[-1].startswith("| Calling mark")


def test_other_sessions_are_left_out_on_demand_but_not_that_they_wait() -> None:
    with at_a_terminal(session_id=light().session_id) as sitting:
        sitting.hear("session.started", session_id="sess_2")
        sitting.hear("awaiting.confirmation", session_id="sess_2")
        assert sitting.settle().splitlines()[0].startswith("Other work asks something that is not shown here.")
        sitting.press("a", "There is nothing to accept.")
        sitting.prompt(risky())
        sitting.press("a", "Press y to accept this")
        sitting.hear("awaiting.confirmation", session_id="sess_2")
        sitting.see("Other work asks something that is not shown here.\nTaken back. Nothing was accepted.\n")


def test_quitting_says_so_and_takes_leave() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light())
        sitting.press("q", "1 question is open. Press r to refuse it and leave, l to leave it open, Escape to stay.\n")
        assert sitting.result is None
        sitting.type("l")
        sitting.see("Stopped listening. 1 question was not answered.\n")
        assert sitting.ends() == 0 and sitting.script.closed.is_set()
        assert sitting.script.sent.empty()


def test_what_is_refused_on_leaving_is_sent_before_the_reader_is_closed() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light())
        sitting.press("q", "1 question is open.")
        sitting.type("r")
        sitting.see("Sending: refuse.\nStopped listening.\n")
        assert sitting.ends() == 0 and sitting.sent() == ("reject", "rpl_light")


def test_who_cannot_refuse_on_leaving_is_told_and_stays() -> None:
    with at_a_terminal() as sitting:
        sitting.prompt(light())
        sitting.script.broken = [ChannelLost("Nobody is there.")]
        sitting.press("q", "1 question is open.")
        sitting.press("r", "It could not be sent. Nobody is there.\nThe prompt is still open.\n")
        sitting.press("r", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_light")


def test_the_end_of_a_pipe_leaves_without_asking_again() -> None:
    with at_a_pipe() as sitting:
        sitting.prompt(light())
        sitting.press("quit\n", "1 question is open. Write refuse to refuse it and leave,")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sitting.hands)
        sitting.see("Stopped listening. 1 question was not answered.\n")
        assert sitting.ends() == 0 and sitting.script.sent.empty()


def test_once_ends_with_the_session() -> None:
    with at_a_terminal(once=True) as sitting:
        sitting.hear("session.started")
        sitting.hear("session.completed")
        sitting.see("Done. Your balance was checked.\nStopped listening.\n")
        assert sitting.ends() == 0


def test_a_subscriber_that_will_not_close_holds_nobody_up() -> None:
    with at_a_terminal() as sitting:
        sitting.settle()
        sitting.script.close = lambda: threading.Event().wait(60)  # type: ignore[assignment, method-assign]  # put in its place for this test
        sitting.type("q")
        assert sitting.ends() == 0
        del sitting.script.close


@pytest.mark.parametrize("trouble", [None, RuntimeError("a mistake"), ChannelLost("Gone.")])
def test_the_terminal_is_given_back_as_it_was(trouble: Exception | None) -> None:
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with Sitting(KeyboardInput(slave), master, master, os.fdopen(os.dup(slave), "w")) as sitting:
        sitting.settle()
        assert termios.tcgetattr(slave) != before
        sitting.script.events.put(trouble)
        sitting.ends()
        assert termios.tcgetattr(slave) == before
        assert sitting.result == (0 if trouble is None else 1 if isinstance(trouble, AaepError) else trouble)
    os.close(slave)


# -- connecting ----------------------------------------------------------------------------


def test_how_the_connection_is_is_said_once_for_each_change() -> None:
    with at_a_terminal() as sitting:
        assert sitting.script.connected.wait(30)
        for _ in range(3):
            sitting.script.tell(Status("connecting", "Connecting."))
            sitting.script.tell(Status("waiting", "Nothing listens. Trying again in 0.5 seconds.", 0.5))
        first = "Nothing listens. Trying again in 0.5 seconds.\nWaiting. This goes on by itself.\n"
        assert sitting.settle().startswith(f"{first}| Calling mark")
        sitting.script.tell(Status("connected", "Connected."))
        sitting.script.tell(Status("waiting", "It broke.", 0.5))
        sitting.script.tell(Status("gap", "Connected again. Some of what happened meanwhile is not known here."))
        printed = sitting.settle()
        assert printed.startswith("Connected.\nThe connection is lost. It broke.\nWaiting.")
        assert "Some of what happened meanwhile" in printed


def test_where_many_agents_are_it_is_said_who_begins_and_who_asks() -> None:
    with at_a_terminal() as sitting:
        assert sitting.script.connected.wait(30)
        sitting.script.producer = ProducerInfo(agent_id="aaep-hub", agent_name="AAEP hub")
        other = {"agent_id": "shop", "agent_name": "Shop \x1b[1mAssistant"}
        sitting.script.events.put(event("session.started", producer=other))
        sitting.see("Shop Assistant. Started. Moving money to your savings.\n")
        assert sitting.prompt(risky(producer=other)).startswith("Attention. Shop Assistant. Confirm. Transfer")
        sitting.press("s", "Shop Assistant. Confirm. Transfer")
        sitting.script.events.put(event("tool.invoked", producer=other))
        assert sitting.see("Checking the balance") == "| Checking the balance"  # nobody else is there
        sitting.script.events.put(event("tool.invoked", session_id="sess_other"))
        sitting.see("Bank Assistant: Checking the balance")
        sitting.script.events.put(event("output.streaming", producer=other))
        assert "Shop Assistant: Shop" not in sitting.see("Shop Assistant: Your balance")


def test_what_could_not_be_read_is_told_once_in_a_row() -> None:
    """SEC-009"""
    with at_a_terminal() as sitting:
        sitting.settle()
        for _ in range(3):
            sitting.script.tell(UNREADABLE)
        line = f"Attention. {UNREADABLE.text}\n"
        assert sitting.settle().startswith(f"{line}| Calling mark")
        sitting.script.tell(UNREADABLE)
        assert sitting.settle().startswith(line)


def test_what_went_wrong_before_there_was_a_connection_is_raised() -> None:
    with at_a_terminal() as sitting:
        sitting.script.events.put(ChannelLost("Nobody is there."))
        assert isinstance(sitting.ends(), ChannelLost)


def test_a_connection_that_ends_for_good_is_told() -> None:
    with at_a_terminal() as sitting:
        sitting.settle()
        sitting.script.events.put(RemoteProtocolError("No.", [Violation("SUB-040", "It was refused.")]))
        sitting.see("The connection has ended for good. No. It was refused.\nStopped listening.\n")
        assert sitting.ends() == 1


def test_a_sentence_that_seems_finished_is_heard_when_nothing_follows_for_a_while() -> None:
    with at_a_terminal() as sitting:
        sitting.hear("output.streaming", chunk="Look. It is 3.", position=0, complete=False, coalesce_hint="word")
        sitting.see("Look.\n")
        sitting.type("?")  # what wakes it; alone it would wait by a clock that stands still
        if "It is 3.\n" not in sitting.see("Keys: a accepts"):  # whichever the loop notices first
            sitting.see("It is 3.\n")


def test_what_was_written_last_is_heard_before_the_end() -> None:
    with at_a_terminal() as sitting:
        sitting.hear("output.streaming", "coalesce_hint", chunk="And then", position=0, complete=False)
        sitting.script.events.put(ChannelLost("Gone."))
        assert "Bank Assistant: And then.\n" in sitting.see("The connection has ended for good.")


def test_who_it_is_and_why_it_ended_is_said() -> None:
    with at_a_terminal() as sitting:
        assert sitting.script.connected.wait(30)
        sitting.script.producer = ProducerInfo(agent_id="bank", agent_name="The \x1b[1mBank")
        sitting.script.tell(Status("connected", "Connected."))
        sitting.see("Connected to The Bank.\n")
        sitting.script.tell(Status("ended", "The Bank has ended. It is night."))
        sitting.script.events.put(None)
        sitting.see("The Bank has ended. It is night.\nStopped listening.\n")
        assert sitting.ends() == 0


def test_waiting_can_be_ended() -> None:
    with at_a_terminal() as sitting:
        assert sitting.script.connected.wait(30)
        sitting.script.tell(Status("waiting", "Nothing listens.", 0.5))
        sitting.see("Waiting. This goes on by itself.")
        sitting.type("q")
        assert sitting.ends() == 0


def test_a_producer_that_takes_no_answers_is_not_sent_any() -> None:
    with at_a_terminal() as sitting:
        sitting.script.terms = Capabilities(supports_confirmation_reply=False, supports_clarification_reply=False)
        sitting.settle()
        sitting.script.tell(Status("connected", "Connected."))
        sitting.see("The agent takes no answers from this reader. Prompts will be shown and not answered.\n")
        assert "r refuse" not in sitting.prompt(light())
        sitting.press("a", "This reader cannot answer prompts. Nothing was sent.")


# -- pipes ---------------------------------------------------------------------------------


def test_lines_of_a_pipe_are_commands() -> None:
    with at_a_pipe() as sitting:
        asked = sitting.prompt(risky())
        assert "Write accept, reject or time." in asked and "r refuse" not in asked
        sitting.press("accept\n", "Write yes to accept this")
        sitting.press("yes\n", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_risky")
        sitting.prompt(question("multiple_choice"))
        sitting.press("2\n", "Sending: House savings")
        sitting.press("help\n", "Commands, one on each line:")


def test_lines_that_come_together_do_not_accept_what_takes_two() -> None:
    with at_a_pipe() as sitting:
        sitting.prompt(risky())
        said = sitting.press("accept\nyes\n", "Write yes to accept this")
        assert said.count("What was typed before this line does not count.\n") == 1
        assert sitting.nothing_sent()
        said = sitting.press("accept\n", "Write yes to accept this")
        assert "does not count" not in said
        sitting.press("yes\n", "Sending: accept.")


def test_a_line_written_before_a_prompt_does_not_answer_it() -> None:
    with at_a_pipe() as sitting:
        sitting.press("accept\n", "There is nothing to accept.")
        sitting.page.meanwhile["Calling before."] = lambda: typed_ahead(sitting, "accept\nI do not ")
        sitting.hear("tool.invoked", summary_normal="Calling before.", urgency="normal")
        sitting.prompt(light())
        sitting.type("accept\n")  # the end of a line that was begun before
        assert sitting.nothing_sent()
        sitting.press("accept\n", "Sending: accept.")


def test_a_second_prompt_is_not_answered_by_the_same_line() -> None:
    with at_a_pipe() as sitting:
        sitting.prompt(light("rpl_1"))
        sitting.prompt(light("rpl_2"))
        sitting.press("accept\naccept\naccept\n", "Write yes to accept this")
        sitting.press("yes\nyes\naccept\nyes\n", "Sending: accept.")
        assert sitting.sent() == ("accept", "rpl_1")
        sitting.script.events.put(outcome("rpl_1", "accepted"))
        assert "Another prompt is waiting for you." in sitting.settle()
        assert sitting.nothing_sent()


def test_at_the_end_of_a_pipe_listening_goes_on_and_nobody_is_waited_for() -> None:
    with at_a_pipe() as sitting:
        sitting.prompt(light())
        sitting.type("accept\naccept without an end")
        sitting.see("Sending: accept.")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sitting.hands)
        sitting.see("Standard input has ended. Listening goes on. Prompts will be shown and not answered.\n")
        assert sitting.sent() == ("accept", "rpl_light")
        assert "Write" not in sitting.prompt(light("rpl_2"))


def test_with_nobody_to_answer_it_says_so() -> None:
    eyes, outside = os.pipe()
    with Sitting(NoInput(), os.dup(eyes), eyes, os.fdopen(outside, "w"), replies=False) as sitting:
        assert sitting.see("\n") == "Not interactive: prompts will be shown and not answered.\n"
        assert "r refuse" not in sitting.prompt(light())


def test_events_can_be_recorded_instead_of_said() -> None:
    found: SimpleQueue[Envelope] = SimpleQueue()
    with at_a_pipe(on_event=found.put) as sitting:
        sitting.script.events.put(light(action=LONG).event)
        assert found.get(timeout=30).type.endswith("confirmation")
        sitting.hear("tool.invoked")
        assert found.get(timeout=30).type.endswith("invoked")  # so the one before it was dealt with
        os.write(sitting.hands, b"help\n")
        assert "Confirm" not in sitting.see("Commands, one on each line:")
        sitting.script.events.put(event("session.started", session_id="sess_2"))
        sitting.script.events.put(None)
        assert "Started" not in sitting.see("Stopped listening. 1 question was not answered.")
        assert found.get(timeout=30).type.endswith("started") and found.empty()


def test_a_prompt_that_was_recorded_was_printed_whole() -> None:
    heard = threading.Event()
    with at_a_pipe(on_event=lambda one: heard.set()) as sitting:
        sitting.script.events.put(light(action=LONG).event)
        assert heard.wait(30)
        sitting.press_lines("accept", "Write yes to accept what begins like this: word")


def test_a_countdown_does_not_turn_recorded_prompts_round_either() -> None:
    heard: SimpleQueue[Envelope] = SimpleQueue()
    with at_a_pipe(on_event=heard.put) as sitting:
        sitting.script.events.put(light("rpl_2", timeout_seconds=900).event)
        sitting.script.events.put(light("rpl_1", timeout_seconds=120).event)
        sitting.see("Another question is waiting. Write next to hear it.\n")
        sitting.hear("tool.invoked")
        [heard.get(timeout=30) for _ in range(3)]  # so the two before it were dealt with
        sitting.now += 60
        os.write(sitting.hands, b"help\n")  # read before the countdown, and the next line after it
        sitting.see("Commands, one on each line:")
        sitting.press_lines("reject", "Sending: refuse.")
        assert sitting.sent() == ("reject", "rpl_2")


# -- what standard input is ----------------------------------------------------------------


def test_what_standard_input_is(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(detect_input(None), NoInput)
    with open(os.devnull) as nothing:
        assert isinstance(detect_input(nothing), NoInput)
    assert isinstance(detect_input(nothing), NoInput), "closed"
    (tmp_path / "lines").write_text("accept\n")
    with open(tmp_path / "lines") as lines:
        assert isinstance(detect_input(lines), LineInput)
    with detect_input(io.StringIO("one\ntwo\nthr")) as relay:
        assert isinstance(relay, ThreadedLineInput)
        assert everything(relay) == ["one", "two"]
    master, slave = pty.openpty()
    with open(slave) as terminal:
        assert isinstance(detect_input(terminal), KeyboardInput)
        monkeypatch.setattr("aaep.outputs.stdin.HAS_SINGLE_KEYS", False)
        found = detect_input(terminal)
        assert isinstance(found, ThreadedLineInput) and found.is_interactive and found.is_line_based
        with found:
            os.write(master, b"accept\n")
            assert select.select([found.fileno() or 0], [], [], 30)[0]
            assert found.read(0) == ["accept"]
            os.write(master, b"\x04")
            assert everything(found) == []
    os.close(master)


def everything(found: InputSource) -> list[str]:
    lines: list[str] = []
    while (number := found.fileno()) is not None:
        assert select.select([number], [], [], 30)[0]
        lines += found.read(0.0)
    return lines


def test_a_pipe_that_is_never_empty_is_waited_out() -> None:
    """``yes accept | aaep listen``: more than can be forgotten at once was there before the prompt."""
    inside, hands = os.pipe()
    lines = LineInput(inside)
    lines._is_ready = lambda: True  # type: ignore[method-assign]  # put in its place for this test
    pieces = iter([b"accept\n" * 100] * 200)
    lines._receive = lambda fd: next(pieces)  # type: ignore[method-assign]  # put in its place for this test
    assert lines.discard()
    assert lines.read(0) == lines.read(0) == []
    lines._is_ready = lambda: False  # type: ignore[method-assign]  # put in its place for this test
    assert lines.read(0) == []
    assert lines.read(0) == ["accept"] * 100
    os.close(inside)
    os.close(hands)


def test_a_line_without_end_is_forgotten() -> None:
    inside, hands = os.pipe()
    lines = LineInput(inside)
    pieces = iter([b"x" * 600_000, b"x" * 600_000, b"x\naccept\r\n"])
    lines._receive = lambda fd: next(pieces)  # type: ignore[method-assign]  # put in its place for this test
    assert lines.read(0) == lines.read(0) == []
    assert lines.read(0) == ["accept"]
    os.close(inside)
    os.close(hands)


def test_code_is_told_on_request_also_after_what_followed_it() -> None:
    answer = "See [the wiki](https://example.org/a).\n\n```python\nif old:\n    remove(it)\n```\n\nThat is all.\n"
    with at_a_terminal() as sitting:
        sitting.hear("output.streaming", chunk=answer, position=0, complete=True, coalesce_hint="completion")
        assert sitting.see("That is all.\n").splitlines()[-2:] == ["| Code, python, 2 lines.", "| That is all."]
        assert "| Code, python, 2 lines.\n| if old:\n|     remove(it)\n" in sitting.press("m", "remove(it)\n")
