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
from ...runtime.ids import identifier, timestamp
from ...transports.base import AgentEnded, Arrival, Channel, ChannelLost, ChannelRefused, transport
from ..judge import Ledger, Line, excerpt
from ..scenario import Unplayable

__all__ = [
    "CONNECTING",
    "ENDS",
    "LISTENS",
    "PREFIX",
    "REPLIES",
    "Answer",
    "Heard",
    "Json",
    "Reader",
    "Run",
    "Stage",
    "Start",
    "Tools",
    "Unplayable",
    "consequential",
    "content",
]

Start = Callable[[str], Awaitable[asyncio.Task[str] | None]]  # a task that comes to how what it started has failed
Fits = Callable[["Heard"], object]

ENDS: Final = ("session.completed", "session.errored", "session.cancelled")
LISTENS: Final[Json] = {"supported_conformance_levels": [1, 2, 3], "supported_extensions": [ATTEND.namespace]}
REPLIES: Final[Json] = {**LISTENS, "supports_confirmation_reply": True, "supports_clarification_reply": True}
_POSTED: Final = ("http", "https", "asgi+http")
CONNECTING: Final = 0.05  # seconds that a connection takes
_AFTERWARDS: Final = 1.0  # seconds for what a command has begun to be heard, when it has ended


class Answer(msgspec.Struct, frozen=True):
    """All that the sender of a reply can see of how it was taken, but for the time."""

    status: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""


class Stage:
    """One run against one producer. ``patience`` is how long it may take to do something, ``quiet`` how long to not."""

    def __init__(
        self,
        url: str,
        start: Start | None,
        *,
        patience: float = 10.0,
        quiet: float = 0.25,
        wait: float = 60.0,
        shared: bool | None = None,
        **settings: Any,
    ) -> None:
        self.url, self._start, self._settings = url, start, settings
        self.patience, self.quiet, self.wait = patience, quiet, wait
        self.shared = self.scheme != "stdio" if shared is None else shared  # whether several can listen to it
        self.met = False  # whether it has answered anything
        self.ledger = Ledger()
        self.lines: list[Line] = []
        self.main: Reader | None = None
        self.producer: Json = {}
        self.playing = False  # what begins from now on is heard from its beginning
        self.whole: set[str] = set()  # sessions that were
        self.older: set[str] = set()  # sessions that were not
        self._readers: list[Reader] = []
        self.answers: dict[str, Answer] = {}  # to replies that do not count, by what was wrong with them
        self.used: list[Json] = []  # prompts that are over
        self.tools = Tools()
        self.unasked: list[tuple[tuple[str, ...], list[Heard]]] = []  # sessions without a yes, and what one would break

    @property
    def scheme(self) -> str:
        return split_url(self.url).scheme.lower()

    @property
    def posts(self) -> bool:
        """Whether replies go another way than events, and a subscription outlives its connection."""
        return self.scheme in _POSTED

    def dial(self) -> Channel:
        return transport(self.url).connect(self.url, **self._settings)

    @asynccontextmanager
    async def reader(self, *, connect: bool = True, **capabilities: Any) -> AsyncIterator[Reader]:
        """A reader with a subscription, for a while. It leaves at the end, if it has not before."""
        if not self.shared:
            raise Unplayable("A producer on pipes has one reader, and this takes several.")
        reader = Reader(self)
        self._readers.append(reader)
        try:
            await reader.join(capabilities)
            if connect:
                reader.listen()
                await asyncio.sleep(CONNECTING)  # until it is connected: a channel does not say when
            yield reader
        finally:
            await reader.leave()

    async def begin(self, task: str) -> Run:
        """Have the producer begin something, and wait until it does."""
        assert self.main is not None
        before = len(self.main.heard)
        starting = await self._start(task) if self._start is not None else None
        limit = self.patience if self._start is not None else self.wait
        finding = asyncio.ensure_future(self.main.find(lambda one: one.type == "session.started", limit, before))
        try:
            why = await _failure(starting, finding) if starting is not None else ""
            if why:
                self.ledger.remark(why)
                raise Unplayable(f"No session began for the task {task!r}.")
            started = await finding
        finally:
            finding.cancel()
        if started is None:
            raise Unplayable(f"No session began within {limit:g} seconds for the task {task!r}.")
        return Run(self, started.session, task)

    def begun(self, heard: Heard) -> bool:
        """Whether it belongs to a session that began while we listened; who comes late cannot judge the whole."""
        if heard.session and heard.session not in self.whole | self.older:
            (self.whole if self.playing and heard.type == "session.started" else self.older).add(heard.session)
        return heard.session not in self.older

    def record(self, raw: bytes, via: str, *, out: bool, true: bool = True, main: bool = False) -> None:
        self.lines.append(Line(timestamp(time.time()), via, raw, out, true, main))

    async def rest(self) -> None:
        """As long as nothing should happen."""
        await asyncio.sleep(self.quiet)  # nothing else tells that nothing comes

    async def close(self) -> None:
        for reader in self._readers:
            await reader.leave()


