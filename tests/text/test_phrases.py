"""The catalogue of what is said: short, in plain words, and no entry that nobody hears."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import aaep
from aaep.text.phrases import CATALOGUE, PHRASES, Phrase

ENTRIES = [phrase for group in CATALOGUE.values() for phrase in group]
SOURCES = {path: path.read_text(encoding="utf-8") for path in Path(aaep.__file__).parent.rglob("*.py")}
USERS = "\n".join(text for path, text in SOURCES.items() if path.name != "phrases.py")
OWN_USES = next(text for path, text in SOURCES.items() if path.name == "phrases.py").partition("\nPHRASES:")[2]
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


def test_every_name_is_used_once() -> None:
    assert len(PHRASES) == len(ENTRIES)


@pytest.mark.parametrize("phrase", ENTRIES, ids=[phrase.name for phrase in ENTRIES])
def test_a_phrase_is_short_plain_and_heard_somewhere(phrase: Phrase) -> None:
    assert phrase.text and phrase.when
    assert not PROTOCOL_WORDS.search(phrase.text)
    assert len(phrase.text.split()) <= 25
    gaps = {int(name) for _, name, _, _ in Formatter().parse(phrase.text) if name}
    assert gaps == {*range(len(phrase.example))}
    parts = phrase.name.split(".")
    families = [".".join(parts[:length]) for length in range(1, len(parts))]
    ways = [f'"{phrase.name}"', f"'{phrase.name}'", *(f'"{family}.{{' for family in families)]
    ways += [f"'{family}.{{" for family in families]
    if phrase.name.endswith(".short"):
        ways.append('{default}.short"')
    if phrase.name in ("days", "hours", "minutes", "seconds", "day", "hour", "minute", "second"):
        ways.append('unit + "s"')
    assert any(way in USERS or way in OWN_USES for way in ways)
