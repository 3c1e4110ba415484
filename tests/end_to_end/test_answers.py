"""Replies over a real wire: races, forgeries and leftovers. None of them runs anything, and all are answered alike."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from aaep.producer.producer import Producer, Runtime
from aaep.producer.session import Session
from tests.end_to_end.conftest import Bank
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, kinds, outcomes, reply, stamp
from tests.end_to_end.wires import LONG, Answer, Json, Wire

QUESTION = "aaep:agent.awaiting.clarification"
TRIES = 100


# -- races -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("readers", [1, 10])
@pytest.mark.parametrize("decisions", [("accept",), ("accept", "reject")], ids=["all agree", "they differ"])
def test_of_a_hundred_replies_at_once_exactly_one_counts(bank: Bank, readers: int, decisions: tuple[str, ...]) -> None:
    """TR-020"""
    group = [bank.reader(**ANSWERS) for _ in range(readers)]
    gate = threading.Barrier(TRIES)

    def answer(number: int) -> Answer:
        message = reply(prompt, group[number % readers].id, decisions[number // readers % len(decisions)])
        gate.wait(LONG)
        return bank.wire.send(bank.url, message)

    with ExitStack() as stack:
        streams = [stack.enter_context(one.connect()) for one in group]
        bank.start()
        prompts = [one.wait(stream, PROMPT) for one, stream in zip(group, streams, strict=True)]
        prompt = prompts[0]
        assert all(one == prompt for one in prompts)
        with ThreadPoolExecutor(TRIES) as pool:
            answers = [*pool.map(answer, range(TRIES))]
        for one, stream in zip(group, streams, strict=True):
            one.wait(stream, *ENDS)
    bank.finish()
    assert all(one == answers[0] for one in answers)
    told = {tuple(outcomes(one.got, prompt)) for one in group}
    assert told in ({("accepted",)}, {("rejected",)})
    assert told == {("accepted",)} or len(decisions) > 1
    assert bank.ran == (["$500"] if told == {("accepted",)} else [])
    assert [error for one in group for error in one.errors()] == []


# -- what does not count ---------------------------------------------------------------------------


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Scene:
    """A prompt that is open, beside everything that a wrong reply could be made of."""

    def __init__(self, bank: Bank, clock: Clock, stack: ExitStack) -> None:
        self.bank = bank
        self._done = threading.Event()
        self.reader, self.left = bank.reader(**ANSWERS), bank.reader(**ANSWERS)
        self.deaf = bank.reader(supported_conformance_levels=[1, 2, 3])  # it did not ask to answer
        self.left.ask(type="subscription.close", reason_code="subscriber_shutdown", reason_message="Done.")
        self._stream = stack.enter_context(self.reader.connect())
        self._idle = stack.enter_context(self.deaf.connect())

        bank.start()
        self.used = self.reader.wait(self._stream, PROMPT)
        self.right = self.reader.send(self.used, "reject")  # how one that counts is answered
        self.reader.wait(self._stream, *ENDS)
        assert outcomes(self.reader.got, self.used) == ["rejected"]

        bank.start()
        self.expired = self.reader.wait(self._stream, PROMPT)
        clock.now += self.expired["timeout_seconds"]
        bank.producer.hub.run(_tick(bank.producer))
        self.reader.wait(self._stream, *ENDS)
        assert outcomes(self.reader.got, self.expired) == ["timed_out"]

        bank.start(self._asking)
        self.question = self.reader.wait(self._stream, QUESTION)  # of another session, and open
        bank.start()
        self.prompt = self.reader.wait(self._stream, PROMPT)
        assert not bank.ran

    def _asking(self, session: Session) -> None:
        session.clarify("Which account?").wait()
        assert self._done.wait(LONG)

    def send(self, **changes: Any) -> Answer:
        return self.reader.send(self.prompt, **changes)

    def nothing_happened_and_the_genuine_replies_still_count(self) -> None:
        # A tool may take a moment to begin; but what is asked of somebody who joins now has not been decided.
        late = self.bank.reader(**ANSWERS)
        with late.connect() as joined:
            late.take(joined, lambda _: self.prompt in late.got and self.question in late.got)
        assert not self.bank.ran
        assert self.send() == self.right
        self.reader.wait(self._stream, *ENDS)
        assert outcomes(self.reader.got, self.prompt) == ["accepted"]
        assert outcomes(self.reader.got, self.question) == []
        assert self.bank.ran == ["$500"]
        answer = {"type": "clarification.reply", "reply_token": self.question["reply_token"], "response": "Savings"}
        assert self.reader.ask(**answer, timestamp=stamp()) == self.right
        self.reader.take(self._stream, lambda event: bool(outcomes([event], self.question)))
        assert outcomes(self.reader.got, self.question) == ["answered"]
        self._done.set()
        self.bank.finish()
        for _ in range(4):
            self.deaf.wait(self._idle, *ENDS)
        assert self.reader.errors() == self.deaf.errors() == []


@pytest.fixture
def scene(wire: Wire) -> Iterator[Scene]:
    clock = Clock()
    with (
        Producer("bank", listen=wire.listen, journal=None, runtime=Runtime(clock=clock)) as producer,
        ExitStack() as stack,
    ):
        yield Scene(Bank(wire, producer), clock, stack)


async def _tick(producer: Producer) -> None:
    producer.hub.run_due_timers()


def _another_kind(scene: Scene) -> Answer:
    message = {"type": "clarification.reply", "reply_token": scene.prompt["reply_token"], "response": "yes"}
    return scene.reader.ask(**message, timestamp=stamp())


WELL_FORMED: dict[str, Callable[[Scene], Answer]] = {
    "forged token": lambda scene: scene.send(reply_token="rpl_" + "0" * 32),
    "token with one character changed": lambda scene: scene.send(
        reply_token=scene.prompt["reply_token"][:-1] + ("0" if scene.prompt["reply_token"][-1] != "0" else "1")
    ),
    "replayed token": lambda scene: scene.reader.send(scene.used),
    "expired token": lambda scene: scene.reader.send(scene.expired),
    "dated after the deadline": lambda scene: scene.send(timestamp="2099-01-01T00:00:00.000Z"),
    "answer to a question instead of a yes": _another_kind,
    "yes to a question": lambda scene: scene.reader.send(scene.question),
    "token of another session": lambda scene: scene.send(reply_token=scene.question["reply_token"]),
    "subscription that never was": lambda scene: scene.send(subscription_id="sub_" + "0" * 32),
    "subscription that has ended": lambda scene: scene.left.send(scene.prompt),
    "subscription that may not answer": lambda scene: scene.deaf.send(scene.prompt),
}


@pytest.mark.parametrize("case", WELL_FORMED)
def test_a_wrong_reply_runs_nothing_and_is_answered_like_a_right_one(scene: Scene, case: str) -> None:
    assert WELL_FORMED[case](scene) == scene.right
    scene.nothing_happened_and_the_genuine_replies_still_count()


MALFORMED: dict[str, Json | bytes] = {
    "accept with a member nobody knows": {"on_condition": "only if it rains"},
    "time that is none": {"timestamp": "yesterday"},
    "time without a zone": {"timestamp": "2026-05-24T14:22:11"},
    "no decision": {"decision": None},
    "another decision": {"decision": "maybe"},
    "decision that is no text": {"decision": True},
    "token that is none": {"reply_token": "rpl_\n"},
    "token as a list": {"reply_token": ["rpl_1"]},
    "another type": {"type": "confirmation.replies"},
    "no JSON": b"{",
    "no object": b'["accept"]',
    "nothing": b"",
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_reply_runs_nothing_and_is_answered_like_every_other_one(scene: Scene, case: str) -> None:
    wrong = MALFORMED[case]
    answer = scene.bank.wire.send(scene.bank.url, wrong) if isinstance(wrong, bytes) else scene.send(**wrong)
    assert answer == scene.bank.wire.send(scene.bank.url, b"not even JSON")
    # Nor does it tell whether a token is a real one.
    if isinstance(wrong, dict) and "reply_token" not in wrong:
        assert answer == scene.send(**{"reply_token": "rpl_" + "0" * 32, **wrong})
    scene.nothing_happened_and_the_genuine_replies_still_count()


def test_cf_020_a_no_with_a_member_nobody_knows_counts_and_a_yes_does_not(bank: Bank) -> None:
    reader = bank.reader(**ANSWERS)
    with reader.connect() as stream:
        bank.start()
        prompt = reader.wait(stream, PROMPT)
        reader.send(prompt, "accept", mood="cheerful")
        reader.send(prompt, "reject", mood="cheerful")
        reader.wait(stream, *ENDS)
    bank.finish()
    assert not bank.ran
    assert outcomes(reader.got, prompt) == ["rejected"]


def test_cf_019_a_yes_to_something_else_is_a_no(bank: Bank) -> None:
    reader = bank.reader(**ANSWERS)
    with reader.connect() as stream:
        bank.start()
        prompt = reader.wait(stream, PROMPT)
        reader.send(prompt, "accept", modified_action={"amount": "$5"})
        reader.wait(stream, *ENDS)
    bank.finish()
    assert not bank.ran
    assert outcomes(reader.got, prompt) == ["rejected"]


def test_one_yes_is_for_one_call_and_cannot_be_used_for_the_next(bank: Bank) -> None:
    def script(session: Session) -> None:
        bank.transfer("$1")
        bank.transfer("$2")

    reader = bank.reader(**ANSWERS)
    with reader.connect() as stream:
        bank.start(script)
        first = reader.wait(stream, PROMPT)
        yes = json.loads(reply(first, reader.id))
        reader.ask(**yes)
        second = reader.wait(stream, PROMPT)
        for _ in range(5):
            reader.ask(**yes)
        assert bank.ran == ["$1"]
        reader.send(second, "reject")
        reader.wait(stream, *ENDS)
    bank.finish()
    assert bank.ran == ["$1"]
    assert outcomes(reader.got, first) == ["accepted"] and outcomes(reader.got, second) == ["rejected"]
    assert kinds(reader.got).count("tool.invoked") == 1
    assert reader.errors() == []
