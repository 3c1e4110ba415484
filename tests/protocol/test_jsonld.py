"""The JSON-LD context: the rules on it, and that an event expanded with it loses nothing."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from pyld import jsonld

from aaep.protocol import jsonld as context
from aaep.protocol.catalogue import grade
from aaep.protocol.events import CORE_EVENTS
from aaep.protocol.fields import CORE_CONTEXT
from tests.vectors import BASES, cases

VOCAB = "https://aaep-protocol.org/vocab/v1#"
XSD = "http://www.w3.org/2001/XMLSchema#"

INTEGERS = {
    *(
        "sequence_number",
        "expected_duration_ms",
        "duration_ms",
        "tool_invocations_count",
        "step",
        "total_steps",
        "eta_ms",
    ),
    *("position", "timeout_seconds"),
}
BOOLEANS = {"recoverable", "irreversible", "complete"}
REFERENCES = {"manifest_uri", "result_uri", "error_uri", "target_uri"}
FREE = {"extensions", "extra_context", "packaged_context"}
LISTS = {"available_languages", "fallback_chain", "tools_available", "choices"}
SETS = {"allowed_replies", "accepted_response_kinds"}
NODES = {"producer", "localization_hints", "progress"}

# One value for every member that bases.json leaves out; what it means does not matter here.
SAMPLES: dict[str, Any] = {
    "aaep_version": "1.0.0",
    "sequence_number": 7,
    "verbosity": "normal",
    "urgency": "normal",
    "correlation_id": "trace-1",
    "extensions": {"attend": {"resync": True}},
    "localization_hints": {
        "primary_language": "en-US",
        "text_direction": "ltr",
        "available_languages": ["en-US", "yo"],
        "fallback_chain": ["yo", "en"],
        "script": "Latn",
        "calendar": "gregory",
    },
    "producer": {
        "agent_id": "bank-assistant",
        "agent_version": "1.2.3",
        "agent_name": "Bank Assistant",
        "model": "m",
        "manifest_uri": "https://bank.example/manifest",
    },
    "summary_terse": "Short.",
    "summary_normal": "Of usual length.",
    "summary_detailed": "At some length.",
    "expected_duration_ms": 4000,
    "requested_by": "user:u1",
    "request_text": "Move money.",
    "tools_available": ["transfer", "balance"],
    "duration_ms": 12,
    "tool_invocations_count": 0,
    "output_summary": "Done.",
    "result_uri": "https://bank.example/result/1",
    "error_code": "E_NET",
    "error_uri": "https://bank.example/errors/1",
    "recoverable": False,
    "remediation_hint": "Try again.",
    "cancellation_reason": "user_request",
    "partial_result": "Half.",
    "progress": {"percent": 42.5, "step": 1, "total_steps": 3, "description": "Reading."},
    "eta_ms": 900,
    "tool_call_id": "call_1",
    "description": "Moves money.",
    "args_summary": "500 to savings",
    "risk_level": "high",
    "irreversible": True,
    "error_message": "No answer.",
    "coalesce_hint": "sentence",
    "output_id": "out_1",
    "content_type": "text/plain",
    "language": "en",
    "reversibility": "irreversible",
    "allowed_replies": ["accept", "reject"],
    "extra_context": {"a": [1, {"b": None}]},
    "accepted_response_kinds": ["freetext", "multiple_choice"],
    "choices": [{"value": "a", "label": "The first"}, {"value": "b", "label": "The second"}],
    "context": "There are two accounts.",
    "default_response": "a",
    "target_uri": "https://bank.example/humans",
    "packaged_context": {"transcript": ["hello"]},
    "urgency_for_handoff": "low",
}


def load(url: str, _options: object) -> dict[str, Any]:
    """Serve the core context and nothing else: nothing here may reach for a network (C-05)."""
    if url != CORE_CONTEXT:
        raise AssertionError(f"{url} was asked for")
    return {
        "contentType": "application/ld+json",
        "contextUrl": None,
        "documentUrl": url,
        "document": context.context_document(),
    }


def whole(type_: str) -> dict[str, Any]:
    """An event of that type with every member its Struct names."""
    base = BASES[type_.removeprefix("aaep:")]
    names = [name for name in CORE_EVENTS[type_].__struct_encode_fields__ if name != "@context"]
    event: dict[str, Any] = {name: SAMPLES[name] if name in SAMPLES else base[name] for name in names}
    return {"@context": CORE_CONTEXT, **event}


def expanded(name: str, value: Any) -> list[Any]:
    """What a member has to become, written down by hand from CTX-003 and CTX-004."""
    if name in NODES:
        return [{VOCAB + inner: expanded(inner, one) for inner, one in value.items()}]
    if name == "choices":
        choices = [{VOCAB + inner: [{"@value": one}] for inner, one in choice.items()} for choice in value]
        return [{"@list": choices}]
    if name in LISTS:
        return [{"@list": [{"@value": one} for one in value]}]
    if name in SETS:
        return [{"@value": one} for one in value]
    if name in FREE:
        return [{"@type": "@json", "@value": value}]
    if name in REFERENCES:
        return [{"@id": value}]
    if name in INTEGERS:
        return [{"@type": XSD + "integer", "@value": value}]
    if name in BOOLEANS:
        return [{"@type": XSD + "boolean", "@value": value}]
    if name == "percent":
        return [{"@type": XSD + "decimal", "@value": value}]
    if name == "timestamp":
        return [{"@type": XSD + "dateTime", "@value": value}]
    return [{"@value": value}]


@pytest.mark.parametrize("type_", CORE_EVENTS)
def test_every_core_member_survives_expansion(type_: str) -> None:
    event = whole(type_)
    (result,) = jsonld.expand(event, {"documentLoader": load})
    assert result.pop("@type") == [VOCAB + type_.removeprefix("aaep:")]
    members = {name: value for name, value in event.items() if name not in ("@context", "type")}
    assert result == {VOCAB + name: expanded(name, value) for name, value in members.items()}


@pytest.mark.parametrize("type_", CORE_EVENTS)
def test_compacting_what_was_expanded_gives_the_event_back(type_: str) -> None:
    event = whole(type_)
    options = {"documentLoader": load}
    assert jsonld.compact(jsonld.expand(event, options), CORE_CONTEXT, options) == event


def test_every_member_has_a_sample() -> None:
    """Else a member added to a Struct would not be looked at above."""
    for type_, shape in CORE_EVENTS.items():
        required = {field.encode_name for field in msgspec.structs.fields(shape) if field.default is not msgspec.UNSET}
        optional = {*shape.__struct_encode_fields__} - required
        assert optional <= {*SAMPLES}, type_


def test_an_extension_cannot_redefine_a_core_term() -> None:
    """CTX-001: the terms are protected."""
    event = {
        **whole("aaep:agent.session.started"),
        "@context": [CORE_CONTEXT, {"summary_normal": "https://evil.example/"}],
    }
    with pytest.raises(jsonld.JsonLdError) as caught:
        jsonld.expand(event, {"documentLoader": load})
    assert "protected term redefinition" in str(caught.value)


def test_the_document_breaks_none_of_its_rules() -> None:
    assert [*context.find_context_violations(context.context_document())] == []


def test_the_document_is_the_same_each_time_and_is_json() -> None:
    assert json.loads(json.dumps(context.context_document())) == context.context_document()


def test_choice_members_have_no_term_outside_a_choice() -> None:
    """CTX-005"""
    assert not {"value", "label"} & {*context.context_document()["@context"]}


@pytest.mark.parametrize("case", [*cases("context")], ids=lambda case: str(case["id"]))
def test_vectors(case: dict[str, Any]) -> None:
    strict = case.get("strict", False)
    found = [(one.rule, grade(one, strict=strict)) for one in context.find_context_violations(case["context"])]
    assert found == [(one["rule"], one["severity"]) for one in case["findings"]]


@pytest.mark.parametrize("doc", [None, [], "x", {}, {"@context": None}, {"@context": [CORE_CONTEXT]}])
def test_what_is_no_context_document_is_told_and_not_raised(doc: object) -> None:
    assert [one.rule for one in context.find_context_violations(doc)] == ["CTX-001"]


def test_longer_spellings_of_the_same_definitions_are_sound() -> None:
    """JSON-LD allows an object for an IRI, a list for one container, and a full IRI for a compact one."""
    doc = context.context_document()
    terms = doc["@context"]
    terms["aaep"] = {"@id": VOCAB, "@prefix": True}
    terms["choices"]["@container"] = ["@list"]
    terms["timestamp"]["@type"] = XSD + "dateTime"
    assert [*context.find_context_violations(doc)] == []
