"""Writes docs/settings.md from the Struct of the settings. ``--check`` exits 1 when the file is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from aaep.settings.fields import FIELDS, Field, describe_expected, format_value

try:
    from ._page import run
except ImportError:  # run as a script, not as part of the package
    from _page import run  # type: ignore[import-not-found, no-redef]  # the same

PAGE: Final = Path(__file__).parent.parent / "docs" / "settings.md"
_INTRODUCTION: Final = """\
# Settings

See and change how you listen:

```sh
aaep settings
aaep settings set speech.rate 300
aaep settings set languages yo-NG,en
aaep settings get speech.rate
aaep settings unset speech.rate
aaep settings path
```

The first line prints every setting with its value and where that comes from; the last one prints where the file is.

## Which value counts

1. an option of the command, such as `--verbosity terse`
2. a variable of the environment, such as `AAEP_SPEECH_RATE=300`; lists are written with commas
3. the file
4. the default

A line of the file that cannot be read, a misspelt name and a value that cannot be used are told at the beginning, \
with the line. They do not count; everything else does. No mistake in the settings stops a reader.

`ACCESSIBLE=1`, which other programs know too, makes `keys` `"enter"` unless the file or `AAEP_KEYS` says otherwise. \
`NO_COLOR` needs no setting: nothing here is coloured.

## The file

It is TOML, and you may write it by hand. `aaep settings set` changes one line of it and keeps your comments. \
Only you can read it.

| system | path |
|---|---|
| Linux and others | `$XDG_CONFIG_HOME/aaep/settings.toml`, or `~/.config/aaep/settings.toml` |
| macOS | `~/Library/Application Support/AAEP/settings.toml` |
| Windows | `%APPDATA%\\AAEP\\settings.toml` |

`AAEP_SETTINGS` names another file. A file that other users can write does not count.

```toml
verbosity = "terse"
languages = ["yo-NG", "en"]
agents = ["unix:hub"] # where to listen

[speech]
on = true
rate = 300

[sounds.needs-you]
sound = true
```

The section `[[allow]]` has rules about what coding agents may do without a question, see \
[coding-agents.md](coding-agents.md#your-own-rules).

## All settings

The page is made from the source, by `python scripts/settings_page.py`.
"""
_TITLES: Final = {
    "": "General",
    "sounds": "Sounds, by the kind of announcement",
    "speech": "Speech",
    "braille": "Braille",
    "time": "Time to answer",
    "limits": "Limits",
}


def _section(field: Field) -> str:
    return field.key.rpartition(".")[0].partition(".")[0]


def _format_row(field: Field) -> str:
    cells = [f"`{field.key}`", f"`{format_value(field.default)}`", describe_expected(field), field.description]
    return f"| {' | '.join(cells)} | `{field.environment_name}` |"


def _format_lines() -> Iterator[str]:
    yield _INTRODUCTION
    for section, fields in groupby(FIELDS.values(), key=_section):
        yield f"### {_TITLES[section]}\n"
        yield "| key | default | values | meaning | variable |"
        yield "|---|---|---|---|---|"
        yield from map(_format_row, fields)
        yield ""


def page() -> str:
    """Return the text of the page."""
    return "\n".join(_format_lines()).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page."""
    return run(page, PAGE, "settings_page.py", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
