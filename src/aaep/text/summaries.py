"""
Texts for people: three lengths of each, composed where the author gave fewer, and nothing secret in any.

Whoever writes an agent may give one sentence, three lengths, or nothing. What
is composed here is English; where the author's text is in another language
only that text is used, for a sentence in two languages can be read in neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from .languages import language_direction
from .phrases import ensure_full_stop, format_duration, humanize_name
from .redaction import may_contain_secret, redact
from .sanitize import LANG_MARKUP, MAX_SPOKEN_LENGTH, truncate

__all__ = [
    "STATE_SUMMARIES",
    "Summaries",
    "SummaryLike",
    "classify_error",
    "clean_structure",
    "clean_text",
    "complete_summaries",
    "detect_direction",
    "humanize_name",
    "summarize_abandoned_call",
    "summarize_call",
    "summarize_call_failure",
    "summarize_call_result",
    "summarize_cancellation",
    "summarize_completion",
    "summarize_error",
    "summarize_handoff",
    "summarize_outcome",
    "summarize_progress",
    "summarize_skipped_call",
    "summarize_start",
    "truncate_with_ellipsis",
]


class Summaries(NamedTuple):
    """One thing to say, in three lengths."""

    terse: str
    normal: str
    detailed: str


SummaryLike: TypeAlias = "str | tuple[str, str, str] | None"

_MAX_SUMMARY_LENGTHS: Final = (4096, 16_384, 16_384)  # of the three summaries
# What may not stand in text that is read out or shown: controls, and overrides that can disguise it (C-59).
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
    """Text fit to be sent: normal form C (I18N-026), no secrets, no disguises, not too long."""
    said = str(text)
    if not (said.isascii() and said.isprintable()):
        said = unicodedata.normalize("NFC", _UNSAFE_CHARACTER.sub(" ", said))
        if said and unicodedata.category(said[0])[0] == "M":  # I18N-031
            said = "\u25cc" + said
    if "<" in said:
        said = LANG_MARKUP.sub(lambda match: f"< {match[0][1:]}", said)  # I18N-041
    if may_contain_secret(said):
        said = redact(said)
    return said if len(said) <= max_length else said[: max_length - 1] + "…"


def truncate_with_ellipsis(text: str) -> str:
    """The beginning of a long text, to name it by where all of it is told elsewhere."""
    return text if len(text) <= MAX_SPOKEN_LENGTH else f"{truncate(text)}…"


def clean_structure(value: Any) -> Any:
    """The same for everything that a structure holds (SEC-023: in any field)."""
    if isinstance(value, dict):
        return {key: clean_structure(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_structure(one) for one in value]
    return clean_text(value) if isinstance(value, str) else value


def complete_summaries(text: SummaryLike, fallback: Summaries, *, english: bool = True) -> Summaries:
    """The three lengths of what the author said, completed from what there is to say otherwise."""
    if text is None or text == "":
        return fallback
    if not isinstance(text, str):
        three = [clean_text(one, limit) for one, limit in zip(text, _MAX_SUMMARY_LENGTHS, strict=True)]
        normal = three[1] or three[2] or three[0]
        return Summaries(three[0] or normal, normal, three[2] or normal) if normal else fallback
    normal = ensure_full_stop(clean_text(text).strip())
    if not normal:
        return fallback
    terse = fallback.terse if english else clean_text(normal, 4096)
    return Summaries(terse, normal, normal)


def summarize_start(name: str) -> Summaries:
    return Summaries("Started.", f"{name} started.", f"{name} started working.")


# The same tools are used, and the same shares of work are done, again and again.
@lru_cache(maxsize=256)
def _summarize_plain_call(name: str) -> Summaries:
    what = humanize_name(name)
    said = f"Calling {what}."
    return Summaries(f"{what.capitalize()}.", said, said)


def summarize_call(name: str, args: str) -> Summaries:
    said = _summarize_plain_call(name)
    return said._replace(detailed=f"{said.detailed} With {args}.") if args else said


@lru_cache(maxsize=256)
def _summarize_plain_result(name: str) -> Summaries:
    said = f"{humanize_name(name).capitalize()} finished."
    return Summaries("Done.", said, said)


def summarize_call_result(name: str, seconds: float) -> Summaries:
    said = _summarize_plain_result(name)
    return said._replace(detailed=f"{said.detailed} It took {format_duration(seconds)}.") if seconds >= 1 else said


def summarize_call_failure(name: str, reason: str) -> Summaries:
    what = humanize_name(name)
    return Summaries(
        "Failed.",
        f"{what.capitalize()} failed.",
        f"{what.capitalize()} failed. {ensure_full_stop(reason.capitalize())}",
    )


def summarize_abandoned_call(name: str) -> Summaries:
    """C-42: nobody knows whether it happened, and that has to be heard."""
    what = humanize_name(name)
    said = f"No longer waiting for: {what}. It may or may not have taken effect."
    return Summaries("Given up.", said, said)


def summarize_skipped_call(name: str) -> tuple[Summaries, Summaries]:
    """What was agreed to and then not begun: instead of its announcement, and of its end."""
    what = humanize_name(name)
    before = f"Stopped before it began: {what}."
    after = f"{what.capitalize()} was not done: the agent had stopped waiting for the answer."
    return Summaries("Stopped.", before, before), Summaries("Not done.", after, after)


@lru_cache(maxsize=256, typed=True)
def summarize_progress(percent: float | None, step: int | None, total: int | None) -> Summaries:
    """How far work has come, in words."""
    parts = [f"{percent:g} percent done."] if isinstance(percent, (int, float)) else []  # else it is not sent
    if step is not None:
        parts.append(f"Step {step} of {total}." if total is not None else f"Step {step}.")
    said = " ".join(parts)
    return Summaries(said or "Working.", said or "Still working.", said or "The agent is still working.")


def summarize_completion(seconds: float, calls: int) -> Summaries:
    tools = {0: "", 1: " One tool was used."}.get(calls, f" {calls} tools were used.")
    return Summaries("Done.", "Done.", f"Done. It took {format_duration(seconds)}.{tools}")


def summarize_cancellation(cancelled_by: str) -> Summaries:
    who = {"user": "The user stopped it", "timeout": "It took too long", "system": "The system stopped it"}
    said = f"{who.get(cancelled_by, 'The agent stopped')}. The work is not finished."
    return Summaries("Cancelled.", said, said)


_ERROR_CATEGORIES: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    # EVT-013 §4.1.3: by meaning. The first that fits.
    ((PermissionError,), "requires_user"),
    ((FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError), "permanent"),
    ((TimeoutError, ConnectionError, BlockingIOError, InterruptedError), "transient"),
    ((ValueError, TypeError, LookupError, AttributeError, NameError, NotImplementedError, AssertionError), "permanent"),
)


def classify_error(error: BaseException) -> tuple[str, str]:
    """An error's category, and its name in words. Its own text stays here: it may hold anything."""
    category = next((name for kinds, name in _ERROR_CATEGORIES if isinstance(error, kinds)), "unknown")
    return category, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(error).__name__).lower()


