"""``aaep replay``: not here yet."""

from __future__ import annotations

import click

from ._verb import Verb

__all__ = ["main"]


@click.command(
    "replay",
    cls=Verb,
    example="aaep replay --help",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def main(context: click.Context) -> None:
    """Play a recording back. Comes with part 4."""
    click.echo("aaep replay comes with part 4.", err=True)
    context.exit(2)
