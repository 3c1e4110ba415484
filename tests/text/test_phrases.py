"""The catalogue of what is said: short, in plain words, and no entry that nobody hears."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import aaep
from aaep.text.locale_files import Message, read_locale
from aaep.text.phrases import ENGLISH, get_phrases
from tests.phrases import example_values, format_example

MESSAGES = [*read_locale("en").messages.values()]
SOURCES = {path: path.read_text(encoding="utf-8") for path in Path(aaep.__file__).parent.rglob("*.py")}
USERS = "\n".join(SOURCES.values())
EN_FTL = "\n".join(message.source for message in MESSAGES)
PROTOCOL_WORDS = re.compile(
    r"\b(subscriptions?|producers?|subscribers?|tokens?|payloads?|events?|manifests?|envelopes?)\b", re.IGNORECASE
)


NOT_SAID = {
    "The tool failed: ",  # by which a sentence of a foreign agent is known
    '<s><mark name="',  # markup for a voice
}


def _find_texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of several words in a module that are neither documentation nor errors nor patterns."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        is_documentation = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_pattern = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")
        if is_documentation or is_pattern or isinstance(node, ast.Raise):
            skipped.update(ast.walk(node))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in skipped]
    yield from (text for text in texts if isinstance(text, str) and re.search(r"[a-z]+ [a-z]+", text))


@pytest.mark.parametrize("package", ["presentation", "outputs"])
def test_what_is_said_stands_in_the_catalogue_and_nowhere_else(package: str) -> None:
    sources = {path: source for path, source in SOURCES.items() if path.parent.name == package}
    texts = {text for source in sources.values() for text in _find_texts(ast.parse(source))}
    assert sources and texts <= NOT_SAID


@pytest.mark.parametrize("message", MESSAGES, ids=[message.name for message in MESSAGES])
def test_a_phrase_is_short_plain_and_heard_somewhere(message: Message) -> None:
    assert message.when and message.group
    for form in ENGLISH.list_forms(message.name):
        assert not PROTOCOL_WORDS.search(form)
        is_said = "never said" not in message.when
        assert len(form.split()) <= 32 or not is_said
    parts = message.name.split("-")
    families = ["-".join(parts[:length]) for length in range(1, len(parts))]
    ways = [f'"{message.name}"', f"'{message.name}'", f"{{ {message.name} }}"]
    ways += [f"{quote}{family}-{{" for family in families for quote in "\"'"]
    ways += [f'}}-{"-".join(parts[length:])}"' for length in range(1, len(parts))]
    assert any(way in USERS or way in EN_FTL for way in ways)


@pytest.mark.parametrize("message", MESSAGES, ids=[message.name for message in MESSAGES])
def test_the_gaps_of_a_phrase_are_those_that_its_comment_describes(message: Message) -> None:
    used = {name for name in re.findall(r"\$(\w+)", message.source)}
    assert used == {*example_values(message.name)}
    assert format_example(ENGLISH, message)


def test_a_plural_is_chosen_by_the_number() -> None:
    assert [ENGLISH.format("undone-more", count=count) for count in (1, 3)] == [
        "1 more was not done.",
        "3 more were not done.",
    ]
    assert ENGLISH.format("quiet-end", count=0) == "Nothing happened meanwhile."
    assert ENGLISH.format("value-bytes", count=2048) == "2048 bytes"
    assert ENGLISH.format("percent", percent=12.5) == "12.5 percent."


def test_a_gap_that_nothing_fills_is_a_warning_and_no_silence() -> None:
    with pytest.warns(RuntimeWarning, match="without its argument tool"):
        assert ENGLISH.format("invoked") == "Calling …."
    with pytest.warns(RuntimeWarning, match="no phrase nonsense"):
        assert ENGLISH.format("nonsense") == ""


def test_a_value_gets_no_invisible_marks() -> None:
    assert ENGLISH.format("invoked", tool="\u05d0\u05d1") == "Calling \u05d0\u05d1."


def test_what_was_composed_is_known_again() -> None:
    text = ENGLISH.format("error-reason", call="Fetching a.txt", reason="No route.")
    assert ENGLISH.extract("error-reason", text) == {"call": "Fetching a.txt", "reason": "No route."}
    assert ENGLISH.extract("undone", "Something else.") is None
    assert ENGLISH.recognizes("undone", "Refused. Pay Ada was not done.")
    assert not ENGLISH.recognizes("undone", "Pay Ada was not done. Or was it?")


def test_a_language_without_phrases_is_spoken_to_in_english() -> None:
    assert get_phrases(("is", "tlh")) is ENGLISH
    assert get_phrases(("is", "en-GB")) is ENGLISH
