"""The text of a settings file: what is right counts whatever is wrong beside it, and a change touches nothing else."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.settings.fields import FIELDS, format_value
from aaep.settings.toml_text import BrokenLine, parse_entries, remove_entry, set_entry

FILE = """\
# Mine.

verbosity = "terse"   # enough
languages = [
    "yo-NG",  # first
    "en",
]

[speech]
# How fast.
rate = 300
voice = "a # b" # not a comment before this

[[allow]]
rate = 1

[braille]
on = true
"""


def read(text: str) -> dict[str, Any]:
    return {entry.key: entry.value for entry in parse_entries(text)[0]}


def test_what_stands_in_the_file_is_read_with_its_lines() -> None:
    entries, broken = parse_entries(FILE)
    assert broken == []
    assert [(entry.key, entry.value, entry.first_line, entry.last_line) for entry in entries] == [
        ("verbosity", "terse", 3, 3),
        ("languages", ["yo-NG", "en"], 4, 7),
        ("speech.rate", 300, 11, 11),
        ("speech.voice", "a # b", 12, 12),
        ("braille.on", True, 18, 18),
    ]


def test_inline_tables_and_dots_are_read_as_what_they_mean() -> None:
    text = 'speech = { rate = 300, on = true }\nbraille.table = "x"\nsounds.sent = { sound = true }\n'
    assert read(text) == {
        "speech.rate": 300,
        "speech.on": True,
        "braille.table": "x",
        "sounds.sent.sound": True,
    }


@pytest.mark.parametrize(
    ("text", "found", "lines"),
    [
        ('a = 1\nb = \nc = "3"', {"a": 1, "c": "3"}, [2]),
        ('a = "1\nb = 2', {"b": 2}, [1]),
        ("a = [1,\nb = 2\n[c]\nd = 3", {"b": 2, "c.d": 3}, [1]),
        ("a = 1\nwhat is this\nb = 2", {"a": 1, "b": 2}, [2]),
        ("[c]\nd = 3\n[e\nd = 4\nf = 5\n[g]\nh = 6", {"c.d": 3, "g.h": 6}, [3, 4, 5]),
        ('a = """\nb = 2\n', {"b": 2}, [1]),
        ("= 2", {}, [1]),
        ("a = 1\n\x00\nb = 2", {"a": 1, "b": 2}, [2]),
    ],
)
def test_a_broken_line_is_told_and_the_others_count(text: str, found: dict[str, Any], lines: list[int]) -> None:
    entries, broken = parse_entries(text)
    assert {entry.key: entry.value for entry in entries} == found
    assert [line.line for line in broken] == lines


def test_what_is_named_twice_is_told_and_the_first_counts() -> None:
    entries, broken = parse_entries("[speech]\nrate = 1\n[speech]\nrate = 2\n")
    assert [entry.value for entry in entries] == [1]
    assert broken == [BrokenLine(4, "speech.rate", is_repeated=True)]


def test_a_change_keeps_comments_and_every_other_line() -> None:
    assert set_entry(FILE, "verbosity", "detailed") == FILE.replace('"terse"', '"detailed"')
    assert set_entry(FILE, "speech.rate", 200) == FILE.replace("rate = 300", "rate = 200")
    assert set_entry(FILE, "speech.voice", "x") == FILE.replace('"a # b" #', '"x" #')
    assert set_entry(FILE, "speech.on", True) == FILE.replace("before this\n", "before this\non = true\n")
    assert set_entry(FILE, "states", True) == FILE.replace("]\n\n[speech]", "]\nstates = true\n\n[speech]")
    assert set_entry(FILE, "time.minimum", 60) == FILE + "\n[time]\nminimum = 60\n"
    assert remove_entry(FILE, "speech.rate") == FILE.replace("rate = 300\n", "")
    assert remove_entry(FILE, "time.minimum") == FILE
    text = set_entry("# Mine.\n\n[speech]\non = true\n", "keys", "enter")
    assert text == '# Mine.\n\nkeys = "enter"\n\n[speech]\non = true\n'
    assert set_entry("", "speech.on", True) == "[speech]\non = true\n"


def test_tables_in_other_forms_are_changed_in_their_form() -> None:
    inline = "speech = { rate = 300, on = true } # fast\n"
    assert set_entry(inline, "speech.rate", 200) == "speech = { rate = 200, on = true } # fast\n"
    assert remove_entry(inline, "speech.on") == "speech.rate = 300 # fast\n"
    assert set_entry("speech.rate = 300\n", "speech.on", True) == "speech.rate = 300\nspeech.on = true\n"
    with pytest.raises(AaepError, match="Change the file by hand"):
        set_entry(inline, "speech.voice", "x")


def test_a_broken_file_can_be_changed_too() -> None:
    text = "what is this\n[speech]\nrate = 300\n"
    assert set_entry(text, "speech.rate", 200) == text.replace("300", "200")


VALUES = st.one_of(st.booleans(), st.integers(-(2**53), 2**53), st.text(), st.lists(st.text(), max_size=3))


@given(st.lists(st.tuples(st.sampled_from([*FIELDS]), VALUES), max_size=8), st.sampled_from(["", FILE]))
def test_what_was_set_is_read_again_whatever_it_is(changes: list[tuple[str, Any]], text: str) -> None:
    expected = read(text)
    for key, value in changes:
        if "\ud800" <= max(str(value), default="") <= "\udfff":  # no text
            continue
        text = set_entry(text, key, value)
        expected[key] = value
        tomllib.loads(text)
    assert read(text) == expected
    for key in [*expected]:
        text = remove_entry(text, key)
        del expected[key]
        assert read(text) == expected


@given(st.text(alphabet="ab=[]\"\n.# 1,{}'", max_size=40))
def test_whatever_a_file_contains_is_read_without_an_error(text: str) -> None:
    entries, broken = parse_entries(text)
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert broken == []
    for entry in entries:
        value: Any = whole
        for name in entry.key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        assert value == entry.value or "." in format_value(entry.key)
