"""
The command line: ``aaep`` and one subcommand for each module of this package.

The ``main`` of a module is its click command, and the name of the module is
the name of the subcommand, with hyphens for underscores. Modules that start with an underscore are not
subcommands. A module is imported only when its command is used: most of the
time of a short command would go into importing all the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final, cast

import click

from ..version import __version__
from ._command import CONTEXT_SETTINGS, CommandGroup

__all__ = ["SUMMARIES", "main"]


# The first sentence of each command's help, for the list of them.
SUMMARIES: Final = {
    "acp-proxy": "Stand between an editor and its coding agent, so that what it asks is asked by ear too.",
    "capture": "Record the agent at URL: every message in both directions, one JSON object on each line.",
    "code": "Work with a coding agent by ear: hear what it does, and decide what it may.",
    "conformance": "Judge a producer, a subscriber or a recording by the rules.",
    "demo": "Listen to a scripted bank assistant at work.",
    "doctor": "Say what works on this machine: transports, identity, journal, speech, braille, browser, hooks.",
    "hooks": "Hear and answer a coding agent that runs at its own terminal, by its hooks.",
    "journal": "See or delete what an agent keeps of its sessions.",
    "listen": "Listen to the agents at each URL: whole sentences, one on each line, and keys to answer their prompts.",
    "manifest": "See, sign and verify what an agent says of itself.",
    "replay": (
        "Play the recording in FILE as a real agent: with handshakes, "
        "with what each reader asked for, and with prompts that wait for an answer."
    ),
    "rules": "Print the rules: all of them in a line each, or those with an ID in full.",
    "schema": "Print the JSON Schema of a TYPE, or list the types.",
    "serve": "Run a hub: one place for many agents, and for everybody who listens to them.",
    "settings": "See and change how you listen: verbosity, languages, speech, braille, sounds, time to answer.",
    "token": "Make tokens that let readers in, list them, and take them back.",
    "validate": "Check recordings: each message, and then each session as a whole.",
}


class _CommandModules(CommandGroup):
    """A group whose subcommands are the modules of this package."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the subcommands."""
        return [*SUMMARIES]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import and return a subcommand, or return None if there is none of this name."""
        if name not in SUMMARIES:
            return None
        return cast(click.Command, import_module(f"{__name__}.{name.replace('-', '_')}").main)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*SUMMARIES.items()])


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
