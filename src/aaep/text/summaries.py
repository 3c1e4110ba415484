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

from .languages import language_direction
from .phrases import PHRASES, capitalize, ensure_full_stop, format_duration, humanize_name
from .quotation import remove_quoted, speak_quotes
from .redaction import may_contain_secret, redact
from .sanitize import LANG_MARKUP, MAX_SPOKEN_LENGTH, sanitize, truncate

__all__ = [
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
    "tells_missing_answer",
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

STATE_SUMMARIES: Final[Mapping[str, Summaries]] = {
    "idle": Summaries("Idle.", "The agent is idle.", "The agent has nothing to do at the moment."),
    "thinking": Summaries("Thinking.", "Thinking.", "The agent is thinking about what to do next."),
    "calling_tool": Summaries("Using a tool.", "Using a tool.", "The agent is about to use a tool."),
    "writing_output": Summaries("Writing.", "Writing an answer.", "The agent is writing its answer."),
    "awaiting_input": Summaries(
        "Waiting for you.",
        "The agent needs your answer before it goes on.",
        "The agent has a question for you and waits for your answer before it goes on.",
    ),
    "deciding": Summaries("Deciding.", "Deciding how to go on.", "The agent is deciding how to go on."),
    "handing_off": Summaries(
        "Handing over.",
        "Handing over to somebody else.",
        "The agent cannot finish this by itself and hands it over.",
    ),
}


def clean_text(text: object, max_length: int = 16_384) -> str:
    """Make text fit to be sent: normal form C (I18N-026), secrets redacted, no disguises, bounded length."""
    cleaned = str(text)
    if not (cleaned.isascii() and cleaned.isprintable()):
        cleaned = unicodedata.normalize("NFC", _UNSAFE_CHARACTER.sub(" ", _LINE_BREAK.sub("\n", cleaned)))
        if cleaned and unicodedata.category(cleaned[0])[0] == "M":  # I18N-031
            cleaned = "\u25cc" + cleaned
    if "<" in cleaned:
        cleaned = LANG_MARKUP.sub(lambda match: f"< {match[0][1:]}", cleaned)  # I18N-041
    if may_contain_secret(cleaned):
        cleaned = redact(cleaned)
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


def summarize_start(name: str) -> Summaries:
    """Summarize the start of a session."""
    return Summaries("Started.", f"{name} started.", f"{name} started working.")


# Cached, because the same tools are used and the same percentages reported again and again.
@lru_cache(maxsize=256)
def _summarize_plain_call(name: str) -> Summaries:
    tool = humanize_name(name)
    text = f"Calling {tool}."
    return Summaries(f"{capitalize(tool)}.", text, text)


def summarize_call(name: str, args: str) -> Summaries:
    """Summarize a call of a tool."""
    summaries = _summarize_plain_call(name)
    return summaries._replace(detailed=f"{summaries.detailed} With {args}.") if args else summaries


@lru_cache(maxsize=256)
def _summarize_plain_result(name: str) -> Summaries:
    text = f"{capitalize(humanize_name(name))} finished."
    return Summaries("Done.", text, text)


def summarize_call_result(name: str, seconds: float) -> Summaries:
    """Summarize the successful end of a call."""
    summaries = _summarize_plain_result(name)
    if seconds < 1:
        return summaries
    return summaries._replace(detailed=f"{summaries.detailed} It took {format_duration(seconds)}.")


def summarize_early_end(name: str) -> Summaries:
    """Summarize a call that ended because its caller wanted no more of what it gives, which is no failure."""
    summaries = _summarize_plain_result(name)
    return summaries._replace(detailed=f"{capitalize(humanize_name(name))} was stopped early.")


def summarize_call_failure(name: str, reason: str, *, is_irreversible: bool = False) -> tuple[Summaries, str]:
    """Return the summaries of a failed call, and what is told of the reason."""
    text = f"{capitalize(humanize_name(name))} failed."
    message = ensure_full_stop(capitalize(reason))
    advice = " Check what was done before you try again." if is_irreversible else ""
    return Summaries("Failed.", text + advice, f"{text} {message}{advice}"), message + advice


def summarize_stopped_call(name: str) -> Summaries:
    """Summarize a call that was stopped before it could change anything."""
    text = PHRASES["stopped"].format(capitalize(humanize_name(name)))
    return Summaries("Stopped.", text, text)


def summarize_abandoned_call(name: str) -> Summaries:
    """Summarize a call that began and did not finish; the user has to hear that its effect is unknown (C-42)."""
    text = PHRASES["timeout"].format(capitalize(humanize_name(name)))
    return Summaries("May have happened.", text, text)


def summarize_skipped_call(action: str) -> Summaries:
    """Summarize a call that was agreed to and never begun."""
    text = f"{_shorten_action(action)} was not done: the agent stopped waiting."
    return Summaries("Not done.", text, text)


@lru_cache(maxsize=256, typed=True)
def summarize_progress(percent: float | None, step: int | None, total: int | None) -> Summaries:
    """Summarize how far work has come."""
    parts = [f"{percent:g} percent done."] if isinstance(percent, (int, float)) else []  # other values are not sent
    if step is not None:
        parts.append(f"Step {step} of {total}." if total is not None else f"Step {step}.")
    text = " ".join(parts)
    return Summaries(text or "Working.", text or "Still working.", text or "The agent is still working.")


def summarize_completion(seconds: float, calls: int) -> Summaries:
    """Summarize the successful end of a session."""
    tools = {0: "", 1: " One tool was used."}.get(calls, f" {calls} tools were used.")
    return Summaries("Done.", "Done.", f"Done. It took {format_duration(seconds)}.{tools}")


# What became of an action that was asked for, gravest first: for one of them, and for several.
_UNFINISHED_PHRASES: Final[Mapping[str, tuple[str, str]]] = {
    "may_have_happened": ("may have happened", "may have happened"),
    "failed": ("failed", "failed"),
    "not_done": ("was not done", "were not done"),
}
_MAX_NAMED_ACTIONS: Final = 2
_MAX_ACTION_LENGTH: Final = 160  # characters of an action that a sentence names


def describe_possible_effect(action: str) -> str:
    """Return the sentences for code that was interrupted in an action whose effect is unknown."""
    return f"{_shorten_action(action)} may have happened. Check before you try again."


def summarize_unfinished(actions: Sequence[tuple[str, str]], result: Summaries | None, usual: Summaries) -> Summaries:
    """
    Summarize the end of a session in which not all was done that was asked for.

    ``actions`` are pairs of an action and its outcome: may_have_happened, failed
    or not_done. ``result`` is what the author says of the work, if anything.
    """
    sentences = [PHRASES["ended"]]
    may_name = _MAX_NAMED_ACTIONS
    for outcome, (singular, plural) in _UNFINISHED_PHRASES.items():
        names = [_shorten_action(action) for action, found in actions if found == outcome]
        named = names[:may_name]
        may_name -= len(named)
        more = len(names) - len(named)
        parts = [f"{name} {singular}" for name in named]
        if more:
            rest = f"{more} more {singular if more == 1 else plural}"
            parts = [*parts[:-1], f"{parts[-1]}, and {rest}"] if parts else [rest]
        sentences += [f"{part}." for part in parts]
        if names and outcome == "may_have_happened":
            sentences.append("Check before you try again.")
    text = " ".join(sentences)
    if result is None:
        return Summaries(text, text, f"{text}{usual.detailed.removeprefix(usual.normal)}")
    return Summaries(text, f"{text} {result.normal}", f"{text} {result.detailed}")


def _shorten_action(action: str) -> str:
    """Return an action as the beginning of a sentence about it, so that it cannot be taken for more than one."""
    text = sanitize(action).rstrip(" .!;:…")
    has_several_sentences = _SENTENCE_BREAK.search(remove_quoted(text)) is not None
    text = speak_quotes(text)
    if len(text) > _MAX_ACTION_LENGTH:
        text = f"{truncate(text, _MAX_ACTION_LENGTH)}…"
    return f"quote {text} end quote" if has_several_sentences else capitalize(text)


def summarize_cancellation(cancelled_by: str) -> Summaries:
    """Summarize a session that was stopped."""
    causes = {"user": "The user stopped it", "timeout": "It took too long", "system": "The system stopped it"}
    text = f"{causes.get(cancelled_by, 'The agent stopped')}. The work is not finished."
    return Summaries("Cancelled.", text, text)


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
        return category if is_one_category else "unknown", f"{len(parts)} errors: {name} and others"
    category = next((name for kinds, name in _ERROR_CATEGORIES if isinstance(error, kinds)), "unknown")
    return category, humanize_name(type(error).__name__)


def summarize_error(name: str, category: str) -> tuple[Summaries, str]:
    """Return the summaries of failed work, and a hint about what the user can do."""
    text = f"The work failed: {name}."
    hints = {
        "transient": "Trying again later may help.",
        "permanent": "Trying again will not help. Tell whoever runs the agent.",
        "requires_user": "Check whether the agent is allowed to do this, then try again.",
        "unknown": "Try again. If it fails again, tell whoever runs the agent.",
    }
    return Summaries("Failed.", text, text), hints.get(category, hints["unknown"])


def summarize_absence(name: str, is_asking: bool) -> Summaries:
    """Summarize that a hub has lost its connection to an agent, whose questions can still be answered."""
    text = f"{name} is not reachable at the moment."
    if is_asking:
        text += " It gets your answer when it is back."
    return Summaries(f"{name} is not reachable.", text, text)


def summarize_return(name: str) -> Summaries:
    """Summarize that an agent is connected to its hub again."""
    text = f"{name} is reachable again."
    return Summaries(text, text, text)


def summarize_handoff(target_kind: str) -> Summaries:
    """Summarize a handoff to a kind of target."""
    target = {"human": "a person", "specialist_agent": "another agent", "escalation_queue": "a queue"}.get(
        target_kind, target_kind
    )
    return Summaries(
        "Handing over.", f"Handing over to {target}.", f"The agent cannot finish this and hands over to {target}."
    )


# All readers that saw the prompt hear these, also those that did not answer.
_OUTCOME_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "accepted": ("Accepted.", "Accepted. The agent may go on."),
    "rejected": ("Refused.", "Refused. Nothing was done."),
    "modified": (
        "Refused.",
        "Refused. The answer asked for something else, so nothing was done. The agent has to ask again.",
    ),
    "answered": ("Answered.", "Answered."),
    "timed_out": ("Time ran out.", "No answer came in time. Nothing was done."),
    "granted": ("Time ran out.", "No answer came in time. The agent goes on, as it said it would."),
    "defaulted": ("Time ran out.", "No answer came in time. The agent goes on with the answer it named."),
    "unavailable": ("No answer.", "No answer came. The agent goes on without one."),
    "lost": ("Nobody left.", "Nobody is left to answer. Nothing was done."),
    "lost.default": ("Nobody left.", "Nobody is left to answer. The agent goes on with the answer it named."),
    "lost.question": ("Nobody left.", "Nobody is left to answer. The agent goes on without an answer."),
    "withdrawn": ("Withdrawn.", "The agent no longer asks. Nothing was done."),
    "longer": ("More time.", "There is more time to answer. The agent asks again."),
    "no_reply_channel": ("Not done.", "Nobody is connected who could answer, so nothing was done."),
}


def tells_missing_answer(summary: str) -> bool:
    """Whether a summary says by itself why no answer came, which is not always that time ran out."""
    return summary.startswith(("No answer came", "Nobody left.", "Nobody is left to answer."))


def summarize_outcome(outcome: str, about: str = "") -> Summaries:
    """Summarize the outcome of a prompt; ``about`` says which prompt."""
    terse, normal = _OUTCOME_TEXTS[outcome]
    if outcome == "lost" and about:  # who was not there when it was asked has to know what it was
        text = f"Nobody is left to answer. {truncate_with_ellipsis(about).rstrip('.')} was not done."
        return Summaries(terse, text, text)
    detailed = f"{normal} It was about this: {truncate_with_ellipsis(about)}" if about else normal
    return Summaries(terse, normal, detailed)


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
