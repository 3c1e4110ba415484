"""
What a person is asked about a coding agent's tool call: what will run, and not what a model says of it.

A command is told line by line and a change of a file hunk by hunk, in full. The title of a call is chosen by the
model, or rewritten by another one, so it is told only where nothing else is there, and as the agent's own words.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

from ..producer.tool_arguments import describe_all
from ..text.phrases import ENGLISH, Phrases, ensure_full_stop, humanize_name
from ..text.quotation import mark_off
from ..text.sanitize import sanitize, truncate
from .unified_diff import Hunk, parse_unified_diff

__all__ = [
    "Diff",
    "Hunk",
    "PermissionOptions",
    "Proposal",
    "describe_call",
    "describe_input",
    "find_changed_path",
    "find_hunks",
    "find_shell_command",
    "show_path",
]

Nature = Literal["run", "change", "delete", "move", "read", "search", "think", "fetch", "switch_mode", "other"]
Risk = Literal["low", "medium", "high"]

HARMLESS: Final = frozenset({"read", "search", "think"})
_MAX_LABEL_LENGTH: Final = 80  # characters of a command or a path where it is only named
_MAX_COMPARED_LINES: Final = 4000  # of a file, beyond which what lies between its first and last change is one hunk
_COMMAND_NAMES: Final = ("command", "cmd", "script")
_FOLDER_NAMES: Final = ("cwd", "workdir", "directory", "working_directory")
_MODEL_WORDS: Final = ("description", "justification")  # of a command; nothing of it runs
_SHELL_NAME: Final = re.compile(r"bash|shell|exec|terminal|run", re.IGNORECASE)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_PATH_NAMES: Final = ("file_path", "filePath", "path", "abs_path", "absolute_path", "notebook_path")
_TEXT_NAMES: Final = frozenset(  # of an edit: what is removed, and what comes in its place
    "content contents file_text newString newText new_str new_string oldString oldText old_str old_string text".split()
)
_WRITING_TOOLS: Final = frozenset("write create write_file".split())
_EDITING_TOOLS: Final = frozenset("edit replace".split())
_SEARCH_NAMES: Final = ("pattern", "query", "regex", "glob")
_KINDS: Final[Mapping[str, Nature]] = {
    "read": "read",
    "edit": "other",  # a change is known by its diff
    "delete": "delete",
    "move": "move",
    "search": "search",
    "execute": "other",  # and a command by itself
    "think": "think",
    "fetch": "fetch",
    "switch_mode": "switch_mode",
}
# How bad it may be, and whether it can be undone: what is unknown counts as the worst. C-41
_RISKS: Final[Mapping[str, tuple[Risk, str]]] = {
    "change": ("medium", "reversible_with_effort"),
    "move": ("medium", "reversible_with_effort"),
    "fetch": ("medium", "irreversible"),
    "read": ("low", "reversible"),
    "search": ("low", "reversible"),
    "think": ("low", "reversible"),
}


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as it is put to a person."""

    tool: str
    nature: Nature
    kind: str
    action: str  # all of it
    overview: str  # in one sentence, without the text of a file or a command
    label: str  # what is told when it begins
    consequence: str
    command: str | tuple[str, ...] | None = None
    other_arguments: frozenset[str] = frozenset()  # names of what a command is run with
    is_own_words: bool = False  # nothing but the agent's own description is known

    @property
    def risk(self) -> Risk:
        """How risky it is."""
        return _RISKS.get(self.nature, ("high", ""))[0]

    @property
    def reversibility(self) -> Literal["reversible", "reversible_with_effort", "irreversible"]:
        """Whether it can be undone."""
        told = _RISKS.get(self.nature, ("", "irreversible"))[1]
        if told == "reversible":
            return "reversible"
        return "reversible_with_effort" if told == "reversible_with_effort" else "irreversible"

    @property
    def is_irreversible(self) -> bool:
        """Whether it cannot be undone."""
        return self.reversibility == "irreversible"


