"""
Decode and encode messages.

:func:`read` returns a message and everything that is wrong with it, for
judging. :func:`decode` returns a message for use, or raises a typed error if
there is none. Both take a fast path for a message that is exactly what its type
says; only a message that fails there is examined closely.

:func:`encode` writes every member and value that :func:`decode` was given,
known or not, so that a relay loses nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import FrameError, RemoteProtocolError, Violation
from ..text.languages import parse_variant_name
from . import events, messages
from .attend_extension import PREFIX
from .events import CORE_EVENTS, CRITICAL, Envelope, ExtensionEvent, UnknownEvent
from .extensions import Registry
from .fields import URI_PATTERN, Message, get_member, json_pointer, struct_fields
from .messages import MESSAGES, SHAPES
from .rules import (
    BUNDLED_REGISTRY,
    FREE_MEMBERS,
    Grade,
    check,
    check_every_rule,
    check_shape,
    is_newer_version,
    required_members,
    rule_for_member,
)
from .schema import ShapeError, shape_errors

__all__ = [
    "NESTED",
    "NULL",
    "UNREADABLE",
    "canonical_type",
    "decode",
    "encode",
    "parse_json",
    "read",
    "replace",
    "view_as",
    "view_as_core_event",
    "view_unusable",
]

M = TypeVar("M", bound=Message)

_encoder: Final = msgspec.json.Encoder()
_encode_into: Final = _encoder.encode_into
_HEAD_BYTES: Final = 256  # where the type of most messages is; in those that are sorted it is near the end
# Payload members that a session state cannot do without, and values it assumes for others that are missing.
_NEEDED_MEMBERS: Final = frozenset(["to_state", "reply_token", "chunk", "position", "complete"])
_ASSUMED_VALUES: Final[dict[str, Any]] = {"from_state": "", "tool": "", "timeout_seconds": 86_400}
_ENVELOPE_MEMBERS: Final = ("context", "event_id", "session_id", "timestamp", "producer")  # ENV-001, ENV-005


class _Shape(msgspec.Struct, frozen=True):
    """How the messages of one type are decoded, and where a member that is missing or repeated could hide in them."""

    decode: Callable[[bytes], Message]
    decode_defaulted: Callable[[bytes], object]  # refuses a message that lacks a member with a default
    defaulted_names: tuple[bytes, ...]  # those members, besides the type, as they stand in JSON without spaces
    free_attributes: tuple[str, ...]  # attributes that hold objects with any names and values
    is_event: bool

    @classmethod
    def of(cls, type_: type[Message]) -> _Shape:
        """Return the shape of a type."""
        fields = struct_fields(type_)
        names = {field.name: field.encode_name for field in fields if field.default not in (UNSET, msgspec.NODEFAULT)}
        defaulted = msgspec.defstruct(type_.__name__, [(name, msgspec.Raw) for name in names], rename=names)
        return cls(
            msgspec.json.Decoder(type_).decode,
            msgspec.json.Decoder(defaulted).decode,
            tuple(f'"{name}":'.encode() for name in names.values() if name != "type"),
            tuple(field.name for field in fields if field.encode_name in FREE_MEMBERS),
            issubclass(type_, Envelope),
        )

    def is_shortest(self, message: Message, raw: bytes, encoded: bytearray) -> bool:
        """
        Whether an event is as long as our encoding of it and lacks nothing, so that it can have no repeated name.

        Our encoding is the shortest there is: only a percentage could be up to three bytes shorter (1e-5), and a
        member is longer than that. In a free object any number could be, and any name could stand.
        """
        if len(raw) != len(encoded) or not self.is_event:
            return False
        for attribute in self.free_attributes:
            if getattr(message, attribute) is not UNSET:
                return False
        # Nothing but a name can stand in quotes before a colon.
        return all(map(raw.__contains__, self.defaulted_names))

    def has_all_colons(self, raw: bytes, encoded: bytearray) -> bool:
        """
        Whether a message has as many colons as our encoding of it and lacks nothing, so that it has no repeated name.

        The colons of a missing member could make up for those of a repeated name. Escapes could hide a colon, so a
        message with escapes needs a closer look.
        """
        if 92 in raw and b"\\u" in raw:  # 92 is a backslash: looking for one byte first is much faster
            return False
        if encoded.count(b":") != raw.count(b":"):
            return False
        try:
            self.decode_defaulted(raw)
        except msgspec.ValidationError:
            return False
        return True


_SHAPES_BY_NAME: Final = {type_.encode(): _Shape.of(cls) for type_, cls in SHAPES.items()}


def _decode_exact(raw: bytes, scratch: bytearray) -> Message | None:
    """
    Return the message if it is exactly what its type says; None if a closer look is needed.

    The type is guessed from its place in the bytes, and the decoder checks the
    guess. msgspec lets the last of two equal names win and fills in defaults, and
    neither may pass unnoticed (C-26). A message that we would encode to the same
    bytes has neither; of one in another layout, its length or its colons tell.
    """
    start = raw.find(b'"type":"', 0, _HEAD_BYTES) + 8
    if start < 8:
        start = raw.rfind(b'"type":"') + 8
    if start < 8:
        start = raw.find(b'"type": "') + 9
    shape = _SHAPES_BY_NAME.get(raw[start : raw.find(b'"', start)])
    if shape is None:
        return None
    try:
        message = shape.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    _encode_into(message, scratch)
    if scratch == raw:
        return message
    if shape.is_shortest(message, raw, scratch) or shape.has_all_colons(raw, scratch):
        return message
    return None


def _decode_escaped(raw: bytes) -> Message | None:
    """Return the message if it is exactly what its type says and has escaped characters; None otherwise."""
    if 92 not in raw or b"\\u" not in raw:
        return None
    members, violations = parse_json(raw)
    type_ = members.get("type") if isinstance(members, dict) and not violations else None
    cls = SHAPES.get(type_) if isinstance(type_, str) else None
    if cls is None or not required_members(cls) <= members.keys():
        return None
    try:
        return msgspec.convert(members, cls)
    except msgspec.ValidationError:
        return None


def read(
    raw: bytes, registry: Registry = BUNDLED_REGISTRY, strict: bool = False, scratch: bytearray | None = None
) -> tuple[Message | None, Sequence[Violation]]:
    """Return a message and everything that is wrong with it; the message is None if it cannot be used."""
    message = _decode_exact(raw, bytearray() if scratch is None else scratch) or _decode_escaped(raw)
    if message is not None:
        try:
            return message, check(message, raw, registry, strict)
        except RecursionError:  # nested too deeply to be judged, as find_violations() reports
            pass
    return _decode_leniently(raw, registry), find_violations(raw, registry, strict=strict)


def decode(raw: bytes | str, registry: Registry = BUNDLED_REGISTRY) -> Message:
    """
    Decode a message leniently.

    Raises :exc:`~aaep.errors.FrameError` for bytes that are not a JSON object and
    :exc:`~aaep.errors.RemoteProtocolError` for a message that lacks required
    members. An event with a sound envelope is always returned: as an
    :class:`~aaep.protocol.events.UnknownEvent` if its payload cannot be used.
    """
    data = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    message = _decode_exact(data, bytearray()) or _decode_escaped(data) or _decode_leniently(data, registry)
    if message is not None:
        return message
    violations = find_violations(data, registry)
    is_unreadable = any(violation.rule in ("ENC-001", "ENC-002", "ENC-005", "VAL-001") for violation in violations)
    error_class = FrameError if is_unreadable else RemoteProtocolError
    raise error_class("This is not a usable AAEP message.", violations)


def _decode_leniently(raw: bytes, registry: Registry) -> Message | None:
    members, violations = parse_json(raw)
    # Two parsers may disagree about a repeated name, so such a message is never used (C-26).
    if not isinstance(members, dict) or any(violation.rule in ("ENC-002", "ENC-005") for violation in violations):
        return None
    cls, type_, _ = identify(members, registry)
    kept_raw = raw if not violations else _encoder.encode(members)
    message = view_as(cls, {**members, "type": type_}, kept_raw, usable=True)
    if not issubclass(cls, Envelope):
        return message if _is_complete(message) else None
    if not type_ or any(getattr(message, name) in (UNSET, "") for name in _ENVELOPE_MEMBERS):
        return None
    if message.producer.agent_id is UNSET:  # type: ignore[attr-defined]  # an Envelope
        return None
    if _is_complete(message):
        return message
    return view_as(UnknownEvent, {**members, "type": type_}, kept_raw, usable=True)


def view_as_core_event(event: UnknownEvent) -> Envelope:
    """
    Return an event as the core type it names, for judging its session, even if its payload is incomplete.

    Otherwise later events would be judged as if this one had never been sent. It
    stays unknown where the session depends on a missing member.
    """
    cls = CORE_EVENTS.get(event.type)
    if cls is None or event.raw is None:
        return event
    members = parse_json(event.raw)[0]
    return _assume_missing(view_as(cls, {**members, "type": event.type}, usable=True)) or event


def view_unusable(members: Mapping[str, Any], envelope: Mapping[str, Any]) -> Envelope | None:
    """
    Return a message that :func:`read` cannot use as the core event it names, for following its session.

    ``envelope`` gives the members to assume where the message has none that can be
    used. None if its type is not known or the session depends on something else.
    """
    type_ = members.get("type")
    cls = CORE_EVENTS.get(canonical_type(type_)) if isinstance(type_, str) else None
    if cls is None:
        return None
    event = view_as(cls, members, usable=True)
    producer = get_member(event, "producer")
    has_agent = producer is not None and get_member(producer, "agent_id") is not None
    if not has_agent and "producer" not in envelope:
        return None
    absent = {name for name in envelope if getattr(event, name) is UNSET or (name == "producer" and not has_agent)}
    return _assume_missing(msgspec.structs.replace(event, **{name: envelope[name] for name in absent}))


def _assume_missing(event: Envelope) -> Envelope | None:
    """Return an event with values for missing members of its payload; None if the session depends on one of them."""
    missing = {name for name in event.__struct_fields__ if getattr(event, name) is UNSET}
    if not missing.isdisjoint(_NEEDED_MEMBERS):
        return None
    return msgspec.structs.replace(event, **{name: _ASSUMED_VALUES[name] for name in missing & _ASSUMED_VALUES.keys()})


def _is_complete(message: Message) -> bool:
    for field in struct_fields(type(message)):
        value = getattr(message, field.name)
        if value is UNSET and field.default is not UNSET:
            return False
        if isinstance(value, Message) and not _is_complete(value):
            return False
    return True


def encode(message: Message) -> bytes:
    """Encode a message as compact JSON in the recommended order; one from a peer keeps all its members."""
    raw = message.raw
    if raw is None:
        return _encoder.encode(message)
    return msgspec.json.format(raw.removeprefix(b"\xef\xbb\xbf"), indent=-1)


def replace(message: M, **changes: Any) -> M:
    """Return a copy with some members changed and every unknown one kept."""
    changed = msgspec.structs.replace(message, **changes)
    raw = message.raw
    if raw is not None:
        members = parse_json(raw)[0]
        for field in struct_fields(type(message)):
            if field.name in changes:
                members.pop(field.encode_name, None)
                if changes[field.name] is not UNSET:
                    members[field.encode_name] = msgspec.to_builtins(changes[field.name])
        changed.__dict__["raw"] = _encoder.encode(members)
        changed.__dict__["unknown"] = dict(message.unknown)
    return changed


# -- parsing JSON strictly -----------------------------------------------------------------

UNREADABLE: Final = object()  # the value of bytes that are not JSON
NULL: Final = object()  # a null that was sent, in a view made for judging: present, and of no type

# An unterminated string or comment extends to the end of the text, so that no part is scanned twice.
_STRING: Final = r"""("(?:[^"\\]|\\.)*+"?)"""
_DIALECT_TOKEN: Final = re.compile(
    rf"""{_STRING}|'((?:[^'\\]|\\.)*+)'?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?""", re.DOTALL
)
_TRAILING_COMMA: Final = re.compile(rf"""{_STRING}|,(?=\s*+[}}\]])""", re.DOTALL)
_MAX_DIGITS: Final = 400
_MAX_DEPTH: Final = 128  # levels; §3.7 allows 8, and the rules have to be able to walk the whole message


