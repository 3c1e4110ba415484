"""Scenarios: situations that are brought about for a peer, each with the rules it shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import count
from typing import Any, Final, Literal

import msgspec

__all__ = [
    "REGISTERED_PRODUCER_SCENARIOS",
    "REGISTERED_SUBSCRIBER_SCENARIOS",
    "Level",
    "Scenario",
    "ScenarioAborted",
    "ScenarioFunction",
    "collect_tried_rules",
    "make_progress_reporter",
    "order_scenarios",
    "producer_scenario",
    "subscriber_scenario",
]

Level = Literal[1, 2, 3]
ScenarioFunction = Callable[[Any], Awaitable[None]]  # its argument is the Harness of its side


class ScenarioAborted(Exception):
    """A scenario cannot go on; the message says what was missing."""


class Scenario(msgspec.Struct, frozen=True):
    """
    One situation that is brought about for a peer.

    ``level`` is not granted until ``required_rules`` were shown; ``optional_rules``
    may be shown as well, and no level depends on them. A scenario that
    ``is_without_replier`` is run while the main subscriber cannot reply.
    """

    name: str
    run: ScenarioFunction
    level: Level
    required_rules: tuple[str, ...]
    optional_rules: tuple[str, ...]
    is_without_replier: bool


# -- registration ----------------------------------------------------------------------------

REGISTERED_PRODUCER_SCENARIOS: Final[list[Scenario]] = []
REGISTERED_SUBSCRIBER_SCENARIOS: Final[list[Scenario]] = []


def _register_scenario(
    level: Level,
    required_rules: str,
    optional_rules: str = "",
    *,
    without_replier: bool = False,
    registered: list[Scenario],
) -> Callable[[ScenarioFunction], ScenarioFunction]:
    """Return a decorator that registers a function as a scenario, named after the function."""

    def register(function: ScenarioFunction) -> ScenarioFunction:
        scenario = Scenario(
            name=getattr(function, "__name__", "").replace("_", " "),
            run=function,
            level=level,
            required_rules=tuple(required_rules.split()),
            optional_rules=tuple(optional_rules.split()),
            is_without_replier=without_replier,
        )
        registered.append(scenario)
        return function

    return register


producer_scenario: Final = partial(_register_scenario, registered=REGISTERED_PRODUCER_SCENARIOS)
subscriber_scenario: Final = partial(_register_scenario, registered=REGISTERED_SUBSCRIBER_SCENARIOS)


def order_scenarios(registered: Iterable[Scenario], functions: Iterable[ScenarioFunction]) -> tuple[Scenario, ...]:
    """Return the scenarios of these functions, in the order of the functions."""
    scenarios = {scenario.run: scenario for scenario in registered}
    return tuple(scenarios[function] for function in functions)


# -- questions about several scenarios -------------------------------------------------------


def make_progress_reporter(report: Callable[[str], object], total: int) -> Callable[[str], None]:
    """Return a function that reports the start of a scenario with its number out of ``total``."""
    numbers = count(1)

    def report_start(name: str) -> None:
        report(f"Scenario {next(numbers)} of {total}: {name}.")

    return report_start


def collect_tried_rules(scenarios: Iterable[Scenario]) -> dict[str, Level | None]:
    """Return the rules that scenarios try, each with the lowest level that depends on it, if any does."""
    tried_rules: dict[str, Level | None] = {}
    for scenario in scenarios:
        for rule in scenario.optional_rules:
            tried_rules.setdefault(rule, None)
        for rule in scenario.required_rules:
            lowest = tried_rules.get(rule)
            tried_rules[rule] = scenario.level if lowest is None else min(lowest, scenario.level)
    return tried_rules
