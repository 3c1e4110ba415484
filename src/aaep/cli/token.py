"""``aaep token``: make tokens that let readers in, list them, and take them back."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from ..errors import AaepError
from ..identity.credentials import ROLES
from ..identity.peer import REPLIER
from ..identity.tokens import Entry, add, default_file, entries, new, revoke
from ._command import SETTINGS, CannotRun, Group, Verb, Whole, counted, jsonl, plain

__all__ = ["main"]

DAY: Final = 86_400.0
USUAL: Final = 90  # days that a token counts

_file: Final = click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of tokens. Default: tokens.jsonl in your own folder for AAEP.",
)


@click.group(
    "token",
    cls=Group,
    context_settings=SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep token new --principal ada --role replier",
)
@click.pass_context
def main(context: click.Context) -> None:
    """Make tokens that let readers in, list them, and take them back.

    A token stands for a principal, whoever that is to you, and a role:
    a listener receives, a replier also answers, an auditor receives what is
    for others too and answers nothing, an agent publishes.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.command("new", cls=Verb, example="aaep token new --principal ada --role replier --days 30")
@click.option("--principal", metavar="NAME", required=True, help="Who will have it.")
@click.option(
    "--role", "roles", type=click.Choice(ROLES), multiple=True, help=f"What it is for; repeatable. Default: {REPLIER}."
)
@click.option("--days", type=Whole(1, 3650), metavar="N", help="For how many days it counts. Default: 90.")
@click.option("--never-expires", is_flag=True, help="It counts until it is revoked. Not advised.")
@click.option("--note", default="", metavar="TEXT", help="What it is for, in your words.")
@_file
def create(
    *, principal: str, roles: tuple[str, ...], days: int | None, never_expires: bool, note: str, file: Path | None
) -> None:
    """Make a token and print it, once. It is kept nowhere; the file has only its hash.

    The token alone is on standard output, what else there is to say on standard error. Exits with 0 when it was made,
    and 2 when it could not be.
    """
    if never_expires and days is not None:
        raise CannotRun("It cannot both end after some days and never expire. Give --days or --never-expires.")
    path = file or default_file()
    try:
        seconds = None if never_expires else (days or USUAL) * DAY
        token, entry = new(principal, roles or REPLIER, now=time.time(), seconds=seconds, note=note[:500])
        add(path, entry)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    click.echo(token)
    click.echo(f"{_told(entry)} Its hash is in {plain(str(path))}.", err=True)
    click.echo("Keep the token now: it is not shown again.", err=True)
    if never_expires:  # CF-140
        click.echo("Warning: it never expires. Whoever finds it can use it until you revoke it.", err=True)


@main.command("list", cls=Verb, example="aaep token list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per token, without its hash.")
@_file
def show(*, as_json: bool, file: Path | None) -> None:
    """Print who has tokens, and until when.

    Exits with 0, also if there are none, and 2 if the file cannot be read.
    """
    path = file or default_file()
    try:
        known = entries(path)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    for entry in known:
        if as_json:
            sys.stdout.buffer.write(jsonl(_object(entry)))
        else:
            click.echo(_told(entry))
    if not as_json:
        click.echo(f"{plain(str(path))}: {counted(len(known), 'token')}.")


@main.command("revoke", cls=Verb, example="aaep token revoke tok_1f2e3d4c")
@click.argument("id_", metavar="ID")
@_file
def remove(*, id_: str, file: Path | None) -> None:
    """Take a token back. Whoever is connected with it is let go of within 15 seconds.

    Exits with 0 when it is gone, and 2 if there is no such token.
    """
    path = file or default_file()
    try:
        gone = revoke(path, id_)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    click.echo(f"Revoked: {_told(gone)}")


def _told(entry: Entry) -> str:
    until = "never expires" if entry.expires is None else f"expires {plain(entry.expires, 40)}"
    if entry.ends is not None and entry.ends <= time.time():
        until = f"expired {plain(entry.expires or '', 40)}"
    note = f", {plain(entry.note, 500)}" if entry.note else ""
    who = f"Token {plain(entry.id, 40)} for {plain(entry.principal, 256)}"
    return f"{who} as {' and '.join(entry.roles)}, {until}{note}."


def _object(entry: Entry) -> dict[str, Any]:
    given: dict[str, Any] = msgspec.to_builtins(entry)
    del given["hash"]
    return given
