"""
The agent's end of a relay: an agent that connects to a hub in another process.

The agent opens the connection and sends its manifest. From then on the hub is an
ordinary subscriber: it subscribes to all events, answers prompts for its readers,
and names the last event it has when it reconnects. The agent remains the authority
on its sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Coroutine
from typing import Any, Final

import msgspec

from ...errors import AaepError
from ...identity.peer import RELAY, REPLIER, Peer
from ...protocol.attend_extension import PREFIX
from ...protocol.codec import encode, read
from ...protocol.fields import Message
from ...protocol.messages import Manifest, SubscriptionClose, SubscriptionRejected
from ...text.sanitize import sanitize
from ...transports.base import ChannelLost, ChannelRefused, connect
from ...transports.duplex_client import DuplexChannel, DuplexConnection
from ...transports.duplex_server import Conversation
from ...transports.options import ConnectOptions
from ..hub import Hub
from .audience import add_audience

__all__ = ["HubAttachment", "attach"]

log: Final = logging.getLogger("aaep.attach")

_random: Final = random.SystemRandom()

FIRST_RETRY_DELAY: Final = 0.5  # seconds
MAX_RETRY_DELAY: Final = 15.0  # seconds
FLUSH_TIMEOUT: Final = 2.0  # seconds without any progress in sending the last events, after which they are given up
LAST_SEND_TIMEOUT: Final = 0.5  # seconds to send the last messages of a connection
GOODBYE_TIMEOUT: Final = 5.0  # seconds for the hub to have read what was sent, and to hang up
POLL_INTERVAL: Final = 0.01  # seconds between checks for unsent bytes

_REJECTED_TYPE: Final = b"subscription.rejected"
_sleep: Final = asyncio.sleep


class _HubConversation(Conversation):
    """The remote hub as a client of our own hub: queues outgoing messages and counts unsent bytes."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, Peer("hub", "hub", roles=frozenset({REPLIER, RELAY})))
        self.frame = self._frame_line
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.ended = asyncio.Event()
        self._sessions = hub.sessions
        self._backlog = hub.delivery.backlog
        self._unsent_bytes = 0
        self.sent_bytes = 0

    def _frame_line(self, _event_id: str, data: bytes) -> bytes:
        # Compact JSON contains no line breaks.
        return add_audience(data, self._hub.offer.registry, self._sessions.audience_of) + b"\n"

    def write(self, data: bytes) -> None:
        """Queue one or more messages. An agent waits for them as for what is not written at all."""
        for line in data.splitlines():
            self._unsent_bytes += len(line)
            self._backlog.hold(len(line))
            self.queue.put_nowait(line)

    def write_message(self, message: Message) -> None:
        """Queue a message that is not an event and so has no audience."""
        self.write(encode(message))

    def count_unsent_bytes(self) -> int:
        """Return how many queued bytes are not sent yet."""
        return self._unsent_bytes

    def mark_sent(self, line: bytes) -> None:
        """Record that a message was sent."""
        self.sent_bytes += len(line)
        size = min(len(line), self._unsent_bytes)  # none, once the connection is lost
        self._unsent_bytes -= size
        self._backlog.release(size)

    def mark_lost(self) -> None:
        """Record that the connection is lost, and let go of who waits for it."""
        super().mark_lost()
        self._backlog.release(self._unsent_bytes)
        self._unsent_bytes = 0

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """End the connection once the queue is sent."""
        self.ended.set()

    def abort(self) -> None:
        """End the connection."""
        self.ended.set()


