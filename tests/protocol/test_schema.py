"""The generated schemas, and that explain() and an independent validator agree about shape on many broken messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from aaep.errors import Violation
from aaep.protocol import codec, rules, schema
from aaep.protocol.catalogue import all_rules as catalogue
from aaep.protocol.events import CORE_EVENTS
from aaep.protocol.fields import json_pointer
from aaep.protocol.messages import SHAPES
from tests import vectors
from tests.mutations import mutated, sources

DOCUMENTS = dict(schema.all_documents())
PER_TYPE = 1_050  # times twenty types

# Members of events whose name says what a description would.
OBVIOUS = set(
    """type urgency verbosity extensions producer localization_hints progress available_languages fallback_chain
    text_direction calendar error_category error_code error_message recoverable cancelled_by cancellation_reason
    partial_result output_summary tool_invocations_count from_state to_state percent total_steps description risk_level
    irreversible reversibility status chunk complete coalesce_hint output_id content_type question choices
    accepted_response_kinds default_response default_decision allowed_replies extra_context reason target_kind
    packaged_context urgency_for_handoff""".split()
)


# -- the documents -----------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_a_valid_schema(name: str) -> None:
    document = json.loads(json.dumps(DOCUMENTS[name]))
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(document)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_examples_of_a_document_are_valid(name: str) -> None:
    document = DOCUMENTS[name]
    examples = document.get("examples", [])
    assert examples or name.startswith("attend.")
    for one in examples:
        assert [error.message for error in Draft202012Validator(document).iter_errors(one)] == []


def test_the_examples_break_no_rule_at_all() -> None:
    for type_ in SHAPES:
        for one in schema.schema_document(type_)["examples"]:
            found = codec.find_violations(msgspec.json.encode(one))
            assert [str(v) for v in found if v.severity != "info"] == [], type_


def test_ids_are_unique_and_end_with_the_file_name() -> None:
    ids = [document["$id"] for document in DOCUMENTS.values()]
    assert len({*ids}) == len(ids)
    assert all(id_.endswith("/" + name) for id_, name in zip(ids, DOCUMENTS, strict=True))


def test_every_document_and_every_part_of_one_is_described() -> None:
    for name, document in DOCUMENTS.items():
        for part, shape in {name: document, **document.get("$defs", {})}.items():
            assert shape.get("description"), part
            assert shape.get("title") or part == name


def test_every_member_of_an_event_is_described_or_has_an_obvious_name() -> None:
    bare = set()
    for type_ in CORE_EVENTS:
        document = schema.schema_document(type_)
        for shape in (document, *document["$defs"].values()):
            bare |= {name for name, drawn in shape["properties"].items() if "description" not in drawn}
    assert bare == OBVIOUS


def test_no_schema_says_null_or_a_default() -> None:
    """Absent is never null, and a schema that names defaults invites tools to fill them in."""
    for name, document in DOCUMENTS.items():
        stripped = {**document, "examples": []}
        assert '"null"' not in json.dumps(stripped), name
        assert '"default":' not in json.dumps(stripped), name


# -- the oracle ----------------------------------------------------------------------------
#
# What explain() says is compared, place by place, with what jsonschema says about the same
# generated documents:
#
#   1. where the schema finds fault, explain() finds fault;
#   2. where explain() finds fault, so does the schema, unless the rule is one of those below;
#   3. a message the fast decoder takes has no fault except of the kinds that rules.check looks for, and
#      rules.check tells of those; what it says is what explain() says.

# Rules that say what no schema of one message can: about moments, meaning, moderation and size.
BEYOND = {
    "ENC-006": "numbers inside free objects, which have no schema",
    "ENV-008": "the full-URI spelling of a type is legal and not preferred (C-04)",
    "ENV-022": "precision that is recommended",
    "ENV-023": "precision: the pattern of the schema allows any (C-12)",
    "ENV-024": "whether the moment exists (C-13)",
    "ENV-032": "members that are recommended",
    "ENV-038": "recommended when there is text",
    "ENV-041": "recommended on the types for which it is not required",
    "ENV-052": "whether a prefix is declared in @context (C-07)",
    "ENV-056": "a member that is recommended",
    "EVT-003": "secrets in text",
    "EVT-025": "two numbers compared",
    "EVT-030": "recommended when another member has a value",
    "EVT-037": "two members compared",
    "HITL-003": "two members compared; members that are recommended",
    "HITL-006": "two members compared",
    "HITL-007": "two members compared",
    "HITL-033": "what is advisable",
    "HITL-036": "which words a list has to hold",
    "CAP-016": "two members compared",
    "CONF-046": "two members compared",
    "CONF-047": "two members compared",
    "CONF-054": "what is advisable",
    "I18N-002": "recommended when there is text",
    "I18N-026": "normal form of text",
    "I18N-031": "first character of text",
    "I18N-035": "directions within text",
    "I18N-041": "markup in text",
    "LIM-001": "the size of the whole message",
    "LIM-003": "the number of members, counted as C-23 counts",
    "LIM-004": "the depth of free objects",
    "LIM-005": "bytes, where the schema counts characters",
    "LVL-010": "where a sentence ends",
    "LVL-013": "a member that is recommended",
    "MAN-018": "the header of a signature",
    "OUT-008": "two members compared",
    "STATE-004": "names that are usual, of an open list",
    "TERM-013": "members that are recommended",
    "TERM-020": "a value that is allowed and wrong for the type",
    "TOOL-005": "secrets in text",
    "TOOL-011": "a member that is recommended",
    "VAL-008": "the shape of an extension's object, which is the extension's",
    **{f"URG-00{number}": "a value that is recommended for the type" for number in range(1, 9)},
}
# Rules that also speak of shape go beyond it only in these sentences.
BEYOND_IN_PART = {
    "CLAR-005": "moment that does not exist|fractional digits|placeholder",
    "CONF-024": "moment that does not exist|fractional digits|placeholder",
    "ENV-055": "is not a published version",  # C-20
    "EVT-012": "A permanent error cannot be recoverable",  # C-77
    "I18N-008": "is not a well-formed language tag",  # RFC 5646 says more than the pattern
    "I18N-032": "text_direction is missing",
}
# CF-070: to JSON Schema 3.0 is an integer; in the exchange we take exact types. In events 3.0 is 3 (ENV-046).
EXACT_TYPES = "takes whole numbers, written without a point"
# C-58: the schema's pattern for summary_normal_yo and the like is looser than a well-formed tag.
VARIANT = re.compile(r"/[a-z_]+_[a-z]{2,8}(_[a-z0-9]{1,8})*|/[a-z_]+_x(_[a-z0-9]{1,8})+")
# What the decoder does not see and rules.check does.
UNDECODED = ("pattern", "uniqueItems", "minProperties", "prefixItems")

Fault = tuple[str, str, str]  # where, which keyword, which member


def _whole(node: Any) -> Any:
    """A schema with ``$`` as the very end: in Python's re it also matches before a last newline (C-10)."""
    if isinstance(node, list):
        return [_whole(one) for one in node]
    if not isinstance(node, dict):
        return node
    changed = {key: _whole(one) for key, one in node.items()}
    if isinstance(node.get("pattern"), str):
        changed["pattern"] = node["pattern"].removesuffix("$") + r"\Z"
    if isinstance(node.get("patternProperties"), dict):
        changed["patternProperties"] = {key.replace("$", r"\Z"): one for key, one in node["patternProperties"].items()}
    return changed


