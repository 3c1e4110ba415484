"""
Earcons: the short sounds that tell what an announcement is about before its words are heard.

A sound is never the only carrier of anything: whatever has one is announced in words too. Which of them a listener
wants, and how an output sounds them, is up to the output.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from ..protocol.events import CORE_EVENTS, SessionCompleted, SessionErrored, SessionStarted, ToolCompleted, ToolInvoked
from .announce import Announcement

__all__ = ["EARCONS", "Earcon", "EarconSwitches", "choose_earcon"]

Earcon = Literal["sent", "working", "done", "needs-you", "error"]

EARCONS: Final[tuple[Earcon, ...]] = ("sent", "working", "done", "needs-you", "error")


class EarconSwitches(msgspec.Struct, frozen=True, kw_only=True):
    """What a listener wants of each earcon: a sound, a word before what is spoken, and a word in braille."""

    sound: tuple[Earcon, ...] = ()
    speech: tuple[Earcon, ...] = ()
    braille: tuple[Earcon, ...] = ()


def choose_earcon(announcement: Announcement) -> Earcon | None:
    """Return the sound of an announcement, or None for one that has none; ``sent`` is for answers."""
    event = announcement.event
    if announcement.asks:
        return "needs-you"
    if isinstance(event, SessionErrored) or (isinstance(event, ToolCompleted) and event.status in ("error", "timeout")):
        return "error"
    by_type: dict[type, Earcon] = {SessionCompleted: "done", SessionStarted: "working", ToolInvoked: "working"}
    return by_type.get(CORE_EVENTS.get(event.type, type(event)))
