"""Flow by ear: how fast somebody hears, when speech is behind, and what is skipped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.presentation.announce import Announcement, announce_line
from aaep.presentation.flow import (
    CALM_TIME,
    MAX_AGE,
    MAX_PACE,
    MEASURED_UTTERANCES,
    MIN_PACE,
    MIN_WAITING,
    Backlog,
    CaughtUp,
    FellBehind,
    Flow,
    PaceMeter,
)
from aaep.presentation.queue import MAX_BACKLOG, Queue, Speak
from tests.presentation.test_announce import said
from tests.presentation.test_queue import heard, outcome, prompt, rest, tool

MUCH = Backlog(9, MIN_WAITING * 3, 0.0)  # ten seconds at 180 words a minute, and waiting since the beginning


def sentence(number: int) -> Announcement:
    return said("output.streaming", chunk=f"Sentence {number}.", position=0, complete=True)


# -- the pace --------------------------------------------------------------------------------------


@given(st.floats(60, 900), st.lists(st.integers(1, 60), min_size=MEASURED_UTTERANCES, max_size=50))
def test_a_steady_voice_is_measured_whatever_was_assumed(pace: float, lengths: list[int]) -> None:
    meter = PaceMeter(180)
    for length in lengths:
        meter.note("word " * length, length * 60 / pace)
    assert meter.words_per_minute == pytest.approx(pace)


@given(st.lists(st.tuples(st.text(), st.floats(-10, 1e6))))
def test_no_measurement_is_out_of_bounds(utterances: list[tuple[str, float]]) -> None:
    meter = PaceMeter(180)
    for text, seconds in utterances:
        meter.note(text, seconds)
    assert MIN_PACE <= meter.words_per_minute <= MAX_PACE and meter.utterances_per_second >= 0
    assert Flow(meter.words_per_minute).choose_terms().max_events_per_second >= 1


def test_a_voice_that_was_made_faster_is_soon_measured_as_such() -> None:
    meter = PaceMeter(180)
    for _ in range(100):
        meter.note("word " * 9, 3.0)
    for _ in range(MEASURED_UTTERANCES):
        meter.note("word " * 9, 1.5)
    assert meter.words_per_minute == pytest.approx(360)


def test_a_single_word_tells_nothing() -> None:
    meter = PaceMeter(180)
    meter.note("Done.", 5.0)
    assert meter.words_per_minute == 180


# -- falling behind --------------------------------------------------------------------------------


def test_it_falls_behind_when_much_has_waited_for_long_and_tells_that_once() -> None:
    flow = Flow(180)
    assert flow.update(MUCH, MAX_AGE - 1) is None
    assert flow.next_deadline() == MAX_AGE
    change = flow.update(MUCH, MAX_AGE)
    assert isinstance(change, FellBehind) and change.seconds == pytest.approx(MIN_WAITING)
    assert flow.update(MUCH, 2 * MAX_AGE) is None and flow.next_deadline() is None


def test_how_much_it_is_depends_on_the_pace_that_was_measured() -> None:
    flow = Flow(180)
    for _ in range(MEASURED_UTTERANCES):
        flow.meter.note("word " * 12, 2.0)  # 360 words a minute
    assert flow.update(MUCH, 100) is None and flow.next_deadline() is None


def test_it_has_caught_up_when_nothing_has_waited_for_a_while() -> None:
    flow = Flow(180)
    flow.update(MUCH, MAX_AGE)
    assert flow.update(Backlog(), 20) is None and flow.next_deadline() == 20 + CALM_TIME
    assert flow.update(Backlog(1, 3, 21), 21) is None, "it begins anew"
    assert flow.update(Backlog(), 30) is None
    assert flow.update(Backlog(), 20 + CALM_TIME) is None
    assert flow.update(Backlog(), 30 + CALM_TIME) == CaughtUp()
    assert flow.update(MUCH, 100) is not None, "the next time is told again"


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 20), st.floats(0, 300))))
def test_it_falls_behind_and_catches_up_in_turn_and_no_deadline_has_passed(
    steps: list[tuple[float, int, float]],
) -> None:
    flow, now, changes = Flow(180), 0.0, []
    for seconds, count, words in steps:
        since, now = now, now + seconds
        change = flow.update(Backlog(count, words, since), now)
        changes += [] if change is None else [type(change)]
        deadline = flow.next_deadline()
        assert deadline is None or deadline > now, "the loop would turn without waiting"
    assert changes == [FellBehind, CaughtUp][:2] * (len(changes) // 2) + [FellBehind] * (len(changes) % 2)


def test_agents_are_asked_for_no_more_than_is_heard_and_than_was_asked_for_before() -> None:
    flow = Flow(180)
    for _ in range(9):
        flow.meter.note("one two three", 0.3)
    terms = flow.choose_terms()
    assert (terms.max_events_per_second, terms.pace_wpm) == (3, 600)
    assert terms.boundaries == ("paragraph", "completion")
    assert flow.choose_terms(limit=2).max_events_per_second == 2
    assert Flow(180).choose_terms().max_events_per_second == 1, "CAP-002: never less than one"


def test_less_is_said_only_where_that_is_allowed() -> None:
    assert Flow(180).choose_terms().verbosity is None
    found = [Flow(180).choose_terms(verbosity=verbosity).verbosity for verbosity in ("detailed", "normal", "terse")]
    assert found == ["normal", "terse", "terse"]


# -- the queue -------------------------------------------------------------------------------------


def test_skipping_leaves_out_everything_but_the_last_and_keeps_it_in_the_history() -> None:
    queue = Queue()
    for number in range(1, 6):
        queue.push(sentence(number), number)
    backlog = queue.measure_backlog()
    assert (backlog.count, backlog.since) == (4, 2) and backlog.words >= 8
    count, actions = queue.skip_to_now(6)
    assert count == 4 and isinstance(actions[-1], Speak)
    assert actions[-1].text.startswith("4 skipped. ") and "Sentence 5." in actions[-1].text
    assert rest(queue) == [] and len(queue.history) == 5
    (back,) = queue.go_back(7)
    assert isinstance(back, Speak) and "Sentence 4." in back.text
    assert queue.measure_backlog() == Backlog()


def test_nothing_that_is_needed_is_skipped() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1"), 0)
    queue.push(prompt("rpl_2", "Send."), 0)
    for number in range(3):
        queue.push(sentence(number), 0)
    queue.push(said("session.completed", session_id="sess_other"), 0)
    queue.push(tool("Deleting.", irreversible=True), 0)
    queue.push(said("tool.completed", tool="t", status="error", summary_normal="Reading failed."), 0)
    queue.push(sentence(9), 0)
    queue.push(outcome("rpl_2"), 0)
    queue.say(announce_line("Speech is back."), 0)
    count, actions = queue.skip_to_now(1)
    assert (count, actions) == (3, []), "the first prompt is still spoken"
    texts = rest(queue)
    assert any(text.startswith("Accepted.") for text in texts)
    assert any(text.startswith("Done.") for text in texts)
    assert any("Deleting." in text for text in texts) and any("failed" in text for text in texts)
    assert any(text.startswith("3 skipped.") for text in texts)
    assert "Speech is back." in [text[:15] for text in texts]


def test_nothing_is_left_out_where_nothing_waits() -> None:
    queue = Queue()
    assert queue.skip_to_now(0) == (0, [])
    queue.push(sentence(1), 0)
    assert queue.skip_to_now(0) == (0, []), "the newest is being spoken"


def test_a_long_row_of_updates_is_one_since_only_the_last_is_spoken() -> None:
    queue = Queue()
    queue.push(sentence(0), 0)
    for number in range(MAX_BACKLOG + 1):
        queue.push(tool(f"Reading {number}."), number)
    assert queue.measure_backlog().count == 1
    queue.push(sentence(1), 9)
    queue.push(tool("Reading more."), 9)
    assert queue.measure_backlog().count == 3


def test_what_the_reader_says_about_what_waits_comes_next_and_is_left_out_with_it() -> None:
    queue = Queue()
    for number in range(3):
        queue.push(tool(f"Reading {number}."), 0)
    assert queue.say_behind(announce_line("Behind."), 0) == []
    assert heard(queue.utterance_finished(1)) == ["Behind."]
    count, actions = queue.skip_to_now(2)
    assert count == 1 and heard(actions) == ["-", "1 skipped. Reading"]
    queue.push(tool("Reading 3."), 3)
    queue.push(tool("Reading 4."), 3)
    queue.say_behind(announce_line("Behind."), 3)
    count, actions = queue.skip_to_now(4)
    assert count == 2 and heard(actions) == ["-", "2 skipped. Reading"] and rest(queue) == []
