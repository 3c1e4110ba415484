"""
The hub's end of a relay: a subscriber for each agent that connects, whose sessions are published again.

The agent is the authority on its sessions. The hub tracks them, journals them for readers
that join late or resume, and ends them if the agent does not return.
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
from ...protocol import codec
from ...protocol.attend_extension import attend_member
from ...protocol.events import TERMINAL, Envelope, SessionStarted, StateChanged
from ...protocol.fields import AAEP_VERSION, get_member
from ...protocol.messages import Manifest, Reply, SubscriptionRejected
from ...protocol.rules import pattern_test
from ...protocol.session import SessionState
from ...runtime.ids import format_timestamp, new_id
from ...subscriber.connection import Reconnect, SubscriberRuntime
from ...subscriber.replies import is_refusal
from ...subscriber.request import Terms
from ...subscriber.subscriber import Status, Subscriber
from ...text.sanitize import sanitize
from ...text.summaries import AGENT_STATES, summarize_absence, summarize_return
from ...transports.base import ChannelLost
from ...transports.duplex_client import DuplexChannel, DuplexConnection
from ...transports.duplex_server import IncomingAgentConnection
from ..hub import Hub
from ..recovery import build_closing_events, build_resync, find_session_language
from ..sessions import SessionSnapshot, SessionSource, remember_bounded
from ..stream import Subscription
from .audience import SessionOrigin, read_origin, split_audience

__all__ = ["AgentRegistry", "RelayedSession"]

log: Final = logging.getLogger("aaep.relay")

MAX_AGENTS_PER_PRINCIPAL: Final = 100
MAX_EARLIER_SESSIONS: Final = 1000  # of earlier runs, among which the last event of each agent is looked for
MAX_QUEUED_EVENTS: Final = 8  # of an agent, that were received and not passed on yet
ABSENCE_GRACE: Final = 1.0  # seconds for an agent to be back before its readers are told that it is away
MAY_NOT_PUBLISH: Final = "This credential is not for publishing. Use one with the role agent."
TOO_MANY_AGENTS: Final = "There are too many agents of this principal. Try again later."
AGENT_ID_TAKEN: Final = (
    "An agent with this agent_id is connected already, and nothing shows that this is the same one. Stop the other one "
    "or give each process an id of its own in its manifest: a long random text as extensions.attend.instance."
)

_is_event_id: Final = pattern_test(SessionStarted, "event_id")
_is_session_id: Final = pattern_test(SessionStarted, "session_id")


class AgentRegistry:
    """The agents that are connected to a hub. A client whose first message is a manifest is an agent."""

    def __init__(self, hub: Hub, *, is_multi_user: bool = False) -> None:
        """``is_multi_user``: clients are different people, so a session is for its own audience only (CF-145)."""
        self.is_multi_user = is_multi_user
        self._hub = hub
        self._agents: dict[tuple[str, str], AgentRelay] = {}
        self._logged_refusals: dict[tuple[str, str], None] = {}
        self._orphans: dict[str, RelayedSession] = {}  # sessions of an earlier run, until their agents reconnect
        self._earlier_events: dict[tuple[str, str], Envelope] = {}  # the last of an earlier run, by agent

    def restore_sessions(self) -> None:
        """
        Reopen the open sessions of the journal. Their agents have the resume window to reconnect.

        The agent is the authority on a session, so a restart of the hub does not end it.
        """
        for record in self._hub.journal.list_sessions():
            entries = self._hub.journal.read(session=record.session_id, limit=record.entry_count)
            audience = self._hub.sessions.earlier_audience(record.session_id)
            relayed = RelayedSession(self._hub, record.session_id, read_origin(entries), audience)
            relayed.restore(entries)
            if relayed.last_event is not None:
                self._orphans[relayed.session_id] = relayed
                self._hub.open_session(relayed)
        self._restore_last_events()
        if self._orphans:
            self._hub.call_at(time.monotonic() + self._hub.settings.resume_window, self._abandon_absent)

    def _restore_last_events(self) -> None:
        """Find after which event each agent goes on, though its sessions of then are over."""
        journal = self._hub.journal
        newest_first = sorted(journal.list_sessions(open_only=False), key=lambda record: record.last_at, reverse=True)
        for record in newest_first[:MAX_EARLIER_SESSIONS]:
            key = read_origin(journal.read(session=record.session_id, limit=1)).key
            if key not in self._earlier_events:
                entries = journal.read(session=record.session_id, limit=record.entry_count)
                relayed = RelayedSession(self._hub, record.session_id, read_origin(entries), None)
                relayed.restore(entries)
                if relayed.last_event is not None:
                    self._earlier_events[key] = relayed.last_event

    def _abandon_absent(self) -> None:
        """End the sessions whose agents are not back. The others have another resume window to mention theirs."""
        self._abandon(lambda relayed: relayed.origin.key not in self._agents)

    def _abandon(self, is_abandoned: Callable[[RelayedSession], bool]) -> None:
        for relayed in [relayed for relayed in self._orphans.values() if is_abandoned(relayed)]:
            del self._orphans[relayed.session_id]
            relayed.abandon()
            self._hub.end_session(relayed)

    def claim_session(self, session_id: str, relay: AgentRelay) -> RelayedSession | None:
        """Hand a session of an earlier run over to its agent and return it; None if it is not that agent's."""
        relayed = self._orphans.get(session_id)
        if relayed is None or relayed.origin.key != relay.key:
            return None
        relayed.adopt(relay)
        return self._orphans.pop(session_id)

    def abandon_unclaimed_sessions(self, key: tuple[str, str]) -> None:
        """End the sessions of an earlier run that a connected agent has not mentioned: it does not have them."""
        self._abandon(lambda relayed: relayed.origin.key == key)

    def find_last_event(self, key: tuple[str, str]) -> Envelope | None:
        """Return the latest event of an agent that an earlier run of the hub has; None if there is none."""
        sessions = [relayed for relayed in self._orphans.values() if relayed.origin.key == key]
        events = [relayed.last_event for relayed in sessions if relayed.last_event is not None]
        events += [self._earlier_events[key]] if key in self._earlier_events else []
        return max(events, key=_get_timestamp, default=None)

    def accept(
        self, manifest: Manifest, peer: Peer, connection: IncomingAgentConnection
    ) -> SubscriptionRejected | None:
        """Accept an agent that connects or reconnects; return a rejection if it may not."""
        if AGENT not in peer.roles:
            return self._refuse(manifest, peer, "authorization_denied", MAY_NOT_PUBLISH)
        named_instance = attend_member(manifest, "instance")
        instance = named_instance if isinstance(named_instance, str) else ""
        key = (peer.principal, instance or manifest.agent_id)
        relay = self._agents.get(key)
        if relay is not None and relay.is_connected and not (instance and relay.has_instance_id):
            return self._refuse(manifest, peer, "unknown", AGENT_ID_TAKEN)  # T6; SUB-055: no code fits
        how = "came" if relay is None else "came again"
        if relay is None:
            agent_count = sum(principal == peer.principal for principal, _ in self._agents)
            if agent_count >= MAX_AGENTS_PER_PRINCIPAL:  # T4: each has buffers of its own
                return self._refuse(manifest, peer, "rate_limit", TOO_MANY_AGENTS)
            forget = partial(self._forget, key)
            relay = self._agents[key] = AgentRelay(
                self._hub, self, manifest, key, forget, has_instance_id=bool(instance)
            )
            if instance:  # the same process as before; it may not send events of its sessions for a while
                sessions = [relayed for relayed in self._orphans.values() if relayed.origin.key == key]
                for relayed in sessions:
                    relay.adopt(relayed.session_id)
        log.info("The agent %r of %r %s over %s.", manifest.agent_id, peer.principal, how, peer.transport)
        relay.add_connection(connection, replace=bool(instance))
        return None

    def _refuse(
        self,
        manifest: Manifest,
        peer: Peer,
        reason: Literal["authorization_denied", "rate_limit", "unknown"],
        text: str,
    ) -> SubscriptionRejected:
        """Return a rejection. It is logged as a warning only once, because the agent will retry."""
        level = logging.DEBUG if (peer.principal, reason) in self._logged_refusals else logging.WARNING
        remember_bounded(self._logged_refusals, (peer.principal, reason), None)
        template = "The agent %r of %r over %s was turned away. %s"
        log.log(level, template, manifest.agent_id, peer.principal, peer.transport, text)
        return SubscriptionRejected(reason_code=reason, reason_message=text)

    def _forget(self, key: tuple[str, str]) -> None:
        self._agents.pop(key, None)

    async def close(self) -> None:
        """Disconnect from all agents."""
        for relay in [*self._agents.values()]:
            await relay.close()


