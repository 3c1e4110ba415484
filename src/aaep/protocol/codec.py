"""
Bytes to message and back.

:func:`read` judges: a message and everything wrong with it. :func:`decode`
uses: a message, or a typed error when there is none to be had. Both take the
fast path for a message that is exactly what its type says, and only what fails
there is looked at closely.

:func:`encode` gives back every member and value that :func:`decode` was given,
known or not, so that a relay loses nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import FrameError, RemoteProtocolError, Violation
from ..text.languages import parse_variant_name
from . import events, messages
from .attend_extension import PREFIX
from .events import CORE_EVENTS, CRITICAL, Envelope, ExtensionEvent, UnknownEvent
from .extensions import Registry
from .fields import Message, pointer, struct_fields
from .messages import MESSAGES, SHAPES
from .rules import (
    BUNDLED,
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
    "as_meant",
    "canonical_type",
    "decode",
    "encode",
    "parse_json",
    "read",
    "replace",
    "view_as",
]

M = TypeVar("M", bound=Message)

_encoder: Final = msgspec.json.Encoder()
_encode_into: Final = _encoder.encode_into
_DECODERS: Final[dict[bytes, Callable[[bytes], Message]]] = {
    type_.encode(): msgspec.json.Decoder(cls).decode for type_, cls in SHAPES.items()
}
# Of the payload, what a session cannot do without, and what it can take for nothing said.
_NEEDED: Final = frozenset(["to_state", "reply_token", "chunk", "position", "complete"])
_ASSUMED: Final[dict[str, Any]] = {"from_state": "", "tool": "", "timeout_seconds": 86_400}
_ENVELOPE: Final = ("context", "event_id", "session_id", "timestamp", "producer")  # ENV-001, ENV-005


def _decode_exact(raw: bytes, scratch: bytearray) -> Message | None:
    """
    The message, if it is exactly what its type says; None if a closer look is needed.

    The type is guessed from its place in the bytes, and the guess is checked by
    the decoder. msgspec lets the last of two equal names win and fills in
    defaults, and neither may pass (C-26). A message that we would write just as
    it came has neither. One in another layout has neither if it has as many
    colons as we would write and lacks nothing that has a default, for the colons
    of what it lacks could make up for those of a second name. Only escapes could
    hide a colon, so they are for the closer look.
    """
    start = raw.find(b'"type":"') + 8
    if start < 8:
        start = raw.find(b'"type": "') + 9
    decoder = _DECODERS.get(raw[start : raw.find(b'"', start)])
    if decoder is None:
        return None
    try:
        message = decoder(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    _encode_into(message, scratch)
    if scratch == raw:
        return message
    if b"\\u" in raw or scratch.count(b":") != raw.count(b":") or not _is_fully_given(type(message), raw):
        return None
    return message


@cache
def _defaulted_decoder(cls: type[Message]) -> Callable[[bytes], msgspec.Struct]:
    """Decodes, of a message, what has a default, and refuses it where that is missing."""
    names = {
        field.name: field.encode_name for field in struct_fields(cls) if field.default not in (UNSET, msgspec.NODEFAULT)
    }
    shape = msgspec.defstruct(cls.__name__, [(name, msgspec.Raw) for name in names], rename=names)
    return msgspec.json.Decoder(shape).decode


def _is_fully_given(cls: type[Message], raw: bytes) -> bool:
    """Whether nothing was filled in."""
    try:
        _defaulted_decoder(cls)(raw)
    except msgspec.ValidationError:
        return False
    return True


def _decode_escaped(raw: bytes) -> Message | None:
    """The same for a message whose text is written with escapes, as many encoders write what is not ASCII."""
    if b"\\u" not in raw:
        return None
    given, broken = parse_json(raw)
    type_ = given.get("type") if isinstance(given, dict) and not broken else None
    cls = SHAPES.get(type_) if isinstance(type_, str) else None
    if cls is None or not required_members(cls) <= given.keys():
        return None
    try:
        return msgspec.convert(given, cls)
    except msgspec.ValidationError:
        return None


def read(
    raw: bytes, registry: Registry = BUNDLED, strict: bool = False, scratch: bytearray | None = None
) -> tuple[Message | None, Sequence[Violation]]:
    """A message and everything wrong with it; no message when there is none to be had."""
    message = _decode_exact(raw, bytearray() if scratch is None else scratch) or _decode_escaped(raw)
    if message is not None:
        try:
            return message, check(message, raw, registry, strict)
        except RecursionError:  # nested too deeply to be judged
            pass  # as explain() will say
    return _decode_leniently(raw, registry), find_violations(raw, registry, strict=strict)


def decode(raw: bytes | str, registry: Registry = BUNDLED) -> Message:
    """
    A message, leniently.

    Raises :exc:`~aaep.errors.FrameError` for what is not a JSON object and
    :exc:`~aaep.errors.RemoteProtocolError` for what lacks what its type needs.
    An event whose envelope is sound always comes through: as an
    :class:`~aaep.protocol.events.UnknownEvent` if its payload cannot be used.
    """
    data = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    message = _decode_exact(data, bytearray()) or _decode_escaped(data) or _decode_leniently(data, registry)
    if message is not None:
        return message
    found = find_violations(data, registry)
    unreadable = any(violation.rule in ("ENC-001", "ENC-002", "ENC-005", "VAL-001") for violation in found)
    raise (FrameError if unreadable else RemoteProtocolError)("This is not a usable AAEP message.", found)


def _decode_leniently(raw: bytes, known: Registry) -> Message | None:
    given, broken = parse_json(raw)
    # Two parsers may disagree about a name that stands twice, so it is never used (C-26).
    if not isinstance(given, dict) or any(v.rule in ("ENC-002", "ENC-005") for v in broken):
        return None
    cls, type_, _ = identify(given, known)
    kept = raw if not broken else _encoder.encode(given)
    message = view_as(cls, {**given, "type": type_}, kept, settle=True)
    if not issubclass(cls, Envelope):
        return message if _is_complete(message) else None
    if not type_ or any(getattr(message, name) in (UNSET, "") for name in _ENVELOPE):
        return None
    if message.producer.agent_id is UNSET:  # type: ignore[attr-defined]  # an Envelope
        return None
    if _is_complete(message):
        return message
    return view_as(UnknownEvent, {**given, "type": type_}, kept, settle=True)


def as_meant(event: UnknownEvent) -> Envelope:
    """
    What an event is to its session: of the type it names, though its payload lacks something.

    Only for judging: what comes after it would else be judged as if it had
    never been sent. Where the session rests on what it lacks it stays unknown.
    """
    cls = CORE_EVENTS.get(event.type)
    if cls is None or event.raw is None:
        return event
    given = parse_json(event.raw)[0]
    known = view_as(cls, {**given, "type": event.type}, settle=True)
    lacking = {name for name in cls.__struct_fields__ if getattr(known, name) is UNSET}
    if not lacking.isdisjoint(_NEEDED):
        return event
    return msgspec.structs.replace(known, **{name: _ASSUMED[name] for name in lacking & _ASSUMED.keys()})


def _is_complete(message: Message) -> bool:
    for field in struct_fields(type(message)):
        value = getattr(message, field.name)
        if value is UNSET and field.default is not UNSET:
            return False
        if isinstance(value, Message) and not _is_complete(value):
            return False
    return True


def encode(message: Message) -> bytes:
    """Compact JSON, members in the recommended order; what came from a peer keeps everything it held."""
    raw = message.raw
    if raw is None:
        return _encoder.encode(message)
    return msgspec.json.format(raw.removeprefix(b"\xef\xbb\xbf"), indent=-1)


def replace(message: M, **changes: Any) -> M:
    """A copy with some members changed and every unknown one kept."""
    changed = msgspec.structs.replace(message, **changes)
    raw = message.raw
    if raw is not None:
        given = parse_json(raw)[0]
        for field in struct_fields(type(message)):
            if field.name in changes:
                given.pop(field.encode_name, None)
                if changes[field.name] is not UNSET:
                    given[field.encode_name] = msgspec.to_builtins(changes[field.name])
        changed.__dict__["raw"] = _encoder.encode(given)
        changed.__dict__["unknown"] = dict(message.unknown)
    return changed


# -- strict JSON, and what is not --

UNREADABLE: Final = object()
NULL: Final = object()  # a null that was sent, in a view made for judging: present, and of no type

# What is begun and never ended goes to the end of the text, so that nothing is looked through twice.
_STRING: Final = r"""("(?:[^"\\]|\\.)*+"?)"""
_FOREIGN: Final = re.compile(rf"""{_STRING}|'((?:[^'\\]|\\.)*+)'?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?""", re.DOTALL)
_TRAILING: Final = re.compile(rf"""{_STRING}|,(?=\s*+[}}\]])""", re.DOTALL)
_MOST_DIGITS: Final = 400
_DEEPEST: Final = 128  # levels; §3.7 allows 8, and what judges a message must be able to follow it down