class HubAttachment:
    """The connection to a remote hub. For our own hub it is a :class:`~aaep.hub.face.Server` without transports."""

    transports: Final = ()  # no client can connect to it

    def __init__(self, hub: Hub, url: str, channel: DuplexChannel, instance: str) -> None:
        self.url = url
        self._hub = hub
        self._channel = channel
        self._instance = instance
        self._attached = asyncio.Event()
        self._current: _HubConversation | None = None
        self._serving: _HubConversation | None = None  # until its connection is closed
        self._refusal = ""
        self._last_warning = ""
        self._closing = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Disconnect from the hub and stop reconnecting."""
        self._closing.set()  # a wait that finishes at this moment can miss the cancellation
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._channel.close()

    async def wait_until_sent(self) -> None:
        """Wait until all events are sent, so that those of short-lived processes reach a hub that reads."""
        if self._task.done() or not (self._attached.is_set() or self._hub.sessions.unheard_by_hub()):
            return
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):  # the hub is unavailable; the journal keeps the events
            async with asyncio.timeout(FLUSH_TIMEOUT) as patience:
                await self._attached.wait()
                self._hub.delivery.route_all()
                sent_bytes = 0
                while not self._is_all_sent():
                    await asyncio.sleep(POLL_INTERVAL)  # there is no notification for this
                    if self._current is not None and self._current.sent_bytes != sent_bytes:
                        sent_bytes = self._current.sent_bytes
                        patience.reschedule(loop.time() + FLUSH_TIMEOUT)
                self._hub.sessions.mark_heard_by_hub()

    async def wait_until_read(self) -> None:
        """Wait a short time until the hub has read everything up to our goodbye, which is sent, and has hung up."""
        self._closing.set()  # there is no next connection
        if self._serving is not None:
            await asyncio.wait([self._task], timeout=LAST_SEND_TIMEOUT + GOODBYE_TIMEOUT)

    def _is_all_sent(self) -> bool:
        """Whether all events were sent to the hub."""
        conversation = self._current
        if conversation is None or conversation.subscription_id is None:
            return False
        subscription = self._hub.subscriptions.by_id(conversation.subscription_id)
        if subscription is None:
            return False
        return subscription.is_live and not subscription.stream.new_events and not conversation.count_unsent_bytes()

    async def _run(self) -> None:
        tries = 0
        while not self._closing.is_set():
            try:
                connection = await self._channel.open_connection()
            except ChannelLost as error:
                self._warn(f"The hub is not there. {error}")
            except AaepError as error:
                self._warn(f"This agent cannot go to the hub at {self.url}. {error}")
            except Exception:
                log.exception("The way to the hub failed, which is a defect. It is tried again.")
            else:
                if await self._serve_connection(connection):  # a connection without a subscription is a failed try
                    tries = 0
                    self._last_warning = ""
                if self._closing.is_set():
                    return
                refused = f"The hub at {self.url} does not take this agent. {self._refusal} It is tried again."
                lost = f"The connection to the hub at {self.url} ended."
                self._warn(f"{refused if self._refusal else lost} What happens meanwhile is kept for it.")
            if self._closing.is_set():
                return
            delay = min(MAX_RETRY_DELAY, FIRST_RETRY_DELAY * 2 ** min(tries, 10))
            tries += 1
            await _sleep(delay * (0.5 + _random.random() / 2))

    def _warn(self, text: str) -> None:
        """Log a warning, or a debug message if the last warning had the same text."""
        log.log(logging.DEBUG if text == self._last_warning else logging.WARNING, "%s", text)
        self._last_warning = text

    async def _serve_connection(self, connection: DuplexConnection) -> bool:
        """Serve the remote hub on a connection until it ends; return whether the hub had subscribed."""
        self._refusal = ""
        self._current = self._serving = conversation = _HubConversation(self._hub)
        conversation.write_message(self._build_manifest())
        coroutines: list[Coroutine[Any, Any, object]] = [
            self._send(connection, conversation),
            self._read(connection, conversation),
            conversation.ended.wait(),
        ]
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.sessions.has_attached_hub = False
            if self._is_all_sent():
                self._hub.sessions.mark_heard_by_hub()
            self._current = None
            conversation.mark_lost()
            conversation.queue.put_nowait(None)
            try:
                with contextlib.suppress(TimeoutError):  # the hub may not read any more
                    async with asyncio.timeout(LAST_SEND_TIMEOUT):  # wait_for() can lose a cancellation
                        await asyncio.shield(tasks[0])
                    # Closing drops what is still in a buffer; the hub hangs up when it has read our goodbye.
                    async with asyncio.timeout(GOODBYE_TIMEOUT if conversation.ended.is_set() else 0):
                        await asyncio.shield(tasks[1])
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:  # also when this task is cancelled meanwhile
                self._serving = None
                with contextlib.suppress(AaepError):  # it is lost already
                    await connection.close()
            was_attached = self._attached.is_set()
            self._attached.clear()
        return was_attached

    def _build_manifest(self) -> Manifest:
        return msgspec.structs.replace(self._hub.manifest(), extensions={PREFIX: {"instance": self._instance}})

    async def _send(self, connection: DuplexConnection, conversation: _HubConversation) -> None:
        while (line := await conversation.queue.get()) is not None:
            try:
                await connection.send(line)
            except ChannelLost:
                return
            finally:
                conversation.mark_sent(line)

    async def _read(self, connection: DuplexConnection, conversation: _HubConversation) -> None:
        try:
            while (raw := await connection.receive()) is not None:
                if not isinstance(raw, bytes) or not raw or self._read_refusal(raw):
                    continue
                conversation.receive(raw)
                if conversation.subscription_id is not None and not self._attached.is_set():
                    log.info("Attached to the hub at %s.", self.url)
                    self._attached.set()
                    self._hub.sessions.has_attached_hub = True
        except ChannelLost:
            return
        except ChannelRefused as error:
            self._refusal = self._refusal or str(error)

    def _read_refusal(self, raw: bytes) -> bool:
        """Store the reason if a message is a rejection, and return whether it is. The hub ends the connection."""
        message = read(raw, self._hub.offer.registry)[0] if _REJECTED_TYPE in raw else None
        if not isinstance(message, SubscriptionRejected):
            return False
        code = (
            "" if message.reason_code == "unknown" else f"{message.reason_code}: "
        )  # "unknown" means nothing to a person
        self._refusal = f"{code}{sanitize(message.reason_message)}"
        return True


async def attach(hub: Hub, url: str, options: ConnectOptions, *, instance: str) -> HubAttachment:
    """Connect to a remote hub in the background and reconnect when the connection is lost."""
    channel = connect(url, options)
    if not isinstance(channel, DuplexChannel):
        await channel.close()
        raise AaepError(f"An agent cannot go to a hub at {url!r}. Use ws://, wss://, grpc://, grpcs:// or unix:.")
    return HubAttachment(hub, url, channel, instance)
