"""Several agents at one terminal: named where needed, answered each by itself, and none disturbed by another."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
from typing import Any

import pytest

import aaep
from aaep.errors import AaepError, LocalProtocolError
from aaep.outputs.readers import Readers, choose_reader, find_lane
from aaep.outputs.sender import Sender
from aaep.outputs.stdin import LineInput
from aaep.protocol.events import Envelope, ProducerInfo
from aaep.protocol.messages import Capabilities
from aaep.runtime.background import Waitable
from aaep.subscriber.status import UNREADABLE, Status
from aaep.transports.base import ChannelLost
from tests.outputs.test_terminal import Script, Sitting
from tests.presentation.test_announce import event

ANSWERS = Capabilities(supports_confirmation_reply=True, supports_clarification_reply=True)


class Listened(Script):
    """A scripted agent that knows when somebody has begun to read it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = threading.Event()

    def __iter__(self) -> Iterator[Envelope]:
        self.is_read.set()
        return super().__iter__()


class Agents:
    """Scripted agents behind one set of readers, and what was told of them."""

    def __init__(self, *names: str, is_open: bool = False) -> None:
        self.told: SimpleQueue[Status] = SimpleQueue()
        self.readers = Readers(self.told.put, is_open=is_open)
        self.scripts: dict[str, Listened] = {}
        for name in names:
            self.add(name)
        self.arriving = iter(self.readers)
        assert all(script.is_read.wait(30) for script in self.scripts.values())

    def add(self, name: str) -> None:
        script = self.scripts[name] = Listened()
        self.readers.add(f"unix:{name}", script.connect)

    def connect(self, *names: str, terms: Capabilities = ANSWERS) -> None:
        for name in names:
            script = self.scripts[name]
            script.producer, script.terms = ProducerInfo(agent_id=name, agent_name=name.title()), terms
            script.tell(Status("connected", "Connected."))
            self.hear(f"Connected to {name.title()}.")

    def granted(self) -> Capabilities | None:
        return self.readers.terms

    def hear(self, text: str) -> Status:
        status = self.told.get(timeout=30)
        assert status.text == text
        return status

    def say(self, name: str, kind: str, **changes: Any) -> Envelope:
        spoken = event(kind, producer={"agent_id": name, "agent_name": name.title()}, **changes)
        self.scripts[name].events.put(spoken)
        return spoken


def test_a_reply_goes_to_the_agent_that_asked() -> None:
    agents = Agents("bank", "shop")
    agents.connect("bank", "shop")
    for name in ("bank", "shop"):
        agents.say(name, "awaiting.confirmation", reply_token=f"rpl_{name}", session_id=f"sess_{name}")
        prompt = next(agents.arriving)
        agents.readers.accept(prompt).wait(30)
        assert agents.scripts[name].sent.get(timeout=30) == ("accept", f"rpl_{name}")
        assert choose_reader(agents.readers, prompt) is agents.scripts[name]
        assert find_lane(agents.readers, prompt) == f"unix:{name}"
    agents.say("shop", "awaiting.clarification", reply_token="rpl_which", session_id="sess_shop")
    question = next(agents.arriving)
    agents.readers.answer(question, "x").wait(30)
    assert agents.scripts["shop"].sent.get(timeout=30) == ("answer", "rpl_which", "x")
    assert agents.scripts["bank"].sent.empty()
    agents.readers.close()


def test_more_time_is_asked_for_at_the_agent_that_asked_and_at_no_other() -> None:
    agents = Agents("bank", "shop")
    agents.connect("bank", "shop")
    agents.say("shop", "awaiting.confirmation", reply_token="rpl_shop")
    prompt = next(agents.arriving)
    choose_reader(agents.readers, prompt).renegotiate(minimum_timeout=600).wait(30)
    assert agents.scripts["shop"].sent.get(timeout=30) == ("renegotiate", {"minimum_timeout": 600})
    assert agents.scripts["bank"].sent.empty()
    agents.readers.close()


def test_a_reply_to_an_agent_that_is_gone_is_refused_with_a_reason() -> None:
    agents = Agents("bank", "shop")
    agents.connect("bank", "shop")
    agents.say("shop", "awaiting.confirmation", reply_token="rpl_shop")
    prompt = next(agents.arriving)
    agents.scripts["shop"].events.put(ChannelLost("It is gone."))
    agents.hear("The connection to Shop has ended for good. It is gone.")
    with pytest.raises(LocalProtocolError, match="not connected any more"):
        agents.readers.accept(prompt)
    agents.say("bank", "session.started", session_id="sess_bank")
    assert next(agents.arriving).producer.agent_id == "bank", "which goes on"
    agents.scripts["bank"].events.put(None)
    assert [*agents.arriving] == [], "and when it ends all have ended"