def canonical_type(type_: str) -> str:
    """One spelling for a type: ``aaep:`` and a name. C-04, C-05, TERM-011 §2.2.7"""
    for start in ("https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"):
        if type_.startswith(start):
            return "aaep:" + type_[len(start) :]
    return type_


def parse_json(raw: bytes) -> tuple[Any, list[Violation]]:
    """
    Parse JSON as RFC 8259 has it, and say what is not. ENC-001, ENC-002, ENC-005 §3.8

    Returns the value (``UNREADABLE`` if there is none) and the violations.
    Duplicate names are refused although the last one would win, for another
    parser may let the first win (C-26).
    """
    found: list[Violation] = []
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
        found.append(
            Violation("ENC-001", "The message starts with a byte order mark. Leave it out.", severity="warning")
        )
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return UNREADABLE, [Violation("ENC-001", f"The message is not UTF-8: {error.reason} at byte {error.start}.")]
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object(found),
            parse_constant=_constant(found),
            parse_float=_float(found),
            parse_int=_int(found),
        )
        nested = text.count("{") + text.count("[") > _DEEPEST and _is_too_deep(value)
    except json.JSONDecodeError as error:
        rule, why = ("ENC-002", "a dialect of JSON, not JSON") if _is_json_dialect(text) else ("ENC-001", "not JSON")
        what = error.msg.removesuffix(" at")
        return UNREADABLE, [Violation(rule, f"The message is {why}: {what} at character {error.pos}.")]
    except RecursionError:
        nested = True
    if nested:
        return UNREADABLE, [Violation("ENC-001", "The message is nested too deeply to be read. Send a flatter one.")]
    if re.search(r"\\u[dD][89a-fA-F]", text):
        value = _replace_surrogates(value, found)
    return value, found


