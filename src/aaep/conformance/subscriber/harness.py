"""
Where subscribers are put to it: a played producer, the subscriber that was started against it, and what it shows.

What it sends is seen by the player. What it presents is seen only if it says
so: one JSON object for each announcement, a line each, on standard output. The
person at the subscriber is played too, on its standard input or by a task.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import msgspec

from ...identity.signing_keys import SigningKey
from ..judge import EvidenceLog, RecordedMessage, excerpt
from ..producer.harness import JsonObject
from ..scenario import Scenario, ScenarioAborted, scenario
from .fake_producer import FakeProducer, FakeSession, SubscriberMessage, SubscriberStream

__all__ = [
    "PERSON_TASKS",
    "REGISTERED_SUBSCRIBER_SCENARIOS",
    "Harness",
    "PrintedAnnouncement",
    "RunningSubscriber",
    "ScenarioAborted",
    "SubscriberLauncher",
    "SubscriberRun",
    "subscriber_scenario",
]

T = TypeVar("T")

# What the person at the subscriber does; {task} in a command stands for it.
PERSON_TASKS: Final[Mapping[str, str]] = {
    "none": "Nothing is answered, as if nobody were there.",
    "accept": "Every confirmation is accepted as soon as it is announced.",
    "reject": "Every confirmation is refused as soon as it is announced.",
    "late": "Every confirmation is accepted two seconds after it was announced.",
    "answer": "Every question is answered: with its first choice, with yes, with the number 7, or with the word blue.",
    "renegotiate": "Once listening, other terms are asked for, such as another verbosity.",
}
_REPLY_TYPES: Final = ("confirmation.reply", "clarification.reply")
_NO_ANNOUNCEMENTS_HINT: Final = (
    "It prints no announcements. To show it, let it print one JSON object for each on standard output, "
    'such as {"event_id": "evt_1", "type": "aaep:agent.tool.invoked", "text": "Posting.", "urgency": "normal"}.'
)


class PrintedAnnouncement(msgspec.Struct):
    """An announcement of the subscriber's, as it says of itself. Critical: it interrupts whatever else is said."""

    event_id: str
    text: str
    type: str = ""
    urgency: str = "normal"
    received_at: float = 0.0


class RunningSubscriber(Protocol):
    """A subscriber that was started."""

    has_typed_input: bool  # whether the person is played on its standard input
    has_observable_exit: bool  # whether it is seen to end; otherwise it has ended when it has let go of the producer

    async def type_line(self, line: str) -> None: ...

    def stop(self) -> None:
        """Tell it to end, as SIGTERM does."""

    async def wait_for_exit(self) -> str:
        """Wait until it has ended; how."""


SubscriberLauncher = Callable[
    [str, str, str, Callable[[bytes], None]], Awaitable[RunningSubscriber]
]  # URL, task, keys, for each line


class Harness:
    """One run against one subscriber."""

    def __init__(
        self,
        launch: SubscriberLauncher,
        *,
        at: str = "http://127.0.0.1:0",
        patience: float = 5.0,
        quiet: float = 0.4,
        wait: float = 30.0,
        unanswered: float | None = None,
        at_once: int = 4,
        key: SigningKey | None = None,
        keys: Path | None = None,
        reached: Callable[[str], str] = lambda url: url,
    ) -> None:
        self.launch, self.listen_url, self.signing_key, self.keys_file = launch, at, key, keys
        self.patience, self.quiet_period = patience, quiet
        self.arrival_timeout = wait  # seconds that it may take to come
        self.unanswered_timeout = patience if unanswered is None else unanswered  # seconds that a prompt is left alone
        self.to_subscriber_url = reached  # the URL that the subscriber is given for the one that is served
        self.concurrency_limit = asyncio.Semaphore(at_once)
        self.evidence = EvidenceLog()
        self.abort_reasons: dict[str, str] = {}  # why a rule could not be tried
        self.subscription_requests: list[JsonObject] = []
        self.messages_by_run: list[list[RecordedMessage]] = []
        self.has_connected = False  # whether it ever came
        self.has_announced = False  # whether it ever printed an announcement
        self.run_count = 0

    @asynccontextmanager
    async def run_subscriber(self, task: str = "none", **played: Any) -> AsyncIterator[SubscriberRun]:
        """Start the subscriber against a player, for a while."""
        player = FakeProducer(**{"key": self.signing_key, **played})
        self.run_count += 1
        player.address = url = self.to_subscriber_url(await player.serve(self.listen_url.format(place=self.run_count)))
        made = SubscriberRun(self, player, task)
        try:
            made.subscriber = await self.launch(url, task, str(self.keys_file or ""), made.receive_line)
            made.watch_exit()
            yield made
        finally:
            self.messages_by_run.append(player.messages)
            self.subscription_requests += [
                one.message for one in player.received_messages if one.type == "subscription.request"
            ]
            await made.stop_subscriber()
            await player.close()
            made.check_unattended_replies()


