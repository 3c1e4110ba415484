"""
A coding agent's tool call, as its hooks describe it.

What a person is asked about it is the input of the tool itself, as for every other agent; see
:mod:`~aaep.adapters.acp_questions`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..text.phrases import ENGLISH, Phrases
from ..text.quotation import mark_off
from .acp_questions import Proposal, describe_input, find_changed_path, find_shell_command, show_path

__all__ = ["HookCall", "describe_call", "describe_reading", "read_call"]

_PATTERN_NAMES: Final = ("pattern", "query")
_PATH_NAMES: Final = ("file_path", "path", "notebook_path")
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
    def effect_key(self) -> str:
        """
        What tells it from another call where agents name no calls: the command that it runs, or the file it changes.

        Copilot asks with other arguments than those it reports in the end, and about every change as an edit.
        """
        if (command := find_shell_command(self.tool, self.arguments)) is not None:
            return f"run {json.dumps(command)}"
        path = find_changed_path(self.tool, self.arguments, self.cwd)
        return self.key if path is None else f"change {path}"

    @property
    def is_reading(self) -> bool:
        """Whether it changes nothing."""
        return self.tool.casefold() in _READING_TOOLS

    @property
    def is_asking(self) -> bool:
        """Whether it is a question to the person that is not answered with yes or no."""
        return self.tool.casefold() in _ASKING_TOOLS


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


def describe_call(call: HookCall, phrases: Phrases = ENGLISH) -> Proposal:
    """Return what a call would do. Raises :exc:`LocalProtocolError` for what cannot be told, such as deep nesting."""
    return describe_input(call.tool, dict(call.arguments), call.cwd, phrases=phrases)


def describe_reading(call: HookCall, phrases: Phrases = ENGLISH) -> str | None:
    """Return the sentence that tells what was read or searched for; None where that is not known."""
    if (pattern := _find_text(call.arguments, _PATTERN_NAMES)) is not None:
        return phrases.format("code-searching", text=mark_off(pattern, phrases))
    if (path := _find_text(call.arguments, _PATH_NAMES)) is not None:
        return phrases.format("code-reading", file=mark_off(show_path(path, call.cwd), phrases))
    return None


def _find_text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first text that one of these arguments is."""
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)
