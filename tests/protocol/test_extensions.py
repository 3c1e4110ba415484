"""What others may add, and what they may not touch."""

from __future__ import annotations

import importlib.util
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aaep.errors import ExtensionError, Violation
from aaep.protocol import codec, extensions
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.audit import Audit
from aaep.protocol.catalogue import grade
from aaep.protocol.extensions import Extension, Profile, Registry, add_installed
from examples import medical_extension
from examples.medical_extension import MEDICAL, PROFILE, reading, registry
from tests import vectors

EXAMPLE = Path(__file__).parents[2] / "examples" / "medical_extension.py"


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
    assert known.declared([extension().context]) == ({"robot": extension()}, False)
    assert known.declared([second.context]) == ({"robot": second}, False)


def test_the_same_extension_twice_is_one() -> None:
    known = Registry([extension(), extension()])
    assert known.context(extension().context) == extension()


def test_a_context_belongs_to_who_declared_it_first() -> None:
    """Not even our own can be replaced."""
    other = extension(prefix="other", namespace="https://example.net/other/v1", context=ATTEND.context)
    assert refusal(other, ATTEND) == ["EXT-017"]
    second = extension(namespace="https://example.org/aaep/robot/v2")  # and the context of the first version
    assert refusal(second, extension()) == ["EXT-017"]


def test_a_namespace_has_one_prefix_and_one_shape() -> None:
    """EXT-014: whoever changes something changes the version."""
    assert refusal(extension(prefix="arm", context="https://example.org/else"), extension()) == ["EXT-014"]
    for changes in ({"fields": Payload}, {"context": "https://example.org/else"}):
        assert refusal(extension(**changes), extension()) == ["EXT-014"]
    known = Registry([ATTEND])
    with pytest.raises(ExtensionError, match="new version"):
        known.add(msgspec.structs.replace(ATTEND, fields=None))
    assert known.prefix("attend") is known.context(ATTEND.context) is ATTEND


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


@pytest.mark.parametrize(("name", "rule"), [("aaep_arm", "ENV-058"), ("@arm", "ENV-060")])
def test_a_payload_cannot_use_reserved_names(name: str, rule: str) -> None:
    """CF-128"""
    renamed = msgspec.defstruct("Payload", [("member", str)], rename={"member": name})
    type_ = "robot:arm.moved"
    assert refusal(extension(events={type_: renamed}, urgencies={type_: "normal"})) == [rule]


@pytest.mark.parametrize("shape", [dict, str, 5, {"type": "object"}])
def test_a_shape_is_a_struct(shape: Any) -> None:
    """EXT-027"""
    type_ = "robot:arm.moved"
    assert refusal(extension(events={type_: shape}, urgencies={type_: "normal"})) == ["EXT-027"]
    assert refusal(extension(fields=shape)) == refusal(extension(capabilities=shape)) == ["EXT-027"]


def test_a_declaration_of_nothing_is_refused_with_reasons() -> None:
    nothing = extension(namespace=None, prefix=None, context=None, events={"robot:arm.moved": Payload})
    assert {"EXT-014", "EXT-017", "EXT-012"} <= set(refusal(nothing, extension()))


def test_a_type_is_a_text() -> None:
    assert refusal(extension(events={5: Payload}, urgencies={5: "normal"})) == ["EXT-012"]


def test_an_event_type_needs_an_urgency() -> None:
    """EXT-028"""
    type_ = "robot:arm.moved"
    assert refusal(extension(events={type_: Payload})) == ["EXT-028"]
    for urgency in ("loud", "", 1):
        assert refusal(extension(events={type_: Payload}, urgencies={type_: urgency})) == ["EXT-028"]
    assert refusal(extension(urgencies={"aaep:agent.state.changed": "critical"})) == ["EXT-028"]


def test_a_refusal_says_everything_that_is_wrong() -> None:
    with pytest.raises(ExtensionError, match="EXT-014") as raised:
        Registry([extension(prefix="aaep", namespace="here")])
    assert {"EXT-022", "EXT-014"} == {violation.rule for violation in raised.value.violations}


# -- which extension an event means -------------------------------------------------


def test_a_prefix_is_only_claimed_by_a_context_on_the_event() -> None:
    """C-07: being registered is not being declared; an unknown context leaves the question open."""
    known = Registry([extension()])
    core = "https://aaep-protocol.org/context/v1"
    assert known.declared([core]) == ({}, False)
    assert known.declared([core, extension().context]) == ({"robot": extension()}, False)
    assert known.declared([core, "https://example.org/else"]) == ({}, True)


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


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"prefix": "ENV", "statements": {"ENV-001": "Nothing is needed."}}, "TERM-026"),
        ({"prefix": "env"}, "TERM-026"),
        ({"prefix": "EXT"}, "TERM-026"),
        ({"prefix": "NEG"}, "TERM-026"),  # whose rules were merged into others
        ({"prefix": ""}, "TERM-026"),
        ({"prefix": "ENV-001"}, "TERM-026"),
        ({"level": 9}, "TERM-026"),
        ({"level": 0}, "TERM-026"),
        ({"level": "2"}, "TERM-026"),
        ({"uri": "robots"}, "TERM-026"),
        ({"uri": None}, "TERM-026"),
    ],
)
def test_a_profile_that_does_more_than_add_cannot_be_made(changes: dict[str, Any], rule: str) -> None:
    """TERM-026: and so neither a registry nor an audit takes it."""
    with pytest.raises(ExtensionError) as raised:
        profile(**changes)
    assert [violation.rule for violation in raised.value.violations] == [rule]


def test_a_profile_is_not_replaced_by_another() -> None:
    known = Registry()
    first = profile(statements={"ROBOT-001": "Arms stop."})
    known.add_profile(first)
    known.add_profile(profile(statements={"ROBOT-001": "Arms stop."}))  # the same once more
    with pytest.raises(ExtensionError, match="such as /v2"):
        known.add_profile(profile(statements={"ROBOT-001": "Arms wave."}))
    with pytest.raises(ExtensionError, match="ROBOT is taken"):
        known.add_profile(profile(uri="https://example.net/p"))
    assert known.profiles == {first.uri: first}
    known.add_profile(profile(uri=f"{first.uri}/v2", statements={"ROBOT-001": "Arms wave."}))
    assert len(known.profiles) == 2


@pytest.mark.parametrize("rule", ["ENV-012", "ROBOTS-001", "ROBOT"])
def test_a_check_of_a_profile_finds_only_what_is_its_own(rule: str) -> None:
    """TERM-026"""

    def restate(_: Any) -> Iterator[Violation]:
        yield Violation(rule, "Something else.")

    audit = Audit(Registry(), profiles=[profile(checks=(restate,))])
    with pytest.raises(ExtensionError, match=rule) as raised:
        audit.feed(vectors.message({"base": "agent.session.started"}))
    assert [violation.rule for violation in raised.value.violations] == ["TERM-026"]


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
    assert add_installed(known) is known
    assert known.prefix("medical") is MEDICAL
    assert known.profiles == {PROFILE.uri: PROFILE}


def test_an_installed_extension_that_breaks_the_rules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [Point(extension(prefix="aaep"))]
    monkeypatch.setattr(extensions, "entry_points", lambda *, group: points if group == "aaep.extensions" else [])
    with pytest.raises(ExtensionError, match="EXT-022"):
        add_installed(Registry())


def test_the_package_itself_registers_nothing() -> None:
    known = add_installed(Registry())
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
        _, violations = codec.read(raw, registry())
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
