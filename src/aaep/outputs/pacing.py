"""
Presenting utterances on several outputs at once, and knowing when the one in hand has ended.

An output that is paced reports the end of an utterance. One that never does, because its server hangs or
a message was lost on the way, must not silence the reader: after a time in which even a slow voice has spoken the
text, it counts as ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ..presentation.pace import estimate_seconds
from ..presentation.queue import Speak
from .base import Adjustable, Output, ShowsDrafts, ShowsPrompts

__all__ = ["Pacer"]

SLOWEST_PACE: Final = 70  # words a minute, slower than the slowest rate of common voices
OVERDUE_MARGIN: Final = 4.0  # seconds for a server to begin, and for short texts


class Pacer:
    """Presents one utterance at a time on all outputs, and tells when the next may begin."""

    def __init__(self, outputs: Sequence[Output]) -> None:
        self.outputs = [*outputs]
        self.is_paused = False  # by the listener
        self._utterance: Speak | None = None
        self._unfinished: set[int] = set()  # the indexes of the paced outputs that it has not ended on
        self._deadline = math.inf
        self._prompts: tuple[frozenset[str], str] = (frozenset(), "")  # as the outputs know them
        self._draft = ""

    @property
    def has_paced(self) -> bool:
        """Whether utterances last, because there is an output that reports their end."""
        return any(output.is_paced for output in self.outputs)

    @property
    def adjustable(self) -> list[Adjustable]:
        """The outputs whose speech can be paused and made faster."""
        return [output for output in self.outputs if isinstance(output, Adjustable)]

    @property
    def utterance(self) -> Speak | None:
        """The utterance that has not ended yet."""
        return self._utterance

    def present(self, utterance: Speak, now: float) -> None:
        """Begin an utterance on every output; a pause is over, since only what is urgent begins within one."""
        if self.is_paused:
            self.resume(now)
        self._unfinished = {index for index, output in enumerate(self.outputs) if output.is_paced}
        self._utterance = utterance if self._unfinished else None
        self._deadline = now + estimate_seconds(utterance.text, SLOWEST_PACE) + OVERDUE_MARGIN
        for output in self.outputs:
            output.present(utterance)

    def update_prompts(self, open_tokens: frozenset[str], current_token: str) -> None:
        """Tell the outputs that show prompts which are open and which one keys answer, if that has changed."""
        if self._prompts == (open_tokens, current_token):
            return
        self._prompts = (open_tokens, current_token)
        for output in self.outputs:
            if isinstance(output, ShowsPrompts):
                output.update_prompts(open_tokens, current_token)

    def update_draft(self, text: str) -> None:
        """Tell the outputs that show typed text what was typed so far, if that has changed."""
        if self._draft == text:
            return
        self._draft = text
        for output in self.outputs:
            if isinstance(output, ShowsDrafts):
                output.show_draft(text)

    def stop(self, utterance_id: int) -> Speak | None:
        """Stop an utterance on every output, and return it if it had not ended."""
        for output in self.outputs:
            output.stop(utterance_id)
        if self._utterance is None or self._utterance.utterance_id != utterance_id:
            return None
        return self._take()

    def finish(self, output: Output, utterance_id: int) -> Speak | None:
        """Note that an utterance has ended on an output; return it if that was the last one it had not ended on."""
        if self._utterance is None or self._utterance.utterance_id != utterance_id or output not in self.outputs:
            return None
        self._unfinished.discard(self.outputs.index(output))
        return None if self._unfinished else self._take()

    def take_overdue(self, now: float) -> Speak | None:
        """Return the utterance whose end was never reported, though even a slow voice has spoken it by now."""
        return self._take() if not self.is_paused and self._utterance is not None and now >= self._deadline else None

    def next_deadline(self) -> float | None:
        """Return when to call :meth:`take_overdue`, None while there is nothing to wait for."""
        return None if self._utterance is None or self.is_paused else self._deadline

    def pause(self) -> None:
        """Pause speech where it is."""
        self.is_paused = True
        for output in self.adjustable:
            output.pause()

    def resume(self, now: float) -> None:
        """Go on with speech that was paused."""
        self.is_paused = False
        if self._utterance is not None:  # how much of it is left is not known
            self._deadline = now + estimate_seconds(self._utterance.text, SLOWEST_PACE) + OVERDUE_MARGIN
        for output in self.adjustable:
            output.resume()

    def remove(self, output: Output) -> None:
        """Go on without an output."""
        self.outputs.remove(output)

    def close(self) -> None:
        """Close all outputs."""
        for output in self.outputs:
            output.close()

    def _take(self) -> Speak | None:
        utterance = self._utterance
        self._utterance = None
        self._unfinished = set()
        return utterance
