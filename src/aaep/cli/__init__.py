"""
The command line: ``aaep`` and one subcommand for each module of this package.

The ``main`` of a module is its click command, and the name of the module is
the name of the subcommand. Modules that start with an underscore are not
subcommands.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import cast

import click

from ..version import __version__
from ._command import CONTEXT_SETTINGS, CommandGroup

__all__ = ["main"]


class _CommandModules(CommandGroup):
    """A group that finds its subcommands by the names of the modules in this package."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the subcommands."""
        return sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import and return a subcommand, or return None if there is none of this name."""
        if name not in self.list_commands(context):
            return None
        return cast(click.Command, import_module(f"{__name__}.{name}").main)


@click.command(
    "aaep",
    cls=_CommandModules,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep validate session.ndjson",
)
@click.version_option(__version__, message="aaep %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """The Agent Accessibility Event Protocol, from the command line.

    Every command exits with 0 when all is well, 1 when it found something,
    and 2 when it could not run.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
