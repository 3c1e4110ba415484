"""What a tool promises: nobody agrees to what they could not hear, and nothing runs but what was agreed to."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import io
import itertools
import math
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import msgspec
import pytest

from aaep.errors import LocalProtocolError
from aaep.identity.credentials import Credentials
from aaep.identity.peer import Peer
from aaep.presentation.announce import announce
from aaep.presentation.queue import Queue, Speak
from aaep.producer.producer import Producer, Runtime
from aaep.producer.session import CURRENT_SESSIONS
from aaep.protocol import codec
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation, ToolCompleted, ToolInvoked
from aaep.testing import Listener


@pytest.fixture
def producer() -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None) as one:
        yield one


class Order:
    """Something of which nobody can say what it holds."""

    def __init__(self, amount: int) -> None:
        self.amount = amount


class Colour(Enum):
    RED = 1


@dataclasses.dataclass
class Transfer:
    amount: Decimal
    to: str


class Booking(msgspec.Struct):
    day: date
    seats: list[int]


# -- what is heard -----------------------------------------------------------------------------------------------------


def test_a_tool_that_says_nothing_of_itself_is_asked_about_with_its_docstring() -> None:
    with Producer("mail", name="Mail", journal=None) as producer:

        @producer.tool
        def send_email(to: str) -> str:
            """
            Send an email.

            It goes out at once.
            """
            return "sent"

        listener = Listener(producer, answer="reject")
        with producer.session("Working.") as session:
            session.write(send_email("bob"))  # a refusal is not read out: it was heard
            with session.output() as output:
                output.write(send_email("ada"))
        listener.wait_for_end()
    unstated = "If you accept: Nobody stated what this changes. Take it as final."
    assert listener.heard[1:-1] == [
        f"Confirm. Send an email. With to: bob. {unstated} Refused after 5 minutes without an answer.",
        "Refused.",
        "Confirm. Send an email. With to: ada. Effect not stated. High risk, cannot be undone. "
        "Refused after 5 minutes.",
        "Refused.",
    ]
    assert listener.heard[-1].startswith("Ended. Send an email was not done.")


def asked(producer: Producer, call: Callable[[], object]) -> AwaitingConfirmation:
    """The question that a call brings about; it is refused."""
    listener = Listener(producer, "reject")
    with producer.session("Working."):
        call()
    prompt = listener.prompts[0]
    assert isinstance(prompt, AwaitingConfirmation)
    return prompt


@pytest.mark.parametrize("action", ["Run {command}.", None])
def test_cf_019_a_question_holds_all_of_a_long_argument(producer: Producer, action: str | None) -> None:
    @producer.tool(action=action)
    def run(command: object) -> None:
        raise AssertionError("it ran")

    command = "ls " + "-l " * 3000 + "; rm -rf ~"
    assert command in asked(producer, lambda: run(command)).action
    files = [f"/tmp/{number}" for number in range(400)]
    assert "/tmp/399" in asked(producer, lambda: run({"all": {"of": files}})).action


def test_c_22_the_end_of_a_long_argument_is_heard_before_it_can_be_accepted(producer: Producer) -> None:
    @producer.tool(action="Run {command}.")
    def run(command: str) -> None:
        raise AssertionError("it ran")

    prompt = asked(producer, lambda: run("ls " + "-l " * 500 + "; rm -rf ~"))
    said = announce(prompt)
    assert said is not None and "rm -rf" not in said.text and "a" not in dict(said.keys)
    queue = Queue()
    queue.push(said, 0.0)
    [spoken] = [one for one in queue.speak_detail(1.0) if isinstance(one, Speak)]
    assert "; rm -rf ~" in spoken.text and "a" in dict(spoken.announcement.keys)


def test_cf_019_what_is_too_long_to_be_heard_whole_is_not_asked(producer: Producer) -> None:
    @producer.tool(action="Run {command}.")
    def run(command: str) -> None:
        raise AssertionError("it ran")

    @producer.tool
    def plain(command: str) -> None:
        raise AssertionError("it ran")

    listener = Listener(producer, "accept")
    long = "é" * 9000  # few enough characters, too many bytes
    with producer.session("Working.") as session:
        for call in (run, plain):
            with pytest.raises(LocalProtocolError, match="shorter argument"):
                call(long)
        for text in ((long, "It is."), ("Do it.", long)):
            with pytest.raises(LocalProtocolError, match="fewer words"):
                session.confirm(*text)
        with pytest.raises(LocalProtocolError, match="question is too long"):
            session.clarify(long)
        with pytest.raises(LocalProtocolError, match="choice is too long"):
            session.clarify("Which?", choices=["a", "b" * 257])
    listener.wait_for_end()
    assert not listener.prompts and listener.findings() == []


def test_the_longest_question_there_can_be_is_asked_and_its_outcome_told(producer: Producer) -> None:
    listener = Listener(producer, lambda one: "reject" if isinstance(one, AwaitingConfirmation) else "x")
    with producer.session("Working.") as session:
        assert session.confirm("a " * 8192, "b " * 8192).wait(30).outcome == "rejected"
        assert session.clarify("c " * 8192).wait(30).response == "x"
    listener.wait_for_end()
    asked, question = listener.prompts
    assert isinstance(asked, AwaitingConfirmation) and isinstance(question, AwaitingClarification)
    assert (len(asked.action), len(asked.consequence), len(question.question)) == (16_384,) * 3
    assert str(asked.summary_normal).endswith("a…")
    assert listener.findings() == []


@pytest.mark.parametrize("action", ["Pay {order}.", None])
@pytest.mark.parametrize("order", [Order(5), [Order(5)], {"a": Order(5)}, object(), print])
def test_an_object_that_cannot_be_told_is_not_asked_about(
    producer: Producer, action: str | None, order: object
) -> None:
    @producer.tool(action=action)
    def pay(order: object) -> None:
        raise AssertionError("it ran")

    listener = Listener(producer, "accept")
    with producer.session("Working."), pytest.raises(LocalProtocolError, match=r"What order holds .* `action`"):
        pay(order)
    listener.wait_for_end()
    assert not listener.prompts


def test_a_value_that_holds_itself_is_not_asked_about(producer: Producer) -> None:
    @producer.tool
    def pay(order: object) -> None:
        raise AssertionError("it ran")

    endless: list[Any] = []
    endless.append(endless)
    with producer.session("Working."), pytest.raises(LocalProtocolError, match="cannot be read out"):
        pay(endless)


def test_an_author_s_text_can_tell_what_an_object_holds(producer: Producer) -> None:
    @producer.tool(action="Pay {order.amount} for {rows[0]}, {rows[0].real:>4} and {user.to}.")
    def pay(order: Order, rows: list[int], user: Transfer) -> None:
        raise AssertionError("it ran")

    prompt = asked(producer, lambda: pay(Order(5), [7], Transfer(Decimal(1), "eve")))
    assert prompt.action == "Pay 5 for 7,    7 and eve."
    with producer.session("Working."), pytest.raises(LocalProtocolError, match="names of its parameters"):
        pay(Order(5), [], Transfer(Decimal(1), "eve"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (PurePosixPath("/etc/passwd"), "/etc/passwd"),
        (Decimal("12.50"), "12.50"),
        (date(2026, 11, 15), "2026-11-15"),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (Colour.RED, "RED"),
        (Transfer(Decimal("12.50"), "eve"), "2 parts: amount: 12.50; to: eve"),
        (Booking(date(2026, 11, 15), [1, 2]), "2 parts: day: 2026-11-15; seats: 2 items: 1, 2"),
        ({Colour.RED: None}, "1 entry: RED: nothing"),
    ],
)
def test_what_usual_values_hold_is_told(producer: Producer, value: object, said: str) -> None:
    @producer.tool
    def use(it: object) -> None:
        raise AssertionError("it ran")

    assert asked(producer, lambda: use(value)).action == f"Use use. With it: {said}."


def test_a_record_with_more_than_its_fields_cannot_be_told(producer: Producer) -> None:
    @producer.tool
    def use(it: object) -> None:
        raise AssertionError("it ran")

    value = Transfer(Decimal(1), "eve")
    value.more = "unheard"  # type: ignore[attr-defined]  # anything can be set on it
    with producer.session("Working."), pytest.raises(LocalProtocolError, match="cannot be read out"):
        use(value)


def test_cf_019_a_parameter_is_told_whatever_it_is_called(producer: Producer) -> None:
    @producer.tool
    def book(to: str, cls: str = "second", *, self: int = 1) -> None: ...

    assert "to: Paris; cls: first; self: 4." in asked(producer, lambda: book("Paris", cls="first", self=4)).action


@pytest.mark.parametrize(
    ("action", "value", "said"),
    [
        ("Pay {it:.2f} euros.", 3.456, "Pay 3.46 euros."),
        ("Pay {it:,} euros.", Decimal("1234.5"), "Pay 1,234.5 euros."),
        ("Book {it:%d %B}.", date(2026, 3, 1), "Book 01 March."),
        ("Pay {it.amount:.1f} euros.", Transfer(Decimal("2.25"), "Eve"), "Pay 2.2 euros."),
        ("Paint it {it:>5}.", Colour.RED, "Paint it   RED."),
    ],
)
def test_an_author_s_text_can_say_how_a_number_or_a_day_is_written(
    producer: Producer, action: str, value: object, said: str
) -> None:
    @producer.tool(action=action)
    def act(it: object) -> None: ...

    assert asked(producer, lambda: act(value)).action == said


def test_a_secret_stays_one_however_it_is_to_be_written(producer: Producer) -> None:
    @producer.tool(action="Use {token:d}.")
    def act(token: int) -> None: ...

    with producer.session("Working."), pytest.raises(LocalProtocolError, match="a secret, which is not read out"):
        act(123456)


def test_what_cannot_be_announced_is_not_asked_about(producer: Producer) -> None:
    @producer.tool(summary="Paying {amount.whole}.")
    def pay(amount: int) -> None: ...

    listener = Listener(producer, "accept")
    with producer.session("Working."), pytest.raises(LocalProtocolError, match="cannot be filled in"):
        pay(7)
    listener.wait_for_end()
    assert listener.prompts == []


def test_an_announcement_may_be_short(producer: Producer) -> None:
    @producer.tool(risk="low", summary="Looking at {order}.")
    def look(order: object) -> str:
        return "seen"

    endless: list[Any] = []
    endless.append(endless)
    with producer.session("Working."):
        for order in (Order(5), "x" * 100_000, endless):
            assert look(order) == "seen"


# -- whose session it is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["ended", "left", "left in a task", "inherited"])
def test_who_had_a_session_is_not_asked_for_in_another_s(producer: Producer, way: str) -> None:
    ran: list[str] = []

    @producer.tool
    def transfer(whose: str) -> None:
        ran.append(whose)

    def bob() -> None:
        with producer.session("Bob's work.") as session:
            inherited = contextvars.copy_context()
            if way == "ended":
                session.cancel(by="user")
                transfer("Bob's")
        if way == "inherited":
            inherited.run(transfer, "Bob's")
        elif way == "left in a task":
            session = producer.session("Bob's work.")
            contextvars.copy_context().run(session.start)
            session.__exit__(None, None, None)
        transfer("Bob's")

    listener = Listener(producer, "accept")
    with producer.session("Alice's work."), ThreadPoolExecutor(1) as pool:
        with pytest.raises(LocalProtocolError, match="is over"):
            pool.submit(bob).result(30)
        transfer("Alice's")
    assert ran == ["Alice's"] and len(listener.prompts) == 1


def test_an_inner_session_gives_way_to_the_outer_one(producer: Producer) -> None:
    @producer.tool(risk="low")
    def look() -> None: ...

    listener = Listener(producer)
    with producer.session("Outer.") as outer:
        with producer.session("Inner.") as inner:
            look()
        look()
    listener.expect("session.completed", "session.completed")
    invoked = [event.session_id for event in listener.events if event.type.endswith("tool.invoked")]
    assert invoked == [inner.session_id, outer.session_id]


@pytest.mark.parametrize("others", [1, 2])
def test_the_session_of_another_producer_hides_none(producer: Producer, others: int) -> None:
    @producer.tool(risk="low")
    def look() -> None: ...

    listener = Listener(producer)
    for _ in range(others):  # of other users, elsewhere
        contextvars.Context().run(producer.session("Another's.").start)
    with Producer("second", journal=None) as second:
        with producer.session("Mine.") as mine, second.session("Helping."):
            look()
        for _ in range(2):
            with second.session("Helping."), pytest.raises(LocalProtocolError, match="is over"):
                look()
    with Producer("third", journal=None) as third, third.session("Helping."):
        assert len(CURRENT_SESSIONS.get()) == 2  # what is over and closed is not kept
    listener.wait(lambda one: one.session_id == mine.session_id and one.type.endswith("session.completed"))
    assert [one.session_id for one in listener.events if isinstance(one, ToolInvoked)] == [mine.session_id]


# -- after the end -----------------------------------------------------------------------------------------------------


class Thing:
    """Something that can be called, and of which nobody sees what it will give."""

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made

    def __call__(self) -> Any:
        return self._made()


def later(kind: str, ran: list[str]) -> Any:
    """A function, or a callable object, of which a part runs when it is called and a part later."""

    def generator() -> Iterator[int]:
        ran.append("first")
        yield 1
        ran.append("second")
        yield 2

    async def flow() -> AsyncIterator[int]:
        ran.append("first")
        yield 1
        ran.append("second")
        yield 2

    async def coroutine() -> int:
        ran.append("first")
        return 1

    functions: dict[str, Any] = {"generator": generator, "flow": flow, "coroutine": coroutine}
    made = functions[kind.rsplit(maxsplit=1)[-1]]
    return Thing(made) if "object" in kind else made


@pytest.mark.parametrize("kind", ["generator", "object's generator", "flow", "object's flow"])
@pytest.mark.parametrize("taken", [0, 1])
def test_cf_027_no_step_is_taken_after_the_session_s_end(producer: Producer, kind: str, taken: int) -> None:
    ran: list[str] = []
    tool = producer.tool(name="steps", action="Take steps.")(later(kind, ran))
    listener = Listener(producer, "accept")

    async def run() -> None:
        with producer.session("Working.") as session:
            steps = await asyncio.to_thread(tool)

            async def step() -> Any:
                return await anext(steps) if "flow" in kind else await asyncio.to_thread(next, steps)

            for _ in range(taken):
                await step()
            session.cancel(by="user")
        with pytest.raises(LocalProtocolError, match="is over"):
            await step()

    asyncio.run(run())
    listener.wait_for_end()
    assert ran == ["first"][:taken] and listener.findings() == []


def test_cf_027_what_is_awaited_after_the_session_s_end_does_not_begin(producer: Producer) -> None:
    ran: list[str] = []
    tool = producer.tool(name="steps", action="Take steps.")(later("object's coroutine", ran))
    listener = Listener(producer, "accept")

    async def run() -> None:
        with producer.session("Working.") as session:
            coroutine = await asyncio.to_thread(tool)
            session.cancel(by="user")
        with pytest.raises(LocalProtocolError, match="is over"):
            await coroutine
        async with producer.session("Working."):
            assert await (await asyncio.to_thread(tool)) == 1

    asyncio.run(run())
    assert ran == ["first"]
    assert listener.findings() == []


def test_what_already_runs_by_itself_is_waited_for(producer: Producer) -> None:
    @producer.tool(risk="low")
    def spawn() -> asyncio.Task[str]:
        return asyncio.create_task(asyncio.sleep(0, "done"))  # any task will do

    async def run() -> str:
        with producer.session("Working."):
            given = spawn()
        return await given

    assert asyncio.run(run()) == "done"


@pytest.mark.parametrize(("error", "status"), [(None, "success"), (OSError(), "error"), ("cancelled", "error")])
def test_what_a_thread_does_for_a_tool_is_part_of_its_call(producer: Producer, error: Any, status: str) -> None:
    given: Future[str] = Future()

    @producer.tool(risk="low")
    def begin() -> Future[str]:
        return given

    listener = Listener(producer)
    with producer.session("Working.") as session:
        assert begin() is given
        before = bool(session._activity.calls)
        if error is None:
            given.set_result("done")
        elif error == "cancelled":
            given.cancel()
        else:
            given.set_exception(error)
        assert (before, bool(session._activity.calls)) == (True, False)
    listener.wait_for_end()
    assert [one.status for one in listener.events if isinstance(one, ToolCompleted)] == [status]
    assert listener.findings() == []


@pytest.mark.parametrize("lazy", [map, filter])
def test_cf_027_what_is_done_one_by_one_is_not_done_after_the_session_s_end(producer: Producer, lazy: Any) -> None:
    ran: list[int] = []

    def done(disk: int) -> bool:
        ran.append(disk)
        return True

    @producer.tool
    def wipe(disks: tuple[int, ...]) -> Iterator[bool]:
        return lazy(done, disks)  # type: ignore[no-any-return]  # one of two that are iterators

    Listener(producer, "accept")
    with producer.session("Working."):
        disks = wipe((1, 2))
        next(disks)
    with pytest.raises(LocalProtocolError, match="is over"):
        next(disks)
    assert ran == [1]


@pytest.mark.parametrize("kind", ["function", "object"])
def test_a_generator_can_be_talked_to_and_closed(producer: Producer, kind: str) -> None:
    """As ``yield from`` does it."""
    heard: list[object] = []

    def talk() -> Generator[int, object, str]:
        try:
            heard.append((yield 1))
            try:
                yield 2
            except KeyError:
                heard.append("thrown")
            yield 3
        finally:
            heard.append("closed")
        return "end"

    tool = producer.tool(risk="low", name="talk")(talk if kind == "function" else Thing(talk))
    listener = Listener(producer)
    with producer.session("Working."):
        given = tool()
        assert (next(given), given.send("hello"), given.throw(KeyError())) == (1, 2, 3)
        with pytest.raises(StopIteration) as done:
            next(given)
        assert done.value.value == "end" and heard == ["hello", "thrown", "closed"]
        given = tool()
        next(given)
        given.close()
        assert heard[3:] == ["closed"]
        given = tool()
        next(given)
        with pytest.raises(OSError, match="no"):
            given.throw(OSError("no"))
    listener.expect("session.completed")
    ended = [event.status for event in listener.events if isinstance(event, ToolCompleted)]
    assert ended == ["success", "success", "error"] and listener.findings() == []


def test_a_flow_that_is_left_early_is_closed_before_its_call_ends(producer: Producer) -> None:
    heard: list[str] = []
    listener = Listener(producer)

    @producer.tool(risk="low")
    async def talk() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            heard.append("closed")

    async def run() -> None:
        async with producer.session("Working."):
            assert [one async for one in talk()] == [1, 2]
            given = talk()
            assert await anext(given) == 1
            await given.aclose()  # type: ignore[attr-defined]  # it is a generator still
            assert heard == ["closed", "closed"]

    asyncio.run(run())
    listener.wait_for_end()
    ended = [event.status for event in listener.events if isinstance(event, ToolCompleted)]
    assert ended == ["success", "success"] and listener.findings() == []


# -- what runs is what was heard ---------------------------------------------------------------------------------------


class Slotted:
    __slots__ = ("amount",)

    def __init__(self, amount: object) -> None:
        self.amount = amount


class Rows(list[int]):
    """A list with something more."""

    limit = 5


def _amount(it: Any) -> None:
    it.amount = 5000


def _inside(it: Any) -> None:
    it.amount[0].amount = 5000


def _limit(it: Any) -> None:
    it.limit = 7


CHANGES: dict[str, tuple[Callable[[], object], Callable[[Any], object]]] = {
    "an object": (lambda: Order(5), _amount),
    "an object with slots": (lambda: Slotted(5), _amount),
    "an object in an object": (lambda: Slotted([Order(5)]), _inside),
    "a dataclass": (lambda: Transfer(Decimal(1), "eve"), _amount),
    "a list": (lambda: [1, 2], lambda it: it.append(3)),
    "a long list": (lambda: [*range(5000)], lambda it: it.insert(4000, -1)),
    "a list of its own kind": (lambda: Rows([1]), _limit),
    "a set": (lambda: {1, "a"}, lambda it: it.add(2)),
    "a deque": (lambda: deque([1]), lambda it: it.append(2)),
    "something to read": (lambda: io.StringIO("x"), lambda it: it.write("y")),
    "a method": (lambda: Order(5).__init__, lambda it: _amount(it.__self__)),  # type: ignore[misc]  # any method does
    "what becomes incomparable": (lambda: [1], lambda it: it.append(threading.Lock())),
}


@pytest.mark.parametrize("change", [True, False])
@pytest.mark.parametrize("name", CHANGES)
def test_cf_019_what_changes_while_the_user_is_asked_does_not_run(producer: Producer, name: str, change: bool) -> None:
    make, alter = CHANGES[name]
    it, ran = make(), []

    @producer.tool(action="Use it.", on_refusal="raise")
    def use(it: object) -> None:
        ran.append(it)

    def answer(_: object) -> str:
        if change:
            alter(it)
        return "accept"

    Listener(producer, answer)
    if change:
        with pytest.raises(LocalProtocolError, match="changed"), producer.session("Working."):
            use(it)
    else:
        with producer.session("Working."):
            use(it)
    assert len(ran) == (not change)


async def _run_all(result: Any) -> list[Any]:
    return [item async for item in result]


async def _pay_later(payees: list[str], paid: list[str]) -> None:
    paid.extend(payees)


def _pay_each(payees: list[str], paid: list[str]) -> Iterator[None]:
    for payee in payees:
        paid.append(payee)
        yield


async def _pay_each_later(payees: list[str], paid: list[str]) -> AsyncIterator[None]:
    for payee in payees:
        paid.append(payee)
        yield


# What a plain function may give back that does its work later, and how that is brought about.
LATER: dict[str, tuple[Callable[[list[str], list[str]], Any], Callable[[Any], Any]]] = {
    "a coroutine": (_pay_later, asyncio.run),
    "a generator": (_pay_each, list),
    "an asynchronous generator": (
        _pay_each_later,
        lambda result: asyncio.run(_run_all(result)),
    ),
    "a map": (lambda payees, paid: map(paid.append, payees), list),
    "a chain": (lambda payees, paid: itertools.chain(map(paid.append, payees)), list),
}


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("is_changed", [False, True])
def test_cf_019_what_is_done_later_is_done_with_what_was_told(producer: Producer, name: str, is_changed: bool) -> None:
    paid: list[str] = []
    give_back, bring_about = LATER[name]

    @producer.tool(action="Pay {payees}.", consequence="The money moves.")
    def pay(payees: list[str]) -> Any:
        payees.sort()  # its own changes do not count
        return give_back(payees, paid)

    listener = Listener(producer, "accept")
    payees = ["eve", "ada"]
    with producer.session("Paying."):
        result = pay(payees)
        if is_changed:
            payees[0] = "mallory"
            with pytest.raises(LocalProtocolError, match="changed after the user was asked, so it did not run"):
                bring_about(result)
        else:
            bring_about(result)
    listener.wait_for_end()
    assert paid == ([] if is_changed else ["ada", "eve"])
    said = ["Pay 2 items: eve, ada was not done.", "Ended. Pay 2 items: eve, ada was not done."]
    assert [line for line in listener.heard if "not done" in line] == (said if is_changed else [])


@pytest.mark.parametrize("kind", ["plain", "coroutine", "generator", "asynchronous generator"])
def test_cf_019_what_is_changed_while_the_call_is_announced_does_not_run(kind: str) -> None:
    paid: list[str] = []
    payees = ["ada"]

    def tell(line: str) -> None:
        if line == "Paying.":  # the last that is told before the tool runs
            payees[0] = "mallory"

    with Producer("bank", journal=None, tell=tell) as producer:
        ask = producer.tool(action="Pay {payees}.", consequence="The money moves.", summary="Paying.")

        @ask
        def plain(payees: list[str]) -> None:
            paid.extend(payees)

        @ask
        async def coroutine(payees: list[str]) -> None:
            paid.extend(payees)

        @ask
        def generator(payees: list[str]) -> Iterator[None]:
            paid.extend(payees)
            yield

        @ask
        async def asynchronous(payees: list[str]) -> AsyncIterator[None]:
            paid.extend(payees)
            yield

        run: dict[str, Callable[[], object]] = {
            "plain": lambda: plain(payees),
            "coroutine": lambda: asyncio.run(coroutine(payees)),
            "generator": lambda: [*generator(payees)],
            "asynchronous generator": lambda: asyncio.run(_run_all(asynchronous(payees))),
        }
        listener = Listener(producer, "accept")
        with producer.session("Paying a bill."), pytest.raises(LocalProtocolError, match="so it did not run"):
            run[kind]()
        listener.wait_for_end()
        assert paid == []
        assert "Pay 1 item: ada was not done." in listener.heard
        assert listener.heard[-1] == "Ended. Pay 1 item: ada was not done."
        assert listener.findings() == []


def test_what_holds_itself_or_cannot_change_is_the_same(producer: Producer) -> None:
    @producer.tool(action="Use it.", on_refusal="raise")
    def use(*it: object, **more: object) -> int:
        return len(it)

    endless: dict[str, Any] = {"nan": math.nan}
    endless["again"] = [endless, {endless["nan"]}]
    Listener(producer, "accept")
    with producer.session("Working."):
        assert use(endless, True, None, Colour.RED, re.compile("x"), print, Order, math, UUID(int=5), more=1j) == 9


@pytest.mark.parametrize("make", [threading.Lock, lambda: (one for one in [1]), lambda: [{1: threading.Lock()}]])
def test_what_cannot_be_compared_is_not_asked_about(producer: Producer, make: Callable[[], object]) -> None:
    @producer.tool(action="Use it.")
    def use(it: object) -> None:
        raise AssertionError("it ran")

    listener = Listener(producer, "accept")
    with producer.session("Working."), pytest.raises(LocalProtocolError, match="Whether it stays as it is"):
        use(make())
    listener.wait_for_end()
    assert not listener.prompts


def test_what_nobody_is_asked_about_may_be_anything(producer: Producer) -> None:
    @producer.tool(risk="low")
    def use(it: object) -> str:
        return "used"

    with producer.session("Working."):
        assert use(threading.Lock()) == "used"


# -- inside tell -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["tool", "question", "call"])
def test_who_is_told_something_cannot_wait_for_an_answer(way: str) -> None:
    """The session is held while it is told, so the answer could not be taken."""
    caught: list[LocalProtocolError] = []

    def tell(_: str) -> None:
        if caught:
            return
        try:
            if way == "tool":
                transfer()
            elif way == "question":
                session.confirm("Transfer.", "Money moves.").wait()
            else:
                session.clarify("Which?")
                with session.tool("look", risk="low"):
                    raise AssertionError("it ran")
        except LocalProtocolError as error:
            caught.append(error)

    with Producer("bank", journal=None, tell=tell) as producer:

        @producer.tool
        def transfer() -> None:
            raise AssertionError("it ran")

        listener = Listener(producer, "accept")
        session = producer.session("Working.")
        session.start()
        assert "inside `tell`" in str(caught[0])
        assert way != "tool" or not listener.prompts
        assert session._activity.questions.current is None or way == "call"
        session.complete()


def test_who_is_told_something_may_do_what_needs_no_answer() -> None:
    heard: list[str] = []

    def tell(text: str) -> None:
        heard.append(look() if text == "Started. Working." else text)

    with Producer("bank", journal=None, tell=tell) as producer:

        @producer.tool(risk="low")
        def look() -> str:
            return "seen"

        with producer.session("Working."):
            pass
    assert heard[0] == "seen" and heard[-1] == "Done."


def test_nobody_waits_on_the_loop_that_brings_the_answer() -> None:
    async def run() -> None:
        producer = Producer("bank", journal=None, runtime=Runtime(loop=asyncio.get_running_loop()))
        async with producer, producer.session("Working.") as session:
            ask = session.confirm("Look.", "Nothing.", risk="low", irreversible=False, default="accept")
            with pytest.raises(LocalProtocolError, match=r"event loop.*`await ask`"):
                ask.wait(30)
            assert (await ask).outcome == "withdrawn"

    asyncio.run(run())


@pytest.mark.parametrize("is_hub_here", [True, False], ids=["the hub's loop", "a loop beside the hub"])
@pytest.mark.parametrize("is_generator", [True, False], ids=["a generator", "a function"])
def test_a_plain_tool_that_asks_raises_on_every_event_loop(is_hub_here: bool, is_generator: bool) -> None:
    """Otherwise the loop stands still while the person thinks, and under a server everything else with it."""

    async def run() -> None:
        runtime = Runtime(loop=asyncio.get_running_loop() if is_hub_here else None)
        async with Producer("bank", journal=None, runtime=runtime) as producer:
            listener = Listener(producer, "accept")

            def pay() -> str:
                return "Paid."

            def pay_in_steps() -> Iterator[str]:
                yield "Paid."

            tool: Callable[[], Any] = producer.tool(name="pay")(pay_in_steps if is_generator else pay)
            call: Callable[[], Any] = (lambda: [*tool()]) if is_generator else tool
            async with producer.session("Working.") as session:
                with pytest.raises(LocalProtocolError, match=r"`async def pay`.*`await asyncio\.to_thread\(pay, …\)`"):
                    call()
                assert session.state != "awaiting_input"
                assert "".join(await asyncio.to_thread(call)) == "Paid."
        assert len(listener.prompts) == 1  # nobody was asked before it was known that the answer can be waited for

    asyncio.run(run())


def test_a_block_that_would_have_to_wait_raises_on_an_event_loop() -> None:
    async def run() -> None:
        async with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
            Listener(producer)
            ask = session.clarify("Which?")
            with pytest.raises(LocalProtocolError, match="`async with`"), session.tool("look", risk="low"):
                pass
            ask.withdraw()
            with session.tool("look", risk="low"):
                pass
            with pytest.raises(LocalProtocolError, match="`await`"):
                Producer("other", journal=None).reader().wait()

    asyncio.run(run())


# -- how a tool is declared ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["confirm", "irreversible"])
@pytest.mark.parametrize("value", ["yes", "no", "", 1, 0, 1.0, math])
def test_c_40_whether_somebody_is_asked_is_true_or_false(producer: Producer, name: str, value: Any) -> None:
    said: dict[str, Any] = {name: value}
    with pytest.raises(TypeError, match=f"^{name} is True or False, not "):
        producer.tool(name="send", risk="low", **said)(lambda: None)
    with producer.session("Working.") as session, pytest.raises(TypeError, match="True or False"):
        session.tool("send", risk="low", irreversible=value)


@pytest.mark.parametrize("text", ["Send {nam}.", "Send {}.", "Send {0}.", "Send {nam.first}.", "Send {name", "Send }."])
@pytest.mark.parametrize("member", ["action", "consequence", "summary"])
def test_a_text_that_cannot_be_filled_in_is_told_where_it_is_written(
    producer: Producer, member: str, text: str
) -> None:
    wrong: dict[str, Any] = {member: text}
    with pytest.raises(ValueError, match=re.escape(f"The text {text!r} of send cannot be filled in: ")):
        producer.tool(name="send", **wrong)(lambda name: None)
    right: dict[str, Any] = {member: "Send {name.first!s:>3} {{x}}."}
    producer.tool(name="send", **right)(lambda name: None)


# -- sessions in other threads ---------------------------------------------------------------------------------------


class Everybody:
    """Knows several people, whoever they are."""

    def authenticate(self, credentials: Credentials) -> Peer:
        return Peer("ada", credentials.transport)


def test_a_thread_without_a_session_gets_no_other_user_s() -> None:
    """A job of Ada's that begins when her session is over must not be asked of Bob, whose session is the only one."""
    ran = []
    with Producer("bank", journal=None, identity=Everybody()) as producer, ThreadPoolExecutor(1) as pool:

        @producer.tool(risk="low")
        def read(name: str) -> str:
            ran.append(name)
            return name

        with producer.session("For ada.", requested_by="user:ada") as session:
            late = session.wrap(read)
            assert pool.submit(session.run, read, "ada").result() == "ada"
        with producer.session("For bob.", requested_by="user:bob"):
            with pytest.raises(LocalProtocolError, match=r"Several users are served.*session\.run"):
                pool.submit(read, "ada, without a session").result()
            with pytest.raises(LocalProtocolError, match="is over"):
                pool.submit(late, "ada, too late").result()
    assert ran == ["ada"]


def test_a_session_is_taken_into_a_pool(producer: Producer) -> None:
    @producer.tool(risk="low")
    def where(name: str) -> str:
        return name

    @producer.tool(risk="low")
    async def later(name: str) -> str:
        return name

    other = producer.session("Another one.").start()
    with ThreadPoolExecutor(2) as pool, producer.session("This one.") as session:
        assert list(pool.map(session.wrap(where), "abc")) == ["a", "b", "c"]
        assert pool.submit(asyncio.run, session.run(later, "d")).result() == "d"
        assert session.wrap(where).__name__ == "where"
        with pytest.raises(LocalProtocolError, match="Several sessions are open"):
            pool.submit(where, "e").result()
    other.complete()
    entries = [codec.decode(entry.data) for entry in producer.hub.journal.read(limit=1000)]
    assert [event.session_id for event in entries if isinstance(event, ToolInvoked)] == [session.session_id] * 4
