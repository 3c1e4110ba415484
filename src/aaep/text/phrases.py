"""The phrases that announcements are made of, and functions that turn values into words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from .sanitize import MAX_SPOKEN_LENGTH, truncate

__all__ = [
    "CLOSE_REASONS",
    "PHRASES",
    "capitalize",
    "describe_close_reason",
    "ensure_full_stop",
    "format_duration",
    "get_phrase",
    "humanize_name",
    "truncate_with_notice",
]


# All phrases are English, and all of them are here.
PHRASES: Final[Mapping[str, str]] = {
    "started": "Started.",
    "completed": "Done.",
    "ended": "Ended.",
    "errored": "Error.",
    "cancelled": "Cancelled.",
    "progress": "Progress.",
    "progress.none": "The agent is still working.",
    "percent": "{0} percent done.",
    "step": "Step {0}.",
    "step.of": "Step {0} of {1}.",
    "takes": "This takes about {0}.",
    "took": "It took {0}.",
    "left": "About {0} left.",
    "code": "Error code {0}.",
    "category.transient": "Trying again may help.",
    "category.permanent": "Trying again will not help.",
    "category.requires_user": "You have to do something first.",
    "by.user": "The user stopped it.",
    "by.producer": "The agent stopped it.",
    "by.timeout": "It took too long.",
    "by.system": "The system stopped it.",
    "partial": "So far: {0}",
    "state.idle": "The agent is idle.",
    "state.thinking": "Thinking.",
    "state.calling_tool": "Using a tool.",
    "state.writing_output": "Writing.",
    "state.awaiting_input": "Waiting for you.",
    "state.deciding": "Deciding.",
    "state.handing_off": "Handing over.",
    "state.other": "The agent is now in another state: {0}.",
    "state.unnamed": "The agent is now in another state.",
    "resync": "Catching up.",
    "outcome.accepted": "Accepted.",
    "outcome.rejected": "Refused.",
    "outcome.timed_out": "Time ran out.",
    "outcome.withdrawn": "Withdrawn. The agent no longer asks.",
    "outcome.answered": "Answered.",
    "outcome.unavailable": "Nobody was there to answer.",
    "outcome.no_reply_channel": "There is no way to answer.",
    "outcome.other": "The prompt is closed.",
    "invoked": "Calling {0}.",
    "tool": "a tool",
    "success": "{0} finished.",
    "error": "{0} failed.",
    "stopped": "{0} was stopped.",
    "timeout": "{0} did not finish. It may have happened. Check before you try again.",
    "status": "It reported the status {0}.",
    "says": "{0}:",
    "agent": "Agent",
    "confirm": "Confirm.",
    "action.none": "The agent does not say what it would do.",
    "consequence": "If you accept: {0}",
    "consequence.none": "The agent does not say what would happen.",
    "risk.low": "Low risk.",
    "risk.medium": "Medium risk.",
    "risk.high": "High risk.",
    "risk.none": "The risk is not stated. Take it for high.",
    "undo.irreversible": "This cannot be undone.",
    "undo.reversible_with_effort": "This can be undone only with effort.",
    "undo.reversible": "This can be undone.",
    "undo.none": "Whether this can be undone is not stated.",
    "default.accept": "Without an answer within {0} it is accepted.",
    "default.reject": "Without an answer within {0} it is refused.",
    "default.response": "Without an answer within {0} the agent takes this: {1}",
    "default.none": "Without an answer within {0} the agent goes on without one.",
    "expired": "The time to answer has run out.",
    "refusable": "You can always refuse.",
    "unrefusable": "The agent does not offer refusing. You can close the connection instead.",
    "unacceptable": "The agent does not offer accepting.",
    "uncut": "Hear the whole text before you can accept.",
    "rest": "It goes on: {0}",
    "rest.action": "The action goes on: {0}",
    "rest.consequence": "What happens if you accept goes on: {0}",
    "question": "Question.",
    "question.none": "The agent does not say what it asks.",
    "why": "Why: {0}",
    "choices": "Choices:",
    "choice": "{0}: {1}",
    "kind.freetext": "Answer in your own words.",
    "kind.yes_no": "Answer yes or no.",
    "kind.numeric": "Answer with a number.",
    "press": "Press {0}.",
    "write": "Write {0}.",
    "key": "{0} to {1}",
    "key.accept": "accept",
    "key.reject": "refuse",
    "key.yes": "answer yes",
    "key.no": "answer no",
    "key.more": "hear more",
    "key.time": "ask for more time",
    "key.close": "close the connection",
    "handoff.human": "Handing over to a person.",
    "handoff.specialist_agent": "Handing over to another agent.",
    "handoff.escalation_queue": "Handing over to a queue.",
    "handoff.other": "Handing over.",
    "notice": "Notice.",
    "notice.type": "An event of a kind this reader does not know: {0}.",
    "incomplete": "Incomplete message.",
    "incomplete.prompt": "It cannot be accepted or answered here.",
    "cut": "The text is cut here, {0} characters are left.",
    "day": "{0} day", "days": "{0} days",
    "hour": "{0} hour", "hours": "{0} hours",
    "minute": "{0} minute", "minutes": "{0} minutes",
    "second": "{0} second", "seconds": "{0} seconds",
    "and": "{0} and {1}",
    "again": "Again.",
    "about": "That was about this: {0}",
    "still": "Still waiting for you.",
    "other": "Another prompt is waiting for you.",
    "waiting": "Another question is waiting.",
    "countdown": "{0} left to answer. {1}",
    "markdown.heading": "Heading: {0}",
    "markdown.bullet": "Bullet: {0}",
    "markdown.bullet.nested": "Sub-bullet: {0}",
    "markdown.number": "{0}: {1}",
    "markdown.checked": "Checked: {0}",
    "markdown.unchecked": "Not checked: {0}",
    "markdown.quote": "Quote: {0}",
    "markdown.code": "Code",
    "markdown.coming": "coming",
    "markdown.line": "{0} line",
    "markdown.lines": "{0} lines",
    "markdown.table": "Table: {0}.",
    "markdown.cell": "{0}: {1}",
    "markdown.image": "Image: {0}",
    "markdown.picture": "Image",
    "flood": "Many urgent messages are coming. They wait their turn from now on.",
}  # fmt: skip

# CF-066: the sentence sent to the peer for each reason to close a subscription.
CLOSE_REASONS: Final[Mapping[str, str]] = {
    "producer_shutdown": "The agent's side is shutting down.",
    "authentication_expired": "The credential of this reader counts no longer. Connect again with a new one.",
    "slow_consumer": "The reader does not keep up. Connect again to go on where it stopped.",
    "superseded": "Another reader took over this subscription.",
    "subscriber_shutdown": "The reader has stopped.",
    "rate_violation": "The reader sent too much.",
    "protocol_error": "The reader sent what the protocol does not allow.",
    "manifest_invalid": "A manifest could not be verified.",
}


def get_phrase(name: str, fallback: str = "") -> str:
    """Return the phrase of that name, else the fallback's, else an empty string."""
    return PHRASES.get(name, PHRASES.get(fallback, ""))


