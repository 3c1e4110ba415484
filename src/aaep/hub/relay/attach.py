"""
An agent that goes to a hub elsewhere, instead of waiting for readers at its own door.

The agent opens the connection, says who it is with its manifest, and from then
on the hub is a subscriber like any other: it asks for everything, answers
prompts for its readers, and says where it stopped when it comes back. The
agent stays the authority on its sessions.
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

_chance: Final = random.SystemRandom()

FIRST_RETRY_DELAY: Final = 0.5  # seconds between tries, at first
MAX_RETRY_DELAY: Final = 15.0  # and at most
FAREWELL_TIMEOUT: Final = 2.0  # seconds for the hub to hear what was said before we leave
POLL_INTERVAL: Final = 0.01  # seconds between two looks at how much of it is left


_REJECTED: Final = b"subscription.rejected"
_pause: Final = asyncio.sleep


class _HubConversation(Conversation):
    """The hub elsewhere as our own hub sees it: messages in a queue, and how much of it is left."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, Peer("hub", "hub", roles=frozenset({REPLIER, RELAY})))
        self.frame = self._frame_line
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.ended = asyncio.Event()
        self._sessions = hub.sessions
        self._bytes = 0

    def _frame_line(self, _event_id: str, data: bytes) -> bytes:
        # Compact JSON has no line break of its own.
        return add_audience(data, self._hub.offer.registry, self._sessions.audience_of) + b"\n"

    def write(self, data: bytes) -> None:
        """Queue messages."""
        for line in data.splitlines():
            self._bytes += len(line)
            self.queue.put_nowait(line)

    def write_message(self, message: Message) -> None:
        """Queue a message that is no event, and so has no audience."""
        self.write(encode(message))

    def waiting(self) -> int:
        """Return how many bytes were not sent yet."""
        return self._bytes

    def mark_sent(self, line: bytes) -> None:
        """Note that a message was sent."""
        self._bytes -= len(line)

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Have the connection ended, after what is queued."""
        self.ended.set()

    def abort(self) -> None:
        """Have the connection ended."""
        self.ended.set()


class HubAttachment:
    """A connection of ours to a hub elsewhere; to our own hub, a :class:`~aaep.hub.face.Server` of no transport."""

    transports: Final = ()  # no client can connect here

    def __init__(self, hub: Hub, url: str, channel: DuplexChannel, instance: str) -> None:
        self.url = url
        self._hub, self._channel, self._instance = hub, channel, instance
        self._attached = asyncio.Event()
        self._current: _HubConversation | None = None
        self._refusal = self._warned = ""
        self._leaving = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        self._leaving.set()  # a wait that is over in this very moment does not notice that it was cancelled
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._channel.close()

    async def wait_until_heard(self) -> None:
        """Wait, not for long, until the hub has what was said: who lives for a moment only is to be heard too."""
        if self._task.done() or not (self._attached.is_set() or self._hub.sessions.unheard_by_hub()):
            return
        with contextlib.suppress(TimeoutError):  # it is kept in the journal, and the hub is not there
            async with asyncio.timeout(FAREWELL_TIMEOUT):
                await self._attached.wait()
                self._hub.delivery.route_all()
                while not self._is_all_sent():
                    await asyncio.sleep(POLL_INTERVAL)  # nobody tells when a socket has taken it
                self._hub.sessions.mark_heard_by_hub()

    def _is_all_sent(self) -> bool:
        """Whether the hub was sent everything."""
        conversation = self._current
        if conversation is None or conversation.subscription_id is None:
            return False
        subscription = self._hub.subscriptions.by_id(conversation.subscription_id)
        if subscription is None:
            return False
        return subscription.is_live and not subscription.stream.new_events and not conversation.waiting()

    async def _run(self) -> None:
        tries = 0
        while not self._leaving.is_set():
            try:
                wire = await self._channel.dial()
            except ChannelLost as error:
                self._warn(f"The hub is not there. {error}")
            except AaepError as error:
                self._warn(f"This agent cannot go to the hub at {self.url}. {error}")
            except Exception:
                log.exception("The way to the hub failed, which is a defect. It is tried again.")
            else:
                if await self._serve(wire):  # who is turned away at the door has got nowhere
                    tries, self._warned = 0, ""
                refused = f"The hub at {self.url} does not take this agent. {self._refusal} It is tried again."
                lost = f"The connection to the hub at {self.url} ended."
                self._warn(f"{refused if self._refusal else lost} What happens meanwhile is kept for it.")
            if self._leaving.is_set():
                return
            delay = min(MAX_RETRY_DELAY, FIRST_RETRY_DELAY * 2 ** min(tries, 10))
            tries += 1
            await _pause(delay * (0.5 + _chance.random() / 2))

    def _warn(self, why: str) -> None:
        """Once, however often it is tried."""
        log.log(logging.DEBUG if why == self._warned else logging.WARNING, "%s", why)
        self._warned = why

    async def _serve(self, wire: DuplexConnection) -> bool:
        """Be the hub's for one connection; whether it has subscribed."""
        self._refusal = ""
        self._current = conversation = _HubConversation(self._hub)
        conversation.write_message(self._manifest())
        work: list[Coroutine[Any, Any, object]] = [
            self._send(wire, conversation),
            self._read(wire, conversation),
            conversation.ended.wait(),
        ]
        tasks = [asyncio.ensure_future(one) for one in work]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.sessions.has_attached_hub = False
            if self._is_all_sent():
                self._hub.sessions.mark_heard_by_hub()
            self._current = None
            conversation.lost()
            conversation.queue.put_nowait(None)
            try:
                with contextlib.suppress(TimeoutError):  # what was said last, if it can still be heard
                    async with asyncio.timeout(0.5):  # wait_for() may forget that its caller was cancelled
                        await asyncio.shield(tasks[0])
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:  # also when there is no time left for that
                with contextlib.suppress(AaepError):  # it is gone already
                    await wire.close()
            attached = self._attached.is_set()
            self._attached.clear()
        return attached

    def _manifest(self) -> Manifest:
        told = self._hub.manifest()
        return msgspec.structs.replace(told, extensions={PREFIX: {"instance": self._instance}})

    async def _send(self, wire: DuplexConnection, conversation: _HubConversation) -> None:
        while (line := await conversation.queue.get()) is not None:
            try:
                await wire.send(line)
            except ChannelLost:
                return
            finally:
                conversation.mark_sent(line)

    async def _read(self, wire: DuplexConnection, conversation: _HubConversation) -> None:
        try:
            while (raw := await wire.receive()) is not None:
                if not isinstance(raw, bytes) or not raw or self._refused(raw):
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

    def _refused(self, raw: bytes) -> bool:
        """Whether the hub says why it will not have us. It hangs up by itself."""
        message = read(raw, self._hub.offer.registry)[0] if _REJECTED in raw else None
        if not isinstance(message, SubscriptionRejected):
            return False
        code = "" if message.reason_code == "unknown" else f"{message.reason_code}: "  # that is no word for a person
        self._refusal = f"{code}{sanitize(message.reason_message)}"
        return True


async def attach(hub: Hub, url: str, options: ConnectOptions, *, instance: str) -> HubAttachment:
    """Go to a hub and stay there; when it is away, come back. Does not wait until it is there."""
    channel = connect(url, options)
    if not isinstance(channel, DuplexChannel):
        await channel.close()
        raise AaepError(f"An agent cannot go to a hub at {url!r}. Use ws://, wss://, grpc://, grpcs:// or unix:.")
    return HubAttachment(hub, url, channel, instance)
