"""Phrases with their examples in place of the gaps."""

from __future__ import annotations

from aaep.text.locale_files import Message, read_locale
from aaep.text.phrases import Phrases


def example_values(name: str) -> dict[str, str | float]:
    """What the English file gives as an example for each gap of a phrase."""
    examples = read_locale("en").messages[name].examples
    return {example.name: float(example.text) if example.is_number else example.text for example in examples}


def format_example(phrases: Phrases, message: Message) -> str:
    """A phrase with the examples of the English file."""
    return phrases.format(message.name, **example_values(message.name))