class SubscriberRun:
    """One subscriber against one player."""

    def __init__(self, stage: Harness, player: FakeProducer, task: str) -> None:
        self.harness, self.producer, self.task = stage, player, task
        self.announcements: list[PrintedAnnouncement] = []
        self.subscriber: RunningSubscriber | None = None
        self.exit_reason = ""  # how the subscriber has ended, if it has
        self._exit_task: asyncio.Task[None] | None = None
        self.session = FakeSession()

    # -- what it shows ---------------------------------------------------------------------

    def receive_line(self, line: bytes) -> None:
        """A line that it printed."""
        try:
            told = msgspec.json.decode(line, type=PrintedAnnouncement)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return  # whatever else it prints is its own affair
        told.received_at = time.monotonic()
        self.announcements.append(told)
        self.harness.has_announced = True
        self.producer.activity.set()

    def watch_exit(self) -> None:
        self._exit_task = asyncio.get_running_loop().create_task(self._wait_for_exit())

    async def _wait_for_exit(self) -> None:
        assert self.subscriber is not None
        self.exit_reason = await self.subscriber.wait_for_exit() or "It ended."
        self.producer.activity.set()

    async def wait_until(self, poll: Callable[[], T | None], timeout: float | None = None) -> T | None:
        """Wait until there is something, if it comes in time; once it has ended no more comes."""
        news = self.producer.activity
        try:
            async with asyncio.timeout(self.harness.patience if timeout is None else timeout):
                while True:
                    news.clear()
                    value = poll()
                    if value is not None or self.exit_reason:
                        return value
                    await news.wait()
        except TimeoutError:
            return poll()

    async def wait_for_stream(self) -> SubscriberStream:
        """Wait until it listens."""
        stream = await self.wait_until(lambda: self.producer.current_stream, self.harness.arrival_timeout)
        if stream is None:
            asked = any(one.type == "subscription.request" for one in self.producer.received_messages)
            how = f" {self.exit_reason}" if self.exit_reason else ""
            raise ScenarioAborted(
                f"It {'asked for a subscription and never listened' if asked else 'did not come'}.{how}"
            )
        self.harness.has_connected = True
        return stream

    async def start_session(self, *, require_announcement: bool = True) -> None:
        """It listens, and a session begins; ``watched``: what it presents is needed."""
        await self.wait_for_stream()
        await self.send_and_wait(self.session.build_started())
        if require_announcement and not self.announcements:
            raise ScenarioAborted(
                _NO_ANNOUNCEMENTS_HINT if not self.harness.has_announced else "It announced nothing here."
            )

    def send(self, event: JsonObject, raw: bytes | None = None) -> JsonObject:
        return self.producer.send(event, raw)

    async def send_and_wait(
        self, event: JsonObject, timeout: float | None = None, raw: bytes | None = None
    ) -> PrintedAnnouncement | None:
        """Say something, and wait until it is announced."""
        self.send(event, raw)
        return await self.wait_for_announcement(event, timeout)

    async def wait_for_announcement(
        self, event: JsonObject, timeout: float | None = None
    ) -> PrintedAnnouncement | None:
        """Wait until it is announced."""
        return await self.wait_until(lambda: next(iter(self.find_announcements(event)), None), timeout)

    def find_announcements(self, event: JsonObject) -> list[PrintedAnnouncement]:
        """How often it was announced."""
        return [one for one in self.announcements if one.event_id == event.get("event_id")]

    @property
    def is_listening(self) -> bool:
        """Whether it runs and listens on."""
        return not self.exit_reason and self.producer.current_stream is not None

    async def can_continue(self) -> bool:
        """Whether it takes the next event as if nothing had been."""
        mark = self.session.build_tool_invoked("Going on.")
        told = await self.send_and_wait(mark)
        return told is not None and not self.exit_reason

    # -- what it sends ---------------------------------------------------------------------

    def find_messages(self, *types: str) -> list[SubscriberMessage]:
        return [one for one in self.producer.received_messages if one.type in types]

    def find_replies(self, token: str = "") -> list[SubscriberMessage]:
        """Its replies, to one question or to all; in order."""
        return [
            one
            for one in self.producer.received_messages
            if (one.type in _REPLY_TYPES or "reply_token" in one.message)
            and (not token or one.message.get("reply_token") == token)
        ]

    async def wait_quiet_period(self, seconds: float | None = None) -> None:
        """As long as nothing should happen."""
        # Nothing else tells that nothing comes.
        await asyncio.sleep(self.harness.quiet_period if seconds is None else seconds)

    # -- the person --------------------------------------------------------------------------

    async def type_line(self, line: str) -> None:
        """The person writes a line, where the person is played so."""
        if self.subscriber is not None and self.subscriber.has_typed_input and not self.exit_reason:
            await self.subscriber.type_line(line)

    async def ask_person(self, prompt: JsonObject, line: str, *more: str) -> SubscriberMessage | None:
        """Ask, have the person answer what was announced, and wait for the reply."""
        before = len(self.find_replies())
        told = await self.send_and_wait(
            prompt, self.harness.patience if self.announcements else self.harness.quiet_period
        )
        if told is not None or not self.announcements:
            for one in (line, *more):
                await self.type_line(one)
                if await self.wait_until(
                    lambda: self._find_new_reply(before), self.harness.quiet_period if more else 0.0
                ):
                    break
        return await self.wait_until(lambda: self._find_new_reply(before))

    def _find_new_reply(self, before: int) -> SubscriberMessage | None:
        replies = self.find_replies()
        older = {one.raw for one in replies[:before]}  # said again, it is still the reply to another
        return next((one for one in replies[before:] if one.raw not in older), None)

    def check_unattended_replies(self) -> None:
        """SEC-007: where nobody is, nobody answers; also where that is not what is tried."""
        for one in self.find_replies() if self.task == "none" else ():
            if one.type == "confirmation.reply":
                text = f"Nobody answered, and this was sent: {excerpt(one.raw)}"
                self.harness.evidence.record_failure("SEC-007", text, "Never answer for the person.")

    async def stop_subscriber(self) -> None:
        """End it, if it has not ended by itself."""
        if self.subscriber is None:
            return
        if not self.exit_reason:
            self.subscriber.stop()
        if self._exit_task is not None:
            if not self.subscriber.has_observable_exit:
                await self.wait_until(
                    lambda: True if self.producer.current_stream is None else None, self.harness.arrival_timeout
                )
                self._exit_task.cancel()
            await asyncio.gather(self._exit_task, return_exceptions=True)


# -- scenarios ---------------------------------------------------------------------------------

REGISTERED_SUBSCRIBER_SCENARIOS: Final[list[Scenario]] = []
subscriber_scenario: Final = partial(scenario, among=REGISTERED_SUBSCRIBER_SCENARIOS)
