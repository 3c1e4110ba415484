"""Sending what the person decided, without making the person wait for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Protocol

from ..errors import AaepError, ProtocolError
from ..protocol.events import Envelope, ProducerInfo
from ..protocol.messages import Capabilities
from ..transports.base import ChannelLost, Later

__all__ = ["Reader", "Sender", "why"]

SENDING: Final = 30.0  # seconds that sending may take


class Reader(Protocol):
    """What a terminal needs of a subscriber."""

    @property
    def terms(self) -> Capabilities | None: ...

    @property
    def producer(self) -> ProducerInfo | None: ...

    def __iter__(self) -> Iterator[Envelope]: ...

    def accept(self, prompt: Envelope, /) -> Later[Any]: ...

    def reject(self, prompt: Envelope, /) -> Later[Any]: ...

    def answer(self, prompt: Envelope, response: Any, /) -> Later[Any]: ...

    def renegotiate(self, **wishes: Any) -> Later[Any]: ...

    def close(self) -> object: ...


class Sender:
    """
    Sends one thing after the other, in order, from a thread of its own.

    ``post`` has the loop of the terminal call something; ``broken`` is told of
    a mistake in the program.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], broken: Callable[[Exception], None]) -> None:
        self.reader: Reader | None = None
        self._post, self._broken = post, broken
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def send(
        self, call: Callable[[Reader], Later[Any]], done: Callable[[Any], None], failed: Callable[[str], None]
    ) -> None:
        """Have it sent; then ``done`` is called with what came of it, or ``failed`` with the reason."""
        self._jobs.put(partial(self._try, call, done, failed))

    def _try(
        self, call: Callable[[Reader], Later[Any]], done: Callable[[Any], None], failed: Callable[[str], None]
    ) -> None:
        try:
            if self.reader is None:
                raise ChannelLost("There is no connection yet.")
            value = call(self.reader).wait(SENDING)
        except (AaepError, TimeoutError, OSError, CancelledError) as error:
            self._post(partial(failed, why(error)))
        except Exception as error:
            self._post(partial(self._broken, error))
        else:
            self._post(partial(done, value))

    def run(self) -> None:
        """What its thread does until :meth:`stop`."""
        while (job := self._jobs.get()) is not None:
            job()

    def stop(self) -> None:
        self._jobs.put(None)


def why(error: Exception) -> str:
    """What went wrong, in sentences and without the numbers of rules."""
    if isinstance(error, ProtocolError):
        return " ".join([str(error).split("\n", 1)[0], *(one.message for one in error.violations)])
    return str(error) or "It took too long, and may have arrived or not."
