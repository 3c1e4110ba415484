"""Writes docs/phrases.md from the catalogue of phrases. ``--check`` exits 1 when the file is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from aaep.text.locale_files import Message, list_tags, read_locale
from aaep.text.phrases import ENGLISH, get_phrases

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

The page is made from `src/aaep/text/locales/en.ftl`, by `python scripts/phrases_page.py`. "Detailed", "terse" and \
"normal" are the listener's verbosity; what names none of them is heard at each. [Languages](languages.md) says how to \
choose another language.

## Languages

| language | tag | read by a speaker |
|---|---|---|
"""


_STATUS: Final = {"yes": "yes", "no": "not yet", "source": "written in it"}


def describe_languages() -> Iterator[str]:
    """Yield the rows of the table of languages."""
    for tag in list_tags():
        yield f"| {get_phrases((tag,))['language-name']} | `{tag}` | {_STATUS[read_locale(tag).checked]} |"


def describe_example(message: Message) -> str:
    """Return what is heard with the example in place of the gaps."""
    values = {example.name: _read_value(example.text, example.is_number) for example in message.examples}
    return ENGLISH.format(message.name, **values)


def _read_value(text: str, is_number: bool) -> str | float:
    return float(text) if is_number else text


def _format_lines() -> Iterator[str]:
    yield _INTRODUCTION.rstrip()
    yield from describe_languages()
    yield ""
    for title, messages in groupby(read_locale("en").messages.values(), key=lambda message: message.group):
        yield f"## {title}\n"
        yield "| what is heard | when | name |"
        yield "|---|---|---|"
        yield from (f"| {describe_example(message)} | {message.when} | `{message.name}` |" for message in messages)
        yield ""


def page() -> str:
    """Return the text of the page."""
    return "\n".join(_format_lines()).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page."""
    return run(page, PAGE, "phrases_page.py", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
