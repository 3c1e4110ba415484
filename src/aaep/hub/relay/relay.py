"""
A hub for agents in other processes: one subscriber for each agent that comes, and its sessions passed on.

The agent is the authority on its sessions. Here they are followed, kept for
readers who come later or come back, and ended if the agent does not return.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal

from ...errors import AaepError
from ...identity.peer import AGENT, LOCAL_PRINCIPAL, Peer
from ...journal.base import JournalEntry
from ...protocol import codec as bytes_
from ...protocol.attend_extension import attend_member
from ...protocol.events import TERMINAL, Envelope, LocalizationHints, SessionStarted, StateChanged
from ...protocol.fields import AAEP_VERSION, get_member
from ...protocol.messages import Manifest, Reply, SubscriptionRejected
from ...protocol.rules import pattern_test
from ...protocol.session import SessionState
from ...runtime.ids import format_timestamp, new_id
from ...subscriber.connection import Reconnect
from ...subscriber.replies import is_refusal
from ...subscriber.request import Terms
from ...subscriber.subscriber import Status, Subscriber
from ...text.summaries import STATE_SUMMARIES
from ...transports.base import ChannelLost, ChannelRefused
from ...transports.duplex_client import DuplexChannel, DuplexConnection
from ...transports.duplex_server import IncomingAgentConnection
from ..hub import Hub
from ..recovery import build_closing_events, build_resync
from ..sessions import SessionSnapshot, SessionSource, remember_bounded
from ..stream import Subscription
from .audience import SessionOrigin, read_origin, split_audience

__all__ = ["AgentRegistry", "RelayedSession"]

log: Final = logging.getLogger("aaep.relay")

MAX_AGENTS_PER_PRINCIPAL: Final = 100  # agents of one principal
MAY_NOT_PUBLISH: Final = "This credential is not for publishing. Use one with the role agent."
TOO_MANY_AGENTS: Final = "There are too many agents of this principal. Try again later."
AGENT_ID_TAKEN: Final = (
    "An agent with this agent_id is connected already, and nothing shows that this is the same one. Stop the other one "
    "or give each process an id of its own in its manifest: a long random text as extensions.attend.instance."
)

_is_event_id: Final = pattern_test(SessionStarted, "event_id")
_is_session_id: Final = pattern_test(SessionStarted, "session_id")


class AgentRegistry:
    """The agents of a hub. A connection that begins with a manifest is one; see ``Conversation``."""

    def __init__(self, hub: Hub, *, is_multi_user: bool = False) -> None:
        """``several``: those who are let in are more than one person, so a session is only for whose it is (CF-145)."""
        self._hub, self.is_multi_user = hub, is_multi_user
        self._agents: dict[tuple[str, str], AgentRelay] = {}
        self._warned: dict[tuple[str, str], None] = {}
        self._orphans: dict[str, RelayedSession] = {}  # sessions of an earlier run, whose agents have to come back

    def restore_sessions(self) -> None:
        """
        Take up the sessions that the journal has open. Whoever had them has the resume window to come back.

        The agent is the authority on a session, so it is not over because this hub was away.
        """
        for kept in self._hub.journal.list_sessions():
            entries = self._hub.journal.read(session=kept.session_id, limit=kept.entry_count)
            audience = self._hub.sessions.earlier_audience(kept.session_id)
            one = RelayedSession(self._hub, kept.session_id, read_origin(entries), audience)
            one.restore(entries)
            if one.last_event is not None:
                self._orphans[one.session_id] = one
                self._hub.open_session(one)
        if self._orphans:
            self._hub.call_at(time.monotonic() + self._hub.settings.resume_window, self._abandon_absent)

    def _abandon_absent(self) -> None:
        """Who has come back by now has another resume window to speak of its sessions."""
        self._abandon(lambda one: one.origin.key not in self._agents)

    def _abandon(self, over: Callable[[RelayedSession], bool]) -> None:
        for one in [one for one in self._orphans.values() if over(one)]:
            del self._orphans[one.session_id]
            one.abandon()
            self._hub.end_session(one)

    def claim(self, session_id: str, relay: AgentRelay) -> RelayedSession | None:
        """A session of an earlier run, for the agent whose it is, which speaks of it."""
        one = self._orphans.get(session_id)
        if one is None or one.origin.key != relay.key:
            return None
        one.adopt(relay)
        return self._orphans.pop(session_id)

    def abandon_unclaimed(self, key: tuple[str, str]) -> None:
        """An agent of that name is here and says nothing of these sessions: it does not have them."""
        self._abandon(lambda one: one.origin.key == key)

    def last_event_to_resume(self, key: tuple[str, str]) -> Envelope | None:
        """The last that was heard of the sessions that an agent has to take up."""
        found = [
            one.last_event for one in self._orphans.values() if one.origin.key == key and one.last_event is not None
        ]
        return max(found, key=_when, default=None)

    def accept(self, manifest: Manifest, peer: Peer, wire: IncomingAgentConnection) -> SubscriptionRejected | None:
        """An agent has come, or has come back; what it is told if it may not."""
        if AGENT not in peer.roles:
            return self._refuse(manifest, peer, "authorization_denied", MAY_NOT_PUBLISH)
        given = attend_member(manifest, "instance")
        instance = given if isinstance(given, str) else ""
        key = (peer.principal, instance or manifest.agent_id)
        relay = self._agents.get(key)
        if relay is not None and relay.is_connected and not (instance and relay.has_instance_id):
            return self._refuse(manifest, peer, "unknown", AGENT_ID_TAKEN)  # T6; SUB-055: no code fits
        how = "came" if relay is None else "came again"
        if relay is None:
            if (
                sum(principal == peer.principal for principal, _ in self._agents) >= MAX_AGENTS_PER_PRINCIPAL
            ):  # T4: each has a thread
                return self._refuse(manifest, peer, "rate_limit", TOO_MANY_AGENTS)
            forget = partial(self._forget, key)
            relay = self._agents[key] = AgentRelay(self._hub, self, manifest, key, forget, proven=bool(instance))
            if instance:  # it is the very process that began them, and may have nothing to say of them for a while
                for session_id in [one.session_id for one in self._orphans.values() if one.origin.key == key]:
                    relay.adopt(session_id)
        log.info("The agent %r of %r %s over %s.", manifest.agent_id, peer.principal, how, peer.transport)
        relay.add_connection(wire, instead=bool(instance))
        return None

    def _refuse(
        self,
        manifest: Manifest,
        peer: Peer,
        reason: Literal["authorization_denied", "rate_limit", "unknown"],
        text: str,
    ) -> SubscriptionRejected:
        """Said to the agent each time, and in the log once: it will try again."""
        level = logging.DEBUG if (peer.principal, reason) in self._warned else logging.WARNING
        remember_bounded(self._warned, (peer.principal, reason), None)
        away = "The agent %r of %r over %s was turned away. %s"
        log.log(level, away, manifest.agent_id, peer.principal, peer.transport, text)
        return SubscriptionRejected(reason_code=reason, reason_message=text)

    def _forget(self, key: tuple[str, str]) -> None:
        self._agents.pop(key, None)

    async def close(self) -> None:
        for relay in [*self._agents.values()]:
            await relay.close()


class AgentRelay:
    """One agent, over however many connections it needs."""

    def __init__(
        self,
        hub: Hub,
        relays: AgentRegistry,
        manifest: Manifest,
        key: tuple[str, str],
        forget: Callable[[], None],
        *,
        proven: bool,
    ) -> None:
        """``proven``: it is known by its instance, which no other agent can know, not by a name that any can say."""
        self.has_instance_id = proven
        self.hub, self.key, self.manifest = hub, key, manifest
        self.audience = None if key[0] == LOCAL_PRINCIPAL else frozenset({key[0]})  # whom it can speak to at all
        self.session_id = ""  # to the hub, a source that asks who could answer
        self._relays, self._forget = relays, forget
        self._wires: asyncio.Queue[IncomingAgentConnection] = asyncio.Queue()
        self._wire: IncomingAgentConnection | None = None  # the one in use
        self._newest: IncomingAgentConnection | None = None  # the one that came last
        self._dialled = self._subscribed = False  # ever
        self._sessions: dict[str, RelayedSession] = {}
        self._stops: set[str] = set()  # sessions that are to be stopped, and whose end was not heard yet
        last = relays.last_event_to_resume(key)
        self._loop = asyncio.get_running_loop()
        self._agreed_terms = self._wanted_terms()
        self._is_closing = self._is_over = False
        self.subscriber = Subscriber(
            DuplexChannel(self._connect, self._manifest),
            subscriber_id="aaep-hub",
            name="AAEP hub",
            replies=self._agreed_terms[0],
            terms=Terms(
                minimum_timeout=self._agreed_terms[1],
                boundaries=("none",),
                include=("*",),
                cognitive_load="high",
            ),
            verbosity="detailed",
            languages=manifest.languages_supported or ("en-US",),
            resume_after="" if last is None else last.event_id,
            reconnect=Reconnect(after_goodbye=True),
            on_status=self._status_changed,
        )
        self._task = self._loop.create_task(self._run())
        hub.subscriptions.watchers.add(self.refresh)

    @property
    def is_connected(self) -> bool:
        """Whether a connection of it is open, as far as is known."""
        return self._newest is not None and not self._newest.is_closed

    def add_connection(self, wire: IncomingAgentConnection, *, instead: bool = False) -> None:
        """
        Another connection of the same agent; of those that wait to be used, the newest counts.

        ``instead``: it is the same process, which has lost the one in use, whether we have noticed or not (CF-094).
        """
        while not self._wires.empty():
            self._wires.get_nowait().hang_up()
        wire.on_close = partial(self._connection_lost, wire)
        self._wires.put_nowait(wire)
        self._newest = wire
        if instead and self._wire is not None:
            self._wire.on_close = lambda: None  # it is not the agent that leaves
            self._wire.hang_up()

    def _connection_lost(self, wire: IncomingAgentConnection) -> None:
        """Who only said a name and left is no agent, and is not waited for."""
        if not wire.has_received and not self._subscribed:
            self._abandon()

    async def close(self) -> None:
        """This hub goes away. The agent's sessions go on, and are taken up again when it comes back."""
        self._is_closing = True
        self.hub.subscriptions.watchers.discard(self.refresh)
        if self._wire is not None:  # no goodbye: that would say that nobody here will answer any more (CF-003, CF-004)
            self._wire.feed(None)
        await self.subscriber.close()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def adopt(self, session_id: str) -> RelayedSession | None:
        """Take up a session of an earlier run of this hub, if it is this agent's."""
        relayed = self._relays.claim(session_id, self)
        if relayed is not None:
            self._sessions[session_id] = relayed
        return relayed

    # -- the agent -----------------------------------------------------------------------------

    async def _connect(self) -> DuplexConnection:
        """The agent's next connection. On the subscriber's own loop."""
        work = asyncio.run_coroutine_threadsafe(self._next_connection(), self._loop)
        wire = await asyncio.wrap_future(work)
        return _Elsewhere(wire, self._loop)

    async def _next_connection(self) -> DuplexConnection:
        again, self._dialled = self._dialled, True
        if again and not self._subscribed and self._wires.empty():  # nor who never let us subscribe
            self._abandon()
            raise ChannelLost("The agent never answered.")
        try:
            async with asyncio.timeout(self.hub.settings.resume_window):
                self._wire = await self._wires.get()
                return self._wire
        except TimeoutError:
            self._abandon()
            raise ChannelLost("The agent did not come back.") from None

    async def _manifest(self) -> bytes:
        return bytes_.encode(self.manifest)

    async def _run(self) -> None:
        try:
            async for event in self.subscriber:
                self._receive(event)
        except AaepError as error:
            log.warning("An agent's subscription ended. %s", error)
        finally:
            self._abandon()

    def _receive(self, event: Envelope) -> None:
        if not _is_event_id(event.event_id) or not _is_session_id(event.session_id):
            log.warning("An agent's event was left out: its ids are none.")  # ENV-012, ENV-017: they go into frames
            return
        relayed = self._sessions.get(event.session_id) or self.adopt(event.session_id)
        if attend_member(event, "resync"):
            return
        if relayed is None:
            if not isinstance(event, SessionStarted) or self._is_known(event.session_id):
                return  # else its beginning is not known here; the agent sends it first when we join
            event, names = split_audience(event)
            of = SessionOrigin(*self.key, names)
            audience = of.resolve_audience(get_member(event, "requested_by"), is_multi_user=self._relays.is_multi_user)
            relayed = self._sessions[event.session_id] = RelayedSession(self.hub, event.session_id, of, audience, self)
            relayed.write_origin(self.manifest.agent_id)
            self.hub.open_session(relayed)
            self.refresh()
        relayed.receive(event)
        if isinstance(event, TERMINAL):
            self._end(relayed)

    def _is_known(self, session_id: str) -> bool:
        """T6: a session that is known here is another agent's, or was ended here, whatever its agent says later."""
        return self.hub.sessions.is_known(session_id) or bool(self.hub.journal.read(session=session_id, limit=1))

    def _end(self, relayed: RelayedSession) -> None:
        self._sessions.pop(relayed.session_id, None)
        self._stops.discard(relayed.session_id)
        self.hub.end_session(relayed)
        self.refresh()

    def _abandon(self) -> None:
        """The agent is gone, and with it whoever could say how its sessions went on."""
        if self._is_closing or self._is_over:
            return
        self._is_over = True
        level = logging.WARNING if self._sessions else logging.INFO
        left = "The agent %r of %r is gone. Sessions of it that were ended here: %d."
        log.log(level, left, self.manifest.agent_id, self.key[0], len(self._sessions))
        for relayed in [*self._sessions.values()]:
            relayed.abandon()
            self._end(relayed)
        self.hub.subscriptions.watchers.discard(self.refresh)
        self._forget()
        self.subscriber.close()

    # -- the readers ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Who can answer here, and how soon, is what the agent has to know (CF-001, CF-003, CF-028, CF-035)."""
        wanted = self._wanted_terms()
        if (
            wanted != self._agreed_terms
            and self.subscriber.subscription_id
            and not self._is_closing
            and not self._is_over
        ):
            self._agreed_terms = wanted
            with suppress(AaepError):  # it has just ended
                self.subscriber.renegotiate(replies=wanted[0], minimum_timeout=wanted[1])

    def _wanted_terms(self) -> tuple[bool, int]:
        """Whether anybody here can answer, and the seconds that who can wants to have for it: one, if nobody says."""
        of: Sequence[SessionSource] = [*self._sessions.values()] or [self]
        can = any(
            self.hub.eligible_repliers(one, "confirmation") or self.hub.eligible_repliers(one, "clarification")
            for one in of
        )
        return can, max(1, *(self.hub.longest_requested_timeout(one) for one in of))

    def _status_changed(self, status: Status) -> None:
        self._subscribed = self._subscribed or status.kind == "connected"
        if status.kind in ("connected", "resumed", "gap"):  # who can answer may have changed meanwhile
            self._loop.call_soon_threadsafe(self._restore_terms)
        if status.kind == "connected":
            unheard = partial(self._relays.abandon_unclaimed, self.key)
            self.hub.call_at(time.monotonic() + self.hub.settings.resume_window, unheard)

    def _restore_terms(self) -> None:
        """What the agent was told last may have been lost with the connection; what it has granted counts."""
        terms = self.subscriber.terms
        self._agreed_terms = terms is not None and terms.supports_confirmation_reply is True, 1
        self.refresh()
        for session_id in self._stops:
            self._stop(session_id)

    def forward(self, message: Reply) -> bool:
        """Pass on a reader's reply, under the name that we have with the agent; whether that could be done."""
        try:
            self.subscriber.pass_on(message)
        except AaepError as error:
            log.info("A reply could not be passed on. %s", error)
            return False
        return True

    # A relay is asked for by the hub only as a source of prompts that may come; it has none of its own.
    def join(self, subscription: Subscription) -> SessionSnapshot:
        return SessionSnapshot()

    def terms_changed(self, subscription: Subscription) -> None:
        self.refresh()

    def subscription_ended(self, subscription_id: str) -> None:
        self.refresh()

    def reply(self, message: Reply, via: str) -> None:
        return None

    def owns_token(self, token: str) -> bool:
        return False

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        return None

    def stop(self, session_id: str) -> None:
        """A reader wants a session of the agent stopped, which is for the agent to do, were it later (CF-147)."""
        self._stops.add(session_id)
        self._stop(session_id)

    def _stop(self, session_id: str) -> None:
        with suppress(AaepError):  # it has just ended, and its sessions with it
            self.subscriber.stop(session_id)


