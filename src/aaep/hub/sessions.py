"""The sessions a hub serves: who may hear each, and what is kept back until somebody can answer it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeVar

import msgspec

from ..identity.peer import Peer
from ..protocol.events import Envelope, StateChanged
from ..protocol.messages import Reply
from .stream import Subscription

__all__ = ["SessionRegistry", "SessionSnapshot", "SessionSource", "remember_bounded"]

MAX_REMEMBERED: Final = 10_000

K = TypeVar("K")
V = TypeVar("V")


class SessionSnapshot(msgspec.Struct, frozen=True):
    """
    What a reader that joins in the middle of a session is sent. CF-007, CF-091, CF-146

    ``last`` is the id of the last event that was published when this was
    taken, so that what the state tells already is not sent after it.
    """

    started: Envelope | None = None
    pending_prompts: list[Envelope] = []
    state: StateChanged | None = None
    last_event_id: str = ""


class SessionSource(Protocol):
    """
    The authority over one session.

    Its methods are called on the hub's loop, take its own lock, and wait for nothing else.
    """

    @property
    def session_id(self) -> str: ...

    @property
    def audience(self) -> frozenset[str] | None:
        """The principals that may hear and answer (CF-145); None: all that the hub lets in."""

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """A reader has joined: count it as a replier if its terms say so; what to send it, taken in one moment."""

    def terms_changed(self, subscription: Subscription) -> None:
        """A reader's terms have changed (CF-035, CF-028)."""

    def subscription_ended(self, subscription_id: str) -> None:
        """A subscription was closed, or did not come back in time (CF-003, CF-004)."""

    def reply(self, message: Reply, via: str) -> None:
        """A reply to one of its tokens."""

    def owns_token(self, token: str) -> bool:
        """Whether this session issued the token."""

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Somebody who may answer its prompts wants it stopped (CF-147)."""


class SessionRegistry:
    """The sessions that are open, and who was allowed to hear those that ended. From any thread."""

    def __init__(self, audience: Callable[[str], frozenset[str] | None]) -> None:
        """``audience`` says who may hear a session that was never here, one of an earlier run."""
        self._audience = audience
        self._lock = threading.RLock()  # a signal handler may ask while its thread has it
        self._open: dict[str, SessionSource] = {}
        self._listed: tuple[SessionSource, ...] | None = None  # the same, until one begins or ends
        self._ended: dict[str, frozenset[str] | None] = {}
        self.withheld: dict[str, dict[str, tuple[Envelope, bytes]]] = {}  # by session and event
        self.has_attached_hub = False  # a hub elsewhere hears what is said
        self._unheard: dict[str, None] = {}  # what ended while none did

    def __len__(self) -> int:
        return len(self._open)

    def open(self, source: SessionSource) -> None:
        with self._lock:
            self._open[source.session_id] = source
            self._listed = None

    def end(self, source: SessionSource) -> None:
        with self._lock:
            self._open.pop(source.session_id, None)
            self._listed = None
            self.withheld.pop(source.session_id, None)
            remember_bounded(self._ended, source.session_id, source.audience)
            if not self.has_attached_hub:
                remember_bounded(self._unheard, source.session_id, None)

    def unheard_by_hub(self) -> set[str]:
        """The sessions that a hub which begins to listen knows nothing of: those that go on, or ended without it."""
        with self._lock:
            return {*self._open, *self._unheard}

    def mark_heard_by_hub(self) -> None:
        """A hub has heard of all that ended."""
        with self._lock:
            self._unheard.clear()

    def _all(self) -> tuple[SessionSource, ...]:
        listed = self._listed
        if listed is None:
            with self._lock:
                listed = self._listed = (*self._open.values(),)
        return listed

    def audible_to(self, peer: Peer) -> list[SessionSource]:
        """The open sessions that somebody may hear (CF-145)."""
        return [one for one in self._all() if peer.may_hear(one.audience)]

    def find_owner(self, token: str, peer: Peer) -> SessionSource | None:
        """The session that issued a token, if it is open and this peer may hear it."""
        for one in self._all():
            if one.owns_token(token) and peer.may_hear(one.audience):
                return one
        return None

    def is_known(self, session_id: str) -> bool:
        """Whether it is a session of this run."""
        return session_id in self._open or session_id in self._ended

    def earlier_audience(self, session_id: str) -> frozenset[str] | None:
        """Who may hear a session of an earlier run."""
        return self._audience(session_id)

    def audience_of(self, session_id: str) -> frozenset[str] | None:
        """Who may hear a session, open or not."""
        with self._lock:
            source = self._open.get(session_id)
            if source is not None:
                return source.audience
            if session_id in self._ended:
                return self._ended[session_id]
        return self.earlier_audience(session_id)

    def is_audible(self, session_id: str, peer: Peer) -> bool:
        """Whether somebody may hear a session, open or not."""
        return peer.may_hear(self.audience_of(session_id))

    def withhold(self, source: SessionSource, event: Envelope, data: bytes) -> None:
        """Keep a prompt back (CF-001, CF-002)."""
        with self._lock:
            self.withheld.setdefault(source.session_id, {})[event.event_id] = (event, data)

    def discard_withheld(self, event: Envelope) -> None:
        """The session itself has sent what was kept back."""
        with self._lock:
            self.withheld.get(event.session_id, {}).pop(event.event_id, None)

    def is_withheld(self, event: Envelope) -> bool:
        """Whether a prompt is kept back."""
        return event.event_id in self.withheld.get(event.session_id, ())

    def has_withheld(self, source: SessionSource) -> bool:
        """Whether anything of a session is kept back."""
        return bool(self.withheld.get(source.session_id))

    def release(self, event: Envelope) -> tuple[Envelope, bytes]:
        """A prompt that need not be kept back any longer, and its bytes."""
        with self._lock:
            return self.withheld[event.session_id].pop(event.event_id)


def remember_bounded(known: dict[K, V], name: K, value: V) -> None:
    """Add to what is known, and forget what was learnt first when it gets too much."""
    known[name] = value
    if len(known) > MAX_REMEMBERED:
        del known[next(iter(known))]
