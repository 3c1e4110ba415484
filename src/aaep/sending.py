"""
The short way to "it may be sent".

An agent sends events that are like others it has sent. What was particular to
those, where :mod:`aaep.rules` looks at values, is remembered; an event is
tested for what is new in it (its shape, its characters, secrets in its texts),
and goes through all rules only when something is out of the ordinary. As in
:mod:`aaep.quick`, no rule is written here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import NODEFAULT, UNSET

from .catalogue import grade
from .errors import Violation
from .events import CORE_EVENTS, AwaitingClarification, Envelope, LocalizationHints, ProducerInfo, ProgressUpdated
from .extensions import Registry
from .fields import members, per_type
from .quick import PLANS, check
from .redaction import HARMLESS, suspicious
from .rules import TEXTS
from .wire import read

__all__ = ["MAY_BE_SENT", "examine", "remembered"]

_MOST: Final = 4096  # remembered of one manner of speaking
_MOST_BYTES: Final = 65_536  # of one event: CF-114
_SHAPES: Final = {cls: msgspec.json.Decoder(cls).decode for cls in CORE_EVENTS.values()}


@lru_cache(maxsize=64)
def remembered(producer: ProducerInfo, hints: LocalizationHints) -> set[object]:
    """
    What was found free of errors on the events that one producer sends with one set of hints; empty at first.

    It is for core events that are alike in version, context and verbosity too,
    and have no extensions.
    """
    return set()


def _payload(cls: type[Envelope]) -> Callable[[bytes], object]:
    """Reads of an event what its type adds to the envelope. The envelope was seen before, or is made by us."""
    own = [one for one in members(cls) if one.name not in Envelope.__struct_fields__ and one.name != "extensions"]
    fields = [(one.name, one.type) if one.default is NODEFAULT else (one.name, one.type, one.default) for one in own]
    names = {one.name: one.encode_name for one in own}
    return msgspec.json.Decoder(msgspec.defstruct(cls.__name__, fields, rename=names, kw_only=True, gc=False)).decode


def _may_be_sent(
    event: Any,
    raw: bytes,
    sound: set[object],
    particular: Any = None,
    said: Any = None,
    inner: Any = None,
    decode: Any = None,
) -> bool:
    """
    Whether a core event is sound in shape and by all rules, because what makes it so is ``sound`` already.

    For events whose ids and time are of :mod:`aaep.stamps`.
    """
    if (
        (event.type, event.urgency, particular(event)) not in sound
        or not raw.isascii()
        or 60 in raw  # <
        or (92 in raw and b"\\u" in raw)  # a backslash
        or len(raw) > 16_384
    ):
        return False
    before: Any = UNSET
    for name in said:
        text = getattr(event, name)
        if text is not before and text not in HARMLESS:
            if text is not UNSET and suspicious(text):
                return False
            before = text
    if inner is not None:
        for text in inner(event):
            if text is not UNSET and suspicious(text):
                return False
    try:
        decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


_INNER: Final[dict[type[Envelope], Callable[[Any], tuple[Any, ...]]]] = {
    ProgressUpdated: lambda event: (event.progress.description,),
    AwaitingClarification: lambda event: tuple(choice.label for choice in event.choices),
}
_READ: Final = {"context_" if name == "context" else name for name in TEXTS}
_OWN: Final[dict[type, tuple[Any, ...]]] = {
    cls: (
        plan.particular,
        tuple(name for name in cls.__struct_fields__ if name in _READ),
        _INNER.get(cls),
        _payload(cls),
    )
    for cls, plan in PLANS.items()
}
MAY_BE_SENT: Final = per_type(_may_be_sent, CORE_EVENTS.values(), _OWN)


def examine(event: Envelope, raw: bytes, known: Registry, sound: set[object] | None) -> list[Violation]:
    """The errors in an event by itself, strictly judged; if it has none, what makes it ``sound`` is remembered."""
    shape = _SHAPES.get(type(event))
    found: tuple[Violation, ...] | list[Violation] = ()
    if shape is None:
        found = [*read(raw, known, strict=True)[1]]
    else:
        try:
            shape(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            found = [*read(raw, known, strict=True)[1]] or [Violation("ENV-061", "The shape is wrong.")]
        else:
            found = check(event, raw, known, True)
    if len(raw) > _MOST_BYTES:
        text = f"It has {len(raw)} bytes; {_MOST_BYTES} are the most."
        found = [*found, Violation("LIM-001", text, severity="error")]
    errors = [one for one in found if grade(one, strict=True) == "error"]
    if sound is not None and not errors:
        _remember(event, sound)
    return errors


def _remember(event: Envelope, sound: set[object]) -> None:
    particular = PLANS[type(event)].particular(event)
    if particular is not None:
        if len(sound) >= _MOST:
            sound.clear()
        sound.add((event.type, event.urgency, particular))
