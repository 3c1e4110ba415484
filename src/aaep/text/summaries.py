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

from .languages import direction
from .phrases import sentence, span, title
from .redaction import redact, suspicious
from .sanitize import LONGEST, MARKUP, cut

__all__ = [
    "STATES",
    "Said",
    "Text",
    "abandoned",
    "brief",
    "cancelled",
    "completed",
    "compose",
    "direction_of",
    "errored",
    "failed",
    "failure",
    "forgone",
    "handed",
    "invoked",
    "made",
    "outcome",
    "plain",
    "plainly",
    "returned",
    "started",
    "title",
]


class Said(NamedTuple):
    """One thing to say, in three lengths."""

    terse: str
    normal: str
    detailed: str


Text: TypeAlias = "str | tuple[str, str, str] | None"

_MOST: Final = (4096, 16_384, 16_384)  # of the three summaries
# What may not stand in text that is read out or shown: controls, and overrides that can disguise it (C-59).
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")

STATES: Final[Mapping[str, Said]] = {
    "idle": Said("Idle.", "The agent is idle.", "The agent has nothing to do at the moment."),
    "thinking": Said("Thinking.", "Thinking.", "The agent is thinking about what to do next."),
    "calling_tool": Said("Using a tool.", "Using a tool.", "The agent is about to use a tool."),
    "writing_output": Said("Writing.", "Writing an answer.", "The agent is writing its answer."),
    "awaiting_input": Said("Waiting for you.", "The agent needs your answer before it goes on.", "The agent has a "
                           "question for you and waits for your answer before it goes on."),
    "deciding": Said("Deciding.", "Deciding how to go on.", "The agent is deciding how to go on."),
    "handing_off": Said("Handing over.", "Handing over to somebody else.", "The agent cannot finish this by itself "
                        "and hands it over."),
}  # fmt: skip


def plain(text: object, most: int = 16_384) -> str:
    """Text fit to be sent: normal form C (I18N-026), no secrets, no disguises, not too long."""
    said = str(text)
    if not (said.isascii() and said.isprintable()):
        said = unicodedata.normalize("NFC", _CONTROLS.sub(" ", said))
        if said and unicodedata.category(said[0])[0] == "M":  # I18N-031
            said = "\u25cc" + said
    if "<" in said:
        said = MARKUP.sub(lambda match: f"< {match[0][1:]}", said)  # I18N-041
    if suspicious(said):
        said = redact(said)
    return said if len(said) <= most else said[: most - 1] + "…"


def brief(text: str) -> str:
    """The beginning of a long text, to name it by where all of it is told elsewhere."""
    return text if len(text) <= LONGEST else f"{cut(text)}…"


