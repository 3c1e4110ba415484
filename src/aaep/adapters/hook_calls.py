"""
A coding agent's tool call, as its hooks describe it: what a person is asked about it, and how risky it is.

What is asked is the input of the tool itself. The description that a model gives of it may say anything, so it is
left out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from ..producer.tool_arguments import describe_all
from ..text.phrases import ENGLISH, PHRASES, humanize_name
from ..text.quotation import mark_off

__all__ = ["HookCall", "Proposal", "describe_call", "describe_reading", "read_call"]

_COMMAND_TOOLS: Final = frozenset("bash shell powershell run_shell_command local_shell exec_command".split())
_COMMAND_NAMES: Final = ("command", "cmd")
_PATTERN_NAMES: Final = ("pattern", "query")
_PATH_NAMES: Final = ("file_path", "path", "notebook_path")
_MODEL_WORDS: Final = frozenset({"description", "justification"})  # nothing of it runs
# They change nothing, so they are told when they are done, and not asked about here.
_READING_TOOLS: Final = frozenset(
    "read glob grep ls notebookread todowrite toolsearch taskoutput view show_file rg report_intent read_file "
    "read_many_files list_directory search_file_content grep_search glob_search update_plan".split()
)
# What they ask has more answers than yes and no; the agent's own terminal takes them.
_ASKING_TOOLS: Final = frozenset("askuserquestion exitplanmode ask_user".split())
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_NAME_LENGTH: Final = 64


class HookCall(NamedTuple):
    """A tool call that a hook tells of."""

    tool: str
    arguments: Mapping[str, Any]
    ident: str  # empty where the hook does not name it
    cwd: str

    @property
    def key(self) -> str:
        """What tells it from another call: the tool and its input."""
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"

    @property
    def is_reading(self) -> bool:
        """Whether it changes nothing."""
        return self.tool.casefold() in _READING_TOOLS

    @property
    def is_asking(self) -> bool:
        """Whether it is a question to the person that is not answered with yes or no."""
        return self.tool.casefold() in _ASKING_TOOLS


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as it is put to a person."""

    action: str  # all of it
    consequence: str
    risk: Literal["medium", "high"]
    reversibility: Literal["reversible_with_effort", "irreversible"]


def read_call(data: Mapping[str, Any]) -> HookCall:
    """Return the call that the input of a hook describes. Raises :exc:`ValueError` if there is none."""
    name = next((data[key] for key in ("tool_name", "toolName") if isinstance(data.get(key), str)), "")
    tool = _NOT_IN_NAMES.sub("_", name).strip("_.-")[:_MAX_NAME_LENGTH]
    if not tool[:1].isalpha():
        raise ValueError("the event names no tool")
    given: Any = next((data[key] for key in ("tool_input", "toolInput", "toolArgs") if data.get(key) is not None), {})
    if isinstance(given, str):  # Copilot writes them as JSON
        try:
            given = json.loads(given)
        except ValueError:
            given = {"input": given}
    arguments = given if isinstance(given, dict) else {"input": given}
    ident = next((data[key] for key in ("tool_use_id", "toolCallId") if isinstance(data.get(key), str)), "")
    cwd = data.get("cwd")
    return HookCall(tool, arguments, ident, cwd if isinstance(cwd, str) else "/")


def describe_call(call: HookCall) -> Proposal:
    """Return what a call would do. Raises :exc:`LocalProtocolError` for what cannot be told, such as deep nesting."""
    name, arguments = call.tool.casefold(), call.arguments
    if name in _COMMAND_TOOLS and (command := _find_text(arguments, _COMMAND_NAMES)) is not None:
        return _propose(PHRASES["hooks-run"].format(mark_off(arguments[command])), call, {command, *_MODEL_WORDS})
    path = _find_text(arguments, _PATH_NAMES)
    if name in ("write", "create", "write_file") and path is not None:
        content = _find_text(arguments, ("content", "file_text"))
        if content is not None:
            return _propose(_describe_writing(call, path, content), call, {path, content}, is_change=True)
    if name in ("edit", "replace") and path is not None:
        old, new = (_find_text(arguments, (f"{age}_string", f"{age}_str")) for age in ("old", "new"))
        if old is not None and new is not None:
            is_all = arguments.get("replace_all") is True
            action = PHRASES["hooks-edit-all" if is_all else "hooks-edit"].format(
                _show_path(call, path), mark_off(arguments[old]), mark_off(arguments[new])
            )
            told = {path, old, new, *(("replace_all",) if isinstance(arguments.get("replace_all"), bool) else ())}
            return _propose(action, call, told, is_change=True)
    return _propose(PHRASES["tool.use"].format(humanize_name(call.tool)), call, set())


def describe_reading(call: HookCall) -> str | None:
    """Return the sentence that tells what was read or searched for; None where that is not known."""
    if (pattern := _find_text(call.arguments, _PATTERN_NAMES)) is not None:
        return PHRASES["hooks-searching"].format(mark_off(call.arguments[pattern]))
    if (path := _find_text(call.arguments, _PATH_NAMES)) is not None:
        return PHRASES["hooks-reading"].format(_show_path(call, path))
    return None


def _describe_writing(call: HookCall, path: str, content: str) -> str:
    text = call.arguments[content]
    count = len(text.splitlines())
    lines = ENGLISH.format("markdown-lines", count=count)
    return PHRASES["hooks-write"].format(_show_path(call, path), lines, mark_off(text))


def _propose(action: str, call: HookCall, told: set[str], *, is_change: bool = False) -> Proposal:
    """Return a proposal; what the action does not tell of the input yet is added to it."""
    others = {name: value for name, value in call.arguments.items() if name not in told and value is not None}
    if others or not told:
        action = f"{action} {PHRASES['with'].format(describe_all(others) or PHRASES['with.nothing'])}"
    is_run = call.tool.casefold() in _COMMAND_TOOLS
    effect = "change" if is_change else "run" if is_run else "other"
    return Proposal(
        action=action,
        consequence=PHRASES[f"hooks-effect-{effect}"],
        risk="medium" if is_change else "high",
        reversibility="reversible_with_effort" if is_change else "irreversible",
    )


def _find_text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of the names that an argument with a text has."""
    return next((name for name in names if isinstance(arguments.get(name), str)), None)


def _show_path(call: HookCall, name: str) -> str:
    """Return a path as it is told: below the folder of the work without it, otherwise in full."""
    full = os.path.normpath(os.path.join(call.cwd, call.arguments[name]))
    folder = os.path.join(os.path.normpath(call.cwd), "")
    return mark_off(full.removeprefix(folder) if full.startswith(folder) else full)
