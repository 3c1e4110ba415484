"""
What stands on a braille display: windows of cells, one at a time, moved by the person who reads them.

Braille is read at the reader's own pace, so that nothing here is taken away by time. A message stays until
another one comes, and from the first time that somebody pans, until they have read to its end. A prompt stays
until it is closed: what comes meanwhile waits, and the first cell of the display says so.

Nothing here knows a braille code: :data:`Translate` turns a text into cells.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Final

import msgspec

from ..text.graphemes import find_grapheme_starts
from ..text.imitation import guard_value
from ..text.phrases import GAP, Phrases, get_phrases, truncate_with_notice
from .announce import Announcement, list_keys

__all__ = [
    "BrailleView",
    "KeySpan",
    "Message",
    "Translate",
    "Translation",
    "Window",
    "clean_text",
    "compose_message",
    "compose_reply",
    "find_windows",
]

STATUS_WIDTH: Final = 2  # cells: the sign, and a blank between it and the text
MIN_WIDTH_FOR_STATUS: Final = 10  # cells; on a smaller display all of them are text
PROMPT_SIGN: Final = 0b00100110  # dots 2, 3 and 6, the question mark
OLDER_SIGN: Final = 0b00010010  # dots 2 and 5: not the newest message
WAITING_DOTS: Final = 0b11000000  # dots 7 and 8, below either of these or alone
BLANK: Final = 0
MAX_HISTORY: Final = 1000  # messages
SECOND_KEY: Final = "y"  # which confirms that something risky is accepted
_SECOND_KEY_PHRASES: Final = tuple(f"accept-second-{way}{form}" for way in ("key", "line") for form in ("", "-long"))


class Translation(msgspec.Struct, frozen=True):
    """
    A text in cells, each a byte whose bit 0 is dot 1 and whose bit 7 is dot 8.

    ``positions`` says for each cell at which character of the text it belongs; it never goes back.
    """

    cells: bytes
    positions: tuple[int, ...]


Translate = Callable[[str, str], Translation]  # of a text and its language tag


class KeySpan(msgspec.Struct, frozen=True):
    """A part of a text that stands for a key: a routing key above it presses that key."""

    start: int
    end: int
    key: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Something to read. ``prompt`` is the token of the prompt that it asks, and empty for everything else."""

    text: str  # NFC, so that the positions in it are the ones that everybody means
    language: str = ""
    prompt: str = ""
    is_urgent: bool = False  # shown though somebody is reading something else, which waits then
    is_persistent: bool = False  # not replaced by the next message before the person goes on
    is_reply: bool = False  # to a key of the person: shown at once, even in place of a prompt
    key_spans: tuple[KeySpan, ...] = ()
    cursor: int | None = None  # a position in the text


class Window(msgspec.Struct, frozen=True):
    """What is on the display: as many cells as it has, and the cell that the cursor is on."""

    cells: bytes
    cursor: int | None = None


class _Entry(msgspec.Struct, eq=False):
    """A message with its cells, and how far it was read."""

    message: Message
    translation: Translation
    start: int = 0  # the first cell of the window that was on the display last
    cursor: int | None = None
    read_count: int = 0  # cells from the beginning that were on the display
    windows: list[range] = msgspec.field(default_factory=list)
    wrapped_width: int = 0  # for which the windows were found


# -- windows ---------------------------------------------------------------------------------


def find_windows(text: str, translation: Translation, width: int) -> list[range]:
    """
    Return the cells of each window of a text, in order; together they are all cells, each once.

    A window ends between words. Only a word that is longer than a window is cut, and then between characters,
    each with its marks and the cells of its contraction. A window may be longer than the display by the blanks
    at its end, which nobody misses.
    """
    cells = translation.cells
    grapheme_starts = find_grapheme_starts(text)
    windows: list[range] = []
    start = 0
    while start < len(cells):
        end = _find_end(translation, grapheme_starts, start, width)
        while end < len(cells) and cells[end] == BLANK:
            end += 1
        windows.append(range(start, end))
        start = end
    return windows or [range(0, 0)]


