"""What is too long for one question is told in parts, and runs only after all of them were told and accepted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.adapters.question_parts import MAX_TOLD_BYTES, Telling, plan_telling, split_text
from aaep.errors import LocalProtocolError
from aaep.presentation.announce import announce
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, StateChanged
from aaep.testing import Listener
from aaep.text.quotation import mark_off
from tests.adapters.coding import Stage, ask, staged
from tests.adapters.hooking import ALLOW, Machine, claude, daemon, deny, finish, machine, permission
from tests.adapters.test_acp_proxy import LONG, joined, outcome
from tests.adapters.test_hooks import check_recorded, line

MAX_BYTES = 16_384
JOINT = re.compile(r"It goes on (?:with line \d+, counted from 1 again|in line \d+(, in the middle of a word)?): “")
OLD = "".join(f"line {number}\n" for number in range(1000))
NEW = "".join(f"line {number} with some more words than before, as a change has\n" for number in range(1000))
COMMAND = "\n".join(f"echo step {number} of a long script >> log.txt" for number in range(500))
DIFF: dict[str, Any] = {
    "kind": "edit",
    "rawInput": {},
    "content": [{"type": "diff", "path": "big.py", "oldText": OLD, "newText": NEW}],
}
LONG_CALLS = {"a diff of 60 KiB": DIFF, "a command of 20 KiB": {"rawInput": {"command": COMMAND}}}


# -- dividing ------------------------------------------------------------------------------------


def join(parts: list[str]) -> str:
    """Put the parts of a text together again, by what they say of how they go on."""
    whole = parts[0]
    for part in parts[1:]:
        found = JOINT.match(part)
        if found is None:
            whole += f" {part.removeprefix('It goes on: ')}"
            continue
        between = "\n" if "with line" in found[0] else "" if found[1] else " "
        whole = whole.removesuffix("”") + between + part[found.end() :]
    return whole


@given(st.lists(st.text("ab \n.”“👩🏽‍🔬e\u0301", max_size=90), min_size=1, max_size=4), st.integers(20, 60))
def test_the_parts_of_a_text_are_all_of_it(values: list[str], length: int) -> None:
    text = " ".join(f"At line {number}, add {mark_off(value)}." for number, value in enumerate(values))
    parts = split_text(text, length)
    assert all(part.count("“") == part.count("”") for part in parts)
    assert join(parts) == text


def test_a_part_says_with_which_line_it_goes_on() -> None:
    text = "Run “one two\nthree four\nfive six”. With b: 2."
    assert split_text(text, 22) == [
        "Run “one two”",
        "It goes on with line 2, counted from 1 again: “three four\nfive six”.",
        "With b: 2.",
    ]
    assert split_text("Run “one two three four”.", 20)[1] == "It goes on in line 1: “four”."
    assert split_text("Run “abcdefghij”.", 10)[1] == "It goes on in line 1, in the middle of a word: “fghij”."


@pytest.mark.parametrize(
    "sentence", ["3 行目に “x” を追加します。", "पंक्ति 3 में “x” जोड़ें। ", "أضف “x” عند السطر 3. "], ids=["ja", "hi", "ar"]
)
def test_parts_end_with_sentences_in_every_script(sentence: str) -> None:
    parts = split_text((sentence * 40).strip(), 5 * len(sentence))
    assert len(parts) >= 8
    assert [part.replace(sentence.strip(), "").strip() for part in parts] == [""] * len(parts)


def test_what_fits_is_one_question_and_what_is_much_too_long_none() -> None:
    assert plan_telling("Run “ls -l”.", "Run a command of 1 line.") == Telling((), "Run “ls -l”.")
    assert plan_telling(f"Run “{'x ' * MAX_TOLD_BYTES}”.", "Run a command of 1 line.") is None


def test_letters_of_four_bytes_fit_too() -> None:
    telling = plan_telling(f"Run “{'👩🏽‍🔬' * 3000}”.", "Run a command of 1 line.")
    assert telling is not None
    assert all(len(text.encode()) <= MAX_BYTES for text in (*telling.questions, telling.action))


def test_a_secret_in_the_middle_is_not_asked_about() -> None:
    secret = "ghp_" + "a1B2" * 9
    with pytest.raises(LocalProtocolError):
        plan_telling(f"Run “{'x ' * 10_000} token={secret} {'x ' * 10_000}”.", "Run a command of 1 line.")


# -- an agent over the Agent Client Protocol -----------------------------------------------------------


def hear_all(prompt: Envelope) -> Any:
    """Go on after each part, and accept."""
    return True if isinstance(prompt, AwaitingClarification) else "accept"


def get_text(prompt: Envelope) -> str:
    return prompt.question if isinstance(prompt, AwaitingClarification) else prompt.action  # type: ignore[attr-defined]


@pytest.mark.parametrize("members", LONG_CALLS.values(), ids=LONG_CALLS)
def test_who_has_heard_all_parts_can_accept(tmp_path: Path, members: dict[str, Any]) -> None:
    with staged(tmp_path, [ask(**members)], answer=hear_all) as stage:
        result = stage.prompt()
        assert stage.has_run() == 1 and result.refusals == 0
        first, *parts, last = stage.listener.prompts
        assert isinstance(last, AwaitingConfirmation)
        assert all(isinstance(part, AwaitingClarification) for part in (first, *parts))
        count = len(parts) + 1
        assert count >= 6
        assert f"in {count} parts. Nothing is done before you have heard them all. Go on?" in get_text(first)
        for number, part in enumerate(parts, start=1):
            assert get_text(part).startswith(f"Part {number} of {count}. ")
        assert f"This is the last of its {count} parts." in last.action
        assert all(len(get_text(prompt).encode()) <= MAX_BYTES for prompt in stage.listener.prompts)
        told = "\n".join(map(get_text, stage.listener.prompts))
        wanted = NEW if "content" in members else COMMAND
        assert [each for each in wanted.splitlines() if each not in told] == []
        stage.check()


def test_the_overview_names_file_counts_size_and_parts(tmp_path: Path) -> None:
    with staged(tmp_path, [ask(**DIFF)], answer=lambda prompt: False) as stage:
        stage.prompt()
        (first,) = stage.listener.prompts
        assert re.fullmatch(
            r"Change big\.py: 1000 lines added, 1000 lines removed\. It is \d+ kilobytes long, in \d+ parts\. "
            r"Nothing is done before you have heard them all\. Go on\?",
            get_text(first),
        )


def test_the_overview_is_not_told_again_with_the_first_part() -> None:
    telling = plan_telling(f"Change a.py: much. At line 1, add “{'x ' * 9000}”.", "Change a.py: much.")
    assert telling is not None
    assert telling.questions[1].startswith("Part 1 of 7. At line 1, add “x x")


def test_a_no_to_a_part_refuses_all_of_it(tmp_path: Path) -> None:
    def refuse_third(prompt: Envelope) -> Any:
        return not get_text(prompt).startswith("Part 3 ")

    with staged(tmp_path, [ask(**DIFF)], answer=refuse_third) as stage:
        result = stage.prompt()
        assert stage.has_run() == 0 and result.refusals == 1
        assert len(stage.listener.prompts) == 4 and stage.listener.tools == []
        assert stage.answers()[0]["result"] == outcome("no")
        assert "Refused. Nothing was done. Change big.py: 1000 lines" in stage.listener.output
        stage.check()


def test_who_refuses_after_the_last_part_has_refused(tmp_path: Path) -> None:
    with staged(
        tmp_path, [ask(**DIFF)], answer=lambda prompt: isinstance(prompt, AwaitingClarification) or "reject"
    ) as stage:
        assert stage.prompt().refusals == 1
        assert stage.has_run() == 0 and isinstance(stage.listener.prompts[-1], AwaitingConfirmation)
        stage.check()


@pytest.mark.parametrize("word", ["accept", "yes", 1])
def test_accepting_before_the_end_was_told_runs_nothing(tmp_path: Path, word: Any) -> None:
    """Nothing but a yes goes on, and only to the next part; whoever leaves then has refused."""
    stages: list[Stage] = []

    def accept_early(prompt: Envelope) -> Any:
        if get_text(prompt).startswith("Part 2 "):
            stages[0].listener.reply(prompt, word)
            stages[0].listener.reply(prompt, word)
            stages[0].leave()
            return "silence"
        return True

    with staged(tmp_path, [ask(**DIFF)], answer=accept_early) as stage:
        stages.append(stage)
        stage.prompt()
        assert stage.has_run() == 0 and stage.listener.tools == []
        assert not any(isinstance(prompt, AwaitingConfirmation) for prompt in stage.listener.prompts)
        assert stage.answers()[0]["result"] == outcome("no")


def test_a_turn_that_is_stopped_between_parts_runs_nothing(tmp_path: Path) -> None:
    stages: list[Stage] = []

    def stop_at_second(prompt: Envelope) -> Any:
        if get_text(prompt).startswith("Part 2 "):
            stages[0].agent.cancel()
            return "silence"
        return True

    with staged(tmp_path, [ask(**DIFF)], answer=stop_at_second) as stage:
        stages.append(stage)
        stage.prompt()
        assert stage.has_run() == 0
        assert stage.answers()[0]["result"] == {"outcome": {"outcome": "cancelled"}}
        stage.check()


def test_a_part_is_told_in_full_before_a_yes_to_it_counts(tmp_path: Path) -> None:
    """C-22: what is asked of the reader at each part."""
    with staged(tmp_path, [ask(**DIFF)], answer=hear_all) as stage:
        stage.prompt()
        part = announce(stage.listener.prompts[1])
        assert part is not None and part.cut
        assert "y" not in dict(part.keys) and {"y", "n"} <= {*dict(part.detail_keys)}
        assert "Hear the whole text before you can accept" in part.text


# -- between an editor and its agent -------------------------------------------------------------------


@pytest.mark.parametrize("has_heard_all", [True, False])
def test_parts_are_told_beside_an_editor_too(tmp_path: Path, has_heard_all: bool) -> None:
    with joined(tmp_path, [ask(**DIFF)]) as (editor, reader):
        editor.wait_for_method("session/request_permission")
        while not isinstance(
            prompt := reader.wait_for(AwaitingClarification, AwaitingConfirmation), AwaitingConfirmation
        ):
            is_refused = not has_heard_all and prompt.question.startswith("Part 2 ")
            reader.subscriber.answer(prompt, not is_refused).wait(LONG)
            if is_refused:
                break
        else:
            reader.subscriber.accept(prompt).wait(LONG)
        editor.wait_for_method("$/cancel_request")
        assert editor.wait_for_end() == "end_turn"
        assert editor.has_run() is has_heard_all
        assert [answer["result"] for answer in editor.answers()] == [outcome("yes" if has_heard_all else "no")]
        assert reader.errors == []


def test_an_editor_that_is_first_ends_the_parts(tmp_path: Path) -> None:
    with joined(tmp_path, [ask(**DIFF)]) as (editor, reader):
        request = editor.wait_for_method("session/request_permission")
        reader.subscriber.answer(reader.wait_for(AwaitingClarification), True).wait(LONG)
        reader.wait_for(AwaitingClarification)
        editor.send({"id": request["id"], "result": outcome("yes")})
        assert editor.wait_for_end() == "end_turn"
        assert editor.has_run()
        while "Allowed in the editor." not in reader.output:
            reader.wait_for(Envelope)
        assert reader.errors == []


# -- hooks ---------------------------------------------------------------------------------------------


@pytest.fixture
def host() -> Any:
    with machine() as host:
        yield host


HOOKED = {
    "a file of 60 KiB": ("Write", {"file_path": "/home/ada/shop/big.py", "content": NEW}),
    "a command of 20 KiB": ("Bash", {"command": COMMAND}),
}


@pytest.mark.parametrize(("tool", "given_input"), HOOKED.values(), ids=HOOKED)
@pytest.mark.parametrize("has_heard_all", [True, False])
def test_a_hook_tells_parts_too(
    host: Machine, tmp_path: Path, tool: str, given_input: dict[str, Any], has_heard_all: bool
) -> None:
    def decide(prompt: Envelope) -> Any:
        if not has_heard_all and get_text(prompt).startswith("Part 2 "):
            return False
        return hear_all(prompt)

    with daemon(host) as running:
        listener = Listener(running.producer, decide)
        status, out, err = host.run("PermissionRequest", permission(tool, given_input))
        refused = "The user did not agree. Nothing was done. Do not try this again unless the user asks for it."
        assert (status, out, err) == (0, line(ALLOW if has_heard_all else deny(refused)), "")
        told = "\n".join(map(get_text, listener.prompts))
        wanted = given_input.get("content") or given_input["command"]
        missing = [each for each in wanted.splitlines() if each not in told]
        assert (missing == []) is has_heard_all
        if has_heard_all:
            listener.wait("tool.invoked")  # which the hook does not wait for
        assert len(listener.tools) == has_heard_all
        if not has_heard_all:
            listener.wait("output.streaming")
            assert listener.output.startswith("Refused. Nothing was done. ")
        host.tell("Stop", claude("Stop"))
        listener.wait_for_end()
        check_recorded(listener, tmp_path)


def test_a_hook_that_leaves_between_parts_takes_the_question_back(host: Machine) -> None:
    def wait_at_second(prompt: Envelope) -> Any:
        return "silence" if get_text(prompt).startswith("Part 2 ") else True

    with daemon(host) as running:
        listener = Listener(running.producer, wait_at_second)
        process = host.start("PermissionRequest", permission("Bash", {"command": COMMAND}))
        listener.wait(lambda event: isinstance(event, AwaitingClarification) and event.question.startswith("Part 2 "))
        process.terminate()
        assert finish(process) == (0, "{}\n", "")
        listener.wait(lambda event: isinstance(event, StateChanged) and "No longer asked." in str(event.summary_normal))
        assert listener.tools == [] and isinstance(listener.prompts[-1], AwaitingClarification)
