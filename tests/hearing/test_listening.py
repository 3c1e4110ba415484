"""Listening on a simulated clock, as bench/listening.py does at length: nothing is lost, what is cut comes again."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aaep.presentation.announce import announce_line
from bench._simulated_listening import (
    AnswerAtEnd,
    AppendedRegion,
    Heard,
    OurListener,
    RepeatedRegion,
    SkippingListener,
    Utterance,
    find_bad_cuts,
    simulate,
)
from bench.listening import find_missed

WORDS = 200


@pytest.fixture(scope="module", params=[180, 450])
def heard(request: pytest.FixtureRequest) -> Heard:
    return simulate(OurListener, request.param, WORDS)


def test_no_word_is_lost_or_twice_in_the_history(heard: Heard) -> None:
    assert heard.history_lost == heard.history_repeated == 0


def test_every_word_is_spoken_whole_although_questions_interrupt(heard: Heard) -> None:
    assert heard.interruptions > 0
    assert (heard.lost, heard.whole_share) == (0, 1.0)


def test_what_is_cut_was_cut_by_something_critical_and_is_offered_again(heard: Heard) -> None:
    assert heard.interruptions > 0 and heard.repeated > 0
    assert heard.cuts_without_cause == heard.cuts_without_return == 0


def test_what_comes_within_a_word_does_not_divide_it() -> None:
    heard = simulate(OurListener, 300, 1200)
    assert heard.questions_within_words > 0
    assert heard.halved == heard.history_lost == heard.history_repeated == 0
    assert heard.begun <= heard.questions_within_words
    assert heard.cuts_without_return == 0


def test_who_skips_to_now_hears_what_is_new_and_has_everything_in_the_history() -> None:
    heard = simulate(SkippingListener, 180, 1200)
    assert heard.mean_age < simulate(AppendedRegion, 180, 1200).mean_age / 2
    assert heard.history_lost == heard.history_repeated == 0


def test_the_limits_are_kept(heard: Heard) -> None:
    assert find_missed(heard) == []


def test_the_figures_are_the_same_in_every_run() -> None:
    first, second = (simulate(OurListener, 300, WORDS, seed=7) for _ in range(2))
    assert msgspec.to_builtins(first) == msgspec.to_builtins(second)


def test_a_live_region_speaks_words_again_or_in_pieces_and_questions_late() -> None:
    again = simulate(RepeatedRegion, 300, WORDS)
    added = simulate(AppendedRegion, 300, WORDS)
    assert again.repeated > WORDS and added.repeated == 0
    assert again.whole_share == 1 and added.whole_share < 1
    assert min(again.late_wait, added.late_wait) > 1
    assert again.history_lost is None


def test_an_answer_at_its_end_is_older_than_one_that_is_spoken_as_it_comes() -> None:
    at_end = simulate(AnswerAtEnd, 450, WORDS)
    assert at_end.mean_age > simulate(AppendedRegion, 450, WORDS).mean_age
    assert at_end.repeated == at_end.lost == 0


def test_a_missed_limit_is_named() -> None:
    heard = simulate(OurListener, 450, WORDS)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"critical_waits": [0.2]}, "the median time to the first syllable"),
        ({"critical_waits": [0.04] * 9 + [0.9]}, "the 95th percentile of it"),
        ({"history_lost": 1}, "no word lost or twice in the history"),
        ({"history_repeated": 1}, "no word lost or twice in the history"),
        ({"halved": 1}, "no word spoken only in part"),
        ({"begun": 9}, "no word begun but before a question"),
        ({"cuts_without_cause": 1}, "no announcement cut by what is not critical"),
        ({"cuts_without_return": 1}, "every announcement that was cut offered again"),
    ]
    for changes, name in cases:
        assert name in find_missed(msgspec.structs.replace(heard, **changes))


def test_cuts_are_judged_by_what_follows_them() -> None:
    def speak(text: str, *, is_cut: bool = False, is_critical: bool = False) -> Utterance:
        line = announce_line(text)
        announcement = msgspec.structs.replace(line, event_id=text)
        return Utterance(text, is_cut=is_cut, is_critical=is_critical, announcement=announcement)

    cut = speak("One.", is_cut=True)
    critical = speak("Stop.", is_critical=True)
    assert find_bad_cuts([cut, critical, speak("One.")]) == (0, 0)
    assert find_bad_cuts([cut, critical, speak("Two.")]) == (0, 1)
    assert find_bad_cuts([cut, speak("Two."), speak("One.")]) == (1, 0)
    assert find_bad_cuts([cut, critical, speak("One.", is_cut=True)]) == (1, 2)