def describe_call(tool: Mapping[str, Any], cwd: str, phrases: Phrases = ENGLISH) -> Proposal:
    """Return what a tool call would do. Raises :exc:`LocalProtocolError` for what cannot be read out, as a secret."""
    raw = tool.get("rawInput")
    arguments: dict[str, Any] = dict(raw) if isinstance(raw, dict) else {} if raw in (None, "", []) else {"input": raw}
    diffs = [*_read_diffs(tool.get("content"))]
    kind = tool["kind"] if isinstance(tool.get("kind"), str) else "other"
    name = _find_name(tool, kind)
    title = tool.get("title")
    told_title = title if isinstance(title, str) else ""
    return describe_input(name, arguments, cwd, kind=kind, diffs=diffs, title=told_title, phrases=phrases)


def describe_input(
    name: str,
    arguments: dict[str, Any],
    cwd: str,
    *,
    kind: str = "other",
    diffs: Sequence[Diff] = (),
    title: str | None = None,
    phrases: Phrases = ENGLISH,
) -> Proposal:
    """
    Return what a tool would do with this input; raises as :func:`describe_call`.

    ``title`` is what the agent calls a tool whose input may be missing, None where the input is known to be all.
    """
    command = _find_command(arguments)
    is_run = command is not None and (kind == "execute" or _SHELL_NAME.search(name) is not None)
    if is_run and command is not None and not diffs:
        return _describe_command(name, kind, command, arguments, cwd, phrases)
    if diffs and not is_run:
        return _describe_change(name, kind, diffs, arguments, cwd, phrases)
    if command is None and not diffs and (edit := _describe_edit(name, kind, arguments, cwd, phrases)) is not None:
        return edit
    nature = _KINDS.get(kind, "other") if command is None and not diffs else "other"
    parts = [_describe_diff(diff, cwd, phrases)[1] for diff in diffs]
    is_own_words = title is not None and not arguments and not diffs
    label = _label(nature, name, arguments, title if is_own_words else None, cwd, phrases)
    if is_own_words:
        action = phrases.format("code-own_words", text=mark_off(title or "", phrases))
    else:
        told = describe_all(arguments, phrases) or phrases["with-nothing"]
        action = " ".join(
            [phrases.format("tool-use", tool=humanize_name(name)), phrases.format("with", arguments=told), *parts]
        )
    return Proposal(
        tool=name,
        nature=nature,
        kind=kind,
        action=action,
        overview=label if is_own_words else phrases.format("tool-use", tool=humanize_name(name)),
        label=label,
        consequence=phrases[f"code-effect-{nature}"],
        is_own_words=is_own_words,
    )


def _find_name(tool: Mapping[str, Any], kind: str) -> str:
    """Return the name of the tool, as agents tell it in places of their own, or else its kind."""
    candidates: list[Any] = [tool.get("name")]
    meta = tool.get("_meta")
    if isinstance(meta, dict):
        for member in meta.values():
            if isinstance(member, dict):
                inner = member.get("toolCall")
                candidates += [member.get("toolName"), inner.get("toolName") if isinstance(inner, dict) else None]
    for candidate in (*candidates, kind):
        name = _NOT_IN_NAMES.sub("_", candidate).strip("_.-") if isinstance(candidate, str) else ""
        if name[:1].isalpha():
            return name[:64]
    return "tool"


# -- commands ------------------------------------------------------------------------------------


def find_shell_command(name: str, arguments: Mapping[str, Any]) -> str | tuple[str, ...] | None:
    """Return the command that a tool of this name runs, None if it runs none."""
    return _find_command(arguments) if _SHELL_NAME.search(name) else None


def find_changed_path(name: str, arguments: Mapping[str, Any], cwd: str) -> str | None:
    """Return the path of the file that a tool of this name changes, None if it changes none."""
    path_name = _find_name_of_text(arguments, _PATH_NAMES)
    is_changing = name.casefold() in _WRITING_TOOLS | _EDITING_TOOLS
    return os.path.normpath(os.path.join(cwd, arguments[path_name])) if is_changing and path_name is not None else None


def _find_command(arguments: Mapping[str, Any]) -> str | tuple[str, ...] | None:
    for name in _COMMAND_NAMES:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return tuple(value)
    return None


