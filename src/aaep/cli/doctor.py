"""``aaep doctor``: what works on this machine, what is missing, and the command that adds it."""

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

__all__ = ["Check", "main", "run_checks"]

READY: Final = "ready"
MISSING: Final = "missing"  # what is there works without it
BROKEN: Final = "broken"


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    area: str
    name: str
    state: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.area}, {self.name}: {self.state}. {self.text}" + (
            f" To fix: {self.remedy}" if self.remedy else ""
        )


@click.command("doctor", cls=AaepCommand, example="aaep doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per check.")
def main(as_json: bool) -> int:
    """Say what works on this machine: transports, identity, journal, speech, braille, browser.

    Exits with 0 if nothing is broken, and 1 if something is. What is only missing is named with the command that adds
    it.
    """
    found = [*run_checks()]
    for one in found:
        if as_json:
            sys.stdout.buffer.write(to_json_line(msgspec.to_builtins(one)))
        else:
            click.echo(to_printable(str(one)))
    broken = sum(one.state == BROKEN for one in found)
    missing = sum(one.state == MISSING for one in found)
    if not as_json:
        click.echo(f"Result: {len(found) - broken - missing} ready, {missing} missing, {broken} broken.")
    return 1 if broken else 0


def run_checks() -> Iterator[Check]:
    """Everything there is to look at."""
    yield Check("Program", "aaep", READY, f"Version {__version__} on Python {platform.python_version()}.")
    yield from _check_transports()
    yield _check_package("Event loop", "uvloop", "Readers are served faster with it.", "pip install uvloop")
    yield _check_package(
        "Identity", "joserfc", "Needed for JWT and for signed manifests.", "pip install joserfc cryptography"
    )
    yield _check_journal()
    for area, name, commands, package in (
        ("Speech", "speech-dispatcher", ("spd-say", "speech-dispatcher"), "speech-dispatcher"),
        ("Speech", "espeak-ng", ("espeak-ng",), "espeak-ng"),
        ("Braille", "BRLTTY", ("brltty",), "brltty"),
        ("Braille", "liblouis", ("lou_translate",), "liblouis-bin"),
    ):
        yield _check_program(area, name, commands, package, "Screen readers use it; aaep itself does not yet.")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    yield _check_program("Browser", "Chromium", browsers, "chromium", "Only the tests of aaep use it.")


def _check_transports() -> Iterator[Check]:
    for module in iter_modules(transports.__path__):
        if not module.ispkg:
            continue
        try:
            found = importlib.import_module(f"{transports.__name__}.{module.name}")
            ready = getattr(found, "available", lambda: True)()
        except (ImportError, AaepError) as error:
            yield Check("Transport", module.name, BROKEN, f"It cannot be loaded: {error}.")
            continue
        if ready:
            yield Check("Transport", module.name, READY, "Readers can connect with it.")
        else:
            yield Check(
                "Transport", module.name, MISSING, "Its library is not installed.", f"pip install 'aaep[{module.name}]'"
            )


def _check_package(area: str, name: str, why: str, remedy: str) -> Check:
    if find_spec(name) is not None:
        return Check(area, name, READY, "Installed.")
    return Check(area, name, MISSING, why, remedy)


def _check_program(area: str, name: str, commands: tuple[str, ...], package: str, use: str) -> Check:
    place = next((found for one in commands if (found := shutil.which(one))), None)
    if place is not None:
        return Check(area, name, READY, f"Found: {Path(place).name}. {use}")
    return Check(area, name, MISSING, f"Not found on this machine. {use}", f"apt-get install {package}")


def _check_journal() -> Check:
    try:
        place = user_state_folder()
        nearest = next(one for one in (place, *place.parents) if one.exists())
        check_folder_safe(nearest)
    except AaepError as error:
        return Check("Journal", "state folder", BROKEN, str(error))
    if not nearest.is_dir():
        return Check("Journal", "state folder", BROKEN, f"{nearest} is a file, and a folder is needed there.")
    if not os.access(nearest, os.W_OK):
        text = f"Nothing can be written in {nearest}."
        return Check("Journal", "state folder", BROKEN, text, "let this user write there.")
    there = "It is there." if place.exists() else "It is made when an agent first needs it."
    return Check("Journal", "state folder", READY, f"{place}. {there}")
