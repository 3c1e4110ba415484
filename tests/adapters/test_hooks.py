"""The hook matrix: what the hook program prints and how it exits, whatever happens, with a real daemon and listener."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import aaep
from aaep.adapters import hook_program
from aaep.presentation.preferences import Preferences
from aaep.testing import Listener
from aaep.text.phrases import GAP, get_phrases
from aaep.transports.unix.paths import choose_socket_path, get_peer_ids
from tests.adapters.hooking import (
    ALLOW,
    TOUCH,
    Daemon,
    Machine,
    break_daemon,
    claude,
    daemon,
    deny,
    finish,
    impostor,
    machine,
    permission,
)

REFUSED = "The user refused. Nothing was done. Do not try this again unless the user asks for it."
NOBODY = hook_program.format_decision("copilot", "none")
COPILOT = {"sessionId": "77", "timestamp": 1, "cwd": "/home/ada/shop", "toolName": "bash", "toolInput": TOUCH}


@pytest.fixture
def host() -> Iterator[Machine]:
    with machine() as found:
        yield found


@pytest.fixture
def running(host: Machine) -> Iterator[Daemon]:
    with daemon(host) as found:
        yield found


def line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


def check_recorded(listener: Listener, tmp_path: Path) -> None:
    """The recorded session passes ``aaep validate --strict``."""
    recording = tmp_path / "session.ndjson"
    listener.write_capture(recording)
    command = [sys.executable, "-m", "aaep", "validate", "--strict", str(recording)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# -- answers -------------------------------------------------------------------------------------


def test_a_yes_allows_and_the_whole_turn_is_told(host: Machine, running: Daemon, tmp_path: Path) -> None:
    listener = Listener(running.producer, answer="accept")
    call = {"tool_name": "Bash", "tool_input": TOUCH, "tool_use_id": "toolu_1"}
    host.tell("SessionStart", claude("SessionStart", source="startup"))
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Make the file RAN."))
    shown = {"turn_id": "t", "message_id": "m1", "index": 0, "final": True, "delta": "I will make it."}
    host.tell("MessageDisplay", claude("MessageDisplay", **shown))
    host.tell("PreToolUse", claude("PreToolUse", **call))
    assert host.run("PermissionRequest", permission()) == (0, line(ALLOW), "")
    host.tell("PostToolUse", claude("PostToolUse", **call, tool_response={"stdout": ""}))
    host.tell("Stop", claude("Stop", stop_hook_active=False))
    host.tell("SessionEnd", claude("SessionEnd", reason="exit"))
    listener.expect(
        *("session.started", "output.streaming", "awaiting.confirmation", "tool.invoked", "tool.completed"),
        "session.completed",
    )
    (prompt,) = listener.prompts
    assert isinstance(prompt, aaep.AwaitingConfirmation)
    assert (prompt.timeout_seconds, prompt.default_decision) == (86400, "reject")
    assert "touch RAN" in prompt.action and "List the files" not in prompt.action
    assert listener.output == "I will make it.\n"
    assert listener.findings() == []
    check_recorded(listener, tmp_path)


@pytest.mark.parametrize("tag", ["ar", "de", "ja"])
def test_a_turn_is_told_in_the_language_of_the_producer(host: Machine, tag: str) -> None:
    phrases = get_phrases((tag,))
    heard: list[str] = []
    unasked = {"tool_name": "xqz", "tool_input": {"vwx": 1}, "tool_use_id": "toolu_2"}
    with daemon(host, language=tag) as running:
        listener = Listener(
            running.producer,
            answer="accept",
            preferences=Preferences(languages=(tag,)),
            on_announcement=lambda announcement: heard.append(announcement.text),
        )
        host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Xqz."))
        assert host.run("PermissionRequest", permission()) == (0, line(ALLOW), "")
        host.tell("PostToolUse", claude("PostToolUse", **unasked, tool_response={}))
        host.tell("Stop", claude("Stop", stop_hook_active=False))
        listener.wait_for_end()
    (prompt,) = listener.prompts
    assert isinstance(prompt, aaep.AwaitingConfirmation)
    assert prompt.action == phrases.format("code-run", command="“touch RAN”")
    assert prompt.consequence == phrases["code-effect-run"]
    assert phrases.format("hooks-started", agent="Claude Code") in heard[0]
    assert phrases.list_forms("hooks-unasked")[0].partition(GAP)[0].strip() in listener.output


def test_a_no_denies_and_says_so_to_the_model(host: Machine, running: Daemon, tmp_path: Path) -> None:
    listener = Listener(running.producer, answer="reject")
    assert host.run("PermissionRequest", permission()) == (0, line(deny(REFUSED)), "")
    host.tell("Stop", claude("Stop"))
    listener.wait_for_end()
    assert listener.tools == []
    check_recorded(listener, tmp_path)


def test_two_questions_at_once_get_each_its_own_answer(host: Machine, running: Daemon, tmp_path: Path) -> None:
    listener = Listener(running.producer, answer=lambda prompt: "accept" if "good" in prompt.action else "reject")
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Do both."))
    commands = {name: {"command": f"touch {name}"} for name in ("good", "bad")}
    processes = {name: host.start("PermissionRequest", permission(given=given)) for name, given in commands.items()}
    assert finish(processes["good"]) == (0, line(ALLOW), "")
    assert finish(processes["bad"]) == (0, line(deny(REFUSED)), "")
    host.tell("PostToolUse", claude("PostToolUse", tool_name="Bash", tool_input=commands["good"], tool_use_id="t1"))
    host.tell("Stop", claude("Stop"))
    listener.wait_for_end()
    assert listener.tools == ["Bash"]
    check_recorded(listener, tmp_path)


def test_who_answers_at_the_terminal_takes_the_question_back(host: Machine, running: Daemon, tmp_path: Path) -> None:
    listener = Listener(running.producer)
    process = host.start("PermissionRequest", permission())
    prompt = listener.wait("awaiting.confirmation")
    process.send_signal(signal.SIGTERM)
    assert finish(process) == (0, "{}\n", "")
    listener.wait(lambda event: isinstance(event, aaep.StateChanged) and event.from_state == "awaiting_input")
    listener.reply(prompt, "accept")  # too late
    host.tell("PostToolUse", claude("PostToolUse", tool_name="Bash", tool_input=TOUCH, tool_use_id="toolu_1"))
    host.tell("Stop", claude("Stop"))
    listener.wait_for_end()
    assert listener.tools == []
    assert listener.output.startswith("Allowed at its terminal. Run ")
    check_recorded(listener, tmp_path)


def test_a_killed_hook_takes_the_question_back_too(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer)
    process = host.start("PermissionRequest", permission())
    listener.wait("awaiting.confirmation")
    process.kill()
    assert finish(process)[:2] == (-signal.SIGKILL, "")
    listener.wait(lambda event: isinstance(event, aaep.StateChanged) and event.from_state == "awaiting_input")
    assert listener.tools == []


def test_a_yes_that_the_agent_did_not_take_is_told_to_be_in_vain(host: Machine, running: Daemon) -> None:
    """The agent closes the output of the hook before the answer is there."""
    listener = Listener(running.producer)
    process = host.start("PermissionRequest", permission())
    prompt = listener.wait("awaiting.confirmation")
    assert process.stdout is not None
    process.stdout.close()
    listener.reply(prompt, "accept")
    assert process.wait(60) == 2
    assert process.stderr is not None
    process.stderr.close()
    completed = listener.wait("tool.completed")
    assert isinstance(completed, aaep.ToolCompleted) and completed.status == "error"


def test_who_stops_the_work_stops_the_agent_at_its_question(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer)
    process = host.start("PermissionRequest", permission())
    listener.wait("awaiting.confirmation")
    (session,) = running.producer.sessions
    session.cancel(by="user")  # as a reader's stop does
    decision = {"behavior": "deny", "message": "The user stopped the work. Nothing was done.", "interrupt": True}
    output = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    assert finish(process) == (0, line(output), "")


# -- nobody answers ------------------------------------------------------------------------------


def test_while_nobody_listens_the_agents_own_dialog_stays(host: Machine) -> None:
    with daemon(host, reader_grace=0.0):
        assert host.run("PermissionRequest", permission()) == (0, "{}\n", "")


def test_copilot_has_no_dialog_to_fall_back_on_and_is_refused(host: Machine) -> None:
    with daemon(host, reader_grace=0.0):
        assert host.run("permissionRequest", COPILOT, "copilot") == (0, line(NOBODY), "")
    assert NOBODY["behavior"] == "deny"


def test_a_reader_that_comes_late_is_asked(host: Machine, running: Daemon) -> None:
    process = host.start("PermissionRequest", permission())
    assert process.poll() is None
    listener = Listener(running.producer, answer="accept")
    assert finish(process) == (0, line(ALLOW), "")
    listener.wait("tool.invoked")  # which the hook does not wait for
    assert listener.tools == ["Bash"]


def test_a_reader_that_leaves_leaves_the_question_to_the_dialog(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer)
    process = host.start("PermissionRequest", permission())
    listener.wait("awaiting.confirmation")
    listener.close()
    assert finish(process) == (0, "{}\n", "")


def test_the_time_of_a_question_is_up_before_the_agent_gives_up_waiting() -> None:
    """What Copilot waits for in vain runs, so our own limit has to come first."""
    assert hook_program.ANSWER_TIMEOUT < hook_program.HOOK_TIMEOUT == 86400


def test_time_that_is_up_refuses(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer)
    code = (
        f"import sys; sys.path.insert(0, {str(Path(hook_program.__file__).parent)!r})\n"
        "import hook_program; hook_program.ANSWER_TIMEOUT = 0.5; sys.exit(hook_program.main())"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, "claude", "PermissionRequest"],
        input=json.dumps(permission()),
        capture_output=True,
        text=True,
        env=host.environment,
        timeout=60,
        check=False,
    )
    message = "The user did not answer in time. Nothing was done."
    assert (done.returncode, done.stdout, done.stderr) == (0, line(deny(message)), "")
    listener.wait(lambda event: isinstance(event, aaep.StateChanged) and event.from_state == "awaiting_input")


# -- a daemon that fails -------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_a_daemon_that_dies_while_it_asks_allows_nothing(host: Machine, running: Daemon, agent: str) -> None:
    listener = Listener(running.producer)
    event, data = ("PermissionRequest", permission()) if agent == "claude" else ("permissionRequest", COPILOT)
    process = host.start(event, data, agent)
    listener.wait("awaiting.confirmation")
    running.stop()
    expected = {"claude": {}, "copilot": NOBODY}[agent]
    said = "aaep: The daemon has gone. Nothing is allowed by this hook.\n"
    assert finish(process) == (0, line(expected), said)


BAD_ANSWERS = {
    "hangs up": None,
    "no JSON": b"allow\n",
    "truncated": b'{"id": "IDENT", "decision": "allow"',
    "no object": b'["allow"]\n',
    "for something else": b'{"id": "1", "decision": "allow"}\n',
    "misspelt": b'{"id": "IDENT", "decison": "allow"}\n',
    "unknown": b'{"id": "IDENT", "decision": "yes"}\n',
    "true": b'{"id": "IDENT", "decision": true}\n',
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_a_bad_answer_allows_nothing(host: Machine, agent: str, answer: bytes | None) -> None:
    with impostor(host, answer):
        event, data = ("PermissionRequest", permission()) if agent == "claude" else ("permissionRequest", COPILOT)
        status, out, err = host.run(event, data, agent)
    assert (status, out) == (0, line({} if agent == "claude" else NOBODY))
    assert err.startswith("aaep: The daemon ") and err.endswith(" Nothing is allowed by this hook.\n")


def test_a_folder_that_others_may_enter_is_not_trusted(host: Machine) -> None:
    with impostor(host, b'{"id": "IDENT", "decision": "allow"}\n'):
        host.path.parent.chmod(0o755)
        status, out, err = host.run("PermissionRequest", permission())
    assert (status, out) == (0, "{}\n") and "not for you alone" in err


def test_what_only_tells_does_not_disturb_the_agent_and_says_once_that_nobody_hears(host: Machine) -> None:
    break_daemon(host)
    data = claude("PreToolUse", tool_name="Bash", tool_input=TOUCH, tool_use_id="toolu_1")
    log = f"{host.path}.log"
    said = f"aaep: The daemon does not start; {log} may say why. Readers do not hear of this.\n"
    assert host.run("PreToolUse", data) == (0, "", said)
    assert host.run("PreToolUse", data) == (0, "", "")
    assert "broken on purpose" in Path(log).read_text()


@pytest.mark.parametrize("given", ["", "{", "[]", "null", '"allow"', '{"tool_name": "Bash"'])
@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_input_that_cannot_be_read_is_refused(host: Machine, agent: str, given: str) -> None:
    event = hook_program.PERMISSION_EVENTS[agent]
    status, out, err = host.run(event, given, agent)
    refusal = hook_program.format_decision(agent, "deny", "The hook failed, so this was refused. Nothing was done.")
    assert (status, out) == (2, line(refusal))
    assert err.startswith("aaep: The hook failed: ")
    assert host.run("PostToolUse", given, agent)[:2] == (0, "")


def test_a_permission_for_no_tool_allows_nothing(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer, answer="accept")
    status, out, _ = host.run("PermissionRequest", claude("PermissionRequest", tool_input=TOUCH))
    assert (status, out) == (0, "{}\n")
    assert listener.prompts == []


def test_an_agent_that_is_not_known_gets_nothing_that_allows(host: Machine) -> None:
    assert host.run("PermissionRequest", permission(), "cursor")[:2] == (2, "")
    assert host.run("Stop", claude("Stop"), "cursor")[:2] == (0, "")


def test_codex_and_gemini_get_no_decision_for_their_permissions(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer, answer="accept")
    host.tell("PermissionRequest", permission(), "codex")
    listener.wait("output.streaming")
    assert listener.prompts == []
    assert listener.output.startswith("Answer at its terminal. Run ")


# -- what is asked and told ----------------------------------------------------------------------


ASKED = {
    "the description is no part of it": ("Bash", TOUCH, "Run “touch RAN”."),
    "other arguments are": (
        "Bash",
        {"command": "make", "run_in_background": True},
        "Run make. With run_in_background: yes.",
    ),
    "a new file, in full": (
        "Write",
        {"file_path": "/home/ada/shop/a.txt", "content": "one\ntwo\n"},
        "Write a.txt, 2 lines: “one\ntwo\n”.",
    ),
    "a change": (
        "Edit",
        {"file_path": "/etc/hosts", "old_string": "a b", "new_string": "", "replace_all": False},
        "In /etc/hosts, replace “a b” with empty text.",
    ),
    "all changes": (
        "Edit",
        {"file_path": "/home/ada/shop/a", "old_string": "x", "new_string": "y", "replace_all": True},
        "In a, replace every x with y.",
    ),
    "any other tool": ("WebFetch", {"url": "https://a.example/", "prompt": "Sum it up"}, "Use web fetch. With "),
}


@pytest.mark.parametrize(("tool", "given", "asked"), ASKED.values(), ids=ASKED)
def test_what_is_asked_is_what_the_tool_gets(
    host: Machine, running: Daemon, tool: str, given: dict[str, Any], asked: str
) -> None:
    listener = Listener(running.producer, answer="reject")
    assert host.run("PermissionRequest", permission(tool, given))[:2] == (0, line(deny(REFUSED)))
    (prompt,) = listener.prompts
    assert isinstance(prompt, aaep.AwaitingConfirmation)
    assert prompt.action.startswith(asked)
    for value in given.values():
        if isinstance(value, str) and value.strip() and value != "List the files":
            assert value.removeprefix("/home/ada/shop/").strip() in prompt.action


UNREAD = {
    "too long": {"file_path": "/a", "content": "x " * 600_000},
    "a secret": {"file_path": "/a", "content": "token = ghp_" + "a1B2" * 9},
}


@pytest.mark.parametrize("given", UNREAD.values(), ids=UNREAD)
def test_what_cannot_be_read_out_is_left_to_the_terminal(host: Machine, running: Daemon, given: dict[str, Any]) -> None:
    listener = Listener(running.producer, answer="accept")
    assert host.run("PermissionRequest", permission("Write", given)) == (0, "{}\n", "")
    said = "Answer at its terminal. It wants to use write, and that cannot be read out in full."
    listener.wait("output.streaming")
    assert (listener.prompts, listener.output) == ([], said)
    status, out, _ = host.run("permissionRequest", {**COPILOT, "toolName": "create", "toolInput": given}, "copilot")
    assert (status, json.loads(out)["behavior"]) == (0, "deny")


def test_a_question_with_more_answers_than_yes_and_no_is_left_to_the_terminal(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer, answer="accept")
    given = {"questions": [{"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}]}
    assert host.run("PermissionRequest", permission("AskUserQuestion", given)) == (0, "{}\n", "")
    listener.wait("output.streaming")
    assert listener.prompts == [] and "Which colour?" in listener.output


def test_what_ran_unasked_is_told_as_a_warning_and_not_as_a_tool(
    host: Machine, running: Daemon, tmp_path: Path
) -> None:
    listener = Listener(running.producer)
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Go."))
    host.tell("PostToolUse", claude("PostToolUse", tool_name="Read", tool_input={"file_path": "/a"}, tool_use_id="1"))
    host.tell("PostToolUse", claude("PostToolUse", tool_name="Bash", tool_input=TOUCH, tool_use_id="2"))
    host.tell("Stop", claude("Stop"))
    listener.wait_for_end()
    assert listener.tools == ["Read"]
    assert listener.output == "Warning. It did this without asking. Run “touch RAN”."
    check_recorded(listener, tmp_path)


def test_what_ran_although_it_was_refused_is_told(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer, answer="reject")
    host.run("PermissionRequest", permission())
    host.tell("PostToolUse", claude("PostToolUse", tool_name="Bash", tool_input=TOUCH, tool_use_id="1"))
    host.tell("Stop", claude("Stop"))
    listener.wait_for_end()
    assert listener.tools == []
    assert listener.output == "Warning. It did this although it was refused. Run “touch RAN”."


def test_a_read_that_ends_while_a_question_is_open_does_not_hold_the_agent_up(
    host: Machine, running: Daemon, tmp_path: Path
) -> None:
    listener = Listener(running.producer)
    process = host.start("PermissionRequest", permission())
    prompt = listener.wait("awaiting.confirmation")
    host.tell("PostToolUse", claude("PostToolUse", tool_name="Read", tool_input={"file_path": "/a"}, tool_use_id="1"))
    listener.reply(prompt, "reject")
    assert finish(process)[:2] == (0, line(deny(REFUSED)))
    listener.wait("tool.completed")
    host.tell("Stop", claude("Stop"))
    listener.wait_for_end()
    assert listener.tools == ["Read"]
    check_recorded(listener, tmp_path)


def test_a_tool_that_fails_is_told_to_have_failed(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer, answer="accept")
    call = {"tool_name": "Bash", "tool_input": TOUCH, "tool_use_id": "toolu_1"}
    host.tell("PreToolUse", claude("PreToolUse", **call))
    host.run("PermissionRequest", permission())
    host.tell("PostToolUseFailure", claude("PostToolUseFailure", **call, error="exit 1"))
    completed = listener.wait("tool.completed")
    assert isinstance(completed, aaep.ToolCompleted) and completed.status == "error"


def test_another_prompt_ends_the_turn_before_and_one_that_is_no_persons_does_not(
    host: Machine, running: Daemon, tmp_path: Path
) -> None:
    listener = Listener(running.producer)
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="One."))
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="<task-notification>done</task-notification>"))
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Two."))
    host.tell("SessionEnd", claude("SessionEnd", reason="exit"))
    listener.expect("session.started", "session.cancelled", "session.started", "session.cancelled")
    assert listener.types.count("session.started") == 2
    check_recorded(listener, tmp_path)


def test_a_turn_that_was_stopped_at_the_terminal_ends_when_claude_waits_for_the_next(
    host: Machine, running: Daemon, tmp_path: Path
) -> None:
    listener = Listener(running.producer)
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Go."))
    host.tell("Notification", claude("Notification", notification_type="permission_prompt", message="?"))
    assert running.producer.sessions
    host.tell("Notification", claude("Notification", notification_type="idle_prompt", message="Waiting"))
    listener.wait_for_end()
    assert "Claude Code waits for your next request." in listener.heard[-1]
    assert listener.output == ""
    check_recorded(listener, tmp_path)


def test_a_turn_that_fails_is_told_to_have_failed(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer)
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Go."))
    host.tell("StopFailure", claude("StopFailure", error="rate_limit"))
    assert isinstance(listener.wait_for_end(), aaep.SessionErrored)


def test_copilot_asks_about_everything_but_reading(host: Machine, running: Daemon, tmp_path: Path) -> None:
    listener = Listener(running.producer, answer="accept")
    host.tell("userPromptSubmitted", {**COPILOT, "prompt": "Go."}, "copilot")
    view = {**COPILOT, "toolName": "view", "toolInput": {"path": "/a"}}
    assert host.run("permissionRequest", view, "copilot") == (0, "{}\n", "")
    assert host.run("permissionRequest", COPILOT, "copilot") == (0, line({"behavior": "allow"}), "")
    ended = {**COPILOT, "toolArgs": json.dumps(TOUCH), "toolResult": {"resultType": "success"}}
    ended.pop("toolInput")
    host.tell("postToolUse", ended, "copilot")
    host.tell("agentStop", {"sessionId": "77", "stopReason": "end_turn"}, "copilot")
    listener.wait_for_end()
    assert listener.tools == ["bash"] and listener.output == ""
    check_recorded(listener, tmp_path)


CHANGED = """
diff --git a/home/ada/shop/a.txt b/home/ada/shop/a.txt
index 0000000..0000000 100644
--- a/home/ada/shop/a.txt
+++ b/home/ada/shop/a.txt
@@ -1,2 +1,2 @@
 hello
