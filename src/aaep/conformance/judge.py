"""
From what was seen to a verdict for each rule.

The messages of a run are judged by :class:`~aaep.protocol.audit.Audit`, whole for the
reader that was there from the first to the last, and for the others as far as
they go. A scenario adds what no recording shows: what was done to the peer, and
what did or did not come of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import msgspec

from ..protocol.attend_extension import attend_registry
from ..protocol.audit import Audit, Finding
from ..protocol.catalogue import Rule, all_rules
from ..transports.base import read_message_type
from . import RuleResult, Verdict
from .scenario import Level

__all__ = [
    "AuditResult",
    "EvidenceLog",
    "RecordedMessage",
    "compute_granted_level",
    "excerpt",
    "find_message_types",
    "judge_rules",
]

_MAX_EXCERPTS: Final = 5  # excerpts kept for a rule
_MAX_EXCERPT_CHARS: Final = 400  # characters of an excerpt
_COMMON_MEMBERS: Final = ("@context", "aaep_version", "producer", "localization_hints", "verbosity", "urgency")


class RecordedMessage(msgspec.Struct):
    """
    A message of the run. ``out``: the producer said it. ``true``: if we said it, it was meant to count.

    A message of ours that was wrong on purpose is no part of what the audit sees.
    """

    at: str
    via: str
    raw: bytes
    is_from_producer: bool
    is_audited: bool = True
    is_main: bool = False  # heard by the reader that was there throughout


class _Observation(msgspec.Struct):
    verdict: Verdict
    text: str
    advice: str = ""


class EvidenceLog:
    """What scenarios have written down, by rule."""

    def __init__(self) -> None:
        self.observations: dict[str, list[_Observation]] = {}
        self.remarks: list[str] = []  # why something could not be tried

    def record_pass(self, rule: str, text: str) -> None:
        """The peer was put to it and did what the rule asks."""
        self._add(rule, _Observation("passed", text))

    def record_failure(self, rule: str, text: str, advice: str = "", *, mandatory: bool = False) -> None:
        """
        It was put to it and did not; for a SHOULD that is a warning, unless a level makes a ``firm`` duty of it.

        A reading that is lenient with other people's recordings does not apply: this was seen to happen.
        """
        soft = all_rules()[rule].keyword == "SHOULD" and not mandatory
        self._add(rule, _Observation("warning" if soft else "failed", text, advice))

    def record_not_applicable(self, rule: str, text: str) -> None:
        """The rule says nothing about this peer."""
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
        """One or the other."""
        if condition:
            self.record_pass(rule, success_text)
        else:
            self.record_failure(rule, failure_text, advice, mandatory=mandatory)
        return bool(condition)

    def add_remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)

    def _add(self, rule: str, note: _Observation) -> None:
        kept = self.observations.setdefault(rule, [])
        if note.text not in (one.text for one in kept):
            kept.append(note)


def excerpt(raw: bytes | Mapping[str, Any]) -> str:
    """As much of a message as a person needs to find it again; what every message has comes last, and is cut first."""
    text = raw.decode(errors="replace") if isinstance(raw, bytes) else msgspec.json.encode(raw).decode()
    try:
        message = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        message = None
    if isinstance(message, dict):
        told = {name: value for name, value in message.items() if name not in _COMMON_MEMBERS}
        again = msgspec.json.encode({**told, **message}).decode(errors="replace")
        text = again if again.count(":") == text.count(":") else text  # a name that is there twice is shown twice
    return text if len(text) <= _MAX_EXCERPT_CHARS else text[:_MAX_EXCERPT_CHARS] + "…"


# -- what a rule is about ---------------------------------------------------------------------

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
# What a session of each level shows; without it there is nothing to judge.
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
    """The types of the messages that show whether a rule is kept; empty when no message does."""
    named = [one or other for one, other in _SCHEMA_REFERENCE.findall(rule.section)]
    parts = [part.strip() for part in rule.section.split(",")]
    named += [_TYPES_BY_SECTION[part] for part in parts if part in _TYPES_BY_SECTION]
    if not named:
        family = rule.id.partition("-")[0]
        named = [_TYPES_BY_FAMILY[family]] if family in _TYPES_BY_FAMILY else []
    return tuple(dict.fromkeys(named))


# -- verdicts -----------------------------------------------------------------------------------


class AuditResult(msgspec.Struct):
    """What the audit says of a run."""

    findings: list[tuple[Finding, str]]  # and an excerpt
    type_counts: dict[str, int]

    def count_message(self, raw: bytes) -> None:
        """What was seen, by its type."""
        kind = read_message_type(raw).removeprefix("aaep:agent.")
        self.type_counts[kind] = self.type_counts.get(kind, 0) + 1


def audit_messages(lines: Iterable[RecordedMessage], *, strict: bool) -> AuditResult:
    """Judge every message of a run in the order it was seen."""
    whole = Audit(attend_registry(), whole=True, strict=strict)
    partial = Audit(attend_registry(), whole=False, strict=False)
    judged = AuditResult([], {})
    for line in lines:
        if not line.is_from_producer and not line.is_audited:
            continue
        for audit in (whole, partial):
            if audit is whole and not line.is_main and not _is_reply(line):
                continue
            if audit is partial and line.is_main and not _is_reply(line):
                continue
            found = audit.feed(line.raw, line.at, line.via, "out" if line.is_from_producer else "in")
            if line.is_from_producer:  # of what we said ourselves nothing is the peer's fault
                judged.findings += (
                    (one, excerpt(line.raw)) for one in found if audit is whole or _is_session_independent(one)
                )
        if line.is_from_producer:
            judged.count_message(line.raw)
    judged.findings += ((one, "") for one in whole.finish())
    return judged


def _is_session_independent(finding: Finding) -> bool:
    """
    Whether it holds for a reader that was not there throughout.

    Filters, a late arrival and a lost connection leave a session full of holes,
    of which nobody is guilty; each message, and the handshake, are still judged.
    """
    known = all_rules().get(finding.rule)
    return known is not None and (known.kind == "schema" or finding.rule.startswith("SUB-"))


def _is_reply(line: RecordedMessage) -> bool:
    return not line.is_from_producer and b'.reply"' in line.raw


def judge_rules(
    judged: AuditResult,
    ledger: EvidenceLog,
    *,
    tried_rules: Mapping[str, Level | None],
    roles: Collection[str] = ("producer", "both", "transport"),
    undecidable: Mapping[str, str] | None = None,
    message_types: Callable[[Rule], tuple[str, ...]] = find_message_types,
    levels_by_type: Mapping[str, Level] = _LEVELS_BY_TYPE,
) -> list[RuleResult]:
    """
    The verdict for every rule of some roles.

    ``live`` are the rules that scenarios try, with the level that waits for
    them; ``undecidable`` says of the others why no program decides them. ``about``
    says which messages show a rule, and ``shown`` which of them every run of a level has.
    """
    found: dict[str, list[tuple[Finding, str]]] = {}
    for finding, text in judged.findings:
        found.setdefault(finding.rule, []).append((finding, text))
    results = []
    for rule in all_rules().values():
        complaints = _observations_from_findings(found.get(rule.id, []))
        # What a validator refuses is the fault of who sent it.
        concerned = rule.role in roles or (rule.role == "validator" and complaints)
        if not concerned or (rule.keyword == "MAY" and rule.id not in found):
            continue
        types = message_types(rule) if rule.kind in ("schema", "sequence") else ()
        needed = (
            tried_rules.get(rule.id) if rule.id in tried_rules else _find_required_level(rule, types, levels_by_type)
        )
        notes = [*ledger.observations.get(rule.id, []), *complaints]
        results.append(_build_result(rule, notes, types, needed, judged, tried_rules, undecidable))
    return results


def _observations_from_findings(found: list[tuple[Finding, str]]) -> list[_Observation]:
    """What the audit has against it."""
    grades: dict[str, Verdict] = {"error": "failed", "warning": "warning"}
    return [
        _Observation(grades[finding.severity], f"{finding.message} {text}".strip())
        for finding, text in found
        if finding.severity in grades
    ]


def _build_result(
    rule: Rule,
    notes: list[_Observation],
    types: tuple[str, ...],
    needed: Level | None,
    judged: AuditResult,
    live: Mapping[str, Level | None],
    undecidable: Mapping[str, str] | None,
) -> RuleResult:
    for verdict in ("failed", "warning"):
        said = [one for one in notes if one.verdict == verdict]
        if said:
            advice = next((one.advice for one in said if one.advice), "") or _build_default_advice(rule)
            return RuleResult(rule.id, verdict, _format_evidence(said), advice, needed)
    passed = [one for one in notes if one.verdict == "passed"]
    if passed:
        return RuleResult(rule.id, "passed", _format_evidence(passed), "", needed)
    if notes:
        return RuleResult(rule.id, "not applicable", _format_evidence(notes))
    seen = sum(judged.type_counts.get(one, 0) for one in types)
    if types and seen:
        many = "1 message" if seen == 1 else f"{seen} messages"
        return RuleResult(rule.id, "passed", (f"Kept in {many}: {', '.join(types)}.",), "", needed)
    if types or rule.id in live:
        why = f"No {' or '.join(types)} was seen." if types else "It was not brought about."
        return RuleResult(rule.id, "not shown", (why,), _build_default_advice(rule), needed)
    return RuleResult(rule.id, "not applicable", ((undecidable or {}).get(rule.id, "No run of a peer shows it."),))


def _find_required_level(rule: Rule, types: tuple[str, ...], shown: Mapping[str, Level]) -> Level | None:
    """Whether a level waits for a rule that the audit judges: if every session of that level should show it."""
    if rule.keyword != "MUST" or not types or not all(one in shown for one in types):
        return None
    highest: Level = max(shown[one] for one in types)
    return max(highest, rule.level)


def _format_evidence(notes: list[_Observation]) -> tuple[str, ...]:
    texts = [*dict.fromkeys(one.text for one in notes)]
    more = len(texts) - _MAX_EXCERPTS
    return (*texts[:_MAX_EXCERPTS], f"And {more} more.") if more > 0 else tuple(texts)


def _build_default_advice(rule: Rule) -> str:
    return f"{rule.statement} aaep rules {rule.id} says more."


def compute_granted_level(results: Iterable[RuleResult]) -> int:
    """
    The highest level that nothing stands against; 0 for none.

    LVL-002: levels are cumulative. What is failed counts from its own level on,
    or from the first if it is demanded at every level (C-40).
    """
    held = 3
    for result in results:
        rule = all_rules()[result.rule]
        if result.verdict == "failed" and (rule.keyword != "SHOULD" or result.required_level is not None):
            held = min(held, 0 if rule.always else rule.level - 1)
        elif result.verdict == "not shown" and result.required_level is not None:
            held = min(held, result.required_level - 1)
    return held
