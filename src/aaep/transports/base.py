"""
What stands between a hub and a subscriber: the two ends of a connection, and a loop in a thread to serve them.

A transport is one file in ``transports/``, found by the scheme of its URL. It
gives a :class:`Door` to whoever serves and a :class:`Channel` to whoever
listens; nothing else in this package knows how bytes travel.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future, InvalidStateError
from importlib import import_module
from typing import Any, Final, Generic, Protocol, TypeVar, cast
from urllib.parse import SplitResult, urlsplit

import msgspec

from ..errors import AaepError
from ..protocol.messages import SubscriptionClose

__all__ = [
    "AGENT",
    "AUDITOR",
    "LISTENER",
    "LOCAL",
    "RELAY",
    "REPLIER",
    "AgentEnded",
    "Arrival",
    "Background",
    "Channel",
    "ChannelLost",
    "ChannelRefused",
    "Door",
    "Later",
    "Outlet",
    "Peer",
    "Reachable",
    "Transport",
    "attach",
    "in_asyncio",
    "parts_of",
    "shut",
    "transport",
    "type_of",
]

T = TypeVar("T")
_SLICE: Final = 0.25  # seconds
_TIMES: Final = 4  # that a task is told to end, or that the loop turns until what was begun is over
_log: Final = logging.getLogger("aaep.channel")
LOCAL: Final = "local"  # the principal that is the user of this machine

# What somebody may do (SEC-037).
LISTENER: Final = "listener"  # receive
REPLIER: Final = "replier"  # receive and answer
AUDITOR: Final = "auditor"  # receive everything, whoever it is for, and answer nothing
AGENT: Final = "agent"  # publish, through a hub
RELAY: Final = "relay"  # a hub that an agent went to: it hears everything, and keeps its readers apart itself


class ChannelLost(AaepError):
    """The connection broke, or could not be made. Trying again later may help."""


class ChannelRefused(AaepError):
    """
    The other side answered and will not have us. Trying again as we are will not help.

    ``gone``: it does not know the subscription, or not any more. A new one may help (CF-092).
    """

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class Reachable(AaepError):
    """Other machines can reach this address, so it is not opened without TLS and a credential (TR-024)."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__(text)
        self.url = url


class AgentEnded(ChannelRefused):
    """The agent's process has ended, or never began. So there is nobody left who could answer."""


class Peer(msgspec.Struct, frozen=True):
    """
    Who is at the other end, as the transport has proved it. A ``subscriber_id`` is only a label (CF-065).

    It counts until ``expires``, in seconds since the epoch, and as long as
    ``stands`` says so, where there is such a function (CF-149).
    """

    principal: str = LOCAL
    transport: str = ""
    roles: frozenset[str] = frozenset({REPLIER})
    expires: float | None = None
    stands: Callable[[], bool] | None = None
    process: str = ""  # for the log: its number and its program, where the kernel tells (CF-141)

    @property
    def may_listen(self) -> bool:
        return not self.roles.isdisjoint((LISTENER, REPLIER, AUDITOR))

    @property
    def may_reply(self) -> bool:
        """Whoever hears what was not meant for them answers nothing, whatever else they are."""
        return REPLIER in self.roles and AUDITOR not in self.roles

    def hears(self, audience: frozenset[str] | None) -> bool:
        """Whether a session for these principals, or for all if None, is for this one too (CF-145)."""
        return audience is None or self.principal in audience or not self.roles.isdisjoint((AUDITOR, RELAY))


# -- the serving side ----------------------------------------------------------------------


class Outlet(Protocol):
    """
    One reader's connection, as the hub sees it. Called on the hub's loop only; nothing here waits.

    ``frame`` is the same function for all outlets of a transport, so that a
    frame is made once and written many times.
    """

    frame: Callable[[str, bytes], bytes]  # event id and JSON to what goes over the wire

    def write(self, data: bytes) -> None:
        """Send one or more frames, back to back."""

    def waiting(self) -> int:
        """How many bytes the reader has not taken yet."""

    def close(self, message: SubscriptionClose | None) -> None:
        """End the connection, saying why if there is something to say."""


class Door(Protocol):
    """An address that is being served."""

    url: str

    async def close(self) -> None:
        """Stop listening and let go of every connection."""


# -- the listening side --------------------------------------------------------------------


class Arrival(msgspec.Struct, frozen=True):
    """
    A message that came: its bytes, and the id to resume after, if it has one.

    No bytes stand for something that was no message, of which nobody knows what it was meant to be.
    """

    data: bytes
    id: str = ""


class _Typed(msgspec.Struct):
    type: str = ""


_typed: Final = msgspec.json.Decoder(_Typed).decode


def type_of(message: bytes) -> str:
    """The type that a message names, whatever else is wrong with it; empty if it names none."""
    try:
        return _typed(message).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


class Channel(Protocol):
    """
    A subscriber's way to a producer.

    Everything raises :exc:`ChannelLost` when the connection is gone and
    :exc:`ChannelRefused` when the other side says no.
    """

    async def manifest(self) -> bytes:
        """The producer's manifest, as a JWS where it is signed and the transport can give one, else JSON (CF-124)."""

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and give back its answer, accepted or rejected."""

    async def send(self, message: bytes) -> None:
        """Send what is not answered: a reply, a close."""

    def arrivals(self, subscription_id: str, after: str = "") -> AsyncIterator[Arrival]:
        """What the producer sends, after an event if one is named, until the connection ends."""

    async def close(self) -> None:
        """Let go. Closing twice is fine."""


# -- finding a transport -------------------------------------------------------------------


class Transport(Protocol):
    """What each file of ``transports/`` offers."""

    def connect(self, url: str, **settings: Any) -> Channel: ...

    async def serve(self, hub: Any, url: str, **settings: Any) -> Door: ...


_FILES: Final = {
    "http": "http",
    "https": "http",
    "ws": "websocket",
    "wss": "websocket",
    "asgi+http": "asgi",
    "unix": "unix",
    "stdio": "stdio",
    "grpc": "grpc",
    "grpcs": "grpc",
}


def parts_of(url: str) -> SplitResult:
    """The parts of a URL; what is none is told as such."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # it is read only now
    except ValueError as error:
        raise AaepError(f"{url!r} is not a URL: {error}. Write it like http://127.0.0.1:8137.") from None
    return parts


