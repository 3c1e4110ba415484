"""``aaep hooks``: what is entered in the settings of agents, taken out again, and found wrong with them."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from aaep.adapters import hook_program
from aaep.cli import main

RULES = ["Bash", "Edit", "Write", "NotebookEdit", "WebFetch"]
WELL = "Result: all is well.\n"

PERSONAL = {
    "as Claude Code writes it": """{
  "model": "opus",
  "permissions": {
    "allow": [
      "Bash(git status)"
    ],
    "ask": [
      "Bash"
    ]
  },
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "notify-send done"
          }
        ]
      }
    ]
  },
  "statusLine": {"type":"command",   "command":"é ü"}
}
""",
    "with tabs and no end of line": '{\n\t"permissions": {"ask": []},\n\t"a": [1,2 , 3]\n}',
    "in one line": '{"a":1,"permissions":{"deny":["Read(.env)"]},"hooks":{"Stop":[]}}',
    "empty": "{}\n",
    "with odd spaces": '{ "a" : { } ,\r\n   "b": "}]\\"" }\r\n',
}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home of the test's own, with no agents on the path, and a folder without settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["hooks", *words], prog_name="aaep")


def settings(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    return path


def read(path: Path) -> Any:
    return json.loads(path.read_text())


# -- install and remove --------------------------------------------------------------------------


def test_the_hooks_of_claude_are_entered_with_rules_that_fail_closed(home: Path) -> None:
    done = run("claude", "install")
    assert done.exit_code == 0
    entered = read(settings(home))
    assert entered["permissions"] == {"ask": RULES}
    ((group,),) = (entered["hooks"]["PermissionRequest"],)
    (hook,) = group["hooks"]
    assert (hook["type"], hook["timeout"]) == ("command", 86400)
    assert {*hook} == {"type", "command", "timeout"}  # no onFailure: a dead hook leaves the dialog
    words = shlex.split(hook["command"])
    assert words[-3:] == [hook_program.__file__, "claude", "PermissionRequest"]
    told = ["MessageDisplay", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "SessionEnd"]
    assert {*told, "Notification", "SessionStart", "UserPromptSubmit", "PermissionRequest"} == {*entered["hooks"]}
    assert run("claude", "check").stdout == WELL


@pytest.mark.parametrize("text", PERSONAL.values(), ids=PERSONAL)
def test_what_the_person_had_stays_to_the_byte(home: Path, text: str) -> None:
    path = settings(home)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    assert run("claude", "install").exit_code == 0
    entered = read(path)
    for name, value in json.loads(text).items():
        if name not in ("hooks", "permissions"):
            assert entered[name] == value
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.with_name("settings.json.before-aaep").read_bytes() == text.encode()
    installed = path.read_bytes()
    assert "already" in run("claude", "install").stdout
    assert path.read_bytes() == installed
    assert run("claude", "remove").exit_code == 0
    assert path.read_bytes() == text.encode()


def test_only_lines_are_added_to_a_file_of_lines(home: Path) -> None:
    text = PERSONAL["as Claude Code writes it"]
    settings(home).write_text(text)
    run("claude", "install")
    remaining = iter(line.rstrip(",") for line in settings(home).read_text().splitlines())
    assert all(line.rstrip(",") in remaining for line in text.splitlines())


def test_a_rule_that_was_there_before_stays(home: Path) -> None:
    settings(home).write_text('{"permissions": {"ask": ["Write", "mcp__bank"]}}')
    run("claude", "install")
    assert {*read(settings(home))["permissions"]["ask"]} == {*RULES, "mcp__bank"}
    run("claude", "remove")
    assert read(settings(home)) == {"permissions": {"ask": ["Write", "mcp__bank"]}}


def test_what_the_person_added_meanwhile_stays(home: Path) -> None:
    run("claude", "install")
    changed = read(settings(home))
    changed["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "beep"}]})
    changed["permissions"]["ask"].append("mcp__bank")
    changed["model"] = "opus"
    settings(home).write_text(json.dumps(changed))
    run("claude", "remove")
    assert read(settings(home)) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]},
        "permissions": {"ask": ["mcp__bank"]},
        "model": "opus",
    }


def test_a_file_that_only_install_made_is_gone_after_remove(home: Path) -> None:
    run("claude", "install")
    run("claude", "remove")
    assert [*settings(home).parent.iterdir()] == []
    assert "nothing was removed" in run("claude", "remove").stdout


def test_hooks_of_an_earlier_installation_are_replaced(home: Path) -> None:
    run("claude", "install")
    text = settings(home).read_text()
    settings(home).write_text(text.replace(hook_program.__file__, "/old/aaep/adapters/hook_program.py"))
    assert "is not there: /old" in run("claude", "check").stdout
    run("claude", "install")
    assert read(settings(home)) == json.loads(text)
    assert run("claude", "check").stdout == WELL


@pytest.mark.parametrize("text", ["{", "[]", "", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"permissions": 1}'])
def test_settings_that_cannot_be_understood_are_not_touched(home: Path, text: str) -> None:
    settings(home).write_text(text)
    done = run("claude", "install")
    assert done.exit_code == 2 and done.stderr.startswith("aaep: ")
    assert settings(home).read_text() == text
    assert [path.name for path in settings(home).parent.iterdir()] == ["settings.json"]


def test_a_link_to_the_settings_stays_a_link(home: Path) -> None:
    target = home / "dotfiles.json"
    target.write_text("{}")
    settings(home).symlink_to(target)
    run("claude", "install")
    assert settings(home).is_symlink() and "hooks" in read(target)


def test_another_file_can_be_named(home: Path) -> None:
    path = home / "other.json"
    run("claude", "install", "--settings", str(path))
    assert "hooks" in read(path) and not settings(home).exists()
    assert run("claude", "check", "--settings", str(path)).exit_code == 0


# -- check ---------------------------------------------------------------------------------------


def change(home: Path, **members: Any) -> None:
    settings(home).write_text(json.dumps(read(settings(home)) | members))


def problems(agent: str = "claude") -> list[str]:
    done = run(agent, "check")
    lines = done.stdout.splitlines()
    assert done.exit_code == (0 if WELL.strip() in lines else 1)
    return lines[:-1]


def test_hooks_that_are_not_there_are_found(home: Path) -> None:
    (problem,) = problems()
    assert problem.startswith("There is no ") and problem.endswith("Run aaep hooks claude install.")
    settings(home).write_text("{")
    (problem,) = problems()
    assert "is not valid JSON, so Claude Code does not use it" in problem
    settings(home).write_text("{}")
    assert len(problems()) == 11 + 1  # each hook, and the rules


def test_hooks_that_are_switched_off_are_found(home: Path) -> None:
    run("claude", "install")
    change(home, disableAllHooks=True)
    (problem,) = problems()
    assert "disableAllHooks" in problem
    change(home, disableAllHooks=False)
    project = Path(".claude/settings.local.json")
    project.parent.mkdir()
    project.write_text('{"disableAllHooks": true}')
    (problem,) = problems()
    assert "disableAllHooks in .claude/settings.local.json" in problem


@pytest.mark.parametrize("timeout", [0, -1, "600", None, True])
def test_an_invalid_value_anywhere_among_the_hooks_is_found(home: Path, timeout: Any) -> None:
    run("claude", "install")
    hooks = read(settings(home))["hooks"]
    hooks["PreCompact"] = [{"hooks": [{"type": "command", "command": "beep", "timeout": timeout}]}]
    change(home, hooks=hooks)
    (problem,) = problems()
    assert f"has the timeout {json.dumps(timeout)}, which is invalid" in problem


def test_hooks_whose_answer_would_mean_something_else_are_found(home: Path) -> None:
    run("claude", "install")
    hooks = read(settings(home))["hooks"]
    hooks["PermissionRequest"][0]["hooks"][0] |= {"timeout": 60, "onFailure": "block"}
    change(home, hooks=hooks)
    first, second = problems()
    assert "has not the timeout 86400" in first and "has onFailure" in second
    run("claude", "install")
    assert problems() == []


def test_rules_that_let_tools_run_unasked_are_found(home: Path) -> None:
    run("claude", "install")
    change(home, permissions={"ask": RULES[1:], "allow": ["Bash(rm *)", "Edit", "mcp__bank__pay"]})
    missing, *allowed = problems()
    assert "has no rule for Bash," in missing
    assert [one.split('"')[1] for one in allowed] == ["Bash(rm *)", "mcp__bank__pay"]  # an ask rule beats that for Edit
    change(home, permissions={"ask": RULES, "defaultMode": "bypassPermissions"})
    (problem,) = problems()
    assert "is bypassPermissions" in problem


@pytest.mark.parametrize(
    ("version", "said"), [("2.1.324 (Claude Code)", "Claude Code is 2.1.324."), ("2.1.325", ""), ("?", "does not say")]
)
def test_an_old_claude_is_found(home: Path, monkeypatch: pytest.MonkeyPatch, version: str, said: str) -> None:
    run("claude", "install")
    program = home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    found = problems()
    assert len(found) == bool(said) and all(said in problem for problem in found)


def test_a_program_that_is_not_on_the_path_is_found(home: Path) -> None:
    run("claude", "install")
    hooks = read(settings(home))["hooks"]
    hooks["Stop"][0]["hooks"][0]["command"] = "aaep-of-yesterday hooks run claude Stop"
    change(home, hooks=hooks)
    (problem,) = problems()
    assert problem.startswith("The program of the hook for Stop is not found: aaep-of-yesterday.")


# -- the other agents ----------------------------------------------------------------------------


def test_copilot_has_a_file_for_our_hooks_alone(home: Path) -> None:
    path = home / ".copilot" / "hooks" / "aaep.json"
    assert run("copilot", "install").exit_code == 0
    written = read(path)
    assert written["version"] == 1
    (hook,) = written["hooks"]["permissionRequest"]
    assert (hook["type"], hook["timeoutSec"]) == ("command", 86400)
    assert shlex.split(hook["bash"])[-2:] == ["copilot", "permissionRequest"]
    assert "already" in run("copilot", "install").stdout
    assert run("copilot", "check").stdout == WELL
    hook["timeoutSec"] = 30
    path.write_text(json.dumps(written | {"hooks": written["hooks"] | {"permissionRequest": [hook]}}))
    (problem,) = problems("copilot")
    assert "has not the timeoutSec 86400" in problem
    run("copilot", "remove")
    assert not path.exists()


@pytest.mark.parametrize(
    ("agent", "variable", "file"),
    [("claude", "CLAUDE_CONFIG_DIR", "settings.json"), ("codex", "CODEX_HOME", "hooks.json")],
)
def test_hooks_are_entered_where_the_agent_has_its_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch, agent: str, variable: str, file: str
) -> None:
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert run(agent, "install").exit_code == run(agent, "check").exit_code == 0
    assert (home / "elsewhere" / file).exists() and not (home / f".{agent}").exists()


@pytest.mark.parametrize(
    ("agent", "file", "unit", "last"), [("codex", "hooks.json", 1, 3), ("gemini", "settings.json", 1000, 10)]
)
def test_codex_and_gemini_only_tell_and_say_so(home: Path, agent: str, file: str, unit: int, last: int) -> None:
    path = home / f".{agent}" / file
    for word in ("install", "check"):
        done = run(agent, word)
        assert done.exit_code == 0
        assert "These hooks only tell. They cannot hold " in done.stdout
    entered = read(path)["hooks"]
    timeouts = {event: hook["timeout"] for event, groups in entered.items() for one in groups for hook in one["hooks"]}
    assert timeouts.pop("SessionEnd") == last * unit  # Codex complains of more than 3 seconds
    assert {*timeouts.values()} == {10 * unit}
    assert "permissions" not in read(path)
    run(agent, "remove")
    assert not path.exists()