def canonical_type(type_: str) -> str:
    """Return the one spelling of a type, ``aaep:`` and a name. C-04, C-05, TERM-011 §2.2.7"""
    for namespace in ("https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"):
        if type_.startswith(namespace):
            return "aaep:" + type_[len(namespace) :]
    return type_


def parse_json(raw: bytes) -> tuple[Any, list[Violation]]:
    """
    Parse JSON strictly by RFC 8259 and return the value and the violations. ENC-001, ENC-002, ENC-005 §3.8

    The value is ``UNREADABLE`` if there is none. Duplicate names are refused
    although the last one would win, for another parser may let the first win (C-26).
    """
    violations: list[Violation] = []
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
        violations.append(
            Violation("ENC-001", "The message starts with a byte order mark. Leave it out.", severity="warning")
        )
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return UNREADABLE, [Violation("ENC-001", f"The message is not UTF-8: {error.reason} at byte {error.start}.")]
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object_builder(violations),
            parse_constant=_constant_refuser(violations),
            parse_float=_float_parser(violations),
            parse_int=_int_parser(violations),
        )
        is_too_deep = text.count("{") + text.count("[") > _MAX_DEPTH and _is_too_deep(value)
    except json.JSONDecodeError as error:
        rule, description = (
            ("ENC-002", "a dialect of JSON, not JSON") if _is_json_dialect(text) else ("ENC-001", "not JSON")
        )
        problem = error.msg.removesuffix(" at")
        return UNREADABLE, [Violation(rule, f"The message is {description}: {problem} at character {error.pos}.")]
    except RecursionError:
        is_too_deep = True
    if is_too_deep:
        return UNREADABLE, [Violation("ENC-001", "The message is nested too deeply to be read. Send a flatter one.")]
    if re.search(r"\\u[dD][89a-fA-F]", text):
        value = _replace_surrogates(value, violations)
    return value, violations


