"""``aaep schema``: print, write or check the generated JSON Schemas and the JSON-LD context."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click

from ..protocol import jsonld as ld
from ..protocol.schema import all_documents
from ._command import AaepCommand, CannotRun, to_printable

__all__ = ["main"]

CONTEXT_FILE: Final = "aaep-v1.context.jsonld"


@click.command("schema", cls=AaepCommand, example="aaep schema agent.tool.invoked")
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
        context.exit(_write_documents(folder))
    elif check:
        context.exit(_check_documents(folder))
    elif type_ is None:
        for name in _list_names():
            click.echo(name)
    else:
        click.echo(_to_json(_find_document(type_)), nl=False)


def _generate_documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all documents with their file names."""
    yield from all_documents()
    yield CONTEXT_FILE, ld.context_document()


def _short_name(file: str) -> str:
    return "context" if file == CONTEXT_FILE else file.removesuffix(".schema.json")


def _list_names() -> list[str]:
    return [_short_name(file) for file, _ in _generate_documents()]


def _find_document(type_: str) -> dict[str, Any]:
    name = type_.removeprefix("aaep:").removesuffix(".schema.json")
    for file, document in _generate_documents():
        if name in (_short_name(file), file):
            return document
    near = get_close_matches(name, _list_names(), n=3, cutoff=0.5)
    hint = f"Near to it: {', '.join(near)}." if near else "aaep schema lists the types."
    raise CannotRun(f"There is no type {type_}. {hint}")


def _to_json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _find_unexpected(folder: Path) -> Iterator[str]:
    """Yield the names of documents in a folder that are not generated."""
    expected = {file for file, _ in _generate_documents()}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in (".json", ".jsonld") and path.name not in expected:
            yield path.name


def _write_documents(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    changed = 0
    for file, document in _generate_documents():
        path = folder / file
        data = _to_json(document).encode()
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
            changed += 1
            click.echo(f"{to_printable(str(path))} was written.")
    if not changed:
        click.echo("Everything was up to date.")
    unexpected = [*_find_unexpected(folder)]
    for name in unexpected:  # not removed, because it may be a file of the user
        click.echo(f"{to_printable(str(folder / name))} should not be there. Remove it.")
    return 1 if unexpected else 0


def _check_documents(folder: Path) -> int:
    problems = []
    for file, document in _generate_documents():
        path = folder / file
        if not path.is_file():
            problems.append(f"{to_printable(str(path))} is missing.")
        elif path.read_bytes() != _to_json(document).encode():
            problems.append(f"{to_printable(str(path))} is out of date.")
    problems += [
        f"{to_printable(str(folder / name))} should not be there. Remove it." for name in _find_unexpected(folder)
    ]
    for problem in problems:
        click.echo(problem)
    click.echo("aaep schema --write brings them up to date." if problems else "The documents are up to date.")
    return 1 if problems else 0