def _find_end(translation: Translation, grapheme_starts: frozenset[int], start: int, width: int) -> int:
    cells, positions = translation.cells, translation.positions
    limit = start + width
    if limit >= len(cells):
        return len(cells)
    if cells[limit] == BLANK:
        return limit
    for end in range(limit, start + 1, -1):
        if cells[end - 1] == BLANK and any(cells[start:end]):
            return end
    for end in range(limit, start, -1):
        if positions[end] != positions[end - 1] and positions[end] in grapheme_starts:
            return end
    return limit  # one character that is wider than the display


# -- messages --------------------------------------------------------------------------------


def compose_message(
    text: str, announcement: Announcement, *, is_full_prompt: bool, is_outcome: bool = False
) -> Message:
    """
    Return an announcement as a message; a prompt that is told in full has its keys at the end.

    The keys of a familiar prompt are not said again, but on a display they are what a routing key selects.
    """
    text = clean_text(text)
    phrases = get_phrases((announcement.own_language,))
    if not is_full_prompt:
        is_urgent = announcement.interrupts or is_outcome
        return Message(
            text=text, language=announcement.language, is_urgent=is_urgent, is_persistent=announcement.interrupts
        )
    choices = [(key, effect) for key, effect in announcement.keys if key.isdecimal()]
    choice_texts = [_format_choice(key, effect, phrases) for key, effect in choices]
    choice_start = text.rfind(" ".join(choice_texts))
    unlisted = choices if choice_start < 0 else []
    commands = [*unlisted, *((key, effect) for key, effect in announcement.keys if not key.isdecimal())]
    command_texts = [clean_text(phrases.format("key", key=key, effect=effect)) for key, effect in commands]
    listed = clean_text(list_keys(commands, phrases))
    if commands and not text.endswith(f" {listed}"):
        text = f"{text} {listed}"
    spans = [*_locate_keys(commands, command_texts, text, len(text) - len(listed))]
    if not unlisted:
        spans += _locate_keys(choices, choice_texts, text, choice_start)
    return Message(
        text=text,
        language=announcement.language,
        prompt=announcement.prompt,
        is_urgent=True,
        is_persistent=True,
        key_spans=tuple(spans),
    )


def compose_reply(text: str, language: str = "en") -> Message:
    """
    Return what the reader says to a key as a message; what asks for the second key has that key in it.

    ``language`` is that of the reader's own words.
    """
    text = clean_text(text)
    message = Message(text=text, language=language, is_reply=True)
    phrases = get_phrases((language,))
    for name in _SECOND_KEY_PHRASES:
        beginning = clean_text(phrases.list_forms(name)[0].partition(GAP)[0])
        if beginning and text.startswith(beginning):
            word = phrases["word-yes"] if name.startswith("accept-second-line") else SECOND_KEY
            found = re.search(rf"(?<!\w){re.escape(clean_text(word))}(?!\w)", beginning)
            start = found.start() if found is not None else 0
            return msgspec.structs.replace(message, key_spans=(KeySpan(start, len(beginning), SECOND_KEY),))
    return message


