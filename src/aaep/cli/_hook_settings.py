"""
The settings of coding agents in which hooks are entered, removed again and checked.

What is put in is remembered in a file beside the settings, so that removing takes out that and nothing else: a rule
that the person had before stays.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from ..adapters import hook_program
from ..adapters.hook_program import HOOK_TIMEOUT
from ._command import CannotRun
from ._json_text import JsonText

__all__ = ["AGENT_HOOKS", "AgentHooks", "build_command", "check", "install", "is_installed", "remove"]

_TELLING_SECONDS: Final = 10
ASK_RULES: Final = ("Bash", "Edit", "Write", "NotebookEdit", "WebFetch")
_TRIED_CLAUDE: Final = (2, 1, 325)
_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_OPEN_MODES: Final = ("bypassPermissions", "acceptEdits", "dontAsk", "auto")


class AgentHooks(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent has its hooks, and which of them are used."""

    agent: str
    settings: str  # below the home folder
    folder_variable: str = ""  # which names another folder in place of the first one of settings
    events: tuple[str, ...]
    timeout_unit: int = 1  # how many of them are a second
    end_seconds: int = _TELLING_SECONDS  # of the hook for the end of the session, for which an agent may wait less
    has_ask_rules: bool = False
    own_file: bool = False  # nothing but our hooks is in it
    notice: str = ""  # what has to be known of it

    @property
    def name(self) -> str:
        """The name of the agent."""
        return hook_program.AGENTS[self.agent]

    @property
    def path(self) -> Path:
        """The file of the settings for this user."""
        folder = os.environ.get(self.folder_variable) if self.folder_variable else None
        return Path(folder, *Path(self.settings).parts[1:]) if folder else Path.home() / self.settings

    def get_timeout(self, event: str) -> int:
        """Return how long the agent waits for a hook, in its own unit."""
        is_permission = event == hook_program.PERMISSION_EVENTS.get(self.agent)
        telling_seconds = self.end_seconds if event == "SessionEnd" else _TELLING_SECONDS
        return (HOOK_TIMEOUT if is_permission else telling_seconds) * self.timeout_unit

    def build_hook(self, event: str) -> dict[str, Any]:
        """Return the entry of a hook."""
        if self.own_file:
            command = build_command(self.agent, event)
            return {"type": "command", "bash": command, "timeoutSec": self.get_timeout(event)}
        return {"type": "command", "command": build_command(self.agent, event), "timeout": self.get_timeout(event)}


