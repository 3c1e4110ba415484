"""What a person at a terminal means, and what the terminal is to do about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..presentation.announce import Announcement
from .answers import Response

__all__ = ["Accept", "Answer", "Command", "Do", "Echo", "Intent", "Reject", "Tell", "Time"]

Command = Literal["more", "repeat", "next", "verbosity", "quit", "help"]


class Accept(msgspec.Struct, frozen=True):
    """The person accepts this prompt."""

    prompt: Announcement


class Reject(msgspec.Struct, frozen=True):
    """The person refuses this prompt."""

    prompt: Announcement


class Answer(msgspec.Struct, frozen=True):
    """The person answers this question."""

    prompt: Announcement
    response: Response
    said: str


class Time(msgspec.Struct, frozen=True):
    """The person wants this many seconds for prompts like this one."""

    prompt: Announcement
    seconds: int


class Do(msgspec.Struct, frozen=True):
    """Something that answers nothing."""

    what: Command


class Tell(msgspec.Struct, frozen=True):
    """Print a line. ``fresh``: only what is typed after it counts."""

    text: str
    fresh: bool = False


class Echo(msgspec.Struct, frozen=True):
    """Print what was typed, as it is typed."""

    text: str


Intent = Accept | Reject | Answer | Time | Do | Tell | Echo
