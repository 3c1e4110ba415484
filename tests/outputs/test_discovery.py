"""Agents that are found: who is there at first, who comes later, and who is left alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container
from queue import Empty, SimpleQueue

from aaep.outputs.discovery import Discovery
from aaep.outputs.readers import Readers
from aaep.protocol.events import ProducerInfo
from aaep.subscriber.status import Status
from aaep.transports.base import ChannelLost
from aaep.transports.unix.discovery import FoundAgent
from tests.outputs.test_readers import ANSWERS, Listened


class Place:
    """A machine on which agents appear, and a person who looks when the test says so."""

    def __init__(self, *found: FoundAgent) -> None:
        self.found = [*found]
        self.told: SimpleQueue[Status] = SimpleQueue()
        self.scripts: SimpleQueue[Listened] = SimpleQueue()
        self.readers = Readers(self.told.put, is_open=True)
        self._looks: SimpleQueue[bool] = SimpleQueue()
        discovery = Discovery(self.readers, self._scan, self._connect, self.told.put, wait_for_next=self._looks.get)
        discovery.start()
        self.arriving = iter(self.readers)

    def _scan(self, known: Container[str]) -> list[FoundAgent]:
        return [agent for agent in self.found if agent.identity not in known]

    def _connect(self, url: str, on_status: Callable[[Status], None]) -> Listened:
        script = Listened()
        script.connect(on_status)
        self.scripts.put(script)
        return script

    def look(self) -> None:
        self._looks.put(True)

    def connect(self, name: str) -> Listened:
        script = self.scripts.get(timeout=30)
        assert script.is_read.wait(30)
        script.producer, script.terms = ProducerInfo(agent_id=name.lower(), agent_name=name), ANSWERS
        script.tell(Status("connected", "Connected."))
        return script

    def look_until_joined(self, name: str) -> None:
        """Look again and again: nothing is heard by which to know when the one before was forgotten."""
        while self.scripts.empty():
            self.look()
            with contextlib.suppress(Empty):
                self.scripts.put(self.scripts.get(timeout=0.2))
        self.connect(name)

    def hear(self) -> str:
        return self.told.get(timeout=30).text

    def close(self) -> None:
        self._looks.put(False)
        self.readers.close()


def test_who_is_there_is_connected_to_and_who_comes_later_is_said_to_be_here() -> None:
    place = Place(FoundAgent("unix:bank", "bank 1"))
    place.connect("Bank")
    assert place.hear() == "Connected to Bank."
    place.found.append(FoundAgent("unix:weather", "weather 1"))
    place.look()
    place.connect("Weather Agent")
    assert place.hear() == "New agent: Weather Agent."
    place.close()


def test_it_is_said_when_nobody_is_there() -> None:
    place = Place()
    assert place.hear() == "No agent is running yet. Each that begins is listened to."
    place.close()


def test_what_is_refused_is_told_once_and_not_connected_to() -> None:
    place = Place(FoundAgent("unix:thief", "thief 1", problem="That socket belongs to another user."))
    assert place.hear() == "That socket belongs to another user."
    assert place.hear() == "No agent is running yet. Each that begins is listened to."
    place.found.append(FoundAgent("unix:bank", "bank 1"))
    place.look()
    place.connect("Bank")
    assert place.hear() == "New agent: Bank.", "and nothing in between"
    place.close()


def test_one_that_was_lost_for_good_is_joined_again_and_one_that_was_never_there_is_not_mentioned() -> None:
    place = Place(FoundAgent("unix:bank", "bank 1"))
    script = place.connect("Bank")
    assert place.hear() == "Connected to Bank."
    script.events.put(ChannelLost("Gave up."))
    assert place.hear() == "The connection to Bank has ended for good. Gave up."
    place.look()
    place.scripts.get(timeout=30).events.put(ChannelLost("Nobody answers."))
    place.look_until_joined("Bank")
    assert place.hear() == "New agent: Bank."
    place.close()
