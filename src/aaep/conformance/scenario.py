"""What a scenario is: a situation that is brought about, and the rules it shows."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from typing import Any, Final, Literal

import msgspec

from ..errors import AaepError

__all__ = ["SCENARIOS", "Level", "Play", "Scenario", "Unplayable", "apart", "live", "numbered", "scenario"]

Level = Literal[1, 2, 3]
Play = Callable[[Any], Awaitable[None]]  # what it is given is the stage of its side


class Unplayable(Exception):
    """A scenario cannot go on; the message says what was missing."""


class Scenario(msgspec.Struct, frozen=True):
    """
    One situation. A level waits for ``rules`` to be shown; ``also`` may be shown by it, and nobody waits for that.

    ``alone``: it is played when the reader that hears everything has gone.
    """

    name: str
    play: Play
    level: Level
    rules: tuple[str, ...]
    also: tuple[str, ...]
    alone: bool


SCENARIOS: Final[list[Scenario]] = []


def scenario(
    level: Level, rules: str, also: str = "", *, alone: bool = False, among: list[Scenario] = SCENARIOS
) -> Callable[[Play], Play]:
    """Makes a scenario of a function, among others of its side."""

    def made(play: Play) -> Play:
        name = getattr(play, "__name__", "").replace("_", " ")
        among.append(Scenario(name, play, level, tuple(rules.split()), tuple(also.split()), alone))
        return play

    return made


def numbered(say: Callable[[str], object], total: int) -> Callable[[str], None]:
    """Says which scenario of how many begins."""
    numbers = count(1)

    def begins(name: str) -> None:
        say(f"Scenario {next(numbers)} of {total}: {name}.")

    return begins


def live(scenarios: Iterable[Scenario]) -> dict[str, Level | None]:
    """The rules that scenarios try, and the level that waits for each."""
    tried: dict[str, Level | None] = {}
    for one in scenarios:
        for rule in one.also:
            tried.setdefault(rule, None)
        for rule in one.rules:
            before = tried.get(rule)
            tried[rule] = one.level if before is None else min(before, one.level)
    return tried


# -- commands --


def apart(command: str) -> list[str]:
    """The words of a command, as a shell would tell them apart."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise AaepError(f"The command {command!r} cannot be taken apart: {str(error).lower()}.") from error