def test_no_agent_speaks_in_the_session_of_another_and_what_is_reached_twice_is_heard_once() -> None:
    agents = Agents("bank", "thief")
    agents.connect("bank", "thief")
    agents.say("bank", "session.started", session_id="sess_1")
    first = agents.say("bank", "awaiting.confirmation", session_id="sess_1", reply_token="rpl_1")
    assert [next(agents.arriving).type for _ in range(2)][1] == first.type
    agents.say("thief", "session.completed", session_id="sess_1")
    agents.say("thief", "awaiting.confirmation", session_id="sess_2", reply_token="rpl_1")
    agents.say("thief", "session.started", session_id="sess_3")
    assert next(agents.arriving).session_id == "sess_3"
    agents.readers.reject(first).wait(30)
    assert agents.scripts["bank"].sent.get(timeout=30) == ("reject", "rpl_1")
    assert agents.scripts["thief"].sent.empty()
    agents.readers.close()


def test_after_the_end_of_one_connection_its_session_is_heard_on_the_other() -> None:
    agents = Agents("hub", "bank")
    agents.connect("hub", "bank")
    agents.say("hub", "session.started", session_id="sess_1")
    next(agents.arriving)
    agents.scripts["hub"].events.put(ChannelLost("It is gone."))
    agents.hear("The connection to Hub has ended for good. It is gone.")
    agents.say("bank", "session.completed", session_id="sess_1")
    assert next(agents.arriving).producer.agent_id == "bank"
    agents.readers.close()


def test_each_connection_is_told_with_its_name_and_once() -> None:
    agents = Agents("bank", "shop")
    agents.scripts["bank"].tell(Status("waiting", "Nobody answers.", 0.5))
    agents.hear("Waiting for unix:bank. This goes on by itself.")
    agents.connect("bank", "shop")
    for name in ("bank", "shop", "bank", "shop"):
        agents.scripts[name].tell(Status("waiting", "The stream ended. Trying again in 0.4 seconds.", 0.4))
    for name in ("Bank", "Shop"):
        agents.hear(f"The connection to {name} is lost. The stream ended. Trying again in 0.4 seconds.")
    agents.scripts["shop"].tell(Status("resumed", "Connected again."))
    agents.hear("Connected to Shop again.")
    agents.scripts["bank"].tell(Status("gap", "Connected again. Something was missed meanwhile."))
    agents.hear("Connected to Bank again. Something was missed meanwhile.")
    agents.scripts["shop"].tell(UNREADABLE)
    assert agents.hear(f"This is about Shop. {UNREADABLE.text}").kind == "unread"
    agents.scripts["shop"].tell(Status("waiting", "Away.", 1.0, reason_code="producer_shutdown"))
    agents.hear("Shop has ended. Waiting. This goes on by itself.")
    agents.scripts["bank"].tell(Status("ended", "Bank has ended.", reason_code="producer_shutdown"))
    agents.hear("Bank has ended.")
    assert agents.told.empty()
    agents.readers.close()


def test_changed_terms_reach_every_agent_and_one_that_is_away_when_it_is_back() -> None:
    agents = Agents("bank", "shop", is_open=True)
    agents.connect("bank", "shop")
    agents.scripts["shop"].tell(Status("waiting", "Away.", 1.0))
    agents.hear("The connection to Shop is lost. Away.")
    agents.readers.renegotiate(verbosity="terse").wait(30)
    assert agents.scripts["bank"].sent.get(timeout=30) == ("renegotiate", {"verbosity": "terse"})
    assert agents.scripts["shop"].sent.empty()
    agents.scripts["shop"].tell(Status("resumed", "Connected again."))
    agents.hear("Connected to Shop again.")
    assert agents.scripts["shop"].sent.get(timeout=30) == ("renegotiate", {"verbosity": "terse"})
    agents.add("late")
    assert agents.scripts["late"].is_read.wait(30)
    agents.connect("late")
    assert agents.scripts["late"].sent.get(timeout=30) == ("renegotiate", {"verbosity": "terse"})
    for script in agents.scripts.values():
        script.broken.append(ChannelLost("It is gone."))
    with pytest.raises(AaepError, match=r"It is gone\."):
        agents.readers.renegotiate(verbosity="normal")
    agents.readers.close()


def test_answers_are_possible_as_long_as_any_agent_may_take_them() -> None:
    agents = Agents("bank", "shop")
    assert agents.granted() is None and agents.readers.producer is None
    agents.connect("bank", terms=Capabilities())
    agents.hear("Bank takes no answers from this reader.")
    assert agents.granted() is None, "the other one may"
    assert agents.readers.producer == agents.scripts["bank"].producer
    agents.connect("shop")
    assert agents.granted() == ANSWERS
    agents.readers.close()
    nobody = Agents("bank", "shop")
    for name in ("bank", "shop"):
        nobody.connect(name, terms=Capabilities())
        nobody.hear(f"{name.title()} takes no answers from this reader.")
    assert nobody.granted() == Capabilities()
    nobody.readers.close()