def describe_close_reason(code: str, *, is_hub: bool) -> str:
    """Return the sentence for a reason code; empty for an unknown code."""
    if code == "producer_shutdown" and is_hub:
        return "The hub is shutting down."
    return CLOSE_REASONS.get(code, "")


def format_duration(seconds: float) -> str:
    """Format a duration in words, in its two largest units."""
    remaining = max(0, math.ceil(seconds))
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, remaining = divmod(remaining, size)
        if count:
            parts.append(PHRASES[unit if count == 1 else unit + "s"].format(count))
    if not parts:
        return PHRASES["seconds"].format(0)
    return parts[0] if len(parts) == 1 else PHRASES["and"].format(*parts[:2])


# -- formatting other text ------------------------------------------------------------------

_SENTENCE_ENDS: Final = tuple(".!?…:;。！？؟।。：；")
# Before a capital after a small letter, and where a word follows an acronym: HTTP Error, but URLs.
_CAMEL_CASE_BREAK: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_ACRONYM: Final = re.compile(r"[A-Z]{2}")
_WORD_SEPARATOR: Final = re.compile(r"[\s_.-]+")
_CLOSING_MARKS: Final = "\"')]”’»」』）\u2069"


def truncate_with_notice(text: str, max_length: float = MAX_SPOKEN_LENGTH) -> str:
    """Return sanitized text as a sentence; of a longer one its beginning and a notice that it was cut."""
    if len(text) <= max_length:
        return ensure_full_stop(text)
    short = truncate(text, int(max_length))
    return f"{short}… {PHRASES['cut'].format(len(text) - len(short))}"


def humanize_name(name: str) -> str:
    """Turn a name into words: check_balance and checkBalance become "check balance", HTTPError "HTTP error"."""
    words = [word for word in _WORD_SEPARATOR.split(_CAMEL_CASE_BREAK.sub(" ", name)) if word]
    has_lower_case = any(char.islower() for char in name)  # otherwise capitals mark no acronym
    kept = [word if has_lower_case and _ACRONYM.match(word) else word.lower() for word in words]
    return " ".join(kept) or name


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


def ensure_full_stop(text: str) -> str:
    """Add a full stop unless the text ends with a sentence mark."""
    return text if not text or text.rstrip(_CLOSING_MARKS).endswith(_SENTENCE_ENDS) else text + "."
