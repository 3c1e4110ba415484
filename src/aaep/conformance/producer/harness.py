"""
Where scenarios are played: readers made of nothing but a channel, and a way to have the producer begin something.

A reader here forgives nothing and repairs nothing. Everything that passes is
kept, with the time, and judged afterwards.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
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
from ...transports.options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from ..judge import EvidenceLog, RecordedMessage, excerpt
from ..scenario import ScenarioAborted

__all__ = [
    "CONNECT_DELAY",
    "EVENT_TYPE_PREFIX",
    "LISTENER_CAPABILITIES",
    "REPLIER_CAPABILITIES",
    "SESSION_END_TYPES",
    "ConsentTracker",
    "FakeSubscriber",
    "Harness",
    "JsonObject",
    "ObservedEvent",
    "ObservedSession",
    "ScenarioAborted",
    "SendResult",
    "TaskStarter",
    "decode_object",
    "needs_consent",
]

TaskStarter = Callable[
    [str], Awaitable[asyncio.Task[str] | None]
]  # a task that comes to how what it started has failed
EventPredicate = Callable[["ObservedEvent"], object]

SESSION_END_TYPES: Final = ("session.completed", "session.errored", "session.cancelled")
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
CONNECT_DELAY: Final = 0.05  # seconds that a connection takes
_START_GRACE: Final = 1.0  # seconds for what a command has begun to be heard, when it has ended


class SendResult(msgspec.Struct, frozen=True):
    """All that the sender of a reply can see of how it was taken, but for the time."""

    status: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""


class Harness:
    """One run against one producer. ``patience`` is how long it may take to do something, ``quiet`` how long to not."""

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
        self.url, self._start_task, self.options = url, start, options
        self.patience, self.quiet_period, self.start_timeout = patience, quiet, wait
        self.is_shared = self.scheme != "stdio" if shared is None else shared  # whether several can listen to it
        self.has_answered = False  # whether it has answered anything
        self.evidence = EvidenceLog()
        self.messages: list[RecordedMessage] = []
        self.main_subscriber: FakeSubscriber | None = None
        self.producer_info: JsonObject = {}
        self.is_listening = False  # what begins from now on is heard from its beginning
        self.complete_sessions: set[str] = set()  # sessions that were
        self.partial_sessions: set[str] = set()  # sessions that were not
        self._subscribers: list[FakeSubscriber] = []
        self.invalid_reply_results: dict[
            str, SendResult
        ] = {}  # to replies that do not count, by what was wrong with them
        self.closed_prompts: list[JsonObject] = []  # prompts that are over
        self.consent_tracker = ConsentTracker()
        self.sessions_without_consent: list[
            tuple[tuple[str, ...], list[ObservedEvent]]
        ] = []  # sessions without a yes, and what one would break

    @property
    def scheme(self) -> str:
        return split_url(self.url).scheme.lower()

    @property
    def is_http(self) -> bool:
        """Whether replies go another way than events, and a subscription outlives its connection."""
        return self.scheme in _HTTP_SCHEMES

    def open_channel(self) -> Channel:
        return connect(self.url, self.options)

    @asynccontextmanager
    async def subscribe(self, *, connect: bool = True, **capabilities: Any) -> AsyncIterator[FakeSubscriber]:
        """A reader with a subscription, for a while. It leaves at the end, if it has not before."""
        if not self.is_shared:
            raise ScenarioAborted("A producer on pipes has one reader, and this takes several.")
        reader = FakeSubscriber(self)
        self._subscribers.append(reader)
        try:
            await reader.subscribe(capabilities)
            if connect:
                reader.listen()
                await asyncio.sleep(CONNECT_DELAY)  # until it is connected: a channel does not say when
            yield reader
        finally:
            await reader.unsubscribe()

    async def start_session(self, task: str) -> ObservedSession:
        """Have the producer begin something, and wait until it does."""
        assert self.main_subscriber is not None
        before = len(self.main_subscriber.events)
        starting = await self._start_task(task) if self._start_task is not None else None
        limit = self.patience if self._start_task is not None else self.start_timeout
        finding = asyncio.ensure_future(
            self.main_subscriber.wait_for_event(lambda one: one.type == "session.started", limit, before)
        )
        try:
            why = await _wait_for_start_failure(starting, finding) if starting is not None else ""
            if why:
                self.evidence.add_remark(why)
                raise ScenarioAborted(f"No session began for the task {task!r}.")
            started = await finding
        finally:
            finding.cancel()
        if started is None:
            raise ScenarioAborted(f"No session began within {limit:g} seconds for the task {task!r}.")
        return ObservedSession(self, started.session_id, task)

    def is_from_complete_session(self, heard: ObservedEvent) -> bool:
        """Whether it belongs to a session that began while we listened; who comes late cannot judge the whole."""
        if heard.session_id and heard.session_id not in self.complete_sessions | self.partial_sessions:
            (
                self.complete_sessions
                if self.is_listening and heard.type == "session.started"
                else self.partial_sessions
            ).add(heard.session_id)
        return heard.session_id not in self.partial_sessions

    def record(self, raw: bytes, via: str, *, from_producer: bool, audit: bool = True, is_main: bool = False) -> None:
        self.messages.append(RecordedMessage(format_timestamp(time.time()), via, raw, from_producer, audit, is_main))

    async def wait_quiet_period(self) -> None:
        """As long as nothing should happen."""
        await asyncio.sleep(self.quiet_period)  # nothing else tells that nothing comes

    async def close(self) -> None:
        for reader in self._subscribers:
            await reader.unsubscribe()


async def _wait_for_start_failure(starting: asyncio.Task[str], finding: asyncio.Task[ObservedEvent | None]) -> str:
    """How what was started has failed, if no session came of it."""
    await asyncio.wait((starting, finding), return_when=asyncio.FIRST_COMPLETED)
    why = starting.result() if starting.done() else ""
    if why:
        await asyncio.wait((finding,), timeout=_START_GRACE)
    return why if not finding.done() or finding.result() is None else ""


class FakeSubscriber:
    """One subscription, made of nothing but a channel."""

    def __init__(self, stage: Harness) -> None:
        self._harness = stage
        self.channel = stage.open_channel()
        self.subscription_id = ""
        self.acceptance: JsonObject = {}
        self.rejection: JsonObject = {}
        self.requested_capabilities: JsonObject = {}
        self.events: list[ObservedEvent] = []
        self.is_main = False  # whether what it hears is judged as a whole
        self.last_event_id = ""
        self.end_reason = ""  # why the stream is over
        self._activity = asyncio.Event()
        self._listen_task: asyncio.Task[None] | None = None
        self._is_unsubscribed = False

    # -- the handshake -------------------------------------------------------------------------

    async def subscribe(self, capabilities: JsonObject, **members: Any) -> JsonObject:
        """Ask for a subscription. Raises :exc:`Unplayable` when there is none."""
        answer = await self.request(capabilities, **members)
        if not self.acceptance:
            raise ScenarioAborted(f"The request for a subscription was rejected: {excerpt(answer)}")
        return answer

    async def request(self, capabilities: JsonObject, **members: Any) -> JsonObject:
        """Send a request as it is given; the answer, whatever it is."""
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
        kind = answer.get("type")
        self.subscription_id = str(answer.get("subscription_id") or new_id("none_"))
        self._harness.record(raw, self.subscription_id, from_producer=False, is_main=self.is_main)
        self._harness.record(body, self.subscription_id, from_producer=True, is_main=self.is_main)
        if kind == "subscription.accepted":
            self.acceptance = answer
            producer = answer.get("producer")
            if isinstance(producer, dict):
                self._harness.producer_info = producer
        elif kind == "subscription.rejected":
            self.rejection = answer
        return answer

    @property
    def terms(self) -> JsonObject:
        """What binds: the request, as the acceptance changed it."""
        honoured = self.acceptance.get("honored_capabilities")
        return {**self.requested_capabilities, **(honoured if isinstance(honoured, dict) else {})}

    async def renegotiate(self, **capabilities: Any) -> JsonObject:
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
        self.end_reason = ""
        self._listen_task = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        try:
            async for arrival in self.channel.receive_messages(self.subscription_id, self.last_event_id):
                self._receive(arrival)
            self.end_reason = "The producer ended the stream."
        except (ChannelLost, ChannelRefused) as error:
            self.end_reason = str(error) or type(error).__name__
        finally:
            self._activity.set()

    def _receive(self, arrival: ReceivedMessage) -> None:
        heard = ObservedEvent(time.monotonic(), arrival.data, decode_object(arrival.data), arrival.id)
        self._harness.record(
            arrival.data,
            self.subscription_id,
            from_producer=True,
            is_main=self.is_main and self._harness.is_from_complete_session(heard),
        )
        self.last_event_id = arrival.id or self.last_event_id
        self.events.append(heard)
        self._harness.consent_tracker.observe(heard)
        self._activity.set()

    async def stop_listening(self) -> None:
        """Hear nothing more."""
        task, self._listen_task = self._listen_task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def drop_connection(self) -> None:
        """Let go of the connection without a word."""
        await self.stop_listening()
        if not self._harness.is_http:
            await self.channel.close()
            self.channel = self._harness.open_channel()

    def iter_events(self, start: int = 0) -> Iterator[ObservedEvent]:
        yield from self.events[start:]

    async def wait_for_event(self, predicate: EventPredicate, timeout: float, start: int = 0) -> ObservedEvent | None:
        """The first message from a place on that fits, if it comes in time."""
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

    def find_session_events(self, session: str) -> list[ObservedEvent]:
        """The events of a session, each once."""
        seen: dict[object, ObservedEvent] = {}
        for one in self.events:
            if one.session_id == session:
                seen.setdefault(one["event_id"], one)
        return [*seen.values()]

    # -- saying something ------------------------------------------------------------------------

    async def answer_confirmation(
        self, prompt: JsonObject, decision: Any = "accept", *, audit: bool = True, **changes: Any
    ) -> SendResult:
        """Answer a confirmation. A member that is given as None is left out."""
        message = {
            "type": "confirmation.reply",
            "reply_token": prompt["reply_token"],
            "decision": decision,
            "subscription_id": self.subscription_id,
            "timestamp": format_timestamp(time.time()),
            **changes,
        }
        return await self.send_message(
            {name: value for name, value in message.items() if value is not None}, audit=audit
        )

    async def answer_clarification(self, prompt: JsonObject, response: Any, *, audit: bool = True) -> SendResult:
        """Answer a question."""
        message = {
            "type": "clarification.reply",
            "reply_token": prompt["reply_token"],
            "response": response,
            "subscription_id": self.subscription_id,
            "timestamp": format_timestamp(time.time()),
        }
        return await self.send_message(message, audit=audit)

    async def send_message(self, message: JsonObject, *, audit: bool = True) -> SendResult:
        raw = json.dumps(message).encode()
        self._harness.record(raw, self.subscription_id, from_producer=False, audit=audit, is_main=self.is_main)
        return await self.send_raw(raw)

    async def send_raw(self, raw: bytes) -> SendResult:
        """Send anything, and see all that comes back."""
        if self._harness.is_http:
            return await _post_reply(self._harness, raw)
        try:
            await self.channel.send(raw)
        except (ChannelLost, ChannelRefused) as error:
            return SendResult(type(error).__name__, body=str(error))
        except (KeyError, AaepError):
            return SendResult("unsendable")  # the transport has no way to say it
        return SendResult("sent")

    async def unsubscribe(self, *, keep_listening: bool = False) -> None:
        """Close the subscription as a subscriber should."""
        if not keep_listening:
            await self.stop_listening()  # what was on its way when we left is nobody's fault
        if not self._is_unsubscribed and self.acceptance and (not self.end_reason or self._harness.is_http):
            message = {
                "type": "subscription.close",
                "subscription_id": self.subscription_id,
                "reason_code": "subscriber_shutdown",
                "reason_message": "Done.",
            }
            with suppress(ChannelLost, ChannelRefused):  # it has left before us
                await self.send_message(message)
        self._is_unsubscribed = True
        if not keep_listening:
            await self.channel.close()


class ObservedSession:
    """A session of the producer's, begun for a scenario."""

    def __init__(self, stage: Harness, session: str, task: str) -> None:
        self._harness, self.session_id, self.task = stage, session, task

    async def wait_for_event(
        self, reader: FakeSubscriber, *types: str, timeout: float | None = None, start: int = 0
    ) -> ObservedEvent | None:
        """An event of this session, as a reader hears it."""
        timeout = self._harness.patience if timeout is None else timeout
        return await reader.wait_for_event(
            lambda one: one.session_id == self.session_id and one.type in types, timeout, start
        )

    async def wait_for_prompt(self, reader: FakeSubscriber, kind: str = "confirmation") -> ObservedEvent:
        """The question it asks."""
        found = await self.wait_for_event(reader, f"awaiting.{kind}", *SESSION_END_TYPES)
        if found is None or found.type in SESSION_END_TYPES:
            raise ScenarioAborted(f"The task {self.task!r} led to no awaiting.{kind}.")
        return found

    async def wait_for_end(self, reader: FakeSubscriber, timeout: float | None = None) -> ObservedEvent | None:
        """How it ended."""
        return await self.wait_for_event(reader, *SESSION_END_TYPES, timeout=timeout)

    async def reject_until_end(self, reader: FakeSubscriber) -> ObservedEvent | None:
        """To the end, refusing what is asked on the way."""
        place = 0
        while True:
            found = await self.wait_for_event(reader, "awaiting.confirmation", *SESSION_END_TYPES, start=place)
            if found is None or found.type in SESSION_END_TYPES or not reader.acceptance:
                return found if found is None or found.type in SESSION_END_TYPES else None
            place = reader.events.index(found) + 1
            await reader.answer_confirmation(found.message, "reject")

    def find_resolution(self, reader: FakeSubscriber, prompt: ObservedEvent) -> ObservedEvent | None:
        """What shows that a question is no longer open: a change of state, the action itself, or the end."""
        events = reader.find_session_events(self.session_id)
        place = next((n for n, one in enumerate(events) if one["event_id"] == prompt["event_id"]), len(events))
        for one in events[place + 1 :]:
            left = one.type == "state.changed" and one["to_state"] != "awaiting_input" and not _is_resync(one)
            if (
                left
                or one.type in SESSION_END_TYPES
                or self.is_action_call(one, prompt)
                or self._harness.consent_tracker.needs_consent(one, prompt)
            ):
                return one
        return None

    async def wait_for_resolution(
        self, reader: FakeSubscriber, prompt: ObservedEvent, timeout: float | None = None
    ) -> ObservedEvent | None:
        """Wait for that."""
        await reader.wait_for_event(
            lambda _: self.find_resolution(reader, prompt), self._harness.patience if timeout is None else timeout, 0
        )
        return self.find_resolution(reader, prompt)

    def is_action_call(self, event: ObservedEvent, prompt: ObservedEvent | None = None) -> bool:
        """Whether an event says that the action asked about is being done."""
        if event.type != "tool.invoked":
            return False
        about = prompt["extra_context"] if prompt is not None else None
        if isinstance(about, dict) and "tool_call_id" in about:
            return bool(event["tool_call_id"] == about["tool_call_id"])
        return needs_consent(event)

    def find_action_calls(self, reader: FakeSubscriber, prompt: ObservedEvent | None = None) -> list[ObservedEvent]:
        return [one for one in reader.find_session_events(self.session_id) if self.is_action_call(one, prompt)]

    def find_possible_action_calls(self, reader: FakeSubscriber, prompt: ObservedEvent) -> list[ObservedEvent]:
        """What says that the action was done though it was not allowed, be it as another call and as harmless."""
        events = reader.find_session_events(self.session_id)
        return [
            one
            for one in events
            if self.is_action_call(one, prompt) or self._harness.consent_tracker.needs_consent(one, prompt)
        ]


