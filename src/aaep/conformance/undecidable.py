"""
The rules that no program can decide, each with a reason that ``aaep rules --coverage`` prints.

A rule that a scenario tries or a test checks is not listed, even if no run of
a foreign peer shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["UNDECIDABLE_RULES"]

_OUTSIDE_PROTOCOL = "It is about what a peer does beside the protocol, which no message shows."
_MEANING = "It is about what a text or a value means, which a program cannot judge."
_APPEARANCE = "It is about how text looks on a screen or feels on a braille display, which only a person can judge."
_HUMAN_DUTY = "It is a duty of people, not of programs."
_DEPLOYMENT = "It is about how a peer is deployed, not about what it says."
_DOCUMENT = "It is about documents and versions of the specification or of an extension."
_CONSEQUENCE = "It says what follows from other rules, and those are checked."
_IMPOSSIBLE_CASE = "It is about a case that does not arise on any transport there is."

_RULES_BY_REASON: Final = {
    _OUTSIDE_PROTOCOL: "CONF-013 CONF-061 CONF-062",
    _MEANING: """
        ENV-033 EVT-013 I18N-005 I18N-036 I18N-044 SEC-038 TERM-009 TOOL-015 TOOL-017
    """,
    _APPEARANCE: "I18N-029 I18N-030 I18N-033",
    _HUMAN_DUTY: """
        EXT-013 EXT-048 I18N-045 I18N-050 LVL-067 LVL-068 LVL-070 LVL-074 LVL-075 SEC-001 SEC-041 SEC-042
        SEC-043 TERM-002 VER-034
    """,
    _DEPLOYMENT: """
        ENV-034 SEC-002 SEC-005 SEC-019 SEC-033 TR-028 TR-030 TR-036 TR-037
    """,
    _DOCUMENT: """
        EXT-015 EXT-029 EXT-033 EXT-036 EXT-037 EXT-040 EXT-044 EXT-045 EXT-047 LVL-069 TERM-032 TERM-033
        VER-001 VER-003 VER-004 VER-005 VER-010 VER-012 VER-013 VER-014 VER-016 VER-017 VER-018 VER-019
        VER-020 VER-030 VER-032
    """,
    _CONSEQUENCE: "I18N-001 TR-001 VAL-011",
    _IMPOSSIBLE_CASE: "SUB-054 TR-011",
}
UNDECIDABLE_RULES: Final[Mapping[str, str]] = {
    rule: reason for reason, rules in _RULES_BY_REASON.items() for rule in rules.split()
}
