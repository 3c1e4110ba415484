"""``aaep schema``: print, write or check the generated documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click

from ..protocol import jsonld as ld
from ..protocol.schema import all_documents
from ._command import CannotRun, Verb, plain

__all__ = ["main"]

CONTEXT: Final = "aaep-v1.context.jsonld"


@click.command("schema", cls=Verb, example="aaep schema agent.tool.invoked")
@click.argument("type_", metavar="[TYPE]", required=False)
@click.option("--write", is_flag=True, help="Write every document into the folder schemas.")
@click.option("--check", is_flag=True, help="Check that the folder schemas is up to date.")
@click.option("--root", type=click.Path(path_type=Path), default=".", help="Where schemas is. Default: here.")
@click.pass_context
def main(context: click.Context, *, type_: str | None, write: bool, check: bool, root: Path) -> None:
    """Print the JSON Schema of a TYPE, or list the types.

    The type context is the JSON-LD context. Exits with 2 if there is no such
    type. --check exits with 1 and names each file that is missing, out of date
    or should not be there.
    """
    if write + check + (type_ is not None) > 1:
        raise click.UsageError("Give one of --write, --check and TYPE.", context)
    folder = root / "schemas"
    if write:
        context.exit(_write(folder))
    elif check:
        context.exit(_check(folder))
    elif type_ is None:
        for name in _names():
            click.echo(name)
    else:
        click.echo(_text(_one(type_)), nl=False)


def _all() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from all_documents()
    yield CONTEXT, ld.context_document()


def _short(file: str) -> str:
    return "context" if file == CONTEXT else file.removesuffix(".schema.json")


def _names() -> list[str]:
    return [_short(file) for file, _ in _all()]


def _one(given: str) -> dict[str, Any]:
    wanted = given.removeprefix("aaep:").removesuffix(".schema.json")
    for file, document in _all():
        if wanted in (_short(file), file):
            return document
    near = get_close_matches(wanted, _names(), n=3, cutoff=0.5)
    hint = f"Near to it: {', '.join(near)}." if near else "aaep schema lists the types."
    raise CannotRun(f"There is no type {given}. {hint}")


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _strangers(folder: Path) -> Iterator[str]:
    """Documents that nothing generates."""
    expected = {file for file, _ in _all()}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in (".json", ".jsonld") and path.name not in expected:
            yield path.name


def _write(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    changed = 0
    for file, document in _all():
        path, data = folder / file, _text(document).encode()
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
            changed += 1
            click.echo(f"{plain(str(path))} was written.")
    if not changed:
        click.echo("Everything was up to date.")
    found = [*_strangers(folder)]
    for name in found:  # it may be somebody's own, so it is not ours to remove
        click.echo(f"{plain(str(folder / name))} should not be there. Remove it.")
    return 1 if found else 0


def _check(folder: Path) -> int:
    found = []
    for file, document in _all():
        path = folder / file
        if not path.is_file():
            found.append(f"{plain(str(path))} is missing.")
        elif path.read_bytes() != _text(document).encode():
            found.append(f"{plain(str(path))} is out of date.")
    found += [f"{plain(str(folder / name))} should not be there. Remove it." for name in _strangers(folder)]
    for line in found:
        click.echo(line)
    click.echo("aaep schema --write brings them up to date." if found else "The documents are up to date.")
    return 1 if found else 0