ORACLES = {type_: Draft202012Validator(_whole(schema.schema_document(type_))) for type_ in SHAPES}


def faults(type_: str, value: dict[str, Any]) -> set[Fault]:
    return {fault for error in ORACLES[type_].iter_errors(value) for fault in _fault(error)}


def _fault(error: Any) -> Iterator[Fault]:
    path = [*error.absolute_path]
    if error.validator == "required":
        yield from (
            (json_pointer(*path), "required", name) for name in error.validator_value if name not in error.instance
        )
    elif error.validator in ("additionalProperties", "unevaluatedProperties"):
        patterns = error.schema.get("patternProperties", ())
        known = {*error.schema["properties"]}
        if error.validator == "unevaluatedProperties":
            # Where anything in the envelope is wrong, the validator no longer counts its members as known.
            known |= {*schema.envelope_document()["properties"]}
        for name in error.instance:
            if name not in known and not any(re.search(one, name) for one in patterns):
                yield json_pointer(*path, name), "additionalProperties", name
    else:
        yield json_pointer(*path), str(error.validator), ""


def same_place(fault: Fault, violation: Violation) -> bool:
    """One lies in the other. A missing member has no place, so its name has to be said."""
    where, keyword, name = fault
    if keyword == "required":
        return violation.path == where and violation.message == f"{name} is missing. Add it."
    ours = violation.path
    return ours == where or ours.startswith(where + "/") or (ours != "" and where.startswith(ours + "/"))


