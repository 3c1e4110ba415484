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
from ..presentation.preferences import KEYS
from ..presentation.queue import NAME
from ..protocol.consent import response_kinds as taken_by
from ..protocol.events import AwaitingClarification, AwaitingConfirmation
from ..protocol.fields import get_member
from ..text.phrases import PHRASES, brief
from ..text.sanitize import neutralise

__all__ = [
    "Accept",
    "Answer",
    "Command",
    "Do",
    "Echo",
    "Intent",
    "Keys",
    "Reject",
    "Response",
    "Tell",
    "Time",
    "Understood",
    "expected",
    "kinds",
    "understand",
]

GRACE: Final = 0.5  # seconds after a prompt was printed in which nobody can have read it
REPEAT: Final = 0.75  # seconds: the same key again within this is a key held down
LOST: Final = 10.0  # seconds after a prompt ended by itself in which a key can still be meant for it
LATE: Final = 2.0  # seconds that the outcome of a prompt may take to come after its time ran out
LONGEST_WAIT: Final = 86_400  # CF-028
LONGEST_ANSWER: Final = 16_384
ENTER: Final = "\n"
ESCAPE: Final = "\x1b"

# Not n for the next prompt: that begins the answer no.
_ALL: Final[Mapping[str, str]] = {**KEYS, "repeat": "s", "next": "o", "verbosity": "v", "help": "?"}
_WORDS: Final[Mapping[str, str]] = {
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
_NAMES: Final[Mapping[str, str]] = {key: name for name, key in _ALL.items()}
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


class _Asked(msgspec.Struct, eq=False):
    """A prompt that was printed and is not answered yet."""

    prompt: Announcement  # its keys are what was offered with it, here or there
    until: float
    beside: bool = False  # another one is open too, or was just before it: a key could be meant for that one


class Keys:
    """What the person at one terminal, or at the other end of one pipe, means."""

    def __init__(self, *, lines: bool = False, replies: bool = True) -> None:
        self.lines = lines
        self.replies = replies
        self.sent: dict[str, _Asked] = {}  # answered, and the outcome did not come yet
        self._open: dict[str, _Asked] = {}  # oldest first
        self._asked: _Asked | None = None  # which of them an answer is for
        self._since = 0.0
        self._lost = -math.inf  # when a prompt that was being answered ended by itself
        self._armed = False  # accepting waits for its second key
        self._text: str | None = None  # an answer that is being written
        self._extended: set[str] = set()
        self._last: dict[str, float] = {}
        self._told = ("", float("-inf"))

    @property
    def prompt(self) -> Announcement | None:
        """The prompt that keys answer now."""
        return self._asked.prompt if self._asked is not None else None

    @property
    def next(self) -> Announcement | None:
        """The open prompt behind that one, and behind the last the first; None if there is no other."""
        found = [*self._open.values()]
        at = found.index(self._asked) if self._asked is not None else -1
        other = found[(at + 1) % len(found)] if found else None
        return None if other is None or other is self._asked else other.prompt

    @property
    def writing(self) -> str | None:
        """What was written so far of an answer; None while nothing is being written."""
        return self._text

    @property
    def due(self) -> float | None:
        """When to call :meth:`advance`."""
        first = min((one.until for one in self._open.values()), default=math.inf)
        return None if math.isinf(first) else first + LATE

    def left(self, prompt: Announcement, now: float) -> float:
        """How many seconds there are to answer."""
        return max(0.0, self._open[prompt.prompt].until - now) if prompt.prompt in self._open else 0.0

    def help(self) -> str:
        return _HELP_LINES if self.lines else _HELP_KEYS

    # -- prompts come and go ---------------------------------------------------------------

    def shown(self, prompt: Announcement, now: float) -> list[Intent]:
        """A prompt was printed in full; ``prompt.keys`` is what was offered with it."""
        token = prompt.prompt
        if not self.replies or token in self.sent:
            return self.heard(token)
        asked = self._open.get(token)
        if asked is None:
            known = isinstance(prompt.event, (AwaitingConfirmation, AwaitingClarification))
            asked = _Asked(prompt, now + (prompt.timeout if known else math.inf))
            asked.beside = now - self._lost < LOST
            self._admit(asked)
        else:
            # Said again, perhaps in short: what was heard in full stays heard.
            offered = {**dict(asked.prompt.keys), **dict(prompt.keys)}
            asked.prompt = msgspec.structs.replace(prompt, keys=tuple(offered.items()))
        if asked is self._asked or self._text is not None:  # what is being written belongs to its own question
            return self.heard(token)
        told = self._disarm()
        self._asked, self._since = asked, now
        if isinstance(prompt.event, AwaitingClarification):
            told.append(Tell(self._how(prompt.event)))
        if len(self._open) > 1:
            told.append(Tell(f"{len(self._open)} prompts are open. You answer this one now. {self._onward()}"))
        return told

    def _admit(self, asked: _Asked) -> None:
        self._open[asked.prompt.prompt] = asked
        for one in self._open.values() if len(self._open) > 1 else ():
            one.beside = True

    def heard(self, token: str) -> list[Intent]:
        """A line about a prompt was printed. If it is another one, the next key could be meant for that."""
        if self._asked is None or self._asked.prompt.prompt == token:
            return []
        told = self._disarm()
        if token in self._open:
            onward = f" {self._onward()}" if self._text is None else ""
            told.append(Tell(f"You still answer this: {brief(self._asked.prompt.about, NAME)}{onward}"))
        return told

    def closed(self, token: str, now: float) -> list[Intent]:
        """A prompt ended, here or elsewhere: keys that were pressed for it are void (CF-025)."""
        self.sent.pop(token, None)
        self._extended.discard(token)
        asked = self._open.pop(token, None)
        if asked is None or asked is not self._asked:
            return self._disarm()
        written, self._text = self._text, None
        told: list[Intent] = []
        if written:
            told.append(Tell(f"What you were writing was not sent: {neutralise(written)}"))
        elif self._armed:
            told.append(Tell("Nothing was accepted here."))
        self._asked, self._armed, self._lost = None, False, now
        return told

    def failed(self, prompt: Announcement, now: float) -> list[Intent]:
        """An answer could not be sent: the prompt is open again, and takes a new decision."""
        self._extended.discard(prompt.prompt)
        asked = self.sent.pop(prompt.prompt, None)
        if asked is not None:
            self._admit(asked)
        return self.shown(prompt, now) if self._asked is None else self.heard(prompt.prompt)

    def advance(self, now: float) -> list[Intent]:
        """Let go of prompts whose time ran out and of which nothing more was heard."""
        told: list[Intent] = []
        for token, asked in [*self._open.items()]:
            if asked.until + LATE <= now:
                about = f" {PHRASES['about'].format(brief(asked.prompt.about, NAME))}" if asked.beside else ""
                told += [Tell(PHRASES["expired"] + about), *self.closed(token, now)]
        return told

    # -- keys ------------------------------------------------------------------------------

    def press(self, keys: Sequence[str], now: float) -> list[Intent]:
        """Take the keys that came at once: usually one."""
        if len(keys) > 1 and self._text is None and not self._begins(keys[0]):
            held = all(self._quick(key, now) for key in [*keys])
            if held and not self._armed:
                return []
            return [*self._disarm(), Tell("Several keys came at once. None of them counts. Press one key at a time.")]
        found: list[Intent] = []
        for number, key in enumerate(keys, start=1):
            # A line break inside a pasted text does not send it.
            found += self._key(" " if key == ENTER and number < len(keys) else key, now)
        return found

    def _quick(self, key: str, now: float) -> bool:
        """Whether this key was pressed a moment ago too."""
        key = key.lower()
        quick = now - self._last.get(key, float("-inf")) < REPEAT
        self._last[key] = now
        return quick

    def _key(self, key: str, now: float) -> list[Intent]:
        quick = self._quick(key, now)
        if self._text is not None:
            return self._write(key, self._text, now, quick)
        if self._armed:
            if key.lower() == "y":
                return self._accepted(now)
            if _NAMES.get(key.lower()) == "accept":
                return [] if quick else [self._second()]
            told = self._disarm()
            return (
                told if key in (ENTER, ESCAPE) or key.lower() not in _NAMES else [*told, *self._named(key, now, quick)]
            )
        if key == ENTER:
            return [] if quick else self._enter()
        if self._begins(key):
            self._text = key
            return [Echo(key)]
        return self._named(key, now, quick)

    def _named(self, key: str, now: float, quick: bool) -> list[Intent]:
        name = _NAMES.get(key.lower())
        if name is None:
            plain = neutralise(key)
            return [] if quick or not plain else [Tell(f"The key {plain} does nothing here. Press ? for help.")]
        if name in ("accept", "reject") and (quick or self._early(now)):
            return self._void(key, now)
        return self._meant(name, now)

    def _early(self, now: float) -> bool:
        return self.prompt is not None and now - self._since < GRACE

    def _void(self, key: str, now: float) -> list[Intent]:
        """A key held down, or pressed before anybody can have read the prompt; said once, not at its every repeat."""
        if self.prompt is None:
            return []
        return self._once(f"That key {key} came too soon and does not count. Wait a moment, then press it once.", now)

    def _once(self, text: str, now: float) -> list[Intent]:
        """A line, unless it was said a moment ago and nothing else since."""
        before, at = self._told
        self._told = text, now
        return [] if text == before and now - at < REPEAT else [Tell(text)]

    # -- writing an answer -----------------------------------------------------------------

    def _begins(self, key: str) -> bool:
        """Whether a key is the beginning of an answer to a question, which Enter ends."""
        event = self.prompt.event if self.prompt is not None else None
        if not isinstance(event, AwaitingClarification):
            return False
        wanted = kinds(event)
        if key.lower() in ("y", "n"):
            return "yes_no" in wanted
        if key.isdecimal() and key.isascii():
            return "multiple_choice" in wanted or "numeric" in wanted
        return key in ("-", "=") and "numeric" in wanted

    def _enter(self) -> list[Intent]:
        event = self.prompt.event if self.prompt is not None else None
        if isinstance(event, AwaitingClarification) and "freetext" in kinds(event):
            self._text = ""
            return [Tell("Write your answer. Enter sends it. Escape leaves it unsent.", fresh=True)]
        if isinstance(event, AwaitingClarification):
            return [Tell(self._how(event))]
        if self.prompt is not None:
            return [Tell("Enter alone answers nothing. Press s to hear the prompt again.")]
        return [Tell("There is nothing to answer. Press ? for help.")]

    def _write(self, key: str, text: str, now: float, quick: bool) -> list[Intent]:
        if key == ENTER:
            if quick and not text:
                return []
            self._text = None
            ended: list[Intent] = [Echo("\n")] if text else []
            return ended + (
                self._answer(text, now) if text.strip() else [Tell("Nothing was written. Nothing was sent.")]
            )
        if key == ESCAPE:
            self._text = None
            return [*([Echo("\n")] if text else []), Tell("Left. Nothing was sent.")]
        if key == "\x15":  # Control-U
            self._text = ""
            return [*([Echo("\n")] if text else []), Tell("What you wrote was removed. Write your answer.")]
        if key in ("\x7f", "\b"):
            self._text = text[:-1]
            if not text:
                return []
            return [Echo("\b \b") if text[-1].isascii() else Echo(f"\n{self._text}")]
        if key == "\t":
            key = " "
        if not key.isprintable() or len(text) >= LONGEST_ANSWER:
            return []
        self._text = text + key
        return [Echo(key)]

    # -- lines -----------------------------------------------------------------------------

    def line(self, text: str, now: float) -> list[Intent]:
        """Take a whole line: a command, or the answer to a question."""
        word = " ".join(text.split()).casefold()
        name = _WORDS.get(word) or _NAMES.get(word)
        if self._armed:
            if word in ("y", "yes"):
                return self._accepted(now)
            if name != "accept":
                return [*self._disarm(), *(self._meant(name, now) if name else [])]
        if name is not None:
            return self._meant(name, now)
        event = self.prompt.event if self.prompt is not None else None
        if isinstance(event, AwaitingClarification) and word:
            forced = word.startswith("answer ")
            return self._answer(text.strip()[len("answer ") :] if forced else text, now)
        if not word:
            return self._once("An empty line answers nothing.", now)
        if self.prompt is None:
            return self._once("There is no prompt, so that line answers nothing. Write help for help.", now)
        return self._once("That line was not understood. Nothing was sent. Write accept, reject or help.", now)

    # -- what is meant ---------------------------------------------------------------------

    def _meant(self, name: str, now: float) -> list[Intent]:
        meant: Mapping[str, Callable[[float], list[Intent]]] = {
            "accept": self._accept,
            "reject": self._reject,
            "time": self._time,
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
        if name == "next" and self.next is None:
            return self._once("No other prompt is open.", now)
        return [Do(what[name])]

    def _accept(self, now: float) -> list[Intent]:
        prompt = self.prompt
        if prompt is None:
            return self._nothing("accept", now)
        if not isinstance(prompt.event, AwaitingConfirmation):
            return self._once(self._otherwise(prompt), now)
        key = _ALL["accept"]
        if key not in dict(prompt.keys):
            later = key in dict(prompt.detail_keys)
            how = "Write more" if self.lines else "Press m"
            return [Tell(f"{PHRASES['uncut']} {how}." if later else PHRASES["unacceptable"])]
        if self._late(now):
            return [Tell(PHRASES["expired"])]
        if prompt.careful or (self._asked is not None and self._asked.beside):
            self._armed = True
            return [self._second()]
        return self._accepted(now)

    def _second(self) -> Tell:
        """What to do to accept for good, and what that is."""
        action = brief(self.prompt.about) if self.prompt is not None else ""
        how = "Write yes" if self.lines else "Press y"
        other = "line" if self.lines else "key"
        return Tell(f"Not accepted yet. {how} to accept this: {action} Any other {other} takes it back.", fresh=True)

    def _accepted(self, now: float) -> list[Intent]:
        prompt, self._armed = self.prompt, False
        if prompt is None:
            return self._nothing("accept", now)
        if self._late(now):
            return [Tell(PHRASES["expired"])]
        self._answered(prompt)
        return [Accept(prompt)]

    def _reject(self, now: float) -> list[Intent]:
        """CF-014: refusing is sent even when the time seems to have run out here."""
        prompt = self.prompt
        if prompt is None:
            return self._nothing("refuse", now)
        if _ALL["reject"] not in dict(prompt.keys):
            confirms = isinstance(prompt.event, AwaitingConfirmation)
            return self._once(PHRASES["unrefusable"] if confirms else self._otherwise(prompt), now)
        self._answered(prompt)
        return [Reject(prompt)]

    def _answer(self, text: str, now: float) -> list[Intent]:
        prompt = self.prompt
        if prompt is None or not isinstance(prompt.event, AwaitingClarification):
            return self._nothing("answer", now)
        if self._late(now):
            return [Tell(PHRASES["expired"])]
        response = understand(prompt.event, text)
        if response is None:
            return [Tell(f"Nothing was sent. {self._how(prompt.event)}")]
        self._answered(prompt)
        return [Answer(prompt, response.value, response.said)]

    def _time(self, now: float) -> list[Intent]:
        prompt = self.prompt
        if prompt is None:
            return self._nothing("have more time for", now)
        given = get_member(prompt.event, "timeout_seconds")
        seconds = min(2 * given, LONGEST_WAIT) if isinstance(given, int) else 0
        if not isinstance(given, int) or seconds <= given:
            return [Tell("There is no more time to be had.")]
        if prompt.prompt in self._extended:
            return self._once("More time was asked for already.", now)
        self._extended.add(prompt.prompt)
        return [Time(prompt, seconds)]

    def _answered(self, prompt: Announcement) -> None:
        """One prompt, one answer: what is typed from here on is for a prompt that is printed from here on."""
        asked = self._open.pop(prompt.prompt, None)
        if asked is not None:
            self.sent[prompt.prompt] = asked
        self._asked, self._text, self._armed = None, None, False

    def _nothing(self, verb: str, now: float) -> list[Intent]:
        if not self.replies:
            return self._once("This reader cannot answer prompts. Nothing was sent.", now)
        other = f" Another prompt is open. {self._onward()}" if self._open else ""
        if self.sent:
            return self._once(f"Your answer was sent. Wait for what the agent says.{other}", now)
        return self._once(f"There is nothing to {verb}.{other}", now)

    def _late(self, now: float) -> bool:
        return self._asked is not None and now >= self._asked.until

    def _onward(self) -> str:
        return "Write next for the next prompt." if self.lines else "Press o for the next prompt."

    def _otherwise(self, prompt: Announcement) -> str:
        """What to do with a prompt that is not accepted or refused."""
        if not isinstance(prompt.event, AwaitingClarification):
            return PHRASES["incomplete.prompt"]
        hint = " To send that word as your answer, write answer in front of it." if self.lines else ""
        return f"This is a question. {self._how(prompt.event)}{hint}"

    def _how(self, event: AwaitingClarification) -> str:
        if kinds(event) == ("freetext",) and not self.lines:
            return "Press Enter, write your answer, and press Enter again."
        begin = " Press Enter before you write your own words." if "freetext" in kinds(event) else ""
        return expected(event) + ("" if self.lines else begin)

    def _disarm(self) -> list[Intent]:
        if not self._armed:
            return []
        self._armed = False
        return [Tell("Taken back. Nothing was accepted.")]


# -- intents --

Command = Literal["more", "repeat", "next", "verbosity", "quit", "help"]


class Accept(msgspec.Struct, frozen=True):
    """The person accepts this prompt."""

    prompt: Announcement


class Reject(msgspec.Struct, frozen=True):
    """The person refuses this prompt."""

    prompt: Announcement


class Answer(msgspec.Struct, frozen=True):
    """The person answers this question."""

    prompt: Announcement
    response: Response
    said: str


class Time(msgspec.Struct, frozen=True):
    """The person wants this many seconds for prompts like this one."""

    prompt: Announcement
    seconds: int


class Do(msgspec.Struct, frozen=True):
    """Something that answers nothing."""

    what: Command


class Tell(msgspec.Struct, frozen=True):
    """Print a line. ``fresh``: only what is typed after it counts."""

    text: str
    fresh: bool = False


class Echo(msgspec.Struct, frozen=True):
    """Print what was typed, as it is typed."""

    text: str


Intent = Accept | Reject | Answer | Time | Do | Tell | Echo


# -- answers --

Response = str | bool | int | float

LONGEST: Final = 16_384  # CLAR-003
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_YES_NO: Final = {"y": True, "yes": True, "n": False, "no": False}
_WAYS: Final = {
    "multiple_choice": "the number of a choice",
    "yes_no": "yes or no",
    "numeric": "a number",
    "freetext": "your own words",
}


class Understood(msgspec.Struct, frozen=True):
    """An answer: its value for the reply, and how to say it back."""

    value: Response
    said: str


def kinds(event: AwaitingClarification) -> tuple[str, ...]:
    """Which kinds of answer can be given: CF-031, CF-033."""
    taken, choices = taken_by(event), get_member(event, "choices")
    return tuple(kind for kind in _WAYS if kind in taken and (kind != "multiple_choice" or choices))


def expected(event: AwaitingClarification) -> str:
    """How this question is answered."""
    wanted = kinds(event)
    if not wanted:
        return "This question cannot be answered here."
    ways = [_WAYS[kind] for kind in wanted]
    both = "multiple_choice" in wanted and "numeric" in wanted
    hint = " A number that is no choice is written with = in front of it." if both else ""
    return f"Answer with {' or '.join(ways)}, and Enter.{hint}"


def understand(event: AwaitingClarification, text: str) -> Understood | None:
    """The answer a line of text is, or None if it is none. No conversion but what the question lists (CF-032)."""
    wanted, plain = kinds(event), text.strip()
    choices = _choices(event) if "multiple_choice" in wanted else []
    if plain.isascii() and plain.isdecimal() and choices:
        number = int(plain[:9])
        # A slip of the finger is neither a number nor a text that was meant.
        return choices[number - 1] if 1 <= number <= len(choices) else None
    for choice in choices:
        if choice is not None and neutralise(plain).casefold() in (
            choice.said.casefold(),
            str(choice.value).casefold(),
        ):
            return choice
    if "yes_no" in wanted and plain.casefold() in _YES_NO:
        value = _YES_NO[plain.casefold()]
        return Understood(value, "yes" if value else "no")
    if "numeric" in wanted and (found := _number(plain.removeprefix("=").strip())) is not None:
        return Understood(found, str(found))
    if "freetext" in wanted and plain and len(text) <= LONGEST and neutralise(plain):
        return Understood(text, neutralise(plain))
    return None


def _choices(event: AwaitingClarification) -> list[Understood | None]:
    """The choices by their numbers; None for one that was sent without a value."""
    found: list[Understood | None] = []
    for choice in get_member(event, "choices") or ():
        value, label = (getattr(choice, name, None) for name in ("value", "label"))
        texts = [neutralise(text) for text in (label, value) if isinstance(text, str)]
        found.append(Understood(value, next(filter(None, texts), "?")) if isinstance(value, str) else None)
    return found


def _number(text: str) -> int | float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    if text.lstrip("+-").isdecimal() and len(text) < 20:
        whole = int(text)
        return whole if abs(whole) <= 2**53 else None  # ENC-006
    value = float(text)
    return value if math.isfinite(value) else None
