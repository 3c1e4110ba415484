"""
JSON Schema documents made from the Structs, and everything wrong with a message.

:func:`document` writes the schema of a type; nothing about a shape is said
here that the Struct does not say. :func:`explain` is the slow, complete path:
a message that the fast decoder refuses comes here to learn why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import jsonschema_rs
import msgspec
from msgspec import UNSET

from ..errors import Violation
from ..text.languages import VARIANT_FIELDS, variant
from . import events, lenient, messages, rules
from .attend_extension import ATTEND
from .events import CORE_EVENTS, Envelope, ExtensionEvent, UnknownEvent
from .extensions import Registry
from .fields import Message, members, pointer
from .messages import MESSAGES
from .rules import BUNDLED

__all__ = ["SHAPES", "document", "documents", "envelope", "explain", "identify"]

BASE: Final = "https://aaep.readthedocs.io/schemas/v1/"
SHAPES: Final[Mapping[str, type[Message]]] = {**CORE_EVENTS, **MESSAGES}

_ENVELOPE: Final = (*Envelope.__struct_encode_fields__, "extensions")
_COMPACT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*:[^\s:/][^\s]*")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]+")
_VARIANT_SUFFIX: Final = "_([a-z]{2,8}|x_[a-z0-9]{1,8})(_[a-z0-9]{1,8})*$"  # looser than a tag is (C-58)
_AMOUNTS: Final = re.compile("amount_raw|currency|amount_formatted_[a-z_]+|fx_rate|fx_rate_source")  # C-01, §11.7


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
    for field in members(cls):
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
def envelope() -> dict[str, Any]:
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
def document(type_: str) -> dict[str, Any]:
    """The JSON Schema 2020-12 document of a message type."""
    cls = SHAPES[type_]
    own, shapes = _drawn(cls)
    if issubclass(cls, Envelope):
        own = _beside_envelope(own, type_)
        shapes["Envelope"] = {
            name: envelope()[name] for name in ("title", "description", "type", "properties", "required")
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
    common = envelope()["properties"]
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


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema document, by file name."""
    yield "envelope.schema.json", envelope()
    for type_ in SHAPES:
        yield f"{_name(type_)}.schema.json", document(type_)
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


# -- explaining ------------------------------------------------------------------------


