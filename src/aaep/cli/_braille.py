"""The options of commands that show what is said on a braille display."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ..outputs.braille import BrailleOutput

__all__ = ["braille_options"]


def braille_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of braille to a command, which gets ``braille``, the output or None."""

    @click.option("--braille", "wants_braille", is_flag=True, help="Show everything on a braille display too.")
    @click.option(
        "--braille-table", metavar="NAME", default="", help="With --braille: a table of liblouis for all text."
    )
    @click.option(
        "--contracted/--uncontracted",
        default=True,
        help="With --braille: whether words are contracted. Default: contracted, where that is usual.",
    )
    @functools.wraps(command)
    def wrapped(*args: Any, wants_braille: bool, braille_table: str, contracted: bool, **options: Any) -> Any:
        languages = (*options.get("languages", ()), "en")
        output = BrailleOutput(table=braille_table, contracted=contracted, language=languages[0])
        return command(*args, braille=output if wants_braille else None, **options)

    return wrapped