def _is_too_deep(value: Any) -> bool:
    """Whether a value is nested more than ``_MAX_DEPTH`` levels deep."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            item
            for container in level
            if isinstance(container, (dict, list))
            for item in (container.values() if isinstance(container, dict) else container)
        ]
    return any(isinstance(item, (dict, list)) for item in level)


def _object_builder(violations: list[Violation]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeated = next(name for name, count in counts.items() if count > 1)
            violations.append(Violation("ENC-002", f"The name {repeated!r} stands twice in one object. Send it once."))
        return built

    return build


def _constant_refuser(violations: list[Violation]) -> Callable[[str], float]:
    def refuse(name: str) -> float:
        violations.append(Violation("ENC-002", f"{name} is not JSON. Leave the member out, or send a string."))
        return 0.0

    return refuse


def _float_parser(violations: list[Violation]) -> Callable[[str], float]:
    def build(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            violations.append(Violation("ENC-005", f"{digits[:40]} is beyond what a JSON number can hold."))
            return 0.0
        return value

    return build


def _int_parser(violations: list[Violation]) -> Callable[[str], int]:
    def build(digits: str) -> int:
        if len(digits) > _MAX_DIGITS:  # infinite as a double, and very slow to parse
            violations.append(Violation("ENC-005", f"{digits[:20]}… is beyond what a JSON number can hold."))
            return 0
        return int(digits)

    return build


def _is_json_dialect(text: str) -> bool:
    """Whether the text would be JSON without comments, trailing commas and single quotes."""
    standard = _DIALECT_TOKEN.sub(_to_standard_json, text)
    standard = _TRAILING_COMMA.sub(lambda match: match[1] or "", standard)
    if standard == text:
        return False
    try:
        json.loads(standard)
    except ValueError:
        return False
    return True


def _to_standard_json(match: re.Match[str]) -> str:
    """Return a string unchanged, a single-quoted string in double quotes, and a blank for a comment."""
    return match[1] or (" " if match[2] is None else json.dumps(match[2]))


def _replace_surrogates(value: Any, violations: list[Violation]) -> Any:
    """Replace lone surrogates, which are no characters, by U+FFFD (C-26)."""
    if isinstance(value, str):
        replaced = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if replaced != value:
            violations.append(Violation("ENC-001", "A text holds half a character (a lone surrogate)."))
        return replaced
    if isinstance(value, dict):
        return {
            _replace_surrogates(name, violations): _replace_surrogates(inner, violations)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_replace_surrogates(inner, violations) for inner in value]
    return value


# -- viewing a JSON object as a message ------------------------------------------------------

NESTED: Final[Mapping[str, type[Message]]] = {
    "producer": events.ProducerInfo,
    "localization_hints": events.LocalizationHints,
    "progress": events.Progress,
    "choices": events.Choice,
    "capabilities": messages.Capabilities,
    "honored_capabilities": messages.Capabilities,
    "event_filters": messages.EventFilters,
}
# C-61: the value that replaces an unknown one of an enumeration.
_CAUTIOUS_VALUES: Final = {
    "error_category": "unknown",
    "status": "error",
    "coalesce_hint": "none",
    "urgency": "normal",
    "verbosity": "normal",
    "text_direction": "auto",
}
# C-61: the safe value, which makes the user be asked, replaces any other: another word, another JSON type, null.
_SAFE_VALUES: Final = {
    "risk_level": "high",
    "irreversible": True,
    "reversibility": "irreversible",
    "default_decision": "reject",
}


def view_as(cls: type[M], members: Mapping[str, Any], raw: bytes = b"", *, usable: bool = False) -> M:
    """
    Return a message of this type with whatever members the JSON object has.

    By default the values are as they came, whatever their type: for judging. With
    ``usable`` they are fit for use: a member of the wrong JSON type or an empty text
    is absent (C-15), and an unknown value becomes the cautious one, as does a value
    of the wrong type where safety depends on it.
    """
    message = _convert_known_members(cls, members) if usable else None
    if message is None:
        values = {
            field.name: _view_member(field, members.get(field.encode_name, UNSET), usable=usable)
            for field in struct_fields(cls)
        }
        if usable and cls in CRITICAL:
            values["urgency"] = "critical"  # C-16: whatever was sent
        message = cls(**values)
    unknown = {name: value for name, value in members.items() if name not in cls.__struct_encode_fields__}
    if unknown:
        message.__dict__["unknown"] = unknown
    if raw:
        message.__dict__["raw"] = raw
    return message


def _convert_known_members(cls: type[M], members: Mapping[str, Any]) -> M | None:
    """Return the message if it is sound apart from unknown members at its top; None otherwise."""
    if not required_members(cls) <= members.keys():
        return None
    try:
        return msgspec.convert({name: members[name] for name in cls.__struct_encode_fields__ if name in members}, cls)
    except msgspec.ValidationError:
        return None


def _view_member(field: msgspec.structs.FieldInfo, value: Any, *, usable: bool) -> Any:
    """Return the value of one member in a view, as it came or fit for use."""
    nested = NESTED.get(field.encode_name)
    if value is None and not usable:
        return NULL
    if nested is not None and isinstance(value, dict):
        # A single object in place of a list cannot be used.
        return UNSET if usable and _can_hold(field.type, ()) else view_as(nested, value, usable=usable)
    if usable and field.encode_name == "extensions" and isinstance(value, dict):
        return _usable_extensions(value)
    if isinstance(value, list):
        value = tuple(
            view_as(nested, item, usable=usable) if nested and isinstance(item, dict) else item for item in value
        )
    if not usable or value is UNSET:
        return value
    if isinstance(value, float) and value.is_integer():
        value = _convert_or(field.type, int(value), _convert_or(field.type, value, value))
    converted = _convert_or(field.type, value, UNSET)
    if converted is not UNSET:
        return converted
    if field.encode_name in _SAFE_VALUES:
        return _SAFE_VALUES[field.encode_name]
    if isinstance(value, str):
        if not _is_text_type(field.type):
            return UNSET
        return _CAUTIOUS_VALUES.get(field.encode_name, value or UNSET)
    if isinstance(value, int) and not isinstance(value, bool) and _can_hold(field.type, 1):
        return value  # out of a range that only the schemas know (C-25)
    if isinstance(value, tuple) and _can_hold(field.type, ()):
        return value
    return UNSET


def _usable_extensions(extensions: dict[str, Any]) -> Any:
    """
    Return the usable part of ``extensions``.

    A.9 shows the parent of a session outside any prefix; it is moved under ours (C-19).
    """
    usable = {prefix: value for prefix, value in extensions.items() if isinstance(value, dict)}
    if isinstance(extensions.get("parent_session_id"), str):
        usable[PREFIX] = {"parent_session_id": extensions["parent_session_id"]} | usable.get(PREFIX, {})
    return usable or UNSET


def _convert_or(type_: Any, value: Any, fallback: Any) -> Any:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError:
        return fallback


def _is_text_type(type_: Any) -> bool:
    """Whether the type takes text at all, whatever its length or value."""
    try:
        msgspec.convert("", type_)
    except msgspec.ValidationError as error:
        return "Expected `str` of length" in str(error) or "Invalid enum value" in str(error)
    return True


def _can_hold(type_: Any, sample: Any) -> bool:
    """Whether the type takes values like the sample, whatever its range or length."""
    try:
        msgspec.convert(sample, type_)
    except msgspec.ValidationError as error:
        return "of length" in str(error) or "Expected `int` " in str(error)
    return True


# -- finding violations ----------------------------------------------------------------------

_COMPACT_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*:[^\s:/][^\s]*")
_ABSOLUTE_URI: Final = re.compile(rf"(?=[^:]*://){URI_PATTERN}")
_AMOUNT_NAMES: Final = re.compile("amount_raw|currency|amount_formatted_[a-z_]+|fx_rate|fx_rate_source")  # C-01, §11.7


def identify(
    members: Mapping[str, Any], registry: Registry = BUNDLED_REGISTRY
) -> tuple[type[Message], str, list[Violation]]:
    """Return a message's class, its canonical type, and what is wrong with how it spells its type."""
    spelling = members.get("type", UNSET)
    if spelling is UNSET:
        return UnknownEvent, "", []  # the missing member is found by the envelope's schema
    if not isinstance(spelling, str):
        return (
            UnknownEvent,
            "",
            [Violation("ENV-007", f"type should be a string; found {_format_value(spelling)}.", "/type")],
        )
    if spelling in MESSAGES:
        return MESSAGES[spelling], spelling, []
    type_ = canonical_type(spelling)
    if type_ in CORE_EVENTS:
        return CORE_EVENTS[type_], type_, [*_check_spelling(spelling, type_)]
    if type_.removeprefix("aaep:") in MESSAGES:
        name = type_.removeprefix("aaep:")
        rule = rule_for_member(MESSAGES[name], "type")
        return MESSAGES[name], name, [Violation(rule, f"type should be {name}, without a prefix.", "/type")]
    if type_.startswith("aaep:"):
        severity: Grade = "warning" if is_newer_version(members.get("aaep_version")) else ""
        text = f"{type_} is not one of the twelve core types. Use a prefix of your own for your own types."
        return UnknownEvent, type_, [Violation("ENV-009", text, "/type", severity=severity)]
    return ExtensionEvent, type_, [*_check_extension_type(type_, members, registry)]