async def _failure(starting: asyncio.Task[str], finding: asyncio.Task[Heard | None]) -> str:
    """How what was started has failed, if no session came of it."""
    await asyncio.wait((starting, finding), return_when=asyncio.FIRST_COMPLETED)
    why = starting.result() if starting.done() else ""
    if why:
        await asyncio.wait((finding,), timeout=_AFTERWARDS)
    return why if not finding.done() or finding.result() is None else ""


class Reader:
    """One subscription, made of nothing but a channel."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.channel = stage.dial()
        self.id = ""
        self.accepted: Json = {}
        self.rejected: Json = {}
        self.asked: Json = {}
        self.heard: list[Heard] = []
        self.main = False  # whether what it hears is judged as a whole
        self.last = ""
        self.ended = ""  # why the stream is over
        self._news = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._left = False

    # -- the handshake -------------------------------------------------------------------------

    async def join(self, capabilities: Json, **members: Any) -> Json:
        """Ask for a subscription. Raises :exc:`Unplayable` when there is none."""
        answer = await self.ask(capabilities, **members)
        if not self.accepted:
            raise Unplayable(f"The request for a subscription was rejected: {excerpt(answer)}")
        return answer

    async def ask(self, capabilities: Json, **members: Any) -> Json:
        """Send a request as it is given; the answer, whatever it is."""
        request: Json = {
            "type": "subscription.request",
            "aaep_version": "1.0.0",
            "subscriber_id": "aaep-conformance",
            "subscriber_name": "Conformance suite",
            "capabilities": capabilities,
            **members,
        }
        raw = json.dumps(request).encode()
        self.asked = capabilities
        try:
            body = await self.channel.request(raw)
        except (ChannelLost, ChannelRefused) as error:
            if isinstance(error, (ChannelLost, AgentEnded)) and not self._stage.met:
                raise AaepError(f"Nothing could be judged. {error}") from error
            self._stage.met = True
            raise Unplayable(f"A request for a subscription was not answered as one: {error}") from error
        self._stage.met = True
        answer = content(body)
        kind = answer.get("type")
        self.id = str(answer.get("subscription_id") or identifier("none_"))
        self._stage.record(raw, self.id, out=False, main=self.main)
        self._stage.record(body, self.id, out=True, main=self.main)
        if kind == "subscription.accepted":
            self.accepted = answer
            producer = answer.get("producer")
            if isinstance(producer, dict):
                self._stage.producer = producer
        elif kind == "subscription.rejected":
            self.rejected = answer
        return answer

    @property
    def terms(self) -> Json:
        """What binds: the request, as the acceptance changed it."""
        honoured = self.accepted.get("honored_capabilities")
        return {**self.asked, **(honoured if isinstance(honoured, dict) else {})}

    async def renegotiate(self, **capabilities: Any) -> Json:
        message = {"type": "subscription.renegotiate", "subscription_id": self.id, "capabilities": capabilities}
        raw = json.dumps(message).encode()
        self._stage.record(raw, self.id, out=False, main=self.main)
        try:
            body = await self.channel.request(raw)
        except (ChannelLost, ChannelRefused) as error:
            return {"error": str(error)}
        self._stage.record(body, self.id, out=True, main=self.main)
        return content(body)

    # -- listening -----------------------------------------------------------------------------

    def listen(self) -> None:
        self.ended = ""
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        try:
            async for arrival in self.channel.arrivals(self.id, self.last):
                self._take(arrival)
            self.ended = "The producer ended the stream."
        except (ChannelLost, ChannelRefused) as error:
            self.ended = str(error) or type(error).__name__
        finally:
            self._news.set()

    def _take(self, arrival: Arrival) -> None:
        heard = Heard(time.monotonic(), arrival.data, content(arrival.data), arrival.id)
        self._stage.record(arrival.data, self.id, out=True, main=self.main and self._stage.begun(heard))
        self.last = arrival.id or self.last
        self.heard.append(heard)
        self._stage.tools.learn(heard)
        self._news.set()

    async def deafen(self) -> None:
        """Hear nothing more."""
        task, self._listening = self._listening, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def cut(self) -> None:
        """Let go of the connection without a word."""
        await self.deafen()
        if not self._stage.posts:
            await self.channel.close()
            self.channel = self._stage.dial()

    def after(self, place: int = 0) -> Iterator[Heard]:
        yield from self.heard[place:]

    async def find(self, fits: Fits, limit: float, place: int = 0) -> Heard | None:
        """The first message from a place on that fits, if it comes in time."""
        try:
            async with asyncio.timeout(limit):
                while True:
                    self._news.clear()
                    while place < len(self.heard):
                        if fits(self.heard[place]):
                            return self.heard[place]
                        place += 1
                    if self.ended:
                        return None
                    await self._news.wait()
        except TimeoutError:
            return None

    def of(self, session: str) -> list[Heard]:
        """The events of a session, each once."""
        seen: dict[object, Heard] = {}
        for one in self.heard:
            if one.session == session:
                seen.setdefault(one["event_id"], one)
        return [*seen.values()]

    # -- saying something ------------------------------------------------------------------------

    async def reply(self, prompt: Json, decision: Any = "accept", *, true: bool = True, **changes: Any) -> Answer:
        """Answer a confirmation. A member that is given as None is left out."""
        message = {
            "type": "confirmation.reply",
            "reply_token": prompt["reply_token"],
            "decision": decision,
            "subscription_id": self.id,
            "timestamp": timestamp(time.time()),
            **changes,
        }
        return await self.say({name: value for name, value in message.items() if value is not None}, true=true)

    async def respond(self, prompt: Json, response: Any, *, true: bool = True) -> Answer:
        """Answer a question."""
        message = {
            "type": "clarification.reply",
            "reply_token": prompt["reply_token"],
            "response": response,
            "subscription_id": self.id,
            "timestamp": timestamp(time.time()),
        }
        return await self.say(message, true=true)

    async def say(self, message: Json, *, true: bool = True) -> Answer:
        raw = json.dumps(message).encode()
        self._stage.record(raw, self.id, out=False, true=true, main=self.main)
        return await self.send(raw)

    async def send(self, raw: bytes) -> Answer:
        """Send anything, and see all that comes back."""
        if self._stage.posts:
            return await _post(self._stage, raw)
        try:
            await self.channel.send(raw)
        except (ChannelLost, ChannelRefused) as error:
            return Answer(type(error).__name__, body=str(error))
        except (KeyError, AaepError):
            return Answer("unsendable")  # the transport has no way to say it
        return Answer("sent")

    async def leave(self, *, listen_on: bool = False) -> None:
        """Close the subscription as a subscriber should."""
        if not listen_on:
            await self.deafen()  # what was on its way when we left is nobody's fault
        if not self._left and self.accepted and (not self.ended or self._stage.posts):
            message = {
                "type": "subscription.close",
                "subscription_id": self.id,
                "reason_code": "subscriber_shutdown",
                "reason_message": "Done.",
            }
            with suppress(ChannelLost, ChannelRefused):  # it has left before us
                await self.say(message)
        self._left = True
        if not listen_on:
            await self.channel.close()


class Run:
    """A session of the producer's, begun for a scenario."""

    def __init__(self, stage: Stage, session: str, task: str) -> None:
        self._stage, self.session, self.task = stage, session, task

    async def find(self, reader: Reader, *types: str, limit: float | None = None, place: int = 0) -> Heard | None:
        """An event of this session, as a reader hears it."""
        limit = self._stage.patience if limit is None else limit
        return await reader.find(lambda one: one.session == self.session and one.type in types, limit, place)

    async def prompt(self, reader: Reader, kind: str = "confirmation") -> Heard:
        """The question it asks."""
        found = await self.find(reader, f"awaiting.{kind}", *ENDS)
        if found is None or found.type in ENDS:
            raise Unplayable(f"The task {self.task!r} led to no awaiting.{kind}.")
        return found

    async def over(self, reader: Reader, limit: float | None = None) -> Heard | None:
        """How it ended."""
        return await self.find(reader, *ENDS, limit=limit)

    async def through(self, reader: Reader) -> Heard | None:
        """To the end, refusing what is asked on the way."""
        place = 0
        while True:
            found = await self.find(reader, "awaiting.confirmation", *ENDS, place=place)
            if found is None or found.type in ENDS or not reader.accepted:
                return found if found is None or found.type in ENDS else None
            place = reader.heard.index(found) + 1
            await reader.reply(found.message, "reject")

    def resolved(self, reader: Reader, prompt: Heard) -> Heard | None:
        """What shows that a question is no longer open: a change of state, the action itself, or the end."""
        events = reader.of(self.session)
        place = next((n for n, one in enumerate(events) if one["event_id"] == prompt["event_id"]), len(events))
        for one in events[place + 1 :]:
            left = one.type == "state.changed" and one["to_state"] != "awaiting_input" and not _resync(one)
            if left or one.type in ENDS or self.acts(one, prompt) or self._stage.tools.grave(one, prompt):
                return one
        return None

    async def resolution(self, reader: Reader, prompt: Heard, limit: float | None = None) -> Heard | None:
        """Wait for that."""
        await reader.find(lambda _: self.resolved(reader, prompt), self._stage.patience if limit is None else limit, 0)
        return self.resolved(reader, prompt)

    def acts(self, event: Heard, prompt: Heard | None = None) -> bool:
        """Whether an event says that the action asked about is being done."""
        if event.type != "tool.invoked":
            return False
        about = prompt["extra_context"] if prompt is not None else None
        if isinstance(about, dict) and "tool_call_id" in about:
            return bool(event["tool_call_id"] == about["tool_call_id"])
        return consequential(event)

    def acted(self, reader: Reader, prompt: Heard | None = None) -> list[Heard]:
        return [one for one in reader.of(self.session) if self.acts(one, prompt)]

    def done(self, reader: Reader, prompt: Heard) -> list[Heard]:
        """What says that the action was done though it was not allowed, be it as another call and as harmless."""
        events = reader.of(self.session)
        return [one for one in events if self.acts(one, prompt) or self._stage.tools.grave(one, prompt)]