def plainly(value: Any) -> Any:
    """The same for everything that a structure holds (SEC-023: in any field)."""
    if isinstance(value, dict):
        return {key: plainly(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plainly(one) for one in value]
    return plain(value) if isinstance(value, str) else value


def compose(given: Text, otherwise: Said, *, english: bool = True) -> Said:
    """The three lengths of what the author said, completed from what there is to say otherwise."""
    if given is None or given == "":
        return otherwise
    if not isinstance(given, str):
        three = [plain(one, limit) for one, limit in zip(given, _MOST, strict=True)]
        normal = three[1] or three[2] or three[0]
        return Said(three[0] or normal, normal, three[2] or normal) if normal else otherwise
    normal = sentence(plain(given).strip())
    if not normal:
        return otherwise
    terse = otherwise.terse if english else plain(normal, 4096)
    return Said(terse, normal, normal)


def started(name: str) -> Said:
    return Said("Started.", f"{name} started.", f"{name} started working.")


# The same tools are used, and the same shares of work are done, again and again.
@lru_cache(maxsize=256)
def _calling(name: str) -> Said:
    what = title(name)
    said = f"Calling {what}."
    return Said(f"{what.capitalize()}.", said, said)


def invoked(name: str, args: str) -> Said:
    said = _calling(name)
    return said._replace(detailed=f"{said.detailed} With {args}.") if args else said


@lru_cache(maxsize=256)
def _finished(name: str) -> Said:
    said = f"{title(name).capitalize()} finished."
    return Said("Done.", said, said)


def returned(name: str, seconds: float) -> Said:
    said = _finished(name)
    return said._replace(detailed=f"{said.detailed} It took {span(seconds)}.") if seconds >= 1 else said


def failed(name: str, why: str) -> Said:
    what = title(name)
    return Said("Failed.", f"{what.capitalize()} failed.", f"{what.capitalize()} failed. {sentence(why.capitalize())}")


def abandoned(name: str) -> Said:
    """C-42: nobody knows whether it happened, and that has to be heard."""
    what = title(name)
    said = f"No longer waiting for: {what}. It may or may not have taken effect."
    return Said("Given up.", said, said)


def forgone(name: str) -> tuple[Said, Said]:
    """What was agreed to and then not begun: instead of its announcement, and of its end."""
    what = title(name)
    before = f"Stopped before it began: {what}."
    after = f"{what.capitalize()} was not done: the agent had stopped waiting for the answer."
    return Said("Stopped.", before, before), Said("Not done.", after, after)


@lru_cache(maxsize=256, typed=True)
def made(percent: float | None, step: int | None, total: int | None) -> Said:
    """How far work has come, in words."""
    parts = [f"{percent:g} percent done."] if isinstance(percent, (int, float)) else []  # else it is not sent
    if step is not None:
        parts.append(f"Step {step} of {total}." if total is not None else f"Step {step}.")
    said = " ".join(parts)
    return Said(said or "Working.", said or "Still working.", said or "The agent is still working.")


def completed(seconds: float, calls: int) -> Said:
    tools = {0: "", 1: " One tool was used."}.get(calls, f" {calls} tools were used.")
    return Said("Done.", "Done.", f"Done. It took {span(seconds)}.{tools}")


def cancelled(by: str) -> Said:
    who = {"user": "The user stopped it", "timeout": "It took too long", "system": "The system stopped it"}
    said = f"{who.get(by, 'The agent stopped')}. The work is not finished."
    return Said("Cancelled.", said, said)


_CATEGORIES: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    # EVT-013 §4.1.3: by meaning. The first that fits.
    ((PermissionError,), "requires_user"),
    ((FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError), "permanent"),
    ((TimeoutError, ConnectionError, BlockingIOError, InterruptedError), "transient"),
    ((ValueError, TypeError, LookupError, AttributeError, NameError, NotImplementedError, AssertionError), "permanent"),
)


def failure(error: BaseException) -> tuple[str, str]:
    """An error's category, and its name in words. Its own text stays here: it may hold anything."""
    category = next((name for kinds, name in _CATEGORIES if isinstance(error, kinds)), "unknown")
    return category, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(error).__name__).lower()


def errored(name: str, category: str) -> tuple[Said, str]:
    """What to say when work failed, and what the user might do."""
    said = f"The work failed: {name}."
    hints = {
        "transient": "Trying again later may help.",
        "permanent": "Trying again will not help. Tell whoever runs the agent.",
        "requires_user": "Check whether the agent is allowed to do this, then try again.",
        "unknown": "Try again. If it fails again, tell whoever runs the agent.",
    }
    return Said("Failed.", said, said), hints.get(category, hints["unknown"])  # what there is not is not sent


def handed(kind: str) -> Said:
    to = {"human": "a person", "specialist_agent": "another agent", "escalation_queue": "a queue"}.get(kind, kind)
    return Said("Handing over.", f"Handing over to {to}.", f"The agent cannot finish this and hands over to {to}.")


# Everybody who was asked hears these, also those who did not answer.
_OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
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


def outcome(how: str, about: str = "") -> Said:
    """What became of a prompt; ``about`` says which."""
    terse, normal = _OUTCOMES[how]
    return Said(terse, normal, f"{normal} It was about this: {brief(about)}" if about else normal)


def direction_of(language: str, texts: Iterable[str]) -> str:
    """I18N-032, I18N-035 §11.4: the language's own direction, or auto where letters of both run together."""
    usual = direction(language)
    for text in texts:
        if not text.isascii():
            strong = {unicodedata.bidirectional(char) for char in text}
            if "L" in strong and strong & {"R", "AL"}:
                return "auto"
        elif usual == "rtl" and not text.isdigit():
            return "auto"
    return usual
