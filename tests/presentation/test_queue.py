"""The announcement queue: what is said when."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aaep.presentation.announce import Announcement, Preferences
from aaep.presentation.queue import MAX_WAITING, MAX_WAITING_OF_ONE, Queue, Speak, SpeechAction, Stop
from tests.presentation.test_announce import SUMMARIES, said


def tool(text: str, **changes: Any) -> Announcement:
    return said("tool.invoked", tool="t", summary_normal=text, **changes)


def progress(text: str, **changes: Any) -> Announcement:
    return said("progress.updated", summary_normal=text, progress={}, **changes)


def prompt(token: str = "rpl_1", action: str = "Pay.", **changes: Any) -> Announcement:
    return said("awaiting.confirmation", reply_token=token, action=action, **changes)


def outcome(token: str = "rpl_1", result: str = "accepted", **changes: Any) -> Announcement:
    told = {"attend": {"reply_token": token, "outcome": result}}
    return said("state.changed", *SUMMARIES, urgency=changes.pop("urgency", "critical"), extensions=told, **changes)


def heard(actions: list[SpeechAction]) -> list[str]:
    """The beginning of what is said; a dash for a stop."""
    return ["-" if isinstance(one, Stop) else one.text[:18].strip() for one in actions]


def rest(queue: Queue, now: float = 0.0) -> list[str]:
    """All that is still said, one after the other."""
    found: list[str] = []
    while actions := queue.utterance_finished(now):
        found += heard(actions)
    return found


def test_one_at_a_time_and_in_order() -> None:
    queue = Queue()
    assert heard(queue.push(tool("One."), 0)) == ["One."]
    assert queue.push(tool("Two."), 0) == queue.push(said("session.completed"), 0) == []
    assert heard(queue.utterance_finished(1)) == ["Two."]
    assert rest(queue) == ["Done. Your balance"]
    assert len(queue.history) == 3


def test_the_late_end_of_an_older_utterance_does_no_harm() -> None:
    queue = Queue()
    first = queue.push(tool("One."), 0)[0]
    assert isinstance(first, Speak)
    stop, second = queue.push(prompt(), 0)
    assert isinstance(second, Speak) and stop == Stop(first.utterance_id)
    assert queue.utterance_finished(1, first.utterance_id) == []
    assert heard(queue.utterance_finished(1, second.utterance_id)) == ["Again. One."]


def test_critical_interrupts_and_what_it_cut_comes_again() -> None:
    """TERM-018"""
    queue = Queue()
    queue.push(tool("One."), 0)
    queue.push(tool("Two."), 0)
    assert heard(queue.push(prompt(), 0)) == ["-", "Confirm. Pay. If y"]
    assert rest(queue) == ["Again. One.", "Two."]


def test_only_superseded_background_progress_is_left_out() -> None:
    queue = Queue()
    queue.push(tool("One."), 0)
    for text in ("10.", "20.", "30."):
        queue.push(progress(text), 0)
    queue.push(progress("40.", session_id="sess_2"), 0)
    queue.push(progress("50.", urgency="normal"), 0)
    queue.push(said("state.changed", summary_normal="Thinking hard."), 0)
    assert rest(queue) == ["30.", "40.", "50.", "Thinking hard."]
    assert len(queue.history) == 7


def test_progress_that_was_cut_is_not_said_again_if_there_is_newer() -> None:
    queue = Queue()
    queue.push(progress("10."), 0)
    queue.push(progress("20."), 0)
    queue.push(prompt(), 0)
    queue.push(progress("30."), 0)
    assert rest(queue) == ["30."]


def test_a_second_prompt_never_hides_the_first() -> None:
    queue = Queue()
    assert heard(queue.push(prompt("rpl_1", "Pay Ada."), 0)) == ["Confirm. Pay Ada."]
    assert queue.push(prompt("rpl_2", "Pay Eve."), 0) == []
    assert rest(queue) == ["Confirm. Pay Eve."]
    assert [one.prompt for one in queue.prompts] == ["rpl_1", "rpl_2"]
    assert heard(queue.push(outcome("rpl_2"), 1)) == ["Accepted. That was"]
    assert rest(queue, 1) == ["Another prompt is"], "the first is offered again, after the outcome"
    assert [one.prompt for one in queue.prompts] == ["rpl_1"]


def test_an_outcome_is_said_before_the_prompt_that_is_still_open_whatever_its_urgency() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1"), 0)
    queue.push(prompt("rpl_2"), 0)
    rest(queue)
    queue.push(tool("One."), 0)
    assert heard(queue.push(outcome("rpl_2", urgency="background"), 1)) == ["-", "Accepted. That was"]
    assert rest(queue, 1) == ["Another prompt is", "Again. One."]


def test_the_prompt_that_is_being_answered_is_said_again_and_not_an_older_one() -> None:
    queue = Queue()
    for token in ("rpl_1", "rpl_2", "rpl_3"):
        queue.push(prompt(token, f"Pay {token}."), 0)
    rest(queue)
    queue.focused_token = "rpl_3"
    queue.push(outcome("rpl_1"), 1)
    (again,) = queue.utterance_finished(1)
    assert isinstance(again, Speak) and again.text.startswith("Still waiting for you. Confirm. Pay rpl_3.")
    queue.utterance_finished(1)
    queue.push(outcome("rpl_3"), 1)
    (other,) = queue.utterance_finished(1)
    assert isinstance(other, Speak) and other.text.startswith("Another prompt is waiting for you. Confirm. Pay rpl_2.")


def test_nobody_is_reminded_of_a_prompt_that_was_answered_or_whose_time_is_over() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1", timeout_seconds=100), 0)
    queue.push(prompt("rpl_2", timeout_seconds=10), 0)
    queue.push(prompt("rpl_3", timeout_seconds=300), 0)
    rest(queue)
    queue.answered_tokens = {"rpl_1"}
    assert heard(queue.advance(50)) == [], "half of its time is over, and nobody has to hurry"
    queue.push(outcome("rpl_3"), 60)
    assert rest(queue, 60) == []
    queue.answered_tokens = ()
    assert heard(queue.remind(60)) == ["Another prompt is"]
    assert queue.remind(60) == [], "it is being said"


def test_a_prompt_that_was_settled_is_taken_out() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1", "Pay Ada."), 0)
    queue.push(prompt("rpl_2", "Pay Eve."), 0)
    stop, said_now = queue.push(outcome("rpl_1", "withdrawn"), 1)
    assert isinstance(stop, Stop) and isinstance(said_now, Speak)
    assert said_now.text == "No longer asked. That was about this: Pay Ada."
    assert rest(queue, 1) == ["Confirm. Pay Eve."]
    queue.push(outcome("rpl_2", "timed_out"), 2)
    assert queue.prompts == () and queue.next_deadline(2) is None


def test_the_end_of_a_session_closes_its_prompts() -> None:
    """CF-027"""
    queue = Queue()
    queue.push(prompt("rpl_1"), 0)
    queue.push(prompt("rpl_2", session_id="sess_2"), 0)
    assert heard(queue.push(said("session.cancelled"), 1))[0] == "-"
    assert [one.prompt for one in queue.prompts] == ["rpl_2"]


def test_leaving_the_state_closes_the_prompts_of_a_producer_without_our_extension() -> None:
    """CF-025"""
    queue = Queue()
    queue.push(prompt(), 0)
    queue.push(said("state.changed", from_state="awaiting_input", to_state="thinking"), 1)
    assert queue.prompts == ()


def test_leaving_the_state_closes_no_prompt_of_another_session_or_agent() -> None:
    queue = Queue()
    other = {"agent_id": "com.example.other", "agent_name": "Other"}
    queue.push(prompt("rpl_1"), 0)
    queue.push(prompt("rpl_2", session_id="sess_2"), 0)
    queue.push(prompt("rpl_3", producer=other), 0)
    queue.push(said("state.changed", from_state="awaiting_input", to_state="thinking"), 1)
    assert [one.prompt for one in queue.prompts] == ["rpl_2", "rpl_3"]


def test_what_is_urgent_is_said_in_the_order_in_which_it_came() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1", "Pay Ada."), 0)
    queue.push(prompt("rpl_2", "Pay Eve."), 0)
    queue.push(said("handoff.requested", session_id="sess_2"), 0)
    assert [one[:10] for one in rest(queue)] == ["Confirm. P", "Handing ov"]


def test_a_prompt_that_is_being_said_does_not_stand_for_another() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1", "Pay Ada."), 0)
    queue.utterance_finished(0)
    assert heard(queue.push(prompt("rpl_2", "Pay Eve."), 0)) == ["Confirm. Pay Eve."]
    assert queue.remind(0) == []
    assert rest(queue) == ["Another prompt is"], "the first, once the second was said"


def test_nothing_cuts_a_prompt_that_is_said_again() -> None:
    queue = Queue()
    queue.push(prompt("rpl_1", "Pay Ada."), 0)
    queue.push(prompt("rpl_2", "Pay Eve."), 0)
    rest(queue)
    queue.push(outcome("rpl_2"), 1)
    assert heard(queue.utterance_finished(1)) == ["Another prompt is"]
    assert queue.push(said("handoff.requested", session_id="sess_2"), 1) == [], "it waits"


def test_a_prompt_sent_again_is_not_said_again() -> None:
    queue = Queue()
    queue.push(prompt(), 0)
    assert queue.push(prompt(), 1) == []
    assert rest(queue) == [] and len(queue.prompts) == 1


def test_the_countdown_is_said_twice_only() -> None:
    queue = Queue()
    queue.push(prompt(timeout_seconds=100), 0)
    queue.utterance_finished(5)
    assert queue.next_deadline(5) == 50
    assert queue.advance(49) == []
    half = queue.advance(50)
    assert isinstance(half[0], Speak)
    assert half[0].text == "50 seconds left to answer. Pay."
    assert queue.next_deadline(51) == 80 and queue.utterance_finished(60) == []
    queue.push(tool("One."), 61)
    assert heard(queue.advance(80)) == ["-", "20 seconds left to"]
    assert queue.next_deadline(80) is None
    assert rest(queue, 100) == ["Again. One."]


def test_the_countdown_says_what_it_is_about_and_when_that_is_cut() -> None:
    queue = Queue()
    queue.push(said("awaiting.clarification", question="Which one?", timeout_seconds=100), 0)
    queue.push(prompt(action="Pay one bill. " * 50, timeout_seconds=110), 0)
    rest(queue)
    (first,) = queue.advance(50)
    assert isinstance(first, Speak) and first.text == "50 seconds left to answer. Which one?"
    queue.utterance_finished(51)
    (second,) = queue.advance(55)
    assert isinstance(second, Speak) and second.text.startswith("55 seconds left to answer. Pay one bill. Pay")
    assert second.text.endswith("Pay one… Cut here, 580 characters left.")


def test_a_countdown_that_came_too_late_is_said_once() -> None:
    queue = Queue()
    queue.push(prompt(timeout_seconds=100), 0)
    assert heard(queue.utterance_finished(95)) == ["5 seconds left to"]
    assert queue.utterance_finished(200) == [] and queue.next_deadline(200) is None


def test_a_prompt_said_later_tells_the_time_that_is_left_then() -> None:
    queue = Queue()
    queue.push(prompt(timeout_seconds=300), 0)
    queue.utterance_finished(60)
    again = queue.repeat(60)[0]
    assert isinstance(again, Speak) and "Refused after 4 minutes without an answer." in again.text


def test_repeat_says_the_last_again() -> None:
    queue = Queue()
    assert queue.repeat(0) == queue.speak_detail(0) == []
    queue.push(tool("One."), 0)
    queue.push(tool("Two."), 0)
    assert heard(queue.repeat(0)) == ["-", "One."]
    assert rest(queue) == ["Two."]
    assert heard(queue.repeat(1)) == ["Two."]


def test_the_second_repeat_in_a_row_says_all_of_it() -> None:
    queue = Queue()
    queue.push(tool("One.", args_summary="Of many words."), 0)
    queue.utterance_finished(1)
    assert heard(queue.repeat(1)) == ["One."]
    queue.utterance_finished(2)
    [whole] = queue.repeat(2)
    assert isinstance(whole, Speak) and "Of many words." in whole.text
    queue.utterance_finished(3)
    assert heard(queue.repeat(3)) == [whole.text[:18].strip()]
    queue.push(tool("Two."), 4)
    assert rest(queue) == ["Two."]
    assert heard(queue.repeat(5)) == ["Two."], "after something new it is the first again"


def test_one_goes_back_and_forward_through_all_that_was_said() -> None:
    queue = Queue()
    assert queue.go_back(0) == queue.go_forward(0) == []
    for number in range(12):
        queue.push(tool(f"{number}."), number)
        queue.utterance_finished(number)
    back = [heard(queue.go_back(20)) for _ in range(11)]
    assert back == [["10."], *(["-", f"{number}."] for number in range(9, -1, -1))]
    assert queue.go_back(20) == [], "nothing was said before the first"
    assert heard(queue.go_forward(20)) == ["-", "1."]
    queue.push(tool("New."), 21)
    assert rest(queue) == ["New."], "what is new is said all the same"
    assert queue.go_forward(22) == [] and heard(queue.go_back(22)) == ["11."]


def test_what_was_left_out_of_speech_can_be_gone_back_to() -> None:
    queue = Queue(history_size=3)
    for number in range(5):
        queue.push(progress(f"{number}0."), 0)
    assert rest(queue) == ["40."]
    assert [heard(queue.go_back(1)) for _ in range(3)] == [["30."], ["-", "20."], []]


def test_of_many_updates_that_wait_only_the_last_is_said_and_how_many_there_were() -> None:
    queue = Queue()
    queue.push(tool("Zero."), 0)
    for number in range(1, 7):
        queue.push(tool(f"{number}."), 0)
    queue.push(said("session.completed"), 0)
    assert rest(queue) == ["5 more updates. 6.", "Done. Your balance"]
    assert heard(queue.go_back(1)) == ["6."] and heard(queue.go_back(1)) == ["-", "5."], "and nothing is lost"


def test_text_questions_failures_and_what_cannot_be_undone_are_no_updates() -> None:
    queue = Queue()
    queue.push(tool("Zero."), 0)
    matters = [
        said("output.streaming", chunk="Text.", position=0, complete=True),
        tool("Final.", irreversible=True),
        said("tool.completed", status="error", summary_normal="Broken."),
        said("session.started", summary_normal="Other work."),
    ]
    for announcement in matters:
        for number in range(4):
            queue.push(tool(f"{number}."), 0)
        queue.push(announcement, 0)
    spoken = rest(queue)
    assert len(spoken) == 20 and not any("more updates" in text for text in spoken)


def test_do_not_disturb_lets_only_what_is_critical_through_and_tells_how_much_there_was() -> None:
    queue = Queue()
    queue.push(tool("One."), 0)
    queue.push(tool("Two."), 0)
    assert heard(queue.begin_do_not_disturb(1)) == ["-"] and queue.is_do_not_disturb
    assert queue.push(tool("Three."), 2) == []
    assert heard(queue.push(prompt(), 3)) == ["Confirm. Pay. If y"]
    assert rest(queue) == []
    assert heard(queue.push(outcome(), 4)) == ["Accepted."] and queue.prompts == ()
    rest(queue)
    assert heard(queue.repeat(5)) != [], "what is asked for is said"
    rest(queue)
    assert queue.end_do_not_disturb() == 3, "One, Two and Three; the others were said"
    assert heard(queue.go_forward(6)) == ["One."] and heard(queue.go_forward(6)) == ["-", "Two."]
    rest(queue)
    assert heard(queue.push(tool("Six."), 7)) == ["Six."]


def test_do_not_disturb_without_anything_that_happened() -> None:
    queue = Queue()
    queue.begin_do_not_disturb(0)
    assert queue.end_do_not_disturb() == 0


def test_a_cut_confirmation_can_be_accepted_once_it_was_said_in_full() -> None:
    """C-22"""
    queue = Queue()
    long = ("Pay one bill. " * 100).strip()
    first = queue.push(prompt(action=long), 0)[0]
    assert isinstance(first, Speak) and ("a", "accept") not in first.announcement.keys
    stop, more = queue.speak_detail(1)
    assert isinstance(stop, Stop) and isinstance(more, Speak)
    assert long in more.text and ("a", "accept") in more.announcement.keys and more.announcement.careful


def test_a_closed_prompt_is_repeated_without_keys() -> None:
    queue = Queue()
    queue.push(prompt(), 0)
    queue.utterance_finished(1)
    queue.push(tool("One."), 1)
    queue.push(said("session.completed"), 1)
    asked = queue.history[0]
    queue._last_announcement = asked
    actions = queue.repeat(2)
    last = actions[-1]
    assert isinstance(last, Speak) and last.announcement.keys == () and last.text.startswith("The prompt is closed.")


def test_silence_stops_and_answers_nothing() -> None:
    queue = Queue()
    queue.push(tool("One."), 0)
    queue.push(tool("Two."), 0)
    assert heard(queue.silence(0)) == ["-"]
    assert queue.silence(0) == [] and len(queue.history) == 2
    queue.push(prompt("rpl_1", "Pay Ada."), 1)
    queue.push(prompt("rpl_2", "Pay Eve."), 1)
    assert heard(queue.silence(1)) == ["-", "Confirm. Pay Eve."], "what was never said is not lost"
    assert heard(queue.silence(1)) == ["-"]
    assert len(queue.prompts) == 2


def test_too_many_urgent_messages_no_longer_interrupt() -> None:
    """C-68: they wait their turn, and none is lost."""
    queue = Queue(max_interruptions_per_minute=2)
    queue.push(tool("Long."), 0)
    loud = [tool(f"{number}!", urgency="critical") for number in range(5)]
    assert [heard(queue.push(one, 1)) for one in loud] == [["-", "0!"], [], [], [], []]
    assert rest(queue, 1) == [
        "1!", "Again. Long.", "Many urgent messag", "2!", "3!", "4!",
    ]  # fmt: skip
    queue.push(tool("Long."), 100)
    assert heard(queue.push(loud[0], 100)) == ["-", "0!"], "a minute later they may again"


def test_a_prompt_interrupts_urgent_messages_that_may_not() -> None:
    queue = Queue(max_interruptions_per_minute=0)
    assert heard(queue.push(tool("Loud!", urgency="critical"), 0)) == ["Many urgent messag"]
    assert heard(queue.push(prompt(), 0)) == ["-", "Confirm. Pay. If y"]
    assert rest(queue) == ["Again. Many urgent", "Loud!"]


_steps = st.lists(
    st.one_of(
        st.sampled_from([tool("T."), progress("P."), said("session.errored"), tool("U!", urgency="critical")]),
        st.sampled_from([prompt("rpl_1"), prompt("rpl_2"), outcome("rpl_1"), outcome("rpl_2")]),
        st.sampled_from(["utterance_finished", "advance", "repeat", "speak_detail", "silence"]),
    ),
    max_size=30,
)


@given(_steps)
def test_speech_is_always_one_and_open_prompts_are_kept(steps: list[Announcement | str]) -> None:
    """HITL-034: one Speak at a time, every Stop ends what is in flight, and a prompt is open till it is settled."""
    queue, flight, pushed = Queue(Preferences(verbosity="terse")), 0, 0
    open_: set[str] = set()
    for now, step in enumerate(steps):
        if isinstance(step, str):
            if step == "utterance_finished":
                flight = 0
            actions = getattr(queue, step)(float(now))
        else:
            actions = queue.push(step, float(now))
            pushed += not (step.asks and step.prompt in open_)
            if step.asks:
                open_.add(step.prompt)
            elif step.prompt:
                open_.discard(step.prompt)
            elif step.event.type.endswith("errored"):
                open_.clear()
        for action in actions:
            if isinstance(action, Stop):
                assert action.utterance_id == flight
                flight = 0
            else:
                assert not flight and action.text
                flight = action.utterance_id
        assert {one.prompt for one in queue.prompts} == open_
        assert len(queue.history) == pushed
        assert flight or not (queue._critical_items or queue._waiting_items)


def completed(number: int) -> Announcement:
    """The end of a session, each of another agent."""
    about = {"agent_id": f"agent-{number}"}
    return said("session.completed", summary_normal=f"{number}.", session_id=f"sess_{number}", producer=about)


def test_where_too_many_wait_the_older_half_is_counted_and_no_prompt_is_skipped() -> None:
    queue = Queue(max_interruptions_per_minute=0)
    queue.push(tool("First."), 0)
    flooding = said("tool.invoked", tool="t", summary_normal="Urgent.", urgency="critical")
    queue.push(flooding, 0)  # which waits, because it may not interrupt
    for number in range(MAX_WAITING):
        queue.push(completed(number), 0)
    assert len(queue.history) == MAX_WAITING + 2
    told = rest(queue)
    assert "Urgent." in told[0] or "Urgent." in told[1]
    assert any(text.startswith(f"{MAX_WAITING // 2 - 2} more updates.") for text in told)
    assert len(told) < MAX_WAITING


def test_one_agent_is_heard_to_its_end_however_long_its_answer() -> None:
    queue = Queue()
    sentences = [f"Sentence number {number}." for number in range(3 * MAX_WAITING)]
    for sentence in sentences:
        queue.push(said("output.streaming", chunk=sentence, coalesce_hint="sentence"), 0)
    spoken: list[str] = []
    while actions := queue.utterance_finished(0):
        spoken += [action.text for action in actions if isinstance(action, Speak)]
    assert [text.partition(": ")[2] for text in spoken] == sentences[1:]  # the first was being spoken


def test_even_of_one_agent_not_everything_waits() -> None:
    queue = Queue()
    for number in range(2 * MAX_WAITING_OF_ONE):
        queue.push(said("output.streaming", chunk=f"Sentence number {number}.", coalesce_hint="sentence"), 0)
        assert len(queue._waiting_items) <= MAX_WAITING_OF_ONE
    assert len(queue.history) == 2 * MAX_WAITING_OF_ONE


def test_what_was_cut_is_said_again_although_too_many_wait() -> None:
    queue = Queue()
    queue.push(said("output.streaming", chunk="First of all.", coalesce_hint="sentence"), 0)
    queue.push(said("awaiting.confirmation"), 0)
    for number in range(2 * MAX_WAITING):
        queue.push(completed(number), 0)
    (action,) = queue.utterance_finished(0)
    assert isinstance(action, Speak)
    assert action.text.endswith("First of all.")
