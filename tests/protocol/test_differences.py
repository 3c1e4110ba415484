"""The page on differences from the published schemas has every class that was found, and says what ours say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aaep.protocol.audit import explain
from aaep.protocol.catalogue import all_rules
from scripts.differential import RECORD, Difference, PublishedSchemas, collect, grade
from tests import vectors

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")
SECTIONS = {"accepted": "## We refuse what", "refused": "## We accept what"}
CONFIRMATION = "agent.awaiting.confirmation"
TOOL = "agent.tool.completed"
CORE = "https://aaep-protocol.org/context/v1"
NEWER = "1.7.9"


class Row(NamedTuple):
    """A row of the page: what the published schemas do, what ours do, and the rules of it."""

    message: str
    published: str
    default: str
    strict: str
    rules: frozenset[str]


def read_rows() -> list[Row]:
    rows = []
    for published, title in SECTIONS.items():
        section = PAGE[PAGE.index(title) :].split("\n## ")[0]
        for line in [line for line in section.splitlines() if line.startswith("|")][2:]:
            message, default, strict, _, sources = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            rows.append(Row(message, published, default, strict, frozenset(sources.split(", "))))
    return rows


ROWS = read_rows()
RECORDED = [(Difference(*one["class"]), one["message"]) for one in json.loads(RECORD.read_text("utf-8"))]

# By the beginning of a row: messages that show it, beside those of the record.
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "an unknown member at the top level": [{"base": TOOL, "set": {"/colour": "red"}}],
    "the same, if `aaep_version` is a newer": [{"base": TOOL, "set": {"/colour": "red", "/aaep_version": NEWER}}],
    "raw amounts": [{"base": TOOL, "set": {"/amount_raw": 5}}],
    "`@id`": [{"base": TOOL, "set": {"/@vocab": "x"}}],
    "another `@` member": [{"base": TOOL, "set": {"/@type": "x"}}],
    "a timestamp with lower-case": [{"base": TOOL, "set": {"/timestamp": "2026-05-24t14:22:11.342z"}}],
    "a timestamp that is no date": [{"base": TOOL, "set": {"/timestamp": "May 24, 2026"}}],
    "a timestamp without a fraction": [{"base": TOOL, "set": {"/timestamp": "2026-05-24T14:22:11Z"}}],
    "a timestamp that looks": [{"base": TOOL, "set": {"/timestamp": "0001-01-01T00:00:00.000Z"}}],
    "an id or token": [{"base": TOOL, "set": {"/event_id": "evt_1\n"}}],
    '`""` for': [{"base": TOOL, "set": {"/producer/agent_name": ""}}],
    "an unpublished": [{"base": TOOL, "set": {"/aaep_version": NEWER}}],
    "`irreversible: true` without": [
        {
            "base": CONFIRMATION,
            "set": {"/irreversible": True, "/default_decision": "accept"},
            "remove": ["/risk_level"],
        }
    ],
    "low risk, irreversible": [
        {"base": CONFIRMATION, "set": {"/irreversible": True, "/risk_level": "low", "/default_decision": "accept"}}
    ],
    "`irreversible` and `reversibility`": [
        {"base": CONFIRMATION, "set": {"/irreversible": True, "/reversibility": "reversible"}}
    ],
    "`step` greater": [{"base": "agent.progress.updated", "set": {"/progress": {"step": 6, "total_steps": 5}}}],
    "duplicate members": [{"text": '{"type":"x","type":"x"}'}, {"text": '{"type":"x","n":NaN}'}],
    "half a surrogate": [{"text": '{"type":"\\ud83d"}'}],
    "a URI that": [
        {"base": TOOL, "set": {"/producer/manifest_uri": uri}}
        for uri in ("https://[::1", "https://a/%zz", "https://a/\u0000", "https://a/<b>", "https://a\\b/", "https://é/")
    ],
    "a language tag": [{"base": TOOL, "set": {"/localization_hints/primary_language": "en-toolonglanguage"}}],
    "an event over the size": [
        {"base": CONFIRMATION, "set": {"/extra_context": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}}
    ],
    "a direction override in a prompt": [{"base": CONFIRMATION, "set": {"/action": "Pay \u202eeve\u202c."}}],
    "`AAEP:` in capitals": [
        {"base": TOOL, "set": {"/type": "AAEP:agent.tool.completed", "/@context": [CORE, "https://x.example/v1"]}}
    ],
    "`content_type` with parameters": [
        {"base": "agent.output.streaming", "set": {"/content_type": "text/plain; charset=utf-8"}}
    ],
    "durations and counts": [{"base": TOOL, "set": {"/duration_ms": -1}}],
    "an enumeration value": [
        {"base": TOOL, "set": {"/status": "partly", "/aaep_version": NEWER}},
        {"base": TOOL, "set": {"/producer/colour": "red", "/aaep_version": NEWER}},
    ],
}


def classes_of(row: Row) -> list[Difference]:
    return [
        difference
        for difference, _ in RECORDED
        if difference[:3] == (row.published, row.default, row.strict) and difference.rule in row.rules
    ]


def judge(raw: bytes) -> tuple[str, str]:
    """The worst that is said of a message, by default and strictly."""
    severities = [{one.severity for one in explain(raw, strict=strict)} for strict in (False, True)]
    default, strict = (next((one for one in ("error", "warning") if one in found), "accepted") for found in severities)
    return default, strict


@pytest.mark.parametrize(
    ("difference", "message"), RECORDED, ids=lambda one: " ".join(one) if type(one) is not dict else ""
)
def test_a_class_of_differences_is_judged_as_it_was_recorded(difference: Difference, message: dict[str, Any]) -> None:
    raw = json.dumps(message).encode()
    assert grade(explain(raw, strict=True), difference.rule) == difference.strict
    assert grade(explain(raw), difference.rule) == difference.default


@pytest.mark.parametrize("difference", [difference for difference, _ in RECORDED], ids=" ".join)
def test_every_class_of_differences_has_a_row(difference: Difference) -> None:
    assert any(difference in classes_of(row) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.message)
def test_every_row_is_shown_by_a_message(row: Row) -> None:
    examples = [example for begin, some in EXAMPLES.items() if row.message.startswith(begin) for example in some]
    assert examples or classes_of(row)
    for example in examples:
        assert judge(vectors.message(example)) == (row.default, row.strict)


def test_every_example_has_a_row_and_every_rule_is_one() -> None:
    for begin in EXAMPLES:
        assert sum(row.message.startswith(begin) for row in ROWS) == 1, begin
    rules = {source for row in ROWS for source in row.rules if not source.startswith(("C-", "CF-"))}
    assert rules <= {*all_rules()}


@pytest.mark.parametrize(("member", "value"), [("/progress/percent", 150), ("/progress/percent", -1)])
def test_bounds_that_the_text_sets_are_errors(member: str, value: int) -> None:
    assert judge(vectors.message({"base": "agent.progress.updated", "set": {member: value}})) == ("error", "error")


def test_differences_from_other_schemas_are_found() -> None:
    """Beside our own schemas, which demand what a schema can, only the checks in code are left."""
    found = {one.rule for one in collect(PublishedSchemas(Path(__file__).parents[2] / "schemas"), 150)}
    assert "I18N-002" in found and "ENV-061" not in found


@pytest.mark.parametrize("tag", ["sgn-BE-FR", "i-default", "en-GB-oed"])
def test_grandfathered_language_tags_are_well_formed(tag: str) -> None:
    message = {"base": TOOL, "set": {"/localization_hints/primary_language": tag}}
    assert judge(vectors.message(message)) == ("accepted", "accepted")
