"""
Playing every scenario against a live producer, one after the other, with one reader that hears it all.

The order matters in two places: what needs that nobody can answer is played
before anybody came who could, since one that was cut off may come back; and
what judges by what others were answered, or heard, comes after them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Final

from ...transports.options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .. import RuleResult
from ..judge import AuditResult, EvidenceLog, audit_messages, excerpt
from ..judge import judge_rules as judged_by
from ..scenario import REGISTERED_PRODUCER_SCENARIOS, Scenario, collect_tried_rules, make_progress_reporter
from ..undecidable import UNDECIDABLE_RULES
from . import scenarios_consent as consent
from . import scenarios_manifest as proof
from . import scenarios_sessions as streams
from . import scenarios_terms as terms
from .harness import (
    CONNECT_DELAY,
    LISTENER_CAPABILITIES,
    REPLIER_CAPABILITIES,
    FakeSubscriber,
    Harness,
    ScenarioAborted,
    TaskStarter,
)

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

_SCENARIO_ORDER: Final = (
    consent.nobody_can_answer,
    consent.the_only_one_who_can_answer_leaves,
    terms.subscriptions_are_granted_within_what_was_asked,
    streams.a_session_from_beginning_to_end,
    consent.two_readers_answer_and_the_first_counts,
    consent.wrong_replies_do_nothing,
    consent.two_questions_are_open_and_one_is_answered,
    consent.a_no_stops_the_action,
    consent.a_yes_to_something_else_is_a_no,
    consent.time_runs_out,
    consent.a_question_is_withdrawn,
    consent.no_answer_tells_why,
    consent.a_question_is_answered,
    streams.sessions_that_do_not_end_well,
    streams.a_reader_comes_late,
    streams.tokens_are_never_used_twice,
    consent.what_nobody_agreed_to_was_not_done,
    terms.requests_of_an_unusual_kind,
    terms.the_manifest_can_be_read,
    proof.a_manifest_is_signed_where_that_is_demanded,
    terms.filters_hold_and_critical_events_pass_them,
    terms.a_slow_reader_gets_less_and_critical_events_at_once,
    terms.terms_are_renegotiated,
    streams.a_reader_is_cut_off_and_comes_back,
    streams.a_reader_leaves,
    streams.nonsense_does_no_harm,
)
PRODUCER_SCENARIOS: Final[tuple[Scenario, ...]] = tuple(
    next(one for one in REGISTERED_PRODUCER_SCENARIOS if one.run is function) for function in _SCENARIO_ORDER
)

_REFUSAL_TIMEOUT: Final = 1.0  # seconds within which a stream is refused, if it is
_LOCAL_SCHEMES: Final = ("unix", "stdio", "pipes")  # where the system knows who is at the other end
# TR-026 §8.2.7
_UNAUTHENTICATED_WARNING: Final = (
    "Warning: we showed no credential, so this producer was judged on a connection that authenticates nobody. "
    "That is for tests only. Where others can connect, use TLS and a credential."
)


class ProducerResults:
    """What came of a run."""

    def __init__(self, stage: Harness, results: list[RuleResult]) -> None:
        self.producer_info, self.remarks = stage.producer_info, stage.evidence.remarks
        self.results, self.messages = results, stage.messages


async def run_scenarios(
    stage: Harness, scenarios: Collection[Scenario], on_progress: Callable[[str], object] = lambda _: None
) -> None:
    """Play these, each as far as it goes."""
    try:
        await _run_with_subscriber(
            stage, LISTENER_CAPABILITIES, [one for one in scenarios if one.is_without_replier], on_progress
        )
        await _run_with_subscriber(
            stage, REPLIER_CAPABILITIES, [one for one in scenarios if not one.is_without_replier], on_progress
        )
    finally:
        await stage.close()


async def _run_with_subscriber(
    stage: Harness, capabilities: dict[str, Any], scenarios: list[Scenario], on_progress: Callable[[str], object]
) -> None:
    """With a reader that hears everything while they are played."""
    if not scenarios:
        return
    reader = FakeSubscriber(stage)
    try:
        await _open_main_subscriber(stage, reader, capabilities)
        for one in scenarios:
            on_progress(one.name)
            try:
                await one.run(stage)
            except ScenarioAborted as error:
                stage.evidence.add_remark(f"{one.name.capitalize()}: {error}")
    finally:
        await reader.unsubscribe()
        stage.main_subscriber, stage.is_listening = None, False
        stage.partial_sessions |= {one.session_id for one in reader.events}


async def _open_main_subscriber(stage: Harness, reader: FakeSubscriber, capabilities: dict[str, Any]) -> None:
    # Only one that can answer is sure to hear what is asked, so only its recording is judged as a whole (CAP-014).
    reader.is_main = capabilities is REPLIER_CAPABILITIES
    try:
        await reader.subscribe(capabilities)
    except ScenarioAborted as error:
        stage.evidence.add_remark(str(error))
        if not stage.is_http:
            return
        reader.subscription_id = ""  # LVL-023: at Level 1 one may listen without having asked
    reader.listen()
    await asyncio.sleep(CONNECT_DELAY)  # what is going on already comes first
    if not reader.acceptance:
        await reader.wait_for_event(lambda _: True, _REFUSAL_TIMEOUT)
        if reader.end_reason:
            return
        stage.evidence.add_remark("It is listened to without a subscription, which Level 1 allows.")
    stage.main_subscriber, stage.is_listening = reader, True


async def judge_producer(
    url: str,
    start: TaskStarter | None,
    *,
    level: int = 3,
    strict: bool = False,
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
    Put a producer to everything that a level demands, or to these scenarios only, and judge it.

    ``certified``: a certificate among the options shows who we are, which cannot be told from an SSL context.
    """
    stage = Harness(url, start, patience=patience, quiet=quiet, wait=wait, shared=shared, options=options)
    if not certified and not options.token and stage.scheme not in _LOCAL_SCHEMES:
        stage.evidence.add_remark(_UNAUTHENTICATED_WARNING)
    chosen = [one for one in scenarios if one.level <= level]
    await run_scenarios(stage, chosen, make_progress_reporter(on_progress, len(chosen)))
    found: AuditResult = audit_messages(stage.messages, strict=strict)
    _add_derived_failures(stage.evidence, found)
    return ProducerResults(
        stage,
        judged_by(
            found, stage.evidence, tried_rules=collect_tried_rules(PRODUCER_SCENARIOS), undecidable=UNDECIDABLE_RULES
        ),
    )


def judge_recording(judged: AuditResult) -> list[RuleResult]:
    """What a recording shows of a producer: the messages, but nothing that somebody has to provoke."""
    return judged_by(
        judged, EvidenceLog(), tried_rules=collect_tried_rules(PRODUCER_SCENARIOS), undecidable=UNDECIDABLE_RULES
    )


def _add_derived_failures(ledger: EvidenceLog, found: AuditResult) -> None:
    """What the audit calls one thing breaks the behaviour rule of the same content too."""
    for finding, text in found.findings:
        if finding.rule == "TOOL-002" and finding.severity == "error":
            ledger.record_failure("HITL-001", f"{finding.message} {text}")
