"""
The harness of the producer's scenarios: subscribers made of a bare channel, and the sessions they observe.

A fake subscriber forgives nothing and repairs nothing. Every message is
recorded with its time, and judged afterwards.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import aiohttp
import msgspec

from ...errors import AaepError
from ...identity.origins import split_url
from ...protocol.attend_extension import ATTEND
from ...runtime.ids import format_timestamp, new_id
from ...transports.addresses import make_client_ssl_context
from ...transports.base import AgentEnded, Channel, ChannelLost, ChannelRefused, ReceivedMessage, connect
from ...transports.http.routes import EVENTS, REPLIES, SUBSCRIPTIONS
from ...transports.options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from ..judge import EvidenceLog, RecordedMessage, excerpt
from ..messages import JsonObject, decode_object
from ..scenario import ScenarioAborted
from .observed import SESSION_END_TYPES, ConsentTracker, ObservedEvent, PaceTracker, needs_consent

__all__ = [
    "LISTENER_CAPABILITIES",
    "REPLIER_CAPABILITIES",
    "FakeSubscriber",
    "Harness",
    "ObservedSession",
    "SendResult",
    "TaskStarter",
]

# Starts a task of the producer; returns an asyncio task whose result says why the start failed, or is empty.
TaskStarter = Callable[[str], Awaitable[asyncio.Task[str] | None]]
EventPredicate = Callable[[ObservedEvent], object]

LISTENER_CAPABILITIES: Final[JsonObject] = {
    "supported_conformance_levels": [1, 2, 3],
    "supported_extensions": [ATTEND.namespace],
}
REPLIER_CAPABILITIES: Final[JsonObject] = {
    **LISTENER_CAPABILITIES,
    "supports_confirmation_reply": True,
    "supports_clarification_reply": True,
}
_HTTP_SCHEMES: Final = ("http", "https", "asgi+http")
_CONNECT_DELAY: Final = 0.05  # seconds that a connection takes
_REFUSAL_TIMEOUT: Final = 1.0  # seconds within which a stream is refused, if it is
_START_GRACE: Final = 1.0  # seconds for the first event of a session whose start command has failed
_MAX_BODY_BYTES: Final = 65_536  # bytes of an HTTP answer that are compared
_FINAL_WAIT_FACTOR: Final = 3  # times the patience, for sessions that were given up on
_MAX_WAIT_FACTOR: Final = 10  # times the patience, for a session that goes on and on
_HOPELESS_TIMEOUT: Final = 1.0  # seconds for the end of a session, when none has ever ended
_VARYING_HEADERS: Final = ("date", "x-request-id", "server")


class SendResult(msgspec.Struct, frozen=True):
    """All that the sender of a reply can see of the answer to it, except for the time it took."""

    status: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""


class Harness:
    """
    One run against one producer.

    ``patience`` is how long the producer may take for something that it has to
    do, and ``quiet`` how long to wait for something that it must not do. Patience
    grows with the time that the producer is seen to take, or says that it will take.
    """

    def __init__(
        self,
        url: str,
        start: TaskStarter | None,
        *,
        patience: float = 10.0,
        quiet: float = 0.25,
        wait: float = 60.0,
        shared: bool | None = None,
        options: ConnectOptions = DEFAULT_CONNECT_OPTIONS,
    ) -> None:
        self.url = url
        self.options = options
        self.pace = PaceTracker(patience)
        self.quiet_period = quiet
        self.start_timeout = wait  # seconds for a session that the suite does not start itself
        self.is_shared = self.scheme != "stdio" if shared is None else shared  # whether it takes several subscribers
        self.has_answered = False  # whether the producer has answered anything
        self.evidence = EvidenceLog()
        self.messages: list[RecordedMessage] = []
        self.main_subscriber: FakeSubscriber | None = None
        self.producer_info: JsonObject = {}
        self.abort_reasons: dict[str, str] = {}  # by rule: why it could not be tried
        self.invalid_reply_results: dict[str, SendResult] = {}  # by what was wrong with the reply
        self.closed_prompts: list[JsonObject] = []
        self.consent_tracker = ConsentTracker()
        # Events of sessions to which no reader could consent, and the rules that a call without consent breaks.
        self.sessions_without_consent: list[tuple[tuple[str, ...], list[ObservedEvent]]] = []
        self._start_task = start
        self.subscribers: list[FakeSubscriber] = []  # all but the main ones, also those that have left
        self._complete_sessions: set[str] = set()  # ids of sessions that the main subscriber heard from the start
        self._partial_sessions: set[str] = set()  # ids of all others

    @property
    def patience(self) -> float:
        """How many seconds the producer may take for something that it has to do."""
        return self.pace.patience

    @property
    def scheme(self) -> str:
        """The scheme of the producer's URL."""
        return split_url(self.url).scheme.lower()

    @property
    def is_http(self) -> bool:
        """Whether replies travel apart from events, and a subscription outlives its connection."""
        return self.scheme in _HTTP_SCHEMES

    def open_channel(self) -> Channel:
        """Return a new channel to the producer."""
        return connect(self.url, self.options)

    # -- subscribers ---------------------------------------------------------------------------

    @asynccontextmanager
    async def listen_throughout(self, capabilities: JsonObject) -> AsyncIterator[None]:
        """
        Keep a subscriber listening as :attr:`main_subscriber`, for the scenarios that are run meanwhile.

        There is none if the producer refuses it; the evidence says so.
        """
        subscriber = FakeSubscriber(self)
        # CAP-014: only a subscriber that can reply is sure to get the prompts, so only its sessions can be complete.
        subscriber.is_main = capabilities is REPLIER_CAPABILITIES
        try:
            if await self._start_listening(subscriber, capabilities):
                self.main_subscriber = subscriber
            yield
        finally:
            await subscriber.unsubscribe()
            self.main_subscriber = None
            self._partial_sessions |= {event.session_id for event in subscriber.events}

    def require_main_subscriber(self, *, allow_unsubscribed: bool = False) -> FakeSubscriber:
        """
        Return the main subscriber; raise :exc:`ScenarioAborted` if there is none.

        With ``allow_unsubscribed``, it need not have a subscription.
        """
        subscriber = self.main_subscriber
        if subscriber is None or not (allow_unsubscribed or subscriber.acceptance):
            raise ScenarioAborted("No subscription was granted that could listen throughout.")
        return subscriber

    async def _start_listening(self, subscriber: FakeSubscriber, capabilities: JsonObject) -> bool:
        """Have a subscriber listen, with a subscription or without; return whether it does."""
        refusal = ""
        is_foreign = False
        try:
            await subscriber.subscribe(capabilities)
        except ScenarioAborted as error:
            refusal = str(error)
            is_foreign = isinstance(error.__cause__, ChannelRefused) and error.__cause__.foreign
            self.evidence.add_remark(refusal)
            if not self.is_http:
                return False
            subscriber.subscription_id = ""  # LVL-023: at Level 1 a stream may be opened without a subscription
        subscriber.listen()
        await asyncio.sleep(_CONNECT_DELAY)  # events of sessions that run already come first
        if not subscriber.acceptance:
            await subscriber.wait_for_event(lambda _: True, _REFUSAL_TIMEOUT)
            if subscriber.end_reason and is_foreign:  # neither requests nor streams are known there
                raise AaepError(
                    f"Nothing could be judged: {self.url} is no AAEP server. "
                    f"{SUBSCRIPTIONS} and {EVENTS} were asked for. {refusal}"
                )
            if subscriber.end_reason:
                return False
            self.evidence.add_remark("It is listened to without a subscription, which Level 1 allows.")
        return True

    @asynccontextmanager
    async def subscribe(self, *, connect: bool = True, **capabilities: Any) -> AsyncIterator[FakeSubscriber]:
        """Open a subscription, and close it at the end of the block unless the block did."""
        if not self.is_shared:
            raise ScenarioAborted("A producer on pipes has one reader, and this takes several.")
        subscriber = FakeSubscriber(self)
        self.subscribers.append(subscriber)
        try:
            await subscriber.subscribe(capabilities)
            if connect:
                subscriber.listen()
                await asyncio.sleep(_CONNECT_DELAY)  # a channel does not say when it is connected
            yield subscriber
        finally:
            await subscriber.unsubscribe()

    async def close(self) -> None:
        """End the subscriptions that are still open."""
        for subscriber in self.subscribers:
            await subscriber.unsubscribe()

    # -- sessions ------------------------------------------------------------------------------

    async def start_session(self, task: str) -> ObservedSession:
        """Have the producer start a task, and wait for the session of it."""
        assert self.main_subscriber is not None
        position = len(self.main_subscriber.events)
        starting = await self._start_task(task) if self._start_task is not None else None
        timeout = self.patience if self._start_task is not None else self.start_timeout
        finding = asyncio.ensure_future(
            self.main_subscriber.wait_for_event(lambda event: event.type == "session.started", timeout, position)
        )
        try:
            failure = await _wait_for_start_failure(starting, finding) if starting is not None else ""
            if failure:
                self.evidence.add_remark(failure)
                raise ScenarioAborted(f"No session began for the task {task!r}.")
            started = await finding
        finally:
            finding.cancel()
        if started is None and self.main_subscriber.end_reason:
            raise ScenarioAborted(f"No session could be heard. {self.main_subscriber.end_reason}")
        if started is None:
            raise ScenarioAborted(f"No session began within {timeout:g} seconds for the task {task!r}.")
        return ObservedSession(self, started.session_id, task)

    async def wait_for_unfinished_sessions(self) -> None:
        """Wait for the end of the sessions that were given up on, as long as one of them may still end."""
        subscriber = self.main_subscriber
        latest = time.monotonic() + _MAX_WAIT_FACTOR * self.patience  # one that never falls silent is not waited for
        while subscriber is not None and not subscriber.end_reason and self.pace.unfinished_sessions:
            deadline = self.pace.find_last_activity() + _FINAL_WAIT_FACTOR * self.patience
            timeout = min(deadline, latest) - time.monotonic()
            if timeout <= 0:
                return
            await subscriber.wait_for_event(lambda _: True, timeout, len(subscriber.events))

    def assign_session(self, event: ObservedEvent) -> bool:
        """
        Note whether the session of an event is complete, by its first event; return whether it is.

        A session is complete if it began while the main subscriber listened. Only
        such sessions can be judged as a whole.
        """
        session_id = event.session_id
        if session_id and session_id not in self._complete_sessions | self._partial_sessions:
            is_complete = self.main_subscriber is not None and event.type == "session.started"
            (self._complete_sessions if is_complete else self._partial_sessions).add(session_id)
        return session_id not in self._partial_sessions

    # -- recording and waiting -----------------------------------------------------------------

    def record(self, raw: bytes, via: str, *, from_producer: bool, audit: bool = True, is_main: bool = False) -> None:
        """Record a message with the present time."""
        self.messages.append(RecordedMessage(format_timestamp(time.time()), via, raw, from_producer, audit, is_main))

    async def wait_quiet_period(self) -> None:
        """Wait for as long as nothing should happen."""
        await asyncio.sleep(self.quiet_period)  # that nothing comes can be told by waiting only


