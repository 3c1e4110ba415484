"""
The input line in which a person writes to an agent that takes requests, one after another.

Nothing here reads input or prints. A text may have several lines: one that ends with a backslash goes on in the
next. What was sent before can be fetched back, changed and sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..text.phrases import ENGLISH, Phrases
from ..text.sanitize import sanitize, truncate
from .intents import Echo, Intent, PrintLine, SendRequest
from .stdin import ARROW_DOWN, ARROW_UP

__all__ = ["EARLIER", "LATER", "Composer"]

MAX_LENGTH: Final = 65_536  # characters
MAX_HISTORY: Final = 200
MAX_LISTED: Final = 20
MAX_LISTED_LENGTH: Final = 120  # characters
CONTINUATION: Final = "\\"
ENTER: Final = "\n"
ESCAPE: Final = "\x1b"
EARLIER: Final = "\x10"  # Control-P
LATER: Final = "\x0e"  # Control-N
_ERASE_LINE: Final = "\x15"  # Control-U
_ERASE: Final = ("\x7f", "\b")


class Composer:
    """A text that is being written, and those that were sent before."""

    def __init__(self, *, lines: bool, phrases: Phrases = ENGLISH) -> None:
        self.is_line_based = lines
        self._phrases = phrases
        self.history: list[str] = []
        self._lines: list[str] | None = None  # the last one is being written; None while nothing is
        self._kept: list[str] = [""]  # what was left with Escape
        self._position = 0  # in the history

    @property
    def is_active(self) -> bool:
        """Whether something is being written."""
        return self._lines is not None

    @property
    def line(self) -> str | None:
        """The line as written so far, None while nothing is being written."""
        return self._lines[-1] if self._lines is not None else None

    def begin(self) -> list[Intent]:
        """Begin to write, or go on with what was left."""
        self._lines, self._kept = self._kept, [""]
        self._position = len(self.history)
        intents: list[Intent] = [PrintLine(self._phrases["compose-begin"])]
        return [*intents, *self._show()]

    def _show(self) -> list[Intent]:
        """Show all that is written, so that the last line can be written further."""
        *finished, last = self._lines or [""]
        shown: list[Intent] = [PrintLine(sanitize(line)) for line in finished]
        return [*shown, Echo(sanitize(last))] if last else shown

    def press(self, key: str, *, is_pasted: bool = False) -> list[Intent]:
        """Apply a key. A line break inside a pasted text only ends a line."""
        if self._lines is None:
            return []
        text = self._lines[-1]
        if key == ENTER:
            if is_pasted:
                return self._break_line(text)
            return self._break_line(text[:-1]) if text.endswith(CONTINUATION) else self._send()
        if key == ESCAPE:
            self._kept = self._lines
            self._lines = None
            return [Echo("\n"), PrintLine(self._phrases["compose-left" if any(self._kept) else "compose-left-empty"])]
        if key == _ERASE_LINE:
            self._lines[-1] = ""
            return [Echo("\n"), PrintLine(self._phrases["compose-removed"])] if text else []
        if key in _ERASE:
            return self._erase(text)
        if key in (ARROW_UP, ARROW_DOWN) and is_pasted:
            return []
        if key in (EARLIER, LATER, ARROW_UP, ARROW_DOWN):
            return self._recall(-1 if key in (EARLIER, ARROW_UP) else 1)
        key = " " if key == "\t" else key
        if not key.isprintable() or sum(map(len, self._lines)) >= MAX_LENGTH:
            return []
        self._lines[-1] = text + key
        return [Echo(key)]

    def _break_line(self, text: str) -> list[Intent]:
        assert self._lines is not None
        self._lines[-1:] = [text, ""]
        return [Echo("\n")]

    def _erase(self, text: str) -> list[Intent]:
        assert self._lines is not None
        if text:
            self._lines[-1] = text[:-1]
            return [Echo("\b \b") if text[-1].isascii() else Echo(f"\n{self._lines[-1]}")]
        if len(self._lines) == 1:
            return []
        self._lines.pop()
        return [PrintLine(self._phrases["compose-joined"]), Echo(sanitize(self._lines[-1]))]

    def _send(self) -> list[Intent]:
        text = "\n".join(self._lines or [])
        self._lines = None
        if not text.strip():
            return [Echo("\n"), PrintLine(self._phrases["draft-empty"])]
        return [Echo("\n"), *self._take(text)]

    def _take(self, text: str) -> list[Intent]:
        if text not in self.history[-1:]:
            self.history = [*self.history, text][-MAX_HISTORY:]
        return [SendRequest(text)]

    def _recall(self, step: int) -> list[Intent]:
        """Put what was sent before in place of what is written; behind the newest there is an empty line again."""
        position = self._position + step
        if not 0 <= position <= len(self.history):
            return [
                Echo("\n"),
                PrintLine(self._phrases["nothing_before" if step < 0 else "nothing_after"]),
                *self._show(),
            ]
        self._position = position
        self._lines = self.history[position].split("\n") if position < len(self.history) else [""]
        return [Echo("\n"), *self._show()]

    def enter_line(self, text: str) -> list[Intent]:
        """Take a whole line, where lines are typed."""
        lines = [*(self._lines or []), text]
        if text.endswith(CONTINUATION):
            self._lines = [*lines[:-1], text[:-1]]
            return []
        self._lines = None
        whole = "\n".join(lines)
        return self._take(whole) if whole.strip() else [PrintLine(self._phrases["draft-empty"])]

    def list_history(self) -> list[Intent]:
        """Print what was sent, the newest last."""
        if not self.history:
            return [PrintLine(self._phrases["compose-history-none"])]
        first = max(0, len(self.history) - MAX_LISTED)
        return [
            PrintLine(_describe(number, text, self._phrases))
            for number, text in enumerate(self.history[first:], start=first + 1)
        ]

    def help_names(self) -> Sequence[str]:
        """Return the names of the phrases that say how to write."""
        return ("compose-help-lines",) if self.is_line_based else ("compose-help", "compose-help-history")


def _describe(number: int, text: str, phrases: Phrases) -> str:
    line = sanitize(text)
    short = line if len(line) <= MAX_LISTED_LENGTH else f"{truncate(line, MAX_LISTED_LENGTH)}…"
    return phrases.format("choice", number=number, label=short)
