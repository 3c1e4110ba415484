"""What was asked for in a session and was not done, or may have been: the end of the session tells it."""

from __future__ import annotations

from typing import Literal

from ..text.phrases import Phrases
from ..text.summaries import Summaries, summarize_unfinished

__all__ = ["Unfinished"]


class Unfinished:
    """The actions of one session that were not done, failed, or may have happened. Under the emitter's lock."""

    def __init__(self) -> None:
        self._actions: dict[str, tuple[str, str]] = {}  # label and outcome, by all that is known of the action

    def __bool__(self) -> bool:
        return bool(self._actions)

    def note(self, action: str, label: str, outcome: Literal["may_have_happened", "failed", "not_done"]) -> None:
        """Remember an action. What may have happened stays so, even if trying again was refused."""
        _, known_outcome = self._actions.get(action, ("", ""))
        if known_outcome != "may_have_happened":
            self._actions[action] = (label, outcome)

    def forget(self, action: str) -> None:
        """Forget an action, because it was done after all."""
        self._actions.pop(action, None)

    def summarize(self, result: Summaries | None, usual: Summaries, phrases: Phrases) -> Summaries:
        """Summarize the end of the session; ``result`` is the author's own summary, ``usual`` that of a good end."""
        return summarize_unfinished([*self._actions.values()], result, usual, phrases)
