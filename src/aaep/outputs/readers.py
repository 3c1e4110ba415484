"""
Several agents at one terminal: a set of readers that looks like one.

Each agent has a connection of its own, and a lost one disturbs no other. Every line about a connection names its
agent, and a reply goes to the agent that asked. A session belongs to the connection that it was first heard on: an
agent that can be reached both directly and through a hub is heard once, and no agent can speak for another.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, Final, Unpack

from ..errors import AaepError, LocalProtocolError
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, ProducerInfo
from ..protocol.fields import get_member
from ..protocol.messages import Capabilities
from ..runtime.background import Waitable
from ..subscriber.request import TermsChanges
from ..subscriber.status import Status
from ..text.imitation import guard_name
from ..text.phrases import ENGLISH, Phrases
from ..transports.base import ChannelLost
from .sender import SEND_TIMEOUT, Reader, describe_error

__all__ = ["ConnectReader", "Readers", "choose_reader", "find_lane"]

ConnectReader = Callable[[Callable[[Status], None]], Reader]

_MAX_REMEMBERED: Final = 1000  # sessions and prompts of each agent
_SEVERAL_AGENTS: Final = ProducerInfo(agent_id="")  # no event is from this one, so that each is named


class _Member:
    """One of the readers, with what was told of its connection and what is its own."""

    def __init__(
        self, address: str, connect: ConnectReader, *, arrives: bool, is_optional: bool, on_lost: Callable[[], None]
    ) -> None:
        self.address = address
        self.connect = connect
        self.arrives = arrives
        self.is_optional = is_optional
        self.on_lost = on_lost
        self.reader: Reader | None = None
        self.has_connected = False
        self.is_lost = False
        self.has_ended = False
        self.sessions: dict[str, None] = {}
        self.prompts: dict[str, None] = {}  # their reply tokens
        self.missed_changes: dict[str, Any] = {}  # terms that were asked for while it was not there

    @property
    def producer(self) -> ProducerInfo | None:
        return self.reader.producer if self.reader is not None else None

    @property
    def terms(self) -> Capabilities | None:
        return self.reader.terms if self.reader is not None else None

    @property
    def name(self) -> str:
        """The agent's name, or its address before it was ever reached."""
        producer = self.producer
        if producer is None:
            return guard_name(self.address)
        return guard_name(get_member(producer, "agent_name") or producer.agent_id)


