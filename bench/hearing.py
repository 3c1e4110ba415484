"""
What a person hears of a long answer: words lost, words repeated, silence, announcements, and the length of prompts.

A model's answer of 2,000 words in markdown (``answer.md``) is streamed at 50
tokens a second. After every hundred tokens a tool is called, between two words and mostly in the
middle of a sentence, and every fourth time a question is asked first. Time is
simulated: a clock moves by 20 milliseconds with each token, and 2 seconds pass
while a tool runs, so the figures are the same in every run.

Words are those of the answer that are meant to be heard: code and the addresses
of links are told on request.

Before output was announced sentence by sentence and markdown by its meaning, this
printed: words lost 170, repeated or invented 486, longest silence 0.9 seconds,
announcements a minute 125, longest announcement 40 words, prompts 23 and 23 words.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aaep.producer.producer import Producer, Runtime
from aaep.producer.session import Session
from aaep.protocol.events import AwaitingConfirmation, OutputStreaming
from aaep.testing import Listener

TOKENS_PER_SECOND = 50
TOKENS_PER_TOOL = 100
TOOL_SECONDS = 2.0
READING_SECONDS = 3.0  # that a person takes to answer

MAX_LOST = 0  # words
MAX_REPEATED = 0  # words
MAX_SILENCE = 2.0  # seconds with text there and nothing heard
MAX_FIRST_PROMPT = 35  # words beside action and consequence
MAX_LATER_PROMPT = 15

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\s*\S{1,6}|\s+")
# What an announcement says beside the words of the answer.
_LABELS = re.compile(r"^(?:Guide: )?(?:Heading: |Bullet: |Sub-bullet: |Quote: |Table: |\d+: |Code, .*)?")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def spoken_words(answer: str) -> list[str]:
    """Return the words of an answer that are meant to be heard, by a reading of its own: line by line."""
    text = re.sub(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", "", answer, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    columns: list[str] = []
    lines = []
    for line in text.splitlines():
        if not line.startswith("|"):
            columns = []
        elif re.fullmatch(r"[|\s:-]+", line):
            continue
        elif columns:
            cells = line.strip("|").split("|")
            named = (f"{name} {cell}" for name, cell in zip(columns, cells, strict=False) if cell.strip())
            lines.append(" ".join(named))
            continue
        else:
            columns = line.strip("|").split("|")
        lines.append(line)
    return _WORD.findall("\n".join(lines))


class Heard:
    """What a person heard: sentences of the answer with their times, and the lengths of prompts."""

    def __init__(self, clock: Clock) -> None:
        self.texts: list[tuple[float, str]] = []
        self.prompts: list[int] = []
        self._clock = clock

    def hear(self, announcement: Any) -> None:
        """Note an announcement."""
        event = announcement.event
        if isinstance(event, OutputStreaming):
            self.texts.append((self._clock.now, announcement.text))
        elif isinstance(event, AwaitingConfirmation):
            told = _WORD.findall(f"{event.action} {event.consequence}")
            self.prompts.append(len(_WORD.findall(announcement.text)) - len(told))


def speak(answer: str, clock: Clock) -> tuple[Heard, list[float]]:
    """Stream the answer to a listener; return what was heard, and when each token was written."""
    heard = Heard(clock)
    written: list[float] = []
    with Producer("guide", name="Guide", journal=None, runtime=Runtime(clock=clock)) as producer:

        async def run() -> None:
            producer.hub.run_due_timers()

        def let_pass(seconds: float) -> None:
            producer.hub.run(run())  # what is on its way is heard before
            clock.now += seconds
            producer.hub.run(run())

        listener = Listener(producer, "accept", on_announcement=heard.hear)
        with producer.session("Explaining.") as session, session.output(content_type="text/markdown") as out:
            due = TOKENS_PER_TOOL
            for number, token in enumerate(_TOKEN.findall(answer), 1):
                if number >= due and token[0].isspace():
                    due += TOKENS_PER_TOOL
                    interrupt(session, let_pass, asks=due % (4 * TOKENS_PER_TOOL) == 0, number=number)
                let_pass(1 / TOKENS_PER_SECOND)
                out.write(token)
                written.append(clock.now)
        listener.wait_for_end()
    return heard, written


def interrupt(session: Session, let_pass: Callable[[float], None], *, asks: bool, number: int) -> None:
    """Call a tool in the middle of the answer."""
    if asks:
        ask = session.confirm(f"Delete file {number}.", "It is gone for good.", tool="delete")
        let_pass(READING_SECONDS)
        ask.wait(30)
        with session.tool("delete", risk="high", irreversible=True, ask=ask):
            let_pass(TOOL_SECONDS)
    else:
        with session.tool("look_up", risk="low", summary="Looking it up."):
            let_pass(TOOL_SECONDS)


def main() -> int:
    """Stream the answer, listen, and print what was heard; return 1 if a limit is missed."""
    answer = Path(__file__).with_name("answer.md").read_text()
    clock = Clock()
    heard, written = speak(answer, clock)
    expected = spoken_words(answer)
    found = [word for _, text in heard.texts for word in _WORD.findall(_LABELS.sub("", text))]
    changes = difflib.SequenceMatcher(None, expected, found, autojunk=False).get_opcodes()
    lost = sum(end - begin for kind, begin, end, _, _ in changes if kind in ("delete", "replace"))
    extra = sum(end - begin for kind, _, _, begin, end in changes if kind in ("insert", "replace"))
    figures = [
        ("words to be heard", len(expected), None),
        ("words lost", lost, MAX_LOST),
        ("words repeated or invented", extra, MAX_REPEATED),
        (
            "longest silence while text was there, seconds",
            round(longest_silence(written, [moment for moment, _ in heard.texts]), 2),
            MAX_SILENCE,
        ),
        ("announcements of text a minute", round(60 * len(heard.texts) / clock.now), None),
        ("longest announcement, words", max(len(text.split()) for _, text in heard.texts), None),
        ("first prompt, words beside action and consequence", heard.prompts[0], MAX_FIRST_PROMPT),
        ("later prompts, at most", max(heard.prompts[1:]), MAX_LATER_PROMPT),
    ]
    is_missed = False
    for name, value, limit in figures:
        missed = limit is not None and value > limit
        is_missed = is_missed or missed
        bound = "" if limit is None else f" (at most {limit}{', MISSED' if missed else ''})"
        print(f"{name}: {value}{bound}")
    return int(is_missed)


def longest_silence(written: list[float], heard: list[float]) -> float:
    """Return the longest time for which text came and nothing was heard."""
    longest = 0.0
    silent_since: float | None = None
    moments = sorted([(moment, 0) for moment in written] + [(moment, 1) for moment in heard])
    for moment, is_heard in moments:
        if is_heard:
            longest = max(longest, moment - silent_since if silent_since is not None else 0.0)
            silent_since = None
        elif silent_since is None:
            silent_since = moment
    return longest


if __name__ == "__main__":
    sys.exit(main())
