"""
Compose the summaries of events: three lengths of each, with secrets redacted.

An agent's author may supply one sentence, three lengths, or nothing. Composed
text is English; where the author's text is in another language only that text
is used, since a sentence in two languages is hard to follow.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from .actions import describe_undone, shorten_action
from .languages import language_direction
from .phrases import (
    PHRASES,
    capitalize,
    ensure_full_stop,
    format_duration,
    get_phrase,
    humanize_name,
)
from .redaction import may_contain_secret, redact
from .sanitize import LANG_MARKUP, MAX_SPOKEN_LENGTH, truncate

__all__ = [
    "MAX_TERSE_WORDS",
    "STATE_SUMMARIES",
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

_STATES: Final = ("idle", "thinking", "calling_tool", "writing_output", "awaiting_input", "deciding", "handing_off")
STATE_SUMMARIES: Final[Mapping[str, Summaries]] = {
    state: Summaries(
        PHRASES[f"state.{state}"],
        PHRASES[f"state.{state}"],
        get_phrase(f"state.{state}.detailed", f"state.{state}"),
    )
    for state in _STATES
}
MAX_TERSE_WORDS: Final = 8  # of an author's sentence that is said at the terse verbosity too


def clean_text(text: object, max_length: int = 16_384, *, tells_ending: bool = False) -> str:
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
        cleaned = redact(cleaned, tells_ending=tells_ending)
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


def complete_summaries(text: SummaryLike, fallback: Summaries, *, english: bool = True) -> Summaries:
    """Return the three lengths of the author's text, completed from the fallback."""
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
    terse = fallback.terse if english else clean_text(normal, 4096)
    return Summaries(terse, normal, normal)


def summarize_start(summary: SummaryLike, *, english: bool = True) -> Summaries:
    """Summarize the start of a session; the author's sentence is terse enough if it is short."""
    label = PHRASES["started"]
    completed = complete_summaries(summary, Summaries(label, label, label), english=english)
    is_short = isinstance(summary, str) and len(completed.normal.split()) <= MAX_TERSE_WORDS
    return completed._replace(terse=clean_text(completed.normal, 4096)) if is_short else completed


# Cached, because the same tools are used and the same percentages reported again and again.
@lru_cache(maxsize=256)
def _summarize_plain_call(name: str) -> Summaries:
    tool = humanize_name(name)
    text = PHRASES["invoked"].format(tool)
    return Summaries(f"{capitalize(tool)}.", text, text)


def summarize_call(name: str, args: str) -> Summaries:
    """Summarize a call of a tool."""
    summaries = _summarize_plain_call(name)
    return summaries._replace(detailed=f"{summaries.detailed} {PHRASES['with'].format(args)}") if args else summaries


@lru_cache(maxsize=256)
def _summarize_plain_result(name: str) -> Summaries:
    text = PHRASES["success"].format(capitalize(humanize_name(name)))
    return Summaries(text, text, text)


def summarize_call_result(name: str, seconds: float) -> Summaries:
    """Summarize the successful end of a call."""
    summaries = _summarize_plain_result(name)
    if seconds < 1:
        return summaries
    return summaries._replace(detailed=f"{summaries.detailed} {PHRASES['took'].format(format_duration(seconds))}")


def summarize_early_end(name: str) -> Summaries:
    """Summarize a call that ended because its caller wanted no more of what it gives, which is no failure."""
    summaries = _summarize_plain_result(name)
    return summaries._replace(detailed=PHRASES["stopped.early"].format(capitalize(humanize_name(name))))


def summarize_call_failure(name: str, reason: str, *, is_irreversible: bool = False) -> tuple[Summaries, str]:
    """Return the summaries of a failed call, and what is told of the reason."""
    tool = capitalize(humanize_name(name))
    message = ensure_full_stop(reason)
    if is_irreversible:
        message = f"{message} {PHRASES['failed.check']}"
    text = PHRASES["error.reason"].format(tool, message)
    return Summaries(PHRASES["error"].format(tool), text, text), message