class _Elsewhere:
    """A connection of the hub's loop, used from the subscriber's."""

    def __init__(self, wire: DuplexConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._wire, self._loop = wire, loop

    async def send(self, message: bytes) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._wire.send(message), self._loop))

    async def receive(self) -> bytes | ChannelRefused | None:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._wire.receive(), self._loop))

    async def close(self) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._wire.close(), self._loop))


def _when(event: Envelope) -> str:
    return event.timestamp


# -- session --


class RelayedSession:
    """One session of an agent elsewhere, as far as it is known here."""

    def __init__(
        self,
        hub: Hub,
        session_id: str,
        whose: SessionOrigin,
        audience: frozenset[str] | None,
        relay: AgentRelay | None = None,
    ) -> None:
        """Without a relay it is one of an earlier run."""
        self.session_id, self.origin, self.audience = session_id, whose, audience
        self.last_event: Envelope | None = None
        self._hub, self._relay = hub, relay
        self._state = SessionState(session_id, whole=False)
        self._started: Envelope | None = None
        self._known: set[str] = set()  # what the journal had of it when this hub was started
        # What was answered before the agent was back: to each prompt, the last no and the last that is none.
        self._held_replies: dict[tuple[str, bool], Reply] = {}
        self._is_stopped = False  # and whether it is to be stopped

    def write_origin(self, agent_id: str) -> None:
        """Have the journal know whose it is, before anything of it: for whoever opens that next."""
        data = self.origin.to_journal_entry(agent_id)
        self._hub.journal.append(new_id("man_"), self.session_id, data, at=time.time())

    def restore(self, entries: Sequence[JournalEntry]) -> None:
        """What the journal has of it."""
        for entry in entries:
            event = bytes_.read(entry.data, self._hub.offer.registry)[0]
            if isinstance(event, Envelope):
                self._known.add(event.event_id)
                self._follow(event)

    def adopt(self, relay: AgentRelay) -> None:
        """Its agent has come back."""
        self._relay = relay
        if self._is_stopped:
            relay.stop(self.session_id)

    def receive(self, event: Envelope) -> None:
        """Its next event: kept, then published."""
        if event.event_id in self._known:
            self._send_held_replies(get_member(event, "reply_token"))
            return
        data = bytes_.encode(event)
        self._hub.journal.append(event.event_id, self.session_id, data, at=time.time())
        self._follow(event)
        self._hub.publish(self, event, data)

    def _follow(self, event: Envelope) -> None:
        self._state.apply(event, 0.0)
        self._started = self._started or event
        self.last_event = event

    def abandon(self) -> None:
        """Its agent does not come back: everybody is told, and nothing of it is open any more."""
        if self.last_event is not None:
            for event in [*build_closing_events(self._state, self.last_event, time.time())]:
                self.receive(event)

    def join(self, subscription: Subscription) -> SessionSnapshot:
        last = self.last_event
        if last is None:
            return SessionSnapshot()
        agent = self._state.agents.get(last.producer.agent_id)
        pending = [ask.event for ask in self._state.prompts.values() if ask.outcome == "pending"]
        state = None
        if agent is not None and agent.state in STATE_SUMMARIES:
            state = _resync(last, agent.state)
        return SessionSnapshot(self._started, [*pending], state, last.event_id)

    def terms_changed(self, subscription: Subscription) -> None:
        self._refresh()

    def subscription_ended(self, subscription_id: str) -> None:
        self._refresh()

    def reply(self, message: Reply, via: str) -> None:
        if self._relay is None or not self._relay.forward(message):
            self._held_replies[message.reply_token, is_refusal(message)] = message

    def _send_held_replies(self, token: Any) -> None:
        """The agent asks once more what was answered already. A no comes first."""
        for refusing in (True, False):
            message = self._held_replies.pop((token, refusing), None)
            if message is not None and self._relay is not None:
                self._relay.forward(message)

    def _refresh(self) -> None:
        if self._relay is not None:
            self._relay.refresh()

    def owns_token(self, token: str) -> bool:
        return token in self._state.prompts

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        self._is_stopped = True
        if self._relay is not None:
            self._relay.stop(self.session_id)


def _resync(last: Envelope, state: str) -> StateChanged:
    return build_resync(
        state,
        aaep_version=AAEP_VERSION,
        event_id=new_id("evt_"),
        session_id=last.session_id,
        timestamp=max(format_timestamp(time.time()), last.timestamp),
        producer=last.producer,
        localization_hints=LocalizationHints(primary_language="en", text_direction="ltr"),
    )
