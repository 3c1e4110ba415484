"""Listening with a real Speech Dispatcher: how long what is critical takes to be heard, and how long it would alone."""

from __future__ import annotations

import random
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

import msgspec

from aaep.outputs.base import Finished, OutputEvent
from aaep.outputs.speech import SpeechOutput, SpeechSettings
from aaep.outputs.ssip import SpeechEvent
from aaep.presentation.queue import SpeechAction, Stop
from aaep.protocol.events import Envelope
from bench._talk import (
    GUIDE,
    Agent,
    Reader,
    count_changes,
    find_history_words,
    find_words,
    split_tokens,
    write_answer,
)
from tests.speech import SpeechServer, speech_server

RATE: Final = 300  # words a minute
QUESTIONS: Final = 16
BARE_ROUNDS: Final = 10  # before the agent speaks, and as many after it
MIN_RATE: Final = 50  # tokens a second
MAX_RATE: Final = 100
TALK_SECONDS: Final = 1.0  # of text before a tool or a question
TOOL_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 0.6  # after a question has begun; the person has heard the like before
SPEECH_SECONDS: Final = 0.5  # for which something is being spoken before something important comes
TIMEOUT: Final = 20.0  # seconds for anything to happen
LONG_TEXT: Final = "This is a long text that goes on while something else comes in between. " * 4


class Spoken(msgspec.Struct):
    """How many seconds it took from events to the beginning of their speech."""

    questions: list[float]
    outcomes: list[float]
    bare: list[float]
    history_words: int
    history_lost: int
    history_repeated: int


def listen_for_real() -> Spoken:
    """Start a speech server, let an agent speak for about a minute, and return the times."""
    with tempfile.TemporaryDirectory() as folder, speech_server(Path(folder), clocked=True) as server:
        measure_bare(server, 1)  # the first text that a voice speaks takes longer
        bare = measure_bare(server, BARE_ROUNDS)
        listening = RealListening(server)
        listening.run()
        bare += measure_bare(server, BARE_ROUNDS)
        lost, repeated, indexes = listening.find_history_changes()
        return Spoken(listening.questions, listening.outcomes, bare, len(indexes), lost, repeated)


# -- our reader ------------------------------------------------------------------------------


