"""
The JSON-LD context of the core vocabulary, made from the Structs, and what is wrong with one.

Nothing in this library expands or fetches contexts (C-05, CF-127). The
document is for those who do: with it an event becomes linked data and loses no
member that its type names. Variants such as ``summary_normal_yo`` have no term,
for nobody can list them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec import inspect

from ..errors import Violation
from .events import CORE_EVENTS, Choice, LocalizationHints, ProducerInfo, Progress
from .fields import Message, Timestamp, Uri, pointer

__all__ = ["VOCABULARY", "context_document", "find_context_violations"]

Term: TypeAlias = str | dict[str, Any]

VOCABULARY: Final = "https://aaep-protocol.org/vocab/v1#"  # not the types/ of the prose: C-05, CF-132
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

# CTX-002: what is no member of its own.
_FIXED: Final = {"aaep": VOCABULARY, "xsd": XSD, "type": "@type", "id": "@id"}
# CTX-003: the order of these carries meaning, or carries none. The Structs do not say which.
_LISTS: Final = ("available_languages", "fallback_chain", "tools_available", "choices")
_SETS: Final = ("allowed_replies", "accepted_response_kinds")
# CTX-004
_REFERENCES: Final = ("producer", "manifest_uri", "result_uri", "error_uri", "target_uri")

_NODES: Final[Mapping[str, type[Message]]] = {
    "producer": ProducerInfo,
    "localization_hints": LocalizationHints,
    "progress": Progress,
}
# CTX-005: value and label are no terms of the vocabulary at large, only inside a choice.
_SCOPED: Final[Mapping[str, type[Message]]] = {"choices": Choice}
_LITERALS: Final[Mapping[type[inspect.Type], str]] = {  # what may have a fraction is a decimal, whole or not
    inspect.FloatType: "xsd:decimal",
    inspect.IntType: "xsd:integer",
    inspect.BoolType: "xsd:boolean",
}


# -- the document ---------------------------------------------------------------------


def context_document() -> dict[str, Any]:
    """The context document of the core: what https://aaep-protocol.org/context/v1 stands for."""
    terms: dict[str, Term] = {}
    for shape in (*CORE_EVENTS.values(), *_NODES.values()):
        for name, term in _terms(shape):
            terms.setdefault(name, term)
    return {"@context": {"@version": 1.1, "@protected": True, **_FIXED, **dict(sorted(terms.items()))}}


def _terms(shape: type[Message]) -> Iterator[tuple[str, Term]]:
    drawn = cast(inspect.StructType, inspect.type_info(shape))
    for field, info in zip(msgspec.structs.fields(shape), drawn.fields, strict=True):
        name = field.encode_name
        if not name.startswith("@") and name not in _FIXED:
            yield name, _term(name, field.type, info.type)


def _term(name: str, annotation: Any, type_: inspect.Type) -> Term:
    identifier = f"aaep:{name}"
    kind = _kind(name, annotation, type_)
    container = "@list" if name in _LISTS else "@set" if name in _SETS else None
    scope = dict(_terms(_SCOPED[name])) if name in _SCOPED else None
    extras = {"@type": kind, "@container": container, "@context": scope}
    told = {keyword: value for keyword, value in extras.items() if value is not None}
    return {"@id": identifier, **told} if told else identifier


def _kind(name: str, annotation: Any, type_: inspect.Type) -> str | None:
    """What a member's values are, when they are not plain text."""
    spelt = (annotation, *getattr(annotation, "__args__", ()))
    if name in _REFERENCES or Uri in spelt:
        return "@id"
    if Timestamp in spelt:
        return "xsd:dateTime"
    plain = {type(one) for one in _plain(type_)}
    if inspect.DictType in plain:
        return "@json"  # a free object: its names are not ours
    return next((literal for kind, literal in _LITERALS.items() if kind in plain), None)


def _plain(type_: inspect.Type) -> Iterator[inspect.Type]:
    """The types a value may have, without their limits."""
    if isinstance(type_, inspect.Metadata):
        yield from _plain(type_.type)
    elif isinstance(type_, inspect.UnionType):
        for one in type_.types:
            yield from _plain(one)
    else:
        yield type_


# -- the rules ------------------------------------------------------------------------


def find_context_violations(doc: object) -> Iterator[Violation]:
    """Everything that is wrong with a context document that claims to be the core's."""
    terms = doc.get("@context") if isinstance(doc, dict) else None
    if not isinstance(terms, dict):
        yield Violation("CTX-001", "A context document is an object with an object under @context.", "/@context")
        return
    for judge in (header, prefixes, containers, references, literals):
        yield from judge(terms)


def header(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """CTX-001"""
    if terms.get("@version") != 1.1:
        yield _violation("CTX-001", "@version", "@version should be the number 1.1")
    if terms.get("@protected") is not True:
        yield _violation("CTX-001", "@protected", "@protected should be true, so that extensions cannot redefine terms")


def prefixes(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """CTX-002"""
    for name, expected in _FIXED.items():
        if _said(terms, name, "@id") != expected:
            yield _violation("CTX-002", name, f"{name} should stand for {expected}")


def containers(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """CTX-003"""
    for names, expected in ((_LISTS, "@list"), (_SETS, "@set")):
        for name in names:
            # JSON-LD 1.1 §9.15.1: a container may also stand in a list of its own.
            if _said(terms, name, "@container") not in (expected, [expected]):
                yield _violation("CTX-003", name, f"{name} should have the container {expected}")


def references(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """CTX-004, its first half"""
    for name in _REFERENCES:
        if _said(terms, name, "@type") != "@id":
            yield _violation("CTX-004", name, f"{name} should have the type @id, for its values are IRIs")


def literals(terms: Mapping[str, Any]) -> Iterator[Violation]:
    """CTX-004, its second half: the rule names the types and not the terms, so a term may be missing."""
    for name, term in context_document()["@context"].items():
        expected = _said({name: term}, name, "@type")
        if name in terms and str(expected).startswith("xsd:"):
            found = _said(terms, name, "@type")
            if found not in (expected, str(expected).replace("xsd:", XSD)):
                yield _violation("CTX-004", name, f"{name} should have the type {expected}")


def _said(terms: Mapping[str, Any], name: str, keyword: str) -> object:
    """What a term's definition says; a definition that is a string gives only the IRI."""
    term = terms.get(name)
    if isinstance(term, dict):
        return term.get(keyword)
    return term if keyword == "@id" else None


def _violation(rule: str, name: str, sentence: str) -> Violation:
    return Violation(rule, f"{sentence}.", pointer("@context", name))
