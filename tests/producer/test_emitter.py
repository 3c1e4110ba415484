"""What leaves a session is sound, and what is not is refused, however often something like it was sent before."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.producer.tool_call import Call
from aaep.protocol.audit import Audit
from aaep.protocol.events import OutputStreaming, ToolCompleted, ToolInvoked
from aaep.runtime.ids import new_id
from aaep.testing import Listener

SAID: dict[str, Any] = {
    "summary_terse": "Look.",
    "summary_normal": "Calling look.",
    "summary_detailed": "Calling look.",
}

texts = st.one_of(
    st.sampled_from(
        [
            "Looking.",
            "Two files.",
            "Naïve.",
            "a < b",
            "key: sk-abcdefghijklmnopqrstuvwx",
            "\x07",
            "",
            "é",
            "100 %s %d%%",
            "שלום",
        ]
    ),
    st.text(max_size=12),
)
steps = st.one_of(
    st.tuples(
        st.just("progress"),
        st.sampled_from([0, 1, True, 40, 40.5, 100, 101, -1, None]),
        st.one_of(st.none(), texts),
    ),
    st.tuples(st.just("tool"), st.sampled_from(["look", "read_file", "", "x y"]), st.one_of(st.none(), texts)),
    st.tuples(st.just("write"), texts),
    st.tuples(st.just("stream"), texts),
    st.tuples(st.just("think"), st.one_of(st.none(), texts)),
)


def do(session: Session, step: tuple[Any, ...]) -> None:
    match step:
        case "progress", percent, description:
            session.progress(percent, description=description)
        case "tool", name, summary:
            with session.tool(name, risk="low", summary=summary):
                pass
        case "write", text:
            session.write(text)
        case "stream", text:
            with session.output(boundary="none") as output:
                for chunk in ("One. ", "Two. ", f"{text}. ", text):
                    output.write(chunk)
        case "think", summary:
            with session.thinking(summary):
                pass


@settings(max_examples=100)
@given(st.lists(steps, max_size=6))
def test_whatever_is_sent_is_sound_and_what_is_refused_is_refused_each_time(script: list[tuple[Any, ...]]) -> None:
    with Producer("bank", name="Bank", journal=None, language="en") as producer:
        with producer.session("Working.") as session:
            for step in script:
                refusals: list[type | None] = []
                for _ in range(3):
                    try:
                        do(session, step)
                        refusals.append(None)
                    except (AaepError, TypeError) as error:
                        refusals.append(type(error))
                assert len({*refusals}) == 1, step
        entries = producer.hub.journal.read(limit=10_000)
    audit = Audit(producer.registry, whole=True, strict=True)
    findings = [finding for entry in entries for finding in audit.feed(entry.data)]
    assert [finding for finding in [*findings, *audit.finish()] if finding.severity == "error"] == []


@pytest.mark.parametrize("cls", [ToolInvoked, ToolCompleted])
def test_what_comes_out_of_turn_is_refused_though_it_is_like_others(cls: type) -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            do(session, ("tool", "look", None))
        members: dict[str, Any] = {"tool": "look", "tool_call_id": "call_" + "0" * 32}
        members |= (
            {"risk_level": "low", "irreversible": False}
            if cls is ToolInvoked
            else {"status": "success", "duration_ms": 0}
        )
        before = len(producer.hub.journal.read(limit=1000))
        with pytest.raises(AaepError, match="TOOL-010" if cls is ToolCompleted else "LVL-007"):
            session._emitter.emit(cls, **SAID, **members)
        assert len(producer.hub.journal.read(limit=1000)) == before


def test_a_dangerous_tool_is_refused_though_harmless_ones_ran_before() -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            do(session, ("tool", "look", None))
        session._emitter.change_state("calling_tool")
        with pytest.raises(AaepError, match="TOOL-002"):
            call: dict[str, Any] = {
                "tool": "look",
                "tool_call_id": "call_" + "1" * 32,
                "risk_level": "high",
                "irreversible": True,
            }
            session._emitter.emit(ToolInvoked, **SAID, **call)
        session._emitter.change_state("thinking")


@pytest.mark.parametrize("percent", [True, "40"])
def test_a_value_that_equals_a_good_one_or_is_near_it_is_not_taken_for_it(percent: Any) -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            session.progress(1)
            session.progress(40)
        before = len(producer.hub.journal.read(limit=1000))
        with pytest.raises((AaepError, TypeError, ValueError)):
            session.progress(percent)
        assert len(producer.hub.journal.read(limit=1000)) == before


def test_a_number_that_stands_for_yes_is_not_sent_as_one() -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        session.write("One. ")
        session.write("Two. ")
        session._emitter.change_state("writing_output")
        with pytest.raises(AaepError):
            said: dict[str, Any] = {"chunk": "Three. ", "position": 0, "complete": 0, "coalesce_hint": "none"}
            session._emitter.emit(OutputStreaming, **said, output_id="out_" + "0" * 32)


@pytest.mark.parametrize("said", ["100 %s %d%% done.", "%.", 'Say "tool_call_id":"call_1" and "duration_ms":0.'])
def test_what_is_written_again_is_written_as_it_was(said: str) -> None:
    """The places for what is new in an event are not looked for in what people say."""
    with Producer("bank %s", name="100 %d", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(4):
            with session.tool("look", risk="low", summary=said, args=said) as call:
                call.result(said)
        entries = [json.loads(entry.data) for entry in producer.hub.journal.read(limit=1000)]
    for type_, members in (
        ("tool.invoked", ("summary_normal", "args_summary")),
        ("tool.completed", ("summary_normal",)),
    ):
        found = [entry for entry in entries if entry["type"].endswith(type_)]
        assert len(found) == len({entry["tool_call_id"] for entry in found}) == 4
        assert {entry["producer"]["agent_name"] for entry in found} == {"100 %d"}
        assert {entry[name] for entry in found for name in members} == {said}


def test_what_equals_a_yes_to_being_irreversible_is_not_taken_for_one() -> None:
    """Else it would be told as irreversible, and run without the consent that this needs."""
    with Producer("bank", journal=None) as producer:
        listener = Listener(producer, "accept")
        with producer.session("Working.") as session:
            for _ in range(3):
                ask = session.confirm("Pay.", "The money is gone.", tool="pay", risk="low")
                ask.wait(30)
                with session.tool("pay", risk="low", irreversible=True, ask=ask):
                    pass
            with pytest.raises(AaepError):
                Call(session._activity, "pay", new_id("call_"), risk="low", irreversible=cast(bool, 1)).begin()
        listener.wait_for_end()


@pytest.mark.parametrize("call", ['call_1","risk_level":"low', "call_é", "", None, 7])
def test_an_id_of_a_call_is_looked_at_each_time(call: Any) -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            do(session, ("tool", "look", None))
        before = len(producer.hub.journal.read(limit=1000))
        with pytest.raises((AaepError, TypeError)):
            Call(session._activity, "look", call, risk="low", irreversible=False).begin()
        after = producer.hub.journal.read(limit=1000)[before:]
        assert [entry for entry in after if b"tool.invoked" in entry.data] == []


@pytest.mark.parametrize(
    "members", [{"chunk": "The key is sk-abcdefghijklmnopqrstuvwx"}, {"complete": 0}, {"position": -1}]
)
def test_a_chunk_is_looked_at_each_time(members: dict[str, Any]) -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        with session.output(boundary="none") as output:
            for _ in range(3):
                output.write("One. ")
            said: dict[str, Any] = {"chunk": "Two. ", "position": 15, "complete": False, "coalesce_hint": "none"}
            before = len(producer.hub.journal.read(limit=1000))
            with pytest.raises((AaepError, TypeError)):
                session._emitter.emit(OutputStreaming, **{**said, **members}, output_id=output.id)
            assert len(producer.hub.journal.read(limit=1000)) == before
            session._emitter.emit(OutputStreaming, **said, output_id=output.id)
            output._position = 20
        assert len(producer.hub.journal.read(limit=1000)) > before
