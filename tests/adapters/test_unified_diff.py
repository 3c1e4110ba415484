"""Unified diffs: what they change is told, and what is not understood is not taken for less than it is."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.adapters.acp_questions import describe_input
from aaep.adapters.unified_diff import Hunk, parse_unified_diff

HEAD = "--- a/w/a.py\n+++ b/w/a.py\n"


def change(text: str) -> str:
    """What is asked about a diff of /w/a.py."""
    return describe_input("edit", {"file_path": "/w/a.py", "diff": text}, "/w").action


lines = st.lists(st.sampled_from(["a", "b", "", "-x", "+x", "@@ -1 +1 @@", "--- a/w/a.py"]), max_size=12)


@given(lines, lines, st.integers(0, 3))
def test_a_diff_gives_the_new_text(old: list[str], new: list[str], context: int) -> None:
    diff = [*difflib.unified_diff(old, new, "a/w/a.py", "b/w/a.py", lineterm="", n=context)]
    found = parse_unified_diff("\n".join(diff))
    if old == new:
        assert found is None
        return
    if found is None:  # blank lines at the end are lost without their marks; then the whole diff is told
        assert not diff[-1].strip()
        return
    result = list(old)
    for hunk in reversed(found.hunks):
        start = hunk.line - 1
        assert result[start : start + len(hunk.removed)] == hunk.removed
        result[start : start + len(hunk.removed)] = hunk.added
    assert result == new


def test_hunks_have_the_lines_of_the_old_file() -> None:
    found = parse_unified_diff(f"{HEAD}@@ -3,3 +3,4 @@ def f():\n a\n-b\n+c\n+d\n e\n@@ -20,1 +21,0 @@\n-z\n")
    assert found is not None
    assert found.hunks == [Hunk(4, ["b"], ["c", "d"]), Hunk(20, ["z"], [])]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no diff",
        HEAD,
        f"{HEAD}@@ -1,1 +1,1 @@\n-a\n",  # a line is missing
        f"{HEAD}@@ -1,1 +1,1 @@\n-a\n+b\n+c\n",  # and here is one too many
        f"{HEAD}@@ -1,1 +1,1 @@\n-a\n+b\n\\ No newline at end of file\n",
        f"{HEAD}@@ -1,1 +1,1 @@\n-a\n+b\n--- a/etc/passwd\n+++ b/etc/passwd\n@@ -1,1 +1,1 @@\n-a\n+b\n",
        f"deleted file mode 100644\n{HEAD}@@ -1,1 +1,1 @@\n-a\n+b\n",
        "--- a/w/b.py\n+++ b/w/a.py\n@@ -1,1 +1,1 @@\n-a\n+b\n",
        "--- a/w/b.py\n+++ b/w/b.py\n@@ -1,1 +1,1 @@\n-a\n+b\n",  # of another file
    ],
)
def test_what_is_not_understood_is_told_as_it_stands(text: str) -> None:
    told = change(text)
    assert told.startswith("Use edit. With file_path: /w/a.py; diff: ")
    assert text.strip("\n") in told
