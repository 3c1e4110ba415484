"""
An extension and a profile, as another package would declare them.

Install a package with these lines in its ``pyproject.toml`` and every aaep
command knows both, without a line of configuration::

    [project.entry-points."aaep.extensions"]
    medical = "medical_extension:MEDICAL"

    [project.entry-points."aaep.profiles"]
    medical = "medical_extension:PROFILE"

The extension says what an event may carry. The profile says what a hospital
asks beyond the protocol: whoever reads patient data says so. Run this file to
see what it declares and how two events fare.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aaep.errors import Violation
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.audit import Audit
from aaep.protocol.events import ToolInvoked
from aaep.protocol.extensions import Extension, Profile, Registry

Text = Annotated[str, Meta(min_length=1)]


class Medical(msgspec.Struct, frozen=True, kw_only=True):
    """What ``extensions.medical`` holds on an event."""

    patient_data_accessed: bool
    phi_categories: list[str] | UnsetType = UNSET


class RecordConsulted(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of ``medical:record.consulted``."""

    summary_normal: Text
    record_kind: Text


MEDICAL = Extension(
    namespace="https://example.org/aaep/medical/v1",
    context="https://example.org/aaep/medical/v1/context",
    prefix="medical",
    fields=Medical,
    events={"medical:record.consulted": RecordConsulted},
    urgencies={"medical:record.consulted": "normal"},
    description="Says when an agent looks at the data of a patient.",
)

READERS = ("read_record", "search_records")  # the tools of this deployment that see patient data


def declared(message: Any) -> Iterator[Violation]:
    """MEDICAL-001, MEDICAL-002: a tool that reads patient data says that it does, and what kinds."""
    if not isinstance(message, ToolInvoked) or message.tool not in READERS:
        return
    extensions = message.extensions if message.extensions is not UNSET else {}
    about = extensions.get("medical")
    if about is None or about.get("patient_data_accessed") is not True:
        text = f"{message.tool} reads patient data. Set patient_data_accessed to true."
        yield Violation("MEDICAL-001", text, "/extensions")
    elif not about.get("phi_categories"):
        text = "Name the categories of data in phi_categories."
        yield Violation("MEDICAL-002", text, "/extensions/medical", severity="warning")


PROFILE = Profile(
    uri="https://example.org/aaep/medical/profile/v1",
    version="1.0.0",
    prefix="MEDICAL",
    level=2,
    extensions=(MEDICAL.namespace,),
    statements={
        "MEDICAL-001": "A tool.invoked that reads patient data says so in extensions.medical.",
        "MEDICAL-002": "It names the categories of data it reads.",
    },
    checks=(declared,),
)


def registry() -> Registry:
    """What this example knows. A program would call ``aaep.protocol.extensions.installed`` instead."""
    known = Registry([ATTEND, MEDICAL])
    known.add_profile(PROFILE)
    return known


def reading(**extensions: object) -> bytes:
    """A tool.invoked that reads a record."""
    event = {
        "@context": ["https://aaep-protocol.org/context/v1", MEDICAL.context],
        "aaep_version": "1.0.0",
        "type": "aaep:agent.tool.invoked",
        "event_id": "evt_00000000000000000000000000000001",
        "session_id": "sess_00000000000000000000000000000001",
        "timestamp": "2026-05-24T14:22:00.000Z",
        "producer": {"agent_id": "ward-assistant"},
        "verbosity": "normal",
        "urgency": "normal",
        "localization_hints": {"primary_language": "en-GB"},
        "tool": "read_record",
        "tool_call_id": "call_1",
        "args_summary": "record: blood tests",
        "summary_terse": "Reading a record.",
        "summary_normal": "Reading the blood tests.",
        "summary_detailed": "Reading the blood tests of this week.",
        "risk_level": "low",
        "irreversible": False,
    }
    if extensions:
        event["extensions"] = extensions
    return json.dumps(event).encode()


def main() -> None:
    known = registry()
    print(f"Extension {MEDICAL.prefix}: {MEDICAL.namespace}")
    for type_ in MEDICAL.events:
        print(f"  event type {type_}, urgency {MEDICAL.urgencies[type_]}")
    print(f"Profile {PROFILE.uri} on level {PROFILE.level}")
    for rule, statement in PROFILE.statements.items():
        print(f"  {rule}: {statement}")
    said = {"patient_data_accessed": True, "phi_categories": ["laboratory"]}
    for title, raw in (("A call that says so", reading(medical=said)), ("A call that does not", reading())):
        found = Audit(known, profiles=known.profiles.values()).feed(raw)
        mine = [finding for finding in found if finding.rule.startswith("MEDICAL-")]
        print(f"{title}: {'sound' if not mine else ''}".rstrip())
        for finding in mine:
            print(f"  {finding.severity} {finding.rule} at {finding.path}: {finding.message}")


if __name__ == "__main__":
    main()
