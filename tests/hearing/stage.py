"""A small agent on stage, and what a listener of each verbosity hears of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from aaep import Producer, Runtime
from aaep.presentation.preferences import Preferences
from aaep.protocol.fields import Verbosity
from aaep.protocol.messages import Capabilities
from aaep.testing import Clock, Listener

VERBOSITIES: Final[tuple[Verbosity, ...]] = ("terse", "normal", "detailed")


class Stage:
    """A producer with a listener, and a clock that the agent sets forward."""

    def __init__(self, transcript: Transcript, verbosity: Verbosity) -> None:
        self.clock = Clock()
        self.producer = Producer(
            journal=None, runtime=Runtime(clock=self.clock, handle_signals=False), **transcript.settings
        )
        self.heard: list[str] = []
        self._answer = transcript.answer
        self._preferences = Preferences(verbosity=verbosity)
        self._listeners: list[Listener] = []

    def listen(self, *, replies: bool = True) -> Listener:
        """Let the listener come."""
        capabilities = None if replies else Capabilities(supported_conformance_levels=(1, 2, 3))
        listener = Listener(
            self.producer,
            self._answer,
            capabilities=capabilities,
            preferences=self._preferences,
            on_announcement=lambda announcement: self.heard.extend(announcement.text.split("\n")),
        )
        self._listeners.append(listener)
        return listener

    def let_another_answer(self, answer: Any) -> None:
        """Let another reader come, who answers."""
        self._listeners.append(Listener(self.producer, answer))

    def wait(self, seconds: float) -> None:
        """Let time pass, after everybody has heard what was said."""
        self.settle()
        self._listeners[0].advance(seconds)
        self.settle()

    def settle(self) -> None:
        """Wait until everybody has heard what was said."""

        async def nothing() -> None:
            pass

        for _ in range(3):
            self.producer.hub.run(nothing())


class Transcript(NamedTuple):
    """An agent and the lines that are heard of it."""

    name: str
    agent: Callable[[Stage], None]
    lines: dict[str, list[str]]
    answer: Any
    settings: dict[str, Any]
    listens: Literal["from the start", "without answers", "later"]


TRANSCRIPTS: Final[list[Transcript]] = []


def heard(
    *,
    normal: str,
    terse: str | None = None,
    detailed: str | None = None,
    answer: Any = "silence",
    listens: Literal["from the start", "without answers", "later"] = "from the start",
    **settings: Any,
) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
    """Register an agent with what is heard of it; what is not given is as at the normal verbosity."""

    def register(agent: Callable[[Stage], None]) -> Callable[[Stage], None]:
        texts = {"terse": terse or normal, "normal": normal, "detailed": detailed or normal}
        lines = {verbosity: [line.strip() for line in text.strip().splitlines()] for verbosity, text in texts.items()}
        producer = {"agent_id": "files", "name": "Files", **settings}
        TRANSCRIPTS.append(Transcript(agent.__name__, agent, lines, answer, producer, listens))
        return agent

    return register


def perform(transcript: Transcript, verbosity: Verbosity) -> list[str]:
    """Let the agent act, and return what was heard."""
    stage = Stage(transcript, verbosity)
    with stage.producer:
        if transcript.listens != "later":
            stage.listen(replies=transcript.listens == "from the start")
        transcript.agent(stage)
        stage.settle()
        return stage.heard