class AgentRelay:
    """One agent, over any number of successive connections."""

    def __init__(
        self,
        hub: Hub,
        registry: AgentRegistry,
        manifest: Manifest,
        key: tuple[str, str],
        forget: Callable[[], None],
        *,
        has_instance_id: bool,
    ) -> None:
        """``has_instance_id``: the agent is identified by its secret instance id, not by a name that others can use."""
        self.has_instance_id = has_instance_id
        self.hub = hub
        self.key = key
        self.manifest = manifest
        self.audience = None if key[0] == LOCAL_PRINCIPAL else frozenset({key[0]})  # the most it can have
        self.session_id = ""  # as a SessionSource, for questions about repliers
        self._registry = registry
        self._forget = forget
        self._queued_connections: asyncio.Queue[IncomingAgentConnection] = asyncio.Queue()
        self._current_connection: IncomingAgentConnection | None = None
        self._newest_connection: IncomingAgentConnection | None = None
        self._has_connected = False  # ever
        self._has_subscribed = False  # ever
        self._sessions: dict[str, RelayedSession] = {}
        self._sessions_to_stop: set[str] = set()  # stop requested, end not received yet
        last_event = registry.find_last_event(key)
        self._loop = asyncio.get_running_loop()
        self._agreed_terms = self._wanted_terms()
        self._is_closing = False
        self._is_abandoned = False
        self._cancel_absence: Callable[[], None] | None = None  # the timer after which readers are told of it
        self._is_absence_told = False
        self.subscriber = Subscriber(
            DuplexChannel(self._connect, self._encode_manifest),
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
            resume_after="" if last_event is None else last_event.event_id,
            reconnect=Reconnect(after_goodbye=True),
            runtime=SubscriberRuntime(max_queued_events=MAX_QUEUED_EVENTS, loop=self._loop),
            on_status=self._status_changed,
        )
        self._task = self._loop.create_task(self._run())
        hub.subscriptions.watchers.add(self.refresh)

    @property
    def is_connected(self) -> bool:
        """Whether the agent's newest connection is open, as far as is known."""
        return self._newest_connection is not None and not self._newest_connection.is_closed

    def add_connection(self, connection: IncomingAgentConnection, *, replace: bool = False) -> None:
        """
        Add a connection of the same agent, in place of any that are queued.

        ``replace``: also in place of the current one, which the agent must have lost (CF-094).
        """
        while not self._queued_connections.empty():
            self._queued_connections.get_nowait().hang_up()
        connection.on_close = partial(self._connection_lost, connection)
        self._queued_connections.put_nowait(connection)
        self._newest_connection = connection
        if replace and self._current_connection is not None:
            self._current_connection.on_close = lambda: None  # the agent is not leaving
            self._current_connection.hang_up()

    def _connection_lost(self, connection: IncomingAgentConnection) -> None:
        """Abandon a client that has sent only its manifest: it is not worth waiting for."""
        if not connection.has_received and not self._has_subscribed:
            self._abandon()

    async def close(self) -> None:
        """Disconnect because the hub closes. The agent's sessions go on and are resumed after a restart."""
        self._is_closing = True
        self._stop_absence_timer()
        self.hub.subscriptions.watchers.discard(self.refresh)
        # Without a close message, which would mean that no reader can answer any more (CF-003, CF-004).
        if self._current_connection is not None:
            self._current_connection.feed(None)
        await self.subscriber.close()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def adopt(self, session_id: str) -> RelayedSession | None:
        """Resume a session of an earlier run of the hub and return it; None if it is not this agent's."""
        relayed = self._registry.claim_session(session_id, self)
        if relayed is not None:
            self._sessions[session_id] = relayed
        return relayed

    # -- events of the agent -------------------------------------------------------------------

    async def _connect(self) -> DuplexConnection:
        """Return the agent's next connection."""
        is_reconnect = self._has_connected
        self._has_connected = True
        if is_reconnect and not self._has_subscribed and self._queued_connections.empty():
            self._abandon()  # do not wait for an agent that never accepted our subscription
            raise ChannelLost("The agent never answered.")
        try:
            async with asyncio.timeout(self.hub.settings.resume_window):
                self._current_connection = await self._queued_connections.get()
                return self._current_connection
        except TimeoutError:
            self._abandon()
            raise ChannelLost("The agent did not come back.") from None

    async def _encode_manifest(self) -> bytes:
        return codec.encode(self.manifest)

    async def _run(self) -> None:
        try:
            async for event in self.subscriber:
                self._receive(event)
                backlog = self.hub.delivery.backlog
                if not backlog.has_room:  # the agent waits too, then: what it says stays with it
                    await backlog.wait_for_room()
        except AaepError as error:
            log.warning("An agent's subscription ended. %s", error)
        finally:
            self._abandon()

    def _receive(self, event: Envelope) -> None:
        if not _is_event_id(event.event_id) or not _is_session_id(event.session_id):
            log.warning("An agent's event was left out: its ids are none.")  # ENV-012, ENV-017: they are used in frames
            return
        relayed = self._sessions.get(event.session_id) or self.adopt(event.session_id)
        if attend_member(event, "resync"):
            return
        if relayed is None:
            if not isinstance(event, SessionStarted):
                return  # a session must begin with its start, which the agent sends first in its catch-up
            entries = self.hub.journal.read(session=event.session_id, limit=2)
            # Of a session whose hub was killed as it began, the journal may have the origin alone.
            is_begun = len(entries) > 1 or (entries and read_origin(entries).key != self.key)
            if is_begun or self.hub.sessions.is_known(event.session_id):
                return  # it is another agent's, or has ended here, so this one cannot start it (T6)
            event, named_audience = split_audience(event)
            origin = SessionOrigin(*self.key, named_audience)
            requested_by = get_member(event, "requested_by")
            audience = origin.resolve_audience(requested_by, is_multi_user=self._registry.is_multi_user)
            relayed = RelayedSession(self.hub, event.session_id, origin, audience, self)
            self._sessions[event.session_id] = relayed
            if not entries:
                relayed.write_origin(self.manifest.agent_id)
            self.hub.open_session(relayed)
            self.refresh()
        relayed.receive(event)
        if isinstance(event, TERMINAL):
            self._end(relayed)

    def _end(self, relayed: RelayedSession) -> None:
        self._sessions.pop(relayed.session_id, None)
        self._sessions_to_stop.discard(relayed.session_id)
        self.hub.end_session(relayed)
        self.refresh()

    def _abandon(self) -> None:
        """End the sessions of an agent that is gone, and remove it."""
        if self._is_closing or self._is_abandoned:
            return
        self._is_abandoned = True
        self._stop_absence_timer()
        level = logging.WARNING if self._sessions else logging.INFO
        template = "The agent %r of %r is gone. Sessions of it that were ended here: %d."
        log.log(level, template, self.manifest.agent_id, self.key[0], len(self._sessions))
        for relayed in [*self._sessions.values()]:
            relayed.abandon()
            self._end(relayed)
        self.hub.subscriptions.watchers.discard(self.refresh)
        self._forget()
        self.subscriber.close()

    # -- terms and replies ---------------------------------------------------------------------

    def refresh(self) -> None:
        """Renegotiate when it changes whether, and how soon, readers can answer (CF-001, CF-003, CF-028, CF-035)."""
        terms = self._wanted_terms()
        if terms == self._agreed_terms or not self.subscriber.subscription_id:
            return
        if self._is_closing or self._is_abandoned:
            return
        self._agreed_terms = terms
        with suppress(AaepError):  # the subscription has just ended
            self.subscriber.renegotiate(replies=terms[0], minimum_timeout=terms[1])

    def _wanted_terms(self) -> tuple[bool, int]:
        """Return whether any reader can answer, and the longest timeout in seconds that they request; at least 1."""
        sources: Sequence[SessionSource] = [*self._sessions.values()] or [self]
        can_answer = any(
            self.hub.eligible_repliers(source, "confirmation") or self.hub.eligible_repliers(source, "clarification")
            for source in sources
        )
        return can_answer, max(1, *(self.hub.longest_requested_timeout(source) for source in sources))

    def _status_changed(self, status: Status) -> None:
        self._has_subscribed = self._has_subscribed or status.kind == "connected"
        if status.kind in ("connected", "resumed", "gap"):  # the eligible repliers may have changed meanwhile
            self._loop.call_soon(self._restore_terms)
            self._loop.call_soon(self._note_return)
        if status.kind == "waiting":
            self._loop.call_soon(self._note_absence)
        if status.kind == "connected":
            abandon_unclaimed = partial(self._registry.abandon_unclaimed_sessions, self.key)
            self.hub.call_at(time.monotonic() + self.hub.settings.resume_window, abandon_unclaimed)

    def _note_absence(self) -> None:
        """Have readers told that the agent is away, unless it is back in a moment."""
        if self._cancel_absence is None and not (self._is_absence_told or self._is_closing or self._is_abandoned):
            self._cancel_absence = self.hub.call_at(self.hub.clock() + ABSENCE_GRACE, self._tell_absence)

    def _tell_absence(self) -> None:
        self._cancel_absence = None
        self._is_absence_told = True
        for relayed in self._sessions.values():
            relayed.tell_reachability(is_reachable=False)

    def _note_return(self) -> None:
        self._stop_absence_timer()
        if self._is_absence_told:
            self._is_absence_told = False
            for relayed in self._sessions.values():
                relayed.tell_reachability(is_reachable=True)

    def _stop_absence_timer(self) -> None:
        if self._cancel_absence is not None:
            self._cancel_absence()
            self._cancel_absence = None

    def _restore_terms(self) -> None:
        """Renegotiate and repeat stop requests after a reconnect: the last ones may have been lost."""
        terms = self.subscriber.terms
        can_reply = terms is not None and terms.supports_confirmation_reply is True
        self._agreed_terms = can_reply, 1
        self.refresh()
        for session_id in self._sessions_to_stop:
            self._request_stop(session_id)

    def forward(self, message: Reply) -> bool:
        """Forward a reader's reply to the agent with our own subscription id; return whether it was sent."""
        try:
            self.subscriber.pass_on(message)
        except AaepError as error:
            log.info("A reply could not be passed on. %s", error)
            return False
        return True

    def stop(self, session_id: str) -> None:
        """Ask the agent to stop a session; repeated after a reconnect until it has ended (CF-147)."""
        self._sessions_to_stop.add(session_id)
        self._request_stop(session_id)

    def _request_stop(self, session_id: str) -> None:
        with suppress(AaepError):  # the agent's subscription has just ended
            self.subscriber.stop(session_id)

    # -- SessionSource -------------------------------------------------------------------------
    # The hub uses a relay without sessions as the source of prompts that may come. It has no session of its own.

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """Return an empty snapshot."""
        return SessionSnapshot()

    def terms_changed(self, subscription: Subscription) -> None:
        """Renegotiate with the agent if necessary."""
        self.refresh()

    def subscription_ended(self, subscription_id: str) -> None:
        """Renegotiate with the agent if necessary."""
        self.refresh()

    def reply(self, message: Reply, via: str) -> None:
        """Do nothing: there are no prompts."""

    def owns_token(self, token: str) -> bool:
        """Return False: there are no prompts."""
        return False

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Do nothing: there is no session."""


def _get_timestamp(event: Envelope) -> str:
    return event.timestamp


# -- relayed sessions ------------------------------------------------------------------------


class RelayedSession:
    """A session of an agent in another process, as far as the hub knows it."""

    def __init__(
        self,
        hub: Hub,
        session_id: str,
        origin: SessionOrigin,
        audience: frozenset[str] | None,
        relay: AgentRelay | None = None,
    ) -> None:
        """``relay`` is None for a session of an earlier run."""
        self.session_id = session_id
        self.origin = origin
        self.audience = audience
        self.last_event: Envelope | None = None
        self._hub = hub
        self._relay = relay
        self._state = SessionState(session_id, whole=False)
        self._started: Envelope | None = None
        self._restored_event_ids: set[str] = set()  # events that the journal had at startup
        # Replies from before the agent was back: for each prompt, the last refusal and the last other reply.
        self._held_replies: dict[tuple[str, bool], Reply] = {}
        self._is_stop_requested = False
        self._is_told_absent = False

    def write_origin(self, agent_id: str) -> None:
        """Journal the origin before the first event, for the next run of the hub."""
        data = self.origin.to_journal_entry(agent_id)
        self._hub.journal.append(new_id("man_"), self.session_id, data, at=time.time())

    def restore(self, entries: Sequence[JournalEntry]) -> None:
        """Apply the journal's events of the session."""
        for entry in entries:
            event = codec.read(entry.data, self._hub.offer.registry)[0]
            if isinstance(event, Envelope):
                self._restored_event_ids.add(event.event_id)
                self._follow(event)

    def adopt(self, relay: AgentRelay) -> None:
        """Attach the session to its agent, which is back, and repeat a pending stop request."""
        self._relay = relay
        if self._is_stop_requested:
            relay.stop(self.session_id)

    def receive(self, event: Envelope) -> None:
        """Journal and publish the next event. A repeated prompt gets the replies that were held for it."""
        if event.event_id in self._restored_event_ids:
            self._send_held_replies(get_member(event, "reply_token"))
            return
        data = codec.encode(event)
        self._hub.journal.append(event.event_id, self.session_id, data, at=time.time())
        self._follow(event)
        self._hub.publish(self, event, data)

    def tell_reachability(self, *, is_reachable: bool) -> None:
        """Tell the session's readers that its agent is away, or back. The hub says so in its own name (A.9)."""
        last_event = self.last_event
        if last_event is None or is_reachable is not self._is_told_absent:
            return
        self._is_told_absent = not is_reachable
        name = sanitize(get_member(last_event.producer, "agent_name") or last_event.producer.agent_id)
        is_asking = any(prompt.outcome == "pending" for prompt in self._state.prompts.values())
        phrases, hints = find_session_language(last_event)
        told = summarize_return(name, phrases) if is_reachable else summarize_absence(name, is_asking, phrases)
        self.receive(
            StateChanged(
                aaep_version=AAEP_VERSION,
                event_id=new_id("evt_"),
                session_id=self.session_id,
                timestamp=last_event.timestamp,  # ENV-027: what the agent says next may be older than now
                producer=self._hub.offer.producer,
                verbosity="normal",
                urgency="normal",
                localization_hints=hints,
                from_state="thinking" if is_reachable else "idle",
                to_state="idle" if is_reachable else "thinking",
                summary_terse=told.terse,
                summary_normal=told.normal,
                summary_detailed=told.detailed,
            )
        )

    def _follow(self, event: Envelope) -> None:
        if self._started is not None and event.producer.agent_id == self._hub.offer.producer.agent_id:
            return  # our own word, which the agent does not know and cannot resume after
        self._state.apply(event, 0.0)
        self._started = self._started or event
        self.last_event = event

    def abandon(self) -> None:
        """Publish the events that end a session whose agent does not return."""
        if self.last_event is not None:
            for event in [*build_closing_events(self._state, self.last_event, time.time())]:
                self.receive(event)

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """Return the snapshot for a reader that joins: the start, pending prompts and the current state."""
        last_event = self.last_event
        if last_event is None:
            return SessionSnapshot()
        agent = self._state.agents.get(last_event.producer.agent_id)
        pending = [prompt.event for prompt in self._state.prompts.values() if prompt.outcome == "pending"]
        resync = None
        if agent is not None and agent.state in AGENT_STATES:
            resync = _build_resync(self._state, last_event, agent.state)
        return SessionSnapshot(self._started, [*pending], resync, last_event.event_id)

    def terms_changed(self, subscription: Subscription) -> None:
        """Renegotiate with the agent if necessary."""
        self._refresh()

    def subscription_ended(self, subscription_id: str) -> None:
        """Renegotiate with the agent if necessary."""
        self._refresh()

    def reply(self, message: Reply, via: str) -> None:
        """Forward a reply to the agent, or hold it until the agent is back."""
        if self._relay is None or not self._relay.forward(message):
            self._held_replies[message.reply_token, is_refusal(message)] = message

    def _send_held_replies(self, token: Any) -> None:
        """Forward the held replies to a prompt that the agent repeats, a refusal first."""
        for is_refused in (True, False):
            message = self._held_replies.pop((token, is_refused), None)
            if message is not None and self._relay is not None:
                self._relay.forward(message)

    def _refresh(self) -> None:
        if self._relay is not None:
            self._relay.refresh()

    def owns_token(self, token: str) -> bool:
        """Whether a reply token belongs to a prompt of this session."""
        return token in self._state.prompts

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Ask the agent to stop the session, now or when it is back."""
        self._is_stop_requested = True
        if self._relay is not None:
            self._relay.stop(self.session_id)


def _build_resync(session: SessionState, last_event: Envelope, state: str) -> StateChanged:
    """Return the event that tells a joining reader the current state."""
    phrases, hints = find_session_language(last_event)
    return build_resync(
        session,
        state,
        phrases,
        aaep_version=AAEP_VERSION,
        event_id=new_id("evt_"),
        session_id=last_event.session_id,
        timestamp=max(format_timestamp(time.time()), last_event.timestamp),
        producer=last_event.producer,
        localization_hints=hints,
    )