def _describe_command(
    name: str, kind: str, command: str | tuple[str, ...], arguments: dict[str, Any], cwd: str, phrases: Phrases
) -> Proposal:
    others = {key: value for key, value in arguments.items() if not _is_told_by(command, key, value, cwd)}
    told = mark_off(command, phrases) if isinstance(command, str) else describe_all({"command": command}, phrases)
    action = phrases.format("code-run", command=told)
    if others:
        action = f"{action} {phrases.format('with', arguments=describe_all(others, phrases))}"
    short = command if isinstance(command, str) else " ".join(command)
    return Proposal(
        tool=name,
        nature="run",
        kind=kind,
        action=action,
        overview=phrases.format("code-run-long", size=_count_lines(_measure(short), phrases)),
        label=phrases.format("code-running", command=_shorten(short, phrases)),
        consequence=phrases["code-effect-run"],
        command=command,
        other_arguments=frozenset(others),
    )


def _is_told_by(command: str | tuple[str, ...], name: str, value: Any, cwd: str) -> bool:
    """Whether an argument is the command itself, or says nothing beside it."""
    if name in _COMMAND_NAMES:
        return value == command or (isinstance(value, list) and tuple(value) == command)
    if name in _FOLDER_NAMES:
        return isinstance(value, str) and (not value or os.path.normpath(value) == os.path.normpath(cwd))
    return name in _MODEL_WORDS or value is None or (name == "commands" and value == [command])


def _shorten(text: str, phrases: Phrases) -> str:
    """Return a value as it is named in a sentence: its first line, cut if it is long."""
    line = sanitize(text.strip().partition("\n")[0])
    is_whole = line == sanitize(text.strip()) and len(line) <= _MAX_LABEL_LENGTH
    return mark_off(line if is_whole else f"{truncate(line, _MAX_LABEL_LENGTH)}…", phrases)


# -- changes of files ----------------------------------------------------------------------------


class Diff(NamedTuple):
    """A file before and after a change."""

    path: str
    old: str | None  # None for a file that is not there yet
    new: str


def _read_diffs(content: Any) -> Iterator[Diff]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "diff" and isinstance(block.get("path"), str):
            old, new = block.get("oldText"), block.get("newText")
            yield Diff(block["path"], old if isinstance(old, str) else None, new if isinstance(new, str) else "")


def find_hunks(old: str, new: str) -> list[Hunk]:
    """Return what has to be replaced in one text to get the other."""
    before, after = old.split("\n"), new.split("\n")
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if not before and not after:
        return []
    if len(before) > _MAX_COMPARED_LINES or len(after) > _MAX_COMPARED_LINES:  # comparing would take too long
        return [Hunk(start + 1, before, after)]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        Hunk(start + first + 1, before[first:last], after[new_first:new_last])
        for tag, first, last, new_first, new_last in matcher.get_opcodes()
        if tag != "equal"
    ]


def _describe_change(
    name: str, kind: str, diffs: Sequence[Diff], arguments: dict[str, Any], cwd: str, phrases: Phrases
) -> Proposal:
    described = [_describe_diff(diff, cwd, phrases) for diff in diffs]
    parts = [whole for _, whole in described]
    # Whatever else the tool gets is told too: a diff must not hide an argument.
    others = {key: value for key, value in arguments.items() if not _is_in_diffs(key, value, diffs, cwd)}
    if others:
        parts.append(phrases.format("with", arguments=describe_all(others, phrases)))
    paths = phrases.join(dict.fromkeys(show_path(diff.path, cwd) for diff in diffs))
    is_new = all(diff.old is None for diff in diffs)
    return Proposal(
        tool=name,
        nature="change",
        kind=kind,
        action=" ".join(parts),
        overview=" ".join(overview for overview, _ in described),
        label=phrases.format("code-creating" if is_new else "code-changing", file=_shorten(paths, phrases)),
        consequence=phrases["code-effect-change"],
    )


def _describe_diff(diff: Diff, cwd: str, phrases: Phrases) -> tuple[str, str]:
    """Return a change: the file and how much of it, and that with all of its hunks."""
    path = mark_off(show_path(diff.path, cwd), phrases)
    if diff.old is None:
        size = _count_lines(_measure(diff.new), phrases)
        overview = phrases.format("code-create-long", file=path, size=size)
        return overview, phrases.format("code-create", file=path, size=size, text=mark_off(diff.new, phrases))
    return _describe_hunks(path, find_hunks(diff.old, diff.new), phrases)


