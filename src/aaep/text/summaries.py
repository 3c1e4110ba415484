"""
Compose the summaries of events: three lengths of each, with secrets redacted.

An agent's author may supply one sentence, three lengths, or nothing. Composed
text is in the language of the phrases that are given; where the author's text is
in another language only that text is used, since a sentence in two languages is
hard to follow.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from .actions import describe_undone, shorten_action
from .languages import language_direction
from .phrases import ENGLISH, Phrases, capitalize, ensure_full_stop, humanize_name
from .redaction import may_contain_secret, redact
from .sanitize import LANG_MARKUP, MAX_SPOKEN_LENGTH, truncate

__all__ = [
    "AGENT_STATES",
    "MAX_TERSE_WORDS",
    "Summaries",
    "SummaryLike",
    "classify_error",
    "clean_structure",
    "clean_text",
    "complete_summaries",
    "describe_possible_effect",
    "detect_direction",
    "humanize_name",
    "summarize_abandoned_call",
    "summarize_absence",
    "summarize_call",
    "summarize_call_failure",
    "summarize_call_result",
    "summarize_cancellation",
    "summarize_completion",
    "summarize_early_end",
    "summarize_error",
    "summarize_handoff",
    "summarize_outcome",
    "summarize_progress",
    "summarize_return",
    "summarize_skipped_call",
    "summarize_start",
    "summarize_state",
    "summarize_stopped_call",
    "summarize_unfinished",
    "truncate_with_ellipsis",
]


class Summaries(NamedTuple):
    """One announcement in three lengths."""

    terse: str
    normal: str
    detailed: str


SummaryLike: TypeAlias = "str | tuple[str, str, str] | None"

_MAX_SUMMARY_LENGTHS: Final = (4096, 16_384, 16_384)  # characters of terse, normal and detailed
_LINE_BREAK: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # of any kind but \n
_SENTENCE_BREAK: Final = re.compile(r"[.!?。！？]\s")
# Not allowed in text that is spoken or shown: controls, and overrides that can disguise it (C-59).
_UNSAFE_CHARACTER: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")

AGENT_STATES: Final = "idle thinking calling_tool writing_output awaiting_input deciding handing_off".split()
MAX_TERSE_WORDS: Final = 8  # of an author's sentence that is said at the terse verbosity too


@lru_cache(maxsize=256)
def summarize_state(state: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize that an agent is in one of the :data:`AGENT_STATES` now."""
    text = phrases[f"state-{state}"]
    return Summaries(text, text, phrases.format_first(f"state-{state}-detailed", f"state-{state}"))


def clean_text(
    text: object, max_length: int = 16_384, *, tells_ending: bool = False, phrases: Phrases = ENGLISH
) -> str:
    """
    Make text fit to be sent: normal form C (I18N-026), secrets redacted, no disguises, bounded length.

    With ``tells_ending`` the last digits of card numbers and the like are told.
    """
    cleaned = str(text)
    if not (cleaned.isascii() and cleaned.isprintable()):
        cleaned = unicodedata.normalize("NFC", _UNSAFE_CHARACTER.sub(" ", _LINE_BREAK.sub("\n", cleaned)))
        if cleaned and unicodedata.category(cleaned[0])[0] == "M":  # I18N-031
            cleaned = "\u25cc" + cleaned
    if "<" in cleaned:
        cleaned = LANG_MARKUP.sub(lambda match: f"< {match[0][1:]}", cleaned)  # I18N-041
    if may_contain_secret(cleaned):
        cleaned = redact(cleaned, tells_ending=tells_ending, phrases=phrases)
    return cleaned if len(cleaned) <= max_length else cleaned[: max_length - 1] + "…"


def truncate_with_ellipsis(text: str) -> str:
    """Return the beginning of a long text, to refer to it where the full text is elsewhere."""
    return text if len(text) <= MAX_SPOKEN_LENGTH else f"{truncate(text)}…"


