"""
What an output is: something beside the terminal that a person hears or feels announcements with.

An output is told what to present and what to stop, and reports what happened: an utterance ended, a key was
pressed, something about itself that the person has to know. It does not decide what is said when; that is the
announcement queue's part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, runtime_checkable

import msgspec

from ..presentation.queue import Speak

__all__ = [
    "Adjustable",
    "Finished",
    "KeyPressed",
    "Notice",
    "Output",
    "OutputEvent",
    "PromptAnswered",
    "ShowsDrafts",
    "ShowsPrompts",
]


class Finished(msgspec.Struct, frozen=True):
    """The utterance has ended by itself, so that the next may begin."""

    utterance_id: int


class KeyPressed(msgspec.Struct, frozen=True):
    """A key of the output was pressed, named as the keyboard names the one that does the same."""

    key: str


class Notice(msgspec.Struct, frozen=True):
    """A sentence about the output itself: it was lost, is back, or cannot speak a language."""

    text: str


class PromptAnswered(msgspec.Struct, frozen=True):
    """A prompt was decided on, named by its reply token: there is no doubt which one is meant."""

    prompt: str
    decision: Literal["accept", "reject"]


OutputEvent = Finished | KeyPressed | Notice | PromptAnswered


class Output(Protocol):
    """One way to present announcements. ``report`` may be called from any thread."""

    name: str
    is_paced: bool  # whether it reports the end of utterances, which the next one waits for

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Begin, and report everything from now on; raises ``AaepError`` if the output is not there."""

    def present(self, utterance: Speak) -> None:
        """Begin to speak or show an utterance, and return at once."""

    def stop(self, utterance_id: int) -> None:
        """Stop that utterance now, if it is the one being presented."""

    def close(self) -> None:
        """Stop, and give back what was taken."""


@runtime_checkable
class Adjustable(Protocol):
    """What an output that speaks can do beside: pause, and speak faster or slower."""

    def pause(self) -> None:
        """Pause speech where it is."""

    def resume(self) -> None:
        """Go on with speech that was paused."""

    def change_rate(self, steps: int) -> int:
        """Speak faster by this many steps, or slower if it is negative; return the rate in words a minute."""


@runtime_checkable
class ShowsPrompts(Protocol):
    """What an output that keeps a prompt in view has to know beside: until when, and which one keys answer."""

    def update_prompts(self, open_tokens: frozenset[str], current_token: str) -> None:
        """Take note of the prompts that are open, and of the one that keys answer, if there is one."""


@runtime_checkable
class ShowsDrafts(Protocol):
    """What an output can do that people type on: show what was typed."""

    def show_draft(self, text: str) -> None:
        """Show the answer as typed so far; an empty text says that none is being typed any more."""
