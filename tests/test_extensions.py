"""What others may add, and what they may not touch."""

from __future__ import annotations

import importlib.util
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aaep import extensions, wire
from aaep.attend import ATTEND
from aaep.audit import Audit
from aaep.catalogue import grade
from aaep.errors import ExtensionError, Violation
from aaep.extensions import Extension, Profile, Registry, installed
from examples import medical_extension
from examples.medical_extension import MEDICAL, PROFILE, reading, registry
from tests import vectors

EXAMPLE = Path(__file__).parent.parent / "examples" / "medical_extension.py"


class Payload(msgspec.Struct, frozen=True):
    summary_normal: str


def extension(**changes: Any) -> Extension:
    given: dict[str, Any] = {
        "namespace": "https://example.org/aaep/robot/v1",
        "context": "https://example.org/aaep/robot/v1/context",
        "prefix": "robot",
    }
    return Extension(**(given | changes))


def refusal(one: Extension, *before: Extension) -> list[str]:
    """The rules for which the registry refuses an extension."""
    known = Registry(before)
    with pytest.raises(ExtensionError) as raised:
        known.add(one)
    assert known.context(one.context) is None or one.context in {other.context for other in before}
    return [violation.rule for violation in raised.value.violations]


# -- registration ------------------------------------------------------------------


def test_a_registered_extension_is_found_by_context_and_prefix() -> None:
    known = Registry([extension()])
    assert known.context("https://example.org/aaep/robot/v1/context") == known.prefix("robot") == extension()
    assert known.prefix("medical") is None
    assert known.context("https://example.org/aaep/medical/v1/context") is None


@pytest.mark.parametrize(
    ("prefix", "rule"),
    [
        ("aaep", "EXT-022"),
        ("AAEP", "EXT-022"),
        ("xsd", "EXT-023"),
        ("rdf", "EXT-023"),
        ("RDFS", "EXT-023"),
        ("@robot", "EXT-024"),
        ("Robot", "EXT-017"),
        ("r", "EXT-017"),
        ("", "EXT-017"),
        ("robot:", "EXT-017"),
        ("robot\n", "EXT-017"),
        ("r" * 33, "EXT-017"),
        ("urgency", "EXT-017"),
        ("languages", "EXT-017"),
        ("extensions", "EXT-017"),
    ],
)
def test_reserved_and_malformed_prefixes_are_refused(prefix: str, rule: str) -> None:
    assert refusal(extension(prefix=prefix)) == [rule]


@pytest.mark.parametrize("prefix", ["ro", "r" * 13, "r" * 32])
def test_an_unusual_length_is_no_reason_to_refuse(prefix: str) -> None:
    assert Registry([extension(prefix=prefix)]).prefix(prefix) is not None


def test_a_namespace_without_a_version_is_no_reason_to_refuse() -> None:
    assert Registry([extension(namespace="https://example.org/robot")]).prefix("robot") is not None


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"namespace": "robot/v1"}, "EXT-014"),
        ({"namespace": "https://aaep-protocol.org/robot/v1"}, "EXT-012"),
        ({"context": "robot"}, "EXT-014"),
        ({"context": "https://aaep-protocol.org/context/v1"}, "EXT-014"),
    ],
)
def test_namespaces_of_others_are_refused(changes: dict[str, Any], rule: str) -> None:
    assert refusal(extension(**changes)) == [rule]


def test_two_families_cannot_share_a_prefix() -> None:
    other = extension(namespace="https://example.net/robot/v1", context="https://example.net/robot/v1/context")
    assert refusal(other, extension()) == ["EXT-019"]


def test_versions_of_one_family_share_a_prefix() -> None:
    """CF-062: the newest answers for the prefix, each for its own context."""
    second = extension(
        namespace="https://example.org/aaep/robot/v2", context="https://example.org/aaep/robot/v2/context"
    )
    known = Registry([extension(), second])
    assert known.prefix("robot") == second
    assert known.context(extension().context) == extension()
    assert known.declared("robot", [extension().context]) == (extension(), False)
    assert known.declared("robot", [second.context]) == (second, False)


def test_core_types_are_refused() -> None:
    type_ = "aaep:agent.state.changed"
    rules = refusal(extension(events={type_: Payload}, urgencies={type_: "normal"}))
    assert set(rules) == {"EXT-012"}


def test_types_outside_the_prefix_are_refused() -> None:
    type_ = "medical:record.consulted"
    assert refusal(extension(events={type_: Payload}, urgencies={type_: "normal"})) == ["EXT-012"]


@pytest.mark.parametrize("name", ["event_id", "type", "urgency", "producer", "extensions", "@context"])
def test_a_payload_cannot_redefine_the_envelope(name: str) -> None:
    """EXT-008, ENV-059: the envelope's names keep their meaning on every event."""
    renamed = msgspec.defstruct("Payload", [("member", str)], rename={"member": name})
    type_ = "robot:arm.moved"
    assert refusal(extension(events={type_: renamed}, urgencies={type_: "normal"})) == ["ENV-059"]


def test_an_event_type_needs_an_urgency() -> None:
    """EXT-028"""
    assert refusal(extension(events={"robot:arm.moved": Payload})) == ["EXT-028"]