def _check_spelling(spelling: str, type_: str) -> Iterator[Violation]:
    if "/vocab/" in spelling:
        yield Violation("TERM-011", f"{spelling} is not how the type is spelt. Use {type_}.", "/type")
    elif spelling != type_:
        yield Violation("ENV-008", f"The short spelling {type_} is preferred.", "/type")


def _check_extension_type(type_: str, members: Mapping[str, Any], registry: Registry) -> Iterator[Violation]:
    """Check the type of an extension's event. ENV-007, ENV-010 §3.2.2, EXT-018 §7.3, EXT-027 §7.4(3)"""
    if _ABSOLUTE_URI.fullmatch(type_):
        yield Violation(
            "ENV-010", f"Whether {type_} is defined anywhere cannot be told here.", "/type", severity="info"
        )
        return
    if not _COMPACT_TYPE.fullmatch(type_):
        yield Violation("ENV-007", f"type should be prefix:name or an absolute URI; found {type_!r}.", "/type")
        return
    prefix = type_.split(":", 1)[0]
    contexts = members.get("@context")
    claimed, has_unregistered = registry.declared(contexts if isinstance(contexts, list) else ())
    extension = claimed.get(prefix)
    if extension is None and not has_unregistered:
        text = f"@context declares no extension with the prefix {prefix}. Add its context URI after the core's."
        yield Violation("EXT-018", text, "/type")
    elif extension is None:
        yield Violation("ENV-010", f"Whether {type_} is defined cannot be told here.", "/type", severity="info")
    elif type_ not in extension.events:
        yield Violation("ENV-010", f"The extension {prefix} defines no type {type_}.", "/type")
    else:
        shape = extension.events[type_]
        envelope = {*ExtensionEvent.__struct_encode_fields__} - {*shape.__struct_encode_fields__}
        payload = {name: value for name, value in members.items() if name not in envelope}
        yield from check_shape(payload, shape, "EXT-027", "")