def transport(url: str) -> Transport:
    """The transport that a URL asks for."""
    scheme = parts_of(url).scheme.lower()
    if scheme not in _FILES:
        known = ", ".join(
            sorted(name for name in _FILES if "+" not in name)
        )  # that one is not in an address one writes
        raise AaepError(f"There is no transport for {url!r}. Known: {known}. Write it like http://127.0.0.1:8137.")
    return cast(Transport, import_module(f"{__package__}.{_FILES[scheme]}"))


async def attach(hub: Any, url: str, **settings: Any) -> Door:
    """Have an agent's hub go to another one and stay there."""
    found = import_module("aaep.hub.relay.attach")
    return cast(Door, await found.attach(hub, url, **settings))


# -- waiting, in threads and in tasks alike -------------------------------------------------


class Later(Generic[T]):
    """Something that comes later: ``.wait()`` for it in a plain program, ``await`` it in asyncio."""

    def __init__(self, future: Future[T] | None = None) -> None:
        self._future: Future[T] = Future() if future is None else future

    @property
    def done(self) -> bool:
        return self._future.done()

    def settle(self, value: T) -> bool:
        """Give it its value, once. False when it has one already."""
        try:
            self._future.set_result(value)
        except InvalidStateError:
            return False
        return True

    def fail(self, error: BaseException) -> None:
        """Say that it will not come, and why."""
        with contextlib.suppress(InvalidStateError):  # it has come already
            self._future.set_exception(error)

    def wait(self, timeout: float | None = None) -> T:
        """Wait for it. Raises :exc:`TimeoutError` when it takes too long."""
        if threading.current_thread() is not threading.main_thread():
            return self._future.result(timeout)
        # A signal that comes in the moment before a wait does not end it, so a wait is never a long one.
        end = None if timeout is None else time.monotonic() + timeout
        while not self._future.done():
            left = _SLICE if end is None else min(_SLICE, end - time.monotonic())
            if left <= 0:
                raise TimeoutError
            concurrent.futures.wait([self._future], left)
        return self._future.result()

    def __await__(self) -> Generator[Any, None, T]:
        # Shielded: who stops waiting takes back his own waiting, not the value that others wait for.
        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()


# -- a loop in a thread --------------------------------------------------------------------


class Background:
    """
    An event loop in a thread of its own, so that plain scripts and asyncio programs use the same code.

    Or the caller's own loop, when one is given; then nothing is started or stopped here.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.loop = _new_loop() if loop is None else loop
        self._thread: threading.Thread | None = None
        if loop is None:
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    @property
    def here(self) -> bool:
        """Whether the caller is on this loop, and so must not wait for it."""
        if self._thread is not None:  # in which nothing else runs
            return threading.get_ident() == self._thread.ident
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def check(self) -> None:
        """Raise where its thread is not: in a process that was forked off later. It would be waited for in vain."""
        if self._thread is not None and not self._thread.is_alive():
            raise AaepError("This was made before the process forked. Make it in the process that uses it.")

    def call(self, function: Callable[..., object], *args: Any) -> None:
        """Have the loop call something soon. From any thread."""
        try:
            if self.here:  # and so awake
                self.loop.call_soon(function, *args)
            else:
                self.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:  # the loop is closed: there is nobody left to tell
            return

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Wait, from another thread, until the loop has done something."""
        if self.here:
            work.close()
            raise RuntimeError("This would wait for its own event loop. Use the awaitable form instead.")
        try:
            self.check()
        except AaepError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def stop(self) -> None:
        """Stop the loop and end the thread, if they are ours."""
        if self._thread is None:
            return
        self.call(self.loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._thread = None

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.run_until_complete(_cancelled(asyncio.all_tasks(self.loop)))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()


async def shut(server: asyncio.AbstractServer) -> None:
    """Let nobody in any more. Whom asyncio has let in, and not yet greeted, it would forget (its issue 109564)."""
    try:
        if isinstance(server, asyncio.Server):  # other loops have servers of their own
            loop = asyncio.get_running_loop()
            for listening in server.sockets:
                with contextlib.suppress(NotImplementedError):  # a loop that has no such thing
                    loop.remove_reader(listening.fileno())
            for _ in range(_TIMES):
                await asyncio.sleep(0)  # lets the loop turn until whoever was let in last has been greeted
    finally:  # also when there is no time left for that
        server.close()


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """
    Cancel tasks until they have ended.

    Once may not do: who waited for something that came in this very moment does not notice that he was cancelled.
    """
    left = {*tasks} - {asyncio.current_task()}
    for _ in range(_TIMES):
        for task in left:
            task.cancel()
        if left:
            done, left = await asyncio.wait(left, timeout=_SLICE)
            await asyncio.gather(*done, return_exceptions=True)  # what they failed with matters no more
    for _ in range(_TIMES):
        await asyncio.sleep(0)  # lets who was accepted last be told that nobody serves any more
    if left:
        _log.warning("%d tasks could not be ended, and are left behind.", len(left))


def in_asyncio() -> bool:
    """Whether the caller is on an event loop, any at all, and so must not wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop  # noqa: PLC0415  # where there is one
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
