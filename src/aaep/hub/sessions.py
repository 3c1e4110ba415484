"""The sessions a hub serves: who may hear each, and the prompts withheld until a reader can answer them."""

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
    How a session stands, for a reader that joins in the middle of it. CF-007, CF-091, CF-146

    ``last_event_id`` names the last event that was published when the snapshot
    was taken, so that nothing the state tells already is sent after it.
    """

    started: Envelope | None = None
    pending_prompts: list[Envelope] = []
    state: StateChanged | None = None
    last_event_id: str = ""


class SessionSource(Protocol):
    """
    The authority over one session, as the hub sees it.

    Its methods are called on the hub's loop, take its own lock, and wait for nothing else.
    """

    @property
    def session_id(self) -> str:
        """The id in all its events."""

    @property
    def audience(self) -> frozenset[str] | None:
        """The principals that may hear and answer (CF-145); None for all that the hub admits."""

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """Note that a reader has joined, and return a snapshot for it, taken in one moment."""

    def terms_changed(self, subscription: Subscription) -> None:
        """Note that a reader's terms have changed (CF-035, CF-028)."""

    def subscription_ended(self, subscription_id: str) -> None:
        """Note that a subscription was closed, or did not come back in time (CF-003, CF-004)."""

    def reply(self, message: Reply, via: str) -> None:
        """Take a reply to one of its tokens."""

    def owns_token(self, token: str) -> bool:
        """Whether this session issued the token."""

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Stop the session, as a reader that may answer its prompts asks (CF-147)."""


class SessionRegistry:
    """The open sessions of a hub, and the audiences of those that ended. From any thread."""

    def __init__(self, audience: Callable[[str], frozenset[str] | None]) -> None:
        """``audience`` returns who may hear a session of an earlier run."""
        self._audience = audience
        self._lock = threading.RLock()  # a signal handler may ask while its thread has it
        self._open: dict[str, SessionSource] = {}
        self._open_sessions: tuple[SessionSource, ...] | None = None  # a copy, until one begins or ends
        self._ended: dict[str, frozenset[str] | None] = {}
        self.withheld: dict[str, dict[str, tuple[Envelope, bytes]]] = {}  # by session and event
        self.has_attached_hub = False  # a hub elsewhere receives the events
        self._unheard: dict[str, None] = {}  # sessions that ended while none did

    def __len__(self) -> int:
        return len(self._open)

    def open(self, source: SessionSource) -> None:
        """Add a session that begins."""
        with self._lock:
            self._open[source.session_id] = source
            self._open_sessions = None

    def end(self, source: SessionSource) -> None:
        """Remove a session that has ended, and remember its audience."""
        with self._lock:
            self._open.pop(source.session_id, None)
            self._open_sessions = None
            self.withheld.pop(source.session_id, None)
            remember_bounded(self._ended, source.session_id, source.audience)
            if not self.has_attached_hub:
                remember_bounded(self._unheard, source.session_id, None)

    def unheard_by_hub(self) -> set[str]:
        """Return the sessions that a hub which attaches now has not heard of: open ones, and those ended without it."""
        with self._lock:
            return {*self._open, *self._unheard}

    def mark_heard_by_hub(self) -> None:
        """Note that an attached hub has heard of every session that ended."""
        with self._lock:
            self._unheard.clear()

    def _list_open(self) -> tuple[SessionSource, ...]:
        sessions = self._open_sessions
        if sessions is None:
            with self._lock:
                sessions = self._open_sessions = (*self._open.values(),)
        return sessions

    def audible_to(self, peer: Peer) -> list[SessionSource]:
        """Return the open sessions that a peer may hear (CF-145)."""
        return [source for source in self._list_open() if peer.may_hear(source.audience)]

    def find_owner(self, token: str, peer: Peer) -> SessionSource | None:
        """Return the session that issued a token, if it is open and this peer may hear it."""
        for source in self._list_open():
            if source.owns_token(token) and peer.may_hear(source.audience):
                return source
        return None

    def is_known(self, session_id: str) -> bool:
        """Whether a session is one of this run."""
        return session_id in self._open or session_id in self._ended

    def earlier_audience(self, session_id: str) -> frozenset[str] | None:
        """Return who may hear a session of an earlier run."""
        return self._audience(session_id)

    def audience_of(self, session_id: str) -> frozenset[str] | None:
        """Return who may hear a session, open or not."""
        with self._lock:
            source = self._open.get(session_id)
            if source is not None:
                return source.audience
            if session_id in self._ended:
                return self._ended[session_id]
        return self.earlier_audience(session_id)

    def is_audible(self, session_id: str, peer: Peer) -> bool:
        """Whether a peer may hear a session, open or not."""
        return peer.may_hear(self.audience_of(session_id))

    def withhold(self, source: SessionSource, event: Envelope, data: bytes) -> None:
        """Keep a prompt back until a reader can answer it (CF-001, CF-002)."""
        with self._lock:
            self.withheld.setdefault(source.session_id, {})[event.event_id] = (event, data)

    def discard_withheld(self, event: Envelope) -> None:
        """Forget a withheld prompt, which the session itself has sent."""
        with self._lock:
            self.withheld.get(event.session_id, {}).pop(event.event_id, None)

    def is_withheld(self, event: Envelope) -> bool:
        """Whether a prompt is withheld."""
        return event.event_id in self.withheld.get(event.session_id, ())

    def has_withheld(self, source: SessionSource) -> bool:
        """Whether any prompt of a session is withheld."""
        return bool(self.withheld.get(source.session_id))

    def release(self, event: Envelope) -> tuple[Envelope, bytes]:
        """Return a prompt, and its bytes, that is withheld no longer."""
        with self._lock:
            return self.withheld[event.session_id].pop(event.event_id)


def remember_bounded(known: dict[K, V], name: K, value: V) -> None:
    """Add to a dict of bounded size, dropping its oldest entry when it is full."""
    known[name] = value
    if len(known) > MAX_REMEMBERED:
        del known[next(iter(known))]
