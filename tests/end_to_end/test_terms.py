"""Several readers at once, each on its own terms; joining late, changing terms, leaving."""

from __future__ import annotations

import threading

import pytest

from aaep.producer.session import Session
from tests.end_to_end.conftest import Bank
from tests.end_to_end.readers import ANSWERS, ENDS, LISTENS, PROMPT, critical, ids, kinds, outcomes, reply, text
from tests.end_to_end.wires import LONG, Gone, Wire

TERSE = ANSWERS | {
    "preferred_verbosity": "terse",
    "languages": ["en"],
    "max_events_per_second": 20,
    "cognitive_load": "low",
    "coalesce_boundaries": ["sentence", "completion"],
}
DETAILED = ANSWERS | {
    "preferred_verbosity": "detailed",
    "languages": ["en-US"],
    "coalesce_boundaries": ["word", "sentence", "completion"],
}


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_two_readers_with_different_terms_hear_the_same_session(bank: Bank, decision: str) -> None:
    terse, detailed = bank.reader(**TERSE), bank.reader(**DETAILED)
    with terse.connect() as slow, detailed.connect() as quick:
        bank.start()
        prompt = detailed.wait(quick, PROMPT)
        assert terse.wait(slow, PROMPT)["reply_token"] == prompt["reply_token"]
        assert not bank.ran
        terse.send(prompt, decision)
        detailed.wait(quick, *ENDS)
        terse.wait(slow, *ENDS)
    bank.finish()
    assert bank.ran == (["$500"] if decision == "accept" else [])
    said = bank.journal
    for reader in (terse, detailed):
        assert reader.errors() == []
        assert set(critical(said)) <= set(ids(reader.got))
        assert outcomes(reader.got, prompt) == ["accepted" if decision == "accept" else "rejected"]
        assert ("transfer" in [event.get("tool") for event in reader.got]) is (decision == "accept")
        assert text(reader.got) == text(said) == "".join(f"This is sentence {number}. " for number in range(4))
    # That they were served differently is part of it.
    assert len(terse.got) < len(detailed.got)
    for reader, level in ((terse, "terse"), (detailed, "detailed")):
        assert {event["verbosity"] for event in reader.got if f"summary_{level}" in event} == {level}
    assert "progress.updated" in kinds(detailed.got) and "progress.updated" not in kinds(terse.got)


def test_who_joins_late_is_caught_up_asked_and_may_answer(bank: Bank) -> None:
    first = bank.reader(**ANSWERS)
    with first.connect() as stream:
        bank.start()
        prompt = first.wait(stream, PROMPT)
        late = bank.reader(**ANSWERS)
        with late.connect() as joined:
            assert late.wait(joined, PROMPT) == prompt
            assert kinds(late.got)[0] == "session.started" and late.got[0] == first.got[0]
            late.send(prompt)
            late.wait(joined, *ENDS)
        first.wait(stream, *ENDS)
    bank.finish()
    assert bank.ran == ["$500"]
    assert first.errors() == late.errors() == []
    assert outcomes(first.got, prompt) == outcomes(late.got, prompt) == ["accepted"]
    after = ids(first.got)[ids(first.got).index(prompt["event_id"]) + 1 :]
    assert ids(late.got)[-len(after) :] == after


def test_who_leaves_hears_no_more_and_cannot_answer_while_the_others_go_on(bank: Bank) -> None:
    leaving, staying = bank.reader(**ANSWERS), bank.reader(**ANSWERS)
    with leaving.connect() as one, staying.connect() as other:
        bank.start()
        prompt = leaving.wait(one, PROMPT)
        staying.wait(other, PROMPT)
        leaving.ask(type="subscription.close", reason_code="subscriber_shutdown", reason_message="Done.")
        assert leaving.take(one, lambda _: True) is None  # the stream has ended
        assert leaving.gone()
        answer = leaving.send(prompt)
        assert staying.send(prompt, "reject") == answer
        staying.wait(other, *ENDS)
    bank.finish()
    assert not bank.ran
    assert outcomes(staying.got, prompt) == ["rejected"]
    assert leaving.errors() == staying.errors() == []


