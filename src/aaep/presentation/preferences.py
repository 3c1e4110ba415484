"""A listener's preferences and background, and the choice of an event's text, language and length by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from ..protocol.events import Envelope, StateChanged
from ..protocol.fields import Risk, Verbosity, get_member
from ..text.imitation import guard_name, imitates_reader
from ..text.invisible import has_visible, spell_invisible
from ..text.languages import match_language, parse_variant_name
from ..text.phrases import ENGLISH, Phrases, capitalize, get_phrases, truncate_with_notice
from ..text.quotation import quote_whole, speak_structure
from ..text.sanitize import sanitize, truncate
from ..text.summaries import AGENT_STATES

__all__ = [
    "DEFAULT_KEYS",
    "DEFAULT_PREFERENCES",
    "NO_BACKGROUND",
    "Background",
    "EventView",
    "Preferences",
    "find_agent_name",
    "find_agent_phrases",
    "find_command_word",
]

DEFAULT_KEYS: Final[Mapping[str, str]] = {"accept": "a", "reject": "r", "more": "m", "time": "t", "close": "q"}
_SUMMARY_ORDER: Final[Mapping[str, tuple[str, ...]]] = {  # C-50
    "terse": ("summary_terse", "summary_normal", "summary_detailed"),
    "normal": ("summary_normal", "summary_detailed", "summary_terse"),
    "detailed": ("summary_detailed", "summary_normal", "summary_terse"),
}
_DECISION_TEXTS: Final = ("action", "consequence", "question", "context")


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """How a listener wants events to be announced."""

    verbosity: Verbosity = "normal"
    # In order of preference. Our own words are in the first that has phrases; without any, the agent's texts are in
    # the language that it names first.
    languages: tuple[str, ...] = ()
    # The key for each command; empty where prompts cannot be answered.
    keys: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(DEFAULT_KEYS))
    lines: bool = False  # input is by whole lines: announce command words instead of keys
    pace: int = 180  # words a minute
    markdown: bool = True  # read text that is markdown as what it means, not as signs
    load: Risk = "medium"  # CAP-039: low asks for the fewest announcements
    states: bool = False  # STATE-009: announce also states of which another event tells
    # Progress is announced when both have passed since it was announced last; 0 for no limit.
    progress_interval: float = 5.0  # seconds
    progress_step: float = 10.0  # percent

    @property
    def phrases(self) -> Phrases:
        """What the reader itself says, in the listener's language."""
        return get_phrases(self.languages) if self.languages else ENGLISH


DEFAULT_PREFERENCES: Final = Preferences()


class Background(msgspec.Struct, frozen=True, kw_only=True):
    """What a listener knows already when an event is announced. Without any of it, everything is told."""

    session_name: str = ""  # said first, where several sessions are heard in turn
    parent_name: str = ""  # of the work that a session is a part of
    is_familiar: bool = False  # prompts of this kind were heard before, with how to answer them
    is_effect_told: bool = False  # that nobody stated the effect of this tool was heard before
    call_summary: str = ""  # what the author said of a call when it began
    is_agreed: bool = False  # the call was agreed to just before
    is_parallel: bool = False  # other calls ran beside it, so that the tool's name may not tell which one it was
    action: str = ""  # what the prompt that an outcome closes asked for
    is_default_accept: bool = False  # without an answer, that prompt counted as accepted
    answered_by: Literal["listener", "other", ""] = ""  # who answered the prompt, if that is known
    undone: tuple[str, ...] = ()  # the actions of a session that were asked for and not done


NO_BACKGROUND: Final = Background()


# What agents say in our words: known by the same phrases in their language, it can be told in the listener's.
_RETOLD_PHRASES: Final = (
    *("started", "completed", "ended", "cancelled", "unfinished", "errored", "percent", "step", "step-of"),
    *("progress-none", "not_taken", "absent", "absent-terse", "returned", "skipped"),
    *(f"state-{state}" for state in AGENT_STATES),
    *(f"hint-{category}" for category in ("transient", "permanent", "requires_user", "unknown")),
    *(f"outcome-{name}" for name in ("modified", "granted", "defaulted", "unanswered", "longer")),
    *("consequence-unstated", "consequence-unknown", "lost", "lost-hint", "lost-detailed"),
)


def find_agent_name(event: Envelope, phrases: Phrases = ENGLISH) -> str:
    """Return the name of the agent that an event is from, as it may begin a sentence."""
    name = get_member(event.producer, "agent_name")
    return guard_name(name, phrases=phrases) if isinstance(name, str) else phrases["agent"]


def find_agent_phrases(event: Envelope) -> Phrases:
    """Return the phrases that an agent composes its texts from, if it is one of ours."""
    hints = get_member(event, "localization_hints")
    primary = get_member(hints, "primary_language") if hints else None
    return get_phrases((primary,)) if isinstance(primary, str) else ENGLISH


def find_command_word(command: str, phrases: Phrases) -> str:
    """Return what to type for a command where whole lines are read."""
    return phrases["command-quit" if command == "close" else f"command-{command}"]


