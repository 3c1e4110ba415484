"""The sessions a hub serves: who may hear each, and what is kept back until somebody can answer it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec

from ..identity.peer import Peer
from ..protocol.events import CORE_EVENTS, Envelope, StateChanged
from ..protocol.messages import Manifest, Reply, SubscriptionRejected
from .stream import Subscription

__all__ = ["CatchUp", "Relays", "Source", "Sources", "Unread", "remember"]

REMEMBERED: Final = 10_000

K = TypeVar("K")
V = TypeVar("V")


class CatchUp(msgspec.Struct, frozen=True):
    """
    What a reader that joins in the middle of a session is sent. CF-007, CF-091, CF-146

    ``last`` is the id of the last event that was published when this was
    taken, so that what the state tells already is not sent after it.
    """

    started: Envelope | None = None
    pending: list[Envelope] = []
    state: StateChanged | None = None
    last: str = ""


class Unread(msgspec.Struct, gc=False):
    """An event as its bytes, which are read when somebody is there to hear it."""

    event_id: str
    cls: type[Envelope]

    def read(self, data: bytes) -> Envelope:
        return _READ[self.cls](data)


_READ: Final = {cls: msgspec.json.Decoder(cls).decode for cls in CORE_EVENTS.values()}


class Source(Protocol):
    """
    The authority over one session.

    Its methods are called on the hub's loop, take its own lock, and wait for nothing else.
    """

    @property
    def session_id(self) -> str: ...

    @property
    def audience(self) -> frozenset[str] | None:
        """The principals that may hear and answer (CF-145); None: all that the hub lets in."""

    def catch_up(self, subscription: Subscription) -> CatchUp:
        """A reader has joined: count it as a replier if its terms say so; what to send it, taken in one moment."""

    def changed(self, subscription: Subscription) -> None:
        """A reader's terms have changed (CF-035, CF-028)."""

    def left(self, subscription_id: str) -> None:
        """A subscription was closed, or did not come back in time (CF-003, CF-004)."""

    def reply(self, message: Reply, via: str) -> None:
        """A reply to one of its tokens."""

    def owns(self, token: str) -> bool:
        """Whether this session issued the token."""

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Somebody who may answer its prompts wants it stopped (CF-147)."""


class Relays(Protocol):
    """Takes agents that come to a hub from elsewhere."""

    def arrived(self, manifest: Manifest, peer: Peer, wire: Any) -> SubscriptionRejected | None:
        """An agent has come, or has come back, with a connection of its own; what it is told if it may not."""


class Sources:
    """The sessions that are open, and who was allowed to hear those that ended. From any thread."""

    def __init__(self, audience: Callable[[str], frozenset[str] | None]) -> None:
        """``audience`` says who may hear a session that was never here, one of an earlier run."""
        self._audience = audience
        self._lock = threading.RLock()  # a signal handler may ask while its thread has it
        self._open: dict[str, Source] = {}
        self._listed: tuple[Source, ...] | None = None  # the same, until one begins or ends
        self._ended: dict[str, frozenset[str] | None] = {}
        self.withholds: dict[str, dict[str, tuple[Envelope, bytes]]] = {}  # by session and event
        self.attached = False  # a hub elsewhere hears what is said
        self._missed: dict[str, None] = {}  # what ended while none did

    def __len__(self) -> int:
        return len(self._open)

    def open(self, source: Source) -> None:
        with self._lock:
            self._open[source.session_id] = source
            self._listed = None

    def shut(self, source: Source) -> None:
        with self._lock:
            self._open.pop(source.session_id, None)
            self._listed = None
            self.withholds.pop(source.session_id, None)
            remember(self._ended, source.session_id, source.audience)
            if not self.attached:
                remember(self._missed, source.session_id, None)

    def untold(self) -> set[str]:
        """The sessions that a hub which begins to listen knows nothing of: those that go on, or ended without it."""
        with self._lock:
            return {*self._open, *self._missed}

    def caught_up(self) -> None:
        """A hub has heard of all that ended."""
        with self._lock:
            self._missed.clear()

    def _all(self) -> tuple[Source, ...]:
        listed = self._listed
        if listed is None:
            with self._lock:
                listed = self._listed = (*self._open.values(),)
        return listed

    def heard_by(self, peer: Peer) -> list[Source]:
        """The open sessions that somebody may hear (CF-145)."""
        return [one for one in self._all() if peer.hears(one.audience)]

    def owner(self, token: str, peer: Peer) -> Source | None:
        """The session that issued a token, if it is open and this peer may hear it."""
        for one in self._all():
            if one.owns(token) and peer.hears(one.audience):
                return one
        return None

    def knows(self, session_id: str) -> bool:
        """Whether it is a session of this run."""
        return session_id in self._open or session_id in self._ended

    def earlier(self, session_id: str) -> frozenset[str] | None:
        """Who may hear a session of an earlier run."""
        return self._audience(session_id)

    def audience(self, session_id: str) -> frozenset[str] | None:
        """Who may hear a session, open or not."""
        with self._lock:
            source = self._open.get(session_id)
            if source is not None:
                return source.audience
            if session_id in self._ended:
                return self._ended[session_id]
        return self.earlier(session_id)

    def audible(self, session_id: str, peer: Peer) -> bool:
        """Whether somebody may hear a session, open or not."""
        return peer.hears(self.audience(session_id))

    def withhold(self, source: Source, event: Envelope, data: bytes) -> None:
        """Keep a prompt back (CF-001, CF-002)."""
        with self._lock:
            self.withholds.setdefault(source.session_id, {})[event.event_id] = (event, data)

    def told(self, event: Envelope) -> None:
        """The session itself has sent what was kept back."""
        with self._lock:
            self.withholds.get(event.session_id, {}).pop(event.event_id, None)

    def withheld(self, event: Envelope) -> bool:
        """Whether a prompt is kept back."""
        return event.event_id in self.withholds.get(event.session_id, ())

    def keeps(self, source: Source) -> bool:
        """Whether anything of a session is kept back."""
        return bool(self.withholds.get(source.session_id))

    def release(self, event: Envelope) -> tuple[Envelope, bytes]:
        """A prompt that need not be kept back any longer, and its bytes."""
        with self._lock:
            return self.withholds[event.session_id].pop(event.event_id)


def remember(known: dict[K, V], name: K, value: V) -> None:
    """Add to what is known, and forget what was learnt first when it gets too much."""
    known[name] = value
    if len(known) > REMEMBERED:
        del known[next(iter(known))]