def test_the_error_of_the_last_one_is_raised_and_an_error_of_ours_at_once() -> None:
    agents = Agents("bank")
    agents.scripts["bank"].events.put(ChannelLost("Nobody answers."))
    with pytest.raises(ChannelLost, match="Nobody answers"):
        next(agents.arriving)
    agents = Agents("bank", "shop")
    agents.scripts["bank"].events.put(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        next(agents.arriving)
    agents.readers.close()


def test_closing_closes_all_and_also_those_that_connect_meanwhile() -> None:
    agents = Agents("bank", "shop", is_open=True)
    agents.readers.close()
    assert [*agents.arriving] == []
    assert all(script.closed.is_set() for script in agents.scripts.values())
    late = Script()
    agents.readers.add("unix:late", late.connect)
    assert not late.connected.is_set() and agents.readers.addresses <= {"unix:bank", "unix:shop"}


def test_an_agent_that_does_not_answer_holds_up_no_reply_to_another() -> None:
    called: SimpleQueue[Callable[[], None]] = SimpleQueue()
    sender = Sender(called.put, lambda error: None)
    thread = threading.Thread(target=sender.run, daemon=True)
    thread.start()
    sender.reader = Script()
    hanging: Waitable[Any] = Waitable()
    done: SimpleQueue[str] = SimpleQueue()
    sender.send(lambda reader: hanging, lambda value: done.put("slow"), done.put, lane="unix:slow")
    sender.send(lambda reader: reader.renegotiate(), lambda value: done.put("quick"), done.put, lane="unix:quick")
    called.get(timeout=30)()
    assert done.get() == "quick"
    hanging.set_result(None)
    called.get(timeout=30)()
    assert done.get() == "slow"
    sender.stop()
    thread.join(30)
    assert not thread.is_alive()


# -- at a terminal, with real agents -----------------------------------------------------------


@contextlib.contextmanager
def sitting_with(*urls: str) -> Iterator[Sitting]:
    """A terminal at a pipe that listens to agents, over their real addresses."""

    def subscribe(url: str, on_status: Callable[[Status], None]) -> aaep.Subscriber:
        return aaep.Subscriber(url, on_status=on_status)

    def connect(on_status: Callable[[Status], None]) -> Readers:
        readers = Readers(on_status)
        for url in urls:
            readers.add(url, partial(subscribe, url))
        return readers

    (inside, hands), (eyes, outside) = os.pipe(), os.pipe()
    sitting = Sitting(LineInput(inside), hands, eyes, os.fdopen(outside, "w"), connect=connect)
    try:
        with sitting:
            yield sitting
    finally:
        os.close(inside)


def test_two_agents_are_named_answered_and_end_each_for_itself(tmp_path: Any) -> None:
    def agent(name: str) -> aaep.Producer:
        return aaep.Producer(name.lower(), name=name, listen=f"unix://{tmp_path}/{name}.sock", journal=None)

    with sitting_with(*(f"unix://{tmp_path}/{name}.sock" for name in ("Bank", "Shop"))) as sitting:
        with agent("Bank") as bank:
            with agent("Shop") as shop:
                bank.reader().wait(30)
                shop.reader().wait(30)
                answer_both(sitting, bank, shop)
            sitting.see("Shop has ended.")
            with bank.session("Still here."):
                pass
            sitting.see("Still here.")
        sitting.see("Bank has ended.")
        assert sitting.ends() == 0, "when all have ended"


def answer_both(sitting: Sitting, bank: aaep.Producer, shop: aaep.Producer) -> None:
    with bank.session("Paying.") as paying, shop.session("Buying.") as buying:
        pay = paying.confirm("Pay 5 dollars.", "The money moves.", risk="low", reversibility="reversible")
        sitting.see("Bank")
        sitting.see("Confirm. Pay 5 dollars.")
        buy = buying.confirm("Buy a hat.", "It is sent.", risk="low", reversibility="reversible")
        sitting.see("Another question is waiting.")
        sitting.type("reject\n")
        assert pay.wait(30).outcome == "rejected"
        sitting.see("Shop")
        sitting.see("Confirm. Buy a hat.")
        sitting.type("accept\n")
        sitting.see("Not accepted yet.")
        sitting.type("yes\n")
        assert buy.wait(30).outcome == "accepted"
        with buying.tool("buy", risk="low", ask=buy):
            pass
