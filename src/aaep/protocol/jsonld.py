"""
Generate the JSON-LD context of the core vocabulary from the Structs, and check such a context.

Nothing in this library expands or fetches contexts (C-05, CF-127). The document
is for programs that do: with it an event becomes linked data and loses no member
that its type names. Variants such as ``summary_normal_yo`` have no term, since
they cannot be enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec import inspect

from ..errors import Violation
from .events import CORE_EVENTS, Choice, LocalizationHints, ProducerInfo, Progress
from .fields import Message, Timestamp, Uri, json_pointer

__all__ = ["VOCABULARY", "context_document", "find_context_violations"]

Term: TypeAlias = str | dict[str, Any]

VOCABULARY: Final = "https://aaep-protocol.org/vocab/v1#"  # not the types/ of the prose: C-05, CF-132
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

# CTX-002: terms that are no members of events.
_FIXED_TERMS: Final = {"aaep": VOCABULARY, "xsd": XSD, "type": "@type", "id": "@id"}
# CTX-003: members whose order matters (lists) and does not (sets), which the Structs do not say.
_LIST_MEMBERS: Final = ("available_languages", "fallback_chain", "tools_available", "choices")
_SET_MEMBERS: Final = ("allowed_replies", "accepted_response_kinds")
# CTX-004
_REFERENCE_MEMBERS: Final = ("producer", "manifest_uri", "result_uri", "error_uri", "target_uri")

_NODE_STRUCTS: Final[Mapping[str, type[Message]]] = {
    "producer": ProducerInfo,
    "localization_hints": LocalizationHints,
    "progress": Progress,
}
# CTX-005: value and label are terms only inside a choice.
_SCOPED_STRUCTS: Final[Mapping[str, type[Message]]] = {"choices": Choice}
_LITERAL_TYPES: Final[Mapping[type[inspect.Type], str]] = {  # a member that may have a fraction is always a decimal
    inspect.FloatType: "xsd:decimal",
    inspect.IntType: "xsd:integer",
    inspect.BoolType: "xsd:boolean",
}


# -- generating the context -----------------------------------------------------------


def context_document() -> dict[str, Any]:
    """Return the context document of the core, which https://aaep-protocol.org/context/v1 stands for."""
    terms: dict[str, Term] = {}
    for shape in (*CORE_EVENTS.values(), *_NODE_STRUCTS.values()):
        for name, term in _iter_terms(shape):
            terms.setdefault(name, term)
    return {"@context": {"@version": 1.1, "@protected": True, **_FIXED_TERMS, **dict(sorted(terms.items()))}}


def _iter_terms(shape: type[Message]) -> Iterator[tuple[str, Term]]:
    struct_type = cast(inspect.StructType, inspect.type_info(shape))
    for field, info in zip(msgspec.structs.fields(shape), struct_type.fields, strict=True):
        name = field.encode_name
        if not name.startswith("@") and name not in _FIXED_TERMS:
            yield name, _build_term(name, field.type, info.type)


def _build_term(name: str, annotation: Any, type_: inspect.Type) -> Term:
    identifier = f"aaep:{name}"
    value_type = _value_type(name, annotation, type_)
    container = None
    if name in _LIST_MEMBERS:
        container = "@list"
    elif name in _SET_MEMBERS:
        container = "@set"
    scope = dict(_iter_terms(_SCOPED_STRUCTS[name])) if name in _SCOPED_STRUCTS else None
    extras = {"@type": value_type, "@container": container, "@context": scope}
    keywords = {keyword: value for keyword, value in extras.items() if value is not None}
    return {"@id": identifier, **keywords} if keywords else identifier


def _value_type(name: str, annotation: Any, type_: inspect.Type) -> str | None:
    """Return the JSON-LD type of a member's values, or None for plain text."""
    annotations = (annotation, *getattr(annotation, "__args__", ()))
    if name in _REFERENCE_MEMBERS or Uri in annotations:
        return "@id"
    if Timestamp in annotations:
        return "xsd:dateTime"
    plain_kinds = {type(plain_type) for plain_type in _iter_plain_types(type_)}
    if inspect.DictType in plain_kinds:
        return "@json"  # a free object: its names are not ours
    return next((literal for kind, literal in _LITERAL_TYPES.items() if kind in plain_kinds), None)


def _iter_plain_types(type_: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the types that a value may have, without their constraints."""
    if isinstance(type_, inspect.Metadata):
        yield from _iter_plain_types(type_.type)
    elif isinstance(type_, inspect.UnionType):
        for member in type_.types:
            yield from _iter_plain_types(member)
    else:
        yield type_


# -- checking a context ---------------------------------------------------------------


def find_context_violations(doc: object) -> Iterator[Violation]:
    """Yield everything that is wrong with a context document that claims to be the core's."""
    terms = doc.get("@context") if isinstance(doc, dict) else None
    if not isinstance(terms, dict):
        yield Violation("CTX-001", "A context document is an object with an object under @context.", "/@context")
        return
    for check in (_check_header, _check_prefixes, _check_containers, _check_references, _check_literals):
        yield from check(terms)


def _check_header(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """Check the version and the protection of a context. CTX-001"""
    if terms.get("@version") != 1.1:
        yield _build_violation("CTX-001", "@version", "@version should be the number 1.1")
    if terms.get("@protected") is not True:
        yield _build_violation(
            "CTX-001", "@protected", "@protected should be true, so that extensions cannot redefine terms"
        )


def _check_prefixes(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """Check the fixed terms of a context. CTX-002"""
    for name, expected in _FIXED_TERMS.items():
        if _definition_keyword(terms, name, "@id") != expected:
            yield _build_violation("CTX-002", name, f"{name} should stand for {expected}")


def _check_containers(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """Check the containers of list and set members. CTX-003"""
    for names, expected in ((_LIST_MEMBERS, "@list"), (_SET_MEMBERS, "@set")):
        for name in names:
            # JSON-LD 1.1 §9.15.1: a container may also be a list with one item.
            if _definition_keyword(terms, name, "@container") not in (expected, [expected]):
                yield _build_violation("CTX-003", name, f"{name} should have the container {expected}")


def _check_references(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """Check that members whose values are IRIs have the type @id. CTX-004"""
    for name in _REFERENCE_MEMBERS:
        if _definition_keyword(terms, name, "@type") != "@id":
            yield _build_violation("CTX-004", name, f"{name} should have the type @id, for its values are IRIs")


def _check_literals(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """
    Check the types of literal members. CTX-004

    The rule names the types and not the terms, so a term may be missing.
    """
    for name, term in context_document()["@context"].items():
        expected = _definition_keyword({name: term}, name, "@type")
        if name in terms and str(expected).startswith("xsd:"):
            actual = _definition_keyword(terms, name, "@type")
            if actual not in (expected, str(expected).replace("xsd:", XSD)):
                yield _build_violation("CTX-004", name, f"{name} should have the type {expected}")


def _definition_keyword(terms: Mapping[str, Any], name: str, keyword: str) -> object:
    """Return the value of a keyword in a term's definition; a plain string gives only the IRI."""
    term = terms.get(name)
    if isinstance(term, dict):
        return term.get(keyword)
    return term if keyword == "@id" else None


def _build_violation(rule: str, name: str, sentence: str) -> Violation:
    return Violation(rule, f"{sentence}.", json_pointer("@context", name))
