"""``aaep capture``: not here yet."""

from __future__ import annotations

import click

from ._verb import Verb

__all__ = ["main"]


@click.command(
    "capture",
    cls=Verb,
    example="aaep capture --help",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def main(context: click.Context) -> None:
    """Record a live stream. Comes with part 4."""
    click.echo("aaep capture comes with part 4.", err=True)
    context.exit(2)
