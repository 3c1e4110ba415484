"""``aaep doctor``: check what works on this machine, and print the commands that add what is missing."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

import click
import msgspec

from .. import transports
from ..errors import AaepError
from ..runtime.files import check_folder_safe, user_state_folder
from ..version import __version__
from ._command import AaepCommand, to_json_line, to_printable
from ._hook_settings import AGENT_HOOKS, AgentHooks, is_installed
from ._hook_settings import check as find_problems

__all__ = ["Check", "main", "run_checks"]

READY: Final = "ready"
MISSING: Final = "missing"  # optional
BROKEN: Final = "broken"

# The optional library of a transport, and the package that installs it. Not our own extra: that installs nothing
# where aaep itself does not come from a package index.
_OPTIONAL_LIBRARIES: Final = {"grpc": ("grpc", "grpcio")}


class Check(msgspec.Struct, frozen=True):
    """The result of one check."""

    area: str
    name: str
    state: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        purpose = "add" if self.state == MISSING else "fix"
        remedy = f" To {purpose} it: {self.remedy}" if self.remedy else ""
        return f"{self.area}, {self.name}: {self.state}. {self.text}{remedy}"


@click.command("doctor", cls=AaepCommand, example="aaep doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per check.")
def main(as_json: bool) -> int:
    """Say what works on this machine: transports, identity, journal, speech, braille, browser, hooks.

    Exits with 0 if nothing is broken, and 1 if something is. What is only missing is named with the command that adds
    it.
    """
    checks = [*run_checks()]
    for check in checks:
        if as_json:
            sys.stdout.buffer.write(to_json_line(msgspec.to_builtins(check)))
        else:
            click.echo(to_printable(str(check)))
    broken = sum(check.state == BROKEN for check in checks)
    missing = sum(check.state == MISSING for check in checks)
    if not as_json:
        click.echo(f"Result: {len(checks) - broken - missing} ready, {missing} missing, {broken} broken.")
    return 1 if broken else 0


def run_checks() -> Iterator[Check]:
    """Run all checks and yield their results."""
    yield Check("Program", "aaep", READY, f"Version {__version__} on Python {platform.python_version()}.")
    yield from _check_transports()
    yield _check_package("Event loop", "uvloop", "Readers are served faster with it.", "pip install uvloop")
    yield _check_package(
        "Identity", "joserfc", "Needed for JWT and for signed manifests.", "pip install joserfc cryptography"
    )
    yield _check_journal()
    for area, name, commands, package, option in (
        ("Speech", "speech-dispatcher", ("spd-say", "speech-dispatcher"), "speech-dispatcher", "--speak"),
        ("Speech", "espeak-ng", ("espeak-ng",), "espeak-ng", "--speak"),
        ("Braille", "BRLTTY", ("brltty",), "brltty", "--braille"),
        ("Braille", "liblouis", ("lou_translate",), "liblouis-bin", "--braille"),
    ):
        yield _check_program(area, name, commands, package, f"Screen readers use it, and aaep listen {option}.")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    yield _check_program("Browser", "Chromium", browsers, "chromium", "Only the tests of aaep use it.")
    yield from map(_check_hooks, AGENT_HOOKS.values())


def _check_transports() -> Iterator[Check]:
    for module in iter_modules(transports.__path__):
        if not module.ispkg:
            continue
        library, package = _OPTIONAL_LIBRARIES.get(module.name, (None, ""))
        if library is not None and find_spec(library) is None:
            text = "Its library is not installed. It is optional."
            yield Check("Transport", module.name, MISSING, text, f"pip install {package}")
            continue
        try:
            importlib.import_module(f"{transports.__name__}.{module.name}")
        except (ImportError, AaepError) as error:
            yield Check("Transport", module.name, BROKEN, f"It cannot be loaded: {str(error).rstrip('.')}.")
        else:
            yield Check("Transport", module.name, READY, "Readers can connect with it.")


def _check_package(area: str, name: str, use: str, remedy: str) -> Check:
    if find_spec(name) is not None:
        return Check(area, name, READY, "Installed.")
    return Check(area, name, MISSING, use, remedy)


def _check_program(area: str, name: str, commands: tuple[str, ...], package: str, use: str) -> Check:
    path = next(filter(None, map(shutil.which, commands)), None)
    if path is not None:
        return Check(area, name, READY, f"Found: {Path(path).name}. {use}")
    return Check(area, name, MISSING, f"Not found on this machine. {use}", f"apt-get install {package}")


def _check_journal() -> Check:
    try:
        folder = user_state_folder()
        nearest = next(path for path in (folder, *folder.parents) if path.exists())
        check_folder_safe(nearest)
    except AaepError as error:
        return Check("Journal", "state folder", BROKEN, str(error))
    if not nearest.is_dir():
        return Check("Journal", "state folder", BROKEN, f"{nearest} is a file, and a folder is needed there.")
    if not os.access(nearest, os.W_OK):
        text = f"Nothing can be written in {nearest}."
        return Check("Journal", "state folder", BROKEN, text, "let this user write there.")
    existence = "It is there." if folder.exists() else "It is made when an agent first needs it."
    return Check("Journal", "state folder", READY, f"{folder}. {existence}")


def _check_hooks(hooks: AgentHooks) -> Check:
    """Look whether the hooks of a coding agent are installed, and if so whether they work."""
    try:
        has_hooks = is_installed(hooks, hooks.path)
    except (ValueError, RecursionError, OSError):
        has_hooks = True  # nobody knows, and what is wrong has to be said
    if not has_hooks:
        use = f"They are not installed. With them you hear what {hooks.name} does in its own window."
        return Check("Hooks", hooks.agent, MISSING, use, f"aaep hooks {hooks.agent} install")
    try:
        problems = [*find_problems(hooks, hooks.path)]
    except OSError as error:
        problems = [f"{hooks.path} cannot be read: {error.strerror}."]
    if problems:
        return Check("Hooks", hooks.agent, BROKEN, " ".join(problems))
    return Check("Hooks", hooks.agent, READY, "They are installed, and nothing keeps them from working.")
