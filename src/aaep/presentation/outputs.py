"""
The text of outputs as a listener hears it: collected from chunks, announced sentence by sentence.

Nothing of an output is cut or left out, however it was written. Text waits until
it has come to a boundary (OUT-007, C-46), or until nothing more has come for a
moment after the end of a sentence.

No word is announced in two pieces. Where something cannot wait for the rest of a word,
the text is announced as far as it goes, as its last word may well be whole; if it was
not, the rest is announced with the beginning of its word.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from ..protocol.events import OutputStreaming, output_language
from ..protocol.fields import get_member
from ..text.imitation import imitates_any
from ..text.markdown import Passage, PassageReader
from ..text.phrases import Phrases
from ..text.sentences import find_boundary
from ..text.words import ends_in_number, find_last_run, find_word_end, find_word_start, may_word_go_on
from .announce import SPEAKABLE_BOUNDARIES, Announcement, announce
from .preferences import DEFAULT_PREFERENCES, Preferences, find_agent_name

__all__ = ["Outputs"]

PAUSE: Final = 0.3  # seconds without more text after which a sentence that seems finished is announced
_MAX_PENDING_LENGTH: Final = 16_384  # characters; longer text is announced without a boundary
_WORD_BOUNDARIES: Final = ("word", *SPEAKABLE_BOUNDARIES)  # OUT-008: the hint says that no word goes on
_Markup = Literal["markdown", "auto", "none"]
_MARKUP: Final[dict[str | None, _Markup]] = {
    None: "auto",
    "text/plain": "auto",
    "text/markdown": "markdown",
}


class _OutputText:
    """The text of one output that was not announced yet."""

    def __init__(self, event: OutputStreaming, phrases: Phrases, *, reads_markdown: bool) -> None:
        self.event = event  # the last chunk
        self.held = ""  # chunks that are not at a boundary
        self.position = event.position
        self.changed_at = 0.0
        self.was_paused = False  # what seemed finished was announced, as far as it could be
        self.last_run = ""  # the end of all text that came, back to its last white space
        self.is_word_over = True  # no more letters belong to the last word
        self.is_awaited = False  # something waits for the end of the last word
        self.begun = ""  # what was announced of a word of which it is not known yet whether it goes on
        content_type = get_member(event, "content_type")
        kind = content_type.partition(";")[0].strip().lower() if isinstance(content_type, str) else None
        markup: _Markup = _MARKUP.get(kind, "none") if reads_markdown else "none"
        self.reader = PassageReader(output_language(event), markup, phrases)

    @property
    def is_waiting(self) -> bool:
        """Whether there is text that was not announced."""
        return bool(self.held) or self.reader.has_unspoken

    @property
    def is_within_word(self) -> bool:
        """Whether there is text that was not announced, and that may end within a word."""
        return not self.is_word_over and may_word_go_on(self.last_run) and self.is_waiting

    def append(self, event: OutputStreaming) -> None:
        """Add a chunk, and before it the beginning of its first word if only that was announced."""
        is_at_boundary = get_member(event, "coalesce_hint") in _WORD_BOUNDARIES and not ends_in_number(event.chunk)
        is_over = event.complete or is_at_boundary
        if not self.is_word_over and event.chunk and not self.is_waiting and not self.reader.ends_in_code:
            self.begun = self.last_run
        self.event = event
        self.held += event.chunk
        self.last_run = find_last_run(self.last_run + event.chunk)
        if event.chunk or is_over:
            self.is_word_over = is_over or not self.last_run
        if self.begun:
            place = len(self.begun)
            start = find_word_start(self.begun + self.held, place)
            # A mark alone does not tell yet: "3" and "." may become "3.5".
            if is_over or start < place or find_word_end(self.begun + self.held, place) is not None:
                self.held = self.begun[start:] + self.held
                self.position -= place - start
                self.begun = ""


class Outputs:
    """Collects the chunks of outputs and announces their text sentence by sentence (OUT-007, C-46)."""

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES) -> None:
        self.preferences = preferences
        self._texts: dict[tuple[str, str, str], _OutputText] = {}

    def add(self, event: OutputStreaming, now: float) -> list[Announcement]:
        """Add a chunk, and return the announcements of what is complete with it."""
        key = _find_key(event)
        text = self._texts.get(key)
        earlier: list[Announcement] = []
        if text is None:
            # What was written before another output began is heard before it, except within a word (OUT-007).
            others = [each for other, each in self._texts.items() if other[0] == key[0] and not each.held]
            earlier = [each for other in others if not other.is_within_word for each in self._read(other, "all")]
            text = self._texts[key] = _OutputText(
                event, self.preferences.phrases, reads_markdown=self.preferences.markdown
            )
        text.append(event)
        text.changed_at = now
        text.was_paused = False
        hint = get_member(event, "coalesce_hint")
        if event.complete:
            del self._texts[key]
        if event.complete:
            return earlier + self._read(text, "all")
        if len(text.held) > _MAX_PENDING_LENGTH:
            return earlier + self._read(text, "all", find_boundary(text.held, "word") or len(text.held))
        if hint == "none" or text.begun:
            return earlier
        return earlier + self._read(text, "boundary" if hint in SPEAKABLE_BOUNDARIES else "sentences")

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Return announcements of all text that waits, of one session or of all, without waiting for a boundary."""
        return [
            announcement
            for key, text in self._texts.items()
            if session_id in ("", key[0]) and text.is_waiting
            for announcement in self._read(text, "all")
        ]

    def is_waiting(self, session_id: str) -> bool:
        """Whether text of a session waits to be announced."""
        return any(text.is_waiting for key, text in self._texts.items() if key[0] == session_id)

    def await_words(self, session_id: str) -> bool:
        """Note that something waits for the ends of words; return whether text that waits may end within one."""
        texts = [text for key, text in self._texts.items() if key[0] == session_id and text.is_within_word]
        for text in texts:
            text.is_awaited = True
        return bool(texts)

    def is_awaited(self, session_id: str) -> bool:
        """Whether the end of a word of a session is awaited and has not come."""
        return any(text.is_awaited for key, text in self._texts.items() if key[0] == session_id)

    def finish_word(self, event: OutputStreaming, now: float) -> OutputStreaming | None:
        """Add what a chunk has of a word whose end is awaited; return the rest, None if the word may go on."""
        text = self._texts.get(_find_key(event))
        if text is None or not text.is_awaited:
            return event
        place = len(text.last_run)
        end = find_word_end(text.last_run + event.chunk, place, final=event.complete)
        size = len(event.chunk) if end is None else end - place
        text.append(msgspec.structs.replace(event, chunk=event.chunk[:size], coalesce_hint="none", complete=False))
        text.changed_at = now
        if end is None:
            return None
        text.is_word_over = True
        text.is_awaited = False
        return msgspec.structs.replace(event, chunk=event.chunk[size:], position=event.position + size)

    def end_session(self, session_id: str) -> None:
        """Forget the outputs of a session, which nothing follows."""
        self._texts = {key: text for key, text in self._texts.items() if key[0] != session_id}

    def advance(self, now: float) -> list[Announcement]:
        """Return the announcements of sentences that seem finished, after a pause."""
        announcements: list[Announcement] = []
        for text in self._texts.values():
            if text.changed_at + PAUSE <= now and self._is_paused(text):
                text.was_paused = True  # once: markdown may need more text before it can be announced
                announcements += self._read(text, "boundary")
        return announcements

    def next_deadline(self) -> float | None:
        """Return when to call :meth:`advance` next, None while there is nothing to wait for."""
        return min((text.changed_at + PAUSE for text in self._texts.values() if self._is_paused(text)), default=None)

    @staticmethod
    def _is_paused(text: _OutputText) -> bool:
        # OUT-007: a chunk hinted none waits for a better one, however long that takes.
        return not text.was_paused and not text.held and text.reader.is_finished

    def _read(
        self, text: _OutputText, extent: Literal["sentences", "boundary", "all"], size: int | None = None
    ) -> list[Announcement]:
        """Return the announcements of what waits, or of the first ``size`` characters of what was not read yet."""
        text.begun = ""
        text.is_awaited = False
        chunk = text.held[:size]
        text.held = text.held[len(chunk) :]
        announcements = (self._announce(text, passage) for passage in text.reader.read(chunk, extent))
        return [announcement for announcement in announcements if announcement is not None]

    def _announce(self, text: _OutputText, passage: Passage) -> Announcement | None:
        event = msgspec.structs.replace(
            text.event, chunk=passage.text, position=text.position, coalesce_hint="sentence", complete=False
        )
        announcement = announce(event, self.preferences)
        if announcement is None:
            return None
        text.position += len(passage.source)
        detail = passage.detail or announcement.text
        phrases = self.preferences.phrases
        if passage.detail and imitates_any(detail, phrases):
            detail = f"{phrases.format('says-quoted', agent=find_agent_name(event, phrases))} {detail}"
        return msgspec.structs.replace(
            announcement, event=msgspec.structs.replace(event, chunk=passage.source), detail=detail
        )


def _find_key(event: OutputStreaming) -> tuple[str, str, str]:
    """Return what tells an output from all others. C-47"""
    return (event.session_id, event.producer.agent_id, get_member(event, "output_id") or "")
