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
from .. import RuleResult
from ..judge import AuditResult, RecordedMessage, excerpt
from ..judge import judge_rules as judged_by
from ..scenario import Level, Scenario, ScenarioAborted, collect_tried_rules, make_progress_reporter
from ..undecidable import UNDECIDABLE_RULES
from . import scenarios_handshake as joining
from . import scenarios_presentation as hearing
from . import scenarios_replies as answering
from .harness import PERSON_TASKS, REGISTERED_SUBSCRIBER_SCENARIOS, Harness, RunningSubscriber, SubscriberLauncher
from .start import make_command_launcher, make_manual_launcher

__all__ = [
    "PERSON_TASKS",
    "SUBSCRIBER_SCENARIOS",
    "RunningSubscriber",
    "SubscriberLauncher",
    "SubscriberResults",
    "collect_tried_rules",
    "judge_subscriber",
    "make_command_launcher",
    "make_manual_launcher",
]

_SCENARIO_ORDER: Final = (
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
SUBSCRIBER_SCENARIOS: Final[tuple[Scenario, ...]] = tuple(
    next(one for one in REGISTERED_SUBSCRIBER_SCENARIOS if one.run is each) for each in _SCENARIO_ORDER
)

_ROLES: Final = ("subscriber", "both")
# What every subscriber of a level sends; without it there is nothing to judge.
_LEVELS_BY_TYPE: Final[dict[str, Level]] = {
    "subscription.request": 3,
    "confirmation.reply": 2,
    "clarification.reply": 2,
}
_MESSAGE_TYPES: Final = (
    "subscription.request",
    "subscription.renegotiate",
    "confirmation.reply",
    "clarification.reply",
)


class SubscriberResults:
    """What came of a run."""

    def __init__(self, stage: Harness, results: list[RuleResult]) -> None:
        self.results, self.remarks = results, stage.evidence.remarks
        first = stage.subscription_requests[0] if stage.subscription_requests else {}
        self.name = str(first.get("subscriber_name") or first.get("subscriber_id") or "")
        self.version = str(first.get("subscriber_version") or "")


async def judge_subscriber(
    launch: SubscriberLauncher,
    *,
    level: int = 3,
    strict: bool = False,
    scenarios: Collection[Scenario] = SUBSCRIBER_SCENARIOS,
    on_progress: Callable[[str], object] = lambda _: None,
    keys: bool = False,
    key: SigningKey | None = None,
    **settings: Any,
) -> SubscriberResults:
    """
    Put a subscriber to everything that a level demands, or to these scenarios only, and judge it.

    With ``keys`` it is given the public half of a key that vouches for the good players.
    """
    with tempfile.TemporaryDirectory(prefix="aaep-") as folder:
        place = None
        if keys or key is not None:
            key = key or SigningKey.generate("RS256", "conformance")
            place = Path(folder, "keys.json")
            place.write_text(json.dumps({"keys": [key.to_jwk()]}), encoding="utf-8")
        stage = Harness(launch, key=key, keys=place, **settings)
        chosen = [one for one in scenarios if one.level <= level]
        await _run_scenarios(stage, chosen, make_progress_reporter(on_progress, len(chosen)))
    if not stage.has_connected and not stage.subscription_requests:
        raise AaepError("The subscriber never came. " + (stage.evidence.remarks or ["Does the command run?"])[0])
    found = _audit_runs(stage.messages_by_run, strict=strict)
    demanded = {
        rule: None if needed is None else max(needed, all_rules()[rule].level)
        for rule, needed in collect_tried_rules(SUBSCRIBER_SCENARIOS).items()
    }
    results = judged_by(
        found,
        stage.evidence,
        tried_rules=demanded,
        roles=_ROLES,
        undecidable=UNDECIDABLE_RULES,
        message_types=_find_subscriber_types,
        levels_by_type=_LEVELS_BY_TYPE,
    )
    for one in results:
        if one.verdict == "not shown" and one.rule in stage.abort_reasons:
            one.evidence = (stage.abort_reasons[one.rule],)
    return SubscriberResults(stage, results)


async def _run_scenarios(stage: Harness, scenarios: Iterable[Scenario], on_progress: Callable[[str], object]) -> None:
    """Play these, each as far as it goes."""

    async def run_scenario(scenario: Scenario) -> None:
        async with stage.concurrency_limit:
            on_progress(scenario.name)
            try:
                await scenario.run(stage)
            except ScenarioAborted as error:
                stage.evidence.add_remark(f"{scenario.name.capitalize()}: {error}")
                stage.abort_reasons |= dict.fromkeys((*scenario.required_rules, *scenario.optional_rules), str(error))

    try:
        async with asyncio.TaskGroup() as group:
            for scenario in scenarios:
                group.create_task(run_scenario(scenario))
    except ExceptionGroup as several:  # whatever it is, it is the same for all
        raise several.exceptions[0] from None


def _audit_runs(scenes: Iterable[list[RecordedMessage]], *, strict: bool) -> AuditResult:
    """Judge what the subscriber sent, each scene by itself. Of what the player said nothing is its fault."""
    judged = AuditResult([], {})
    for lines in scenes:
        audit = Audit(attend_registry(), whole=True, strict=strict)
        for line in lines:
            found = audit.feed(line.raw, line.at, line.via, "out" if line.is_from_producer else "in")
            if not line.is_from_producer:
                judged.findings += ((one, excerpt(line.raw)) for one in found)
                judged.count_message(line.raw)
    return judged


def _find_subscriber_types(rule: Rule) -> tuple[str, ...]:
    """The messages of a subscriber's that show whether it keeps a rule."""
    if rule.role != "subscriber":
        return ()
    named = [one for one in _MESSAGE_TYPES if f"{one}." in rule.section or f"{one} " in rule.statement]
    if not named and rule.id.startswith(("CONF", "CLAR")):
        named = ["confirmation.reply" if rule.id.startswith("CONF") else "clarification.reply"]
    return tuple(dict.fromkeys(named))