async def _wait_for_start_failure(starting: asyncio.Task[str], finding: asyncio.Task[ObservedEvent | None]) -> str:
    """Return why the start of a task failed; empty if it did not, or if a session began all the same."""
    await asyncio.wait((starting, finding), return_when=asyncio.FIRST_COMPLETED)
    failure = starting.result() if starting.done() else ""
    if failure:
        await asyncio.wait((finding,), timeout=_START_GRACE)
    return failure if not finding.done() or finding.result() is None else ""


class FakeSubscriber:
    """A subscriber with one subscription, made of nothing but a channel."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self.channel = harness.open_channel()
        self.subscription_id = ""
        self.acceptance: JsonObject = {}
        self.rejection: JsonObject = {}
        self.requested_capabilities: JsonObject = {}
        self.events: list[ObservedEvent] = []
        self.is_main = False  # whether its sessions are judged as a whole
        self.last_event_id = ""
        self.end_reason = ""  # why the stream has ended; empty while it has not
        self._activity = asyncio.Event()
        self._listen_task: asyncio.Task[None] | None = None
        self._is_unsubscribed = False

    # -- handshake -----------------------------------------------------------------------------

    async def subscribe(self, capabilities: JsonObject, **members: Any) -> JsonObject:
        """Request a subscription and return the acceptance; raise :exc:`ScenarioAborted` if it is rejected."""
        answer = await self.request(capabilities, **members)
        if not self.acceptance:
            raise ScenarioAborted(f"The request for a subscription was rejected: {excerpt(answer)}")
        return answer

    async def request(self, capabilities: JsonObject, **members: Any) -> JsonObject:
        """Send a request for a subscription with these members; return the answer, whatever it is."""
        request: JsonObject = {
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "aaep-conformance",
            "subscriber_name": "Conformance suite",
            "capabilities": capabilities,
            **members,
        }
        raw = json.dumps(request).encode()
        self.requested_capabilities = capabilities
        try:
            body = await self.channel.request(raw)
        except (ChannelLost, ChannelRefused) as error:
            if isinstance(error, (ChannelLost, AgentEnded)) and not self._harness.has_answered:
                raise AaepError(f"Nothing could be judged. {error}") from error
            self._harness.has_answered = True
            raise ScenarioAborted(f"A request for a subscription was not answered as one: {error}") from error
        self._harness.has_answered = True
        answer = decode_object(body)
        self.subscription_id = str(answer.get("subscription_id") or new_id("none_"))
        self._harness.record(raw, self.subscription_id, from_producer=False, is_main=self.is_main)
        self._harness.record(body, self.subscription_id, from_producer=True, is_main=self.is_main)
        if answer.get("type") == "subscription.accepted":
            self.acceptance = answer
            producer = answer.get("producer")
            if isinstance(producer, dict):
                self._harness.producer_info = producer
        elif answer.get("type") == "subscription.rejected":
            self.rejection = answer
        return answer

    @property
    def terms(self) -> JsonObject:
        """The terms in force: the requested capabilities, as the acceptance changed them."""
        honored = self.acceptance.get("honored_capabilities")
        return {**self.requested_capabilities, **(honored if isinstance(honored, dict) else {})}

    async def renegotiate(self, **capabilities: Any) -> JsonObject:
        """Ask for other terms; return the answer, or an object with ``error`` if there is none."""
        message = {
            "type": "subscription.renegotiate",
            "subscription_id": self.subscription_id,
            "capabilities": capabilities,
        }
        raw = json.dumps(message).encode()
        self._harness.record(raw, self.subscription_id, from_producer=False, is_main=self.is_main)
        try:
            body = await self.channel.request(raw)
        except (ChannelLost, ChannelRefused) as error:
            return {"error": str(error)}
        self._harness.record(body, self.subscription_id, from_producer=True, is_main=self.is_main)
        return decode_object(body)

    # -- listening -----------------------------------------------------------------------------

    def listen(self) -> None:
        """Start receiving events, after the last one that was received."""
        self.end_reason = ""
        self._listen_task = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        try:
            async for received in self.channel.receive_messages(self.subscription_id, self.last_event_id):
                self._receive(received)
            self.end_reason = "The producer ended the stream."
        except (ChannelLost, ChannelRefused) as error:
            self.end_reason = str(error) or type(error).__name__
        finally:
            self._activity.set()

    def _receive(self, received: ReceivedMessage) -> None:
        event = ObservedEvent(
            time.monotonic(), received.data, decode_object(received.data), received.id, received.event
        )
        self._harness.record(
            received.data,
            self.subscription_id,
            from_producer=True,
            is_main=self.is_main and self._harness.assign_session(event),
        )
        self.last_event_id = received.id or self.last_event_id
        self.events.append(event)
        self._harness.consent_tracker.observe(event)
        if self is self._harness.main_subscriber:
            self._harness.pace.observe(event)
        self._activity.set()

    async def stop_listening(self) -> None:
        """Stop receiving events."""
        task, self._listen_task = self._listen_task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def drop_connection(self) -> None:
        """Close the connection without closing the subscription."""
        await self.stop_listening()
        if not self._harness.is_http:
            await self.channel.close()
            self.channel = self._harness.open_channel()

    async def wait_for_event(self, predicate: EventPredicate, timeout: float, start: int = 0) -> ObservedEvent | None:
        """Return the first event from a position on that matches; None if none comes in time."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    self._activity.clear()
                    while start < len(self.events):
                        if predicate(self.events[start]):
                            return self.events[start]
                        start += 1
                    if self.end_reason:
                        return None
                    await self._activity.wait()
        except TimeoutError:
            return None

    def find_session_events(self, session_id: str) -> list[ObservedEvent]:
        """Return the events of a session, each once."""
        events_by_id: dict[object, ObservedEvent] = {}
        for event in self.events:
            if event.session_id == session_id:
                events_by_id.setdefault(event["event_id"], event)
        return [*events_by_id.values()]

    # -- sending -------------------------------------------------------------------------------

    async def answer_confirmation(
        self, prompt: JsonObject, decision: Any = "accept", *, audit: bool = True, **changes: Any
    ) -> SendResult:
        """Answer a confirmation; a member that is given as None is left out of the reply."""
        message = {
            "type": "confirmation.reply",
            "reply_token": prompt["reply_token"],
            "decision": decision,
            "subscription_id": self.subscription_id,
            "timestamp": format_timestamp(time.time()),
            **changes,
        }
        result = await self.send_message(
            {name: value for name, value in message.items() if value is not None}, audit=audit
        )
        self._harness.pace.note_reply(str(prompt.get("session_id", "")), time.monotonic())
        return result

    async def answer_clarification(self, prompt: JsonObject, response: Any, *, audit: bool = True) -> SendResult:
        """Answer a clarification."""
        message = {
            "type": "clarification.reply",
            "reply_token": prompt["reply_token"],
            "response": response,
            "subscription_id": self.subscription_id,
            "timestamp": format_timestamp(time.time()),
        }
        result = await self.send_message(message, audit=audit)
        self._harness.pace.note_reply(str(prompt.get("session_id", "")), time.monotonic())
        return result

    async def send_message(self, message: JsonObject, *, audit: bool = True) -> SendResult:
        """Send a message and record it; with ``audit`` false, as one that is wrong on purpose."""
        raw = json.dumps(message).encode()
        self._harness.record(raw, self.subscription_id, from_producer=False, audit=audit, is_main=self.is_main)
        return await self.send_raw(raw)

    async def send_raw(self, raw: bytes, **headers: str) -> SendResult:
        """Send any bytes without recording them, over HTTP with these headers; return all that can be seen of it."""
        if self._harness.is_http:
            return await _post_reply(self._harness, raw, headers)
        try:
            await self.channel.send(raw)
        except (ChannelLost, ChannelRefused) as error:
            return SendResult(type(error).__name__, body=str(error))
        except (KeyError, AaepError):
            return SendResult("unsendable")  # the transport cannot carry it
        return SendResult("sent")

    async def unsubscribe(self, *, keep_listening: bool = False) -> None:
        """Close the subscription as a subscriber should, unless it is closed already."""
        if not keep_listening:
            await self.stop_listening()  # events on their way meanwhile are not the producer's fault
        if not self._is_unsubscribed and self.acceptance and (not self.end_reason or self._harness.is_http):
            message = {
                "type": "subscription.close",
                "subscription_id": self.subscription_id,
                "reason_code": "subscriber_shutdown",
                "reason_message": "Done.",
            }
            with suppress(ChannelLost, ChannelRefused):  # the producer has closed the connection
                await self.send_message(message)
        self._is_unsubscribed = True
        if not keep_listening:
            await self.channel.close()


