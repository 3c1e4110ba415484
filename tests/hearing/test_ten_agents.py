"""Ten agents that talk at once for ten minutes, and one person who listens at 300 words a minute; time is simulated."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sized
from typing import Final, NamedTuple

import pytest

from aaep.presentation.announce import Announcement
from aaep.presentation.pace import estimate_seconds
from aaep.presentation.preferences import Preferences
from aaep.presentation.presenter import Presenter
from aaep.presentation.queue import MAX_WAITING, Queue, Speak, SpeechAction, Stop
from aaep.protocol.events import Envelope
from tests.presentation.test_announce import event

AGENTS: Final = 10
SECONDS: Final = 600.0
PACE: Final = 300  # words a minute
MAX_DELAY: Final = 2.0  # seconds from a prompt to its first word
PROMPT_INTERVAL: Final = 150.0  # seconds between two prompts of one agent
TOPICS: Final = "bank mail calendar code shop travel music photos tax garden".split()


class Utterance(NamedTuple):
    """What was spoken, from when to when."""

    begin: float
    end: float
    speak: Speak

    @property
    def is_about_prompt(self) -> bool:
        return bool(self.speak.announcement.prompt)


def script(agent: int) -> Iterator[tuple[float, Envelope]]:
    """One agent at work: tools, progress, an answer that never ends, and now and then a prompt, answered or not."""
    name = TOPICS[agent]
    base = {"session_id": f"sess_{name}", "producer": {"agent_id": name, "agent_name": name.title()}}
    yield 0.1 * agent, event("session.started", summary_normal=f"Looking after the {name}.", **base)
    position = 0
    number = 0
    at = 1 + 0.37 * agent
    while at < SECONDS - 10:
        number += 1
        mark = f"{name}{number}"
        call = {"tool_call_id": f"call_{mark}", "tool": "look", **base}
        yield at, event("tool.invoked", summary_normal=f"Looking at {mark}a now.", **call)
        yield at + 1, event("progress.updated", summary_normal=f"Reading {name}.", **base)
        yield at + 2, event("tool.completed", summary_normal=f"Found {mark}b there.", status="success", **call)
        for second, letter in ((2.5, "c"), (3.5, "d")):
            chunk = f"This is what I think of {mark}{letter}, and there is more to say about it. "
            told = {"chunk": chunk, "position": position, "complete": False, "coalesce_hint": "sentence"}
            yield at + second, event("output.streaming", **told, **base)
            position += len(chunk)
        at += 6.0
    for prompt in range(int(SECONDS / PROMPT_INTERVAL)):
        asked_at = 5 + PROMPT_INTERVAL * prompt + 13.7 * agent
        token = f"rpl_{name}_{prompt}"
        asked = {"reply_token": token, "action": f"Send the {name} letter {prompt}.", "timeout_seconds": 60}
        yield asked_at, event("awaiting.confirmation", **asked, **base)
        outcome = ("accepted", "rejected", "timed_out")[prompt % 3]
        told = {"attend": {"reply_token": token, "outcome": outcome}}
        yield (
            asked_at + (60 if outcome == "timed_out" else 20),
            event("state.changed", urgency="critical", extensions=told, **base),
        )


class Listening:
    """A presenter and a queue, with a voice that takes the time that speech takes."""

    def __init__(self) -> None:
        self.queue = Queue(Preferences(pace=PACE))
        self.presenter = Presenter(Preferences(pace=PACE))
        self.now = 0.0
        self.pushed: list[Announcement] = []
        self.asked_at: dict[str, float] = {}
        self.spoken: list[Utterance] = []
        self.sizes: list[dict[str, int]] = []
        self._speaking: tuple[float, Speak] | None = None

    def listen(self, events: list[tuple[float, Envelope]], until: float) -> None:
        waiting = [(at, number, each) for number, (at, each) in enumerate(events)]
        heapq.heapify(waiting)
        while (at := self._next_time(waiting)) <= until:
            self.now = at
            if self._ends_at() <= self.now:
                self._end_speech()
                continue
            if waiting and waiting[0][0] <= self.now:
                _, _, each = heapq.heappop(waiting)
                self.asked_at |= {token: at for token in [getattr(each, "reply_token", None)] if token}
                self._push(self.presenter.present(each, self.now))
            else:
                self._push(self.presenter.advance(self.now))
                self._perform(self.queue.advance(self.now))
            self.sizes.append(count_items(self.queue))

    def _next_time(self, waiting: list[tuple[float, int, Envelope]]) -> float:
        deadlines = [self.presenter.next_deadline(self.now), self.queue.next_deadline(self.now), self._ends_at()]
        times = [at for at in deadlines if at is not None]
        return min([*times, waiting[0][0]] if waiting else times)

    def _ends_at(self) -> float:
        if self._speaking is None:
            return float("inf")
        begin, speak = self._speaking
        return begin + estimate_seconds(speak.text, PACE)

    def _push(self, announcements: list[Announcement]) -> None:
        for announcement in announcements:
            self.pushed.append(announcement)
            self._perform(self.queue.push(announcement, self.now))

    def _perform(self, actions: list[SpeechAction]) -> None:
        for action in actions:
            if isinstance(action, Stop):
                assert self._speaking is not None and self._speaking[1].utterance_id == action.utterance_id
                self._note_end()
            else:
                assert self._speaking is None, "one at a time"
                self._speaking = (self.now, action)

    def _end_speech(self) -> None:
        speak = self._note_end()
        self._perform(self.queue.utterance_finished(self.now, speak.utterance_id))

    def _note_end(self) -> Speak:
        assert self._speaking is not None
        begin, speak = self._speaking
        self.spoken.append(Utterance(begin, self.now, speak))
        self._speaking = None
        return speak


def count_items(queue: Queue) -> dict[str, int]:
    """How much each container of a queue holds, its history left out."""
    sized = {name: value for name, value in vars(queue).items() if isinstance(value, Sized)}
    return {name: len(value) for name, value in sized.items() if value is not queue.history}


@pytest.fixture(scope="module")
def ten() -> Listening:
    listening = Listening()
    events = [each for agent in range(AGENTS) for each in script(agent)]
    listening.listen(sorted(events, key=lambda each: each[0]), SECONDS)
    return listening


def test_every_prompt_is_begun_within_two_seconds_unless_another_is_being_spoken(ten: Listening) -> None:
    assert len(ten.asked_at) == AGENTS * SECONDS / PROMPT_INTERVAL
    delays: list[float] = []
    for token, asked_at in ten.asked_at.items():
        first = next(each for each in ten.spoken if each.speak.announcement.prompt == token)
        between = [each for each in ten.spoken if each.begin < first.begin and each.end > asked_at]
        about_others = [each for each in between if each.is_about_prompt]
        taken = sum(each.end - max(each.begin, asked_at) for each in about_others)
        assert first.speak.announcement.asks and first.begin - asked_at - taken <= MAX_DELAY, token
        delays.append(first.begin - asked_at - taken)
    assert len([delay for delay in delays if delay < 0.001]) == len(delays), "speech stops at once for a prompt"


def test_nothing_is_lost_from_the_history(ten: Listening) -> None:
    assert ten.queue.history.maxlen == 10_000, "older announcements than these are forgotten"
    assert [*ten.queue.history] == ten.pushed, "all of ten minutes"
    marks = Counter(re.findall(r"[a-z]+\d+[abcd]\b", " ".join(each.text for each in ten.queue.history)))
    wanted = {f"{name}{number}{letter}" for name in TOPICS for number in range(1, 98) for letter in "abcd"}
    assert wanted <= {*marks} and {*marks.values()} == {1}


def test_what_waits_does_not_grow(ten: Listening) -> None:
    """Far more is said than can be heard, and the containers of the queue stay as small as in the first minutes."""
    most = {name: max(size[name] for size in ten.sizes) for name in ten.sizes[0]}
    assert all(count <= MAX_WAITING for count in most.values()), most


def test_it_is_told_how_much_was_left_out(ten: Listening) -> None:
    left_out = [re.match(r"(\d+) more updates\.", each.speak.text) for each in ten.spoken]
    assert sum(int(found[1]) for found in left_out if found) > 100
