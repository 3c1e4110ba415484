"""What a set of terms receives: each decision by an example. The properties are in test_shaping_properties.py."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec import UNSET

from aaep.journal.base import EventNotRetained
from aaep.journal.memory import MemoryJournal
from aaep.protocol import codec
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.events import Envelope, OutputStreaming, ProgressUpdated, StateChanged
from aaep.protocol.extensions import Extension, Registry
from aaep.protocol.fields import CORE_CONTEXT
from aaep.protocol.messages import Capabilities, EventFilters
from aaep.shaping.shaper import Shaper, condense
from tests import vectors

MEDICAL = Extension(
    namespace="https://example.org/aaep/medical/v1",
    prefix="medical",
    context="https://example.org/aaep/medical/v1/context",
)
OUT = "out_1"


def made(kind: str, number: int = 1, **members: Any) -> Any:
    """An event of the shape that the vectors are based on, with an id and a time by its number."""
    stamp = vectors.moment(number).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    changes = {"event_id": f"evt_{number}", "timestamp": stamp, "session_id": "sess_1", **members}
    if agent := changes.pop("agent", ""):
        changes["producer/agent_id"] = agent
    return codec.decode(vectors.message({"base": f"agent.{kind}", "set": {f"/{k}": v for k, v in changes.items()}}))


def state(number: int, old: str, new: str, **members: Any) -> StateChanged:
    event = made("state.changed", number, from_state=old, to_state=new, **members)
    assert isinstance(event, StateChanged)
    return event


def texts(*chunks: str, first: int = 1, complete: bool = True, **members: Any) -> list[OutputStreaming]:
    """The chunks of one output; the producer says nothing of where they end."""
    events, position = list[OutputStreaming](), 0
    for place, chunk in enumerate(chunks):
        last = complete and place == len(chunks) - 1
        told = {"chunk": chunk, "position": position, "complete": last, "output_id": OUT, **members}
        hint = {"coalesce_hint": "completion" if last else "none"}
        events.append(made("output.streaming", first + place, **hint | told))
        position += len(chunk)
    return events


def terms(**members: Any) -> Capabilities:
    return Capabilities(**members)


def heard(shaper: Shaper, *events: Envelope, at: float = 0.0) -> list[Any]:
    return [out for event in events for out in shaper.push(event, at)]


def told_by(shaper: Shaper, event: Envelope) -> Any:
    """The one event that comes of an event."""
    (told,) = shaper.push(event, 0.0)
    return told


def advanced(shaper: Shaper, at: float) -> list[Any]:
    return [*shaper.advance(at)]


def changes(out: list[Any]) -> list[tuple[str, str]]:
    return [(one.from_state, one.to_state) for one in out if isinstance(one, StateChanged)]


def chunks(out: list[Any]) -> list[tuple[str, str]]:
    return [(one.chunk, one.coalesce_hint) for one in out]


def ids(out: list[Any]) -> list[str]:
    return [one.event_id for one in out]


# -- what passes -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [name for name in vectors.BASES if name.startswith("agent.")])
def test_an_event_that_needs_no_change_is_the_very_same_object(kind: str) -> None:
    event = made(kind.removeprefix("agent."))
    assert Shaper(terms()).push(event, 0.0)[0] is event


def test_an_event_goes_only_if_the_filters_admit_it() -> None:
    shaper = Shaper(terms(event_filters=EventFilters(include=("aaep:agent.*",), exclude=("aaep:agent.tool.*",))))
    assert heard(shaper, made("tool.invoked"), made("progress.updated", 2)) == [made("progress.updated", 2)]


@pytest.mark.parametrize(
    "kind", ["awaiting.confirmation", "awaiting.clarification", "handoff.requested", "session.errored"]
)
def test_filters_and_rate_do_not_touch_what_is_critical(kind: str) -> None:
    shaper = Shaper(terms(max_events_per_second=1, event_filters=EventFilters(include=())))
    for number in range(1, 4):
        assert ids(shaper.push(made(kind, number), 0.0)) == [f"evt_{number}"]


def test_an_event_of_any_type_is_critical_by_its_urgency() -> None:
    shaper = Shaper(terms(event_filters=EventFilters(include=())))
    assert heard(shaper, made("progress.updated", urgency="critical"))


def test_an_extensions_own_event_is_sent_if_the_filters_admit_it_with_its_context() -> None:
    event = made("progress.updated", type="medical:record.consulted", record_kind="x", progress=None)
    event = codec.replace(event, context=(CORE_CONTEXT, MEDICAL.context))
    assert Shaper(terms()).push(event, 0.0) == []
    told = Shaper(terms(event_filters=EventFilters(include=("medical:*",)))).push(event, 0.0)
    assert told[0].context == (CORE_CONTEXT, MEDICAL.context) and told[0].unknown["record_kind"] == "x"


# -- the rate --------------------------------------------------------------------------------


def test_the_rate_spaces_events_evenly_and_loses_none() -> None:
    """BP-005, BP-009"""
    shaper = Shaper(terms(max_events_per_second=2))
    assert ids(heard(shaper, *(made("tool.invoked", n) for n in range(1, 5)))) == ["evt_1"]
    told = []
    while (due := shaper.next_deadline) is not None:
        told += [(due, one.event_id) for one in shaper.advance(due)]
    assert told == [(0.5, "evt_2"), (1.0, "evt_3"), (1.5, "evt_4")]


def test_there_is_no_burst_after_a_pause() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    shaper.push(made("tool.invoked"), 0.0)
    assert len(heard(shaper, made("tool.invoked", 2), made("tool.invoked", 3), at=100.0)) == 1


def test_lag_is_how_long_the_oldest_has_waited_for_the_rate() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("tool.invoked", 1), *texts("No boundary", first=5, complete=False))
    assert shaper.lag(9.0) == 0.0  # text that waits for its end waits for nothing of the rate's
    shaper.push(made("tool.invoked", 2), 0.25)
    assert shaper.lag(9.25) == 9.0


def test_what_is_held_of_a_session_goes_before_its_critical_event_and_is_debt() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("tool.invoked", 1), made("tool.invoked", 2), made("tool.invoked", 3, session_id="sess_2"))
    out = heard(shaper, *texts("Half a", first=4, complete=False), made("awaiting.confirmation", 5))
    assert ids(out) == ["evt_2", "evt_4", "evt_5"]
    assert shaper.next_deadline == 4.0  # one before, and three at once
    assert ids(shaper.advance(4.0)) == ["evt_3"]


def test_an_ending_goes_at_once_after_what_is_held() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    out = heard(shaper, made("session.started", 1), made("tool.invoked", 2), made("session.completed", 3))
    assert ids(out) == ["evt_1", "evt_2", "evt_3"]


def test_states_that_are_held_become_one_change_with_the_last_words() -> None:
    """BP-006"""
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("session.started", 1), state(2, "idle", "thinking"))
    heard(shaper, state(3, "thinking", "deciding"), state(4, "deciding", "calling_tool", summary_normal="Now."))
    (told,) = advanced(shaper, 1.0)
    assert (told.event_id, told.from_state, told.to_state) == ("evt_4m3", "idle", "calling_tool")
    assert told.summary_normal == "Now."


def test_a_change_there_and_back_is_none() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("session.started", 1), state(2, "idle", "thinking"), state(3, "thinking", "idle"))
    assert shaper.next_deadline is None


@pytest.mark.parametrize("given", [{"max_events_per_second": 1}, {"cognitive_load": "low"}])
def test_when_changes_came_to_nothing_the_first_that_is_told_leaves_idle_all_the_same(given: dict[str, Any]) -> None:
    """STATE-001, though other producers leave it to the output to say that they write (C-31)."""
    shaper = Shaper(terms(**given))
    told = heard(shaper, made("session.started", 1), state(2, "idle", "thinking"), state(3, "thinking", "idle"))
    told += heard(shaper, *texts("Five.", first=4), state(5, "writing_output", "calling_tool"), made("tool.invoked", 6))
    assert changes([*told, *shaper.flush(0.0)]) == [("idle", "calling_tool")]


def test_a_low_load_hears_of_a_change_before_the_tool_that_follows_it() -> None:
    """TOOL-007: behind the tool it would seem to leave it. Other producers do not say that they call one (C-31)."""
    shaper = Shaper(terms(cognitive_load="low"))
    told = heard(shaper, made("session.started", 1), state(2, "idle", "thinking"), made("tool.invoked", 3))
    told += heard(shaper, made("awaiting.clarification", 4), state(5, "calling_tool", "writing_output"))
    assert ids(told) == ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"]
    assert changes(told) == [("idle", "thinking"), ("calling_tool", "writing_output")]


def test_a_change_that_closes_a_prompt_is_not_folded_away() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("tool.invoked", 1), state(2, "awaiting_input", "thinking"))
    heard(shaper, state(3, "thinking", "awaiting_input"))
    assert ids(shaper.flush(0.0)) == ["evt_2", "evt_3"]


def test_a_catch_up_is_not_folded_and_keeps_its_mark_for_who_lists_it() -> None:
    ours = {"@context": [CORE_CONTEXT, ATTEND.context], "extensions": {"attend": {"resync": True}}}
    shaper = Shaper(terms(max_events_per_second=1, supported_extensions=(ATTEND.namespace,)))
    heard(shaper, made("tool.invoked", 1), state(2, "idle", "thinking"))
    out = shaper.push(state(3, "thinking", "thinking", **ours), 0.0)
    assert ids(out) == ["evt_2", "evt_3"] and out[1].extensions == {"attend": {"resync": True}}


def test_while_a_prompt_is_open_every_change_of_state_is_told() -> None:
    shaper = Shaper(terms(max_events_per_second=1, cognitive_load="low"))
    heard(shaper, made("awaiting.confirmation", 1), state(2, "thinking", "deciding"), state(3, "deciding", "thinking"))
    assert ids(shaper.flush(0.0)) == ["evt_2", "evt_3"]


def test_of_progress_that_is_held_only_the_latest_is_told() -> None:
    """BP-006"""
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("tool.invoked", 1), *(made("progress.updated", n) for n in (2, 3)))
    heard(shaper, made("progress.updated", 4, agent="other"))
    assert ids(shaper.flush(0.0)) == ["evt_3", "evt_4"]


def test_states_around_a_tool_stay_around_it() -> None:
    shaper = Shaper(terms(max_events_per_second=1))
    heard(shaper, made("session.started", 1), state(2, "idle", "calling_tool"), made("tool.invoked", 3))
    heard(shaper, made("tool.completed", 4), state(5, "calling_tool", "idle"))
    assert ids(shaper.flush(0.0)) == ["evt_2", "evt_3", "evt_4", "evt_5"]


def test_text_that_the_rate_holds_up_is_merged_even_for_who_wants_every_chunk() -> None:
    """BP-006, BP-007"""
    shaper = Shaper(terms(max_events_per_second=1, coalesce_boundaries=("none",)))
    assert chunks(heard(shaper, *texts("a", "b", "c", complete=False))) == [("a", "none")]
    (told,) = advanced(shaper, 1.0)
    assert (told.chunk, told.position, told.event_id) == ("bc", 1, "evt_3m2")


def test_flush_gives_out_one_session_or_all() -> None:
    shaper = Shaper(terms())
    heard(shaper, *texts("One", complete=False), *texts("Two", first=5, complete=False, session_id="sess_2"))
    assert chunks([*shaper.flush(0.0, "sess_2")]) == [("Two", "none")]
    assert chunks([*shaper.flush(0.0)]) == [("One", "none")]
    assert shaper.flush(0.0) == []


# -- output ----------------------------------------------------------------------------------

STORY = ("Hel", "lo there. How", " are you?\n\nFine. ", "End")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("sentence", "completion"), ["Hello there. ", "How are you?\n\n", "Fine. End"]),
        (("completion",), ["Hello there. How are you?\n\nFine. End"]),
        (("paragraph", "completion"), ["Hello there. How are you?\n\n", "Fine. End"]),
        (("word",), ["Hello there. ", "How are you?\n\n", "Fine. End"]),
        (("paragraph", "none"), [*STORY]),
    ],
)
def test_output_goes_out_at_the_boundaries_that_are_wanted(wanted: tuple[Any, ...], expected: list[str]) -> None:
    out = heard(Shaper(terms(coalesce_boundaries=wanted)), *texts(*STORY))
    assert [one.chunk for one in out] == expected
    assert [one.position for one in out] == [sum(map(len, expected[:place])) for place in range(len(out))]
    assert [one.complete for one in out] == [False] * (len(out) - 1) + [True]


def test_each_event_says_which_of_the_wanted_boundaries_it_ends_at() -> None:
    shaper = Shaper(terms(coalesce_boundaries=("word", "paragraph")))
    out = heard(shaper, *texts("One two", " Three.\n\nF", "our"))
    assert chunks(out) == [("One ", "word"), ("two Three.\n\n", "paragraph"), ("Four", "completion")]


def test_a_sentence_waits_only_so_long_for_what_follows_it() -> None:
    shaper = Shaper(terms(), hold=0.5)
    assert heard(shaper, *texts("Hello. ", complete=False), at=10.0) == []
    assert shaper.next_deadline == 10.5 and shaper.advance(10.4) == []
    assert chunks(advanced(shaper, 10.5)) == [("Hello. ", "sentence")]
    assert shaper.next_deadline is None


def test_text_without_any_boundary_stays_until_there_is_one() -> None:
    shaper = Shaper(terms())
    first, second = texts("No end in", " sight. N", complete=False)
    assert heard(shaper, first) == [] and shaper.next_deadline is None and shaper.advance(1000.0) == []
    assert chunks(heard(shaper, second)) == [("No end in sight. ", "sentence")]


def test_a_number_is_not_cut_at_its_point() -> None:
    shaper = Shaper(terms())
    out = heard(shaper, *texts("It is 3.", "50 today. ", "By", "e"))
    assert [one.chunk for one in out] == ["It is 3.50 today. ", "Bye"]


def test_what_the_producer_says_of_an_end_is_believed() -> None:
    (event,) = texts("A heading", complete=False, coalesce_hint="paragraph")
    assert chunks(heard(Shaper(terms()), event)) == [("A heading", "sentence")]


def test_text_that_is_not_prose_is_cut_at_blank_lines_only() -> None:
    code = ("a = 1. B\n", "c = 2\n\nd", " = 3")
    out = heard(Shaper(terms()), *texts(*code, content_type="text/x-python"))
    assert [one.chunk for one in out] == ["a = 1. B\nc = 2\n\n", "d = 3"]


def test_text_in_another_language_is_not_merged_with_what_came_before() -> None:
    first, second = texts("Hello ", "Bonjour", complete=False)
    out = heard(Shaper(terms()), first, codec.replace(second, language="fr"), made("progress.updated", 9))
    assert [getattr(one, "chunk", "") for one in out] == ["Hello ", "Bonjour", ""]


def test_a_chunk_with_more_than_text_on_it_is_not_merged() -> None:
    first, second, third = texts("a", "b", "c", complete=False)
    second = codec.replace(second, context=(CORE_CONTEXT, MEDICAL.context), extensions={"medical": {"x": 1}})
    shaper = Shaper(terms(supported_extensions=(MEDICAL.namespace,)))
    out = heard(shaper, first, second, third) + shaper.flush(0.0)
    assert ids(out) == ["evt_1", "evt_2", "evt_3"] and out[1].extensions == {"medical": {"x": 1}}


def test_chunks_that_do_not_meet_are_not_merged() -> None:
    first, second = texts("One ", "two", complete=False)
    apart = [first, codec.replace(second, position=9)]
    assert condense(apart) == apart
    shaper = Shaper(terms())
    out: list[Any] = [*heard(shaper, *apart), *shaper.flush(0.0)]
    assert [(one.chunk, one.position) for one in out] == [("One ", 0), ("two", 9)]


def test_text_comes_also_when_the_end_of_its_session_is_not_wanted() -> None:
    shaper = Shaper(terms(event_filters=EventFilters(include=("aaep:agent.output.*",))))
    assert chunks(heard(shaper, *texts("Half", complete=False), made("session.completed", 9))) == [("Half", "none")]


def test_an_event_of_the_same_agent_comes_after_the_text_it_had_begun() -> None:
    out = heard(Shaper(terms()), *texts("Half a sen", complete=False), made("tool.invoked", 9))
    assert ids(out) == ["evt_1", "evt_9"] and out[0].coalesce_hint == "none"


def test_another_agents_event_does_not_cut_the_text() -> None:
    shaper = Shaper(terms())
    assert ids(heard(shaper, *texts("Half a sen", complete=False), made("tool.invoked", 9, agent="b"))) == ["evt_9"]


def test_an_output_that_begins_comes_after_what_was_written_before_it() -> None:
    (one,), (two,) = texts("One ", complete=False), texts("Two. X", first=2, output_id="out_2", complete=False)
    out = heard(Shaper(terms()), one, two, made("progress.updated", 9))
    assert [getattr(told, "chunk", "") for told in out] == ["One ", "Two. ", "X", ""]
    assert [told.timestamp for told in out] == sorted(told.timestamp for told in out)


@pytest.mark.parametrize("character", ["a", "é", "👍", "\x01"])
def test_a_long_output_is_cut_to_what_an_event_may_hold(character: str) -> None:
    words = (character * 99 + " ") * 100
    shaper = Shaper(terms(coalesce_boundaries=("completion",)))
    out = heard(shaper, *texts(words, words, words, words))
    assert "".join(one.chunk for one in out) == words * 4
    for one in out:
        assert len(one.chunk) <= 16_384 and len(codec.encode(one)) <= 65_536
        assert one.chunk.endswith(" ")
    assert [one.complete for one in out] == [False] * (len(out) - 1) + [True]
    assert {one.coalesce_hint for one in out[:-1]} == {"sentence"} and out[-1].coalesce_hint == "completion"


def test_an_output_without_end_does_not_grow_without_end() -> None:
    shaper = Shaper(terms(coalesce_boundaries=("completion",)))
    out = heard(shaper, *texts(*["x" * 10_000] * 10, complete=False))
    assert sum(len(one.chunk) for one in out) > 80_000


def test_text_of_both_directions_says_so() -> None:
    out = heard(Shaper(terms()), *texts("Peace: ", "سلام"))
    assert out[0].localization_hints.text_direction == "auto"
    assert not [v for v in codec.read(codec.encode(out[0]), strict=True)[1] if v.rule == "I18N-035"]


# -- ids -------------------------------------------------------------------------------------


def test_whoever_resumes_after_any_piece_reads_again_what_was_not_sent_whole() -> None:
    given = texts("One. Tw", "o. Three. Fo", "ur. Five. Six. S", "even. Eight", ".")
    journal = MemoryJournal()
    for one in given:
        journal.append(one.event_id, one.session_id, codec.encode(one), at=0.0)
    shaper, got = Shaper(terms()), ""
    for told in [*heard(shaper, *given[:2]), *heard(shaper, *given[2:])]:
        assert isinstance(told, OutputStreaming)
        got += told.chunk
        try:
            entries = journal.read(told.event_id)
        except EventNotRetained:
            continue  # caught up
        rest = [codec.decode(entry.data) for entry in entries]
        again = rest[0].position if rest else len(got)  # type: ignore[attr-defined]  # a chunk
        assert again <= len(got), f"{told.event_id} loses text"
    assert got == "".join(one.chunk for one in given)


def test_the_names_of_pieces() -> None:
    out = heard(Shaper(terms()), *texts("One. T", "wo", ". Three", "!"))
    assert ids(out) == [
        "evt_1p0x5",  # nothing of the journal's is finished: it knows no such name
        "evt_2m1500005",  # evt_2 is, evt_3 is not: it will be read again
        "evt_4m11000006",
    ]
    assert chunks(out) == [("One. ", "sentence"), ("Two. ", "sentence"), ("Three!", "completion")]


def test_a_merged_event_is_named_after_its_last_part_and_their_number() -> None:
    assert ids(heard(Shaper(terms()), *texts("a", "b", "c"))) == ["evt_3m3"]


def test_an_id_that_would_be_too_long_is_replaced_by_a_valid_one() -> None:
    long = "evt_" + "a" * 64
    first, second = texts("a", "b")
    (told,) = heard(Shaper(terms()), first, codec.replace(second, event_id=long))
    assert re.fullmatch("evt_[A-Za-z0-9]{1,64}", told.event_id) and told.event_id not in (long, "evt_1")


# -- a low cognitive load ----------------------------------------------------------------------


def test_a_low_load_leaves_out_what_is_in_the_background_and_keeps_the_chain() -> None:
    shaper = Shaper(terms(cognitive_load="low"))
    assert heard(shaper, state(1, "idle", "thinking"), made("progress.updated", 2)) == []
    (told,) = heard(shaper, state(3, "thinking", "calling_tool", urgency="normal"))
    assert (told.event_id, told.from_state, told.to_state) == ("evt_3m2", "idle", "calling_tool")


@pytest.mark.parametrize("kind", ["session.started", "session.completed", "tool.invoked", "tool.completed"])
def test_a_low_load_leaves_out_neither_lifecycle_nor_tools(kind: str) -> None:
    assert heard(Shaper(terms(cognitive_load="low")), made(kind, urgency="background"))


def test_a_low_load_hears_of_a_state_that_output_presupposes() -> None:
    shaper = Shaper(terms(cognitive_load="low"))
    out = heard(shaper, state(1, "idle", "thinking"), state(2, "thinking", "writing_output"))
    assert out == []
    out = heard(shaper, *texts("One. ", "Two. ", first=3), state(9, "writing_output", "idle"))
    assert [getattr(one, "to_state", getattr(one, "chunk", "")) for one in out] == ["writing_output", "One. Two. "]


def test_a_low_load_hears_how_a_prompt_was_closed_whoever_tells_it() -> None:
    """CF-025, though another agent tells it, and in the background."""
    ours = {"@context": [CORE_CONTEXT, ATTEND.context], "extensions": {"attend": {"outcome": "accepted"}}}
    shaper = Shaper(terms(cognitive_load="low"))
    heard(shaper, made("session.started", 1), state(2, "idle", "thinking"))
    told = told_by(shaper, state(3, "thinking", "deciding", urgency="background", **ours))
    assert (told.from_state, told.extensions) == ("idle", {"attend": {"outcome": "accepted"}})


def test_a_low_load_hears_that_a_prompt_is_closed() -> None:
    shaper = Shaper(terms(cognitive_load="low"))
    out = heard(shaper, state(1, "idle", "awaiting_input"), made("awaiting.confirmation", 2))
    assert ids(out) == ["evt_1", "evt_2"]
    assert ids(heard(shaper, state(3, "awaiting_input", "thinking"))) == ["evt_3"]


# -- words, languages, extensions ---------------------------------------------------------------


def test_verbosity_is_the_level_that_was_asked_for_where_there_is_such_a_summary() -> None:
    shaper = Shaper(terms(preferred_verbosity="terse"))
    told = told_by(shaper, made("tool.invoked"))
    assert told.verbosity == "terse" and told.event_id == "evt_1"
    assert told.summary_detailed == made("tool.invoked").summary_detailed
    bare = codec.replace(made("tool.completed"), summary_terse=UNSET)
    assert shaper.push(bare, 0.0) == [bare]


def variants(**members: Any) -> Any:
    return made("session.started", **members)


def test_a_variant_that_serves_better_changes_places_with_the_main_text() -> None:
    event = variants(summary_normal_yo="Bẹẹni.", summary_terse_yo="Bẹẹ.")
    told = told_by(Shaper(terms(languages=("yo-NG", "en-US"))), event)
    assert (told.summary_normal, told.summary_terse) == ("Bẹẹni.", "Bẹẹ.")
    assert told.summary_detailed is UNSET  # it is not in Yoruba
    assert told.localization_hints.primary_language == "yo"
    assert told.unknown["summary_normal_en_us"] == event.summary_normal
    assert told.unknown["summary_detailed_en_us"] == event.summary_detailed
    assert "summary_normal_yo" not in told.unknown
    again = codec.decode(codec.encode(told))
    assert again == told and again.unknown == told.unknown
    assert not [v for v in codec.read(codec.encode(told), strict=True)[1] if v.rule != "TERM-013"]


def test_the_primary_language_stays_where_it_serves_as_well_or_nothing_does() -> None:
    """I18N-020"""
    event = variants(summary_normal_yo="Bẹẹni.")
    for wanted in (("en", "yo"), ("fr",)):
        assert Shaper(terms(languages=wanted)).push(event, 0.0)[0] is event


def test_the_primary_language_stays_where_a_required_text_has_no_variant() -> None:
    event = made("awaiting.confirmation", action_yo="Fi ranṣẹ.")
    assert Shaper(terms(languages=("yo",))).push(event, 0.0)[0] is event
    event = made("awaiting.confirmation", action_yo="Fi ranṣẹ.", consequence_yo="Ó ti lọ.")
    told = told_by(Shaper(terms(languages=("yo",))), event)
    assert (told.action, told.consequence, told.reply_token) == ("Fi ranṣẹ.", "Ó ti lọ.", event.reply_token)


def test_the_primary_language_stays_where_choices_are_labelled_in_it() -> None:
    event = made("awaiting.clarification", question_yo="Èwo?")
    assert Shaper(terms(languages=("yo",))).push(event, 0.0)[0] is event


def test_a_variant_that_runs_the_other_way_lets_its_letters_decide() -> None:
    told = told_by(Shaper(terms(languages=("ar",))), variants(summary_normal_ar="نعم."))
    hints = told.localization_hints
    assert (hints.primary_language, hints.text_direction) == ("ar", "auto")


def with_extensions(event: Any, contexts: tuple[str, ...], **values: dict[str, Any]) -> Any:
    return codec.replace(event, context=(CORE_CONTEXT, *contexts), extensions=values)


def test_extensions_that_are_not_listed_are_taken_out_with_their_contexts() -> None:
    known = Registry([ATTEND, MEDICAL])
    event = with_extensions(
        made("tool.invoked"), (MEDICAL.context, "https://x.example/c"), medical={"a": 1}, x={"b": 2}
    )
    told = told_by(Shaper(terms(), registry=known), event)
    assert told.extensions is UNSET and told.context == CORE_CONTEXT
    told = told_by(Shaper(terms(supported_extensions=(MEDICAL.namespace,)), registry=known), event)
    assert told.extensions == {"medical": {"a": 1}} and told.context == (CORE_CONTEXT, MEDICAL.context)


def test_an_extension_nobody_has_registered_is_known_by_its_context() -> None:
    event = with_extensions(made("tool.invoked"), (MEDICAL.context,), medical={"a": 1})
    for listed in (MEDICAL.namespace, MEDICAL.context):
        assert Shaper(terms(supported_extensions=(listed,))).push(event, 0.0)[0] is event
    assert Shaper(terms(supported_extensions=("https://other.example",))).push(event, 0.0)[0].extensions is UNSET


def test_everybody_learns_the_outcome_of_a_prompt_and_no_more() -> None:
    ours = {"reply_token": "rpl_1", "outcome": "rejected", "replay_of": "evt_0"}
    event = with_extensions(state(1, "awaiting_input", "thinking", urgency="critical"), (ATTEND.context,), attend=ours)
    filters = EventFilters(include=())
    told = told_by(Shaper(terms(event_filters=filters)), event)
    assert told.extensions == {"attend": {"reply_token": "rpl_1", "outcome": "rejected"}}
    assert told.context == (CORE_CONTEXT, ATTEND.context)
    told = told_by(Shaper(terms(event_filters=filters, supported_extensions=(ATTEND.namespace,))), event)
    assert told is event


def test_numbers_are_left_out_and_what_is_unknown_is_kept() -> None:
    told = told_by(Shaper(terms()), made("tool.invoked", sequence_number=4, novelty=True))
    assert told.sequence_number is UNSET
    assert b'"novelty":true' in codec.encode(told) and b"sequence_number" not in codec.encode(told)


def test_pace_changes_nothing() -> None:
    given = texts(*STORY)
    assert heard(Shaper(terms(pace_wpm=50)), *given) == heard(Shaper(terms()), *given)


# -- condensing ------------------------------------------------------------------------------


def test_a_run_is_condensed_within_what_is_critical() -> None:
    run = [
        *texts("One. ", "Two. ", complete=False),
        state(3, "writing_output", "thinking"),
        made("progress.updated", 4),
        state(5, "thinking", "deciding"),
        made("progress.updated", 6),
        made("awaiting.confirmation", 7),
        state(8, "deciding", "thinking", agent="b"),
        made("progress.updated", 9),
    ]
    fewer = condense(run)
    assert ids(fewer) == ["evt_2m2", "evt_5m2", "evt_6", "evt_7", "evt_8", "evt_9"]
    assert fewer[0].chunk == "One. Two. " and fewer[3] is run[6]  # type: ignore[attr-defined]  # a chunk
    assert isinstance(fewer[2], ProgressUpdated)


def test_condensing_keeps_the_pieces_of_an_original_resumable() -> None:
    pieces = heard(Shaper(terms()), *texts("One. T", "wo", ". Three", "!"))
    assert ids(condense(pieces[:2])) == ["evt_2m1000010"]
    assert ids(condense(pieces)) == ["evt_4m1000016"]
    (inside,) = texts("One. Two. Three. Fo", complete=False)
    shaper = Shaper(terms())
    first = heard(shaper, inside)
    assert ids(first) == ["evt_1p0x17"]


def test_condensing_merges_no_more_than_an_event_may_hold() -> None:
    run = texts("a" * 10_000, "b" * 10_000, complete=False)
    assert condense(run) == run