class Readers:
    """
    The readers of several agents, for a terminal that holds them as one.

    ``on_status`` is called as that of a single reader, with sentences that name the agent. Iteration ends when all
    have ended, or with the error of the last one; with ``is_open`` more may come, and it ends with :meth:`close`.
    """

    def __init__(
        self,
        on_status: Callable[[Status], None],
        *,
        replies: bool = True,
        is_open: bool = False,
        phrases: Phrases = ENGLISH,
    ) -> None:
        self._on_status = on_status
        self._phrases = phrases
        self._replies = replies
        self._is_open = is_open
        self._has_begun = False  # before all are known, the end of one must not be taken for the end of all
        self.closed = threading.Event()
        self._lock = threading.RLock()
        self._members: list[_Member] = []
        self._changes: dict[str, Any] = {}  # of the terms of all
        self._arrivals: SimpleQueue[Envelope | None] = SimpleQueue()
        self._last_error: AaepError | None = None
        self._bug: Exception | None = None

    def add(
        self,
        address: str,
        connect: ConnectReader,
        *,
        arrives: bool = False,
        is_optional: bool = False,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Connect to one more agent, when the iteration begins or at once after that; from any thread.

        One that ``arrives`` is said to be here, not to be connected to. Nothing is said of one that is optional and
        never there. ``on_lost`` is called when its connection is lost for good.
        """
        member = _Member(address, connect, arrives=arrives, is_optional=is_optional, on_lost=on_lost)
        with self._lock:
            if self.closed.is_set():
                return
            member.missed_changes = dict(self._changes)
            self._members.append(member)
            if self._has_begun:
                self._start(member)

    def _start(self, member: _Member) -> None:
        threading.Thread(target=self._read, args=(member,), name="aaep-reader", daemon=True).start()

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses of the agents that are listened to, or waited for."""
        with self._lock:
            return frozenset(member.address for member in self._members)

    # -- as one reader -----------------------------------------------------------------------

    @property
    def terms(self) -> Capabilities | None:
        """Terms that grant answers if any agent does; None while it is not known that none will."""
        with self._lock:
            granted = [member.terms for member in self._members]
        answering = [terms for terms in granted if terms is not None and _takes_answers(terms)]
        if answering:
            return answering[0]
        return None if self._is_open or None in granted or not granted else granted[0]

    @property
    def producer(self) -> ProducerInfo | None:
        """The agent, if it is the only one; of several, one that no event is from."""
        with self._lock:
            producers = [member.producer for member in self._members]
        known = [producer for producer in producers if producer is not None]
        return known[0] if len(known) == 1 else _SEVERAL_AGENTS if known else None

    def __iter__(self) -> Iterator[Envelope]:
        with self._lock:
            self._has_begun = True
            for member in self._members:
                self._start(member)
            self._end_if_all_have()
        return self._take_arrivals()

    def _take_arrivals(self) -> Iterator[Envelope]:
        while (event := self._arrivals.get()) is not None:
            yield event
        if self._bug is not None:
            raise self._bug
        if self._last_error is not None and not self.closed.is_set():
            raise self._last_error

    def accept(self, prompt: Envelope, /) -> Waitable[Any]:
        """Accept a prompt, at the agent that asked."""
        return self.find_reader(prompt).accept(prompt)

    def reject(self, prompt: Envelope, /) -> Waitable[Any]:
        """Reject a prompt, at the agent that asked."""
        return self.find_reader(prompt).reject(prompt)

    def answer(self, prompt: Envelope, response: Any, /) -> Waitable[Any]:
        """Answer a question, at the agent that asked."""
        return self.find_reader(prompt).answer(prompt, response)

    def renegotiate(self, **changes: Unpack[TermsChanges]) -> Waitable[Any]:
        """Ask all agents for changed terms; one that is not there now is asked when it is back."""
        with self._lock:
            self._changes.update(changes)
            members = [*self._members]
        pending: list[tuple[_Member, Waitable[Any]]] = []
        errors: list[AaepError] = []
        for member in members:
            try:
                if member.reader is None or member.is_lost or not member.has_connected:
                    raise LocalProtocolError(self._phrases["not_connected"])
                pending.append((member, member.reader.renegotiate(**changes)))
            except AaepError as error:
                member.missed_changes.update(changes)
                errors.append(error)
        granted: Any = None
        for member, waitable in pending:
            try:
                granted = waitable.wait(SEND_TIMEOUT)
            except (AaepError, TimeoutError) as error:
                member.missed_changes.update(changes)
                errors.append(error if isinstance(error, AaepError) else AaepError(self._phrases["may_have_arrived"]))
        if errors and len(errors) == len(members):
            raise errors[0]
        done: Waitable[Any] = Waitable()
        done.set_result(granted)
        return done

    def close(self) -> None:
        """Close all connections at the same time."""
        with self._lock:
            self.closed.set()
            readers = [member.reader for member in self._members if member.reader is not None]
        threads = [threading.Thread(target=_close_reader, args=(reader,), daemon=True) for reader in readers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._arrivals.put(None)

    def find_reader(self, prompt: Envelope) -> Reader:
        """Return the reader of the agent that a prompt is from."""
        member = self._find_member(prompt)
        if member is None or member.reader is None:
            raise LocalProtocolError(self._phrases["asker-gone"])
        return member.reader

    def find_lane(self, prompt: Envelope) -> str:
        """Return what tells the agent that a prompt is from apart from the others; empty if it is gone."""
        member = self._find_member(prompt)
        return "" if member is None else member.address

    def _find_member(self, prompt: Envelope) -> _Member | None:
        token = get_member(prompt, "reply_token")
        with self._lock:
            return next((member for member in self._members if token in member.prompts), None)

    # -- one of them -------------------------------------------------------------------------

    def _read(self, member: _Member) -> None:
        """Connect, and pass on what comes, in a thread of its own."""
        error: Exception | None = None
        try:
            reader = member.connect(lambda status: self._handle_status(member, status))
            with self._lock:
                member.reader = reader
                is_closed = self.closed.is_set()
            if is_closed:  # meanwhile
                _close_reader(reader)
                return
            for event in reader:
                if self._take(member, event):
                    self._arrivals.put(event)
        except Exception as caught:
            error = caught
        self._handle_end(member, error)

    def _take(self, member: _Member, event: Envelope) -> bool:
        """Whether an event is heard on this connection, because its session is not another one's."""
        with self._lock:
            if any(event.session_id in other.sessions for other in self._members if other is not member):
                return False
            _remember(member.sessions, event.session_id)
            token = get_member(event, "reply_token")
            if isinstance(event, (AwaitingConfirmation, AwaitingClarification)) and isinstance(token, str):
                if any(token in other.prompts for other in self._members if other is not member):
                    return False
                _remember(member.prompts, token)
            return True

    def _handle_end(self, member: _Member, error: Exception | None) -> None:
        with self._lock:
            member.has_ended = True
            self._members.remove(member)
            is_last = not self._members and not self._is_open
            if error is not None and not isinstance(error, AaepError):
                self._bug = error  # which must not be hidden
                self._arrivals.put(None)
                return
            if error is not None and is_last:
                self._last_error = error
            self._end_if_all_have()
        if isinstance(error, ChannelLost):
            member.on_lost()
        is_silent = member.is_optional and not member.has_connected and isinstance(error, ChannelLost)
        if error is not None and not is_last and not self.closed.is_set() and not is_silent:
            reason = describe_error(error, self._phrases)
            self._tell(self._phrases.format("connection-ended-name", agent=member.name, reason=reason))

    def _end_if_all_have(self) -> None:
        if not self._members and not self._is_open:
            self._arrivals.put(None)

    # -- what is told of connections -----------------------------------------------------------

    def _tell(self, text: str) -> None:
        self._on_status(Status("notice", text))

    def _handle_status(self, member: _Member, status: Status) -> None:
        """Tell the status of a connection with the name of its agent, once for each change."""
        if status.kind in ("connected", "resumed", "gap"):
            connected = "arrived" if member.arrives else "connected-name"
            phrase = {"connected": connected, "resumed": "reconnected-name", "gap": "gap-name"}[status.kind]
            member.has_connected = True
            member.is_lost = False
            self._on_status(Status(status.kind, self._phrases.format(phrase, agent=member.name)))
            if self._replies and member.terms is not None and not _takes_answers(member.terms):
                self._tell(self._phrases.format("no_answers-name", agent=member.name))
            self._send_missed_changes(member)
        elif status.kind == "waiting" and not member.is_lost:
            member.is_lost = True
            if status.reason_code:
                ended = self._phrases.format("closed-producer_shutdown", agent=member.name)
                self._tell(f"{ended} {self._phrases['waiting']}")
            elif member.has_connected:
                self._tell(self._phrases.format("connection-lost-name", agent=member.name, reason=status.text))
            else:
                self._tell(self._phrases.format("waiting-name", agent=member.name))
        elif status.kind == "unread":
            self._on_status(Status("unread", f"{self._phrases.format('unread-name', agent=member.name)} {status.text}"))
        elif status.kind == "ended" and status.reason_code and not self.closed.is_set():
            self._tell(status.text)

    def _send_missed_changes(self, member: _Member) -> None:
        """Ask for the terms that were changed while the agent was not there; nobody waits for the answer."""
        with self._lock:
            changes = member.missed_changes
            member.missed_changes = {}
            reader = member.reader
        if not changes or reader is None:
            member.missed_changes = changes
            return
        with contextlib.suppress(AaepError):  # it is gone again
            reader.renegotiate(**changes)


def choose_reader(reader: Reader, prompt: Envelope) -> Reader:
    """Return the reader of the agent that a prompt is from: of several that one, otherwise the only one."""
    return reader.find_reader(prompt) if isinstance(reader, Readers) else reader


def find_lane(reader: Reader | None, prompt: Envelope) -> str:
    """Return the lane in which to reply to a prompt: of several agents each has its own."""
    return reader.find_lane(prompt) if isinstance(reader, Readers) else ""


def _takes_answers(terms: Capabilities) -> bool:
    return terms.supports_confirmation_reply is True or terms.supports_clarification_reply is True


def _close_reader(reader: Reader) -> None:
    with contextlib.suppress(AaepError, OSError):  # it ends in any case
        reader.close()


def _remember(known: dict[str, None], key: str) -> None:
    """Add a key to those that are known, and forget the oldest of too many."""
    known.pop(key, None)
    known[key] = None
    if len(known) > _MAX_REMEMBERED:
        del known[next(iter(known))]
