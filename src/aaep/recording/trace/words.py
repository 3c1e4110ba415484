"""What the text, the drawing and the page of a trace say in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from .build import Trace
from .model import Step, Track, counted, lasting

__all__ = ["account", "chosen", "duration", "faults", "heading", "outcome", "overview", "verdict", "when"]

_MONTHS: Final = ("January February March April May June July August September October November December").split()
_ENDS: Final = {
    "completed": "completed",
    "errored": "ended with an error",
    "cancelled": "was cancelled",
    "": "did not end",
}


def chosen(tracks: Sequence[Track], most: int) -> set[int]:
    """The numbers of the sessions that are told in full: as many steps as may be, those that broke rules first."""
    taken: set[int] = set()
    ranked = sorted(
        enumerate(tracks, start=1), key=lambda one: (not one[1].grades["error"], not one[1].grades["warning"])
    )
    for number, track in ranked:
        most -= len(track.steps)
        if most < 0 and taken:
            break
        taken.add(number)
    return taken


def overview(trace: Trace) -> str:
    """What the recording holds, in one line."""
    held = f"{counted(trace.events, 'event')} in {counted(trace.sessions, 'session')}"
    if trace.messages > trace.events:
        held += f", and {counted(trace.messages - trace.events, 'other message')}"
    return f"{', '.join(trace.sources)}: {held}."


def outcome(trace: Trace) -> str:
    """The sum of what broke rules."""
    errors, warnings, notes = (
        sum(track.grades[grade] for track in trace.tracks) for grade in ("error", "warning", "info")
    )
    more = f", {counted(notes, 'note')}" if notes else ""
    return f"Result: {counted(errors, 'error')}, {counted(warnings, 'warning')}{more}."


def heading(track: Track, trace: Trace) -> str:
    """What a session is called."""
    source = f", from {track.source}" if len(trace.sources) > 1 else ""
    if not track.session_id:
        return f"Outside any session{source}"
    names = list(dict.fromkeys(track.agents.values()))
    agents = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Session {track.number}: {agents}{source}"


def account(track: Track) -> Iterator[str]:
    """A session in a few sentences: when, how long, how it ended, what it did, and what it broke."""
    if track.session_id:
        heard = f", heard on {track.via}" if track.via else ""
        yield f"Its id is {track.session_id}{heard}."
    if track.parent:
        yield f"It is a part of session {track.parent}."
    if track.begun:
        began = f"It began on {moment(track.begun)}"
        if track.session_id:
            began += f", lasted {lasting(track.seconds)} and {_ENDS.get(track.ended, track.ended)}"
        yield began + "."
    if track.session_id:
        did = [counted(track.tools, "call") + " of tools", counted(track.outputs, "output")]
        did.append(counted(track.prompts, "prompt"))
        yield f"{counted(track.events, 'event')}: {did[0]}, {did[1]}, {did[2]}.".capitalize()
    if track.repeated:
        yield f"{counted(track.repeated, 'event')} came more than once.".capitalize()
    if track.spent:
        spent = sorted(track.spent.items(), key=lambda one: -one[1])
        yield f"Time spent: {', '.join(f'{name} {lasting(seconds)}' for name, seconds in spent[:12])}."
    yield verdict(track)


def verdict(track: Track) -> str:
    """What a session broke."""
    if not track.rules:
        return "It broke no rule."
    named = [f"{id_}, {number:,} times" if number > 1 else id_ for id_, number in track.rules.most_common(12)]
    more = f"; and {counted(len(track.rules) - 12, 'other rule')}" if len(track.rules) > 12 else ""
    return f"It broke {counted(len(track.rules), 'rule')}: {'; '.join(named)}{more}."


def faults(track: Track) -> str:
    """The same in two or three words."""
    errors, warnings = track.grades["error"], track.grades["warning"]
    parts = [counted(errors, "error")] if errors else []
    parts += [counted(warnings, "warning")] if warnings else []
    return ", ".join(parts) or "no rule broken"


def when(step: Step, track: Track) -> str:
    """When a step was, counted from the beginning of its session."""
    after = step.at - track.begun
    if not step.at:
        return "At an unknown time"
    if after < 0:
        return f"{lasting(-after)} before the beginning".capitalize()
    return f"After {lasting(after)}" if after >= 0.0005 else "At the beginning"


def duration(step: Step) -> str:
    """How long a step took, and how it ended."""
    seconds = step.seconds
    if seconds is None:
        return "It never ended in this recording."
    if not step.lasts:
        return f"{counted(step.times, 'time')} in {lasting(seconds)}.".capitalize()
    ended = step.ended and f": {step.ended}"
    return f"It lasted {lasting(seconds)}{ended}."


def moment(seconds: float) -> str:
    """A moment in words."""
    try:
        when = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return "an unknown day"
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year} at {when:%H:%M:%S} UTC"