def find_violations(
    raw: bytes | str, registry: Registry = BUNDLED_REGISTRY, *, strict: bool = False
) -> list[Violation]:
    """Return everything that is wrong with one message, in plain sentences."""
    data = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    value, violations = parse_json(data)
    if value is UNREADABLE:
        return violations
    if not isinstance(value, dict):
        return [*violations, Violation("VAL-001", f"A message is a JSON object; found {_format_value(value)}.")]
    cls, type_, spelling = identify(value, registry)
    violations += spelling
    canonical = {**value, "type": type_} if type_ else value
    violations += _find_shape_violations(cls, value, shape_errors(type_, canonical))
    if issubclass(cls, Envelope):
        violations += _find_unknown_members(cls, value)
    message = view_as(cls, value)
    reported_paths = {violation.path for violation in violations if violation.path and violation.rule != "ENV-008"}
    for violation in check_every_rule(message, msgspec.json.encode(value), registry, strict=strict):
        # One defect, one violation: a member whose shape is wrong has been reported already.
        if reported_paths.isdisjoint(_path_and_parents(violation.path)):
            violations.append(violation)
    id_ = value.get("event_id")
    if isinstance(id_, str):
        violations = [msgspec.structs.replace(violation, event_id=id_) for violation in violations]
    return sorted(violations, key=lambda violation: _validation_step(violation.rule))


