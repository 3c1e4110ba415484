"""
Verdicts: from the messages of a run and the evidence of its scenarios to a result for each rule.

Messages are judged by :class:`~aaep.protocol.audit.Audit`: in full for the
subscriber that listened from the first to the last, and one by one for the
others. Scenarios add the evidence that no recording shows: what was done to the
peer, and what followed or did not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from ..protocol.attend_extension import attend_registry
from ..protocol.audit import Audit, Direction, Finding
from ..protocol.catalogue import Rule, all_rules
from ..transports.base import read_message_type
from . import RuleResult, Verdict
from .messages import shorten_type
from .scenario import Level

__all__ = [
    "AuditResult",
    "EvidenceLog",
    "RecordedMessage",
    "audit_messages",
    "compute_granted_level",
    "excerpt",
    "excerpt_first",
    "excerpt_message",
    "find_message_types",
    "judge_rules",
]

_MAX_EXCERPTS: Final = 5  # pieces of evidence listed for a rule
_MAX_EXCERPT_CHARS: Final = 400  # characters of an excerpt
_COMMON_MEMBERS: Final = ("@context", "aaep_version", "producer", "localization_hints", "verbosity", "urgency")


# -- evidence of scenarios -------------------------------------------------------------------


class _Observation(msgspec.Struct):
    verdict: Verdict
    text: str
    advice: str = ""
    scenario: str = ""


class EvidenceLog:
    """The evidence that scenarios have recorded, by rule."""

    def __init__(self) -> None:
        self.observations: dict[str, list[_Observation]] = {}
        self.remarks: list[str] = []  # why something could not be tried
        self.scenario = ""  # the name of the one that records now

    def record_pass(self, rule: str, text: str) -> None:
        """Record that the peer was put to the test and kept the rule."""
        self._add(rule, _Observation("passed", text))

    def record_failure(self, rule: str, text: str, advice: str = "", *, mandatory: bool = False) -> None:
        """
        Record that the peer was put to the test and broke the rule.

        For a SHOULD this is a warning, unless a level makes it ``mandatory``. The
        lenient grades for recordings of unknown origin do not apply here: the
        failure was seen to happen.
        """
        is_warning = all_rules()[rule].keyword == "SHOULD" and not mandatory
        self._add(rule, _Observation("warning" if is_warning else "failed", text, advice))

    def record_not_shown(self, rule: str, text: str, advice: str = "") -> None:
        """Record why it cannot be said whether the peer keeps the rule."""
        self._add(rule, _Observation("not shown", text, advice))

    def record_not_applicable(self, rule: str, text: str) -> None:
        """Record that the rule does not apply to this peer."""
        self._add(rule, _Observation("not applicable", text))

    def check(
        self,
        rule: str,
        condition: object,
        success_text: str,
        failure_text: str,
        advice: str = "",
        *,
        mandatory: bool = False,
    ) -> bool:
        """Record a pass if the condition is true and a failure otherwise; return the condition as a bool."""
        if condition:
            self.record_pass(rule, success_text)
        else:
            self.record_failure(rule, failure_text, advice, mandatory=mandatory)
        return bool(condition)

    def add_remark(self, text: str) -> None:
        """Add a remark to the report, unless it is there already."""
        if text not in self.remarks:
            self.remarks.append(text)

    def forget_scenario(self, name: str) -> None:
        """Forget what a scenario has recorded, since it is tried again."""
        for rule, observations in [*self.observations.items()]:
            kept = [observation for observation in observations if observation.scenario != name]
            if kept:
                self.observations[rule] = kept
            else:
                del self.observations[rule]

    def _add(self, rule: str, observation: _Observation) -> None:
        observation.scenario = self.scenario
        observations = self.observations.setdefault(rule, [])
        if observation.text not in (earlier.text for earlier in observations):
            observations.append(observation)


def excerpt(raw: bytes | Mapping[str, Any]) -> str:
    """
    Return as much of a message as a person needs to find it again.

    The members that every message has come last, so that they are cut off first.
    """
    text = raw.decode(errors="replace") if isinstance(raw, bytes) else msgspec.json.encode(raw).decode()
    try:
        message = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        message = None
    if isinstance(message, dict):
        own_members = {name: value for name, value in message.items() if name not in _COMMON_MEMBERS}
        reordered = msgspec.json.encode({**own_members, **message}).decode(errors="replace")
        if reordered.count(":") == text.count(":"):  # otherwise a name is there twice, and decoding has lost one
            text = reordered
    return text if len(text) <= _MAX_EXCERPT_CHARS else text[:_MAX_EXCERPT_CHARS] + "…"


class _HasRaw(Protocol):
    @property
    def raw(self) -> bytes: ...


def excerpt_message(message: _HasRaw | None) -> str:
    """Return an excerpt of a message; empty if there is none."""
    return "" if message is None else excerpt(message.raw)


def excerpt_first(messages: Sequence[_HasRaw]) -> str:
    """Return an excerpt of the first message; empty if there is none."""
    return excerpt(messages[0].raw) if messages else ""


# -- audit of messages -----------------------------------------------------------------------


class RecordedMessage(msgspec.Struct):
    """
    A message of a run.

    A message that the suite sent and that was wrong on purpose is not
    ``is_audited``: the audit must not take it for a real one.
    """

    at: str
    via: str
    raw: bytes
    is_from_producer: bool
    is_audited: bool = True
    is_main: bool = False  # whether it is part of a complete session of the main subscriber

    @property
    def direction(self) -> Direction:
        """The direction as an audit names it, seen from the producer: ``out`` or ``in``."""
        return "out" if self.is_from_producer else "in"

    @property
    def is_reply(self) -> bool:
        """Whether it is a reply to a prompt."""
        return not self.is_from_producer and b'.reply"' in self.raw


class AuditResult(msgspec.Struct):
    """The findings of the audit of a run."""

    findings: list[tuple[Finding, str]]  # each with an excerpt
    type_counts: dict[str, int]  # number of messages by type

    def add_findings(self, findings: list[Finding], raw: bytes) -> None:
        """Add findings about a message, with an excerpt of it."""
        if findings:
            text = excerpt(raw)
            self.findings += ((finding, text) for finding in findings)

    def count_message(self, raw: bytes) -> None:
        """Count a message by its type."""
        kind = shorten_type(read_message_type(raw))
        self.type_counts[kind] = self.type_counts.get(kind, 0) + 1


def audit_messages(messages: Iterable[RecordedMessage]) -> AuditResult:
    """
    Audit the messages of a run against a producer, in the order they were seen.

    The grading is the strict one: a claim cannot rest on a MUST that was seen
    broken. Replies take part in both audits: any subscription may answer a prompt.
    """
    whole_audit = Audit(attend_registry(), whole=True, strict=True)
    partial_audit = Audit(attend_registry(), whole=False, strict=True)
    result = AuditResult([], {})
    for message in messages:
        if not message.is_from_producer and not message.is_audited:
            continue
        whole_findings: list[Finding] = []
        partial_findings: list[Finding] = []
        if message.is_main or message.is_reply:
            whole_findings = whole_audit.feed(message.raw, message.at, message.via, message.direction)
        if not message.is_main or message.is_reply:
            partial_findings = partial_audit.feed(message.raw, message.at, message.via, message.direction)
        if message.is_from_producer:  # nothing that the suite sent is the producer's fault
            result.add_findings(whole_findings, message.raw)
            result.add_findings(
                [finding for finding in partial_findings if _is_session_independent(finding)], message.raw
            )
            result.count_message(message.raw)
    # Of a live agent a session that is not over may end yet: whoever ran it says what became of it.
    result.findings += ((finding, "") for finding in whole_audit.finish() if finding.rule != "SEQ-003")
    return result


def _is_session_independent(finding: Finding) -> bool:
    """
    Whether a finding holds for a subscriber that was not there throughout.

    Filters, a late start and a lost connection leave gaps in a session that are
    not the producer's fault; each message by itself, and the handshake, are
    still judged.
    """
    rule = all_rules().get(finding.rule)
    return rule is not None and (rule.kind == "schema" or finding.rule.startswith("SUB-"))


# -- message types that show a rule ----------------------------------------------------------

_TYPES_BY_SECTION: Final = {
    "§4.1.1": "session.started",
    "§4.1.2": "session.completed",
    "§4.1.3": "session.errored",
    "§4.1.4": "session.cancelled",
    "§4.2.1": "state.changed",
    "§4.2.2": "progress.updated",
    "§4.3.1": "tool.invoked",
    "§4.3.2": "tool.completed",
    "§4.3.3": "output.streaming",
    "§4.4.1": "awaiting.confirmation",
    "§4.4.2": "awaiting.clarification",
    "§4.4.3": "handoff.requested",
}
_TYPES_BY_FAMILY: Final = {
    "ENV": "session.started",
    "I18N": "session.started",
    "LVL": "session.started",
    "SEQ": "session.started",
    "EVT": "session.started",
    "STATE": "state.changed",
    "PROG": "progress.updated",
    "TOOL": "tool.completed",
    "OUT": "output.streaming",
    "CONF": "awaiting.confirmation",
    "HITL": "awaiting.confirmation",
    "CLAR": "awaiting.clarification",
    "SUB": "subscription.accepted",
    "CAP": "subscription.accepted",
    "TR": "session.completed",
    "ORD": "session.completed",
    "MAN": "aaep:producer.manifest",
}
_SCHEMA_REFERENCE: Final = re.compile(r"(?:schema:agent\.([a-z.]+[a-z]))|(?:(subscription\.[a-z]+)\.schema)")
# The types that every session of a level shows; without them there is nothing to judge.
_LEVELS_BY_TYPE: Final[Mapping[str, Level]] = {
    "session.started": 1,
    "session.completed": 1,
    "state.changed": 1,
    "tool.invoked": 1,
    "tool.completed": 1,
    "output.streaming": 1,
    "awaiting.confirmation": 2,
    "subscription.accepted": 3,
}


def find_message_types(rule: Rule) -> tuple[str, ...]:
    """Return the types of the messages that show whether a producer keeps a rule; none if no message does."""
    types = [event_type or message_type for event_type, message_type in _SCHEMA_REFERENCE.findall(rule.section)]
    sections = [section.strip() for section in rule.section.split(",")]
    types += [_TYPES_BY_SECTION[section] for section in sections if section in _TYPES_BY_SECTION]
    if not types:
        family = rule.id.partition("-")[0]
        types = [_TYPES_BY_FAMILY[family]] if family in _TYPES_BY_FAMILY else []
    return tuple(dict.fromkeys(types))


# -- verdicts --------------------------------------------------------------------------------

_VERDICTS_BY_SEVERITY: Final[Mapping[str, Verdict]] = {"error": "failed", "warning": "warning"}


def judge_rules(
    audit_result: AuditResult,
    evidence: EvidenceLog,
    *,
    tried_rules: Mapping[str, Level | None],
    roles: Collection[str] = ("producer", "both", "transport"),
    undecidable: Mapping[str, str] | None = None,
    message_types: Callable[[Rule], tuple[str, ...]] = find_message_types,
    levels_by_type: Mapping[str, Level] = _LEVELS_BY_TYPE,
) -> list[RuleResult]:
    """
    Return the verdict for every rule of some roles.

    ``tried_rules`` are the rules that scenarios try, with the level that depends
    on each; ``undecidable`` gives the reason for each rule that no program
    decides. ``message_types`` returns the types of the messages that show a
    rule, and ``levels_by_type`` the level from which on every run has such messages.
    """
    findings_by_rule: dict[str, list[tuple[Finding, str]]] = {}
    for finding, text in audit_result.findings:
        findings_by_rule.setdefault(finding.rule, []).append((finding, text))
    results = []
    for rule in all_rules().values():
        complaints = _observations_from_findings(findings_by_rule.get(rule.id, []))
        # What a validator has to refuse is the fault of the peer that sent it.
        is_concerned = rule.role in roles or (rule.role == "validator" and complaints)
        if not is_concerned or (rule.keyword == "MAY" and rule.id not in findings_by_rule):
            continue
        types = message_types(rule) if rule.kind in ("schema", "sequence") else ()
        if rule.id in tried_rules:
            required_level = tried_rules[rule.id]
        else:
            required_level = _find_required_level(rule, types, levels_by_type)
        observations = [*evidence.observations.get(rule.id, []), *complaints]
        if observations:
            result = _result_from_observations(rule, observations, required_level)
        else:
            is_tried = rule.id in tried_rules
            result = _result_from_messages(
                rule, types, required_level, audit_result.type_counts, undecidable or {}, is_tried=is_tried
            )
        results.append(result)
    return results


def _observations_from_findings(findings: list[tuple[Finding, str]]) -> list[_Observation]:
    return [
        _Observation(verdict, f"{finding.message} {text}".strip())
        for finding, text in findings
        if (verdict := _VERDICTS_BY_SEVERITY.get(_grade_finding(finding))) is not None
    ]


def _grade_finding(finding: Finding) -> str:
    """
    Return the severity of a finding for a claim.

    OUT-001 §4.3.3: a position counts characters. A validator only notes another
    unit, so that a reader is not troubled by it (C-44); a claim has to be true.
    """
    return "error" if finding.rule == "OUT-001" and finding.severity == "info" else finding.severity


def _result_from_observations(rule: Rule, observations: list[_Observation], required_level: Level | None) -> RuleResult:
    """Return the worst verdict that was observed, with what was observed of it."""
    for verdict in ("failed", "warning"):
        chosen = [observation for observation in observations if observation.verdict == verdict]
        if chosen:
            advice = next((observation.advice for observation in chosen if observation.advice), "")
            return RuleResult(
                rule.id, verdict, _format_evidence(chosen), advice or _build_default_advice(rule), required_level
            )
    passed = [observation for observation in observations if observation.verdict == "passed"]
    if passed:
        return RuleResult(rule.id, "passed", _format_evidence(passed), "", required_level)
    not_shown = [observation for observation in observations if observation.verdict == "not shown"]
    if not_shown:
        advice = not_shown[0].advice or _build_default_advice(rule)
        return RuleResult(rule.id, "not shown", _format_evidence(not_shown), advice, required_level)
    return RuleResult(rule.id, "not applicable", _format_evidence(observations))


def _result_from_messages(
    rule: Rule,
    types: tuple[str, ...],
    required_level: Level | None,
    type_counts: Mapping[str, int],
    undecidable: Mapping[str, str],
    *,
    is_tried: bool,
) -> RuleResult:
    """Return the verdict for a rule that nothing was observed about: the messages that show it, if any, kept it."""
    count = sum(type_counts.get(type_name, 0) for type_name in types)
    if count:
        messages = "1 message" if count == 1 else f"{count} messages"
        return RuleResult(rule.id, "passed", (f"Kept in {messages}: {', '.join(types)}.",), "", required_level)
    if types or is_tried:
        reason = f"No {' or '.join(types)} was seen." if types else "It was not brought about."
        return RuleResult(rule.id, "not shown", (reason,), _build_default_advice(rule), required_level)
    return RuleResult(rule.id, "not applicable", (undecidable.get(rule.id, "No run of a peer shows it."),))


def _find_required_level(rule: Rule, types: tuple[str, ...], levels_by_type: Mapping[str, Level]) -> Level | None:
    """Return the level that depends on a rule the audit judges: one whose every session should show it."""
    if rule.keyword != "MUST" or not types or not all(type_name in levels_by_type for type_name in types):
        return None
    highest: Level = max(levels_by_type[type_name] for type_name in types)
    return max(highest, rule.level)


def _format_evidence(observations: list[_Observation]) -> tuple[str, ...]:
    texts = [*dict.fromkeys(observation.text for observation in observations)]
    omitted_count = len(texts) - _MAX_EXCERPTS
    if omitted_count > 0:
        return (*texts[:_MAX_EXCERPTS], f"And {omitted_count} more.")
    return tuple(texts)


def _build_default_advice(rule: Rule) -> str:
    return f"{rule.statement} aaep rules {rule.id} says more."


def compute_granted_level(results: Iterable[RuleResult]) -> int:
    """
    Return the highest level that no result rules out; 0 for none.

    LVL-002: levels are cumulative. A failed rule rules out its own level and all
    above, or every level if the rule always holds (C-40).
    """
    granted_level = 3
    for result in results:
        rule = all_rules()[result.rule]
        if result.verdict == "failed" and (rule.keyword != "SHOULD" or result.required_level is not None):
            granted_level = min(granted_level, 0 if rule.always else rule.level - 1)
        elif result.verdict == "not shown" and result.required_level is not None:
            granted_level = min(granted_level, result.required_level - 1)
    return granted_level
