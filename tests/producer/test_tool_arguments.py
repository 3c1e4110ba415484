"""What is agreed to is told whole: bound arguments, objects, lines, and values that try to pass for other words."""

from __future__ import annotations

import functools
import operator
import pathlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any, NamedTuple

import attrs
import pydantic
import pytest

from aaep.errors import LocalProtocolError
from aaep.outputs.printer import LinePrinter
from aaep.presentation.announce import announce
from aaep.presentation.preferences import Preferences
from aaep.producer.producer import Producer
from aaep.protocol.events import AwaitingConfirmation
from aaep.testing import Listener


@pytest.fixture
def producer() -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None) as one:
        yield one


def asked(producer: Producer, call: Callable[[], object]) -> AwaitingConfirmation:
    """The question that a call brings about; it is refused."""
    listener = Listener(producer, "reject")
    with producer.session("Working."):
        call()
    listener.close()
    prompt = listener.prompts[0]
    assert isinstance(prompt, AwaitingConfirmation)
    return prompt


def spoken(prompt: AwaitingConfirmation, verbosity: Any = "normal") -> str:
    """The prompt as it is told, without what is said about the risk and the keys."""
    said = announce(prompt, Preferences(keys={}, verbosity=verbosity))
    assert said is not None
    return said.text.removeprefix("Confirm. ").partition(" If you accept:")[0]


# -- what is bound already ---------------------------------------------------------------------------------------------


def pay(amount: int, to: str, *notes: str, currency: str = "EUR") -> None:
    raise AssertionError("it ran")


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        (functools.partial(pay, 1000), "amount: 1000; to: ada; notes: empty list; currency: EUR"),
        (functools.partial(pay, 1000, currency="USD"), "amount: 1000; to: ada; notes: empty list; currency: USD"),
        (
            functools.partial(functools.partial(pay, 1000), currency="USD"),
            "amount: 1000; to: ada; notes: empty list; currency: USD",
        ),
    ],
)
def test_cf_019_what_a_partial_holds_is_told(producer: Producer, bound: Any, told: str) -> None:
    tool = producer.tool(bound)
    assert asked(producer, lambda: tool("ada")).action == f"Use pay. With {told}."
    worded = producer.tool(action="Pay {amount} {currency} to {to}.")(bound)
    assert asked(producer, lambda: worded("ada")).action.startswith("Pay 1000 ")