def _is_resync(event: ObservedEvent) -> bool:
    ours = (event["extensions"] or {}).get("attend") if isinstance(event["extensions"], dict) else None
    return isinstance(ours, dict) and ours.get("resync") is True


async def _post_reply(stage: Harness, raw: bytes) -> SendResult:
    """A reply over HTTP, and everything the sender can see of the answer."""
    base = stage.url.removeprefix("asgi+").rstrip("/")
    headers = {"Content-Type": "application/json"}
    token = stage.options.token
    if token:
        headers["Authorization"] = f"Bearer {token() if callable(token) else token}"
    timeout = aiohttp.ClientTimeout(total=stage.patience)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(
                f"{base}/aaep/v1/replies",
                data=raw,
                headers=headers,
                ssl=make_client_ssl_context(stage.options.tls) or True,
            ) as response,
        ):
            body = (await response.read())[:65_536].decode(errors="replace")
            seen = tuple(sorted((name.lower(), value) for name, value in response.headers.items()))
            kept = tuple(one for one in seen if one[0] not in ("date", "x-request-id", "server"))
            return SendResult(str(response.status), kept, body)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        return SendResult(type(error).__name__)


# -- heard --

JsonObject = dict[str, Any]
EVENT_TYPE_PREFIX: Final = "aaep:agent."