def _resync(event: Heard) -> bool:
    ours = (event["extensions"] or {}).get("attend") if isinstance(event["extensions"], dict) else None
    return isinstance(ours, dict) and ours.get("resync") is True


async def _post(stage: Stage, raw: bytes) -> Answer:
    """A reply over HTTP, and everything the sender can see of the answer."""
    base = stage.url.removeprefix("asgi+").rstrip("/")
    headers = {"Content-Type": "application/json"}
    token = stage._settings.get("token")
    if token:
        headers["Authorization"] = f"Bearer {token() if callable(token) else token}"
    timeout = aiohttp.ClientTimeout(total=stage.patience)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(
                f"{base}/aaep/v1/replies", data=raw, headers=headers, ssl=stage._settings.get("ssl") or True
            ) as response,
        ):
            body = (await response.read())[:65_536].decode(errors="replace")
            seen = tuple(sorted((name.lower(), value) for name, value in response.headers.items()))
            kept = tuple(one for one in seen if one[0] not in ("date", "x-request-id", "server"))
            return Answer(str(response.status), kept, body)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        return Answer(type(error).__name__)


# -- heard --

Json = dict[str, Any]
PREFIX: Final = "aaep:agent."


def content(raw: bytes) -> Json:
    """What a message holds; nothing if it is none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class Heard(msgspec.Struct):
    """A message that came, and when."""

    at: float
    raw: bytes
    message: Json
    id: str = ""

    @property
    def type(self) -> str:
        kind = self.message.get("type")
        return kind.removeprefix(PREFIX) if isinstance(kind, str) else ""

    @property
    def session(self) -> str:
        return str(self.message.get("session_id", ""))

    @property
    def critical(self) -> bool:
        return self.message.get("urgency") == "critical" or self.type.startswith("awaiting.")

    def __getitem__(self, name: str) -> Any:
        return self.message.get(name)


def consequential(event: Heard) -> bool:
    """C-40: whether a call says of itself that it needs consent."""
    return event["irreversible"] is True or event["risk_level"] == "high"


class Tools:
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
        self._grave: set[str] = set()
        self.mixed: set[str] = set()  # whose calls differ
        self._asked: set[str] = set()  # sessions that have asked for a yes
        self._early: set[tuple[str, str]] = set()  # a session, and a tool called as harmless before that

    def learn(self, heard: Heard) -> None:
        if heard.type == "tool.invoked":
            tool = _name(heard["tool"])
            if consequential(heard):
                self._needs(heard.session, tool)
            elif heard.session not in self._asked:
                self._early.add((heard.session, tool))
        elif heard.type == "awaiting.confirmation":
            self._asked.add(heard.session)
            if heard["default_decision"] != "accept":  # then it may be done when nobody can be asked (CAP-015)
                self._needs(heard.session, _about(heard))

    def _needs(self, session: str, tool: str) -> None:
        self._grave.add(tool)
        if (session, tool) in self._early:
            self.mixed.add(tool)

    def grave(self, event: Heard, prompt: Heard | None = None) -> bool:
        """Whether a call does what needs consent, or what a question is about, whatever it says of itself."""
        if event.type != "tool.invoked":
            return False
        tool = _name(event["tool"])
        known = tool in self._grave or (prompt is not None and tool == _about(prompt))
        return consequential(event) or (bool(tool) and known and tool not in self.mixed)


def _about(prompt: Heard) -> str:
    """The tool that a question is about, if it says."""
    about = prompt["extra_context"]
    return _name(about.get("tool")) if isinstance(about, dict) else ""


def _name(tool: object) -> str:
    return tool if isinstance(tool, str) else ""
