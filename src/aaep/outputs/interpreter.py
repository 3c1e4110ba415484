"""
Interpretation of keys and lines as answers to prompts and as commands.

Nothing here reads input, prints or reads a clock, so that the rules of accepting
can be tested without a terminal. Only a prompt that was printed in full before
the key was pressed can be accepted:

* Enter, a key that is held down, several keys at once, and a key that came too
  soon to be meant for this prompt accept nothing;
* an action that is risky or irreversible takes a second, different key, which
  counts only for the same prompt, and only if no line about another prompt was
  printed in between;
* so does a prompt that is or was open beside another one, or that came just
  after another closed by itself: the key could be meant for the other one;
* a prompt that was shortened is accepted only after its full text was printed (C-22).

Where prompts are spoken, no key counts for one before it was spoken to its end, and one whose speech was stopped
can be refused, but accepted only after the whole of it was heard.

A prompt that comes while another one is being answered waits: keys never change
to it by themselves, so that neither a yes nor a no goes to one that was not meant.
Leaving while prompts are open takes a second key too.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from ..presentation.announce import Announcement
from ..presentation.preferences import DEFAULT_KEYS
from ..presentation.queue import MAX_PROMPT_NAME_LENGTH
from ..protocol.events import AwaitingClarification, AwaitingConfirmation
from ..protocol.fields import get_member
from ..text.phrases import ENGLISH, Phrases, ensure_full_stop, truncate_with_notice
from ..text.sanitize import sanitize, truncate
from .answers import MAX_RESPONSE_LENGTH, available_response_kinds, describe_expected_answer, parse_answer
from .composer import Composer
from .intents import (
    Accept,
    Command,
    Echo,
    Intent,
    PrintLine,
    RefuseAndQuit,
    Reject,
    RequestTime,
    RunCommand,
    SendAnswer,
)

__all__ = ["InputInterpreter"]

MIN_READING_TIME: Final = 1.0  # seconds in which a prompt cannot have been read yet
MIN_SECOND_KEY_DELAY: Final = 0.3  # seconds in which nobody hears what the second key is for
KEY_REPEAT_WINDOW: Final = 0.75  # seconds within which the same key again counts as held down
CLOSED_PROMPT_WINDOW: Final = 10.0  # seconds after a prompt closed by itself in which a key may be meant for it
OUTCOME_GRACE: Final = 2.0  # seconds to wait for the outcome of an expired prompt
MIN_LOST_TIME: Final = 5.0  # seconds that a prompt waited unheard, from which more time is asked for
MIN_LOST_SHARE: Final = 0.1  # and the share of its time
MAX_PROMPT_TIMEOUT: Final = 86_400  # seconds; CF-028
MAX_REPEATED_LENGTH: Final = 80  # characters of an action that the second key repeats
ENTER: Final = "\n"
ESCAPE: Final = "\x1b"

# The next prompt is not on n, which begins the answer no.
_KEY_BINDINGS: Final[Mapping[str, str]] = {
    **DEFAULT_KEYS,
    "repeat": "s",
    "next": "o",
    "back": "b",
    "forward": "f",
    "quiet": "d",
    "verbosity": "v",
    "help": "?",
}
_SPEECH_KEYS: Final[Mapping[str, str]] = {"silence": " ", "pause": "p", "skip": "k", "faster": ".", "slower": ","}
# Words that have commands of their own; the others are commands by themselves.
_ACTIONS_BY_WORD: Final[Mapping[str, str]] = {"refuse": "reject", "quit": "close"}
_COMMAND_WORDS: Final = (
    *("accept", "reject", "refuse", "more", "repeat", "next", "back", "forward", "quiet", "verbosity", "time", "quit"),
    *("help", "answer", "leave", "stay"),
)
_SPEECH_WORDS: Final = ("silence", "pause", "skip", "faster", "slower")
_YES_KEYS: Final = frozenset({_KEY_BINDINGS["accept"], "y"})  # a question may be answered with yes
_ACTIONS_BY_KEY: Final[Mapping[str, str]] = {key: action for action, key in _KEY_BINDINGS.items()}
_SPEECH_ACTIONS_BY_KEY: Final[Mapping[str, str]] = {key: action for action, key in _SPEECH_KEYS.items()}
_COMMANDS_BY_ACTION: Final[Mapping[str, Command]] = {
    "more": "more",
    "repeat": "repeat",
    "next": "next",
    "back": "back",
    "forward": "forward",
    "quiet": "quiet",
    "verbosity": "verbosity",
    "help": "help",
    "silence": "silence",
    "pause": "pause",
    "skip": "skip",
    "faster": "faster",
    "slower": "slower",
}
_HELP_KEYS: Final = (
    *("help-keys", "help-keys-more", "help-keys-history", "help-second-key", "help-answer", "help-freetext"),
)
_HELP_LINES: Final = (
    "help-lines",
    "help-lines-history",
    "help-next",
    "help-second-line",
    "help-answer-lines",
    "help-command-answer",
)


class _ShownPrompt(msgspec.Struct, eq=False):
    """A prompt that was printed, or said to wait, and is not answered yet."""

    prompt: Announcement  # with all keys that were offered for it so far
    deadline: float
    is_ambiguous: bool = False  # another one is or was just open, and a key could be meant for that
    is_unheard: bool = False  # it was only said to wait, or is being spoken


class InputInterpreter:
    """Turns the keys or lines of one person, or of a program at a pipe, into intents."""

    def __init__(
        self,
        *,
        lines: bool = False,
        replies: bool = True,
        time_extension: float = 2.0,
        speech: bool = False,
        phrases: Phrases = ENGLISH,
    ) -> None:
        self.is_line_based = lines
        self.phrases = phrases
        self.time_extension = time_extension  # how many times as long is asked for
        # What a person writes, in English and in their own language, by what it means.
        self._command_words = (*_COMMAND_WORDS, *(_SPEECH_WORDS if speech else ()))
        self._words = {
            each[f"command-{word}"].casefold(): word for each in (ENGLISH, phrases) for word in self._command_words
        }
        self._words |= {each["word-yes"].casefold(): "yes" for each in (ENGLISH, phrases)}
        self.can_reply = replies
        self._has_speech = speech
        self._actions_by_key = {**_ACTIONS_BY_KEY, **(_SPEECH_ACTIONS_BY_KEY if speech else {})}
        self.answered_prompts: dict[str, _ShownPrompt] = {}  # answered, and still without an outcome
        self._open_prompts: dict[str, _ShownPrompt] = {}  # oldest first
        self._current: _ShownPrompt | None = None  # the one that input answers
        self._current_since = 0.0
        self._last_closed_at = -math.inf  # when the current prompt last closed by itself
        self._is_armed = False  # accepting waits for the second key
        self._armed_at = -math.inf
        self._is_leaving = False  # quitting waits for the second key
        self._draft: str | None = None  # an answer that is being typed
        self.composer: Composer | None = None  # where the person can write to the agent
        self._extended_tokens: set[str] = set()  # of prompts for which more time was requested
        self._pressed_at: dict[str, float] = {}
        self._last_notice = ("", float("-inf"))  # its text and time

    @property
    def current_prompt(self) -> Announcement | None:
        """The prompt that input answers now, None if there is none."""
        return self._current.prompt if self._current is not None else None

    @property
    def next_prompt(self) -> Announcement | None:
        """The open prompt after the current one, in a circle; None if there is no other."""
        open_prompts = [*self._open_prompts.values()]
        if not open_prompts:
            return None
        index = open_prompts.index(self._current) if self._current is not None else -1
        following = open_prompts[(index + 1) % len(open_prompts)]
        return None if following is self._current else following.prompt

    @property
    def is_leaving(self) -> bool:
        """Whether the person wants to quit and was asked what is to become of the open prompts."""
        return self._is_leaving

    @property
    def draft(self) -> str | None:
        """The answer, or the line to the agent, as typed so far; None while nothing is being typed."""
        if self.composer is not None and self.composer.is_active:
            return self.composer.line
        return self._draft

    @property
    def is_composing(self) -> bool:
        """Whether the person writes to the agent, so that prompts have to wait."""
        return self.composer is not None and self.composer.is_active

    @property
    def next_deadline(self) -> float | None:
        """The time at which to call :meth:`advance`, None while there is nothing to wait for."""
        earliest = min((shown_prompt.deadline for shown_prompt in self._open_prompts.values()), default=math.inf)
        return None if math.isinf(earliest) else earliest + OUTCOME_GRACE

    def seconds_left(self, prompt: Announcement, now: float) -> float:
        """Return the number of seconds left to answer a prompt."""
        shown_prompt = self._open_prompts.get(prompt.prompt)
        return 0.0 if shown_prompt is None else max(0.0, shown_prompt.deadline - now)

    def is_answering_other(self, token: str) -> bool:
        """Whether input answers another prompt than this one, or none because something is being written."""
        return self.is_composing or (self._current is not None and self._current.prompt.prompt != token)

    def has_heard_all(self, token: str) -> bool:
        """Whether an open prompt was printed in full, so that it can be accepted, or answered with yes (C-22)."""
        shown_prompt = self._open_prompts.get(token)
        return shown_prompt is not None and not _YES_KEYS.isdisjoint(dict(shown_prompt.prompt.keys))

    def waiting_text(self) -> str:
        """Return what is said of a prompt that comes while another one is being answered."""
        hint = self.phrases["prompt-hear-line" if self.is_line_based else "prompt-hear-key"]
        return f"{self.phrases['prompt-waiting']} {hint}"

    def help_text(self) -> str:
        """Return the help for keys or for lines."""
        names = [*(_HELP_LINES if self.is_line_based else _HELP_KEYS)]
        if self._has_speech:
            names.append("help-speech-lines" if self.is_line_based else "help-speech")
        if self.composer is not None:
            names = [*self.composer.help_names(), *names]
        return " ".join(self.phrases[name] for name in names)

    # -- prompts ---------------------------------------------------------------------------

    def prompt_shown(self, prompt: Announcement, now: float, *, is_heard: bool = True) -> list[Intent]:
        """
        Note that a prompt was printed in full, with ``prompt.keys`` offered for it.

        Unless ``is_heard``, it is being spoken, and its keys count after :meth:`prompt_heard` or
        :meth:`prompt_silenced`.
        """
        token = prompt.prompt
        if not is_heard:
            prompt = msgspec.structs.replace(prompt, keys=_without_accept(prompt))
        if not self.can_reply or token in self.answered_prompts:
            return self.prompt_mentioned(token)
        if prompt.replaces in self._open_prompts:
            return self._replace_prompt(prompt, now)
        shown_prompt = self._open_prompts.get(token)
        lost_time: list[Intent] = []
        if shown_prompt is None:
            shown_prompt = self._add_new_prompt(prompt, now)
            shown_prompt.is_unheard = not is_heard
        else:
            # It is repeated, perhaps shortened: keys that were offered with the full text stay valid.
            offered_keys = {**dict(shown_prompt.prompt.keys), **dict(prompt.keys)}
            shown_prompt.prompt = msgspec.structs.replace(prompt, keys=tuple(offered_keys.items()))
            lost_time = self._restore_time(shown_prompt, now) if is_heard else []
        if shown_prompt is self._current or self._draft is not None:  # a draft belongs to its own question
            return self.prompt_mentioned(token)
        intents = self._take_back()
        self._current = shown_prompt
        self._current_since = now if is_heard else math.inf
        if isinstance(prompt.event, AwaitingClarification) and not prompt.background.is_familiar:
            intents.append(PrintLine(self._answer_hint(prompt.event)))
        if len(self._open_prompts) > 1:
            intents.append(
                PrintLine(
                    self.phrases.format("several_open", count=len(self._open_prompts), hint=self._next_prompt_hint())
                )
            )
        return intents + lost_time

    def prompt_heard(self, prompt: Announcement, now: float) -> list[Intent]:
        """Note that a prompt was spoken to its end: its keys count from now on, and so should its time."""
        shown_prompt = self._open_prompts.get(prompt.prompt)
        if shown_prompt is None:
            return []
        if not prompt.replaces:  # of which only the new time was heard
            offered_keys = {**dict(shown_prompt.prompt.keys), **dict(prompt.keys)}
            shown_prompt.prompt = msgspec.structs.replace(shown_prompt.prompt, keys=tuple(offered_keys.items()))
        self._begin_to_count(shown_prompt, now)
        return self._restore_time(shown_prompt, now)

    def prompt_silenced(self, prompt: Announcement, now: float) -> None:
        """Note that the speech of a prompt was stopped: it can be refused or answered, but not accepted unheard."""
        shown_prompt = self._open_prompts.get(prompt.prompt)
        if shown_prompt is not None:
            shown_prompt.is_unheard = False
            self._begin_to_count(shown_prompt, now)

    def _begin_to_count(self, shown_prompt: _ShownPrompt, now: float) -> None:
        if shown_prompt is self._current and math.isinf(self._current_since):
            self._current_since = now

    def prompt_waiting(self, prompt: Announcement, now: float) -> list[Intent]:
        """Note that a prompt came while another is being answered, and was said to wait until that one is done with."""
        token = prompt.prompt
        if self.can_reply and token not in self.answered_prompts and token not in self._open_prompts:
            self._add_new_prompt(prompt, now).is_unheard = True
        return self._take_back()

    def _add_new_prompt(self, prompt: Announcement, now: float) -> _ShownPrompt:
        is_known = isinstance(prompt.event, (AwaitingConfirmation, AwaitingClarification))
        shown_prompt = _ShownPrompt(prompt, now + (prompt.timeout if is_known else math.inf))
        shown_prompt.is_ambiguous = now - self._last_closed_at < CLOSED_PROMPT_WINDOW
        self._add_prompt(shown_prompt)
        return shown_prompt

    def _restore_time(self, shown_prompt: _ShownPrompt, now: float) -> list[Intent]:
        """Ask for the time in which a prompt waited for another one and nobody had heard what it asks."""
        if not shown_prompt.is_unheard:
            return []
        shown_prompt.is_unheard = False
        timeout = get_member(shown_prompt.prompt.event, "timeout_seconds")
        if not isinstance(timeout, int) or math.isinf(shown_prompt.deadline):
            return []
        lost = timeout - (shown_prompt.deadline - now)
        seconds = min(timeout + math.ceil(lost), MAX_PROMPT_TIMEOUT)
        if lost < max(MIN_LOST_TIME, timeout * MIN_LOST_SHARE) or seconds <= timeout:
            return []
        self._extended_tokens.add(shown_prompt.prompt.prompt)
        return [RequestTime(shown_prompt.prompt, seconds)]

    def _replace_prompt(self, prompt: Announcement, now: float) -> list[Intent]:
        """Go on with a prompt that is asked again with more time: what was heard and typed for it stays valid."""
        self._extended_tokens.discard(prompt.replaces)
        shown_prompt = self._open_prompts[prompt.replaces]
        shown_prompt.prompt = msgspec.structs.replace(prompt, keys=shown_prompt.prompt.keys)
        shown_prompt.deadline = now + prompt.timeout
        self._open_prompts = {shown.prompt.prompt: shown for shown in self._open_prompts.values()}
        return self.prompt_mentioned(prompt.prompt)

    def _add_prompt(self, shown_prompt: _ShownPrompt) -> None:
        self._open_prompts[shown_prompt.prompt.prompt] = shown_prompt
        if len(self._open_prompts) > 1:
            for open_prompt in self._open_prompts.values():
                open_prompt.is_ambiguous = True

    def prompt_mentioned(self, token: str) -> list[Intent]:
        """Note that a line about a prompt was printed; if it is another one, the next key could be meant for that."""
        if self._current is None or self._current.prompt.prompt == token:
            return []
        intents = self._take_back()
        if token in self._open_prompts:
            name = truncate_with_notice(self._current.prompt.about, MAX_PROMPT_NAME_LENGTH, self.phrases)
            hint = f" {self._next_prompt_hint()}" if self._draft is None else ""
            intents.append(PrintLine(f"{self.phrases.format('still_answering', action=name)}{hint}"))
        return intents

    def prompt_closed(self, token: str, now: float) -> list[Intent]:
        """Note that a prompt was closed, here or elsewhere, which voids the keys pressed for it (CF-025)."""
        self.answered_prompts.pop(token, None)
        self._extended_tokens.discard(token)
        shown_prompt = self._open_prompts.pop(token, None)
        if shown_prompt is None or shown_prompt is not self._current:
            return self._take_back()
        intents: list[Intent] = []
        if self._draft:
            intents.append(PrintLine(self.phrases.format("draft-unsent", text=sanitize(self._draft))))
        elif self._is_armed:
            intents.append(PrintLine(self.phrases["accept-void"]))
        self._current = None
        self._draft = None
        self._is_armed = False
        self._last_closed_at = now
        intents += self._take_back()
        return intents

    def send_failed(self, prompt: Announcement, now: float) -> list[Intent]:
        """Reopen a prompt whose answer could not be sent, for a new decision."""
        self._extended_tokens.discard(prompt.prompt)
        shown_prompt = self.answered_prompts.pop(prompt.prompt, None)
        if shown_prompt is not None:
            self._add_prompt(shown_prompt)
        return self.prompt_shown(prompt, now) if self._current is None else self.prompt_mentioned(prompt.prompt)

    def advance(self, now: float) -> list[Intent]:
        """Close prompts that have expired without an outcome."""
        intents: list[Intent] = []
        for token, shown_prompt in [*self._open_prompts.items()]:
            if shown_prompt.deadline + OUTCOME_GRACE <= now:
                text = self.phrases["expired"]
                if shown_prompt.is_ambiguous:
                    name = truncate_with_notice(shown_prompt.prompt.about, MAX_PROMPT_NAME_LENGTH, self.phrases)
                    text += f" {self.phrases.format('about', action=name)}"
                intents += [PrintLine(text), *self.prompt_closed(token, now)]
        return intents

    # -- keys ------------------------------------------------------------------------------

    def press(self, keys: Sequence[str], now: float) -> list[Intent]:
        """Interpret the keys that arrived at once, usually one."""
        if self.is_composing:
            return self._compose(keys, now)
        if len(keys) > 1 and self._draft is None and not self._is_answer_start(keys[0]):
            is_held_down = all(self._record_key_press(key, now) for key in keys)
            if is_held_down and not (self._is_armed or self._is_leaving):
                return []
            return [
                *self._take_back(),
                PrintLine(self.phrases["keys-several"]),
            ]
        intents: list[Intent] = []
        for number, key in enumerate(keys, start=1):
            # A line break inside a pasted text does not send it.
            intents += self._handle_key(" " if key == ENTER and number < len(keys) else key, now)
        return intents

    def _compose(self, keys: Sequence[str], now: float) -> list[Intent]:
        """Apply keys to what is being written; prompts that waited come when it was sent or left."""
        intents: list[Intent] = []
        for number, key in enumerate(keys, start=1):
            self._record_key_press(key, now)
            if self.composer is not None:
                intents += self.composer.press(key, is_pasted=number < len(keys))
        return intents if self.is_composing else [*intents, *self._show_waiting()]

    def _show_waiting(self) -> list[Intent]:
        return [RunCommand("next")] if self._current is None and self._open_prompts else []

    def _record_key_press(self, key: str, now: float) -> bool:
        """Record that a key was pressed; return whether it was pressed just before too."""
        key = key.lower()
        is_repeat = now - self._pressed_at.get(key, float("-inf")) < KEY_REPEAT_WINDOW
        self._pressed_at[key] = now
        return is_repeat

    def _handle_key(self, key: str, now: float) -> list[Intent]:
        is_repeat = self._record_key_press(key, now)
        if self._draft is not None:
            return self._edit_draft(key, self._draft, now, is_repeat=is_repeat)
        if self._is_armed:
            return self._handle_second_key(key, now, is_repeat=is_repeat)
        if self._is_leaving:
            return [] if is_repeat else self._decide_leaving(key.lower())
        if self.composer is not None and self.current_prompt is None and key.lower() in (ENTER, "p", "h"):
            return self.composer.list_history() if key.lower() == "h" else self.composer.begin()
        if key == ENTER:
            return [] if is_repeat else self._handle_enter()
        if self._is_answer_start(key):
            if self._is_too_early(now):
                return self._ignore_key(now)
            self._draft = key
            return [Echo(key)]
        return self._handle_bound_key(key, now, is_repeat=is_repeat)

    def _handle_second_key(self, key: str, now: float, *, is_repeat: bool) -> list[Intent]:
        """Interpret the key after an accept that has to be confirmed."""
        if key.lower() == "y":
            is_too_soon = is_repeat or now - self._armed_at < MIN_SECOND_KEY_DELAY
            return self._ignore_key(now) if is_too_soon else self._confirm_accept(now)
        if _ACTIONS_BY_KEY.get(key.lower()) == "accept":
            self._armed_at = now
            return [] if is_repeat else [self._second_key_notice()]
        intents = self._take_back()
        if key not in (ENTER, ESCAPE) and key.lower() in self._actions_by_key:
            intents += self._handle_bound_key(key, now, is_repeat=is_repeat)
        return intents

    def _handle_bound_key(self, key: str, now: float, *, is_repeat: bool) -> list[Intent]:
        action = self._actions_by_key.get(key.lower())
        if action is None:
            key_name = sanitize(key)
            if is_repeat or not key_name:
                return []
            return [PrintLine(self.phrases.format("keys-unknown", key=key_name))]
        if action in ("accept", "reject") and (is_repeat or self._is_too_early(now)):
            return self._ignore_key(now)
        return self._run_action(action, now)

    def _is_too_early(self, now: float) -> bool:
        return self.current_prompt is not None and now - self._current_since < MIN_READING_TIME

    def _ignore_key(self, now: float) -> list[Intent]:
        """Say once, not at every repeat, that a key was held down or pressed before the prompt can have been read."""
        if self.current_prompt is None:
            return []
        return self._tell_once(self.phrases["keys-too_soon"], now)

    def _tell_once(self, text: str, now: float) -> list[Intent]:
        """Return a line to print, unless it is the last notice again within a moment."""
        last_text, last_time = self._last_notice
        self._last_notice = text, now
        return [] if text == last_text and now - last_time < KEY_REPEAT_WINDOW else [PrintLine(text)]

    # -- typing an answer ------------------------------------------------------------------

    def _is_answer_start(self, key: str) -> bool:
        """Whether a key begins an answer to the current question, which Enter then sends."""
        event = self.current_prompt.event if self.current_prompt is not None else None
        if not isinstance(event, AwaitingClarification):
            return False
        kinds = available_response_kinds(event)
        if key.lower() in ("y", "n"):
            return "yes_no" in kinds
        if key.isdecimal() and key.isascii():
            return "multiple_choice" in kinds or "numeric" in kinds
        return key in ("-", "=") and "numeric" in kinds

    def _handle_enter(self) -> list[Intent]:
        event = self.current_prompt.event if self.current_prompt is not None else None
        if isinstance(event, AwaitingClarification) and "freetext" in available_response_kinds(event):
            self._draft = ""
            return [PrintLine(self.phrases["draft-begin"], discard_typeahead=True)]
        if isinstance(event, AwaitingClarification):
            return [PrintLine(self._answer_hint(event))]
        if self.current_prompt is not None:
            return [PrintLine(self.phrases["enter-prompt"])]
        return [PrintLine(self.phrases["enter-nothing"])]

    def _edit_draft(self, key: str, text: str, now: float, *, is_repeat: bool) -> list[Intent]:
        """Apply a key to the answer that is being typed."""
        end_of_line: list[Intent] = [Echo("\n")] if text else []
        if key == ENTER:
            if is_repeat and not text:
                return []
            self._draft = None
            if not text.strip():
                return [*end_of_line, PrintLine(self.phrases["draft-empty"])]
            return end_of_line + self._answer(text, now)
        if key == ESCAPE:
            self._draft = None
            return [*end_of_line, PrintLine(self.phrases["draft-left"])]
        if key == "\x15":  # Control-U
            self._draft = ""
            return [*end_of_line, PrintLine(self.phrases["draft-removed"])]
        if key in ("\x7f", "\b"):
            self._draft = text[:-1]
            if not text:
                return []
            return [Echo("\b \b") if text[-1].isascii() else Echo(f"\n{self._draft}")]
        if key == "\t":
            key = " "
        if not key.isprintable() or len(text) >= MAX_RESPONSE_LENGTH:
            return []
        self._draft = text + key
        return [Echo(key)]

    # -- lines -----------------------------------------------------------------------------

    def enter_line(self, text: str, now: float) -> list[Intent]:
        """Interpret a whole line: a command, the answer to a question, or what is written to the agent."""
        if self.composer is not None and self.composer.is_active:
            intents = self.composer.enter_line(text)
            return intents if self.is_composing else [*intents, *self._show_waiting()]
        typed = unicodedata.normalize("NFC", " ".join(text.split())).casefold()
        word = self._words.get(typed, typed)
        is_command = word in self._command_words and word not in ("answer", "leave", "stay")
        action = _ACTIONS_BY_WORD.get(word, word) if is_command else self._actions_by_key.get(word)
        if self._is_unspoken(action, word):
            return self._tell_once(self.phrases["line-too_soon"], now)
        if self._is_armed:
            if word in ("y", "yes"):
                return self._confirm_accept(now)
            if action != "accept":
                return [*self._take_back(), *(self._run_action(action, now) if action else [])]
        if self._is_leaving:
            return self._decide_leaving({"reject": "r", "close": "q"}.get(action or "", word))
        if action is not None:
            return self._run_action(action, now)
        if self.composer is not None and word == "history":
            return self.composer.list_history()
        if self.composer is not None and (word.startswith("prompt ") or (word and self.current_prompt is None)):
            has_word = word.startswith("prompt ")  # for a text that is a command word, or while something is asked
            return self.composer.enter_line(text.strip()[len("prompt ") :] if has_word else text)
        event = self.current_prompt.event if self.current_prompt is not None else None
        if isinstance(event, AwaitingClarification) and word:
            first, _, rest = text.strip().partition(" ")
            has_prefix = bool(rest) and self._words.get(first.casefold()) == "answer"  # for one that is a command word
            return self._answer(rest if has_prefix else text, now)
        if not word:
            return self._tell_once(self.phrases["line-empty"], now)
        if self.current_prompt is None:
            return self._tell_once(self.phrases["line-no_prompt"], now)
        return self._tell_once(self.phrases["line-unknown"], now)

    def _is_unspoken(self, action: str | None, word: str) -> bool:
        """Whether a line would answer a prompt that is still being spoken."""
        answers = action in ("accept", "reject") or (action is None and bool(word))
        return answers and self._current is not None and math.isinf(self._current_since)

    # -- actions ---------------------------------------------------------------------------

    def _run_action(self, action: str, now: float) -> list[Intent]:
        handlers: Mapping[str, Callable[[float], list[Intent]]] = {
            "accept": self._accept,
            "reject": self._reject,
            "time": self._request_time,
            "close": self._quit,
        }
        if action in handlers:
            return handlers[action](now)
        if action == "next" and self.next_prompt is None:
            return self._tell_once(self.phrases["no_other"], now)
        return [RunCommand(_COMMANDS_BY_ACTION[action])]

    def _accept(self, now: float) -> list[Intent]:
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("accept", now)
        if not isinstance(prompt.event, AwaitingConfirmation):
            return self._tell_once(self._unsupported_action_hint(prompt), now)
        key = _KEY_BINDINGS["accept"]
        if key not in dict(prompt.keys):
            if key not in dict(prompt.detail_keys):
                return [PrintLine(self.phrases["unacceptable"])]
            return [self._uncut_notice()]
        if self._is_expired(now):
            return [PrintLine(self.phrases["expired"])]
        if prompt.careful or (self._current is not None and self._current.is_ambiguous):
            self._is_armed = True
            self._armed_at = now
            return [self._second_key_notice()]
        return self._confirm_accept(now)

    def _uncut_notice(self) -> PrintLine:
        """Return the line that says how to hear the whole of a prompt. C-22"""
        more = self.phrases["command-more"] if self.is_line_based else _KEY_BINDINGS["more"]
        return PrintLine(self.phrases.format("uncut", key=more))

    def _second_key_notice(self) -> PrintLine:
        """Return the line that says how to confirm an acceptance, and what is accepted."""
        about = self.current_prompt.about if self.current_prompt is not None else ""
        # All of it was heard before. The beginning is enough to tell which prompt it is.
        is_long = len(about) > MAX_REPEATED_LENGTH
        short = f"{truncate(about, MAX_REPEATED_LENGTH)}…" if is_long else ensure_full_stop(about)
        phrase = "accept-second-line" if self.is_line_based else "accept-second-key"
        text = self.phrases.format(f"{phrase}-long" if is_long else phrase, action=short)
        return PrintLine(text, discard_typeahead=True)

    def _confirm_accept(self, now: float) -> list[Intent]:
        self._is_armed = False
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("accept", now)
        if self._is_expired(now):
            return [PrintLine(self.phrases["expired"])]
        self._mark_answered(prompt)
        return [Accept(prompt)]

    def _reject(self, now: float) -> list[Intent]:
        """Reject the current prompt, even if its time seems to be over here (CF-014)."""
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("reject", now)
        if _KEY_BINDINGS["reject"] not in dict(prompt.keys):
            if isinstance(prompt.event, AwaitingConfirmation):
                return self._tell_once(self.phrases["unrefusable"], now)
            return self._tell_once(self._unsupported_action_hint(prompt), now)
        self._mark_answered(prompt)
        return [Reject(prompt)]

    def _answer(self, text: str, now: float) -> list[Intent]:
        prompt = self.current_prompt
        if prompt is None or not isinstance(prompt.event, AwaitingClarification):
            return self._tell_no_prompt("answer", now)
        if self._is_expired(now):
            return [PrintLine(self.phrases["expired"])]
        response = parse_answer(prompt.event, text, self.phrases)
        if response is None:
            return [PrintLine(self.phrases.format("answer-unsent", hint=self._answer_hint(prompt.event)))]
        if response.value is True and prompt.cut and "y" not in dict(prompt.keys):
            return [self._uncut_notice()]
        self._mark_answered(prompt)
        return [SendAnswer(prompt, response.value, response.display_text)]

    def _request_time(self, now: float) -> list[Intent]:
        prompt = self.current_prompt
        if prompt is None:
            return self._tell_no_prompt("time", now)
        timeout = get_member(prompt.event, "timeout_seconds")
        seconds = min(math.ceil(self.time_extension * timeout), MAX_PROMPT_TIMEOUT) if isinstance(timeout, int) else 0
        if not isinstance(timeout, int) or seconds <= timeout:
            return [PrintLine(self.phrases["no_more_time"])]
        if prompt.prompt in self._extended_tokens:
            return self._tell_once(self.phrases["time_asked"], now)
        self._extended_tokens.add(prompt.prompt)
        return [RequestTime(prompt, seconds)]

    # -- leaving ---------------------------------------------------------------------------

    def _quit(self, now: float) -> list[Intent]:
        """Quit; with open prompts, ask first what is to become of them."""
        if not self._open_prompts:
            return [RunCommand("quit")]
        self._is_leaving = True
        count, refusable_count = len(self._open_prompts), len(self._list_refusable())
        phrase = "leaving-lines" if self.is_line_based else "leaving-keys"
        if refusable_count == count:
            choices = self.phrases.format(f"{phrase}-refuse", count=count)
        elif refusable_count:
            choices = self.phrases.format(f"{phrase}-some", count=refusable_count)
        else:
            choices = self.phrases.format(phrase, count=count)
        text = f"{self.phrases.format('leaving-open', count=count)} {choices}"
        return [PrintLine(text, discard_typeahead=True)]

    def _decide_leaving(self, key_or_word: str) -> list[Intent]:
        """Interpret the key or the line after quitting with open prompts; whatever is not clear means to stay."""
        refusable = self._list_refusable()
        if key_or_word in ("l", "leave", "q"):
            self._is_leaving = False
            return [RunCommand("quit")]
        if key_or_word == "r" and refusable:
            self._is_leaving = False
            for prompt in refusable:
                self._mark_answered(prompt)
            return [RefuseAndQuit(tuple(refusable))]
        return self._take_back()

    def _list_refusable(self) -> list[Announcement]:
        """Return the open prompts that can be refused, which a question cannot."""
        prompts = [shown_prompt.prompt for shown_prompt in self._open_prompts.values()]
        return [
            prompt
            for prompt in prompts
            if _KEY_BINDINGS["reject"] in dict(prompt.keys) or _KEY_BINDINGS["reject"] in dict(prompt.detail_keys)
        ]

    def _mark_answered(self, prompt: Announcement) -> None:
        """Move a prompt to the answered ones; further input is for the next prompt that is printed."""
        shown_prompt = self._open_prompts.pop(prompt.prompt, None)
        if shown_prompt is not None:
            self.answered_prompts[prompt.prompt] = shown_prompt
        self._current = None
        self._draft = None
        self._is_armed = False

    def _tell_no_prompt(self, action: str, now: float) -> list[Intent]:
        """Say why there is no prompt for an action."""
        if not self.can_reply:
            return self._tell_once(self.phrases["cannot_reply"], now)
        other = f" {self.phrases.format('another_open', hint=self._next_prompt_hint())}" if self._open_prompts else ""
        if self.answered_prompts:
            return self._tell_once(f"{self.phrases['answer_sent']}{other}", now)
        return self._tell_once(f"{self.phrases[f'nothing_to-{action}']}{other}", now)

    def _is_expired(self, now: float) -> bool:
        return self._current is not None and now >= self._current.deadline

    def _next_prompt_hint(self) -> str:
        return self.phrases["next-line" if self.is_line_based else "next-key"]

    def _unsupported_action_hint(self, prompt: Announcement) -> str:
        """Return the hint for a prompt that cannot be accepted or refused."""
        if not isinstance(prompt.event, AwaitingClarification):
            return self.phrases["incomplete-prompt"]
        hint = f" {self.phrases['answer-word']}" if self.is_line_based else ""
        return f"{self.phrases.format('is_question', hint=self._answer_hint(prompt.event))}{hint}"

    def _answer_hint(self, event: AwaitingClarification) -> str:
        if available_response_kinds(event) == ("freetext",) and not self.is_line_based:
            return self.phrases["answer-freetext"]
        hint = describe_expected_answer(event, self.phrases)
        if not self.is_line_based and "freetext" in available_response_kinds(event):
            hint += f" {self.phrases['answer-own_words']}"
        return hint

    def _take_back(self) -> list[Intent]:
        """Take back an acceptance, or the wish to leave, that was not confirmed."""
        intents: list[Intent] = []
        if self._is_armed:
            intents.append(PrintLine(self.phrases["accept-taken_back"]))
        if self._is_leaving:
            intents.append(PrintLine(self.phrases["stay"]))
        self._is_armed = False
        self._is_leaving = False
        return intents


def _without_accept(prompt: Announcement) -> tuple[tuple[str, str], ...]:
    """Return the keys of a prompt that count before it was heard: a long question has no yes then either."""
    removed = _YES_KEYS if prompt.cut else {_KEY_BINDINGS["accept"]}
    return tuple((key, effect) for key, effect in prompt.keys if key not in removed)
