"""Coding agents over the Agent Client Protocol: recordings of real ones, and every trap that was found with them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aaep.adapters.acp_agents import AGENTS, KnownAgent, NotAsking
from aaep.adapters.acp_messages import CodingAgentError
from aaep.adapters.acp_rules import AllowRule
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation
from tests.adapters.coding import (
    NEW,
    OPTIONS,
    RECORDINGS,
    ask,
    call,
    ended,
    in_thread,
    load_recording,
    say,
    staged,
)

ANSWERS = [("accept", 1), ("reject", 0)]


# -- recordings of real agents ---------------------------------------------------------------


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize(("answer", "times"), ANSWERS)
def test_a_recorded_agent_does_what_was_allowed_once_and_nothing_that_was_refused(
    tmp_path: Path, path: Path, answer: str, times: int
) -> None:
    agent, script, steps = load_recording(path)
    with staged(tmp_path, steps, answer=answer, agent=agent, script=script) as stage:
        result = stage.prompt("Make a file.")
        action = stage.action
        assert "touch RAN" in action and "List the files" not in action
        assert stage.has_run() == times
        assert result.unasked == ()
        assert len(stage.listener.tools) == times
        assert not stage.agent.counts["unknown update"]
        if not (agent.name == "codex" and answer == "reject"):  # which ends its turn then
            assert result.is_done
        else:
            assert stage.listener.types[-1] == "session.cancelled"
        assert stage.listener.findings() == []
        stage.check()


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_agent_is_started_so_that_it_asks(tmp_path: Path, path: Path) -> None:
    agent, script, steps = load_recording(path)
    outside = {**os.environ, "GOOSE_MODE": "auto", "COPILOT_ALLOW_ALL": "1", "INITIAL_AGENT_MODE": "agent"}
    with staged(tmp_path, steps, agent=agent, script=script, environment=outside) as stage:
        environment = stage.log[0]["environment"]
        for name, value in agent.environment.items():
            assert environment[name] == value
        assert not environment.keys() & {*agent.removed_variables}
        assert stage.agent.mode == (agent.mode or "")
        initialize = stage.received[0]["params"]
        assert initialize["clientCapabilities"] == {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
            "elicitation": {"form": {}},
        }


# -- traps -------------------------------------------------------------------------------------

SHORT_IN_A_LONG_FILE = {
    "type": "diff",
    "path": "{cwd}/big.txt",
    "oldText": "\n".join(f"line number {number} of many" for number in range(30_000)),
    "newText": "\n".join(f"line number {number} of many" for number in range(29_999)) + "\nthe last one",
}
TRAPS: dict[str, list[dict[str, Any]]] = {
    "no tool call before the request": [ask()],
    "in progress before it": [call(status="in_progress", rawInput={"command": "touch RAN"}), ask()],
    "a lying title": [call(title="List the files", rawInput={"command": "touch RAN"}), ask(title="List the files")],
    "arguments that come late": [
        call(rawInput={}, title="Terminal", kind="execute", name="Bash"),
        ended(status="pending", rawInput={"command": "touch RAN", "description": "List the files"}),
        ask(rawInput={}, name="Bash"),
    ],
    "an id that is a text": [{**ask(), "id": "98231c9d-43b5-4011-99f3-610286c3c6ea"}],
    "the id zero": [{**ask(), "id": 0}],
    "unknown updates": [
        {"update": {"sessionUpdate": "telepathy_update", "strength": 3}},
        {"update": {"sessionUpdate": None}},
        {"update": {"sessionUpdate": "tool_call", "toolCallId": 7}},
        {"message": {"method": "_auth/status_update", "params": []}},
        ask(),
    ],
    "garbage lines": [
        {"raw": "Debugger attached."},
        {"raw": "[1, 2]"},
        {"raw": '{"jsonrpc": "2.0", "id": 99, "result": {}}'},
        {"raw": "[" * 100_000},
        {"raw": '{"half": "\\ud83d"}'},
        ask(),
    ],
    "a line of 780 kB": [
        call(kind="edit", content=[SHORT_IN_A_LONG_FILE]),
        ask(kind="edit", rawInput={"filePath": "{cwd}/big.txt"}, content=[SHORT_IN_A_LONG_FILE]),
    ],
    "a kind that is unknown": [ask(kind="improvise", name="shell")],
    "methods that are not offered": [{"call": "fs/write_text_file"}, {"call": "terminal/create"}, ask()],
}


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize(("answer", "times"), ANSWERS)
def test_in_every_trap_what_is_refused_does_not_run(tmp_path: Path, trap: str, answer: str, times: int) -> None:
    with staged(tmp_path, [say("I will make a file."), *TRAPS[trap], say("The end.")], answer=answer) as stage:
        result = stage.prompt()
        assert result.is_done and result.unasked == ()
        assert stage.has_run() == times
        expected = "big.txt: 1 line added, 1 line removed. At line 30000, replace" if "780" in trap else "touch RAN"
        assert expected in stage.action
        assert "List the files" not in " ".join(stage.listener.heard)
        assert stage.answers()[-1]["result"]["outcome"]["optionId"] == {1: "yes", 0: "no"}[times]
        stage.check()


def test_what_was_left_out_is_counted(tmp_path: Path) -> None:
    with staged(tmp_path, [*TRAPS["unknown updates"], *TRAPS["garbage lines"]]) as stage:
        stage.prompt()
        stage.agent.close()
        counts = stage.agent.counts
        assert (counts["unknown update"], counts["unknown notification"]) == (3, 1)
        assert (counts["garbage"], counts["unmatched"]) == (3, 2)


def test_two_requests_at_once_are_asked_one_after_another_and_each_gets_its_own_answer(tmp_path: Path) -> None:
    both = [
        ask("call_1", rawInput={"command": "touch ONE"}, run="ONE"),
        ask("call_2", rawInput={"command": "touch TWO"}, run="TWO"),
    ]
    with staged(
        tmp_path, [{"ask_all": both}], answer=lambda prompt: "accept" if "TWO" in prompt.action else "reject"
    ) as stage:
        assert stage.prompt().is_done
        assert (stage.has_run("ONE"), stage.has_run("TWO")) == (0, 1)
        assert len(stage.listener.prompts) == 2
        stage.check()


def test_an_agent_that_dies_in_the_middle_takes_its_question_with_it(tmp_path: Path) -> None:
    with staged(tmp_path, [ask()], answer="silence") as stage:
        thread, results = in_thread(stage.prompt)
        stage.listener.wait("awaiting.confirmation")
        os.kill(stage.log[0]["pid"], signal.SIGKILL)
        thread.join(30)
        assert results[0].stop_reason == "gone"
        assert stage.listener.types[-1] == "session.errored"
        assert stage.has_run() == 0
        stage.check()


def test_an_agent_that_dies_by_itself_says_its_last_words(tmp_path: Path) -> None:
    with staged(tmp_path, [say("Now."), {"die": 3}], [say("Again.")]) as stage:
        assert stage.prompt().stop_reason == "gone"
        assert "the fake agent dies" in stage.agent.stderr
        assert stage.prompt().stop_reason == "gone"
        stage.check()


def test_an_agent_that_never_answers_is_ended_when_it_was_told_to_stop(tmp_path: Path) -> None:
    with staged(tmp_path, [say("Let me see."), {"hang": True, "deaf": True}], cancel_timeout=0.1) as stage:
        thread, results = in_thread(stage.prompt)
        stage.listener.wait("output.streaming")
        stage.agent.cancel()
        thread.join(30)
        assert results[0].stop_reason == "gone" and not stage.agent.is_running
        assert "It did not stop, so its program was ended." in stage.listener.heard[-1]
        stage.check()


def test_nobody_there_is_a_no(tmp_path: Path) -> None:
    with staged(tmp_path, [ask()]) as stage:
        stage.leave()
        stage.prompt()
        assert stage.has_run() == 0
        assert stage.answers()[-1]["result"]["outcome"]["optionId"] == "no"


def test_a_listener_who_leaves_is_a_no(tmp_path: Path) -> None:
    with staged(tmp_path, [ask()], answer="silence") as stage:
        thread, results = in_thread(stage.prompt)
        stage.listener.wait("awaiting.confirmation")
        stage.leave()
        thread.join(30)
        assert results[0].is_done and stage.has_run() == 0


def test_what_the_agent_asks_no_longer_is_withdrawn(tmp_path: Path) -> None:
    both = [
        {**ask("call_1", run="ONE"), "id": 55},
        {**ask("call_2", run="TWO", rawInput={"command": "touch TWO"}), "id": 56},
    ]
    cancel = {"message": {"method": "$/cancel_request", "params": {"requestId": 55}}}
    with staged(tmp_path, [{"ask_all": both, "then": [cancel]}], answer="silence") as stage:
        thread, results = in_thread(stage.prompt)
        # The first may be withdrawn before it is put at all.
        second = stage.listener.wait(lambda event: isinstance(event, AwaitingConfirmation) and "TWO" in event.action)
        stage.listener.reply(second, "accept")
        thread.join(30)
        assert results[0].is_done
        assert (stage.has_run("ONE"), stage.has_run("TWO")) == (0, 1)
        stage.check()


# -- only a clear yes, and only for this once ---------------------------------------------------


@pytest.mark.parametrize(
    ("options", "answered"),
    [
        ([], {"outcome": "cancelled"}),
        ([OPTIONS[0], OPTIONS[2]], {"outcome": "cancelled"}),
        ([OPTIONS[0], OPTIONS[3]], {"outcome": "selected", "optionId": "no"}),
        ([OPTIONS[1], {**OPTIONS[1], "optionId": "other"}, OPTIONS[3]], {"outcome": "selected", "optionId": "no"}),
        ([OPTIONS[1], {**OPTIONS[0], "optionId": "yes"}], {"outcome": "cancelled"}),
        ([{**OPTIONS[1], "kind": "allow_twice"}, OPTIONS[3]], {"outcome": "selected", "optionId": "no"}),
    ],
)
def test_without_one_way_to_allow_it_once_it_is_refused_unasked(tmp_path: Path, options: Any, answered: Any) -> None:
    step = ask(options=options)
    with staged(tmp_path, [step]) as stage:
        stage.prompt()
        assert stage.listener.prompts == [] and stage.has_run() == 0
        assert stage.answers()[-1]["result"]["outcome"] == answered
        assert any("no way to allow this only once" in sentence for sentence in stage.listener.heard)
        stage.check()


def test_a_request_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    step = ask()
    step["ask"]["toolCall"] = "touch RAN"
    with staged(tmp_path, [step]) as stage:
        stage.prompt()
        assert stage.has_run() == 0 and stage.listener.prompts == []


def test_a_bug_of_ours_is_a_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with staged(tmp_path, [say("Hello."), ask()]) as stage:

        def fail(*_: Any) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr("aaep.adapters.acp_turn.describe_call", fail)
        stage.prompt()
        assert stage.has_run() == 0
        assert stage.listener.types[-1] == "session.errored"
        stage.check()


def test_a_cancelled_turn_answers_what_is_open_with_cancelled_before_it_tells_the_agent(tmp_path: Path) -> None:
    with staged(tmp_path, [say("I will."), ask(), {"hang": True}], answer="silence") as stage:
        thread, results = in_thread(stage.prompt)
        stage.listener.wait("awaiting.confirmation")
        stage.agent.cancel()
        thread.join(30)
        assert results[0].stop_reason == "cancelled" and stage.has_run() == 0
        told = [message for message in stage.received if "method" not in message or "cancel" in message["method"]]
        assert told[0]["result"]["outcome"] == {"outcome": "cancelled"}
        assert told[1]["method"] == "session/cancel"
        assert stage.listener.types[-1] == "session.cancelled"
        stage.check()


# -- what is asked ---------------------------------------------------------------------------------


def asked(tmp_path: Path, **members: Any) -> str:
    with staged(tmp_path, [ask(**members)], answer="reject") as stage:
        stage.prompt()
        return stage.action


def test_a_command_is_told_with_all_of_its_lines_and_arguments(tmp_path: Path) -> None:
    raw = {"command": "cd src\nrm -r .", "cwd": "/etc", "timeout": 5000, "description": "List the files"}
    action = asked(tmp_path, rawInput=raw)
    assert action == "Run “cd src\nrm -r .”. With cwd: /etc; timeout: 5000."


def test_invisible_characters_are_spelled_out(tmp_path: Path) -> None:
    assert "(invisible zero width space)" in asked(tmp_path, rawInput={"command": "rm a\u200b.txt"})


def test_a_list_of_arguments_is_told_one_by_one(tmp_path: Path) -> None:
    assert asked(tmp_path, rawInput={"command": ["git", "commit", "-m", "a b"]}) == (
        "Run command: 4 items: git, commit, -m, “a b”."
    )


def test_a_change_is_told_with_its_file_its_size_and_every_hunk(tmp_path: Path) -> None:
    old, new = "one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\nfive\n"
    content = [{"type": "diff", "path": "{cwd}/src/a.txt", "oldText": old, "newText": new}]
    raw = {"file_path": "{cwd}/src/a.txt", "old_string": "two", "new_string": "2", "replace_all": True}
    assert asked(tmp_path, kind="edit", content=content, rawInput=raw, title="Fix a typo") == (
        "Change src/a.txt: 2 lines added, 1 line removed. At line 2, replace two with 2. At line 5, add five. "
        "With replace_all: yes."
    )


def test_a_new_file_is_told_whole_and_one_elsewhere_with_its_whole_path(tmp_path: Path) -> None:
    content = [{"type": "diff", "path": "/etc/motd", "oldText": None, "newText": "hello\nyou\n"}]
    assert asked(tmp_path, kind="edit", content=content, rawInput={}) == ("Create /etc/motd, 2 lines: “hello\nyou\n”.")


def test_a_change_of_spaces_only_is_said_to_be_one(tmp_path: Path) -> None:
    content = [{"type": "diff", "path": "a.py", "oldText": "x\ny = 1\n", "newText": "x\n    y = 1\n"}]
    assert asked(tmp_path, kind="edit", content=content, rawInput={}).endswith(
        "Only spaces or line breaks differ there."
    )


def test_a_diff_does_not_hide_a_command(tmp_path: Path) -> None:
    content = [{"type": "diff", "path": "a.py", "oldText": "x", "newText": "y"}]
    action = asked(tmp_path, content=content, rawInput={"command": "rm -r src"}, name="Bash")
    assert "rm -r src" in action and "replace x with y" in action


def test_where_there_is_only_a_title_it_is_told_as_the_agents_own_words(tmp_path: Path) -> None:
    assert asked(tmp_path, rawInput=None, title="touch RAN") == (
        "The agent does not say what it runs, only this: “touch RAN”."
    )


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("echo " + "x " * 600_000, "too long to be read out in full"),
        (f"curl -H 'x-key: sk-{'a1' * 15}'", "cannot be read out in full"),
    ],
)
def test_what_cannot_be_heard_in_full_is_refused_and_said_to_be(tmp_path: Path, command: str, sentence: str) -> None:
    with staged(tmp_path, [ask(rawInput={"command": command})]) as stage:
        stage.prompt()
        assert stage.has_run() == 0 and stage.listener.prompts == []
        assert any(sentence in heard for heard in stage.listener.heard)
        stage.check()


# -- what nobody was asked about --------------------------------------------------------------------

UNASKED = [
    say("I will make a file."),
    call(kind="execute", rawInput={"command": "touch RAN"}, title="List the files"),
    {"run": "RAN"},
    ended(),
    {"wait": "session/cancel"},
    {"hang": True},
]


def test_what_runs_unasked_is_told_and_stops_the_turn(tmp_path: Path) -> None:
    with staged(tmp_path, UNASKED) as stage:
        result = stage.prompt()
        assert result.unasked == ("Run “touch RAN”.",)
        assert result.stop_reason == "cancelled"
        assert stage.listener.tools == []
        assert "did this without asking" in stage.listener.output
        assert stage.listener.types[-1] == "session.cancelled"
        stage.check()


def test_with_allow_unasked_it_is_told_and_the_turn_goes_on(tmp_path: Path) -> None:
    with staged(tmp_path, [*UNASKED[:4], say("The end.")], allow_unasked=True) as stage:
        result = stage.prompt()
        assert result.is_done and result.unasked
        assert "did this without asking" in stage.listener.output and "The end." in stage.listener.output
        stage.check()


def test_what_was_refused_and_ran_is_told_and_stops_the_turn_in_any_case(tmp_path: Path) -> None:
    step = {**ask(), "refused": [{"run": "RAN"}, ended(), {"wait": "session/cancel"}, {"hang": True}]}
    with staged(tmp_path, [step], answer="reject", allow_unasked=True) as stage:
        assert stage.prompt().stop_reason == "cancelled"
        assert "although it was refused" in stage.listener.output
        stage.check()


def test_what_ends_before_the_answer_did_not_wait_for_it(tmp_path: Path) -> None:
    steps = [{"ask_all": [ask()], "then": [ended()]}]
    with staged(tmp_path, steps, answer="silence") as stage:
        thread, results = in_thread(stage.prompt)
        thread.join(30)
        assert results[0].unasked == ("Run “touch RAN”.",)
        stage.check()


def test_reading_and_searching_unasked_is_told_as_tools(tmp_path: Path) -> None:
    steps = [
        call("r", kind="read", name="Read", rawInput={"file_path": "{cwd}/a.py"}),
        ended("r"),
        call("s", kind="search", name="Grep", rawInput={"pattern": "def main"}),
        ended("s", "failed"),
    ]
    with staged(tmp_path, steps) as stage:
        result = stage.prompt()
        assert result.is_done and result.unasked == ()
        assert stage.listener.tools == ["Read", "Grep"]
        assert "Reading a.py." in stage.listener.heard and "Reading a.py: done." in stage.listener.heard
        stage.check()


def test_a_tool_that_says_it_reads_and_has_a_command_is_no_reading(tmp_path: Path) -> None:
    steps = [call(kind="read", rawInput={"command": "rm a"}), ended(), {"wait": "session/cancel"}, {"hang": True}]
    with staged(tmp_path, steps) as stage:
        assert stage.prompt().unasked
        stage.check()


def test_what_runs_or_asks_between_two_turns_is_told(tmp_path: Path) -> None:
    heard: list[str] = []
    came = threading.Event()

    def note(text: str) -> None:
        heard.append(text)
        if len(heard) == 2:
            came.set()

    late = ended("late", kind="execute", rawInput={"command": "touch LATE"})
    script = {
        "initialize": {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"list": {}}}},
        "afterwards": [{"wait": "session/list"}, {"run": "LATE"}, late, ask("later")],
    }
    with staged(tmp_path, [say("Hello.")], script=script, on_notice=note) as stage:
        thread, results = in_thread(stage.prompt)
        thread.join(30)
        assert results[0].is_done
        stage.agent.list_sessions()
        assert came.wait(30)
        assert "without asking: Run “touch LATE”." in heard[0] and heard[1].startswith("Refused")
        stage.agent.close()
        assert stage.has_run() == 0


# -- modes ------------------------------------------------------------------------------------------------


def modes(current: str, *others: str) -> dict[str, Any]:
    available = [{"id": mode, "name": mode.title()} for mode in (current, *others)]
    return {"new": {"sessionId": "{session}", "modes": {"currentModeId": current, "availableModes": available}}}


def custom(**members: Any) -> KnownAgent:
    return KnownAgent(name="fake", title="Fake", command=("fake",), **members)


def test_the_mode_in_which_it_asks_is_set(tmp_path: Path) -> None:
    with staged(tmp_path, script=modes("auto", "approve"), agent=custom(mode="approve")) as stage:
        assert stage.agent.mode == "approve"
        assert stage.received[-1]["params"] == {"sessionId": "s-1", "modeId": "approve"}


@pytest.mark.parametrize(
    ("agent", "script"),
    [
        (custom(), modes("yolo", "default")),
        (custom(mode="approve"), {**modes("auto"), "errors": {"session/set_mode": {"message": "no such mode"}}}),
        (
            custom(mode="approve"),
            {"new": {"sessionId": "{session}"}, "errors": {"session/set_mode": {"message": "no"}}},
        ),
    ],
)
def test_an_agent_that_would_not_ask_is_not_used_unless_that_is_wanted(
    tmp_path: Path, agent: KnownAgent, script: dict[str, Any]
) -> None:
    with staged(tmp_path, script=script, agent=agent, start=False) as stage:
        with pytest.raises(NotAsking):
            stage.agent.start()
        assert not stage.agent.is_running
    with staged(tmp_path, script=script, agent=agent, allow_unasked=True) as stage:
        assert stage.agent.is_running


def test_arguments_with_which_it_would_not_ask_are_refused_before_it_starts(tmp_path: Path) -> None:
    with staged(tmp_path, agent=AGENTS["gemini"], arguments=["--approval-mode=yolo"], start=False) as stage:
        with pytest.raises(NotAsking, match="--approval-mode=yolo"):
            stage.agent.start()
        assert not stage.log_path.exists()


def test_nobody_knows_whether_an_unknown_agent_asks_and_that_is_said(tmp_path: Path) -> None:
    heard: list[str] = []
    with staged(tmp_path, script={"new": {"sessionId": "{session}"}}, agent=custom(), on_notice=heard.append):
        assert "is not known" in heard[0]


def test_a_mode_that_no_longer_asks_is_told_and_set_back(tmp_path: Path) -> None:
    change = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "auto"}}
    steps = [say("Hello."), change, {"wait": "session/set_mode"}, say("The end.")]
    with staged(tmp_path, steps, script=modes("default", "auto", "plan")) as stage:
        assert stage.prompt().is_done
        assert "In the mode Auto it acts without asking. It is set back." in stage.listener.output
        assert stage.received[-1]["params"]["modeId"] == "default"
        stage.check()


def test_another_mode_that_asks_is_only_told(tmp_path: Path) -> None:
    change = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}}
    with staged(tmp_path, [change], script=modes("default", "plan")) as stage:
        stage.prompt()
        assert "Mode: Plan." in stage.listener.heard
        assert "session/set_mode" not in stage.methods()


# -- what the agent tells ----------------------------------------------------------------------------------


def test_what_it_says_is_told_in_sentences_and_thoughts_are_not(tmp_path: Path) -> None:
    thought = {"update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Secretly. "}}}
    steps = [say("I will "), say("look. "), thought, say("There it is.")]
    with staged(tmp_path, steps) as stage:
        stage.prompt("Look.")
        assert stage.listener.output == "I will look. There it is."
        assert "Fake: I will look." in stage.listener.heard
        assert stage.listener.events[0].request_text == "Look."  # type: ignore[attr-defined]  # the start of a session
        stage.check()


def test_a_plan_is_told_as_progress(tmp_path: Path) -> None:
    entries = [{"content": "Read.", "status": "completed"}, {"content": "Write the code.", "status": "in_progress"}]
    with staged(tmp_path, [{"update": {"sessionUpdate": "plan", "entries": entries}}]) as stage:
        stage.prompt()
        assert any("Write the code." in heard and "50" in heard for heard in stage.listener.heard)
        stage.check()


@pytest.mark.parametrize(
    ("reason", "end", "sentence"),
    [
        ("end_turn", "session.completed", "Done."),
        ("cancelled", "session.cancelled", "Stopped."),
        ("refusal", "session.errored", "The model refuses to go on."),
        ("max_tokens", "session.errored", "The answer became too long for the model."),
        ("max_turn_requests", "session.errored", "It took more steps than it may."),
        ("boredom", "session.errored", "It stopped, and does not say why."),
    ],
)
def test_the_end_of_a_turn_is_the_end_of_the_session(tmp_path: Path, reason: str, end: str, sentence: str) -> None:
    with staged(tmp_path, [{"stop": reason}]) as stage:
        assert stage.prompt().stop_reason == reason
        assert stage.listener.types[-1] == end
        assert sentence in stage.listener.heard[-1]
        stage.check()


def test_a_tool_that_fails_after_a_yes_is_told_to_have_failed(tmp_path: Path) -> None:
    with staged(tmp_path, [{**ask(), "allowed": [ended(status="failed")]}]) as stage:
        stage.prompt()
        assert any("failed" in heard for heard in stage.listener.heard)
        stage.check()


def test_a_tool_whose_end_is_never_told_may_have_happened(tmp_path: Path) -> None:
    with staged(tmp_path, [{**ask(), "allowed": []}]) as stage:
        stage.prompt()
        assert "may have happened" in " ".join(stage.listener.heard)
        stage.check()


FORM = {
    "message": "Which colour?",
    "requestedSchema": {
        "properties": {
            "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
            "bright": {"type": "boolean", "title": "Bright?"},
            "layers": {"type": "integer", "title": "How many layers?"},
            "rooms": {"type": "array", "title": "Where?", "items": {"enum": ["hall", "attic"]}},
            "note": {"type": "string", "title": "Anything else?"},
        },
        "required": ["colour"],
    },
}


def answer_form(prompt: AwaitingClarification) -> Any:
    replies = {"Which colour?": "b", "Bright?": False, "layers": 2, "hall": True, "attic": False, "else": "No."}
    return next(value for words, value in replies.items() if words in prompt.question)


def test_a_form_is_asked_question_by_question(tmp_path: Path) -> None:
    with staged(tmp_path, [{"form": FORM}], answer=answer_form) as stage:
        assert stage.prompt().is_done
        assert stage.answers()[-1]["result"] == {
            "action": "accept",
            "content": {"colour": "b", "bright": False, "layers": 2, "rooms": ["hall"], "note": "No."},
        }
        stage.check()


def test_a_form_that_nobody_answers_is_declined(tmp_path: Path) -> None:
    with staged(tmp_path, [{"form": FORM}, {"form": {"mode": "url", "url": "http://a"}}]) as stage:
        stage.leave()
        stage.prompt()
        assert [answer["result"] for answer in stage.answers()] == [{"action": "decline"}] * 2


# -- the person's own rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "is_allowed"),
    [
        ({"command": "git status"}, True),
        ({"command": ["git", "status"]}, True),
        ({"command": "git status", "description": "x", "cwd": "{cwd}"}, True),
        ({"command": "git status", "cwd": "/"}, False),
        ({"command": "git status", "env": {"GIT_PAGER": "sh"}}, False),
        ({"command": "git status --short"}, False),
        ({"command": "git status; rm a"}, False),
        ({"command": "git\nstatus"}, False),
        ({"command": "git  status"}, False),
        ({"command": "'git' status"}, False),
    ],
)
def test_a_rule_allows_exactly_one_command(tmp_path: Path, raw: dict[str, Any], is_allowed: bool) -> None:
    rules = [AllowRule(command=("git", "status"))]
    with staged(tmp_path, [ask(rawInput=raw)], answer="reject", rules=rules) as stage:
        stage.prompt()
        assert stage.has_run() == is_allowed
        assert bool(stage.listener.prompts) is not is_allowed
        if is_allowed:
            assert any(heard.startswith("Allowed by your own rule. Running") for heard in stage.listener.heard)
        stage.check()


def test_a_rule_for_reading_allows_no_command_and_no_change(tmp_path: Path) -> None:
    steps = [
        ask("r", kind="read", rawInput={"path": "a.py"}, run="READ"),
        ask("c", kind="read", rawInput={"command": "rm a.py"}, run="RAN"),
        ask("t", kind="read", rawInput=None, title="Read a.py", run="TITLED"),
    ]
    with staged(tmp_path, steps, answer="reject", rules=[AllowRule(kind="read")]) as stage:
        stage.prompt()
        assert [stage.has_run(name) for name in ("READ", "RAN", "TITLED")] == [1, 0, 0]
        stage.check()


# -- starting, sessions, logins ---------------------------------------------------------------------------


def test_stored_sessions_are_listed_and_one_is_resumed_without_telling_it_again(tmp_path: Path) -> None:
    script = {
        "initialize": {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"list": {}}},
        },
        "session/list": {"sessions": [{"sessionId": "old", "title": "Tidy up", "updatedAt": "2026-01-01"}]},
        "session/load": {"modes": NEW["modes"]},
        "replayed": {
            "session/load": [
                {"method": "session/update", "params": {"sessionId": "old", "update": step["update"]}}
                for step in (say("Long ago."), call(kind="execute", status="completed", rawInput={"command": "rm x"}))
            ]
        },
    }
    heard: list[str] = []
    with staged(tmp_path, [say("Now.")], script=script, start=False, on_notice=heard.append) as stage:
        stage.agent.start(resume="old")
        assert [(one.id, one.title) for one in stage.agent.list_sessions()] == [("old", "Tidy up")]
        assert stage.agent.session_id == "old" and heard == []


def test_a_program_that_is_not_there_is_an_error_that_says_where_to_get_it(tmp_path: Path) -> None:
    with staged(tmp_path, start=False) as stage:
        stage.agent.agent = replace(AGENTS["goose"], command=("no-such-program",))
        with pytest.raises(CodingAgentError, match=r"no-such-program was not found\. Get it with"):
            stage.agent.start()


def test_a_program_that_ends_at_once_is_an_error(tmp_path: Path) -> None:
    with staged(tmp_path, start=False) as stage:
        stage.agent.agent = replace(custom(), command=(sys.executable, "-c", "import sys; sys.exit('no model')"))
        with pytest.raises(CodingAgentError, match="has ended"):
            stage.agent.start()
        assert stage.agent.stderr == ["no model"]


# -- no process survives -----------------------------------------------------------------------------------


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
def test_closing_ends_the_agent_and_what_it_started(tmp_path: Path) -> None:
    with staged(tmp_path, [{"spawn": True}]) as stage:
        stage.prompt()
        pids = [stage.log[0]["pid"], *(entry["spawned"] for entry in stage.log if "spawned" in entry)]
        assert len(pids) == 2 and all(map(is_alive, pids))
        stage.agent.close()
        assert not any(map(is_alive, pids))


BRIDGE = """
import sys
from pathlib import Path
from tests.adapters.coding import Stage, ask

def tell(said):
    if said.asks:
        print(said.text, flush=True)

stage = Stage(Path(sys.argv[1]), [{"spawn": True}, ask()], answer="silence", on_announcement=tell)
stage.agent.start()
stage.prompt()
"""


@needs_proc
def test_a_killed_bridge_runs_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    bridge = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BRIDGE), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=root,
    )
    with bridge:
        assert bridge.stdout is not None
        assert "touch RAN" in bridge.stdout.readline()
        stage_log = tmp_path / "log.jsonl"
        entries = [json.loads(line) for line in stage_log.read_text().splitlines()]
        pids = [entries[0]["pid"], *(entry["spawned"] for entry in entries if "spawned" in entry)]
        assert len(pids) == 2
        watched = [os.pidfd_open(pid) for pid in pids]
        bridge.kill()
        for descriptor in watched:
            assert select.select([descriptor], [], [], 30)[0], "the process has ended"
            os.close(descriptor)
    assert not (tmp_path / "work" / "RAN").exists()
