"""
The text of outputs as a listener hears it: collected from chunks, announced sentence by sentence.

Nothing of an output is cut or left out, however it was written. Text waits until
it has come to a boundary (OUT-007, C-46), or until nothing more has come for a
moment after the end of a sentence.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from ..protocol.events import OutputStreaming, output_language
from ..protocol.fields import get_member
from ..text.imitation import imitates_any
from ..text.markdown import Passage, PassageReader
from ..text.phrases import Phrases
from .announce import SPEAKABLE_BOUNDARIES, Announcement, announce
from .preferences import DEFAULT_PREFERENCES, Preferences, find_agent_name

__all__ = ["Outputs"]

PAUSE: Final = 0.3  # seconds without more text after which a sentence that seems finished is announced
_MAX_PENDING_LENGTH: Final = 16_384  # characters; longer text is announced without a boundary
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
        content_type = get_member(event, "content_type")
        kind = content_type.partition(";")[0].strip().lower() if isinstance(content_type, str) else None
        markup: _Markup = _MARKUP.get(kind, "none") if reads_markdown else "none"
        self.reader = PassageReader(output_language(event), markup, phrases)

    @property
    def is_waiting(self) -> bool:
        """Whether there is text that was not announced."""
        return bool(self.held) or self.reader.has_unspoken


class Outputs:
    """Collects the chunks of outputs and announces their text sentence by sentence (OUT-007, C-46)."""

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES) -> None:
        self.preferences = preferences
        self._texts: dict[tuple[str, str, str], _OutputText] = {}

    def add(self, event: OutputStreaming, now: float) -> list[Announcement]:
        """Add a chunk, and return the announcements of what is complete with it."""
        key = (event.session_id, event.producer.agent_id, get_member(event, "output_id") or "")  # C-47
        text = self._texts.get(key)
        earlier: list[Announcement] = []
        if text is None:
            # What was written before another output began is heard before it, except within a word (OUT-007).
            others = [other for other, each in self._texts.items() if other[0] == key[0] and not each.held]
            earlier = [each for other in others for each in self._read(self._texts[other], "all")]
            text = self._texts[key] = _OutputText(
                event, self.preferences.phrases, reads_markdown=self.preferences.markdown
            )
        text.event = event
        text.held += event.chunk
        text.changed_at = now
        text.was_paused = False
        hint = get_member(event, "coalesce_hint")
        if event.complete:
            del self._texts[key]
        if event.complete or len(text.held) > _MAX_PENDING_LENGTH:
            return earlier + self._read(text, "all")
        if hint == "none":
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

    def _read(self, text: _OutputText, extent: Literal["sentences", "boundary", "all"]) -> list[Announcement]:
        chunk = text.held
        text.held = ""
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
