"""
Run the scenarios against a subscriber, each with fake producers of its own, and judge what it sends and presents.

Scenarios do not depend on each other, so several run at a time.
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
from ..judge import AuditResult, RecordedMessage, judge_rules
from ..scenario import (
    REGISTERED_SUBSCRIBER_SCENARIOS,
    Level,
    Scenario,
    ScenarioAborted,
    collect_tried_rules,
    make_progress_reporter,
    order_scenarios,
)
from ..undecidable import UNDECIDABLE_RULES
from . import scenarios_handshake, scenarios_presentation, scenarios_replies
from .harness import PERSON_TASKS, Harness, RunningSubscriber, SubscriberLauncher
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

SUBSCRIBER_SCENARIOS: Final = order_scenarios(
    REGISTERED_SUBSCRIBER_SCENARIOS,
    (
        scenarios_handshake.it_subscribes_and_leaves,
        scenarios_presentation.sessions_are_told_from_beginning_to_end,
        scenarios_presentation.what_is_urgent_is_told_at_once,
        scenarios_presentation.much_comes_at_once,
        scenarios_presentation.events_come_twice_and_out_of_order,
        scenarios_presentation.events_of_an_unusual_kind_come,
        scenarios_presentation.it_is_cut_off,
        scenarios_replies.the_person_accepts,
        scenarios_replies.the_person_refuses,
        scenarios_replies.the_person_answers_questions,
        scenarios_replies.nobody_answers,
        scenarios_replies.the_person_is_too_late,
        scenarios_handshake.it_is_rejected,
        scenarios_handshake.less_is_granted_than_was_asked,
        scenarios_handshake.other_terms_are_asked_for,
        scenarios_handshake.only_who_is_proved_is_believed,
    ),
)
_ROLES: Final = ("subscriber", "both")
# The types that every subscriber of a level sends; without them there is nothing to judge.
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
    """The outcome of a run against a subscriber, and its name and version by its own account."""

    def __init__(self, harness: Harness, results: list[RuleResult]) -> None:
        self.results = results
        self.remarks = harness.evidence.remarks
        self.messages_by_run = harness.messages_by_run
        request = harness.subscription_requests[0] if harness.subscription_requests else {}
        self.name = str(request.get("subscriber_name") or request.get("subscriber_id") or "")
        self.version = str(request.get("subscriber_version") or "")


async def judge_subscriber(
    launch: SubscriberLauncher,
    *,
    level: int = 3,
    scenarios: Collection[Scenario] = SUBSCRIBER_SCENARIOS,
    on_progress: Callable[[str], object] = lambda _: None,
    keys: bool = False,
    key: SigningKey | None = None,
    **settings: Any,
) -> SubscriberResults:
    """
    Judge a subscriber by everything that a level demands, or by these scenarios only.

    With ``keys`` or ``key`` it is given a file with the public half of the key
    that signs the manifests of the producers to be trusted.
    """
    with tempfile.TemporaryDirectory(prefix="aaep-") as folder:
        keys_file = None
        if keys or key is not None:
            key = key or SigningKey.generate("RS256", "conformance")
            keys_file = Path(folder, "keys.json")
            keys_file.write_text(json.dumps({"keys": [key.to_jwk()]}), encoding="utf-8")
        harness = Harness(launch, key=key, keys=keys_file, **settings)
        chosen = [scenario for scenario in scenarios if scenario.level <= level]
        await _run_scenarios(harness, chosen, make_progress_reporter(on_progress, len(chosen)))
    if not harness.has_connected and not harness.subscription_requests:
        raise AaepError("The subscriber never came. " + (harness.evidence.remarks or ["Does the command run?"])[0])
    results = judge_rules(
        _audit_runs(harness.messages_by_run),
        harness.evidence,
        tried_rules=_collect_required_levels(),
        roles=_ROLES,
        undecidable=UNDECIDABLE_RULES,
        message_types=_find_subscriber_types,
        levels_by_type=_LEVELS_BY_TYPE,
    )
    for result in results:
        if result.verdict == "not shown" and result.rule in harness.abort_reasons:
            result.evidence = (harness.abort_reasons[result.rule],)
    return SubscriberResults(harness, results)


async def _run_scenarios(harness: Harness, scenarios: Iterable[Scenario], on_progress: Callable[[str], object]) -> None:
    """Run scenarios side by side, each as far as it goes."""

    async def run_scenario(scenario: Scenario) -> None:
        async with harness.concurrency_limit:
            on_progress(scenario.name)
            try:
                await scenario.run(harness)
            except ScenarioAborted as error:
                harness.evidence.add_remark(f"{scenario.name.capitalize()}: {error}")
                rules = (*scenario.required_rules, *scenario.optional_rules)
                harness.abort_reasons |= dict.fromkeys(rules, str(error))

    try:
        async with asyncio.TaskGroup() as group:
            for scenario in scenarios:
                group.create_task(run_scenario(scenario))
    except ExceptionGroup as errors:  # an error that stops one scenario, such as a wrong command, stops them all
        raise errors.exceptions[0] from None


def _audit_runs(messages_by_run: Iterable[list[RecordedMessage]]) -> AuditResult:
    """Audit the messages of the subscriber, each run by itself; nothing that a fake producer sent is its fault."""
    result = AuditResult([], {})
    for messages in messages_by_run:
        audit = Audit(attend_registry(), whole=True, strict=True)
        for message in messages:
            findings = audit.feed(message.raw, message.at, message.via, message.direction)
            if not message.is_from_producer:
                result.add_findings(findings, message.raw)
                result.count_message(message.raw)
    return result


def _collect_required_levels() -> dict[str, Level | None]:
    """Return the rules that scenarios try, each with the level that depends on it: never one below the rule's own."""
    return {
        rule: None if level is None else max(level, all_rules()[rule].level)
        for rule, level in collect_tried_rules(SUBSCRIBER_SCENARIOS).items()
    }


def _find_subscriber_types(rule: Rule) -> tuple[str, ...]:
    """Return the types of the messages that show whether a subscriber keeps a rule; none if no message does."""
    if rule.role != "subscriber":
        return ()
    types = [name for name in _MESSAGE_TYPES if f"{name}." in rule.section or f"{name} " in rule.statement]
    if not types and rule.id.startswith("CONF"):
        return ("confirmation.reply",)
    if not types and rule.id.startswith("CLAR"):
        return ("clarification.reply",)
    return tuple(types)
