"""
Reading one event for one person: which text, in which language, how much of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from ..protocol.events import Envelope
from ..protocol.fields import Risk, Verbosity, get_member
from ..text.languages import match_language, parse_variant_name
from ..text.phrases import PHRASES, format_duration, truncate_with_notice
from ..text.sanitize import sanitize

__all__ = ["COMMAND_WORDS", "DEFAULT_KEYS", "DEFAULT_PREFERENCES", "EventView", "Preferences"]

DEFAULT_KEYS: Final[Mapping[str, str]] = {"accept": "a", "reject": "r", "more": "m", "time": "t", "close": "q"}
COMMAND_WORDS: Final[Mapping[str, str]] = {  # what to write where lines are read
    "accept": "accept", "reject": "reject", "more": "more", "time": "time", "close": "quit",
}  # fmt: skip
_SUMMARY_ORDER: Final[Mapping[str, tuple[str, ...]]] = {  # C-50
    "terse": ("summary_terse", "summary_normal", "summary_detailed"),
    "normal": ("summary_normal", "summary_detailed", "summary_terse"),
    "detailed": ("summary_detailed", "summary_normal", "summary_terse"),
}


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """How one person wants to be told."""

    verbosity: Verbosity = "normal"
    languages: tuple[str, ...] = ()  # most wanted first; none: whatever the event is in
    # What can be done here, and with which key; empty if nothing can be answered.
    keys: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(DEFAULT_KEYS))
    lines: bool = False  # whole lines are written instead of keys pressed: the words for them are said
    pace: int = 180  # words a minute
    load: Risk = "medium"  # CAP-039: low asks for the fewest announcements


DEFAULT_PREFERENCES: Final = Preferences()


class EventView:
    """One event, read for one person: picks texts, cuts them, and remembers what was cut."""

    def __init__(
        self, event: Envelope, preferences: Preferences, verbosity: str, max_length: float, seconds_left: float | None
    ) -> None:
        self.event, self.preferences, self.verbosity = event, preferences, verbosity
        self.max_length, self.seconds_left = max_length, seconds_left
        self.cut_fields: set[str] = set()
        self.language: str | None = None  # of the text that was picked first; empty if nobody says
        hints = get_member(event, "localization_hints")
        primary = get_member(hints, "primary_language") if hints else None
        self.primary_language = primary if isinstance(primary, str) else ""
        chain = get_member(hints, "fallback_chain") if hints else None
        self.fallback_chain = [tag for tag in chain or () if isinstance(tag, str)]
        self.variants = [
            (found, text)
            for name, text in event.unknown.items()
            if isinstance(text, str) and (found := parse_variant_name(name)) is not None
        ]

    def full_text(self, *names: str) -> str:
        """The whole text of the first of these members, in the best language there is (C-50, C-58)."""
        found: list[tuple[str, str]] = []
        for name in names:
            value = get_member(self.event, "context_" if name == "context" else name)
            if value is None and type(self.event).others:
                value = self.event.unknown.get(name)
            given = [(self.primary_language, value)] if isinstance(value, str) else []
            given += [(tag, text) for (field, tag), text in self.variants if field == name]
            found += [(tag, plain) for tag, text in given if (plain := sanitize(text))]
        if not found:
            return ""
        tags = [tag for tag, _ in found]
        wanted = self.preferences.languages
        best = match_language(wanted, [tag for tag in tags if tag], self.fallback_chain) if wanted else None
        if best is None:
            best = self.primary_language if self.primary_language in tags else tags[0]
        self.language = best if self.language is None else self.language
        return next(text for tag, text in found if tag == best)

    def short_text(self, *names: str) -> str:
        """The same as a sentence, cut if it is too long to be read at once."""
        return self.shorten(self.full_text(*names), names[0])

    def shorten(self, text: str, name: str) -> str:
        if len(text) > self.max_length:
            self.cut_fields.add(name)
        return truncate_with_notice(text, self.max_length)

    def summary(self) -> str:
        return self.short_text(*_SUMMARY_ORDER[self.verbosity])

    def duration_text(self, name: str, said: str) -> str:
        value = get_member(self.event, name)
        return PHRASES[said].format(format_duration(value / 1000)) if isinstance(value, int) and value >= 0 else ""

    @property
    def is_detailed(self) -> bool:
        return self.verbosity == "detailed"
