"""
What keys and lines mean at a prompt.

Nothing here reads, prints or asks a clock, so that the rules of accepting can
be tested without a terminal. What is accepted is always the prompt that was
printed, in full, before the key was pressed:

* nothing is accepted by Enter, by a key that is held down, by several keys at
  once, or by a key that came too soon to be meant for this prompt;
* what is risky or cannot be undone takes a second, different key, which counts
  only for the same prompt, and only if no line about another one came between;
* so does what is or was open beside another prompt, or came just after one
  that ended by itself: the key could be meant for that one;
* what was cut is accepted only after the whole text was printed (C-22).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from ..presentation.announce import Announcement
from ..presentation.preferences import DEFAULT_KEYS
from ..presentation.queue import MAX_PROMPT_NAME_LENGTH
from ..protocol.consent import response_kinds as taken_by
from ..protocol.events import AwaitingClarification, AwaitingConfirmation
from ..protocol.fields import get_member
from ..text.phrases import PHRASES, truncate_with_notice
from ..text.sanitize import sanitize

__all__ = [
    "Accept",
    "Command",
    "Echo",
    "InputInterpreter",
    "Intent",
    "ParsedAnswer",
    "PrintLine",
    "Reject",
    "RequestTime",
    "Response",
    "RunCommand",
    "SendAnswer",
    "available_response_kinds",
    "describe_expected_answer",
    "parse_answer",
]

MIN_READING_TIME: Final = 0.5  # seconds after a prompt was printed in which nobody can have read it
KEY_REPEAT_WINDOW: Final = 0.75  # seconds: the same key again within this is a key held down
CLOSED_PROMPT_WINDOW: Final = 10.0  # seconds after a prompt ended by itself in which a key can still be meant for it
OUTCOME_GRACE: Final = 2.0  # seconds that the outcome of a prompt may take to come after its time ran out
MAX_PROMPT_TIMEOUT: Final = 86_400  # CF-028
MAX_DRAFT_LENGTH: Final = 16_384
ENTER: Final = "\n"
ESCAPE: Final = "\x1b"

# Not n for the next prompt: that begins the answer no.
_KEY_BINDINGS: Final[Mapping[str, str]] = {**DEFAULT_KEYS, "repeat": "s", "next": "o", "verbosity": "v", "help": "?"}
_ACTIONS_BY_WORD: Final[Mapping[str, str]] = {
    "accept": "accept",
    "reject": "reject",
    "refuse": "reject",
    "more": "more",
    "repeat": "repeat",
    "next": "next",
    "verbosity": "verbosity",
    "time": "time",
    "quit": "close",
    "help": "help",
}
_ACTIONS_BY_KEY: Final[Mapping[str, str]] = {key: name for name, key in _KEY_BINDINGS.items()}
_HELP_KEYS: Final = (
    "Keys: a accepts, r refuses, m says more, s says it again, o goes to the next open prompt, "
    "v changes how much is said, t asks for more time, q quits, ? says this. "
    "Accepting takes a second key if it is risky, or if several prompts are open. "
    "Answer a question with its number, or y or n, and then Enter. "
    "To answer in your own words press Enter, write, and press Enter again."
)
_HELP_LINES: Final = (
    "Commands, one on each line: accept, reject, more, repeat, next, verbosity, time, quit, help. "
    "Next goes to the next open prompt. Accepting takes a second line if it is risky, or if several prompts are open. "
    "Answer a question with its number, yes, no, or your own words. "
    "Words that are commands are sent as an answer with answer in front of them."
)


class _ShownPrompt(msgspec.Struct, eq=False):
    """A prompt that was printed and is not answered yet."""

    prompt: Announcement  # its keys are what was offered with it, here or there
    deadline: float
    is_ambiguous: bool = False  # another one is open too, or was just before it: a key could be meant for that one


class InputInterpreter:
    """What the person at one terminal, or at the other end of one pipe, means."""

    def __init__(self, *, lines: bool = False, replies: bool = True) -> None:
        self.is_line_based = lines
        self.can_reply = replies
        self.answered_prompts: dict[str, _ShownPrompt] = {}  # answered, and the outcome did not come yet
        self._open_prompts: dict[str, _ShownPrompt] = {}  # oldest first
        self._current: _ShownPrompt | None = None  # which of them an answer is for
        self._current_since = 0.0
        self._last_closed_at = -math.inf  # when a prompt that was being answered ended by itself
        self._is_armed = False  # accepting waits for its second key
        self._draft: str | None = None  # an answer that is being written
        self._extended_tokens: set[str] = set()
        self._pressed_at: dict[str, float] = {}
        self._last_notice = ("", float("-inf"))

    @property
    def current_prompt(self) -> Announcement | None:
        """The prompt that keys answer now."""
        return self._current.prompt if self._current is not None else None

    @property
    def next_prompt(self) -> Announcement | None:
        """The open prompt behind that one, and behind the last the first; None if there is no other."""
        found = [*self._open_prompts.values()]
        at = found.index(self._current) if self._current is not None else -1
        other = found[(at + 1) % len(found)] if found else None
        return None if other is None or other is self._current else other.prompt

    @property
    def draft(self) -> str | None:
        """What was written so far of an answer; None while nothing is being written."""
        return self._draft

    @property
    def next_deadline(self) -> float | None:
        """When to call :meth:`advance`."""
        first = min((one.deadline for one in self._open_prompts.values()), default=math.inf)
        return None if math.isinf(first) else first + OUTCOME_GRACE

    def seconds_left(self, prompt: Announcement, now: float) -> float:
        """How many seconds there are to answer."""
        return (
            max(0.0, self._open_prompts[prompt.prompt].deadline - now) if prompt.prompt in self._open_prompts else 0.0
        )

    def help_text(self) -> str:
        return _HELP_LINES if self.is_line_based else _HELP_KEYS

    # -- prompts come and go ---------------------------------------------------------------

    def prompt_shown(self, prompt: Announcement, now: float) -> list[Intent]:
        """A prompt was printed in full; ``prompt.keys`` is what was offered with it."""
        token = prompt.prompt
        if not self.can_reply or token in self.answered_prompts:
            return self.prompt_mentioned(token)
        asked = self._open_prompts.get(token)
        if asked is None:
            known = isinstance(prompt.event, (AwaitingConfirmation, AwaitingClarification))
            asked = _ShownPrompt(prompt, now + (prompt.timeout if known else math.inf))
            asked.is_ambiguous = now - self._last_closed_at < CLOSED_PROMPT_WINDOW
            self._add_prompt(asked)
        else:
            # Said again, perhaps in short: what was heard in full stays heard.
            offered = {**dict(asked.prompt.keys), **dict(prompt.keys)}
            asked.prompt = msgspec.structs.replace(prompt, keys=tuple(offered.items()))
        if asked is self._current or self._draft is not None:  # what is being written belongs to its own question
            return self.prompt_mentioned(token)
        told = self._disarm()
        self._current, self._current_since = asked, now
        if isinstance(prompt.event, AwaitingClarification):
            told.append(PrintLine(self._answer_hint(prompt.event)))
        if len(self._open_prompts) > 1:
            told.append(
                PrintLine(
                    f"{len(self._open_prompts)} prompts are open. You answer this one now. {self._next_prompt_hint()}"
                )
            )
        return told

    def _add_prompt(self, asked: _ShownPrompt) -> None:
        self._open_prompts[asked.prompt.prompt] = asked
        for one in self._open_prompts.values() if len(self._open_prompts) > 1 else ():
            one.is_ambiguous = True

    def prompt_mentioned(self, token: str) -> list[Intent]:
        """A line about a prompt was printed. If it is another one, the next key could be meant for that."""
        if self._current is None or self._current.prompt.prompt == token:
            return []
        told = self._disarm()
        if token in self._open_prompts:
            onward = f" {self._next_prompt_hint()}" if self._draft is None else ""
            told.append(
                PrintLine(
                    "You still answer this: "
                    f"{truncate_with_notice(self._current.prompt.about, MAX_PROMPT_NAME_LENGTH)}{onward}"
                )
            )
        return told

    def prompt_closed(self, token: str, now: float) -> list[Intent]:
        """A prompt ended, here or elsewhere: keys that were pressed for it are void (CF-025)."""
        self.answered_prompts.pop(token, None)
        self._extended_tokens.discard(token)
        asked = self._open_prompts.pop(token, None)
        if asked is None or asked is not self._current:
            return self._disarm()
        written, self._draft = self._draft, None
        told: list[Intent] = []
        if written:
            told.append(PrintLine(f"What you were writing was not sent: {sanitize(written)}"))
        elif self._is_armed:
            told.append(PrintLine("Nothing was accepted here."))
        self._current, self._is_armed, self._last_closed_at = None, False, now
        return told

    def send_failed(self, prompt: Announcement, now: float) -> list[Intent]:
        """An answer could not be sent: the prompt is open again, and takes a new decision."""
        self._extended_tokens.discard(prompt.prompt)
        asked = self.answered_prompts.pop(prompt.prompt, None)
        if asked is not None:
            self._add_prompt(asked)
        return self.prompt_shown(prompt, now) if self._current is None else self.prompt_mentioned(prompt.prompt)

    def advance(self, now: float) -> list[Intent]:
        """Let go of prompts whose time ran out and of which nothing more was heard."""
        told: list[Intent] = []
        for token, asked in [*self._open_prompts.items()]:
            if asked.deadline + OUTCOME_GRACE <= now:
                about = (
                    f" {PHRASES['about'].format(truncate_with_notice(asked.prompt.about, MAX_PROMPT_NAME_LENGTH))}"
                    if asked.is_ambiguous
                    else ""
                )
                told += [PrintLine(PHRASES["expired"] + about), *self.prompt_closed(token, now)]
        return told

    # -- keys ------------------------------------------------------------------------------

    def press(self, keys: Sequence[str], now: float) -> list[Intent]:
        """Take the keys that came at once: usually one."""
        if len(keys) > 1 and self._draft is None and not self._is_answer_start(keys[0]):
            held = all(self._is_key_repeat(key, now) for key in [*keys])
            if held and not self._is_armed:
                return []
            return [
                *self._disarm(),
                PrintLine("Several keys came at once. None of them counts. Press one key at a time."),
            ]
        found: list[Intent] = []
        for number, key in enumerate(keys, start=1):
            # A line break inside a pasted text does not send it.
            found += self._handle_key(" " if key == ENTER and number < len(keys) else key, now)
        return found

    def _is_key_repeat(self, key: str, now: float) -> bool:
        """Whether this key was pressed a moment ago too."""
        key = key.lower()
        quick = now - self._pressed_at.get(key, float("-inf")) < KEY_REPEAT_WINDOW
        self._pressed_at[key] = now
        return quick

    def _handle_key(self, key: str, now: float) -> list[Intent]:
        quick = self._is_key_repeat(key, now)
        if self._draft is not None:
            return self._edit_draft(key, self._draft, now, quick)
        if self._is_armed:
            if key.lower() == "y":
                return self._confirm_accept(now)
            if _ACTIONS_BY_KEY.get(key.lower()) == "accept":
                return [] if quick else [self._second_key_notice()]
            told = self._disarm()
            return (
                told
                if key in (ENTER, ESCAPE) or key.lower() not in _ACTIONS_BY_KEY
                else [*told, *self._handle_bound_key(key, now, quick)]
            )
        if key == ENTER:
            return [] if quick else self._handle_enter()
        if self._is_answer_start(key):
            self._draft = key
            return [Echo(key)]
        return self._handle_bound_key(key, now, quick)

    def _handle_bound_key(self, key: str, now: float, quick: bool) -> list[Intent]:
        name = _ACTIONS_BY_KEY.get(key.lower())
        if name is None:
            plain = sanitize(key)
            return [] if quick or not plain else [PrintLine(f"The key {plain} does nothing here. Press ? for help.")]
        if name in ("accept", "reject") and (quick or self._is_too_early(now)):
            return self._ignore_key(key, now)
        return self._run_action(name, now)

    def _is_too_early(self, now: float) -> bool:
        return self.current_prompt is not None and now - self._current_since < MIN_READING_TIME

    def _ignore_key(self, key: str, now: float) -> list[Intent]:
        """A key held down, or pressed before anybody can have read the prompt; said once, not at its every repeat."""
        if self.current_prompt is None:
            return []
        return self._tell_once(
            f"That key {key} came too soon and does not count. Wait a moment, then press it once.", now
        )

    def _tell_once(self, text: str, now: float) -> list[Intent]:
        """A line, unless it was said a moment ago and nothing else since."""
        before, at = self._last_notice
        self._last_notice = text, now
        return [] if text == before and now - at < KEY_REPEAT_WINDOW else [PrintLine(text)]

    # -- writing an answer -----------------------------------------------------------------

    def _is_answer_start(self, key: str) -> bool:
        """Whether a key is the beginning of an answer to a question, which Enter ends."""
        event = self.current_prompt.event if self.current_prompt is not None else None
        if not isinstance(event, AwaitingClarification):
            return False
        wanted = available_response_kinds(event)
        if key.lower() in ("y", "n"):
            return "yes_no" in wanted
        if key.isdecimal() and key.isascii():
            return "multiple_choice" in wanted or "numeric" in wanted
        return key in ("-", "=") and "numeric" in wanted

    def _handle_enter(self) -> list[Intent]:
        event = self.current_prompt.event if self.current_prompt is not None else None
        if isinstance(event, AwaitingClarification) and "freetext" in available_response_kinds(event):
            self._draft = ""
            return [PrintLine("Write your answer. Enter sends it. Escape leaves it unsent.", discard_typeahead=True)]
        if isinstance(event, AwaitingClarification):
            return [PrintLine(self._answer_hint(event))]
        if self.current_prompt is not None:
            return [PrintLine("Enter alone answers nothing. Press s to hear the prompt again.")]
        return [PrintLine("There is nothing to answer. Press ? for help.")]

    def _edit_draft(self, key: str, text: str, now: float, quick: bool) -> list[Intent]:
        if key == ENTER:
            if quick and not text:
                return []
            self._draft = None
            ended: list[Intent] = [Echo("\n")] if text else []
            return ended + (
                self._answer(text, now) if text.strip() else [PrintLine("Nothing was written. Nothing was sent.")]
            )
        if key == ESCAPE:
            self._draft = None
            return [*([Echo("\n")] if text else []), PrintLine("Left. Nothing was sent.")]
        if key == "\x15":  # Control-U
            self._draft = ""
            return [*([Echo("\n")] if text else []), PrintLine("What you wrote was removed. Write your answer.")]
        if key in ("\x7f", "\b"):
            self._draft = text[:-1]
            if not text:
                return []
            return [Echo("\b \b") if text[-1].isascii() else Echo(f"\n{self._draft}")]
        if key == "\t":
            key = " "
        if not key.isprintable() or len(text) >= MAX_DRAFT_LENGTH:
            return []
        self._draft = text + key
        return [Echo(key)]

    # -- lines -----------------------------------------------------------------------------

    def enter_line(self, text: str, now: float) -> list[Intent]:
        """Take a whole line: a command, or the answer to a question."""
        word = " ".join(text.split()).casefold()
        name = _ACTIONS_BY_WORD.get(word) or _ACTIONS_BY_KEY.get(word)
        if self._is_armed:
            if word in ("y", "yes"):
                return self._confirm_accept(now)
            if name != "accept":
                return [*self._disarm(), *(self._run_action(name, now) if name else [])]
        if name is not None:
            return self._run_action(name, now)
        event = self.current_prompt.event if self.current_prompt is not None else None
        if isinstance(event, AwaitingClarification) and word:
            forced = word.startswith("answer ")
            return self._answer(text.strip()[len("answer ") :] if forced else text, now)
        if not word:
            return self._tell_once("An empty line answers nothing.", now)
        if self.current_prompt is None:
            return self._tell_once("There is no prompt, so that line answers nothing. Write help for help.", now)
        return self._tell_once("That line was not understood. Nothing was sent. Write accept, reject or help.", now)

    # -- what is meant ---------------------------------------------------------------------

    def _run_action(self, name: str, now: float) -> list[Intent]:
        meant: Mapping[str, Callable[[float], list[Intent]]] = {
            "accept": self._accept,
            "reject": self._reject,
            "time": self._request_time,
        }
        if name in meant:
            return meant[name](now)
        what: Mapping[str, Command] = {
            "more": "more",
            "repeat": "repeat",
            "next": "next",
            "verbosity": "verbosity",
            "close": "quit",
            "help": "help",
        }
        if name == "next" and self.next_prompt is None:
            return self._tell_once("No other prompt is open.", now)
        return [RunCommand(what[name])]

    def _accept(self, now: float) -> list[Intent]:
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("accept", now)
        if not isinstance(prompt.event, AwaitingConfirmation):
            return self._tell_once(self._unsupported_action_hint(prompt), now)
        key = _KEY_BINDINGS["accept"]
        if key not in dict(prompt.keys):
            later = key in dict(prompt.detail_keys)
            how = "Write more" if self.is_line_based else "Press m"
            return [PrintLine(f"{PHRASES['uncut']} {how}." if later else PHRASES["unacceptable"])]
        if self._is_expired(now):
            return [PrintLine(PHRASES["expired"])]
        if prompt.careful or (self._current is not None and self._current.is_ambiguous):
            self._is_armed = True
            return [self._second_key_notice()]
        return self._confirm_accept(now)

    def _second_key_notice(self) -> PrintLine:
        """What to do to accept for good, and what that is."""
        action = truncate_with_notice(self.current_prompt.about) if self.current_prompt is not None else ""
        how = "Write yes" if self.is_line_based else "Press y"
        other = "line" if self.is_line_based else "key"
        return PrintLine(
            f"Not accepted yet. {how} to accept this: {action} Any other {other} takes it back.", discard_typeahead=True
        )

    def _confirm_accept(self, now: float) -> list[Intent]:
        prompt, self._is_armed = self.current_prompt, False
        if prompt is None:
            return self._tell_no_prompt("accept", now)
        if self._is_expired(now):
            return [PrintLine(PHRASES["expired"])]
        self._mark_answered(prompt)
        return [Accept(prompt)]

    def _reject(self, now: float) -> list[Intent]:
        """CF-014: refusing is sent even when the time seems to have run out here."""
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("refuse", now)
        if _KEY_BINDINGS["reject"] not in dict(prompt.keys):
            confirms = isinstance(prompt.event, AwaitingConfirmation)
            return self._tell_once(PHRASES["unrefusable"] if confirms else self._unsupported_action_hint(prompt), now)
        self._mark_answered(prompt)
        return [Reject(prompt)]

    def _answer(self, text: str, now: float) -> list[Intent]:
        prompt = self.current_prompt
        if prompt is None or not isinstance(prompt.event, AwaitingClarification):
            return self._tell_no_prompt("answer", now)
        if self._is_expired(now):
            return [PrintLine(PHRASES["expired"])]
        response = parse_answer(prompt.event, text)
        if response is None:
            return [PrintLine(f"Nothing was sent. {self._answer_hint(prompt.event)}")]
        self._mark_answered(prompt)
        return [SendAnswer(prompt, response.value, response.display_text)]

    def _request_time(self, now: float) -> list[Intent]:
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("have more time for", now)
        given = get_member(prompt.event, "timeout_seconds")
        seconds = min(2 * given, MAX_PROMPT_TIMEOUT) if isinstance(given, int) else 0
        if not isinstance(given, int) or seconds <= given:
            return [PrintLine("There is no more time to be had.")]
        if prompt.prompt in self._extended_tokens:
            return self._tell_once("More time was asked for already.", now)
        self._extended_tokens.add(prompt.prompt)
        return [RequestTime(prompt, seconds)]

    def _mark_answered(self, prompt: Announcement) -> None:
        """One prompt, one answer: what is typed from here on is for a prompt that is printed from here on."""
        asked = self._open_prompts.pop(prompt.prompt, None)
        if asked is not None:
            self.answered_prompts[prompt.prompt] = asked
        self._current, self._draft, self._is_armed = None, None, False

    def _tell_no_prompt(self, verb: str, now: float) -> list[Intent]:
        if not self.can_reply:
            return self._tell_once("This reader cannot answer prompts. Nothing was sent.", now)
        other = f" Another prompt is open. {self._next_prompt_hint()}" if self._open_prompts else ""
        if self.answered_prompts:
            return self._tell_once(f"Your answer was sent. Wait for what the agent says.{other}", now)
        return self._tell_once(f"There is nothing to {verb}.{other}", now)

    def _is_expired(self, now: float) -> bool:
        return self._current is not None and now >= self._current.deadline

    def _next_prompt_hint(self) -> str:
        return "Write next for the next prompt." if self.is_line_based else "Press o for the next prompt."

    def _unsupported_action_hint(self, prompt: Announcement) -> str:
        """What to do with a prompt that is not accepted or refused."""
        if not isinstance(prompt.event, AwaitingClarification):
            return PHRASES["incomplete.prompt"]
        hint = " To send that word as your answer, write answer in front of it." if self.is_line_based else ""
        return f"This is a question. {self._answer_hint(prompt.event)}{hint}"

    def _answer_hint(self, event: AwaitingClarification) -> str:
        if available_response_kinds(event) == ("freetext",) and not self.is_line_based:
            return "Press Enter, write your answer, and press Enter again."
        begin = " Press Enter before you write your own words." if "freetext" in available_response_kinds(event) else ""
        return describe_expected_answer(event) + ("" if self.is_line_based else begin)

    def _disarm(self) -> list[Intent]:
        if not self._is_armed:
            return []
        self._is_armed = False
        return [PrintLine("Taken back. Nothing was accepted.")]


# -- intents --

Command = Literal["more", "repeat", "next", "verbosity", "quit", "help"]


class Accept(msgspec.Struct, frozen=True):
    """The person accepts this prompt."""

    prompt: Announcement


class Reject(msgspec.Struct, frozen=True):
    """The person refuses this prompt."""

    prompt: Announcement


class SendAnswer(msgspec.Struct, frozen=True):
    """The person answers this question."""

    prompt: Announcement
    response: Response
    display_text: str


class RequestTime(msgspec.Struct, frozen=True):
    """The person wants this many seconds for prompts like this one."""

    prompt: Announcement
    seconds: int


class RunCommand(msgspec.Struct, frozen=True):
    """Something that answers nothing."""

    command: Command


class PrintLine(msgspec.Struct, frozen=True):
    """Print a line. ``fresh``: only what is typed after it counts."""

    text: str
    discard_typeahead: bool = False


class Echo(msgspec.Struct, frozen=True):
    """Print what was typed, as it is typed."""

    text: str


Intent = Accept | Reject | SendAnswer | RequestTime | RunCommand | PrintLine | Echo


# -- answers --

Response = str | bool | int | float

MAX_RESPONSE_LENGTH: Final = 16_384  # CLAR-003
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_YES_NO: Final = {"y": True, "yes": True, "n": False, "no": False}
_ANSWER_FORMS: Final = {
    "multiple_choice": "the number of a choice",
    "yes_no": "yes or no",
    "numeric": "a number",
    "freetext": "your own words",
}


class ParsedAnswer(msgspec.Struct, frozen=True):
    """An answer: its value for the reply, and how to say it back."""

    value: Response
    display_text: str


def available_response_kinds(event: AwaitingClarification) -> tuple[str, ...]:
    """Which kinds of answer can be given: CF-031, CF-033."""
    taken, choices = taken_by(event), get_member(event, "choices")
    return tuple(kind for kind in _ANSWER_FORMS if kind in taken and (kind != "multiple_choice" or choices))


def describe_expected_answer(event: AwaitingClarification) -> str:
    """How this question is answered."""
    wanted = available_response_kinds(event)
    if not wanted:
        return "This question cannot be answered here."
    ways = [_ANSWER_FORMS[kind] for kind in wanted]
    both = "multiple_choice" in wanted and "numeric" in wanted
    hint = " A number that is no choice is written with = in front of it." if both else ""
    return f"Answer with {' or '.join(ways)}, and Enter.{hint}"


def parse_answer(event: AwaitingClarification, text: str) -> ParsedAnswer | None:
    """The answer a line of text is, or None if it is none. No conversion but what the question lists (CF-032)."""
    wanted, plain = available_response_kinds(event), text.strip()
    choices = _choice_answers(event) if "multiple_choice" in wanted else []
    if plain.isascii() and plain.isdecimal() and choices:
        number = int(plain[:9])
        # A slip of the finger is neither a number nor a text that was meant.
        return choices[number - 1] if 1 <= number <= len(choices) else None
    for choice in choices:
        if choice is not None and sanitize(plain).casefold() in (
            choice.display_text.casefold(),
            str(choice.value).casefold(),
        ):
            return choice
    if "yes_no" in wanted and plain.casefold() in _YES_NO:
        value = _YES_NO[plain.casefold()]
        return ParsedAnswer(value, "yes" if value else "no")
    if "numeric" in wanted and (found := _parse_number(plain.removeprefix("=").strip())) is not None:
        return ParsedAnswer(found, str(found))
    if "freetext" in wanted and plain and len(text) <= MAX_RESPONSE_LENGTH and sanitize(plain):
        return ParsedAnswer(text, sanitize(plain))
    return None


def _choice_answers(event: AwaitingClarification) -> list[ParsedAnswer | None]:
    """The choices by their numbers; None for one that was sent without a value."""
    found: list[ParsedAnswer | None] = []
    for choice in get_member(event, "choices") or ():
        value, label = (getattr(choice, name, None) for name in ("value", "label"))
        texts = [sanitize(text) for text in (label, value) if isinstance(text, str)]
        found.append(ParsedAnswer(value, next(filter(None, texts), "?")) if isinstance(value, str) else None)
    return found


def _parse_number(text: str) -> int | float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    if text.lstrip("+-").isdecimal() and len(text) < 20:
        whole = int(text)
        return whole if abs(whole) <= 2**53 else None  # ENC-006
    value = float(text)
    return value if math.isfinite(value) else None
