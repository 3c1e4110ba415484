"""Sending of replies in order, from a thread of its own, so that the terminal never waits for the network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Protocol, Unpack

from ..errors import AaepError, ProtocolError
from ..protocol.events import Envelope, ProducerInfo
from ..protocol.messages import Capabilities
from ..runtime.background import Waitable
from ..subscriber.request import TermsChanges
from ..text.phrases import ENGLISH, Phrases
from ..transports.base import ChannelLost

__all__ = ["Reader", "Sender", "describe_error"]

SEND_TIMEOUT: Final = 30.0  # seconds


class Reader(Protocol):
    """The part of a subscriber that a terminal uses."""

    @property
    def terms(self) -> Capabilities | None:
        """The terms that the producer granted, None before it did."""

    @property
    def producer(self) -> ProducerInfo | None:
        """The producer at the other end, None before it is known."""

    def __iter__(self) -> Iterator[Envelope]: ...

    def accept(self, prompt: Envelope, /) -> Waitable[Any]:
        """Accept a prompt."""

    def reject(self, prompt: Envelope, /) -> Waitable[Any]:
        """Reject a prompt."""

    def answer(self, prompt: Envelope, response: Any, /) -> Waitable[Any]:
        """Answer a question."""

    def renegotiate(self, **changes: Unpack[TermsChanges]) -> Waitable[Any]:
        """Ask for changed terms."""

    def close(self) -> object:
        """Close the subscription."""


class Sender:
    """
    Makes calls of a reader one after the other, in order, from a thread of its own.

    ``call_soon`` schedules a call on the terminal's loop, where all callbacks
    run; ``on_error`` is called with an exception that is a bug in the program.
    Calls to several agents have a lane each, with a thread of its own, so that
    one that does not answer holds up no other.
    """

    def __init__(
        self,
        call_soon: Callable[[Callable[[], None]], None],
        on_error: Callable[[Exception], None],
        phrases: Phrases = ENGLISH,
    ) -> None:
        self.reader: Reader | None = None
        self._call_soon = call_soon
        self._on_error = on_error
        self._phrases = phrases
        self._lanes: dict[str, SimpleQueue[Callable[[], None] | None]] = {"": SimpleQueue()}

    def send(
        self,
        call: Callable[[Reader], Waitable[Any]],
        on_success: Callable[[Any], None],
        on_failure: Callable[[str], None],
        *,
        lane: str = "",
    ) -> None:
        """Queue a call; then ``on_success`` is called with its result, or ``on_failure`` with the reason."""
        if lane not in self._lanes:
            self._lanes[lane] = SimpleQueue()
            threading.Thread(target=_run_jobs, args=(self._lanes[lane],), name="aaep-send", daemon=True).start()
        self._lanes[lane].put(partial(self._run_job, call, on_success, on_failure))

    def _run_job(
        self,
        call: Callable[[Reader], Waitable[Any]],
        on_success: Callable[[Any], None],
        on_failure: Callable[[str], None],
    ) -> None:
        try:
            if self.reader is None:
                raise ChannelLost(self._phrases["not_connected"])
            value = call(self.reader).wait(SEND_TIMEOUT)
        except (AaepError, TimeoutError, OSError, CancelledError) as error:
            self._call_soon(partial(on_failure, describe_error(error, self._phrases)))
        except Exception as error:
            self._call_soon(partial(self._on_error, error))
        else:
            self._call_soon(partial(on_success, value))

    def run(self) -> None:
        """Make the queued calls until :meth:`stop`; this is what the thread runs."""
        _run_jobs(self._lanes[""])

    def stop(self) -> None:
        """End :meth:`run` after the calls that are queued."""
        for jobs in self._lanes.values():
            jobs.put(None)


def _run_jobs(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def describe_error(error: Exception, phrases: Phrases = ENGLISH) -> str:
    """Return what went wrong in sentences, without rule ids."""
    if isinstance(error, ProtocolError):
        return " ".join([str(error).split("\n", 1)[0], *(violation.message for violation in error.violations)])
    return str(error) or phrases["may_have_arrived"]