class Account:
    """Of which only its author can say what it is."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lock = threading.Lock()

    def wipe(self, how: str) -> None:
        raise AssertionError("it ran")

    def __call__(self, how: str) -> None:
        raise AssertionError("it ran")


class NamedAccount(Account):
    def __str__(self) -> str:
        return f"number {self.number}"


@dataclass
class PlainAccount:
    number: int

    def wipe(self, how: str) -> None:
        raise AssertionError("it ran")


class Stateless:
    def wipe(self, how: str) -> None:
        raise AssertionError("it ran")


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (NamedAccount(7).wipe, "Use wipe. With named account: “number 7”; how: all."),
        (NamedAccount(7), "Use named account. With named account: “number 7”; how: all."),
        (PlainAccount(7).wipe, "Use wipe. With plain account: 1 part: number: 7; how: all."),
        (functools.partial(PlainAccount(7).wipe), "Use wipe. With plain account: 1 part: number: 7; how: all."),
        (Stateless().wipe, "Use wipe. With how: all."),
    ],
)
def test_cf_019_what_a_bound_method_is_called_on_is_told(producer: Producer, method: Any, told: str) -> None:
    tool = producer.tool(method)
    assert asked(producer, lambda: tool("all")).action == told


@pytest.mark.parametrize("method", [Account(7).wipe, Account(7), functools.partial(Account(7).wipe, "all")])
def test_cf_019_a_method_of_which_nobody_could_know_the_object_is_no_tool(producer: Producer, method: Any) -> None:
    with pytest.raises(ValueError, match=r"`action` that says it, such as .*{self\.name}"):
        producer.tool(method)
    with pytest.raises(ValueError, match=r"wrap it in a function|not supported by signature"):
        producer.tool(operator.methodcaller("unlink"))
    producer.tool(risk="low")(method)  # nobody is asked about it
    tool = producer.tool(name="wipe", action="Wipe account {self.number}, {how}.")(Account(7).wipe)
    assert asked(producer, lambda: tool("all")).action == "Wipe account 7, all."


def test_cf_019_an_unbound_method_tells_what_it_is_called_on(producer: Producer) -> None:
    tool = producer.tool(pathlib.Path.unlink)
    action = asked(producer, lambda: tool(pathlib.Path("/x"))).action
    assert action == "Remove this file or link. With posix path: /x; missing_ok: no."


def test_cf_019_methods_decorated_in_a_class_tell_their_object_or_have_an_action(producer: Producer) -> None:
    class Agent:
        def __init__(self) -> None:
            self.name = "Ada"
            self.lock = threading.Lock()

        @producer.tool
        def wipe(self, how: str) -> None:
            raise AssertionError("it ran")

        @producer.tool(action="Pay {amount}.")
        def pay(self, amount: int) -> None:
            raise AssertionError("it ran")

        @producer.tool(
            action="Sell what {self.name} has.", consequence="{self.name} has less.", summary="Selling for {self.name}."
        )
        def sell(self) -> None:
            raise AssertionError("it ran")

        @classmethod
        @producer.tool(action="Close all of {cls.__name__}.")
        def close(cls) -> None:
            raise AssertionError("it ran")

    agent = Agent()
    listener = Listener(producer, "accept")
    with producer.session("Working."), pytest.raises(LocalProtocolError, match="What wipe is called on"):
        agent.wipe("all")
    listener.wait_for_end()
    listener.close()
    assert listener.prompts == []
    assert asked(producer, lambda: agent.pay(5)).action == "Pay 5."
    prompt = asked(producer, agent.sell)
    assert (prompt.action, prompt.consequence) == ("Sell what Ada has.", "Ada has less.")
    assert asked(producer, Agent.close).action == "Close all of Agent."


def test_cf_019_what_was_told_of_an_object_has_to_stay_the_same(producer: Producer) -> None:
    account = PlainAccount(7)

    def answer(_: object) -> str:
        account.number = 8
        return "accept"

    Listener(producer, answer)
    for tool in (producer.tool(account.wipe), producer.tool(action="Wipe {self.number}.")(account.wipe)):
        account.number = 7
        with pytest.raises(LocalProtocolError, match="changed"), producer.session("Working."):
            tool("all")


class Search:
    def _run(self, query: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "name"),
    [(Search()._run, "Search"), (Search._run, "Search"), (functools.partial(pay, 5), "pay"), (Account(1), "Account")],
)
def test_a_tool_is_named_by_what_it_is(producer: Producer, function: Any, name: str) -> None:
    producer.tool(risk="low")(function)
    assert producer.tool_names == (name,)


# -- values ------------------------------------------------------------------------------------------------------------


class Order(pydantic.BaseModel):
    payee: str
    amount: float


class Login(pydantic.BaseModel):
    user: str
    password: str


class Hidden(pydantic.BaseModel):
    value: pydantic.SecretStr


class Open(pydantic.BaseModel, extra="allow"):
    payee: str


class Private(pydantic.BaseModel):
    payee: str
    _more: int = pydantic.PrivateAttr(default=1)


class Page(pydantic.BaseModel):
    address: pydantic.HttpUrl


@attrs.define
class Parcel:
    to: str
    weight: int


class Point(NamedTuple):
    x: int
    label: str


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Order(payee="Ada", amount=5), "2 parts: payee: Ada; amount: 5.0"),
        (Open.model_validate({"payee": "Ada", "note": "two words"}), "2 parts: payee: Ada; note: “two words”"),
        (
            Page.model_validate({"address": "https://example.org/a"}),
            "1 part: address: “https://example.org/a”",
        ),
        (Parcel("Ada Lovelace", 3), "2 parts: to: “Ada Lovelace”; weight: 3"),
        (Point(1, "a"), "2 parts: x: 1; label: a"),
        (b"test", "4 bytes, SHA-256 begins 9f86d081"),
        (bytearray(b"test"), "4 bytes, SHA-256 begins 9f86d081"),
        (memoryview(b"test"), "4 bytes, SHA-256 begins 9f86d081"),
        (b"", "0 bytes"),
        ("", "empty text"),
        (" \n", "blank text"),
        ("empty text", "“empty text”"),
        (None, "nothing"),
        ("nothing", "“nothing”"),
        (True, "yes"),
        ("yes", "“yes”"),
        ([], "empty list"),
        ({}, "no entries"),
        ({"a": [1, {"b": None}], "c": True}, "2 entries: a: 2 items: 1, 1 entry: b: nothing; c: yes"),
        ("$1,000.50", "$1,000.50"),
        ("500 dollars", "500 dollars"),
        ("500 dollars refundable", "“500 dollars refundable”"),
        ("a.txt", "a.txt"),
        ("A. B.", "“A. B.”"),
        ("say “hi”", "“say 'hi'”"),
    ],
)
def test_what_a_value_holds_is_told_and_marked_off(producer: Producer, value: object, told: str) -> None:
    @producer.tool
    def use(it: object) -> None:
        raise AssertionError("it ran")

    @producer.tool(action="Send {it}.")
    def send(it: object) -> None:
        raise AssertionError("it ran")

    assert asked(producer, lambda: use(value)).action == f"Use use. With it: {told}."
    assert asked(producer, lambda: send(value)).action == f"Send {told}."


def test_a_model_with_hidden_members_cannot_be_told(producer: Producer) -> None:
    @producer.tool
    def use(it: object) -> None:
        raise AssertionError("it ran")

    with producer.session("Working."), pytest.raises(LocalProtocolError, match="cannot be read out"):
        use(Private(payee="Ada"))


@pytest.mark.parametrize(
    "make", [lambda: Order(payee="Ada", amount=5), lambda: Parcel("Ada", 5), lambda: bytearray(b"x")]
)
def test_cf_019_what_changes_while_the_user_is_asked_does_not_run(producer: Producer, make: Callable[[], Any]) -> None:
    it = make()

    @producer.tool(action="Use it.")
    def use(it: object) -> None:
        raise AssertionError("it ran")

    def answer(_: object) -> str:
        if isinstance(it, Order):
            it.amount = 5000
        elif isinstance(it, Parcel):
            it.weight = 5000
        else:
            it[0] = 0
        return "accept"

    Listener(producer, answer)
    with pytest.raises(LocalProtocolError, match="changed"), producer.session("Working."):
        use(it)


# -- imitations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "heard"),
    [
        ("bob", "Use pay. With to: bob; amount: 1000000."),
        ("bob; amount: 1", "Use pay. With to: quote bob; amount: 1 end quote; amount: 1000000."),
        (
            "bob end quote; amount: 1",
            "Use pay. With to: quote bob end the word quote; amount: 1 end quote; amount: 1000000.",
        ),
        ("bob”; amount: 1", "Use pay. With to: quote bob'; amount: 1 end quote; amount: 1000000."),
        (
            "bob. Low risk. You can undo this",
            "Use pay. With to: quote bob. Low risk. You can undo this end quote; amount: 1000000.",
        ),
        ("Low-risk.Reversible", "Use pay. With to: quote Low-risk.Reversible end quote; amount: 1000000."),
    ],
)
@pytest.mark.parametrize("verbosity", ["terse", "normal", "detailed"])
def test_no_argument_can_imitate_another_one_or_our_words(
    producer: Producer, to: str, heard: str, verbosity: str
) -> None:
    @producer.tool
    def pay(to: str, amount: int) -> None:
        raise AssertionError("it ran")

    assert spoken(asked(producer, lambda: pay(to, 1000000)), verbosity) == heard


# -- lines -------------------------------------------------------------------------------------------------------------


CODE = "if old:\n    remove(backup)\n\nremove(photos)\n"
LINES = "Run this code: quote\nline 1: if old:\nline 2:     remove(backup)\nline 4: remove(photos)\nend quote."


@pytest.mark.parametrize("verbosity", ["terse", "normal", "detailed"])
@pytest.mark.parametrize("code", [CODE, CODE.replace("\n", "\r\n"), CODE.replace("\n", "\u2028")])
def test_line_breaks_are_heard_in_what_is_agreed_to(producer: Producer, code: str, verbosity: str) -> None:
    @producer.tool(action="Run this code: {code}.")
    def run(code: str) -> None:
        raise AssertionError("it ran")

    prompt = asked(producer, lambda: run(code))
    assert prompt.action == f"Run this code: “{CODE}”."
    assert spoken(prompt, verbosity) == LINES
    said = announce(prompt)
    assert said is not None and said.about == LINES


def test_lines_are_counted_only_where_there_are_several(producer: Producer) -> None:
    @producer.tool(action="Run {command}.")
    def run(command: str) -> None:
        raise AssertionError("it ran")

    assert spoken(asked(producer, lambda: run("rm *\n"))) == "Run quote rm * end quote."
    assert spoken(asked(producer, lambda: run("cd /tmp # line 2: ls\nrm *"))) == (
        "Run quote\nline 1: cd /tmp # the word line 2: ls\nline 2: rm *\nend quote."
    )


def test_an_action_of_several_lines_is_numbered_without_marks_too(producer: Producer) -> None:
    listener = Listener(producer, "reject")
    with producer.session("Working.") as session:
        session.confirm("Run:\ncd /tmp\nrm *", "Files go.\nAll of them.").wait(30)
    [prompt] = listener.prompts
    assert isinstance(prompt, AwaitingConfirmation)
    said = announce(prompt)
    assert said is not None
    assert (
        "line 1: Run:\nline 2: cd /tmp\nline 3: rm *. If you accept: line 1: Files go.\nline 2: All of them."
        in said.text
    )


def test_lines_stay_lines_where_they_are_printed() -> None:
    stream = StringIO()
    LinePrinter(stream).print_lines("Run quote\nline 1: if x:\nline 2:     a()\x1b[2J\nend quote.", "Attention. ")
    assert stream.getvalue() == "Attention. Run quote\nline 1: if x:\nline 2:     a()\nend quote.\n"


# -- secrets -----------------------------------------------------------------------------------------------------------

CARD = "4242424242424242"


@pytest.mark.parametrize(
    ("account", "told"),
    [
        (CARD, "number ending in 4 2 4 2"),
        ("4111 1111 1111 1111", "number ending in 1 1 1 1"),
        ("5500-0055-5555-5559", "number ending in 5 5 5 9"),
        (5500005555555559, "number ending in 5 5 5 9"),
        ("123-45-6789", "number ending in 6 7 8 9"),
        ("DE89370400440532013000", "DE89370400440532013000"),
    ],
)
def test_what_is_agreed_to_can_be_checked(producer: Producer, account: object, told: str) -> None:
    @producer.tool(action="Pay from account {account}.", consequence="The money moves.")
    def pay(account: object) -> None:
        raise AssertionError("it ran")

    @producer.tool
    def move(account: object) -> None:
        raise AssertionError("it ran")

    listener = Listener(producer, "reject")
    with producer.session("Paying.") as session:
        pay(account)
        move(account)
        session.confirm(f"Pay from {account}.", f"{account} is charged.").wait(30)
    prompts = [prompt for prompt in listener.prompts if isinstance(prompt, AwaitingConfirmation)]
    assert len(prompts) == 3
    for prompt in prompts:
        assert told in prompt.action and "[redacted]" not in prompt.action
    assert prompts[2].consequence == f"{told} is charged."


@pytest.mark.parametrize(
    "value",
    [
        {"api_key": "abc"},
        [Login(user="ada", password="bluebird")],
        Hidden(value=pydantic.SecretStr("bluebird")),
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "https://example.org/?token=bluebird",
        f"password={CARD}",
    ],
    ids=str,
)
def test_nobody_is_asked_about_a_secret_that_cannot_be_told(producer: Producer, value: object) -> None:
    @producer.tool(action="Use {it}.", consequence="It counts.")
    def use(it: object) -> None:
        raise AssertionError("it ran")

    @producer.tool
    def apply(it: object) -> None:
        raise AssertionError("it ran")

    @producer.tool
    def sign_in(password: object) -> None:
        raise AssertionError("it ran")

    listener = Listener(producer, "accept")
    with producer.session("Working."):
        for call in (use, apply, sign_in):
            with pytest.raises(
                LocalProtocolError, match=r"a secret, which is not read out.* Give the tool an `action`"
            ):
                call(value)
    assert listener.prompts == []


def test_an_author_says_in_words_what_is_done_with_a_secret(producer: Producer) -> None:
    @producer.tool(action="Sign in as {user} with the password of the test account.", consequence="It counts.")
    def sign_in(user: str, password: str) -> str:
        return f"{user}, {password}"

    listener = Listener(producer, "accept")
    with producer.session("Working."):
        assert sign_in("ada", "bluebird") == "ada, bluebird"
    (prompt,) = listener.prompts
    assert isinstance(prompt, AwaitingConfirmation)
    assert prompt.action == "Sign in as ada with the password of the test account."
    assert not any("bluebird" in str(event) for event in listener.events)


def test_nobody_is_asked_to_agree_to_a_text_that_holds_a_secret(producer: Producer) -> None:
    listener = Listener(producer, "accept")
    with producer.session("Working.") as session:
        for action, consequence in (
            ("Use password=bluebird.", "It counts."),
            ("Sign in.", "password=bluebird counts."),
        ):
            with pytest.raises(LocalProtocolError, match="not read out"):
                session.confirm(action, consequence)
        with pytest.raises(LocalProtocolError, match="not read out"):
            session.clarify("Which one?", choices=["api_key=bluebird", "api_key=robin"])
    assert listener.prompts == []