class RealListening:
    """Our reader with a real voice, and an agent in a thread of its own."""

    def __init__(self, server: SpeechServer) -> None:
        self.questions: list[float] = []
        self.outcomes: list[float] = []
        self._reader = Reader()
        self._voice = SpeechOutput(
            SpeechSettings(rate=RATE), environment=server.environment, on_event=self._handle_speech_event
        )
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._begun: SimpleQueue[tuple[str, float]] = SimpleQueue()  # ids of events, and when their speech began
        self._presented: list[str] = []  # the ids of the events whose announcements were given to the voice
        self._first_message: int | None = None  # the number that the server gave to the first of them
        self._server = server
        self._written: list[str] = []
        self._random = random.Random(1)
        self._is_over = False
        self._failure: Exception | None = None

    def run(self) -> None:
        """Listen until the agent has asked everything."""
        log_start = len(self._server.commands())
        self._voice.open(lambda event: self._inbox.put(partial(self._handle_report, event)))
        agent = threading.Thread(target=self._run_agent)
        agent.start()
        try:
            while not self._is_over:
                self._run_once()
        finally:
            agent.join()
            self._voice.close()
        if self._failure is not None:
            raise self._failure
        spoken = self._server.commands()[log_start:].count("SPEAK")
        if spoken != len(self._presented):  # then a beginning may have been taken for that of another text
            raise RuntimeError(f"{len(self._presented)} texts were presented and {spoken} given to the server.")

    def find_history_changes(self) -> tuple[int, int, dict[int, int]]:
        """Return how many words the history has lost, how many it has twice, and which it has."""
        found = find_history_words(self._reader.queue.history)
        return count_changes(find_words("".join(self._written)), found.words)

    def _run_once(self) -> None:
        now = time.monotonic()
        deadline = self._reader.next_deadline(now)
        try:
            self._inbox.get(timeout=None if deadline is None else max(0.0, deadline - now))()
        except Empty:
            now = time.monotonic()
            self._perform(self._reader.advance(now))

    def _perform(self, actions: list[SpeechAction]) -> None:
        for action in actions:
            if isinstance(action, Stop):
                self._voice.stop(action.utterance_id)
            else:
                self._presented.append(action.announcement.event_id)
                self._voice.present(action)

    def _receive(self, event: Envelope) -> None:
        self._perform(self._reader.receive(event, time.monotonic()))

    def _handle_report(self, event: OutputEvent) -> None:
        if isinstance(event, Finished):
            self._perform(self._reader.queue.utterance_finished(time.monotonic(), event.utterance_id))

    def _handle_speech_event(self, event: SpeechEvent) -> None:
        """Note when speech began. The server numbers its messages in the order in which it was given them."""
        if event.kind != "begin":
            return
        now = time.monotonic()
        if self._first_message is None:  # nothing interrupts the first
            self._first_message = int(event.message_id)
        self._begun.put((self._presented[int(event.message_id) - self._first_message], now))

    # -- the agent ---------------------------------------------------------------------------

    def _run_agent(self) -> None:
        try:
            self._act()
        except Exception as error:  # raised where the agent was started
            self._failure = error
        self._inbox.put(self._end)

    def _end(self) -> None:
        self._perform(self._reader.flush(time.monotonic()))
        self._is_over = True

    def _act(self) -> None:
        agent = Agent(GUIDE)
        tokens = split_tokens(write_answer(3000))[::-1]
        started = agent.start(0.0)
        self._inbox.put(partial(self._receive, started))
        self._wait_for_begin(started)
        for number in range(1, QUESTIONS + 1):
            self._write(agent, tokens)
            self._inbox.put(partial(self._receive, agent.call_tool(number, 0.0)))
            time.sleep(TOOL_SECONDS)
            self._inbox.put(partial(self._receive, agent.end_tool(number, 0.0)))
            self._write(agent, tokens)
            self.questions.append(self._measure(agent.ask(number, 0.0)))
            time.sleep(ANSWER_SECONDS)
            self._inbox.put(partial(self._reader.note_answer, agent.find_token(number)))
            self.outcomes.append(self._measure(agent.accept(number, 0.0)))

    def _write(self, agent: Agent, tokens: list[str]) -> None:
        """Write for a while, also up to the middle of a word."""
        ends_at = time.monotonic() + TALK_SECONDS / 2
        rate = self._random.randint(MIN_RATE, MAX_RATE)
        while time.monotonic() < ends_at:
            token = tokens.pop()
            self._written.append(token)
            self._inbox.put(partial(self._receive, agent.write(token, 0.0)))
            time.sleep(1 / rate)

    def _measure(self, event: Envelope) -> float:
        """Return how many seconds it takes from an event to the beginning of its speech."""
        started_at = time.monotonic()
        self._inbox.put(partial(self._receive, event))
        return self._wait_for_begin(event) - started_at

    def _wait_for_begin(self, event: Envelope) -> float:
        while True:
            event_id, begun_at = self._begun.get(timeout=TIMEOUT)
            if event_id == event.event_id:
                return begun_at


# -- Speech Dispatcher alone -----------------------------------------------------------------


def measure_bare(server: SpeechServer, rounds: int) -> list[float]:
    """Return how many seconds it takes Speech Dispatcher from an important text to its beginning."""
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT) as connection:
        client = BareClient(connection)
        client.command("SET SELF CLIENT_NAME bench:bare:main")
        client.command("SET SELF NOTIFICATION ALL ON")
        client.command("SET SELF LANGUAGE en")
        times: list[float] = []
        for number in range(rounds):
            client.command("SET SELF PRIORITY MESSAGE")
            client.wait_for_begin(client.speak(LONG_TEXT))
            time.sleep(SPEECH_SECONDS)
            started_at = time.monotonic()
            client.command("SET SELF PRIORITY IMPORTANT")
            client.wait_for_begin(client.speak(f"Confirm. Delete file {number}. It is gone for good."))
            times.append(time.monotonic() - started_at)
            client.command("CANCEL SELF")
        return times


class BareClient:
    """The least that speaks through Speech Dispatcher."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("r", encoding="utf-8", newline="\r\n")
        self._begun: set[str] = set()

    def command(self, line: str) -> str:
        """Give a command, and return the first line of its reply."""
        self._connection.sendall(f"{line}\r\n".encode())
        while (reply := self._read())[0].startswith("7"):
            pass
        return reply[0]

    def speak(self, text: str) -> str:
        """Give a text to be spoken, and return the id of its message."""
        self.command("SPEAK")
        return self.command(f"{text}\r\n.").removeprefix("225-")

    def wait_for_begin(self, message_id: str) -> None:
        """Wait until a message is being spoken."""
        while message_id not in self._begun:
            self._read()

    def _read(self) -> list[str]:
        lines = [self._lines.readline().rstrip()]
        while lines[-1][3:4] == "-":
            lines.append(self._lines.readline().rstrip())
        if lines[-1].startswith("701"):
            self._begun.add(lines[0].removeprefix("701-"))
        return lines
