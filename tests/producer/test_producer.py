"""What agent code holds: blocks close themselves, nothing illegal leaves, and what is risky waits for a yes."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.errors import AaepError, LocalProtocolError
from aaep.journal.memory import MemoryJournal
from aaep.journal.sqlite import SqliteJournal
from aaep.producer.producer import ManifestOptions, Producer, Runtime
from aaep.producer.tools import Refused
from aaep.protocol import codec, extensions
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.audit import Audit
from aaep.protocol.events import (
    AwaitingConfirmation,
    Envelope,
    ExtensionEvent,
    OutputStreaming,
    SessionCancelled,
    SessionCompleted,
    SessionErrored,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from aaep.protocol.messages import Capabilities
from aaep.testing import Listener
from aaep.transports.options import ConnectOptions, ServerOptions


@pytest.fixture
def producer() -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None) as one:
        yield one


def events(producer: Producer) -> list[Envelope]:
    """Everything that was kept, in order."""
    return [codec.decode(entry.data) for entry in producer.hub.journal.read(limit=100_000)]  # type: ignore[misc]  # the journal has events


def types(producer: Producer) -> list[str]:
    return [event.type.removeprefix("aaep:agent.") for event in events(producer)]


def sound(producer: Producer) -> None:
    """What was kept is legal, as strictly as we judge ourselves. Replies are not kept, so consent cannot be seen."""
    audit = Audit(whole=False, strict=True)
    found = [one for event in events(producer) for one in audit.feed(codec.encode(event))]
    assert [str(one) for one in [*found, *audit.finish()] if one.severity == "error"] == []


# -- blocks ------------------------------------------------------------------------------------------------------------


def test_a_setting_that_nobody_knows_is_not_swallowed() -> None:
    with pytest.raises(
        TypeError, match=r"Producer\(\) has no keyword 'toke'. Did you mean token\? It takes: agent_id, "
    ):
        Producer("bank", journal=None, toke="x")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match=r"Write manifest=ManifestOptions\(level=…\)"):
        Producer("bank", journal=None, level=1)  # type: ignore[call-arg]  # what is tested


def test_a_setting_for_an_address_needs_one() -> None:
    with pytest.raises(TypeError, match=r"token= is for an address, .* or hub="):
        Producer("bank", journal=None, token="x")
    with pytest.raises(TypeError, match=r"server= is for an address"):
        Producer("bank", journal=None, server=ServerOptions(hosts=["agent.example"]))
    with pytest.raises(TypeError, match="hub_options= is for a hub"):
        Producer("bank", journal=None, hub_options=ConnectOptions(token="x"))
    with pytest.raises(TypeError, match="for a hub"):
        Producer("bank", journal=None, listen="http://127.0.0.1:0", token=lambda: "x")


def test_a_level_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="level is 1, 2 or 3, not 4"):
        Producer("bank", journal=None, manifest=ManifestOptions(level=4))  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    "wrong",
    [
        lambda session: session.confirm("Pay.", "Money goes.", risk="grave"),
        lambda session: session.fail(category="odd"),
        lambda session: session.handoff("Too hard.", "boss"),
        lambda session: session.progress("half"),
    ],
)
def test_a_word_that_is_none_of_those_there_are_is_told(producer: Producer, wrong: Any) -> None:
    with (
        producer.session("Working.") as session,
        pytest.raises((ValueError, LocalProtocolError), match=r"grave|odd|boss|half"),
    ):
        wrong(session)
    sound(producer)


def test_a_session_is_started_and_completed(producer: Producer) -> None:
    with producer.session("Counting beans.", request="Count the beans, please.", requested_by="user:7") as session:
        with session.thinking():
            pass
        session.progress(50, step=1, total=2)
        session.write("There are seven beans.")
    sound(producer)
    assert types(producer) == [
        "session.started",
        "state.changed",
        "progress.updated",
        "state.changed",
        "output.streaming",
        "state.changed",
        "session.completed",
    ]
    first, last = events(producer)[0], events(producer)[-1]
    assert isinstance(first, SessionStarted) and isinstance(last, SessionCompleted)
    assert (first.summary_terse, first.summary_normal) == ("Counting beans.", "Counting beans.")
    assert first.request_text == "Count the beans, please."
    assert last.tool_invocations_count == 0


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (ConnectionError("password=hunter2"), "transient"),
        (TimeoutError(), "transient"),
        (PermissionError("/secret/path"), "requires_user"),
        (ValueError("x"), "permanent"),
        (FileNotFoundError("x"), "permanent"),
        (RuntimeError("x"), "unknown"),
    ],
)
def test_an_exception_ends_the_session_as_errored_and_leaks_nothing(
    producer: Producer, error: Exception, category: str
) -> None:
    with pytest.raises(type(error)), producer.session("Working."):
        raise error
    sound(producer)
    last = events(producer)[-1]
    assert isinstance(last, SessionErrored) and last.error_category == category and last.urgency == "critical"
    text = codec.encode(last).decode()
    assert "hunter2" not in text and "/secret" not in text and "Traceback" not in text and "test_producer" not in text


@pytest.mark.parametrize(
    ("error", "by"),
    [
        (KeyboardInterrupt(), "user"),
        (asyncio.CancelledError(), "producer"),
        (SystemExit(1), "system"),
        (GeneratorExit(), "producer"),
    ],
)
def test_cancellation_ends_the_session_as_cancelled(producer: Producer, error: BaseException, by: str) -> None:
    with pytest.raises(type(error)), producer.session("Working."):
        raise error
    last = events(producer)[-1]
    assert isinstance(last, SessionCancelled) and last.cancelled_by == by
    sound(producer)


def test_what_is_open_is_closed_before_the_end(producer: Producer) -> None:
    Listener(producer)
    with pytest.raises(RuntimeError), producer.session("Working.") as session:
        output = session.output()
        output.write("Half a sen")
        ask = session.clarify("Which one?")
        raise RuntimeError
    assert ask.wait(5).outcome == "withdrawn"
    assert types(producer)[-4:] == ["state.changed", "output.streaming", "state.changed", "session.errored"]
    sound(producer)


def test_a_tool_that_still_runs_when_its_session_ends_may_have_taken_effect(producer: Producer) -> None:
    session = producer.session("Working.").start()
    call = session.tool("look", risk="low")
    call.begin()
    session.complete()
    call.end(None)  # later, in its own thread: there is nobody left to tell
    ended = [event for event in events(producer) if isinstance(event, ToolCompleted)]
    assert [one.status for one in ended] == ["timeout"]
    assert "may have happened" in str(ended[0].error_message)
    sound(producer)


def test_nothing_leaves_outside_the_block(producer: Producer) -> None:
    session = producer.session("Working.")
    for act in (session.progress, lambda: session.write("x"), lambda: session.confirm("a", "b"), session.complete):
        with pytest.raises(LocalProtocolError):
            act()
    with session:
        pass
    before = types(producer)
    for act in (lambda: session.progress(1), lambda: session.write("x"), lambda: session.handoff("x")):
        with pytest.raises(LocalProtocolError):
            act()
    with pytest.raises(LocalProtocolError), session:
        raise AssertionError("a session is used once")
    assert types(producer) == before


def test_an_illegal_event_raises_and_leaves_no_trace(producer: Producer) -> None:
    with producer.session("Working.") as session:
        before = types(producer)
        with pytest.raises(LocalProtocolError) as raised:
            session._emitter.emit(ToolCompleted, tool="look", status="success", summary_normal="x")
        assert "TOOL-010" in {one.rule for one in raised.value.violations}
        with pytest.raises(LocalProtocolError):
            session._emitter.emit(OutputStreaming, chunk="x", position=-1, complete=False, output_id="out_1")
        with pytest.raises(LocalProtocolError):
            session._emitter.emit(SessionStarted, summary_normal="again")
        assert types(producer) == before
    sound(producer)


def test_a_producer_is_used_once_and_closes_what_is_open() -> None:
    with Producer("bank", journal=MemoryJournal()) as producer:
        session = producer.session("Working.").start()
    assert not session.is_open
    with pytest.raises(AaepError):
        producer.session("More.").start()
    with pytest.raises(AaepError), producer:
        raise AssertionError("not reached")


# -- time, ids, texts --------------------------------------------------------------------------------------------------


def test_timestamps_never_go_back_and_ids_are_never_the_same() -> None:
    moments = iter([1_800_000_000.0 - number for number in range(1000)])
    with Producer("bank", journal=MemoryJournal(), runtime=Runtime(wall=lambda: next(moments))) as producer:
        with producer.session("Working.") as session:
            for number in range(20):
                session.progress(number)
        found = events(producer)
        stamps = [event.timestamp for event in found]
        assert stamps == sorted(stamps)
        ids = {event.event_id for event in found}
        assert len(ids) == len(found) and all(re.fullmatch(r"evt_[0-9a-f]{32}", one) for one in ids)


def test_a_child_process_makes_its_own_ids() -> None:
    from aaep.runtime.ids import new_id

    new_id("evt_")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, new_id("evt_").encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 100).decode() != new_id("evt_")
    os.close(reading)
    os.close(writing)


def test_secrets_are_taken_out_of_every_text(producer: Producer) -> None:
    key = "sk-" + "a1B2" * 8

    @producer.tool(risk="low", summary="Using {token_value} with {x}.")
    def call(x: str, token_value: str = "hush") -> str:
        return key

    with producer.session(f"Using {key}.", request=f"my key is {key}") as session:
        with session.thinking(f"Thinking about {key}."):
            call(key)
        session.progress(1, description=key)
        with session.output() as out:
            out.write(f"The key is {key[:10]}")
            out.write(f"{key[10:]} indeed. More.")
        session.handoff(key)
        session.handed_over(key)
    assert key not in "".join(codec.encode(event).decode() for event in events(producer))
    assert "hush" not in "".join(codec.encode(event).decode() for event in events(producer))
    sound(producer)


@given(text=st.text(st.characters(), max_size=80), language=st.sampled_from(["en-US", "ar", "de", "ja"]))
def test_any_text_can_be_told(text: str, language: str) -> None:
    with Producer("bank", journal=MemoryJournal(), language=language) as producer:
        with producer.session(text, request=text) as session:
            with session.thinking(text):
                pass
            session.progress(description=text or "x")
            with session.tool("look", risk="low", summary=text, args=text):
                pass
            with session.output() as out:
                for char in text:
                    out.write(char)
            session.result(text)
        sound(producer)


def test_text_in_another_language_is_not_mixed_with_ours(producer: Producer) -> None:
    with producer.session("Ég tel baunir.", language="is") as session, session.thinking():
        pass
    first, second = events(producer)[:2]
    assert isinstance(first, SessionStarted) and isinstance(second, StateChanged)
    assert first.summary_terse == first.summary_normal == "Ég tel baunir."
    assert first.localization_hints and first.localization_hints.primary_language == "is"
    assert second.localization_hints and second.localization_hints.primary_language == "en"


def test_output_leaves_in_sentences_and_joins_to_what_was_written(producer: Producer) -> None:
    text = "One sentence. Then another! And a cafe\u0301 at last"
    with producer.session("Writing.") as session, session.output() as out:
        for char in text:
            out.write(char)
    chunks = [event for event in events(producer) if isinstance(event, OutputStreaming)]
    assert [chunk.chunk for chunk in chunks] == ["One sentence. ", "Then another! ", "And a café at last"]
    assert [chunk.coalesce_hint for chunk in chunks] == ["sentence", "sentence", "completion"]
    sound(producer)


def test_a_long_output_is_cut_into_chunks(producer: Producer) -> None:
    """LIM-006"""
    text = "word " * 20_000
    with producer.session("Writing.") as session:
        session.write(text)
    chunks = [event for event in events(producer) if isinstance(event, OutputStreaming)]
    assert "".join(chunk.chunk for chunk in chunks) == text and len(chunks) > 5
    sound(producer)


# -- tools -------------------------------------------------------------------------------------------------------------


def test_a_harmless_tool_is_announced_before_it_runs(producer: Producer) -> None:
    """TOOL-001"""
    seen: list[list[str]] = []

    @producer.tool(risk="low", summary="Looking up {account}.")
    def balance(account: str = "checking") -> str:
        """Reads a balance."""
        seen.append(types(producer))
        return "1,240"

    with producer.session("Working."):
        assert balance() == "1,240"
    assert seen[0][-1] == "tool.invoked"
    invoked = next(event for event in events(producer) if isinstance(event, ToolInvoked))
    assert invoked.summary_normal == "Looking up checking." and invoked.args_summary == "account: checking"
    assert invoked.description == "Reads a balance." and invoked.irreversible is False
    sound(producer)


def test_a_tool_keeps_its_name_text_signature_and_types(producer: Producer) -> None:
    @producer.tool
    def first(a: int, b: str = "x") -> bool:
        """Says yes."""
        return True

    @producer.tool(risk="low", irreversible=False)
    async def second(a: int) -> str:
        return ""

    assert (first.__name__, first.__doc__) == ("first", "Says yes.")
    assert str(inspect.signature(first)) == "(a: 'int', b: 'str' = 'x') -> 'bool'"
    assert inspect.iscoroutinefunction(second)
    with producer.session("Working."):
        started = events(producer)[0]
        assert isinstance(started, SessionStarted) and started.tools_available == ("first", "second")


def test_outside_any_session_a_tool_raises_and_does_not_run(producer: Producer) -> None:
    ran = []

    @producer.tool(risk="low")
    def touch() -> None:
        ran.append(1)

    with pytest.raises(LocalProtocolError, match="No session"):
        touch()
    assert not ran


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, True),
        ({"risk": "high"}, True),
        ({"risk": "high", "irreversible": False}, True),
        ({"risk": "medium"}, True),
        ({"irreversible": True, "risk": "low"}, True),
        ({"risk": "medium", "irreversible": False}, False),
        ({"risk": "low"}, False),
        ({"risk": "low", "confirm": True}, True),
    ],
)
def test_what_is_risky_or_unknown_does_not_run_when_nobody_can_agree(
    producer: Producer, settings: dict[str, Any], asked: bool
) -> None:
    """HITL-002"""
    ran = []

    @producer.tool(**settings)
    def act() -> str:
        ran.append(1)
        return "done"

    with producer.session("Working."):
        said = act()
    assert bool(ran) is not asked
    assert ("Nothing was done" in said) is asked
    sound(producer)


@pytest.mark.parametrize("answer", ["accept", "reject"])
def test_a_risky_tool_runs_on_a_yes_only(producer: Producer, answer: str) -> None:
    ran: list[list[str]] = []

    @producer.tool(action="Transfer {amount} to {to}.", consequence="Funds move at once.")
    def transfer(amount: str, to: str) -> str:
        ran.append(listener.types)
        return "moved"

    listener = Listener(producer, answer)
    with producer.session("Moving money."):
        said = transfer("$500", to="savings")
    listener.wait_for_end()
    prompt = listener.prompts[0]
    assert isinstance(prompt, AwaitingConfirmation)
    assert (prompt.action, prompt.consequence) == ("Transfer $500 to savings.", "Funds move at once.")
    assert (prompt.default_decision, prompt.risk_level, prompt.irreversible) == ("reject", "high", True)
    if answer == "accept":
        assert said == "moved" and len(ran) == 1
        listener.expect("awaiting.confirmation", "state.changed", "tool.invoked", "tool.completed", "session.completed")
    else:
        assert said.startswith("The user refused. Nothing was done.") and not ran
        assert "tool.invoked" not in listener.types
    assert listener.findings() == []


def test_a_refusal_can_be_raised(producer: Producer) -> None:
    @producer.tool(on_refusal="raise")
    def act() -> None:
        raise AssertionError("it ran")

    with producer.session("Working."), pytest.raises(Refused) as raised:
        act()
    assert raised.value.answer.outcome == "no_reply_channel"


def test_one_consent_is_for_one_call(producer: Producer) -> None:
    count = []

    @producer.tool
    def act() -> None:
        count.append(1)

    answers = iter(["accept", "reject", "accept"])
    listener = Listener(producer, lambda _: next(answers))
    with producer.session("Working."):
        for _ in range(3):
            act()
    assert len(count) == 2 and len(listener.prompts) == 3
    assert listener.findings() == []


def test_arguments_that_change_while_the_user_is_asked_do_not_run(producer: Producer) -> None:
    payees = ["alice"]

    @producer.tool(action="Pay {payees}.")
    def pay(payees: list[str]) -> None:
        raise AssertionError("it ran")

    def answer(_: Envelope) -> str:
        payees.append("eve")
        return "accept"

    Listener(producer, answer)
    with pytest.raises(LocalProtocolError, match="changed"), producer.session("Paying."):
        pay(payees)


def test_without_consent_a_manual_risky_tool_cannot_begin(producer: Producer) -> None:
    with producer.session("Working.") as session:
        with pytest.raises(LocalProtocolError) as raised, session.tool("wipe"):
            raise AssertionError("it ran")
        assert {one.rule for one in raised.value.violations} == {"TOOL-002"}
        Listener(producer, "accept")
        ask = session.confirm("Wipe the disk.", "All is gone.", tool="wipe")
        assert ask.wait(10)
        with session.tool("wipe", ask=ask):
            pass
        with pytest.raises(LocalProtocolError), session.tool("wipe", ask=ask):
            raise AssertionError("it ran twice")


@pytest.mark.parametrize(
    ("asked", "name", "called", "rule"),
    [
        pytest.param({"tool": "order"}, "wipe", {}, "TOOL-002", id="another tool"),
        pytest.param({"tool": "wipe", "irreversible": False}, "wipe", {}, "TOOL-002", id="told to be reversible"),
        pytest.param(
            {"tool": "look", "risk": "low", "irreversible": False},
            "look",
            {"risk": "high", "irreversible": False},
            "HITL-002",
            id="told of a lower risk",
        ),
    ],
)
def test_a_yes_covers_what_was_asked_and_nothing_graver(
    producer: Producer, asked: dict[str, Any], name: str, called: dict[str, Any], rule: str
) -> None:
    """C-38, C-41"""
    Listener(producer, "accept")
    with producer.session("Working.") as session:
        ask = session.confirm("Do it.", "It is done.", **asked)
        assert ask.wait(10)
        before = types(producer)
        with pytest.raises(LocalProtocolError) as raised, session.tool(name, ask=ask, **called):
            raise AssertionError("it ran")
        assert {one.rule for one in raised.value.violations} == {rule}
        assert types(producer) == before
        with session.tool(asked["tool"], ask=ask, risk="low", irreversible=False):
            pass
    sound(producer)


def test_a_tool_that_may_not_run_is_not_told_to_begin(producer: Producer) -> None:
    with producer.session("Working.") as session:
        before = types(producer)
        with pytest.raises(LocalProtocolError), session.tool("wipe"):
            raise AssertionError("it ran")
        assert types(producer) == before


def test_a_yes_that_names_no_tool_covers_the_one_it_is_given_to(producer: Producer) -> None:
    Listener(producer, "accept")
    with producer.session("Working.") as session:
        ask = session.confirm("Wipe the disk.", "All is gone.")
        assert ask.wait(10)
        with session.tool("wipe", ask=ask):
            pass
    sound(producer)


def test_a_refused_tool_needs_a_new_yes(producer: Producer) -> None:
    """HITL-020"""
    answers = iter(("reject", "accept"))
    Listener(producer, lambda _: next(answers))
    harmless: Any = {"risk": "low", "irreversible": False}
    with producer.session("Working.") as session:
        assert not session.confirm("Look.", "Nothing changes.", tool="look", **harmless).wait(10)
        with pytest.raises(LocalProtocolError) as raised, session.tool("look", **harmless):
            raise AssertionError("it ran")
        assert {one.rule for one in raised.value.violations} == {"HITL-020"}
        ask = session.confirm("Look.", "Nothing changes.", tool="look", **harmless)
        assert ask.wait(10)
        with session.tool("look", ask=ask, **harmless):
            pass
    sound(producer)


def test_a_yes_that_is_not_used_does_not_end_well(producer: Producer) -> None:
    Listener(producer, "accept")
    with pytest.raises(LocalProtocolError, match="HITL-018"), producer.session("Working.") as session:
        assert session.confirm("Wipe the disk.", "All is gone.").wait(10)
    assert isinstance(events(producer)[-1], SessionErrored)


def test_generators_and_awaitables_run_inside_their_call(producer: Producer) -> None:
    @producer.tool(risk="low")
    def counting() -> Iterator[int]:
        assert "tool.completed" not in types(producer)
        yield 1
        assert "tool.completed" not in types(producer)
        yield 2

    with producer.session("Working."):
        assert [*counting()] == [1, 2]
    assert types(producer).count("tool.completed") == 1

    async def later() -> str:
        assert types(producer).count("tool.completed") == 1
        return "x"

    @producer.tool(risk="low")
    def returns_awaitable() -> Any:
        return later()

    async def run() -> None:
        async with producer.session("Working."):
            assert await returns_awaitable() == "x"

    asyncio.run(run())
    assert types(producer).count("tool.completed") == 2
    sound(producer)


def test_a_tool_that_fails_says_so_without_its_text(producer: Producer) -> None:
    @producer.tool(risk="low")
    def fails() -> None:
        raise ValueError("internal: /srv/db.sqlite")

    with producer.session("Working."), pytest.raises(ValueError, match="internal"):
        fails()
    ended = next(event for event in events(producer) if isinstance(event, ToolCompleted))
    assert (ended.status, ended.error_message) == ("error", "value error.")
    sound(producer)


# -- threads and tasks -------------------------------------------------------------------------------------------------


def test_parallel_tools_in_tasks(producer: Producer) -> None:
    listener = Listener(producer, "accept")

    @producer.tool(risk="low")
    async def look(name: str) -> str:
        await asyncio.sleep(0)  # lets the others begin
        return name

    @producer.tool
    async def act(name: str) -> str:
        await asyncio.sleep(0)  # lets the others begin
        return name

    async def work() -> list[str]:
        async with producer.session("Working."):
            return [*await asyncio.gather(look("a"), act("b"), look("c"), act("d"), look("e"))]

    assert asyncio.run(work()) == ["a", "b", "c", "d", "e"]
    listener.wait_for_end()
    assert listener.findings() == []
    sound(producer)


def test_parallel_tools_and_sessions_in_threads(producer: Producer) -> None:
    listener = Listener(producer, "accept")
    failures: list[BaseException] = []

    @producer.tool
    def act(number: int) -> int:
        return number

    @producer.tool(risk="low")
    def look(number: int) -> int:
        return number

    def work(number: int) -> None:
        try:
            with producer.session(f"Work {number}.") as session:
                for each in range(5):
                    assert look(each) == each
                    session.write(f"Done {each}. ")
                    assert act(each) == each
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert types(producer).count("session.completed") == 8
    sound(producer)
    listener.expect(*["session.completed"] * 8)
    assert listener.findings() == []


def test_in_a_plain_thread_the_only_session_is_meant(producer: Producer) -> None:
    @producer.tool(risk="low")
    def look() -> str:
        return "seen"

    found: list[str] = []
    with producer.session("Working."):
        thread = threading.Thread(target=lambda: found.append(look()))
        thread.start()
        thread.join(10)
    assert found == ["seen"]


def test_text_leaves_while_a_tool_runs_and_waits_while_a_question_is_open(producer: Producer) -> None:
    """TOOL-007: the state of the tool is not left for it."""
    Listener(producer)
    with producer.session("Working.") as session:
        with session.tool("look", risk="low"):
            session.write("While the tool runs. ")
            assert types(producer)[-2:] == ["tool.invoked", "output.streaming"]
        assert types(producer).count("output.streaming") == 1
        ask = session.clarify("Which?")
        session.write("While a question is open. ")
        assert types(producer).count("output.streaming") == 1
        ask.withdraw()
        assert types(producer).count("output.streaming") == 2
    sound(producer)


# -- extensions, parents, languages ------------------------------------------------------------------------------------


def test_a_child_session_names_its_parent(producer: Producer) -> None:
    with producer.session("Outer.") as outer, producer.session("Inner.", parent=outer) as inner:
        started = [event for event in events(producer) if isinstance(event, SessionStarted)]
        assert inner.session_id != outer.session_id
        assert started[1].extensions == {"attend": {"parent_session_id": outer.session_id}}
    sound(producer)


def test_an_extension_s_event_can_be_sent() -> None:
    class Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        note: str = ""

    shop = extensions.Extension(
        namespace="https://shop.example/v1",
        prefix="shop",
        context="https://shop.example/v1/context",
        events={"shop:basket.changed": Fields},
        urgencies={"shop:basket.changed": "normal"},
    )
    with Producer("shop", journal=MemoryJournal(), manifest=ManifestOptions(extensions=iter([shop]))) as producer:
        assert shop.namespace in producer.hub.offer.namespaces
        with producer.session("Working.") as session:
            event = ExtensionEvent(
                **session.envelope(),
                context=("https://aaep-protocol.org/context/v1", "https://shop.example/v1/context"),
                type="shop:basket.changed",
                urgency="normal",
                verbosity="normal",
                summary_normal="The basket changed.",
            )
            session.emit(event)
        assert "shop:basket.changed" in [one.type for one in events(producer)]


# -- the journal ---------------------------------------------------------------------------------------------------


def test_sessions_of_an_agent_that_died_are_ended_when_its_journal_is_opened_again(tmp_path: Path) -> None:
    path = str(tmp_path / "agent.db")
    first = Producer("bank", journal=path)
    first.start()
    Listener(first)
    session = first.session("Working.").start()
    call = session.tool("look", risk="low")
    call.begin()
    call.end(None)
    session.tool("still_running", risk="low").begin()
    output = session.output()
    ask = session.clarify("Which?")
    output.write("Not sent yet")
    first.hub.close()
    first._journal.close()  # as a crash leaves it: the session has no end
    del ask

    with Producer("bank", journal=path) as second:
        assert second.recovered == [session.session_id]
        sound(second)
        last = events(second)[-1]
        assert isinstance(last, SessionErrored)
        assert "tool.completed" in types(second)[-4:] and "state.changed" in types(second)[-4:]
        ended = [event for event in events(second) if isinstance(event, ToolCompleted)][-1]
        assert ended.summary_normal == "Still running did not finish. It may have happened. Check before you try again."
        assert str(last.summary_detailed).endswith("may have happened.")
    with Producer("bank", journal=path) as third:
        assert third.recovered == []


@pytest.mark.parametrize("kind", [str, Path])
def test_a_journal_is_named_by_its_path(kind: type[str] | type[Path], tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for _ in range(2):  # it is closed with its producer
        with Producer("bank", journal=kind(tmp_path / "bank.db")) as producer, producer.session("Working."):
            pass
    with Producer("bank", journal=kind(tmp_path / "bank.db")) as producer:
        assert types(producer).count("session.completed") == 2


def test_two_copies_of_an_agent_have_a_journal_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Producer("bank") as first, Producer("bank") as second:
        paths = {one.hub.journal.path for one in (first, second) if isinstance(one.hub.journal, SqliteJournal)}
    assert len(paths) == 2 and all(path.stat().st_mode & 0o777 == 0o600 for path in paths)


def test_what_a_listener_would_hear_is_told() -> None:
    heard: list[str] = []
    notes = Producer("notes", name="Notes", journal=None, tell=heard.append)
    with notes, notes.session("Writing a note.") as session:
        with session.thinking():
            pass
        session.write("Remember the milk. And the bread.")
        session.result("The note is written.")
    assert heard == [
        "Started. Writing a note.",
        "Thinking.",
        "Notes: Remember the milk.",
        "And the bread.",
        "Done. The note is written.",
    ]


# -- joining late ------------------------------------------------------------------------------


def test_who_joins_late_hears_what_is_going_on() -> None:
    with (
        Producer("cleaner", name="Cleaner", journal=None) as producer,
        producer.session("Cleaning the disk.") as session,
    ):
        harmless: dict[str, Any] = {"risk": "low", "irreversible": False}
        with (
            session.tool("fetch", summary="Fetching a.txt.", **harmless),
            session.tool("fetch", summary="Fetching b.txt.", **harmless),
        ):
            session.progress(40)
            listener = Listener(producer, capabilities=Capabilities(supported_extensions=(ATTEND.namespace,)))
            listener.expect("session.started", "state.changed")
            assert listener.heard == [
                "Started. Cleaning the disk.",
                "Catching up. Fetching a.txt. Fetching b.txt. 40 percent.",
            ]
        assert listener.findings(strict=False) == []


def test_who_joins_late_hears_it_in_the_language_of_the_agent() -> None:
    with Producer("putzer", journal=None, language="de-DE") as producer, producer.session("Räume auf.") as session:
        with session.tool("fetch", summary="Hole a.txt.", risk="low", irreversible=False):
            session.progress(40, description="Fast fertig.")
            listener = Listener(producer)
            state = listener.wait("state.changed")
        assert isinstance(state, StateChanged) and state.summary_normal == "Hole a.txt. Fast fertig."
        assert state.localization_hints.primary_language == "de-DE"  # type: ignore[union-attr]  # it is set


def test_who_joins_late_is_not_told_of_a_question_twice() -> None:
    with Producer("cleaner", name="Cleaner", journal=None) as producer, producer.session("Cleaning.") as session:
        first = Listener(producer)
        ask = session.confirm("Wipe the disk.", "All is gone.")
        first.wait("awaiting.confirmation")
        second = Listener(producer)
        second.expect("session.started", "awaiting.confirmation", "state.changed")
        assert [text.partition(".")[0] for text in second.heard] == ["Started", "Confirm"]
        ask.withdraw()


def test_events_name_the_address_of_the_manifest() -> None:
    """ENV-032, ENV-036 §3.2.6.5: what is found there is the manifest."""
    with Producer("bank", listen="http://127.0.0.1:0", journal=None) as producer:
        listener = Listener(producer)
        with producer.session("Look."):
            pass
        listener.wait_for_end()
        uris = {event.producer.manifest_uri for event in listener.events}
        assert uris == {producer.addresses[0] + "/.well-known/aaep-manifest.json"}
        with urllib.request.urlopen(str(uris.pop())) as response:
            assert json.load(response)["agent_id"] == "bank"


def test_the_address_that_readers_know_is_named_first() -> None:
    manifest = ManifestOptions(reached_at="wss://agent.example/aaep")
    with Producer("bank", listen="http://127.0.0.1:0", journal=None, manifest=manifest) as producer:
        assert producer.info.manifest_uri == "https://agent.example/.well-known/aaep-manifest.json"


def test_an_agent_without_a_web_address_names_none() -> None:
    with Producer("bank", journal=None) as producer:
        assert producer.info.manifest_uri is msgspec.UNSET
