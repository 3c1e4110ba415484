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
from ..transports.base import type_of
from . import Result, Verdict
from .scenario import Level

__all__ = ["Judged", "Ledger", "Line", "excerpt", "granted", "judge", "subject"]

_MOST: Final = 5  # excerpts kept for a rule
_LONG: Final = 400  # characters of an excerpt
_USUAL: Final = ("@context", "aaep_version", "producer", "localization_hints", "verbosity", "urgency")


class Line(msgspec.Struct):
    """
    A message of the run. ``out``: the producer said it. ``true``: if we said it, it was meant to count.

    A message of ours that was wrong on purpose is no part of what the audit sees.
    """

    at: str
    via: str
    raw: bytes
    out: bool
    true: bool = True
    main: bool = False  # heard by the reader that was there throughout


class _Note(msgspec.Struct):
    verdict: Verdict
    text: str
    advice: str = ""


class Ledger:
    """What scenarios have written down, by rule."""

    def __init__(self) -> None:
        self.notes: dict[str, list[_Note]] = {}
        self.remarks: list[str] = []  # why something could not be tried

    def show(self, rule: str, text: str) -> None:
        """The peer was put to it and did what the rule asks."""
        self._note(rule, _Note("passed", text))

    def fail(self, rule: str, text: str, advice: str = "", *, firm: bool = False) -> None:
        """
        It was put to it and did not; for a SHOULD that is a warning, unless a level makes a ``firm`` duty of it.

        A reading that is lenient with other people's recordings does not apply: this was seen to happen.
        """
        soft = all_rules()[rule].keyword == "SHOULD" and not firm
        self._note(rule, _Note("warning" if soft else "failed", text, advice))

    def exempt(self, rule: str, text: str) -> None:
        """The rule says nothing about this peer."""
        self._note(rule, _Note("not applicable", text))

    def decide(
        self, rule: str, kept: object, text: str, otherwise: str, advice: str = "", *, firm: bool = False
    ) -> bool:
        """One or the other."""
        if kept:
            self.show(rule, text)
        else:
            self.fail(rule, otherwise, advice, firm=firm)
        return bool(kept)

    def remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)

    def _note(self, rule: str, note: _Note) -> None:
        kept = self.notes.setdefault(rule, [])
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
        told = {name: value for name, value in message.items() if name not in _USUAL}
        again = msgspec.json.encode({**told, **message}).decode(errors="replace")
        text = again if again.count(":") == text.count(":") else text  # a name that is there twice is shown twice
    return text if len(text) <= _LONG else text[:_LONG] + "…"


# -- what a rule is about ---------------------------------------------------------------------

