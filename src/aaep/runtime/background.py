"""An event loop in a background thread, and futures that blocking and asyncio code can both wait for."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final, Generic, TypeVar

from ..errors import AaepError, LocalProtocolError

__all__ = [
    "BackgroundLoop",
    "Waitable",
    "check_may_block",
    "close_server",
    "is_in_event_loop",
    "new_server_loop",
    "shield_future",
]

T = TypeVar("T")

_POLL_INTERVAL: Final = 0.25  # seconds
_MAX_ATTEMPTS: Final = 4  # to cancel a task, and iterations of the loop granted to pending callbacks

_log: Final = logging.getLogger("aaep.runtime")


class Waitable(Generic[T]):
    """
    A value that becomes available later: call ``wait()`` in blocking code, ``await`` it in asyncio.

    ``owner`` is kept alive as long as somebody waits.
    """

    def __init__(self, future: Future[T] | None = None, *, owner: object = None) -> None:
        self._future: Future[T] = Future() if future is None else future
        self._owner = owner

    @property
    def done(self) -> bool:
        """Whether the value, or an exception in its place, has been set."""
        return self._future.done()

    def set_result(self, value: T) -> bool:
        """Set the value and return True, or return False if it was set before."""
        try:
            self._future.set_result(value)
        except InvalidStateError:
            return False
        return True

    def set_exception(self, error: BaseException) -> None:
        """Set the exception that waiting raises; has no effect once there is a value or an exception."""
        with contextlib.suppress(InvalidStateError):  # it was set before
            self._future.set_exception(error)

    def wait(self, timeout: float | None = None) -> T:
        """
        Wait for the value and return it. Raises :exc:`TimeoutError` after ``timeout`` seconds.

        On a thread with a running event loop it raises :exc:`~aaep.errors.LocalProtocolError` if it would have
        to wait: nothing else could run there meanwhile, and often not even what brings the value.
        """
        if not self._future.done():
            check_may_block("wait()", "Write `await` in front of it in place of `.wait()`.")
        if threading.current_thread() is not threading.main_thread():
            return self._future.result(timeout)
        # A signal that arrives just before a wait does not interrupt it, so the main thread waits in short steps.
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._future.done():
            interval = _POLL_INTERVAL if deadline is None else min(_POLL_INTERVAL, deadline - time.monotonic())
            if interval <= 0:
                raise TimeoutError
            concurrent.futures.wait([self._future], interval)
        return self._future.result()

    def __await__(self) -> Generator[Any, None, T]:
        # A generator, so that it holds this object, and with it the owner.
        return (yield from shield_future(self._future).__await__())


class BackgroundLoop:
    """
    An event loop in its own thread, so that blocking and asyncio programs use the same code.

    Where ``loop`` is given, that loop is used instead, and is neither started nor stopped here. ``is_server``
    says that many connections are served on it, for which uvloop is used where it is installed.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None, *, is_server: bool = False) -> None:
        # A client has nothing from uvloop, which cannot close a TLS connection whose handshake goes on.
        new_loop = new_server_loop if is_server else asyncio.new_event_loop
        self.loop = new_loop() if loop is None else loop
        self._thread: threading.Thread | None = None
        if loop is None:
            self._thread = threading.Thread(target=self._run_loop, name=name, daemon=True)
            self._thread.start()

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller runs on this loop, and so must not block on it."""
        if self._thread is not None:  # our own thread runs nothing but the loop
            return threading.get_ident() == self._thread.ident
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def check_alive(self) -> None:
        """Raise :exc:`AaepError` if the thread is gone, as it is after a fork: waiting for it would never end."""
        if self._thread is not None and not self._thread.is_alive():
            raise AaepError("This was made before the process forked. Make it in the process that uses it.")

    def call_soon(self, function: Callable[..., object], *args: Any) -> None:
        """Schedule a call on the loop, from any thread."""
        try:
            if self.is_on_loop:  # so it is awake
                self.loop.call_soon(function, *args)
            else:
                self.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:  # the loop is closed, and nothing runs there any more
            return

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine on the loop and wait for its result, from another thread."""
        if self.is_on_loop:
            coroutine.close()
            raise RuntimeError("This would wait for its own event loop. Use the awaitable form instead.")
        try:
            self.check_alive()
        except AaepError:
            coroutine.close()
            raise
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout)

    def stop(self) -> None:
        """Stop the loop and join its thread; a loop that was passed in is left running."""
        if self._thread is None:
            return
        self.call_soon(self.loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._thread = None

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.run_until_complete(_cancel_tasks(asyncio.all_tasks(self.loop)))
            self.loop.run_until_complete(_abort_connections(self.loop))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()


async def close_server(server: asyncio.AbstractServer) -> None:
    """Close a server without losing connections that asyncio has accepted but not yet set up (CPython issue 109564)."""
    try:
        if isinstance(server, asyncio.Server):  # other loops have their own server classes
            loop = asyncio.get_running_loop()
            for listening_socket in server.sockets:
                with contextlib.suppress(NotImplementedError):  # a proactor loop has no readers
                    loop.remove_reader(listening_socket.fileno())
            for _ in range(_MAX_ATTEMPTS):
                await asyncio.sleep(0)  # lets the loop set up the last accepted connections
    finally:  # also when cancelled meanwhile
        server.close()


async def _cancel_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """
    Cancel tasks until they have ended.

    Cancelling once may not be enough: a task whose awaited result arrives at the same moment can miss it.
    """
    pending = {*tasks} - {asyncio.current_task()}
    for _ in range(_MAX_ATTEMPTS):
        for task in pending:
            task.cancel()
        if pending:
            done, pending = await asyncio.wait(pending, timeout=_POLL_INTERVAL)
            await asyncio.gather(*done, return_exceptions=True)  # retrieves their exceptions, which are of no use now
    for _ in range(_MAX_ATTEMPTS):
        await asyncio.sleep(0)  # lets the last accepted connections be closed
    if pending:
        _log.warning("%d tasks could not be ended, and are left behind.", len(pending))


async def _abort_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Drop connections that nobody has closed: one whose TLS handshake was cancelled still waits for its peer."""
    # There is no public way to find them, and nobody else holds them. Other loops have no such table.
    transports: Mapping[int, asyncio.Transport] = getattr(loop, "_transports", {})
    for transport in [*transports.values()]:
        transport.abort()
    for _ in range(_MAX_ATTEMPTS):
        await asyncio.sleep(0)  # lets the sockets be closed


def is_in_event_loop() -> bool:
    """Whether the caller runs on any event loop, and so must not block."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def check_may_block(what: str, instead: str) -> None:
    """Raise :exc:`~aaep.errors.LocalProtocolError` on a thread with a running event loop: nothing may block there."""
    if is_in_event_loop():
        raise LocalProtocolError(f"{what} would stop the event loop of this thread, so nothing was done. {instead}")


def shield_future(future: Future[T]) -> asyncio.Future[T]:
    """Return a future of the running loop for one that others wait for too: cancelling it does not cancel theirs."""
    inner = asyncio.wrap_future(future)
    # Else asyncio logs an exception that came after the last waiter was cancelled, as one that nobody saw.
    inner.add_done_callback(lambda done: done.cancelled() or done.exception())
    return asyncio.shield(inner)


def new_server_loop() -> asyncio.AbstractEventLoop:
    """Return a new uvloop event loop, or asyncio's own where uvloop is not installed."""
    try:
        import uvloop  # noqa: PLC0415  # an optional dependency
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
