"""
The short way to "it may be sent".

An agent sends events that are like others it has sent. What was particular to
those, where :mod:`aaep.protocol.rules` looks at values, is remembered, and so is how
they were written; of the next one only what is new in it is made and tested
(its shape, its characters, secrets in its texts). It goes through all rules
when something is out of the ordinary. As in :mod:`aaep.protocol.quick`, no rule is
written here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from ..errors import Violation
from ..protocol.catalogue import grade
from ..protocol.codec import read
from ..protocol.events import (
    CORE_EVENTS,
    Envelope,
    LocalizationHints,
    OutputStreaming,
    ProducerInfo,
    Progress,
    ProgressUpdated,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from ..protocol.extensions import Registry
from ..protocol.fields import per_type
from ..protocol.quick import PLANS, Rest, check
from ..protocol.rules import TEXTS, pattern_test
from ..protocol.session import MOVES
from ..text.redaction import HARMLESS, suspicious

__all__ = ["REST", "Manner", "Remembered", "advance", "change", "examine", "manner", "moved", "remembered"]

_MOST: Final = 4096  # remembered of one manner of speaking
_READY: Final = 256  # texts kept of one manner
_MOST_BYTES: Final = 65_536  # of one event: CF-114
_SHAPES: Final = {cls: msgspec.json.Decoder(cls).decode for cls in CORE_EVENTS.values()}
_encode: Final = msgspec.json.Encoder().encode

_call_id: Final = pattern_test(ToolInvoked, "tool_call_id")

Remembered = dict[tuple[type[Envelope], str], set[object]]


@lru_cache(maxsize=64)
def remembered(producer: ProducerInfo, hints: LocalizationHints) -> Remembered:
    """
    What was found free of errors on the events that one producer sends with one set of hints; nothing at first.

    By type and urgency, and for core events that are alike in version, context
    and verbosity too, and have no extensions.
    """
    return {}


# -- one event -------------------------------------------------------------------------------


def examine(event: Envelope, raw: bytes, known: Registry, sound: Remembered | None) -> list[Violation]:
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
    if sound is not None and not errors and type(event) in _OFTEN:
        _remember(event, sound)
    return errors


def _remember(event: Envelope, sound: Remembered) -> None:
    particular = PLANS[type(event)].particular(event)
    if particular is not None:
        alike = sound.setdefault((type(event), str(event.urgency)), set())
        if len(alike) >= _MOST:
            alike.clear()
        alike.add(particular)


# -- those that are like it ------------------------------------------------------------------


class Again:
    """
    Events as they were written, cut where something new stands in each: its id, its time, and what is counted here.

    What else an event says is the same to the letter, so it is as sound as the one before it was.
    """

    __slots__ = ("_new", "own", "ready", "said", "write")

    def __init__(self, cls: type[Envelope]) -> None:
        names = REST[cls].__struct_fields__
        self._new, self.own, self.write = _FRESH[cls]
        said = [name for name in names if name not in self._new]
        # A 1 equals True and is not the same; who looks for True finds none there.
        said += [f"{name}.__class__" for name in said if name in _NO_TEXTS]
        self.said: Callable[[Any], tuple[Any, ...]] = attrgetter(*said)
        self.ready: dict[tuple[Any, ...], tuple[str, ...]] = {}  # by what is said

    def keep(self, rest: Rest, head: str, middle: str, tail: str, payload: bytes) -> None:
        """Remember an event that was found sound."""
        pieces, text = [head, middle], tail + payload[1:].decode()
        for name in self._new:
            before = f'"{name}":'  # no text holds it: there a quote is escaped
            start, _, text = text.partition(before + _encode(getattr(rest, name)).decode())
            pieces.append(start + before)
        if len(self.ready) >= _READY:
            self.ready.clear()
        self.ready[self.said(rest)] = (*pieces, text)


# What is new, as JSON; None where it had better be looked at more closely.


def _nothing(rest: Any) -> tuple[str, ...] | None:
    return ()


def _call(rest: Any) -> tuple[str, ...] | None:
    return (f'"{rest.tool_call_id}"',) if _call_id(rest.tool_call_id) is not None else None


def _span(rest: Any) -> tuple[str, ...] | None:
    # An id that was never announced is refused for that (TOOL-010).
    return (f'"{rest.tool_call_id}"', str(rest.duration_ms)) if type(rest.duration_ms) is int else None


def _piece(rest: Any) -> tuple[str, ...] | None:
    chunk, position = rest.chunk, rest.position
    if type(chunk) is not str or not chunk or type(position) is not int or position < 0:
        return None
    text = _encode(chunk)
    if not _ordinary(text) or (chunk not in HARMLESS and suspicious(chunk)):
        return None
    return text.decode(), str(position)


def _with_none(pieces: tuple[str, ...], event_id: str, stamp: str, new: tuple[str, ...]) -> str:
    head, middle, tail = pieces
    return f"{head}{event_id}{middle}{stamp}{tail}"


def _with_one(pieces: tuple[str, ...], event_id: str, stamp: str, new: tuple[str, ...]) -> str:
    head, middle, tail, end = pieces
    return f"{head}{event_id}{middle}{stamp}{tail}{new[0]}{end}"


def _with_two(pieces: tuple[str, ...], event_id: str, stamp: str, new: tuple[str, ...]) -> str:
    head, middle, tail, between, end = pieces
    return f"{head}{event_id}{middle}{stamp}{tail}{new[0]}{between}{new[1]}{end}"


class Manner(NamedTuple):
    """How events of one type, urgency and language are made in a session: all that is the same for each of them."""

    cls: type[Envelope]
    fits: Callable[[Any, bytes, set[object]], bool]
    judge: Callable[..., None] | None
    applied: Callable[..., None] | None
    sound: set[object]
    head: str  # up to the event's id
    middle: str  # between that and the time
    tail: str  # between the time and the payload
    again: Again | None  # where the same few come again and again


def manner(event: Envelope, raw: bytes, sound: Remembered) -> Manner | None:
    """How an event that was found sound was made, if there are going to be more of its kind."""
    cls = type(event)
    alike = sound.get((cls, str(event.urgency)))
    if cls not in _OFTEN or alike is None:
        return None
    make = REST[cls]
    payload = _encode(make(**{name: getattr(event, name) for name in make.__struct_fields__}))
    end = len(raw) - len(payload) + 1
    head, _, more = raw[:end].decode().partition(event.event_id)
    middle, _, tail = more.partition(event.timestamp)
    if raw[end:] != payload[1:] or not tail:
        return None
    _, judge, applied = MOVES.get(cls, _STILL)
    again = Again(cls) if cls in _FRESH else None
    return Manner(cls, _FITS[cls], judge, applied, alike, head, middle, tail, again)


def _ordinary(text: bytes) -> bool:
    """Whether JSON has no characters that the rules look at, and is not too long to be looked at here."""
    return (
        text.isascii()
        and 60 not in text  # <
        and (92 not in text or b"\\u" not in text)  # a backslash
        and len(text) <= 15_000
    )


def _fits(
    rest: Any, payload: bytes, sound: set[object], particular: Any = None, said: Any = None, decode: Any = None
) -> bool:
    """
    Whether an event with this payload is sound in shape and by all rules, because what makes it so is ``sound``.

    For events whose ids and time are of :mod:`aaep.runtime.ids`.
    """
    if particular(rest) not in sound or not _ordinary(payload):
        return False
    before = None
    for text in said(rest):
        if text is not UNSET and text is not before and text not in HARMLESS:
            if suspicious(text):
                return False
            before = text
    try:
        decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


_STILL: Final = ("other", None, None)
_OFTEN: Final = (StateChanged, ProgressUpdated, ToolInvoked, ToolCompleted, OutputStreaming)
# Makes what each adds to the envelope.
REST: Final[dict[type[Envelope], Any]] = {cls: PLANS[cls].rest for cls in _OFTEN}
# The members that are new each time in the order of the shape, what takes them, and what puts an event together.
_FRESH: Final[dict[type[Envelope], tuple[tuple[str, ...], Any, Any]]] = {
    StateChanged: ((), _nothing, _with_none),
    ToolInvoked: (("tool_call_id",), _call, _with_one),
    ToolCompleted: (("tool_call_id", "duration_ms"), _span, _with_two),
    OutputStreaming: (("chunk", "position"), _piece, _with_two),
}
_NO_TEXTS: Final = ("irreversible", "expected_duration_ms", "complete")
_CHANGE: Final = REST[StateChanged]
_ADVANCE: Final = REST[ProgressUpdated]


def change(left: str, entered: str, said: tuple[str, str, str]) -> Rest:
    """What a change of state says beside the envelope."""
    terse, normal, detailed = said
    made: Rest = _CHANGE(
        from_state=left, to_state=entered, summary_terse=terse, summary_normal=normal, summary_detailed=detailed
    )
    return made


moved: Final = lru_cache(maxsize=64)(change)  # in our own words: of these there are few, so each is made once


def advance(
    percent: float | None,
    step: int | None,
    total: int | None,
    description: str | None,
    left: int | None,
    said: tuple[str, str, str],
) -> Rest:
    """What progress says beside the envelope."""
    terse, normal, detailed = said
    made: Rest = _ADVANCE(
        progress=Progress(
            percent=UNSET if percent is None else percent,
            step=UNSET if step is None else step,
            total_steps=UNSET if total is None else total,
            description=UNSET if description is None else description,
        ),
        eta_ms=UNSET if left is None else left,
        summary_terse=terse,
        summary_normal=normal,
        summary_detailed=detailed,
    )
    return made


def _said(cls: type[Envelope]) -> Callable[[Any], tuple[Any, ...]]:
    """Takes the texts of an event."""
    names = [name for name in PLANS[cls].rest.__struct_fields__ if name in TEXTS]
    if cls is ProgressUpdated:
        names.append("progress.description")
    return attrgetter(*names, names[-1])  # of one name alone it would not give a tuple


_FITS: Final = per_type(_fits, _OFTEN, {cls: (PLANS[cls].particular, _said(cls), PLANS[cls].decode) for cls in _OFTEN})