class ObservedSession:
    """A session that the producer started for a scenario."""

    def __init__(self, harness: Harness, session_id: str, task: str) -> None:
        self.session_id = session_id
        self.task = task
        self._harness = harness

    # -- waiting -------------------------------------------------------------------------------

    async def wait_for_event(
        self, subscriber: FakeSubscriber, *types: str, timeout: float | None = None, start: int = 0
    ) -> ObservedEvent | None:
        """
        Return the first event of one of these types that a subscriber receives; None if none comes in time.

        Without a ``timeout``, time is up when the session has been silent for longer
        than patience allows and the agent has announced.
        """

        def is_wanted(event: ObservedEvent) -> bool:
            return event.session_id == self.session_id and event.type in types

        if timeout is not None:
            return await subscriber.wait_for_event(is_wanted, timeout, start)
        return await self._wait_while_active(subscriber, is_wanted, start)

    async def _wait_while_active(
        self, subscriber: FakeSubscriber, predicate: EventPredicate, start: int = 0
    ) -> ObservedEvent | None:
        pace = self._harness.pace
        began = time.monotonic()
        while True:
            last_heard = max(began, subscriber.events[-1].received_at if subscriber.events else 0.0)
            deadline = pace.find_deadline(self.session_id, last_heard)
            latest = max(began + _MAX_WAIT_FACTOR * pace.patience, pace.find_deadline(self.session_id, began))
            timeout = min(deadline, latest) - time.monotonic()
            if timeout <= 0:
                pace.note_vain_wait()
                return None
            event = await subscriber.wait_for_event(predicate, timeout, start)
            if event is not None or subscriber.end_reason:
                return event

    async def wait_for_prompt(self, subscriber: FakeSubscriber, kind: str = "confirmation") -> ObservedEvent:
        """Return the first prompt of a kind; raise :exc:`ScenarioAborted` if the session has none."""
        event = await self.wait_for_event(
            subscriber,
            f"awaiting.{kind}",
            *SESSION_END_TYPES,
            timeout=None if self._harness.pace.is_any_end_in_sight else _HOPELESS_TIMEOUT,
        )
        if event is None:
            raise self.make_unfinished_error(f"there was no awaiting.{kind} yet")
        if event.type in SESSION_END_TYPES:
            raise ScenarioAborted(f"The task {self.task!r} led to no awaiting.{kind}.")
        return event

    async def wait_for_end(self, subscriber: FakeSubscriber, timeout: float | None = None) -> ObservedEvent | None:
        """Return the event that ends the session; None if it does not come in time."""
        if timeout is None and not self._harness.pace.is_any_end_in_sight:
            timeout = _HOPELESS_TIMEOUT
            self._harness.pace.note_vain_wait()
        return await self.wait_for_event(subscriber, *SESSION_END_TYPES, timeout=timeout)

    def make_unfinished_error(self, missing: str) -> ScenarioAborted:
        """Return the error of a scenario that cannot go on because the session takes longer than patience allows."""
        return ScenarioAborted(
            f"The session of the task {self.task!r} was silent for {self._harness.patience:g} seconds, and {missing}. "
            "If the agent needs more time, say so with --patience."
        )

    async def reject_until_end(self, subscriber: FakeSubscriber) -> ObservedEvent | None:
        """Reject every confirmation until the session ends; return the event that ends it, if it comes."""
        position = 0
        latest = time.monotonic() + _MAX_WAIT_FACTOR * self._harness.patience  # for an agent that asks on and on
        while time.monotonic() < latest:
            event = await self.wait_for_event(subscriber, "awaiting.confirmation", *SESSION_END_TYPES, start=position)
            if event is None or event.type in SESSION_END_TYPES:
                return event
            if not subscriber.acceptance:  # without a subscription there is no reply
                return None
            position = subscriber.events.index(event) + 1
            await subscriber.answer_confirmation(event.message, "reject")
        return None

    async def wait_for_resolution(
        self, subscriber: FakeSubscriber, prompt: ObservedEvent, timeout: float | None = None
    ) -> ObservedEvent | None:
        """Return the event that shows that a prompt is no longer open; None if it does not come in time."""

        def is_resolved(_: ObservedEvent) -> object:
            return self.find_resolution(subscriber, prompt)

        if timeout is None:
            await self._wait_while_active(subscriber, is_resolved)
        else:
            await subscriber.wait_for_event(is_resolved, timeout)
        return self.find_resolution(subscriber, prompt)

    # -- events so far -------------------------------------------------------------------------

    def find_resolution(self, subscriber: FakeSubscriber, prompt: ObservedEvent) -> ObservedEvent | None:
        """Return the event after a prompt that ends it: a change of state, the action itself, or the session's end."""
        events = subscriber.find_session_events(self.session_id)
        event_ids = [event["event_id"] for event in events]
        if prompt["event_id"] not in event_ids:
            return None
        for event in events[event_ids.index(prompt["event_id"]) + 1 :]:
            has_left_state = (
                event.type == "state.changed" and event["to_state"] != "awaiting_input" and not event.is_resync
            )
            if has_left_state or event.type in SESSION_END_TYPES or self._is_possible_action_call(event, prompt):
                return event
        return None

    def find_action_calls(self, subscriber: FakeSubscriber, prompt: ObservedEvent) -> list[ObservedEvent]:
        """Return the tool calls that carry out the action of a prompt."""
        events = subscriber.find_session_events(self.session_id)
        return [event for event in events if self._is_action_call(event, prompt)]

    def find_possible_action_calls(self, subscriber: FakeSubscriber, prompt: ObservedEvent) -> list[ObservedEvent]:
        """Return the tool calls that may carry out the action of a prompt, even under another id and as harmless."""
        events = subscriber.find_session_events(self.session_id)
        return [event for event in events if self._is_possible_action_call(event, prompt)]

    def _is_action_call(self, event: ObservedEvent, prompt: ObservedEvent) -> bool:
        if event.type != "tool.invoked":
            return False
        context = prompt["extra_context"]
        if isinstance(context, dict) and "tool_call_id" in context:
            return bool(event["tool_call_id"] == context["tool_call_id"])
        return needs_consent(event)

    def _is_possible_action_call(self, event: ObservedEvent, prompt: ObservedEvent) -> bool:
        return self._is_action_call(event, prompt) or self._harness.consent_tracker.needs_consent(event, prompt)


async def _post_reply(harness: Harness, raw: bytes, extra_headers: Mapping[str, str]) -> SendResult:
    """Post a reply over HTTP; return all that the sender can see of the answer."""
    base_url = harness.url.removeprefix("asgi+").rstrip("/")
    headers = {"Content-Type": "application/json", **extra_headers}
    token = harness.options.token
    if token:
        headers["Authorization"] = f"Bearer {token() if callable(token) else token}"
    tls = make_client_ssl_context(harness.options.tls) or True
    timeout = aiohttp.ClientTimeout(total=harness.patience)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(f"{base_url}{REPLIES}", data=raw, headers=headers, ssl=tls) as response,
        ):
            body = (await response.read())[:_MAX_BODY_BYTES].decode(errors="replace")
            answer_headers = sorted(
                (name.lower(), value)
                for name, value in response.headers.items()
                if name.lower() not in _VARYING_HEADERS
            )
            return SendResult(str(response.status), tuple(answer_headers), body)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        return SendResult(type(error).__name__)