def clean_structure(value: Any) -> Any:
    """Apply :func:`clean_text` to every text that a structure holds (SEC-023: in any field)."""
    if isinstance(value, dict):
        return {key: clean_structure(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_structure(item) for item in value]
    return clean_text(value) if isinstance(value, str) else value


def complete_summaries(text: SummaryLike, fallback: Summaries, *, is_one_language: bool = True) -> Summaries:
    """Return the three lengths of the author's text, completed from the fallback if that is in the same language."""
    if text is None or text == "":
        return fallback
    if not isinstance(text, str):
        cleaned = [clean_text(summary, limit) for summary, limit in zip(text, _MAX_SUMMARY_LENGTHS, strict=True)]
        terse, normal, detailed = cleaned
        normal = normal or detailed or terse
        return Summaries(terse or normal, normal, detailed or normal) if normal else fallback
    normal = ensure_full_stop(clean_text(text).strip())
    if not normal:
        return fallback
    terse = fallback.terse if is_one_language else clean_text(normal, 4096)
    return Summaries(terse, normal, normal)


def summarize_start(summary: SummaryLike, phrases: Phrases = ENGLISH, *, is_one_language: bool = True) -> Summaries:
    """Summarize the start of a session; the author's sentence is terse enough if it is short."""
    label = phrases["started"]
    completed = complete_summaries(summary, Summaries(label, label, label), is_one_language=is_one_language)
    is_short = isinstance(summary, str) and len(completed.normal.split()) <= MAX_TERSE_WORDS
    return completed._replace(terse=clean_text(completed.normal, 4096)) if is_short else completed


# Cached, because the same tools are used and the same percentages reported again and again.
@lru_cache(maxsize=256)
def _summarize_plain_call(name: str, phrases: Phrases) -> Summaries:
    tool = humanize_name(name)
    text = phrases.format("invoked", tool=tool)
    return Summaries(f"{capitalize(tool)}.", text, text)


def summarize_call(name: str, args: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a call of a tool."""
    summaries = _summarize_plain_call(name, phrases)
    if not args:
        return summaries
    return summaries._replace(detailed=f"{summaries.detailed} {phrases.format('with', arguments=args)}")


def _format_sentence(phrases: Phrases, phrase: str, name: str) -> str:
    """Return a phrase about a tool as a whole sentence."""
    return capitalize(phrases.format(phrase, tool=humanize_name(name)))


@lru_cache(maxsize=256)
def _summarize_plain_result(name: str, phrases: Phrases) -> Summaries:
    text = _format_sentence(phrases, "success", name)
    return Summaries(text, text, text)


def summarize_call_result(name: str, seconds: float, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize the successful end of a call."""
    summaries = _summarize_plain_result(name, phrases)
    if seconds < 1:
        return summaries
    duration = phrases.format("took", duration=phrases.format_duration(seconds))
    return summaries._replace(detailed=f"{summaries.detailed} {duration}")


def summarize_early_end(name: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a call that ended because its caller wanted no more of what it gives, which is no failure."""
    summaries = _summarize_plain_result(name, phrases)
    return summaries._replace(detailed=_format_sentence(phrases, "stopped-early", name))


def summarize_call_failure(
    name: str, reason: str, phrases: Phrases = ENGLISH, *, is_irreversible: bool = False
) -> tuple[Summaries, str]:
    """Return the summaries of a failed call, and what is told of the reason."""
    tool = capitalize(humanize_name(name))
    message = ensure_full_stop(reason)
    if is_irreversible:
        message = f"{message} {phrases['failed-check']}"
    text = phrases.format("error-reason", call=tool, reason=message)
    return Summaries(phrases.format("error", call=tool), text, text), message


def summarize_stopped_call(name: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a call that was stopped before it could change anything."""
    text = _format_sentence(phrases, "stopped", name)
    return Summaries(text, text, text)


def summarize_abandoned_call(name: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a call that began and did not finish; the user has to hear that its effect is unknown (C-42)."""
    tool = capitalize(humanize_name(name))
    text = phrases.format("timeout", call=tool)
    return Summaries(phrases.format("possible", action=tool), text, text)


def summarize_skipped_call(action: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a call that was agreed to and never begun."""
    text = phrases.format("skipped", action=shorten_action(action, phrases))
    return Summaries(text, text, text)


@lru_cache(maxsize=256, typed=True)
def summarize_progress(
    percent: float | None, step: int | None, total: int | None, phrases: Phrases = ENGLISH
) -> Summaries:
    """Summarize how far work has come."""
    parts = []
    if isinstance(percent, (int, float)):  # other values are not sent
        parts.append(phrases.format("percent", percent=percent))
    if step is not None:
        parts.append(phrases.format("step-of" if total is not None else "step", step=step, total=total))
    parts = parts or [phrases["progress-none"]]
    return Summaries(parts[0], parts[0], " ".join(parts))


def summarize_completion(seconds: float, calls: int, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize the successful end of a session."""
    label = phrases["completed"]
    parts = [label]
    if seconds >= 1:
        parts.append(phrases.format("took", duration=phrases.format_duration(seconds)))
    if calls:
        parts.append(phrases.format("tools", count=calls))
    return Summaries(label, label, " ".join(parts))


# What became of an action that was asked for, gravest first: the phrases for one, and for others.
_UNFINISHED_PHRASES: Final[Mapping[str, tuple[str, str]]] = {
    "may_have_happened": ("possible", "possible-more"),
    "failed": ("undone-failed", "undone-failed-more"),
    "not_done": ("undone", "undone-more"),
}
_MAX_NAMED_ACTIONS: Final = 2


def describe_possible_effect(action: str, phrases: Phrases = ENGLISH) -> str:
    """Return the sentences for code that was interrupted in an action whose effect is unknown."""
    sentence = phrases.format("possible", action=shorten_action(action, phrases))
    return f"{sentence} {phrases['possible-check']}"


def summarize_unfinished(
    actions: Sequence[tuple[str, str]], result: Summaries | None, usual: Summaries, phrases: Phrases = ENGLISH
) -> Summaries:
    """
    Summarize the end of a session in which not all was done that was asked for.

    ``actions`` are pairs of an action and its outcome: may_have_happened, failed
    or not_done. ``result`` is what the author says of the work, if anything.
    """
    sentences = [phrases["ended"]]
    may_name = _MAX_NAMED_ACTIONS
    for outcome, (one, others) in _UNFINISHED_PHRASES.items():
        names = [shorten_action(action, phrases) for action, found in actions if found == outcome]
        named = [*dict.fromkeys(names)][:may_name]  # what is named alike is counted
        sentences += [phrases.format(one, action=name) for name in named]
        more = len(names) - len(named)
        may_name -= len(named)
        if more:
            sentences.append(phrases.format(others, count=more))
        if names and outcome == "may_have_happened":
            sentences.append(phrases["possible-check"])
    text = " ".join(sentences)
    if result is None:
        return Summaries(text, text, f"{text}{usual.detailed.removeprefix(usual.normal)}")
    return Summaries(text, f"{text} {result.normal}", f"{text} {result.detailed}")


def summarize_cancellation(cancelled_by: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a session that was stopped."""
    label = phrases["cancelled"]
    normal = f"{label} {phrases['unfinished']}"
    return Summaries(label, normal, f"{normal} {phrases.format_first(f'by-{cancelled_by}', 'by-producer')}")


_ERROR_CATEGORIES: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    # EVT-013 §4.1.3: by meaning; the first match counts.
    ((PermissionError,), "requires_user"),
    ((FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError), "permanent"),
    ((TimeoutError, ConnectionError, BlockingIOError, InterruptedError), "transient"),
    ((ValueError, TypeError, LookupError, AttributeError, NameError, NotImplementedError, AssertionError), "permanent"),
)


def classify_error(error: BaseException, phrases: Phrases = ENGLISH) -> tuple[str, str]:
    """Return an error's category and its type name in words; its own text may hold anything and is left out."""
    if isinstance(error, BaseExceptionGroup):
        parts = [classify_error(part, phrases) for part in error.exceptions]
        category, name = parts[0]
        if len(parts) == 1:
            return category, name
        is_one_category = len({part[0] for part in parts}) == 1
        told = phrases.format("error-several", count=len(parts), name=name)
        return category if is_one_category else "unknown", told
    category = next((name for kinds, name in _ERROR_CATEGORIES if isinstance(error, kinds)), "unknown")
    return category, humanize_name(type(error).__name__)


def summarize_error(name: str, category: str, phrases: Phrases = ENGLISH) -> tuple[Summaries, str]:
    """Return the summaries of failed work, and a hint about what the user can do."""
    text = ensure_full_stop(capitalize(name))
    return Summaries(phrases["errored"], text, text), phrases.format_first(f"hint-{category}", "hint-unknown")


def summarize_absence(name: str, is_asking: bool, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize that a hub has lost its connection to an agent, whose questions can still be answered."""
    text = phrases.format("absent", agent=name)
    if is_asking:
        text = f"{text} {phrases['absent-asking']}"
    return Summaries(phrases.format("absent-terse", agent=name), text, text)


def summarize_return(name: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize that an agent is connected to its hub again."""
    text = phrases.format("returned", agent=name)
    return Summaries(text, text, text)


def summarize_handoff(target_kind: str, phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize a handoff to a kind of target."""
    text = phrases.format_first(f"handoff-{target_kind}", "handoff-other")
    return Summaries(phrases["handoff-other"], text, text)


# All readers that saw the prompt hear these, also those that did not answer: each outcome's label, and what
# follows it. None stands for the action that was not done.
_OUTCOME_PHRASES: Final[Mapping[str, tuple[str, str | None]]] = {
    "accepted": ("outcome-accepted", ""),
    "rejected": ("outcome-rejected", None),
    "modified": ("outcome-rejected", "outcome-modified"),
    "answered": ("outcome-answered", ""),
    "timed_out": ("outcome-timed_out", None),
    "granted": ("outcome-timed_out", "outcome-granted"),
    "defaulted": ("outcome-timed_out", "outcome-defaulted"),
    "unavailable": ("outcome-timed_out", "outcome-unanswered"),
    "lost": ("outcome-unavailable", None),
    "lost_defaulted": ("outcome-unavailable", "outcome-defaulted"),
    "lost_unanswered": ("outcome-unavailable", "outcome-unanswered"),
    "withdrawn": ("outcome-withdrawn", None),
    "longer": ("outcome-withdrawn", "outcome-longer"),
    "no_reply_channel": ("outcome-no_reply_channel", None),
    "unasked_defaulted": ("outcome-no_reply_channel", "outcome-defaulted"),
    "unasked_unanswered": ("outcome-no_reply_channel", "outcome-unanswered"),
}


def summarize_outcome(outcome: str, action: str = "", phrases: Phrases = ENGLISH) -> Summaries:
    """Summarize the outcome of a prompt; ``action`` is what was asked for, and is empty for a question."""
    label, consequence = _OUTCOME_PHRASES[outcome]
    text = phrases[label]
    rest = phrases[consequence] if consequence else ""
    if consequence is None and action:
        rest = describe_undone([action], phrases)
    normal = f"{text} {rest}" if rest else text
    return Summaries(text, normal, normal)


def detect_direction(language: str, texts: Iterable[str]) -> str:
    """Return the language's direction, or auto where a text mixes both. I18N-032, I18N-035 §11.4"""
    direction = language_direction(language)
    for text in texts:
        if not text.isascii():
            strong_directions = {unicodedata.bidirectional(char) for char in text}
            if "L" in strong_directions and strong_directions & {"R", "AL"}:
                return "auto"
        elif direction == "rtl" and not text.isdigit():
            return "auto"
    return direction