AGENT_HOOKS: Final[Mapping[str, AgentHooks]] = {
    hooks.agent: hooks
    for hooks in (
        AgentHooks(
            agent="claude",
            settings=".claude/settings.json",
            folder_variable="CLAUDE_CONFIG_DIR",
            events=(
                *("SessionStart", "UserPromptSubmit", "MessageDisplay", "PreToolUse", "PermissionRequest"),
                *("PostToolUse", "PostToolUseFailure", "Notification", "Stop", "StopFailure", "SessionEnd"),
            ),
            has_ask_rules=True,
            notice="Claude Code asks at its terminal as well, and the first answer counts.",
        ),
        AgentHooks(
            agent="copilot",
            settings=".copilot/hooks/aaep.json",
            events=(
                *("sessionStart", "userPromptSubmitted", "permissionRequest"),
                *("postToolUse", "agentStop", "sessionEnd"),
            ),
            own_file=True,
            notice=(
                "Copilot waits for your answer there before it does anything but read. While nobody listens it is "
                "refused everything else. What it writes is not told: its hooks do not have it."
            ),
        ),
        AgentHooks(
            agent="codex",
            settings=".codex/hooks.json",
            folder_variable="CODEX_HOME",
            end_seconds=3,  # of more it complains at each start
            events=("SessionStart", "UserPromptSubmit", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"),
            notice=(
                "These hooks only tell. They cannot hold Codex back: it goes on when a hook fails. Answer at its "
                "terminal. Codex skips new hooks until you allow them there with /hooks."
            ),
        ),
        AgentHooks(
            agent="gemini",
            settings=".gemini/settings.json",
            events=("SessionStart", "BeforeAgent", "Notification", "AfterTool", "AfterAgent", "SessionEnd"),
            timeout_unit=1000,
            notice=(
                "These hooks only tell. They cannot hold Gemini CLI back: it goes on when a hook fails. Answer at its "
                "terminal."
            ),
        ),
    )
}


def build_command(agent: str, event: str) -> str:
    """Return the command of a hook: the program by its path, because a package takes long to load."""
    return shlex.join([sys.executable, "-I", "-S", os.path.abspath(hook_program.__file__), agent, event])


def _is_own(hook: object, agent: str) -> bool:
    """Whether a hook is one of ours, also of another installation."""
    command = (hook.get("command") or hook.get("bash")) if isinstance(hook, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    is_program = len(words) > 2 and os.path.basename(words[-3]) == os.path.basename(hook_program.__file__)
    return words[-2:-1] == [agent] and (is_program or words[-4:-2] == ["hooks", "run"])


# -- files ---------------------------------------------------------------------------------------


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.aaep")


def _backup_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-aaep")


def _read_settings(path: Path) -> JsonText:
    try:
        return JsonText(path.read_bytes().decode())
    except (ValueError, RecursionError) as error:
        raise CannotRun(
            f"{path} is not valid JSON, so it was not changed: {str(error).rstrip('.')}. Correct it, then try again."
        ) from error


def _write(path: Path, text: str) -> None:
    """Write a file at once or not at all, with the mode that it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(descriptor)
        os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


# -- install and remove --------------------------------------------------------------------------


def install(hooks: AgentHooks, path: Path) -> list[str]:
    """Enter the hooks in a file, and return sentences that say what was done."""
    path = Path(os.path.realpath(path))
    if hooks.own_file:
        entries = {event: [hooks.build_hook(event)] for event in hooks.events}
        text = json.dumps({"version": 1, "hooks": entries}, indent=2) + "\n"
        if path.exists() and path.read_bytes() == text.encode():
            return [f"The hooks are in {path} already."]
        _write(path, text)
        return [f"The hooks were written to {path}.", hooks.notice]
    is_new = not path.exists()
    settings = JsonText("{}\n") if is_new else _read_settings(path)
    before = str(settings)
    record = _read_record(path)
    _replace_hooks(hooks, settings, record)
    if hooks.has_ask_rules:
        _add_rules(settings, record)
    if str(settings) == before:
        return [f"The hooks are in {path} already."]
    done = []
    if not is_new and not _record_path(path).exists():
        _write(_backup_path(path), before)
        done.append(f"The file as it was is {_backup_path(path)}.")
    record["created_file"] = record["created_file"] or is_new
    _write(_record_path(path), json.dumps(record, indent=2) + "\n")
    _write(path, str(settings))
    return [f"The hooks were entered in {path}.", *done, hooks.notice]


def _read_record(path: Path) -> dict[str, Any]:
    """Return what was put into a file before: paths that were created, rules, and whether the file was."""
    empty: dict[str, Any] = {"created": [], "ask": [], "created_file": False}
    try:
        found = json.loads(_record_path(path).read_bytes())
    except (OSError, ValueError):
        return empty
    return empty | found if isinstance(found, dict) else empty


def _get_container(settings: JsonText, path: tuple[str, ...], kind: type, record: dict[str, Any]) -> Any:
    """Return the object or array at a path, which is created, and noted as such, if it is not there."""
    value: Any = settings.value
    for depth, name in enumerate(path):
        if not isinstance(value, dict):
            raise CannotRun(f"{'.'.join(path[:depth])} in the settings is no JSON object. Correct it, then try again.")
        if name not in value:
            empty: Any = {} if depth + 1 < len(path) else kind()
            settings.add(path[:depth], empty, name)
            record["created"].append([*path[: depth + 1]])
            value = {name: empty}
        value = value[name]
    if not isinstance(value, kind):
        what = "list" if kind is list else "JSON object"
        raise CannotRun(f"{'.'.join(path)} in the settings is no {what}. Correct it, then try again.")
    return value


def _replace_hooks(hooks: AgentHooks, settings: JsonText, record: dict[str, Any]) -> None:
    for event in hooks.events:
        groups = _get_container(settings, ("hooks", event), list, record)
        wanted = {"hooks": [hooks.build_hook(event)]}
        own = [number for number, group in enumerate(groups) if _is_own_group(group, hooks.agent)]
        if [groups[number] for number in own] == [wanted]:
            continue
        for number in reversed(own):  # of an earlier version, or changed since
            settings.remove(("hooks", event, number))
        settings.add(("hooks", event), wanted)


def _is_own_group(group: object, agent: str) -> bool:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(entries, list) and bool(entries) and all(_is_own(hook, agent) for hook in entries)


def _add_rules(settings: JsonText, record: dict[str, Any]) -> None:
    rules = _get_container(settings, ("permissions", "ask"), list, record)
    for rule in ASK_RULES:
        if rule not in rules:
            settings.add(("permissions", "ask"), rule)
            record["ask"].append(rule)


def remove(hooks: AgentHooks, path: Path) -> list[str]:
    """Take the hooks out of a file again, and return sentences that say what was done."""
    path = Path(os.path.realpath(path))
    if not path.exists():
        return [f"There is no {path}, so nothing was removed."]
    if hooks.own_file:
        path.unlink()
        return [f"{path} was removed."]
    settings = _read_settings(path)
    before = str(settings)
    record = _read_record(path)
    for event, groups in [*_list_groups(settings.value)]:
        for number, group in reversed([*enumerate(groups)]):
            if _is_own_group(group, hooks.agent):
                settings.remove(("hooks", event, number))
    permissions = settings.value.get("permissions")
    rules = permissions.get("ask") if isinstance(permissions, dict) else None
    for number, rule in reversed([*enumerate(rules if isinstance(rules, list) else [])]):
        if rule in record["ask"]:
            record["ask"].remove(rule)
            settings.remove(("permissions", "ask", number))
    for created in reversed(record["created"]):
        if _is_empty_at(settings.value, created):
            settings.remove(created)
    _record_path(path).unlink(missing_ok=True)
    if record["created_file"] and not settings.value:
        path.unlink()
        return [f"The hooks were removed, and {path}, in which nothing else was."]
    if str(settings) == before:
        return [f"No hooks of aaep are in {path}, so nothing was removed."]
    _write(path, str(settings))
    return [f"The hooks were removed from {path}."]


def _list_groups(settings: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    entries = settings.get("hooks")
    for event, groups in entries.items() if isinstance(entries, dict) else ():
        if isinstance(groups, list):
            yield event, groups


def _is_empty_at(value: Any, path: list[str]) -> bool:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return value in ([], {})


# -- check ---------------------------------------------------------------------------------------


def check(hooks: AgentHooks, path: Path) -> Iterator[str]:
    """Yield a sentence for everything that keeps the hooks from working."""
    if not path.exists():
        yield f"There is no {path}. Run aaep hooks {hooks.agent} install."
        return
    try:
        settings = JsonText(path.read_bytes().decode()).value
    except (ValueError, RecursionError) as error:
        yield f"{path} is not valid JSON, so {hooks.name} does not use it: {str(error).rstrip('.')}. Correct it."
        return
    yield from _check_hooks(hooks, settings, path)
    yield from _check_disabled(settings, path)
    if hooks.agent == "claude":
        yield from _check_permissions(settings, path)
        yield from _check_other_settings()
    yield from _check_version(hooks)


def is_installed(hooks: AgentHooks, path: Path) -> bool:
    """Whether any of our hooks is in a file. Raises :exc:`ValueError` for one that is no JSON."""
    if not path.exists():
        return False
    groups = _list_groups(JsonText(path.read_bytes().decode()).value)
    return any(_is_own(hook, hooks.agent) for _, entries in groups for hook in _list_hooks(entries, hooks))


def _check_hooks(hooks: AgentHooks, settings: Mapping[str, Any], path: Path) -> Iterator[str]:
    again = f"Run aaep hooks {hooks.agent} install again."
    timeout_name = "timeoutSec" if hooks.own_file else "timeout"
    own: dict[str, list[Mapping[str, Any]]] = {}
    for event, groups in _list_groups(settings):
        for hook in _list_hooks(groups, hooks):
            timeout = hook.get(timeout_name)
            is_valid = isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout > 0
            if timeout_name in hook and not is_valid:
                yield (
                    f"A hook for {event} in {path} has the {timeout_name} {json.dumps(timeout)}, which is invalid: "
                    f"{hooks.name} then ignores all hooks without a word. Correct it."
                )
            if _is_own(hook, hooks.agent):
                own.setdefault(event, []).append(hook)
    for event in hooks.events:
        found = own.get(event, [])
        if not found:
            yield f"The hook for {event} is missing in {path}. {again}"
        for hook in found:
            if hook.get(timeout_name) != hooks.get_timeout(event):
                wanted = hooks.get_timeout(event)
                yield f"The hook for {event} has not the {timeout_name} {wanted}. {again}"
            for name in ("onFailure", "async", "asyncRewake", "once", "if"):
                if name in hook:
                    yield f"The hook for {event} has {name}, which changes what its answer means. {again}"
            yield from _check_program(hook, event, again)


def _list_hooks(groups: list[Any], hooks: AgentHooks) -> Iterator[Mapping[str, Any]]:
    for group in groups:
        entries = [group] if hooks.own_file else group.get("hooks") if isinstance(group, dict) else None
        yield from (hook for hook in (entries if isinstance(entries, list) else ()) if isinstance(hook, dict))


def _check_program(hook: Mapping[str, Any], event: str, again: str) -> Iterator[str]:
    words = shlex.split(str(hook.get("command") or hook.get("bash")))
    if shutil.which(words[0]) is None:
        yield f"The program of the hook for {event} is not found: {words[0]}. {again}"
    elif words[-3].endswith(".py") and not os.path.isfile(words[-3]):
        yield f"The program of the hook for {event} is not there: {words[-3]}. {again}"


def _check_disabled(settings: Mapping[str, Any], path: Path) -> Iterator[str]:
    if settings.get("disableAllHooks"):
        yield f"All hooks are switched off by disableAllHooks in {path}. Remove it."
    if settings.get("allowManagedHooksOnly"):
        yield f"Your own hooks are switched off by allowManagedHooksOnly in {path}. Ask whoever manages this machine."
    switch = settings.get("hooks")
    if isinstance(switch, dict) and switch.get("enabled") is False:
        yield f"All hooks are switched off by hooks.enabled in {path}. Remove it."


def _check_permissions(settings: Mapping[str, Any], path: Path) -> Iterator[str]:
    permissions = settings.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}
    asked = permissions.get("ask")
    asked = asked if isinstance(asked, list) else []
    missing = [rule for rule in ASK_RULES if rule not in asked]
    if missing:
        yield (
            f"permissions.ask in {path} has no rule for {', '.join(missing)}, so these may run without a question. "
            "Run aaep hooks claude install again."
        )
    yield from _check_open(permissions, path, [rule for rule in ASK_RULES if rule not in missing])


def _check_open(permissions: Mapping[str, Any], path: Path, asked: list[str]) -> Iterator[str]:
    """Yield what lets tools run without a question; an ask rule counts more than an allow rule for the same tool."""
    allowed = permissions.get("allow")
    for rule in allowed if isinstance(allowed, list) else ():
        if isinstance(rule, str) and rule.partition("(")[0] not in asked:
            yield f"The rule {json.dumps(rule)} in permissions.allow in {path} lets a tool run without a question."
    mode = permissions.get("defaultMode")
    if mode in _OPEN_MODES:
        yield f"permissions.defaultMode in {path} is {mode}, in which tools may run without a question."


def _check_other_settings() -> Iterator[str]:
    """Look at what counts beside the person's own settings: those of the project here, and of the machine."""
    for path in (
        Path(".claude/settings.json"),
        Path(".claude/settings.local.json"),
        Path("/etc/claude-code/managed-settings.json"),
    ):
        try:
            settings = JsonText(path.read_bytes().decode()).value
        except OSError:
            continue
        except (ValueError, RecursionError):
            yield f"{path} is not valid JSON. Correct it."
            continue
        yield from _check_disabled(settings, path)
        permissions = settings.get("permissions")
        if isinstance(permissions, dict):
            yield from _check_open(permissions, path, [*ASK_RULES])


def _check_version(hooks: AgentHooks) -> Iterator[str]:
    program = shutil.which(hooks.agent)
    if program is None or hooks.agent != "claude":
        return
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    found = _VERSION.search(told)
    tried = ".".join(map(str, _TRIED_CLAUDE))
    if found is None:
        yield f"{program} does not say its version. These hooks need Claude Code {tried} or newer."
    elif tuple(map(int, found.groups())) < _TRIED_CLAUDE:
        yield f"Claude Code is {found[0]}. These hooks were tried with {tried} and need that or newer. Update it."
