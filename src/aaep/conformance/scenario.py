"""What a scenario is: a situation that is brought about, and the rules it shows."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from typing import Any, Final, Literal

import msgspec

from ..errors import AaepError

__all__ = [
    "REGISTERED_PRODUCER_SCENARIOS",
    "Level",
    "Scenario",
    "ScenarioAborted",
    "ScenarioFunction",
    "collect_tried_rules",
    "make_progress_reporter",
    "scenario",
    "split_command",
]

Level = Literal[1, 2, 3]
ScenarioFunction = Callable[[Any], Awaitable[None]]  # what it is given is the stage of its side


class ScenarioAborted(Exception):
    """A scenario cannot go on; the message says what was missing."""


class Scenario(msgspec.Struct, frozen=True):
    """
    One situation. A level waits for ``rules`` to be shown; ``also`` may be shown by it, and nobody waits for that.

    ``alone``: it is played when the reader that hears everything has gone.
    """

    name: str
    run: ScenarioFunction
    level: Level
    required_rules: tuple[str, ...]
    optional_rules: tuple[str, ...]
    is_without_replier: bool


REGISTERED_PRODUCER_SCENARIOS: Final[list[Scenario]] = []


def scenario(
    level: Level,
    required_rules: str,
    optional_rules: str = "",
    *,
    without_replier: bool = False,
    among: list[Scenario] = REGISTERED_PRODUCER_SCENARIOS,
) -> Callable[[ScenarioFunction], ScenarioFunction]:
    """Makes a scenario of a function, among others of its side."""

    def register(play: ScenarioFunction) -> ScenarioFunction:
        name = getattr(play, "__name__", "").replace("_", " ")
        among.append(
            Scenario(name, play, level, tuple(required_rules.split()), tuple(optional_rules.split()), without_replier)
        )
        return play

    return register


def make_progress_reporter(say: Callable[[str], object], total: int) -> Callable[[str], None]:
    """Says which scenario of how many begins."""
    numbers = count(1)

    def report_start(name: str) -> None:
        say(f"Scenario {next(numbers)} of {total}: {name}.")

    return report_start


def collect_tried_rules(scenarios: Iterable[Scenario]) -> dict[str, Level | None]:
    """The rules that scenarios try, and the level that waits for each."""
    tried: dict[str, Level | None] = {}
    for one in scenarios:
        for rule in one.optional_rules:
            tried.setdefault(rule, None)
        for rule in one.required_rules:
            before = tried.get(rule)
            tried[rule] = one.level if before is None else min(before, one.level)
    return tried


# -- commands --


def split_command(command: str) -> list[str]:
    """The words of a command, as a shell would tell them apart."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise AaepError(f"The command {command!r} cannot be taken apart: {str(error).lower()}.") from error
