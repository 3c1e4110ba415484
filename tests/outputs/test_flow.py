"""A terminal whose voice falls behind: what is said, what agents are asked for, and what the skip key does."""

from __future__ import annotations

import re
from typing import Any

import aaep
from aaep.presentation.flow import CALM_TIME, MAX_AGE, NO_LIMIT, Flow
from aaep.subscriber.request import Terms
from aaep.text.phrases import PHRASES
from aaep.transports.base import ChannelLost
from tests.outputs.scripted import ScriptedOutput
from tests.outputs.test_paced_terminal import leave, listening
from tests.outputs.test_terminal import Sitting, at_a_pipe, light
from tests.presentation.test_announce import event

WORDS = "with so many words that speaking them takes a while"
SLOWER = {"max_events_per_second": 1, "boundaries": ("paragraph", "completion")}
USUAL = {"max_events_per_second": NO_LIMIT, "boundaries": ("sentence", "completion")}


def step(number: int | str) -> Any:
    return event("output.streaming", chunk=f"Step {number} {WORDS}.", position=0, complete=True)


def send(sitting: Sitting, *events: Any) -> None:
    """Let events come, and wait until all are dealt with, whether or not anything was printed."""
    for one in events:
        sitting.script.events.put(one)
    for _ in events:
        assert sitting.script.passed_on.acquire(timeout=30)
    for mark in ("(First turn.)", "(Second turn.)"):  # when the loop begins its second turn, the first has ended
        sitting.terminal.print_soon(mark)
        sitting.see(f"{mark}\n")


def fall_behind(sitting: Sitting, voice: ScriptedOutput) -> str:
    """Let steps come while the voice is at the first, the seventh of them later, and return what is printed of it."""
    send(sitting, *(step(number) for number in range(1, 7)))
    assert "Step 1 " in voice.hear()
    sitting.now += MAX_AGE
    sitting.terminal.print_soon("(Time has passed.)")  # wakes the loop, as time would
    printed = sitting.see("to now.\n")
    send(sitting, step(7))
    return printed


def hear_rest(voice: ScriptedOutput, last: str) -> list[str]:
    """Hear everything to its end, up to a text with this."""
    texts = [voice.hear_all()]
    while last not in texts[-1]:
        texts.append(voice.hear_all())
    return texts


def test_it_says_once_that_it_is_behind_as_the_next_thing_and_asks_agents_to_slow_down() -> None:
    with listening() as (sitting, voice):
        printed = fall_behind(sitting, voice)
        assert re.search(r"\bSpeech is behind: 2\d seconds are waiting. Press k to skip to now.\n$", printed)
        assert sitting.sent() == ("renegotiate", {**SLOWER, "pace_wpm": 180})
        voice.finish()
        texts = hear_rest(voice, "Step 4")
        assert texts[0].startswith("Speech is behind: ")
        assert [re.findall(r"Step \d", text) for text in texts[1:]] == [["Step 2"], ["Step 3"], ["Step 4"]]
        sitting.now += 10 * MAX_AGE
        send(sitting, *(step(number) for number in range(10, 20)))
        texts = hear_rest(voice, "Step 19")
        assert not any("behind" in text for text in texts)
        assert sitting.script.sent.empty()


def test_the_skip_key_goes_to_the_newest_and_the_rest_stays_in_the_history() -> None:
    with listening() as (sitting, voice):
        fall_behind(sitting, voice)
        voice.finish()
        assert voice.hear().startswith("Speech is behind: ")
        sitting.type("k")
        assert re.match("5 skipped. .*Step 7 ", voice.hear_all())
        sitting.type("b")
        assert "Step 6 " in voice.hear_all()
        sitting.type("k")
        assert voice.hear_all() == PHRASES["behind.nothing"]


def test_a_question_and_what_is_critical_are_never_skipped() -> None:
    with listening() as (sitting, voice):
        fall_behind(sitting, voice)
        send(sitting, light().event, event("session.errored", session_id="sess_other"))
        assert voice.hear().startswith("Confirm.")
        voice.press("k")
        voice.press("k")
        assert sitting.see(PHRASES["behind.nothing"]), "the second time nothing is left"
        voice.finish()
        texts = hear_rest(voice, "Step 7")
        assert any("Failed." in text for text in texts) and texts[-1].startswith("6 skipped. ")
        assert not any(f"Step {number} " in text for text in texts for number in range(1, 7))