def clean_text(text: str) -> str:
    """Return a text on one line and in NFC, which positions in it refer to."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _format_choice(key: str, effect: str, phrases: Phrases) -> str:
    """Return a choice as a question lists it, so that it is found there: words that only look like it are not."""
    label = truncate_with_notice(guard_value(effect, phrases), phrases=phrases)
    return clean_text(phrases.format("choice", number=key, label=label))


def _locate_keys(keys: Sequence[tuple[str, str]], key_texts: Sequence[str], text: str, start: int) -> Iterator[KeySpan]:
    """Yield where in a text each of these keys stands, listed in this order from a position on."""
    for (key, _), key_text in zip(keys, key_texts, strict=True):
        start = text.index(key_text, start)
        yield KeySpan(start, start + len(key_text), key)
        start += len(key_text)


# -- the display -----------------------------------------------------------------------------


class BrailleView:
    """The messages of one person, and the window of them that is on the display."""

    def __init__(self, translate: Translate, width: int, *, max_history: int = MAX_HISTORY) -> None:
        self._translate = translate
        self._width = width
        self._max_history = max_history
        self._history: deque[_Entry] = deque(maxlen=max_history)
        self._open_prompts: dict[str, _Entry] = {}  # oldest first
        self._focused_prompt = ""  # the token of the one that keys answer
        self._waiting: list[_Entry] = []  # came while something else had to stay
        self._shown: _Entry | None = None
        self._draft: _Entry | None = None  # an answer as typed so far, which no history keeps
        self._is_held = False  # the person reads, and what is there stays until they go on

    @property
    def width(self) -> int:
        """The number of cells of the display."""
        return self._width

    @property
    def window(self) -> Window:
        """What the display has to show now."""
        if self._shown is None or self._width <= 0:
            return Window(bytes(max(self._width, 0)))
        entry = self._shown
        window = self._current_window(entry)
        cells = entry.translation.cells[window.start : window.stop][: self._text_width]
        status = bytes([self._status_sign(), BLANK])[: self._status_width]
        return Window((status + cells).ljust(self._width, b"\0"), self._find_cursor(entry, window))

    @property
    def shown(self) -> Message | None:
        """The message that is on the display, None before the first one."""
        return self._shown.message if self._shown is not None else None

    @property
    def waiting_count(self) -> int:
        """How many messages came while something else had to stay, and were not read yet."""
        return len(self._waiting)

    @property
    def focused_prompt(self) -> str:
        """The token of the prompt that keys answer, empty if there is none."""
        return self._focused_prompt

    @property
    def is_prompt_read(self) -> bool:
        """Whether all that the prompt says was on the display, as far as to the list of its keys (C-22)."""
        entry = self._open_prompts.get(self._focused_prompt)
        if entry is None:
            return False
        positions = entry.translation.positions
        commands = (span.start for span in entry.message.key_spans if not span.key.isdecimal())
        end = min(commands, default=len(entry.message.text))
        return entry.read_count == len(positions) or positions[entry.read_count] >= end

    # -- what comes ------------------------------------------------------------------------

    def show(self, message: Message) -> None:
        """
        Take a message: show it, or let it wait while a prompt is open or the person reads something else.

        A prompt is shown at once, and is the one that keys answer from now on.
        """
        entry = _Entry(message, self._translate(message.text, message.language), cursor=message.cursor)
        if message.prompt:
            self._replace_prompt(message.prompt, entry)
        self._history.append(entry)
        is_over_prompt = self._shown_prompt is not None
        takes_over = message.prompt or message.is_reply or (message.is_urgent and not is_over_prompt)
        if takes_over:
            self._put_aside()
            self._is_held = message.is_persistent or (message.is_reply and self._is_held)
            self._display(entry)
        elif self._shown is not None and (self._is_held or self._open_prompts):
            self._waiting.append(entry)
            del self._waiting[: -self._max_history]  # so that nothing grows without end
        else:
            self._display(entry)

    def show_draft(self, text: str) -> None:
        """Show what the person types, from its end and with the cursor behind it; without any text, go back home."""
        is_shown = self._draft is not None and self._shown is self._draft
        if not text:
            self._draft = None
            if is_shown:
                self.return_home()
            return
        typed = unicodedata.normalize("NFC", text)
        message = Message(text=f"{typed} ", is_reply=True)
        entry = _Entry(message, self._translate(message.text, message.language), cursor=len(typed))
        if not is_shown:
            self._put_aside()
        self._draft = entry
        entry.start = self._wrap(entry)[-1].start
        self._display(entry)

    def _replace_prompt(self, token: str, entry: _Entry) -> None:
        """Put a prompt that is shown again in the place of what it was before; what was read of it stays read."""
        old_entry = self._open_prompts.pop(token, None)
        if old_entry is not None:
            if old_entry.message.text == entry.message.text:
                entry.read_count = old_entry.read_count
            if old_entry in self._history:
                self._history.remove(old_entry)
            if self._shown is old_entry:
                self._shown = None
        self._open_prompts[token] = entry
        self._focused_prompt = token

    def _put_aside(self) -> None:
        """Let what the person was reading, or has to read, wait at the place where they were."""
        entry = self._shown
        if entry is None or entry.message.prompt or entry.message.is_reply:
            return
        if self._is_held or entry.message.is_urgent:
            self._waiting.insert(0, entry)

    def keep_prompts(self, open_tokens: Container[str], current_token: str) -> None:
        """Close the prompts that are not open any more, and let keys answer the one that is current, if it is here."""
        for token in [*self._open_prompts]:
            if token not in open_tokens:
                self.close_prompt(token)
        self._focused_prompt = current_token if current_token in self._open_prompts else ""

    def rename_prompt(self, token: str, new_token: str) -> bool:
        """Go on with a prompt that is asked again under another token, with more time; False if it is not open."""
        entry = self._open_prompts.get(token)
        if entry is None:
            return False
        entry.message = msgspec.structs.replace(entry.message, prompt=new_token)
        self._open_prompts = {open_entry.message.prompt: open_entry for open_entry in self._open_prompts.values()}
        if self._focused_prompt == token:
            self._focused_prompt = new_token
        return True

    def close_prompt(self, token: str) -> None:
        """
        Note that a prompt was answered or is over: it goes to the history, and no key answers it.

        If it is on the display it is left there, for whatever comes next to take its place.
        """
        entry = self._open_prompts.pop(token, None)
        if token == self._focused_prompt:
            self._focused_prompt = ""
        if entry is not None and entry is self._shown:
            self._is_held = False

    def resize(self, width: int) -> None:
        """Go on with a display of another width, at the place where the person was."""
        self._width = width
        if self._shown is not None:
            self._note_read(self._shown)

    # -- what the person does --------------------------------------------------------------

    def pan_right(self) -> bool:
        """
        Go on to the next window, then to what waits, and then back to the prompt or to newer messages.

        At the very end return False; without a prompt, new messages are shown as they come from then on.
        """
        entry = self._shown
        if entry is None:
            return False
        self._is_held = True
        window = self._current_window(entry)
        if window.stop < len(entry.translation.cells):
            self._move_to(entry, window.stop)
            return True
        home = self._home if self._open_prompts else None
        following = home or self._find_neighbour(entry, 1)
        if self._waiting and not (entry.message.is_reply and home is not None):
            following = self._waiting[0]
        if following is not None and following is not entry and following not in self._waiting:
            following.start = 0
        return self._go_on_to(following)

    def pan_left(self) -> bool:
        """Go back to the window before, or to the end of the message before; False if there is none."""
        entry = self._shown
        if entry is None:
            return False
        self._is_held = True
        windows = self._wrap(entry)
        index = windows.index(self._current_window(entry))
        if index > 0:
            self._move_to(entry, windows[index - 1].start)
            return True
        older = self._find_neighbour(entry, -1)
        if older is None:
            return False
        self._move_to(older, self._wrap(older)[-1].start)
        self._display(older)
        return True

    def go_back(self) -> bool:
        """Show the message before, from its beginning; False if there is none."""
        older = self._find_neighbour(self._shown, -1)
        if older is None:
            return False
        self._is_held = True
        older.start = 0
        self._display(older)
        return True

    def go_forward(self) -> bool:
        """Show the message after, from its beginning, or the prompt after the last one; False if there is none."""
        newer = self._find_neighbour(self._shown, 1)
        if newer is None and self._open_prompts:
            newer = self._home
        if newer is not None and newer is not self._shown:
            newer.start = 0
        return self._go_on_to(newer)

    def return_home(self) -> None:
        """Show the open prompt, or without one the newest message, from its beginning."""
        entry = self._home
        if entry is None:
            return
        self._is_held = False
        entry.start = 0
        self._display(entry)

    def press_routing_key(self, cell: int) -> str:
        """
        Return the key that the text below a routing key stands for, or set the cursor there and return nothing.

        Keys count on the prompt that is being answered, and on the newest reply. The routing key of the sign of
        the display shows what waits.
        """
        entry = self._shown
        if entry is None or not 0 <= cell < self._width:
            return ""
        if cell < self._status_width:
            if self._waiting:
                self._is_held = True
                self._display(self._waiting[0])
            return ""
        position = self.find_text_position(cell)
        if position is None:
            return ""
        is_prompt = bool(entry.message.prompt) and entry.message.prompt == self._focused_prompt
        is_newest_reply = entry.message.is_reply and entry is self._history[-1]
        for span in entry.message.key_spans if is_prompt or is_newest_reply else ():
            if span.start <= position < span.end:
                return span.key
        entry.cursor = position
        return ""

    def find_text_position(self, cell: int) -> int | None:
        """Return the position in the shown message of the character at a cell, None where there is no text."""
        if self._shown is None:
            return None
        window = self._current_window(self._shown)
        index = window.start + cell - self._status_width
        if not window.start <= index < window.stop:
            return None
        return self._shown.translation.positions[index]

    # -- inside ----------------------------------------------------------------------------

    @property
    def _status_width(self) -> int:
        return STATUS_WIDTH if self._width >= MIN_WIDTH_FOR_STATUS else 0

    @property
    def _text_width(self) -> int:
        return self._width - self._status_width

    @property
    def _shown_prompt(self) -> _Entry | None:
        """The prompt on the display, if it is open."""
        entry = self._shown
        is_open = entry is not None and self._open_prompts.get(entry.message.prompt) is entry
        return entry if is_open else None

    @property
    def _home(self) -> _Entry | None:
        oldest_prompt = next(iter(self._open_prompts.values()), None)
        newest = self._history[-1] if self._history else None
        return self._open_prompts.get(self._focused_prompt) or oldest_prompt or newest

    def _status_sign(self) -> int:
        sign = BLANK
        if self._shown_prompt is not None:
            sign = PROMPT_SIGN
        elif self._shown is not None and self._shown is not self._history[-1]:
            sign = OLDER_SIGN
        return sign | (WAITING_DOTS if self._waiting else BLANK)

    def _wrap(self, entry: _Entry) -> list[range]:
        width = max(self._text_width, 1)
        if entry.wrapped_width != width:
            entry.windows = find_windows(entry.message.text, entry.translation, width)
            entry.wrapped_width = width
        return entry.windows

    def _current_window(self, entry: _Entry) -> range:
        """Return the window that has the cell which stood first on the display."""
        windows = self._wrap(entry)
        return next((window for window in windows if entry.start < window.stop), windows[-1])

    def _display(self, entry: _Entry) -> None:
        self._shown = entry
        if entry in self._waiting:
            self._waiting.remove(entry)
        self._note_read(entry)

    def _move_to(self, entry: _Entry, start: int) -> None:
        entry.start = start
        self._note_read(entry)

    def _note_read(self, entry: _Entry) -> None:
        window = self._current_window(entry)
        if self._width > 0 and window.start <= entry.read_count:
            entry.read_count = max(entry.read_count, window.stop)

    def _go_on_to(self, entry: _Entry | None) -> bool:
        """Show what the person goes on to; without anything, they have read all there is."""
        self._is_held = entry is not None and entry is not self._shown
        if entry is None or entry is self._shown:
            return False
        self._display(entry)
        return True

    def _find_neighbour(self, entry: _Entry | None, step: int) -> _Entry | None:
        """Return the message before or after one; from one that left the history, the oldest there is."""
        if entry is None or not self._history:
            return None
        history = [*self._history]
        if entry not in history:
            return history[0] if step > 0 else None
        index = history.index(entry) + step
        return history[index] if 0 <= index < len(history) else None

    def _find_cursor(self, entry: _Entry, window: range) -> int | None:
        if entry.cursor is None:
            return None
        shown = range(window.start, min(window.stop, window.start + self._text_width))
        at_or_after = (index for index in shown if entry.translation.positions[index] >= entry.cursor)
        index = next(at_or_after, None)
        if index is None or (index == window.start and entry.translation.positions[index] > entry.cursor):
            return None  # it is in another window
        return index - window.start + self._status_width