def summarize_error(name: str, category: str) -> tuple[Summaries, str]:
    """What to say when work failed, and what the user might do."""
    said = f"The work failed: {name}."
    hints = {
        "transient": "Trying again later may help.",
        "permanent": "Trying again will not help. Tell whoever runs the agent.",
        "requires_user": "Check whether the agent is allowed to do this, then try again.",
        "unknown": "Try again. If it fails again, tell whoever runs the agent.",
    }
    return Summaries("Failed.", said, said), hints.get(category, hints["unknown"])  # what there is not is not sent


def summarize_handoff(target_kind: str) -> Summaries:
    to = {"human": "a person", "specialist_agent": "another agent", "escalation_queue": "a queue"}.get(
        target_kind, target_kind
    )
    return Summaries("Handing over.", f"Handing over to {to}.", f"The agent cannot finish this and hands over to {to}.")


# Everybody who was asked hears these, also those who did not answer.
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
    "lost": ("Nobody left.", "Nobody is left who could answer. Nothing was done."),
    "withdrawn": ("Withdrawn.", "The agent no longer asks. Nothing was done."),
    "longer": ("More time.", "There is more time to answer. The agent asks again."),
    "no_reply_channel": ("Not done.", "Nobody is connected who could answer, so nothing was done."),
}


def summarize_outcome(outcome: str, about: str = "") -> Summaries:
    """What became of a prompt; ``about`` says which."""
    terse, normal = _OUTCOME_TEXTS[outcome]
    return Summaries(terse, normal, f"{normal} It was about this: {truncate_with_ellipsis(about)}" if about else normal)


def detect_direction(language: str, texts: Iterable[str]) -> str:
    """I18N-032, I18N-035 §11.4: the language's own direction, or auto where letters of both run together."""
    usual = language_direction(language)
    for text in texts:
        if not text.isascii():
            strong = {unicodedata.bidirectional(char) for char in text}
            if "L" in strong and strong & {"R", "AL"}:
                return "auto"
        elif usual == "rtl" and not text.isdigit():
            return "auto"
    return usual
