"""Writes docs/phrases.md from the catalogue of phrases. ``--check`` exits 1 when the file is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aaep.text.phrases import CATALOGUE, Phrase

try:
    from ._page import run
except ImportError:  # run as a script, not as part of the package
    from _page import run  # type: ignore[import-not-found, no-redef]  # the same

PAGE: Final = Path(__file__).parent.parent / "docs" / "phrases.md"
_INTRODUCTION: Final = """\
# What is said

These are all the words that the library itself says to a person, in English. What agents write is not here. \
Everything is written for somebody who listens at 400 words a minute: the news comes first, nothing is said twice, \
and no word of the protocol is used.

The page is made from the catalogue in `text/phrases.py`, by `python scripts/phrases_page.py`. "Detailed", "terse" and \
"normal" are the listener's verbosity; what names none of them is heard at each.
"""


def _describe_example(phrase: Phrase) -> str:
    return phrase.text.format(*phrase.example)


def _format_lines() -> Iterator[str]:
    yield _INTRODUCTION
    for title, phrases in CATALOGUE.items():
        yield f"## {title}\n"
        yield "| what is heard | when | name |"
        yield "|---|---|---|"
        yield from (f"| {_describe_example(phrase)} | {phrase.when} | `{phrase.name}` |" for phrase in phrases)
        yield ""


def page() -> str:
    """Return the text of the page."""
    return "\n".join(_format_lines()).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page."""
    return run(page, PAGE, "phrases_page.py", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
