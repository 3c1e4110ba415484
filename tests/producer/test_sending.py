"""What is sent in the short way is what would have been sent in the long one, and is refused where that refuses."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.producer.emitter import Emitter
from aaep.producer.producer import Producer
from aaep.producer.sending import REST
from aaep.producer.session import Session
from aaep.producer.tool_call import Call
from aaep.protocol.catalogue import grade
from aaep.protocol.codec import read
from aaep.protocol.events import OutputStreaming, ToolCompleted, ToolInvoked
from aaep.runtime.ids import new_id
from aaep.testing import Listener

SAID = {"summary_terse": "Look.", "summary_normal": "Calling look.", "summary_detailed": "Calling look."}
NEW = ("event_id", "session_id", "timestamp", "tool_call_id", "output_id", "duration_ms")

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


def told(script: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, *, quickly: bool) -> list[Any]:
    """What a session says and which steps it refuses; each step comes three times, for only then is it known."""
    with monkeypatch.context() as patch, Producer("bank", name="Bank", journal=None, language="en") as producer:
        if not quickly:
            patch.setattr(Emitter, "_add", lambda *_: False)
        found: list[Any] = []
        with producer.session("Working.") as session:
            for step in script:
                for _ in range(3):
                    try:
                        do(session, step)
                    except (AaepError, TypeError) as error:
                        found.append(type(error))
        for entry in producer.hub.journal.read(limit=10_000):
            wrong = read(entry.data, producer.known, strict=True)[1]
            assert [one for one in wrong if grade(one, strict=True) == "error"] == []
            members = json.loads(entry.data)
            found.append([(name, None if name in NEW else value) for name, value in members.items()])
        return found


@settings(max_examples=100)
@given(st.lists(steps, max_size=6))
def test_both_ways_say_the_same_and_refuse_the_same(script: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        quick, slow = (told(script, monkeypatch, quickly=quickly) for quickly in (True, False))
    assert quick == slow


def test_the_short_way_is_taken_for_what_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    long: list[type] = []
    say = Emitter.say

    def noted(self: Emitter, cls: Any, *args: Any, **members: Any) -> Any:
        long.append(cls)
        return say(self, cls, *args, **members)

    monkeypatch.setattr(Emitter, "say", noted)
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            do(session, ("tool", "look", None))
            do(session, ("write", "Here. And there. "))
        long.clear()
        for _ in range(3):
            do(session, ("tool", "look", None))
            do(session, ("write", "Now something else. It is new. "))
        assert long == []


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
            session.voice.add(cls, REST[cls](**SAID, **members))
        assert len(producer.hub.journal.read(limit=1000)) == before


def test_a_dangerous_tool_is_refused_in_the_short_way_too() -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            do(session, ("tool", "look", None))
        session.move("calling_tool")
        with pytest.raises(AaepError, match="TOOL-002"):
            call = {"tool": "look", "tool_call_id": "call_" + "1" * 32, "risk_level": "high", "irreversible": True}
            session.voice.add(ToolInvoked, REST[ToolInvoked](**SAID, **call))
        session.move("thinking")


@pytest.mark.parametrize("percent", [True, "40", 101, -1, float("nan")])
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
        session.move("writing_output")
        with pytest.raises(AaepError):
            said = {"chunk": "Three. ", "position": 0, "complete": 0, "coalesce_hint": "none"}
            session.voice.add(OutputStreaming, REST[OutputStreaming](**said, output_id="out_" + "0" * 32))


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
                Call(session, "pay", new_id("call_"), risk="low", irreversible=cast(bool, 1)).begin()
        listener.wait_for_end()


@pytest.mark.parametrize("call", ['call_1","risk_level":"low', "call_é", "", None, 7])
def test_an_id_of_a_call_is_looked_at_each_time(call: Any) -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        for _ in range(3):
            do(session, ("tool", "look", None))
        before = len(producer.hub.journal.read(limit=1000))
        with pytest.raises((AaepError, TypeError)):
            Call(session, "look", call, risk="low", irreversible=False).begin()
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
                session.voice.add(OutputStreaming, REST[OutputStreaming](**{**said, **members}, output_id=output.id))
            assert len(producer.hub.journal.read(limit=1000)) == before
            session.voice.add(OutputStreaming, REST[OutputStreaming](**said, output_id=output.id))
            output.text_length = 20
        assert len(producer.hub.journal.read(limit=1000)) > before


@pytest.mark.parametrize("text", ["שלום", "é", "a < b", "\x07", '<span lang="fr">oui</span>', "x" * 20_000])
def test_a_chunk_unlike_the_others_goes_the_long_way(text: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        quick, slow = (told([("stream", text)], monkeypatch, quickly=quickly) for quickly in (True, False))
    assert quick == slow
