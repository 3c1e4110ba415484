"""
Playing every scenario against a subscriber, each with a producer of its own, and judging what it sends and presents.

Scenarios know nothing of each other, so several are played side by side.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, Final

from ...errors import AaepError
from ...identity.signing_keys import SigningKey
from ...protocol.attend_extension import attend_registry
from ...protocol.audit import Audit
from ...protocol.catalogue import Rule, all_rules
from .. import Result
from ..judge import Judged, Line, excerpt
from ..judge import judge as judged_by
from ..scenario import Level, Scenario, Unplayable, live, numbered
from ..undecidable import UNDECIDABLE
from . import scenarios_handshake as joining
from . import scenarios_presentation as hearing
from . import scenarios_replies as answering
from .harness import SCENES, TASKS, Begin, Running, Stage
from .start import by_command, by_hand

__all__ = ["SUBSCRIBER", "TASKS", "Begin", "Listened", "Running", "by_command", "by_hand", "judge_subscriber", "live"]

_ORDER: Final = (
    joining.it_subscribes_and_leaves,
    hearing.sessions_are_told_from_beginning_to_end,
    hearing.what_is_urgent_is_told_at_once,
    hearing.much_comes_at_once,
    hearing.events_come_twice_and_out_of_order,
    hearing.events_of_an_unusual_kind_come,
    hearing.it_is_cut_off,
    answering.the_person_accepts,
    answering.the_person_refuses,
    answering.the_person_answers_questions,
    answering.nobody_answers,
    answering.the_person_is_too_late,
    joining.it_is_rejected,
    joining.less_is_granted_than_was_asked,
    joining.other_terms_are_asked_for,
    joining.only_who_is_proved_is_believed,
)
SUBSCRIBER: Final[tuple[Scenario, ...]] = tuple(next(one for one in SCENES if one.play is each) for each in _ORDER)

_ROLES: Final = ("subscriber", "both")
# What every subscriber of a level sends; without it there is nothing to judge.
_SHOWN: Final[dict[str, Level]] = {"subscription.request": 3, "confirmation.reply": 2, "clarification.reply": 2}
_MESSAGES: Final = (
    "subscription.request",
    "subscription.renegotiate",
    "confirmation.reply",
    "clarification.reply",
)


class Listened:
    """What came of a run."""

    def __init__(self, stage: Stage, results: list[Result]) -> None:
        self.results, self.remarks = results, stage.ledger.remarks
        first = stage.requests[0] if stage.requests else {}
        self.name = str(first.get("subscriber_name") or first.get("subscriber_id") or "")
        self.version = str(first.get("subscriber_version") or "")


async def judge_subscriber(
    begin: Begin,
    *,
    level: int = 3,
    strict: bool = False,
    scenarios: Collection[Scenario] = SUBSCRIBER,
    say: Callable[[str], object] = lambda _: None,
    keys: bool = False,
    key: SigningKey | None = None,
    **settings: Any,
) -> Listened:
    """
    Put a subscriber to everything that a level demands, or to these scenarios only, and judge it.

    With ``keys`` it is given the public half of a key that vouches for the good players.
    """
    with tempfile.TemporaryDirectory(prefix="aaep-") as folder:
        place = None
        if keys or key is not None:
            key = key or SigningKey.new("RS256", "conformance")
            place = Path(folder, "keys.json")
            place.write_text(json.dumps({"keys": [key.jwk()]}), encoding="utf-8")
        stage = Stage(begin, key=key, keys=place, **settings)
        chosen = [one for one in scenarios if one.level <= level]
        await _play(stage, chosen, numbered(say, len(chosen)))
    if not stage.met and not stage.requests:
        raise AaepError("The subscriber never came. " + (stage.ledger.remarks or ["Does the command run?"])[0])
    found = _audited(stage.scenes, strict=strict)
    demanded = {
        rule: None if needed is None else max(needed, all_rules()[rule].level)
        for rule, needed in live(SUBSCRIBER).items()
    }
    results = judged_by(
        found, stage.ledger, live=demanded, roles=_ROLES, undecidable=UNDECIDABLE, about=_about, shown=_SHOWN
    )
    for one in results:
        if one.verdict == "not shown" and one.rule in stage.missed:
            one.evidence = (stage.missed[one.rule],)
    return Listened(stage, results)


async def _play(stage: Stage, scenarios: Iterable[Scenario], say: Callable[[str], object]) -> None:
    """Play these, each as far as it goes."""

    async def one(scenario: Scenario) -> None:
        async with stage.gate:
            say(scenario.name)
            try:
                await scenario.play(stage)
            except Unplayable as error:
                stage.ledger.remark(f"{scenario.name.capitalize()}: {error}")
                stage.missed |= dict.fromkeys((*scenario.rules, *scenario.also), str(error))

    try:
        async with asyncio.TaskGroup() as group:
            for scenario in scenarios:
                group.create_task(one(scenario))
    except ExceptionGroup as several:  # whatever it is, it is the same for all
        raise several.exceptions[0] from None


def _audited(scenes: Iterable[list[Line]], *, strict: bool) -> Judged:
    """Judge what the subscriber sent, each scene by itself. Of what the player said nothing is its fault."""
    judged = Judged([], {})
    for lines in scenes:
        audit = Audit(attend_registry(), whole=True, strict=strict)
        for line in lines:
            found = audit.feed(line.raw, line.at, line.via, "out" if line.out else "in")
            if not line.out:
                judged.findings += ((one, excerpt(line.raw)) for one in found)
                judged.count(line.raw)
    return judged


def _about(rule: Rule) -> tuple[str, ...]:
    """The messages of a subscriber's that show whether it keeps a rule."""
    if rule.role != "subscriber":
        return ()
    named = [one for one in _MESSAGES if f"{one}." in rule.section or f"{one} " in rule.statement]
    if not named and rule.id.startswith(("CONF", "CLAR")):
        named = ["confirmation.reply" if rule.id.startswith("CONF") else "clarification.reply"]
    return tuple(dict.fromkeys(named))
