"""
The harness of the subscriber's scenarios: a fake producer, the subscriber that is run against it, and its output.

The fake producer sees what the subscriber sends. What the subscriber presents
is seen only if it prints it: one JSON object for each announcement, a line
each, on standard output. The person at the subscriber is simulated, by its
standard input or by a task that it is started with.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import msgspec

from ...identity.signing_keys import SigningKey
from ..judge import EvidenceLog, RecordedMessage, excerpt
from ..messages import JsonObject
from ..scenario import ScenarioAborted
from .fake_producer import FakeProducer, FakeSession, SubscriberMessage, SubscriberStream

__all__ = [
    "PERSON_TASKS",
    "Harness",
    "PrintedAnnouncement",
    "RunningSubscriber",
    "SubscriberLauncher",
    "SubscriberRun",
]

T = TypeVar("T")

# By task: what the person at the subscriber does. {task} in a command stands for the name.
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
    """An announcement that the subscriber printed. One of critical urgency interrupts all others."""

    event_id: str
    text: str
    type: str = ""
    urgency: str = "normal"


class RunningSubscriber(Protocol):
    """A subscriber that was started."""

    has_typed_input: bool  # whether the person is simulated by its standard input
    has_observable_exit: bool  # whether its end is seen; if not, it has ended when it has closed its stream

    async def type_line(self, line: str) -> None:
        """Write a line to its standard input, as the person would."""

    def stop(self) -> None:
        """Tell it to end, as SIGTERM does."""

    async def wait_for_exit(self) -> str:
        """Wait until it has ended; return how."""


# Starts a subscriber: takes a URL, a task, a file of keys, and a callback for each line that it prints.
SubscriberLauncher = Callable[[str, str, str, Callable[[bytes], None]], Awaitable[RunningSubscriber]]


class Harness:
    """
    One judgement of one subscriber, which is started anew for each part of a scenario.

    ``patience`` is how long the subscriber may take for something that it has to
    do, and ``quiet`` how long to wait for something that it must not do. ``at``
    is the URL of the fake producers, and ``reached`` turns the URL that is served
    into the one the subscriber is given.
    """

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
        self.listen_url = at
        self.patience = patience
        self.quiet_period = quiet
        self.arrival_timeout = wait  # seconds for the subscriber to connect
        self.unanswered_timeout = patience if unanswered is None else unanswered  # seconds that a prompt is left open
        self.concurrency_limit = asyncio.Semaphore(at_once)
        self.evidence = EvidenceLog()
        self.abort_reasons: dict[str, str] = {}  # by rule: why it could not be tried
        self.subscription_requests: list[JsonObject] = []
        self.messages_by_run: list[list[RecordedMessage]] = []
        self.has_connected = False  # whether the subscriber ever opened a stream
        self.has_announced = False  # whether it ever printed an announcement
        self._launch = launch
        self._signing_key = key
        self._keys_file = keys
        self._to_subscriber_url = reached
        self._run_count = 0

    @asynccontextmanager
    async def run_subscriber(self, task: str = "none", **producer_options: Any) -> AsyncIterator[SubscriberRun]:
        """Run the subscriber against a new fake producer for the length of a block."""
        producer = FakeProducer(**{"signing_key": self._signing_key, **producer_options})
        self._run_count += 1
        served_url = await producer.serve(self.listen_url.format(place=self._run_count))
        producer.address = self._to_subscriber_url(served_url)
        run = SubscriberRun(self, producer, task)
        try:
            await run.start_subscriber(self._launch, str(self._keys_file or ""))
            yield run
        finally:
            self.messages_by_run.append(producer.messages)
            self.subscription_requests += [message.message for message in run.find_messages("subscription.request")]
            await run.stop_subscriber()
            await producer.close()
            run.check_unattended_replies()


class SubscriberRun:
    """One subscriber that runs against one fake producer."""

    def __init__(self, harness: Harness, producer: FakeProducer, task: str) -> None:
        self.harness = harness
        self.producer = producer
        self.task = task
        self.announcements: list[PrintedAnnouncement] = []
        self.subscriber: RunningSubscriber | None = None
        self.exit_reason = ""  # how the subscriber has ended; empty while it has not
        self.session = FakeSession()
        self._exit_task: asyncio.Task[None] | None = None

    # -- process -------------------------------------------------------------------------------

    async def start_subscriber(self, launch: SubscriberLauncher, keys_file: str) -> None:
        """Start the subscriber."""
        self.subscriber = await launch(self.producer.address, self.task, keys_file, self._receive_line)
        self._exit_task = asyncio.get_running_loop().create_task(self._wait_for_exit(self.subscriber))

    def _receive_line(self, line: bytes) -> None:
        try:
            announcement = msgspec.json.decode(line, type=PrintedAnnouncement)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return  # a subscriber may print other lines as well
        self.announcements.append(announcement)
        self.harness.has_announced = True
        self.producer.activity.set()

    async def _wait_for_exit(self, subscriber: RunningSubscriber) -> None:
        self.exit_reason = await subscriber.wait_for_exit() or "It ended."
        self.producer.activity.set()

    async def stop_subscriber(self) -> None:
        """End the subscriber, if it has not ended by itself."""
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

    @property
    def is_listening(self) -> bool:
        """Whether it runs and has a stream."""
        return not self.exit_reason and self.producer.current_stream is not None

    # -- waiting -------------------------------------------------------------------------------

    async def wait_until(
        self, poll: Callable[[], T | None], timeout: float | None = None, *, stop_at_exit: bool = True
    ) -> T | None:
        """
        Poll until the result is not None, and return it; None if the time is up.

        With ``stop_at_exit``, return None too when the subscriber has ended.
        """
        activity = self.producer.activity
        try:
            async with asyncio.timeout(self.harness.patience if timeout is None else timeout):
                while True:
                    activity.clear()
                    value = poll()
                    if value is not None or (stop_at_exit and self.exit_reason):
                        return value
                    await activity.wait()
        except TimeoutError:
            return poll()

    async def wait_for_stream_end(self) -> None:
        """Wait until the stream has ended, and with it all that a subscriber sent on it before its own end."""
        await self.wait_until(lambda: True if self.producer.current_stream is None else None, stop_at_exit=False)

    async def wait_quiet_period(self, seconds: float | None = None) -> None:
        """Wait for as long as nothing should happen."""
        # That nothing comes can be told by waiting only.
        await asyncio.sleep(self.harness.quiet_period if seconds is None else seconds)

    async def wait_for_stream(self) -> SubscriberStream:
        """Wait until the subscriber has a stream; raise :exc:`ScenarioAborted` if it opens none."""
        stream = await self.wait_until(lambda: self.producer.current_stream, self.harness.arrival_timeout)
        if stream is None:
            has_asked = bool(self.find_messages("subscription.request"))
            failure = "asked for a subscription and never listened" if has_asked else "did not come"
            reason = f" {self.exit_reason}" if self.exit_reason else ""
            raise ScenarioAborted(f"It {failure}.{reason}")
        self.harness.has_connected = True
        return stream

    # -- events and announcements --------------------------------------------------------------

    async def start_session(self, *, require_announcement: bool = True) -> None:
        """
        Wait for a stream and start the session.

        With ``require_announcement``, raise :exc:`ScenarioAborted` if the subscriber prints no announcement of it.
        """
        await self.wait_for_stream()
        await self.send_and_wait(self.session.build_started())
        if require_announcement and not self.announcements:
            raise ScenarioAborted(
                _NO_ANNOUNCEMENTS_HINT if not self.harness.has_announced else "It announced nothing here."
            )

    def send(self, event: JsonObject, raw: bytes | None = None, *, valid: bool = True) -> JsonObject:
        """Send an event, or these bytes in its place, and return it; with ``valid`` false, one wrong on purpose."""
        return self.producer.send(event, raw, valid=valid)

    async def send_and_wait(
        self, event: JsonObject, timeout: float | None = None, raw: bytes | None = None, *, valid: bool = True
    ) -> PrintedAnnouncement | None:
        """Send an event, and return the announcement of it; None if none comes in time."""
        self.send(event, raw, valid=valid)
        return await self.wait_for_announcement(event, timeout)

    async def wait_for_announcement(
        self, event: JsonObject, timeout: float | None = None
    ) -> PrintedAnnouncement | None:
        """Return the first announcement of an event; None if none comes in time."""
        return await self.wait_until(lambda: next(iter(self.find_announcements(event)), None), timeout)

    def find_announcements(self, event: JsonObject) -> list[PrintedAnnouncement]:
        """Return the announcements of an event so far."""
        event_id = event.get("event_id")
        return [announcement for announcement in self.announcements if announcement.event_id == event_id]

    async def check_continues(self) -> bool:
        """Send a harmless event; return whether the subscriber still runs and announces it."""
        announcement = await self.send_and_wait(self.session.build_tool_invoked("Going on."))
        return announcement is not None and not self.exit_reason

    # -- messages of the subscriber ------------------------------------------------------------

    def find_messages(self, *types: str) -> list[SubscriberMessage]:
        """Return the messages of these types, in the order they came."""
        return [message for message in self.producer.received_messages if message.type in types]

    def find_first_message(self, type_name: str) -> SubscriberMessage | None:
        """Return the first message of a type, if there is one."""
        return next(iter(self.find_messages(type_name)), None)

    def find_replies(self, token: str = "") -> list[SubscriberMessage]:
        """Return the replies to one prompt or to all, in the order they came."""
        return [
            message
            for message in self.producer.received_messages
            if (message.type in _REPLY_TYPES or "reply_token" in message.message)
            and (not token or message.message.get("reply_token") == token)
        ]

    def check_unattended_replies(self) -> None:
        """SEC-007: fail the subscriber if it confirmed anything in a run without a person."""
        if self.task != "none":
            return
        for reply in self.find_replies():
            if reply.type == "confirmation.reply":
                text = f"Nobody answered, and this was sent: {excerpt(reply.raw)}"
                self.harness.evidence.record_failure("SEC-007", text, "Never answer for the person.")

    # -- person --------------------------------------------------------------------------------

    async def type_line(self, line: str) -> None:
        """Have the person type a line, if the person is simulated by standard input."""
        if self.subscriber is not None and self.subscriber.has_typed_input and not self.exit_reason:
            await self.subscriber.type_line(line)

    async def ask_person(self, prompt: JsonObject, line: str, *more_lines: str) -> SubscriberMessage | None:
        """
        Send a prompt, have the person answer it once it is announced, and return the reply.

        ``more_lines`` are typed as long as there is no reply, for a subscriber that asks
        again before it accepts. The person then starts over once: such a subscriber
        rightly takes the first line back if something else happens before the next.
        """
        reply_count = len(self.find_replies())

        async def wait_for_reply(timeout: float) -> SubscriberMessage | None:
            return await self.wait_until(lambda: self._find_new_reply(reply_count), timeout)

        timeout = self.harness.patience if self.announcements else self.harness.quiet_period
        announcement = await self.send_and_wait(prompt, timeout)
        if announcement is None and self.announcements:  # the person was not asked
            return await wait_for_reply(self.harness.patience)
        attempts = 2 if more_lines else 1
        for _ in range(attempts):
            for next_line in (line, *more_lines):
                await self.type_line(next_line)
                if reply := await wait_for_reply(self.harness.quiet_period if more_lines else 0.0):
                    return reply
            if reply := await wait_for_reply(self.harness.patience / attempts):
                return reply
        return None

    def _find_new_reply(self, reply_count: int) -> SubscriberMessage | None:
        replies = self.find_replies()
        old_replies = {reply.raw for reply in replies[:reply_count]}  # one that is sent again answers no other prompt
        return next((reply for reply in replies[reply_count:] if reply.raw not in old_replies), None)