-world
+moon
"""
CREATED = """
diff --git a/home/ada/shop/a.txt b/home/ada/shop/a.txt
create file mode 100644
index 0000000..0000000
--- a/dev/null
+++ b/home/ada/shop/a.txt
@@ -1,0 +1,1 @@
+hello
"""
COPILOT_CHANGES = {
    "edit": (CHANGED, {"old_str": "world", "new_str": "moon"}, "Change a.txt: 1 line added, 1 line removed. At line 2"),
    "create": (CREATED, {"file_text": "hello\n"}, "Create a.txt, 1 line: hello."),
}


@pytest.mark.parametrize(("tool", "change"), COPILOT_CHANGES.items(), ids=COPILOT_CHANGES)
def test_copilot_asks_about_a_change_in_other_words_than_it_reports_it_in(
    host: Machine, running: Daemon, tool: str, change: tuple[str, dict[str, str], str]
) -> None:
    """As version 1.0.102 does: every change is asked about as an edit with a diff."""
    diff, given, action = change
    listener = Listener(running.producer, answer="accept")
    members = {"sessionId": "77", "cwd": "/home/ada/shop"}
    asked = {**members, "toolName": "edit", "toolInput": {"file_path": "/home/ada/shop/a.txt", "diff": diff}}
    assert host.run("permissionRequest", asked, "copilot") == (0, line({"behavior": "allow"}), "")
    ended = {**members, "toolName": tool, "toolArgs": {"path": "/home/ada/shop/a.txt", **given}}
    host.tell("postToolUse", {**ended, "toolResult": {"resultType": "success"}}, "copilot")
    (prompt,) = listener.prompts
    assert isinstance(prompt, aaep.AwaitingConfirmation) and prompt.action.startswith(action)
    completed = listener.wait("tool.completed")
    assert isinstance(completed, aaep.ToolCompleted) and completed.status == "success" and listener.output == ""
    # Another change of the same file is another one.
    host.tell("postToolUse", {**ended, "toolResult": {"resultType": "success"}}, "copilot")
    listener.wait("output.streaming")
    assert listener.output.startswith("Warning. It did this without asking.")


def test_a_command_of_copilot_is_known_again_by_the_command_alone(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer, answer="accept")
    asked = {**COPILOT, "toolInput": {"command": "touch RAN"}}
    assert host.run("permissionRequest", asked, "copilot") == (0, line({"behavior": "allow"}), "")
    ended = {"sessionId": "77", "toolName": "bash", "toolArgs": TOUCH, "toolResult": {"resultType": "success"}}
    host.tell("postToolUse", ended, "copilot")
    listener.wait("tool.completed")
    assert listener.output == ""


def test_codex_and_gemini_tell_what_they_said_at_the_end(host: Machine, running: Daemon) -> None:
    listener = Listener(running.producer)
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Go."), "codex")
    host.tell("Stop", claude("Stop", last_assistant_message="All done."), "codex")
    listener.wait_for_end()
    host.tell("BeforeAgent", claude("BeforeAgent", prompt="Go."), "gemini")
    host.tell("Notification", claude("Notification", notification_type="ToolPermission"), "gemini")
    host.tell("AfterAgent", claude("AfterAgent", prompt="Go.", prompt_response="All well."), "gemini")
    listener.expect("session.completed", "session.completed")
    assert listener.output == "All done.Answer at its terminal. Waiting for you.All well."


# -- the daemon as a process ---------------------------------------------------------------------


@pytest.fixture
def started(host: Machine) -> Iterator[Machine]:
    """A machine on which a hook has started the daemon."""
    host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Go."))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.connect(str(host.path))
        _, pid = get_peer_ids(probe)
    assert pid is not None and pid > 1
    try:
        yield host
    finally:
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not host.path.exists())


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def test_the_first_hook_starts_a_daemon_for_this_user_alone(started: Machine) -> None:
    assert started.path.stat().st_mode & 0o777 == 0o600
    assert started.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_second_daemon_does_not_start(started: Machine) -> None:
    command = [sys.executable, "-m", "aaep", "hooks", "daemon"]
    done = subprocess.run(command, capture_output=True, text=True, env=started.environment, timeout=60, check=False)
    assert done.returncode == 2 and "Somebody listens" in done.stderr


def test_a_reader_at_the_daemons_address_is_asked_and_answers(started: Machine) -> None:
    process = started.start("PermissionRequest", permission())
    with aaep.Subscriber(f"unix://{started.path.with_name('claude.sock')}") as subscriber:
        for event in subscriber:
            if isinstance(event, aaep.AwaitingConfirmation):
                subscriber.accept(event)
            if isinstance(event, aaep.ToolInvoked):
                break
    assert finish(process) == (0, line(ALLOW), "")


def test_the_daemon_ends_by_itself_when_nothing_happens(host: Machine) -> None:
    command = [sys.executable, "-m", "aaep", "hooks", "daemon", "--idle", "0.2"]
    done = subprocess.run(command, capture_output=True, text=True, env=host.environment, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not host.path.exists()


def test_the_command_is_the_same_program(host: Machine, running: Daemon) -> None:
    Listener(running.producer, answer="reject")
    done = subprocess.run(
        [sys.executable, "-m", "aaep", "hooks", "run", "claude", "PermissionRequest"],
        input=json.dumps(permission()),
        capture_output=True,
        text=True,
        env=host.environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, line(deny(REFUSED)), "")


def test_the_socket_is_where_those_of_agents_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for runtime_dir in (str(tmp_path), "", "relative", "/nowhere"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime_dir)
        agent = choose_socket_path("unix:", "claude")
        assert Path(hook_program.find_socket_path()) == agent.with_name("coding-agents.hooks")


def test_the_program_loads_nothing_of_the_package() -> None:
    code = f"import runpy, sys; runpy.run_path({hook_program.__file__!r}, run_name='hook'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert not {*done.stdout.split()} & {"aaep", "msgspec", "click", "asyncio", "subprocess"}
