"""What every command says of itself: whole sentences, that can be heard as well as read."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pkgutil import iter_modules

import click
import pytest
from click.testing import CliRunner

import aaep.cli
from aaep.cli import SUMMARIES, main


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command there is, by the words that lead to it."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, *path, name)


COMMANDS = [*commands(main)]


def helped(path: tuple[str, ...], width: str) -> str:
    told = CliRunner().invoke(main, [*path, "--help"], env={"COLUMNS": width}, prog_name="aaep")
    assert told.exit_code == 0
    return told.stdout


@pytest.mark.parametrize("width", ["40", "100"])
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_is_whole_sentences_without_signs_to_decipher(path: tuple[str, ...], width: str) -> None:
    said = helped(path, width)
    assert said.startswith("Usage: aaep") and "\n  Example: aaep " in said
    assert "..." not in said.partition("\n\n")[2]  # behind the usage: a command whose sentence was cut
    assert not re.search(r"x?[<>]=?\s*x|RANGE", said)


@pytest.mark.parametrize("path", COMMANDS[1:], ids=" ".join)
def test_every_command_says_how_it_exits(path: tuple[str, ...]) -> None:
    said = " ".join(helped(path, "100").split())
    assert "Commands:" in said or "Exits with" in said


def test_on_a_narrow_line_every_word_is_whole() -> None:
    said = helped(("serve",), "40")
    assert max(map(len, said.splitlines())) <= 40
    assert "\n  --tls-key FILE\n" in said and "http://127.0.0.1:8137 and" in said


@pytest.mark.parametrize("path", COMMANDS[1:], ids=" ".join)
def test_every_option_says_what_it_does(path: tuple[str, ...]) -> None:
    for line in helped(path, "100").partition("\nOptions:\n")[2].splitlines():
        assert not re.fullmatch(r"  -\S+( [A-Z|]+)?", line), line


def test_bounds_are_told_in_words() -> None:
    told = CliRunner().invoke(main, ["token", "new", "--principal", "ada", "--days", "0"])
    assert told.exit_code == 2 and "0 is not in the range from 1 to 3650." in told.stderr
    told = CliRunner().invoke(main, ["capture", "http://127.0.0.1:1", "-o", "x", "--duration", "0"])
    assert told.exit_code == 2 and "0.0 is not in the range above 0." in told.stderr
    told = CliRunner().invoke(main, ["manifest", "sign", "x", "--key", "x", "--days", "31"])
    assert told.exit_code == 2 and "31.0 is not in the range above 0 up to 30." in told.stderr
    assert "[from 0.1 on]" in helped(("conformance", "producer"), "100")


@pytest.mark.parametrize(
    "words", [["listen", "http://127.0.0.1:1"], ["capture", "http://127.0.0.1:1", "-o", "x"], ["serve"]]
)
def test_what_is_no_language_is_told_as_such(words: list[str]) -> None:
    told = CliRunner().invoke(main, [*words, "--language", "in English"])
    assert told.exit_code == 2 and "'in English' is not the tag of a language. Write it like en-GB." in told.stderr


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "aaep", "rules", "nope"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "aaep: There is no rule nope. aaep rules lists all of them.\n"


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    modules = [module.name.replace("_", "-") for module in iter_modules(aaep.cli.__path__) if module.name[0] != "_"]
    assert [*SUMMARIES] == sorted(modules)
    context = click.Context(main)
    for name, summary in SUMMARIES.items():
        command = main.get_command(context, name)
        assert command is not None and command.get_short_help_str() == summary


@pytest.mark.parametrize(
    ("words", "foreign", "own"),
    [
        (["--help"], {"aiohttp", "cryptography", "joserfc", "jsonschema_rs", "regex", "asyncio"}, {*SUMMARIES}),
        (["listen", "--help"], {"aiohttp", "cryptography", "joserfc", "grpc"}, {*SUMMARIES} - {"listen"}),
    ],
    ids=["--help", "listen --help"],
)
def test_help_comes_quickly_because_little_is_imported(words: list[str], foreign: set[str], own: set[str]) -> None:
    program = (
        "import sys; from aaep.cli import main\ntry: main(sys.argv[1:])\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: ")
    imported = {*done.stderr.split()}
    assert "aaep.cli" in imported
    assert imported & (foreign | {f"aaep.cli.{name}" for name in own}) == set()
