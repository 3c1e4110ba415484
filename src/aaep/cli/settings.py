"""``aaep settings``: see and change how you listen."""

from __future__ import annotations

import sys

import click

from ..errors import AaepError
from ..settings.fields import FIELDS, Field, describe_expected, find_field, format_value, parse_value
from ..settings.file import change_setting, find_settings_file
from ..settings.resolve import Resolved, Source, load_settings
from ._command import CONTEXT_SETTINGS, AaepCommand, CannotRun, CommandGroup, to_json_line, to_printable

__all__ = ["main"]


@click.group(
    "settings",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep settings set speech.rate 300",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per setting.")
@click.pass_context
def main(context: click.Context, *, as_json: bool) -> int:
    """See and change how you listen: verbosity, languages, speech, braille, sounds, time to answer.

    Without a command, prints each setting with its value and where that comes from. What cannot be used is told on
    standard error, and defaults count for it. An option of a command counts before the environment, and that before
    the file.

    Exits with 0 when all is well, 1 when something cannot be used, and 2 when it could not run.
    """
    if context.invoked_subcommand is not None:
        return 0
    resolved = _load()
    for field in FIELDS.values():
        source = resolved.sources[field.key]
        if as_json:
            told = {"key": field.key, "value": resolved.values[field.key], "source": source.kind}
            sys.stdout.buffer.write(to_json_line({**told, "about": field.description}))
        else:
            value = to_printable(format_value(resolved.values[field.key]), 500)
            click.echo(f"{field.key} = {value}, {_describe_source(source)}.")
    return _tell_problems(resolved)


@main.command("get", cls=AaepCommand, example="aaep settings get speech.rate")
@click.argument("key")
def get(*, key: str) -> int:
    """Print the value of a setting, as it counts now.

    Exits with 0, 1 when something in the settings cannot be used, and 2 if there is no such setting.
    """
    field = _find(key)
    resolved = _load()
    click.echo(to_printable(format_value(resolved.values[field.key]), 10_000))
    return _tell_problems(resolved)


@main.command("set", cls=AaepCommand, example="aaep settings set languages yo-NG,en")
@click.argument("key")
@click.argument("value")
def change(*, key: str, value: str) -> None:
    """Set a value in the file. A list is written with commas.

    Comments and all other lines of the file stay. Exits with 0 when it is set, and 2 when it could not be.
    """
    field = _find(key)
    try:
        parsed = parse_value(field, value, is_text=True)
    except ValueError as error:
        raise CannotRun(f"{field.key} has to be {describe_expected(field)}. Nothing was changed.") from error
    _change(field, parsed)
    resolved = _load()
    click.echo(f"{field.key} = {to_printable(format_value(parsed), 500)}")
    source = resolved.sources[field.key]
    if source.kind == "environment":
        click.echo(f"The environment variable {source.name} counts before it.", err=True)


@main.command("unset", cls=AaepCommand, example="aaep settings unset speech.rate")
@click.argument("key")
def unset(*, key: str) -> None:
    """Remove a value from the file, so that the default counts.

    Exits with 0 when it is removed or was not there, and 2 when it could not be.
    """
    field = _find(key)
    _change(field, None)
    value = to_printable(format_value(_load().values[field.key]), 500)
    click.echo(f"{field.key} = {value}")


@main.command("path", cls=AaepCommand, example="aaep settings path")
def path() -> None:
    """Print the path of the file, whether it is there or not.

    Exits with 0, and 2 if there is no home folder.
    """
    try:
        click.echo(to_printable(str(find_settings_file()), 10_000))
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _load() -> Resolved:
    try:
        return load_settings()
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _find(key: str) -> Field:
    try:
        return find_field(key)
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _change(field: Field, value: object) -> None:
    try:
        change_setting(find_settings_file(), field.key, value)
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _tell_problems(resolved: Resolved) -> int:
    for problem in resolved.problems:
        click.echo(f"aaep: {to_printable(problem, 1000)}", err=True)
    return 1 if resolved.problems else 0


def _describe_source(source: Source) -> str:
    names = {"default": "by default", "file": f"line {source.line} of the file", "option": "by an option"}
    return names.get(source.kind, f"from {source.name}")
