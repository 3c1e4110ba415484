"""What a listener hears of each event."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aaep
from aaep.presentation.announce import Announcement, Preferences, announce
from aaep.presentation.outputs import Outputs
from aaep.presentation.presenter import Presenter
from aaep.presentation.queue import Queue, Speak
from aaep.protocol.codec import decode
from aaep.protocol.events import CORE_EVENTS, Envelope
from aaep.text.invisible import has_visible, spell_invisible
from aaep.text.languages import parse_variant_name
from aaep.text.phrases import format_duration, format_time_left
from aaep.text.sanitize import MAX_SPOKEN_LENGTH, sanitize, truncate
from tests import strategies

EXAMPLES = json.loads((Path(aaep.__file__).parent / "protocol" / "examples.json").read_text())
BASES = {name.removeprefix("agent."): one for name, one in EXAMPLES.items() if name.startswith("agent.")}
VERBOSITIES = ("terse", "normal", "detailed")
CONFIRM_SHORT = (
    "Confirm. Transfer 50 dollars from checking to savings. If you accept: The money moves at once and only the bank "
    "can move it back. High risk, cannot be undone. Refused after 5 minutes"
)
CONFIRM = CONFIRM_SHORT + " without an answer. a accept, r refuse, t more time."
QUESTION = (
    "Question. {}Which savings account? Why: You have two savings accounts. 1: Holiday savings. 2: House savings. "
    "2 minutes to answer."
)
LOCKED = "Handing over to a person. The account is locked and only a person can unlock it."
HEARD = {
    "session.started": (
        "Started. Moving money to your savings.",
        "Started. Moving money to your savings.",
        "Started. Bank Assistant started: it will check your balance and then move money to your savings account. "
        "This takes about 30 seconds.",
    ),
    "session.completed": (
        "Done.",
        "Done. Your balance was checked.",
        "Done. Your balance was checked and nothing was moved. The balance of the checking account.",
    ),
    "session.errored": (
        "Failed. Bank unreachable. Try again in a few minutes.",
        "Failed. The bank did not answer. Nothing was moved. Try again in a few minutes.",
        "Failed. The bank did not answer within ten seconds. Nothing was moved. Try again in a few minutes. "
        "Error code BANK_UNREACHABLE.",
    ),
    "session.cancelled": (
        "Stopped.",
        "Stopped. Cancelled at your request.",
        "Stopped. Cancelled at your request before anything was moved. So far: Only the balance was read.",
    ),
    "state.changed": ("Thinking.", "Thinking about your request.", "Thinking about which account to use."),
    "progress.updated": (
        "40 percent.",
        "Reading statements, 40 percent done.",
        "Reading statements, step 2 of 5, 40 percent done. About 12 seconds left.",
    ),
    "tool.invoked": (
        "Checking balance.",
        "Checking the balance of your checking account.",
        "Checking the balance of your checking account with the bank's own service. "
        "Reads the balance of an account. account: checking. This takes about 2 seconds.",
    ),
    "tool.completed": (
        "Got balance.",
        "Your balance is 312 dollars.",
        "Your checking account holds 312 dollars and 40 cents. It took 1 second.",
    ),
    "output.streaming": ("Bank Assistant: Your balance is 312 dollars.",) * 3,
    "awaiting.confirmation": (
        CONFIRM_SHORT + ".",
        CONFIRM,
        CONFIRM,  # its summary says nothing else
    ),
    "awaiting.clarification": (
        QUESTION.format(""),
        QUESTION.format("") + " m more, t more time.",
        QUESTION.format("You have two savings accounts. Which one should receive the money? ") + " t more time.",
    ),
    "handoff.requested": (
        LOCKED,
        LOCKED,
        LOCKED + " Your account is locked. I am handing over to a colleague who can unlock it.",
    ),
}


def event(name: str, *without: str, **changes: Any) -> Envelope:
    """The example of a type, changed; read as a subscriber reads it."""
    given = {member: value for member, value in (BASES[name] | changes).items() if member not in without}
    message = decode(json.dumps(given))
    assert isinstance(message, Envelope)
    return message


def said(name: str, *without: str, to: Preferences = Preferences(), **changes: Any) -> Announcement:  # noqa: B008  # frozen, and the same for all
    found = announce(event(name, *without, **changes), to)
    assert found is not None
    return found


SUMMARIES = ("summary_terse", "summary_normal", "summary_detailed")


def test_there_is_an_example_of_all_twelve() -> None:
    assert {f"aaep:agent.{name}" for name in HEARD} == {*CORE_EVENTS}


@pytest.mark.parametrize("name", HEARD)
def test_each_type_at_three_verbosities(name: str) -> None:
    """LVL-017, LVL-018"""
    heard = tuple(said(name, to=Preferences(verbosity=one)).text for one in VERBOSITIES)  # type: ignore[arg-type]  # str
    assert heard == HEARD[name]


@pytest.mark.parametrize(
    "name", "session.errored awaiting.confirmation awaiting.clarification handoff.requested".split()
)
def test_the_four_critical_types_interrupt_whatever_they_say(name: str) -> None:
    """EVT-014, HITL-015, HITL-032, HITL-035"""
    for found in (said(name, urgency="background"), said(name, "urgency"), said(name, urgency="shout")):
        assert (found.urgency, found.interrupts) == ("critical", True)
    assert not said("tool.invoked").interrupts


DETAILED, TERSE = Preferences(verbosity="detailed"), Preferences(verbosity="terse")


@pytest.mark.parametrize(
    ("name", "to", "changes", "heard"),
    [
        ("tool.invoked", TERSE, {"summary_terse": "Check balance."}, "Check balance."),
        (
            "tool.invoked",
            DETAILED,
            {"summary_detailed": "Calling check balance. With account: checking.", "description": ""},
            "Calling check balance. With account: checking. This takes about 2 seconds.",
        ),
        ("tool.completed", TERSE, {"summary_terse": "Done."}, "Check balance finished."),
        (
            "tool.completed",
            DETAILED,
            {"summary_detailed": "Check balance finished. It took 1 second."},
            "Check balance finished. It took 1 second.",
        ),
        (
            "tool.completed",
            DETAILED,
            {
                "status": "error",
                "error_message": "The tool failed: connection error.",
                "summary_detailed": "Check balance failed. Connection error.",
            },
            "Check balance failed: connection error. It took 1 second.",
        ),
        ("session.errored", TERSE, {"summary_terse": "Failed."}, "Failed. Try again in a few minutes."),
        (
            "session.completed",
            DETAILED,
            {
                "summary_detailed": "Done. It took 4 seconds. One tool was used.",
                "output_summary": "",
                "duration_ms": 4000,
            },
            "Done. It took 4 seconds. One tool was used.",
        ),
        (
            "progress.updated",
            DETAILED,
            {"summary_detailed": "Reading statements.", "progress": {"percent": 40, "step": 2, "total_steps": 5}},
            "Reading statements. 40 percent. Step 2 of 5.",
        ),
    ],
)
def test_nothing_is_heard_twice(name: str, to: Preferences, changes: dict[str, Any], heard: str) -> None:
    without = ("eta_ms",) if name == "progress.updated" else ()
    assert said(name, *without, to=to, **changes).text == heard


def test_a_summary_that_says_more_than_the_prompt_is_heard_whole() -> None:
    more = "Transfer 50 dollars from checking to savings. The bank charges 3 dollars."
    found = said("awaiting.confirmation", to=DETAILED, summary_detailed=more)
    assert found.text.startswith(f"Confirm. {more} Transfer 50 dollars from checking to savings. If you accept:")


# -- which text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verbosity", "given", "heard"),
    [
        ("terse", {"summary_normal": "N", "summary_detailed": "D"}, "N."),
        ("terse", {"summary_detailed": "D"}, "D."),
        ("normal", {"summary_terse": "T", "summary_detailed": "D"}, "D."),
        ("normal", {"summary_terse": "T"}, "T."),
        ("detailed", {"summary_terse": "T", "summary_normal": "N"}, "N."),
        ("detailed", {"summary_terse": "T"}, "T."),
        ("normal", {}, "Thinking."),
    ],
)
def test_the_next_best_summary_is_taken(verbosity: Any, given: dict[str, str], heard: str) -> None:
    """C-50"""
    assert said("state.changed", *({*SUMMARIES} - {*given}), to=Preferences(verbosity=verbosity), **given).text == heard


def test_the_variant_in_the_wanted_language_is_taken() -> None:
    """I18N-009, I18N-017, C-58: language outranks verbosity."""
    changes = {"summary_normal_yo": "Ó ń ronú.", "summary_normal_fr_ca": "Réflexion."}
    yoruba = said("state.changed", to=Preferences(languages=("yo-NG", "en"), verbosity="terse"), **changes)
    assert (yoruba.text, yoruba.language) == ("Ó ń ronú.", "yo")
    french = said("state.changed", to=Preferences(languages=("fr",)), **changes)
    assert (french.text, french.language) == ("Réflexion.", "fr-ca")
    english = said("state.changed", to=Preferences(languages=("en-GB", "yo")), **changes)
    assert english.language == "yo", "a wanted language comes before the same language from elsewhere"
    assert said("state.changed", to=Preferences(languages=("de",)), **changes).language == "en-US"
    assert said("state.changed", "localization_hints", to=Preferences(languages=("de",))).language == "de"
    assert said("state.changed", *SUMMARIES, to=Preferences(languages=("is",))).language == "en", "our own phrase"


def test_a_confirmation_is_read_in_the_wanted_language() -> None:
    yoruba = said("awaiting.confirmation", to=Preferences(languages=("yo",)), action_yo="Fi owó ránṣẹ́.")
    assert "Fi owó ránṣẹ́." in yoruba.text and "The money moves" in yoruba.text


@pytest.mark.parametrize(
    ("state", "heard"),
    [
        ("awaiting_input", "Waiting for you."),
        ("acme:day_dreaming", "Now acme:day dreaming."),
        ("\u200b", "Something else now."),
    ],
)
def test_every_state_is_told_without_a_summary(state: str, heard: str) -> None:
    """STATE-005, STATE-006"""
    assert said("state.changed", *SUMMARIES, to_state=state).text == heard


def test_progress_is_told_without_a_summary() -> None:
    def told(**progress: Any) -> str:
        return said("progress.updated", *SUMMARIES, progress=progress).text

    assert said("progress.updated", *SUMMARIES).text == "Reading statements. 40 percent."
    assert told(step=3) == "Step 3."
    assert told(step=2, total_steps=5) == "Step 2 of 5."
    assert told(percent=40) == "40 percent."
    assert told(percent=40, description="Copied 40 of 100 photos") == "Copied 40 of 100 photos."
    assert told(total_steps=3) == "Still working."


def test_what_we_do_not_know_is_announced_all_the_same() -> None:
    """ENV-011, C-08, CF-130"""
    assert said("state.changed", type="aaep:agent.dream.started").text == "Notice. Thinking about your request."
    unknown = said("state.changed", *SUMMARIES, type="medical:dose.given", urgency="critical")
    assert unknown.text == "Notice. Something this reader does not know: medical:dose given."
    assert unknown.interrupts


def test_a_prompt_with_parts_missing_is_told_and_cannot_be_accepted() -> None:
    found = said("awaiting.confirmation", "consequence", *SUMMARIES)
    assert found.text.startswith(
        "Incomplete message. Transfer 50 dollars from checking to savings. It cannot be accepted"
    )
    assert found.interrupts and found.asks and "accept" not in dict(found.keys).values()


# -- tools and outcomes --------------------------------------------------------------------


def test_a_change_of_state_that_says_nothing_of_its_own_is_left_to_the_event_that_comes_with_it() -> None:
    """STATE-008; STATE-009: whoever wants them has them."""
    stock = event("state.changed", to_state="calling_tool", summary_normal="Using a tool.")
    for states in (False, True):
        told = announce(stock, Preferences(verbosity="detailed", states=states))
        assert told is not None and told.redundant is not states
    own = said("state.changed", to_state="calling_tool", summary_normal="Looking up your balance.")
    assert own.text == "Looking up your balance." and not own.redundant
    outcome = {"attend": {"reply_token": "rpl_1", "outcome": "accepted"}}
    settled = event("state.changed", to_state="calling_tool", summary_normal="Using a tool.", extensions=outcome)
    told = announce(settled)
    assert told is not None and not told.redundant


def test_a_failed_tool_never_sounds_like_success() -> None:
    """VER-007"""
    failed = said("tool.completed", status="error", error_message="No such account")
    assert failed.text == "Check balance failed: No such account."
    late = said("tool.completed", *SUMMARIES, status="timeout")
    assert late.text == "Check balance did not finish. It may have happened. Check before you try again."
    strange = said("tool.completed", *SUMMARIES, status="cached")
    assert strange.text == "Check balance failed. It reported the status cached."
    same = said("session.errored", "remediation_hint", summary_normal="Error-free run.", error_category="unknown")
    assert same.text == "Failed. Error-free run."


@pytest.mark.parametrize(
    ("outcome", "heard"),
    [
        ("accepted", "Accepted."),
        ("rejected", "Refused."),
        ("timed_out", "Time ran out."),
        ("withdrawn", "No longer asked."),
        ("answered", "Answered."),
        ("unavailable", "Nobody is left to answer."),
        ("no_reply_channel", "Nobody can answer."),
        ("pondered", "The prompt is closed."),
    ],
)
def test_an_outcome_is_said_as_what_it_is(outcome: str, heard: str) -> None:
    told = {"attend": {"reply_token": "rpl_1", "outcome": outcome}}
    found = said("state.changed", *SUMMARIES, extensions=told)
    assert (found.text, found.prompt, found.asks) == (heard, "rpl_1", False)
    assert said("state.changed", extensions=told).text == f"{heard} Thinking about your request."


# -- prompts -------------------------------------------------------------------------------


def test_the_time_that_is_left_is_told() -> None:
    prompt = event("awaiting.confirmation")
    late = announce(prompt, remaining=61.2)
    assert late is not None and late.timeout == 61.2
    assert "Refused after 1 minute and 1 second without an answer." in late.text
    over = announce(prompt, remaining=-1)
    assert over is not None and "The time to answer is over." in over.text


def test_a_default_of_accept_and_what_is_not_stated_are_told() -> None:
    found = said("awaiting.confirmation", "risk_level", "irreversible", "reversibility", default_decision="accept")
    assert "Risk not stated: take it for high, undo not stated." in found.text
    assert "Accepted after 5 minutes without an answer." in found.text
    assert found.careful


def test_a_harmless_accept_needs_no_second_key() -> None:
    easy = said("awaiting.confirmation", "reversibility", risk_level="low", irreversible=False)
    assert not easy.careful and "Low risk, can be undone." in easy.text
    assert said("awaiting.confirmation", risk_level="low", irreversible=False).careful, "it contradicts itself"


def test_a_prompt_that_offers_no_refusal_says_so() -> None:
    """CF-018"""
    found = said("awaiting.confirmation", allowed_replies=["accept"])
    assert "Refusing is not offered." in found.text
    assert ("q", "quit") in found.keys
    only = said("awaiting.confirmation", allowed_replies=["reject"])
    assert "Accepting is not offered." in only.text and "accept" not in dict(only.keys).values()


@pytest.mark.parametrize("member", ["action", "consequence"])
def test_a_cut_confirmation_cannot_be_accepted_with_one_key(member: str) -> None:
    """C-22"""
    changed: dict[str, Any] = {member: "Pay one bill. " * 100}
    found = said("awaiting.confirmation", **changed)
    assert found.cut and found.careful
    assert "Cut here, " in found.text and "Hear the whole text before you can accept: m." in found.text
    assert ("a", "accept") not in found.keys and ("r", "refuse") in found.keys
    assert ("a", "accept") in found.detail_keys
    assert ("Pay one bill. " * 100).strip() in found.detail


def test_a_cut_question_has_no_yes_with_one_key() -> None:
    """C-22"""
    found = said("awaiting.clarification", "choices", question="Pay? " * 200, accepted_response_kinds=["yes_no"])
    assert found.cut and "Hear the whole text before you can accept: m." in found.text
    assert ("y", "yes") not in found.keys and ("n", "no") in found.keys
    assert ("y", "yes") in found.detail_keys


def test_a_confirmation_without_readable_words_cannot_be_accepted() -> None:
    found = said("awaiting.confirmation", action="\u202e\u200b")
    assert "The agent does not say what it would do." in found.text
    assert "accept" not in dict(found.keys + found.detail_keys).values()


def test_a_question_says_how_to_answer() -> None:
    found = said("awaiting.clarification", "choices", accepted_response_kinds=["yes_no"], default_response="no")
    assert "Answer yes or no. 2 minutes to answer, else: no. y yes, n no," in found.text
    assert ("y", "yes") in found.keys
    assert ("2", "House savings") in said("awaiting.clarification").keys


def test_where_lines_are_written_the_words_for_them_are_said() -> None:
    lines = Preferences(lines=True)
    found = said("awaiting.confirmation", to=lines, summary_detailed="It is for the holidays.")
    assert found.text.endswith(" Write accept, reject, more or time.")
    assert found.detail.endswith(" Write accept, reject or time.")
    assert found.keys == said("awaiting.confirmation", summary_detailed="It is for the holidays.").keys
    asked = said("awaiting.clarification", "choices", accepted_response_kinds=["yes_no"], to=lines)
    assert asked.text.endswith(" Write yes, no, more or time.")


def test_without_keys_none_are_offered() -> None:
    found = said("awaiting.confirmation", to=Preferences(keys={}))
    assert found.keys == () and found.text == CONFIRM_SHORT + " without an answer."


def test_the_fewest_announcements_leave_out_mere_progress_only() -> None:
    """PROG-003, CAP-039"""
    few = Preferences(load="low")
    for name in ("progress.updated", "state.changed"):
        assert announce(event(name), few) is None
        assert announce(event(name, urgency="normal"), few) is not None
    outcome = {"attend": {"reply_token": "rpl_1", "outcome": "accepted"}}
    assert announce(event("state.changed", extensions=outcome), few) is not None
    assert announce(event("session.started"), few) is not None


# -- text ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("Pay\x00 \x1b[31mEve\x1b[0m\tnow\n", "Pay Eve now"),
        ("<b>Pay</b> <span lang='yo'>Eve</span><br/>", "Pay Eve"),
        ("<<b>b>Pay</b>", "Pay"),
        ("<" * 20 + "b>" * 20 + "Pay", "b>" * 12 + "Pay"),
        ("Pay <eve@example.org> if 1 < 2", "Pay <eve@example.org> if 1 < 2"),
        ("Pay \u202eevE\u202c and \u2066Ada\u2069", "Pay evE and \u2066Ada\u2069"),
        ("Pay \u2069\u2066Eve", "Pay Eve"),
        ("Pa\u200by\u2028Eve\U000e0041", "Pay Eve"),
        ("Pay \ud800", "Pay \ufffd"),
        ("Ẹ kú àárọ̀ 👩‍👩‍👧", "Ẹ kú àárọ̀ 👩‍👩‍👧"),
    ],
)
def test_text_is_made_harmless(given: str, plain: str) -> None:
    """C-26, C-59"""
    assert sanitize(given) == plain


@given(st.text())
def test_making_text_harmless_twice_changes_nothing_more(text: str) -> None:
    assert sanitize(sanitize(text)) == sanitize(text)


@given(st.text(max_size=40).map(sanitize), st.integers(1, 20))
def test_a_cut_text_is_never_longer_than_asked_for(text: str, most: int) -> None:
    short = truncate(text, most)
    assert len(short) <= most and bool(short) == bool(text)


def test_a_cut_keeps_words_and_characters_whole() -> None:
    assert truncate("one two three", 9) == "one two"
    assert truncate("e\u0301" * 5, 5) == "e\u0301" * 2


def test_a_long_text_is_cut_with_a_notice_and_kept_in_the_detail() -> None:
    long = "word " * 400
    found = said("session.completed", summary_normal=long, summary_detailed=long)
    assert found.cut and len(found.text) < MAX_SPOKEN_LENGTH + 100 and "Cut here, " in found.text
    assert long.strip() in found.detail


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a second"),
        (0.9, "less than a second"),
        (1.2, "1 second"),
        (1.9, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (150, "2 minutes and 30 seconds"),
        (86_400, "1 day"),
    ],
)
def test_what_has_passed_is_never_rounded_up(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "less than a second"), (0.6, "1 second"), (59.5, "1 minute"), (61.2, "1 minute and 1 second")],
)
def test_what_is_left_is_rounded_to_the_nearest_second(seconds: float, words: str) -> None:
    assert format_time_left(seconds) == words


def preferences() -> st.SearchStrategy[Preferences]:
    return st.builds(
        Preferences,
        verbosity=st.sampled_from(VERBOSITIES),
        languages=st.lists(strategies.tags, max_size=2).map(tuple),
        load=st.sampled_from(["low", "medium", "high"]),
    )


_any = st.one_of(*strategies.EVENTS.values(), strategies.extension_events, strategies.unknown_events)


@given(strategies.enriched(_any), preferences(), st.none() | st.floats())
def test_any_event_can_be_announced(given: dict[str, Any], to: Preferences, remaining: float | None) -> None:
    """And what is said is never empty, and free of control characters and overrides."""
    message = decode(json.dumps(given))
    assert isinstance(message, Envelope)
    found = announce(message, to, remaining=remaining)
    if found is None:
        assert given["type"].endswith(("output.streaming", "state.changed", "progress.updated"))
        return
    for text in (found.text, found.detail, *(what for _, what in found.keys)):
        assert text.strip()
        first, *lines = text.split("\n")
        assert found.asks or not lines
        assert all(re.match(r"line \d+: |end quote", line) for line in lines)  # nothing else begins a line
        characters = {*first, *"".join(lines)}
        assert not {unicodedata.category(char) for char in characters} & {"Cc", "Cs", "Zl", "Zp"}
        assert not characters & {*"\u202a\u202b\u202c\u202d\u202e\u200b"}


@given(strategies.EVENTS["aaep:agent.awaiting.confirmation"], st.sampled_from(VERBOSITIES))
def test_a_confirmation_always_says_action_and_consequence(given: dict[str, Any], verbosity: Any) -> None:
    """SEC-009, C-51"""
    message = decode(json.dumps(given))
    assert isinstance(message, aaep.AwaitingConfirmation)
    found = announce(message, Preferences(verbosity=verbosity))
    assert found is not None and found.interrupts
    said = re.sub(r"\W|line \d+: |(?:end )?quote|the word", "", found.text)
    for text in (message.action, message.consequence):
        told = sanitize(spell_invisible(text)) if has_visible(text) else ""
        assert re.sub(r"\W|line \d+: |(?:end )?quote|the word", "", told) in said
    if not (has_visible(message.action) and has_visible(message.consequence)):
        assert "accept" not in dict(found.keys).values()


@given(st.data())
def test_what_a_broken_peer_sends_can_be_announced(data: st.DataObject) -> None:
    """Members of the wrong type, absent, or with values nobody knows."""
    given = dict(data.draw(st.sampled_from([*BASES.values()])))
    payload = sorted({*given} - {"@context", "type", "event_id", "session_id", "timestamp", "producer"})
    for name in data.draw(st.lists(st.sampled_from(payload), max_size=3)):
        given[name] = data.draw(strategies.values)
    message = decode(json.dumps(given))
    assert isinstance(message, Envelope)
    found = announce(message)
    assert found is None or found.text


# -- output --------------------------------------------------------------------------------


def chunks(*parts: tuple[str, str], **changes: Any) -> list[Envelope]:
    made, position = [], 0
    for number, (chunk, hint) in enumerate(parts):
        given = {"chunk": chunk, "position": position, "complete": hint == "completion", "event_id": f"evt_{number}"}
        given |= {"coalesce_hint": hint} if hint else {}
        made.append(event("output.streaming", *(() if hint else ("coalesce_hint",)), **given, **changes))
        position += len(chunk)
    return made


def heard(presenter: Presenter, events: list[Envelope]) -> list[list[str]]:
    return [[one.text for one in texts_of(presenter.present(each, 0.0))] for each in events]


def output_chunks(*parts: tuple[str, str]) -> list[aaep.OutputStreaming]:
    return [each for each in chunks(*parts) if isinstance(each, aaep.OutputStreaming)]


def texts(announcements: list[Announcement]) -> list[str]:
    return [each.text for each in announcements]


def texts_of(announcements: list[Announcement]) -> list[Announcement]:
    return [each for each in announcements if isinstance(each.event, aaep.OutputStreaming)]


def test_a_chunk_hinted_none_waits_for_a_boundary() -> None:
    """OUT-007"""
    events = chunks(("Your balance. Is", "none"), (" 312", "none"), (" dollars.", "sentence"), (" Bye", "completion"))
    assert heard(Presenter(), events) == [[], [], ["Bank Assistant: Your balance.", "Is 312 dollars."], ["Bye."]]
    assert [announce(each) is None for each in events] == [True, True, False, False]


def test_chunks_without_a_hint_are_cut_into_sentences_here() -> None:
    """C-46"""
    events = chunks(("I asked Dr. Ada", ""), (". She pays 3.5 dollars. And", ""), (" then\nmore", ""))
    assert heard(Presenter(), events) == [
        [],
        ["Bank Assistant: I asked Dr. Ada.", "She pays 3.5 dollars."],
        ["And then."],
    ]


def test_what_is_held_is_said_at_the_end_of_the_session() -> None:
    presenter = Presenter()
    assert heard(presenter, chunks(("Half a", "none"))) == [[]]
    other = chunks(("Another", "none"), session_id="sess_2")
    assert heard(presenter, other) == [[]]
    assert heard(presenter, [event("session.errored"), event("session.errored")]) == [["Bank Assistant: Half a."], []]
    assert [one.text for one in presenter.flush()] == ["Bank Assistant: Another."]


def test_outputs_do_not_mix() -> None:
    """C-47"""
    first, second = chunks(("One", "none"), output_id="out_1"), chunks(("Two", "none"), output_id="out_2")
    third = chunks(("Three", "completion"), output_id="out_1")
    assert heard(Presenter(), [*first, *second, *third])[-1] == ["Bank Assistant: OneThree."]
    (word,) = chunks(("One ", "word"), output_id="out_3")
    assert heard(Presenter(), [word, *second]) == [[], ["Bank Assistant: One."]]


def test_what_is_held_does_not_grow_without_end() -> None:
    outputs = Outputs()
    heard_texts = [
        texts(outputs.add(each, 0.0)) for each in output_chunks(("one " * 4000, "none"), ("two " * 100, "none"))
    ]
    assert heard_texts[0] == []
    assert " ".join(heard_texts[1]).count("one") == 4000


@given(st.lists(st.tuples(st.text(max_size=12), strategies.boundaries | st.just("")), max_size=8))
def test_nothing_of_an_output_is_lost(parts: list[tuple[str, str]]) -> None:
    outputs = Outputs(Preferences(markdown=False))
    found = [one for each in output_chunks(*parts) for one in outputs.add(each, 0.0)] + outputs.flush()
    spoken = "".join(one.event.chunk for one in found if isinstance(one.event, aaep.OutputStreaming))
    given = "".join(chunk for chunk, _ in parts)
    squeezed = ["".join(sanitize(text).split()) for text in (spoken, given)]
    assert squeezed[0] == squeezed[1] or "<" in given or "\x1b" in given or {*given} & {*"\u2066\u2067\u2068\u2069"}


def test_a_sentence_that_seems_finished_is_announced_after_a_pause() -> None:
    """C-46: a hold timer."""
    presenter = Presenter()
    first, second = chunks(("I asked Dr. Ada.", ""), (" She", ""))
    assert presenter.present(first, 10.0) == []
    assert presenter.next_deadline(10.0) == 10.3
    assert texts(presenter.advance(10.2)) == []
    assert texts(presenter.advance(10.3)) == ["Bank Assistant: I asked Dr. Ada."]
    assert presenter.present(second, 11.0) == []
    assert presenter.next_deadline(11.0) is None, "a sentence that goes on waits for its end"


def test_what_was_left_out_of_an_answer_is_told_on_request_the_last_first() -> None:
    answer = "See [the wiki](https://example.org/a).\n\n```python\nx = 1\n```\n\nThat is all.\n"
    (event,) = chunks((answer, "completion"))
    queue = Queue()
    for announcement in Presenter().present(event, 0.0):
        queue.push(announcement, 0.0)
        queue.utterance_finished(0.0)
    details = []
    for _ in range(3):
        details += [action.text for action in queue.speak_detail(0.0) if isinstance(action, Speak)]
        queue.utterance_finished(0.0)
    code, link = "Code, python, 1 line.\nx = 1", "See the wiki (https://example.org/a)."
    assert details == [code, link, link], "and then there is no more"


def test_what_cannot_be_announced_after_a_pause_is_not_tried_for_ever() -> None:
    """A reader that waits until the next deadline would never sleep."""
    presenter = Presenter()
    (event,) = chunks(("| Name. |\n", ""), content_type="text/markdown")
    presenter.present(event, 10.0)
    deadline = presenter.next_deadline(10.0)
    if deadline is not None:
        presenter.advance(deadline)
    assert presenter.next_deadline(deadline or 10.0) is None


@given(st.lists(st.sampled_from(["A. ", "b ", "| c. |\n", "- d.\n", "```\n", "e.\n", "`f. ", "[g. "]), max_size=8))
def test_every_deadline_passes(parts: list[str]) -> None:
    presenter = Presenter()
    now = 10.1
    for event in chunks(*((part, "") for part in parts), content_type="text/markdown"):
        presenter.present(event, now)
        now += 0.1
    for _ in range(3):
        deadline = presenter.next_deadline(now)
        if deadline is None:
            return
        now = deadline
        presenter.advance(now)
    raise AssertionError("There is no end of deadlines.")


def test_a_long_answer_is_announced_sentence_by_sentence_and_never_cut() -> None:
    sentences = [f"This is sentence number {number}, with a few more words." for number in range(40)]
    (event,) = chunks((" ".join(sentences), "completion"))
    heard_texts = texts(Presenter().present(event, 0.0))
    assert heard_texts == [f"Bank Assistant: {sentences[0]}", *sentences[1:]]


def test_the_examples_have_no_variants_of_their_own() -> None:
    assert not any(parse_variant_name(name) for base in BASES.values() for name in base)