def _path_and_parents(path: str) -> Iterator[str]:
    """Yield a JSON pointer and those of everything that contains its target."""
    while path:
        yield path
        path = path.rpartition("/")[0]


# VAL-010 §3.9: the order in which an event is judged, so that the first violation is of the earliest failed step.
_VALIDATION_STEPS: Final = (
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


def _validation_step(rule: str) -> int:
    return next(
        (step for step, pattern in enumerate(_VALIDATION_STEPS) if pattern.fullmatch(rule)), len(_VALIDATION_STEPS)
    )


def _find_unknown_members(cls: type[Message], members: Mapping[str, Any]) -> Iterator[Violation]:
    """Find names at the top of a message that do not belong there. ENV-058, ENV-060, ENV-061 §3.5"""
    is_newer = is_newer_version(members.get("aaep_version"))
    for name in members:
        path = json_pointer(name)
        if name in cls.__struct_encode_fields__ or name == "@context":
            continue
        if name.startswith("aaep_"):
            yield Violation("ENV-058", f"Names that start with aaep_ are reserved; found {name}.", path)
        elif name in ("@id", "@graph", "@base", "@vocab"):
            yield Violation("ENV-060", f"{name} is not used in AAEP. Leave it out.", path)
        elif name.startswith("@") or (name == "id" and not cls.others):
            yield Violation("ENV-060", f"{name} means something in JSON-LD. Leave it out.", path, severity="warning")
        elif not cls.others:
            parts = parse_variant_name(name)
            if parts is not None and parts[0] in cls.__struct_encode_fields__:
                continue
            severity: Grade = "warning" if is_newer or _AMOUNT_NAMES.fullmatch(name) else ""
            text = f"{name} is not part of this event. Put your own data under extensions.<prefix>."
            yield Violation("ENV-061", text, path, severity=severity)


def _find_shape_violations(
    cls: type[Message], members: Mapping[str, Any], errors: Iterable[ShapeError]
) -> Iterator[Violation]:
    """Turn schema errors into violations of the rules behind them."""
    is_newer = is_newer_version(members.get("aaep_version"))
    reported_paths = set()
    for error in errors:
        path = error.path
        keyword = error.keyword
        # Rules check these keywords, since the fast decoder does not.
        if keyword in ("pattern", "uniqueItems", "minProperties", "prefixItems") or path == ["type"]:
            continue
        if path[:1] == ["@context"] and issubclass(cls, Envelope):
            continue
        if keyword in ("additionalProperties", "unevaluatedProperties"):
            if not path and issubclass(cls, Envelope):
                continue
            for name in error.kind.unexpected:
                rule = _rule_within(cls, path, _find_owner(cls, [*path, ""])[0].rules.get("", "ENV-061"))
                yield Violation(
                    rule,
                    f"{name} is not part of this object. Leave it out.",
                    json_pointer(*path, name),
                    severity="warning" if is_newer else "",
                )
            continue
        if keyword == "required" or tuple(path) not in reported_paths:
            yield _shape_violation(cls, path, keyword, error, is_newer=is_newer)
        if keyword != "required":
            reported_paths.add(tuple(path))


def _find_owner(cls: type[Message], path: list[str | int]) -> tuple[type[Message], str]:
    """Return the Struct that a path leads into, and the name of its member there."""
    owner = cls
    name = ""
    for step in path:
        if isinstance(step, int):
            continue
        if name in NESTED:
            owner = NESTED[name]
            name = step
        elif not name:
            name = step
    return owner, name


def _rule_within(cls: type[Message], path: list[str | int], rule: str) -> str:
    """Return the rule to cite for an error at a path; inside these handshake members it is the member's own."""
    if path and path[0] in ("honored_capabilities", "producer") and cls is messages.SubscriptionAccepted:
        return cls.rules[str(path[0])]
    return rule


def _shape_violation(
    cls: type[Message], path: list[str | int], keyword: str, error: ShapeError, *, is_newer: bool
) -> Violation:
    """Return the violation for one schema error."""
    owner, name = _find_owner(cls, path)
    if keyword == "required":
        missing = str(error.kind.property)
        owner = _find_owner(cls, [*path, missing])[0]
        rule = owner.rules.get(missing) or owner.rules["*"]
        if issubclass(owner, Envelope) and missing != "urgency":
            rule = "ENV-001" if missing in required_members(Envelope) else owner.rules["*"]
        return Violation(_rule_within(cls, path, rule), f"{missing} is missing. Add it.", json_pointer(*path))
    rule = rule_for_member(owner, name) if name in owner.__struct_encode_fields__ else owner.rules.get("", "ENV-061")
    severity: Grade = ""
    if issubclass(cls, Envelope):
        if isinstance(error.instance, int) and abs(error.instance) > 2**53 - 1 and keyword == "maximum":
            rule = "ENC-006"
            severity = "warning" if abs(error.instance) == 2**53 else ""
        elif keyword in ("maxLength", "maxItems"):
            rule = "LIM-007" if name == "available_languages" else "LIM-011"
        elif keyword in ("minimum", "maximum"):
            rule = rule if name == "sequence_number" else "LIM-012"
            severity = "error" if (name, keyword) in _PROSE_BOUNDS else ""
        elif keyword in ("enum", "const") and is_newer:
            severity = "warning"
    elif rule == "CAP-047":  # CF-060: an unknown capability is dropped, whatever it is
        severity = "warning"
    sentence = f"{name or 'The message'} {_describe_expected(keyword, error)}; found {_format_value(error.instance)}."
    return Violation(_rule_within(cls, path, rule), sentence, json_pointer(*path), severity=severity)


# §4.2.2, §4.3.3, §6.4: bounds that the text sets too, so that C-25 does not soften them.
_PROSE_BOUNDS: Final = frozenset(
    [("percent", "minimum"), ("percent", "maximum"), ("position", "minimum"), ("timeout_seconds", "minimum")]
)


def _describe_expected(keyword: str, error: ShapeError) -> str:
    kind = error.kind
    match keyword:
        case "type":
            return f"should be {' or '.join(_TYPE_WORDS.get(word, word) for word in kind.types)}"
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


_TYPE_WORDS: Final = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def _format_value(value: object) -> str:
    if isinstance(value, (dict, list, tuple)):
        return "an object" if isinstance(value, dict) else "a list"
    text = msgspec.json.encode(value).decode() if not isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
