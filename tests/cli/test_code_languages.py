"""``aaep code`` in every language that has phrases: nothing is heard in English but names and what the agent wrote."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from aaep.cli._own_language import find_own_language
from aaep.text.locale_files import list_tags, read_locale
from aaep.text.phrases import ENGLISH, GAP, Phrases, get_phrases
from tests.adapters.coding import OPTIONS, ask, call, ended, say
from tests.cli.test_code import converse, install, lines
from tests.driving import LONG

TAGS = list_tags()
NAMES = [*read_locale("en").messages]
# Names, commands and what the agent and its program write; the authors' words of the test are nonsense.
WRITTEN = "goose xqz vwx txt touch the fake agent dies command"
_WORD = re.compile(r"[^\W\d_]+")

FIRST_TURN = [
    say("Xqz vwx. "),
    {"update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Vwx."}}},
    {"update": {"sessionUpdate": "plan", "entries": [{"content": "Xqz", "status": "completed"}, {"content": "Vwx"}]}},
    {"update": {"sessionUpdate": "subagent_update", "name": "Xqz", "status": "vwx"}},
    call("read", kind="read", name="Xqz", rawInput={"path": "{cwd}/xqz.txt"}),
    ended("read"),
    call("search", kind="search", name="Xqz", rawInput={"pattern": "vwx"}),
    ended("search", "failed"),
    ask("always", rawInput={"command": "touch xqz"}, options=OPTIONS[:1]),
    {
        "ask": {
            "toolCall": {
                "toolCallId": "edit",
                "kind": "edit",
                "name": "Xqz",
                "content": [
                    {"type": "diff", "path": "{cwd}/xqz.txt", "oldText": "1\n2\n3\n", "newText": "1\n2\n2\n4\n"},
                    {"type": "diff", "path": "{cwd}/vwx.txt", "newText": "xqz\nvwx\n"},
                ],
            },
            "options": OPTIONS,
        },
        "run": "EDITED",
        "allowed": [ended("edit")],
    },
    ask("run", rawInput={"command": "touch"}, run="RUN"),  # so short that all of it is said again
    ask("other", kind="other", name="xqz", rawInput={"vwx": {"xqz": ["vwx", True, None]}}, title="Xqz", run="OTHER"),
    say("Vwx xqz."),
]
SECOND_TURN = [
    call("unasked", kind="execute", rawInput={"command": "touch vwx"}),
    ended("unasked"),
    {"hang": True},
]
THIRD_TURN = [{"die": 1}]


def split(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def list_words(phrases: Phrases, names: list[str]) -> set[str]:
    return {word for name in names for form in phrases.list_forms(name) for word in split(form)}


def find_beginning(phrases: Phrases, name: str) -> str:
    """What a message begins with, before the first value in it."""
    return phrases.list_forms(name)[0].partition(GAP)[0].strip()


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "en_GB.UTF-8"}, "en-US"),
        ({"LANG": "de_DE.UTF-8", "AAEP_LANGUAGES": "is,yo-NG"}, "yo"),
        ({"LANG": "is_IS.UTF-8"}, "en-US"),
    ],
)
def test_what_runs_for_a_person_talks_in_their_language(
    environment: dict[str, str], language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE", "AAEP_LANGUAGES", "AAEP_SETTINGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert find_own_language() == language


@pytest.mark.parametrize("tag", TAGS)
def test_a_coding_agent_is_heard_in_one_language(tag: str, tmp_path: Path) -> None:
    phrases = get_phrases((tag,))
    environment = install(tmp_path, FIRST_TURN, SECOND_TURN, THIRD_TURN)
    (tmp_path / "work" / "xqz.txt").write_text("1\n2\n3\n")
    accept = phrases["command-accept"]
    replies = [
        (phrases.format("connected-name", agent="goose"), "Xqz @xqz.txt @vwx"),
        (phrases["code-effect-change"], accept),
        (phrases["code-effect-run"], accept),
        (find_beginning(phrases, "accept-second-line"), phrases["word-yes"]),
        (phrases["code-effect-other"], phrases["command-reject"]),
        (find_beginning(phrases, "ended"), "Xqz."),
        (phrases["cancelled"], "Vwx."),
    ]
    with lines(environment, tmp_path, "--language", tag) as (typed, heard, process):
        guard = threading.Timer(LONG, process.kill)  # where something is said in other words
        guard.daemon = True
        guard.start()
        said = converse(typed, heard, replies)
        assert process.wait(LONG) == 1
        guard.cancel()
    made = sorted(path.name for path in (tmp_path / "work").iterdir())
    assert made == ["EDITED", "RUN", "xqz.txt"], said
    for name in ("code-started", "code-file-missing", "code-reading", "code-hunk-add", "code-create"):
        assert any(find_beginning(phrases, name) in line for line in said), name
    assert any(phrases["code-stopping"] in line for line in said)
    translated = [name for name in NAMES if name in read_locale(tag).messages]
    told_in_english = [name for name in NAMES if name not in translated]
    known = list_words(phrases, NAMES) | list_words(ENGLISH, told_in_english) | {*split(WRITTEN)}
    foreign = list_words(ENGLISH, translated) - known
    printed = [line for line in said if not line.startswith("> ")]
    assert not {word for line in printed for word in split(line)} & foreign, said
