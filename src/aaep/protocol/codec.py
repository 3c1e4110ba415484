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

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import FrameError, RemoteProtocolError, Violation
from . import lenient, schema
from .events import CORE_EVENTS, Envelope, UnknownEvent
from .extensions import Registry
from .fields import Message, members
from .quick import check
from .rules import BUNDLED, required

__all__ = ["decode", "encode", "meant", "read", "replace"]

M = TypeVar("M", bound=Message)

_encoder: Final = msgspec.json.Encoder()
_encode_into: Final = _encoder.encode_into
_DECODERS: Final[dict[bytes, Callable[[bytes], Message]]] = {
    type_.encode(): msgspec.json.Decoder(cls).decode for type_, cls in schema.SHAPES.items()
}
# Of the payload, what a session cannot do without, and what it can take for nothing said.
_NEEDED: Final = frozenset(["to_state", "reply_token", "chunk", "position", "complete"])
_ASSUMED: Final[dict[str, Any]] = {"from_state": "", "tool": "", "timeout_seconds": 86_400}
_ENVELOPE: Final = ("context", "event_id", "session_id", "timestamp", "producer")  # ENV-001, ENV-005


def _exact(raw: bytes, scratch: bytearray) -> Message | None:
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
    if b"\\u" in raw or scratch.count(b":") != raw.count(b":") or not _given(type(message), raw):
        return None
    return message


@cache
def _defaulted(cls: type[Message]) -> Callable[[bytes], msgspec.Struct]:
    """Decodes, of a message, what has a default, and refuses it where that is missing."""
    names = {field.name: field.encode_name for field in members(cls) if field.default not in (UNSET, msgspec.NODEFAULT)}
    shape = msgspec.defstruct(cls.__name__, [(name, msgspec.Raw) for name in names], rename=names)
    return msgspec.json.Decoder(shape).decode


def _given(cls: type[Message], raw: bytes) -> bool:
    """Whether nothing was filled in."""
    try:
        _defaulted(cls)(raw)
    except msgspec.ValidationError:
        return False
    return True


def _escaped(raw: bytes) -> Message | None:
    """The same for a message whose text is written with escapes, as many encoders write what is not ASCII."""
    if b"\\u" not in raw:
        return None
    given, broken = lenient.parse(raw)
    type_ = given.get("type") if isinstance(given, dict) and not broken else None
    cls = schema.SHAPES.get(type_) if isinstance(type_, str) else None
    if cls is None or not required(cls) <= given.keys():
        return None
    try:
        return msgspec.convert(given, cls)
    except msgspec.ValidationError:
        return None


def read(
    raw: bytes, known: Registry = BUNDLED, strict: bool = False, scratch: bytearray | None = None
) -> tuple[Message | None, Sequence[Violation]]:
    """A message and everything wrong with it; no message when there is none to be had."""
    message = _exact(raw, bytearray() if scratch is None else scratch) or _escaped(raw)
    if message is not None:
        try:
            return message, check(message, raw, known, strict)
        except RecursionError:  # nested too deeply to be judged
            pass  # as explain() will say
    return _usable(raw, known), schema.explain(raw, known, strict=strict)


def decode(raw: bytes | str, known: Registry = BUNDLED) -> Message:
    """
    A message, leniently.

    Raises :exc:`~aaep.errors.FrameError` for what is not a JSON object and
    :exc:`~aaep.errors.RemoteProtocolError` for what lacks what its type needs.
    An event whose envelope is sound always comes through: as an
    :class:`~aaep.protocol.events.UnknownEvent` if its payload cannot be used.
    """
    data = raw.encode(errors="surrogatepass") if isinstance(raw, str) else raw
    message = _exact(data, bytearray()) or _escaped(data) or _usable(data, known)
    if message is not None:
        return message
    found = schema.explain(data, known)
    unreadable = any(violation.rule in ("ENC-001", "ENC-002", "ENC-005", "VAL-001") for violation in found)
    raise (FrameError if unreadable else RemoteProtocolError)("This is not a usable AAEP message.", found)


def _usable(raw: bytes, known: Registry) -> Message | None:
    given, broken = lenient.parse(raw)
    # Two parsers may disagree about a name that stands twice, so it is never used (C-26).
    if not isinstance(given, dict) or any(v.rule in ("ENC-002", "ENC-005") for v in broken):
        return None
    cls, type_, _ = schema.identify(given, known)
    kept = raw if not broken else _encoder.encode(given)
    message = lenient.view(cls, {**given, "type": type_}, kept, settle=True)
    if not issubclass(cls, Envelope):
        return message if _complete(message) else None
    if not type_ or any(getattr(message, name) in (UNSET, "") for name in _ENVELOPE):
        return None
    if message.producer.agent_id is UNSET:  # type: ignore[attr-defined]  # an Envelope
        return None
    if _complete(message):
        return message
    return lenient.view(UnknownEvent, {**given, "type": type_}, kept, settle=True)


def meant(event: UnknownEvent) -> Envelope:
    """
    What an event is to its session: of the type it names, though its payload lacks something.

    Only for judging: what comes after it would else be judged as if it had
    never been sent. Where the session rests on what it lacks it stays unknown.
    """
    cls = CORE_EVENTS.get(event.type)
    if cls is None or event.raw is None:
        return event
    given = lenient.parse(event.raw)[0]
    known = lenient.view(cls, {**given, "type": event.type}, settle=True)
    lacking = {name for name in cls.__struct_fields__ if getattr(known, name) is UNSET}
    if not lacking.isdisjoint(_NEEDED):
        return event
    return msgspec.structs.replace(known, **{name: _ASSUMED[name] for name in lacking & _ASSUMED.keys()})


def _complete(message: Message) -> bool:
    for field in members(type(message)):
        value = getattr(message, field.name)
        if value is UNSET and field.default is not UNSET:
            return False
        if isinstance(value, Message) and not _complete(value):
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
        given = lenient.parse(raw)[0]
        for field in members(type(message)):
            if field.name in changes:
                given.pop(field.encode_name, None)
                if changes[field.name] is not UNSET:
                    given[field.encode_name] = msgspec.to_builtins(changes[field.name])
        changed.__dict__["raw"] = _encoder.encode(given)
        changed.__dict__["unknown"] = dict(message.unknown)
    return changed
