"""
Joins sessions, journal, shaping and readers. It contains no rules of the protocol.

A :class:`Hub` has an event loop: its own in a thread, or the caller's. It sees a
session as a :class:`~aaep.hub.sessions.SessionSource`, and calls none while it
holds its own lock, so a session may call the hub while it holds its lock.

Its methods are of three groups: those for any thread (:meth:`Hub.publish` and its
neighbours); :meth:`Hub.aclose`, awaited on the loop; and those of
:class:`~aaep.hub.face.HubFace`, which transports call on the loop and which
never wait.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import AaepError, RemoteProtocolError, Violation
from ..identity.credentials import Unauthorised
from ..identity.peer import HUB_AGENT_ID, Peer
from ..journal.base import Journal
from ..protocol import codec, negotiation
from ..protocol.attend_extension import PREFIX
from ..protocol.catalogue import grade
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope
from ..protocol.fields import Message
from ..protocol.messages import (
    ClarificationReply,
    ConfirmationReply,
    Manifest,
    Reply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ..protocol.negotiation import Offer
from ..protocol.subscription import DEFAULT_CAPABILITIES
from ..runtime.background import BackgroundLoop, Waitable
from ..runtime.timers import Timers
from ..text.phrases import describe_close_reason
from ..text.sentences import CoalesceHint
from . import manifest as manifests
from .catch_up import CatchUp
from .delivery import Delivery
from .expiry import MAY_NOT_LISTEN, CredentialExpiry, restrict_offer
from .face import (
    NO_SUCH_SUBSCRIPTION,
    AgentConnection,
    Attachment,
    FrameWriter,
    Server,
    UnknownSubscription,
    UnreadableRequest,
)
from .metrics import format_metrics
from .sessions import SessionRegistry, SessionSource
from .settings import HubSettings
from .stream import Subscription
from .subscriptions import SubscriptionRegistry

__all__ = ["AgentAcceptor", "Hub"]

T = TypeVar("T")

_KINDS: Final[dict[str, type[Envelope]]] = {
    "confirmation": AwaitingConfirmation,
    "clarification": AwaitingClarification,
}
_REPLIES: Final = (ConfirmationReply, ClarificationReply)
MAX_HANDSHAKE_BYTES: Final = 64 * 1024  # of a request or a change of terms
CHEAP_BYTES: Final = 1024  # of a message that takes no time to judge, whatever it holds
REFUSAL_LOG_INTERVAL: Final = 60.0  # seconds between two lines about refused replies
_TRIM_EVERY: Final = 3600.0  # seconds between two looks at what the journal may forget
_CLOSING: Final = 1.5  # seconds for the servers to close
MAX_ROOM_WAIT: Final = 10.0  # seconds that a caller waits for room ...
_ROOM_CHECK: Final = 1.0  # ... and after how many it looks whether it waits in vain
SHUTTING_DOWN: Final = "The agent's side is shutting down. Try again later."

_log: Final = logging.getLogger("aaep.hub")


class AgentAcceptor(Protocol):
    """Accepts agents that connect to a hub from other processes."""

    def accept(self, manifest: Manifest, peer: Peer, connection: Any) -> SubscriptionRejected | None:
        """Accept an agent that connects, again or for the first time; return a rejection if it may not."""


class Hub:
    """
    Delivers what sessions publish to the readers that may hear it, and brings their replies back.

    ``audience`` returns who may hear a session of an earlier run that is in the
    journal; by default that is the user of this machine. ``clock`` is
    monotonic and measures deadlines, ``wall`` is for what outlives the process.
    """

    def __init__(
        self,
        offer: Offer,
        journal: Journal,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        settings: HubSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        audience: Callable[[str], frozenset[str] | None] = lambda _: frozenset({Peer().principal}),
    ) -> None:
        self.settings = settings or HubSettings()
        most = offer.max_subscriptions or self.settings.max_subscriptions
        self.offer = msgspec.structs.replace(offer, max_subscriptions=most)
        self.signer: Callable[[Manifest], str | None] | None = None
        self.journal = journal
        self.agents: AgentAcceptor | None = None
        self.servers: list[Server] = []
        self.wall = wall
        self.clock = clock
        self._given_loop = loop
        self._timers = Timers(clock, self.call_soon)
        self.expiry = CredentialExpiry(clock, wall, self._timers.call_at, self._credential_expired)
        # The finest boundary at which a reader wants output: a sentence, or less. Any thread may read it, and need not
        # call the hub before it has something to publish.
        self.finest_boundary: CoalesceHint = "sentence"
        self.delivery = Delivery(
            self.settings,
            self.offer.registry,
            clock,
            call_soon=self.call_soon,
            call_at=self._timers.call_at,
            on_lost=self._reader_lost,
            on_slow=self._reader_too_slow,
            on_drained=self._continue_catch_up,
            on_boundary=self._boundary_changed,
            journal=journal,
        )
        self.sessions = SessionRegistry(audience)
        self.subscriptions = SubscriptionRegistry()
        self._catch_up = CatchUp(self.delivery, self.sessions, journal, clock)
        self._lock = threading.Lock()  # over the next two
        self._background: BackgroundLoop | None = None
        self._closed = False
        self._closing = False
        self._connection_numbers = count()
        self._replies = 0
        self._refused_replies = 0
        self._next_refusal_log_at = -math.inf
        self._slow_readers = 0

    # -- from any thread -----------------------------------------------------------------

    def start(self) -> None:
        """Start the loop, unless it runs already."""
        with self._lock:
            if self._closed:
                raise AaepError("The hub is closed. Make a new one.")
            if self._background is not None:
                return
            self._background = BackgroundLoop("aaep-hub", self._given_loop, is_server=True)
        self._trim_journal()

    def open_session(self, session: SessionSource) -> None:
        """Serve a session that begins."""
        self.sessions.open(session)

    def end_session(self, session: SessionSource) -> None:
        """Forget a session that has ended, and whose last event is published."""
        self.sessions.end(session)

    def publish(self, session: SessionSource, event: Envelope, data: bytes, *, withheld: bool = False) -> None:
        """
        Send an event, which is in the journal already, to all readers that may hear its session.

        ``withheld``: a prompt that no reader can answer yet. Once there is one that
        can, it goes to all (CF-001, CF-002).
        """
        if withheld:
            self.sessions.withhold(session, event, data)
            return
        if self.sessions.withheld:
            self.sessions.discard_withheld(event)
        self.delivery.publish(session, event, data)

    def call_when_room(self, function: Callable[[], None]) -> None:
        """Call a function on the loop once readers keep up."""
        self.delivery.backlog.call_when_room(lambda: self.call_soon(function))

    def wait_for_room(self) -> Waitable[None]:
        """Return what is done once readers keep up, or once the hub is closed."""
        return self.delivery.backlog.wait_for_room()

    def wait_until_room(self) -> None:
        """
        Wait until readers keep up. From another thread, and without a lock that the loop may need.

        Ends early if the journal cannot be written, which publishing more then tells; if nothing runs the
        loop; and after some seconds, lest the loop wait for the caller.
        """
        room = self.wait_for_room()
        end = time.monotonic() + MAX_ROOM_WAIT
        while not room.done and time.monotonic() < end:
            is_served = self._background is not None and self._background.loop.is_running()
            if not is_served or not self.journal.flush():
                return
            with suppress(TimeoutError):
                room.wait(_ROOM_CHECK)

    def eligible_repliers(self, session: SessionSource, kind: Literal["confirmation", "clarification"]) -> set[str]:
        """Return the subscriptions that may answer a prompt of this session, connected or not (CF-003, CF-004)."""
        hearing = self.subscriptions.find_hearing(session)
        return {subscription.id for subscription in hearing if subscription.may_answer(_KINDS[kind])}

    def longest_requested_timeout(self, session: SessionSource) -> int:
        """Return the longest time in seconds that a reader which may answer asks for; 0 if none does (CF-028)."""
        hearing = [subscription for subscription in self.subscriptions.find_hearing(session) if subscription.may_reply]
        asked = [subscription.get_requested("minimum_timeout_seconds") for subscription in hearing]
        return max((seconds for seconds in asked if isinstance(seconds, int)), default=0)

    def wait_for_reader(self, *, replies: bool = False) -> Waitable[str]:
        """Return, now or later, the id of a subscription with a reader; one that may answer, if ``replies``."""
        return self.subscriptions.wait_for_reader(replies=replies)

    def call_at(self, when: float, call: Callable[[], None]) -> Callable[[], None]:
        """Call a function on the loop at a time of the hub's clock; return a function that cancels the call."""
        self.start()
        return self._timers.call_at(when, call)

    def add_server(self, server: Server) -> None:
        """Make a server part of the hub: it is named in the manifest, and closed with the hub."""
        self.servers.append(server)

    def close(self, reason: str = "producer_shutdown") -> None:
        """Say goodbye to all readers and stop. Waits; on the loop, await :meth:`aclose`. Closing twice is fine."""
        if self._background is None:
            self._closed = True
            self.delivery.backlog.close()
            return
        if not self._closing and self._background.loop.is_running():
            self._background.run(self.aclose(reason))
        # The caller's loop may have ended before: then there is nobody to tell.
        self._closing = True
        self._closed = True
        self.delivery.backlog.close()
        self._background.stop()

    @property
    def is_started(self) -> bool:
        """Whether there is a loop."""
        return self._background is not None

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller is on the hub's loop, and so must not wait for it."""
        if self._background is not None:
            return self._background.is_on_loop
        try:
            return asyncio.get_running_loop() is self._given_loop
        except RuntimeError:
            return False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result. From another thread."""
        self.start()
        assert self._background is not None
        return self._background.run(work)

    def call_soon(self, function: Callable[[], None]) -> None:
        """Call a function on the loop soon."""
        if self._background is not None:
            self._background.call_soon(function)

    def run_due_timers(self) -> None:
        """Run the timers that are due. The loop does it by itself; this is for clocks that are set by hand."""
        self._timers.run_due()

    def _trim_journal(self) -> None:
        """Trim the journal now and every hour, in a thread so that the loop does not wait for it."""
        threading.Thread(target=self._trim_once, name="aaep-trim", daemon=True).start()
        self._timers.call_at(self.clock() + _TRIM_EVERY, self._trim_journal)

    def _trim_once(self) -> None:
        try:
            self.journal.trim(self.wall())
        except Exception:
            if not self._closed:  # else the journal may be closed by now, which is no failure
                _log.exception("The journal could not be trimmed.")

    # -- awaited, on the loop --------------------------------------------------------------

    async def aclose(self, reason: str = "producer_shutdown") -> None:
        """Send all readers what is held, then why the subscription ends (CF-066), and stop."""
        if self._closing:
            return
        self._closing = True
        attachments = [server for server in self.servers if isinstance(server, Attachment)]
        await asyncio.gather(*[attachment.wait_until_sent() for attachment in attachments])
        self.delivery.route_all()
        for stream in self.delivery.streams:
            stream.flush(self.clock())
        self.delivery.deliver(self.delivery.streams, self.clock())
        for subscription in self.subscriptions.all():
            self._close_writer(subscription, reason)
            self._end(subscription)
        self._closed = True
        self.delivery.backlog.close()
        self._timers.stop()
        await asyncio.gather(*[attachment.wait_until_read() for attachment in attachments])
        closing = [asyncio.ensure_future(server.close()) for server in self.servers]
        done, late = await asyncio.wait(closing, timeout=_CLOSING) if closing else (set(), set())
        for task in late:
            task.cancel()
        for task in done:
            if task.exception() is not None:
                _log.warning("A server did not close cleanly.", exc_info=task.exception())

    # -- on the loop: what comes over a connection -------------------------------------------

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        """
        Read a message, do what it asks, and return the answer if it has one.

        Raises :exc:`~aaep.errors.RemoteProtocolError`, always with the same
        words, for what is not a usable message of an allowed type; where a request
        is allowed, :exc:`~aaep.hub.face.UnreadableRequest`; and
        :exc:`~aaep.hub.face.UnknownSubscription` for a change of terms nobody has.
        On a connection that is one subscription, ``own`` is its id, empty before
        there is one. A message about any other is refused there, and a reply for a
        subscription that is a connection everywhere else (CF-008).
        """
        if len(raw) > CHEAP_BYTES:
            raw = _bound_handshake(raw, allowed)
        message, violations = codec.read(raw, self.offer.registry)
        if not isinstance(message, allowed):
            if SubscriptionRequest in allowed:
                raise UnreadableRequest(raw, violations)
            raise RemoteProtocolError("Malformed message.")
        if self._is_foreign(message, own):
            self._refuse_foreign(message, own)
            return None
        match message:
            case ConfirmationReply() | ClarificationReply():
                _require_usable(message, violations)
                self.reply(message, peer)
                return None
            case SubscriptionRequest():
                # What cannot be used in it is answered, not refused.
                return self.subscribe(message, peer, is_connection=own is not None)
            case SubscriptionRenegotiate():
                answer = self.renegotiate(message, peer)
                if answer is None:
                    raise UnknownSubscription(NO_SUCH_SUBSCRIPTION)
                return answer
            case SubscriptionClose():
                self.unsubscribe(message, peer)  # CF-039: taken with whatever else it holds
                return None
        raise RemoteProtocolError("Malformed message.")

    def _is_foreign(self, message: Message, own: str | None) -> bool:
        """Whether a message, or a reply, came over another connection than that of its subscription (CF-008)."""
        subscription_id = getattr(message, "subscription_id", None)
        if own or subscription_id is None:
            return bool(own) and subscription_id not in (None, own)
        if not isinstance(message, _REPLIES):
            return False
        subscription = self.subscriptions.by_id(subscription_id)
        return subscription is not None and subscription.is_connection

    def _refuse_foreign(self, message: Message, own: str | None) -> None:
        """Refuse a message about another subscription, as if there were none; a reply is answered like all replies."""
        if isinstance(message, _REPLIES):
            self._refuse_reply("it is not this connection's to give")
        elif own:
            raise UnknownSubscription("This connection has another subscription.")
        elif not isinstance(message, SubscriptionClose):
            raise UnknownSubscription(NO_SUCH_SUBSCRIPTION)

    def reply(self, message: Reply, peer: Peer) -> None:
        """Pass a reply to its session. Nothing is answered, whatever becomes of it (CF-012, CONF-040)."""
        subscription = self._own(message.subscription_id, peer)
        if (
            subscription is None
            or not subscription.may_answer(type(message))
            or not (peer is subscription.peer or peer.may_reply)  # CF-008, CF-015
        ):
            self._refuse_reply("it is not this peer's to give")
            return
        # The person waits for the outcome.
        self.delivery.call_and_drain(self._pass_on_reply, message, peer)

    def _pass_on_reply(self, message: Reply, peer: Peer) -> None:
        session = self.sessions.find_owner(message.reply_token, peer)
        if session is None:
            self._refuse_reply("it is not this peer's to give")
            return
        self._replies += 1
        _log.info("A reply of %r over %s was passed on. %s", peer.principal, peer.transport, peer.process)  # CF-141
        session.reply(message, message.subscription_id)

    def _refuse_reply(self, why: str) -> None:
        """Count a reply that no session gets. The log tells of it now and then, and never names its token (SEC-017)."""
        self._refused_replies += 1
        now = self.clock()
        if now >= self._next_refusal_log_at:  # or somebody who forges them fills the disk
            self._next_refusal_log_at = now + REFUSAL_LOG_INTERVAL
            _log.info("A reply was refused: %s. Refused so far: %d.", why, self._refused_replies)

    # -- on the loop: the handshake ----------------------------------------------------------

    def subscribe(
        self, message: SubscriptionRequest, peer: Peer, *, is_connection: bool = False
    ) -> SubscriptionAccepted | SubscriptionRejected:
        """
        Answer a request. A subscription that no reader connects to within the resume window ends.

        With ``is_connection`` it belongs to the connection of the request, and counts over no other (CF-008).
        """
        if self._closed:  # its servers may still be open for a moment
            return SubscriptionRejected(reason_code="transport_unavailable", reason_message=SHUTTING_DOWN)
        rejection = self.expiry.rejection_for(peer)
        if rejection is not None:
            return rejection
        subscription_id = "sub_" + secrets.token_hex(16)
        active = self._count_taken_places(peer)
        start_id = self.delivery.last_published_id
        self.journal.flush()  # else the next process may not know the event, if this one is killed now
        answer = negotiation.negotiate(
            message,
            restrict_offer(peer, self.signed_offer),
            subscription_id,
            active=active,
            start=start_id,
        )
        if isinstance(answer, SubscriptionAccepted):
            terms = answer.honored_capabilities
            kept = negotiation.select_kept(message.capabilities, self.offer)
            subscription = Subscription(subscription_id, peer, kept, terms, answer.aaep_version)
            subscription.subscriber_id = message.subscriber_id
            subscription.is_connection = is_connection
            self._begin(subscription)
            self._expect_reader(subscription)
            start = subscription.get_requested("start")
            if isinstance(start, str):
                subscription.start_again(start)
        return answer

    def renegotiate(
        self, message: SubscriptionRenegotiate, peer: Peer
    ) -> SubscriptionAccepted | SubscriptionRejected | None:
        """Answer a change of terms; None if this peer has no such subscription. A rejection ends it (SUB-058)."""
        subscription = self._own(message.subscription_id, peer)
        if subscription is None:
            return None
        answer = negotiation.renegotiate(
            subscription.requested_capabilities,
            message,
            restrict_offer(peer, self.signed_offer),
            version=subscription.version,
        )
        if isinstance(answer, SubscriptionRejected):
            self._close_writer(subscription, None)
            self._end(subscription)
            return answer
        self.delivery.route_all()
        asked = negotiation.apply_change(subscription.requested_capabilities, message)
        subscription.requested_capabilities = negotiation.select_kept(asked, self.offer)
        subscription.terms = answer.honored_capabilities
        self._move_to_stream_of_its_terms(subscription)
        sessions = self.sessions.audible_to(peer)
        for session in sessions:
            _call_out(session.terms_changed, subscription)
        self._catch_up.release_withheld(subscription, sessions)
        self.subscriptions.reader_connected(subscription)
        self._cancel_session(subscription, message, peer)
        return answer

    def _move_to_stream_of_its_terms(self, subscription: Subscription) -> None:
        """Move a subscription to the stream of its new terms. Both are flushed: what one held the other lacks."""
        now, old = self.clock(), subscription.stream
        new = self.delivery.stream_for(subscription)
        if new is old:
            return
        for stream in (old, new):
            stream.flush(now)
        self.delivery.deliver((old, new), now)
        new.take_over(old, subscription)
        self.delivery.drop_unused_streams()
        if subscription.writer is not None:
            self.delivery.write_trailing(subscription, now)

    def _cancel_session(self, subscription: Subscription, message: SubscriptionRenegotiate, peer: Peer) -> None:
        """Stop a session if a reader that may answer asks for it; never because a connection was lost (CF-147)."""
        extension = message.capabilities.unknown.get(PREFIX)
        session_id = extension.get("cancel") if isinstance(extension, dict) else None
        if session_id is None or not subscription.may_reply or subscription.get_requested("cancel") != session_id:
            return
        for session in self.sessions.audible_to(peer):
            if session.session_id == session_id:
                _log.info("A session is stopped, as %r wished.", peer.principal)
                session.cancel(by="user", reason="user_request")

    def unsubscribe(self, message: SubscriptionClose, peer: Peer) -> None:
        """End a subscription of this peer; ignore those of others."""
        subscription = self._own(message.subscription_id, peer)
        if subscription is not None:
            self._close_writer(subscription, None)
            self._end(subscription)

    def _own(self, subscription_id: str, peer: Peer) -> Subscription | None:
        """Return a subscription of this peer, and renew it with the credential shown now (CF-149)."""
        subscription = self.subscriptions.find(subscription_id, peer)
        if subscription is None or not self.expiry.is_valid(peer):
            return None
        if subscription.peer is not peer:
            self.expiry.renew(subscription, peer)
        return subscription

    # -- on the loop: connections --------------------------------------------------------------

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> str:
        """
        Attach a reader and send it what it missed after an event, or what it needs to begin.

        Returns the id of its subscription; without one it is a bare stream, read
        only and on default terms (CF-093). The newest reader of a subscription
        wins (CF-094). Raises :exc:`~aaep.hub.face.UnknownSubscription` and
        :exc:`~aaep.hub.face.SubscriptionGone`.
        """
        self.delivery.route_all()
        subscription = self.subscriptions.get(subscription_id, peer) if subscription_id else self._begin_bare(peer)
        self.expiry.renew(subscription, peer)
        if subscription.writer is not None:
            self._close_writer(subscription, "superseded")
        if not after and not subscription.was_connected:
            after = subscription.get_requested("resume_after") or ""  # CF-084
        if subscription.cancel_resume_timer is not None:
            subscription.cancel_resume_timer()
        subscription.writer = writer
        subscription.was_connected = True
        subscription.connection_number = next(self._connection_numbers)
        self._catch_up.prepare(subscription, after, self.sessions.audible_to(peer))
        self.delivery.write_trailing(subscription, self.clock())
        self.subscriptions.reader_connected(subscription)
        return subscription.id

    def _continue_catch_up(self, subscription: Subscription) -> None:
        """Send a reader the next portion of what it missed, unless it is gone or was sent it already."""
        if subscription.writer is None or not subscription.continue_after or subscription.queue:
            return
        self._catch_up.proceed(subscription, self.sessions.audible_to(subscription.peer))
        self.delivery.write_trailing(subscription, self.clock())

    def is_connected(self, subscription_id: str, writer: FrameWriter) -> bool:
        """Whether a connection is still the one that reads a subscription."""
        subscription = self.subscriptions.by_id(subscription_id)
        return subscription is not None and subscription.writer is writer

    def disconnect(self, subscription_id: str, writer: FrameWriter) -> None:
        """Note that a reader's connection ended: it has the resume window to come back (CF-004)."""
        subscription = self.subscriptions.by_id(subscription_id)
        if subscription is not None and subscription.writer is writer:
            self._reader_lost(subscription)

    def _boundary_changed(self, boundary: CoalesceHint) -> None:
        self.finest_boundary = boundary

    def _reader_lost(self, subscription: Subscription) -> None:
        if subscription.writer is None:
            return
        subscription.stream.disconnect(subscription)
        subscription.writer = None
        self._end_or_expect(subscription)

    def _reader_too_slow(self, subscription: Subscription) -> None:
        """Close a reader with a reason; it may resume (CF-073, CF-083)."""
        self._slow_readers += 1
        self._close_writer(subscription, "slow_consumer")
        self._end_or_expect(subscription)

    def _credential_expired(self, subscription: Subscription) -> None:
        """Close a reader with a reason; it may come back with another credential (CF-149, CF-004)."""
        if subscription.writer is not None:
            self._close_writer(subscription, "authentication_expired")
            self._end_or_expect(subscription)

    def _end_or_expect(self, subscription: Subscription) -> None:
        if subscription.is_bare:
            self._end(subscription)
        else:
            self._expect_reader(subscription)

    def _close_writer(self, subscription: Subscription, reason: str | None) -> None:
        """End a reader's connection, saying why if there is a reason to name."""
        writer = subscription.writer
        if writer is None:
            return
        subscription.stream.disconnect(subscription)
        subscription.writer = None
        _call_out(writer.close, None if reason is None else self._closing_message(subscription, reason))

    def _closing_message(self, subscription: Subscription, reason: str) -> SubscriptionClose:
        """Return the message that says why a subscription ends, in words that are true of this side."""
        text = describe_close_reason(reason, is_hub=self.offer.producer.agent_id == HUB_AGENT_ID)
        return SubscriptionClose(subscription_id=subscription.id, reason_code=reason, reason_message=text or UNSET)

    def _begin(self, subscription: Subscription) -> None:
        self.start()
        self.delivery.route_all()
        self.subscriptions.add(subscription)
        self.delivery.stream_for(subscription).add_subscription(subscription)
        self.expiry.watch(subscription)

    def _begin_bare(self, peer: Peer) -> Subscription:
        """Begin a subscription at Level 1 for a reader that asked for no terms (CF-093)."""
        if not peer.may_listen:
            raise Unauthorised(MAY_NOT_LISTEN)
        if not self.settings.allow_bare:
            raise UnknownSubscription("There is no stream without a subscription here. Subscribe first.")
        if self._closed:
            raise UnknownSubscription(SHUTTING_DOWN)
        if self._count_taken_places(peer) >= (self.offer.max_subscriptions or 0):
            raise UnknownSubscription("There are too many readers. Try again later.")
        rate = self.offer.max_events_per_second
        terms = msgspec.structs.replace(DEFAULT_CAPABILITIES, max_events_per_second=UNSET if rate is None else rate)
        subscription = Subscription(
            "sub_" + secrets.token_hex(16), peer, DEFAULT_CAPABILITIES, terms, self.offer.versions[0]
        )
        subscription.is_bare = True
        self._begin(subscription)
        return subscription

    def _count_taken_places(self, peer: Peer) -> int:
        most = self.settings.max_subscriptions_per_principal
        return self.subscriptions.count_taken_places(peer, self.offer.max_subscriptions or 0, most)

    def _expect_reader(self, subscription: Subscription) -> None:
        """End a subscription unless a reader connects within the resume window."""

        def expire() -> None:
            if subscription.writer is None:
                self._end(subscription)

        subscription.cancel_resume_timer = self._timers.call_at(self.clock() + self.settings.resume_window, expire)

    def _end(self, subscription: Subscription) -> None:
        """End a subscription, tell the sessions it heard, and remember its id (CF-092)."""
        if not self.subscriptions.remove(subscription):
            return
        if subscription.cancel_resume_timer is not None:
            subscription.cancel_resume_timer()
        self.expiry.release(subscription)
        self.delivery.remove_subscription(subscription)
        for session in self.sessions.audible_to(subscription.peer):
            _call_out(session.subscription_ended, subscription.id)

    # -- on the loop: agents from elsewhere ------------------------------------------------------

    @property
    def can_accept_agents(self) -> bool:
        """Whether agents from other processes may connect."""
        return self.agents is not None

    def accept_agent(self, manifest: Manifest, connection: AgentConnection) -> SubscriptionRejected | None:
        """Accept an agent that connects, again or for the first time; return a rejection if it may not."""
        if self.agents is None:
            raise UnknownSubscription("Agents do not come here.")
        rejection = self.expiry.expiry_rejection(connection.peer)
        rejection = rejection or self.agents.accept(manifest, connection.peer, connection)
        if rejection is None:
            self.expiry.bind(connection, connection.expire)
        return rejection

    def release_agent(self, connection: AgentConnection) -> None:
        """Note that an agent's connection ended."""
        self.expiry.release(connection)

    # -- on the loop: what there is ---------------------------------------------------------------

    @property
    def signed_offer(self) -> Offer:
        """The offer as it is now, with a signed manifest if there is a ``signer``."""
        return manifests.sign_offer(self.offer, self.servers, self.signer)

    def manifest(self) -> Manifest:
        """Describe what is really offered (CF-119)."""
        return manifests.build_manifest(self.offer, self.servers)

    def metrics(self) -> str:
        """Return the counters and gauges in the text format of Prometheus."""
        subscriptions = self.subscriptions.all()
        unsent = [
            subscription.writer.count_unsent_bytes()
            for subscription in subscriptions
            if subscription.writer is not None
        ]
        return format_metrics(
            events=self.delivery.event_count,
            frames=self.delivery.frame_count,
            writes=self.delivery.write_count,
            replies=self._replies,
            refusals=self._refused_replies,
            slow=self._slow_readers,
            resumed=self._catch_up.resumed_count,
            caught_up=self._catch_up.greeted_count,
            sessions=len(self.sessions),
            subscriptions=len(subscriptions),
            readers=len(unsent),
            streams=len(self.delivery.streams),
            unsent=sum(unsent),
        )


