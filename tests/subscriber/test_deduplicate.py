"""Each event once, in order, and no text twice."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.protocol import codec
from aaep.protocol.audit import Audit
from aaep.protocol.events import Envelope, OutputStreaming
from aaep.subscriber.deduplicate import MAX_EVENT_IDS, Deduplicator, ReceivedEvent
from tests.sessions import event, legal, outcome, resync, token


def read(raw: bytes) -> Envelope:
    message = codec.decode(raw)
    assert isinstance(message, Envelope)
    return message


def take(arrivals: Deduplicator, *raws: bytes, now: float = 0.0) -> list[Envelope]:
    return [got for raw in raws for got, *_ in arrivals.take(ReceivedEvent(read(raw), raw), now)[0]]


def ids(events: list[Envelope]) -> list[str]:
    return [one.event_id for one in events]


def chunk(number: int, text: str, position: int, *, last: bool = False, **members: Any) -> bytes:
    hint = "completion" if last else "none"
    return event(
        "output.streaming", number, chunk=text, position=position, complete=last, coalesce_hint=hint, **members
    )


def texts(events: list[Envelope]) -> list[tuple[str, int, bool]]:
    return [(one.chunk, one.position, one.complete) for one in events if isinstance(one, OutputStreaming)]


# -- each once -----------------------------------------------------------------------------


def test_an_event_that_comes_again_is_dropped() -> None:
    """TR-015"""
    arrivals, raw = Deduplicator(), event("session.started")
    assert len(take(arrivals, raw, raw)) == 1
    arrivals.connection_began()
    assert take(arrivals, raw) == []


def test_the_same_event_in_another_layout_is_dropped() -> None:
    arrivals, raw = Deduplicator(), event("session.started")
    take(arrivals, raw)
    assert arrivals.take(ReceivedEvent(read(raw), json.dumps(json.loads(raw), indent=2).encode()), 0.0) == ([], [])


def test_an_id_with_other_content_is_told_and_passed_on() -> None:
    """ENV-013: a second event under the id of the first could be a prompt."""
    arrivals = Deduplicator()
    take(arrivals, event("progress.updated", 1))
    other = event("tool.invoked", 1)
    items, found = arrivals.take(ReceivedEvent(read(other), other), 0.0)
    assert [item.raw for item in items] == [other]
    assert [one.rule for one in found] == ["ENV-013"]


def test_a_start_and_another_event_under_one_id_are_told_too() -> None:
    arrivals = Deduplicator()
    take(arrivals, event("session.started", 1))
    other = event("tool.invoked", 1)
    assert [one.rule for one in arrivals.take(ReceivedEvent(read(other), other), 0.0)[1]] == ["ENV-013"]


def test_the_id_of_another_producer_is_its_own() -> None:
    arrivals = Deduplicator()
    take(arrivals, event("progress.updated", 1))
    other = event("progress.updated", 1, **{"producer": {"agent_id": "other"}})
    items, found = arrivals.take(ReceivedEvent(read(other), other), 0.0)
    assert len(items) == 1 and not found


def test_an_event_in_the_shape_of_other_terms_is_the_same_event() -> None:
    """C-85: same id, other text, after the terms changed."""
    arrivals = Deduplicator()
    take(arrivals, event("progress.updated", 1))
    other = event("progress.updated", 1, summary_normal="Halb fertig.")
    arrivals.terms_changed()
    assert arrivals.take(ReceivedEvent(read(other), other), 0.0) == ([], [])


def test_under_other_terms_an_id_still_cannot_hide_another_prompt() -> None:
    arrivals = Deduplicator()
    take(arrivals, event("awaiting.confirmation", 1, reply_token=token(1)))
    arrivals.connection_began(anew=True)
    other = event("awaiting.confirmation", 1, reply_token=token(2))
    items, found = arrivals.take(ReceivedEvent(read(other), other), 0.0)
    assert len(items) == 1
    assert [one.rule for one in found] == ["ENV-013"]


def test_memory_is_bounded_and_starts_and_prompts_are_remembered_longer() -> None:
    arrivals = Deduplicator()
    start, prompt = event("session.started", 0), event("awaiting.confirmation", 1)
    take(arrivals, start, prompt)
    for number in range(2, MAX_EVENT_IDS + 10):
        raw = event("progress.updated", number)
        take(arrivals, raw)
    assert len(arrivals._seen) <= MAX_EVENT_IDS
    assert take(arrivals, start, prompt) == []


# -- in order ------------------------------------------------------------------------------


def numbered(*numbers: int, name: str = "progress.updated", **members: Any) -> list[bytes]:
    return [event(name, number, sequence_number=number, **members) for number in numbers]


def numbers(events: list[Envelope]) -> list[int]:
    return [int(str(one.sequence_number)) for one in events]


def test_numbers_put_the_order_right_and_the_late_one_is_told() -> None:
    """TR-012, ENV-028"""
    arrivals = Deduplicator()
    raws = numbered(0, 2, 3)
    assert numbers(take(arrivals, *raws)) == [0]
    (late,) = numbered(1)
    items, found = arrivals.take(ReceivedEvent(read(late), late), 0.0)
    assert numbers([one for one, *_ in items]) == [1, 2, 3]
    assert [one.rule for one in found] == ["TR-009"]
    assert arrivals.next_deadline is None


def test_what_is_held_goes_out_when_its_time_is_over_and_later_gaps_are_not_waited_for() -> None:
    """C-18: on a filtered stream numbers are left out on purpose."""
    arrivals = Deduplicator(hold=1.0)
    take(arrivals, *numbered(0, 2), now=5.0)
    assert arrivals.next_deadline == 6.0
    assert arrivals.advance(5.9) == []
    assert numbers([one for one, *_ in arrivals.advance(6.0)]) == [2]
    assert numbers(take(arrivals, *numbered(7))) == [7]
    assert arrivals.next_deadline is None


def test_the_window_is_small() -> None:
    arrivals = Deduplicator(window=3)
    assert numbers(take(arrivals, *numbered(0, 2, 3, 4))) == [0]
    assert numbers(take(arrivals, *numbered(5))) == [2, 3, 4, 5]


def test_a_critical_event_is_never_held() -> None:
    arrivals = Deduplicator()
    got = take(arrivals, *numbered(0), *numbered(3, name="awaiting.confirmation"))
    assert numbers(got) == [0, 3]
    assert numbers(take(arrivals, *numbered(1, 2, 4))) == [1, 2, 4]


def test_a_session_joined_on_its_way_is_not_waited_for() -> None:
    arrivals = Deduplicator()
    assert numbers(take(arrivals, *numbered(348, 349))) == [348, 349]


def test_without_numbers_nothing_is_held() -> None:
    """C-14: timestamps never reorder."""
    arrivals = Deduplicator()
    raws = [event("progress.updated", number) for number in (3, 1, 2)]
    assert len(take(arrivals, *raws)) == 3


def test_a_lost_connection_gives_what_was_held_and_a_new_subscription_counts_anew() -> None:
    arrivals = Deduplicator()
    take(arrivals, *numbered(0, 2))
    assert numbers([one for one, *_ in arrivals.connection_lost()]) == [2]
    arrivals.connection_began(anew=True)
    again = [event("progress.updated", 50 + number, sequence_number=number) for number in (0, 2, 1)]
    assert numbers(take(arrivals, *again)) == [0, 1, 2]
    assert arrivals.next_deadline is None


def test_the_end_of_a_session_that_was_held_goes_out_with_the_connection() -> None:
    arrivals = Deduplicator()
    take(arrivals, *numbered(0), *numbered(2, name="session.completed"))
    assert numbers([one for one, *_ in arrivals.connection_lost()]) == [2]


# -- no text twice -------------------------------------------------------------------------


def test_after_a_resume_only_the_new_part_of_a_chunk_is_passed_on() -> None:
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "One. ", 0), chunk(2, "Two. ", 5))
    arrivals.connection_began()
    merged = chunk(3, "Two. Three.", 5, last=True, event_id="evt_3m2")
    assert texts(take(arrivals, merged)) == [("Three.", 10, True)]


def test_the_bytes_of_a_cut_chunk_say_the_same_as_its_event() -> None:
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "One. ", 0))
    arrivals.connection_began()
    raw = chunk(2, "One. Two.", 0, last=True)
    ((got, said, _),) = arrivals.take(ReceivedEvent(read(raw), raw), 0.0)[0]
    assert read(said) == got
    assert json.loads(said)["chunk"] == "Two."


def test_a_chunk_merged_anew_under_the_same_id_is_no_breach() -> None:
    """Its id names its last part; where it begins depends on where the producer resumed."""
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "One. ", 0), chunk(3, "Two. Three. ", 5, event_id="evt_3m2"))
    arrivals.connection_began()
    other = chunk(3, "One. Two. Three. ", 0, event_id="evt_3m2")
    assert arrivals.take(ReceivedEvent(read(other), other), 0.0) == ([], [])


def test_a_chunk_that_was_wholly_received_is_dropped_in_whatever_pieces_it_comes() -> None:
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "One. Two. ", 0, event_id="evt_2m2"))
    arrivals.connection_began()
    assert take(arrivals, chunk(1, "One. ", 0), chunk(2, "Two. ", 5)) == []
    assert texts(take(arrivals, chunk(3, "Three.", 10, last=True))) == [("Three.", 10, True)]


def test_the_end_of_an_output_is_passed_on_even_if_its_text_is_known() -> None:
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "One. ", 0))
    arrivals.connection_began()
    merged = chunk(2, "One. ", 0, last=True, event_id="evt_2m2")
    assert texts(take(arrivals, merged)) == [("", 5, True)]
    arrivals.connection_began()
    assert take(arrivals, chunk(2, "One. ", 0, last=True, event_id="evt_2m3")) == []


def test_text_that_differs_is_not_taken_for_a_repetition() -> None:
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "One. ", 0))
    arrivals.connection_began()
    assert texts(take(arrivals, chunk(2, "Eins.", 0))) == [("Eins.", 0, False)]


def test_within_a_connection_nothing_is_cut() -> None:
    """A producer that counts wrongly is reported by the audit; its text is heard."""
    arrivals = Deduplicator()
    assert len(take(arrivals, chunk(1, "Ha. ", 0), chunk(2, "Ha. ", 0))) == 2


def test_a_new_output_without_a_name_is_not_taken_for_the_last() -> None:
    arrivals = Deduplicator()
    take(arrivals, chunk(1, "OK.", 0, last=True, output_id=None))
    arrivals.connection_began()
    assert len(take(arrivals, chunk(2, "OK.", 0, last=True, output_id=None))) == 1


def test_a_long_output_is_cut_right_although_its_beginning_was_let_go() -> None:
    arrivals, page = Deduplicator(), "x" * 15_000
    take(arrivals, *(chunk(number, page, number * 15_000) for number in range(5)))
    arrivals.connection_began()
    merged = chunk(9, "x" * 16_000, 60_000)
    assert texts(take(arrivals, merged)) == [("x" * 1000, 75_000, False)]


# -- states and progress, folded in another way ----------------------------------------------


def changed(number: int, old: str, new: str, **members: Any) -> bytes:
    return event("state.changed", number, from_state=old, to_state=new, **members)


def test_a_state_that_was_heard_is_dropped_when_it_comes_inside_a_folded_one() -> None:
    arrivals = Deduplicator()
    take(arrivals, changed(1, "idle", "thinking"), changed(2, "thinking", "deciding"))
    arrivals.connection_began()
    assert take(arrivals, changed(2, "idle", "deciding", event_id=f"evt_{2:032d}m2")) == []


def test_states_inside_a_folded_one_that_was_heard_are_dropped() -> None:
    arrivals = Deduplicator()
    take(arrivals, changed(2, "idle", "deciding", event_id=f"evt_{2:032d}m2"))
    arrivals.connection_began()
    assert take(arrivals, changed(1, "idle", "thinking"), changed(2, "thinking", "deciding")) == []
    assert len(take(arrivals, changed(3, "deciding", "thinking"))) == 1


def test_states_inside_a_folded_one_are_dropped_although_they_are_of_the_same_millisecond() -> None:
    arrivals = Deduplicator()
    now = {"timestamp": "2026-05-24T14:22:11.342Z"}
    take(arrivals, changed(2, "calling_tool", "idle", event_id=f"evt_{2:032d}m2", **now))
    arrivals.connection_began(anew=True)
    again = changed(1, "calling_tool", "thinking", **now), changed(2, "thinking", "idle", **now)
    assert take(arrivals, *again) == []
    assert len(take(arrivals, changed(3, "idle", "writing_output", **now))) == 1


def test_a_state_that_comes_alone_and_then_inside_a_folded_one_is_heard_once_on_one_connection() -> None:
    arrivals = Deduplicator()
    alone = changed(1, "idle", "thinking"), changed(2, "thinking", "deciding")
    assert len(take(arrivals, *alone, changed(2, "idle", "deciding", event_id=f"evt_{2:032d}m2"))) == 2


def test_ids_of_another_producer_that_look_merged_do_not_hide_its_states() -> None:
    arrivals = Deduplicator()
    states = pairwise(["idle", "thinking", "deciding", "thinking", "idle"])
    raws = [changed(number, *states, event_id=f"evt_item{number}") for number, states in enumerate(states, 2)]
    heard = take(arrivals, raws[0])
    arrivals.connection_began(anew=True)
    heard += take(arrivals, *raws[1:])
    assert ids(heard) == [f"evt_item{number}" for number in range(2, 6)]


@pytest.mark.parametrize("reconnects", [False, True])
def test_the_end_of_a_prompt_is_heard_whatever_the_ids_and_timestamps_look_like(reconnects: bool) -> None:
    """A producer that counts in seconds, and whose ids look merged, leaves a state that a prompt implied (C-35)."""
    arrivals = Deduplicator()
    now = {"timestamp": "2026-05-24T14:22:11.000Z"}
    take(arrivals, changed(1, "idle", "thinking", event_id="evt_item2", **now))
    take(arrivals, event("awaiting.confirmation", 2, **now))
    if reconnects:
        arrivals.connection_began(anew=True)
    assert len(take(arrivals, changed(3, "awaiting_input", "thinking", event_id="evt_item3x", **now))) == 1


def test_a_state_that_a_tool_implied_is_left_audibly_on_one_connection() -> None:
    arrivals = Deduplicator()
    now = {"timestamp": "2026-05-24T14:22:11.000Z"}
    take(arrivals, changed(1, "idle", "thinking", event_id="evt_item2", **now), event("tool.invoked", 2, **now))
    assert len(take(arrivals, changed(3, "calling_tool", "deciding", event_id="evt_item3x", **now))) == 1


def test_what_was_missed_is_heard_although_a_prompt_came_ahead_of_it() -> None:
    """CF-091: prompts first. They do not show how far the reader got."""
    arrivals = Deduplicator()
    take(arrivals, event("session.started", 0))
    arrivals.connection_began()
    take(arrivals, event("awaiting.confirmation", 9))
    arrivals.connection_began()
    missed = [changed(1, "idle", "thinking"), event("progress.updated", 2), changed(3, "thinking", "awaiting_input")]
    assert len(take(arrivals, *missed)) == 3


def test_a_catch_up_and_an_outcome_are_always_heard() -> None:
    arrivals = Deduplicator()
    take(arrivals, event("progress.updated", 9))
    arrivals.connection_began()
    assert len(take(arrivals, resync(3, "thinking"), outcome(4, token(1), "accepted"))) == 2


# -- any interleaving --------------------------------------------------------------------------


def joined(raws: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for raw in raws:
        one = read(raw)
        if isinstance(one, OutputStreaming):
            found[str(one.output_id)] = found.get(str(one.output_id), "") + one.chunk
    return found


def others(raws: list[bytes]) -> list[str]:
    return [one.event_id for one in map(read, raws) if not isinstance(one, OutputStreaming)]


def merged(parts: list[bytes]) -> bytes:
    """Chunks of one output as a producer merges them."""
    first, last = json.loads(parts[0]), json.loads(parts[-1])
    whole = "".join(json.loads(part)["chunk"] for part in parts)
    members = {**last, "chunk": whole, "position": first["position"], "event_id": f"{last['event_id']}m{len(parts)}"}
    return json.dumps(members, ensure_ascii=False).encode()


@st.composite
def remerged(draw: st.DrawFn, raws: list[bytes]) -> list[tuple[bytes, int]]:
    """The same events with some chunks merged, and for each how many of the originals are through after it."""
    out: list[tuple[bytes, int]] = []
    place = 0
    while place < len(raws):
        end = place + 1
        output = json.loads(raws[place]).get("output_id")
        while output and end < len(raws) and json.loads(raws[end]).get("output_id") == output and draw(st.booleans()):
            end += 1
        out.append((raws[place] if end == place + 1 else merged(raws[place:end]), end))
        place = end
    return out


@given(legal(), st.data())
def test_losses_and_duplicates_leave_each_event_once_in_order_and_the_text_whole(
    raws: list[bytes], data: st.DataObject
) -> None:
    """Whatever was cut off, sent again, or merged in another way."""
    arrivals, got, through = Deduplicator(), list[bytes](), 0
    for _ in range(data.draw(st.integers(0, 5), label="losses")):
        arrivals.connection_began()
        start = data.draw(st.integers(0, through), label="from")  # a producer may go back further than it needs to
        stream = data.draw(remerged(raws[start:]))
        for raw, end in stream[: data.draw(st.integers(0, len(stream)), label="until")]:
            for _ in range(data.draw(st.integers(1, 2), label="times")):
                got += [said for _, said, _ in arrivals.take(ReceivedEvent(read(raw), raw), 0.0)[0]]
            through = max(through, start + end)
    arrivals.connection_began()
    for raw in raws[data.draw(st.integers(0, through), label="from") :]:
        got += [said for _, said, _ in arrivals.take(ReceivedEvent(read(raw), raw), 0.0)[0]]
    assert others(got) == others(raws)
    assert joined(got) == joined(raws)


@given(legal())
def test_the_sessions_of_these_tests_are_legal(raws: list[bytes]) -> None:
    audit = Audit(whole=True)
    found = [finding for raw in raws for finding in audit.feed(raw)] + audit.finish()
    assert [str(finding) for finding in found if finding.severity == "error"] == []


@given(legal(), st.data())
def test_numbers_restore_any_order_within_the_window(raws: list[bytes], data: st.DataObject) -> None:
    """TR-012, ENV-028: What is not critical comes out in the order of its numbers, all of it."""
    counted = [json.dumps({**json.loads(raw), "sequence_number": at}).encode() for at, raw in enumerate(raws)]
    places = data.draw(st.lists(st.integers(0, 6), min_size=len(counted), max_size=len(counted)), label="delays")
    mixed = sorted(range(len(counted)), key=lambda at: at + places[at])
    arrivals = Deduplicator(window=32)
    got = take(arrivals, *(counted[at] for at in mixed))
    got += [one for one, *_ in arrivals.advance(10.0)]
    usual = [number for number, one in zip(numbers(got), got, strict=True) if one.urgency != "critical"]
    assert sorted(numbers(got)) == [*range(len(counted))]
    assert usual == sorted(usual)