_SECTIONS: Final = {
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
_FAMILIES: Final = {
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
_SCHEMA: Final = re.compile(r"(?:schema:agent\.([a-z.]+[a-z]))|(?:(subscription\.[a-z]+)\.schema)")
# What a session of each level shows; without it there is nothing to judge.
_TYPES: Final[Mapping[str, Level]] = {
    "session.started": 1,
    "session.completed": 1,
    "state.changed": 1,
    "tool.invoked": 1,
    "tool.completed": 1,
    "output.streaming": 1,
    "awaiting.confirmation": 2,
    "subscription.accepted": 3,
}


def subject(rule: Rule) -> tuple[str, ...]:
    """The types of the messages that show whether a rule is kept; empty when no message does."""
    named = [one or other for one, other in _SCHEMA.findall(rule.section)]
    parts = [part.strip() for part in rule.section.split(",")]
    named += [_SECTIONS[part] for part in parts if part in _SECTIONS]
    if not named:
        family = rule.id.partition("-")[0]
        named = [_FAMILIES[family]] if family in _FAMILIES else []
    return tuple(dict.fromkeys(named))


# -- verdicts -----------------------------------------------------------------------------------


class Judged(msgspec.Struct):
    """What the audit says of a run."""

    findings: list[tuple[Finding, str]]  # and an excerpt
    types: dict[str, int]

    def count(self, raw: bytes) -> None:
        """What was seen, by its type."""
        kind = type_of(raw).removeprefix("aaep:agent.")
        self.types[kind] = self.types.get(kind, 0) + 1


def audited(lines: Iterable[Line], *, strict: bool) -> Judged:
    """Judge every message of a run in the order it was seen."""
    whole = Audit(attend_registry(), whole=True, strict=strict)
    partial = Audit(attend_registry(), whole=False, strict=False)
    judged = Judged([], {})
    for line in lines:
        if not line.out and not line.true:
            continue
        for audit in (whole, partial):
            if audit is whole and not line.main and not _reply(line):
                continue
            if audit is partial and line.main and not _reply(line):
                continue
            found = audit.feed(line.raw, line.at, line.via, "out" if line.out else "in")
            if line.out:  # of what we said ourselves nothing is the peer's fault
                judged.findings += ((one, excerpt(line.raw)) for one in found if audit is whole or _by_itself(one))
        if line.out:
            judged.count(line.raw)
    judged.findings += ((one, "") for one in whole.finish())
    return judged


def _by_itself(finding: Finding) -> bool:
    """
    Whether it holds for a reader that was not there throughout.

    Filters, a late arrival and a lost connection leave a session full of holes,
    of which nobody is guilty; each message, and the handshake, are still judged.
    """
    known = all_rules().get(finding.rule)
    return known is not None and (known.kind == "schema" or finding.rule.startswith("SUB-"))


def _reply(line: Line) -> bool:
    return not line.out and b'.reply"' in line.raw


def judge(
    judged: Judged,
    ledger: Ledger,
    *,
    live: Mapping[str, Level | None],
    roles: Collection[str] = ("producer", "both", "transport"),
    undecidable: Mapping[str, str] | None = None,
    about: Callable[[Rule], tuple[str, ...]] = subject,
    shown: Mapping[str, Level] = _TYPES,
) -> list[Result]:
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
        complaints = _complaints(found.get(rule.id, []))
        # What a validator refuses is the fault of who sent it.
        concerned = rule.role in roles or (rule.role == "validator" and complaints)
        if not concerned or (rule.keyword == "MAY" and rule.id not in found):
            continue
        types = about(rule) if rule.kind in ("schema", "sequence") else ()
        needed = live.get(rule.id) if rule.id in live else _needed(rule, types, shown)
        notes = [*ledger.notes.get(rule.id, []), *complaints]
        results.append(_result(rule, notes, types, needed, judged, live, undecidable))
    return results


def _complaints(found: list[tuple[Finding, str]]) -> list[_Note]:
    """What the audit has against it."""
    grades: dict[str, Verdict] = {"error": "failed", "warning": "warning"}
    return [
        _Note(grades[finding.severity], f"{finding.message} {text}".strip())
        for finding, text in found
        if finding.severity in grades
    ]


def _result(
    rule: Rule,
    notes: list[_Note],
    types: tuple[str, ...],
    needed: Level | None,
    judged: Judged,
    live: Mapping[str, Level | None],
    undecidable: Mapping[str, str] | None,
) -> Result:
    for verdict in ("failed", "warning"):
        said = [one for one in notes if one.verdict == verdict]
        if said:
            advice = next((one.advice for one in said if one.advice), "") or _advice(rule)
            return Result(rule.id, verdict, _texts(said), advice, needed)
    passed = [one for one in notes if one.verdict == "passed"]
    if passed:
        return Result(rule.id, "passed", _texts(passed), "", needed)
    if notes:
        return Result(rule.id, "not applicable", _texts(notes))
    seen = sum(judged.types.get(one, 0) for one in types)
    if types and seen:
        many = "1 message" if seen == 1 else f"{seen} messages"
        return Result(rule.id, "passed", (f"Kept in {many}: {', '.join(types)}.",), "", needed)
    if types or rule.id in live:
        why = f"No {' or '.join(types)} was seen." if types else "It was not brought about."
        return Result(rule.id, "not shown", (why,), _advice(rule), needed)
    return Result(rule.id, "not applicable", ((undecidable or {}).get(rule.id, "No run of a peer shows it."),))


def _needed(rule: Rule, types: tuple[str, ...], shown: Mapping[str, Level]) -> Level | None:
    """Whether a level waits for a rule that the audit judges: if every session of that level should show it."""
    if rule.keyword != "MUST" or not types or not all(one in shown for one in types):
        return None
    highest: Level = max(shown[one] for one in types)
    return max(highest, rule.level)


def _texts(notes: list[_Note]) -> tuple[str, ...]:
    texts = [*dict.fromkeys(one.text for one in notes)]
    more = len(texts) - _MOST
    return (*texts[:_MOST], f"And {more} more.") if more > 0 else tuple(texts)


def _advice(rule: Rule) -> str:
    return f"{rule.statement} aaep rules {rule.id} says more."


def granted(results: Iterable[Result]) -> int:
    """
    The highest level that nothing stands against; 0 for none.

    LVL-002: levels are cumulative. What is failed counts from its own level on,
    or from the first if it is demanded at every level (C-40).
    """
    held = 3
    for result in results:
        rule = all_rules()[result.rule]
        if result.verdict == "failed" and (rule.keyword != "SHOULD" or result.required is not None):
            held = min(held, 0 if rule.always else rule.level - 1)
        elif result.verdict == "not shown" and result.required is not None:
            held = min(held, result.required - 1)
    return held
