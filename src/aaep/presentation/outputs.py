"""
The text of outputs as a listener hears it: collected from chunks and announced in whole sentences (OUT-007, C-46).
"""

from __future__ import annotations

import msgspec

from ..protocol.events import OutputStreaming, output_language
from ..protocol.fields import get_member
from ..text.sentences import find_boundary
from .announce import SPEAKABLE_BOUNDARIES, Announcement, announce
from .preferences import DEFAULT_PREFERENCES, Preferences

__all__ = ["Outputs"]


class Outputs:
    """Collects the chunks of outputs and announces them at boundaries only (OUT-007, C-46)."""

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES, max_length: int = 16_384) -> None:
        self.preferences = preferences
        self.max_length = max_length  # characters; longer text is announced without a boundary
        self._pending: dict[tuple[str, str, str], tuple[OutputStreaming, str, int]] = {}

    def add(self, event: OutputStreaming) -> list[Announcement]:
        """Add a chunk, and return the announcements of what is complete with it."""
        key = (event.session_id, event.producer.agent_id, get_member(event, "output_id") or "")  # C-47
        _, text, start = self._pending.pop(key, (event, "", event.position))
        text += event.chunk
        hint = get_member(event, "coalesce_hint")
        if event.complete or hint in SPEAKABLE_BOUNDARIES or len(text) > self.max_length:
            return self._announce_text(event, text, start)
        size = 0 if hint == "none" else find_boundary(text, "sentence", language=output_language(event))
        if size < len(text):
            self._pending[key] = (event, text[size:], start + size)
        return self._announce_text(event, text[:size], start)

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Return announcements of all pending text, of one session or of all, without waiting for a boundary."""
        keys = [key for key in self._pending if session_id in ("", key[0])]
        pending = [self._pending.pop(key) for key in keys]
        return [
            announcement for event, text, start in pending for announcement in self._announce_text(event, text, start)
        ]

    def _announce_text(self, event: OutputStreaming, text: str, start: int) -> list[Announcement]:
        merged_event = msgspec.structs.replace(event, chunk=text, position=start, coalesce_hint="sentence")
        announcement = announce(merged_event, self.preferences)
        return [] if announcement is None else [announcement]
