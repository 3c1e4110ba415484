"""
Judging long recordings, fast.

:func:`judge` gives what :meth:`aaep.audit.Audit.feed` would give for every line.
It is faster because nearly every event of a sound recording is the usual one:
written in our own layout, like others of its type that were found sound, and in
the middle of a session with nothing pending. Such an event needs no more than
what :func:`_usual` does. Everything else goes to the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import force_setattr

from .audit import MOST, TURNING, Audit, Finding, trim
from .errors import Violation
from .events import CORE_EVENTS
from .fields import per_type
from .quick import IDS, PLANS, Plan, met
from .session import ANY, MOVES
from .timestamps import MILLISECONDS, MINUTES, SECONDS, clean

__all__ = ["judge"]

_encode_into: Final = msgspec.json.Encoder().encode_into
_BETWEEN: Final = len('","session_id":"' + '","timestamp":"' + "2026-05-24T14:22:11.342Z" + '",')


def judge(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed bare messages to an audit; gives the place (from 0) and the findings of each line that has any."""
    scratch, taken = bytearray(65_536), 0
    ways = {} if audit.strict or audit.profiles else _USUAL  # under strict every rule runs on every event
    for place, raw in enumerate(lines):
        # The letters behind aaep:agent. tell the types apart; the decoder checks the rest.
        start = raw.find(b'"type":"') + 19
        way = ways.get(raw[start : start + 8])
        if way is not None and raw.startswith(way[0].head):
            plan, take = way
            try:
                event = plan.decode(raw)
                _encode_into(event, scratch)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                found = audit.feed(raw)
            else:
                violations = take(event, raw, plan, audit) if scratch == raw else None
                if violations is None:
                    found = audit.feed(raw)
                else:
                    taken += 1
                    if not violations:
                        continue
                    found = audit.graded(violations, event.event_id, event.session_id)
        else:
            found = audit.feed(raw)
        if found:
            audit.events, taken = audit.events + taken, 0
            yield place, found
    audit.events += taken


def _usual(
    event: Any,
    raw: bytes,
    plan: Plan,
    audit: Audit,
    judge: Callable[..., None] | None = None,
    applied: Callable[..., None] | None = None,
) -> list[Violation] | None:
    """
    The violations of a usual event, or None if it is not one.

    In our own layout the bytes up to the id, and those from producer to
    localization_hints, are found without looking, and are the same as before.
    Such an event is not numbered. If it is new and not early, all that can be
    wrong with its coming now is its order among its own kind.
    """
    id_, session_id, stamp = event.event_id, event.session_id, event.timestamp
    size, start = len(id_) - 4, len(plan.head)
    session = audit.opened.get(session_id)
    if (
        session is None
        or not session.plain
        or stamp < session.last
        or id_ in audit.seen
        or audit.subscriptions
        or not raw.startswith(plan.shared, start + size + len(session_id) + _BETWEEN)
        or not raw[start : start + size].isalnum()  # less than ENV-012 allows; the rest is for the rule itself
        or size > 64
        or event.extensions is not UNSET
        or plan.particular(event) not in plan.sound
        or not raw.isascii()
        or 60 in raw  # <
        or len(raw) > 16_384
        or not ((stamp[:16] in MINUTES and stamp[16:20] in SECONDS and stamp[20:] in MILLISECONDS) or clean(stamp))
        or not (session_id in IDS or met(session_id, "sess"))
        or (agent := session.agents.get(plan.agent)) is None
    ):
        return None
    if len(audit.seen) >= MOST:
        trim(audit.seen)
    audit.seen[id_] = raw
    force_setattr(event, "producer", plan.common[0])
    found: list[Violation] = []
    if judge is not None:
        judge(session, event, agent, found)
    agent.timestamp = session.last = stamp
    if applied is not None:
        applied(session, event, agent, 0.0)
    return found


# The first and the last event of a session, and prompts, are never usual.
_MIDDLE: Final = {
    cls: MOVES.get(cls, ANY)[1:]
    for cls in CORE_EVENTS.values()
    if MOVES.get(cls, ANY)[0] == "other" and cls not in TURNING
}
_COPIES: Final = per_type(_usual, _MIDDLE, _MIDDLE)
_USUAL: Final[dict[bytes, tuple[Plan, Callable[..., list[Violation] | None]]]] = {
    type_.encode()[11:19]: (PLANS[cls], _COPIES[cls]) for type_, cls in CORE_EVENTS.items() if cls in _MIDDLE
}
