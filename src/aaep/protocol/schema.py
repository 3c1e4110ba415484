"""
JSON Schema documents made from the Structs, and everything wrong with a message.

:func:`document` writes the schema of a type; nothing about a shape is said
here that the Struct does not say. :func:`explain` is the slow, complete path:
a message that the fast decoder refuses comes here to learn why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import jsonschema_rs
import msgspec
from msgspec import UNSET

from ..text.languages import VARIANT_FIELDS
from . import events, messages
from .attend_extension import ATTEND
from .events import Envelope, UnknownEvent
from .fields import Message, struct_fields
from .messages import SHAPES

__all__ = ["ShapeError", "all_documents", "envelope_document", "schema_document", "shape_errors"]

BASE: Final = "https://aaep.readthedocs.io/schemas/v1/"

_ENVELOPE: Final = (*Envelope.__struct_encode_fields__, "extensions")
_VARIANT_SUFFIX: Final = "_([a-z]{2,8}|x_[a-z0-9]{1,8})(_[a-z0-9]{1,8})*$"  # looser than a tag is (C-58)


# -- documents -----------------------------------------------------------------------


def _name(type_: str) -> str:
    return type_.removeprefix("aaep:")


@cache
def _examples() -> dict[str, Any]:
    loaded: dict[str, Any] = msgspec.json.decode(files(__package__).joinpath("examples.json").read_bytes())
    return loaded


def _definition(cls: type[Message], drawn: dict[str, Any]) -> dict[str, Any]:
    """Finish what msgspec draws: what is required on the wire, and which other members there may be."""
    properties = drawn["properties"]
    required = []
    for field in struct_fields(cls):
        if field.default is not UNSET:
            required.append(field.encode_name)
        drawn_field = properties[field.encode_name]
        drawn_field.pop("default", None)
        # A number that keeps its spelling, 40 or 40.0, is two types to msgspec and one to JSON Schema.
        if [one.get("type") for one in drawn_field.get("anyOf", ())] == ["integer", "number"]:
            properties[field.encode_name] = drawn_field["anyOf"][1]
    drawn["required"] = required
    drawn["additionalProperties"] = cls.others
    if issubclass(cls, Envelope):
        varied = [name for name in VARIANT_FIELDS if name in properties]
        if varied:
            drawn["patternProperties"] = {f"^({'|'.join(varied)}){_VARIANT_SUFFIX}": {"type": "string"}}
    return drawn


def _drawn(cls: type[Message]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a Struct, and of those it holds, by their names."""
    (root,), definitions = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
    by_name = {shape.__name__: shape for shape in _reachable(cls)}
    shapes = {name: _definition(by_name[name], drawn) for name, drawn in definitions.items()}
    own = shapes.pop(root["$ref"].rsplit("/", 1)[1])
    own.pop("title")
    return own, shapes


@cache
def envelope_document() -> dict[str, Any]:
    """The JSON Schema document of what every event carries, of whatever type."""
    own, shapes = _drawn(UnknownEvent)
    properties = {name: own["properties"][name] for name in _ENVELOPE}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE}envelope.schema.json",
        "title": "envelope",
        "description": "What every event carries. Extension events add a payload of their own beside it.",
        "type": "object",
        "properties": properties,
        "required": own["required"],
        "$defs": shapes,
        "examples": [_examples()["agent.session.started"]],
    }


@cache
def schema_document(type_: str) -> dict[str, Any]:
    """The JSON Schema 2020-12 document of a message type."""
    cls = SHAPES[type_]
    own, shapes = _drawn(cls)
    if issubclass(cls, Envelope):
        own = _beside_envelope(own, type_)
        shapes["Envelope"] = {
            name: envelope_document()[name] for name in ("title", "description", "type", "properties", "required")
        }
    else:
        own["properties"]["type"] = {"const": type_}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE}{_name(type_)}.schema.json",
        "title": type_,
        **own,
        "$defs": shapes,
        "examples": [_examples()[_name(type_)]],
    }


def _beside_envelope(own: dict[str, Any], type_: str) -> dict[str, Any]:
    """An event's own part: its payload, and what it narrows of the envelope."""
    common = envelope_document()["properties"]
    properties = {name: drawn for name, drawn in own["properties"].items() if common.get(name) != drawn}
    # C-04: both spellings of a core type are the same type.
    properties["type"] = {"enum": [type_, type_.replace("aaep:", "https://aaep-protocol.org/types/")]}
    parts = {name: own[name] for name in ("description", "type")}
    parts |= {"allOf": [{"$ref": "#/$defs/Envelope"}], "properties": properties}
    parts["required"] = [name for name in own["required"] if name in properties]
    if "patternProperties" in own:
        parts["patternProperties"] = own["patternProperties"]
    return {**parts, "unevaluatedProperties": False}


def _reachable(cls: type[Message]) -> Iterator[type[Message]]:
    yield cls
    yield from (events.ProducerInfo, events.LocalizationHints, events.Progress, events.Choice)
    yield from (messages.Capabilities, messages.EventFilters)


def all_documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema document, by file name."""
    yield "envelope.schema.json", envelope_document()
    for type_ in SHAPES:
        yield f"{_name(type_)}.schema.json", schema_document(type_)
    for name, shape in (("fields", ATTEND.fields), ("capabilities", ATTEND.capabilities)):
        (own,) = msgspec.json.schema(shape)["$defs"].values()
        yield (
            f"attend.{name}.schema.json",
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": f"{BASE}attend.{name}.schema.json",
                **own,
            },
        )


# -- judging ------------------------------------------------------------------------


class ShapeError(msgspec.Struct, frozen=True):
    """Where a value departs from its schema: the keyword it breaks, what that keyword wants, and what stands there."""

    path: list[str | int]
    keyword: str
    kind: Any  # its attributes depend on the keyword
    instance: Any


def shape_errors(type_: str, value: Mapping[str, Any]) -> Iterator[ShapeError]:
    """Everything in which a message departs from the schema of its type, or of any event if there is none."""
    judge = _validator(type_) if type_ in SHAPES else _envelope_validator()
    for error in judge.iter_errors(value):
        yield ShapeError([*error.instance_path], str(error.kind.name), error.kind, error.instance)


@cache
def _validator(type_: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema_document(type_))


@cache
def _envelope_validator() -> jsonschema_rs.Draft202012Validator:
    own, shapes = _drawn(UnknownEvent)  # with the summaries, which a listener falls back on
    return jsonschema_rs.Draft202012Validator({**own, "$defs": shapes})