def _bound_handshake(raw: bytes, allowed: tuple[type[Message], ...]) -> bytes:
    """
    Return a message with no list longer than is needed to refuse it, or raise if it is too long as a whole.

    Every item is judged, and everybody waits meanwhile (T4). Other messages are returned as they are.
    """
    if SubscriptionRequest in allowed and len(raw) > MAX_HANDSHAKE_BYTES:
        text = f"It has {len(raw):,} bytes. Send at most {MAX_HANDSHAKE_BYTES:,}."
        raise UnreadableRequest(raw, [Violation("SUB-009", text)])
    members, violations = codec.parse_json(raw)
    if not isinstance(members, dict) or members.get("type") not in ("subscription.request", "subscription.renegotiate"):
        return raw
    capabilities = members.get("capabilities")
    has_long_list = isinstance(capabilities, dict) and negotiation.cut_lists(capabilities)
    if len(raw) > MAX_HANDSHAKE_BYTES or (has_long_list and violations):
        raise RemoteProtocolError("Malformed message.")
    return msgspec.json.encode(members) if has_long_list else raw


def _require_usable(message: Reply, violations: Sequence[Violation]) -> None:
    """Raise for a reply with an error in it, unless it can only refuse (CF-020)."""
    refuses = isinstance(message, ConfirmationReply) and message.decision == "reject"
    if not refuses and any(grade(violation) == "error" for violation in violations):
        raise RemoteProtocolError("Malformed message.")


def _call_out(call: Callable[..., object], *args: object) -> None:
    """Call out of the hub, and log an exception instead of raising it."""
    try:
        call(*args)
    except Exception:
        _log.exception("A call out of the hub failed.")
