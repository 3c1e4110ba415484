"""
Listening on a simulated clock: an agent that writes, another that only asks, a person, and four ways to hear them.

What is in hand is spoken at a constant rate, and begins :data:`BEGIN_SECONDS` after it was given to the voice; what
waits longer has waited for other speech.
The person answers a question some time after having heard it to its end. The agent that writes does not wait for that,
so that the same is written and asked at the same times whichever way it is heard, for as long as there is something to
hear. Questions are far enough apart that each can be answered before the next.
"""

from __future__ import annotations

import heapq
import random
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean, median, quantiles
from typing import Final

import msgspec

from aaep.presentation.announce import Announcement, announce_line
from aaep.presentation.flow import FellBehind, Flow
from aaep.presentation.queue import Speak, SpeechAction, Stop
from aaep.protocol.events import (
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    SessionCompleted,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from aaep.text.phrases import ENGLISH
from bench._talk import (
    BACKUP,
    GUIDE,
    Agent,
    Reader,
    count_changes,
    find_answer_words,
    find_history_words,
    find_words,
    is_of_answer,
    locate_words,
    split_tokens,
    write_answer,
)

BEGIN_SECONDS: Final = 0.045  # from giving a text to Speech Dispatcher to the beginning of speech, as measured
UPDATE_SECONDS: Final = 0.14  # in which the changes of a live region are gathered until they are handed to speech
MIN_RATE: Final = 50  # tokens a second, which a stretch between two tools has at least
MAX_RATE: Final = 100
TOKENS_PER_TOOL: Final = 80
TOOL_SECONDS: Final = 2.0
ANSWER_SECONDS: Final = 2.0  # that the person takes after having heard a question
QUESTION_SECONDS: Final = 40.0  # from one question to the next
FIRST_QUESTION_SECONDS: Final = 5.0  # from the beginning to the first one
OWN_QUESTION_SECONDS: Final = 25.0  # from the beginning to the first one of the agent that writes
KEY_SECONDS: Final = 1.0  # that the person takes to skip what waits after having heard that speech is behind
SKIP_SECONDS: Final = 20.0  # from one time to the next


class Timeline:
    """Calls functions at their times, in order."""

    def __init__(self) -> None:
        self.now = 0.0
        self._calls: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def call_at(self, time: float, function: Callable[[], None]) -> None:
        """Have a function called when it is that time."""
        self._count += 1
        heapq.heappush(self._calls, (max(time, self.now), self._count, function))

    def run(self) -> None:
        """Let time pass until nothing is left to call."""
        while self._calls:
            self.now, _, function = heapq.heappop(self._calls)
            function()


class Utterance(msgspec.Struct, eq=False):
    """What was spoken, when, and how far; the words are those of the answer, by their numbers."""

    text: str
    begins_at: float = 0.0
    ends_at: float = 0.0
    question: str = ""  # the reply token of what it asks
    is_critical: bool = False
    words: list[tuple[int, bool]] = []  # at its end, each with whether all of it is in the utterance
    announcement: Announcement | None = None
    is_cut: bool = False


class Heard(msgspec.Struct):
    """The figures of one way to listen."""

    critical_waits: list[float]  # seconds from each question to its first syllable
    mean_age: float  # seconds from writing to speaking a word
    late_age: float  # that 95 of 100 words do not exceed
    whole_share: float
    repeated: int
    lost: int
    halved: int  # words of which only a part was spoken
    interruptions: int
    per_minute: float
    minutes: float  # until everything was heard
    history_lost: int | None = None  # where there is a history
    history_repeated: int | None = None
    cuts_without_cause: int = 0  # that nothing critical made
    cuts_without_return: int = 0  # after which it was not offered again
    begun: int = 0  # words that were begun before a question, and said whole after it
    questions_within_words: int = 0

    @property
    def median_wait(self) -> float:
        """The median of the times to the first syllable."""
        return median(self.critical_waits)

    @property
    def late_wait(self) -> float:
        """The time to the first syllable that 95 of 100 questions do not exceed."""
        return find_late(self.critical_waits)


def find_late(values: list[float]) -> float:
    """Return the value that 95 of 100 do not exceed."""
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


class Listener(ABC):
    """A way to hear agents, by one voice."""

    def __init__(self, timeline: Timeline, words_per_minute: int, answer: str) -> None:
        self.timeline = timeline
        self.seconds_per_word = 60 / words_per_minute
        self.answer = answer
        self.utterances: list[Utterance] = []
        self.on_question_heard: Callable[[str], None] = lambda token: None

    @abstractmethod
    def receive(self, event: Envelope) -> None:
        """Take an event."""

    def note_answer(self, token: str) -> None:  # noqa: B027  # most ways to listen need not know
        """Note that the person answers."""

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """Whether nothing is spoken, and nothing waits to be."""

    def find_history_changes(self) -> tuple[int | None, int | None]:
        """Return how many words the history has lost, and how many it has twice."""
        return None, None

    def count_begun(self) -> int:
        """Return how many words were begun before a question, and said whole after it."""
        return 0

    def begin(self, utterance: Utterance) -> None:
        """Speak an utterance."""
        utterance.begins_at = self.timeline.now + BEGIN_SECONDS
        utterance.ends_at = utterance.begins_at + len(find_words(utterance.text)) * self.seconds_per_word
        self.utterances.append(utterance)
        self.timeline.call_at(utterance.ends_at, partial(self._end, utterance))

    def cut(self, utterance: Utterance) -> None:
        """Stop an utterance in the middle."""
        utterance.is_cut = True
        utterance.ends_at = self.timeline.now

    def _end(self, utterance: Utterance) -> None:
        if utterance.is_cut:
            return
        if utterance.question:
            self.on_question_heard(utterance.question)
        self.handle_end(utterance)

    @abstractmethod
    def handle_end(self, utterance: Utterance) -> None:
        """Go on after an utterance."""


class OurListener(Listener):
    """Listens with our shaper, presenter and queue."""

    def __init__(self, timeline: Timeline, words_per_minute: int, answer: str) -> None:
        super().__init__(timeline, words_per_minute, answer)
        self.reader = Reader()
        self._current: Utterance | None = None
        self._current_id = 0

    def receive(self, event: Envelope) -> None:
        """Present an event."""
        self._perform(self.reader.receive(event, self.timeline.now))

    def note_answer(self, token: str) -> None:
        """Let the presenter know that the person answers."""
        self.reader.note_answer(token)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is spoken, and nothing waits to be."""
        return self.reader.queue.is_idle

    def handle_end(self, utterance: Utterance) -> None:
        """Let the queue begin the next utterance."""
        self._current = None
        self._perform(self.reader.queue.utterance_finished(self.timeline.now, self._current_id))

    def find_history_changes(self) -> tuple[int | None, int | None]:
        """Return how many words the history has lost, and how many it has twice."""
        found = find_history_words(self.reader.queue.history)
        lost, repeated, _ = count_changes(find_words(self.answer), found.words)
        return lost, repeated

    def count_begun(self) -> int:
        """Return how many words were begun before a question, and said whole after it."""
        return find_history_words(self.reader.queue.history).begun

    def resolve_words(self) -> None:
        """Find which words of the answer each utterance spoke."""
        found = find_history_words(self.reader.queue.history)
        indexes = count_changes(find_words(self.answer), found.words)[2]
        places = {_identify(announcement): (start, is_begun) for announcement, start, is_begun in found.starts}
        for utterance in self.utterances:
            announcement = utterance.announcement
            if announcement is None or not is_of_answer(announcement):
                continue
            start, is_begun = places[_identify(announcement)]
            end = start + len(find_answer_words(announcement)) - is_begun
            utterance.words = [(indexes[number], True) for number in range(start, end) if number in indexes]
            if is_begun and end in indexes:
                utterance.words.append((indexes[end], False))

    def _perform(self, actions: list[SpeechAction]) -> None:
        for action in actions:
            if isinstance(action, Stop):
                if self._current is not None and action.utterance_id == self._current_id:
                    self.cut(self._current)
                    self._current = None
            else:
                self._begin(action)
        deadline = self.reader.next_deadline(self.timeline.now)
        if deadline is not None:
            self.timeline.call_at(deadline, partial(self._advance, deadline))

    def _advance(self, deadline: float) -> None:
        # A later event may have moved the deadline, which has a call of its own then.
        if self.reader.next_deadline(self.timeline.now) == deadline:
            self._perform(self.reader.advance(self.timeline.now))

    def _begin(self, action: Speak) -> None:
        announcement = action.announcement
        self._current_id = action.utterance_id
        asks = announcement.asks and action.text.endswith(announcement.text)
        self._current = Utterance(
            action.text,
            question=announcement.prompt if asks else "",
            is_critical=announcement.interrupts or bool(announcement.prompt),  # CF-025: outcomes too
            announcement=announcement,
        )
        self.begin(self._current)


class SkippingListener(OurListener):
    """Listens like :class:`OurListener` with flow by ear: who is told to be behind skips to now, again and again."""

    def __init__(self, timeline: Timeline, words_per_minute: int, answer: str) -> None:
        super().__init__(timeline, words_per_minute, answer)
        self._flow = Flow(words_per_minute)

    def _perform(self, actions: list[SpeechAction]) -> None:
        super()._perform(actions)
        now = self.timeline.now
        change = self._flow.update(self.reader.queue.measure_backlog(), now)
        if isinstance(change, FellBehind):
            line = ENGLISH.format("behind-key", duration=ENGLISH.format_time_left(change.seconds))
            super()._perform(self.reader.queue.say_behind(announce_line(line), now))
            super()._perform(self.reader.renegotiate(self._flow.choose_terms(), now))
            self._skip_later(len(find_words(line)) * self.seconds_per_word + KEY_SECONDS)
        deadline = self._flow.next_deadline()
        if deadline is not None and deadline > now:
            self.timeline.call_at(deadline, partial(self._perform, []))

    def _skip_later(self, seconds: float) -> None:
        self.timeline.call_at(self.timeline.now + seconds, self._skip)

    def _skip(self) -> None:
        if self._flow.is_behind:
            _, actions = self.reader.queue.skip_to_now(self.timeline.now)
            self._skip_later(SKIP_SECONDS)
            self._perform(actions)


class QueuedListener(Listener):
    """Listens with a screen reader that speaks everything it is given one after the other."""

    def __init__(self, timeline: Timeline, words_per_minute: int, answer: str) -> None:
        super().__init__(timeline, words_per_minute, answer)
        self._word_places = locate_words(answer)
        self._waiting: deque[Utterance] = deque()
        self._is_speaking = False

    def receive(self, event: Envelope) -> None:
        """Take the text of the answer, and enqueue the summaries of everything else."""
        if isinstance(event, OutputStreaming):
            self.receive_text(event)
        elif isinstance(event, AwaitingConfirmation):
            self.enqueue(f"Confirm. {event.action} {event.consequence}", question=event.reply_token)
        elif isinstance(event, (SessionStarted, StateChanged, ToolInvoked, ToolCompleted, SessionCompleted)):
            self.enqueue(str(event.summary_normal))

    @abstractmethod
    def receive_text(self, event: OutputStreaming) -> None:
        """Take a piece of the answer."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is spoken, and nothing waits to be."""
        return not self._is_speaking

    def enqueue(self, text: str, *, question: str = "") -> None:
        """Speak something after everything else."""
        self._waiting.append(Utterance(text, question=question))
        self._go_on()

    def enqueue_slice(self, start: int, stop: int) -> None:
        """Speak a part of the answer after everything else."""
        words = [
            (index, start <= begin and end <= stop)
            for index, (begin, end) in enumerate(self._word_places)
            if begin < stop and end > start
        ]
        if words:
            self._waiting.append(Utterance(self.answer[start:stop], words=words))
            self._go_on()

    def handle_end(self, utterance: Utterance) -> None:
        """Begin the next utterance."""
        self._is_speaking = False
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self._is_speaking:
            self._is_speaking = True
            self.begin(self._waiting.popleft())


class AppendedRegion(QueuedListener):
    """A live region of which each update speaks what was added."""

    def __init__(self, timeline: Timeline, words_per_minute: int, answer: str) -> None:
        super().__init__(timeline, words_per_minute, answer)
        self.spoken_length = 0
        self.length = 0
        self._is_update_due = False

    def receive_text(self, event: OutputStreaming) -> None:
        """Add to the region, which is looked at a moment later."""
        self.length = event.position + len(event.chunk)
        if not self._is_update_due:
            self._is_update_due = True
            self.timeline.call_at(self.timeline.now + UPDATE_SECONDS, self._update)

    def _update(self) -> None:
        self._is_update_due = False
        self.speak_update()
        self.spoken_length = self.length

    def speak_update(self) -> None:
        """Speak what has changed."""
        self.enqueue_slice(self.spoken_length, self.length)


class RepeatedRegion(AppendedRegion):
    """A live region of which each update speaks the paragraph again, as Orca 43 does with the text of Chromium."""

    def speak_update(self) -> None:
        """Speak each paragraph that has changed from its beginning."""
        start = self.answer.rfind("\n\n", 0, self.spoken_length) + 1
        while start < self.length:
            end = self.answer.find("\n\n", start + 1)
            stop = self.length if end < 0 else min(end, self.length)
            self.enqueue_slice(start, stop)
            start = max(stop, start + 1)


class AnswerAtEnd(QueuedListener):
    """A screen reader that is given the answer when it is complete."""

    def receive_text(self, event: OutputStreaming) -> None:
        """Wait for the last piece."""
        if event.complete:
            self.enqueue_slice(0, len(self.answer))


WAYS: Final[dict[str, type[Listener]]] = {
    "aaep": OurListener,
    "aaep, skipping": SkippingListener,
    "live region, again": RepeatedRegion,
    "live region, added": AppendedRegion,
    "answer at its end": AnswerAtEnd,
}


class Stage:
    """Two agents and a person who listens to them."""

    def __init__(self, listener: Listener, seed: int) -> None:
        self.timeline = listener.timeline
        self.listener = listener
        self.written_at: list[float] = []  # when each character of the answer was written
        self.asked_at: dict[str, float] = {}  # by reply token
        self._random = random.Random(seed)
        self._outcomes: dict[str, Callable[[float], Envelope]] = {}  # of the questions that were not heard yet
        self._is_written = False
        self.questions_within_words = 0
        listener.on_question_heard = self._handle_question_heard

    def run(self) -> None:
        """Let the agents work until everything was spoken."""
        guide = Agent(GUIDE)
        backup = Agent(BACKUP)
        self.listener.receive(guide.start(self.timeline.now))
        self.listener.receive(backup.start(self.timeline.now))
        self._take_step(self._write(guide))
        self._take_step(self._ask(backup))
        self.timeline.run()

    def _take_step(self, steps: Iterator[float]) -> None:
        """Let an agent go on, until it waits for time to pass."""
        seconds = next(steps, None)
        if seconds is not None:
            self.timeline.call_at(self.timeline.now + seconds, partial(self._take_step, steps))

    def _ask(self, agent: Agent) -> Iterator[float]:
        """Ask one question after the other."""
        yield FIRST_QUESTION_SECONDS
        number = 0
        while not (self._is_written and self.listener.is_idle):
            number += 1
            self._put_question(agent, number)
            yield QUESTION_SECONDS

    def _put_question(self, agent: Agent, number: int) -> None:
        token = agent.find_token(number)
        self.asked_at[token] = self.timeline.now
        self._outcomes[token] = partial(agent.accept, number)
        self.listener.receive(agent.ask(number, self.timeline.now))

    def _handle_question_heard(self, token: str) -> None:
        make_outcome = self._outcomes.pop(token, None)
        if make_outcome is not None:
            self.timeline.call_at(self.timeline.now + ANSWER_SECONDS, partial(self._answer, token, make_outcome))

    def _answer(self, token: str, make_outcome: Callable[[float], Envelope]) -> None:
        self.listener.note_answer(token)
        self.listener.receive(make_outcome(self.timeline.now))

    def _write(self, agent: Agent) -> Iterator[float]:
        """Write the answer; call tools and ask anywhere in it, mostly in the middle of a sentence or of a word."""
        tokens = split_tokens(self.listener.answer)
        rate = MAX_RATE
        due = TOKENS_PER_TOOL
        question_due = OWN_QUESTION_SECONDS
        tools = 0
        for index, token in enumerate(tokens):
            is_within_word = index > 0 and not token[0].isspace() and not tokens[index - 1][-1].isspace()
            if index >= due:
                due = index + self._random.randint(TOKENS_PER_TOOL - 10, TOKENS_PER_TOOL + 10)
                rate = self._random.randint(MIN_RATE, MAX_RATE)
                tools += 1
                self.listener.receive(agent.call_tool(tools, self.timeline.now))
                end_tool = partial(self._end_tool, agent, tools)
                if is_within_word:  # nobody stops there, so the tool runs beside the writing
                    self.timeline.call_at(self.timeline.now + TOOL_SECONDS, end_tool)
                else:
                    yield TOOL_SECONDS
                    end_tool()
            elif is_within_word and self.timeline.now >= question_due:
                question_due = self.timeline.now + QUESTION_SECONDS
                self.questions_within_words += 1
                self._put_question(agent, self.questions_within_words)
            yield 1 / rate
            self.written_at += [self.timeline.now] * len(token)
            self.listener.receive(agent.write(token, self.timeline.now, is_last=index == len(tokens) - 1))
        yield TOOL_SECONDS  # until the last tool has ended
        self._is_written = True
        self.listener.receive(agent.complete(self.timeline.now))

    def _end_tool(self, agent: Agent, number: int) -> None:
        self.listener.receive(agent.end_tool(number, self.timeline.now))


def simulate(way: type[Listener], words_per_minute: int, words: int, seed: int = 1) -> Heard:
    """Listen to an answer of this many words, and return what it was like."""
    listener = way(Timeline(), words_per_minute, write_answer(words, seed))
    stage = Stage(listener, seed)
    stage.run()
    if isinstance(listener, OurListener):
        listener.resolve_words()
    return _judge(listener, stage)


def _judge(listener: Listener, stage: Stage) -> Heard:
    places = locate_words(listener.answer)
    whole: Counter[int] = Counter()
    touched: set[int] = set()
    ages: list[float] = []
    for utterance in listener.utterances:
        first = len(find_words(utterance.text)) - len(utterance.words)  # after the names of agents and the like
        for number, (index, is_whole) in enumerate(utterance.words, start=first):
            begins_at = utterance.begins_at + number * listener.seconds_per_word
            if begins_at >= utterance.ends_at:
                break
            touched.add(index)
            ages.append(begins_at - stage.written_at[places[index][1] - 1])
            if is_whole and begins_at + listener.seconds_per_word <= utterance.ends_at + 1e-9:
                whole[index] += 1
    first_syllables: dict[str, float] = {}
    for utterance in listener.utterances:
        if utterance.question and utterance.begins_at < utterance.ends_at:
            first_syllables.setdefault(utterance.question, utterance.begins_at)
    minutes = (listener.utterances[-1].ends_at - listener.utterances[0].begins_at) / 60
    history_lost, history_repeated = listener.find_history_changes()
    without_cause, without_return = find_bad_cuts(listener.utterances)
    return Heard(
        critical_waits=[first_syllables[token] - asked_at for token, asked_at in stage.asked_at.items()],
        mean_age=fmean(ages),
        late_age=find_late(ages),
        whole_share=len(whole) / len(places),
        repeated=sum(times - 1 for times in whole.values()),
        lost=len(places) - len(touched),
        halved=len(touched) - len(whole),
        interruptions=sum(utterance.is_cut for utterance in listener.utterances),
        per_minute=len(listener.utterances) / minutes,
        minutes=minutes,
        history_lost=history_lost,
        history_repeated=history_repeated,
        cuts_without_cause=without_cause,
        cuts_without_return=without_return,
        begun=listener.count_begun(),
        questions_within_words=stage.questions_within_words,
    )


def find_bad_cuts(utterances: list[Utterance]) -> tuple[int, int]:
    """Count the utterances that were cut by nothing critical, and those that were not spoken to their end later."""
    without_cause = 0
    without_return = 0
    for number, utterance in enumerate(utterances):
        if not utterance.is_cut:
            continue
        later = utterances[number + 1 :]
        without_cause += not (later and later[0].is_critical)
        without_return += not any(not other.is_cut and _is_same(utterance, other) for other in later)
    return without_cause, without_return


def _is_same(first: Utterance, second: Utterance) -> bool:
    """Whether two utterances speak the same announcement."""
    if first.announcement is None or second.announcement is None:
        return first is second
    return _identify(first.announcement) == _identify(second.announcement)


def _identify(announcement: Announcement) -> tuple[str, int]:
    """Return what tells an announcement from others: its event, and for a piece of the answer where that begins."""
    event = announcement.event
    return announcement.event_id, event.position if isinstance(event, OutputStreaming) else -1
