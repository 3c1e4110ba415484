"""
What announcements are made of: our own phrases, and other people's text made harmless.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

__all__ = ["LONGEST", "PHRASES", "brief", "cut", "neutralise", "phrase", "sentence", "span", "title"]

LONGEST: Final = 600  # characters of one text that are read at once, about 40 seconds of speech

# English, in one place.
PHRASES: Final[Mapping[str, str]] = {
    "started": "Started.",
    "completed": "Done.",
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
    "timeout": "{0} did not finish in time. It may or may not have taken effect.",
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
    "countdown": "{0} left to answer. {1}",
    "flood": "Many urgent messages are coming. They wait their turn from now on.",
}  # fmt: skip


def phrase(name: str, otherwise: str = "") -> str:
    """A phrase, or another one where there is none of that name."""
    return PHRASES.get(name, PHRASES.get(otherwise, ""))


def span(seconds: float) -> str:
    """A time in words: the two largest units."""
    left, parts = max(0, math.ceil(seconds)), []
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(PHRASES[unit if count == 1 else unit + "s"].format(count))
    if not parts:
        return PHRASES["seconds"].format(0)
    return parts[0] if len(parts) == 1 else PHRASES["and"].format(*parts[:2])


# -- text ----------------------------------------------------------------------------------

_BREAKS: Final = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
# Overrides and embeddings (C-59), invisible characters that could hide or smuggle words, private controls.
_UNSEEN: Final = re.compile(
    "\x1b\\[[0-9;:?]*[ -/]*[@-~]|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u202a-\u202e\u2060-\u2064"
    "\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Only what is surely markup: "Send it to <eve@example.org>" has to be heard in full.
_TAG: Final = re.compile(
    r"</?(?:a|abbr|audio|b|bdi|bdo|big|blockquote|body|br|button|center|cite|code|del|dfn|div|em|emphasis|font|form|h[1-6]"
    r"|head|hr|html|i|iframe|img|input|ins|kbd|label|li|link|lang|mark|meta|object|ol|p|phoneme|pre|prosody|q|s|samp|say-as"
    r"|script|small|span|speak|strike|strong|style|sub|sup|svg|table|tbody|td|th|tr|tt|u|ul|var|video|voice)"
    r"(?:\s+[A-Za-z_:][-\w:.]*(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))?)*\s*/?>",
    re.IGNORECASE | re.ASCII,
)
_ENDS: Final = tuple(".!?…:;。！？؟।。：；")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINTS: Final = re.compile(r"[\s_.-]+")
_CLOSING: Final = "\"')]”’»」』）\u2069"


def neutralise(text: str) -> str:
    """
    The text without what could make it sound or look like another.

    C-26, C-59: no control characters, markup, bidi overrides or invisible
    characters, on one line. Isolates stay if they are balanced.
    """
    if text.isascii() and text.isprintable() and "<" not in text:
        return " ".join(text.split())
    text = _SURROGATE.sub("\ufffd", text)
    for _ in range(8):  # taking one out can join the halves of another
        plain = _TAG.sub("", _UNSEEN.sub("", _BREAKS.sub(" ", text)))
        if plain == text:
            break
        text = plain
    else:  # nobody nests tags like this but to get one through
        text = _BREAKS.sub(" ", text.replace("<", " "))
    return _balanced(text)


def _balanced(text: str) -> str:
    depth = 0
    for char in text:
        depth += (char in "\u2066\u2067\u2068") - (char == "\u2069")
        if depth < 0:
            break
    return " ".join((re.sub("[\u2066-\u2069]", "", text) if depth else text).split())


def cut(text: str, most: int = LONGEST) -> str:
    """The beginning of a neutralised text, at a word if there is one near, never inside a character."""
    if len(text) <= most:
        return text
    end = text.rfind(" ", most // 2, most + 1)
    if end < 0:
        end = most
        while end > 1 and (unicodedata.category(text[end])[0] == "M" or "\u200d" in text[end - 1 : end + 1]):
            end -= 1
    return _balanced(text[:end]) or text[:most]


def brief(text: str, most: float = LONGEST) -> str:
    """A neutralised text as a sentence; of a longer one its beginning, and words that say so."""
    if len(text) <= most:
        return sentence(text)
    short = cut(text, int(most))
    return f"{short}… {PHRASES['cut'].format(len(text) - len(short))}"


def title(name: str) -> str:
    """A tool's name as words: check_balance and checkBalance are "check balance"."""
    words = _HUMPS.sub(" ", name)
    return " ".join(_JOINTS.split(words)).strip().lower() or name


def sentence(text: str) -> str:
    """The text with a stop at its end."""
    return text if not text or text.rstrip(_CLOSING).endswith(_ENDS) else text + "."
