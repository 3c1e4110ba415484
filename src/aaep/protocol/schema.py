"""
Generate JSON Schema documents from the Structs, and validate messages with them.

:func:`schema_document` writes the schema of a type, from nothing but its Struct.
:func:`shape_errors` is the slow, complete check for a message that the fast
decoder refuses.
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


# -- generating documents ------------------------------------------------------------


def _short_name(type_: str) -> str:
    return type_.removeprefix("aaep:")


@cache
def _load_examples() -> dict[str, Any]:
    loaded: dict[str, Any] = msgspec.json.decode(files(__package__).joinpath("examples.json").read_bytes())
    return loaded


def _complete_definition(cls: type[Message], definition: dict[str, Any]) -> dict[str, Any]:
    """Complete the schema that msgspec generates: what is required on the wire, and other members."""
    properties = definition["properties"]
    required = []
    for field in struct_fields(cls):
        if field.default is not UNSET:
            required.append(field.encode_name)
        field_schema = properties[field.encode_name]
        field_schema.pop("default", None)
        # A number that keeps its spelling, 40 or 40.0, is two types for msgspec and one for JSON Schema.
        if [option.get("type") for option in field_schema.get("anyOf", ())] == ["integer", "number"]:
            properties[field.encode_name] = field_schema["anyOf"][1]
    definition["required"] = required
    definition["additionalProperties"] = cls.others
    if issubclass(cls, Envelope):
        variant_fields = [name for name in VARIANT_FIELDS if name in properties]
        if variant_fields:
            definition["patternProperties"] = {f"^({'|'.join(variant_fields)}){_VARIANT_SUFFIX}": {"type": "string"}}
    return definition


def _generate_schema(cls: type[Message]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a Struct, and the schemas of those it holds by their names."""
    (root,), definitions = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
    by_name = {shape.__name__: shape for shape in _nested_structs(cls)}
    shapes = {name: _complete_definition(by_name[name], definition) for name, definition in definitions.items()}
    own = shapes.pop(root["$ref"].rsplit("/", 1)[1])
    own.pop("title")
    return own, shapes


@cache
def envelope_document() -> dict[str, Any]:
    """Return the JSON Schema document of the envelope that every event has."""
    own, shapes = _generate_schema(UnknownEvent)
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
        "examples": [_load_examples()["agent.session.started"]],
    }


@cache
def schema_document(type_: str) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 document of a message type."""
    cls = SHAPES[type_]
    own, shapes = _generate_schema(cls)
    if issubclass(cls, Envelope):
        own = _without_envelope(own, type_)
        shapes["Envelope"] = {
            name: envelope_document()[name] for name in ("title", "description", "type", "properties", "required")
        }
    else:
        own["properties"]["type"] = {"const": type_}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE}{_short_name(type_)}.schema.json",
        "title": type_,
        **own,
        "$defs": shapes,
        "examples": [_load_examples()[_short_name(type_)]],
    }


def _without_envelope(own: dict[str, Any], type_: str) -> dict[str, Any]:
    """Return the schema of an event's payload and of the envelope members that it narrows."""
    common = envelope_document()["properties"]
    properties = {name: schema for name, schema in own["properties"].items() if common.get(name) != schema}
    # C-04: both spellings of a core type are the same type.
    properties["type"] = {"enum": [type_, type_.replace("aaep:", "https://aaep-protocol.org/types/")]}
    parts = {name: own[name] for name in ("description", "type")}
    parts |= {"allOf": [{"$ref": "#/$defs/Envelope"}], "properties": properties}
    parts["required"] = [name for name in own["required"] if name in properties]
    if "patternProperties" in own:
        parts["patternProperties"] = own["patternProperties"]
    return {**parts, "unevaluatedProperties": False}


def _nested_structs(cls: type[Message]) -> Iterator[type[Message]]:
    yield cls
    yield from (events.ProducerInfo, events.LocalizationHints, events.Progress, events.Choice)
    yield from (messages.Capabilities, messages.EventFilters)


def all_documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema document with its file name."""
    yield "envelope.schema.json", envelope_document()
    for type_ in SHAPES:
        yield f"{_short_name(type_)}.schema.json", schema_document(type_)
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


# -- validating messages -------------------------------------------------------------


class ShapeError(msgspec.Struct, frozen=True):
    """One departure from a schema: its path, the keyword it breaks, what that keyword demands, and the value found."""

    path: list[str | int]
    keyword: str
    kind: Any  # its attributes depend on the keyword
    instance: Any


def shape_errors(type_: str, value: Mapping[str, Any]) -> Iterator[ShapeError]:
    """Yield every departure of a message from the schema of its type, or of any event if the type is unknown."""
    validator = _validator(type_) if type_ in SHAPES else _envelope_validator()
    for error in validator.iter_errors(value):
        yield ShapeError([*error.instance_path], str(error.kind.name), error.kind, error.instance)


@cache
def _validator(type_: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema_document(type_))


@cache
def _envelope_validator() -> jsonschema_rs.Draft202012Validator:
    own, shapes = _generate_schema(
        UnknownEvent
    )  # unlike the document, with the summaries that a listener falls back on
    return jsonschema_rs.Draft202012Validator({**own, "$defs": shapes})
