"""Rules that no program can decide by talking to a peer, and why. ``aaep rules --coverage`` prints the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["UNDECIDABLE"]

_INSIDE = "It is about what happens inside the peer, which nobody outside sees."
_MEANING = "It is about what a text or a value means, which a program cannot judge."
_DUTY = "It is a duty of people, not of programs."
_DEPLOYED = "It is about how the peer is deployed, not about what it says."
_DOCUMENT = "It is about documents and versions of the specification or of an extension."
_OPTION = "It is a right, not a duty, or needs a peer that uses an option."
_TRANSPORT = "It is a property of the transport; a run over it shows only that it works."

_REASONS: Final = {
    _INSIDE: """
        BP-005 BP-006 BP-007 BP-009 CONF-013 CONF-019 CONF-036 HITL-012 SEC-010 SEC-031 SEC-032 TOOL-001
        TR-018
    """,
    _MEANING: """
        ENV-033 EVT-013 I18N-005 I18N-036 I18N-044 LIM-006 SEC-038 SEC-040 TERM-009 TOOL-015 TOOL-017
    """,
    _DUTY: """
        EXT-013 EXT-048 I18N-045 I18N-050 LVL-004 LVL-067 LVL-068 LVL-070 LVL-071 LVL-072 LVL-074 LVL-075
        LVL-076 SEC-001 SEC-039 SEC-041 SEC-042 SEC-043 TERM-002 TERM-022 VAL-011 VER-034
    """,
    _DEPLOYED: """
        ENV-034 SEC-002 SEC-003 SEC-004 SEC-005 SEC-006 SEC-013 SEC-017 SEC-019 SEC-027 SEC-033 SEC-034
        SEC-035 SEC-036 TR-024 TR-026 TR-027 TR-028 TR-030 TR-036 TR-037
    """,
    _DOCUMENT: """
        EXT-008 EXT-015 EXT-028 EXT-029 EXT-033 EXT-036 EXT-037 EXT-040 EXT-044 EXT-045 EXT-047 I18N-001
        LVL-002 LVL-025 LVL-044 LVL-063 LVL-064 LVL-065 LVL-069 TERM-004 TERM-025 TERM-026 TERM-033 VER-001
        VER-002 VER-003 VER-004 VER-012 VER-013 VER-014 VER-016 VER-017 VER-018 VER-019 VER-020 VER-022
        VER-030 VER-032
    """,
    _OPTION: """
        ENV-036
        CAP-049 EXT-019 HITL-025 I18N-018 I18N-020 I18N-024 MAN-016 MAN-017 SSE-020 SUB-050 SUB-051
        SUB-052 SUB-053 SUB-054 SUB-055 TERM-024 TR-019
    """,
    _TRANSPORT: """
        LIM-008 SUB-003 TERM-027 TR-001 TR-004 TR-005 TR-006 TR-011 TR-017 TR-020 TR-021 TR-023 UDS-009
        WS-002
    """,
}
UNDECIDABLE: Final[Mapping[str, str]] = {rule: reason for reason, listed in _REASONS.items() for rule in listed.split()}