def test_a_refusal_says_everything_that_is_wrong() -> None:
    with pytest.raises(ExtensionError, match="EXT-014") as raised:
        Registry([extension(prefix="aaep", namespace="here")])
    assert {"EXT-022", "EXT-014"} == {violation.rule for violation in raised.value.violations}


# -- which extension an event means -------------------------------------------------


def test_a_prefix_is_only_claimed_by_a_context_on_the_event() -> None:
    """C-07: being registered is not being declared; an unknown context leaves the question open."""
    known = Registry([extension()])
    core = "https://aaep-protocol.org/context/v1"
    assert known.declared("robot", [core]) == (None, False)
    assert known.declared("robot", [core, extension().context]) == (extension(), False)
    assert known.declared("robot", [core, "https://example.org/else"]) == (None, True)
    assert known.declared("other", [core, extension().context]) == (None, False)


# -- profiles ----------------------------------------------------------------------


def profile(**changes: Any) -> Profile:
    given: dict[str, Any] = {"uri": "https://example.org/p", "version": "1.0.0", "prefix": "ROBOT", "level": 1}
    return Profile(**(given | changes))


def test_a_profile_is_kept_by_its_uri() -> None:
    known = Registry([extension()])
    one = profile(extensions=(extension().namespace,), statements={"ROBOT-001": "Arms stop."})
    known.add_profile(one)
    assert known.profiles == {"https://example.org/p": one}


@pytest.mark.parametrize("rule", ["HITL-020", "ROBOTS-001", "ROBOT", "robot-001"])
def test_a_profile_cannot_restate_a_core_rule(rule: str) -> None:
    """TERM-026: a profile only adds, under its own prefix."""
    known = Registry()
    with pytest.raises(ExtensionError, match=rule):
        known.add_profile(profile(statements={rule: "Something else."}))
    assert known.profiles == {}


def test_a_profile_needs_its_extensions() -> None:
    with pytest.raises(ExtensionError, match=r"https://example\.org/aaep/robot/v1"):
        Registry().add_profile(profile(extensions=(extension().namespace,)))


# -- entry points ------------------------------------------------------------------


class Point:
    """An entry point, as far as it is looked at."""

    name, value, group = "robot", "robot:ROBOT", "aaep.extensions"

    def __init__(self, loaded: object) -> None:
        self.loaded = loaded

    def load(self) -> object:
        return self.loaded


def test_installed_packages_are_found_by_their_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {"aaep.extensions": [Point(MEDICAL)], "aaep.profiles": [Point(PROFILE)]}
    monkeypatch.setattr(extensions, "entry_points", lambda *, group: groups[group])
    known = Registry([ATTEND])
    assert installed(known) is known
    assert known.prefix("medical") is MEDICAL
    assert known.profiles == {PROFILE.uri: PROFILE}


def test_an_installed_extension_that_breaks_the_rules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [Point(extension(prefix="aaep"))]
    monkeypatch.setattr(extensions, "entry_points", lambda *, group: points if group == "aaep.extensions" else [])
    with pytest.raises(ExtensionError, match="EXT-022"):
        installed(Registry())


def test_the_package_itself_registers_nothing() -> None:
    known = installed(Registry())
    assert known.profiles == {}
    assert known.prefix("medical") is None


# -- the example ---------------------------------------------------------------------


def test_the_example_runs_and_says_what_it_declares(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    said = capsys.readouterr().out
    for text in (MEDICAL.namespace, PROFILE.uri, "MEDICAL-001", "A call that says so: sound"):
        assert text in said
    assert "error MEDICAL-001 at /extensions" in said


def test_the_entry_point_lines_of_the_example_name_what_exists() -> None:
    text = medical_extension.__doc__ or ""
    assert '[project.entry-points."aaep.extensions"]' in text
    assert '[project.entry-points."aaep.profiles"]' in text
    for name in ("MEDICAL", "PROFILE"):
        assert f'"medical_extension:{name}"' in text
        assert hasattr(medical_extension, name)
    assert importlib.util.find_spec("examples.medical_extension") is not None


def test_the_events_of_the_example_are_sound() -> None:
    said = {"patient_data_accessed": True, "phi_categories": ["laboratory"]}
    for raw in (reading(medical=said), reading()):
        _, violations = wire.read(raw, registry())
        assert [one for one in violations if grade(one) != "info"] == []


def test_an_audit_applies_a_profile_only_when_told() -> None:
    known = registry()
    without = [finding.rule for finding in Audit(known).feed(reading())]
    with_it = [finding.rule for finding in Audit(known, profiles=[PROFILE]).feed(reading())]
    assert "MEDICAL-001" not in without
    assert with_it == [*without, "MEDICAL-001"]
    vague = Audit(known, profiles=[PROFILE]).feed(reading(medical={"patient_data_accessed": True}))
    assert [(one.severity, one.path) for one in vague if one.rule == "MEDICAL-002"] == [
        ("warning", "/extensions/medical")
    ]


def test_a_profile_sees_every_event_and_its_findings_are_graded_errors() -> None:
    seen = []

    def look(message: Any) -> Iterator[Violation]:
        seen.append(message.type)
        yield Violation("ROBOT-001", "Always.")

    audit = Audit(Registry(), profiles=[profile(checks=(look,))])
    found = audit.feed(vectors.message({"base": "agent.session.started"}))
    assert [(one.rule, one.severity) for one in found] == [("ROBOT-001", "error")]
    assert seen == ["aaep:agent.session.started"]
