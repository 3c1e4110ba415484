"""``aaep hooks``: hear and answer coding agents at their own terminal, by the hooks that they offer."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path

import click

from ..adapters import hook_program
from ..errors import AaepError
from ._command import CONTEXT_SETTINGS, AaepCommand, CannotRun, CommandGroup, FiniteRange, format_count, to_printable
from ._hook_settings import AGENT_HOOKS, AgentHooks, check, install, remove

__all__ = ["main"]


@click.group(
    "hooks",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep hooks claude install",
)
@click.pass_context
def main(context: click.Context) -> None:
    """Hear and answer a coding agent that runs at its own terminal, by its hooks.

    Claude Code and Copilot ask you before they act. Codex and Gemini CLI only tell: their hooks cannot hold them back.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.command("run", cls=AaepCommand, example="aaep hooks run claude Stop < event.json")
@click.argument("agent")
@click.argument("event")
def run(agent: str, event: str) -> int:
    """Pass the EVENT of an AGENT on, which is read from standard input as JSON.

    This is what a hook does. The hooks that install enters start the same program by its path, which is faster. Prints
    the decision of a permission, and nothing else. Exits with 0, and with 2 if a permission could not even be read.
    """
    return hook_program.main([agent, event])


@main.command("daemon", cls=AaepCommand, example="aaep hooks daemon --idle 600")
@click.option(
    "--idle",
    type=FiniteRange(min=0.1),
    default=3600.0,
    metavar="SECONDS",
    help="End after so many seconds without an event. Default: 3600.",
)
@click.option(
    "--reader-grace",
    type=FiniteRange(min=0.0),
    default=30.0,
    metavar="SECONDS",
    help="How long a question waits for somebody who can answer. Default: 30.",
)
def daemon(idle: float, reader_grace: float) -> None:
    """Tell readers what hooks report. Hooks start it by themselves.

    Readers connect with aaep listen unix:claude, or the name of another agent. Exits with 0 when nothing has happened
    for a while, and 2 if it runs already or cannot listen.
    """
    # Not above: an agent waits for aaep hooks run, which needs none of it.
    from ..adapters.hooks import HookServer  # noqa: PLC0415
    from ..producer.producer import Producer, Runtime  # noqa: PLC0415
    from ..transports.unix.paths import open_listening_socket, remove_socket  # noqa: PLC0415
    from ._own_language import MANIFEST, find_own_language  # noqa: PLC0415

    async def serve() -> None:
        async with AsyncExitStack() as producers:

            async def open_producer(agent: str) -> Producer:
                runtime = Runtime(handle_signals=False)  # this command does
                name = hook_program.AGENTS[agent]
                producer = Producer(
                    agent,
                    name=name,
                    language=find_own_language(),
                    manifest=MANIFEST,
                    listen="unix:",
                    journal=None,
                    runtime=runtime,
                )
                return await producers.enter_async_context(producer)

            await HookServer(open_producer, reader_grace=reader_grace, idle_seconds=idle).serve(listening)

    try:
        listening, path = open_listening_socket(Path(hook_program.find_socket_path()))
    except AaepError as error:
        raise CannotRun(str(error)) from error
    inode = os.stat(path).st_ino
    try:
        asyncio.run(serve())
    except AaepError as error:
        raise CannotRun(str(error)) from error
    finally:
        remove_socket(path, inode)
        listening.close()


# -- one group for each agent --------------------------------------------------------------------


def _build_group(hooks: AgentHooks) -> click.Group:
    settings_option = click.option(
        "--settings",
        "file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=f"The file with the hooks of {hooks.name}. Default: ~/{hooks.settings}.",
    )

    @click.group(
        hooks.agent,
        cls=CommandGroup,
        context_settings=CONTEXT_SETTINGS,
        invoke_without_command=True,
        epilog=f"Example: aaep hooks {hooks.agent} check",
        help=f"Enter, remove or check the hooks of {hooks.name}.\n\n{hooks.notice}",
    )
    @click.pass_context
    def group(context: click.Context) -> None:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    @group.command(
        "install",
        cls=AaepCommand,
        example=f"aaep hooks {hooks.agent} install",
        help=f"Enter the hooks in the settings of {hooks.name}.\n\n{hooks.notice} What else is in the file stays as it "
        "is. Entering them twice changes nothing. Exits with 0, and with 2 if the file cannot be changed.",
    )
    @settings_option
    def install_hooks(file: Path | None) -> None:
        for sentence in install(hooks, file or hooks.path):
            click.echo(to_printable(sentence))

    @group.command(
        "remove",
        cls=AaepCommand,
        example=f"aaep hooks {hooks.agent} remove",
        help=f"Take out of the settings of {hooks.name} what install has put in.\n\nExits with 0, and with 2 if the "
        "file cannot be changed.",
    )
    @settings_option
    def remove_hooks(file: Path | None) -> None:
        for sentence in remove(hooks, file or hooks.path):
            click.echo(to_printable(sentence))

    @group.command(
        "check",
        cls=AaepCommand,
        example=f"aaep hooks {hooks.agent} check",
        help=f"Say what keeps the hooks of {hooks.name} from working.\n\nExits with 0 if there is nothing, and 1 "
        "otherwise.",
    )
    @settings_option
    def check_hooks(file: Path | None) -> int:
        problems = [*check(hooks, file or hooks.path)]
        for problem in problems:
            click.echo(to_printable(problem))
        click.echo(f"Result: {format_count(len(problems), 'problem')}." if problems else "Result: all is well.")
        if hooks.agent not in hook_program.PERMISSION_EVENTS:
            click.echo(to_printable(hooks.notice))
        return 1 if problems else 0

    return group


for _hooks in AGENT_HOOKS.values():
    main.add_command(_build_group(_hooks))