class EventView:
    """An event as one listener gets it: picks texts, shortens them, and records what is left of them."""

    def __init__(
        self,
        event: Envelope,
        preferences: Preferences,
        verbosity: str,
        max_length: float,
        seconds_left: float | None,
        background: Background = NO_BACKGROUND,
        *,
        is_heard: bool = False,
    ) -> None:
        self.event = event
        self.background = background
        self.preferences = preferences
        self.phrases = preferences.phrases
        self.agent_phrases = find_agent_phrases(event)
        self.verbosity = verbosity
        self.max_length = max_length
        self.seconds_left = seconds_left
        self.is_heard = is_heard  # the whole of it was heard before
        self.remainders: dict[str, str] = {}  # what is left of each field that was cut
        self.quoted_texts: set[str] = set()  # what was taken from the event
        self.agent_name = find_agent_name(event, self.phrases)
        self.language: str | None = None  # of the text that was picked first; empty if it is not stated
        hints = get_member(event, "localization_hints")
        primary = get_member(hints, "primary_language") if hints else None
        self.primary_language = primary if isinstance(primary, str) else ""
        chain = get_member(hints, "fallback_chain") if hints else None
        self.fallback_chain = [tag for tag in chain or () if isinstance(tag, str)]
        self.variants = [
            (variant, text)
            for name, text in event.unknown.items()
            if isinstance(text, str) and (variant := parse_variant_name(name)) is not None
        ]

    def full_text(self, *names: str) -> str:
        """Return the full text of the first of these members, in the best available language (C-50, C-58)."""
        candidates: list[tuple[str, str]] = []
        for name in names:
            value = get_member(self.event, "context_" if name == "context" else name)
            if value is None and type(self.event).others:
                value = self.event.unknown.get(name)
            variants = [(self.primary_language, value)] if isinstance(value, str) else []
            variants += [(tag, text) for (field, tag), text in self.variants if field == name]
            prepare = self._prepare_decision if name in _DECISION_TEXTS else self._prepare_report
            candidates += [(tag, prepared) for tag, text in variants if (prepared := prepare(text))]
        if not candidates:
            return ""
        tags = [tag for tag, _ in candidates]
        preferred = self.preferences.languages
        best = match_language(preferred, [tag for tag in tags if tag], self.fallback_chain) if preferred else None
        if best is None:
            best = self.primary_language if self.primary_language in tags else tags[0]
        self.language = best if self.language is None else self.language
        return next(text for tag, text in candidates if tag == best)

    def _prepare_report(self, text: str) -> str:
        """Return what the agent says of its work, with its name where that could be taken for the reader's words."""
        sanitized = sanitize(text)
        is_outcome = isinstance(self.event, StateChanged)
        if not sanitized or not imitates_reader(sanitized, self.phrases, is_outcome=is_outcome):
            return sanitized
        return f"{self.phrases.format('says-quoted', agent=self.agent_name)} {sanitized}"

    def _prepare_decision(self, text: str) -> str:
        """Return what somebody decides on as it is told: all of it, as a quotation if it could pass for our words."""
        if not has_visible(text):
            return ""
        # C-22: the structure of what somebody agrees to is part of it, and so is what cannot be seen.
        spoken = speak_structure(spell_invisible(text, self.phrases), self.phrases)
        return quote_whole(spoken, self.phrases) if imitates_reader(sanitize(text), self.phrases) else spoken

    def retell(self, text: str) -> str:
        """Return a sentence that the agent composed from our phrases in the listener's language, any other as it is."""
        if self.agent_phrases is self.phrases:
            return text
        for name in _RETOLD_PHRASES:
            if (values := self.agent_phrases.extract(name, text)) is not None:
                return capitalize(self.phrases.format(name, **values))
        return text

    def short_text(self, *names: str) -> str:
        """Return the text of the first of these members as a sentence, shortened if it is too long to speak."""
        language = self.language
        text = self.full_text(*names)
        retold = self.retell(text) if text else ""
        if retold != text:
            self.language = language  # it is in our own
        return self.shorten(retold, names[0])

    def shorten(self, text: str, name: str) -> str:
        """Return a text as a sentence, shortened if it is too long, and record what is left of the field."""
        if len(text) > self.max_length:
            short = truncate(text, int(self.max_length))
            rest = text.removeprefix(short).strip()
            self.remainders[name] = f"{self.remainders.get(name, '')} {rest}".strip()
        shortened = truncate_with_notice(text, self.max_length, self.phrases)
        self.quoted_texts.add(shortened)
        return shortened

    def summary(self) -> str:
        """Return the summary that suits the verbosity best."""
        return self.short_text(*_SUMMARY_ORDER[self.verbosity])

    def duration_text(self, name: str, phrase: str) -> str:
        """Return a phrase about a duration in milliseconds, or nothing if the event has no usable one."""
        value = get_member(self.event, name)
        if not isinstance(value, int) or value < 0 or (phrase == "took" and value < 1000):  # which nobody notices
            return ""
        # What has passed is never rounded up, and what is to come is only an estimate.
        has_passed = phrase == "took"
        format_seconds = self.phrases.format_duration if has_passed else self.phrases.format_time_left
        return self.phrases.format(phrase, duration=format_seconds(value / 1000))

    @property
    def is_terse(self) -> bool:
        """Whether the listener wants the fewest words."""
        return self.verbosity == "terse"

    @property
    def is_detailed(self) -> bool:
        """Whether the listener wants every detail."""
        return self.verbosity == "detailed"
