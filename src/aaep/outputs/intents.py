"""The intents that interpreting input results in, for the terminal to perform."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..presentation.announce import Announcement

__all__ = [
    "Accept",
    "Command",
    "Echo",
    "Intent",
    "PrintLine",
    "RefuseAndQuit",
    "Reject",
    "RequestTime",
    "Response",
    "RunCommand",
    "SendAnswer",
    "SendRequest",
]

Command = Literal[
    "more",
    "repeat",
    "next",
    "back",
    "forward",
    "quiet",
    "verbosity",
    "silence",
    "pause",
    "skip",
    "faster",
    "slower",
    "quit",
    "help",
]
Response = str | bool | int | float


class Accept(msgspec.Struct, frozen=True):
    """Accept a prompt."""

    prompt: Announcement


class Reject(msgspec.Struct, frozen=True):
    """Reject a prompt."""

    prompt: Announcement


class RefuseAndQuit(msgspec.Struct, frozen=True):
    """Reject prompts, and quit once that was sent."""

    prompts: tuple[Announcement, ...]


class SendAnswer(msgspec.Struct, frozen=True):
    """Answer a question."""

    prompt: Announcement
    response: Response
    display_text: str


class RequestTime(msgspec.Struct, frozen=True):
    """Ask for this many seconds to answer prompts."""

    prompt: Announcement
    seconds: int


class RunCommand(msgspec.Struct, frozen=True):
    """Run a command that answers no prompt."""

    command: Command


class PrintLine(msgspec.Struct, frozen=True):
    """Print a line. With ``discard_typeahead``, only what is typed after it counts."""

    text: str
    discard_typeahead: bool = False


class Echo(msgspec.Struct, frozen=True):
    """Echo typed text without ending the line."""

    text: str


class SendRequest(msgspec.Struct, frozen=True):
    """Send what a person wants an agent to do next."""

    text: str


Intent = SendRequest | Accept | Reject | RefuseAndQuit | SendAnswer | RequestTime | RunCommand | PrintLine | Echo