def decode_object(raw: bytes) -> JsonObject:
    """What a message holds; nothing if it is none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class ObservedEvent(msgspec.Struct):
    """A message that came, and when."""

    received_at: float
    raw: bytes
    message: JsonObject
    id: str = ""

    @property
    def type(self) -> str:
        kind = self.message.get("type")
        return kind.removeprefix(EVENT_TYPE_PREFIX) if isinstance(kind, str) else ""

    @property
    def session_id(self) -> str:
        return str(self.message.get("session_id", ""))

    @property
    def is_critical(self) -> bool:
        return self.message.get("urgency") == "critical" or self.type.startswith("awaiting.")

    def __getitem__(self, name: str) -> Any:
        return self.message.get(name)


def needs_consent(event: ObservedEvent) -> bool:
    """C-40: whether a call says of itself that it needs consent."""
    return event["irreversible"] is True or event["risk_level"] == "high"


class ConsentTracker:
    """
    Which tools need consent, by all that was heard in a run.

    A call that is not allowed can be made under a new id and be called
    harmless (C-38: only the id links it to its question). So what the tool was
    in another call counts too: what was asked about, or was irreversible or of
    high risk once, is not harmless when nobody agrees. But a tool that was
    called as harmless before it was asked about, in the same session, is one
    whose calls differ, and each is taken for what it says.
    """

    def __init__(self) -> None:
        self._tools_requiring_consent: set[str] = set()
        self.mixed_tools: set[str] = set()  # whose calls differ
        self._prompted_sessions: set[str] = set()  # sessions that have asked for a yes
        self._harmless_calls: set[tuple[str, str]] = set()  # a session, and a tool called as harmless before that

    def observe(self, heard: ObservedEvent) -> None:
        if heard.type == "tool.invoked":
            tool = _to_text(heard["tool"])
            if needs_consent(heard):
                self._require_consent(heard.session_id, tool)
            elif heard.session_id not in self._prompted_sessions:
                self._harmless_calls.add((heard.session_id, tool))
        elif heard.type == "awaiting.confirmation":
            self._prompted_sessions.add(heard.session_id)
            if heard["default_decision"] != "accept":  # then it may be done when nobody can be asked (CAP-015)
                self._require_consent(heard.session_id, _find_prompt_tool(heard))

    def _require_consent(self, session: str, tool: str) -> None:
        self._tools_requiring_consent.add(tool)
        if (session, tool) in self._harmless_calls:
            self.mixed_tools.add(tool)

    def needs_consent(self, event: ObservedEvent, prompt: ObservedEvent | None = None) -> bool:
        """Whether a call does what needs consent, or what a question is about, whatever it says of itself."""
        if event.type != "tool.invoked":
            return False
        tool = _to_text(event["tool"])
        known = tool in self._tools_requiring_consent or (prompt is not None and tool == _find_prompt_tool(prompt))
        return needs_consent(event) or (bool(tool) and known and tool not in self.mixed_tools)


def _find_prompt_tool(prompt: ObservedEvent) -> str:
    """The tool that a question is about, if it says."""
    about = prompt["extra_context"]
    return _to_text(about.get("tool")) if isinstance(about, dict) else ""


def _to_text(tool: object) -> str:
    return tool if isinstance(tool, str) else ""
