"""What is to be heard of text that is written in pieces, with events anywhere among them."""

from __future__ import annotations

from collections.abc import Iterable

from aaep.presentation.announce import Announcement
from aaep.protocol.events import AwaitingClarification, AwaitingConfirmation, OutputStreaming, ToolInvoked

MARKS = ".,!'"


def find_pieces(announcements: Iterable[Announcement]) -> list[str]:
    """The words of the text, "act" for each call of a tool, and "ask" for each question."""
    pieces: list[str] = []
    for announcement in announcements:
        if isinstance(announcement.event, OutputStreaming):
            pieces += filter(None, (word.rstrip(MARKS) for word in announcement.event.chunk.split()))
        elif isinstance(announcement.event, ToolInvoked):
            pieces.append("act")
        elif isinstance(announcement.event, (AwaitingConfirmation, AwaitingClarification)):
            pieces.append("ask")
    return pieces


def predict(steps: list[tuple[str, str]]) -> list[str]:
    """What is to be heard: each word once and whole; before a question also the beginning of one, if it is in it."""
    expected: list[str] = []
    waiting: list[str] = []
    word = ""  # as far as it has come
    heard = ""  # of it

    def say_word() -> None:
        nonlocal heard, waiting
        if word.rstrip(MARKS) not in ("", heard.rstrip(MARKS)):
            expected.append(word.rstrip(MARKS))
        expected.extend(waiting)
        waiting = []
        heard = word

    for kind, value in steps:
        if kind == "write":
            for character in value:
                if character.isspace():
                    say_word()
                    word = heard = ""
                else:
                    word += character
        elif value in ("ask", "question"):
            waiting.append("ask")
            say_word()
        elif value not in ("state", "progress"):  # which wait for the sentence
            waiting.append(value)
            is_in_number = word[-2:-1].isdigit() and word[-1] in ".,"
            is_over = word.endswith((".", ",", "!")) and not is_in_number
            if len(waiting) == 1 and (word == heard or is_over):
                say_word()
    say_word()
    return [piece for piece in expected if piece not in ("completed", "other")]
