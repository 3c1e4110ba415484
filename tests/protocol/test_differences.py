"""The page on differences from the published schemas says what the validator says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aaep.protocol.audit import explain
from tests import vectors

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")
SOFTENED = "a warning, an error when strict"

# The beginning of a row, what the row says of ours, a message, and the severities by default and when strict.
ROWS: list[tuple[str, str, dict[str, Any], tuple[str, str]]] = [
    ("raw amounts", SOFTENED, {"base": "agent.tool.completed", "set": {"/amount_raw": 5}}, ("warning", "error")),
    (
        "a `@` member",
        "an error when strict",
        {"base": "agent.tool.completed", "set": {"/@type": "x"}},
        ("warning", "error"),
    ),
    (
        "an unpublished `aaep_version`",
        SOFTENED,
        {"base": "agent.tool.completed", "set": {"/aaep_version": "1.7.9"}},
        ("warning", "error"),
    ),
    (
        "`allowed_replies`",
        SOFTENED,
        {"base": "agent.awaiting.confirmation", "set": {"/allowed_replies": ["accept", "reject", "maybe"]}},
        ("warning", "error"),
    ),
    (
        "`type` written as",
        SOFTENED,
        {"base": "agent.tool.completed", "set": {"/type": "https://aaep-protocol.org/vocab/v1#agent.tool.completed"}},
        ("warning", "error"),
    ),
    (
        "text or lists longer",
        SOFTENED,
        {"base": "agent.session.completed", "set": {"/summary_terse": "a" * 5000}},
        ("warning", "error"),
    ),
    (
        "an event that is likely",
        SOFTENED,
        {"base": "agent.state.changed", "remove": ["/summary_normal"]},
        ("warning", "error"),
    ),
    (
        "durations below zero",
        SOFTENED,
        {"base": "agent.tool.completed", "set": {"/duration_ms": -1}},
        ("warning", "error"),
    ),
    (
        "durations below zero",
        "are errors",
        {"base": "agent.progress.updated", "set": {"/progress/percent": 150}},
        ("error", "error"),
    ),
    (
        "a URI that",
        "an error",
        {"base": "agent.tool.completed", "set": {"/producer/manifest_uri": "https://[::1"}},
        ("error", "error"),
    ),
    (
        "a language tag",
        "an error",
        {"base": "agent.tool.completed", "set": {"/localization_hints/primary_language": "en-toolonglanguage"}},
        ("error", "error"),
    ),
    ("half a surrogate", "an error", {"text": '{"type":"\\ud83d"}'}, ("error", "error")),
    (
        "a direction override",
        "an error",
        {"base": "agent.awaiting.confirmation", "set": {"/action": "Pay \u202eeve\u202c."}},
        ("error", "error"),
    ),
]


@pytest.mark.parametrize(("row", "words", "message", "severities"), ROWS)
def test_a_row_says_what_the_validator_says(
    row: str, words: str, message: dict[str, Any], severities: tuple[str, str]
) -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {row}"))
    assert words in line
    raw = vectors.message(message)
    for strict, severity in zip((False, True), severities, strict=True):
        found = {finding.severity for finding in explain(raw, strict=strict)} - {"info"}
        assert severity in found, line
        assert severity == "error" or "error" not in found, line