def _is_too_deep(value: Any) -> bool:
    """Whether a value is nested more deeply than anything we read."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return any(isinstance(one, (dict, list)) for one in level)


def _object(found: list[Violation]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):
            times = Counter(name for name, _ in pairs)
            twice = next(name for name, number in times.items() if number > 1)
            found.append(Violation("ENC-002", f"The name {twice!r} stands twice in one object. Send it once."))
        return built

    return build


def _constant(found: list[Violation]) -> Callable[[str], float]:
    def refuse(name: str) -> float:
        found.append(Violation("ENC-002", f"{name} is not JSON. Leave the member out, or send a string."))
        return 0.0

    return refuse


def _float(found: list[Violation]) -> Callable[[str], float]:
    def build(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            found.append(Violation("ENC-005", f"{digits[:40]} is beyond what a JSON number can hold."))
            return 0.0
        return value

    return build


def _int(found: list[Violation]) -> Callable[[str], int]:
    def build(digits: str) -> int:
        if len(digits) > _MOST_DIGITS:  # as a double it would be infinite; parsing it could take for ever
            found.append(Violation("ENC-005", f"{digits[:20]}… is beyond what a JSON number can hold."))
            return 0
        return int(digits)

    return build


def _is_json_dialect(text: str) -> bool:
    """Whether the text would be JSON without comments, trailing commas and single quotes."""
    plain = _FOREIGN.sub(_native, text)
    plain = _TRAILING.sub(lambda match: match[1] or "", plain)
    if plain == text:
        return False
    try:
        json.loads(plain)
    except ValueError:
        return False
    return True


def _native(match: re.Match[str]) -> str:
    """A string as it is, one in single quotes in double ones, and a blank for a comment."""
    return match[1] or (" " if match[2] is None else json.dumps(match[2]))


def _replace_surrogates(value: Any, found: list[Violation]) -> Any:
    """Replace lone surrogates, which are no characters, by U+FFFD (C-26)."""
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if whole != value:
            found.append(Violation("ENC-001", "A text holds half a character (a lone surrogate)."))
        return whole
    if isinstance(value, dict):
        return {_replace_surrogates(name, found): _replace_surrogates(inner, found) for name, inner in value.items()}
    if isinstance(value, list):
        return [_replace_surrogates(inner, found) for inner in value]
    return value


# -- views ------------------------------------------------------------------------

NESTED: Final[Mapping[str, type[Message]]] = {
    "producer": events.ProducerInfo,
    "localization_hints": events.LocalizationHints,
    "progress": events.Progress,
    "choices": events.Choice,
    "capabilities": messages.Capabilities,
    "honored_capabilities": messages.Capabilities,
    "event_filters": messages.EventFilters,
}
# C-61: what an unknown value of an enumeration counts as.
_CAUTIOUS: Final = {
    "error_category": "unknown",
    "status": "error",
    "coalesce_hint": "none",
    "urgency": "normal",
    "verbosity": "normal",
    "text_direction": "auto",
}
# C-61: safety resolves to asking the user, whatever else was sent: another word, another JSON type, null.
_SAFE: Final = {
    "risk_level": "high",
    "irreversible": True,
    "reversibility": "irreversible",
    "default_decision": "reject",
}


def view_as(cls: type[M], given: Mapping[str, Any], raw: bytes = b"", *, settle: bool = False) -> M:
    """
    A message of this type with whatever members it has.

    Without ``settle`` the values are as they came, whatever their type: for
    judging. With it, they are fit for use: a member of the wrong JSON type is
    absent, an empty text is absent (C-15), an unknown value is the cautious one;
    and so is a member of the wrong type where safety rests on it.
    """
    message = _convert_known_members(cls, given) if settle else None
    if message is None:
        values = {
            field.name: _member(field, given.get(field.encode_name, UNSET), settle=settle)
            for field in struct_fields(cls)
        }
        if settle and cls in CRITICAL:
            values["urgency"] = "critical"  # C-16: whatever it says
        message = cls(**values)
    unknown = {name: value for name, value in given.items() if name not in cls.__struct_encode_fields__}
    if unknown:
        message.__dict__["unknown"] = unknown
    if raw:
        message.__dict__["raw"] = raw
    return message


def _convert_known_members(cls: type[M], given: Mapping[str, Any]) -> M | None:
    """The message, if nothing is wrong with it but members at its top that the type does not know."""
    if not required_members(cls) <= given.keys():
        return None
    try:
        return msgspec.convert({name: given[name] for name in cls.__struct_encode_fields__ if name in given}, cls)
    except msgspec.ValidationError:
        return None


def _member(field: msgspec.structs.FieldInfo, value: Any, *, settle: bool) -> Any:
    nested = NESTED.get(field.encode_name)
    if value is None and not settle:
        return NULL
    if nested is not None and isinstance(value, dict):
        # One object where a list of them belongs is no list, and cannot be used as one.
        return UNSET if settle and _fits(field.type, ()) else view_as(nested, value, settle=settle)
    if settle and field.encode_name == "extensions" and isinstance(value, dict):
        return _extensions(value)
    if isinstance(value, list):
        value = tuple(view_as(nested, one, settle=settle) if nested and isinstance(one, dict) else one for one in value)
    if not settle or value is UNSET:
        return value
    if isinstance(value, float) and value.is_integer():
        value = _converted(field.type, int(value), _converted(field.type, value, value))
    usable = _converted(field.type, value, UNSET)
    if usable is not UNSET:
        return usable
    if field.encode_name in _SAFE:
        return _SAFE[field.encode_name]
    if isinstance(value, str):
        return _CAUTIOUS.get(field.encode_name, value or UNSET) if _is_text(field.type) else UNSET
    if isinstance(value, int) and not isinstance(value, bool) and _fits(field.type, 1):
        return value  # out of a range that only the schemas know (C-25)
    if isinstance(value, tuple) and _fits(field.type, ()):
        return value
    return UNSET


def _extensions(given: dict[str, Any]) -> Any:
    """What of ``extensions`` can be used. A.9 shows the parent of a session bare, outside any prefix (C-19)."""
    usable = {prefix: value for prefix, value in given.items() if isinstance(value, dict)}
    if isinstance(given.get("parent_session_id"), str):
        usable[PREFIX] = {"parent_session_id": given["parent_session_id"]} | usable.get(PREFIX, {})
    return usable or UNSET


def _converted(type_: Any, value: Any, otherwise: Any) -> Any:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError:
        return otherwise


def _is_text(type_: Any) -> bool:
    # Whether text belongs there at all, whatever its length or value.
    try:
        msgspec.convert("", type_)
    except msgspec.ValidationError as error:
        return "Expected `str` of length" in str(error) or "Invalid enum value" in str(error)
    return True


def _fits(type_: Any, sample: Any) -> bool:
    try:
        msgspec.convert(sample, type_)
    except msgspec.ValidationError as error:
        return "of length" in str(error) or "Expected `int` " in str(error)
    return True


# -- everything that is wrong with a message --

_COMPACT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*:[^\s:/][^\s]*")


_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]+")


_AMOUNTS: Final = re.compile("amount_raw|currency|amount_formatted_[a-z_]+|fx_rate|fx_rate_source")  # C-01, §11.7


def identify(given: Mapping[str, Any], known: Registry = BUNDLED) -> tuple[type[Message], str, list[Violation]]:
    """Which type a message is, in its one spelling, and what is wrong with how it says so."""
    spelt = given.get("type", UNSET)
    if spelt is UNSET:
        return UnknownEvent, "", []  # the missing member is told by the envelope's shape
    if not isinstance(spelt, str):
        return UnknownEvent, "", [Violation("ENV-007", f"type should be a string; found {_show(spelt)}.", "/type")]
    if spelt in MESSAGES:
        return MESSAGES[spelt], spelt, []
    type_ = canonical_type(spelt)
    if type_ in CORE_EVENTS:
        return CORE_EVENTS[type_], type_, [*_check_spelling(spelt, type_)]
    if type_.removeprefix("aaep:") in MESSAGES:
        name = type_.removeprefix("aaep:")
        rule = rule_for_member(MESSAGES[name], "type")
        return MESSAGES[name], name, [Violation(rule, f"type should be {name}, without a prefix.", "/type")]
    if type_.startswith("aaep:"):
        severity: Grade = "warning" if is_newer_version(given.get("aaep_version")) else ""
        text = f"{type_} is not one of the twelve core types. Use a prefix of your own for your own types."
        return UnknownEvent, type_, [Violation("ENV-009", text, "/type", severity=severity)]
    return ExtensionEvent, type_, [*_check_extension_type(type_, given, known)]


def _check_spelling(spelt: str, type_: str) -> Iterator[Violation]:
    if "/vocab/" in spelt:
        yield Violation("TERM-011", f"{spelt} is not how the type is spelt. Use {type_}.", "/type")
    elif spelt != type_:
        yield Violation("ENV-008", f"The short spelling {type_} is preferred.", "/type")


def _check_extension_type(type_: str, given: Mapping[str, Any], known: Registry) -> Iterator[Violation]:
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
        yield from check_shape(payload, shape, "EXT-027", "")


def find_violations(raw: bytes | str, registry: Registry = BUNDLED, *, strict: bool = False) -> list[Violation]:
    """Everything that is wrong with one message, in plain sentences."""
    data = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    value, found = parse_json(data)
    if value is UNREADABLE:
        return found
    if not isinstance(value, dict):
        return [*found, Violation("VAL-001", f"A message is a JSON object; found {_show(value)}.")]
    cls, type_, spelling = identify(value, registry)
    found += spelling
    found += _find_shape_violations(cls, value, shape_errors(type_, {**value, **({"type": type_} if type_ else {})}))
    if issubclass(cls, Envelope):
        found += _find_unknown_members(cls, value)
    message = view_as(cls, value)
    settled = {violation.path for violation in found if violation.path and violation.rule != "ENV-008"}
    for violation in check_every_rule(message, msgspec.json.encode(value), registry, strict=strict):
        # One defect, one finding: a member whose shape is wrong has been told of.
        if settled.isdisjoint(_path_and_parents(violation.path)):
            found.append(violation)
    id_ = value.get("event_id")
    if isinstance(id_, str):
        found = [msgspec.structs.replace(violation, event_id=id_) for violation in found]
    return sorted(found, key=lambda violation: _validation_step(violation.rule))


def _path_and_parents(path: str) -> Iterator[str]:
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


def _validation_step(rule: str) -> int:
    return next((step for step, rules_ in enumerate(_STEPS) if rules_.fullmatch(rule)), len(_STEPS))


def _find_unknown_members(cls: type[Message], given: Mapping[str, Any]) -> Iterator[Violation]:
    """ENV-058, ENV-060, ENV-061 §3.5: names at the top that do not belong there."""
    later = is_newer_version(given.get("aaep_version"))
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
            parts = parse_variant_name(name)
            if parts is not None and parts[0] in cls.__struct_encode_fields__:
                continue
            severity: Grade = "warning" if later or _AMOUNTS.fullmatch(name) else ""
            text = f"{name} is not part of this event. Put your own data under extensions.<prefix>."
            yield Violation("ENV-061", text, path, severity=severity)


def _find_shape_violations(
    cls: type[Message], value: Mapping[str, Any], errors: Iterable[ShapeError]
) -> Iterator[Violation]:
    """What the schema finds, as violations of the rules that say so."""
    later = is_newer_version(value.get("aaep_version"))
    told = set()
    for error in errors:
        path, keyword = error.path, error.keyword
        # The rules judge these themselves, for the fast decoder does not see them.
        if keyword in ("pattern", "uniqueItems", "minProperties", "prefixItems") or path == ["type"]:
            continue
        if path[:1] == ["@context"] and issubclass(cls, Envelope):
            continue
        if keyword in ("additionalProperties", "unevaluatedProperties"):
            if not path and issubclass(cls, Envelope):
                continue
            for name in error.kind.unexpected:
                rule = _within(cls, path, _owner(cls, [*path, ""])[0].rules.get("", "ENV-061"))
                yield Violation(
                    rule,
                    f"{name} is not part of this object. Leave it out.",
                    pointer(*path, name),
                    severity="warning" if later else "",
                )
            continue
        if keyword == "required" or tuple(path) not in told:
            yield _shape_violation(cls, path, keyword, error, later=later)
        if keyword != "required":
            told.add(tuple(path))


def _owner(cls: type[Message], path: list[str | int]) -> tuple[type[Message], str]:
    """The Struct a path leads into, and the name of the member it stops at there."""
    owner, name = cls, ""
    for step in path:
        if isinstance(step, int):
            continue
        if name in NESTED:
            owner, name = NESTED[name], step
        elif not name:
            name = step
    return owner, name


def _within(cls: type[Message], path: list[str | int], rule: str) -> str:
    # Whatever is wrong inside these members of a handshake message is that member's rule.
    if path and path[0] in ("honored_capabilities", "producer") and cls is messages.SubscriptionAccepted:
        return cls.rules[str(path[0])]
    return rule


def _shape_violation(
    cls: type[Message], path: list[str | int], keyword: str, error: ShapeError, *, later: bool
) -> Violation:
    owner, name = _owner(cls, path)
    if keyword == "required":
        missing = str(error.kind.property)
        owner = _owner(cls, [*path, missing])[0]
        rule = owner.rules.get(missing) or owner.rules["*"]
        if issubclass(owner, Envelope) and missing != "urgency":
            rule = "ENV-001" if missing in required_members(Envelope) else owner.rules["*"]
        return Violation(_within(cls, path, rule), f"{missing} is missing. Add it.", pointer(*path))
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
        elif keyword in ("enum", "const") and later:
            severity = "warning"
    elif rule == "CAP-047":  # CF-060: an unknown capability is dropped, whatever it is
        severity = "warning"
    sentence = f"{name or 'The message'} {_expected(keyword, error)}; found {_show(error.instance)}."
    return Violation(_within(cls, path, rule), sentence, pointer(*path), severity=severity)


def _expected(keyword: str, error: ShapeError) -> str:
    kind = error.kind
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
