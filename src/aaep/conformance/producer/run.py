"""
Run the scenarios against a live producer one after the other, while a main subscriber listens, and judge the run.

The order matters in two places. Scenarios in which no subscriber can reply run
before any that could has come, since one that lost its connection may come
back. Scenarios that judge the answers or events of others run after these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from ...transports.options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .. import RuleResult
from ..judge import AuditResult, EvidenceLog, audit_messages, excerpt, judge_rules
from ..messages import JsonObject
from ..scenario import (
    REGISTERED_PRODUCER_SCENARIOS,
    Scenario,
    ScenarioAborted,
    collect_tried_rules,
    make_progress_reporter,
    order_scenarios,
)
from ..undecidable import UNDECIDABLE_RULES
from . import scenarios_consent, scenarios_manifest, scenarios_sessions, scenarios_streams, scenarios_terms
from .harness import LISTENER_CAPABILITIES, REPLIER_CAPABILITIES, Harness, TaskStarter

__all__ = [
    "PRODUCER_SCENARIOS",
    "UNDECIDABLE_RULES",
    "AuditResult",
    "ProducerResults",
    "Scenario",
    "TaskStarter",
    "collect_tried_rules",
    "excerpt",
    "judge_producer",
    "judge_recording",
    "run_scenarios",
]

PRODUCER_SCENARIOS: Final = order_scenarios(
    REGISTERED_PRODUCER_SCENARIOS,
    (
        scenarios_consent.nobody_can_answer,
        scenarios_consent.the_only_one_who_can_answer_leaves,
        scenarios_terms.subscriptions_are_granted_within_what_was_asked,
        scenarios_sessions.a_session_from_beginning_to_end,
        scenarios_consent.two_readers_answer_and_the_first_counts,
        scenarios_consent.wrong_replies_do_nothing,
        scenarios_consent.two_questions_are_open_and_one_is_answered,
        scenarios_consent.a_no_stops_the_action,
        scenarios_consent.a_yes_to_something_else_is_a_no,
        scenarios_consent.time_runs_out,
        scenarios_consent.a_question_is_withdrawn,
        scenarios_consent.no_answer_tells_why,
        scenarios_consent.a_question_is_answered,
        scenarios_sessions.sessions_that_do_not_end_well,
        scenarios_sessions.a_reader_comes_late,
        scenarios_sessions.tokens_are_never_used_twice,
        scenarios_consent.what_nobody_agreed_to_was_not_done,
        scenarios_terms.requests_of_an_unusual_kind,
        scenarios_terms.the_manifest_can_be_read,
        scenarios_manifest.a_manifest_is_signed_where_that_is_demanded,
        scenarios_terms.filters_hold_and_critical_events_pass_them,
        scenarios_terms.a_slow_reader_gets_less_and_critical_events_at_once,
        scenarios_terms.terms_are_renegotiated,
        scenarios_sessions.a_reader_is_cut_off_and_comes_back,
        scenarios_streams.a_reader_comes_back_with_an_unknown_id,
        scenarios_streams.who_was_granted_nothing_gets_nothing,
        scenarios_sessions.a_reader_leaves,
        scenarios_streams.every_reader_has_the_same_order,
        scenarios_streams.every_event_is_framed_with_its_id,
        scenarios_streams.other_websites_cannot_reply,
        scenarios_sessions.nonsense_does_no_harm,
    ),
)
_LOCAL_SCHEMES: Final = ("unix", "stdio", "pipes")  # transports on which the system knows the other end
# TR-026 §8.2.7
_UNAUTHENTICATED_WARNING: Final = (
    "Warning: we showed no credential, so this producer was judged on a connection that authenticates nobody. "
    "That is for tests only. Where others can connect, use TLS and a credential."
)


class ProducerResults:
    """The outcome of a run against a producer."""

    def __init__(self, harness: Harness, results: list[RuleResult]) -> None:
        self.results = results
        self.producer_info = harness.producer_info
        self.remarks = harness.evidence.remarks
        self.messages = harness.messages


async def run_scenarios(
    harness: Harness, scenarios: Collection[Scenario], on_progress: Callable[[str], object] = lambda _: None
) -> None:
    """Run scenarios, each as far as it goes."""
    without_replier = [scenario for scenario in scenarios if scenario.is_without_replier]
    with_replier = [scenario for scenario in scenarios if not scenario.is_without_replier]
    try:
        await _run_group(harness, LISTENER_CAPABILITIES, without_replier, on_progress)
        await _run_group(harness, REPLIER_CAPABILITIES, with_replier, on_progress)
    finally:
        await harness.close()


async def _run_group(
    harness: Harness, capabilities: JsonObject, scenarios: list[Scenario], on_progress: Callable[[str], object]
) -> None:
    """Run scenarios while a main subscriber with these capabilities listens."""
    if not scenarios:
        return
    hasty_scenarios: list[tuple[Scenario, float]] = []  # those that did not wait long enough, and how long that was
    async with harness.listen_throughout(capabilities):
        for scenario in scenarios:
            on_progress(scenario.name)
            patience = harness.patience
            vain_wait_count = harness.pace.vain_wait_count
            await _run_scenario(harness, scenario)
            if harness.pace.vain_wait_count > vain_wait_count:
                hasty_scenarios.append((scenario, patience))
        if hasty_scenarios:
            await harness.wait_for_unfinished_sessions()
        for scenario, patience in hasty_scenarios:
            if harness.patience > patience:  # by now it is known that the agent takes longer
                harness.evidence.forget_scenario(scenario.name)
                await _run_scenario(harness, scenario)


async def _run_scenario(harness: Harness, scenario: Scenario) -> None:
    """Run a scenario as far as it goes."""
    harness.evidence.scenario = scenario.name
    try:
        await scenario.run(harness)
    except ScenarioAborted as error:
        harness.evidence.add_remark(f"{scenario.name.capitalize()}: {error}")
        harness.abort_reasons |= dict.fromkeys((*scenario.required_rules, *scenario.optional_rules), str(error))


async def judge_producer(
    url: str,
    start: TaskStarter | None,
    *,
    level: int = 3,
    scenarios: Collection[Scenario] = PRODUCER_SCENARIOS,
    on_progress: Callable[[str], object] = lambda _: None,
    certified: bool = False,
    patience: float = 10.0,
    quiet: float = 0.25,
    wait: float = 60.0,
    shared: bool | None = None,
    options: ConnectOptions = DEFAULT_CONNECT_OPTIONS,
) -> ProducerResults:
    """
    Judge a producer by everything that a level demands, or by these scenarios only.

    ``certified`` says that the options hold a client certificate, which cannot be
    seen in an SSL context.
    """
    harness = Harness(url, start, patience=patience, quiet=quiet, wait=wait, shared=shared, options=options)
    if not certified and not options.token and harness.scheme not in _LOCAL_SCHEMES:
        harness.evidence.add_remark(_UNAUTHENTICATED_WARNING)
    chosen = [scenario for scenario in scenarios if scenario.level <= level]
    await run_scenarios(harness, chosen, make_progress_reporter(on_progress, len(chosen)))
    audit_result = audit_messages(harness.messages)
    _add_derived_failures(harness.evidence, audit_result)
    _record_unfinished_sessions(harness)
    results = _judge(audit_result, harness.evidence)
    for result in results:
        if result.verdict == "not shown" and result.rule in harness.abort_reasons:
            result.evidence = (harness.abort_reasons[result.rule],)
    return ProducerResults(harness, results)


def _record_unfinished_sessions(harness: Harness) -> None:
    """SEQ-003 §4.1: a session that is not over may end yet, so it shows nothing."""
    pace = harness.pace
    if not pace.unfinished_sessions and not pace.is_every_session_open:
        return
    count = len(pace.unfinished_sessions)
    harness.evidence.record_not_shown(
        "SEQ-003",
        f"{count} of {pace.ended_count + count} sessions had not ended when the run was over."
        if count
        else "Every session still waited for an answer when the run was over.",
        "End every session. If the agent only needs more time, say so with --patience.",
    )


def judge_recording(audit_result: AuditResult) -> list[RuleResult]:
    """Judge a producer by a recording: by its messages, without anything that has to be provoked."""
    return _judge(audit_result, EvidenceLog())


def _judge(audit_result: AuditResult, evidence: EvidenceLog) -> list[RuleResult]:
    tried_rules = collect_tried_rules(PRODUCER_SCENARIOS)
    return judge_rules(audit_result, evidence, tried_rules=tried_rules, undecidable=UNDECIDABLE_RULES)


def _add_derived_failures(evidence: EvidenceLog, audit_result: AuditResult) -> None:
    """Fail the behaviour rule that has the same content as a sequence rule of the audit."""
    for finding, text in audit_result.findings:
        if finding.rule == "TOOL-002" and finding.severity == "error":
            evidence.record_failure("HITL-001", f"{finding.message} {text}")