@cache
def _validator(type_: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(document(type_))


@cache
def _envelope_validator() -> jsonschema_rs.Draft202012Validator:
    own, shapes = _drawn(UnknownEvent)  # with the summaries, which a listener falls back on
    return jsonschema_rs.Draft202012Validator({**own, "$defs": shapes})


def identify(given: Mapping[str, Any], known: Registry = BUNDLED) -> tuple[type[Message], str, list[Violation]]:
    """Which type a message is, in its one spelling, and what is wrong with how it says so."""
    spelt = given.get("type", UNSET)
    if spelt is UNSET:
        return UnknownEvent, "", []  # the missing member is told by the envelope's shape
    if not isinstance(spelt, str):
        return UnknownEvent, "", [Violation("ENV-007", f"type should be a string; found {_show(spelt)}.", "/type")]
    if spelt in MESSAGES:
        return MESSAGES[spelt], spelt, []
    type_ = lenient.canonical(spelt)
    if type_ in CORE_EVENTS:
        return CORE_EVENTS[type_], type_, [*_spelling(spelt, type_)]
    if type_.removeprefix("aaep:") in MESSAGES:
        name = type_.removeprefix("aaep:")
        rule = rules.rule_of(MESSAGES[name], "type")
        return MESSAGES[name], name, [Violation(rule, f"type should be {name}, without a prefix.", "/type")]
    if type_.startswith("aaep:"):
        severity: rules.Grade = "warning" if rules.newer(given.get("aaep_version")) else ""
        text = f"{type_} is not one of the twelve core types. Use a prefix of your own for your own types."
        return UnknownEvent, type_, [Violation("ENV-009", text, "/type", severity=severity)]
    return ExtensionEvent, type_, [*_foreign(type_, given, known)]


def _spelling(spelt: str, type_: str) -> Iterator[Violation]:
    if "/vocab/" in spelt:
        yield Violation("TERM-011", f"{spelt} is not how the type is spelt. Use {type_}.", "/type")
    elif spelt != type_:
        yield Violation("ENV-008", f"The short spelling {type_} is preferred.", "/type")


def _foreign(type_: str, given: Mapping[str, Any], known: Registry) -> Iterator[Violation]:
    """ENV-007, ENV-010 §3.2.2, EXT-018 §7.3, EXT-027 §7.4(3)"""
    if _ABSOLUTE.fullmatch(type_):
        yield Violation(
            "ENV-010", f"Whether {type_} is defined anywhere cannot be told here.", "/type", severity="info"
        )
        return
    if not _COMPACT.fullmatch(type_):
        yield Violation("ENV-007", f"type should be prefix:name or an absolute URI; found {type_!r}.", "/type")
        return
    prefix = type_.split(":", 1)[0]
    contexts = given.get("@context")
    claimed, unknown = known.declared(contexts if isinstance(contexts, list) else ())
    extension = claimed.get(prefix)
    if extension is None and not unknown:
        text = f"@context declares no extension with the prefix {prefix}. Add its context URI after the core's."
        yield Violation("EXT-018", text, "/type")
    elif extension is None:
        yield Violation("ENV-010", f"Whether {type_} is defined cannot be told here.", "/type", severity="info")
    elif type_ not in extension.events:
        yield Violation("ENV-010", f"The extension {prefix} defines no type {type_}.", "/type")
    else:
        shape = extension.events[type_]
        envelope = {*ExtensionEvent.__struct_encode_fields__} - {*shape.__struct_encode_fields__}
        payload = {name: value for name, value in given.items() if name not in envelope}
        yield from rules.shaped(payload, shape, "EXT-027", "")


def explain(raw: bytes | str, known: Registry = BUNDLED, *, strict: bool = False) -> list[Violation]:
    """Everything that is wrong with one message, in plain sentences."""
    data = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    value, found = lenient.parse(data)
    if value is lenient.UNREADABLE:
        return found
    if not isinstance(value, dict):
        return [*found, Violation("VAL-001", f"A message is a JSON object; found {_show(value)}.")]
    cls, type_, spelling = identify(value, known)
    found += spelling
    validator = _validator(type_) if type_ in SHAPES else _envelope_validator()
    shape = [*_faults(cls, value, validator.iter_errors({**value, **({"type": type_} if type_ else {})}))]
    found += shape
    if issubclass(cls, Envelope):
        found += _strangers(cls, value)
    message = lenient.view(cls, value)
    settled = {violation.path for violation in found if violation.path and violation.rule != "ENV-008"}
    for violation in rules.every(message, msgspec.json.encode(value), known, strict=strict):
        # One defect, one finding: a member whose shape is wrong has been told of.
        if settled.isdisjoint(_ways(violation.path)):
            found.append(violation)
    id_ = value.get("event_id")
    if isinstance(id_, str):
        found = [msgspec.structs.replace(violation, event_id=id_) for violation in found]
    return sorted(found, key=lambda violation: _step(violation.rule))


def _ways(path: str) -> Iterator[str]:
    """A pointer, and those to all that it leads through."""
    while path:
        yield path
        path = path.rpartition("/")[0]


# VAL-010 §3.9: the order in which an event is judged, so that the first finding is of the earliest step that failed.
_STEPS: Final = (
    re.compile("ENC-00[125]|VAL-001"),  # 1: a JSON object
    re.compile("ENV-001"),  # 2: nothing missing from the envelope
    re.compile("ENV-03[01]"),  # 3: its members of the right type; 4: the core context
    re.compile("ENV-00[23]|VER-011"),
    re.compile("ENV-00[789]|ENV-010|EXT-018|TERM-011"),  # 5: a known type
    re.compile("ENV-01[27]|ENV-02[1-4]"),  # 6: ids and timestamp
    re.compile("EVT-.*|URG-.*|HITL-.*|EXT-027|ENV-.*"),  # 7: the payload, and the rest of the envelope
    re.compile("VAL-008|ENV-05[12]"),  # 8: extensions
    re.compile("LIM-.*|ENC-006"),  # 9: limits
)


def _step(rule: str) -> int:
    return next((step for step, rules_ in enumerate(_STEPS) if rules_.fullmatch(rule)), len(_STEPS))


def _strangers(cls: type[Message], given: Mapping[str, Any]) -> Iterator[Violation]:
    """ENV-058, ENV-060, ENV-061 §3.5: names at the top that do not belong there."""
    later = rules.newer(given.get("aaep_version"))
    for name in given:
        path = pointer(name)
        if name in cls.__struct_encode_fields__ or name == "@context":
            continue
        if name.startswith("aaep_"):
            yield Violation("ENV-058", f"Names that start with aaep_ are reserved; found {name}.", path)
        elif name in ("@id", "@graph", "@base", "@vocab"):
            yield Violation("ENV-060", f"{name} is not used in AAEP. Leave it out.", path)
        elif name.startswith("@") or (name == "id" and not cls.others):
            yield Violation("ENV-060", f"{name} means something in JSON-LD. Leave it out.", path, severity="warning")
        elif not cls.others:
            parts = variant(name)
            if parts is not None and parts[0] in cls.__struct_encode_fields__:
                continue
            severity: rules.Grade = "warning" if later or _AMOUNTS.fullmatch(name) else ""
            text = f"{name} is not part of this event. Put your own data under extensions.<prefix>."
            yield Violation("ENV-061", text, path, severity=severity)


def _faults(
    cls: type[Message], value: Mapping[str, Any], errors: Iterable[jsonschema_rs.ValidationError]
) -> Iterator[Violation]:
    """What the schema finds, as violations of the rules that say so."""
    later = rules.newer(value.get("aaep_version"))
    told = set()
    for error in errors:
        path = list(error.instance_path)
        keyword = str(error.kind.name)
        # The rules judge these themselves, for the fast decoder does not see them.
        if keyword in ("pattern", "uniqueItems", "minProperties", "prefixItems") or path == ["type"]:
            continue
        if path[:1] == ["@context"] and issubclass(cls, Envelope):
            continue
        if keyword in ("additionalProperties", "unevaluatedProperties"):
            if not path and issubclass(cls, Envelope):
                continue
            kind: Any = error.kind  # its attributes depend on the keyword
            for name in kind.unexpected:
                rule = _within(cls, path, _owner(cls, [*path, ""])[0].rules.get("", "ENV-061"))
                yield Violation(
                    rule,
                    f"{name} is not part of this object. Leave it out.",
                    pointer(*path, name),
                    severity="warning" if later else "",
                )
            continue
        if keyword == "required" or tuple(path) not in told:
            yield _fault(cls, path, keyword, error, later=later)
        if keyword != "required":
            told.add(tuple(path))


def _owner(cls: type[Message], path: list[str | int]) -> tuple[type[Message], str]:
    """The Struct a path leads into, and the name of the member it stops at there."""
    owner, name = cls, ""
    for step in path:
        if isinstance(step, int):
            continue
        if name in lenient.NESTED:
            owner, name = lenient.NESTED[name], step
        elif not name:
            name = step
    return owner, name


def _within(cls: type[Message], path: list[str | int], rule: str) -> str:
    # Whatever is wrong inside these members of a handshake message is that member's rule.
    if path and path[0] in ("honored_capabilities", "producer") and cls is messages.SubscriptionAccepted:
        return cls.rules[str(path[0])]
    return rule


def _fault(
    cls: type[Message], path: list[str | int], keyword: str, error: jsonschema_rs.ValidationError, *, later: bool
) -> Violation:
    owner, name = _owner(cls, path)
    if keyword == "required":
        kind: Any = error.kind
        missing = str(kind.property)
        owner = _owner(cls, [*path, missing])[0]
        rule = owner.rules.get(missing) or owner.rules["*"]
        if issubclass(owner, Envelope) and missing != "urgency":
            rule = "ENV-001" if missing in rules.required(Envelope) else owner.rules["*"]
        return Violation(_within(cls, path, rule), f"{missing} is missing. Add it.", pointer(*path))
    rule = rules.rule_of(owner, name) if name in owner.__struct_encode_fields__ else owner.rules.get("", "ENV-061")
    severity: rules.Grade = ""
    if issubclass(cls, Envelope):
        if isinstance(error.instance, int) and abs(error.instance) > 2**53 - 1 and keyword == "maximum":
            rule = "ENC-006"
            severity = "warning" if abs(error.instance) == 2**53 else ""
        elif keyword in ("maxLength", "maxItems"):
            rule = "LIM-007" if name == "available_languages" else "LIM-011"
        elif keyword in ("minimum", "maximum"):
            rule = rule if name == "sequence_number" else "LIM-012"
        elif keyword in ("enum", "const") and later:
            severity = "warning"
    elif rule == "CAP-047":  # CF-060: an unknown capability is dropped, whatever it is
        severity = "warning"
    sentence = f"{name or 'The message'} {_expected(keyword, error)}; found {_show(error.instance)}."
    return Violation(_within(cls, path, rule), sentence, pointer(*path), severity=severity)


def _expected(keyword: str, error: jsonschema_rs.ValidationError) -> str:
    kind: Any = error.kind
    match keyword:
        case "type":
            return f"should be {' or '.join(_WORDS.get(word, word) for word in kind.types)}"
        case "enum":
            return f"should be one of {', '.join(map(str, kind.options))}"
        case "const":
            return "should have its fixed value"
        case "minLength":
            return "should not be empty. Leave it out instead"
        case "maxLength":
            return f"should have at most {kind.limit} characters"
        case "minimum" | "maximum":
            return f"should be {'at least' if keyword == 'minimum' else 'at most'} {kind.limit}"
        case "minItems" | "maxItems":
            return f"should list {'at least' if keyword == 'minItems' else 'at most'} {kind.limit}"
    return "has the wrong form"


_WORDS: Final = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def _show(value: object) -> str:
    if isinstance(value, (dict, list, tuple)):
        return "an object" if isinstance(value, dict) else "a list"
    shown = msgspec.json.encode(value).decode() if not isinstance(value, float) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
