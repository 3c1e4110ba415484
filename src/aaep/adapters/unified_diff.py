"""
Changes of a file as a unified diff, which some agents send in place of the file before and after.

What is told of a diff has to be all of it, so a line that is not understood makes the whole of it unreadable here;
it is then told as it stands.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Hunk", "UnifiedDiff", "parse_unified_diff"]

_HUNK_HEAD: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")
_CREATED: Final = re.compile(r"(?:create|new) file mode \d+")
_IGNORED: Final = re.compile(r"diff --git .*|index [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?")
_NOTHING: Final = ("/dev/null", "a/dev/null")


class Hunk(NamedTuple):
    """Lines that are replaced by others."""

    line: int  # the number of the first one in the old text
    removed: list[str]
    added: list[str]


class UnifiedDiff(NamedTuple):
    """What a unified diff does to one file."""

    path: str  # as it is written there, without the letter before it
    is_new: bool
    hunks: list[Hunk]


def parse_unified_diff(text: str) -> UnifiedDiff | None:
    """Return what a diff says of one file, None if any of it is not understood."""
    lines = text.strip("\n").split("\n")
    head, body = _split_head(lines)
    if len(head) < 2 or not (head[-2].startswith("--- ") and head[-1].startswith("+++ b/")):
        return None
    is_new = head[-2].removeprefix("--- ") in _NOTHING
    path = head[-1].removeprefix("+++ b/")
    if not is_new and head[-2] != f"--- a/{path}":
        return None
    for line in head[:-2]:
        if not (_IGNORED.fullmatch(line) or (is_new and _CREATED.fullmatch(line))):
            return None
    hunks = _read_hunks(body)
    if not hunks or (is_new and any(hunk.removed for hunk in hunks)):
        return None
    return UnifiedDiff(path, is_new, hunks)


def _split_head(lines: list[str]) -> tuple[list[str], list[str]]:
    for number, line in enumerate(lines):
        if line.startswith("@@"):
            return lines[:number], lines[number:]
    return lines, []


def _read_hunks(lines: list[str]) -> list[Hunk] | None:
    hunks: list[Hunk] = []
    position = 0
    while position < len(lines):
        head = _HUNK_HEAD.fullmatch(lines[position])
        if head is None:
            return None
        position += 1
        old_left, new_left = (1 if head[group] is None else int(head[group]) for group in (2, 4))
        number = int(head[1]) + (old_left == 0)  # where nothing is replaced it is the line before
        is_open = False  # the last hunk goes on
        while old_left or new_left:
            if position == len(lines):
                return None
            mark, line = lines[position][:1], lines[position][1:]
            position += 1
            if mark not in ("", " ", "-", "+"):
                return None
            if mark in ("", " "):  # a blank line may have lost its mark
                is_open = False
            elif not is_open:
                hunks.append(Hunk(number, [], []))
                is_open = True
            if mark == "+":
                hunks[-1].added.append(line)
            elif mark == "-":
                if hunks[-1].added:
                    hunks.append(Hunk(number, [], []))
                hunks[-1].removed.append(line)
            old_left -= mark != "+"
            new_left -= mark != "-"
            number += mark != "+"
        if old_left < 0 or new_left < 0:
            return None
    return hunks
