"""``aaep token``: create, list and revoke the bearer tokens of readers and agents."""

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
from ..identity.tokens import TokenEntry, add_entry, create_token, default_token_file, read_entries, revoke_token
from ._command import (
    CONTEXT_SETTINGS,
    AaepCommand,
    CannotRun,
    CommandGroup,
    IntegerRange,
    format_count,
    to_json_line,
    to_printable,
)

__all__ = ["main"]

SECONDS_PER_DAY: Final = 86_400.0
DEFAULT_DAYS: Final = 90  # lifetime of a token

_FILE_OPTION: Final = click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of tokens. Default: tokens.jsonl in your own folder for AAEP.",
)


@click.group(
    "token",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
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


@main.command("new", cls=AaepCommand, example="aaep token new --principal ada --role replier --days 30")
@click.option("--principal", metavar="NAME", required=True, help="Who will have it.")
@click.option(
    "--role", "roles", type=click.Choice(ROLES), multiple=True, help=f"What it is for; repeatable. Default: {REPLIER}."
)
@click.option("--days", type=IntegerRange(1, 3650), metavar="N", help="For how many days it counts. Default: 90.")
@click.option("--never-expires", is_flag=True, help="It counts until it is revoked. Not advised.")
@click.option("--note", default="", metavar="TEXT", help="What it is for, in your words.")
@_FILE_OPTION
def create(
    *, principal: str, roles: tuple[str, ...], days: int | None, never_expires: bool, note: str, file: Path | None
) -> None:
    """Make a token and print it, once. It is kept nowhere; the file has only its hash.

    The token alone is on standard output, what else there is to say on standard error. Exits with 0 when it was made,
    and 2 when it could not be.
    """
    if never_expires and days is not None:
        raise CannotRun("It cannot both end after some days and never expire. Give --days or --never-expires.")
    path = file or default_token_file()
    try:
        lifetime = None if never_expires else (days or DEFAULT_DAYS) * SECONDS_PER_DAY
        token, entry = create_token(
            principal, roles or REPLIER, now=time.time(), lifetime_seconds=lifetime, note=note[:500]
        )
        add_entry(path, entry)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    click.echo(token)
    click.echo(f"{_format_entry(entry)} Its hash is in {to_printable(str(path))}.", err=True)
    click.echo("Keep the token now: it is not shown again.", err=True)
    if never_expires:  # CF-140
        click.echo("Warning: it never expires. Whoever finds it can use it until you revoke it.", err=True)


@main.command("list", cls=AaepCommand, example="aaep token list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per token, without its hash.")
@_FILE_OPTION
def show(*, as_json: bool, file: Path | None) -> None:
    """Print who has tokens, and until when.

    Exits with 0, also if there are none, and 2 if the file cannot be read.
    """
    path = file or default_token_file()
    try:
        entries = read_entries(path)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    for entry in entries:
        if as_json:
            sys.stdout.buffer.write(to_json_line(_entry_to_dict(entry)))
        else:
            click.echo(_format_entry(entry))
    if not as_json:
        click.echo(f"{to_printable(str(path))}: {format_count(len(entries), 'token')}.")


@main.command("revoke", cls=AaepCommand, example="aaep token revoke tok_1f2e3d4c")
@click.argument("token_id", metavar="ID")
@_FILE_OPTION
def remove(*, token_id: str, file: Path | None) -> None:
    """Take a token back. Whoever is connected with it is let go of within 15 seconds.

    Exits with 0 when it is gone, and 2 if there is no such token.
    """
    path = file or default_token_file()
    try:
        entry = revoke_token(path, token_id)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    click.echo(f"Revoked: {_format_entry(entry)}")


def _format_entry(entry: TokenEntry) -> str:
    expiry = "never expires" if entry.expires is None else f"expires {to_printable(entry.expires, 40)}"
    if entry.expires_at is not None and entry.expires_at <= time.time():
        expiry = f"expired {to_printable(entry.expires or '', 40)}"
    note = f", {to_printable(entry.note, 500)}" if entry.note else ""
    token = f"Token {to_printable(entry.id, 40)} for {to_printable(entry.principal, 256)}"
    return f"{token} as {' and '.join(entry.roles)}, {expiry}{note}."


def _entry_to_dict(entry: TokenEntry) -> dict[str, Any]:
    members: dict[str, Any] = msgspec.to_builtins(entry)
    del members["hash"]
    return members