def _describe_hunks(path: str, hunks: Sequence[Hunk], phrases: Phrases) -> tuple[str, str]:
    if not hunks:
        text = phrases.format("code-change-nothing", file=path)
        return text, text
    added = _count_lines(sum(len(hunk.added) for hunk in hunks), phrases)
    removed = _count_lines(sum(len(hunk.removed) for hunk in hunks), phrases)
    overview = phrases.format("code-change", file=path, added=added, removed=removed)
    return overview, " ".join([overview, *(_describe_hunk(hunk, phrases) for hunk in hunks)])


def _describe_edit(name: str, kind: str, arguments: Mapping[str, Any], cwd: str, phrases: Phrases) -> Proposal | None:
    """Return what a tool that writes would do by its input alone, where no diff tells it; None for other tools."""
    path_name = _find_name_of_text(arguments, _PATH_NAMES)
    if path_name is None:
        return None
    path = mark_off(show_path(arguments[path_name], cwd), phrases)
    new_name = _find_name_of_text(arguments, ("content", "file_text"))
    if name.casefold() in _WRITING_TOOLS and new_name is not None:
        size = _count_lines(len(arguments[new_name].splitlines()), phrases)
        action = phrases.format("hooks-write", file=path, size=size, text=mark_off(arguments[new_name], phrases))
        overview = phrases.format("code-write-long", file=path, size=size)
        told = {path_name, new_name}
    elif (
        name.casefold() in _EDITING_TOOLS
        and (told_diff := _describe_unified(arguments, path_name, cwd, phrases)) is not None
    ):
        overview, action = told_diff
        told = {path_name, "diff"}
    elif name.casefold() in _EDITING_TOOLS:
        old_name = _find_name_of_text(arguments, ("old_string", "old_str"))
        new_name = _find_name_of_text(arguments, ("new_string", "new_str"))
        if old_name is None or new_name is None:
            return None
        old, new = arguments[old_name], arguments[new_name]
        phrase = "hooks-edit-all" if arguments.get("replace_all") is True else "hooks-edit"
        action = phrases.format(phrase, file=path, old=mark_off(old, phrases), new=mark_off(new, phrases))
        removed, added = (_count_lines(_measure(text), phrases) for text in (old, new))
        overview = phrases.format("code-edit-long", file=path, removed=removed, added=added)
        told = {path_name, old_name, new_name}
        if isinstance(arguments.get("replace_all"), bool):
            told.add("replace_all")
    else:
        return None
    others = {key: value for key, value in arguments.items() if key not in told and value is not None}
    if others:
        action = f"{action} {phrases.format('with', arguments=describe_all(others, phrases))}"
    return Proposal(
        tool=name,
        nature="change",
        kind=kind,
        action=action,
        overview=overview,
        label=phrases.format("code-changing", file=_shorten(show_path(arguments[path_name], cwd), phrases)),
        consequence=phrases["code-effect-change"],
    )


def _describe_unified(
    arguments: Mapping[str, Any], path_name: str, cwd: str, phrases: Phrases
) -> tuple[str, str] | None:
    """Return a change that is given as a unified diff of this file: an overview, and all of it."""
    text, path = arguments.get("diff"), arguments[path_name]
    diff = parse_unified_diff(text) if isinstance(text, str) else None
    if diff is None or show_path(path, cwd) not in (show_path(diff.path, cwd), show_path(f"/{diff.path}", cwd)):
        return None
    if diff.is_new:
        new_text = "\n".join(line for hunk in diff.hunks for line in hunk.added)
        return _describe_diff(Diff(path, None, new_text), cwd, phrases)
    return _describe_hunks(mark_off(show_path(path, cwd), phrases), diff.hunks, phrases)


