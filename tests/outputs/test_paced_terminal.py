"""The terminal with outputs beside it, such as a voice: what begins when, what is stopped, and when keys count."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from aaep.outputs.interpreter import MIN_READING_TIME
from aaep.outputs.pacing import OVERDUE_MARGIN
from aaep.presentation.preferences import Preferences
from aaep.subscriber.status import UNREADABLE
from aaep.text.phrases import PHRASES, get_phrases
from tests.outputs.scripted import ScriptedOutput
from tests.outputs.test_terminal import LATER, Sitting, at_a_pipe, at_a_terminal, light, outcome, risky
from tests.presentation.test_announce import SUMMARIES, event


@contextlib.contextmanager
def listening(*outputs: ScriptedOutput, **settings: Any) -> Iterator[tuple[Sitting, ScriptedOutput]]:
    """A person at a terminal with a voice that has said the greeting."""
    voice = outputs[0] if outputs else ScriptedOutput()
    with at_a_terminal(outputs=[*(outputs or (voice,))], **settings) as sitting:
        assert voice.hear_all() == PHRASES["greeting.keys"]
        try:
            yield sitting, voice
        finally:
            leave(sitting, *(outputs or (voice,)))


def test_lines_of_the_reader_are_spoken_as_the_language_they_are_in() -> None:
    voice = ScriptedOutput()
    with at_a_terminal(outputs=[voice], preferences=Preferences(languages=("de",))) as sitting:
        assert voice.hear_all() == get_phrases(("de",))["greeting-keys"]
        assert voice.current is not None and voice.current.announcement.language == "de"
        leave(sitting, voice)


def leave(sitting: Sitting, *voices: ScriptedOutput) -> None:
    """End the stream, and every utterance that is left."""
    sitting.script.close()
    while sitting.thread.is_alive():
        for voice in voices:
            if voice.current is not None:
                voice.finish()
            while not voice.begun.empty():
                voice.hear_all()
        sitting.thread.join(0.01)


def tool(text: str) -> Any:
    return event("tool.invoked", urgency="normal", **dict.fromkeys(SUMMARIES, text))


def hear(sitting: Sitting, *texts: str) -> None:
    for text in texts:
        sitting.script.events.put(tool(text))


def test_the_next_utterance_begins_when_the_voice_has_ended_the_one_before() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.", "Reading two.")
        assert voice.hear() == "Reading one."
        sitting.see("Reading one.\n")
        sitting.script.tell(UNREADABLE)
        assert "two" not in sitting.see(PHRASES["unreadable"]) and voice.begun.empty()
        voice.finish()
        assert voice.hear_all() == "Reading two."
        assert "Reading two." in sitting.see("Reading two.\n")
        assert voice.hear_all() == PHRASES["attention"].format(PHRASES["unreadable"]), "printed at once, said in turn"


def test_a_display_that_reports_no_ends_gets_everything_at_once() -> None:
    display = ScriptedOutput("display", paced=False)
    with at_a_terminal(outputs=[display]) as sitting:
        hear(sitting, "Reading one.", "Reading two.")
        heard = [display.hear() for _ in range(3)]
        assert heard == [PHRASES["greeting.keys"], "Reading one.", "Reading two."]


def test_with_two_voices_the_slower_one_decides() -> None:
    quick, slow = ScriptedOutput("quick"), ScriptedOutput("slow")
    with at_a_terminal(outputs=[quick, slow]) as sitting:
        quick.hear_all()
        assert slow.hear() == PHRASES["greeting.keys"]
        sitting.script.connected.wait(30)
        sitting.script.tell(UNREADABLE)
        sitting.see(PHRASES["unreadable"])
        assert quick.begun.empty(), "the other still speaks"
        slow.finish()
        assert quick.hear_all() == slow.hear_all() == PHRASES["attention"].format(PHRASES["unreadable"])
        leave(sitting, quick, slow)


def test_an_end_that_never_comes_silences_nobody() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.", "Reading two.")
        assert voice.hear() == "Reading one."
        sitting.now += OVERDUE_MARGIN + 2
        sitting.script.tell(UNREADABLE)  # wakes the loop, as time would
        assert voice.hear_all() == "Reading two."


def test_an_end_is_waited_for_as_long_as_a_slow_voice_takes() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading " + "word " * 100, "Reading two.")
        voice.hear()
        sitting.now += 100 * 60 / 80  # at 80 words a minute
        sitting.script.tell(UNREADABLE)
        sitting.see(PHRASES["unreadable"])
        assert voice.begun.empty()
        voice.finish()
        assert voice.hear_all() == "Reading two."


def test_what_is_critical_interrupts_and_what_was_cut_is_said_again() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.")
        voice.hear()
        cut = voice.current
        sitting.script.events.put(event("session.errored"))
        assert voice.hear().startswith("Failed. The bank did not answer.")
        assert cut is not None and voice.stopped.get(timeout=30) == cut.utterance_id
        voice.finish()
        assert voice.hear_all() == "Again. Reading one."


def test_a_late_end_of_what_was_cut_does_not_end_what_is_spoken_now() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.")
        voice.hear()
        cut = voice.current
        sitting.script.events.put(event("session.errored"))
        voice.hear()
        failed, voice.current = voice.current, cut
        voice.finish()
        sitting.script.tell(UNREADABLE)
        sitting.see(PHRASES["unreadable"])
        assert voice.begun.empty()
        voice.current = failed
        voice.finish()
        assert voice.hear_all() == PHRASES["attention"].format(PHRASES["unreadable"]), "it belongs to what was critical"
        assert voice.hear_all() == "Again. Reading one."


@pytest.mark.parametrize("key", ["a", "r"])
def test_keys_count_only_after_a_prompt_was_spoken(key: str) -> None:
    with listening() as (sitting, voice):
        sitting.script.events.put(light().event)
        assert voice.hear().startswith("Confirm. Transfer 50 dollars")
        sitting.now += 20  # it was printed long ago, but nobody has heard its end
        sitting.type(key)
        sitting.see(PHRASES["keys.too_soon"])
        assert sitting.script.sent.empty()
        voice.finish()
        assert voice.hear_all() == PHRASES["keys.too_soon"]
        sitting.type(key)
        assert sitting.sent()[0] in ("accept", "reject")


def test_a_key_right_after_the_end_may_still_be_meant_for_something_else() -> None:
    with listening() as (sitting, voice):
        sitting.script.events.put(light().event)
        voice.hear_all()
        hear(sitting, "Reading one.")
        voice.hear_all()  # so the end of the prompt was dealt with
        sitting.now += MIN_READING_TIME / 2 - LATER
        sitting.type("a")
        sitting.see(PHRASES["keys.too_soon"])
        assert sitting.script.sent.empty()


def test_the_time_of_a_prompt_begins_when_it_was_spoken() -> None:
    """Convention: what speaking took is asked for, so that nobody has less time because of a slow voice."""
    with listening() as (sitting, voice):
        sitting.script.events.put(light(timeout_seconds=60).event)
        voice.hear()
        sitting.now += 20
        voice.finish()
        assert voice.hear_all().startswith("Asking for ")
        assert sitting.sent() == ("renegotiate", {"minimum_timeout": 80})


def test_keys_of_an_output_are_keys_of_the_keyboard() -> None:
    with listening() as (sitting, voice):
        sitting.script.events.put(light().event)
        voice.hear()
        voice.press("a")
        sitting.see(PHRASES["keys.too_soon"])
        voice.finish()
        voice.hear_all()
        sitting.now += LATER
        voice.press("a")
        assert sitting.sent() == ("accept", "rpl_light")
        assert voice.hear_all() == PHRASES["sending.accept"]
        sitting.script.events.put(outcome("rpl_light", "accepted"))
        assert voice.hear_all().startswith("Accepted.")


def test_silence_stops_at_once_and_answers_nothing() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.", "Reading two.")
        voice.hear()
        sitting.type(" ")
        assert voice.current is not None and voice.stopped.get(timeout=30) == voice.current.utterance_id
        sitting.script.events.put(light().event)
        assert voice.hear().startswith("Confirm."), "what waited was skipped"
        sitting.type(" ")
        voice.stopped.get(timeout=30)
        sitting.type("b")
        assert voice.hear_all() == "Reading two.", "and stays in the history"
        assert sitting.script.sent.empty()


def test_a_prompt_whose_speech_was_stopped_can_be_refused_and_accepted_only_after_it_was_heard() -> None:
    with listening() as (sitting, voice):
        sitting.script.events.put(light().event)
        voice.hear()
        sitting.type(" ")
        voice.stopped.get(timeout=30)
        sitting.type("a")
        sitting.see("Hear the whole text before you can accept: m.")
        voice.hear_all()
        sitting.type("m")
        assert "Transfer 50 dollars" in voice.hear()
        sitting.type("a")
        sitting.see("Hear the whole text before you can accept: m.")
        voice.finish()
        voice.hear_all()
        sitting.type("a")
        assert sitting.sent() == ("accept", "rpl_light")
    with listening() as (sitting, voice):
        sitting.script.events.put(light().event)
        voice.hear()
        sitting.type(" ")
        voice.stopped.get(timeout=30)
        sitting.type("r")
        assert sitting.sent() == ("reject", "rpl_light")


def test_what_a_key_does_is_said_at_once_and_what_it_cut_again() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.")
        voice.hear()
        sitting.type("v")
        assert voice.hear_all() == "Verbosity: detailed."
        assert voice.hear_all() == "Again. Reading one."


def test_the_second_key_for_what_is_risky_works_by_ear() -> None:
    with listening() as (sitting, voice):
        sitting.script.events.put(risky().event)
        voice.hear_all()
        hear(sitting, "Reading one.")
        voice.hear_all()
        sitting.type("a")
        assert voice.hear().startswith("Not accepted yet. Press y to accept this: Transfer 50 dollars")
        sitting.type("y")
        assert sitting.sent() == ("accept", "rpl_risky")


def test_another_prompt_on_request_takes_the_place_of_what_is_spoken() -> None:
    with listening() as (sitting, voice):
        sitting.script.events.put(light("rpl_1", action="Pay Ada.").event)
        voice.hear_all()
        sitting.script.events.put(light("rpl_2", action="Pay Eve.").event)
        assert voice.hear_all().startswith("Another question is waiting.")
        sitting.type("o")
        assert "Pay Eve." in voice.hear()
        sitting.type("a")
        sitting.see(PHRASES["keys.too_soon"])
        voice.finish()
        assert voice.hear_all().startswith("2 prompts are open. You answer this one now.")
        voice.hear_all()
        sitting.type("r")
        assert sitting.sent() == ("reject", "rpl_2")


def test_a_pause_holds_everything_and_something_urgent_ends_it() -> None:
    with listening() as (sitting, voice):
        hear(sitting, "Reading one.")
        voice.hear()
        sitting.type("p")
        sitting.see(PHRASES["speech.paused"])
        assert voice.changes.get(timeout=30) == "pause"
        sitting.now += 10_000
        sitting.type("p")
        assert voice.changes.get(timeout=30) == "resume"
        sitting.type("p")
        assert voice.changes.get(timeout=30) == "pause"
        sitting.script.events.put(event("session.errored"))
        assert voice.changes.get(timeout=30) == "resume"
        assert voice.hear_all().startswith("Failed.")
        assert voice.hear_all() == "Again. Reading one.", "the pause was longer than any voice takes, and ended nothing"


def test_speech_can_be_made_faster_and_slower_and_says_how_fast_it_is() -> None:
    with listening() as (sitting, voice):
        sitting.type(".")
        assert voice.hear_all() == "200 words a minute."
        sitting.type(",")
        assert voice.hear_all() == "180 words a minute."


def test_an_output_that_is_not_there_is_told_and_the_others_go_on() -> None:
    voice, display = ScriptedOutput(missing="No display answers."), ScriptedOutput()
    with at_a_terminal(outputs=[voice, display]) as sitting:
        assert display.hear_all() == "No display answers."
        assert display.hear_all() == PHRASES["greeting.keys"]
        assert voice.begun.empty()
        sitting.type("q")
        assert display.hear_all() == PHRASES["goodbye"]
        assert sitting.ends() == 0 and display.is_closed


def test_a_notice_of_an_output_is_printed_and_spoken_once() -> None:
    with listening() as (sitting, voice):
        voice.notify("No voice for Yoruba here.")
        sitting.see("No voice for Yoruba here.\n")
        assert voice.hear_all() == "No voice for Yoruba here."
        hear(sitting, "Reading one.")
        assert voice.hear_all() == "Reading one."


def test_at_the_end_of_the_stream_what_came_is_still_spoken() -> None:
    voice = ScriptedOutput()
    with at_a_terminal(outputs=[voice], once=True) as sitting:
        voice.hear_all()
        hear(sitting, "Reading one.", "Reading two.")
        sitting.script.events.put(event("session.completed", urgency="normal"))
        assert voice.hear_all() == "Reading one."
        hear(sitting, "Too late.")
        assert voice.hear_all() == "Reading two."
        assert voice.hear_all().startswith("Done.")
        assert voice.hear_all() == PHRASES["goodbye"]
        assert sitting.ends() == 0


def test_who_quits_waits_for_nothing() -> None:
    voice = ScriptedOutput()
    with at_a_terminal(outputs=[voice]) as sitting:
        voice.hear_all()
        hear(sitting, "Reading one.", "Reading two.")
        voice.hear()
        sitting.type("q")
        assert voice.hear_all() == PHRASES["goodbye"]
        assert sitting.ends() == 0


def test_lines_do_not_answer_a_prompt_that_is_being_spoken() -> None:
    voice = ScriptedOutput()
    with at_a_pipe(outputs=[voice]) as sitting:
        voice.hear_all()
        sitting.script.events.put(light().event)
        voice.hear()
        sitting.type("accept\n")
        sitting.see(PHRASES["line.too_soon"])
        voice.finish()
        voice.hear_all()
        sitting.type("accept\n")
        assert sitting.sent() == ("accept", "rpl_light")
        leave(sitting, voice)