def beyond(violation: Violation, type_: str) -> bool:
    if violation.rule in BEYOND:
        return True
    if re.search(BEYOND_IN_PART.get(violation.rule, "(?!)"), violation.message):
        return True
    if violation.rule == "ENV-061" and VARIANT.fullmatch(violation.path):
        return True
    return EXACT_TYPES in violation.message and type_ not in CORE_EVENTS


def disagreements(raw: bytes, value: dict[str, Any]) -> Iterator[str]:
    found = codec.find_violations(raw)
    type_ = codec.identify(value)[1]
    if type_ not in SHAPES:
        # No document describes it, so all there is to agree about is that the type is at fault.
        if not any(one.path == "/type" or one.message == "type is missing. Add it." for one in found):
            yield "the type is of no known shape, and explain() does not say so"
        return
    expected = faults(type_, value)
    for fault in expected:
        if not any(same_place(fault, one) for one in found):
            yield f"the schema finds {fault}, explain() does not"
    for one in found:
        if not beyond(one, type_) and not any(same_place(fault, one) for fault in expected):
            yield f"explain() finds {one}, the schema does not"
    yield from fast_path(raw, found, expected)


def fast_path(raw: bytes, found: Iterable[Violation], expected: Iterable[Fault]) -> Iterator[str]:
    message = codec._decode_exact(raw, bytearray())
    if message is None:
        return
    checked = rules.check(message, raw)
    for fault in expected:
        if fault[1] not in UNDECODED and not fault[0].startswith("/@context"):
            yield f"the schema finds {fault}, the decoder takes the message"
        elif not any(same_place(fault, one) for one in checked):
            yield f"the schema finds {fault}, rules.check does not"
    if _told(checked) != _told(found):
        yield f"rules.check says {_told(checked)}, explain() says {_told(found)}"


def _told(violations: Iterable[Violation]) -> list[tuple[str, str, str, str]]:
    return sorted((one.rule, one.path, one.severity, one.message) for one in violations)


@pytest.mark.parametrize("type_", SHAPES)
def test_explain_agrees_with_an_independent_validator(type_: str) -> None:
    rejected = 0
    for value in mutated(type_, sources()[type_], PER_TYPE):
        raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            differences = [*disagreements(raw, value)]
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\n{raw.decode()}")
        assert not differences, "\n".join([*differences, raw.decode()])
        rejected += not ORACLES[type_].is_valid(value)
    # Else the mutations would prove little.
    assert PER_TYPE * 0.3 < rejected < PER_TYPE * 0.99


def test_the_rules_that_go_beyond_shape_exist() -> None:
    assert {*BEYOND, *BEYOND_IN_PART} <= {*catalogue()}


@pytest.mark.parametrize("type_", CORE_EVENTS)
def test_both_spellings_of_a_core_type_have_one_shape(type_: str) -> None:
    """C-04: the full URI is the same type, and at most not preferred."""
    value = {
        **schema.schema_document(type_)["examples"][0],
        "type": type_.replace("aaep:", "https://aaep-protocol.org/types/"),
    }
    assert not faults(type_, value)
    assert {one.rule for one in codec.find_violations(json.dumps(value))} <= {"ENV-008"}


@pytest.mark.parametrize(
    ("type_", "member", "rule"),
    [
        ("subscription.rejected", "retry_after_seconds", "SUB-044"),
        ("aaep:producer.manifest", "max_concurrent_subscriptions", "MAN-012"),
    ],
)
def test_whole_numbers_are_exact_in_the_exchange(type_: str, member: str, rule: str) -> None:
    """CF-070: a deliberate difference to the schema, for which 3.0 is an integer."""
    value = {**schema.schema_document(type_)["examples"][0], member: 3.0}
    assert not faults(type_, value)
    assert [one.rule for one in codec.find_violations(json.dumps(value))] == [rule]


def test_a_whole_number_with_a_point_is_fine_in_an_event() -> None:
    value = {**schema.schema_document("aaep:agent.output.streaming")["examples"][0], "position": 0.0}
    assert [str(one) for one in codec.find_violations(json.dumps(value)) if one.severity != "info"] == []


def test_the_first_finding_is_of_the_earliest_step_that_failed() -> None:
    """VAL-010: an event that fails at several of the nine steps is told of them in order."""
    event = json.loads(vectors.message({"base": "agent.tool.invoked"}))
    del event["producer"]
    event |= {"@context": "https://example.org/", "event_id": "7", "extensions": {"medical": {}}, "tool": 5}
    del event["summary_normal"]
    found = [violation.rule for violation in codec.find_violations(json.dumps(event))]
    assert found[:6] == ["ENV-001", "ENV-002", "ENV-012", "EVT-026", "EVT-026", "ENV-052"]
