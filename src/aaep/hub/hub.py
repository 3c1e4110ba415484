"""
Joins sessions, journal, shaping and readers. There are no rules of the protocol in it.

A :class:`Hub` has a loop: its own in a thread, or the caller's. A session is a
:class:`Source` to it. It calls no source while it holds its lock, so a source
may call the hub while it holds its own.

Three groups of methods: from any thread (:meth:`Hub.publish` and what stands
around it); on the loop only and never waiting, which is what transports call;
and :meth:`Hub.open_door` and :meth:`Hub.aclose`, awaited on the loop.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, Final, Literal, TypeVar, cast

import msgspec
from msgspec import UNSET

from ..errors import AaepError
from ..identity.credentials import Unauthorised
from ..identity.peer import HUB_AGENT_ID, Peer
from ..identity.rate_limit import prepared
from ..journal.base import Journal
from ..protocol import negotiation
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope
from ..protocol.fields import Message
from ..protocol.messages import (
    Manifest,
    Reply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ..protocol.negotiation import Offer
from ..protocol.subscription import DEFAULTS
from ..runtime.background import Background, Later
from ..runtime.loop_errors import hush
from ..runtime.timers import Timers
from ..text.phrases import close_reason
from ..text.sentences import Hint
from ..transports.base import transport
from . import manifest as manifests
from . import reception
from .catch_up import Welcome
from .delivery import Delivery
from .expiry import MAY_NOT_LISTEN, CredentialExpiry, offer_to
from .face import FrameWriter, Server
from .metrics import metrics
from .sessions import Relays, SessionRegistry, SessionSnapshot, SessionSource, Unread
from .settings import Settings
from .stream import Subscription
from .subscriptions import SubscriptionGone, SubscriptionRegistry, UnknownSubscription
from .trimming import Trimming

__all__ = [
    "Hub",
    "SessionSnapshot",
    "SessionSource",
    "Settings",
    "Subscription",
    "SubscriptionGone",
    "UnknownSubscription",
]

KINDS: Final[dict[str, type[Envelope]]] = {"confirmation": AwaitingConfirmation, "clarification": AwaitingClarification}

T = TypeVar("T")

_log: Final = logging.getLogger("aaep.hub")


class Hub:
    """See the module."""

    def __init__(
        self,
        offer: Offer,
        journal: Journal,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        audience: Callable[[str], frozenset[str] | None] = lambda _: frozenset({Peer().principal}),
    ) -> None:
        """``audience`` says who may hear what the journal has of a session of an earlier run: the local user."""
        self.settings = settings or Settings()
        most = offer.max_subscriptions or self.settings.max_subscriptions
        self.offer = msgspec.structs.replace(offer, max_subscriptions=most)
        self.signer: Callable[[Manifest], str | None] | None = None
        self.journal = journal
        self._clock, self.wall = clock, wall
        self._given = loop
        self._timers = Timers(clock, self.call_soon)
        self._trimming = Trimming(journal, clock, wall, self._timers, over=lambda: self._closed)
        self.expiry = CredentialExpiry(clock, wall, self._timers.at, self._expired)
        self.delivery = Delivery(
            self.settings,
            self.offer.registry,
            clock,
            call=self.call_soon,
            at=self._timers.at,
            lost=self._lost,
            slow=self._slow,
            journal=journal,
        )
        self.pass_on: Callable[[SessionSource, Envelope | Unread, bytes], None] = (
            self.delivery.publish
        )  # never a prompt
        self.sessions = SessionRegistry(audience)
        self._welcome = Welcome(self.delivery, self.sessions, journal, clock)
        self.subscriptions = SubscriptionRegistry()
        self.relays: Relays | None = None  # for agents that come from elsewhere
        self._lock = threading.Lock()  # over the next two
        self._background: Background | None = None
        self._closing = self._closed = False
        self.servers: list[Server] = []
        self._turns = count()
        self._counts = dict.fromkeys(("replies", "refusals", "slow"), 0)

    # -- from any thread -----------------------------------------------------------------

    def start(self) -> None:
        """Start the loop, if it does not run yet."""
        with self._lock:
            if self._closed:
                raise AaepError("The hub is closed. Make a new one.")
            if self._background is not None:
                return
            self._background = Background("aaep-hub", self._given)
        self._trimming.start()

    def open_session(self, source: SessionSource) -> None:
        """A session begins."""
        self.sessions.open(source)

    def end_session(self, source: SessionSource) -> None:
        """A session has ended, and its last event is published."""
        self.sessions.end(source)

    def publish(self, source: SessionSource, event: Envelope, data: bytes, *, withheld: bool = False) -> None:
        """
        Send an event, which is in the journal already, to all who may hear its session.

        ``withheld``: a prompt that nobody can answer yet. It goes to whoever
        can, once there is somebody, and then to all (CF-001, CF-002).
        """
        if withheld:
            self.sessions.withhold(source, event, data)
        else:
            if self.sessions.withheld:
                self.sessions.discard_withheld(event)
            self.pass_on(source, event, data)

    def eligible_repliers(self, source: SessionSource, kind: Literal["confirmation", "clarification"]) -> set[str]:
        """The subscriptions that may answer a prompt of this session: connected, or expected (CF-003, CF-004)."""
        return {one.id for one in self.subscriptions.hearing(source) if one.may_answer(KINDS[kind])}

    def longest_requested_timeout(self, source: SessionSource) -> int:
        """The longest time that one of those who may answer asks for, in seconds; 0 if none does (CF-028)."""
        wishes = [
            one.requested("minimum_timeout_seconds") for one in self.subscriptions.hearing(source) if one.may_reply
        ]
        return max((wish for wish in wishes if isinstance(wish, int)), default=0)

    @property
    def finest_boundary(self) -> Hint:
        """The finest boundary at which somebody wants to have output: a sentence, or less."""
        return self.delivery.boundary

    def wait_for_reader(self, *, replies: bool = False) -> Later[str]:
        """The id of a subscription that somebody reads, and may answer if that is asked for; now or later."""
        return self.subscriptions.wait_for_reader(replies=replies)

    def call_at(self, when: float, call: Callable[[], None]) -> Callable[[], None]:
        """Have something called on the loop at a time of the hub's clock. Gives back what takes it back."""
        self.start()
        return self._timers.at(when, call)

    def serve(self, url: str, **settings: Any) -> str:
        """Open a door for readers and give back its real address. Waits; on the loop, await :meth:`open_door`."""
        return self.run(self.open_door(url, **settings))

    def asgi(self, **settings: Any) -> Any:
        """This hub as an ASGI application, to be mounted in another: ``app.mount("/", hub.asgi())``."""
        made: Any = cast(Any, transport("asgi+http:")).Application(self, **settings)
        self.servers.append(made)
        return made

    def close(self, reason: str = "producer_shutdown") -> None:
        """Say goodbye to all readers and stop. Waits; on the loop, await :meth:`aclose`. Closing twice is fine."""
        if self._background is None:
            self._closed = True
            return
        if not self._closing and self._background.loop.is_running():
            self._background.run(self.aclose(reason))
        self._closing = self._closed = True  # the caller's loop may have ended before: then there is nobody to tell
        self._background.stop()

    @property
    def is_started(self) -> bool:
        """Whether there is a loop."""
        return self._background is not None

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller is on the hub's loop, and so must not wait for it."""
        if self._background is not None:
            return self._background.here
        try:
            return asyncio.get_running_loop() is self._given
        except RuntimeError:
            return False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait, from another thread, until the loop has done something."""
        self.start()
        assert self._background is not None
        return self._background.run(work)

    def call_soon(self, function: Callable[[], None]) -> None:
        """Have the loop call something soon."""
        if self._background is not None:
            self._background.call(function)

    def run_due_timers(self) -> None:
        """Do what is due by the hub's clock. On the loop, which does it by itself; for clocks that are set by hand."""
        self._timers.run()

    # -- awaited, on the loop --------------------------------------------------------------

    async def open_door(self, url: str, **settings: Any) -> str:
        """Open a door for readers and give back its real address."""
        self.start()
        hush(asyncio.get_running_loop())
        if settings.get("identity") is not None:
            settings["identity"] = await prepared(settings["identity"])
        door = await transport(url).serve(self, url, **settings)
        self.servers.append(door)
        return door.url

    async def aclose(self, reason: str = "producer_shutdown") -> None:
        """Say goodbye to all readers: what is held is sent, then why it ends (CF-066)."""
        if self._closing:
            return
        self._closing = True
        await asyncio.gather(*[door.heard() for door in self.servers if hasattr(door, "heard")])
        self.delivery.empty()
        for stream in self.delivery.streams:
            stream.flush(self._clock())
        self.delivery.deliver(self.delivery.streams, self._clock())
        for one in self.subscriptions.all():
            self._hang_up(one, reason)
            self._end(one)
        self._closed = True
        self._timers.stop()
        closing = [asyncio.ensure_future(door.close()) for door in self.servers]
        done, late = await asyncio.wait(closing, timeout=1.5) if closing else (set(), set())
        for task in late:
            task.cancel()
        for task in done:
            if task.exception() is not None:
                _log.warning("A door did not close cleanly.", exc_info=task.exception())

    # -- on the loop: the handshake ----------------------------------------------------------

    def subscribe(self, message: SubscriptionRequest, peer: Peer) -> SubscriptionAccepted | SubscriptionRejected:
        """Answer a request. Who does not connect within the resume window is forgotten."""
        refused = self.expiry.rejection_for(peer)
        if refused is not None:
            return refused
        subscription_id = "sub_" + secrets.token_hex(16)
        active = self.subscriptions.places_taken(peer, self.offer.max_subscriptions or 0)
        answer = negotiation.negotiate(message, offer_to(peer, self.offered), subscription_id, active=active)
        if isinstance(answer, SubscriptionAccepted):
            terms = answer.honored_capabilities
            one = Subscription(subscription_id, peer, message.capabilities, terms, answer.aaep_version)
            one.subscriber_id = message.subscriber_id
            self._begin(one)
            self._expect(one)
        return answer

    def renegotiate(
        self, message: SubscriptionRenegotiate, peer: Peer
    ) -> SubscriptionAccepted | SubscriptionRejected | None:
        """Answer a change of terms; None if this peer has no such subscription. A rejection ends it (SUB-058)."""
        one = self._own(message.subscription_id, peer)
        if one is None:
            return None
        answer = negotiation.renegotiate(one.asked, message, offer_to(peer, self.offered), version=one.version)
        if isinstance(answer, SubscriptionRejected):
            self._hang_up(one, None)
            self._end(one)
            return answer
        self.delivery.empty()
        one.asked, one.terms = negotiation.changed(one.asked, message), answer.honored_capabilities
        self._move(one)
        sources = self.sessions.audible_to(peer)
        for source in sources:
            _tell(source.terms_changed, one)
        self._welcome.release(one, sources)
        self.subscriptions.reader_connected(one)
        return answer

    def _move(self, one: Subscription) -> None:
        """To the stream for its new terms. Neither may hold anything: what one held the other has not seen."""
        now, old = self._clock(), one.stream
        new = self.delivery.stream(one)
        if new is old:
            return
        for stream in (old, new):
            stream.flush(now)
        self.delivery.deliver((old, new), now)
        new.succeed(old, one)
        self.delivery.sweep()
        if one.writer is not None:
            self.delivery.pump(one, now)

    def unsubscribe(self, message: SubscriptionClose, peer: Peer) -> None:
        """End a subscription of this peer; of others, nothing happens."""
        one = self._own(message.subscription_id, peer)
        if one is not None:
            self._hang_up(one, None)
            self._end(one)

    def _own(self, subscription_id: str, peer: Peer) -> Subscription | None:
        """A subscription of this peer, which lives on with the credential that was shown now (CF-149)."""
        one = self.subscriptions.find(subscription_id, peer)
        if one is None or not self.expiry.is_valid(peer):
            return None
        if one.peer is not peer:
            self.expiry.renew(one, peer)
        return one

    def reply(self, message: Reply, peer: Peer) -> None:
        """Pass a reply on to its session. The same silence for all, whatever becomes of it (CF-012, CONF-040)."""
        one, source = self._own(message.subscription_id, peer), None
        if one is not None and one.may_answer(type(message)) and (peer is one.peer or peer.may_reply):  # CF-008, CF-015
            source = self.sessions.find_owner(message.reply_token, peer)
        if source is None:
            self.refuse("it is not this peer's to give")
            return
        self._counts["replies"] += 1
        _log.info("A reply of %r over %s was passed on. %s", peer.principal, peer.transport, peer.process)  # CF-141
        # Somebody waits for the outcome.
        self.delivery.after(source.reply, message, message.subscription_id)

    def receive(
        self, raw: bytes, peer: Peer, allowed: tuple[type[Message], ...], own: str | None = None
    ) -> Message | None:
        """
        Read a message, do what it asks, and give back the answer if it has one.

        Raises :exc:`~aaep.errors.RemoteProtocolError`, always with the same
        words, for what is not a usable message of an allowed type; where a request
        is allowed, :exc:`~aaep.hub.reception.Unreadable`; and :exc:`UnknownSubscription` for
        a change of terms nobody has. On a connection that is one subscription,
        ``own`` is its id, and a message about any other is refused (CF-008).
        """
        return reception.receive(self, raw, peer, allowed, own)

    def refuse(self, why: str) -> None:
        """Count a reply that is passed on to nobody. The log does not name its token."""
        self._counts["refusals"] += 1
        _log.info("A reply was refused: %s.", why)

    # -- on the loop: connections --------------------------------------------------------------

    def connect(self, subscription_id: str, peer: Peer, writer: FrameWriter, after: str = "") -> Subscription:
        """
        Attach a reader and send it what it missed after an event, or what it needs to begin.

        Without an id it is a bare stream, read only and on default terms
        (CF-093). The newest reader of a subscription wins (CF-094). Raises
        :exc:`UnknownSubscription` and :exc:`SubscriptionGone`.
        """
        self.delivery.empty()
        one = self.subscriptions.get(subscription_id, peer) if subscription_id else self._bare(peer)
        self.expiry.renew(one, peer)
        if one.writer is not None:
            self._hang_up(one, "superseded")
        if not after and not one.connected:
            after = one.requested("resume_after") or ""  # CF-084
        if one.expiry is not None:
            one.expiry()
        one.writer, one.connected, one.turn = writer, True, next(self._turns)
        self._welcome.prepare(one, after, self.sessions.audible_to(peer))
        self.delivery.pump(one, self._clock())
        self.subscriptions.reader_connected(one)
        return one

    def disconnect(self, subscription: Subscription, writer: FrameWriter) -> None:
        """A reader's connection ended: it has the resume window to come back (CF-004)."""
        if subscription.writer is writer:
            self._lost(subscription)

    def _lost(self, one: Subscription) -> None:
        if one.writer is None:
            return
        one.stream.leave(one)
        one.writer = None
        if one.is_bare:
            self._end(one)
        else:
            self._expect(one)

    def _slow(self, one: Subscription) -> None:
        """CF-073, CF-083: told why, and free to resume."""
        self._counts["slow"] += 1
        self._let_go(one, "slow_consumer")

    def _expired(self, one: Subscription) -> None:
        """CF-149: told why, and expected back with another credential, as after any other loss (CF-004)."""
        if one.writer is not None:
            self._let_go(one, "authentication_expired")

    def _let_go(self, one: Subscription, reason: str) -> None:
        self._hang_up(one, reason)
        if one.is_bare:
            self._end(one)
        else:
            self._expect(one)

    def _hang_up(self, one: Subscription, reason: str | None) -> None:
        writer = one.writer
        if writer is None:
            return
        one.stream.leave(one)
        one.writer = None
        _tell(writer.close, None if reason is None else self._parting(one, reason))

    def _parting(self, one: Subscription, reason: str) -> SubscriptionClose:
        """Why a subscription ends, in words that are true of this side."""
        text = close_reason(reason, of_hub=self.offer.producer.agent_id == HUB_AGENT_ID)
        return SubscriptionClose(subscription_id=one.id, reason_code=reason, reason_message=text or UNSET)

    def _begin(self, one: Subscription) -> None:
        self.start()
        self.delivery.empty()
        self.subscriptions.add(one)
        self.delivery.stream(one).join(one)
        self.expiry.watch(one)

    def _bare(self, peer: Peer) -> Subscription:
        if not peer.may_listen:
            raise Unauthorised(MAY_NOT_LISTEN)
        if not self.settings.bare:
            raise UnknownSubscription("There is no stream without a subscription here. Subscribe first.")
        if self.subscriptions.places_taken(peer, self.offer.max_subscriptions or 0) >= (
            self.offer.max_subscriptions or 0
        ):
            raise UnknownSubscription("There are too many readers. Try again later.")
        most = self.offer.max_events_per_second
        terms = msgspec.structs.replace(DEFAULTS, max_events_per_second=UNSET if most is None else most)
        one = Subscription("sub_" + secrets.token_hex(16), peer, DEFAULTS, terms, self.offer.versions[0])
        one.is_bare = True
        self._begin(one)
        return one

    def _expect(self, one: Subscription) -> None:
        """Wait for a reader as long as the resume window."""

        def expire() -> None:
            if one.writer is None:
                self._end(one)

        one.expiry = self._timers.at(self._clock() + self.settings.resume_window, expire)

    def _end(self, one: Subscription) -> None:
        """It is over: its sources are told, and its name is remembered (CF-092)."""
        if not self.subscriptions.remove(one):
            return
        if one.expiry is not None:
            one.expiry()
        self.expiry.drop(one)
        self.delivery.leave(one)
        for source in self.sessions.audible_to(one.peer):
            _tell(source.subscription_ended, one.id)

    # -- on the loop: what there is ---------------------------------------------------------------

    @property
    def offered(self) -> Offer:
        """The offer as it is now, with a signed manifest if there is a ``signer``."""
        return manifests.signed(self.offer, self.servers, self.signer)

    def manifest(self) -> Manifest:
        """What is really offered (CF-119)."""
        return manifests.manifest(self.offer, self.servers)

    def metrics(self) -> str:
        """Numbers for Prometheus, in its text format."""
        subscriptions = self.subscriptions.all()
        unsent = [one.writer.waiting() for one in subscriptions if one.writer is not None]
        return metrics(
            events=self.delivery.events,
            frames=self.delivery.frames,
            writes=self.delivery.writes,
            replies=self._counts["replies"],
            refusals=self._counts["refusals"],
            slow=self._counts["slow"],
            resumed=self._welcome.resumed,
            caught_up=self._welcome.caught_up,
            sessions=len(self.sessions),
            subscriptions=len(subscriptions),
            readers=len(unsent),
            streams=len(self.delivery.streams),
            unsent=sum(unsent),
        )


def _tell(call: Callable[..., object], *args: object) -> None:
    """Call out of the hub. What fails there must not take the others along."""
    try:
        call(*args)
    except Exception:
        _log.exception("A call out of the hub failed.")