def test_the_last_who_could_answer_refuses_by_leaving(bank: Bank) -> None:
    leaving, watching = bank.reader(**ANSWERS), bank.reader(**LISTENS)
    with leaving.connect() as one, watching.connect() as other:
        bank.start()
        prompt = leaving.wait(one, PROMPT)
        leaving.ask(type="subscription.close", reason_code="subscriber_shutdown", reason_message="Done.")
        watching.wait(other, *ENDS)
    bank.finish()
    assert not bank.ran
    assert outcomes(watching.got, prompt) == ["timed_out"]
    assert watching.errors() == []


def test_terms_are_changed_while_it_goes_on(bank: Bank) -> None:
    """TERM-024"""
    steps = [threading.Event() for _ in range(3)]

    def script(session: Session) -> None:
        for number, step in enumerate(steps):
            assert step.wait(LONG)
            session.progress(10 * number + 1)
            session._emitter.change_state(("thinking", "deciding", "thinking")[number])
            session.write(f"Part {number}. And more. ")

    reader = bank.reader(**ANSWERS | {"preferred_verbosity": "normal"})
    with reader.connect() as stream:
        bank.start(script)
        steps[0].set()
        reader.take(stream, lambda event: event.get("complete") is True)
        first = len(reader.got)

        new = {"preferred_verbosity": "terse", "event_filters": {"exclude": ["aaep:agent.progress.updated"]}}
        granted = bank.wire.renegotiated(reader.ask(type="subscription.renegotiate", capabilities=new))
        assert granted["subscription_id"] == reader.id
        assert granted["honored_capabilities"]["preferred_verbosity"] == "terse"
        steps[1].set()
        reader.take(stream, lambda event: event.get("complete") is True)
        second = len(reader.got)

        again = {"preferred_verbosity": "detailed", "event_filters": {}, "max_events_per_second": 50}
        granted = bank.wire.renegotiated(reader.ask(type="subscription.renegotiate", capabilities=again))
        assert granted["honored_capabilities"]["max_events_per_second"] == 50
        steps[2].set()
        reader.wait(stream, *ENDS)
    bank.finish()
    parts = reader.got[:first], reader.got[first:second], reader.got[second:]
    assert ["progress.updated" in kinds(part) for part in parts] == [True, False, True]
    states = [[event for event in part if "to_state" in event][-1] for part in parts]
    assert [event["verbosity"] for event in states] == ["normal", "terse", "detailed"]
    assert text(reader.got) == "".join(f"Part {number}. And more. " for number in range(3))
    assert reader.errors() == []


def test_a_stream_without_a_subscription_hears_what_is_critical_and_can_answer_nothing(wire: Wire, bank: Bank) -> None:
    replier = bank.reader(**ANSWERS)
    with wire.stream(bank.url) as bare, replier.connect() as stream:
        bank.start()
        prompt = replier.wait(stream, PROMPT)
        heard = []
        for event in bare:
            heard.append(event)
            if event["type"] == PROMPT:
                break
        # It has no subscription to answer with; whatever it names is not its own.
        unknown = wire.send(bank.url, reply(heard[-1], "sub_" + "0" * 32))
        assert replier.send(prompt, "reject") == unknown
        replier.wait(stream, *ENDS)
        for event in bare:
            heard.append(event)
            if event["type"] in ENDS:
                break
    bank.finish()
    assert not bank.ran
    assert set(critical(bank.journal)) <= set(ids(heard))
    assert outcomes(heard, prompt) == ["rejected"]


def test_readers_that_cannot_answer_are_not_asked_and_nothing_runs(wire: Wire, bank: Bank) -> None:
    watching = bank.reader(**LISTENS)
    with wire.stream(bank.url) as bare, watching.connect() as stream:
        bank.start()
        watching.wait(stream, *ENDS)
        heard = []
        for event in bare:
            heard.append(event)
            if event["type"] in ENDS:
                break
    bank.finish()
    assert not bank.ran
    for got in (watching.got, heard):
        assert "awaiting.confirmation" not in kinds(got)
        assert "reply_token" not in str(got)
        assert any("was not done" in event.get("summary_normal", "") for event in got)


def test_a_subscription_that_never_was_has_no_stream(wire: Wire, bank: Bank) -> None:
    with pytest.raises(Gone):
        wire.stream(bank.url, "sub_" + "0" * 32)