def _find_name_of_text(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of the names that an argument with a text has."""
    return next((name for name in names if isinstance(arguments.get(name), str)), None)


def _measure(text: str) -> int:
    """Return how many lines a text has."""
    return text.removesuffix("\n").count("\n") + 1 if text else 0


def _describe_hunk(hunk: Hunk, phrases: Phrases) -> str:
    removed, added = ("\n".join(lines) for lines in (hunk.removed, hunk.added))
    if not hunk.removed:
        return phrases.format("code-hunk-add", line=hunk.line, text=mark_off(added, phrases))
    if not hunk.added:
        return phrases.format("code-hunk-remove", line=hunk.line, text=mark_off(removed, phrases))
    text = phrases.format(
        "code-hunk-replace", line=hunk.line, old=mark_off(removed, phrases), new=mark_off(added, phrases)
    )
    # Which nobody hears, and which matters in some languages.
    return f"{text} {phrases['code-hunk-blank']}" if removed.split() == added.split() else text


def _count_lines(count: int, phrases: Phrases) -> str:
    return phrases.format("markdown-lines", count=count)


def _is_in_diffs(name: str, value: Any, diffs: Sequence[Diff], cwd: str) -> bool:
    """Whether an argument says nothing that the diffs do not say."""
    if value is None or name in _MODEL_WORDS:
        return True
    if not isinstance(value, str):
        return False
    if name in _PATH_NAMES:
        return any(show_path(value, cwd) == show_path(diff.path, cwd) for diff in diffs)
    return name in _TEXT_NAMES and any(value in diff.new or value in (diff.old or "") for diff in diffs)


def show_path(path: str, cwd: str) -> str:
    """Return a path as it is told: below the folder of the work without it, otherwise in full."""
    full = os.path.normpath(os.path.join(cwd, path))
    folder = os.path.join(os.path.normpath(cwd), "")
    return full.removeprefix(folder) if full.startswith(folder) else full


# -- what is announced ---------------------------------------------------------------------------


def _label(nature: Nature, name: str, arguments: Mapping[str, Any], title: Any, cwd: str, phrases: Phrases) -> str:
    """Return the sentence that tells of a call as it begins."""
    if nature == "read" and (path := _find_text(arguments, _PATH_NAMES)):
        return phrases.format("code-reading", file=_shorten(show_path(path, cwd), phrases))
    if nature == "search" and (pattern := _find_text(arguments, _SEARCH_NAMES)):
        return phrases.format("code-searching", text=_shorten(pattern, phrases))
    if isinstance(title, str) and title.strip():
        return phrases.format("code-described", text=_shorten(title, phrases))
    return ensure_full_stop(phrases.format("code-using", tool=humanize_name(name)))


def _find_text(arguments: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str) and arguments[name]), "")


# -- options -------------------------------------------------------------------------------------


class PermissionOptions:
    """The answers that an agent offers, of which only two are ever given: yes for this once, and no."""

    def __init__(self, options: Any) -> None:
        self._ids_by_kind: dict[str, list[str]] = {}
        seen: list[str] = []
        for option in options if isinstance(options, list) else ():
            if isinstance(option, dict):
                kind, option_id = option.get("kind"), option.get("optionId")
                if isinstance(kind, str) and isinstance(option_id, str) and option_id:
                    self._ids_by_kind.setdefault(kind, []).append(option_id)
                    seen.append(option_id)
        # One id for two answers could mean either.
        self._ambiguous = {option_id for option_id in seen if seen.count(option_id) > 1}

    @property
    def allow_once(self) -> str | None:
        """The id of the one option that allows this call and nothing else; None unless there is exactly one."""
        ids = self._ids_by_kind.get("allow_once", [])
        return ids[0] if len(ids) == 1 and ids[0] not in self._ambiguous else None

    def is_allowed_by(self, result: Any) -> bool:
        """Whether a result of somebody else allows the call, once or for longer."""
        outcome = result.get("outcome") if isinstance(result, dict) else None
        if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
            return False
        chosen = outcome.get("optionId")
        return any(chosen in ids for kind, ids in self._ids_by_kind.items() if kind.startswith("allow"))

    def grant(self) -> dict[str, Any]:
        """Return the result that allows the call once."""
        if self.allow_once is None:
            raise ValueError("The agent offers no way to allow this once.")
        return {"outcome": {"outcome": "selected", "optionId": self.allow_once}}

    def refuse(self) -> dict[str, Any]:
        """Return the result that refuses the call: for this once if that is offered, else as cancelled."""
        for option_id in self._ids_by_kind.get("reject_once", []):
            if option_id not in self._ambiguous:
                return {"outcome": {"outcome": "selected", "optionId": option_id}}
        return self.cancel()

    @staticmethod
    def cancel() -> dict[str, Any]:
        """Return the result that says that the turn is over."""
        return {"outcome": {"outcome": "cancelled"}}
