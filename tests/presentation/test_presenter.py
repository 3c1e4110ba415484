"""What a listener hears of a whole stream: what was heard before counts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from aaep.presentation.announce import Announcement, Preferences
from aaep.presentation.presenter import Presenter
from aaep.presentation.queue import Queue, Speak
from aaep.text.actions import describe_undone, shorten_action
from tests.presentation.test_announce import event


class Ear:
    """A presenter, a clock, and the words that were heard."""

    def __init__(self, *, can_answer: bool = True, **preferences: Any) -> None:
        self.presenter = Presenter(Preferences(**preferences), can_answer=can_answer)
        self.now = 0.0

    def hear(self, name: str, *without: str, **changes: Any) -> list[str]:
        return [one.text for one in self.present(name, *without, **changes)]

    def present(self, name: str, *without: str, **changes: Any) -> list[Announcement]:
        return self.presenter.present(event(name, *without, **changes), self.now)

    def started(self, summary: str, session: str = "sess_1", **changes: Any) -> list[str]:
        return self.hear("session.started", session_id=session, summary_normal=summary, **changes)

    def ask(self, action: str, token: str = "rpl_1", session: str = "sess_1", **changes: Any) -> list[str]:
        return self.hear(
            "awaiting.confirmation",
            "extra_context",
            action=action,
            consequence="It is gone.",
            reply_token=token,
            session_id=session,
            **changes,
        )

    def outcome(self, result: str, token: str = "rpl_1", summary: str = "Thinking.", **attend: Any) -> list[str]:
        return self.hear(
            "state.changed",
            "summary_terse",
            "summary_detailed",
            session_id="sess_1",
            from_state="awaiting_input",
            to_state="deciding",
            summary_normal=summary,
            extensions={"attend": {"reply_token": token, "outcome": result, **attend}},
        )

    def completed(self, summary: str = "Done.", session: str = "sess_1") -> list[str]:
        return self.hear(
            "session.completed", "summary_terse", "summary_detailed", summary_normal=summary, session_id=session
        )

    def progress(self, percent: float | None, **changes: Any) -> list[str]:
        progress = {} if percent is None else {"percent": percent}
        text = "Still working." if percent is None else f"{percent:g} percent."
        changes = {"summary_normal": text, "urgency": "background", "progress": progress, **changes}
        return self.hear("progress.updated", "summary_terse", "summary_detailed", "eta_ms", **changes)


# -- the end of a session ----------------------------------------------------------------------


@pytest.mark.parametrize("result", ["rejected", "timed_out", "withdrawn", "unavailable"])
def test_done_is_said_only_if_all_was_done(result: str) -> None:
    ear = Ear()
    ear.ask("Delete a.txt.")
    ear.outcome(result)
    assert ear.completed() == ["Ended. Delete a.txt was not done."]


def test_what_was_asked_again_and_accepted_is_done() -> None:
    ear = Ear()
    ear.ask("Delete a.txt.")
    ear.outcome("rejected")
    ear.ask("Delete a.txt.", "rpl_2")
    ear.outcome("accepted", "rpl_2")
    assert ear.completed("Done. All is tidy.") == ["Done. All is tidy."]


def test_a_default_of_accept_that_took_effect_is_done() -> None:
    ear = Ear()
    ear.ask("Save a.txt.", default_decision="accept", risk_level="low", irreversible=False)
    assert ear.outcome("timed_out", summary="Time ran out.") == ["Time ran out. It counts as accepted."]
    assert ear.completed() == ["Done."]


def test_what_the_agent_says_itself_of_what_was_not_done_is_said_once() -> None:
    ear = Ear()
    ear.ask("Delete a.txt.")
    ear.outcome("rejected")
    assert ear.completed("Ended. Delete a.txt was not done.") == ["Ended. Delete a.txt was not done."]


def test_two_are_named_and_the_others_counted() -> None:
    assert describe_undone(["A.", "B.", "C."]) == "A was not done. B was not done. 1 more was not done."
    assert describe_undone(["A."] * 5).endswith("A was not done. 3 more were not done.")
    ear = Ear()
    for number in range(3):
        ear.ask(f"Delete {number}.txt.", f"rpl_{number}")
        ear.outcome("rejected", f"rpl_{number}")
    assert ear.completed("Half is tidy.") == [
        "Ended. Delete 0.txt was not done. Delete 1.txt was not done. 1 more was not done. Half is tidy."
    ]


def test_a_long_action_is_named_by_its_beginning() -> None:
    assert shorten_action("Delete a.txt.") == "Delete a.txt"
    assert shorten_action("Delete a.txt. It is big.") == "Delete a.txt"
    assert shorten_action("word " * 40) == f"W{('word ' * 16).strip()[1:]}…"


# -- prompts -----------------------------------------------------------------------------------


def test_how_to_answer_is_told_once() -> None:
    ear = Ear()
    (first,) = ear.ask("Delete a.txt.")
    assert first == (
        "Confirm. Delete a.txt. If you accept: It is gone. High risk, cannot be undone. "
        "Refused after 5 minutes without an answer. a accept, r refuse, m more, t more time."
    )
    (second,) = ear.ask("Delete b.txt.", "rpl_2")
    assert second == (
        "Confirm. Delete b.txt. If you accept: It is gone. High risk, cannot be undone. Refused after 5 minutes."
    )
    assert Ear(verbosity="terse").ask("Delete b.txt.") == [second]
    (question,) = ear.hear("awaiting.clarification", reply_token="rpl_3")
    assert question.endswith("2 minutes to answer. m more, t more time."), "it is the first of its kind"


RISKS = ("low", "medium", "high", None)
UNDO = ("irreversible", "reversible_with_effort", "reversible", None)
ALLOWED = (None, ["accept", "reject"], ["accept"], ["reject"])


def test_the_words_of_a_prompt_are_few_whatever_it_asks() -> None:
    """CF-018: that one answer is not offered is said in any case, in four words."""
    for risk, undo, default, allowed, verbosity in itertools.product(
        RISKS, UNDO, ("accept", "reject"), ALLOWED, ("terse", "normal", "detailed")
    ):
        changes: dict[str, Any] = {"default_decision": default, "summary_detailed": "Go.", "summary_normal": "Go."}
        stated = {"risk_level": risk, "reversibility": undo, "allowed_replies": allowed}
        if undo is not None:
            changes["irreversible"] = undo == "irreversible"
        without = [name for name, value in stated.items() if value is None]
        without += ["irreversible"] if undo is None else []
        changes |= {name: value for name, value in stated.items() if value is not None}
        ear = Ear(verbosity=verbosity)
        texts = [
            ear.present(
                "awaiting.confirmation", *without, action="Go.", consequence="Gone.", reply_token=token, **changes
            )
            for token in ("rpl_1", "rpl_2")
        ]
        counts = [len(one.text.replace("Gone.", "").replace("Go.", "").split()) for (one,) in texts]
        more = 4 if allowed is not None and len(allowed) == 1 else 0
        assert counts[0] <= (15 if verbosity == "terse" else 35) + more, texts[0]
        assert counts[1] <= 15 + more, texts[1]


def test_that_nobody_stated_the_effect_is_said_once_for_each_tool() -> None:
    ear = Ear(keys={})
    unstated = {"consequence": "Nobody stated what this changes. Take it as final."}

    def asked(token: str, tool: str) -> list[str]:
        context = {"tool": tool, "tool_call_id": token}
        return ear.hear("awaiting.confirmation", action="Go.", reply_token=token, extra_context=context, **unstated)

    assert asked("rpl_1", "mail") == [
        "Confirm. Go. If you accept: Nobody stated what this changes. Take it as final. "
        "Refused after 5 minutes without an answer."
    ]
    assert asked("rpl_2", "mail") == [
        "Confirm. Go. Effect not stated. High risk, cannot be undone. Refused after 5 minutes."
    ]
    assert "Nobody stated what this changes." in asked("rpl_3", "post")[0]


# -- outcomes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "own", "elsewhere"),
    [
        ("accepted", "Accepted.", "Accepted elsewhere."),
        ("rejected", "Refused.", "Refused elsewhere. Delete a.txt was not done."),
    ],
)
def test_ones_own_answer_is_no_alarm_and_that_of_another_is_said_to_be_one(
    result: str, own: str, elsewhere: str
) -> None:
    """CF-025"""
    summary = {"accepted": "Accepted.", "rejected": "Refused. Delete a.txt was not done."}[result]
    changes: dict[str, Any] = {
        "urgency": "critical",
        "session_id": "sess_1",
        "extensions": {"attend": {"reply_token": "rpl_1", "outcome": result}},
        "summary_normal": summary,
    }
    ear = Ear()
    ear.ask("Delete a.txt.")
    ear.presenter.note_answer("rpl_1", result)
    (mine,) = ear.present("state.changed", "summary_detailed", **changes)
    assert (mine.text, mine.interrupts) == (own, False)
    other = Ear()
    other.ask("Delete a.txt.")
    other.presenter.note_answer("rpl_1", {"accepted": "rejected", "rejected": "accepted"}[result])
    (theirs,) = other.present("state.changed", "summary_detailed", **changes)
    assert (theirs.text, theirs.interrupts) == (elsewhere, True)
    watcher = Ear(can_answer=False)
    watcher.ask("Delete a.txt.")
    assert watcher.hear("state.changed", "summary_detailed", **changes) == [summary]


@pytest.mark.parametrize(
    ("result", "summary", "heard"),
    [
        ("timed_out", "Time ran out. Delete a.txt was not done.", "Time ran out. Delete a.txt was not done."),
        ("timed_out", "Nobody is left to answer. Delete a.txt was not done.", None),
        ("withdrawn", "No longer asked.", "No longer asked. Delete a.txt was not done."),
        ("withdrawn", "It was a mistake.", "No longer asked. Delete a.txt was not done. It was a mistake."),
    ],
)
def test_an_outcome_says_each_fact_once(result: str, summary: str, heard: str | None) -> None:
    ear = Ear()
    ear.ask("Delete a.txt.")
    assert ear.outcome(result, summary=summary) == [heard or summary]


def test_more_time_is_heard_as_more_time_and_nothing_else() -> None:
    ear = Ear()
    queue = Queue()
    (asked,) = ear.present("awaiting.confirmation", reply_token="rpl_1", session_id="sess_1")
    queue.push(asked, 0)
    assert ear.outcome("withdrawn", asked_again=True) == []
    assert ear.hear("state.changed", session_id="sess_1", to_state="awaiting_input", from_state="deciding") == []
    (again,) = ear.present(
        "awaiting.confirmation", reply_token="rpl_2", session_id="sess_1", timeout_seconds=600, event_id="evt_2"
    )
    assert (again.text, again.replaces, again.interrupts) == ("You have 10 minutes now.", "rpl_1", False)
    assert again.detail.startswith("Confirm. Transfer 50 dollars from checking to savings.")
    queue.utterance_finished(1)
    (said,) = queue.push(again, 1)
    assert isinstance(said, Speak) and said.text == "You have 10 minutes now."
    assert [one.prompt for one in queue.prompts] == ["rpl_2"]
    assert ear.outcome("accepted", "rpl_2") and ear.completed() == ["Done."]


@pytest.mark.parametrize("change", [{"action": "Wipe it."}, {"consequence": "All is gone."}, {"risk_level": "low"}])
def test_another_prompt_in_its_place_is_heard_whole(change: dict[str, str]) -> None:
    ear = Ear()
    ear.hear("awaiting.confirmation", reply_token="rpl_1", session_id="sess_1")
    ear.outcome("withdrawn", asked_again=True)
    closed, asked = ear.hear("awaiting.confirmation", reply_token="rpl_2", session_id="sess_1", **change)
    assert closed.startswith("No longer asked.") and asked.startswith("Confirm.")


def test_a_prompt_that_was_never_said_is_said_whole_with_its_new_time() -> None:
    ear = Ear(keys={})
    queue = Queue(Preferences(keys={}))
    queue.push(ear.present("handoff.requested", session_id="sess_1")[0], 0)
    queue.push(ear.present("awaiting.confirmation", reply_token="rpl_1", session_id="sess_1")[0], 0)
    ear.outcome("withdrawn", asked_again=True)
    again = ear.present("awaiting.confirmation", reply_token="rpl_2", session_id="sess_1", timeout_seconds=600)[0]
    assert queue.push(again, 0) == []
    (said,) = queue.utterance_finished(1)
    assert (
        isinstance(said, Speak) and said.text.startswith("Confirm.") and "after 9 minutes and 59 seconds" in said.text
    )


# -- tools -------------------------------------------------------------------------------------


def test_a_call_that_ends_says_which_one_it_was() -> None:
    ear = Ear()
    for name in ("a", "b"):
        call = {"tool": "fetch", "tool_call_id": f"call_{name}", "summary_normal": f"Fetching {name}.txt."}
        assert ear.hear("tool.invoked", **call) == [f"Fetching {name}.txt."]

    def ended(name: str, summary: str, **changes: Any) -> list[str]:
        return ear.hear("tool.completed", tool="fetch", tool_call_id=f"call_{name}", summary_normal=summary, **changes)

    assert ended("b", "Fetch finished.") == ["Fetching b.txt: done."]
    failed = ended("a", "Fetch failed: runtime error.", status="error", error_message="runtime error.")
    assert failed == ["Fetching a.txt failed: runtime error."]
    assert ended("c", "Fetch finished.") == ["Fetch finished."]
    assert ended("d", "Fetched d.txt.") == ["Fetched d.txt."]
    unknown = "Fetch did not finish. It may have happened. Check before you try again."
    assert ended("e", unknown, status="timeout", error_message=unknown) == [unknown]


def test_what_was_just_agreed_to_is_not_said_to_be_final_again() -> None:
    ear = Ear()
    call: dict[str, Any] = {"tool_call_id": "call_1", "summary_normal": "Paying.", "irreversible": True}
    assert ear.hear("tool.invoked", session_id="sess_1", **call) == ["Paying. This cannot be undone."]
    context = {"tool": "pay", "tool_call_id": "call_1"}
    ear.hear("awaiting.confirmation", reply_token="rpl_1", session_id="sess_1", extra_context=context)
    ear.outcome("accepted")
    assert ear.hear("tool.invoked", session_id="sess_1", **call) == ["Paying."]
    assert ear.hear("tool.invoked", session_id="sess_1", **call) == ["Paying. This cannot be undone."]


# -- progress and states -----------------------------------------------------------------------


def test_progress_is_heard_after_five_seconds_and_ten_percent() -> None:
    ear = Ear()
    heard = []
    for percent in range(0, 101):
        heard += ear.progress(percent)
        ear.now += 0.125
    assert heard == ["0 percent.", "40 percent.", "80 percent.", "100 percent."]
    slow = Ear()
    heard = []
    for percent in range(0, 31):
        heard += slow.progress(percent)
        slow.now += 20
    assert heard == ["0 percent.", "10 percent.", "20 percent.", "30 percent."]


@pytest.mark.parametrize("verbosity", ["terse", "normal", "detailed"])
def test_the_latest_progress_is_held_and_never_lost(verbosity: str) -> None:
    ear = Ear(verbosity=verbosity)
    assert ear.progress(0) == ["0 percent."]
    assert ear.presenter.next_deadline(0) is None
    ear.now = 1.0
    assert ear.progress(20) == ear.progress(30) == []
    assert ear.presenter.next_deadline(1.0) == 5.0
    assert [one.text for one in ear.presenter.advance(4.9)] == []
    assert [one.text for one in ear.presenter.advance(5.0)] == ["30 percent."]
    assert ear.progress(31) == []
    assert ear.presenter.next_deadline(5.0) is None, "time alone does not make it due"
    assert ear.hear("session.completed", summary_terse="Done.")[0] == "31 percent."


def test_progress_that_is_obsolete_is_left_out() -> None:
    ear = Ear()
    ear.progress(0)
    ear.progress(3)
    assert len(ear.hear("tool.completed")) == 1
    ear.progress(5)
    assert len(ear.hear("awaiting.confirmation")) == 1
    assert len(ear.hear("session.completed")) == 1


def test_progress_without_numbers_is_heard_every_five_seconds() -> None:
    ear = Ear()
    heard = []
    for _ in range(101):
        heard += ear.progress(None)
        ear.now += 0.125
    assert heard == ["Still working."] * 3


def test_condensing_can_be_switched_off_and_a_countdown_is_no_progress() -> None:
    ear = Ear(progress_interval=0.0, progress_step=0.0)
    assert [ear.progress(percent) for percent in (1, 2)] == [["1 percent."], ["2 percent."]]
    countdown = {"urgency": "normal", "summary_normal": "1 minute left to answer.", "eta_ms": 60_000}
    ear = Ear()
    for _ in range(2):
        assert ear.hear("progress.updated", "summary_terse", progress={}, **countdown) == ["1 minute left to answer."]


def test_the_same_state_is_not_said_again_at_once() -> None:
    ear = Ear()
    thinking = {"summary_normal": "Thinking.", "from_state": "writing_output", "to_state": "thinking"}
    assert ear.hear("state.changed", **thinking) == ["Thinking."]
    ear.now = 4.9
    assert ear.hear("state.changed", **thinking) == []
    ear.now = 5.0
    assert ear.hear("state.changed", **thinking) == ["Thinking."]


def test_what_adds_nothing_is_not_announced() -> None:
    ear = Ear()
    assert ear.hear("state.changed", to_state="calling_tool", summary_normal="Using a tool.") == []


# -- several sessions --------------------------------------------------------------------------


def test_sessions_are_told_apart_by_what_they_are_about() -> None:
    ear = Ear()
    ear.started("Planning a trip.")
    part = {"attend": {"parent_session_id": "sess_1"}}
    assert ear.started("Looking for a hotel.", "sess_2", extensions=part) == [
        "Started. Looking for a hotel. Part of: Planning a trip."
    ]
    call = {"tool": "t", "summary_normal": "Searching."}
    assert ear.hear("tool.invoked", session_id="sess_2", **call) == ["Searching."]
    assert ear.hear("tool.invoked", session_id="sess_1", **call) == ["Planning a trip: Searching."]
    assert ear.hear("tool.invoked", session_id="sess_1", **call) == ["Searching."]
    assert ear.completed(session="sess_2") == ["Looking for a hotel: Done."]
    assert ear.hear("tool.invoked", session_id="sess_1", **call) == ["Searching."], "it is the only one left"


def test_sessions_of_several_agents_are_told_apart_by_the_agents() -> None:
    ear = Ear()
    shop = {"agent_id": "shop", "agent_name": "Shop Assistant"}
    ear.started("Planning a trip.")
    assert ear.started("Buying shoes.", "sess_2", producer=shop) == ["Shop Assistant: Started. Buying shoes."]
    assert ear.completed("Done. All booked.") == ["Bank Assistant: Done. All booked."]


def test_sessions_without_a_name_are_numbered() -> None:
    ear = Ear()
    for number in (1, 2):
        assert ear.started("Started.", f"sess_{number}") == ["Started."]
    assert ear.completed(session="sess_1") == ["Bank Assistant: Done."]
    ear.started("Started.", "sess_3")
    assert ear.hear("session.cancelled", session_id="sess_2", summary_normal="Stopped.")[0].startswith(
        "Bank Assistant: "
    )
    for number in (4, 5):
        ear.started("Started.", f"sess_{number}")
    assert ear.completed(session="sess_4") == ["Bank Assistant 2: Done."]


def test_the_number_of_sessions_that_are_remembered_has_a_limit() -> None:
    ear = Ear()
    for number in range(1500):
        ear.started("Working.", f"sess_{number}")
    assert ear.started("Working.", "sess_0") == ["Started. Working."]
