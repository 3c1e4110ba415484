"""
Readers that keep up, and how all of them are written to.

Nothing of a reader is touched but what takes its bytes: with a thousand of
them, what takes time is to fetch the rest from memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:
    from .stream import Item, Subscription

__all__ = ["Batch", "Readers", "Sink", "broken", "pass_full", "spread"]

_log: Final = logging.getLogger("aaep.hub")


class Sink(Protocol):
    """
    What takes the bytes of one outlet and of nobody else: it has no more in it than was written here.

    An outlet says so with its ``sink``. One without has to be looked at before each write.
    """

    def write(self, data: bytes) -> None: ...


class Batch:
    """One way of framing, who is written to in it, and what is being written; nothing, most of the time."""

    __slots__ = ("data", "frame", "sinks")

    def __init__(self, frame: Callable[[str, bytes], bytes]) -> None:
        self.frame = frame
        self.sinks: list[Sink] = []
        self.data = b""

    def framed(self, items: Sequence[Item]) -> bytes:
        if len(items) == 1:
            return self.frame(items[0].mark[1], items[0].data)
        frame = self.frame
        return b"".join([frame(item.mark[1], item.data) for item in items])


class Readers:
    """Live readers in the order in which they connected, and what is being written to each."""

    __slots__ = ("batches", "doubtful", "sinks", "subscriptions")

    def __init__(self, several: Iterable[tuple[Subscription, Batch]] = ()) -> None:
        ordered = sorted(several, key=lambda one: one[0].turn)
        self.subscriptions = [subscription for subscription, _ in ordered]
        self.batches = [batch for _, batch in ordered]
        self.sinks = [cast(Sink, getattr(one.outlet, "sink", one.outlet)) for one in self.subscriptions]
        self.doubtful = [one for one in self.subscriptions if not hasattr(one.outlet, "sink")]

    def __iter__(self) -> Iterator[tuple[Subscription, Batch]]:
        return zip(self.subscriptions, self.batches, strict=True)


def spread(readers: Readers) -> list[Subscription]:
    """
    Write to live readers what their streams have loaded, once each. Gives back those whose connection failed.

    Readers are taken in the order in which they connected, whatever their
    terms: the kernel is a quarter faster that way.
    """
    failed = []
    for sink, batch in zip(readers.sinks, readers.batches, strict=True):
        data = batch.data
        if data:
            try:
                sink.write(data)
            except Exception:
                failed.append(broken(readers, sink))
    return failed


def pass_full(readers: Iterable[Subscription], high: int, now: float) -> list[Subscription]:
    """Pass over live readers whose buffers are full: they trail from here on. Gives back those that failed."""
    failed = []
    for one in readers:
        try:
            if one.outlet is not None and one.outlet.waiting() > high:
                one.stream.pass_over(one)
                one.stalled, one.behind = now, True
        except Exception:
            failed.append(_passed_over(one))
    return failed


def broken(readers: Readers, sink: Sink) -> Subscription:
    """The reader whose connection just failed."""
    return _passed_over(readers.subscriptions[readers.sinks.index(sink)])


def _passed_over(subscription: Subscription) -> Subscription:
    _log.warning("A reader's connection failed while it was written to.", exc_info=True)
    subscription.stream.pass_over(subscription)
    return subscription
