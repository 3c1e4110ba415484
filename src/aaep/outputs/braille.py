"""
A braille display beside the terminal, by BRLTTY and liblouis.

Announcements are shown as :mod:`aaep.presentation.braille` decides, and the keys of the display move through them
or answer a prompt. A thread of its own waits for the display, so that nothing here keeps the reader waiting. When
BRLTTY is stopped, what was on the display is kept, and is there again when BRLTTY is back.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from ..presentation.braille import BrailleView, KeySpan, Message, Window, clean_text, compose_message, compose_reply
from ..presentation.earcons import Earcon
from ..presentation.preferences import DEFAULT_KEYS
from ..presentation.queue import Speak
from ..text.phrases import ENGLISH, Phrases
from .base import KeyPressed, Notice, OutputEvent
from .brlapi import BrlapiConnection, BrlttyUnavailable, KeyCode, Resized, find_tty_path
from .liblouis import BrailleTranslator

__all__ = ["BrailleOutput"]

WRITE_INTERVAL: Final = 0.05  # seconds between two windows; of those in between only the newest is shown
RETRY_INTERVAL: Final = 1.0  # seconds between two attempts to find BRLTTY again
CLOSE_TIMEOUT: Final = 2.0  # seconds
MAX_PROMPTS: Final = 100  # that are remembered

ENTER: Final = "\n"
ESCAPE: Final = "\x1b"

# Commands of BRLTTY, which the keys of each display are bound to.
_COMMANDS: Final = 0x20000000
_ROUTE: Final = _COMMANDS | 0x10000
_MAX_CELL: Final = 0xFFFF
_MOVES: Final[Mapping[int, str]] = {
    _COMMANDS | 1: "up",  # LNUP
    _COMMANDS | 2: "down",  # LNDN
    _COMMANDS | 23: "left",  # FWINLT
    _COMMANDS | 24: "right",  # FWINRT
    _COMMANDS | 25: "left",  # FWINLTSKIP
    _COMMANDS | 26: "right",  # FWINRTSKIP
    _COMMANDS | 29: "home",  # HOME
}
_KEYS: Final[Mapping[int, str]] = {
    _COMMANDS | 31: ENTER,  # RETURN
    _COMMANDS | 49: "?",  # HELP
    0xFF0D: ENTER,
    0xFF1B: ESCAPE,
    0xFF08: "\x7f",
}
_LATIN_1: Final = (0x20, 0xFF)
_UNICODE: Final = (0x01000000, 0x0110FFFF)  # the code point with a bit added
_KEY_RANGES: Final = (
    *((code, code) for code in (*_MOVES, *_KEYS)),
    (_ROUTE, _ROUTE | _MAX_CELL),
    _LATIN_1,
    _UNICODE,
)


def _read_key(code: int) -> str:
    """Return the key of the keyboard that a key of the display stands for, empty if there is none."""
    code &= 0xFFFFFFFF  # without flags, for instance that it is held down
    if _LATIN_1[0] <= code <= _LATIN_1[1]:
        return chr(code)
    if _UNICODE[0] <= code <= _UNICODE[1]:
        return chr(code - _UNICODE[0])
    return _KEYS.get(code, "")


class BrailleOutput:
    """
    A braille display that BRLTTY drives.

    ``table`` is the name of a liblouis table for all text, and ``language`` the one of texts that do not say theirs.
    What the output says of itself is said in ``phrases``.
    ``host`` and ``key_file`` say where BRLTTY is and how to get in, as ``BRLAPI_HOST`` and ``BRLAPI_AUTH`` do.
    """

    name = "braille"
    is_paced = False  # nobody is waited for who reads

    def __init__(
        self,
        *,
        table: str = "",
        contracted: bool = True,
        language: str = "en",
        phrases: Phrases = ENGLISH,
        unshown: Collection[Earcon] = (),
        host: str | None = None,
        key_file: str | None = None,
        retry_interval: float = RETRY_INTERVAL,
        clock: Callable[[], float] = time.monotonic,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._phrases = phrases
        self._unshown = unshown  # kinds of announcement that are shown only on request, but for prompts
        self._translator_options = {"table": table, "contracted": contracted, "language": language}
        self._host = environment.get("BRLAPI_HOST", "") if host is None else host
        authorization = environment.get("BRLAPI_AUTH", "") if key_file is None else key_file
        self._key_file = authorization.removeprefix("keyfile:").replace("none", "")
        self._tty_path = find_tty_path(environment)
        self._retry_interval = retry_interval
        self._clock = clock
        self._report: Callable[[OutputEvent], None] = lambda event: None
        self._inbox: deque[Callable[[], None]] = deque()
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self._connection: BrlapiConnection | None = None
        self._written: Window | None = None
        self._write_at = 0.0  # when the next window may be written
        self._retry_at = 0.0
        self._prompts: dict[str, Message] = {}  # as they were shown, to show one again that goes on
        self._open_tokens: frozenset[str] = frozenset()
        self._has_chosen = False  # a choice was typed, and waits for Enter

    # -- the output ------------------------------------------------------------------------

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Take the display; raises ``LiblouisUnavailable`` or ``BrlttyUnavailable`` where there is none."""
        self._report = report
        translator = BrailleTranslator(
            **self._translator_options,  # type: ignore[arg-type]  # they are those of its parameters
            phrases=self._phrases,
            notify=lambda text: report(Notice(text)),
        )
        self._connection = self._connect()
        self._view = BrailleView(translator, self._connection.width)
        self._wakeup_receiver, self._wakeup_sender = socket.socketpair()
        self._wakeup_receiver.setblocking(False)
        self._wakeup_sender.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="aaep-braille", daemon=True)
        self._thread.start()

    def present(self, utterance: Speak) -> None:
        """Show an utterance, or let it wait for what is there, and return at once."""
        is_asked_for = utterance.is_requested or bool(utterance.announcement.prompt)  # SEC-009: a prompt always is
        if is_asked_for or utterance.earcon not in self._unshown:
            self._call_soon(lambda: self._present(utterance))

    def stop(self, utterance_id: int) -> None:
        """Leave an utterance where it is: what is not spoken any more can still be read."""

    def update_prompts(self, open_tokens: frozenset[str], current_token: str) -> None:
        """Take note of the prompts that are open, and of the one that keys answer."""
        self._call_soon(lambda: self._update_prompts(open_tokens, current_token))

    def show_draft(self, text: str) -> None:
        """Show the answer as typed so far, on this display or on the keyboard."""
        self._call_soon(lambda: self._show_draft(text))

    def close(self) -> None:
        """Give the display back."""
        if self._thread is None:
            return
        self._is_closing = True
        self._call_soon(lambda: None)
        self._thread.join(CLOSE_TIMEOUT)
        self._thread = None

    def _call_soon(self, callback: Callable[[], None]) -> None:
        """Have something done by the thread of the display, in order."""
        self._inbox.append(callback)
        with suppress(OSError):  # full: it is awake anyway; closed: it has ended
            self._wakeup_sender.send(b"\0")

    # -- the thread of the display ---------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._is_closing:
                self._run_once()
            self._write()
        finally:
            if self._connection is not None:
                self._connection.close()
            self._wakeup_receiver.close()
            self._wakeup_sender.close()

    def _run_once(self) -> None:
        """Wait for something to show, a key, or the time to write or to look for BRLTTY again."""
        descriptors = [self._wakeup_receiver.fileno()]
        if self._connection is not None:
            descriptors.append(self._connection.fileno())
        ready = select.select(descriptors, [], [], self._select_timeout())[0]
        with suppress(BlockingIOError):
            self._wakeup_receiver.recv(4096)
        while self._inbox:
            self._inbox.popleft()()
        if self._connection is not None and self._connection.fileno() in ready:
            self._read()
        elif self._connection is None and self._clock() >= self._retry_at:
            self._reconnect()
        if self._clock() >= self._write_at:
            self._write()

    def _select_timeout(self) -> float | None:
        now = self._clock()
        if self._connection is None:
            return max(0.0, self._retry_at - now)
        return max(0.0, self._write_at - now) if self._view.window != self._written else None

    def _connect(self) -> BrlapiConnection:
        return BrlapiConnection(
            host=self._host,
            key_file=self._key_file,
            tty_path=self._tty_path,
            key_ranges=_KEY_RANGES,
            phrases=self._phrases,
        )

    def _reconnect(self) -> None:
        try:
            self._connection = self._connect()
        except BrlttyUnavailable:
            self._retry_at = self._clock() + self._retry_interval
            return
        self._view.resize(self._connection.width)
        self._written = None
        self._report(Notice(self._phrases["braille-back"]))

    def _lose(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._retry_at = self._clock() + self._retry_interval
        self._report(Notice(self._phrases["braille-lost"]))

    def _write(self) -> None:
        window = self._view.window
        if self._connection is None or window == self._written:
            return
        try:
            self._connection.write(window.cells, window.cursor)
        except BrlttyUnavailable:
            self._lose()
            return
        self._written = window
        self._write_at = self._clock() + WRITE_INTERVAL

    def _read(self) -> None:
        if self._connection is None:
            return
        try:
            events = self._connection.read()
        except BrlttyUnavailable:
            self._lose()
            return
        for event in events:
            if isinstance(event, Resized):
                self._view.resize(event.width)
                self._written = None
            else:
                self._press(event)

    # -- what is shown ---------------------------------------------------------------------

    def _present(self, utterance: Speak) -> None:
        announcement = utterance.announcement
        is_outcome = bool(announcement.prompt) and not announcement.asks
        if is_outcome:
            self._view.close_prompt(announcement.prompt)
        elif announcement.replaces:
            self._continue_prompt(announcement.replaces, announcement.prompt)
        # Only in full: a countdown is not the prompt, and neither is one that is said again after it was closed.
        is_open = announcement.asks and announcement.prompt in self._open_tokens and not announcement.replaces
        is_full_prompt = is_open and utterance.text.endswith(announcement.text)
        if utterance.is_answer and not is_full_prompt:
            self._view.show(compose_reply(utterance.text, announcement.own_language))
            return
        message = compose_message(utterance.text, announcement, is_full_prompt=is_full_prompt, is_outcome=is_outcome)
        if message.prompt:
            self._remember_prompt(message)
        self._view.show(message)

    def _show_draft(self, text: str) -> None:
        if not self._has_chosen:  # else it is shown as a choice, with how to send it
            self._view.show_draft(text)

    def _update_prompts(self, open_tokens: frozenset[str], current_token: str) -> None:
        self._open_tokens = open_tokens
        self._view.keep_prompts(open_tokens, current_token)

    def _continue_prompt(self, token: str, new_token: str) -> None:
        """Go on with a prompt that was asked again with more time, though its old token may be closed already."""
        message = self._prompts.pop(token, None)
        if message is None:
            return
        message = msgspec.structs.replace(message, prompt=new_token)
        self._remember_prompt(message)
        if not self._view.rename_prompt(token, new_token) and new_token in self._open_tokens:
            self._view.show(message)

    def _remember_prompt(self, message: Message) -> None:
        self._prompts[message.prompt] = message
        while len(self._prompts) > MAX_PROMPTS:
            del self._prompts[next(iter(self._prompts))]

    # -- keys ------------------------------------------------------------------------------

    def _press(self, event: KeyCode) -> None:
        code = event.code & 0xFFFFFFFF
        moves: Mapping[str, Callable[[], object]] = {
            "up": self._view.go_back,
            "down": self._view.go_forward,
            "left": self._view.pan_left,
            "right": self._view.pan_right,
            "home": self._view.return_home,
        }
        if code in _MOVES:
            moves[_MOVES[code]]()
        elif _ROUTE <= code <= _ROUTE | _MAX_CELL:
            self._press_routing_key(code - _ROUTE)
        elif key := _read_key(code):
            self._has_chosen = False
            self._report_key(key)

    def _press_routing_key(self, cell: int) -> None:
        key = self._view.press_routing_key(cell)
        if not key:
            return
        if not key.isdecimal():
            self._has_chosen = False
            self._report_key(key)
            return
        if self._has_chosen:  # something else than before
            self._report_key(ESCAPE)
        self._has_chosen = True
        self._report_key(key)
        text = clean_text(self._phrases.format("braille-choice", choice=key))
        self._show_reply(text, KeySpan(0, len(text), ENTER))

    def _report_key(self, key: str) -> None:
        """Report a key, except for a yes to what was not read to its end (C-22)."""
        prompt = self._prompts.get(self._view.focused_prompt)
        is_yes = key.lower() in (DEFAULT_KEYS["accept"], "y")
        offers_it = prompt is not None and any(span.key == key.lower() for span in prompt.key_spans)
        if is_yes and offers_it and not self._view.is_prompt_read:
            self._show_reply(self._phrases["braille-read_on"])
            return
        self._report(KeyPressed(key))

    def _show_reply(self, text: str, *key_spans: KeySpan) -> None:
        """Show what the output itself says to a key."""
        self._view.show(Message(text=text, language=self._phrases.language, is_reply=True, key_spans=key_spans))
