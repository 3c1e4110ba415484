"""The catalogue of what is said: short, in plain words, and no entry that nobody hears."""

from __future__ import annotations

import re
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