def summarize_stopped_call(name: str) -> Summaries:
    """Summarize a call that was stopped before it could change anything."""
    text = PHRASES["stopped"].format(capitalize(humanize_name(name)))
    return Summaries(text, text, text)


def summarize_abandoned_call(name: str) -> Summaries:
    """Summarize a call that began and did not finish; the user has to hear that its effect is unknown (C-42)."""
    tool = capitalize(humanize_name(name))
    text = PHRASES["timeout"].format(tool)
    return Summaries(PHRASES["possible"].format(tool), text, text)


def summarize_skipped_call(action: str) -> Summaries:
    """Summarize a call that was agreed to and never begun."""
    text = PHRASES["skipped"].format(shorten_action(action))
    return Summaries(text, text, text)


@lru_cache(maxsize=256, typed=True)
def summarize_progress(percent: float | None, step: int | None, total: int | None) -> Summaries:
    """Summarize how far work has come."""
    parts = []
    if isinstance(percent, (int, float)):  # other values are not sent
        parts.append(PHRASES["percent"].format(f"{percent:g}"))
    if step is not None:
        parts.append(PHRASES["step.of" if total is not None else "step"].format(step, total))
    parts = parts or [PHRASES["progress.none"]]
    return Summaries(parts[0], parts[0], " ".join(parts))


def summarize_completion(seconds: float, calls: int) -> Summaries:
    """Summarize the successful end of a session."""
    label = PHRASES["completed"]
    parts = [label]
    if seconds >= 1:
        parts.append(PHRASES["took"].format(format_duration(seconds)))
    if calls:
        parts.append(PHRASES["tools.one" if calls == 1 else "tools"].format(calls))
    return Summaries(label, label, " ".join(parts))


# What became of an action that was asked for, gravest first: the phrases for one, another one, and others.
_UNFINISHED_PHRASES: Final[Mapping[str, tuple[str, str, str]]] = {
    "may_have_happened": ("possible", "possible.more", "possible.more"),
    "failed": ("undone.failed", "undone.failed.more", "undone.failed.more"),
    "not_done": ("undone", "undone.more.one", "undone.more"),
}
_MAX_NAMED_ACTIONS: Final = 2


def describe_possible_effect(action: str) -> str:
    """Return the sentences for code that was interrupted in an action whose effect is unknown."""
    return f"{PHRASES['possible'].format(shorten_action(action))} {PHRASES['possible.check']}"


def summarize_unfinished(actions: Sequence[tuple[str, str]], result: Summaries | None, usual: Summaries) -> Summaries:
    """
    Summarize the end of a session in which not all was done that was asked for.

    ``actions`` are pairs of an action and its outcome: may_have_happened, failed
    or not_done. ``result`` is what the author says of the work, if anything.
    """
    sentences = [PHRASES["ended"]]
    may_name = _MAX_NAMED_ACTIONS
    for outcome, (one, another, others) in _UNFINISHED_PHRASES.items():
        names = [shorten_action(action) for action, found in actions if found == outcome]
        named = [*dict.fromkeys(names)][:may_name]  # what is named alike is counted
        sentences += [PHRASES[one].format(name) for name in named]
        more = len(names) - len(named)
        may_name -= len(named)
        if more:
            sentences.append(PHRASES[another if more == 1 else others].format(more))
        if names and outcome == "may_have_happened":
            sentences.append(PHRASES["possible.check"])
    text = " ".join(sentences)
    if result is None:
        return Summaries(text, text, f"{text}{usual.detailed.removeprefix(usual.normal)}")
    return Summaries(text, f"{text} {result.normal}", f"{text} {result.detailed}")


def summarize_cancellation(cancelled_by: str) -> Summaries:
    """Summarize a session that was stopped."""
    label = PHRASES["cancelled"]
    normal = f"{label} {PHRASES['unfinished']}"
    return Summaries(label, normal, f"{normal} {get_phrase(f'by.{cancelled_by}', 'by.producer')}")