def test_agents_go_on_as_before_when_speech_has_kept_up_for_a_while() -> None:
    with listening(terms=Terms(max_events_per_second=20)) as (sitting, voice):
        fall_behind(sitting, voice)
        assert sitting.sent() == ("renegotiate", {**SLOWER, "pace_wpm": 180})
        voice.finish()
        hear_rest(voice, "Step 7")
        send(sitting, step(8))
        assert "Step 8" in voice.hear_all(), "so nothing waits any more"
        send(sitting, step(9))
        voice.hear()
        sitting.now += CALM_TIME
        voice.finish()
        assert sitting.sent() == ("renegotiate", {**USUAL, "max_events_per_second": 20})
        assert sitting.script.sent.empty()


def test_less_is_said_only_if_that_is_allowed_and_as_much_as_before_afterwards() -> None:
    with listening(may_say_less=True) as (sitting, voice):
        fall_behind(sitting, voice)
        assert sitting.sent()[1]["verbosity"] == "terse"
        voice.finish()
        voice.hear()
        sitting.type("k")
        assert "Step 7" in voice.hear_all()
        send(sitting, step(8))  # nothing waits any more
        voice.hear()
        sitting.now += CALM_TIME
        voice.finish()
        assert sitting.sent() == ("renegotiate", {**USUAL, "verbosity": "normal"})
        assert sitting.terminal.preferences.verbosity == "normal"


def test_what_the_person_chooses_meanwhile_stays() -> None:
    with listening(may_say_less=True) as (sitting, voice):
        fall_behind(sitting, voice)
        assert sitting.sent()[1]["verbosity"] == "terse"
        sitting.type("v")
        assert sitting.sent() == ("renegotiate", {"verbosity": "normal"})
        assert voice.hear_all() == "Verbosity: normal."
        sitting.type("k")
        hear_rest(voice, "Step 7")
        send(sitting, step(8))  # nothing waits any more
        voice.hear()
        sitting.now += CALM_TIME
        voice.finish()
        assert sitting.sent() == ("renegotiate", USUAL)


def test_how_fast_it_is_heard_is_measured() -> None:
    with listening() as (sitting, voice):
        for number in range(20):
            send(sitting, step(number))
            words = len(voice.hear().split())
            sitting.now += words * 60 / 120
            voice.finish()
        fall_behind(sitting, voice)
        assert sitting.sent()[1]["pace_wpm"] == 120


def test_a_pause_is_not_falling_behind_and_tells_nothing_about_the_pace() -> None:
    with listening() as (sitting, voice):
        send(sitting, *(step(number) for number in range(1, 8)))
        assert "Step 1 " in voice.hear()
        sitting.type("p")
        sitting.see(PHRASES["speech.paused"])
        sitting.now += 1000
        send(sitting, step(8))
        assert voice.changes.get(timeout=30) == "pause" and sitting.script.sent.empty()
        sitting.type("p")
        assert "Speech is behind: " in sitting.see("to now.\n")
        assert sitting.sent()[1]["pace_wpm"] == 180


def test_agents_that_cannot_be_asked_disturb_nobody() -> None:
    with listening() as (sitting, voice):
        sitting.script.broken = [ChannelLost("Gone.")]
        fall_behind(sitting, voice)
        voice.finish()
        assert "Gone." not in " ".join(hear_rest(voice, "Step 7"))
        sitting.type("v")
        assert "Gone." not in sitting.see("Verbosity: detailed.")


def test_lines_name_the_word_to_write() -> None:
    voice = ScriptedOutput()
    with at_a_pipe(outputs=[voice]) as sitting:
        voice.hear_all()
        assert "Write skip to skip to now." in fall_behind(sitting, voice)
        sitting.type("skip\n")
        assert re.match("6 skipped. .*Step 7 ", voice.hear_all()), "and not that it is behind"
        leave(sitting, voice)


def test_a_real_agent_grants_what_is_asked_for_and_takes_it_back() -> None:
    terms = Flow(180).choose_terms()
    with (
        aaep.Producer("notes", name="Notes", listen="http://127.0.0.1:0", journal=None) as producer,
        aaep.Subscriber(producer.addresses[0]) as subscriber,
    ):
        subscriber.ready().wait(30)
        granted = subscriber.renegotiate(
            max_events_per_second=terms.max_events_per_second, boundaries=terms.boundaries, pace_wpm=terms.pace_wpm
        ).wait(30)
        assert (granted.max_events_per_second, granted.coalesce_boundaries) == (1, ("paragraph", "completion"))
        granted = subscriber.renegotiate(max_events_per_second=NO_LIMIT, boundaries=("sentence", "completion")).wait(30)
        assert granted.coalesce_boundaries == ("sentence", "completion")
