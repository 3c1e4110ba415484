"""An output that a test holds in its hands: it hears what is presented, and says when an utterance has ended."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue

from aaep.errors import AaepError
from aaep.outputs.base import Finished, KeyPressed, Notice, OutputEvent
from aaep.presentation.queue import Speak


class ScriptedOutput:
    """A voice, or with ``paced=False`` a display, in a test's hands."""

    def __init__(self, name: str = "voice", *, paced: bool = True, missing: str = "") -> None:
        self.name = name
        self.is_paced = paced
        self.begun: SimpleQueue[Speak] = SimpleQueue()
        self.stopped: SimpleQueue[int] = SimpleQueue()
        self.changes: SimpleQueue[str] = SimpleQueue()
        self.current: Speak | None = None
        self.is_closed = False
        self._missing = missing
        self._rate = 180
        self._report: Callable[[OutputEvent], None] = lambda event: None

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        if self._missing:
            raise AaepError(self._missing)
        self._report = report

    def present(self, utterance: Speak) -> None:
        self.begun.put(utterance)

    def stop(self, utterance_id: int) -> None:
        self.stopped.put(utterance_id)

    def close(self) -> None:
        self.is_closed = True

    def pause(self) -> None:
        self.changes.put("pause")

    def resume(self) -> None:
        self.changes.put("resume")

    def change_rate(self, steps: int) -> int:
        self._rate += 20 * steps
        return self._rate

    # -- the test's side -------------------------------------------------------------------

    def hear(self) -> str:
        """Wait for the next utterance, and return its text."""
        self.current = self.begun.get(timeout=10)
        return self.current.text

    def finish(self) -> None:
        """Report the end of the utterance that was heard last."""
        assert self.current is not None
        self._report(Finished(self.current.utterance_id))

    def hear_all(self) -> str:
        """Hear the next utterance to its end."""
        text = self.hear()
        self.finish()
        return text

    def press(self, key: str) -> None:
        self._report(KeyPressed(key))

    def notify(self, text: str) -> None:
        self._report(Notice(text))