_ERROR_CATEGORIES: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    # EVT-013 §4.1.3: by meaning; the first match counts.
    ((PermissionError,), "requires_user"),
    ((FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError), "permanent"),
    ((TimeoutError, ConnectionError, BlockingIOError, InterruptedError), "transient"),
    ((ValueError, TypeError, LookupError, AttributeError, NameError, NotImplementedError, AssertionError), "permanent"),
)


def classify_error(error: BaseException) -> tuple[str, str]:
    """Return an error's category and its type name in words; its own text may hold anything and is left out."""
    if isinstance(error, BaseExceptionGroup):
        parts = [classify_error(part) for part in error.exceptions]
        category, name = parts[0]
        if len(parts) == 1:
            return category, name
        is_one_category = len({part[0] for part in parts}) == 1
        return category if is_one_category else "unknown", PHRASES["error.several"].format(len(parts), name)
    category = next((name for kinds, name in _ERROR_CATEGORIES if isinstance(error, kinds)), "unknown")
    return category, humanize_name(type(error).__name__)


def summarize_error(name: str, category: str) -> tuple[Summaries, str]:
    """Return the summaries of failed work, and a hint about what the user can do."""
    text = ensure_full_stop(capitalize(name))
    return Summaries(PHRASES["errored"], text, text), get_phrase(f"hint.{category}", "hint.unknown")


def summarize_absence(name: str, is_asking: bool) -> Summaries:
    """Summarize that a hub has lost its connection to an agent, whose questions can still be answered."""
    text = PHRASES["absent"].format(name)
    if is_asking:
        text = f"{text} {PHRASES['absent.asking']}"
    return Summaries(PHRASES["absent.terse"].format(name), text, text)


def summarize_return(name: str) -> Summaries:
    """Summarize that an agent is connected to its hub again."""
    text = PHRASES["returned"].format(name)
    return Summaries(text, text, text)


def summarize_handoff(target_kind: str) -> Summaries:
    """Summarize a handoff to a kind of target."""
    text = get_phrase(f"handoff.{target_kind}", "handoff.other")
    return Summaries(PHRASES["handoff.other"], text, text)


# All readers that saw the prompt hear these, also those that did not answer: each outcome's label, and what
# follows it. None stands for the action that was not done.
_OUTCOME_PHRASES: Final[Mapping[str, tuple[str, str | None]]] = {
    "accepted": ("outcome.accepted", ""),
    "rejected": ("outcome.rejected", None),
    "modified": ("outcome.rejected", "outcome.modified"),
    "answered": ("outcome.answered", ""),
    "timed_out": ("outcome.timed_out", None),
    "granted": ("outcome.timed_out", "outcome.granted"),
    "defaulted": ("outcome.timed_out", "outcome.defaulted"),
    "unavailable": ("outcome.timed_out", "outcome.unanswered"),
    "lost": ("outcome.unavailable", None),
    "lost_defaulted": ("outcome.unavailable", "outcome.defaulted"),
    "lost_unanswered": ("outcome.unavailable", "outcome.unanswered"),
    "withdrawn": ("outcome.withdrawn", None),
    "longer": ("outcome.withdrawn", "outcome.longer"),
    "no_reply_channel": ("outcome.no_reply_channel", None),
    "unasked_defaulted": ("outcome.no_reply_channel", "outcome.defaulted"),
    "unasked_unanswered": ("outcome.no_reply_channel", "outcome.unanswered"),
}


def summarize_outcome(outcome: str, action: str = "") -> Summaries:
    """Summarize the outcome of a prompt; ``action`` is what was asked for, and is empty for a question."""
    label, consequence = _OUTCOME_PHRASES[outcome]
    text = PHRASES[label]
    rest = get_phrase(consequence or "")
    if consequence is None and action:
        rest = describe_undone([action])
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
